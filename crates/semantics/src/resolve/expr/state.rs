//! State that an expression names: of the layer directly, or of an object through its handle.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{rows, strangers};
use crate::{codes, suggest, tree};

/// The value of a variable of the state.
pub fn value(body: &mut Body, state: StateRef, name: &Name) -> Expr {
    let Some(member) = body.member(state.scope, state.member) else { return unknown(name.span) };
    if let MemberKind::Var { ty, .. } = member.kind {
        let span = state.span;
        return make(ExprKind::State(state), ty, span);
    }
    let (what, help) = describe(&member.kind, &as_written(body, &state, name));
    body.error(codes::WRONG_STATE, format!("`{}` is {what}, not a value", name.text), name.span, what, &help);
    unknown(name.span)
}

/// State of an expected kind: `t`, `e.t`. Reports anything else.
pub fn of_kind(body: &mut Body, expr: &ast::Expr, what: &str, wanted: fn(&MemberKind) -> bool) -> Option<StateRef> {
    let expr = tree::unparen(expr);
    if let Some(name) = tree::name_expr(body.file, &expr).filter(|name| is_strange(body, name)) {
        strangers::report_as(body, &name, declaration(what, &name.text).as_deref());
        return None;
    }
    let (state, name) = named(body, &expr)?;
    let kind = &body.member(state.scope, state.member)?.kind;
    if wanted(kind) {
        return Some(state);
    }
    let (found, help) = describe(kind, &as_written(body, &state, &name));
    let text = format!("`{}` is {found}, not {what}", name.text);
    let diagnostic = Diagnostic::error(codes::WRONG_STATE, text).at(name.span, format!("expected {what}"));
    let others = names_of_kind(body, wanted);
    let diagnostic = match others.is_empty() {
        false => diagnostic.help(format!("there is {}", suggest::list(&others))),
        true => diagnostic,
    };
    body.report(diagnostic.help(format!("as it is {found}: {help}")));
    None
}

/// The names of state of this kind in the layer's scopes.
fn names_of_kind(body: &Body, wanted: fn(&MemberKind) -> bool) -> Vec<String> {
    let scopes = body.this_layer().map_or(&[][..], |layer| &layer.scopes);
    let members = scopes.iter().flat_map(|scope| &scope.members).filter(|member| wanted(&member.kind));
    members.map(|member| member.name.text.clone()).filter(|name| !name.contains('.')).take(4).collect()
}

/// Whether the name is neither state nor a local.
fn is_strange(body: &mut Body, name: &Name) -> bool {
    body.find_state(&name.text).is_none() && body.locals.find(&name.text).is_none()
}

/// The declaration of state of the expected kind.
fn declaration(what: &str, name: &str) -> Option<String> {
    Some(match what {
        "a timer" => format!("timer {name}"),
        "a quota" => format!("quota {name}: 8"),
        "a counter" => format!("counter {name}"),
        "places for messages" => format!("messages {name}: 8"),
        "an array" => format!("array {name}: [u32; 8]"),
        "a map or an array" => format!("map {name}: [u32 -> u32; 64]"),
        "a map or the name of objects" => format!("map {name}: [u32 -> u32; 64]"),
        _ => return None,
    })
}

/// State, named directly or through an object's handle.
pub(super) fn named(body: &mut Body, expr: &ast::Expr) -> Option<(StateRef, Name)> {
    if let Some(name) = tree::name_expr(body.file, expr) {
        body.note(&name);
        if let Some((scope, member)) = body.find_state(&name.text) {
            return Some((StateRef { scope, member, object: None, span: name.span }, name));
        }
        if let Some(local) = body.locals.find(&name.text) {
            let ty = body.locals.ty(local);
            let text = format!("`{}` is a local value of type {}, not state", name.text, body.show(ty));
            let help = match ty {
                Type::Message => format!("an octet of a message is `{}.u8(0)`", name.text),
                _ => "declare it in a scope".to_string(),
            };
            body.error(codes::WRONG_STATE, text, name.span, "expected state of the layer", &help);
            return None;
        }
        strangers::report(body, &name);
        return None;
    }
    let ast::Expr::Field(field) = expr else {
        let span = body.span(expr);
        let help = match expr {
            ast::Expr::Call(_) => {
                "name it directly; an amount that is computed gets a name first: `let n = …`, then `count hits n`"
            }
            _ => "name it directly",
        };
        body.error(codes::WRONG_STATE, "this is no state", span, "expected the name of state", help);
        return None;
    };
    let name = tree::some_name(body.file, field.name())?;
    let base = expr::infer(body, &field.base()?, None);
    member_of(body, base, name)
}

