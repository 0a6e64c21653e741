//! Functions: their parameters, locals and bodies.

use mokume_base::Notation;

use super::{Expr, LocalId, Name, Stmt, Type};

/// A parameter of a function, layer, bundle or stack. The body's expressions name it by `local`.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name, which arguments use.
    pub name: Name,
    /// The type: for functions of layers also a message or a handle of an object, for functions in C also a message.
    pub ty: Type,
    /// The default value, a constant; without one, the argument is required.
    pub default: Option<Expr>,
    /// For functions: the local that the body uses. Layers, bundles and stacks use
    /// [`ExprKind::Param`](super::ExprKind::Param) instead.
    pub local: LocalId,
    /// For scalars: the notation of the declared type.
    pub written: Option<Notation>,
}

/// A pure function, or one of a layer (which may read and write the layer's state, and take messages). Not recursive.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name; for a container's function with its state in front, `waiting.push`.
    pub name: Name,
    /// The parameters, in order; a call has as many arguments.
    pub params: Vec<Param>,
    /// The result; [`Type::Unit`] if there is none.
    pub result: Type,
    /// `or refuse`: it may give its messages back instead; the caller says what happens then.
    pub refuses: bool,
    /// Set if it is in C; the body is then a model of it.
    pub native: Option<Native>,
    /// All locals by [`LocalId`], parameters first.
    pub locals: Vec<Local>,
    /// The body. If there is a result, each path returns a value or refuses.
    pub body: Vec<Stmt>,
}

/// The parts of a function in C.
#[derive(Clone, Debug)]
pub struct Native {
    /// The file in C, relative to the one of the declaration.
    pub file: String,
    /// For the linker: `sodium` as in `-lsodium`.
    pub libraries: Vec<String>,
    /// The most octets by which it makes its message longer.
    pub grows: u32,
}

/// A parameter or `let` of one body, by [`LocalId`].
#[derive(Clone, Debug)]
pub struct Local {
    /// The name, which is not unique: different blocks may use one name.
    pub name: Name,
    /// The type: as written, or that of the value that it is bound to.
    pub ty: Type,
    /// The notation of the type that the source declares for it; for a bounded vector, of its elements.
    pub written: Option<Notation>,
    /// The source has no name for it.
    pub is_hidden: bool,
    /// Its number among all locals of the program, from 1; copies of a body have locals of their own.
    pub number: u32,
}

impl Local {
    /// A local without a declared notation.
    pub fn new(name: Name, ty: Type) -> Local {
        Local { name, ty, written: None, is_hidden: false, number: 0 }
    }
}

impl From<&Param> for Local {
    fn from(param: &Param) -> Local {
        Local { written: param.written, ..Local::new(param.name.clone(), param.ty) }
    }
}
