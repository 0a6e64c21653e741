//! Wires of the files that are checked, tried: packets of random values that a wire writes and reads otherwise.
//!
//! Keeps: only what is certain is told, as a packet shows it. What a wire's sizes alone tell is found before, by the names in the text.

use mokume_base::{Diagnostic, FileId};
use mokume_reaction::{Automaton, WireId};
use mokume_semantics::program::{Bundle, Program};
use mokume_semantics::{check, codes};
use mokume_wire::trial::{Found, Misread, Trial};
use mokume_wire::HeaderValue;

/// Packets that are tried of each wire.
const ROUNDS: u64 = 300;

/// The most values that a report shows.
const SHOWN: usize = 6;

/// Reports wires of these files that do not read a packet of their own.
pub(crate) fn wrong((program, roots): (&Program, &[FileId]), automaton: &Automaton) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    for (at, wire) in automaton.wires.iter().enumerate() {
        let Some(definition) = crate::written::definition_of(program, wire) else { continue };
        if !roots.contains(&definition.name.span.file) {
            continue;
        }
        let mut trial = Trial::new(automaton, WireId::from(at));
        let of_wire =
            |bundle: &&Bundle| bundle.wire.is_some_and(|id| std::ptr::eq(&program.wires[id.0 as usize], definition));
        let mut bundles = program.bundles.iter().filter(of_wire);
        if !bundles.any(|bundle| check::wires::carries_messages(program, bundle, definition)) {
            trial = trial.without_messages();
        }
        let Some(found) = trial.first_misread(ROUNDS) else { continue };
        let text = format!("`{}` does not read its own packets", definition.name.text);
        let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
            .at(definition.name.span, "such as this one")
            .note(written(automaton, &found))
            .note(read(automaton, &found))
            .help("look at what the wire says of this value: each field is read as it is written, and each packet by what stands in it");
        all.push(diagnostic);
    }
    all
}

/// `of n = 3, list_length = 1 and "hi" it makes x"…"`
fn written(automaton: &Automaton, found: &Found) -> String {
    let values = values(automaton, &found.headers);
    let message = match found.payload.is_empty() {
        true => String::new(),
        false => format!(" and a message of {} octets", found.payload.len()),
    };
    format!("of {values}{message} it makes {}", mokume_record::front_of(&found.octets, 32))
}

fn read(automaton: &Automaton, found: &Found) -> String {
    match &found.misread {
        Misread::Refused(refusal) => {
            format!("it refuses that as `{}`", automaton.reasons[refusal.reason.index()].name)
        }
        Misread::Otherwise(headers, payload) => {
            format!("it reads that as {} and a message of {} octets", values(automaton, headers), payload.len())
        }
        Misread::Again(octets) => {
            format!("it reads that, and makes {} of what it has read", mokume_record::front_of(octets, 32))
        }
    }
}

fn values(automaton: &Automaton, headers: &[HeaderValue]) -> String {
    let fields = headers.iter().flat_map(|header| {
        let variant = &automaton.headers[header.header.index()].variants[header.variant.index()];
        variant.fields.iter().zip(&header.fields).map(|((name, _), value)| format!("{name} = {value}"))
    });
    let all: Vec<String> = fields.collect();
    let more = if all.len() > SHOWN { ", …" } else { "" };
    match all.is_empty() {
        true => "no fields".to_string(),
        false => format!("{}{more}", all[..all.len().min(SHOWN)].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;
    use mokume_reaction::{FieldValue, WireExpression, WireItem};
    use mokume_semantics::program::StackId;

    use super::*;
    use crate::compile;

    const PROGRAM: &str = "worker W {\n    header { n: u8 }\n    on send(msg) { below.send(msg, n: 3) }\n\
        on deliver(msg, n) { if n == 9 { drop msg: other } else { above.deliver(msg) } }\n}\n\
        bundle B = W encoded Sized\nwire Sized big {\n    len: u16 = size(packet) trim packet to len\n    n: u8 = W.n\n}\n\
        stack S(device: Device) {\n    app = B over device\n    export app\n}\n";

    /// The octets that a field counts are all there are: no message stands behind an alternative that never has one.
    const BARE: &str = "endpoint Counts {\n    header { Ask { has_most: bool, most: u16 } }\n\
        on deliver(Ask { has_most, most }) { below.send(Ask { has_most: has_most, most: most }) }\n}\n\
        bundle Counted = Counts encoded Total\nwire Total big {\n    total: u8 = size(packet)\n\
        options kind: u8 length: u8 = size(option) until total {\n        255 => end\n\
        2 => Counts.Ask.has_most { most: u16 = Counts.Ask.most }\n        else => skip\n    }\n}\n\
        stack S(device: Device) {\n    app = Counted over device\n}\n";

    #[test]
    fn a_message_is_tried_only_where_one_may_stand() {
        let world = MemoryWorld::new();
        for (text, is_wrong) in [
            (BARE.to_string(), false),
            (
                BARE.replace("Ask { has_most: bool, most: u16 } }", "Ask { has_most: bool, most: u16 } with message }")
                    .replace(
                        "on deliver(Ask { has_most, most }) { below.send(Ask",
                        "on deliver(msg, Ask { has_most, most }) { consume msg: read  below.send(message(\"hi\"), Ask",
                    ),
                true,
            ),
        ] {
            let checked = compile::check_texts(&world, vec![("x.mok".into(), text)], Vec::new());
            let (compiled, found) = compile::compile(&checked, StackId(0), &world);
            let all: Vec<_> = checked.diagnostics.iter().chain(&found).filter(|one| one.code.0 == "M0667").collect();
            assert_eq!(!all.is_empty(), is_wrong, "{all:?}");
            assert!(compiled.is_some() || is_wrong);
        }
    }

    /// A size that is one too large, as if the checks of the text had let it pass.
    #[test]
    fn a_packet_that_is_read_otherwise_is_shown() {
        let world = MemoryWorld::new();
        let checked = compile::check_texts(&world, vec![("x.mok".into(), PROGRAM.into())], Vec::new());
        let mut automaton = compile::compile(&checked, StackId(0), &world).0.expect("a right program").uncomposed;
        assert!(wrong((&checked.program, &checked.roots), &automaton).is_empty());
        let Some(WireItem::Field(size)) = automaton.wires[0].items.first_mut() else { panic!("a field") };
        let FieldValue::Computed { expression, .. } = &mut size.value else { panic!("a computed one") };
        *expression = WireExpression::Add(WireExpression::PacketSize.into(), WireExpression::Number(1).into());
        let found = wrong((&checked.program, &checked.roots), &automaton);
        let [found] = &found[..] else { panic!("{found:?}") };
        assert_eq!(found.message, "`Sized` does not read its own packets");
        assert!(
            found.notes[0].starts_with("of n = ") && found.notes[1] == "it refuses that as `Sized.short`",
            "{found:?}"
        );
    }
}
