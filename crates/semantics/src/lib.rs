//! Names, types, shapes, linearity: from the tree to the typed program.
//!
//! Invariant: if [`analyse`] reports no error, a reader of the program may rely on all that `docs/language.md` promises
//! without checking again. Nothing here touches a file: modules come through a [`load::Loader`].

pub mod check;
pub mod codes;
pub mod constants;
mod elsewhere;
pub mod events;
pub mod first_values;
mod graph;
pub mod limits;
pub mod load;
pub mod lost;
mod mentions;
pub mod program;
mod reserved;
mod resolve;
pub mod suggest;
mod tree;
pub mod types;
mod unread;
pub mod visit;

use std::collections::BTreeMap;

use mokume_base::{Code, Diagnostic, FileId, Severity, SourceMap, Span};

pub use elsewhere::name_modules;
pub use load::{load, Loaded, Loader};
pub use program::signature;
use program::Program;

/// The typed program of loaded files, and all diagnostics (also of `use` and of the parser), ordered by place.
pub fn analyse(loaded: &Loaded) -> (Program, Vec<Diagnostic>) {
    let (mut program, mut diagnostics) = resolve::resolve(loaded);
    program.modules.clone_from(&loaded.modules);
    mentions::complete(&mut program);
    program.number_locals();
    check::calls::check(&program, &mut diagnostics);
    first_values::check(&program, &mut diagnostics);
    check::parts::check(&program, &mut diagnostics);
    check::amounts::check(&program, &mut diagnostics);
    for bundle in &program.bundles {
        if let Some(wire) = bundle.wire.and_then(|wire| program.wires.get(wire.index())) {
            check::wires::check(&program, bundle, wire, &mut diagnostics);
        }
    }
    check::stacks::check(&program, &mut diagnostics);
    check::rows::check(&program, &mut diagnostics);
    check::views::check(&program, &mut diagnostics);
    let kept = check::vocabulary::check(&program, &mut diagnostics);
    check::changes::check(&program, &mut diagnostics);
    check::arrives::check(&program, &mut diagnostics);
    check::told::check(&program, &mut diagnostics);
    check::names::check(&program, &mut diagnostics);
    check::ranges::check(&program, &mut diagnostics);
    check::vectors::check(&program, &mut diagnostics);
    check::invert::check(&program, &mut diagnostics);
    check::zeros::check(&program, &mut diagnostics);
    diagnostics.extend(loaded.diagnostics.iter().cloned());
    check::quotas::check(&program, &mut diagnostics);
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    if !diagnostics.iter().any(is_error) {
        diagnostics.extend(kept);
    }
    if diagnostics.iter().any(is_error) {
        // Something may be unused or unreached only because of an error.
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        diagnostics.sort_by_key(place);
        let left_out = diagnostics.len().saturating_sub(limits::REPORTS);
        diagnostics.truncate(limits::REPORTS);
        check::names::leave_out_uses(&mut diagnostics);
        reserved::leave_out_uses(loaded, &mut diagnostics);
        unread::leave_out_followers(loaded, &mut diagnostics);
        unread::leave_out_unused(&mut diagnostics);
        leave_out_followers(&mut diagnostics);
        lost::leave_out(&mut diagnostics);
        said_once(&mut diagnostics);
        if let Some(last) = diagnostics.last_mut().filter(|_| left_out > 0) {
            let most = limits::REPORTS;
            last.notes.push(format!("{left_out} more errors behind this one are left out: {most} are looked at"));
        }
    } else {
        check::usage::check(&program, &mut diagnostics);
        check::idle::check(&program, &mut diagnostics);
        check::ended::check(&program, &mut diagnostics);
        check::past_end::check(&program, &mut diagnostics);
        check::always::check(loaded, &program, &mut diagnostics);
        check::hidden::check(&program, &mut diagnostics);
        check::units::check(&program, &mut diagnostics);
        check::taken::check(&program, &mut diagnostics);
        check::changes::credit_in_loops(&program, &mut diagnostics);
        check::silent::check(&program, &mut diagnostics);
        check::silent::held_views(&program, &mut diagnostics);
        check::endless::check(&program, &mut diagnostics);
        check::refusals::check(&program, &mut diagnostics);
        check::answers::check(&program, &mut diagnostics);
        check::attributes::check(loaded, &program, &mut diagnostics);
        check::bound::check(&program, &mut diagnostics);
        check::unused_lets::check(loaded, &program, &mut diagnostics);
        check::unused_items::check(loaded, &mut diagnostics);
        // The text of a module is not its user's to change.
        let is_of_module = |found: &Diagnostic| {
            let at = found.primary.as_ref().map(|label| label.span.file);
            at.is_some_and(|file| loaded.modules.contains_key(&file))
        };
        diagnostics.retain(|found| found.code != codes::UNTOLD_HEADER || !is_of_module(found));
        once_a_place(&mut diagnostics);
        check::idle::leave_out_followers(&program, &mut diagnostics);
        check::parts::mark_unused(&program, &mut diagnostics);
        lost::leave_out(&mut diagnostics);
    }
    diagnostics.sort_by_key(place);
    diagnostics.dedup();
    (program, diagnostics)
}

