//! Functions: their parameters, locals and bodies.

use super::{Expr, LocalId, Name, Stmt, Type};

/// A parameter of a function, layer, bundle or stack; `local` is how its body's expressions name it.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
    pub default: Option<Expr>,
    pub local: LocalId,
}

/// A pure function, or one of a layer (which may read and write its state and take messages). Not recursive.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub params: Vec<Param>,
    pub result: Type,
    /// `or refuse`: may give its messages back instead; who calls it says what happens then.
    pub refuses: bool,
    /// In C; the body is a model of it.
    pub native: Option<Native>,
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
}

/// What is said of a function in C.
#[derive(Clone, Debug)]
pub struct Native {
    /// The file in C, relative to the one of the declaration.
    pub file: String,
    pub libraries: Vec<String>,
    /// Octets by which it may make its message longer.
    pub grows: u32,
}

/// A parameter or `let` of one body, by [`LocalId`].
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
}
