//! Compares two frames: whether they are equal or of one kind, and in which fields they differ.

use crate::dissect::{Dissection, Field, Layer};

/// A field in which a frame of the capture differs from one of the stack's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unlike {
    /// `layer.field`
    pub field: String,
    /// Its value as shown; `None` if the frame does not have the field.
    pub here: Option<String>,
    pub stack: Option<String>,
    /// By how much the capture's value is larger, and the field's bits.
    pub(super) by: Option<(u64, u8)>,
}

/// The result of comparing two frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Held {
    /// Layers, alternatives and payload are the same.
    pub is_one_kind: bool,
    pub unlike: Vec<Unlike>,
}

/// A dissected frame.
pub(super) struct Apart<'o> {
    pub octets: &'o [u8],
    pub dissection: &'o Dissection,
}

/// Compares a frame of the capture with one of the stack's; `None` if they have different layers.
pub(super) fn held(here: &Apart<'_>, stack: &Apart<'_>) -> Option<Held> {
    let (ours, theirs) = (&here.dissection.layers, &stack.dissection.layers);
    let names = |layers: &[Layer]| layers.iter().map(|layer| layer.name.clone()).collect::<Vec<_>>();
    if ours.is_empty() || names(ours) != names(theirs) {
        return None;
    }
    let mut unlike = Vec::new();
    let mut is_one_kind = rest(here) == rest(stack);
    for (one, other) in ours.iter().zip(theirs) {
        is_one_kind &= one.alternatives == other.alternatives;
        fields((one, other), &mut unlike);
    }
    Some(Held { is_one_kind, unlike })
}

fn rest<'o>(frame: &Apart<'o>) -> &'o [u8] {
    frame.octets.get(frame.dissection.rest.clone()).unwrap_or_default()
}

/// Compares the fields that layers choose; checksums and lengths follow from these.
fn fields((one, other): (&Layer, &Layer), unlike: &mut Vec<Unlike>) {
    let own = |layer: &Layer| -> Vec<(String, Field)> {
        let mut found: Vec<(String, Field)> = Vec::new();
        for field in layer.fields.iter().filter(|field| field.carried || field.is_choice) {
            let times = found.iter().filter(|(_, known)| known.name == field.name).count();
            let of = field.alternative.as_ref().map_or(String::new(), |of| format!("{of}."));
            let again = if times == 0 { String::new() } else { format!(" ({})", times + 1) };
            found.push((format!("{}.{of}{}{again}", layer.name, field.name), field.clone()));
        }
        found
    };
    let (ours, theirs) = (own(one), own(other));
    for (name, field) in &ours {
        let known = theirs.iter().find(|(known, _)| known == name).map(|(_, field)| field);
        if known.is_none_or(|known| known.value != field.value) {
            let by = known.map(|known| (field.value.wrapping_sub(known.value), field.width));
            unlike.push(Unlike { field: name.clone(), here: Some(told(field)), stack: known.map(told), by });
        }
    }
    for (name, field) in theirs.iter().filter(|(name, _)| !ours.iter().any(|(known, _)| known == name)) {
        unlike.push(Unlike { field: name.clone(), here: None, stack: Some(told(field)), by: None });
    }
}

fn told(field: &Field) -> String {
    field.written.clone().unwrap_or_else(|| field.value.to_string())
}