/// Loads and analyses files that the source map already has.
pub fn analyse_files(sources: &mut SourceMap, roots: &[FileId], loader: &mut dyn Loader) -> (Program, Vec<Diagnostic>) {
    let (program, mut diagnostics) = analyse(&load(sources, roots, loader));
    name_modules(sources, loader, &mut diagnostics);
    (program, diagnostics)
}

/// What several stacks have at one line of a layer is reported once.
fn once_a_place(diagnostics: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Diagnostic> = Vec::new();
    for found in std::mem::take(diagnostics) {
        let at = |found: &Diagnostic| found.primary.as_ref().map(|label| label.span);
        // What else their texts name is another in each stack.
        let is_same = |known: &&mut Diagnostic| match found.code {
            codes::UNTOLD_HEADER | codes::UNENDING => true,
            codes::UNANSWERED => known.message == found.message,
            _ => false,
        };
        let mut alike = kept.iter_mut().filter(|known| known.code == found.code && at(known) == at(&found));
        let known = alike.find(is_same);
        const ELSEWHERE: &str = "the same elsewhere in the stacks here";
        match known {
            Some(known) if known.labels == found.labels && known.message == found.message => {}
            Some(known) if known.notes.iter().any(|note| note == ELSEWHERE) => {}
            Some(known) => known.notes.push(ELSEWHERE.to_string()),
            None => kept.push(found),
        }
    }
    *diagnostics = kept;
}

