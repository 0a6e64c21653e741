//! Examples at the end of each command's help. `crates/cli/tests/examples.rs` runs each of them, in a project with the
//! files that they name.

use std::io::IsTerminal;

use clap::{Arg, Command, CommandFactory};
use mokume_base::{RealWorld, World};

use crate::arguments::Arguments;

/// A command as you type it, and what it does.
type Example = (&'static str, &'static str);

/// The examples by command, in the order of the help.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "check",
        &[
            ("mokume check", "the project's sources"),
            ("mokume check net.mok --format json", "one file, for scripts"),
            ("mokume check - < net.mok", "the standard input"),
        ],
    ),
    (
        "test",
        &[
            ("mokume test", "all tests of the project"),
            ("mokume test net.mok --filter twice --backend interpreter", "one test, without C"),
            ("mokume test net.mok --html seen", "a page of each failing test"),
        ],
    ),
    (
        "run",
        &[
            (
                "mokume run host.mok --device tap:mok0 --set address=10.77.0.2/24",
                "beside this machine's own network: `ping 10.77.0.2`",
            ),
            (
                "mokume run net.mok --device udp:127.0.0.1:7001,127.0.0.1:7002 --for 10s --record run.jsonl",
                "over a socket, with a record",
            ),
            ("mokume run net.mok --device pcap:seen.pcap,answers.pcap", "its answers to a capture"),
        ],
    ),
    (
        "connect",
        &[(
            "mokume connect 10.77.0.2 80 --device udp:127.0.0.1:7001,127.0.0.1:7002 --set address=10.77.0.1/24",
            "to the example of `listen`",
        )],
    ),
    (
        "listen",
        &[(
            "mokume listen 80 --device udp:127.0.0.1:7002,127.0.0.1:7001 --set address=10.77.0.2/24",
            "for the example of `connect`",
        )],
    ),
    (
        "forward",
        &[(
            "mokume forward --from 127.0.0.1:8080 --to 10.77.0.1:80 --device tap:mok0 --set address=10.77.0.2/24",
            "`curl 127.0.0.1:8080` goes through the stack",
        )],
    ),
    (
        "debug",
        &[
            ("mokume debug net.mok", "then `break drop`, `continue`, `why`, `state`, `back`; `help` lists them"),
            ("mokume debug net.mok --test \"what comes twice\"", "a test, by a part of its name"),
        ],
    ),
    (
        "sim",
        &[
            ("mokume sim net.mok --html run.html", "a page: chart, packets, state, source, why"),
            ("mokume sim net.mok --seed 7 --record run.jsonl --pcap run.pcap", "other weather, with a record"),
            ("mokume sim net.mok --seeds 100", "a hundred weathers"),
            (
                "mokume sim net.mok --seeds 1000 --backend c --against interpreter --every 10",
                "in C, each tenth on both",
            ),
        ],
    ),
    ("profile", &[("mokume profile net.mok --output ways.profile", "for `--profile` of `build`, `path` and `prove`")]),
    (
        "build",
        &[
            ("mokume build host.mok --output made", "C: `cc -c made/Host.c made/mokume.c`"),
            ("mokume build host.mok --returned --output made", "also functions that return what leaves last"),
            ("mokume build host.mok --batched --output made", "also functions that take several calls"),
            ("mokume build net.mok --emit automaton --fuse 2", "what it compiles to, with paths"),
            ("mokume build net.mok --emit wireshark --at udp.port:4711 --output net.lua", "a dissector"),
        ],
    ),
    (
        "path",
        &[
            ("mokume path host.mok", "which events have one, and why others have none"),
            ("mokume path host.mok --event udp.send_to --html path.html", "its code beside the source"),
        ],
    ),
    (
        "prove",
        &[
            ("mokume prove host.mok --event udp.send_to", "one path"),
            ("mokume prove old.mok == new.mok", "does a change of the source change what it does?"),
        ],
    ),
    (
        "doc",
        &[
            ("mokume doc", "the project's pages; then open doc/index.html"),
            ("mokume doc --library -o library-pages", "and all of Mokume's library"),
            ("mokume doc net.mok --format json", "an object for each item"),
        ],
    ),
    (
        "graph",
        &[
            ("mokume graph host.mok --output host.svg", "which layer stands over which"),
            ("mokume graph host.mok --what headers", "the headers, as RFCs draw them"),
        ],
    ),
    (
        "show",
        &[
            ("mokume show run.jsonl --host left --from 10ms", "the events of a host, from a time on"),
            ("mokume show run.jsonl --chart run.svg", "a sequence chart"),
            ("mokume show run.jsonl --against other.jsonl", "where two runs first differ; exit code 1 if they do"),
        ],
    ),
    ("doctor", &[("mokume doctor", "a line for each thing"), ("mokume doctor --format json", "for scripts")]),
    (
        "completions",
        &[
            ("mokume completions bash > ~/.local/share/bash-completion/completions/mokume", "from the next shell on"),
            ("mokume completions fish > ~/.config/fish/completions/mokume.fish", "the same for fish"),
        ],
    ),
    ("man", &[("mokume man --output ~/.local/share/man/man1", "then `man mokume-sim`")]),
    ("schema", &[("mokume schema record", "of records")]),
    (
        "dissect",
        &[
            ("mokume dissect seen.pcap --by net.mok", "by your own stack"),
            ("mokume dissect seen.pcap --by net.mok --filter \"number > 1\"", "some packets"),
            ("mokume dissect - --by net.mok < seen.pcap", "live: `tcpdump -w - | …`"),
            ("mokume dissect seen.pcap --by net.mok --follow --host left", "what its layers do with each packet"),
        ],
    ),
    ("size", &[("mokume size host.mok", "octets for each class of objects, and in all")]),
    (
        "fmt",
        &[
            ("mokume fmt", "the project's sources"),
            ("mokume fmt --check net.mok", "exit code 1 if it would change"),
            ("mokume fmt - < net.mok", "for editors"),
        ],
    ),
    ("lsp", &[("mokume lsp", "as an editor starts it")]),
    ("new", &[("mokume new second", "then `cd second`, `mokume test`, `mokume sim`")]),
    ("explain", &[("mokume explain M0401", "one code"), ("mokume explain", "all of them")]),
];

