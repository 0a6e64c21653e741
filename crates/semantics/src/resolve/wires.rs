//! Wires by themselves: fields, computed values, constraints, choices. What they carry is checked with each bundle.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use super::body::Body;
use super::operators::operator;
use super::{items, Context};
use crate::program::*;
use crate::{codes, constants, suggest, tree, types};

pub(super) fn wires(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.wires {
        let big = item.byte_order() != Some(ast::ByteOrder::Little);
        let mut work = Work { cx: &mut *cx, file: *file, big, fields: Vec::new(), element: None };
        let items = work.members(&item.members());
        cx.program.wires.push(Wire { name: items::title(*file, item.name()), big, items });
    }
}

/// A field that was met already, on the way to here.
#[derive(Clone)]
pub(super) struct Met {
    pub name: Name,
    width: u8,
    tag: bool,
    /// A size or checksum decides it.
    pub computed: bool,
}

pub(super) struct Work<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    big: bool,
    /// By number; those of arms that were left have a name that no text can hold.
    pub fields: Vec<Met>,
    /// Within `each block in Layer.blocks`: what stands for an element.
    pub element: Option<Element>,
}

/// `block`, and the vector that it is an element of.
#[derive(Clone)]
pub(super) struct Element {
    pub name: String,
    /// What elements of the lists around are called.
    pub around: Vec<String>,
    pub layer: Name,
    pub variant: Option<Name>,
    pub vector: Name,
}

