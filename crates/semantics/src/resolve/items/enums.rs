//! The names of enums and their numbers.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::{annotations, fixed};
use crate::{codes, lost, tree, types};

/// Resolves the names and numbers of an enum.
pub(super) fn names(cx: &mut Context, index: usize, file: FileId, item: &ast::Enum) {
    let read = annotations::read(cx, file, item.ty());
    let width = match read {
        Type::UInt(width) => width,
        Type::Unknown => 64,
        other => {
            let text = format!("an enum's numbers are of a type `uN`, not {}", cx.show(other));
            let span = item.ty().map_or(item.span(file), |ty| ty.span(file));
            cx.error(codes::MISMATCH, text, span, "expected `uN`", "write `enum Kind: u8 { … }`");
            64
        }
    };
    let (mut known, mut beyond) = (Known::default(), false);
    for variant in item.variants() {
        let Some(name) = tree::some_name(file, variant.name()) else { continue };
        let said = variant.value().and_then(|value| fixed::number(cx, file, &value, Type::UInt(width)));
        let next = known.names.last().map_or(Some(0), |(_, number)| number.checked_add(1));
        let number = said.or(next).unwrap_or(u64::MAX);
        let fits = said.or(next).is_some_and(|number| number <= types::mask(width));
        // Reports once that numbers no longer fit, not for each following name.
        if !fits && (said.is_some() || !beyond) {
            let text = match said.or(next) {
                Some(number) => format!("{number} does not fit u{width}"),
                None => format!("the name in front has the last number of a u{width}"),
            };
            let help = "choose a wider type for the enum's numbers, or give it a smaller one";
            cx.error(codes::TOO_BIG, text, name.span, "too big", help);
        }
        beyond = !fits;
        let said = cx.out.len();
        known.enter(cx, name, number, fits);
        lost::through(&mut cx.out[said..], &lost::numbers(&cx.program.enums[index].name));
    }
    // Of a type that is missing most have 8 bits: what is said of the width would be a consequence.
    cx.program.enums[index].width = if read == Type::Unknown { 8 } else { width };
    cx.program.enums[index].names = known.names;
}

/// The names so far, and the place of each word and each number.
#[derive(Default)]
struct Known {
    names: Vec<(Name, u64)>,
    words: BTreeMap<String, usize>,
    numbers: BTreeMap<u64, usize>,
}

impl Known {
    fn enter(&mut self, cx: &mut Context, name: Name, number: u64, fits: bool) {
        if let Some(first) = self.words.get(&name.text) {
            let diagnostic = twice("name", &name, &self.names[*first].0);
            return cx.report(diagnostic);
        }
        let place = self.names.len();
        if let Some(first) = self.numbers.get(&number).filter(|_| fits) {
            let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("two names for the number {number}"))
                .at(name.span, "the second")
                .label(self.names[*first].0.span, "the first")
                .help("give each name a number of its own");
            cx.report(diagnostic);
        }
        self.numbers.entry(number).or_insert(place);
        self.words.insert(name.text.clone(), place);
        self.names.push((name, number));
    }
}
