//! Runs every file of `tests/run`: uncomposed, and composed with the same result.
//!
//! A file is an automaton in its text form and its tests. `; composition: M0901` in its first line says that composing
//! it must fail with that code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Binary, Compare, Fallible, OpKind, Operation, Terminator, Unit};
use mokume_testkit::{parameters, parse, run, split, Arg, Expect, Script};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let entries = std::fs::read_dir(folder).expect("tests/run");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ra"));
    files.sort();
    files
}

struct File {
    name: String,
    text: String,
    automaton: Automaton,
    scripts: Vec<Script>,
}

fn read(path: &Path) -> Result<File, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let (automaton, tests, line) = split(&text);
    let mut map = SourceMap::default();
    let id = map.add(name.clone(), automaton);
    let parsed = mokume_reaction::text::parse(id, automaton);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        let at = diagnostic.primary.as_ref().map_or((0, 0), |label| map.line_column(id, label.span.start));
        return Err(format!("{name}:{}:{}: {}", at.0, at.1, diagnostic.message));
    }
    if let Some(diagnostic) = mokume_reaction::verify::diagnose(&parsed.automaton, &parsed.places).first() {
        let at = diagnostic.primary.as_ref().map_or((0, 0), |label| map.line_column(id, label.span.start));
        return Err(format!("{name}:{}:{}: {} {:?}", at.0, at.1, diagnostic.message, diagnostic.notes));
    }
    let scripts = parse(&parsed.automaton, tests, line).map_err(|error| format!("{name}: {error}"))?;
    if scripts.is_empty() {
        return Err(format!("{name}: it has no test"));
    }
    Ok(File { name, text: text.clone(), automaton: parsed.automaton, scripts })
}

/// All differences of one script, as text; counts the taken edges in `taken`.
fn play(
    file: &str,
    automaton: &Automaton,
    script: &Script,
    taken: &mut BTreeMap<String, BTreeSet<usize>>,
) -> Vec<String> {
    let mut machine = Instance::new(automaton, &parameters(automaton, script), script.seed);
    machine.record(true, true);
    let mut found: Vec<String> =
        run(automaton, script, &mut machine).iter().map(|failure| format!("{file}: {failure}")).collect();
    let ledger = machine.ledger();
    if ledger.origins != ledger.fates {
        found.push(format!(
            "{file}: test \"{}\": {} messages came to be, {} have a fate",
            script.name, ledger.origins, ledger.fates
        ));
    }
    if machine.leaked() != 0 {
        found.push(format!("{file}: test \"{}\": {} messages leaked", script.name, machine.leaked()));
    }
    note_coverage(automaton, &machine, taken);
    found
}

fn note_coverage(automaton: &Automaton, machine: &Instance, taken: &mut BTreeMap<String, BTreeSet<usize>>) {
    let Some(coverage) = machine.recording().and_then(|recording| recording.coverage.as_ref()) else { return };
    let mut ran = BTreeSet::new();
    for (unit, block, target, count) in coverage.taken(automaton) {
        if count == 0 {
            continue;
        }
        let body = unit.body(automaton);
        let terminator = &body.blocks[block.index()].terminator;
        let name =
            terminator.attempt().map_or_else(|| first_word(&format!("{terminator:?}")), |op| op.row().name.to_string());
        taken.entry(name).or_default().insert(target);
        ran.insert((unit, block));
        ran.insert((unit, terminator.targets()[target].block));
    }
    for (handler, _) in coverage.handlers.iter().enumerate().filter(|(_, count)| **count > 0) {
        ran.insert((Unit::Handler(handler.into()), mokume_reaction::BlockId(0)));
    }
    for (unit, block) in ran {
        let block = &unit.body(automaton).blocks[block.index()];
        for op in &block.ops {
            let name = match &op.kind {
                OpKind::Binary { op, .. } => op.word(),
                OpKind::Compare { op, .. } => op.word(),
                other => other.row().name,
            };
            taken.entry(name.to_string()).or_default().insert(0);
        }
        if block.terminator == Terminator::Return {
            taken.entry("Return".to_string()).or_default().insert(0);
        }
    }
}

fn first_word(debug: &str) -> String {
    debug.split([' ', '{', '(']).next().unwrap_or_default().to_string()
}

