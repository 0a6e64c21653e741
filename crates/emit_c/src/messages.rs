//! Operations on messages. A message that an operation changes keeps its variable.

use mokume_reaction::*;

use crate::body::BodyWriter;
use crate::text::octets;
use crate::types::c_type;

impl BodyWriter<'_, '_> {
    pub(crate) fn encode(&mut self, message: Value, wire: WireId, op: &Op) {
        let (m, wire) = (self.value(message), self.plan.names.wires[wire.index()].clone());
        let source = self.source(op.source);
        self.text.line(format!("encode_{wire}(k, {m}, {source});"));
        self.same(op.results[0], message);
    }

    /// `trim` or `skip`.
    pub(crate) fn cut(&mut self, what: &str, message: Value, size: Value, op: &Op) {
        let (m, size, source) = (self.value(message), self.value(size), self.source(op.source));
        self.text.line(format!("mk_do_{what}(&k->core, {m}, {size}, {source});"));
        self.same(op.results[0], message);
    }

    pub(crate) fn split(&mut self, message: Value, at: Value, op: &Op) {
        let (m, at, source) = (self.value(message), self.value(at), self.source(op.source));
        self.same(op.results[0], message);
        self.assign(op.results[1], format!("mk_do_split(&k->core, {m}, {at}, {source})"));
    }

    pub(crate) fn join(&mut self, first: Value, second: Value, op: &Op) {
        let (a, b, source) = (self.value(first), self.value(second), self.source(op.source));
        self.text.line(format!("mk_do_join(&k->core, {a}, {b}, {source});"));
        self.same(op.results[0], first);
    }

    pub(crate) fn load(&mut self, field: OctetField, message: Value, at: Value, op: &Op) {
        let (m, at, source) = (self.value(message), self.value(at), self.source(op.source));
        let (octets, little) = (field.width / 8, field.endian == Endian::Little);
        let call = format!("mk_do_load(&k->core, {m}, {at}, {octets}, {little}, {source})");
        let c = c_type(self.plan.automaton, field.ty());
        let text = if c == "uint64_t" { call } else { format!("({c}){call}") };
        self.assign(op.results[0], text);
    }

    pub(crate) fn store(&mut self, field: OctetField, message: Value, (at, value): (Value, Value), op: &Op) {
        let (octets, little) = (field.width / 8, field.endian == Endian::Little);
        let source = self.source(op.source);
        let (m, at, value) = (self.value(message), self.value(at), self.value(value));
        self.text.line(format!("mk_do_store(&k->core, {m}, {at}, {value}, {octets}, {little}, {source});"));
        self.same(op.results[0], message);
    }

    pub(crate) fn attribute(&mut self, message: Value, attribute: AttributeId, result: Value) -> String {
        let word = format!("mk_attributes({})[{}]", self.value(message), attribute.index());
        match self.type_of(result) {
            Type::Bool => format!("{word} != 0"),
            ty => format!("({}){word}", c_type(self.plan.automaton, ty)),
        }
    }

    pub(crate) fn reason(&self, reason: ReasonId) -> String {
        let name = &self.plan.automaton.reasons[reason.index()].name;
        format!("{} /* {} */", reason.0, name.replace("*/", "* /"))
    }

    pub(crate) fn new_message(&mut self, content: &[u8], result: Value) {
        if content.is_empty() {
            return self.assign(result, "mk_message_new(&k->core.pool, NULL, 0)".into());
        }
        let name = self.temporary("octets");
        self.text.line(format!("static const uint8_t {name}[] = {};", octets(content)));
        self.assign(result, format!("mk_message_new(&k->core.pool, {name}, sizeof {name})"));
    }

    /// The number that a header record carries: which header, which alternative.
    pub(crate) fn record_kind(&self, header: HeaderId, variant: VariantId) -> u32 {
        header.0 << 16 | variant.0
    }

    pub(crate) fn push(&mut self, message: Value, header: HeaderId, variant: VariantId, fields: &[Value]) {
        let m = self.value(message);
        let tag = self.plan.names.variants[header.index()][variant.index()].clone();
        let names = self.plan.names.fields[header.index()][variant.index()].clone();
        self.text.open("");
        self.text.line(format!("struct {tag} *header = mk_push(&k->core.pool, {m}, sizeof(struct {tag}));"));
        self.text.line(format!("header->kind = {};", self.record_kind(header, variant)));
        for (field, name) in fields.iter().zip(names) {
            let value = self.value(*field);
            self.text.line(format!("header->{name} = {value};"));
        }
        self.text.close("");
    }

    pub(crate) fn pop(
        &mut self,
        message: Value,
        header: HeaderId,
        variant: VariantId,
        results: &[Value],
        source: &str,
    ) {
        let m = self.value(message);
        let tag = self.plan.names.variants[header.index()][variant.index()].clone();
        let names = self.plan.names.fields[header.index()][variant.index()].clone();
        self.same(results[0], message);
        let kind = self.record_kind(header, variant);
        let live = results[1..].iter().any(|field| self.is_live(*field));
        if !live {
            self.text.line(format!("mk_do_pop(&k->core, {m}, {kind}, sizeof(struct {tag}), {source});"));
            return;
        }
        let record = self.temporary("header");
        self.text.line(format!(
            "const struct {tag} *{record} = mk_do_pop(&k->core, {m}, {kind}, sizeof(struct {tag}), {source});"
        ));
        for (field, name) in results[1..].iter().zip(names) {
            if self.is_live(*field) {
                self.assign(*field, format!("{record}->{name}"));
            }
        }
    }
}
