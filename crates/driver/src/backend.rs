//! The back ends, by their names.

use crate::failure::Failure;

/// A back end. Both must behave alike (docs/semantics.md, E1); the interpreter needs no C compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    Interpreter,
    C,
}

impl Backend {
    /// The name in `--backend`, `Mokume.toml`, records and `--format json`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Interpreter => "interpreter",
            Backend::C => "c",
        }
    }

    /// The back end of a name in `--backend` and `Mokume.toml`.
    pub fn named(name: &str) -> Result<Backend, Failure> {
        match name {
            "interpreter" => Ok(Backend::Interpreter),
            "c" => Ok(Backend::C),
            other => Err(Failure::of_use(format!("there is no backend `{other}`"), "there are: interpreter, c")),
        }
    }
}
