//! Compares what `Bounds` says about random bodies of small numbers with all runs of them.

use std::collections::HashMap;

use mokume_analyse::{Bounds, Quantity};
use mokume_base::FileId;
use mokume_reaction::text::parse;
use mokume_reaction::*;

const HEAD: &str = "automaton a
reason a.no
layer a
class a.E capacity 1 {
  c: u8
}
port app application {
  in go(msg: msg, x: u3, y: u3, z: u3) -> a.E.go
}
handler a.E.go(e, msg: msg, x: u3, y: u3, z: u3) {
";

/// Marsaglia's generator of 2003.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn of<'t>(&mut self, all: &'t [String]) -> &'t str {
        &all[self.below(all.len())]
    }
}

/// A chain of blocks: each makes 8-bit numbers and continues under a condition.
fn random(seed: u64) -> String {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::from(HEAD);
    let mut names = vec!["x8".to_owned(), "y8".to_owned(), "z8".to_owned(), "s8".to_owned()];
    text += "    x8 = cast x to u8\n    y8 = cast y to u8\n    z8 = cast z to u8\n    s = size msg\n    s8 = cast s to u8\n";
    let mut message = "msg".to_owned();
    let blocks = 2 + chance.below(5);
    for block in 0..blocks {
        for op in 0..chance.below(4) {
            let name = format!("v{block}_{op}");
            let (a, b, number) = (chance.of(&names).to_owned(), chance.of(&names).to_owned(), chance.below(9));
            let made = match chance.below(10) {
                0 => format!("add.wrap {a}, {number}"),
                1 => format!("add.wrap {a}, {}", 250 + chance.below(6)),
                2 | 3 => format!("sub.wrap {a}, {number}"),
                4 => format!("sub.wrap {a}, {b}"),
                5 => format!("min {a}, {b}"),
                6 => format!("and {a}, {b}"),
                7 => format!("add.wrap {a}, {b}"),
                8 => format!("max {a}, {b}"),
                _ => format!("shr {a}, 1"),
            };
            text += &format!("    {name} = {made}\n");
            names.push(name);
        }
        if chance.below(3) == 0 {
            let what = ["skip", "trim"][chance.below(2)];
            let size = match chance.below(2) {
                0 => chance.below(6).to_string(),
                _ => {
                    text += &format!("    w{block} = cast {} to u32\n", chance.of(&names));
                    format!("w{block}")
                }
            };
            text += &format!("    m{block} = {what} {message}, {size}\n    s{block} = size m{block}\n");
            text += &format!("    t{block} = cast s{block} to u8\n");
            names.push(format!("t{block}"));
            message = format!("m{block}");
        }
        let (a, b, number) = (chance.of(&names).to_owned(), chance.of(&names).to_owned(), chance.below(9));
        let other = [b, number.to_string()][chance.below(2)].clone();
        let op = ["le", "lt", "ge", "gt", "eq", "ne"][chance.below(6)];
        text += &format!("    c{block} = {op} {a}, {other}\n");
        let (then, not) = [("go", "out"), ("out", "go")][chance.below(2)];
        let label = |way: &str| if way == "go" { format!("b{block}") } else { format!("o{block}") };
        text += &format!(
            "    br c{block} {}, {}\n  o{block}:\n    drop {message}, a.no\n    return\n  b{block}:\n",
            label(then),
            label(not)
        );
    }
    text + &format!("    drop {message}, a.no\n    return\n}}\n")
}

/// The values of a run (for messages, their sizes), and the block where it ends.
fn run(body: &Body, inputs: &[u64]) -> (HashMap<Value, u64>, BlockId) {
    let mut values: HashMap<Value, u64> = body.blocks[0].params.iter().copied().zip(inputs.iter().copied()).collect();
    let mut at = BlockId(0);
    loop {
        let block = &body.blocks[at.index()];
        for op in &block.ops {
            let of = |value: &Value| values[value];
            let all = |value: Value| match body.values[value.index()].ty {
                Type::U(bits) => (1u64 << bits) - 1,
                _ => u64::MAX,
            };
            let made = match &op.kind {
                OpKind::Const { value, .. } => *value,
                OpKind::Cast { a, .. } => of(a),
                OpKind::Size { message } => of(message),
                OpKind::Skip { message, size } => of(message).saturating_sub(of(size)),
                OpKind::Trim { message, size } => {
                    if of(size) > of(message) {
                        of(message)
                    } else {
                        of(size)
                    }
                }
                OpKind::Compare { op, a, b } => u64::from(match op {
                    Compare::Eq => of(a) == of(b),
                    Compare::Ne => of(a) != of(b),
                    Compare::Lt => of(a) < of(b),
                    Compare::Le => of(a) <= of(b),
                    Compare::Gt => of(a) > of(b),
                    Compare::Ge => of(a) >= of(b),
                }),
                OpKind::Binary { op, a, b } => match op {
                    Binary::AddWrap => of(a).wrapping_add(of(b)),
                    Binary::SubWrap => of(a).wrapping_sub(of(b)),
                    Binary::MulWrap => of(a).wrapping_mul(of(b)),
                    Binary::Min => of(a).min(of(b)),
                    Binary::Max => of(a).max(of(b)),
                    Binary::And => of(a) & of(b),
                    Binary::Shr => of(a) >> of(b),
                    other => panic!("{other:?}"),
                },
                OpKind::Drop { .. } => continue,
                other => panic!("{other:?}"),
            };
            values.insert(op.results[0], made & all(op.results[0]));
        }
        match &block.terminator {
            Terminator::Branch { condition, then, otherwise, .. } => {
                at = if values[condition] != 0 { then.block } else { otherwise.block };
            }
            Terminator::Return => return (values, at),
            other => panic!("{other:?}"),
        }
    }
}

