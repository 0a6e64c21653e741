//! Packets by their fields: `Rfc791 { ttl: 64, .. } Rfc768 { } "data"`, and sums with bound names.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{Context, Item};
use crate::resolve::expr;
use crate::resolve::test::steps::{self, Handles};
use crate::{codes, constants, lost, suggest, tree};

/// `iss + 1`, `1 + iss`, `ack - 5`; `None` if it names nothing that was bound.
pub(super) fn sum(cx: &mut Context, file: FileId, value: &Tree, handles: &Handles) -> Option<Arg> {
    let Tree::Binary(binary) = tree::unparen(value) else { return None };
    let (left, right) = (tree::unparen(&binary.left()?), tree::unparen(&binary.right()?));
    let bound = |tree: &Tree| tree::name_expr(file, tree).filter(|name| handles.contains_key(&name.text));
    let (handle, other, sign) = match (binary.op()?, bound(&left), bound(&right)) {
        (BinaryOp::Add, Some(handle), None) => (handle, right, 1),
        (BinaryOp::Add, None, Some(handle)) => (handle, left, 1),
        (BinaryOp::Sub, Some(handle), None) => (handle, right, u64::MAX),
        _ => return no_sum(cx, file, value, handles),
    };
    if let Some(wrong) = no_sum(cx, file, &other, handles) {
        return Some(wrong);
    }
    let expr = expr::value(&mut Body::constant(cx, file), &other, Type::UInt(64));
    let number = constants::eval(&cx.program, &expr).ok().and_then(|value| value.scalar());
    steps::mention(cx, handles, &handle);
    Some(Arg::Sum { handle: handle.text, plus: number.unwrap_or(0).wrapping_mul(sign) })
}

/// Reports `iss * 2` and `a + b`: only a number may be added to a bound name. `None` if it names nothing that was
/// bound.
fn no_sum(cx: &mut Context, file: FileId, value: &Tree, handles: &Handles) -> Option<Arg> {
    let mut names = value.syntax().descendants().filter_map(Tree::cast).filter_map(|tree| tree::name_expr(file, &tree));
    let bound = names.find(|name| handles.contains_key(&name.text))?;
    let text = format!("`{}` was bound, and goes with a number that is added or taken away", bound.text);
    let help = format!("write `{} + 1`, or the number itself", bound.text);
    cx.error(codes::MISMATCH, text, value.span(file), "is no such sum", &help);
    Some(Arg::Any)
}

/// Resolves a packet; `None` if it is not one.
pub(super) fn read(cx: &mut Context, file: FileId, value: &Tree, handles: &mut Handles) -> Option<Packet> {
    let span = value.span(file);
    let (parts, over) = match value {
        Tree::Record(record) => {
            if !is_known(cx, file, record) {
                // Reported as a part of a packet; a record begins with a name, too.
                part(cx, file, value, handles);
                return Some(Packet { parts: Vec::new(), over: None, span });
            }
            is_wire(cx, file, record)?;
            (vec![value.clone()], None)
        }
        Tree::Packet(packet) => (packet.parts(), packet.over()),
        _ => return None,
    };
    nothing_behind_hole(cx, file, &parts);
    let parts = parts.iter().filter_map(|tree| part(cx, file, tree, handles)).collect();
    let over = over.and_then(|over| over.flow()).map(|flow| words_of(cx, file, &flow));
    Some(Packet { parts, over, span })
}

/// `_` stands for everything that follows, so nothing may be behind it.
fn nothing_behind_hole(cx: &mut Context, file: FileId, parts: &[Tree]) {
    let hole = parts.iter().position(|part| matches!(part, Tree::Hole(_)));
    let Some(behind) = hole.and_then(|at| parts.get(at + 1)) else { return };
    let help = "end with `_`, or write all octets; `F { n: _ }` leaves a field open";
    cx.error(
        codes::MISMATCH,
        "nothing stands behind `_`, which is all that follows",
        behind.span(file),
        "not looked at",
        help,
    );
}

