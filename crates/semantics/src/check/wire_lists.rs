//! Vectors of headers in wires: their lengths and elements have places, and how many there are is said in front.

use mokume_base::Diagnostic;

use super::wires::{Check, Path};
use crate::program::*;
use crate::{codes, types};

impl<'a> Check<'a, '_> {
    /// What of a header field must have a place: the field, or of a vector its length and the parts of its elements.
    pub(super) fn parts_of(&self, field: &Field) -> Vec<String> {
        let name = &field.name.text;
        match self.program.vector(field.ty) {
            None => vec![name.clone()],
            Some(_) => leaves(self.program, field.ty).into_iter().map(|leaf| format!("{name}{leaf}")).collect(),
        }
    }

    /// A header field, or a part of a vector that a dotted name means.
    pub(super) fn part_of(&self, field: &Field, name: &str) -> Option<Field> {
        let mut parts = name.split('.');
        if parts.next() != Some(field.name.text.as_str()) {
            return None;
        }
        let ty = parts.try_fold(field.ty, |ty, part| self.step_into(ty, part))?;
        // Of records without a list nothing has a place of its own.
        let listed = name == field.name.text || self.program.vector(field.ty).is_some();
        listed.then(|| Field { ty, ..field.clone() })
    }

    fn step_into(&self, ty: Type, part: &str) -> Option<Type> {
        let Type::Record(id) = ty else { return None };
        match (self.program.vector(ty), part) {
            (Some(vector), "*") => Some(vector.element),
            (Some(_), "length") => Some(Type::UInt(8)),
            (Some(_), _) => None,
            (None, part) => {
                let fields = self.program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
                fields.iter().find(|field| field.name.text == part).map(|field| field.ty)
            }
        }
    }

    pub(super) fn is_length(&self, value: &WireValue) -> bool {
        self.vector(value).is_some_and(|(_, rest)| rest == Some("length"))
    }

    /// Whether what says that an option is there is a vector by its name.
    pub(super) fn names_vector(&self, value: &'a WireValue) -> bool {
        self.vector(value).is_some()
    }

    /// The innermost vector that a name leads to, and what of it is named behind it.
    fn vector<'n>(&self, value: &'n WireValue) -> Option<(Vector, Option<&'n str>)> {
        let WireValue::Header { layer, variant, field, .. } = value else { return None };
        let path: &'n str = &field.text;
        let (of, rest) = match path.rsplit_once('.') {
            Some((of, rest)) if rest != "*" => (of, Some(rest)),
            _ => (path, None),
        };
        let seen = self.layer(&layer.text)?;
        let mut variants = seen
            .variants
            .iter()
            .filter(|(known, _)| variant.as_ref().is_none_or(|wanted| *known == Some(wanted.text.as_str())));
        let found = variants.find_map(|(_, fields)| {
            let known = |path| fields.iter().find_map(|known| self.part_of(known, path));
            let named = |(field, rest): (Field, Option<&'n str>)| Some((self.program.vector(field.ty)?, rest));
            known(path).map(|field| (field, None)).and_then(named).or_else(|| named((known(of)?, rest)))
        });
        found
    }

    pub(super) fn bound(&self, value: &WireValue) -> u64 {
        self.vector(value).map_or(0, |(vector, _)| u64::from(vector.bound))
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
            match item {
                WireItem::Field(field) => self.field_names(field),
                WireItem::Each(inner) => self.each_names(inner),
                _ => {}
            }
        }
    }

    /// The elements stand behind the field that counts them, or go on to the packet's end.
    pub(super) fn each(&mut self, each: &'a WireEach, path: &mut Path<'a>) {
        match each.to_end {
            true => self.cover(&each.length, each.span, path),
            false => self.counted_in_front(each, path),
        }
        if !path.bits.is_multiple_of(8) {
            let text = format!("the elements begin within an octet: {} bits in front of them", path.bits);
            let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text).at(each.span, "no whole octets in front");
            self.fail(diagnostic.help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8)));
        }
        self.cover_elements(each, path);
        if each.moves() || path.over.is_some() {
            path.over = Some(each.span);
            path.listed = !each.to_end;
        }
    }

    fn counted_in_front(&mut self, each: &'a WireEach, path: &Path<'a>) {
        let WireValue::Header { layer, field, .. } = &each.length else { return };
        if path.covered.contains_key(&(layer.text.as_str(), field.text.as_str())) {
            return;
        }
        let vector = field.text.trim_end_matches(".length");
        let (shown, length) = match vector.rsplit_once(".*.") {
            None => (vector.to_string(), format!("{}.{vector}.length", layer.text)),
            Some((_, inner)) => (vector.replace(".*", "[i]"), format!("x.{inner}.length")),
        };
        let text = format!("how many elements `{shown}` has is not said in front of them");
        let mut diagnostic = Diagnostic::error(codes::WIRE_UNCOUNTED, text)
            .at(each.span, "as many as what?")
            .note("a packet is read from front to back")
            .help(format!("write `count: u8 = {length}` in front, or put them into an option"));
        if !vector.contains('*') {
            diagnostic = diagnostic.help("elements that are the last of the packet: `until size(packet)`");
        }
        self.fail(diagnostic);
    }

    pub(super) fn cover_elements(&mut self, each: &'a WireEach, path: &mut Path<'a>) {
        for item in &each.items {
            match item {
                WireItem::Field(field) => self.cover(&field.value, field.name.span, path),
                WireItem::Each(inner) => {
                    self.counted_in_front(inner, path);
                    self.cover_elements(inner, path);
                }
                _ => {}
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

/// What has a place of its own in a packet, by its names behind a value: of a vector its length and an element's parts.
fn leaves(program: &Program, ty: Type) -> Vec<String> {
    if let Some(vector) = program.vector(ty) {
        let parts = leaves(program, vector.element).into_iter().map(|leaf| format!(".*{leaf}"));
        return std::iter::once(".length".to_string()).chain(parts).collect();
    }
    let Type::Record(id) = ty else { return vec![String::new()] };
    let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
    let inner = |field: &Field| {
        let name = &field.name.text;
        leaves(program, field.ty).into_iter().map(|rest| format!(".{name}{rest}")).collect::<Vec<_>>()
    };
    fields.iter().flat_map(inner).collect()
}
