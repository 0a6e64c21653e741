//! `mokume build`: texts of a compiled stack.

use mokume_emit_c::{emit, Options};
use mokume_reaction::{Automaton, HandlerId};

use crate::compile::Compiled;
use crate::failure::Failure;
use crate::natives::Files;

/// The automaton as text, which [`mokume_reaction::text`] reads back.
pub fn automaton(automaton: &Automaton) -> String {
    mokume_reaction::text::print(automaton)
}

/// The generated files, the functions in C that they call, and the runtime that they need, by name.
pub fn c(compiled: &Compiled) -> Result<Vec<(String, String)>, Failure> {
    c_with(compiled, &[])
}

/// The same, whose header says that the paths of these handlers are proved ([`crate::prove::kept`]).
pub fn c_with(compiled: &Compiled, proved: &[HandlerId]) -> Result<Vec<(String, String)>, Failure> {
    c_of(compiled.for_c(), &compiled.notes(proved), &compiled.native_files)
}

/// The same of the layers before composing.
pub fn c_uncomposed(compiled: &Compiled) -> Result<Vec<(String, String)>, Failure> {
    c_of(&compiled.uncomposed, &[], &compiled.native_files)
}

fn c_of(automaton: &Automaton, notes: &[String], natives: &Files) -> Result<Vec<(String, String)>, Failure> {
    let options = Options { notes: notes.to_vec(), ..Options::default() };
    let generated = emit(automaton, &options)
        .map_err(|error| Failure::of_program(error.to_string(), "split the wire, or use the interpreter"))?;
    let mut files =
        vec![(format!("{}.h", generated.stem), generated.header), (format!("{}.c", generated.stem), generated.source)];
    files.extend(mokume_emit_c::RUNTIME.iter().map(|(name, text)| (name.to_string(), text.to_string())));
    files.extend(natives.of(automaton).into_iter().map(|(name, text)| (mokume_emit_c::file_of(&name), text)));
    Ok(files)
}
