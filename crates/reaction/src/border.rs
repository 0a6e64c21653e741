//! Which numbers are values where they come in: at a port, and as parameters of a stack (docs/semantics.md, P6).
//!
//! Only scalars pass there. Which of them form a value is in their names: `v.length` before `v.0`, `v.1` is a bounded
//! vector, and `plan..number` before `plan..Wait.rounds` is an enum with parts.

use crate::{Automaton, Type};

/// What one of the numbers may be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Border {
    /// The number is there if all of these hold. Otherwise it comes in as 0, whatever was given.
    pub there: Vec<There>,
    /// Its values, as ascending ranges; `None` if all numbers of its type are.
    pub values: Option<Vec<std::ops::RangeInclusive<u64>>>,
}

/// A condition on another of the numbers, by its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum There {
    /// A length above the element's index.
    Above(usize, u64),
    /// The number of the alternative that has the part.
    Is(usize, u64),
}

impl Border {
    /// Whether nothing is refused or left out.
    pub fn is_open(&self) -> bool {
        self.there.is_empty() && self.values.is_none()
    }
}

/// The name of one of the numbers where nobody asks what forms a value: `v_length` of `v.length`.
pub fn plain_name(name: &str) -> String {
    name.replace('.', "_")
}

/// An event's numbers, as [`borders`] takes them.
pub fn named(params: &[(String, Type)]) -> Vec<(&str, Type)> {
    params.iter().map(|(name, ty)| (name.as_str(), *ty)).collect()
}

/// A stack's parameters, as [`borders`] takes them.
pub fn parameters(automaton: &Automaton) -> Vec<(&str, Type)> {
    automaton.params.iter().map(|param| (param.name.as_str(), param.ty)).collect()
}

/// The borders of an event's numbers.
pub fn borders_of(automaton: &Automaton, params: &[(String, Type)]) -> Vec<Border> {
    borders(automaton, &named(params))
}

/// The border of each number among these, by their names and types; none if all of them are open.
pub fn borders(automaton: &Automaton, params: &[(&str, Type)]) -> Vec<Border> {
    let mut found = vec![Border::default(); params.len()];
    for (at, (name, ty)) in params.iter().enumerate() {
        found[at].values = match ty {
            Type::Reason => Some(vec![0..=automaton.reasons.len().saturating_sub(1) as u64]),
            Type::Enum(_) => automaton.gaps(*ty, ty.width(automaton)),
            _ => None,
        };
        if let Some(vector) = name.strip_suffix("length").filter(|vector| vector.ends_with('.')) {
            let mut bound = 0;
            for (place, index) in parts(params, at, vector) {
                let Ok(index) = index.parse::<u64>() else { continue };
                found[place].there.push(There::Above(at, index));
                bound = bound.max(index + 1);
            }
            if bound > 0 {
                found[at].values = Some(vec![0..=bound]);
            }
        }
        let (Some(data), Type::Enum(id)) = (name.strip_suffix("number").filter(|data| data.ends_with("..")), ty) else {
            continue;
        };
        let names = automaton.enums.get(id.index()).map_or(&[][..], |known| &known.names);
        for (place, alternative) in parts(params, at, data) {
            let number = names.iter().find(|(name, _)| name == alternative).map(|(_, number)| *number);
            found[place].there.extend(number.map(|number| There::Is(at, number)));
        }
    }
    if found.iter().all(Border::is_open) {
        found.clear();
    }
    found
}

/// The numbers right behind one whose names begin like this, each with the next part of its name.
fn parts<'a>(params: &'a [(&str, Type)], at: usize, begin: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let behind = params.iter().enumerate().skip(at + 1);
    behind.map_while(move |(place, (name, _))| Some((place, name.strip_prefix(begin)?.split('.').next()?)))
}

/// Takes numbers in that have the bits of their types: those that are not there become 0.
///
/// # Errors
/// The place of the first of the others that is no value.
pub fn admit(borders: &[Border], words: &mut [u64]) -> Result<(), usize> {
    let given = |at: usize, words: &[u64]| words.get(at).copied().unwrap_or(0);
    for (at, border) in borders.iter().enumerate() {
        // Those that decide stand in front, and are 0 themselves if they are not there.
        let holds = |there: &There| match *there {
            There::Above(of, index) => given(of, words) > index,
            There::Is(of, number) => given(of, words) == number,
        };
        let is_there = border.there.iter().all(holds);
        let Some(word) = words.get_mut(at) else { continue };
        if !is_there {
            *word = 0;
        } else if border.values.as_ref().is_some_and(|ranges| !ranges.iter().any(|range| range.contains(word))) {
            return Err(at);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Enum;

    fn automaton() -> Automaton {
        let one = |name: &str, open, names: &[(&str, u64)]| Enum {
            name: name.into(),
            width: 8,
            open,
            names: names.iter().map(|(name, number)| (name.to_string(), *number)).collect(),
        };
        let enums = vec![one("Plan", false, &[("Stop", 3), ("Wait", 4)]), one("Level", true, &[("Low", 0)])];
        Automaton { enums, ..Automaton::default() }
    }

    #[test]
    fn vectors_and_enums_have_borders() {
        let (plan, level, octet) = (Type::Enum(0.into()), Type::Enum(1.into()), Type::U(8));
        let params = [
            ("k", level),
            ("vs.length", octet),
            ("vs.0.length", octet),
            ("vs.0.0", octet),
            ("vs.0.1", octet),
            ("vs.1.length", octet),
            ("vs.1.0", octet),
            ("vs.1.1", octet),
            ("p..number", plan),
            ("p..Wait.rounds", octet),
            ("p_length", octet),
        ];
        let borders = borders(&automaton(), &params);
        let admitted = |words: [u64; 11]| {
            let mut words = words;
            admit(&borders, &mut words).map(|()| words)
        };
        let whole = [9, 2, 1, 7, 0, 2, 8, 9, 4, 5, 200];
        assert_eq!(admitted(whole), Ok(whole));
        // Elements behind a length and parts of other alternatives are not looked at.
        assert_eq!(admitted([9, 1, 1, 7, 7, 77, 7, 7, 3, 7, 200]), Ok([9, 1, 1, 7, 0, 0, 0, 0, 3, 0, 200]));
        for (at, wrong) in [(1, 3), (2, 3), (5, 3), (8, 0), (8, 5)] {
            let mut words = whole;
            words[at] = wrong;
            assert_eq!(admitted(words), Err(at));
        }
    }

    #[test]
    fn numbers_have_none() {
        let params =
            [("k", Type::Enum(1.into())), ("v_length", Type::U(8)), ("v_0", Type::U(8)), ("length", Type::U(8))];
        assert_eq!(borders(&automaton(), &params), []);
    }
}
