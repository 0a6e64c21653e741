//! Solvers are other people's programs: SMT-LIB text in, a verdict out. z3 for counters, bitwuzla for octets.
//!
//! Time limits are only a safety net; a query without an answer is `Unknown`, never a proof.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No values make all facts true.
    Unsat,
    /// Some do: their text, as the solver gives it.
    Sat(Vec<(String, u64)>),
    Unknown(String),
}

pub trait Solver {
    fn name(&self) -> &'static str;
    /// `script` ends with `(check-sat)`; `wanted` are names of bit-vector or boolean constants whose values matter when it is satisfiable.
    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer;
}

/// z3's program, by standard input.
pub struct Z3 {
    program: PathBuf,
    limit: Duration,
}

/// bitwuzla by its Python package (it comes without a program).
pub struct Bitwuzla {
    python: PathBuf,
    limit: Duration,
}

/// What this machine has, best first for octets; the folder is where `scripts/setup` puts its virtual environment.
pub fn solvers(environment: &std::path::Path) -> Vec<Box<dyn Solver>> {
    let limit = Duration::from_secs(60);
    let mut found: Vec<Box<dyn Solver>> = Vec::new();
    let python = environment.join("bin/python");
    if succeeds(Command::new(&python).args(["-c", "import bitwuzla"])) {
        found.push(Box::new(Bitwuzla { python, limit }));
    }
    let own = environment.join("bin/z3");
    let program = if own.exists() { own } else { PathBuf::from("z3") };
    if succeeds(Command::new(&program).arg("--version")) {
        found.push(Box::new(Z3 { program, limit }));
    }
    found
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A few lines that speak SMT-LIB through bitwuzla's parser.
const BITWUZLA: &str = r#"
import sys, tempfile, bitwuzla
text = sys.stdin.read()
with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
    file.write(text); file.flush()
    terms = bitwuzla.TermManager(); options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, 60000)
    parser = bitwuzla.Parser(terms, options)
    parser.parse(file.name)
"#;

impl Solver for Z3 {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        let limit = format!("-T:{}", self.limit.as_secs());
        run(Command::new(&self.program).args(["-in", "-smt2", &limit]), script, wanted)
    }
}

impl Solver for Bitwuzla {
    fn name(&self) -> &'static str {
        "bitwuzla"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        let _ = self.limit;
        run(Command::new(&self.python).args(["-c", BITWUZLA]), script, wanted)
    }
}

fn run(command: &mut Command, script: &str, wanted: &[String]) -> Answer {
    let mut text = script.to_string();
    if !wanted.is_empty() {
        let names: Vec<String> = wanted.iter().map(|name| format!("|{name}|")).collect();
        text.push_str(&format!("(get-value ({}))\n", names.join(" ")));
    }
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Answer::Unknown("the solver does not start".into()) };
    if let Some(mut input) = child.stdin.take() {
        // A solver that ends early closes its input; its output says why.
        let _ = input.write_all(text.as_bytes());
    }
    match child.wait_with_output() {
        Ok(output) => answer(&String::from_utf8_lossy(&output.stdout), wanted),
        Err(error) => Answer::Unknown(error.to_string()),
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
    use super::*;

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
