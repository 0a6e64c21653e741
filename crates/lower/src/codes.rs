//! The codes of faults that only a whole stack shows. `docs/diagnostics` says what they mean.

use mokume_base::Code;

/// A local that code names had no value: a fault of the compiler, or of a text that was not read whole.
pub const LOST_VALUE: &str = "M0735";

/// All codes of this crate.
pub const CODES: &[Code] = &[
    Code("M0351"),
    Code("M0648"),
    Code("M0671"),
    Code("M0673"),
    Code("M0720"),
    Code("M0721"),
    Code("M0722"),
    Code("M0723"),
    Code("M0724"),
    Code("M0725"),
    Code("M0726"),
    Code("M0727"),
    Code("M0728"),
    Code("M0729"),
    Code(LOST_VALUE),
    Code("M0743"),
    Code("M0765"),
    Code("M0766"),
    Code("M0767"),
    Code("M0768"),
    Code("M0769"),
    Code("M0770"),
    Code("M0771"),
    Code("M0780"),
];
