//! What an instance draws at random, noted; and told what to draw instead.
//!
//! Keeps: with nothing told, a stack draws what it draws when nobody notes it.

use std::collections::BTreeMap;

use mokume_reaction::FunctionId;

/// Something that a stack chooses, and that its seed alone decides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// The sample with this number, from 0, in the order in which they are drawn.
    Sample(u64),
    /// A pseudorandom number of these arguments, the key among them.
    Number(FunctionId, Vec<u64>),
}

/// A choice, and what was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    pub choice: Choice,
    pub value: u64,
    pub width: u8,
}

/// What has been chosen so far, and what is to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chance {
    samples: u64,
    pub made: Vec<Chosen>,
    pub told: BTreeMap<Choice, u64>,
}

impl Chance {
    /// What is drawn in place of `drawn`.
    pub fn draw(&mut self, drawn: u64, width: u8) -> u64 {
        let choice = Choice::Sample(self.samples);
        self.samples += 1;
        let value = self.told.get(&choice).copied().unwrap_or(drawn);
        self.made.push(Chosen { choice, value, width });
        value
    }

    /// What a pseudorandom function gives in place of `given`.
    pub fn look_random(&mut self, function: FunctionId, args: Vec<u64>, given: u64) -> u64 {
        let choice = Choice::Number(function, args);
        let value = self.told.get(&choice).copied().unwrap_or(given);
        if !self.made.iter().any(|chosen| chosen.choice == choice) {
            self.made.push(Chosen { choice, value, width: 64 });
        }
        value
    }
}
