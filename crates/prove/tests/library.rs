//! Stacks of library workers as the front end writes them, fused and judged. Two triples are drawn by a seed; what cannot be
//! read symbolically is said, and is never counted as proved.

mod common;

use common::{composed, judged, text_of};
use mokume_optimize::fuse;
use mokume_prove::judge::Verdict;

fn report(name: &str) -> Option<(usize, usize)> {
    let layers = composed(&text_of(&format!("fuse/library/{name}.ra")));
    let fused = fuse(&layers);
    let faults = mokume_reaction::verify::verify(&fused);
    assert!(faults.is_empty(), "{name}: {faults:?}");
    let inputs: usize = fused.ports.iter().map(|port| port.inputs.len()).sum();
    for path in &fused.paths {
        println!("{name}: path {}", path.name);
    }
    let started = std::time::Instant::now();
    let judgement = judged(&fused)?;
    let refuted = judgement.first_refuted();
    assert!(refuted.is_none(), "{name}: {refuted:?}");
    let proved = judgement.findings.iter().filter(|finding| finding.verdict == Verdict::Proved).count();
    for finding in judgement.findings.iter().filter(|finding| finding.verdict != Verdict::Proved) {
        println!("{name}: not decided: {} {}: {:?}", finding.condition, finding.about, finding.verdict);
    }
    println!(
        "FIGURE: library {name}: {} paths for {inputs} events, {proved} of {} goals proved in {:.1} s",
        fused.paths.len(),
        judgement.findings.len(),
        started.elapsed().as_secs_f64()
    );
    Some((fused.paths.len(), judgement.findings.len() - proved))
}

/// Paths that are found and proved. Three of the drawn stacks have a CRC: a loop over octets, whose size no path can say.
const STACKS: [(&str, usize); 5] = [("morpheus", 4), ("drawn1", 0), ("drawn2", 2), ("drawn3", 0), ("drawn4", 0)];

#[test]
fn library_stacks() {
    for (name, paths) in STACKS {
        if let Some(found) = report(name) {
            assert_eq!(found, (paths, 0), "{name}: paths, and goals that are not proved");
        }
    }
}
