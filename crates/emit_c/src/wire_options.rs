//! Options at the end of a wire's header: a loop over them, with places that are counted from the option at hand.

use mokume_reaction::*;

use crate::text::literal;
use crate::types::mask;
use crate::wire_common::*;
use crate::wire_decode::{facts, Decoder, State};
use crate::wire_encode::{self, Encoder};

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn options(&mut self, state: &mut State<'a>, options: &'a WireOptions) {
        let until = expression(&options.until, &facts(state, FieldIndex(0)));
        self.octet(state, "until", &until);
        self.declare(state, options);
        self.text.line(format!("uint32_t head = {};", state.at / 8));
        self.text.open("while (head < until)");
        self.option(state, options);
        self.text.close("");
        self.text.line("head = (uint32_t)until;");
        state.size = Some("head".into());
    }

    /// What an option says is known behind the loop, and zero if there is none.
    fn declare(&mut self, state: &mut State<'a>, options: &'a WireOptions) {
        for (place, arm) in options.arms.iter().enumerate() {
            let OptionArm::Known { header, variant, field, .. } = arm else { continue };
            self.text.line(format!("uint64_t has{place} = 0;"));
            self.set(state, (*header, *variant, *field), format!("has{place}"));
            for field in WireItem::fields(arm.items()) {
                let index = field.index.0 as usize;
                self.text.line(format!("uint64_t f{index} = 0, v{index} = 0;"));
                self.text.line(format!("(void)f{index}, (void)v{index};"));
                if state.slots.len() <= index {
                    state.slots.resize(index + 1, None);
                }
            }
        }
    }

    fn set(&mut self, state: &mut State<'a>, (header, variant, field): (HeaderId, VariantId, u32), value: String) {
        self.select(state, header, variant);
        if let Some(known) = state.headers.iter_mut().find(|known| known.header == header) {
            known.fields[field as usize] = Some(value);
        }
    }

    /// One round: the same refusals in the same order as in `mokume-wire`.
    fn option(&mut self, state: &mut State<'a>, options: &'a WireOptions) {
        let (kind, length) = (u32::from(options.kind.width), u32::from(options.length.width));
        self.text.line("const uint8_t *option = packet + head;");
        self.text.line("uint32_t rest = (uint32_t)until - head;");
        self.refuse_if(format!("rest < {}", kind / 8), options.malformed);
        self.text.line(format!("uint64_t kind = {};", read_bits("option", 0, options.kind.width, options.endian)));
        self.short_kinds(options);
        if let Some(unknown) = options.unknown {
            let known = long_kinds(options).map(|kind| format!("kind != {}", literal(kind))).collect::<Vec<_>>();
            let condition = if known.is_empty() { "true".into() } else { known.join(" && ") };
            self.refuse_if(condition, unknown);
        }
        self.refuse_if(format!("rest < {}", (kind + length) / 8), options.malformed);
        self.text
            .line(format!("uint64_t length = {};", read_bits("option", kind, options.length.width, options.endian)));
        let most = (u64::MAX - options.plus) / options.times.max(1);
        if most < mask(options.length.width) {
            self.refuse_if(format!("length > {}", literal(most)), options.malformed);
        }
        let octets = format!("length * {} + {}", literal(options.times), literal(options.plus));
        self.text.line(format!("uint64_t octets = {octets};"));
        self.refuse_if(format!("octets < {} || octets > rest", (kind + length) / 8), options.malformed);
        self.text.open("switch (kind)");
        for (place, arm) in options.arms.iter().enumerate() {
            self.known_option(state, options, place, arm);
        }
        self.text.line("default:");
        self.text.line("    break;");
        self.text.close("");
        self.text.line("head += (uint32_t)octets;");
    }

    fn short_kinds(&mut self, options: &WireOptions) {
        for arm in &options.arms {
            let condition = format!("kind == {}", literal(arm.kind()));
            match arm {
                OptionArm::End { .. } => {
                    self.text.line(format!("if ({condition})"));
                    self.text.line("    break;");
                }
                OptionArm::Single { .. } => {
                    self.text.open(format!("if ({condition})"));
                    self.text.line(format!("head += {};", options.kind.width / 8));
                    self.text.line("continue;");
                    self.text.close("");
                }
                OptionArm::Known { .. } => {}
            }
        }
    }

    fn known_option(&mut self, state: &mut State<'a>, options: &'a WireOptions, place: usize, arm: &'a OptionArm) {
        let OptionArm::Known { kind, .. } = arm else { return };
        self.text.open(format!("case {}:", literal(*kind)));
        self.refuse_if(format!("octets != {}", options.head() + arm.octets()), options.malformed);
        let mut bit = 8 * options.head();
        for field in WireItem::fields(arm.items()) {
            self.option_field(state, field, bit);
            bit += u32::from(field.width);
        }
        self.text.line(format!("has{place} = 1;"));
        self.text.line("break;");
        self.text.close("");
    }

    fn option_field(&mut self, state: &mut State<'a>, field: &'a WireField, bit: u32) {
        let index = field.index.0 as usize;
        let value = format!("f{index}");
        let read = read_bits("option", bit, field.width, field.endian);
        self.text.line(format!("{value} = {read}; /* {} */", field.name.replace("*/", "* /")));
        state.slots[index] = Some(Slot { at: bit, width: field.width, value: value.clone() });
        self.own_value(state, field, &value);
        if let FieldValue::Header { header, variant, field: place, .. } = &field.value {
            let found = state.headers.iter().find(|known| known.header == *header);
            let own = found.and_then(|known| known.fields[*place as usize].clone()).unwrap_or_default();
            self.text.line(format!("v{index} = {own};"));
            self.set(state, (*header, *variant, *place), format!("v{index}"));
        }
        self.constraints(state, field);
    }
}

