//! Outputs of devices that may leave in two parts: the octets that paths put in front, and octets that were handed in.

use mokume_reaction::*;

use super::signature::differing;
use crate::plan::Plan;

/// The name of the function that takes an output in two parts; it differs from all outputs' names. `None` if the output
/// is not a device's, or does not have exactly one message. The function exists at every level, so that programs need
/// not change.
pub(super) fn name(plan: &Plan, (port, event): (PortId, u32)) -> Option<String> {
    let device = &plan.automaton.ports[port.index()];
    let messages = device.outputs[event as usize].params.iter().filter(|(_, ty)| *ty == Type::Msg).count();
    if device.kind != PortKind::Device || messages != 1 {
        return None;
    }
    let name = format!("{}_parts", plan.names.outputs[port.index()][event as usize]);
    Some(differing(name, &plan.names.outputs))
}

/// The names of all these functions, with their outputs.
pub(super) fn all<'a>(plan: &Plan<'a>) -> Vec<(String, &'a PortOutput)> {
    let ports = plan.automaton.ports.iter().enumerate();
    let outputs =
        ports.flat_map(|(p, port)| port.outputs.iter().enumerate().map(move |(event, output)| (p, event, output)));
    outputs.filter_map(|(p, event, output)| Some((name(plan, (p.into(), event as u32))?, output))).collect()
}
