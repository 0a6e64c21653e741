//! With paths a stack does the same as without: every file of `tests/run`, composed and uncomposed.

use std::path::Path;
use std::sync::{Arc, Mutex};

use mokume_base::FileId;
use mokume_compose::{compose, Options};
use mokume_fuse::{with_paths, Passes};
use mokume_interpret::Instance;
use mokume_reaction::profile::{Passed, Profile};
use mokume_reaction::{text, verify, Automaton, CellId, ClassId, HandlerId, Machine, PortId};
use mokume_testkit::{parameters, parse, run, split, Script};

/// The automata of the files, with their scripts.
fn files() -> Vec<(String, Automaton, Vec<Script>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("tests/run").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ra"));
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let file = std::fs::read_to_string(path).expect("a file of tests/run");
        let (automaton, tests, line) = split(&file);
        let automaton = text::parse(FileId(0), automaton).automaton;
        let scripts = parse(&automaton, tests, line).expect("scripts");
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), automaton, scripts)
    };
    files.iter().map(read).collect()
}

/// What goes wrong with paths, and how often a path was taken.
fn played(name: &str, automaton: &Automaton, scripts: &[Script]) -> (Vec<String>, u64) {
    let faults = verify(automaton);
    if !faults.is_empty() {
        return (vec![format!("{name}: {}\n{}", faults[0].message, text::print(automaton))], 0);
    }
    let printed = text::print(automaton);
    let read = text::parse(FileId(0), &printed);
    let mut wrong: Vec<String> =
        read.diagnostics.iter().map(|diagnostic| format!("{name}: {}", diagnostic.message)).collect();
    if read.automaton != automaton.canonical() {
        wrong.push(format!("{name}: the text of its paths is read as something else"));
    }
    let mut taken = 0;
    for script in scripts {
        let mut machine = Instance::new(automaton, &parameters(automaton, script), script.seed).with_paths();
        wrong.extend(run(automaton, script, &mut machine).iter().map(|failure| format!("{name}: {failure}")));
        let ledger = machine.ledger();
        if ledger.origins != ledger.fates {
            wrong.push(format!("{name}: {} messages came to be, {} have a fate", ledger.origins, ledger.fates));
        }
        taken += machine.paths_taken().iter().sum::<u64>();
    }
    (wrong, taken)
}

