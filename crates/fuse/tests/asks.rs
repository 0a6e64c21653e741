//! The questions of a path, before and after reordering, in the text form.

use mokume_base::FileId;
use mokume_fuse::in_order;
use mokume_reaction::{text, verify, Automaton, Path};

const LAYERS: &str = "automaton two\n\nlayer up\nlayer low\n\nreason no\n\nclass up.E capacity 1 {\n  sum: u32\n  sizes: [4] u16\n}\nclass up.S capacity 4 in up.E {\n  fixed host: u32\n  fixed port: u16\n  \
    above: u32\n}\nclass low.E capacity 1 {\n}\n\n\
    port dev device {\n  in frame(m: msg) -> up.E.frame\n}\nport app application {\n  out got(s: @up.S, m: msg)\n}\n\n\
    handler up.E.frame(e, m: msg) {\n    drop m, no\n    return\n}\n\n";

/// The reordered form of a path; `None` if nothing is redundant.
fn ordered(path: &str) -> Option<String> {
    ordered_of(LAYERS, path)
}

/// The same for an event that comes from no port.
fn lives_inside(path: &str) -> Option<String> {
    ordered_of(&LAYERS.replace("  in frame(m: msg) -> up.E.frame\n", "  out other(m: msg)\n"), path)
}

fn ordered_of(layers: &str, path: &str) -> Option<String> {
    let map = layers.replace(
        "  sum: u32\n",
        "  sum: u32\n  sessions: map 4 (u32, u16) -> (@up.S) by host, port\n  more: map 4 (u32) -> (@up.S)\n",
    );
    let parsed =
        text::parse(FileId(0), &format!("{map}path up.E.frame(e, m: msg) {{\n{path}  exit:\n    refuse m\n}}\n"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert!(verify(&parsed.automaton).is_empty(), "{:?}", verify(&parsed.automaton));
    let body = in_order(&parsed.automaton, &parsed.automaton.paths[0])?;
    let path = Path { body, ..parsed.automaton.paths[0].clone() };
    let made = Automaton { paths: vec![path], ..parsed.automaton };
    assert!(verify(&made).is_empty(), "{:?}", verify(&made));
    Some(text::path_lines(&made, &made.paths[0]).into_iter().map(|(line, _)| line + "\n").collect())
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// Asks these conditions in turn, and goes on if each holds.
fn asks(conditions: &[&str]) -> String {
    let mut path = String::new();
    for (at, condition) in conditions.iter().enumerate() {
        path += &format!("{condition}    br c{at} @0.999 b{at}, exit\n  b{at}:\n");
    }
    path + "    set e.sum, 1\n    drop m, no\n    return\n"
}

const SIZE: &str = "    n = size m\n    c0 = ge n, 20\n";

#[test]
fn what_follows_is_not_asked() {
    let path =
        ordered(&asks(&[SIZE, "    x = load.be16 m, 4\n    c1 = ne x, 5\n", "    c2 = eq x, 2048\n"])).expect("one");
    assert_eq!((count(&path, "eq v"), count(&path, "2048"), count(&path, ", 5")), (1, 1, 0), "{path}");
    // The other one is still needed.
    let path = ordered(&asks(&[SIZE, "    x = load.be16 m, 4\n    c1 = lt x, 9\n", "    c2 = ne x, 5\n"]));
    assert_eq!(path, None);
}

#[test]
fn a_later_question_says_more_of_what_it_is_made_of() {
    // The rest behind 20 octets holds y octets, at least 8: then x is at least 28, and both questions about x are answered.
    let path = |wide: &str| {
        let size = format!("    w = cast x to {wide}\n    r = sub.wrap w, 20\n    c2 = ge r, 8\n");
        let part = "    y = load.be16 m, 6\n    c3 = ge y, 8\n";
        let all = format!("    z = cast y to {wide}\n    c4 = le z, r\n");
        ordered(&asks(&[SIZE, "    x = load.be16 m, 4\n    c1 = ge x, 20\n", &size, part, &all]))
    };
    let all = path("u32").expect("one");
    assert_eq!((count(&all, "br "), count(&all, "sub.wrap"), count(&all, "add.wrap")), (4, 0, 1), "{all}");
    // In 16 bits a sum of y and 20 may wrap around: the difference stays.
    assert!(path("u16").is_none_or(|path| count(&path, "sub.wrap") == 1 && count(&path, "add.wrap") == 0));
}

#[test]
fn what_is_read_is_known_to_be_there_before() {
    // The next question implies that the octets exist, but it reads them.
    let path = "    n = size m\n    x = load.be16 m, 4\n    y = cast x to u32\n    c0 = ge n, 20\n    br c0 @0.999 b0, exit\n  b0:\n    c1 = gt n, y\n    br c1 @0.999 b1, exit\n  b1:\n    \
        z = load.be8 m, y\n    c2 = eq z, 1\n    br c2 @0.999 b2, exit\n  b2:\n    c3 = eq y, 2\n    br c3 @0.999 b3, exit\n  b3:\n    set e.sum, 1\n    drop m, no\n    return\n";
    if let Some(path) = ordered(path) {
        // `n > y` comes before the octet at `y` is read; the fact that `y` is 2 does not replace it.
        let (asked, read) = (path.find("le v").or(path.find("gt v")).or(path.find("lt v")), path.find("load.be8"));
        assert!(asked < read, "{path}");
        assert_eq!(count(&path, "load.be8"), 1, "{path}");
    }
}

#[test]
fn what_is_asked_behind_a_place_that_is_always_there_answers_questions_before_it() {
    let path = |index: &str| {
        let x = format!("{SIZE}{index}");
        let read = "    z = get e.sizes[i]\n    c2 = eq z, 7\n";
        ordered(&asks(&[&x, "    x = load.be16 m, 4\n    c1 = lt x, 9\n", read, "    c3 = eq x, 5\n"]))
    };
    let within = path("    y = load.be16 m, 6\n    w = and y, 3\n    i = cast w to u32\n").expect("one");
    assert_eq!((count(&within, ", 9"), count(&within, ", 5")), (0, 1), "{within}");
    // Where only a question shows that the place is there, what is asked behind it says nothing before it.
    let asked = path("    y = load.be16 m, 6\n    i = cast y to u32\n");
    assert!(asked.is_none_or(|path| count(&path, ", 9") == 1));
}

#[test]
fn bits_of_octets_side_by_side_are_one_comparison() {
    let version = "    x = load.be8 m, 0\n    v = shr x, 4\n    c1 = eq v, 4\n";
    let length = "    l = and x, 15\n    c2 = eq l, 5\n";
    let path = ordered(&asks(&[SIZE, version, length])).expect("one");
    assert!(path.contains("69"), "0x45: {path}");
    assert_eq!((count(&path, "eq v"), count(&path, "br ")), (1, 3), "{path}");
    // Both never hold: nothing is joined, and nothing is done.
    let other = "    w = shr x, 4\n    c2 = eq w, 5\n";
    let path = ordered(&asks(&[SIZE, version, other]));
    assert!(path.is_none_or(|path| !path.contains("set ")), "never taken");
}

const FOUND: &str = "    n = size m\n    c0 = ge n, 20\n    br c0 @0.999 b0, exit\n  b0:\n    x = load.be32 m, 4\n    c1 = ne x, 0\n    br c1 @0.999 b1, exit\n  b1:\n    \
    p = load.be16 m, 8\n    find e.sessions[x, p] then there(..) else exit\n  there(s: @up.S):\n    out app.got(s, m)\n    return\n";

#[test]
fn who_it_is_for_is_asked_first() {
    let path = ordered(FOUND).expect("one");
    let (found, asked) = (path.find("find "), path.find("eq v").expect("it is asked"));
    assert!(found.is_some_and(|found| found < asked), "{path}");
    // The question about the message becomes one about the session's cell, which has the same value.
    assert_eq!((count(&path, ".host"), count(&path, "load.be32")), (1, 1), "{path}");
}

/// Two kinds of messages: of one the session's key stands nearer than of the other.
const KINDS: &str = "    n = size m\n    c0 = ge n, 20\n    br c0 @0.999 b0, exit\n  b0:\n    k = load.be8 m, 0\n    is = eq k, 4\n    br is @0.7 near, far\n  \
    near:\n    x = load.be32 m, 4\n    c1 = ne x, 0\n    br c1 @0.999 b1, exit\n  b1:\n    p = load.be16 m, 8\n    find e.sessions[x, p] then one(..) else exit\n  \
    one(s: @up.S):\n    out app.got(s, m)\n    return\n  \
    far:\n    c2 = ge n, 40\n    br c2 @0.999 b2, exit\n  b2:\n    y = load.be32 m, 30\n    c3 = ne y, 0\n    br c3 @0.999 b3, exit\n  b3:\n    q = load.be16 m, 34\n    \
    find e.sessions[y, q] then other(..) else exit\n  other(t: @up.S):\n    out app.got(t, m)\n    return\n";

#[test]
fn each_way_asks_for_as_many_octets_as_it_reads() {
    let path = ordered(KINDS).expect("one");
    let (near, far) = path.split_once("load.be32 m, 30").expect("the far key is read");
    // The near way does not ask for what the far one reads, and asks for 10 octets first of all.
    let first = near.find("lt v").expect("a size");
    assert!(near[first..].starts_with("lt v") && near.contains(", 10\n") && near.contains(", 36\n"), "{path}");
    assert!(near.find(", 36\n") > near.find("eq v"), "it is asked behind the parting: {path}");
    // Both look-ups come before the questions about their messages, which become questions about cells.
    assert_eq!((count(&path, "find "), count(&path, ".host")), (2, 2), "{path}");
    assert!(far.find("find ") < far.find(".host"), "{path}");
}

/// A length field that fits, and a number that fits into it, say that the message is long enough for both; but the number is read from it.
#[test]
fn the_size_is_asked_before_what_would_imply_it() {
    let fits =
        "    l = load.be16 m, 2\n    w = cast l to u32\n    c4 = ge w, 20\n    br c4 @0.999 b4, exit\n  b4:\n    \
        c5 = le w, n\n    br c5 @0.999 b5, exit\n  b5:\n    k = load.be8 m, 0\n";
    let number = "    rest = sub.wrap w, 20\n    c6 = ge rest, 20\n    br c6 @0.999 b6, exit\n  b6:\n    \
        r = load.be16 m, 36\n    c7 = ge r, 20\n    br c7 @0.999 b7, exit\n  b7:\n    \
        v = cast r to u32\n    c8 = le v, rest\n    br c8 @0.999 b8, exit\n  b8:\n    q = load.be16 m, 34\n";
    let path = KINDS.replace("    k = load.be8 m, 0\n", fits).replace("    q = load.be16 m, 34\n", number);
    let path = ordered(&path).expect("one");
    let (asked, read) = (path.find(", 38\n"), path.find("load.be16 m, 36").expect("it is read"));
    assert!(asked.is_some_and(|asked| asked < read), "{path}");
}

/// After the beginning of a reaction, an object that is still in its map may have ended.
#[test]
fn who_is_found_lives_where_a_reaction_begins() {
    let lives =
        FOUND.replace("  there(s: @up.S):\n", "  there(s: @up.S):\n    l = lives s\n    br l @0.999 on, exit\n  on:\n");
    assert!(lives != FOUND);
    let begins = ordered(&lives).expect("one");
    assert_eq!(count(&begins, "lives"), 0, "{begins}");
    let inside = lives_inside(&lives).expect("one");
    assert_eq!(count(&inside, "lives"), 1, "{inside}");
}

#[test]
fn only_maps_by_own_cells_say_what_is_found() {
    let other = FOUND.replace("find e.sessions[x, p]", "find e.more[x]");
    let path = ordered(&other);
    assert!(path.is_none_or(|path| !path.contains(".host")), "a map of its own keys says nothing of cells");
}
