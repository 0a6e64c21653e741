//! Events through a stack reach a layer that handles them, on their way down or up.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::check::descents::Descent;
use crate::check::ports;
use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, lost, suggest};

/// An event that goes down must reach a layer that handles it before the device.
pub(super) fn sinking(check: &mut StackCheck, descent: &Descent) {
    let (index, chain) = (descent.index(), descent.instances());
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let inside = check.layers[index][at + 1..].iter().copied();
        let below: Vec<&Layer> =
            inside.chain(chain[1..].iter().flat_map(|at| check.layers[*at].iter().copied())).collect();
        let mut seen = BTreeSet::new();
        visit::walk_layer(layer, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down: true, .. }), .. }) = met else {
                return;
            };
            let handled = ports::is_optional(check.program, layer, &name.text)
                || below.iter().any(|layer| ports::handles(layer, &name.text, Origin::Above));
            if !handled && seen.insert(name.text.as_str()) {
                let text = format!("nobody below `{}` handles `{}`", layer.name.text, name.text);
                let mut diagnostic = Diagnostic::error(codes::NO_HANDLER, text)
                    .at(check.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
                    .label(name.span, "emitted here")
                    .note("an event that nobody handles would end at the device, which does not know it");
                if let Some(near) = suggest::nearest(&name.text, handled_by(&below, Origin::Above)) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                } else {
                    let mut heard = handled_by(&below, Origin::Above);
                    heard.sort_unstable();
                    heard.dedup();
                    if !heard.is_empty() {
                        diagnostic = diagnostic.help(format!("those below hear {}", suggest::list(&heard)));
                    }
                }
                let help = format!("put a layer below that says `on {}(…)`", name.text);
                found.push(diagnostic.help(help).needs(lost::vocabularies(&layer.name)));
            }
        });
    }
    check.out.extend(found);
}

/// An event that goes up must reach a layer that handles it before the application.
pub(super) fn climbing(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let name = &check.stack.instances[index].name;
    let Some(export) = check.stack.exports.iter().find(|export| export.text == name.text) else { return };
    let layers: Vec<&Layer> = descent.steps.iter().flat_map(|(at, _)| check.layers[*at].iter().copied()).collect();
    let mut found = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let mut seen = BTreeSet::new();
        visit::walk_layer(layer, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down: false, .. }), .. }) = met else {
                return;
            };
            let to_port = ports::speaks(check.program, layer, &name.text)
                && layers[..at]
                    .iter()
                    .all(|above| ports::lets_through(check.program, above, &name.text, Origin::Below));
            let said = to_port
                || ports::is_optional(check.program, layer, &name.text)
                || matches!(name.text.as_str(), "opened" | "accepted" | "grant_sends");
            let handled = layers[..at].iter().any(|above| ports::handles(above, &name.text, Origin::Below));
            if !said && !handled && seen.insert(name.text.as_str()) {
                let text = format!("nobody above `{}` handles `{}`", layer.name.text, name.text);
                let mut diagnostic = Diagnostic::error(codes::NO_HANDLER, text)
                    .at(export.span, "it comes to this application")
                    .label(name.span, "emitted here")
                    .note("an application has the events of the language, and of vocabularies that the layer speaks");
                let near = suggest::nearest(&name.text, handled_by(&layers[..at], Origin::Below));
                diagnostic = diagnostic.help(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => match check.program.vocabularies.iter().find(|known| known.event(&name.text).is_some()) {
                        Some(known) if !ports::speaks(check.program, layer, &name.text) => {
                            format!("let the layer say `speaks {}`, of which the event is", known.name.text)
                        }
                        _ => format!("put a layer above that says `on {}(…) from below`", name.text),
                    },
                });
                // A layer that does not declare what it speaks is reported for that.
                let events = check.program.vocabularies.iter().filter(|known| known.event(&name.text).is_some());
                diagnostic.needs.extend(
                    events.map(|known| lost::within(layer.name.span, &format!("what goes up by {}", known.name.text))),
                );
                found.push(diagnostic.needs(lost::vocabularies(&layer.name)));
            }
        });
    }
    check.out.extend(found);
}

/// The layers' own events from that side that at least one of these layers handles.
fn handled_by<'a>(layers: &[&'a Layer], wanted: Origin) -> Vec<&'a str> {
    let handlers = layers.iter().flat_map(|layer| &layer.handlers);
    let own = handlers.filter_map(|handler| match &handler.event {
        Event::Custom { name, from, .. } if *from == wanted => Some(name.text.as_str()),
        _ => None,
    });
    own.collect()
}
