//! Expressions.

use super::{
    child, children, choice, first_token, has_word, node, AstNode, BinaryOp, BindPattern, Block, Likelihood, Name,
    NumberValue, Path, Type, UnaryOp,
};
use crate::kinds::{SyntaxKind, SyntaxToken};
use crate::lexer;

choice! {
    /// A value as it is written.
    Expr {
        Name(NameExpr), Number(NumberExpr), Duration(DurationExpr), Bool(BoolExpr), Octets(OctetsExpr),
        Paren(ParenExpr), Vector(VectorExpr), Unary(UnaryExpr), Binary(BinaryExpr), Cast(CastExpr), Call(CallExpr), Field(FieldExpr),
        Index(IndexExpr), Record(RecordExpr), If(If), Match(Match), Running(RunningExpr), Left(LeftExpr),
        Range(RangeExpr), Bind(BindExpr), Hole(HoleExpr), Packet(PacketExpr),
    }
}

node! {
    /// `if likely c { … } else { … }`, a statement or a value
    If = IF;
    /// `let v = m[k]` as a condition
    LetCondition = LET_CONDITION;
    /// `match e { … }`
    Match = MATCH;
    /// `Kind.Ask => { … }`
    MatchArm = MATCH_ARM;
    /// `next`, `now`, `flow`, `below`
    NameExpr = NAME_EXPR;
    /// `7`, `0x0800`, `10.0.0.1`, `10.0.0.1/24`, `02:00:00:00:00:01`
    NumberExpr = NUMBER_EXPR;
    /// `20 ms`
    DurationExpr = DURATION_EXPR;
    /// `true`, `false`
    BoolExpr = BOOL_EXPR;
    /// Strings and octet strings side by side: `x"01" "one"`
    OctetsExpr = OCTETS_EXPR;
    /// `(a)`, and the several parts of a key: `(a, b)`
    ParenExpr = PAREN_EXPR;
    /// `[a, b]`
    VectorExpr = VECTOR_EXPR;
    /// `!x`, `not x`
    UnaryExpr = UNARY_EXPR;
    /// `a + b`
    BinaryExpr = BINARY_EXPR;
    /// `x as u8`, `x as% u8`
    CastExpr = CAST_EXPR;
    /// `f(a, name: b)`
    CallExpr = CALL_EXPR;
    /// `(a, name: b)`
    ArgList = ARG_LIST;
    /// `a`, `name: a`, `device.mac: a`
    Arg = ARG;
    /// `..` at the end of an output's arguments, or of a packet's fields: the others may be anything
    Rest = REST;
    /// `Rfc791 { ttl: 64 } Rfc768 { length: 12, .. } "data"`, in tests: wires by their fields, and octets
    PacketExpr = PACKET_EXPR;
    /// `over flow(remote.host: 10.0.0.1)`: what a checksum counts beside the packet
    PacketOver = PACKET_OVER;
    /// `a.b`
    FieldExpr = FIELD_EXPR;
    /// `a[i]`, `m[k, l]`
    IndexExpr = INDEX_EXPR;
    /// `Pair { left: 1, right }`
    RecordExpr = RECORD_EXPR;
    /// `left: 1`, `right`
    RecordExprField = RECORD_EXPR_FIELD;
    /// `running t`
    RunningExpr = RUNNING_EXPR;
    /// `left kept`
    LeftExpr = LEFT_EXPR;
    /// `a .. b`, in `for` and in options of links
    RangeExpr = RANGE_EXPR;
    /// `?s`, in tests
    BindExpr = BIND_EXPR;
    /// `_`, in tests
    HoleExpr = HOLE_EXPR;
}

