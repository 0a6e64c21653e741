//! Solvers are external programs: SMT-LIB text in, a verdict out. z3 for counters, bitwuzla for octets.
//!
//! Time limits are only a safety net; a query without an answer is `Unknown`, never a proof.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::time::Duration;

use mokume_base::world::Running;
use mokume_base::{Invocation, World};

/// A solver's answer about facts that are asserted together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No values make all facts true.
    Unsat,
    /// Some values do: these, by name.
    Sat(Vec<(String, u64)>),
    Unknown(String),
}

/// A program that decides SMT-LIB scripts. It is not ours. Only what it refutes or satisfies counts; what it does not
/// decide is not a proof.
pub trait Solver {
    fn name(&self) -> &'static str;
    /// Asks once. `script` ends with `(check-sat)`; `wanted` are names of bit-vector or boolean constants whose values
    /// matter if it is satisfiable.
    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer;
    /// Limits the time of each further question; the limit that the solver was made with still holds.
    fn limit(&mut self, limit: Duration) {
        let _ = limit;
    }
    /// Begins a session, whose script holds for all that [`Solver::check`] asks from here on. Returns whether the
    /// solver supports sessions.
    fn begin(&mut self, script: &str) -> bool {
        let _ = script;
        false
    }
    /// Adds `script` to the session, and asks whether all of it can hold with `assumed`, for this question only; these
    /// are terms that the script has named. `None` if the session is lost.
    fn check(&mut self, script: &str, assumed: &[String], wanted: &[String], limit: Duration) -> Option<Answer> {
        let _ = (script, assumed, wanted, limit);
        None
    }
}

/// z3's program, over the standard input.
pub struct Z3<'w> {
    world: &'w dyn World,
    program: String,
    limit: Duration,
    /// The time left of a longer task.
    now: Duration,
}

/// bitwuzla, by its Python package (it comes without a program).
pub struct Bitwuzla<'w> {
    world: &'w dyn World,
    python: String,
    limit: Duration,
    /// The time left of a longer task.
    now: Duration,
    /// The running process; it answers one question after the other.
    running: Option<BufReader<Box<dyn Running>>>,
}

/// The solvers of this machine, the best for octets first. `environment` is the folder where `scripts/setup` puts its
/// virtual environment. A question that takes longer than `limit` has no answer.
pub fn solvers<'w>(world: &'w dyn World, environment: &str, limit: Duration) -> Vec<Box<dyn Solver + 'w>> {
    let mut found: Vec<Box<dyn Solver + 'w>> = Vec::new();
    let python = format!("{environment}/bin/python");
    if succeeds(world, &Invocation::of(&python).args(["-c", "import bitwuzla"])) {
        found.push(Box::new(Bitwuzla { world, python, limit, now: limit, running: None }));
    }
    let own = format!("{environment}/bin/z3");
    let program = if world.exists(&own) { own } else { "z3".to_string() };
    if succeeds(world, &Invocation::of(&program).args(["--version"])) {
        found.push(Box::new(Z3 { world, program, limit, now: limit }));
    }
    found
}

fn succeeds(world: &dyn World, program: &Invocation) -> bool {
    world.run(program, b"", START).is_ok_and(|output| output.is_success())
}

/// How long a solver may take to show that it is there; a slower one counts as missing.
const START: Duration = Duration::from_secs(60);

/// How much longer than its limit a solver may run before it is killed: starting, reading and printing do not count.
const GRACE: Duration = Duration::from_secs(60);

/// The script that runs bitwuzla for us.
const BITWUZLA: &str = include_str!("bitwuzla.py");

impl Solver for Z3<'_> {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        let now = self.limit.min(self.now).max(Duration::from_secs(1));
        let limit = format!("-T:{}", now.as_secs());
        let program = Invocation::of(&self.program).args(["-in", "-smt2", &limit]);
        run(self.world, &program, now, script, wanted)
    }

    fn limit(&mut self, limit: Duration) {
        self.now = limit;
    }
}

