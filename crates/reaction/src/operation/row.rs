//! What the table says of an operation, and what follows from that.

use super::{Effects, Kind, Slot};
use crate::value::{CellId, FunctionId, Value};

/// A line of the table.
#[derive(Debug)]
pub struct Row {
    /// The operation's name in Rust.
    pub name: &'static str,
    /// How it is written: `get {object}.{cell}`; see [`super::template`].
    pub text: &'static str,
    /// Its operands and what it names, in the order of the text.
    pub fields: &'static [(&'static str, Kind)],
    /// What it gives; of a fallible one, where it is not refused.
    pub results: &'static [Given],
    /// What a fallible one gives where it is refused.
    pub otherwise: &'static [Given],
    /// A refusal leaves the messages among the operands to whoever asked.
    pub gives_back: bool,
    pub(super) effects: Effects,
}

/// Where the type of a result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// The type that the operation names.
    Named,
    /// That of the first value among the operands.
    First,
    /// That of the operands that are alike.
    Alike,
    Truth,
    Word16,
    Word32,
    Word64,
    Message,
    Reason,
    /// What one place of the cell holds.
    Element,
    /// All that the array of a cell holds.
    Whole,
    /// One of the array's.
    Item,
    /// A reference to an object of the class that the operation names.
    Reference,
    /// A reference to an object of the same class as the operand.
    Fellow,
    /// A reference to what the operand was made in.
    Enclosing,
    /// The types of what is named: a stack's parameter, an attribute, the octet field.
    Param,
    Attribute,
    Field,
    /// Several: the function's results, what it gives back where it refuses, the header's fields, the map's values, what a
    /// function in C gives.
    Results,
    Refused,
    Fields,
    Values,
    Native,
}

/// What the table says of one operation; of those that branch as of those that do not.
pub trait Operation {
    fn row(&self) -> &'static Row;

    /// Its fields with what they hold, in the order of [`Row::fields`].
    fn slots(&self) -> Vec<Slot<'_>>;

    /// Runs `f` on each value among the operands, in the order of the text.
    fn for_each_operand(&self, f: &mut dyn FnMut(Value));

    fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Value));

    /// What it does beside giving its results.
    fn effects(&self) -> Effects {
        self.row().effects
    }

    /// The values among the operands, in the order of the text.
    fn operands(&self) -> Vec<Value> {
        let mut found = Vec::new();
        self.for_each_operand(&mut |value| found.push(value));
        found
    }

    /// The message that is only looked at; all other messages among the operands are used up.
    fn borrowed(&self) -> Option<Value> {
        self.values_of(Kind::Borrowed)
    }

    /// The object and the cell that it works on.
    fn cell(&self) -> Option<(Value, CellId)> {
        let slots = self.slots();
        let cell = slots.iter().find_map(Slot::cell)?;
        Some((slots.iter().find_map(Slot::value)?, cell))
    }

    /// The function that it calls, or the procedure that it runs.
    fn function(&self) -> Option<FunctionId> {
        self.slots().into_iter().find_map(|slot| match slot {
            Slot::Function(function) => Some(function),
            _ => None,
        })
    }

    /// Whether it uses a message up, whatever comes of it.
    fn consumes(&self) -> bool {
        self.row().fields.iter().any(|(_, kind)| matches!(kind, Kind::Message | Kind::PerhapsMessage))
    }

    /// Whether nothing is missed if it is left out and nobody uses its results.
    fn is_removable(&self) -> bool {
        (self.effects() - Effects::READS).is_empty() && !self.consumes()
    }

    /// Whether it does and gives the same before and after whatever other objects do meanwhile, and reports nothing.
    fn is_indifferent(&self) -> bool {
        !self.effects().intersects(Effects::READS | Effects::WRITES | Effects::EMITS | Effects::REPORTS)
    }

    #[doc(hidden)]
    fn values_of(&self, wanted: Kind) -> Option<Value> {
        let place = self.row().fields.iter().position(|(_, kind)| *kind == wanted)?;
        self.slots().get(place).and_then(Slot::value)
    }
}
