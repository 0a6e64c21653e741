//! The kinds of tokens and nodes, and the tokens' patterns.
//!
//! Invariant: words are never reserved here. A keyword is an `IDENT` that the parser reads as one where it stands, so
//! that `key`, `type` or `address` stay free as names.

use logos::Logos;

#[allow(non_camel_case_types)]
#[derive(Logos, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u16)]
pub enum SyntaxKind {
    // ---- trivia ----
    #[regex(r"[ \t\r\n\f\u{feff}]+")]
    WHITESPACE,
    #[regex(r"//[^\n]*", allow_greedy = true, priority = 3)]
    COMMENT,
    #[regex(r"///[^\n]*", allow_greedy = true, priority = 5)]
    DOC_COMMENT,
    /// `/* … */`, which the language does not have: reported, then skipped.
    #[token("/*", block_comment)]
    BLOCK_COMMENT,

    // ---- literals and names ----
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    IDENT,
    /// `7`, `0x0800`, `1_000`; the lexer takes letters too, so that `20ms` is one mistake and not two tokens.
    #[regex(r"[0-9][0-9A-Za-z_]*", priority = 3)]
    NUMBER,
    /// `10.0.0.1`; any number of parts, the check comes after.
    #[regex(r"[0-9]+(\.[0-9]+)+", priority = 4)]
    DOTTED,
    /// `10.0.0.1/24`
    #[regex(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+", priority = 5)]
    CIDR,
    /// `02:00:00:00:00:01`
    #[regex(
        r"[0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F]:[0-9a-fA-F][0-9a-fA-F]",
        priority = 20
    )]
    MAC,
    /// `2001:db8::1`, `fe80::1/64`; the unspecified address is `::0`. At the front `::` wants a digit, so that a foreign path
    /// (`Kind::Ask`) is none.
    #[regex(r"[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}(/[0-9]+)?", priority = 21)]
    #[regex(r"[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?(/[0-9]+)?", priority = 22)]
    #[regex(r"::[0-9][0-9a-fA-F]{0,3}(:[0-9a-fA-F]{1,4})*(/[0-9]+)?", priority = 23)]
    HOST6,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#, priority = 5)]
    STRING,
    #[regex(r#"x"[^"\n]*""#, priority = 6)]
    HEX_STRING,
    #[regex(r#"x?"([^"\\\n]|\\[^\n])*\\?"#, priority = 4)]
    OPEN_STRING,

    // ---- brackets and separators ----
    #[token("{")]
    L_BRACE,
    #[token("}")]
    R_BRACE,
    #[token("(")]
    L_PAREN,
    #[token(")")]
    R_PAREN,
    #[token("[")]
    L_BRACKET,
    #[token("]")]
    R_BRACKET,
    #[token(",")]
    COMMA,
    #[token(":")]
    COLON,
    #[token(";")]
    SEMICOLON,
    #[token(".")]
    DOT,
    #[token("..")]
    DOT_DOT,
    #[token("->")]
    ARROW,
    #[token("=>")]
    FAT_ARROW,
    #[token("?")]
    QUESTION,
    #[token("@")]
    AT,

    // ---- operators ----
    #[token("+")]
    PLUS,
    #[token("-")]
    MINUS,
    #[token("*")]
    STAR,
    #[token("/")]
    SLASH,
    #[token("%")]
    PERCENT,
    #[token("+%")]
    PLUS_WRAP,
    #[token("-%")]
    MINUS_WRAP,
    #[token("*%")]
    STAR_WRAP,
    #[token("&")]
    AMP,
    #[token("|")]
    PIPE,
    #[token("^")]
    CARET,
    #[token("<<")]
    SHL,
    #[token(">>")]
    SHR,
    #[token("!")]
    BANG,
    #[token("==")]
    EQ_EQ,
    #[token("!=")]
    NEQ,
    #[token("<")]
    LT,
    #[token("<=")]
    LE,
    #[token(">")]
    GT,
    #[token(">=")]
    GE,
    #[token("=")]
    EQ,
    /// `+=` and its like; [`crate::ast::AssignStmt::op`] says which.
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
    #[token(":=")]
    COLON_EQ,
    #[token("&&")]
    AMP_AMP,
    #[token("||")]
    PIPE_PIPE,
    #[token("++")]
    PLUS_PLUS,
    #[token("--")]
    MINUS_MINUS,
    #[token("::")]
    COLON_COLON,
    /// A character or word that no token begins with; `'one'` is one mistake.
    #[regex(r"'[^'\n]*'")]
    ERROR_TOKEN,
    EOF,

    // ---- nodes: files and items ----
    FILE,
    ERROR,
    NAME,
    PATH,
    USE,
    USE_PATH,
    CONST,
    TYPE_ALIAS,
    RECORD,
    FIELD_LIST,
    FIELD,
    ENUM,
    VARIANT,
    ATTRIBUTE,
    SERVICE,
    SIGNAL,
    FUNCTION,
    PARAM_LIST,
    PARAM,
    LAYER,
    BUNDLE,
    LAYER_USE,
    SIGNATURE,
    INCLUDE,
    UNIT,
    BOUNDARIES,
    DIRECTED,
    VOCABULARY,
    REASONS,
    WIRE,
    STACK,
    NETWORK,
    TEST,

    // ---- types ----
    NAMED_TYPE,
    ARRAY_TYPE,
    VECTOR_TYPE,
    MAP_TYPE,
    FN_TYPE,

    // ---- members of layers ----
    HEADER,
    ALTERNATIVE,
    KEY,
    ADDRESS,
    SEVERAL,
    MATCHING,
    SCOPE,
    OBJECT,
    CAPACITY,
    EVICT,
    PUBLISH,
    LIMIT,
    EACH,
    SERVES,
    USES,
    READS,
    WRITES,
    NEEDS,
    GIVES,
    CLAIM,
    WHEN_CLAUSE,
    SPEAKS,
    HANDLER,
    PATTERN_LIST,
    ALTERNATIVE_PATTERN,
    LIMIT_CLAUSE,
    LATER_ROOM,
    TO_CLAUSE,
    FROM_CLAUSE,

    // ---- state ----
    VAR,
    CONST_STATE,
    TIMER,
    QUOTA,
    COUNTER,
    ARRAY,
    MAP,
    MESSAGES,

    // ---- containers ----
    CONTAINER,
    TYPE_PARAMS,
    CONTAINED,
    TYPE_ARGS,
    MAY_REFUSE,
    /// What of a function in C is not its head: `extern`, `grows 16`, `from "cipher.c"`, `link "sodium"`.
    EXTERN,
    FROM_FILE,
    LINK_WITH,

    // ---- statements ----
    BLOCK,
    LET_STMT,
    NAME_PATTERN,
    TUPLE_PATTERN,
    ASSIGN_STMT,
    EXPR_STMT,
    WHILE_STMT,
    FOR_STMT,
    RETURN_STMT,
    PASS_STMT,
    DROP_STMT,
    CONSUME_STMT,
    FAIL_STMT,
    ACCEPT_STMT,
    TAKE_STMT,
    GIVE_STMT,
    COUNT_STMT,
    START_STMT,
    STOP_STMT,
    REMOVE_STMT,
    END_STMT,
    AGAIN_STMT,
    LATER_STMT,
    OR_CLAUSE,

    // ---- expressions ----
    IF,
    LET_CONDITION,
    MATCH,
    MATCH_ARM,
    NAME_EXPR,
    NUMBER_EXPR,
    DURATION_EXPR,
    BOOL_EXPR,
    OCTETS_EXPR,
    PAREN_EXPR,
    VECTOR_EXPR,
    UNARY_EXPR,
    BINARY_EXPR,
    CAST_EXPR,
    CALL_EXPR,
    ARG_LIST,
    ARG,
    FIELD_EXPR,
    INDEX_EXPR,
    RECORD_EXPR,
    RECORD_EXPR_FIELD,
    RUNNING_EXPR,
    LEFT_EXPR,
    RANGE_EXPR,
    BIND_EXPR,
    HOLE_EXPR,

    // ---- wires ----
    WIRE_BODY,
    WIRE_FIELD,
    WIRE_WHERE,
    WIRE_TRIM,
    WIRE_CHOICE,
    WIRE_ARM,
    WIRE_OPTIONAL,
    WIRE_OPTIONS,
    WIRE_OPTION,
    WIRE_REACH,
    WIRE_EACH,

    // ---- stacks ----
    STACK_LAYER,
    OVER,
    OVER_KEY,
    WITH,
    EXPORT,
    STACK_SETTING,

    // ---- tests and networks ----
    TEST_STACK,
    INPUT_STEP,
    EXPECT_STEP,
    NOTHING,
    DROPPED_STEP,
    CONSUMED_STEP,
    REPORTED_STEP,
    AFTER_STEP,
    HOST,
    LINK,
    LINK_OPTION,
    PERCENTAGE,
    AT_STEP,
    PARTITION,
    UNTIL,

    #[doc(hidden)]
    LAST,
}

impl SyntaxKind {
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

/// The language, as rowan names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mokume {}

impl rowan::Language for Mokume {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        assert!(raw.0 < SyntaxKind::LAST as u16);
        // SAFETY: the enum is `repr(u16)` without gaps, and the number is below its last one.
        unsafe { std::mem::transmute::<u16, SyntaxKind>(raw.0) }
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        kind.into()
    }
}

pub type SyntaxNode = rowan::SyntaxNode<Mokume>;
pub type SyntaxToken = rowan::SyntaxToken<Mokume>;
pub type SyntaxElement = rowan::SyntaxElement<Mokume>;
