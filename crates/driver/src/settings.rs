//! `--set NAME=VALUE` and `set` in `Mokume.toml`: texts into the words of a stack's parameters.

use mokume_base::Form;
use mokume_reaction::{Automaton, Type};
pub use mokume_script::{is_value, values_of};
use mokume_script::{ListForm, Written};

use crate::failure::Failure;

/// Pairs each parameter with this name (or each part of a record: `name.part`) with a word.
pub fn assign(automaton: &Automaton, written: &Written, name: &str, text: &str) -> Result<Vec<(usize, u64)>, Failure> {
    let params = &automaton.params;
    let parts = format!("{name}.");
    let meant: Vec<usize> =
        (0..params.len()).filter(|i| params[*i].name == name || params[*i].name.starts_with(&parts)).collect();
    if meant.is_empty() {
        let known = settable(automaton, written);
        let help = match mokume_base::did_you_mean(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", if known.is_empty() { "none".to_string() } else { known.join(", ") }),
        };
        return Err(Failure::of_use(format!("the stack has no parameter `{name}`"), help));
    }
    let list = written
        .lists
        .iter()
        .find(|(list, _)| name.strip_prefix(list.as_str()).is_some_and(|part| part.starts_with('.')));
    if let Some((list, form)) = list {
        let help = as_list(automaton, list, form);
        return Err(Failure::of_use(format!("`{name}` is a part of the vector `{list}`"), help));
    }
    let (words, help) = match written.lists.get(name) {
        Some(form) => {
            let elements: Vec<Type> = meant.iter().skip(1).map(|at| params[*at].ty).collect();
            let list = list_words(automaton, written, (form, &elements), text)?;
            (list, as_list(automaton, name, form))
        }
        None => {
            // A value of several parts has a notation, or none.
            let ty = if let [at] = meant[..] { params[at].ty } else { Type::U(64) };
            let form = written.params.get(name);
            let help = match (meant.len(), form) {
                (2.., None) => {
                    let parts: Vec<&str> = meant.iter().map(|at| params[*at].name.as_str()).collect();
                    format!("it is a record: set each of its parts, {}", parts.join(", "))
                }
                _ => way_out(automaton, form, ty),
            };
            (read(automaton, written, form, (ty, text)), help)
        }
    };
    let words = words.ok_or_else(|| Failure::of_use(format!("`{text}` is no value for `{name}`"), help.clone()))?;
    if words.len() != meant.len() {
        let names: Vec<&str> = meant.iter().map(|i| params[*i].name.as_str()).collect();
        return Err(Failure::of_use(
            format!("`{name}` has {} parts ({}), `{text}` has {}", meant.len(), names.join(", "), words.len()),
            help,
        ));
    }
    // Elements that a vector does not have are zero, whether or not that is a value.
    let parts = meant.len() - 1;
    let used = written.lists.get(name).map_or(usize::MAX, |form| 1 + words[0] as usize * (parts / form.most.max(1)));
    let found: Vec<(usize, u64)> = meant.into_iter().zip(words).collect();
    if let Some(most) = longest_prefix(automaton, written, name).filter(|most| found[0].1 > *most) {
        let help = format!("the prefix of such an address has at most {most} bits");
        return Err(Failure::of_use(format!("`{text}` is no value for `{name}`"), help));
    }
    match found.iter().take(used).find(|(at, word)| !is_value(automaton, params[*at].ty, *word)) {
        Some((at, _)) => {
            let help = way_out(automaton, None, params[*at].ty);
            Err(Failure::of_use(format!("`{text}` is no value for `{}`", params[*at].name), help))
        }
        None => Ok(found),
    }
}

/// What can be set: values with a notation and vectors as a whole, records without one by their parts.
fn settable<'a>(automaton: &'a Automaton, written: &Written) -> Vec<&'a str> {
    let whole = |name: &'a str| {
        let ends = name.match_indices('.').map(|(at, _)| &name[..at]);
        let mut all = ends.chain([name]);
        all.find(|part| written.lists.contains_key(*part) || written.params.contains_key(*part)).unwrap_or(name)
    };
    let mut names: Vec<&str> = automaton.params.iter().map(|param| whole(&param.name)).collect();
    names.dedup();
    names
}

/// The bits of the address whose prefix a part of a parameter is.
fn longest_prefix(automaton: &Automaton, written: &Written, name: &str) -> Option<u64> {
    let (of, _) = name.rsplit_once('.')?;
    let Form::Prefix { of: address, .. } = written.params.get(of)? else { return None };
    let Form::Parts { widths, .. } = &**address else { return None };
    let mut parts = automaton.params.iter().filter(|param| param.name.starts_with(&format!("{of}.")));
    let is_last = parts.next_back().is_some_and(|last| last.name == name);
    is_last.then(|| widths.iter().map(|width| u64::from(*width)).sum())
}

