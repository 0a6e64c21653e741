//! Octets in JSON: two hexadecimal digits for each.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes octets.
pub fn serialize<S: Serializer>(octets: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(octets))
}

/// Reads octets.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    octets(&text).ok_or_else(|| serde::de::Error::custom("octets are pairs of hexadecimal digits"))
}

/// Two digits an octet.
pub fn text(octets: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = octets.iter().flat_map(|octet| [octet >> 4, octet & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn octets(text: &str) -> Option<Vec<u8>> {
    let digit = |octet: u8| char::from(octet).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// Optional octets; `None` is `null`.
pub mod perhaps {
    use super::*;

    /// Writes optional octets.
    pub fn serialize<S: Serializer>(octets: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        match octets {
            Some(octets) => super::serialize(octets, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads optional octets.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        let wrong = || serde::de::Error::custom("octets are pairs of hexadecimal digits");
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| octets(&text).ok_or_else(wrong)).transpose()
    }
}
