//! Dissectors in Lua against `mokume dissect`, in tshark: names, values, places and verdicts of every field, on frames
//! of tests and networks, on each wire alone, on frames that are cut, changed and random. And verdicts against the
//! running stack.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::dissect_tshark::{is_there, pdml, Shown};
use mokume_base::world::RealWorld;
use mokume_base::Random;
use mokume_dissect::names;
use mokume_driver::compile::{self, Checked};
use mokume_driver::dissect::link::{Front, Whose};
use mokume_driver::dissect::{self, wireshark, Dissection, Dissector};
use mokume_driver::StackId;
use mokume_emit_lua::At;
use mokume_interpret::{Instance, Moment as Seen, Observer, What};
use mokume_reaction::*;
use mokume_wire::HeaderValue;

/// LINKTYPE_USER0, and Wireshark's number for it; the number of such types.
const USER: (u16, u64) = (147, 45);
const MOST: usize = 16;

/// A captured frame, and its size on the line.
type Frame = (Vec<u8>, usize);

/// A dissector, where its packets begin, and some frames.
struct Trial<'a> {
    of: String,
    dissector: &'a Dissector,
    /// `None`: as frames.
    protocol: Option<usize>,
    frames: Vec<Frame>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The output about a packet, line by line: a layer, a field, a verdict.
type Lines = Vec<String>;

fn place(field: &str, bit: usize, width: usize) -> String {
    format!("{field} at {}.{} of {width}", bit / 8, bit % 8)
}

/// Our output.
fn ours(dissection: &Dissection) -> Lines {
    let mut lines = vec![format!("info {}", dissection.info())];
    for layer in &dissection.layers {
        let by = if layer.wire.is_empty() { String::new() } else { format!(" by {}", layer.wire) };
        let alternatives = layer.alternatives.join(", ");
        let alternatives = if alternatives.is_empty() { alternatives } else { format!(": {alternatives}") };
        lines.push(format!("layer {}{by}{alternatives}", layer.name));
        for field in &layer.fields {
            let name = names::filter(field.alternative.as_deref(), &field.name);
            lines.push(format!("{} = {}", place(&name, field.bit, field.width.into()), field.value));
        }
        let only = layer.condition();
        if let Some(refused) = &layer.refused {
            let (octet, bit) = (refused.bit / 8, refused.bit % 8);
            let bit = if bit == 0 { String::new() } else { format!(", bit {bit}") };
            lines.push(format!("malformed at octet {octet}{bit}: {}{only}", refused.reason));
        }
        if !layer.dropped.is_empty() {
            let reason = |dropped: &dissect::Dropped| {
                let place = dropped.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
                format!("{}{place}", dropped.reason)
            };
            let reasons: Vec<String> = layer.dropped.iter().map(reason).collect();
            lines.push(format!("dropped in any state: {}{only}", reasons.join(", or ")));
        }
        if let Some(wrong) = &layer.wrong_sum {
            let (octet, field, right) = (wrong.bit / 8, &wrong.field, wrong.right);
            lines.push(format!(
                "refused at octet {octet}: `{field}` is not the checksum of what is there, {right:#06x}{only}"
            ));
        }
        if layer.cut {
            lines.push("cut".to_string());
        }
    }
    lines
}

/// tshark's output, from the first of our layers on. `info` is the column.
fn theirs(shown: &[Shown], info: &str) -> Lines {
    let mut lines = vec![format!("info {info}")];
    let mut own = None;
    let mut is_cut = false;
    for one in shown {
        let name = one.get("name");
        if !one.is_field {
            if is_cut {
                lines.push("cut".to_string());
            }
            is_cut = false;
            own = (one.depth == 0 && !["geninfo", "frame", "fake-field-wrapper"].contains(&name))
                .then(|| name.to_string());
            if let Some(own) = &own {
                let text = one.get("showname");
                is_cut = text.contains(" (cut by the capture)");
                let text = text.split(" (cut by the capture)").next().unwrap_or("");
                let text = text.split(" (padding: ").next().unwrap_or("");
                lines.push(format!("layer {text}"));
                let _ = own;
            }
            continue;
        }
        let Some(own) = &own else { continue };
        if name == "_ws.expert.message" {
            lines.push(one.get("show").to_string());
        } else if let Some(name) = name.strip_prefix(&format!("{own}.")).filter(|_| one.depth == 1) {
            lines.push(field(name, one));
        }
    }
    if is_cut {
        lines.push("cut".to_string());
    }
    lines
}