fn is_known(cx: &Context, file: FileId, record: &ast::RecordExpr) -> bool {
    record.name().is_some_and(|name| cx.item(file, &name.text()).is_some())
}

fn is_wire(cx: &Context, file: FileId, record: &ast::RecordExpr) -> Option<WireId> {
    match cx.item(file, &record.name()?.text())? {
        Item::Wire(id) => Some(id),
        _ => None,
    }
}

fn part(cx: &mut Context, file: FileId, value: &Tree, handles: &mut Handles) -> Option<PacketPart> {
    match value {
        Tree::Octets(octets) => Some(PacketPart::Octets(octets.octets())),
        Tree::Hole(_) => Some(PacketPart::Any(value.span(file))),
        Tree::Record(record) => {
            let name = record.name().map(|name| Name { text: name.text(), span: name.span(file) })?;
            let Some(wire) = is_wire(cx, file, record) else {
                cx.unknown(codes::UNKNOWN_ITEM, "a wire", &name, file, |item| matches!(item, Item::Wire(_)));
                return None;
            };
            let place = cx.program.wires[wire.index()].name.span;
            cx.mention(&name, place);
            let fields = fields(cx, file, wire, record, handles);
            Some(PacketPart::Wire(WirePattern { wire, name, fields, rest: record.rest().is_some() }))
        }
        other => {
            let text = other.syntax().text().to_string();
            let called =
                text.split_once('(').and_then(|(name, fields)| Some((name.trim(), fields.trim().strip_suffix(')')?)));
            let wire = called.filter(|(name, _)| matches!(cx.item(file, name), Some(Item::Wire(_))));
            let help = match wire {
                Some((name, fields)) => format!("the fields of a wire stand in braces: `{name} {{ {fields} }}`"),
                None => "write wires with their fields, and octets: `Rfc768 { length: 12, .. } \"data\"`".to_string(),
            };
            cx.error(codes::MISMATCH, "this is no part of a packet", other.span(file), "no wire", &help);
            None
        }
    }
}

fn fields(
    cx: &mut Context,
    file: FileId,
    wire: WireId,
    record: &ast::RecordExpr,
    handles: &mut Handles,
) -> Vec<(Name, Vec<Arg>)> {
    let known = names(&cx.program.wires[wire.index()].items);
    let mut all: Vec<(Name, Vec<Arg>)> = Vec::new();
    for field in record.fields() {
        let Some(name) = tree::some_name(file, field.name()) else { continue };
        let values = match field.value() {
            Some(value) => steps::args(cx, file, &value, handles),
            None => {
                steps::mention(cx, handles, &name);
                vec![Arg::Handle(name.clone())]
            }
        };
        let within = format!("{}_", name.text);
        let is_it = |known: &&Known| known.name == name.text;
        let places: BTreeSet<Span> = known.iter().filter(is_it).filter_map(|known| known.place).collect();
        places.into_iter().for_each(|place| cx.mention(&name, place));
        let is_list = known.iter().filter(is_it).any(|known| known.repeated && known.width == 8);
        let whole =
            values.len() > 1 && known.iter().filter(|known| known.name.starts_with(&within)).count() == values.len();
        match known.iter().find(is_it) {
            None if !whole => {
                let of = &cx.program.wires[wire.index()].name;
                let text = format!("wire `{}` has no field `{}`", of.text, name.text);
                let names = || known.iter().map(|known| known.name.as_str());
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
                diagnostic = diagnostic.lacks(lost::within(of.span, &name.text));
                // A missing field may have been refused, unless the name is similar to an existing one.
                if suggest::nearest(&name.text, names()).is_none() {
                    diagnostic = diagnostic.needs(lost::fields(of));
                }
                diagnostic.helps.extend(suggest::help(&name.text, names()));
                cx.report(diagnostic);
            }
            // A list and a single field may have one name, in different arms.
            Some(_)
                if !known.iter().filter(is_it).any(|known| known.repeated)
                    && all.iter().any(|(before, _)| before.text == name.text) =>
            {
                let text = format!("`{}` is given twice", name.text);
                cx.error(codes::DEFINED_TWICE, text, name.span, "again here", "leave one of them out");
            }
            known => {
                if let (Some(known), Some(value)) = (known, field.value()) {
                    is_number(cx, file, known, &value);
                }
                match values.as_slice() {
                    [Arg::Octets(octets)] if is_list && octets.is_empty() => {
                        let text = format!("`{}` is given no octets", name.text);
                        let help = "leave it out: a list of which nothing is given has no elements";
                        cx.error(codes::MISMATCH, text, name.span, "none", help);
                    }
                    [Arg::Octets(octets)] if is_list => {
                        all.extend(octets.iter().map(|octet| (name.clone(), vec![Arg::Word((*octet).into())])));
                    }
                    _ => all.push((name, values)),
                }
            }
        }
    }
    all
}

