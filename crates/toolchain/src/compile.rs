//! Compiling and linking.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mokume_base::{Invocation, World};

use crate::{Failure, Job, Product, Sanitize};

/// A compiler that takes longer hangs. All stacks of the library in one job take minutes on a slow machine.
const LONGEST: Duration = Duration::from_secs(3600);

/// So many lines of a compiler's complaint are passed on.
const COMPLAINT_LINES: usize = 20;

/// The C compiler: what is asked for, else what the environment says in `CC`, else `cc`.
pub fn command(world: &dyn World, asked: Option<&str>) -> String {
    let from_environment = || world.environment("CC").filter(|command| !command.trim().is_empty());
    asked.map(str::to_string).or_else(from_environment).unwrap_or_else(|| "cc".into())
}

/// Compiles and links a job, unless that was done before; the path of what is made.
pub fn compile(job: &Job<'_>) -> Result<PathBuf, Failure> {
    let (command, flags) = (command(job.world, job.compiler.as_deref()), flags(job));
    let directory = job.cache.join(format!("c-{:016x}", fingerprint(job, &command, &flags)));
    let artifact = directory.join(job.name);
    if job.world.exists(&text(&artifact)) {
        return Ok(artifact);
    }
    for (name, contents) in &job.files {
        let path = directory.join(name);
        job.world.write(&text(&path), contents.as_bytes()).map_err(io(&path))?;
    }
    // Built aside and then renamed: two builds of the same program may run at once.
    let aside = directory.join(format!("building-{:016x}", job.world.seed()));
    job.world.make_folder(&text(&aside)).map_err(io(&aside))?;
    let built = build(job, &command, &flags, &aside).and_then(|built| {
        job.world.rename(&text(&built), &text(&artifact)).map_err(io(&artifact))?;
        Ok(artifact)
    });
    // What is left there does no harm.
    let _ = job.world.remove(&text(&aside));
    built
}

fn fingerprint(job: &Job<'_>, command: &str, flags: &[String]) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (command, flags, &job.files, &job.units, &job.libraries).hash(&mut hasher);
    hasher.finish()
}

fn flags(job: &Job<'_>) -> Vec<String> {
    let mut flags = vec!["-std=c11", "-Wall", "-Wextra", "-Wno-tautological-compare", "-Wno-type-limits", "-Werror"];
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

/// Everything into a folder of its own beside the sources; the path of what is linked.
fn build(job: &Job<'_>, command: &str, flags: &[String], aside: &Path) -> Result<PathBuf, Failure> {
    compile_units(job, command, flags, aside)?;
    let built = aside.join("built");
    let objects = job.units.iter().map(|unit| format!("{}.o", unit.trim_end_matches(".c")));
    let linker = Invocation::of(command)
        .args(link_flags(job).iter().copied())
        .args(["-o", "built"])
        .args(objects)
        .args(job.libraries.iter().map(|library| format!("-l{library}")))
        .within(text(aside));
    run(job.world, &linker)?;
    Ok(built)
}

/// Each unit to an object, on all cores.
fn compile_units(job: &Job<'_>, command: &str, flags: &[String], aside: &Path) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(job.units.len()).max(1);
    let compile = |worker: usize| {
        let units = job.units.iter().skip(worker).step_by(workers).map(|unit| format!("../{unit}"));
        let compiler = Invocation::of(command).args(flags).args(["-I", "..", "-c"]).args(units).within(text(aside));
        run(job.world, &compiler)
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || compile(worker))).collect();
        let ended = running.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

fn run(world: &dyn World, program: &Invocation) -> Result<(), Failure> {
    let command = program.command.clone();
    let Ok(output) = world.run(program, b"", LONGEST) else { return Err(Failure::NoCompiler { command }) };
    if output.is_success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let message = words.lines().take(COMPLAINT_LINES).collect::<Vec<_>>().join("\n");
    Err(Failure::Compiler { command, message })
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
    use mokume_base::{MemoryWorld, Output};

    use super::*;

    /// A compiler that makes empty objects, and links them into a list of their names.
    fn compiler(world: &MemoryWorld, invocation: &Invocation, _: &[u8]) -> Output {
        let units = invocation.args.iter().filter(|arg| arg.ends_with(".c"));
        for unit in units {
            let source = world.read_text(&world.path_of(invocation, unit)).unwrap();
            if source.contains("wrong") {
                return Output { status: Some(1), stderr: b"it is wrong".to_vec(), ..Output::default() };
            }
            let object = unit.trim_start_matches("../").replace(".c", ".o");
            world.write(&world.path_of(invocation, &object), b"").unwrap();
        }
        if let Some(at) = invocation.args.iter().position(|arg| arg == "-o") {
            let made = world.path_of(invocation, &invocation.args[at + 1]);
            world.write(&made, invocation.args[at + 2..].join(" ").as_bytes()).unwrap();
        }
        Output { status: Some(0), ..Output::default() }
    }

    fn job<'w>(world: &'w MemoryWorld, text: &str) -> Job<'w> {
        Job {
            world,
            compiler: None,
            optimize: 2,
            sanitize: Sanitize::Nothing,
            product: Product::Shared,
            flags: Vec::new(),
            files: vec![("a.c".into(), text.into()), ("b.c".into(), "int b;".into()), ("c.h".into(), "".into())],
            units: vec!["a.c".into(), "b.c".into()],
            libraries: vec!["m".into()],
            cache: PathBuf::from("cache"),
            name: "made.so",
        }
    }

    #[test]
    fn units_are_compiled_and_linked_and_what_was_aside_is_gone() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let made = compile(&job(&world, "int a;")).unwrap();
        assert_eq!(world.read_text(&text(&made)).unwrap(), "a.o b.o -lm");
        let left = world.list(&text(made.parent().unwrap())).unwrap();
        assert_eq!(left, ["a.c", "b.c", "c.h", "made.so"]);
    }

    #[test]
    fn what_was_built_is_not_built_again() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let made = compile(&job(&world, "int a;")).unwrap();
        world.write(&text(&made), b"kept").unwrap();
        assert_eq!(compile(&job(&world, "int a;")).unwrap(), made);
        assert_eq!(world.read(&text(&made)).unwrap(), b"kept");
        assert_ne!(compile(&job(&world, "int other;")).unwrap(), made);
    }

    #[test]
    fn a_refusal_is_passed_on_and_leaves_nothing_that_would_be_found() {
        let world = MemoryWorld::new().with_tool("cc", compiler);
        let refused = Failure::Compiler { command: "cc".into(), message: "it is wrong".into() };
        assert_eq!(compile(&job(&world, "wrong")), Err(refused.clone()));
        assert_eq!(compile(&job(&world, "wrong")), Err(refused));
    }

    #[test]
    fn the_environment_names_a_compiler() {
        let world = MemoryWorld::new().with_environment("CC", "mine");
        assert_eq!((command(&world, None), command(&world, Some("other"))), ("mine".into(), "other".into()));
        assert_eq!(command(&MemoryWorld::new().with_environment("CC", " "), None), "cc");
        let missing = Failure::NoCompiler { command: "mine".into() };
        assert_eq!(compile(&job(&world, "int a;")), Err(missing));
    }
}
