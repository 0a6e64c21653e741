//! Packets by their fields: written, compared with received ones, and shown.
//!
//! A field that is not named has the value that its wire computes, its default, or zero. A pseudo header comes from the
//! preceding wire, or from `over`.

use mokume_reaction::{Automaton, Datum, FieldValue, Handle, Type, WireId, WireItem};
use mokume_wire::by_fields::{look, sum_of, write as write_fields, Known, Looked, Unsaid};
use mokume_wire::Read;

use crate::likeness::Likeness;
use crate::names::Names;
use crate::octets::{same, show_beside, show_octets};
use crate::script::{Arg, Packet, PacketPart, WirePattern};
use crate::written::{scalar, Written};

/// Whether a value matches an argument; stores what it binds. `width`: of its type, in bits.
pub(crate) fn meets(automaton: &Automaton, names: &mut Names, arg: &Arg, datum: &Datum, width: u8) -> bool {
    match (arg, datum) {
        (Arg::Any, _) => true,
        (Arg::Bind(name), _) => {
            names.bind(name, datum.clone(), width);
            true
        }
        (Arg::Name(name), _) => names.get(name) == Some(datum),
        (Arg::OneOf(words), Datum::Word(actual)) => words.contains(actual),
        (Arg::Word(_) | Arg::Sum { .. }, Datum::Word(actual)) => names.word(arg) == Some(*actual),
        (Arg::Octets(expected), Datum::Message(actual)) => expected == actual,
        (Arg::Null, Datum::Handle(handle)) => *handle == Handle::NULL,
        (Arg::Packet(packet), Datum::Message(actual)) => is_met(automaton, names, packet, actual),
        _ => false,
    }
}

fn wire_of(automaton: &Automaton, pattern: &WirePattern) -> Option<WireId> {
    automaton.wires.iter().position(|wire| wire.name == pattern.wire).map(WireId::from)
}

// ---- inputs ----

/// The octets of a packet; an error says why there are none.
pub(crate) fn write(automaton: &Automaton, names: &Names, packet: &Packet) -> Result<Vec<u8>, String> {
    let mut octets: Vec<u8> = Vec::new();
    for (at, part) in packet.parts.iter().enumerate().rev() {
        octets = match part {
            PacketPart::Octets(own) => [own.as_slice(), &octets].concat(),
            PacketPart::Any => return Err("what is put in is known: `_` is for outputs".to_string()),
            PacketPart::Wire(pattern) => {
                let wire = wire_of(automaton, pattern).ok_or(format!("the stack has no wire `{}`", pattern.name))?;
                let given = values(names, pattern)?;
                fits(automaton, wire, &given)?;
                let pseudo = in_front(&packet.parts[..at]).map_or_else(|| over(packet), |front| said_sum(names, front));
                let known = Known { given: &given, defaults: &pattern.defaults, pseudo };
                write_fields(automaton, wire, &known, &octets).map_err(|unsaid| why(&unsaid, &pattern.name))?
            }
        };
    }
    Ok(octets)
}

fn values(names: &Names, pattern: &WirePattern) -> Result<Vec<(String, Option<u64>)>, String> {
    let value = |(name, arg): &(String, Arg)| match names.word(arg) {
        Some(word) => Ok((name.clone(), Some(word))),
        None => Err(format!("`{name}` has no value: {}", unsaid(arg))),
    };
    pattern.fields.iter().map(value).collect()
}

/// Why an argument of an input has no number.
fn unsaid(arg: &Arg) -> String {
    match arg {
        Arg::Name(bound) | Arg::Sum { name: bound, .. } => {
            format!("no number was remembered as `{bound}`, as the output that `?{bound}` stands in did not come")
        }
        _ => "what is put in is known".to_string(),
    }
}

/// Why there is no such packet: one that differs from the test's text would test something else.
pub fn why(unsaid: &Unsaid, wire: &str) -> String {
    match unsaid {
        Unsaid::NoPlace(name) => format!("`{name}` has no place in a `{wire}` beside what else is said"),
        Unsaid::Taken { name, value, instead } => {
            format!("no `{wire}` has {value} in `{name}`: with what else is said it is {instead}")
        }
    }
}

