//! Options at the end of a wire's header: a loop over them, with places relative to the current option.

use mokume_reaction::*;

use super::common::*;
use super::decoder::{facts, Decoder, State};
use super::encoder::{put, Encoder};
use crate::text::literal;
use crate::types::mask;

impl<'a> Decoder<'_, 'a> {
    pub(crate) fn options(&mut self, state: &mut State<'a>, options: &'a WireOptions) {
        let until = expression(&options.until, &facts(state, FieldIndex(0)));
        self.octet(state, "until", &until);
        self.declare_known(state, options);
        self.text.line(format!("uint32_t head = {};", state.octets(state.at / 8)));
        self.text.open("while (head < until)");
        self.option(state, options);
        self.text.close("");
        self.text.line("head = (uint32_t)until;");
        state.size = Some("head".into());
    }

    /// Declares the values of an option for use after the loop; they are zero if it is absent.
    fn declare_known(&mut self, state: &mut State<'a>, options: &'a WireOptions) {
        for (place, arm) in options.arms.iter().enumerate() {
            let OptionArm::Known { header, variant, field, .. } = arm else { continue };
            self.text.line(format!("uint64_t has{place} = 0;"));
            self.set(state, (*header, *variant, *field), format!("has{place}"));
            if let Some(repeat) = arm.repeat() {
                self.text.line(format!("uint64_t count{place} = 0;"));
                self.text.line(format!("(void)has{place}, (void)count{place};"));
                self.set(state, (*header, *variant, repeat.count), format!("count{place}"));
            }
            self.declare_fields(state, arm.items());
        }
    }

    /// One round of the loop: makes the same refusals in the same order as `mokume-wire`.
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
        match arm.repeat() {
            None => {
                self.refuse_if(format!("octets != {}", options.head() + arm.octets()), options.malformed);
                let mut bit = 8 * options.head();
                for field in WireItem::fields(arm.items()) {
                    self.option_field(state, field, bit);
                    bit += u32::from(field.width);
                }
            }
            Some(repeat) => self.repeated_option(state, options, (place, arm), repeat),
        }
        self.text.line(format!("has{place} = 1;"));
        self.text.line("break;");
        self.text.close("");
    }

    /// Reads as many elements as the length has room for. The header's fields of other elements are set to zero.
    fn repeated_option(
        &mut self,
        state: &mut State<'a>,
        options: &'a WireOptions,
        (place, arm): (usize, &'a OptionArm),
        repeat: OptionRepeat,
    ) {
        let (fixed, each, most) = arm.measures();
        let least = options.head() + fixed;
        let count = format!("(octets - {least}) / {each}");
        let uneven = format!("octets < {least} || (octets - {least}) % {each} != 0 || {count} > {most}");
        self.refuse_if(uneven, options.malformed);
        self.text.line(format!("count{place} = {count};"));
        let fields = WireItem::fields(arm.items());
        let zeros: Vec<String> = fields.iter().map(|field| format!("v{} =", field.index.0)).collect();
        self.text.line(format!("{} 0;", zeros.join(" ")));
        let mut bit = 8 * options.head();
        for (number, field) in fields.into_iter().enumerate() {
            if let Some(element) = begins(repeat, number) {
                self.text.open(format!("if (count{place} > {element})"));
            }
            self.option_field(state, field, bit);
            bit += u32::from(field.width);
            if begins(repeat, number + 1).is_some_and(|element| element > 0) {
                self.text.close("");
            }
        }
        // If the vector alone says whether the option is present, its count is a field of the header.
        let OptionArm::Known { header, variant, .. } = arm else { return };
        self.set(state, (*header, *variant, repeat.count), format!("count{place}"));
    }

    fn option_field(&mut self, state: &mut State<'a>, field: &'a WireField, bit: u32) {
        self.inner_field(state, field, ("option", bit), &format!("v{}", field.index.0));
    }
}

/// The element that begins with this field, if one does; after the last field, the one that would begin.
fn begins(repeat: OptionRepeat, field: usize) -> Option<u32> {
    let (within, each) = ((field as u32).checked_sub(repeat.from)?, repeat.each.max(1));
    within.is_multiple_of(each).then_some(within / each)
}

fn long_kinds(options: &WireOptions) -> impl Iterator<Item = u64> + '_ {
    options.arms.iter().filter(|arm| matches!(arm, OptionArm::Known { .. })).map(OptionArm::kind)
}

