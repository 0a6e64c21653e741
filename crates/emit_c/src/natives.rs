//! The shared object of a program's functions in C, for the interpreter.

use std::sync::Mutex;

use mokume_reaction::{Automaton, Natives};
use mokume_toolchain::Library;

use crate::build::{build_shared, Build, BuildError};
use crate::native::{shim, signatures};

/// The layout of `mk_native` in the runtime.
#[repr(C)]
struct Octets {
    octets: *mut u8,
    size: u32,
    room: u32,
}

type Call = unsafe extern "C" fn(*const u64, *mut Octets) -> u64;

/// Functions in C, compiled and loaded.
pub struct Loaded {
    calls: Vec<(String, Call)>,
    /// Allows one call at a time: C code may have its own state.
    turn: Mutex<()>,
    _library: Library,
    /// The compiler's warnings about their files.
    pub warnings: String,
}

impl Loaded {
    /// Compiles the files of [`Build::natives`] with wrappers for what the automaton calls; `None` if it calls nothing.
    pub fn build(automaton: &Automaton, build: &Build<'_>) -> Result<Option<Loaded>, BuildError> {
        let signatures = signatures(automaton);
        if signatures.is_empty() {
            return Ok(None);
        }
        let (library, warnings) = build_shared(&shim(automaton, &signatures), build)?;
        let mut calls = Vec::new();
        for signature in signatures {
            // SAFETY: the type is that of the shims, and the library is kept beside them.
            let call = unsafe { library.function::<Call>(&format!("mk_call_{}", signature.symbol)) }?;
            calls.push((signature.symbol, call));
        }
        Ok(Some(Loaded { calls, turn: Mutex::new(()), _library: library, warnings }))
    }
}

impl Natives for Loaded {
    fn call(&self, symbol: &str, args: &[u64], octets: Option<(&mut Vec<u8>, u32)>) -> u64 {
        let Some((_, call)) = self.calls.iter().find(|(known, _)| known == symbol) else { return 0 };
        let _turn = self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match octets {
            // SAFETY: the shim reads as many words as the function has parameters, which the verifier has counted, and the
            // function stays within `room` octets, as its author promises.
            None => unsafe { call(args.as_ptr(), std::ptr::null_mut()) },
            Some((octets, room)) => {
                let size = octets.len() as u32;
                octets.resize(room.max(size) as usize, 0);
                let mut view = Octets { octets: octets.as_mut_ptr(), size, room: room.max(size) };
                // SAFETY: as above; `view` points to `room` octets of ours.
                let result = unsafe { call(args.as_ptr(), &mut view) };
                octets.truncate(view.size as usize);
                result
            }
        }
    }
}
