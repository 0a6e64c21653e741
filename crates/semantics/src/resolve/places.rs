//! Maps, objects and places for messages: their types, and how they are named.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use super::body::Body;
use crate::program::*;
use crate::{codes, tree};

/// What an `if let` or a `let … or` looks up.
pub(super) enum Lookup {
    Map {
        map: StateRef,
        key: Vec<Expr>,
        values: Vec<Type>,
    },
    Object {
        class: ObjectId,
        key: Vec<Expr>,
    },
    Place {
        messages: StateRef,
        index: Expr,
        share: bool,
    },
    /// A call of a function that may refuse.
    Call(Expr),
    /// An element of a bounded vector: there if the condition holds; `after` takes it out.
    Vector {
        before: Vec<Stmt>,
        condition: Expr,
        value: Expr,
        after: Vec<Stmt>,
    },
    /// An element of an array, in a container that asks it as it would ask places for messages: always there.
    Element(Expr),
}

impl Body<'_> {
    pub(super) fn map_types(&self, map: &StateRef) -> (Vec<Type>, Vec<Type>) {
        match self.member(map.scope, map.member).map(|member| &member.kind) {
            Some(MemberKind::Map { key, value, .. }) => (key.clone(), value.clone()),
            _ => (Vec::new(), Vec::new()),
        }
    }

    pub(super) fn object_keys(&self, class: ObjectId) -> Vec<Type> {
        let class = self.this_layer().and_then(|layer| layer.objects.get(class.index()));
        class.map_or(Vec::new(), |class| class.keys.iter().map(|key| key.ty).collect())
    }

    /// The key in `m[a, b]` or `m[(a, b)]`.
    pub(super) fn key_trees(index: &ast::IndexExpr) -> Vec<Tree> {
        match index.indices().as_slice() {
            [only] => tree::untuple(only),
            several => several.to_vec(),
        }
    }

    /// `m[k]`, `Entry[k]`, `waiting.take(i)`; none, without a report, if the expression is nothing of the kind.
    pub(super) fn lookup(&mut self, expr: &Tree) -> Option<Result<Lookup, ()>> {
        let expr = tree::unparen(expr);
        let span = self.span(&expr);
        match &expr {
            Tree::Index(index) => {
                let base = index.base()?;
                let trees = Self::key_trees(index);
                if let Some(class) = tree::name_expr(self.file, &base).and_then(|name| self.object_class(&name.text)) {
                    let keys = self.object_keys(class);
                    let key = self.key_values(&trees, &keys, span);
                    return Some(Ok(Lookup::Object { class, key }));
                }
                if self.is_member(&base, |kind| matches!(kind, MemberKind::Array { .. })) || self.is_vector(&base) {
                    return None;
                }
                let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
                let Some(map) = self.state_of(&base, "a map or the name of objects", is_map) else {
                    return Some(Err(()));
                };
                let (keys, values) = self.map_types(&map);
                let key = self.key_values(&trees, &keys, span);
                Some(Ok(Lookup::Map { map, key, values }))
            }
            Tree::Call(call) => match self.vector_lookup(call, span).or_else(|| self.place_lookup(call, span)) {
                None => self.refusing(call, span).map(|call| Ok(Lookup::Call(call))),
                found => found,
            },
            _ => None,
        }
    }

    fn place_lookup(&mut self, call: &ast::CallExpr, span: Span) -> Option<Result<Lookup, ()>> {
        let Some(Tree::Field(field)) = call.callee() else { return None };
        let (base, name) = (field.base()?, tree::some_name(self.file, field.name())?);
        let share = match name.text.as_str() {
            "take" => false,
            "share" => true,
            _ => return None,
        };
        if let Some(element) = self.element_for_place(&base, &call.args()) {
            return Some(Ok(Lookup::Element(element)));
        }
        if !self.is_member(&base, |kind| matches!(kind, MemberKind::Messages { .. })) {
            return None;
        }
        let messages = self.places(&base)?;
        let args = call.args();
        let Some(index) = args.first().and_then(|arg| arg.value()).filter(|_| args.len() == 1) else {
            let text = format!("`{}` takes one argument: the place", name.text);
            self.error(codes::WRONG_COUNT, text, span, "which place?", "write `take(i)`");
            return Some(Err(()));
        };
        let index = self.array_index(&index);
        Some(Ok(Lookup::Place { messages, index, share }))
    }

    /// Whether an expression names state of that kind; no report.
    pub(super) fn is_member(&self, expr: &Tree, wanted: fn(&MemberKind) -> bool) -> bool {
        let found = match expr {
            Tree::Name(_) => {
                let Some(name) = tree::name_expr(self.file, expr) else { return false };
                if self.local(&name.text).is_some() {
                    return false;
                }
                self.find_state(&name.text)
            }
            Tree::Field(_) => {
                let Some((owner, name)) = tree::name_field(self.file, expr) else { return false };
                let Some(Type::Object(id)) = self.local(&owner.text).map(|local| self.local_type(local)) else {
                    return false;
                };
                let class = self.this_layer().and_then(|layer| layer.objects.get(id.index()));
                class
                    .and_then(|class| position(&class.members, &name.text))
                    .map(|member| (ScopeKind::Object(id), member))
            }
            _ => None,
        };
        found.and_then(|(scope, member)| self.member(scope, member)).is_some_and(|member| wanted(&member.kind))
    }
}
