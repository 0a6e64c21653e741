//! The kinds of tokens and nodes, and the tokens' patterns.
//!
//! Invariant: words are never reserved here. A keyword is an `IDENT` that the parser reads as a keyword where it fits,
//! so that `key`, `type` or `address` can also be names.
//!
//! The file is one table with a line or two for each kind, so it stays in one piece.

use logos::Logos;

/// The kind of a token or a node. The doc of a node's kind names its type in [`crate::ast`], whose doc has an example.
#[allow(non_camel_case_types)]
#[derive(Logos, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u16)]
pub enum SyntaxKind {
    // ---- trivia ----
    /// Blanks and line breaks.
    #[regex(r"[ \t\r\n\f\u{feff}]+")]
    WHITESPACE,
    /// `// …`, up to the line's end.
    #[regex(r"//[^\n]*", allow_greedy = true, priority = 3)]
    COMMENT,
    /// `/// …`, documentation of what follows it.
    #[regex(r"///[^\n]*", allow_greedy = true, priority = 5)]
    DOC_COMMENT,
    /// `/* … */`, which the language does not have: reported and skipped.
    #[token("/*", block_comment)]
    BLOCK_COMMENT,

    // ---- literals and names ----
    /// A name, or a word that a rule reads as a keyword.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    IDENT,
    /// `7`, `0x0800`, `1_000`. The lexer accepts letters too, so that `20ms` is one mistake and not two tokens.
    #[regex(r"[0-9][0-9A-Za-z_]*", priority = 3)]
    NUMBER,
    /// Decimal parts joined by dots, perhaps with a prefix's length: `10.0.0.1`, `10.0.0.1/24`. Its meaning depends on
    /// its type.
    #[regex(r"[0-9]+(\.[0-9]+)+(/[0-9]+)?", priority = 4)]
    DOTTED,
    /// Hexadecimal parts joined by colons, perhaps with `::` and a prefix's length: `02:00:00:00:00:01`,
    /// `2001:db8::1/64`. A leading `::` must be followed by a digit, so that a foreign path (`Kind::Ask`) does not
    /// match.
    #[regex(r"[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})(:[0-9a-fA-F]{1,4})+(/[0-9]+)?", priority = 21)]
    #[regex(r"[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?(/[0-9]+)?", priority = 22)]
    #[regex(r"::[0-9][0-9a-fA-F]{0,3}(:[0-9a-fA-F]{1,4})*(/[0-9]+)?", priority = 23)]
    COLONS,
    /// `"text"`, with escapes, on one line.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#, priority = 5)]
    STRING,
    /// `x"00 ff"`
    #[regex(r#"x"[^"\n]*""#, priority = 6)]
    HEX_STRING,
    /// A string without its closing quote on the line: reported.
    #[regex(r#"x?"([^"\\\n]|\\[^\n])*\\?"#, priority = 4)]
    OPEN_STRING,

    // ---- brackets and separators ----
    /// `{`
    #[token("{")]
    L_BRACE,
    /// `}`
    #[token("}")]
    R_BRACE,
    /// `(`
    #[token("(")]
    L_PAREN,
    /// `)`
    #[token(")")]
    R_PAREN,
    /// `[`
    #[token("[")]
    L_BRACKET,
    /// `]`
    #[token("]")]
    R_BRACKET,
    /// `,`
    #[token(",")]
    COMMA,
    /// `:`
    #[token(":")]
    COLON,
    /// `;`
    #[token(";")]
    SEMICOLON,
    /// `.`
    #[token(".")]
    DOT,
    /// `..`
    #[token("..")]
    DOT_DOT,
    /// `->`
    #[token("->")]
    ARROW,
    /// `=>`
    #[token("=>")]
    FAT_ARROW,
    /// `?`
    #[token("?")]
    QUESTION,
    /// `@`
    #[token("@")]
    AT,

