//! Which procedures stay functions in C, shared by all callers, and which are inlined.
//!
//! A call costs about ten instructions, and what the procedure emits waits on the agenda. So a procedure stays a
//! function if it is large, or if it runs seldom and emits nothing. Otherwise the code is that of a handler written by
//! hand.

use std::borrow::Cow;

use rustc_hash::FxHashMap as HashMap;

use mokume_analyse::{inlined, run_by, run_in, Site};
use mokume_reaction::*;

/// A procedure with this many operations is large: a call costs little in comparison.
const LARGE: usize = 96;
/// The code of fewer operations is as short as a call.
const SMALL: usize = 12;
/// A way that is taken less often than this is seldom taken.
const SELDOM: f32 = 0.25;

/// The automaton with all procedures inlined that are not to be shared.
pub(crate) fn shared(automaton: &Automaton) -> Cow<'_, Automaton> {
    if automaton.functions.iter().all(|function| function.procedure().is_none()) {
        return Cow::Borrowed(automaton);
    }
    let emits = emitting(automaton);
    let mut sizes = HashMap::default();
    let sizes: Vec<usize> = (0..automaton.functions.len()).map(|id| size(automaton, id, &mut sizes)).collect();
    let mut sites = vec![0; automaton.functions.len()];
    let mut often: HashMap<Unit, Vec<bool>> = HashMap::default();
    for unit in mokume_reaction::verify::units(automaton) {
        let body = unit.body(automaton);
        let runs = run_by(body);
        if runs.is_empty() {
            continue;
        }
        runs.iter().for_each(|procedure| sites[procedure.index()] += 1);
        often.insert(unit, run_often(body));
    }
    let in_place = |Site { unit, block, procedure }: Site| {
        let id = procedure.index();
        let seldom = often.get(&unit).is_some_and(|often| !often[block.index()]);
        let is_shared = sites[id] > 1 && (sizes[id] >= LARGE || (seldom && sizes[id] > SMALL && !emits[id]));
        !is_shared && !automaton.functions[id].is_memo()
    };
    Cow::Owned(inlined(automaton, &in_place))
}

/// The number of operations and terminators, including those of procedures that it runs.
fn size(automaton: &Automaton, id: usize, known: &mut HashMap<usize, usize>) -> usize {
    if let Some(size) = known.get(&id) {
        return *size;
    }
    let blocks = &automaton.functions[id].body.blocks;
    let mut sum = blocks.iter().map(|block| block.ops.len() + 1).sum::<usize>();
    for procedure in blocks.iter().flat_map(run_in) {
        sum = sum.saturating_add(size(automaton, procedure.index(), known));
    }
    known.insert(id, sum);
    sum
}

/// By block: whether a way leads there that is not marked as seldom.
fn run_often(body: &Body) -> Vec<bool> {
    let mut often = vec![false; body.blocks.len()];
    let mut open = vec![BlockId(0)];
    while let Some(block) = open.pop() {
        let Some(found) = often.get_mut(block.index()) else { continue };
        if std::mem::replace(found, true) {
            continue;
        }
        match &body.blocks[block.index()].terminator {
            Terminator::Branch { then, otherwise, likely: Some(likely), .. } => {
                open.extend((*likely >= SELDOM).then_some(then.block));
                open.extend((1.0 - *likely >= SELDOM).then_some(otherwise.block));
            }
            terminator @ (Terminator::Branch { .. }
            | Terminator::Return
            | Terminator::Yield { .. }
            | Terminator::Refuse { .. }
            | Terminator::Jump { .. }
            | Terminator::Switch { .. }
            | Terminator::Match { .. }
            | Terminator::Try { .. }) => {
                open.extend(terminator.targets().into_iter().map(|target| target.block));
            }
        }
    }
    often
}

/// By function: whether it emits, directly or through procedures that it runs.
pub fn emitting(automaton: &Automaton) -> Vec<bool> {
    let emits = |body: &Body| body.ops().any(|op| op.kind.emission().is_some());
    let mut found: Vec<bool> = automaton.functions.iter().map(|function| emits(&function.body)).collect();
    loop {
        let runs_one = |function: &Function| run_by(&function.body).iter().any(|id| found[id.index()]);
        let also: Vec<bool> = automaton.functions.iter().map(runs_one).collect();
        if also.iter().zip(&found).all(|(also, found)| !also || *found) {
            return found;
        }
        found.iter_mut().zip(also).for_each(|(found, also)| *found |= also);
    }
}