fn field(name: &str, shown: &Shown) -> String {
    let octets: usize = shown.get("size").parse().unwrap_or(0);
    let first: usize = shown.get("pos").parse().unwrap_or(0);
    let pattern = shown.get("showname").split_once(" = ").map(|(pattern, _)| pattern.replace(' ', ""));
    let pattern = pattern.filter(|text| text.len() == 8 * octets && text.chars().all(|c| matches!(c, '0' | '1' | '.')));
    let digits = |pattern: &str| -> Vec<usize> {
        pattern.chars().enumerate().filter(|(_, c)| *c != '.').map(|(at, _)| at).collect()
    };
    let (bit, width) = match pattern.map(|pattern| digits(&pattern)) {
        Some(bits) if !bits.is_empty() => (8 * first + bits[0], bits.len()),
        _ => (8 * first, 8 * octets),
    };
    let text = shown.get("show");
    let parts = |sign: char, radix: u32| {
        text.split(sign).try_fold(0u64, |sum, part| Some(sum << 8 | u64::from_str_radix(part, radix).ok()?))
    };
    let value = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if text.contains('.') => parts('.', 10),
        None if text.contains(':') => parts(':', 16),
        None => text.parse().ok(),
    };
    let value = value.map_or_else(|| format!("`{text}`"), |value| value.to_string());
    format!("{} = {value}", place(name, bit, width))
}

/// The most characters of a line that are compared; Wireshark cuts labels at 240 octets.
const SHOWN: usize = 230;

/// The line without what Wireshark lacks: fields of more than 4 octets have no mask, so only their first octets are compared;
/// and long lines are cut.
fn loosened(line: &str) -> String {
    let line: String = line.chars().take(SHOWN).collect();
    let line = line.as_str();
    let Some((before, rest)) = line.split_once(" at ") else { return line.to_string() };
    let Some((at, rest)) = rest.split_once(" of ") else { return line.to_string() };
    let Some((width, value)) = rest.split_once(" = ") else { return line.to_string() };
    let numbers = at.split_once('.').and_then(|(octet, bit)| {
        Some((octet.parse::<usize>().ok()?, bit.parse::<usize>().ok()?, width.parse::<usize>().ok()?))
    });
    match numbers {
        Some((octet, bit, width)) if (bit + width).div_ceil(8) > 4 => format!("{before} at {octet} = {value}"),
        _ => line.to_string(),
    }
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A capture with an interface for each trial.
fn capture(trials: &[Trial]) -> Vec<u8> {
    let head = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let mut file = block(0x0a0d_0d0a, &head);
    for place in 0..trials.len() {
        let link = (USER.0 + place as u16).to_le_bytes();
        file.extend(block(1, &[link[0], link[1], 0, 0, 0, 0, 4, 0]));
    }
    for (place, trial) in trials.iter().enumerate() {
        for (octets, length) in &trial.frames {
            let words = [place as u32, 0, 0, octets.len() as u32, *length as u32];
            let head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            file.extend(block(6, &[head, octets.clone()].concat()));
        }
    }
    file
}

/// What was compared.
#[derive(Default, Debug)]
struct Compared {
    packets: usize,
    fields: usize,
    refused: usize,
    dropped: usize,
    summed: usize,
    cut: usize,
    wrong: Vec<String>,
}

fn tshark(folder: &Path, scripts: &[PathBuf], file: &Path, more: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(file);
    for script in scripts {
        command.arg("-X").arg(format!("lua_script:{}", script.display()));
    }
    let output = command.args(more).env("HOME", folder).output().expect("tshark runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_wrong = |line: &&str| line.contains("Lua") || line.contains("lua") || line.contains("rror");
    let wrong: Vec<&str> = said.lines().filter(is_wrong).collect();
    assert!(wrong.is_empty() && output.status.success(), "{}: {}: {said}", file.display(), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compares as many trials at once as tshark has link types for. `fault` changes the scripts.
fn compare(name: &str, trials: &[Trial], fault: &dyn Fn(String) -> String, seen: &mut Compared) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wireshark");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (batch, trials) in trials.chunks(MOST).enumerate() {
        let mut scripts = Vec::new();
        for (place, trial) in trials.iter().enumerate() {
            let at = At { table: "wtap_encap".into(), number: USER.1 + place as u64, protocol: trial.protocol };
            let script = folder.join(format!("{name}-{batch}-{place}.lua"));
            std::fs::write(&script, fault(wireshark::lua(trial.dissector, vec![at]))).expect("written");
            scripts.push(script);
        }
        let file = folder.join(format!("{name}-{batch}.pcapng"));
        std::fs::write(&file, capture(trials)).expect("written");
        let packets = pdml(&tshark(&folder, &scripts, &file, &["-T", "pdml"])).expect("PDML");
        let columns = ["-T", "fields", "-E", "separator=/t", "-e", "frame.number", "-e", "_ws.col.Info"];
        let info = tshark(&folder, &scripts, &file, &columns);
        let info: Vec<&str> = info.lines().map(|line| line.split_once('\t').map_or("", |(_, info)| info)).collect();
        let all: Vec<(&Trial, &Frame)> =
            trials.iter().flat_map(|trial| trial.frames.iter().map(move |frame| (trial, frame))).collect();
        assert_eq!((packets.len(), info.len()), (all.len(), all.len()), "{name}");
        for ((shown, info), (trial, (octets, length))) in packets.iter().zip(info).zip(all) {
            let dissection = match trial.protocol {
                Some(protocol) => trial.dissector.dissect_at(octets, *length, protocol),
                None => trial.dissector.dissect_cut(octets, *length, Front::Frame),
            };
            let (own, other) = (ours(&dissection), theirs(shown, info));
            seen.packets += 1;
            for layer in &dissection.layers {
                seen.fields += layer.fields.len();
                seen.refused += usize::from(layer.refused.is_some());
                seen.dropped += usize::from(!layer.dropped.is_empty());
                seen.summed += usize::from(layer.wrong_sum.is_some());
                seen.cut += usize::from(layer.cut);
            }
            let places = own.iter().map(|line| loosened(line)).zip(other.iter().map(|line| loosened(line)));
            let differs = places.into_iter().find(|(own, other)| own != other).or_else(|| {
                let at = own.len().min(other.len());
                let text = |lines: &Lines| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_string());
                (own.len() != other.len()).then(|| (text(&own), text(&other)))
            });
            if let Some((own, other)) = differs {
                let of = &trial.of;
                seen.wrong.push(format!("{of}: {octets:02x?} of {length}: ours `{own}`, in Lua `{other}`"));
            }
        }
    }
}

// ---- where frames come from ----

/// A frame that arrived, the reasons of drops at that time, and whether something was lost when an object ended, or
/// still waits.
#[derive(Clone)]
struct Came {
    frame: Vec<u8>,
    /// The event of its device.
    at: (PortId, u32),
    dropped: Vec<ReasonId>,
    gone: bool,
}

/// A stack before one of its inputs, and the time.
type Moment = (Instance, u64);

/// The most moments of a test that are kept.
const MOMENTS: usize = 6;

/// A stack that records the frames at its devices, and what it reports about each.
struct Heard<'a> {
    machine: Instance,
    automaton: &'a Automaton,
    came: Vec<Came>,
    went: Vec<Vec<u8>>,
    moments: Vec<Moment>,
}

