//! Completion: what is proposed where.

use serde_json::{json, Value};

use crate::editor::Editor;

const PART: &str = "record Pair { left: u8, right: u8 }\nconst MOST: u8 = 3\nservice Log { note(what: u8) }\n";

/// The file of these tests, with this text in the middle; `|` is the cursor.
fn with(within: &str) -> String {
    format!(
        "use \"part.mok\"\nenum Kind: u8 {{ Ask = 1, Tell }}\nattribute weight: u8 = 0\nworker Counts(grant: u16 = 2) {{\n    header {{ kind: u8, seq: u16 }}\n    uses Log as log\n    reads weight\n    session {{\n        var next: u16 = 0\n        timer wait\n    }}\n    object Entry[who: u8] capacity 4 {{ var seen: u16 = 0 }}\n    fn ahead(by: u16) -> u16 {{ return next + by }}\n{within}\n}}\n"
    )
}

/// The labels of the proposals at the last `|` of a text.
fn at(text: &str) -> Vec<String> {
    items(text).iter().map(|found| found["label"].as_str().unwrap().to_string()).collect()
}

/// The proposals at the last `|` of a text.
fn items(text: &str) -> Vec<Value> {
    let offset = text.rfind('|').unwrap();
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap().len();
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open_silently("a.mok", &format!("{}{}", &text[..offset], &text[offset + 1..]));
    let document = json!({ "uri": Editor::uri("a.mok") });
    let position = json!({ "line": line, "character": column });
    let found = editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
    found.as_array().cloned().unwrap_or_default()
}

#[track_caller]
fn proposes(text: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = at(text);
    let has = |name: &&&str| found.iter().any(|known| known == **name);
    let missing: Vec<_> = wanted.iter().filter(|name| !has(name)).collect();
    let wrong: Vec<_> = unwanted.iter().filter(has).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?} of {found:?}");
}

#[test]
fn modules_behind_use() {
    proposes("use |\n", &["udp", "thin", "tcp", "ethernet"], &["worker", "let"]);
    proposes("use u|\n", &["udp"], &["worker"]);
}

#[test]
fn words_where_they_may_stand() {
    proposes("wor|\n", &["worker", "stack", "record"], &["let", "var"]);
    proposes(&with("    |"), &["on", "session", "header"], &["let", "worker"]);
    proposes(&with("    session { v| }"), &["var", "timer", "quota"], &["let", "on"]);
    proposes(
        &with("    on send(msg) {\n        |\n    }"),
        &["let", "if", "drop", "below", "next", "msg"],
        &["worker", "var"],
    );
}

#[test]
fn names_in_sight() {
    let code = "    on send(msg) {\n        let own = 3\n        let other = o|\n        let late = 4\n    }";
    proposes(
        &with(code),
        &["own", "msg", "next", "ahead", "grant", "MOST", "Kind.Ask", "Entry", "now", "log"],
        &["late", "Kind", "wait"],
    );
    proposes(&with("    on expiry wait { next = | }"), &["next", "ahead"], &["msg", "let"]);
}

#[test]
fn what_is_behind_a_dot() {
    let code = |dot: &str| {
        with(&format!("    on send(msg) {{\n        let p = Pair {{ left: 1, right: 2 }}\n        {dot}\n    }}"))
    };
    proposes(&code("let x = p.|"), &["left", "right"], &["next", "size"]);
    proposes(&code("let x = msg.|"), &["size", "weight", "u16be"], &["left"]);
    proposes(&code("let x = Kind.|"), &["Ask", "Tell"], &["left"]);
    proposes(&code("below.|"), &["send", "open"], &["deliver", "mtu"]);
    proposes(&code("let x = below.|"), &["mtu", "credit"], &["send", "open"]);
    proposes(&code("above.|"), &["deliver", "failed"], &["send", "mtu"]);
    proposes(&code("log.|"), &["note"], &["send"]);
    proposes(&code("if let e = Entry[1] { e.| = 3 } else { }"), &["seen"], &["next"]);
}

