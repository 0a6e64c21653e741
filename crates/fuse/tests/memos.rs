//! What moves to memos, before and after, in the text form.

use mokume_base::FileId;
use mokume_fuse::{remembered, Aside};
use mokume_reaction::{text, verify, Automaton};

const LAYERS: &str = "automaton two\n\nlayer up\nlayer low\n\nclass up.E capacity 1 {\n}\nclass up.S capacity 4 in up.E {\n  below: @low.S\n  n: u32\n}\n\
    class low.E capacity 1 {\n}\nclass low.S capacity 4 in low.E {\n  station: u48\n  mtu: u32\n  part: u32\n  other: @low.S\n  last: seq32\n}\n\n\
    port app application {\n  in send(s: @up.S, m: msg) -> up.S.send\n}\nport dev device {\n  out frame(m: msg)\n}\n\n\
    handler up.S.send(s, m: msg) {\n    emit.by s.below.send(m)\n    return\n}\nhandler low.S.send(s, m: msg) {\n    out dev.frame(m)\n    return\n}\n\n";

/// The path with memos, and the memos, of a path in text form.
fn with_memos(path: &str) -> (String, String) {
    let parsed =
        text::parse(FileId(0), &format!("{LAYERS}path up.S.send(s, m: msg) {{\n{path}  exit:\n    refuse m\n}}\n"));
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert!(verify(&parsed.automaton).is_empty(), "{:?}", verify(&parsed.automaton));
    let fused = remembered(&parsed.automaton, &Aside::default(), 0);
    assert!(verify(&fused).is_empty(), "{:?}", verify(&fused));
    (lines(&fused), memos(&fused))
}

fn lines(automaton: &Automaton) -> String {
    text::path_lines(automaton, &automaton.paths[0]).into_iter().map(|(line, _)| line + "\n").collect()
}

