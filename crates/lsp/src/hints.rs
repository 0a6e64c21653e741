//! Inlay hints: where fields are in packets, and the types of names that are bound without one.

use std::collections::BTreeMap;
use std::ops::Range;

use ls_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip};
use mokume_base::{FileId, Span};
use mokume_semantics::program::{Layer, Local, Program, Type};
use mokume_semantics::types;
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{SyntaxKind, SyntaxNode};

use crate::analysis::Analysis;
use crate::text::Lines;
use crate::wires;

/// The hints of a file within these octets, in order.
pub fn of(analysis: &Analysis, file: FileId, lines: &Lines<'_>, asked: &Range<usize>) -> Vec<InlayHint> {
    let mut found: BTreeMap<u32, InlayHint> = BTreeMap::new();
    let mut put = |at: u32, hint: InlayHint| {
        if asked.start <= at as usize && at as usize <= asked.end {
            found.entry(at).or_insert(hint);
        }
    };
    let hint = |at: u32, label: String, kind: Option<InlayHintKind>, tooltip: Option<String>| InlayHint {
        position: lines.position(at as usize),
        label: InlayHintLabel::String(label),
        kind,
        text_edits: None,
        tooltip: tooltip.map(InlayHintTooltip::String),
        padding_left: kind.is_none().then_some(true),
        padding_right: None,
        data: None,
    };
    for (at, label, all) in places(analysis, file) {
        put(at, hint(at, label, None, Some(all)));
    }
    for (local, ty) in bound(analysis, file) {
        let at = local.name.span.end;
        let label = format!(": {ty}");
        put(at, hint(at, label, Some(InlayHintKind::TYPE), None));
    }
    found.into_values().collect()
}

/// For each field whose place is the same in every packet: the end of its name, the hint, and the hint's long form.
fn places(analysis: &Analysis, file: FileId) -> Vec<(u32, String, String)> {
    let program = &analysis.checked.program;
    let all = wires::placed(program);
    let carried: BTreeMap<Span, Vec<Span>> = program.mentions.iter().fold(BTreeMap::new(), |mut carried, mention| {
        carried.entry(mention.at).or_default().push(mention.of);
        carried
    });
    let mut found: BTreeMap<Span, Vec<&wires::Placed<'_>>> = BTreeMap::new();
    for placed in all.iter().filter(|placed| placed.from.is_some()) {
        found.entry(placed.name).or_default().push(placed);
        let fields = placed.carries.and_then(|carries| carried.get(&carries));
        for field in fields.into_iter().flatten().filter(|field| **field != placed.name) {
            found.entry(*field).or_default().push(placed);
        }
    }
    let root = analysis.tree(file);
    let here = found.into_iter().filter(|(name, _)| name.file == file);
    let shown = here.filter_map(|(name, placed)| {
        let short = placed.first()?.place()?;
        // If wires carry a field at different places, only the wires show where.
        if placed.iter().any(|other| other.place().as_ref() != Some(&short)) {
            return None;
        }
        let mut long: Vec<String> = placed.iter().map(|placed| placed.show()).collect();
        long.dedup();
        let token = root.token_at_offset(name.start.into()).right_biased()?;
        let is_field = |node: &SyntaxNode| matches!(node.kind(), SyntaxKind::FIELD | SyntaxKind::WIRE_FIELD);
        let mut last = token.parent_ancestors().find(is_field)?.last_token()?;
        while last.kind().is_trivia() {
            last = last.prev_token()?;
        }
        Some((u32::from(last.text_range().end()), short, long.join("\n")))
    });
    shown.collect()
}

/// Locals that the source binds without a type, each with its type as text.
fn bound(analysis: &Analysis, file: FileId) -> Vec<(&Local, String)> {
    let program = &analysis.checked.program;
    let mut found = Vec::new();
    for layer in &program.layers {
        let handlers = layer.handlers.iter().flat_map(|handler| &handler.locals);
        let locals = handlers.chain(layer.functions.iter().flat_map(|function| &function.locals));
        found.extend(locals.filter_map(|local| Some((local, shown(program, Some(layer), local.ty)?))));
    }
    let locals = program.functions.iter().flat_map(|function| &function.locals);
    found.extend(locals.filter_map(|local| Some((local, shown(program, None, local.ty)?))));
    let root = analysis.tree(file);
    let is_without = |local: &Local| {
        let name = local.name.span;
        let token = (name.file == file).then(|| root.token_at_offset(name.start.into()).right_biased()).flatten();
        let pattern = token.and_then(|token| token.parent_ancestors().find(|node| node.kind() != SyntaxKind::NAME));
        pattern.is_some_and(|pattern| is_pattern(&pattern) && !has_type(&pattern))
    };
    found.retain(|(local, _)| is_without(local));
    found
}

/// A type as people write it; `None` if it has no name.
fn shown(program: &Program, layer: Option<&Layer>, ty: Type) -> Option<String> {
    match ty {
        Type::Unknown | Type::Unit => None,
        Type::Object(id) => Some(layer?.objects.get(id.index())?.name.text.clone()),
        Type::Listener => None,
        ty => Some(types::show(program, ty)),
    }
}

fn is_pattern(node: &SyntaxNode) -> bool {
    matches!(node.kind(), SyntaxKind::NAME_PATTERN | SyntaxKind::TUPLE_PATTERN)
}

/// Whether the pattern is followed by a type.
fn has_type(pattern: &SyntaxNode) -> bool {
    pattern.parent().and_then(ast::LetStmt::cast).is_some_and(|bound| bound.ty().is_some())
}