impl<'a> Encoder<'_, 'a> {
    /// `head`: the octets of the header with the options that are present and their padding.
    pub(crate) fn options_size(&mut self, begins: &str, options: &'a WireOptions) {
        self.text.line(format!("uint32_t head = {begins};"));
        for arm in &options.arms {
            let Some(has) = self.has_option(arm) else { continue };
            self.text.line(format!("if ({has})"));
            let octets = self.arm_octets(options, arm);
            self.text.line(format!("    head += (uint32_t)({octets});"));
        }
        if options.end() > 0 {
            self.text.line(format!("head += {};", options.end()));
        }
        if options.pad > 1 {
            let pad = options.pad;
            if options.pads_with.is_some() {
                self.text.line("uint32_t filled = head;");
            }
            self.text.line(format!("head = (head + {}) / {pad} * {pad};", pad - 1));
        }
    }

    /// The field of the header that says whether the option is written.
    fn has_option(&self, arm: &OptionArm) -> Option<String> {
        let OptionArm::Known { header, variant, field, .. } = arm else { return None };
        self.read_header(*header, *variant, *field)
    }

    /// Octets of a present option, in C; more elements than the maximum are left out.
    fn arm_octets(&mut self, options: &WireOptions, arm: &OptionArm) -> String {
        let (fixed, each, _) = arm.measures();
        let octets = options.head() + fixed;
        match self.count(arm) {
            Some(count) => format!("{octets} + {each} * {count}"),
            None => octets.to_string(),
        }
    }

    /// The number of elements of an option.
    fn count(&self, arm: &OptionArm) -> Option<String> {
        let OptionArm::Known { header, variant, repeat: Some(repeat), .. } = arm else { return None };
        let (_, _, most) = arm.measures();
        let count = self.read_header(*header, *variant, repeat.count)?;
        Some(format!("mk_min_u32((uint32_t){count}, {most})"))
    }

    pub(crate) fn write_options(&mut self, begins: &str, options: &'a WireOptions) {
        self.text.line(format!("uint8_t *option = packet + {begins};"));
        self.text.line(format!("memset(option, 0, head - {begins});"));
        if let Some(kind) = options.pads_with.filter(|_| options.pad > 1) {
            self.text.line(format!("memset(option, {}, head - filled);", literal(kind)));
            self.text.line("option += head - filled;");
        }
        for arm in &options.arms {
            let Some(has) = self.has_option(arm) else { continue };
            self.text.open(format!("if ({has})"));
            self.write_option(options, arm);
            self.text.close("");
        }
        if let Some(kind) = options.ends_with {
            put(self.text, "option", (0, options.kind.width), options.endian, &literal(kind));
        }
        self.text.line("(void)option;");
    }

    fn write_option(&mut self, options: &'a WireOptions, arm: &'a OptionArm) {
        let octets = self.arm_octets(options, arm);
        self.text.line(format!("uint64_t octets = {octets};"));
        let length = format!("((octets - {}) / {})", options.plus, options.times.max(1));
        let count = self.count(arm);
        if let (Some(count), OptionArm::Known { header, variant, repeat: Some(repeat), .. }) = (&count, arm) {
            let said = self.read_header(*header, *variant, repeat.count).unwrap_or_default();
            self.text.line(format!("uint32_t count = {count};"));
            self.text.line(format!("narrow |= {said} > count;"));
        }
        let repeat = arm.repeat().unwrap_or(OptionRepeat { count: 0, from: u32::MAX, each: 1 });
        let (kind, order) = (u32::from(options.kind.width), options.endian);
        put(self.text, "option", (0, options.kind.width), order, &literal(arm.kind()));
        put(self.text, "option", (kind, options.length.width), order, &length);
        let mut bit = 8 * options.head();
        for (number, field) in WireItem::fields(arm.items()).into_iter().enumerate() {
            if let Some(element) = begins(repeat, number) {
                self.text.open(format!("if (count > {element})"));
            }
            let value = self.element_value(field);
            put(self.text, "option", (bit, field.width), field.endian, &value);
            bit += u32::from(field.width);
            if begins(repeat, number + 1).is_some_and(|element| element > 0) {
                self.text.close("");
            }
        }
        self.text.line("option += octets;");
    }
}
