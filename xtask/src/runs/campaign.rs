//! `./campaign`: more of the same random tests than `./test` has, long runs on real interfaces, and measurements.
//!
//! `./test` finds what a change breaks; the campaign finds rare faults. Run the parts that a change concerns, and all
//! of it before a release.

use std::process::{Command, ExitCode};
use std::time::Instant;

use super::command::{run, time};
use super::count::{Counter, Reader, Shows};
use super::libtest::Libtest;
use super::lines::{Build, Lines, Whole};
use super::test::compiler;
use crate::root;

/// One long run.
pub struct Run {
    pub name: &'static str,
    /// Its duration on two otherwise idle cores, once all is built.
    minutes: u32,
    /// The property that it checks.
    guards: &'static str,
    how: How,
}

/// How to start a run. Environment variables that the caller has set stay unchanged.
enum How {
    /// Tests of a crate whose names contain this, including those of the campaign.
    Tests { package: &'static str, name: &'static str, variables: &'static [(&'static str, &'static str)] },
    /// The same for measurements: built with the optimization that users get.
    Figures { package: &'static str, name: &'static str },
    /// A program that prints a line for each test.
    Lines(&'static [&'static str]),
    /// A program that is one test.
    Whole(&'static [&'static str]),
}

use How::{Figures, Lines as Printed, Tests, Whole as One};

