//! Bodies as text: an operation a line; constants without a name stand where they are used.

use std::collections::HashMap;

use super::names::{self, ident, path};
use super::print::source_mark;
use crate::*;

/// The lines of a canonical body, entry first and without a label.
pub fn body(automaton: &Automaton, body: &Body, results: &[Type]) -> String {
    let mut out = String::new();
    for (index, block) in body.blocks.iter().enumerate() {
        let mut printer = Printer { automaton, body, inline: HashMap::new() };
        if index > 0 {
            out += &format!("  {}\n", printer.head(block));
        }
        for op in &block.ops {
            if let Some(line) = printer.op(op) {
                out += &format!("    {line}{}\n", source_mark(op.source));
            }
        }
        out += &format!("    {}{}\n", printer.end(&block.end, results), mark(block.mark));
    }
    out
}

/// ` #3:1`: the second end of source 3.
fn mark(mark: Option<Mark>) -> String {
    mark.map_or(String::new(), |mark| format!(" #{}:{}", mark.source.0, mark.nth))
}

struct Printer<'a> {
    automaton: &'a Automaton,
    body: &'a Body,
    /// Constants that wait for the operation that uses them.
    inline: HashMap<Value, &'a OpKind>,
}

pub fn binary(op: Binary) -> &'static str {
    match op {
        Binary::AddWrap => "add.wrap",
        Binary::SubWrap => "sub.wrap",
        Binary::MulWrap => "mul.wrap",
        Binary::Add => "add",
        Binary::Sub => "sub",
        Binary::Mul => "mul",
        Binary::Div => "div",
        Binary::Rem => "rem",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::Shl => "shl",
        Binary::Shr => "shr",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::Within => "within",
    }
}

pub fn compare(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    }
}

fn endian(endian: Endian) -> &'static str {
    match endian {
        Endian::Big => "be",
        Endian::Little => "le",
    }
}

impl<'a> Printer<'a> {
    fn head(&self, block: &Block) -> String {
        let params: Vec<String> = block.params.iter().map(|value| self.typed(*value)).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let bound = block.bound.map_or(String::new(), |bound| format!(" bound {bound}"));
        format!("{}{params}{bound}:", ident(&block.label))
    }

    fn typed(&self, value: Value) -> String {
        let ty = self.body.values.get(value.index()).map(|info| names::ty(self.automaton, info.ty));
        format!("{}: {}", self.name(value), ty.unwrap_or_default())
    }

    fn name(&self, value: Value) -> String {
        self.body.values.get(value.index()).map_or(format!("`?{}`", value.0), |info| ident(&info.name))
    }

    fn type_of(&self, value: Value) -> Option<Type> {
        self.body.values.get(value.index()).map(|info| info.ty)
    }

    /// A constant that waits, or the name; `wanted` is the type that the reader will expect there.
    fn value(&self, value: Value, wanted: Option<Type>) -> String {
        let Some(constant) = self.inline.get(&value) else { return self.name(value) };
        match constant {
            OpKind::Const { ty, value } if *ty != Type::Reason && wanted == Some(*ty) => {
                match ty {
                    // An enum's bare name could be a value's name.
                    Type::Enum(_) => names::literal(self.automaton, *ty, *value),
                    _ => names::value(self.automaton, *ty, *value),
                }
            }
            OpKind::Const { ty, value } => names::literal(self.automaton, *ty, *value),
            OpKind::Null { class } if wanted == Some(Type::Ref(*class)) => "null".to_owned(),
            OpKind::Null { class } => format!("null @{}", names::class(self.automaton, *class)),
            _ => self.name(value),
        }
    }

    /// Operands with constants in place.
    fn list(&self, values: &[Value], wanted: &[Option<Type>]) -> String {
        let wanted = wanted.iter().copied().chain(std::iter::repeat(None));
        values.iter().zip(wanted).map(|(value, ty)| self.value(*value, ty)).collect::<Vec<_>>().join(", ")
    }

    fn cell_name(&self, object: Value, cell: CellId) -> String {
        let class = match self.type_of(object) {
            Some(Type::Ref(class)) => self.automaton.classes.get(class.index()),
            _ => None,
        };
        let cell = class.and_then(|class| class.cells.get(cell.index()));
        cell.map_or("?".to_owned(), |cell| ident(&cell.name))
    }

    fn cell(&self, object: Value, cell: CellId) -> String {
        format!("{}.{}", self.name(object), self.cell_name(object, cell))
    }