/// Checks that bound values fit the fields that they are given to.
fn fits(automaton: &Automaton, wire: WireId, given: &[(String, Option<u64>)]) -> Result<(), String> {
    let fields = WireItem::fields(&automaton.wires[wire.index()].items);
    for (name, value) in given {
        let width = fields.iter().filter(|field| field.name == *name).map(|field| field.width).max();
        if let (Some(width), Some(value)) = (width, value) {
            if width < 64 && value >> width != 0 {
                return Err(format!("`{name}` has {width} bits, and {value} needs more"));
            }
        }
    }
    Ok(())
}

/// The wire directly before the last part.
fn in_front(parts: &[PacketPart]) -> Option<&WirePattern> {
    match parts.last()? {
        PacketPart::Wire(pattern) => Some(pattern),
        PacketPart::Octets(_) | PacketPart::Any => None,
    }
}

fn over(packet: &Packet) -> u64 {
    packet.over.iter().flatten().map(|word| sum_of(*word)).sum()
}

/// What a written wire contributes to the checksum of the next one.
fn said_sum(names: &Names, pattern: &WirePattern) -> u64 {
    let value = |field: &String| {
        let given = pattern.fields.iter().find(|(name, _)| name == field).and_then(|(_, arg)| names.word(arg));
        let default = || match pattern.defaults.iter().find(|(name, _)| name == field)? {
            (_, mokume_wire::by_fields::Default::Of(mokume_reaction::WireExpression::Number(number))) => Some(*number),
            _ => None,
        };
        given.or_else(default).unwrap_or(0)
    };
    pattern.pseudo.iter().map(|field| sum_of(value(field))).sum()
}

// ---- outputs ----

/// A part of a received packet, with its counterpart in the pattern.
enum Part<'a> {
    /// Octets between or before wires: the expected ones, and as many of the received ones, starting at this octet of
    /// the packet.
    Octets {
        wanted: &'a [u8],
        came: &'a [u8],
        from: usize,
    },
    Layer(Layer<'a>),
}

impl Part<'_> {
    fn is_whole(&self) -> bool {
        match self {
            Part::Octets { wanted, came, .. } => wanted == came,
            Part::Layer(layer) => layer.wrong.is_none() && missing(layer).next().is_none(),
        }
    }
}

/// A part of a received packet, read by a wire of the pattern.
struct Layer<'a> {
    pattern: &'a WirePattern,
    fields: Vec<Looked>,
    /// What is wrong with the whole part: it is malformed, or cut off.
    wrong: Option<String>,
}

/// Reads octets by the wires of a packet: the parts, and the rest for what follows them. Unexpected octets do not hide
/// the wires after them.
fn parts<'a>(automaton: &Automaton, packet: &'a Packet, octets: &'a [u8]) -> (Vec<Part<'a>>, Option<&'a [u8]>) {
    let mut all: Vec<Part> = Vec::new();
    let mut rest = octets;
    let mut pseudo = over(packet);
    for (at, part) in packet.parts.iter().enumerate() {
        let pattern = match part {
            PacketPart::Any => return (all, Some(rest)),
            PacketPart::Octets(_) if is_last(packet, at) => return (all, Some(rest)),
            PacketPart::Octets(wanted) => {
                let (came, behind) = rest.split_at(wanted.len().min(rest.len()));
                all.push(Part::Octets { wanted, came, from: octets.len() - rest.len() });
                if came.len() < wanted.len() {
                    return (all, None);
                }
                rest = behind;
                continue;
            }
            PacketPart::Wire(pattern) => pattern,
        };
        let Some(wire) = wire_of(automaton, pattern) else { return (all, None) };
        let read = mokume_wire::read(automaton, wire, rest);
        // Numbers say which arm of a choice it is, where several have fields of these names.
        let number = |arg: &Arg| if let Arg::Word(number) = arg { Some(*number) } else { None };
        let given: Vec<(String, Option<u64>)> =
            pattern.fields.iter().map(|(name, arg)| (name.clone(), number(arg))).collect();
        let known = Known { given: &given, defaults: &pattern.defaults, pseudo };
        let fields = look(automaton, wire, &known, rest, &read);
        let counted = fields.iter().filter(|field| pattern.pseudo.contains(&field.name));
        pseudo = counted.map(|field| sum_of(field.value)).sum();
        let behind = behind(automaton, &read, rest);
        all.push(Part::Layer(Layer { pattern, fields, wrong: behind.as_ref().err().cloned() }));
        match behind {
            Ok(behind) => rest = behind,
            Err(_) => return (all, None),
        }
    }
    (all, Some(rest))
}

