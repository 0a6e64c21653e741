//! Locals and state that are called as values of the language: where such a name stands, it would silently mean something else.

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;

/// Values of the language that are named without anything behind them.
const VALUES: [&str; 2] = ["now", "random"];

/// The neighbours of a layer: a parameter may be called so, as a field of a header is; state never is what is meant.
const NEIGHBOURS: [&str; 2] = ["below", "above"];

/// The code and the state of all layers, and the functions of files.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let of_files = program.functions.iter().flat_map(|function| &function.locals);
    let of_layers = program.layers.iter().flat_map(|layer| {
        let handlers = layer.handlers.iter().flat_map(|handler| &handler.locals);
        handlers.chain(layer.functions.iter().flat_map(|function| &function.locals))
    });
    for local in of_files.chain(of_layers) {
        report(&local.name, "a local", out);
    }
    for layer in &program.layers {
        let scopes = layer.scopes.iter().flat_map(|scope| &scope.members);
        for member in scopes.chain(layer.objects.iter().flat_map(|class| &class.members)) {
            report(&member.name, "state", out);
            neighbour(&member.name, out);
        }
    }
}

fn neighbour(name: &Name, out: &mut Vec<Diagnostic>) {
    hides(&NEIGHBOURS, name, || "the neighbour: state of this name would never be meant".to_string(), out);
}

fn report(name: &Name, kind: &str, out: &mut Vec<Diagnostic>) {
    hides(&VALUES, name, || format!("part of the language: {kind} of this name hides it"), out);
}

/// A report of a name that is one of these words, and what that word is.
fn hides(words: &[&str], name: &Name, what: impl Fn() -> String, out: &mut Vec<Diagnostic>) {
    if words.contains(&name.text.as_str()) {
        let text = format!("`{}` is {}", name.text, what());
        let diagnostic = Diagnostic::error(codes::HIDES_BUILT_IN, text).at(name.span, "built in");
        out.push(diagnostic.help("give it another name"));
    }
}