const RUNS: &[Run] = &[
    Run {
        name: "agree",
        minutes: 10,
        guards: "interpreter and C do the same: 1,000,000 sequences on all stacks; 90 % of the branches",
        how: Tests {
            package: "mokume-driver",
            name: "library_agrees::interpreter_and_c",
            variables: &[("MOKUME_SEQUENCES", "1000000")],
        },
    },
    Run {
        name: "editor",
        minutes: 12,
        guards: "the language server: 100,000 random edits tell what a fresh check tells; every name of the test programs is renamed",
        how: Tests {
            package: "mokume-lsp",
            name: "long_",
            variables: &[("MOKUME_EDITS", "100000"), ("MOKUME_RENAMES", "1")],
        },
    },
    Run {
        name: "extension",
        minutes: 1,
        guards: "the extension for Visual Studio Code packs, and its grammar colours every .mok file as the compiler reads it",
        how: One(&["editors/vscode/check"]),
    },
    Run {
        name: "grammar",
        minutes: 9,
        guards: "the grammar for tree-sitter is what its source says, by its own tool, which is built first",
        how: One(&["editors/tree-sitter-mokume/check"]),
    },
    Run {
        name: "install",
        minutes: 20,
        guards: "the tarball in a root that has a shell and the C library only, cargo install with an empty home, the wheel in an empty environment",
        how: Printed(&["tests/install/check"]),
    },
    Run {
        name: "viewer",
        minutes: 2,
        guards: "the page of a run: each of ten faults planted in it is seen by what a user does there",
        how: Tests { package: "mokume-cli", name: "long_faults_of_the_viewer", variables: &[] },
    },
    Run {
        name: "paths",
        minutes: 10,
        guards: "layers and the paths through them do the same: 1,000,000 sequences on all stacks",
        how: Tests {
            package: "mokume-driver",
            name: "library_agrees::layers_and_paths_agree_on_every_stack",
            variables: &[("MOKUME_SEQUENCES", "1000000")],
        },
    },
    Run {
        name: "takings",
        minutes: 6,
        guards: "each way through a path of fifteen stacks taken 10,000 times, each guard alone 100 times, layers beside C: how many are, and which are not",
        how: Tests { package: "mokume-driver", name: "takings::each_path_is_taken", variables: &[] },
    },
    Run {
        name: "judge",
        minutes: 12,
        guards: "500 faults planted in paths and memos of many stacks: `mokume prove` proves none that shows in 1,000 sequences",
        how: Tests {
            package: "mokume-driver",
            name: "_of_many_stacks_",
            variables: &[],
        },
    },
    Run {
        name: "passes",
        minutes: 40,
        guards: "three faults planted in each pass that makes paths, of a guard, a relation and an order: the judge refutes each, runs show it",
        how: One(&["scripts/passes-faults"]),
    },
    Run {
        name: "solvers",
        minutes: 15,
        guards: "bitwuzla and z3 are asked each question of proving ten stacks: no disagreement, both decide 90 %",
        how: Tests {
            package: "mokume-driver",
            name: "judge::second::two_solvers_say_the_same_of_many_stacks",
            variables: &[],
        },
    },
    Run {
        name: "verdicts",
        minutes: 30,
        guards: "what is proved of the stacks that people begin with: writes library/verdicts.txt anew, where it is old",
        how: Tests {
            package: "mokume-driver",
            name: "verdicts::",
            variables: &[("MOKUME_SOLVERS", "../../.venv")],
        },
    },
    Run {
        name: "usual",
        minutes: 1,
        guards: "what layers of the library usually do: writes library/usual.txt anew, from the networks of crates/driver/tests/usual.rs",
        how: Tests { package: "mokume-driver", name: "usual::what_is_usual_is_made_anew", variables: &[] },
    },
    Run {
        name: "proofs",
        minutes: 12,
        guards: "every path of examples, library, benches and their tests, 20 s each at most: how many are proved, and why the others are open",
        how: One(&["scripts/proofs", "20"]),
    },
    Run {
        name: "groups",
        minutes: 45,
        guards: "three networks of groups, 10,000 seeds each in C, every tenth also on the interpreter, with equal logs, and one of each layer that a group may have, 300: loss, partitions, crashes, restarts, clocks that differ; every word of `expect casts` holds",
        how: Tests { package: "mokume-cli", name: "groups::", variables: &[] },
    },
    Run {
        name: "groups-long",
        minutes: 35,
        guards: "3 and 5 members in total order over UDP, each casting as fast as it may for ten minutes: one order, nothing dropped by our queues, constant memory; the slow, the stopped and the killed; five planted faults",
        how: Printed(&["tests/host/groups.py"]),
    },
    Run {
        name: "faults",
        minutes: 2,
        guards: "faults planted in the runtime show in stacks of the library, so that `agree` proves something",
        how: Tests { package: "mokume-driver", name: "library_faults::", variables: &[] },
    },
    Run {
        name: "wires",
        minutes: 2,
        guards: "each wire and its inverse: 100,000 values and packets each, every tenth in C",
        how: Tests { package: "mokume-driver", name: "wires_inverse::", variables: &[("MOKUME_VALUES", "100000")] },
    },
    Run {
        name: "random_wires",
        minutes: 2,
        guards: "random wires of parts, vectors and choices within each other, in C: 2,000 of them",
        how: Tests {
            package: "mokume-emit-c",
            name: "packets::random_wires_are",
            variables: &[("MOKUME_SEEDS", "0..2000")],
        },
    },
    Run {
        name: "wireshark",
        minutes: 10,
        guards: "dissectors in Lua read what `mokume dissect` does: 300 packets of each wire, frames of the tests of 600 stacks, changed and cut",
        how: Tests { package: "mokume-driver", name: "wireshark::lua", variables: &[("MOKUME_FRAMES", "300")] },
    },
    Run {
        name: "stacks",
        minutes: 20,
        guards: "1,000 random stacks in bad weather keep their promises, on the interpreter and in C",
        how: Tests { package: "mokume-driver", name: "random_stacks::", variables: &[("SEEDS", "1000")] },
    },
    Run {
        name: "automata",
        minutes: 3,
        guards: "random automata in C, composed or not, do what the reference does: 40 seeds, 200 of workers",
        how: Tests { package: "mokume-testkit", name: "random_back_ends::", variables: &[("MOKUME_SEEDS", "0..40")] },
    },
    Run {
        name: "sanitized",
        minutes: 5,
        guards: "C of the run files under address and undefined sanitizers: 1,000 sequences on each",
        how: Tests {
            package: "mokume-emit-c",
            name: "differential::",
            variables: &[("SANITIZE", "1"), ("SEQUENCES", "1000")],
        },
    },
    Run {
        name: "mutants",
        minutes: 8,
        guards: "a million mutated programs through the front end and the formatter, no panic",
        how: One(&["scripts/mutate", "1000000"]),
    },
    Run {
        name: "operation",
        minutes: 2,
        guards: "an operation added to the table alone, plain and fallible, does not compile where it must be known",
        how: One(&["scripts/scratch-operation"]),
    },
    Run {
        name: "whole-mutants",
        minutes: 2,
        guards: "20,000 mutated programs through all of `mokume check`, no panic",
        how: Tests { package: "mokume-driver", name: "mutants::", variables: &[("MUTANTS", "20000")] },
    },
    Run {
        name: "fuzz",
        minutes: 24,
        guards: "coverage-guided fuzzing of parser, formatter, check and automata, five minutes each",
        how: One(&["fuzz/run", "all", "300"]),
    },
    Run {
        name: "captures",
        minutes: 2,
        guards: "tshark says the same of a folder of captures, MOKUME_CAPTURES=FOLDER",
        how: Tests { package: "mokume-driver", name: "tshark_says_the_same_of_a_folder", variables: &[] },
    },
    Run {
        name: "spin",
        minutes: 1,
        guards: "the explorer beside SPIN: figures of docs/figures.md",
        how: Figures { package: "mokume-explore", name: "spin::figures" },
    },
    Run {
        name: "pings",
        minutes: 8,
        guards: "a thousand pings of each size on both internets, over TAP",
        how: Printed(&["tests/host/campaign", "pings"]),
    },
    Run {
        name: "timeouts",
        minutes: 2,
        guards: "reassembly gives up when its time is over, over TAP",
        how: Printed(&["tests/host/campaign", "timeouts"]),
    },
    Run {
        name: "forwarding",
        minutes: 2,
        guards: "a thousand pings and TCP through our router",
        how: Printed(&["tests/host/campaign", "forwarding"]),
    },
    Run {
        name: "streams",
        minutes: 3,
        guards: "TCP between our hosts through loss, doubles and disorder, every octet of it, with 100 seeds",
        how: Printed(&["tests/host/weather.py", "100"]),
    },
    Run {
        name: "tcp-mutants",
        minutes: 4,
        guards: "150 faults planted in TCP: 95 % of them are seen by its tests by segments, or by the weather",
        how: Printed(&["tests/host/mutants.py", "150"]),
    },
    Run {
        name: "scripts",
        minutes: 2,
        guards: "TCP's tests by segments played at Linux: what it does otherwise is known, and why",
        how: Printed(&["tests/host/scripts.py"]),
    },
    Run {
        name: "links",
        minutes: 12,
        guards:
            "TCP between our hosts with every fault of a link: 10,000 seeds, and 2,600 in C; octets right, closes clean",
        how: Printed(&["tests/host/links.py"]),
    },
    Run {
        name: "linux",
        minutes: 15,
        guards: "TCP and Linux, both roles: 1 GiB near 2^32 with nothing lost, loss and disorder, 1,000 at once, 10,000 in turn, curl",
        how: Printed(&[
            "tests/host/linux.py",
            "refused",
            "listens",
            "calls",
            "interpreter",
            "crowd",
            "deaf",
            "in-turn",
            "lossy-1",
            "lossy-5",
            "shaped",
            "weather-1",
            "weather-calls",
            "weather-5",
            "own-weather",
            "web",
            "services",
            "fetches",
        ]),
    },
    Run {
        name: "long",
        minutes: 8,
        guards: "5 GiB each way in one session with Linux, and tshark sees nothing again or out of order",
        how: Printed(&["tests/host/linux.py", "long"]),
    },
    Run {
        name: "syns",
        minutes: 2,
        guards: "a million SYNs of nobody make no session, and who means it is served meanwhile",
        how: Printed(&["tests/host/linux.py", "flood"]),
    },
    Run {
        name: "segments",
        minutes: 10,
        guards: "200,000 hostile segments, C under sanitizers beside the interpreter: one fate each, sessions unharmed",
        how: Tests { package: "mokume-driver", name: "hostile_tcp::", variables: &[("MOKUME_SEGMENTS", "200000")] },
    },
    Run {
        name: "hostile",
        minutes: 6,
        guards: "floods of hping3 and packets of scapy's fuzz(), then 300,000 hostile frames, C under sanitizers",
        how: Printed(&["tests/host/campaign", "floods", "hostile"]),
    },
];

