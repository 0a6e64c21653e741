//! `--set NAME=VALUE` and `set` in `Mokume.toml`: texts into the words of a stack's parameters.

use mokume_base::Form;
use mokume_reaction::{Automaton, Type};
use mokume_script::Written;

use crate::failure::Failure;

/// Pairs each parameter with this name (or each part of a record: `name.part`) with a word.
pub fn assign(automaton: &Automaton, written: &Written, name: &str, text: &str) -> Result<Vec<(usize, u64)>, Failure> {
    let params = &automaton.params;
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
    let form = written.params.get(name);
    let help = form.map_or("write a number, `true` or `20ms`".to_string(), |form| {
        format!("it is written as in `{}`", form.example())
    });
    let named = meant.first().and_then(|at| named(automaton, params[*at].ty, text));
    let words = named.map(|word| vec![word]).or_else(|| words(written, name, text));
    let words = words.ok_or_else(|| Failure::of_use(format!("`{text}` is no value for `{name}`"), help.clone()))?;
    if words.len() != meant.len() {
        let names: Vec<&str> = meant.iter().map(|i| params[*i].name.as_str()).collect();
        return Err(Failure::of_use(
            format!("`{name}` has {} parts ({}), `{text}` has {}", meant.len(), names.join(", "), words.len()),
            help,
        ));
    }
    Ok(meant.into_iter().zip(words).collect())
}

/// The words of a value as the user writes it: in the notation of the parameter's type, else of any type of the
/// program; a number, `true`, `20 ms`.
fn words(written: &Written, name: &str, text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    let own = written.params.get(name).and_then(|form| form.read(text));
    own.or_else(|| written.all.iter().find_map(|form| form.read(text))).or_else(|| plain(text).map(|word| vec![word]))
}

/// The words of an argument of a port's event, in the notation of its type.
pub fn value(
    automaton: &Automaton,
    written: &Written,
    form: Option<&Form>,
    (ty, text): (Type, &str),
) -> Option<Vec<u64>> {
    let own = form.and_then(|form| form.read(text)).or_else(|| named(automaton, ty, text).map(|word| vec![word]));
    own.or_else(|| written.all.iter().find_map(|form| form.read(text))).or_else(|| plain(text).map(|word| vec![word]))
}

/// The name of an enum's value: `Kind.Ask`, or `Ask`.
fn named(automaton: &Automaton, ty: Type, text: &str) -> Option<u64> {
    let Type::Enum(id) = ty else { return None };
    let known = automaton.enums.get(id.index())?;
    let name = text.strip_prefix(&format!("{}.", known.name)).unwrap_or(text);
    known.names.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
}

fn plain(text: &str) -> Option<u64> {
    match text {
        "true" => Some(1),
        "false" => Some(0),
        _ => number(text).or_else(|| duration(text)),
    }
}

fn number(text: &str) -> Option<u64> {
    let plain = text.replace('_', "");
    match plain.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => plain.parse().ok(),
    }
}

/// Parses a duration to nanoseconds: `20ms`, `1 s`, `1.5s`.
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
    use mokume_base::Notation;
    use mokume_reaction::{Enum, EnumId, Param};

    fn stack() -> (Automaton, Written) {
        let param = |name: &str, ty| Param { name: name.to_string(), ty, default: None };
        let params = vec![
            param("address.address", Type::U(32)),
            param("address.prefix", Type::U(8)),
            param("port", Type::U(16)),
            param("kind", Type::Enum(EnumId(0))),
            param("device.mac", Type::U(48)),
        ];
        let enums = vec![Enum { name: "Kind".into(), width: 8, open: false, names: vec![("Ask".into(), 3)] }];
        let address = Form::Parts { notation: Notation::Dotted { bits: 8 }, widths: vec![32] };
        let station = Form::Parts { notation: Notation::Colons { bits: 8 }, widths: vec![48] };
        let network = Form::Prefix { of: Box::new(address.clone()), width: 8 };
        let forms = [("address".to_string(), network.clone()), ("address.address".to_string(), address.clone())];
        let written = Written { params: forms.into(), all: vec![address, station, network], ..Written::default() };
        (Automaton { params, enums, ..Automaton::default() }, written)
    }

    fn assigned(name: &str, text: &str) -> Result<Vec<(usize, u64)>, Failure> {
        let (automaton, written) = stack();
        assign(&automaton, &written, name, text)
    }

    #[test]
    fn values_are_what_users_write() {
        assert_eq!(plain("0x800"), Some(2048));
        assert_eq!(plain("20 ms"), Some(20_000_000));
        for wrong in ["", "ten", "10.0.0", "1 parsec", "-1"] {
            assert_eq!(plain(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_value_is_read_by_the_form_of_its_type() {
        assert_eq!(assigned("address", "10.0.0.1/24").unwrap(), vec![(0, 0x0a00_0001), (1, 24)]);
        assert_eq!(assigned("address.address", "10.0.0.1").unwrap(), vec![(0, 0x0a00_0001)]);
        assert_eq!(assigned("port", "7").unwrap(), vec![(2, 7)]);
        assert_eq!(assigned("kind", "Kind.Ask").unwrap(), assigned("kind", "Ask").unwrap());
        assert_eq!(assigned("device.mac", "02:00:00:00:00:01").unwrap(), vec![(4, 0x0200_0000_0001)]);
    }

    #[test]
    fn what_cannot_be_read_is_said_with_an_example() {
        assert!(assigned("adress", "10.0.0.1").unwrap_err().help.contains("address.address"));
        assert!(assigned("address", "10.0.0.1").unwrap_err().message.contains("2 parts"));
        let wrong = assigned("address", "10.0.0.1/33").unwrap_err();
        assert!(wrong.help.contains("10.0.0.1/24"), "{wrong}");
    }
}
