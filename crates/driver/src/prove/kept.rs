//! Kept verdicts: for each proved path, keyed by a hash of everything that the verdict depends on. Nothing else is
//! kept, and an incomplete entry is judged again.
//!
//! They are in a folder beside a project, and in `library/verdicts.txt`, which is part of the program: the verdicts for
//! the stacks of `examples`, for users without solvers. The key does not depend on where the stack's files are.

use std::time::Duration;

use mokume_base::World;
use mokume_prove::judge::Kind;
use mokume_reaction::{text, Automaton, Path};

use super::{Known, Proof, Shown, Way};

/// The keys of the verdicts of an automaton's paths: hashes of the path, of all handlers that it is compared with, and
/// of the judge's own source text.
pub(super) struct Numbers {
    layers: Number,
    bare: Automaton,
}

impl Numbers {
    /// For an automaton without procedures and memos (`mokume_analyse::flat`).
    pub fn of(flat: &Automaton) -> Self {
        let bare = flat.without_places();
        let mut layers = judge();
        layers.add(&text::print(&Automaton { paths: Vec::new(), ..bare.clone() }));
        Numbers { layers, bare }
    }

    /// The key of one of its paths.
    pub fn number(&self, path: &Path) -> String {
        let mut number = self.layers;
        text::path_lines(&self.bare, path).iter().for_each(|(line, _)| number.add(line));
        format!("{:032x}", number.0)
    }
}

/// A hash of the judge's source text.
fn judge() -> Number {
    let mut number = Number::default();
    mokume_prove::SOURCES.iter().for_each(|part| number.add(part));
    number.add(env!("CARGO_PKG_VERSION"));
    number
}

/// A short hash of the judge's source text: the one that `library/verdicts.txt` was made with.
pub fn judged_by() -> String {
    format!("{:016x}", judge().0 as u64)
}

/// The verdicts in the program.
pub fn shipped() -> &'static str {
    crate::library::text("verdicts.txt").unwrap_or_default()
}

/// A verdict as a line of `library/verdicts.txt`: the key, the event, and each way. `None` if it is not proved.
pub fn shipped_line(number: &str, proof: &Proof) -> Option<String> {
    let ways = proof.ways.as_ref().ok().filter(|_| proof.is_proved())?;
    // A timer's name begins with a word; here it must be a single word.
    let mut line = format!("{number} {}", proof.events.first()?.replace(' ', "_"));
    for way in ways {
        let goals = &way.verdict.as_ref().ok()?.goals;
        let count = |kind: &Kind| {
            let of = goals.iter().filter(|(name, _)| *name == kind.name());
            of.map(|(_, count)| count).sum::<u32>().to_string()
        };
        let counts: Vec<String> = Kind::ALL.iter().map(count).collect();
        line.push_str(&format!(" {}:{}", way.guards, counts.join(",")));
    }
    Some(line)
}

/// Reads the verdict of a path from such a text.
fn read_shipped(text: &str, number: &str, events: &[String]) -> Option<Proof> {
    fn of_number<'a>(line: &'a str, number: &str) -> Option<&'a str> {
        line.strip_prefix(number)?.strip_prefix(' ')
    }
    let of_number = |line| of_number(line, number);
    let mut words = text.lines().find_map(of_number)?.split(' ').skip(1);
    let ways = words.try_fold(Vec::new(), |mut ways, word| {
        let (guards, counts) = word.split_once(':')?;
        let counts: Vec<u32> = counts.split(',').map(|count| count.parse().ok()).collect::<Option<_>>()?;
        let goals = Kind::ALL.iter().map(|kind| kind.name()).zip(counts.iter().copied());
        let goals = goals.filter(|(_, count)| *count > 0).collect();
        (counts.len() == Kind::ALL.len()).then_some(())?;
        ways.push(Way { guards: guards.parse().ok()?, verdict: Ok(Shown { goals }) });
        Some(ways)
    })?;
    proof(ways, events, Known::Shipped)
}

fn proof(ways: Vec<Way>, events: &[String], known: Known) -> Option<Proof> {
    let proof = Proof { events: events.to_vec(), ways: Ok(ways), took: Duration::ZERO, known, replayed: None };
    proof.is_proved().then_some(proof)
}

