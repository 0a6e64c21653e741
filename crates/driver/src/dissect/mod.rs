//! Dissects packets from outside by the wires of a stack: each wire's fields with their places, and the next wire by
//! the keys that the stack binds. Knows no protocol.
//!
//! Keeps: every octet of the packet is a field, padding, payload without a wire, or marked as not decoded.

pub mod capture;
pub mod filter;
pub mod json;
pub mod link;
pub mod pcapng;
mod sums;
pub mod text;
pub mod wireshark;

use std::borrow::Cow;
use std::ops::Range;

use mokume_base::world::World;
use mokume_base::{Diagnostic, Form, Notation, SourceMap};
use mokume_dissect::names;
use mokume_dissect::walk::{self, Beside, Fate, Layers, Octets, Up};
use mokume_lower::protocols::{Above, Key, Protocols};
use mokume_lower::Lowered;
use mokume_reaction::{Automaton, FieldValue, LayerId, OpKind, Type, WireField, WireId, WireItem};
use mokume_script::Written;
use mokume_semantics::program::StackId;
use mokume_wire::{HeaderValue, Refusal, Seen};

use crate::compile::{self, Checked, Compiled};
use crate::failure::Failure;
use crate::library::Library;
use crate::path::Passes;
use link::{Front, Whose};
pub use sums::WrongSum;
use sums::{Sums, Under};

/// What packets are read by.
pub struct Dissector {
    /// The uncomposed layers.
    pub automaton: Automaton,
    pub written: Written,
    pub protocols: Protocols,
    pub whose: Whose,
    /// The device whose frames captures have, by its number in the stack; at first 0.
    pub device: usize,
    sums: Sums,
    /// What the layers do with incoming packets; `None` for the library's stack, which only reads.
    layers: Option<Layers>,
    /// By protocol: its layers, and the lowest of them.
    groups: Vec<(Vec<LayerId>, Vec<LayerId>)>,
    /// By wire and field: the alternative that the field belongs to.
    alternatives: Vec<Vec<Option<String>>>,
    /// By wire: the alternatives that no field tells.
    untold: Vec<Vec<String>>,
}

/// A packet, layer by layer.
#[derive(Debug, Default)]
pub struct Dissection {
    pub layers: Vec<Layer>,
    /// What no wire reads, or what follows the place where one rejected the packet.
    pub rest: Range<usize>,
    /// Whether the rest is a fragment, or not as it was sent: a layer makes another message of it before others read
    /// it.
    pub is_part: bool,
}

/// What one wire says of a packet. Octets and bits are counted from the front of the whole packet.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub name: String,
    pub wire: String,
    /// The alternatives of its headers, as far as it was read.
    pub alternatives: Vec<String>,
    pub octets: Range<usize>,
    pub fields: Vec<Field>,
    pub refused: Option<Refused>,
    /// Why the layers drop it, whatever their state; several reasons if the state decides between them.
    pub dropped: Vec<Dropped>,
    /// The capture does not have all of it: the missing octets were not read.
    pub cut: bool,
    /// A wrong checksum that covers more than the wire's packet: a stack drops such a packet.
    pub wrong_sum: Option<WrongSum>,
    /// The octets cut off after its packet.
    pub padding: Range<usize>,
    /// A multiplexor below it decides by its state which layer gets the packet: it may be for another layer.
    pub may_be_for_another: bool,
}

/// One field of a packet; `bit` counts from the beginning of the packet.
#[derive(Clone, Debug, Default)]
pub struct Field {
    pub name: String,
    /// The alternative that it belongs to; `None` for fields of every packet.
    pub alternative: Option<String>,
    pub bit: usize,
    pub width: u8,
    pub value: u64,
    /// Its value in its type's notation, or the name of an enum's value, or of the alternative that it selects.
    pub written: Option<String>,
    /// Whether the wire ignores it.
    pub unread: bool,
    /// Whether a layer chooses its value: it is not a constant, a length or a checksum.
    pub carried: bool,
    /// Whether it selects an alternative, whose name is in `written`.
    pub is_choice: bool,
}

