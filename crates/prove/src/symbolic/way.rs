//! A way through one handler: its values by number, and its emissions.

use mokume_reaction::{Body, CellId, Type, Value as Id};

use super::{Leaf, Message, Object, Out, Value};
use crate::term::Term;

/// The values of one body, by number.
pub(super) type Frame = Vec<Option<Value>>;

/// An emission. Emissions are delivered in order when the handler has ended; an output at a port is an emission like
/// the others.
#[derive(Clone, Debug)]
pub(crate) enum Emission {
    /// An event for an object. `null`: the condition that there is no receiver, if that is a question.
    Call {
        target: To,
        null: Option<Term>,
        event: String,
        args: Vec<Value>,
    },
    Out(Out),
    /// The result of a function that is read as a handler, and whether it refuses.
    Given {
        values: Vec<Value>,
        is_refused: bool,
    },
}

/// The receiver of an emission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum To {
    Object(Object),
    /// The object that a cell refers to at delivery.
    Linked(Object, CellId),
}

/// A way through one handler, with its emissions.
pub(super) struct Way {
    pub(super) leaf: Leaf,
    pub(super) frame: Frame,
    pub(super) block: usize,
    pub(super) emissions: Vec<Emission>,
    /// The number of blocks entered, to detect loops.
    pub(super) steps: usize,
    /// How often it came back to an earlier block.
    pub(super) rounds: usize,
    /// The types of the body's values.
    pub(super) types: Vec<Type>,
}

pub(super) enum Ended {
    Ways(Vec<Way>),
    Finished(Leaf, Vec<Emission>),
    Escape(Leaf, String),
}

pub(super) enum Kind {
    Object,
    Array,
    Other,
}

pub(super) fn enter(body: &Body, leaf: Leaf, args: &[Value]) -> Way {
    let mut frame: Frame = vec![None; body.values.len()];
    for (param, value) in body.blocks[0].params.iter().zip(args) {
        frame[param.index()] = Some(value.clone());
    }
    let types = body.values.iter().map(|info| info.ty).collect();
    Way { leaf, frame, block: 0, emissions: Vec::new(), steps: 0, rounds: 0, types }
}

impl Way {
    pub(super) fn value(&self, id: Id) -> Result<Value, String> {
        match self.frame[id.index()].clone() {
            Some(value) => Ok(value),
            None => Err("a value that is not there".to_string()),
        }
    }

    pub(super) fn bits(&self, id: Id) -> Result<Term, String> {
        match self.value(id)? {
            Value::Bits(term) => Ok(term),
            _ => Err("a number where there is none".into()),
        }
    }

    /// The object of a value that is read or written through.
    pub(super) fn object(&mut self, id: Id) -> Result<Object, String> {
        match self.value(id)? {
            Value::Object(object) => Ok(object),
            Value::Perhaps(object, null) => {
                if !self.leaf.looked.contains(&(object, null)) {
                    self.leaf.looked.push((object, null));
                }
                Ok(object)
            }
            _ => Err("a handle that is not known".into()),
        }
    }

    pub(super) fn message(&self, id: Id) -> Result<Message, String> {
        match self.value(id)? {
            Value::Message(message) => Ok(*message),
            _ => Err("a message where there is none".into()),
        }
    }

    pub(super) fn ty(&self, id: Id) -> Option<Kind> {
        Some(match self.frame[id.index()].as_ref()? {
            Value::Object(_) | Value::Null | Value::Perhaps(..) => Kind::Object,
            Value::Array(_) => Kind::Array,
            Value::Bits(_) | Value::Message(_) | Value::Reason(_) => Kind::Other,
        })
    }

    /// The type of an array's items.
    pub(super) fn item(&self, id: Id) -> Option<Type> {
        self.types[id.index()].array().map(|(item, _)| item)
    }

    pub(super) fn circular(&self, id: Id) -> bool {
        matches!(self.types[id.index()], Type::Seq(_))
    }

    pub(super) fn copy(&self) -> Way {
        let emissions = self.emissions.clone();
        Way {
            leaf: self.leaf.clone(),
            frame: self.frame.clone(),
            block: self.block,
            emissions,
            steps: self.steps,
            rounds: self.rounds,
            types: self.types.clone(),
        }
    }

    pub(super) fn escape(self, why: &str) -> Ended {
        Ended::Escape(self.leaf, why.to_string())
    }
}
