//! Functions in C: their files are found beside the files that declare them, compiled, and loaded for the interpreter.

use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::{Code, Diagnostic, SourceMap};
use mokume_emit_c::{functions_of, why_taken, Build, BuildError, Loaded, FUNCTIONS};
use mokume_reaction::{Automaton, Natives};
use mokume_semantics::load::Loader;
use mokume_semantics::program::{FunctionId, Program};

use mokume_toolchain as toolchain;

use crate::apart::Seen;
use crate::cache;
use crate::failure::Failure;
use crate::library::Library;

/// The C files of a program, name and text each, and the libraries that they need.
#[derive(Clone, Default, Debug)]
pub struct Files {
    files: Vec<File>,
    libraries: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct File {
    /// Equals that of no other.
    name: String,
    /// Its name in messages of the C compiler.
    shown: String,
    text: String,
    /// The functions that are declared to be in it: how automata call each, and its name in the file.
    functions: Vec<(String, String)>,
}

impl Files {
    /// Whether the program declares no function in C.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds the C files that these automata need to a build that calls them here.
    pub fn with<'w>(&self, automata: &[&Automaton], mut build: Build<'w>) -> Build<'w> {
        let symbols = called(automata, FUNCTIONS);
        for (name, text) in self.texts(&symbols, FUNCTIONS) {
            if !build.natives.iter().any(|(known, _)| *known == name) {
                build.natives.push((name, text));
            }
        }
        for library in self.needed(&symbols) {
            if !build.libraries.contains(&library) {
                build.libraries.push(library);
            }
        }
        build
    }

    /// The libraries that the functions called by an automaton need.
    pub fn libraries_of(&self, automaton: &Automaton) -> Vec<String> {
        self.needed(&called(&[automaton], FUNCTIONS))
    }

    /// Adds a file with one function. It may be there already: where two modules declare one function, each has its own.
    fn add(&mut self, shown: String, text: String, function: (String, String)) {
        let stem = shown.trim_end_matches(".c");
        let names = std::iter::once(shown.clone()).chain((2..).map(|number| format!("{stem}_{number}.c")));
        let is_free = |name: &String| self.files.iter().all(|known| known.name != *name);
        let name = names.into_iter().find(is_free).unwrap_or_default();
        self.files.push(File { name, shown, text, functions: vec![function] });
    }

    fn needed(&self, called: &[(String, String)]) -> Vec<String> {
        let is_called = |symbol: &String| called.iter().any(|(known, _)| known == symbol);
        let mut needed: Vec<String> = Vec::new();
        for (_, library) in self.libraries.iter().filter(|(symbol, _)| is_called(symbol)) {
            if !needed.contains(library) {
                needed.push(library.clone());
            }
        }
        needed
    }

    /// The C files with functions that an automaton calls, name and text each, for its stack in C.
    pub fn of(&self, automaton: &Automaton, stack: &str) -> Vec<(String, String)> {
        let prefix = functions_of(stack);
        self.texts(&called(&[automaton], &prefix), &prefix)
    }

    /// The declarations that the stack uses are appended to each text, so that the compiler rejects a function of
    /// another type instead of calling it wrongly. In front stand the names that the functions have in the program.
    fn texts(&self, called: &[(String, String)], prefix: &str) -> Vec<(String, String)> {
        let declared = |file: &File| {
            let (mut names, mut calls) = (String::new(), String::new());
            for (symbol, own) in &file.functions {
                // Another stack of the program may call what this one does not.
                names += &format!("#define {own} {prefix}{symbol}\n");
                let declared = called.iter().find(|(known, _)| known == symbol);
                calls += declared.map_or("", |(_, declaration)| declaration);
            }
            let (name, text) = (&file.shown, file.text.trim_end());
            let head =
                format!("/* In the program the functions have names of their own. */\n{names}#line 1 \"{name}\"\n");
            let text = format!("{head}{text}\n\n/* As the stack calls them. */\n#include \"mk_native.h\"\n{calls}");
            (!calls.is_empty()).then(|| (file.name.clone(), text))
        };
        self.files.iter().filter_map(declared).collect()
    }
}

/// Whether a file written beside a stack in C is one with functions in C.
pub fn is_file_of_functions(name: &str) -> bool {
    name.starts_with(&mokume_emit_c::file_of("")) && name.ends_with(".c")
}

/// The functions in C that automata call: names, and declarations with the prefix.
fn called(automata: &[&Automaton], prefix: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for automaton in automata {
        for signature in mokume_emit_c::signatures(automaton) {
            if !found.iter().any(|(symbol, _)| *symbol == signature.symbol) {
                let declaration = mokume_emit_c::declaration(automaton, prefix, &signature);
                found.push((signature.symbol, declaration));
            }
        }
    }
    found
}

/// What helps if the cache cannot be written.
const CACHE: &str = "is the folder writable? XDG_CACHE_HOME names another";

const MISSING: Code = Code("M0342");
const WARNED: Code = Code("M0345");

/// Whether a diagnostic is about functions in C: then not only checking but also running a stack must show it.
pub fn is_about(diagnostic: &Diagnostic) -> bool {
    CODES.contains(&diagnostic.code)
}

