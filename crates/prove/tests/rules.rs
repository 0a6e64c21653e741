//! What the judge assumes and what it may leave out, one rule at a time: a path that is proved by the rule, and beside
//! it paths that would be proved if the rule were too strong.

use std::time::Duration;

use mokume_base::{FileId, RealWorld};
use mokume_prove::judge::judge;
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::{text, verify, Automaton};

use crate::common::root;

fn there() -> Vec<Box<dyn Solver>> {
    let all = solvers(&RealWorld, &root().join(".venv").to_string_lossy(), Duration::from_secs(4));
    if all.is_empty() {
        println!("SKIPPED: no solver; scripts/setup prepares z3 and bitwuzla");
    }
    all
}

/// The layers of a text, composed, with its paths.
fn with_paths(text: &str) -> Automaton {
    let parsed = text::parse(FileId(0), text);
    let faults: Vec<&str> = parsed.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
    assert!(faults.is_empty(), "{faults:?}\n{text}");
    let paths = parsed.automaton.paths.clone();
    let layers = Automaton { composition: None, paths: Vec::new(), ..parsed.automaton };
    let composed = mokume_compose::compose(&layers, mokume_compose::Options::default()).automaton.expect("composes");
    let stack = Automaton { paths, ..composed };
    let wrong: Vec<String> = verify(&stack).iter().map(|fault| fault.message.clone()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    mokume_analyse::flat(&stack).into_owned()
}

/// Whether the one path of a text is proved.
fn is_proved(text: &str, solvers: &mut [Box<dyn Solver>]) -> Result<(), String> {
    let stack = with_paths(text);
    let [path] = &stack.paths[..] else { panic!("one path:\n{text}") };
    let judged = judge(&stack, path, solvers)?;
    match judged.is_proved() {
        true => Ok(()),
        false => {
            Err(judged.ways.iter().filter_map(|way| way.verdict.as_ref().err()).map(|open| open.why.clone()).collect())
        }
    }
}

/// The unchanged text is proved; with any of the replacements it is not.
fn rule(text: &str, faults: &[(&str, &str)]) {
    let mut solvers = there();
    if solvers.is_empty() {
        return;
    }
    assert_eq!(is_proved(text, &mut solvers), Ok(()), "{text}");
    for (what, by) in faults {
        assert_eq!(text.matches(what).count(), 1, "`{what}` stands once in\n{text}");
        let faulty = text.replace(what, by);
        let found = is_proved(&faulty, &mut solvers);
        println!("`{by}` in place of `{what}`: {found:?}");
        assert!(found.is_err(), "`{by}` in place of `{what}` is proved:\n{faulty}");
    }
}

/// A cell that a side neither reads nor writes is unchanged.
#[test]
fn what_is_not_touched_is_as_it_was() {
    rule(
        "automaton unread
layer a
class a.E capacity 1 {
  most: u16
}
port app application {
  in put(n: u16) -> a.E.put
  out done()
}
handler a.E.put(e, n: u16) {
    before = get e.most
    less = 0:u16
    most = max before, less
    set e.most, most
    out app.done()
    return
}
path a.E.put(e, n: u16) {
    out app.done()
    return
}
",
        &[
            ("less = 0:u16", "less = 1:u16"),
            ("max before, less", "max before, n"),
            ("set e.most, most", "set e.most, n"),
        ],
    );
}

const FOUND: &str = "automaton found
layer a
class a.E capacity 1 {
  named: map 3 (u16) -> (@a.S) by name
}
class a.S capacity 5 in a.E {
  more: u8
  fixed name: u16
}
port app application {
  in put(n: u16) -> a.E.put
  out done(n: u16)
  out lost()
}
handler a.E.put(e, n: u16) {
    find e.named[n] then found(..) else missing
  found(s: @a.S):
    m = 7:u8
    set s.more, m
    read = get s.name
    out app.done(read)
    return
  missing:
    out app.lost()
    return
}
path a.E.put(e, n: u16) {
    find e.named[n] then found(..) else exit
  found(s: @a.S):
    m = 7:u8
    set s.more, m
    out app.done(n)
    return
  exit:
    refuse
}
";

/// What a map finds by its own cells exists, and has the key in them; what another map finds may have ended.
#[test]
fn what_is_found_by_its_cells_is_there() {
    rule(FOUND, &[(" by name", ""), ("read = get s.name", "read = 3:u16")]);
}

/// A place of unknown content is emptied by both sides, or by neither.
#[test]
fn places_are_emptied_by_both() {
    rule(
        "automaton emptied
layer a
reason a.done
reason a.lost
class a.E capacity 1 {
  held: [4] msg
  head: u32
}
port app application {
  in done(i: u32) -> a.E.done
  out now(is: bool)
}
handler a.E.done(e, i: u32) {
    first = 1:u32
    few = lt i, 4
    br few empties, not
  empties:
    consume.held e.held[i], a.done
    consume.held e.held[first], a.done
    is = holds e.held[i]
    out app.now(is)
    return
  not:
    return
}
path a.E.done(e, i: u32) {
    one = 1:u32
    small = lt i, 4
    apart = ne i, one
    br small perhaps, exit
  perhaps:
    br apart goes, exit
  goes:
    consume.held e.held[i], a.done
    consume.held e.held[one], a.done
    no = false
    out app.now(no)
    return
  exit:
    refuse
}
",
        &[
            ("    consume.held e.held[one], a.done\n", ""),
            ("consume.held e.held[one], a.done", "consume.held e.held[one], a.lost"),
            ("consume.held e.held[first], a.done", "consume.held e.held[first], a.lost"),
            ("one = 1:u32", "one = 2:u32"),
            ("no = false", "no = true"),
            ("is = holds e.held[i]", "is = true"),
        ],
    );
}

/// Equal sums have equal folds, and only equal sums: 0 and 65535 differ.
#[test]
fn equal_sums_have_equal_folds() {
    rule(
        "automaton folds
layer a
reason a.done
class a.E capacity 1 {
  sum: u32
}
port app application {
  in sum(a: u16, b: u16, m: msg) -> a.E.sum
  out done(n: u16)
}
handler a.E.sum(e, a: u16, b: u16, m: msg) {
    of = sum16 m
    wide = cast a to u32
    more = cast b to u32
    some = add.wrap of, wide
    all = add.wrap some, more
    n = fold16 all
    drop m, a.done
    out app.done(n)
    return
}
path a.E.sum(e, a: u16, b: u16, m: msg) {
    of = sum16 m
    y = cast b to u32
    x = cast a to u32
    both = add.wrap x, y
    all = add.wrap both, of
    n = fold16 all
    drop m, a.done
    out app.done(n)
    return
}
",
        &[
            ("x = cast a to u32", "x = cast b to u32"),
            ("all = add.wrap both, of", "all = add.wrap both, x"),
            ("n = fold16 all\n    drop m, a.done\n    out app.done(n)\n    return\n}\npath", "some2 = fold16 some\n    w = cast some2 to u32\n    t = add.wrap w, more\n    n = fold16 t\n    drop m, a.done\n    out app.done(n)\n    return\n}\npath"),
        ],
    );
}

/// An object that a map finds and that is written need not exist, as both sides do the same to null; what is read back
/// must.
#[test]
fn what_is_read_back_is_there() {
    let text = FOUND
        .replace("read = get s.name", "read = 3:u16")
        .replace("out app.done(n)\n    return\n  exit", "three = 3:u16\n    out app.done(three)\n    return\n  exit");
    rule(&text.replace(" by name", ""), &[("read = 3:u16", "back = get s.more\n    read = cast back to u16")]);
    let back = text
        .replace("read = 3:u16", "back = get s.more\n    read = cast back to u16")
        .replace("three = 3:u16", "three = 7:u16");
    rule(&back, &[(" by name", ""), ("three = 7:u16", "three = 8:u16")]);
}

/// What a map has at keys that are equal under the guards is one object, whatever its names.
#[test]
fn objects_at_equal_keys_are_one() {
    rule(
        "automaton chosen
layer a
class a.E capacity 1 {
  named: map 3 (u16) -> (@a.S) by name
}
class a.S capacity 5 in a.E {
  more: u8
  fixed name: u16
}
port app application {
  in put(flag: bool, n: u16) -> a.E.put
  out done(n: u16)
  out lost()
}
handler a.E.put(e, flag: bool, n: u16) {
    three = 3:u16
    c = lt n, 5
    d = lt n, 9
    br flag one, two
  one:
    k = select c, n, three
    find e.named[k] then f(..) else missing
  f(s: @a.S):
    m = get s.more
    some = ne m, 0
    br some go1, missing
  go1:
    out app.done(n)
    return
  two:
    k2 = select d, n, three
    find e.named[k2] then g(..) else missing
  g(t: @a.S):
    m2 = get t.more
    some2 = ne m2, 0
    br some2 go2, missing
  go2:
    out app.done(three)
    return
  missing:
    out app.lost()
    return
}
path a.E.put(e, flag: bool, n: u16) {
    three = 3:u16
    c = lt n, 5
    d = lt n, 9
    br flag one, two
  one:
    k = select c, n, three
    find e.named[k] then f(..) else exit
  f(s: @a.S):
    m = get s.more
    first = ne m, 0
    br first go1, exit
  go1:
    out app.done(n)
    return
  two:
    k2 = select d, n, three
    find e.named[k2] then g(..) else exit
  g(t: @a.S):
    m2 = get t.more
    second = ne m2, 0
    br second go2, exit
  go2:
    out app.done(three)
    return
  exit:
    refuse
}
",
        &[
            ("br second go2, exit", "jump go2"),
            ("first = ne m, 0", "first = ne m, 1"),
            ("second = ne m2, 0", "second = ne k2, 0"),
        ],
    );
}

/// When a reaction begins, what is found by its cells lives; when a layer emits, it may have ended in the same
/// reaction.
#[test]
fn what_is_found_inside_may_have_ended() {
    rule(
        "automaton inside
layer low
layer up
class low.E capacity 1 {
  named: map 3 (u16) -> (@low.S) by name
}
class low.S capacity 5 in low.E {
  fixed name: u16
}
class up.E capacity 1 {
}
link up.E = low.E n:1
port app application {
  in put(n: u16) -> up.E.put
}
port dev device {
  out now(is: bool)
}
handler up.E.put(e, n: u16) {
    b = unique low.E
    emit b.pass(n)
    return
}
handler low.E.pass(e, n: u16) {
    find e.named[n] then found(..) else missing
  found(s: @low.S):
    is = lives s
    out dev.now(is)
    return
  missing:
    no = false
    out dev.now(no)
    return
}
path up.E.put(e, n: u16) {
    b = unique low.E
    find b.named[n] then found(..) else exit
  found(s: @low.S):
    yes = true
    out dev.now(yes)
    return
  exit:
    refuse
}
",
        &[("path up.E.put(", "path low.E.pass("), ("yes = true", "yes = false"), (" by name", "")],
    );
}

/// The sum of octets is that of the first words and of the rest, if there are as many.
#[test]
fn sums_of_near_stretches_are_one() {
    rule(
        "automaton sums
layer a
reason a.done
class a.E capacity 1 {
  sum: u32
}
port app application {
  in sum(m: msg) -> a.E.sum
  out done(n: u16)
}
handler a.E.sum(e, m: msg) {
    n = size m
    few = lt n, 4
    br few short, long
  short:
    drop m, a.done
    return
  long:
    all = sum16 m
    s = fold16 all
    drop m, a.done
    out app.done(s)
    return
}
path a.E.sum(e, m: msg) {
    n = size m
    few = lt n, 4
    br few exit, long
  long:
    one = load.be16 m, 0
    two = load.be16 m, 2
    rest = sub.wrap n, 4
    part = sum16.part m, 4, rest
    x = cast one to u32
    y = cast two to u32
    words = add.wrap x, y
    all = add.wrap words, part
    s = fold16 all
    drop m, a.done
    out app.done(s)
    return
  exit:
    refuse m
}
",
        &[
            ("two = load.be16 m, 2", "two = load.be16 m, 0"),
            ("rest = sub.wrap n, 4", "rest = sub.wrap n, 3"),
            ("two = load.be16 m, 2", "two = load.be16 m, 1"),
            ("words = add.wrap x, y", "words = add.wrap x, x"),
        ],
    );
}
