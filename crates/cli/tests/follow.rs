//! `mokume dissect --follow`: captures of our own networks, taken at a host, agree with its stack. A packet that is
//! removed, doubled, moved or changed is found and named. A host that is not ours is followed as far as its packets
//! show what it did.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().expect("mokume runs")
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("follow");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// A capture: its header, and each packet with its time.
#[derive(Clone)]
struct Capture {
    head: Vec<u8>,
    packets: Vec<([u8; 8], Vec<u8>)>,
}

impl Capture {
    fn read(name: &str) -> Capture {
        let octets = std::fs::read(name).unwrap();
        let (mut packets, mut at) = (Vec::new(), 24);
        while at < octets.len() {
            let size = u32::from_le_bytes(octets[at + 8..at + 12].try_into().unwrap()) as usize;
            packets.push((octets[at..at + 8].try_into().unwrap(), octets[at + 16..at + 16 + size].to_vec()));
            at += 16 + size;
        }
        Capture { head: octets[..24].to_vec(), packets }
    }

    fn write(&self, name: &str) -> String {
        let (name, mut octets) = (scratch(name), self.head.clone());
        for (at, packet) in &self.packets {
            octets.extend(at);
            octets.extend([packet.len() as u32; 2].map(u32::to_le_bytes).concat());
            octets.extend(packet);
        }
        std::fs::write(&name, octets).unwrap();
        name
    }

    /// Swaps two packets; the times stay.
    fn swapped(mut self, one: usize, other: usize) -> Capture {
        let octets = self.packets[one].1.clone();
        self.packets[one].1 = std::mem::replace(&mut self.packets[other].1, octets);
        self
    }

    fn without(mut self, place: usize) -> Capture {
        self.packets.remove(place);
        self
    }

    fn doubled(mut self, place: usize) -> Capture {
        self.packets.insert(place + 1, self.packets[place].clone());
        self
    }

    /// A packet once more behind another one, at its time.
    fn repeated(mut self, place: usize, behind: usize) -> Capture {
        let (head, octets) = (self.packets[behind].0, self.packets[place].1.clone());
        self.packets.insert(behind + 1, (head, octets));
        self
    }

    fn changed(mut self, place: usize, octet: usize, by: u8) -> Capture {
        self.packets[place].1[octet] ^= by;
        self
    }
}

/// A network's source, and its capture at a host after a run.
fn captured(file: &str, host: &str) -> (String, Capture) {
    let name = format!("{}-{host}", file.rsplit('/').next().unwrap());
    let (record, capture) = (scratch(&format!("{name}.jsonl")), scratch(&format!("{name}.pcap")));
    assert!(mokume(&["sim", file, "--record", &record]).status.success(), "{file}");
    assert!(mokume(&["show", &record, "--host", host, "--pcap", &capture]).status.success(), "{file}");
    (record, Capture::read(&capture))
}

