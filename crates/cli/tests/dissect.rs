//! `mokume dissect` as its user sees it: text, JSON, selected packets, a stack of one's own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

/// A name of an enum's value with another enum's name in front means nothing here.
#[test]
fn a_filter_takes_an_enums_name_in_front_of_its_values() {
    let filtered = |filter: &str| {
        let arguments = ["dissect", "tests/dissect/lists.pcap", "--by", "tests/dissect/sensors.mok", "--stack", "Node"];
        let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(arguments)
            .args(["--filter", filter])
            .current_dir(root())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(filtered("status == Other.Fine").contains("Other.Fine"), "{}", filtered("status == Other.Fine"));
    for right in ["status == Status.Fine", "status == Fine"] {
        assert!(!filtered(right).contains("Fine"), "{}", filtered(right));
    }
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

/// A capture in pcap form, of packets of one link.
fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4u32, 4 << 16 | 2, 0, 0, 65535, link].map(u32::to_le_bytes).concat();
    for packet in packets {
        let size = packet.len() as u32;
        file.extend([[7, 0, size, size].map(u32::to_le_bytes).concat(), packet.clone()].concat());
    }
    file
}

/// An IPv6 packet with an echo request; its sum covers addresses, and is not checked.
fn packet6() -> Vec<u8> {
    let hosts = [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]; 2].concat();
    [&[0x60, 0, 0, 0, 0, 8, 58, 64][..], &hosts, &[128, 0, 0, 0, 0, 7, 0, 9]].concat()
}

/// An empty datagram.
fn packet4() -> Vec<u8> {
    let head = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x66, 0xcf, 10, 0, 0, 1, 10, 0, 0, 2];
    [&head[..], &[0, 7, 0, 9, 0, 8, 0, 0]].concat()
}

fn of_file(name: &str, octets: &[u8], more: &[&str]) -> Output {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, octets).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(["dissect", &file.to_string_lossy()]).args(more).current_dir(root()).output().expect("mokume runs")
}

#[test]
fn packets_without_a_frame_are_read_as_their_link_says() {
    for (link, packets) in [(101, [packet4(), packet6()]), (228, [packet4(), packet4()]), (229, [packet6(), packet6()])]
    {
        let output = of_file(&format!("raw-{link}.pcap"), &pcap(link, &packets), &[]);
        let text = text(&output);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.contains("  ip by Rfc791Read, octets 0 to 20"), link != 229, "{text}");
        assert_eq!(text.contains("  ip6 by Rfc8200Read, octets 0 to 40"), link != 228, "{text}");
        assert!(!text.contains("ethernet") && !text.contains("malformed"), "{text}");
    }
    let behind = |family: &[u8], packet: Vec<u8>| [family, &packet].concat();
    let families =
        [behind(&[2, 0, 0, 0], packet4()), behind(&[30, 0, 0, 0], packet6()), behind(&[0, 0, 0, 24], packet6())];
    let shown = text(&of_file("null.pcap", &pcap(0, &families), &[]));
    for line in [
        "       0  family  u32  2 = 0x00000002",
        "  ip by Rfc791Read, octets 4 to 24",
        "  ip6 by Rfc8200Read, octets 4 to 44",
    ] {
        assert!(shown.contains(line), "{line:?} in\n{shown}");
    }
    assert_eq!(shown.matches("  echo_request6 by").count(), 2, "{shown}");
    let shown = text(&of_file("loop.pcap", &pcap(108, &[behind(&[0, 0, 0, 2], packet4()), vec![0, 0]]), &[]));
    assert!(
        shown.contains("  ip by Rfc791Read, octets 4 to 24") && shown.contains("not decoded: 2 octets from 0"),
        "{shown}"
    );
    let by = of_file("by.pcap", &pcap(101, &[packet4()]), &["--by", "examples/host.mok"]);
    assert!(text(&by).contains("by Rfc791, octets 0 to 20"), "{}", text(&by));
}

