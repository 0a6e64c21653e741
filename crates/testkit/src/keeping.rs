//! Random stacks that keep messages in places, take them out, put them off, join them to new ones and share them, in text form; with
//! attributes and headers that the message had before, or has no more.

use std::fmt::Write;

use mokume_base::Random;

use crate::Hints;

/// The text of a stack of one layer; inputs of `app` and frames of `net` bring messages, and `later` events begin reactions of their own.
pub fn keeping(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x006b_6565_7069_6e67);
    let mut text = "automaton keeping\nlayer l\nattribute u: u8 = 0\nattribute w: u16 = 5\nheader l.H { x: u8 }\nreason l.full\nreason l.short\n\
                    wire w big {\n  headers l.H\n  short l.short\n  field x: 8 from l.H.x\n}\n\
                    class l.E capacity 1 {\n  kept: quota 3\n  a: [2] msg\n  b: [2] msg\n  n: u32\n  last: u8\n}\n\
                    port app application {\n  in put(k: u8, m: msg) -> l.E.put\n  in go(k: u8, m: msg) -> l.E.go\n  in empty(k: u8) -> l.E.empty\n  \
                    out said(u: u8, w: u16, m: msg)\n  out told(n: u32)\n}\n\
                    port net device {\n  in frame(m: msg) -> l.E.frame\n  out frame(m: msg)\n}\n"
        .to_owned();
    for event in ["put", "go", "empty", "frame", "comes", "more"] {
        text += &Handler::of(&mut random, event);
    }
    text
}

/// Short messages, so that what waits is seen whole.
pub fn keeping_hints(seed: u64) -> Hints {
    let mut random = Random::new(seed);
    let message = |random: &mut Random| (0..random.place(5)).map(|_| random.below(256) as u8).collect();
    Hints { messages: (0..20).map(|_| message(&mut random)).collect(), words: vec![0, 1, 5, 9] }
}

/// Whether a message has a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    None,
    On,
    /// It was put off or kept with one or without: encoding finds it, or zeros.
    Perhaps,
}

/// A handler as it is written, and the messages that it has, by name.
struct Handler<'r> {
    random: &'r mut Random,
    text: String,
    event: &'static str,
    messages: Vec<(String, Header)>,
    /// Numbers to be told.
    numbers: Vec<String>,
    next: usize,
}

impl<'r> Handler<'r> {
    fn of(random: &'r mut Random, event: &'static str) -> String {
        let mut handler =
            Handler { random, text: String::new(), event, messages: Vec::new(), numbers: Vec::new(), next: 0 };
        handler.write();
        handler.text
    }

    fn write(&mut self) {
        let params = match self.event {
            "empty" => "e, k: u8",
            "frame" | "more" => "e, m: msg",
            _ => "e, k: u8, m: msg",
        };
        let later = if matches!(self.event, "comes" | "more") { " later 3" } else { "" };
        let _ = writeln!(self.text, "handler l.E.{}({params}){later} {{", self.event);
        match self.event {
            "empty" => {}
            "frame" => {
                self.text += "    decode m, w then good(..) else bad(..)\n  bad(r: msg, why: reason):\n    drop r for why\n    return\n  good(g: msg):\n    \
                              opened, k = pop g, l.H\n";
                self.messages.push(("opened".to_owned(), Header::None));
            }
            "more" => {
                self.text += "    k = get e.last\n";
                self.messages.push(("m".to_owned(), Header::Perhaps));
            }
            "comes" => self.messages.push(("m".to_owned(), Header::Perhaps)),
            _ => self.messages.push(("m".to_owned(), Header::None)),
        }
        for _ in 0..2 + self.random.place(5) {
            self.step();
        }
        while let Some(message) = self.messages.pop() {
            self.end(message);
        }
        self.text += "    n = get e.n\n";
        let mut all = "n".to_owned();
        for number in std::mem::take(&mut self.numbers) {
            let (name, wide) = (self.name("s"), self.name("w"));
            let _ = write!(self.text, "    {wide} = cast {number} to u32\n    {name} = add.wrap {all}, {wide}\n");
            all = name;
        }
        let _ = writeln!(self.text, "    set e.n, {all}");
        if self.random.percent(40) {
            let _ = writeln!(self.text, "    out app.told({all})");
        }
        self.text += "    return\n}\n";
    }

    fn name(&mut self, kind: &str) -> String {
        self.next += 1;
        format!("{kind}{}", self.next)
    }

    /// What is left where a handler stops half-way.
    fn drops(&self) -> String {
        let drops = self.messages.iter().map(|(message, _)| format!("    drop {message}, l.full\n"));
        drops.collect::<String>() + "    return\n"
    }

    /// Takes one of the messages out of the list.
    fn any(&mut self) -> Option<(String, Header)> {
        let at = self.random.place(self.messages.len().max(1));
        (at < self.messages.len()).then(|| self.messages.remove(at))
    }

    /// A number of the handler's: a small one, the event's, or one of the layer's.
    fn number(&mut self) -> String {
        match self.random.place(4) {
            0 => "k".to_owned(),
            // An attribute of some message, as a small number.
            1 if !self.numbers.is_empty() && self.random.percent(50) => {
                let (name, number) = (self.name("g"), self.random.one_of(&self.numbers).clone());
                let _ = writeln!(self.text, "    {name} = cast {number} to u8");
                name
            }
            1 => {
                let name = self.name("g");
                let _ = writeln!(self.text, "    {name} = get e.last");
                name
            }
            _ => self.random.one_of(&["0", "1", "5", "9"]).to_string(),
        }
    }

