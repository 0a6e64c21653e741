//! Random stacks of workers in their text form. Each layer has a header, a few cells, a likely way and a rare one. A
//! message goes through all layers at once, as most do; [`crate::generate`] makes everything else.

use std::fmt::Write;

use mokume_base::Random;

/// The text of a stack of 1 to 4 workers: `app.send` goes down to `net.frame`, `net.frame` up to `app.deliver`.
pub fn workers(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5747_4f52_4b45_5253);
    let layers = 1 + random.place(4);
    let mut text = "automaton workers\ntick 1000000\n".to_string();
    for layer in 0..layers {
        let _ = write!(
            text,
            "layer l{layer}\nheader l{layer}.Hdr {{ x: u16, s: seq32 }}\nreason l{layer}.rare\nreason l{layer}.bad\n"
        );
    }
    text += "reason w.short\nreason w.magic\n";
    for layer in 0..layers {
        let _ = write!(
            text,
            "class l{layer}.E capacity 1 {{\n  a: u16 = {}\n  b: u32\n  next: seq32 = {}\n  last: seq32\n  credit: u8 = {}\n  t: timer\n  c: counter\n}}\n",
            random.place(3),
            random.place(3),
            random.place(9),
        );
    }
    text += "port app application {\n  in send(m: msg) -> l0.E.send\n  out deliver(m: msg)\n  out note(by: u8, n: u32)\n}\n";
    let bottom = layers - 1;
    let _ = write!(text, "port net device {{\n  in frame(m: msg) -> l{bottom}.E.arrive\n  out frame(m: msg)\n}}\n");
    wire(&mut text, &mut random, layers);
    for layer in 0..layers {
        send(&mut text, &mut random, layer, layers);
        deliver(&mut text, &mut random, layer);
        let n = random.place(200) + 1;
        let _ = write!(
            text,
            "expiry l{layer}.E.t(e) {{\n    set e.credit, {n}\n    b = get e.b\n    out app.note({layer}, b)\n    return\n}}\n"
        );
    }
    let _ = write!(
        text,
        "handler l{bottom}.E.arrive(e, m: msg) {{\n    decode m, w then good(..) else bad(..)\n  good(k: msg):\n    jump on(k)\n  bad(r: msg, why: reason):\n    \
         drop r for why\n    return\n  on(d: msg):\n"
    );
    text += &deliver_body(&mut random, bottom, "d");
    text
}

fn wire(text: &mut String, random: &mut Random, layers: usize) {
    let headers: Vec<String> = (0..layers).rev().map(|layer| format!("l{layer}.Hdr")).collect();
    let _ = write!(
        text,
        "wire w {} {{\n  headers {}\n  short w.short\n",
        random.one_of(&["big", "little"]),
        headers.join(", ")
    );
    if random.percent(50) {
        text.push_str("  field magic: 8 = 165 else w.magic\n");
    }
    for layer in (0..layers).rev() {
        let order = random.one_of(&["", " big", " little"]);
        let _ = write!(text, "  field x: 16{order} from l{layer}.Hdr.x\n  field s: 32 from l{layer}.Hdr.s\n");
    }
    text.push_str("}\n");
}

/// A condition on cells and the message that usually holds.
fn condition(text: &mut String, random: &mut Random, message: &str) {
    let _ = match random.place(4) {
        0 => write!(text, "    cr = get e.credit\n    ok = gt cr, 0\n"),
        1 => write!(text, "    size = size {message}\n    ok = lt size, {}\n", 8 + random.place(12)),
        2 => write!(
            text,
            "    cr = get e.credit\n    a = get e.a\n    f = gt cr, 0\n    g = lt a, {}\n    ok = and f, g\n",
            5 + random.place(9)
        ),
        _ => write!(text, "    n = get e.next\n    l = get e.last\n    ok = ge n, l\n"),
    };
}

