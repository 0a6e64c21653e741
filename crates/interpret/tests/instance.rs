//! Ports, time, recordings and state of an instance: what run tests cannot express.

use mokume_base::SourceMap;
use mokume_interpret::{Cause, CellView, Instance, Recipient, REACTIONS_PER_CALL};
use mokume_reaction::{Automaton, CellId, ClassId, Datum, Handle, Machine, PortId};

fn automaton(text: &str) -> Automaton {
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add("test", text), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.automaton
}

const APP: PortId = PortId(0);

/// `go` starts something that never rests: `later` for ever, `again` for ever, or a timer that is always due.
const RESTLESS: &str =
    "automaton r\nlayer a\nclass a.E capacity 1 settle 1 {\n  mode: u8\n  n: counter\n  t: timer\n}\n\
port app application {\n  in go(mode: u8) -> a.E.go\n  in poke() -> a.E.poke\n  out poked()\n}\n
handler a.E.go(e, mode: u8) later 1 {
    set e.mode, mode
    count e.n, 1
    switch mode { 1 -> put_off, 2 -> due, else done }
  put_off:
    later e.go(mode) then done else done
  due:
    t = now
    arm e.t, t
    return
  done:
    return
}
handler a.E.poke(e) {
    set e.mode, 0
    out app.poked()
    return
}
settle a.E(e) {
    m = get e.mode
    three = eq m, 3
    count e.n, 1
    br three ask, done
  ask:
    again e
    return
  done:
    return
}
expiry a.E.t(e) {
    count e.n, 1
    t = now
    arm e.t, t
    return
}
";

#[test]
fn a_stack_that_never_rests_is_driven_on_by_further_calls() {
    for mode in [1, 2, 3] {
        let mut machine = Instance::new(&automaton(RESTLESS), &[], 0);
        machine.start(0);
        machine.input(0, APP, 0, &[Datum::Word(mode)]);
        let counted = machine.accounts().counters[0].1;
        assert!(mode == 2 || counted >= u64::from(REACTIONS_PER_CALL), "mode {mode}: {counted}");
        assert_eq!(machine.next_deadline(), Some(0));
        machine.advance(0);
        assert!(machine.accounts().counters[0].1 >= counted + u64::from(REACTIONS_PER_CALL));
        assert_eq!(machine.next_deadline(), Some(0));
        // An outside event still gets through.
        assert_eq!(machine.input(5, APP, 1, &[]).outputs.len(), 1);
    }
}

#[test]
fn a_call_without_sense_is_refused() {
    let mut machine = Instance::new(&automaton(RESTLESS), &[], 0);
    machine.start(0);
    let senseless: [(PortId, u32, &[Datum]); 6] = [
        (PortId(9), 0, &[]),
        (APP, 9, &[]),
        (APP, 0, &[]),
        (APP, 0, &[Datum::Word(0), Datum::Word(0)]),
        (APP, 0, &[Datum::Message(vec![])]),
        (APP, 0, &[Datum::Handle(Handle::NULL)]),
    ];
    for (port, event, args) in senseless {
        assert!(machine.input(0, port, event, args).refused);
    }
    assert_eq!(machine.accounts().refused, 6);
    // A word that is too wide is cut to its type.
    assert!(!machine.input(0, APP, 0, &[Datum::Word(0x100)]).refused);
}

/// A chain of layers, each of which passes on: as deep as the number of layers.
fn chain(layers: usize) -> String {
    let mut text = "automaton chain\n".to_string();
    for layer in 0..layers {
        text += &format!("layer l{layer}\nclass l{layer}.E capacity 1 {{\n}}\n");
    }
    text += "port app application {\n  in go() -> l0.E.go\n  out done()\n}\n";
    for layer in 0..layers {
        let next = match layer + 1 {
            last if last == layers => "    out app.done()\n".to_string(),
            next => format!("    n = unique l{next}.E\n    emit n.go()\n"),
        };
        text += &format!("handler l{layer}.E.go(e) {{\n{next}    return\n}}\n");
    }
    text
}

#[test]
fn depth_is_no_matter() {
    let automaton = automaton(&chain(400));
    let run = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let mut machine = Instance::new(&automaton, &[], 0);
        machine.start(0);
        machine.input(0, APP, 0, &[]).outputs.len()
    });
    assert_eq!(run.expect("a thread").join().expect("no overflow"), 1);
}

#[test]
fn recording_tells_what_led_to_what() {
    let mut machine = Instance::new(&automaton(&chain(3)), &[], 0);
    machine.record(true, true);
    machine.start(0);
    machine.input(7, APP, 0, &[]);
    let recording = machine.take_recording().expect("recorded");
    let instants = recording.instants.expect("instants");
    let causes: Vec<Cause> = instants.iter().map(|instant| instant.cause).collect();
    assert_eq!(causes, [Cause::Input(APP), Cause::Emission(0, 0), Cause::Emission(1, 0)]);
    assert!(instants.iter().all(|instant| instant.now == 7 && instant.emissions.len() == 1));
    assert_eq!(instants[2].emissions[0].to, Recipient::Port { port: APP, event: 0 });
    let coverage = recording.coverage.expect("coverage");
    assert_eq!(coverage.handlers, [1, 1, 1]);
    // Recording continues, from an empty list.
    machine.input(8, APP, 0, &[]);
    assert_eq!(machine.recording().and_then(|r| r.instants.as_ref()).map(Vec::len), Some(3));
}

