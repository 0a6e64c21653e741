//! Records an instance's random draws, and replaces them by given ones.
//!
//! Keeps: without given values, a recorded stack draws the same values as an unrecorded one.

use std::collections::BTreeMap;

use mokume_reaction::FunctionId;

/// A random choice of a stack, which depends on its seed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// The sample with this number, from 0, in the order of drawing.
    Sample(u64),
    /// The result of a pseudorandom function for these arguments, the key among them.
    Number(FunctionId, Vec<u64>),
}

/// A choice, and its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    pub choice: Choice,
    pub value: u64,
    pub width: u8,
}

/// The choices made so far, and the given ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chance {
    samples: u64,
    pub made: Vec<Chosen>,
    pub told: BTreeMap<Choice, u64>,
}

impl Chance {
    /// The value to use instead of `drawn`.
    pub fn draw(&mut self, drawn: u64, width: u8) -> u64 {
        let choice = Choice::Sample(self.samples);
        self.samples += 1;
        let value = self.told.get(&choice).copied().unwrap_or(drawn);
        self.made.push(Chosen { choice, value, width });
        value
    }

    /// The result to use instead of `given` for a pseudorandom function.
    pub fn look_random(&mut self, function: FunctionId, args: Vec<u64>, given: u64) -> u64 {
        let choice = Choice::Number(function, args);
        let value = self.told.get(&choice).copied().unwrap_or(given);
        if !self.made.iter().any(|chosen| chosen.choice == choice) {
            self.made.push(Chosen { choice, value, width: 64 });
        }
        value
    }
}
