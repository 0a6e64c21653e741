//! Which ways reactions took in a run, and how often: what `mokume profile` writes, and what the search for paths reads.
//!
//! A way is that of the automaton without procedures (`mokume_analyse::flat`): the handlers that ran, in their order, each with the branches
//! that it took. So what is usual behind one event is told apart from what is usual behind another, also where both come by the same lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{Automaton, BlockId, HandlerId};

/// Branches of a way that are kept; what comes behind them is not.
const LONGEST: usize = 20_000;

/// One handler on a way: the blocks with several targets that it came through, and the place of the target that was taken in
/// [`crate::Terminator::targets`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Passed {
    pub handler: HandlerId,
    pub branches: Vec<(BlockId, u32)>,
}

/// The ways that reactions took, each with how often.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Where others took these ways ([`crate::usual`]): what handlers of this automaton are called in them. Of those that are not called at all nothing is known.
    pub called: Option<BTreeMap<HandlerId, HandlerId>>,
    pub ways: BTreeMap<Vec<Passed>, u64>,
}

/// A profile as a file says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub stack: String,
    /// [`mark`] of the stack's automaton.
    pub mark: u64,
    pub profile: Profile,
}

/// A way while it is taken.
#[derive(Clone, Debug, Default)]
pub struct Going {
    passed: Vec<Passed>,
    branches: usize,
}

impl Going {
    /// A handler begins.
    pub fn handler(&mut self, handler: HandlerId) {
        if self.branches < LONGEST {
            self.passed.push(Passed { handler, branches: Vec::new() });
        }
    }

    /// The handler that began last takes a branch.
    pub fn branch(&mut self, block: BlockId, target: u32) {
        let Some(last) = self.passed.last_mut().filter(|_| self.branches < LONGEST) else { return };
        last.branches.push((block, target));
        self.branches += 1;
    }

    /// The reaction has ended.
    pub fn end(&mut self, profile: &mut Profile) {
        let way = std::mem::take(self).passed;
        if !way.is_empty() {
            profile.add(way, 1);
        }
    }
}

