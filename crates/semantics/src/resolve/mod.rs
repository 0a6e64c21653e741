//! From the tree to the typed program: names, types, shapes.
//!
//! Two passes: first the name and interface of every item (so that order in files does not matter), then the bodies.
//! Keeps: a mistake in one item never hides those of the next; what could not be resolved has the type `Unknown`, which
//! fits everything.
//!
//! A room for each kind of thing that is resolved, from the bottom up; each uses only those before it in this list:
//! [`context`] (the state of the whole resolution), [`body`] (one body), [`expr`] (values), [`emit`] (emissions),
//! [`stmt`] (statements), [`items`] (types, functions, signatures), [`wire`] (layouts of packets), [`layer`]
//! (declarations, handlers, scopes), [`bundle`] (layers put together, and definitions applied to functions, layers and
//! containers), [`stack`] (instances over devices), [`mod@test`] (tests and networks).

mod body;
mod bundle;
mod context;
mod emit;
mod expr;
mod items;
mod layer;
mod reasons;
mod stack;
mod stmt;
mod test;
mod wire;

use mokume_base::Diagnostic;

use crate::load::Loaded;
use crate::program::Program;
use context::{Context, Trees};

/// Resolves all files. The checks that need the whole program come later.
pub(crate) fn resolve(loaded: &Loaded) -> (Program, Vec<Diagnostic>) {
    let mut cx = Context::new(loaded);
    let mut trees = Trees::default();
    for (file, parse) in &loaded.files {
        for item in parse.file().items() {
            items::declare(&mut cx, &mut trees, *file, item);
        }
    }
    cx.trees = std::rc::Rc::new(trees);
    items::resolve(&mut cx);
    items::signatures::resolve(&mut cx);
    layer::declare(&mut cx);
    // Before the functions, which may read a quote by a wire.
    wire::wires(&mut cx);
    items::functions::bodies(&mut cx);
    layer::bodies(&mut cx);
    bundle::bundles(&mut cx);
    stack::stacks(&mut cx);
    test::tests(&mut cx);
    let clashes = cx.names.clashes(loaded);
    cx.out.extend(clashes);
    reasons::mention(&cx);
    cx.program.mentions = cx.take_mentions();
    (cx.program, cx.out)
}
