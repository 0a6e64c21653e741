//! A random handler body that asks many questions. Tracks what is known at each place, and what becomes of the message.

use std::fmt::Write;

use mokume_base::Random;

use super::layer::Layer;
use super::numbers::Number;

/// A value with its name.
#[derive(Clone)]
struct Known {
    name: String,
    of: Number,
}

pub(crate) struct Body<'a> {
    random: &'a mut Random,
    layer: &'a Layer,
    /// Whether the handler is a session's; then `s` is known.
    of_session: bool,
    text: String,
    /// The text of the blocks beside the main way.
    aside: String,
    names: usize,
    known: Vec<Known>,
    /// The number of values that came in; questions prefer them.
    first: usize,
    /// Numbers that some comparison used.
    numbers: Vec<u64>,
    message: String,
    /// For a session's handler: whether a message is known to be there.
    has_message: bool,
}

const U8: Number = Number::of(8);
const U16: Number = Number::of(16);
const U32: Number = Number::of(32);
const U64: Number = Number::of(64);

impl<'a> Body<'a> {
    /// An empty handler body of a layer; of its session if `of_session`.
    pub fn new(random: &'a mut Random, layer: &'a Layer, of_session: bool) -> Self {
        Body {
            random,
            layer,
            of_session,
            text: String::new(),
            aside: String::new(),
            names: 0,
            known: Vec::new(),
            first: 0,
            numbers: Vec::new(),
            message: "m".to_owned(),
            has_message: true,
        }
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.text += "    ";
        self.text += line.as_ref();
        self.text.push('\n');
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "  {label}:");
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}_{}", self.names)
    }

    fn know(&mut self, name: &str, of: Number) {
        self.known.push(Known { name: name.to_owned(), of });
    }

    fn finish(self) -> String {
        self.text + &self.aside + "}\n"
    }

    // -- what handlers are

    /// A message from below: reads its header, looks up a session, and sends it up.
    pub fn delivers(mut self) -> String {
        self.know("v", U32);
        let (i, header) = (self.layer.number, &self.layer.header);
        let fields: Vec<Number> = header.fields.clone();
        if self.random.percent(25) && !self.layer.is_encoded_below {
            (0..1 + self.random.place(3)).for_each(|_| self.looks_into());
        }
        let (good, bad, why) = (self.fresh("good"), self.fresh("bad"), self.fresh("why"));
        let (d, body) = (self.fresh("m"), self.fresh("m"));
        let message = self.message.clone();
        if self.layer.is_encoded_below {
            self.line(format!("jump {good}({message})"));
        } else {
            self.line(format!("decode {message}, w{i} then {good}(..) else {bad}(..)"));
            let _ = write!(self.aside, "  {bad}(r: msg, {why}: reason):\n    drop r for {why}\n    return\n");
        }
        self.label(&format!("{good}({d}: msg)"));
        let mut d = d;
        if self.layer.header.has_kinds {
            d = self.parts_kinds(&d);
        }
        let names: Vec<String> = (0..fields.len()).map(|at| format!("f{at}")).collect();
        self.line(format!("{body}, {} = pop {d}, l{i}.Hdr", names.join(", ")));
        self.message = body;
        for (name, of) in names.iter().zip(&fields) {
            self.know(name, *of);
        }
        self.first = self.known.len();
        self.statements(3);
        if self.layer.has_sessions && !self.of_session && self.random.percent(85) {
            self.finds_session();
        }
        if self.session() {
            self.know_session();
        }
        self.statements(4);
        if self.session() && self.random.percent(30) {
            self.finds_another();
        }
        if self.random.percent(if self.layer.of > 5 { 12 } else { 4 }) {
            self.is_not_followed();
        }
        if self.session() && self.random.percent(10) {
            self.ends_session();
        }
        self.goes_up();
        self.finish()
    }

    /// A message from above: adds a header, and sends it down.
    pub fn sends(mut self) -> String {
        self.know("v", U32);
        self.first = 1;
        if self.of_session {
            self.know_session();
        } else if self.layer.has_sessions && self.random.percent(60) {
            let last = self.fresh("o");
            let there = self.fresh("g");
            self.line(format!("{last} = get e.last"));
            self.line(format!("{there} = lives {last}"));
            self.on(&there);
            self.line(format!("x0 = get {last}.x"));
            self.know("x0", U16);
            for (at, key) in self.layer.header.keys().to_vec().into_iter().enumerate() {
                self.line(format!("k{at} = get {last}.k{at}"));
                self.know(&format!("k{at}"), key);
            }
        }
        self.statements(4);
        self.goes_down();
        self.finish()
    }

    /// The body for an expired timer.
    pub fn expires(mut self) -> String {
        self.has_message = false;
        self.line("v = 9:u32");
        self.know("v", U32);
        if self.of_session {
            self.know_session();
        }
        self.statements(4);
        let value = self.of(U32);
        self.line(format!("out app.told({}, {value})", self.layer.number));
        self.line("return");
        self.finish()
    }

    // -- parts

    /// Removes the header that has two kinds.
    fn parts_kinds(&mut self, message: &str) -> String {
        let (i, data, ack, join) = (self.layer.number, self.fresh("data"), self.fresh("ack"), self.fresh("join"));
        let (one, two, both) = (self.fresh("m"), self.fresh("m"), self.fresh("m"));
        let (n, o, b, sum, wide) =
            (self.fresh("v"), self.fresh("v"), self.fresh("v"), self.fresh("v"), self.fresh("v"));
        self.line(format!("match {message}, l{i}.Kind {{ Data -> {data}(..), Ack -> {ack}(..) }}"));
        self.label(&format!("{data}({one}: msg, {n}: u8)"));
        self.line(format!("{wide} = cast {n} to u16"));
        self.line(format!("jump {join}({one}, {wide})"));
        self.label(&format!("{ack}({two}: msg, {o}: u16, {b}: u4)"));
        if self.random.percent(30) {
            self.line(format!("drop {two}, l{i}.no"));
            self.line("return");
        } else {
            self.line(format!("jump {join}({two}, {o})"));
        }
        self.label(&format!("{join}({both}: msg, {sum}: u16)"));
        self.know(&sum, U16);
        both
    }

    /// Whether the message may have headers that are not yet octets.
    fn has_headers(&self) -> bool {
        self.layer.is_encoded_below || self.layer.encodes_above
    }

    fn session(&self) -> bool {
        self.of_session || self.known.iter().any(|known| known.name == "there")
    }

    fn finds_session(&mut self) {
        let keys = self.layer.header.keys().to_vec();
        let mut key = Vec::new();
        for (at, of) in keys.iter().enumerate() {
            // Usually the value as it came in.
            key.push(match self.random.place(8) {
                0 => self.of(*of),
                _ => format!("f{at}"),
            });
        }
        let (found, none) = (self.fresh("found"), self.fresh("none"));
        self.line(format!("find e.table[{}] then {found}(..) else {none}", key.join(", ")));
        self.off(&none);
        let i = self.layer.number;
        self.label(&format!("{found}(s: @l{i}.S)"));
        self.line("there = 1:u8");
        self.know("there", U8);
    }

    fn know_session(&mut self) {
        let cells = [("x", U16), ("y", U32), ("z", U8), ("q", Number { width: 16, is_seq: true })];
        for (cell, of) in cells {
            if self.random.percent(60) {
                let name = self.fresh("c");
                self.line(format!("{name} = get s.{cell}"));
                self.know(&name, of);
            }
        }
        for (at, of) in self.layer.header.keys().to_vec().into_iter().enumerate() {
            if self.random.percent(40) {
                let name = self.fresh("c");
                self.line(format!("{name} = get s.k{at}"));
                self.know(&name, of);
            }
        }
    }

    fn goes_up(&mut self) {
        let (i, value, message) = (self.layer.number, self.of(U32), self.message.clone());
        if self.random.percent(20) {
            let other = self.of(U32);
            self.line(format!("out app.told({i}, {other})"));
        }
        if self.random.percent(12) {
            self.goes_twice();
        }
        if i == 0 {
            match self.session() && self.random.percent(80) {
                true => self.line(format!("out app.got(s, {message}, {value})")),
                false => self.line(format!("out app.deliver({message}, {value})")),
            }
        } else if self.session() && self.layer.is_tied && self.random.percent(80) {
            let (above, there) = (self.fresh("u"), self.fresh("g"));
            match self.random.place(3) {
                0 => self.line(format!("emit.by s.up.got({message}, {value})")),
                1 => {
                    self.line(format!("{above} = get s.up"));
                    self.line(format!("emit {above}.got({message}, {value})"));
                }
                _ => {
                    self.line(format!("{above} = get s.up"));
                    self.line(format!("{there} = lives {above}"));
                    self.on(&there);
                    self.line(format!("emit {above}.got({message}, {value})"));
                }
            }
        } else {
            let above = self.fresh("u");
            self.line(format!("{above} = unique l{}.E", i - 1));
            self.line(format!("emit {above}.deliver({message}, {value})"));
        }
        self.line("return");
    }

    fn goes_down(&mut self) {
        let (i, fields) = (self.layer.number, self.layer.header.fields.clone());
        let keys = self.layer.header.keys().len();
        let mut values = Vec::new();
        for (at, of) in fields.iter().enumerate() {
            let key = format!("k{at}");
            let is_known = at < keys && self.known.iter().any(|known| known.name == key);
            values.push(match is_known && self.random.percent(90) {
                true => format!("f{at}: {key}"),
                // A small number, so that it may match a session again.
                false if at < keys => format!("f{at}: {}", self.random.below(3).min(of.most())),
                false => format!("f{at}: {}", self.of(*of)),
            });
        }
        let (message, pushed, framed) = (self.message.clone(), self.fresh("m"), self.fresh("m"));
        self.line(format!("{pushed} = push {message}, l{i}.Hdr{{{}}}", values.join(", ")));
        let mut pushed = pushed;
        if self.layer.header.has_kinds {
            let (kind, value) = (self.fresh("m"), self.of(U8));
            match self.random.percent(50) {
                true => self.line(format!("{kind} = push {pushed}, l{i}.Kind.Data{{n: {value}}}")),
                false => {
                    let wide = self.of(U16);
                    self.line(format!("{kind} = push {pushed}, l{i}.Kind.Ack{{n: {wide}, b: 3}}"));
                }
            }
            pushed = kind;
        }
        match self.layer.is_encoded_below {
            true => self.line(format!("{framed} = set.attribute {pushed}, mark, {}", self.numbers.len() % 200)),
            false => self.line(format!("{framed} = encode {pushed}, w{i}")),
        }
        if i + 1 == self.layer.of {
            self.line(format!("out net.frame({framed})"));
        } else {
            let (below, value) = (self.fresh("u"), self.of(U32));
            self.line(format!("{below} = unique l{}.E", i + 1));
            self.line(format!("emit {below}.send({framed}, {value})"));
        }
        self.line("return");
    }

    /// A second look-up in the map of sessions.
    fn finds_another(&mut self) {
        let keys = self.layer.header.keys().to_vec();
        let key: Vec<String> = keys.iter().map(|of| self.of(*of)).collect();
        let (i, found, none, join, other) =
            (self.layer.number, self.fresh("found"), self.fresh("none"), self.fresh("join"), self.fresh("o"));
        let (value, both) = (self.fresh("v"), self.fresh("v"));
        self.line(format!("find e.table[{}] then {found}(..) else {none}", key.join(", ")));
        self.label(&none);
        self.line(format!("jump {join}(77)"));
        self.label(&format!("{found}({other}: @l{i}.S)"));
        self.line(format!("{value} = get {other}.x"));
        if self.random.percent(40) {
            self.line(format!("set {other}.x, 12"));
        }
        if self.random.percent(30) {
            self.line(format!("set e.last, {other}"));
        }
        self.line(format!("jump {join}({value})"));
        self.label(&format!("{join}({both}: u16)"));
        self.know(&both, U16);
    }

    /// Sometimes ends the session, and its event goes on.
    fn ends_session(&mut self) {
        let keys: Vec<String> = (0..self.layer.header.keys().len()).map(|_| self.fresh("k")).collect();
        let (i, flag) = (self.layer.number, self.compares());
        let labels = ["ends", "out", "join", "stays"].map(|label| self.fresh(label));
        let [ends, out, join, stays] = labels;
        self.line(format!("br {flag} {ends}, {stays}"));
        self.label(&ends);
        for (at, key) in keys.iter().enumerate() {
            self.line(format!("{key} = get s.k{at}"));
        }
        let (other, also) = (self.fresh("o"), self.fresh("out"));
        self.line(format!("remove e.table[{}] then {out}(..) else {also}", keys.join(", ")));
        self.label(&format!("{out}({other}: @l{i}.S)"));
        self.line(format!("jump {also}"));
        self.label(&also);
        self.line("release s");
        self.line(format!("jump {join}"));
        self.label(&stays);
        self.line(format!("jump {join}"));
        self.label(&join);
    }

    /// Operations that paths do not follow yet.
    fn is_not_followed(&mut self) {
        let name = self.fresh("v");
        match self.random.place(3) {
            0 => self.line(format!("{name} = sample u8 from e")),
            1 => {
                let (there, after) = (self.fresh("in"), self.fresh("full"));
                let key = self.of(U8);
                self.line(format!("insert e.other[{key}], 5 then {there} else {after}"));
                self.label(&there);
                self.line(format!("jump {after}"));
                self.label(&after);
                self.line(format!("{name} = 3:u8"));
            }
            _ => {
                let all = self.fresh("a");
                self.line(format!("{all} = get.all e.arr"));
                self.line(format!("set.all e.arr, {all}"));
                self.line(format!("{name} = 4:u8"));
            }
        }
        self.know(&name, U8);
    }

    /// A share of the message leaves too, by the same port or the other.
    fn goes_twice(&mut self) {
        let (share, message) = (self.fresh("m"), self.message.clone());
        if self.has_headers() {
            return;
        }
        self.line(format!("{share} = share {message}"));
        match self.random.place(3) {
            0 => self.line(format!("out app.deliver({share}, 5)")),
            1 => self.line(format!("out net.frame({share})")),
            _ => self.line(format!("drop {share}, l{}.no", self.layer.number)),
        }
    }

    /// The main way goes on if the flag is set.
    fn on(&mut self, flag: &str) {
        let (on, off) = (self.fresh("on"), self.fresh("off"));
        let likely = *self.random.one_of(&["", " @0.9", " @0.99", " @0.5"]);
        match self.random.percent(80) {
            true => self.line(format!("br {flag}{likely} {on}, {off}")),
            // Asks for the opposite.
            false => {
                let not = self.fresh("g");
                self.line(format!("{not} = not {flag}"));
                self.line(format!("br {not} {off}, {on}"));
            }
        }
        self.off(&off);
        self.label(&on);
    }

    /// The block beside the main way.
    fn off(&mut self, label: &str) {
        let (i, message) = (self.layer.number, self.message.clone());
        let mut text = format!("  {label}:\n");
        if self.random.percent(20) {
            let _ = writeln!(text, "    set e.c, {}", self.random.below(256));
        }
        if self.random.percent(20) {
            let _ = writeln!(text, "    out app.told({i}, {})", self.random.below(9));
        }
        if self.has_message {
            let goes = self.random.percent(20) && !self.has_headers();
            let _ = match goes {
                true => writeln!(text, "    out app.deliver({message}, 1)"),
                false => writeln!(text, "    drop {message}, l{i}.no"),
            };
        }
        self.aside += &text;
        self.aside += "    return\n";
    }

    /// A value of a type: a known one, widened or narrowed.
    fn of(&mut self, of: Number) -> String {
        if self.random.percent(15) {
            let number = self.number(of);
            return format!("{number}:{}", of.name());
        }
        let known = self.any();
        self.cast(&known, of)
    }

    fn any(&mut self) -> Known {
        let fits = self.first > 0 && self.random.percent(60);
        let place = if fits { self.random.place(self.first) } else { self.random.place(self.known.len()) };
        self.known[place].clone()
    }

    fn cast(&mut self, known: &Known, of: Number) -> String {
        if known.of == of {
            return known.name.clone();
        }
        let name = self.fresh("v");
        self.line(format!("{name} = cast {} to {}", known.name, of.name()));
        name
    }

    /// A number to compare with, often one that was compared with before, or next to it.
    fn number(&mut self, of: Number) -> u64 {
        let before = self.random.pick(&self.numbers).copied();
        let number = match (before, self.random.place(3)) {
            (Some(before), 0) => before,
            (Some(before), 1) => before.wrapping_add(self.random.below(3)).wrapping_sub(1),
            _ => of.edge(self.random),
        } & of.most();
        self.numbers.push(number);
        number
    }

    fn statements(&mut self, most: usize) {
        // With many layers each asks less, so that many messages get through all of them.
        let most = if self.layer.of > 3 { most / 2 } else { most };
        for _ in 0..self.random.place(most + 1) {
            match self.random.place(13) {
                0..=3 => self.asks(),
                4 | 5 => self.computes(),
                6 => self.cells(),
                7 => self.chooses(),
                8 => self.array(),
                9 => self.timer(),
                10 => self.looks_up(),
                11 if self.has_message && !self.has_headers() => self.looks_into(),
                12 if self.has_message && !self.has_headers() => self.cuts(),
                11 if self.has_message => {
                    let (mark, message) = (self.fresh("v"), self.message.clone());
                    self.line(format!("{mark} = get.attribute {message}, mark"));
                    self.know(&mark, U8);
                }
                _ => self.masks(),
            }
        }
    }

    /// Compares a value with a number, or with another value.
    fn compares(&mut self) -> String {
        let a = self.any();
        let ops = if a.of.is_seq {
            &["eq", "ne", "lt", "le", "gt", "ge"][..]
        } else {
            &["eq", "ne", "ne", "lt", "le", "gt", "ge"]
        };
        let (op, flag) = (*self.random.one_of(ops), self.fresh("g"));
        let b = match self.random.percent(65) {
            true => format!("{}:{}", self.number(a.of), a.of.name()),
            false => self.of(a.of),
        };
        self.line(format!("{flag} = {op} {}, {b}", a.name));
        flag
    }

    fn asks(&mut self) {
        let mut flag = self.compares();
        if self.random.percent(25) {
            let (other, both) = (self.compares(), self.fresh("g"));
            let op = *self.random.one_of(&["and", "or", "xor"]);
            self.line(format!("{both} = {op} {flag}, {other}"));
            flag = both;
        }
        if self.random.percent(15) {
            let (a, of) = (self.compares(), self.fresh("g"));
            let b = self.compares();
            self.line(format!("{of} = select {flag}, {a}, {b}"));
            flag = of;
        }
        self.on(&flag);
    }

    fn computes(&mut self) {
        let ops = [
            "add", "sub", "mul", "add.wrap", "sub.wrap", "mul.wrap", "div", "rem", "and", "or", "xor", "shl", "shr",
            "min", "max", "add.wrap", "sub.wrap", "sub",
        ];
        let (op, a) = (*self.random.one_of(&ops), self.any());
        // Circular numbers are only added or subtracted.
        let op = if a.of.is_seq { *self.random.one_of(&["add.wrap", "sub.wrap"]) } else { op };
        let b = match self.random.percent(60) {
            true => format!("{}:{}", self.number(a.of), a.of.name()),
            false => self.of(a.of),
        };
        let name = self.fresh("v");
        self.line(format!("{name} = {op} {}, {b}", a.name));
        self.know(&name, a.of);
    }

    /// Masks some bits of a value.
    fn masks(&mut self) {
        let a = self.any();
        if a.of.is_seq {
            return self.computes();
        }
        let (by, ones) = (self.random.below(u64::from(a.of.width)), 1 + self.random.below(u64::from(a.of.width)));
        let (shifted, masked) = (self.fresh("v"), self.fresh("v"));
        self.line(format!("{shifted} = shr {}, {by}", a.name));
        let mask = u64::MAX >> (64 - ones) & a.of.most();
        self.line(format!("{masked} = and {shifted}, {mask}"));
        self.know(&masked, a.of);
        if self.random.percent(60) {
            let flag = self.fresh("g");
            let number = self.number(Number::of(ones as u32)) & mask;
            let op = *self.random.one_of(&["eq", "ne", "eq", "lt"]);
            self.line(format!("{flag} = {op} {masked}, {number}"));
            self.on(&flag);
        }
    }

    fn cells(&mut self) {
        let cells = [("a", U16), ("b", U32), ("c", U8), ("w", U64), ("n", Number { width: 16, is_seq: true })];
        let mine = [("x", U16), ("y", U32), ("z", U8), ("q", Number { width: 16, is_seq: true })];
        let (object, (cell, of)) = match self.session() && self.random.percent(60) {
            true => ("s", *self.random.one_of(&mine)),
            false => ("e", *self.random.one_of(&cells)),
        };
        if self.random.percent(60) {
            let name = self.fresh("v");
            self.line(format!("{name} = get {object}.{cell}"));
            self.know(&name, of);
        }
        if self.random.percent(60) {
            let value = self.of(of);
            self.line(format!("set {object}.{cell}, {value}"));
        }
        if self.random.percent(30) {
            let value = self.of(U8);
            self.line(format!("count {object}.k, {value}"));
        }
    }

    /// A branch whose two sides only compute, or write cells.
    fn chooses(&mut self) {
        let (flag, a, b, of) = (self.compares(), self.of(U16), self.of(U16), self.fresh("v"));
        let labels = ["yes", "no", "join"].map(|label| self.fresh(label));
        let [yes, no, join] = labels;
        self.line(format!("br {flag} {yes}, {no}"));
        for (label, value) in [(yes, a), (no, b)] {
            self.label(&label);
            let mut value = value;
            if self.random.percent(50) {
                let name = self.fresh("v");
                let number = self.number(U16);
                let op = *self.random.one_of(&["add.wrap", "xor", "min"]);
                self.line(format!("{name} = {op} {value}, {number}"));
                value = name;
            }
            if self.random.percent(40) {
                self.line(format!("set e.a, {value}"));
            }
            if self.session() && self.random.percent(40) {
                self.line(format!("set s.x, {value}"));
            }
            self.line(format!("jump {join}({value})"));
        }
        self.label(&format!("{join}({of}: u16)"));
        self.know(&of, U16);
    }

    fn array(&mut self) {
        let (index, small, old) = (self.of(U8), self.fresh("v"), self.fresh("v"));
        match self.random.place(3) {
            0 => self.line(format!("{small} = rem {index}, 4")),
            1 => self.line(format!("{small} = and {index}, 3")),
            _ => {
                let flag = self.fresh("g");
                self.line(format!("{flag} = lt {index}, 4"));
                self.on(&flag);
                self.line(format!("{small} = add.wrap {index}, 0"));
            }
        }
        self.line(format!("{old} = get e.arr[{small}]"));
        self.know(&old, U16);
        if self.random.percent(50) {
            let value = self.of(U16);
            self.line(format!("set e.arr[{small}], {value}"));
        }
    }

    fn timer(&mut self) {
        let object = if self.session() && self.random.percent(50) { "s" } else { "e" };
        if self.random.percent(30) {
            let flag = self.fresh("g");
            self.line(format!("{flag} = armed {object}.t"));
            self.on(&flag);
        }
        if self.random.percent(20) {
            return self.line(format!("disarm {object}.t"));
        }
        let (value, now, wide, ahead, at) =
            (self.of(U8), self.fresh("t"), self.fresh("t"), self.fresh("t"), self.fresh("t"));
        self.line(format!("{now} = now"));
        self.line(format!("{wide} = cast {value} to u64"));
        self.line(format!("{ahead} = add {wide}, 1000000"));
        self.line(format!("{at} = add {now}, {ahead}"));
        self.line(format!("arm {object}.t, {at}"));
    }

    /// A look-up in a map of numbers.
    fn looks_up(&mut self) {
        let (key, found, none, value) = (self.of(U8), self.fresh("found"), self.fresh("none"), self.fresh("v"));
        self.line(format!("find e.other[{key}] then {found}(..) else {none}"));
        if self.random.percent(50) {
            self.off(&none);
            self.label(&format!("{found}({value}: u16)"));
            return self.know(&value, U16);
        }
        let (join, both) = (self.fresh("join"), self.fresh("v"));
        self.label(&none);
        self.line(format!("jump {join}(5)"));
        self.label(&format!("{found}({value}: u16)"));
        self.line(format!("jump {join}({value})"));
        self.label(&format!("{join}({both}: u16)"));
        self.know(&both, U16);
    }

    /// Reads octets of the message, at a fixed offset or at one that a value gives.
    fn looks_into(&mut self) {
        let (message, size, flag) = (self.message.clone(), self.fresh("n"), self.fresh("g"));
        self.line(format!("{size} = size {message}"));
        let (width, order) =
            *self.random.one_of(&[(8, "be"), (16, "be"), (16, "le"), (32, "be"), (32, "le"), (64, "be")]);
        let loaded = self.fresh("v");
        if self.random.percent(60) {
            let at = self.random.below(6);
            let least = at + width / 8 + self.random.below(2) * self.random.below(4);
            let (op, least) = if self.random.percent(50) { ("ge", least) } else { ("gt", least - 1) };
            self.line(format!("{flag} = {op} {size}, {least}"));
            self.on(&flag);
            self.line(format!("{loaded} = load.{order}{width} {message}, {at}"));
        } else {
            let (small, at, end) = (self.of(U8), self.fresh("v"), self.fresh("v"));
            self.line(format!("{at} = cast {small} to u32"));
            self.line(format!("{end} = add {at}, {}", width / 8));
            self.line(format!("{flag} = le {end}, {size}"));
            self.on(&flag);
            self.line(format!("{loaded} = load.{order}{width} {message}, {at}"));
        }
        self.know(&loaded, Number::of(width as u32));
        self.know(&size, U32);
        if self.random.percent(20) {
            let (sum, folded) = (self.fresh("v"), self.fresh("v"));
            self.line(format!("{sum} = sum16 {message}"));
            self.line(format!("{folded} = fold16 {sum}"));
            self.know(&sum, U32);
            self.know(&folded, U16);
        }
    }

    /// Removes the message's first octets, or its last.
    fn cuts(&mut self) {
        let (message, size, flag, new) = (self.message.clone(), self.fresh("n"), self.fresh("g"), self.fresh("m"));
        self.line(format!("{size} = size {message}"));
        let octets = self.random.below(4);
        self.line(format!("{flag} = ge {size}, {octets}"));
        self.on(&flag);
        match self.random.percent(60) {
            true => self.line(format!("{new} = skip {message}, {octets}")),
            false => {
                let rest = self.fresh("n");
                self.line(format!("{rest} = sub {size}, {octets}"));
                self.line(format!("{new} = trim {message}, {rest}"));
            }
        }
        self.message = new;
    }
}
