//! The inside of a container where it is declared: what its code sees there.

use std::rc::Rc;

use mokume_base::{FileId, Span};
use mokume_syntax::ast;

use crate::program::*;

/// What code of a container sees, and what its names stand for here.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Among the layer's containers.
    pub instance: u32,
    pub scope: ScopeKind,
    pub members: Vec<(String, u32)>,
    pub values: Vec<(String, Expr)>,
    /// The names of these values, where the container declares them.
    pub params: Vec<Name>,
    pub types: Vec<(String, Type)>,
    /// The quota behind `from`: `quota` in the container's code.
    pub quota: Option<(ScopeKind, u32)>,
    /// Where the state is declared.
    pub place: Span,
    /// Of how many containers this is within, itself counted.
    pub depth: usize,
}

impl Inside {
    /// A value that the declaration gives, as the container names it.
    pub fn named(&self, name: &str) -> Option<&Name> {
        self.params.iter().find(|param| param.text == name)
    }

    /// State by its name in the container.
    pub fn member(&self, name: &str) -> Option<(ScopeKind, u32)> {
        match self.members.iter().find(|(known, _)| known == name) {
            Some((_, member)) => Some((self.scope, *member)),
            None if name == "quota" => self.quota,
            None => None,
        }
    }

    /// A parameter's value.
    pub fn value(&self, name: &str) -> Option<Expr> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// A container whose functions wait to be read until all state is known.
#[derive(Clone)]
pub struct Pending {
    pub layer: LayerId,
    /// What the state is called, with its point.
    pub within: String,
    pub file: FileId,
    pub tree: ast::Container,
    pub inside: Rc<Inside>,
}

/// What a container comes to, with those that it holds.
#[derive(Clone, Copy)]
pub struct Weight {
    pub containers: u64,
    /// Of their texts.
    pub octets: u64,
}
