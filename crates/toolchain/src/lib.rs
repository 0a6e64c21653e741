//! From C to something that runs: finds the system's compiler, compiles and links, and opens the result.
//!
//! Knows nothing about the content of the C. The cache finds a built product by a hash of everything that went into it,
//! since running the compiler costs more than anything else here.
//!
//! Invariant: files, programs and the environment are accessed through [`World`] only; [`Library`] is the only place
//! that opens a shared object.

mod compile;
mod library;

use std::fmt;
use std::path::PathBuf;

use mokume_base::World;

pub use compile::{broken_compiler, command, compile, invocation, missing_library};
pub use library::Library;

/// What to build, and where.
#[derive(Clone)]
pub struct Job<'w> {
    pub world: &'w dyn World,
    /// The compiler's command; see [`command`] for `None`.
    pub compiler: Option<String>,
    /// `-O0` to `-O3`.
    pub optimize: u8,
    pub sanitize: Sanitize,
    pub product: Product,
    /// Additional flags for the compiler.
    pub flags: Vec<String>,
    /// Name and text of each file; they include each other by these names.
    pub files: Vec<(String, String)>,
    /// The names of the files to compile; the others are included.
    pub units: Vec<String>,
    /// Foreign files: written by somebody else, and compiled with the compiler's default dialect. Warnings about them
    /// are reported, but are not errors.
    pub foreign: Vec<String>,
    /// Libraries of the system, as `-l` names them.
    pub libraries: Vec<String>,
    /// The folder of the cache. Each job has a folder in it.
    pub cache: PathBuf,
    /// The name of the product.
    pub name: &'static str,
}

/// The checks that run with the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sanitize {
    Nothing,
    /// The address and undefined-behaviour sanitizers; every finding ends the program. Needs [`Product::Program`].
    AddressUndefined,
}

/// The kind of product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Product {
    /// A shared object, for [`Library::open`].
    Shared,
    /// An executable, for [`World::start`].
    Program,
}

/// The built product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    pub path: PathBuf,
    /// The compiler's warnings about foreign files.
    pub warnings: String,
}

/// Why nothing was built or opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    NoCompiler {
        command: String,
    },
    /// The compiler cannot compile and link the smallest program either; the first line of its message.
    Broken {
        command: String,
        message: String,
    },
    /// The compiler refused a file; the first lines of its message.
    Compiler {
        command: String,
        message: String,
    },
    /// The compiler refused a foreign file, which is named.
    Foreign {
        command: String,
        unit: String,
        message: String,
    },
    /// The linker failed: a function is undefined, or a library is missing.
    Linker {
        command: String,
        message: String,
    },
    /// The system could not open a shared object.
    Opening {
        path: PathBuf,
        reason: String,
    },
    /// A file or folder could not be read, written or opened.
    Io {
        path: PathBuf,
        reason: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoCompiler { command } => {
                write!(
                    f,
                    "there is no C compiler `{command}`: install one, or name yours in the environment variable CC"
                )
            }
            Failure::Broken { command, message } => {
                write!(f, "the C compiler `{command}` does not work: {message}")
            }
            Failure::Compiler { command, message } => write!(f, "`{command}` refused generated C: {message}"),
            Failure::Foreign { command, unit, message } => write!(f, "`{command}` refused `{unit}`: {message}"),
            Failure::Linker { command, message } => write!(f, "`{command}` cannot link: {message}"),
            Failure::Opening { path, reason } => write!(f, "{} cannot be opened: {reason}", path.display()),
            Failure::Io { path, reason } => write!(f, "{}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for Failure {}
