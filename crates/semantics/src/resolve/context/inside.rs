//! The inside of a declared container: what its code sees there.

use std::rc::Rc;

use mokume_base::{FileId, Notation, Span};
use mokume_syntax::ast;

use crate::program::*;

/// The type that a container's type parameter stands for.
#[derive(Clone, Debug)]
pub struct GivenType {
    /// The parameter's name.
    pub name: String,
    pub ty: Type,
    /// The notation of the type that was given.
    pub written: Option<Notation>,
}

/// What the code of a container sees, and what its names stand for.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Index into the layer's containers.
    pub instance: u32,
    pub scope: ScopeKind,
    pub members: Vec<(String, u32)>,
    pub values: Vec<(String, Expr)>,
    /// The names of these values in the container.
    pub params: Vec<Name>,
    pub types: Vec<GivenType>,
    /// The quota behind `from`, which is `quota` in the container's code.
    pub quota: Option<(ScopeKind, u32)>,
    /// The place where the state is declared.
    pub place: Span,
    /// The nesting depth of this container, itself included.
    pub depth: usize,
}

impl Inside {
    /// The declared name of a value that the declaration of the state passes.
    pub fn named(&self, name: &str) -> Option<&Name> {
        self.params.iter().find(|param| param.text == name)
    }

    /// The state with this name in the container.
    pub fn member(&self, name: &str) -> Option<(ScopeKind, u32)> {
        match self.members.iter().find(|(known, _)| known == name) {
            Some((_, member)) => Some((self.scope, *member)),
            None if name == "quota" => self.quota,
            None => None,
        }
    }

    /// The value of a parameter.
    pub fn value(&self, name: &str) -> Option<Expr> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// A container whose functions are resolved once all state is known.
#[derive(Clone)]
pub struct Pending {
    pub layer: LayerId,
    /// The prefix of its names: the state's name and a dot.
    pub within: String,
    pub file: FileId,
    pub tree: ast::Container,
    pub inside: Rc<Inside>,
}

/// The size of a container with those that it contains.
#[derive(Clone, Copy)]
pub struct Weight {
    pub containers: u64,
    /// Octets of their texts.
    pub octets: u64,
}
