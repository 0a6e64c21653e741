//! `flow.prf(low, high)`: SipHash-2-4 (Aumasson and Bernstein, 2012) of a flow's scalars, as a function of the form.
//!
//! Keeps: each scalar is a word of 64 bits, in the order of the flow; the last word contains their octet count, as in
//! the paper. So the results equal those of any SipHash-2-4 of these words in little-endian order.

use mokume_reaction as r;
use mokume_reaction::build::BodyBuilder;
use mokume_semantics::program as s;

use super::writer::Writer;

const WIDE: r::Type = r::Type::U(64);

impl<'p> Writer<'_, 'p> {
    /// The hash of a flow under a key.
    pub fn flow_prf(&mut self, flow: &'p s::Expr, key: &'p [s::Expr; 2]) -> r::Value {
        let mut args: Vec<r::Value> = key.iter().map(|half| self.one(half)).collect();
        for value in self.expr(flow) {
            args.push(self.cast(value, WIDE));
        }
        let function = self.siphash(args.len() - 2);
        self.value(r::OpKind::Call { function, args })
    }

    /// The function for this many words, made on first use.
    fn siphash(&mut self, words: usize) -> r::FunctionId {
        let name = format!("{}{words}", r::Function::PSEUDORANDOM);
        if let Some(known) = self.a.functions.iter().position(|known| known.name == name) {
            return known.into();
        }
        let keys = ["low", "high"].map(|name| (name.to_owned(), WIDE));
        let words = (0..words).map(|word| (format!("word{word}"), WIDE));
        let params: Vec<(String, r::Type)> = keys.into_iter().chain(words).collect();
        let body = body(&params);
        self.a.functions.push(r::Function { name, role: r::Role::Pure, params, results: vec![WIDE], body });
        (self.a.functions.len() - 1).into()
    }
}

/// The state, as values of a body.
struct Sip {
    /// An empty automaton: the types of arithmetic need no declarations.
    nothing: r::Automaton,
    b: BodyBuilder,
    v: [r::Value; 4],
}

fn body(params: &[(String, r::Type)]) -> r::Body {
    let b = BodyBuilder::new(params);
    let given = b.params(r::BlockId(0)).to_vec();
    let v = [given[0], given[1], given[0], given[1]];
    let mut sip = Sip { nothing: r::Automaton::default(), b, v };
    // "somepseudorandomlygeneratedbytes"
    let start = [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];
    for (at, number) in start.into_iter().enumerate() {
        let number = sip.number(number);
        sip.v[at] = sip.binary(r::Binary::Xor, sip.v[at], number);
    }
    for word in &given[2..] {
        sip.compress(*word);
    }
    let octets = sip.number(((8 * (given.len() as u64 - 2)) & 0xff) << 56);
    sip.compress(octets);
    let end = sip.number(0xff);
    sip.v[2] = sip.binary(r::Binary::Xor, sip.v[2], end);
    (0..4).for_each(|_| sip.round());
    let [v0, v1, v2, v3] = sip.v;
    let (left, right) = (sip.binary(r::Binary::Xor, v0, v1), sip.binary(r::Binary::Xor, v2, v3));
    let result = sip.binary(r::Binary::Xor, left, right);
    sip.b.end(r::Terminator::Yield { values: vec![result] });
    sip.b.finish()
}

impl Sip {
    fn compress(&mut self, word: r::Value) {
        self.v[3] = self.binary(r::Binary::Xor, self.v[3], word);
        self.round();
        self.round();
        self.v[0] = self.binary(r::Binary::Xor, self.v[0], word);
    }

    fn round(&mut self) {
        self.mix((0, 1), 13);
        self.v[0] = self.rotated(self.v[0], 32);
        self.mix((2, 3), 16);
        self.mix((0, 3), 21);
        self.mix((2, 1), 17);
        self.v[2] = self.rotated(self.v[2], 32);
    }

    /// `a += b; b = rotl(b, by) ^ a`
    fn mix(&mut self, (a, b): (usize, usize), by: u64) {
        self.v[a] = self.binary(r::Binary::AddWrap, self.v[a], self.v[b]);
        let turned = self.rotated(self.v[b], by);
        self.v[b] = self.binary(r::Binary::Xor, turned, self.v[a]);
    }

    fn rotated(&mut self, value: r::Value, by: u64) -> r::Value {
        let (left, right) = (self.number(by), self.number(64 - by));
        let high = self.binary(r::Binary::Shl, value, left);
        let low = self.binary(r::Binary::Shr, value, right);
        self.binary(r::Binary::Or, high, low)
    }

    fn number(&mut self, value: u64) -> r::Value {
        self.b.constant(&self.nothing, WIDE, value)
    }

    fn binary(&mut self, op: r::Binary, a: r::Value, b: r::Value) -> r::Value {
        self.b.value(&self.nothing, r::OpKind::Binary { op, a, b })
    }
}
