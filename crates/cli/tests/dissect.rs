//! `mokume dissect` as its user meets it: text, JSON, a choice of packets, a stack of one's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn dissect(capture: &str, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(["dissect", &format!("tests/dissect/captures/{capture}.pcap")]).args(more);
    command.current_dir(root()).output().expect("mokume runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn fields_stand_with_their_places_and_values() {
    let output = dissect("dns_udp", &["--packets", "1"]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("packet 1: "), "{text}");
    for line in ["      12  type         u16  2048 = 0x0800", "    14.4  words            u4   5", "  not decoded: "] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    assert!(!text.contains("packet 2"));
}

#[test]
fn a_malformed_packet_says_where_and_why() {
    let output = dissect("cve-2014-8767-OLSR", &[]);
    assert!(text(&output).contains("    malformed at octet 24: Rfc791Read.sum\n"), "{}", text(&output));
}

#[test]
fn a_list_is_shown_element_by_element_and_one_too_long_is_malformed() {
    let by =
        ["dissect", "tests/dissect/lists.pcap", "--by", "tests/program/vectors_in_headers.mok", "--stack", "Reported"];
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(by).current_dir(root()).output().expect("mokume runs");
    let text = text(&output);
    for line in ["       1  count    u8   2", "       6  address  u32  167772161", "      10  address  u32  167772162"]
    {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    assert!(text.contains("    malformed at octet 1: Report.count\n"), "{text}");
}

#[test]
fn a_list_in_a_list_is_shown_where_it_stands_and_one_cut_off_is_malformed() {
    let shown = text(&dissect("../made/listeners", &["--packets", "8"]));
    let lines = [
        "      68  records          u16  2 = 0x0002",
        "      92  count            u16  1 = 0x0001",
        "     110  source_high      u64  2001:0db8:0000:0000",
    ];
    lines.iter().for_each(|line| assert!(shown.contains(line), "{line:?} in\n{shown}"));
    let cut = text(&dissect("../made/malformed", &["--packets", "5"]));
    assert!(cut.contains("    malformed at octet 122: hops_listeners6.Report3810.short\n"), "{cut}");
}

#[test]
fn json_is_an_object_a_packet() {
    let output = dissect("ipv6-bad-version", &["--format", "json"]);
    let packets: Vec<serde_json::Value> =
        text(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(packets.len(), 4);
    let (good, bad) = (&packets[0]["layers"], &packets[1]["layers"]);
    assert_eq!(good[0]["fields"][2]["name"], "type");
    assert_eq!(good[0]["fields"][2]["value"], 0x86dd);
    assert_eq!(good[1]["malformed"], serde_json::Value::Null);
    assert_eq!(bad[1]["malformed"]["reason"], "Rfc8200Read.version");
    assert_eq!(bad[1]["malformed"]["octet"], 14);
}

#[test]
fn a_stack_of_ones_own_says_which_wire_follows() {
    let output = dissect("dns_udp", &["--by", "examples/host.mok", "--packets", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(&output).contains("by Rfc768, octets 34 to 42"), "{}", text(&output));
}

#[test]
fn what_cannot_be_is_said() {
    assert_eq!(dissect("dns_udp", &["--packets", "7-3"]).status.code(), Some(2));
    assert_eq!(dissect("there_is_none", &[]).status.code(), Some(2));
}
