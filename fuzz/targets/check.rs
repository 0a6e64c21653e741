//! The whole of `mokume check`: names, types, messages, wires, stacks as a whole, tests and networks.
#![no_main]

use mokume_base::world::{MemoryWorld, World};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let world = MemoryWorld::default();
    world.write("fuzzed.mok", text.as_bytes()).expect("memory takes it");
    let Ok(checked) = mokume_driver::compile::check(&world, &["fuzzed.mok".to_string()]) else { return };
    let diagnostics = mokume_driver::check::all(&checked, &world);
    let _ = mokume_base::render::render_all(&diagnostics, &checked.sources, mokume_base::render::Colour::Off);
});
