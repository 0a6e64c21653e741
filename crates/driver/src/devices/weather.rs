//! Weather before a device: what becomes of frames, in each direction, in the words of a network's link and by its code.

use std::os::fd::RawFd;

use mokume_base::{Random, World};
use mokume_simulate::{Befell, Way, Weather};

use super::Device;
use crate::compile;
use crate::failure::Failure;
use crate::sim;

/// Frames taken from the device at once.
const BURST: usize = 64;

/// A device whose line has weather. What stands at the stack's side of it sees frames as they arrive, and as they are sent.
pub struct Weathered {
    device: Box<dyn Device>,
    inwards: Way,
    outwards: Way,
}

impl Weathered {
    /// The same weather in each direction, with a chance of its own.
    pub fn new(device: Box<dyn Device>, weather: Weather, seed: u64) -> Weathered {
        let mut random = Random::new(seed);
        let (inwards, outwards) = (Way::new(weather, random.word()), Way::new(weather, random.word()));
        Weathered { device, inwards, outwards }
    }

    /// What has come to the far end of the line goes on.
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

/// `loss 2 % delay 5 ms .. 20 ms`: read as a link of a network says it.
pub fn read(words: &str, world: &dyn World) -> Result<Weather, Failure> {
    let wrong = |message: &str, help: &str| Failure::of_use(format!("weather `{}`: {message}", words.trim()), help);
    let help = "write `--weather \"loss 2 % delay 5 ms .. 20 ms rate 10 Mbit/s queue 20\"`";
    if words.trim().is_empty() || words.contains(['{', '}', '\n']) || words.contains("//") {
        return Err(wrong("it says nothing that a link says", help));
    }
    let text = format!(
        "worker Plain {{ }}\nstack Host(device: Device) {{\n    app = Plain over device\n    export app\n}}\n\
         network Weather {{\n    host a = Host()\n    host b = Host()\n    link line {{ a.device, b.device  {words} }}\n    until 1 s\n}}\n"
    );
    let checked = compile::check_texts(world, vec![("weather".to_string(), text)], Vec::new());
    if let Some(first) = checked.diagnostics.first() {
        return Err(wrong(&first.message, first.helps.first().map_or(help, String::as_str)));
    }
    match checked.program.networks.first().map(|network| network.links.as_slice()) {
        Some([link]) => Ok(sim::weather_of(link)),
        Some(_) | None => Err(wrong("it is more than a link says", help)),
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;

    use super::*;

    fn said(words: &str) -> Result<Weather, Failure> {
        read(words, &MemoryWorld::new())
    }

    #[test]
    fn a_device_says_its_weather_as_a_link_does() {
        let all = "loss 2 % duplicate 1 % reorder 3 % corrupt 4 % delay 5 ms .. 20 ms burst loss 1 % of 5 rate 10 Mbit/s queue 20";
        let weather = Weather {
            loss: 20_000,
            duplicate: 10_000,
            reorder: 30_000,
            corrupt: 40_000,
            delay: (5_000_000, 20_000_000),
            burst_loss: 10_000,
            burst_length: 5,
            rate: 10_000_000,
            queue: 20,
        };
        assert_eq!(said(all), Ok(weather));
    }

    #[test]
    fn what_is_no_weather_is_one_line() {
        for wrong in ["", "rain", "loss", "loss 200 %", "queue 20", "delay 3 ms .. 1 ms", "loss 2 % }  link other { a.device", "loss 2 % // x"] {
            let failure = said(wrong).expect_err(wrong);
            assert!(failure.exit_code() == 2 && !failure.help.is_empty() && !failure.message.contains('\n'), "{failure}");
        }
    }
}
