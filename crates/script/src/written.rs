//! How values of a stack are shown to people: names of enums and reasons come from the automaton, notations from the
//! types of the source, which the automaton does not know.

use std::collections::BTreeMap;

use crate::shape::Shape;
use mokume_base::Form;
use mokume_reaction::{Automaton, ClassId, HeaderId, PortId, PortInput, PortOutput, Type, VariantId, WireId};

/// The notations of a stack's values. The default has none: all numbers are decimal.
#[derive(Clone, Default, Debug)]
pub struct Written {
    /// By port: the arguments of its events by name; for a record, the common prefix of its scalars' names.
    pub arguments: Vec<BTreeMap<String, Form>>,
    /// The arguments of events of vocabularies, by the event: it declares them itself, so that no other form is theirs. `None` for plain
    /// numbers, and for values that have no form as a whole.
    pub events: BTreeMap<String, Vec<(String, Option<Form>)>>,
    /// Parameters of the stack, and parts of parameters that are records, by name.
    pub params: BTreeMap<String, Form>,
    /// Parameters of the stack that are bounded vectors, and such parts of parameters, by name.
    pub lists: BTreeMap<String, ListForm>,
    /// Fields of headers by their alternative and name.
    pub headers: BTreeMap<(HeaderId, VariantId, String), Form>,
    /// Fields of wires with a declared type, by name.
    pub wires: BTreeMap<(WireId, String), Form>,
    /// Where the fields of wires are declared, `demo.mok:7`, by the reason for which each refuses a packet.
    pub refusals: BTreeMap<String, String>,
    /// Parts of flows that are one number, by their names with the end in front; only those for which all layers have
    /// the same notation.
    pub flows: BTreeMap<String, Form>,
    /// Contents of objects, by the names of the class and of the cell.
    pub cells: BTreeMap<(String, String), CellForms>,
    /// The names in the source of cells that are parts of a value, `best.rtt` for `best_rtt`, by the names of the class and of the cell.
    pub names: BTreeMap<(String, String), String>,
    /// The same of parts of flows: `remote.host` for `remote_host`.
    pub ends: BTreeMap<String, String>,
    /// The notations of all types of the program, for values without a type.
    pub all: Vec<Form>,
}

/// An event of a port, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct PortEvent<'a> {
    pub port: PortId,
    pub name: &'a str,
    pub params: &'a [(String, Type)],
}