    // ---- operators ----
    /// `+`
    #[token("+")]
    PLUS,
    /// `-`
    #[token("-")]
    MINUS,
    /// `*`
    #[token("*")]
    STAR,
    /// `/`
    #[token("/")]
    SLASH,
    /// `%`
    #[token("%")]
    PERCENT,
    /// `+%`
    #[token("+%")]
    PLUS_WRAP,
    /// `-%`
    #[token("-%")]
    MINUS_WRAP,
    /// `*%`
    #[token("*%")]
    STAR_WRAP,
    /// `&`
    #[token("&")]
    AMP,
    /// `|`
    #[token("|")]
    PIPE,
    /// `^`
    #[token("^")]
    CARET,
    /// `<<`
    #[token("<<")]
    SHL,
    /// `>>`
    #[token(">>")]
    SHR,
    /// `!`
    #[token("!")]
    BANG,
    /// `==`
    #[token("==")]
    EQ_EQ,
    /// `!=`
    #[token("!=")]
    NEQ,
    /// `<`
    #[token("<")]
    LT,
    /// `<=`
    #[token("<=")]
    LE,
    /// `>`
    #[token(">")]
    GT,
    /// `>=`
    #[token(">=")]
    GE,
    /// `=`
    #[token("=")]
    EQ,
    /// `+=` and the like; [`crate::ast::AssignStmt::op`] says which.
    #[token("+=")]
    #[token("-=")]
    #[token("*=")]
    #[token("/=")]
    #[token("%=")]
    #[token("&=")]
    #[token("|=")]
    #[token("^=")]
    #[token("<<=")]
    #[token(">>=")]
    #[token("+%=")]
    #[token("-%=")]
    #[token("*%=")]
    OP_EQ,

    // ---- habits from other languages, each with its own message ----
    /// `:=`
    #[token(":=")]
    COLON_EQ,
    /// `&&`
    #[token("&&")]
    AMP_AMP,
    /// `||`
    #[token("||")]
    PIPE_PIPE,
    /// `++`
    #[token("++")]
    PLUS_PLUS,
    /// `--`
    #[token("--")]
    MINUS_MINUS,
    /// `::`
    #[token("::")]
    COLON_COLON,
    /// A character or word with which no token begins; `'one'` is one mistake.
    #[regex(r"'[^'\n]*'")]
    ERROR_TOKEN,
    /// The end of the text; not in a tree.
    EOF,

    // ---- nodes: files and items ----
    /// [`crate::ast::File`]
    FILE,
    /// Text that could not be read, and was reported.
    ERROR,
    /// [`crate::ast::Name`]
    NAME,
    /// [`crate::ast::Path`]
    PATH,
    /// [`crate::ast::Use`]
    USE,
    /// [`crate::ast::UsePath`]
    USE_PATH,
    /// [`crate::ast::Const`]
    CONST,
    /// [`crate::ast::TypeAlias`]
    TYPE_ALIAS,
    /// [`crate::ast::Written`]
    WRITTEN,
    /// [`crate::ast::Record`]
    RECORD,
    /// [`crate::ast::FieldList`]
    FIELD_LIST,
    /// [`crate::ast::Field`]
    FIELD,
    /// [`crate::ast::Enum`]
    ENUM,
    /// [`crate::ast::Variant`]
    VARIANT,
    /// [`crate::ast::Attribute`]
    ATTRIBUTE,
    /// [`crate::ast::Service`]
    SERVICE,
    /// [`crate::ast::Signal`]
    SIGNAL,
    /// [`crate::ast::Function`]
    FUNCTION,
    /// [`crate::ast::ParamList`]
    PARAM_LIST,
    /// [`crate::ast::Param`]
    PARAM,
    /// [`crate::ast::Layer`]
    LAYER,
    /// [`crate::ast::Bundle`]
    BUNDLE,
    /// [`crate::ast::LayerUse`]
    LAYER_USE,
    /// [`crate::ast::Signature`]
    SIGNATURE,
    /// [`crate::ast::Include`]
    INCLUDE,
    /// [`crate::ast::Unit`]
    UNIT,
    /// [`crate::ast::Boundaries`]
    BOUNDARIES,
    /// [`crate::ast::Promise`]
    PROMISE,
    /// [`crate::ast::Directed`]
    DIRECTED,
    /// [`crate::ast::Vocabulary`]
    VOCABULARY,
    /// [`crate::ast::Reasons`]
    REASONS,
    /// [`crate::ast::Wire`]
    WIRE,
    /// [`crate::ast::Stack`]
    STACK,
    /// [`crate::ast::Network`]
    NETWORK,
    /// [`crate::ast::Test`]
    TEST,

