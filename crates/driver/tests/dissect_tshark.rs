//! `mokume dissect` against tshark, on captures of others, about half of them malformed. Every field that tshark shows
//! of an accepted packet consists of bits of our fields, with that value (the table says which). What we refuse, tshark
//! finds wrong, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_base::world::RealWorld;
use mokume_driver::dissect::{self, capture, link, Dissection};

const PROTOCOLS: [&str; 7] = ["eth", "arp", "ip", "icmp", "udp", "ipv6", "icmpv6"];
/// What a line of the table says about a field that is not compared.
const OTHER: [&str; 4] = ["generated", "payload", "group", "padding"];
const ETHERNET: u32 = 1;
/// What may be between the protocols without ending them.
const BESIDE: [&str; 3] = ["geninfo", "frame", "vlan"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dissect")
}

/// A line of tshark's PDML: a protocol or a field, and the protocols and fields around it.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    pub is_field: bool,
    pub depth: usize,
    attributes: BTreeMap<String, String>,
}

impl Shown {
    pub fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> usize {
        self.get(name).parse().unwrap_or(0)
    }
}

/// PDML has an element a line; its attributes are in double quotes.
fn attributes(line: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = line;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else { break };
        let name = name.rsplit(' ').next().unwrap_or("").to_string();
        let plain = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")];
        found.insert(name, plain.iter().fold(value.to_string(), |text, (from, to)| text.replace(from, to)));
        rest = after;
    }
    found
}

fn tshark(file: &Path) -> Option<Vec<Vec<Shown>>> {
    let settings =
        ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "ip.check_checksum:TRUE", "udp.check_checksum:TRUE"];
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "pdml", "-r"]).arg(file);
    settings.iter().for_each(|setting| {
        command.args(["-o", setting]);
    });
    let output = command.output().ok()?;
    pdml(&String::from_utf8_lossy(&output.stdout))
}

/// The lines of each packet.
pub fn pdml(text: &str) -> Option<Vec<Vec<Shown>>> {
    let (mut packets, mut depth) = (Vec::new(), 0usize);
    for line in text.lines().map(str::trim) {
        let is_field = line.starts_with("<field ");
        if line.starts_with("<packet>") {
            packets.push(Vec::new());
            depth = 0;
        } else if is_field || line.starts_with("<proto ") {
            let shown = Shown { is_field, depth, attributes: attributes(line) };
            packets.last_mut()?.push(shown);
            depth += usize::from(!line.ends_with("/>"));
        } else if line.starts_with("</field") || line.starts_with("</proto") {
            depth -= 1;
        }
    }
    Some(packets)
}

/// By tshark's field: its kind, and for `=` our fields.
fn table(text: &str) -> BTreeMap<String, Vec<String>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty());
    let row = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_string);
        (words.next().unwrap_or_default(), words.collect())
    };
    lines.map(row).collect()
}

/// Each bit of the packet that belongs to a field: the field's name, and the bit.
fn bits(dissection: &Dissection) -> BTreeMap<usize, (&str, u64)> {
    let mut bits = BTreeMap::new();
    for field in dissection.layers.iter().flat_map(|layer| &layer.fields) {
        for at in 0..usize::from(field.width) {
            let bit = field.value >> (usize::from(field.width) - 1 - at) & 1;
            bits.insert(field.bit + at, (field.name.as_str(), bit));
        }
    }
    bits
}

/// The bits that a field of tshark shows, counted from its first octet: those that its line writes as digits.
fn shown_bits(shown: &Shown) -> Vec<usize> {
    let all = 8 * shown.number("size");
    let pattern = shown.get("showname").split_once(" = ").map(|(pattern, _)| pattern.replace(' ', ""));
    match pattern.filter(|pattern| pattern.len() == all && pattern.chars().all(|c| matches!(c, '0' | '1' | '.'))) {
        Some(pattern) => pattern.chars().enumerate().filter(|(_, c)| *c != '.').map(|(at, _)| at).collect(),
        None => (0..all).collect(),
    }
}

/// The value that tshark gives, as the bits it shows.
fn value(shown: &Shown, which: &[usize]) -> Option<Vec<u64>> {
    let all = 8 * shown.number("size");
    let digits = shown.get("value");
    let octets: Option<Vec<u64>> = digits.chars().map(|c| c.to_digit(16).map(u64::from)).collect();
    let octets = octets.filter(|digits| !digits.is_empty())?;
    let bit = |from_low: usize| octets.iter().rev().nth(from_low / 4).copied().unwrap_or(0) >> (from_low % 4) & 1;
    // With an unmasked value beside it, the value is shifted down; else it is the octets unchanged.
    match shown.attributes.contains_key("unmaskedvalue") {
        true => Some((0..which.len()).map(|at| bit(which.len() - 1 - at)).collect()),
        false => Some(which.iter().map(|at| bit(all - 1 - at)).collect()),
    }
}

