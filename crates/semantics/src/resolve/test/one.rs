//! One test: its stack, and its steps.

use std::collections::btree_map::Entry;
use std::collections::BTreeMap;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::codes;
use crate::program::*;
use crate::resolve::context::{Context, NamedReason};
use crate::resolve::expr::fixed;
use crate::resolve::test::{stack_use, steps};
use crate::tree;

/// Reports a test with the name of another.
pub(super) fn once_each(
    cx: &mut Context,
    named: &mut BTreeMap<(FileId, String), Span>,
    file: FileId,
    item: &ast::Test,
) {
    let Some(name) = item.name().filter(|name| !name.is_empty()) else { return };
    let span = place_of(file, item);
    match named.entry((file, name.clone())) {
        Entry::Occupied(first) => said_twice(cx, &name, span, *first.get()),
        Entry::Vacant(place) => drop(place.insert(span)),
    }
}

fn said_twice(cx: &mut Context, name: &str, span: Span, first: Span) {
    let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("two tests of this file are called \"{name}\""))
        .at(span, "again here")
        .label(first, "first here");
    cx.report(diagnostic.help("say what each of them shows: a name tells which one failed"));
}

/// The place where a test begins.
fn place_of(file: FileId, item: &ast::Test) -> Span {
    item.syntax().first_token().map_or(item.span(file), |token| ast::token_span(&token, file))
}

/// Resolves a test; `given` are the stacks that names of a suite stand for.
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Test, given: &[(String, StackId)]) -> Option<Test> {
    let span = place_of(file, item);
    let mut stack = None;
    let mut has_stack = false;
    let mut steps: Vec<Step> = Vec::new();
    let mut handles = steps::Handles::new();
    let (mut expected, mut was_nothing, mut list) = (false, false, Vec::new());
    for step in item.steps() {
        let place = step.span(file);
        if let ast::TestStep::Stack(part) = &step {
            if has_stack {
                cx.error(codes::DEFINED_TWICE, "a test has one stack", place, "the second", "write another test");
            } else {
                stack = part.stack().and_then(|part| stack_use::read(cx, file, &part, given));
            }
            has_stack = true;
            continue;
        }
        let id = stack.as_ref().map(|(id, _)| *id);
        let kind = test_step(cx, file, id, &step, &mut handles);
        let is_expect = matches!(step, ast::TestStep::Expect(_));
        let is_nothing = matches!(&step, ast::TestStep::Expect(expect) if expect.is_nothing());
        if let ast::TestStep::Expect(expect) = &step {
            if !expected {
                list.clear();
            }
            steps::bound_once_in_list(cx, file, &expect.outputs(), &mut list);
        }
        // Consecutive lists of outputs are one.
        if let (true, true, Some(StepKind::Expect { outputs, within })) = (expected, is_expect, &kind) {
            // A `within` ends the list.
            if let Some(Step { kind: StepKind::Expect { outputs: before, within: time @ None }, .. }) = steps.last_mut()
            {
                if is_nothing != was_nothing {
                    let help = "write what comes, in one list; what comes beside it fails the test";
                    cx.error(codes::MISMATCH, "`nothing` stands beside an output", place, "both", help);
                }
                before.extend(outputs.iter().cloned());
                *time = *within;
                continue;
            }
        }
        (expected, was_nothing) = (is_expect, is_nothing);
        steps.extend(kind.map(|kind| Step { kind, span: place }));
    }
    if !has_stack {
        cx.error(codes::UNKNOWN_STACK, "which stack is tested?", span, "no stack", "begin with `stack Name(device)`");
    }
    let (stack, settings) = stack?;
    Some(Test { name: item.name().unwrap_or_default(), stack, settings, steps, span, run_with: Vec::new() })
}

/// A reason that the layers of the test's stack name.
fn told(cx: &mut Context, file: FileId, stack: Option<StackId>, reason: &ast::Path) -> String {
    let name = tree::path(file, reason);
    let text = name.text.clone();
    cx.reasons.push(NamedReason { name, stacks: stack.into_iter().collect() });
    text
}

fn test_step(
    cx: &mut Context,
    file: FileId,
    stack: Option<StackId>,
    step: &ast::TestStep,
    handles: &mut steps::Handles,
) -> Option<StepKind> {
    match step {
        ast::TestStep::Stack(_) => None,
        ast::TestStep::Input(input) => {
            let (port, event, args) = steps::call(cx, file, stack, &input.call()?, handles)?;
            Some(StepKind::Input { port, event, args })
        }
        ast::TestStep::Expect(expect) => {
            let outputs =
                expect.outputs().iter().filter_map(|output| steps::call(cx, file, stack, output, handles)).collect();
            let within = expect.within().and_then(|time| fixed::number(cx, file, &time, Type::Duration));
            Some(StepKind::Expect { outputs, within })
        }
        ast::TestStep::Dropped(dropped) => {
            let count = count(cx, file, dropped.count());
            let reason = told(cx, file, stack, &dropped.reason()?);
            Some(StepKind::Dropped { reason, count })
        }
        ast::TestStep::Consumed(consumed) => {
            let count = count(cx, file, consumed.count());
            let reason = told(cx, file, stack, &consumed.reason()?);
            Some(StepKind::Consumed { reason, count })
        }
        ast::TestStep::Reported(reported) => {
            let count = count(cx, file, reported.count());
            Some(StepKind::Reported { report: reported.report()?.text(), count })
        }
        ast::TestStep::Counter(counter) => {
            let count = count(cx, file, counter.count());
            let counter = tree::path(file, &counter.counter()?);
            Some(StepKind::Counter { counter, count })
        }
        ast::TestStep::After(after) => {
            let nanoseconds = fixed::number(cx, file, &after.duration()?, Type::Duration)?;
            Some(StepKind::After { nanoseconds })
        }
    }
}

fn count(cx: &mut Context, file: FileId, value: Option<Tree>) -> u64 {
    value.and_then(|value| fixed::number(cx, file, &value, Type::UInt(64))).unwrap_or(1)
}
