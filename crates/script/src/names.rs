//! What `?name` met.

use std::collections::BTreeMap;

use mokume_reaction::Datum;

use crate::script::Arg;

/// What was bound, each with the width of where it stood: sums wrap at that.
#[derive(Clone, Default, Debug)]
pub struct Names {
    met: BTreeMap<String, (Datum, u8)>,
}

impl Names {
    /// What a name met, if it met something.
    pub fn get(&self, name: &str) -> Option<&Datum> {
        self.met.get(name).map(|(datum, _)| datum)
    }

    /// What all names met, by their order.
    pub fn all(&self) -> impl Iterator<Item = &Datum> {
        self.met.values().map(|(datum, _)| datum)
    }

    /// A name stands for something of so many bits; none matters for what is no number.
    pub fn bind(&mut self, name: &str, datum: Datum, width: u8) {
        self.met.insert(name.to_string(), (datum, width));
    }

    /// The names of the other that stand for nothing here stand for the same as there.
    pub fn learn(&mut self, other: &Names) {
        for (name, met) in &other.met {
            self.met.entry(name.clone()).or_insert_with(|| met.clone());
        }
    }

    /// The number that an argument stands for; none of what is no number, or not known.
    pub fn word(&self, arg: &Arg) -> Option<u64> {
        match arg {
            Arg::Word(word) => Some(*word),
            Arg::Name(name) => match self.met.get(name)? {
                (Datum::Word(word), _) => Some(*word),
                _ => None,
            },
            Arg::Sum { name, plus } => match self.met.get(name)? {
                (Datum::Word(word), width) => Some(word.wrapping_add(*plus) & mask(*width)),
                _ => None,
            },
            Arg::Octets(_) | Arg::Null | Arg::Bind(_) | Arg::Any | Arg::Packet(_) | Arg::OneOf(_) => None,
        }
    }
}

fn mask(width: u8) -> u64 {
    if width == 0 || width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}
