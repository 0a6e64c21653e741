//! The locals of a body: what it has bound so far, and which of it can be named.

use mokume_base::Span;

use crate::program::*;

/// The locals of one body, and the scopes of their names.
pub struct Locals {
    all: Vec<Local>,
    /// Those that no source text can name.
    hidden: Vec<LocalId>,
    /// Innermost last; names in the order in which they were bound.
    scopes: Vec<Vec<(String, LocalId)>>,
}

impl Default for Locals {
    /// No locals, in the scope of the whole body.
    fn default() -> Locals {
        Locals { all: Vec::new(), hidden: Vec::new(), scopes: vec![Vec::new()] }
    }
}

impl Locals {
    /// A new local, named in the innermost scope.
    pub fn bind(&mut self, name: &Name, ty: Type) -> LocalId {
        let local = self.add(name.clone(), ty);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.text.clone(), local));
        }
        local
    }

    /// Names that have no value to take, so that nobody misses them.
    pub fn bind_unknown(&mut self, names: &[Name]) {
        for name in names {
            self.bind(name, Type::Unknown);
        }
    }

    /// A local that no source text can name.
    pub fn hidden(&mut self, span: Span, ty: Type) -> LocalId {
        let local = self.add(Name { text: "it".into(), span }, ty);
        self.hidden.push(local);
        local
    }

    /// Whether no source text can name it.
    pub fn is_hidden(&self, local: LocalId) -> bool {
        self.hidden.contains(&local)
    }

    fn add(&mut self, name: Name, ty: Type) -> LocalId {
        self.all.push(Local { name, ty });
        LocalId(self.all.len() as u32 - 1)
    }

    /// Names bound from here on are gone with [`Locals::close`].
    pub fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Back to the scope around.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// The local that a name means: the one bound last.
    pub fn find(&self, name: &str) -> Option<LocalId> {
        let mut known = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        known.find(|(known, _)| known == name).map(|(_, local)| *local)
    }

    /// Where a local is named first; none of one that no source text can name.
    pub fn place(&self, local: LocalId) -> Option<Span> {
        self.all.get(local.index()).filter(|_| !self.is_hidden(local)).map(|local| local.name.span)
    }

    /// The type of a local.
    pub fn ty(&self, local: LocalId) -> Type {
        self.all.get(local.index()).map_or(Type::Unknown, |local| local.ty)
    }

    /// All names in sight.
    pub fn names(&self) -> Vec<String> {
        self.scopes.iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The names of messages that can be named.
    pub fn messages(&self) -> Vec<&Name> {
        let named = self.scopes.iter().flatten().map(|(_, local)| &self.all[local.index()]);
        named.filter(|local| local.ty == Type::Message).map(|local| &local.name).collect()
    }

    /// All locals by [`LocalId`], of scopes that were closed too.
    pub fn into_all(self) -> Vec<Local> {
        self.all
    }
}
