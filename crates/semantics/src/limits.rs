//! The most that a program may ask of the compiler, whatever its length (`docs/limits.md`). Without limits, a few lines
//! that each double the previous one would keep the compiler busy for ever.

/// Scalars of a value, with all nested records and all elements of vectors.
pub const SCALARS: u64 = 8_192;
/// Nesting of records and vectors.
pub const TYPE_DEPTH: u32 = 64;
/// Layers of a stack, and of a bundle.
pub const LAYERS: u64 = 1_024;
/// Layers over one layer.
pub const ABOVE_ONE: usize = 256;
/// Nesting of bundles.
pub const BUNDLE_DEPTH: u32 = 32;
/// Statements and values of a function or handler, with all functions that it calls inlined.
pub const CODE: u64 = 1 << 16;
/// The same for all handlers of a stack.
pub const CODE_OF_STACK: u64 = 1 << 19;
/// Nesting of calls.
pub const CALL_DEPTH: u32 = 256;
/// Containers of a layer, including nested ones.
pub const CONTAINERS: u64 = 1_024;
/// Total octets of texts that are instantiated at each use: of containers, and of layers with containers or functions
/// as arguments.
pub const WRITTEN_OUT: u64 = 1 << 22;
/// Chains of constants, type names and signatures that each depend on the next.
pub const ASKED_DEPTH: u32 = 64;
/// Reports that guess what was meant; later ones only say what is wrong.
pub const GUESSES: usize = 200;
/// Reports of a program; further ones are left out.
pub const REPORTS: usize = 2_000;
/// Iterations of all loops of a handler; those of nested loops are multiplied.
pub const ROUNDS: u64 = 1 << 24;
