//! What composing reports: queues and their reasons, cycles, merged classes, peaks and pools; each check is seen to
//! fail.

use mokume_base::{Severity, SourceMap};
use mokume_compose::{compose, Composed, Options};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, ClassId, Datum, LayerId, Machine, PortId};

fn automaton(text: &str) -> Automaton {
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add("test", text), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.automaton
}

fn composed(text: &str) -> Composed {
    compose(&automaton(text), Options { device_queue: 4 })
}

fn codes(composed: &Composed) -> Vec<&'static str> {
    composed.findings.iter().map(|found| found.diagnostic.code.0).collect()
}

const HEAD: &str = "automaton t\nlayer a\nlayer b\nlayer c\nclass a.E capacity 1 {\n}\nclass b.E capacity 1 {\n}\nclass c.E capacity 1 {\n}\n\
    port app application {\n  in go() -> a.E.go\n  out done()\n}\n";

fn with(handlers: &str) -> String {
    format!("{HEAD}{handlers}")
}

const UP_BEFORE_DOWN: &str = "
handler a.E.go(e) {
    b = unique b.E
    c = unique c.E
    emit b.up()
    emit c.down()
    return
}
handler a.E.more(e) {
    c = unique c.E
    emit c.down()
    return
}
handler b.E.up(e) {
    a = unique a.E
    emit a.more()
    return
}
handler c.E.down(e) {
    return
}
";

#[test]
fn up_before_down_costs_a_queue_and_is_a_warning() {
    let up = composed(&with(UP_BEFORE_DOWN));
    let composition = up.automaton.as_ref().and_then(|a| a.composition.clone()).expect("a composition");
    assert_eq!(composition.queued, [(LayerId(0), LayerId(2))]);
    assert_eq!(codes(&up), ["M0903"]);
    let warning = &up.findings[0].diagnostic;
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.message, "the channel a -> c needs a queue");
    assert_eq!(warning.notes[0], "`a.E.go` emits `up`, and then `down`");
    assert_eq!(warning.notes[1], "what follows from the first comes back: a -> b -> a -> c");

    let down = with(UP_BEFORE_DOWN).replace("emit b.up()\n    emit c.down()", "emit c.down()\n    emit b.up()");
    let down = composed(&down);
    assert_eq!(codes(&down), [""; 0]);
    assert!(down.automaton.and_then(|a| a.composition).expect("a composition").queued.is_empty());
}

#[test]
fn a_queue_brings_all_its_events_and_so_makes_more_queues() {
    // go: b.up brings a.more, which emits on a -> c, where c.down waits: a -> c is queued. more: c.other may now bring
    // c.down, which comes back to a.turn and so to a -> b, on which b.last waits.
    let text = with(
        "
handler a.E.go(e) {
    b = unique b.E
    c = unique c.E
    emit b.up()
    emit c.down()
    return
}
handler a.E.more(e) {
    c = unique c.E
    emit c.other()
    b = unique b.E
    emit b.last()
    return
}
handler b.E.up(e) {
    a = unique a.E
    emit a.more()
    return
}
handler b.E.last(e) {
    return
}
handler c.E.down(e) {
    a = unique a.E
    emit a.turn()
    return
}
handler c.E.other(e) {
    return
}
handler a.E.turn(e) {
    b = unique b.E
    emit b.last()
    return
}
",
    );
    let composition = composed(&text).automaton.and_then(|a| a.composition).expect("a composition");
    // By the graph alone c.other brings nothing. But a -> c is a queue, and its head may be c.down, which leads to
    // b.last.
    assert_eq!(composition.queued, [(LayerId(0), LayerId(1)), (LayerId(0), LayerId(2))]);
}

