//! Solvers are other people's programs: SMT-LIB text in, a verdict out. z3 for counters, bitwuzla for octets.
//!
//! Time limits are only a safety net; a query without an answer is `Unknown`, never a proof.

use std::io::{self, BufRead, BufReader, Write};
use std::time::Duration;

use mokume_base::world::Running;
use mokume_base::{Invocation, World};

/// What a solver says about facts that are asserted together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No values make all facts true.
    Unsat,
    /// Some do: their text, as the solver gives it.
    Sat(Vec<(String, u64)>),
    Unknown(String),
}

/// A program that decides SMT-LIB scripts. It is none of ours: only what it refutes or satisfies counts, and what it
/// does not decide is no proof.
pub trait Solver {
    fn name(&self) -> &'static str;
    /// `script` ends with `(check-sat)`; `wanted` are names of bit-vector or boolean constants whose values matter when it is satisfiable.
    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer;
}

/// z3's program, by standard input.
pub struct Z3<'w> {
    world: &'w dyn World,
    program: String,
    limit: Duration,
}

/// bitwuzla by its Python package (it comes without a program).
pub struct Bitwuzla<'w> {
    world: &'w dyn World,
    python: String,
    limit: Duration,
    /// It answers one question after the other.
    running: Option<BufReader<Box<dyn Running>>>,
}

/// What this machine has, best first for octets; the folder is where `scripts/setup` puts its virtual environment. A question that takes longer
/// than the limit has no answer.
pub fn solvers<'w>(world: &'w dyn World, environment: &str, limit: Duration) -> Vec<Box<dyn Solver + 'w>> {
    let mut found: Vec<Box<dyn Solver + 'w>> = Vec::new();
    let python = format!("{environment}/bin/python");
    if succeeds(world, &Invocation::of(&python).args(["-c", "import bitwuzla"])) {
        found.push(Box::new(Bitwuzla { world, python, limit, running: None }));
    }
    let own = format!("{environment}/bin/z3");
    let program = if world.exists(&own) { own } else { "z3".to_string() };
    if succeeds(world, &Invocation::of(&program).args(["--version"])) {
        found.push(Box::new(Z3 { world, program, limit }));
    }
    found
}

fn succeeds(world: &dyn World, program: &Invocation) -> bool {
    world.run(program, b"", START).is_ok_and(|output| output.is_success())
}

/// A solver that says nothing for so long when it only has to show that it is there is none.
const START: Duration = Duration::from_secs(60);

/// A solver that does not keep to its limit is ended after so much longer: starting, reading and printing are not in it.
const GRACE: Duration = Duration::from_secs(60);

/// What speaks with us in bitwuzla's name.
const BITWUZLA: &str = include_str!("bitwuzla.py");

impl Solver for Z3<'_> {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        let limit = format!("-T:{}", self.limit.as_secs());
        let program = Invocation::of(&self.program).args(["-in", "-smt2", &limit]);
        run(self.world, &program, self.limit, script, wanted)
    }
}

impl Solver for Bitwuzla<'_> {
    fn name(&self) -> &'static str {
        "bitwuzla"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        match self.talk(script) {
            Ok(output) => answer(&output, wanted),
            Err(_) => {
                self.running = None;
                Answer::Unknown("the solver came to no end".into())
            }
        }
    }
}

impl Bitwuzla<'_> {
    /// Asks the process that is there, or a new one.
    fn talk(&mut self, script: &str) -> io::Result<String> {
        let running = match &mut self.running {
            Some(running) => running,
            none => {
                let limit = format!("{}", self.limit.as_millis());
                let program = Invocation::of(&self.python).args(["-c", BITWUZLA, &limit]);
                none.insert(BufReader::new(self.world.start(&program)?))
            }
        };
        let process = running.get_mut();
        write!(process, "{}\n{script}", script.len())?;
        process.flush()?;
        let mut output = String::new();
        loop {
            let before = output.len();
            if running.read_line(&mut output)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if &output[before..] == "done\n" {
                output.truncate(before);
                return Ok(output);
            }
        }
    }
}

