//! The passes that make paths, each switched off by name (`--pass NAME=off`).

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_driver::path::{fused, Fuse, Pass, Passes};
use mokume_driver::usual;
use mokume_reaction::text;

/// Stacks that show an effect of each pass.
const STACKS: [(&str, &str); 3] =
    [("examples/host.mok", "Host"), ("benches/tcp.mok", "Host"), ("benches/stacks/sliding.mok", "Sliding")];

#[test]
fn each_pass_does_something() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut idle = Pass::ALL.to_vec();
    for (file, stack) in STACKS {
        let name = root.join(file).to_string_lossy().into_owned();
        let checked = compile::check(&RealWorld, &[name]).expect("a file");
        let chosen = compile::choose_stack(&checked, Some(stack)).expect("the stack");
        let composed = compile::compile_to_write(&checked, chosen).0.expect("no errors").composed;
        let made = |passes: Passes| {
            text::print(&fused(&composed, &usual::by(&composed, passes), Fuse { passes, ..Fuse::default() }))
        };
        let whole = made(Passes::ALL);
        idle.retain(|pass| made(Passes::ALL.without(*pass)) == whole);
    }
    assert_eq!(idle, [], "passes without which the same comes of {STACKS:?}");
}