fn memos(automaton: &Automaton) -> String {
    let printed = text::print(automaton);
    let start = printed.find("memo ").map_or("", |at| &printed[at..]);
    start[..start.find("handler ").unwrap_or(start.len())].to_string()
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn what_is_asked_of_state_alone_is_recalled() {
    let (path, memo) = with_memos(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    station = get b.station\n    n = get s.n\n    n1 = add.wrap n, 1\n    set s.n, n1\n    \
         framed = front m, \"000000000000\"\n    sealed = store.be48 framed, 0, station\n    out dev.frame(sealed)\n    return\n",
    );
    assert!(path.contains("recall up.S.send.memo_1(s)"), "{path}");
    assert_eq!((count(&path, "lives"), count(&memo, "lives")), (0, 1), "{path}{memo}");
    // What the path writes is not remembered.
    assert_eq!((count(&path, "get s.n"), count(&memo, "get s.n")), (1, 0), "{path}{memo}");
}

#[test]
fn numbers_that_move_are_not_remembered() {
    let (path, memo) = with_memos(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    last = get b.last\n    low = cast last to u32\n    \
         framed = front m, \"00000000\"\n    sealed = store.be32 framed, 0, low\n    out dev.frame(sealed)\n    return\n",
    );
    assert_eq!((count(&path, ".last"), count(&memo, ".last")), (1, 0), "{path}{memo}");
}

#[test]
fn bounds_of_a_size_are_asked_once() {
    let (path, memo) = with_memos(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    n = size m\n    small = le n, 60000\n    \
         br small @0.999 fits, exit\n  fits:\n    more = add.wrap n, 8\n    mtu = get b.mtu\n    room = le more, mtu\n    br room @0.999 goes, exit\n  goes:\n    \
         out dev.frame(m)\n    return\n",
    );
    assert_eq!((count(&path, " lt "), count(&path, "br ")), (1, 1), "{path}{memo}");
    // What is below may have no room at all: the path asks that, the memo does not.
    assert!(memo.contains("min 60001,") && memo.contains("sub.wrap"), "{memo}");
    assert_eq!(count(&memo, " le "), 0, "{memo}");
}

/// Ways that part by the message: behind that both ask whether what is below lives, the second also what `asked` says, and put something
/// else of it in front.
fn apart(asked: &str) -> (String, String) {
    with_memos(&format!(
        "    n = size m\n    one = eq n, 4\n    br one @0.5 near, far\n  \
         near:\n    b = get s.below\n    there = lives b\n    br there @0.999 nearer, exit\n  nearer:\n    station = get b.station\n    \
         framed = front m, \"000000000000\"\n    sealed = store.be48 framed, 0, station\n    out dev.frame(sealed)\n    return\n  \
         far:\n    c = get s.below\n    there2 = lives c\n    br there2 @0.999 farther, exit\n  farther:\n{asked}    mtu = get c.mtu\n    part = get c.part\n    \
         both = add.wrap mtu, part\n    framed2 = front m, \"00000000\"\n    sealed2 = store.be32 framed2, 0, both\n    out dev.frame(sealed2)\n    return\n"
    ))
}

#[test]
fn memos_that_ask_the_same_are_one() {
    let (path, memo) = apart("");
    assert_eq!((count(&path, "recall up.S.send.memo_1("), count(&path, "recall ")), (2, 2), "{path}{memo}");
    assert_eq!((count(&memo, "memo up.S.send"), count(&memo, "lives"), count(&memo, "add.wrap")), (1, 1, 1), "{memo}");
    assert!(memo.contains("-> (u48, u32)"), "{memo}");
}

#[test]
fn memos_that_ask_more_stay_apart() {
    let (path, memo) =
        apart("    more = get c.part\n    is_more = gt more, 7\n    br is_more @0.999 farthest, exit\n  farthest:\n");
    assert_eq!((count(&path, "memo_1("), count(&path, "memo_2("), count(&memo, "yield")), (1, 1, 2), "{path}{memo}");
}

#[test]
fn sums_and_octets_are_gathered() {
    let (path, memo) = with_memos(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    n = size m\n    part = get b.part\n    mtu = get b.mtu\n    one = add.wrap n, part\n    \
         two = add.wrap one, mtu\n    station = get b.station\n    framed = front m, \"0000000000000800\"\n    a = store.be48 framed, 0, station\n    folded = fold16 two\n    \
         c = front a, \"0000\"\n    d = store.be16 c, 0, folded\n    out dev.frame(d)\n    return\n",
    );
    assert_eq!((count(&path, "add.wrap"), count(&memo, "add.wrap")), (1, 1), "{path}{memo}");
    assert!(path.contains("store.be64") && !path.contains("store.be48"), "{path}");
    assert!(memo.contains("shl"), "{memo}");
}

/// Ways that part by a cell: both write a number that depends on state, and continue in the same way.
fn parting(last: &str) -> (String, String) {
    with_memos(&format!(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    part = get b.part\n    one = eq part, 0\n    br one @0.5 near, far\n  \
         near:\n    station = get b.station\n    framed = front m, \"000000000000\"\n    sealed = store.be48 framed, 0, station\n    out dev.frame(sealed)\n    return\n  \
         far:\n    mtu = get b.mtu\n    wide = cast mtu to u48\n    framed2 = front m, \"{last}\"\n    sealed2 = store.be48 framed2, 0, wide\n    out dev.frame(sealed2)\n    return\n"
    ))
}

#[test]
fn ways_that_differ_in_what_the_memo_says_are_one() {
    let (path, memo) = parting("000000000000");
    assert_eq!((count(&path, "switch"), count(&path, "out dev.frame")), (0, 1), "{path}{memo}");
    // For each way, the memo returns what the path writes there, and nothing else.
    assert!(memo.contains("-> (u48)") && count(&memo, "yield") == 2, "{memo}");
    let said: Vec<&str> = memo.lines().filter_map(|line| line.trim().strip_prefix("yield ")).collect();
    assert_eq!(said, ["station", "wide"], "{memo}");
}

#[test]
fn ways_that_differ_elsewhere_stay_two() {
    let (path, memo) = parting("000000000001");
    assert_eq!((count(&path, "switch"), count(&path, "out dev.frame")), (1, 2), "{path}{memo}");
}

/// Behind what a memo asks, ways part by the message; each asks whether what is below that lives, `near` and `far` say what else.
fn behind(likely: &str, near: &str, far: &str) -> (String, String) {
    with_memos(&format!(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    n = size m\n    one = eq n, 4\n    br one {likely} near, far\n  \
         near:\n    part = get b.part\n    some = gt part, 7\n    br some @0.999 near2, exit\n  near2:\n{near}    station = get b.station\n    \
         framed = front m, \"000000000000\"\n    sealed = store.be48 framed, 0, station\n    out dev.frame(sealed)\n    return\n  \
         far:\n    part2 = get b.part\n    some2 = gt part2, 7\n    br some2 @0.999 far2, exit\n  far2:\n{far}    mtu = get b.mtu\n    \
         framed2 = front m, \"00000000\"\n    sealed2 = store.be32 framed2, 0, mtu\n    out dev.frame(sealed2)\n    return\n"
    ))
}

#[test]
fn what_all_ways_ask_is_asked_before_they_part() {
    let (path, memo) = behind("@0.5", "", "");
    assert_eq!((count(&path, "recall "), count(&path, "br ")), (1, 1), "{path}{memo}");
    assert_eq!((count(&memo, " gt "), count(&memo, "yield")), (1, 1), "{memo}");
    assert!(memo.contains("-> (u48, u32)"), "{memo}");
}

#[test]
fn what_one_way_asks_is_asked_behind() {
    let more = "    much = get b.mtu\n    is_much = gt much, 9\n    br is_much @0.999 farther, exit\n  farther:\n";
    let (path, memo) = behind("@0.5", "", more);
    // The nearer way needs no memo of its own. The farther one asks more; what the first memo asks and gives, it asks, too.
    assert_eq!((count(&path, "recall "), count(&path, "memo_1("), count(&path, "memo_2(")), (2, 1, 1), "{path}{memo}");
    assert!(memo.contains("memo_1(s: @up.S) -> (u48)"), "{memo}");
}

#[test]
fn whether_what_the_usual_way_needs_lives_is_asked_for_all() {
    let next = |n: &str| {
        format!("    other{n} = get b.other\n    lives{n} = lives other{n}\n    br lives{n} @0.999 next{n}, exit\n  next{n}:\n")
    };
    let (path, memo) = behind("@0.9", &next("1"), "");
    assert_eq!((count(&path, "recall "), count(&memo, "= lives")), (1, 2), "{path}{memo}");
    let (path, memo) = behind("@0.1", &next("1"), "");
    assert_eq!((count(&path, "recall "), count(&memo, "= lives")), (2, 3), "{path}{memo}");
}

#[test]
fn what_several_ways_need_is_given_once() {
    let (path, memo) = behind("@0.5", "    m1 = get b.mtu\n    set s.n, m1\n", "");
    assert!(memo.contains("-> (u32, u48)"), "{path}{memo}");
}

#[test]
fn what_several_ways_do_where_they_meet_stands_once() {
    let (path, memo) = with_memos(
        "    b = get s.below\n    there = lives b\n    br there @0.999 known, exit\n  known:\n    n = size m\n    one = eq n, 4\n    br one @0.999 next, rest\n  \
         next:\n    last = get b.last\n    low = cast last to u32\n    two = eq low, 7\n    br two @0.999 more, rest\n  \
         more:\n    part = get b.part\n    some = gt part, 7\n    br some @0.999 end, rest\n  \
         end:\n    station = get b.station\n    framed = front m, \"000000000000\"\n    sealed = store.be48 framed, 0, station\n    out dev.frame(sealed)\n    return\n  \
         rest:\n    mtu = get b.mtu\n    framed2 = front m, \"00000000\"\n    sealed2 = store.be32 framed2, 0, mtu\n    out dev.frame(sealed2)\n    return\n",
    );
    // Three ways lead there, and what they have in common is all that is known there: not that what is below lives.
    assert_eq!((count(&path, "store.be32"), count(&path, "recall "), count(&path, ", b6")), (1, 2, 3), "{path}{memo}");
}
