//! Filters of packets: `Tell.value > 200 and not refused`.
//!
//! Keeps: a name that no packet of the stack can have is rejected before the first packet is read.

use mokume_base::spelling::did_you_mean;
use mokume_dissect::names;
use mokume_reaction::{Compare, Enum, FieldValue, Type, WireId, WireItem};

use super::{Dissection, Dissector, Field, Layer, Verdict};
use crate::failure::Failure;

/// A condition on a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filter {
    Or(Vec<Filter>),
    And(Vec<Filter>),
    Not(Box<Filter>),
    /// A wire, a layer or a checksum rejects it, or may.
    Is(Verdict),
    /// It has such a layer, wire, alternative or field.
    Has(Vec<String>),
    /// A comparison of one of its fields of that name with one of these numbers, which the written value may stand for.
    Compares {
        path: Vec<String>,
        compare: Compare,
        values: Vec<u64>,
    },
    /// Whether one of its lists of octets of that name is this text, or another one.
    Spells {
        path: Vec<String>,
        is: bool,
        octets: Vec<u8>,
    },
}

const HELP: &str = "write `kind == 1`, `Tell.value > 200 and not refused`, or a name alone for packets that have it";

/// The deepest nesting of parentheses and `not`.
const DEEPEST: usize = 100;

/// Parses a filter for the stack of a dissector.
pub fn read(dissector: &Dissector, text: &str) -> Result<Filter, Failure> {
    let words = words(text)?;
    let mut reader = Reader { dissector, words: &words, at: 0, depth: 0 };
    let filter = reader.any()?;
    match reader.peek() {
        None => Ok(filter),
        Some(word) => Err(Failure::of_use(format!("`{word}` is not expected in the filter `{text}`"), HELP)),
    }
}

impl Filter {
    /// Whether a packet matches.
    pub fn takes(&self, dissection: &Dissection) -> bool {
        match self {
            Filter::Or(all) => all.iter().any(|one| one.takes(dissection)),
            Filter::And(all) => all.iter().all(|one| one.takes(dissection)),
            Filter::Not(one) => !one.takes(dissection),
            Filter::Is(verdict) => dissection.verdict() == *verdict,
            Filter::Has(path) => dissection.layers.iter().any(|layer| has(layer, path)),
            Filter::Compares { path, compare, values } => dissection.layers.iter().any(|layer| {
                let named = layer.fields.iter().filter(|field| is_named(layer, field, path));
                named.into_iter().any(|field| holds(*compare, field.value, values))
            }),
            Filter::Spells { path, is, octets } => dissection.layers.iter().any(|layer| {
                let named: Vec<&Field> = layer.fields.iter().filter(|field| is_named(layer, field, path)).collect();
                let is_it = |run: &[&Field]| {
                    run.len() == octets.len()
                        && run.iter().zip(octets).all(|(field, octet)| field.value == u64::from(*octet))
                };
                let mut lists = super::runs(&named, super::Halves::Apart);
                lists.any(|run| run[0].width == 8 && is_it(run) == *is)
            }),
        }
    }
}

impl Filter {
    /// Whether it asks for `refused`.
    pub fn asks_for_refused(&self) -> bool {
        match self {
            Filter::Or(all) | Filter::And(all) => all.iter().any(Filter::asks_for_refused),
            Filter::Not(one) => one.asks_for_refused(),
            Filter::Is(verdict) => *verdict == Verdict::Refused,
            Filter::Has(_) | Filter::Compares { .. } | Filter::Spells { .. } => false,
        }
    }
}

fn holds(compare: Compare, value: u64, wanted: &[u64]) -> bool {
    match compare {
        Compare::Eq => wanted.contains(&value),
        Compare::Ne => !wanted.contains(&value),
        Compare::Lt => wanted.iter().any(|wanted| value < *wanted),
        Compare::Le => wanted.iter().any(|wanted| value <= *wanted),
        Compare::Gt => wanted.iter().any(|wanted| value > *wanted),
        Compare::Ge => wanted.iter().any(|wanted| value >= *wanted),
    }
}

