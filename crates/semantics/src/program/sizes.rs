//! Sizes: which expressions of a layer determine how much of something there may be.
//!
//! Keeps: every size that a layer declares is in [`Layer::sizes`], so code that checks sizes checks all kinds.

use super::{Expr, Layer, Member, MemberKind, ScopeKind};

/// What a size counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Sessions of the upper or the lower side.
    Sessions,
    /// Listeners.
    Listeners,
    /// Objects with a key.
    Objects,
    /// Elements of an array.
    Elements,
    /// Entries of a map.
    Entries,
    /// Places for messages.
    Messages,
    /// Units of a quota.
    Units,
}

impl Counted {
    /// The words for it in a report.
    pub fn words(self) -> &'static str {
        match self {
            Counted::Sessions => "sessions",
            Counted::Listeners => "listeners",
            Counted::Objects => "objects",
            Counted::Elements => "elements",
            Counted::Entries => "entries",
            Counted::Messages => "messages",
            Counted::Units => "units",
        }
    }

    /// The most of it; a larger number is a typing mistake: a million buffers are two gigabytes (`docs/limits.md`).
    pub fn most(self) -> u64 {
        match self {
            Counted::Messages => 1 << 20,
            _ => 1 << 24,
        }
    }

    /// What the capacity of a scope counts.
    pub fn of_scope(scope: ScopeKind) -> Counted {
        match scope {
            ScopeKind::Point => Counted::Listeners,
            ScopeKind::Object(_) => Counted::Objects,
            ScopeKind::Entity | ScopeKind::View | ScopeKind::Session | ScopeKind::SessionBelow => Counted::Sessions,
        }
    }
}

impl Layer {
    /// All declared sizes, each with what it counts.
    pub fn sizes(&self) -> Vec<(&Expr, Counted)> {
        let scopes =
            self.scopes.iter().filter_map(|scope| Some((scope.capacity.as_ref()?, Counted::of_scope(scope.kind))));
        let classes = self.objects.iter().map(|class| (&class.capacity, Counted::Objects));
        let held = self.scopes.iter().flat_map(|scope| &scope.members);
        let held = held.chain(self.objects.iter().flat_map(|class| &class.members)).filter_map(Member::size);
        scopes.chain(classes).chain(held).collect()
    }
}

impl Member {
    /// Its size, if it has one.
    pub fn size(&self) -> Option<(&Expr, Counted)> {
        match &self.kind {
            MemberKind::Array { size, .. } => Some((size, Counted::Elements)),
            MemberKind::Map { capacity, .. } => Some((capacity, Counted::Entries)),
            MemberKind::Messages { size, .. } => Some((size, Counted::Messages)),
            MemberKind::Quota { amount } => Some((amount, Counted::Units)),
            // The contents of a container are separate members.
            MemberKind::Var { .. } | MemberKind::Timer | MemberKind::Counter | MemberKind::Container(_) => None,
        }
    }
}