#[test]
fn a_cycle_is_drawn() {
    let text = with(
        "
handler a.E.go(e) {
    b = unique b.E
    emit b.round()
    return
}
handler b.E.round(e) {
    c = unique c.E
    emit c.turn() #0
    return
}
handler c.E.turn(e) {
    b = unique b.E
    emit b.round()
    return
}
source 0 \"ring.mok\" 7:5
",
    );
    let found = composed(&text);
    assert_eq!(codes(&found), ["M0901"]);
    assert!(found.automaton.is_none());
    assert_eq!(
        found.findings[0].diagnostic.notes[0],
        "the circle crosses neither a device nor an application port:\n     b.E.round  emits `turn` (ring.mok:7)\n  \
         -> c.E.turn  emits `round`\n  -> b.E.round"
    );
}

const VARIANTS: &str = "automaton v\nlayer a\nlayer b\nheader a.H {\n  Data{n: u8}\n  Ack{n: u8}\n}\nreason a.done\n\
    class a.E capacity 1 {\n}\nclass b.E capacity 1 {\n}\nport app application {\n  in go(m: msg) -> a.E.go\n}\n
handler a.E.go(e, m: msg) {
    d = push m, a.H.Data{n: 1}
    b = unique b.E
    emit b.send(d)
    return
}
handler b.E.send(e, m: msg) {
    consume m, a.done
    return
}
handler b.E.echo(e, m: msg) {
    d = push m, a.H.Ack{n: 1}
    a = unique a.E
    emit a.deliver(d)
    return
}
handler a.E.deliver(e, m: msg) {
    match m, a.H { Data -> data(..), Ack -> ack(..) }
  data(x: msg, n: u8):
    b = unique b.E
    emit b.echo(x)
    return
  ack(y: msg, k: u8):
    consume y, a.done
    return
}
";

#[test]
fn a_circle_through_another_variant_is_none() {
    assert_eq!(codes(&composed(VARIANTS)), [""; 0]);
    let circle = VARIANTS.replace("push m, a.H.Ack{n: 1}", "push m, a.H.Data{n: 1}");
    assert_eq!(codes(&composed(&circle)), ["M0901"]);
}

#[test]
fn chains_of_one_to_one_links_are_merged_upper_first() {
    let text = "automaton m\nlayer a\nlayer b\nlayer c\nclass a.S capacity 2 {\n  below: @b.S\n}\nclass b.S capacity 2 {\n  above: @a.S\n  \
        below: @c.S\n}\nclass c.S capacity 2 {\n  above: @b.S\n}\nclass a.E capacity 1 {\n}\nlink b.S.below = c.S.above 1:1\n\
        link a.S.below = b.S.above 1:1\n";
    let composition = composed(text).automaton.and_then(|a| a.composition).expect("a composition");
    assert_eq!(composition.merged, [[ClassId(0), ClassId(1), ClassId(2)]]);
    let shared = text.replace("link b.S.below = c.S.above 1:1", "link b.S.below = c.S n:1");
    let composition = composed(&shared).automaton.and_then(|a| a.composition).expect("a composition");
    assert_eq!(composition.merged, [[ClassId(0), ClassId(1)]]);
}

/// A loop of 3 rounds shares; each share goes to `b`, which splits it; `b` settles twice and makes one more each time.
const BUFFERS: &str = "automaton p\nPOOLlayer a\nlayer b\nreason a.done\nclass a.E capacity 1 {\n  kept: quota 5\n  p: [8] msg quota a.E.kept\n}\n\
class b.E capacity 1 settle 2 {\n  q: [2] msg\n}\nport app application {\n  in go(m: msg) -> a.E.go\n}\nport dev device {\n  out frame(m: msg)\n}\n
handler a.E.go(e, m: msg) {
    zero = 0:u8
    jump loop(zero, m)
  loop(i: u8, k: msg) bound 4:
    more = lt i, 3
    br more round, done
  round:
    s = share k
    b = unique b.E
    emit b.put(s)
    j = add i, 1
    jump loop(j, k)
  done:
    later b.put(k) then over else full(k)
  full(x: msg):
    consume x, a.done
    return
  over:
    return
}
handler b.E.put(e, m: msg) later 7 {
    n = size m
    big = gt n, 4
    br big cut, plain
  cut:
    head, rest = split m, 2
    out dev.frame(head)
    out dev.frame(rest)
    return
  plain:
    out dev.frame(m)
    return
}
settle b.E(e) {
    m = message \"00\"
    out dev.frame(m)
    return
}
";