/// The reasons for which a machine drops during an input, and whether something was lost when an object ended, or
/// waits.
fn drops(machine: &mut Instance, input: impl FnOnce(&mut Instance) -> Outcome) -> (Vec<ReasonId>, bool, Outcome) {
    let accounts = machine.accounts();
    let waits = accounts.gone + accounts.held;
    let before: BTreeMap<ReasonId, u64> = accounts.dropped.into_iter().collect();
    let outcome = input(machine);
    let after = machine.accounts();
    let more = after.dropped.iter().filter(|(reason, count)| before.get(reason).copied().unwrap_or(0) < *count);
    (more.map(|(reason, _)| *reason).collect(), after.gone + after.held > waits, outcome)
}

impl Heard<'_> {
    fn of_device(&self, port: PortId, args: &[Datum]) -> Option<Vec<u8>> {
        let is_device = self.automaton.ports[port.index()].kind == PortKind::Device;
        args.iter().filter(|_| is_device).find_map(|arg| match arg {
            Datum::Message(octets) => Some(octets.clone()),
            Datum::Word(_) | Datum::Handle(_) => None,
        })
    }

    fn left(&mut self, outcome: Outcome) -> Outcome {
        let frames: Vec<Vec<u8>> =
            outcome.outputs.iter().filter_map(|output| self.of_device(output.port, &output.args)).collect();
        self.went.extend(frames);
        outcome
    }
}

impl Machine for Heard<'_> {
    fn start(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.start(now);
        self.left(outcome)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let due = self.machine.advance(now);
        if self.moments.len() < MOMENTS {
            self.moments.push((self.machine.clone(), now));
        }
        let (dropped, gone, outcome) = drops(&mut self.machine, |machine| machine.input(now, port, event, args));
        if let Some(frame) = self.of_device(port, args) {
            self.came.push(Came { frame, at: (port, event), dropped, gone });
        }
        let due = self.left(due);
        let outcome = self.left(outcome);
        Outcome {
            outputs: [due.outputs, outcome.outputs].concat(),
            reports: [due.reports, outcome.reports].concat(),
            refused: due.refused || outcome.refused,
        }
    }

    fn advance(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.advance(now);
        self.left(outcome)
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }
}

/// A stack of a file, and the inputs and outputs of its tests.
struct Tested {
    of: String,
    dissector: Dissector,
    came: Vec<Came>,
    went: Vec<Vec<u8>>,
    moments: Vec<Moment>,
}

fn files(folders: &[&str]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        all.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    all.retain(|file| file.extension().is_some_and(|end| end == "mok"));
    all.sort();
    all
}

