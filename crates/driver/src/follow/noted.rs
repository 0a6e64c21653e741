//! Records, while a reaction runs, where messages end, and why.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mokume_interpret::{CellView, Moment, Observer, What};
use mokume_reaction::{CellKind, ReasonId, Type};

/// A message that ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    pub how: How,
    pub reason: String,
    /// The layer, and its event.
    pub layer: String,
    pub on: String,
    /// `file:line`
    pub place: Option<String>,
    /// The cells of the layer's object that name a state: `state = Established`.
    pub state: Vec<String>,
}

/// Dropped, or consumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Dropped,
    Consumed,
}

/// The messages that ended since the last query.
#[derive(Default)]
pub(super) struct Noter {
    ended: Vec<(ReasonId, Ended)>,
}

/// A recorder that an instance and its clones share.
pub(super) type Shared = Arc<Mutex<Noter>>;

fn lock(shared: &Shared) -> MutexGuard<'_, Noter> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The messages that ended since the last time; `is_drop` tells whether a reason is one of drops.
pub(super) fn take(shared: &Shared, is_drop: impl Fn(ReasonId) -> bool) -> Vec<Ended> {
    let ended = std::mem::take(&mut lock(shared).ended);
    let how = |reason| if is_drop(reason) { How::Dropped } else { How::Consumed };
    ended.into_iter().map(|(reason, ended)| Ended { how: how(reason), ..ended }).collect()
}

impl Observer for Noter {
    fn see(&mut self, moment: &Moment<'_>) {
        let What::Ends(reason) = moment.what else { return };
        let automaton = moment.automaton();
        let handler = automaton.handler(moment.handler);
        let source = moment.frames().iter().rev().find_map(|frame| frame.source);
        let place = source.and_then(|source| automaton.sources.get(source.index()));
        let name = |reason: ReasonId| automaton.reasons.get(reason.index()).map(|reason| reason.name.clone());
        self.ended.push((
            reason,
            Ended {
                how: How::Dropped,
                reason: name(reason).unwrap_or_default(),
                layer: automaton.layers[automaton.class(handler.class).layer.index()].name.clone(),
                on: crate::debug::event_of(automaton, handler),
                place: place.map(|place| format!("{}:{}", place.file, place.line)),
                state: state(moment),
            },
        ));
    }
}

/// The cells of the current object whose values have names.
fn state(moment: &Moment<'_>) -> Vec<String> {
    let automaton = moment.automaton();
    let class = automaton.handler(moment.handler).class;
    let cells = automaton.class(class).cells.iter().enumerate();
    let named = cells.filter_map(|(at, cell)| {
        let CellKind::Scalar { ty: ty @ Type::Enum(_), .. } = cell.kind else { return None };
        let Some(CellView::Word(word)) = moment.cell(class, moment.object, at.into()) else { return None };
        let value = mokume_script::scalar(automaton, ty, word);
        Some(format!("{} = {}", cell.name, mokume_script::short_name(&value)))
    });
    named.collect()
}
