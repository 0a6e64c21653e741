//! Tests and networks: stacks with their settings, ports, handles, values.
//!
//! May assume: stacks. Keeps: ports and values by name only, as ports are known only after lowering.

mod network;
mod one;
mod packets;
mod stack_use;
mod steps;
mod suites;

use std::collections::BTreeMap;

use mokume_base::{FileId, Span};

use crate::resolve::context::Context;

/// Resolves all tests, then all networks.
pub fn tests(cx: &mut Context) {
    let trees = cx.trees.clone();
    let mut named: BTreeMap<(FileId, String), Span> = BTreeMap::new();
    for (file, item) in &trees.tests {
        one::once_each(cx, &mut named, *file, item);
        if let Some(test) = one::read(cx, *file, item, &[]) {
            cx.program.tests.push(test);
        }
    }
    suites::read(cx);
    for (file, item) in &trees.networks {
        let network = network::read(cx, *file, item);
        cx.program.networks.push(network);
    }
}
