//! Packets from outside, taken apart by the wires of a stack: each wire's fields with their places, and the next wire by the
//! keys that the stack binds. Knows no protocol.
//!
//! Keeps: every octet of the packet is a field, padding, payload that no wire follows, or said to be not decoded.

pub mod capture;
pub mod json;
pub mod link;
pub mod pcapng;
pub mod text;

use std::ops::Range;

use mokume_base::world::World;
use mokume_base::SourceMap;
use mokume_lower::protocols::{Above, Key, Protocols};
use mokume_reaction::{Automaton, FieldValue, Type, WireField, WireId};
use mokume_script::Written;
use mokume_wire::HeaderValue;

use crate::compile::{self, Checked};
use crate::failure::Failure;
use crate::library::Library;
use link::{Front, Whose};

/// What packets are read by.
pub struct Dissector {
    pub automaton: Automaton,
    pub written: Written,
    pub protocols: Protocols,
    pub whose: Whose,
}

/// A packet, layer by layer.
#[derive(Debug, Default)]
pub struct Dissection {
    pub layers: Vec<Layer>,
    /// What no wire follows, or what stands behind the place where one refused.
    pub rest: Range<usize>,
}

/// What one wire says of a packet. Octets and bits are counted from the front of the whole packet.
#[derive(Debug)]
pub struct Layer {
    pub name: String,
    pub wire: String,
    pub octets: Range<usize>,
    pub fields: Vec<Field>,
    pub refused: Option<Refused>,
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
    Ok(Dissector { automaton, written, protocols, whose })
}

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
        let mut dissection = Dissection { layers: Vec::new(), rest: 0..octets.len() };
        let first = match front {
            Front::Frame => self.next(&self.protocols.first, &[]),
            Front::Packet => link::kind_of_packet(octets).and_then(|kind| self.of_kind(kind)),
            Front::Family(order) => self.family(octets, order, &mut dissection),
        };
        self.follow(first, octets, &mut dissection);
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
            padding: 0..0,
        });
        dissection.rest = 4..octets.len();
        next
    }

    fn follow(&self, first: Option<usize>, octets: &[u8], dissection: &mut Dissection) {
        let mut headers: Vec<HeaderValue> = Vec::new();
        let mut next = first;
        while let Some(at) = next {
            let protocol = &self.protocols.all[at];
            let Some(wire) = protocol.wire else {
                next = self.next(&protocol.above, &headers);
                continue;
            };
            let range = dissection.rest.clone();
            let read = mokume_wire::read(&self.automaton, wire, &octets[range.clone()]);
            let mut layer = self.layer(&protocol.name, wire, range.start, &read.fields);
            next = None;
            match read.decoding {
                Ok(decoded) => {
                    let payload = range.start + decoded.payload.start..range.start + decoded.payload.end;
                    layer.octets.end = payload.start;
                    layer.padding = payload.end..range.end;
                    // A wire that reads nothing would be read again for ever.
                    if !layer.octets.is_empty() {
                        headers.extend(decoded.headers);
                        next = self.next(&protocol.above, &headers);
                    }
                    dissection.rest = payload;
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
        Layer { name: name.to_string(), wire, octets: start..end, fields, refused: None, padding: 0..0 }
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
