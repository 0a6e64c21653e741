//! Options of lowering.

use crate::fault::Fault;

/// Options of lowering.
#[derive(Clone, Debug)]
pub struct Options {
    /// Timer deadlines are rounded up to a multiple of this, in nanoseconds.
    pub tick: u64,
    /// Functions in C are replaced by their models: for tools that analyse a stack, and if there is no C compiler.
    pub models: bool,
    #[cfg(test)]
    pub(crate) fault: Option<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tick: 1,
            models: false,
            #[cfg(test)]
            fault: None,
        }
    }
}

impl Options {
    /// Whether a planted fault is enabled; only test builds have any.
    #[cfg(test)]
    pub(crate) fn faulty(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    pub(crate) fn faulty(&self, _fault: Fault) -> bool {
        false
    }
}
