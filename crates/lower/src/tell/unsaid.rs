//! Headers that the layer does not set: a message that passes gets the alternative `else`, or the first one, all zeros.

use mokume_reaction as r;
use mokume_semantics::check::zeros;

use crate::code::Writer;

impl Writer<'_, '_> {
    /// The alternative of a message that names none: `else`, or the first one.
    pub fn of_what_passes(&self) -> u32 {
        self.layer(self.inst).and_then(|layer| layer.header.as_ref()?.otherwise()).unwrap_or(0)
    }

    /// Checks that the first alternative carries messages: else the peer would consume them. Reports if not, and
    /// returns whether it did.
    pub fn goes_as_the_first(&mut self) -> bool {
        let header = self.layer(self.inst).and_then(|layer| layer.header.as_ref());
        let header = header.filter(|header| header.otherwise().is_none());
        let first = header.and_then(|header| header.variants.first()).filter(|first| !first.with_message);
        let (Some(header), Some(first)) = (header, first) else { return false };
        let (name, span) = (&first.name.text, first.name.span);
        let text = format!("messages that go down here leave as `{name}`, which goes alone: the peer consumes them");
        let help = match header.variants.iter().find(|variant| variant.with_message) {
            Some(other) => {
                let fields: Vec<String> = other.fields.iter().map(|field| format!("{}: …", field.name.text)).collect();
                let fields = if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
                format!("say what they leave as: `on send(msg) {{ below.send(msg, {}{fields}) }}`", other.name.text)
            }
            None => {
                "no alternative goes with a message: write `with message` behind one, or `on send(msg) { drop msg: … }`; \
                 if messages of layers above go through, add `| else`"
                    .into()
            }
        };
        self.error("M0770", text, Some(span), &help);
        true
    }

    /// The value of a field that is not set: 0, if that is a value of its type.
    pub fn zero_of_field(&mut self, variant: u32, own: u32, ty: r::Type) -> r::Value {
        let program = self.lowering.program;
        let header = self.layer(self.inst).and_then(|layer| layer.header.as_ref());
        let field = header.and_then(|header| header.variants.get(variant as usize)?.fields.get(own as usize));
        if let Some((field, of)) = field.and_then(|field| Some((field, zeros::without_zero(program, field.ty)?))) {
            let (name, of) = (&field.name.text, &of.name.text);
            let text = format!("`{name}` leaves as 0 where nothing says it, and `{of}` has no name for 0");
            let help = format!(
                "say it where messages go down: `on send(msg) {{ below.send(msg, {name}: …) }}`; or give 0 a name in `{of}`"
            );
            self.error("M0771", text, Some(field.name.span), &help);
        }
        self.constant(ty, 0)
    }
}
