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

/// Fails if the command takes two things from the standard input: its program, or a record, and something else.
pub fn is_read_once(command: &Command) -> Result<(), Failure> {
    const PROGRAM: &str = "the program";
    let is_input = |file: &Option<String>| file.as_deref() == Some("-");
    let reads_frames = |device: &String| device.split([':', ',']).nth(1) == Some("-");
    let (file, what, other) = match command {
        Command::Debug { file, .. } => (file, PROGRAM, "its commands"),
        Command::Connect { stack, .. } | Command::Listen { stack, .. } => (&stack.file, PROGRAM, "the octets to send"),
        Command::Run { stack, lines: Some(_), .. } => (&stack.file, PROGRAM, "the lines to send"),
        Command::Run { stack, on, .. } if on.device.iter().any(reads_frames) => (&stack.file, PROGRAM, "the frames"),
        Command::Dissect { file, by, .. } if file == "-" => (by, PROGRAM, "the capture"),
        Command::Show { file, against, .. } if file == "-" => (against, "the other one", "one of the records"),
        _ => return Ok(()),
    };
    match is_input(file) {
        true => Err(Failure::of_use(
            format!("the {INPUT} holds {other} here, and cannot hold {what}, too"),
            format!("write {what} to a file, and name that"),
        )),
        false => Ok(()),
    }
}
