//! Which layers wait for changes of published values, and where the publisher keeps what it told last.

use std::collections::BTreeSet;

use mokume_base::{Code, Diagnostic, Span};
use mokume_reaction as r;
use mokume_semantics::program as s;

use super::{joined, Lowering, Reading, CREDIT};

/// A value of an instance whose changes others wait for.
#[derive(Clone, Debug)]
pub struct Watched {
    pub inst: usize,
    pub name: String,
    /// What was told last: in the entity, or in each session.
    pub cells: Vec<r::CellId>,
    pub of: Of,
    /// Instances above that the entity tells; sessions tell those that are linked to them.
    pub who: Vec<usize>,
    /// The values below that it is computed from, which tell of themselves.
    pub computed_from: BTreeSet<String>,
    /// Whether a function that it calls may read others below, which do not.
    pub hidden: bool,
}

/// The owner of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    Layer,
    /// A session, and the value depends on its own state only.
    Session,
    /// A session, and the value depends on shared state: it may change in any instant of the layer.
    Sessions,
}

impl<'p> Lowering<'p> {
    /// Finds out which instances wait for what, before any handler is made.
    pub fn declare_changes(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let Some(layer) = self.layer(inst) else { continue };
            for handler in &layer.handlers {
                let s::Event::Change { name } = &handler.event else { continue };
                for lower in self.inst(inst).lowers() {
                    self.watch(*lower, name, (inst, name.span), 0);
                }
            }
        }
    }

    fn watch(&mut self, from: usize, name: &s::Name, (who, waits): (usize, Span), depth: usize) {
        let name = name.text.as_str();
        for (inst, computed_from) in self.said_by(from, name) {
            let of = match self.reading(inst, name) {
                Reading::Entity => Of::Layer,
                _ if self.infos[inst].classes.session.is_none() || !self.inst(who).uses.sessions => {
                    return self.no_session_changes(inst, name, (who, waits));
                }
                _ if self.is_shared(inst, name) => Of::Sessions,
                _ => Of::Session,
            };
            if of != Of::Layer {
                self.climb(inst, name, who);
            }
            self.watch_one((inst, of), computed_from, name, (who, waits), depth);
        }
    }

    fn no_session_changes(&mut self, inst: usize, name: &str, (who, place): (usize, Span)) {
        let (waits, says) = (self.inst(who), self.inst(inst));
        let text = format!("`{}` waits for `{name}` to change, which is a function of flows here", waits.name);
        let mut diagnostic = Diagnostic::error(Code("M0351"), text)
            .at(place, "waits for it here")
            .note(format!("`{}` publishes it, and has no session whose flow is pinned to tell", says.name))
            .help(format!("read `below.{name}` where it is needed"))
            .help("or wait for a value of the layer: `publish version: u32 = …`, counted up with each change");
        for (span, text) in [(waits.span, "it stands here"), (says.span, "publishes it of a flow")] {
            diagnostic = match span {
                Some(span) => diagnostic.label(span, text),
                None => diagnostic,
            };
        }
        self.diagnostics.push(diagnostic);
    }

    /// The sessions between the publisher and the waiting layer pass the event on.
    fn climb(&mut self, from: usize, name: &str, who: usize) {
        let mut at = self.inst(who).below;
        while let Some(inst) = at.filter(|inst| *inst != from) {
            self.handed_on.insert((inst, name.to_owned()));
            at = self.inst(inst).below;
        }
    }

    /// Whether a session's value depends on more than its own state.
    fn is_shared(&self, inst: usize, name: &str) -> bool {
        let Some(layer) = self.layer(inst) else { return true };
        // Such a handler may run for all sessions in one instant.
        let mut shared = layer.handlers.iter().any(|handler| matches!(handler.event, s::Event::Change { .. }));
        let exprs = layer.publishes.iter().filter(|publish| publish.name.text == name).map(|publish| &publish.value);
        let limits = [&layer.limit_send, &layer.limit_octets].into_iter().flatten();
        for expr in exprs.chain(limits.filter(|_| CREDIT.contains(&name))) {
            mokume_semantics::visit::walk_expr(expr, &mut |part| match &part.kind {
                s::ExprKind::CallOwn { .. } | s::ExprKind::CallOn { .. } => shared = true,
                s::ExprKind::Below { name, .. } => {
                    let lowers = self.inst(inst).lowers().iter();
                    shared |= lowers.map(|lower| self.reading(*lower, &name.text)).any(|of| of == Reading::Entity);
                }
                _ => mokume_semantics::visit::expr_states(part, &mut |state| {
                    shared |= state.scope != s::ScopeKind::Session;
                }),
            });
        }
        shared
    }

    fn watch_one(
        &mut self,
        (inst, of): (usize, Of),
        computed_from: Vec<String>,
        name: &str,
        (who, waits): (usize, Span),
        depth: usize,
    ) {
        if let Some(known) = self.watched.iter_mut().find(|known| known.inst == inst && known.name == name) {
            if !known.who.contains(&who) {
                known.who.push(who);
            }
            return;
        }
        let Some(ty) = self.published_type(inst, name) else { return };
        let classes = self.infos[inst].classes;
        let class = match (of, classes.session) {
            (Of::Session | Of::Sessions, Some(session)) => session,
            _ => classes.entity,
        };
        let parts = self.border(inst, ty).into_iter();
        let cells = parts
            .map(|(rest, ty)| self.scalar_cell(class, &joined(&format!("told_{name}"), &rest), ty, false))
            .collect();
        let from = computed_from.iter().cloned().collect();
        let hidden = self.is_hidden(inst);
        self.watched.push(Watched {
            inst,
            name: name.to_owned(),
            cells,
            of,
            who: vec![who],
            computed_from: from,
            hidden,
        });
        // The plan is finite, and each step goes down.
        if depth > self.plan.insts.len() {
            return;
        }
        for lower in self.inst(inst).lowers() {
            for name in &computed_from {
                let name = s::Name { text: name.clone(), span: waits };
                self.watch(*lower, &name, (inst, waits), depth + 1);
            }
        }
    }

    /// Whether a function of the layer reads values below.
    fn is_hidden(&self, inst: usize) -> bool {
        use mokume_semantics::visit::{any, Met};
        let reads = |met: Met| matches!(met, Met::Expr(s::Expr { kind: s::ExprKind::Below { .. }, .. }));
        self.layer(inst).is_none_or(|layer| layer.functions.iter().any(|function| any(&function.body, reads)))
    }

    /// Whether values are compared at the end of an instant of an object of this instance.
    pub fn is_watched(&self, inst: usize) -> bool {
        self.watched.iter().any(|watched| watched.inst == inst)
    }

    /// The layer's `on change` of a value, if it has one.
    pub fn change_handler(&self, inst: usize, name: &str) -> Option<&'p s::Handler> {
        self.handler_where(inst, |event| matches!(event, s::Event::Change { name: known } if known.text == name))
    }

    /// Whether a value does not depend on layers below.
    pub fn is_own(&self, inst: usize, name: &str) -> bool {
        self.said_by(inst, name).iter().all(|(by, read)| *by == inst && read.is_empty())
    }
}
