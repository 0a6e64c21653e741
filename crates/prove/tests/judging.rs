//! The judge: what it proves of the paths of test files, and that it proves no path with a planted fault.

use crate::common::{composed, perhaps_composed, root, run_tests, text_of};
use std::time::Duration;

use mokume_base::{FileId, RealWorld};
use mokume_interpret::{ways_of, Instance};
use mokume_prove::judge::{given, judge, judge_watched, Step};
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::profile::Profile;
use mokume_reaction::{text, verify, Automaton, Binary, Compare, OpKind, Operation, Path, Terminator, Type, Value};
use mokume_testkit::{together, together_by, Hints};

/// The solvers that the set-up has prepared, or those in `MOKUME_SOLVERS`. Without a solver nothing is shown, which is
/// a failure.
pub fn there() -> Vec<Box<dyn Solver>> {
    there_for(Duration::from_secs(4))
}

pub fn there_for(limit: Duration) -> Vec<Box<dyn Solver>> {
    let environment = std::env::var_os("MOKUME_SOLVERS").map_or_else(|| root().join(".venv"), Into::into);
    let all = solvers(&RealWorld, &environment.to_string_lossy(), limit);
    assert!(!all.is_empty(), "no solver; scripts/setup prepares z3 and bitwuzla");
    all
}

/// The automaton with its paths, and its procedures inlined.
fn fused(automaton: &Automaton) -> Automaton {
    fused_by(automaton, &Profile::default())
}

fn fused_by(automaton: &Automaton, profile: &Profile) -> Automaton {
    mokume_analyse::flat(&mokume_fuse::with_memos(automaton, profile, 0)).into_owned()
}

/// The ways that some runs take: with it, handlers of what comes later have paths.
fn seen(stack: &Automaton, hints: &Hints) -> Profile {
    let open = mokume_analyse::laid_open(stack);
    ways_of(stack, &open, 6, |run, (same, watched)| {
        together_by(&open, (same, watched), run, 60, hints);
    })
}

#[test]
fn paths_of_the_run_tests_are_proved() {
    let mut solvers = there();
    let (mut all, mut proved, mut open) = (0, 0, Vec::new());
    for (name, text) in run_tests() {
        let Some(stack) = perhaps_composed(&text) else { continue };
        let stack = fused(&stack);
        for path in &stack.paths {
            all += 1;
            match judge(&stack, path, &mut solvers) {
                Ok(judged) if judged.is_proved() => proved += 1,
                Ok(judged) => {
                    let why = judged.ways.iter().find_map(|way| way.verdict.as_ref().err());
                    open.push(format!("{name}: {}", why.map_or("never taken", |open| &open.why)));
                }
                Err(why) => open.push(format!("{name}: {why}")),
            }
        }
    }
    println!("FIGURE: judge: {proved} of {all} paths of the run tests are proved");
    open.iter().for_each(|open| println!("open: {open}"));
    assert!(proved * 10 >= all * 9, "{proved} of {all} are proved\n{}", open.join("\n"));
}

/// A fault's place: the path, the block, the operation (`None`: the block's terminator).
type Place = (usize, usize, Option<usize>);

/// Every planted fault, one at a time: a changed number, a difference instead of a sum, a reversed comparison, a
/// skipped operation, two outputs exchanged, another reason, a guard that is not asked.
fn faults(stack: &Automaton) -> Vec<(Place, &'static str, Automaton)> {
    let mut found = Vec::new();
    for (p, path) in stack.paths.iter().enumerate() {
        for (b, block) in path.body.blocks.iter().enumerate() {
            for (o, op) in block.ops.iter().enumerate() {
                let Some(name) = plant(&mut op.kind.clone(), stack) else { continue };
                let mut faulty = stack.clone();
                let ops = &mut faulty.paths[p].body.blocks[b].ops;
                match name {
                    "not done" => drop(ops.remove(o)),
                    _ => drop(plant(&mut ops[o].kind, stack)),
                }
                found.push(((p, b, Some(o)), name, faulty));
                let next = block.ops.get(o + 1).map(|op| &op.kind);
                if let (OpKind::Out { .. }, Some(OpKind::Out { .. })) = (&op.kind, next) {
                    let mut faulty = stack.clone();
                    faulty.paths[p].body.blocks[b].ops.swap(o, o + 1);
                    found.push(((p, b, Some(o)), "other order", faulty));
                }
            }
            if let Terminator::Branch { then, otherwise, likely, .. } = &block.terminator {
                let to = if likely.unwrap_or(1.0) > 0.5 { then } else { otherwise };
                let mut faulty = stack.clone();
                faulty.paths[p].body.blocks[b].terminator = Terminator::Jump { to: to.clone() };
                found.push(((p, b, None), "not asked", faulty));
            }
        }
    }
    found.retain(|(_, _, faulty)| verify(faulty).is_empty());
    found
}