/// Reports `true` and `false` for a field with numbers.
fn is_number(cx: &mut Context, file: FileId, known: &Known, value: &Tree) {
    let (label, help) = match tree::unparen(value) {
        Tree::Bool(_) if known.width > 1 => ("`true` or `false`", "write the number"),
        Tree::Octets(_) if known.repeated && known.width == 8 => return,
        Tree::Octets(_) => ("octets", "write the number, `0x0102`; a list of octets alone is written as octets"),
        Tree::Record(_) => ("no number", "write the number; what a wire lays out stands behind this one"),
        _ => return,
    };
    let text = format!("`{}` holds a number of {} bits, and this is none", known.name, known.width);
    cx.error(codes::MISMATCH, text, value.span(file), label, help);
}

/// A field that a packet may have.
struct Known {
    name: String,
    /// Where the wire declares it.
    place: Option<Span>,
    /// Of a list: it may come again.
    repeated: bool,
    /// The width in bits; 1 for the presence of an option.
    width: u8,
}

fn names(items: &[WireItem]) -> Vec<Known> {
    let mut found = Vec::new();
    add_names(items, false, &mut found);
    found
}

fn add_names(items: &[WireItem], repeated: bool, found: &mut Vec<Known>) {
    for item in items {
        match item {
            WireItem::Field(field) => {
                let (name, place) = (field.name.text.clone(), Some(field.name.span));
                found.push(Known { name, place, repeated, width: field.width });
            }
            WireItem::Choice { arms, .. } => arms.iter().for_each(|arm| add_names(&arm.items, repeated, found)),
            WireItem::Optional { items, .. } => add_names(items, repeated, found),
            WireItem::Each(each) => add_names(&each.items, true, found),
            WireItem::Options(options) => {
                for option in &options.arms {
                    if let OptionForm::Known { present, items } = &option.what {
                        if let WireValue::Header { field, .. } = present {
                            found.push(Known { name: field.text.clone(), place: None, repeated, width: 1 });
                        }
                        add_names(items, repeated, found);
                    }
                }
            }
            WireItem::Reach(..) => {}
        }
    }
}

/// The numbers of `flow(remote.host: 10.0.0.1, protocol: 17)`, in order.
fn words_of(cx: &mut Context, file: FileId, flow: &Tree) -> Vec<u64> {
    let Tree::Call(call) = flow else {
        let help = "write `over flow(remote.host: 10.0.0.1, protocol: 17)`";
        cx.error(codes::MISMATCH, "a flow is wanted here", flow.span(file), "no flow", help);
        return Vec::new();
    };
    let mut none = Handles::new();
    let values = steps::arguments(cx, file, call, &mut none).given.into_iter().flat_map(|given| given.values);
    values.filter_map(|value| if let Arg::Word(word) = value { Some(word) } else { None }).collect()
}
