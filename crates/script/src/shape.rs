//! How values of a type are shown: which parts they have, and how these are written.

use mokume_base::Form;

use crate::octets::octets_of_list;

/// How values of a type are put together from the parts that they are in code.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// A number, an enum's value, an object.
    Word(Option<Form>),
    Message,
    /// Several parts that are written as one: `10.0.0.1/24`.
    Whole(Form),
    Record(Vec<(String, Shape)>),
    /// A bounded vector: its length, and the parts of its elements as arrays.
    Vector {
        element: Box<Shape>,
        bound: usize,
        octets: bool,
    },
    /// An enum with parts: its number, and the parts of all names side by side.
    Choice(Vec<Alternative>),
    Flow,
}

/// A name of an enum with parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    pub number: u64,
    /// `Plan.Wait`
    pub name: String,
    pub parts: Vec<(String, Shape)>,
}

impl Shape {
    /// How many numbers a value is, where vectors stand element by element.
    pub fn words(&self) -> usize {
        let sum = |parts: &[(String, Shape)]| parts.iter().map(|(_, shape)| shape.words()).sum::<usize>();
        match self {
            Shape::Vector { element, bound, .. } => 1 + bound * element.words(),
            Shape::Record(fields) => sum(fields),
            Shape::Choice(alternatives) => 1 + alternatives.iter().map(|one| sum(&one.parts)).sum::<usize>(),
            Shape::Word(_) | Shape::Message | Shape::Whole(_) | Shape::Flow => self.parts(),
        }
    }

    /// Whether it is put together from parts with names or numbers of their own.
    pub fn has_parts(&self) -> bool {
        matches!(self, Shape::Record(_) | Shape::Vector { .. } | Shape::Choice(_))
    }

    /// How many parts a value has in code.
    pub fn parts(&self) -> usize {
        let sum = |parts: &[(String, Shape)]| parts.iter().map(|(_, shape)| shape.parts()).sum::<usize>();
        match self {
            Shape::Word(_) | Shape::Message => 1,
            Shape::Whole(form) => form.words(),
            Shape::Record(fields) => sum(fields),
            Shape::Vector { element, .. } => 1 + element.parts(),
            Shape::Choice(alternatives) => 1 + alternatives.iter().map(|one| sum(&one.parts)).sum::<usize>(),
            // Its layers say.
            Shape::Flow => 0,
        }
    }

    /// A value as text, from its numbers, where vectors stand element by element: `{ to: 10.0.0.1, since: 3 ms }`, `[7, 8]`, `"ab"`. `plain`
    /// writes a number without a notation, by its index.
    pub fn write(&self, words: &[u64], plain: &dyn Fn(usize, u64) -> String) -> String {
        self.write_from(words, 0, plain)
    }

    fn write_from(&self, words: &[u64], at: usize, plain: &dyn Fn(usize, u64) -> String) -> String {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let side_by_side = |parts: &[(String, Shape)], mut at: usize| {
            let mut shown = Vec::new();
            for (name, shape) in parts {
                shown.push((name.clone(), shape.write_from(words, at, plain)));
                at += shape.words();
            }
            shown
        };
        match self {
            Shape::Word(Some(form)) => form.write(&[word(at)]),
            Shape::Word(None) | Shape::Message | Shape::Flow => plain(at, word(at)),
            Shape::Whole(form) => form.write(words.get(at..at + form.words()).unwrap_or_default()),
            Shape::Record(fields) => braced(&side_by_side(fields, at)),
            Shape::Vector { element, bound, octets } => {
                let length = (word(at) as usize).min(*bound);
                let elements = (0..length).map(|place| at + 1 + place * element.words());
                match octets {
                    true => octets_of_list(&elements.map(|at| word(at) as u8).collect::<Vec<_>>()),
                    false => {
                        let elements = elements.map(|at| element.write_from(words, at, plain));
                        format!("[{}]", elements.collect::<Vec<_>>().join(", "))
                    }
                }
            }
            Shape::Choice(alternatives) => {
                let mut from = at + 1;
                for alternative in alternatives {
                    if alternative.number == word(at) {
                        return chosen(&alternative.name, &side_by_side(&alternative.parts, from));
                    }
                    from += alternative.parts.iter().map(|(_, shape)| shape.words()).sum::<usize>();
                }
                plain(at, word(at))
            }
        }
    }
}

/// The value of an enum with parts: `Plan.Wait(rounds: 2)`.
pub fn chosen(name: &str, parts: &[(String, String)]) -> String {
    let parts: Vec<String> = parts.iter().map(|(part, value)| format!("{part}: {value}")).collect();
    if parts.is_empty() {
        name.to_string()
    } else {
        format!("{name}({})", parts.join(", "))
    }
}

/// The value of what has parts: `{ rtt: 5 ms, from { host: 10.0.0.3 } }`.
pub fn braced(parts: &[(String, String)]) -> String {
    let parts = parts.iter().map(|(part, value)| match value.starts_with('{') {
        true => format!("{part} {value}"),
        false => format!("{part}: {value}"),
    });
    format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
}
