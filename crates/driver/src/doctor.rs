//! `mokume doctor`: which optional tools this machine has. Each one is tried, not only looked for.

use std::time::Duration;

use mokume_base::world::World;
use mokume_reaction::{Datum, Outcome};

use crate::compile::{self, Compiled};
use crate::devices::{self, Kind};
use crate::machines::{self, Backend};
use crate::{cache, natives, new, prove, Failure};

/// One tool that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub what: &'static str,
    /// What needs it.
    pub of: &'static str,
    /// Whether nothing works without it.
    pub is_basic: bool,
    /// What was found; or what is missing, and how to get it.
    pub found: Result<String, Missing>,
}

/// What is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    pub why: String,
    /// How to get it.
    pub help: String,
}

impl From<Failure> for Missing {
    fn from(Failure { message, help, .. }: Failure) -> Missing {
        Missing { why: message, help }
    }
}

fn missing(why: impl Into<String>, help: &str) -> Missing {
    Missing { why: why.into(), help: help.to_owned() }
}

/// Access to the machine that does not go through `World`: devices.
pub type Open<'a> = &'a dyn Fn(&Kind) -> Result<(), Failure>;

/// Opens a device, and closes it.
///
/// # Errors
/// As [`devices::open`].
pub fn opened(kind: &Kind) -> Result<(), Failure> {
    devices::open(kind).map(drop)
}

/// All findings, in the order in which a user needs the tools.
pub fn findings(world: &dyn World, open: Open<'_>) -> Vec<Finding> {
    let finding = |what, of, is_basic, found| Finding { what, of, is_basic, found };
    let stack = stack(world);
    let compiler = c_compiler(world);
    let c = compiler.clone().and_then(|version| {
        runs(world, stack.as_ref().map_err(Clone::clone)?, Backend::C)?;
        Ok(version)
    });
    vec![
        finding("compiler", "`check`, `test`, `sim`: a stack is checked and run", true, interpreter(world, &stack)),
        finding("cache", "what is kept from run to run", true, cache_folder(world)),
        finding("C", "`--backend c`, `test` in C, `build` to a program", false, c),
        finding("libsodium", "the layer `Cipher` in C; it runs by its model without", false, sodium(world, &compiler)),
        finding("solvers", "`prove`", false, solvers(world)),
        finding("TAP", "`--device tap:…`: talks with this machine's own network", false, tap(world, open)),
        finding("UDP", "`--device udp:…`: talks with other machines", false, udp(open)),
        finding("Wireshark", "dissectors of `build --emit wireshark`", false, tshark(world)),
    ]
}

/// Whether all the basic tools are there.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| !finding.is_basic || finding.found.is_ok())
}

/// The stack of `mokume new`.
fn stack(world: &dyn World) -> Result<Compiled, Failure> {
    let checked = compile::check_texts(world, vec![("doctor.mok".to_owned(), new::SOURCE.to_owned())], Vec::new());
    let stack = compile::choose_stack(&checked, None)?;
    let (compiled, diagnostics) = compile::compile(&checked, stack, world);
    compiled.ok_or_else(|| {
        let first = diagnostics.first().map_or(String::new(), |first| first.message.clone());
        Failure::of_program(format!("a stack that is right was refused: {first}"), REPORT)
    })
}

const REPORT: &str = "please report this";

/// Runs it with a message: expects a frame with a number in front.
fn runs(world: &dyn World, compiled: &Compiled, backend: Backend) -> Result<(), Missing> {
    let automaton = &compiled.composed;
    let given = |name: &str| match name.rsplit_once('.') {
        Some((device, "mac")) => Some(devices::default_mac(device)),
        Some((_, "mtu")) => Some(1514),
        _ => None,
    };
    let params = machines::parameters(automaton, &compiled.written, &[], &given)?;
    let mut machine = machines::machine(compiled, backend, &params, 0, 2048, world)?;
    let ports = automaton.ports.iter().enumerate();
    let mut inputs =
        ports.flat_map(|(at, port)| port.inputs.iter().enumerate().map(move |(event, input)| (at, event, input)));
    let sends = inputs.find(|(_, _, input)| input.event == "send_to");
    let (port, event, _) = sends.ok_or_else(|| missing("the stack takes no message", REPORT))?;
    machine.start(0);
    let outcome: Outcome = machine.input(0, port.into(), event as u32, &[Datum::Message(b"well".to_vec())]);
    match outcome.outputs.iter().flat_map(|output| &output.args).next() {
        Some(Datum::Message(octets)) if octets[..] == *b"\x01\0\0\0well" => Ok(()),
        other => Err(missing(format!("a stack ran, and put out {other:?}"), REPORT)),
    }
}

fn interpreter(world: &dyn World, stack: &Result<Compiled, Failure>) -> Result<String, Missing> {
    runs(world, stack.as_ref().map_err(Clone::clone)?, Backend::Interpreter)?;
    Ok("a stack was checked, and runs".to_owned())
}

fn cache_folder(world: &dyn World) -> Result<String, Missing> {
    let folder = cache::folder(world);
    let probe = folder.join("doctor").to_string_lossy().into_owned();
    let written = world.write(&probe, b"").and_then(|()| world.remove(&probe));
    let place = folder.display();
    let help = "XDG_CACHE_HOME names another folder";
    written.map(|()| format!("{place}")).map_err(|error| missing(format!("{place} cannot be written: {error}"), help))
}

