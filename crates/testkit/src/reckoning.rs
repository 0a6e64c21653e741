//! Random arithmetic on a path, in text form: numbers of all widths from a packet, from cells and from arguments, sums of
//! octets, and what follows from them, in guards, in cells and in the packet that leaves. Numbers on a circle become places of
//! arrays, limits of loops and keys; parts of sums wrap at their own width; and what a sum is compared with may be a sum itself.
//! [`crate::workers`] and [`crate::asking`] have more layers, and few operations on numbers.

use std::fmt::Write;

use mokume_base::Random;

use crate::Hints;

/// The types of numbers. What is read from packets has whole octets.
const TYPES: [&str; 10] = ["u8", "u16", "u32", "u48", "u64", "u5", "u13", "seq8", "seq16", "seq32"];

/// The fields of a packet; a message follows.
const FIELDS: usize = 6;
/// The types of one stack: few, so that numbers of one type meet.
const KINDS: usize = 5;
/// The checks of a body that are right if the same message came before.
const SEALED: usize = 3;
/// From this seed on, guards ask about quotients, too.
const QUOTIENTS: u64 = 100;
/// A loop goes so many rounds at most.
const ROUNDS: u64 = 6;

/// The text of a stack of one layer: `net.frame` comes in, and what was reckoned leaves by the same port; so does the
/// answer to `app.ask`, whose numbers are arguments.
pub fn reckoning(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5245_434b_4f4e);
    let shape = Shape { has_quotients: seed >= QUOTIENTS, ..shape(&mut random) };
    let Shape { kinds, fields, arrays, circle, .. } = &shape;
    let mut text = "automaton reckoning\nlayer l\n".to_string();
    let list = |prefix: &str, types: &[(&str, u32)]| {
        let one = |(at, (ty, _)): (usize, &(&str, u32))| format!("{prefix}{at}: {ty}");
        types.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(text, "header l.In {{ {} }}", list("f", fields));
    text += "header l.Out { a: u16, b: u32, c: u64, d: u16, e: u16 }\nreason l.odd\nreason l.short\n";
    text += "class l.E capacity 1 {\n";
    for (at, ty) in kinds.iter().enumerate() {
        let _ = writeln!(text, "  x{at}: {ty}");
    }
    for (at, (ty, items)) in arrays.iter().enumerate() {
        let _ = writeln!(text, "  y{at}: [{items}] {ty} = {}", random.place(2));
    }
    let _ = writeln!(text, "  keyed: map 12 ({circle}) -> (u16)");
    (0..2 * SEALED).for_each(|at| text += &format!("  before{at}: u16\n"));
    text += "}\nport app application {\n";
    let _ = write!(text, "  in ask(m: msg, {}) -> l.E.ask\n}}\n", list("f", fields));
    text += "port net device {\n  in frame(m: msg) -> l.E.arrive\n  out frame(m: msg)\n}\n";
    text += "wire w big {\n  headers l.In\n  short l.short\n";
    for (at, (ty, width)) in fields.iter().enumerate() {
        let order = if ty == &"u8" || ty == &"seq8" { "" } else { *random.one_of(&["", "", " little"]) };
        let _ = writeln!(text, "  field f{at}: {width}{order} from l.In.f{at}");
    }
    text +=
        "}\nwire v big {\n  headers l.Out\n  short l.short\n  field a: 16 from l.Out.a\n  field b: 32 from l.Out.b\n  \
             field c: 64 from l.Out.c\n  field d: 16 from l.Out.d\n  field e: 16 from l.Out.e\n}\n";
    let _ = writeln!(text, "handler l.E.ask(e, m: msg, {}) {{", list("f", fields));
    text += &Body::of(&mut random, &shape, ("m", 0)).written();
    let names = (0..fields.len()).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
    text += "handler l.E.arrive(e, m: msg) {\n    decode m, w then good(..) else bad(..)\n  bad(r: msg, why: reason):\n    \
             drop r for why\n    return\n  good(k: msg):\n";
    let _ = writeln!(text, "    rest, {names} = pop k, l.In");
    text + &Body::of(&mut random, &shape, ("rest", SEALED)).written()
}

