//! What a program may ask of the compiler at most, whatever its length (`docs/limits.md`): so that a few lines that double what the
//! line before says are refused, and not worked on for ever.

/// Scalars of a value: of a record with all that is in it, of a vector with all its elements.
pub const SCALARS: u64 = 8_192;
/// Records and vectors in each other.
pub const TYPE_DEPTH: u32 = 64;
/// Layers of a stack, and of a bundle.
pub const LAYERS: u64 = 1_024;
/// Layers that stand on one.
pub const ABOVE_ONE: usize = 256;
/// Bundles in each other.
pub const BUNDLE_DEPTH: u32 = 32;
/// Statements and values of a function or handler, those of all functions that it calls written out.
pub const CODE: u64 = 1 << 16;
/// The same of all handlers of a stack.
pub const CODE_OF_STACK: u64 = 1 << 19;
/// Functions that call each other.
pub const CALL_DEPTH: u32 = 256;
/// Containers of a layer, those within others counted.
pub const CONTAINERS: u64 = 1_024;
/// Octets of texts that are read once more wherever they are used, in all: of containers, and of layers that were given containers
/// or functions.
pub const WRITTEN_OUT: u64 = 1 << 22;
/// Constants, names of types and signatures that each depend on the next.
pub const ASKED_DEPTH: u32 = 64;
/// Reports that guess what was meant; those behind them only say what is wrong.
pub const GUESSES: usize = 200;
/// Reports of a program; more are left out.
pub const REPORTS: usize = 2_000;
/// Rounds of all loops of a handler, those within others multiplied.
pub const ROUNDS: u64 = 1 << 24;
