//! Compressed layouts: a path number tells the alternatives of all headers that are encoded together, and which fields
//! have their common values; then comes the rest (the idea is Ensemble's: what a declared common case makes constant is
//! not sent).
//!
//! Keeps: a function of the declarations alone. What is left out is a constant of the path, whose number is in the
//! packet, so nothing has to be agreed in advance.

use mokume_reaction as r;

use super::endian;
use super::repeated::{at_most, nested};
use crate::stack::Lowering;

/// The most paths whose number fits in an octet.
const MOST_PATHS: usize = 256;

/// An alternative for each header, and the fields that are left out because they have their common values.
struct Path {
    alternatives: Vec<(r::HeaderId, r::VariantId)>,
    left_out: Vec<r::WireCommon>,
}

/// A field that is in the packets of a path, or left out for its value.
struct Part {
    header: r::HeaderId,
    variant: r::VariantId,
    field: u32,
    name: String,
    ty: r::Type,
    big: bool,
    common: Option<u64>,
    place: Place,
}

/// The role of a field in a vector of the header.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Alone,
    /// It is the number of elements, at most this many.
    Counts(usize),
    /// It belongs to the element of this number, in the vector with this field as its length.
    Element {
        length: u32,
        number: usize,
    },
}

impl Part {
    fn with(&self, value: u64) -> r::WireCommon {
        r::WireCommon { header: self.header, variant: self.variant, field: self.field, value }
    }
}

