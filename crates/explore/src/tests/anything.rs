//! Reactions of random automata, in the explorer and on the interpreter: every kind of cell, operation and branch.
//!
//! Time stands still at 0, so no timer expires; the walks over stop and wait cover timers.

use std::sync::Arc;

use mokume_base::Random;
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Handle, Machine, PortId, Type};

use super::walk::{same_cells, same_outcome};
use crate::host::{Host, Tables, NULL};
use crate::program::Program;
use crate::react::{react, Arg, Input};
use crate::{Application, Network, Timers, World};

/// The automaton of a seed. It samples no random numbers, as those differ here.
fn text(seed: u64) -> String {
    let text = mokume_testkit::generate::automaton(seed);
    text.replace("sample u8 from e", "param scale").replace("sample bool from e", "get e.f")
}

fn parse(text: &str) -> Automaton {
    let mut sources = mokume_base::SourceMap::default();
    let parsed = mokume_reaction::text::parse(sources.add("random", text), text);
    assert!(parsed.diagnostics.is_empty());
    parsed.automaton
}

/// A world must name ports; nothing uses them here.
fn world(automaton: &Automaton) -> World {
    let app = automaton.port_named("app").expect("a port of every random automaton");
    let deliver = automaton.ports[app.index()].outputs[0].event.clone();
    World {
        hosts: 1,
        params: Vec::new(),
        params_of: Vec::new(),
        network: Network {
            port: "net".into(),
            input: "frame".into(),
            output: "frame".into(),
            capacity: 1,
            loses: true,
            duplicates: false,
            reorders: false,
        },
        application: Application {
            port: "app".into(),
            open: Vec::new(),
            send: "m0".into(),
            deliver,
            messages: vec![0],
            credit: None,
        },
        timers: Timers::Free,
        random: crate::Random::Refused,
    }
}

/// An object of a class by its age, in both machines; or none.
fn object(random: &mut Random, host: &Host, machine: &Instance, class: mokume_reaction::ClassId) -> (Arg, Datum) {
    let living = machine.objects(class);
    match random.place(living.len() + 1) {
        none if none == living.len() || none >= host.objects[class.index()].len() => {
            (Arg::Object(NULL), Datum::Handle(Handle::NULL))
        }
        place => (Arg::Object(place as u64), Datum::Handle(living[place])),
    }
}

fn arguments(
    random: &mut Random,
    params: &[(String, Type)],
    host: &Host,
    machine: &Instance,
) -> (Vec<Arg>, Vec<Datum>) {
    let one = |(_, ty): &(String, Type)| match ty {
        Type::Msg => {
            let octets: Vec<u8> = (0..random.place(12)).map(|_| random.place(4) as u8).collect();
            (Arg::Message(octets.clone()), Datum::Message(octets))
        }
        Type::Ref(class) => object(random, host, machine, *class),
        _ => {
            let word = random.place(6) as u64;
            (Arg::Word(word), Datum::Word(word))
        }
    };
    params.iter().map(one).unzip()
}

/// `Ok(false)`: the automaton samples random numbers.
fn walk(ours: &Automaton, theirs: &Automaton, seed: u64, steps: usize) -> Result<bool, String> {
    let Ok(program) = Program::new(Arc::new(ours.clone()), &world(ours)) else { return Ok(false) };
    let mut tables = Tables::default();
    let mut covered = vec![false; program.blocks()];
    let mut machine = Instance::new(theirs, &program.params[0], 0);
    let mut random = Random::new(seed);
    let (mut host, effect) = react(&program, &mut tables, &mut covered, Host::new(&program, 0), &Input::Start);
    same_outcome(&effect, &machine.start(0))?;
    for number in 0..steps {
        let port = random.place(ours.ports.len());
        let event = random.place(ours.ports[port].inputs.len());
        let (args, data) = arguments(&mut random, &ours.ports[port].inputs[event].params, &host, &machine);
        let port = PortId::from(port);
        let outcome = machine.input(0, port, event as u32, &data);
        let (next, effect) = react(&program, &mut tables, &mut covered, host, &Input::Port { port, event, args });
        let at = |what: String| format!("seed {seed}, input {number}: {what}");
        same_outcome(&effect, &outcome).map_err(at)?;
        same_cells(&program, &tables, &next, &machine).map_err(at)?;
        // At rest, packing and unpacking keep a host.
        host = Host::unpack(&program, &next.pack(&program));
        if host != next {
            return Err(at(format!("{next:?} was packed, and {host:?} unpacked")));
        }
    }
    Ok(true)
}

#[test]
fn reactions_of_random_automata_agree_with_the_interpreter() {
    let mut walked = 0;
    for seed in 0..300 {
        let automaton = parse(&text(seed));
        match walk(&automaton, &automaton, seed, 60) {
            Ok(explored) => walked += u32::from(explored),
            Err(difference) => panic!("{difference}"),
        }
    }
    println!("{walked} of 300 automata were walked");
    assert!(walked > 100);
}

#[test]
fn other_arithmetic_is_noticed() {
    let mut noticed = 0;
    for seed in 0..60 {
        let text = text(seed);
        let changed = text.replace("= add ", "= sub ");
        noticed += u32::from(changed != text && walk(&parse(&text), &parse(&changed), seed, 60).is_err());
    }
    assert!(noticed > 5, "{noticed} of 60 were noticed");
}
