//! Parts of layers: what each has of its own, and what of the layer's state it says that it uses.

use super::{Name, ObjectId, ScopeKind};

/// A part that a layer took in. Its state, functions and handlers are the layer's; here stands which they are.
#[derive(Clone, Debug)]
pub struct Part {
    /// As it is declared.
    pub name: Name,
    /// What the layer and its other parts call it: its name in small letters.
    pub called: String,
    /// Its own state, by the names that it has for it.
    pub members: Vec<(String, ScopeKind, u32)>,
    /// Its own objects, likewise.
    pub objects: Vec<(String, ObjectId)>,
    /// Its own functions, likewise, as indices into the layer's.
    pub functions: Vec<(String, u32)>,
    /// Indices into the layer's handlers.
    pub handlers: Vec<u32>,
    /// State and objects of the layer that it may use.
    pub shared: Vec<Shared>,
}

/// `reads snd_una`, `writes snd_nxt`: state of the layer that a part may use.
#[derive(Clone, Debug)]
pub struct Shared {
    /// As the layer has it.
    pub name: Name,
    /// It may change, too.
    pub writes: bool,
}

/// Whose a piece of state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Of the layer's parts.
    Part(usize),
    /// The layer itself, under this name; of what a container holds, the container's.
    Layer(String),
}

impl Part {
    /// A part without members.
    pub fn bare(name: Name, called: String) -> Part {
        let (members, objects, functions) = (Vec::new(), Vec::new(), Vec::new());
        Part { name, called, members, objects, functions, handlers: Vec::new(), shared: Vec::new() }
    }

    /// A name within the part as the layer has it.
    pub fn full(&self, own: &str) -> String {
        format!("{}.{own}", self.called)
    }

    /// State of its own.
    pub fn member(&self, name: &str) -> Option<(ScopeKind, u32)> {
        let found = self.members.iter().find(|(known, ..)| known == name);
        found.map(|(_, scope, member)| (*scope, *member))
    }

    /// Whether it says that it uses this state of the layer.
    pub fn shares(&self, name: &str) -> bool {
        self.shared.iter().any(|shared| shared.name.text == name)
    }

    /// A class of objects of its own.
    pub fn object(&self, name: &str) -> Option<ObjectId> {
        self.objects.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    /// A function of its own.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }
}
