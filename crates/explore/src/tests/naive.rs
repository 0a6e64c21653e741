//! Counts states and steps, once by the search and once by sets of whole states: no tables, no packing, no numbers.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{model, world};
use crate::host::{Host, Tables};
use crate::layout::{Field, Key, Layout};
use crate::locals::{may_send, packet_input, packets_of, send, step, Locals};
use crate::moves::each_move;
use crate::program::Program;
use crate::react::Input;
use crate::search::{first_state, Search};
use crate::{Timers, World};

/// Hosts, and packets by (from, to).
type Whole = (Vec<Host>, Vec<Vec<Vec<u8>>>);

struct Naive {
    program: Program,
    tables: Tables,
    covered: Vec<bool>,
}

impl Naive {
    fn new(world: &World) -> Self {
        let program = Program::new(Arc::new(model()), world).expect("it fits");
        let blocks = program.blocks();
        Naive { program, tables: Tables::default(), covered: vec![false; blocks] }
    }

    fn react(&mut self, state: &Whole, host: usize, input: &Input) -> Whole {
        let (mut hosts, mut channels) = state.clone();
        let (next, effect, _) = step(&self.program, &mut self.tables, &mut self.covered, hosts[host].clone(), input);
        hosts[host] = next;
        for packet in packets_of(&self.program, &effect) {
            for to in (0..hosts.len()).filter(|to| *to != host) {
                let network = &self.program.world.network;
                let channel = &mut channels[host * hosts.len() + to];
                if channel.len() < network.capacity {
                    channel.push(packet.clone());
                    if network.reorders {
                        channel.sort();
                    }
                }
            }
        }
        (hosts, channels)
    }

    fn next(&mut self, state: &Whole) -> Vec<Whole> {
        let mut next = Vec::new();
        let network = self.program.world.network.clone();
        for host in 0..state.0.len() {
            if may_send(&self.program, &state.0[host]) {
                let input = send(&self.program, &state.0[host]);
                next.push(self.react(state, host, &input));
            }
            let may_expire = self.program.world.timers == Timers::Free || state.1.iter().all(Vec::is_empty);
            for (class, place, cell) in state.0[host].armed().into_iter().filter(|_| may_expire) {
                next.push(self.react(state, host, &Input::Expiry(class, place, cell)));
            }
        }
        for channel in 0..state.1.len() {
            let choices = if network.reorders { state.1[channel].len() } else { state.1[channel].len().min(1) };
            for place in 0..choices {
                let packet = state.1[channel][place].clone();
                if state.1[channel][..place].contains(&packet) {
                    continue;
                }
                let mut without = state.clone();
                without.1[channel].remove(place);
                let input = packet_input(&self.program, packet);
                let to = channel % state.0.len();
                next.push(self.react(&without, to, &input));
                if network.duplicates {
                    next.push(self.react(state, to, &input));
                }
                if network.loses {
                    next.push(without);
                }
            }
        }
        next
    }

