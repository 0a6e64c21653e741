//! Stacks as a whole: which layer is over which, what each needs of those below and beside it, and whether that exists.
//!
//! Only here are all neighbours of a layer known. Keeps: a report is at the stack's line, with a label at the layer's
//! demand, so that both sides of the boundary are shown.

mod arguments;
mod asked;
pub(crate) mod context;
mod events;
mod flow_parts;
pub(crate) mod idle_events;
mod left_out;
mod neighbours;
mod offers;
mod openings;
mod reads;
mod services;
mod several;
mod sizes;
mod unending;
mod unheard;
mod untold;

use mokume_base::Diagnostic;

use crate::check::descents;
use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::{codes, lost};

pub use super::ports::handles;

/// Checks the order of shapes in bundles, what layers ask of their parameters, then each stack.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for bundle in &program.bundles {
        bundle_shapes(program, bundle, out);
    }
    asked::declared(program, out);
    for stack in &program.stacks {
        let mut check = StackCheck { program, stack, layers: Vec::new(), out: &mut *out };
        check.layers = stack.instances.iter().map(|instance| program.layers_of(&instance.of)).collect();
        run(&mut check);
    }
}

/// An endpoint is on top of its bundle.
fn bundle_shapes(program: &Program, bundle: &Bundle, out: &mut Vec<Diagnostic>) {
    for part in bundle.parts.iter().skip(1) {
        let Some(top) = program.layers_of(part).first().copied() else { continue };
        if top.shape == Shape::Endpoint {
            let text = format!("`{}` is an endpoint, so nothing can stand on it", top.name.text);
            out.push(
                Diagnostic::error(codes::SHAPE_ORDER, text)
                    .at(part.span, "it has layers above it here")
                    .label(top.name.span, "an endpoint has nothing above")
                    .help("an endpoint comes first in a bundle, or stands alone in the stack"),
            );
        }
    }
}

fn run(check: &mut StackCheck) {
    if neighbours::cycles(check) {
        return;
    }
    neighbours::on_one(check);
    neighbours::crowds(check);
    // A failed argument would decide what the layer reads: `Tcp(checksum: false)`.
    let refused: Vec<bool> = check.stack.instances.iter().map(|instance| check.is_refused(instance)).collect();
    for (index, refused) in refused.into_iter().enumerate() {
        services::check(check, index);
        sizes::check(check, index);
        arguments::check(check, index);
        asked::check(check, index);
        several::check(check, index);
        unheard::beside_bound(check, index);
        for descent in descents::all(check.stack, index) {
            let before = check.out.len();
            if !refused {
                reads::check(check, &descent);
            }
            reads::exported(check, &descent);
            flow_parts::check(check, &descent);
            left_out::check(check, &descent);
            openings::check(check, &descent);
            offers::check(check, &descent);
            unheard::check(check, &descent);
            unending::check(check, &descent);
            untold::check(check, &descent);
            events::sinking(check, &descent);
            events::climbing(check, &descent);
            // What is wrong on each of several descents is reported once.
            let new = check.out.split_off(before);
            new.into_iter().for_each(|diagnostic| {
                let diagnostic = of_what_is_below(check, index, diagnostic);
                if !check.out.contains(&diagnostic) {
                    check.out.push(diagnostic);
                }
            });
        }
    }
}

/// Marks a report of a missing thing as a consequence if a layer below lacks something itself, as that one is in the
/// wrong place.
fn of_what_is_below(check: &StackCheck, index: usize, found: Diagnostic) -> Diagnostic {
    let (stack, instances) = (check.stack, &check.stack.instances);
    let is_misplaced = matches!(found.code, codes::NOT_PUBLISHED | codes::NO_FLOW_PART);
    if !is_misplaced && found.code != codes::WITH_WHOM {
        return found;
    }
    let own = found.needs(lost::below(stack, &instances[index].name));
    let above = instances.iter().enumerate().filter(|(at, _)| *at != index && stands_on(stack, *at, index));
    above.filter(|_| is_misplaced).fold(own, |found, (_, above)| found.loses(lost::below(stack, &above.name)))
}

/// Whether a layer of a stack is over another, directly or not.
fn stands_on(stack: &Stack, above: usize, below: usize) -> bool {
    descents::all(stack, above).iter().any(|descent| descent.instances().iter().skip(1).any(|at| *at == below))
}