fn long_kinds(options: &WireOptions) -> impl Iterator<Item = u64> + '_ {
    options.arms.iter().filter(|arm| matches!(arm, OptionArm::Known { .. })).map(OptionArm::kind)
}

impl<'a> Encoder<'_, 'a> {
    /// `head`: the octets of the header with the options that are there and their padding.
    pub(crate) fn options_size(&mut self, at: u32, options: &'a WireOptions) {
        self.text.line(format!("uint32_t head = {};", at / 8));
        for arm in &options.arms {
            let Some(has) = self.has_option(arm) else { continue };
            self.text.line(format!("if ({has})"));
            self.text.line(format!("    head += {};", options.head() + arm.octets()));
        }
        if options.pad > 1 {
            let pad = options.pad;
            self.text.line(format!("head = (head + {}) / {pad} * {pad};", pad - 1));
        }
    }

    /// The field of the header that says whether the option is written.
    fn has_option(&self, arm: &OptionArm) -> Option<String> {
        let OptionArm::Known { header, variant, field, .. } = arm else { return None };
        self.read_header(*header, *variant, *field)
    }

    pub(crate) fn write_options(&mut self, at: u32, options: &'a WireOptions) {
        self.text.line(format!("uint8_t *option = packet + {};", at / 8));
        self.text.line(format!("memset(option, 0, head - {});", at / 8));
        for arm in &options.arms {
            let Some(has) = self.has_option(arm) else { continue };
            self.text.open(format!("if ({has})"));
            self.write_option(options, arm);
            self.text.close("");
        }
        self.text.line("(void)option;");
    }

    fn write_option(&mut self, options: &'a WireOptions, arm: &'a OptionArm) {
        let octets = u64::from(options.head() + arm.octets());
        let length = octets.saturating_sub(options.plus) / options.times.max(1);
        let (kind, order) = (u32::from(options.kind.width), options.endian);
        wire_encode::put(self.text, "option", (0, options.kind.width), order, &literal(arm.kind()));
        wire_encode::put(self.text, "option", (kind, options.length.width), order, &literal(length));
        let mut bit = 8 * options.head();
        for field in WireItem::fields(arm.items()) {
            let value = match &field.value {
                FieldValue::Constant { value, .. } => literal(value & mask(field.width)),
                FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                    self.header_field(field, (*header, *variant, *place), (*times, *plus))
                }
                _ => "UINT64_C(0)".into(),
            };
            wire_encode::put(self.text, "option", (bit, field.width), field.endian, &value);
            bit += u32::from(field.width);
        }
        self.text.line(format!("option += {octets};"));
    }
}
