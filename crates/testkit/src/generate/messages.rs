//! Random operations on messages; each message is disposed of exactly once on every way.

use super::body::Body;

impl Body<'_> {
    /// Makes a new message, or a share of an existing one. If the body holds many, it changes one instead.
    pub fn make_message(&mut self) {
        if self.messages.len() > 3 {
            return self.change_message();
        }
        let name = self.fresh("m");
        match self.messages.last().cloned() {
            Some(message) if self.random.percent(60) => self.line(format!("{name} = share {message}")),
            _ => {
                let octets: String =
                    (0..self.random.place(12)).map(|_| format!("{:02x}", self.random.place(256))).collect();
                self.line(format!("{name} = message \"{octets}\""));
            }
        }
        self.messages.push(name);
    }

    /// Changes the last message and gives it a new name; makes a message if the body holds none.
    pub fn change_message(&mut self) {
        let Some(message) = self.messages.pop() else { return self.make_message() };
        let (value, at, name) = (self.byte(), self.fresh("u"), self.fresh("m"));
        let small = self.fresh("v");
        self.line(format!("{small} = and {value}, 15"));
        self.line(format!("{at} = cast {small} to u32"));
        match self.random.place(10) {
            0 => self.line(format!("{name} = trim {message}, {at}")),
            1 if self.random.below(3) == 0 => self.line(format!("{name} = front {message}, \"c0ffee\"")),
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
                match self.random.below(3) {
                    0 => {
                        let (at, size) = (self.random.below(24), self.random.below(48));
                        self.line(format!("{sum} = sum16.part {message}, {at}, {size}"));
                    }
                    _ => self.line(format!("{sum} = sum16 {message}")),
                }
                self.line(format!("{wide} = fold16 {sum}"));
                self.line(format!("{mark} = get.attribute {message}, mark"));
                self.line(format!("{name} = set.attribute {message}, mark, {value}"));
                self.wides.push(wide);
                self.bytes.push(mark);
            }
            7 => self.encode(&message, &name, &value),
            8 => self.take_what_is_not_there(&message, &name),
            _ => return self.decode(&message, &name),
        }
        self.messages.push(name);
    }

    fn encode(&mut self, message: &str, name: &str, value: &str) {
        let (wide, p, k) = (self.fresh("y"), self.fresh("m"), self.fresh("m"));
        self.line(format!("{wide} = cast {value} to u16"));
        self.line(format!("{p} = push {message}, t.Plain{{a: {value}, b: {wide}}}"));
        if self.random.percent(50) {
            self.line(format!("{k} = push {p}, t.Kind.Data{{n: {value}}}"));
        } else {
            let (q, f) = (self.fresh("q"), self.fresh("f"));
            self.line(format!("{q} = get e.q"));
            self.line(format!("{f} = get e.f"));
            self.line(format!("{k} = push {p}, t.Kind.Ack{{n: {q}, f: {f}}}"));
        }
        self.line(format!("{name} = encode {k}, w"));
    }

    /// Removes a header from a message that has none.
    fn take_what_is_not_there(&mut self, message: &str, name: &str) {
        if self.random.percent(50) {
            let (a, b) = (self.fresh("v"), self.fresh("y"));
            self.line(format!("{name}, {a}, {b} = pop {message}, t.Plain"));
            self.bytes.push(a);
            return self.wides.push(b);
        }
        let [data, ack, join] = ["data", "ack", "join"].map(|label| self.fresh(label));
        let (first, second) = (self.fresh("m"), self.fresh("m"));
        let (n, next, f) = (self.fresh("v"), self.fresh("q"), self.fresh("f"));
        self.line(format!("match {message}, t.Kind {{ Data -> {data}(..), Ack -> {ack}(..) }}"));
        self.label(&format!("{data}({first}: msg, {n}: u8)"));
        self.line(format!("out app.word({}, {n})", self.layer));
        self.line(format!("jump {join}({first})"));
        self.label(&format!("{ack}({second}: msg, {next}: seq16, {f}: bool)"));
        self.line(format!("out app.flag({}, {f})", self.layer));
        self.line(format!("jump {join}({second})"));
        self.label(&format!("{join}({name}: msg)"));
    }

    /// Decodes a message and takes its header off, or drops it for the decoder's reason; either way a message goes on.
    fn decode(&mut self, message: &str, name: &str) {
        let labels = ["good", "bad", "data", "ack", "join"].map(|label| self.fresh(label));
        let [good, bad, data, ack, join] = labels;
        let m: Vec<String> = (0..6).map(|_| self.fresh("m")).collect();
        let (why, n, next, f) = (self.fresh("why"), self.fresh("v"), self.fresh("q"), self.fresh("f"));
        let verb = if self.random.percent(25) { "validate" } else { "decode" };
        self.line(format!("{verb} {message}, w then {good}(..) else {bad}(..)"));
        self.label(&format!("{good}({}: msg)", m[0]));
        if verb == "validate" {
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

    /// Takes a held message out, or shares it.
    pub fn held(&mut self) {
        let (value, at, small) = (self.byte(), self.fresh("u"), self.fresh("v"));
        self.line(format!("{small} = rem {value}, 4"));
        self.line(format!("{at} = cast {small} to u32"));
        let (got, none, join, m) = (self.fresh("got"), self.fresh("none"), self.fresh("join"), self.fresh("m"));
        if self.random.percent(15) {
            return self.line(format!("consume.held e.held[{at}], t.full"));
        }
        if self.random.percent(15) {
            self.line(format!("{m} = take.held e.held[{at}]"));
            return self.line(format!("out app.body({}, {m})", self.layer));
        }
        let verb = if self.random.percent(60) { "takeout" } else { "shareheld" };
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

    /// Disposes of a message in a random way. The caller must forget its name.
    pub fn dispose(&mut self, message: &str) {
        let layer = self.layer;
        match self.random.place(7) {
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
