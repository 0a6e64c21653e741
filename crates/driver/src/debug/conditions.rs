//! Conditions of points: what must hold, how often it was met, and log texts.

use mokume_base::Form;
use mokume_reaction::{Compare, Type};

use crate::failure::Failure;

use super::facts::{Facts, LENGTH};
use super::lookup::{self, Looked};
use super::shown::{Stopped, NONE_NOW, NOT_RUNNING, NO_STATE, QUOTA_LEFT, RINGS_IN, UNUSED};
use super::variable::is_quoted;

/// A condition on a stopped run: `own > 4 and not late`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    text: String,
    all: Vec<Vec<Test>>,
}

/// A comparison, or that something exists and is not 0.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Test {
    is_not: bool,
    name: String,
    compared: Option<(Compare, String)>,
}

/// Which of the times count at which a point is met and its condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hits {
    Exactly(u64),
    /// From this time on.
    From(u64),
    /// Every n-th time.
    Each(u64),
}

/// Operators, longer ones first.
const OPERATORS: [(&str, Compare); 6] = [
    ("==", Compare::Eq),
    ("!=", Compare::Ne),
    ("<=", Compare::Le),
    (">=", Compare::Ge),
    ("<", Compare::Lt),
    (">", Compare::Gt),
];

const FORM: &str = "write `own > 4`, `wait < 10 ms`, `phase == Open and not late`: names of locals, of variables of layers (`Counts.next`), of fields \
                    of headers (`msg.number`); `==`, `!=`, `<`, `<=`, `>`, `>=`, `and`, `or`, `not`; a list of octets is compared with a text: `name == \"heat\"`; a time with one that has a unit";

/// What to say of a name that has no value here.
pub fn unknown_name(name: &str) -> String {
    match name.strip_prefix("below.").map(|behind| behind.split(['.', '[']).next().unwrap_or(behind)) {
        // What no code reads, no code computes.
        Some(published) => format!(
            "nothing is called `{name}` here: of what layers below publish, a run has what the layer that runs reads, and it does not read `below.{published}`"
        ),
        None => format!("nothing is called `{name}` here"),
    }
}

/// Whether what something is compared with looks like the name of an enum, and is none.
fn is_no_name(wanted: &str, facts: &Facts) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let looks_so = wanted.starts_with(|c: char| c.is_ascii_uppercase()) && wanted.split('.').all(is_word);
    // A module may stand in front.
    let is_enum = |known: &String| wanted == known || known.contains('.') && wanted.ends_with(&format!(".{known}"));
    looks_so && !facts.enums.iter().any(is_enum) && unknown(wanted, facts).is_some()
}

/// The last part of a name that nothing in the target has, bound or not.
pub(super) fn unknown<'n>(name: &'n str, facts: &Facts) -> Option<&'n str> {
    let plain = name.split('[').next().unwrap_or(name);
    let last = plain.rsplit('.').next().unwrap_or(plain);
    let is_known = facts.names.contains(&format!("{last}_{LENGTH}"))
        || facts.names.contains(last)
        || facts.names.contains(&of_flow(name))
        || is_part(name, facts);
    (!is_known).then_some(if name.starts_with("below.") { name } else { last })
}

