//! Packets from outside, taken apart by the wires of a stack: each wire's fields with their places, and the next wire by the
//! keys that the stack binds. Knows no protocol.
//!
//! Keeps: every octet of the packet is a field, padding, payload that no wire follows, or said to be not decoded.

pub mod capture;
pub mod json;
pub mod link;
pub mod pcapng;
mod sums;
pub mod text;

use std::borrow::Cow;
use std::ops::Range;

use mokume_base::world::World;
use mokume_base::SourceMap;
use mokume_lower::protocols::{Above, Key, Protocols};
use mokume_reaction::{Automaton, FieldValue, Type, WireField, WireId};
use mokume_script::Written;
use mokume_wire::{HeaderValue, Read, Refusal, Seen};

use crate::compile::{self, Checked};
use crate::failure::Failure;
use crate::library::Library;
use link::{Front, Whose};
pub use sums::WrongSum;
use sums::{Sums, Under};

/// What packets are read by.
pub struct Dissector {
    pub automaton: Automaton,
    pub written: Written,
    pub protocols: Protocols,
    pub whose: Whose,
    sums: Sums,
    /// The library's own beside one of the user's: it knows parts.
    own: Option<Box<Dissector>>,
}

/// A packet, layer by layer.
#[derive(Debug, Default)]
pub struct Dissection {
    pub layers: Vec<Layer>,
    /// What no wire follows, or what stands behind the place where one refused.
    pub rest: Range<usize>,
    /// The rest is a part of something that is put together before others read it.
    pub is_part: bool,
    parts: Vec<Part>,
}

/// A packet that is one of several which make a whole. In the library's own stack a layer that is bound by more than one key says by those
/// behind the first which part it is (`library/dissect/dissect.mok`); 0: the whole.
#[derive(Debug)]
struct Part {
    at: usize,
    /// Where these fields stand, with their widths: a wire of another stack that has them, too, reads the same header.
    fields: Vec<(usize, u8)>,
}

/// What one wire says of a packet. Octets and bits are counted from the front of the whole packet.
#[derive(Debug)]
pub struct Layer {
    pub name: String,
    pub wire: String,
    pub octets: Range<usize>,
    pub fields: Vec<Field>,
    pub refused: Option<Refused>,
    /// The capture has not all of it: what stands behind its last octet was not looked at.
    pub cut: bool,
    /// A checksum over more than the wire's packet that is not that of what is there: a stack drops such a packet.
    pub wrong_sum: Option<WrongSum>,
    /// What the wire cuts off behind its packet.
    pub padding: Range<usize>,
}

/// One field of a packet; `bit` is counted from the beginning of the packet.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub bit: usize,
    pub width: u8,
    pub value: u64,
    /// As its type says that it is written, or the name of an enum's value.
    pub written: Option<String>,
    /// Not looked at by the wire.
    pub unread: bool,
}

/// Why a wire did not accept its packet, and at which bit of the packet it saw that.
#[derive(Debug)]
pub struct Refused {
    pub reason: String,
    pub bit: usize,
}

/// The wires and keys of the last stack of a file, or of the library's own.
pub fn dissector(world: &dyn World, file: Option<&str>, stack: Option<&str>) -> Result<Dissector, Failure> {
    let checked = match file {
        Some(file) => compile::check(world, &[file.to_string()])?,
        None => own(world),
    };
    if checked.has_errors() {
        let first = checked.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).next().unwrap_or_default();
        return Err(Failure::of_program(first, "`mokume check` says where"));
    }
    let stack = compile::choose_stack(&checked, stack.or(file.is_none().then_some(OWN_STACK)))?;
    let (found, diagnostics) =
        mokume_lower::lower_with_protocols(&checked.program, &checked.sources, stack, &Default::default());
    let (automaton, protocols) = found.ok_or_else(|| {
        let first = diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).next().unwrap_or_default();
        Failure::of_program(first, "`mokume check` says where")
    })?;
    let written = crate::written::of(&checked.program, &checked.program.stacks[stack.index()], &automaton);
    let whose = if file.is_some() { Whose::Users } else { Whose::Library };
    let sums = Sums::of(&checked.program, &automaton);
    let own = file.map(|_| dissector(world, None, None).map(Box::new)).transpose()?;
    Ok(Dissector { automaton, written, protocols, whose, sums, own })
}

