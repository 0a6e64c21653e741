//! Things that reports are about, and which report replaces which: what is missing because of one mistake is not
//! reported again wherever it is needed.
//!
//! [`Diagnostic::loses`] marks a report that says why a thing is missing, [`Diagnostic::lacks`] one that only says that
//! it is, and [`Diagnostic::needs`] one that makes no sense without the thing. Keeps: at least one report about each
//! thing stays; a report without `lacks` and `needs` is never removed.

use mokume_base::{Diagnostic, Severity, Span, Thing};

use crate::codes;
use crate::program::{Layer, Name, Stack};

/// Removes reports that lack or need what another one loses, and all but the first that lack the same thing. What a
/// removed report loses, its replacement loses too.
pub fn leave_out(diagnostics: &mut Vec<Diagnostic>) {
    while let Some((follower, cause)) = follower(diagnostics) {
        let lost = std::mem::take(&mut diagnostics[follower].loses);
        diagnostics[cause].loses.extend(lost);
        diagnostics.remove(follower);
    }
}

/// A report that another one replaces, and that other one.
fn follower(diagnostics: &[Diagnostic]) -> Option<(usize, usize)> {
    let shares = |one: &[Thing], other: &[Thing]| one.iter().any(|thing| other.contains(thing));
    diagnostics.iter().enumerate().find_map(|(at, found)| {
        if found.lacks.is_empty() && found.needs.is_empty() {
            return None;
        }
        let lost = |other: &Diagnostic| shares(&found.lacks, &other.loses) || shares(&found.needs, &other.loses);
        let why = (0..diagnostics.len()).find(|other| *other != at && lost(&diagnostics[*other]));
        let first = || (0..at).find(|other| shares(&found.lacks, &diagnostics[*other].lacks));
        Some((at, why.or_else(first)?))
    })
}

/// A thing at a place, such as all members of an item.
fn at(what: &str, place: Span) -> Thing {
    Thing(format!("{what} {}:{}", place.file.0, place.start))
}

/// The fields of a wire.
pub fn fields(wire: &Name) -> Thing {
    at("fields", wire.span)
}

/// The header of a layer that declares none.
pub fn header(layer: &Name) -> Thing {
    at("header", layer.span)
}

/// A field that the header of a layer does not have, if the header is one record.
pub fn field(layer: &Layer, name: &str) -> Option<Thing> {
    match &layer.header {
        Some(header) => header.is_single().then(|| within(layer.name.span, name)),
        None => layer.key.is_none().then(|| self::header(&layer.name)),
    }
}

/// The layers of a bundle.
pub fn layers(bundle: &Name) -> Thing {
    at("layers", bundle.span)
}

/// The order of the layers of a bundle.
pub fn order(bundle: &Name) -> Thing {
    at("order", bundle.span)
}

/// The vocabularies that a layer speaks.
pub fn vocabularies(layer: &Name) -> Thing {
    at("vocabularies", layer.span)
}

/// Whole octets on the paths through a wire.
pub fn octets(wire: &Name) -> Thing {
    at("octets", wire.span)
}

/// That the numbers of an enum are different.
pub fn numbers(named: &Name) -> Thing {
    at("numbers", named.span)
}

/// A device or layer of a stack, by its name there.
pub fn named(stack: &Stack, name: &str) -> Thing {
    Thing(format!("{} in {}", name, at("stack", stack.name.span).0))
}

/// The port that a stack gives its application for a layer. Tests that lack it also lack [`named`].
pub fn port_of(stack: &Stack, layer: &str) -> Thing {
    named(stack, layer)
}

/// The layers below a layer of a stack.
pub fn below(stack: &Stack, instance: &Name) -> Thing {
    named(stack, &format!("below {}", instance.text))
}

/// The services that `with` gives to a layer of a stack.
pub fn given(stack: &Stack, instance: &Name) -> Thing {
    named(stack, &format!("with {}", instance.text))
}

/// A value that a layer of a stack publishes.
pub fn published(stack: &Stack, name: &str) -> Thing {
    named(stack, &format!("published {name}"))
}

/// That some layer reads or writes an attribute.
pub fn attribute(declared: &Name) -> Thing {
    at("attribute", declared.span)
}

/// The links of a host in a network.
pub fn links(host: &Name) -> Thing {
    at("links", host.span)
}

/// A name within an item or a member, by the place of that.
pub fn within(place: Span, name: &str) -> Thing {
    Thing(format!("{name} of {}", at("item", place).0))
}

/// That functions of files may refuse.
pub fn refusals() -> Thing {
    Thing("refusals of a file's functions".into())
}

/// That a file has a `use` for a name.
pub fn used(file: mokume_base::FileId, what: &str) -> Thing {
    Thing(format!("use {what} in {}", file.0))
}

/// The notations of values that a file sees.
pub fn notations(file: mokume_base::FileId) -> Thing {
    Thing(format!("notations in {}", file.0))
}

/// The arguments of a call, each in its place.
pub fn arguments(call: Span) -> Thing {
    at("arguments", call)
}

/// Marks reports as making sense only if a thing exists.
pub fn if_there(diagnostics: &mut [Diagnostic], thing: &Thing) {
    let of_types = [codes::MISMATCH, codes::NARROWS, codes::TOO_BIG, codes::NO_SCALAR];
    for found in diagnostics.iter_mut().filter(|found| of_types.contains(&found.code)) {
        found.needs.push(thing.clone());
    }
}

/// Marks the errors among the reports as saying why a thing is missing.
pub fn through(diagnostics: &mut [Diagnostic], thing: &Thing) {
    for found in diagnostics.iter_mut().filter(|found| found.severity == Severity::Error) {
        found.loses.push(thing.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_base::Code;

    fn thing(name: &str) -> Thing {
        Thing(name.to_string())
    }

    fn error(name: &'static str) -> Diagnostic {
        Diagnostic::error(Code(name), name)
    }

    fn left(mut all: Vec<Diagnostic>) -> Vec<&'static str> {
        leave_out(&mut all);
        all.iter().map(|found| found.code.0).collect()
    }

    #[test]
    fn who_lost_a_thing_speaks_for_all_who_lack_it() {
        assert_eq!(left(vec![error("1").lacks(thing("a")), error("2"), error("3").loses(thing("a"))]), ["2", "3"]);
        let chain = vec![
            error("1").lacks(thing("b")),
            error("2").lacks(thing("a")).loses(thing("b")),
            error("3").loses(thing("a")),
        ];
        assert_eq!(left(chain), ["3"]);
    }

    #[test]
    fn the_first_who_lacks_a_thing_says_so() {
        assert_eq!(left(vec![error("1").lacks(thing("a")), error("2").lacks(thing("a")), error("3")]), ["1", "3"]);
        assert_eq!(left(vec![error("1").needs(thing("a")), error("2").needs(thing("a"))]), ["1", "2"]);
    }

    #[test]
    fn somebody_always_speaks() {
        let circle =
            vec![error("1").lacks(thing("a")).loses(thing("b")), error("2").lacks(thing("b")).loses(thing("a"))];
        assert_eq!(left(circle).len(), 1);
        assert_eq!(left(vec![error("1").lacks(thing("a")).loses(thing("a"))]), ["1"]);
    }
}
