//! Random automata in their text form: every kind of cell, operation and branch, correct by construction.
//!
//! They serve to compare back ends: the inputs are arbitrary, but have exactly one meaning. Every call ends: events
//! have increasing ranks, timers are armed at least a millisecond ahead, and settling has a budget.

mod body;
mod messages;
mod nest;
mod sessions;

use std::fmt::Write;

use body::{Body, RANKS};
use mokume_base::Random;

/// The function that bodies call.
const FUNCTION: &str =
    "function sum(a: u8, b: u8) -> (u8, bool) {\n    n = add a, b\n    less = lt n, a\n    br less over, fits\n  \
                        over:\n    yield 0:u8, less\n  fits:\n    m = rem n, b\n    yield m, less\n}\n";

/// The text of the automaton of a seed. It passes the verifier and composes.
pub fn automaton(seed: u64) -> String {
    let mut random = Random::new(seed);
    let layers = 1 + random.place(4);
    let mut text = head(&mut random, layers) + FUNCTION;
    for layer in 0..layers {
        for rank in 0..RANKS {
            let later = if rank > 0 { " later 2" } else { "" };
            let _ = writeln!(text, "handler l{layer}.E.w{rank}(e, n: u8){later} {{");
            let budget = if rank == 0 { "    set e.left, 2\n" } else { "" };
            text += budget;
            text += &Body::new(&mut random, layer, layers, rank).with_word("n").finish();
            let _ = writeln!(text, "handler l{layer}.E.m{rank}(e, m: msg){later} {{");
            text += &Body::new(&mut random, layer, layers, rank).with_message("m").finish();
        }
        procedures(&mut text, &mut random, layer, layers);
        settle_and_expiry(&mut text, &mut random, layer, layers);
        session(&mut text, &mut random, layer, layers);
    }
    text
}

fn head(random: &mut Random, layers: usize) -> String {
    let tick = random.one_of(&[1, 1000, 1_000_000]);
    let mut text =
        format!("automaton random\ntick {tick}\nparam scale: u8 = {}\nattribute mark: u8 = 3\n", random.place(256));
    text += "enum Mode: u2 { slow, fast, off }\nheader t.Plain { a: u8, b: u16 }\nheader t.Kind {\n  Data{n: u8}\n  Ack{n: seq16, f: bool}\n}\n";
    for reason in ["short", "kind", "magic", "length", "sum", "dropped", "full"] {
        let _ = writeln!(text, "reason t.{reason}");
    }
    for layer in 0..layers {
        let _ = writeln!(text, "layer l{layer}");
    }
    for layer in 0..layers {
        let settle =
            if random.percent(60) { format!(" settle {}", 1 + random.place(3)) } else { " settle 1".to_string() };
        let _ = write!(
            text,
            "class l{layer}.E capacity 1{settle} {{\n  x: u8 = {}\n  y: u16\n  q: seq16 = 65530\n  f: bool\n  mode: Mode\n  left: u8\n  arr: [4] u16 = 1\n  \
             kept: quota 3\n  held: [3] msg quota l{layer}.E.kept\n  map: map 3 (u8) -> (u16)\n  found: map 3 (u8) -> (@l{layer}.S) by k\n  t: timer\n  c: counter\n  last: @l{layer}.S\n  peer: @l{}.E\n}}\n\
             class l{layer}.S capacity {} in l{layer}.E {{\n  n: u8 = 7\n  fixed k: u8\n  held: [2] msg quota l{layer}.E.kept\n  t: timer\n  c: counter\n}}\n",
            random.place(256),
            body::peer_of(layer, layers),
            2 + random.place(3),
        );
    }
    text += "port app application {\n";
    for layer in 0..layers {
        let _ = write!(
            text,
            "  in w{layer}(n: u8) -> l{layer}.E.w0\n  in m{layer}(m: msg) -> l{layer}.E.m0\n  in s{layer}(s: @l{layer}.S, n: u8) -> l{layer}.S.poke\n  \
             out made{layer}(s: @l{layer}.S)\n"
        );
    }
    text += "  out word(by: u8, n: u8)\n  out wide(by: u8, n: u16)\n  out flag(by: u8, f: bool)\n  out body(by: u8, m: msg)\n}\n";
    text += "port net device {\n  in frame(m: msg) -> l0.E.m0\n  out frame(by: u8, m: msg)\n}\n";
    text + "wire w big {\n  headers t.Kind, t.Plain\n  short t.short\n  field magic: 4 = 9 else t.magic\n  field kind: 4 tag\n  \
            field length: 16 little computed packet_size() else t.length trims\n  field a: 8 from t.Plain.a\n  field b: 16 from t.Plain.b\n  \
            choice kind else t.kind {\n    case 1 select t.Kind.Data {\n      field n: 8 from t.Kind.Data.n\n    }\n    case 4 select t.Kind.Ack {\n      \
            field next: 16 little from t.Kind.Ack.n\n      field f: 1 from t.Kind.Ack.f\n      field rest: 7 reserved\n    }\n  }\n  \
            field sum: 16 computed packet_checksum() else t.sum\n}\n"
}

