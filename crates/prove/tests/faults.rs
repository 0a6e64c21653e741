//! Six planted faults: the judge refutes each with a state and an event, and on these the layers and the path differ.

mod common;

use common::replay::{message, replay, Model};
use common::{judged, parsed, text_of};
use mokume_interpret::Instance;
use mokume_prove::judge::{Finding, Judgement, Verdict};
use mokume_reaction::{Automaton, Datum, Handle, Machine, PortId};

const STACK: &str = "reaction/right/fcfs_sequencer_credit_composed.ra";

/// The stack written by hand with one text in place of another.
fn changed(from: &str, to: &str) -> Automaton {
    let text = text_of(STACK);
    assert!(text.contains(from), "nothing to plant the fault in");
    parsed(&text.replace(from, to))
}

fn layers_of(automaton: &Automaton) -> Automaton {
    Automaton { lenses: Vec::new(), paths: Vec::new(), ..automaton.clone() }
}

/// The first refutation of a path (V1), if there is one.
fn refutation<'j>(judgement: &'j Judgement, path: &str) -> Option<(&'j Finding, Model)> {
    judgement.findings.iter().find_map(|finding| match &finding.verdict {
        Verdict::Refuted(values) if finding.condition == "V1" && finding.about.starts_with(&format!("path {path}")) => {
            Some((finding, values.iter().cloned().collect()))
        }
        _ => None,
    })
}

/// A session of the Morpheus stack that has been opened: its handles at the application and at the device.
fn opened(automaton: &Automaton, peer: u64, port: u64) -> (Instance, Handle, Handle) {
    let mut stack = Instance::new(&layers_of(automaton), &[], 1);
    stack.start(0);
    let outcome = stack.input(0, PortId(0), 0, &[Datum::Word(peer), Datum::Word(port)]);
    let handles = common::replay::handles_of(&outcome.outputs);
    let at = |port: u32| {
        let output = outcome.outputs.iter().find(|output| output.port == PortId(port)).expect("opened");
        common::replay::handles_of(std::slice::from_ref(output))[0]
    };
    assert_eq!(handles.len(), 2);
    (stack, at(0), at(1))
}

/// The fault is found, and seen again outside the prover.
fn is_refuted_and_replayed(name: &str, automaton: &Automaton, path: usize) {
    let Some(judgement) = judged(automaton) else { return };
    let path = &automaton.paths[path];
    let Some((finding, model)) = refutation(&judgement, &path.name) else {
        panic!("{name}: not refuted: {:?}", common::failures(&judgement));
    };
    let octets = message(&model, "m");
    let named = |name: &str| model.get(name).copied();
    // The map of the state has the key that the model's message asks for.
    let asked = octets.get(8..10).map(|port| u64::from(port[0]) << 8 | u64::from(port[1]));
    let (stack, app, device) = opened(automaton, named("fcfs.B.peer").unwrap_or(1), asked.unwrap_or(2));
    let target = if path.port == PortId(0) { app } else { device };
    let seen = replay(automaton, path, stack, &model, &[Datum::Handle(target), Datum::Message(octets)]);
    assert!(seen.path.is_some(), "{name}: the path is not taken in the state of the refutation ({})", finding.about);
    assert!(seen.differs(), "{name}: the refutation is not seen outside the prover: {seen:?}");
    println!("FIGURE: fault {name}: refuted ({}), replayed", finding.about);
}

#[test]
fn a_limit_too_high() {
    let text = text_of(STACK);
    let text = text.replace(
        "refresh budget := (if (o_len == 0) then (o_credit - u16(base)) else 0)",
        "refresh budget := (if (o_len == 0) then ((o_credit - u16(base)) + 1) else 0)",
    );
    let text = text.replace(
        "invariant (budget <= (if (o_len == 0) then (o_credit - u16(base)) else 0))",
        "invariant (budget <= (if (o_len == 0) then ((o_credit - u16(base)) + 1) else 0))",
    );
    is_refuted_and_replayed("limit too high", &parsed(&text), 0);
}

