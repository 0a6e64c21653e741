//! How values are written, other than as one decimal number: the notations that types of the language can ask for.
//!
//! A notation is general: it knows how many bits a part has and what separates the parts, but no protocol. `read`
//! accepts all that `write` produces.

use std::borrow::Cow;
use std::fmt::Write;

/// The widest number that can have a notation, in bits.
pub const WIDEST: u32 = 128;

/// How one number is written in parts, the highest part first. The bits of a part divide the bits of the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Notation {
    /// `10.0.0.1`: decimal parts of `bits` bits each, joined by dots.
    Dotted { bits: u8 },
    /// `02:00:00:00:00:01`: hexadecimal parts of `bits` bits each, with leading zeros, joined by colons.
    Colons { bits: u8 },
    /// `2001:db8::1`: as `Colons`, but without leading zeros, and with the first of the longest runs of at least two
    /// zero parts left out (RFC 5952 4). All zeros are `::0`.
    Short { bits: u8 },
}

impl Notation {
    /// The bits of one part.
    pub fn bits(self) -> u8 {
        match self {
            Notation::Dotted { bits } | Notation::Colons { bits } | Notation::Short { bits } => bits,
        }
    }

    /// Writes a number of `width` bits, at most [`WIDEST`].
    pub fn write(self, width: u32, value: u128) -> String {
        let parts = self.parts(width, value);
        let digits = usize::from(self.bits()).div_ceil(4);
        match self {
            Notation::Dotted { .. } => joined(&parts, ".", |part| part.to_string()),
            Notation::Colons { .. } => joined(&parts, ":", |part| format!("{part:0digits$x}")),
            Notation::Short { .. } => match longest_zeros(&parts) {
                None => joined(&parts, ":", |part| format!("{part:x}")),
                Some((0, count)) if count == parts.len() => "::0".to_string(),
                Some((at, count)) => {
                    let hex = |part: &u128| format!("{part:x}");
                    format!("{}::{}", joined(&parts[..at], ":", hex), joined(&parts[at + count..], ":", hex))
                }
            },
        }
    }

    /// Reads a number of `width` bits from a text; `None` if the text is not in this notation.
    pub fn read(self, width: u32, text: &str) -> Option<u128> {
        let count = (width / u32::from(self.bits())) as usize;
        let digits = usize::from(self.bits()).div_ceil(4);
        let parts: Vec<u128> = match self {
            Notation::Dotted { .. } => text.split('.').map(decimal).collect::<Option<_>>()?,
            Notation::Colons { .. } => {
                text.split(':').map(|part| hex(part).filter(|_| part.len() == digits)).collect::<Option<_>>()?
            }
            Notation::Short { bits } => read_short(&without_dots(text, bits)?, count, digits)?,
        };
        let fits = parts.len() == count && parts.iter().all(|part| part >> self.bits() == 0);
        fits.then(|| parts.iter().fold(0, |sum, part| sum << self.bits() | part))
    }

    fn parts(self, width: u32, value: u128) -> Vec<u128> {
        let bits = u32::from(self.bits());
        let mask = (1u128 << bits) - 1;
        (0..width / bits).rev().map(|place| value >> (place * bits) & mask).collect()
    }
}

fn joined(parts: &[u128], sign: &str, write: impl Fn(&u128) -> String) -> String {
    parts.iter().map(write).collect::<Vec<_>>().join(sign)
}

fn decimal(text: &str) -> Option<u128> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok())?
}

fn hex(text: &str) -> Option<u128> {
    text.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u128::from_str_radix(text, 16).ok())?
}

/// The first of the longest runs of at least two zeros: its start and its length.
fn longest_zeros(parts: &[u128]) -> Option<(usize, usize)> {
    let run = |at: usize| parts[at..].iter().take_while(|part| **part == 0).count();
    let runs = (0..parts.len()).map(|at| (at, run(at))).filter(|(_, count)| *count >= 2);
    runs.max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at)))
}

