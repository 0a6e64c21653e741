//! Random stacks: each does the same with paths as without.
//!
//! `MOKUME_SEEDS=100..5000` uses others, `MOKUME_SHOW=1` prints a stack that differs.

use mokume_base::FileId;
use mokume_compose::{compose, Options};
use mokume_fuse::{Pass, Passes};
use mokume_interpret::{ways_of, Instance};
use mokume_reaction::profile::Profile;
use mokume_reaction::{text, verify, Automaton, Body, OpKind, Terminator};
use mokume_testkit::{asking, generate, meeting, meeting_hints, seeds, together, together_by, workers};

/// Inputs of a run, and runs of each automaton.
const STEPS: usize = 60;
const RUNS: u64 = 6;

/// The ways that reactions of an automaton take.
fn seen(composed: &Automaton) -> Profile {
    let open = mokume_analyse::laid_open(composed);
    ways_of(composed, &open, RUNS, |run, (same, watched)| {
        together(&open, same, watched, run, STEPS);
    })
}

/// The blocks to which several ways lead, without those that refuse.
fn meetings(body: &Body) -> usize {
    let mut ways_in = vec![0; body.blocks.len()];
    body.blocks.iter().flat_map(|block| block.terminator.targets()).for_each(|to| ways_in[to.block.index()] += 1);
    let several = body.blocks.iter().zip(ways_in).filter(|(_, ways_in)| *ways_in > 1);
    several.filter(|(block, _)| !matches!(block.terminator, Terminator::Refuse { .. })).count()
}

#[derive(Default)]
struct Counted {
    stacks: u64,
    paths: usize,
    taken: u64,
    memos: usize,
    recalled_of_found: usize,
    /// Events that are put off, and messages that are taken out of places.
    put_off: usize,
    taken_out: usize,
    wrong: Vec<String>,
}

fn compare(name: &str, seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> String) -> Counted {
    let mut counted = Counted::default();
    for seed in seeds {
        let written = generate(seed);
        let parsed = text::parse(FileId(0), &written);
        assert!(parsed.diagnostics.is_empty(), "{name} {seed}: {:?}\n{written}", parsed.diagnostics);
        let faults = verify(&parsed.automaton);
        assert!(faults.is_empty(), "{name} {seed}: {faults:?}\n{written}");
        let composed = compose(&parsed.automaton, Options::default()).automaton;
        let composed = composed.unwrap_or_else(|| panic!("{name} {seed} does not compose\n{written}"));
        let profile = seen(&composed);
        let none = Profile::default();
        // One pass is switched off, each in turn.
        let pass = Pass::ALL[seed as usize % Pass::ALL.len()];
        let without = Passes::ALL.without(pass);
        let made = [
            ("paths", mokume_fuse::with_paths(&composed, &none)),
            ("memos", mokume_fuse::with_memos(&composed, &none, 0)),
            ("paths by a profile", mokume_fuse::with_paths(&composed, &profile)),
            ("memos by a profile", mokume_fuse::with_memos(&composed, &profile, 0)),
            (pass.name(), mokume_fuse::fused(&composed, &none, without).automaton),
            (pass.name(), mokume_fuse::fused(&composed, &profile, without).automaton),
        ];
        counted.stacks += 1;
        for (kind, fused) in made {
            counted.paths += fused.paths.len();
            let ops = || fused.paths.iter().flat_map(|path| path.body.ops());
            counted.put_off += ops().filter(|op| matches!(op.kind, OpKind::Defer { .. })).count();
            counted.taken_out += ops().filter(|op| matches!(op.kind, OpKind::TakeHeld { .. })).count();
            let memos = fused.functions.iter().filter(|function| function.is_memo());
            counted.memos += memos.clone().count();
            counted.recalled_of_found += memos.filter(|memo| !memo.params.is_empty()).count();
            let faults = verify(&fused);
            let mut wrong = faults.first().map(|fault| fault.message.clone());
            for run in 0..RUNS {
                if wrong.is_some() {
                    break;
                }
                let mut layers = Instance::new(&parsed.automaton, &[], run);
                let mut paths = Instance::new(&fused, &[], run).with_paths();
                let found = together(&parsed.automaton, &mut layers, &mut paths, run, STEPS);
                counted.taken += paths.paths_taken().iter().sum::<u64>();
                wrong = found.map(|found| format!("{}\nafter\n  {}", found.what, found.inputs.join("\n  ")));
            }
            if let Some(wrong) = wrong {
                let shown = if std::env::var_os("MOKUME_SHOW").is_some() { text::print(&fused) } else { String::new() };
                counted.wrong.push(format!("{name} {seed} {kind}: {wrong}\n{shown}"));
            }
        }
    }
    println!(
        "FIGURE: random {name}: {} stacks, {} paths, taken {} times, {} memos, {} of an object, {} events put off, {} messages taken out, {} differences",
        counted.stacks,
        counted.paths,
        counted.taken,
        counted.memos,
        counted.recalled_of_found,
        counted.put_off,
        counted.taken_out,
        counted.wrong.len()
    );
    counted
}

