//! Warnings: wires that nothing names, in files with bundles or stacks: the layers there use other layouts. And
//! functions that nothing calls: those of layers, and those of files with stacks that no other file uses.
//!
//! Keeps: any word of the program that equals the name counts as a use. Items of modules, and of files without
//! anything to encode, are for other programs.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode, Item};
use mokume_syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

use crate::load::Loaded;
use crate::program::Name;
use crate::{codes, tree};

/// Reports wires that nothing names, and functions that nothing calls.
pub fn check(loaded: &Loaded, out: &mut Vec<Diagnostic>) {
    let (mut wires, mut functions): (Vec<Name>, Vec<Name>) = (Vec::new(), Vec::new());
    for (file, parse) in loaded.files.iter().filter(|(file, _)| !loaded.modules.contains_key(file)) {
        let items: Vec<Item> = parse.syntax().children().filter_map(Item::cast).collect();
        let used = loaded.uses.iter().any(|(user, other)| other == file && user != file);
        let is_whole = !used && items.iter().any(|item| matches!(item, Item::Stack(_)));
        let encodes = is_whole || items.iter().any(|item| matches!(item, Item::Bundle(_)));
        let named = |name: Option<ast::Name>| tree::title(*file, name);
        for item in items {
            match item {
                Item::Wire(wire) if encodes => wires.push(named(wire.name())),
                Item::Function(function) if is_whole => functions.push(named(function.name())),
                Item::Layer(layer) => {
                    let own = layer.syntax().descendants().filter_map(ast::Function::cast);
                    functions.extend(own.map(|function| named(function.name())));
                }
                _ => {}
            }
        }
    }
    if wires.is_empty() && functions.is_empty() {
        return;
    }
    let mut words = BTreeSet::new();
    for (_, parse) in &loaded.files {
        words_of(&parse.syntax(), &mut words);
    }
    let is_unused = |name: &Name| !name.is_meant() && !words.contains(&name.text);
    for name in wires.into_iter().filter(is_unused) {
        let text = format!("no bundle is encoded by the wire `{}`", name.text);
        let found = Diagnostic::warning(codes::UNUSED_WIRE, text).at(name.span, "never used");
        out.push(
            found
                .help(format!("write `encoded {}` behind the bundle of its layers, or remove it", name.text))
                .help(format!("or call it `_{}` to say that this is meant", name.text)),
        );
    }
    for name in functions.into_iter().filter(is_unused) {
        let found = Diagnostic::warning(codes::UNUSED_FUNCTION, format!("nothing calls `{}`", name.text));
        let help = format!("call it, remove it, or call it `_{}` to say that this is meant", name.text);
        out.push(found.at(name.span, "never called").help(help));
    }
}

/// The words of a file, without the names that items and functions are given.
fn words_of(root: &SyntaxNode, words: &mut BTreeSet<String>) {
    let given = |node: SyntaxNode| {
        let function = ast::Function::cast(node.clone()).and_then(|function| function.name());
        function.or_else(|| Item::cast(node)?.name()).map(|name| name.syntax().text_range())
    };
    let given: BTreeSet<_> = root.descendants().filter_map(given).map(|range| (range.start(), range.end())).collect();
    let tokens = root.descendants_with_tokens().filter_map(|element| element.into_token());
    let is_word = |token: &SyntaxToken| {
        let range = token.text_range();
        token.kind() == SyntaxKind::IDENT && !given.contains(&(range.start(), range.end()))
    };
    words.extend(tokens.filter(is_word).map(|token| token.text().to_string()));
}
