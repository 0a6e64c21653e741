//! The typed program: what the front end proves about a file and `lower` turns into automata.
//!
//! Names are resolved, every expression has a type, messages are linear, shapes are obeyed. Layers are still generic in their
//! neighbours: flows are opaque here and become scalars when a stack is lowered.
//!
//! Invariant: if the diagnostics hold no error, `lower` may rely on all of this without checking again.

mod expressions;
mod items;
mod layers;
pub mod signature;
mod stacks;
mod statements;
mod tests;
mod wires;

pub use expressions::*;
pub use items::*;
pub use layers::*;
pub use stacks::*;
pub use statements::*;
pub use tests::*;
pub use wires::*;

use signature::{Signature, Vocabulary};

macro_rules! ids {
    ($($name:ident),* $(,)?) => { $(
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name { pub fn index(self) -> usize { self.0 as usize } }
    )* };
}
ids! { SignatureId, VocabularyId, EnumId, RecordId, AttributeId, ServiceId, FunctionId, LayerId, BundleId, WireId, StackId, ObjectId, LocalId }

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub enums: Vec<Enum>,
    pub records: Vec<Record>,
    pub attributes: Vec<Attribute>,
    pub services: Vec<Service>,
    pub signatures: Vec<Signature>,
    pub vocabularies: Vec<Vocabulary>,
    /// Pure functions of files.
    pub functions: Vec<Function>,
    pub layers: Vec<Layer>,
    pub bundles: Vec<Bundle>,
    pub wires: Vec<Wire>,
    pub stacks: Vec<Stack>,
    pub tests: Vec<Test>,
    pub networks: Vec<Network>,
}

impl Program {
    /// What a bounded vector holds; none of other types.
    pub fn vector(&self, ty: Type) -> Option<Vector> {
        let Type::Record(id) = ty else { return None };
        self.records.get(id.index())?.vector
    }
}