#[test]
fn the_peak_counts_rounds_cascades_and_settles() {
    let composed = composed(&BUFFERS.replace("POOL", ""));
    let automaton = composed.automaton.expect("composes");
    // The loop's head is entered at most 4 times, the last time to leave: 3 shares, each split once more; `b` settles
    // at most twice.
    assert_eq!(automaton.composition.as_ref().map(|c| c.peak), Some(3 + 3 + 2));
    let parts = &composed.pool.needs.last().expect("the peak").parts;
    assert_eq!(parts.iter().map(|(_, sum)| sum).sum::<i64>(), 8, "{parts:?}");
    let needs: Vec<(String, u64)> = composed.pool.needs.into_iter().map(|need| (need.what, need.buffers)).collect();
    let expected = [
        ("quota a.E.kept of 5", 5),
        ("places b.E.q, 2", 2),
        ("later b.E.put", 7),
        ("queue of device dev", 4),
        ("message that comes in", 1),
        ("peak of a reaction", 8),
    ];
    assert_eq!(needs, expected.map(|(what, buffers)| (what.to_string(), buffers)));
    assert_eq!(automaton.pool, 27);
}

#[test]
fn outputs_of_a_reaction_are_counted() {
    let outputs = |text: &str| {
        let automaton = composed(&text.replace("POOL", "")).automaton.expect("composes");
        automaton.composition.map(|composition| composition.outputs)
    };
    // Three events for `b`, of two frames each; and one frame each time it settles.
    assert_eq!(outputs(BUFFERS), Some(3 * 2 + 2));
    assert_eq!(outputs(&BUFFERS.replace("settle 2", "settle 50")), Some(3 * 2 + 50));
    let refused = composed(&BUFFERS.replace("POOL", "").replace("settle 2", "settle 4000000"));
    assert!(refused.findings.iter().any(|found| found.diagnostic.code.0 == "M0904"), "{:?}", refused.findings);
    let [of_settling] = &refused.findings[..] else { panic!("one: {:?}", refused.findings) };
    let told = of_settling.diagnostic.notes.join("\n");
    assert!(told.contains("4000000  times objects of `b.E` settle"), "{told}");
    assert!(of_settling.diagnostic.helps.iter().any(|help| help.contains("`outputs 32`")));
}

/// Two loops in a row, each within the limits: the message names both, and no way out that is none here.
#[test]
fn what_multiplies_is_named() {
    let text =
        BUFFERS.replace("POOL", "outputs 7\n").replace("bound 4:", "bound 3001:").replace("lt i, 3", "lt i, 200");
    let text = text.replace("big cut, plain", "big many, plain").replace(
        "  cut:",
        "  many:
    none = 0:u16
    jump again(none, m)
  again(i: u16, k: msg) bound 2001:
    more = lt i, 2000
    br more one, cut(k)
  one:
    s = share k
    out dev.frame(s)
    j = add i, 1
    jump again(j, k)
  cut(m2: msg):",
    );
    let text = text.replace("split m, 2", "split m2, 2");
    let refused = composed(&text);
    let [found] = &refused.findings[..] else { panic!("one: {:?}", refused.findings) };
    let told = found.diagnostic.notes.join("\n");
    assert_eq!(found.diagnostic.code.0, "M0904");
    assert!(told.contains("3000  `a.E.go` emits `put`, in a loop of 3000 rounds"), "{told}");
    assert!(told.contains("2002  `b.E.put` emits `frame`, in a loop of 2000 rounds"), "{told}");
    assert!(told.contains("peak of a reaction"), "{told}");
}

