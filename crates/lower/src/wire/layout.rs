//! Layouts of headers without a wire, from the source alone: octets, aligned, or bit by bit.
//!
//! Keeps: neither a profile nor an optimisation level changes them, for both ends must agree. The layout is a wire like
//! any other, so the same codec reads it, and the automaton's text prints it.

use mokume_reaction as r;
use mokume_semantics::program::Layout;

use super::endian;
use super::repeated::{at_most, nested, Part};
use crate::plan::has_header;
use crate::stack::{HeaderField, Lowering};

/// A wire under construction: the next field's number, and the bits so far.
struct Layer {
    next: u32,
    bits: u32,
    layout: Layout,
}

impl Lowering<'_> {
    /// A tag if there are several alternatives, then the fields; little-endian where a field does not say otherwise.
    pub(crate) fn generated_wire(&mut self, members: &[usize]) -> Option<r::WireId> {
        let inst = *members.first()?;
        if !has_header(self.inst(inst)) {
            return None;
        }
        let header = self.infos[inst].header?;
        let name = self.inst(inst).name.clone();
        let layout = self.layer(inst).and_then(|layer| layer.header.as_ref()).map_or(Layout::Octets, |h| h.layout);
        if layout == Layout::Compressed {
            return self.compressed_wire(members);
        }
        let variants = self.infos[inst].fields.len();
        let mut layer = Layer { next: 0, bits: 0, layout };
        let mut items = Vec::new();
        if variants > 1 {
            let width = match layout {
                Layout::Packed => usize::BITS.saturating_sub((variants - 1).leading_zeros()) as u8,
                _ => 8,
            };
            items.push(r::WireItem::Field(layer.field("tag", width, r::FieldValue::Tag, r::Endian::Little)));
            let before = layer.bits;
            let mut arms = Vec::new();
            for variant in 0..variants {
                let selects = vec![(header, r::VariantId::from(variant))];
                layer.bits = before;
                let items = self.generated_fields(inst, variant, &name, &mut layer);
                arms.push(r::WireArm { tag: variant as u64, selects, commons: Vec::new(), items });
            }
            let unknown = self.a.reason(&format!("{name}.tag"));
            items.push(r::WireItem::Choice { on: r::FieldIndex(0), arms, unknown });
        } else {
            items = self.generated_fields(inst, 0, &name, &mut layer);
        }
        let short = self.a.reason(&format!("{name}.short"));
        self.a.wires.push(r::Wire { name, headers: vec![header], endian: r::Endian::Little, items, short });
        Some(r::WireId::from(self.a.wires.len() - 1))
    }

    fn generated_fields(&mut self, inst: usize, variant: usize, name: &str, layer: &mut Layer) -> Vec<r::WireItem> {
        let info = self.infos[inst].clone();
        let Some(header) = info.header else { return Vec::new() };
        let vectors = self.repeated(inst, variant);
        let within = |at: usize| vectors.iter().any(|vector| (vector.element(0)..vector.end()).contains(&at));
        let widths = info.fields[variant].iter().map(|field| u32::from(layer.width(field.ty.width(&self.a))));
        // The size of aligned records is a multiple of their widest field, that of packed ones whole octets; so is that
        // of each element.
        let whole = if layer.layout == Layout::Aligned { widths.max().unwrap_or(8).max(8) } else { 8 };
        let variant = r::VariantId::from(variant);
        let mut items = Vec::new();
        let mut counts = Vec::new();
        for at in (0..info.fields[variant.index()].len()).filter(|at| !within(*at)) {
            items.extend(self.generated_field(inst, (header, variant, at), name, layer));
            let Some(vector) = vectors.iter().find(|vector| vector.length == at) else { continue };
            let otherwise = self.a.reason(&format!("{name}.{}", info.fields[variant.index()][at].name));
            let Some(r::WireItem::Field(count)) = items.last_mut() else { continue };
            at_most(count, vector.bound as u64, otherwise);
            counts.push((count.index, *vector));
        }
        items.extend(layer.pad(whole));
        if vectors.iter().any(|vector| self.holds_vectors(vector)) {
            let lists = vectors.iter().map(|vector| {
                let mut next = vector.element(0);
                let elements = (0..vector.bound).map(|_| self.parts_of(vector.of, &mut next)).collect();
                (vector.length, elements)
            });
            let lists = lists.collect();
            items.extend(self.generated_lists((inst, header, variant), lists, name, (layer, whole)));
            return items;
        }
        // After everything that is in every packet, so that this has fixed offsets.
        for (count, vector) in counts {
            let mut elements = Vec::new();
            for place in 0..vector.bound {
                let mut element = Vec::new();
                for at in vector.element(place)..vector.element(place + 1) {
                    let mut field = self.generated_field(inst, (header, variant, at), name, layer);
                    if let Some(r::WireItem::Field(field)) = field.last_mut() {
                        called_as_its_list(field, (vector.length, place), &info.fields[variant.index()]);
                    }
                    element.extend(field);
                }
                element.extend(layer.pad(whole));
                elements.push(element);
            }
            items.extend(nested(count, (1, 0), elements));
        }
        items
    }

    /// Elements with nested vectors: each has its lists after its other fields, as the header has.
    fn generated_lists(
        &mut self,
        of: (usize, r::HeaderId, r::VariantId),
        lists: Vec<(usize, Vec<Vec<Part>>)>,
        name: &str,
        (layer, whole): (&mut Layer, u32),
    ) -> Vec<r::WireItem> {
        let mut items = Vec::new();
        for (length, parts) in lists {
            let all = parts.into_iter().map(|parts| self.generated_element(of, parts, name, (&mut *layer, whole)));
            let (_, header, variant) = of;
            let elements = all.collect();
            let list = r::WireList { header, variant, count: length as u32, to_end: None, elements };
            items.push(r::WireItem::List(list));
        }
        items
    }

    fn generated_element(
        &mut self,
        of: (usize, r::HeaderId, r::VariantId),
        parts: Vec<Part>,
        name: &str,
        (layer, whole): (&mut Layer, u32),
    ) -> Vec<r::WireItem> {
        let (inst, header, variant) = of;
        let (mut items, mut lists) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Scalar(at) => items.extend(self.generated_field(inst, (header, variant, at), name, layer)),
                Part::Vector(length, elements) => {
                    items.extend(self.generated_field(inst, (header, variant, length), name, layer));
                    let label = self.infos[inst].fields[variant.index()][length].name.clone();
                    let otherwise = self.a.reason(&format!("{name}.{label}"));
                    if let Some(r::WireItem::Field(count)) = items.last_mut() {
                        at_most(count, elements.len() as u64, otherwise);
                    }
                    lists.push((length, elements));
                }
            }
        }
        items.extend(layer.pad(whole));
        items.extend(self.generated_lists(of, lists, name, (layer, whole)));
        items
    }

    /// A field, with padding in front if fields are aligned.
    fn generated_field(
        &mut self,
        inst: usize,
        (header, variant, at): (r::HeaderId, r::VariantId, usize),
        name: &str,
        layer: &mut Layer,
    ) -> Vec<r::WireItem> {
        let field = self.infos[inst].fields[variant.index()][at].clone();
        let bits = field.ty.width(&self.a);
        let width = layer.width(bits);
        let mut items = Vec::new();
        if layer.layout == Layout::Aligned {
            items.extend(layer.pad(u32::from(width)));
        }
        let whole = bits == width && !matches!(field.ty, r::Type::Enum(_) | r::Type::Bool);
        let otherwise = (!whole).then(|| self.a.reason(&format!("{name}.{}", field.name)));
        let value = r::FieldValue::Header { header, variant, field: at as u32, times: 1, plus: 0, otherwise };
        let order = endian(field.big.unwrap_or(false));
        items.push(r::WireItem::Field(layer.field(&field.name, width, value, order)));
        items
    }
}

