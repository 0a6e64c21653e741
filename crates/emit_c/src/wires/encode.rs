//! Encoders: convert the records on top of a message to octets in front of it.
//!
//! Fields first, then sizes, then checksums, each in order, as in `mokume-wire`.

use std::collections::BTreeMap;

use mokume_reaction::*;

use super::common::*;
use super::encoder::{facts, put, Encoder, State};
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::types::mask;

/// Writes `encode_w` of a wire.
pub(crate) fn write(plan: &Plan, id: WireId, text: &mut Text) {
    let wire = &plan.automaton.wires[id.index()];
    let name = &plan.names.wires[id.index()];
    text.line(format!("/* {}: the headers on top become octets. */", wire.name));
    text.function(format!(
        "static MK_UNUSED void encode_{name}(struct {} *k, mk_message *m, uint32_t source)",
        plan.names.stack
    ));
    text.line("uint32_t payload = m->view.size;");
    text.line("bool narrow = false;");
    let mut encoder = Encoder { plan, wire, text };
    encoder.records();
    encoder.items(State::default(), wire.items.iter().collect());
    text.end_function();
}

impl<'a> Encoder<'_, 'a> {
    /// Takes the wire's records off the message; they stay readable.
    fn records(&mut self) {
        for (place, header) in self.wire.headers.iter().enumerate() {
            let tags = &self.plan.names.variants[header.index()];
            self.text.line(format!("const void *record{place} = mk_top(&k->core.pool, m);"));
            self.text.line(format!("uint32_t kind{place} = mk_top_kind(&k->core, m);"));
            self.text.line(format!("(void)record{place};"));
            self.text.open(format!("switch (kind{place})"));
            for (variant, tag) in tags.iter().enumerate() {
                self.text.line(format!("case {}:", header.0 << 16 | variant as u32));
                self.text.line(format!("    mk_pop(&k->core.pool, m, sizeof(struct {tag}));"));
                self.text.line("    break;");
            }
            self.text.line("default:");
            self.text.line("    break;");
            self.text.close("");
        }
    }

    fn items(&mut self, mut state: State<'a>, items: Vec<&'a WireItem>) {
        for (place, item) in items.iter().enumerate() {
            match item {
                WireItem::Field(field) => self.field(&mut state, field),
                item if meet(self.wire, item, &items[place + 1..]) => self.joined(&mut state, item),
                WireItem::Choice { on, arms, .. } => return self.choice(state, *on, arms, &items[place + 1..]),
                WireItem::Optional { when, items: part } => {
                    let condition = tests(when, &facts(&state, "0", FieldIndex(0)));
                    self.text.open(format!("if ({condition})"));
                    self.items(state.clone(), part.iter().chain(items[place + 1..].iter().copied()).collect());
                    self.text.line("return;");
                    self.text.close("");
                }
                last @ (WireItem::Options(_) | WireItem::Reach(_)) => state.last = Some(last),
                WireItem::List(list) => state.lists.push(list),
            }
        }
        self.finish(state);
    }

    /// Chooses the arm of the current variants; if the choice is on a field with its own value, the arm must fit that
    /// value too.
    fn choice(&mut self, state: State<'a>, on: FieldIndex, arms: &'a [WireArm], rest: &[&'a WireItem]) {
        self.arms(&state, on, &arms.iter().collect::<Vec<_>>(), rest);
        self.items(State { narrow: true, ..state }, rest.to_vec());
    }

    /// Many arms are distinguished header by header.
    fn arms(&mut self, state: &State<'a>, on: FieldIndex, arms: &[&'a WireArm], rest: &[&'a WireItem]) {
        let Some(header) = told_apart_by(arms) else {
            arms.iter().for_each(|arm| self.arm(state, on, arm, rest));
            return;
        };
        let mut variants: Vec<VariantId> = Vec::new();
        for variant in arms.iter().filter_map(|arm| selected(arm, header)) {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        for variant in variants {
            self.text.open(format!("if ({})", self.counts_as(header, variant)));
            let of = arms.iter().copied().filter(|arm| selected(arm, header) == Some(variant));
            self.arms(state, on, &of.collect::<Vec<_>>(), rest);
            self.text.close("");
        }
    }

    fn arm(&mut self, state: &State<'a>, on: FieldIndex, arm: &'a WireArm, rest: &[&'a WireItem]) {
        let condition = self.fits(state, on, arm);
        self.text.open(format!("if ({condition})"));
        let mut taken = state.clone();
        let is_tag = is_tag(&self.wire.items, on);
        if let Some(Some(slot)) = taken.slots.get_mut(on.0 as usize).filter(|_| is_tag) {
            taken.narrow |= arm.tag > mask(slot.width);
            slot.value = literal(arm.tag & mask(slot.width));
        }
        self.items(taken, arm.items.iter().chain(rest.iter().copied()).collect());
        self.text.line("return;");
        self.text.close("");
    }

    fn field(&mut self, state: &mut State<'a>, field: &'a WireField) {
        self.field_at(state, field, (state.at, None));
        state.at += u32::from(field.width);
    }

    fn finish(&mut self, mut state: State<'a>) {
        if state.narrow {
            self.text.line("narrow = true;");
        }
        let is_full = |list: &&WireList| list.to_end.is_some();
        if matches!(state.last, Some(WireItem::Options(options)) if options.fill()) || state.lists.iter().any(is_full) {
            self.text.line("narrow |= payload > 0;");
        }
        let mut size = state.octets(state.at.div_ceil(8));
        let begins = state.octets(state.at / 8);
        if let Some(WireItem::Options(options)) = state.last {
            self.options_size(&begins, options);
            size = "head".into();
        }
        if !state.lists.is_empty() {
            self.lists_size(&begins, &state.lists);
            size = "head".into();
        }
        self.text.line(format!("uint32_t size = payload + {size};"));
        self.text.line("(void)size;");
        self.text.line(format!("uint8_t *packet = mk_prepend(&k->core.pool, m, {size});"));
        self.text.line("(void)packet;");
        if state.shares_octets {
            self.text.line(format!("memset(packet, 0, {size});"));
        }
        match state.last {
            Some(WireItem::Options(options)) => self.write_options(&begins, options),
            Some(WireItem::Reach(to)) => size = self.reach(&state, to, &size),
            _ => {}
        }
        if !state.lists.is_empty() {
            self.write_lists(&begins, &state.lists);
        }
        let computed = |field: &&&'a WireField| matches!(field.value, FieldValue::Computed { .. });
        let fields = state.fields.clone();
        let (checksums, sizes): (Vec<&WireField>, Vec<&WireField>) =
            fields.iter().filter(computed).partition(|field| is_checksum(field));
        for field in sizes {
            self.compute(&mut state, field, &size);
        }
        self.write_fields(&state, &fields);
        for field in checksums {
            self.compute(&mut state, field, &size);
            self.write_one(&state, field);
        }
        self.text.line("if (MK_UNLIKELY(narrow))");
        self.text.line("    mk_report_at(&k->core, MK_NARROW, source);");
    }

    /// The octets of the header up to where the wire says; limited to the packet.
    fn reach(&mut self, state: &State<'a>, to: &WireExpression, size: &str) -> String {
        self.text.line(format!("uint64_t to = {};", expression(to, &facts(state, size, FieldIndex(0)))));
        self.text.line(format!("narrow |= to < {size} || to > size;"));
        self.text.line(format!("uint32_t reach = to < {size} ? {size} : to > size ? size : (uint32_t)to;"));
        self.text.line("(void)reach;");
        "reach".into()
    }

    fn compute(&mut self, state: &mut State<'a>, field: &WireField, header_size: &str) {
        let FieldValue::Computed { expression: e, .. } = &field.value else { return };
        let facts = facts(state, header_size, field.index);
        let (name, bits) = (format!("f{}", field.index.0), literal(mask(field.width)));
        let value = expression(e, &facts);
        match state.here(field) {
            Some(here) => self.text.line(format!("uint64_t {name} = {here} ? {value} : 0;")),
            None => self.text.line(format!("uint64_t {name} = {value};")),
        }
        if field.width < 64 {
            self.text.line(format!("narrow |= {name} > {bits};"));
            self.text.line(format!("{name} &= {bits};"));
        }
        if let Some(Some(slot)) = state.slots.get_mut(field.index.0 as usize) {
            slot.value = name;
        }
    }

    /// Writes all fields: whole octets directly, others combined octet by octet.
    fn write_fields(&mut self, state: &State<'a>, fields: &[&'a WireField]) {
        let mut octets: BTreeMap<(u32, String, Option<String>), Vec<String>> = BTreeMap::new();
        for together in fields.chunk_by(|one, next| state.here(one) == state.here(next)) {
            let slot = |field: &&'a WireField| Some((state.slots.get(field.index.0 as usize)?.as_ref()?, field.endian));
            let (whole, parts): (Vec<_>, Vec<_>) =
                together.iter().filter_map(slot).partition(|(slot, _)| is_whole(slot.at, slot.width));
            for (slot, _) in parts {
                for piece in pieces(slot.at, slot.width) {
                    let bits = format!("({} >> {} & {:#04x}u)", slot.value, piece.place, (1u32 << piece.bits) - 1);
                    let octet = (piece.octet, slot.packet(), slot.here.clone());
                    octets.entry(octet).or_default().push(format!("{bits} << {}", piece.shift));
                }
            }
            let here = state.here(together[0]).filter(|_| !whole.is_empty());
            self.if_here(here, |encoder| {
                for (slot, endian) in &whole {
                    put(encoder.text, &slot.packet(), (slot.at, slot.width), *endian, &slot.value);
                }
            });
        }
        for ((octet, packet, here), mut parts) in octets {
            if state.shares_octets {
                parts.insert(0, format!("{packet}[{octet}]"));
            }
            self.if_here(here.as_deref(), |encoder| {
                encoder.text.line(format!("{packet}[{octet}] = (uint8_t)({});", parts.join(" | ")));
            });
        }
    }

    fn write_one(&mut self, state: &State<'a>, field: &WireField) {
        let Some(Some(slot)) = state.slots.get(field.index.0 as usize) else { return };
        self.if_here(slot.here.as_deref(), |encoder| {
            put(encoder.text, &slot.packet(), (slot.at, slot.width), field.endian, &slot.value);
        });
    }

    fn if_here(&mut self, here: Option<&str>, write: impl FnOnce(&mut Self)) {
        if let Some(here) = here {
            self.text.open(format!("if ({here})"));
        }
        write(self);
        if here.is_some() {
            self.text.close("");
        }
    }
}

/// Up to this many arms are tested one by one.
const FEW: usize = 3;

/// A header that all of many arms select, in more than one variant.
fn told_apart_by(arms: &[&WireArm]) -> Option<HeaderId> {
    let of_all = |header: &HeaderId| {
        let first = selected(arms[0], *header);
        arms.iter().all(|arm| selected(arm, *header).is_some())
            && arms.iter().any(|arm| selected(arm, *header) != first)
    };
    let many = arms.first().filter(|_| arms.len() > FEW)?;
    many.selects.iter().map(|(header, _)| *header).find(of_all)
}

fn selected(arm: &WireArm, header: HeaderId) -> Option<VariantId> {
    arm.selects.iter().find(|(known, _)| *known == header).map(|(_, variant)| *variant)
}

fn is_checksum(field: &WireField) -> bool {
    matches!(&field.value, FieldValue::Computed { expression, .. } if named(expression, &mut |_| ()).2)
}