#[test]
fn stacks_that_ask_do_with_paths_what_they_do_without() {
    let counted = compare("asking", seeds(0..60), asking);
    assert!(counted.wrong.is_empty(), "{}", counted.wrong.join("\n\n"));
    assert!(counted.taken > counted.stacks, "taken {} times", counted.taken);
    let Counted { put_off, taken_out, .. } = counted;
    assert!(put_off > 0 && taken_out > 0, "{put_off} put off, {taken_out} taken out");
}

#[test]
fn workers_do_with_paths_what_they_do_without() {
    let counted = compare("workers", seeds(0..60), workers);
    assert!(counted.wrong.is_empty(), "{}", counted.wrong.join("\n\n"));
    assert!(counted.taken > counted.stacks, "taken {} times", counted.taken);
}

#[test]
fn everything_does_with_paths_what_it_does_without() {
    let counted = compare("everything", seeds(0..20), generate::automaton);
    assert!(counted.wrong.is_empty(), "{}", counted.wrong.join("\n\n"));
}

/// Paths as they are written, not found: their ways meet often, and memos are all that is made of them.
#[test]
fn where_ways_meet_paths_with_memos_do_what_they_do_without() {
    let (mut taken, mut met, mut memos, mut wrong) = (0, 0, 0, Vec::new());
    let seeds = seeds(0..300);
    for seed in seeds.clone() {
        let written = meeting(seed);
        let parsed = text::parse(FileId(0), &written);
        assert!(parsed.diagnostics.is_empty(), "{seed}: {:?}\n{written}", parsed.diagnostics);
        let faults = verify(&parsed.automaton);
        assert!(faults.is_empty(), "{written}\n{seed}: {faults:?}");
        // Each second one with memos for everything.
        let worth = if seed % 2 == 0 { mokume_fuse::WORTH } else { 0 };
        let fused = mokume_fuse::remembered(&parsed.automaton, &mokume_fuse::Aside::default(), worth);
        met += fused.paths.iter().map(|path| meetings(&path.body)).sum::<usize>();
        memos += fused.functions.iter().filter(|function| function.is_memo()).count();
        let mut found = verify(&fused).first().map(|fault| fault.message.clone());
        for run in 0..RUNS {
            if found.is_none() {
                let mut layers = Instance::new(&parsed.automaton, &[], run);
                let mut paths = Instance::new(&fused, &[], run).with_paths();
                let hints = meeting_hints(run);
                let other = together_by(&parsed.automaton, (&mut layers, &mut paths), run, STEPS, &hints);
                taken += paths.paths_taken().iter().sum::<u64>();
                found = other.map(|other| format!("{}\nafter\n  {}", other.what, other.inputs.join("\n  ")));
            }
        }
        wrong.extend(found.map(|found| format!("{}\n{seed}: {found}", text::print(&fused))));
    }
    println!(
        "FIGURE: random meetings: {} paths, taken {taken} times, {memos} memos, ways meet {met} times, {} differences",
        seeds.end - seeds.start,
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        taken > seeds.end - seeds.start && met > 0 && memos > 0,
        "taken {taken} times, {met} meetings, {memos} memos"
    );
}
