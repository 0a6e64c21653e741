//! Random paths whose ways meet again: many questions lead to few places, and what is done there needs what was found before. The
//! handler of the event says the same, and drops where the path refuses.

use std::fmt::Write;

use mokume_base::Random;

use crate::Hints;

/// The keys in use.
const KEYS: u64 = 6;

const BEGIN: &str = "automaton meeting\nlayer l\nreason l.no\n\
    class l.E capacity 1 {\n  mode: u8\n  wide: u32 = 5\n  t: map 8 (u8) -> (@l.S) by k\n}\n\
    class l.S capacity 8 in l.E {\n  fixed k: u8\n  a: u8 = 2\n  b: u32 = 1\n  next: u8\n  hot: u32\n  up: @l.S\n}\n\
    port app application {\n  in learn(k: u8, u: u8, a: u8) -> l.E.learn\n  in change(k: u8, a: u8, b: u8) -> l.E.change\n  in forget(k: u8) -> l.E.forget\n}\n\
    port net device {\n  in frame(m: msg) -> l.E.arrive\n  out frame(m: msg)\n}\n\
    handler l.E.learn(e, k: u8, u: u8, a: u8) {\n    find e.t[k] then known(..) else fresh\n  known(o: @l.S):\n    jump have(o)\n  fresh:\n    \
    new l.S in e then made(..) else full\n  made(n: @l.S):\n    set n.k, k\n    insert e.t[k], n then in else odd\n  odd:\n    release n\n    jump full\n  in:\n    jump have(n)\n  \
    have(s: @l.S):\n    set s.a, a\n    set s.next, u\n    find e.t[u] then upper(..) else full\n  upper(p: @l.S):\n    set s.up, p\n    jump full\n  full:\n    return\n}\n\
    handler l.E.change(e, k: u8, a: u8, b: u8) {\n    set e.mode, b\n    find e.t[k] then known(..) else none\n  known(s: @l.S):\n    set s.a, a\n    w = cast b to u32\n    set s.b, w\n    \
    return\n  none:\n    return\n}\n\
    handler l.E.forget(e, k: u8) {\n    remove e.t[k] then out(..) else none\n  out(o: @l.S):\n    release o\n    return\n  none:\n    return\n}\n";

/// What is known at a place of the path.
#[derive(Clone, Default)]
struct Scope {
    numbers: Vec<String>,
    objects: Vec<String>,
    /// Places that are known here, by number.
    places: Vec<usize>,
}

struct Writer {
    random: Random,
    text: String,
    /// Names so far.
    names: usize,
    /// Blocks to which several ways lead, with what is known there; written at the end.
    places: Vec<(String, Scope)>,
}

/// The text of a stack of one layer, with a path for `net.frame`; `app.learn`, `app.change` and `app.forget` say what is found.
pub fn meeting(seed: u64) -> String {
    let random = Random::new(seed ^ 0x006d_6565_7469_6e67);
    let mut writer = Writer { random, text: String::new(), names: 0, places: Vec::new() };
    writer.text += "    n = size m\n    short = lt n, 8\n    br short @0.001 exit, long\n  long:\n";
    let scope = Scope { numbers: vec!["n".into()], ..Scope::default() };
    let questions = 3 + writer.random.place(8);
    writer.way(scope, questions, true);
    let mut at = 0;
    while let Some((name, scope)) = writer.places.get(at).cloned() {
        let _ = writeln!(writer.text, "  {name}:");
        let questions = writer.random.place(3);
        writer.way(scope, questions, false);
        at += 1;
    }
    let body = writer.text;
    format!(
        "{BEGIN}handler l.E.arrive(e, m: msg) {{\n{body}  exit:\n    drop m, l.no\n    return\n}}\n\
         path l.E.arrive(e, m: msg) {{\n{body}  exit:\n    refuse m\n}}\n"
    )
}

/// Packets and keys for [`meeting`].
pub fn meeting_hints(seed: u64) -> Hints {
    let mut random = Random::new(seed);
    let message = |random: &mut Random| (0..8 + random.place(4)).map(|_| random.below(KEYS) as u8).collect();
    Hints { messages: (0..40).map(|_| message(&mut random)).collect(), words: (0..KEYS).collect() }
}

impl Writer {
    fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    /// A way of so many questions and an end; whether it has places to which others may lead.
    fn way(&mut self, mut scope: Scope, questions: usize, has_places: bool) {
        let mut aside = Vec::new();
        for _ in 0..questions {
            for _ in 0..self.random.place(3) {
                self.number(&mut scope);
            }
            if has_places && self.random.percent(40) {
                let name = self.name("place");
                self.places.push((name, scope.clone()));
                scope.places.push(self.places.len() - 1);
            }
            let elsewhere = self.elsewhere(&scope, questions, &mut aside);
            self.question(&mut scope, &elsewhere);
        }
        if !has_places {
            self.tell_apart(&mut scope);
        }
        self.end(&mut scope);
        for (name, scope, questions) in aside {
            let _ = writeln!(self.text, "  {name}:");
            self.way(scope, questions, has_places);
        }
    }

