//! The four cases that break a careless scheme, each fused by all passes and proved, and each broken and refuted:
//! two sessions, a message without octets, a grant that shares the base, one buffer too many.

mod common;

use common::replay::{message, replay, Model};
use common::{composed, failures, judged, parsed, text_of};
use mokume_interpret::Instance;
use mokume_optimize::fuse;
use mokume_prove::judge::{Judgement, Verdict};
use mokume_reaction::{Automaton, Datum, Effect, Machine, PathArg};

const MORPHEUS: &str = "reaction/right/fcfs_sequencer_credit.ra";

fn is_proved(name: &str, automaton: &Automaton) {
    let faults = mokume_reaction::verify::verify(automaton);
    assert!(faults.is_empty(), "{name}: {faults:?}");
    let started = std::time::Instant::now();
    let Some(judgement) = judged(automaton) else { return };
    assert!(judgement.is_proved(), "{name}: {:?}", failures(&judgement));
    let (paths, goals) = (automaton.paths.len(), judgement.findings.len());
    let rewritten = judgement.findings.iter().filter(|finding| finding.solver == "rewriting").count();
    println!(
        "FIGURE: {name}: {paths} paths proved by {goals} goals ({rewritten} by rewriting alone) in {:.1} s",
        started.elapsed().as_secs_f64()
    );
}

fn refuted<'j>(judgement: &'j Judgement, condition: &str, about: &str) -> Option<&'j Vec<(String, u64)>> {
    judgement.findings.iter().find_map(|finding| match &finding.verdict {
        Verdict::Refuted(values) if finding.condition == condition && finding.about.contains(about) => Some(values),
        _ => None,
    })
}

#[test]
fn the_stack_with_all_passes() {
    is_proved("fcfs/sequencer/credit", &fuse(&composed(&text_of(MORPHEUS))));
    is_proved("sequencer/link with addresses", &fuse(&composed(&text_of("fuse/addressed.ra"))));
}

#[test]
fn two_sessions_with_shared_and_own_state() {
    is_proved("fcfs/sequencer/credit, shared numbers", &fuse(&composed(&text_of("fuse/shared_sequence.ra"))));
    is_proved("sessions with one window", &fuse(&composed(&text_of("fuse/two_sessions.ra"))));
    // The lens in the file is right for one session, and wrong for two.
    let Some(judgement) = judged(&parsed(&text_of("fuse/two_sessions.ra"))) else { return };
    assert!(refuted(&judgement, "V1", "path").is_none(), "{:?}", failures(&judgement));
    assert!(refuted(&judgement, "V3", "another record").is_some(), "{:?}", failures(&judgement));
    println!("FIGURE: fault a share of the room that another session does not lower: refuted");
}

#[test]
fn a_message_without_octets() {
    let text = text_of("fuse/octet_credit.ra");
    is_proved("credit in octets", &fuse(&composed(&text)));
    is_proved("credit in octets, budget written by hand", &parsed(&text));
    let careless = parsed(&text.replace("  guard (size(m) >= 1)\n", ""));
    let Some(judgement) = judged(&careless) else { return };
    let model: Model = refuted(&judgement, "V1", "send").expect("refuted").iter().cloned().collect();
    assert_eq!(model["m.size"], 0);
    let layers = Automaton { lenses: Vec::new(), paths: Vec::new(), ..careless.clone() };
    let mut stack = Instance::new(&layers, &[], 1);
    stack.start(0);
    let seen = replay(&careless, &careless.paths[0], stack, &model, &[Datum::Message(message(&model, "m"))]);
    assert!(seen.path.is_some() && seen.differs(), "{seen:?}");
    println!(
        "FIGURE: fault a budget in octets that an empty message passes: refuted with a message of 0 octets, replayed"
    );
}

#[test]
fn a_grant_that_shares_the_base() {
    let mut fused = fuse(&composed(&text_of(MORPHEUS)));
    let grants = |effect: &Effect| matches!(effect, Effect::Consume { .. });
    let place = fused.paths.iter().rposition(|path| path.commit.iter().any(grants)).expect("a path for grants");
    // It forgets the limit: the credit is written, and what the limit was worth before is left as it was.
    let limit = fused.paths[place].commit.iter().position(|effect| matches!(effect, Effect::SetLens { .. }));
    fused.paths[place].commit.remove(limit.expect("the limit is renewed"));
    let Some(judgement) = judged(&fused) else { return };
    assert!(refuted(&judgement, "V1", &fused.paths[place].name).is_some(), "{:?}", failures(&judgement));
    println!("FIGURE: fault a grant that forgets the limit: refuted");
}

#[test]
fn one_buffer_too_many() {
    let mut fused = fuse(&composed(&text_of("fuse/two_outs.ra")));
    let out = fused.paths[0].outs.iter_mut().flat_map(|out| &mut out.args).find_map(|arg| match arg {
        PathArg::Message(message) => Some(message),
        _ => None,
    });
    out.expect("a message").octets = vec![mokume_reaction::Piece::Octets(vec![1])];
    let Some(judgement) = judged(&fused) else { return };
    assert!(refuted(&judgement, "V8", "no more buffers").is_some(), "{:?}", failures(&judgement));
    println!("FIGURE: fault a path that takes a buffer that the layers do not take: refuted");
}

#[test]
fn outputs_are_emissions_in_order() {
    let mut fused = fuse(&composed(&text_of("fuse/emit_then_out.ra")));
    is_proved("outputs between emissions", &fused);
    fused.paths[0].outs.reverse();
    let Some(judgement) = judged(&fused) else { return };
    assert!(refuted(&judgement, "V1", "outputs are those").is_some(), "{:?}", failures(&judgement));
}