#[test]
fn arguments_by_name_and_types_and_reasons() {
    let code = |line: &str| with(&format!("    on send(msg) {{\n        {line}\n    }}"));
    proposes(&code("below.send(msg, |)"), &["kind:", "seq:", "msg"], &[]);
    proposes(&code("let x = ahead(|)"), &["by:", "next"], &["kind:"]);
    proposes(&with("    fn f(a: |) { }"), &["u8", "Pair", "Kind", "Message"], &["next", "Counts"]);
    proposes(&code("drop msg: |"), &["timed_out", "no_room"], &["let"]);
    proposes(&with("    on |"), &["send", "deliver", "expiry"], &["let", "next"]);
}

#[test]
fn layers_in_bundles_and_stacks() {
    let stack =
        |line: &str| format!("{}stack S(device: Device) {{\n    low = Counts over device\n    {line}\n}}\n", with(""));
    proposes(&stack("app = |"), &["Counts"], &["low", "let"]);
    proposes(&stack("app = Counts over |"), &["low", "device"], &["Counts"]);
    proposes(&stack("app = Counts(|) over low"), &["grant:"], &[]);
    proposes(&stack("export |"), &["low"], &["Counts"]);
    proposes(&format!("{}bundle B = |\n", with("")), &["Counts"], &["let"]);
}

const WHOLE: &str = "worker Lower { publish room: u32 = 3  publish own_way: u32 = 4 }
worker Unused { publish nowhere: u32 = 3 }
vocabulary Words { up asked(what: u8, who: u16) }
attribute weight: u8 = 0
attribute colour: u8 = 0
container Queue<T>(capacity: u32) { var first: u32 = 0 }
worker Speaks {
    speaks Words
    reads colour
    header { Hello { size: u8, seq: seq16 } | Bye { why: u8 } }
    publish mtu: u32 = 5
    session { timer again  timer late  var next: u16 = 0  counter heard }
    object Entry[who: u8] capacity 4 { timer gone  on expiry gone { end } }
MIDDLE
    on expiry again { }
    on expiry late { }
}
bundle Speaking = Speaks encoded SpeaksWire
wire SpeaksWire big {
    kind: u8
    choice kind {
        1 => Hello { size: u8 = Speaks.Hello.size  seq: u16 = Speaks.Hello.seq }
        2 => Bye { why: u8 = WIRE }
    }
}
stack S(device: Device) {
    app = Speaking over low
    low = Lower over device
    export app
}
test \"t\" {
    TEST
}
";

/// A whole file with its parts in place; where nothing is said there is what compiles.
fn whole(middle: &str, wire: &str, test: &str) -> String {
    WHOLE.replace("MIDDLE", middle).replace("WIRE", wire).replace("TEST", test)
}

/// What does not compile where the cursor is was offered: all words for a timer, events for a value.
#[test]
fn what_is_proposed_would_compile() {
    let code = |line: &str| whole(&format!("    on send(msg) {{\n        {line}\n    }}"), "Speaks.Bye.why", "stack S");
    let timers = ["again", "late"];
    proposes(&code("stop |"), &timers, &["next", "msg", "gone", "let", "heard"]);
    proposes(&code("start |"), &timers, &["next", "msg", "after"]);
    proposes(&code("start again |"), &["after", "at"], &["next", "again", "let"]);
    proposes(&code("if running |"), &timers, &["next"]);
    proposes(&code("let x = below.|"), &["mtu", "room", "own_way", "credit"], &["send", "nowhere", "abort"]);
    proposes(&code("let x = msg.|"), &["size", "colour", "u32le", "put_u16be", "received", "u8"], &["weight"]);
    proposes(&code("let own = |"), &["msg", "next", "below"], &["own"]);
    proposes(&code("let own = 3\n        let other = |"), &["own"], &["other"]);
    proposes(&code("b|.send(msg)"), &["below", "above"], &[]);
    proposes(&code("count |"), &["heard"], &["again", "next"]);
    proposes(&code("let x = |"), &["next", "Entry"], &["heard", "again", "late", "Queue"]);
    proposes(&code("|"), &["next", "let", "below"], &["now", "true", "heard", "min"]);
    let member = |line: &str| whole(line, "Speaks.Bye.why", "stack S");
    proposes(&member("    on expiry |"), &["again", "late"], &["send", "deliver", "next"]);
    proposes(&member("    on deliver(msg, |) { }"), &["Hello", "Bye"], &["send", "opened"]);
    proposes(&member("    on deliver(Hello { s| }) { }"), &["size", "seq"], &["abort", "send", "why"]);
    proposes(&member("    on deliver(Hello { s|"), &["size", "seq"], &["abort", "send", "why"]);
    proposes(&member("    fn f(a: |) { }"), &["seq8", "seq16", "seq32", "Reason", "u48"], &["next"]);
    proposes(&member("    publish room: u32 = b|"), &["below"], &[]);
    proposes(&member("    entity { | }"), &["var", "Queue"], &["on"]);
    proposes(&code("consume msg: |"), &["timed_out"], &["let"]);
    proposes(&code("drop msg: mine\n        fail: |"), &["timed_out", "mine"], &["let", "next"]);
}

