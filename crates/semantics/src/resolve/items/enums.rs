//! The names of enums and their numbers.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::{annotations, fixed};
use crate::{codes, tree, types};

/// The names and numbers of an enum.
pub(super) fn names(cx: &mut Context, index: usize, file: FileId, item: &ast::Enum) {
    let width = match annotations::read(cx, file, item.ty()) {
        Type::UInt(width) => width,
        Type::Unknown => 64,
        other => {
            let text = format!("an enum's numbers are of a type `uN`, not {}", cx.show(other));
            let span = item.ty().map_or(item.span(file), |ty| ty.span(file));
            cx.error(codes::MISMATCH, text, span, "expected `uN`", "write `enum Kind: u8 { … }`");
            64
        }
    };
    let mut names: Vec<(Name, u64)> = Vec::new();
    for variant in item.variants() {
        let Some(name) = tree::some_name(file, variant.name()) else { continue };
        let next = names.last().map_or(0, |(_, number)| number.wrapping_add(1));
        let number =
            variant.value().and_then(|value| fixed::number(cx, file, &value, Type::UInt(width))).unwrap_or(next);
        if let Some((first, _)) = names.iter().find(|(first, _)| first.text == name.text) {
            let diagnostic = twice("name", &name, first);
            cx.report(diagnostic);
            continue;
        }
        if let Some((first, _)) = names.iter().find(|(_, used)| *used == number) {
            let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("two names for the number {number}"))
                .at(name.span, "the second")
                .label(first.span, "the first")
                .help("give each name a number of its own");
            cx.report(diagnostic);
        }
        if number > types::mask(width) {
            let text = format!("{number} does not fit u{width}");
            cx.error(codes::TOO_BIG, text, name.span, "too big", "choose a wider type for the enum's numbers");
        }
        names.push((name, number));
    }
    cx.program.enums[index].width = width;
    cx.program.enums[index].names = names;
}
