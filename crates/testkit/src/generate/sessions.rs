//! Objects of random automata: made, entered in a map under their key, found, visited, and released.
//!
//! Keeps: an object is removed from the map before it is released (docs/automaton.md, "by").

use super::body::Body;

impl Body<'_> {
    pub(super) fn new_session(&mut self) {
        let (made, none, join, session) = (self.fresh("made"), self.fresh("none"), self.fresh("join"), self.fresh("s"));
        let layer = self.layer;
        self.line(format!("new l{layer}.S in e then {made}(..) else {none}"));
        self.label(&format!("{made}({session}: @l{layer}.S)"));
        let value = self.byte();
        self.line(format!("set {session}.n, {value}"));
        self.line(format!("set e.last, {session}"));
        self.line(format!("out app.made{layer}({session})"));
        let key = self.fresh("v");
        self.line(format!("{key} = and {value}, 3"));
        self.line(format!("set {session}.k, {key}"));
        self.line(format!("insert e.found[{key}], {session} then {join} else {join}"));
        self.label(&none);
        self.line(format!("jump {join}"));
        self.label(&join);
        let last = self.fresh("s");
        self.line(format!("{last} = get e.last"));
        let lives = self.fresh("f");
        self.line(format!("{lives} = lives {last}"));
        self.flags.push(lives);
        self.sessions.push(last.clone());
        self.find_session(last);
    }

    /// The session that the map has under the key of `like`: `like` itself, or another one.
    fn find_session(&mut self, like: String) {
        let (key, yes, no, found, n) =
            (self.fresh("v"), self.fresh("then"), self.fresh("else"), self.fresh("s"), self.fresh("v"));
        let (join, byte) = (self.fresh("join"), self.fresh("v"));
        self.line(format!("{key} = get {like}.k"));
        self.line(format!("find e.found[{key}] then {yes}(..) else {no}"));
        self.label(&format!("{yes}({found}: @l{}.S)", self.layer));
        self.line(format!("{n} = get {found}.n"));
        self.line(format!("jump {join}({n})"));
        self.label(&no);
        self.line(format!("jump {join}({key})"));
        self.label(&format!("{join}({byte}: u8)"));
        self.bytes.push(byte);
    }

    /// Visits all sessions by age: counts them, and perhaps releases one.
    pub(super) fn walk(&mut self) {
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
        if self.random.percent(20) {
            let (key, taken, other, left) = (self.fresh("v"), self.fresh("then"), self.fresh("s"), self.fresh("join"));
            self.line(format!("{key} = get {s}.k"));
            self.line(format!("remove e.found[{key}] then {taken}(..) else {left}"));
            self.label(&format!("{taken}({other}: @l{layer}.S)"));
            self.line(format!("jump {left}"));
            self.label(&left);
            self.line(format!("release {s}"));
        }
        self.line(format!("jump {next}"));
        self.label(&next);
        self.line(format!("next {s} then {head}(.., {m}) else {over}"));
        self.label(&over);
        self.line(format!("{sum} = get e.x"));
        self.bytes.push(sum);
    }
}
