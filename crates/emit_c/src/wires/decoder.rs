//! The state of decoders: what is known about a packet on one way, and refusals.
//!
//! They must keep the order in which `mokume-wire` refuses: that order is part of a wire's meaning.

use mokume_reaction::*;

use super::common::*;
use crate::plan::Plan;
use crate::text::{literal, Text};
use crate::types::mask;

/// A constraint that waits until all that it names is known.
#[derive(Clone)]
pub(crate) struct Rule<'a> {
    pub own: FieldIndex,
    pub left: Option<&'a WireExpression>,
    pub compare: Compare,
    pub right: &'a WireExpression,
    pub otherwise: ReasonId,
    /// Whether its field is there, in C, behind where ways with and without the field meet.
    pub when: Option<String>,
}

/// What is known of a header on one way: its variant and its fields' values in C.
#[derive(Clone)]
pub(crate) struct Known {
    pub header: HeaderId,
    pub variant: VariantId,
    pub fields: Vec<Option<String>>,
    /// Behind where ways with different variants meet: the variant's number in C, and the fields of each variant.
    pub met: Option<(String, Vec<Vec<Option<String>>>)>,
}

impl Known {
    /// The fields of a variant that the header has, or may have.
    pub(crate) fn fields_of(&mut self, variant: VariantId) -> Option<&mut Vec<Option<String>>> {
        match &mut self.met {
            Some((_, variants)) => variants.get_mut(variant.index()),
            None => Some(&mut self.fields).filter(|_| self.variant == variant),
        }
    }

    /// A field's value in C, in packets with this variant.
    pub(crate) fn value(&self, variant: VariantId, field: u32) -> Option<String> {
        let fields = self.met.as_ref().map_or(Some(&self.fields), |(_, variants)| variants.get(variant.index()));
        fields?.get(field as usize)?.clone()
    }
}

#[derive(Clone)]
pub(crate) struct State<'a> {
    pub at: u32,
    /// The number of octets that the packet is known to have.
    pub checked: u32,
    pub slots: Vec<Option<Slot>>,
    pub headers: Vec<Known>,
    pub rules: Vec<Rule<'a>>,
    pub packet_known: bool,
    /// The size of the header in C, once it is known.
    pub header_known: Option<String>,
    /// The number of octets read so far, in C, if it is not constant.
    pub size: Option<String>,
    pub over: bool,
    /// Earlier arms that could have encoded the same, and the reason for which a packet is refused then.
    pub shorter: Vec<(&'a WireArm, ReasonId)>,
    /// Whether `skip` has the octets of the parts so far that may be there or not.
    pub skips: bool,
}

impl State<'_> {
    /// This many octets, and those in front of here that may be there or not, in C.
    pub(crate) fn octets(&self, octets: u32) -> String {
        match self.skips {
            true => format!("{octets} + skip"),
            false => octets.to_string(),
        }
    }
}

pub(crate) struct Decoder<'p, 'a> {
    pub plan: &'p Plan<'a>,
    pub wire: &'a Wire,
    pub id: WireId,
    pub text: &'p mut Text,
}

