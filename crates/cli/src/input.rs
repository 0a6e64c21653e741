//! `-` in place of a file: a program from the standard input.

use std::sync::OnceLock;

use mokume_base::world::{octets_of_a_text, RealWorld, MOST_OF_A_TEXT};
use mokume_driver::compile::{self, Checked};
use mokume_driver::Failure;

use crate::arguments::Command;

/// The name of `-` in messages.
pub const INPUT: &str = "standard input";

/// Whether the names are `-` alone, which stands for the standard input. Fails if `-` stands beside other names.
pub fn is_input(names: &[String]) -> Result<bool, Failure> {
    match names {
        [only] if only == "-" => Ok(true),
        _ if names.iter().any(|name| name == "-") => {
            Err(Failure::of_use("`-` stands for the standard input, alone", "leave the other names out"))
        }
        _ => Ok(false),
    }
}

/// The text of the standard input, once it has been read. Our children read the same.
static TEXT: OnceLock<String> = OnceLock::new();

/// The whole standard input.
pub fn text() -> Result<&'static str, Failure> {
    if let Some(text) = kept() {
        return Ok(text);
    }
    let read = read()?;
    Ok(TEXT.get_or_init(|| read))
}

/// The text of the standard input, if it has been read.
pub fn kept() -> Option<&'static str> {
    TEXT.get().map(String::as_str)
}

/// Checks the program that the standard input holds, by the project of the current folder.
pub fn check() -> Result<Checked, Failure> {
    compile::check_with(&RealWorld, &[], vec![(INPUT.to_string(), text()?.to_string())])
}

fn read() -> Result<String, Failure> {
    let octets = octets_of_a_text(std::io::stdin()).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => Failure::of_use(
            format!("the {INPUT} has more than {MOST_OF_A_TEXT} octets"),
            "give it a `.mok` file's text",
        ),
        _ => Failure::of_use(format!("cannot read the {INPUT}: {error}"), "is it open?"),
    })?;
    String::from_utf8(octets)
        .map_err(|_| Failure::of_use(format!("the {INPUT} is not UTF-8 text"), "give it a `.mok` file's text"))
}

/// Fails if the command takes its program from the standard input, and something else from there, too.
pub fn is_read_once(command: &Command) -> Result<(), Failure> {
    let is_input = |file: &Option<String>| file.as_deref() == Some("-");
    let (program, other) = match command {
        Command::Debug { file, .. } => (file, "its commands"),
        Command::Connect { stack, .. } | Command::Listen { stack, .. } => (&stack.file, "the octets to send"),
        Command::Run { stack, lines: Some(_), .. } => (&stack.file, "the lines to send"),
        Command::Dissect { file, by, .. } if file == "-" => (by, "the capture"),
        _ => return Ok(()),
    };
    match is_input(program) {
        true => Err(Failure::of_use(
            format!("the {INPUT} holds {other} here, and cannot hold the program, too"),
            "write the program to a file, and name that",
        )),
        false => Ok(()),
    }
}