fn plant(kind: &mut OpKind, stack: &Automaton) -> Option<&'static str> {
    match kind {
        OpKind::Const { value, .. } => {
            *value ^= 1;
            Some("other number")
        }
        OpKind::Binary { op: op @ Binary::AddWrap, .. } => {
            *op = Binary::SubWrap;
            Some("difference")
        }
        OpKind::Compare { op: op @ Compare::Le, .. } => {
            *op = Compare::Lt;
            Some("less")
        }
        OpKind::Compare { op: op @ Compare::Eq, .. } => {
            *op = Compare::Ne;
            Some("unequal")
        }
        OpKind::Drop { reason, .. } | OpKind::Consume { reason, .. } => {
            let reasons = stack.reasons.len();
            *reason = mokume_reaction::ReasonId::from((reason.index() + 1) % reasons);
            (reasons > 1).then_some("other reason")
        }
        OpKind::Set { .. }
        | OpKind::SetAt { .. }
        | OpKind::Arm { .. }
        | OpKind::Disarm { .. }
        | OpKind::Count { .. } => Some("not done"),
        _ => None,
    }
}

/// The path's body without an operation that changes a message: the message stays unchanged.
fn without(path: &mut Path, place: (usize, usize)) {
    let op = path.body.blocks[place.0].ops.remove(place.1);
    let (message, result) = (op.kind.operands()[0], op.results[0]);
    for block in &mut path.body.blocks {
        let same = |value: &mut Value| {
            if *value == result {
                *value = message;
            }
        };
        block.ops.iter_mut().for_each(|op| op.kind.for_each_operand_mut(&mut { same }));
    }
}

/// What a path hands over is compared with what the layers hand over: its attributes, the packets that it came in, its
/// header, its receiver.
#[test]
fn what_is_handed_over_is_compared() {
    let mut solvers = there();
    let stack = fused(&composed(&run_tests()["paths_hand_over.ra"]));
    let mut proved =
        |stack: &Automaton, path: &Path| judge(stack, path, &mut solvers).is_ok_and(|judged| judged.is_proved());
    let mut faults = Vec::new();
    assert_eq!(stack.paths.len(), 2, "one from the device, and one that begins inside");
    for path in &stack.paths {
        assert!(proved(&stack, path), "{}", stack.handler_name(path.handler));
        for (b, block) in path.body.blocks.iter().enumerate() {
            for (o, op) in block.ops.iter().enumerate() {
                let mut faulty = path.clone();
                let name = match &mut faulty.body.blocks[b].ops[o].kind {
                    OpKind::Meet { .. } | OpKind::SetAttribute { .. } | OpKind::Trim { .. } => {
                        without(&mut faulty, (b, o));
                        op.kind.row().name
                    }
                    OpKind::Emit { event, .. } if event == "deliver" => {
                        *event = "send".to_owned();
                        "Emit"
                    }
                    _ => continue,
                };
                assert!(
                    !proved(&stack, &faulty),
                    "{} without its `{name}` is proved",
                    stack.handler_name(path.handler)
                );
                faults.push(name);
            }
        }
    }
    for name in ["Meet", "SetAttribute", "Emit"] {
        assert!(faults.contains(&name), "no path has `{name}`: {faults:?}");
    }
}