#[test]
fn a_link_that_the_stack_has_no_wire_for_is_refused_by_name() {
    for (link, by, name) in [
        (113, &[][..], "LINUX_SLL (113)"),
        (147, &[][..], "USER0 (147)"),
        (9, &["--by", "examples/host.mok"][..], "PPP (9)"),
        (101, &["--by", "tests/program/vectors_in_headers.mok", "--stack", "Reported"][..], "RAW (101)"),
        (4711, &[][..], "4711"),
    ] {
        let output = of_file(&format!("refused-{link}.pcap"), &pcap(link, &[packet4()]), by);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text(&output).as_str()), (Some(2), ""), "{said}");
        assert!(said.contains(&format!("of link {name}, of which stack")) && said.contains(';'), "{said}");
    }
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// Interfaces of several links, unknown options, and invalid text.
fn pcapng() -> Vec<u8> {
    let section =
        block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let interface = |link: u8| {
        block(1, &[link, 0, 0, 0, 0, 0, 4, 0, 1, 0, 2, 0, 0xc3, 0x28, 0, 0, 0x99, 0x99, 1, 0, 7, 0, 0, 0, 11, 0, 0, 0])
    };
    let packet = |of: u8, octets: &[u8]| {
        let size = (octets.len() as u32).to_le_bytes();
        block(6, &[&[of, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &size, &size, octets].concat())
    };
    let frame = [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &packet4()].concat();
    let packets = [packet(0, &frame), packet(1, &packet6()), packet(2, &packet4()), packet(0, &frame)].concat();
    [section, interface(1), interface(101), interface(113), block(0xbad, b"?"), packets].concat()
}

#[test]
fn a_capture_of_several_links_is_read_where_it_can_be_and_fails() {
    let output = of_file("several.pcapng", &pcapng(), &[]);
    let (shown, said) = (text(&output), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(2), "{said}");
    let numbers: Vec<&str> =
        shown.lines().filter_map(|line| line.strip_prefix("packet ")).map(|rest| &rest[..1]).collect();
    assert_eq!(numbers, ["1", "2", "4"], "{shown}");
    assert!(said.contains("1 packet is of link LINUX_SLL (113)"), "{said}");
    let some = of_file("several.pcapng", &pcapng(), &["--packets", "1,2"]);
    assert!(some.status.success(), "what is not asked for is not missed");
}

/// Each packet is shown when it arrives, before the stream has ended.
#[test]
fn the_standard_input_is_read_as_it_comes() {
    let octets = pcap(101, &[packet4(), packet6()]);
    for file in [octets, pcapng()] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
        command
            .args(["dissect", "-", "--packets", "1-2", "--format", "json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("mokume runs");
        let mut input = child.stdin.take().expect("its input");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let second = packet6();
        let place = file.windows(second.len()).position(|at| at == second).expect("the second packet") - 4;
        input.write_all(&file[..place]).expect("taken");
        input.flush().expect("taken");
        let first = lines.next().expect("a line, while the rest has not come").expect("text");
        assert!(first.contains("\"packet\":1"), "{first}");
        input.write_all(&file[place..]).expect("taken");
        assert!(lines.next().expect("a line").expect("text").contains("\"packet\":2"));
        // It does not wait for unrequested packets.
        assert!(child.wait().expect("an end").success());
        drop(input);
    }
}

/// The internet checksum.
fn summed(octets: &[u8]) -> [u8; 2] {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let mut sum: u32 = octets.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    (!(sum as u16)).to_be_bytes()
}

/// A datagram with "hello" over IPv4, and an echo request over IPv6 behind a header of options, both correct.
fn frames() -> [Vec<u8>; 2] {
    let link = |kind: [u8; 2]| [&[2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind].concat();
    let (from, to) = ([10u8, 0, 0, 1], [10u8, 0, 0, 2]);
    let mut udp = [&[0x10u8, 0, 0x20, 0, 0, 13, 0, 0][..], b"hello"].concat();
    let sum = summed(&[&from[..], &to, &[0, 17, 0, 13], &udp, &[0]].concat());
    udp[6..8].copy_from_slice(&sum);
    let mut ip = [&[0x45u8, 0, 0, 33, 0, 0, 0, 0, 64, 17, 0, 0][..], &from, &to].concat();
    let sum = summed(&ip);
    ip[10..12].copy_from_slice(&sum);
    let (from, to) = ([0xfdu8; 16], [0xfeu8; 16]);
    let mut icmp = [&[128u8, 0, 0, 0, 0, 1, 0, 2][..], b"12345678"].concat();
    let sum = summed(&[&from[..], &to, &[0, 0, 0, 16, 0, 0, 0, 58], &icmp].concat());
    icmp[2..4].copy_from_slice(&sum);
    let options = [58u8, 0, 1, 4, 0, 0, 0, 0];
    let ip6 = [&[0x60u8, 0, 0, 0, 0, 24, 0, 64][..], &from, &to].concat();
    [[link([8, 0]), ip, udp].concat(), [link([0x86, 0xdd]), ip6, options.to_vec(), icmp].concat()]
}

/// The output for packets of which this many octets were captured.
fn dissected(name: &str, packets: &[(Vec<u8>, usize)]) -> String {
    let word = |word: usize| (word as u32).to_le_bytes();
    let mut file: Vec<u8> = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, 1].into_iter().flat_map(word).collect();
    for (octets, captured) in packets {
        file.extend([0, 0, *captured, octets.len()].into_iter().flat_map(word));
        file.extend(&octets[..*captured]);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(["dissect", &path.to_string_lossy()]).output();
    let output = output.expect("mokume runs");
    assert!(output.status.success(), "{output:?}");
    text(&output)
}

/// Octets missing from the capture are no fault of the packet, wherever it is cut; faults before the cut are still
/// reported.
#[test]
fn what_a_capture_cuts_off_is_not_malformed() {
    for frame in frames() {
        let cuts: Vec<(Vec<u8>, usize)> = (1..frame.len()).map(|captured| (frame.clone(), captured)).collect();
        let said = dissected("cut.pcap", &cuts);
        assert!(!said.contains("malformed") && !said.contains("refused"), "{said}");
        // After the headers only the payload is cut, which the packet's first line says.
        assert!(said.matches("cut by the capture").count() > 30, "{said}");
        let said = dissected("whole.pcap", &[(frame.clone(), frame.len())]);
        assert!(!said.contains("cut by") && !said.contains("malformed") && !said.contains("refused"), "{said}");
    }
    let mut wrong = frames()[0].clone();
    wrong[14] = 0x55;
    let said = dissected("wrong_and_cut.pcap", &[(wrong, 40)]);
    assert!(said.contains("malformed at octet 14"), "{said}");
}

/// A stack drops these; over IPv4, it takes a datagram without a checksum.
#[test]
fn a_checksum_over_addresses_is_looked_at() {
    let [udp, icmp] = frames();
    let changed = |frame: &[u8], at: usize, by: u8| {
        let mut frame = frame.to_vec();
        frame[at] ^= by;
        (frame.clone(), frame.len())
    };
    let (last, sum) = (udp.len() - 1, u16::from_be_bytes([udp[40], udp[41]]));
    let said = dissected("udp_sum.pcap", &[changed(&udp, last, 1)]);
    assert!(said.contains("    refused at octet 40: `sum` is not the checksum of what is there"), "{said}");
    let said = dissected("udp_addresses.pcap", &[changed(&udp, 40, 0x80)]);
    assert!(said.contains(&format!("is not the checksum of what is there, {sum:#06x}")), "{said}");
    let mut none = udp.clone();
    none[40..42].copy_from_slice(&[0, 0]);
    let said = dissected("udp_none.pcap", &[(none, udp.len())]);
    assert!(!said.contains("refused"), "{said}");
    let said = dissected("icmp6_sum.pcap", &[changed(&icmp, icmp.len() - 1, 1)]);
    assert!(said.contains("    refused at octet 64: `sum` is not the checksum of what is there"), "{said}");
    let cut = changed(&icmp, icmp.len() - 1, 1).0;
    let said = dissected("icmp6_cut.pcap", &[(cut, icmp.len() - 2)]);
    assert!(!said.contains("refused"), "{said}");
}

/// A frame over IPv4 with these options, and a datagram in it whose sum is over this destination.
fn with_options(options: &[u8], summed_for: [u8; 4]) -> Vec<u8> {
    let [udp, _] = frames();
    let (from, words) = ([10u8, 0, 0, 1], 5 + options.len() / 4);
    let mut datagram = udp[34..].to_vec();
    datagram[6..8].copy_from_slice(&[0, 0]);
    let sum = summed(&[&from[..], &summed_for, &[0, 17, 0, 13], &datagram, &[0]].concat());
    datagram[6..8].copy_from_slice(&sum);
    let mut ip = [&udp[14..34], options].concat();
    ip[0] = 0x40 | words as u8;
    ip[3] = (words * 4 + datagram.len()) as u8;
    ip[10..12].copy_from_slice(&[0, 0]);
    let sum = summed(&ip);
    ip[10..12].copy_from_slice(&sum);
    [&udp[..14], &ip, &datagram].concat()
}

/// What by options may count instead of an address cannot be known: the sum is not said to be wrong.
#[test]
fn a_sum_over_what_an_unread_option_may_replace_is_not_said_to_be_wrong() {
    let last = [10, 0, 0, 99];
    let wrong = "`sum` is not the checksum of what is there";
    for kind in [131, 137] {
        let frame = with_options(&[kind, 7, 4, 10, 0, 0, 99, 0], last);
        let said = dissected("routed.pcap", &[(frame.clone(), frame.len())]);
        assert!(said.contains("udp by") && !said.contains(wrong), "{said}");
    }
    // Nothing in it, and read: both leave no doubt.
    for options in [[1, 1, 1, 0], [148, 4, 0, 1]] {
        let frame = with_options(&options, last);
        let said = dissected("alert.pcap", &[(frame.clone(), frame.len())]);
        assert!(said.contains(wrong), "{said}");
    }
}

/// A layer that walks over options or parts of a packet is followed with what the packet has.
#[test]
fn what_a_layer_finds_in_a_loop_over_the_packet_is_known() {
    let by = |name: &str, frame: Vec<u8>, file: &str| text(&of_file(name, &pcap(1, &[frame]), &["--by", file]));
    for options in [[7, 0, 4, 0], [1, 1, 7, 9]] {
        let said = by("zero.pcap", with_options(&options, [10, 0, 0, 2]), "examples/host.mok");
        assert!(said.contains("dropped in any state: ") && said.contains("ip.Bare.bad_option"), "{said}");
    }
    let said = by("good.pcap", with_options(&[7, 3, 4, 0], [10, 0, 0, 2]), "examples/host.mok");
    assert!(!said.contains("dropped in any state"), "{said}");
    let (nobody, asked) = ([0u8; 16], [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 1]);
    let target = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    for option in [&[1u8, 1, 2, 0, 0, 0, 0, 2][..], &[14, 1, 2, 0, 0, 0, 0, 2]] {
        let mut icmp = [&[135u8, 0, 0, 0, 0, 0, 0, 0][..], &target, option].concat();
        let sum = summed(&[&nobody[..], &asked, &[0, 0, 0, 32, 0, 0, 0, 58], &icmp].concat());
        icmp[2..4].copy_from_slice(&sum);
        let link = [0x33, 0x33, 0xff, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
        let head = [0x60, 0, 0, 0, 0, 32, 58, 255];
        let said = by("asked.pcap", [&link[..], &head, &nobody, &asked, &icmp].concat(), "examples/host6.mok");
        let is_refused = said.contains("dropped in any state: neighbours.malformed");
        assert_eq!(is_refused, option[0] == 1, "{said}");
    }
}

/// A packet that is its own only fragment is not a fragment (RFC 6946): its checksum covers what is there. Over IPv6 a
/// checksum is required (RFC 8200 8.1).
#[test]
fn checksums_over_ipv6_are_looked_at_behind_a_part_and_must_be_there() {
    let [_, mut icmp] = frames();
    icmp[20] = 44;
    icmp[54..62].copy_from_slice(&[58, 0, 0, 0, 0, 0, 0, 7]);
    let said = dissected("atomic.pcap", &[(icmp.clone(), icmp.len())]);
    assert!(said.contains("parts_icmp6") && !said.contains("refused"), "{said}");
    let last = icmp.len() - 1;
    icmp[last] ^= 1;
    let said = dissected("atomic_sum.pcap", &[(icmp.clone(), icmp.len())]);
    assert!(said.contains("    refused at octet 64: `sum` is not the checksum of what is there"), "{said}");
    let udp = [&icmp[..54], &[0x10, 0, 0x20, 0, 0, 24, 0, 0], &[0; 16]].concat();
    let udp = [&udp[..20], &[17], &udp[21..]].concat();
    let said = dissected("udp6_none.pcap", &[(udp.clone(), udp.len())]);
    assert!(said.contains("    malformed at octet 60: Rfc768Over6Read.sum"), "{said}");
}

/// A segment over IPv4 with these octets after its first twelve, with its checksum.
fn segment(rest: &[u8]) -> Vec<u8> {
    let (from, to) = ([10u8, 0, 0, 1], [10u8, 0, 0, 2]);
    let mut tcp = [&[0, 5, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2][..], rest].concat();
    let sum = summed(&[&from[..], &to, &[0, 6, 0, tcp.len() as u8], &tcp].concat());
    tcp[16..18].copy_from_slice(&sum);
    let mut ip = [&[0x45u8, 0, 0, 20 + tcp.len() as u8, 0, 0, 0, 0, 64, 6, 0, 0][..], &from, &to].concat();
    let sum = summed(&ip);
    ip[10..12].copy_from_slice(&sum);
    [&[2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &ip, &tcp].concat()
}

/// RFC 9293 3.1, by the library's own stack.
#[test]
fn a_segment_is_read_with_its_options_and_what_is_wrong_with_it_is_told() {
    let read = |name: &str, frame: Vec<u8>| dissected(name, &[(frame.clone(), frame.len())]);
    let good = segment(&[0x60, 2, 0x20, 0, 0, 0, 0, 0, 2, 4, 5, 0xb4]);
    let said = read("segment.pcap", good.clone());
    for line in ["  tcp by Rfc9293Read, octets 34 to 58", "    47.6  syn          u1   1", "1460 = 0x05b4"] {
        assert!(said.contains(line), "{line:?} in\n{said}");
    }
    assert!(!said.contains("malformed") && !said.contains("refused"), "{said}");
    let mut changed = good.clone();
    changed[57] ^= 1;
    let said = read("segment_sum.pcap", changed);
    assert!(said.contains("    refused at octet 50: `sum` is not the checksum of what is there"), "{said}");
    let said = read("segment_words.pcap", segment(&[0x40, 2, 0x20, 0, 0, 0, 0, 0]));
    assert!(said.contains("malformed at octet 46: Rfc9293Read.words"), "{said}");
    let said = read("segment_option.pcap", segment(&[0x60, 2, 0x20, 0, 0, 0, 0, 0, 2, 0, 5, 0xb4]));
    assert!(said.contains("malformed at octet 55: Rfc9293Read.length"), "{said}");
    // The first fragment of a datagram has the ports; its checksum covers more than is there.
    let mut part = good;
    part[20] = 0x20;
    part[24..26].copy_from_slice(&[0, 0]);
    let sum = summed(&part[14..34]);
    part[24..26].copy_from_slice(&sum);
    let said = read("segment_part.pcap", part);
    assert!(said.contains("  first_tcp by ") && !said.contains("refused"), "{said}");
}

/// A host's stack reassembles fragments before its upper layers read them; the library's own stack knows which packets
/// are fragments.
#[test]
fn a_part_is_not_read_as_if_it_were_the_whole() {
    let part = |front: [u8; 2], payload: &[u8]| {
        let (from, to) = ([10u8, 0, 0, 1], [10u8, 0, 0, 2]);
        let mut ip =
            [&[0x45u8, 0, 0, 20 + payload.len() as u8, 0, 7, front[0], front[1], 64, 17, 0, 0][..], &from, &to]
                .concat();
        let sum = summed(&ip);
        ip[10..12].copy_from_slice(&sum);
        [&[2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &ip, payload].concat()
    };
    let first = part([0x20, 0], &[&[0u8, 5, 0, 80, 0, 24, 0x12, 0x34][..], &[0; 8]].concat());
    let last = part([0, 2], &[0x78; 8]);
    let whole = part([0x40, 0], &[&[0u8, 5, 0, 80, 0, 16, 0, 0][..], &[0; 8]].concat());
    let output = of_file("parts.pcap", &pcap(1, &[first, last, whole]), &["--by", "examples/client.mok"]);
    let said = text(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(!said.contains("malformed") && !said.contains("refused"), "{said}");
    assert_eq!(said.matches("  not decoded, a part: ").count(), 2, "{said}");
    assert!(said.contains("  not decoded, a part: 16 octets from 34") && said.contains("  udp by "), "{said}");
}

/// What a layer takes off a message without a field of its own was shown nowhere: only its range of octets had them.
#[test]
fn octets_that_a_layer_takes_off_are_shown() {
    const TEXT: &str = "worker Lengths {
    header { count: u8 }
    on send(msg) {
        let whole = message(x\"0000\")
        whole.put_u16be(0, msg.size as u16)
        whole.join(msg)
        below.send(whole, count: 1)
    }
    on deliver(msg, count) {
        if count != 1 or msg.size < 2 {
            drop msg: odd
            return
        }
        msg.skip(2)
        above.deliver(msg)
    }
}
stack One(device: Device) {
    app = Lengths over device
    export app
}
network Two {
    host a = One()
    host b = One()
    link line { a.device, b.device   delay 1 ms }
    at 1 ms  a.app.send_to(\"hello\")
    until 1 s
}
";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("taken_off");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, seen) = (folder.join("lengths.mok"), folder.join("seen.pcap"));
    let (file, seen) = (file.to_string_lossy(), seen.to_string_lossy());
    std::fs::write(&*file, TEXT).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["sim", &file, "--pcap", &seen]);
    let said = run(&["dissect", &seen, "--by", &file, "--stack", "One"]);
    assert!(said.contains("    taken off: 2 octets from 1\n       1  00 05 "), "{said}");
    assert!(said.contains("not decoded: 5 octets from 3"), "{said}");
}

/// A header with one alternative is no record: its name stands where those of several do.
#[test]
fn the_only_alternative_of_a_header_has_its_name() {
    let frames = pcap(147, &[vec![1, 7, 9, b'x'], vec![1, 8, 9, b'y']]);
    let by = ["--by", "tests/program/single_alternative.mok", "--stack", "Over", "--filter"];
    let filtered = |filter: &str| text(&of_file("single.pcap", &frames, &[&by[..], &[filter]].concat()));
    for filter in ["Hello and who == 7", "BothWire.Hello.who == 7", "Hello.who < 8"] {
        let said = filtered(filter);
        assert!(said.contains("Hello who=7 Mark what=9"), "{filter}: {said}");
        assert!(!said.contains("who=8"), "{filter}: {said}");
    }
}

/// A number that has a name says something, also if it is 0: of a header with many fields the summary has it.
#[test]
fn names_of_enums_that_are_0_stand_in_summaries() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("states.mok");
    let source = "enum State: u8 { AdminDown = 0, Down = 1 }
worker Says {
    header { state: State, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, id: u8 }
    on send(msg) { below.send(msg, state: State.Down, a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, id: 1) }
    on deliver(msg, state) { if state == State.Down { drop msg: down } else { above.deliver(msg) } }
}
bundle Saying = Says encoded Said
wire Said big {
    state: u8 = Says.state
    a: u8 = Says.a  b: u8 = Says.b  c: u8 = Says.c  d: u8 = Says.d  e: u8 = Says.e  f: u8 = Says.f
    id: u8 = Says.id
}
stack S(device: Device) {
    app = Saying over device
    export app
}
";
    std::fs::write(&file, source).expect("written");
    let frames = pcap(147, &[vec![0, 0, 0, 0, 0, 0, 0, 9]]);
    let said = text(&of_file("states.pcap", &frames, &["--by", &file.to_string_lossy(), "--stack", "S"]));
    assert!(said.lines().next().is_some_and(|first| first.ends_with(": state=AdminDown id=9")), "{said}");
}