/// The names of all runs.
pub fn names() -> impl Iterator<Item = &'static str> {
    RUNS.iter().map(|run| run.name)
}

/// What the words of a command line ask for.
#[derive(PartialEq, Eq, Debug)]
enum Asked<'a> {
    Help,
    List,
    Unknown(&'a str),
    /// These runs; all, if there are none.
    Runs(&'a [String]),
}

/// A word that asks for help or is unknown decides, wherever it stands: nothing is set up or run before all words are known.
fn asked(words: &[String]) -> Asked<'_> {
    let has = |asking: &[&str]| words.iter().any(|word| asking.contains(&word.as_str()));
    let unknown = words.iter().find(|word| *word != "list" && !names().any(|known| known == word.as_str()));
    match unknown {
        _ if has(&["-h", "--help", "help"]) => Asked::Help,
        Some(unknown) => Asked::Unknown(unknown),
        None if has(&["list"]) => Asked::List,
        None => Asked::Runs(words),
    }
}

/// Runs the named runs, or all, once what they need is set up; `list` lists them.
pub fn campaign(words: &[String]) -> ExitCode {
    let wanted = match asked(words) {
        Asked::Help => {
            println!("usage: ./campaign [list | NAME …]      all runs if none is named");
            return list();
        }
        Asked::List => return list(),
        Asked::Unknown(unknown) => {
            list();
            eprintln!("there is no run `{unknown}`; the list above has all");
            return ExitCode::from(2);
        }
        Asked::Runs(wanted) => wanted,
    };
    if !Command::new(root().join("scripts/setup")).arg("campaign").status().is_ok_and(|ended| ended.success()) {
        return ExitCode::from(2);
    }
    let runs: Vec<&Run> =
        RUNS.iter().filter(|run| wanted.is_empty() || wanted.iter().any(|name| name == run.name)).collect();
    let mut all = Counter::default();
    if runs.iter().any(|run| matches!(run.how, Printed(_) | One(_))) {
        // Builds the compiler that the programs judge; tests are built when they run.
        let mut build = Command::new("cargo");
        build.args(["build", "--profile", "tested", "-p", "mokume-cli"]).current_dir(root());
        run("building the compiler", &mut build, &mut Build::default(), &mut all);
    }
    for (number, run) in runs.iter().enumerate() {
        println!("[{} of {}] {}, about {} min: {}", number + 1, runs.len(), run.name, run.minutes, run.guards);
        let started = Instant::now();
        let counter = run.counted();
        println!("{}: {counter}, in {}", run.name, time(started.elapsed()));
        all.add(&counter);
    }
    super::ended(&all)
}

