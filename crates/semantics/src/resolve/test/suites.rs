//! `suite Segments(S: stack) { … }`, `run Segments(Plain)`: tests that are resolved again for each stack that they run
//! with.
//!
//! Keeps: a report about a stack in a suite shows the place that runs the suite with it.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{Context, Item};
use crate::resolve::test::{one, stack_use};
use crate::{codes, tree};

/// Resolves all suites, then all runs of them.
pub(super) fn read(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, suite) in &trees.suites {
        params(cx, *file, suite);
        let mut named = BTreeMap::new();
        suite.tests().iter().for_each(|item| one::once_each(cx, &mut named, *file, item));
        suite.tests().iter().for_each(|item| is_of_its_stacks(cx, *file, suite, item));
    }
    let mut ran: BTreeMap<(usize, Vec<u32>), Span> = BTreeMap::new();
    for (file, item) in &trees.runs {
        run(cx, *file, item, &mut ran);
    }
}

/// Checks that its parameters are stacks.
fn params(cx: &mut Context, file: FileId, suite: &ast::Suite) {
    let name = tree::title(file, suite.name());
    for param in suite.params() {
        let Some(own) = tree::some_name(file, param.name()) else { continue };
        if !is_stack(&param) {
            let help = format!("write `suite {}({}: stack)`", name.text, own.text);
            cx.error(codes::MISMATCH, "what a suite is given is a stack", own.span, "no stack", &help);
        }
    }
    if suite.params().is_empty() {
        let help = format!("write `suite {}(S: stack)`, or the tests without a suite", name.text);
        cx.error(codes::WRONG_COUNT, "a suite is of a stack", name.span, "of which?", &help);
    }
}

fn is_stack(param: &ast::Param) -> bool {
    match param.ty() {
        Some(ast::Type::Named(named)) => named.name().is_some_and(|name| name.text() == "stack"),
        _ => false,
    }
}

/// Checks that a test of a suite uses the suite's stacks.
fn is_of_its_stacks(cx: &mut Context, file: FileId, suite: &ast::Suite, item: &ast::Test) {
    let params = suite.params().into_iter().filter(is_stack);
    let params: Vec<String> = params.filter_map(|param| param.name()).map(|name| name.text()).collect();
    let stacks: Vec<Name> = item
        .steps()
        .iter()
        .filter_map(|step| match step {
            ast::TestStep::Stack(part) => tree::some_name(file, part.stack()?.name()),
            _ => None,
        })
        .collect();
    let Some(first) = stacks.first().filter(|_| !params.is_empty()) else { return };
    if !stacks.iter().any(|stack| params.contains(&stack.text)) {
        let text = format!("this test is the same with whatever its suite is run: it is of `{}`", first.text);
        let help = format!("write `stack {}`, or the test outside of the suite", params[0]);
        let diagnostic = Diagnostic::warning(codes::UNUSED_PARAMETER, text);
        cx.report(diagnostic.at(first.span, format!("not of `{}`", params[0])).help(help));
    }
}

fn run(cx: &mut Context, file: FileId, item: &ast::Run, ran: &mut BTreeMap<(usize, Vec<u32>), Span>) {
    let Some(part) = item.suite() else { return };
    let Some(name) = tree::some_name(file, part.name()) else { return };
    let Some(Item::Suite(index)) = cx.item_at(file, &name) else {
        return cx.unknown(codes::UNKNOWN_ITEM, "a suite", &name, file, |item| matches!(item, Item::Suite(_)));
    };
    let trees = cx.trees.clone();
    let Some((of, suite)) = trees.suites.get(index) else { return };
    let wanted: Vec<String> = suite.params().iter().filter_map(|param| param.name()).map(|name| name.text()).collect();
    let Some(with) = stacks(cx, file, &part) else { return };
    if wanted.len() != with.len() {
        let text = format!("`{}` asks for {} stacks, not {}", name.text, wanted.len(), with.len());
        let help = format!("write `run {}({})`", name.text, wanted.join(", "));
        return cx.error(codes::WRONG_COUNT, text, name.span, "here", &help);
    }
    let key = (index, with.iter().map(|(_, id)| id.0).collect());
    if let Some(first) = ran.insert(key, name.span) {
        return cx.given_twice("this run", name.span, first);
    }
    let given: Vec<(String, StackId)> = wanted.into_iter().zip(&with).map(|(name, (_, id))| (name, *id)).collect();
    let names: Vec<Name> = with.into_iter().map(|(name, _)| name).collect();
    for item in suite.tests() {
        test_with(cx, *of, &item, (&given, &names));
    }
}

/// The stacks that a run names.
fn stacks(cx: &mut Context, file: FileId, part: &ast::LayerUse) -> Option<Vec<(Name, StackId)>> {
    let mut found = Vec::new();
    for arg in part.args() {
        let name = arg.value().and_then(|value| cx.item_name(file, &value));
        let Some(name) = name else {
            let place = arg.span(file);
            cx.error(
                codes::UNKNOWN_STACK,
                "a suite is run with stacks",
                place,
                "no stack",
                "name one: `run Segments(Plain)`",
            );
            return None;
        };
        let id = stack_use::stack_named(cx, file, &name)?;
        found.push((name, id));
    }
    Some(found)
}

/// Resolves one test of a suite with these stacks; reports say with which.
fn test_with(cx: &mut Context, file: FileId, item: &ast::Test, (given, names): (&[(String, StackId)], &[Name])) {
    let before = cx.out.len();
    let found = one::read(cx, file, item, given);
    let told = cx.out.split_off(before);
    let place = |diagnostic: mokume_base::Diagnostic| {
        let first = names.first().map(|name| name.span);
        match first {
            Some(span) => diagnostic.label(span, OF_RUN),
            None => diagnostic,
        }
    };
    cx.out.extend(told.into_iter().map(place));
    if let Some(mut test) = found {
        let shown: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
        test.name = format!("{}, with {}", test.name, shown.join(", "));
        test.run_with = names.to_vec();
        cx.program.tests.push(test);
    }
}
