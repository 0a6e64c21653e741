//! Which functions of a layer became procedures, and for whom.

use mokume_reaction as r;
use mokume_semantics::program as s;

/// A function that is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Called {
    /// By its place among the layer's own.
    Own(u32),
    /// Of the program.
    Free(s::FunctionId),
}

/// A function as it is called at one place: all places alike run one procedure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Standing {
    pub inst: usize,
    pub called: Called,
    /// Whose state is at hand, if an object's is.
    pub object: Option<s::ObjectId>,
    /// The types of who else is at hand.
    pub at_hand: Vec<Option<Vec<r::Type>>>,
}

/// The procedure that a function became.
#[derive(Clone, Debug)]
pub struct Procedure {
    pub function: r::FunctionId,
    /// Which of the values at hand it asks for, by their places among all.
    pub kept: Vec<usize>,
}
