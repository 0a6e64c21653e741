//! What readers of messages stumbled over: each says what is wrong, and what to do.

use std::path::Path;
use std::process::{Command, Output};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An empty folder.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn mokume_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(folder).output().unwrap()
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// Fails unless the command ends with this code and says all of these.
fn says(output: &Output, code: i32, words: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    words.iter().for_each(|word| assert!(said.contains(word), "{word:?} in\n{said}"));
}

const PLAIN: &str = "worker Plain { }\nstack S(device: Device) {\n    app = Plain over device\n    export app\n}\n";
const LINK: &str =
    "network N {\n    host a = S()\n    host b = S()\n    link l { a.device, b.device }\n    until 1 s\n}\n";

#[test]
fn a_file_that_is_there_and_cannot_be_read_is_not_said_to_be_missing() {
    let folder = folder("unread");
    std::fs::write(folder.join("octets.mok"), b"// \xff\n").unwrap();
    std::fs::create_dir(folder.join("folder.mok")).unwrap();
    for (name, why) in [("octets.mok", "the file is not UTF-8 text"), ("folder.mok", "it is a folder")] {
        std::fs::write(folder.join("user.mok"), format!("use \"{name}\"\n")).unwrap();
        let output = mokume_in(&folder, &["check", "user.mok"]);
        says(&output, 1, &["M0204", &format!("`{name}` beside this file cannot be read: {why}")]);
        assert!(!said(&output).contains("there is no file"), "{}", said(&output));
    }
    std::fs::write(folder.join("user.mok"), "use \"none.mok\"\n").unwrap();
    says(&mokume_in(&folder, &["check", "user.mok"]), 1, &["there is no file `none.mok`"]);
}

#[test]
fn a_backend_that_there_is_not_is_refused_by_every_command() {
    let folder = folder("backend");
    std::fs::write(folder.join("Mokume.toml"), "[project]\nname = \"x\"\n[defaults]\nbackend = \"rust\"\n").unwrap();
    std::fs::write(folder.join("a.mok"), [PLAIN, LINK].concat()).unwrap();
    for command in ["check", "sim", "test"] {
        let words = ["there is no `backend = \"rust\"`", "there are: \"interpreter\", \"c\""];
        says(&mokume_in(&folder, &[command]), 2, &words);
    }
}

#[test]
fn things_of_one_name_in_two_files_are_told_with_their_files() {
    let folder = folder("two");
    std::fs::write(folder.join("Mokume.toml"), "[project]\nname = \"x\"\n").unwrap();
    ["a.mok", "b.mok"].iter().for_each(|name| std::fs::write(folder.join(name), [PLAIN, LINK].concat()).unwrap());
    let networks = ["several networks are called `N`", "/a.mok)", "/b.mok)", "name the file that you mean"];
    says(&mokume_in(&folder, &["sim"]), 2, &networks);
    says(&mokume_in(&folder, &["sim", "--network", "N"]), 2, &networks);
    let stacks = ["several stacks are called `S`", "/a.mok)", "/b.mok)"];
    says(&mokume_in(&folder, &["size"]), 2, &stacks);
    says(&mokume_in(&folder, &["size", "--stack", "S"]), 2, &stacks);
    says(&mokume_in(&folder, &["size", "a.mok"]), 0, &[]);
    let other = PLAIN.replace("stack S", "stack T").replace("Plain", "Other");
    std::fs::write(folder.join("b.mok"), other).unwrap();
    says(&mokume_in(&folder, &["size"]), 2, &["the files have several stacks: S, T"]);
}

#[test]
fn a_place_in_a_table_that_there_is_not_is_refused() {
    let lua = |at: &str| {
        mokume_in(&root(), &["build", "examples/courier.mok", "--stack", "Link", "--emit", "wireshark", "--at", at])
    };
    says(&lua("udp.prt:4711"), 2, &["Wireshark has no table `udp.prt`", "did you mean `udp.port`?"]);
    says(&lua("udp.port:99999999"), 2, &["`99999999` is no number", "0 to 65535"]);
    // Plugins have tables of their own.
    for good in ["udp.port:65535", "mine_stack.ports.port:99999999", "udp.port:0xffff", "ethertype:0x88b6"] {
        says(&lua(good), 0, &[]);
    }
    assert_eq!(lua("ethertype:0x88b6").stdout, lua("ethertype:34998").stdout);
    for wrong in ["udp.port:0x", "udp.port:0x+1", "udp.port:88b6", "udp.port:-1"] {
        says(&lua(wrong), 2, &["is no place in a table", "`ethertype:0x88b6:hops`"]);
    }
}

#[test]
fn tips_of_options_are_of_use() {
    let said_of = |arguments: &[&str]| {
        let output = mokume_in(&root(), arguments);
        says(&output, 2, &[]);
        said(&output)
    };
    let negative = said_of(&["sim", "examples/courier.mok", "--seed", "-1"]);
    assert!(negative.contains("write a whole number that is not negative"), "{negative}");
    for (number, tip) in [
        ("abc", "write a whole number in decimal digits"),
        ("0x10", "write a whole number in decimal digits"),
        ("99999999999999999999999", "the largest number is 18446744073709551615"),
    ] {
        let said = said_of(&["sim", "examples/courier.mok", "--seed", number]);
        assert!(said.contains(tip), "{number}: {said}");
    }
    for slip in ["--jsn", "--json"] {
        let said = said_of(&["check", "examples/courier.mok", slip]);
        assert!(said.contains("'--format json'") && !said.contains("-- -"), "{said}");
    }
    let slip = said_of(&["sim", "examples/courier.mok", "--sed", "1"]);
    assert!(slip.contains("--seed") && !slip.contains("-- -"), "{slip}");
}

