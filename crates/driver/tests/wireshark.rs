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

use compared::{compare, told, Compared, Trial};
use heard::{drops, Came, Heard, Moment};

mod compared;
mod heard;
mod verdicts;

/// A captured frame, and its size on the line.
type Frame = (Vec<u8>, usize);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

// ---- where frames come from ----

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
    let hello = bare.dissect(&[0x5e, 0x50, 0x9e, 0xae, 1, 1, 2], Front::Frame(0));
    assert_eq!(hello.layers.len(), 1, "{hello:?}");
    assert!(!hello.layers[0].is_refused() && hello.layers[0].alternatives == ["Hello"], "{hello:?}");
    assert_eq!(hello.summary(), "Hello low=1 high=2");
    let damaged = bare.dissect(&[0x5e, 0x50, 0x9e, 0xae, 1, 1, 3], Front::Frame(0));
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

/// An alternative that no field tells was not shown; of one without octets nothing above it was read.
#[test]
fn alternatives_that_no_field_tells_have_their_names() {
    let stacks = stacks(&root().join("tests/dissect/marks.mok"));
    let of = |name: &str| &stacks.iter().find(|one| one.dissector.automaton.name == name).expect("a stack").dissector;
    let names = |name: &str, octets: &[u8]| {
        let read = of(name).dissect(octets, Front::Frame(0));
        read.layers.iter().map(|layer| format!("{} {}", layer.name, layer.alternatives.join(" "))).collect::<Vec<_>>()
    };
    let marked = names("Marked", &[0, 0, 1, 0, 2, 0, b'x']);
    assert_eq!(marked, ["mark Beat", "noted Note", "heart Data", "again Beat", "users "]);
    assert_eq!(names("Bare", &[1, 0, 2, 0]), ["first Beat", "second Beat", "users "]);
    let bare = of("Bare").dissect(&[1, 0, 2, 0], Front::Frame(0));
    assert_eq!(bare.summary(), "source=1 destination=2");
    let filter = dissect::filter::read(of("Bare"), "Beat").unwrap_or_else(|failure| panic!("{failure}"));
    assert!(filter.takes(&bare));
    if !is_there() {
        return;
    }
    let frames = [&[1, 0, 2, 0][..], &[1], &[0, 0, 1, 0, 2, 0, b'x']].map(|octets| (octets.to_vec(), octets.len()));
    for name in ["Marked", "Bare"] {
        let trial = || Trial { of: name.to_string(), dissector: of(name), protocol: None, frames: frames.to_vec() };
        let mut seen = Compared::default();
        compare("marks", &[trial()], &same, &mut seen);
        told("marks", &seen);
        // Planted: such an alternative has no name.
        let fault = |text: String| text.replacen("for _, name in ipairs(untold) do add(name) end", "", 1);
        let mut seen = Compared::default();
        compare("marks, wrong", &[trial()], &fault, &mut seen);
        assert!(!seen.wrong.is_empty(), "{name}: a name that is not there is not missed");
    }
}

/// What a stack sends itself is read by the key at the sender's end, and no layer's verdict counts: who hears it is another.
/// Both were wrong: `dissect` read no answers, and the dissector called each "dropped in any state".
#[test]
fn answers_are_read_and_judged_by_nobody() {
    let stacks = stacks(&root().join("tests/dissect/answers.mok"));
    let server = &stacks.iter().find(|one| one.dissector.automaton.name == "Server").expect("a stack").dissector;
    let answer = server.dissect(&[0x35, 0, 0xa0, 0x0f, 7, 0x80, b'y'], Front::Frame(0));
    assert_eq!(answer.summary(), "id=7 answer=1 rest=0", "{answer:?}");
    assert!(answer.layers.iter().all(|layer| layer.dropped.is_empty()), "{answer:?}");
    let back = server.dissect(&[0xa0, 0x0f, 0x35, 0, 7, 0x80], Front::Frame(0));
    let dropped: Vec<&str> = back.layers[1].dropped.iter().map(|dropped| dropped.reason.as_str()).collect();
    assert_eq!(dropped, ["names.Asked.no_question"], "{back:?}");
    let both = &stacks.iter().find(|one| one.dissector.automaton.name == "Both").expect("a stack").dissector;
    for (ports, name) in [([0x35, 0, 0x50, 0], "told"), ([0x50, 0, 0x35, 0], "names"), ([0x35, 0, 0x51, 0], "names")] {
        let read = both.dissect(&[&ports[..], &[5, 2]].concat(), Front::Frame(0));
        assert_eq!(read.layers[1].name, name, "{read:?}");
    }
}

/// Where a layer below a wire makes the messages with which it begins, `--at` begins below that layer: a piece is not decoded.
#[test]
fn pieces_of_messages_are_not_read_as_messages() {
    let stacks = stacks(&root().join("tests/dissect/answers.mok"));
    let cut = &stacks.iter().find(|one| one.dissector.automaton.name == "Cut").expect("a stack").dissector;
    let at = wireshark::at(cut, "udp.port:53:names").unwrap_or_else(|failure| panic!("{failure}"));
    let place = at.protocol.expect("a protocol");
    let piece = cut.dissect_at(&[7, 0x80, b'y'], 3, place);
    assert!(piece.is_part && piece.layers.is_empty(), "{piece:?}");
    let apart = &stacks.iter().find(|one| one.dissector.automaton.name == "Apart").expect("a stack").dissector;
    let at = wireshark::at(apart, "udp.port:53:pairs").unwrap_or_else(|failure| panic!("{failure}"));
    let piece = apart.dissect_at(&[7, 0x80, b'y'], 3, at.protocol.expect("a protocol"));
    assert!(piece.is_part && piece.layers.is_empty(), "{piece:?}");
    assert!(wireshark::at(apart, "udp.port:53:pair").is_err());
    if is_there() {
        let frames = vec![(vec![7, 0x80, b'y'], 3), (vec![1], 1)];
        let trial = Trial { of: "pieces".to_string(), dissector: cut, protocol: Some(place), frames };
        let mut seen = Compared::default();
        compare("pieces", &[trial], &same, &mut seen);
        told("pieces", &seen);
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
                None => trial.dissector.dissect_cut(octets, *length, Front::Frame(0)),
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