#[test]
fn the_files_do_with_paths_what_they_say() {
    let (mut wrong, mut found, mut taken, mut memos) = (Vec::new(), 0, 0, 0);
    for (name, automaton, scripts) in files() {
        let composed = compose(&automaton, Options::default()).automaton;
        for automaton in composed.iter().chain([&automaton]) {
            let plain = with_paths(automaton, &Profile::default());
            let with_memos = mokume_fuse::with_memos(automaton, &Profile::default(), 0);
            memos += with_memos.functions.iter().filter(|function| function.is_memo()).count();
            for automaton in [plain, with_memos] {
                found += automaton.paths.len();
                let (failures, times) = played(&name, &automaton, &scripts);
                wrong.extend(failures);
                taken += times;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 300 && taken > 500 && memos > 10, "{found} paths, taken {taken} times, {memos} memos");
}

/// A look-up's result is known only after it found something: the other side must not use it (it did: `find e.b[f]` on
/// the side where `f` is not found).
#[test]
fn what_is_found_is_known_behind_the_look_up() {
    let text = "automaton ports\n\nlayer up\n\nreason up.nobody\n\nclass up.E capacity 1 {\n  a: map 4 (u8) -> (u8)\n  b: map 4 (u8) -> ()\n}\n\n\
        port dev device {\n  in frame(m: msg) -> up.E.frame\n  out frame(m: msg)\n}\n\n\
        handler up.E.frame(e, m: msg) {\n    n = size m\n    k = cast n to u8\n    find e.a[k] then found(.., m) else other(m)\n  \
        found(f: u8, m1: msg):\n    is = eq f, 0\n    br is @0.9 good(m1), other(m1)\n  good(m2: msg):\n    out dev.frame(m2)\n    return\n  \
        other(m3: msg):\n    find e.b[0] then good(m3) else lost(m3)\n  lost(m4: msg):\n    drop m4, up.nobody\n    return\n}\n";
    let parsed = text::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let fused = with_paths(&composed, &Profile::default());
    assert!(verify(&fused).is_empty(), "{:?}", verify(&fused));
    let lines = text::path_lines(&fused, &fused.paths[0]);
    let path = lines.into_iter().map(|(line, _)| line + "\n").collect::<String>();
    assert!(path.contains("find e.a[") && path.contains("find e.b[0]"), "{path}");
}

/// If the usual way is not supported, one that drops messages must not become the path (it did: each message was asked
/// whether it is too large).
#[test]
fn a_way_that_drops_is_not_the_usual_one() {
    let text = "automaton twice\n\nlayer up\n\nreason up.large\n\nclass up.E capacity 1 {\n}\n\n\
        port app application {\n  in send(m: msg) -> up.E.send\n}\nport dev device {\n  out frame(m: msg)\n}\n\n\
        handler up.E.send(e, m: msg) {\n    n = size m\n    large = gt n, 1000\n    br large @0.01 no, yes\n  no:\n    drop m, up.large\n    return\n  \
        yes:\n    first, rest = split m, 1\n    out dev.frame(first)\n    out dev.frame(rest)\n    return\n}\n";
    let parsed = text::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let found = mokume_fuse::paths(&composed, &Profile::default(), Passes::ALL);
    let why = found[0].path.as_ref().err().map(|why| why.what.clone());
    assert_eq!(why.as_deref(), Some("splits a message, which is not followed yet"));
}

/// Where networks have shown which of a port's events come often, the others have no path; where they have shown little, all have.
#[test]
fn an_event_that_is_seldom_at_its_port_has_no_path() {
    let text = "automaton two\n\nlayer up\n\nclass up.E capacity 1 {\n  n: u32\n}\n\n\
        port app application {\n  in send(m: msg) -> up.E.send\n  in close(m: msg) -> up.E.close\n}\nport dev device {\n  out frame(m: msg)\n}\n\n\
        handler up.E.send(e, m: msg) {\n    out dev.frame(m)\n    return\n}\n\n\
        handler up.E.close(e, m: msg) {\n    set e.n, 1\n    out dev.frame(m)\n    return\n}\n";
    let parsed = text::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let whys = |sent: u64, closed: u64| -> Vec<Option<String>> {
        let [send, close] = [0, 1].map(|at| vec![Passed { handler: HandlerId(at), branches: Vec::new() }]);
        let ways = [(send, sent), (close, closed)].into_iter().filter(|way| way.1 > 0).collect();
        let called = [0, 1].map(|at| (HandlerId(at), HandlerId(at))).into_iter().collect();
        let entered = [(HandlerId(0), sent), (HandlerId(1), closed)].into();
        let found = mokume_fuse::paths(&composed, &Profile { called: Some(called), ways, entered }, Passes::ALL);
        found.into_iter().map(|found| found.path.err().map(|why| why.what)).collect()
    };
    let seldom = Some("is of an event that comes too seldom for what a path would cost".to_owned());
    assert_eq!(whys(2000, 0), [None, seldom.clone()]);
    assert_eq!(whys(2000, 3), [None, seldom]);
    assert_eq!((whys(2000, 5), whys(900, 0)), (vec![None, None], vec![None, None]));
}

/// When a call has used up its reactions, some object may still have to settle: then no path settles it a second time.
#[test]
fn who_is_still_to_settle_settles_once() {
    let text = "automaton endless\n\nlayer up\n\nclass up.E capacity 1 settle 1 {\n  stop: bool\n  ran: u32\n}\n\n\
        port app application {\n  in go() -> up.E.go\n  in stop() -> up.E.stop\n}\n\n\
        handler up.E.go(e) {\n    set e.stop, false\n    return\n}\n\n\
        handler up.E.stop(e) {\n    set e.stop, true\n    return\n}\n\n\
        settle up.E(e) {\n    ran = get e.ran\n    more = add.wrap ran, 1\n    set e.ran, more\n    stop = get e.stop\n    \
        br stop done, ask\n  ask:\n    again e\n    return\n  done:\n    return\n}\n";
    let parsed = text::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let paths = with_paths(&composed, &Profile::default());
    let stop = paths.paths.iter().position(|path| paths.handler_name(path.handler).ends_with("stop")).expect("a path");
    let ran = |mut machine: Instance| {
        machine.start(0);
        for event in [1, 0, 1] {
            machine.input(1, PortId(0), event, &[]);
        }
        machine.advance(2);
        let object = machine.objects(ClassId(0))[0];
        (format!("{:?}", machine.cell(ClassId(0), object, CellId(1))), machine.paths_taken())
    };
    let (layers, _) = ran(Instance::new(&paths, &[], 1));
    let (same, taken) = ran(Instance::new(&paths, &[], 1).with_paths());
    assert_eq!(same, layers);
    assert_eq!(taken[stop], 1, "the first time alone");
}

/// The lines of all paths of a file.
fn path_lines(name: &str) -> String {
    let files = files();
    let (_, automaton, _) = files.iter().find(|file| file.0 == name).expect("the file");
    let composed = compose(automaton, Options::default()).automaton.expect("it composes");
    let paths = with_paths(&composed, &Profile::default());
    let lines = paths.paths.iter().flat_map(|path| text::path_lines(&paths, path));
    lines.map(|(line, _)| line + "\n").collect()
}

/// The lines of all paths of an automaton with one layer, whose only handler this is.
fn paths_of(handler: &str) -> String {
    let text = format!(
        "automaton one\n\nlayer up\n\nreason up.no\nattribute dest: u8 = 255\n\nclass up.E capacity 1 {{\n  a: u32\n  b: u32\n  \
         held: [1] msg\n}}\n\nport app application {{\n  in go(to: u8, m: msg) -> up.E.go\n  out said()\n}}\n\n{handler}"
    );
    let parsed = text::parse(FileId(0), &text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let paths = with_paths(&composed, &Profile::default());
    let lines = paths.paths.iter().flat_map(|path| text::path_lines(&paths, path));
    lines.map(|(line, _)| line + "\n").collect()
}

/// Whether the least of two numbers is not zero is asked of each; what is subtracted from a constant, or is the larger of a number and a
/// constant, is asked about itself.
#[test]
fn least_numbers_are_asked_apart() {
    let path = paths_of(
        "handler up.E.go(e, to: u8, m: msg) {\n    a = get e.a\n    b = get e.b\n    x = min a, 100\n    room = sub.wrap 100, x\n    \
         y = max b, 32\n    more = sub.wrap y, 32\n    least = min room, more\n    none = eq least, 0\n    br none @0.001 no, yes\n  no:\n    \
         drop m, up.no\n    return\n  yes:\n    drop m, up.no\n    out app.said()\n    return\n}\n",
    );
    assert!(!["min ", "max ", "sub"].iter().any(|said| path.contains(said)), "{path}");
    assert!(path.contains(", 100") && path.contains(", 32"), "{path}");
}

/// What the guards leave one number of is that number in what the path does: an attribute that is as at first is not set.
#[test]
fn what_guards_say_is_known_where_all_is_asked() {
    let kept = |all: u8| {
        paths_of(&format!(
            "handler up.E.go(e, to: u8, m: msg) {{\n    marked = set.attribute m, dest, to\n    is_all = eq to, {all}\n    \
             br is_all @0.999 all, no\n  no:\n    drop marked, up.no\n    return\n  all:\n    full = holds e.held[0]\n    \
             br full @0.001 no2, free\n  no2:\n    drop marked, up.no\n    return\n  free:\n    keep e.held[0], marked\n    \
             out app.said()\n    return\n}}\n"
        ))
    };
    let as_at_first = kept(255);
    assert!(as_at_first.contains("keep ") && !as_at_first.contains("set.attribute"), "{as_at_first}");
    let other = kept(3);
    assert!(other.contains("set.attribute m, dest, 3"), "{other}");
}

/// A cell is written once on a way.
#[test]
fn a_write_that_another_replaces_is_left_out() {
    let path = paths_of(
        "handler up.E.go(e, to: u8, m: msg) {\n    set e.a, 1\n    set e.b, 2\n    wide = cast to to u32\n    set e.a, wide\n    \
         drop m, up.no\n    out app.said()\n    return\n}\n",
    );
    assert_eq!((path.matches("set e.a").count(), path.matches("set e.b").count()), (1, 1), "{path}");
    assert!(!path.contains("set e.a, 1\n"), "{path}");
}

/// A settling object is followed to its emissions, including messages that were stored before.
#[test]
fn settling_is_followed() {
    let path = path_lines("settling_is_followed.ra");
    for said in ["spend ", "keep ", "share ", "join ", "out dev.frame"] {
        assert!(path.contains(said), "{said}: {path}");
    }
}

/// Usual options are expected as the encoder writes them; stored messages are consumed, and their units returned.
#[test]
fn options_are_followed() {
    let path = path_lines("options_are_followed.ra");
    for said in ["load.be32 m, 4", "16844810", "consume.held ", "give ", "out app.octets"] {
        assert!(path.contains(said), "{said}: {path}");
    }
}

/// What waits in places is taken out and goes on; what is put off is put off where there is room.
#[test]
fn what_places_held_goes_on() {
    let path = path_lines("a_queue_goes_on_by_paths.ra");
    for said in [
        "take.held e.waits[",
        "give e.kept",
        "out app.said",
        "front ",
        "keep e.aside[",
        "waiting e.comes",
        "defer e.comes(",
    ] {
        assert!(path.contains(said), "{said}: {path}");
    }
}

/// What was put off begins a reaction, and a path, if a run shows that it often comes.
#[test]
fn what_was_put_off_begins_a_path() {
    let taken = taken_behind_its_profile(BEHIND, "comes", eight_go);
    assert_eq!(taken, 8);
}

/// An event that is only ever put off begins a reaction: nothing stands in a queue before what its path emits, though each
/// channel has one. If some layer emits the event, too, something may.
#[test]
fn what_is_only_put_off_has_nothing_before_it() {
    let queued = || text::parse(FileId(0), BEHIND).automaton;
    let profile = profile_of(&queued(), eight_go);
    let has_path = |automaton: &Automaton| {
        let paths = with_paths(automaton, &profile);
        let place = paths.paths.iter().position(|path| automaton.handler_name(path.handler).contains("comes"))?;
        let mut machine = Instance::new(&paths, &[], 1).with_paths();
        assert_eq!(eight_go(&mut machine), eight_go(&mut Instance::new(automaton, &[], 1)));
        Some(machine.paths_taken()[place])
    };
    assert_eq!(has_path(&queued()), Some(8));
    let emitted = BEHIND.replace("    drop x, up.full\n", "    emit e.comes(x)\n");
    let emitted = text::parse(FileId(0), &emitted);
    assert!(emitted.diagnostics.is_empty(), "{:?}", emitted.diagnostics);
    assert_eq!(has_path(&emitted.automaton), None);
}

/// A layer that puts off what it gets, and then has it sent by the layer below.
const BEHIND: &str =
    "automaton behind\n\nlayer up\nlayer low\n\nreason up.full\nattribute mark: u8 = 3\n\nclass up.E capacity 1 {\n  told: u32\n}\n\
        class low.E capacity 1 {\n  seen: u32\n}\n\nport app application {\n  in go(m: msg) -> up.E.go\n  out said(n: u8, m: msg)\n}\n\n\
        handler up.E.go(e, m: msg) {\n    x = set.attribute m, mark, 9\n    later e.comes(x) then done else full\n  full:\n    \
        drop x, up.full\n    return\n  done:\n    return\n}\n\n\
        handler up.E.comes(e, m: msg) later 2 {\n    old = get e.told\n    more = add.wrap old, 1\n    set e.told, more\n    \
        low = unique low.E\n    emit low.send(m)\n    return\n}\n\n\
        handler low.E.send(e, m: msg) {\n    old = get e.seen\n    more = add.wrap old, 1\n    set e.seen, more\n    \
        n = get.attribute m, mark\n    out app.said(n, m)\n    return\n}\n";

/// Eight messages for `BEHIND`, one after the other; what came out.
fn eight_go(machine: &mut Instance) -> String {
    machine.start(0);
    let message = |at: u64| mokume_reaction::Datum::Message(vec![at as u8]);
    let said: Vec<_> = (1..9).map(|at| machine.input(at, PortId(0), 0, &[message(at)])).collect();
    format!("{said:?}")
}

/// The ways that a run takes.
fn profile_of(automaton: &Automaton, run: impl Fn(&mut Instance) -> String) -> Profile {
    let seen = Arc::new(Mutex::new(Profile::default()));
    let mut watched = Instance::new(automaton, &[], 1);
    watched.record_ways(seen.clone());
    run(&mut watched);
    let profile = seen.lock().unwrap().clone();
    profile
}

/// How often a run takes the path of the handler of that name. The path is only made by the run's profile, and the run does the same with
/// paths as by layers.
fn taken_behind_its_profile(text: &str, name: &str, run: impl Fn(&mut Instance) -> String) -> u64 {
    let parsed = text::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let composed = compose(&parsed.automaton, Options::default()).automaton.expect("it composes");
    let profile = profile_of(&composed, &run);
    let layers = run(&mut Instance::new(&composed, &[], 1));
    let is_it = |path: &mokume_reaction::Path| composed.handler_name(path.handler).contains(name);
    let plain = with_paths(&composed, &Profile::default());
    assert!(!plain.paths.iter().any(is_it), "only where it is shown");
    let paths = with_paths(&composed, &profile);
    assert!(verify(&paths).is_empty(), "{:?}", verify(&paths));
    let place = paths.paths.iter().position(is_it).expect("its path");
    let mut machine = Instance::new(&paths, &[], 1).with_paths();
    assert_eq!(run(&mut machine), layers);
    machine.paths_taken()[place]
}

/// A timer that expires in a run has a path, which settles what it makes dirty: once, as the layers do.
#[test]
fn a_timer_that_runs_out_begins_a_path() {
    let text = "automaton ticks\n\nlayer up\n\nclass up.E capacity 1 settle 1 {\n  t: timer\n  ticked: u32\n  settled: u32\n}\n\n\
        port app application {\n  in go() -> up.E.go\n}\n\n\
        handler up.E.go(e) {\n    t = now\n    at = add.wrap t, 5\n    arm e.t, at\n    return\n}\n\n\
        expiry up.E.t(e) {\n    old = get e.ticked\n    more = add.wrap old, 1\n    set e.ticked, more\n    t = now\n    \
        at = add.wrap t, 5\n    arm e.t, at\n    return\n}\n\n\
        settle up.E(e) {\n    old = get e.settled\n    more = add.wrap old, 1\n    set e.settled, more\n    return\n}\n";
    let taken = taken_behind_its_profile(text, "expiry", |machine| {
        machine.start(0);
        machine.input(1, PortId(0), 0, &[]);
        machine.advance(50);
        let object = machine.objects(ClassId(0))[0];
        format!("{:?}", [1, 2].map(|cell| machine.cell(ClassId(0), object, CellId(cell))))
    });
    assert!(taken > 5, "{taken}");
}
