//! Encoders: convert the records on top of a message to octets in front of it.
//!
//! Fields first, then sizes, then checksums, each in order, as in `mokume-wire`.

use mokume_reaction::*;

use super::common::*;
use super::encoder::{put, Encoder, State};
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
    let mut encoder = Encoder { plan, wire, text, parts: Parts::of(wire) };
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
                WireItem::Choice { on, arms, .. } => return self.choice(state, *on, arms, &items[place + 1..]),
                WireItem::Optional { when, items: part } if self.meet(state.at, part, &items[place + 1..]) => {
                    self.part(&mut state, "", when, part);
                }
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

    /// Whether the ways meet again behind this part: each of its fields has room for its value.
    fn meet(&self, at: u32, part: &[WireItem], rest: &[&WireItem]) -> bool {
        let fits = |field: &WireField| match &field.value {
            FieldValue::Header { header, variant, field: place, .. } => {
                let automaton = self.plan.automaton;
                let ty = automaton.headers[header.index()].variants[variant.index()].fields[*place as usize].1;
                ty.width(automaton) <= field.width
            }
            _ => false,
        };
        self.parts.meet(at, part, rest) && WireItem::fields(part).into_iter().all(fits)
    }

    /// Lays out a part that is there or not, in another part or in none. What follows is behind it by the octets in
    /// the last `skip`.
    fn part(&mut self, state: &mut State<'a>, outer: &str, when: &'a [WireTest], items: &'a [WireItem]) {
        let here = format!("{outer}{}", tests(when, &facts(state, "0", FieldIndex(0))));
        state.parts += 1;
        let is_here = format!("here{}", state.parts);
        self.text.line(format!("bool {is_here} = {here};"));
        for item in items {
            match item {
                WireItem::Field(field) => {
                    self.field(state, field);
                    state.at -= u32::from(field.width);
                    state.places.insert(field.index, (state.skip(), Some(is_here.clone())));
                    let (before, width) = (state.skip().unwrap_or_else(|| "0".into()), field.width / 8);
                    state.skips += 1;
                    self.text.line(format!("uint32_t skip{} = {before} + ({is_here} ? {width} : 0);", state.skips));
                }
                WireItem::Optional { when, items } => self.part(state, &format!("{is_here} && "), when, items),
                _ => {}
            }
        }
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
        let is_tag = is_tag(&self.wire.items, on);
        let value = state.slots.get(on.0 as usize).cloned().flatten().map_or("0".to_string(), |slot| slot.value);
        let mut conditions: Vec<String> = arm.selects.iter().map(|(h, v)| self.counts_as(*h, *v)).collect();
        conditions.extend(arm.commons.iter().filter_map(|common| {
            let value = self.read_header(common.header, common.variant, common.field)?;
            Some(format!("{value} == {}", literal(common.value)))
        }));
        if !is_tag {
            conditions.push(format!("{value} == {}", literal(arm.tag)));
        }
        let condition = if conditions.is_empty() { "true".into() } else { conditions.join(" && ") };
        self.text.open(format!("if ({condition})"));
        let mut taken = state.clone();
        if let Some(Some(slot)) = taken.slots.get_mut(on.0 as usize).filter(|_| is_tag) {
            taken.narrow |= arm.tag > mask(slot.width);
            slot.value = literal(arm.tag & mask(slot.width));
        }
        self.items(taken, arm.items.iter().chain(rest.iter().copied()).collect());
        self.text.line("return;");
        self.text.close("");
    }

    /// Whether the header has this variant, for a choice: a missing header counts as the first variant.
    fn counts_as(&self, header: HeaderId, variant: VariantId) -> String {
        let place = self.wire.headers.iter().position(|known| *known == header);
        match place {
            Some(place) if variant == VariantId(0) => {
                let first = self.has(header, variant);
                format!("({first} || kind{place} >> 16 != {})", header.0)
            }
            _ => self.has(header, variant),
        }
    }

    fn field(&mut self, state: &mut State<'a>, field: &'a WireField) {
        let index = field.index.0 as usize;
        let bits = mask(field.width);
        let value = match &field.value {
            FieldValue::Constant { value, .. } => {
                state.narrow |= *value > bits;
                literal(value & bits)
            }
            FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                self.header_field(field, (*header, *variant, *place), (*times, *plus))
            }
            _ => "UINT64_C(0)".into(),
        };
        if state.slots.len() <= index {
            state.slots.resize(index + 1, None);
        }
        state.slots[index] = Some(Slot { at: state.at, width: field.width, value });
        if let Some(skip) = state.skip() {
            state.places.insert(field.index, (Some(skip), None));
        }
        state.fields.push(field);
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
        let mut size = state.at.div_ceil(8).to_string();
        if let Some(WireItem::Options(options)) = state.last {
            self.options_size(state.at, options);
            size = "head".into();
        }
        if !state.lists.is_empty() {
            self.lists_size(state.at, &state.lists);
            size = "head".into();
        }
        if let Some(skip) = state.skip() {
            size = format!("({size} + {skip})");
        }
        self.text.line(format!("uint32_t size = payload + {size};"));
        self.text.line("(void)size;");
        self.text.line(format!("uint8_t *packet = mk_prepend(&k->core.pool, m, {size});"));
        self.text.line("(void)packet;");
        match state.last {
            Some(WireItem::Options(options)) => self.write_options(state.at, options),
            Some(WireItem::Reach(to)) => size = self.reach(&state, to, &size),
            _ => {}
        }
        if !state.lists.is_empty() {
            self.write_lists(state.at, &state.lists);
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
        self.text.line(format!("uint64_t {name} = {};", expression(e, &facts)));
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
        let mut octets: std::collections::BTreeMap<(u32, String), Vec<String>> = std::collections::BTreeMap::new();
        for field in fields {
            let Some(Some(slot)) = state.slots.get(field.index.0 as usize) else { continue };
            if is_whole(slot.at, slot.width) {
                self.write_one(state, field);
                continue;
            }
            let packet = state.place(field).0;
            for piece in pieces(slot.at, slot.width) {
                let bits = format!("({} >> {} & {:#04x}u)", slot.value, piece.place, (1u32 << piece.bits) - 1);
                octets.entry((piece.octet, packet.clone())).or_default().push(format!("{bits} << {}", piece.shift));
            }
        }
        for ((octet, packet), parts) in octets {
            self.text.line(format!("{packet}[{octet}] = (uint8_t)({});", parts.join(" | ")));
        }
    }

    fn write_one(&mut self, state: &State<'a>, field: &WireField) {
        let Some(Some(slot)) = state.slots.get(field.index.0 as usize) else { return };
        let (packet, here) = state.place(field);
        if let Some(here) = &here {
            self.text.open(format!("if ({here})"));
        }
        put(self.text, &packet, (slot.at, slot.width), field.endian, &slot.value);
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

fn facts<'s>(state: &'s State, header_size: &'s str, own: FieldIndex) -> Facts<'s> {
    Facts { slots: &state.slots, packet: "packet", packet_size: "size", header_size, own }
}

fn is_checksum(field: &WireField) -> bool {
    matches!(&field.value, FieldValue::Computed { expression, .. } if named(expression, &mut |_| ()).2)
}

fn is_tag(items: &[WireItem], on: FieldIndex) -> bool {
    WireItem::fields(items).iter().any(|field| field.index == on && field.value == FieldValue::Tag)
}
