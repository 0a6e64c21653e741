//! Operations on messages. A message that an operation changes keeps its variable.

use mokume_reaction::*;

use super::writer::Writer;
use crate::tree::*;
use crate::types::c_type;

pub(super) fn size(w: &Writer, message: Value) -> Expr {
    w.value(message).arrow("view").member("size")
}

pub(super) fn sum16(w: &Writer, message: Value) -> Expr {
    reads("mk_sum16", [reads("mk_data", [w.value(message)]), size(w, message)])
}

pub(super) fn sum_part(w: &Writer, message: Value, at: Value, octets: Value) -> Expr {
    let whole = [reads("mk_data", [w.value(message)]), size(w, message)];
    reads("mk_sum16_part", whole.into_iter().chain([w.value(at), w.value(octets)]).collect::<Vec<_>>())
}

pub(super) fn encode(w: &mut Writer, message: Value, wire: WireId, op: &Op) {
    let encode = format!("encode_{}", w.plan.names.wires[wire.index()]);
    w.act(acts(encode, [instance(), w.value(message), w.source(op.source)]));
    w.same(op.results[0], message);
}

/// `mk_do_trim` or `mk_do_skip`.
pub(super) fn cut(w: &mut Writer, what: &'static str, message: Value, size: Value, op: &Op) {
    w.act(acts(what, [core(), w.value(message), w.value(size), w.source(op.source)]));
    w.same(op.results[0], message);
}

pub(super) fn split(w: &mut Writer, message: Value, at: Value, op: &Op) {
    w.same(op.results[0], message);
    w.assign(op.results[1], acts("mk_do_split", [core(), w.value(message), w.value(at), w.source(op.source)]));
}

pub(super) fn join(w: &mut Writer, first: Value, second: Value, op: &Op) {
    w.act(acts("mk_do_join", [core(), w.value(first), w.value(second), w.source(op.source)]));
    w.same(op.results[0], first);
}

pub(super) fn load(w: &mut Writer, field: OctetField, message: Value, at: Value, op: &Op) {
    let (message, at, source) = (w.value(message), w.value(at), w.source(op.source));
    let loaded = match field.width {
        8 => acts("mk_do_load_8", [core(), message, at, source]),
        width => {
            let load = acts("mk_do_load", [core(), message, at, number(width / 8), is_little(field), source]);
            match c_type(w.plan.automaton, field.ty()) {
                "uint64_t" => load,
                ty => load.cast(ty),
            }
        }
    };
    w.assign(op.results[0], loaded);
}

fn is_little(field: OctetField) -> Expr {
    Expr::Bool(field.endian == Endian::Little)
}

pub(super) fn store(w: &mut Writer, field: OctetField, message: Value, (at, value): (Value, Value), op: &Op) {
    let (at, value, source) = (w.value(at), w.value(value), w.source(op.source));
    let args = [core(), w.value(message), at, value, number(field.width / 8), is_little(field), source];
    w.act(acts("mk_do_store", args));
    w.same(op.results[0], message);
}

fn attribute_of(w: &Writer, message: Value, attribute: AttributeId) -> Expr {
    computes("mk_attributes", [w.value(message)]).element(number(attribute.0))
}

pub(super) fn attribute(w: &Writer, message: Value, attribute: AttributeId, result: Value) -> Expr {
    let word = attribute_of(w, message, attribute);
    match w.type_of(result) {
        Type::Bool => word.infix(Infix::Ne, Expr::Number(0)),
        _ if w.c_type_of(result) == "uint64_t" => word,
        _ => word.cast(w.c_type_of(result)),
    }
}

pub(super) fn set_attribute(w: &mut Writer, message: Value, attribute: AttributeId, value: Value, op: &Op) {
    w.act(acts("mk_set_attribute", [w.value(message), number(attribute.0), w.value(value)]));
    w.same(op.results[0], message);
}

pub(super) fn new_message(w: &mut Writer, content: &[u8], result: Value) {
    if content.is_empty() {
        return w.assign(result, acts("mk_message_new", [pool(), word("NULL"), Expr::Number(0)]));
    }
    let octets = w.function.local("octets", "uint8_t");
    w.push(Stmt::Octets(octets, content.to_vec()));
    w.assign(result, acts("mk_message_new", [pool(), Expr::Local(octets), number(content.len() as u64)]));
}

