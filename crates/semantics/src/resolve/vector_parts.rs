//! Assignments to bounded vectors, their elements, and parts of these: `v[i] = x`, `v[i].left += 1`.
//!
//! Keeps: an index is evaluated once, and reported once where it is out of bounds.

use mokume_base::Span;
use mokume_syntax::ast::{self, BinaryOp, Expr as Tree};

use super::assignments::replaced;
use super::body::{make, Body};
use super::vectors::{behind, edited, picked};
use crate::program::*;
use crate::{codes, tree};

impl Body<'_> {
    /// `v[i] = x`, `v[i] += x`
    pub(super) fn assign_picked(
        &mut self,
        tree: &ast::IndexExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        let base = tree.base()?;
        if let Some(place) = op.map(|_| Tree::Index(tree.clone())) {
            return self.assign_part(&place, op, value, span);
        }
        let (vector, of) = self.vector_named(&base)?;
        let index = Box::new(self.one_index(tree)?);
        let value = Box::new(self.value(value, of.element));
        self.put_into(&base, edited(vector, Edit::Set { index, value }, span), span)
    }

    /// `v[i].left = x`; `v.length` is not assigned.
    pub(super) fn assign_in_vector(
        &mut self,
        field: &ast::FieldExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        if field.base().is_some_and(|base| self.is_vector(&base)) {
            let help = "write `v.clear()`, `v.push(x) or { … }`, `if let x = v.pop() { … }`";
            self.error(codes::NOT_ASSIGNABLE, "a vector's length is not assigned", span, "no place", help);
            self.expr(value, None);
            return None;
        }
        self.assign_part(&Tree::Field(field.clone()), op, value, span)
    }

    /// An element, or a part of one, of which the old value is read: its index is evaluated, and reported, once.
    fn assign_part(&mut self, place: &Tree, op: Option<BinaryOp>, value: &Tree, span: Span) -> Option<StmtKind> {
        let (index, names) = self.path_in(place)?;
        let base = index.base()?;
        let (vector, of) = self.vector_named(&base)?;
        let number = self.one_index(&index)?;
        let (index, once) = self.once(number);
        let element = self.hidden(span, of.element);
        let found = picked(vector.clone(), index.clone(), of.element, span);
        let lets = once.into_iter().chain([(element, found)]);
        let before = lets.map(|(local, value)| Stmt { kind: StmtKind::Let { local, value }, span }).collect();
        let mut parts = vec![make(ExprKind::Local(element), of.element, span)];
        for name in &names {
            let whole = parts.last()?.clone();
            let Type::Record(id) = whole.ty else {
                let text = format!("{} has no field `{}`", self.show(whole.ty), name.text);
                self.error(codes::UNKNOWN_FIELD, text, name.span, "unknown", "only records have parts");
                return None;
            };
            let part = self.record_field(whole, id, name, span);
            if part.ty == Type::Unknown {
                return None;
            }
            parts.push(part);
        }
        let mut value = self.new_value(parts.pop()?, op, value, span);
        for name in names.iter().rev() {
            value = self.with_part(parts.pop()?, name, value, span)?;
        }
        let edit = Edit::PutBack { index: Box::new(index), value: Box::new(value) };
        let kind = self.put_into(&base, edited(vector, edit, span), span)?;
        Some(behind(before, kind, span))
    }

    /// `v[i].a.b` as `v[i]` and the names behind it.
    fn path_in(&self, place: &Tree) -> Option<(ast::IndexExpr, Vec<Name>)> {
        match tree::unparen(place) {
            Tree::Index(index) => Some((index, Vec::new())),
            Tree::Field(field) => {
                let (index, mut names) = self.path_in(&field.base()?)?;
                names.push(tree::some_name(self.file, field.name())?);
                Some((index, names))
            }
            _ => None,
        }
    }

    /// A record with another value of one field.
    fn with_part(&mut self, old: Expr, name: &Name, value: Expr, span: Span) -> Option<Expr> {
        let Type::Record(id) = old.ty else { return None };
        let fields = self.cx.program.records.get(id.index())?.fields.clone();
        let at = fields.iter().position(|field| field.name.text == name.text)?;
        Some(replaced(old, (id, &fields), at, value, span))
    }

    /// A whole value into a local, a variable of the state, or a field of one.
    pub(super) fn put_into(&mut self, target: &Tree, value: Expr, span: Span) -> Option<StmtKind> {
        let target = tree::unparen(target);
        match &target {
            Tree::Name(_) => {
                let name = tree::name_expr(self.file, &target)?;
                if let Some(local) = self.local(&name.text) {
                    return Some(StmtKind::AssignLocal { local, value });
                }
                if let Some((scope, member)) = self.find_state(&name.text) {
                    return self.put_state(StateRef { scope, member, object: None, span: name.span }, &name, value);
                }
                let text = format!("`{}` does not change", name.text);
                let help = "keep what changes in a scope, or in a local of its own: `let own = …`";
                self.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", help);
                None
            }
            Tree::Field(field) => {
                let (base, name) = (field.base()?, tree::some_name(self.file, field.name())?);
                let owner = self.expr(&base, None);
                if let Type::Object(_) = owner.ty {
                    let (state, name) = self.member_of(owner, name)?;
                    return self.put_state(state, &name, value);
                }
                let whole = self.with_part(owner, &name, value, span)?;
                self.put_into(&base, whole, span)
            }
            _ => {
                let place = self.span(&target);
                self.error(
                    codes::NOT_ASSIGNABLE,
                    "this does not change",
                    place,
                    "no place",
                    "bind it with `let` first",
                );
                None
            }
        }
    }

    fn put_state(&mut self, state: StateRef, name: &Name, value: Expr) -> Option<StmtKind> {
        if self.is_fixed(&state) {
            let text = format!("`{}` is constant", name.text);
            self.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", "declare it `var`");
            return None;
        }
        self.has_effects(name.span).then_some(StmtKind::Assign { state, value })
    }
}