    // ---- types ----
    /// [`crate::ast::NamedType`]
    NAMED_TYPE,
    /// [`crate::ast::ArrayType`]
    ARRAY_TYPE,
    /// [`crate::ast::VectorType`]
    VECTOR_TYPE,
    /// [`crate::ast::MapType`]
    MAP_TYPE,
    /// [`crate::ast::FnType`]
    FN_TYPE,

    // ---- members of layers ----
    /// [`crate::ast::Header`]
    HEADER,
    /// [`crate::ast::Alternative`]
    ALTERNATIVE,
    /// [`crate::ast::Key`]
    KEY,
    /// [`crate::ast::Address`]
    ADDRESS,
    /// [`crate::ast::Several`]
    SEVERAL,
    /// [`crate::ast::Matching`]
    MATCHING,
    /// [`crate::ast::Scope`]
    SCOPE,
    /// [`crate::ast::Object`]
    OBJECT,
    /// [`crate::ast::Capacity`]
    CAPACITY,
    /// [`crate::ast::Evict`]
    EVICT,
    /// [`crate::ast::Publish`]
    PUBLISH,
    /// [`crate::ast::Limit`]
    LIMIT,
    /// [`crate::ast::Where`]
    WHERE,
    /// [`crate::ast::Each`]
    EACH,
    /// [`crate::ast::Reserve`]
    RESERVE,
    /// [`crate::ast::Serves`]
    SERVES,
    /// [`crate::ast::Uses`]
    USES,
    /// [`crate::ast::Reads`]
    READS,
    /// [`crate::ast::Writes`]
    WRITES,
    /// [`crate::ast::Needs`]
    NEEDS,
    /// [`crate::ast::Gives`]
    GIVES,
    /// [`crate::ast::Breaks`]
    BREAKS,
    /// [`crate::ast::Claim`]
    CLAIM,
    /// [`crate::ast::WhenClause`]
    WHEN_CLAUSE,
    /// [`crate::ast::Speaks`]
    SPEAKS,
    /// [`crate::ast::Handler`]
    HANDLER,
    /// [`crate::ast::PatternList`]
    PATTERN_LIST,
    /// [`crate::ast::AlternativePattern`]
    ALTERNATIVE_PATTERN,
    /// A field of [`crate::ast::AlternativePattern`]: [`crate::ast::PatternField`]
    PATTERN_FIELD,
    /// [`crate::ast::LimitClause`]
    LIMIT_CLAUSE,
    /// [`crate::ast::LaterRoom`]
    LATER_ROOM,
    /// [`crate::ast::ToClause`]
    TO_CLAUSE,
    /// [`crate::ast::FromClause`]
    FROM_CLAUSE,

    // ---- state ----
    /// [`crate::ast::Var`]
    VAR,
    /// [`crate::ast::ConstState`]
    CONST_STATE,
    /// [`crate::ast::Timer`]
    TIMER,
    /// [`crate::ast::Quota`]
    QUOTA,
    /// [`crate::ast::Counter`]
    COUNTER,
    /// [`crate::ast::Array`]
    ARRAY,
    /// [`crate::ast::Map`]
    MAP,
    /// [`crate::ast::Messages`]
    MESSAGES,

    // ---- suites of tests ----
    /// [`crate::ast::Suite`]
    SUITE,
    /// [`crate::ast::Run`]
    RUN,

    // ---- parts of layers ----
    /// [`crate::ast::HoldsClause`]
    HOLDS_CLAUSE,
    /// [`crate::ast::Part`]
    PART,
    /// [`crate::ast::Parts`]
    PARTS,

    // ---- containers ----
    /// [`crate::ast::Container`]
    CONTAINER,
    /// [`crate::ast::TypeParams`]
    TYPE_PARAMS,
    /// [`crate::ast::Contained`]
    CONTAINED,
    /// [`crate::ast::TypeArgs`]
    TYPE_ARGS,
    /// [`crate::ast::MayRefuse`]
    MAY_REFUSE,
    /// The parts of a function in C besides its head: `extern`, `grows 16`, `from "cipher.c"`, `link "sodium"`.
    EXTERN,
    /// [`crate::ast::FromFile`]
    FROM_FILE,
    /// [`crate::ast::LinkWith`]
    LINK_WITH,

