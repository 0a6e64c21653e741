//! What is installed beside the command: man pages and shell completions. Both are generated from the command-line
//! arguments.

use std::path::Path;

use clap::Command;
use mokume_base::world::RealWorld;
use mokume_driver::Failure;

use crate::common::write_within;
use crate::examples;
use crate::print::Printer;

/// `mokume completions SHELL`.
pub fn completions(shell: clap_complete::Shell, printer: &Printer) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut shown(&examples::command()), "mokume", &mut text);
    printer.line(String::from_utf8_lossy(&text).trim_end());
}

/// The command without its hidden options and commands, which only the command itself uses.
fn shown(whole: &Command) -> Command {
    let seen = whole.get_arguments().filter(|argument| !argument.is_hide_set());
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("mokume").version(env!("CARGO_PKG_VERSION")).args(seen.cloned()).subcommands(commands.cloned())
}

/// `mokume man`: prints the page of the whole command, or writes a page for each command into a folder.
pub fn man(folder: Option<&str>, printer: &Printer) -> Result<i32, Failure> {
    let mut whole = examples::command();
    whole.build();
    let Some(folder) = folder else {
        printer.line(page(whole)?.trim_end());
        return Ok(0);
    };
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    let mut pages: Vec<(String, Command)> =
        commands.map(|command| (format!("mokume-{}", command.get_name()), command.clone())).collect();
    pages.push(("mokume".to_owned(), whole.clone()));
    let count = pages.len() as u64;
    for (name, command) in pages {
        let path = Path::new(folder).join(format!("{name}.1")).to_string_lossy().into_owned();
        write_within(&RealWorld, &path, page(named(command, name))?.as_bytes())?;
    }
    printer.told_written(folder, ("pages", count), format!("{count} pages in {folder}"));
    Ok(0)
}

/// The command under the name of its page, as in `man mokume-sim`.
fn named(command: Command, name: String) -> Command {
    let name: &'static str = Box::leak(name.into_boxed_str());
    command.name(name).version(env!("CARGO_PKG_VERSION"))
}

fn page(command: Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).manual("Mokume").render(&mut text);
    rendered.map_err(|error| Failure::of_use(format!("the page cannot be written: {error}"), "please report this"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