/// `e.x` through an object's handle.
pub fn member_of(body: &mut Body, base: Expr, name: Name) -> Option<(StateRef, Name)> {
    if base.ty == Type::Listener {
        return member_of_listener(body, base, name);
    }
    let Type::Object(id) = base.ty else {
        if base.ty != Type::Unknown {
            let text = format!("{} has no state `{}`", body.show(base.ty), name.text);
            body.error(
                codes::UNKNOWN_FIELD,
                text,
                name.span,
                "only objects have",
                "find one: `if let e = Entry[key] { … }`",
            );
        }
        return None;
    };
    let class = body.this_layer()?.objects.get(id.index())?;
    match position(&class.members, &name.text) {
        Some(member) => {
            if let Some(known) = class.members.get(member as usize) {
                body.cx.mention(&name, known.name.span);
            }
            let span = base.span.to(name.span);
            let scope = ScopeKind::Object(id);
            Some((StateRef { scope, member, object: Some(Box::new(base)), span }, name))
        }
        None => {
            let names: Vec<&str> = class.members.iter().map(|member| member.name.text.as_str()).collect();
            let text = format!("objects `{}` have no `{}`", class.name.text, name.text);
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
            match name.text.as_str() {
                "end" => diagnostic.helps.push("to end an object, write `end` in front of it: `end e`".to_string()),
                _ => diagnostic.helps.extend(suggest::help(&name.text, names)),
            }
            body.report(diagnostic);
            None
        }
    }
}