impl Condition {
    /// Parses a condition; an unknown name is an error.
    pub fn read(text: &str, facts: &Facts) -> Result<Condition, Failure> {
        let wrong = |what: &str| Failure::of_use(format!("`{text}`: {what}"), FORM);
        if text.contains(['(', ')']) {
            return Err(wrong("a condition has no brackets: `and` binds closer than `or`"));
        }
        let mut all = Vec::new();
        for part in words(text).split(|word| word == "or") {
            let mut tests = Vec::new();
            for test in part.split(|word| word == "and") {
                let (is_not, test) = match test.split_first() {
                    Some((first, rest)) if first == "not" => (true, rest),
                    _ => (false, test),
                };
                let (name, compared) = match test {
                    [name] => (name, None),
                    // A time is two words.
                    [name, operator, value @ ..] if matches!(value.len(), 1) || is_time(value) => {
                        let known = OPERATORS.iter().find(|(known, _)| known == operator);
                        let (_, compare) = known.ok_or_else(|| wrong(&format!("`{operator}` compares nothing")))?;
                        (name, Some((*compare, value.join(" "))))
                    }
                    [] => return Err(wrong("something is missing")),
                    _ => return Err(wrong(&format!("`{}` is no comparison", test.join(" ")))),
                };
                if let Some((compare, wanted)) = compared.as_ref().filter(|(_, wanted)| is_quoted(wanted)) {
                    if octets(wanted).is_none() {
                        return Err(wrong(&format!("{wanted} is no text")));
                    }
                    if !matches!(compare, Compare::Eq | Compare::Ne) {
                        return Err(wrong("a text is compared by `==` and `!=`"));
                    }
                }
                if let Some((_, wanted)) = compared.as_ref().filter(|(_, wanted)| is_no_name(wanted, facts)) {
                    return Err(wrong(&format!("nothing is called `{wanted}` here, and no enum has such a name")));
                }
                if let Some(unknown) = unknown(name, facts) {
                    return Err(wrong(&unknown_name(unknown)));
                }
                tests.push(Test { is_not, name: name.clone(), compared });
            }
            all.push(tests);
        }
        Ok(Condition { text: text.trim().to_string(), all })
    }

    /// The original text.
    pub fn show(&self) -> &str {
        &self.text
    }

    /// Whether it holds; a comparison with something that is not bound is false.
    pub(super) fn holds(&self, at: &Stopped<'_>) -> bool {
        let holds = |test: &Test| {
            let found = compared(at, &test.name);
            let test = test.with_value(at, found.as_deref());
            let numbers = |text: &str| number_at(at, text);
            let is_odd = found.as_ref().is_none_or(|found| test.odd(found, &numbers).is_some());
            let holds = test.holds(found.as_deref(), &numbers, at.facts.bits_of(&test.name));
            !is_odd && holds != test.is_not
        };
        self.all.iter().any(|tests| tests.iter().all(holds))
    }

    /// What of it has no meaning at a moment: a name without a value, or a comparison with something that is no number.
    pub(super) fn doubt(&self, at: &Stopped<'_>) -> Option<String> {
        self.all.iter().flatten().find_map(|test| {
            let found = match looked_up(at, &test.name) {
                Looked::One(found) => found,
                Looked::Nothing => return Some(format!("`{}` has no value there", test.name)),
                Looked::Several(all) => {
                    let of: Vec<&str> = all.iter().take(3).map(|(of, _)| of.as_str()).collect();
                    let more = if all.len() > of.len() { " …" } else { "" };
                    let (name, of) = (&test.name, of.join(", "));
                    return Some(format!(
                        "`{name}` is of several there ({of}{more}): name a local that is one of them"
                    ));
                }
            };
            let known = test.with_value(at, Some(&found));
            let (compare, wanted) = known.compared.as_ref()?;
            if let Some(told) = known.odd(&found, &|text| number_at(at, text)) {
                return Some(told);
            }
            let is_named = known != *test;
            match (octets(wanted), list(&found).filter(|_| !is_named)) {
                (Some(_), None) => return Some(format!("`{}` is {found} there, and no list of octets", test.name)),
                (None, Some(_)) => {
                    let name = &test.name;
                    return Some(format!("`{name}` is {found} there, a list: compare it with a text, or `{name}[0]`"));
                }
                _ => {}
            }
            let is_number = |text: &str| number_at(at, text).is_some();
            let needs_numbers = !matches!(compare, Compare::Eq | Compare::Ne);
            if is_number(wanted) && is_many(&found) {
                return Some(format!("`{}` is {found} there, and no number", test.name));
            }
            let is_odd = needs_numbers && is_number(&found) && !is_number(wanted);
            is_odd.then(|| format!("`{}` is {found} there, and `{wanted}` is no number", test.name))
        })
    }
}

