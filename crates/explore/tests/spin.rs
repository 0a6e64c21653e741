//! The same closed model in SPIN, written by hand: verdicts and counts must agree.
//!
//! Safety is an assertion there. Progress is the LTL property `[] (calm -> <> done)`: if the network becomes calm for
//! good (it neither loses nor duplicates, and timers expire only when nothing is under way), all is eventually
//! delivered. That implies our property ("can still be delivered"), which LTL cannot express; in these models they
//! agree.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{self, *};
use mokume_explore::*;

/// One run of the verifier that SPIN generates.
struct Pan {
    errors: u64,
    states: u64,
    transitions: u64,
    bytes: f64,
}

/// `None`, with a message, if SPIN or gcc is not installed.
fn is_installed() -> bool {
    let answers = |program: &str, flag: &str| {
        Command::new(program).arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    let both = answers("spin", "-V") && answers("gcc", "--version");
    if !both {
        println!("SKIPPED: `spin` and `gcc` are needed, and are not both installed");
    }
    both
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    Safety,
    Progress,
}

fn verify(name: &str, (from_a, from_b, capacity): (usize, usize, usize), fault: &str, check: Check) -> Pan {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("spin_{name}"));
    std::fs::create_dir_all(&folder).expect("a folder for SPIN");
    std::fs::copy(common::folder().join("stop_and_wait.pml"), folder.join("model.pml")).expect("the model");
    let mut spin = Command::new("spin");
    spin.current_dir(&folder).arg("-a");
    spin.args([format!("-DFROM_A={from_a}"), format!("-DFROM_B={from_b}"), format!("-DCAPACITY={capacity}")]);
    spin.args((!fault.is_empty()).then(|| format!("-D{}", fault.to_uppercase())));
    spin.args((check == Check::Progress).then_some("-DCALM")).arg("model.pml");
    run(&mut spin);
    let mut gcc = Command::new("gcc");
    let level = if name.starts_with("figures") { "-O2" } else { "-O0" };
    gcc.current_dir(&folder).args([level, "-w", "-DNOREDUCE", "-DVECTORSZ=1024", "-o", "pan", "pan.c"]);
    run(gcc.args((check == Check::Safety).then_some("-DSAFETY")));
    let mut pan = Command::new(folder.join("pan"));
    pan.current_dir(&folder).args(["-m1000000", "-w24"]).args((check == Check::Progress).then_some("-a"));
    read_pan(&run(&mut pan))
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it was installed a moment ago");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn read_pan(text: &str) -> Pan {
    let before = |mark: &str| {
        let words = text.lines().find(|line| line.contains(mark)).and_then(|line| line.split(mark).next());
        words.and_then(|words| words.split_whitespace().last()).and_then(|word| word.parse::<f64>().ok())
    };
    let errors = text.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Pan {
        errors: errors.unwrap_or_else(|| panic!("no count of errors in\n{text}")),
        states: before(" states, stored").unwrap_or(0.0) as u64,
        transitions: before(" transitions").unwrap_or(0.0) as u64,
        bytes: before("\ttotal actual memory usage").unwrap_or(0.0) * 1024.0 * 1024.0,
    }
}

#[test]
fn verdicts_agree_with_spin() {
    if !is_installed() {
        return;
    }
    for name in std::iter::once("").chain(FAULTS.iter().map(|fault| fault.name)) {
        let ours = match FAULTS.iter().find(|fault| fault.name == name) {
            Some(fault) => explore(&fault.automaton(), &world(4, 0), Effort::default()),
            None => explore(&right(), &world(4, 0), Effort::default()),
        };
        let ours = ours.expect("it fits").violation().map(|(property, _)| property);
        let safety = verify(&format!("{name}_safety"), (4, 0, 2), name, Check::Safety);
        let progress = verify(&format!("{name}_progress"), (4, 0, 2), name, Check::Progress);
        println!("{name:30} ours {ours:?}; SPIN: assertion {}, progress {}", safety.errors, progress.errors);
        assert_eq!(safety.errors > 0, ours == Some(Property::Order), "{name}: safety");
        assert_eq!(progress.errors > 0, ours.is_some(), "{name}: progress");
    }
}

#[test]
fn states_and_steps_are_as_many_as_in_spin() {
    if !is_installed() {
        return;
    }
    for (from_a, from_b, capacity) in [(4, 0, 2), (3, 3, 1), (4, 4, 2), (2, 2, 3)] {
        let mut world = world(from_a, from_b);
        world.network.capacity = capacity;
        let ours = explore(&right(), &world, Effort { progress: false, ..Effort::default() }).expect("it fits");
        let name = format!("count_{from_a}_{from_b}_{capacity}");
        let theirs = verify(&name, (from_a, from_b, capacity), "", Check::Safety);
        // SPIN counts the creation of the first state as a transition.
        assert_eq!((ours.states, ours.transitions + 1), (theirs.states, theirs.transitions), "{world}");
    }
}

/// `./campaign spin`
#[test]
#[ignore = "campaign: spin"]
fn figures() {
    println!("stop and wait, FIFO channels that lose and duplicate, one core, CPU time of one run each:");
    println!("ours: search with traces, without the progress sweeps; SPIN: pan -DSAFETY -DNOREDUCE, gcc -O2, -w24");
    for (from_a, from_b, capacity) in [(10, 10, 3), (12, 12, 4)] {
        let mut world = world(from_a, from_b);
        world.network.capacity = capacity;
        let (mine, _) = cpu_seconds();
        let ours = explore(&right(), &world, Effort { progress: false, ..Effort::default() }).expect("it fits");
        let took = cpu_seconds().0 - mine;
        let rate = |count: u64, took: f64| count as f64 / took / 1e6;
        println!(
            "{from_a} + {from_b} messages, capacity {capacity}: {} states, {} transitions\n  ours {took:.2} s, {:.2} M states/s, {:.1} M transitions/s, {:.1} B a state",
            ours.states,
            ours.transitions,
            rate(ours.states, took),
            rate(ours.transitions, took),
            ours.bytes_per_state,
        );
        if is_installed() {
            let name = format!("figures_{from_a}_{from_b}_{capacity}");
            // An empty run first, to measure SPIN and gcc themselves: their time is subtracted.
            let (_, start) = cpu_seconds();
            let theirs = verify(&name, (from_a, from_b, capacity), "", Check::Safety);
            let both = cpu_seconds().1 - start;
            let (_, start) = cpu_seconds();
            verify(&name, (1, 0, 1), "", Check::Safety);
            let took = both - (cpu_seconds().1 - start);
            println!(
                "  SPIN {took:.2} s, {:.2} M states/s, {:.1} M transitions/s, {:.1} B a state",
                rate(theirs.states, took),
                rate(theirs.transitions, took),
                theirs.bytes / theirs.states as f64,
            );
        }
    }
}

/// The time of this process, and of the processes that it has waited for; in hundredths (Linux).
fn cpu_seconds() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(") ").next().unwrap_or("").split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    let sum = |from: usize| fields.get(from..from + 2).map_or(0.0, |pair| pair.iter().sum::<f64>() / 100.0);
    (sum(11), sum(13))
}
