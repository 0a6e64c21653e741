//! The peak of buffers where limits of loops use values that layers publish, and runs that need as many.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_semantics::program::StackId;

const MTU: &str = "mtu 8 .. 14";

/// The message buffers that composing computes for a reaction of the stack in `tests/program/limits.mok`.
fn peak(mtu: &str) -> u32 {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/program/limits.mok");
    let text = std::fs::read_to_string(file).unwrap().replace(MTU, mtu);
    let name = std::env::temp_dir().join(format!("mokume-peak-{}-{}.mok", std::process::id(), mtu.replace(' ', "")));
    std::fs::write(&name, text).unwrap();
    let checked = compile::check(&RealWorld, &[name.to_string_lossy().into_owned()]).unwrap();
    let (compiled, diagnostics) = compile::compile(&checked, StackId(0), &RealWorld);
    let _ = std::fs::remove_file(name);
    let composed = compiled.unwrap_or_else(|| panic!("{diagnostics:?}")).composed;
    composed.composition.unwrap().peak
}

/// 40 octets in parts of the device's `mtu` minus three.
#[test]
fn the_peak_follows_from_what_is_published() {
    assert_eq!(peak(MTU), 40 / (8 - 2 - 1));
    assert_eq!(peak("mtu 13"), 40 / (13 - 2 - 1));
    assert_eq!(peak("mtu 4 .. 1514"), 40);
}
