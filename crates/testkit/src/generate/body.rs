//! A random body: statements on values, cells, timers and sessions, and what is known at each place.

use std::fmt::Write;

use mokume_base::Random;

/// The number of ranks of events. A handler emits only events of higher ranks than its own.
pub const RANKS: usize = 3;

/// A body under construction: what is known at this place, and what must still be disposed of.
pub struct Body<'a> {
    pub random: &'a mut Random,
    pub layer: usize,
    layers: usize,
    rank: usize,
    text: String,
    names: usize,
    pub bytes: Vec<String>,
    pub wides: Vec<String>,
    pub flags: Vec<String>,
    pub messages: Vec<String>,
    pub sessions: Vec<String>,
    emitted: usize,
    in_procedure: bool,
}

impl<'a> Body<'a> {
    /// An empty body of a handler of the given rank in one of `layers` layers. It emits events of higher ranks only, so
    /// no random stack has a cycle (docs/semantics.md, O7).
    pub fn new(random: &'a mut Random, layer: usize, layers: usize, rank: usize) -> Self {
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
            in_procedure: false,
        }
    }

    /// The same, as the body of a procedure: it runs only procedures of higher ranks, so none runs itself.
    pub fn in_procedure(mut self) -> Self {
        self.in_procedure = true;
        self
    }

    /// The same body, with a known value of type `u8` of this name.
    pub fn with_word(mut self, name: &str) -> Self {
        self.bytes.push(name.to_string());
        self
    }

    /// The same body, with a message of this name that it must dispose of; the message's size is known too.
    pub fn with_message(mut self, name: &str) -> Self {
        self.messages.push(name.to_string());
        let size = self.fresh("u");
        self.line(format!("{size} = size {name}"));
        let byte = self.fresh("v");
        self.line(format!("{byte} = cast {size} to u8"));
        self.bytes.push(byte);
        self
    }

    /// Appends one line of text.
    pub fn line(&mut self, line: String) {
        self.text += "    ";
        self.text += &line;
        self.text.push('\n');
    }

    /// Begins a block. A name defined on only one way to it must not be known in it.
    pub fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "  {label}:");
    }

    /// A new name with this prefix.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}_{}", self.names)
    }

    /// A value of type `u8`: usually a known name, sometimes a number. At least one value must be known.
    pub fn byte(&mut self) -> String {
        match self.random.percent(20) {
            true => self.random.place(256).to_string() + ":u8",
            false => self.random.one_of(&self.bytes).clone(),
        }
    }

    /// The body's text up to its closing brace: some random statements, then code that disposes of every message left.
    pub fn finish(self) -> String {
        self.finish_with("return")
    }

    /// The same with another terminator, which may have lines before it.
    pub fn finish_with(mut self, last: &str) -> String {
        for _ in 0..2 + self.random.place(7) {
            self.statement();
        }
        while let Some(message) = self.messages.pop() {
            self.dispose(&message);
        }
        self.text + "    " + last + "\n}\n"
    }

    fn statement(&mut self) {
        match self.random.place(25) {
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
            11 => self.sample(),
            12 => self.emit_word(),
            13 => self.out(),
            14 => self.later(),
            15 => self.make_message(),
            16 => self.change_message(),
            17 => self.held(),
            18 => self.whole_arrays(),
            19 => self.call(),
            20 => self.nobody(),
            21 => self.run(),
            22 => self.try_run(),
            23 => self.nest(),
            _ => self.rounds(),
        }
    }

    fn arithmetic(&mut self) {
        let ops = [
            "add", "sub", "mul", "add.wrap", "sub.wrap", "mul.wrap", "div", "rem", "and", "or", "xor", "shl", "shr",
            "min", "max", "within",
        ];
        let (op, a, b) = (*self.random.one_of(&ops), self.byte(), self.byte());
        let name = self.fresh("v");
        self.line(format!("{name} = {op} {a}, {b}"));
        self.bytes.push(name);
    }

    fn wide_arithmetic(&mut self) {
        let (a, b) = (self.byte(), self.byte());
        let (x, y, z) = (self.fresh("y"), self.fresh("y"), self.fresh("y"));
        self.line(format!("{x} = cast {a} to u16"));
        self.line(format!("{y} = get e.y"));
        let op = *self.random.one_of(&["add", "mul", "sub", "shl", "max"]);
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
        let op = *self.random.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]);
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
        let modulo = self.random.one_of(&[4, 4, 5]).to_string();
        self.line(format!("{small} = rem {value}, {modulo}"));
        self.line(format!("{index} = cast {small} to u32"));
        self.line(format!("{wide} = cast {value} to u16"));
        self.line(format!("{old} = get e.arr[{index}]"));
        self.line(format!("set e.arr[{index}], {wide}"));
        self.wides.push(old);
    }

    /// Arrays as values: built from cells and numbers, changed within and beyond their bounds, passed round a loop,
    /// compared.
    fn whole_arrays(&mut self) {
        let (value, other, small, index) = (self.byte(), self.byte(), self.fresh("v"), self.fresh("v"));
        let modulo = self.random.one_of(&[4, 6, 255]).to_string();
        let (wide, all, packed, part) = (self.fresh("y"), self.fresh("a"), self.fresh("a"), self.fresh("a"));
        self.line(format!("{small} = rem {value}, {modulo}"));
        self.line(format!("{index} = rem {other}, 5"));
        self.line(format!("{wide} = cast {other} to u16"));
        self.line(format!("{all} = get.all e.arr"));
        self.line(format!("{packed} = pack [3]u16({wide}, 7)"));
        self.line(format!("{part} = slice {all}[{small}] to [2]u16"));
        let (changed, spliced, chosen, flag) = (self.fresh("a"), self.fresh("a"), self.fresh("a"), self.fresh("f"));
        self.line(format!("{changed} = set.item {all}[{small}], {wide}"));
        let with = self.random.one_of(&[packed, part]).clone();
        self.line(format!("{spliced} = splice {changed}[{index}], {with}"));
        let op = self.random.one_of(&["eq", "ne"]).to_string();
        self.line(format!("{flag} = {op} {spliced}, {all}"));
        self.line(format!("{chosen} = select {flag}, {spliced}, {changed}"));
        let (head, once, over, left, more, less) = (
            self.fresh("loop"),
            self.fresh("once"),
            self.fresh("over"),
            self.fresh("v"),
            self.fresh("f"),
            self.fresh("v"),
        );
        let (x, y, z, item) = (self.fresh("a"), self.fresh("a"), self.fresh("a"), self.fresh("y"));
        self.line(format!("jump {head}({index}, {chosen}, {all})"));
        self.label(&format!("{head}({left}: u8, {x}: [4]u16, {y}: [4]u16) bound 6"));
        self.line(format!("{more} = gt {left}, 0"));
        self.line(format!("br {more} {once}, {over}"));
        self.label(&once);
        self.line(format!("{less} = sub.wrap {left}, 1"));
        self.line(format!("{z} = set.item {y}[{left}], {wide}"));
        self.line(format!("jump {head}({less}, {z}, {x})"));
        self.label(&over);
        self.line(format!("{item} = item {x}[{index}]"));
        self.line(format!("out app.wide({}, {item})", self.layer));
        self.line(format!("set.all e.arr, {y}"));
        self.wides.push(item);
        self.flags.push(flag);
    }

    /// `then` with a u16, `otherwise` without one; both continue at one block, with a u16.
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
        match self.random.place(3) {
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
        if self.random.percent(25) {
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
        if self.random.percent(30) {
            let (left, byte) = (self.fresh("u"), self.fresh("v"));
            if self.random.percent(30) {
                self.line("spend e.kept, 1".to_string());
            }
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

    fn sample(&mut self) {
        let (byte, flag) = (self.fresh("v"), self.fresh("f"));
        self.line(format!("{byte} = sample u8 from e"));
        self.line(format!("{flag} = sample bool from e"));
        self.bytes.push(byte);
        self.flags.push(flag);
    }

    /// Calls the function of every random automaton, which branches and may report.
    fn call(&mut self) {
        let (a, b, n, f) = (self.byte(), self.byte(), self.fresh("v"), self.fresh("f"));
        self.line(format!("{n}, {f} = call sum({a}, {b})"));
        self.bytes.push(n);
        self.flags.push(f);
    }

    /// The rank of the procedures that the body may run; `None` if it may run none. They count as emissions.
    fn procedure(&mut self) -> Option<usize> {
        let rank = self.rank + usize::from(self.in_procedure);
        let may = rank < RANKS && self.emitted < 2;
        self.emitted += usize::from(may);
        may.then_some(rank)
    }

    fn run(&mut self) {
        let Some(rank) = self.procedure() else { return };
        let (n, given, layer) = (self.byte(), self.fresh("v"), self.layer);
        self.line(format!("{given} = run l{layer}.p{rank}(e, {n})"));
        self.bytes.push(given);
    }

    /// Runs a procedure that takes a message, and returns it or gives it back.
    fn try_run(&mut self) {
        let Some(message) = self.messages.pop() else { return };
        let Some(rank) = self.procedure() else { return self.messages.push(message) };
        let (n, layer) = (self.byte(), self.layer);
        let (done, back, after) = (self.fresh("done"), self.fresh("back"), self.fresh("after"));
        let (given, m, r, v, w) = (self.fresh("v"), self.fresh("m"), self.fresh("m"), self.fresh("v"), self.fresh("m"));
        self.line(format!("tryrun l{layer}.q{rank}(e, {n}, {message}) then {done}(..) else {back}(..)"));
        self.label(&format!("{done}({given}: u8, {m}: msg)"));
        self.line(format!("jump {after}({given}, {m})"));
        self.label(&format!("{back}({r}: msg)"));
        self.line(format!("jump {after}({n}, {r})"));
        self.label(&format!("{after}({v}: u8, {w}: msg)"));
        self.bytes.push(v);
        self.messages.push(w);
    }

    /// Tests whether a session was remembered; then perhaps forgets it.
    fn nobody(&mut self) {
        let (last, flag, layer) = (self.fresh("s"), self.fresh("f"), self.layer);
        self.line(format!("{last} = get e.last"));
        self.line(format!("{flag} = eq {last}, null @l{layer}.S"));
        self.flags.push(flag);
        if self.random.percent(50) {
            self.line(format!("set e.last, null @l{layer}.S"));
        }
    }

    /// An event of a higher rank at another layer; `None` if there is none, or the body has emitted enough.
    pub fn target(&mut self) -> Option<(usize, usize)> {
        if self.rank + 1 >= RANKS || self.emitted >= 3 || self.layers < 2 {
            return None;
        }
        self.emitted += 1;
        let layer = (self.layer + 1 + self.random.place(self.layers - 1)) % self.layers;
        Some((layer, self.rank + 1 + self.random.place(RANKS - self.rank - 1)))
    }

    fn emit_word(&mut self) {
        let value = self.byte();
        let Some((layer, rank)) = self.target() else { return self.out() };
        let other = self.fresh("o");
        if layer == peer_of(self.layer, self.layers) && self.random.percent(40) {
            return self.emit_by(rank, &value);
        }
        self.line(format!("{other} = unique l{layer}.E"));
        self.line(format!("emit {other}.w{rank}({value})"));
    }

    /// Emits an event to the object that a cell refers to at delivery; the cell may change after the emission, here or
    /// elsewhere.
    fn emit_by(&mut self, rank: usize, value: &str) {
        let peer = peer_of(self.layer, self.layers);
        let (other, before) = (self.fresh("o"), self.random.percent(50));
        self.line(format!("{other} = unique l{peer}.E"));
        let set = format!("set e.peer, {other}");
        if before {
            self.line(set.clone());
        }
        self.line(format!("emit.by e.peer.w{rank}({value})"));
        match (before, self.random.place(3)) {
            (_, 0) => {}
            (true, _) => self.line(format!("set e.peer, null @l{peer}.E")),
            (false, _) => self.line(set),
        }
    }

    /// Sends a number out of the application's port, with the layer's number, so that tests see its origin.
    pub fn out(&mut self) {
        let layer = self.layer;
        match (self.random.place(3), self.wides.last().cloned(), self.flags.last().cloned()) {
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
        if self.random.percent(30) {
            let (count, byte) = (self.fresh("u"), self.fresh("v"));
            self.line(format!("defer {other}.w{rank}({value})"));
            self.line(format!("{count} = waiting {other}.w{rank}"));
            self.line(format!("{byte} = cast {count} to u8"));
            return self.bytes.push(byte);
        }
        self.diamond(format!("later {other}.w{rank}({value})"), false);
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
}

/// The layer that the cell `peer` of a layer's object refers to. With one layer there is none.
pub fn peer_of(layer: usize, layers: usize) -> usize {
    (layer + 1) % layers
}