#[test]
fn every_file_does_what_it_says() {
    let mut failures = Vec::new();
    let mut taken = BTreeMap::new();
    let (mut files_run, mut tests_run) = (0, 0);
    for path in files() {
        let file = match read(&path) {
            Ok(file) => file,
            Err(reason) => {
                failures.push(reason);
                continue;
            }
        };
        files_run += 1;
        for script in &file.scripts {
            tests_run += 1;
            failures.extend(play(&format!("{} (uncomposed)", file.name), &file.automaton, script, &mut taken));
        }
        failures.extend(play_composed(&file));
    }
    println!("{files_run} files, {tests_run} tests");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let missing = missing(&taken);
    assert!(missing.is_empty(), "no file of tests/run runs: {missing:?}");
}

fn play_composed(file: &File) -> Vec<String> {
    let composed = compose(&file.automaton, Options::default());
    let codes: Vec<&str> = composed.findings.iter().map(|found| found.diagnostic.code.0).collect();
    let wanted = file.text.lines().next().and_then(|line| line.strip_prefix("; composition: "));
    if let Some(wanted) = wanted {
        let found = codes.contains(&wanted.trim());
        let reason = format!("{}: composing it should say {wanted}, says {codes:?}", file.name);
        return if found { Vec::new() } else { vec![reason] };
    }
    let Some(automaton) = composed.automaton else {
        return vec![format!("{}: composing it fails: {:?}", file.name, composed.findings)];
    };
    let label = format!("{} (composed)", file.name);
    file.scripts.iter().flat_map(|script| play(&label, &automaton, script, &mut BTreeMap::new())).collect()
}

/// Operations of the table that no test runs, and edges that no test takes. Tests of the language run functions in C,
/// as they have a compiler.
fn missing(taken: &BTreeMap<String, BTreeSet<usize>>) -> Vec<String> {
    let operations = OpKind::ROWS.iter().map(|row| row.name.to_string());
    let operations = operations.filter(|name| !["Native", "Binary", "Compare", "Meet"].contains(&name.as_str()));
    let words = Binary::ALL.iter().map(|op| op.word()).chain(Compare::ALL.iter().map(|op| op.word()));
    let once = operations.chain(words.map(str::to_string)).chain(["Return".to_string(), "Jump".to_string()]);
    let mut missing: Vec<String> = once.filter(|name| !taken.contains_key(name)).collect();
    // Only paths have these, and `Meet`: crates/fuse/tests/agree.rs plays these files with paths and memos.
    let fallible = Fallible::ROWS.iter().map(|row| row.name).filter(|name| !["Peek", "Recall"].contains(name));
    for name in ["Branch", "Switch", "Match"].into_iter().chain(fallible) {
        if taken.get(name).is_none_or(|ways| ways.len() < 2) {
            missing.push(format!("both ways of {name}"));
        }
    }
    missing
}

/// Omits the last output, or changes the last number or message; returns whether there was one.
fn spoil(expect: &mut Expect, leave_out: bool) -> bool {
    if leave_out {
        return expect.outputs.pop().is_some();
    }
    for arg in expect.outputs.iter_mut().flat_map(|output| &mut output.args).rev() {
        match arg {
            Arg::Word(word) => *word ^= 1,
            Arg::Octets(octets) => octets.push(0),
            _ => continue,
        }
        return true;
    }
    false
}

#[test]
fn every_changed_expectation_fails() {
    let mut spoiled = 0;
    for path in files() {
        let Ok(file) = read(&path) else { continue };
        for (script, leave_out) in file.scripts.iter().flat_map(|script| [(script, true), (script, false)]) {
            for step in 0..=script.steps.len() {
                let mut wrong = script.clone();
                let expect = match step.checked_sub(1) {
                    None => &mut wrong.start,
                    Some(step) => &mut wrong.steps[step].expect,
                };
                if !spoil(expect, leave_out) {
                    continue;
                }
                spoiled += 1;
                let mut machine = Instance::new(&file.automaton, &parameters(&file.automaton, script), script.seed);
                let failures = run(&file.automaton, &wrong, &mut machine);
                assert!(!failures.is_empty(), "{}: test \"{}\", step {step}", file.name, script.name);
            }
        }
    }
    println!("{spoiled} expectations changed");
    assert!(spoiled > 200);
}
