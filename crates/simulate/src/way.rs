//! One direction of a line, for who has frames and a clock of his own: what becomes of each frame that goes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mokume_base::Random;
use mokume_reaction::PortId;

use crate::weather::{by_chance, Copy, Lines};
use crate::Weather;

/// What happened to the frames of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Befell {
    pub frames: u64,
    /// By chance.
    pub lost: u64,
    /// By a queue that was full.
    pub full: u64,
    pub twice: u64,
    /// That took more than the least delay; of each copy.
    pub late: u64,
    pub turned: u64,
    /// Copies that are still under way.
    pub coming: u64,
}

/// Copies that may be under way at once; a frame for which there is no room is lost.
const MOST: usize = 16_384;

/// A line in one direction. What it does is a function of the seed, the frames and when they were sent.
pub struct Way {
    weather: Weather,
    random: Random,
    lines: Lines,
    burst: u32,
    coming: BinaryHeap<Reverse<(u64, u64, Vec<u8>)>>,
    order: u64,
    befell: Befell,
}

/// There is one who sends.
const SENDER: (usize, PortId) = (0, PortId(0));

impl Way {
    /// A line on which nothing is under way.
    pub fn new(weather: Weather, seed: u64) -> Way {
        Way {
            weather,
            random: Random::new(seed),
            lines: Lines::default(),
            burst: 0,
            coming: BinaryHeap::new(),
            order: 0,
            befell: Befell::default(),
        }
    }

    /// Sends a frame.
    pub fn send(&mut self, now: u64, frame: &[u8]) {
        self.befell.frames += 1;
        let left = self.lines.leave(&self.weather, SENDER, frame.len(), now);
        // The weather is asked for all the same: a full queue changes nothing for other frames.
        let copies = by_chance(&self.weather, frame.len(), &mut self.burst, &mut self.random);
        let Some(left) = left.filter(|_| self.coming.len() + copies.len() <= MOST) else {
            self.befell.full += 1;
            return;
        };
        self.count(&copies);
        for copy in &copies {
            let at = left.saturating_add(self.weather.delay.0).saturating_add(copy.late);
            self.order += 1;
            self.coming.push(Reverse((at, self.order, copy.of(frame))));
        }
    }

    fn count(&mut self, copies: &[Copy]) {
        self.befell.lost += u64::from(copies.is_empty());
        self.befell.twice += u64::from(copies.len() > 1);
        self.befell.late += copies.iter().filter(|copy| copy.late > 0).count() as u64;
        self.befell.turned += copies.iter().filter(|copy| !copy.turned.is_empty()).count() as u64;
    }

    /// When the next frame arrives.
    pub fn next_time(&self) -> Option<u64> {
        self.coming.peek().map(|Reverse((at, ..))| *at)
    }

    /// A frame that has arrived by now, the earliest first.
    pub fn arrived(&mut self, now: u64) -> Option<Vec<u8>> {
        self.next_time().filter(|at| *at <= now)?;
        self.coming.pop().map(|Reverse((_, _, frame))| frame)
    }

    /// What happened so far.
    pub fn befell(&self) -> Befell {
        Befell { coming: self.coming.len() as u64, ..self.befell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives of a hundred frames, a millisecond apart, and what befell them.
    fn sent(weather: Weather, seed: u64) -> (Vec<(u64, Vec<u8>)>, Befell) {
        let mut way = Way::new(weather, seed);
        (0..100).for_each(|number| way.send(number * 1_000_000, &[number as u8; 100]));
        let befell = way.befell();
        let mut arrived = Vec::new();
        while let Some(at) = way.next_time() {
            arrived.extend(way.arrived(at).map(|frame| (at, frame)));
        }
        (arrived, befell)
    }

    #[test]
    fn a_seed_says_all() {
        let bad = Weather { loss: 200_000, duplicate: 100_000, delay: (1_000, 9_000_000), ..Weather::default() };
        let (arrived, befell) = sent(bad, 1);
        assert_eq!(sent(bad, 1), (arrived.clone(), befell));
        assert_ne!(sent(bad, 2).0, arrived);
        assert_eq!(arrived.len() as u64, befell.frames - befell.lost + befell.twice);
        assert_eq!(befell.coming, arrived.len() as u64);
        assert!(befell.lost > 5 && befell.twice > 2 && befell.late > 50, "{befell:?}");
        assert!(arrived.windows(2).any(|pair| pair[0].1[0] > pair[1].1[0]), "they overtake each other");
    }

    #[test]
    fn without_weather_all_arrive_at_once_and_in_order() {
        let (arrived, befell) = sent(Weather::default(), 1);
        let all: Vec<_> = (0..100u8).map(|number| (u64::from(number) * 1_000_000, vec![number; 100])).collect();
        assert_eq!(arrived, all);
        assert_eq!(Befell { frames: 0, coming: 0, ..befell }, Befell::default());
    }

    /// 100 octets take 8 ms at 100 kbit/s: of a hundred frames in 100 ms, some 12 leave, and 5 wait.
    #[test]
    fn a_line_is_as_fast_as_it_says_and_its_queue_as_long() {
        let (arrived, befell) = sent(Weather { rate: 100_000, queue: 5, ..Weather::default() }, 1);
        assert_eq!((arrived.len(), befell.full), (17, 83));
        assert!(arrived.windows(2).all(|pair| pair[1].0 - pair[0].0 == 8_000_000));
    }

    #[test]
    fn what_is_under_way_is_bounded() {
        let mut way = Way::new(Weather { delay: (1_000_000_000, 1_000_000_000), ..Weather::default() }, 1);
        (0..20_000).for_each(|_| way.send(0, &[0; 60]));
        assert_eq!((way.befell().coming, way.befell().full), (MOST as u64, 20_000 - MOST as u64));
    }
}