/// For the handlers of each rank, a procedure that always returns a number, and one that may give a message back.
fn procedures(text: &mut String, random: &mut Random, layer: usize, layers: usize) {
    for rank in 0..RANKS {
        let _ = writeln!(text, "procedure l{layer}.p{rank} of l{layer}(e: @l{layer}.E, n: u8) -> (u8) {{");
        let body = Body::new(random, layer, layers, rank).in_procedure().with_word("n");
        *text += &body.finish_with("y = get e.x\n    yield y");
        let head =
            format!("procedure l{layer}.q{rank} of l{layer}(e: @l{layer}.E, n: u8, m: msg) -> (u8, msg) else (msg)");
        let _ = writeln!(text, "{head} {{");
        let least = random.place(256);
        let body = Body::new(random, layer, layers, rank).in_procedure().with_word("n");
        let end = format!(
            "x = get e.x\n    small = lt x, {least}:u8\n    br small no, yes\n  no:\n    refuse m\n  yes:\n    yield x, m"
        );
        *text += &body.finish_with(&end);
    }
}

fn settle_and_expiry(text: &mut String, random: &mut Random, layer: usize, layers: usize) {
    let again = if random.percent(40) { "    again e\n" } else { "" };
    let _ = write!(
        text,
        "settle l{layer}.E(e) {{\n    left = get e.left\n    none = eq left, 0\n    br none over, on\n  over:\n    return\n  on:\n    \
         less = sub left, 1\n    set e.left, less\n{again}"
    );
    *text += &Body::new(random, layer, layers, 1).with_word("left").finish();
    let _ = writeln!(text, "expiry l{layer}.E.t(e) {{\n    n = get e.x");
    *text += &Body::new(random, layer, layers, 0).with_word("n").finish();
}

fn session(text: &mut String, random: &mut Random, layer: usize, layers: usize) {
    let released = format!(
        "    up = parent s\n    key = get s.k\n    remove up.found[key] then taken(..) else left\n  taken(other: @l{layer}.S):\n    jump left\n  \
         left:\n    release s\n"
    );
    let end = if random.percent(40) { released.as_str() } else { "" };
    let tell = match layers {
        1 => String::new(),
        _ => format!("    o = unique l{}.E\n    emit o.w1(new)\n", (layer + 1 + random.place(layers - 1)) % layers),
    };
    let _ = write!(
        text,
        "handler l{layer}.S.poke(s, n: u8) {{\n    e = parent s\n    old = get s.n\n    new = add old, n\n    set s.n, new\n    count s.c, 1\n    \
         out app.word({layer}, new)\n    t = now\n    d = add t, 3000000\n    arm s.t, d\n{tell}    k = message \"0102\"\n    \
         later e.m1(k) then over else full(k)\n  full(x: msg):\n    drop x, t.full\n    jump over\n  over:\n{end}    return\n}}\n"
    );
    let _ = write!(
        text,
        "handler l{layer}.S.put(s, m: msg) later 2 {{\n    e = parent s\n    i = 0:u32\n    full = holds s.held[i]\n    br full no, yes\n  yes:\n    \
         take e.kept, 1 then room else no\n  room:\n    keep s.held[i], m\n    return\n  no:\n    out app.body({layer}, m)\n{end}    return\n}}\n"
    );
    let _ = write!(
        text,
        "expiry l{layer}.S.t(s) {{\n    n = get s.n\n    out app.word({layer}, n)\n    takeout s.held[0] then got(..) else none\n  got(m: msg):\n    \
         e = parent s\n    give e.kept, 1\n    out net.frame({layer}, m)\n    jump over\n  none:\n    jump over\n  over:\n{released}    return\n}}\n"
    );
}
