//! Functions in C: their files are found beside those that declare them, compiled, and loaded for the interpreter.

use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::{Code, Diagnostic, SourceMap};
use mokume_emit_c::{Build, Loaded};
use mokume_reaction::{Automaton, Natives};
use mokume_semantics::load::Loader;
use mokume_semantics::program::Program;

use crate::cache;
use crate::library::Library;

/// The C files of a program, name and text each, and the libraries that they need.
#[derive(Clone, Default, Debug)]
pub struct Files {
    /// With the functions that are declared to be in each.
    files: Vec<(String, String, Vec<String>)>,
    libraries: Vec<(String, String)>,
}

impl Files {
    /// A build with the C files of what these automata call.
    pub fn with<'w>(&self, automata: &[&Automaton], mut build: Build<'w>) -> Build<'w> {
        let symbols = called(automata);
        for (name, text) in self.texts(&symbols) {
            if !build.natives.iter().any(|(known, _)| *known == name) {
                build.natives.push((name, text));
            }
        }
        for (symbol, library) in &self.libraries {
            if symbols.contains(symbol) && !build.libraries.contains(library) {
                build.libraries.push(library.clone());
            }
        }
        build
    }

    /// The C files of what an automaton calls, name and text each.
    pub fn of(&self, automaton: &Automaton) -> Vec<(String, String)> {
        self.texts(&called(&[automaton]))
    }

    fn texts(&self, called: &[String]) -> Vec<(String, String)> {
        let wanted = self.files.iter().filter(|(_, _, symbols)| symbols.iter().any(|symbol| called.contains(symbol)));
        wanted.map(|(name, text, _)| (name.clone(), text.clone())).collect()
    }
}

/// The functions in C that automata call.
fn called(automata: &[&Automaton]) -> Vec<String> {
    let signatures = automata.iter().flat_map(|automaton| mokume_emit_c::signatures(automaton));
    signatures.map(|signature| signature.symbol).collect()
}

const MISSING: Code = Code("M0342");

/// The files of all functions in C.
pub fn files(
    program: &Program,
    sources: &SourceMap,
    library: &mut Library,
    diagnostics: &mut Vec<Diagnostic>,
) -> Files {
    let mut found = Files::default();
    for function in &program.functions {
        let Some(native) = function.native.as_ref().filter(|native| !native.file.is_empty()) else { continue };
        let span = function.name.span;
        let from = sources.file(span.file).name.clone();
        let Some((name, text)) = library.file(&from, &native.file) else {
            let message = format!("there is no file `{}` beside this one", native.file);
            let help = "it is named relative to the file that declares the function";
            diagnostics.push(Diagnostic::error(MISSING, message).at(span, "is to be in it").help(help));
            continue;
        };
        let name = name.replace(['/', '\\'], "_");
        let symbol = function.name.text.clone();
        match found.files.iter_mut().find(|(known, _, _)| *known == name) {
            Some((_, _, symbols)) => symbols.push(symbol.clone()),
            None => found.files.push((name, text, vec![symbol.clone()])),
        }
        found.libraries.extend(native.libraries.iter().map(|library| (symbol.clone(), library.clone())));
    }
    found
}

/// The functions in C that an automaton calls, compiled and loaded; a warning if that cannot be done here.
pub fn load(
    automaton: &Automaton,
    files: &Files,
    world: &dyn World,
) -> Result<Option<Arc<dyn Natives>>, Box<Diagnostic>> {
    let build = files.with(&[automaton], Build::new(world, cache::folder(world)));
    match Loaded::build(automaton, &build) {
        Ok(None) => Ok(None),
        Ok(Some(loaded)) => Ok(Some(Arc::new(loaded))),
        Err(error) => {
            let warning =
                Diagnostic::warning(MISSING, "functions in C run by their models: they cannot be compiled here")
                    .note(error.to_string())
                    .help("install a C compiler and the libraries that they `link`; `scripts/setup test` does");
            Err(Box::new(warning))
        }
    }
}

/// The codes of this crate.
pub const CODES: &[Code] = &[MISSING];
