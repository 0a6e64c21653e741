//! Functions: their parameters, locals and bodies.

use mokume_base::Notation;

use super::{Expr, LocalId, Name, Stmt, Type};

/// A parameter of a function, layer, bundle or stack; `local` is how its body's expressions name it.
#[derive(Clone, Debug)]
pub struct Param {
    /// As arguments name it.
    pub name: Name,
    /// Also `Message`, of functions of layers and in C; an object's handle, of functions of layers.
    pub ty: Type,
    /// A constant; without one, an argument is needed.
    pub default: Option<Expr>,
    /// Of functions: by which the body names it. Layers, bundles and stacks name theirs by
    /// [`ExprKind::Param`](super::ExprKind::Param).
    pub local: LocalId,
    /// Of scalars: how the declared type's values are written.
    pub written: Option<Notation>,
}

/// A pure function, or one of a layer (which may read and write its state and take messages). Not recursive.
#[derive(Clone, Debug)]
pub struct Function {
    /// Of a container's function with its state in front, `waiting.push`.
    pub name: Name,
    /// In order; arguments are as many.
    pub params: Vec<Param>,
    /// [`Type::Unit`] if it gives nothing.
    pub result: Type,
    /// `or refuse`: may give its messages back instead; who calls it says what happens then.
    pub refuses: bool,
    /// In C; the body is a model of it.
    pub native: Option<Native>,
    /// Parameters first; by [`LocalId`].
    pub locals: Vec<Local>,
    /// Gives a value on every path, or refuses, if there is a result.
    pub body: Vec<Stmt>,
}

/// What is said of a function in C.
#[derive(Clone, Debug)]
pub struct Native {
    /// The file in C, relative to the one of the declaration.
    pub file: String,
    /// For the linker: `sodium` as in `-lsodium`.
    pub libraries: Vec<String>,
    /// Octets by which it may make its message longer.
    pub grows: u32,
}

/// A parameter or `let` of one body, by [`LocalId`].
#[derive(Clone, Debug)]
pub struct Local {
    /// Several may have one name, in different blocks.
    pub name: Name,
    /// As written, or of the value that it is bound to.
    pub ty: Type,
}
