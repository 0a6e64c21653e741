//! 64-bit numbers in JSON: numbers of more than 53 bits are text, as readers in JavaScript would misread them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or its decimal digits.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Small(u64),
    Digits(String),
}

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        if number < 1 << 53 {
            Number::Small(number)
        } else {
            Number::Digits(number.to_string())
        }
    }
}

impl Number {
    fn value<E: serde::de::Error>(self) -> Result<u64, E> {
        match self {
            Number::Small(number) => Ok(number),
            Number::Digits(text) => text.parse().map_err(|_| E::custom(format!("`{text}` is no number of 64 bits"))),
        }
    }
}

/// Writes a number.
pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Number::from(*number).serialize(serializer)
}

/// Reads a number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Number::deserialize(deserializer)?.value()
}

/// An optional number; `None` is `null`.
pub mod perhaps {
    use super::*;

    /// Writes an optional number.
    pub fn serialize<S: Serializer>(number: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        number.map(Number::from).serialize(serializer)
    }

    /// Reads an optional number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        Option::<Number>::deserialize(deserializer)?.map(Number::value).transpose()
    }
}

/// Lists of numbers.
pub mod list {
    use super::*;

    /// Writes a list of numbers.
    pub fn serialize<S: Serializer>(numbers: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| Number::from(*number)))
    }

    /// Reads a list of numbers.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        Vec::<Number>::deserialize(deserializer)?.into_iter().map(Number::value).collect()
    }
}