/// `here.open`: state of a listener's point.
fn member_of_listener(body: &mut Body, base: Expr, name: Name) -> Option<(StateRef, Name)> {
    let members = body.this_layer()?.members(ScopeKind::Point).unwrap_or_default();
    let Some(member) = position(members, &name.text) else {
        let names: Vec<&str> = members.iter().map(|member| member.name.text.as_str()).collect();
        let text = format!("a listener's point has no `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names));
        diagnostic.helps.push(format!("declare it: `point {{ var {}: u32 = 0 }}`", name.text));
        body.report(diagnostic);
        return None;
    };
    if let Some(known) = members.get(member as usize) {
        body.cx.mention(&name, known.name.span);
    }
    let span = base.span.to(name.span);
    Some((StateRef { scope: ScopeKind::Point, member, object: Some(Box::new(base)), span }, name))
}

/// The timer that an expression names.
pub fn timer(body: &mut Body, expr: &Tree) -> Option<StateRef> {
    of_kind(body, expr, "a timer", |kind| matches!(kind, MemberKind::Timer))
}

/// The quota that an expression names.
pub fn quota(body: &mut Body, expr: &Tree) -> Option<StateRef> {
    of_kind(body, expr, "a quota", |kind| matches!(kind, MemberKind::Quota { .. }))
}

/// The places for messages that an expression names.
pub fn messages(body: &mut Body, base: &Tree) -> Option<StateRef> {
    of_kind(body, base, "places for messages", |kind| matches!(kind, MemberKind::Messages { .. }))
}

/// Whether an expression names state of that kind; reports nothing.
pub fn is_member(body: &Body, expr: &Tree, wanted: fn(&MemberKind) -> bool) -> bool {
    let found = match expr {
        Tree::Name(_) => {
            let Some(name) = tree::name_expr(body.file, expr) else { return false };
            if body.locals.find(&name.text).is_some() {
                return false;
            }
            body.find_state(&name.text)
        }
        Tree::Field(field) => {
            if let Some(class) = field.base().and_then(|base| rows::of(body, &base)) {
                let name = tree::some_name(body.file, field.name());
                let members = body.this_layer().and_then(|layer| layer.members(ScopeKind::Object(class)));
                let found = name.zip(members).and_then(|(name, all)| all.get(position(all, &name.text)? as usize));
                return found.is_some_and(|member| wanted(&member.kind));
            }
            let Some((owner, name)) = tree::name_field(body.file, expr) else { return false };
            let owner = body.locals.find(&owner.text).map(|local| body.locals.ty(local));
            if owner == Some(Type::Listener) {
                let members = body.this_layer().and_then(|layer| layer.members(ScopeKind::Point)).unwrap_or_default();
                let found = position(members, &name.text).and_then(|member| members.get(member as usize));
                return found.is_some_and(|member| wanted(&member.kind));
            }
            let Some(Type::Object(id)) = owner else { return false };
            let class = body.this_layer().and_then(|layer| layer.objects.get(id.index()));
            class.and_then(|class| position(&class.members, &name.text)).map(|member| (ScopeKind::Object(id), member))
        }
        _ => None,
    };
    found.and_then(|(scope, member)| body.member(scope, member)).is_some_and(|member| wanted(&member.kind))
}

/// The name with the object in front that has it, if that is a local: `foe.seen`.
fn as_written(body: &Body, state: &StateRef, name: &Name) -> String {
    let of = state.object.as_ref().and_then(|object| match object.kind {
        ExprKind::Local(local) => body.locals.name(local),
        _ => None,
    });
    of.map_or_else(|| name.text.clone(), |of| format!("{of}.{}", name.text))
}

/// The word for a kind of state, and what can be done with it.
fn describe(kind: &MemberKind, name: &str) -> (&'static str, String) {
    match kind {
        MemberKind::Var { constant: true, .. } => ("a constant", "it is a value".into()),
        MemberKind::Var { .. } => ("a variable", format!("it is a value: name it, or change it: `{name} += 1`")),
        MemberKind::Timer => ("a timer", format!("write `start {name} after 20 ms`, `stop {name}`, `running {name}`")),
        MemberKind::Quota { .. } => {
            ("a quota", format!("write `take {name} or {{ … }}`, `give {name}`, `left {name}`"))
        }
        MemberKind::Counter => ("a counter", format!("write `count {name}`; layers do not read counters: what a layer decides by is a `var`")),
        MemberKind::Array { .. } => ("an array", format!("name an element: `{name}[i]`")),
        MemberKind::Map { .. } => {
            ("a map", format!("look something up: `if let v = {name}[key] {{ … }} else {{ … }}`, `key in {name}`; `{name}[key] = v or {{ … }}`; to go through all, keep objects: `for one in Peer limit 8 {{ … }}`"))
        }
        MemberKind::Container(_) => ("a container", format!("call one of its functions: `{name}.push(x) or {{ … }}`")),
        MemberKind::Messages { .. } => (
            "places for messages",
            format!("write `{name}.put(i, msg)`, `if let m = {name}.take(i) {{ … }}`, `{name}.holds(i)`"),
        ),
    }
}

/// The types of a map's keys and values.
pub fn map_types(body: &Body, map: &StateRef) -> (Vec<Type>, Vec<Type>) {
    match body.member(map.scope, map.member).map(|member| &member.kind) {
        Some(MemberKind::Map { key, value, .. }) => (key.clone(), value.clone()),
        _ => (Vec::new(), Vec::new()),
    }
}

/// The types of the key of a class of objects.
pub fn object_keys(body: &Body, class: ObjectId) -> Vec<Type> {
    let class = body.this_layer().and_then(|layer| layer.objects.get(class.index()));
    class.map_or(Vec::new(), |class| class.keys.iter().map(|key| key.ty).collect())
}

/// `running t`
pub(super) fn running(body: &mut Body, running: &ast::RunningExpr, span: Span) -> Expr {
    let timer = running.timer().and_then(|tree| timer(body, &tree));
    timer.map_or(unknown(span), |timer| make(ExprKind::Running(timer), Type::Bool, span))
}

/// `left kept`
pub(super) fn left(body: &mut Body, left: &ast::LeftExpr, span: Span) -> Expr {
    let quota = left.quota().and_then(|tree| quota(body, &tree));
    quota.map_or(unknown(span), |quota| make(ExprKind::Left(quota), Type::UInt(32), span))
}
