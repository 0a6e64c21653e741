//! Containers are expanded where they are declared: what a container holds becomes members of the scope, what it does
//! becomes functions of the layer, with the types and sizes of the declaration in their places.
//!
//! Keeps: behind this file nothing knows of containers but by name; a container's text is read anew for each
//! declaration, in its own file, and sees nothing but itself.

use std::rc::Rc;

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::bodies::{end_of, function_body, Bodies};
use super::body::{Body, Place};
use super::layers::Declare;
use super::{items, Context, Item};
use crate::check::linear;
use crate::program::*;
use crate::{codes, tree};

/// Containers in containers, at most so deep.
const DEEPEST: usize = 8;

/// What code of a container sees, and what its names stand for here.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub instance: u32,
    scope: ScopeKind,
    members: Vec<(String, u32)>,
    values: Vec<(String, Expr)>,
    types: Vec<(String, Type)>,
    /// The quota behind `from`: `quota` in the container's code.
    quota: Option<(ScopeKind, u32)>,
    /// Where the state is declared.
    pub place: Span,
    depth: usize,
}

impl View {
    pub fn member(&self, name: &str) -> Option<(ScopeKind, u32)> {
        match self.members.iter().find(|(known, _)| known == name) {
            Some((_, member)) => Some((self.scope, *member)),
            None if name == "quota" => self.quota,
            None => None,
        }
    }

    pub fn value(&self, name: &str) -> Option<Expr> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// Functions that wait to be read until all state is known.
#[derive(Clone)]
pub(crate) struct Pending {
    layer: LayerId,
    /// What the state is called, with its point.
    within: String,
    file: FileId,
    tree: ast::Container,
    view: Rc<View>,
}

impl Context {
    /// Reads something of a container's, whose types are those of a declaration.
    fn with_types<T>(&mut self, types: &[(String, Type)], rule: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.types, types.to_vec());
        let result = rule(self);
        self.types = outer;
        result
    }
}

