//! Assignments: to locals, state, elements, entries of maps, fields, attributes.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{behind, make, once};
use crate::resolve::body::Body;
use crate::resolve::expr::{messages, named_types, operators, state, strangers};
use crate::resolve::stmt::calls::needless_or;
use crate::resolve::stmt::targets::{self, Change};
use crate::resolve::stmt::{element_parts, lookup, vector_parts};
use crate::resolve::{expr, stmt};
use crate::{codes, tree};

/// `x = 3`, `x += 3`: the left side decides.
pub(super) fn read(body: &mut Body, stmt: &ast::AssignStmt, span: Span) -> Option<StmtKind> {
    let (target, value) = (tree::unparen(&stmt.target()?), stmt.value()?);
    let change = Change { op: stmt.binary_op(), value: &value, span };
    let said = body.cx.out.len();
    let kind = to_target(body, &target, change, stmt.or());
    if let Some(or) = stmt.or().filter(|_| !matches!(target, Tree::Index(_))) {
        let help = "`or` stands behind `m[k] = v`; `let x = m[k] or { … return }` looks something up";
        needless_or(body, &or, kind.is_none() || body.cx.out.len() > said, help);
    }
    kind
}

fn to_target(body: &mut Body, target: &Tree, change: Change, or: Option<ast::OrClause>) -> Option<StmtKind> {
    let value = change.value;
    match target {
        Tree::Name(_) => {
            let name = tree::name_expr(body.file, target)?;
            to_name(body, &name, change)
        }
        Tree::Index(index) => to_index(body, index, change, or),
        Tree::Field(field) => to_field(body, field, change),
        _ => {
            let place = body.span(target);
            let text = target.syntax().text().to_string();
            let help = match text.split_once(".u").filter(|_| text.ends_with(')')) {
                Some((message, rest)) => {
                    format!("octets of a message are written by `{message}.put_u{}, …)`", rest.trim_end_matches(')'))
                }
                None => "name a variable".to_string(),
            };
            body.error(codes::NOT_ASSIGNABLE, "nothing can be assigned to this", place, "no place", &help);
            expr::infer(body, value, None);
            None
        }
    }
}

fn to_name(body: &mut Body, name: &Name, change: Change) -> Option<StmtKind> {
    body.note(name);
    if let Some(local) = body.locals.find(&name.text) {
        let old = make(ExprKind::Local(local), body.locals.ty(local), name.span);
        let value = targets::new_value(body, old, change);
        return Some(StmtKind::AssignLocal { local, value });
    }
    if let Some((scope, member)) = body.find_state(&name.text) {
        let state = StateRef { scope, member, object: None, span: name.span };
        return to_state(body, state, name, change);
    }
    if body.view.param(&name.text).is_some() {
        let text = format!("parameter `{}` does not change", name.text);
        let help = format!("keep what changes in a scope: `entity {{ var x: u32 = {} }}`", name.text);
        body.error(codes::NOT_ASSIGNABLE, text, name.span, "a parameter", &help);
    } else if body.cx.item_at(body.file, name).is_some() {
        let text = format!("`{}` does not change", name.text);
        body.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", "name a variable");
    } else {
        strangers::report(body, name);
        expr::infer(body, change.value, None);
        // `n = 3` without its `let`: uses of `n` are not reported.
        if change.op.is_none() {
            body.locals.bind_unknown(std::slice::from_ref(name));
        }
        return None;
    }
    expr::infer(body, change.value, None);
    None
}

fn to_state(body: &mut Body, state: StateRef, name: &Name, change: Change) -> Option<StmtKind> {
    body.has_effects(change.span);
    if targets::is_fixed(body, &state) {
        let text = format!("`{}` is constant", name.text);
        let help = match state.scope {
            ScopeKind::Object(_) => "remove the object and make a new one".to_string(),
            ScopeKind::Session if is_given(body, &state) => format!(
                "what `from` gives stays: declare a variable that begins as it, `var {0}_now: … = {0}`, and set that",
                name.text
            ),
            _ => "set it in `on start`, `on open` or `on accepted`, or declare it `var`".to_string(),
        };
        body.error(codes::CONSTANT_SET, text, name.span, "set here", &help);
    }
    let old = state::value(body, state.clone(), name);
    let value = targets::new_value(body, old, change);
    Some(StmtKind::Assign { state, value })
}

/// Whether it is a constant of the session that `open`, `listen` or `accept` sets.
fn is_given(body: &Body, state: &StateRef) -> bool {
    let layer = body.view.layer.and_then(|id| body.cx.program.layers.get(id.index()));
    layer.is_some_and(|layer| {
        [&layer.given, &layer.listened, &layer.accepted].iter().any(|given| given.contains(&state.member))
    })
}

/// `a[i] = x`, `v[i] = x`, `m[k] = x or { … }`
fn to_index(body: &mut Body, index: &ast::IndexExpr, change: Change, or: Option<ast::OrClause>) -> Option<StmtKind> {
    let base = index.base()?;
    if named_types::is_vector(body, &base) {
        return vector_parts::element(body, index, change);
    }
    body.has_effects(change.span);
    if state::is_member(body, &base, |kind| matches!(kind, MemberKind::Array { .. })) {
        return to_element(body, index, change);
    }
    if let Some(class) = tree::name_expr(body.file, &base).filter(|name| body.class_named(name).is_some()) {
        let help = format!("write `let e = {}[key] or new {{ … }}`, then assign to its parts", class.text);
        body.error(codes::NOT_ASSIGNABLE, "an object is not assigned as a whole", change.span, "an object", &help);
        return None;
    }
    to_entry(body, index, change, or)
}