impl Test {
    /// The same with the value of what it is compared with, if that is a name.
    fn with_value(&self, at: &Stopped<'_>, found: Option<&str>) -> Test {
        let named = self.compared.as_ref().and_then(|(compare, wanted)| {
            let is_value =
                is_quoted(wanted) || wanted == "none" || number(wanted).or_else(|| at.number(wanted)).is_some();
            let is_meant = is_value || found.is_some_and(|found| mokume_script::is_named(found, wanted));
            Some((*compare, Some(wanted).filter(|_| !is_meant).and_then(|name| compared(at, name))?))
        });
        Test { compared: named.or_else(|| self.compared.clone()), ..self.clone() }
    }

    /// What to say of a time that is compared with a number without a unit, or the other way round; 0 is any time's.
    fn unit(&self, found: &str) -> Option<String> {
        let (_, wanted) = self.compared.as_ref()?;
        let time = |text: &str| nanoseconds(text.strip_prefix(RINGS_IN).map_or(text, first_time));
        let plain = |text: &str| text.parse::<u64>().ok().filter(|number| *number != 0);
        let name = &self.name;
        match (time(found), plain(wanted), plain(found), time(wanted)) {
            (Some(_), Some(_), ..) => {
                Some(format!("`{name}` is {found} there, a time, and `{wanted}` lacks a unit: write `{wanted} ms`"))
            }
            (.., Some(_), Some(_)) => Some(format!("`{name}` is {found} there, and no time")),
            _ => None,
        }
    }

    /// What to say of a comparison that means nothing, though both sides have values.
    fn odd(&self, found: &str, number: &dyn Fn(&str) -> Option<u64>) -> Option<String> {
        self.unit(found).or_else(|| self.name_and_number(found, number))
    }

    /// What to say of a name of an enum that is compared with a number.
    fn name_and_number(&self, found: &str, number: &dyn Fn(&str) -> Option<u64>) -> Option<String> {
        let (_, wanted) = self.compared.as_ref()?;
        let is_name = found.starts_with(|c: char| c.is_ascii_uppercase()) && number(found).is_none();
        let told = || format!("`{}` is {found} there, a name, and `{wanted}` is a number: write `{found}`", self.name);
        (is_name && number(wanted).is_some()).then(told)
    }

    /// `circular`: the bits of numbers that are compared around the circle.
    fn holds(&self, found: Option<&str>, number: &dyn Fn(&str) -> Option<u64>, circular: Option<u8>) -> bool {
        let Some(found) = found else { return false };
        let Some((compare, wanted)) = &self.compared else {
            return number(found) != Some(0) && !["none", "[]", NOT_RUNNING, NO_STATE, NONE_NOW].contains(&found);
        };
        if let Some(wanted) = octets(wanted) {
            let is_it = list(found) == Some(wanted.into_iter().map(u64::from).collect());
            return if *compare == Compare::Eq { is_it } else { !is_it };
        }
        match (number(found), number(wanted)) {
            (Some(found), Some(wanted)) => {
                let ty = circular.map_or(Type::U(64), Type::Seq);
                mokume_interpret::compare(*compare, ty, found, wanted)
            }
            _ => {
                // An enum's value with parts is compared by its name.
                let name = found.split('(').next().unwrap_or(found);
                let is_it = found == wanted || mokume_script::is_named(name, wanted);
                match compare {
                    Compare::Eq => is_it,
                    Compare::Ne => !is_it,
                    _ => false,
                }
            }
        }
    }
}

