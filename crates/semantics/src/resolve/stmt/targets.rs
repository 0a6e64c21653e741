//! Targets of assignments: the new value, perhaps computed from the old one, and the whole into which a changed part is
//! written back.

use mokume_base::Span;
use mokume_syntax::ast::{BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{is_name, make, replaced};
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::expr;
use crate::resolve::expr::{conversions, named_types, operations, operators, state};
use crate::{codes, suggest, tree};

/// The right side of an assignment: a value, or an operator on the old value and another.
#[derive(Clone, Copy)]
pub(super) struct Change<'t> {
    pub op: Option<BinaryOp>,
    pub value: &'t Tree,
    /// The place of the whole statement.
    pub span: Span,
}

/// The new value: the given one, or the operator's result on the old and the given one.
pub(super) fn new_value(body: &mut Body, old: Expr, Change { op, value, span }: Change) -> Expr {
    let ty = old.ty;
    let Some(op) = op.and_then(operations::operator) else {
        let found = expr::infer(body, value, Some(ty));
        soft_given(body, &old, found.ty);
        return conversions::coerce(body, found, ty);
    };
    let hint = match (ty, op) {
        (_, Binary::Shl | Binary::Shr) => Some(Type::UInt(8)),
        (Type::Seq(width), _) => Some(Type::UInt(width)),
        (Type::Instant, _) => Some(Type::Duration),
        (Type::Duration, Binary::Mul | Binary::Div | Binary::Rem) => Some(Type::UInt(64)),
        (Type::Unknown, _) => None,
        _ => Some(ty),
    };
    let hint = if operators::is_flexible(body, value) { hint } else { None };
    let by = expr::infer(body, value, hint);
    let found = operations::operate(body, op, old.clone(), by, span, span);
    soft_given(body, &old, found.ty);
    conversions::coerce(body, found, ty)
}

/// A local with an untyped initial number is assigned a value of a wider or another type.
fn soft_given(body: &mut Body, old: &Expr, given: Type) {
    let fits = match (given, old.ty) {
        (Type::UInt(given), Type::UInt(known)) => given <= known,
        _ => false,
    };
    if !fits {
        body.soft_used(old, given);
    }
}

/// Whether it is a constant, and its object does not begin here.
pub(super) fn is_fixed(body: &Body, state: &StateRef) -> bool {
    let kind = body.member(state.scope, state.member).map(|member| &member.kind);
    let begins = matches!(body.kind, BodyKind::Handler(Role::Start | Role::Open));
    matches!(kind, Some(MemberKind::Var { constant: true, .. }))
        && (!begins || matches!(state.scope, ScopeKind::Object(_)))
}

/// A record with one field replaced.
pub(super) fn with_field(body: &mut Body, old: Expr, id: RecordId, name: &Name, change: Change) -> Option<Expr> {
    let fields = body.cx.program.records.get(id.index())?.fields.clone();
    let Some(at) = fields.iter().position(|field| field.name.text == name.text) else {
        let names = fields.iter().map(|field| field.name.text.as_str());
        let help = suggest::help(&name.text, names).unwrap_or_default();
        body.error(codes::UNKNOWN_FIELD, format!("there is no field `{}`", name.text), name.span, "unknown", &help);
        return None;
    };
    body.cx.mention(name, fields[at].name.span);
    let part = ExprKind::RecordField { record: Box::new(old.clone()), field: at as u32 };
    let new = new_value(body, make(part, fields[at].ty, change.span), change);
    Some(replaced(old, (id, &fields), at, new, change.span))
}

/// A record with another value of one field.
pub(super) fn with_part(body: &mut Body, old: Expr, name: &Name, value: Expr, span: Span) -> Option<Expr> {
    let Type::Record(id) = old.ty else { return None };
    let fields = body.cx.program.records.get(id.index())?.fields.clone();
    let at = fields.iter().position(|field| field.name.text == name.text)?;
    body.cx.mention(name, fields[at].name.span);
    Some(replaced(old, (id, &fields), at, value, span))
}

/// Assigns a whole value to a local, a variable of the state, or a field of one.
pub(super) fn put_into(body: &mut Body, target: &Tree, value: Expr, span: Span) -> Option<StmtKind> {
    let target = tree::unparen(target);
    match &target {
        Tree::Name(_) => {
            let name = tree::name_expr(body.file, &target)?;
            body.note(&name);
            if let Some(local) = body.locals.find(&name.text) {
                return Some(StmtKind::AssignLocal { local, value });
            }
            if let Some((scope, member)) = body.find_state(&name.text) {
                return put_state(body, StateRef { scope, member, object: None, span: name.span }, &name, value);
            }
            let text = format!("`{}` does not change", name.text);
            let help = "keep what changes in a scope, or in a local of its own: `let own = …`";
            body.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", help);
            None
        }
        Tree::Field(field) => {
            let (base, name) = (field.base()?, tree::some_name(body.file, field.name())?);
            let owner = expr::infer(body, &base, None);
            if let Type::Object(_) | Type::Listener = owner.ty {
                let (state, name) = state::member_of(body, owner, name)?;
                return put_state(body, state, &name, value);
            }
            let whole = with_part(body, owner, &name, value, span)?;
            put_into(body, &base, whole, span)
        }
        Tree::Index(index) if named_types::is_in_array(body, &target) => {
            let found = expr::infer(body, &Tree::Index(index.clone()), None);
            let ExprKind::Element { array, index } = found.kind else { return None };
            if !is_name(&index) {
                // The index occurs in the old value, too, and must be evaluated once.
                let help = "bind the index first: `let i = …`";
                body.error(codes::NOT_ASSIGNABLE, "this index would be evaluated twice", index.span, "computed", help);
                return None;
            }
            body.has_effects(span);
            Some(StmtKind::AssignElement { array, index: *index, value })
        }
        _ => {
            let place = body.span(&target);
            body.error(
                codes::NOT_ASSIGNABLE,
                "this does not change",
                place,
                "no place",
                "change a copy, and put it back: `let t = v[0]`, then `v[0] = t`",
            );
            None
        }
    }
}

fn put_state(body: &mut Body, state: StateRef, name: &Name, value: Expr) -> Option<StmtKind> {
    if is_fixed(body, &state) {
        let text = format!("`{}` is constant", name.text);
        body.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", "declare it `var`");
        return None;
    }
    body.has_effects(name.span).then_some(StmtKind::Assign { state, value })
}
