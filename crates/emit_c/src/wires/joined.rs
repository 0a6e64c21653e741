//! Items of a wire behind which ways meet again: each item within is written once, and `skip` counts the octets of what is
//! there, so that the code grows with the number of items, not of ways.
//!
//! What is read or laid out within such an item has its place behind `skip` octets, and by some bits from there.

use mokume_reaction::*;

use super::common::*;
use super::decoder::{facts, tag, Decoder, State};
use super::encoder::{self, facts as laid_out, Encoder};
use crate::text::literal;
use crate::types::mask;

impl<'a> Decoder<'_, 'a> {
    /// Reads an item on all its ways, which meet behind it.
    pub(crate) fn joined(&mut self, state: &mut State<'a>, item: &'a WireItem) {
        self.declare_within(state, item);
        if !std::mem::replace(&mut state.skips, true) {
            self.text.line("uint32_t skip = 0;");
        }
        let mut bits = 0;
        self.branch(state, item, &mut bits);
        state.at += bits;
        state.checked = state.at.div_ceil(8);
    }

    /// Declares what is read within the item; it is zero where it is not read.
    fn declare_within(&mut self, state: &mut State<'a>, item: &'a WireItem) {
        let automaton = self.plan.automaton;
        for header in chosen(item) {
            let Some(known) = state.headers.iter_mut().find(|known| known.header == header) else { continue };
            let (kind, count) = (format!("kind{}", header.0), automaton.headers[header.index()].variants.len());
            self.text.line(format!("uint32_t {kind} = {};", known.variant.0));
            let fields = |variant| match VariantId::from(variant) == known.variant {
                true => known.fields.clone(),
                false => vec![None; super::decoder::fields(automaton, header, VariantId::from(variant))],
            };
            known.met = Some((kind, (0..count).map(fields).collect()));
        }
        for field in WireItem::fields(std::slice::from_ref(item)) {
            let index = field.index.0 as usize;
            if state.slots.len() <= index {
                state.slots.resize(index + 1, None);
            }
            let (own, uses) = match keep_for_header(state, field) {
                true => (format!(", v{index} = 0"), format!(", (void)v{index}")),
                false => (String::new(), String::new()),
            };
            self.text.line(format!("uint64_t f{index} = 0{own};"));
            self.text.line(format!("(void)f{index}{uses};"));
            if waits(field) {
                self.text.line(format!("bool there{index} = false;"));
                self.text.line(format!("(void)there{index};"));
            }
            if sums(field) {
                self.text.line(format!("uint32_t skip{index} = 0;"));
            }
        }
    }

    /// Reads an item that begins at this bit from `skip` octets; all its ways lead to the same bit.
    fn branch(&mut self, state: &mut State<'a>, item: &'a WireItem, bits: &mut u32) {
        self.pass(bits);
        match item {
            WireItem::Optional { when, items } => {
                self.text.open(format!("if ({})", tests(when, &facts(state, FieldIndex(0)))));
                self.run(state, items, &mut bits.clone());
                self.text.close("");
            }
            WireItem::Choice { on, arms, unknown } => {
                self.text.open(format!("switch ({})", tag(state, *on)));
                let mut behind = *bits;
                let mut seen = std::collections::HashSet::new();
                for arm in arms.iter().filter(|arm| seen.insert(arm.tag)) {
                    self.text.open(format!("case {}:", literal(arm.tag)));
                    for (header, variant) in arm.selects.iter().filter(|(header, _)| self.wire.headers.contains(header))
                    {
                        self.text.line(format!("kind{} = {};", header.0, variant.0));
                    }
                    behind = *bits;
                    self.run(state, &arm.items, &mut behind);
                    self.text.line("break;");
                    self.text.close("");
                }
                self.text.line("default:");
                self.text.line(format!("    return {};", self.reason(*unknown)));
                self.text.close("");
                *bits = behind;
            }
            _ => {}
        }
    }

    /// Reads the items of a part, one after the other.
    fn run(&mut self, state: &mut State<'a>, items: &'a [WireItem], bits: &mut u32) {
        let mut checked = (state.at + *bits).div_ceil(8);
        for item in items {
            let WireItem::Field(field) = item else {
                self.branch(state, item, bits);
                checked = (state.at + *bits).div_ceil(8);
                continue;
            };
            let at = state.at + *bits;
            let end = (at + u32::from(field.width)).div_ceil(8);
            if end > checked {
                self.refuse_if(format!("end < {end} + skip"), self.wire.short);
                checked = end;
            }
            self.field_within(state, field, at);
            *bits += u32::from(field.width);
        }
        self.pass(bits);
    }

    fn field_within(&mut self, state: &mut State<'a>, field: &'a WireField, at: u32) {
        let index = field.index.0 as usize;
        let value = format!("f{index}");
        let skip = Some(format!("skip{index}")).filter(|_| sums(field));
        if let Some(skip) = &skip {
            self.text.line(format!("{skip} = skip;"));
        }
        let read = read_bits("(packet + skip)", at, field.width, field.endian);
        self.text.line(format!("{value} = {read}; /* {} */", field.name.replace("*/", "* /")));
        state.slots[index] = Some(Slot { at, width: field.width, value: value.clone(), skip, here: None });
        let own = self.own_value(state, field, &value);
        if let (Some(own), Some(Some(value))) = (own, place_in_header(state, field)) {
            self.text.line(format!("{value} = {own};"));
        }
        self.constraints(state, field);
        let mut left = false;
        for rule in state.rules.iter_mut().filter(|rule| rule.own == field.index) {
            rule.when = Some(format!("there{index}"));
            left = true;
        }
        if left {
            self.text.line(format!("there{index} = true;"));
        }
    }

    /// What follows is behind the whole octets so far.
    fn pass(&mut self, bits: &mut u32) {
        if *bits >= 8 {
            self.text.line(format!("skip += {};", *bits / 8));
        }
        *bits %= 8;
    }
}

