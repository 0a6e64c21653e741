//! One direction of a line, for callers with their own frames and clock: the fate of each frame.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mokume_base::Random;
use mokume_reaction::PortId;

use crate::weather::{by_chance, Copy, Lines};
use crate::Weather;

/// Counts of what happened to the frames of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Befell {
    pub frames: u64,
    /// Lost by chance.
    pub lost: u64,
    /// Lost because a queue was full.
    pub full: u64,
    pub twice: u64,
    /// Copies that took longer than the least delay.
    pub late: u64,
    pub turned: u64,
    /// Copies still on their way.
    pub coming: u64,
}

/// The most copies on their way; a frame beyond these is lost.
const MOST: usize = 16_384;

/// A copy on its way: when it arrives, the order of sending, the frame's number, its octets.
type Coming = (u64, u64, u64, Vec<u8>);

/// A line in one direction. It depends only on the seed, the frames and their sending times.
pub struct Way {
    weather: Weather,
    random: Random,
    lines: Lines,
    burst: u32,
    coming: BinaryHeap<Reverse<Coming>>,
    order: u64,
    befell: Befell,
}

/// There is one sender.
const SENDER: (usize, PortId) = (0, PortId(0));

impl Way {
    /// An empty line.
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
        self.send_as(now, frame, 0);
    }

    /// Sends a frame with a number by which it is known when it arrives.
    pub fn send_as(&mut self, now: u64, frame: &[u8], number: u64) {
        self.befell.frames += 1;
        let left = self.lines.leave(&self.weather, SENDER, frame.len(), now);
        // The weather is drawn anyway, so that a full queue changes nothing for other frames.
        let copies = by_chance(&self.weather.at(now), frame.len(), &mut self.burst, &mut self.random);
        let Some(left) = left.filter(|_| self.coming.len() + copies.len() <= MOST) else {
            self.befell.full += 1;
            return;
        };
        self.count(&copies);
        for copy in &copies {
            let at = left.saturating_add(self.weather.delay.0).saturating_add(copy.late);
            self.order += 1;
            let number = if copy.turned.is_empty() { number } else { 0 };
            self.coming.push(Reverse((at, self.order, number, copy.of(frame))));
        }
    }

    fn count(&mut self, copies: &[Copy]) {
        self.befell.lost += u64::from(copies.is_empty());
        self.befell.twice += u64::from(copies.len() > 1);
        self.befell.late += copies.iter().filter(|copy| copy.late > 0).count() as u64;
        self.befell.turned += copies.iter().filter(|copy| !copy.turned.is_empty()).count() as u64;
    }

    /// The arrival time of the next frame.
    pub fn next_time(&self) -> Option<u64> {
        self.coming.peek().map(|Reverse((at, ..))| *at)
    }

    /// The earliest frame that has arrived by now.
    pub fn arrived(&mut self, now: u64) -> Option<Vec<u8>> {
        self.arrived_as(now).map(|(_, frame)| frame)
    }

    /// The same with its number; 0 if bits of it were turned.
    pub fn arrived_as(&mut self, now: u64) -> Option<(u64, Vec<u8>)> {
        self.next_time().filter(|at| *at <= now)?;
        self.coming.pop().map(|Reverse((_, _, number, frame))| (number, frame))
    }

    /// The counts so far.
    pub fn befell(&self) -> Befell {
        Befell { coming: self.coming.len() as u64, ..self.befell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrivals of a hundred frames, sent a millisecond apart, and the counts.
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
    fn equal_frames_are_told_apart() {
        let late = Weather { delay: (5_000_000, 9_000_000), duplicate: 300_000, ..Weather::default() };
        let mut way = Way::new(late, 1);
        (1..=50).for_each(|number| way.send_as(number * 1_000_000, b"same", number));
        let mut seen = Vec::new();
        while let Some(at) = way.next_time() {
            seen.extend(way.arrived_as(at).map(|(number, _)| (number, at)));
        }
        assert!((1..=50).all(|number| seen.iter().any(|one| one.0 == number)), "{seen:?}");
        assert!(seen.iter().all(|(number, at)| (5..=9).contains(&(at / 1_000_000 - number))), "{seen:?}");
        let mut turned = Way::new(Weather { corrupt: 1_000_000, ..Weather::default() }, 1);
        turned.send_as(0, b"same", 7);
        assert_eq!(turned.arrived_as(0).unwrap().0, 0);
    }

    #[test]
    fn what_is_under_way_is_bounded() {
        let mut way = Way::new(Weather { delay: (1_000_000_000, 1_000_000_000), ..Weather::default() }, 1);
        (0..20_000).for_each(|_| way.send(0, &[0; 60]));
        assert_eq!((way.befell().coming, way.befell().full), (MOST as u64, 20_000 - MOST as u64));
    }
}
