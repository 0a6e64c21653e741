//! C as a tree: the expressions and statements that bodies become, and what is decided on them before they are written.
//!
//! Invariant: nothing here knows automata. A tree means what its C means, and every pass keeps that meaning; each says in
//! its first lines what it asks of the tree it is given.

mod build;
mod choose;
mod effect;
mod flatten;
mod fold;
mod labels;
mod locals;
mod loops;
mod print;
mod scope;
mod visit;

use std::borrow::Cow;

pub(crate) use build::*;
pub(crate) use print::expression;

/// A name that stands for itself.
pub(crate) type Word = Cow<'static, str>;

/// A variable of the function at hand, an index into [`Routine::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Local(pub usize);

/// A place to jump to, an index into [`Routine::labels`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Label(pub usize);

/// What evaluating an expression may do beside giving its value, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effect {
    /// A function of variables that are set once.
    Pure,
    /// It depends on memory, or on variables that change.
    Reads,
    /// It changes memory.
    Acts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Not,
    Complement,
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
    /// A constant, a function, or a variable that is not the function's own.
    Name(Word),
    /// Without a sign.
    Number(u64),
    Bool(bool),
    Unary(Unary, Box<Expr>),
    Infix(Infix, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`
    Conditional(Box<[Expr; 3]>),
    Cast(Word, Box<Expr>),
    Call {
        function: Word,
        /// Of the call itself, its arguments apart.
        effect: Effect,
        args: Vec<Expr>,
    },
    /// `a.b`
    Member(Box<Expr>, Word),
    /// `a->b`
    Arrow(Box<Expr>, Word),
    Index(Box<Expr>, Box<Expr>),
    /// Of a type.
    SizeOf(Word),
    /// A condition that most often holds, or most often does not.
    Expect(bool, Box<Expr>),
}

pub(crate) type Lines = Vec<Stmt>;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stmt {
    /// The definition of a variable; where it is declared is found out by [`scope`].
    Let(Local, Expr),
    /// A declaration without a value.
    Declare(Local),
    /// `place = value;`, or `place op= value;`
    Set(Expr, Option<Infix>, Expr),
    /// An array of constant octets.
    Octets(Local, Vec<u8>),
    /// For its effect.
    Do(Expr),
    If { condition: Expr, then: Lines, otherwise: Lines },
    While { condition: Expr, body: Lines },
    /// No case goes on in the next one.
    Switch { on: Expr, cases: Vec<(Expr, Lines)>, default: Lines },
    Label(Label),
    Goto(Label),
    Return(Option<Expr>),
    /// Something is not used, and that is as it should be.
    Unused(Local),
}

/// A variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// What a person would call it; empty for values that have no name in the source.
    pub hint: String,
    pub ty: Word,
    /// Places, if it is an array.
    pub array: Option<u32>,
    pub is_parameter: bool,
}

/// A function under construction. Its first parameter is the instance, `k`.
#[derive(Debug, Default)]
pub(crate) struct Routine {
    /// Parameters first, in order.
    pub locals: Vec<Variable>,
    /// What labels are called.
    pub labels: Vec<String>,
    pub body: Lines,
}

/// A function that is ready to be printed: names for its variables and labels, and the lines of its body.
pub(crate) struct Written {
    /// Of the parameters, in order.
    pub parameters: Vec<String>,
    pub body: crate::text::Text,
}

impl Routine {
    pub fn local(&mut self, hint: impl Into<String>, ty: impl Into<Word>) -> Local {
        self.locals.push(Variable { hint: hint.into(), ty: ty.into(), array: None, is_parameter: false });
        Local(self.locals.len() - 1)
    }

    pub fn array(&mut self, hint: &str, ty: &'static str, places: u32) -> Local {
        let local = self.local(hint, ty);
        self.locals[local.0].array = Some(places);
        local
    }

    pub fn label(&mut self, hint: impl Into<String>) -> Label {
        self.labels.push(hint.into());
        Label(self.labels.len() - 1)
    }

    /// All that is decided on the tree, then its text.
    pub fn write(mut self) -> Written {
        labels::fall_through(&mut self.body);
        flatten::flatten(&mut self.body);
        labels::drop_dead(&mut self.body);
        fold::fold(&mut self);
        loops::find(&mut self.body);
        scope::declare(&mut self);
        locals::mark_unused(&mut self);
        let names = locals::names(&self);
        let parameters = self.locals.iter().zip(&names.locals).filter(|(local, _)| local.is_parameter);
        Written { parameters: parameters.map(|(_, name)| name.clone()).collect(), body: print::body(&self, &names) }
    }
}
