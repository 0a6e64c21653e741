//! Reads a way again under its known facts: the arguments of the event, the facts that hold, and the questions asked
//! while reading.

use std::cell::RefCell;

use mokume_reaction::{Automaton, ClassId, HandlerId, Type};

use crate::asking::Asking;
use crate::solver::Answer;
use crate::symbolic::{any_state, plain, sort_of, Message, Origin, Reader, Value};
use crate::term::{Sort, Term, Terms};

/// Facts that are equivalent together, each simplified by those before it.
pub(crate) fn made_simple(terms: &mut Terms, facts: &[Term]) -> Vec<Term> {
    let before = terms.assumed();
    let mut simple = Vec::new();
    for fact in facts {
        let fact = terms.again(*fact);
        terms.assume(fact);
        if terms.constant(fact) != Some(1) {
            simple.push(fact);
        }
    }
    terms.assuming(before);
    simple
}

/// A unique name for a parameter of the event.
pub fn given(place: usize, name: &str) -> String {
    format!("given {place} {}", plain(name))
}

/// Arguments for a handler's event: unknown values.
pub(crate) fn arguments(automaton: &Automaton, handler: HandlerId, reader: &mut Reader) -> Result<Vec<Value>, String> {
    let params = automaton.handler(handler).params.iter().enumerate();
    params.map(|(place, (name, ty))| argument(automaton, (place, name), *ty, reader)).collect()
}

pub(crate) fn argument(
    automaton: &Automaton,
    (place, name): (usize, &str),
    ty: Type,
    reader: &mut Reader,
) -> Result<Value, String> {
    let given = given(place, name);
    Ok(match ty {
        Type::Msg if reader.is_inside => Value::Message(Box::new(Message::unknown_inside(reader.terms, &given))),
        Type::Msg => Value::Message(Box::new(Message::unknown(reader.terms, &given))),
        Type::Ref(_) | Type::Reason | Type::Array(..) => {
            return Err(format!("the event brings `{name}`, which is no number"))
        }
        scalar => Value::Bits(reader.terms.variable(&given, sort_of(automaton, scalar))),
    })
}

/// The fact that no message has 2^31 octets or more.
pub(crate) fn sizes(automaton: &Automaton, handler: HandlerId, terms: &mut Terms) -> Vec<Term> {
    let params = &automaton.handler(handler).params;
    let mut facts = Vec::new();
    for (place, (name, _)) in params.iter().enumerate().filter(|(_, (_, ty))| *ty == Type::Msg) {
        let size = terms.variable(&format!("{}.size", given(place, name)), Sort::Bits(32));
        let most = terms.number(1 << 31, 32);
        facts.push(terms.less(size, most));
    }
    facts
}

/// A reader for a way whose facts hold; it knows the objects that an earlier reading met. Also returns these facts,
/// with those that follow from objects being the same. The reader leaves out impossible ways, and stops when no more
/// questions are to be asked.
pub(crate) fn reader_of<'r>(
    automaton: &'r Automaton,
    (terms, facts): (&'r mut Terms, &[Term]),
    (objects, is_inside): (&[(ClassId, Origin)], bool),
    asking: &'r RefCell<Asking<'_, '_, '_>>,
) -> (Reader<'r>, Vec<Term>) {
    let mut reader = Reader::new(automaton, terms, any_state).knowing(objects.to_vec()).inside(is_inside);
    let same = reader.same_objects();
    asking.borrow_mut().learn(reader.terms, &same);
    same.iter().for_each(|fact| reader.terms.assume(*fact));
    let facts = [facts, &same].concat();
    reader.terms.assume_all(&facts);
    reader.facts.clone_from(&facts);
    reader.without_impossible(|terms, conditions| matches!(asking.borrow_mut().ask(terms, conditions), Answer::Unsat));
    reader.stopped_by(|| asking.borrow_mut().over());
    (reader, facts)
}

/// Assumes facts beside others; later facts also simplify earlier ones.
pub(crate) fn assume(terms: &mut Terms, facts: &[Term], others: &[Term]) {
    for fact in facts {
        let fact = terms.again(*fact);
        terms.assume(fact);
    }
    terms.assume_all(&[others, facts].concat());
}

/// Whether a way is ever taken; an error if that is undecided, which leaves the way open.
pub(crate) fn is_taken(terms: &mut Terms, asking: &RefCell<Asking<'_, '_, '_>>) -> Result<bool, String> {
    match asking.borrow_mut().ask(terms, &[]) {
        Answer::Sat(_) => Ok(true),
        Answer::Unsat => Ok(false),
        Answer::Unknown(why) => Err(format!("whether it is ever taken is not decided: {why}")),
    }
}
