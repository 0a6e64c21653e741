//! Following the messages of a body: how one is taken, read and given away, and the reports about that.
//!
//! Keeps: each message is reported once, so that one mistake does not cascade.

use rustc_hash::FxHashSet as HashSet;

use mokume_base::{Diagnostic, Span};

use super::slots::{meet, Branch, Gone, Slot, State};
use crate::program::*;
use crate::{codes, lost};

/// The state of the check of one body.
pub(super) struct Flow<'a> {
    pub locals: &'a [Local],
    pub event: &'a [LocalId],
    pub kept: &'a [LocalId],
    pub end: Span,
    pub reported: HashSet<LocalId>,
    pub out: &'a mut Vec<Diagnostic>,
}

impl Flow<'_> {
    /// The name of a message in a report.
    pub fn name(&self, local: LocalId) -> &str {
        self.locals.get(local.index()).map_or("message", |local| &local.name.text)
    }

    /// Where the local is bound.
    pub fn place(&self, local: LocalId) -> Span {
        self.locals.get(local.index()).map_or(self.end, |local| local.name.span)
    }

    /// Whether the local is a message; locals of other types are not followed.
    pub fn is_message(&self, local: LocalId) -> bool {
        self.locals.get(local.index()).is_some_and(|local| local.ty == Type::Message)
    }

    /// Reports a message, unless it was reported before.
    pub fn report(&mut self, local: LocalId, diagnostic: Diagnostic) {
        if self.reported.insert(local) {
            self.out.push(diagnostic);
        }
    }

    /// The local holds a message from here on.
    pub fn hold(&mut self, state: &mut State, local: LocalId) {
        if let (true, Some(slots)) = (self.is_message(local), state) {
            slots[local.index()] = Slot::Held;
        }
    }

    /// The message is given away here.
    pub fn give(&mut self, state: &mut State, local: LocalId, span: Span, verb: &'static str) {
        let (true, Some(slots)) = (self.is_message(local), state.as_mut()) else { return };
        let before = std::mem::replace(&mut slots[local.index()], Slot::Given(Gone { span, verb }));
        let name = self.name(local).to_string();
        match before {
            Slot::Held | Slot::Absent => {}
            Slot::Given(gone) => {
                let diagnostic =
                    Diagnostic::error(codes::GIVEN_TWICE, format!("`{name}` is {} and then {verb}", gone.verb))
                        .at(span, "and used again here")
                        .label(gone.span, format!("{} here", gone.verb))
                        .note("a message is given away exactly once on every path")
                        .help(format!("to have a second one of the same octets, give away `{name}.share()` first"));
                self.report(local, diagnostic);
            }
            Slot::Mixed { given, leak } => self.disagree(local, span, given, leak),
        }
    }

    /// The message must be held here, and stays.
    pub fn read(&mut self, state: &mut State, local: LocalId, span: Span) {
        let (true, Some(slots)) = (self.is_message(local), state.as_mut()) else { return };
        let name = self.name(local).to_string();
        match slots[local.index()].clone() {
            Slot::Held | Slot::Absent => {}
            Slot::Given(gone) => {
                let text = format!("`{name}` is used after it was {}", gone.verb);
                let diagnostic = Diagnostic::error(codes::USED_AFTER, text)
                    .at(span, "used here")
                    .label(gone.span, format!("{} here: from then on it belongs to another", gone.verb))
                    .help("read what you need into a `let` before the message is given away");
                self.report(local, diagnostic);
            }
            Slot::Mixed { given, leak } => self.disagree(local, span, given, leak),
        }
    }

    /// Reports a use at a place that only some paths reach with the message.
    pub fn disagree(&mut self, local: LocalId, span: Span, given: Gone, leak: (Span, String)) {
        let name = self.name(local).to_string();
        let text = format!("`{name}` may be gone already: the paths that meet before this disagree");
        let diagnostic = Diagnostic::error(codes::PATHS_DISAGREE, text)
            .at(span, "used here")
            .label(given.span, format!("{} here, on one path", given.verb))
            .label(leak.0, leak.1)
            .help("end the path that gives it away with `return`, or give it away on all of them");
        self.report(local, diagnostic);
    }

    /// Reports the `locals` that still hold a message.
    pub fn at_end(&mut self, state: &State, locals: &[LocalId], span: Span, text: &str) {
        let Some(slots) = state else { return };
        for &local in locals {
            if !self.is_message(local) {
                continue;
            }
            let name = self.name(local).to_string();
            let diagnostic = Diagnostic::error(codes::LEAK, format!("`{name}` is not given away on every path"))
                .at(self.place(local), "comes from here");
            let diagnostic = match &slots[local.index()] {
                Slot::Held => diagnostic.label(span, text),
                Slot::Mixed { given, leak } => {
                    diagnostic.label(given.span, format!("{} here", given.verb)).label(leak.0, leak.1.clone())
                }
                _ => continue,
            };
            let diagnostic = diagnostic
                .note("a message is sent, delivered, kept, joined, dropped or consumed exactly once on every path")
                .help(format!("if it is not wanted there, write `drop {name}: reason`"))
                .needs(lost::within(self.place(local), "what is left"));
            self.report(local, diagnostic);
        }
    }

    /// Joins branches; the result is `None` if no branch comes here.
    pub fn join(&mut self, branches: Vec<Branch>) -> State {
        let reached: Vec<&Branch> = branches.iter().filter(|branch| branch.state.is_some()).collect();
        let mut result = reached.first()?.state.clone()?;
        for (index, slot) in result.iter_mut().enumerate() {
            *slot = meet(self.name(LocalId(index as u32)), index, &reached);
        }
        Some(result)
    }

    /// The local is overwritten with another message; it must hold none.
    pub fn overwrite(&mut self, state: &mut State, local: LocalId, span: Span) {
        let held = state.as_ref().is_some_and(|slots| matches!(slots[local.index()], Slot::Held | Slot::Mixed { .. }));
        if self.is_message(local) && held {
            let name = self.name(local).to_string();
            let diagnostic =
                Diagnostic::error(codes::OVERWRITTEN, format!("`{name}` is overwritten while it holds a message"))
                    .at(span, "the message in it would be lost here")
                    .label(self.place(local), "comes from here")
                    .help(format!("write `drop {name}: reason` first, or use another name"));
            self.report(local, diagnostic);
        }
        self.hold(state, local);
    }

    /// Reports a message that is made and not bound.
    pub fn thrown_away(&mut self, span: Span) {
        self.out.push(
            Diagnostic::error(codes::THROWN_AWAY, "this message is made and thrown away")
                .at(span, "nobody takes it")
                .help("bind it with `let`, or hand it on in place"),
        );
    }
}