/// What is taken from a list by its label alone is right there; what is not is written with the sign that follows.
#[test]
fn each_value_that_is_proposed_compiles() {
    let code = |value: &str| {
        let part = "enum Way: u8 { In = 1, Out }\nrecord Two { one: u8, two: u8 }\nconst MOST: u8 = 3\nfn twice(x: u8) -> u8 { return x +% x }\n";
        let state = "entity { var next: u16 = 0  timer wait  quota kept: 4  counter heard  array table: [u8; 4] }";
        let more = "fn tell() { next = 1 }\n    fn none() -> u8 { return 2 }\n    object Entry[who: u8] capacity 4 { var seen: u16 = 0 }";
        format!("{part}worker W(most: u8 = 4) {{\n    {state}\n    {more}\n    on send(msg) {{\n        let first = 1\n        let _x = {value}\n        below.send(msg)\n    }}\n}}\n")
    };
    let text = code("|");
    let whole = items(&text).into_iter().filter(|item| item["insertText"].is_null());
    let labels: Vec<String> = whole.map(|item| item["label"].as_str().unwrap().to_string()).collect();
    assert!(labels.len() > 8, "{labels:?}");
    let wrong = labels.into_iter().filter(|label| {
        let mut editor = Editor::with_files(&[]);
        editor.open("a.mok", &code(label));
        editor.settle();
        editor.diagnostics[&Editor::uri("a.mok")].iter().any(|found| found["severity"] == 1)
    });
    // Those that go on, `below.mtu` and `not next`; and a message, which is not copied.
    let wrong: Vec<String> = wrong.collect();
    assert_eq!(wrong, ["below", "msg", "not"]);
    let written = |label: &str| {
        let all = items(&text);
        let one = all.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("{label}"));
        one["insertText"].as_str().unwrap_or(label).to_string()
    };
    let signs = [("twice", "twice("), ("none", "none()"), ("Entry", "Entry["), ("Two", "Two {"), ("table", "table[")];
    signs.iter().for_each(|(label, text)| assert_eq!(written(label), *text));
    let methods = items(&code("msg.|"));
    let text_of = |label: &str| methods.iter().find(|item| item["label"] == label).unwrap()["insertText"].clone();
    assert_eq!((text_of("u16be"), text_of("size")), (json!("u16be("), Value::Null));
    // Where the sign stands already it is not written again.
    let behind = items(&code("tw|(3)"));
    let twice = behind.iter().find(|item| item["label"] == "twice").unwrap();
    assert!(twice["insertText"].is_null(), "{twice}");
}

