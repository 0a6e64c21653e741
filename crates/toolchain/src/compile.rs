//! Compiling and linking.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use mokume_base::{Invocation, World};

use crate::{Built, Failure, Job, Product, Sanitize};

/// The time limit of a compiler; after it, the compiler counts as hanging. All stacks of the library in one job take
/// minutes on a slow machine.
const LONGEST: Duration = Duration::from_secs(3600);

/// The most lines of a compiler's message that are passed on.
const COMPLAINT_LINES: usize = 20;

/// The C compiler: `asked`, else the environment variable `CC`, else `cc`.
pub fn command(world: &dyn World, asked: Option<&str>) -> String {
    let from_environment = || world.environment("CC").filter(|command| !command.trim().is_empty());
    asked.map(str::to_string).or_else(from_environment).unwrap_or_else(|| "cc".into())
}

/// A call of the compiler. As `make` takes `CC`, words behind its name are arguments: `ccache gcc`, `gcc -m32`.
pub fn invocation(world: &dyn World, command: &str) -> Invocation {
    let mut words = command.split_whitespace();
    match words.next() {
        Some(program) if program != command && !world.exists(command) => Invocation::of(program).args(words),
        _ => Invocation::of(command),
    }
}

/// The file beside the product that holds the compiler's warnings about foreign files.
const WARNINGS: &str = "warnings.txt";

/// Compiles and links a job, unless the cache has the product.
pub fn compile(job: &Job<'_>) -> Result<Built, Failure> {
    let (command, flags) = (command(job.world, job.compiler.as_deref()), flags(job));
    let directory = job.cache.join(format!("c-{:016x}", fingerprint(job, &command, &flags)));
    let artifact = directory.join(job.name);
    if job.world.exists(&text(&artifact)) {
        let warnings = job.world.read_text(&text(&directory.join(WARNINGS))).unwrap_or_default();
        return Ok(Built { path: artifact, warnings });
    }
    // Everything is written and built in a separate folder, and then renamed: two simultaneous builds of the same
    // program never read half-written files.
    let aside = directory.join(format!("building-{:016x}", job.world.seed()));
    job.world.make_folder(&text(&aside)).map_err(io(&aside))?;
    for (name, contents) in &job.files {
        let (written, path) = (aside.join(name), directory.join(name));
        path.parent().map_or(Ok(()), |folder| job.world.make_folder(&text(folder))).map_err(io(&path))?;
        job.world.write(&text(&written), contents.as_bytes()).map_err(io(&written))?;
        job.world.rename(&text(&written), &text(&path)).map_err(io(&path))?;
    }
    let built = build(job, &command, &flags, &aside);
    let built = built.map_err(|failure| if_broken(job.world, &command, &aside).unwrap_or(failure)).and_then(|built| {
        if !built.warnings.is_empty() {
            let path = directory.join(WARNINGS);
            job.world.write(&text(&path), built.warnings.as_bytes()).map_err(io(&path))?;
        }
        job.world.rename(&text(&built.path), &text(&artifact)).map_err(io(&artifact))?;
        Ok(Built { path: artifact, ..built })
    });
    // Leftovers do no harm.
    let _ = job.world.remove(&text(&aside));
    built
}

fn fingerprint(job: &Job<'_>, command: &str, flags: &[String]) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (command, flags, &job.files, (&job.units, &job.foreign), &job.libraries).hash(&mut hasher);
    hasher.finish()
}

/// The flags for generated C.
const OWN: [&str; 6] = ["-std=c11", "-Wall", "-Wextra", "-Wno-tautological-compare", "-Wno-type-limits", "-Werror"];

/// What gcc says of `x & 3 == 1 && x & 1 == 0`, which a program may say: a warning that no flag turns off.
const DEAD: &str = "of mutually exclusive equal-tests is always";

/// The flags for foreign files: the C dialect that the compiler uses by default. Unused parameters are allowed, since
/// the stack defines the parameters.
const FOREIGN: [&str; 4] = ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter"];

/// The flags for all files.
fn flags(job: &Job<'_>) -> Vec<String> {
    let mut flags = Vec::new();
    flags.push(["-O0", "-O1", "-O2", "-O3"][usize::from(job.optimize.min(3))]);
    if job.sanitize == Sanitize::AddressUndefined {
        flags.extend(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]);
    }
    if job.product == Product::Shared {
        flags.push("-fPIC");
    }
    flags.into_iter().map(String::from).chain(job.flags.iter().cloned()).collect()
}

