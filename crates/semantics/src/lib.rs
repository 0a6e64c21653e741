//! Names, types, shapes, linearity: from the tree to the typed program.
//!
//! Invariant: if [`analyse`] reports no error, who reads the program may rely on all that `docs/language.md` promises
//! without checking again. Nothing here touches a file: modules come through a [`load::Loader`].

pub mod check;
pub mod codes;
pub mod constants;
pub mod load;
pub mod program;
mod resolve;
pub mod suggest;
mod tree;
pub mod types;
pub mod visit;

use mokume_base::{Diagnostic, FileId, Severity, SourceMap, Span};

pub use load::{load, Loaded, Loader};
use program::Program;

/// The typed program of loaded files, and all that is wrong with them (of `use` and of the parser too), by place.
pub fn analyse(loaded: &Loaded) -> (Program, Vec<Diagnostic>) {
    let (program, mut diagnostics) = resolve::resolve(loaded);
    check::calls::check(&program, &mut diagnostics);
    for bundle in &program.bundles {
        if let Some(wire) = bundle.wire.and_then(|wire| program.wires.get(wire.index())) {
            check::wires::check(&program, bundle, wire, &mut diagnostics);
        }
    }
    check::stacks::check(&program, &mut diagnostics);
    diagnostics.extend(loaded.diagnostics.iter().cloned());
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        // What is unused or unreached may be so only because of an error.
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    } else {
        check::usage::check(&program, &mut diagnostics);
    }
    diagnostics.sort_by_key(place);
    diagnostics.dedup();
    (program, diagnostics)
}

/// Loads and analyses files that the source map already has.
pub fn analyse_files(sources: &mut SourceMap, roots: &[FileId], loader: &mut dyn Loader) -> (Program, Vec<Diagnostic>) {
    analyse(&load(sources, roots, loader))
}

fn place(diagnostic: &Diagnostic) -> Option<(FileId, u32, u32)> {
    diagnostic.primary.as_ref().map(|label| {
        let Span { file, start, end } = label.span;
        (file, start, end)
    })
}