/// What is not shown when the watcher stops is open, for the watcher's reason; nothing is then proved without a check.
#[test]
fn who_watches_ends_it() {
    let mut solvers = there();
    let stack = fused(&composed(&text_of("library_1.ra")));
    let whys = |judged: mokume_prove::judge::Judged| -> Vec<String> {
        judged.ways.into_iter().filter_map(|way| way.verdict.err()).map(|open| open.why).collect()
    };
    let mut seen = Vec::new();
    for path in &stack.paths {
        let judged = judge(&stack, path, &mut solvers).expect("is read");
        assert!(judged.is_proved());
        let ended = judge_watched(&stack, path, &mut solvers, &mut |_| Err("enough".to_owned())).expect("is read");
        assert!(!ended.is_proved());
        let open = whys(ended);
        assert!(!open.is_empty() && open.iter().all(|why| why == "enough"), "{open:?}");
        // After some questions: what was shown by then stays shown.
        let mut left = 12;
        let mut watch = |step: Step| {
            left -= 1;
            seen.push(step);
            if left > 0 {
                Ok(Duration::from_secs(4))
            } else {
                Err("enough".to_owned())
            }
        };
        let ended = judge_watched(&stack, path, &mut solvers, &mut watch).expect("is read");
        let open = whys(ended);
        assert!(open.iter().all(|why| why == "enough"), "{open:?}");
    }
    assert!(seen.iter().all(|step| (1..=step.ways).contains(&step.way)) && seen.iter().any(|step| step.questions > 0));
}

/// Whether the layers and the paths of an automaton do the same by random events.
fn agree(faulty: &Automaton) -> bool {
    (0..40).all(|seed| {
        let mut layers = Instance::new(faulty, &[], seed);
        let mut paths = Instance::new(faulty, &[], seed).with_paths();
        together(faulty, &mut layers, &mut paths, seed, 150).is_none()
    })
}

/// The number of faults that are judged for each stack, spread over all of them; `MOKUME_FAULTS=1000` judges more.
const FAULTS: usize = 4;

#[test]
fn no_path_with_a_fault_that_shows_is_proved() {
    let mut solvers = there();
    let most = std::env::var("MOKUME_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(FAULTS);
    let (mut judged, mut refused, mut same, mut wrong) = (0, 0, Vec::new(), Vec::new());
    let names = ["library_1.ra", "library_3.ra", "fcfs_sequencer_credit.ra", "octet_credit.ra", "two_sessions.ra"];
    for name in names {
        let stack = fused(&composed(&text_of(name)));
        let proved: Vec<bool> = stack
            .paths
            .iter()
            .map(|path| judge(&stack, path, &mut solvers).is_ok_and(|judged| judged.is_proved()))
            .collect();
        // A fault in a path that is open anyway would show nothing.
        let faults: Vec<_> = faults(&stack).into_iter().filter(|((path, ..), ..)| proved[*path]).collect();
        let step = (faults.len() / most).max(1);
        for ((path, block, op), what, faulty) in faults.into_iter().step_by(step) {
            judged += 1;
            let verdict = judge(&faulty, &faulty.paths[path], &mut solvers);
            if !verdict.is_ok_and(|judged| judged.is_proved()) {
                refused += 1;
                continue;
            }
            let place = format!("{name}: path {path}, block {block}, operation {op:?}: {what}");
            if agree(&faulty) { &mut same } else { &mut wrong }.push(place);
        }
    }
    println!("FIGURE: judge: {refused} of {judged} planted faults are refused, {} change nothing", same.len());
    same.iter().for_each(|place| println!("changes nothing: {place}"));
    assert!(wrong.is_empty(), "proved, and wrong:\n{}", wrong.join("\n"));
    assert!(judged >= 15 && refused * 10 >= judged * 7, "{refused} of {judged} are refused");
}

/// Random stacks that passes work on, beside those of files.
const ASKING: std::ops::Range<u64> = 0..200;

/// Paths that differ from those without a fault are judged until this many are refuted and shown; the second number
/// limits how many are judged.
const SHOWN: usize = 2;
const JUDGED: usize = 25;

/// Run files whose paths have what hardly any other path has, so that they alone show some fault. They come first, beside
/// the limit.
const RARE: [&str; 5] = [
    "joined_inside_the_stack.ra",
    "keys_where_state_says.ra",
    "octets_written_twice.ra",
    "ways_of_one_number_or_another.ra",
    "ways_that_part_early.ra",
];

/// A hash of a path's text.
fn mark(stack: &Automaton, path: &Path) -> String {
    let lines = text::path_lines(stack, path);
    let text = lines.into_iter().map(|(line, _)| line + "\n").collect::<String>();
    format!(
        "{:016x}",
        text.bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, octet| (hash ^ u64::from(octet)).wrapping_mul(0x100_0000_01b3))
    )
}