/// Octets kept in the record that nothing ties to the header they stand for.
#[test]
fn a_stale_template() {
    let text = text_of(STACK).replace("  cold o_len: u4\n", "  cold o_len: u4\n  hot template: octets \"00000000\"\n");
    let text = text.replace("message(\"00000000\" ++", "message(r.template ++");
    is_refuted_and_replayed("stale template", &parsed(&text), 0);
    let kept = "  invariant (sum16(template[0, 2]) == 0)\n  invariant (sum16(template[2, 2]) == 0)\n  refresh budget";
    let automaton = parsed(&text.replace("  refresh budget", kept));
    let Some(judgement) = judged(&automaton) else { return };
    assert!(judgement.is_proved(), "{:?}", common::failures(&judgement));
}

#[test]
fn an_omitted_cell() {
    is_refuted_and_replayed("omitted cell", &changed("  set r.seq.S.last := n\n", ""), 1);
}

#[test]
fn a_missing_guard() {
    is_refuted_and_replayed("missing guard", &changed("  guard (r.credit.S.taken < 15)\n", ""), 1);
}

#[test]
fn off_by_one() {
    is_refuted_and_replayed("off by one", &changed("set r.base := (r.base + 1)", "set r.base := (r.base + 2)"), 0);
}

#[test]
fn outs_in_the_wrong_order() {
    let layers = common::composed(&text_of("fuse/two_outs.ra"));
    let mut fused = mokume_optimize::structure::fuse(&layers);
    if let Some(judgement) = judged(&fused) {
        assert!(judgement.is_proved(), "{:?}", common::failures(&judgement));
    }
    fused.paths[0].outs.reverse();
    let Some(judgement) = judged(&fused) else { return };
    let (_, model) = refutation(&judgement, "app.send").expect("refuted");
    let mut stack = Instance::new(&layers, &[], 1);
    stack.start(0);
    let seen = replay(&fused, &fused.paths[0], stack, &model, &[Datum::Message(message(&model, "m"))]);
    assert!(seen.path.is_some() && seen.differs(), "{seen:?}");
    println!("FIGURE: fault outs in the wrong order: refuted, replayed");
}

/// A put that forgets the limit is a lie about rare code: the laws find it, and the concrete record shows it.
#[test]
fn a_put_that_leaves_the_limit() {
    let automaton = changed("put o_credit := (it + u16(base)), budget := 0", "put o_credit := (it + u16(base))");
    let Some(judgement) = judged(&automaton) else { return };
    let refuted = judgement.findings.iter().find_map(|finding| match &finding.verdict {
        Verdict::Refuted(values) if finding.condition == "V5" => Some(values.iter().cloned().collect::<Model>()),
        _ => None,
    });
    let model = refuted.expect("refuted");
    let lens = mokume_reaction::LensId(automaton.lenses.len() as u32 - 1);
    let (stack, ..) = opened(&automaton, 1, 2);
    let records = [(lens, common::replay::record(&automaton, lens, &model))].into();
    let mut state = common::concrete::State { automaton: &automaton, stack: &stack, records };
    assert!(state.keeps_invariants(lens));
    let view = automaton.lenses[lens.index()]
        .views
        .iter()
        .find(|view| view.put.len() == 1 && automaton.cell(view.class, view.cell).name == "credit");
    state.update(lens, &view.expect("the view").put.clone(), model["it"]);
    assert!(!state.keeps_invariants(lens));
}

#[test]
fn a_path_that_is_never_taken() {
    let automaton =
        changed("  guard (r.budget >= 1) refresh r\n", "  guard (r.budget >= 1) refresh r\n  guard (r.budget < 1)\n");
    let Some(judgement) = judged(&automaton) else { return };
    let vacuous = |finding: &Finding| finding.condition == "V10" && matches!(finding.verdict, Verdict::Refuted(_));
    assert!(judgement.findings.iter().any(vacuous), "{:?}", common::failures(&judgement));
}
