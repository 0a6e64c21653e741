//! `library/verdicts.txt`: the verdicts on the paths of the stacks that people begin with, for users without solvers.
//!
//! A verdict is found by the path, its layers and the judge. A change of one of them makes some verdicts old: a new
//! build then says "tested" instead of "proved" until `./campaign verdicts` has renewed them. That is no failure here:
//! a line says which are old.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mokume_base::RealWorld;
use mokume_driver::compile::{self, Checked, Compiled};
use mokume_driver::prove::{self, Choice, Proof, Step, Told};
use mokume_driver::usual;
use mokume_driver::{streams, StackId};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The stacks of a file, composed.
fn of(name: &str, checked: &Checked) -> Vec<(String, Compiled)> {
    assert!(!checked.has_errors(), "{name}: {:?}", checked.diagnostics.first());
    let stacks = checked.program.stacks.iter().enumerate();
    let own = stacks.filter(|(_, stack)| name == TALK || checked.roots.contains(&stack.name.span.file));
    let composed = own.map(|(index, stack)| {
        let (compiled, diagnostics) = compile::compile_to_write(checked, StackId(index as u32));
        let compiled = compiled.unwrap_or_else(|| panic!("{name}: {diagnostics:?}"));
        (format!("{name} {}", stack.name.text), compiled)
    });
    composed.collect()
}

/// The command's built-in stack, of `connect` and similar commands.
const TALK: &str = "(connect, listen, forward)";

/// The stacks that people begin with: the examples, a new project's, and the built-in one.
fn stacks() -> Vec<(String, Compiled)> {
    let mut names: Vec<String> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| format!("examples/{}", entry.unwrap().file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".mok"))
        .chain(["crates/driver/src/template.mok".to_owned()])
        .collect();
    names.sort();
    let mut stacks = Vec::new();
    for name in names {
        let file = root().join(&name).to_string_lossy().into_owned();
        let checked = compile::check(&RealWorld, &[file]).unwrap_or_else(|error| panic!("{name}: {error}"));
        stacks.extend(of(&name, &checked));
    }
    stacks.extend(of(TALK, &streams::own(&RealWorld)));
    stacks
}

const HEAD: &str = "What `mokume prove` showed of the paths of these stacks. Part of the command; `./campaign verdicts` makes it anew.";

/// The solvers that made the verdicts, besides the judge: other verdicts may come from other solvers.
fn solvers() -> String {
    std::fs::read_to_string(root().join("scripts/solvers.txt"))
        .unwrap()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn verdicts_that_are_old_are_known() {
    let shipped = prove::shipped();
    let known: BTreeSet<&str> = shipped.lines().filter_map(|line| line.split(' ').next()).collect();
    let (mut all, mut proved, mut old) = (0, 0, Vec::new());
    for (name, compiled) in stacks() {
        let section = shipped.split("\n\n").find(|part| part.lines().next() == Some(&*name)).unwrap_or_default();
        let was_proved =
            |event: &str| section.lines().any(|line| line.split(' ').nth(1) == Some(&*event.replace(' ', "_")));
        for (events, number) in prove::numbers(&compiled.composed, &usual::of(&compiled.composed)) {
            all += 1;
            proved += usize::from(known.contains(&*number));
            if was_proved(&events[0]) && !known.contains(&*number) {
                old.push(format!("{name} {}", events[0]));
            }
        }
    }
    let judge = match shipped.contains(&prove::judged_by()) && shipped.contains(&solvers()) {
        true => "",
        false => "; the judge or its solvers are others than those that gave them",
    };
    println!("FIGURE: shipped verdicts: {proved} of {all} paths are proved, {} verdicts are old{judge}", old.len());
    if !old.is_empty() {
        println!("old, `./campaign verdicts` makes them anew: {}", old.join(", "));
    }
    assert!(all > 100, "{all} paths");
}

struct Aloud<'a>(&'a str);

impl Told for Aloud<'_> {
    fn works_on(&mut self, _: &[String], _: Step) {}

    fn knows(&mut self, proof: &Proof) {
        let verdict = match &proof.ways {
            Ok(_) if proof.is_proved() => "proved".to_owned(),
            Ok(ways) => format!("open: {:?}", ways.iter().find_map(|way| way.verdict.as_ref().err())),
            Err(why) => format!("open: {why}"),
        };
        println!("{} {}: {verdict}, {:.1} s, {:?}", self.0, proof.events[0], proof.took.as_secs_f64(), proof.known);
    }
}

/// Judges what is old, and writes the file. Paths that are not proved within `MOKUME_LIMIT` seconds are left out.
/// `MOKUME_ONLY`: only stacks with this in their names are judged, others keep their verdicts. `MOKUME_AGAIN`: known
/// verdicts are judged again.
#[test]
#[ignore = "campaign: verdicts"]
fn verdicts_are_made_anew() {
    let limit = std::env::var("MOKUME_LIMIT").map_or(60, |limit| limit.parse().unwrap());
    let only = std::env::var("MOKUME_ONLY").unwrap_or_default();
    let again = std::env::var_os("MOKUME_AGAIN").is_some();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts").to_string_lossy().into_owned();
    let mut text = format!("{HEAD}\nsolvers {}\njudge {}\n", solvers(), prove::judged_by());
    let (mut all, mut proved) = (0, 0);
    for (name, compiled) in stacks() {
        let limit = if name.contains(&only) { limit } else { 0 };
        let again = again && name.contains(&only);
        let choice = Choice { event: None, limit: Duration::from_secs(limit), kept: kept.clone(), again };
        let usual = usual::of(&compiled.composed);
        let judged = prove::prove(&RealWorld, (&compiled, &usual), &choice, &mut Aloud(&name));
        let judged = judged.unwrap_or_else(|failure| panic!("{failure}"));
        let numbers = prove::numbers(&compiled.composed, &usual);
        let _ = write!(text, "\n{name}\n");
        for proof in &judged {
            all += 1;
            let number = numbers.iter().find(|(events, _)| *events == proof.events).map(|(_, number)| number).unwrap();
            if let Some(line) = prove::shipped_line(number, proof) {
                proved += 1;
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    println!("FIGURE: verdicts made anew: {proved} of {all} paths are proved, {} octets", text.len());
    std::fs::write(root().join("library/verdicts.txt"), text).unwrap();
    assert!(proved > 0);
}
