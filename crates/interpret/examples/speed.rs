//! Measures the interpreter: `cargo run --release -p mokume-interpret --example speed [file.ra]`.
//!
//! Drives a stack with the inputs of all its ports in turn and prints inputs and instants a second.

use std::time::Instant;

use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Handle, Machine, PortId, Type};

fn datum(ty: Type, number: u64) -> Datum {
    match ty {
        Type::Msg => Datum::Message(vec![number as u8; 64]),
        Type::Ref(_) => Datum::Handle(Handle { object: 0, generation: 0 }),
        _ => Datum::Word(number & 1),
    }
}

fn drive(name: &str, automaton: &Automaton) {
    let mut machine = Instance::new(automaton, &[], 0);
    machine.start(0);
    let inputs: Vec<(PortId, u32, Vec<Type>)> = automaton
        .ports
        .iter()
        .enumerate()
        .flat_map(|(port, definition)| {
            let events = definition.inputs.iter().enumerate();
            events.map(move |(event, input)| {
                (PortId::from(port), event as u32, input.params.iter().map(|(_, ty)| *ty).collect())
            })
        })
        .collect();
    let rounds = 200_000u64;
    let begin = Instant::now();
    for number in 0..rounds {
        let (port, event, types) = &inputs[(number % inputs.len() as u64) as usize];
        let args: Vec<Datum> = types.iter().map(|ty| datum(*ty, number / inputs.len() as u64)).collect();
        machine.input(number * 1000, *port, *event, &args);
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{name}: {:.0} inputs a second, {:.2} us each", rounds as f64 / seconds, seconds * 1e6 / rounds as f64);
}

fn main() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reaction/right/stop_and_wait.ra");
    let path = std::env::args().nth(1).unwrap_or(default.to_string());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return eprintln!("{path}: {error}"),
    };
    let text = mokume_testkit::split(&text).0.to_string();
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add(path, &*text), &text);
    if let Some(diagnostic) = parsed.diagnostics.first() {
        return eprintln!("{}", diagnostic.message);
    }
    drive("uncomposed", &parsed.automaton);
    if let Some(composed) = compose(&parsed.automaton, Options::default()).automaton {
        drive("composed", &composed);
    }
}
