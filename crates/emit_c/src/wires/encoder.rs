//! The state of encoders: the fields of the records on top of a message, and the octets where they go.

use mokume_reaction::*;

use super::common::*;
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::types::mask;

#[derive(Clone, Default)]
pub(crate) struct State<'a> {
    pub at: u32,
    pub slots: Vec<Option<Slot>>,
    pub fields: Vec<&'a WireField>,
    pub narrow: bool,
    /// The item that ends the way.
    pub last: Option<&'a WireItem>,
    /// The lists that end it.
    pub lists: Vec<&'a WireList>,
    /// Numbers of the last names `here` and `skip`: whether a part is there, and the octets of those so far.
    pub parts: u32,
    pub skips: u32,
    /// Whether a part that may be there or not begins or ends within an octet, which it then shares.
    pub shares_octets: bool,
}

impl State<'_> {
    /// The name of the octets that may be there or not, so far.
    pub(crate) fn skip(&self) -> Option<String> {
        Some(format!("skip{}", self.skips)).filter(|_| self.skips > 0)
    }

    /// This many octets, and those so far that may be there or not, in C.
    pub(crate) fn octets(&self, octets: u32) -> String {
        match self.skip() {
            Some(skip) => format!("({octets} + {skip})"),
            None => octets.to_string(),
        }
    }

    /// Whether a field is there, in C, if it is not on every way.
    pub(crate) fn here(&self, field: &WireField) -> Option<&str> {
        self.slots.get(field.index.0 as usize)?.as_ref()?.here.as_deref()
    }
}

impl Slot {
    /// The octets of the packet from where the field has its place.
    pub(crate) fn packet(&self) -> String {
        self.skip.as_ref().map_or_else(|| "packet".into(), |skip| format!("(packet + {skip})"))
    }
}

pub(crate) struct Encoder<'p, 'a> {
    pub plan: &'p Plan<'a>,
    pub wire: &'a Wire,
    pub text: &'p mut Text,
}