    fn step(&mut self) {
        let of = ["a", "b"];
        match self.random.place(14) {
            // What waits comes out.
            0..=2 => {
                let (place, at) = (of[self.random.place(2)], self.random.place(2));
                let (got, none, held) = (self.name("got"), self.name("none"), self.name("h"));
                let rest = self.drops();
                let _ = write!(
                    self.text,
                    "    takeout e.{place}[{at}] then {got}(..) else {none}\n  {none}:\n{rest}  {got}({held}: msg):\n    give e.kept, 1\n"
                );
                self.messages.push((held, if place == "b" { Header::Perhaps } else { Header::None }));
            }
            3 | 4 | 12 => {
                let Some((message, has)) = self.any() else { return };
                let (attribute, first) = *self.random.one_of(&[("u", "0"), ("w", "5")]);
                // Often what it is at first.
                let value = if self.random.percent(50) { first.to_owned() } else { self.number() };
                let name = self.name("m");
                let value = match (attribute, value.parse::<u8>().is_err()) {
                    ("w", true) => {
                        let wide = self.name("w");
                        let _ = writeln!(self.text, "    {wide} = cast {value} to u16");
                        wide
                    }
                    _ => value,
                };
                let _ = writeln!(self.text, "    {name} = set.attribute {message}, {attribute}, {value}");
                self.messages.push((name, has));
            }
            5 | 6 => {
                let Some((message, has)) = self.any() else { return };
                let (attribute, name) = (["u", "w"][self.random.place(2)], self.name("v"));
                let _ = writeln!(self.text, "    {name} = get.attribute {message}, {attribute}");
                self.messages.push((message, has));
                self.numbers.push(name);
            }
            7 | 13 => {
                let Some((message, has)) = self.any() else { return };
                let (all, joined) = (self.name("all"), self.name("j"));
                let _ = writeln!(self.text, "    {all} = message \"\"");
                let all = if self.random.percent(30) {
                    let name = self.name("m");
                    let _ = writeln!(self.text, "    {name} = set.attribute {all}, u, 9");
                    name
                } else {
                    all
                };
                let _ = writeln!(self.text, "    {joined} = join {all}, {message}");
                // It has no header; who encodes it finds zeros.
                let after = if has == Header::None { Header::None } else { Header::Perhaps };
                self.messages.push((joined, after));
            }
            8 => {
                let Some((message, has)) = self.any() else { return };
                let copy = self.name("c");
                let _ = writeln!(self.text, "    {copy} = share {message}");
                self.messages.extend([(message, has), (copy, has)]);
            }
            9 => {
                let Some((message, has)) = self.any() else { return };
                let name = self.name("m");
                let after = match has {
                    Header::On => {
                        let x = self.name("x");
                        let _ = writeln!(self.text, "    {name}, {x} = pop {message}, l.H");
                        self.numbers.push(x);
                        Header::None
                    }
                    Header::None => {
                        let x = self.number();
                        let _ = writeln!(self.text, "    {name} = push {message}, l.H{{x: {x}}}");
                        Header::On
                    }
                    Header::Perhaps => return self.messages.push((message, has)),
                };
                self.messages.push((name, after));
            }
            10 => {
                let Some((message, has)) = self.any() else { return };
                let size = self.name("z");
                let _ = writeln!(self.text, "    {size} = size {message}");
                self.messages.push((message, has));
                self.numbers.push(size);
            }
            _ => {
                let number = self.number();
                let name = self.name("y");
                let _ = write!(
                    self.text,
                    "    {name} = add.wrap {}, 3\n    set e.last, {name}\n",
                    if number.parse::<u8>().is_ok() { "k" } else { &number }
                );
            }
        }
    }

    /// A message goes its last way.
    fn end(&mut self, (message, has): (String, Header)) {
        let ways = if self.event == "more" { 4 } else { 6 };
        let way = self.random.place(ways);
        // What comes later may have its header still, and what is kept in `b`.
        let message = match has != Header::None && (way < 3 || self.random.percent(50)) {
            true => {
                let octets = self.name("f");
                let _ = writeln!(self.text, "    {octets} = encode {message}, w");
                octets
            }
            false => message,
        };
        match way {
            0 => {
                let _ = writeln!(self.text, "    out net.frame({message})");
            }
            1 => {
                let (u, w) = (self.name("u"), self.name("w"));
                let _ = write!(
                    self.text,
                    "    {u} = get.attribute {message}, u\n    {w} = get.attribute {message}, w\n    out app.said({u}, {w}, {message})\n"
                );
            }
            // It is kept, or there is no room.
            2 | 3 => {
                let (place, at) = (["a", "b"][way - 2], self.random.place(2));
                let (is, no, on, room) = (self.name("is"), self.name("no"), self.name("on"), self.name("room"));
                let rest = self.drops();
                let _ = write!(
                    self.text,
                    "    {is} = holds e.{place}[{at}]\n    br {is} @0.2 {no}, {on}\n  {no}:\n    drop {message}, l.full\n{rest}  {on}:\n    \
                     take e.kept, 1 then {room} else {no}\n  {room}:\n    keep e.{place}[{at}], {message}\n"
                );
            }
            _ => {
                let (on, no) = (self.name("on"), self.name("no"));
                let event = if self.event == "comes" || self.random.percent(40) { "more(" } else { "comes(k, " };
                let rest = self.drops();
                let _ = write!(
                    self.text,
                    "    later e.{event}{message}) then {on} else {no}\n  {no}:\n    drop {message}, l.full\n{rest}  {on}:\n"
                );
            }
        }
    }
}
