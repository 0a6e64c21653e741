//! Random stacks that ask many questions, in their text form. Each layer reads a header of odd widths; compares, adds
//! and masks what it reads; looks up a session by it; and tests the session's cells. [`crate::generate`] makes
//! everything that paths do not follow.
//!
//! A value may be tested several times, with numbers at the edges of its width, so some answers follow from others, and
//! some contradict them. The frames that such a stack sends are of the form that it reads.

mod body;
mod layer;
mod numbers;
mod wires;

use std::fmt::Write;

use body::Body;
use layer::Layer;
use mokume_base::Random;
use wires::Header;

/// The text of the stack of a seed: 1 to 8 layers. `app.send` goes down to `net.frame`; `net.frame` goes up to
/// `app.deliver` or `app.got`. It passes the verifier and composes.
pub fn asking(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x6173_6b69_6e67);
    let most = if random.percent(40) { 8 } else { 3 };
    let of = 1 + random.place(most);
    let mut layers: Vec<Layer> = Vec::new();
    for number in 0..of {
        let has_sessions = random.percent(60);
        let is_tied = has_sessions && layers.last().is_some_and(|above| above.has_sessions);
        let mut header = Header::random(&mut random, number, has_sessions);
        let encodes_above = layers.last().is_some_and(|above| above.is_encoded_below);
        let is_encoded_below = number + 1 < of && !encodes_above && random.percent(25);
        // Kinds are possible only if the wire has one header.
        header.has_kinds &= !encodes_above && !is_encoded_below && !header.has_flag();
        let settles = random.percent(15);
        layers.push(Layer { number, of, header, has_sessions, is_tied, is_encoded_below, encodes_above, settles });
    }
    let mut text = head(&mut random, &layers);
    for layer in &layers {
        handlers(&mut text, &mut random, layer);
    }
    text
}

fn head(random: &mut Random, layers: &[Layer]) -> String {
    let mut text = "automaton asking\ntick 1000\nparam limit: u16 = 1500\nattribute mark: u8 = 3\n".to_owned();
    for layer in layers {
        let i = layer.number;
        let _ = write!(text, "layer l{i}\nreason l{i}.no\nreason l{i}.short\nreason l{i}.bad\n");
        text += &layer.header.declared();
    }
    for layer in layers {
        let i = layer.number;
        let _ = write!(
            text,
            "class l{i}.E capacity 1{} {{\n  a: u16 = {}\n  b: u32\n  c: u8 = {}\n  w: u64\n  n: seq16\n  arr: [4] u16 = 1\n  t: timer\n  k: counter\n  \
             held: [3] msg\n  other: map 4 (u8) -> (u16)\n",
            if layer.settles { " settle 2" } else { "" },
            random.place(3),
            random.place(256),
        );
        if layer.has_sessions {
            let keys = layer.header.keys();
            let types: Vec<String> = keys.iter().map(|key| key.name()).collect();
            let cells: Vec<String> = (0..keys.len()).map(|at| format!("k{at}")).collect();
            let _ = write!(
                text,
                "  table: map 4 ({}) -> (@l{i}.S) by {}\n  last: @l{i}.S\n}}\n",
                types.join(", "),
                cells.join(", ")
            );
            let _ = write!(
                text,
                "class l{i}.S capacity 6 in l{i}.E {{\n  x: u16 = {}\n  y: u32\n  z: u8\n  q: seq16\n  t: timer\n  k: counter\n",
                random.place(4)
            );
            for (at, key) in types.iter().enumerate() {
                let _ = writeln!(text, "  fixed k{at}: {key}");
            }
            if layer.is_tied {
                let _ = writeln!(text, "  up: @l{}.S", i - 1);
            }
        }
        text += "}\n";
    }
    text += &ports(layers);
    for (at, layer) in layers.iter().enumerate().filter(|(_, layer)| !layer.is_encoded_below) {
        let inner = layer.encodes_above.then(|| &layers[at - 1].header);
        text += &layer.header.wire(random, inner);
    }
    text
}

fn ports(layers: &[Layer]) -> String {
    let mut text = "port app application {\n  in send(m: msg, v: u32) -> l0.E.send\n".to_owned();
    for layer in layers {
        let i = layer.number;
        let _ = writeln!(text, "  in note{i}(k: u8, v: u16) -> l{i}.E.note");
        let _ = writeln!(text, "  in keep{i}(k: u8, m: msg) -> l{i}.E.keep\n  in next{i}(k: u8) -> l{i}.E.next");
        if layer.has_sessions {
            let keys = layer.header.keys();
            let params: Vec<String> =
                keys.iter().enumerate().map(|(at, key)| format!("k{at}: {}", key.name())).collect();
            let _ = write!(
                text,
                "  in open{i}({}, x: u16) -> l{i}.E.open\n  in swap{i}({}, x: u16) -> l{i}.E.swap\n  in close{i}(s: @l{i}.S) -> l{i}.S.close\n  \
                 in send{i}(s: @l{i}.S, m: msg, v: u32) -> l{i}.S.send\n  out made{i}(s: @l{i}.S)\n",
                params.join(", "),
                params.join(", ")
            );
        }
        if layer.is_tied {
            let _ = writeln!(text, "  in tie{i}(s: @l{i}.S, u: @l{}.S) -> l{i}.S.tie", i - 1);
        }
    }
    text += "  out deliver(m: msg, v: u32)\n  out told(by: u8, v: u32)\n  out kept(by: u8, m: msg)\n";
    if layers[0].has_sessions {
        text += "  out got(s: @l0.S, m: msg, v: u32)\n";
    }
    let bottom = layers.len() - 1;
    text + &format!("}}\nport net device {{\n  in frame(m: msg) -> l{bottom}.E.deliver\n  out frame(m: msg)\n}}\n")
}

