//! Which handlers of a class with one object never get an event for null.
//!
//! It must keep: every event of such a handler comes from a port, or is for a reference that cannot be null.

use mokume_analyse::Flow;
use mokume_reaction::*;

/// By handler.
pub(crate) fn handlers(automaton: &Automaton) -> Vec<bool> {
    let mut sure = vec![true; automaton.handlers.len()];
    let handlers = automaton.handlers.iter().map(|handler| (&handler.body, true));
    for (body, is_handler) in handlers.chain(automaton.functions.iter().map(|function| (&function.body, false))) {
        let means_one = references(automaton, body, is_handler);
        let never_null = |target: Addressee| matches!(target, Addressee::Object(object) if means_one[object.index()]);
        for emission in body.ops().filter_map(|op| op.kind.emission()).chain(body.put_off()) {
            let Emission::Event { target, event, .. } = emission else { continue };
            let class = automaton.class_for(body, target);
            let handler = class.and_then(|class| automaton.handler_of(class, &Trigger::Event(event.to_string())));
            if let Some(handler) = handler.filter(|_| !never_null(target)) {
                sure[handler.index()] = false;
            }
        }
    }
    sure
}

/// By value: whether it is a reference that cannot be null.
fn references(automaton: &Automaton, body: &Body, is_handler: bool) -> Vec<bool> {
    let mut found = vec![false; body.values.len()];
    if let Some(own) = body.blocks[0].params.first().filter(|_| is_handler) {
        found[own.index()] = true;
    }
    let flow = Flow::new(body);
    for block in &body.blocks {
        for op in &block.ops {
            if let (OpKind::Unique { class }, [result, ..]) = (&op.kind, &op.results[..]) {
                found[result.index()] = automaton.is_unique(*class);
            }
        }
        for target in block.terminator.targets() {
            let params = &body.blocks[target.block.index()].params;
            let own = &params[params.len().saturating_sub(target.args.len())..];
            if flow.edges_into(target.block) == 1 && target.block.index() != 0 {
                own.iter().zip(&target.args).for_each(|(param, arg)| found[param.index()] = found[arg.index()]);
            }
        }
    }
    found
}
