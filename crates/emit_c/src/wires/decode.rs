//! Decoders: convert a packet to header records, or give the reason why it is refused. Total, and never read beyond the
//! packet.
//!
//! They must keep the order in which `mokume-wire` refuses: that order is part of a wire's meaning.

use mokume_reaction::*;

use super::common::*;
use super::decoder::{facts, fields, tag, Decoder, Known, State};
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::types::c_type;

/// Writes `decode_w` and `vet_w` of a wire, in one function.
pub(crate) fn write(plan: &Plan, id: WireId, text: &mut Text) {
    let wire = &plan.automaton.wires[id.index()];
    let name = &plan.names.wires[id.index()];
    text.line(format!("/* {}: why the packet is refused; MK_NOBODY if it is accepted. */", wire.name));
    text.function(format!(
        "static MK_UNUSED uint32_t read_{name}(struct {} *k, mk_message *m, bool only_validate)",
        plan.names.stack
    ));
    text.line("const uint8_t *packet = mk_data(m);");
    text.line("uint32_t end = m->view.size;");
    text.line("(void)k, (void)packet, (void)only_validate;");
    let headers = wire.headers.iter().map(|header| Known {
        header: *header,
        variant: VariantId(0),
        fields: vec![None; fields(plan.automaton, *header, VariantId(0))],
        met: None,
    });
    let state = State {
        at: 0,
        checked: 0,
        slots: Vec::new(),
        headers: headers.collect(),
        rules: Vec::new(),
        packet_known: !WireItem::fields(&wire.items).iter().any(|field| field.trims_packet),
        header_known: static_bits(&wire.items).map(|bits| bits.div_ceil(8).to_string()),
        size: None,
        over: false,
        shorter: Vec::new(),
        skips: false,
    };
    Decoder { plan, wire, id, text }.items(state, wire.items.iter().collect());
    text.end_function();
}

