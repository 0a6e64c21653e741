//! What a name stands for in a stopped run: a local, else state of the current object, of the current layer, of any layer.
//!
//! Keeps: where several objects have a name and none of them is the current one, all of them are told, and no one is meant.

use super::facts::{LENGTH, SIZE};
use super::shown::{Stopped, Variable, BELOW, FLOW};
use super::variable::is_quoted;

/// What was found.
pub(super) enum Looked {
    Nothing,
    One(String),
    /// The same name in several objects: of which, and the value.
    Several(Vec<(String, String)>),
}

impl Looked {
    fn of(mut all: Vec<(String, String)>) -> Looked {
        match all.len() {
            0 => Looked::Nothing,
            1 => Looked::One(all.remove(0).1),
            _ => Looked::Several(all),
        }
    }

    fn or(self, other: impl FnOnce() -> Looked) -> Looked {
        if matches!(self, Looked::Nothing) {
            other()
        } else {
            self
        }
    }

    /// As it is shown: of several, each with its object.
    fn shown(self) -> Option<String> {
        match self {
            Looked::Nothing => None,
            Looked::One(value) => Some(value),
            Looked::Several(all) => {
                let all: Vec<String> = all.into_iter().map(|(of, value)| format!("{value} ({of})")).collect();
                Some(all.join(", "))
            }
        }
    }
}

impl Stopped<'_> {
    /// The value of a name: first among bound names, then in the current object, the current layer, all layers. Where several objects
    /// have it, all of them: `1 (app.Peer #0), 2 (app.Peer #1)`.
    pub fn value(&self, name: &str) -> Option<String> {
        of(self, name).shown()
    }

    /// The same among the bound names of one of the running pieces of code, by its place in [`Stopped::calls`].
    pub fn value_in(&self, call: usize, name: &str) -> Option<String> {
        let bound = self.all_locals().into_iter().nth(call).unwrap_or_default();
        among(self, bound, call > 0, name).shown()
    }
}

/// What a name stands for where a run has stopped.
pub(super) fn of(at: &Stopped<'_>, name: &str) -> Looked {
    among(at, at.locals(), false, name)
}

fn among(at: &Stopped<'_>, bound: Vec<Variable>, of_caller: bool, name: &str) -> Looked {
    if name.contains('[') {
        return at.with_all(|| found(at, bound, of_caller, name));
    }
    found(at, bound, of_caller, name)
}

fn found(at: &Stopped<'_>, bound: Vec<Variable>, of_caller: bool, name: &str) -> Looked {
    let path = path(name);
    if path == [VIEW, SIZE] {
        let called = |members| found(at, bound.clone(), of_caller, &format!("{VIEW}.{members}.{LENGTH}"));
        let mut all = at.facts.views.iter().map(called);
        return all.find(|found| !matches!(found, Looked::Nothing)).unwrap_or(Looked::Nothing);
    }
    if let [BELOW, behind @ ..] = &path[..] {
        let found = behind.first().and_then(|name| Some(Variable { name: name.to_string(), ..at.below(name)? }));
        return Looked::of(here(&Vec::from_iter(found), behind, ""));
    }
    if let [first, rest @ ..] = &path[..] {
        if let Some(one) = bound.iter().find(|one| one.name == *first && !rest.is_empty()) {
            if *rest == [SIZE] && one.is_message() {
                return one.value.split(' ').next().map_or(Looked::Nothing, |size| Looked::One(size.to_string()));
            }
            if let Some(attribute) = one.is_message().then(|| at.meant(&rest.join("."))).flatten() {
                let given = one.within.iter().find(|part| part.name == attribute);
                let value = given.map(|part| part.value.clone()).or_else(|| at.default_of(&attribute));
                return value.map_or(Looked::Nothing, Looked::One);
            }
            if one.is_message() && every(&one.within, rest, "").is_empty() {
                if let Some(value) = rest.first().filter(|_| rest.len() == 1).and_then(|name| at.default_of(name)) {
                    return Looked::One(value);
                }
            }
            if let Some(object) = object(at, &one.value) {
                return Looked::of(every(&object.within, rest, ""));
            }
        }
    }
    if path.len() == 1 && !of_caller && !bound.iter().any(|one| one.name == name) && at.has(name) {
        // Another alternative or a later statement binds the name: state of that name is not meant.
        return Looked::Nothing;
    }
    // What is within a bound name is not in scope by its own name: `p.x` is not `x`.
    if let Some((_, value)) = here(&bound, &path, "").into_iter().next() {
        return Looked::One(value);
    }
    let of_object = at.own_object().map_or_else(Vec::new, |object| object.within);
    Looked::of(here(&of_object, &path, ""))
        .or(|| container(at, &of_object, &path))
        .or(|| Looked::of(here(&at.around(), &path, "")))
        .or(|| match path[..] {
            // That of another layer's session is not meant.
            [FLOW, ..] => Looked::Nothing,
            _ => in_layers(at, [&bound, &of_object], &path),
        })
}

/// The view of a group, `view.id`.
const VIEW: &str = "view";

/// A container by its name alone: its state, `first 2, length 1`.
fn container(at: &Stopped<'_>, all: &[Variable], path: &[&str]) -> Looked {
    let [name] = path else { return Looked::Nothing };
    let own = |one: &Variable| {
        let part = one.name.strip_prefix(name)?.strip_prefix('_')?;
        Some(format!("{part} {}", one.value))
    };
    let parts: Vec<String> = all.iter().filter_map(own).collect();
    let is_one = at.facts.containers.contains(*name) && !parts.is_empty();
    if is_one {
        Looked::One(parts.join(", "))
    } else {
        Looked::Nothing
    }
}

