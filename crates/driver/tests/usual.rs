//! `library/usual.txt`: the usual ways of the library's layers, which give good paths without a profile.

use std::path::{Path, PathBuf};

use mokume_base::RealWorld;
use mokume_driver::compile::{self, Compiled};
use mokume_driver::machines::Backend;
use mokume_driver::profile::{self, Written};
use mokume_driver::sim;
use mokume_driver::usual::{shipped, Usual};

/// The networks whose ways count as usual.
const NETWORKS: [(&str, &str, &str); 5] = [
    ("benches/tcp_usual.mok", "Usual", "Host"),
    ("benches/usual.mok", "OverOne", "Both"),
    ("benches/usual.mok", "OverBoth", "Dual"),
    ("benches/usual.mok", "WithEcho", "Host6"),
    ("benches/stacks/sliding_usual.mok", "Usual", "Sliding"),
];

/// One in this many reactions may go a way that is left out.
const RARE: u64 = 1_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A stack in a network of a file, or in its only one, and the ways that its reactions take.
pub fn ways(file: &str, network: Option<&str>, stack: &str) -> (Compiled, Written) {
    let file = root().join(file).to_string_lossy().into_owned();
    let checked = compile::check(&RealWorld, &[file]).expect("a file");
    let network = sim::choose(&checked, network).expect("a network");
    let mut stacks = sim::stacks(&checked, network, &RealWorld).0;
    let number =
        profile::choose(&checked, &stacks.keys().copied().collect::<Vec<_>>(), Some(stack)).expect("the stack");
    let prepared = sim::Prepared::new(&checked, network, &stacks, Backend::Interpreter).expect("a network that runs");
    let written = profile::record(&checked, &prepared, (number, &stacks[&number]), 1..2, &RealWorld, &mut |_, _| {});
    let written = written.expect("a run");
    drop(prepared);
    (stacks.remove(&number).expect("the stack"), written)
}

fn usual() -> Usual {
    let mut usual = Usual::default();
    for (file, network, stack) in NETWORKS {
        let (compiled, written) = ways(file, Some(network), stack);
        usual.add(&mokume_analyse::laid_open(&compiled.composed), &written.profile, RARE);
    }
    usual
}

#[test]
fn what_comes_with_mokume_is_what_its_networks_do() {
    let now = usual().print();
    let was = shipped();
    assert_eq!(Usual::parse(was).map(|usual| usual.print()), Ok(now), "old: `./campaign usual` makes it anew");
}

#[test]
#[ignore = "campaign: usual"]
fn what_is_usual_is_made_anew() {
    std::fs::write(root().join("library/usual.txt"), usual().print()).expect("written");
}