fn number(text: &str) -> Option<u64> {
    match (text, text.strip_prefix("0x")) {
        ("true", _) => Some(1),
        ("false", _) => Some(0),
        (_, Some(digits)) => u64::from_str_radix(digits, 16).ok(),
        // A timer is as long as it has still to run.
        _ => text.parse().ok().or_else(|| nanoseconds(text.strip_prefix(RINGS_IN).map_or(text, first_time))).or_else(
            || {
                // A quota is what is left of it.
                let (left, _) = text.strip_suffix(QUOTA_LEFT)?.split_once(" of ")?;
                left.parse().ok()
            },
        ),
    }
}

/// The same, or a text in the notation of one of the program's types.
fn number_at(at: &Stopped<'_>, text: &str) -> Option<u64> {
    number(text).or_else(|| at.number(text))
}

/// Whether what is shown is of many values or parts: an array, a map, places of messages, a record.
fn is_many(found: &str) -> bool {
    found.starts_with('{') || [" elements", " entries", " places taken"].iter().any(|end| found.ends_with(end))
}

/// The octets of a text as the language writes it: `"heat"`, `x"00ff"`.
fn octets(text: &str) -> Option<Vec<u8>> {
    is_quoted(text).then(|| mokume_syntax::octets_of(text))?
}

/// The numbers of a list as it is shown: `[104, 101]`, or `"heat"` for octets.
fn list(text: &str) -> Option<Vec<u64>> {
    if let Some(octets) = octets(text) {
        return Some(octets.into_iter().map(u64::from).collect());
    }
    let within = text.strip_prefix('[')?.strip_suffix(']')?;
    let all = within.split(", ").filter(|element| !element.is_empty());
    all.map(|element| element.parse().ok()).collect()
}

/// The nanoseconds of `20 ms`.
fn nanoseconds(text: &str) -> Option<u64> {
    Form::Time.read(text)?.first().copied()
}

/// `19 ms` of `19 ms (at 21 ms)`.
fn first_time(text: &str) -> &str {
    text.split(" (").next().unwrap_or(text)
}

fn is_time(words: &[String]) -> bool {
    nanoseconds(&words.join(" ")).is_some()
}

/// Splits into names, values, texts and operators; blanks are optional.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let operator = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator));
        let length = match operator {
            Some((operator, _)) => operator.len(),
            None if is_quoted(rest) => mokume_syntax::quoted_end(rest).unwrap_or(rest.len()),
            None => {
                let ends = |at: usize| OPERATORS.iter().any(|(operator, _)| rest[at..].starts_with(operator));
                let mut places = rest.char_indices();
                places.find(|(at, c)| c.is_whitespace() || ends(*at)).map_or(rest.len(), |(at, _)| at)
            }
        };
        found.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    found
}

/// What a name that is compared stands for; nothing for a local that was not computed.
fn looked_up(at: &Stopped<'_>, name: &str) -> Looked {
    match lookup::of(at, name) {
        Looked::One(text) if !is_quoted(&text) && text.contains(UNUSED) => Looked::Nothing,
        found => found,
    }
}

/// Its value, if it is one.
fn compared(at: &Stopped<'_>, name: &str) -> Option<String> {
    match looked_up(at, name) {
        Looked::One(text) => Some(text),
        Looked::Nothing | Looked::Several(_) => None,
    }
}

/// `remote_port` for `flow.remote.port`, as in the automaton.
fn of_flow(name: &str) -> String {
    name.strip_prefix("flow.").unwrap_or_default().replace('.', "_")
}

/// Whether the automaton has a part of a record by the joined names: `spot_y` for `spot.y`, `spots_y` for `spots[0].y`.
fn is_part(name: &str, facts: &Facts) -> bool {
    let names = name.split('.').map(|part| part.split('[').next().unwrap_or(part));
    let names: Vec<&str> = names.collect();
    names.windows(2).any(|two| facts.names.contains(&two.join("_")))
}