/// Whether a path ends at a layer, its wire or one of its alternatives, or at one of its fields.
fn has(layer: &Layer, path: &[String]) -> bool {
    let of_layer = [layer.name.as_str(), names::short(&layer.wire)];
    let alternative = |name: &String| matches(path, &[&of_layer, &[name.as_str()]]);
    matches(path, &[&of_layer])
        || layer.alternatives.iter().any(alternative)
        || layer.fields.iter().any(|field| is_named(layer, field, path))
}

fn is_named(layer: &Layer, field: &Field, path: &[String]) -> bool {
    let of_layer = [layer.name.as_str(), names::short(&layer.wire)];
    let alternative: Vec<&str> = field.alternative.iter().map(String::as_str).collect();
    matches(path, &[&of_layer, &alternative, &[field.name.as_str()]])
}

/// Whether a path matches these steps: its words occur in them in order, and the last word in the last step.
fn matches(path: &[String], steps: &[&[&str]]) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    let Some((end, mut steps)) = steps.split_last() else { return false };
    if !end.contains(&last.as_str()) {
        return false;
    }
    before.iter().all(|word| {
        let found = steps.iter().position(|step| step.contains(&word.as_str()));
        steps = found.map_or(&[][..], |found| &steps[found + 1..]);
        found.is_some()
    })
}

fn words(text: &str) -> Result<Vec<String>, Failure> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let sign =
            Compare::AS_READ.into_iter().map(Compare::sign).chain(["(", ")"]).find(|sign| rest.starts_with(sign));
        let is_word = |c: char| c.is_alphanumeric() || "_.:/-".contains(c);
        let is_text = rest.starts_with('"') || rest.starts_with("x\"");
        let end = match sign {
            Some(sign) => sign.len(),
            None if is_text => mokume_syntax::quoted_end(rest).unwrap_or(0),
            None => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        };
        if end == 0 {
            return Err(Failure::of_use(format!("`{first}` has no meaning in the filter `{text}`"), HELP));
        }
        words.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    match words.is_empty() {
        true => Err(Failure::of_use("the filter is empty", HELP)),
        false => Ok(words),
    }
}

