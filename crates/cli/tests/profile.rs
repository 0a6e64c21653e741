//! `mokume profile`, and paths that follow the profile that it writes.

use std::path::Path;
use std::process::{Command, Output};

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn scratch(name: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_string_lossy().into_owned()
}

/// The source says that small messages are rare; in the network `Small` there are no others.
const SIZES: &str = "worker Sizes {
    entity {
        counter small
        counter large
    }

    on send(msg) {
        if unlikely msg.size < 10 { count small } else { count large }
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}

stack Sized(device: Device) {
    app = Sizes over device
    export app
}

network Small {
    host a = Sized()
    host b = Sized()
    link lan { a.device, b.device }
    at 1 ms  a.app.send_to(\"x\")
    at 2 ms  a.app.send_to(\"y\")
    at 3 ms  b.app.send_to(\"z\")
    until 1 s
}
";

/// The path of an event, by a profile or by the source.
fn path(file: &str, more: &[&str]) -> String {
    let output = mokume(&[&["path", file, "--event", "app.send_to"][..], more].concat());
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

#[test]
fn a_path_goes_where_the_network_went() {
    let file = scratch("sizes.mok", SIZES);
    let profile = scratch("sizes.profile", "");
    let told = mokume(&["profile", &file, "-o", &profile, "--format", "json"]);
    assert!(told.status.success(), "{}", said(&told));
    assert!(
        said(&told).contains(r#"{"by_path":3,"events":["app.send_to"],"reactions":3,"ways":[3]}"#),
        "{}",
        said(&told)
    );

    let by_source = path(&file, &[]);
    assert!(by_source.contains("large") && !by_source.contains("small"), "{by_source}");
    let by_profile = path(&file, &["--profile", &profile]);
    assert!(by_profile.contains("small") && !by_profile.contains("large"), "{by_profile}");

    let all = said(&mokume(&["path", &file, "--profile", &profile]));
    let unseen = "app.bind                     none: the likeliest way is of an event that the network of the profile did not have";
    assert!(all.contains(unseen), "{all}");

    let folder = Path::new(&file).with_file_name("out").to_string_lossy().into_owned();
    let built = mokume(&["build", &file, "--fuse", "2", "--profile", &profile, "-o", &folder]);
    assert!(built.status.success(), "{}", said(&built));
}

/// Twice half of what fits is not never.
#[test]
fn counts_that_are_too_large_are_the_largest() {
    let file = scratch("often.mok", SIZES);
    let profile = scratch("often.profile", "");
    assert!(mokume(&["profile", &file, "-o", &profile]).status.success());
    let written = std::fs::read_to_string(&profile).unwrap();
    let often = |line: &str| line.split_once(" | ").map(|(_, way)| format!("{} | {way}\n", 1_u64 << 63)).unwrap();
    let (head, ways): (Vec<_>, Vec<_>) = written.lines().partition(|line| !line.contains(" | "));
    let ways = ways.into_iter().map(often).collect::<String>();
    let crafted = scratch("crafted.profile", &format!("{}\n{ways}{ways}", head.join("\n")));
    let by_profile = path(&file, &["--profile", &crafted]);
    assert!(by_profile.contains("small") && !by_profile.contains("large"), "{by_profile}");
}

#[test]
fn seeds_add_up() {
    let file = scratch("seeds.mok", SIZES);
    let told = said(&mokume(&["profile", &file, "--seeds", "4"]));
    assert!(told.contains("app.send_to                        12 reactions, 100.0 % by a path, 1 way"), "{told}");
}

/// A map is written, which paths do not support yet.
#[test]
fn what_no_path_does_is_counted() {
    let text = SIZES.replace("counter small", "map seen: [u32 -> u8; 4]");
    let text = text
        .replace("unlikely msg.size < 10 { count small }", "msg.size < 10 { seen[msg.size] = 1 or { count large } }");
    let told = said(&mokume(&["profile", &scratch("counted.mok", &text)]));
    assert!(told.contains("app.send_to                         3 reactions,   0.0 % by a path, 1 way"), "{told}");
    assert!(told.contains("all                                 6 reactions,  50.0 % by a path"), "{told}");
}

#[test]
fn a_profile_of_something_else_is_refused() {
    let file = scratch("was.mok", SIZES);
    let profile = scratch("was.profile", "");
    assert!(mokume(&["profile", &file, "-o", &profile]).status.success());
    let refused = |file: &str, profile: &str| {
        let output = mokume(&["path", file, "--profile", profile]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    // The same text elsewhere is the same stack; another text is not.
    let moved = scratch("moved.mok", &format!("// moved\n\n{SIZES}"));
    assert!(mokume(&["path", &moved, "--profile", &profile]).status.success());
    let changed = scratch("changed.mok", &SIZES.replace("< 10", "< 11"));
    assert!(refused(&changed, &profile)
        .contains("is the profile of another stack than this, or of `Sized` before it was changed"));
    let garbled = std::fs::read_to_string(&profile).unwrap().replace('/', "-");
    let garbled = scratch("garbled.profile", &garbled);
    assert!(refused(&file, &garbled).contains("is no profile: line"));
    assert!(refused(&file, &scratch("binary.profile", "\u{0}\u{1}")).contains("is no profile: line 1"));
    assert!(refused(&file, "/nowhere/at.all").contains("cannot read"));
    let more = |way: &str| scratch("more.profile", &format!("{}{way}\n", std::fs::read_to_string(&profile).unwrap()));
    assert!(refused(&file, &more("1 | 999")).contains("the stack has no handler 999"));
    assert!(refused(&file, &more("1 | 0 0/77")).contains("handler 0 has no branch 0/77"));
}

/// As `mokume sim` reports it: each step, with its place and help.
#[test]
fn wrong_steps_of_the_network_are_told() {
    let file = scratch("steps.mok", &SIZES.replace("a.app.send_to(", "a.app.sent_to("));
    let of = |command: &str| {
        let output = mokume(&[command, &file]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        said(&output)
    };
    let (profiled, run) = (of("profile"), of("sim"));
    assert_eq!(profiled, run);
    assert_eq!(profiled.matches("`app.sent_to`").count(), 2, "{profiled}");
}

#[test]
fn a_profile_without_paths_is_refused() {
    let file = scratch("bare.mok", SIZES);
    let output = mokume(&["build", &file, "--fuse", "0", "--profile", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("say `--fuse 2`"), "{}", said(&output));
}

#[test]
fn a_network_of_several_stacks_asks_which() {
    let text = SIZES
        .replace("host b = Sized()", "host b = Other()")
        .replace("network", "stack Other(device: Device) {\n    app = Sizes over device\n    export app\n}\n\nnetwork");
    let file = scratch("several.mok", &text);
    let output = mokume(&["profile", &file]);
    assert!(said(&output).contains("several stacks: Sized, Other"), "{}", said(&output));
    let one = said(&mokume(&["profile", &file, "--stack", "Sized"]));
    assert!(one.contains("app.send_to                         2 reactions"), "{one}");
    let none = said(&mokume(&["profile", &file, "--stack", "Nobody"]));
    assert!(none.contains("no host of the network has a stack `Nobody`"), "{none}");
}

/// A later event's path, which only a profile begins, encodes a message of its own: it has no header of the layer above.
#[test]
fn a_message_of_a_later_event_has_no_headers_of_others() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/program/own_messages_later.mok");
    let told = said(&mokume(&["profile", file]));
    assert!(told.contains("app.Own.E.poke                      3 reactions, 100.0 % by a path"), "{told}");
}

/// Of ten messages, one takes the path; six leave it at the first guard, and three of the four others at the second.
const LEAVES: &str = "worker Leaves {
    entity { var large: u32 = 0 }
    on send(msg) {
        if msg.size >= 8 {
            large +%= 1
            if large % 4 == 0 {
                below.send(msg)
                return
            }
        }
        drop msg: other
        below.send(message(\"other\"))
    }
    on deliver(msg) { drop msg: heard }
}

stack S(device: Device) {
    app = Leaves over device
    export app
}

network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device }
    STEPS
    until 1 s
}
";

/// The text said how C lays out the branches, and of the ways that end at one place only the likeliest.
#[test]
fn what_a_path_is_left_by_is_as_the_network_had_it() {
    let steps: Vec<String> = (0..10)
        .map(|at| format!("at {at} ms a.app.send_to(\"{}\")", if at % 5 < 3 { "few" } else { "not a few" }))
        .collect();
    let file = scratch("leaves.mok", &LEAVES.replace("STEPS", &steps.join("\n    ")));
    let (profile, html) = (scratch("leaves.profile", ""), scratch("leaves.html", ""));
    let told = mokume(&["profile", &file, "-o", &profile]);
    assert!(told.status.success(), "{}", said(&told));
    let text = path(&file, &["--profile", &profile]);
    path(&file, &["--profile", &profile, "--html", &html]);
    let page = std::fs::read_to_string(&html).unwrap();
    let code = text.split("left of each layer").next().unwrap();
    let said = code.lines().filter_map(|line| line.rsplit([';', ',']).next()).map(str::trim);
    let left: Vec<&str> = said.filter(|said| said.starts_with("left ") || said.starts_with("left:")).collect();
    assert!(left.windows(2).any(|two| two == ["left 60.0 %", "left 75.0 %"]), "{text}");
    assert!(!text.contains('@'), "{text}");
    // The page has the same of each guard, in its order: first those of the code without memos.
    let words: Vec<&str> = page
        .split("<span class=\"exit")
        .skip(1)
        .map(|rest| &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()])
        .take(left.len())
        .collect();
    assert_eq!(words, left);
    let missed = text.split("not in it, the likeliest first:\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(missed.starts_with("     90.0 %  ") && missed.lines().count() == 1, "{text}");
    assert!(page.contains("<td>90.0 %</td>"), "{page}");
}
