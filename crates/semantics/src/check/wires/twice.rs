//! A wire names headers by their layers, so each layer with a header may be in its bundle only once.

use mokume_base::Diagnostic;

use crate::check::wires::context::WireCheck;
use crate::check::wires::headers::Seen;
use crate::codes;
use crate::program::*;

/// Reports layers with a header that are in the bundle more than once.
pub(super) fn check(check: &mut WireCheck) {
    let has_fields = |seen: &&Seen| seen.variants.iter().any(|(_, fields)| !fields.is_empty());
    let places: Vec<&Layer> = check.seen.iter().filter(has_fields).map(|seen| seen.layer).collect();
    let again = |at: &usize| places[..*at].iter().any(|before| before.name.span == places[*at].name.span);
    let Some(layer) = (0..places.len()).find(again).map(|at| places[at]) else { return };
    let (name, bundle) = (&layer.name.text, &check.bundle.name.text);
    let text = format!("`{name}` stands in `{bundle}` more than once, and a wire has one place for `{name}.…`");
    let parts = &check.bundle.parts;
    let of_layer = |part: &&Use| matches!(part.of, Definition::Layer(id) if check.program.layers[id.index()].name.span == layer.name.span);
    let mut spans = parts.iter().filter(of_layer).map(|part| part.span);
    let (first, second) = (spans.next(), spans.next());
    let mut found = Diagnostic::error(codes::WIRE_LAYER_TWICE, text)
        .at(second.unwrap_or(check.bundle.name.span), "once more")
        .label(check.wire.name.span, "of which of the two?");
    if let (Some(first), Some(_)) = (first, second) {
        found = found.label(first, "here first");
    }
    let found = found
        .help(format!("give the lower one a bundle and a wire of its own: `bundle Lower = {name} encoded LowerWire`, and put `{bundle}` over it"))
        .help("or leave `encoded` out: then the compiler says where the fields go");
    check.fail(found);
}