struct Reader<'a> {
    dissector: &'a Dissector,
    words: &'a [String],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_it = self.peek() == Some(word);
        self.at += usize::from(is_it);
        is_it
    }

    fn any(&mut self) -> Result<Filter, Failure> {
        let mut all = vec![self.all()?];
        while self.takes("or") {
            all.push(self.all()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::Or(all) })
    }

    fn all(&mut self) -> Result<Filter, Failure> {
        let mut all = vec![self.one()?];
        while self.takes("and") {
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Filter::And(all) })
    }

    fn one(&mut self) -> Result<Filter, Failure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Failure::of_use("the filter has too many parentheses within each other", HELP));
        }
        let one = if self.takes("not") {
            Filter::Not(Box::new(self.one()?))
        } else if self.takes("(") {
            let inner = self.any()?;
            if !self.takes(")") {
                return Err(Failure::of_use("a `)` is missing in the filter", HELP));
            }
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(one)
    }

    fn test(&mut self) -> Result<Filter, Failure> {
        let name = match self.peek() {
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => word.to_string(),
            Some(word) => return Err(Failure::of_use(format!("`{word}` is no name in the filter"), HELP)),
            None => return Err(Failure::of_use("the filter ends where a name is expected", HELP)),
        };
        self.at += 1;
        let compare = self.peek().and_then(|word| Compare::AS_READ.into_iter().find(|compare| compare.sign() == word));
        let Some(compare) = compare else {
            match name.as_str() {
                "refused" => return Ok(Filter::Is(Verdict::Refused)),
                "may_be_refused" => return Ok(Filter::Is(Verdict::MayBeRefused)),
                _ => (),
            }
            let path = path(&name);
            self.must_have(&name, &path)?;
            return Ok(Filter::Has(path));
        };
        self.at += 1;
        let Some(mut value) = self.peek().map(str::to_string) else {
            return Err(Failure::of_use(format!("behind `{name} {}` a value is missing", compare.sign()), HELP));
        };
        self.at += 1;
        let path = path(&name);
        let fields = self.must_have(&name, &path)?;
        if value.contains('"') {
            return self.spells((&name, path), compare, &value, &fields);
        }
        // `4 ms`: a number and its unit.
        if let Some(unit) = self.peek() {
            let whole = format!("{value} {unit}");
            if fields.iter().any(|field| field.read(self.dissector, &whole).is_some()) {
                (value, self.at) = (whole, self.at + 1);
            }
        }
        let mut values: Vec<u64> = fields.iter().filter_map(|field| self.value(field, &value)).collect();
        values.sort_unstable();
        values.dedup();
        match values.is_empty() {
            true => Err(self.no_value(&name, &value, &fields)),
            false => Ok(Filter::Compares { path, compare, values }),
        }
    }

    /// `name == "heat"`: a list of octets and a text.
    fn spells(
        &self,
        (name, path): (&str, Vec<String>),
        compare: Compare,
        value: &str,
        fields: &[Named],
    ) -> Result<Filter, Failure> {
        let is = match compare {
            Compare::Eq => true,
            Compare::Ne => false,
            _ => return Err(Failure::of_use("a text is compared by `==` and `!=` in the filter", HELP)),
        };
        if !fields.iter().any(|field| field.is_octet(self.dissector)) {
            return Err(Failure::of_use(format!("`{name}` is no list of octets, and no text"), HELP));
        }
        match mokume_syntax::octets_of(value) {
            Some(octets) => Ok(Filter::Spells { path, is, octets }),
            None => Err(Failure::of_use(format!("{value} is no text"), HELP)),
        }
    }

    /// The fields of the stack's wires that a path names; a layer, a wire or an alternative has none of its own.
    fn must_have(&self, name: &str, path: &[String]) -> Result<Vec<Named>, Failure> {
        let all = self.dissector.named();
        let fields: Vec<Named> = all.iter().filter(|named| named.is(path)).cloned().collect();
        let is_there = all.iter().any(|named| named.ends(path)) || self.dissector.has_wire(path);
        if !fields.is_empty() || is_there {
            return Ok(fields);
        }
        let known: Vec<String> = all.iter().map(Named::written).collect();
        let last = path.last().map_or("", String::as_str);
        let stack = &self.dissector.automaton.name;
        let short: Vec<&str> = all.iter().map(|named| named.field.as_str()).collect();
        let of_last = || {
            let near = did_you_mean(last, short.iter().copied())?;
            known
                .iter()
                .find(|known| known.as_str() == near || known.ends_with(&format!(".{near}")))
                .map(String::as_str)
        };
        let near = did_you_mean(name, known.iter().map(String::as_str)).or_else(of_last);
        let mut some: Vec<&str> = Vec::new();
        known.iter().for_each(|known| {
            if !some.contains(&known.as_str()) {
                some.push(known);
            }
        });
        let of_values = all.iter().find(|field| field.values(self.dissector).iter().any(|value| value == name));
        let help = match (of_values, near) {
            (Some(field), _) => format!("it is a value: `{} == {name}`", field.written()),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("there are {}", list(&some)),
        };
        Err(Failure::of_use(format!("stack `{stack}` has no field, alternative, wire or layer `{name}`"), help))
    }

    fn value(&self, field: &Named, text: &str) -> Option<u64> {
        field.read(self.dissector, text).or_else(|| number(text))
    }

    fn no_value(&self, name: &str, value: &str, fields: &[Named]) -> Failure {
        if fields.is_empty() {
            return Failure::of_use(format!("`{name}` is no field, and has no value"), HELP);
        }
        let names: Vec<String> = fields.iter().flat_map(|field| field.values(self.dissector)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let help = match did_you_mean(value, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if fields.iter().any(|field| field.is_octet(self.dissector)) => {
                format!("write a number; of a list of octets a text: `{name} {} \"{value}\"`", Compare::Eq.sign())
            }
            None if names.is_empty() => "write a number, or as `mokume dissect` shows the field".to_string(),
            None => format!("there are {}", list(&names)),
        };
        Failure::of_use(format!("`{value}` is no value of `{name}`"), help)
    }
}

