//! Values by name, put together from the numbers of the automaton: vectors from their elements, records and flows from their parts.

use mokume_reaction::Type;
use mokume_script::octets_of_list;

/// A named value, perhaps with parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    pub name: String,
    pub value: String,
    pub within: Vec<Variable>,
}

impl Variable {
    /// Whether it is a message, which has its octets among its parts.
    pub(super) fn is_message(&self) -> bool {
        self.within.last().is_some_and(|last| last.name == OCTETS)
    }
}

/// Whether a value, or what one is compared with, is a text or octets: `"heat"`, `x"00ff"`.
pub(super) fn is_quoted(text: &str) -> bool {
    text.starts_with('"') || text.starts_with("x\"")
}

/// The name of a message's octets.
pub(super) const OCTETS: &str = "octets";

pub(super) fn leaf(name: impl Into<String>, value: impl Into<String>) -> Variable {
    Variable { name: name.into(), value: value.into(), within: Vec::new() }
}

/// Bounded vectors of a header as one: `hosts_length`, `hosts_0`, `hosts_1` is `hosts` with as many elements as it has. `is_octet` says of a vector whether its elements are octets; these are shown as a text.
pub(super) fn vectors(all: Vec<Variable>, is_octet: &dyn Fn(&str) -> bool) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    let mut rest = all.into_iter().peekable();
    while let Some(one) = rest.next() {
        let length = one.value.parse::<usize>().ok().filter(|_| one.within.is_empty());
        let (Some(name), Some(length)) = (one.name.strip_suffix("_length"), length) else {
            found.push(one);
            continue;
        };
        let mut elements: Vec<Variable> = Vec::new();
        while let Some(element) =
            rest.next_if(|next| next.within.is_empty() && next.name == format!("{name}_{}", elements.len()))
        {
            elements.push(leaf(format!("[{}]", elements.len()), element.value));
        }
        if elements.is_empty() {
            found.push(one);
            continue;
        }
        elements.truncate(length);
        found.push(Variable { name: name.to_string(), ..list(elements, is_octet(name)) });
    }
    found
}

/// A list without a name, of its elements: `[7, 9]`, of octets `"hi"`.
pub(super) fn list(elements: Vec<Variable>, of_octets: bool) -> Variable {
    let octets: Option<Vec<u8>> = elements.iter().map(|element| element.value.parse().ok()).collect();
    let value = match octets.filter(|_| of_octets) {
        Some(octets) => octets_of_list(&octets),
        None => {
            let values: Vec<&str> = elements.iter().map(|element| element.value.as_str()).collect();
            format!("[{}]", values.join(", "))
        }
    };
    let within = elements.into_iter().enumerate().map(|(at, element)| Variable { name: format!("[{at}]"), ..element });
    Variable { name: String::new(), value, within: within.collect() }
}

/// The value of an enum with parts: `Plan.Wait(rounds: 2)`.
pub(super) fn chosen(name: &str, within: Vec<Variable>) -> Variable {
    Variable { name: String::new(), value: mokume_script::chosen(name, &named(&within)), within }
}

/// The value of what has parts: `{ rtt: 5 ms, from { host: 10.0.0.3 } }`.
pub(super) fn braced(within: &[Variable]) -> String {
    mokume_script::braced(&named(within))
}

fn named(within: &[Variable]) -> Vec<(String, String)> {
    within.iter().map(|part| (part.name.clone(), part.value.clone())).collect()
}

/// Whether the elements of a vector are octets: by the name and type of its first element.
pub(super) fn is_octets<'n>(mut values: impl Iterator<Item = (&'n str, Type)>, name: &str) -> bool {
    let is_first = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest == "_0");
    values.any(|(known, ty)| ty == Type::U(8) && is_first(known))
}

/// The parts of records and flows under their values; `in_source` gives a part's name in the source, `best.rtt`.
pub(super) fn nested(all: Vec<Variable>, in_source: &dyn Fn(&str) -> String) -> Vec<Variable> {
    let mut found = Vec::new();
    for one in all {
        let path = in_source(&one.name);
        put(&mut found, &path, one);
    }
    found.iter_mut().for_each(sum_up);
    found
}

fn put(all: &mut Vec<Variable>, path: &str, one: Variable) {
    let Some((first, rest)) = path.split_once('.') else {
        return all.push(Variable { name: path.to_string(), ..one });
    };
    // An enum with parts has a value, its name, and parts.
    let is_it = |known: &Variable| known.name == first && (known.value.is_empty() || known.within.iter().all(is_open));
    let at = all.iter().position(is_it);
    let at = at.unwrap_or_else(|| {
        all.push(leaf(first, ""));
        all.len() - 1
    });
    put(&mut all[at].within, rest, one);
}

fn is_open(one: &Variable) -> bool {
    one.value.is_empty()
}

/// The value of what has parts: theirs.
fn sum_up(one: &mut Variable) {
    if !is_open(one) && !one.within.is_empty() && one.within.iter().all(is_open) {
        let name = one.value.rsplit('.').next().unwrap_or_default();
        let own = one.within.iter().position(|known| known.name == name);
        let mut parts = own.map_or(Vec::new(), |at| one.within.swap_remove(at).within);
        parts.iter_mut().for_each(sum_up);
        *one = Variable { name: one.name.clone(), ..chosen(&one.value, parts) };
        return;
    }
    one.within.iter_mut().for_each(sum_up);
    if one.value.is_empty() && !one.within.is_empty() {
        one.value = braced(&one.within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_under_their_values_and_octets_are_a_text() {
        let all = [("best_rtt", "5 ms"), ("best_from_host", "10.0.0.3"), ("name_length", "2"), ("name_0", "104")];
        let all = all.into_iter().chain([("name_1", "105"), ("name_2", "0"), ("list_length", "1"), ("list_0", "104")]);
        let all: Vec<Variable> = all.map(|(name, value)| leaf(name, value)).collect();
        let in_source = |name: &str| match name.strip_prefix("best_") {
            Some(part) => format!("best.{}", part.replace('_', ".")),
            None => name.to_string(),
        };
        let found = nested(vectors(all, &|name| name == "name"), &in_source);
        let shown: Vec<(&str, &str)> = found.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        assert_eq!(shown, [("best", "{ rtt: 5 ms, from { host: 10.0.0.3 } }"), ("name", "\"hi\""), ("list", "[104]")]);
        assert_eq!(found[0].within[1].within[0], leaf("host", "10.0.0.3"));
    }
}
