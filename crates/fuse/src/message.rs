//! Messages on a path, as values: what they are made of.

use mokume_reaction::{AttributeId, Binary, Compare, Endian, HeaderId, OctetField, Type, VariantId, WireId};

use crate::graph::{Graph, Kind, Node, U32};
use crate::passes::Pass;
use crate::region::{Followed, Region, Step};

/// Most octets that a path adds up.
const MOST_SUMMED: u64 = 0xffff;

/// Replaces a parameter's number: a message without octets that the path has made.
pub const NEW: u32 = u32::MAX;

/// Replaces a parameter's number: the message that a place held before, by the number of such messages taken before it.
pub fn held_before(number: usize) -> u32 {
    NEW - 1 - number as u32
}

/// Whether a message may come with attributes that are not the defaults: inside of a stack, or out of a place.
pub fn has_attributes(given: u32, is_inside: bool) -> bool {
    (is_inside && given != NEW) || is_held_before(given)
}

/// Whether a message is one that a place held before.
pub fn is_held_before(given: u32) -> bool {
    given != NEW && given >= held_before(crate::held::MOST_PLACES)
}

/// A message: headers, octets of the path's own, and a part of a message that is a parameter.
#[derive(Clone, Debug)]
pub struct Message {
    /// The parameter's number; [`NEW`] for none; [`held_before`].
    pub given: u32,
    /// The first octet of the part; then its size.
    pub at: Node,
    pub size: Node,
    /// At least this many octets of the parameter are before the part.
    pub behind: u64,
    /// The bits in front of the part; together they are whole octets.
    pub front: Vec<Field>,
    /// Numbers that were written over octets of the parameter, the latest last.
    pub stored: Vec<Stored>,
    /// Its headers, the top one last.
    pub headers: Vec<(HeaderId, VariantId, Vec<Node>)>,
    /// By number.
    pub attributes: Vec<Node>,
    /// The header that was on top of the parameter, if it was taken off.
    pub taken_off: Option<(HeaderId, VariantId)>,
    /// How many empty messages it was joined to; each join merged two messages.
    pub joined: u32,
    /// Wires that met it, with the part of the parameter that they met: first octet and size.
    pub met: Vec<(WireId, Node, Node)>,
}

/// Bits of the path's own.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub width: u8,
    pub endian: Endian,
    /// A number of this width.
    pub value: Node,
}

/// A number in place of octets of the parameter.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The first of these octets, which is known.
    at: u64,
    field: OctetField,
    value: Node,
}

impl Stored {
    fn end(&self) -> u64 {
        self.at + u64::from(self.field.width / 8)
    }
}

impl Message {
    /// The number of octets in front of the part.
    pub fn front_size(&self) -> u64 {
        self.front.iter().map(|field| u64::from(field.width)).sum::<u64>() / 8
    }

    /// Bits in front as a number, high bits first; `None` if they are not whole fields in that order.
    fn number_at(&self, graph: &mut Graph, bit: u64, width: u8) -> Option<Node> {
        if bit + u64::from(width) > self.front_size() * 8 {
            return None;
        }
        let ty = Type::U(width);
        let (mut at, mut all) = (0, None);
        for field in &self.front {
            let end = at + u64::from(field.width);
            if at >= bit && end <= bit + u64::from(width) {
                if field.width > 8 && field.endian == Endian::Little {
                    return None;
                }
                let part = graph.cast(field.value, ty);
                let by = graph.constant(ty, bit + u64::from(width) - end);
                let part = graph.binary(Binary::Shl, part, by);
                all = Some(all.map_or(part, |all| graph.binary(Binary::Or, all, part)));
            } else if at < bit + u64::from(width) && end > bit {
                return None;
            }
            at = end;
        }
        all
    }

    /// The index of the field in front that has this first bit and this width.
    fn field_at(&self, bit: u64, width: u8) -> Option<usize> {
        let mut at = 0;
        for (place, field) in self.front.iter().enumerate() {
            if at == bit {
                return (field.width == width).then_some(place);
            }
            at += u64::from(field.width);
        }
        None
    }
}

