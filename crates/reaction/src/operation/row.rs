//! One line of the table, and what follows from it.

use super::{Effects, Kind, Slot};
use crate::value::{CellId, FunctionId, Value};

/// A line of the table.
#[derive(Debug)]
pub struct Row {
    /// The operation's name in Rust.
    pub name: &'static str,
    /// How it is written: `get {object}.{cell}`; see [`super::template`].
    pub text: &'static str,
    /// Its operands and the names in it, in the order of the text.
    pub fields: &'static [(&'static str, Kind)],
    /// The types of its results; for a fallible operation, of its success.
    pub results: &'static [Given],
    /// The types that a fallible operation gives when it refuses.
    pub otherwise: &'static [Given],
    /// If it refuses, the caller keeps the messages among the operands.
    pub gives_back: bool,
    pub(super) effects: Effects,
}

/// Where the type of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// The type that the operation names.
    Named,
    /// The type of the first value among the operands.
    First,
    /// The type of the operands of kind `Alike`.
    Alike,
    Truth,
    Word16,
    Word32,
    Word64,
    Message,
    Reason,
    /// What one place of the cell holds.
    Element,
    /// The whole array of a cell, as a value.
    Whole,
    /// The item type of the array.
    Item,
    /// A reference to an object of the class that the operation names.
    Reference,
    /// A reference to an object of the same class as the operand.
    Fellow,
    /// A reference to the parent of the operand.
    Enclosing,
    /// The type of the named thing: a stack's parameter, an attribute, the octet field.
    Param,
    Attribute,
    Field,
    /// Several types: the function's results, what it gives back when it refuses, the header's fields, the map's
    /// values, what a function in C gives.
    Results,
    Refused,
    Fields,
    Values,
    Native,
}

/// What the table says of one operation, whether it branches or not.
pub trait Operation {
    fn row(&self) -> &'static Row;

    /// Its fields' contents, in the order of [`Row::fields`].
    fn slots(&self) -> Vec<Slot<'_>>;

    /// Runs `f` on each value among the operands, in the order of the text.
    fn for_each_operand(&self, f: &mut dyn FnMut(Value));

    fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Value));

    /// What it does besides giving results.
    fn effects(&self) -> Effects {
        self.row().effects
    }

    /// The values among the operands, in the order of the text.
    fn operands(&self) -> Vec<Value> {
        let mut found = Vec::new();
        self.for_each_operand(&mut |value| found.push(value));
        found
    }

    /// The message that it only reads; it uses up all other messages among the operands.
    fn borrowed(&self) -> Option<Value> {
        self.values_of(Kind::Borrowed)
    }

    /// The object and the cell that it works on.
    fn cell(&self) -> Option<(Value, CellId)> {
        let slots = self.slots();
        let cell = slots.iter().find_map(Slot::cell)?;
        Some((slots.iter().find_map(Slot::value)?, cell))
    }

    /// The function or procedure that it calls.
    fn function(&self) -> Option<FunctionId> {
        self.slots().into_iter().find_map(|slot| match slot {
            Slot::Function(function) => Some(function),
            _ => None,
        })
    }

    /// Whether it uses a message up, whether it succeeds or not.
    fn consumes(&self) -> bool {
        self.row().fields.iter().any(|(_, kind)| matches!(kind, Kind::Message | Kind::PerhapsMessage))
    }

    /// Whether it can be removed if its results are unused.
    fn is_removable(&self) -> bool {
        (self.effects() - Effects::READS).is_empty() && !self.consumes()
    }

    /// Whether its results and effects do not depend on what other objects do meanwhile, and it reports nothing.
    fn is_indifferent(&self) -> bool {
        !self.effects().intersects(Effects::READS | Effects::WRITES | Effects::EMITS | Effects::REPORTS)
    }

    #[doc(hidden)]
    fn values_of(&self, wanted: Kind) -> Option<Value> {
        let place = self.row().fields.iter().position(|(_, kind)| *kind == wanted)?;
        self.slots().get(place).and_then(Slot::value)
    }
}