pub(super) fn front(w: &mut Writer, message: Value, front: &[u8], result: Value) {
    w.same(result, message);
    if front.is_empty() {
        return;
    }
    let octets = w.function.local("octets", "uint8_t");
    w.push(Stmt::Octets(octets, front.to_vec()));
    let args = [pool(), w.value(message), Expr::Local(octets), number(front.len() as u64)];
    w.act(acts("mk_front", args));
}

/// The number in a header record that identifies header and alternative.
pub(super) fn record_kind(w: &Writer, header: HeaderId, variant: VariantId) -> Expr {
    word(w.plan.names.kinds[header.index()][variant.index()].clone())
}

fn struct_of(w: &Writer, header: HeaderId, variant: VariantId) -> String {
    format!("struct {}", w.plan.names.variants[header.index()][variant.index()])
}

pub(super) fn push(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId, fields: &[Value]) {
    let pushed = acts("mk_push", [pool(), w.value(message), size_of(w, header, variant)]);
    push_at(w, pushed, (header, variant), fields);
}

/// How many octets the record of a header's alternative takes.
pub(super) fn size_of(w: &Writer, header: HeaderId, variant: VariantId) -> Expr {
    Expr::SizeOf(struct_of(w, header, variant).into())
}

/// Fills the record of a header, for which there is room at this address.
pub(super) fn push_at(w: &mut Writer, place: Expr, (header, variant): (HeaderId, VariantId), fields: &[Value]) {
    let pushed = w.temporary("header", format!("{} *", struct_of(w, header, variant)), place);
    w.push(set(pushed.clone().arrow("kind"), record_kind(w, header, variant)));
    for (field, member) in fields.iter().zip(&w.plan.names.fields[header.index()][variant.index()]) {
        w.push(set(pushed.clone().arrow(member.clone()), w.value(*field)));
    }
}

pub(super) fn pop(
    w: &mut Writer,
    message: Value,
    (header, variant): (HeaderId, VariantId),
    results: &[Value],
    source: Option<SourceId>,
) {
    let record = struct_of(w, header, variant);
    let kind = record_kind(w, header, variant);
    let size = Expr::SizeOf(record.clone().into());
    let popped = acts("mk_do_pop", [core(), w.value(message), kind, size, w.source(source)]);
    w.same(results[0], message);
    if !results[1..].iter().any(|field| w.is_live(*field)) {
        return w.act(popped);
    }
    let popped = w.temporary("header", format!("const {record} *"), popped);
    for (field, member) in results[1..].iter().zip(&w.plan.names.fields[header.index()][variant.index()]) {
        if w.is_live(*field) {
            w.assign(*field, popped.clone().arrow(member.clone()));
        }
    }
}

/// Whether the top record is of this variant, and the values of its fields.
pub(super) fn top(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId) -> (Expr, Vec<Expr>) {
    let kind = reads("mk_top_kind", [core(), w.value(message)]);
    let is_this = kind.infix(Infix::Eq, record_kind(w, header, variant));
    (is_this, fields_on_top(w, message, header, variant))
}

fn fields_on_top(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId) -> Vec<Expr> {
    let record = struct_of(w, header, variant);
    let top = reads("mk_top", [pool(), w.value(message)]);
    let top = w.temporary("header", format!("const {record} *"), top);
    let names = &w.plan.names.fields[header.index()][variant.index()];
    names.iter().map(|member| top.clone().arrow(member.clone())).collect()
}

/// The alternative of the header that is taken off: the number in its record.
pub(super) fn alternative(w: &Writer, message: Value, header: HeaderId) -> Expr {
    let first = VariantId(0);
    let size = Expr::SizeOf(struct_of(w, header, first).into());
    acts("mk_alternative", [core(), w.value(message), record_kind(w, header, first), size])
}

/// Takes off the top record, which is of this variant.
pub(super) fn pop_known(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId) {
    let record = struct_of(w, header, variant);
    w.act(acts("mk_pop", [pool(), w.value(message), Expr::SizeOf(record.into())]));
}

/// Reads the fields of the top record, which is of this variant, and takes it off.
pub(super) fn take_top(w: &mut Writer, message: Value, header: HeaderId, variant: VariantId) -> Vec<Expr> {
    let fields = fields_on_top(w, message, header, variant);
    pop_known(w, message, header, variant);
    fields
}