fn link_flags(job: &Job<'_>) -> &'static [&'static str] {
    match (job.product, job.sanitize) {
        (Product::Shared, _) => &["-shared"],
        (Product::Program, Sanitize::AddressUndefined) => &["-fsanitize=address,undefined"],
        (Product::Program, Sanitize::Nothing) => &[],
    }
}

/// Builds everything in a separate folder beside the sources.
fn build(job: &Job<'_>, command: &str, flags: &[String], aside: &Path) -> Result<Built, Failure> {
    let warnings = compile_foreign(job, command, flags, aside)?;
    compile_units(job, command, flags, aside)?;
    let units = job.units.iter().chain(&job.foreign);
    let objects = units.map(|unit| format!("{}.o", unit.trim_end_matches(".c")));
    let linker = invocation(job.world, command)
        .args(link_flags(job).iter().copied())
        .args(["-o", "built"])
        .args(objects)
        .args(job.libraries.iter().map(|library| format!("-l{library}")))
        .within(text(aside));
    let refused = |message| Failure::Linker { command: command.to_string(), message };
    run(job.world, &linker, refused)?;
    let path = aside.join("built");
    if !job.world.exists(&text(&path)) {
        return Err(made_nothing(command));
    }
    Ok(Built { path, warnings })
}

/// The failure of a compiler that says nothing, and makes nothing.
fn made_nothing(command: &str) -> Failure {
    Failure::Broken { command: command.to_string(), message: "it does not fail, but makes no file".to_string() }
}

/// The smallest program that needs what ours need: a compiler, the headers of C, and a linker.
const SMALLEST: &str = "#include <stdint.h>\n#include <string.h>\nuint8_t mk_probe;\n";

/// The failure of a compiler that cannot build the smallest program either. `None`: it works, so its refusal was of what
/// it was given.
fn if_broken(world: &dyn World, command: &str, aside: &Path) -> Option<Failure> {
    let name = "smallest.c";
    world.write(&text(&aside.join(name)), SMALLEST.as_bytes()).ok()?;
    let probe = invocation(world, command).args(["-fPIC", "-shared", "-o", "smallest.so", name]).within(text(aside));
    let broken = |words: String| {
        let said = words.lines().next().unwrap_or("it fails, and says nothing");
        Failure::Broken { command: command.to_string(), message: said.to_string() }
    };
    match run(world, &probe, broken) {
        Ok(_) if !world.exists(&text(&aside.join("smallest.so"))) => Some(made_nothing(command)),
        ran => ran.err(),
    }
}

/// Why the C compiler does not work. The smallest program is built anew, whatever the cache has. `None`: it works.
pub fn broken_compiler(world: &dyn World, cache: &Path) -> Option<Failure> {
    let aside = cache.join(format!("trying-{:016x}", world.seed()));
    let made = world.make_folder(&text(&aside)).map_err(io(&aside));
    let broken = made.map_or_else(Some, |()| if_broken(world, &command(world, None), &aside));
    // Leftovers do no harm.
    let _ = world.remove(&text(&aside));
    broken
}

/// The first of the job's libraries that programs cannot be linked with here; `None` if all can.
pub fn missing_library(job: &Job<'_>) -> Option<String> {
    let lacks = |library: &&String| {
        let name = "probe.c".to_string();
        let files = vec![(name.clone(), "extern int mk_probe;\nint mk_probe;\n".to_string())];
        let libraries = vec![library.to_string()];
        let (units, foreign) = (vec![name], Vec::new());
        compile(&Job { files, units, foreign, libraries, name: "probe.so", product: Product::Shared, ..job.clone() })
            .is_err()
    };
    job.libraries.iter().find(lacks).cloned()
}

/// Compiles the foreign files one by one, and returns the compiler's warnings.
fn compile_foreign(job: &Job<'_>, command: &str, flags: &[String], aside: &Path) -> Result<String, Failure> {
    let mut warnings = String::new();
    for unit in &job.foreign {
        let from = format!("../{unit}");
        let compiler = invocation(job.world, command).args(FOREIGN).args(flags).args(["-I", "..", "-c"]).args([from]);
        let refused = |message| Failure::Foreign { command: command.to_string(), unit: unit.clone(), message };
        warnings += &run(job.world, &compiler.within(text(aside)), refused)?;
    }
    Ok(warnings)
}

/// Compiles each unit to an object, on all cores.
fn compile_units(job: &Job<'_>, command: &str, flags: &[String], aside: &Path) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(job.units.len()).max(1);
    let compile = |worker: usize| {
        let units = job.units.iter().skip(worker).step_by(workers).map(|unit| format!("../{unit}"));
        let units: Vec<String> = units.collect();
        let compile = |more: &[&str]| {
            let compiler = invocation(job.world, command).args(OWN).args(more.iter().copied()).args(flags);
            let compiler = compiler.args(["-I", "..", "-c"]).args(units.clone());
            let refused = |message| Failure::Compiler { command: command.to_string(), message };
            run(job.world, &compiler.within(text(aside)), refused).map(|_| ())
        };
        match compile(&[]) {
            Err(Failure::Compiler { message, .. }) if message.contains(DEAD) => compile(&["-Wno-error"]),
            compiled => compiled,
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || compile(worker))).collect();
        let ended = running.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Runs a program and returns what it prints as messages; `refused` makes the failure from them if the program fails.
fn run(world: &dyn World, program: &Invocation, refused: impl FnOnce(String) -> Failure) -> Result<String, Failure> {
    let command = program.command.clone();
    let Ok(output) = world.run(program, b"", LONGEST) else { return Err(Failure::NoCompiler { command }) };
    let words = String::from_utf8_lossy(&output.stderr);
    let mut message = words.lines().take(COMPLAINT_LINES).collect::<Vec<_>>().join("\n");
    if !output.is_success() {
        return Err(refused(message));
    }
    if !message.is_empty() {
        message.push('\n');
    }
    Ok(message)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let path = path.to_path_buf();
    move |error| Failure::Io { path, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mokume_base::{MemoryWorld, Output};

    use super::*;

    /// A compiler that makes empty objects, and links them into a list of their names.
    fn compiler(world: &MemoryWorld, invocation: &Invocation, _: &[u8]) -> Output {
        let units = invocation.args.iter().filter(|arg| arg.ends_with(".c"));
        let mut stderr = Vec::new();
        for unit in units {
            let source = world.read_text(&world.path_of(invocation, unit)).unwrap();
            if source.contains("wrong") {
                return Output { status: Some(1), stderr: b"it is wrong".to_vec(), ..Output::default() };
            }
            if source.contains("sloppy") {
                let is_strict = invocation.args.iter().any(|arg| arg == "-Werror");
                if is_strict {
                    return Output { status: Some(1), stderr: b"it is sloppy".to_vec(), ..Output::default() };
                }
                stderr = b"it is sloppy".to_vec();
            }
            let object = unit.trim_start_matches("../").replace(".c", ".o");
            world.write(&world.path_of(invocation, &object), b"").unwrap();
        }
        if let Some(at) = invocation.args.iter().position(|arg| arg == "-o") {
            let made = world.path_of(invocation, &invocation.args[at + 1]);
            world.write(&made, invocation.args[at + 2..].join(" ").as_bytes()).unwrap();
        }
        Output { status: Some(0), stderr, ..Output::default() }
    }

    fn job<'w>(world: &'w MemoryWorld, text: &str) -> Job<'w> {
        job_of(world, text)
    }

    fn job_of<'w>(world: &'w dyn World, text: &str) -> Job<'w> {
        Job {
            world,
            compiler: None,
            optimize: 2,
            sanitize: Sanitize::Nothing,
            product: Product::Shared,
            flags: Vec::new(),
            files: vec![("a.c".into(), text.into()), ("b.c".into(), "int b;".into()), ("c.h".into(), "".into())],
            units: vec!["a.c".into(), "b.c".into()],
            foreign: Vec::new(),
            libraries: vec!["m".into()],
            cache: PathBuf::from("cache"),
            name: "made.so",
        }
    }

    #[test]
    fn units_are_compiled_and_linked_and_what_was_aside_is_gone() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let made = compile(&job(&world, "int a;")).unwrap().path;
        assert_eq!(world.read_text(&text(&made)).unwrap(), "a.o b.o -lm");
        let left = world.list(&text(made.parent().unwrap())).unwrap();
        assert_eq!(left, ["a.c", "b.c", "c.h", "made.so"]);
    }

    #[test]
    fn a_compiler_that_makes_nothing_does_not_work() {
        let world = MemoryWorld::new().with_tool("cc", |_, _, _| Output { status: Some(0), ..Output::default() });
        let failure = compile(&job(&world, "int a;")).unwrap_err().to_string();
        assert_eq!(failure, "the C compiler `cc` does not work: it does not fail, but makes no file");
        assert!(broken_compiler(&world, Path::new("cache")).is_some());
    }

    #[test]
    fn words_behind_the_compilers_name_are_arguments() {
        let wrapped = |world: &MemoryWorld, invocation: &Invocation, input: &[u8]| {
            assert_eq!(invocation.args[..2], ["gcc", "-m32"], "{invocation:?}");
            compiler(world, invocation, input)
        };
        let world = MemoryWorld::new().with_tool("ccache", wrapped);
        let job = Job { compiler: Some("ccache gcc -m32".into()), ..job(&world, "int a;") };
        compile(&job).unwrap();
        world.write("/my tools/gcc", b"a program").unwrap();
        assert_eq!(invocation(&world, "/my tools/gcc"), Invocation::of("/my tools/gcc"));
    }

    #[test]
    fn what_was_built_is_not_built_again() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let made = compile(&job(&world, "int a;")).unwrap().path;
        world.write(&text(&made), b"kept").unwrap();
        assert_eq!(compile(&job(&world, "int a;")).unwrap().path, made);
        assert_eq!(world.read(&text(&made)).unwrap(), b"kept");
        assert_ne!(compile(&job(&world, "int other;")).unwrap().path, made);
    }

    /// A reader that has opened a source while another build begins reads it to its end.
    #[test]
    fn sources_are_replaced_and_not_written_over() {
        use std::io::Read;
        let world = mokume_base::RealWorld;
        let cache = std::env::temp_dir().join(format!("mokume-sources-{:016x}", world.seed()));
        let job = |compiler: &str| Job {
            world: &world,
            compiler: Some(compiler.to_string()),
            cache: cache.clone(),
            ..job_of(&world, "int a;")
        };
        assert!(compile(&job("false")).is_err());
        let folder = world.list(&text(&cache)).unwrap().remove(0);
        let mut open = std::fs::File::open(cache.join(folder).join("a.c")).unwrap();
        assert!(compile(&job("false")).is_err());
        let mut read = String::new();
        open.read_to_string(&mut read).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::nlink(&open.metadata().unwrap()), 0, "another file is in its place");
        assert_eq!(read, "int a;");
        std::fs::remove_dir_all(cache).unwrap();
    }

    #[test]
    fn a_refusal_is_passed_on_and_leaves_nothing_that_would_be_found() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let refused = Failure::Compiler { command: "cc".into(), message: "it is wrong".into() };
        assert_eq!(compile(&job(&world, "wrong")), Err(refused.clone()));
        assert_eq!(compile(&job(&world, "wrong")), Err(refused));
    }

    /// Foreign files may contain C that is forbidden in generated C. Their warnings are remembered with the built
    /// product.
    #[test]
    fn files_of_others_are_warned_of_and_refused_by_their_names() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let foreign = |text| Job { units: vec!["b.c".into()], foreign: vec!["a.c".into()], ..job(&world, text) };
        let own = Failure::Compiler { command: "cc".into(), message: "it is sloppy".into() };
        assert_eq!(compile(&job(&world, "sloppy")), Err(own));
        for _ in 0..2 {
            let built = compile(&foreign("sloppy")).unwrap();
            assert_eq!(built.warnings, "it is sloppy\n");
            assert_eq!(world.read_text(&text(&built.path)).unwrap(), "b.o a.o -lm");
        }
        let refused = Failure::Foreign { command: "cc".into(), unit: "a.c".into(), message: "it is wrong".into() };
        assert_eq!(compile(&foreign("wrong")), Err(refused));
    }

    /// A compiler that fails on the smallest program, too, is what is wrong; it is told apart from one that refuses ours.
    #[test]
    fn a_compiler_that_does_not_work_is_called_so() {
        let broken = |says: &'static str| {
            move |_: &MemoryWorld, _: &Invocation, _: &[u8]| Output {
                status: Some(1),
                stderr: says.as_bytes().to_vec(),
                ..Output::default()
            }
        };
        for (says, message) in [("no cc1\nmore", "no cc1"), ("", "it fails, and says nothing")] {
            let world = MemoryWorld::new().with_tool("cc", broken(says));
            let failure = Failure::Broken { command: "cc".into(), message: message.into() };
            assert_eq!(compile(&job(&world, "int a;")), Err(failure.clone()));
            assert_eq!(broken_compiler(&world, Path::new("cache")), Some(failure));
        }
    }

    #[test]
    fn the_environment_names_a_compiler() {
        let world = MemoryWorld::new().with_environment("CC", "mine");
        assert_eq!((command(&world, None), command(&world, Some("other"))), ("mine".into(), "other".into()));
        assert_eq!(command(&MemoryWorld::new().with_environment("CC", " "), None), "cc");
        let missing = Failure::NoCompiler { command: "mine".into() };
        assert_eq!(compile(&job(&world, "int a;")), Err(missing.clone()));
        assert_eq!(broken_compiler(&world, Path::new("cache")), Some(missing));
    }
}