/// Rewrites the last two parts to hexadecimal if they are dotted decimal: `::ffff:10.0.0.1` (RFC 4291 2.2).
fn without_dots(text: &str, bits: u8) -> Option<Cow<'_, str>> {
    let (before, last) = text.split_at(text.rfind(':').map_or(0, |at| at + 1));
    if !last.contains('.') {
        return Some(Cow::Borrowed(text));
    }
    let value = Notation::Dotted { bits: bits / 2 }.read(2 * u32::from(bits), last)?;
    let parts = Notation::Short { bits }.parts(2 * u32::from(bits), value);
    Some(Cow::Owned(format!("{before}{}", joined(&parts, ":", |part| format!("{part:x}")))))
}

fn read_short(text: &str, count: usize, digits: usize) -> Option<Vec<u128>> {
    let side = |text: &str| -> Option<Vec<u128>> {
        let part = |part: &str| hex(part).filter(|_| !part.is_empty() && part.len() <= digits);
        if text.is_empty() {
            return Some(Vec::new());
        }
        text.split(':').map(part).collect()
    };
    match text.split_once("::") {
        None => side(text).filter(|parts| !parts.is_empty()),
        Some((before, behind)) => {
            let (before, behind) = (side(before)?, side(behind)?);
            // `::` stands for at least one part.
            let zeros = count.checked_sub(before.len() + behind.len()).filter(|zeros| *zeros > 0)?;
            Some([before, vec![0; zeros], behind].concat())
        }
    }
}

/// How a value of a type is written, whether it is one scalar or a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A number of `width` bits, in decimal.
    Plain { width: u8 },
    /// A number in parts. For a record, its fields side by side, with these widths in bits, the first field highest.
    Parts { notation: Notation, widths: Vec<u8> },
    /// `10.0.0.1/24`: a number, and how many of its highest bits count.
    Prefix { of: Box<Form>, width: u8 },
    /// `[0, 2]`: a set of small numbers, each a bit.
    Set,
    /// `20 ms`: nanoseconds, in the largest unit that keeps them whole numbers or short.
    Time,
}

/// Units of times as the language writes them, the largest first, in nanoseconds.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

/// A time without rounding, as the language writes it: `1 ms`, `20.5 ms`, `0 s`.
pub fn time(nanoseconds: u64) -> String {
    let fits = UNITS.into_iter().find(|(_, per)| nanoseconds >= *per);
    let (unit, per) = fits.unwrap_or(UNITS[0]);
    let (whole, rest) = (nanoseconds / per, nanoseconds % per);
    let digits = per.ilog10() as usize;
    match rest {
        0 => format!("{whole} {unit}"),
        rest => format!("{whole}.{} {unit}", format!("{rest:0digits$}").trim_end_matches('0')),
    }
}

