//! Warnings: a wire that nothing names, in a file with bundles or stacks: its layers use other layouts.
//!
//! Keeps: any word of the program that equals the wire's name counts as a use. Wires of modules, and of files without
//! anything to encode, are for other programs.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode, Item};
use mokume_syntax::{SyntaxKind, SyntaxNode};

use crate::load::Loaded;
use crate::{codes, tree};

/// Reports wires that nothing names.
pub fn check(loaded: &Loaded, out: &mut Vec<Diagnostic>) {
    let mut wires: Vec<(FileId, ast::Wire)> = Vec::new();
    for (file, parse) in loaded.files.iter().filter(|(file, _)| !loaded.modules.contains_key(file)) {
        let items: Vec<Item> = parse.syntax().children().filter_map(Item::cast).collect();
        let used = loaded.uses.iter().any(|(user, other)| other == file && user != file);
        let encodes = |item: &Item| matches!(item, Item::Bundle(_)) || !used && matches!(item, Item::Stack(_));
        if items.iter().any(encodes) {
            wires.extend(items.into_iter().filter_map(|item| match item {
                Item::Wire(wire) => Some((*file, wire)),
                _ => None,
            }));
        }
    }
    if wires.is_empty() {
        return;
    }
    let mut words = BTreeSet::new();
    for (_, parse) in &loaded.files {
        parse.syntax().children().for_each(|item| words.extend(words_of(&item)));
    }
    for (file, wire) in wires {
        let name = tree::title(file, wire.name());
        if name.text.starts_with('_') || words.contains(&name.text) {
            continue;
        }
        let text = format!("no bundle is encoded by the wire `{}`", name.text);
        let found = Diagnostic::warning(codes::UNUSED_WIRE, text).at(name.span, "never used");
        out.push(
            found
                .help(format!("write `encoded {}` behind the bundle of its layers, or remove it", name.text))
                .help(format!("or call it `_{}` to say that this is meant", name.text)),
        );
    }
}

/// The words of an item, without its own name.
fn words_of(item: &SyntaxNode) -> Vec<String> {
    let own = Item::cast(item.clone()).and_then(|item| item.name()).map(|name| name.syntax().text_range());
    let tokens = item.descendants_with_tokens().filter_map(|element| element.into_token());
    let words = tokens.filter(|token| token.kind() == SyntaxKind::IDENT);
    let others = words.filter(|token| own.is_none_or(|own| !own.contains_range(token.text_range())));
    others.map(|token| token.text().to_string()).collect()
}
