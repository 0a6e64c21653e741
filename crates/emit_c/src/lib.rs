//! The C back end: an automaton becomes one C file and one header, on the runtime of `runtime/`.
//!
//! [`emit`] translates. [`CProgram`] compiles any number of stacks into one program, and [`CMachine`] drives a stack in
//! it behind the same interface as the interpreter.
//!
//! Invariant: the C does what the interpreter does (outputs, reports, accounts, handles), and allocates nothing after
//! the start. Each operation is translated in one place; operations that report or count are functions of the runtime,
//! so a generated file reads like the automaton.

mod body;
mod build;
mod doors;
pub mod drive;
mod fault;
mod kept;
mod machine;
mod memos;
mod names;
mod native;
mod natives;
mod plan;
mod program;
mod request;
mod runtime;
mod stack;
mod state;
mod text;
mod tree;
mod types;
mod wires;

pub use build::{file_of, missing_library, Build, BuildError, CProgram, Sanitize, Transport};
pub use doors::memory::Needed;
pub use fault::Fault;
pub use machine::{CMachine, MachineError, Memory, REPORTS};
pub use mokume_toolchain::Failure;
pub use names::{functions_of, why_taken, FUNCTIONS};
pub use native::{declaration, signatures, Signature};
pub use natives::Loaded;
pub use runtime::{RUNTIME, RUNTIME_FAULTS};
pub use stack::{emit, memory, EmitError, Generated, Options};
pub use state::octets::{class_octets, object_octets, record_octets};
