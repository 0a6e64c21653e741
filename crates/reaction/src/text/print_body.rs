//! Bodies as text: an operation a line; constants without a name stand where they are used.

use rustc_hash::FxHashMap as HashMap;

use super::names::{self, ident, path, source_mark};
use crate::operation::template::Piece;
use crate::operation::{Kind, Row, Slot};
use crate::*;

/// The role of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The first and the last line.
    Frame,
    /// The head of a block.
    Block,
    Operation,
    /// A terminator.
    End {
        /// One of its targets only refuses: the path may be left here.
        exits: bool,
        /// How many of its targets go on.
        on: usize,
    },
}

/// A line of a body: its text, its source mark, and the program place of that mark.
pub struct Line {
    pub text: String,
    mark: String,
    pub source: Option<SourceId>,
    pub part: Part,
}

/// The text of a canonical body, entry first and without a label.
pub fn body(automaton: &Automaton, body: &Body, results: (&[Type], &[Type])) -> String {
    lines(automaton, body, results).iter().map(|line| format!("{}{}\n", line.text, line.mark)).collect()
}

/// The lines of a canonical body.
pub fn lines(automaton: &Automaton, body: &Body, results: (&[Type], &[Type])) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, block) in body.blocks.iter().enumerate() {
        let mut printer = Printer { automaton, body, inline: HashMap::default() };
        if index > 0 {
            let text = format!("  {}", printer.head(block));
            lines.push(Line { text, mark: String::new(), source: None, part: Part::Block });
        }
        for op in &block.ops {
            if let Some(line) = printer.op(op) {
                let (text, mark) = (format!("    {line}"), source_mark(op.source));
                lines.push(Line { text, mark, source: op.source, part: Part::Operation });
            }
        }
        let text = format!("    {}", printer.terminator(&block.terminator, results));
        let targets = block.terminator.targets();
        let on = targets.iter().filter(|to| !refuses(body, to.block)).count();
        let part = Part::End { exits: on < targets.len(), on };
        lines.push(Line { text, mark: mark(block.mark), source: block.mark.map(|mark| mark.source), part });
    }
    lines
}

/// Whether a block only refuses, or only goes to one that does.
fn refuses(body: &Body, block: BlockId) -> bool {
    let mut at = body.blocks.get(block.index());
    for _ in 0..body.blocks.len() {
        match at {
            Some(Block { ops, terminator: Terminator::Refuse { .. }, .. }) => return ops.is_empty(),
            Some(Block { ops, terminator: Terminator::Jump { to }, .. }) if ops.is_empty() => {
                at = body.blocks.get(to.block.index());
            }
            _ => return false,
        }
    }
    false
}

/// ` #3:1`: the second terminator of source 3.
fn mark(mark: Option<Mark>) -> String {
    mark.map_or(String::new(), |mark| format!(" #{}:{}", mark.source.0, mark.nth))
}

