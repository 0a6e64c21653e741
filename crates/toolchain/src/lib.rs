//! From C to something that runs: finds the system's compiler, compiles and links, and opens what came of it.
//!
//! Knows nothing of what the C says. What was built is found again in the cache by a hash of everything that went into
//! it: a start of the compiler costs more than anything else here.
//!
//! Invariant: files, programs and the environment are reached through [`World`] only; a shared object is opened in one
//! place, [`Library`].

mod compile;
mod library;

use std::fmt;
use std::path::PathBuf;

use mokume_base::World;

pub use compile::{command, compile, missing_library};
pub use library::Library;

/// What is to be built, and where.
#[derive(Clone)]
pub struct Job<'w> {
    pub world: &'w dyn World,
    /// The compiler's command; see [`command`] for `None`.
    pub compiler: Option<String>,
    /// `-O0` to `-O3`.
    pub optimize: u8,
    pub sanitize: Sanitize,
    pub product: Product,
    /// More flags for the compiler.
    pub flags: Vec<String>,
    /// Name and text of each file; they include each other by these names.
    pub files: Vec<(String, String)>,
    /// Those of the files that are compiled; the others are included.
    pub units: Vec<String>,
    /// Files that somebody else wrote, compiled as their author's compiler does: what is warned of is said, and no error.
    pub foreign: Vec<String>,
    /// Libraries of the system, as `-l` names them.
    pub libraries: Vec<String>,
    /// The folder in which each job has one of its own.
    pub cache: PathBuf,
    /// The name of what is made.
    pub name: &'static str,
}

/// What is looked at while the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sanitize {
    Nothing,
    /// Address and undefined; every finding ends the program. Needs [`Product::Program`].
    AddressUndefined,
}

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Product {
    /// A shared object, for [`Library::open`].
    Shared,
    /// A program of its own, for [`World::start`].
    Program,
}

/// What was built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    pub path: PathBuf,
    /// What the compiler warns of in files that somebody else wrote.
    pub warnings: String,
}

/// Why there is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    NoCompiler {
        command: String,
    },
    /// The compiler's first words.
    Compiler {
        command: String,
        message: String,
    },
    /// The same about a file that somebody else wrote, by its name.
    Foreign {
        command: String,
        unit: String,
        message: String,
    },
    /// What was compiled does not become one: a function that nobody has, a library that is not there.
    Linker {
        command: String,
        message: String,
    },
    /// A shared object that the system does not open.
    Opening {
        path: PathBuf,
        reason: String,
    },
    /// A file or a folder that cannot be read, written or opened.
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
            Failure::Compiler { command, message } => write!(f, "`{command}` refused generated C: {message}"),
            Failure::Foreign { command, unit, message } => write!(f, "`{command}` refused `{unit}`: {message}"),
            Failure::Linker { command, message } => write!(f, "`{command}` cannot link: {message}"),
            Failure::Opening { path, reason } => write!(f, "{} cannot be opened: {reason}", path.display()),
            Failure::Io { path, reason } => write!(f, "{}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for Failure {}
