//! The command. Exit codes: 0 good, 1 the program or its tests are wrong, 2 wrong use, or this machine cannot.

mod arguments;
mod commands;
mod dissect;
mod fmt;
mod new;
mod print;

use clap::Parser;

fn main() {
    // A reader that goes away (`mokume … | head`) ends us quietly, as it ends other commands.
    mokume_driver::quiet_on_closed_pipe();
    let arguments = arguments::Arguments::parse();
    let printer = print::Printer::new(arguments.format, arguments.color);
    let code = match commands::run(&arguments, &printer).and_then(|code| printer.arrived().map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            printer.failure(&failure);
            failure.exit_code()
        }
    };
    std::process::exit(code);
}