impl Work<'_> {
    pub(super) fn members(&mut self, members: &[ast::WireMember]) -> Vec<WireItem> {
        let mut items = Vec::new();
        for member in members {
            match member {
                ast::WireMember::Field(field) => {
                    let field = self.field(field);
                    items.extend(field.map(WireItem::Field));
                }
                ast::WireMember::Where(constraint) => self.constraints(constraint, &mut items),
                ast::WireMember::Trim(trim) => self.trim(trim, &mut items),
                ast::WireMember::Choice(choice) => items.extend(self.choice(choice)),
                ast::WireMember::Optional(part) => items.extend(self.optional(part)),
                ast::WireMember::Options(options) => items.extend(self.options(options)),
                ast::WireMember::Each(each) => items.extend(self.each(each)),
                ast::WireMember::Reach(reach) => items.extend(self.reach(reach)),
            }
        }
        items
    }

    fn field(&mut self, field: &ast::WireField) -> Option<WireField> {
        let name = tree::some_name(self.file, field.name())?;
        if let Some(first) = self.fields.iter().find(|first| first.name.text == name.text) {
            let diagnostic = items::twice("field", &name, &first.name.clone());
            self.cx.report(diagnostic);
        }
        let ty = self.cx.ty(self.file, field.ty());
        let width = match ty {
            Type::UInt(width) | Type::Seq(width) => width,
            Type::Bool => 1,
            Type::Enum(id) => self.cx.program.enums[id.index()].width,
            Type::Unknown => return None,
            other => {
                let text = format!("{} is no field of a packet", self.cx.show(other));
                self.cx.error(codes::NO_SCALAR, text, name.span, "expected `uN`", "write `name: u16 = …`");
                return None;
            }
        };
        let big = field.byte_order().map_or(self.big, |order| order == ast::ByteOrder::Big);
        if !big && width > 8 && width % 8 != 0 {
            let text = format!("{width} bits have no byte order");
            self.cx.error(codes::WIRE_WIDTH, text, name.span, "little endian", "make it whole octets, or `big`");
        }
        let tag = field.value().is_none() && !field.is_unread();
        let index = self.fields.len() as u32;
        self.fields.push(Met { name: name.clone(), width, tag, computed: false });
        let value = match field.value() {
            None if tag => WireValue::Tag,
            None => WireValue::Unread,
            Some(value) if field.is_unread() => {
                if self.number(&value).is_some_and(|number| number != 0) {
                    let place = value.span(self.file);
                    self.cx.error(
                        codes::WIRE_VALUE,
                        "an unread field is written as zero",
                        place,
                        "not zero",
                        "write `= 0 unread`",
                    );
                }
                if field.is_preserved() {
                    WireValue::Preserved
                } else {
                    WireValue::Unread
                }
            }
            Some(value) => self.value(&value, &name, width)?,
        };
        self.fields[index as usize].computed = matches!(value, WireValue::Computed(_));
        Some(WireField { index, name, width, big, value, constraints: Vec::new(), trims: None })
    }

    /// Members that are not in every packet: not seen behind them; their numbers stay taken.
    pub(super) fn hidden(&mut self, members: &[ast::WireMember]) -> Vec<WireItem> {
        let before = self.fields.len();
        let items = self.members(members);
        for field in &mut self.fields[before..] {
            field.name.text = format!(" {}", field.name.text);
        }
        items
    }

    /// The number that an expression of constants stands for; no report.
    pub(super) fn number(&mut self, value: &Tree) -> Option<u64> {
        let before = self.cx.out.len();
        let expr = Body::constant(self.cx, self.file).expr(value, None);
        let number = constants::eval(&self.cx.program, &expr).ok().and_then(|value| value.scalar());
        self.cx.out.truncate(before);
        number.filter(|_| expr.ty != Type::Unknown)
    }

    fn value(&mut self, value: &Tree, name: &Name, width: u8) -> Option<WireValue> {
        let value = tree::unparen(value);
        let span = value.span(self.file);
        if let Some(number) = self.number(&value) {
            if number > types::mask(width) {
                let text = format!("{number} does not fit `{}: u{width}`", name.text);
                let help = format!("the largest is {}", types::mask(width));
                self.cx.error(codes::WIRE_CONSTANT, text, span, "too big", &help);
            }
            return Some(WireValue::Constant(number));
        }
        if let Some((path, times, plus)) = self.scaled(&value, 1, 0) {
            return self.header(&path, times, plus, span);
        }
        self.expr(&value).map(WireValue::Computed)
    }

    /// `Layer.field * times + plus`
    fn scaled(&mut self, value: &Tree, times: u64, plus: u64) -> Option<(Vec<Name>, u64, u64)> {
        let value = tree::unparen(value);
        match &value {
            Tree::Field(_) => Some((self.path(&value)?, times, plus)),
            Tree::Name(name) if self.element.as_ref().is_some_and(|element| element.name == name.text()) => {
                Some((self.path(&value)?, times, plus))
            }
            Tree::Binary(binary) => {
                let (left, right) = (binary.left()?, binary.right()?);
                let (inner, number) = match (self.number(&left), self.number(&right)) {
                    (Some(number), None) => (right, number),
                    (None, Some(number)) => (left, number),
                    _ => return None,
                };
                match binary.op()? {
                    BinaryOp::Add => self.scaled(&inner, times, plus.checked_add(number.checked_mul(times)?)?),
                    BinaryOp::Mul if plus == 0 || times == 1 => {
                        let (path, inner_times, inner_plus) = self.scaled(&inner, 1, 0)?;
                        let scale = number.checked_mul(times)?;
                        Some((path, inner_times.checked_mul(scale)?, inner_plus.checked_mul(scale)?.checked_add(plus)?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn path(&self, value: &Tree) -> Option<Vec<Name>> {
        match value {
            Tree::Name(_) => Some(vec![tree::name_expr(self.file, value)?]),
            Tree::Field(field) => {
                let mut path = self.path(&field.base()?)?;
                path.push(tree::some_name(self.file, field.name())?);
                Some(path)
            }
            _ => None,
        }
    }

    pub(super) fn header(
        &mut self,
        path: &[Name],
        times: u64,
        plus: u64,
        span: mokume_base::Span,
    ) -> Option<WireValue> {
        if let Some(value) = self.of_element(path, times, plus) {
            return Some(value);
        }
        if self.is_of_list_around(path) {
            return None;
        }
        let (layer, variant, rest) = match path {
            [layer, variant, rest @ ..] if !rest.is_empty() && is_alternative(variant) => {
                (layer, Some(variant.clone()), rest)
            }
            [layer, rest @ ..] => (layer, None, rest),
            [] => return None,
        };
        let field = match rest {
            [field] => field.clone(),
            [vector, length] if length.text == "length" => {
                Name { text: format!("{}.length", vector.text), span: vector.span.to(length.span) }
            }
            _ => {
                let help = "write `Layer.field`, `Layer.Alternative.field` or `Layer.vector.length`";
                self.cx.error(codes::WIRE_FIELD, "this names no header field", span, "too long", help);
                return None;
            }
        };
        Some(WireValue::Header { layer: layer.clone(), variant, field, times, plus })
    }

    /// Fields before this one, numbers, sizes and checksums.
    pub(super) fn expr(&mut self, value: &Tree) -> Option<WireExpr> {
        let value = tree::unparen(value);
        let span = value.span(self.file);
        if let Some(number) = self.number(&value) {
            return Some(WireExpr::Number(number));
        }
        match &value {
            Tree::Name(_) => {
                let name = tree::name_expr(self.file, &value)?;
                if let Some(index) = self.fields.iter().position(|field| field.name.text == name.text) {
                    return Some(WireExpr::Field(index as u32));
                }
                let known: Vec<String> = self.fields.iter().map(|field| field.name.text.clone()).collect();
                let text = format!("there is no field `{}` in front of this", name.text);
                let mut diagnostic = Diagnostic::error(codes::WIRE_EARLIER, text)
                    .at(name.span, "not known yet")
                    .note("a packet is read from front to back");
                diagnostic.helps.extend(suggest::help(&name.text, known.iter().map(String::as_str)));
                self.cx.report(diagnostic);
                None
            }
            Tree::Call(call) => self.measure(call, span),
            Tree::Binary(binary) => {
                let op = binary.op().and_then(operator);
                let (left, right) = (binary.left()?, binary.right()?);
                let allowed = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div];
                let Some(op) = op.filter(|op| allowed.contains(op)) else {
                    let help = "write `+ - * /`";
                    self.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
                    return None;
                };
                let (a, b) = (self.expr(&left)?, self.expr(&right)?);
                Some(WireExpr::Binary { op, a: Box::new(a), b: Box::new(b) })
            }
            _ => {
                let help = "write a number, `Layer.field`, an earlier field, `size(packet)` or `checksum(header)`";
                self.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
                None
            }
        }
    }

    fn measure(&mut self, call: &ast::CallExpr, span: mokume_base::Span) -> Option<WireExpr> {
        let name = call.callee().and_then(|callee| tree::name_expr(self.file, &callee))?;
        let args = call.args();
        let of = args.first().and_then(|arg| arg.value()).and_then(|value| tree::name_expr(self.file, &value));
        let found = match (name.text.as_str(), of.as_ref().map(|of| of.text.as_str())) {
            ("size", Some("packet")) => Some(WireExpr::PacketSize),
            ("size", Some("header")) => Some(WireExpr::HeaderSize),
            ("size", Some("payload")) => Some(WireExpr::PayloadSize),
            ("checksum", Some("header")) => Some(WireExpr::HeaderChecksum),
            ("checksum", Some("packet")) => Some(WireExpr::PacketChecksum),
            _ => None,
        };
        if found.is_none() {
            let help =
                "there is `size(packet)`, `size(header)`, `size(payload)`, `checksum(header)`, `checksum(packet)`";
            self.cx.error(codes::WIRE_VALUE, "a wire does not compute this", span, "unknown here", help);
        }
        found
    }

    /// `where a >= b and …`: belongs to the field in front of it.
    fn constraints(&mut self, constraint: &ast::WireWhere, items: &mut [WireItem]) {
        let Some(condition) = constraint.condition() else { return };
        let mut list = Vec::new();
        self.comparisons(&condition, &mut list);
        match items.last_mut() {
            Some(WireItem::Field(field)) => field.constraints.extend(list),
            _ => {
                let place = constraint.span(self.file);
                let help = "write it behind the field that it is about";
                self.cx.error(codes::WIRE_VALUE, "`where` stands behind a field", place, "no field in front", help);
            }
        }
    }

    pub(super) fn comparisons(&mut self, condition: &Tree, list: &mut Vec<(WireExpr, Binary, WireExpr)>) {
        let condition = tree::unparen(condition);
        let span = condition.span(self.file);
        let parts = match &condition {
            Tree::Binary(binary) => binary.op().zip(binary.left()).zip(binary.right()),
            _ => None,
        };
        use Binary::*;
        match parts {
            Some(((BinaryOp::And, left), right)) => {
                self.comparisons(&left, list);
                self.comparisons(&right, list);
            }
            Some(((op, left), right)) if matches!(operator(op), Some(Eq | Ne | Lt | Le | Gt | Ge)) => {
                let (a, b) = (self.expr(&left), self.expr(&right));
                if let (Some(a), Some(op), Some(b)) = (a, operator(op), b) {
                    list.push((a, op, b));
                }
            }
            _ => {
                let help = "write `a >= b`, several with `and`";
                self.cx.error(codes::WIRE_VALUE, "a constraint compares two values", span, "no comparison", help);
            }
        }
    }

    fn trim(&mut self, trim: &ast::WireTrim, items: &mut [WireItem]) {
        let Some(to) = trim.to() else { return };
        let place = to.span(self.file);
        let (to, plus) = self.trimmed(&tree::unparen(&to));
        let name = tree::name_expr(self.file, &to).map(|name| name.text);
        for item in items.iter_mut() {
            let WireItem::Field(field) = item else { continue };
            if Some(&field.name.text) == name.as_ref() {
                field.trims = Some(plus);
                return;
            }
        }
        let help = "name a field in front of this: `trim packet to length`, or `length + 40`";
        self.cx.error(codes::WIRE_TRIM, "the packet is trimmed to a field of it", place, "no such field", help);
    }

    /// `length`, `length + 40`
    fn trimmed(&mut self, to: &Tree) -> (Tree, u64) {
        if let Tree::Binary(binary) = to {
            let parts = (binary.op(), binary.left(), binary.right());
            if let (Some(BinaryOp::Add), Some(left), Some(right)) = parts {
                if let Some(plus) = self.number(&right).filter(|plus| *plus <= u64::from(u32::MAX)) {
                    return (tree::unparen(&left), plus);
                }
            }
        }
        (to.clone(), 0)
    }

    fn choice(&mut self, choice: &ast::WireChoice) -> Option<WireItem> {
        let name = tree::some_name(self.file, choice.field())?;
        let span = name.span;
        let on = self.fields.iter().position(|field| field.name.text == name.text);
        let Some(on) = on.filter(|on| self.fields[*on].tag) else {
            let text = match on {
                Some(_) => format!("`{}` has a value already, so nothing is left to choose", name.text),
                None => format!("there is no field `{}` in front of this", name.text),
            };
            let help = format!("write it in front, without a value: `{}: u8`", name.text);
            self.cx.error(codes::WIRE_TAG, text, name.span, "no tag", &help);
            return None;
        };
        let width = self.fields[on].width;
        let mut tags: Vec<(u64, mokume_base::Span)> = Vec::new();
        let mut arms = Vec::new();
        for arm in choice.arms() {
            arms.extend(self.arm(&arm, width, &mut tags));
        }
        Some(WireItem::Choice { on: on as u32, arms, span })
    }

    fn arm(&mut self, arm: &ast::WireArm, width: u8, tags: &mut Vec<(u64, mokume_base::Span)>) -> Option<WireArm> {
        let value = arm.value()?;
        let span = value.span(self.file);
        let tag = self.number(&value);
        if tag.is_none() {
            self.cx.error(
                codes::NOT_CONSTANT,
                "an arm begins with a number",
                span,
                "not constant",
                "write `1 => Data { … }`",
            );
        }
        if let Some((tag, (_, first))) = tag.and_then(|tag| Some((tag, tags.iter().find(|(known, _)| *known == tag)?)))
        {
            let diagnostic = Diagnostic::error(codes::WIRE_TAG_TWICE, format!("two arms for {tag}"))
                .at(span, "again here")
                .label(*first, "first here")
                .help("give each alternative a number of its own");
            self.cx.report(diagnostic);
        }
        if tag.is_some_and(|tag| tag > types::mask(width)) {
            let text = format!("{} does not fit u{width}", tag.unwrap_or(0));
            self.cx.error(codes::WIRE_CONSTANT, text, span, "too big", "use a wider field for the choice");
        }
        tags.extend(tag.map(|tag| (tag, span)));
        let path = arm.alternative().map_or(Vec::new(), |path| tree::parts(self.file, &path));
        let selects = match path.as_slice() {
            [variant] => Some((None, variant.clone())),
            [layer, variant] => Some((Some(layer.clone()), variant.clone())),
            _ => None,
        };
        let items = self.hidden(&arm.members());
        let place = path.last().map_or(span, |name| name.span);
        Some(WireArm { tag: tag.unwrap_or(0), selects, items, span: place })
    }
}

fn is_alternative(name: &Name) -> bool {
    name.text.starts_with(|first: char| first.is_uppercase())
}
