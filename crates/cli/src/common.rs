//! What several commands share: reading and compiling files, reporting errors, and writing results to their
//! destination.

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
use crate::input;
use crate::print::{counted, Printer};

/// Converts the back end of the command line.
pub fn backend_of(backend: arguments::Backend) -> Backend {
    match backend {
        arguments::Backend::Interpreter => Backend::Interpreter,
        arguments::Backend::C => Backend::C,
    }
}

/// The name of a back end, as people write it.
pub fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Interpreter => "interpreter",
        Backend::C => "C",
    }
}

/// Checks files, or the standard input for `-`. If they have errors, prints them and fails with their number.
pub fn accepted(files: &[String], printer: &Printer) -> Result<Checked, Failure> {
    let checked = match input::is_input(files)? {
        true => input::check()?,
        false => compile::check(&RealWorld, files)?,
    };
    match checked.has_errors() {
        true => Err(refused(&checked.diagnostics, &checked, printer)),
        false => Ok(checked),
    }
}

/// Runs `here` with the chosen stack. It runs in this process, or in a child if the stack calls functions in C; the
/// parent does not load them. Errors are printed, and the failure gives their number.
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

/// Reads the named profile; without a name, takes the one that Mokume ships.
pub fn profile_of((by, passes): (&ByProfile, Passes), compiled: &Compiled) -> Result<Profile, Failure> {
    match &by.profile {
        Some(file) => mokume_driver::profile::read(&RealWorld, file, &compiled.composed),
        None => Ok(mokume_driver::usual::by(&compiled.composed, passes)),
    }
}

/// Compiles the chosen stack for output only: nothing of it runs in this process.
pub fn compiled_to_write(choice: &StackChoice, printer: &Printer) -> Result<Compiled, Failure> {
    to_write(&accepted(choice.file.as_slice(), printer)?, choice.stack.as_deref(), printer)
}

/// Compiles a stack of checked files for output only.
pub fn to_write(checked: &Checked, stack: Option<&str>, printer: &Printer) -> Result<Compiled, Failure> {
    let (compiled, diagnostics) = compile::compile_to_write(checked, compile::choose_stack(checked, stack)?);
    compiled.ok_or_else(|| refused(&diagnostics, checked, printer))
}

/// Prints the errors; the returned failure gives their number.
pub fn refused(diagnostics: &[Diagnostic], checked: &Checked, printer: &Printer) -> Failure {
    printer.diagnostics(diagnostics, &checked.sources);
    Failure::of_program(counted(diagnostics), "`mokume explain CODE` tells more")
}

/// Checks that the file name of a picture has one of the endings `kinds`: nothing opens SVG in a file called `.png`.
pub fn picture_name(name: Option<&str>, kinds: &[&str]) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    let file = name.rsplit('/').next().unwrap_or(name);
    if !file.contains('.') || kinds.iter().any(|kind| file.ends_with(kind)) {
        return Ok(());
    }
    let help = format!("end the name in {}; `rsvg-convert` makes a PNG of an SVG", kinds.join(" or "));
    Err(Failure::of_use(format!("`{name}` is of a kind that is not written"), help))
}

/// Writes a text to the named file, or prints it.
pub fn written(output: Option<&str>, text: &str, printer: &Printer) -> Result<i32, Failure> {
    match output {
        Some(name) => {
            write(&RealWorld, name, text.as_bytes())?;
            printer.told_written(name, ("text", 1), format!("written: {name}"));
        }
        None => printer.line(text.trim_end()),
    }
    Ok(0)
}

/// Writes a file, in a folder that is there; the failure says what to check.
pub fn write(world: &RealWorld, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    Failure::without_folder(world, name)?;
    write_within(world, name, bytes)
}

/// Writes a file of a folder that the command makes.
pub fn write_within(world: &RealWorld, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    world.write(name, bytes).map_err(|error| Failure::of_writing(world, &format!("`{name}`"), name, &error))
}