/// The output about a capture, line by line, the last one separately; each must match the schema.
fn followed(capture: &str, more: &[&str]) -> (Vec<Value>, Value, i32) {
    let output = mokume(&[&["dissect", capture, "--follow", "--format", "json"], more].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let schema = serde_json::from_str(include_str!("../../../schemas/follow-1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert!(schema.is_valid(line), "{line}");
    }
    let end = lines.pop().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (lines, end, output.status.code().unwrap())
}

const COURIER: [&str; 5] = ["--by", "examples/courier.mok", "--network", "Field", "--host"];

fn of_courier(capture: &Capture, name: &str, host: &str) -> (Vec<Value>, Value, i32) {
    followed(&capture.write(name), &[&COURIER[..], &[host]].concat())
}

fn is_sent(line: &Value) -> bool {
    line["way"] == "sent"
}

/// Packets that the stack would not send, or that were dropped: number, and text.
fn amiss(lines: &[Value]) -> Vec<(u64, String)> {
    let said = |line: &Value| match (line["way"].as_str()?, line["fate"].as_str(), line["how"].as_str()) {
        ("came", Some("taken" | "waits" | "not_for_it"), _) | ("sent", _, Some("same")) => None,
        (_, fate, how) => {
            let reason = line["ended"][0]["reason"].as_str().unwrap_or_default();
            let said = fate.or(how).unwrap_or_default();
            Some((line["packet"].as_u64()?, format!("{said} {reason}").trim().to_string()))
        }
    };
    lines.iter().filter_map(said).collect()
}

/// The index of a packet, by its direction, its content, and the number of equal ones before it.
fn place(lines: &[Value], way: &str, about: &str, times: usize) -> usize {
    let is_it = |line: &&Value| line["way"] == way && line["about"].as_str().unwrap().starts_with(about);
    let found = lines.iter().filter(is_it).nth(times).unwrap_or_else(|| panic!("{way} {about} {times}: {lines:?}"));
    found["packet"].as_u64().unwrap() as usize - 1
}

#[test]
fn captures_of_our_own_networks_are_as_the_stacks_run() {
    for (file, network, hosts) in [
        ("examples/meter.mok", "Street", &["reader", "a", "b"][..]),
        ("examples/courier.mok", "Field", &["sensor", "collector"][..]),
    ] {
        for host in hosts {
            let (record, capture) = captured(file, host);
            let name = capture.write("own.pcap");
            let (lines, end, code) = followed(&name, &["--by", file, "--network", network, "--host", host]);
            assert_eq!(lines.len(), capture.packets.len());
            assert!(lines.iter().filter(|line| is_sent(line)).all(|line| line["how"] == "same"), "{file} {host}");
            assert_eq!((end["missing"].as_array().unwrap().len(), &end["apart_from"]), (0, &Value::Null));
            // The run itself recorded what ends, and for what reason.
            let events = std::fs::read_to_string(&record).unwrap();
            let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let mine = |event: &&Value| {
                event["host"] == *host && ["drops", "consumes"].contains(&event["event"].as_str().unwrap())
            };
            let of = |event: &Value| {
                vec![event["reason"].as_str().unwrap().to_string(); event["count"].as_u64().unwrap() as usize]
            };
            let mut ran: Vec<String> = events.iter().filter(mine).flat_map(of).collect();
            let ended = lines.iter().flat_map(|line| line["ended"].as_array().cloned().unwrap_or_default());
            let mut said: Vec<String> = ended.map(|ended| ended["reason"].as_str().unwrap().to_string()).collect();
            ran.sort();
            said.sort();
            assert_eq!(said, ran, "{file} {host}");
            assert_eq!(code, i32::from(lines.iter().any(|line| line["fate"] == "dropped")), "{file} {host}");
        }
    }
}

/// A capture that ends with a packet that the host answers lacks the answer.
#[test]
fn the_last_packets_answers_are_missed() {
    let (_, whole) = captured("examples/courier.mok", "collector");
    let (lines, ..) = of_courier(&whole, "whole.pcap", "collector");
    let answered = |at: &usize| !is_sent(&lines[*at]) && lines[*at]["answers"].as_u64().is_some_and(|sends| sends > 0);
    let last = (0..lines.len()).rev().find(answered).expect("a packet is answered at once");
    let mut cut = whole.clone();
    cut.packets.truncate(last + 1);
    let (lines, end, _) = of_courier(&cut, "cut_short.pcap", "collector");
    let missing = end["missing"].as_array().unwrap().len() as u64;
    assert_eq!(Some(missing), lines[last]["answers"].as_u64(), "{end}");
}

/// What waits on its way down is an answer: the packet that it answers was taken.
#[test]
fn a_packet_whose_answer_waits_for_an_address_was_taken() {
    let link = |kind: [u8; 2]| [&[2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind].concat();
    let head = [0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0x66, 0xcd, 10, 0, 0, 2, 10, 0, 0, 1];
    // Without a checksum, to the port of the echo protocol.
    let frame = [&link([8, 0])[..], &head, &[0x12, 0x67, 0, 7, 0, 10, 0, 0], b"hi"].concat();
    let mut file = [0xa1b2_c3d4u32, 4 << 16 | 2, 0, 0, 65535, 1].map(u32::to_le_bytes).concat();
    let size = frame.len() as u32;
    file.extend([[7, 0, size, size].map(u32::to_le_bytes).concat(), frame].concat());
    let name = scratch("echo.pcap");
    std::fs::write(&name, file).unwrap();
    let settings =
        ["--by", "examples/host.mok", "--set", "address=10.0.0.1/24", "--set", "device.mac=02:00:00:00:00:01"];
    let (lines, end, _) = followed(&name, &settings);
    assert_eq!(lines[0]["fate"], "taken", "{lines:?}");
    assert!(!end["missing"].as_array().unwrap().is_empty(), "the stack asks for the address: {end}");
}

#[test]
fn what_is_taken_out_doubled_swapped_or_changed_is_found() {
    let (_, whole) = captured("examples/courier.mok", "collector");
    let (lines, _, _) = of_courier(&whole, "whole.pcap", "collector");
    let known = amiss(&lines);
    let found = |capture: Capture, name: &str| of_courier(&capture, name, "collector");
    let data = place(&lines, "came", "Data number=3", 0);
    let ack = place(&lines, "sent", "Ack number=3", 0);
    let number = |place: usize| place as u64 + 1;

    // An arriving packet is missing: the following one is too early for the layer, and the stack cannot have sent what
    // follows from it.
    let next = place(&lines, "came", "Data number=4", 0);
    let without = whole.clone().without(data);
    let (said, _, code) = found(without.clone(), "without.pcap");
    assert!(
        amiss(&said).contains(&(number(next) - 1, "dropped courier.Resends.early".to_string())),
        "{:?}",
        amiss(&said)
    );
    assert_eq!(code, 1);
    let sent = [&COURIER[..], &["collector", "--sent", "ethernet.source == 02:00:00:00:00:02"]].concat();
    let (said, end, _) = followed(&without.write("without.pcap"), &sent);
    assert!(amiss(&said).contains(&(number(ack) - 1, "unlike".to_string())), "{:?}", amiss(&said));
    assert_eq!(end["apart_from"], number(ack) - 1);
    // The same without a filter: its device's address identifies all that the stack sends.
    let (said, end, _) = found(without, "without.pcap");
    assert!(amiss(&said).contains(&(number(ack) - 1, "unlike".to_string())), "{:?}", amiss(&said));
    assert_eq!(end["apart_from"], number(ack) - 1);
    assert!(said.iter().all(|line| line["fate"] != "not_for_it"), "{said:?}");

    // A sent packet is missing: it is reported as missing.
    let (said, end, _) = found(whole.clone().without(ack), "unsent.pcap");
    assert!(end["missing"][0]["about"].as_str().unwrap().starts_with("Ack number=3"), "{end}");
    assert_eq!(amiss(&said).len(), known.len());

    // It arrived twice: the layer that drops duplicates reports it, and the place.
    let (said, _, code) = found(whole.clone().doubled(data), "doubled.pcap");
    assert!(
        amiss(&said).contains(&(number(data) + 1, "dropped courier.Resends.duplicate".to_string())),
        "{:?}",
        amiss(&said)
    );
    let double = &said[data + 1]["ended"][0];
    assert_eq!((&double["layer"], &double["on"], code), (&"courier.Resends".into(), &"deliver".into(), 1));
    assert!(double["place"].as_str().unwrap().starts_with("examples/courier.mok:"), "{double}");

    // It was sent twice.
    let (said, _, _) = found(whole.clone().doubled(ack), "sent_twice.pcap");
    assert_eq!((&said[ack + 1]["how"], &said[ack + 1]["again"]), (&"again".into(), &number(ack).into()));

    // It was sent again later, which the stack does not do: there the states part.
    let next = place(&lines, "came", "Data number=4", 0);
    let (said, end, _) = found(whole.clone().repeated(ack, next), "sent_again.pcap");
    let again = said.iter().find(|line| line["how"] == "again").unwrap_or_else(|| panic!("{said:?}"));
    assert_eq!((&again["again"], &end["apart_from"]), (&number(ack).into(), &again["packet"]), "{end}");

    // Data that came before its turn, and what waited for it.
    let later = place(&lines, "came", "Data number=4", 0);
    let (said, _, _) = found(whole.clone().swapped(data, later), "swapped.pcap");
    let unlike: Vec<(u64, String)> = amiss(&said).into_iter().filter(|one| !known.contains(one)).collect();
    assert!(unlike.iter().any(|(packet, _)| *packet >= number(data) && *packet <= number(later) + 1), "{unlike:?}");

    // One changed bit of an arriving packet: found, wherever it is in the state.
    let last = whole.packets[data].1.len() - 1;
    let (said, _, _) = found(whole.clone().changed(data, last, 1), "changed.pcap");
    assert_eq!(said[data]["fate"], "dropped");
    let reason = said[data]["ended"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("bad_sum") || reason.contains("sum") || reason.contains("damaged"), "{reason}");
}

#[test]
fn what_the_host_sent_in_another_order_or_otherwise_is_told_by_its_fields() {
    let (_, whole) = captured("examples/meter.mok", "reader");
    let more = ["--by", "examples/meter.mok", "--network", "Street", "--host", "reader"];
    let (lines, _, _) = followed(&whole.write("reader.pcap"), &more);
    let (one, other) = (place(&lines, "sent", "Ask number=2", 0), place(&lines, "sent", "Ask number=3", 0));
    // Numbers 3 and 2 are swapped: without a filter, something came that the stack had not sent yet.
    let sent = ["--sent", "Ask"];
    let (said, _, _) = followed(&whole.clone().swapped(one, other).write("order.pcap"), &[&more[..], &sent].concat());
    let differs: Vec<&str> =
        said[one]["differs"].as_array().unwrap().iter().map(|one| one["field"].as_str().unwrap()).collect();
    assert_eq!((said[one]["how"].as_str(), differs), (Some("differs"), vec!["meter.Ask.number"]), "{}", said[one]);

    // A question under another number: the field is named.
    let (said, _, code) =
        followed(&whole.clone().changed(one, 16, 4).write("number.pcap"), &[&more[..], &sent].concat());
    let field = &said[one]["differs"][0];
    assert_eq!((field["here"].as_str(), field["stack"].as_str()), (Some("6"), Some("2")), "{field}");
    assert_eq!(code, 0, "what the stack would not have sent is no error");

    // An answer to a question that was not asked: the layer's own report.
    let told = place(&lines, "came", "Tell number=2", 0);
    let (said, _, _) = followed(&whole.changed(told, 16, 4).write("late.pcap"), &more);
    assert_eq!(
        (said[told]["fate"].as_str(), &said[told]["about"]),
        (Some("taken"), &"Tell number=6 reading=230".into())
    );
}

/// Two connections and two pings by Linux, to `examples/stream.mok` on a TAP device with the seed 5.
const LINUX: &str = "tests/dissect/followed/linux.pcap";
const OURS: [&str; 6] =
    ["--by", "examples/stream.mok", "--set", "address=10.77.0.2/24", "--set", "device.mac=02:a2:c4:43:83:3e"];

/// What a host sends to all of its link would be taken by its own layers if it came; it has the host's station as where it is from.
#[test]
fn a_frame_to_all_from_the_hosts_own_station_is_its_own() {
    let (_, whole) = captured("examples/courier.mok", "sensor");
    let (lines, _, _) = of_courier(&whole, "to-all.pcap", "sensor");
    let asks = place(&lines, "sent", "arp operation=1", 1);
    let last = whole.packets[asks].1.len() - 1;
    let (said, _, _) = of_courier(&whole.changed(asks, last, 9), "to-all-else.pcap", "sensor");
    assert_eq!(
        (&said[asks]["way"], &said[asks]["ended"]),
        (&Value::from("sent"), &lines[asks]["ended"]),
        "{}",
        said[asks]
    );
}

/// The first packet of a capture by `mokume run` was received: the host's first frame was then taken for a received one, and the
/// stack's clock was never set.
#[test]
fn the_first_packet_that_the_host_sends_sets_the_clock_though_others_came_before() {
    let beats = "tests/dissect/followed/beats.mok";
    let (_, mut whole) = captured(beats, "a");
    // At a time of day, from the first packet that came.
    for (at, _) in &mut whole.packets {
        let seconds = u32::from_le_bytes(at[..4].try_into().unwrap()) + 1_700_000_000;
        at[..4].copy_from_slice(&seconds.to_le_bytes());
    }
    let own = [2, 0, 0, 0, 0, 1];
    let is_own = |(_, octets): &([u8; 8], Vec<u8>)| octets[6..12] == own;
    assert!(!is_own(&whole.packets[0]) && whole.packets.iter().filter(|packet| is_own(packet)).count() == 20);
    let set = ["--set", "every=100 ms", "--set", "device.mac=02:00:00:00:00:01"];
    let more = [&["--by", beats, "--stack", "Member"], &set[..]].concat();
    for (name, first) in [("clock.pcap", 0), ("clock-later.pcap", 3)] {
        let mut some = whole.clone();
        some.packets.drain(..first);
        let (lines, end, code) = followed(&some.write(name), &more);
        let are_own: Vec<bool> = some.packets.iter().map(is_own).collect();
        assert_eq!(lines.iter().map(is_sent).collect::<Vec<_>>(), are_own, "{name}");
        if first == 0 {
            assert!(lines.iter().filter(|line| is_sent(line)).all(|line| line["how"] == "same"), "{lines:?}");
            assert_eq!((&end["missing"], code), (&Value::Array(Vec::new()), 0), "{end}");
            assert_eq!(lines[0]["at"], 71_000_000, "{}", lines[0]);
        } else {
            // It begins in the middle: what was heard before is not known, and how often the host has told says the time.
            assert_eq!((&lines[0]["how"], &lines[0]["at"]), (&Value::from("differs"), &Value::from(200_000_000)));
            assert!(lines.iter().skip(1).filter(|line| is_sent(line)).all(|line| line["how"] == "same"), "{lines:?}");
        }
        let file = some.write(name);
        let all = [&["dissect", &file, "--follow"], &more[..]].concat();
        let said = String::from_utf8_lossy(&mokume(&all).stdout).into_owned();
        let told = format!("packet {} sets the stack's clock, and differs", lines[0]["packet"]);
        assert_eq!(said.contains(&told), first != 0, "{said}");
    }
}

/// `tests/dissect/followed/take` takes the capture anew: needed when a layer draws other random numbers than before.
#[test]
fn a_run_against_linux_is_followed_and_its_random_numbers_are_learned() {
    let (known, end, _) = followed(LINUX, &[&OURS[..], &["--seed", "5"]].concat());
    let sent: Vec<&Value> = known.iter().filter(|line| is_sent(line)).collect();
    assert!(sent.iter().all(|line| line["how"] == "same"), "take the capture anew: {LINUX}\n{:?}", amiss(&known));
    assert!(sent.len() > 30 && end["missing"].as_array().unwrap().is_empty(), "{end}");
    let dropped = amiss(&known);
    assert!(dropped.iter().any(|(_, said)| said == "dropped tcp.Connection.asked"), "{dropped:?}");

    let (learned, _, _) = followed(LINUX, &OURS);
    let fields: Vec<&Value> = learned.iter().filter(|line| is_sent(line)).map(|line| &line["learned"]).collect();
    let both = |fields: &&&Value| fields.as_array().unwrap().iter().any(|field| field == "tcp.seq");
    assert_eq!(fields.iter().filter(both).count(), 2, "each connection begins with a number of its own: {fields:?}");
    // The time at which a report of groups is repeated is random too, and no packet contains it: it comes earlier, or later.
    let others: Vec<(u64, String)> = amiss(&learned).into_iter().filter(|one| !dropped.contains(one)).collect();
    assert!(
        others.len() < 6 && others.iter().all(|(_, said)| ["again", "out_of_order"].contains(&said.as_str())),
        "{others:?}"
    );
    assert!(dropped.iter().all(|one| amiss(&learned).contains(one)), "{:?}", amiss(&learned));
}

/// Linux's own end, with our layers in its place; the actions of its application are given for the first packets.
#[test]
fn a_host_that_is_not_ours_is_followed_as_far_as_is_known() {
    let more = [
        "--by",
        "tests/dissect/followed/linux.mok",
        "--network",
        "Linux",
        "--host",
        "linux",
        "--sent",
        "ethernet.source == 92:ed:54:e7:c4:bc",
    ];
    let (lines, end, _) = followed(LINUX, &more);
    let syn = place(&lines, "sent", "tcp syn source=45768", 0);
    let differs = lines[syn]["differs"].as_array().unwrap();
    assert_eq!(lines[syn]["learned"], serde_json::json!(["tcp.seq", "tcp.value"]));
    assert!(differs.iter().all(|field| !field["field"].as_str().unwrap().ends_with("seq")), "{differs:?}");
    assert_eq!(lines[syn + 1]["outputs"][0], "tcp.opened(1, session 0, 10.77.0.1, 45768, 10.77.0.2, 7)");
    assert_eq!(lines[syn + 1]["ended"][0]["state"][0], "state = SynSent");
    assert!(lines[syn + 4]["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .any(|output| output.as_str().unwrap().starts_with("tcp.deliver")));
    // The later actions of its application are not given.
    assert!(end["apart_from"].is_u64(), "{end}");
    let output = mokume(&[&["dissect", LINUX, "--follow"], &more[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("the host's state is not the stack's"), "{text}");
}

/// The lowest layer drops what came before: only what it drops in any state is for others.
#[test]
fn what_came_before_is_not_called_anothers() {
    let file = "tests/dissect/followed/turned_away.mok";
    let record = scratch("turned_away.jsonl");
    assert!(mokume(&["sim", file, "--network", "Three", "--record", &record]).status.success());
    let capture = scratch("turned_away.pcap");
    assert!(mokume(&["show", &record, "--host", "b", "--pcap", &capture]).status.success());
    let all = Capture::read(&capture);
    assert_eq!(all.packets.len(), 4, "two copies of each");
    let (lines, _, code) = followed(&capture, &["--by", file, "--network", "Three", "--host", "b"]);
    let fates: Vec<&str> = lines.iter().filter_map(|line| line["fate"].as_str()).collect();
    assert_eq!(fates, ["taken", "dropped", "not_for_it", "not_for_it"], "{lines:?}");
    assert_eq!(lines[1]["ended"][0]["reason"], "hosts.stale");
    assert_eq!(code, 1);
}

#[test]
fn text_names_layer_event_and_line() {
    let (known, ..) = followed(LINUX, &[&OURS[..], &["--seed", "5"]].concat());
    let asks = place(&known, "came", "tcp syn source=45768", 0) + 1;
    let both = format!("{asks}-{}", asks + 1);
    let output = mokume(&[&["dissect", LINUX, "--follow", "--packets", &both, "--seed", "5"], &OURS[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let wanted = "  dropped: tcp.Connection.asked, by `tcp.Connection` on deliver (library/tcp/listen.mok:";
    assert!(
        text.starts_with(&format!("packet {asks}, "))
            && text.contains(" s, came: tcp syn source=45768")
            && text.contains(wanted),
        "{text}"
    );
    assert!(text.contains(&format!("\n  as the stack sends it\n{} packets at `Host`: ", known.len())), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

/// A device's address that the stack does not read was asked for, though `run` does not ask for it.
#[test]
fn what_the_stack_does_not_read_is_not_asked_for() {
    let text = "worker W(own: u8) {\n    header { n: u8 }\n    on send(msg) { below.send(msg, n: own) }\n\
        \u{20}   on deliver(msg) { above.deliver(msg) }\n}\n\
        stack One(device: Device, own: u8, other: u8) {\n    app = W(own) over device\n    export app\n}\n\
        network N {\n    host a = One(own: 1, other: 2)\n    host b = One(own: 2, other: 2)\n    link l { a.device, b.device }\n\
        \u{20}   at 1 ms  a.app.send_to(\"x\")\n    until 10 ms\n}\n";
    let (file, capture) = (scratch("unread.mok"), scratch("unread.pcap"));
    std::fs::write(&file, text).unwrap();
    assert!(mokume(&["sim", &file, "--pcap", &capture]).status.success());
    let follow = |set: &[&str]| {
        let output = mokume(&[&["dissect", &capture, "--by", &file, "--follow", "--stack", "One"][..], set].concat());
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, text) = follow(&["--set", "own=2"]);
    assert!(code != Some(2) && !text.contains("has no value"), "{text}");
    // What it reads is asked for.
    let (code, text) = follow(&[]);
    assert!(code == Some(2) && text.contains("the stack's parameter `own` has no value"), "{text}");
}

#[test]
fn what_cannot_be_followed_is_said() {
    for (more, part) in [
        (&["--follow"][..], "--by"),
        (&["--by", "examples/courier.mok", "--follow", "--network", "Field"], "--host NAME"),
        (
            &["--by", "examples/courier.mok", "--follow", "--network", "Field", "--host", "sensr"],
            "there are: sensor, collector",
        ),
        (&["--by", "examples/courier.mok", "--follow", "--network", "Feld"], "there is no network `Feld`"),
        (&["--by", "examples/stream.mok", "--follow"], "has no value"),
        (&["--by", "tests/dissect/followed/turned_away.mok", "--follow"], "was taken at: `--network Three --host a`"),
        (&["--by", "examples/host.mok", "--follow", "--set", "address=10.0.0.1/24"], "`--set device.mac=…`"),
        (
            &[
                "--by",
                "examples/router.mok",
                "--follow",
                "--set",
                "lan_address=10.0.0.1/24",
                "--set",
                "wan_address=10.1.0.1/24",
                "--set",
                "lan.mac=02:00:00:00:00:01",
                "--set",
                "wan.mac=02:00:00:00:00:02",
            ],
            "2 devices",
        ),
        (
            &["--by", "examples/meter.mok", "--network", "Street", "--host", "a", "--follow", "--sent", "nobody == 1"],
            "nobody",
        ),
        (&["--by", "examples/meter.mok", "--host", "a"], "--follow"),
    ] {
        let output = mokume(&[&["dissect", LINUX], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(part), "{more:?}: {said}");
    }
    // Settings that are not the host's.
    let wrong =
        ["--by", "examples/stream.mok", "--set", "address=10.9.9.9/24", "--set", "device.mac=02:00:00:00:00:01"];
    let output = mokume(&[&["dissect", "tests/dissect/captures/dns_udp.pcap", "--follow"], &wrong[..]].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("are its settings those of the host?"), "{said}");
}