/// A packet that says to be longer is read as far as this: no line carries it.
const LONGEST: usize = 1 << 18;

const OWN_STACK: &str = "Dissected";

fn own(world: &dyn World) -> Checked {
    let mut sources = SourceMap::default();
    let root = sources.add("dissect", "use dissect\n".to_string());
    let mut library = Library::new(world, Vec::new(), std::iter::empty());
    let loaded = mokume_semantics::load(&mut sources, &[root], &mut library);
    let (program, diagnostics) = mokume_semantics::analyse(&loaded);
    Checked {
        sources,
        program,
        diagnostics,
        roots: vec![root],
        manifest: Default::default(),
        natives: Default::default(),
    }
}

impl Dissector {
    /// What a packet of a link begins with, and `None` where the stack has no wire for that: it is not to be read, then.
    pub fn front(&self, link: u32) -> Option<Front> {
        let front = link::front(link, self.whose)?;
        let is_there = front == Front::Frame || link::KINDS.iter().any(|kind| self.of_kind(*kind).is_some());
        is_there.then_some(front)
    }

    /// Says that packets of a link are not read, and what to do.
    pub fn refusal(&self, link: u32, packets: &str) -> Failure {
        let help = match self.whose {
            Whose::Library => {
                "name a stack for such frames (`--by FILE`); instead of `tcpdump -i any`, name an interface"
            }
            Whose::Users => "if its frames are what the stack's device carries, say so: `editcap -T user0 IN OUT`",
        };
        let name = &self.automaton.name;
        let message = format!("{packets} of link {}, of which stack `{name}` has no wire", link::name(link));
        Failure::of_use(message, help)
    }

    /// Takes a packet apart, as far as a wire accepts it. Total: what no wire follows, or the last one refuses, is
    /// `rest`.
    pub fn dissect(&self, octets: &[u8], front: Front) -> Dissection {
        self.dissect_cut(octets, octets.len(), front)
    }

    /// The same of a packet that had so many octets, of which these were captured.
    pub fn dissect_cut(&self, octets: &[u8], length: usize, front: Front) -> Dissection {
        let length = length.clamp(octets.len(), octets.len().max(LONGEST));
        let parts = self.own.as_ref().map(|own| own.dissect_cut(octets, length, front).parts).unwrap_or_default();
        let mut dissection = Dissection { rest: 0..length, parts, ..Dissection::default() };
        let first = match front {
            Front::Frame => self.next(&self.protocols.first, &[]),
            Front::Packet => link::kind_of_packet(octets).and_then(|kind| self.of_kind(kind)),
            Front::Family(order) => self.family(octets, order, &mut dissection),
        };
        // Sizes are those of the line; what was not captured is read as zeros, and nothing of it is told.
        let whole = match length == octets.len() {
            true => Cow::Borrowed(octets),
            false => Cow::Owned([octets, &vec![0; length - octets.len()]].concat()),
        };
        self.follow(first, (&whole, octets.len()), &mut dissection);
        dissection.rest = dissection.rest.start.min(octets.len())..dissection.rest.end.min(octets.len());
        dissection
    }

    /// What stands on the lowest layer where frames are of this kind.
    fn of_kind(&self, kind: u64) -> Option<usize> {
        let lowest = self.protocols.first.iter().flat_map(|first| &self.protocols.all[first.to].above);
        let is_of = |keys: &[Key]| matches!(keys, [key] if key.value == kind);
        lowest.clone().find(|above| is_of(&above.keys)).map(|above| above.to)
    }