/// A reason, and the place of the drop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    pub reason: String,
    pub place: Option<String>,
}

/// Why a wire did not accept its packet, and at which bit of the packet it saw that.
#[derive(Clone, Debug)]
pub struct Refused {
    pub reason: String,
    pub bit: usize,
}

/// The dissector for a stack of the library, else for the one that reads most.
pub fn of_library(world: &dyn World, stack: Option<&str>) -> Result<Dissector, Failure> {
    let checked = own(world);
    let stack = compile::choose_stack(&checked, stack.or(Some(OWN_STACK)))?;
    of_stack(&checked, stack, Whose::Library).map_err(|diagnostics| {
        let first = diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).next().unwrap_or_default();
        Failure::of_program(first, "`mokume check` says where")
    })
}

/// The dissector for one stack of a program without errors; fails with the stack's errors.
pub fn of_stack(checked: &Checked, stack: StackId, whose: Whose) -> Result<Dissector, Vec<Diagnostic>> {
    let (found, diagnostics) =
        mokume_lower::lower_whole(&checked.program, &checked.sources, stack, &Default::default());
    let Lowered { automaton, protocols, .. } = found.ok_or(diagnostics)?;
    let written =
        crate::written::of(&checked.program, &checked.sources, &checked.program.stacks[stack.index()], &automaton);
    let sums = Sums::of(&checked.program, &automaton);
    Ok(Dissector::new(automaton, written, protocols, whose, sums))
}

/// The same for a compiled stack, to label its packets: checksums over other wires are not checked.
pub fn of_compiled(compiled: &Compiled) -> Dissector {
    let automaton = compiled.uncomposed.clone();
    let (written, protocols) = ((*compiled.written).clone(), compiled.protocols.clone());
    let sums = Sums::none(&automaton);
    Dissector::new(automaton, written, protocols, Whose::Users, sums)
}

/// Adds a name that is not there.
fn note(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// The most octets of a packet that are read, if it claims to be longer: no line carries that.
const LONGEST: usize = 1 << 18;

const OWN_STACK: &str = "Dissected";

fn own(world: &dyn World) -> Checked {
    let mut sources = SourceMap::default();
    let root = sources.add("dissect", "use dissect\n".to_string());
    let mut library = Library::new(world, Vec::new(), std::iter::empty());
    let loaded = mokume_semantics::load(&mut sources, &[root], &mut library);
    let (program, diagnostics) = mokume_semantics::analyse(&loaded);
    Checked {
        passes: Passes::ALL,
        sources,
        program,
        diagnostics,
        roots: vec![root],
        manifest: Default::default(),
        natives: Default::default(),
    }
}

impl Layer {
    /// Whether a wire, a layer or a checksum rejects it, if the packet is for this layer.
    pub fn is_refused(&self) -> bool {
        self.refused.is_some() || !self.dropped.is_empty() || self.wrong_sum.is_some()
    }

    /// What a verdict on it depends on, in words; nothing if the packet is for this layer.
    pub fn condition(&self) -> String {
        if self.may_be_for_another {
            format!("; if it is for `{}`", self.name)
        } else {
            String::new()
        }
    }
}

/// Whether a stack refuses a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// In any state.
    Refused,
    /// If it is for the layer that refuses it: it may be for another.
    MayBeRefused,
    NotRefused,
}

impl Dissection {
    pub fn verdict(&self) -> Verdict {
        match self.layers.iter().filter(|layer| layer.is_refused()).map(|layer| layer.may_be_for_another).min() {
            None => Verdict::NotRefused,
            Some(false) => Verdict::Refused,
            Some(true) => Verdict::MayBeRefused,
        }
    }

    /// A summary in one line: the alternatives of its topmost header that was read, with what its layers carry; a few fields. One that
    /// would be long, or leave fields out, says what tells most.
    pub fn summary(&self) -> String {
        let telling = self.telling();
        match self.info() {
            info if info.chars().count() <= LONG && telling.is_none_or(Layer::is_all_told) => info,
            _ => telling.map_or_else(String::new, |layer| layer.told(most_telling)),
        }
    }