/// Where the value of the header's field is kept that the field is read for.
fn place_in_header<'s>(state: &'s mut State, field: &WireField) -> Option<&'s mut Option<String>> {
    let FieldValue::Header { header, variant, field: place, .. } = &field.value else { return None };
    let known = state.headers.iter_mut().find(|known| known.header == *header)?;
    known.fields_of(*variant)?.get_mut(*place as usize)
}

/// Gives the header's field a variable of its own, if none has it yet: the same may be read on another way, too.
fn keep_for_header(state: &mut State, field: &WireField) -> bool {
    match place_in_header(state, field) {
        Some(value @ None) => {
            *value = Some(format!("v{}", field.index.0));
            true
        }
        _ => false,
    }
}

/// Whether nobody asks if these items are there.
fn is_empty(items: &[WireItem]) -> bool {
    items.iter().all(|item| matches!(item, WireItem::Optional { items, .. } if is_empty(items)))
}

impl<'a> Encoder<'_, 'a> {
    /// Lays out an item on all its ways, which meet behind it.
    pub(crate) fn joined(&mut self, state: &mut encoder::State<'a>, item: &'a WireItem) {
        let mut bits = 0;
        self.branch(state, None, item, &mut bits);
        state.at += bits;
    }

    /// Lays out an item within a part that is there or not, or in none.
    fn branch(&mut self, state: &mut encoder::State<'a>, outer: Option<&str>, item: &'a WireItem, bits: &mut u32) {
        self.pass(state, outer, bits);
        let begins = *bits;
        match item {
            WireItem::Optional { when, items } if !is_empty(items) => {
                let here = self.here(state, outer, &tests(when, &laid_out(state, "0", FieldIndex(0))));
                self.run(state, &here, items, &mut bits.clone());
            }
            WireItem::Choice { on, arms, .. } => {
                let arm = self.which(state, outer, *on, arms);
                for (place, taken) in arms.iter().enumerate().filter(|(_, arm)| !is_empty(&arm.items)) {
                    let here = self.here(state, None, &format!("{arm} == {place}"));
                    *bits = begins;
                    self.run(state, &here, &taken.items, bits);
                }
            }
            _ => {}
        }
        state.shares_octets |= [begins, *bits].iter().any(|bits| !(state.at + bits).is_multiple_of(8));
    }

    /// Names whether a part is there.
    fn here(&mut self, state: &mut encoder::State<'a>, outer: Option<&str>, condition: &str) -> String {
        state.parts += 1;
        let name = format!("here{}", state.parts);
        let outer = outer.map_or(String::new(), |outer| format!("{outer} && "));
        self.text.line(format!("bool {name} = {outer}{condition};"));
        name
    }

    /// Names the number of the arm that the headers fit, which decides the tag.
    fn which(
        &mut self,
        state: &mut encoder::State<'a>,
        outer: Option<&str>,
        on: FieldIndex,
        arms: &'a [WireArm],
    ) -> String {
        state.parts += 1;
        let (name, tag) = (format!("arm{}", state.parts), format!("tag{}", state.parts));
        let conditions: Vec<String> = arms.iter().map(|arm| self.fits(state, on, arm)).collect();
        self.text.line(format!("uint32_t {name} = {};", arms.len()));
        let tagged = state.slots.get_mut(on.0 as usize).and_then(Option::as_mut);
        let width = tagged.filter(|_| is_tag(&self.wire.items, on)).map(|slot| {
            let before = std::mem::replace(&mut slot.value, tag.clone());
            self.text.line(format!("uint64_t {tag} = {before};"));
            slot.width
        });
        if let Some(outer) = outer {
            self.text.open(format!("if ({outer})"));
        }
        for (place, (arm, condition)) in arms.iter().zip(conditions).enumerate() {
            let otherwise = if place == 0 { "" } else { "else " };
            self.text.open(format!("{otherwise}if ({condition})"));
            self.text.line(format!("{name} = {place};"));
            if let Some(width) = width {
                self.text.line(format!("{tag} = {};", literal(arm.tag & mask(width))));
            }
            self.text.close("");
        }
        self.text.line(format!("narrow |= {name} == {};", arms.len()));
        if outer.is_some() {
            self.text.close("");
        }
        name
    }

    fn run(&mut self, state: &mut encoder::State<'a>, here: &str, items: &'a [WireItem], bits: &mut u32) {
        for item in items {
            match item {
                WireItem::Field(field) => {
                    self.field_at(state, field, (state.at + *bits, Some(here.to_owned())));
                    *bits += u32::from(field.width);
                }
                item => self.branch(state, Some(here), item, bits),
            }
        }
        self.pass(state, Some(here), bits);
    }

    /// What follows is behind the whole octets so far, if they are there.
    fn pass(&mut self, state: &mut encoder::State<'a>, here: Option<&str>, bits: &mut u32) {
        if *bits >= 8 {
            let before = state.skip().unwrap_or_else(|| "0".into());
            state.skips += 1;
            let octets = here.map_or((*bits / 8).to_string(), |here| format!("({here} ? {} : 0)", *bits / 8));
            self.text.line(format!("uint32_t skip{} = {before} + {octets};", state.skips));
        }
        *bits %= 8;
    }
}