fn list() -> ExitCode {
    for run in RUNS {
        println!("{:14} {:3} min  {}", run.name, run.minutes, run.guards);
    }
    println!("{:14} {:3} min", "all", RUNS.iter().map(|run| run.minutes).sum::<u32>());
    ExitCode::SUCCESS
}

impl Run {
    fn counted(&self) -> Counter {
        let mut counter = Counter { shows: Shows::All, ..Counter::default() };
        let mut command = self.command();
        let mut reader: Box<dyn Reader> = match self.how {
            Tests { .. } | Figures { .. } => Box::<Libtest>::default(),
            Printed(_) => Box::<Lines>::default(),
            One(_) => Box::new(Whole(self.name.to_string())),
        };
        run(self.name, command.current_dir(root()), reader.as_mut(), &mut counter);
        counter
    }

    fn command(&self) -> Command {
        match self.how {
            Tests { package, name, variables } => {
                let mut cargo = cargo("tested", package, name);
                let unset = variables.iter().filter(|(variable, _)| std::env::var_os(variable).is_none());
                cargo.envs(unset.copied());
                cargo
            }
            Figures { package, name } => cargo("release", package, name),
            Printed(words) | One(words) => {
                let mut program = Command::new(root().join(words[0]));
                program.args(&words[1..]).envs(compiler());
                program
            }
        }
    }
}

