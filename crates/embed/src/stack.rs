//! A checked stack, and what can be made from it.

use std::fmt;
use std::path::{Path, PathBuf};

use mokume_base::render::{self, Colour};
use mokume_base::world::{Invocation, RealWorld, World};
use mokume_base::{Diagnostic, SourceMap};
use mokume_driver::compile::{self, Checked, Compiled};
use mokume_driver::machines::{self, Backend};
use mokume_driver::{build, devices, Failure};

use crate::running::Running;

/// Why a graph is not a valid stack: all diagnostics, and the texts that they are about.
#[derive(Debug)]
pub struct Refused {
    pub diagnostics: Vec<Diagnostic>,
    pub sources: SourceMap,
}

impl Refused {
    pub(crate) fn of(checked: Checked) -> Box<Refused> {
        let mut diagnostics = checked.diagnostics;
        render::sort(&mut diagnostics);
        Box::new(Refused { diagnostics, sources: checked.sources })
    }

    /// The diagnostics, one JSON object a line, as `mokume check --format json` prints them.
    pub fn json_lines(&self) -> String {
        self.diagnostics.iter().map(|one| render::json_line(one, &self.sources)).collect()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::render_all(&self.diagnostics, &self.sources, Colour::Off))
    }
}

impl std::error::Error for Refused {}

/// Options of an instance.
#[derive(Clone, Debug)]
pub struct Options {
    pub backend: Backend,
    /// Parameters as text, as for `mokume run --set`: `("address", "10.0.0.1/24")`.
    pub set: Vec<(String, String)>,
    /// The seed of the random streams: equal seeds give equal runs.
    pub seed: u64,
    /// The longest frame or message, in octets.
    pub longest: u32,
}

impl Default for Options {
    /// The interpreter, no parameters, seed 0, and the size of Ethernet frames.
    fn default() -> Self {
        Options { backend: Backend::Interpreter, set: Vec::new(), seed: 0, longest: 2048 }
    }
}

impl Options {
    /// The same options with one more parameter.
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.set.push((name.into(), value.into()));
        self
    }

    /// The same options with another back end.
    pub fn backend(mut self, backend: Backend) -> Options {
        self.backend = backend;
        self
    }
}

/// A checked stack without errors. Any number of instances may be made from it.
pub struct Stack {
    compiled: Compiled,
    warnings: String,
}

impl Stack {
    pub(crate) fn new(compiled: Compiled, warnings: String) -> Stack {
        Stack { compiled, warnings }
    }

    /// A stack of a file, chosen as by `mokume run FILE --stack NAME`.
    ///
    /// # Errors
    /// The file has errors, or has no such stack.
    pub fn of_file(path: &str, name: Option<&str>) -> Result<Stack, Failure> {
        let mut checked = compile::check(&RealWorld, &[path.to_string()])?;
        let refuse = |checked: Checked| Failure::of_program(Refused::of(checked).to_string(), "mend the file");
        if checked.has_errors() {
            return Err(refuse(checked));
        }
        let stack = compile::choose_stack(&checked, name)?;
        let (compiled, diagnostics) = compile::compile(&checked, stack, &RealWorld);
        checked.diagnostics.extend(diagnostics);
        match compiled {
            Some(compiled) => Ok(Stack::new(compiled, Refused::of(checked).to_string())),
            None => Err(refuse(checked)),
        }
    }

    /// The compiler's warnings; empty if there are none.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Makes an instance, not yet started. Instances share nothing.
    ///
    /// # Errors
    /// A parameter has no value or a wrong one, or C is requested and there is no C compiler.
    pub fn instance(&self, options: &Options) -> Result<Running, Failure> {
        self.instance_in(options, &RealWorld)
    }

    /// Like [`Stack::instance`], with files and programs of `world`.
    pub fn instance_in(&self, options: &Options, world: &dyn World) -> Result<Running, Failure> {
        let automaton = &self.compiled.composed;
        let given = |name: &str| match name.rsplit_once('.') {
            Some((device, "mac")) => Some(devices::default_mac(device)),
            Some((_, "mtu")) => Some(u64::from(options.longest.min(1514))),
            _ => None,
        };
        let params = machines::parameters(automaton, &self.compiled.written, &options.set, &given)?;
        let machine =
            machines::machine(&self.compiled, options.backend, &params, options.seed, options.longest, world)?;
        Ok(Running::new(automaton.clone(), machine))
    }

    /// The stack's ports with their inputs and outputs, as JSON. `crates/embed/include/mokume_embed.h` describes the
    /// format.
    pub fn interface(&self) -> String {
        crate::told::interface(&self.compiled.composed, &self.compiled.written).to_string()
    }

    /// The generated C and its runtime, as `mokume build -o` writes them: the name and text of each file.
    ///
    /// # Errors
    /// A function in C cannot be compiled here.
    pub fn c_files(&self) -> Result<Vec<(String, String)>, Failure> {
        if let Some(reason) = &self.compiled.by_models {
            return Err(reason.clone());
        }
        build::c(&self.compiled)
    }

    /// Compiles the stack into a shared object with the functions of its header (`host_init`, `host_interface`, …), and
    /// writes sources and headers beside it, into `folder`.
    ///
    /// # Errors
    /// There is no C compiler (`cc`, or the one in the environment variable `CC`), or the folder cannot be written.
    pub fn shared_object(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let unwritable = |error: std::io::Error| {
            Failure::of_use(format!("cannot write to {}: {error}", folder.display()), "name another folder")
        };
        let files = self.c_files()?;
        for (name, text) in &files {
            RealWorld.write(&folder.join(name).to_string_lossy(), text.as_bytes()).map_err(unwritable)?;
        }
        let stem = files[0].0.trim_end_matches(".h").to_string();
        let object = folder.join(format!("lib{stem}.so"));
        let compiler = mokume_driver::machines::compiler(&RealWorld);
        let within = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let automaton = self.compiled.for_c();
        let natives = files.iter().filter(|(name, _)| mokume_driver::natives::is_file_of_functions(name));
        let libraries = self.compiled.native_files.libraries_of(automaton);
        let invocation = Invocation::of(&compiler)
            .args(["-std=gnu11", "-O2", "-shared", "-fPIC", "-I", &folder.to_string_lossy(), "-o"])
            .args([object.to_string_lossy().into_owned(), within(&format!("{stem}.c")), within("mokume.c")])
            .args(natives.map(|(name, _)| within(name)))
            .args(libraries.iter().map(|library| format!("-l{library}")));
        let minute = std::time::Duration::from_secs(60);
        let output = RealWorld.run(&invocation, b"", minute).map_err(|_| {
            Failure::of_use(format!("there is no C compiler `{compiler}`"), "install one, or name yours in CC")
        })?;
        match output.status {
            Some(0) => Ok(object),
            _ => Err(Failure::of_program(
                format!("the C compiler refuses the stack: {}", String::from_utf8_lossy(&output.stderr)),
                "please report this",
            )),
        }
    }
}
