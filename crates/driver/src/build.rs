//! `mokume build`: the output texts of a compiled stack.

use mokume_emit_c::{emit, Options};
use mokume_reaction::{Automaton, HandlerId};

use crate::compile::Compiled;
use crate::failure::Failure;
use crate::natives::Files;

/// The automaton as text, which [`mokume_reaction::text`] can read.
pub fn automaton(automaton: &Automaton) -> String {
    mokume_reaction::text::print(automaton)
}

/// The generated files, the functions in C that they call, and the runtime files that they need, by name.
pub fn c(compiled: &Compiled) -> Result<Vec<(String, String)>, Failure> {
    c_with(compiled, &[], Style::default())
}

/// What to optimise the C for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aim {
    #[default]
    Time,
    /// Code size: the runtime then uses functions instead of inlined code.
    Size,
}

/// How to write the C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    pub aim: Aim,
    /// Whether each input also has an entry that returns the last output of its call.
    pub returned: bool,
    /// Whether each input also has an entry that takes several calls at once.
    pub batched: bool,
}

/// How to compile the C of [`Aim::Size`] so that it is small: nothing needs what these options leave out.
const SMALL: &str = "Made small (`--size`): compile it by `gcc -Os -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections`, \
                     link it by `-Wl,--gc-sections`.";

/// The same, with a header that lists the paths of these handlers as proved ([`crate::prove::kept`]).
pub fn c_with(compiled: &Compiled, proved: &[HandlerId], style: Style) -> Result<Vec<(String, String)>, Failure> {
    let mut notes = compiled.notes(proved);
    if style.aim == Aim::Size {
        let needed = crate::size::sizes(compiled.for_c()).needed.instance;
        if needed > u64::from(u32::MAX) {
            let message = format!("an instance has {needed} octets, and what is made small has less than 4 GiB");
            return Err(Failure::of_program(message, "make arrays and maps smaller, or leave out `--size`"));
        }
        notes.push(SMALL.to_owned());
    }
    let options = Options { notes, returned: style.returned, batched: style.batched, ..Options::default() };
    let mut files = c_of(compiled.for_c(), &options, &compiled.native_files)?;
    if style.aim == Aim::Size {
        let guard = "#define MK_BASE_H\n";
        for (_, text) in files.iter_mut().filter(|(name, _)| name == "mk_base.h") {
            *text = text.replacen(guard, &format!("{guard}#define MK_SMALL\n"), 1);
        }
    }
    Ok(files)
}

/// The same for the uncomposed layers.
pub fn c_uncomposed(compiled: &Compiled) -> Result<Vec<(String, String)>, Failure> {
    c_of(&compiled.uncomposed, &Options::default(), &compiled.native_files)
}

fn c_of(automaton: &Automaton, options: &Options, natives: &Files) -> Result<Vec<(String, String)>, Failure> {
    let generated = emit(automaton, options)
        .map_err(|error| Failure::of_program(error.to_string(), "split the wire, or use the interpreter"))?;
    let stem = generated.stem.clone();
    let functions = natives.of(automaton, &stem);
    let mut files =
        vec![(format!("{}.h", generated.stem), generated.header), (format!("{}.c", generated.stem), generated.source)];
    files.extend(mokume_emit_c::RUNTIME.iter().map(|(name, text)| (name.to_string(), text.to_string())));
    // Two stacks may be written into one folder.
    let own = |name: &str| mokume_emit_c::file_of(&format!("{stem}-{name}"));
    files.extend(functions.into_iter().map(|(name, text)| (own(&name), text)));
    Ok(files)
}
