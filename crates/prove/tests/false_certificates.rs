//! Wrong paths, written by hand by another author than the judge's: mistakes that a judge may overlook. Each is a file
//! of `crates/prove/tests/false` that says what is wrong; none may be proved, and the interpreter shows each to be
//! wrong: by random events, or by a test of the file.

use crate::common::{composed, root};
use crate::judging::there;

use mokume_interpret::Instance;
use mokume_prove::judge::judge;
use mokume_reaction::{verify, Automaton, CellId, ClassId};
use mokume_testkit::{parameters, parse, run, split, together, Script};

/// Those that random events do not show to be wrong, and why.
const NOT_SHOWN: [(&str, &str); 1] = [("guards_that_exclude_each_other.ra", "it is never taken")];

/// The automaton of a file with its path, and its memos inlined.
fn pathed(text: &str) -> Automaton {
    let (text, ..) = split(text);
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), text).automaton;
    let stack = Automaton { paths: parsed.paths, ..composed(text) };
    let faults = verify(&stack);
    assert!(faults.is_empty(), "{faults:?}");
    mokume_analyse::flat(&stack).into_owned()
}

/// Whether the tests of a file, which the layers pass, or random events show that a path does something else than the layers.
fn shows(text: &str, stack: &Automaton) -> bool {
    let (_, tests, line) = split(text);
    let scripts = parse(stack, tests, line).unwrap();
    let passes = |script: &Script, mut machine: Instance| run(stack, script, &mut machine).is_empty();
    scripts.iter().any(|script| {
        let new = || Instance::new(stack, &parameters(stack, script), script.seed);
        assert!(passes(script, new()), "the layers do not pass \"{}\"", script.name);
        !passes(script, new().with_paths())
    }) || (0..300).any(|seed| {
        let mut layers = Instance::new(stack, &[], seed);
        let mut paths = Instance::new(stack, &[], seed).with_paths();
        together(stack, &mut layers, &mut paths, seed, 60).is_some() || state(stack, &layers) != state(stack, &paths)
    })
}

/// The paths that the search makes from the same layers have none of these mistakes.
#[test]
fn the_search_for_paths_makes_none_of_them() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let stack = composed(split(&text).0);
        let fused = mokume_fuse::with_memos(&stack, &mokume_reaction::profile::Profile::default(), 0);
        if shows(&text, &mokume_analyse::flat(&fused)) {
            wrong.push(file);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn files() -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(root().join("crates/prove/tests/false")).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The contents of all cells.
fn state(stack: &Automaton, instance: &Instance) -> Vec<String> {
    let classes = (0..stack.classes.len()).map(ClassId::from);
    let objects = classes.flat_map(|class| instance.objects(class).into_iter().map(move |object| (class, object)));
    let cells = objects.flat_map(|(class, object)| {
        (0..stack.class(class).cells.len()).map(move |cell| (class, object, CellId::from(cell)))
    });
    cells.map(|(class, object, cell)| format!("{:?}", instance.cell(class, object, cell))).collect()
}

#[test]
fn no_false_certificate_is_proved() {
    let mut solvers = there();
    let files = files();
    let (mut wrong, mut not_shown) = (Vec::new(), Vec::new());
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        println!("{name}");
        let text = std::fs::read_to_string(file).unwrap();
        let stack = pathed(&text);
        assert_eq!(stack.paths.len(), 1, "{name}");
        match judge(&stack, &stack.paths[0], &mut solvers) {
            Ok(judged) if judged.is_proved() => wrong.push(name.clone()),
            Ok(judged) => {
                let why = judged.ways.iter().find_map(|way| way.verdict.as_ref().err());
                println!("    {}", why.map_or("never taken", |open| &open.why));
            }
            Err(why) => println!("    {why}"),
        }
        if !shows(&text, &stack) && NOT_SHOWN.iter().all(|(known, _)| *known != name) {
            not_shown.push(name);
        }
    }
    println!("FIGURE: judge: {} of {} false certificates are refused", files.len() - wrong.len(), files.len());
    assert!(files.len() >= 20);
    assert!(wrong.is_empty(), "proved, and wrong: {wrong:?}");
    assert!(not_shown.is_empty(), "not seen to be wrong: {not_shown:?}");
}
