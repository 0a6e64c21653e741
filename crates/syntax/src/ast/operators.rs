//! Operators, and what stands in an expression as one word: numbers and what is likely.

/// What the author expects of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Likelihood {
    /// It mostly holds.
    Likely,
    /// It mostly does not.
    Unlikely,
    /// Nothing is said.
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
    /// The operator by its text; `+=` and its like give the operator they contain.
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

/// What a number token stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumberValue {
    /// `7`, `0x0800`, `1_000`
    Plain(u64),
    /// `10.0.0.1`, `2001:db8::1/64`: as a type says that its values are written; the text
    Written(String),
}
