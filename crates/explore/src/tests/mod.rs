//! Tests of the checker: against a simple search that cannot have the same faults, against the interpreter, and with
//! planted faults.

mod anything;
mod naive;
mod walk;

use std::path::Path;

use mokume_reaction::Automaton;

use crate::World;

fn model() -> Automaton {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/explore/stop_and_wait.ra");
    let text = std::fs::read_to_string(path).expect("the model of the tests");
    let mut sources = mokume_base::SourceMap::default();
    let file = sources.add("stop_and_wait.ra", text.clone());
    mokume_reaction::text::parse(file, &text).automaton
}

fn world(from_a: usize, from_b: usize) -> World {
    let mut world = World::of(&model()).expect("one port of each kind");
    world.application.messages = vec![from_a, from_b];
    world.application.credit = Some((1, "ready".to_string()));
    world
}
