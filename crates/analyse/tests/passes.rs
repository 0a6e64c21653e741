//! Every file of `tests/pass`: an automaton, and the result of a pass.

use std::path::{Path, PathBuf};

use mokume_base::FileId;
use mokume_reaction::text::{parse, print};
use mokume_reaction::{verify, Automaton};

type Pass = fn(&mut Automaton);

/// The passes, by their names in the files. A new pass is a line here.
const PASSES: [(&str, Pass); 2] = [("straighten", straighten), ("lay open", lay_open)];

fn straighten(automaton: &mut Automaton) {
    automaton.handlers.iter_mut().for_each(|handler| drop(mokume_analyse::straighten(&mut handler.body)));
    automaton.functions.iter_mut().for_each(|function| drop(mokume_analyse::straighten(&mut function.body)));
}

fn lay_open(automaton: &mut Automaton) {
    *automaton = mokume_analyse::laid_open(automaton).into_owned();
}

const BETWEEN: &str = "; becomes\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pass");
    let files = std::fs::read_dir(folder).expect("tests/pass").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ra")).collect();
    files.sort();
    files
}

/// The automaton of a valid text.
fn right(text: &str) -> Result<Automaton, String> {
    let parsed = parse(FileId(0), text);
    let faults = verify::diagnose(&parsed.automaton, &parsed.places);
    match parsed.diagnostics.iter().chain(&faults).next() {
        Some(fault) => Err(format!("{}: {}\n{text}", fault.code.0, fault.message)),
        None => Ok(parsed.automaton),
    }
}

/// The result of the pass that the first line names, for the automaton below it, as text.
fn passed(text: &str) -> Result<String, String> {
    let name = text.lines().next().and_then(|line| line.strip_prefix("; pass: ")).ok_or("no `; pass: NAME`")?;
    let pass = PASSES.iter().find(|(known, _)| *known == name).ok_or(format!("no pass `{name}`"))?.1;
    let mut automaton = right(text)?;
    pass(&mut automaton);
    let after = print(&automaton);
    right(&after).map_err(|fault| format!("what it made is wrong: {fault}"))?;
    Ok(after)
}

/// What is wrong with a file, if anything.
fn wrong(text: &str) -> Option<String> {
    let Some((before, wanted)) = text.split_once(BETWEEN) else { return Some("no `; becomes`".into()) };
    match passed(before) {
        Err(why) => Some(why),
        Ok(after) => (after != wanted).then(|| format!("it becomes\n{after}")),
    }
}

#[test]
fn passes_make_what_the_files_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut faults = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a file of tests/pass");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (bless, text.split_once(BETWEEN).map(|(before, _)| (before, passed(before)))) {
            (true, Some((before, Ok(after)))) => {
                std::fs::write(&path, format!("{before}{BETWEEN}{after}")).expect("written");
            }
            _ => faults.extend(wrong(&text).map(|why| format!("{name}: {why}"))),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_pass_has_a_file() {
    let texts: Vec<String> = files().iter().map(|path| std::fs::read_to_string(path).expect("a file")).collect();
    for (name, _) in PASSES {
        assert!(texts.iter().any(|text| text.starts_with(&format!("; pass: {name}\n"))), "no file for `{name}`");
    }
}

#[test]
fn a_pass_that_does_nothing_is_found() {
    for path in files() {
        let before = std::fs::read_to_string(&path).expect("a file");
        let (before, _) = before.split_once(BETWEEN).expect("two automata");
        let unchanged = print(&right(before).expect("right"));
        assert!(wrong(&format!("{before}{BETWEEN}{unchanged}")).is_some(), "{}", path.display());
    }
}