/// How often in all. Counts come from files, too: what is more than fits is the most that fits.
pub fn all(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

impl Profile {
    /// A way was taken so often, or so often more.
    fn add(&mut self, way: Vec<Passed>, times: u64) {
        let count = self.ways.entry(way).or_default();
        *count = count.saturating_add(times);
    }

    /// What a handler is called in the ways, if something is known of it.
    pub fn called(&self, handler: HandlerId) -> Option<HandlerId> {
        match &self.called {
            Some(called) => called.get(&handler).copied(),
            None => Some(handler),
        }
    }

    /// The ways of reactions to an event, each with how often it was taken.
    pub fn from(&self, handler: HandlerId) -> impl Iterator<Item = (&[Passed], u64)> {
        let called = self.called(handler);
        let begins = move |way: &[Passed]| way.first().is_some_and(|first| Some(first.handler) == called);
        self.ways.iter().filter(move |(way, _)| begins(way)).map(|(way, count)| (&way[..], *count))
    }

    /// What follows from an event wherever it is handled on a way.
    pub fn behind(&self, handler: HandlerId) -> impl Iterator<Item = (&[Passed], u64)> {
        let called = self.called(handler);
        self.ways.iter().flat_map(move |(way, count)| {
            let places = (0..way.len()).filter(move |place| Some(way[*place].handler) == called);
            places.map(move |place| (&way[place..], *count))
        })
    }
}

impl Written {
    /// One line a way: how often, and its handlers, each with the branches that it took.
    pub fn print(&self) -> String {
        let mut text = format!("mokume profile 1\nstack {} {:016x}\n", self.stack, self.mark);
        self.profile.ways.iter().for_each(|(way, count)| print_way(&mut text, way, *count));
        text
    }

    /// Reads what [`Written::print`] wrote.
    ///
    /// # Errors
    ///
    /// The number of the first line that is no line of a profile, from 1.
    pub fn parse(text: &str) -> Result<Written, usize> {
        let mut lines = text.lines();
        if lines.next() != Some("mokume profile 1") {
            return Err(1);
        }
        let head = lines.next().and_then(|line| line.strip_prefix("stack ")?.rsplit_once(' ')).ok_or(2_usize)?;
        let mark = u64::from_str_radix(head.1, 16).map_err(|_| 2_usize)?;
        let mut profile = Profile::default();
        for (number, line) in lines.enumerate() {
            let (way, count) = way(line).ok_or(number + 3)?;
            profile.add(way, count);
        }
        Ok(Written { stack: head.0.to_owned(), mark, profile })
    }
}

pub(crate) fn print_way(text: &mut String, way: &[Passed], count: u64) {
    let _ = write!(text, "{count}");
    for passed in way {
        let _ = write!(text, " | {}", passed.handler.0);
        passed.branches.iter().for_each(|(block, target)| {
            let _ = write!(text, " {}/{target}", block.0);
        });
    }
    text.push('\n');
}

pub(crate) fn way(line: &str) -> Option<(Vec<Passed>, u64)> {
    let mut parts = line.split(" | ");
    let count = parts.next()?.parse().ok()?;
    let passed = parts.map(|part| {
        let mut words = part.split(' ');
        let handler = HandlerId(words.next()?.parse().ok()?);
        let branch = |word: &str| {
            let (block, target) = word.split_once('/')?;
            Some((BlockId(block.parse().ok()?), target.parse().ok()?))
        };
        Some(Passed { handler, branches: words.map(branch).collect::<Option<_>>()? })
    });
    Some((passed.collect::<Option<_>>()?, count))
}

/// A number by which a changed automaton is known, wherever in its files it stands: of its text without the places of the source.
pub fn mark(automaton: &Automaton) -> u64 {
    let text = crate::text::print(automaton);
    let lines = text.lines().filter(|line| !line.starts_with("source "));
    let mut mark: u64 = 0xcbf2_9ce4_8422_2325;
    for line in lines {
        let bare = line
            .rsplit_once(" #")
            .filter(|(_, mark)| mark.chars().all(|c| c.is_ascii_digit() || c == ':' || c == ' ' || c == '{'));
        for octet in bare.map_or(line, |(bare, _)| bare).bytes().chain([b'\n']) {
            mark = (mark ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut profile = Profile::default();
        let mut going = Going::default();
        for times in 0..3 {
            going.handler(HandlerId(4));
            going.branch(BlockId(1), 0);
            going.branch(BlockId(7), times / 2);
            going.handler(HandlerId(2));
            going.end(&mut profile);
        }
        profile
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = Written { stack: "Host".into(), mark: 0x1234, profile: profile() };
        let text = written.print();
        assert_eq!(text, "mokume profile 1\nstack Host 0000000000001234\n2 | 4 1/0 7/0 | 2\n1 | 4 1/0 7/1 | 2\n");
        assert_eq!(Written::parse(&text), Ok(written));
    }

    #[test]
    fn what_is_no_profile_is_told_by_its_line() {
        let wrong = [
            ("", 1),
            ("mokume profile 2\n", 1),
            ("mokume profile 1\nstack Host\n", 2),
            ("mokume profile 1\nstack Host 12\n2 | 4 1/0\nx | 4\n", 4),
            ("mokume profile 1\nstack Host 12\n2 | 4 1\n", 3),
        ];
        wrong.iter().for_each(|(text, line)| assert_eq!(Written::parse(text), Err(*line), "{text}"));
    }

    #[test]
    fn counts_of_a_file_are_at_most_what_fits() {
        let text = format!("mokume profile 1\nstack Host 12\n{0} | 4\n{0} | 4\n{0} | 5\n", u64::MAX);
        let profile = Written::parse(&text).map(|written| written.profile).unwrap_or_default();
        assert_eq!(profile.ways.values().copied().collect::<Vec<_>>(), [u64::MAX, u64::MAX]);
        assert_eq!(all(profile.ways.into_values()), u64::MAX);
    }

    #[test]
    fn ways_are_told_by_where_they_begin() {
        let profile = profile();
        assert_eq!(profile.from(HandlerId(4)).map(|way| way.1).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(profile.from(HandlerId(2)).count(), 0);
        assert!(profile.behind(HandlerId(2)).all(|(way, _)| way.len() == 1));
    }
}
