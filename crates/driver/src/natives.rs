//! Functions in C: their files are found beside those that declare them, compiled, and loaded for the interpreter.

use std::path::PathBuf;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::{Code, Diagnostic, SourceMap};
use mokume_emit_c::{Build, Loaded};
use mokume_reaction::{Automaton, Natives};
use mokume_semantics::load::Loader;
use mokume_semantics::program::Program;

use crate::library::Library;
use crate::machines;

/// The C files of a program, name and text each, and the libraries that they need.
#[derive(Clone, Default, Debug)]
pub struct Files {
    /// With the functions that are declared to be in each.
    files: Vec<(String, String, Vec<String>)>,
    libraries: Vec<(String, String)>,
    cache: PathBuf,
}

impl Files {
    /// A build with the C files of what these automata call.
    pub fn with(&self, automata: &[&Automaton], mut build: Build) -> Build {
        let called: Vec<String> = automata
            .iter()
            .flat_map(|automaton| mokume_emit_c::signatures(automaton))
            .map(|signature| signature.symbol)
            .collect();
        for (name, text, symbols) in &self.files {
            let known = build.natives.iter().any(|(known, _)| known == name);
            if !known && symbols.iter().any(|symbol| called.contains(symbol)) {
                build.natives.push((name.clone(), text.clone()));
            }
        }
        for (symbol, library) in &self.libraries {
            if called.contains(symbol) && !build.libraries.contains(library) {
                build.libraries.push(library.clone());
            }
        }
        build
    }
}

const MISSING: Code = Code("M0342");

/// The files of all functions in C.
pub fn files(
    program: &Program,
    sources: &SourceMap,
    library: &mut Library,
    world: &dyn World,
    diagnostics: &mut Vec<Diagnostic>,
) -> Files {
    let mut found = Files { cache: machines::cache(world), ..Files::default() };
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
pub fn load(automaton: &Automaton, files: &Files) -> Result<Option<Arc<dyn Natives>>, Diagnostic> {
    let build = files.with(&[automaton], Build::new(files.cache.clone()));
    match Loaded::build(automaton, &build) {
        Ok(None) => Ok(None),
        Ok(Some(loaded)) => Ok(Some(Arc::new(loaded))),
        Err(error) => {
            Err(Diagnostic::warning(MISSING, "functions in C run by their models: they cannot be compiled here")
                .note(error.to_string())
                .help("install a C compiler and the libraries that they `link`; `scripts/setup test` does"))
        }
    }
}

/// The codes of this crate.
pub const CODES: &[Code] = &[MISSING];