/// The key of a multiplexor is a header, and binds what stands on it.
#[test]
fn keys_of_multiplexors_are_named_in_wires_and_stacks() {
    let wire = |value: &str| {
        format!("multiplexor Two {{ key {{ port: u8, lane: u8 }} }}\nmultiplexor Same {{ key symmetric {{ kind: u8 }} }}\n{}\nwire W big {{ a: u8 = {value} }}\n", SESSIONS.replace("wire DoorsWire", "worker Unused { header { a: u8 } }\nwire DoorsWire"))
    };
    proposes(&wire("Doors.|"), &["source", "destination"], &["door"]);
    proposes(&wire("Two.|"), &["source_port", "source_lane", "destination_port"], &["source", "port"]);
    proposes(&wire("Same.|"), &["kind"], &["source"]);
    let own = |value: &str| wire("1").replacen("Doors.destination", value, 1);
    proposes(&own("|"), &["Doors"], &["Unused", "Two", "Keeps"]);
    proposes(&own("D|.source"), &["Doors"], &["Unused"]);
    let stack = |key: &str| {
        let more = "multiplexor Two { key { port: u8, lane: u8 } }\n";
        format!("{more}{SESSIONS}stack Bound(device: Device) {{\n    app = Keeps over low[{key}\n    low = Doored over device\n    two = Two over low\n    export app\n}}\n")
    };
    proposes(&stack("|]"), &["door:"], &["low", "Doors", "source:"]);
    proposes(&stack("d|: 1]"), &["door:"], &["low"]);
    proposes(&stack("|]").replace("over low[", "over two["), &["port:", "lane:"], &["door:"]);
    proposes(&stack("port: 1, |]").replace("over low[", "over two["), &["lane:"], &["port:"]);
    // The alternatives of a choice, and the field by which it goes.
    let arm = |text: &str| {
        whole("    on send(msg) { pass }", "Speaks.Bye.why", "stack S")
            .replace("choice kind {\n        1 => Hello", text)
    };
    proposes(&arm("choice kind {\n        1 => |Hello"), &["Hello", "Bye", "Speaks"], &["Lower"]);
    proposes(&arm("choice | {\n        1 => Hello"), &["kind"], &["Hello", "size"]);
}

#[test]
fn wires_name_layers_and_their_fields() {
    let wire = |value: &str| whole("    on send(msg) { pass }", value, "stack S");
    proposes(&wire("Speaks.Hello.|"), &["size", "seq"], &["why", "Bye"]);
    proposes(&wire("Speaks.|"), &["Hello", "Bye"], &["why"]);
    proposes(&wire("S|"), &["Speaks"], &["Lower"]);
}

#[test]
fn tests_name_stacks_ports_reasons_and_counters() {
    let test = |line: &str| whole("    on send(msg) { drop msg: tired }", "Speaks.Bye.why", line);
    proposes(&test("stack |"), &["S"], &["Speaks", "Speaking"]);
    proposes(&test("stack S\n    |"), &["app", "device", "dropped", "after"], &["low", "worker"]);
    proposes(&test("stack S\n    => |"), &["app", "device", "nothing"], &["worker", "low"]);
    proposes(&test("stack S\n    dropped |"), &["tired", "timed_out"], &["worker", "wire"]);
    proposes(&test("stack S\n    counter |"), &["heard"], &["worker", "wire", "next"]);
    proposes(&test("stack S\n    reported |"), &["overflow", "bounds"], &["worker"]);
}

const SESSIONS: &str = "multiplexor Doors { key { door: u8 } }
wire DoorsWire big { to: u8 = Doors.destination  from: u8 = Doors.source }
bundle Doored = Doors encoded DoorsWire
worker Keeps { session { counter heard }  on deliver(msg) { count heard  above.deliver(msg) } }
stack S(device: Device) { app = Keeps over doors  doors = Doored over device  export app }
";