/// The command-line parser with the examples in its help. Help is as wide as the terminal; in a pipe or a file its lines stay whole,
/// unless `COLUMNS` says a width.
pub fn command() -> Command {
    let is_for_people = std::io::stdout().is_terminal() || RealWorld.environment("COLUMNS").is_some();
    let whole = if is_for_people { Arguments::command() } else { Arguments::command().term_width(0) };
    EXAMPLES
        .iter()
        .fold(whole, |whole, (name, examples)| whole.mut_subcommand(name, |command| command.after_help(text(examples))))
        .mut_subcommands(|command| command.mut_args(negative))
}

/// A negative number is a wrong value of its option, not an option of its own.
fn negative(argument: Arg) -> Arg {
    match argument.get_action().takes_values() && !argument.is_positional() {
        true => argument.allow_negative_numbers(true),
        false => argument,
    }
}

fn text(examples: &[Example]) -> String {
    let lines = examples.iter().map(|(typed, what)| match typed.len() {
        ..=58 => format!("  {typed:<58}  # {what}"),
        _ => format!("  {typed}  # {what}"),
    });
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_that_begin_with_it() {
        let whole = Arguments::command();
        let commands = whole.get_subcommands().map(clap::Command::get_name).collect::<Vec<_>>();
        assert_eq!(commands, EXAMPLES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for (name, examples) in EXAMPLES {
            assert!(
                !examples.is_empty() && examples.iter().all(|(typed, _)| typed.starts_with(&format!("mokume {name}"))),
                "{name}"
            );
        }
    }
}