impl<'a> PortEvent<'a> {
    /// An input of the port.
    pub fn input(port: PortId, input: &'a PortInput) -> PortEvent<'a> {
        PortEvent { port, name: &input.event, params: &input.params }
    }

    /// An output of the port.
    pub fn output(port: PortId, output: &'a PortOutput) -> PortEvent<'a> {
        PortEvent { port, name: &output.event, params: &output.params }
    }
}

/// The notation of a bounded vector that is given from outside.
#[derive(Clone, Debug)]
pub struct ListForm {
    /// The most elements.
    pub most: usize,
    /// The notation of an element; `None` for a plain number.
    pub form: Option<Form>,
    /// Whether its elements are octets, so that it may be written as a text.
    pub is_octets: bool,
}

/// The notations of a cell's values; `None` for plain numbers.
#[derive(Clone, Default, Debug)]
pub struct CellForms {
    /// For a map: one for each part of its key, and for each part of its values.
    pub keys: Vec<Shape>,
    pub values: Vec<Shape>,
    /// For a cell, an array's elements, or a map's values.
    pub value: Option<Form>,
}

impl CellForms {
    /// A map's key as text; `plain` writes a number without a notation, by its index.
    pub fn key(&self, words: &[u64], plain: &dyn Fn(usize, u64) -> String) -> String {
        all_of(&self.keys, words, plain)
    }

    /// A map's value as text.
    pub fn map_value(&self, words: &[u64], plain: &dyn Fn(usize, u64) -> String) -> String {
        all_of(&self.values, words, plain)
    }
}

/// Values one after the other.
fn all_of(shapes: &[Shape], words: &[u64], plain: &dyn Fn(usize, u64) -> String) -> String {
    if shapes.iter().map(Shape::words).sum::<usize>() != words.len() {
        let words = words.iter().enumerate();
        return words.map(|(at, word)| plain(at, *word)).collect::<Vec<_>>().join(", ");
    }
    let mut from = 0;
    let shown = shapes.iter().map(|shape| {
        let (first, own) = (from, &words[from..from + shape.words()]);
        from += shape.words();
        shape.write(own, &|at, word| plain(first + at, word))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Arguments that form one value, by their indices.
pub struct Group<'a> {
    pub first: usize,
    pub count: usize,
    /// The notation of the value; `None` for a scalar whose type has none.
    pub form: Option<&'a Form>,
}

impl Written {
    /// The notation of a part of a flow, by its name in the automaton: `remote_host`.
    pub fn of_flow(&self, name: &str) -> Option<&Form> {
        self.flows.get(name)
    }

    /// The notations of a cell's values.
    pub fn cell(&self, automaton: &Automaton, class: ClassId, name: &str) -> Option<&CellForms> {
        self.cells.get(&(automaton.class(class).name.clone(), name.to_string()))
    }

    /// The name of a cell in the source.
    pub fn name<'a>(&'a self, automaton: &Automaton, class: ClassId, name: &'a str) -> &'a str {
        let known = self.names.get(&(automaton.class(class).name.clone(), name.to_string()));
        known.map_or(name, String::as_str)
    }

    /// The arguments of a port's event as text. `word` gives the scalars, and `other` writes the rest, by index.
    pub fn arguments(
        &self,
        automaton: &Automaton,
        event: PortEvent<'_>,
        word: &dyn Fn(usize) -> Option<u64>,
        other: &dyn Fn(usize) -> String,
    ) -> Vec<String> {
        let params = event.params;
        let mut shown = Vec::new();
        for group in self.groups(event) {
            let places = group.first..group.first + group.count;
            let words: Option<Vec<u64>> = places.clone().map(word).collect();
            match (group.form, words) {
                (Some(form), Some(words)) => shown.push(form.write(&words)),
                _ => shown.extend(places.map(|at| match word(at) {
                    Some(word) => scalar(automaton, params[at].1, word),
                    None => other(at),
                })),
            }
        }
        shown
    }

    /// What an event of a vocabulary declares. At a port with flows it has an ending that says so.
    fn declared(&self, event: &str) -> &[(String, Option<Form>)] {
        let plain = || ["_to", "_from"].iter().find_map(|end| event.strip_suffix(end));
        let found = self.events.get(event).or_else(|| self.events.get(plain()?));
        found.map_or(&[], Vec::as_slice)
    }

    /// The values of an event of a port, in order.
    pub fn groups(&self, event: PortEvent<'_>) -> Vec<Group<'_>> {
        let params = event.params;
        let forms = self.arguments.get(event.port.index());
        let own = self.declared(event.name);
        let mut groups = Vec::new();
        let mut first = 0;
        while first < params.len() {
            let is_own = |(name, form): &&(String, Option<Form>)| match form {
                Some(form) => begins(name, form, &params[first..]),
                None => is_part_of(name, &params[first].0),
            };
            let form = match own.iter().find(is_own) {
                Some((_, form)) => form.as_ref(),
                None => {
                    let mut all = forms.into_iter().flatten();
                    all.find(|(name, form)| begins(name, form, &params[first..])).map(|(_, form)| form)
                }
            };
            let count = form.map_or(1, Form::words);
            groups.push(Group { first, count, form });
            first += count;
        }
        groups
    }
}

/// Whether an argument is the value with this name, or a part of it.
fn is_part_of(name: &str, param: &str) -> bool {
    param.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

/// Whether the scalars of a value with this name and form come first.
fn begins(name: &str, form: &Form, params: &[(String, Type)]) -> bool {
    // At the inputs of ports, parts of values have points in their names.
    let is_like = |part: &str| part.bytes().zip(name.bytes()).all(|(a, b)| a == b || a == b'.' && b == b'_');
    if form.words() == 1 {
        return params[0].0.len() == name.len() && is_like(&params[0].0);
    }
    let is_part = |(param, _): &(String, Type)| {
        is_like(param) && param.get(name.len()..).is_some_and(|rest| rest.starts_with(['_', '.']))
    };
    params.len() >= form.words() && params[..form.words()].iter().all(is_part)
}

/// A scalar by its type: the name for enums and reasons, else the number.
pub fn scalar(automaton: &Automaton, ty: Type, word: u64) -> String {
    let name = match ty {
        Type::Enum(id) => automaton.enums.get(id.index()).and_then(|known| {
            let found = known.names.iter().find(|(_, value)| *value == word);
            found.map(|(name, _)| format!("{}.{name}", known.name))
        }),
        Type::Reason => {
            usize::try_from(word).ok().and_then(|at| automaton.reasons.get(at)).map(|known| known.name.clone())
        }
        Type::Bool => Some((word != 0).to_string()),
        Type::U(_) | Type::Seq(_) | Type::Ref(_) | Type::Msg | Type::Array(..) => None,
    };
    name.unwrap_or_else(|| word.to_string())
}

/// Whether a number is a value of the type, whose width it has: a plain enum has no values but those with names.
pub fn is_value(automaton: &Automaton, ty: Type, word: u64) -> bool {
    let Type::Enum(id) = ty else { return true };
    let known = automaton.enums.get(id.index());
    known.is_none_or(|known| known.open || known.names.iter().any(|(_, value)| *value == word))
}

/// The most names of an enum's values in a message.
const NAMED: usize = 12;

/// What may be written for a value of an enum, for messages; `None` for other types.
pub fn values_of(automaton: &Automaton, ty: Type) -> Option<String> {
    let Type::Enum(id) = ty else { return None };
    let known = automaton.enums.get(id.index())?;
    let mut all: Vec<String> =
        known.names.iter().take(NAMED).map(|(name, _)| format!("`{}.{name}`", known.name)).collect();
    match known.names.len().saturating_sub(NAMED) {
        0 => {}
        more => all.push(format!("one of {more} more")),
    }
    if known.open {
        all.push(format!("a number of {} bits", known.width));
    }
    let last = all.pop()?;
    Some(if all.is_empty() { last } else { format!("{} or {last}", all.join(", ")) })
}

/// A value as a summary writes it: `Fine` for `Status.Fine`, without the name of the enum. Where values stand alone they are whole;
/// numbers, times and addresses are the same in both.
pub fn short_name(written: &str) -> &str {
    match written.rsplit_once('.') {
        Some((before, name)) if before.starts_with(char::is_alphabetic) && !written.contains(':') => name,
        _ => written,
    }
}

/// Whether a text means a value: as it is written whole, or, for an enum's, without the enum's name.
pub fn is_named(written: &str, text: &str) -> bool {
    written == text || short_name(written) == text
}

#[cfg(test)]
mod tests {
    use mokume_base::Notation;
    use mokume_reaction::{Enum, Reason};

    use super::*;

    fn show(written: &Written, automaton: &Automaton, params: &[(&str, Type)], words: &[Option<u64>]) -> String {
        let params: Vec<(String, Type)> = params.iter().map(|(name, ty)| (name.to_string(), *ty)).collect();
        let event = PortEvent { port: PortId(0), name: "tell", params: &params };
        written.arguments(automaton, event, &|at| words[at], &|_| "_".into()).join(", ")
    }

    #[test]
    fn only_names_of_enums_are_made_short() {
        for (written, short) in [
            ("Status.Fine", "Fine"),
            ("10.0.0.7", "10.0.0.7"),
            ("20.5 ms", "20.5 ms"),
            ("fe80::a.b", "fe80::a.b"),
            ("12", "12"),
            ("none", "none"),
        ] {
            assert_eq!(short_name(written), short);
        }
        assert!(is_named("Status.Fine", "Fine") && is_named("Status.Fine", "Status.Fine"));
        assert!(!is_named("10.0.0.7", "7") && !is_named("20.5 ms", "5 ms") && !is_named("Status.Fine", "Other.Fine"));
    }

    #[test]
    fn forms_names_and_numbers() {
        let automaton = Automaton {
            enums: vec![Enum { name: "Kind".into(), width: 8, open: false, names: vec![("Ask".into(), 1)] }],
            reasons: vec![Reason { name: "no_route".into() }],
            ..Automaton::default()
        };
        let address = Form::Parts { notation: Notation::Dotted { bits: 8 }, widths: vec![32] };
        let wide = Form::Parts { notation: Notation::Short { bits: 16 }, widths: vec![64, 64] };
        let forms = BTreeMap::from([("local_host".to_string(), address), ("host6".to_string(), wide)]);
        let written = Written { arguments: vec![forms], ..Written::default() };
        let params = [
            ("local_host", Type::U(32)),
            ("host6_high", Type::U(64)),
            ("host6_low", Type::U(64)),
            ("why", Type::Reason),
            ("kind", Type::Enum(0.into())),
            ("port", Type::U(16)),
        ];
        let words = [0x0a00_0001, 0xfe80 << 48, 1, 0, 1, 7].map(Some);
        assert_eq!(show(&written, &automaton, &params, &words), "10.0.0.1, fe80::1, no_route, Kind.Ask, 7");
        let some = [None, Some(0), None, Some(9), Some(9), None];
        assert_eq!(show(&written, &automaton, &params, &some), "_, 0, _, 9, 9, _");
        assert_eq!(show(&Written::default(), &automaton, &params[..2], &words[..2]), "167772161, 18338657682652659712");
        // An event that declares its arguments itself has their forms alone.
        let own = BTreeMap::from([("tell".to_string(), vec![("host6_high".to_string(), None)])]);
        let declared = Written { events: own, ..written };
        assert_eq!(show(&declared, &automaton, &params[..3], &words[..3]), "10.0.0.1, 18338657682652659712, 1");
    }
}
