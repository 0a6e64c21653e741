//! Parts of wires that are not in every packet: what a condition may name, what an option may hold, what ends a path.

use rustc_hash::FxHashSet as HashSet;

use super::operations::fits;
use super::wires::{fields_of, Checker, WirePath};
use crate::*;

impl<'a> Checker<'a, '_> {
    /// The paths without the part, on which its header fields are zero, and the paths with it.
    pub(super) fn optional(&mut self, when: &[WireTest], items: &'a [WireItem], paths: Vec<WirePath>) -> Vec<WirePath> {
        for test in when {
            self.condition(&test.left, &paths);
            self.condition(&test.right, &paths);
        }
        let mut without = paths.clone();
        for path in &mut without {
            path.covered.extend(WireItem::fields(items).into_iter().filter_map(covers));
        }
        let mut after = self.items(items, paths);
        after.extend(without);
        self.bounded(after)
    }

    /// The encoder and the decoder must know the same: earlier fields that do not depend on a size.
    fn condition(&mut self, expression: &WireExpression, paths: &[WirePath]) {
        let mut named = Vec::new();
        fields_of(expression, &mut named);
        for index in named {
            let field = self.fields.get(index.0 as usize).copied();
            let computed = field.is_some_and(|field| matches!(field.value, FieldValue::Computed { .. }));
            if computed || paths.iter().any(|path| !path.fields.contains(&index)) {
                let name = field.map_or("?", |field| &field.name);
                let message = format!("a condition on `{name}`, which is computed or not in front of it on every way");
                self.fault(codes::WIRE_NAME, message);
            }
        }
        if is_measured(expression) {
            self.fault(codes::WIRE_NAME, "a condition names fields and numbers, no sizes".to_owned());
        }
    }

    pub(super) fn reach(&mut self, to: &WireExpression, paths: &mut [WirePath]) {
        self.condition(to, paths);
        paths.iter_mut().for_each(|path| path.over = true);
    }

    pub(super) fn options(&mut self, options: &'a WireOptions, paths: &mut [WirePath]) {
        let mut named = Vec::new();
        fields_of(&options.until, &mut named);
        if named.iter().any(|index| paths.iter().any(|path| !path.fields.contains(index))) {
            self.fault(
                codes::WIRE_NAME,
                "the end of the options names a field that is not in front of them".to_owned(),
            );
        }
        if paths.iter().any(|path| path.bits % 8 != 0) {
            self.fault(codes::WIRE_OCTETS, "options begin on an octet".to_owned());
        }
        for part in [&options.kind, &options.length] {
            if !matches!(part.width, 8 | 16 | 32) {
                let message = format!("`{}` has {} bits: kinds and lengths have 8, 16 or 32", part.name, part.width);
                self.fault(codes::WIRE_FIELD, message);
            }
        }
        if options.times == 0 || options.pad == 0 || options.pad > 256 {
            self.fault(codes::WIRE_FIELD, "options are counted and padded by 1 octet or more".to_owned());
        }
        let fills = |kind: u64| options.arms.contains(&OptionArm::Single { kind }) && options.kind.width == 8;
        if options.pads_with.is_some_and(|kind| !fills(kind)) {
            self.fault(codes::WIRE_ARMS, "what fills options up is no single option of one octet".to_owned());
        }
        if options.ends_with.is_some_and(|kind| !options.arms.contains(&OptionArm::End { kind })) {
            self.fault(codes::WIRE_ARMS, "what is written behind the options does not end them".to_owned());
        }
        self.option_arms(options, paths);
        for path in paths.iter_mut() {
            path.over = true;
        }
    }

    fn option_arms(&mut self, options: &'a WireOptions, paths: &mut [WirePath]) {
        let mut kinds = HashSet::default();
        for arm in &options.arms {
            if !kinds.insert(arm.kind()) {
                self.fault(codes::WIRE_ARMS, format!("kind {} is there twice", arm.kind()));
            }
            if !fits(arm.kind(), options.kind.width) {
                let message = format!("kind {} does not fit into {} bits", arm.kind(), options.kind.width);
                self.fault(codes::NUMBER, message);
            }
            if let OptionArm::Known { header, variant, field, items, .. } = arm {
                self.option_items(options, arm, items, paths);
                self.elements(arm, items);
                let mut said = vec![*field];
                said.extend(arm.repeat().map(|repeat| repeat.count));
                said.dedup();
                for field in said {
                    paths.iter_mut().for_each(|path| path.covered.push((*header, *variant, field)));
                }
            }
        }
    }

    fn option_items(
        &mut self,
        options: &'a WireOptions,
        arm: &'a OptionArm,
        items: &'a [WireItem],
        paths: &mut [WirePath],
    ) {
        let fields: Vec<&WireField> = items.iter().filter_map(only_field).collect();
        let bits: u32 = fields.iter().map(|field| u32::from(field.width)).sum();
        if fields.len() != items.len() || !bits.is_multiple_of(8) {
            let message = format!("option {} is no run of fields of whole octets together", arm.kind());
            self.fault(codes::WIRE_OCTETS, message);
        }
        let (fixed, each, most) = arm.measures();
        for octets in (0..=most).map(|count| u64::from(options.head() + fixed + count * each)) {
            let rest = octets.checked_sub(options.plus).filter(|rest| rest.is_multiple_of(options.times.max(1)));
            if !rest.is_some_and(|rest| fits(rest / options.times.max(1), options.length.width)) {
                let message = format!("no length says that option {} has {octets} octets", arm.kind());
                self.fault(codes::NUMBER, message);
                break;
            }
        }
        let mut inside = paths.to_vec();
        for field in fields {
            if matches!(field.value, FieldValue::Computed { .. } | FieldValue::Tag | FieldValue::Placed) {
                let message = format!("`{}` is computed, or of a layer below, within an option", field.name);
                self.fault(codes::WIRE_FIELD, message);
            }
            self.field(field, &mut inside);
            for constraint in &field.constraints {
                self.condition(&constraint.left, &inside);
                self.condition(&constraint.right, &inside);
            }
            paths.iter_mut().for_each(|path| path.covered.extend(covers(field)));
        }
    }
}