    /// The same with the first fields of each alternative, as Wireshark shows it.
    pub fn info(&self) -> String {
        let Some(layer) = self.telling() else { return String::new() };
        layer.told(|own| runs(own, Halves::Apart).take(TELLING).map(told).collect())
    }

    /// The layers below the first that may be another's, if one of those refuses the packet; else all.
    fn sure(&self) -> &[Layer] {
        let sure = self.layers.iter().take_while(|layer| !layer.may_be_for_another).count();
        let is_doubtful = self.layers[sure..].iter().any(Layer::is_refused);
        if is_doubtful {
            &self.layers[..sure]
        } else {
            &self.layers
        }
    }

    /// The uppermost layer that says something.
    fn telling(&self) -> Option<&Layer> {
        let is_telling =
            |layer: &&Layer| layer.fields.iter().any(|field| field.carried) || !layer.alternatives.is_empty();
        self.sure().iter().rev().find(is_telling)
    }

    /// Whether the stack refuses the packet, as far as that is certain.
    pub fn is_refused(&self) -> bool {
        self.sure().last().is_some_and(Layer::is_refused)
    }

    /// The same as a label of its own: with the layer if no alternative has a name, and with the payload in front.
    pub fn label(&self, octets: &[u8]) -> String {
        let sure = self.sure();
        if let Some(doubtful) = self.layers.get(sure.len()) {
            let (layers, rest) = (sure.to_vec(), doubtful.octets.start..self.rest.end);
            return Dissection { layers, rest, ..Dissection::default() }.label(octets);
        }
        let summary = self.summary();
        let last = self.layers.last();
        let layer = last.filter(|layer| layer.alternatives.is_empty()).map(|layer| layer.name.as_str());
        let rest = octets.get(self.rest.clone()).unwrap_or_default();
        let rest = (!rest.is_empty()).then(|| mokume_record::front_of(rest, CARRIED));
        let size = self.layers.is_empty().then(|| format!("{} octets", octets.len()));
        let words = [size.as_deref(), layer, Some(summary.as_str()), rest.as_deref()];
        let words: Vec<&str> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }
}

/// The most octets of payload in a label.
const CARRIED: usize = 16;

/// The most fields of an alternative in a summary.
const TELLING: usize = 6;

/// A summary of more characters is made shorter, as charts have no more room.
const LONG: usize = 56;

/// The fields of a header with many: flags that are set by their names, then numbers that are not 0 or have a name, long ones last; then those of lists,
/// whose elements are read as a whole: all of them, in order, with a mark where they are cut.
fn most_telling(own: &[&Field]) -> Vec<String> {
    let runs: Vec<&[&Field]> = runs(own, Halves::Joined).collect();
    let is_of_list = |run: &&[&Field]| runs.iter().filter(|other| other[0].name == run[0].name).count() > 1;
    let (lists, single): (Vec<&[&Field]>, Vec<&[&Field]>) = runs.iter().copied().partition(is_of_list);
    // A name says more than that it is 0: `state=AdminDown`.
    let is_told = |field: &Field| field.value != 0 || field.written.as_ref().is_some_and(|name| is_name(name));
    let set = || single.iter().copied().filter(|run| run.iter().any(|field| is_told(field)));
    let flags = set().filter(|run| run[0].width == 1).map(|run| run[0].name.clone());
    let short = set().filter(|run| run[0].width > 1 && run[0].width <= SHORT);
    let long = set().filter(|run| run[0].width > SHORT);
    let numbers: Vec<&[&Field]> = short.chain(long).take(TELLING).collect();
    let room = TELLING.saturating_sub(numbers.len()).max(1);
    let cut = (lists.len() > room).then(|| "…".to_string());
    flags.chain(numbers.into_iter().chain(lists.into_iter().take(room)).map(told)).chain(cut).collect()
}

/// Whether a value is written as a name, as those of enums are, and not as a number or an address.
fn is_name(written: &str) -> bool {
    written.starts_with(|first: char| first.is_ascii_uppercase()) && !written.contains(':')
}

/// What becomes of an address that is two fields: `source_high` and `source_low`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halves {
    Apart,
    Joined,
}