impl Declare<'_> {
    /// `queue<Message> waiting(8) from kept`: the members that it stands for, behind one that has its name.
    pub(super) fn contained(
        &mut self,
        scope: ScopeKind,
        tree: &ast::Contained,
        name: &Name,
        members: &mut Vec<Member>,
    ) {
        let Some((file, container, of)) = self.container_of(tree) else { return };
        let depth = self.view.as_ref().map_or(0, |view| view.depth) + 1;
        if depth > DEEPEST {
            let text = format!("`{}` holds itself, or too many others within each other", of.text);
            self.cx.error(codes::CIRCLE, text, of.span, "within itself", "leave it out");
            return;
        }
        let Some(types) = self.types_of(tree, &container, &of) else { return };
        let params = self.cx.with_types(&types, |cx| items::params(cx, file, &container.params()));
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Argument);
        body.view = self.view.clone();
        let args = body.arguments(&of.text, &params, &tree.args(), tree.span(self.file));
        let values = params.iter().zip(args).map(|(param, arg)| (param.name.text.clone(), body.folded(arg))).collect();
        let instance = self.this().containers.len() as u32;
        let empty = Container { of: of.text.clone(), scope, members: Vec::new(), functions: Vec::new() };
        self.this().containers.push(empty);
        members.push(Member { name: name.clone(), kind: MemberKind::Container(instance) });
        let quota = self.quota_of(scope, tree, members);
        let place = of.span;
        let mut view = View { instance, scope, members: Vec::new(), values, types, quota, place, depth };
        self.parts(scope, (file, &container), (name, &mut view), members);
        self.this().containers[instance as usize].members = view.members.clone();
        let (layer, within) = (self.id, format!("{}.", name.text));
        self.cx.contained.push(Pending { layer, within, file, tree: container, view: Rc::new(view) });
    }

    /// The quota that `from` names: of the same scope, in front of this, or of the entity. [`Declare::quotas`] says what is
    /// wrong with it.
    fn quota_of(&mut self, scope: ScopeKind, tree: &ast::Contained, members: &[Member]) -> Option<(ScopeKind, u32)> {
        let name = tree::some_name(self.file, tree.quota())?;
        if let Some(view) = &self.view {
            return view.member(&name.text);
        }
        let is_it = |member: &Member| member.name.text == name.text && matches!(member.kind, MemberKind::Quota { .. });
        if let Some(place) = members.iter().position(is_it) {
            return Some((scope, place as u32));
        }
        let outer = self.this().scopes.iter().find(|known| known.kind == ScopeKind::Entity)?;
        let place = outer.members.iter().position(is_it)?;
        Some((ScopeKind::Entity, place as u32))
    }

    fn container_of(&mut self, tree: &ast::Contained) -> Option<(FileId, ast::Container, Name)> {
        let of = tree::some_name(self.file, tree.container())?;
        let Some(Item::Container(index)) = self.cx.item(self.file, &of.text) else {
            let is_one = |item| matches!(item, Item::Container(_));
            self.cx.unknown(codes::UNKNOWN_ITEM, "a container", &of, self.file, is_one);
            return None;
        };
        let (file, container) = self.cx.trees.containers.get(index)?.clone();
        Some((file, container, of))
    }

    /// What the names of the container's types stand for.
    fn types_of(
        &mut self,
        tree: &ast::Contained,
        container: &ast::Container,
        of: &Name,
    ) -> Option<Vec<(String, Type)>> {
        let (wanted, given) = (container.types(), tree.types());
        if wanted.len() != given.len() {
            let text = format!("`{}` asks for {} types, not {}", of.text, wanted.len(), given.len());
            let help = format!("write `{}<{}>`", of.text, vec!["u32"; wanted.len()].join(", "));
            self.cx.error(codes::CONTAINER_TYPES, text, of.span, "here", &help);
            return None;
        }
        let mut types = Vec::new();
        for (name, ty) in wanted.iter().zip(given) {
            let span = ty.span(self.file);
            let found = self.cx.ty(self.file, Some(ty));
            if matches!(found, Type::Flow(_) | Type::Reason | Type::Object(_)) {
                let text = format!("{} cannot be kept", self.cx.show(found));
                self.cx.error(codes::CONTAINER_TYPES, text, span, "no element", "keep its parts, in a record");
                return None;
            }
            types.push((name.text(), found));
        }
        Some(types)
    }

    /// The container's state, as members of the scope.
    fn parts(
        &mut self,
        scope: ScopeKind,
        (file, container): (FileId, &ast::Container),
        (name, view): (&Name, &mut View),
        members: &mut Vec<Member>,
    ) {
        for handler in container.handlers() {
            let span = handler.event().map_or(name.span, |event| event.span(file));
            let help = "write it in the layer, which calls a function of the container";
            self.cx.error(codes::CONTAINER_MEMBER, "a container handles no events", span, "not in a container", help);
        }
        for state in container.states() {
            let Some(own) = tree::some_name(file, state.name()) else { continue };
            let place = members.len() as u32;
            let full = Name { text: format!("{}.{}", name.text, own.text), span: own.span };
            let (layer, shared) = (self.id, Rc::new(view.clone()));
            let types = view.types.clone();
            self.cx.with_types(&types, |cx| {
                let mut inner = Declare { cx, file, id: layer, view: Some(shared) };
                match &state {
                    ast::State::Contained(tree) => inner.contained(scope, tree, &full, members),
                    state => {
                        let kind = inner.part(state, &own);
                        members.push(Member { name: full, kind });
                    }
                }
            });
            if members.len() as u32 > place {
                view.members.push((own.text, place));
            }
        }
    }

    fn part(&mut self, state: &ast::State, own: &Name) -> MemberKind {
        if let ast::State::Array(array) = state {
            if let Some(ast::Type::Array(array)) = array.ty() {
                let outer = array.element();
                if self.cx.ty(self.file, outer) == Type::Message {
                    return MemberKind::Messages { size: self.size(array.length(), own.span), quota: None };
                }
            }
        }
        let mut kind = self.kind(state, own);
        let value = match state {
            ast::State::Var(var) => var.value(),
            ast::State::Const(var) => var.value(),
            _ => None,
        };
        if let (MemberKind::Var { ty, init, .. }, Some(value)) = (&mut kind, value) {
            let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Argument);
            body.view = self.view.clone();
            let value = body.value(&value, *ty);
            *init = Some(body.folded(value));
        }
        kind
    }

    /// The heads of the functions of this layer's containers, behind its own.
    pub(super) fn container_heads(&mut self) {
        let id = self.id;
        for pending in self.cx.contained.clone().into_iter().filter(|pending| pending.layer == id) {
            for tree in pending.tree.functions() {
                let types = &pending.view.types;
                let mut head = self.cx.with_types(types, |cx| items::function_head(cx, pending.file, &tree));
                let own = std::mem::take(&mut head.name.text);
                head.name.text = format!("{}{own}", pending.within);
                let index = self.this().functions.len() as u32;
                self.this().functions.push(head);
                let container = &mut self.this().containers[pending.view.instance as usize];
                container.functions.push((own, index));
            }
        }
    }
}

impl Bodies<'_> {
    /// The functions of this layer's containers.
    pub(super) fn containers(&mut self) {
        let id = self.id;
        for pending in self.cx.contained.clone().into_iter().filter(|pending| pending.layer == id) {
            let container = self.this().containers[pending.view.instance as usize].clone();
            for (tree, (_, index)) in pending.tree.functions().into_iter().zip(container.functions) {
                self.container_function(&pending, &tree, index as usize);
            }
        }
    }

    fn container_function(&mut self, pending: &Pending, tree: &ast::Function, index: usize) {
        let head = self.this().functions[index].clone();
        let (id, file) = (self.id, pending.file);
        let (locals, excused, statements) = self.cx.with_types(&pending.view.types, |cx| {
            let mut body = Body::of_function(cx, file, Some(id), &head);
            body.view = Some(pending.view.clone());
            body.params = Vec::new();
            if let ScopeKind::Object(object) = pending.view.scope {
                body.object = Some(object);
            }
            function_body(body, tree, &head)
        });
        let held: Vec<LocalId> =
            head.params.iter().filter(|param| param.ty == Type::Message).map(|param| param.local).collect();
        let end = end_of(file, tree.body(), head.name.span);
        linear::check(&locals, &held, &excused, &statements, end, &mut self.cx.out);
        let function = &mut self.this().functions[index];
        function.locals = locals;
        function.body = statements;
    }
}

/// Where to say that a function of a container is missing.
pub(super) fn names_of(container: &Container) -> Vec<&str> {
    container.functions.iter().map(|(name, _)| name.as_str()).collect()
}
