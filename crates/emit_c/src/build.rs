//! From automata to a running program: writes the C, calls the system's compiler, and opens what it made.
//!
//! Many stacks become one program, since a start of the compiler costs more than a stack's text. What was built is
//! found again in the cache by a hash of everything that went into it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, RwLock};

use mokume_reaction::{Automaton, HandlerId};

use crate::machine::{FREE, MAKE, SET_FAULT};
use crate::runtime::RUNTIME;
use crate::stack::{emit, EmitError, Generated, Options};

const HARNESS: &str = include_str!("harness.c");

/// What is to be built, and where.
#[derive(Clone, Debug)]
pub struct Build {
    /// The compiler's command; `$CC`, else `cc`, if it is `None`.
    pub compiler: Option<String>,
    /// `-O0` to `-O3`.
    pub optimize: u8,
    pub sanitize: Sanitize,
    pub transport: Transport,
    /// Count how often each branch of a handler is taken.
    pub coverage: bool,
    /// Names of faults of the runtime that can be switched on (`MK_FAULT`), by number. For tests of tests only.
    pub faults: Vec<&'static str>,
    /// Files in C that the stacks call functions of, name and text each, and the libraries that these need.
    pub natives: Vec<(String, String)>,
    pub libraries: Vec<String>,
    /// Where sources and programs are kept.
    pub cache: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sanitize {
    Nothing,
    /// Address and undefined; every finding ends the program. Needs [`Transport::Process`].
    AddressUndefined,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transport {
    /// A shared object in our own process.
    Library,
    /// A program of its own.
    Process,
}

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    Emit(EmitError),
    NoCompiler {
        command: String,
    },
    /// The compiler's first words.
    Compiler {
        command: String,
        message: String,
    },
    Io {
        path: PathBuf,
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Emit(error) => error.fmt(f),
            BuildError::NoCompiler { command } => {
                write!(
                    f,
                    "there is no C compiler `{command}`: install one, or name yours in the environment variable CC"
                )
            }
            BuildError::Compiler { command, message } => write!(f, "`{command}` refused generated C: {message}"),
            BuildError::Io { path, reason } => write!(f, "{}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for BuildError {}

impl Build {
    /// A plain, optimised shared object.
    pub fn new(cache: impl Into<PathBuf>) -> Build {
        Build {
            compiler: None,
            optimize: 2,
            sanitize: Sanitize::Nothing,
            transport: Transport::Library,
            coverage: false,
            faults: Vec::new(),
            natives: Vec::new(),
            libraries: Vec::new(),
            cache: cache.into(),
        }
    }

    fn command(&self) -> String {
        let from_environment = || std::env::var("CC").ok().filter(|command| !command.trim().is_empty());
        self.compiler.clone().or_else(from_environment).unwrap_or_else(|| "cc".into())
    }

    fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> =
            ["-std=c11", "-Wall", "-Wextra", "-Wno-tautological-compare", "-Wno-type-limits", "-Werror"]
                .map(String::from)
                .to_vec();
        flags.push(format!("-O{}", self.optimize.min(3)));
        if self.sanitize == Sanitize::AddressUndefined {
            flags.extend(
                ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
                    .map(String::from),
            );
        }
        match self.transport {
            Transport::Library => flags.push("-fPIC".into()),
            Transport::Process => flags.push("-DMK_HARNESS_PROGRAM".into()),
        }
        if !self.faults.is_empty() {
            flags.extend(["-DMK_WITH_FAULTS".into(), "-include".into(), "faults.h".into()]);
        }
        flags
    }
}

impl Build {
    fn link_flags(&self) -> &'static [&'static str] {
        match (self.transport, self.sanitize) {
            (Transport::Library, _) => &["-shared"],
            (Transport::Process, Sanitize::AddressUndefined) => &["-fsanitize=address,undefined"],
            (Transport::Process, Sanitize::Nothing) => &[],
        }
    }
}

/// Stacks in C, compiled and ready to be run.
pub struct CProgram {
    pub(crate) stacks: Vec<StackInfo>,
    pub(crate) link: RwLock<Link>,
    /// What was built.
    pub artifact: PathBuf,
}

/// What is known of one stack of a program.
pub(crate) struct StackInfo {
    pub name: String,
    pub sources: Vec<String>,
    pub counters: Vec<String>,
    pub params: usize,
    pub branches: Vec<(HandlerId, usize, usize)>,
}

/// The way to the compiled code.
pub(crate) enum Link {
    Library { call: HarnessCall, _library: libloading::Library },
    Process { child: Mutex<Child> },
}

type HarnessCall = unsafe extern "C" fn(*const u8, *mut u32) -> *const u8;

impl CProgram {
    /// Emits and compiles the stacks, and opens the program.
    pub fn build(automata: &[&Automaton], build: &Build) -> Result<CProgram, BuildError> {
        let mut generated = Vec::new();
        for (index, automaton) in automata.iter().enumerate() {
            let options = Options { prefix: format!("s{index}_{}", automaton.name), coverage: build.coverage };
            generated.push(emit(automaton, &options).map_err(BuildError::Emit)?);
        }
        Self::compile(automata, generated, build)
    }

    /// Compiles stacks that were emitted before; `generated` belongs to `automata`, one by one.
    pub fn compile(automata: &[&Automaton], generated: Vec<Generated>, build: &Build) -> Result<CProgram, BuildError> {
        let artifact = compile(&generated, build)?;
        let link = open(&artifact, build.transport)?;
        let stacks = automata.iter().zip(generated).map(|(automaton, generated)| info(automaton, generated)).collect();
        Ok(CProgram { stacks, link: RwLock::new(link), artifact })
    }

    /// Switches a fault of [`Build::faults`] on, or off.
    pub fn set_fault(&self, fault: Option<u32>) {
        let mut request = vec![SET_FAULT];
        request.extend(fault.unwrap_or(u32::MAX).to_le_bytes());
        let _ = self.call(&request);
    }

    /// One request to the harness; why there is no answer.
    pub(crate) fn call(&self, request: &[u8]) -> Result<Vec<u8>, String> {
        // What machines share changes while no other request is answered; see harness.c.
        if matches!(request.first(), Some(&(MAKE | FREE | SET_FAULT))) {
            return answer(&self.link.write().unwrap_or_else(PoisonError::into_inner), request);
        }
        answer(&self.link.read().unwrap_or_else(PoisonError::into_inner), request)
    }
}

fn answer(link: &Link, request: &[u8]) -> Result<Vec<u8>, String> {
    match link {
        Link::Library { call, .. } => {
            let mut size = 0;
            // SAFETY: the harness reads one request, and its answer of `size` octets is this thread's until its next call.
            unsafe {
                let answer = call(request.as_ptr(), &mut size);
                Ok(std::slice::from_raw_parts(answer, size as usize).to_vec())
            }
        }
        Link::Process { child } => {
            let child = &mut *child.lock().unwrap_or_else(PoisonError::into_inner);
            exchange(child, request).map_err(|error| ended(child, error))
        }
    }
}

impl Drop for CProgram {
    fn drop(&mut self) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Link::Process { child } = link {
            let child = child.get_mut().unwrap_or_else(PoisonError::into_inner);
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

fn exchange(child: &mut Child, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    let stdin = child.stdin.as_mut().ok_or_else(closed)?;
    let mut framed = (request.len() as u32).to_le_bytes().to_vec();
    framed.extend_from_slice(request);
    stdin.write_all(&framed)?;
    stdin.flush()?;
    let stdout = child.stdout.as_mut().ok_or_else(closed)?;
    let mut head = [0; 4];
    stdout.read_exact(&mut head)?;
    let mut answer = vec![0; u32::from_le_bytes(head) as usize];
    stdout.read_exact(&mut answer)?;
    Ok(answer)
}

/// The last words of a program that ended.
fn ended(child: &mut Child, error: std::io::Error) -> String {
    drop(child.stdin.take());
    let mut words = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut words);
    }
    let status = child.wait().map_or(String::new(), |status| status.to_string());
    let words: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).take(12).collect();
    format!("the program ended ({error}; {status})\n{}", words.join("\n"))
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
fn files(generated: &[Generated], build: &Build) -> Vec<(String, String)> {
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
    files.extend(build.natives.iter().map(|(name, text)| (format!("native_{name}"), text.clone())));
    if !build.faults.is_empty() {
        let list: String = build.faults.iter().map(|fault| format!("MK_FAULT_{fault}, ")).collect();
        files.push((
            "faults.h".into(),
            format!("enum {{ {list} }};\nextern int mk_fault_active;\n#define MK_FAULT(name) (mk_fault_active == MK_FAULT_##name)\n"),
        ));
    }
    files
}

fn compile(generated: &[Generated], build: &Build) -> Result<PathBuf, BuildError> {
    let name = if build.transport == Transport::Library { "stacks.so" } else { "stacks" };
    compile_files(files(generated, build), build, name)
}

/// The functions in C of a build and `shim`, as a shared object.
pub(crate) fn build_shared(shim: &str, build: &Build) -> Result<PathBuf, BuildError> {
    let runtime = RUNTIME.iter().filter(|(name, _)| *name == "mk_native.h");
    let mut files: Vec<(String, String)> = runtime.map(|(name, text)| (name.to_string(), text.to_string())).collect();
    files.extend(build.natives.iter().map(|(name, text)| (format!("native_{name}"), text.clone())));
    files.push(("shim.c".into(), shim.to_string()));
    let plain =
        Build { sanitize: Sanitize::Nothing, transport: Transport::Library, faults: Vec::new(), ..build.clone() };
    compile_files(files, &plain, "natives.so")
}

fn compile_files(files: Vec<(String, String)>, build: &Build, name: &str) -> Result<PathBuf, BuildError> {
    let (command, flags) = (build.command(), build.flags());
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (&command, &flags, &files, &build.libraries).hash(&mut hasher);
    let directory = build.cache.join(format!("c-{:016x}", hasher.finish()));
    let artifact = directory.join(name);
    if artifact.exists() {
        return Ok(artifact);
    }
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |error: std::io::Error| BuildError::Io { path, reason: error.to_string() }
    };
    std::fs::create_dir_all(&directory).map_err(io(&directory))?;
    for (name, text) in &files {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(io(&path))?;
    }
    // Built aside and then renamed: two builds of the same program may run at once.
    let aside = directory.join(format!("building-{}", std::process::id()));
    std::fs::create_dir_all(&aside).map_err(io(&aside))?;
    let sources = files.iter().map(|(name, _)| name.as_str());
    let sources: Vec<&str> = sources.filter(|name| name.ends_with(".c") && !name.starts_with("mk_")).collect();
    compile_sources(&command, &flags, &aside, &sources)?;
    let built = aside.join("built");
    let objects = sources.iter().map(|source| format!("{}.o", source.trim_end_matches(".c")));
    let mut linker = Command::new(&command);
    linker.args(build.link_flags()).arg("-o").arg(&built).args(objects).current_dir(&aside);
    linker.args(build.libraries.iter().map(|library| format!("-l{library}")));
    run_compiler(&command, &mut linker)?;
    std::fs::rename(&built, &artifact).map_err(io(&artifact))?;
    let _ = std::fs::remove_dir_all(&aside);
    Ok(artifact)
}

/// Each source to an object beside the others, on all cores.
fn compile_sources(command: &str, flags: &[String], folder: &Path, sources: &[&str]) -> Result<(), BuildError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(sources.len()).max(1);
    let compile = |part: Vec<&str>| {
        let files = part.iter().map(|source| Path::new("..").join(source));
        let mut compiler = Command::new(command);
        compiler.args(flags).args(["-I", ".."]).arg("-c").args(files).current_dir(folder);
        run_compiler(command, &mut compiler)
    };
    std::thread::scope(|scope| {
        let parts = (0..workers).map(|worker| sources.iter().copied().skip(worker).step_by(workers).collect());
        let running: Vec<_> = parts.map(|part: Vec<&str>| scope.spawn(|| compile(part))).collect();
        let ended = running.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

fn run_compiler(name: &str, command: &mut Command) -> Result<(), BuildError> {
    let output = command.output().map_err(|_| BuildError::NoCompiler { command: name.into() })?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).lines().take(20).collect::<Vec<_>>().join("\n");
    Err(BuildError::Compiler { command: name.into(), message: words })
}

fn open(artifact: &Path, transport: Transport) -> Result<Link, BuildError> {
    let failed = |reason: String| BuildError::Io { path: artifact.to_path_buf(), reason };
    let path = artifact.canonicalize().map_err(|error| failed(error.to_string()))?;
    match transport {
        Transport::Library => {
            // SAFETY: the object was built by us and runs nothing when it is loaded.
            let library = unsafe { libloading::Library::new(&path) }.map_err(|error| failed(error.to_string()))?;
            // SAFETY: the type is that of the function in harness.c.
            let call = unsafe { library.get::<HarnessCall>(b"mk_harness_call\0") };
            let call = *call.map_err(|error| failed(error.to_string()))?;
            Ok(Link::Library { call, _library: library })
        }
        Transport::Process => {
            let mut command = Command::new(&path);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().map_err(|error| failed(error.to_string()))?;
            Ok(Link::Process { child: Mutex::new(child) })
        }
    }
}
