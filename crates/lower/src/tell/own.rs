//! Messages that a layer makes itself, below the point where headers become octets: they have no headers in front.

use mokume_reaction as r;

use crate::code::Writer;

impl Writer<'_, '_> {
    /// At and below a barrier, a message is a packet. One that the layer has made from text alone has no headers, and
    /// its first octets would be read as headers; reports that.
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

    /// Whether it was made from text, and nothing was put into it or appended.
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
