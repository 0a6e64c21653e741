//! What a handler does: blocks of operations in SSA form, with block arguments.
//!
//! Each operation has one effect ([`crate::operation`]). An operation that may refuse ends its block: it branches, and
//! if it refuses, the handler still owns the message. Every cycle of blocks contains a block with a `bound`.

use std::fmt;
use std::sync::Arc;

use crate::operation::{Fallible, OpKind};
use crate::value::{BlockId, HeaderId, SourceId, Type, Value, VariantId};

/// The code of a function or handler. The first block is the entry; its parameters are those of the body, and nothing
/// jumps to it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    pub blocks: Vec<Block>,
    /// Type and name (for people; may be empty) of each value.
    pub values: Vec<ValueInfo>,
    /// What the names of the source stand for at its places.
    pub scopes: Scopes,
}

/// What is known of a value: its type, and its name (for people; may be empty).
#[derive(Clone, PartialEq, Debug)]
pub struct ValueInfo {
    pub ty: Type,
    pub name: String,
}

/// Operations in order, and a terminator. A target's own arguments come after the results of the terminator.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub label: String,
    pub params: Vec<Value>,
    pub ops: Vec<Op>,
    pub terminator: Terminator,
    /// The statement that a terminator with several targets comes from.
    pub mark: Option<Mark>,
    /// The block is a loop head, entered at most this often before the loop is left.
    pub bound: Option<u32>,
}

/// The origin of a terminator: a statement, and the number of the terminator among those that one rendering of the
/// statement needs. A branch of a function that is rendered at each call has the same mark for every caller.
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

/// A block, and the arguments for its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub block: BlockId,
    pub args: Vec<Value>,
}

/// How a block ends. In targets marked *results first*, the results come before the target's own arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    Return,
    /// Ends a function, with its results.
    Yield {
        values: Vec<Value>,
    },
    /// Refuses, and gives these values back; the caller goes on at its refusal. Only in procedures that may refuse,
    /// memos and paths.
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
    /// Branches on the variant of the topmost header and takes the header off. Results first, for each case: the
    /// message, then the fields.
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

/// What the names of the source stand for at the places of a body, for debuggers; by place. The body does the same without it: bodies
/// that differ in this alone are equal, the text has nothing of it, and passes do not keep it.
#[derive(Clone, Default)]
pub struct Scopes(pub Arc<Vec<Scope>>);

/// From an operation of a block on, the names that are bound; `op` may be the number of operations, for the terminator.
#[derive(Clone, Debug)]
pub struct Scope {
    pub block: BlockId,
    pub op: usize,
    /// Statements that begin here and have no operation of their own in front, in order.
    pub begun: Vec<Arc<Names>>,
    pub names: Arc<Names>,
}

/// The names of a piece of code, and of the code that it is called from, as far as both are in one body.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The statement: of the code that is called from, the one with the call.
    pub source: Option<SourceId>,
    pub own: Vec<BoundName>,
    pub outer: Option<Arc<Names>>,
}

/// A local that has a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundName {
    /// Its number among all locals of the program.
    pub local: u32,
    /// Its parts, in the order of its type; those of a flow by their names.
    pub parts: Vec<(String, BoundPart)>,
}

/// A part of a local. A constant that nothing uses has no value in the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoundPart {
    Value(Value),
    Constant(Type, u64),
}

impl Scopes {
    /// The names at an operation of a block, if they are known.
    pub fn at(&self, at: (BlockId, usize)) -> Option<&Arc<Names>> {
        self.last(at).map(|scope| &scope.names)
    }

    /// The statements that begin at an operation of a block without one of their own.
    pub fn begun_at(&self, at: (BlockId, usize)) -> &[Arc<Names>] {
        self.last(at).filter(|scope| scope.op == at.1).map_or(&[], |scope| &scope.begun)
    }

    /// The scope of an operation: the last one in the block that begins there or before.
    fn last(&self, (block, op): (BlockId, usize)) -> Option<&Scope> {
        let behind = self.0.partition_point(|scope| (scope.block, scope.op) <= (block, op));
        self.0.get(behind.checked_sub(1)?).filter(|scope| scope.block == block)
    }
}

impl PartialEq for Scopes {
    fn eq(&self, _: &Scopes) -> bool {
        true
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} scopes", self.0.len())
    }
}
