//! Who runs a stack: the interpreter (the uncomposed layers, the reference) or C (the composed stack).

use std::sync::Arc;

use mokume_base::world::World;
use mokume_emit_c::{Build, BuildError, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Machine, OpKind};
use mokume_script::Written;
use mokume_toolchain as toolchain;

use crate::cache;
use crate::compile::Compiled;
use crate::failure::Failure;
use crate::settings;

/// Who runs a stack. Both must do the same (docs/semantics.md, E1); the interpreter needs no compiler of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    Interpreter,
    C,
}

impl Backend {
    /// As `--backend` and `Mokume.toml` name it.
    pub fn named(name: &str) -> Result<Backend, Failure> {
        match name {
            "interpreter" => Ok(Backend::Interpreter),
            "c" => Ok(Backend::C),
            other => Err(Failure::of_use(format!("there is no backend `{other}`"), "there are: interpreter, c")),
        }
    }
}

/// The command of the C compiler: what the environment says in `CC`, else `cc`.
pub fn compiler(world: &dyn World) -> String {
    toolchain::command(world, None)
}

/// The stacks as one compiled program.
pub fn program(automata: &[&Automaton], build: &Build<'_>) -> Result<Arc<CProgram>, Failure> {
    CProgram::build(automata, build).map(Arc::new).map_err(|error| match error {
        BuildError::Toolchain(toolchain::Failure::NoCompiler { command }) => Failure::of_use(
            format!("there is no C compiler `{command}`"),
            "install one (`apt install gcc`), name yours in CC, or use `--backend interpreter`",
        ),
        BuildError::Toolchain(toolchain::Failure::Io { path, reason }) => Failure::of_use(
            format!("what is compiled cannot be kept at {}: {reason}", path.display()),
            "is the folder writable? XDG_CACHE_HOME names another",
        ),
        other => Failure::of_program(other.to_string(), "use `--backend interpreter`, and please report this"),
    })
}

/// A machine for real traffic: as many buffers as composing asked for, each long enough for the devices' frames.
pub fn machine(
    compiled: &Compiled,
    backend: Backend,
    params: &[u64],
    seed: u64,
    longest: u32,
    world: &dyn World,
) -> Result<Box<dyn Machine>, Failure> {
    match backend {
        Backend::Interpreter => {
            let instance = Instance::new(&compiled.uncomposed, params, seed);
            Ok(Box::new(instance.with_natives(compiled.natives.clone())))
        }
        Backend::C => {
            let build = compiled.native_files.with(&[&compiled.composed], Build::new(world, cache::folder(world)));
            let program = program(&[&compiled.composed], &build)?;
            let buffers = compiled.composed.pool.max(64) * 2;
            let longest = if joins(&compiled.composed) { longest.max(LONGEST_JOINED) } else { longest };
            let memory =
                Memory { buffers, buffer_octets: longest + 512, messages: buffers * 2, outputs: 1024, reports: 64 };
            let machine = CMachine::new(&program, 0, params, seed, memory);
            Ok(Box::new(machine.map_err(|error| Failure::of_program(error.to_string(), error.way_out()))?))
        }
    }
}

/// What a stack that joins messages may make of small frames: the largest datagram of the internet.
const LONGEST_JOINED: u32 = 1 << 16;

/// Whether a stack puts messages together, and so may make large ones of small ones.
pub fn joins(automaton: &Automaton) -> bool {
    automaton.bodies().flat_map(|body| body.ops()).any(|op| matches!(op.kind, OpKind::Join { .. }))
}

/// The values of a stack's parameters: what is set, else the default, else what `given` says; one without any is an error.
pub fn parameters(
    automaton: &Automaton,
    written: &Written,
    set: &[(String, String)],
    given: &dyn Fn(&str) -> Option<u64>,
) -> Result<Vec<u64>, Failure> {
    let mut values: Vec<Option<u64>> =
        automaton.params.iter().map(|param| given(&param.name).or(param.default)).collect();
    for (name, text) in set {
        for (index, word) in settings::assign(automaton, written, name, text)? {
            let width = automaton.params[index].ty.width(automaton);
            if width < 64 && word >> width != 0 {
                return Err(Failure::of_use(
                    format!("`{text}` is too large for `{}`, which has {width} bits", automaton.params[index].name),
                    "choose a smaller value",
                ));
            }
            values[index] = Some(word);
        }
    }
    let missing: Vec<&str> = automaton
        .params
        .iter()
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|(param, _)| param.name.split('.').next().unwrap_or_default())
        .collect();
    match missing.first() {
        None => Ok(values.into_iter().flatten().collect()),
        Some(first) => Err(Failure::of_use(
            format!("the stack's parameter `{first}` has no value"),
            format!("give it one: `--set {first}=…`"),
        )),
    }
}
