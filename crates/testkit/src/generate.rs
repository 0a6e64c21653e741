//! Random automata in their text form: every kind of cell, operation and branch, right by construction.
//!
//! For comparing back ends with each other: what they are told is without sense, but it has one meaning. Events have
//! ranks that only grow, timers are armed at least a millisecond ahead, and settling has a budget: every call ends.

use std::fmt::Write;

use crate::random::Random;

const RANKS: usize = 3;

/// The text of the automaton of a seed. It passes the verifier and composes.
pub fn automaton(seed: u64) -> String {
    let mut random = Random::new(seed);
    let layers = 1 + random.below(4);
    let mut text = head(&mut random, layers);
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
        settle_and_expiry(&mut text, &mut random, layer, layers);
        session(&mut text, &mut random, layer, layers);
    }
    text
}

fn head(random: &mut Random, layers: usize) -> String {
    let tick = random.pick(&[1, 1000, 1_000_000]);
    let mut text =
        format!("automaton random\ntick {tick}\nparam scale: u8 = {}\nattribute mark: u8 = 3\n", random.below(256));
    text += "enum Mode: u2 { slow, fast, off }\nheader t.Plain { a: u8, b: u16 }\nheader t.Kind {\n  Data{n: u8}\n  Ack{n: seq16, f: bool}\n}\n";
    for reason in ["short", "kind", "magic", "length", "sum", "dropped", "full"] {
        let _ = writeln!(text, "reason t.{reason}");
    }
    for layer in 0..layers {
        let _ = writeln!(text, "layer l{layer}");
    }
    for layer in 0..layers {
        let settle =
            if random.chance(60) { format!(" settle {}", 1 + random.below(3)) } else { " settle 1".to_string() };
        let _ = write!(
            text,
            "class l{layer}.E capacity 1{settle} {{\n  x: u8 = {}\n  y: u16\n  q: seq16 = 65530\n  f: bool\n  mode: Mode\n  left: u8\n  arr: [4] u16 = 1\n  \
             kept: quota 3\n  held: [3] msg quota l{layer}.E.kept\n  map: map 3 (u8) -> (u16)\n  t: timer\n  c: counter\n  last: @l{layer}.S\n}}\n\
             class l{layer}.S capacity {} in l{layer}.E {{\n  n: u8 = 7\n  held: [2] msg quota l{layer}.E.kept\n  t: timer\n  c: counter\n}}\n",
            random.below(256),
            2 + random.below(3),
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

fn settle_and_expiry(text: &mut String, random: &mut Random, layer: usize, layers: usize) {
    let again = if random.chance(40) { "    again e\n" } else { "" };
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
    let end = if random.chance(40) { "    release s\n" } else { "" };
    let tell = match layers {
        1 => String::new(),
        _ => format!("    o = unique l{}.E\n    emit o.w1(new)\n", (layer + 1 + random.below(layers - 1)) % layers),
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
         e = parent s\n    give e.kept, 1\n    out net.frame({layer}, m)\n    jump over\n  none:\n    jump over\n  over:\n    release s\n    return\n}}\n"
    );
}

/// A body under construction: what is known at this place, and what must still be disposed of.
struct Body<'a> {
    random: &'a mut Random,
    layer: usize,
    layers: usize,
    rank: usize,
    text: String,
    names: usize,
    bytes: Vec<String>,
    wides: Vec<String>,
    flags: Vec<String>,
    messages: Vec<String>,
    sessions: Vec<String>,
    emitted: usize,
}

impl<'a> Body<'a> {
    fn new(random: &'a mut Random, layer: usize, layers: usize, rank: usize) -> Self {
        Body {
            random,
            layer,
            layers,
            rank,
            text: String::new(),
            names: 0,
            bytes: Vec::new(),
            wides: Vec::new(),
            flags: Vec::new(),
            messages: Vec::new(),
            sessions: Vec::new(),
            emitted: 0,
        }
    }

    fn with_word(mut self, name: &str) -> Self {
        self.bytes.push(name.to_string());
        self
    }