/// A program's version: the first line of its output.
fn version(world: &dyn World, program: &str) -> Option<String> {
    let asked = mokume_toolchain::invocation(world, program).args(["--version"]);
    let output = world.run(&asked, b"", Duration::from_secs(30)).ok().filter(|output| output.is_success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

/// The compiler's version. Cached programs run without it, so it is tried by itself.
fn c_compiler(world: &dyn World) -> Result<String, Missing> {
    if let Some(failure) = natives::compiler_fails(world) {
        return Err(failure.into());
    }
    let version = version(world, &machines::compiler(world));
    version.ok_or_else(|| missing("the C compiler does not say its version", "name one in CC that takes `--version`"))
}

fn sodium(world: &dyn World, compiler: &Result<String, Missing>) -> Result<String, Missing> {
    const WAY: &str = "install it: `apt install libsodium-dev`";
    match (compiler, natives::has_library(world, "sodium")) {
        (Err(_), _) => {
            Err(missing("not known, as there is no C compiler that works", &format!("if it is missing, {WAY}")))
        }
        (Ok(_), true) => Ok("C can be linked with it".to_owned()),
        (Ok(_), false) => Err(missing("C cannot be linked with it", WAY)),
    }
}

fn solvers(world: &dyn World) -> Result<String, Missing> {
    let names = prove::solver_names(world)?;
    let without = ["bitwuzla", "z3"].into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>();
    let more = match without.is_empty() {
        true => String::new(),
        false => format!("; more is proved with {}, too", without.join(", ")),
    };
    Ok(format!("{}{more}", names.join(", ")))
}

/// Creates an interface, with a name that nothing else uses, to see whether that works.
fn tap(world: &dyn World, open: Open<'_>) -> Result<String, Missing> {
    let interface = format!("mok{:08x}", world.seed() as u32);
    open(&Kind::Tap { interface: interface.clone() }).map_err(|failure| {
        let Missing { why, help } = failure.into();
        Missing { why: why.replace(&interface, "mok0"), help: help.replace(&interface, "mok0") }
    })?;
    Ok("an interface was made, and removed".to_owned())
}

fn udp(open: Open<'_>) -> Result<String, Missing> {
    let (_, kind) = devices::parse("udp:127.0.0.1:0,127.0.0.1:9")?;
    open(&kind)?;
    Ok("a socket was opened".to_owned())
}

fn tshark(world: &dyn World) -> Result<String, Missing> {
    let found = ["tshark", "wireshark"].into_iter().find_map(|program| version(world, program));
    found.ok_or_else(|| missing("neither tshark nor wireshark is found", "install one: `apt install tshark`"))
}

#[cfg(test)]
mod tests {
    use mokume_base::world::{MemoryWorld, Output};

    use super::*;

    fn found<'f>(findings: &'f [Finding], what: &str) -> &'f Result<String, Missing> {
        &findings.iter().find(|finding| finding.what == what).unwrap().found
    }

    fn refused(kind: &Kind) -> Result<(), Failure> {
        Err(Failure::of_use(format!("`{}` is refused", kind.label()), "ask somebody"))
    }

    /// A bare machine: each missing tool says how to get it, and the basics work.
    #[test]
    fn a_bare_machine_can_do_the_basics_and_hears_what_is_missing() {
        let findings = findings(&MemoryWorld::new(), &refused);
        assert!(is_well(&findings), "{findings:?}");
        for what in ["C", "libsodium", "solvers", "TAP", "UDP", "Wireshark"] {
            let missing = found(&findings, what).as_ref().expect_err(what);
            assert!(!missing.help.is_empty() && !missing.why.contains('\n'), "{what}: {missing:?}");
        }
        assert!(format!("{:?}", found(&findings, "TAP")).contains("`mok0`"));
    }

    /// A compiler that fails is what is missing, and not what it would link with.
    #[test]
    fn a_broken_compiler_is_said_once() {
        let broken = |args: &[String], _: &[u8]| match args {
            [one] if one == "--version" => Output { status: Some(0), stdout: "cc 1".into(), ..Output::default() },
            _ => Output { status: Some(1), stderr: "no cc1 here\nmore".into(), ..Output::default() },
        };
        let findings = findings(&MemoryWorld::new().with_program("cc", broken), &refused);
        let c = found(&findings, "C").as_ref().unwrap_err();
        assert_eq!(c.why, "the C compiler `cc` does not work: no cc1 here");
        let sodium = found(&findings, "libsodium").as_ref().unwrap_err();
        assert_eq!(sodium.why, "not known, as there is no C compiler that works");
    }

    #[test]
    fn what_is_there_is_found_and_a_basic_that_is_missing_is_no_good_end() {
        let says = |text: &'static str| {
            move |_: &[String], _: &[u8]| Output { status: Some(0), stdout: text.into(), ..Output::default() }
        };
        let world =
            MemoryWorld::new().with_program("tshark", says("TShark 4.0\nmore\n")).with_program("z3", says("Z3"));
        let mut findings = findings(&world, &|_| Ok(()));
        assert_eq!(found(&findings, "Wireshark").as_deref(), Ok("TShark 4.0"));
        assert_eq!(found(&findings, "solvers").as_deref(), Ok("z3; more is proved with bitwuzla, too"));
        assert!(found(&findings, "TAP").is_ok() && is_well(&findings));
        findings[0].found = Err(missing("planted", "none"));
        assert!(!is_well(&findings));
    }
}
