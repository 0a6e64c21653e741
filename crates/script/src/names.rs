//! What `?name` met.

use std::collections::BTreeMap;

use mokume_reaction::Datum;

use crate::script::Arg;

/// What was bound, each with the width of where it stood: sums wrap at that.
#[derive(Default, Debug)]
pub(crate) struct Names {
    met: BTreeMap<String, (Datum, u8)>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Datum> {
        self.met.get(name).map(|(datum, _)| datum)
    }

    pub fn bind(&mut self, name: &str, datum: Datum, width: u8) {
        self.met.insert(name.to_string(), (datum, width));
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