    // ---- statements ----
    /// [`crate::ast::Block`]
    BLOCK,
    /// [`crate::ast::LetStmt`]
    LET_STMT,
    /// [`crate::ast::NamePattern`]
    NAME_PATTERN,
    /// [`crate::ast::TuplePattern`]
    TUPLE_PATTERN,
    /// [`crate::ast::AssignStmt`]
    ASSIGN_STMT,
    /// [`crate::ast::ExprStmt`]
    EXPR_STMT,
    /// [`crate::ast::WhileStmt`]
    WHILE_STMT,
    /// [`crate::ast::ForStmt`]
    FOR_STMT,
    /// [`crate::ast::ReturnStmt`]
    RETURN_STMT,
    /// [`crate::ast::PassStmt`]
    PASS_STMT,
    /// [`crate::ast::DropStmt`]
    DROP_STMT,
    /// [`crate::ast::ConsumeStmt`]
    CONSUME_STMT,
    /// [`crate::ast::FailStmt`]
    FAIL_STMT,
    /// [`crate::ast::AcceptStmt`]
    ACCEPT_STMT,
    /// [`crate::ast::TakeStmt`]
    TAKE_STMT,
    /// [`crate::ast::GiveStmt`]
    GIVE_STMT,
    /// [`crate::ast::CountStmt`]
    COUNT_STMT,
    /// [`crate::ast::StartStmt`]
    START_STMT,
    /// [`crate::ast::StopStmt`]
    STOP_STMT,
    /// [`crate::ast::RemoveStmt`]
    REMOVE_STMT,
    /// [`crate::ast::EndStmt`]
    END_STMT,
    /// [`crate::ast::RenewStmt`]
    RENEW_STMT,
    /// [`crate::ast::AgainStmt`]
    AGAIN_STMT,
    /// [`crate::ast::LaterStmt`]
    LATER_STMT,
    /// [`crate::ast::OrClause`]
    OR_CLAUSE,

    // ---- expressions ----
    /// [`crate::ast::If`]
    IF,
    /// [`crate::ast::LetCondition`]
    LET_CONDITION,
    /// [`crate::ast::Match`]
    MATCH,
    /// [`crate::ast::MatchArm`]
    MATCH_ARM,
    /// [`crate::ast::NameExpr`]
    NAME_EXPR,
    /// [`crate::ast::NumberExpr`]
    NUMBER_EXPR,
    /// [`crate::ast::DurationExpr`]
    DURATION_EXPR,
    /// [`crate::ast::BoolExpr`]
    BOOL_EXPR,
    /// [`crate::ast::OctetsExpr`]
    OCTETS_EXPR,
    /// [`crate::ast::ParenExpr`]
    PAREN_EXPR,
    /// [`crate::ast::VectorExpr`]
    VECTOR_EXPR,
    /// [`crate::ast::UnaryExpr`]
    UNARY_EXPR,
    /// [`crate::ast::BinaryExpr`]
    BINARY_EXPR,
    /// [`crate::ast::CastExpr`]
    CAST_EXPR,
    /// [`crate::ast::CallExpr`]
    CALL_EXPR,
    /// [`crate::ast::ArgList`]
    ARG_LIST,
    /// [`crate::ast::Arg`]
    ARG,
    /// [`crate::ast::Rest`]
    REST,
    /// [`crate::ast::PacketExpr`]
    PACKET_EXPR,
    /// [`crate::ast::PacketOver`]
    PACKET_OVER,
    /// [`crate::ast::Within`]
    WITHIN,
    /// [`crate::ast::FieldExpr`]
    FIELD_EXPR,
    /// [`crate::ast::IndexExpr`]
    INDEX_EXPR,
    /// [`crate::ast::RecordExpr`]
    RECORD_EXPR,
    /// [`crate::ast::RecordExprField`]
    RECORD_EXPR_FIELD,
    /// [`crate::ast::RunningExpr`]
    RUNNING_EXPR,
    /// [`crate::ast::LeftExpr`]
    LEFT_EXPR,
    /// [`crate::ast::RangeExpr`]
    RANGE_EXPR,
    /// [`crate::ast::BindExpr`]
    BIND_EXPR,
    /// [`crate::ast::HoleExpr`]
    HOLE_EXPR,

