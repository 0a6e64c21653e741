//! Outputs that leave a path at once: the outputs at its end are handed over in order, unless other outputs are
//! leaving. The program gets the caller's octets, or a frame whose first octets are in a place of the instance.
//!
//! It must keep: all outputs are made before the first is handed over, since the called program may change what they
//! are made of.

use std::collections::BTreeSet;

use mokume_reaction::*;

use super::octets::{is_empty, is_for_c};
use super::writer::Writer;
use crate::plan::Plan;

/// How the messages of an output are given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Form {
    /// Octets where they are.
    Part,
    /// Octets of the path's own.
    Head,
    /// Octets of the path's own, followed by others that are elsewhere.
    Fronted,
    /// A message of the pool, which ends when it has left.
    Whole,
}

/// An output that leaves at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Leaves {
    /// Its port and event.
    pub output: (PortId, u32),
    pub form: Form,
}

pub(super) fn is_out(op: &Op) -> bool {
    matches!(op.kind, OpKind::Out { .. })
}

/// The outputs that leave a path at once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Leaving {
    /// Whether the caller of the path continues after they have left, as for an expired timer or an event put off.
    pub goes_on: bool,
    /// The outputs, in order.
    pub outputs: Vec<Leaves>,
}

impl Leaving {
    /// Whether they may be returned instead: there is one, and its octets live as long as the caller expects.
    pub fn may_return(&self) -> bool {
        !self.goes_on && self.outputs.len() == 1 && self.outputs[0].form != Form::Whole
    }

    /// Whether the octets in front of the one that leaves may be put in front of a message that the block of these operations keeps: it has
    /// the same octets.
    pub fn may_stand_in_kept(&self, ops: &[Op]) -> bool {
        let keeps = |op: &Op| matches!(op.kind, OpKind::Keep { .. });
        matches!(self.outputs[..], [Leaves { form: Form::Fronted, .. }]) && ops.iter().any(keeps)
    }
}

/// The outputs of a block that may leave at once. `None` if other outputs may come before them, as on a path that
/// neither begins a reaction nor is only put off, or if two of them have octets in front of others.
fn leave_at_once(automaton: &Automaton, path: &Path, block: BlockId) -> Option<Leaving> {
    let body = &path.body;
    let puts_out = |op: &Op| is_out(op) || matches!(op.kind, OpKind::Emit { .. });
    let goes_on = |block: &&Block| block.ops.iter().any(puts_out) && !matches!(block.terminator, Terminator::Return);
    let ops = &body.blocks[block.index()].ops;
    let is_last = ops.last().is_some_and(is_out) && !ops.iter().any(|op| puts_out(op) && !is_out(op));
    let is_first = automaton.begins(path.handler) || automaton.is_only_put_off(path.handler);
    if !is_last || !is_first || body.blocks.iter().any(|block| goes_on(&block)) {
        return None;
    }
    let outputs: Vec<Leaves> = ops.iter().filter_map(|op| leaves(body, ops, op)).collect();
    let fronted = outputs.iter().filter(|leaves| leaves.form == Form::Fronted).count();
    (fronted <= 1).then(|| Leaving { goes_on: !automaton.is_at_port(path.handler), outputs })
}

/// An output, and how its message is given. An output with two messages is given where they are.
fn leaves(body: &Body, ops: &[Op], op: &Op) -> Option<Leaves> {
    let OpKind::Out { port, event, args } = &op.kind else { return None };
    let mut messages = args.iter().filter(|arg| body.values[arg.index()].ty == Type::Msg);
    let form = match (messages.next(), messages.next()) {
        (Some(message), None) => {
            in_front(ops, *message).map_or(own(ops, *message), |(_, behind)| match is_empty(ops.iter(), behind) {
                true => Form::Head,
                false => Form::Fronted,
            })
        }
        _ => Form::Part,
    };
    Some(Leaves { output: (*port, *event), form })
}

/// The form of a message that has nothing in front.
fn own(ops: &[Op], message: Value) -> Form {
    let is_held = |op: &Op| matches!(op.kind, OpKind::TakeHeld { .. }) && op.results.contains(&message);
    if ops.iter().any(is_held) {
        Form::Whole
    } else {
        Form::Part
    }
}

/// The octets that the block puts in front of the message, if it does, and the message behind them.
fn in_front(ops: &[Op], message: Value) -> Option<(Value, Value)> {
    let made = &ops.iter().find(|op| op.results.contains(&message))?.kind;
    if let OpKind::Store { message, .. } = made {
        return in_front(ops, *message);
    }
    let OpKind::Front { message: behind, octets } = made else { return None };
    if octets.is_empty() {
        in_front(ops, *behind)
    } else {
        Some((message, *behind))
    }
}

/// The outputs that leave paths at once, each list with the operations of its block.
fn each_leaves_at_once(automaton: &Automaton) -> impl Iterator<Item = (Leaving, &[Op])> {
    let paths = automaton.paths.iter().filter(|path| is_for_c(path));
    let blocks = paths.flat_map(|path| path.body.blocks.iter().enumerate().map(move |block| (path, block)));
    blocks.filter_map(|(path, (at, block))| Some((leave_at_once(automaton, path, BlockId::from(at))?, &block.ops[..])))
}

/// All lists of outputs that leave paths at once.
pub(crate) fn all_leave_at_once(automaton: &Automaton) -> BTreeSet<Leaving> {
    each_leaves_at_once(automaton).map(|(leaving, _)| leaving).collect()
}

