//! The whole front end, for `mokume check` and embedding programs: files, then each stack as a whole, then the steps of
//! tests and networks against their stacks.
//!
//! Keeps: a mistake in one item does not hide those of unrelated items. A stack is checked as a whole if no item that
//! it depends on has an error. Dependencies are taken from the names in the text, which can only be too cautious.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use mokume_base::{render, Diagnostic, FileId, Severity, Span, World};
use mokume_lower::Protocols;
use mokume_reaction::Automaton;
use mokume_semantics::program::StackId;
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::SyntaxKind;

use crate::compile::{self, Checked, Compiled};
use crate::places;

/// All diagnostics of the files, by place.
pub fn all(checked: &Checked, world: &dyn World) -> Vec<Diagnostic> {
    looked_at(checked, &mut |stack| Rc::new(Whole::of(compile::compile(checked, stack, world))))
}

/// The same without diagnostics about compiled functions in C: nothing is written, and no C code is loaded.
pub fn without_c(checked: &Checked) -> Vec<Diagnostic> {
    without_c_again(checked, &mut Kept::default())
}

/// The same, for files that are checked again and again while being edited: whole stacks are checked only if something
/// besides tests has changed since the last time.
pub fn without_c_again(checked: &Checked, kept: &mut Kept) -> Vec<Diagnostic> {
    let of = made_of(checked);
    if kept.of != of {
        *kept = Kept { of, stacks: BTreeMap::new() };
    }
    let look = |stack| Rc::new(Whole::of(compile::compile_to_write(checked, stack)));
    looked_at(checked, &mut |stack| Rc::clone(kept.stacks.entry(stack.0).or_insert_with(|| look(stack))))
}

/// The last checks of whole stacks.
#[derive(Default)]
pub struct Kept {
    /// The hash of everything that they depended on.
    of: u64,
    stacks: BTreeMap<u32, Rc<Whole>>,
}

impl Kept {
    /// How many reasons each stack without errors has, to see whether two of them have become one.
    pub fn reasons(&self) -> BTreeMap<u32, usize> {
        let made = self.stacks.iter().filter_map(|(stack, whole)| Some((*stack, whole.made.as_ref()?)));
        made.map(|(stack, made)| (stack, made.automaton.reasons.len())).collect()
    }
}

/// What is kept of a stack without errors.
struct Made {
    automaton: Automaton,
    protocols: Protocols,
    reached: BTreeSet<Span>,
}

/// A stack that was checked as a whole.
struct Whole {
    made: Option<Made>,
    found: Vec<Diagnostic>,
}

impl Whole {
    fn of((compiled, found): (Option<Compiled>, Vec<Diagnostic>)) -> Whole {
        let made = compiled.map(|compiled| Made {
            automaton: compiled.uncomposed,
            protocols: compiled.protocols,
            reached: compiled.reached,
        });
        Whole { made, found }
    }
}

