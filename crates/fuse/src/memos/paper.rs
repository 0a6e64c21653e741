//! A path or a memo under construction.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::{to, BlockId, BodyBuilder, Terminator, Value};

use super::meetings::Site;

/// A body under construction.
pub(super) struct Paper {
    pub builder: BodyBuilder,
    /// By value of the old path.
    pub values: HashMap<Value, Value>,
    /// By last block of a leaf: messages with fewer octets are within all its bounds.
    pub rooms: HashMap<BlockId, Value>,
    /// By block of the old path where ways meet: those that are written.
    pub sites: HashMap<BlockId, Vec<Site>>,
    /// The block where it refuses.
    pub exit: Option<BlockId>,
}

impl Paper {
    /// A body on which nothing is written, with what is known of the old path.
    pub fn new(builder: BodyBuilder, values: HashMap<Value, Value>) -> Self {
        Paper { builder, values, rooms: HashMap::default(), sites: HashMap::default(), exit: None }
    }

    /// The block where the body refuses; made at the first request.
    pub fn exit(&mut self) -> BlockId {
        match self.exit {
            Some(exit) => exit,
            None => {
                let exit = self.builder.block("exit", &[]);
                self.exit = Some(exit);
                exit
            }
        }
    }

    /// Continues where the condition holds; otherwise the body refuses.
    pub fn only_if(&mut self, condition: Value) {
        let next = self.builder.block("", &[]);
        let (then, otherwise) = (to(next, []), to(self.exit(), []));
        self.builder.end(Terminator::Branch { condition, then, otherwise, likely: Some(0.999) });
        self.builder.select(next);
    }

    /// Continues in this block, with these known values.
    pub fn go_on(&mut self, block: BlockId, values: HashMap<Value, Value>) {
        self.values.extend(values);
        self.builder.select(block);
    }

    /// A block that leads to the exit.
    pub fn aside(&mut self, block: BlockId) {
        let exit = self.exit();
        let at = self.builder.current();
        self.builder.select(block);
        self.builder.end(Terminator::Jump { to: to(exit, []) });
        if let Some(at) = at {
            self.builder.select(at);
        }
    }
}
