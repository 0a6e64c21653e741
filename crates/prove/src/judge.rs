//! The conditions under which an automaton's paths and lenses mean what its layers mean, and who decides them.
//!
//! V0 a new record keeps the invariants. V1 a path's commit and outs are the layered reaction's, and keep the invariants. V2
//! (bodies in order, else the layers) holds by form. V3 another record's invariants survive a path's writes to what they share.
//! V4/V5 `get` and `put` are lawful, `put` and `refresh` keep the invariants: so rare code may run through the lens. V8 a path
//! takes no more buffers. V10 a path can be taken at all.

mod laws;
mod paths;

use std::time::{Duration, Instant};

use mokume_reaction::Automaton;

use crate::solver::{Answer, Solver};
use crate::term::{Term, Terms};

/// What was to be shown, and what came out.
#[derive(Clone, Debug)]
pub struct Finding {
    /// `V1`, …
    pub condition: &'static str,
    /// The path or lens, and the part of it.
    pub about: String,
    pub verdict: Verdict,
    pub solver: &'static str,
    pub took: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Proved,
    /// With a state and an event: values by name (`lens.cell`, `param n`, `message.size`, …).
    Refuted(Vec<(String, u64)>),
    /// Never counted as proved.
    Unknown(String),
}

/// Everything found about one automaton.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub findings: Vec<Finding>,
}

impl Judgement {
    pub fn is_proved(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(|finding| finding.verdict == Verdict::Proved)
    }

    pub fn first_refuted(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| matches!(finding.verdict, Verdict::Refuted(_)))
    }
}

/// Decides every condition; `solvers` are asked in turn until one knows.
pub fn judge(automaton: &Automaton, solvers: &mut [Box<dyn Solver>]) -> Judgement {
    let mut court = Court { automaton, solvers, findings: Vec::new() };
    for lens in 0..automaton.lenses.len() {
        if let Err(why) = laws::judge_lens(&mut court, lens) {
            court.give_up("V4", automaton.lenses[lens].name.clone(), why);
        }
    }
    for path in 0..automaton.paths.len() {
        if let Err(why) = paths::judge_path(&mut court, path) {
            court.give_up("V1", automaton.paths[path].name.clone(), why);
        }
    }
    Judgement { findings: court.findings }
}

/// Something to be shown.
struct Goal {
    condition: &'static str,
    about: String,
    hypotheses: Vec<Term>,
    goal: Term,
}

/// The goal's hypotheses without it.
fn failure_of(terms: &mut Terms, goal: &Goal) -> Term {
    let mut facts = goal.hypotheses.clone();
    facts.push(terms.not(goal.goal));
    terms.all(&facts)
}

struct Court<'a> {
    automaton: &'a Automaton,
    solvers: &'a mut [Box<dyn Solver>],
    findings: Vec<Finding>,
}

impl Court<'_> {
    fn give_up(&mut self, condition: &'static str, about: String, why: String) {
        let verdict = Verdict::Unknown(why);
        self.findings.push(Finding { condition, about, verdict, solver: "none", took: Duration::ZERO });
    }

    /// Shows all goals: those that rewriting does not close together, then by halves, until the guilty ones stand alone.
    fn show_all(&mut self, terms: &mut Terms, goals: Vec<Goal>) {
        let mut open = Vec::new();
        for goal in goals {
            let failure = failure_of(terms, &goal);
            if terms.constant(failure) == Some(0) {
                let Goal { condition, about, .. } = goal;
                let (verdict, took) = (Verdict::Proved, Duration::ZERO);
                self.findings.push(Finding { condition, about, verdict, solver: "rewriting", took });
            } else {
                open.push(goal);
            }
        }
        self.show_together(terms, open);
    }

    fn show_together(&mut self, terms: &mut Terms, mut goals: Vec<Goal>) {
        if goals.len() <= 1 {
            for Goal { condition, about, hypotheses, goal } in goals {
                self.show(terms, condition, &about, &hypotheses, goal);
            }
            return;
        }
        let started = Instant::now();
        let failures: Vec<Term> = goals.iter().map(|goal| failure_of(terms, goal)).collect();
        let any = terms.any(&failures);
        match self.ask(terms, &[any]) {
            (Answer::Unsat, solver) => {
                let took = started.elapsed() / goals.len() as u32;
                let proved = |Goal { condition, about, .. }| Finding {
                    condition,
                    about,
                    verdict: Verdict::Proved,
                    solver,
                    took,
                };
                self.findings.extend(goals.into_iter().map(proved));
            }
            _ => {
                let second = goals.split_off(goals.len() / 2);
                self.show_together(terms, goals);
                self.show_together(terms, second);
            }
        }
    }

    /// Whether `goal` follows from the hypotheses. Goals that rewriting has made true need no solver.
    fn show(&mut self, terms: &mut Terms, condition: &'static str, about: &str, hypotheses: &[Term], goal: Term) {
        let started = Instant::now();
        let opposite = terms.not(goal);
        let mut facts = hypotheses.to_vec();
        facts.push(opposite);
        let all = terms.all(&facts);
        let (verdict, solver) = if terms.constant(all) == Some(0) {
            (Verdict::Proved, "rewriting")
        } else {
            match self.ask(terms, &facts) {
                (Answer::Unsat, solver) => (Verdict::Proved, solver),
                (Answer::Sat(values), solver) => (Verdict::Refuted(values), solver),
                (Answer::Unknown(why), solver) => (Verdict::Unknown(why), solver),
            }
        };
        self.findings.push(Finding { condition, about: about.to_string(), verdict, solver, took: started.elapsed() });
    }

    /// Whether all facts can be true at once.
    fn show_possible(&mut self, terms: &mut Terms, condition: &'static str, about: &str, facts: &[Term]) {
        let started = Instant::now();
        let (answer, solver) = self.ask(terms, facts);
        let verdict = match answer {
            Answer::Sat(_) => Verdict::Proved,
            Answer::Unsat => Verdict::Refuted(Vec::new()),
            Answer::Unknown(why) => Verdict::Unknown(why),
        };
        self.findings.push(Finding { condition, about: about.to_string(), verdict, solver, took: started.elapsed() });
    }

    fn ask(&mut self, terms: &mut Terms, facts: &[Term]) -> (Answer, &'static str) {
        let script = terms.script(facts);
        let named = terms.questions(facts);
        let wanted: Vec<String> = named.iter().map(|(_, reference)| reference.clone()).collect();
        let mut last = (Answer::Unknown("no solver".into()), "none");
        for solver in self.solvers.iter_mut() {
            // Values are asked for only when there are any: some solvers call that an error after `unsat`, and say so behind the verdict.
            let mut answer = solver.ask(&script, &wanted);
            if let Answer::Sat(values) = &mut answer {
                for (reference, _) in values.iter_mut() {
                    let known = named.iter().find(|(_, other)| other == reference);
                    *reference = known.map_or(reference.clone(), |(name, _)| name.clone());
                }
            }
            last = (answer, solver.name());
            if !matches!(last.0, Answer::Unknown(_)) {
                break;
            }
        }
        last
    }
}
