//! A solver's finding is replayed: for a fault that is planted in a path it becomes a `test` that the layers pass, and
//! the path does not, in the interpreter and in C.

use std::path::Path;

use mokume_base::RealWorld;
use mokume_driver::compile::{check_texts, choose_stack, compile};
use mokume_driver::prove::{replay, Beside};
use mokume_driver::usual;
use mokume_emit_c::{CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_prove::judge::judge;
use mokume_reaction::{verify, Automaton, Machine};
use mokume_testkit::Script;

use super::faults;
use super::{shuffled, there, LIMIT};
use crate::campaign::build;

/// The script of a test after a stack.
fn script(text: String) -> Result<Script, String> {
    let checked = check_texts(&RealWorld, vec![("replayed.mok".to_owned(), text)], Vec::new());
    let stack = choose_stack(&checked, None).map_err(|failure| failure.message)?;
    let (compiled, diagnostics) = compile(&checked, stack, &RealWorld);
    let compiled = compiled.ok_or(format!("{diagnostics:?}"))?;
    let known = (&compiled.uncomposed, &compiled.protocols);
    let test = checked.program.tests.last().ok_or(format!("no test: {:?}", checked.diagnostics))?;
    let (script, diagnostics) = mokume_lower::test_script(&checked.program, known, &checked.sources, test);
    script.ok_or(format!("{diagnostics:?}"))
}

fn passes(automaton: &Automaton, script: &Script, machine: &mut impl Machine) -> bool {
    mokume_testkit::run(automaton, script, machine).is_empty()
}

/// Whether it passes in C; `None` without a compiler.
fn passes_in_c(layers: &Automaton, pathed: &Automaton, script: &Script) -> Option<bool> {
    let program = std::sync::Arc::new(CProgram::build(&[pathed], &build()).ok()?);
    let memory = Memory { buffers: 256, buffer_octets: 4096, messages: 1024, outputs: 2048, reports: 256 };
    let params = mokume_testkit::parameters(layers, script);
    let mut machine = CMachine::new(&program, 0, &params, script.seed, memory).ok()?;
    Some(passes(layers, script, &mut machine))
}

/// Plants faults of a stack until this many are replayed.
fn replayed(file: &str, wanted: usize) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    let checked = check_texts(&RealWorld, vec![(file.to_owned(), source.clone())], Vec::new());
    let stack = choose_stack(&checked, None).unwrap();
    let compiled = compile(&checked, stack, &RealWorld).0.unwrap();
    let fused = mokume_fuse::with_memos(&compiled.composed, &usual::of(&compiled.composed), mokume_fuse::WORTH);
    let mut solvers = there(LIMIT);
    let (mut found, mut tried) = (0, 0);
    for fault in shuffled(faults::all(&fused, 3), 3) {
        let faults::Home::Path(path) = fault.home else { continue };
        let faulty = fault.planted(&fused);
        if found >= wanted || tried >= 20 * wanted || !verify(&faulty).is_empty() {
            continue;
        }
        let flat = mokume_analyse::flat(&faulty).into_owned();
        let Ok(judged) = judge(&flat, &flat.paths[path], &mut solvers) else { continue };
        let mut open = judged.ways.iter().filter_map(|way| way.verdict.as_ref().err());
        let Some(open) = open.find(|open| !open.values.is_empty()) else { continue };
        tried += 1;
        let beside = Beside { layers: &compiled.uncomposed, natives: &compiled.natives, lessons: &[] };
        let Some(shown) = replay(beside, &compiled.written, (&flat, &flat.paths[path]), &open.values) else { continue };
        let script = script(format!("{source}\n{}", shown.test)).unwrap_or_else(|why| panic!("{why}\n{}", shown.test));
        let params = mokume_testkit::parameters(&compiled.uncomposed, &script);
        let mut layers = Instance::new(&compiled.uncomposed, &params, script.seed);
        let mut paths = Instance::new(&flat, &params, script.seed).with_paths();
        assert!(passes(&compiled.uncomposed, &script, &mut layers), "{fault}\n{}", shown.test);
        // Counters and deadlines are not among a test's outputs.
        let differences = mokume_testkit::run(&compiled.uncomposed, &script, &mut paths);
        let is_seen = !differences.is_empty();
        // Paths in C ask first for the octets that look-ups read, and refuse without them; the interpreter reports what is read beyond the end.
        let is_beyond = differences.iter().any(|found| format!("{found:?}").contains("bounds"));
        if is_beyond {
            continue;
        }
        found += usize::from(is_seen);
        if is_seen {
            let in_c = passes_in_c(&compiled.uncomposed, &faulty, &script);
            assert_ne!(in_c, Some(true), "C does not show {fault}\n{}", shown.test);
            println!("{fault}\nlayers: {}\npath: {}\n{}", shown.layers, shown.path, shown.test);
        }
    }
    println!("FIGURE: judge: {found} of {tried} refuted faults of {file} are replayed as a test, in the interpreter and in C");
    (found, tried)
}

#[test]
fn what_is_refuted_is_replayed() {
    let (found, tried) = replayed("benches/sequencer.mok", 2);
    assert!(found >= 2, "{found} of {tried}");
}

#[test]
#[ignore = "campaign: judge"]
fn what_is_refuted_of_many_stacks_is_replayed() {
    for file in ["benches/sequencer.mok", "benches/stacks/four.mok", "benches/stacks/sliding.mok", "examples/host.mok"]
    {
        let (found, tried) = replayed(file, 6);
        assert!(found >= 2, "{found} of {tried} of {file}");
    }
}
