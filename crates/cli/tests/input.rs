//! `-` in place of a file: the program, or the record, comes from the standard input, and nothing is written to `-`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::apart::{said, written};

/// Runs the command in a folder, with this on its standard input.
pub fn mokume(arguments: &[&str], input: &[u8], at: &Path) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .args(arguments)
        .current_dir(at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn a_program_comes_from_the_standard_input() {
    let meter = std::fs::read(root().join("examples/meter.mok")).unwrap();
    let whole = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_string_lossy().into_owned();
    let (capture, record) = (whole("input.pcap"), whole("input.jsonl"));
    let commands: [(&[&str], &str); 7] = [
        (&["test", "-", "--backend", "interpreter"], "2 passed, 0 failed"),
        (&["sim", "-", "--pcap", &capture, "--record", &record], "14 frames in"),
        (&["sim", "-", "--seeds", "2"], "2 passed, 0 failed"),
        (&["size", "-", "--stack", "House"], "meter.Metering"),
        (&["graph", "-", "--stack", "House"], "Metering"),
        (&["path", "-", "--stack", "House"], "device.frame"),
        (&["build", "-", "--stack", "House", "--emit", "automaton"], "automaton House"),
    ];
    for (words, says) in commands {
        let output = mokume(words, &meter, root());
        assert!(output.status.success() && said(&output).contains(says), "{words:?}: {}", said(&output));
    }
    let shown = mokume(&["show", "-", "--runs"], &std::fs::read(&record).unwrap(), root());
    assert!(shown.status.success() && said(&shown).contains("Street"), "{}", said(&shown));
}

/// A function in C ends the process that runs the second test; the process of the third reads the same program.
#[test]
fn each_child_reads_the_same_program() {
    let file = written("input", "#include <stdlib.h>", "abort();");
    let text = std::fs::read(&file).unwrap();
    let told = |name: &str| {
        let output = mokume(&["test", name, "--backend", "interpreter"], &text, file.parent().unwrap());
        said(&output).replace("standard input", "s.mok")
    };
    assert!(told("s.mok").contains("2 passed, 1 failed"), "{}", told("s.mok"));
    assert_eq!(told("-"), told("s.mok"));
}

#[test]
fn the_standard_input_is_read_for_one_thing_and_never_written() {
    let capture = root().join("tests/dissect/followed/linux.pcap").to_string_lossy().into_owned();
    let cases: [&[&str]; 11] = [
        &["show", "-", "--against", "-"],
        &["run", "-", "--device", "pcap:-"],
        &["debug", "-"],
        &["connect", "10.0.0.1", "80", "--file", "-"],
        &["run", "-", "--lines", "app.send(line)"],
        &["dissect", "-", "--by", "-"],
        &["sim", "-", "--pcap", "-"],
        &["sim", "examples/meter.mok", "--chart", "-"],
        &["show", "-", "--html", "-"],
        &["build", "-", "-o", "-"],
        &["test", "-", "examples/meter.mok"],
    ];
    for words in cases {
        let output = mokume(words, b"worker W {}\n", root());
        assert!(output.status.code() == Some(2), "{words:?}: {}", said(&output));
        assert!(said(&output).contains("standard input"), "{words:?}: {}", said(&output));
    }
    assert!(!root().join("-").exists());
    let program = std::fs::read(root().join("examples/host.mok")).unwrap();
    let output = mokume(&["dissect", &capture, "--by", "-"], &program, root());
    assert!(output.status.success(), "{}", said(&output));
}
