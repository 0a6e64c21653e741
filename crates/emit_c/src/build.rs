//! From automata to a running program: writes the C, compiles it, and opens the result.
//!
//! Many stacks become one program, since starting the compiler costs more than a stack's text.

use std::cell::UnsafeCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use mokume_base::world::Running;
use mokume_base::{Invocation, World};
use mokume_reaction::{Automaton, Unit};
use mokume_toolchain::{Failure, Job, Library, Product};

use crate::fault::Fault;
use crate::machine::Memory;
use crate::names::FUNCTIONS;
use crate::request::{FREE, MAKE, SET_FAULT};
use crate::runtime::RUNTIME;
use crate::stack::{emit, EmitError, Generated, Options};

pub use mokume_toolchain::Sanitize;

const HARNESS: &str = include_str!("harness.c");

/// What to build, and where.
#[derive(Clone)]
pub struct Build<'w> {
    /// Gives access to the compiler, and to its files.
    pub world: &'w dyn World,
    /// The compiler's command; `$CC`, else `cc`, if it is `None`.
    pub compiler: Option<String>,
    /// `-O0` to `-O3`.
    pub optimize: u8,
    pub sanitize: Sanitize,
    pub transport: Transport,
    /// Whether to count how often each branch of a handler is taken.
    pub coverage: bool,
    /// Whether to recompute every recalled memo; a difference is reported as misuse.
    pub check_memos: bool,
    /// Whether to build as `mokume build --size` does: with functions of the runtime where code would be inlined
    /// otherwise.
    pub small: bool,
    /// Names of faults of the runtime that can be switched on (`MK_FAULT`), by number. For tests of tests only.
    pub faults: Vec<&'static str>,
    /// A fault of the generator that is planted. For tests of tests only.
    pub planted: Option<Fault>,
    /// Files with functions in C that the stacks call (name and text of each), and the libraries that these need.
    pub natives: Vec<(String, String)>,
    pub libraries: Vec<String>,
    /// The folder for sources and programs.
    pub cache: PathBuf,
}

/// How a program is driven.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transport {
    /// A shared object in our own process.
    Library,
    /// A separate process. [`Sanitize::AddressUndefined`] needs it.
    Process,
}

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    Emit(EmitError),
    Toolchain(Failure),
}

