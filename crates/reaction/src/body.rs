//! What a handler does: blocks of operations in SSA form, with block arguments.
//!
//! Each operation has one effect ([`crate::operation`]). An operation that may refuse ends its block: it branches, and a
//! message that was not taken is still the handler's. Every cycle of blocks goes through a block with a `bound`.

use crate::operation::{Fallible, OpKind};
use crate::value::{BlockId, HeaderId, SourceId, Type, Value, VariantId};

/// Code of a function or handler. The first block is the entry, whose parameters are the body's; nothing jumps to it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    pub blocks: Vec<Block>,
    /// Type and name (for people; may be empty) of each value.
    pub values: Vec<ValueInfo>,
}

/// What is known of a value, besides its one definition.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueInfo {
    pub ty: Type,
    pub name: String,
}

/// Operations in order, and where they lead. Arguments of targets come behind the results that the terminator gives.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub label: String,
    pub params: Vec<Value>,
    pub ops: Vec<Op>,
    pub terminator: Terminator,
    /// Where a terminator of several targets comes from.
    pub mark: Option<Mark>,
    /// The block is the head of a loop that is entered at most this often before it is left.
    pub bound: Option<u32>,
}

/// Where a terminator comes from: a statement, and which of the terminators it is that one rendering of the statement needs. So a
/// branch of a function that is rendered at each of its calls has one mark, whoever calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Mark {
    pub source: SourceId,
    pub nth: u32,
}

/// One operation, with the values that it defines.
#[derive(Clone, PartialEq, Debug)]
pub struct Op {
    pub kind: OpKind,
    pub results: Vec<Value>,
    pub source: Option<SourceId>,
}

/// A block and the arguments of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub block: BlockId,
    pub args: Vec<Value>,
}

/// How a block ends. In targets marked *results first*, the results come before the target's own arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    Return,
    /// Of a function only.
    Yield {
        values: Vec<Value>,
    },
    /// Of a procedure only: it gives these back, and what runs it goes on where it is refused.
    Refuse {
        values: Vec<Value>,
    },
    Jump {
        to: Target,
    },
    /// `likely`: the probability of `then`, from the source, 0 to 1.
    Branch {
        condition: Value,
        then: Target,
        otherwise: Target,
        likely: Option<f32>,
    },
    Switch {
        value: Value,
        cases: Vec<(u64, Target)>,
        default: Target,
    },
    /// By the variant of the header on top, which is taken off; each case's results first: the message, the fields.
    Match {
        message: Value,
        header: HeaderId,
        cases: Vec<(VariantId, Target)>,
    },
    /// An operation that may refuse; both targets *results first*.
    Try {
        op: Fallible,
        then: Target,
        otherwise: Target,
    },
}