#[derive(Default, Debug)]
struct Judged {
    compared: usize,
    other: usize,
    wrong: Vec<String>,
}

/// Compares all fields of the seven protocols, up to the first other protocol.
fn judge(shown: &[Shown], dissection: &Dissection, table: &BTreeMap<String, Vec<String>>) -> Judged {
    let (bits, mut judged) = (bits(dissection), Judged::default());
    for shown in shown {
        let name = shown.get("name");
        let family = name.split('.').next().unwrap_or("");
        if !shown.is_field && shown.depth == 0 && !PROTOCOLS.contains(&name) && !BESIDE.contains(&name) {
            break;
        }
        if !shown.is_field || !PROTOCOLS.contains(&family) || shown.get("hide") == "yes" {
            continue;
        }
        let Some(row) = table.get(name) else {
            judged.wrong.push(format!("{name} has no line in the table"));
            continue;
        };
        if row[0] != "=" {
            judged.other += 1;
            if !OTHER.contains(&row[0].as_str()) {
                judged.wrong.push(format!("{name} is `{}`, which says nothing", row[0]));
            }
            continue;
        }
        let which = shown_bits(shown);
        let ours: Vec<_> = which.iter().filter_map(|at| bits.get(&(8 * shown.number("pos") + at))).collect();
        let names: BTreeSet<&str> = ours.iter().map(|(name, _)| *name).collect();
        let values: Vec<u64> = ours.iter().map(|(_, bit)| *bit).collect();
        let same = ours.len() == which.len()
            && names.iter().all(|name| row.iter().any(|word| word == name))
            && value(shown, &which).is_none_or(|value| value == values);
        judged.compared += 1;
        if !same {
            judged.wrong.push(format!(
                "{name} = {} at {}, ours {names:?} {values:?}",
                shown.get("value"),
                shown.get("pos")
            ));
        }
    }
    judged
}

/// Whether tshark finds a packet malformed, or a length or checksum of it wrong.
fn finds_wrong(shown: &[Shown]) -> bool {
    shown.iter().any(|shown| {
        let (name, message) = (shown.get("name"), shown.get("show"));
        name == "_ws.malformed"
            || name.contains("checksum_bad")
            || name.ends_with(".bad")
            || name == "_ws.expert.message"
                && ["Bogus", "exceeds", "Malformed"].iter().any(|word| message.contains(word))
    })
}

fn captures(of: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join(of)).expect("captures");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "pcap"));
    files.sort();
    files
}

/// The results for the captures of a folder.
#[derive(Default)]
struct Seen {
    files: usize,
    packets: usize,
    refused: usize,
    /// Packets that only we refuse, as `refused.txt` says.
    listed: usize,
    malformed: BTreeSet<String>,
    judged: Judged,
    /// Fields of tshark that were compared.
    names: BTreeSet<String>,
}

fn judge_all(of: &str) -> Seen {
    let text =
        |name: &str| std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (table, refused) = (table(&text("tshark.txt")), text("refused.txt"));
    let listed: BTreeSet<(&str, &str)> = refused
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(char::is_whitespace))
        .map(|(file, rest)| (file, rest.split_whitespace().next().unwrap_or("")))
        .collect();
    let dissector = dissect::of_library(&RealWorld, None).unwrap_or_else(|failure| panic!("{failure}"));
    let mut seen = Seen::default();
    for file in &captures(of) {
        seen.files += 1;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let capture = capture::read(&file.to_string_lossy()).unwrap_or_else(|failure| panic!("{failure}"));
        let shown = tshark(file).expect("tshark runs");
        let whole = |packet: &capture::Packet| packet.link == ETHERNET && packet.octets.len() >= packet.length as usize;
        for (packet, shown) in capture.packets.iter().zip(&shown).filter(|(packet, _)| whole(packet)) {
            seen.packets += 1;
            let dissection = dissector.dissect(&packet.octets, link::Front::Frame(0));
            if let Some(refusal) = dissection.layers.iter().find_map(|layer| layer.refused.as_ref()) {
                seen.refused += 1;
                seen.malformed.insert(name.clone());
                let is_listed = listed.contains(&(name.as_str(), packet.number.to_string().as_str()));
                seen.listed += usize::from(is_listed);
                if finds_wrong(shown) == is_listed {
                    let text = format!("{name} {}: we refuse it: {refusal:?}; tshark, or the list, not", packet.number);
                    seen.judged.wrong.push(text);
                }
                continue;
            }
            let judged = judge(shown, &dissection, &table);
            seen.judged.compared += judged.compared;
            seen.judged.other += judged.other;
            seen.judged
                .wrong
                .extend(judged.wrong.into_iter().map(|wrong| format!("{name} {}: {wrong}", packet.number)));
            let named = shown.iter().map(|shown| shown.get("name").to_string());
            seen.names.extend(named.filter(|name| table.get(name).is_some_and(|row| row[0] == "=")));
        }
    }
    println!(
        "FIGURE: dissect against tshark, {of}: {} captures, {} of them malformed, {} packets, {} refused by both, {} by us \
         with an RFC; {} fields compared, {} generated, groups or of the payload, {} differences",
        seen.files,
        seen.malformed.len(),
        seen.packets,
        seen.refused - seen.listed,
        seen.listed,
        seen.judged.compared,
        seen.judged.other,
        seen.judged.wrong.len()
    );
    println!("malformed: {}", seen.malformed.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    assert!(seen.judged.wrong.is_empty(), "{}", seen.judged.wrong.join("\n"));
    seen
}