    // ---- wires ----
    /// [`crate::ast::WireBody`]
    WIRE_BODY,
    /// [`crate::ast::WireField`]
    WIRE_FIELD,
    /// [`crate::ast::WireWhere`]
    WIRE_WHERE,
    /// [`crate::ast::WireTrim`]
    WIRE_TRIM,
    /// [`crate::ast::WireDefault`]
    WIRE_DEFAULT,
    /// [`crate::ast::WirePseudo`]
    WIRE_PSEUDO,
    /// [`crate::ast::WireChoice`]
    WIRE_CHOICE,
    /// [`crate::ast::WireArm`]
    WIRE_ARM,
    /// [`crate::ast::WireOptional`]
    WIRE_OPTIONAL,
    /// [`crate::ast::WireOptions`]
    WIRE_OPTIONS,
    /// [`crate::ast::WireOption`]
    WIRE_OPTION,
    /// [`crate::ast::WireReach`]
    WIRE_REACH,
    /// [`crate::ast::WireEach`]
    WIRE_EACH,

    // ---- stacks ----
    /// [`crate::ast::StackLayer`]
    STACK_LAYER,
    /// [`crate::ast::Over`]
    OVER,
    /// [`crate::ast::OverKey`]
    OVER_KEY,
    /// [`crate::ast::With`]
    WITH,
    /// [`crate::ast::Export`]
    EXPORT,
    /// [`crate::ast::StackSetting`]
    STACK_SETTING,

    // ---- tests and networks ----
    /// [`crate::ast::TestStack`]
    TEST_STACK,
    /// [`crate::ast::InputStep`]
    INPUT_STEP,
    /// [`crate::ast::ExpectStep`]
    EXPECT_STEP,
    /// [`crate::ast::Nothing`]
    NOTHING,
    /// [`crate::ast::DroppedStep`]
    DROPPED_STEP,
    /// [`crate::ast::ConsumedStep`]
    CONSUMED_STEP,
    /// [`crate::ast::ReportedStep`]
    REPORTED_STEP,
    /// [`crate::ast::CounterStep`]
    COUNTER_STEP,
    /// [`crate::ast::AfterStep`]
    AFTER_STEP,
    /// [`crate::ast::Host`]
    HOST,
    /// [`crate::ast::Link`]
    LINK,
    /// [`crate::ast::LinkOption`]
    LINK_OPTION,
    /// [`crate::ast::Percentage`]
    PERCENTAGE,
    /// [`crate::ast::Rate`]
    RATE,
    /// [`crate::ast::AtStep`]
    AT_STEP,
    /// [`crate::ast::Partition`]
    PARTITION,
    /// [`crate::ast::Outage`]
    OUTAGE,
    /// [`crate::ast::Clock`]
    CLOCK,
    /// [`crate::ast::CastLine`]
    CAST_LINE,
    /// [`crate::ast::Promised`]
    PROMISED,
    /// [`crate::ast::Until`]
    UNTIL,
    /// [`crate::ast::Expectation`]
    EXPECTATION,
    /// [`crate::ast::Times`]
    TIMES,
    /// [`crate::ast::Tally`]
    TALLY,
    /// [`crate::ast::WhenStep`]
    WHEN_STEP,
    /// [`crate::ast::FrameFault`]
    FRAME_FAULT,
    /// [`crate::ast::FaultPart`]
    FAULT_PART,

    #[doc(hidden)]
    LAST,
}

impl SyntaxKind {
    /// Whether no rule of the grammar looks at such tokens.
    pub fn is_trivia(self) -> bool {
        use SyntaxKind::*;
        matches!(self, WHITESPACE | COMMENT | DOC_COMMENT | BLOCK_COMMENT)
    }
}

fn block_comment(lexer: &mut logos::Lexer<SyntaxKind>) {
    let rest = lexer.remainder();
    let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
    lexer.bump(end);
}

impl From<SyntaxKind> for rowan::SyntaxKind {
    fn from(kind: SyntaxKind) -> Self {
        rowan::SyntaxKind(kind as u16)
    }
}

/// The language, as a type for rowan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mokume {}

impl rowan::Language for Mokume {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        assert!(raw.0 < SyntaxKind::LAST as u16);
        // SAFETY: the enum is `repr(u16)` without gaps, and the number is below that of its last variant.
        unsafe { std::mem::transmute::<u16, SyntaxKind>(raw.0) }
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        kind.into()
    }
}

/// A node of the lossless tree.
pub type SyntaxNode = rowan::SyntaxNode<Mokume>;
/// A token of the lossless tree.
pub type SyntaxToken = rowan::SyntaxToken<Mokume>;
/// A node or a token.
pub type SyntaxElement = rowan::SyntaxElement<Mokume>;