    /// The four octets in front, and what follows by them.
    fn family(&self, octets: &[u8], order: link::Order, dissection: &mut Dissection) -> Option<usize> {
        let first: [u8; 4] = octets.get(..4)?.try_into().ok()?;
        let family = link::family(first, order);
        let next = link::kind_of_family(family).and_then(|kind| self.of_kind(kind));
        let name = "family".to_string();
        let field = Field { name, bit: 0, width: 32, value: family.into(), written: None, unread: false };
        dissection.layers.push(Layer {
            name: "link".to_string(),
            wire: "Family".to_string(),
            octets: 0..4,
            fields: vec![field],
            refused: None,
            cut: false,
            wrong_sum: None,
            padding: 0..0,
        });
        dissection.rest.start = 4;
        next
    }

    fn follow(&self, first: Option<usize>, (octets, captured): (&[u8], usize), dissection: &mut Dissection) {
        let mut headers: Vec<HeaderValue> = Vec::new();
        let mut under = Under::default();
        let mut next = first.filter(|_| captured > 0 || octets.is_empty());
        while let Some(at) = next.filter(|_| dissection.rest.start < captured || captured == octets.len()) {
            let protocol = &self.protocols.all[at];
            let Some(wire) = protocol.wire else {
                next = self.next(&protocol.above, &headers);
                continue;
            };
            let range = dissection.rest.clone();
            let read = mokume_wire::read(&self.automaton, wire, &octets[range.clone()]);
            let there = read
                .fields
                .iter()
                .filter(|field| range.start * 8 + field.bit + usize::from(field.width) <= captured * 8);
            let there = there.count();
            let mut layer = self.layer(&protocol.name, wire, range.start, &read.fields[..there]);
            let is_cut = there < read.fields.len();
            next = None;
            match &read.decoding {
                _ if is_cut => {
                    layer.cut = true;
                    dissection.rest = layer.octets.end..captured;
                }
                Ok(decoded) => {
                    let packet = range.start..range.start + read.packet_size;
                    if packet.end <= captured {
                        layer.wrong_sum = self.sums.wrong(wire, &read, &octets[packet.clone()], &under, packet.start);
                    }
                    under.add(&self.sums, wire, &read);
                    let payload = range.start + decoded.payload.start..range.start + decoded.payload.end;
                    layer.octets.end = payload.start;
                    layer.padding = payload.end.min(captured)..range.end.min(captured);
                    // A wire that reads nothing would be read again for ever.
                    if !layer.octets.is_empty() {
                        headers.extend(decoded.headers.iter().cloned());
                        next = self.next(&protocol.above, &headers);
                        if self.own.is_none() {
                            dissection.parts.extend(self.part(&protocol.above, &read, &headers, range.start));
                        } else if self.is_part(&protocol.above, &read, &dissection.parts, range.start) {
                            dissection.is_part = true;
                            next = None;
                        }
                    }
                    dissection.rest = payload;
                }
                // Whatever a wire looks at behind what was captured is not as it was.
                Err(refusal) if self.looks_behind(wire, &read, refusal, (octets.len(), captured, range.start)) => {
                    layer.cut = true;
                    dissection.rest = layer.octets.end..captured;
                }
                Err(refusal) => {
                    let reason = self.automaton.reasons[refusal.reason.index()].name.clone();
                    layer.refused = Some(Refused { reason, bit: range.start * 8 + refusal.bit });
                    dissection.rest = layer.octets.end..range.end;
                }
            }
            dissection.layers.push(layer);
        }
    }

    /// Whether a packet at this place is a part, by the keys behind the first of what stands on its layer.
    fn part(&self, above: &[Above], read: &Read<'_>, headers: &[HeaderValue], at: usize) -> Option<Part> {
        let more = || above.iter().flat_map(|above| above.keys.iter().skip(1));
        let is_whole = |key: &Key| self.is_key(&Key { value: 0, ..key.clone() }, headers);
        if more().all(is_whole) {
            return None;
        }
        let of_key = |seen: &&Seen| {
            let Some(FieldValue::Header { header, variant, field, .. }) = seen.field.map(|field| &field.value) else {
                return false;
            };
            let fields = &self.automaton.headers[header.index()].variants[variant.index()].fields;
            let name = fields.get(*field as usize).map(|(name, _)| name);
            more().any(|key| key.header == *header && name.is_some_and(|name| key.fields.contains(name)))
        };
        let fields = read.fields.iter().filter(of_key).map(|seen| (seen.bit, seen.width)).collect();
        Some(Part { at, fields })
    }

