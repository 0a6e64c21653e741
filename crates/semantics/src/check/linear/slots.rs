//! What is known of a message on the paths to one place.

use mokume_base::Span;

#[derive(Clone, PartialEq)]
pub(super) enum Slot {
    /// Not a message, or not bound yet.
    Absent,
    Held,
    Given(Gone),
    /// Given away on some of the paths to this place.
    Mixed {
        given: Gone,
        leak: (Span, String),
    },
}

/// Where and how a message was given away.
#[derive(Clone, PartialEq)]
pub(super) struct Gone {
    pub span: Span,
    pub verb: &'static str,
}

/// What is known of each local; `None` at an unreachable place.
pub(super) type State = Option<Vec<Slot>>;

/// A branch that comes to a join, and its name in reports.
pub(super) struct Branch {
    pub state: State,
    pub span: Span,
    pub text: &'static str,
}

/// What is known where branches meet.
pub(super) fn meet(name: &str, index: usize, branches: &[&Branch]) -> Slot {
    let slots = || branches.iter().filter_map(|branch| Some((*branch, branch.state.as_ref()?.get(index)?)));
    let first = slots().next().map_or(Slot::Absent, |(_, slot)| slot.clone());
    if let Some((_, mixed)) = slots().find(|(_, slot)| matches!(slot, Slot::Mixed { .. })) {
        return mixed.clone();
    }
    let held = slots().find(|(_, slot)| matches!(slot, Slot::Held));
    let given = slots().find_map(|(_, slot)| if let Slot::Given(gone) = slot { Some(gone.clone()) } else { None });
    match (held, given) {
        (Some((branch, _)), Some(given)) => {
            Slot::Mixed { given, leak: (branch.span, format!("{}, `{name}` is still held", branch.text)) }
        }
        _ => first,
    }
}