/// What a port takes and gives follows from the whole stack: the compiler says it.
#[test]
fn tests_and_networks_name_the_events_of_ports() {
    let test = |line: &str| format!("{SESSIONS}test \"t\" {{\n    {line}\n}}\n");
    let outputs = ["deliver_from", "accepted", "opened"];
    proposes(&test("stack S\n    device.|"), &["frame"], &["send_to", "open"]);
    proposes(&test("stack S\n    app.|"), &["open", "send", "close"], &["deliver", "opened", "frame", "asked"]);
    proposes(&test("stack S\n    app.s|\n    => nothing"), &["open", "send"], &["opened"]);
    proposes(&test("stack S\n    app.open(1)\n    => app.|"), &["opened", "deliver"], &["open", "send"]);
    proposes(&test("stack S\n    => app.opened(1, ?s)  app.|\n    after 1 ms"), &["opened", "deliver"], &["open"]);
    proposes(&test("stack S\n    => device.|"), &["frame"], &outputs);
    let network = |line: &str| {
        let hosts = "host a = S\n    host b = S\n    link l { a.device, b.device }";
        format!("{}\nnetwork N {{\n    {hosts}\n    {line}\n    until 1 s\n}}\n", test("stack S"))
    };
    proposes(&network("at 1 ms a.app.|"), &["open", "send"], &["opened", "deliver"]);
    proposes(&network("at 1 ms a.|"), &["app"], &["device", "open"]);
    proposes(&network("at 1 ms |"), &["a", "b"], &["app", "l"]);
    proposes(&network("expect |"), &["a", "b", "nothing"], &["app"]);
    proposes(&network("expect a.app.|"), &["opened", "deliver"], &["open"]);
    proposes(&network("expect nothing at a.app.|"), &["opened", "deliver"], &["open"]);
    proposes(&network("when a.app.|"), &["opened", "deliver"], &["open"]);
    proposes(&network("when a.app.opened(1, ?s) a.app.|"), &["open", "send"], &["opened"]);
    proposes(&network("when a.app.opened(1, ?s) after 5 ms a.app.|"), &["open", "send"], &["opened"]);
    proposes(&network("frame 3 of a.|"), &["device"], &["app"]);
    proposes(&network("casts app.|"), &["send"], &["deliver"]);
    proposes(&network("delivers app.|"), &["deliver"], &["send"]);
    // A suite's tests are run with the stacks that its runs name.
    let suite = |line: &str| {
        let one = format!("    test \"one\" {{\n        stack Any\n        {line}\n    }}\n");
        let suite = format!("suite Sending(Any: stack) {{\n{one}}}\nrun Sending(S)\n");
        format!("{}\n{suite}", test("stack S"))
    };
    proposes(&suite("app.|"), &["open", "send"], &["opened"]);
}

/// Editors show what is near first: the layer's, then the file's, then the library's.
#[test]
fn what_is_near_comes_first() {
    let text = with("    on send(msg) {\n        let own = |\n    }");
    let offset = text.find('|').unwrap();
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap().len();
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open_silently("a.mok", &text.replacen('|', "", 1));
    let document = json!({ "uri": Editor::uri("a.mok") });
    let position = json!({ "line": line, "character": column });
    let found = editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
    let order = |label: &str| {
        let all = found.as_array().unwrap();
        let one = all.iter().find(|one| one["label"] == label).unwrap_or_else(|| panic!("{label}"));
        one["sortText"].as_str().unwrap().to_string()
    };
    assert!(order("msg") < order("next") && order("next") < order("Kind.Ask"), "{found}");
    assert!(order("Kind.Ask") < order("MOST"), "{found}");
}

#[test]
fn nothing_is_wrong_with_a_cursor_anywhere() {
    let text =
        with("    on send(msg) {\n        let own = ahead(by: 2)\n        below.send(msg, kind: 1, seq: own)\n    }");
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open_silently("a.mok", &text);
    let document = json!({ "uri": Editor::uri("a.mok") });
    for (line, content) in text.lines().enumerate() {
        for column in (0..content.len() + 2).step_by(3) {
            let position = json!({ "line": line, "character": column });
            editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
        }
    }
}

/// The files of programs that need no other files than the library's.
fn programs() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<(String, String)> = Vec::new();
    for folder in ["examples", "tests/program", "tests/newcomer"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|file| file.unwrap().path());
        for file in files.filter(|file| file.extension().is_some_and(|end| end == "mok")) {
            found.push((
                format!("{}/{}", root.join(folder).display(), file.file_name().unwrap().to_string_lossy()),
                std::fs::read_to_string(&file).unwrap(),
            ));
        }
    }
    found.retain(|(_, text)| !text.lines().any(|line| line.starts_with("use ") && line.contains('"')));
    found.sort();
    found
}