/// Fields one by one; octets of one list together.
fn runs<'a, 'f>(own: &'a [&'f Field], halves: Halves) -> impl Iterator<Item = &'a [&'f Field]> + 'a {
    let is_octet = |field: &Field| field.width == 8 && field.written.is_none();
    own.chunk_by(move |one, next| {
        let is_list = is_octet(one) && is_octet(next) && one.name == next.name && one.bit + 8 == next.bit;
        is_list || halves == Halves::Joined && address(one, next).is_some()
    })
}

/// Of two halves in hexadecimal parts the address: its name, and as it is written in short.
fn address(high: &Field, low: &Field) -> Option<String> {
    let name = high.name.strip_suffix("_high").filter(|name| low.name.strip_suffix("_low") == Some(name))?;
    let parts = [high, low].map(|half| half.written.as_ref().filter(|written| written.contains(':')));
    let bits = 4 * parts[0].zip(parts[1])?.0.split(':').next()?.len() as u8;
    let form = Form::Parts { notation: Notation::Short { bits }, widths: vec![high.width, low.width] };
    (high.width == 64 && low.width == 64).then(|| format!("{name}={}", form.write(&[high.value, low.value])))
}

/// Name and value: `id=7`; of a list's octets `name="www"`, of halves the address.
fn told(run: &[&Field]) -> String {
    match run {
        [field] => format!("{}={}", field.name, field.told()),
        [high, low] if address(high, low).is_some() => address(high, low).unwrap_or_default(),
        octets => {
            let values: Vec<u8> = octets.iter().map(|field| field.value as u8).collect();
            format!("{}={}", octets[0].name, mokume_record::front_of(&values, CARRIED))
        }
    }
}

/// Numbers of more bits stand behind others.
const SHORT: u8 = 32;

impl Layer {
    /// Whether a summary has all fields that it carries.
    fn is_all_told(&self) -> bool {
        let left_out = std::cell::Cell::new(false);
        self.told(|own| {
            left_out.set(left_out.get() || runs(own, Halves::Apart).count() > TELLING);
            Vec::new()
        });
        !left_out.get()
    }

    /// What its fields say, those of each alternative behind its name.
    fn told(&self, fields: impl Fn(&[&Field]) -> Vec<String>) -> String {
        let of = |alternative: Option<&String>| -> Vec<String> {
            let own = self.fields.iter().filter(|field| field.carried && field.alternative.as_ref() == alternative);
            fields(&own.collect::<Vec<_>>())
        };
        let mut words = of(None);
        for alternative in &self.alternatives {
            words.push(alternative.clone());
            words.extend(of(Some(alternative)));
        }
        words.join(" ")
    }
}

impl Field {
    /// The value in short.
    fn told(&self) -> String {
        self.written
            .as_ref()
            .map_or_else(|| self.value.to_string(), |written| mokume_script::short_name(written).to_string())
    }
}

/// What follows a packet's header.
struct Next {
    /// An index into the protocols; `None`: nothing that is known.
    to: Option<usize>,
    /// Whether the keys say so at the sender's end alone: those layers sent the packet, and none of them gets it here.
    is_sent: bool,
    /// Whether no key says so: of a multiplexor the state decides.
    is_free: bool,
}

impl Dissector {
    fn new(automaton: Automaton, written: Written, protocols: Protocols, whose: Whose, sums: Sums) -> Dissector {
        let of = |names: &[String]| -> Vec<LayerId> {
            let all = automaton.layers.iter().enumerate();
            all.filter(|(_, layer)| names.contains(&layer.name)).map(|(at, _)| LayerId::from(at)).collect()
        };
        let groups = protocols.all.iter().map(|one| (of(&one.layers), of(&one.lowest))).collect();
        let layers = (whose == Whose::Users).then(|| Layers::of(&automaton));
        let alternatives = automaton.wires.iter().map(|wire| names::alternatives(&automaton, wire)).collect();
        let untold = automaton.wires.iter().map(|wire| names::untold(&automaton, wire)).collect();
        Dissector { automaton, written, protocols, whose, device: 0, sums, layers, groups, alternatives, untold }
    }

