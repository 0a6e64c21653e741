//! Bounded vectors: `[T; ..8]`, `[a, b]`, `v[i]`, `v.push(x) or { … }`, `for x in v limit 8`.
//!
//! A vector is a record: the length, then the elements, side by side. So it is a value like others in state, parameters,
//! results and other records, and equal to another where the records are. Keeps: elements behind the length are zero.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use super::body::{cast, make, unknown, Body};
use super::places::Lookup;
use super::{items, Context, Item};
use crate::program::*;
use crate::{codes, tree};

/// Every element is scalars of its own in each value of the type, so there are few.
pub(super) const MOST_ELEMENTS: u64 = 64;

impl Context {
    /// `[T; ..8]`, one record for each `T` and bound.
    pub(super) fn vector_type(&mut self, file: FileId, ty: &ast::VectorType) -> Type {
        let span = ty.span(file);
        let element = items::value_type(self, file, ty.element());
        let bound = ty.bound().and_then(|bound| items::fixed(self, file, &bound, Type::UInt(32)));
        let Some(bound) = bound else { return Type::Unknown };
        if bound == 0 || bound > MOST_ELEMENTS {
            let text = format!("a vector has from 1 to {MOST_ELEMENTS} elements at most, not {bound}");
            let help = if bound == 0 {
                "write how many there are at most: `[T; ..8]`"
            } else {
                "many are kept in a container: `vector<T> all(1000)`, of `use containers`"
            };
            self.error(codes::VECTOR_BOUND, text, span, "its bound", help);
            return Type::Unknown;
        }
        if element == Type::Unknown {
            return Type::Unknown;
        }
        let vector = Vector { element, bound: bound as u32 };
        if let Some(known) = self.program.records.iter().position(|record| record.vector == Some(vector)) {
            return Type::Record(RecordId(known as u32));
        }
        let name = |text: String| Name { text, span };
        let mut fields = vec![Field { name: name("length".into()), ty: Type::UInt(8), big: None, common: None }];
        fields.extend((0..bound).map(|place| Field {
            name: name(place.to_string()),
            ty: element,
            big: None,
            common: None,
        }));
        let title = format!("[{}; ..{bound}]", self.show(element));
        self.program.records.push(Record { name: name(title), fields, vector: Some(vector) });
        Type::Record(RecordId(self.program.records.len() as u32 - 1))
    }
}

/// A statement, with what comes before it.
pub(super) fn behind(mut before: Vec<Stmt>, kind: StmtKind, span: Span) -> StmtKind {
    if before.is_empty() {
        return kind;
    }
    before.push(Stmt { kind, span });
    let condition = make(ExprKind::Number(1), Type::Bool, span);
    StmtKind::If { condition, likely: None, then: before, otherwise: Vec::new() }
}

fn number(value: u32, span: Span) -> Expr {
    make(ExprKind::Number(u64::from(value)), Type::UInt(32), span)
}

fn compared(op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
    make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, Type::Bool, span)
}

pub(super) fn picked(vector: Expr, index: Expr, element: Type, span: Span) -> Expr {
    make(ExprKind::Pick { vector: Box::new(vector), index: Box::new(index) }, element, span)
}

pub(super) fn edited(vector: Expr, edit: Edit, span: Span) -> Expr {
    let ty = vector.ty;
    make(ExprKind::Edited { vector: Box::new(vector), edit }, ty, span)
}

impl Lookup {
    /// What is to be done before it is known whether there is something.
    pub(super) fn before(&mut self) -> Vec<Stmt> {
        match self {
            Lookup::Vector { before, .. } => std::mem::take(before),
            _ => Vec::new(),
        }
    }
}