    /// Where a question leads that is not answered as usual.
    fn elsewhere(&mut self, scope: &Scope, left: usize, aside: &mut Vec<(String, Scope, usize)>) -> String {
        match (self.random.place(10), self.random.pick(&scope.places)) {
            (0..=5, Some(place)) => self.places[*place].0.clone(),
            // A way of its own.
            (6 | 7, _) if left > 1 => {
                let name = self.name("aside");
                aside.push((name.clone(), scope.clone(), left / 2));
                name
            }
            _ => "exit".into(),
        }
    }

    /// A number that is worked out.
    fn number(&mut self, scope: &mut Scope) {
        let name = self.name("v");
        let raw = self.name("r");
        let object = self.random.pick(&scope.objects).cloned();
        let one = self.random.one_of(&scope.numbers).clone();
        let two = self.random.one_of(&scope.numbers).clone();
        let line = match (self.random.place(6), object) {
            (0, Some(s)) => format!("    {raw} = get {s}.a\n    {name} = cast {raw} to u32\n"),
            (1, Some(s)) => format!("    {name} = get {s}.b\n"),
            (2, Some(s)) => format!("    {name} = get {s}.hot\n"),
            (3, _) => format!("    {raw} = get e.mode\n    {name} = cast {raw} to u32\n"),
            (4, _) => format!("    {name} = add.wrap {one}, {two}\n"),
            _ => format!("    {raw} = load.be8 m, {}\n    {name} = cast {raw} to u32\n", self.random.place(8)),
        };
        self.text += &line;
        scope.numbers.push(name);
    }

    /// Asks, and goes on where it is answered as usual.
    fn question(&mut self, scope: &mut Scope, elsewhere: &str) {
        let (next, name, asked) = (self.name("b"), self.name("s"), self.name("q"));
        let object = self.random.pick(&scope.objects).cloned();
        match (self.random.place(6), object) {
            (0, Some(s)) => {
                let _ = write!(
                    self.text,
                    "    {name} = get {s}.up\n    {asked} = lives {name}\n    br {asked} @0.9 {next}, {elsewhere}\n  {next}:\n"
                );
                scope.objects.push(name);
            }
            (1, Some(s)) => {
                let _ = write!(self.text, "    {asked} = get {s}.next\n    find e.t[{asked}] then {next}(..) else {elsewhere}\n  {next}({name}: @l.S):\n");
                scope.objects.push(name);
            }
            (0..=2, _) => {
                let at = self.random.place(8);
                let _ = write!(self.text, "    {asked} = load.be8 m, {at}\n    find e.t[{asked}] then {next}(..) else {elsewhere}\n  {next}({name}: @l.S):\n");
                scope.objects.push(name);
            }
            _ => {
                let number = self.random.one_of(&scope.numbers).clone();
                let (how, than) = (*self.random.one_of(&["eq", "lt", "gt", "ne"]), self.random.place(9));
                let ways = match self.random.percent(70) {
                    true => format!("@0.9 {next}, {elsewhere}"),
                    false => format!("@0.2 {elsewhere}, {next}"),
                };
                let _ = write!(self.text, "    {asked} = {how} {number}, {than}\n    br {asked} {ways}\n  {next}:\n");
            }
        }
    }

    /// Reads what tells the objects apart that were found before ways met.
    fn tell_apart(&mut self, scope: &mut Scope) {
        let mut all = None;
        for object in scope.objects.iter().rev().take(3) {
            let [raw, own, long, sum] = ["r", "v", "v", "v"].map(|of| self.name(of));
            let _ = write!(self.text, "    {raw} = get {object}.k\n    {own} = cast {raw} to u32\n");
            all = Some(match all {
                Some(all) => {
                    let _ = write!(self.text, "    {long} = mul.wrap {all}, 8\n    {sum} = add.wrap {long}, {own}\n");
                    sum
                }
                None => own,
            });
        }
        scope.numbers.extend(all.into_iter().flat_map(|all| [all.clone(), all.clone(), all]));
    }

    /// Writes state, and sends.
    fn end(&mut self, scope: &mut Scope) {
        for _ in 0..1 + self.random.place(2) {
            self.number(scope);
        }
        let told: Vec<String> = (0..2).map(|_| self.random.one_of(&scope.numbers).clone()).collect();
        if let Some(object) = self.random.pick(&scope.objects).cloned().filter(|_| self.random.percent(50)) {
            let _ = writeln!(self.text, "    set {object}.hot, {}", told[0]);
        }
        let (front, stored, again) = (self.name("f"), self.name("f"), self.name("f"));
        let _ = write!(
            self.text,
            "    {front} = front m, \"{:02x}0000000000000000\"\n    {stored} = store.be32 {front}, 1, {}\n    {again} = store.be32 {stored}, 5, {}\n    \
             out net.frame({again})\n    return\n",
            self.names % 251,
            told[0],
            told[1]
        );
    }
}