impl Message {
    /// Whether an attribute's value, as a node is, is the one that the message came with.
    pub fn came_with(&self, attribute: AttributeId, value: &Kind) -> bool {
        self.joined == 0 && *value == Kind::Attribute(self.given, attribute)
    }
}

impl Region<'_> {
    /// The message that a parameter is.
    pub fn given(&mut self, param: u32) -> Message {
        let size = self.graph.add(Kind::Size(param), U32);
        self.whole(param, size)
    }

    /// Whether a node is of what is in a message that a place held before: that is not known before all is asked.
    pub fn is_of_held(&self, node: Node) -> bool {
        self.graph.any(node, |node| match *self.graph.kind(node) {
            Kind::Size(given) | Kind::Load(given, ..) | Kind::Sum(given, ..) | Kind::Attribute(given, _) => {
                is_held_before(given)
            }
            _ => false,
        })
    }

    /// A message without octets.
    pub fn new_message(&mut self) -> Message {
        let none = self.number(U32, 0);
        self.whole(NEW, none)
    }

    fn whole(&mut self, given: u32, size: Node) -> Message {
        let at = self.number(U32, 0);
        let attributes = self.attributes_of(given);
        let (front, stored, headers, met) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Message { given, at, size, behind: 0, front, stored, headers, attributes, taken_off: None, joined: 0, met }
    }

    /// Joins two messages, the first of which must be empty.
    pub fn join(&mut self, first: &mut Message, second: Message) -> Followed<()> {
        if first.given != NEW || !first.front.is_empty() || !first.headers.is_empty() || !second.headers.is_empty() {
            return self.no("joins messages that both have octets");
        }
        let longest = self.number(U32, u64::from(mokume_reaction::LONGEST_MESSAGE));
        let size = self.size_of(&second);
        let fits = self.graph.compare(Compare::Le, size, longest);
        self.guard(fits)?;
        let attributes = std::mem::take(&mut first.attributes);
        let joined = first.joined + second.joined + 1;
        *first = Message { attributes, met: Vec::new(), joined, ..second };
        Ok(())
    }

    /// The attributes of a parameter: at a port the defaults, inside any.
    fn attributes_of(&mut self, param: u32) -> Vec<Node> {
        let attributes = self.automaton.attributes.iter().enumerate();
        let are_unknown = has_attributes(param, self.is_inside);
        attributes
            .map(|(at, attribute)| match are_unknown {
                true => self.graph.add(Kind::Attribute(param, AttributeId::from(at)), attribute.ty),
                false => self.graph.constant(attribute.ty, attribute.default),
            })
            .collect()
    }

    /// Takes the top header off, which must be this one; returns its fields.
    pub fn take_off(&mut self, message: &mut Message, header: HeaderId, variant: VariantId) -> Followed<Vec<Node>> {
        if let Some(top) = message.headers.pop() {
            return match (top.0, top.1) == (header, variant) {
                true => Ok(top.2),
                false => self.no("takes off a header that is not on top"),
            };
        }
        // A new message has no headers, and so has one that was joined to it.
        let is_new = message.given == NEW || message.joined > 0;
        let has_none = !self.is_inside || is_new || message.taken_off.is_some();
        if has_none || is_held_before(message.given) {
            return self.no("takes off a header that is not on top");
        }
        message.taken_off = Some((header, variant));
        self.steps.push(Step::Peek { message: message.given, header, variant, source: self.source });
        let variant = &self.automaton.headers[header.index()].variants[variant.index()];
        let fields = variant.fields.iter().enumerate();
        Ok(fields.map(|(at, (_, ty))| self.graph.add(Kind::Header(message.given, at as u32), *ty)).collect())
    }

    /// The number of octets, without headers.
    pub fn size_of(&mut self, message: &Message) -> Node {
        self.plus(message.size, message.front_size())
    }

    /// The number in a field at an offset.
    pub fn load_from(&mut self, message: &Message, field: OctetField, at: Node) -> Followed<Node> {
        let front = message.front_size();
        let octets = u64::from(field.width / 8);
        if front == 0 {
            self.must_reach(at, octets, message.size)?;
            let place = self.graph.binary(Binary::AddWrap, message.at, at);
            return self.load_at(message, field, place);
        }
        let Some(at) = self.graph.known(at) else {
            return self.no("reads octets of its own at a place that is not known");
        };
        if at >= front {
            let inner = Message { front: Vec::new(), ..message.clone() };
            let at = self.number(U32, at - front);
            return self.load_from(&inner, field, at);
        }
        match message.field_at(at * 8, field.width) {
            Some(place) if field.width == 8 || message.front[place].endian == field.endian => {
                let value = message.front[place].value;
                Ok(self.graph.cast(value, field.ty()))
            }
            None if field.width == 8 || field.endian == Endian::Big => {
                match message.number_at(&mut self.graph, at * 8, field.width) {
                    Some(number) => Ok(number),
                    None => self.no("reads octets of its own that are no field"),
                }
            }
            _ => self.no("reads octets of its own that are no field"),
        }
    }

    /// The number in a field at an offset of the parameter, which exists.
    pub fn load_at(&mut self, message: &Message, field: OctetField, at: Node) -> Followed<Node> {
        let octets = u64::from(field.width / 8);
        for stored in message.stored.iter().rev() {
            match self.graph.known(at) {
                Some(at) if at == stored.at && field == stored.field => return Ok(stored.value),
                Some(at) if at >= stored.end() || at + octets <= stored.at => {}
                _ => return self.no("reads octets that it has written itself"),
            }
        }
        Ok(self.load(message.given, field, at))
    }

    /// Requires that this many octets exist from a place on; ends beyond 32 bits do not.
    fn must_reach(&mut self, at: Node, octets: u64, size: Node) -> Followed<()> {
        if self.graph.span(at).1 + octets <= u64::from(u32::MAX) {
            let behind = self.plus(at, octets);
            let there = self.graph.compare(Compare::Le, behind, size);
            return self.guard(there);
        }
        let octets = self.number(U32, octets);
        let last = self.minus(size, octets)?;
        let there = self.graph.compare(Compare::Le, at, last);
        self.guard(there)
    }

    /// Writes a number at an offset.
    pub fn store_into(&mut self, message: &mut Message, field: OctetField, at: Node, value: Node) -> Followed<()> {
        if message.front.is_empty() {
            let octets = u64::from(field.width / 8);
            self.must_reach(at, octets, message.size)?;
            let place = self.graph.binary(Binary::AddWrap, message.at, at);
            let Some(at) = self.graph.known(place) else {
                return self.no("writes octets at a place that is not known");
            };
            message.stored.push(Stored { at, field, value });
            return Ok(());
        }
        let place = self.graph.known(at).and_then(|at| message.field_at(at * 8, field.width));
        match place {
            Some(place) if field.width == 8 || message.front[place].endian == field.endian => {
                message.front[place].value = value;
                Ok(())
            }
            _ => self.no("writes octets that it has not made as a field"),
        }
    }

    /// Keeps only the first octets.
    pub fn trim(&mut self, message: &mut Message, size: Node) -> Followed<()> {
        let front = self.number(U32, message.front_size());
        let rest = self.minus(size, front)?;
        let fits = self.graph.compare(Compare::Le, rest, message.size);
        self.guard(fits)?;
        message.size = rest;
        Ok(())
    }

    /// Removes octets from the front.
    pub fn skip(&mut self, message: &mut Message, octets: Node) -> Followed<()> {
        let front = message.front_size();
        if front == 0 {
            message.size = self.minus(message.size, octets)?;
            message.at = self.graph.binary(Binary::AddWrap, message.at, octets);
            message.behind += self.graph.span(octets).0;
            return Ok(());
        }
        let Some(octets) = self.graph.known(octets) else {
            return self.no("takes off a number of octets that is not known");
        };
        let mut bits = octets * 8;
        while bits > 0 {
            let Some(first) = message.front.first() else { break };
            if u64::from(first.width) > bits {
                return self.no("takes off a part of a field");
            }
            bits -= u64::from(first.width);
            message.front.remove(0);
        }
        let rest = self.number(U32, bits / 8);
        if bits > 0 {
            self.skip(message, rest)
        } else {
            Ok(())
        }
    }

    /// The sum of a message's octets, like the operation `sum16`.
    pub fn sum_of(&mut self, message: &Message) -> Followed<Node> {
        let front = self.sum_of_fields(&message.front)?;
        if !message.front_size().is_multiple_of(2) {
            return self.no("adds up octets of its own that are an odd number");
        }
        let part = self.sum_of_part(message, message.at, message.size)?;
        Ok(self.graph.binary(Binary::AddWrap, part, front))
    }

    /// The sum of octets of the parameter, with what was written over them. The path asks that there are few: then sums with this
    /// one cannot run over, and the question costs little beside others about the message's size.
    pub fn sum_of_part(&mut self, message: &Message, at: Node, size: Node) -> Followed<Node> {
        if self.overview.passes.has(Pass::Facts) && self.graph.span(size).1 > MOST_SUMMED {
            let most = self.number(U32, MOST_SUMMED);
            let are_few = self.graph.compare(Compare::Le, size, most);
            self.guard(are_few)?;
        }
        let mut sum = self.graph.add(Kind::Sum(message.given, at, size), U32);
        for (place, stored) in message.stored.iter().enumerate() {
            let Some(first) = self.graph.known(at) else {
                return self.no("adds up octets that it has written, and does not know where they are");
            };
            if stored.end() <= first {
                continue;
            }
            let is_word = stored.field.width == 16 && stored.field.endian == Endian::Big;
            let is_alone =
                message.stored[place + 1..].iter().all(|other| other.at >= stored.end() || other.end() <= stored.at);
            if !is_word || !is_alone || stored.at < first || !(stored.at - first).is_multiple_of(2) {
                return self.no("adds up octets that it has written as no number of a sum");
            }
            let behind = self.number(U32, stored.end() - first);
            let there = self.graph.compare(Compare::Ge, size, behind);
            self.guard(there)?;
            let was = self.number(U32, stored.at);
            let was = self.load(message.given, stored.field, was);
            let (was, value) = (self.graph.wide(was), self.graph.wide(stored.value));
            sum = self.graph.binary(Binary::SubWrap, sum, was);
            sum = self.graph.binary(Binary::AddWrap, sum, value);
        }
        Ok(sum)
    }

    /// Requires that the rest of a message has no octets that were written over.
    pub fn must_be_as_it_came(&self, message: &Message) -> Followed<()> {
        if message.stored.iter().all(|stored| stored.end() <= message.behind) {
            return Ok(());
        }
        self.no("gives octets away that it has written over others")
    }

    /// The sum of fields as big-endian 16-bit numbers, modulo 2^32.
    pub fn sum_of_fields(&mut self, fields: &[Field]) -> Followed<Node> {
        let mut sum = self.number(U32, 0);
        let mut known = 0u64;
        let mut bit = 0u64;
        for field in fields {
            if field.width > 8 && field.endian == Endian::Little {
                return self.no("adds up numbers in the other order of octets");
            }
            // From its low bits upwards.
            let mut left = u64::from(field.width);
            let end = bit + left;
            let mut taken = 0;
            while left > 0 {
                let last = end - taken;
                let in_word = ((last - 1) % 16 + 1).min(left);
                let shift = (16 - (last - 1) % 16 - 1) % 16;
                match self.graph.known(field.value) {
                    Some(value) => known += (value >> taken & mokume_interpret::mask(in_word as u8)) << shift,
                    None => {
                        let part = self.bits_of(field.value, taken, in_word as u8);
                        let part = self.graph.wide(part);
                        let by = self.number(U32, shift);
                        let part = self.graph.binary(Binary::Shl, part, by);
                        sum = self.graph.binary(Binary::AddWrap, sum, part);
                    }
                }
                taken += in_word;
                left -= in_word;
            }
            bit = end;
        }
        let known = self.number(U32, known);
        Ok(self.graph.binary(Binary::AddWrap, sum, known))
    }

    /// `width` bits of a number from a bit on, as a number of at least that width.
    fn bits_of(&mut self, value: Node, from: u64, width: u8) -> Node {
        let ty = self.graph.ty(value);
        let all = ty.width(self.automaton);
        let by = self.number(ty, from);
        let shifted = self.graph.binary(Binary::Shr, value, by);
        if from + u64::from(width) >= u64::from(all) {
            return shifted;
        }
        let ones = self.number(ty, mokume_interpret::mask(width));
        self.graph.binary(Binary::And, shifted, ones)
    }
}
