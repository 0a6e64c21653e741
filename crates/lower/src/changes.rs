//! `on change below.x`: who publishes a value that others wait for compares it, at the end of each of its instants, with
//! what they were last told, and tells them of another one (docs/language.md, section 15).
//!
//! Keeps: the event stands behind the publisher's own emissions, and there is at most one for each value and instant. A
//! layer whose value is computed from one below hears of that one's changes, and then looks at its own.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::Frame;
use crate::lowering::{Lowering, On, What};
use crate::publish::Reading;

/// A value of an instance that others are told of.
#[derive(Clone, Debug)]
pub struct Watched {
    pub inst: usize,
    pub name: String,
    /// What was told last.
    cells: Vec<r::CellId>,
    /// Instances above, with the handler that each has for it.
    who: Vec<(usize, Option<u32>)>,
}

impl<'p> Lowering<'p> {
    /// Finds out who waits for what; before any handler is made.
    pub fn declare_changes(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let Some(layer) = self.layer(inst) else { continue };
            for (at, handler) in layer.handlers.iter().enumerate() {
                let s::Event::Change { name } = &handler.event else { continue };
                for lower in self.inst(inst).lowers().to_vec() {
                    self.watch(lower, &name.text, (inst, Some(at as u32)), 0);
                }
            }
        }
    }

    fn watch(&mut self, from: usize, name: &str, who: (usize, Option<u32>), depth: usize) {
        for (inst, computed_from) in self.said_by(from, name) {
            self.watch_one(inst, computed_from, name, who, depth);
        }
    }

    fn watch_one(
        &mut self,
        inst: usize,
        computed_from: Vec<String>,
        name: &str,
        who: (usize, Option<u32>),
        depth: usize,
    ) {
        if self.reading(inst, name) != Reading::Entity {
            let message =
                format!("`{name}` is of a flow or a session here, and changes are told of the layer as a whole");
            self.error("M0725", message, self.inst(who.0).span, "read it where it is needed");
            return;
        }
        if let Some(known) = self.watched.iter_mut().find(|known| known.inst == inst && known.name == name) {
            if !known.who.contains(&who) {
                known.who.push(who);
            }
            return;
        }
        let Some(ty) = self.published_type(inst, name) else { return };
        let class = self.infos[inst].entity();
        let parts = self.flat(inst, ty);
        let cells = parts
            .into_iter()
            .map(|(rest, ty)| {
                let kind = r::CellKind::Scalar { ty, init: 0 };
                self.cell(class, &crate::declare::joined(&format!("told_{name}"), &rest), kind, false, None)
            })
            .collect();
        self.watched.push(Watched { inst, name: name.to_owned(), cells, who: vec![who] });
        // The plan is finite, and each step goes down.
        if depth > self.plan.insts.len() {
            return;
        }
        for lower in self.inst(inst).lowers().to_vec() {
            computed_from.iter().for_each(|name| self.watch(lower, name, (inst, None), depth + 1));
        }
    }

    pub fn is_watched(&self, inst: usize) -> bool {
        self.watched.iter().any(|watched| watched.inst == inst)
    }

    /// At the end of an instant; at the start nobody is told.
    pub fn tell_changes(&mut self, f: &mut Frame<'p>, at_start: bool) {
        let own: Vec<Watched> = self.watched.iter().filter(|watched| watched.inst == f.inst).cloned().collect();
        for watched in own {
            if !f.live() {
                return;
            }
            let entity = self.entity(f);
            let now = self.call_published(f, f.inst, &watched.name, Reading::Entity, vec![entity]);
            if at_start {
                self.set_cells(f, entity, &watched.cells, now);
                continue;
            }
            let mut other: Option<r::Value> = None;
            for (cell, now) in watched.cells.iter().zip(&now) {
                let told = f.value(&self.a, r::OpKind::Get { object: entity, cell: *cell });
                let differs = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: told, b: *now });
                other = Some(match other {
                    None => differs,
                    Some(before) => f.value(&self.a, r::OpKind::Binary { op: r::Binary::Or, a: before, b: differs }),
                });
            }
            let Some(other) = other else { continue };
            let (yes, no) = f.branch(other, Some(0.05), "changed", "same");
            f.select(yes);
            self.set_cells(f, entity, &watched.cells, now);
            for (inst, handler) in &watched.who {
                let event = format!("change_{}", watched.name);
                self.event(*inst, On::Entity, &event, Vec::new(), What::Changed { handler: *handler });
                let class = self.infos[*inst].entity();
                let target = f.value(&self.a, r::OpKind::Unique { class });
                f.op(&self.a, r::OpKind::Emit { target, event, args: Vec::new() });
            }
            let mut exits: Vec<_> = f.exit(Vec::new()).into_iter().collect();
            f.select(no);
            exits.extend(f.exit(Vec::new()));
            f.join("told", exits);
        }
    }
}
