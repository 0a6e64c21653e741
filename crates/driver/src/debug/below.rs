//! What a layer reads of the layers below it, `below.credit`: the functions that the automaton has for it, asked at a moment.

use std::collections::{BTreeMap, BTreeSet};

use mokume_interpret::CellView;
use mokume_reaction::{Automaton, CellKind, ClassId, FunctionId, Handle, LayerId, Op, OpKind, Type};

use super::facts::event_of;
use super::published::name_of;
use super::shown::{Stopped, Variable, BELOW, FLOW_CELLS};

/// The published values of this name that a layer reads; `written` has the events as a source names them.
fn read_by(
    (automaton, written): (&Automaton, &BTreeMap<String, BTreeSet<String>>),
    layer: LayerId,
    name: &str,
) -> Vec<FunctionId> {
    let own = automaton
        .functions
        .iter()
        .filter(|function| function.published().is_some_and(|class| automaton.class(class).layer == layer));
    let code = automaton.code().filter(|(of, _)| *of == layer).map(|(_, body)| body);
    let called = |op: &Op| match op.kind {
        OpKind::Call { function, .. } => Some(function),
        _ => None,
    };
    let called = code.chain(own.map(|function| &function.body)).flat_map(|body| body.ops()).filter_map(called);
    // `on change below.name` is told by the publisher, and calls nothing.
    let heard = written.get(&format!("change {BELOW}.{name}"));
    let hears = automaton.handlers.iter().any(|handler| {
        let is_own = automaton.class(handler.class).layer == layer;
        is_own && heard.is_some_and(|heard| heard.contains(&event_of(automaton, handler)))
    });
    let all = (0..automaton.functions.len()).map(FunctionId::from).filter(|_| hears);
    let is_it = |id: &FunctionId| {
        let function = &automaton.functions[id.index()];
        let is_own = function.published().is_some_and(|class| automaton.class(class).layer == layer);
        !is_own && name_of(automaton, function) == Some(name)
    };
    let mut found: Vec<FunctionId> = called.chain(all).filter(is_it).collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl Stopped<'_> {
    /// `below.name` of the layer whose code runs: the value that it would read now. `None` if it reads no such value, or if there is
    /// none for what the code runs for.
    pub(super) fn below(&self, name: &str) -> Option<Variable> {
        let automaton = self.automaton();
        let layer = automaton.class(automaton.handlers.get(self.moment.handler.index())?.class).layer;
        read_by((automaton, &self.facts.written), layer, name).into_iter().find_map(|function| {
            let definition = &automaton.functions[function.index()];
            let object = self.object_below(definition.published()?)?;
            let given = definition.params.iter().skip(1);
            let args: Vec<u64> = given.map(|(name, _)| self.flow_part(name)).collect::<Option<_>>()?;
            let words = self.moment.published(function, object, &args)?;
            let typed: Vec<(Type, u64)> = definition.results.iter().copied().zip(words).collect();
            // `credit` and what devices publish stand in no layer.
            self.of_words(self.facts.published.get(name).and_then(Option::as_ref), &typed)
        })
    }

    /// The object of a layer below that is asked: the only one of its class, or that which the current one is above.
    fn object_below(&self, class: ClassId) -> Option<Handle> {
        let automaton = self.automaton();
        if automaton.is_unique(class) {
            return self.moment.objects(class).first().copied();
        }
        let mut at = self.current()?;
        while at.0 != class {
            at = self.next_below(at)?;
        }
        Some(at.1)
    }

    /// The object that the current handler runs for.
    fn current(&self) -> Option<(ClassId, Handle)> {
        Some((self.automaton().handlers.get(self.moment.handler.index())?.class, self.moment.object))
    }

    fn next_below(&self, (class, object): (ClassId, Handle)) -> Option<(ClassId, Handle)> {
        let cells = self.automaton().class(class).cells.iter().enumerate();
        let mut links = cells.filter(|(_, cell)| cell.source.is_none() && cell.name == BELOW);
        links.find_map(|(number, cell)| {
            let CellKind::Scalar { ty: Type::Ref(of), .. } = cell.kind else { return None };
            let CellView::Word(word) = self.moment.cell(class, object, number.into())? else { return None };
            let below = Handle { object: word as u32, generation: (word >> 32) as u32 };
            (word != u64::MAX).then_some((of, below))
        })
    }

    /// A part of the flow at hand, by its name in the automaton: of what is bound, else of the session and those below it.
    fn flow_part(&self, name: &str) -> Option<u64> {
        if let Some(word) = self.bound_flow(name) {
            return Some(word);
        }
        let mut at = self.current();
        while let Some((class, object)) = at {
            let mut cells = self.automaton().class(class).cells.iter();
            let is_it = |known: &str| known.strip_prefix(FLOW_CELLS) == Some(name);
            if let Some(number) = cells.position(|cell| cell.source.is_none() && is_it(&cell.name)) {
                let CellView::Word(word) = self.moment.cell(class, object, number.into())? else { return None };
                return Some(word);
            }
            at = self.next_below((class, object));
        }
        None
    }
}
