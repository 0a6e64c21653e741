//! `mokume debug`: with commands from a pipe, and with an editor over the debug adapter protocol.

mod dap;
mod places;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const FILE: &str = concat!(
    include_str!("../../driver/tests/debug/counts.mok"),
    "test \"goes down\" {
    stack S
    app.send_to(\"x\")
    => device.frame(x\"03 0004 78\")
}
test \"goes down again\" {
    stack S
    app.send_to(\"x\")
    => device.frame(x\"03 0004 79\")
}
network Pair {
    host a = S()
    host b = S()
    link lan { a.device, b.device   delay 1 ms }
    at 1 ms  a.app.send_to(\"hello\")
    at 2 ms  a.app.send_to(\"again\")
    until 100 ms
}
"
);

/// A report was told with an empty expectation between two colons.
#[test]
fn a_report_is_told_after_its_place() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("debug").join("report");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("net.mok");
    let text = "worker W {\n    entity { var left: u8 = 0 }\n    on send(msg) {\n        left = left - 1\n        below.send(msg)\n    }\n\
        \u{20}   on deliver(msg) { above.deliver(msg) }\n}\nstack One(device: Device) {\n    app = W over device\n    export app\n}\n\
        network N {\n    host a = One()\n    host b = One()\n    link l { a.device, b.device }\n    at 1 ms  a.app.send_to(\"x\")\n    until 5 ms\n}\n";
    std::fs::write(&file, text).unwrap();
    let (out, err, _) = transcript(&["debug", file.to_str().unwrap()], "continue\n");
    assert!(out.contains("net.mok:4: host `a` reported overflow") && !out.contains(": :"), "{out}{err}");
}

/// The file of these tests, under a separate name for each.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("debug").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("net.mok");
    std::fs::write(&file, FILE).unwrap();
    file
}

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let piped = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().unwrap()
}

/// The output for these commands, and the exit code.
pub fn transcript(arguments: &[&str], commands: &str) -> (String, String, i32) {
    let mut child = start(arguments);
    // A debugger that refuses its program reads no commands.
    let _ = child.stdin.take().unwrap().write_all(commands.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |octets: Vec<u8>| String::from_utf8(octets).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

/// A file of the driver's own tests of debugging.
fn of_driver(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../driver/tests/debug").join(name)
}

/// The output for these commands to a test of such a file, which is right.
fn of_test(file: &str, test: &str, commands: &str) -> String {
    let (out, err, code) = transcript(&["debug", of_driver(file).to_str().unwrap(), "--test", test], commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    out
}

fn network(name: &str, commands: &str) -> String {
    let file = file(name);
    let (out, err, code) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    out
}

/// The example of docs/debugging.md.
#[test]
fn the_example_of_the_page() {
    let out = network("page", "break drop\ncontinue\nwhy\nlocals\nstate\nback\nback\n");
    let page =
        std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/debugging.md")).unwrap();
    let example = page.split("$ mokume debug net.mok\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(out, example);
}

/// A vector was shown as `hosts_length`, `hosts_0` and what lies behind its last element; nothing printed one name.
#[test]
fn a_vector_is_one_variable_and_a_name_is_printed() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/newcomer/names.mok");
    let commands = "break Names deliver\nbreak resolve.known\nbreak names.mok:46 if hosts.length == 2\ncontinue\ndelete 1\ncontinue\nlocals\nprint hosts\nprint hosts[1]\n\
        print hosts.length\nprint own_id\nprint nobody\nprint\nstep\nstep\nprint _known\n";
    let (out, err, _) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert_eq!(err, "", "{out}");
    for said in [
        "there is no event `Names deliver` here: did you mean `Names.deliver`? there is deliver, errors.fail,",
        "hosts = [10.0.0.1, 10.0.0.2]\n    [0] = 10.0.0.1\n    [1] = 10.0.0.2\n(mokume) print hosts\n[10.0.0.1, 10.0.0.2]\n",
        "print hosts[1]\n10.0.0.2\n(mokume) print hosts.length\n2\n(mokume) print own_id\n",
        "nothing is called `nobody` here",
        "print _known\n[10.0.0.1, 10.0.0.2]\n",
        "break resolve.known\npoint 1: on Resolve_known_0\n",
        "ip.NextHop: on Resolve_known_0  begins  (point 1)\n",
    ] {
        assert!(out.contains(said), "{said}\n{out}");
    }
    let own = out.split("print own_id\n").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(own.parse::<u16>().is_ok(), "a random number: {own}");
    let help = out.lines().find(|line| line.starts_with("there is no event")).unwrap();
    assert!(!help.contains("application"), "what nobody has written: {help}");
}

#[test]
fn statements_reactions_and_frames() {
    let out = network("steps", "step\ns\n\n\nnext\nframe\nreaction\nwhere\nlist\n");
    let stops: Vec<&str> = out.lines().filter(|line| line.starts_with("net.mok:")).collect();
    assert_eq!(
        stops,
        [
            "net.mok:15  let own = ahead(by: 2, times: most)",
            "net.mok:11  let more = by * 2",
            "net.mok:12  return next + more",
            "net.mok:16  next += 1",
            "net.mok:17  if own > 4 {",
            "net.mok:32  on expiry wait { next += 10 }",
        ]
    );
    assert!(out.contains("b  2 ms  reaction 0  device: on frame  begins"), "{out}");
    assert!(out.contains("->   32      on expiry wait { next += 10 }"), "{out}");
}

#[test]
fn points_are_set_listed_and_taken_away() {
    let out = network(
        "points",
        "break 16 at a\nb Counts.deliver\nb 16 at a\nbreaks\ncontinue\ncontinue\ndelete 1\ndelete 7\ncontinue\nback point\ndelete\nbreaks\ncontinue\n",
    );
    assert!(out.contains("point 1: net.mok:16 at a\npoint 2: on Counts.deliver\n"), "{out}");
    assert_eq!(out.matches("(point 1)").count(), 2, "{out}");
    assert!(out.contains("there is no point `7`: `breaks` lists them"), "{out}");
    assert_eq!(out.matches("app.Counts: on deliver  begins  (point 2)").count(), 1, "{out}");
    assert!(out.contains("(mokume) breaks\nthere is none: `break PLACE`"), "{out}");
    assert!(out.ends_with("the run has ended\n"), "{out}");
}

#[test]
fn points_count_where_something_holds_and_some_only_say() {
    let out = network(
        "conditions",
        "break 17 if own > 4\nbreak 15 times 2\nbreak 16 say own is {own}, next {next}\nbreaks\ncontinue\ncontinue\nback point\ncontinue\n",
    );
    for line in [
        "point 1: net.mok:17 if own > 4",
        "point 2: net.mok:15 times 2",
        "point 3: net.mok:16 say own is {own}, next {next}",
    ] {
        assert_eq!(
            out.lines().filter(|said| *said == line || said.ends_with(&format!(" {line}"))).count(),
            2,
            "{line}: {out}"
        );
    }
    // The first message has number 4, where no point stops; backwards nothing is printed again.
    let marks = ["(point", "net.mok:"];
    let stops = out.lines().skip_while(|line| *line != "(mokume) continue");
    let stops: Vec<&str> = stops.filter(|line| marks.iter().any(|mark| line.contains(mark))).collect();
    assert_eq!(
        stops,
        [
            "a  own is 4, next 0  (point 3)",
            "a  2 ms  reaction 1  app.Counts: on send  (point 2)",
            "net.mok:15  let own = ahead(by: 2, times: most)",
            "a  own is 5, next 1  (point 3)",
            "a  2 ms  reaction 1  app.Counts: on send  (point 1)",
            "net.mok:17  if own > 4 {",
            "a  2 ms  reaction 1  app.Counts: on send  (point 2)",
            "net.mok:15  let own = ahead(by: 2, times: most)",
            "a  own is 5, next 1  (point 3)",
            "a  2 ms  reaction 1  app.Counts: on send  (point 1)",
            "net.mok:17  if own > 4 {",
        ],
        "{out}"
    );
    let wrong = network("conditions", "break 17 if owl > 4\nbreak 17 if own ~ 4 5\nbreak 17 times never\nbreaks\n");
    for part in ["nothing is called `owl` here", "is no comparison", "`never` is no number of times", "there is none"] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
}

/// A handler with a text for each alternative: its place, what a condition sees, and how values are written.
#[test]
fn of_several_alternatives_the_one_that_runs_is_shown() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("debug/kept");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("kept.mok");
    std::fs::write(&file, include_str!("../../driver/tests/debug/kept.mok")).unwrap();
    let led = |commands: &str| {
        let (out, err, code) = transcript(&["debug", file.to_str().unwrap(), "--test", "kept"], commands);
        assert_eq!((err.as_str(), code), ("", 0), "{out}");
        out
    };
    let stops = |out: &str| -> Vec<String> {
        out.lines().filter(|line| line.starts_with("kept.mok:")).map(str::to_string).collect()
    };
    let all = [
        "kept.mok:18  let kept = Kept[flow.remote.host, number] or new {",
        "kept.mok:18  let kept = Kept[flow.remote.host, number] or new {",
        "kept.mok:27  let times: u8 = 0",
        "kept.mok:31  on deliver(Gone) { latest = 0 }",
    ];
    assert_eq!(stops(&led("break Keeps.deliver\ncontinue\ncontinue\ncontinue\ncontinue\ncontinue\n")), all);
    // The handler's bindings are available.
    let of_number = led("break Keeps.deliver if number == 3\ncontinue\ncontinue\ncontinue\ncontinue\n");
    assert_eq!(stops(&of_number), all[..3]);
    assert!(of_number.contains("reaction 2  keeps: on deliver  (point 1)"), "{of_number}");
    // Addresses are compared as they are written, or as numbers.
    for wanted in ["10.0.0.2", "167772162", "0x0a000002"] {
        let of_state =
            led(&format!("break Keeps.deliver if latest == {wanted}\ncontinue\ncontinue\ncontinue\ncontinue\n"));
        assert_eq!(stops(&of_state), all[1..]);
    }
    let said = led("break 24 say {kept.times} {msg.size} {flow.remote.port} {flow.remote.host} {latest}\ncontinue\n");
    assert!(said.contains("S  1 4 7 10.0.0.2 10.0.0.2  (point 1)\nS  2 5 7 10.0.0.2 10.0.0.2  (point 1)"), "{said}");
    let held = led("break 24\ncontinue\nlocals\nstate\nstep\n");
    for line in [
        "flow = { local { host: 10.0.0.1 }, remote { host: 10.0.0.2, port: 7 } }",
        "        latest = 10.0.0.2",
        "        from = 10.0.0.2",
        "        times = 1",
    ] {
        assert!(held.lines().any(|known| known == line), "{line}: {held}");
    }
    // A step goes from the device's frame to the statement, without passing the head of another alternative.
    let stepped = led("break 27\ncontinue\nback\n");
    assert!(!stepped.contains("on deliver(msg, Put"), "{stepped}");
}

/// A run may begin in a file of the library. A line number alone then refers to the file on the command line; later to
/// the file that is shown.
#[test]
fn a_line_alone_is_of_the_file_that_was_asked_for_until_somebody_goes_on() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/courier.mok");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
    let line = lines.iter().position(|line| line == "if number != oldest { return }").unwrap() + 1;
    let commands = format!("break {line}\ncontinue\nstep\nstep\nbreak 34\n");
    let (out, err, code) = transcript(&["debug", file.to_str().unwrap()], &commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    let begins = out.lines().nth(2).unwrap();
    assert!(!begins.starts_with("courier.mok"), "{out}");
    for wanted in [
        format!("point 1: courier.mok:{line}"),
        format!("courier.mok:{line}  if number"),
        "point 2: queue.mok:34".into(),
    ] {
        assert!(out.contains(&wanted), "{wanted}: {out}");
    }
}

/// Commands to the network of `only.mok`, a file without layers.
fn only(commands: &str) -> String {
    let (out, err, code) = transcript(&["debug", of_driver("only.mok").to_str().unwrap()], commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    out
}

#[test]
fn locals_are_shown_as_their_types_say() {
    let out = only("break 38\ncontinue\nlocals\n");
    for wanted in [
        "found = 10.0.0.9",
        "part = 10.0.0.0",
        "said = 10.0.0.7",
        "kind = Kind.Ask",
        "long = 60 ms",
        "begun = 1 ms",
        "least = 10.0.0.7",
        "own = 10.0.0.9",
        "home = 10.0.0.8",
        "far = 2",
        "again = 10.0.0.9",
        "kept = 10.0.0.9",
    ] {
        assert!(out.lines().any(|line| line == wanted), "{wanted}: {out}");
    }
    assert!(!out.lines().any(|line| line.starts_with("it =")), "{out}");
}

#[test]
fn conditions_know_times_and_names() {
    for (holds, condition) in [
        (true, "long > 50 ms"),
        (false, "long > 70 ms"),
        (true, "long == 0.06 s and found == 10.0.0.9"),
        (true, "waits == 30ms and kind == Ask"),
        (false, "kind == Other.Ask"),
        (true, "begun <= 1 ms and rings"),
        (true, "said < 10.0.0.8"),
        (true, "again == 10.0.0.9"),
    ] {
        let out = only(&format!("break 38 if {condition}\ncontinue\n"));
        assert_eq!(out.contains("(point 1)"), holds, "{condition}: {out}");
    }
    let out = only("break 39 if rings\nbreak 39 if rings <= 60 ms and rings > 59 ms\ncontinue\n");
    assert!(out.contains("(point 1)"), "{out}");
    let out = only("break 39 if rings <= 60 ms and rings > 59 ms\ncontinue\n");
    assert!(out.contains("(point 1)"), "{out}");
    let out = only("break 38 if long > 10 ms ms\n");
    assert!(out.contains("is no comparison"), "{out}");
}

/// A part of what is bound, a header above, an attribute and octets hid state of their names.
#[test]
fn what_is_within_a_bound_name_hides_no_state() {
    let out = of_test(
        "within.mok",
        "t",
        "break 24\ncontinue\nprint x\nprint w\nprint mark\nprint octets\nprint p.x\nprint msg.w\nprint y\n",
    );
    for said in ["x\n81\n", "w\n501\n", "mark\n401\n", "octets\n301\n", "p.x\n3\n", "msg.w\n7\n"] {
        assert!(out.contains(&format!("print {said}")), "{said}: {out}");
    }
    assert!(out.contains("nothing is called `y` here"), "{out}");
    for (holds, condition) in [(true, "w == 501 and octets == 301"), (false, "x == 3"), (true, "msg.w == 7")] {
        let out = of_test("within.mok", "t", &format!("break 24 if {condition}\ncontinue\n"));
        assert_eq!(out.contains("within.mok:24  below"), holds, "{condition}: {out}");
    }
}

/// A variable `list_length` beside a vector `list` was taken for its length.
#[test]
fn a_length_is_the_vectors_own() {
    let out = of_test(
        "lengths.mok",
        "t",
        "break 12\ncontinue\nstate\nprint pts_length\nprint list_length\nprint list.length\n",
    );
    for said in ["list = [1, 2]", "pts_length = 2", "list_length = 1"] {
        assert!(out.contains(said), "{said}: {out}");
    }
    for said in ["pts_length\n2\n", "list_length\n1\n", "list.length\n2\n"] {
        assert!(out.contains(&format!("print {said}")), "{said}: {out}");
    }
    assert!(!out.contains("length_"), "{out}");
}

/// Of two attributes of one name the first one was shown, whichever the layer means.
#[test]
fn an_attribute_is_the_one_that_the_layer_means() {
    let at = |line: u32, more: &str| {
        of_test("attributes.mok", "t", &format!("break attributes.mok:{line}\ncontinue\n{more}"))
    };
    let looks = at(17, "locals\nprint msg.urgent\nprint msg.attributes.urgent\nprint msg.urgent.urgent\nstep\n");
    for said in [
        "attributes.urgent = true",
        "print msg.urgent\nfalse\n",
        "print msg.attributes.urgent\ntrue\n",
        "print msg.urgent.urgent\nfalse\n",
    ] {
        assert!(looks.contains(said), "{said}: {looks}");
    }
    assert!(looks.contains("attributes.mok:20"), "{looks}");
    assert!(at(30, "print msg.urgent\n").contains("print msg.urgent\ntrue\n"));
    for (holds, condition) in [(false, "msg.urgent"), (true, "not msg.urgent"), (true, "msg.attributes.urgent")] {
        let out = of_test("attributes.mok", "t", &format!("break 17 if {condition}\ncontinue\n"));
        assert_eq!(out.contains("  (point 1)"), holds, "{condition}: {out}");
    }
}

/// A session's handlers had no flow, and of an array the first 64 elements stood for all.
#[test]
fn flows_of_sessions_and_all_elements_of_arrays_have_values() {
    let run = |commands: &str| of_test("flows.mok", "t", commands);
    let out = run("break 15 if flow.remote.port == 7\ncontinue\nprint flow.remote.port\nprint flow.local.port\n");
    assert!(out.contains("  (point 1)"), "{out}");
    assert!(out.contains("print flow.remote.port\n7\n") && out.contains("print flow.local.port\n9\n"), "{out}");
    assert!(!run("break 15 if flow.remote.port == 9\ncontinue\n").contains("  (point 1)"));
    // Of a layer that does not ask for addresses, too: the session below knows.
    let out = of_test("below.mok", "t", "break 7 if flow.remote.port == 7\ncontinue\nstate app\n");
    assert!(out.contains("  (point 1)") && out.contains("flow = { local { port: 9 }, remote { port: 7 } }"), "{out}");
    let out = run("break 11 if big[102] == 77\ncontinue\nstate\nprint big[101]\nprint big[150]\nprint big[300]\n");
    for said in [
        "  (point 1)",
        "big = 200 elements\n            [101] = 77\n            [102] = 77\n            … = 198 more, all 0\n",
        "session #0\n        flow = { local { port: 9 }, remote { port: 7 } }\n        n = 2\n",
        "print big[101]\n77\n",
        "print big[150]\n0\n",
        "nothing is called `big[300]` here",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
}

/// Of two files of one name the first was meant, and both were shown alike.
#[test]
fn files_of_one_name_are_told_apart() {
    let folder = file("one_name").parent().unwrap().to_path_buf();
    for (part, layer) in [("one", "First"), ("two", "Second")] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
        let text = format!("worker {layer} {{\n    on send(msg) {{\n        below.send(msg)\n    }}\n}}\n");
        std::fs::write(folder.join(part).join("layer.mok"), text).unwrap();
    }
    let whole = folder.join("whole.mok");
    let text = "use \"one/layer.mok\", \"two/layer.mok\"\nstack S(device: Device) {\n    app = First / Second over device\n    export app\n}\n\
        test \"t\" {\n    stack S\n    app.send_to(\"a\")\n    => device.frame(\"a\")\n}\n";
    std::fs::write(&whole, text).unwrap();
    let commands = "break layer.mok:3\nbreak two/layer.mok:3\ncontinue\nbreaks\n";
    let (out, _, _) = transcript(&["debug", whole.to_str().unwrap(), "--test", "t"], commands);
    for said in [
        "several files are called `layer.mok`: write `one/layer.mok:3` or `two/layer.mok:3`",
        "point 1: two/layer.mok:3\n",
        "app.Second: on send  (point 1)\ntwo/layer.mok:3  below.send(msg)\n",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
}

/// At the end a point can be set for the way back.
#[test]
fn a_point_is_set_at_the_end_for_the_way_back() {
    let out = of_test("flows.mok", "t", "continue\nbreak 15\nback point\n");
    assert!(out.contains("the run has ended\n(mokume) break 15\npoint 1: flows.mok:15\n"), "{out}");
    assert!(out.ends_with("app: on deliver  (point 1)\nflows.mok:15  if flow.remote.port == 7 { n += 1 }\n"), "{out}");
}

/// Commands to a test of `renamed.mok`.
fn renamed(commands: &str) -> String {
    of_test("renamed.mok", "t", commands)
}

/// The field's own name was shown for `offset: at`, and hid the state of that name.
#[test]
fn a_header_field_has_the_name_that_the_head_gives_it() {
    let out = renamed("break 15\ncontinue\ncontinue\nlocals\nprint at\nprint offset\nprint first\nprint app.offset\n");
    assert!(out.contains("\nat = 7\nsecond = 5\nfirst = 9\nx = 107\n"), "{out}");
    assert!(!out.contains("\noffset = "), "{out}");
    for said in ["print at\n7\n", "print offset\n100\n", "print first\n9\n", "print app.offset\n100\n"] {
        assert!(out.contains(said), "{said}: {out}");
    }
    for (holds, condition) in
        [(true, "at != offset and offset == 100"), (false, "offset == 7"), (true, "first == 9 and second == 5")]
    {
        let out = renamed(&format!("break 15 if {condition}\ncontinue\n"));
        assert_eq!(out.contains("  (point 1)"), holds, "{condition}: {out}");
    }
}

/// Records, vectors and enums with parts had no value, and in a function the names of its caller were shown, and no parameter.
#[test]
fn locals_with_parts_and_those_of_functions_have_values() {
    let run = |commands: &str| of_test("parts.mok", "marks", commands);
    let locals = |commands: &str| {
        let out = run(&format!("{commands}\ncontinue\nlocals\n"));
        let own = out.split("(mokume) locals\n").nth(1).and_then(|rest| rest.split("(mokume)").next());
        let own = own.unwrap_or_else(|| panic!("{out}"));
        own.lines().filter(|line| !line.starts_with(' ')).map(str::to_string).collect::<Vec<_>>()
    };
    let before = [
        "msg = 1 octets \"x\"",
        "given = 4",
        "copy = { x: 4, y: 9 }",
        "best = { spot { x: 4, y: 9 }, rtt: 5 ms }",
        "all = [{ x: 1, y: 2 }, { x: 4, y: 9 }]",
        "name = \"hi\"",
        "wait = Plan.Wait(rounds: 2)",
        "go = Plan.Go(to: { x: 4, y: 9 }, fast: true)",
        "first = { x: 4, y: 0 }",
    ];
    // Within its block, the inner one of two names hides the other.
    assert_eq!(locals("break 35"), [&before[..], &["spot = 3"]].concat());
    let behind = locals("break 38 if one.x == 4");
    assert!(behind.contains(&"spot = { x: 4, y: 9 }".to_string()), "{behind:?}");
    assert_eq!(behind.last().unwrap(), "one = { x: 4, y: 9 }");
    assert_eq!(locals("break 49"), ["place = { x: 1, y: 2 }", "times = 2", "twice = { x: 2, y: 1 }"]);
    assert_eq!(locals("break 49 if times == 3 and place.y == 9 times 1").last().unwrap(), "twice = { x: 9, y: 4 }");
    let out = run(
        "break 38\ncontinue\nprint best.spot.y\nprint all[1].x\nprint best_rtt\nprint wait.rounds\nprint go.to.y\n",
    );
    for said in ["best.spot.y\n9\n", "all[1].x\n4\n", "best_rtt\n7\n", "wait.rounds\n2\n", "go.to.y\n9\n"] {
        assert!(out.contains(&format!("print {said}")), "{said}: {out}");
    }
    // State of the same kinds.
    let out = run("break 38\ncontinue\nstate\nprint plan.rounds\nprint names[1]\nprint places[9]\n");
    for said in [
        "        plan = Plan.Wait(rounds: 2)\n            rounds = 2\n",
        "        names = 2 elements\n            [0] = \"\"\n            [1] = \"hi\"\n",
        "print plan.rounds\n2\n",
        "print names[1]\n\"hi\"\n",
        "print places[9]\n{ x: 4, y: 9 }\n",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
}

/// A statement that begins with a call of a function had no place: it could not be stopped at, its handler was found inside the function,
/// and the caller's locals were those of others (an outsider's findings).
#[test]
fn a_statement_that_begins_with_a_call_has_a_place() {
    let run = |commands: &str| of_test("calls.mok", "calls", commands);
    let stops = run("break deliver if n == 3\ncontinue\nlocals\ncontinue\n");
    assert!(stops.contains("calls.mok:6  let a = inner(m)\n"), "{stops}");
    assert!(stops.contains("n = 3\nm = 9\n") && stops.ends_with("the run has ended\n"), "{stops}");
    assert!(!run("break deliver if n == 9\ncontinue\n").contains("(point 1)"), "that is the function's");
    let where_ = run("break 13\ncontinue\nwhere\nlocals\n");
    let calls = "  fn inner  calls.mok:13\n  fn outer  calls.mok:16\n  app: on deliver  calls.mok:7\n";
    let first = run("break 13 if n == 10\ncontinue\nwhere\nlocals\n");
    assert!(first.contains(calls), "{first}");
    assert!(first.contains("locals\nn = 10\n"), "{first}");
    assert!(where_.contains("  fn inner  calls.mok:13\n  app: on deliver  calls.mok:6\n"), "{where_}");
    // The line is met once, and not again behind the call.
    let once = run("break 7\ncontinue\ncontinue\n");
    assert_eq!(once.matches("calls.mok:7  ").count(), 1, "{once}");
    // A local of a container is shown as what it contains there.
    let items = run("break 22\ncontinue\nlocals\ncontinue\nlocals\n");
    assert!(items.contains("item = { left: 3, right: 4 }\n") && items.contains("item = 311\n"), "{items}");
    // What was not computed is neither equal nor unequal.
    for (name, condition) in [("unsaid", "unsaid != 77"), ("idle", "not idle")] {
        let doubt = run(&format!("break 11 if {condition}\ncontinue\n"));
        assert!(!doubt.contains("(point ") && doubt.contains(&format!("`{name}` has no value there")), "{doubt}");
    }
}

/// A condition that asks for a name without a value stopped never, and nothing was said.
/// What a layer is given, and counters of loops, had no value: the automaton has neither by its name.
#[test]
fn parameters_and_counters_have_values() {
    let run = |commands: &str| of_test("loops.mok", "given", commands);
    let out = run("break 9 if i == 2\ncontinue\nlocals\nprint i\nprint most\nprint wait\nprint color\nprint Loops.most\nprint app.wait\n");
    let said = "(mokume) locals\nmsg = 1 octets \"x\"\n    octets = 78\ni = 2\n(mokume) print i\n2\n(mokume) print most\n5\n\
        (mokume) print wait\n20 ms\n(mokume) print color\nBlue\n(mokume) print Loops.most\n5\n(mokume) print app.wait\n20 ms\n";
    assert!(out.contains(said), "{out}");
    // In the inner loop both are known, and behind them none.
    let out = run("break 11 if j == 1\ncontinue\nprint j\nprint i\n");
    assert!(out.contains("print j\n1\n(mokume) print i\n0\n"), "{out}");
    assert!(run("break 13\ncontinue\nprint j\n").contains("nothing is called `j` here"));
    assert!(run("break 16\ncontinue\nprint i\n").contains("nothing is called `i` here"));
    let out = run("break 26 if one.times == 1 and most == 5\ncontinue\nprint one.times\n");
    assert!(out.contains("(point 1)") && out.contains("print one.times\n1\n"), "{out}");
}

#[test]
fn a_condition_that_has_no_meaning_is_told() {
    let out = renamed("break 15 if more > 3\nbreak 15 if at == 9\ncontinue\n");
    let doubt = "the run has ended\nthe condition of point 1 was never met: the run came there 2 times, but `more` has no value there\n";
    assert!(renamed("break 15 if more > 3\ncontinue\n").contains(doubt), "{out}");
    assert!(!out.contains("was never met"), "this one has a meaning: {out}");
    let out = renamed("break 15 if at > word\ncontinue\n");
    assert!(out.contains("but `at` is 8 there, and `word` is no number"), "{out}");
    // Of records and of vectors of records the automaton has other names.
    for (condition, line) in [
        ("spot.y == 4", 15),
        ("spots[0].y == 8", 15),
        ("spots.length == 1", 15),
        ("at == 7", 13),
        ("Renames.offset == 100", 15),
    ] {
        let out = renamed(&format!("break {line} if {condition}\ncontinue\n"));
        assert!(out.contains("  (point 1)"), "{condition}: {out}");
    }
    for word in ["if", "times", "say", "at"] {
        let out = renamed(&format!("break 15 {word}\n"));
        assert!(out.contains(&format!("what belongs behind `{word}` is missing")), "{out}");
    }
}

#[test]
fn state_is_that_of_all_layers() {
    let out = only("break 38\ncontinue\nstate\n");
    assert!(out.lines().any(|line| line == "app"), "{out}");
    assert!(out.lines().any(|line| line == "plain: no state"), "{out}");
    assert!(out.lines().any(|line| line == "        rings = rings in 60 ms (at 61 ms)"), "{out}");
    let out = only("state plain\nstate nobody\n");
    assert!(out.contains("plain: no state\n"), "{out}");
    assert!(out.contains("this host has no layer `nobody`: there is plain, app"), "{out}");
}

#[test]
fn what_makes_no_sense_is_said_in_one_line() {
    let out = network(
        "bad",
        "dance\nback dance\nbreak\nbreak 3\nbreak nothing\nbreak drop nothing\nbreak 16 at nobody\nstate nobody\nlocals\nlist\ndelete x\n\ncontinue\nstep\nlocals\nbreak 16\n\n",
    );
    for wanted in [
        "there is no command `dance`: `help` says what there is",
        "there is no way back by `dance`",
        "where to stop is not said",
        "there is no code in line 3 of net.mok: there is code in line 11",
        "there is no event `nothing` here",
        "no message ends for `nothing`",
        "there is no host `nobody`: there is a, b",
        "this host has no layer `nobody`: there is app.Counts",
        "this is of no source: `step` goes to the next statement",
        "there is no point `x`",
        "the run has ended: `back` goes to its last statement",
        "the run has ended, and nothing is bound",
    ] {
        assert!(out.contains(wanted), "{wanted}\n{out}");
    }
}

#[test]
fn a_test_is_chosen_by_its_name() {
    let file = file("tests");
    let name = file.to_str().unwrap();
    let run = |test: &str, commands: &str| transcript(&["debug", name, "--test", test], commands);
    let (out, _, code) = run("goes down", "step\ncontinue\n");
    assert!(out.starts_with("test \"goes down\"; ") && out.contains("net.mok:15") && code == 0, "{out}");
    assert!(out.ends_with("the run has ended\n"), "{out}");
    let (out, _, _) = run("again", "continue\n");
    assert!(out.contains("FAILED test \"goes down again\", step 1"), "{out}");
    let (_, err, code) = run("nobody", "");
    assert!(
        err.contains("no test is called \"nobody\"") && err.contains("there is \"goes down\"") && code == 2,
        "{err}"
    );
    let (_, err, _) = run("down", "");
    assert!(err.contains("2 tests have \"down\" in their names"), "{err}");
    let (_, err, code) = transcript(&["debug", name, "--network", "Nobody"], "");
    assert!(err.contains("there is no network `Nobody`") && code == 2, "{err}");
}

#[test]
fn a_program_that_is_wrong_is_not_run() {
    let file = file("wrong");
    std::fs::write(&file, "worker A { on send(msg) { } }\nnetwork N { until 1 s }\n").unwrap();
    let (out, err, code) = transcript(&["debug", file.to_str().unwrap()], "step\n");
    assert!(out.is_empty() && err.contains("error[") && code == 1, "{out}{err}");
}

// ---- the debug adapter protocol ----

/// Hosts of which one crashes and begins anew, and whose layers read what those below publish.
const BELOW: &str = "worker Room(most: u32 = 100) {
    session { var taken: u32 = 3 }
    publish room: u32 = most - taken
    publish mtu: u32 = below.mtu - 4
    on send(msg) { taken += 1  below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}
worker Asks {
    entity { var heard: u32 = 0 }
    session { var own: u32 = 0 }
    on send(msg) {
        own = below.mtu + below.room
        below.send(msg)
    }
    on deliver(msg) {
        heard += 1
        above.deliver(msg)
    }
}
worker Answers {
    entity { var heard: u32 = 0 }
    on send(msg) { below.send(msg) }
    on deliver(msg) {
        heard += 1
        if heard < 3 { below.send(msg.share()) }
        above.deliver(msg)
    }
}
";

fn written(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("debug").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("net.mok");
    std::fs::write(&file, text).unwrap();
    file
}

/// Only the state of the host that runs could be asked for.
#[test]
fn the_state_of_another_host() {
    let out = network("other", "break device.frame\ncontinue\nstate at a\nstate Counts at a\nstate at b\nstate at c\n");
    let of_a = "app.Counts\n    entity\n        next = 2\n        wait = rings in 19 ms (at 21 ms)\n";
    for said in ["state at a\n", "state Counts at a\n"] {
        assert!(out.contains(&format!("(mokume) {said}{of_a}")), "{said}{out}");
    }
    assert!(out.contains("(mokume) state at b\napp.Counts\n    entity\n        next = 0\n"), "{out}");
    assert!(out.contains("there is no host `c`: there is a, b"), "{out}");
}

/// A crash was passed in silence.
#[test]
fn a_crash_is_said_where_it_happens() {
    let text = FILE.replace("    until 100 ms", "    crash b at 30 ms\n    restart b at 40 ms\n    at 50 ms a.app.send_to(\"x\")\n    at 35 ms a.app.send_to(\"y\")\n    until 100 ms");
    let file = written("crash", &text);
    let commands = "break send at a if next > 5\ncontinue\nstate at b\nback\ncontinue\ndelete\ncontinue\n";
    let (out, err, code) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    let (crash, again) = ("b  30 ms  crashes\n", "b  40 ms  begins anew\n");
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text} is missing in {out}"));
    assert!(at(crash) < at("b has crashed at 30 ms, and its state is lost"), "{out}");
    assert!(at("b has crashed at 30 ms") < at(again), "{out}");
    assert_eq!(
        (out.matches(crash).count(), out.matches(again).count()),
        (2, 1),
        "on each way forwards, on none back: {out}"
    );
}

/// A crash and the sending of a frame were told by the network's time, stops by the host's own.
#[test]
fn all_times_of_a_host_are_those_of_its_clock() {
    let text = FILE.replace(
        "    until 100 ms",
        "    clock b ahead 3 s\n    clock a ahead 2 s\n    crash b at 30 ms\n    restart b at 40 ms\n    until 100 ms",
    );
    let file = written("clocks", &text);
    let commands = "break deliver at b\ncontinue\nwhy\ndelete\ncontinue\n";
    let (out, err, code) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    for said in ["b  3.002 s  reaction", "sent by a at 2.001 s", "b  3.03 s  crashes\n", "b  3.04 s  begins anew\n"] {
        assert!(out.contains(said), "{said}: {out}");
    }
}

/// A host that is called like the word in front of it could not be named.
#[test]
fn a_host_may_be_called_at() {
    let text = FILE.replace("host b ", "host at ").replace(" b.", " at.");
    let file = written("called_at", &text);
    let commands = "break deliver at at\ncontinue\nbreak deliver at\n";
    let (out, ..) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert!(out.contains("\nat  "), "{out}");
    assert!(out.contains("what belongs behind `at` is missing"), "{out}");
    assert_eq!(out.matches("is missing").count(), 1, "{out}");
}

/// The causes ended where a frame came in.
#[test]
fn why_goes_on_at_the_host_that_sent_the_frame() {
    let out = network("sender", "break deliver\ncontinue\nwhy\n");
    let why = "app.Counts: on deliver\n  sent by device: on frame\n  what came in at device\n  frame #1, sent by a at 1 ms: device: on send\n  sent by app.Counts: on send\n  \
        sent by app.application: on send_to\n  what came in at app\n";
    assert!(out.contains(why), "{out}");
    // There and back: the host that runs is looked into, too.
    let text = format!(
        "{BELOW}stack S(device: Device) {{\n    app = Answers over device\n    export app\n}}\nnetwork N {{\n    host a = S()\n    host b = S()\n    \
        link l {{ a.device, b.device   delay 1 ms }}\n    at 1 ms a.app.send_to(\"x\")\n    until 20 ms\n}}\n"
    );
    let file = written("back", &text);
    let (out, err, _) =
        transcript(&["debug", file.to_str().unwrap()], "break Answers.deliver at a times 2\ncontinue\nwhy\n");
    assert_eq!(err, "", "{out}");
    let frames = [
        "frame #4, sent by b at 4 ms: ",
        "frame #3, sent by a at 3 ms: ",
        "frame #2, sent by b at 2 ms: ",
        "frame #1, sent by a at 1 ms: ",
    ];
    let places: Vec<Option<usize>> = frames.iter().map(|frame| out.find(frame)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {out}");
    assert!(
        out.trim_end().ends_with("what came in at app\n(mokume)")
            || out.contains("on send_to\n  what came in at app\n"),
        "{out}"
    );
}

/// `below.mtu` stood in the code that was shown, and nothing printed it.
#[test]
fn what_layers_below_publish_is_printed_and_compared() {
    let text = format!(
        "{BELOW}stack S(device: Device) {{\n    app = Asks / Room over device\n    export app\n}}\nnetwork N {{\n    host a = S()\n    host b = S()\n    \
        link l {{ a.device, b.device   delay 1 ms }}\n    at 1 ms a.app.send_to(\"x\")\n    at 2 ms a.app.send_to(\"y\")\n    until 20 ms\n}}\n"
    )
    .replace("session {", "entity {")
    .replace("entity { var heard: u32 = 0 }\n    entity { var own: u32 = 0 }", "entity {\n        var heard: u32 = 0\n        var own: u32 = 0\n    }");
    let file = written("below", &text);
    let commands = "break Asks.send if below.room < 97\ncontinue\nprint below.room\nprint below.mtu\nprint below.other\nprint below.credit\nbreak Room.send say {below.mtu}\ncontinue\n";
    let (out, err, _) = transcript(&["debug", file.to_str().unwrap()], commands);
    assert_eq!(err, "", "{out}");
    assert!(out.contains("a  2 ms") && out.contains("print below.room\n96\n"), "{out}");
    assert!(out.contains("print below.mtu\n1510\n") && out.contains("nothing is called `below.other` here"), "{out}");
    assert!(out.contains("it does not read `below.credit`"), "{out}");
    assert!(out.contains("\na  1514  (point 2)\n"), "{out}");
    // Of a session: its own, of a value that only `on change` names, too.
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/program/changes_of_sessions.mok");
    let commands = "break Tells.send times 2\ncontinue\nprint below.room\nprint below.half\nprint below.own_room\n";
    let (out, err, _) = transcript(&["debug", file.to_str().unwrap(), "--test", "a session hears"], commands);
    assert_eq!(err, "", "{out}");
    assert!(
        out.contains("below.room\n3\n") && out.contains("below.half\n0\n") && out.contains("own_room\n1\n"),
        "{out}"
    );
}
