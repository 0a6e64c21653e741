//! The values that `?name` has bound.

use std::collections::BTreeMap;

use mokume_reaction::Datum;

use crate::script::Arg;

/// The bound values, each with the width of its place: sums wrap around at that width.
#[derive(Clone, Default, Debug)]
pub struct Names {
    met: BTreeMap<String, (Datum, u8)>,
}

impl Names {
    /// The value that a name is bound to, if it is.
    pub fn get(&self, name: &str) -> Option<&Datum> {
        self.met.get(name).map(|(datum, _)| datum)
    }

    /// All bound values, sorted by name.
    pub fn all(&self) -> impl Iterator<Item = &Datum> {
        self.met.values().map(|(datum, _)| datum)
    }

    /// Binds a name to a value of `width` bits; the width does not matter for values that are not numbers.
    pub fn bind(&mut self, name: &str, datum: Datum, width: u8) {
        self.met.insert(name.to_string(), (datum, width));
    }

    /// Adds the bindings of the other for names that are not bound here.
    pub fn learn(&mut self, other: &Names) {
        for (name, met) in &other.met {
            self.met.entry(name.clone()).or_insert_with(|| met.clone());
        }
    }

    /// The number that an argument stands for; `None` if it is not a number, or not bound.
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