/// The kept verdict of a path, from a folder or from the program.
pub(super) fn read(world: &dyn World, folder: &str, number: &str, events: &[String]) -> Option<Proof> {
    read_folder(world, folder, number, events).or_else(|| read_shipped(shipped(), number, events))
}

/// The verdict in a folder: all ways were proved.
fn read_folder(world: &dyn World, folder: &str, number: &str, events: &[String]) -> Option<Proof> {
    let text = world.read_text(&format!("{folder}/{number}")).ok()?;
    let mut lines = text.strip_suffix("proved\n")?.lines();
    let ways = lines.try_fold(Vec::new(), |mut ways, line| {
        ways.push(way(line)?);
        Some(ways)
    })?;
    proof(ways, events, Known::Kept)
}

/// Keeps a verdict if it is proved. A folder that cannot be written is no failure: the path is then judged again.
pub(super) fn write(world: &dyn World, folder: &str, number: &str, proof: &Proof) {
    let (true, Ok(ways)) = (proof.is_proved(), &proof.ways) else { return };
    let mut text = String::new();
    for way in ways {
        let Ok(shown) = &way.verdict else { return };
        text.push_str(&way.guards.to_string());
        shown.goals.iter().for_each(|(kind, count)| text.push_str(&format!(" {kind} {count}")));
        text.push('\n');
    }
    text.push_str("proved\n");
    let _ = world.write(&format!("{folder}/{number}"), text.as_bytes());
}

/// Parses `GUARDS`, then each kind of goal with its count.
fn way(line: &str) -> Option<Way> {
    let mut words = line.split(' ');
    let guards = words.next()?.parse().ok()?;
    let mut goals = Vec::new();
    while let Some(word) = words.next() {
        let kind = Kind::ALL.iter().find(|kind| kind.name() == word)?;
        goals.push((kind.name(), words.next()?.parse().ok()?));
    }
    Some(Way { guards, verdict: Ok(Shown { goals }) })
}

/// FNV-1a, 128 bits.
#[derive(Clone, Copy)]
struct Number(u128);

impl Default for Number {
    fn default() -> Self {
        Number(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Number {
    /// Adds a text, and its end.
    fn add(&mut self, text: &str) {
        for octet in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u128::from(octet)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_verdict_is_read_back() {
        let way = |guards, goals| Way { guards, verdict: Ok(Shown { goals }) };
        let ways = vec![way(7, vec![("reports", 12), ("state", 3)]), way(0, Vec::new())];
        let found = proof(ways, &["a.send".to_owned()], Known::Shipped).unwrap();
        let line = shipped_line("00ff", &found).unwrap();
        assert_eq!(line, "00ff a.send 7:12,0,0,3,0,0 0:0,0,0,0,0,0");
        let due = proof(vec![way(7, vec![("reports", 12)])], &["a.E.expiry due".to_owned()], Known::Shipped).unwrap();
        let of_timer = shipped_line("00ff", &due).unwrap();
        assert!(read_shipped(&of_timer, "00ff", &due.events).is_some_and(|back| back.is_proved()), "{of_timer}");
        let text = format!("examples/a.mok A\n{line}\n");
        let read = |text: &str, number: &str| read_shipped(text, number, &["a.send".to_owned()]);
        let back = read(&text, "00ff").unwrap();
        assert!(back.is_proved() && back.known == Known::Shipped);
        assert_eq!(shipped_line("00ff", &back), Some(line));
        // Nothing is known of another path, nor of one with an incomplete line, or of which no way can be taken.
        assert!(read(&text, "00fe").is_none() && read(&text, "00f").is_none() && read(&text, "0ff").is_none());
        assert!(read(&text.replace(",0,0 0:", ",0 0:"), "00ff").is_none());
        assert!(read(&text.replace("12", ""), "00ff").is_none());
        assert!(read("00ff a.send 0:0,0,0,0,0,0\n", "00ff").is_none() && read("00ff a.send\n", "00ff").is_none());
    }

    #[test]
    fn all_that_is_shipped_is_of_this_form() {
        let lines = shipped().lines().filter(|line| line.split(' ').next().is_some_and(|word| word.len() == 32));
        for line in lines {
            let (number, rest) = line.split_once(' ').unwrap();
            let event = rest.split(' ').next().unwrap();
            let proof = read_shipped(line, number, &[event.to_owned()]).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(shipped_line(number, &proof).as_deref(), Some(line));
        }
    }
}
