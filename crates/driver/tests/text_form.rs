//! The text form contains all of an automaton: the printed text of each stack of the library, of the small programs and
//! of the examples, composed, and of some uncomposed, is read back as an equal automaton.

use mokume_base::SourceMap;
use mokume_reaction::text::{parse, print};
use mokume_reaction::Automaton;

use crate::campaign::stacks;

/// One of this many stacks is also read back uncomposed.
const UNCOMPOSED: usize = 7;

/// The first thing that is lost between an automaton and its text.
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
    // The printer prints the canonical form, so equal automata have equal texts.
    (canonical.canonical() != canonical).then(|| "what is read prints another text".to_string())
}

#[test]
fn every_stack_is_read_back_from_its_text() {
    let mut failures = Vec::new();
    let stacks = stacks::stacks();
    for (place, stack) in stacks.iter().enumerate() {
        // Composing keeps the stack's content, and adds to it.
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
    // Names in the text form contain no line breaks.
    let mut other = stacks[0].composed.clone();
    other.classes.iter_mut().for_each(|class| class.name = "two\nlines".to_string());
    assert!(lost(&other).is_some(), "an automaton that is read as another is found");
}