    fn with_message(mut self, name: &str) -> Self {
        self.messages.push(name.to_string());
        let size = self.fresh("u");
        self.line(format!("{size} = size {name}"));
        let byte = self.fresh("v");
        self.line(format!("{byte} = cast {size} to u8"));
        self.bytes.push(byte);
        self
    }

    fn line(&mut self, line: String) {
        self.text += "    ";
        self.text += &line;
        self.text.push('\n');
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "  {label}:");
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}_{}", self.names)
    }

    fn byte(&mut self) -> String {
        match self.random.chance(20) {
            true => self.random.below(256).to_string() + ":u8",
            false => self.random.pick(&self.bytes).clone(),
        }
    }

    fn finish(mut self) -> String {
        for _ in 0..2 + self.random.below(7) {
            self.statement();
        }
        while let Some(message) = self.messages.pop() {
            self.dispose(&message);
        }
        self.text + "    return\n}\n"
    }

    fn statement(&mut self) {
        match self.random.below(19) {
            0 | 1 => self.arithmetic(),
            2 => self.wide_arithmetic(),
            3 => self.compare(),
            4 => self.cells(),
            5 => self.array(),
            6 => self.map(),
            7 => self.timer(),
            8 => self.quota(),
            9 => self.new_session(),
            10 => self.walk(),
            11 => self.draw(),
            12 => self.emit_word(),
            13 => self.out(),
            14 => self.later(),
            15 => self.make_message(),
            16 => self.change_message(),
            17 => self.held(),
            _ => self.rounds(),
        }
    }

    fn arithmetic(&mut self) {
        let ops = [
            "add", "sub", "mul", "add.wrap", "sub.wrap", "mul.wrap", "div", "rem", "and", "or", "xor", "shl", "shr",
            "min", "max",
        ];
        let (op, a, b) = (*self.random.pick(&ops), self.byte(), self.byte());
        let name = self.fresh("v");
        self.line(format!("{name} = {op} {a}, {b}"));
        self.bytes.push(name);
    }

    fn wide_arithmetic(&mut self) {
        let (a, b) = (self.byte(), self.byte());
        let (x, y, z) = (self.fresh("y"), self.fresh("y"), self.fresh("y"));
        self.line(format!("{x} = cast {a} to u16"));
        self.line(format!("{y} = get e.y"));
        let op = *self.random.pick(&["add", "mul", "sub", "shl", "max"]);
        self.line(format!("{z} = {op} {x}, {y}"));
        self.line(format!("set e.y, {z}"));
        let (q, s) = (self.fresh("q"), self.fresh("q"));
        self.line(format!("{q} = get e.q"));
        self.line(format!("{s} = cast {b} to seq16"));
        let (next, less) = (self.fresh("q"), self.fresh("f"));
        self.line(format!("{next} = add.wrap {q}, {s}"));
        self.line(format!("{less} = lt {q}, {s}"));
        self.line(format!("set e.q, {next}"));
        self.flags.push(less);
        self.wides.push(z);
    }

    fn compare(&mut self) {
        let op = *self.random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
        let (a, b, f, n, s) = (self.byte(), self.byte(), self.fresh("f"), self.fresh("f"), self.fresh("v"));
        self.line(format!("{f} = {op} {a}, {b}"));
        self.line(format!("{n} = not {f}"));
        self.line(format!("{s} = select {f}, {a}, {b}"));
        self.flags.extend([f, n]);
        self.bytes.push(s);
    }

    fn cells(&mut self) {
        let (value, name) = (self.byte(), self.fresh("v"));
        self.line(format!("{name} = get e.x"));
        self.line(format!("set e.x, {value}"));
        self.line(format!("count e.c, {value}"));
        let scale = self.fresh("v");
        self.line(format!("{scale} = param scale"));
        self.bytes.extend([name, scale]);
        if let Some(flag) = self.flags.last().cloned() {
            let old = self.fresh("f");
            self.line(format!("{old} = get e.f"));
            self.line(format!("set e.f, {flag}"));
            self.flags.push(old);
        }
    }

    fn array(&mut self) {
        let (value, small, index, wide, old) =
            (self.byte(), self.fresh("v"), self.fresh("u"), self.fresh("y"), self.fresh("y"));
        let modulo = self.random.pick(&[4, 4, 5]).to_string();
        self.line(format!("{small} = rem {value}, {modulo}"));
        self.line(format!("{index} = cast {small} to u32"));
        self.line(format!("{wide} = cast {value} to u16"));
        self.line(format!("{old} = get e.arr[{index}]"));
        self.line(format!("set e.arr[{index}], {wide}"));
        self.wides.push(old);
    }

    /// `then` with a u16, `otherwise` with none: both go on at one block, with a u16.
    fn diamond(&mut self, head: String, then_param: bool) {
        let (then, otherwise, join, got, zero) =
            (self.fresh("then"), self.fresh("else"), self.fresh("join"), self.fresh("y"), self.fresh("y"));
        let wide = self.fresh("y");
        let dots = if then_param { "(..)" } else { "" };
        self.line(format!("{head} then {then}{dots} else {otherwise}"));
        match then_param {
            true => self.label(&format!("{then}({got}: u16)")),
            false => {
                self.label(&then);
                self.line(format!("{got} = 1:u16"));
            }
        }
        self.line(format!("jump {join}({got})"));
        self.label(&otherwise);
        self.line(format!("{zero} = 40000:u16"));
        self.line(format!("jump {join}({zero})"));
        self.label(&format!("{join}({wide}: u16)"));
        self.wides.push(wide);
    }

    fn map(&mut self) {
        let (value, key) = (self.byte(), self.fresh("v"));
        self.line(format!("{key} = and {value}, 7"));
        match self.random.below(3) {
            0 => self.diamond(format!("find e.map[{key}]"), true),
            1 => self.diamond(format!("remove e.map[{key}]"), true),
            _ => {
                let wide = self.fresh("y");
                self.line(format!("{wide} = cast {value} to u16"));
                self.diamond(format!("insert e.map[{key}], {wide}"), false);
            }
        }
    }

    fn timer(&mut self) {
        let armed = self.fresh("f");
        self.line(format!("{armed} = armed e.t"));
        self.flags.push(armed);
        if self.random.chance(25) {
            return self.line("disarm e.t".to_string());
        }
        let (value, now, wide, ahead, deadline) =
            (self.byte(), self.fresh("t"), self.fresh("t"), self.fresh("t"), self.fresh("t"));
        self.line(format!("{now} = now"));
        self.line(format!("{wide} = cast {value} to u64"));
        self.line(format!("{ahead} = mul {wide}, 10001"));
        let later = self.fresh("t");
        self.line(format!("{later} = add {ahead}, 1000000"));
        self.line(format!("{deadline} = add {now}, {later}"));
        self.line(format!("arm e.t, {deadline}"));
    }

    fn quota(&mut self) {
        if self.random.chance(30) {
            let (left, byte) = (self.fresh("u"), self.fresh("v"));
            self.line("give e.kept, 1".to_string());
            self.line(format!("{left} = left e.kept"));
            self.line(format!("{byte} = cast {left} to u8"));
            return self.bytes.push(byte);
        }
        let (value, amount, units) = (self.byte(), self.fresh("v"), self.fresh("u"));
        self.line(format!("{amount} = and {value}, 3"));
        self.line(format!("{units} = cast {amount} to u32"));
        self.diamond(format!("take e.kept, {units}"), false);
    }

    fn new_session(&mut self) {
        let (made, none, join, session) = (self.fresh("made"), self.fresh("none"), self.fresh("join"), self.fresh("s"));
        let layer = self.layer;
        self.line(format!("new l{layer}.S in e then {made}(..) else {none}"));
        self.label(&format!("{made}({session}: @l{layer}.S)"));
        let value = self.byte();
        self.line(format!("set {session}.n, {value}"));
        self.line(format!("set e.last, {session}"));
        self.line(format!("out app.made{layer}({session})"));
        self.line(format!("jump {join}"));
        self.label(&none);
        self.line(format!("jump {join}"));
        self.label(&join);
        let last = self.fresh("s");
        self.line(format!("{last} = get e.last"));
        self.sessions.push(last);
    }

    /// All sessions, by age: counted, one perhaps released.
    fn walk(&mut self) {
        let (head, next, over, s, i, sum) = (
            self.fresh("loop"),
            self.fresh("next"),
            self.fresh("over"),
            self.fresh("s"),
            self.fresh("v"),
            self.fresh("v"),
        );
        let layer = self.layer;
        let zero = self.fresh("v");
        self.line(format!("{zero} = 0:u8"));
        self.line(format!("first l{layer}.S in e then {head}(.., {zero}) else {over}"));
        self.label(&format!("{head}({s}: @l{layer}.S, {i}: u8) bound 9"));
        let (n, m) = (self.fresh("v"), self.fresh("v"));
        self.line(format!("{n} = get {s}.n"));
        self.line(format!("{m} = add.wrap {i}, {n}"));
        self.line(format!("set e.x, {m}"));
        if self.random.chance(20) {
            self.line(format!("release {s}"));
        }
        self.line(format!("jump {next}"));
        self.label(&next);
        self.line(format!("next {s} then {head}(.., {m}) else {over}"));
        self.label(&over);
        self.line(format!("{sum} = get e.x"));
        self.bytes.push(sum);
    }

    fn draw(&mut self) {
        let (byte, flag) = (self.fresh("v"), self.fresh("f"));
        self.line(format!("{byte} = draw u8 from e"));
        self.line(format!("{flag} = draw bool from e"));
        self.bytes.push(byte);
        self.flags.push(flag);
    }

    /// An event of a higher rank at another layer; `None` when there is none, or enough was emitted.
    fn target(&mut self) -> Option<(usize, usize)> {
        if self.rank + 1 >= RANKS || self.emitted >= 3 || self.layers < 2 {
            return None;
        }
        self.emitted += 1;
        let layer = (self.layer + 1 + self.random.below(self.layers - 1)) % self.layers;
        Some((layer, self.rank + 1 + self.random.below(RANKS - self.rank - 1)))
    }

    fn emit_word(&mut self) {
        let value = self.byte();
        let Some((layer, rank)) = self.target() else { return self.out() };
        let other = self.fresh("o");
        self.line(format!("{other} = unique l{layer}.E"));
        self.line(format!("emit {other}.w{rank}({value})"));
    }

    fn out(&mut self) {
        let layer = self.layer;
        match (self.random.below(3), self.wides.last().cloned(), self.flags.last().cloned()) {
            (0, Some(wide), _) => self.line(format!("out app.wide({layer}, {wide})")),
            (1, _, Some(flag)) => self.line(format!("out app.flag({layer}, {flag})")),
            _ => {
                let value = self.byte();
                self.line(format!("out app.word({layer}, {value})"));
            }
        }
    }

    fn later(&mut self) {
        let value = self.byte();
        let Some((layer, rank)) = self.target() else { return self.out() };
        let other = self.fresh("o");
        self.line(format!("{other} = unique l{layer}.E"));
        self.diamond(format!("later {other}.w{rank}({value})"), false);
    }

    fn make_message(&mut self) {
        if self.messages.len() > 3 {
            return self.change_message();
        }
        let name = self.fresh("m");
        match self.messages.last().cloned() {
            Some(message) if self.random.chance(60) => self.line(format!("{name} = share {message}")),
            _ => {
                let octets: String =
                    (0..self.random.below(12)).map(|_| format!("{:02x}", self.random.below(256))).collect();
                self.line(format!("{name} = message \"{octets}\""));
            }
        }
        self.messages.push(name);
    }

    fn change_message(&mut self) {
        let Some(message) = self.messages.pop() else { return self.make_message() };
        let (value, at, name) = (self.byte(), self.fresh("u"), self.fresh("m"));
        let small = self.fresh("v");
        self.line(format!("{small} = and {value}, 15"));
        self.line(format!("{at} = cast {small} to u32"));
        match self.random.below(9) {
            0 => self.line(format!("{name} = trim {message}, {at}")),
            1 => self.line(format!("{name} = skip {message}, {at}")),
            2 => {
                let rest = self.fresh("m");
                self.line(format!("{name}, {rest} = split {message}, {at}"));
                self.messages.push(rest);
            }
            3 => match self.messages.pop() {
                Some(second) => self.line(format!("{name} = join {message}, {second}")),
                None => self.line(format!("{name} = trim {message}, {at}")),
            },
            4 => self.line(format!("{name} = store.le16 {message}, {at}, 0xbeef")),
            5 => {
                let (byte, wide) = (self.fresh("v"), self.fresh("y"));
                self.line(format!("{byte} = load.be8 {message}, {at}"));
                self.line(format!("{wide} = load.le16 {message}, {at}"));
                self.bytes.push(byte);
                self.wides.push(wide);
                self.line(format!("{name} = store.be8 {message}, {at}, {value}"));
            }
            6 => {
                let (sum, wide, mark) = (self.fresh("u"), self.fresh("y"), self.fresh("v"));
                self.line(format!("{sum} = sum16 {message}"));
                self.line(format!("{wide} = fold16 {sum}"));
                self.line(format!("{mark} = get.attribute {message}, mark"));
                self.line(format!("{name} = set.attribute {message}, mark, {value}"));
                self.wides.push(wide);
                self.bytes.push(mark);
            }
            7 => self.encode(&message, &name, &value),
            _ => return self.decode(&message, &name),
        }
        self.messages.push(name);
    }

    fn encode(&mut self, message: &str, name: &str, value: &str) {
        let (wide, p, k) = (self.fresh("y"), self.fresh("m"), self.fresh("m"));
        self.line(format!("{wide} = cast {value} to u16"));
        self.line(format!("{p} = push {message}, t.Plain{{a: {value}, b: {wide}}}"));
        if self.random.chance(50) {
            self.line(format!("{k} = push {p}, t.Kind.Data{{n: {value}}}"));
        } else {
            let (q, f) = (self.fresh("q"), self.fresh("f"));
            self.line(format!("{q} = get e.q"));
            self.line(format!("{f} = get e.f"));
            self.line(format!("{k} = push {p}, t.Kind.Ack{{n: {q}, f: {f}}}"));
        }
        self.line(format!("{name} = encode {k}, w"));
    }

    /// Decoded and taken apart, or dropped for its reason: either way a message goes on.
    fn decode(&mut self, message: &str, name: &str) {
        let labels = ["good", "bad", "data", "ack", "join"].map(|label| self.fresh(label));
        let [good, bad, data, ack, join] = labels;
        let m: Vec<String> = (0..6).map(|_| self.fresh("m")).collect();
        let (why, n, next, f) = (self.fresh("why"), self.fresh("v"), self.fresh("q"), self.fresh("f"));
        let verb = if self.random.chance(25) { "vet" } else { "decode" };
        self.line(format!("{verb} {message}, w then {good}(..) else {bad}(..)"));
        self.label(&format!("{good}({}: msg)", m[0]));
        if verb == "vet" {
            self.line(format!("jump {join}({})", m[0]));
        } else {
            self.line(format!("match {}, t.Kind {{ Data -> {data}(..), Ack -> {ack}(..) }}", m[0]));
            let (a, b) = (self.fresh("v"), self.fresh("y"));
            self.label(&format!("{data}({}: msg, {n}: u8)", m[1]));
            self.line(format!("{}, {a}, {b} = pop {}, t.Plain", m[2], m[1]));
            self.line(format!("out app.word({}, {n})", self.layer));
            self.line(format!("out app.wide({}, {b})", self.layer));
            let quote = self.fresh("m");
            self.line(format!("{quote} = received {}, w", m[2]));
            self.line(format!("out app.body({}, {quote})", self.layer));
            self.line(format!("jump {join}({})", m[2]));
            self.label(&format!("{ack}({}: msg, {next}: seq16, {f}: bool)", m[3]));
            let (c, d) = (self.fresh("v"), self.fresh("y"));
            self.line(format!("{}, {c}, {d} = pop {}, t.Plain", m[4], m[3]));
            self.line(format!("out app.flag({}, {f})", self.layer));
            self.line(format!("jump {join}({})", m[4]));
        }
        self.label(&format!("{bad}({}: msg, {why}: reason)", m[5]));
        let fresh = self.fresh("m");
        self.line(format!("drop {} for {why}", m[5]));
        self.line(format!("{fresh} = message \"ff\""));
        self.line(format!("jump {join}({fresh})"));
        self.label(&format!("{join}({name}: msg)"));
        self.messages.push(name.to_string());
    }

    /// What is held comes out, or is shared.
    fn held(&mut self) {
        let (value, at, small) = (self.byte(), self.fresh("u"), self.fresh("v"));
        self.line(format!("{small} = rem {value}, 4"));
        self.line(format!("{at} = cast {small} to u32"));
        let (got, none, join, m) = (self.fresh("got"), self.fresh("none"), self.fresh("join"), self.fresh("m"));
        let verb = if self.random.chance(60) { "takeout" } else { "shareheld" };
        self.line(format!("{verb} e.held[{at}] then {got}(..) else {none}"));
        self.label(&format!("{got}({m}: msg)"));
        if verb == "takeout" {
            self.line("give e.kept, 1".to_string());
        }
        self.line(format!("out app.body({}, {m})", self.layer));
        self.line(format!("jump {join}"));
        self.label(&none);
        self.line(format!("jump {join}"));
        self.label(&join);
    }

    /// A loop of a few rounds, each with an output.
    fn rounds(&mut self) {
        let (value, count, zero, i) = (self.byte(), self.fresh("v"), self.fresh("v"), self.fresh("v"));
        let (head, round, over, more, next) =
            (self.fresh("loop"), self.fresh("round"), self.fresh("over"), self.fresh("f"), self.fresh("v"));
        self.line(format!("{count} = and {value}, 3"));
        self.line(format!("{zero} = 0:u8"));
        self.line(format!("jump {head}({zero})"));
        self.label(&format!("{head}({i}: u8) bound 4"));
        self.line(format!("{more} = lt {i}, {count}"));
        self.line(format!("br {more} @0.5 {round}, {over}"));
        self.label(&round);
        match self.target() {
            Some((layer, rank)) => {
                let other = self.fresh("o");
                self.line(format!("{other} = unique l{layer}.E"));
                self.line(format!("emit {other}.w{rank}({i})"));
            }
            None => self.line(format!("out app.word({}, {i})", self.layer)),
        }
        self.line(format!("{next} = add {i}, 1"));
        self.line(format!("jump {head}({next})"));
        self.label(&over);
    }

    fn dispose(&mut self, message: &str) {
        let layer = self.layer;
        match self.random.below(7) {
            0 => self.line(format!("drop {message}, t.dropped")),
            1 => self.line(format!("consume {message}, t.full")),
            2 => self.line(format!("out app.body({layer}, {message})")),
            3 => self.line(format!("out net.frame({layer}, {message})")),
            4 => match self.target() {
                Some((layer, rank)) => {
                    let other = self.fresh("o");
                    self.line(format!("{other} = unique l{layer}.E"));
                    self.line(format!("emit {other}.m{rank}({message})"));
                }
                None => self.line(format!("out net.frame({layer}, {message})")),
            },
            5 => match self.sessions.pop() {
                Some(session) => {
                    let (full, over) = (self.fresh("full"), self.fresh("over"));
                    self.line(format!("later {session}.put({message}) then {over} else {full}"));
                    self.label(&full);
                    self.line(format!("drop {message}, t.full"));
                    self.line(format!("jump {over}"));
                    self.label(&over);
                }
                None => self.keep(message),
            },
            _ => self.keep(message),
        }
    }

    fn keep(&mut self, message: &str) {
        let (value, at, small) = (self.byte(), self.fresh("u"), self.fresh("v"));
        let (room, full, join) = (self.fresh("room"), self.fresh("full"), self.fresh("join"));
        self.line(format!("{small} = and {value}, 3"));
        self.line(format!("{at} = cast {small} to u32"));
        self.line(format!("take e.kept, 1 then {room} else {full}"));
        self.label(&room);
        self.line(format!("keep e.held[{at}], {message}"));
        self.line(format!("jump {join}"));
        self.label(&full);
        self.line(format!("drop {message}, t.full"));
        self.line(format!("jump {join}"));
        self.label(&join);
    }
}
