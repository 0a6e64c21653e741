//! The codes that this crate gives, each defined where it is found. What they mean stands in `docs/diagnostics`.

use mokume_base::Code;

use crate::advice::QUEUED;
use crate::cycles::CYCLE;
use crate::pool::{OUTPUTS, POOL};

/// All codes of this crate.
pub const CODES: &[Code] = &[CYCLE, POOL, QUEUED, OUTPUTS];
