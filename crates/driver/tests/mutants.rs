//! No text makes `mokume check` panic, however far it gets: mutated programs go through the front end and, if they are
//! accepted, through lowering, composing, and the steps of their tests. `MUTANTS=100000 FIRST=0` for more.

#[path = "../../semantics/tests/common/mutants.rs"]
mod victims;

use mokume_base::world::{MemoryWorld, World};
use mokume_driver::{check, compile};
use victims::first_victim;

/// The number in `./test`.
const MUTANTS: usize = 1_000;

fn whole(text: &str) {
    let world = MemoryWorld::default();
    world.write("mutant.mok", text.as_bytes()).expect("memory takes it");
    if let Ok(checked) = compile::check(&world, &["mutant.mok".to_string()]) {
        check::all(&checked, &world);
    }
}

#[test]
fn no_mutant_makes_the_whole_check_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, mutants) = (number("FIRST").unwrap_or(0), number("MUTANTS").unwrap_or(MUTANTS));
    if let Some((seed, path, text)) = first_victim(first..first + mutants, whole) {
        panic!("seed {seed}, from {}:\n{text}", path.display());
    }
    println!("FIGURE: mutated programs, whole stacks: seeds {first} to {}, no panic", first + mutants - 1);
}
