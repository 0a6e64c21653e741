//! Names of a wire's fields, for output and for filters.

use mokume_reaction::{Automaton, FieldIndex, FieldValue, HeaderId, VariantId, Wire, WireArm, WireItem};

/// The alternative of each field of a wire, by index; `None` for fields of every packet.
pub fn alternatives(automaton: &Automaton, wire: &Wire) -> Vec<Option<String>> {
    let mut found = vec![None; WireItem::fields(&wire.items).len()];
    walk(automaton, &wire.items, None, &mut found);
    found
}

/// The alternatives of a wire's headers that have no other: no field selects these, and they may have none.
pub fn untold(automaton: &Automaton, wire: &Wire) -> Vec<String> {
    let is_alone = |header: &&HeaderId| automaton.headers[header.index()].variants.len() == 1;
    let names = wire.headers.iter().filter(is_alone).filter_map(|header| alternative(automaton, *header, VariantId(0)));
    names.map(str::to_string).collect()
}

/// The alternative that a value of a field selects.
pub fn chosen(automaton: &Automaton, items: &[WireItem], field: FieldIndex, value: u64) -> Option<String> {
    items.iter().find_map(|item| match item {
        WireItem::Choice { on, arms, .. } if *on == field => {
            let arm = arms.iter().find(|arm| arm.tag == value)?;
            of_arm(automaton, arm).map(str::to_string)
        }
        item => item.inner().into_iter().find_map(|items| chosen(automaton, items, field, value)),
    })
}

/// The alternatives that a field selects, with their numbers.
pub fn choices(automaton: &Automaton, items: &[WireItem], field: FieldIndex) -> Vec<(String, u64)> {
    let of = |item: &WireItem| match item {
        WireItem::Choice { on, arms, .. } if *on == field => {
            let named = |arm: &WireArm| Some((of_arm(automaton, arm)?.to_string(), arm.tag));
            arms.iter().filter_map(named).collect()
        }
        item => item.inner().into_iter().flat_map(|items| choices(automaton, items, field)).collect::<Vec<_>>(),
    };
    items.iter().flat_map(of).collect()
}

/// The names of kinds and lengths of options.
pub fn options(items: &[WireItem]) -> Vec<String> {
    let of = |item: &WireItem| match item {
        WireItem::Options(options) => vec![options.kind.name.clone(), options.length.name.clone()],
        item => item.inner().into_iter().flat_map(self::options).collect(),
    };
    items.iter().flat_map(of).collect()
}

/// The alternative with a list of options, by the name of the option's kind or length; `None` if several have such a name.
pub fn alternative_of_option(automaton: &Automaton, wire: &Wire, name: &str) -> Option<String> {
    let mut found = Vec::new();
    option(automaton, &wire.items, None, name, &mut found);
    found.dedup();
    match found.as_slice() {
        [Some(one)] => Some((*one).to_string()),
        _ => None,
    }
}

/// The name of a header's alternative; `None` if the header is one record.
pub fn alternative(automaton: &Automaton, header: HeaderId, variant: VariantId) -> Option<&str> {
    let variants = &automaton.headers.get(header.index())?.variants;
    let name = variants.get(variant.index()).map(|variant| variant.name.as_str());
    name.filter(|name| !name.is_empty())
}

/// The name of an arm: of several headers' alternatives, the one that is not the first of its header, as it tells the
/// most.
fn of_arm<'a>(automaton: &'a Automaton, arm: &WireArm) -> Option<&'a str> {
    let named = |(header, variant): &(HeaderId, VariantId)| alternative(automaton, *header, *variant);
    let others = arm.selects.iter().filter(|(_, variant)| *variant != VariantId(0));
    others.chain(&arm.selects).find_map(named)
}

fn walk(automaton: &Automaton, items: &[WireItem], within: Option<&str>, found: &mut Vec<Option<String>>) {
    for item in items {
        match item {
            WireItem::Field(field) => {
                let FieldIndex(index) = field.index;
                let own = match &field.value {
                    FieldValue::Header { header, variant, .. } => alternative(automaton, *header, *variant),
                    _ => within,
                };
                if let Some(place) = found.get_mut(index as usize) {
                    *place = own.map(str::to_string);
                }
            }
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    let own = of_arm(automaton, arm);
                    walk(automaton, &arm.items, own.or(within), found);
                }
            }
            item => item.inner().into_iter().for_each(|items| walk(automaton, items, within, found)),
        }
    }
}

/// Adds the alternative of each list of options whose kind or length has the name.
fn option<'a>(
    automaton: &'a Automaton,
    items: &[WireItem],
    within: Option<&'a str>,
    name: &str,
    found: &mut Vec<Option<&'a str>>,
) {
    for item in items {
        match item {
            WireItem::Options(options) if options.kind.name == name || options.length.name == name => {
                found.push(within);
            }
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    let own = of_arm(automaton, arm);
                    option(automaton, &arm.items, own.or(within), name, found);
                }
            }
            item => item.inner().into_iter().for_each(|items| option(automaton, items, within, name, found)),
        }
    }
}

/// A wire's name without the instance in front, which it has if a stack has the wire several times.
pub fn short(wire: &str) -> &str {
    wire.rsplit('.').next().unwrap_or(wire)
}

/// The last part of a filter's name: `tell.value`, of lower-case letters, digits and `_`.
pub fn filter(alternative: Option<&str>, field: &str) -> String {
    let field = plain(field);
    alternative.map_or(field.clone(), |alternative| format!("{}.{field}", plain(alternative)))
}

/// A name in the form of filters.
pub fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}
