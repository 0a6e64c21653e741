//! What comes in by ports and as parameters, and is no value (docs/semantics.md, P6).

use std::ops::RangeInclusive;

use mokume_reaction::border::{borders, named, Border, There};
use mokume_reaction::*;

use crate::plan::Plan;
use crate::text::literal;
use crate::types::mask;

/// The guards of several numbers that come in together.
pub(super) struct Guards {
    /// The conditions under which they are refused; one of them is enough.
    pub refusals: Vec<String>,
    /// By number, the condition under which it is there; otherwise it is 0.
    pub there: Vec<Option<String>>,
}

/// The guards of numbers with these names and types; `values` are their expressions in C, cut to their width.
pub(super) fn guards(plan: &Plan, params: &[(&str, Type)], values: &[String]) -> Guards {
    let borders = borders(plan.automaton, params);
    let mut guards = Guards { refusals: Vec::new(), there: vec![None; params.len()] };
    for (at, (Border { there, values: known }, (_, ty))) in borders.iter().zip(params).enumerate() {
        let mut all: Vec<String> = there
            .iter()
            .map(|there| match *there {
                There::Above(of, index) => format!("{} > {}", values[of], literal(index)),
                There::Is(of, number) => format!("{} == {}", values[of], literal(number)),
            })
            .collect();
        guards.there[at] = (!all.is_empty()).then(|| all.join(" && "));
        let Some(ranges) = known else { continue };
        let last = mask(if *ty == Type::Reason { 32 } else { ty.width(plan.automaton) });
        all.extend(ranges.iter().map(|range| outside(&values[at], range, last)));
        guards.refusals.push(match &all[..] {
            [one] => one.clone(),
            all => format!("({})", all.join(" && ")),
        });
    }
    guards
}

/// Whether a number, which is `last` at most, is outside of a range that has not all of them.
fn outside(value: &str, range: &RangeInclusive<u64>, last: u64) -> String {
    let (from, to) = (literal(*range.start()), literal(*range.end()));
    match (range.start(), range.end()) {
        (start, end) if start == end => format!("{value} != {from}"),
        (0, _) => format!("{value} > {to}"),
        (_, end) if *end >= last => format!("{value} < {from}"),
        _ => format!("({value} < {from} || {value} > {to})"),
    }
}

/// Which values numbers have that are not free to have all of their types, for the header: by number.
pub(super) fn remarks(plan: &Plan, params: &[(&str, Type)]) -> Vec<Option<String>> {
    let borders = borders(plan.automaton, params);
    let stack = &plan.names.stack;
    let remark = |(at, (_, ty)): (usize, &(&str, Type))| match ty {
        Type::Enum(id) => {
            let others = if plan.automaton.enums[id.index()].open { " or any other number" } else { "" };
            Some(format!("enum {stack}_{}{others}", plan.names.enum_tags[id.index()]))
        }
        Type::Reason => Some(format!("enum {stack}_reason")),
        _ => Some(format!("at most {}", borders.get(at)?.values.as_ref()?.last()?.end())),
    };
    params.iter().enumerate().map(remark).collect()
}

/// The remarks of an event in one line, without the numbers that have none: `kind: enum Host_Kind`.
pub(super) fn remarks_of(plan: &Plan, params: &[(String, Type)]) -> Vec<String> {
    let names = super::signature::param_names(params).into_iter();
    names.zip(remarks(plan, &named(params))).filter_map(|(name, remark)| Some(format!("{name}: {}", remark?))).collect()
}
