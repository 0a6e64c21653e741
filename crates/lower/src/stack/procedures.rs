//! Which functions of a layer became procedures, and for which current objects.

use mokume_reaction as r;
use mokume_semantics::program as s;

/// A called function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Called {
    /// Index into the layer's own functions.
    Own(u32),
    /// A function of the program.
    Free(s::FunctionId),
}

/// A function with the kinds of its caller's current objects: equal ones share one procedure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Standing {
    pub inst: usize,
    pub called: Called,
    /// The class of the current object, if there is one.
    pub object: Option<s::ObjectId>,
    /// The types of the other current objects.
    pub at_hand: Vec<Option<Vec<r::Type>>>,
}

/// A function's procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    pub function: r::FunctionId,
    /// Which of the current objects it takes, by their indices among all.
    pub kept: Vec<usize>,
}