/// The words of a value as the user writes it: in the notation of the parameter's type, else of any type of the
/// program; a number, `true`. A time has its unit, and an enum its names.
fn read(automaton: &Automaton, written: &Written, form: Option<&Form>, (ty, text): (Type, &str)) -> Option<Vec<u64>> {
    let text = text.trim();
    let one = |word: u64| vec![word];
    match (form, ty) {
        (Some(Form::Time), Type::U(64)) => Form::Time.read(text).or_else(|| duration(text).map(one)),
        (_, Type::Enum(_)) => named(automaton, ty, text).or_else(|| number(text)).map(one),
        (form, _) => form
            .and_then(|form| form.read(text))
            .or_else(|| written.all.iter().filter(|form| **form != Form::Time).find_map(|form| form.read(text)))
            .or_else(|| plain(text).map(one)),
    }
}

/// The words of an argument of a port's event, in the notation of its type.
pub fn value(
    automaton: &Automaton,
    written: &Written,
    form: Option<&Form>,
    (ty, text): (Type, &str),
) -> Option<Vec<u64>> {
    // Not all times among the arguments have their notation.
    let words = read(automaton, written, form, (ty, text)).or_else(|| match (form, ty) {
        (None, Type::U(64)) => duration(text).map(|word| vec![word]),
        _ => None,
    });
    words.filter(|words| words.iter().all(|word| is_value(automaton, ty, *word)))
}

/// How a value of a parameter or an argument is written.
pub fn way_out(automaton: &Automaton, form: Option<&Form>, ty: Type) -> String {
    match (form, values_of(automaton, ty)) {
        (Some(Form::Time), _) if ty == Type::U(64) => {
            format!("a time has a unit, as in `{}`, and is less than 584 years", Form::Time.example())
        }
        (Some(form), _) => format!("it is written as in `{}`", form.example()),
        (None, Some(values)) => format!("write {values}"),
        (None, None) if ty == Type::Bool => "write `true` or `false`".to_string(),
        (None, None) => "write a number".to_string(),
    }
}

/// How a vector is set.
pub fn as_list(automaton: &Automaton, name: &str, form: &ListForm) -> String {
    let of_parts = automaton.params.iter().any(|param| param.name.starts_with(&format!("{name}.0.")));
    if of_parts && form.form.is_none() {
        return "its elements are records without a notation, which only the source gives".to_string();
    }
    let first = automaton.params.iter().find(|param| param.name == format!("{name}.0"));
    let names = first.and_then(|first| match first.ty {
        Type::Enum(id) => automaton.enums.get(id.index()),
        _ => None,
    });
    let value = names.and_then(|known| Some(format!("{}.{}", known.name, known.names.first()?.0)));
    let element = form.form.as_ref().map(Form::example).or(value).unwrap_or("1".to_string());
    let list = format!("`'{name}=[{element}, …]'`");
    let ways = match form.is_octets {
        true => format!("`--set '{name}=\"ab\"'`, `'{name}=x\"6162\"'` or {list}"),
        false => format!("`--set` {list}"),
    };
    let plural = if form.most == 1 { "" } else { "s" };
    format!("write {ways}, of at most {} element{plural}", form.most)
}

/// The words of a vector: its length, its elements, and zeros for those that it does not have. `None` if the text is none;
/// fails if it is too long. `types` are those of all its elements' parts.
fn list_words(
    automaton: &Automaton,
    written: &Written,
    (form, types): (&ListForm, &[Type]),
    text: &str,
) -> Result<Option<Vec<u64>>, Failure> {
    let text = text.trim();
    let per = types.len() / form.most.max(1);
    let of_octets = |octets: Vec<u8>| octets.into_iter().map(|octet| vec![u64::from(octet)]).collect();
    let elements: Option<Vec<Vec<u64>>> = match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => {
            let all = inner.split(',').filter(|_| !inner.trim().is_empty());
            let ty = if per == 1 { types[0] } else { Type::U(64) };
            let words =
                |text| read(automaton, written, form.form.as_ref(), (ty, text)).filter(|words| words.len() == per);
            all.map(words).collect()
        }
        None if form.is_octets => mokume_syntax::octets_of(text).or_else(|| bare_text(text)).map(of_octets),
        None => None,
    };
    let Some(elements) = elements else { return Ok(None) };
    if elements.len() > form.most {
        let message = format!("`{text}` has {} elements, and {} are the most", elements.len(), form.most);
        return Err(Failure::of_use(message, "leave some out"));
    }
    let length = elements.len() as u64;
    let mut words: Vec<u64> = std::iter::once(length).chain(elements.into_iter().flatten()).collect();
    words.resize(types.len() + 1, 0);
    Ok(Some(words))
}

