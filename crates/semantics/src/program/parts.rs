//! Parts of layers: their own members, and the state of the layer that they declare to use.

use super::{Name, ObjectId, ScopeKind};

/// A part of a layer. Its state, functions and handlers are in the layer's lists; this says which ones they are.
#[derive(Clone, Debug)]
pub struct Part {
    /// The declared name.
    pub name: Name,
    /// The name in the layer and its other parts: the declared name in small letters.
    pub called: String,
    /// Its own state, by its names in the part.
    pub members: Vec<(String, ScopeKind, u32)>,
    /// Its own objects, by their names in the part.
    pub objects: Vec<(String, ObjectId)>,
    /// Its own functions, by their names in the part, as indices into the layer's.
    pub functions: Vec<(String, u32)>,
    /// Its handlers, as indices into the layer's.
    pub handlers: Vec<u32>,
    /// The state and objects of the layer that it may use.
    pub shared: Vec<Shared>,
}

/// `reads snd_una`, `writes snd_nxt`: state of the layer that a part may use.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The name in the layer.
    pub name: Name,
    /// Whether it may write it, too.
    pub writes: bool,
}

/// The owner of a piece of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A part of the layer, by index.
    Part(usize),
    /// The layer itself, under this name; for what a container holds, the container's name.
    Layer(String),
}

impl Part {
    /// A part without members.
    pub fn bare(name: Name, called: String) -> Part {
        let (members, objects, functions) = (Vec::new(), Vec::new(), Vec::new());
        Part { name, called, members, objects, functions, handlers: Vec::new(), shared: Vec::new() }
    }

    /// The layer's name for a name in the part.
    pub fn full(&self, own: &str) -> String {
        format!("{}.{own}", self.called)
    }

    /// The part's own state of this name.
    pub fn member(&self, name: &str) -> Option<(ScopeKind, u32)> {
        let found = self.members.iter().find(|(known, ..)| known == name);
        found.map(|(_, scope, member)| (*scope, *member))
    }

    /// Whether it declares that it uses this state of the layer.
    pub fn shares(&self, name: &str) -> bool {
        self.shared.iter().any(|shared| shared.name.text == name)
    }

    /// The part's own class of objects of this name.
    pub fn object(&self, name: &str) -> Option<ObjectId> {
        self.objects.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    /// The part's own function of this name.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }
}
