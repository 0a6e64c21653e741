//! Events of vocabularies in the code of layers: their types and their direction come from the vocabulary.

use mokume_base::{Diagnostic, Span};

use super::Context;
use crate::codes;
use crate::program::*;
use crate::signature::Carried;

impl Context {
    /// An event that a layer knows from a vocabulary that it speaks, and whether it goes down.
    pub(super) fn spoken(&self, layer: LayerId, event: &str) -> Option<(Carried, bool)> {
        let speaks = &self.program.layers.get(layer.index())?.speaks;
        speaks.iter().find_map(|(id, _)| {
            let vocabulary = &self.program.vocabularies[id.index()];
            let find = |list: &[Carried]| list.iter().find(|known| known.name.text == event).cloned();
            let down = find(&vocabulary.down).map(|known| (known, true));
            down.or_else(|| find(&vocabulary.up).map(|known| (known, false)))
        })
    }

    /// Events of a vocabulary have one direction, whoever speaks of them.
    pub(super) fn wrong_direction(&mut self, known: &Carried, down: bool, span: Span, emitted: bool) {
        let (way, side) = if down { ("down", "above") } else { ("up", "below") };
        let name = &known.name.text;
        let help = match (emitted, down) {
            (true, true) => format!("write `below.{name}(…)`"),
            (true, false) => format!("write `above.{name}(…)`"),
            (false, _) => format!("it comes from {side}: leave `from` out"),
        };
        let diagnostic = Diagnostic::error(codes::VOCABULARY_WAY, format!("`{name}` goes {way}"))
            .at(span, "not this way")
            .label(known.name.span, format!("declared as going {way}"))
            .help(help);
        self.report(diagnostic);
    }
}
