//! Vectors of headers in wires: their lengths and elements have places, and how many there are is said in front.

use mokume_base::Diagnostic;

use super::wires::{Check, Path};
use crate::program::*;
use crate::{codes, types};

impl<'a> Check<'a, '_> {
    /// What of a header field must have a place: the field, or of a vector its length and the parts of its elements.
    pub(super) fn parts_of(&self, field: &Field) -> Vec<String> {
        let name = &field.name.text;
        let Some(vector) = self.program.vector(field.ty) else { return vec![name.clone()] };
        let mut parts = vec![format!("{name}.length")];
        parts.extend(leaves(self.program, vector.element).into_iter().map(|(leaf, _)| format!("{name}.*{leaf}")));
        parts
    }

    /// A header field, or a part of a vector that a dotted name means.
    pub(super) fn part_of(&self, field: &Field, name: &str) -> Option<Field> {
        if field.name.text == name {
            return Some(field.clone());
        }
        let rest = name.strip_prefix(field.name.text.as_str())?.strip_prefix('.')?;
        let vector = self.program.vector(field.ty)?;
        let ty = match rest.strip_prefix('*') {
            None if rest == "length" => Type::UInt(8),
            None => return None,
            Some(leaf) => leaves(self.program, vector.element).into_iter().find(|(known, _)| known == leaf)?.1,
        };
        Some(Field { ty, ..field.clone() })
    }

    pub(super) fn is_length(&self, value: &WireValue) -> bool {
        matches!(value, WireValue::Header { field, .. } if field.text.ends_with(".length"))
    }

    /// Whether what says that an option is there is a vector by its name.
    pub(super) fn names_vector(&self, value: &'a WireValue) -> bool {
        self.vector(value).is_some()
    }

    fn vector(&self, value: &WireValue) -> Option<Vector> {
        let WireValue::Header { layer, variant, field, .. } = value else { return None };
        let name = field.text.split('.').next()?;
        let seen = self.layer(&layer.text)?;
        let mut variants = seen
            .variants
            .iter()
            .filter(|(known, _)| variant.as_ref().is_none_or(|wanted| *known == Some(wanted.text.as_str())));
        variants.find_map(|(_, fields)| {
            let found = fields.iter().find(|known| known.name.text == name)?;
            self.program.vector(found.ty)
        })
    }

    pub(super) fn bound(&self, value: &WireValue) -> u64 {
        self.vector(value).map_or(0, |vector| u64::from(vector.bound))
    }

    /// The field holds the length of the longest vector.
    pub(super) fn wide_enough(&mut self, field: &WireField, most: u64) {
        if most <= types::mask(field.width) {
            return;
        }
        let text = format!(
            "`{}: u{}` counts to {}, and there may be {most}",
            field.name.text,
            field.width,
            types::mask(field.width)
        );
        let diagnostic = Diagnostic::error(codes::WIRE_COUNT, text).at(field.name.span, "too narrow");
        self.fail(diagnostic.help("widen the field, or lower the vector's bound"));
    }

    /// A vector is no field by itself.
    pub(super) fn no_scalar(&mut self, field: &WireField, found: &Field) {
        let name = &found.name.text;
        let text = format!("`{}` is a vector, not one field of a packet", name);
        let diagnostic =
            Diagnostic::error(codes::WIRE_ELEMENT, text).at(field.name.span, types::show(self.program, found.ty));
        self.fail(diagnostic.help(format!("write `count: u8 = Layer.{name}.length  each x in Layer.{name} {{ … }}`")));
    }

    pub(super) fn each_names(&mut self, each: &'a WireEach) {
        let WireValue::Header { layer, field, .. } = &each.length else { return };
        let name = field.text.trim_end_matches(".length");
        let known = self.layer(&layer.text).is_some_and(|seen| {
            seen.variants.iter().any(|(_, fields)| fields.iter().any(|field| field.name.text == name))
        });
        if known && !self.names_vector(&each.length) {
            let text = format!("`{}.{name}` is no vector", layer.text);
            let diagnostic = Diagnostic::error(codes::WIRE_ELEMENT, text).at(each.span, "the elements of what?");
            return self
                .fail(diagnostic.help("give the header a vector, `blocks: [Block; ..4]`, or write a plain field"));
        }
        if self.header_field(&each.length).is_none() {
            return;
        }
        for item in &each.items {
            if let WireItem::Field(field) = item {
                self.field_names(field);
            }
        }
    }

    /// The elements stand behind the field that counts them.
    pub(super) fn each(&mut self, each: &'a WireEach, path: &mut Path<'a>) {
        let WireValue::Header { layer, field, .. } = &each.length else { return };
        if !path.covered.contains_key(&(layer.text.as_str(), field.text.as_str())) {
            let vector = field.text.trim_end_matches(".length");
            let text = format!("how many elements `{vector}` has is not said in front of them");
            let diagnostic = Diagnostic::error(codes::WIRE_UNCOUNTED, text)
                .at(each.span, "as many as what?")
                .note("a packet is read from front to back")
                .help(format!(
                    "write `count: u8 = {}.{vector}.length` in front, or put them into an option",
                    layer.text
                ));
            self.fail(diagnostic);
        }
        if !path.bits.is_multiple_of(8) {
            let text = format!("the elements begin within an octet: {} bits in front of them", path.bits);
            let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text).at(each.span, "no whole octets in front");
            self.fail(diagnostic.help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8)));
        }
        self.cover_elements(each, path);
    }

    pub(super) fn cover_elements(&mut self, each: &'a WireEach, path: &mut Path<'a>) {
        for item in &each.items {
            if let WireItem::Field(field) = item {
                self.cover(&field.value, field.name.span, path);
            }
        }
    }

    /// An option that is there if its vector is not empty holds nothing else that could be lost.
    pub(super) fn is_counted(&self, present: &WireValue, each: &WireEach, items: &[WireItem]) -> bool {
        let (WireValue::Header { field, .. }, WireValue::Header { field: length, .. }) = (present, &each.length) else {
            return false;
        };
        let fixed =
            items.iter().any(|item| matches!(item, WireItem::Field(WireField { value: WireValue::Header { .. }, .. })));
        !fixed && length.text.strip_suffix(".length") == Some(field.text.as_str())
    }
}

/// The scalars of an element, by their names behind it.
fn leaves(program: &Program, ty: Type) -> Vec<(String, Type)> {
    let Type::Record(id) = ty else { return vec![(String::new(), ty)] };
    let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
    let inner = |field: &Field| {
        let under = leaves(program, field.ty).into_iter();
        under.map(|(rest, ty)| (format!(".{}{rest}", field.name.text), ty)).collect::<Vec<_>>()
    };
    fields.iter().flat_map(inner).collect()
}