    /// What a packet of a link type begins with; `None` if the stack has no wire for that, so that it cannot be read.
    pub fn front(&self, link: u32) -> Option<Front> {
        let front = link::front(link, self.whose, self.device)?;
        let is_there = matches!(front, Front::Frame(_)) || link::KINDS.iter().any(|kind| self.of_kind(*kind).is_some());
        is_there.then_some(front)
    }

    /// The layers that frames reach first, those of all devices. One that looks at nothing in a packet cannot know that it is for others,
    /// and is left out.
    pub fn lowest(&self) -> Vec<String> {
        let first = (0..self.protocols.devices.len()).filter_map(|device| self.first(device));
        let all = first.flat_map(|first| &self.protocols.all[first].layers);
        let looks = |op: &mokume_reaction::Op| matches!(op.kind, OpKind::Pop { .. } | OpKind::Load { .. });
        let looks = |name: &&String| {
            let mut code = self.automaton.code();
            code.any(|(layer, body)| self.automaton.layers[layer.index()].name == **name && body.ops().any(looks))
        };
        all.filter(looks).cloned().collect()
    }

    /// The protocol that frames of a device begin with.
    pub(crate) fn first(&self, device: usize) -> Option<usize> {
        self.next(&self.protocols.devices.get(device)?.above, &[]).to
    }

    /// Captures have the frames of the device with this name.
    pub fn choose_device(&mut self, name: &str) -> Result<(), Failure> {
        let names: Vec<&str> = self.protocols.devices.iter().map(|device| device.name.as_str()).collect();
        let Some(device) = names.iter().position(|known| *known == name) else {
            let help = format!("its devices are {}", names.join(", "));
            return Err(Failure::of_use(format!("stack `{}` has no device `{name}`", self.automaton.name), help));
        };
        self.device = device;
        Ok(())
    }

    /// What a frame of the device with this name begins with.
    pub fn frame_of(&self, device: &str) -> Front {
        Front::Frame(self.protocols.devices.iter().position(|known| known.name == device).unwrap_or(0))
    }

    /// The failure for packets of a link type that cannot be read, with what to do.
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

    /// Dissects a packet as far as wires accept it. Total: what no wire reads, or the last one rejects, is `rest`.
    pub fn dissect(&self, octets: &[u8], front: Front) -> Dissection {
        self.dissect_cut(octets, octets.len(), front)
    }

    /// The same for a packet of `length` octets, of which these were captured.
    pub fn dissect_cut(&self, octets: &[u8], length: usize, front: Front) -> Dissection {
        let first = |dissection: &mut Dissection| match front {
            Front::Frame(device) => self.first(device),
            Front::Packet => link::kind_of_packet(octets).and_then(|kind| self.of_kind(kind)),
            Front::Family(order) => self.family(octets, order, dissection),
        };
        self.dissect_from(octets, length, first, matches!(front, Front::Frame(_)))
    }

    /// The same for a packet that begins with a protocol, an index into [`Protocols::all`]; nothing is known of lower
    /// layers.
    pub fn dissect_at(&self, octets: &[u8], length: usize, protocol: usize) -> Dissection {
        self.dissect_from(octets, length, |_| Some(protocol), false)
    }

    fn dissect_from(
        &self,
        octets: &[u8],
        length: usize,
        first: impl FnOnce(&mut Dissection) -> Option<usize>,
        is_frame: bool,
    ) -> Dissection {
        let length = length.clamp(octets.len(), octets.len().max(LONGEST));
        let mut dissection = Dissection { rest: 0..length, ..Dissection::default() };
        let first = first(&mut dissection);
        // Sizes are those on the line; missing octets are read as zeros, and not reported.
        let whole = match length == octets.len() {
            true => Cow::Borrowed(octets),
            false => Cow::Owned([octets, &vec![0; length - octets.len()]].concat()),
        };
        let of_frame = self.layers.as_ref().filter(|_| is_frame).map(Layers::beside_frame);
        self.follow(first, Octets { all: &whole, captured: octets.len() }, of_frame, &mut dissection);
        dissection.rest = dissection.rest.start.min(octets.len())..dissection.rest.end.min(octets.len());
        dissection
    }

