//! Wires: every bit has a meaning, and every header field has one place on every path through the choices.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Faults;
use super::operations::fits;
use crate::*;

/// Checks all wires, so that decoding is total and the inverse of encoding (docs/semantics.md, W2 and W3).
pub fn check(automaton: &Automaton, faults: &mut Faults) {
    for (index, wire) in automaton.wires.iter().enumerate() {
        let mut checker = Checker { a: automaton, id: index.into(), wire, faults, fields: Vec::new(), trims: 0 };
        checker.collect(&wire.items);
        checker.headers();
        let path = WirePath::default();
        let paths = checker.items(&wire.items, vec![path]);
        paths.iter().for_each(|path| checker.end(path));
        if checker.trims > 1 {
            let place = Place::Wire(index.into());
            faults.add(codes::WIRE_TRIM, place, "more than one field says where the packet ends");
        }
    }
}

/// One path through the choices, up to the current item.
#[derive(Clone, Default)]
pub(super) struct WirePath {
    pub bits: u32,
    variants: HashMap<HeaderId, VariantId>,
    pub covered: Vec<(HeaderId, VariantId, u32)>,
    pub fields: Vec<FieldIndex>,
    /// No item may follow.
    pub over: bool,
    /// Only other lists may follow.
    pub listed: bool,
}

pub(super) struct Checker<'a, 'f> {
    pub(super) a: &'a Automaton,
    id: WireId,
    pub(super) wire: &'a Wire,
    pub faults: &'f mut Faults,
    pub fields: Vec<&'a WireField>,
    trims: u32,
}

/// The most paths of a wire; no reasonable wire has more.
const MOST_PATHS: usize = 4096;

