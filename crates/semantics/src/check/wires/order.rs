//! The order of a field's octets, and where it begins.

use mokume_base::Diagnostic;

use crate::check::wires::context::WireCheck;
use crate::codes;
use crate::program::*;

/// Reports a field whose low octets come first, and which has no whole octets.
pub(super) fn on_octet(check: &mut WireCheck, field: &WireField, bits: u64) {
    if !field.big && field.width > 8 && !bits.is_multiple_of(8) {
        let text = format!("`{}` has its low octets first, but does not begin on an octet", field.name.text);
        let way = match check.wire.big {
            true => "put it on an octet, or write it without `little`".to_string(),
            false => format!(
                "put it on an octet, or let its high bits come first: `{}: u{} big`",
                field.name.text, field.width
            ),
        };
        let diagnostic = Diagnostic::error(codes::WIRE_WIDTH, text)
            .at(field.name.span, format!("{bits} bits in front of it"))
            .help(way);
        check.fail(diagnostic);
    }
}
