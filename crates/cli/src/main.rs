//! The command. Exit codes: 0 success, 1 the program or its tests are wrong, 2 wrong use, or this machine lacks
//! something.

mod accounts;
mod apart;
mod arguments;
mod commands;
mod common;
mod debug;
mod dissect;
mod doc;
mod equal;
mod examples;
mod fmt;
mod follow;
mod input;
mod installed;
mod lsp;
mod new;
mod overwritten;
mod path;
mod print;
mod profile;
mod prove;
mod run;
mod show;
mod simulate;
mod streams;
mod tests;
mod version;
mod watch;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::FromArgMatches;

/// A compiler asks for many small pieces of memory: this one gives them in fewer instructions than the system's.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // If the reader goes away (`mokume … | head`), the command ends quietly, as others do.
    mokume_driver::quiet_on_closed_pipe();
    mokume_driver::keep_closed_output_closed();
    let matches = examples::command().try_get_matches().unwrap_or_else(|error| wrong_use(error));
    let arguments = arguments::Arguments::from_arg_matches(&matches).unwrap_or_else(|error| wrong_use(error));
    let printer = print::Printer::new(arguments.format, arguments.color);
    let failed = |failure: mokume_driver::Failure| {
        printer.failure(&failure);
        failure.exit_code()
    };
    let code = match apart::Apart::new(&arguments) {
        Ok(apart) => {
            let ran = commands::run(&arguments, &apart, &printer).and_then(|code| printer.arrived().map(|()| code));
            let code = ran.unwrap_or_else(failed);
            apart.say_last(code);
            code
        }
        Err(failure) => failed(failure),
    };
    std::process::exit(code);
}

/// Prints help unchanged, and the version with all that the command contains (`-V`: one line). Wrong use is printed as
/// text, or as an object if JSON was requested.
fn wrong_use(mut error: clap::Error) -> ! {
    tip(&mut error);
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let json = words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    let is_long =
        error.kind() == clap::error::ErrorKind::DisplayVersion && words.iter().any(|word| word == "--version");
    let format = if json { arguments::Format::Json } else { arguments::Format::Text };
    let printer = print::Printer::new(format, arguments::When::Never);
    if is_long || !error.use_stderr() {
        if is_long {
            version::version(&printer);
        } else {
            printer.wrote(error.print());
        }
        let arrived = printer.arrived().map_err(|failure| printer.failure(&failure));
        std::process::exit(i32::from(arrived.is_err()) * 2);
    }
    if let Some(word) = std::env::args_os().skip(1).find(|word| word.to_str().is_none()) {
        printer.failure(&not_text(&word));
        std::process::exit(2);
    }
    if !json {
        error.exit();
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
    let help = lines.collect::<Vec<_>>().join("; ");
    printer.object(&serde_json::json!({ "error": message, "help": help }));
    std::process::exit(2);
}

/// Says what most likely helps.
fn tip(error: &mut clap::Error) {
    let text = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let say = |error: &mut clap::Error, tip: &str| {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_string().into()]));
    };
    let (option, value) = (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::UnknownArgument => {
            // No file or word of ours begins with a hyphen.
            error.remove(ContextKind::TrailingArg);
            error.remove(ContextKind::Suggested);
            let is_other = error.get(ContextKind::SuggestedArg).is_none();
            if is_other && mokume_base::did_you_mean(option.trim_start_matches('-'), ["json"]).is_some() {
                say(error, "write '--format json' for output as JSON");
            }
        }
        ErrorKind::ValueValidation
            if value.starts_with('-') && option.contains("<NUMBER>") | option.contains("<COUNT>") =>
        {
            say(error, "write a whole number that is not negative");
        }
        ErrorKind::ValueValidation
            if value.parse::<u64>().is_err() && option.contains("<NUMBER>") | option.contains("<COUNT>") =>
        {
            let is_large = !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
            let tip = format!("the largest number is {}", u64::MAX);
            say(error, if is_large { &tip } else { "write a whole number in decimal digits, as 17" });
        }
        _ => {}
    }
}

/// The report of an argument that is not UTF-8 text. Sources, records and pages hold names of files as text.
fn not_text(word: &std::ffi::OsStr) -> mokume_driver::Failure {
    let message = format!("the argument {word:?} is not UTF-8 text");
    mokume_driver::Failure::of_use(
        message,
        "is it a file's name, rename the file, or go to its folder and leave the name out",
    )
}
