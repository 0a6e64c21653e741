//! What who lowers a stack may ask for.

use crate::fault::Fault;

/// How a stack is to be lowered.
#[derive(Clone, Debug)]
pub struct Options {
    /// Deadlines are rounded up to a multiple of it, in nanoseconds.
    pub tick: u64,
    /// Functions in C are their models: for tools that look at what a stack does, and where there is no C compiler.
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
    /// Whether a planted fault is switched on; only test builds have any.
    #[cfg(test)]
    pub(crate) fn faulty(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    pub(crate) fn faulty(&self, _fault: Fault) -> bool {
        false
    }
}
