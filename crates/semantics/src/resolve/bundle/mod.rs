//! Bundles: layers stacked on each other, the wire that carries their headers, and definitions with parameters that are
//! not values.
//!
//! May assume: layers are declared. Keeps: the program's layers and bundles have no such parameters; they are
//! instantiated for their arguments.

pub mod apply;
mod fitting;
pub mod sizes;

use crate::program::*;
use crate::resolve::bundle::apply::Scene;
use crate::resolve::context::{Context, Given};
use crate::resolve::items::higher::{self, Owner};
use crate::resolve::items::params;
use crate::{lost, tree};

/// Resolves all bundles; first the parameters of each, so that bundles may name each other in any order.
pub fn bundles(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.bundles {
        let (plain, higher) = higher::split(cx, *file, &item.params(), Owner::Bundle);
        let params = params::read(cx, *file, &plain);
        let name = tree::title(*file, item.name());
        cx.program.bundles.push(Bundle {
            name,
            docs: item.doc(),
            params,
            parts: Vec::new(),
            wire: None,
            compressed: item.is_compressed(),
        });
        cx.higher.bundles.push(higher);
    }
    for (index, (file, item)) in trees.bundles.iter().enumerate() {
        let higher = cx.higher.bundles[index].clone();
        let given = Given::standins(&higher);
        let params = cx.program.bundles[index].params.clone();
        let scene = Scene { file: *file, params: &params, devices: &[], given: &given };
        let said = cx.out.len();
        let parts: Vec<Use> = item.layers().iter().filter_map(|part| apply::part_of(cx, part, scene)).collect();
        lost::through(&mut cx.out[said..], &lost::layers(&cx.program.bundles[index].name));
        let wire = tree::some_name(*file, item.wire()).and_then(|name| apply::wire(cx, *file, &name));
        // A definition with parameters that are not values is only a template.
        if higher.is_empty() {
            cx.program.bundles[index].parts = parts;
            cx.program.bundles[index].wire = wire;
        } else {
            higher::unused(cx, &higher, &parts);
        }
    }
    sizes::check(cx, 0);
}