/// A hash of everything that stacks depend on: the texts and their places, without tests and networks, which do not
/// affect stacks and come last in most files.
fn made_of(checked: &Checked) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (file, source) in checked.sources.files() {
        source.name.hash(&mut hasher);
        if !checked.roots.contains(&file) {
            source.text.hash(&mut hasher);
            continue;
        }
        for part in mokume_syntax::parse(file, &source.text).syntax().children_with_tokens() {
            use SyntaxKind as S;
            if !matches!(part.kind(), S::TEST | S::SUITE | S::NETWORK | S::WHITESPACE) {
                (u32::from(part.text_range().start()), part.to_string()).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

fn looked_at(checked: &Checked, whole: &mut dyn FnMut(StackId) -> Rc<Whole>) -> Vec<Diagnostic> {
    let mut diagnostics = checked.diagnostics.clone();
    let sound = Sound::of(checked);
    let own = |file: FileId| checked.roots.contains(&file);
    let program = &checked.program;
    let mut wholes: BTreeMap<u32, Rc<Whole>> = BTreeMap::new();
    let mut of_stacks = OfStacks::default();
    for (index, stack) in program.stacks.iter().enumerate() {
        let id = StackId(index as u32);
        let wanted = own(stack.name.span.file)
            || program.tests.iter().any(|test| test.stack == id && own(test.place().file))
            || program.networks.iter().any(|net| own(net.name.span.file) && net.hosts.iter().any(|h| h.stack == id));
        if !wanted || !sound.is(&stack.name.text) {
            continue;
        }
        let looked = whole(id);
        if own(stack.name.span.file) {
            // In a text with errors, items may be read incompletely: a fault of the automaton is then not the
            // compiler's fault.
            let found = looked.found.iter().filter(|found| !checked.has_errors() || !places::is_our_fault(found));
            found.for_each(|found| of_stacks.add(&stack.name.text, found));
        }
        wholes.insert(index as u32, looked);
    }
    diagnostics.extend(of_stacks.told());
    let made = |stack: u32| wholes.get(&stack).and_then(|whole| whole.made.as_ref());
    for test in program.tests.iter().filter(|test| own(test.place().file)) {
        if let Some(made) = made(test.stack.0) {
            let known = (&made.automaton, &made.protocols);
            diagnostics.extend(mokume_lower::test_script(program, known, &checked.sources, test).1);
        }
    }
    for network in program.networks.iter().filter(|network| own(network.name.span.file)) {
        let compiled = |stack: u32| made(stack).map(|made| (&made.automaton, &made.protocols));
        diagnostics.extend(crate::sim::wrong_steps(checked, network, &compiled));
    }
    leave_out_steps_said_before(checked, &mut diagnostics);
    crate::unreached::check(checked, &|stack| made(stack).map(|made| &made.reached), &mut diagnostics);
    if compile::has_errors(&diagnostics) && !checked.has_errors() {
        // As in the layers below: something may be unused only because of an error.
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    }
    render::sort(&mut diagnostics);
    diagnostics.dedup();
    mokume_semantics::lost::leave_out(&mut diagnostics);
    told_once_each_run(&mut diagnostics);
    debug_assert!(
        diagnostics.iter().all(|found| found.primary.is_some()),
        "a diagnostic without a place: {diagnostics:?}"
    );
    diagnostics
}

/// Diagnostics of whole stacks. Several stacks may have the same one, at a line of a layer that they share: it is told
/// once, with the names of the stacks.
#[derive(Default)]
struct OfStacks {
    /// Each with its stacks, which are in the order of the program.
    found: Vec<(Diagnostic, Vec<String>)>,
    /// Indices, by code and place.
    at: BTreeMap<(&'static str, Span), Vec<usize>>,
}

impl OfStacks {
    fn add(&mut self, stack: &str, found: &Diagnostic) {
        let Some(label) = &found.primary else { return self.found.push((found.clone(), Vec::new())) };
        let alike = self.at.entry((found.code.0, label.span)).or_default();
        // Of several at one place in each stack, the first is that of the first, and so on.
        let other = |at: &&usize| self.found[**at].1.iter().all(|known| known != stack);
        match alike.iter().find(other) {
            Some(at) => self.found[*at].1.push(stack.to_string()),
            None => {
                alike.push(self.found.len());
                self.found.push((found.clone(), vec![stack.to_string()]));
            }
        }
    }

    fn told(self) -> impl Iterator<Item = Diagnostic> {
        self.found.into_iter().map(|(found, stacks)| match stacks.as_slice() {
            [] | [_] => found,
            [first, ..] => {
                let note = format!("in the stacks {}; shown for `{first}`", mokume_semantics::suggest::list(&stacks));
                found.note(note)
            }
        })
    }
}

/// A step with an unknown port was reported already; the check of the whole stack need not repeat it.
fn leave_out_steps_said_before(checked: &Checked, diagnostics: &mut Vec<Diagnostic>) {
    let line = |diagnostic: &Diagnostic| {
        let span = diagnostic.primary.as_ref()?.span;
        Some((span.file, checked.sources.line_column(span.file, span.start).0))
    };
    let errors = checked.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let said: BTreeSet<_> = errors.filter_map(line).collect();
    diagnostics
        .retain(|diagnostic| diagnostic.code.0 != "M0729" || line(diagnostic).is_none_or(|at| !said.contains(&at)));
}

/// A mistake in a step of a suite occurs with each stack that the suite runs with; only the first is reported.
fn told_once_each_run(diagnostics: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    diagnostics.retain(|found| {
        let of_run = found.labels.iter().any(|label| label.text == mokume_semantics::program::OF_RUN);
        let place = found.primary.as_ref().map(|label| (label.span.file, label.span.start, label.span.end));
        !of_run || told.insert((found.code.0, place, found.message.clone()))
    });
}

/// Items that have no error, and depend on none that has.
struct Sound {
    broken: BTreeSet<String>,
    /// An error is in no item at all, or in no file.
    nothing_is: bool,
}

impl Sound {
    fn of(checked: &Checked) -> Sound {
        let errors = || checked.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        if errors().next().is_none() {
            return Sound { broken: BTreeSet::new(), nothing_is: false };
        }
        let items = items(checked);
        let mut sound = Sound { broken: BTreeSet::new(), nothing_is: false };
        let mut torn: Vec<String> = Vec::new();
        for error in errors() {
            let place = error.primary.as_ref().map(|label| label.span);
            let at =
                |item: &&Item| place.is_some_and(|span| item.file == span.file && item.range.contains(&span.start));
            match items.iter().find(at) {
                // Without the module, or where events were not read, the meaning of names is unknown.
                _ if error.code == mokume_semantics::codes::UNKNOWN_MODULE => sound.nothing_is = true,
                Some(item) if item.is_lost => sound.nothing_is = true,
                Some(item) => {
                    let is_at_name = mokume_syntax::CODES.contains(&error.code)
                        && item.name_ends.is_some_and(|end| place.is_some_and(|span| span.start == end));
                    torn.extend(item.name.clone().filter(|_| is_at_name));
                    sound.broken.extend(item.name.clone());
                }
                None => sound.nothing_is = true,
            }
        }
        // Items that name a broken one are broken, too.
        let mut naming: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for (item, name) in items.iter().filter_map(|item| Some((item, item.name.as_ref()?))) {
            item.words.iter().for_each(|word| naming.entry(word).or_default().push(name));
        }
        // `worker Lossyrate: u32) {`: without its `(`, the name ran into the next word; stacks and bundles have the right one.
        let is_item = |word: &str| items.iter().any(|item| item.name.as_deref() == Some(word));
        let begins = |word: &String| torn.iter().any(|name| name.starts_with(word) && name != word) && !is_item(word);
        let names_torn = |item: &&Item| item.is_built && item.words.iter().any(begins);
        sound.broken.extend(items.iter().filter(names_torn).filter_map(|item| item.name.clone()));
        let mut front: Vec<String> = sound.broken.iter().cloned().collect();
        while let Some(broken) = front.pop() {
            for name in naming.get(broken.as_str()).into_iter().flatten() {
                if sound.broken.insert((*name).clone()) {
                    front.push((*name).clone());
                }
            }
        }
        sound
    }

    fn is(&self, name: &str) -> bool {
        !self.nothing_is && !self.broken.contains(name)
    }
}

/// An item of a file: its name, its place, and every word in it.
struct Item {
    file: FileId,
    name: Option<String>,
    range: std::ops::Range<u32>,
    words: BTreeSet<String>,
    name_ends: Option<u32>,
    /// Whether it is a bundle or a stack.
    is_built: bool,
    /// Whether it is text between items that was not read, and that begins as a vocabulary's events do.
    is_lost: bool,
}

fn items(checked: &Checked) -> Vec<Item> {
    let mut items = Vec::new();
    for (file, text) in checked.sources.files().map(|(id, file)| (id, file.text.as_str())) {
        for node in mokume_syntax::parse(file, text).syntax().children() {
            let name = ast::Item::cast(node.clone()).and_then(|item| item.name());
            let own = name.as_ref().map(|name| name.syntax().text_range());
            let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
            let words = tokens.filter(|token| token.kind() == SyntaxKind::IDENT);
            let others = words.filter(|token| own.is_none_or(|own| !own.contains_range(token.text_range())));
            let mut others = others.peekable();
            let is_event = others.peek().is_some_and(|first| matches!(first.text(), "up" | "down" | "reasons"));
            let words: BTreeSet<String> = others.map(|token| token.text().to_string()).collect();
            // `Fence(…) {` without its `router`: what names it is broken.
            let first = node.descendants_with_tokens().filter_map(|element| element.into_token());
            let mut first = first.filter(|token| node.kind() == SyntaxKind::ERROR && token.kind() == SyntaxKind::IDENT);
            let first = first.next().map(|token| token.text().to_string());
            let first = first.filter(|word| word.starts_with(char::is_uppercase));
            let name = name.map(|name| name.text()).or(first);
            let range = node.text_range();
            let range = u32::from(range.start())..u32::from(range.end()) + 1;
            let is_lost = is_event && node.kind() == SyntaxKind::ERROR;
            let is_built = matches!(node.kind(), SyntaxKind::BUNDLE | SyntaxKind::STACK);
            items.push(Item {
                file,
                name,
                range,
                words,
                name_ends: own.map(|own| own.end().into()),
                is_built,
                is_lost,
            });
        }
    }
    items
}
