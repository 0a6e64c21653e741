//! Which parameters surely refer to existing objects: of blocks where ways join, on every way; of procedures, for every
//! caller. The place of an ended object is freed only after the reaction, so an object that exists stays throughout the
//! reaction.
//!
//! It must keep: what counts as existing is an object that has a place, in every reaction.

use mokume_reaction::*;

/// The subject of the analysis: an automaton, and which classes have one object from the start to the end.
#[derive(Clone, Copy)]
pub(crate) struct Of<'a> {
    pub automaton: &'a Automaton,
    pub is_sole: &'a dyn Fn(ClassId) -> bool,
}

/// What a value refers to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Means {
    Anything,
    /// An existing object, or null.
    ThereOrNobody,
    There,
}

/// By value: whether it surely refers to an existing object, if the values of `entry` do.
pub(crate) fn where_ways_meet(of: Of, body: &Body, entry: &[Value]) -> Vec<bool> {
    means(of, body, entry).into_iter().map(|means| means == Means::There).collect()
}

/// By function and parameter: whether every caller passes an existing object.
pub(crate) fn procedures(of: Of) -> Vec<Vec<bool>> {
    let automaton = of.automaton;
    let is_given = |function: &Function, ty: &Type| function.procedure().is_some() && matches!(ty, Type::Ref(_));
    let params = |function: &Function| function.params.iter().map(|(_, ty)| is_given(function, ty)).collect();
    let mut given: Vec<Vec<bool>> = automaton.functions.iter().map(params).collect();
    loop {
        let before = given.clone();
        let own = automaton.handlers.iter().map(|handler| {
            let own = handler.body.blocks[0].params.first().copied();
            (&handler.body, own.into_iter().collect::<Vec<_>>())
        });
        let functions = automaton.functions.iter().zip(&before);
        let run = functions.map(|(function, given)| (&function.body, given_to(&function.body, given)));
        // What a path's guards establish is not known here.
        let paths = automaton.paths.iter().map(|path| (&path.body, Vec::new()));
        for (body, entry) in own.chain(run).chain(paths) {
            let runs = || body.ops().filter_map(run_by_op).chain(body.attempts().filter_map(tried));
            if runs().next().is_none() {
                continue;
            }
            let means = means(of, body, &entry);
            for (procedure, args) in runs() {
                for (given, arg) in given[procedure.index()].iter_mut().zip(args) {
                    *given &= means[arg.index()] == Means::There;
                }
            }
        }
        if given == before {
            return given;
        }
    }
}

/// The parameters of a body that surely refer to existing objects.
pub(crate) fn given_to(body: &Body, given: &[bool]) -> Vec<Value> {
    let params = body.blocks[0].params.iter().zip(given);
    params.filter(|(_, given)| **given).map(|(param, _)| *param).collect()
}

fn run_by_op(op: &Op) -> Option<(FunctionId, &[Value])> {
    if let OpKind::Run { procedure, args } = &op.kind {
        Some((*procedure, args))
    } else {
        None
    }
}

fn tried(op: &Fallible) -> Option<(FunctionId, &[Value])> {
    if let Fallible::TryRun { procedure, args } = op {
        Some((*procedure, args))
    } else {
        None
    }
}

fn means(of: Of, body: &Body, entry: &[Value]) -> Vec<Means> {
    let mut means = vec![Means::Anything; body.values.len()];
    let is_reference = |value: &Value| matches!(body.values[value.index()].ty, Type::Ref(_));
    // Parameters of joining ways are assumed to exist until a way shows that they need not.
    for block in body.blocks.iter().skip(1) {
        block.params.iter().filter(|param| is_reference(param)).for_each(|param| means[param.index()] = Means::There);
    }
    entry.iter().for_each(|there| means[there.index()] = Means::There);
    loop {
        let before = means.clone();
        for block in &body.blocks {
            for op in &block.ops {
                let Some(result) = op.results.first().filter(|result| is_reference(result)) else { continue };
                if let OpKind::Null { .. } = op.kind {
                    means[result.index()] = Means::ThereOrNobody;
                } else if let OpKind::Unique { class } = op.kind {
                    means[result.index()] = if (of.is_sole)(class) { Means::There } else { Means::Anything };
                }
            }
            for (place, target) in block.terminator.targets().into_iter().enumerate() {
                let params = &body.blocks[target.block.index()].params;
                let (given, own) = params.split_at(params.len().saturating_sub(target.args.len()));
                for (number, param) in given.iter().enumerate() {
                    let is_there =
                        number == 0 && place == 0 && gives_who_is_there(of.automaton, body, &block.terminator);
                    let comes = if is_there { Means::There } else { Means::Anything };
                    means[param.index()] = means[param.index()].min(comes);
                }
                for (param, arg) in own.iter().zip(&target.args) {
                    let comes = match means[arg.index()] {
                        Means::ThereOrNobody if is_not_null(body, block, *arg, place) => Means::There,
                        other => other,
                    };
                    means[param.index()] = means[param.index()].min(comes);
                }
            }
        }
        if means == before {
            return means;
        }
    }
}

/// Whether the first result of the attempt is an existing object.
fn gives_who_is_there(automaton: &Automaton, body: &Body, terminator: &Terminator) -> bool {
    let Terminator::Try { op, .. } = terminator else { return false };
    if let Fallible::Find { object, cell, .. } | Fallible::Remove { object, cell, .. } = op {
        let kind = body.class_of(*object).map(|class| &automaton.cell(class, *cell).kind);
        return matches!(kind, Some(CellKind::Map { by, .. }) if !by.is_empty());
    }
    matches!(op, Fallible::New { .. } | Fallible::First { .. } | Fallible::Next { .. })
}

/// Whether a value was compared with null, and is not null on the way to this target.
fn is_not_null(body: &Body, block: &Block, value: Value, target: usize) -> bool {
    let Terminator::Branch { condition, .. } = &block.terminator else { return false };
    let made = |value: Value| body.ops().find(|op| op.results.first() == Some(&value)).map(|op| &op.kind);
    let is_null = |value: Value| matches!(made(value), Some(OpKind::Null { .. }));
    let Some(OpKind::Compare { op, a, b }) = made(*condition) else { return false };
    let is_compared = *a == value && is_null(*b) || *b == value && is_null(*a);
    is_compared && matches!((op, target), (Compare::Ne, 0) | (Compare::Eq, 1))
}