fn is_last(packet: &Packet, at: usize) -> bool {
    !packet.parts[at..].iter().any(|part| matches!(part, PacketPart::Wire(_)))
}

/// The payload; octets cut off behind it must be zeros.
fn behind<'o>(automaton: &Automaton, read: &Read, octets: &'o [u8]) -> Result<&'o [u8], String> {
    match &read.decoding {
        Ok(decoded) if octets[decoded.payload.end..].iter().all(|octet| *octet == 0) => {
            Ok(&octets[decoded.payload.clone()])
        }
        Ok(decoded) => Err(format!("{} octets behind it", octets.len() - decoded.payload.end)),
        Err(refusal) => {
            let reason = automaton.reasons.get(refusal.reason.index()).map_or("", |reason| &reason.name);
            Err(format!("malformed: {reason}"))
        }
    }
}

fn is_met(automaton: &Automaton, names: &mut Names, packet: &Packet, octets: &[u8]) -> bool {
    let (parts, rest) = parts(automaton, packet, octets);
    let mut all = parts.iter().all(Part::is_whole);
    let layers = parts.iter().filter_map(|part| if let Part::Layer(layer) = part { Some(layer) } else { None });
    let fields = layers.flat_map(|layer| layer.fields.iter().map(|field| (layer.pattern, field)));
    // What binds a name comes first, also where another field in front of it is compared with that.
    let (binding, others): (Vec<_>, Vec<_>) =
        fields.partition(|(pattern, field)| matches!(argument(pattern, field), Some(Arg::Bind(_))));
    // Compares all fields, so that all names are bound.
    for (pattern, field) in binding.into_iter().chain(others) {
        all &= is_field_met(automaton, names, pattern, field);
    }
    all && rest.is_some_and(|rest| is_tail(packet, rest))
}

/// How near a received packet is to a pattern: how many of the named fields are right, and how many octets.
pub(crate) fn likeness(automaton: &Automaton, names: &Names, packet: &Packet, octets: &[u8]) -> Likeness {
    let (parts, rest) = parts(automaton, packet, octets);
    let mut found = Likeness::default();
    for part in &parts {
        match part {
            Part::Octets { wanted, came, .. } => found.octets += same(wanted, came),
            Part::Layer(layer) => {
                let named = layer.fields.iter().filter(|field| argument(layer.pattern, field).is_some());
                let right = named.filter(|field| is_field_met(automaton, &mut names.clone(), layer.pattern, field));
                found.fields += right.count();
            }
        }
    }
    found.octets += rest.map_or(0, |rest| same(&tail(packet).0, rest));
    found
}

/// Whether the octets after the wires match.
fn is_tail(packet: &Packet, rest: &[u8]) -> bool {
    let (wanted, open) = tail(packet);
    if open {
        rest.starts_with(&wanted)
    } else {
        rest == wanted
    }
}

/// The octets after the last wire, and whether more may follow.
fn tail(packet: &Packet) -> (Vec<u8>, bool) {
    let from = packet.parts.iter().rposition(|part| matches!(part, PacketPart::Wire(_))).map_or(0, |at| at + 1);
    let mut octets = Vec::new();
    for part in &packet.parts[from..] {
        match part {
            PacketPart::Octets(own) => octets.extend_from_slice(own),
            PacketPart::Any => return (octets, true),
            PacketPart::Wire(_) => {}
        }
    }
    (octets, false)
}