    /// One line, or nothing if the operation is a constant that is shown where it is used.
    fn op(&mut self, op: &'a Op) -> Option<String> {
        let unnamed = |value: &Value| self.body.values.get(value.index()).is_some_and(|info| info.name.is_empty());
        if let ([result], OpKind::Const { .. } | OpKind::Null { .. }) = (&op.results[..], &op.kind) {
            if unnamed(result) {
                self.inline.insert(*result, &op.kind);
                return None;
            }
        }
        let text = self.operation(&op.kind);
        self.inline.clear();
        if op.results.is_empty() {
            return Some(text);
        }
        let results: Vec<String> = op.results.iter().map(|value| self.name(*value)).collect();
        Some(format!("{} = {text}", results.join(", ")))
    }

    fn operation(&self, kind: &OpKind) -> String {
        let a = self.automaton;
        let operands = kind.operands();
        let pending: Vec<Value> = operands.iter().copied().filter(|value| self.inline.contains_key(value)).collect();
        let typing = Typing { automaton: a, values: &self.body.values, pending: &pending };
        let wanted = typing.literals(kind);
        let all = || self.list(&operands, &wanted);
        let from = |skip: usize| self.list(&operands[skip..], &wanted[skip..]);
        let at = |index: usize| self.value(operands[index], wanted.get(index).copied().flatten());
        match kind {
            OpKind::Const { ty, value } => names::literal(a, *ty, *value),
            OpKind::Null { class } => format!("null @{}", names::class(a, *class)),
            OpKind::Binary { op, .. } => format!("{} {}", binary(*op), all()),
            OpKind::Compare { op, .. } => format!("{} {}", compare(*op), all()),
            OpKind::Not { .. } => format!("not {}", all()),
            OpKind::Select { .. } => format!("select {}", all()),
            OpKind::Cast { to, .. } => format!("cast {} to {}", all(), names::ty(a, *to)),
            OpKind::Param { param } => {
                format!("param {}", a.params.get(param.index()).map_or("?".to_owned(), |param| path(&param.name)))
            }
            OpKind::Now => "now".to_owned(),
            OpKind::Call { function, .. } => {
                let name = a.functions.get(function.index()).map_or("?".to_owned(), |found| path(&found.name));
                format!("call {name}({})", all())
            }
            OpKind::Native { symbol, grows, args, message, result } => {
                let list = self.list(&operands[..args.len()], &wanted[..args.len()]);
                let on = message.map_or(String::new(), |message| format!(" on {} grows {grows}", self.name(message)));
                let to = result.map_or(String::new(), |ty| format!(" to {}", names::ty(a, ty)));
                format!("native {}({list}){on}{to}", path(symbol))
            }
            OpKind::Draw { object, ty } => format!("draw {} from {}", names::ty(a, *ty), self.name(*object)),
            OpKind::Unique { class } => format!("unique {}", names::class(a, *class)),
            OpKind::Parent { .. } => format!("parent {}", all()),
            OpKind::Get { object, cell } => format!("get {}", self.cell(*object, *cell)),
            OpKind::Set { object, cell, .. } => format!("set {}, {}", self.cell(*object, *cell), from(1)),
            OpKind::GetAt { object, cell, .. } => format!("get {}[{}]", self.cell(*object, *cell), at(1)),
            OpKind::SetAt { object, cell, .. } => {
                format!("set {}[{}], {}", self.cell(*object, *cell), at(1), from(2))
            }
            OpKind::Arm { object, cell, .. } => format!("arm {}, {}", self.cell(*object, *cell), from(1)),
            OpKind::Disarm { object, cell } => format!("disarm {}", self.cell(*object, *cell)),
            OpKind::IsArmed { object, cell } => format!("armed {}", self.cell(*object, *cell)),
            OpKind::Count { object, cell, .. } => format!("count {}, {}", self.cell(*object, *cell), from(1)),
            OpKind::Give { object, cell, .. } => format!("give {}, {}", self.cell(*object, *cell), from(1)),
            OpKind::Left { object, cell } => format!("left {}", self.cell(*object, *cell)),
            OpKind::Keep { object, cell, .. } => {
                format!("keep {}[{}], {}", self.cell(*object, *cell), at(1), from(2))
            }
            OpKind::Holds { object, cell, .. } => format!("holds {}[{}]", self.cell(*object, *cell), at(1)),
            OpKind::Release { .. } => format!("release {}", all()),
            OpKind::Again { .. } => format!("again {}", all()),
            OpKind::NewMessage { octets } => {
                let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
                format!("message \"{hex}\"")
            }
            OpKind::Push { header, variant, .. } => self.push(*header, *variant, &operands, &wanted),
            OpKind::Pop { header, variant, .. } => {
                format!("pop {}, {}", all(), names::variant(a, *header, *variant))
            }
            OpKind::Encode { wire, .. } => format!("encode {}, {}", all(), self.wire(*wire)),
            OpKind::Received { wire, .. } => format!("received {}, {}", all(), self.wire(*wire)),
            OpKind::Size { .. } => format!("size {}", all()),
            OpKind::Trim { .. } => format!("trim {}", all()),
            OpKind::Skip { .. } => format!("skip {}", all()),
            OpKind::Split { .. } => format!("split {}", all()),
            OpKind::Join { .. } => format!("join {}", all()),
            OpKind::Share { .. } => format!("share {}", all()),
            OpKind::Load { ty, endian: order, .. } => format!("load.{}{} {}", endian(*order), ty.width(a), all()),
            OpKind::Store { value, endian: order, .. } => {
                let width = self.type_of(*value).map_or(0, |ty| ty.width(a));
                let (message, at) = (self.name(operands[0]), at(1));
                let value = self.value(*value, Some(Type::U(width)));
                format!("store.{}{width} {message}, {at}, {value}", endian(*order))
            }
            OpKind::Sum16 { .. } => format!("sum16 {}", all()),
            OpKind::Fold16 { .. } => format!("fold16 {}", all()),
            OpKind::GetAttribute { attribute, .. } => {
                format!("get.attribute {}, {}", all(), self.attribute(*attribute))
            }
            OpKind::SetAttribute { attribute, .. } => {
                format!("set.attribute {}, {}, {}", self.name(operands[0]), self.attribute(*attribute), from(1))
            }
            OpKind::Emit { target, event, .. } => format!("emit {}.{}({})", self.name(*target), ident(event), from(1)),
            OpKind::Out { port, event, .. } => {
                let port = a.ports.get(port.index());
                let event = port.and_then(|port| port.outputs.get(*event as usize));
                let event = event.map_or("?".to_owned(), |event| ident(&event.event));
                format!("out {}.{event}({})", port.map_or("?".to_owned(), |port| ident(&port.name)), all())
            }
            OpKind::Drop { message, reason: DropReason::Known(reason) } => {
                format!("drop {}, {}", self.name(*message), names::reason(a, *reason))
            }
            OpKind::Drop { message, reason: DropReason::Value(value) } => {
                format!("drop {} for {}", self.name(*message), self.value(*value, None))
            }
            OpKind::Consume { reason, .. } => format!("consume {}, {}", all(), names::reason(a, *reason)),
        }
    }