/// The name of the function that hands over such outputs; it encodes the outputs and the forms of their messages.
pub(crate) fn give_name(plan: &Plan, leaving: &Leaving) -> String {
    let one = |leaves: &Leaves| {
        let (port, event) = leaves.output;
        let form = match leaves.form {
            Form::Part => "",
            Form::Head => "_head",
            Form::Fronted => "_fronted",
            Form::Whole => "_whole",
        };
        format!("_{}{form}", plan.names.outputs[port.index()][event as usize])
    };
    let whose = if leaving.goes_on { "give_within" } else { "give" };
    format!("{whose}{}", leaving.outputs.iter().map(one).collect::<String>())
}

/// Those of [`all_leave_at_once`] that may stand in front of a message that is kept.
pub(crate) fn all_in_kept(automaton: &Automaton) -> BTreeSet<Leaving> {
    let in_kept = |(leaving, ops): (Leaving, &[Op])| leaving.may_stand_in_kept(ops).then_some(leaving);
    each_leaves_at_once(automaton).filter_map(in_kept).collect()
}

/// The name of the function that hands over such an output in front of a message that is kept.
pub(crate) fn kept_name(plan: &Plan, leaving: &Leaving) -> String {
    format!("kept_{}", give_name(plan, leaving))
}

/// The parameter of a path for the place of what it returns; NULL if its caller wants nothing returned. No name of a
/// program begins like this.
pub(crate) const LEFT: &str = "mk_left";

/// The declaration of [`LEFT`].
pub(crate) fn left_parameter(plan: &Plan) -> String {
    format!("struct {}_returned *const {LEFT}", plan.names.stack)
}

/// The name of the function that returns such an output, if [`Leaving::may_return`].
pub(crate) fn return_name(plan: &Plan, leaving: &Leaving) -> String {
    format!("return_{}", give_name(plan, leaving))
}

fn octets_in_front(op: &Op) -> usize {
    if let OpKind::Front { octets, .. } = &op.kind {
        octets.len()
    } else {
        0
    }
}

/// The most octets that a path puts in front of messages before they leave.
pub(crate) fn front_octets(automaton: &Automaton) -> usize {
    let blocks = automaton.paths.iter().filter(|path| is_for_c(path)).flat_map(|path| &path.body.blocks);
    blocks.map(|block| block.ops.iter().map(octets_in_front).sum()).max().unwrap_or(0)
}

/// [`leave_at_once`] of a block of the current path.
pub(super) fn leaving(w: &Writer, block: BlockId) -> Option<Leaving> {
    leave_at_once(w.plan.automaton, w.path()?, block)
}

/// Whether the outputs of a block of the current path leave at once.
pub(super) fn is_leaving(w: &Writer, block: BlockId) -> bool {
    leaving(w, block).is_some()
}

/// How far below the end of the instance's place the octets in front of a message begin. Octets with others behind them
/// come last there, as the others are placed after them.
pub(super) fn front_place(w: &Writer, front: Value) -> u64 {
    let ops = &w.body.blocks[w.at_block.index()].ops;
    let fronted = || {
        let mut outs = ops.iter().filter(|op| is_out(op)).zip(leaving(w, w.at_block)?.outputs);
        let op = outs.find(|(_, leaves)| leaves.form == Form::Fronted)?.0;
        op.kind.operands().into_iter().find_map(|value| in_front(ops, value))
    };
    let first = fronted().map(|(front, _)| front);
    let is_behind = |op: &&Op| first.is_some_and(|first| op.results.contains(&first));
    let own = ops.iter().position(|op| op.results.contains(&front)).unwrap_or(0);
    let before = ops[..=own].iter().filter(|op| !is_behind(op)).map(octets_in_front).sum::<usize>();
    let behind = ops.iter().filter(is_behind).map(octets_in_front).sum::<usize>();
    (if first == Some(front) { behind } else { behind + before }) as u64
}

/// Whether a field is within the octets in front, whose number is known.
pub(super) fn is_front(w: &Writer, field: OctetField, at: Value, front: u64) -> bool {
    w.ranges.constant(at).is_some_and(|at| at + u64::from(field.width / 8) <= front)
}

/// Checks that the current block, the last of a path, only reads and changes the octets in front of the message, and
/// then lets it leave or keeps it. Returns for each octet in front whether it is changed; `None` if the check fails.
pub(super) fn stays_in_front(w: &Writer, message: Value, front: &[u8]) -> Option<Vec<bool>> {
    let block = &w.body.blocks[w.at_block.index()];
    matches!(block.terminator, Terminator::Return).then_some(())?;
    let (mut at_hand, mut has_ended, mut changed) = (message, false, vec![false; front.len()]);
    let is_front = |field: &OctetField, at: &Value| is_front(w, *field, *at, front.len() as u64);
    for op in block.ops.iter() {
        if !op.kind.operands().contains(&at_hand) || matches!(op.kind, OpKind::Size { .. }) {
            continue;
        }
        if has_ended {
            return None;
        }
        if let OpKind::Store { field, at, .. } = &op.kind {
            let place = w.ranges.constant(*at).filter(|_| is_front(field, at))? as usize;
            changed[place..place + usize::from(field.width / 8)].fill(true);
            at_hand = op.results[0];
            continue;
        }
        has_ended = matches!(op.kind, OpKind::Keep { .. }) || is_out(op) && is_leaving(w, w.at_block);
        let looks = matches!(&op.kind, OpKind::Load { field, at, .. } if is_front(field, at));
        (has_ended || looks).then_some(())?;
    }
    Some(changed)
}