fn run(world: &dyn World, program: &Invocation, limit: Duration, script: &str, wanted: &[String]) -> Answer {
    let mut text = script.to_string();
    if !wanted.is_empty() {
        let names: Vec<String> = wanted.iter().map(|name| format!("|{name}|")).collect();
        text.push_str(&format!("(get-value ({}))\n", names.join(" ")));
    }
    match world.run(program, text.as_bytes(), limit + GRACE) {
        Ok(output) => answer(&String::from_utf8_lossy(&output.stdout), wanted),
        Err(_) => Answer::Unknown("the solver does not start".into()),
    }
}

/// Reads the verdict and the values; an error before the verdict is `Unknown`.
fn answer(output: &str, wanted: &[String]) -> Answer {
    let verdict = output.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    match verdict {
        "unsat" => Answer::Unsat,
        "sat" => Answer::Sat(wanted.iter().filter_map(|name| Some((name.clone(), value_of(output, name)?))).collect()),
        other => Answer::Unknown(other.to_string()),
    }
}

/// `(|name| #x0a)`, `(|name| #b01)`, `(|name| true)`, `(name (_ bv7 32))`.
fn value_of(output: &str, name: &str) -> Option<u64> {
    let quoted = format!("|{name}|");
    let plain = format!("({name} ");
    let after = match output.find(&quoted) {
        Some(at) => &output[at + quoted.len()..],
        None => &output[output.find(&plain)? + plain.len()..],
    };
    let after = after.trim_start();
    if let Some(hex) = after.strip_prefix("#x") {
        return u64::from_str_radix(hex.split(|c: char| !c.is_ascii_hexdigit()).next()?, 16).ok();
    }
    if let Some(bits) = after.strip_prefix("#b") {
        return u64::from_str_radix(bits.split(|c: char| !c.is_ascii_digit()).next()?, 2).ok();
    }
    if let Some(decimal) = after.strip_prefix("(_ bv") {
        return decimal.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    }
    match after.split(|c: char| !c.is_ascii_alphabetic()).next()? {
        "true" => Some(1),
        "false" => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::{MemoryWorld, Output};

    use super::*;

    #[test]
    fn solvers_are_looked_for_in_the_environment_and_asked() {
        let z3 = |args: &[String], script: &[u8]| {
            let says =
                if script.is_empty() { "Z3 version 4".to_string() } else { format!("sat\n((|a| #x0{}))", args.len()) };
            Output { status: Some(0), stdout: says.into_bytes(), ..Output::default() }
        };
        let world = MemoryWorld::new().with_program("venv/bin/z3", z3).with_file("venv/bin/z3", "");
        let mut found = solvers(&world, "venv", START);
        assert_eq!(found.iter().map(|solver| solver.name()).collect::<Vec<_>>(), ["z3"]);
        assert_eq!(found[0].ask("(check-sat)", &["a".into()]), Answer::Sat(vec![("a".into(), 3)]));
        assert!(solvers(&MemoryWorld::new(), "venv", START).is_empty());
    }

    #[test]
    fn answers_are_read() {
        let wanted = vec!["a.b".to_string(), "c".to_string(), "d".to_string(), "e".to_string()];
        let output = "sat\n((|a.b| #x0000000a)\n (c #b101) (d true) (e (_ bv7 16)))\n";
        let expected = vec![("a.b".into(), 10), ("c".into(), 5), ("d".into(), 1), ("e".into(), 7)];
        assert_eq!(answer(output, &wanted), Answer::Sat(expected));
        assert_eq!(answer("unsat\n(error \"no model\")", &wanted), Answer::Unsat);
        assert_eq!(answer("(error \"line 3\")\nsat", &wanted), Answer::Unknown("(error \"line 3\")".into()));
        assert_eq!(answer("", &wanted), Answer::Unknown(String::new()));
    }
}