    /// The numbers of states and transitions.
    fn count(&mut self) -> (usize, u64) {
        let hosts: Vec<Host> = (0..self.program.world.hosts)
            .map(|host| {
                let host = Host::new(&self.program, host);
                step(&self.program, &mut self.tables, &mut self.covered, host, &Input::Start).0
            })
            .collect();
        let first = (hosts, vec![Vec::new(); self.program.world.hosts * self.program.world.hosts]);
        let mut known = HashSet::from([first.clone()]);
        let mut waiting = vec![first];
        let mut transitions = 0;
        while let Some(state) = waiting.pop() {
            for next in self.next(&state) {
                transitions += 1;
                if known.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        (known.len(), transitions)
    }
}

fn count<K: Key>(world: &World) -> (usize, u64) {
    let mut locals = Locals::new(Program::new(Arc::new(model()), world).expect("it fits"));
    let beginning = locals.begin().expect("a good start");
    let mut layout = Layout::new(world.hosts);
    layout.grow(1 << 11, 1 << 7);
    let mut search = Search::<K>::new(&mut locals, &layout, &beginning);
    search.forwards(usize::MAX);
    (search.store.len(), search.transitions)
}

/// The same for worlds with violations, which would end the search early.
fn count_through<K: Key>(world: &World) -> (usize, u64) {
    let mut locals = Locals::new(Program::new(Arc::new(model()), world).expect("it fits"));
    let beginning = locals.begin().expect("a good start");
    let mut layout = Layout::new(world.hosts);
    layout.grow(1 << 11, 1 << 7);
    let mut search = Search::<K>::new(&mut locals, &layout, &beginning);
    let (mut at, mut transitions) = (0, 0);
    while at < search.store.len() {
        let state = search.store.keys[at];
        let mut found = Vec::new();
        let _ = each_move(search.locals, &layout, state, &mut |_, next, _| {
            found.push((next, at as u32));
            ControlFlow::<()>::Continue(())
        });
        transitions += found.len() as u64;
        search.store.add_all(&found);
        at += 1;
    }
    (search.store.len(), transitions)
}

fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for (from_a, from_b, capacity, hosts) in [(3, 0, 2, 2), (2, 2, 2, 2), (3, 1, 1, 2), (1, 0, 1, 3)] {
        // If packets overtake each other, few messages are delivered in order; the search would end early.
        for (reorders, duplicates) in [(false, true), (false, false), (true, false)] {
            for timers in [Timers::Free, Timers::Patient] {
                let mut world = world(from_a, from_b);
                let few = if reorders { 1 } else { usize::MAX };
                world.hosts = hosts;
                world.application.messages.iter_mut().for_each(|count| *count = (*count).min(few));
                world.network.capacity = capacity;
                world.network.reorders = reorders;
                world.network.duplicates = duplicates;
                world.timers = timers;
                worlds.push(world);
            }
        }
    }
    worlds
}

#[test]
fn the_search_counts_what_a_naive_one_counts() {
    for world in worlds() {
        let expected = Naive::new(&world).count();
        assert!(expected.0 > 3, "{world}");
        assert_eq!(count_through::<u128>(&world), expected, "{world}");
        // Nothing waits for the third host's acknowledgement, so there are violations.
        if world.hosts == 2 {
            assert_eq!(count::<u64>(&world), expected, "{world}");
            assert_eq!(count::<u128>(&world), expected, "{world}");
        }
    }
}

/// A mutant of the checker: states are equal if their hashes are, and the hash has 12 bits.
#[derive(Clone, Copy, Default)]
struct Forgetful(u64);

impl PartialEq for Forgetful {
    fn eq(&self, other: &Self) -> bool {
        self.0.spread() >> 52 == other.0.spread() >> 52
    }
}

impl Eq for Forgetful {}

impl Key for Forgetful {
    fn with(self, field: Field, value: u32) -> Self {
        Forgetful(self.0.with(field, value))
    }

    fn get(self, field: Field) -> u32 {
        self.0.get(field)
    }

    fn spread(self) -> u64 {
        self.0.spread()
    }
}

/// A mutant of the checker: its packing loses a bit of the first host's number.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Blunt(u64);

impl Key for Blunt {
    fn with(self, field: Field, value: u32) -> Self {
        Blunt(self.0.with(field, if field.at == 0 { value & !1 } else { value }))
    }

    fn get(self, field: Field) -> u32 {
        self.0.get(field)
    }

    fn spread(self) -> u64 {
        self.0.spread()
    }
}

#[test]
fn a_checker_that_forgets_states_is_caught_by_the_counts() {
    let world = world(2, 2);
    let expected = Naive::new(&world).count();
    assert!(count::<Forgetful>(&world).0 < expected.0);
    assert_ne!(count::<Blunt>(&world), expected);
}

#[test]
fn a_network_that_never_loses_or_a_host_that_never_waits_is_caught_by_the_counts() {
    let world = world(2, 1);
    let expected = Naive::new(&world).count();
    let mutants: [fn(&mut World); 4] = [
        |world| world.network.duplicates = false,
        |world| world.network.capacity = 1,
        |world| world.timers = Timers::Patient,
        |world| world.application.credit = Some((2, "ready".to_string())),
    ];
    for mutate in mutants {
        let mut mutant = world.clone();
        mutate(&mut mutant);
        assert_ne!(count::<u64>(&mutant), expected, "{mutant}");
    }
    // Without loss a full channel ends the search, so the steps of one state are compared.
    let mut mutant = world.clone();
    mutant.network.loses = false;
    assert!(steps_after_a_send(&mutant) < steps_after_a_send(&world));
}

fn steps_after_a_send(world: &World) -> usize {
    let mut locals = Locals::new(Program::new(Arc::new(model()), world).expect("it fits"));
    let beginning = locals.begin().expect("a good start");
    let layout = Layout::new(2);
    let mut state: u64 = layout.pack(&first_state(&layout, &mut locals, &beginning));
    let _ = each_move(&mut locals, &layout, state, &mut |_, next, _| {
        state = next;
        ControlFlow::Break(())
    });
    let mut count = 0;
    let _ = each_move(&mut locals, &layout, state, &mut |_, _, _| {
        count += 1;
        ControlFlow::<()>::Continue(())
    });
    count
}
