//! The locals of a body: those bound so far, and which of them are visible.

use mokume_base::{Notation, Span};

use crate::program::*;

/// The locals of one body, and the scopes of their names.
pub struct Locals {
    all: Vec<Local>,
    /// The open scopes, innermost last; names in the order of binding.
    scopes: Vec<Vec<(String, LocalId)>>,
    /// Whether a `let` has lost its name: an unknown name may be that one.
    pub lost_a_name: bool,
}

impl Default for Locals {
    /// No locals, in the scope of the whole body.
    fn default() -> Locals {
        Locals { all: Vec::new(), scopes: vec![Vec::new()], lost_a_name: false }
    }
}

impl Locals {
    /// Binds a new local in the innermost scope.
    pub fn bind(&mut self, name: &Name, ty: Type) -> LocalId {
        let local = self.add(name.clone(), ty);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.text.clone(), local));
        }
        local
    }

    /// Binds names whose values are missing after an error, so that their uses are not reported.
    pub fn bind_unknown(&mut self, names: &[Name]) {
        for name in names {
            self.bind(name, Type::Unknown);
        }
    }

    /// Adds a local without a name in the source.
    pub fn hidden(&mut self, span: Span, ty: Type) -> LocalId {
        let local = self.add(Name { text: "it".into(), span }, ty);
        self.all[local.index()].is_hidden = true;
        local
    }

    /// Whether it has no name in the source.
    pub fn is_hidden(&self, local: LocalId) -> bool {
        self.all.get(local.index()).is_some_and(|local| local.is_hidden)
    }

    fn add(&mut self, name: Name, ty: Type) -> LocalId {
        self.all.push(Local::new(name, ty));
        LocalId(self.all.len() as u32 - 1)
    }

    /// The notation of the type that the source declares for a local.
    pub fn is_written(&mut self, local: LocalId, written: Option<Notation>) {
        if let Some(local) = self.all.get_mut(local.index()) {
            local.written = written;
        }
    }

    /// Opens a scope: [`Locals::close`] removes the names bound in it.
    pub fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// The local with this name that was bound last.
    pub fn find(&self, name: &str) -> Option<LocalId> {
        let mut known = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        known.find(|(known, _)| known == name).map(|(_, local)| *local)
    }

    /// The place where a local is bound; `None` for one without a name in the source.
    pub fn place(&self, local: LocalId) -> Option<Span> {
        self.all.get(local.index()).filter(|_| !self.is_hidden(local)).map(|local| local.name.span)
    }

    /// The name of a local that has one in the source.
    pub fn name(&self, local: LocalId) -> Option<&str> {
        self.all.get(local.index()).filter(|_| !self.is_hidden(local)).map(|local| local.name.text.as_str())
    }

    /// The type of a local.
    pub fn ty(&self, local: LocalId) -> Type {
        self.all.get(local.index()).map_or(Type::Unknown, |local| local.ty)
    }

    /// All visible names.
    pub fn names(&self) -> Vec<String> {
        self.scopes.iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The names of visible messages.
    pub fn messages(&self) -> Vec<&Name> {
        let named = self.scopes.iter().flatten().map(|(_, local)| &self.all[local.index()]);
        named.filter(|local| local.ty == Type::Message).map(|local| &local.name).collect()
    }

    /// All locals by [`LocalId`], including those of closed scopes.
    pub fn into_all(self) -> Vec<Local> {
        self.all
    }
}
