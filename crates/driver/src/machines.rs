//! The machines that run a stack: the interpreter (the uncomposed layers, the reference) or C (the composed stack).

use std::sync::{Arc, Mutex, PoisonError};

use mokume_base::world::World;
use mokume_emit_c::{Build, BuildError, CMachine, CProgram, Memory, REPORTS};
use mokume_interpret::Instance;
use mokume_reaction::profile::Profile;
use mokume_reaction::{Automaton, Body, Machine, Op, OpKind, Port};
use mokume_script::Written;
use mokume_toolchain as toolchain;

use crate::apart::Seen;
pub use crate::backend::Backend;
use crate::cache;
use crate::compile::Compiled;
use crate::failure::Failure;
use crate::natives;
use crate::settings;

/// The C compiler's command: the environment's `CC`, else `cc`.
pub fn compiler(world: &dyn World) -> String {
    toolchain::command(world, None)
}

/// The stacks as one compiled program.
pub fn program(automata: &[&Automaton], build: &Build<'_>) -> Result<Arc<CProgram>, Failure> {
    CProgram::build(automata, build).map(Arc::new).map_err(|error| match error {
        BuildError::Toolchain(toolchain::Failure::Io { path, reason }) => Failure::of_use(
            format!("what is compiled cannot be kept at {}: {reason}", path.display()),
            "is the folder writable? XDG_CACHE_HOME names another",
        ),
        other => natives::no_compiler(&other).unwrap_or_else(|| {
            Failure::of_program(other.to_string(), "use `--backend interpreter`, and please report this")
        }),
    })
}

/// The stack in C, emitted, compiled and loaded once for all its machines, which share the program's locks.
fn in_c(compiled: &Compiled, world: &dyn World) -> Result<Arc<CProgram>, Failure> {
    let mut known = compiled.in_c.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = &*known {
        return Ok(program.clone());
    }
    if let Some(reason) = &compiled.by_models {
        return Err(reason.clone());
    }
    let build = compiled.native_files.with(&[compiled.for_c()], Build::new(world, cache::folder(world)));
    let built = program(&[compiled.for_c()], &build)?;
    Ok(known.insert(built).clone())
}

/// A machine for real traffic: with the buffers that composing computed, each large enough for the devices' frames.
pub fn machine(
    compiled: &Compiled,
    backend: Backend,
    params: &[u64],
    seed: u64,
    longest: u32,
    world: &dyn World,
) -> Result<Box<dyn Machine + Send>, Failure> {
    match backend {
        Backend::Interpreter => {
            let instance = Instance::new(&compiled.uncomposed, params, seed);
            Ok(Box::new(instance.with_natives(compiled.natives.clone())))
        }
        Backend::C => {
            let program = in_c(compiled, world)?;
            let buffers = compiled.composed.pool.max(64) * 2;
            let buffer_octets = longest.max(LONGEST) + 512;
            let outputs = room_for_outputs(&compiled.composed);
            let memory = Memory { buffers, buffer_octets, messages: buffers * 2, outputs, reports: REPORTS };
            let machine = CMachine::new(&program, 0, params, seed, memory);
            Ok(Box::new(Seen(machine.map_err(|error| Failure::of_program(error.to_string(), error.way_out()))?)))
        }
    }
}

/// Wraps an instance that runs a host's layers in a machine; gets its parameters and its seed, too.
pub type Before<'a> = &'a dyn Fn(Instance, &[u64], u64) -> Box<dyn Machine>;

/// How watched hosts are run, and what is recorded.
#[derive(Clone, Copy)]
pub enum Noted<'a> {
    /// The ways of their reactions are added to a profile.
    Ways(&'a Arc<Mutex<Profile>>),
    /// They run this automaton, which is the same but has paths, and the counts of taken paths are added up.
    Paths(&'a Automaton, &'a Arc<Mutex<Vec<u64>>>),
    /// They run their layers, wrapped by the watcher.
    Behind(Before<'a>),
}

/// An interpreter machine that is watched: for ways it runs the composed stack without procedures; for paths, with
/// paths.
pub fn watched(compiled: &Compiled, params: &[u64], seed: u64, noted: Noted<'_>) -> Box<dyn Machine> {
    let instance = match noted {
        Noted::Ways(profile) => {
            let mut instance = Instance::new(&mokume_analyse::laid_open(&compiled.composed), params, seed);
            instance.record_ways(Arc::clone(profile));
            instance
        }
        Noted::Paths(fused, taken) => Instance::new(fused, params, seed).with_paths_counted(Arc::clone(taken)),
        Noted::Behind(put_before) => {
            return put_before(layers(compiled, params, seed), params, seed);
        }
    };
    Box::new(instance.with_natives(compiled.natives.clone()))
}

/// An instance of the layers as they are written.
pub fn layers(compiled: &Compiled, params: &[u64], seed: u64) -> Instance {
    Instance::new(&compiled.uncomposed, params, seed).with_natives(compiled.natives.clone())
}

/// The longest message that an application may send (docs/language.md, section 10), and the largest datagram of the
/// internet.
const LONGEST: u32 = 1 << 16;

/// Room for the most outputs of a reaction (docs/semantics.md, M6).
pub fn room_for_outputs(automaton: &Automaton) -> u32 {
    automaton.composition.as_ref().map_or(0, |composition| composition.outputs).max(1024)
}

/// The failure if a machine had no room for something: then it did not behave as the stack says.
pub fn check_room(machine: &dyn Machine, who: &str) -> Result<(), Failure> {
    match machine.exhausted() {
        0 => Ok(()),
        times => Err(Failure::of_program(
            format!("{who} ran out of room for messages, outputs or reports, {times} times"),
            "use `--backend interpreter`, and please report this",
        )),
    }
}

/// The values of a stack's parameters: set ones, else the default, else what `given` says; one without any is an error.
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
    // What belongs to a device is set by itself, `device.mac`; the parts of a value of the stack are set together.
    let is_device = |name: &str| automaton.ports.iter().any(|port| port.name == name);
    let as_set = |name: &'_ str| match name.split_once('.') {
        Some((whole, _)) if !is_device(whole) => whole.to_string(),
        _ => name.to_string(),
    };
    let mut missing = automaton.params.iter().zip(&values).filter(|(_, value)| value.is_none());
    match missing.next().map(|(param, _)| (&param.name, as_set(&param.name))) {
        None => Ok(values.into_iter().flatten().collect()),
        Some((part, first)) => {
            let mut lists = written.lists.iter();
            let list =
                lists.find(|(list, _)| part.strip_prefix(list.as_str()).is_some_and(|rest| rest.starts_with('.')));
            let help = match list {
                Some((list, form)) => settings::as_list(automaton, list, form),
                None => format!("give it one: `--set {first}=…`"),
            };
            Err(Failure::of_use(format!("the stack's parameter `{first}` has no value"), help))
        }
    }
}

/// The event by which a port takes a frame: the only one with a message and no other parameter.
pub fn frame_event(port: &Port) -> Option<u32> {
    let takes = |params: &[(String, mokume_reaction::Type)]| matches!(params, [(_, mokume_reaction::Type::Msg)]);
    port.inputs.iter().position(|input| takes(&input.params)).map(|index| index as u32)
}

/// Whether the stack's code reads a parameter of such a name, as the station address that each device declares.
pub fn reads(automaton: &Automaton, is_it: impl Fn(&str) -> bool) -> bool {
    let is_read = |op: &Op| matches!(op.kind, OpKind::Param { param } if is_it(&automaton.params[param.index()].name));
    automaton.bodies().flat_map(Body::ops).any(is_read)
}