/// The stacks that passes are tried on, each with its layers beside its paths. `None` if the passes fail.
fn tried() -> impl Iterator<Item = (String, Option<Automaton>)> {
    let own = [
        "library_1.ra",
        "library_3.ra",
        "fcfs_sequencer_credit.ra",
        "octet_credit.ra",
        "two_sessions.ra",
        "chooses.ra",
    ];
    let own = own.into_iter().map(|name| (name.to_owned(), text_of(name)));
    let random = ASKING.map(|seed| (format!("asking {seed}"), mokume_testkit::asking(seed)));
    let finding = (0..8).map(|seed| (format!("finding {seed}"), mokume_testkit::finding(seed)));
    // It takes minutes, and other stacks show the same work of passes.
    let runs = run_tests().into_iter().filter(|(name, _)| name != "maps_find_objects_by_their_cells.ra");
    let (rare, runs): (Vec<_>, Vec<_>) = runs.partition(|(name, _)| RARE.contains(&name.as_str()));
    assert_eq!(rare.len(), RARE.len(), "a file of `RARE` is not in `tests/run`");
    let plain = |(name, text): (String, String)| {
        let stack = perhaps_composed(&text)?;
        Some((name, std::panic::catch_unwind(|| fused(&stack)).ok()))
    };
    // The small ones first: only so many that differ are judged.
    let (rare, plain) =
        (rare.into_iter().filter_map(plain), own.chain(runs).chain(finding).chain(random).filter_map(plain));
    let keeping = (0..40).filter_map(|seed| {
        let stack = perhaps_composed(&mokume_testkit::keeping(seed))?;
        let profile = seen(&stack, &mokume_testkit::keeping_hints(seed));
        Some((format!("keeping {seed}"), std::panic::catch_unwind(|| fused_by(&stack, &profile)).ok()))
    });
    let meeting = (190..250).map(|seed| {
        let stack = text::parse(FileId(0), &mokume_testkit::meeting(seed)).automaton;
        let memos = || {
            let memos = mokume_fuse::remembered(&stack, &mokume_fuse::Aside::default(), 0);
            mokume_analyse::flat(&memos).into_owned()
        };
        (format!("meeting {seed}"), std::panic::catch_unwind(memos).ok())
    });
    let given = given_stacks().into_iter().filter_map(|(name, text)| {
        let stack = perhaps_composed(&text)?;
        Some((name, std::panic::catch_unwind(|| fused(&stack)).ok()))
    });
    rare.chain(keeping).chain(meeting).chain(plain).chain(given)
}

/// The automata in the folder `MOKUME_STACKS`: real stacks, which whoever plants faults has written there.
fn given_stacks() -> Vec<(String, String)> {
    let Ok(folder) = std::env::var("MOKUME_STACKS") else { return Vec::new() };
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let named = files.into_iter().map(|file| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.file_name().unwrap().to_string_lossy().into_owned(), text)
    });
    named.collect()
}

/// A solver's values, as hints for inputs.
fn hints(path: &Path, stack: &Automaton, values: &[(String, u64)]) -> Hints {
    let words = values.iter().filter(|(name, _)| !name.contains(".octets[")).map(|(_, value)| *value).collect();
    let of = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let params = stack.handler(path.handler).params.iter().enumerate();
    let messages = params.filter(|(_, (_, ty))| *ty == Type::Msg).map(|(place, (name, _))| {
        let given = given(place, name);
        let size = of(&format!("{given}.size")).unwrap_or(0).min(2000);
        (0..size).map(|at| of(&format!("{given}.octets[{at}]")).unwrap_or(0) as u8).collect()
    });
    Hints { messages: messages.collect(), words }
}

