//! What went wrong for somebody who wrote a first protocol over UDP, one case each: `tests/newcomer`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().unwrap()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("newcomer");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// A run that ended with reports said so, but not which.
#[test]
fn a_run_with_reports_says_each_with_place_cause_and_time() {
    let output = mokume(&["sim", "tests/newcomer/reports.mok"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout) + &text(&output.stderr);
    for (line, what) in [
        (58, "host `reader` reported misuse, as a timer was due (at 261.0 ms, seed 1)"),
        (62, "host `probe` reported misuse, as frame #11 came (at 268.1 ms, seed 1)"),
    ] {
        let wanted = format!("FAILED tests/newcomer/reports.mok:{line}: {what}");
        assert!(said.contains(&wanted), "{wanted}\n{said}");
    }
    assert!(said.contains("again: mokume sim tests/newcomer/reports.mok --network Plant --seed 1 --log"), "{said}");
}

/// An alternative without a payload was called malformed; only Wireshark's own columns named the protocol of a packet.
#[test]
fn a_packet_without_a_message_is_right_and_says_whose_it_is() {
    let file = "tests/newcomer/alternative.mok";
    let (seen, lua) = (scratch("seen.pcap"), scratch("node.lua"));
    let output = mokume(&["sim", file, "--pcap", &seen]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&mokume(&["dissect", &seen, "--by", file, "--stack", "Node"]).stdout);
    assert!(
        said.contains("Hello low=1 high=2") && said.contains("Response id=1 Tell sensor=3 status=Fine value=215"),
        "{said}"
    );
    assert!(!said.contains("malformed") && !said.contains("refused"), "{said}");
    let output = mokume(&["build", file, "--stack", "Node", "--emit", "wireshark", "-o", &lua]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    for words in [
        "02:00:00:00:00:01 → ff:ff:ff:ff:ff:ff Rfc826",
        "10.0.0.1 → 10.0.0.2     VersionWire 49 Hello low=1 high=2",
        "10.0.0.2 → 10.0.0.1     SensorWire 57 Response id=1 Tell sensor=3 status=Fine value=215",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

/// The halves of an address are one value in the columns.
#[test]
fn halves_of_an_address_are_one_address() {
    let (seen, lua) = (scratch("both.pcap"), scratch("both.lua"));
    let output = mokume(&["sim", "tests/newcomer/halves.mok", "--pcap", &seen]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(mokume(&["build", "examples/host6.mok", "--stack", "Host6", "--emit", "wireshark", "-o", &lua])
        .status
        .success());
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    assert!(said.contains("fd00::1 → fd00::2 ") && said.contains("::0 → ff02::16 "), "{said}");
}

/// The message about something that a wire cannot carry had no place.
#[test]
fn a_wire_that_cannot_carry_a_header_is_shown_with_both() {
    for (file, wanted) in [
        ("tests/newcomer/wire.mok", ["tests/newcomer/wire.mok:133:6", "Versions.Hello", "Versions.Welcome"]),
        ("tests/newcomer/wires.mok", ["tests/newcomer/wires.mok:12:6", "tests/newcomer/wires.mok:14:6", "V.Hello"]),
    ] {
        let output = mokume(&["check", file]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!output.status.success() && wanted.iter().all(|words| said.contains(words)), "{said}");
    }
}

/// A field that hides the layer's state: writes went nowhere.
#[test]
fn a_field_that_hides_state_is_said() {
    let output = mokume(&["check", "tests/newcomer/hidden.mok"]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(
        output.status.success() && said.contains("M0294") && said.contains("tests/newcomer/hidden.mok:5:21"),
        "{said}"
    );
    assert!(said.contains("call the field otherwise here: `version: other`"), "{said}");
}

/// The faults in the places of these diagnostics, one line each.
fn without_a_place(diagnostics: &str) -> Vec<String> {
    let is_placed = |line: &&str| {
        let said: serde_json::Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| said.get(name).cloned().unwrap_or_default();
        of("code").is_null() || (of("file").is_string() && of("line").is_u64() && of("column").is_u64())
    };
    diagnostics.lines().filter(|line| !is_placed(line)).map(str::to_string).collect()
}

/// Every fourth of the wrong programs of `tests/check`, and all of the newcomer's.
#[test]
fn every_error_has_a_place() {
    let names = |folder: &str| {
        let names = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| format!("{folder}/{}", name.to_string_lossy())).collect();
        names.retain(|name| name.ends_with(".mok"));
        names.sort();
        names
    };
    let (mut codes, mut wrong) = (0, Vec::new());
    for file in names("tests/check").into_iter().step_by(4).chain(names("tests/newcomer")) {
        let said = text(&mokume(&["check", &file, "--format", "json"]).stdout);
        codes += said.matches("\"code\":\"M").count();
        wrong.extend(without_a_place(&said));
    }
    println!("FIGURE: diagnostics with a place: {codes}");
    assert!(wrong.is_empty() && codes > 200, "{codes}: {wrong:#?}");
    assert_eq!(without_a_place(r#"{"code":"M0831","message":"nowhere","file":null}"#).len(), 1);
}
