//! The codes of this crate, each defined where it is used. `docs/diagnostics` says what they mean.

use mokume_base::Code;

use crate::advice::QUEUED;
use crate::cycles::CYCLE;
use crate::pool::{OUTPUTS, POOL};

/// All codes of this crate.
pub const CODES: &[Code] = &[CYCLE, POOL, QUEUED, OUTPUTS];
