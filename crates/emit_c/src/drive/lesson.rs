//! Sequences that are worth playing again, whole, in part or changed: tests of the stack, and what brought something new.

use mokume_base::Random;
use mokume_reaction::{Datum, PortId};

use super::packet::Packet;
use super::step::Step;

/// A sequence to begin with: of a test, for example.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lesson {
    pub params: Vec<u64>,
    /// Of the machines that it was written down from: what they draw is in it (numbers that packets answer, chosen ports).
    pub seed: Option<u64>,
    pub steps: Vec<Taught>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Taught {
    /// Arguments that are `None` are chosen by their type: handles of objects that only the run knows.
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
    /// What brought something new about is worth another try: its packets, and how it came to them.
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

/// Keeps so many, the newer in place of any older.
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
