//! Random walks. The explorer and the interpreter take each step; outputs, reports and every cell must agree.

use std::ops::ControlFlow;
use std::sync::Arc;

use mokume_base::Random;
use mokume_interpret::{CellView, Instance};
use mokume_reaction::{Automaton, CellId, ClassId, Datum, Handle, Outcome, Type};

use super::{model, world};
use crate::host::{Content, Host, Tables};
use crate::layout::{Layout, State};
use crate::locals::{LocalEvent, Locals};
use crate::moves::{each_move, Move};
use crate::program::Program;
use crate::react::{Arg, Effect};
use crate::search::first_state;
use crate::trace::retell;
use crate::{Replay, World};

/// Walks this many steps, and returns how many differed.
fn walk(
    explored: &Automaton,
    interpreted: &Automaton,
    world: &World,
    seed: u64,
    steps: usize,
) -> Result<usize, String> {
    let mut locals = Locals::new(Program::new(Arc::new(explored.clone()), world).map_err(|unfit| unfit.0)?);
    let beginning = locals.begin().map_err(|unfit| unfit.0)?;
    let mut layout = Layout::new(world.hosts);
    layout.grow(1 << 20, 1 << 20);
    let mut replay = Replay::new(interpreted, world).map_err(|unfit| unfit.0)?;
    let mut state = first_state(&layout, &mut locals, &beginning);
    let mut random = Random::new(seed);
    for number in 0..steps {
        let mut choices: Vec<(Move, State)> = Vec::new();
        let _ = each_move(&mut locals, &layout, layout.pack::<u128>(&state), &mut |step, next, _| {
            choices.push((step, layout.unpack(next)));
            ControlFlow::<()>::Continue(())
        });
        if choices.is_empty() {
            return Ok(number);
        }
        let (step, next) = choices.swap_remove(random.place(choices.len()));
        let told = retell(&mut locals, &layout, &[(state.clone(), step)], "");
        let outcome = replay.step(&told.steps[0]).map_err(|unfit| unfit.0)?;
        if let (Some(outcome), Some((host, event))) = (outcome, concerned(&locals, &layout, &state, step)) {
            let before = locals.host(state.hosts[host]);
            let input = locals.input(&before, event);
            let (after, effect, _) = locals.step(before, &input);
            let at = |what: &str| format!("seed {seed}, step {number}, {}: {what}", told.steps[0]);
            same_outcome(&effect, &outcome).map_err(|what| at(&what))?;
            same_cells(&locals.program, &locals.tables, &after, &replay.machines[host]).map_err(|what| at(&what))?;
        }
        state = next;
    }
    Ok(steps)
}

fn concerned(locals: &Locals, layout: &Layout, state: &State, step: Move) -> Option<(usize, LocalEvent)> {
    match step {
        Move::Host { host, event } => Some((host, event)),
        Move::Deliver { channel, place, .. } => {
            let packet = locals.channels.takes(state.channels[channel])[place].packet;
            Some((layout.endpoints[channel].1, LocalEvent::Packet(packet)))
        }
        Move::Lose { .. } => None,
    }
}

pub fn same_outcome(effect: &Effect, outcome: &Outcome) -> Result<(), String> {
    let datum = |arg: &Arg| match arg {
        Arg::Word(word) => Datum::Word(*word),
        Arg::Message(octets) => Datum::Message(octets.clone()),
        // Objects are numbered differently.
        Arg::Object(_) => Datum::Handle(Handle::NULL),
    };
    let ours: Vec<_> =
        effect.outs.iter().map(|out| (out.port, out.event, out.args.iter().map(datum).collect::<Vec<_>>())).collect();
    let blind = |datum: &Datum| match datum {
        Datum::Handle(_) => Datum::Handle(Handle::NULL),
        other => other.clone(),
    };
    let theirs: Vec<_> = outcome
        .outputs
        .iter()
        .map(|output| (output.port, output.event, output.args.iter().map(blind).collect::<Vec<_>>()))
        .collect();
    let reports: Vec<_> = outcome.reports.iter().map(|(report, _)| *report).collect();
    if (&ours, &effect.reports, effect.refused) == (&theirs, &reports, outcome.refused) {
        return Ok(());
    }
    Err(format!("{ours:?} {:?} here, {theirs:?} {reports:?} there", effect.reports))
}

pub fn same_cells(program: &Program, tables: &Tables, host: &Host, machine: &Instance) -> Result<(), String> {
    for (class, objects) in host.objects.iter().enumerate() {
        let theirs = machine.objects(ClassId::from(class));
        if theirs.len() != objects.len() {
            return Err(format!("{} objects of class {class} here, {} there", objects.len(), theirs.len()));
        }
        for (object, handle) in objects.iter().zip(theirs) {
            for (cell, content) in object.cells.iter().enumerate() {
                let view = machine.cell(ClassId::from(class), handle, CellId::from(cell));
                // Objects are numbered differently here, so references are compared by what they lead to.
                let is_reference = |ty: &Type| matches!(ty, Type::Ref(_));
                let known = match (&program.automaton.classes[class].cells[cell].kind, content, &view) {
                    (mokume_reaction::CellKind::Scalar { ty, .. }, _, _) => is_reference(ty),
                    (mokume_reaction::CellKind::Map { value, .. }, Content::Map(ours), Some(CellView::Map(theirs))) => {
                        value.iter().any(is_reference) && ours.keys().eq(theirs.iter().map(|(key, _)| key))
                    }
                    _ => false,
                };
                if !known && !view.as_ref().is_some_and(|view| same(tables, content, view)) {
                    return Err(format!("cell {cell} of class {class}: {content:?} here, {view:?} there"));
                }
            }
        }
    }
    Ok(())
}

fn same(tables: &Tables, content: &Content, view: &CellView) -> bool {
    match (content, view) {
        (Content::Word(ours), CellView::Word(theirs)) => ours == theirs,
        (Content::Array(ours), CellView::Array(theirs)) => ours == theirs,
        (Content::Timer(armed), CellView::Timer(deadline)) => *armed == deadline.is_some(),
        (Content::Quota(ours), CellView::Quota { left, .. }) => ours == left,
        (Content::Messages(ours), CellView::Messages(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| {
                    let ours = ours.map(|number| tables.kept.get(number));
                    ours.map(|message| (&message.headers, &message.octets, &message.attributes))
                        == theirs.map(|message| (&message.headers, &message.octets, &message.attributes))
                })
        }
        (Content::Map(ours), CellView::Map(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|((k, v), (key, value))| k == key && v == value)
        }
        (Content::Nothing, CellView::Counter(_)) => true,
        _ => false,
    }
}

#[test]
fn random_walks_agree_with_the_interpreter() {
    for seed in 0..40 {
        for reorders in [false, true] {
            let mut world = world(6, 6);
            world.network.reorders = reorders;
            walk(&model(), &model(), &world, seed, 300).unwrap_or_else(|difference| panic!("{difference}"));
        }
    }
}

#[test]
fn a_difference_of_one_operation_is_noticed() {
    let text = mokume_reaction::text::print(&model());
    let changed = text.replacen("add.wrap expected, 1", "add.wrap expected, 0", 1);
    assert_ne!(text, changed);
    let mut sources = mokume_base::SourceMap::default();
    let other = mokume_reaction::text::parse(sources.add("changed", changed.clone()), &changed).automaton;
    let noticed = (0..5).filter(|seed| walk(&model(), &other, &world(6, 6), *seed, 300).is_err()).count();
    assert_eq!(noticed, 5);
}
