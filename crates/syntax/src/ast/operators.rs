//! Operators, number tokens, and likelihoods.

/// What the author expects of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Likelihood {
    /// The condition mostly holds.
    Likely,
    /// The condition mostly does not hold.
    Unlikely,
    /// The author says nothing.
    Unknown,
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`: of maps and objects
    In,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `+%`
    AddWrap,
    /// `-%`
    SubWrap,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `*%`
    MulWrap,
}

impl BinaryOp {
    /// The operator of a text; for `+=` and the like, the operator that it contains.
    pub fn from_text(text: &str) -> Option<BinaryOp> {
        use BinaryOp::*;
        Some(match text {
            "or" | "||" => Or,
            "and" | "&&" => And,
            "==" => Eq,
            "!=" => Ne,
            "<" => Lt,
            "<=" => Le,
            ">" => Gt,
            ">=" => Ge,
            "in" => In,
            "|" | "|=" => BitOr,
            "^" | "^=" => BitXor,
            "&" | "&=" => BitAnd,
            "<<" | "<<=" => Shl,
            ">>" | ">>=" => Shr,
            "+" | "+=" => Add,
            "-" | "-=" => Sub,
            "+%" | "+%=" => AddWrap,
            "-%" | "-%=" => SubWrap,
            "*" | "*=" => Mul,
            "/" | "/=" => Div,
            "%" | "%=" => Rem,
            "*%" | "*%=" => MulWrap,
            _ => return None,
        })
    }
}

/// `!` and `not`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `!`: bitwise, and on `bool`
    Complement,
    /// `not`
    Not,
}

/// The value of a number token.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumberValue {
    /// `7`, `0x0800`, `1_000`
    Plain(u64),
    /// `10.0.0.1`, `2001:db8::1/64`: text in a notation; a type says which notation its values have.
    Written(String),
}