pub fn is_there() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok();
    if !there {
        println!("SKIPPED: tshark is not installed");
    }
    there
}

#[test]
fn tshark_says_the_same() {
    if !is_there() {
        return;
    }
    let seen = judge_all("captures");
    assert!(seen.files >= 20 && seen.malformed.len() * 2 >= seen.files && seen.judged.compared > 5000);
}

/// `MOKUME_CAPTURES=FOLDER ./campaign captures` compares the captures of a folder, as far as they are Ethernet and
/// complete.
#[test]
#[ignore = "campaign: captures"]
fn tshark_says_the_same_of_a_folder() {
    match std::env::var("MOKUME_CAPTURES") {
        Ok(folder) if is_there() => drop(judge_all(&folder)),
        _ => println!("SKIPPED: no MOKUME_CAPTURES"),
    }
}

/// Messages in forms that the captures of others lack; none of the malformed ones is accepted.
#[test]
fn tshark_says_the_same_of_captures_made_for_it() {
    if !is_there() {
        return;
    }
    let seen = judge_all("made");
    let malformed = capture::read(&folder().join("made/malformed.pcap").to_string_lossy()).expect("a capture");
    assert_eq!(seen.refused, malformed.packets.len(), "all of malformed.pcap, and no other");
    assert_eq!(seen.malformed.iter().collect::<Vec<_>>(), ["malformed.pcap"]);
    let wanted = ["icmpv6.mldr.mar.source_address", "icmpv6.mldr.mar.auxiliary_data", "icmpv6.mld.source_address"];
    wanted.iter().for_each(|name| assert!(seen.names.contains(*name), "{name} was not compared"));
}

/// The comparison itself finds a value that is not ours, a field without a line, and a packet that only we refuse.
#[test]
fn planted_differences_are_found() {
    let line = |text: &str| Shown { is_field: true, depth: 1, attributes: attributes(text) };
    let dissector = dissect::of_library(&RealWorld, None).unwrap_or_else(|failure| panic!("{failure}"));
    let frame = [&[2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x12, 0x34][..], &[7; 8]].concat();
    let dissection = dissector.dissect(&frame, link::Front::Frame(0));
    let table = table("eth.type = type\neth.dst = source\neth.src.ig = source\n");
    let judged = |text: &str| judge(&[line(text)], &dissection, &table).wrong.len();
    assert_eq!(judged(r#"<field name="eth.type" showname="Type: 0x1234" size="2" pos="12" value="1234"/>"#), 0);
    assert_eq!(judged(r#"<field name="eth.type" showname="Type: 0x1235" size="2" pos="12" value="1235"/>"#), 1);
    assert_eq!(judged(r#"<field name="eth.type" showname="Type: 0x1234" size="2" pos="11" value="1234"/>"#), 1);
    assert_eq!(judged(r#"<field name="eth.dst" showname="D" size="6" pos="0" value="020000000001"/>"#), 1);
    assert_eq!(judged(r#"<field name="eth.other" showname="D" size="1" pos="0" value="02"/>"#), 1);
    let bit = r#"<field name="eth.src.ig" showname=".... ...0 = IG" size="1" pos="6" unmaskedvalue="02" value="0"/>"#;
    assert_eq!(judged(bit), 0);
    assert_eq!(judged(&bit.replace("value=\"0\"", "value=\"1\"")), 1);
    assert!(!finds_wrong(&[line(r#"<field name="ip.checksum" show="0x1"/>"#)]));
    assert!(finds_wrong(&[line(r#"<field name="ip.checksum_bad.expert" show=""/>"#)]));
}