/// Calls an element of a list as the list, and a part of one `lines_node`: so tools know that they belong together.
fn called_as_its_list(field: &mut r::WireField, (length, place): (usize, usize), fields: &[HeaderField]) {
    let Some(list) = fields[length].name.strip_suffix("_length") else { return };
    let Some(rest) = field.name.strip_prefix(list).and_then(|rest| rest.strip_prefix(&format!("_{place}"))) else {
        return;
    };
    let name = format!("{list}{rest}");
    if fields.iter().all(|known| known.name != name) {
        field.name = name;
    }
}

impl Layer {
    /// The bits that a value of `bits` bits occupies.
    fn width(&self, bits: u8) -> u8 {
        match self.layout {
            Layout::Packed | Layout::Compressed => bits,
            Layout::Octets => bits.div_ceil(8) * 8,
            Layout::Aligned => (bits.div_ceil(8)).next_power_of_two() * 8,
        }
    }

    fn field(&mut self, name: &str, width: u8, value: r::FieldValue, order: r::Endian) -> r::WireField {
        let index = r::FieldIndex(self.next);
        let is_whole = self.bits.is_multiple_of(8) && width.is_multiple_of(8);
        self.next += 1;
        self.bits += u32::from(width);
        // Only whole octets have a byte order.
        let endian = if is_whole { order } else { r::Endian::Little };
        let (name, constraints) = (name.into(), Vec::new());
        r::WireField { index, name, width, endian, value, constraints, trims_packet: false, trims_plus: 0 }
    }

    /// Padding bits up to a multiple.
    fn pad(&mut self, multiple: u32) -> Option<r::WireItem> {
        let missing = self.bits.next_multiple_of(multiple) - self.bits;
        let width = u8::try_from(missing).ok().filter(|missing| *missing > 0)?;
        Some(r::WireItem::Field(self.field("pad", width, r::FieldValue::Reserved, r::Endian::Little)))
    }
}
