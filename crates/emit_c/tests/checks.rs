//! Checks of arithmetic and of places: they stand in C only where they may fail.

use mokume_base::FileId;
use mokume_emit_c::{emit, Options};
use mokume_reaction::{text, verify};

/// How often C calls these functions of the runtime, for a handler that asks `condition` and then does `op`.
fn calls(condition: &str, op: &str) -> [usize; 3] {
    let stack = format!(
        "automaton checked\n\nlayer a\n\nclass a.E capacity 1 {{\n  places: [16] u32\n  had: u32\n}}\n\n\
         port app application {{\n  in ask(x: u32, y: u32) -> a.E.ask\n  out got(n: u32)\n}}\n\n\
         handler a.E.ask(e, x: u32, y: u32) {{\n    c = {condition}\n    br c on, off\n  off:\n    return\n  on:\n    n = {op}\n    out app.got(n)\n    return\n}}\n"
    );
    let parsed = text::parse(FileId(0), &stack);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    assert!(verify(&parsed.automaton).is_empty(), "{:?}", verify(&parsed.automaton));
    let source = emit(&parsed.automaton, &Options::default()).expect("C").source;
    ["mk_sub_32(", "mk_add_32(", "mk_within("].map(|call| source.matches(call).count())
}

#[test]
fn what_was_asked_before_is_not_checked() {
    assert_eq!(calls("le y, x", "sub x, y"), [0; 3]);
    assert_eq!(calls("lt x, y", "sub x, y"), [1, 0, 0], "the other way round");
    assert_eq!(calls("eq y, 3", "sub x, 0"), [0; 3]);
    assert_eq!(calls("ge x, 20", "sub x, 20"), [0; 3]);
    assert_eq!(calls("ge x, 19", "sub x, 20"), [1, 0, 0], "one too few");
    assert_eq!(calls("lt x, 4294967295", "add x, 1"), [0; 3]);
    assert_eq!(calls("le x, 4294967295", "add x, 1"), [0, 1, 0], "one too many");
    assert_eq!(calls("lt x, 16", "get e.places[x]"), [0; 3]);
    assert_eq!(calls("le x, 16", "get e.places[x]"), [0, 0, 1], "one too many");
}