/// The lines of the items of a file that begin with one of these words, by their numbers.
fn lines_of<'t>(text: &'t str, words: &[&str]) -> Vec<(usize, &'t str)> {
    let mut is_within = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            is_within = words.iter().any(|word| line.starts_with(&format!("{word} ")));
        } else if is_within {
            found.push((number, line.split("//").next().unwrap()));
        }
    }
    found
}

/// Where words begin in a line that are neither in a text nor in brackets, nor numbers or their units.
fn words_of(line: &str) -> Vec<(usize, &str)> {
    let (mut depth, mut is_text, mut found) = (0i32, false, Vec::new());
    let octets = line.as_bytes();
    let is_word = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'_';
    for (at, octet) in line.bytes().enumerate() {
        is_text ^= octet == b'"';
        depth += i32::from(matches!(octet, b'(' | b'[')) - i32::from(matches!(octet, b')' | b']'));
        let begins = octet.is_ascii_alphabetic() && (at == 0 || !is_word(octets[at - 1]));
        if begins && !is_text && depth == 0 {
            let end = (at..octets.len()).find(|end| !is_word(octets[*end])).unwrap_or(octets.len());
            found.push((at, &line[at..end]));
        }
    }
    found
}

/// Units are written behind numbers, which nothing proposes.
const UNITS: [&str; 10] = ["ns", "us", "ms", "s", "min", "h", "kbit", "Mbit", "Gbit", "octets"];

/// Wherever a word stands in a network of the repository, it is among those that are proposed there.
#[test]
fn each_word_of_a_network_is_proposed_where_it_stands() {
    let mut missing = Vec::new();
    let mut count = 0;
    let mut known = std::collections::BTreeSet::new();
    for (path, text) in programs() {
        let lines = lines_of(&text, &["network"]);
        let mut editor = Editor::with_files(&[]);
        for (number, line) in lines {
            for (at, word) in words_of(line) {
                let is_named = ["host ", "link "].iter().any(|item| line[..at].trim_start() == *item);
                // What stands elsewhere alike is looked at once.
                let is_known = !known.insert(format!("{}{word}", line[..at].trim_start()));
                if UNITS.contains(&word) || is_named || is_known {
                    continue;
                }
                let before: String = text.lines().take(number).map(|line| format!("{line}\n")).collect();
                let after: String = text.lines().skip(number + 1).map(|line| format!("\n{line}")).collect();
                // The word is taken away; what is behind it on its line stays.
                let cut = format!("{before}{}{}{after}", &line[..at], &line[at + word.len()..]);
                editor.open_silently("a.mok", &cut);
                let document = json!({ "uri": Editor::uri("a.mok") });
                let position = json!({ "line": number, "character": at });
                let found =
                    editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
                count += 1;
                if !found.as_array().is_some_and(|all| all.iter().any(|one| one["label"] == word)) {
                    missing.push(format!("{path}:{}: {}|{word}", number + 1, &line[..at]));
                }
            }
        }
    }
    assert!(count > 50 && missing.is_empty(), "{} of {count}:\n{}", missing.len(), missing.join("\n"));
}

/// What begins an item of a file begins nothing within another.
#[test]
fn nothing_of_a_file_is_proposed_within_its_items() {
    let network = |line: &str| {
        let hosts = "host a = S()\n    host b = S()\n    link l { a.device, b.device LINK }";
        format!("{SESSIONS}network N {{\n    {hosts}\n    {line}\n    until 1 s\n}}\n")
    };
    let of_file = ["attribute", "bundle", "worker", "wire", "vocabulary"];
    let on = |line: &str| network(line).replace(" LINK", "");
    proposes(&on("|"), &["at", "when", "expect", "frame", "clock", "until"], &of_file);
    for word in ["partition", "crash", "restart", "clock"] {
        proposes(&on(&format!("{word} |")), &["a", "b"], &[&of_file[..], &["Keeps"]].concat());
    }
    proposes(&on("partition a, b |"), &["from"], &of_file);
    proposes(&on("expect casts |"), &["total", "together"], &of_file);
    proposes(&on("frame 1 of a.device |"), &["to", "lost", "late"], &of_file);
    proposes(&on("expect a.|"), &["app", "device"], &of_file);
    proposes(&on("expect nothing at a.|"), &["app", "device"], &of_file);
    proposes(&on("when a.|"), &["app", "device"], &of_file);
    proposes(&on("when a.app.opened(1) b.|"), &["app"], &["device"]);
    proposes(&network("until 1 s").replace("LINK", " |"), &["loss", "delay"], &of_file);
    proposes(&network("until 1 s").replace("LINK", "delay 1 ms |"), &["loss", "burst"], &of_file);
    let test = |line: &str| format!("{SESSIONS}test \"t\" {{\n    stack S\n    {line}\n}}\n");
    proposes(&test("=> app.opened(1, ?s)  |"), &["app", "device"], &of_file);
    let no_value = ["now", "random", "flow", "message", "clamp"];
    proposes(&test("=> app.opened(1, ?s)\n    app.send(|"), &["s", "DoorsWire"], &no_value);
    proposes(&test("after |"), &[], &no_value);
}

