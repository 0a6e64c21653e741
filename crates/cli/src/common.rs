//! What several commands do: files read and compiled, or told to be wrong; answers written where they are to go.

use std::io::Read;

use mokume_base::world::{RealWorld, World};
use mokume_base::Diagnostic;
use mokume_driver::apart::Streams;
use mokume_driver::compile::{self, Checked, Compiled};
use mokume_driver::machines::Backend;
use mokume_driver::path::Passes;
use mokume_driver::profile::Profile;
use mokume_driver::{natives, Failure};

use crate::apart::Apart;
use crate::arguments::{self, ByProfile, StackChoice};
use crate::print::{counted, Printer};

/// What `-` stands for in messages.
pub const INPUT: &str = "standard input";

/// Whether the standard input is meant, by `-` alone.
pub fn is_input(names: &[String]) -> Result<bool, Failure> {
    match names {
        [only] if only == "-" => Ok(true),
        _ if names.iter().any(|name| name == "-") => {
            Err(Failure::of_use("`-` stands for the standard input, alone", "leave the other names out"))
        }
        _ => Ok(false),
    }
}

/// All that comes by the standard input.
pub fn input_text() -> Result<String, Failure> {
    let mut octets = Vec::new();
    std::io::stdin()
        .read_to_end(&mut octets)
        .map_err(|error| Failure::of_use(format!("cannot read the {INPUT}: {error}"), "is it open?"))?;
    String::from_utf8(octets)
        .map_err(|_| Failure::of_use(format!("the {INPUT} is not UTF-8 text"), "give it a `.mok` file's text"))
}

/// The back end that the command line names.
pub fn backend_of(backend: arguments::Backend) -> Backend {
    match backend {
        arguments::Backend::Interpreter => Backend::Interpreter,
        arguments::Backend::C => Backend::C,
    }
}

/// As people write it.
pub fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Interpreter => "interpreter",
        Backend::C => "C",
    }
}

/// Files without errors; with errors they are shown, and the failure says how many.
pub fn accepted(files: &[String], printer: &Printer) -> Result<Checked, Failure> {
    let checked = compile::check(&RealWorld, files)?;
    match checked.has_errors() {
        true => Err(refused(&checked.diagnostics, &checked, printer)),
        false => Ok(checked),
    }
}

/// Carries out what is done with the stack that is chosen: here, or in a child if it calls functions in C, none of which is opened to know
/// that. With errors they are shown, and the failure says how many.
pub fn with_stack(
    (checked, stack): (&Checked, Option<&str>),
    (apart, streams): (&Apart, Streams),
    printer: &Printer,
    here: impl FnOnce(&Compiled) -> Result<i32, Failure>,
) -> Result<i32, Failure> {
    if !apart.is_child() {
        let compiled = to_write(checked, stack, printer)?;
        return if compiled.calls_c() { apart.in_child(streams) } else { here(&compiled) };
    }
    apart.beat();
    let (compiled, diagnostics) = compile::compile(checked, compile::choose_stack(checked, stack)?, &RealWorld);
    let compiled = compiled.ok_or_else(|| refused(&diagnostics, checked, printer))?;
    let of_functions: Vec<_> = diagnostics.into_iter().filter(natives::is_about).collect();
    printer.diagnostics(&of_functions, &checked.sources);
    here(&compiled)
}

/// The profile that is named; what comes with Mokume where none is.
pub fn profile_of((by, passes): (&ByProfile, Passes), compiled: &Compiled) -> Result<Profile, Failure> {
    match &by.profile {
        Some(file) => mokume_driver::profile::read(&RealWorld, file, &compiled.composed),
        None => Ok(mokume_driver::usual::by(&compiled.composed, passes)),
    }
}

/// The stack that is chosen, to be written down: nothing of it is run here.
pub fn compiled_to_write(choice: &StackChoice, printer: &Printer) -> Result<Compiled, Failure> {
    to_write(&accepted(choice.file.as_slice(), printer)?, choice.stack.as_deref(), printer)
}

/// A stack of files that were accepted, to be written down.
pub fn to_write(checked: &Checked, stack: Option<&str>, printer: &Printer) -> Result<Compiled, Failure> {
    let (compiled, diagnostics) = compile::compile_to_write(checked, compile::choose_stack(checked, stack)?);
    compiled.ok_or_else(|| refused(&diagnostics, checked, printer))
}

/// Shows what is wrong; the failure says how much that is.
pub fn refused(diagnostics: &[Diagnostic], checked: &Checked, printer: &Printer) -> Failure {
    printer.diagnostics(diagnostics, &checked.sources);
    Failure::of_program(counted(diagnostics), "`mokume explain CODE` tells more")
}

/// A picture is what its name says: SVG in a file called `.png` opens nowhere.
pub fn picture_name(name: Option<&str>, kinds: &[&str]) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    let file = name.rsplit('/').next().unwrap_or(name);
    if name == "-" {
        let help = format!("name a file that ends in {}", kinds.join(" or "));
        return Err(Failure::of_use("a picture is not written to the standard output", help));
    }
    if !file.contains('.') || kinds.iter().any(|kind| file.ends_with(kind)) {
        return Ok(());
    }
    let help = format!("end the name in {}; `rsvg-convert` makes a PNG of an SVG", kinds.join(" or "));
    Err(Failure::of_use(format!("`{name}` is of a kind that is not written"), help))
}

/// A text, in the file that is named or printed.
pub fn written(output: Option<&str>, text: &str, printer: &Printer) -> Result<i32, Failure> {
    match output {
        Some(name) => {
            write(&RealWorld, name, text.as_bytes())?;
            printer.note(format!("written: {name}"));
        }
        None => printer.line(text.trim_end()),
    }
    Ok(0)
}

/// Writes a file; the failure says what to look at.
pub fn write(world: &RealWorld, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    world.write(name, bytes).map_err(|error| {
        Failure::of_use(format!("cannot write `{name}`: {error}"), "is the folder there and writable?")
    })
}