fn handlers(text: &mut String, random: &mut Random, layer: &Layer) {
    let (i, bottom) = (layer.number, layer.of - 1);
    // What a port brings has no number beside it.
    let params = if i == bottom { "m: msg" } else { "m: msg, v: u32" };
    let given = if i == bottom { "    v = 7:u32\n" } else { "" };
    let _ = write!(text, "handler l{i}.E.deliver(e, {params}) {{\n{given}");
    *text += &Body::new(random, layer, false).delivers();
    let _ = writeln!(text, "handler l{i}.E.send(e, m: msg, v: u32) later 2 {{");
    *text += &Body::new(random, layer, false).sends();
    if layer.settles {
        let _ = writeln!(text, "settle l{i}.E(e) {{");
        *text += &Body::new(random, layer, false).expires();
    }
    let _ = writeln!(text, "expiry l{i}.E.t(e) {{");
    *text += &Body::new(random, layer, false).expires();
    let _ = write!(
        text,
        "handler l{i}.E.note(e, k: u8, v: u16) {{\n    set e.a, v\n    insert e.other[k], v then in else full\n  full:\n    remove e.other[0] then out(..) \
         else in\n  out(old: u16):\n    jump in\n  in:\n    return\n}}\n"
    );
    places(text, random, i);
    if layer.has_sessions {
        sessions(text, random, layer);
    }
}

/// Messages are kept in places; what a place holds goes on: out, to a later reaction, to another place, or it ends.
fn places(text: &mut String, random: &mut Random, i: usize) {
    let _ = write!(
        text,
        "handler l{i}.E.keep(e, k: u8, m: msg) {{\n    j = rem k, 3\n    at = cast j to u32\n    full = holds e.held[at]\n    br full @0.1 no, yes\n  \
         yes:\n    x = set.attribute m, mark, k\n    keep e.held[at], x\n    return\n  no:\n    drop m, l{i}.no\n    return\n}}\n"
    );
    let goes_on = match random.place(4) {
        0 => "out app.kept(k, m)\n    return".to_owned(),
        1 => format!(
            "v = cast k to u32\n    later e.send(m, v) then none else full\n  full:\n    drop m, l{i}.no\n    return"
        ),
        2 => format!(
            "n = add.wrap at, 1\n    o = rem n, 3\n    full = holds e.held[o]\n    br full @0.1 no, yes\n  yes:\n    x = set.attribute m, mark, k\n    \
             keep e.held[o], x\n    return\n  no:\n    drop m, l{i}.no\n    return"
        ),
        _ => format!("consume m, l{i}.bad\n    out app.told(k, 5)\n    return"),
    };
    let _ = write!(
        text,
        "handler l{i}.E.next(e, k: u8) {{\n    j = rem k, 3\n    at = cast j to u32\n    takeout e.held[at] then got(..) else none\n  \
         got(m: msg):\n    {goes_on}\n  none:\n    return\n}}\n"
    );
}

fn sessions(text: &mut String, random: &mut Random, layer: &Layer) {
    let i = layer.number;
    let keys = layer.header.keys();
    let params: Vec<String> = keys.iter().enumerate().map(|(at, key)| format!("k{at}: {}", key.name())).collect();
    let (params, key) = (params.join(", "), (0..keys.len()).map(|at| format!("k{at}")).collect::<Vec<_>>().join(", "));
    let set: String = (0..keys.len()).map(|at| format!("    set s.k{at}, k{at}\n")).collect();
    let _ = write!(
        text,
        "handler l{i}.E.open(e, {params}, x: u16) {{\n    find e.table[{key}] then known(..) else fresh\n  known(o: @l{i}.S):\n    set o.x, x\n    \
         set e.last, o\n    return\n  fresh:\n    new l{i}.S in e then made(..) else full\n  made(s: @l{i}.S):\n{set}    set s.x, x\n    set e.last, s\n    \
         insert e.table[{key}], s then in else none\n  in:\n    out app.made{i}(s)\n    return\n  none:\n    release s\n    jump full\n  full:\n    return\n}}\n"
    );
    // Another object replaces the current one.
    let _ = write!(
        text,
        "handler l{i}.E.swap(e, {params}, x: u16) {{\n    remove e.table[{key}] then known(..) else none\n  known(o: @l{i}.S):\n    release o\n    \
         new l{i}.S in e then made(..) else none\n  made(s: @l{i}.S):\n{set}    set s.y, 3\n    insert e.table[{key}], s then in else full\n  in:\n    \
         out app.made{i}(s)\n    return\n  full:\n    release s\n    jump none\n  none:\n    return\n}}\n"
    );
    let got: String = (0..keys.len()).map(|at| format!("    k{at} = get s.k{at}\n")).collect();
    let _ = write!(
        text,
        "handler l{i}.S.close(s) {{\n    e = unique l{i}.E\n{got}    remove e.table[{key}] then out(..) else out_of_it\n  out(o: @l{i}.S):\n    jump out_of_it\n  \
         out_of_it:\n    release s\n    return\n}}\n"
    );
    if layer.is_tied {
        let _ = write!(text, "handler l{i}.S.tie(s, u: @l{}.S) {{\n    set s.up, u\n    return\n}}\n", i - 1);
    }
    let _ = writeln!(text, "handler l{i}.S.send(s, m: msg, v: u32) {{\n    e = unique l{i}.E");
    *text += &Body::new(random, layer, true).sends();
    let _ = writeln!(text, "handler l{i}.S.got(s, m: msg, v: u32) {{\n    e = unique l{i}.E");
    *text += &Body::new(random, layer, true).delivers();
    let _ = writeln!(text, "expiry l{i}.S.t(s) {{\n    e = unique l{i}.E");
    *text += &Body::new(random, layer, true).expires();
}
