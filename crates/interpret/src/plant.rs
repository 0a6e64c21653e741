//! A state that no input has led to, for tests that replay what a prover says: one cell at a time.

use mokume_reaction::{CellId, ClassId, Handle};

use crate::instance::Instance;
use crate::store::{object_of, Content};

impl Instance {
    /// Sets a scalar cell of an object; false if it is no such cell. Nothing is checked: not for running stacks.
    #[doc(hidden)]
    pub fn set_cell(&mut self, class: ClassId, object: Handle, cell: CellId, value: u64) -> bool {
        match self.core.store.cell_mut(class, object_of(object), cell) {
            Some(Content::Word(word)) => {
                *word = value;
                true
            }
            _ => false,
        }
    }
}