impl If {
    /// The word behind `if`.
    pub fn likelihood(&self) -> Likelihood {
        if has_word(&self.0, "likely") {
            Likelihood::Likely
        } else if has_word(&self.0, "unlikely") {
            Likelihood::Unlikely
        } else {
            Likelihood::Unknown
        }
    }
    /// The condition, unless it is an `if let`.
    pub fn condition(&self) -> Option<Expr> {
        self.0.children().take_while(|node| node.kind() != SyntaxKind::BLOCK).find_map(Expr::cast)
    }
    /// The lookup of an `if let`.
    pub fn let_condition(&self) -> Option<LetCondition> {
        child(&self.0)
    }
    /// The block behind the condition.
    pub fn then(&self) -> Option<Block> {
        child(&self.0)
    }
    /// The block behind `else`; not that of an `else if`.
    pub fn else_block(&self) -> Option<Block> {
        children::<Block>(&self.0).into_iter().nth(1)
    }
    /// The `if` of `else if`.
    pub fn else_if(&self) -> Option<If> {
        self.0.children().skip_while(|node| node.kind() != SyntaxKind::BLOCK).find_map(If::cast)
    }
}

impl LetCondition {
    /// What the look-up binds.
    pub fn pattern(&self) -> Option<BindPattern> {
        child(&self.0)
    }
    /// The look-up.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Match {
    /// What is matched.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The arms, in order.
    pub fn arms(&self) -> Vec<MatchArm> {
        children(&self.0)
    }
}

