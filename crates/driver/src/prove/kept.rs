//! Verdicts that are kept: of a path that was proved, by all that the verdict depends on. Nothing else is kept, and what is not read
//! whole is judged anew.

use std::time::Duration;

use mokume_base::World;
use mokume_prove::judge::Kind;
use mokume_reaction::{Automaton, Path};

use super::{Proof, Shown, Way};

/// Where verdicts stand, and the name of one's file: what is judged, by whom, as one number.
pub(super) struct Place {
    file: String,
}

impl Place {
    /// Of a path: the path, all handlers that it is held against, and the judge's own text.
    pub(super) fn of(folder: &str, automaton: &Automaton, path: &Path) -> Place {
        let alone = Automaton { paths: vec![path.clone()], ..automaton.clone() };
        let mut number = Number::default();
        for part in mokume_prove::SOURCES {
            number.add(part);
        }
        number.add(env!("CARGO_PKG_VERSION"));
        number.add(&mokume_reaction::text::print(&alone));
        Place { file: format!("{folder}/{:032x}", number.0) }
    }

    /// What is kept: that all ways were proved.
    pub(super) fn read(&self, world: &dyn World, events: &[String]) -> Option<Proof> {
        let text = world.read_text(&self.file).ok()?;
        let mut lines = text.strip_suffix("proved\n")?.lines();
        let ways = lines.try_fold(Vec::new(), |mut ways, line| {
            ways.push(way(line)?);
            Some(ways)
        })?;
        let proof =
            Proof { events: events.to_vec(), ways: Ok(ways), took: Duration::ZERO, is_kept: true, replayed: None };
        proof.is_proved().then_some(proof)
    }

    /// Keeps it if it is proved. A folder that takes no file is no failure: then it is judged again.
    pub(super) fn write(&self, world: &dyn World, proof: &Proof) {
        let (true, Ok(ways)) = (proof.is_proved(), &proof.ways) else { return };
        let mut text = String::new();
        for way in ways {
            let Ok(shown) = &way.verdict else { return };
            text.push_str(&way.guards.to_string());
            shown.goals.iter().for_each(|(kind, count)| text.push_str(&format!(" {kind} {count}")));
            text.push('\n');
        }
        text.push_str("proved\n");
        let _ = world.write(&self.file, text.as_bytes());
    }
}

/// `GUARDS`, then each kind of goals and how many.
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
struct Number(u128);

impl Default for Number {
    fn default() -> Self {
        Number(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Number {
    /// A text, and where it ends.
    fn add(&mut self, text: &str) {
        for octet in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u128::from(octet)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