/// Packets that [`reckoning`] of the same seed takes, some of them with one octet too few, and telling numbers.
pub fn reckoning_hints(seed: u64) -> Hints {
    let Shape { fields, .. } = shape(&mut Random::new(seed ^ 0x5245_434b_4f4e));
    let octets: usize = fields.iter().map(|(_, width)| *width as usize / 8).sum();
    let mut random = Random::new(seed);
    let telling = [0u8, 1, 0x7f, 0x80, 0xfe, 0xff];
    let message = |random: &mut Random| {
        let behind = random.place(24);
        let length = if random.percent(5) { octets.saturating_sub(1) } else { octets + behind };
        let kind = random.place(5);
        let alike = *random.one_of(&[0, 0xff, 0xff, 0x80]);
        let octet = |random: &mut Random| match kind {
            0 => random.word() as u8,
            4 => alike,
            1 => *random.one_of(&[0, 0xff]),
            2 => *random.one_of(&telling),
            _ if random.percent(60) => *random.one_of(&telling),
            _ => random.word() as u8,
        };
        (0..length).map(|_| octet(random)).collect()
    };
    let messages = (0..5).map(|_| message(&mut random)).collect();
    let powers = [5, 7, 8, 13, 15, 16, 31, 32, 47, 48, 63];
    let words = powers.iter().flat_map(|power| [(1u64 << power) - 1, 1u64 << power, (1u64 << power) + 1]).collect();
    Hints { messages, words }
}

