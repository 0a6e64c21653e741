//! Arms that leave fields out of the packet because of their values: every header that can be pushed still has an arm,
//! and every field has exactly one source.

use super::operations::fits;
use super::wires::Checker;
use crate::*;

/// Whether the item is a field, or a part with fields that is optional.
fn is_fields(item: &WireItem) -> bool {
    match item {
        WireItem::Field(_) => true,
        WireItem::Optional { items, .. } => items.iter().all(is_fields),
        WireItem::Choice { .. } | WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => false,
    }
}

impl Checker<'_, '_> {
    /// Checks a choice with common values: it depends on a tag, is last in the wire, and has only fields in its arms;
    /// and after each such arm comes one that takes all other values.
    pub(super) fn commons(&mut self, on: FieldIndex, arms: &[WireArm], is_last: bool) {
        if arms.iter().all(|arm| arm.commons.is_empty()) {
            return;
        }
        let is_tag = self.fields.get(on.0 as usize).is_some_and(|field| field.value == FieldValue::Tag);
        let plain = |arm: &WireArm| arm.items.iter().all(is_fields);
        if !is_tag || !is_last || !arms.iter().all(plain) {
            let message = "a choice by common values is on a tag, is the last item, and has fields alone in its arms, or parts of them";
            self.fault(codes::WIRE_ARMS, message.to_owned());
        }
        for (place, arm) in arms.iter().enumerate().filter(|(_, arm)| !arm.commons.is_empty()) {
            let takes_all = |other: &WireArm| other.commons.is_empty() && other.selects == arm.selects;
            if !arms[place..].iter().any(takes_all) {
                self.fault(codes::WIRE_ARMS, format!("no arm behind {} takes its other values", arm.tag));
            }
            arm.commons.iter().for_each(|common| self.common(common));
        }
    }

    fn common(&mut self, common: &WireCommon) {
        if !self.wire.headers.contains(&common.header) {
            self.fault(codes::WIRE_COVER, "a common value of a header that the wire does not carry".to_owned());
        }
        let header = &self.a.headers[common.header.index()];
        let field = header.variants.get(common.variant.index()).and_then(|v| v.fields.get(common.field as usize));
        let width = field.map_or(64, |(_, ty)| ty.width(self.a));
        if !fits(common.value, width) {
            self.fault(codes::NUMBER, format!("{} does not fit into {width} bits", common.value));
        }
    }
}
