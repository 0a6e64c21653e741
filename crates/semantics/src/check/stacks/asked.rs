//! What layers ask of their parameters, and of what layers below publish: `where pieces >= 1 and below.window > pieces`.
//!
//! Keeps: what is known when the stack is built is looked at, and nothing else: no stack is refused for what is set at its start.

use mokume_base::{notation, Diagnostic, Span};

use crate::check::column::{self, Placed};
use crate::check::stacks::context::StackCheck;
use crate::constants::{self, Known, Unknown, Value};
use crate::program::*;
use crate::{codes, visit};

/// Checks each layer of an instance with its arguments, on each way down.
pub(super) fn check(check: &mut StackCheck, index: usize) {
    let (program, instance) = (check.program, &check.stack.instances[index]);
    for (at, placed) in column::placed(program, &instance.of, instance.of.span).iter().enumerate() {
        if placed.layer.asked.is_empty() {
            continue;
        }
        for column in column::below(program, check.stack, index, at, false) {
            let place = Place { args: &placed.args, below: &column.below };
            for asked in &placed.layer.asked {
                let part = refused_part(program, &asked.condition, &place);
                let refused = part.map(|part| refused(program, asked, part, placed, &place));
                if let Some(refused) = refused.filter(|refused| !check.out.contains(refused)) {
                    check.out.push(refused);
                }
            }
        }
    }
}

/// Reports conditions that ask nothing, those that are not known when a stack is built, and those that a layer's own defaults do not meet.
pub(super) fn declared(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in program.layers.iter() {
        let value = |param: &Param| constants::eval(program, param.default.as_ref()?).ok();
        let defaults: Vec<Option<Value>> = layer.params.iter().map(value).collect();
        for asked in &layer.asked {
            let found = wrong(program, layer, asked, &defaults);
            // A layer is read once for each list of functions and containers that it is given.
            if let Some(found) = found.filter(|found| !out.contains(found)) {
                out.push(found);
            }
        }
    }
}

fn wrong(program: &Program, layer: &Layer, asked: &Asked, defaults: &[Option<Value>]) -> Option<Diagnostic> {
    let (text, label, help) = if let Some(at) = unknown(&asked.condition) {
        let help = "use numbers, constants, parameters, `below.x` and operators";
        ("this is not known when a stack is built".to_string(), (at, "not known"), help)
    } else if params(&asked.condition).is_empty() && published(&asked.condition).is_empty() {
        let help = "name a parameter in it, or leave it out";
        ("a layer's `where` asks something of its parameters".to_string(), (asked.span, "asks nothing"), help)
    } else if refused_part(program, &asked.condition, &Place { args: defaults, below: &[] }).is_some() {
        let text = format!("`{}` does not take its own defaults", layer.name.text);
        (text, (asked.span, "false with them"), "write other defaults, or none")
    } else {
        return None;
    };
    Some(Diagnostic::error(codes::ARGUMENTS_REFUSED, text).at(label.0, label.1).help(help))
}

/// A layer's arguments, and the layers below it, as far as they are known before the start.
struct Place<'a> {
    args: &'a [Option<Value>],
    below: &'a [Placed<'a>],
}

impl Known for Place<'_> {
    fn param(&self, program: &Program, index: u32) -> Option<Value> {
        self.args.param(program, index)
    }

    fn published(&self, program: &Program, name: &str) -> Option<Value> {
        let publishes = |placed: &Placed| placed.layer.publishes.iter().position(|publish| publish.name.text == name);
        let (at, place) = self.below.iter().enumerate().find_map(|(at, placed)| Some((at, publishes(placed)?)))?;
        let by = &self.below[at];
        let there = Place { args: &by.args, below: &self.below[at + 1..] };
        constants::eval_in(program, &there, &by.layer.publishes[place].value).ok()
    }
}

/// The first part that has no value when a stack is built.
fn unknown(condition: &Expr) -> Option<Span> {
    use ExprKind::*;
    let mut found = None;
    visit::walk_expr(condition, &mut |expr| {
        let is_known = match &expr.kind {
            Below { flow, index, .. } => flow.is_none() && index.is_none(),
            Number(_) | Param(_) | Local(_) | Record { .. } | RecordField { .. } | If { .. } | Let { .. } => true,
            Binary { .. } | Not(_) | Cast { .. } => true,
            _ => false,
        };
        found = found.or((!is_known).then_some(expr.span));
    });
    found
}

/// The part of a condition that is false there, or has no value, as it divides by zero: of `a and b` the first. Of what is not known it says
/// nothing.
fn refused_part<'a>(program: &Program, condition: &'a Expr, place: &Place) -> Option<&'a Expr> {
    if let ExprKind::Binary { op: Binary::And, a, b } = &condition.kind {
        return refused_part(program, a, place).or_else(|| refused_part(program, b, place));
    }
    let is_refused = match constants::eval_in(program, place, condition) {
        Ok(value) => value.scalar() == Some(0),
        Err(why) => why == Unknown::Overflow,
    };
    is_refused.then_some(condition)
}

/// The parameters that it mentions.
fn params(condition: &Expr) -> Vec<u32> {
    mentioned(condition, |expr| match expr.kind {
        ExprKind::Param(index) => Some(index),
        _ => None,
    })
}

/// The published values that it mentions.
fn published(condition: &Expr) -> Vec<&str> {
    mentioned(condition, |expr| match &expr.kind {
        ExprKind::Below { name, .. } => Some(name.text.as_str()),
        _ => None,
    })
}

/// What its parts are to this question, each once.
fn mentioned<'a, T: PartialEq>(condition: &'a Expr, what: impl Fn(&'a Expr) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    visit::walk_expr(condition, &mut |expr| {
        if let Some(one) = what(expr).filter(|one| !found.contains(one)) {
            found.push(one);
        }
    });
    found
}

fn refused(program: &Program, asked: &Asked, part: &Expr, placed: &Placed, place: &Place) -> Diagnostic {
    let layer = placed.layer;
    let shown = |ty: Type, value: Option<Value>| match ty {
        Type::Duration => Some(notation::time(value?.scalar()?)),
        Type::UInt(_) => Some(value?.scalar()?.to_string()),
        _ => None,
    };
    let given = params(part).into_iter().filter_map(|index| {
        let param = layer.params.get(index as usize)?;
        Some(format!("`{}` is {}", param.name.text, shown(param.ty, place.param(program, index))?))
    });
    let below = published(part).into_iter().filter_map(|name| {
        Some(format!("`below.{name}` is {}", shown(Type::UInt(32), place.published(program, name))?))
    });
    let values: Vec<String> = given.chain(below).collect();
    let label = match values.is_empty() {
        true => format!("`{}` stands here", layer.name.text),
        false => format!("{} here", values.join(", ")),
    };
    Diagnostic::error(codes::ARGUMENTS_REFUSED, format!("`{}` does not take these arguments", layer.name.text))
        .at(placed.span, label)
        .label(asked.span, "asked for here")
        .help(format!("give others, so that `{}`", asked.text))
}