/// Updates of cells, some of which belong together.
fn updates(text: &mut String, random: &mut Random, message: &str) {
    for place in 0..1 + random.place(3) {
        let _ = match random.place(6) {
            0 => write!(text, "    a{place} = get e.a\n    b{place} = add.wrap a{place}, {}\n    set e.a, b{place}\n", 1 + random.place(3)),
            1 => write!(text, "    a{place} = get e.credit\n    b{place} = sub.wrap a{place}, 1\n    set e.credit, b{place}\n"),
            2 => write!(text, "    a{place} = get e.b\n    z{place} = size {message}\n    b{place} = add.wrap a{place}, z{place}\n    set e.b, b{place}\n"),
            3 => writeln!(text, "    count e.c, 1"),
            4 => write!(text, "    t{place} = now\n    d{place} = add t{place}, 2000000\n    arm e.t, d{place}\n"),
            _ => write!(text, "    a{place} = get e.a\n    b{place} = xor a{place}, {}\n    set e.a, b{place}\n", random.place(65536)),
        };
    }
}

fn send(text: &mut String, random: &mut Random, layer: usize, layers: usize) {
    let _ = writeln!(text, "handler l{layer}.E.send(e, m: msg) {{");
    condition(text, random, "m");
    let _ = write!(text, "    br ok @0.9{} go, rare\n  go:\n", random.place(10));
    updates(text, random, "m");
    text.push_str("    x = get e.a\n    s = get e.next\n    s1 = add.wrap s, 1\n    set e.next, s1\n");
    let _ = writeln!(text, "    p = push m, l{layer}.Hdr{{x: x, s: s}}");
    pass_down(text, layer, layers, "p", "go");
    text.push_str("    return\n  rare:\n");
    let _ = writeln!(text, "    set e.credit, {}", random.place(20));
    if random.percent(60) {
        let _ = write!(text, "    drop m, l{layer}.rare\n    return\n}}\n");
        return;
    }
    let (x, s) = (random.place(65536), random.place(1000));
    let _ = writeln!(text, "    set e.a, 1\n    q = push m, l{layer}.Hdr{{x: {x}, s: {s}}}");
    pass_down(text, layer, layers, "q", "rare");
    text.push_str("    return\n}\n");
}

fn pass_down(text: &mut String, layer: usize, layers: usize, message: &str, at: &str) {
    let _ = match layer + 1 < layers {
        true => write!(text, "    below_{at} = unique l{}.E\n    emit below_{at}.send({message})\n", layer + 1),
        false => write!(text, "    f_{at} = encode {message}, w\n    out net.frame(f_{at})\n"),
    };
}

fn deliver(text: &mut String, random: &mut Random, layer: usize) {
    let _ = writeln!(text, "handler l{layer}.E.deliver(e, m: msg) {{");
    *text += &deliver_body(random, layer, "m");
}

fn deliver_body(random: &mut Random, layer: usize, message: &str) -> String {
    let mut text = format!("    body, hx, hs = pop {message}, l{layer}.Hdr\n    last = get e.last\n");
    let _ = match random.place(4) {
        0 => writeln!(text, "    fits = ge hs, last"),
        1 => writeln!(text, "    fits = le last, hs"),
        2 => writeln!(text, "    fits = lt hx, {}", 100 + random.place(65000)),
        _ => write!(text, "    cr1 = get e.credit\n    fits = lt cr1, {}\n", 5 + random.place(250)),
    };
    let _ = write!(text, "    br fits @0.9 fine, odd\n  fine:\n    set e.last, hs\n");
    updates(&mut text, random, "body");
    pass_up(&mut text, layer, "fine");
    text.push_str("    return\n  odd:\n");
    let _ = match random.percent(50) {
        true => writeln!(text, "    drop body, l{layer}.bad"),
        false => {
            let _ = writeln!(text, "    set e.last, 0");
            pass_up(&mut text, layer, "odd");
            Ok(())
        }
    };
    text + "    return\n}\n"
}

fn pass_up(text: &mut String, layer: usize, at: &str) {
    let _ = match layer {
        0 => writeln!(text, "    out app.deliver(body)"),
        _ => write!(text, "    above_{at} = unique l{}.E\n    emit above_{at}.deliver(body)\n", layer - 1),
    };
}
