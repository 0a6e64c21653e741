//! Words that are two names at once: in `Data { seq }` the one of the header's field, and the one of the value or local
//! that is called like it.

use std::collections::BTreeMap;

use mokume_base::{FileId, Span};
use mokume_semantics::program::Mention;
use mokume_syntax::ast;
use mokume_syntax::{SyntaxKind, SyntaxNode};

use crate::analysis::Analysis;
use crate::names;

/// Which of its names a word is asked about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// It is one name only.
    Whole,
    /// The field's.
    Field,
    /// That of the value or local beside it.
    Value,
}

/// What a word does with the value that is called like the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `below.send(msg, Data { seq })`
    Reads,
    /// `on deliver(msg, Data { seq })`, `on deliver(msg, seq)`
    Binds,
}

/// The words of a tree that may be two names, by where they begin.
pub fn of_tree(root: &SyntaxNode, file: FileId) -> BTreeMap<u32, Form> {
    use SyntaxKind as S;
    let mut found = BTreeMap::new();
    for node in root.descendants() {
        let form = match node.kind() {
            S::RECORD_EXPR_FIELD => Form::Reads,
            S::PATTERN_FIELD => Form::Binds,
            S::PARAM if is_of_handler(&node) => Form::Binds,
            _ => continue,
        };
        let is_long = node.children_with_tokens().any(|part| part.kind() == S::COLON);
        let name = node.children().find(|part| matches!(part.kind(), S::NAME | S::PATH));
        if let Some(name) = name.filter(|_| !is_long) {
            found.insert(ast::span_of(&name, file).start, form);
        }
    }
    found
}

fn is_of_handler(param: &SyntaxNode) -> bool {
    use SyntaxKind as S;
    let around = param.ancestors().map(|node| node.kind());
    around.into_iter().find(|kind| matches!(kind, S::HANDLER | S::FUNCTION)) == Some(S::HANDLER)
}

/// The form of a word that is two names.
fn form(analysis: &Analysis, at: Span) -> Option<Form> {
    let form = analysis.shorthands(at.file).get(&at.start).copied()?;
    // Parameters that name no field are only themselves.
    (form == Form::Reads || names::is_mention(analysis, at)).then_some(form)
}

/// The name that a cursor on this word means: that of the value, as it is nearer.
pub fn part(analysis: &Analysis, at: Span) -> Part {
    form(analysis, at).map_or(Part::Whole, |_| Part::Value)
}

/// Which name of a word refers to something, and to which name of that.
pub fn parts(analysis: &Analysis, mention: &Mention) -> (Part, Part) {
    let at = match form(analysis, mention.at) {
        None => Part::Whole,
        Some(Form::Binds) => Part::Field,
        Some(Form::Reads) if is_field(analysis, mention.of) => Part::Field,
        Some(Form::Reads) => Part::Value,
    };
    let of = match form(analysis, mention.of) {
        Some(Form::Binds) => Part::Value,
        _ => Part::Whole,
    };
    (at, of)
}

/// Whether a field of a record, header or wire, or an attribute is declared here. The keys of objects are state.
fn is_field(analysis: &Analysis, declared: Span) -> bool {
    use SyntaxKind as S;
    let Some(word) = names::word(analysis, declared.file, declared.start) else { return false };
    let around = word.token.parent_ancestors().map(|node| node.kind());
    let around = around.into_iter().find(|kind| {
        matches!(kind, S::OBJECT | S::RECORD | S::ENUM | S::HEADER | S::WIRE | S::ATTRIBUTE | S::HANDLER | S::FUNCTION)
    });
    matches!(around, Some(S::RECORD | S::ENUM | S::HEADER | S::WIRE | S::ATTRIBUTE))
}