impl<'a> Decoder<'_, 'a> {
    /// Selects a variant; fields that were read before the choice keep their values.
    pub(crate) fn select(&self, state: &mut State<'a>, header: HeaderId, variant: VariantId) {
        let fields = fields(self.plan.automaton, header, variant);
        if let Some(known) = state.headers.iter_mut().find(|known| known.header == header) {
            if known.met.is_none() && known.variant != variant {
                *known = Known { header, variant, fields: vec![None; fields], met: None };
            }
        }
    }

    /// An octet position in the packet, as a variable; refused if it is before what was read, or beyond the end.
    pub(crate) fn octet(&mut self, state: &State<'a>, name: &str, value: &str) -> String {
        let read = state.octets(state.at.div_ceil(8));
        self.text.line(format!("uint64_t {name} = {value};"));
        self.refuse_if(format!("{name} < {read} || {name} > end"), self.wire.short);
        name.to_string()
    }

    pub(crate) fn reason(&self, reason: ReasonId) -> String {
        format!("{} /* {} */", reason.0, self.plan.automaton.reasons[reason.index()].name.replace("*/", "* /"))
    }

    pub(crate) fn refuse_if(&mut self, condition: String, reason: ReasonId) {
        self.text.line(format!("if ({condition})"));
        self.text.line(format!("    return {};", self.reason(reason)));
    }

    pub(crate) fn constraints(&mut self, state: &mut State<'a>, field: &'a WireField) {
        for constraint in &field.constraints {
            state.rules.push(Rule {
                own: field.index,
                left: Some(&constraint.left),
                compare: constraint.compare,
                right: &constraint.right,
                otherwise: constraint.otherwise,
                when: None,
            });
        }
        self.check(state);
    }

    /// Refuses a value that the field cannot have; returns that of the header's field, in C.
    pub(crate) fn own_value(&mut self, state: &mut State<'a>, field: &'a WireField, value: &str) -> Option<String> {
        match &field.value {
            FieldValue::Constant { value: wanted, otherwise } => {
                self.refuse_if(format!("{value} != {}", literal(*wanted)), *otherwise);
            }
            FieldValue::Header { header, variant, field: place, times, plus, otherwise } => {
                let refused = otherwise.unwrap_or(self.wire.short);
                let times = (*times).max(1);
                if *plus > 0 {
                    self.refuse_if(format!("{value} < {}", literal(*plus)), refused);
                }
                let rest = if *plus > 0 { format!("({value} - {})", literal(*plus)) } else { value.to_string() };
                if times > 1 {
                    self.refuse_if(format!("{rest} % {} != 0", literal(times)), refused);
                }
                let own = if times > 1 { format!("{rest} / {}", literal(times)) } else { rest };
                let ty =
                    self.plan.automaton.headers[header.index()].variants[variant.index()].fields[*place as usize].1;
                let fits = mask(ty.width(self.plan.automaton));
                if mask(field.width).saturating_sub(*plus) / times > fits {
                    self.refuse_if(format!("{own} > {}", literal(fits)), refused);
                }
                if let Some(ranges) = self.plan.automaton.gaps(ty, ty.width(self.plan.automaton)) {
                    let outside = ranges.iter().map(|range| is_outside(&own, range));
                    self.refuse_if(outside.collect::<Vec<_>>().join(" && "), refused);
                }
                return Some(own);
            }
            FieldValue::Computed { expression, otherwise } => state.rules.push(Rule {
                own: field.index,
                left: None,
                compare: Compare::Eq,
                right: expression,
                otherwise: *otherwise,
                when: None,
            }),
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
        None
    }

    /// Checks, in order, the rules of which everything is known; the others wait.
    pub(crate) fn check(&mut self, state: &mut State<'a>) {
        let rules = std::mem::take(&mut state.rules);
        for rule in rules {
            match is_known(state, &rule) {
                true => self.refuse_if(violated(state, &rule), rule.otherwise),
                false => state.rules.push(rule),
            }
        }
    }

    pub(crate) fn declare_fields(&mut self, state: &mut State<'a>, items: &'a [WireItem]) {
        for field in WireItem::fields(items) {
            let index = field.index.0 as usize;
            self.text.line(format!("uint64_t f{index} = 0, v{index} = 0;"));
            self.text.line(format!("(void)f{index}, (void)v{index};"));
            if state.slots.len() <= index {
                state.slots.resize(index + 1, None);
            }
        }
    }

    pub(crate) fn set(
        &mut self,
        state: &mut State<'a>,
        (header, variant, field): (HeaderId, VariantId, u32),
        value: String,
    ) {
        self.select(state, header, variant);
        let known = state.headers.iter_mut().find(|known| known.header == header);
        if let Some(fields) = known.and_then(|known| known.fields_of(variant)) {
            fields[field as usize] = Some(value);
        }
    }

    /// Reads a field that is not on every way, at this bit from a place; its value, and what its header's field gets, are
    /// declared before this part.
    pub(crate) fn inner_field(
        &mut self,
        state: &mut State<'a>,
        field: &'a WireField,
        (from, bit): (&str, u32),
        value_of_header: &str,
    ) {
        let index = field.index.0 as usize;
        let value = format!("f{index}");
        let read = read_bits(from, bit, field.width, field.endian);
        self.text.line(format!("{value} = {read}; /* {} */", field.name.replace("*/", "* /")));
        state.slots[index] = Some(Slot { at: bit, width: field.width, value: value.clone(), skip: None, here: None });
        let own = self.own_value(state, field, &value);
        if let (Some(own), FieldValue::Header { header, variant, field: place, .. }) = (own, &field.value) {
            self.text.line(format!("{value_of_header} = {own};"));
            self.set(state, (*header, *variant, *place), value_of_header.to_owned());
        }
        self.constraints(state, field);
    }
}

/// The condition that a number is in none of a range's values.
fn is_outside(value: &str, range: &std::ops::RangeInclusive<u64>) -> String {
    let (first, last) = (literal(*range.start()), literal(*range.end()));
    match (range.start(), range.end()) {
        (first, last) if first == last => format!("{value} != {}", literal(*first)),
        (0, _) => format!("{value} > {last}"),
        _ => format!("({value} < {first} || {value} > {last})"),
    }
}

pub(super) fn fields(automaton: &Automaton, header: HeaderId, variant: VariantId) -> usize {
    let variants = &automaton.headers[header.index()].variants;
    variants.get(variant.index()).map_or(0, |variant| variant.fields.len())
}

fn is_known(state: &State, rule: &Rule) -> bool {
    if state.over {
        return true;
    }
    let mut fields = true;
    let mut seen = |index: FieldIndex| fields &= matches!(state.slots.get(index.0 as usize), Some(Some(_)));
    let sides = [rule.left, Some(rule.right)];
    let sizes = sides.into_iter().flatten().all(|side| {
        let (packet, header, octets) = named(side, &mut seen);
        !octets && (!packet || state.packet_known) && (!header || state.header_known.is_some())
    });
    sizes && fields
}

pub(crate) fn facts<'s>(state: &'s State, own: FieldIndex) -> Facts<'s> {
    Facts {
        slots: &state.slots,
        packet: "packet",
        packet_size: "end",
        header_size: state.header_known.as_deref().unwrap_or("0"),
        own,
    }
}

/// The value that a choice depends on.
pub(super) fn tag(state: &State, on: FieldIndex) -> String {
    state.slots.get(on.0 as usize).cloned().flatten().map_or("0".to_string(), |slot| slot.value)
}

/// The condition under which a rule is broken.
fn violated(state: &State, rule: &Rule) -> String {
    let facts = facts(state, rule.own);
    let own = || format!("f{}", rule.own.0);
    let left = rule.left.map_or_else(own, |left| expression(left, &facts));
    let right = expression(rule.right, &facts);
    let broken = match rule.compare {
        Compare::Eq => format!("{left} != {right}"),
        compare => format!("!({left} {} {right})", compare.sign()),
    };
    match &rule.when {
        Some(when) => format!("{when} && {broken}"),
        None => broken,
    }
}