struct Printer<'a> {
    automaton: &'a Automaton,
    body: &'a Body,
    /// Constants to be printed where they are used.
    inline: HashMap<Value, &'a OpKind>,
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

    /// A constant to be printed here, or the value's name; `wanted` is the type that the reader will expect here.
    fn value(&self, value: Value, wanted: Option<Type>) -> String {
        let Some(constant) = self.inline.get(&value) else { return self.name(value) };
        match constant {
            OpKind::Const { ty, value } if *ty != Type::Reason && wanted == Some(*ty) => {
                match ty {
                    // A bare name of an enumeration could be the name of a value.
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

    /// Operands, with constants printed in their places.
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

    /// The line of an operation; `None` if it is a constant that is printed where it is used.
    fn op(&mut self, op: &'a Op) -> Option<String> {
        let unnamed = |value: &Value| self.body.values.get(value.index()).is_some_and(|info| info.name.is_empty());
        if let ([result], OpKind::Const { .. } | OpKind::Null { .. }) = (&op.results[..], &op.kind) {
            if unnamed(result) {
                self.inline.insert(*result, &op.kind);
                return None;
            }
        }
        let text = match &op.kind {
            OpKind::Const { ty, value } => names::literal(self.automaton, *ty, *value),
            OpKind::Null { class } => format!("null @{}", names::class(self.automaton, *class)),
            other => self.operation(other),
        };
        self.inline.clear();
        if op.results.is_empty() {
            return Some(text);
        }
        let results: Vec<String> = op.results.iter().map(|value| self.name(*value)).collect();
        Some(format!("{} = {text}", results.join(", ")))
    }

    /// The text of an operation by the table.
    fn operation(&self, op: &dyn Operation) -> String {
        let operands = op.operands();
        let pending: Vec<Value> = operands.iter().copied().filter(|value| self.inline.contains_key(value)).collect();
        let typing = Typing { automaton: self.automaton, values: &self.body.values, pending: &pending };
        let mut wanted = typing.literals(op).into_iter();
        let shown: Vec<Shown> = op
            .slots()
            .into_iter()
            .map(|slot| {
                let values = slot.values();
                let values = values.into_iter().map(|value| (value, wanted.next().flatten())).collect();
                Shown { slot, values }
            })
            .collect();
        self.pieces(&op.row().pieces(), op.row(), &shown)
    }

    fn pieces(&self, pieces: &[Piece], row: &Row, shown: &[Shown]) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text += part,
                Piece::Field(place) => text += &self.field(row.fields[*place].1, &shown[*place], shown),
                Piece::Perhaps(inner) => {
                    let first = inner.iter().find_map(|piece| match piece {
                        Piece::Field(place) => Some(&shown[*place].slot),
                        Piece::Text(_) | Piece::Perhaps(_) => None,
                    });
                    if !matches!(first, Some(Slot::Perhaps(None) | Slot::PerhapsType(None))) {
                        text += &self.pieces(inner, row, shown);
                    }
                }
            }
        }
        text
    }

    fn field(&self, kind: Kind, field: &Shown, all: &[Shown]) -> String {
        let a = self.automaton;
        let values = || field.values.iter().map(|(value, wanted)| self.value(*value, *wanted));
        match &field.slot {
            Slot::Value(value) | Slot::Perhaps(Some(value)) if kind.is_named() => self.name(*value),
            Slot::Value(_) | Slot::Perhaps(_) => values().collect(),
            Slot::Values(_) if kind == Kind::Fields => self.header_fields(field, all),
            Slot::Values(_) if kind == Kind::MapValues => values().map(|value| format!(", {value}")).collect(),
            Slot::Values(_) => values().collect::<Vec<_>>().join(", "),
            Slot::Type(ty) => names::ty(a, *ty),
            Slot::PerhapsType(ty) => ty.map_or(String::new(), |ty| names::ty(a, ty)),
            Slot::Number(number) if kind == Kind::Output => self.output(*number, all),
            Slot::Number(number) => number.to_string(),
            Slot::Name(name) if kind == Kind::Symbol => path(name),
            Slot::Name(name) => ident(name),
            Slot::Octets(octets) => {
                let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
                format!("\"{hex}\"")
            }
            Slot::Cell(cell) => {
                let object = all.iter().find_map(|shown| shown.slot.value());
                object.map_or("?".to_owned(), |object| self.cell_name(object, *cell))
            }
            Slot::Class(class) => names::class(a, *class),
            Slot::Function(id) => a.functions.get(id.index()).map_or("?".to_owned(), |found| path(&found.name)),
            Slot::Param(id) => a.params.get(id.index()).map_or("?".to_owned(), |found| path(&found.name)),
            Slot::Wire(id) => a.wires.get(id.index()).map_or("?".to_owned(), |found| path(&found.name)),
            Slot::Attribute(id) => a.attributes.get(id.index()).map_or("?".to_owned(), |found| path(&found.name)),
            Slot::Reason(id) => names::reason(a, *id),
            Slot::Port(id) => a.ports.get(id.index()).map_or("?".to_owned(), |port| ident(&port.name)),
            Slot::Header(_) => String::new(),
            Slot::Variant(_) => {
                let (header, variant) = header_of(all);
                names::variant(a, header, variant)
            }
            Slot::Field(field) => field.word(),
            Slot::Binary(op) => op.word().to_owned(),
            Slot::Compare(op) => op.word().to_owned(),
        }
    }

    /// `{name: value, …}`
    fn header_fields(&self, field: &Shown, all: &[Shown]) -> String {
        let (header, variant) = header_of(all);
        let found = self.automaton.headers.get(header.index()).and_then(|h| h.variants.get(variant.index()));
        let names = found.map_or(&[][..], |variant| &variant.fields);
        let one = |(index, (value, wanted)): (usize, &(Value, Option<Type>))| {
            let name = names.get(index).map_or("?".to_owned(), |(name, _)| ident(name));
            format!("{name}: {}", self.value(*value, *wanted))
        };
        format!("{{{}}}", field.values.iter().enumerate().map(one).collect::<Vec<_>>().join(", "))
    }

    fn output(&self, number: u64, all: &[Shown]) -> String {
        let port = all.iter().find_map(|shown| match shown.slot {
            Slot::Port(port) => self.automaton.ports.get(port.index()),
            _ => None,
        });
        let output = port.and_then(|port| port.outputs.get(usize::try_from(number).ok()?));
        output.map_or("?".to_owned(), |output| ident(&output.event))
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

    fn terminator(&self, terminator: &Terminator, results: (&[Type], &[Type])) -> String {
        let a = self.automaton;
        let operands = terminator.operands();
        let pending: Vec<Value> = operands.iter().copied().filter(|value| self.inline.contains_key(value)).collect();
        let typing = Typing { automaton: a, values: &self.body.values, pending: &pending };
        let targets = terminator.targets();
        let first = typing.target_results(terminator);
        let target = |index: usize| self.target(targets[index], &first[index]);
        let all = || self.list(&operands, &typing.terminator_operands(terminator, results));
        match terminator {
            Terminator::Return => "return".to_owned(),
            Terminator::Yield { .. } => format!("yield {}", all()).trim_end().to_owned(),
            Terminator::Refuse { .. } => format!("refuse {}", all()).trim_end().to_owned(),
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
            Terminator::Match { header, cases, .. } => {
                let found = a.headers.get(header.index());
                let name = |id: &VariantId| found.and_then(|h| h.variants.get(id.index())).map_or("?", |v| &v.name);
                let case = |(index, (id, _)): (usize, &(VariantId, Target))| {
                    format!("{} -> {}", ident(name(id)), target(index))
                };
                let cases: Vec<String> = cases.iter().enumerate().map(case).collect();
                let header = found.map_or("?".to_owned(), |header| path(&header.name));
                format!("match {}, {header} {{ {} }}", all(), cases.join(", "))
            }
            Terminator::Try { op, .. } => format!("{} then {} else {}", self.operation(op), target(0), target(1)),
        }
    }
}

/// A field of an operation, with the known types of its values.
struct Shown<'a> {
    slot: Slot<'a>,
    values: Vec<(Value, Option<Type>)>,
}

fn header_of(all: &[Shown]) -> (HeaderId, VariantId) {
    let (mut header, mut variant) = (HeaderId(u32::MAX), VariantId(u32::MAX));
    for shown in all {
        match shown.slot {
            Slot::Header(id) => header = id,
            Slot::Variant(id) => variant = id,
            _ => {}
        }
    }
    (header, variant)
}
