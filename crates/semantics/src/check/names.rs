//! Values that are called by words of the language: where such a name stands, it would silently mean something else, or could not be read.

use mokume_base::{Diagnostic, FileId};

use crate::codes;
use crate::program::*;

/// Values of the language that are named without anything behind them.
const VALUES: [&str; 2] = ["now", "random"];

/// The neighbours of a layer. A field of a header may be called so: it is named behind its layer, or in front of a `:`. What is `above` is
/// only sent to, so a local may be called that.
const NEIGHBOURS: [&str; 2] = ["below", "above"];

/// How a report calls what a body binds.
const LOCAL: &str = "a local";

/// Words that values are made of, or that end them (docs/language.md, section 1).
const WORDS: [&str; 16] = [
    "and", "as", "else", "false", "for", "if", "in", "let", "match", "not", "or", "return", "true", "where", "while",
    "_",
];

/// Whether a value of this name could never be named, as the word is read otherwise.
pub fn is_word(name: &str) -> bool {
    WORDS.contains(&name)
}

/// The code and the state of all layers, the functions of files, and parameters.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let of_files = program.functions.iter().flat_map(|function| &function.locals);
    let of_layers = program.layers.iter().flat_map(|layer| {
        let handlers = layer.handlers.iter().flat_map(|handler| &handler.locals);
        handlers.chain(layer.functions.iter().flat_map(|function| &function.locals))
    });
    for local in of_files.chain(of_layers) {
        report(&local.name, LOCAL, out);
    }
    for layer in &program.layers {
        let scopes = layer.scopes.iter().flat_map(|scope| &scope.members);
        for member in scopes.chain(layer.objects.iter().flat_map(|class| &class.members)) {
            report(&member.name, "state", out);
        }
        layer.functions.iter().filter(|function| is_word(&function.name.text)).for_each(|function| {
            report(&function.name, "a function", out);
        });
    }
    let of_layers = program.layers.iter().flat_map(|layer| &layer.params);
    let of_bundles = program.bundles.iter().flat_map(|bundle| &bundle.params);
    let of_stacks = program.stacks.iter().flat_map(|stack| &stack.params);
    for param in of_layers.chain(of_bundles).chain(of_stacks) {
        report(&param.name, "a parameter", out);
    }
}

/// A report of a value that is called as something of the language, which `kind` says.
fn report(name: &Name, kind: &str, out: &mut Vec<Diagnostic>) {
    let text = match name.text.as_str() {
        word if VALUES.contains(&word) => format!("`{word}` is part of the language: {kind} of this name hides it"),
        "above" if kind == LOCAL => return,
        word if NEIGHBOURS.contains(&word) => {
            format!("`{word}` is the neighbour: {kind} of this name would never be meant")
        }
        word if is_word(word) => {
            format!("`{word}` is a word that values are made of: {kind} of this name would never be meant")
        }
        _ => return,
    };
    let diagnostic = Diagnostic::error(codes::HIDES_BUILT_IN, text).at(name.span, "built in");
    out.push(diagnostic.help("give it another name"));
}

/// A word by which something was called: that no value begins with it, where it stands for one, is not another mistake.
pub fn leave_out_uses(diagnostics: &mut Vec<Diagnostic>) {
    let word = |found: &Diagnostic| found.message.split('`').nth(1).unwrap_or_default().to_string();
    let refused = diagnostics.iter().filter(|found| found.code == codes::HIDES_BUILT_IN);
    let refused: Vec<(FileId, String)> =
        refused.filter_map(|found| Some((found.primary.as_ref()?.span.file, word(found)))).collect();
    diagnostics.retain(|found| {
        let Some(place) = found.primary.as_ref().filter(|_| mokume_syntax::CODES.contains(&found.code)) else {
            return true;
        };
        let is_use = |(file, word): &(FileId, String)| {
            *file == place.span.file && found.message.ends_with(&format!("found `{word}`"))
        };
        !refused.iter().any(is_use)
    });
}