fn list(names: &[&str]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MOST);
    format!("{}{}", shown.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
}

fn path(name: &str) -> Vec<String> {
    name.split('.').map(str::to_string).collect()
}

fn number(text: &str) -> Option<u64> {
    let plain = text.replace('_', "");
    match (plain.strip_prefix("0x"), text) {
        (Some(hex), _) => u64::from_str_radix(hex, 16).ok(),
        (None, "true") => Some(1),
        (None, "false") => Some(0),
        (None, _) => plain.parse().ok(),
    }
}

/// A field that packets of a stack may have.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Named {
    wire: WireId,
    layers: Vec<String>,
    alternative: Option<String>,
    field: String,
    /// Index into [`WireItem::fields`]; `None` for the kinds and lengths of options.
    place: Option<usize>,
}

impl Named {
    fn steps<'a>(&'a self, short: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
        let of_layer = self.layers.iter().map(String::as_str).chain([short]).collect();
        (of_layer, self.alternative.iter().map(String::as_str).collect())
    }

    fn is(&self, path: &[String]) -> bool {
        let (of_layer, alternative) = self.steps(self.wire_name());
        matches(path, &[&of_layer, &alternative, &[self.field.as_str()]])
    }

    /// Whether a path names its layer, its wire or its alternative.
    fn ends(&self, path: &[String]) -> bool {
        let (of_layer, alternative) = self.steps(self.wire_name());
        matches(path, &[&of_layer]) || matches(path, &[&of_layer, &alternative])
    }

    fn wire_name(&self) -> &str {
        self.layers.last().map_or("", String::as_str)
    }

    fn written(&self) -> String {
        let alternative = self.alternative.as_deref().map(|name| format!("{name}."));
        let before = alternative.unwrap_or_else(|| format!("{}.", self.wire_name()));
        format!("{before}{}", self.field)
    }

    /// Parses a value: in the notation of its type, or the name of an enum's value or of an alternative.
    fn read(&self, dissector: &Dissector, text: &str) -> Option<u64> {
        let form = dissector.form(self.wire, &self.field, self.place);
        let of_form = form.and_then(|form| form.read(text)).and_then(|words| words.first().copied());
        let of = self.place.and_then(|place| dissector.enum_of(self.wire, place)).map(|of| of.name.as_str());
        let is_it = |name: &str| match of {
            Some(of) => mokume_script::is_named(&format!("{of}.{name}"), text),
            None => name == text,
        };
        of_form.or_else(|| self.names(dissector).into_iter().find(|(name, _)| is_it(name)).map(|(_, value)| value))
    }

    /// Whether it is an octet without a notation, as those of lists are.
    fn is_octet(&self, dissector: &Dissector) -> bool {
        let fields = WireItem::fields(&dissector.automaton.wires[self.wire.index()].items);
        let field = self.place.and_then(|place| fields.get(place));
        field.is_some_and(|field| field.width == 8) && dissector.form(self.wire, &self.field, self.place).is_none()
    }

    fn values(&self, dissector: &Dissector) -> Vec<String> {
        self.names(dissector).into_iter().map(|(name, _)| name).collect()
    }

    fn names(&self, dissector: &Dissector) -> Vec<(String, u64)> {
        self.place.map(|place| dissector.value_names(self.wire, place)).unwrap_or_default()
    }
}