fn checked(file: &Path) -> Checked {
    let name = file.to_string_lossy().into_owned();
    compile::check(&RealWorld, std::slice::from_ref(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every stack of a file that has a wire.
fn stacks(file: &Path) -> Vec<Tested> {
    let checked = checked(file);
    let mut all = Vec::new();
    for index in 0..checked.program.stacks.len() {
        let stack = StackId(index as u32);
        if !checked.roots.contains(&checked.program.stacks[index].name.span.file) {
            continue;
        }
        let Ok(dissector) = dissect::of_stack(&checked, stack, Whose::Users) else { continue };
        if dissector.automaton.wires.is_empty() {
            continue;
        }
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        let mut tested = Tested {
            of: format!("{file} {}", dissector.automaton.name),
            dissector,
            came: Vec::new(),
            went: Vec::new(),
            moments: Vec::new(),
        };
        for test in checked.program.tests.iter().filter(|test| test.stack == stack) {
            let (automaton, protocols) = (&tested.dissector.automaton, &tested.dissector.protocols);
            let script = mokume_lower::test_script(&checked.program, (automaton, protocols), &checked.sources, test);
            let Some(script) = script.0 else { continue };
            let params = mokume_script::parameters(automaton, &script);
            let machine = Instance::new(automaton, &params, 0);
            let (came, went, moments) = (Vec::new(), Vec::new(), Vec::new());
            let mut heard = Heard { machine, automaton, came, went, moments };
            mokume_script::judge(automaton, &tested.dissector.written, &script, &mut heard);
            let Heard { came, went, moments, .. } = heard;
            tested.came.extend(came);
            tested.went.extend(went);
            tested.moments.extend(moments);
        }
        all.push(tested);
    }
    all
}

/// A value at the limits of its width, small, or random.
fn value(random: &mut Random, width: u8) -> u64 {
    let most = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
    most & match random.place(6) {
        0 => 0,
        1 => most,
        2 | 3 => random.place(40) as u64,
        _ => random.word(),
    }
}

/// A packet of a wire with random content.
fn anything(random: &mut Random, automaton: &Automaton, wire: WireId) -> Vec<u8> {
    let headers = automaton.wires[wire.index()].headers.iter().map(|header| {
        let variants = &automaton.headers[header.index()].variants;
        let variant = random.place(variants.len());
        let fields = variants[variant].fields.iter().map(|(_, ty)| match ty {
            Type::Enum(id) => automaton.enums[id.index()]
                .names
                .first()
                .map_or(0, |_| random.one_of(&automaton.enums[id.index()].names).1),
            ty => value(random, ty.width(automaton)),
        });
        HeaderValue { header: *header, variant: VariantId::from(variant), fields: fields.collect() }
    });
    let headers: Vec<HeaderValue> = headers.collect();
    let size = random.place(40);
    let payload: Vec<u8> = (0..size).map(|_| random.word() as u8).collect();
    mokume_wire::encode(automaton, wire, &headers, &payload).octets
}

/// Cut by the capture, cut by the sender, changed, or extended.
fn changed(random: &mut Random, packet: &[u8]) -> Frame {
    let mut packet = packet.to_vec();
    packet.truncate(1500);
    for _ in 0..random.place(3) {
        let size = packet.len();
        match random.place(6) {
            0 => packet.truncate(random.place(size + 1)),
            1 => packet.extend((0..random.place(6)).map(|_| 0xee)),
            2 if size > 0 => packet[random.place(size)] = random.word() as u8,
            _ if size > 0 => packet[random.place(size)] ^= 1 << random.place(8),
            _ => {}
        }
    }
    let length = packet.len();
    if random.place(5) == 0 {
        packet.truncate(random.place(length + 1));
    }
    (packet, length)
}

/// Frames that tshark accepts: of at least one octet.
fn some(frames: impl IntoIterator<Item = Frame>) -> Vec<Frame> {
    frames.into_iter().filter(|(octets, _)| !octets.is_empty()).collect()
}

/// How many of each are tried: few in `./test`, more in the campaign.
fn tries(few: usize) -> usize {
    std::env::var("MOKUME_FRAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

fn told(what: &str, seen: &Compared) {
    let Compared { packets, fields, refused, dropped, summed, cut, wrong } = seen;
    println!(
        "FIGURE: wireshark, {what}: {packets} packets, {fields} fields; malformed {refused}, dropped in any state {dropped}, wrong \
         sums {summed}, cut {cut}; {} differences",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n"));
}

const ALL: [&str; 8] = [
    "tests/library",
    "tests/program",
    "tests/newcomer",
    "tests/dissect",
    "examples",
    "benches",
    "benches/groups",
    "benches/stacks",
];

/// Each wire alone; equal names and fields count once.
fn of_each_wire(stacks: &[Tested], few: usize) -> Vec<Trial<'_>> {
    let mut known = BTreeSet::new();
    let mut trials = Vec::new();
    let mut random = Random::new(11);
    for tested in stacks {
        let automaton = &tested.dissector.automaton;
        for (place, protocol) in tested.dissector.protocols.all.iter().enumerate() {
            let Some(id) = protocol.wire else { continue };
            let wire = &automaton.wires[id.index()];
            let fields: Vec<(&str, u8)> =
                WireItem::fields(&wire.items).iter().map(|field| (field.name.as_str(), field.width)).collect();
            if !known.insert(format!("{} {fields:?}", names::short(&wire.name))) {
                continue;
            }
            let frames = (0..few).map(|_| {
                let packet = anything(&mut random, automaton, id);
                changed(&mut random, &packet)
            });
            let of = format!("{} {}", tested.of, wire.name);
            trials.push(Trial { of, dissector: &tested.dissector, protocol: Some(place), frames: some(frames) });
        }
    }
    trials
}

/// The frames of tests, unchanged and changed.
fn of_tests(stacks: &[Tested], few: usize) -> Vec<Trial<'_>> {
    let mut random = Random::new(12);
    let mut trials = Vec::new();
    for tested in stacks {
        let all: BTreeSet<&Vec<u8>> = tested.came.iter().map(|came| &came.frame).chain(&tested.went).collect();
        let mut all: Vec<&Vec<u8>> = all.into_iter().collect();
        if all.is_empty() {
            continue;
        }
        while all.len() > few {
            all.swap_remove(random.place(all.len()));
        }
        let frames = all.iter().flat_map(|frame| [(frame.to_vec(), frame.len()), changed(&mut random, frame)]);
        let frames = some(frames.filter(|(octets, _)| octets.len() < 60_000));
        trials.push(Trial { of: tested.of.clone(), dissector: &tested.dissector, protocol: None, frames });
    }
    trials
}

fn all_stacks(folders: &[&str]) -> Vec<Tested> {
    files(folders).iter().flat_map(|file| stacks(file)).collect()
}

fn same(text: String) -> String {
    text
}

/// Some stacks of every kind.
#[test]
fn lua_reads_packets_as_dissect_does() {
    if !is_there() {
        return;
    }
    let mut stacks = all_stacks(&ALL);
    let mut random = Random::new(13);
    let most = tries(24);
    let mut seen = Compared::default();
    compare("wires", &of_each_wire(&stacks, most), &same, &mut seen);
    told("each wire by itself", &seen);
    assert!(seen.refused > 100 && seen.cut > 50, "{seen:?}");
    stacks.retain(|tested| !tested.came.is_empty());
    while stacks.len() > 2 * most {
        stacks.swap_remove(random.place(stacks.len()));
    }
    let mut seen = Compared::default();
    compare("tests", &of_tests(&stacks, most), &same, &mut seen);
    told("frames of tests", &seen);
    assert!(seen.dropped > 10, "{seen:?}");
}

/// Numbers of up to 64 bits that begin within an octet, of both orders.
#[test]
fn lua_reads_numbers_within_octets() {
    if !is_there() {
        return;
    }
    let stacks = stacks(&root().join("tests/program/numbers_within_octets.mok"));
    assert_eq!(stacks.len(), 4);
    let mut seen = Compared::default();
    compare("within wires", &of_each_wire(&stacks, 24), &same, &mut seen);
    compare("within tests", &of_tests(&stacks, 24), &same, &mut seen);
    told("numbers within octets", &seen);
    // Planted: as if octets that are shifted were whole, and as if those of a part had an order.
    for (right, wrong) in [
        ("tree:add(field.field, range, wide(seen.value))", "tree:add(field.field, range)"),
        ("elseif is_low_first(item.little, bit, seen.width) then", "elseif item.little and bit % 8 == 0 then"),
    ] {
        let fault = |text: String| text.replacen(right, wrong, 1);
        let mut seen = Compared::default();
        compare("within, wrong", &of_tests(&stacks, 4), &fault, &mut seen);
        assert!(!seen.wrong.is_empty(), "a wrong value is not found: {wrong}");
    }
}

/// Names, values, places, verdicts: each change in the script shows.
#[test]
fn what_is_wrong_in_lua_is_found() {
    if !is_there() {
        return;
    }
    let files = ["tests/library/by_fields.mok", "tests/library/checks.mok"];
    let stacks: Vec<Tested> = files.iter().flat_map(|file| stacks(&root().join(file))).collect();
    let trials = of_tests(&stacks, 40);
    let faults = [
        ("filter = \"destination\"", "filter = \"destiny\""),
        ("few_bits(octets, at + width - 32, 32)", "few_bits(octets, at + width - 32, 31)"),
        (
            "local first, last = floor(bit / 8), floor((bit + seen.width + 7) / 8)",
            "local first, last = 0, floor((bit + seen.width + 7) / 8)",
        ),
        ("refuse(rule.otherwise, slot and slot.bit or self.at)", "local _ = 0"),
        ("if walk.used or walk.held or walk.over or #walk.ups > 0 then drops = {} end", "drops = {}"),
    ];
    for (from, to) in faults {
        let mut seen = Compared::default();
        let scripts = Cell::new(0);
        let fault = |text: String| {
            scripts.set(scripts.get() + usize::from(text.contains(from)));
            text.replace(from, to)
        };
        compare("faults", &trials, &fault, &mut seen);
        assert!(scripts.get() > 0, "no script has `{from}`");
        assert!(!seen.wrong.is_empty(), "`{to}` is not seen");
    }
    let mut seen = Compared::default();
    compare("faults", &trials, &same, &mut seen);
    assert!(seen.wrong.is_empty(), "{:?}", seen.wrong);
}

/// A newcomer's packets were misread: a header without a payload was malformed, and all fields of one name were
/// addresses.
#[test]
fn alternatives_end_packets_and_are_written_each_as_its_type_says() {
    let stacks = stacks(&root().join("tests/dissect/sensors.mok"));
    let of = |name: &str| &stacks.iter().find(|one| one.dissector.automaton.name == name).expect("a stack").dissector;
    let bare = of("Bare");
    let hello = bare.dissect(&[0x5e, 0x50, 0x9e, 0xae, 1, 1, 2], Front::Frame);
    assert_eq!(hello.layers.len(), 1, "{hello:?}");
    assert!(!hello.layers[0].is_refused() && hello.layers[0].alternatives == ["Hello"], "{hello:?}");
    assert_eq!(hello.summary(), "Hello low=1 high=2");
    let damaged = bare.dissect(&[0x5e, 0x50, 0x9e, 0xae, 1, 1, 3], Front::Frame);
    let reasons: Vec<&str> = damaged.layers[0].dropped.iter().map(|dropped| dropped.reason.as_str()).collect();
    assert_eq!(reasons, ["agreed.Checksum16.damaged"]);
    let node = of("Node");
    let place = node.protocols.all.iter().position(|one| one.name == "sensors").expect("a layer");
    let tell = [0x22, 0, 1, 3, 0, 0, 0, 0, 215];
    let told = node.dissect_at(&tell, tell.len(), place);
    assert_eq!(told.summary(), "Response id=1 Tell sensor=3 status=Fine value=215");
    let moved = [0x23, 0, 1, 0x50, 0, 0, 0, 0, 0, 0, 0x07, 0x12, 0x3f, 10, 0, 0, 9, 0];
    let moved = node.dissect_at(&moved, moved.len(), place);
    assert!(moved.layers[0].alternatives == ["Response", "Moved"], "{moved:?}");
    let filter = |text: &str| dissect::filter::read(node, text).unwrap_or_else(|failure| panic!("{failure}"));
    for (text, takes) in [
        ("Tell.value > 200", true),
        ("Tell.value > 215", false),
        ("status == Fine and not refused", true),
        ("what == Ask or id == 0x1", true),
        ("Moved", false),
    ] {
        assert_eq!(filter(text).takes(&told), takes, "{text}");
    }
    for wrong in ["Tell.valu > 1", "status == Fin", "(Tell", "Tell.value >", "3 == value", ""] {
        assert!(dissect::filter::read(node, wrong).is_err(), "{wrong}");
    }
}

/// The output of `--format json` for frames of all kinds matches the schema; changed output does not.
#[test]
fn json_of_packets_is_as_the_schema_says() {
    let schema: serde_json::Value = serde_json::from_str(dissect::json::SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let mut all = Vec::new();
    let files = ["tests/library/by_fields.mok", "tests/library/checks.mok", "tests/dissect/sensors.mok"];
    let stacks: Vec<Tested> = files.iter().flat_map(|file| stacks(&root().join(file))).collect();
    for trial in of_each_wire(&stacks, 20).iter().chain(&of_tests(&stacks, 20)) {
        for (octets, length) in &trial.frames {
            let dissection = match trial.protocol {
                Some(protocol) => trial.dissector.dissect_at(octets, *length, protocol),
                None => trial.dissector.dissect_cut(octets, *length, Front::Frame),
            };
            let (number, link, length) = (all.len() as u64 + 1, 147, *length as u32);
            let packet = dissect::capture::Packet { number, at: None, link, octets: octets.clone(), length };
            all.push(dissect::json::packet(&packet, &dissection));
        }
    }
    let own = dissect::of_library(&RealWorld, None).unwrap_or_else(|error| panic!("{error}"));
    let folders = ["tests/dissect/captures", "tests/dissect/made"].map(|name| std::fs::read_dir(root().join(name)));
    for entry in folders.into_iter().flat_map(|folder| folder.expect("captures")) {
        let file = entry.expect("an entry").path();
        let Ok(capture) = dissect::capture::open(&file.to_string_lossy()) else { continue };
        for packet in capture.flatten() {
            let Some(front) = own.front(packet.link) else { continue };
            let dissection = own.dissect_cut(&packet.octets, packet.length as usize, front);
            all.push(dissect::json::packet(&packet, &dissection));
        }
    }
    let layers = || all.iter().flat_map(|packet| packet["layers"].as_array().expect("layers"));
    for some in ["malformed", "wrong_sum"] {
        assert!(layers().any(|layer| !layer[some].is_null()), "none has {some}");
    }
    assert!(
        layers().any(|layer| layer["dropped"] != serde_json::json!([])) && layers().any(|layer| layer["cut"] == true)
    );
    for packet in &all {
        assert!(validator.is_valid(packet), "{packet}");
    }
    let text = all.iter().map(serde_json::Value::to_string).find(|text| text.contains("\"bits\":16")).expect("one");
    for (from, to) in [
        ("\"dissect\":2", "\"dissect\":1"),
        ("\"bits\":16", "\"bits\":65"),
        ("\"bits\":16", "\"bits\":16,\"more\":0"),
        ("\"read\":", "\"seen\":"),
        ("\"time\":null", "\"time\":0"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert!(changed != text && !validator.is_valid(&serde_json::from_str(&changed).expect("JSON")), "{changed}");
    }
}

/// If `dissect` refuses a frame, the run dropped something. If a wire dropped it in the run, `dissect` says so.
#[test]
fn verdicts_are_those_of_the_running_stack() {
    let (mut frames, mut refused, mut dropped, mut more) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    // With several devices, `dissect` reads the frames of the first one.
    for tested in all_stacks(&ALL).iter().filter(|tested| tested.dissector.protocols.first.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let text = format!("{:?}", automaton.wires);
        let is_of_wire = |reason: &ReasonId| text.contains(&format!("{reason:?}"));
        for Came { frame, dropped: reasons, gone, .. } in &tested.came {
            frames += 1;
            let dissection = tested.dissector.dissect(frame, Front::Frame);
            let said = said_of(&dissection);
            let names: Vec<&String> = reasons.iter().map(|reason| &automaton.reasons[reason.index()].name).collect();
            refused += usize::from(!said.is_empty());
            dropped += usize::from(!reasons.is_empty());
            more += usize::from(!reasons.is_empty() && said.is_empty());
            let is_run = !said.is_empty() && reasons.is_empty() && !gone;
            let is_missed = said.is_empty() && reasons.iter().any(is_of_wire);
            if is_run || is_missed {
                wrong.push(format!("{}: dissect says {said:?}, the run {names:?}: {frame:02x?}", tested.of));
            }
        }
    }
    println!(
        "FIGURE: dissect against runs: {frames} frames of tests, {refused} refused by dissect, {dropped} dropped in the run, {more} of \
         them as the state, or what dissect does not follow, decides; {} differences",
        wrong.len()
    );
    assert!(frames > 1000 && refused > 100, "{frames} {refused}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// What `dissect` says of a frame: the reasons for which it is refused, or dropped in any state. What may be another layer's packet is
/// not said for certain.
fn said_of(dissection: &Dissection) -> Vec<&str> {
    let sure = dissection.layers.iter().take_while(|layer| !layer.may_be_for_another);
    let refused = sure.clone().flat_map(|layer| &layer.refused).map(|refused| refused.reason.as_str());
    let dropped = sure.flat_map(|layer| &layer.dropped).map(|dropped| dropped.reason.as_str());
    refused.chain(dropped).collect()
}

/// "In any state" means any: each frame of a stack's tests comes at moments of all its tests. Those that are dropped at
/// each moment without a word of `dissect` are counted by reason.
#[test]
fn what_is_dropped_in_any_state_is_dropped_at_any_moment() {
    let (few, mut tried, mut refused) = (tries(12), 0, 0);
    let (mut wrong, mut silent) = (Vec::new(), BTreeMap::<String, usize>::new());
    let mut random = Random::new(14);
    for tested in all_stacks(&ALL).iter().filter(|tested| tested.dissector.protocols.first.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let mut seen = BTreeSet::new();
        let mut frames: Vec<&Came> = tested.came.iter().filter(|came| seen.insert(&came.frame)).collect();
        let mut moments: Vec<&Moment> = tested.moments.iter().collect();
        while frames.len() > 2 * few {
            frames.swap_remove(random.place(frames.len()));
        }
        while moments.len() > few {
            moments.swap_remove(random.place(moments.len()));
        }
        for Came { frame, at: (port, event), .. } in frames {
            let dissection = tested.dissector.dissect(frame, Front::Frame);
            let said = said_of(&dissection);
            refused += usize::from(!said.is_empty());
            let mut always: Option<Vec<ReasonId>> = None;
            for (machine, now) in &moments {
                let args = [Datum::Message(frame.clone())];
                let mut machine = machine.clone();
                machine.advance(*now);
                let (dropped, gone, _) = drops(&mut machine, |machine| machine.input(*now, *port, *event, &args));
                tried += 1;
                if !said.is_empty() && dropped.is_empty() && !gone {
                    wrong.push(format!("{}: dissect says {said:?}, it is taken: {frame:02x?}", tested.of));
                }
                always = Some(always.map_or(dropped.clone(), |known| {
                    known.into_iter().filter(|reason| dropped.contains(reason)).collect()
                }));
            }
            for reason in always.unwrap_or_default().iter().filter(|_| said.is_empty()) {
                let name = &automaton.reasons[reason.index()].name;
                *silent.entry(format!("{} {name}", tested.of)).or_default() += 1;
            }
        }
    }
    println!(
        "FIGURE: dissect against runs at other moments: {tried} tried, {refused} frames refused by dissect; {} differences; dropped at \
         each moment without a word, by {} reasons: {}",
        wrong.len(),
        silent.len(),
        silent.values().sum::<usize>()
    );
    if std::env::var_os("MOKUME_TELL").is_some() {
        println!("{silent:#?}");
    }
    assert!(tried > 20_000 && refused > 100, "{tried} {refused}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
}

/// The layers whose handlers of incoming messages ran.
#[derive(Default)]
struct Reached(BTreeSet<HandlerId>);

impl Observer for Reached {
    fn see(&mut self, moment: &Seen<'_>) {
        if moment.what == What::Begins {
            self.0.insert(moment.handler);
        }
    }
}

/// How far verdicts that hold only if the packet is for a layer were compared with runs.
#[derive(Default, Debug)]
struct Conditional {
    frames: usize,
    /// How often the layer got the packet, and how often it did not.
    reached: usize,
    passed_by: usize,
    wrong: Vec<String>,
}

/// Gives frames with such verdicts to the stacks at moments of their tests: where the layer gets the packet, it is dropped for one of the
/// reasons. `told` changes the reasons.
fn conditional(stacks: &[Tested], few: usize, told: &dyn Fn(&str) -> String) -> Conditional {
    let mut found = Conditional::default();
    let mut random = Random::new(15);
    for tested in stacks.iter().filter(|tested| tested.dissector.protocols.first.len() < 2) {
        let automaton = &tested.dissector.automaton;
        let mut frames: BTreeMap<Vec<u8>, (PortId, u32)> = BTreeMap::new();
        for came in &tested.came {
            let varied = (0..4).map(|_| changed(&mut random, &came.frame));
            let whole = varied.filter(|(octets, length)| octets.len() == *length).map(|(octets, _)| octets);
            frames.extend(whole.chain([came.frame.clone()]).map(|frame| (frame, came.at)));
        }
        let doubtful = frames.into_iter().filter_map(|(frame, at)| {
            let dissection = tested.dissector.dissect(&frame, Front::Frame);
            let layer = dissection.layers.into_iter().find(dissect::Layer::is_refused)?;
            layer.may_be_for_another.then_some((frame, at, layer))
        });
        for (frame, (port, event), layer) in doubtful.take(2 * few) {
            found.frames += 1;
            let reasons = layer.refused.iter().map(|refused| &refused.reason);
            let reasons: Vec<String> =
                reasons.chain(layer.dropped.iter().map(|dropped| &dropped.reason)).map(|reason| told(reason)).collect();
            let Some(protocol) = tested.dissector.protocols.all.iter().find(|one| one.name == layer.name) else {
                continue;
            };
            let takes = |handler: &HandlerId| {
                let handler = automaton.handler(*handler);
                let of = &automaton.layers[automaton.class(handler.class).layer.index()].name;
                handler.trigger == Trigger::Event("deliver".to_string()) && protocol.lowest.contains(of)
            };
            for (machine, now) in tested.moments.iter().take(few) {
                let mut machine = machine.clone();
                machine.advance(*now);
                let seen = Arc::new(Mutex::new(Reached::default()));
                machine.watch(seen.clone());
                let args = [Datum::Message(frame.clone())];
                let (dropped, gone, _) = drops(&mut machine, |machine| machine.input(*now, port, event, &args));
                if !seen.lock().expect("a lock").0.iter().any(takes) {
                    found.passed_by += 1;
                    continue;
                }
                found.reached += 1;
                let names: Vec<&String> =
                    dropped.iter().map(|reason| &automaton.reasons[reason.index()].name).collect();
                if !gone && !names.iter().any(|name| reasons.contains(name)) {
                    let of = &tested.of;
                    found
                        .wrong
                        .push(format!("{of}: `{}` says {reasons:?}, the run {names:?}: {frame:02x?}", layer.name));
                }
            }
        }
    }
    found
}

/// What is refused if it is for a layer is dropped by it whenever it is.
#[test]
fn what_is_refused_if_it_is_for_a_layer_is_dropped_where_it_is() {
    let stacks = all_stacks(&ALL);
    let found = conditional(&stacks, tries(6), &same_reason);
    let Conditional { frames, reached, passed_by, wrong } = &found;
    println!(
        "FIGURE: conditional verdicts of dissect against runs: {frames} frames; {reached} times the layer had it, {passed_by} times not; \
         {} differences",
        wrong.len()
    );
    assert!(*frames > 100 && *reached > 100 && *passed_by > 20, "{frames} {reached} {passed_by}");
    assert!(wrong.is_empty(), "{}", wrong.iter().take(20).cloned().collect::<Vec<_>>().join("\n"));
    // Planted: other reasons.
    let planted = conditional(&stacks, 2, &|reason| format!("{reason}_other"));
    assert!(planted.reached > 20 && planted.wrong.len() * 2 > planted.reached, "{planted:?}");
}

fn same_reason(reason: &str) -> String {
    reason.to_string()
}

/// A layer that binds constants when it starts has their packets for certain: the types of ICMPv6, and a port that a loop counts.
#[test]
fn what_is_bound_at_the_start_is_known() {
    let stacks = stacks(&root().join("examples/host6.mok"));
    let host = &stacks.iter().find(|one| one.dissector.automaton.name == "Host6").expect("a stack").dissector;
    let icmp = host.protocols.all.iter().find(|one| one.name == "icmp6").expect("ICMPv6");
    let to = |above: &mokume_lower::protocols::Above| host.protocols.all[above.to].name.clone();
    let keys: BTreeMap<u64, String> =
        icmp.above.iter().filter_map(|above| Some((above.keys.first()?.value, to(above)))).collect();
    let types: Vec<u64> = keys.keys().copied().collect();
    assert_eq!(types, [1, 2, 3, 4, 128, 130, 131, 135, 136], "{keys:?}");
    assert!(icmp.above.iter().all(|above| !above.keys.is_empty()), "{:?}", icmp.above);
    assert_eq!((&keys[&1], &keys[&135]), (&keys[&4], &keys[&136]));
    assert_ne!(keys[&128], keys[&135]);
}
