//! `--set NAME=VALUE` and `Mokume.toml`'s `set`: texts into the words of a stack's parameters.

use mokume_reaction::Param;

use crate::failure::Failure;

/// The words of a value as a user writes it: a number, `true`, `20 ms`, `10.0.0.1`, `10.0.0.1/24`, `2001:db8::1`,
/// `2001:db8::1/64`, `02:00:00:00:00:01`.
pub fn words(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    if let Some((address, prefix)) = text.split_once('/') {
        if let Some(halves) = halves(address) {
            let prefix = prefix.parse::<u8>().ok().filter(|p| *p <= 128)?;
            return Some([halves.as_slice(), &[prefix.into()]].concat());
        }
        return Some(vec![dotted_quad(address)?, prefix.parse::<u8>().ok().filter(|p| *p <= 32)?.into()]);
    }
    if let Some(halves) = halves(text) {
        return Some(halves.to_vec());
    }
    let one = match text {
        "true" => Some(1),
        "false" => Some(0),
        _ => dotted_quad(text).or_else(|| colon_octets(text)).or_else(|| number(text)).or_else(|| duration(text)),
    };
    one.map(|word| vec![word])
}

/// Pairs each parameter that `name` stands for (itself, or the parts of a record: `name.part`) with a word.
pub fn assign(params: &[Param], name: &str, text: &str) -> Result<Vec<(usize, u64)>, Failure> {
    let parts = format!("{name}.");
    let meant: Vec<usize> =
        (0..params.len()).filter(|i| params[*i].name == name || params[*i].name.starts_with(&parts)).collect();
    if meant.is_empty() {
        let known: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        return Err(Failure::of_use(
            format!("the stack has no parameter `{name}`"),
            format!("it has: {}", if known.is_empty() { "none".to_string() } else { known.join(", ") }),
        ));
    }
    let form = "write a number, `true`, `20ms`, `10.0.0.1`, `10.0.0.1/24`, `2001:db8::1/64` or `02:00:00:00:00:01`";
    let words = words(text).ok_or_else(|| Failure::of_use(format!("`{text}` is no value for `{name}`"), form))?;
    if words.len() != meant.len() {
        let names: Vec<&str> = meant.iter().map(|i| params[*i].name.as_str()).collect();
        return Err(Failure::of_use(
            format!("`{name}` has {} parts ({}), `{text}` has {}", meant.len(), names.join(", "), words.len()),
            "an address with its prefix is written `10.0.0.1/24`",
        ));
    }
    Ok(meant.into_iter().zip(words).collect())
}

/// An address of 128 bits.
fn halves(text: &str) -> Option<[u64; 2]> {
    let address = u128::from(text.parse::<std::net::Ipv6Addr>().ok()?);
    Some([(address >> 64) as u64, address as u64])
}

fn dotted_quad(text: &str) -> Option<u64> {
    text.parse::<std::net::Ipv4Addr>().ok().map(|address| u64::from(u32::from(address)))
}

fn colon_octets(text: &str) -> Option<u64> {
    let octets: Vec<&str> = text.split(':').collect();
    if octets.len() != 6 {
        return None;
    }
    octets.iter().try_fold(0_u64, |word, octet| Some(word << 8 | u64::from(u8::from_str_radix(octet, 16).ok()?)))
}

fn number(text: &str) -> Option<u64> {
    let plain = text.replace('_', "");
    match plain.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => plain.parse().ok(),
    }
}

/// A duration in nanoseconds: `20ms`, `1 s`, `1.5s`.
pub fn duration(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let unit = match text[split..].trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    let amount: f64 = text[..split].trim().parse().ok()?;
    (amount >= 0.0 && amount * unit < 9e18).then_some((amount * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_reaction::Type;

    fn params() -> Vec<Param> {
        ["address.address", "address.prefix", "port"]
            .iter()
            .map(|name| Param { name: name.to_string(), ty: Type::U(32), default: None })
            .collect()
    }

    #[test]
    fn values_are_what_users_write() {
        assert_eq!(words("10.0.0.1/24"), Some(vec![0x0a00_0001, 24]));
        assert_eq!(words("02:00:00:00:00:01"), Some(vec![0x0200_0000_0001]));
        assert_eq!(words("2001:db8::1"), Some(vec![0x2001_0db8_0000_0000, 1]));
        assert_eq!(words("fe80::/10"), Some(vec![0xfe80_0000_0000_0000, 0, 10]));
        assert_eq!(words("0x800"), Some(vec![2048]));
        assert_eq!(words("20 ms"), Some(vec![20_000_000]));
        for wrong in ["", "ten", "10.0.0", "10.0.0.1/33", "::1/129", "1 parsec", "-1"] {
            assert_eq!(words(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_record_is_set_as_one() {
        assert_eq!(assign(&params(), "address", "10.0.0.1/24").unwrap(), vec![(0, 0x0a00_0001), (1, 24)]);
        assert_eq!(assign(&params(), "port", "7").unwrap(), vec![(2, 7)]);
        assert!(assign(&params(), "adress", "10.0.0.1").unwrap_err().help.contains("address.address"));
        assert!(assign(&params(), "address", "10.0.0.1").unwrap_err().message.contains("2 parts"));
    }
}
