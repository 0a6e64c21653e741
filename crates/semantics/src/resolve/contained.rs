//! Containers in use: calls of their functions, what of their state can be read, loops over them; and calls of functions
//! that may refuse.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use super::body::{make, unknown, Body, Place};
use super::containers::names_of;
use crate::program::*;
use crate::{codes, suggest, tree};

/// A container that an expression names, and the object that it is in.
pub(super) struct Found {
    instance: u32,
    object: Option<Expr>,
}

fn is_container(kind: &MemberKind) -> bool {
    matches!(kind, MemberKind::Container(_))
}

impl Body<'_> {
    /// The container that an expression names; none, without a report, if it names none.
    fn container(&mut self, base: &Tree) -> Option<Found> {
        if matches!(self.place, Place::Constant | Place::Argument) || !self.is_member(base, is_container) {
            return None;
        }
        let (state, _) = self.state_ref(base)?;
        let MemberKind::Container(instance) = self.member(state.scope, state.member)?.kind else { return None };
        Some(Found { instance, object: state.object.map(|object| *object) })
    }

    fn container_head(&self, found: &Found) -> Option<&Container> {
        self.this_layer()?.containers.get(found.instance as usize)
    }

    /// `waiting.push(msg)`; none if `waiting` is no container.
    pub(super) fn contained_call(&mut self, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let call = self.contained_call_unmet(field, args, span)?;
        if let Some(head) = self.called(&call).cloned() {
            self.refusal_is_met(&head, span);
        }
        Some(call)
    }

    fn contained_call_unmet(&mut self, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let (base, name) = (field.base()?, tree::some_name(self.file, field.name())?);
        let found = self.container(&base)?;
        let container = self.container_head(&found)?.clone();
        let Some(function) = container.function(&name.text) else {
            let text = format!("a `{}` has no function `{}`", container.of, name.text);
            let mut diagnostic = Diagnostic::error(codes::CONTAINER_UNKNOWN, text).at(name.span, "unknown");
            diagnostic.helps.extend(suggest::help(&name.text, names_of(&container)));
            self.report(diagnostic);
            args.iter().filter_map(|arg| arg.value()).for_each(|value| drop(self.expr(&value, None)));
            return Some(unknown(span));
        };
        let head = self.this_layer()?.functions.get(function as usize)?.clone();
        let args = self.arguments(&name.text, &head.params, args, span);
        let kind = match found.object {
            Some(object) => ExprKind::CallOn { object: Box::new(object), function, args },
            None => ExprKind::CallOwn { function, args },
        };
        Some(make(kind, head.result, span))
    }

    /// The function that a call names.
    fn called(&self, call: &Expr) -> Option<&Function> {
        let (ExprKind::CallOwn { function, .. } | ExprKind::CallOn { function, .. }) = call.kind else { return None };
        self.this_layer()?.functions.get(function as usize)
    }

    /// `waiting.count`: variables of a container can be read.
    pub(super) fn contained_part(&mut self, base: &Tree, name: &Name) -> Option<Expr> {
        let found = self.container(base)?;
        let container = self.container_head(&found)?.clone();
        let Some((_, member)) = container.members.iter().find(|(known, _)| *known == name.text) else {
            let text = format!("a `{}` has no `{}`", container.of, name.text);
            let mut diagnostic = Diagnostic::error(codes::CONTAINER_UNKNOWN, text).at(name.span, "unknown");
            let names = container.members.iter().map(|(name, _)| name.as_str()).chain(names_of(&container));
            diagnostic.helps.extend(suggest::help(&name.text, names));
            self.report(diagnostic);
            return Some(unknown(name.span));
        };
        let object = found.object.map(Box::new);
        let state = StateRef { scope: container.scope, member: *member, object, span: name.span };
        Some(self.state_value(state, name))
    }

    // ---- functions that may refuse ----

    /// A report: nothing here meets that this may refuse.
    pub(super) fn refusal_is_met(&mut self, head: &Function, span: Span) {
        if !head.refuses {
            return;
        }
        let name = &head.name.text;
        let text = format!("what happens when `{name}` refuses?");
        let help = match head.result {
            Type::Unit => format!("say it: `{name}(…) or {{ drop msg: full  return }}`"),
            _ => format!("write `if let x = {name}(…) {{ … }}`, or `let x = {name}(…) or {{ return }}`"),
        };
        self.error(codes::REFUSAL_UNMET, text, span, "may refuse", &help);
    }

    /// A call of a function that may refuse; none if it is something else.
    pub(super) fn refusing(&mut self, call: &ast::CallExpr, span: Span) -> Option<Expr> {
        let callee = call.callee()?;
        let found = match &callee {
            Tree::Field(field) => {
                let base = field.base()?;
                let name = tree::some_name(self.file, field.name())?;
                let found = self.container(&base)?;
                let index = self.container_head(&found)?.function(&name.text)?;
                if !self.this_layer()?.functions.get(index as usize)?.refuses {
                    return None;
                }
                self.contained_call_unmet(field, &call.args(), span)?
            }
            _ => {
                let name = tree::name_expr(self.file, &callee)?;
                let layer = self.this_layer()?;
                let index = match &self.view {
                    Some(view) => layer.containers.get(view.instance as usize)?.function(&name.text)?,
                    None => layer.functions.iter().position(|known| known.name.text == name.text)? as u32,
                };
                let head = layer.functions.get(index as usize).filter(|head| head.refuses)?.clone();
                let args = self.arguments(&name.text, &head.params, &call.args(), span);
                make(ExprKind::CallOwn { function: index, args }, head.result, span)
            }
        };
        if let ExprKind::CallOwn { args, .. } | ExprKind::CallOn { args, .. } = &found.kind {
            let nameless = args.iter().find(|arg| arg.ty == Type::Message && !matches!(arg.kind, ExprKind::Give(_)));
            if let Some(place) = nameless.map(|arg| arg.span) {
                let text = "this message has no name to come back to when it is refused";
                let help = "bind it first: `let copy = msg.share()`";
                self.error(codes::REFUSED_NAMELESS, text, place, "nameless", help);
            }
        }
        Some(found)
    }

    /// `waiting.push(msg) or { … }` as a statement; none if the statement is no call that may refuse.
    pub(super) fn call_or(&mut self, stmt: &ast::ExprStmt, span: Span) -> Option<Option<StmtKind>> {
        let Some(Tree::Call(call)) = stmt.expr() else { return None };
        let or = stmt.or()?;
        let Some(found) = self.refusing(&call, span) else {
            // A misspelt one is told once.
            let Some(Tree::Field(field)) = call.callee() else { return None };
            let found = self.contained_call_unmet(&field, &call.args(), span).filter(|found| found.ty == Type::Unknown);
            return found.map(|_| {
                self.block(or.block());
                None
            });
        };
        self.has_effects(span);
        if !matches!(found.ty, Type::Unit | Type::Unknown) {
            let help = "take it: `let x = waiting.pop() or { return }`, or `if let x = waiting.pop() { … }`";
            self.error(codes::UNUSED_VALUE, "this gives a value that nobody uses", span, "not used", help);
        }
        let otherwise = self.block(or.block());
        Some(Some(StmtKind::IfDone { call: found, local: None, then: Vec::new(), otherwise }))
    }

    /// Whether `refuse` may stand here.
    pub(super) fn may_refuse(&mut self, name: &Name) -> bool {
        let other = self.local(&name.text).is_some() || self.find_state(&name.text).is_some();
        if other {
            return false;
        }
        if !self.refuses {
            let help = match self.place {
                Place::Function => "write `or refuse` behind the function's parameters or its result",
                _ => "a handler gives its message away: `drop msg: reason`",
            };
            self.error(codes::REFUSES_NOT, "nothing here may refuse", name.span, "not said in the head", help);
        }
        true
    }

    // ---- elements that may be messages ----

    /// `items.take(i)` of an array in a container, whose elements may be messages or not.
    pub(super) fn element_for_place(&mut self, base: &Tree, args: &[ast::Arg]) -> Option<Expr> {
        self.view.as_ref()?;
        if !self.is_member(base, |kind| matches!(kind, MemberKind::Array { .. })) {
            return None;
        }
        let index = args.first()?.value()?;
        self.element(base, &index)
    }

    fn element(&mut self, base: &Tree, index: &Tree) -> Option<Expr> {
        let (array, _) = self.state_ref(base)?;
        let MemberKind::Array { ty, .. } = self.member(array.scope, array.member)?.kind else { return None };
        let span = self.span(base);
        let index = Box::new(self.array_index(index));
        Some(make(ExprKind::Element { array, index }, ty, span))
    }

    /// `items.put(i, x)` of an array in a container.
    pub(super) fn put_element(&mut self, base: &Tree, args: &[Tree]) -> Option<Option<StmtKind>> {
        self.view.as_ref()?;
        if !self.is_member(base, |kind| matches!(kind, MemberKind::Array { .. })) {
            return None;
        }
        let element = self.element(base, args.first()?)?;
        let value = self.value(args.get(1)?, element.ty);
        let ExprKind::Element { array, index } = element.kind else { return None };
        Some(Some(StmtKind::AssignElement { array, index: *index, value }))
    }

    // ---- loops ----

    /// `for x in waiting limit 8 { … }`: from 0 up to `size()`, those that `at` gives.
    pub(super) fn for_contained(
        &mut self,
        names: &[Name],
        iterable: &Tree,
        limit: &Expr,
        block: Option<ast::Block>,
        span: Span,
    ) -> Option<StmtKind> {
        let found = self.container(iterable)?;
        let container = self.container_head(&found)?.clone();
        let heads = (self.walks(&container, "size"), self.walks(&container, "at"));
        let (Some((size, of_size)), Some((at, of_at))) = heads else {
            return self.no_walk(&container, names, block, span);
        };
        let number = Type::UInt(32);
        let fits = of_size.params.is_empty() && of_size.result == number && !of_size.refuses;
        let takes: Vec<Type> = of_at.params.iter().map(|param| param.ty).collect();
        if !fits || takes != [number] || !of_at.refuses || of_at.result == Type::Unit {
            return self.no_walk(&container, names, block, span);
        }
        let object = found.object;
        let call = |function: u32, args: Vec<Expr>, ty: Type| {
            let kind = match object.clone() {
                Some(object) => ExprKind::CallOn { object: Box::new(object), function, args },
                None => ExprKind::CallOwn { function, args },
            };
            make(kind, ty, span)
        };
        let to = call(size, Vec::new(), number);
        Some(self.scoped(|body| {
            let counter = body.hidden(span, number);
            let local = body.only_name(names, span, of_at.result);
            let element = call(at, vec![make(ExprKind::Local(counter), number, span)], of_at.result);
            let then = body.block(block);
            let kind = StmtKind::IfDone { call: element, local: Some(local), then, otherwise: Vec::new() };
            let from = make(ExprKind::Number(0), number, span);
            StmtKind::For { local: counter, from, to, limit: limit.clone(), body: vec![Stmt { kind, span }] }
        }))
    }

    fn walks(&self, container: &Container, name: &str) -> Option<(u32, Function)> {
        let index = container.function(name)?;
        Some((index, self.this_layer()?.functions.get(index as usize)?.clone()))
    }

    fn no_walk(
        &mut self,
        container: &Container,
        names: &[Name],
        block: Option<ast::Block>,
        span: Span,
    ) -> Option<StmtKind> {
        let text = format!("a `{}` cannot be walked over", container.of);
        let help = "give it `fn size() -> u32` and `fn at(i: u32) -> T or refuse`";
        self.error(codes::CONTAINER_WALK, text, span, "no `size` and `at`", help);
        self.scoped(|body| {
            body.bind_unknown(names);
            body.block(block)
        });
        Some(StmtKind::If {
            condition: make(ExprKind::Number(0), Type::Bool, span),
            likely: None,
            then: Vec::new(),
            otherwise: Vec::new(),
        })
    }
}