/// The same in the layers' state. Joined names of parts are looked for in what is bound and in the object, too.
fn in_layers(at: &Stopped<'_>, [bound, of_object]: [&[Variable]; 2], path: &[&str]) -> Looked {
    let own = at.calls().last().map(|(name, _)| name.clone()).unwrap_or_default();
    let own = own.split(':').next().unwrap_or_default().to_string();
    let (of_own, others): (Vec<Variable>, Vec<Variable>) = at.state().into_iter().partition(|layer| layer.name == own);
    let of_layer: Vec<Variable> =
        of_own.iter().flat_map(|layer| &layer.within).filter(|one| !is_one_of_many(one)).cloned().collect();
    Looked::of(every(&of_layer, path, ""))
        .or(|| {
            let of_own = of_layer.iter().map(|object| container(at, &object.within, path));
            of_own.into_iter().find(|found| !matches!(found, Looked::Nothing)).unwrap_or(Looked::Nothing)
        })
        .or(|| Looked::of(every(&of_own, path, "")))
        .or(|| Looked::of(every(&others, path, "")))
        .or(|| of_parts(&[bound, of_object, &of_own, &others], path))
        .or(|| {
            // A layer by its declared name, which the stack may not use.
            let Some((first, rest)) = path.split_first().filter(|(_, rest)| !rest.is_empty()) else {
                return Looked::Nothing;
            };
            let layers = at.layers_of(first);
            let named = of_own.iter().chain(&others).filter(|layer| layers.contains(&layer.name.as_str()));
            let named: Vec<&Variable> = named.collect();
            let within = |layer: &&Variable| every(&layer.within, rest, &layer.name);
            let found = named.iter().map(within).find(|found| !found.is_empty());
            let parts: Vec<&[Variable]> = named.iter().map(|layer| &layer.within[..]).collect();
            Looked::of(found.unwrap_or_default()).or(|| of_parts(&parts, rest))
        })
        .or(|| at.given(&own, path).map_or(Looked::Nothing, Looked::One))
}

/// Whether an object is one of several of its kind, `Peer #1`; the entity and the view are alone.
fn is_one_of_many(object: &Variable) -> bool {
    object.name.contains(" #")
}

/// The parts of a name: `hosts[10.0.0.2].age` is `hosts`, `[10.0.0.2]` and `age`.
fn path(name: &str) -> Vec<&str> {
    let (mut found, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, sign) in name.char_indices() {
        if depth == 0 && (sign == '.' || sign == '[') {
            found.extend(Some(&name[from..at]).filter(|part| !part.is_empty()));
            from = at + usize::from(sign == '.');
        }
        depth += i32::from(sign == '[') - i32::from(sign == ']');
    }
    found.push(&name[from..]);
    found
}

/// `p.y` of a record and `list[0].y` of a vector of records, of which the automaton has `p_y` and the array `list_y`.
fn of_parts(all: &[&[Variable]], path: &[&str]) -> Looked {
    let is_place = |part: &str| part.starts_with('[');
    let found = (0..path.len().saturating_sub(1)).rev().find_map(|at| {
        let (front, back) = path.split_at(at);
        let joined = |name: &str, part: &str| format!("{name}_{part}");
        let (name, kept, rest) = match back {
            [name, place, part, rest @ ..] if is_place(place) && !is_place(part) => {
                (joined(name, part), Some(*place), rest)
            }
            [name, part, rest @ ..] if !is_place(name) && !is_place(part) => (joined(name, part), None, rest),
            _ => return None,
        };
        let path: Vec<&str> =
            front.iter().copied().chain([name.as_str()]).chain(kept).chain(rest.iter().copied()).collect();
        all.iter().map(|all| every(all, &path, "")).find(|found| !found.is_empty())
    });
    Looked::of(found.unwrap_or_default())
}

/// The object that a value refers to: `app.Store.Entry #3`.
fn object(at: &Stopped<'_>, value: &str) -> Option<Variable> {
    at.state().into_iter().find_map(|layer| {
        let own = value.strip_prefix(layer.name.as_str())?.strip_prefix('.')?;
        layer.within.into_iter().find(|object| object.name == own)
    })
}

/// Where a path's last names are, and their values; the names in between may be left out, and what is here goes before what is within
/// something else.
fn every(all: &[Variable], path: &[&str], front: &str) -> Vec<(String, String)> {
    let found = here(all, path, front);
    if !found.is_empty() {
        return found;
    }
    all.iter().flat_map(|one| every(&one.within, path, &joined(front, &one.name))).collect()
}

/// The same, without leaving out names.
fn here(all: &[Variable], path: &[&str], front: &str) -> Vec<(String, String)> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let found = all.iter().flat_map(|one| {
        let is_kind = is_one_of_many(one) && one.name.split(" #").next() == Some(first);
        let is_it = one.name == *first || one.name.ends_with(&format!(".{first}")) || is_kind;
        let value = |value: String| vec![(front.to_string(), value)];
        match (is_it, rest) {
            (true, []) if one.value.is_empty() => Vec::new(),
            (true, []) => value(one.value.clone()),
            (true, [LENGTH]) if one.value.starts_with('[') || is_quoted(&one.value) => {
                value(one.within.len().to_string())
            }
            (true, rest) => every(&one.within, rest, &joined(front, &one.name)),
            (false, _) => Vec::new(),
        }
    });
    found.collect()
}

fn joined(front: &str, name: &str) -> String {
    if front.is_empty() {
        name.to_string()
    } else {
        format!("{front}.{name}")
    }
}