impl From<Failure> for BuildError {
    fn from(failure: Failure) -> BuildError {
        BuildError::Toolchain(failure)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Emit(error) => error.fmt(f),
            BuildError::Toolchain(failure) => failure.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl<'w> Build<'w> {
    /// A plain, optimised shared object.
    pub fn new(world: &'w dyn World, cache: impl Into<PathBuf>) -> Build<'w> {
        Build {
            world,
            compiler: None,
            optimize: 2,
            sanitize: Sanitize::Nothing,
            transport: Transport::Library,
            coverage: false,
            check_memos: false,
            small: false,
            faults: Vec::new(),
            planted: None,
            natives: Vec::new(),
            libraries: Vec::new(),
            cache: cache.into(),
        }
    }

    fn job(&self, files: Vec<(String, String)>, name: &'static str) -> Job<'w> {
        let is_process = self.transport == Transport::Process;
        let mut flags: Vec<String> = Vec::new();
        if is_process {
            flags.push("-DMK_HARNESS_PROGRAM".into());
        }
        if self.check_memos {
            flags.push("-DMK_CHECK_MEMOS=mk_report_at(&k->core, MK_MISUSE, MK_NOBODY)".into());
        }
        if self.small {
            flags.push("-DMK_SMALL".into());
        }
        if !self.faults.is_empty() {
            flags.extend(["-DMK_WITH_FAULTS".into(), "-include".into(), "faults.h".into()]);
        }
        // The runtime's parts are included by its one file.
        let names = files.iter().map(|(name, _)| name);
        let compiled = names.filter(|name| name.ends_with(".c") && !name.starts_with("mk_")).cloned();
        let is_foreign = |unit: &String| self.natives.iter().any(|(name, _)| *unit == file_of(name));
        let (foreign, units) = compiled.partition(is_foreign);
        Job {
            world: self.world,
            compiler: self.compiler.clone(),
            optimize: self.optimize,
            sanitize: self.sanitize,
            product: if is_process { Product::Program } else { Product::Shared },
            flags,
            files,
            units,
            foreign,
            libraries: self.libraries.clone(),
            cache: self.cache.clone(),
            name,
        }
    }
}

/// Stacks in C, compiled and ready to run.
pub struct CProgram {
    pub(crate) stacks: Vec<StackInfo>,
    pub(crate) link: RwLock<Link>,
    /// Machines that nobody uses any more. Another with as much memory takes the place of one: to give back and get memory that a
    /// stack touches everywhere takes longer than a short run.
    idle: Mutex<Vec<Idle>>,
    /// The path of the built file.
    pub artifact: PathBuf,
}

/// A machine that waits to be another one.
struct Idle {
    stack: usize,
    memory: Memory,
    id: u32,
}

/// So many machines wait at most; the memory of more is given back.
const MOST_IDLE: usize = 16;

/// What is known about one stack of a program.
pub(crate) struct StackInfo {
    pub name: String,
    pub sources: Vec<String>,
    pub counters: Vec<String>,
    pub params: usize,
    pub branches: Vec<(Unit, usize, usize)>,
}

/// The connection to the compiled code.
pub(crate) enum Link {
    Library { call: HarnessCall, _library: Library },
    Process { program: Mutex<Box<dyn Running>> },
}

type HarnessCall = unsafe extern "C" fn(*const u8, *mut Answer);

/// What the harness calls `octets`: it allocates them, and they grow as needed.
#[repr(C)]
pub(crate) struct Answer {
    at: *mut u8,
    size: usize,
    capacity: usize,
}

thread_local! {
    static ANSWER: UnsafeCell<Answer> = const { UnsafeCell::new(Answer { at: std::ptr::null_mut(), size: 0, capacity: 0 }) };
}

impl CProgram {
    /// Emits and compiles the stacks, and opens the program.
    pub fn build(automata: &[&Automaton], build: &Build<'_>) -> Result<CProgram, BuildError> {
        let mut generated = Vec::new();
        for (index, automaton) in automata.iter().enumerate() {
            let options = Options {
                prefix: format!("s{index}_{}", automaton.name),
                functions: FUNCTIONS.to_owned(),
                coverage: build.coverage,
                planted: build.planted,
                ..Options::default()
            };
            generated.push(emit(automaton, &options).map_err(BuildError::Emit)?);
        }
        Self::compile(automata, generated, build)
    }

    /// Compiles stacks that were emitted before; `generated` corresponds to `automata`, one by one.
    pub fn compile(
        automata: &[&Automaton],
        generated: Vec<Generated>,
        build: &Build<'_>,
    ) -> Result<CProgram, BuildError> {
        let name = if build.transport == Transport::Library { "stacks.so" } else { "stacks" };
        let artifact = mokume_toolchain::compile(&build.job(files(&generated, build), name))?.path;
        let link = open(&artifact, build)?;
        let stacks = automata.iter().zip(generated).map(|(automaton, generated)| info(automaton, generated)).collect();
        Ok(CProgram { stacks, link: RwLock::new(link), idle: Mutex::default(), artifact })
    }

    /// Switches a fault of [`Build::faults`] on; `None` switches it off.
    pub fn set_fault(&self, fault: Option<u32>) {
        let mut request = vec![SET_FAULT];
        request.extend(fault.unwrap_or(u32::MAX).to_le_bytes());
        let _ = self.call(&request);
    }

    /// A machine of this stack with so much memory, to be reset.
    pub(crate) fn take_idle(&self, stack: usize, memory: Memory) -> Option<u32> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let place = idle.iter().position(|idle| idle.stack == stack && idle.memory == memory)?;
        Some(idle.swap_remove(place).id)
    }

    /// Keeps a machine for [`Self::take_idle`]; false if its memory shall be given back. A program of its own may be one that looks
    /// for wrong accesses: it finds those to memory that was given back.
    pub(crate) fn keep_idle(&self, stack: usize, memory: Memory, id: u32) -> bool {
        let link = self.link.read().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*link, Link::Process { .. }) {
            return false;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(Idle { stack, memory, id });
            return true;
        }
        false
    }

    /// Sends one request to the harness; an error says why there is no answer.
    pub(crate) fn call(&self, request: &[u8]) -> Result<Vec<u8>, String> {
        // State that machines share changes only while no other request is answered; see harness.c.
        if matches!(request.first(), Some(&(MAKE | FREE | SET_FAULT))) {
            return answer(&self.link.write().unwrap_or_else(PoisonError::into_inner), request);
        }
        answer(&self.link.read().unwrap_or_else(PoisonError::into_inner), request)
    }
}

fn answer(link: &Link, request: &[u8]) -> Result<Vec<u8>, String> {
    match link {
        Link::Library { call, .. } => {
            // SAFETY: the harness reads one request, and nobody else has this thread's room for its answer. Libraries
            // allocate from the memory of the process, so each may let it grow.
            Ok(ANSWER.with(|answer| unsafe {
                call(request.as_ptr(), answer.get());
                match &*answer.get() {
                    Answer { size: 0, .. } => Vec::new(),
                    Answer { at, size, .. } => std::slice::from_raw_parts(*at, *size).to_vec(),
                }
            }))
        }
        Link::Process { program } => {
            let program = &mut **program.lock().unwrap_or_else(PoisonError::into_inner);
            exchange(program, request).map_err(|error| ended(program, &error))
        }
    }
}

impl Drop for CProgram {
    fn drop(&mut self) {
        let idle = std::mem::take(self.idle.get_mut().unwrap_or_else(PoisonError::into_inner));
        for Idle { id, .. } in idle {
            let _ = self.call(&crate::machine::freeing(id));
        }
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Link::Process { program } = link {
            program.get_mut().unwrap_or_else(PoisonError::into_inner).finish();
        }
    }
}

fn exchange(program: &mut dyn Running, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut framed = (request.len() as u32).to_le_bytes().to_vec();
    framed.extend_from_slice(request);
    program.write_all(&framed)?;
    program.flush()?;
    let mut head = [0; 4];
    program.read_exact(&mut head)?;
    let mut answer = vec![0; u32::from_le_bytes(head) as usize];
    program.read_exact(&mut answer)?;
    Ok(answer)
}

/// The last output of a program that ended.
fn ended(program: &mut dyn Running, error: &std::io::Error) -> String {
    let exit = program.finish();
    let words: Vec<&str> = exit.stderr.lines().filter(|line| !line.trim().is_empty()).take(12).collect();
    format!("the program ended ({error}; {})\n{}", exit.how, words.join("\n"))
}

fn info(automaton: &Automaton, generated: Generated) -> StackInfo {
    let mut counters = Vec::new();
    for class in &automaton.classes {
        let of_class = class.cells.iter().filter(|cell| cell.kind == mokume_reaction::CellKind::Counter);
        counters.extend(of_class.map(|cell| format!("{}.{}", class.name, cell.name)));
    }
    StackInfo {
        name: automaton.name.clone(),
        sources: automaton.sources.iter().map(|source| format!("{}:{}", source.file, source.line)).collect(),
        counters,
        params: automaton.params.len(),
        branches: generated.branches,
    }
}

/// All files of the program, by name.
fn files(generated: &[Generated], build: &Build<'_>) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        RUNTIME.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    files.push(("harness.c".into(), HARNESS.into()));
    let mut table = String::from("#include \"mokume.h\"\n");
    for stack in generated {
        table.push_str(&format!("#include \"{}.h\"\n", stack.stem));
        files.push((format!("{}.h", stack.stem), stack.header.clone()));
        files.push((format!("{}.c", stack.stem), stack.source.clone()));
    }
    table.push_str("extern const mk_interface *const mk_stacks[];\nextern const uint32_t mk_stack_count;\n");
    let list: String = generated.iter().map(|stack| format!("    &{}_interface,\n", stack.stem)).collect();
    table.push_str(&format!("const mk_interface *const mk_stacks[] = {{\n{list}    NULL,\n}};\n"));
    table.push_str(&format!("const uint32_t mk_stack_count = {};\n", generated.len()));
    files.push(("stacks.c".into(), table));
    files.extend(build.natives.iter().map(|(name, text)| (file_of(name), text.clone())));
    if !build.faults.is_empty() {
        let list: String = build.faults.iter().map(|fault| format!("MK_FAULT_{fault}, ")).collect();
        files.push((
            "faults.h".into(),
            format!("enum {{ {list} }};\nextern int mk_fault_active;\n#define MK_FAULT(name) (mk_fault_active == MK_FAULT_##name)\n"),
        ));
    }
    files
}

/// The name of a file of functions in C among the generated files: one that no stack's file has.
pub fn file_of(native: &str) -> String {
    format!("native-{native}")
}

/// The first library of a build that programs cannot be linked with here; `None` if all can.
pub fn missing_library(build: &Build<'_>) -> Option<String> {
    mokume_toolchain::missing_library(&build.job(Vec::new(), "probe.so"))
}

/// Builds the functions in C of a build and `shim` as a shared object; also returns the compiler's warnings.
pub(crate) fn build_shared(shim: &str, build: &Build<'_>) -> Result<(Library, String), BuildError> {
    let runtime = RUNTIME.iter().filter(|(name, _)| *name == "mk_native.h");
    let mut files: Vec<(String, String)> = runtime.map(|(name, text)| (name.to_string(), text.to_string())).collect();
    files.extend(build.natives.iter().map(|(name, text)| (file_of(name), text.clone())));
    files.push(("shim.c".into(), shim.to_string()));
    let plain =
        Build { sanitize: Sanitize::Nothing, transport: Transport::Library, faults: Vec::new(), ..build.clone() };
    let built = mokume_toolchain::compile(&plain.job(files, "natives.so"))?;
    // SAFETY: the object was built by us; what the user's C does when it is loaded is the user's.
    Ok((unsafe { Library::open(build.world, &built.path) }?, built.warnings))
}

fn open(artifact: &Path, build: &Build<'_>) -> Result<Link, BuildError> {
    match build.transport {
        Transport::Library => {
            // SAFETY: the object was built by us and runs nothing when it is loaded.
            let library = unsafe { Library::open(build.world, artifact) }?;
            // SAFETY: the type is that of the function in harness.c, and the library is kept beside it.
            let call = unsafe { library.function::<HarnessCall>("mk_harness_call") }?;
            Ok(Link::Library { call, _library: library })
        }
        Transport::Process => {
            let failed =
                |error: std::io::Error| Failure::Io { path: artifact.to_path_buf(), reason: error.to_string() };
            let path = build.world.absolute(&artifact.to_string_lossy()).map_err(failed)?;
            let program = build.world.start(&Invocation::of(path)).map_err(failed)?;
            Ok(Link::Process { program: Mutex::new(program) })
        }
    }
}
