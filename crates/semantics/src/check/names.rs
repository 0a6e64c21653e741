//! Names that are words of the language: such a name would silently mean something else, or could not be read.

use mokume_base::{Diagnostic, FileId};

use crate::codes;
use crate::program::*;

/// Values of the language that are written as a single word.
const VALUES: [&str; 2] = ["now", "random"];

/// The neighbours of a layer. A field of a header may have such a name: it stands behind its layer, or in front of a
/// `:`. Nothing is read from `above`, so a local may have that name.
const NEIGHBOURS: [&str; 2] = ["below", "above"];

/// What reports call a name that a body binds.
const LOCAL: &str = "a local";

/// Words that form or end values (docs/language.md, section 1).
const WORDS: [&str; 16] = [
    "and", "as", "else", "false", "for", "if", "in", "let", "match", "not", "or", "return", "true", "where", "while",
    "_",
];

/// Whether a value of this name could never be named, because the word is read otherwise.
pub fn is_word(name: &str) -> bool {
    WORDS.contains(&name)
}

/// Checks the code and the state of all layers, the functions of files, and parameters.
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

/// Reports a value named like something of the language; `kind` says what the value is.
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

/// Removes reports that no value begins with a word, if something was declared with that word and reported for it.
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