impl MatchArm {
    /// The constant or `Kind.Name` in front of the arrow; `None` for `else`.
    pub fn pattern(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// Whether it is the arm for all other values.
    pub fn is_else(&self) -> bool {
        has_word(&self.0, "else")
    }
    /// The block behind the arrow.
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl NameExpr {
    /// The name as written, without blanks; for a record of a module with the module's name: `udp.Pair`.
    pub fn text(&self) -> String {
        super::unblanked(&self.0)
    }
}

impl NumberExpr {
    /// The value; `None` if the token is not a number, which the lexer has reported.
    pub fn value(&self) -> Option<NumberValue> {
        let token = first_token(&self.0)?;
        match token.kind() {
            SyntaxKind::NUMBER => lexer::number(token.text()).map(NumberValue::Plain),
            _ => Some(NumberValue::Written(token.text().to_string())),
        }
    }
}

impl DurationExpr {
    /// `ns`, `us`, `ms`, `s` or `min`
    pub fn unit(&self) -> Option<String> {
        super::token(&self.0, SyntaxKind::IDENT).map(|token| token.text().to_string())
    }
    /// The duration in nanoseconds; `None` if it does not fit in 64 bits or is not a whole number of nanoseconds.
    pub fn nanoseconds(&self) -> Option<u64> {
        let factor = match self.unit()?.as_str() {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => 60_000_000_000,
        };
        let token = first_token(&self.0)?;
        let Some((whole, part)) = token.text().split_once('.') else {
            return lexer::number(token.text())?.checked_mul(factor);
        };
        let places = 10u64.checked_pow(u32::try_from(part.len()).ok()?)?;
        let (whole, part) = (lexer::number(whole)?.checked_mul(factor)?, lexer::number(part)?.checked_mul(factor)?);
        (part % places == 0).then(|| whole.checked_add(part / places))?
    }
}

impl BoolExpr {
    /// Which of the two.
    pub fn value(&self) -> bool {
        has_word(&self.0, "true")
    }
}

impl OctetsExpr {
    /// The octets of all strings, joined; faulty parts have been reported and are left out.
    pub fn octets(&self) -> Vec<u8> {
        let tokens = self.0.children_with_tokens().filter_map(|element| element.into_token());
        tokens
            .filter_map(|token| match token.kind() {
                SyntaxKind::STRING => lexer::string_octets(token.text()),
                SyntaxKind::HEX_STRING => lexer::hex_octets(token.text()),
                _ => None,
            })
            .flatten()
            .collect()
    }
}

impl VectorExpr {
    /// The elements, in order; empty for `[]`.
    pub fn elements(&self) -> Vec<Expr> {
        children(&self.0)
    }
}

impl ParenExpr {
    /// The first expression in the parentheses.
    pub fn inner(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// All expressions in the parentheses. `(a, b)` has more than one, and may only be a map's key.
    pub fn all(&self) -> Vec<Expr> {
        children(&self.0)
    }
}

impl UnaryExpr {
    /// The operator in front.
    pub fn op(&self) -> UnaryOp {
        match super::token(&self.0, SyntaxKind::BANG) {
            Some(_) => UnaryOp::Complement,
            None => UnaryOp::Not,
        }
    }
    /// What it is applied to.
    pub fn operand(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl BinaryExpr {
    fn op_token(&self) -> Option<SyntaxToken> {
        first_token(&self.0)
    }
    /// The operator between the operands.
    pub fn op(&self) -> Option<BinaryOp> {
        self.op_token().and_then(|token| BinaryOp::from_text(token.text()))
    }
    /// The place of the operator.
    pub fn op_span(&self, file: mokume_base::FileId) -> mokume_base::Span {
        self.op_token().map_or(self.span(file), |token| super::token_span(&token, file))
    }
    /// The left operand.
    pub fn left(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The right operand.
    pub fn right(&self) -> Option<Expr> {
        super::expr_after(&self.0, self.op_token()?.text())
    }
}

impl CastExpr {
    /// The value to cast.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The type to cast to.
    pub fn ty(&self) -> Option<Type> {
        child(&self.0)
    }
    /// `as%`: keeps the low bits and reports nothing.
    pub fn is_wrapping(&self) -> bool {
        super::token(&self.0, SyntaxKind::PERCENT).is_some()
    }
}

impl CallExpr {
    /// The function: a name, or `a.f`.
    pub fn callee(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The arguments, in order.
    pub fn args(&self) -> Vec<Arg> {
        child::<ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
    /// `..` at the end of the arguments.
    pub fn rest(&self) -> Option<Rest> {
        child::<ArgList>(&self.0)?.rest()
    }
}

impl ArgList {
    /// The arguments, in order.
    pub fn args(&self) -> Vec<Arg> {
        children(&self.0)
    }
    /// `..` at the end, in the arguments of an output.
    pub fn rest(&self) -> Option<Rest> {
        child(&self.0)
    }
}

impl Arg {
    /// The name in front of the colon.
    pub fn name(&self) -> Option<Path> {
        child(&self.0)
    }
    /// The value; behind the name, if there is one.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl FieldExpr {
    /// The expression in front of the dot.
    pub fn base(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The name behind the dot.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl IndexExpr {
    /// The expression in front of the bracket.
    pub fn base(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The expressions in the brackets; several for a map or object with several keys.
    pub fn indices(&self) -> Vec<Expr> {
        children::<Expr>(&self.0).into_iter().skip(1).collect()
    }
}

impl RecordExpr {
    /// The record or alternative.
    pub fn name(&self) -> Option<NameExpr> {
        child(&self.0)
    }
    /// The fields, in the order of the text.
    pub fn fields(&self) -> Vec<RecordExprField> {
        children(&self.0)
    }
}

impl RecordExpr {
    /// `..` at the end, in tests.
    pub fn rest(&self) -> Option<Rest> {
        child(&self.0)
    }
}

impl PacketExpr {
    /// The parts, wires and octets, in the order of the packet.
    pub fn parts(&self) -> Vec<Expr> {
        children(&self.0)
    }
    /// What the checksum of the first wire includes.
    pub fn over(&self) -> Option<PacketOver> {
        child(&self.0)
    }
}

impl PacketOver {
    /// `flow(…)`
    pub fn flow(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl RecordExprField {
    /// The field's name.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// `None` for the short form `Data { seq }`, where the name is the value.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl RunningExpr {
    /// The timer.
    pub fn timer(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl LeftExpr {
    /// The quota.
    pub fn quota(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl RangeExpr {
    /// The first number.
    pub fn from(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The end of the range, which is not part of it.
    pub fn to(&self) -> Option<Expr> {
        super::expr_after(&self.0, "..")
    }
}

impl BindExpr {
    /// The name that the handle is bound to.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}
