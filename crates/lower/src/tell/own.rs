//! Messages of a layer's own, where headers are octets already: nobody put any in front of them.

use mokume_reaction as r;

use crate::code::Writer;

impl Writer<'_, '_> {
    /// At a barrier, and below it, a message is a packet: one that the layer has made of its text alone has no headers in front, and its first
    /// octets would be taken for them.
    pub fn has_its_headers(&mut self, message: r::Value) {
        if self.info().coding.placed.is_none() || !self.is_bare(message) {
            return;
        }
        let Some(wire) = self.wire_of(self.inst) else { return };
        let (name, bare) = (self.a.wires[wire.index()].name.clone(), self.info().coding.size == Some(0));
        if bare {
            return;
        }
        let place = self.at.or(self.inst(self.inst).span);
        let text = format!("a message of its own at a barrier: its first octets would be the headers of `{name}`");
        let help = "let a layer above the barrier make it, or one that looks at no octets: there it has headers of zeros. Who means a whole packet \
                    puts the headers in front: `let packet = message(x\"0000\")`, `packet.join(message(\"own\"))`";
        self.error("M0768", text, place, help);
    }

    /// Made of a text, and nothing was put into it or behind it since.
    fn is_bare(&self, message: r::Value) -> bool {
        use r::OpKind as O;
        match self.b.defined_by(message) {
            Some(O::NewMessage { .. }) => true,
            Some(
                O::SetAttribute { message, .. }
                | O::Share { message }
                | O::Trim { message, .. }
                | O::Skip { message, .. }
                | O::Split { message, .. },
            ) => self.is_bare(*message),
            _ => false,
        }
    }
}