fn to_element(body: &mut Body, index: &ast::IndexExpr, change: Change) -> Option<StmtKind> {
    let span = change.span;
    let element = expr::infer(body, &Tree::Index(index.clone()), None);
    let Expr { kind: ExprKind::Element { array, index }, ty, span: place } = element else { return None };
    // `a[next()] += 1` reads and writes one place.
    let (index, once) = if change.op.is_some() { once(body, *index) } else { (*index, None) };
    let before = once.map(|(local, value)| Stmt { kind: StmtKind::Let { local, value }, span });
    let old = make(ExprKind::Element { array: array.clone(), index: Box::new(index.clone()) }, ty, place);
    let value = targets::new_value(body, old, change);
    let kind = StmtKind::AssignElement { array, index, value };
    Some(behind(before.into_iter().collect(), kind, span))
}

/// An entry of a map, which may be full.
fn to_entry(
    body: &mut Body,
    index: &ast::IndexExpr,
    Change { op, value, span }: Change,
    or: Option<ast::OrClause>,
) -> Option<StmtKind> {
    let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
    let map = state::of_kind(body, &index.base()?, "a map or an array", is_map)?;
    if op.is_some() {
        let help = "look it up first: `if let v = m[k] { m[k] = v + 1 or { … } }`";
        body.error(codes::BAD_OPERANDS, "the key may not be in the map", span, "no old value", help);
    }
    let (keys, types) = state::map_types(body, &map);
    let key = operators::key_values(body, &lookup::key_trees(index), &keys, span);
    let values = operators::key_values(body, &tree::untuple(value), &types, span);
    let Some(or) = or else {
        let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when the map is full?")
            .at(span, "may have no room")
            .help("say it: `m[k] = v or { drop msg: full  return }`");
        body.report(diagnostic);
        return None;
    };
    let otherwise = stmt::block(body, or.block());
    Some(StmtKind::Insert { map, key, values, otherwise })
}

fn to_field(body: &mut Body, field: &ast::FieldExpr, change: Change) -> Option<StmtKind> {
    let (base, name) = (field.base()?, tree::some_name(body.file, field.name())?);
    if named_types::is_in_vector(body, &base) || named_types::is_vector(body, &base) {
        return vector_parts::within(body, field, change);
    }
    if named_types::is_in_array(body, &base) {
        return element_parts::of_array(body, field, change);
    }
    let owner = tree::name_expr(body.file, &base);
    owner.iter().for_each(|owner| body.note(owner));
    let local = owner.as_ref().and_then(|owner| body.locals.find(&owner.text));
    match local.map(|local| (local, body.locals.ty(local))) {
        Some((message, Type::Message)) => return set_attribute(body, message, &name, change),
        Some((local, Type::Record(id))) => {
            let old = make(ExprKind::Local(local), Type::Record(id), base.span(body.file));
            let value = targets::with_field(body, old, id, &name, change)?;
            return Some(StmtKind::AssignLocal { local, value });
        }
        Some((_, Type::Unknown)) => return None,
        _ => {}
    }
    let is_layer = |owner: &Name| matches!(owner.text.as_str(), "below" | "above");
    if let Some(owner) = owner.filter(|owner| is_layer(owner) && local.is_none()) {
        let text = format!("`{}` is another layer: its state is its own", owner.text);
        body.error(codes::NOT_ASSIGNABLE, text, change.span, "not ours", "emit an event: `below.name(…)`");
        return None;
    }
    let owner = expr::infer(body, &base, None);
    to_part(body, owner, name, change)
}

/// A part of an expression's value: state of an object, or a field of a record in the state.
fn to_part(body: &mut Body, owner: Expr, name: Name, change: Change) -> Option<StmtKind> {
    match (owner.ty, owner.kind.clone()) {
        (Type::Object(_) | Type::Listener, _) => {
            let (state, name) = state::member_of(body, owner, name)?;
            to_state(body, state, &name, change)
        }
        (Type::Record(id), ExprKind::State(state)) => {
            body.has_effects(change.span);
            let value = targets::with_field(body, owner, id, &name, change)?;
            Some(StmtKind::Assign { state, value })
        }
        (Type::Unknown, _) => None,
        _ => {
            let text = "nothing can be assigned to this";
            let help = "name a variable, a part of one, or an attribute of a message";
            body.error(codes::NOT_ASSIGNABLE, text, change.span, "no place", help);
            None
        }
    }
}

fn set_attribute(body: &mut Body, message: LocalId, name: &Name, change: Change) -> Option<StmtKind> {
    if name.text == "size" {
        let help = "write `msg.trim(n)` or `msg.skip(n)`";
        body.error(codes::NOT_ASSIGNABLE, "a message's size is not assigned", change.span, "no place", help);
        return None;
    }
    let attribute = messages::attribute(body, name)?;
    if !body.this_layer().is_some_and(|layer| layer.writes.contains(&attribute)) {
        messages::undeclared(body, name, "written", "writes");
    }
    let old = match change.op {
        Some(_) => messages::part(body, message, name, change.span),
        None => make(ExprKind::Number(0), body.cx.program.attributes[attribute.index()].ty, change.span),
    };
    let value = targets::new_value(body, old, change);
    Some(StmtKind::SetAttribute { message, attribute, value })
}
