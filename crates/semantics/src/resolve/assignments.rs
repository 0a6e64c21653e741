//! Assignments: to locals, state, elements, entries of maps, fields, attributes.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use super::body::{make, Body, Place, Role};
use super::operators::operator;
use super::vectors::behind;
use crate::program::*;
use crate::{codes, suggest, tree};

impl Body<'_> {
    pub(super) fn assign(&mut self, stmt: &ast::AssignStmt, span: Span) -> Option<StmtKind> {
        let (target, value) = (tree::unparen(&stmt.target()?), stmt.value()?);
        let op = stmt.binary_op();
        if let Some(or) = stmt.or().filter(|_| !matches!(target, Tree::Index(_))) {
            let place = or.span(self.file);
            self.error(codes::MISPLACED, "nothing here can fail", place, "not needed", "`or` stands behind `m[k] = v`");
            self.block(or.block());
        }
        match &target {
            Tree::Name(_) => {
                let name = tree::name_expr(self.file, &target)?;
                self.assign_name(&name, op, &value, span)
            }
            Tree::Index(index) => self.assign_index(index, op, &value, stmt.or(), span),
            Tree::Field(field) => self.assign_field(field, op, &value, span),
            _ => {
                let place = self.span(&target);
                self.error(
                    codes::NOT_ASSIGNABLE,
                    "nothing can be assigned to this",
                    place,
                    "no place",
                    "name a variable",
                );
                self.expr(&value, None);
                None
            }
        }
    }

    /// The new value: the text's, or the old one and the text's under an operator.
    pub(super) fn new_value(&mut self, old: Expr, op: Option<BinaryOp>, value: &Tree, span: Span) -> Expr {
        let ty = old.ty;
        let Some(op) = op.and_then(operator) else { return self.value(value, ty) };
        let hint = match (ty, op) {
            (_, Binary::Shl | Binary::Shr) => Some(Type::UInt(8)),
            (Type::Seq(width), _) => Some(Type::UInt(width)),
            (Type::Instant, _) => Some(Type::Duration),
            (Type::Duration, Binary::Mul | Binary::Div | Binary::Rem) => Some(Type::UInt(64)),
            (Type::Unknown, _) => None,
            _ => Some(ty),
        };
        let hint = if self.is_flexible(value) { hint } else { None };
        let by = self.expr(value, hint);
        let found = self.operate(op, old, by, span, span);
        self.coerce(found, ty)
    }

    pub(super) fn assign_name(
        &mut self,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        if let Some(local) = self.local(&name.text) {
            let ty = self.local_type(local);
            let old = make(ExprKind::Local(local), ty, name.span);
            let value = self.new_value(old, op, value, span);
            return Some(StmtKind::AssignLocal { local, value });
        }
        if let Some((scope, member)) = self.find_state(&name.text) {
            let state = StateRef { scope, member, object: None, span: name.span };
            return self.assign_state(state, name, op, value, span);
        }
        if self.params.iter().any(|param| param.name == name.text) {
            let text = format!("parameter `{}` does not change", name.text);
            let help = format!("keep what changes in a scope: `entity {{ var x: u32 = {} }}`", name.text);
            self.error(codes::NOT_ASSIGNABLE, text, name.span, "a parameter", &help);
        } else if self.cx.item(self.file, &name.text).is_some() {
            let text = format!("`{}` does not change", name.text);
            self.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", "name a variable");
        } else {
            self.unknown_name(name);
        }
        self.expr(value, None);
        None
    }

    pub(super) fn assign_state(
        &mut self,
        state: StateRef,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        self.has_effects(span);
        if self.is_fixed(&state) {
            let text = format!("`{}` is constant", name.text);
            let help = if matches!(state.scope, ScopeKind::Object(_)) {
                "remove the object and make a new one"
            } else {
                "set it in `on start`, `on open` or `on accepted`, or declare it `var`"
            };
            self.error(codes::CONSTANT_SET, text, name.span, "set here", help);
        }
        let old = self.state_value(state.clone(), name);
        let value = self.new_value(old, op, value, span);
        Some(StmtKind::Assign { state, value })
    }

    /// Whether it is a constant, and this is not where it begins.
    pub(super) fn is_fixed(&self, state: &StateRef) -> bool {
        let kind = self.member(state.scope, state.member).map(|member| &member.kind);
        let begins = matches!(self.place, Place::Handler(Role::Start | Role::Open));
        matches!(kind, Some(MemberKind::Var { constant: true, .. }))
            && (!begins || matches!(state.scope, ScopeKind::Object(_)))
    }

    pub(super) fn assign_index(
        &mut self,
        index: &ast::IndexExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        or: Option<ast::OrClause>,
        span: Span,
    ) -> Option<StmtKind> {
        let base = index.base()?;
        if self.is_vector(&base) {
            return self.assign_picked(index, op, value, span);
        }
        self.has_effects(span);
        if self.is_member(&base, |kind| matches!(kind, MemberKind::Array { .. })) {
            let Expr { kind: ExprKind::Element { array, index }, ty, span: place } =
                self.expr(&Tree::Index(index.clone()), None)
            else {
                return None;
            };
            // `a[next()] += 1` reads and writes one place.
            let (index, once) = if op.is_some() { self.once(*index) } else { (*index, None) };
            let before = once.map(|(local, value)| Stmt { kind: StmtKind::Let { local, value }, span });
            let element = make(ExprKind::Element { array: array.clone(), index: Box::new(index.clone()) }, ty, place);
            let value = self.new_value(element, op, value, span);
            let kind = StmtKind::AssignElement { array, index, value };
            return Some(behind(before.into_iter().collect(), kind, span));
        }
        if let Some(class) = tree::name_expr(self.file, &base).filter(|name| self.object_class(&name.text).is_some()) {
            let help = format!("write `let e = {}[key] or new {{ … }}`, then assign to its parts", class.text);
            self.error(codes::NOT_ASSIGNABLE, "an object is not assigned as a whole", span, "an object", &help);
            return None;
        }
        let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
        let map = self.state_of(&base, "a map or an array", is_map)?;
        if op.is_some() {
            let help = "look it up first: `if let v = m[k] { m[k] = v + 1 or { … } }`";
            self.error(codes::BAD_OPERANDS, "the key may not be in the map", span, "no old value", help);
        }
        let (keys, types) = self.map_types(&map);
        let key = self.key_values(&Self::key_trees(index), &keys, span);
        let values = self.key_values(&tree::untuple(value), &types, span);
        let Some(or) = or else {
            let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when the map is full?")
                .at(span, "may have no room")
                .help("say it: `m[k] = v or { drop msg: full  return }`");
            self.report(diagnostic);
            return None;
        };
        let otherwise = self.block(or.block());
        self.must_leave(&otherwise, or.block(), span);
        Some(StmtKind::Insert { map, key, values, otherwise })
    }

    pub(super) fn assign_field(
        &mut self,
        field: &ast::FieldExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        let (base, name) = (field.base()?, tree::some_name(self.file, field.name())?);
        if self.is_in_vector(&base) || self.is_vector(&base) {
            return self.assign_in_vector(field, op, value, span);
        }
        let owner = tree::name_expr(self.file, &base);
        let local = owner.as_ref().and_then(|owner| self.local(&owner.text));
        match local.map(|local| (local, self.local_type(local))) {
            Some((message, Type::Message)) => return self.set_attribute(message, &name, op, value, span),
            Some((local, Type::Record(id))) => {
                let old = make(ExprKind::Local(local), Type::Record(id), base.span(self.file));
                let value = self.with_field(old, id, &name, op, value, span)?;
                return Some(StmtKind::AssignLocal { local, value });
            }
            Some((_, Type::Unknown)) => return None,
            _ => {}
        }
        if let Some(owner) =
            owner.as_ref().filter(|owner| matches!(owner.text.as_str(), "below" | "above") && local.is_none())
        {
            let text = format!("`{}` is another layer: its state is its own", owner.text);
            self.error(codes::NOT_ASSIGNABLE, text, span, "not ours", "emit an event: `below.name(…)`");
            return None;
        }
        let found = self.expr(&base, None);
        match (found.ty, found.kind.clone()) {
            (Type::Object(_), _) => {
                let (state, name) = self.member_of(found, name)?;
                self.assign_state(state, &name, op, value, span)
            }
            (Type::Record(id), ExprKind::State(state)) => {
                self.has_effects(span);
                let value = self.with_field(found, id, &name, op, value, span)?;
                Some(StmtKind::Assign { state, value })
            }
            (Type::Unknown, _) => None,
            _ => {
                let text = "nothing can be assigned to this";
                self.error(
                    codes::NOT_ASSIGNABLE,
                    text,
                    span,
                    "no place",
                    "name a variable, a part of one, or an attribute of a message",
                );
                None
            }
        }
    }

    /// A record with one field replaced.
    pub(super) fn with_field(
        &mut self,
        old: Expr,
        id: RecordId,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<Expr> {
        let fields = self.cx.program.records.get(id.index())?.fields.clone();
        let Some(at) = fields.iter().position(|field| field.name.text == name.text) else {
            let names = fields.iter().map(|field| field.name.text.as_str());
            let help = suggest::help(&name.text, names).unwrap_or_default();
            self.error(codes::UNKNOWN_FIELD, format!("there is no field `{}`", name.text), name.span, "unknown", &help);
            return None;
        };
        let part = ExprKind::RecordField { record: Box::new(old.clone()), field: at as u32 };
        let new = self.new_value(make(part, fields[at].ty, span), op, value, span);
        Some(replaced(old, (id, &fields), at, new, span))
    }

    pub(super) fn set_attribute(
        &mut self,
        message: LocalId,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        if name.text == "size" {
            let help = "write `msg.trim(n)` or `msg.skip(n)`";
            self.error(codes::NOT_ASSIGNABLE, "a message's size is not assigned", span, "no place", help);
            return None;
        }
        let attribute = self.attribute(name)?;
        if !self.this_layer().is_some_and(|layer| layer.writes.contains(&attribute)) {
            self.undeclared(name, "written", "writes");
        }
        let old = match op {
            Some(_) => self.message_part(message, name, span),
            None => make(ExprKind::Number(0), self.cx.program.attributes[attribute.index()].ty, span),
        };
        let value = self.new_value(old, op, value, span);
        Some(StmtKind::SetAttribute { message, attribute, value })
    }
}

/// A record with another value of the field at a place.
pub(super) fn replaced(old: Expr, (id, fields): (RecordId, &[Field]), at: usize, value: Expr, span: Span) -> Expr {
    // The other fields are read behind the value, which may change them.
    let behind = Span { start: value.span.end, ..value.span };
    let part = |(index, field): (usize, &Field)| match index == at {
        true => value.clone(),
        false => {
            let kind = ExprKind::RecordField { record: Box::new(old.clone()), field: index as u32 };
            make(kind, field.ty, behind)
        }
    };
    let values = fields.iter().enumerate().map(part).collect();
    make(ExprKind::Record { record: id, fields: values }, Type::Record(id), span)
}