/// The argument for a field.
fn argument<'a>(pattern: &'a WirePattern, field: &Looked) -> Option<&'a Arg> {
    Some(&pattern.fields[field.given?].1)
}

fn is_field_met(automaton: &Automaton, names: &mut Names, pattern: &WirePattern, field: &Looked) -> bool {
    match argument(pattern, field) {
        Some(arg) => meets(automaton, names, arg, &Datum::Word(field.value), field.width),
        None => pattern.rest && !field.follows || field.is_right(),
    }
}

/// What the pattern says of fields that are missing in the packet.
fn missing<'a>(layer: &'a Layer) -> impl Iterator<Item = &'a (String, Arg)> {
    let named = layer.pattern.fields.iter().enumerate();
    named.filter(|(at, _)| !layer.fields.iter().any(|field| field.given == Some(*at))).map(|(_, said)| said)
}

// ---- for people ----

/// A packet in the notation of tests.
pub(crate) fn show(automaton: &Automaton, written: &Written, names: &Names, packet: &Packet) -> String {
    let part = |part: &PacketPart| match part {
        PacketPart::Octets(octets) => show_octets(octets),
        PacketPart::Any => "_".to_string(),
        PacketPart::Wire(pattern) => {
            let wire = wire_of(automaton, pattern);
            let field = |(name, arg): &(String, Arg)| match (names.word(arg), arg) {
                (Some(word), _) => format!("{name}: {}", value(automaton, written, wire, (name, word))),
                (None, Arg::Bind(bound)) => format!("{name}: ?{bound}"),
                (None, Arg::Any) => format!("{name}: _"),
                (None, _) => format!("{name}: ?"),
            };
            let is_list = |one: &(String, Arg), next: &(String, Arg)| {
                let is_octet = |arg: &Arg| names.word(arg).is_some_and(|word| word < 256);
                one.0 == next.0 && is_octet(&one.1) && is_octet(&next.1) && width(automaton, wire, &one.0) == Some(8)
            };
            let shown = pattern.fields.chunk_by(is_list).map(|run| match run {
                [one] => field(one),
                octets => {
                    let octets: Vec<u8> =
                        octets.iter().filter_map(|(_, arg)| names.word(arg)).map(|word| word as u8).collect();
                    format!("{}: {}", run[0].0, show_octets(&octets))
                }
            });
            braces(&pattern.name, shown.collect(), pattern.rest)
        }
    };
    packet.parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

/// The received packet, by the same wires: fields that are named or wrong, and what follows them.
pub(crate) fn show_actual(
    automaton: &Automaton,
    written: &Written,
    names: &Names,
    packet: &Packet,
    octets: &[u8],
) -> String {
    let (parts, rest) = parts(automaton, packet, octets);
    let mut shown: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Octets { wanted, came, from } => show_beside(wanted, came, *from),
            Part::Layer(layer) => show_layer(automaton, written, names, layer),
        })
        .collect();
    match rest {
        Some([]) if !parts.is_empty() && is_tail(packet, &[]) => {}
        Some(rest) if is_tail(packet, rest) => shown.push(show_octets(rest)),
        Some(rest) => shown.push(show_beside(&tail(packet).0, rest, octets.len() - rest.len())),
        None => shown.push(format!("in {}", show_octets(octets))),
    }
    shown.join(" ")
}

