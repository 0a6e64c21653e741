//! Chooses the ways of a path: the likeliest way first, then the others.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The decisions of one attempt: first the prescribed ones, then the likeliest.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    prescribed: Vec<usize>,
    taken: Vec<Decided>,
}

/// One decision: the way that was taken, how likely each way was, and how far the path had come.
#[derive(Clone, Debug)]
struct Decided {
    way: usize,
    likely: Vec<f32>,
    at: Far,
}

/// How far a path has come: its steps and its values so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Far {
    pub steps: usize,
    pub nodes: u32,
}

impl Decisions {
    /// Takes these ways first, then the likeliest.
    pub fn prescribed(ways: Vec<usize>) -> Self {
        Decisions { prescribed: ways, taken: Vec::new() }
    }

    /// The ways taken so far.
    pub fn ways(&self) -> Vec<usize> {
        self.taken.iter().map(|decided| decided.way).collect()
    }

    /// How far the path had come at the last decision.
    pub fn last(&self) -> Option<Far> {
        Some(self.taken.last()?.at)
    }

    /// The probability of all ways taken so far.
    pub fn likely(&self) -> f32 {
        self.taken.iter().map(|decided| decided.likely[decided.way]).product()
    }

    /// Whether the attempt followed all prescribed ways.
    fn went_as_told(&self) -> bool {
        let ways = self.taken.iter().map(|decided| decided.way);
        self.taken.len() >= self.prescribed.len() && ways.zip(&self.prescribed).all(|(way, told)| way == *told)
    }

    /// Chooses one of the ways by their probabilities; `at`: how far the path has come.
    pub fn next(&mut self, likely: &[f32], at: Far) -> usize {
        let best = || {
            let ways = 0..likely.len();
            ways.reduce(|best, way| if likely[way] > likely[best] { way } else { best }).unwrap_or(0)
        };
        let prescribed = self.prescribed.get(self.taken.len()).copied().filter(|way| *way < likely.len());
        let way = prescribed.unwrap_or_else(best);
        self.taken.push(Decided { way, likely: likely.to_vec(), at });
        way
    }
}

/// Ways that were not tried, the likeliest on top.
struct Untried {
    likely: f32,
    ways: Vec<usize>,
}

impl PartialEq for Untried {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Untried {}

impl PartialOrd for Untried {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Untried {
    fn cmp(&self, other: &Self) -> Ordering {
        self.likely.total_cmp(&other.likely).then_with(|| other.ways.cmp(&self.ways))
    }
}

/// Ways that are less likely than this, relative to the likeliest that succeeded, are not searched.
pub const SELDOM: f32 = 0.01;

/// A way that succeeded.
#[derive(Clone, Debug)]
pub struct Taken<T> {
    /// The worth of the way, weighted by how often it is taken.
    pub worth: f32,
    /// For each decision, the way that was taken, and how far the path had come.
    pub ways: Vec<(usize, Far)>,
    pub found: T,
}

impl<T> Taken<T> {
    /// For each decision, the way that was taken.
    pub fn decided(&self) -> Vec<usize> {
        self.ways.iter().map(|(way, _)| *way).collect()
    }
}

/// The ways that succeeded, and why the first failure failed; `Err` with that reason if none succeeded.
pub type Searched<T, E> = Result<(Vec<Taken<T>>, Option<E>), Option<E>>;

/// Tries ways, the likeliest first, until the remaining ones are too unlikely, or `most` were tried. `attempt` returns
/// the decisions that it took and its result; `worth` gives the worth of a way. Returns the `enough` ways with the
/// highest worth, weighted by their probabilities, and why the first failure failed; `Err` with that reason if none
/// succeeded.
pub fn search<T, E>(
    (enough, most): (usize, usize),
    worth: impl Fn(&T) -> f32,
    mut attempt: impl FnMut(Decisions) -> (Decisions, Result<T, E>),
) -> Searched<T, E> {
    let mut open = BinaryHeap::from([Untried { likely: 1.0, ways: Vec::new() }]);
    let mut taken: Vec<Taken<T>> = Vec::new();
    let mut first = None;
    let mut seldom: f32 = 0.0;
    for _ in 0..most {
        let Some(next) = open.pop() else { break };
        if next.likely < seldom {
            break;
        }
        let from = next.ways.len();
        let (decisions, found) = attempt(Decisions::prescribed(next.ways));
        // The path now ends before this decision: that way was found already.
        if !decisions.went_as_told() {
            continue;
        }
        let mut likely = 1.0;
        for (place, decided) in decisions.taken.iter().enumerate() {
            let others =
                (0..decided.likely.len()).filter(|other| *other != decided.way && decided.likely[*other] > 0.0);
            for other in others.filter(|_| place >= from) {
                let mut ways: Vec<usize> = decisions.taken[..place].iter().map(|decided| decided.way).collect();
                ways.push(other);
                open.push(Untried { likely: likely * decided.likely[other], ways });
            }
            likely *= decided.likely[decided.way];
        }
        match found {
            Ok(found) => {
                let ways = decisions.taken.iter().map(|decided| (decided.way, decided.at)).collect();
                seldom = seldom.max(likely * SELDOM);
                let worth = likely * worth(&found);
                let place = taken.partition_point(|other| other.worth >= worth);
                taken.insert(place, Taken { worth, ways, found });
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    taken.truncate(enough);
    if taken.is_empty() {
        Err(first)
    } else {
        Ok((taken, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Far = Far { steps: 7, nodes: 3 };

    /// A tree of three decisions, of which one leaf succeeds.
    fn found(wanted: &[usize]) -> Result<f32, Option<Vec<usize>>> {
        let found = search(
            (1, 100),
            |_| 1.0,
            |mut decisions| {
                let likely = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]];
                let ways: Vec<usize> = likely.iter().map(|likely| decisions.next(likely, HERE)).collect();
                let result = if ways == wanted { Ok(()) } else { Err(ways) };
                (decisions, result)
            },
        );
        found.map(|(taken, _)| taken[0].worth)
    }

    #[test]
    fn every_way_is_found() {
        for wanted in 0..8 {
            let ways = [wanted & 1, wanted >> 1 & 1, wanted >> 2];
            assert!(found(&ways).is_ok(), "{ways:?}");
        }
        assert_eq!(found(&[2, 2, 2]), Err(Some(vec![0, 0, 1])), "the likeliest is tried first");
    }

    #[test]
    fn ways_that_are_there_no_more_are_passed_over() {
        let mut tried = 0;
        let found = search(
            (9, 100),
            |_| 1.0,
            |mut decisions| {
                tried += 1;
                // The first attempt has two ways; from then on the path ends earlier.
                let likely = if tried == 1 { vec![0.6, 0.4] } else { vec![0.5] };
                let way = decisions.next(&likely, HERE);
                (decisions, if tried == 1 { Err(()) } else { Ok(way) })
            },
        );
        assert_eq!(found.map(|found| found.0.len()), Err(Some(())));
        assert_eq!(tried, 2);
    }

    #[test]
    fn the_likeliest_that_succeed_are_taken_in_order() {
        let all = search(
            (2, 100),
            |_| 1.0,
            |mut decisions| {
                let way = decisions.next(&[0.1, 0.6, 0.2, 0.1], HERE);
                (decisions, if way == 1 { Err(()) } else { Ok(way) })
            },
        );
        let (all, failed) = all.expect("some succeed");
        assert_eq!(failed, Some(()), "why the likeliest did not");
        assert_eq!(all.iter().map(|taken| taken.found).collect::<Vec<_>>(), [2, 0]);
        assert_eq!(all[0].ways, [(2, HERE)]);
    }
}
