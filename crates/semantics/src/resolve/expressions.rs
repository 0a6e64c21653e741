//! Expressions: from the tree to values with types.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree, NumberValue};

use super::body::{cast, make, unknown, Body, Place};
use super::Item;
use crate::program::*;
use crate::{codes, suggest, tree, types};

impl Body<'_> {
    /// An expression; `want` gives literals their type and is not checked here.
    pub fn expr(&mut self, expr: &Tree, want: Option<Type>) -> Expr {
        let span = self.span(expr);
        match expr {
            Tree::Name(_) => match tree::name_expr(self.file, expr) {
                Some(name) => self.name(&name, want),
                None => unknown(span),
            },
            Tree::Number(number) => match number.value() {
                Some(value) => self.number(value, span, want),
                None => unknown(span),
            },
            Tree::Duration(duration) => match duration.nanoseconds() {
                Some(value) => make(ExprKind::Number(value), Type::Duration, span),
                None => {
                    self.error(
                        codes::TOO_BIG,
                        "this duration does not fit 64 bits of nanoseconds",
                        span,
                        "too long",
                        "584 years are the limit",
                    );
                    unknown(span)
                }
            },
            Tree::Bool(value) => make(ExprKind::Number(u64::from(value.value())), Type::Bool, span),
            Tree::Octets(_) => {
                let help = "a new message is `message(\"text\")`";
                self.error(codes::MISMATCH, "octets are no value by themselves", span, "octets", help);
                unknown(span)
            }
            Tree::Paren(paren) => match paren.all().as_slice() {
                [inner] => self.expr(inner, want),
                [] => unknown(span),
                _ => {
                    let help = "a tuple stands only for the keys and values of a map: `m[(a, b)]`";
                    self.error(codes::MISMATCH, "a tuple is no value", span, "several values", help);
                    unknown(span)
                }
            },
            Tree::Vector(vector) => self.vector(vector, want, span),
            Tree::Unary(unary) => self.unary(unary, want, span),
            Tree::Binary(binary) => self.binary(binary, want, span),
            Tree::Cast(cast) => self.cast(cast, span),
            Tree::Call(call) => self.call(call, want, span),
            Tree::Field(field) => self.field(field, span),
            Tree::Index(index) => self.index(index, span),
            Tree::Record(record) => self.record(record, span),
            Tree::Running(running) => match running.timer().and_then(|timer| self.timer(&timer)) {
                Some(timer) => make(ExprKind::Running(timer), Type::Bool, span),
                None => unknown(span),
            },
            Tree::Left(left) => {
                let quota = left.quota().and_then(|quota| self.quota(&quota));
                quota.map_or(unknown(span), |quota| make(ExprKind::Left(quota), Type::UInt(32), span))
            }
            Tree::If(inner) => self.if_value(inner, want, span),
            Tree::Match(inner) => self.match_value(inner, want, span),
            Tree::Range(_) => {
                self.error(
                    codes::MISMATCH,
                    "a range is no value",
                    span,
                    "a range",
                    "it stands in `for i in a .. b limit 8`",
                );
                unknown(span)
            }
            Tree::Bind(_) | Tree::Hole(_) => unknown(span),
        }
    }

    pub(super) fn timer(&mut self, expr: &Tree) -> Option<StateRef> {
        self.state_of(expr, "a timer", |kind| matches!(kind, MemberKind::Timer))
    }

    pub(super) fn quota(&mut self, expr: &Tree) -> Option<StateRef> {
        self.state_of(expr, "a quota", |kind| matches!(kind, MemberKind::Quota { .. }))
    }

    fn number(&mut self, value: NumberValue, span: Span, want: Option<Type>) -> Expr {
        let (value, natural) = match value {
            NumberValue::Plain(value) => return self.plain(value, span, want),
            NumberValue::Host(host) => (u64::from(host), 32),
            NumberValue::Station(station) => (station, 48),
            NumberValue::HostPrefix(host, prefix) => return self.prefix(host, prefix, span, want),
            NumberValue::Host6(host) => return self.host6(host, None, span, want),
            NumberValue::Host6Prefix(host, prefix) => return self.host6(host, Some(prefix), span, want),
        };
        let ty = match want {
            Some(ty @ Type::UInt(width)) if width >= natural => ty,
            _ => Type::UInt(natural),
        };
        make(ExprKind::Number(value), ty, span)
    }

    /// A number takes the type that is wanted of it; without one it is a `u32`, or a `u64` if it must.
    fn plain(&mut self, value: u64, span: Span, want: Option<Type>) -> Expr {
        let ty = match want {
            Some(ty @ (Type::UInt(_) | Type::Seq(_))) => ty,
            Some(ty @ (Type::Duration | Type::Instant)) => {
                let what = self.show(ty);
                self.error(
                    codes::MISMATCH,
                    format!("expected {what}, found a number"),
                    span,
                    "of what unit?",
                    "write a unit: `20 ms`, `1 s`",
                );
                return unknown(span);
            }
            _ if value > types::mask(32) => Type::UInt(64),
            _ => Type::UInt(32),
        };
        let width = types::width(&self.cx.program, ty).unwrap_or(64);
        if value > types::mask(width) {
            let text = format!("{value} does not fit {}", self.show(ty));
            let help = format!("the largest is {}; use a wider type", types::mask(width));
            self.error(codes::TOO_BIG, text, span, "too big", &help);
            return make(ExprKind::Number(value & types::mask(width)), Type::Unknown, span);
        }
        make(ExprKind::Number(value), ty, span)
    }

    /// `10.0.0.1/24`, where a record of a `u32` and a `u8` is asked for.
    fn prefix(&mut self, host: u32, prefix: u8, span: Span, want: Option<Type>) -> Expr {
        let fits = |record: &Record| {
            let types: Vec<Type> = record.fields.iter().map(|field| field.ty).collect();
            types == [Type::UInt(32), Type::UInt(8)]
        };
        let wanted = match want {
            Some(Type::Record(id)) => Some(id),
            Some(Type::Unknown) => return unknown(span),
            // Without a wish it is the library's record.
            _ => match self.cx.item(self.file, "Ipv4Cidr") {
                Some(Item::Record(id)) => Some(id),
                _ => None,
            },
        };
        let record = wanted.filter(|id| self.cx.program.records.get(id.index()).is_some_and(fits));
        let Some(record) = record else {
            let help = "it stands where a record of a `u32` and a `u8` is asked for";
            self.error(codes::MISMATCH, "an address with a length is no value here", span, "a pair", help);
            return unknown(span);
        };
        let part = |value: u64, width| make(ExprKind::Number(value), Type::UInt(width), span);
        let fields = vec![part(u64::from(host), 32), part(u64::from(prefix), 8)];
        make(ExprKind::Record { record, fields }, Type::Record(record), span)
    }

    fn cast(&mut self, expr: &ast::CastExpr, span: Span) -> Expr {
        let to = self.cx.ty(self.file, expr.ty());
        let Some(value) = expr.value() else { return unknown(span) };
        let from = self.expr(&value, None);
        if from.ty == Type::Unknown || to == Type::Unknown {
            return make(from.kind, to, span);
        }
        let (Some(a), Some(b)) = (types::width(&self.cx.program, from.ty), types::width(&self.cx.program, to)) else {
            return self.no_cast(from, to, span);
        };
        let numbers = |ty| matches!(ty, Type::UInt(_) | Type::Seq(_) | Type::Duration | Type::Instant);
        if from.ty == Type::Bool && matches!(to, Type::UInt(_)) {
            let number = |value| Box::new(make(ExprKind::Number(value), to, span));
            let kind = ExprKind::If { condition: Box::new(from), then: number(1), otherwise: number(0) };
            return make(kind, to, span);
        }
        if !(numbers(from.ty) || matches!(from.ty, Type::Enum(_))) || !numbers(to) {
            return self.no_cast(from, to, span);
        }
        let kind = match (expr.is_wrapping(), a <= b) {
            (_, true) => CastKind::Widen,
            (true, false) => CastKind::Truncate,
            (false, false) => CastKind::Checked,
        };
        if kind == CastKind::Widen && from.ty == to {
            return Expr { span, ..from };
        }
        let cast = cast(from, to, kind);
        match crate::constants::eval(&self.cx.program, &cast) {
            Err(crate::constants::Unknown::Overflow) => {
                let text = format!("this constant does not fit {}", self.show(to));
                self.error(codes::TOO_BIG, text, span, "too big", "write `as%` to keep the low bits");
                unknown(span)
            }
            _ => Expr { span, ..cast },
        }
    }

    fn no_cast(&mut self, from: Expr, to: Type, span: Span) -> Expr {
        let text = format!("{} cannot become {}", self.show(from.ty), self.show(to));
        let help = match to {
            Type::Enum(_) => "use `match`: not every number has a name",
            Type::Bool => "compare it: `x != 0`",
            _ => "casts are between numbers of all kinds, and from an enum to its number",
        };
        self.error(codes::NO_CAST, text, span, "no such cast", help);
        unknown(span)
    }

    fn record(&mut self, expr: &ast::RecordExpr, span: Span) -> Expr {
        let Some(name) = expr.name().map(|name| Name { text: name.text(), span: name.span(self.file) }) else {
            return unknown(span);
        };
        let id = match self.cx.item(self.file, &name.text) {
            Some(Item::Record(id)) => id,
            Some(Item::Alias(index)) => match self.cx.alias(index, &name) {
                Type::Record(id) => id,
                _ => return unknown(span),
            },
            _ => {
                self.cx
                    .unknown(codes::UNKNOWN_TYPE, "a record", &name, self.file, |item| matches!(item, Item::Record(_)));
                return unknown(span);
            }
        };
        let fields = self.cx.program.records[id.index()].fields.clone();
        let given = self.given_fields(&expr.fields());
        let values = self.record_values(&name.text, "record", &fields, given, span);
        make(ExprKind::Record { record: id, fields: values }, Type::Record(id), span)
    }

    /// `{ left: 1, right }` as names and expressions; the short form names the value.
    pub(super) fn given_fields(&mut self, fields: &[ast::RecordExprField]) -> Vec<(Name, Option<Tree>)> {
        let named = fields.iter().filter_map(|field| Some((tree::some_name(self.file, field.name())?, field.value())));
        named.collect()
    }

    /// Exactly one value for each field, in the order of the declaration.
    pub(super) fn record_values(
        &mut self,
        owner: &str,
        what: &str,
        fields: &[Field],
        given: Vec<(Name, Option<Tree>)>,
        span: Span,
    ) -> Vec<Expr> {
        let mut values: Vec<Option<Expr>> = vec![None; fields.len()];
        let mut misspelt = false;
        for (name, value) in given {
            let Some(index) = fields.iter().position(|field| field.name.text == name.text) else {
                let names = fields.iter().map(|field| field.name.text.as_str());
                let text = format!("{what} `{owner}` has no field `{}`", name.text);
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
                diagnostic.helps.extend(suggest::help(&name.text, names));
                self.report(diagnostic);
                value.iter().for_each(|value| drop(self.expr(value, None)));
                misspelt = true;
                continue;
            };
            let found = match &value {
                Some(value) => self.value(value, fields[index].ty),
                None => {
                    let found = self.name(&name, Some(fields[index].ty));
                    self.coerce(found, fields[index].ty)
                }
            };
            if values[index].replace(found).is_some() {
                let text = format!("field `{}` is given twice", name.text);
                self.error(codes::DEFINED_TWICE, text, name.span, "again here", "leave one of them out");
            }
        }
        let missing: Vec<&str> = fields
            .iter()
            .zip(&values)
            .filter(|(_, value)| value.is_none())
            .map(|(field, _)| field.name.text.as_str())
            .collect();
        if !missing.is_empty() && !misspelt {
            let text = format!("{what} `{owner}` needs a value for {}", suggest::list(&missing));
            let help = format!("add `{}: …`", missing[0]);
            self.error(codes::FIELDS_MISSING, text, span, "missing here", &help);
        }
        values.into_iter().map(|value| value.unwrap_or(unknown(span))).collect()
    }

    /// `a.b`
    pub(super) fn field(&mut self, expr: &ast::FieldExpr, span: Span) -> Expr {
        let (Some(base), Some(name)) = (expr.base(), tree::some_name(self.file, expr.name())) else {
            return unknown(span);
        };
        if let Some(found) = self.contained_part(&base, &name) {
            return found;
        }
        if let Some(owner) = tree::name_expr(self.file, &base) {
            if let Some(found) = self.of_name(&owner, &name, span) {
                return found;
            }
        }
        if let Some(part) = self.flow_part(&base, &name, span) {
            return part;
        }
        if let Some(found) = self.below_at(&base, &name, None, span) {
            return found;
        }
        let base = self.expr(&base, None);
        match base.ty {
            Type::Record(id) => self.record_field(base, id, &name, span),
            Type::Object(_) => match self.member_of(base, name.clone()) {
                Some((state, name)) => self.state_value(state, &name),
                None => unknown(span),
            },
            Type::Unknown => unknown(span),
            _ => {
                let text = format!("{} has no field `{}`", self.show(base.ty), name.text);
                self.error(
                    codes::UNKNOWN_FIELD,
                    text,
                    name.span,
                    "unknown",
                    "only records, objects, messages and flows have parts",
                );
                unknown(span)
            }
        }
    }

    pub(super) fn record_field(&mut self, base: Expr, id: RecordId, name: &Name, span: Span) -> Expr {
        let Some(record) = self.cx.program.records.get(id.index()) else { return unknown(span) };
        match record.fields.iter().position(|field| field.name.text == name.text) {
            Some(index) => {
                let ty = record.fields[index].ty;
                if record.vector.is_some() {
                    return self.length(base, span);
                }
                make(ExprKind::RecordField { record: Box::new(base), field: index as u32 }, ty, span)
            }
            None => {
                let names: Vec<&str> = record.fields.iter().map(|field| field.name.text.as_str()).collect();
                let text = format!("record `{}` has no field `{}`", record.name.text, name.text);
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
                diagnostic.helps.extend(suggest::help(&name.text, names));
                self.report(diagnostic);
                unknown(span)
            }
        }
    }

    /// `below.mtu`, `Kind.Ask`, `msg.ttl`, `device.mac`: where the name in front decides.
    fn of_name(&mut self, owner: &Name, name: &Name, span: Span) -> Option<Expr> {
        if let Some(local) = self.local(&owner.text) {
            return (self.local_type(local) == Type::Message).then(|| self.message_part(local, name, span));
        }
        if self.find_state(&owner.text).is_some() {
            return None;
        }
        if self.devices.contains(&owner.text) {
            return Some(self.of_device(owner, name, span));
        }
        match owner.text.as_str() {
            "below" => return Some(self.of_below(name, span)),
            "above" if name.text == "layout" => return Some(self.above_layout(span)),
            "above" => {
                let text = "a layer reads nothing of the layer above";
                self.error(codes::NOTHING_ABOVE, text, span, "above", "values are published upwards: read `below.…`");
                return Some(unknown(span));
            }
            _ => {}
        }
        let Some(Item::Enum(id)) = self.cx.item(self.file, &owner.text) else { return None };
        if let Some(value) = self.data_value(id, name, None, span) {
            return Some(value);
        }
        let item = &self.cx.program.enums[id.index()];
        if let Some((_, number)) = item.names.iter().find(|(known, _)| known.text == name.text) {
            return Some(make(ExprKind::Number(*number), Type::Enum(id), span));
        }
        let names: Vec<&str> = item.names.iter().map(|(known, _)| known.text.as_str()).collect();
        let text = format!("enum `{}` has no `{}`", owner.text, name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names));
        self.report(diagnostic);
        Some(unknown(span))
    }

    /// `above.layout`: known when the stack is put together, so that a layer can compare it with its peer's.
    fn above_layout(&mut self, span: Span) -> Expr {
        if self.layer.is_none() || matches!(self.place, Place::Constant | Place::Argument) {
            let help = "what is above is known to the code of layers only";
            self.error(codes::NOT_CONSTANT, "`above.layout` is not known here", span, "not constant", help);
            return unknown(span);
        }
        make(ExprKind::AboveLayout, Type::UInt(32), span)
    }

    fn of_device(&mut self, owner: &Name, name: &Name, span: Span) -> Expr {
        let ty = match name.text.as_str() {
            "mac" => Type::UInt(48),
            "mtu" => Type::UInt(32),
            _ => {
                let text = format!("a device has no `{}`", name.text);
                self.error(codes::UNKNOWN_FIELD, text, name.span, "unknown", "it has `mac` and `mtu`");
                return unknown(span);
            }
        };
        let name = Name { text: format!("{}.{}", owner.text, name.text), span };
        make(ExprKind::Below { name, flow: None, index: None }, ty, span)
    }

    /// `below.name`: what the layers below publish.
    pub(super) fn below(&mut self, name: &Name, flow: Option<Box<Expr>>, index: Option<Box<Expr>>, span: Span) -> Expr {
        if self.layer.is_none() || matches!(self.place, Place::Constant | Place::Argument) {
            let text = format!("`below.{}` is not known here", name.text);
            self.error(
                codes::NOT_CONSTANT,
                text,
                span,
                "not constant",
                "what is below is known to the code of layers only",
            );
            return unknown(span);
        }
        let own =
            self.this_layer().and_then(|layer| layer.publishes.iter().find(|p| p.name.text == name.text).map(|p| p.ty));
        let ty = match name.text.as_str() {
            "credit" | "mtu" => Some(Type::UInt(32)),
            "mac" => Some(Type::UInt(48)),
            text => own.or_else(|| self.cx.published.get(text).copied()),
        };
        let ty = ty.unwrap_or_else(|| {
            self.misspelt_published(name);
            Type::Unknown
        });
        make(ExprKind::Below { name: name.clone(), flow, index }, ty, span)
    }

    /// A layer may be checked without those that will stand below it, so only a slip of the hand is reported here; each
    /// stack tells whether the value is there.
    fn misspelt_published(&mut self, name: &Name) {
        let known = self.cx.published.keys().map(String::as_str).chain(["mtu", "mac", "credit"]);
        if let Some(near) = suggest::nearest(&name.text, known) {
            let help = format!("did you mean `{near}`?");
            let text = format!("no layer here publishes `{}`", name.text);
            self.error(codes::UNKNOWN_PUBLISHED, text, name.span, "unknown", &help);
        }
    }

    /// `a[i]`
    fn index(&mut self, expr: &ast::IndexExpr, span: Span) -> Expr {
        let Some(base) = expr.base() else { return unknown(span) };
        let is_array = |kind: &MemberKind| matches!(kind, MemberKind::Array { .. });
        if let Some(name) = tree::name_expr(self.file, &base) {
            if self.object_class(&name.text).is_some() {
                let help = format!(
                    "write `if let e = {}[key] {{ … }}`, or `let e = {}[key] or new {{ … }}`",
                    name.text, name.text
                );
                self.error(codes::WRONG_STATE, "an object may not be there", span, "may be missing", &help);
                return unknown(span);
            }
        }
        if let Some((vector, _)) = self.vector_named(&base) {
            return self.pick(vector, expr, span);
        }
        if self.is_unknown(&base) {
            return unknown(span);
        }
        let Some(array) = self.state_of(&base, "an array", is_array) else { return unknown(span) };
        let ty = match self.member(array.scope, array.member).map(|member| &member.kind) {
            Some(MemberKind::Array { ty, .. }) => *ty,
            _ => Type::Unknown,
        };
        let indices = expr.indices();
        let [index] = indices.as_slice() else {
            self.error(codes::WRONG_COUNT, "an array has one index", span, "expected one", "write `a[i]`");
            return unknown(span);
        };
        let index = Box::new(self.array_index(index));
        make(ExprKind::Element { array, index }, ty, span)
    }

    /// An index: any number of up to 32 bits.
    pub(super) fn array_index(&mut self, index: &Tree) -> Expr {
        self.value(index, Type::UInt(32))
    }

    fn if_value(&mut self, expr: &ast::If, want: Option<Type>, span: Span) -> Expr {
        if expr.let_condition().is_some() {
            let help = "write it as a statement, and set a `let` in each branch";
            self.error(codes::MISMATCH, "`if let` is no value", span, "a statement", help);
            return unknown(span);
        }
        let condition = self.some_value(expr.condition(), Type::Bool, span);
        let then = expr.then().and_then(|block| tree::block_value(&block));
        let other = match expr.else_if() {
            Some(inner) => Some(Tree::If(inner)),
            None => expr.else_block().and_then(|block| tree::block_value(&block)),
        };
        let (Some(then), Some(other)) = (then, other) else {
            let help = "write one value in each branch: `if c { a } else { b }`";
            self.error(codes::NO_VALUE, "this `if` gives no value on every path", span, "a value is wanted here", help);
            return unknown(span);
        };
        let (then, otherwise) = self.pair(&then, &other, want);
        let ty = then.ty;
        make(
            ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) },
            ty,
            span,
        )
    }

    /// Two values of one type: a literal takes that of the other.
    pub(super) fn pair(&mut self, a: &Tree, b: &Tree, want: Option<Type>) -> (Expr, Expr) {
        let (a, b) = if self.is_flexible(a) && !self.is_flexible(b) {
            let b = self.expr(b, want);
            let hint = if b.ty == Type::Unknown { want } else { Some(b.ty) };
            (self.expr(a, hint), b)
        } else {
            let a = self.expr(a, want);
            let hint = if a.ty == Type::Unknown || !self.is_flexible(b) { want } else { Some(a.ty) };
            let b = self.expr(b, hint);
            (a, b)
        };
        self.unify(a, b)
    }

    /// Widens the narrower of two values.
    pub(super) fn unify(&mut self, a: Expr, b: Expr) -> (Expr, Expr) {
        if types::widens(a.ty, b.ty) {
            let ty = b.ty;
            return (cast(a, ty, CastKind::Widen), b);
        }
        let ty = a.ty;
        let b = self.coerce(b, ty);
        (a, b)
    }
}