/// A name of an item that means nothing is reported at its first place in a file; that report counts the others.
fn said_once(diagnostics: &mut Vec<Diagnostic>) {
    const NAMES: [Code; 4] = [codes::UNKNOWN_TYPE, codes::UNKNOWN_LAYER, codes::UNKNOWN_ITEM, codes::NO_FUNCTION];
    diagnostics.sort_by_key(place);
    let mut first: BTreeMap<(FileId, &'static str, String), usize> = BTreeMap::new();
    let mut others: Vec<usize> = Vec::new();
    diagnostics.retain(|found| {
        let file = found.primary.as_ref().map(|label| label.span.file);
        let Some(file) = file.filter(|_| NAMES.contains(&found.code)) else {
            others.push(0);
            return true;
        };
        let at = *first.entry((file, found.code.0, found.message.clone())).or_insert(others.len());
        let is_first = at == others.len();
        match is_first {
            true => others.push(0),
            false => others[at] += 1,
        }
        is_first
    });
    for (found, count) in diagnostics.iter_mut().zip(others) {
        match count {
            0 => {}
            1 => found.notes.push("the same at one other place".to_string()),
            _ => found.notes.push(format!("the same at {count} other places")),
        }
    }
}

/// Removes reports of leaks that only exist because a statement was refused: `below.send(mgs)`, `drop msg` without a
/// reason.
fn leave_out_followers(diagnostics: &mut Vec<Diagnostic>) {
    // Other reports about messages do not refuse a statement.
    let linear = [codes::LEAK, codes::GIVEN_TWICE, codes::USED_AFTER, codes::GIVEN_IN_LOOP, codes::PATHS_DISAGREE];
    let causes: Vec<Span> = diagnostics
        .iter()
        .filter(|diagnostic| !linear.contains(&diagnostic.code))
        .filter_map(|diagnostic| diagnostic.primary.as_ref().map(|label| label.span))
        .collect();
    // Text beside an unreadable token is not what it was read as.
    let unread = diagnostics.iter().filter(|diagnostic| mokume_syntax::CODES.contains(&diagnostic.code));
    let unread: Vec<Span> = unread.filter_map(|found| Some(found.primary.as_ref()?.span)).collect();
    let within = |span: &Span, of: &Span| span.file == of.file && of.start <= span.start && span.end <= of.end;
    diagnostics.retain(|found| {
        let read = |label: &mokume_base::Label| !unread.iter().any(|of| within(&label.span, of));
        mokume_syntax::CODES.contains(&found.code) || found.primary.as_ref().is_none_or(read)
    });
    // What a stack lacks may be named by something that was refused.
    let refused: Vec<Span> = diagnostics.iter().filter_map(|found| Some(found.primary.as_ref()?.span)).collect();
    let lacks = [codes::NOT_PUBLISHED, codes::NO_FLOW_PART];
    diagnostics.retain(|found| {
        !lacks.contains(&found.code) || !found.labels.iter().any(|label| refused.contains(&label.span))
    });
    // A function with the name of a built-in one is never the one that is called.
    let hidden = diagnostics.iter().filter(|found| found.code == codes::HIDES_BUILT_IN);
    let hidden: Vec<String> =
        hidden.filter_map(|found| Some(format!("`{}` takes", found.message.split('`').nth(1)?))).collect();
    diagnostics.retain(|found| {
        found.code != codes::WRONG_COUNT || !hidden.iter().any(|call| found.message.starts_with(call.as_str()))
    });
    // A wire may fail to read its own packets because of a fault already reported at the same field.
    let fields = diagnostics.iter().filter(|found| found.code != codes::WIRE_OWN);
    let fields: Vec<Span> = fields.filter_map(|found| Some(found.primary.as_ref()?.span)).collect();
    diagnostics.retain(|found| {
        found.code != codes::WIRE_OWN || found.primary.as_ref().is_none_or(|label| !fields.contains(&label.span))
    });
    // `3 $ 4`, `x++`: what stands beside a refused token is not a value of its own.
    let beside =
        |span: &Span, cause: &Span| cause.file == span.file && (cause.end + 1 == span.start || cause.start == span.end);
    // An ambiguous name was read as one of its meanings.
    let clashes = diagnostics.iter().filter(|diagnostic| diagnostic.code == codes::CLASH);
    let clashes: Vec<Span> = clashes.filter_map(|found| Some(found.primary.as_ref()?.span)).collect();
    let follows = |span: &Span| clashes.iter().any(|clash| clash.file == span.file && clash.start == span.start);
    diagnostics.retain(|found| {
        found.code == codes::CLASH || !found.primary.as_ref().is_some_and(|label| follows(&label.span))
    });
    diagnostics.retain(|diagnostic| match &diagnostic.primary {
        Some(label) if diagnostic.code == codes::UNUSED_VALUE => !causes.iter().any(|cause| beside(&label.span, cause)),
        _ => true,
    });
    diagnostics.retain(|diagnostic| {
        let (true, Some(from)) = (diagnostic.code == codes::LEAK, &diagnostic.primary) else { return true };
        let end = diagnostic.labels.iter().map(|label| label.span.end).max().unwrap_or(from.span.end);
        let on_the_way = |cause: &Span| cause.file == from.span.file && (from.span.start..=end).contains(&cause.start);
        !causes.iter().any(on_the_way)
    });
}

fn place(diagnostic: &Diagnostic) -> Option<(FileId, u32, u32)> {
    diagnostic.primary.as_ref().map(|label| {
        let Span { file, start, end } = label.span;
        (file, start, end)
    })
}
