//! Headers of a packet that is written by its fields: the alternatives that are chosen, and values that are set.

use mokume_reaction::{HeaderId, VariantId, WireArm};

use crate::HeaderValue;

/// The arm for these headers.
pub(super) fn chosen<'a>(arms: &'a [WireArm], values: &[HeaderValue]) -> Option<&'a WireArm> {
    let has = |(header, variant): &(HeaderId, VariantId)| {
        values.iter().any(|value| value.header == *header && value.variant == *variant)
    };
    arms.iter().find(|arm| arm.selects.iter().all(has))
}

/// Sets a field of an alternative, if the packet has it.
pub(super) fn set(values: &mut [HeaderValue], (header, variant): (HeaderId, VariantId), field: u32, to: u64) {
    let found = values.iter_mut().find(|value| value.header == header && value.variant == variant);
    if let Some(place) = found.and_then(|value| value.fields.get_mut(field as usize)) {
        *place = to;
    }
}