impl Lowering<'_> {
    /// The wire for the headers of layers that are encoded together, top to bottom.
    pub(crate) fn compressed_wire(&mut self, members: &[usize]) -> Option<r::WireId> {
        let headers = self.headers_of(members);
        let top = *members.first()?;
        if headers.is_empty() {
            return None;
        }
        let name = self.compressed_name(top, members.len());
        let variants = |at: &usize| (0..self.infos[*at].fields.len()).map(|variant| (*at, variant)).collect::<Vec<_>>();
        let within = |(at, variant): &(usize, usize)| {
            self.repeated(*at, *variant).iter().any(|vector| self.holds_vectors(vector))
        };
        if let Some((at, _)) = members.iter().flat_map(variants).find(within) {
            let text = format!(
                "`{}` has a vector of vectors in its header, and `{name}` is laid out compressed",
                self.inst(at).name
            );
            let help = "give the layers a wire, or leave `compressed` out";
            self.error("M0648", text, self.inst(at).span, help);
            return None;
        }
        let paths = self.paths(members);
        if paths.len() > MOST_PATHS {
            let text =
                format!("the headers of `{name}` have {} paths: there are numbers for {MOST_PATHS}", paths.len());
            let help = "the alternatives of its layers multiply: let one `encoded compressed` hold fewer layers";
            self.error("M0671", text, self.inst(top).span, help);
            return None;
        }
        let items = match &paths[..] {
            [only] => self.path_items(members, only, &name, (&mut 0, 0)),
            _ => self.path_choice(members, &paths, &name),
        };
        let short = self.a.reason(&format!("{name}.short"));
        self.a.wires.push(r::Wire { name, headers, endian: r::Endian::Little, items, short });
        Some(r::WireId::from(self.a.wires.len() - 1))
    }

    /// For several layers the bundle's name, unless a wire has it.
    fn compressed_name(&self, top: usize, members: usize) -> String {
        let full = self.inst(top).name.clone();
        let bundle = full.split('.').next().unwrap_or_default().to_string();
        let taken = self.a.wire_named(&bundle).is_some();
        if members == 1 || taken {
            full
        } else {
            bundle
        }
    }

    /// First the paths on which all fields have their common values, then those with all fields in the packet. Within
    /// both, the alternatives of the lowest layer change first. For an alternative without a message there is one path
    /// without the headers above it.
    fn paths(&self, members: &[usize]) -> Vec<Path> {
        let (mut short, mut alone, mut long) = (Vec::new(), Vec::new(), Vec::new());
        for alternatives in self.combinations(members) {
            let parts = self.parts(members, &alternatives);
            let missing = |part: &&Part| self.is_above_alone(members, &alternatives, part.header);
            let zeros: Vec<r::WireCommon> = parts.iter().filter(missing).map(|part| part.with(0)).collect();
            let there = parts.iter().filter(|part| !missing(part));
            let common = there.filter_map(|part| Some(part.with(part.common?)));
            let all: Vec<r::WireCommon> = common.chain(zeros.iter().copied()).collect();
            let path = |left_out| Path { alternatives: alternatives.clone(), left_out };
            if all.len() > zeros.len() {
                short.push(path(all));
            }
            if !zeros.is_empty() {
                alone.push(path(zeros));
            }
            long.push(path(Vec::new()));
        }
        short.into_iter().chain(alone).chain(long).collect()
    }

    /// All combinations of alternatives that can occur together.
    fn combinations(&self, members: &[usize]) -> Vec<Vec<(r::HeaderId, r::VariantId)>> {
        let mut all: Vec<Vec<(r::HeaderId, r::VariantId)>> = vec![Vec::new()];
        for at in members {
            let Some(header) = self.infos[*at].header else { continue };
            let variants = self.infos[*at].fields.len();
            let with = |path: &Vec<(r::HeaderId, r::VariantId)>| {
                let is_first = path.iter().all(|(_, variant)| *variant == r::VariantId(0));
                let variants = (0..variants).map(r::VariantId::from);
                // Above an alternative without a message, all headers count as their first alternative.
                let meets = variants.filter(|variant| is_first || !self.goes_alone(*at, *variant));
                meets.map(|variant| [path.clone(), vec![(header, variant)]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(with).take(MOST_PATHS + 1).collect();
        }
        all
    }

    fn goes_alone(&self, inst: usize, variant: r::VariantId) -> bool {
        let header = self.layer(inst).and_then(|layer| layer.header.as_ref());
        header.and_then(|header| header.variants.get(variant.index())).is_some_and(|found| !found.with_message)
    }

    /// Whether a layer below has selected an alternative without a message.
    fn is_above_alone(&self, members: &[usize], alternatives: &[(r::HeaderId, r::VariantId)], of: r::HeaderId) -> bool {
        let below = members.iter().skip_while(|at| self.infos[**at].header != Some(of)).skip(1);
        let alone = |at: &usize| {
            let chosen = alternatives.iter().find(|(header, _)| self.infos[*at].header == Some(*header));
            chosen.is_some_and(|(_, variant)| self.goes_alone(*at, *variant))
        };
        below.into_iter().any(alone)
    }

    /// The fields, those of the lowest layer first, as headers are in packets.
    fn parts(&self, members: &[usize], alternatives: &[(r::HeaderId, r::VariantId)]) -> Vec<Part> {
        let mut parts = Vec::new();
        for at in members.iter().rev() {
            let info = &self.infos[*at];
            let chosen = alternatives.iter().find(|(header, _)| Some(*header) == info.header);
            let Some((header, variant)) = chosen.copied() else { continue };
            let vectors = self.repeated(*at, variant.index());
            let stands = |at: usize| {
                let found = vectors.iter().find(|vector| (vector.length..vector.end()).contains(&at));
                found.map_or(Place::Alone, |vector| match at == vector.length {
                    true => Place::Counts(vector.bound),
                    false => Place::Element {
                        length: vector.length as u32,
                        number: (at - vector.element(0)) / vector.width.max(1),
                    },
                })
            };
            for (place, field) in info.fields[variant.index()].iter().enumerate() {
                parts.push(Part {
                    header,
                    variant,
                    field: place as u32,
                    name: field.name.clone(),
                    ty: field.ty,
                    big: field.big.unwrap_or(false),
                    common: field.common,
                    place: stands(place),
                });
            }
        }
        parts
    }

    fn path_choice(&mut self, members: &[usize], paths: &[Path], name: &str) -> Vec<r::WireItem> {
        let unknown = self.a.reason(&format!("{name}.path"));
        let on = r::FieldIndex(0);
        let width = (usize::BITS - (paths.len() - 1).leading_zeros()) as u8;
        let tag = field(on, "path", width, r::FieldValue::Tag, false);
        let mut next = 1;
        let mut arms = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let several = |(header, _): &&(r::HeaderId, _)| self.a.headers[header.index()].variants.len() > 1;
            let selects = path.alternatives.iter().filter(several).copied().collect();
            let items = self.path_items(members, path, name, (&mut next, u32::from(width)));
            arms.push(r::WireArm { tag: number as u64, selects, commons: path.left_out.clone(), items });
        }
        vec![r::WireItem::Field(tag), r::WireItem::Choice { on, arms, unknown }]
    }

    /// The fields in the packet: after the path's number, first those that are not whole octets, then those that are;
    /// elements of vectors last.
    fn path_items(
        &mut self,
        members: &[usize],
        path: &Path,
        name: &str,
        (next, mut bits): (&mut u32, u32),
    ) -> Vec<r::WireItem> {
        let mut parts = self.parts(members, &path.alternatives);
        let is_out = |part: &Part| path.left_out.iter().any(|out| (out.header, out.field) == (part.header, part.field));
        parts.retain(|part| !is_out(part));
        let (elements, parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| matches!(part.place, Place::Element { .. }));
        let (octets, others): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| part.ty.width(&self.a).is_multiple_of(8));
        let mut items = Vec::new();
        for part in &others {
            bits += u32::from(part.ty.width(&self.a));
            items.push(r::WireItem::Field(self.part_field(part, name, next)));
        }
        items.extend(pad(bits, next));
        let mut counts = Vec::new();
        for part in &octets {
            let mut made = self.part_field(part, name, next);
            if let Place::Counts(bound) = part.place {
                let otherwise = self.a.reason(&format!("{name}.{}", part.name));
                at_most(&mut made, bound as u64, otherwise);
                counts.push((made.index, part));
            }
            items.push(r::WireItem::Field(made));
        }
        for (count, part) in counts {
            let lists = self.counted_parts(&elements, part, name, next);
            items.extend(nested(count, (1, 0), lists));
        }
        items
    }

    /// The elements of the vector with this field as its length, each in whole octets.
    fn counted_parts(&mut self, all: &[Part], counted: &Part, name: &str, next: &mut u32) -> Vec<Vec<r::WireItem>> {
        let mut lists: Vec<Vec<&Part>> = Vec::new();
        for part in all.iter().filter(|part| part.header == counted.header) {
            let Place::Element { length, number } = part.place else { continue };
            if length == counted.field {
                lists.resize_with(lists.len().max(number + 1), Vec::new);
                lists[number].push(part);
            }
        }
        let mut made = Vec::new();
        for mut parts in lists {
            parts.sort_by_key(|part| !part.ty.width(&self.a).is_multiple_of(8));
            let bits = parts.iter().map(|part| u32::from(part.ty.width(&self.a))).sum();
            let mut items: Vec<r::WireItem> =
                parts.iter().map(|part| r::WireItem::Field(self.part_field(part, name, next))).collect();
            items.extend(pad(bits, next));
            made.push(items);
        }
        made
    }

    fn part_field(&mut self, part: &Part, name: &str, next: &mut u32) -> r::WireField {
        let width = part.ty.width(&self.a);
        let named = matches!(part.ty, r::Type::Enum(_));
        let otherwise = named.then(|| self.a.reason(&format!("{name}.{}", part.name)));
        let Part { header, variant, field: place, .. } = *part;
        let value = r::FieldValue::Header { header, variant, field: place, times: 1, plus: 0, otherwise };
        *next += 1;
        field(r::FieldIndex(*next - 1), &part.name, width, value, part.big)
    }
}

/// Padding bits up to a whole octet.
fn pad(bits: u32, next: &mut u32) -> Option<r::WireItem> {
    let missing = (bits.next_multiple_of(8) - bits) as u8;
    if missing == 0 {
        return None;
    }
    *next += 1;
    Some(r::WireItem::Field(field(r::FieldIndex(*next - 1), "pad", missing, r::FieldValue::Reserved, false)))
}

fn field(index: r::FieldIndex, name: &str, width: u8, value: r::FieldValue, big: bool) -> r::WireField {
    let endian = endian(big && width.is_multiple_of(8));
    let (name, constraints) = (name.into(), Vec::new());
    r::WireField { index, name, width, endian, value, constraints, trims_packet: false, trims_plus: 0 }
}
