//! What may be emitted once for a session: that it exists, to the layer above, and that it opens, to the layer below
//! (docs/language.md, section 6).
//!
//! Keeps: only two emissions in one block are an error; those on different paths or in different rounds are counted at
//! run time.

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::program::*;
use crate::visit;

/// Checks the code of all layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for handler in &layer.handlers {
            let passes = match handler.event {
                Event::Open { .. } => Some(Way::Down),
                Event::Opened | Event::Accepted { .. } => Some(Way::Up),
                _ => None,
            };
            Blocks { passes, out }.block(&handler.body);
        }
        for function in &layer.functions {
            Blocks { passes: None, out }.block(&function.body);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Up,
    Down,
}

struct Blocks<'a> {
    /// The direction in which `pass` emits here.
    passes: Option<Way>,
    out: &'a mut Vec<Diagnostic>,
}

impl Blocks<'_> {
    fn block(&mut self, block: &[Stmt]) {
        let mut said: Vec<(Way, Span)> = Vec::new();
        for stmt in block {
            visit::stmt_blocks(stmt).into_iter().for_each(|inner| self.block(inner));
            let Some(way) = self.way(&stmt.kind) else { continue };
            match said.iter().find(|(known, _)| *known == way) {
                Some((_, first)) => self.twice(way, stmt.span, *first),
                None => said.push((way, stmt.span)),
            }
        }
    }

    fn way(&self, kind: &StmtKind) -> Option<Way> {
        match kind {
            StmtKind::Pass => self.passes,
            StmtKind::Emit(Emission::Open { .. }) => self.passes.filter(|way| *way == Way::Down),
            StmtKind::Emit(Emission::Custom { name, down: false, .. }) => {
                matches!(name.text.as_str(), "opened" | "accepted").then_some(Way::Up)
            }
            _ => None,
        }
    }

    fn twice(&mut self, way: Way, span: Span, first: Span) {
        let (text, help) = match way {
            Way::Up => ("the layer above is told twice that the session is there", "say it once"),
            Way::Down => ("the session below is opened twice", "open it once: a session stands on one below"),
        };
        let diagnostic = Diagnostic::error(codes::BEGUN_TWICE, text).at(span, "again here").label(first, "first here");
        self.out.push(diagnostic.help(help));
    }
}