fn static_bits(items: &[WireItem]) -> Option<u32> {
    let width = |item: &WireItem| match item {
        WireItem::Field(field) => Some(u32::from(field.width)),
        _ => None,
    };
    items.iter().map(width).sum()
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the remaining items, on one way.
    fn items(&mut self, mut state: State<'a>, items: Vec<&'a WireItem>) {
        for (place, item) in items.iter().enumerate() {
            match item {
                WireItem::Field(field) => self.field(&mut state, field),
                item if meet(self.wire, item, &items[place + 1..]) => self.joined(&mut state, item),
                WireItem::Choice { on, arms, unknown } => {
                    let rest = &items[place + 1..];
                    return self.choice(&state, *on, arms, *unknown, rest);
                }
                WireItem::Optional { when, items: part } => {
                    self.text.open(format!("if ({})", tests(when, &facts(&state, FieldIndex(0)))));
                    self.items(state.clone(), part.iter().chain(items[place + 1..].iter().copied()).collect());
                    self.text.close("");
                }
                WireItem::Options(options) => self.options(&mut state, options),
                WireItem::List(list) => self.list(&mut state, list),
                WireItem::Reach(to) => {
                    let to = expression(to, &facts(&state, FieldIndex(0)));
                    let reach = self.octet(&state, "reach", &to);
                    state.header_known = Some(reach);
                    self.check(&mut state);
                }
            }
        }
        self.finish(state);
    }

    fn choice(
        &mut self,
        state: &State<'a>,
        on: FieldIndex,
        arms: &'a [WireArm],
        unknown: ReasonId,
        rest: &[&'a WireItem],
    ) {
        self.text.open(format!("switch ({})", tag(state, on)));
        let mut seen = std::collections::HashSet::new();
        for (place, arm) in arms.iter().enumerate().filter(|(_, arm)| seen.insert(arm.tag)) {
            self.text.open(format!("case {}:", literal(arm.tag)));
            let mut state = state.clone();
            for (header, variant) in &arm.selects {
                self.select(&mut state, *header, *variant);
            }
            for common in &arm.commons {
                self.select(&mut state, common.header, common.variant);
                if let Some(known) = state.headers.iter_mut().find(|known| known.header == common.header) {
                    known.fields[common.field as usize] = Some(literal(common.value));
                }
            }
            let same = |before: &&WireArm| !before.commons.is_empty() && before.selects == arm.selects;
            state.shorter.extend(arms[..place].iter().filter(same).map(|before| (before, unknown)));
            let items = arm.items.iter().chain(rest.iter().copied()).collect();
            self.items(state, items);
            self.text.close("");
        }
        self.text.line("default:");
        self.text.line(format!("    return {};", self.reason(unknown)));
        self.text.close("");
    }

    fn field(&mut self, state: &mut State<'a>, field: &'a WireField) {
        let end = state.at + u32::from(field.width);
        let octets = end.div_ceil(8);
        let (packet, behind) = if state.skips { ("(packet + skip)", " + skip") } else { ("packet", "") };
        if octets > state.checked {
            self.refuse_if(format!("end < {octets}{behind}"), self.wire.short);
            state.checked = octets;
        }
        let index = field.index.0 as usize;
        if state.slots.len() <= index {
            state.slots.resize(index + 1, None);
        }
        let value = format!("f{index}");
        let skip = Some(format!("skip{index}")).filter(|_| state.skips && sums(field));
        if let Some(skip) = &skip {
            self.text.line(format!("uint32_t {skip} = skip;"));
        }
        let read = read_bits(packet, state.at, field.width, field.endian);
        self.text.line(format!("uint64_t {value} = {read}; /* {} */", field.name.replace("*/", "* /")));
        self.text.line(format!("(void){value};"));
        state.slots[index] = Some(Slot { at: state.at, width: field.width, value: value.clone(), skip, here: None });
        state.at = end;
        let own = self.own_value(state, field, &value);
        if let (Some(own), FieldValue::Header { header, variant, field, .. }) = (own, &field.value) {
            self.set(state, (*header, *variant, *field), own);
        }
        self.constraints(state, field);
        if field.trims_packet {
            let read = state.at.div_ceil(8);
            let to = match field.trims_plus {
                0 => value.clone(),
                // Both are far from the largest number: nothing wraps around.
                plus => format!("({value} + {})", literal(plus)),
            };
            if field.trims_plus > 0 && field.width > 62 {
                self.refuse_if(format!("{value} > end"), self.wire.short);
            }
            self.refuse_if(format!("{to} > end || {to} < {read}{behind}"), self.wire.short);
            self.text.line(format!("end = (uint32_t){to};"));
            state.checked = read;
            state.packet_known = true;
            self.check(state);
        }
    }

    /// Refuses what an earlier arm could have encoded, after the items of the last choice.
    fn refuse_longer(&mut self, state: &State<'a>) {
        for (before, unknown) in &state.shorter {
            let holds = before.commons.iter().map(|common| {
                let known = state.headers.iter().find(|known| known.header == common.header);
                let value = known.and_then(|known| known.value(common.variant, common.field));
                format!("{} == {}", value.unwrap_or_else(|| "0".into()), literal(common.value))
            });
            self.refuse_if(holds.collect::<Vec<_>>().join(" && "), *unknown);
        }
    }

    fn finish(&mut self, mut state: State<'a>) {
        self.refuse_longer(&state);
        state.over = true;
        let read = state.at.div_ceil(8);
        let constant = || if state.skips { format!("({read} + skip)") } else { read.to_string() };
        let size = state.size.clone().unwrap_or_else(constant);
        state.header_known.get_or_insert_with(|| size.clone());
        self.check(&mut state);
        self.text.open("if (!only_validate)");
        if let Some(place) = self.plan.received.get(&self.id) {
            self.text.line(format!("mk_note_received(&k->core.pool, m, {place});"));
        }
        for known in state.headers.iter().rev() {
            self.push_record(known);
        }
        self.text.close("");
        self.text.line("m->view.size = end;");
        self.text.line("if (!only_validate)");
        self.text.line(format!("    mk_skip(m, {size});"));
        self.text.line("return MK_NOBODY;");
    }

    /// The header whose record is on top at the end is pushed last.
    fn push_record(&mut self, known: &Known) {
        let Some((kind, variants)) = &known.met else {
            return self.push_variant(known.header, known.variant, &known.fields);
        };
        self.text.open(format!("switch ({kind})"));
        for (variant, fields) in variants.iter().enumerate() {
            self.text.open(format!("case {variant}:"));
            self.push_variant(known.header, VariantId::from(variant), fields);
            self.text.line("break;");
            self.text.close("");
        }
        self.text.line("default:");
        self.text.line("    break;");
        self.text.close("");
    }

    fn push_variant(&mut self, of: HeaderId, which: VariantId, known: &[Option<String>]) {
        let names = &self.plan.names;
        let (header, variant) = (of.index(), which.index());
        let Some(tag) = names.variants[header].get(variant) else { return };
        self.text.open("");
        self.text.line(format!("struct {tag} *header = mk_push(&k->core.pool, m, sizeof(struct {tag}));"));
        self.text.line(format!("header->kind = {};", of.0 << 16 | which.0));
        let types = self.plan.automaton.headers[header].variants[variant].fields.iter().map(|(_, ty)| *ty);
        for ((name, value), ty) in names.fields[header][variant].iter().zip(known).zip(types) {
            let value = match (value.as_deref().unwrap_or("0"), c_type(self.plan.automaton, ty)) {
                (value, "uint64_t") => value.to_string(),
                (value, _) if value.bytes().all(|digit| digit.is_ascii_digit()) => value.to_string(),
                (value, narrow) if value.contains(' ') => format!("({narrow})({value})"),
                (value, narrow) => format!("({narrow}){value}"),
            };
            self.text.line(format!("header->{name} = {value};"));
        }
        self.text.close("");
    }
}
