//! Containers in values: calls of their functions, reads of their state; and calls of functions that may refuse.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::refusals::refusal_is_met;
use crate::resolve::expr::{arguments, parts, state};
use crate::{codes, suggest, tree};

/// A container that an expression names, and the object that contains it.
pub struct ContainerRef {
    pub instance: u32,
    pub object: Option<Expr>,
}

fn is_container(kind: &MemberKind) -> bool {
    matches!(kind, MemberKind::Container(_))
}

/// The container that an expression names; `None`, without a report, if it names none.
pub fn named(body: &mut Body, base: &Tree) -> Option<ContainerRef> {
    if body.is_fixed() || !state::is_member(body, base, is_container) {
        return None;
    }
    let (state, _) = state::named(body, base)?;
    let MemberKind::Container(instance) = body.member(state.scope, state.member)?.kind else { return None };
    Some(ContainerRef { instance, object: state.object.map(|object| *object) })
}

/// The container itself.
pub fn head<'b>(body: &'b Body, found: &ContainerRef) -> Option<&'b Container> {
    body.this_layer()?.containers.get(found.instance as usize)
}

/// `waiting.push(msg)`; `None` if `waiting` is not a container.
pub(super) fn call(body: &mut Body, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Option<Expr> {
    let call = call_unmet(body, field, args, span)?;
    if let Some(head) = callee(body, &call).cloned() {
        refusal_is_met(body, &head, span);
    }
    Some(call)
}

/// As [`call`], but the caller handles a refusal.
pub fn call_unmet(body: &mut Body, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Option<Expr> {
    let (base, name) = (field.base()?, tree::some_name(body.file, field.name())?);
    let found = named(body, &base)?;
    let container = head(body, &found)?.clone();
    let Some(function) = container.function(&name.text) else {
        let text = format!("a `{}` has no function `{}`", container.of, name.text);
        let mut diagnostic = Diagnostic::error(codes::CONTAINER_UNKNOWN, text).at(name.span, "unknown");
        if container.members.iter().any(|(known, _)| *known == name.text) {
            diagnostic =
                diagnostic.help(format!("it has a variable of this name, without parentheses: `{}`", name.text));
        } else {
            diagnostic.helps.extend(suggest::help(&name.text, names_of(&container)));
        }
        body.report(diagnostic);
        args.iter().filter_map(|arg| arg.value()).for_each(|value| drop(expr::infer(body, &value, None)));
        return Some(unknown(span));
    };
    let head = body.this_layer()?.functions.get(function as usize)?.clone();
    body.cx.mention(&name, head.name.span);
    let args = arguments::for_params(body, &name.text, &head.params, args, span);
    let kind = match found.object {
        Some(object) => ExprKind::CallOn { object: Box::new(object), function, args },
        None => ExprKind::CallOwn { function, args },
    };
    Some(make(kind, head.result, span))
}

/// The function of a call.
fn callee<'b>(body: &'b Body, call: &Expr) -> Option<&'b Function> {
    let (ExprKind::CallOwn { function, .. } | ExprKind::CallOn { function, .. }) = call.kind else { return None };
    body.this_layer()?.functions.get(function as usize)
}

/// `waiting.count`: a variable of a container.
pub(super) fn part(body: &mut Body, base: &Tree, name: &Name) -> Option<Expr> {
    let found = named(body, base)?;
    let container = head(body, &found)?.clone();
    let Some((_, member)) = container.members.iter().find(|(known, _)| *known == name.text) else {
        let text = format!("a `{}` has no `{}`", container.of, name.text);
        let mut diagnostic = Diagnostic::error(codes::CONTAINER_UNKNOWN, text).at(name.span, "unknown");
        if container.function(&name.text).is_some() {
            diagnostic = diagnostic.help(format!("it has a function of this name: `{}()`", name.text));
        } else {
            let names = container.members.iter().map(|(name, _)| name.as_str()).chain(names_of(&container));
            diagnostic.helps.extend(suggest::help(&name.text, names));
        }
        body.report(diagnostic);
        return Some(unknown(name.span));
    };
    if let Some(known) = body.member(container.scope, *member) {
        body.cx.mention(name, known.name.span);
    }
    let object = found.object.map(Box::new);
    let state = StateRef { scope: container.scope, member: *member, object, span: name.span };
    Some(state::value(body, state, name))
}

/// A call of a function that may refuse; `None` if it is something else.
pub fn refusing(body: &mut Body, call: &ast::CallExpr, span: Span) -> Option<Expr> {
    let callee = call.callee()?;
    let found = match &callee {
        Tree::Field(_) if parts::is_call(body, &callee) => parts::refusing(body, &callee, &call.args(), span)?,
        Tree::Field(field) => {
            let base = field.base()?;
            let name = tree::some_name(body.file, field.name())?;
            let found = named(body, &base)?;
            let index = head(body, &found)?.function(&name.text)?;
            if !body.this_layer()?.functions.get(index as usize)?.refuses {
                return None;
            }
            call_unmet(body, field, &call.args(), span)?
        }
        _ => {
            let name = tree::name_expr(body.file, &callee)?;
            let function = body.own_function(&name.text)?;
            let head = body.this_layer()?.functions.get(function as usize).filter(|head| head.refuses)?.clone();
            body.cx.mention(&name, head.name.span);
            let args = arguments::for_params(body, &name.text, &head.params, &call.args(), span);
            make(ExprKind::CallOwn { function, args }, head.result, span)
        }
    };
    Some(with_names(body, found))
}

/// Binds unnamed messages before the statement, so that they can be given back, and with them all that is evaluated
/// before them.
fn with_names(body: &mut Body, call: Expr) -> Expr {
    let Expr { kind, ty, span } = call;
    let kind = match kind {
        ExprKind::CallOwn { function, args } => ExprKind::CallOwn { function, args: named_args(body, args) },
        ExprKind::CallOn { object, function, args } => {
            ExprKind::CallOn { object, function, args: named_args(body, args) }
        }
        other => other,
    };
    make(kind, ty, span)
}

/// The arguments of a call that may refuse: unnamed messages are bound before the statement.
pub fn named_args(body: &mut Body, args: Vec<Expr>) -> Vec<Expr> {
    let nameless = |arg: &Expr| arg.ty == Type::Message && !matches!(arg.kind, ExprKind::Give(_));
    let Some(last) = args.iter().rposition(nameless) else { return args };
    let bound = |(at, arg): (usize, Expr)| match arg.kind {
        ExprKind::Give(_) => arg,
        _ if at <= last => body.bound_in_front(arg),
        _ => arg,
    };
    args.into_iter().enumerate().map(bound).collect()
}

/// `items.take(i)` of an array in a container whose elements may be messages or not.
pub fn element_taken(body: &mut Body, base: &Tree, args: &[ast::Arg]) -> Option<Expr> {
    body.view.inside.as_ref()?;
    if !state::is_member(body, base, |kind| matches!(kind, MemberKind::Array { .. })) {
        return None;
    }
    let index = args.first()?.value()?;
    element(body, base, &index)
}

/// `items[i]` of an array in a container.
pub fn element(body: &mut Body, base: &Tree, index: &Tree) -> Option<Expr> {
    let (array, _) = state::named(body, base)?;
    let MemberKind::Array { ty, .. } = body.member(array.scope, array.member)?.kind else { return None };
    let span = body.span(base);
    let index = Box::new(expr::index(body, index));
    Some(make(ExprKind::Element { array, index }, ty, span))
}

/// The names of a container's functions, for reports of an unknown one.
fn names_of(container: &Container) -> Vec<&str> {
    container.functions.iter().map(|(name, _)| name.as_str()).collect()
}
