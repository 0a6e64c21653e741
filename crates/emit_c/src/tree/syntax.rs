//! The syntax of C, as far as bodies need it.

use std::borrow::Cow;

/// A name or other word of C.
pub(crate) type Word = Cow<'static, str>;

/// A variable of the current function, an index into [`Routine::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Local(pub usize);

/// A place to jump to, an index into [`Routine::labels`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Label(pub usize);

/// What evaluating an expression may do besides giving its value, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effect {
    /// It depends only on variables that are set once.
    Pure,
    /// It depends on memory, or on variables that change.
    Reads,
    /// It changes memory.
    Acts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Not,
    AddressOf,
    Deref,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Infix {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expr {
    Local(Local),
    /// A constant, a function, or a variable that is not local.
    Name(Word),
    /// An unsigned number.
    Number(u64),
    Bool(bool),
    Unary(Unary, Box<Expr>),
    Infix(Infix, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`
    Conditional(Box<[Expr; 3]>),
    Cast(Word, Box<Expr>),
    Call {
        function: Word,
        /// The effect of the call itself, without its arguments.
        effect: Effect,
        args: Vec<Expr>,
    },
    /// `a.b`
    Member(Box<Expr>, Word),
    /// `a->b`
    Arrow(Box<Expr>, Word),
    Index(Box<Expr>, Box<Expr>),
    /// A value of a struct of one array, with its first items: `(struct a){{1, 2}}`
    Array(Word, Vec<Expr>),
    /// The size of a type.
    SizeOf(Word),
    /// A condition that usually holds, or usually does not.
    Expect(bool, Box<Expr>),
}

pub(crate) type Lines = Vec<Stmt>;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stmt {
    /// The definition of a variable; [`scope`] finds out where it is declared.
    Let(Local, Expr),
    /// A declaration without a value.
    Declare(Local),
    /// `place = value;`, or `place op= value;`
    Set(Expr, Option<Infix>, Expr),
    /// An array of constant octets.
    Octets(Local, Vec<u8>),
    /// An expression for its effect.
    Do(Expr),
    If {
        condition: Expr,
        then: Lines,
        otherwise: Lines,
    },
    While {
        condition: Expr,
        body: Lines,
    },
    /// No case falls through to the next.
    Switch {
        on: Expr,
        cases: Vec<(Expr, Lines)>,
        default: Lines,
    },
    Label(Label),
    Goto(Label),
    Return(Option<Expr>),
    /// Marks something as deliberately unused.
    Unused(Expr),
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// A readable name; empty for values that have no name in the source.
    pub hint: String,
    pub ty: Word,
    /// The number of items, if it is an array.
    pub array: Option<u32>,
    pub is_parameter: bool,
}

/// A function under construction. Its first parameter is the instance, `k`.
#[derive(Debug, Default)]
pub(crate) struct Routine {
    /// Parameters first, in order.
    pub locals: Vec<Variable>,
    /// The names of labels.
    pub labels: Vec<String>,
    pub body: Lines,
}

impl Routine {
    /// Adds a variable.
    pub fn local(&mut self, hint: impl Into<String>, ty: impl Into<Word>) -> Local {
        self.locals.push(Variable { hint: hint.into(), ty: ty.into(), array: None, is_parameter: false });
        Local(self.locals.len() - 1)
    }

    /// Adds an array.
    pub fn array(&mut self, hint: &str, ty: &'static str, places: u32) -> Local {
        let local = self.local(hint, ty);
        self.locals[local.0].array = Some(places);
        local
    }

    /// Adds a label, which is not placed yet.
    pub fn label(&mut self, hint: impl Into<String>) -> Label {
        self.labels.push(hint.into());
        Label(self.labels.len() - 1)
    }
}
