//! The text form says all of an automaton: what is printed of each stack of the library, of the small programs and of the examples,
//! composed, and of some before that, is read back as the same.

use mokume_base::SourceMap;
use mokume_reaction::text::{parse, print};
use mokume_reaction::Automaton;

use crate::campaign::stacks;

/// One stack in so many is read back as it is before composing, too.
const UNCOMPOSED: usize = 7;

/// What is lost between an automaton and its text; the first of it.
fn lost(automaton: &Automaton) -> Option<String> {
    let text = print(automaton);
    let mut sources = SourceMap::default();
    let file = sources.add("printed.ra", text.as_str());
    let parsed = parse(file, &text);
    if let Some(found) = parsed.diagnostics.first() {
        let line = found.primary.as_ref().map_or(0, |label| sources.line_column(file, label.span.start).0);
        let shown = text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
        return Some(format!("{}: {}: `{}`", found.code.0, found.message, shown.trim()));
    }
    let canonical = automaton.canonical();
    if parsed.automaton != canonical {
        return Some("what is read is another automaton".to_string());
    }
    // What is printed is the text of the canonical form: of an equal one with an equal form it is the same text.
    (canonical.canonical() != canonical).then(|| "what is read prints another text".to_string())
}

#[test]
fn every_stack_is_read_back_from_its_text() {
    let mut failures = Vec::new();
    let stacks = stacks::stacks();
    for (place, stack) in stacks.iter().enumerate() {
        // Composing leaves what a stack has as it is, and says more.
        let uncomposed = Some(("uncomposed", &stack.uncomposed)).filter(|_| place % UNCOMPOSED == 0);
        for (form, automaton) in uncomposed.into_iter().chain([("composed", &stack.composed)]) {
            failures.extend(lost(automaton).map(|why| format!("{} {form}: {why}", stack.name)));
        }
    }
    println!(
        "FIGURE: text form: {} composed stacks, and some of them before, are read back as they were",
        stacks.len()
    );
    assert!(stacks.len() > 100, "{} stacks", stacks.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // No name of the text form has a line's end in it.
    let mut other = stacks[0].composed.clone();
    other.classes.iter_mut().for_each(|class| class.name = "two\nlines".to_string());
    assert!(lost(&other).is_some(), "an automaton that is read as another is found");
}