impl<'a> Checker<'a, '_> {
    pub(super) fn place(&self, index: FieldIndex) -> Place {
        Place::WireField(self.id, index)
    }

    pub(super) fn fault(&mut self, code: mokume_base::Code, message: String) {
        self.faults.add(code, Place::Wire(self.id), message);
    }

    /// Collects the fields in their order of appearance, which is their numbering.
    fn collect(&mut self, items: &'a [WireItem]) {
        for item in items {
            match item {
                WireItem::Field(field) => {
                    if field.index.0 as usize != self.fields.len() {
                        let message = format!(
                            "field `{}` has number {}, and is the {}th",
                            field.name,
                            field.index.0,
                            self.fields.len()
                        );
                        self.fault(codes::WIRE_FIELD, message);
                    }
                    self.fields.push(field);
                    self.trims += u32::from(field.trims_packet);
                }
                item => item.inner().into_iter().for_each(|items| self.collect(items)),
            }
        }
    }

    fn headers(&mut self) {
        let mut seen = HashSet::default();
        for header in &self.wire.headers {
            if !seen.insert(*header) {
                let name = &self.a.headers[header.index()].name;
                self.fault(codes::TWICE, format!("the wire names `{name}` twice"));
            }
        }
    }

    pub(super) fn items(&mut self, items: &'a [WireItem], mut paths: Vec<WirePath>) -> Vec<WirePath> {
        for (place, item) in items.iter().enumerate() {
            let is_list = matches!(item, WireItem::List(_));
            if paths.iter().any(|path| path.over && !(path.listed && is_list)) {
                let message = "nothing stands behind `options`, `list` or `reach`, but a list behind a list";
                self.fault(codes::WIRE_FIELD, message.to_owned());
                return paths;
            }
            match item {
                WireItem::Field(field) => self.field(field, &mut paths),
                WireItem::Choice { on, arms, .. } => {
                    let is_last = place + 1 == items.len() && std::ptr::eq(items, &self.wire.items[..]);
                    self.commons(*on, arms, is_last);
                    paths = self.choice(*on, arms, paths);
                }
                WireItem::Optional { when, items } => paths = self.optional(when, items, paths),
                WireItem::Options(options) => self.options(options, &mut paths),
                WireItem::List(list) => self.list(list, &mut paths),
                WireItem::Reach(to) => self.reach(to, &mut paths),
            }
        }
        paths
    }

    pub(super) fn field(&mut self, field: &'a WireField, paths: &mut [WirePath]) {
        let place = self.place(field.index);
        if !(1..=64).contains(&field.width) {
            let message = format!("field `{}` has {} bits: a field has 1 to 64", field.name, field.width);
            self.faults.add(codes::WIRE_FIELD, place, message);
        }
        for path in paths.iter_mut() {
            let at_octet = path.bits.is_multiple_of(8) && field.width.is_multiple_of(8);
            if field.endian == Endian::Little && field.endian != self.wire.endian && !at_octet {
                let message = format!("field `{}` is no run of whole octets, and has an order of octets", field.name);
                self.faults.add(codes::WIRE_OCTETS, place, message);
            }
            path.bits += u32::from(field.width);
            path.fields.push(field.index);
            if let FieldValue::Header { header, variant, field, .. } = &field.value {
                path.covered.push((*header, *variant, *field));
            }
        }
        self.value(field, place);
        for constraint in &field.constraints {
            self.expression(&constraint.left, place);
            self.expression(&constraint.right, place);
        }
    }

    fn value(&mut self, field: &WireField, place: Place) {
        match &field.value {
            FieldValue::Constant { value, .. } if !fits(*value, field.width) => {
                let message = format!("{value} does not fit into {} bits", field.width);
                self.faults.add(codes::NUMBER, place, message);
            }
            FieldValue::Header { header, times, .. } => {
                if *times == 0 {
                    self.faults.add(codes::WIRE_FIELD, place, "a field times 0 says nothing");
                }
                if !self.wire.headers.contains(header) {
                    let name = &self.a.headers[header.index()].name;
                    let message = format!("the wire does not carry `{name}`");
                    self.faults.add(codes::WIRE_COVER, place, message).help("name it behind `headers`");
                }
            }
            FieldValue::Computed { expression, .. } => self.expression(expression, place),
            _ => {}
        }
    }

    pub(super) fn expression(&mut self, expression: &WireExpression, place: Place) {
        match expression {
            WireExpression::Field(index) if index.0 as usize >= self.fields.len() => {
                let message = format!("the wire has no field {}", index.0);
                self.faults.add(codes::WIRE_NAME, place, message);
            }
            WireExpression::Add(a, b)
            | WireExpression::Sub(a, b)
            | WireExpression::Mul(a, b)
            | WireExpression::Div(a, b) => {
                self.expression(a, place);
                self.expression(b, place);
            }
            _ => {}
        }
    }

    fn choice(&mut self, on: FieldIndex, arms: &'a [WireArm], paths: Vec<WirePath>) -> Vec<WirePath> {
        if paths.iter().any(|path| !path.fields.contains(&on)) {
            self.fault(codes::WIRE_NAME, format!("a choice on field {}, which does not come before it", on.0));
        }
        let width = self.fields.get(on.0 as usize).map_or(64, |field| field.width);
        let mut tags = HashSet::default();
        for arm in arms {
            if !tags.insert(arm.tag) {
                self.fault(codes::WIRE_ARMS, format!("tag {} is there twice", arm.tag));
            }
            if !fits(arm.tag, width) {
                self.fault(codes::NUMBER, format!("tag {} does not fit into {width} bits", arm.tag));
            }
        }
        self.check_covering(arms);
        let mut after = Vec::new();
        for arm in arms {
            let mut taken = paths.clone();
            for path in &mut taken {
                path.variants.extend(arm.selects.iter().copied());
                path.covered.extend(arm.commons.iter().map(|common| (common.header, common.variant, common.field)));
            }
            after.extend(self.items(&arm.items, taken));
        }
        self.bounded(after)
    }

    pub(super) fn bounded(&mut self, mut paths: Vec<WirePath>) -> Vec<WirePath> {
        if paths.len() > MOST_PATHS {
            self.fault(codes::SIZE, format!("more than {MOST_PATHS} ways through the choices"));
            paths.truncate(1);
        }
        paths
    }

    /// A choice that selects variants of a header must select each of them.
    fn check_covering(&mut self, arms: &[WireArm]) {
        let headers: HashSet<HeaderId> = arms.iter().flat_map(|arm| arm.selects.iter().map(|(h, _)| *h)).collect();
        for header in headers {
            let found = &self.a.headers[header.index()];
            for (index, variant) in found.variants.iter().enumerate() {
                let wanted = (header, VariantId::from(index));
                if !arms.iter().any(|arm| arm.selects.contains(&wanted)) {
                    let message = format!("no arm stands for `{}.{}`", found.name, variant.name);
                    self.fault(codes::WIRE_ARMS, message);
                }
            }
        }
    }

    fn end(&mut self, path: &WirePath) {
        if !path.bits.is_multiple_of(8) {
            let message = format!("a header of {} bits does not end on an octet", path.bits);
            self.faults.add(codes::WIRE_OCTETS, Place::Wire(self.id), message).help("add `reserved` bits");
        }
        for header in &self.wire.headers {
            self.cover(*header, path);
        }
        for index in &path.fields {
            self.check_named(*index, path);
        }
    }

    /// The fields that a field is computed from, or constrained by, are in every packet that has the field.
    fn check_named(&mut self, index: FieldIndex, path: &WirePath) {
        let Some(field) = self.fields.get(index.0 as usize).copied() else { return };
        let mut named = Vec::new();
        if let FieldValue::Computed { expression, .. } = &field.value {
            fields_of(expression, &mut named);
        }
        for constraint in &field.constraints {
            fields_of(&constraint.left, &mut named);
            fields_of(&constraint.right, &mut named);
        }
        if let Some(missing) = named.iter().find(|name| !path.fields.contains(name)) {
            let name = self.fields.get(missing.0 as usize).map_or("?", |field| &field.name);
            let message = format!("`{}` names `{name}`, which not every packet with it has", field.name);
            let place = self.place(index);
            if self.faults.0.last().is_none_or(|last| last.place != place) {
                self.faults.add(codes::WIRE_NAME, place, message).help("name fields that come before the choice");
            }
        }
    }

    fn cover(&mut self, header: HeaderId, path: &WirePath) {
        let found = &self.a.headers[header.index()];
        let variant = match (path.variants.get(&header), found.variants.len()) {
            (Some(variant), _) => *variant,
            (None, 1) => VariantId(0),
            (None, _) => {
                let message = format!("nothing says which variant of `{}` a packet has", found.name);
                self.fault(codes::WIRE_ARMS, message);
                return;
            }
        };
        for (index, (name, _)) in found.variants[variant.index()].fields.iter().enumerate() {
            let wanted = (header, variant, index as u32);
            let count = path.covered.iter().filter(|place| **place == wanted).count();
            if count != 1 {
                let message = format!("`{}.{name}` has {count} places in the packet", found.name);
                self.faults
                    .add(codes::WIRE_COVER, Place::Wire(self.id), message)
                    .help("every field of every header has one place on every way");
            }
        }
        if let Some((_, other, _)) = path.covered.iter().find(|(h, v, _)| *h == header && *v != variant) {
            let name = &found.variants[other.index()].name;
            let message = format!("a field of `{}.{name}` where another variant is selected", found.name);
            self.fault(codes::WIRE_COVER, message);
        }
    }
}

pub(super) fn fields_of(expression: &WireExpression, found: &mut Vec<FieldIndex>) {
    match expression {
        WireExpression::Field(index) => found.push(*index),
        WireExpression::Add(a, b)
        | WireExpression::Sub(a, b)
        | WireExpression::Mul(a, b)
        | WireExpression::Div(a, b) => {
            fields_of(a, found);
            fields_of(b, found);
        }
        _ => {}
    }
}