/// A list in a wire has a length, and its elements have the name that `each` gives them.
#[test]
fn wires_name_lists_and_their_elements() {
    let wire = |each: &str| {
        format!("record Two {{ one: u8, two: u8 }}\nworker N {{ header {{ x: u8, list: [u8; ..4], twos: [Two; ..4] }} }}\nbundle B = N encoded W\nwire W big {{\n    {each}\n}}\n")
    };
    proposes(&wire("n: u8 = N.list.|"), &["length"], &[]);
    proposes(&wire("n: u8 = N.list.length\n    |"), &["choice", "each", "where"], &["worker", "attribute"]);
    proposes(&wire("each e in |"), &["N"], &["worker", "wire"]);
    proposes(&wire("each e in N.|"), &["list"], &["worker"]);
    proposes(&wire("each e in N.list { e: u8 = | }"), &["e"], &["worker"]);
    proposes(&wire("each e in N.twos { a: u8 = e.| }"), &["one", "two"], &["x"]);
}

/// A device may not be exported; a stack that runs is told what its device says of itself.
#[test]
fn what_is_exported_and_what_is_set() {
    let stack =
        |line: &str| format!("{}stack S(device: Device) {{\n    low = Counts over device\n    {line}\n}}\n", with(""));
    proposes(&stack("export |"), &["low"], &["device", "Counts"]);
    proposes(&stack("app = Counts over |"), &["low", "device"], &[]);
    let test = |line: &str| format!("{}test \"t\" {{\n    {line}\n}}\n", stack("export low"));
    proposes(&test("stack S(|)"), &["device.mac:", "device.mtu:", "MOST"], &["now", "flow", "random"]);
    proposes(&test("stack S(dev|"), &["device.mac:"], &[]);
    let network = |line: &str| format!("{}network N {{\n    {line}\n}}\n", stack("export low"));
    proposes(&network("host a = S(|)"), &["device.mac:"], &["now"]);
    proposes(&stack("app = Counts(|) over low"), &["grant:"], &["device.mac:"]);
}

/// What has the type of the parameter comes first.
#[test]
fn values_of_the_wanted_type_come_first() {
    let code = |line: &str| {
        let more = "    fn told(kind: Kind, loud: bool, by: u16) -> u16 { if loud { return by } return kind as u16 }\n";
        with(&format!(
            "{more}    on send(msg) {{\n        let small: u8 = 1\n        let whole: u16 = 2\n        {line}\n    }}"
        ))
    };
    let first = |line: &str| {
        let mut found = items(&code(line));
        found.sort_by_key(|item| item["sortText"].as_str().unwrap().to_string());
        let is_wanted = |item: &&Value| item["sortText"].as_str().unwrap().starts_with('!');
        found.iter().filter(is_wanted).map(|item| item["label"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(first("let x = told(|, true, 3)"), ["Kind.Ask", "Kind.Tell"]);
    assert_eq!(first("let x = told(Kind.Ask, |, 3)"), ["false", "not", "true"]);
    assert_eq!(first("let x = told(Kind.Ask, true, by: |)"), ["whole", "grant", "next"]);
    assert_eq!(first("let x = |"), [""; 0]);
}
