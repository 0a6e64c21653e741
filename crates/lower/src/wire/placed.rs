//! Fields that layers below the coding point write into the octets: on both ways the rest of the wire is coded while they are zero.
//!
//! Keeps: what a wire reads of such a field holds for zero, too; other wires are refused, as they would read no packet of their own.

use mokume_base::Span;
use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::stack::Lowering;

/// What remains to be said of a wire.
struct Reads<'a> {
    /// The placed fields, by their numbers.
    placed: Vec<u32>,
    /// Those of the layers below: the one that looks at octets finds its own in the packet, on the way up.
    below: Vec<u32>,
    names: Vec<&'a s::WireField>,
    found: Vec<(Span, String)>,
}

impl Lowering<'_> {
    /// Reports what a wire says of its placed fields and cannot be held while they are zero; `items` are its items in the automaton, with
    /// the numbers of the text.
    pub(super) fn placed_are_zero(&mut self, wire: &s::Wire, items: &[r::WireItem], looks: Option<&s::Name>) {
        let fields = r::WireItem::fields(items);
        let placed = fields.into_iter().filter(|field| matches!(field.value, r::FieldValue::Placed));
        let placed: Vec<u32> = placed.map(|field| field.index.0).collect();
        if placed.is_empty() {
            return;
        }
        let names = s::WireItem::fields(&wire.items);
        let is_own = |field: &s::WireField| match &field.value {
            s::WireValue::Header { layer, .. } => looks.is_some_and(|looks| looks.text == layer.text),
            _ => false,
        };
        let below = names.iter().filter(|field| placed.contains(&field.index) && !is_own(field));
        let below = below.map(|field| field.index).collect();
        let mut reads = Reads { placed, below, names, found: Vec::new() };
        reads.items(&wire.items);
        let help = "let that layer stand above the one that looks at octets, or in a bundle of its own; a layer makes a sum with `msg.sum16()`";
        for (span, text) in reads.found {
            self.error("M0727", text, Some(span), help);
        }
    }
}

impl Reads<'_> {
    fn items(&mut self, items: &[s::WireItem]) {
        for item in items {
            match item {
                s::WireItem::Field(field) => self.field(field),
                s::WireItem::Choice { arms, .. } => arms.iter().for_each(|arm| self.items(&arm.items)),
                s::WireItem::Optional { when, items, span } => {
                    for (a, _, b) in when {
                        self.named_in(&[a, b], *span, "whether this part is there cannot depend on it");
                    }
                    self.items(items);
                }
                s::WireItem::Options(options) => {
                    self.named_in(&[&options.until], options.until_at, "where the options end cannot depend on it");
                }
                s::WireItem::Reach(to, span) => {
                    self.named_in(&[to], *span, "where the header ends cannot depend on it")
                }
                s::WireItem::Each(_) => {}
            }
        }
    }

    fn field(&mut self, field: &s::WireField) {
        let place = field.name.span;
        if let s::WireValue::Computed(expr) = &field.value {
            if matches!(expr, s::WireExpr::HeaderChecksum | s::WireExpr::PacketChecksum) {
                let names = self.names_of(&self.placed);
                let text = format!("this sum is made while {names} is zero, which a layer below the one that looks at octets writes later");
                self.found.push((place, text));
            }
            self.named_in(&[expr], place, "what is computed here cannot depend on it");
        }
        if field.trims.is_some() && self.below.contains(&field.index) {
            self.say(field.index, place, "the packet cannot be trimmed to it");
        }
        for (a, op, b) in &field.constraints {
            let holds = self.of_zero(a).zip(self.of_zero(b)).is_some_and(|(a, b)| op.is_met(a, b) == Some(true));
            let is_below = self.below.iter().any(|index| a.names(*index) || b.names(*index));
            if !holds && is_below {
                self.named_in(&[a, b], place, "it must be zero, too, for this `where`");
            }
        }
    }

    /// The value of an expression of placed fields and numbers, with zero for those fields.
    fn of_zero(&self, expr: &s::WireExpr) -> Option<u64> {
        match expr {
            s::WireExpr::Number(number) => Some(*number),
            s::WireExpr::Field(index) => self.placed.contains(index).then_some(0),
            _ => None,
        }
    }

    fn named_in(&mut self, exprs: &[&s::WireExpr], place: Span, what: &str) {
        let named = exprs.iter().find_map(|expr| self.placed.iter().copied().find(|index| expr.names(*index)));
        if let Some(index) = named {
            self.say(index, place, what);
        }
    }

    fn say(&mut self, index: u32, place: Span, what: &str) {
        let name = self.names_of(&[index]);
        self.found.push((place, format!("{name} is written by a layer below the one that looks at octets: {what}")));
    }

    fn names_of(&self, indices: &[u32]) -> String {
        let named = |index: &u32| self.names.iter().find(|field| field.index == *index);
        let names = indices
            .iter()
            .map(|index| named(index).map_or("a field".to_string(), |field| format!("`{}`", field.name.text)));
        names.collect::<Vec<_>>().join(", ")
    }
}
