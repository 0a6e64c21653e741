//! Packets of tests: their wires in the stack, and the values of fields that a test does not name.

use mokume_base::{Code, Diagnostic};
use mokume_reaction::{FieldValue, Wire, WireExpression, WireId, WireItem};
use mokume_script::{Arg, Packet, PacketPart, WirePattern};
use mokume_semantics::program as s;
use mokume_wire::by_fields::{Default as Of, Known, Unsaid};

use crate::protocols::Above;
use crate::script::Scripting;
use crate::wire::expression_of;

impl Scripting<'_> {
    /// A packet with its wires resolved in the stack.
    pub fn packet(&mut self, packet: &s::Packet) -> Packet {
        let wires: Vec<Option<WireId>> = packet.parts.iter().map(|part| self.wire_of(part)).collect();
        let mut parts = Vec::new();
        for (at, part) in packet.parts.iter().enumerate() {
            parts.push(match part {
                s::PacketPart::Octets(octets) => PacketPart::Octets(octets.clone()),
                s::PacketPart::Any(_) => PacketPart::Any,
                s::PacketPart::Wire(pattern) => {
                    let next = wires.get(at + 1).copied().flatten();
                    PacketPart::Wire(self.pattern(pattern, wires[at], next))
                }
            });
        }
        self.is_summed(packet, &wires);
        Packet { parts, over: packet.over.clone() }
    }

    fn wire_of(&mut self, part: &s::PacketPart) -> Option<WireId> {
        let s::PacketPart::Wire(pattern) = part else { return None };
        let wanted = &self.program.wires.get(pattern.wire.index())?.name.text;
        // Wires of two modules may have one name; of one that the stack has several times the first is meant.
        let encoded = self.protocols.all.iter().filter(|protocol| protocol.text == Some(pattern.wire));
        let found = encoded.filter_map(|protocol| protocol.wire).min();
        if found.is_none() {
            let known: Vec<&str> = self.automaton.wires.iter().map(|wire| wire.name.as_str()).collect();
            let text = format!("no layer of the stack is encoded by `{wanted}`");
            let help = match known.as_slice() {
                [] => "its layers have no wires: write octets, `x\"0800\"`".to_string(),
                known if known.contains(&wanted.as_str()) => {
                    format!("it has the `{wanted}` of another module: write that module in front, `its_module.{wanted} {{ … }}`")
                }
                known => format!("it has {}; or write octets: `x\"0800\"`", known.join(", ")),
            };
            self.diagnostics
                .push(Diagnostic::error(Code("M0729"), text).at(pattern.name.span, "not in the stack").help(help));
        }
        found
    }

    fn pattern(&mut self, pattern: &s::WirePattern, wire: Option<WireId>, next: Option<WireId>) -> WirePattern {
        let known = wire.map(|wire| &self.automaton.wires[wire.index()]);
        let names: Vec<String> = known.map_or(Vec::new(), |wire| {
            WireItem::fields(&wire.items).into_iter().map(|field| field.name.clone()).collect()
        });
        let mut fields = Vec::new();
        for (name, values) in &pattern.fields {
            let within = format!("{}_", name.text);
            let parts: Vec<String> = match values.len() {
                1 => vec![name.text.clone()],
                _ => names.iter().filter(|known| known.starts_with(&within)).cloned().collect(),
            };
            for (part, value) in parts.into_iter().zip(values) {
                let value = self.arg(mokume_reaction::Type::U(64), value);
                self.fits(known, (name, &part), &value);
                fields.push((part, value));
            }
        }
        self.as_many(known, pattern);
        let source = self.program.wires.get(pattern.wire.index());
        let own = source.into_iter().flat_map(|wire| &wire.defaults).map(|(name, default)| match default {
            s::WireDefault::Of(expression) => (name.clone(), Of::Of(expression_of(expression))),
            s::WireDefault::PseudoChecksum => (name.clone(), Of::PseudoChecksum),
        });
        let mut defaults: Vec<(String, Of)> = self.key(wire, next).into_iter().collect();
        let summed = wire.is_none_or(|wire| self.may_be_summed(wire));
        defaults.extend(own.filter(|(_, default)| summed || !matches!(default, Of::PseudoChecksum)));
        if let Some(wire) = wire.filter(|_| !pattern.rest) {
            self.is_sayable(wire, &pattern.name, &fields, &defaults);
        }
        WirePattern {
            wire: known.map_or(String::new(), |wire| wire.name.clone()),
            name: pattern.name.text.clone(),
            fields,
            rest: pattern.rest,
            defaults,
            pseudo: source.map_or(Vec::new(), |wire| wire.pseudo.iter().map(|name| name.text.clone()).collect()),
        }
    }

    /// Reports a packet that cannot have the given numbers; bound ones are checked when the test runs.
    fn is_sayable(&mut self, wire: WireId, name: &s::Name, fields: &[(String, Arg)], defaults: &[(String, Of)]) {
        let word = |(name, arg): &(String, Arg)| match arg {
            Arg::Word(word) => Some((name.clone(), Some(*word))),
            _ => None,
        };
        let Some(given) = fields.iter().map(word).collect::<Option<Vec<_>>>() else { return };
        if !self.diagnostics.is_empty() {
            return;
        }
        let known = Known { given: &given, defaults, pseudo: 0 };
        if let Err(unsaid) = mokume_wire::by_fields::write(self.automaton, wire, &known, &[]) {
            let text = mokume_script::why(&unsaid, &name.text);
            let octets = "or write the octets: `x\"0304\"`";
            let (Unsaid::NoPlace(field) | Unsaid::Taken { name: field, .. }) = &unsaid;
            let fields = WireItem::fields(&self.automaton.wires[wire.index()].items);
            let help = match fields.into_iter().filter(|known| known.name == *field).count() {
                0 | 1 => format!("leave out what does not fit the rest, {octets}"),
                _ => format!("a count that is written says how many there are; else write a list's elements one after the other, each with all its fields; {octets}"),
            };
            self.diagnostics.push(Diagnostic::error(Code("M0729"), text).at(name.span, "no such packet").help(help));
        }
    }

    /// Reports a field that is too narrow for its value.
    fn fits(&mut self, wire: Option<&Wire>, (name, part): (&s::Name, &str), value: &Arg) {
        let (Some(wire), Arg::Word(number)) = (wire, value) else { return };
        let fields = WireItem::fields(&wire.items).into_iter().filter(|field| field.name == part);
        let Some(width) = fields.map(|field| field.width).max() else { return };
        if width < 64 && number >> width != 0 {
            let text = format!("`{part}` has {width} bits in `{}`, and {number} needs more", wire.name);
            let help = "a packet holds no such number: give a smaller one, or write the octets";
            self.diagnostics.push(Diagnostic::error(Code("M0729"), text).at(name.span, "too large").help(help));
        }
    }

    /// Reports a list with more elements than the wire has room for.
    fn as_many(&mut self, wire: Option<&Wire>, pattern: &s::WirePattern) {
        let Some(wire) = wire else { return };
        for (at, (name, _)) in pattern.fields.iter().enumerate() {
            let nth = pattern.fields[..at].iter().filter(|(before, _)| before.text == name.text).count();
            let most = WireItem::fields(&wire.items).iter().filter(|field| field.name == name.text).count();
            if most > 0 && nth == most {
                let text =
                    format!("`{}` comes more often than the {most} times that `{}` has room for", name.text, wire.name);
                let help = "a packet that says more is written as octets: `x\"0304\"`";
                self.diagnostics.push(Diagnostic::error(Code("M0729"), text).at(name.span, "one too many").help(help));
            }
        }
    }

    /// The key by which the stack binds the next wire's layers to this wire's: the field and its number.
    fn key(&self, wire: Option<WireId>, next: Option<WireId>) -> Option<(String, Of)> {
        let (wire, next) = (wire?, next?);
        let of = |protocol: &&crate::protocols::Protocol| protocol.wire == Some(wire);
        let mut above = self.protocols.all.iter().filter(of).flat_map(|protocol| &protocol.above);
        // Layers without headers may be in between; the key is that of the first step up.
        let found = above.find(|first| self.leads_to(first, next))?;
        // A key with two ends does not tell which end is meant.
        let key = found.keys.iter().find(|key| key.fields.len() == 1)?;
        let is_key = |field: &&mokume_reaction::WireField| match field.value {
            FieldValue::Header { header, variant, field, .. } if header == key.header => {
                let variant = &self.automaton.headers[header.index()].variants[variant.index()];
                variant.fields.get(field as usize).is_some_and(|(name, _)| *name == key.fields[0])
            }
            _ => false,
        };
        let fields = WireItem::fields(&self.automaton.wires[wire.index()].items);
        let field = fields.into_iter().find(is_key)?;
        let FieldValue::Header { times, plus, .. } = field.value else { return None };
        let number = key.value.wrapping_mul(times).wrapping_add(plus);
        Some((field.name.clone(), Of::Of(WireExpression::Number(number))))
    }

    /// Whether the next wire above is this one.
    fn leads_to(&self, above: &Above, next: WireId) -> bool {
        let protocol = &self.protocols.all[above.to];
        match protocol.wire {
            Some(wire) => wire == next,
            None => protocol.above.iter().any(|further| self.leads_to(further, next)),
        }
    }

    /// Whether the stack has a wire below this one that provides a pseudo header. If not, there is no such checksum,
    /// and the field is like other unnamed ones.
    fn may_be_summed(&self, wire: WireId) -> bool {
        let says = |of: WireId| {
            let name = self.automaton.wires[of.index()].name.rsplit('.').next().unwrap_or_default();
            self.program.wires.iter().any(|known| known.name.text == name && !known.pseudo.is_empty())
        };
        let below = self.protocols.all.iter().filter(|protocol| protocol.wire.is_some_and(says));
        below.flat_map(|protocol| &protocol.above).any(|above| self.stands_on(above, wire))
    }

    fn stands_on(&self, above: &Above, wire: WireId) -> bool {
        let protocol = &self.protocols.all[above.to];
        protocol.wire == Some(wire) || protocol.above.iter().any(|further| self.stands_on(further, wire))
    }

    /// Reports a checksum over a pseudo header that no wire provides.
    fn is_summed(&mut self, packet: &s::Packet, wires: &[Option<WireId>]) {
        for (at, part) in packet.parts.iter().enumerate() {
            let s::PacketPart::Wire(pattern) = part else { continue };
            if wires[at].is_some_and(|wire| !self.may_be_summed(wire)) {
                continue;
            }
            let Some(wire) = self.program.wires.get(pattern.wire.index()) else { continue };
            let counts = |(name, default): &&(String, s::WireDefault)| {
                let given = pattern.fields.iter().any(|(given, _)| given.text == *name);
                matches!(default, s::WireDefault::PseudoChecksum) && !given
            };
            let Some((field, _)) = wire.defaults.iter().find(counts) else { continue };
            let front = at.checked_sub(1).and_then(|front| packet.parts.get(front));
            let said = match front {
                Some(s::PacketPart::Wire(front)) => {
                    self.program.wires.get(front.wire.index()).is_some_and(|wire| !wire.pseudo.is_empty())
                }
                _ => packet.over.is_some(),
            };
            if !said {
                let text = format!("`{field}` counts a pseudo header, and nothing says what is in it");
                let help = format!("put the wire in front of it, add `over flow(…)`, or say what it is: `{field}: 0`");
                let diagnostic = Diagnostic::error(Code("M0729"), text).at(pattern.name.span, "over what?").help(help);
                self.diagnostics.push(diagnostic);
            }
        }
    }
}