/// What all of a stack agrees on.
struct Shape {
    /// The types of its numbers.
    kinds: Vec<&'static str>,
    /// The types of a packet's fields, and their widths.
    fields: Vec<(&'static str, u32)>,
    /// The types of arrays, and their items.
    arrays: Vec<(&'static str, u64)>,
    /// A type of numbers on a circle.
    circle: &'static str,
    /// Whether guards ask about quotients.
    has_quotients: bool,
}

fn shape(random: &mut Random) -> Shape {
    let circle = *random.one_of(&["seq8", "seq8", "seq16", "seq32"]);
    let mut kinds = vec!["u16", "u32", circle];
    while kinds.len() < KINDS {
        let ty = *random.one_of(&TYPES);
        if !kinds.contains(&ty) {
            kinds.push(ty);
        }
    }
    let of = |ty: &'static str| (ty, width(ty));
    let whole: Vec<_> = kinds.iter().copied().map(of).filter(|(_, width)| width % 8 == 0).collect();
    let mut fields: Vec<_> = (0..FIELDS).map(|_| *random.one_of(&whole)).collect();
    fields[random.place(FIELDS)] = of(circle);
    let items = [2, 4, 5, 16, 100];
    let arrays = (0..1 + random.place(2)).map(|_| (*random.one_of(&kinds), *random.one_of(&items))).collect();
    Shape { kinds, fields, arrays, circle, has_quotients: false }
}

fn width(ty: &str) -> u32 {
    ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8)
}

/// The body of a handler.
struct Body<'r> {
    random: &'r mut Random,
    text: String,
    shape: &'r Shape,
    /// The numbers so far, with their types.
    numbers: Vec<(String, &'static str)>,
    flags: Vec<String>,
    message: &'static str,
    names: usize,
    /// The cells for checks that are right again, of which none is used yet.
    sealed: std::ops::Range<usize>,
}

impl<'r> Body<'r> {
    fn of(random: &'r mut Random, shape: &'r Shape, (message, first): (&'static str, usize)) -> Self {
        let numbers = shape.fields.iter().enumerate().map(|(at, (ty, _))| (format!("f{at}"), *ty)).collect();
        Body {
            random,
            text: String::new(),
            shape,
            numbers,
            flags: Vec::new(),
            message,
            names: 0,
            sealed: first..first + SEALED,
        }
    }

    fn written(mut self) -> String {
        for (at, ty) in self.shape.kinds.iter().enumerate() {
            let name = self.fresh("g");
            self.line(format!("{name} = get e.x{at}"));
            self.numbers.push((name, ty));
        }
        self.some();
        for guard in 0..1 + self.random.place(3) {
            let flag = self.guard();
            self.line(format!("br {flag} @0.9 go{guard}, odd{guard}"));
            let _ = writeln!(self.text, "  odd{guard}:\n    drop {}, l.odd\n    return\n  go{guard}:", self.message);
            self.some();
        }
        for _ in 0..1 + self.random.place(3) {
            let (name, ty) = self.random.one_of(&self.numbers).clone();
            let at = self.shape.kinds.iter().position(|known| *known == ty).unwrap_or(0);
            self.line(format!("set e.x{at}, {name}"));
        }
        // What was asked is told, too.
        let mut told = "0".to_owned();
        for (at, flag) in self.flags.clone().iter().rev().take(8).enumerate() {
            let (bit, both) = (self.fresh("t"), self.fresh("t"));
            self.line(format!("{bit} = select {flag}, {}, 0:u16", 1 << at));
            self.line(if at == 0 { format!("{both} = or {bit}, 0") } else { format!("{both} = or {told}, {bit}") });
            told = both;
        }
        let [a, b, c, d] = ["u16", "u32", "u64", "u16"].map(|ty| self.as_type(ty));
        let message = self.message;
        self.line(format!("out1 = push {message}, l.Out{{a: {a}, b: {b}, c: {c}, d: {d}, e: {told}}}"));
        self.line("out2 = encode out1, v".to_owned());
        self.line("out net.frame(out2)".to_owned());
        self.text + "    return\n}\n"
    }

    fn line(&mut self, line: String) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A number of a type: the last that was reckoned, more often than not.
    fn number(&mut self, ty: &str) -> String {
        let known: Vec<&String> = self.numbers.iter().filter(|(_, of)| *of == ty).map(|(name, _)| name).collect();
        let last = known.len().saturating_sub(1);
        let place = if self.random.percent(60) { last } else { self.random.place(known.len()) };
        known.get(place).map_or("0".to_owned(), |name| (*name).clone())
    }

    /// A condition that holds more often than not.
    fn guard(&mut self) -> String {
        if self.shape.has_quotients && self.random.percent(50) {
            return self.quotient();
        }
        let flag = self.flag();
        let (byte, rare, guard) = (self.as_type("u16"), self.fresh("b"), self.fresh("b"));
        let limit = 0x8000 + self.random.below(0x8000);
        self.line(format!("{rare} = lt {byte}, {limit}"));
        self.line(format!("{guard} = or {flag}, {rare}"));
        guard
    }

    /// Whether a quotient, of which there are often few, is above a number or not.
    fn quotient(&mut self) -> String {
        let kinds: Vec<_> = self.shape.kinds.iter().copied().filter(|ty| !ty.starts_with("seq")).collect();
        let ty = *self.random.one_of(&kinds);
        let (a, quotient, flag) = (self.as_type(ty), self.fresh("q"), self.fresh("b"));
        let by = match self.random.place(3) {
            0 => self.number(ty),
            1 => (1u64 << (width(ty) - 1)).to_string(),
            _ => self.constant(ty),
        };
        let than = if self.random.percent(50) { self.number(ty) } else { format!("{}:{ty}", self.random.below(6)) };
        self.line(format!("{quotient} = div {a}, {by}"));
        let (op, order) = (*self.random.one_of(&["lt", "le"]), self.random.percent(50));
        let [one, two] = if order { [&quotient, &than] } else { [&than, &quotient] };
        self.line(format!("{flag} = {op} {one}, {two}"));
        self.numbers.push((quotient.clone(), ty));
        flag
    }

    fn flag(&mut self) -> String {
        if self.flags.is_empty() {
            self.compare();
        }
        self.flags.last().cloned().unwrap_or_default()
    }

    /// A constant of a type, with few bits or with all of them.
    fn constant(&mut self, ty: &str) -> String {
        let width = width(ty);
        let mask = u64::MAX >> (64 - width);
        let word = match self.random.place(5) {
            0 => self.random.below(5),
            1 => mask - self.random.below(3),
            2 => mask >> 1,
            3 => 1u64 << self.random.below(u64::from(width)),
            _ => self.random.word(),
        };
        format!("{}", word & mask)
    }

    fn as_type(&mut self, ty: &'static str) -> String {
        let (name, of) = self.random.one_of(&self.numbers[self.numbers.len().saturating_sub(6)..]).clone();
        if of == ty {
            return name;
        }
        let cast = self.fresh("c");
        self.line(format!("{cast} = cast {name} to {ty}"));
        self.numbers.push((cast.clone(), ty));
        cast
    }

    fn some(&mut self) {
        for _ in 0..4 + self.random.place(10) {
            match self.random.place(16) {
                0..=3 => self.binary(),
                4 | 5 => self.checksum(),
                6 => self.compare(),
                7 => self.select(),
                8 => self.load(),
                9 | 10 => self.item(),
                11 => self.walk(),
                12 => self.keyed(),
                13 | 14 => self.sealed(),
                _ => {
                    let ty = *self.random.one_of(&self.shape.kinds);
                    self.as_type(ty);
                }
            }
        }
    }

    fn binary(&mut self) {
        let ty = *self.random.one_of(&self.shape.kinds);
        let ops: &[&str] = match ty.starts_with("seq") {
            true => &["add.wrap", "sub.wrap", "min", "max"],
            false => &[
                "add.wrap", "sub.wrap", "mul.wrap", "add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl",
                "shr", "min", "max", "within", "and", "shr", "add.wrap",
            ],
        };
        let op = *self.random.one_of(ops);
        let (a, b, name) = (self.number(ty), self.number(ty), self.fresh("v"));
        let b = if self.random.percent(45) { self.constant(ty) } else { b };
        self.line(format!("{name} = {op} {a}, {b}"));
        self.numbers.push((name.clone(), ty));
        if !ty.starts_with("seq") && self.random.percent(15) {
            let not = self.fresh("v");
            self.line(format!("{not} = not {name}"));
            self.numbers.push((not, ty));
        }
    }

    /// A sum of octets and numbers, folded; and what it is compared with.
    fn checksum(&mut self) {
        let sum = self.fresh("s");
        let message = self.message;
        match self.random.place(3) {
            0 => {
                let number = self.as_type("u32");
                self.line(format!("{sum} = add.wrap {number}, 0"));
            }
            _ => self.line(format!("{sum} = sum16 {message}")),
        }
        let mut all = sum;
        for _ in 0..self.random.place(5) {
            let narrow = *self.random.one_of(&["u16", "u16", "u8", "u13", "u32"]);
            if self.random.percent(25) {
                all = self.halves(&all);
            }
            let field = self.random.percent(60).then(|| self.field(narrow)).flatten();
            let more = self.fresh("s");
            let mut of = match field {
                Some(field) => field,
                None => self.as_type(narrow),
            };
            if self.random.percent(30) {
                let (other, sum) = (self.field(narrow), self.fresh("v"));
                let other = match other {
                    Some(field) => field,
                    None => self.as_type(narrow),
                };
                let op = *self.random.one_of(&["add.wrap", "add.wrap", "sub.wrap", "min", "max"]);
                self.line(format!("{sum} = {op} {of}, {other}"));
                of = sum;
            }
            let wide = if narrow == "u32" {
                of
            } else {
                let wide = self.fresh("s");
                self.line(format!("{wide} = cast {of} to u32"));
                wide
            };
            let op = *self.random.one_of(&["add.wrap", "add.wrap", "add.wrap", "add"]);
            self.line(format!("{more} = {op} {all}, {wide}"));
            all = more;
        }
        let (folded, flag) = (self.fresh("v"), self.fresh("b"));
        self.line(format!("{folded} = fold16 {all}"));
        let mut found = folded;
        if self.random.percent(60) {
            let not = self.fresh("v");
            self.line(format!("{not} = not {found}"));
            found = not;
        }
        self.numbers.push((found.clone(), "u16"));
        // The same message may come twice: then what it gave before is what it gives now.
        let before = self.fresh("g");
        self.line(format!("{before} = get e.x0"));
        let other = match self.random.place(4) {
            0 => self.constant("u16"),
            1 => self.number("u16"),
            _ => before,
        };
        if self.random.percent(50) {
            self.line(format!("set e.x0, {found}"));
        }
        let op = *self.random.one_of(&["eq", "eq", "ne", "lt"]);
        self.line(format!("{flag} = {op} {found}, {other}"));
        self.flags.push(flag);
    }

    /// A number on a circle that follows from two others.
    fn on_circle(&mut self) -> String {
        let ty = self.shape.circle;
        let op = *self.random.one_of(&["min", "min", "max", "max", "sub.wrap", "add.wrap"]);
        let (a, mut b, name) = (self.number(ty), self.number(ty), self.fresh("v"));
        if self.random.percent(60) {
            b = self.constant_up_to(ty, 8);
        }
        let (a, b) = if self.random.percent(50) { (a, b) } else { (b, a) };
        // A literal alone has no type.
        let a = if a.starts_with(|c: char| c.is_ascii_digit()) { format!("{a}:{ty}") } else { a };
        self.line(format!("{name} = {op} {a}, {b}"));
        self.numbers.push((name.clone(), ty));
        name
    }

    fn constant_up_to(&mut self, ty: &str, most: u64) -> String {
        match self.random.percent(70) {
            true => self.random.below(most).to_string(),
            false => self.constant(ty),
        }
    }

    /// A place: a number on a circle as it is, or made smaller in some way.
    fn place(&mut self, items: u64) -> String {
        let number = if self.random.percent(80) { self.on_circle() } else { self.as_type("u16") };
        let (place, smaller) = (self.fresh("p"), self.fresh("p"));
        self.line(format!("{place} = cast {number} to u32"));
        let how = match self.random.place(8) {
            0 => format!("and {place}, {}", items.next_power_of_two() - 1),
            1 => format!("rem {place}, {items}"),
            2 => format!("min {place}, {}", items - 1),
            3 => format!("shr {place}, {}", self.random.place(9)),
            4 => format!("within {place}, {items}"),
            _ => return place,
        };
        self.line(format!("{smaller} = {how}"));
        smaller
    }

    /// An item of an array, read or written.
    fn item(&mut self) {
        let array = self.random.place(self.shape.arrays.len());
        let (ty, items) = self.shape.arrays[array];
        let place = self.place(items);
        let is_asked = self.random.percent(35);
        if is_asked {
            // Only where it is inside: the bound follows from a question.
            let (inside, [yes, no, on]) = (self.fresh("b"), ["in", "no", "on"].map(|prefix| self.fresh(prefix)));
            self.line(format!("{inside} = lt {place}, {items}"));
            let number = self.number(ty);
            let number = if number == "0" { format!("0:{ty}") } else { number };
            let (met, either) = (self.fresh("v"), self.fresh("v"));
            self.line(format!("br {inside} @0.8 {yes}, {no}"));
            let _ = writeln!(
                self.text,
                "  {no}:\n    jump {on}({number})\n  {yes}:\n    {met} = get e.y{array}[{place}]\n    jump {on}({met})"
            );
            let _ = writeln!(self.text, "  {on}({either}: {ty}):");
            self.numbers.push((either, ty));
            return;
        }
        if self.random.percent(50) {
            let number = self.number(ty);
            self.line(format!("set e.y{array}[{place}], {number}"));
        } else {
            let met = self.fresh("v");
            self.line(format!("{met} = get e.y{array}[{place}]"));
            self.numbers.push((met, ty));
        }
    }

    /// A loop, as often as a number on a circle says.
    fn walk(&mut self) {
        // No path goes through a loop.
        if self.random.percent(85) {
            return self.item();
        }
        let array = self.random.place(self.shape.arrays.len());
        let (ty, _) = self.shape.arrays[array];
        let number = self.on_circle();
        let (wide, limit, more) = (self.fresh("p"), self.fresh("p"), self.fresh("b"));
        self.line(format!("{wide} = cast {number} to u32"));
        self.line(format!("{limit} = min {wide}, {ROUNDS}"));
        let [head, body, done] = ["head", "body", "done"].map(|prefix| self.fresh(prefix));
        let [round, all, next, met, sum] = ["i", "v", "i", "v", "v"].map(|prefix| self.fresh(prefix));
        self.line(format!("jump {head}(0, 0)"));
        let _ = writeln!(self.text, "  {head}({round}: u32, {all}: {ty}) bound {}:", ROUNDS + 1);
        self.line(format!("{more} = lt {round}, {limit}"));
        self.line(format!("br {more} @0.7 {body}, {done}"));
        let _ = writeln!(self.text, "  {body}:");
        self.line(format!("{met} = get e.y{array}[{round}]"));
        self.line(format!("{sum} = add.wrap {all}, {met}"));
        self.line(format!("{next} = add {round}, 1"));
        self.line(format!("jump {head}({next}, {sum})"));
        let _ = writeln!(self.text, "  {done}:");
        self.numbers.push((all, ty));
    }

    /// What is known by a number on a circle; what is not known is noted.
    fn keyed(&mut self) {
        let key = self.on_circle();
        let [found, not, into, full, on] = ["found", "not", "into", "full", "on"].map(|prefix| self.fresh(prefix));
        let (met, number, either) = (self.fresh("v"), self.as_type("u16"), self.fresh("v"));
        self.line(format!("find e.keyed[{key}] then {found}(..) else {not}"));
        let _ = write!(
            self.text,
            "  {not}:\n    insert e.keyed[{key}], {number} then {into} else {full}\n  {into}:\n    jump {on}(1)\n  {full}:\n    jump {on}(2)\n  \
             {found}({met}: u16):\n    jump {on}({met})\n  {on}({either}: u16):\n"
        );
        self.numbers.push((either, "u16"));
    }

    /// A number of the message behind the fields.
    fn load(&mut self) {
        let (ty, read) = *self.random.one_of(&[("u16", "be16"), ("u16", "be16"), ("u16", "le16"), ("u32", "be32")]);
        let (name, message, at) = (self.fresh("v"), self.message, 2 * self.random.place(4));
        self.line(format!("{name} = load.{read} {message}, {at}"));
        self.numbers.push((name, ty));
    }

    /// A checksum that is right if the same message came before: what was missing then is a part now, of the sum or of what it is compared with.
    fn sealed(&mut self) {
        let Some(cell) = self.sealed.next() else { return self.checksum() };
        let (sum, first) = (self.fresh("s"), self.message);
        self.line(format!("{sum} = sum16 {first}"));
        let mut all = sum;
        for _ in 0..1 + self.random.place(2) {
            let narrow = *self.random.one_of(&["u8", "u16", "u16", "u32"]);
            let [a, b] = [(); 2].map(|_| self.field(narrow).unwrap_or_else(|| self.as_type(narrow)));
            let op = *self.random.one_of(&["add.wrap", "add.wrap", "add.wrap", "sub.wrap", "mul.wrap"]);
            let [part, wide, more] = ["v", "s", "s"].map(|prefix| self.fresh(prefix));
            self.line(format!("{part} = {op} {a}, {b}"));
            self.line(format!("{wide} = cast {part} to u32"));
            self.line(format!("{more} = add.wrap {all}, {wide}"));
            all = more;
        }
        let [folded, check, flag] = ["v", "v", "b"].map(|prefix| self.fresh(prefix));
        let (own, turns) = (self.field("u16").unwrap_or_else(|| self.as_type("u16")), self.random.percent(70));
        self.line(format!("{folded} = fold16 {all}"));
        let found = self.turned(folded, turns);
        let other = match self.random.place(6) {
            0 => "1".to_owned(),
            1 => "65535".to_owned(),
            2 => self.number("u16"),
            _ => {
                let before = self.fresh("g");
                self.line(format!("{before} = get e.before{cell}"));
                before
            }
        };
        self.line(format!("{check} = add.wrap {own}, {other}"));
        self.line(format!("{flag} = eq {found}, {check}"));
        // Sometimes it is needed for something else, which changes how C works it out.
        if self.random.percent(25) {
            self.numbers.push((found, "u16"));
        }
        // What was missing, by another way to fold.
        let [none, less, rest, more, either, short, missing] =
            ["b", "s", "s", "s", "s", "v", "v"].map(|prefix| self.fresh(prefix));
        self.line(format!("{none} = eq {all}, 0"));
        self.line(format!("{less} = sub.wrap {all}, 1"));
        self.line(format!("{rest} = rem {less}, 65535"));
        self.line(format!("{more} = add.wrap {rest}, 1"));
        self.line(format!("{either} = select {none}, {all}, {more}"));
        self.line(format!("{short} = cast {either} to u16"));
        let short = self.turned(short, turns);
        self.line(format!("{missing} = sub.wrap {short}, {own}"));
        self.line(format!("set e.before{cell}, {missing}"));
        self.flags.push(flag);
    }

    fn turned(&mut self, number: String, turns: bool) -> String {
        if !turns {
            return number;
        }
        let not = self.fresh("v");
        self.line(format!("{not} = not {number}"));
        not
    }

    /// The two halves of a number of 32 bits, added to a sum.
    fn halves(&mut self, all: &str) -> String {
        let field = self.field("u32");
        let number = match field {
            Some(field) => field,
            None => self.as_type("u32"),
        };
        let [low, high, more, both] = ["h", "h", "s", "s"].map(|prefix| self.fresh(prefix));
        self.line(format!("{low} = and {number}, 65535"));
        self.line(format!("{high} = shr {number}, 16"));
        self.line(format!("{more} = add.wrap {all}, {low}"));
        self.line(format!("{both} = add.wrap {more}, {high}"));
        both
    }

    /// A field of the packet, or an argument, of this type.
    fn field(&mut self, ty: &str) -> Option<String> {
        let fields: Vec<&String> =
            self.numbers.iter().take(FIELDS).filter(|(_, of)| *of == ty).map(|(name, _)| name).collect();
        self.random.pick(&fields).map(|name| (**name).clone())
    }

    fn compare(&mut self) {
        let ty = *self.random.one_of(&self.shape.kinds);
        let op = *self.random.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]);
        let (a, b, flag) = (self.number(ty), self.number(ty), self.fresh("b"));
        let b = if self.random.percent(50) { self.constant(ty) } else { b };
        self.line(format!("{flag} = {op} {a}, {b}"));
        if self.random.percent(30) {
            if let Some(before) = self.flags.last().cloned() {
                let (op, both) = (*self.random.one_of(&["and", "or", "xor"]), self.fresh("b"));
                self.line(format!("{both} = {op} {before}, {flag}"));
                self.flags.push(both);
                return;
            }
        }
        self.flags.push(flag);
    }

    fn select(&mut self) {
        let ty = *self.random.one_of(&self.shape.kinds);
        let (flag, a, b, name) = (self.flag(), self.number(ty), self.number(ty), self.fresh("v"));
        self.line(format!("{name} = select {flag}, {a}, {b}"));
        self.numbers.push((name, ty));
    }
}