/// A text whose quotes the shell took; not what may have been something else: `97`, `x6162`.
fn bare_text(text: &str) -> Option<Vec<u8>> {
    let is_hex = |rest: &str| rest.bytes().all(|octet| octet.is_ascii_hexdigit());
    let is_plain =
        text.starts_with(char::is_alphabetic) && !text.contains('"') && !text.strip_prefix('x').is_some_and(is_hex);
    is_plain.then(|| text.as_bytes().to_vec())
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
        _ => number(text),
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
            param("every", Type::U(64)),
            param("name.length", Type::U(8)),
            param("name.0", Type::U(8)),
            param("name.1", Type::U(8)),
            param("name.2", Type::U(8)),
            param("kinds.length", Type::U(8)),
            param("kinds.0", Type::Enum(EnumId(0))),
            param("kinds.1", Type::Enum(EnumId(0))),
            param("later", Type::Enum(EnumId(1))),
        ];
        let names =
            |open| Enum { name: "Kind".into(), width: 8, open, names: vec![("Ask".into(), 3), ("Tell".into(), 7)] };
        let enums = vec![names(false), names(true)];
        let address = Form::Parts { notation: Notation::Dotted { bits: 8 }, widths: vec![32] };
        let station = Form::Parts { notation: Notation::Colons { bits: 8 }, widths: vec![48] };
        let network = Form::Prefix { of: Box::new(address.clone()), width: 8 };
        let forms = [("address", network.clone()), ("address.address", address.clone()), ("every", Form::Time)];
        let params_forms = forms.map(|(name, form)| (name.to_string(), form)).into();
        let list = |most, is_octets| ListForm { most, form: None, is_octets };
        let lists = [("name".to_string(), list(3, true)), ("kinds".to_string(), list(2, false))].into();
        let all = vec![address, station, network];
        let written = Written { params: params_forms, lists, all, ..Written::default() };
        (Automaton { params, enums, ..Automaton::default() }, written)
    }

    fn assigned(name: &str, text: &str) -> Result<Vec<(usize, u64)>, Failure> {
        let (automaton, written) = stack();
        assign(&automaton, &written, name, text)
    }

    #[test]
    fn values_are_what_users_write() {
        assert_eq!(plain("0x800"), Some(2048));
        assert_eq!(duration("20 ms"), Some(20_000_000));
        for wrong in ["", "ten", "10.0.0", "1 parsec", "-1", "20 ms"] {
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
    fn an_enum_has_its_names_and_a_time_its_unit() {
        assert_eq!(assigned("kind", "7").unwrap(), assigned("kind", "Tell").unwrap());
        assert_eq!(assigned("later", "200").unwrap(), vec![(13, 200)]);
        for wrong in ["4", "300", "ask", "20ms", "10.0.0.1"] {
            let failure = assigned("kind", wrong).unwrap_err();
            assert!(failure.help.contains("`Kind.Ask` or `Kind.Tell`"), "{wrong}: {failure}");
        }
        assert_eq!(assigned("every", "1.5s").unwrap(), vec![(5, 1_500_000_000)]);
        assert_eq!(assigned("every", "2 min").unwrap(), vec![(5, 120_000_000_000)]);
        for wrong in ["5", "0", "10.0.0.1", "5 parsec", "true"] {
            let failure = assigned("every", wrong).unwrap_err();
            assert!(failure.help.contains("a time has a unit, as in `20 ms`"), "{wrong}: {failure}");
        }
        assert!(assigned("port", "20ms").is_err());
    }

    #[test]
    fn a_vector_is_a_text_or_a_list() {
        let ab = vec![(6, 2), (7, 0x61), (8, 0x62), (9, 0)];
        for text in ["\"ab\"", "x\"6162\"", "ab", "[97, 0x62]"] {
            assert_eq!(assigned("name", text).unwrap(), ab, "{text}");
        }
        assert_eq!(assigned("name", "[]").unwrap(), assigned("name", "\"\"").unwrap());
        assert_eq!(assigned("kinds", "[Tell, 3]").unwrap(), vec![(10, 2), (11, 7), (12, 3)]);
        // A missing element has no name, and needs none.
        assert_eq!(assigned("kinds", "[Kind.Tell]").unwrap(), vec![(10, 1), (11, 7), (12, 0)]);
        for wrong in ["97", "x6162", "[a]", "[1", "\"ab", "1, 2", "[1,,2]"] {
            let failure = assigned("name", wrong).unwrap_err();
            assert!(failure.help.contains("`--set 'name=\"ab\"'`"), "{wrong}: {failure}");
        }
        for (name, text, part) in [
            ("name", "\"abcd\"", "4 elements, and 3 are the most"),
            ("name.length", "9", "a part of the vector `name`"),
            ("kinds", "[4]", "is no value for `kinds.0`"),
            ("kinds", "\"a\"", "'kinds=[Kind.Ask, …]'"),
        ] {
            let failure = assigned(name, text).unwrap_err();
            assert!(failure.to_string().contains(part), "{name}={text}: {failure}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_with_an_example() {
        assert_eq!(assigned("adress", "10.0.0.1/24").unwrap_err().help, "did you mean `address`?");
        assert!(assigned("xyz", "1").unwrap_err().help.starts_with("it has: address, port, kind"));
        assert!(assigned("address.prefix", "33").unwrap_err().help.contains("at most 32 bits"));
        assert_eq!(assigned("address.prefix", "32").unwrap(), vec![(1, 32)]);
        assert!(assigned("address", "10.0.0.1").unwrap_err().message.contains("2 parts"));
        let wrong = assigned("address", "10.0.0.1/33").unwrap_err();
        assert!(wrong.help.contains("10.0.0.1/24"), "{wrong}");
    }
}