#[test]
fn a_packet_that_there_is_not_is_told() {
    let dissect =
        |more: &[&str]| mokume_in(&root(), &[&["dissect", "tests/dissect/captures/dns_udp.pcap"], more].concat());
    says(&dissect(&["-p", "100"]), 2, &["there is no packet 100"]);
    says(&dissect(&["-p", "1,100-"]), 2, &["packet 1:", "there is no packet 100"]);
    says(&dissect(&["-p", "1-100"]), 0, &["packet 1:"]);
}

#[test]
fn what_has_no_end_is_no_source() {
    let folder = folder("endless");
    says(&mokume_in(&folder, &["check", "/dev/zero"]), 2, &["cannot read `/dev/zero`", "octets"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(["check", "-"]).stdin(std::fs::File::open("/dev/zero").unwrap());
    says(&command.output().unwrap(), 2, &["octets"]);
}

#[test]
fn hosts_that_answer_each_other_at_once_are_named() {
    let folder = folder("restless");
    let text = "worker Answers {\n    header { n: u32 }\n    on start { below.send(message(\"a\"), n: 0) }\n    on send(msg) { below.send(msg, n: 0) }\n    on deliver(msg, n) { below.send(msg, n: n +% 1) }\n}\n";
    let text = [text, &PLAIN.replace("worker Plain { }\n", "").replace("Plain", "Answers"), LINK].concat();
    std::fs::write(folder.join("a.mok"), text).unwrap();
    says(
        &mokume_in(&folder, &["sim", "a.mok"]),
        1,
        &[
            "frames are answered by frames at this time without end, by `a` and `b`",
            "comes to `a`",
            "comes to `b`",
            "without `delay`",
        ],
    );
}

/// A frame is refused by who gets it, whatever its sender's stack would do with it.
#[test]
fn a_log_says_who_refuses_a_frame() {
    let folder = folder("refused");
    let text = "worker Tags {\n    header { tag: u8 }\n    on start { below.send(message(\"hello\"), tag: 1) }\n    on send(msg) { below.send(msg, tag: 1) }\n    on deliver(msg, tag) { drop msg: not_ours }\n}\n\
        worker Takes {\n    entity { counter seen }\n    on send(msg) { below.send(msg) }\n    on deliver(msg) {\n        count seen\n        consume msg: taken\n    }\n}\n\
        worker Says { on start { below.send(message(\"hi\")) }\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { consume msg: taken } }\n\
        stack Tagged(device: Device) {\n    app = Tags over device\n    export app\n}\n\
        stack Taking(device: Device) {\n    app = Takes over device\n    export app\n}\n\
        stack Saying(device: Device) {\n    app = Says over device\n    export app\n}\n\
        network N {\n    host a = Tagged()\n    host b = Taking()\n    link l { a.device, b.device }\n    until 1 s\n}\n\
        network M {\n    host a = Saying()\n    host b = Tagged()\n    link l { a.device, b.device }\n    until 1 s\n}\n";
    std::fs::write(folder.join("a.mok"), text).unwrap();
    let output = mokume_in(&folder, &["sim", "a.mok", "--network", "N", "--log"]);
    says(&output, 0, &["sends #"]);
    assert!(!said(&output).contains("refused by") && !said(&output).contains("(refused"), "{}", said(&output));
    let output = mokume_in(&folder, &["sim", "a.mok", "--network", "M", "--log"]);
    says(&output, 0, &["(refused by b)"]);
    assert!(!said(&output).contains("refused by a"), "{}", said(&output));
}

#[test]
fn the_debugger_writes_addresses_as_their_types_do() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(["debug", "examples/demo.mok"]).current_dir(root());
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = b"break resolver.mok:85\nbreak stations.mok:20\ncontinue\nlocals\ncontinue\nlocals\nquit\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    for line in
        ["sender_host = 10.0.0.2\n", "sender_station = 02:00:00:00:00:02\n", "destination = ff:ff:ff:ff:ff:ff\n"]
    {
        assert!(said.contains(line), "{line:?} in\n{said}");
    }
    assert!(!said.contains("Header. ") && !said.contains("    octets\n"), "{said}");
}

/// A log and `dissect` say the same of one frame.
#[test]
fn a_frame_has_one_summary() {
    let folder = folder("summary");
    let file = root().join("examples/courier.mok").to_string_lossy().into_owned();
    let log = said(&mokume_in(&folder, &["sim", &file, "--pcap", "run.pcap", "--log"]));
    let by = ["dissect", "run.pcap", "--by", &file, "--stack", "SensorHost", "--format", "json"];
    let mut seen = 0;
    for line in said(&mokume_in(&folder, &by)).lines() {
        let packet: serde_json::Value = serde_json::from_str(line).expect("an object");
        let (number, summary) = (&packet["packet"], packet["summary"].as_str().expect("a summary"));
        let sent = log.lines().find(|line| line.contains(&format!(" sends #{number} ")));
        let sent = sent.unwrap_or_else(|| panic!("{number} in\n{log}"));
        // Another stack of the network may know more, or less.
        if sent.contains("sensor") {
            assert!(sent.contains(summary), "{summary:?} of {number} in {sent}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen} packets in\n{log}");
}

/// One file that cannot be read hid the mistakes of all others.
#[test]
fn a_file_that_cannot_be_read_hides_no_mistake_of_others() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers-unread");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.mok"), "const A: u8 = 300\n").unwrap();
    std::fs::write(folder.join("b.mok"), [0xff, 0xfe]).unwrap();
    let output = mokume_in(&root(), &["check", &folder.to_string_lossy()]);
    says(&output, 2, &["b.mok`: the file is not UTF-8 text"]);
    let all = said(&output) + &String::from_utf8_lossy(&output.stdout);
    assert!(all.contains("a.mok:1:15"), "{all}");
}