const STATE: &str =
    "automaton s\nlayer a\nclass a.E capacity 1 {\n  word: u8 = 3\n  array: [2] u8\n  held: [2] msg\n  \
map: map 2 (u8) -> (u16)\n  timer: timer\n  quota: quota 4\n  counter: counter\n}\nclass a.S capacity 3 in a.E {\n}\n\
port app application {\n  in put(m: msg) -> a.E.put\n  in end(s: @a.S) -> a.S.end\n  out made(s: @a.S)\n}\n
handler a.E.put(e, m: msg) {
    keep e.held[1], m
    set e.array[1], 9
    deadline = 50:u64
    arm e.timer, deadline
    count e.counter, 2
    insert e.map[7], 70 then next else next
  next:
    take e.quota, 3 then more else more
  more:
    new a.S in e then made(..) else none
  made(s: @a.S):
    out app.made(s)
    return
  none:
    return
}
handler a.S.end(s) {
    release s
    return
}
expiry a.E.timer(e) {
    return
}
";

#[test]
fn state_can_be_seen_compared_and_forked() {
    let automaton = automaton(STATE);
    let mut machine = Instance::new(&automaton, &[], 0);
    let same = Instance::new(&automaton, &[], 0);
    machine.start(0);
    assert!(machine == same);
    let outcome = machine.input(1, APP, 0, &[Datum::Message(b"ab".to_vec())]);
    assert!(machine != same);

    let unique = Handle { object: 0, generation: 0 };
    let cell = |machine: &Instance, cell: u32| format!("{:?}", machine.cell(ClassId(0), unique, CellId(cell)));
    assert_eq!(cell(&machine, 0), "Some(Word(3))");
    assert_eq!(cell(&machine, 1), "Some(Array([0, 9]))");
    let Some(CellView::Messages(held)) = machine.cell(ClassId(0), unique, CellId(2)) else { panic!("messages") };
    assert_eq!(held[1].map(|message| &message.octets[..]), Some(&b"ab"[..]));
    assert_eq!(cell(&machine, 3), "Some(Map([([7], [70])]))");
    assert_eq!(cell(&machine, 4), "Some(Timer(Some(50)))");
    assert_eq!(cell(&machine, 5), "Some(Quota { left: 1, amount: 4 })");
    assert_eq!(cell(&machine, 6), "Some(Counter(2))");
    assert_eq!(machine.next_deadline(), Some(50));

    let Datum::Handle(made) = outcome.outputs[0].args[0] else { panic!("a handle") };
    assert_eq!(machine.objects(ClassId(1)), [made]);
    assert_eq!(machine.parent(ClassId(1), made), Some(unique));
    let mut fork = machine.clone();
    fork.input(2, APP, 1, &[Datum::Handle(made)]);
    assert!(fork.objects(ClassId(1)).is_empty() && machine.objects(ClassId(1)) == [made]);
    machine.input(2, APP, 1, &[Datum::Handle(made)]);
    assert!(fork == machine);
}

#[test]
fn polling_is_not_an_input() {
    let text = "automaton p\ntick 10\nlayer a\nclass a.E capacity 1 {\n  t: timer\n}\nport app application {\n  in go() -> a.E.go\n  out at(t: u64)\n}\n
handler a.E.go(e) {
    t = now
    u = add t, 15
    arm e.t, u
    return
}
expiry a.E.t(e) {
    t = now
    out app.at(t)
    u = add t, 15
    arm e.t, u
    return
}
";
    let automaton = automaton(text);
    let mut lazy = Instance::new(&automaton, &[], 0);
    let mut eager = lazy.clone();
    lazy.start(0);
    eager.start(0);
    lazy.input(0, APP, 0, &[]);
    eager.input(0, APP, 0, &[]);
    let mut polled = Vec::new();
    for now in 0..=100 {
        polled.extend(eager.advance(now).outputs);
    }
    assert_eq!(lazy.advance(100).outputs, polled);
    assert_eq!(polled.len(), 5);
    assert!(lazy == eager);
}

/// Objects in a map that finds them by their own cells, and three ways to break what C relies on.
const FOUND_BY_CELLS: &str = "automaton f\nlayer a
class a.E capacity 1 {
  named: map 4 (u8) -> (@a.S) by name
}
class a.S capacity 4 in a.E {
  fixed name: u8
}
port app application {
  in go(how: u8) -> a.E.go
}
handler a.E.go(e, how: u8) {
    new a.S in e then made(..) else end
  made(s: @a.S):
    set s.name, 5
    switch how { 1 -> other, else right }
  other:
    insert e.named[6], s then end else end
  right:
    insert e.named[5], s then entered else end
  entered:
    switch how { 0 -> same, 2 -> changed, 3 -> freed, 4 -> taken, else end }
  same:
    set s.name, 5
    return
  changed:
    set s.name, 7
    return
  freed:
    release s
    return
  taken:
    release s
    remove e.named[5] then out(..) else end
  out(t: @a.S):
    jump end
  end:
    return
}
";

#[test]
fn what_is_in_a_map_by_its_cells_keeps_them_and_leaves_in_time() {
    for (how, wrong) in [(0, false), (1, true), (2, true), (3, true), (4, false)] {
        let mut machine = Instance::new(&automaton(FOUND_BY_CELLS), &[], 0);
        machine.start(0);
        let outcome = machine.input(0, APP, 0, &[Datum::Word(how)]);
        let misuse = outcome.reports.iter().any(|report| matches!(report.0, mokume_reaction::Report::Misuse));
        assert_eq!(misuse, wrong, "{how}");
    }
}
