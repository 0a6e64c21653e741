//! Notes which words are one reason, for editors. Naming a reason declares it, in each layer for itself: the first place counts as its
//! declaration. One of a vocabulary is declared there, and the standard ones, and those for which the compiler drops,
//! are nobody's.

use std::collections::BTreeMap;

use mokume_base::Span;

use super::context::{Context, NamedReason};
use crate::program::{Emission, ExprKind, Layer, Name, Program, StackId, StmtKind};
use crate::signature::{COMPILER_REASONS, STANDARD_REASONS};
use crate::visit::{self, Met};

/// The declarations of a layer's reasons, by name.
type Declared = BTreeMap<String, Vec<Span>>;

/// Notes all reasons in the code of layers, and those that tests and networks name.
pub(super) fn mention(cx: &Context) {
    let program = &cx.program;
    let mut known: BTreeMap<Span, Declared> = BTreeMap::new();
    for layer in &program.layers {
        let all = named_in(layer);
        let declared = declared(program, &all);
        for name in &all {
            declared.get(name.plain()).into_iter().flatten().for_each(|place| cx.mention(name, *place));
        }
        declared.values().flatten().for_each(|place| cx.mention_itself(*place));
        known.insert(layer.name.span, declared);
    }
    let shared = program.vocabularies.iter().flat_map(|known| &known.reasons);
    shared.filter(|name| is_own(name)).for_each(|name| cx.mention_itself(name.span));
    for NamedReason { name, stacks } in &cx.reasons {
        for place in stacks.iter().flat_map(|stack| meant(program, name, *stack, &known)) {
            cx.mention(name, place);
        }
    }
}

/// The reasons that stand in a layer's code, in the order of their places.
fn named_in(layer: &Layer) -> Vec<Name> {
    let mut found = Vec::new();
    visit::walk_layer(layer, &mut |met| {
        let name = match met {
            Met::Stmt(stmt) => match &stmt.kind {
                StmtKind::Drop { reason, value: None, .. }
                | StmtKind::Consume { reason, .. }
                | StmtKind::Emit(Emission::Failed { reason }) => Some(reason),
                _ => None,
            },
            Met::Expr(expr) => match &expr.kind {
                ExprKind::Reason(name) => Some(name),
                _ => None,
            },
            Met::State(_) => None,
        };
        // What the compiler adds stands at the place of something else.
        found.extend(name.filter(|name| name.span.end - name.span.start == name.text.len() as u32).cloned());
    });
    found.sort_by_key(|name| (name.span.file != layer.name.span.file, name.span.file, name.span.start));
    found
}

/// Whether a reason is the program's, so that it may be called otherwise.
fn is_own(name: &Name) -> bool {
    !STANDARD_REASONS.contains(&name.plain()) && !COMPILER_REASONS.contains(&name.plain())
}

fn declared(program: &Program, all: &[Name]) -> Declared {
    let mut found = Declared::new();
    for name in all.iter().filter(|name| is_own(name)) {
        let shared = program.vocabularies.iter().flat_map(|known| &known.reasons);
        let shared: Vec<Span> = shared.filter(|known| known.text == name.plain()).map(|known| known.span).collect();
        let own = || vec![Span { start: name.span.end - name.plain().len() as u32, ..name.span }];
        let place = if shared.is_empty() { own() } else { shared };
        found.entry(name.plain().to_owned()).or_insert(place);
    }
    found
}

/// The declarations that a name in a test means: `late`, `x.late`, `x.Layer.late`.
fn meant(program: &Program, name: &Name, stack: StackId, known: &BTreeMap<Span, Declared>) -> Vec<Span> {
    let front = name.text.strip_suffix(name.plain()).unwrap_or_default().trim_end_matches('.');
    let Some(stack) = program.stacks.get(stack.0 as usize) else { return Vec::new() };
    let mut found = Vec::new();
    for instance in &stack.instances {
        for layer in program.layers_of(&instance.of) {
            let own = &layer.name.text;
            let is_meant = front.is_empty()
                || front == instance.name.text
                || front == own
                || front.strip_suffix(own.as_str()).is_some_and(|rest| rest.ends_with('.'));
            let declared = known.get(&layer.name.span).and_then(|declared| declared.get(name.plain()));
            found.extend(declared.filter(|_| is_meant).into_iter().flatten().copied());
        }
    }
    found
}