    /// The protocol on the lowest layer for frames of this kind.
    fn of_kind(&self, kind: u64) -> Option<usize> {
        let lowest = self.protocols.devices.iter().flat_map(|device| &device.above);
        let lowest = lowest.flat_map(|first| &self.protocols.all[first.to].above);
        let is_of = |keys: &[Key]| matches!(keys, [key] if key.value == kind);
        lowest.clone().find(|above| is_of(&above.keys)).map(|above| above.to)
    }

    /// The four octets in front, and the protocol that they select.
    fn family(&self, octets: &[u8], order: link::Order, dissection: &mut Dissection) -> Option<usize> {
        let first: [u8; 4] = octets.get(..4)?.try_into().ok()?;
        let family = link::family(first, order);
        let next = link::kind_of_family(family).and_then(|kind| self.of_kind(kind));
        let name = "family".to_string();
        let field = Field { name, width: 32, value: family.into(), ..Field::default() };
        dissection.layers.push(Layer {
            name: "link".to_string(),
            wire: "Family".to_string(),
            octets: 0..4,
            fields: vec![field],
            ..Layer::default()
        });
        dissection.rest.start = 4;
        next
    }

    fn follow(&self, first: Option<usize>, octets: Octets<'_>, beside: Option<Beside>, dissection: &mut Dissection) {
        let Octets { all, captured } = octets;
        let mut headers: Vec<HeaderValue> = Vec::new();
        let mut under = Under::default();
        let mut beside = Up { beside: beside.unwrap_or_default(), ..Up::default() };
        let mut next = first.filter(|_| captured > 0 || all.is_empty());
        let mut may_be_for_another = false;
        // The protocols that read nothing where `rest` begins: read again, they would be so forever.
        let mut idle: Vec<usize> = Vec::new();
        while let Some(at) = next.filter(|_| dissection.rest.start < captured || captured == all.len()) {
            let protocol = &self.protocols.all[at];
            let Some(wire) = protocol.wire else {
                let chosen = self.next(&protocol.above, &headers);
                next = chosen.to;
                let mut layer = Layer { name: protocol.name.clone(), may_be_for_another, ..Layer::default() };
                may_be_for_another |= chosen.is_free && self.has_multiplexor(at);
                layer.octets = dissection.rest.start..dissection.rest.start;
                let (packet, met) = (dissection.rest.clone(), dissection.rest.clone());
                let packet = walk::Packet { wire: None, packet, met, payload: 0..0, headers: vec![] };
                self.go_on((at, &chosen), (octets, &packet), &mut beside, (&mut layer, &mut next), dissection);
                if !layer.dropped.is_empty() {
                    dissection.layers.push(layer);
                }
                continue;
            };
            let range = dissection.rest.clone();
            let read = mokume_wire::read(&self.automaton, wire, &all[range.clone()]);
            let is_there = |field: &&Seen| range.start * 8 + field.bit + usize::from(field.width) <= captured * 8;
            let there = read.fields.iter().filter(is_there).count();
            let mut layer = self.layer(&protocol.name, wire, range.start, &read.fields[..there]);
            let is_cut = there < read.fields.len();
            layer.may_be_for_another = may_be_for_another;
            next = None;
            match &read.decoding {
                _ if is_cut => {
                    layer.cut = true;
                    dissection.rest = layer.octets.end..captured;
                }
                Ok(decoded) => {
                    let packet = range.start..range.start + read.packet_size;
                    if packet.end <= captured {
                        layer.wrong_sum = self.sums.wrong(wire, &read, &all[packet.clone()], &under, packet.start);
                    }
                    under.add(&self.sums, wire, &read);
                    let payload = range.start + decoded.payload.start..range.start + decoded.payload.end;
                    layer.octets.end = payload.start;
                    layer.padding = payload.end.min(captured)..range.end.min(captured);
                    dissection.rest = payload.clone();
                    self.untold[wire.index()].iter().for_each(|name| note(&mut layer.alternatives, name.clone()));
                    if !layer.octets.is_empty() {
                        idle.clear();
                    }
                    if !idle.contains(&at) {
                        idle.push(at);
                        headers.extend(decoded.headers.iter().cloned());
                        let chosen = self.next(&protocol.above, &headers);
                        next = chosen.to;
                        may_be_for_another |= chosen.is_free && self.has_multiplexor(at);
                        let headers = decoded.headers.clone();
                        let packet = walk::Packet { wire: Some(wire), packet, met: range.clone(), payload, headers };
                        self.go_on((at, &chosen), (octets, &packet), &mut beside, (&mut layer, &mut next), dissection);
                        let taken = packet.payload.start..dissection.rest.start;
                        under.take_off(all.get(taken).unwrap_or_default());
                    }
                }
                // What a wire reads beyond the captured octets is not the original.
                Err(refusal) if self.looks_behind(wire, &read, refusal, (all.len(), captured, range.start)) => {
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

    /// What the layers of a protocol do with their packet, if known: what follows it, and where.
    fn go_on(
        &self,
        (at, chosen): (usize, &Next),
        (octets, packet): (Octets<'_>, &walk::Packet),
        beside: &mut Up,
        (layer, next): (&mut Layer, &mut Option<usize>),
        dissection: &mut Dissection,
    ) {
        let Some(layers) = &self.layers else { return };
        if chosen.is_sent {
            *beside = Up { perhaps: true, ..Up::default() };
            return;
        }
        let (within, lowest) = &self.groups[at];
        let above = next.map_or(&[][..], |next| &self.groups[next].1);
        let Fate { dropped, up, kept } =
            walk::follow(&self.automaton, layers, (within, lowest, above), (octets, packet), &beside.beside);
        // These layers may not get what an earlier layer may take for itself.
        if !beside.perhaps {
            layer.dropped = dropped.iter().map(|dropped| self.dropped(dropped)).collect();
        }
        let Some(up) = up else {
            dissection.is_part = kept;
            *next = None;
            return;
        };
        *beside = Up { perhaps: beside.perhaps || up.perhaps, ..up.clone() };
        match up.octets {
            Some(octets) => {
                let captured = dissection.rest.end.min(octets.end)..layer.padding.end.max(dissection.rest.end);
                layer.octets.end = octets.start.max(layer.octets.end);
                layer.padding = if captured.is_empty() { layer.padding.clone() } else { captured };
                dissection.rest = octets;
            }
            None => {
                dissection.is_part = true;
                *next = None;
            }
        }
    }

    fn dropped(&self, dropped: &walk::Dropped) -> Dropped {
        let source = dropped.source.and_then(|source| self.automaton.sources.get(source.index()));
        Dropped {
            reason: dropped.reason.text(&self.automaton).to_string(),
            place: source.map(|source| format!("{}:{}", source.file, source.line)),
        }
    }

    /// Whether a rejection may be due to missing octets: a bit beyond the captured end, or a checksum over more than
    /// that.
    fn looks_behind(
        &self,
        wire: WireId,
        read: &mokume_wire::Read<'_>,
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

    fn layer(&self, name: &str, wire: WireId, start: usize, seen: &[Seen]) -> Layer {
        let fields: Vec<Field> = seen.iter().map(|seen| self.field(wire, start, seen)).collect();
        let mut alternatives: Vec<String> = Vec::new();
        for name in seen
            .iter()
            .flat_map(|seen| self.chosen(wire, seen))
            .chain(fields.iter().filter_map(|field| field.alternative.clone()))
        {
            note(&mut alternatives, name);
        }
        let end = fields.last().map_or(start, |field| (field.bit + usize::from(field.width)).div_ceil(8));
        let wire = self.automaton.wires[wire.index()].name.clone();
        Layer { name: name.to_string(), wire, alternatives, octets: start..end, fields, ..Layer::default() }
    }

    fn field(&self, wire: WireId, start: usize, seen: &Seen) -> Field {
        let own = || names::alternative_of_option(&self.automaton, &self.automaton.wires[wire.index()], seen.name);
        let index = seen.field.map(|field| field.index.0 as usize);
        let is_tag = seen.field.is_some_and(|field| matches!(field.value, FieldValue::Tag));
        let tag = self.chosen(wire, seen).filter(|_| is_tag);
        Field {
            name: seen.name.to_string(),
            alternative: match index {
                Some(index) => self.alternatives[wire.index()].get(index).cloned().flatten(),
                None => own(),
            },
            bit: start * 8 + seen.bit,
            width: seen.width,
            value: seen.value,
            is_choice: tag.is_some(),
            written: self.shown(wire, seen).or(tag),
            unread: seen.field.is_some_and(|field| matches!(field.value, FieldValue::Reserved)),
            carried: seen.field.is_some_and(|field| matches!(field.value, FieldValue::Header { .. })),
        }
    }

    /// The alternative that this value of a field selects.
    fn chosen(&self, wire: WireId, seen: &Seen) -> Option<String> {
        let index = seen.field?.index;
        names::chosen(&self.automaton, &self.automaton.wires[wire.index()].items, index, seen.value)
    }

    /// A field's value in its type's notation, or the name of an enum's value.
    fn shown(&self, wire: WireId, seen: &Seen) -> Option<String> {
        let place = seen.field.map(|field| field.index.0 as usize);
        if let Some(form) = self.form(wire, seen.name, place) {
            return Some(form.write(&[seen.value]));
        }
        let FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } = seen.field?.value else {
            return None;
        };
        let (_, ty) = self.automaton.headers[header.index()].variants[variant.index()].fields.get(field as usize)?;
        matches!(ty, Type::Enum(_)).then(|| mokume_script::scalar(&self.automaton, *ty, seen.value))
    }

    /// The notation of a wire's field, or that of the header field that it carries unchanged. `place` is an index into
    /// [`WireItem::fields`].
    pub(crate) fn form(&self, wire: WireId, name: &str, place: Option<usize>) -> Option<&Form> {
        if let Some(form) = self.written.wires.get(&(wire, name.to_string())) {
            return Some(form);
        }
        let fields = WireItem::fields(&self.automaton.wires[wire.index()].items);
        let field = fields.get(place?)?;
        let FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } = field.value else { return None };
        let (name, _) = self.automaton.headers[header.index()].variants[variant.index()].fields.get(field as usize)?;
        self.written.headers.get(&(header, variant, name.clone())).filter(|form| form.words() == 1)
    }

    /// What the keys select: at who receives the packet, else at who sent it (an observer belongs to neither). What has
    /// no keys comes last.
    fn next(&self, above: &[Above], headers: &[HeaderValue]) -> Next {
        let is_at = |key: &Key, end: Option<&String>| self.value_of(key, end, headers) == Some(key.value);
        let is_here = |above: &&Above| above.keys.iter().all(|key| is_at(key, key.fields.first()));
        let is_there = |above: &&Above| above.keys.iter().all(|key| is_at(key, key.fields.last()));
        let keyed = || above.iter().filter(|above| !above.keys.is_empty());
        let here = keyed().find(is_here);
        let there = keyed().find(is_there).filter(|_| here.is_none());
        let free = above.iter().find(|above| above.keys.is_empty()).filter(|_| here.or(there).is_none());
        let to = here.or(there).or(free).map(|above| above.to);
        Next { to, is_sent: there.is_some(), is_free: free.is_some() }
    }

    fn has_multiplexor(&self, at: usize) -> bool {
        let is_multiplexor = |layer: &LayerId| self.automaton.layers[layer.index()].shape == "multiplexor";
        self.groups[at].0.iter().any(is_multiplexor)
    }

    /// The value of a field of the header that has the key.
    fn value_of(&self, key: &Key, field: Option<&String>, headers: &[HeaderValue]) -> Option<u64> {
        let found = headers.iter().rev().find(|header| header.header == key.header)?;
        let variant = self.automaton.headers[key.header.index()].variants.get(found.variant.index())?;
        let at = variant.fields.iter().position(|(name, _)| Some(name) == field)?;
        found.fields.get(at).copied()
    }
}