impl Body<'_> {
    /// `[a, b]` where a vector is wanted.
    pub(super) fn vector(&mut self, tree: &ast::VectorExpr, want: Option<Type>, span: Span) -> Expr {
        let elements = tree.elements();
        let wanted = want.and_then(|want| Some((want, self.cx.program.vector(want)?)));
        let Some((Type::Record(record), Vector { element, bound })) = wanted else {
            elements.iter().for_each(|element| drop(self.expr(element, None)));
            match want {
                Some(Type::Unknown) => {}
                Some(other) => {
                    let text = format!("expected {}, found a vector", self.show(other));
                    self.error(codes::MISMATCH, text, span, "a vector", "write one value here");
                }
                None => {
                    let help = "bind it with a type: `let v: [u32; ..4] = [1, 2]`";
                    self.error(codes::NO_TYPE, "which vector this is, is not known here", span, "of what type?", help);
                }
            }
            return unknown(span);
        };
        let mut values: Vec<Expr> = elements.iter().map(|value| self.value(value, element)).collect();
        if values.len() > bound as usize {
            let text = format!("{} elements do not fit a vector of {bound} at most", values.len());
            self.error(codes::VECTOR_FULL, text, span, "too many", "leave some out, or widen the type");
            values.truncate(bound as usize);
        }
        let length = make(ExprKind::Number(values.len() as u64), Type::UInt(8), span);
        values.insert(0, length);
        values.resize_with(bound as usize + 1, || self.zero(element, span));
        make(ExprKind::Record { record, fields: values }, Type::Record(record), span)
    }

    /// The type of what an expression names, if it names a value; no report.
    fn type_named(&mut self, tree: &Tree) -> Option<Type> {
        match tree::unparen(tree) {
            Tree::Name(name) => self.type_of_name(&name.text()),
            Tree::Index(index) => {
                let base = self.type_named(&index.base()?)?;
                Some(self.cx.program.vector(base)?.element)
            }
            Tree::Field(field) => {
                let name = tree::some_name(self.file, field.name())?;
                match self.type_named(&field.base()?)? {
                    Type::Record(id) => {
                        let fields = &self.cx.program.records.get(id.index())?.fields;
                        Some(fields.iter().find(|field| field.name.text == name.text)?.ty)
                    }
                    Type::Object(id) => {
                        let members = &self.this_layer()?.objects.get(id.index())?.members;
                        match members.iter().find(|member| member.name.text == name.text)?.kind {
                            MemberKind::Var { ty, .. } => Some(ty),
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn type_of_name(&mut self, name: &str) -> Option<Type> {
        if let Some(local) = self.local(name) {
            return Some(self.local_type(local));
        }
        if let Some((scope, member)) = self.find_state(name) {
            return match self.member(scope, member)?.kind {
                MemberKind::Var { ty, .. } => Some(ty),
                _ => None,
            };
        }
        if let Some(param) = self.params.iter().find(|param| param.name == name) {
            return Some(param.ty);
        }
        match self.cx.item(self.file, name)? {
            Item::Const(index) => items::constant(self.cx, index, None).map(|value| value.ty),
            _ => None,
        }
    }

    /// Whether a name's type was refused, which has been told.
    pub(super) fn is_unknown(&mut self, tree: &Tree) -> bool {
        self.type_named(tree) == Some(Type::Unknown)
    }

    pub(super) fn is_vector(&mut self, tree: &Tree) -> bool {
        let ty = self.type_named(tree);
        ty.is_some_and(|ty| self.cx.program.vector(ty).is_some())
    }

    /// Whether it is an element of a vector, or part of one.
    pub(super) fn is_in_vector(&mut self, tree: &Tree) -> bool {
        match tree::unparen(tree) {
            Tree::Index(index) => index.base().is_some_and(|base| self.is_vector(&base)),
            Tree::Field(field) => field.base().is_some_and(|base| self.is_in_vector(&base)),
            _ => false,
        }
    }

    /// The value of an expression that names a vector; none, without a report, if it names none.
    pub(super) fn vector_named(&mut self, tree: &Tree) -> Option<(Expr, Vector)> {
        let vector = self.type_named(tree).and_then(|ty| self.cx.program.vector(ty))?;
        Some((self.expr(tree, None), vector))
    }

    /// `v.length`, as a `u32`.
    pub(super) fn length(&mut self, vector: Expr, span: Span) -> Expr {
        let kind = ExprKind::RecordField { record: Box::new(vector), field: 0 };
        cast(make(kind, Type::UInt(8), span), Type::UInt(32), CastKind::Widen)
    }

    /// `v[i]`
    pub(super) fn pick(&mut self, vector: Expr, tree: &ast::IndexExpr, span: Span) -> Expr {
        let element = self.cx.program.vector(vector.ty).map_or(Type::Unknown, |vector| vector.element);
        match self.one_index(tree) {
            Some(index) => picked(vector, index, element, span),
            None => unknown(span),
        }
    }

    pub(super) fn one_index(&mut self, tree: &ast::IndexExpr) -> Option<Expr> {
        let indices = tree.indices();
        let [index] = indices.as_slice() else {
            let span = self.span(tree);
            self.error(codes::WRONG_COUNT, "a vector has one index", span, "expected one", "write `v[i]`");
            return None;
        };
        Some(self.array_index(index))
    }

    // ---- calls ----

    /// `v.size()`, `v.left()`, `v.is_empty()`
    pub(super) fn vector_method(&mut self, base: Expr, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
        let bound = self.cx.program.vector(base.ty).map_or(0, |vector| vector.bound);
        let (what, help) = match name.text.as_str() {
            "size" | "left" | "is_empty" => {
                self.plain_args(&name.text, args, 0, span);
                let length = self.length(base, span);
                return match name.text.as_str() {
                    "size" => length,
                    "left" => {
                        let kind = ExprKind::Binary {
                            op: Binary::SubWrap,
                            a: Box::new(number(bound, span)),
                            b: Box::new(length),
                        };
                        make(kind, Type::UInt(32), span)
                    }
                    _ => compared(Binary::Eq, length, number(0, span), span),
                };
            }
            "push" => (codes::REFUSAL_UNMET, "say it: `v.push(x) or { drop msg: full  return }`"),
            "pop" | "at" => {
                (codes::REFUSAL_UNMET, "write `if let x = v.pop() { … }`, or `let x = v.pop() or { return }`")
            }
            "clear" => (codes::NO_VALUE, "write it as a statement"),
            _ => (codes::NO_FUNCTION, "it has `push pop at size left is_empty clear`, and `v.length`, `v[i]`"),
        };
        let text = match what {
            codes::REFUSAL_UNMET => format!("what happens when `{}` refuses?", name.text),
            codes::NO_VALUE => format!("`{}` gives no value", name.text),
            _ => format!("a vector has no `{}`", name.text),
        };
        self.error(what, text, name.span, "here", help);
        unknown(span)
    }

    /// `v.push(x) or { … }`, `v.clear()` as statements; none if it is something else.
    pub(super) fn vector_statement(&mut self, stmt: &ast::ExprStmt, span: Span) -> Option<Option<StmtKind>> {
        let Some(Tree::Call(call)) = stmt.expr() else { return None };
        let (base, name) = super::statements::tree_method(self, &call)?;
        match (name.text.as_str(), stmt.or()) {
            ("push", Some(or)) => {
                let (vector, of) = self.vector_named(&base)?;
                Some(self.push(&base, (vector, of), &call, or.block(), span))
            }
            ("clear", None) => {
                let (vector, _) = self.vector_named(&base)?;
                self.plain_args("clear", &call.args(), 0, span);
                let zero = self.zero(vector.ty, span);
                Some(self.put_into(&base, zero, span))
            }
            ("pop" | "at", Some(or)) => {
                self.vector_named(&base)?;
                let help = "take it: `let x = v.pop() or { return }`, or `if let x = v.pop() { … }`";
                self.error(codes::UNUSED_VALUE, "this gives a value that nobody uses", span, "not used", help);
                self.block(or.block());
                Some(None)
            }
            _ => None,
        }
    }

    fn push(
        &mut self,
        base: &Tree,
        (vector, of): (Expr, Vector),
        call: &ast::CallExpr,
        or: Option<ast::Block>,
        span: Span,
    ) -> Option<StmtKind> {
        let values = self.plain_args("push", &call.args(), 1, span);
        let Some(values) = values else {
            self.block(or);
            return None;
        };
        let value = self.value(&values[0], of.element);
        let local = self.hidden(span, of.element);
        let new = make(ExprKind::Local(local), of.element, span);
        let length = self.length(vector.clone(), span);
        let condition = compared(Binary::Lt, length, number(of.bound, span), span);
        let longer = edited(vector, Edit::Push(Box::new(new)), span);
        let then = self.put_into(base, longer, span)?;
        let otherwise = self.block(or);
        let then = vec![Stmt { kind: then, span }];
        let kind = StmtKind::If { condition, likely: None, then, otherwise };
        Some(behind(vec![Stmt { kind: StmtKind::Let { local, value }, span }], kind, span))
    }

    /// `v.pop()`, `v.at(i)` where something may not be there.
    pub(super) fn vector_lookup(&mut self, call: &ast::CallExpr, span: Span) -> Option<Result<Lookup, ()>> {
        let (base, name) = super::statements::tree_method(self, call)?;
        if !matches!(name.text.as_str(), "pop" | "at") {
            return None;
        }
        let (vector, of) = self.vector_named(&base)?;
        let takes = usize::from(name.text == "at");
        let Some(values) = self.plain_args(&name.text, &call.args(), takes, span) else { return Some(Err(())) };
        let length = self.length(vector.clone(), span);
        if let Some(index) = values.first() {
            let value = self.array_index(index);
            let local = self.hidden(span, Type::UInt(32));
            let index = make(ExprKind::Local(local), Type::UInt(32), span);
            let before = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
            let condition = compared(Binary::Lt, index.clone(), length, span);
            let value = picked(vector, index, of.element, span);
            return Some(Ok(Lookup::Vector { before, condition, value, after: Vec::new() }));
        }
        let condition = compared(Binary::Gt, length.clone(), number(0, span), span);
        let last = ExprKind::Binary { op: Binary::SubWrap, a: Box::new(length), b: Box::new(number(1, span)) };
        let value = picked(vector.clone(), make(last, Type::UInt(32), span), of.element, span);
        let shorter = self.put_into(&base, edited(vector, Edit::Pop, span), span);
        let after = shorter.map(|kind| Stmt { kind, span }).into_iter().collect();
        Some(Ok(Lookup::Vector { before: Vec::new(), condition, value, after }))
    }

    /// `for x in v limit 8 { … }`: over the elements that there are when the loop begins.
    pub(super) fn for_vector(
        &mut self,
        names: &[Name],
        vector: Expr,
        limit: Expr,
        block: Option<ast::Block>,
        span: Span,
    ) -> StmtKind {
        let ty = vector.ty;
        let element = self.cx.program.vector(ty).map_or(Type::Unknown, |vector| vector.element);
        let whole = self.hidden(span, ty);
        let before = vec![Stmt { kind: StmtKind::Let { local: whole, value: vector }, span }];
        let vector = make(ExprKind::Local(whole), ty, span);
        let to = self.length(vector.clone(), span);
        let kind = self.scoped(|body| {
            let counter = body.hidden(span, Type::UInt(32));
            let local = body.only_name(names, span, element);
            let index = make(ExprKind::Local(counter), Type::UInt(32), span);
            let value = picked(vector, index, element, span);
            let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
            all.extend(body.block(block));
            StmtKind::For { local: counter, from: number(0, span), to, limit, body: all }
        });
        behind(before, kind, span)
    }
}