impl Solver for Bitwuzla<'_> {
    fn name(&self) -> &'static str {
        "bitwuzla"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        match self.talk("script", script, self.limit.min(self.now)) {
            Some(output) => answer(&output, wanted),
            None => Answer::Unknown("the solver came to no end".into()),
        }
    }

    fn limit(&mut self, limit: Duration) {
        self.now = limit;
    }

    fn begin(&mut self, script: &str) -> bool {
        self.talk("begin", script, self.limit).is_some_and(|output| output == "begun\n")
    }

    fn check(&mut self, script: &str, assumed: &[String], wanted: &[String], limit: Duration) -> Option<Answer> {
        let mut text = script.to_owned();
        for (word, terms) in [("assume", assumed), ("value", wanted)] {
            for term in terms {
                text.push_str(&format!("\n;{word} {term}"));
            }
        }
        self.talk("check", &text, limit.min(self.limit)).map(|output| answer(&output, wanted))
    }
}

impl Bitwuzla<'_> {
    /// Asks the running process, or starts a new one; `None` if it has ended.
    fn talk(&mut self, word: &str, script: &str, limit: Duration) -> Option<String> {
        let output = self.say(word, script, limit);
        if output.is_err() {
            self.running = None;
        }
        output.ok()
    }

    fn say(&mut self, word: &str, script: &str, limit: Duration) -> io::Result<String> {
        let limit = limit.as_millis();
        let running = match &mut self.running {
            Some(running) => running,
            none => {
                let program = Invocation::of(&self.python).args(["-c", BITWUZLA]);
                none.insert(BufReader::new(self.world.start(&program)?))
            }
        };
        let process = running.get_mut();
        write!(process, "{word} {} {limit}\n{script}", script.len())?;
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
        "sat" => {
            let values = values_of(output);
            Answer::Sat(wanted.iter().filter_map(|name| Some((name.clone(), *values.get(plain(name))?))).collect())
        }
        other => Answer::Unknown(other.to_string()),
    }
}

/// A name without its bars.
fn plain(name: &str) -> &str {
    name.trim_matches('|')
}

/// All values by name: `(|name| #x0a)`, `(|name| #b01)`, `(|name| true)`, `(name (_ bv7 32))`.
fn values_of(output: &str) -> HashMap<&str, u64> {
    let (mut values, mut last) = (HashMap::new(), None);
    for part in output.split('(').filter(|part| !part.trim().is_empty()) {
        let part = part.trim_start();
        let (name, after) = match part.strip_prefix('|').and_then(|rest| rest.split_once('|')) {
            Some(named) => named,
            None => part.split_once(char::is_whitespace).unwrap_or((part, "")),
        };
        // `(_ bv7 32)` is the value of the name before it.
        let after = match (name, after.split_whitespace().next()) {
            ("_", Some(number)) => number,
            _ => after.trim_start(),
        };
        match (name, value_of(after)) {
            ("_", Some(value)) => {
                last.and_then(|name| values.insert(name, value));
            }
            (_, Some(value)) => {
                values.insert(name, value);
            }
            (_, None) => {}
        }
        last = Some(name);
    }
    values
}

/// Parses `#x0a)`, `#b01)`, `true)`, `bv7`.
fn value_of(after: &str) -> Option<u64> {
    let until = |text: &'_ str, ends: fn(char) -> bool| text.split(ends).next().unwrap_or_default().to_owned();
    if let Some(hex) = after.strip_prefix("#x") {
        return u64::from_str_radix(&until(hex, |c| !c.is_ascii_hexdigit()), 16).ok();
    }
    if let Some(bits) = after.strip_prefix("#b") {
        return u64::from_str_radix(&until(bits, |c| !c.is_ascii_digit()), 2).ok();
    }
    if let Some(decimal) = after.strip_prefix("bv") {
        return until(decimal, |c| !c.is_ascii_digit()).parse().ok();
    }
    match until(after, |c| !c.is_ascii_alphabetic()).as_str() {
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