    /// Whether the library's own stack says so of the packet that was read here; a stack that is bound by several keys itself knows it.
    fn is_part(&self, above: &[Above], read: &Read<'_>, parts: &[Part], at: usize) -> bool {
        let has = |place: &(usize, u8)| read.fields.iter().any(|seen| (seen.bit, seen.width) == *place);
        let knows = above.iter().any(|above| above.keys.len() > 1);
        !knows && parts.iter().any(|part| part.at == at && part.fields.iter().all(has))
    }

    /// Whether a refusal may be for what the capture has not: a bit behind its end, or a sum over more than it has.
    fn looks_behind(
        &self,
        wire: WireId,
        read: &Read<'_>,
        refusal: &Refusal,
        (length, captured, start): (usize, usize, usize),
    ) -> bool {
        if captured == length {
            return false;
        }
        let captured = captured.saturating_sub(start);
        if refusal.bit >= captured * 8 {
            return true;
        }
        let is_it = |seen: &&Seen| seen.bit == refusal.bit;
        let field = read.fields.iter().find(is_it).and_then(|seen| seen.field);
        let sums = |field: &WireField| self.sums.is_of_packet(&self.automaton, wire, field.index);
        read.packet_size > captured && field.is_some_and(sums)
    }

    fn layer(&self, name: &str, wire: mokume_reaction::WireId, start: usize, seen: &[mokume_wire::Seen]) -> Layer {
        let fields: Vec<Field> = seen
            .iter()
            .map(|seen| Field {
                name: seen.name.to_string(),
                bit: start * 8 + seen.bit,
                width: seen.width,
                value: seen.value,
                written: self.shown(wire, seen),
                unread: seen.field.is_some_and(|field| matches!(field.value, FieldValue::Reserved)),
            })
            .collect();
        let end = fields.last().map_or(start, |field| (field.bit + usize::from(field.width)).div_ceil(8));
        let wire = self.automaton.wires[wire.index()].name.clone();
        Layer {
            name: name.to_string(),
            wire,
            octets: start..end,
            fields,
            refused: None,
            cut: false,
            wrong_sum: None,
            padding: 0..0,
        }
    }

    /// As the wire's field says that it is written, or the header's field that it carries as it is.
    fn shown(&self, wire: WireId, seen: &mokume_wire::Seen) -> Option<String> {
        if let Some(form) = self.written.wires.get(&(wire, seen.name.to_string())) {
            return Some(form.write(&[seen.value]));
        }
        self.carried(seen.field?, seen.value)
    }

    fn carried(&self, field: &WireField, value: u64) -> Option<String> {
        let FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } = field.value else { return None };
        let (name, ty) = self.automaton.headers[header.index()].variants[variant.index()].fields.get(field as usize)?;
        let form = self.written.headers.get(&(header, name.clone())).filter(|form| form.words() == 1);
        let of_enum = || matches!(ty, Type::Enum(_)).then(|| mokume_script::scalar(&self.automaton, *ty, value));
        form.map(|form| form.write(&[value])).or_else(of_enum)
    }

    fn next(&self, above: &[Above], headers: &[HeaderValue]) -> Option<usize> {
        let fits = |above: &&Above| above.keys.iter().all(|key| self.is_key(key, headers));
        above.iter().find(fits).map(|above| above.to)
    }

    /// Whether a field of the header has the key's value: whose end's does not matter to one who only looks on.
    fn is_key(&self, key: &Key, headers: &[HeaderValue]) -> bool {
        let Some(found) = headers.iter().rev().find(|header| header.header == key.header) else { return false };
        let header = &self.automaton.headers[key.header.index()];
        let Some(variant) = header.variants.get(found.variant.index()) else { return false };
        let values = variant.fields.iter().zip(&found.fields);
        let mut named = values.filter(|((name, _), _)| key.fields.contains(name));
        named.any(|(_, value)| *value == key.value)
    }
}