/// Runs the tests whose names contain this, including those of the campaign.
fn cargo(profile: &str, package: &str, name: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--profile", profile, "-p", package, "--test", "all", name]);
    cargo.args(["--", "--include-ignored", "--show-output"]);
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names() {
        let all: std::collections::BTreeSet<_> = names().collect();
        assert_eq!(all.len(), RUNS.len());
        assert!(!all.contains("list"));
        assert!(RUNS.iter().all(|run| run.minutes > 0 && !run.guards.is_empty()));
    }

    #[test]
    fn words_are_read_before_anything_is_set_up() {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        for help in ["--help", "-h", "help", "wires --help", "--help nothing"] {
            assert_eq!(asked(&words(help)), Asked::Help, "{help}");
        }
        assert_eq!(asked(&words("list")), Asked::List);
        assert_eq!(asked(&words("wires wier")), Asked::Unknown("wier"));
        assert_eq!(asked(&words("--all")), Asked::Unknown("--all"));
        assert_eq!(asked(&words("list wires")), Asked::List);
        assert_eq!(asked(&words("wires editor")), Asked::Runs(&words("wires editor")));
        assert_eq!(asked(&[]), Asked::Runs(&[]));
    }

    /// The scripts in the root, in a folder where setting up is a fault: cargo stands for itself by what it would print.
    #[test]
    fn scripts_that_are_asked_for_help_set_up_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("mokume-help-{}", std::process::id()));
        for inner in ["scripts", "bin", "benches"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let program = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
            std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        program("scripts/setup", "#!/bin/sh\n[ \"$1\" = cargo ] || echo SET UP\n");
        program("bin/cargo", "#!/bin/sh\necho cargo \"$@\"\n");
        let benches = std::fs::read_dir(root().join("benches")).unwrap().flatten().map(|file| file.file_name());
        let benches =
            benches.map(|name| format!("benches/{}", name.to_string_lossy())).filter(|name| name.ends_with(".py"));
        for name in ["test", "demo", "campaign", "bench"].map(str::to_string).into_iter().chain(benches) {
            std::fs::copy(root().join(&name), folder.join(&name)).unwrap();
        }
        let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let run = |name: &str, word: &str| {
            let ran = Command::new(folder.join(name)).arg(word).env("PATH", &path).output().unwrap();
            let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            (ran.status.code(), said)
        };
        for name in ["test", "demo", "bench"] {
            for (word, code) in [("--help", 0), ("-h", 0), ("--wier", 2)] {
                let (ended, said) = run(name, word);
                assert_eq!(ended, Some(code), "{name} {word}: {said}");
                assert!(
                    said.contains("usage") && !said.contains("SET UP") && !said.contains("cargo build"),
                    "{name}: {said}"
                );
            }
        }
        // The campaign's words are read by this program, which sets up itself.
        let (_, said) = run("campaign", "--help");
        assert!(!said.contains("SET UP") && said.contains("-- campaign --help"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn programs_are_there_and_may_be_run() {
        use std::os::unix::fs::MetadataExt;
        for run in RUNS {
            if let Printed(words) | One(words) = run.how {
                let about = root().join(words[0]).metadata();
                assert!(about.is_ok_and(|about| about.is_file() && about.mode() & 0o100 != 0), "{}", words[0]);
            }
        }
    }
}
