//! What layers do with incoming packets, as tables of steps.

use std::collections::BTreeSet;

use mokume_dissect::steps::{Block, Cause, End, Number, Routine, Step, Target};
use mokume_dissect::walk::{Layers, DELIVER};
use mokume_reaction::{Automaton, Endian, SourceId, Value};

use crate::table::{table, Key, Lua};

/// For each of these classes, the blocks of its handlers of incoming messages.
pub fn handlers(automaton: &Automaton, layers: &Layers, classes: &BTreeSet<usize>) -> Lua {
    let known = automaton.handlers.iter().zip(&layers.routines);
    let of = known.filter_map(|(handler, routine)| {
        let class = handler.class.index();
        let routine = routine.as_ref().filter(|_| classes.contains(&class))?;
        Some((Key::Number(class as u64 + 1), self::routine(automaton, routine)))
    });
    Lua::Table(of.collect())
}

fn routine(automaton: &Automaton, routine: &Routine) -> Lua {
    Lua::List(routine.blocks.iter().map(|block| self::block(automaton, block)).collect())
}

fn block(automaton: &Automaton, block: &Block) -> Lua {
    let steps = block.steps.iter().map(|step| self::step(automaton, step));
    table(vec![
        ("params", Some(values(&block.params))),
        ("steps", Some(Lua::List(steps.collect()))),
        ("last", Some(end(&block.end))),
    ])
}

fn value(value: Value) -> Lua {
    Lua::Number(u64::from(value.0) + 1)
}

fn values(values: &[Value]) -> Lua {
    Lua::List(values.iter().map(|value| self::value(*value)).collect())
}

fn place(index: usize) -> Lua {
    Lua::Number(index as u64 + 1)
}

fn truth(is: bool) -> Lua {
    if is {
        Lua::Yes
    } else {
        Lua::No
    }
}

/// A reason in the words of `mokume dissect`.
pub fn reason(automaton: &Automaton, reason: Cause, source: Option<SourceId>) -> String {
    let name = reason.text(automaton);
    let source = source.and_then(|source| automaton.sources.get(source.index()));
    let place = source.map_or(String::new(), |source| format!(" ({}:{})", source.file, source.line));
    format!("{name}{place}")
}

/// A step: its name, result, and operands.
fn step(automaton: &Automaton, step: &Step) -> Lua {
    let named = |name: &str, to: Option<Value>, rest: Vec<Lua>| {
        let to = to.map_or(Lua::No, value);
        Lua::List([vec![Lua::text(name), to], rest].concat())
    };
    let of = |number: &Number| vec![Lua::Number(number.width.into()), truth(number.circular)];
    match step {
        Step::Constant { to, value, width } => named("constant", Some(*to), vec![Lua::of_width(*value, *width)]),
        Step::Binary { to, op, of: number, a, b } => {
            let rest = [vec![Lua::text(op.word())], of(number), vec![value(*a), value(*b)]].concat();
            named("binary", Some(*to), rest)
        }
        Step::Compare { to, op, of: number, a, b } => {
            let rest = [vec![Lua::text(op.sign())], of(number), vec![value(*a), value(*b)]].concat();
            named("compare", Some(*to), rest)
        }
        Step::Not { to, of, a } => named("not", Some(*to), vec![Lua::Number(of.width.into()), value(*a)]),
        Step::Select { to, c, a, b } => named("select", Some(*to), vec![value(*c), value(*a), value(*b)]),
        Step::Cast { to, width, a } => named("cast", Some(*to), vec![Lua::Number((*width).into()), value(*a)]),
        Step::Fold { to, a } => named("fold", Some(*to), vec![value(*a)]),
        Step::Pop { to, message, header, variant, fields } => {
            let rest = vec![value(*message), place(header.index()), place(variant.index()), values(fields)];
            named("pop", Some(*to), rest)
        }
        Step::Size { to, message } => named("size", Some(*to), vec![value(*message)]),
        Step::Sum { to, message, part: None } => named("sum", Some(*to), vec![value(*message)]),
        Step::Sum { to, message, part: Some((at, size)) } => {
            named("sum", Some(*to), vec![value(*message), value(*at), value(*size)])
        }
        Step::Load { to, message, at, octets, endian } => {
            let rest =
                vec![value(*message), value(*at), Lua::Number((*octets).into()), truth(*endian == Endian::Little)];
            named("load", Some(*to), rest)
        }
        Step::Trim { to, message, size } => named("trim", Some(*to), vec![value(*message), value(*size)]),
        Step::Skip { to, message, size } => named("skip", Some(*to), vec![value(*message), value(*size)]),
        Step::Split { first, rest, message, at } => {
            named("split", Some(*first), vec![value(*message), value(*at), value(*rest)])
        }
        Step::GetAttribute { to, message, attribute } => {
            named("get_attribute", Some(*to), vec![value(*message), place(attribute.index())])
        }
        Step::SetAttribute { to, message, attribute, value: of } => {
            named("set_attribute", Some(*to), vec![value(*message), place(attribute.index()), value(*of)])
        }
        Step::Same { to, message } | Step::Share { to, message } => named("same", Some(*to), vec![value(*message)]),
        Step::Quote { to, message, wire } => named("quote", Some(*to), vec![value(*message), place(wire.index())]),
        Step::Changed { to, message } => named("changed", Some(*to), vec![value(*message)]),
        Step::Emit { class, event, args } => {
            named("emit", None, vec![place(class.index()), truth(event == DELIVER), values(args)])
        }
        Step::Drop { message, reason, source } => {
            named("drop", None, vec![value(*message), Lua::Text(self::reason(automaton, *reason, *source))])
        }
        Step::Held { message } => named("held", None, vec![value(*message)]),
        Step::Used { message, kept } => named(if *kept { "kept" } else { "used" }, None, vec![value(*message)]),
    }
}

fn target(target: &Target) -> Lua {
    Lua::List(vec![place(target.block), values(&target.args)])
}

fn end(end: &End) -> Lua {
    let named = |name: &str, rest: Vec<Lua>| Lua::List([vec![Lua::text(name)], rest].concat());
    match end {
        End::Return => named("return", Vec::new()),
        End::Jump(to) => named("jump", vec![target(to)]),
        End::Branch { condition, then, otherwise } => {
            named("branch", vec![value(*condition), target(then), target(otherwise)])
        }
        End::Switch { value: of, width, cases, default } => {
            let case = |(number, to): &(u64, Target)| Lua::List(vec![Lua::of_width(*number, *width), target(to)]);
            named("switch", vec![value(*of), Lua::List(cases.iter().map(case).collect()), target(default)])
        }
        End::Match { message, header, cases } => {
            let case = |(variant, to): &(mokume_reaction::VariantId, Target)| {
                Lua::List(vec![place(variant.index()), target(to)])
            };
            let cases = cases.iter().map(case).collect();
            named("match", vec![value(*message), place(header.index()), Lua::List(cases)])
        }
        End::Decode { message, wire, then, otherwise } => {
            named("decode", vec![value(*message), place(wire.index()), target(then), target(otherwise)])
        }
        End::Validate { message, wire, then, otherwise } => {
            named("validate", vec![value(*message), place(wire.index()), target(then), target(otherwise)])
        }
        End::Peek { message, header, variant, then, otherwise } => {
            let of = vec![value(*message), place(header.index()), place(variant.index())];
            named("peek", [of, vec![target(then), target(otherwise)]].concat())
        }
        End::Either { used, then, otherwise } => named("either", vec![values(used), target(then), target(otherwise)]),
    }
}