    fn push(&self, header: HeaderId, variant: VariantId, operands: &[Value], wanted: &[Option<Type>]) -> String {
        let found = self.automaton.headers.get(header.index()).and_then(|h| h.variants.get(variant.index()));
        let names = found.map_or(&[][..], |variant| &variant.fields);
        let fields: Vec<String> = operands[1..]
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let name = names.get(index).map_or("?".to_owned(), |(name, _)| ident(name));
                format!("{name}: {}", self.value(*value, wanted.get(index + 1).copied().flatten()))
            })
            .collect();
        let variant = names::variant(self.automaton, header, variant);
        format!("push {}, {variant}{{{}}}", self.name(operands[0]), fields.join(", "))
    }

    fn wire(&self, wire: WireId) -> String {
        self.automaton.wires.get(wire.index()).map_or("?".to_owned(), |wire| path(&wire.name))
    }

    fn attribute(&self, id: AttributeId) -> String {
        self.automaton.attributes.get(id.index()).map_or("?".to_owned(), |found| path(&found.name))
    }

    /// `label(args)`; `..` stands for the results that come first.
    fn target(&self, target: &Target, results: &Option<Vec<Type>>) -> String {
        let count = results.as_ref().map_or(0, Vec::len);
        let block = self.body.blocks.get(target.block.index());
        let wanted: Vec<Option<Type>> =
            block.map_or(&[][..], |b| &b.params[..]).iter().skip(count).map(|value| self.type_of(*value)).collect();
        let mut shown = if count > 0 { "..".to_owned() } else { String::new() };
        let args = self.list(&target.args, &wanted);
        if count > 0 && !args.is_empty() {
            shown += ", ";
        }
        shown += &args;
        let label = block.map_or("?".to_owned(), |block| ident(&block.label));
        if shown.is_empty() {
            label
        } else {
            format!("{label}({shown})")
        }
    }

    fn end(&self, end: &Terminator, results: &[Type]) -> String {
        let a = self.automaton;
        let operands = end.operands();
        let pending: Vec<Value> = operands.iter().copied().filter(|value| self.inline.contains_key(value)).collect();
        let typing = Typing { automaton: a, values: &self.body.values, pending: &pending };
        let wanted = typing.end_operands(end, results);
        let targets = end.targets();
        let first = typing.target_results(end);
        let target = |index: usize| self.target(targets[index], &first[index]);
        let all = || self.list(&operands, &wanted);
        let at = |index: usize| self.value(operands[index], wanted.get(index).copied().flatten());
        let range = |from: usize, upto: usize| self.list(&operands[from..upto], &wanted[from..upto]);
        let branches = || format!("then {} else {}", target(0), target(1));
        let inside = |parent: &Option<Value>| parent.map_or(String::new(), |_| format!(" in {}", all()));
        match end {
            Terminator::Return => "return".to_owned(),
            Terminator::Yield { values } if values.is_empty() => "yield".to_owned(),
            Terminator::Yield { .. } => format!("yield {}", all()),
            Terminator::Jump { .. } => format!("jump {}", target(0)),
            Terminator::Branch { likely, .. } => {
                let likely = likely.map_or(String::new(), |p| format!(" @{p}"));
                format!("br {}{likely} {}, {}", all(), target(0), target(1))
            }
            Terminator::Switch { value, cases, .. } => {
                let ty = self.type_of(*value).unwrap_or(Type::U(64));
                let case = |(index, (number, _)): (usize, &(u64, Target))| {
                    format!("{} -> {}, ", names::value(a, ty, *number), target(index))
                };
                let cases_text: String = cases.iter().enumerate().map(case).collect();
                format!("switch {} {{ {cases_text}else {} }}", all(), target(cases.len()))
            }
            Terminator::PopSwitch { header, cases, .. } => {
                let found = a.headers.get(header.index());
                let name = |id: &VariantId| found.and_then(|h| h.variants.get(id.index())).map_or("?", |v| &v.name);
                let case = |(index, (id, _)): (usize, &(VariantId, Target))| {
                    format!("{} -> {}", ident(name(id)), target(index))
                };
                let cases: Vec<String> = cases.iter().enumerate().map(case).collect();
                let header = found.map_or("?".to_owned(), |header| path(&header.name));
                format!("match {}, {header} {{ {} }}", all(), cases.join(", "))
            }
            Terminator::Decode { wire, .. } => format!("decode {}, {} {}", all(), self.wire(*wire), branches()),
            Terminator::Vet { wire, .. } => format!("vet {}, {} {}", all(), self.wire(*wire), branches()),
            Terminator::Find { object, cell, key, .. } => {
                format!("find {}[{}] {}", self.cell(*object, *cell), range(1, key.len() + 1), branches())
            }
            Terminator::Insert { object, cell, key, values, .. } => {
                let (keys, end) = (range(1, key.len() + 1), key.len() + 1 + values.len());
                let comma = if values.is_empty() { "" } else { ", " };
                let values = range(key.len() + 1, end);
                format!("insert {}[{keys}]{comma}{values} {}", self.cell(*object, *cell), branches())
            }
            Terminator::Remove { object, cell, key, .. } => {
                format!("remove {}[{}] {}", self.cell(*object, *cell), range(1, key.len() + 1), branches())
            }
            Terminator::New { class, parent, .. } => {
                format!("new {}{} {}", names::class(a, *class), inside(parent), branches())
            }
            Terminator::First { class, parent, .. } => {
                format!("first {}{} {}", names::class(a, *class), inside(parent), branches())
            }
            Terminator::Next { .. } => format!("next {} {}", all(), branches()),
            Terminator::Take { object, cell, .. } => {
                format!("take {}, {} {}", self.cell(*object, *cell), at(1), branches())
            }
            Terminator::TakeOut { object, cell, .. } => {
                format!("takeout {}[{}] {}", self.cell(*object, *cell), at(1), branches())
            }
            Terminator::ShareHeld { object, cell, .. } => {
                format!("shareheld {}[{}] {}", self.cell(*object, *cell), at(1), branches())
            }
            Terminator::Later { target: to, event, .. } => {
                let args = range(1, operands.len());
                format!("later {}.{}({args}) {}", self.name(*to), ident(event), branches())
            }
        }
    }
}