/// Pairs with a known bound, and the values of runs.
type Seen = (Vec<(Quantity, Quantity)>, Vec<HashMap<Value, u64>>);

/// All pairs that `Bounds` relates at the last block, and all runs that get there.
fn said_and_seen(text: &str) -> Seen {
    let parsed = parse(FileId(0), text);
    let faults = verify::diagnose(&parsed.automaton, &parsed.places);
    assert!(parsed.diagnostics.iter().chain(&faults).next().is_none(), "{:?}{faults:?}\n{text}", parsed.diagnostics);
    let body = &parsed.automaton.handlers[0].body;
    let end = body.blocks.len() - 1;
    let mut runs = Vec::new();
    for input in 0..6 * 512 {
        let inputs = [0, input / 512, input % 8, input / 8 % 8, input / 64 % 8];
        let (values, at) = run(body, &inputs);
        runs.extend((at.index() == end).then_some(values));
    }
    let bounds = Bounds::of(&parsed.automaton, body);
    let quantity = |at: usize| match body.values[at].ty {
        Type::U(_) => Some(Quantity::Value(Value(at as u32))),
        Type::Msg => Some(Quantity::SizeOf(Value(at as u32))),
        _ => None,
    };
    let numbers = [1, 7, 20, 64, 448].map(Quantity::Number);
    let all: Vec<Quantity> = (0..body.values.len()).filter_map(quantity).chain(numbers).collect();
    let pairs = all.iter().flat_map(|low| all.iter().map(move |high| (*low, *high))).filter(|(low, high)| low != high);
    let said = pairs.filter(|(low, high)| bounds.at_most(BlockId::from(end), (*low, 0), *high)).collect();
    (said, runs)
}

fn number(quantity: Quantity, values: &HashMap<Value, u64>) -> Option<u64> {
    match quantity {
        Quantity::Value(value) | Quantity::SizeOf(value) => values.get(&value).copied(),
        Quantity::Number(number) => Some(number),
    }
}

#[test]
fn what_is_said_holds_on_every_run() {
    let (mut said, mut reached) = (0, 0);
    for seed in 1..600 {
        let text = random(seed);
        let (pairs, runs) = said_and_seen(&text);
        reached += usize::from(!runs.is_empty());
        for (low, high) in pairs {
            said += runs.len();
            for values in &runs {
                if let (Some(least), Some(most)) = (number(low, values), number(high, values)) {
                    assert!(least <= most, "seed {seed}: {low:?} {least} <= {high:?} {most}\n{text}");
                }
            }
        }
    }
    assert!(reached > 200 && said > 100_000, "{reached} bodies, {said} comparisons");
}

/// A datagram's length against its packet's length, and that against the frame's: the checks of UDP over IPv4.
#[test]
fn lengths_in_lengths_are_understood() {
    let asked = |drop: usize| {
        let lines = ["ge s, 14", "ge l, 20", "le l, r", "ge p, 8", "le p, q"];
        let mut text = String::from(HEAD);
        text += "    s = size msg\n    x8 = cast x to u32\n    l = mul.wrap x8, 64\n    y8 = cast y to u32\n    p = mul.wrap y8, 64\n";
        text += "    r = sub.wrap s, 14\n    q = sub.wrap l, 20\n    d = sub.wrap p, 8\n";
        for (at, line) in lines.iter().enumerate().filter(|(at, _)| *at != drop) {
            text += &format!("    c{at} = {line}\n    br c{at} b{at}, o{at}\n");
            text += &format!("  o{at}:\n    drop msg, a.no\n    return\n  b{at}:\n");
        }
        text += "    m = skip msg, 14\n    drop m, a.no\n    return\n}\n";
        let (said, _) = said_and_seen(&text);
        let parsed = parse(FileId(0), &text);
        let body = &parsed.automaton.handlers[0].body;
        let of = |name: &str| body.values.iter().position(|info| info.name == name).map(|at| Value(at as u32));
        let (d, m) = (of("d").expect("d"), of("m").expect("m"));
        said.contains(&(Quantity::Value(d), Quantity::SizeOf(m)))
    };
    assert!(asked(usize::MAX), "all conditions are asked");
    for drop in 0..5 {
        assert!(!asked(drop), "condition {drop} is not asked");
    }
}