impl Checker<'_, '_> {
    /// Elements are alike: the same number of items, of the same widths, whole octets together.
    fn elements(&mut self, arm: &OptionArm, items: &[WireItem]) {
        let Some(repeat) = arm.repeat() else { return };
        let widths: Vec<u32> = WireItem::fields(items).iter().map(|field| u32::from(field.width)).collect();
        let elements = widths.get(repeat.from as usize..).unwrap_or_default();
        let mut chunks = elements.chunks(repeat.each.max(1) as usize);
        let first = chunks.next().unwrap_or_default();
        let whole = first.iter().sum::<u32>();
        if first.is_empty() || !whole.is_multiple_of(8) || chunks.any(|chunk| chunk != first) {
            let message = format!("option {} has no elements that are alike, in whole octets", arm.kind());
            self.fault(codes::WIRE_OCTETS, message);
        }
    }
}

fn only_field(item: &WireItem) -> Option<&WireField> {
    match item {
        WireItem::Field(field) => Some(field),
        _ => None,
    }
}

fn covers(field: &WireField) -> Option<(HeaderId, VariantId, u32)> {
    match &field.value {
        FieldValue::Header { header, variant, field, .. } => Some((*header, *variant, *field)),
        _ => None,
    }
}

/// Whether the expression contains sizes or checksums.
fn is_measured(expression: &WireExpression) -> bool {
    use WireExpression as E;
    match expression {
        E::Number(_) | E::Field(_) => false,
        E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => is_measured(a) || is_measured(b),
        E::PacketSize | E::HeaderSize | E::PayloadSize | E::HeaderChecksum | E::PacketChecksum => true,
    }
}