/// The same as [`agree`], with a solver's values.
fn agree_by(faulty: &Automaton, hints: &Hints) -> bool {
    (0..200).all(|seed| {
        let mut layers = Instance::new(faulty, &[], seed);
        let mut paths = Instance::new(faulty, &[], seed).with_paths();
        together_by(faulty, (&mut layers, &mut paths), seed, 60, hints).is_none()
    })
}

/// The results of the passes for the stacks here. Without `MOKUME_PATHS`, or if that file does not exist yet, it lists
/// each path, with its text's hash, and whether it is proved. With it, it judges the paths that differ from the list:
/// whether they are proved, and whether random events show that they do something else. For `scripts/passes-faults`,
/// which plants faults in the passes.
#[test]
#[ignore = "campaign: passes"]
fn what_passes_make() {
    let mut solvers = there();
    let file = std::env::var("MOKUME_PATHS").ok();
    let before = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let shown_only = std::env::var("MOKUME_SHOW").ok();
    let known: std::collections::BTreeMap<&str, (&str, bool)> = before
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| {
            let mut parts = line.split('\t');
            Some((parts.next()?, (parts.next()?, parts.next()? == "proved")))
        })
        .collect();
    let (mut written, mut judged, mut shown) = (String::new(), 0, 0);
    for (name, stack) in tried() {
        let Some(stack) = stack else {
            println!("path\t{name}\topen\tstops");
            continue;
        };
        if !verify(&stack).is_empty() {
            println!("path\t{name}\topen\tis no automaton");
            continue;
        }
        for path in &stack.paths {
            let name = format!("{name} {}", stack.handler_name(path.handler));
            if let Some(shown) = &shown_only {
                let lines = text::path_lines(&stack, path).into_iter();
                lines.filter(|_| name.contains(shown)).for_each(|(line, _)| println!("{line}"));
                continue;
            }
            let mark = mark(&stack, path);
            let (old, was_proved) = known.get(name.as_str()).copied().unwrap_or(("", false));
            if before.is_some() && (old == mark || judged >= JUDGED || shown >= SHOWN) {
                continue;
            }
            let started = std::time::Instant::now();
            let mut watch = |step: Step| match step.open == 0 && started.elapsed() < Duration::from_secs(15) {
                true => Ok(Duration::from_secs(4)),
                false => Err("enough".to_owned()),
            };
            let verdict = judge_watched(&stack, path, &mut solvers, &mut watch);
            let proved = verdict.as_ref().is_ok_and(|judged| judged.is_proved());
            let said = if proved { "proved" } else { "open" };
            if before.is_none() {
                written += &format!("{name}\t{mark}\t{said}\n");
                continue;
            }
            let alone = Automaton { paths: vec![path.clone()], ..stack.clone() };
            let ways = verdict.iter().flat_map(|judged| &judged.ways);
            let values = ways.filter_map(|way| way.verdict.as_ref().err()).find(|open| !open.values.is_empty());
            let is_same = std::panic::catch_unwind(|| {
                agree(&alone) && values.is_none_or(|open| agree_by(&alone, &hints(path, &alone, &open.values)))
            });
            let is_same = is_same.unwrap_or(false);
            // An unchanged path that was open says nothing.
            if is_same && !was_proved {
                continue;
            }
            judged += usize::from(!RARE.iter().any(|file| name.starts_with(file)));
            shown += usize::from(!proved && !is_same && was_proved);
            let runs = if is_same { "same" } else { "other" };
            let found = if values.is_some() { "by values" } else { "" };
            println!("path\t{name}\t{said}\t{runs}\t{}\t{found}", if was_proved { "was proved" } else { "was open" });
        }
    }
    if before.is_none() {
        let proved = written.lines().filter(|line| line.ends_with("\tproved")).count();
        println!("all\t{}\t{proved}", written.lines().count());
        file.iter().for_each(|file| std::fs::write(file, &written).expect("a file"));
    }
    println!("done");
}