fn show_layer(automaton: &Automaton, written: &Written, names: &Names, layer: &Layer) -> String {
    let wire = wire_of(automaton, layer.pattern);
    let wanted = |field: &&Looked| {
        argument(layer.pattern, field).is_some() || !field.is_right() && (field.follows || !layer.pattern.rest)
    };
    let field = |field: &Looked| {
        let shown = value(automaton, written, wire, (&field.name, field.value));
        let should = match argument(layer.pattern, field) {
            None => Some(field.wanted),
            Some(arg) => names.word(arg).filter(|word| *word != field.value),
        };
        match should {
            Some(should) => {
                format!("{}: {shown} (not {})", field.name, value(automaton, written, wire, (&field.name, should)))
            }
            None => format!("{}: {shown}", field.name),
        }
    };
    // Octets of one list stand together, as a text.
    let is_list = |name: &str| {
        let named = layer.fields.iter().filter(|field| field.name == name);
        named.clone().count() > 1 && named.clone().all(|field| field.width == 8)
    };
    let is_last = |field: &Looked| {
        layer.fields.iter().rev().find(|other| other.name == field.name).is_some_and(|last| std::ptr::eq(last, field))
    };
    // Octets that are expected behind those of a list.
    let lacking = |name: &str| -> Vec<u8> {
        let octet = |(_, arg): &(String, Arg)| u8::try_from(names.word(arg)?).ok();
        missing(layer).filter(|(own, _)| own == name).filter_map(octet).collect()
    };
    let run = |run: &[&Looked]| match run {
        [first, ..] if is_list(&first.name) => {
            let came: Vec<u8> = run.iter().map(|field| field.value as u8).collect();
            let own = |field: &&Looked| match argument(layer.pattern, field) {
                Some(arg) => names.word(arg).and_then(|word| u8::try_from(word).ok()).unwrap_or(field.value as u8),
                None => field.wanted as u8,
            };
            let mut should: Vec<u8> = run.iter().map(own).collect();
            if run.last().is_some_and(|last| is_last(last)) {
                should.extend(lacking(&first.name));
            }
            match should == came {
                true => format!("{}: {}", first.name, show_octets(&came)),
                false => format!("{}: {} (not {})", first.name, show_octets(&came), show_octets(&should)),
            }
        }
        run => run.iter().map(|one| field(one)).collect::<Vec<_>>().join(", "),
    };
    let shown: Vec<&Looked> = layer.fields.iter().filter(wanted).collect();
    let mut fields: Vec<String> = shown.chunk_by(|one, next| one.name == next.name).map(run).collect();
    // What refused the packet read no further.
    let why = if layer.wrong.is_some() { "not read" } else { "not there" };
    fields.extend(missing(layer).filter(|(name, _)| !is_list(name)).map(|(name, _)| format!("{name}: ({why})")));
    let hidden = layer.fields.iter().any(|field| !wanted(&field));
    let shown = braces(&layer.pattern.name, fields, hidden);
    match &layer.wrong {
        Some(wrong) => format!("{shown} ({wrong})"),
        None => shown,
    }
}

fn braces(name: &str, mut fields: Vec<String>, open: bool) -> String {
    if open {
        fields.push("..".to_string());
    }
    match fields.is_empty() {
        true => format!("{name} {{ }}"),
        false => format!("{name} {{ {} }}", fields.join(", ")),
    }
}

/// A field's value, in the notation of its type, or in that of the header field that it carries unchanged.
fn value(automaton: &Automaton, written: &Written, wire: Option<WireId>, (name, word): (&str, u64)) -> String {
    let own = wire.and_then(|wire| written.wires.get(&(wire, name.to_string())));
    let carried = || {
        let fields = WireItem::fields(&automaton.wires[wire?.index()].items);
        let field = fields.into_iter().find(|field| field.name == name)?;
        let FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } = field.value else { return None };
        let (name, ty) = automaton.headers[header.index()].variants[variant.index()].fields.get(field as usize)?;
        Some((written.headers.get(&(header, variant, name.clone())), *ty))
    };
    let carried = carried();
    match (own.or(carried.and_then(|(form, _)| form)).filter(|form| form.words() == 1), carried) {
        (Some(form), _) => form.write(&[word]),
        (None, Some((_, ty @ Type::Enum(_)))) => scalar(automaton, ty, word),
        (None, _) => word.to_string(),
    }
}

/// The bits of the field of this name, if a wire has it.
fn width(automaton: &Automaton, wire: Option<WireId>, name: &str) -> Option<u8> {
    let fields = WireItem::fields(&automaton.wires.get(wire?.index())?.items);
    fields.into_iter().find(|field| field.name == name).map(|field| field.width)
}
