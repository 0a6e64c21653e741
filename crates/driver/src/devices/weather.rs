//! Weather in front of a device: the fates of frames in each direction, by the code of a network's links.

use std::os::fd::RawFd;

use mokume_base::Random;
use mokume_simulate::{Befell, Way, Weather};

use super::Device;
use crate::failure::Failure;

/// The most frames taken from the device at once.
const BURST: usize = 64;

/// A device with weather on its line. The stack sees frames when they arrive at its end of the line.
pub struct Weathered {
    device: Box<dyn Device>,
    inwards: Way,
    outwards: Way,
}

impl Weathered {
    /// The same weather in each direction, with independent randomness.
    pub fn new(device: Box<dyn Device>, weather: Weather, seed: u64) -> Weathered {
        let mut random = Random::new(seed);
        let (inwards, outwards) = (Way::new(weather, random.word()), Way::new(weather, random.word()));
        Weathered { device, inwards, outwards }
    }

    /// Passes on what has reached the far end of the line.
    fn pass_on(&mut self, now: u64) -> Result<(), Failure> {
        while let Some(frame) = self.outwards.arrived(now) {
            self.device.send(now, &frame)?;
        }
        Ok(())
    }
}

impl Device for Weathered {
    fn descriptor(&self) -> Option<RawFd> {
        self.device.descriptor()
    }

    fn next_time(&self) -> Option<u64> {
        [self.device.next_time(), self.inwards.next_time(), self.outwards.next_time()].into_iter().flatten().min()
    }

    fn receive(&mut self, now: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.pass_on(now)?;
        for _ in 0..BURST {
            let Some(frame) = self.device.receive(now)? else { break };
            self.inwards.send(now, &frame);
        }
        Ok(self.inwards.arrived(now))
    }

    fn send(&mut self, now: u64, frame: &[u8]) -> Result<bool, Failure> {
        self.outwards.send(now, frame);
        self.pass_on(now)?;
        Ok(true)
    }

    fn is_finished(&self) -> bool {
        self.device.is_finished() && self.inwards.next_time().is_none()
    }

    fn settle(&mut self) -> Result<(), Failure> {
        self.device.settle()
    }

    fn largest(&self) -> u32 {
        self.device.largest()
    }

    fn befell(&self) -> Option<[Befell; 2]> {
        Some([self.inwards.befell(), self.outwards.befell()])
    }
}