/// The nanoseconds of a time as [`time`] writes it, exactly; `None` for other text, and for parts of a nanosecond.
fn nanoseconds(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let per = UNITS.into_iter().find(|(unit, _)| *unit == &text[split..])?.1;
    let (whole, rest) = text[..split].trim_end().split_once('.').unwrap_or((text[..split].trim_end(), ""));
    let places = per.ilog10() as usize;
    if whole.is_empty() || rest.len() > places || !(whole.bytes().chain(rest.bytes())).all(|c| c.is_ascii_digit()) {
        return None;
    }
    let rest: u64 = format!("0{rest:0<places$}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(per)?.checked_add(rest)
}

impl Form {
    /// How many scalars the value has.
    pub fn words(&self) -> usize {
        match self {
            Form::Plain { .. } | Form::Set | Form::Time => 1,
            Form::Parts { widths, .. } => widths.len(),
            Form::Prefix { of, .. } => of.words() + 1,
        }
    }

    /// The bits of the number; for a prefix, those of the number that it is a prefix of.
    pub fn width(&self) -> u32 {
        match self {
            Form::Plain { width } => u32::from(*width),
            Form::Parts { widths, .. } => widths.iter().map(|width| u32::from(*width)).sum(),
            Form::Prefix { of, .. } => of.width(),
            Form::Set | Form::Time => u64::BITS,
        }
    }

    /// Writes a value from its scalars, [`Form::words`] of them; missing scalars count as 0.
    pub fn write(&self, words: &[u64]) -> String {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        match self {
            Form::Plain { .. } => word(0).to_string(),
            Form::Set => {
                let all = (0..u64::BITS).filter(|at| word(0) >> at & 1 == 1).map(|at| at.to_string());
                format!("[{}]", all.collect::<Vec<_>>().join(", "))
            }
            Form::Time => time(word(0)),
            Form::Parts { notation, widths } => {
                let value = widths.iter().enumerate().fold(0u128, |sum, (at, width)| {
                    sum.checked_shl(u32::from(*width)).unwrap_or(0) | u128::from(word(at))
                });
                notation.write(self.width(), value)
            }
            Form::Prefix { of, .. } => {
                let mut text = of.write(words);
                let _ = write!(text, "/{}", word(of.words()));
                text
            }
        }
    }

    /// Reads the scalars of a value from a text; `None` if the text is not in this form.
    pub fn read(&self, text: &str) -> Option<Vec<u64>> {
        match self {
            Form::Plain { width } => {
                let value = u64::try_from(decimal(text)?).ok()?;
                (u128::from(value) >> *width == 0).then(|| vec![value])
            }
            Form::Set => {
                let all = text.strip_prefix('[')?.strip_suffix(']')?.trim();
                let all = all.split(',').map(str::trim).filter(|_| !all.is_empty());
                let bit = |one: &str| 1u64.checked_shl(u32::try_from(decimal(one)?).ok()?);
                Some(vec![all.map(bit).try_fold(0, |sum, bit| Some(sum | bit?))?])
            }
            Form::Time => nanoseconds(text).map(|value| vec![value]),
            Form::Parts { notation, widths } => {
                let mut value = notation.read(self.width(), text)?;
                let mut words = Vec::new();
                for width in widths.iter().rev() {
                    words.push((value & ((1u128 << *width) - 1)) as u64);
                    value >>= *width;
                }
                words.reverse();
                Some(words)
            }
            Form::Prefix { of, width } => {
                let (number, prefix) = text.split_once('/')?;
                let mut words = of.read(number)?;
                let prefix = Form::Plain { width: *width }.read(prefix)?;
                words.extend(&prefix);
                prefix.iter().all(|prefix| *prefix <= u64::from(of.width())).then_some(words)
            }
        }
    }

    /// The most bits that a prefix may have, if `text` is one of this form but for having more.
    pub fn exceeds(&self, text: &str) -> Option<u32> {
        let Form::Prefix { of, .. } = self else { return None };
        let (number, prefix) = text.split_once('/')?;
        of.read(number)?;
        (decimal(prefix)? > u128::from(of.width())).then(|| of.width())
    }

    /// An example of a value in this form, for messages.
    pub fn example(&self) -> String {
        let of = |form: &Form| match form {
            Form::Plain { .. } => vec![1],
            Form::Set => vec![5],
            Form::Time => vec![20_000_000],
            Form::Parts { notation: Notation::Dotted { bits: 8 }, widths } if **widths == [32] => vec![0x0a00_0001],
            Form::Parts { widths, .. } => {
                let mut words = vec![0; widths.len()];
                // The highest bits are set, so that zeros are left out in the middle.
                words[0] = 1 << (widths[0] - 1);
                let last = words.len() - 1;
                words[last] |= 1;
                words
            }
            Form::Prefix { .. } => Vec::new(),
        };
        match self {
            Form::Prefix { of: inner, .. } => {
                format!("{}/{}", inner.example(), inner.width() / 4 * 3)
            }
            form => form.write(&of(form)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUAD: Notation = Notation::Dotted { bits: 8 };
    const OCTETS: Notation = Notation::Colons { bits: 8 };
    const GROUPS: Notation = Notation::Short { bits: 16 };

    fn both_ways(notation: Notation, width: u32, value: u128, text: &str) {
        assert_eq!(notation.write(width, value), text);
        assert_eq!(notation.read(width, text), Some(value), "{text}");
    }

    #[test]
    fn what_is_written_is_read() {
        both_ways(QUAD, 32, 0x0a00_0001, "10.0.0.1");
        both_ways(Notation::Dotted { bits: 16 }, 32, 0x1_000a, "1.10");
        both_ways(OCTETS, 48, 0x0200_0000_000f, "02:00:00:00:00:0f");
        both_ways(Notation::Colons { bits: 16 }, 64, 0x1_0000_0002, "0000:0001:0000:0002");
        both_ways(GROUPS, 128, 0x2001_0db8 << 96 | 1, "2001:db8::1");
        both_ways(GROUPS, 128, 0, "::0");
        both_ways(GROUPS, 128, 1, "::1");
        both_ways(GROUPS, 128, 0xff00 << 112, "ff00::");
        both_ways(GROUPS, 128, 0x1 << 112 | 1 << 80 | 1, "1:0:1::1");
        both_ways(GROUPS, 128, 0x0001_0000_0001_0001_0001_0001_0001_0001, "1:0:1:1:1:1:1:1");
        both_ways(GROUPS, 128, 0x0001_0000_0000_0001_0000_0000_0001_0001, "1::1:0:0:1:1");
    }

    #[test]
    fn times_are_written_and_read_without_rounding() {
        for (value, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (1_500, "1.5 us"),
            (20_000_000, "20 ms"),
            (20_500_001, "20.500001 ms"),
            (61_250_000_000, "61.25 s"),
            (u64::MAX, "18446744073.709551615 s"),
        ] {
            assert_eq!((Form::Time.write(&[value]), Form::Time.read(text)), (text.to_string(), Some(vec![value])));
        }
        assert_eq!(Form::Time.read("20ms"), Some(vec![20_000_000]));
        for wrong in ["", "20", "ms", "1.5 ns", ".5 s", "+1 s", "1.x s", "1 day", "18446744074 s"] {
            assert_eq!(Form::Time.read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_texts_are_not_read() {
        for wrong in ["", "10.0.0", "10.0.0.1.2", "10.0.0.256", "10.0.0.x", "10.0.0.+1", "10..0.1"] {
            assert_eq!(QUAD.read(32, wrong), None, "{wrong}");
        }
        for wrong in ["", "2:0:0:0:0:1", "02:00:00:00:00", "02:00:00:00:00:001", "02::01"] {
            assert_eq!(OCTETS.read(48, wrong), None, "{wrong}");
        }
        for wrong in ["", "1", "::1::2", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "12345::1", ":1::2", "1::2:"] {
            assert_eq!(GROUPS.read(128, wrong), None, "{wrong}");
        }
        for wrong in ["10.0.0.1", "::10.0.0", "::10.0.0.256", "10.0.0.1::", "1:2:3:4:5:6:7:10.0.0.1"] {
            assert_eq!(GROUPS.read(128, wrong), None, "{wrong}");
        }
        assert_eq!(GROUPS.read(128, "::ffff:10.0.0.1"), Some(0xffff_0a00_0001));
        assert_eq!(GROUPS.read(128, "1:2:3:4:5:6:0.7.0.8"), GROUPS.read(128, "1:2:3:4:5:6:7:8"));
        assert_eq!(GROUPS.read(128, "1:2:3:4:5:6:7:8").map(|value| value as u16), Some(8));
    }

    #[test]
    fn records_are_their_fields_side_by_side() {
        let wide = Form::Parts { notation: GROUPS, widths: vec![64, 64] };
        let prefix = Form::Prefix { of: Box::new(wide.clone()), width: 8 };
        assert_eq!(wide.read("2001:db8::1"), Some(vec![0x2001_0db8_0000_0000, 1]));
        assert_eq!(prefix.read("fe80::/10"), Some(vec![0xfe80_0000_0000_0000, 0, 10]));
        assert_eq!(prefix.write(&[0xfe80_0000_0000_0000, 0, 10]), "fe80::/10");
        assert_eq!((prefix.read("::1/129"), prefix.read("::1"), prefix.read("::1/")), (None, None, None));
        assert_eq!((wide.words(), prefix.words(), prefix.width()), (2, 3, 128));
        assert_eq!(Form::Plain { width: 8 }.read("256"), None);
    }

    #[test]
    fn an_example_can_be_read() {
        let quad = Form::Parts { notation: QUAD, widths: vec![32] };
        let octets = Form::Parts { notation: OCTETS, widths: vec![48] };
        let wide = Form::Parts { notation: GROUPS, widths: vec![64, 64] };
        let prefix = |of: &Form| Form::Prefix { of: Box::new(of.clone()), width: 8 };
        for (form, text) in [
            (&quad, "10.0.0.1"),
            (&octets, "80:00:00:00:00:01"),
            (&wide, "8000::1"),
            (&prefix(&quad), "10.0.0.1/24"),
            (&prefix(&wide), "8000::1/96"),
        ] {
            assert_eq!(form.example(), text);
            assert!(form.read(text).is_some());
        }
    }
}