impl Hits {
    /// Parses `3`, `>= 3`, `> 2`, `% 3`.
    pub fn read(text: &str) -> Result<Hits, Failure> {
        let text = text.trim();
        let wrong =
            || Failure::of_use(format!("`{text}` is no number of times"), "write `3`, `>= 3`, or `% 3` for each third");
        let (is, digits): (fn(u64) -> Hits, &str) = match () {
            () if text.starts_with(">=") => (Hits::From, &text[2..]),
            () if text.starts_with('>') => (|count| Hits::From(count.saturating_add(1)), &text[1..]),
            () if text.starts_with('%') => (Hits::Each, &text[1..]),
            () => (Hits::Exactly, text.trim_start_matches('=')),
        };
        let count: u64 = digits.trim().parse().map_err(|_| wrong())?;
        if count == 0 {
            Err(wrong())
        } else {
            Ok(is(count))
        }
    }

    /// The text form.
    pub fn show(self) -> String {
        match self {
            Hits::Exactly(count) => count.to_string(),
            Hits::From(count) => format!(">= {count}"),
            Hits::Each(count) => format!("% {count}"),
        }
    }

    /// Whether a time, from 1, counts.
    pub(super) fn counts(self, time: u64) -> bool {
        match self {
            Hits::Exactly(count) => time == count,
            Hits::From(count) => time >= count,
            Hits::Each(count) => time.is_multiple_of(count),
        }
    }
}

/// The text of a log point: each `{name}` is replaced by its value.
pub(super) fn said(text: &str, at: &Stopped<'_>) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, behind)) = behind.split_once('}') else { break };
        said.push_str(before);
        said.push_str(&at.value(name.trim()).unwrap_or_else(|| "?".to_string()));
        rest = behind;
    }
    said + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_apart_without_blanks() {
        assert_eq!(words("own>=4 and a.b == Open"), ["own", ">=", "4", "and", "a.b", "==", "Open"]);
        assert_eq!(words("not late"), ["not", "late"]);
        assert_eq!(words("wait>10ms"), ["wait", ">", "10ms"]);
        assert_eq!(
            words(r#"a=="x y \" == z" and b!=x"00ff""#),
            ["a", "==", r#""x y \" == z""#, "and", "b", "!=", "x\"00ff\""]
        );
    }

    #[test]
    fn times_are_numbers_of_nanoseconds() {
        assert_eq!(number("10 ms"), Some(10_000_000));
        assert_eq!(number("1.5s"), Some(1_500_000_000));
        assert_eq!(number("rings in 19 ms (at 21 ms)"), Some(19_000_000));
        assert_eq!(number("not running"), None);
        assert!(is_time(&["10".into(), "ms".into()]) && !is_time(&["10".into(), "or".into()]));
        let is_so = |found: &str, compared: Option<(Compare, &str)>| {
            let compared = compared.map(|(compare, text)| (compare, text.to_string()));
            Test { is_not: false, name: String::new(), compared }.holds(Some(found), &number, None)
        };
        assert!(is_so("20 ms", Some((Compare::Gt, "10 ms"))) && !is_so("20 ms", Some((Compare::Gt, "1 s"))));
        assert!(is_so("0.5 s", Some((Compare::Eq, "500 ms"))));
        assert!(is_so("rings in 19 ms (at 21 ms)", Some((Compare::Lt, "20 ms"))));
        assert!(is_so("rings in 19 ms (at 21 ms)", None) && !is_so("not running", None) && !is_so("0 s", None));
    }

    #[test]
    fn times_are_read_as_editors_write_them() {
        let counts =
            |text: &str| -> Vec<u64> { (1..8).filter(|time| Hits::read(text).unwrap().counts(*time)).collect() };
        assert_eq!(counts("3"), [3]);
        assert_eq!(counts(">= 6"), [6, 7]);
        assert_eq!(counts(">5"), [6, 7]);
        assert_eq!(counts("% 3"), [3, 6]);
        for wrong in ["", "0", "% 0", "three", "-1"] {
            assert!(Hits::read(wrong).is_err(), "{wrong}");
        }
    }
}