impl Dissector {
    /// The names of a field's values: those of an enum, or of the alternatives that it selects.
    pub(super) fn value_names(&self, wire: WireId, place: usize) -> Vec<(String, u64)> {
        let items = &self.automaton.wires[wire.index()].items;
        let Some(field) = WireItem::fields(items).get(place).copied() else { return Vec::new() };
        match &field.value {
            FieldValue::Header { times: 1, plus: 0, .. } => {
                self.enum_of(wire, place).map_or_else(Vec::new, |of| of.names.clone())
            }
            _ => names::choices(&self.automaton, items, field.index),
        }
    }

    /// The enum of a field, which stands in front of its values' names where they are whole.
    fn enum_of(&self, wire: WireId, place: usize) -> Option<&Enum> {
        let field = WireItem::fields(&self.automaton.wires[wire.index()].items).get(place).copied()?;
        let FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } = &field.value else { return None };
        let variant = &self.automaton.headers[header.index()].variants[variant.index()];
        match variant.fields.get(*field as usize)? {
            (_, Type::Enum(id)) => self.automaton.enums.get(id.index()),
            _ => None,
        }
    }

    /// The names of a wire: of the layers that have it, and its own.
    fn layers_of(&self, wire: WireId) -> Vec<String> {
        let of = self.protocols.all.iter().filter(|one| one.wire == Some(wire)).map(|one| one.name.clone());
        of.chain([names::short(&self.automaton.wires[wire.index()].name).to_string()]).collect()
    }

    /// Whether a path names a layer, a wire, or an alternative that no field tells.
    fn has_wire(&self, path: &[String]) -> bool {
        self.untold.iter().enumerate().any(|(at, untold)| {
            let layers = self.layers_of(WireId::from(at));
            let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
            matches(path, &[&layers]) || untold.iter().any(|name| matches(path, &[&layers, &[name.as_str()]]))
        })
    }

    /// All fields of all wires that can follow each other.
    fn named(&self) -> Vec<Named> {
        let mut all: Vec<Named> = Vec::new();
        for (at, wire) in self.automaton.wires.iter().enumerate() {
            let id = WireId::from(at);
            let layers = self.layers_of(id);
            let mut add = |field: &str, alternative: Option<String>, place| {
                let named = Named { wire: id, layers: layers.clone(), alternative, field: field.to_string(), place };
                let is_same = |known: &Named| {
                    known.wire == id && known.alternative == named.alternative && known.field == named.field
                };
                if !all.iter().any(is_same) {
                    all.push(named);
                }
            };
            for (place, field) in WireItem::fields(&wire.items).into_iter().enumerate() {
                let alternative = self.alternatives[at].get(field.index.0 as usize).cloned().flatten();
                add(&field.name, alternative, Some(place));
            }
            for name in names::options(&wire.items) {
                add(&name, names::alternative_of_option(&self.automaton, wire, &name), None);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_leave_out_what_stands_in_front() {
        let steps: [&[&str]; 3] = [&["sensors", "SensorWire"], &["Tell"], &["value"]];
        for path in ["value", "Tell.value", "sensors.value", "SensorWire.Tell.value", "sensors.Tell.value"] {
            assert!(matches(&super::path(path), &steps), "{path}");
        }
        for path in ["Tell", "value.Tell", "Ask.value", "Tell.sensors.value", "value.value", ""] {
            assert!(!matches(&super::path(path), &steps), "{path}");
        }
    }

    #[test]
    fn words_of_a_filter() {
        let shown = |text: &str| words(text).unwrap().join("|");
        assert_eq!(shown("Tell.value>200 and (a==10.0.0.1)"), "Tell.value|>|200|and|(|a|==|10.0.0.1|)");
        assert_eq!(shown("m != 02:00:00:00:00:01"), "m|!=|02:00:00:00:00:01");
        assert!(words("a = 3").is_err() && words(" ").is_err() && words("a == \"x").is_err());
        assert_eq!(shown("name==\"x y\" and b"), "name|==|\"x y\"|and|b");
    }
}
