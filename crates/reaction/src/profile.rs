//! Profiles: which ways reactions took in a run, and how often. `mokume profile` writes them; the search for paths
//! reads them.
//!
//! A way is recorded on the automaton without procedures (`mokume_analyse::flat`): the handlers that ran, in order,
//! each with the branches that it took. So the profile tells apart what is usual after different events, even if both
//! run the same lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{Automaton, BlockId, HandlerId, Port, PortInput, Trigger};

/// The most branches of a way that are recorded; the rest is cut off.
const LONGEST: usize = 20_000;

/// One handler on a way: for each block with several targets that it ran, the index of the taken target in
/// [`crate::Terminator::targets`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Passed {
    pub handler: HandlerId,
    pub branches: Vec<(BlockId, u32)>,
}

/// The ways that reactions took, each with its count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Set if the ways were taken in other stacks ([`crate::usual`]): what each handler of this automaton is called in
    /// them. Nothing is known of handlers that are not in the map.
    pub called: Option<BTreeMap<HandlerId, HandlerId>>,
    pub ways: BTreeMap<Vec<Passed>, u64>,
    /// If the ways were taken in other stacks: how often events that enter by ports came there, for those that came or might have come.
    pub entered: BTreeMap<HandlerId, u64>,
}

/// The content of a profile's file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub stack: String,
    /// The [`mark`] of the stack's automaton.
    pub mark: u64,
    pub profile: Profile,
}

/// A way that is being recorded.
#[derive(Clone, Debug, Default)]
pub struct Going {
    passed: Vec<Passed>,
    branches: usize,
}

impl Going {
    /// Records the start of a handler.
    pub fn handler(&mut self, handler: HandlerId) {
        if self.branches < LONGEST {
            self.passed.push(Passed { handler, branches: Vec::new() });
        }
    }

    /// Records a branch of the handler that started last.
    pub fn branch(&mut self, block: BlockId, target: u32) {
        let Some(last) = self.passed.last_mut().filter(|_| self.branches < LONGEST) else { return };
        last.branches.push((block, target));
        self.branches += 1;
    }

    /// Ends the way, and adds it to the profile.
    pub fn end(&mut self, profile: &mut Profile) {
        let way = std::mem::take(self).passed;
        if !way.is_empty() {
            profile.add(way, 1);
        }
    }
}

/// The sum of counts, saturating, as counts also come from files.
pub fn all(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// The handlers of the events that enter by a port, in the order of its inputs.
pub fn entries(automaton: &Automaton, port: &Port) -> Vec<HandlerId> {
    let handler = |input: &PortInput| automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
    port.inputs.iter().filter_map(handler).collect()
}

impl Profile {
    /// Adds a count to a way.
    fn add(&mut self, way: Vec<Passed>, times: u64) {
        let count = self.ways.entry(way).or_default();
        *count = count.saturating_add(times);
    }

    /// What the ways call this handler; `None` if nothing is known of it.
    pub fn called(&self, handler: HandlerId) -> Option<HandlerId> {
        match &self.called {
            Some(called) => called.get(&handler).copied(),
            None => Some(handler),
        }
    }

    /// The ways of reactions that start with this handler, each with its count.
    pub fn from(&self, handler: HandlerId) -> impl Iterator<Item = (&[Passed], u64)> {
        let called = self.called(handler);
        let begins = move |way: &[Passed]| way.first().is_some_and(|first| Some(first.handler) == called);
        self.ways.iter().filter(move |(way, _)| begins(way)).map(|(way, count)| (&way[..], *count))
    }

    /// How often the event of a handler entered by a port; `None` if nothing is known of it.
    pub fn entered(&self, handler: HandlerId) -> Option<u64> {
        match &self.called {
            Some(_) => self.entered.get(&handler).copied(),
            None => Some(all(self.from(handler).map(|way| way.1))),
        }
    }

    /// What follows this handler wherever it runs on a way, each with its count.
    pub fn behind(&self, handler: HandlerId) -> impl Iterator<Item = (&[Passed], u64)> {
        let called = self.called(handler);
        self.ways.iter().flat_map(move |(way, count)| {
            let places = (0..way.len()).filter(move |place| Some(way[*place].handler) == called);
            places.map(move |place| (&way[place..], *count))
        })
    }
}

impl Written {
    /// The text form: one line a way, with its count and its handlers, each with its branches.
    pub fn print(&self) -> String {
        let mut text = format!("mokume profile 1\nstack {} {:016x}\n", self.stack, self.mark);
        self.profile.ways.iter().for_each(|(way, count)| print_way(&mut text, way, *count));
        text
    }

    /// Reads the output of [`Written::print`].
    ///
    /// # Errors
    ///
    /// The number, from 1, of the first line that is not valid.
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

/// A hash that identifies an automaton, to notice changes. It is computed from its text without source places.
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