impl<'a> Encoder<'_, 'a> {
    /// Whether a header is present in this variant.
    pub fn has(&self, header: HeaderId, variant: VariantId) -> String {
        match self.wire.headers.iter().position(|known| *known == header) {
            Some(place) => format!("kind{place} == {}", header.0 << 16 | variant.0),
            None => "false".into(),
        }
    }

    /// A header's field; 0 if the header has another variant.
    pub(crate) fn read_header(&self, header: HeaderId, variant: VariantId, place: u32) -> Option<String> {
        let names = &self.plan.names;
        let (tags, fields) = (&names.variants[header.index()], &names.fields[header.index()][variant.index()]);
        let record = self.wire.headers.iter().position(|known| *known == header)?;
        let (tag, member, has) = (&tags[variant.index()], &fields[place as usize], self.has(header, variant));
        Some(format!("({has} ? ((const struct {tag} *)record{record})->{member} : 0)"))
    }

    /// Writes `f = field * times + plus` in C, and records whether it is too wide, if it is there; returns the name of `f`.
    pub(crate) fn header_field(
        &mut self,
        field: &WireField,
        (header, variant, place): (HeaderId, VariantId, u32),
        (times, plus): (u64, u64),
        here: Option<&str>,
    ) -> String {
        let name = format!("f{}", field.index.0);
        let Some(value) = self.read_header(header, variant, place) else { return "0".into() };
        self.text.line(format!("uint64_t {name} = {value};"));
        let bits = mask(field.width);
        let ty = self.plan.automaton.headers[header.index()].variants[variant.index()].fields[place as usize].1;
        let widest = u128::from(mask(ty.width(self.plan.automaton)));
        if widest * u128::from(times) + u128::from(plus) > u128::from(bits) {
            // The largest value that fits; beyond it something is cut off.
            let condition = match bits.checked_sub(plus) {
                Some(_) if times == 0 => "false".into(),
                Some(room) => format!("{name} > {}", literal(room / times)),
                None => "true".into(),
            };
            let there = here.map_or(String::new(), |here| format!("{here} && "));
            self.text.line(format!("narrow |= {there}{condition};"));
        }
        if times != 1 || plus != 0 || widest > u128::from(bits) {
            self.text.line(format!("{name} = ({name} * {} + {}) & {};", literal(times), literal(plus), literal(bits)));
        }
        name
    }

    /// Whether the headers fit an arm, in C.
    pub(super) fn fits(&self, state: &State<'a>, on: FieldIndex, arm: &WireArm) -> String {
        let mut conditions: Vec<String> = arm.selects.iter().map(|(h, v)| self.counts_as(*h, *v)).collect();
        conditions.extend(arm.commons.iter().filter_map(|common| {
            let value = self.read_header(common.header, common.variant, common.field)?;
            Some(format!("{value} == {}", literal(common.value)))
        }));
        if !is_tag(&self.wire.items, on) {
            let value = state.slots.get(on.0 as usize).cloned().flatten().map_or("0".to_string(), |slot| slot.value);
            conditions.push(format!("{value} == {}", literal(arm.tag)));
        }
        match conditions.is_empty() {
            true => "true".into(),
            false => conditions.join(" && "),
        }
    }

    /// Whether the header has this variant, for a choice: a missing header counts as the first variant.
    pub(super) fn counts_as(&self, header: HeaderId, variant: VariantId) -> String {
        let place = self.wire.headers.iter().position(|known| *known == header);
        match place {
            Some(place) if variant == VariantId(0) => {
                let first = self.has(header, variant);
                format!("({first} || kind{place} >> 16 != {})", header.0)
            }
            _ => self.has(header, variant),
        }
    }

    /// Lays out a field at a bit, which is there or not.
    pub(super) fn field_at(&mut self, state: &mut State<'a>, field: &'a WireField, (at, here): (u32, Option<String>)) {
        let index = field.index.0 as usize;
        let bits = mask(field.width);
        let value = match &field.value {
            FieldValue::Constant { value, .. } => {
                state.narrow |= *value > bits;
                literal(value & bits)
            }
            FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                self.header_field(field, (*header, *variant, *place), (*times, *plus), here.as_deref())
            }
            _ => "UINT64_C(0)".into(),
        };
        if state.slots.len() <= index {
            state.slots.resize(index + 1, None);
        }
        state.slots[index] = Some(Slot { at, width: field.width, value, skip: state.skip(), here });
        state.fields.push(field);
    }

    /// The value of a field in an option or in an element of a list: nothing in it is computed.
    pub(crate) fn element_value(&mut self, field: &'a WireField) -> String {
        match &field.value {
            FieldValue::Constant { value, .. } => literal(value & mask(field.width)),
            FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                self.header_field(field, (*header, *variant, *place), (*times, *plus), None)
            }
            _ => "UINT64_C(0)".into(),
        }
    }
}

pub(super) fn facts<'s>(state: &'s State, header_size: &'s str, own: FieldIndex) -> Facts<'s> {
    Facts { slots: &state.slots, packet: "packet", packet_size: "size", header_size, own }
}

/// Writes whole octets, or combines bits with those that are there already.
pub(crate) fn put(text: &mut Text, octets: &str, (at, width): (u32, u8), endian: Endian, value: &str) {
    let order = if endian == Endian::Little { "le" } else { "be" };
    match (is_whole(at, width), width) {
        (true, 8) => text.line(format!("{octets}[{}] = (uint8_t){value};", at / 8)),
        (true, 16 | 32 | 64) => text.line(format!("mk_put_{order}_{width}({octets} + {}, {value});", at / 8)),
        (true, width) => text.line(format!("mk_put_{order}({octets} + {}, {}, {value});", at / 8, width / 8)),
        (false, width) => {
            for piece in pieces(at, width) {
                let bits = format!("({value} >> {} & {:#04x}u)", piece.place, (1u32 << piece.bits) - 1);
                let octet = format!("{octets}[{}]", piece.octet);
                text.line(format!("{octet} = (uint8_t)({octet} | {bits} << {});", piece.shift));
            }
        }
    }
}