/// However often an object may settle: its outputs below the quota, and one instant beyond.
#[test]
fn a_quota_of_outputs_bounds_what_settling_adds_to_the_peak() {
    let often = BUFFERS.replace("settle 2", "settle 50");
    let peak = |pool: &str| {
        let automaton = composed(&often.replace("POOL", pool)).automaton.expect("composes");
        automaton.composition.map(|composition| composition.peak)
    };
    assert_eq!(peak(""), Some(3 + 3 + 50));
    assert_eq!(peak("outputs 3\n"), Some(3 + 3 + 3 + 1));
    assert_eq!(peak("outputs 60\n"), Some(3 + 3 + 50));
}

#[test]
fn a_pool_that_is_one_buffer_too_small_is_refused_with_the_sum() {
    assert_eq!(codes(&composed(&BUFFERS.replace("POOL", "pool 27\n"))), [""; 0]);
    let small = composed(&BUFFERS.replace("POOL", "pool 26\n"));
    assert_eq!(codes(&small), ["M0902"]);
    let diagnostic = &small.findings[0].diagnostic;
    assert_eq!(diagnostic.message, "the pool of `p` has 26 buffers and needs 27");
    assert!(diagnostic.notes[0].contains("       8  peak of a reaction\n      27  in all"), "{}", diagnostic.notes[0]);
}

#[test]
fn the_door_is_shut_only_while_frames_wait_in_a_device() {
    let automaton = composed(&BUFFERS.replace("POOL", "pool 27\n")).automaton.expect("composes");
    let mut machine = Instance::new(&automaton, &[], 0);
    machine.start(0);
    let send = |machine: &mut Instance| machine.input(0, PortId(0), 0, &[Datum::Message(vec![1; 9])]);
    assert!(!send(&mut machine).refused);
    machine.set_waiting(19);
    assert!(!send(&mut machine).refused);
    machine.set_waiting(20);
    assert!(send(&mut machine).refused);
    assert_eq!(machine.accounts().refused, 1);
    machine.set_waiting(0);
    assert!(!send(&mut machine).refused);
    assert_eq!(machine.ledger().origins, machine.ledger().fates);
}

/// The hand-written automata: what composing reports about each.
#[test]
fn the_automata_of_the_form_compose() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reaction/right");
    let mut composed_files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        let automaton = automaton(&text);
        if automaton.composition.is_some() {
            continue;
        }
        let composed = compose(&automaton, Options::default());
        let composition = composed.automaton.as_ref().and_then(|a| a.composition.as_ref());
        println!("{}: {composition:?}\n{}", path.display(), composed.pool.picture());
        for diagnostic in composed.findings.iter().map(|found| &found.diagnostic) {
            println!("  {} {}\n    {}", diagnostic.code.0, diagnostic.message, diagnostic.notes.join("\n    "));
        }
        assert!(composition.is_some(), "{}", path.display());
        composed_files += 1;
    }
    assert!(composed_files > 2);
}

#[test]
fn what_a_round_leaves_counts_as_often_as_the_bounds_say() {
    let text = "automaton n\nlayer a\nreason a.done\nclass a.E capacity 1 {\n}\nport app application {\n  in go(m: msg) -> a.E.go\n}\n
handler a.E.go(e, m: msg) {
    zero = 0:u8
    jump outer(zero)
  outer(i: u8) bound 3:
    more = lt i, 2
    br more inside, over
  inside:
    jump inner(zero)
  inner(j: u8) bound 5:
    again = lt j, 4
    br again round, back
  round:
    s = share m
    consume s, a.done
    k = add j, 1
    jump inner(k)
  back:
    n = add i, 1
    jump outer(n)
  over:
    s2 = share m
    consume s2, a.done
    consume m, a.done
    return
}
";
    let peak = |text: &str| composed(text).automaton.and_then(|a| a.composition).expect("a composition").peak;
    // Each round gives back what it takes: one at a time.
    assert_eq!(peak(text), 1);
    // Each round leaves one: bounds of nested loops multiply.
    let outputs = text.replace("  in go(m: msg) -> a.E.go\n", "  in go(m: msg) -> a.E.go\n  out come(m: msg)\n");
    let kept = outputs.replace("    consume s, a.done\n", "    out app.come(s)\n");
    assert_eq!(peak(&kept), 2 * 4 + 1);
}
