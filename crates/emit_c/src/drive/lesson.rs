//! Sequences that are worth repeating, whole, in part or changed: tests of the stack, and sequences that did something
//! new.

use mokume_base::Random;
use mokume_reaction::{Datum, PortId};

use super::packet::Packet;
use super::step::Step;

/// A sequence to begin with, for example from a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lesson {
    pub params: Vec<u64>,
    /// The seed of the machines that it was recorded from; it depends on their random numbers (numbers that packets
    /// answer, chosen ports).
    pub seed: Option<u64>,
    pub steps: Vec<Taught>,
}

/// A step of a lesson.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Taught {
    /// Arguments that are `None` are chosen by type: handles of objects that only the run knows.
    Input { port: PortId, event: u32, args: Vec<Option<Datum>> },
    /// Time passes, in nanoseconds.
    After(u64),
}

impl Taught {
    pub(super) fn messages(&self) -> impl Iterator<Item = &Vec<u8>> {
        let args = match self {
            Taught::Input { args, .. } => &args[..],
            Taught::After(_) => &[],
        };
        args.iter().filter_map(|arg| match arg {
            Some(Datum::Message(octets)) => Some(octets),
            _ => None,
        })
    }
}

/// What is kept from sequence to sequence.
#[derive(Default)]
pub(super) struct Corpus {
    pub lessons: Vec<Lesson>,
    pub packets: Vec<Packet>,
    progress: u64,
}

impl Corpus {
    /// If the sequence did something new, keeps its packets and its steps for further tries.
    pub fn keep_if_new(
        &mut self,
        progress: u64,
        packets: &mut Vec<Packet>,
        (params, seed): (&[u64], u64),
        steps: &[Step],
        random: &mut Random,
    ) {
        if progress > self.progress {
            self.progress = progress;
            let lesson = Lesson { params: params.to_vec(), seed: Some(seed), steps: taught(steps) };
            packets.drain(..).for_each(|packet| remember(&mut self.packets, packet, 256, random));
            remember(&mut self.lessons, lesson, 128, random);
        }
    }
}

/// Keeps `most` values; a new one replaces a random older one.
pub(super) fn remember<T>(list: &mut Vec<T>, value: T, most: usize, random: &mut Random) {
    match list.len() < most {
        true => list.push(value),
        false => {
            let place = random.place(most);
            list[place] = value;
        }
    }
}

fn taught(steps: &[Step]) -> Vec<Taught> {
    let (mut taught, mut before) = (Vec::new(), 0);
    for step in steps {
        let (Step::Input { now, .. } | Step::Advance { now }) = step;
        if *now > before {
            taught.push(Taught::After(now - before));
        }
        before = *now;
        if let Step::Input { port, event, args, .. } = step {
            taught.push(Taught::Input { port: *port, event: *event, args: args.iter().cloned().map(Some).collect() });
        }
    }
    taught
}