/// The files of all functions in C.
pub fn files(
    program: &Program,
    sources: &SourceMap,
    library: &mut Library,
    diagnostics: &mut Vec<Diagnostic>,
) -> Files {
    let mut found = Files::default();
    for (index, function) in program.functions.iter().enumerate() {
        let Some(native) = function.native.as_ref().filter(|native| !native.file.is_empty()) else { continue };
        let span = function.name.span;
        let own = &function.name.text;
        if let Some(why) = why_taken(own) {
            let message = format!("`{own}` {why}, and no function in C can have it as its name");
            let help = format!("give the function another name, here and in its file: `my_{own}`");
            diagnostics
                .push(Diagnostic::error(MISSING, message).at(span, "has no file that could be compiled").help(help));
            continue;
        }
        let from = sources.file(span.file).name.clone();
        let Some((name, text)) = library.file(&from, &native.file) else {
            let message = format!("there is no file `{}` beside this one", native.file);
            let help = "it is named relative to the file that declares the function";
            diagnostics.push(Diagnostic::error(MISSING, message).at(span, "is to be in it").help(help));
            continue;
        };
        let name = name.replace(['/', '\\'], "_");
        let symbol = program.symbol_of(FunctionId::from(index));
        let called = (symbol.clone(), function.name.text.clone());
        let has_it = |known: &File| known.functions.iter().any(|(_, own)| *own == called.1);
        match found.files.iter_mut().find(|known| known.shown == name && !has_it(known)) {
            Some(known) => known.functions.push(called),
            None => found.add(name, text, called),
        }
        found.libraries.extend(native.libraries.iter().map(|library| (symbol.clone(), library.clone())));
    }
    found
}

/// Functions in C for the back ends.
#[derive(Default)]
pub struct Functions {
    /// Compiled and loaded, for the interpreter.
    pub loaded: Option<Arc<dyn Natives>>,
    /// If their models run instead: the reason. Nothing then runs in C.
    pub by_models: Option<Failure>,
    /// The compiler's messages about their files.
    pub said: Option<Box<Diagnostic>>,
}

/// Compiles and loads the functions in C that an automaton calls.
pub fn load(automaton: &Automaton, files: &Files, world: &dyn World) -> Functions {
    let build = files.with(&[automaton], Build::new(world, cache::folder(world)));
    match Loaded::build(automaton, &build) {
        Ok(None) => Functions::default(),
        Ok(Some(loaded)) => {
            let warned = (!loaded.warnings.is_empty()).then(|| Box::new(warned(&loaded.warnings)));
            Functions { loaded: Some(Arc::new(Seen(loaded))), by_models: None, said: warned }
        }
        Err(error) => {
            let reason = why_not(&error, &build);
            let warning = Diagnostic::warning(MISSING, "functions in C run by their models, and nothing runs in C")
                .note(reason.message.clone())
                .help(reason.help.clone());
            Functions { loaded: None, by_models: Some(reason), said: Some(Box::new(warning)) }
        }
    }
}

/// Whether C can be linked with a library of this system.
pub fn has_library(world: &dyn World, library: &str) -> bool {
    let build = Build { libraries: vec![library.to_owned()], ..Build::new(world, cache::folder(world)) };
    mokume_emit_c::missing_library(&build).is_none()
}

fn warned(words: &str) -> Diagnostic {
    Diagnostic::warning(WARNED, "the C compiler warns of a function in C")
        .note(words.trim_end())
        .help("mend what it points at; the function runs as it is")
}

/// The failure if this machine's C compiler is missing, or does not work: it is tried.
pub fn compiler_fails(world: &dyn World) -> Option<Failure> {
    let broken = toolchain::broken_compiler(world, &cache::folder(world))?;
    let said = broken.to_string();
    Some(no_compiler(&broken.into()).unwrap_or_else(|| Failure::of_use(said, CACHE)))
}

/// The failure if a build failed as this machine's C compiler is missing, or does not work.
pub fn no_compiler(error: &BuildError) -> Option<Failure> {
    const WAYS: &str = "install one (`apt install gcc libc6-dev`), name yours in CC, or use `--backend interpreter`";
    const OTHER: &str =
        "name another in the environment variable CC, install one (`apt install gcc libc6-dev`), or use `--backend interpreter`";
    match error {
        BuildError::Toolchain(toolchain::Failure::NoCompiler { command }) => {
            Some(Failure::of_machine(format!("there is no C compiler `{command}`"), WAYS))
        }
        BuildError::Toolchain(broken @ toolchain::Failure::Broken { .. }) => {
            Some(Failure::of_machine(broken.to_string(), OTHER))
        }
        BuildError::Emit(_) | BuildError::Toolchain(_) => None,
    }
}

/// The failure of a build: due to the machine, or to the functions' author.
fn why_not(error: &BuildError, build: &Build<'_>) -> Failure {
    if let Some(failure) = no_compiler(error) {
        return failure;
    }
    match error {
        BuildError::Toolchain(toolchain::Failure::Io { .. }) => Failure::of_use(error.to_string(), CACHE),
        other => match mokume_emit_c::missing_library(build) {
            Some(library) => Failure::of_machine(
                format!("a function in C needs the library `{library}`, which is not here"),
                format!("install it with its headers (`lib{library}-dev` or the like), or use `--backend interpreter`"),
            ),
            None => Failure::of_program(
                format!("a function in C cannot be compiled: {other}"),
                "mend its file; docs/language.md, section 4, says what it is given and gives",
            ),
        },
    }
}

/// The codes of this crate.
pub const CODES: &[Code] = &[MISSING, WARNED];
