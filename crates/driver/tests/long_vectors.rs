//! A bounded vector is a few arrays: the generated code does not grow with its bound.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_driver::StackId;

/// Lines of C of each stack of a test program.
fn lines(file: &str) -> Vec<usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/program").join(file);
    let checked = compile::check(&RealWorld, &[path.to_string_lossy().into_owned()]).unwrap();
    let stacks = 0..checked.program.stacks.len();
    let of = |stack: usize| {
        let (compiled, diagnostics) = compile::compile(&checked, StackId(stack as u32), &RealWorld);
        let compiled = compiled.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let options = mokume_emit_c::Options { prefix: "long".to_string(), ..Default::default() };
        let generated = mokume_emit_c::emit(&compiled.composed, &options).unwrap();
        generated.source.lines().count()
    };
    stacks.map(of).collect()
}

#[test]
fn long_vectors_are_short_in_c() {
    let lines = lines("vectors_long.mok");
    println!("FIGURE: lines of C of long vectors: {lines:?}");
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|lines| *lines <= 2000), "{lines:?}");
}
