//! Questions about one way through a path. Each is asked together with the way's facts, and goes to a solver only if
//! nothing cheaper answers it.

use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use crate::lemmas::{is_of_sums, lemmas, words_within};
use crate::smtlib::Told;
use crate::solver::{Answer, Solver};
use crate::term::{Model, Node, Sort, Term, Terms};

/// The most questions that solvers are asked about one way.
const QUESTIONS: u32 = 4000;

/// The most models (states with events) that are kept: each shows for many questions that they are satisfiable.
const MOST_MODELS: usize = 48;

/// The most samples that are compared to see which terms may be equal.
const MOST_SAMPLES: usize = 64;

/// The most candidates that are tried for a term that is equal to another.
const MOST_TRIES: usize = 8;

/// How often a question is asked anew with lemmas that the values found contradict.
const MOST_LESSONS: usize = 3;

/// The time limits of the solver that knows the facts: for whether two terms are equal, and for a goal.
const SHORT: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_millis(500);

/// The progress of judging a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The current way, from 1.
    pub way: usize,
    /// The number of ways, including those that refuse.
    pub ways: usize,
    /// The number of questions that solvers were asked about the way.
    pub questions: u32,
    /// The number of open ways so far.
    pub open: usize,
}

/// Observes the judging. Returns how much longer it may take, or why no more questions are to be asked.
pub type Watch<'s> = dyn FnMut(Step) -> Result<Duration, String> + 's;

/// The facts of a way, and the solvers that are asked about it.
pub(crate) struct Asking<'s, 'w, 'v> {
    facts: Vec<Term>,
    solvers: &'s mut [Box<dyn Solver + 'w>],
    watch: &'s mut Watch<'v>,
    step: Step,
    /// Why no more questions are asked.
    over: Option<String>,
    /// The time that is left.
    time: Duration,
    /// The number of questions that are left.
    left: u32,
    /// The solver that has been told the facts.
    session: Option<usize>,
    is_begun: bool,
    told: Told,
    /// The lines that it has not been told yet.
    script: Vec<String>,
    /// The terms about sums that occurred in questions, from which lemmas are made.
    asked: Vec<Term>,
    lemmas: Vec<Term>,
    /// Models of the facts and the lemmas.
    models: Vec<Model>,
    /// The same models, in the order in which they were found.
    samples: Vec<Model>,
    /// For each number that others may be equal to: a hash of its values in all samples.
    marks: HashMap<Term, u64>,
    /// The numbers by this hash and their sort.
    alike: HashMap<(u64, Sort), Vec<Term>>,
    /// Answers, by what was assumed beside the facts.
    answers: HashMap<Vec<Term>, Answer>,
}

impl<'s, 'w, 'v> Asking<'s, 'w, 'v> {
    pub(crate) fn new(
        facts: Vec<Term>,
        solvers: &'s mut [Box<dyn Solver + 'w>],
        (watch, step): (&'s mut Watch<'v>, Step),
    ) -> Asking<'s, 'w, 'v> {
        Asking {
            facts,
            solvers,
            watch,
            step,
            over: None,
            time: Duration::MAX,
            left: QUESTIONS,
            session: None,
            is_begun: false,
            told: Told::default(),
            script: Vec::new(),
            asked: Vec::new(),
            lemmas: Vec::new(),
            models: Vec::new(),
            samples: Vec::new(),
            marks: HashMap::new(),
            alike: HashMap::new(),
            answers: HashMap::new(),
        }
    }

    /// Whether the facts and these terms can hold together.
    pub(crate) fn ask(&mut self, terms: &mut Terms, more: &[Term]) -> Answer {
        let mut more: Vec<Term> = more.iter().copied().filter(|term| terms.constant(*term) != Some(1)).collect();
        more.sort_unstable();
        more.dedup();
        if more.iter().any(|term| terms.constant(*term) == Some(0)) {
            return Answer::Unsat;
        }
        if let Some(answer) = self.answers.get(&more) {
            return answer.clone();
        }
        if let Some(why) = self.over() {
            return Answer::Unknown(why);
        }
        self.tell(terms, &more);
        let answer = match self.is_shown(terms, &more) {
            Some(values) => Answer::Sat(values),
            None => self.solve(terms, &more, (LONG, false)),
        };
        if !matches!(answer, Answer::Unknown(_)) {
            self.answers.insert(more, answer.clone());
        }
        answer
    }

    /// Adds facts.
    pub(crate) fn learn(&mut self, terms: &mut Terms, facts: &[Term]) {
        if facts.is_empty() {
            return;
        }
        self.facts.extend(facts);
        self.models.clear();
        self.samples.clear();
        self.answers.clear();
        if self.is_begun {
            self.define(terms, facts);
            self.script.extend(facts.iter().map(|fact| format!("(assert {})", terms.reference(*fact))));
        }
    }

    /// Why no more questions are asked about this way; `None` if they are.
    pub(crate) fn over(&mut self) -> Option<String> {
        if self.over.is_none() {
            match (self.watch)(self.step) {
                Ok(time) => self.time = time,
                Err(why) => self.over = Some(why),
            }
        }
        self.over.clone()
    }

    /// The values of a known model for which all of it holds, if there is one.
    fn is_shown(&mut self, terms: &Terms, more: &[Term]) -> Option<Vec<(String, u64)>> {
        let all = || more.iter().chain(&self.lemmas);
        let shows = |model: &mut Model| all().all(|term| model.holds(terms, *term) == Some(true));
        let found = self.models.iter_mut().rposition(shows)?;
        let model = self.models.remove(found);
        let values = model.said().filter_map(|(term, value)| Some((name_of(terms, term)?, value))).collect();
        // A model that answered a question often answers the next.
        self.models.push(model);
        Some(values)
    }

    /// Prepares what the incremental solver must be told before the question; starts the solver if it has not been
    /// started.
    fn tell(&mut self, terms: &mut Terms, more: &[Term]) {
        if !self.is_begun {
            self.is_begun = true;
            let begins =
                |solver: &mut Box<dyn Solver + 'w>| solver.begin("(set-option :produce-models true)(set-logic ALL)");
            self.session = self.solvers.iter_mut().position(begins);
            self.told = Told::default();
            self.asked.clear();
            self.lemmas.clear();
            self.script.clear();
            let facts = self.facts.clone();
            self.define(terms, &facts);
            self.script.extend(facts.iter().map(|fact| format!("(assert {})", terms.reference(*fact))));
        }
        self.define(terms, more);
    }

    /// Adds names for terms, and lemmas about the sums in them.
    fn define(&mut self, terms: &mut Terms, roots: &[Term]) {
        let (script, new) = terms.definitions(roots, &mut self.told);
        self.script.extend(script);
        self.asked.extend(new.iter().copied().filter(|term| is_of_sums(terms, *term)));
        if new.iter().any(|term| is_of_sums(terms, *term)) {
            for lemma in lemmas(terms, &self.asked) {
                self.add_lemma(terms, lemma);
            }
        }
    }

    fn add_lemma(&mut self, terms: &mut Terms, lemma: Term) {
        if !self.lemmas.contains(&lemma) {
            self.lemmas.push(lemma);
            self.script.extend(terms.definitions(&[lemma], &mut self.told).0);
            self.script.push(format!("(assert {})", terms.reference(lemma)));
        }
    }

    /// Asks the solver that knows the facts; if that does not decide, asks all solvers from scratch.
    fn solve(&mut self, terms: &mut Terms, more: &[Term], (limit, is_last): (Duration, bool)) -> Answer {
        let Some(left) = self.left.checked_sub(1) else {
            return Answer::Unknown("it takes more questions than are asked".into());
        };
        self.left = left;
        self.step.questions += 1;
        let limit = limit.min(self.time);
        for _ in 0..MOST_LESSONS {
            let (answer, broken) = self.solve_once(terms, more, (limit, is_last));
            if broken.is_empty() {
                return answer;
            }
            broken.into_iter().for_each(|lemma| self.add_lemma(terms, lemma));
        }
        self.solve_once(terms, more, (limit, is_last)).0
    }

    /// The same, with the lemmas that are not told yet and that the values found contradict.
    fn solve_once(
        &mut self,
        terms: &mut Terms,
        more: &[Term],
        (limit, is_last): (Duration, bool),
    ) -> (Answer, Vec<Term>) {
        let all: Vec<Term> = [&self.facts[..], more, &self.lemmas].concat();
        let wanted: Vec<Term> = terms.below(&all).into_iter().filter(|term| is_worth_asking(terms, *term)).collect();
        let names: Vec<String> = wanted.iter().map(|term| terms.reference(*term)).collect();
        let mut answer = Answer::Unknown("there is no solver".into());
        if let Some(which) = self.session {
            let assumed: Vec<String> = more.iter().map(|term| terms.reference(*term)).collect();
            let script = std::mem::take(&mut self.script).join("\n");
            match self.solvers[which].check(&script, &assumed, &names, limit) {
                Some(found) => answer = found,
                None => self.is_begun = false,
            }
        }
        if let Answer::Sat(values) = &answer {
            let values: HashMap<&str, u64> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let given = wanted.iter().zip(&names);
            let given: Vec<(Term, u64)> =
                given.filter_map(|(term, name)| Some((*term, *values.get(name.as_str())?))).collect();
            let mut model = Model::of(terms, &given);
            let mut broken = words_within(terms, &all);
            broken.retain(|lemma| !self.lemmas.contains(lemma) && model.holds(terms, *lemma) == Some(false));
            if all.iter().all(|term| model.holds(terms, *term) == Some(true)) {
                self.add_sample(terms, model.clone());
                self.models.push(model);
                if self.models.len() > MOST_MODELS {
                    self.models.remove(0);
                }
            }
            let named = given.into_iter().filter_map(|(term, value)| Some((name_of(terms, term)?, value)));
            return (Answer::Sat(named.collect()), broken);
        }
        if let (Answer::Unknown(_), false) = (&answer, is_last) {
            let variables = wanted.iter().filter(|term| matches!(terms.node(**term), Node::Variable { .. }));
            let wanted: Vec<String> = variables.filter_map(|term| name_of(terms, *term)).collect();
            let script = terms.script(&all);
            for solver in self.solvers.iter_mut() {
                solver.limit(self.time);
                answer = solver.ask(&script, &wanted);
                if !matches!(answer, Answer::Unknown(_)) {
                    break;
                }
            }
        }
        (answer, Vec::new())
    }
}

impl Asking<'_, '_, '_> {
    /// Registers the numbers below these terms: others may be found equal to them.
    pub(crate) fn know(&mut self, terms: &mut Terms, roots: &[Term]) {
        for term in terms.below(roots) {
            self.mark(terms, term);
        }
    }

    fn mark(&mut self, terms: &Terms, term: Term) {
        if !is_number(terms, term) || self.marks.contains_key(&term) {
            return;
        }
        let mut mark = 0;
        for sample in &mut self.samples {
            mark = marked(mark, sample.value(terms, term));
        }
        self.marks.insert(term, mark);
        self.alike.entry((mark, terms.sort(term))).or_default().push(term);
    }

    fn add_sample(&mut self, terms: &Terms, mut sample: Model) {
        if self.samples.len() >= MOST_SAMPLES {
            return;
        }
        self.alike.clear();
        let mut marks: Vec<(&Term, &mut u64)> = self.marks.iter_mut().collect();
        marks.sort_unstable_by_key(|(term, _)| **term);
        for (term, mark) in marks {
            *mark = marked(*mark, sample.value(terms, *term));
            self.alike.entry((*mark, terms.sort(*term))).or_default().push(*term);
        }
        self.samples.push(sample);
    }

    /// A registered number that equals this one by the facts alone; if none is found, the term itself, which is then
    /// registered.
    pub(crate) fn same(&mut self, terms: &mut Terms, term: Term) -> Term {
        if !is_number(terms, term) || self.marks.contains_key(&term) || self.samples.is_empty() {
            return term;
        }
        for _ in 0..MOST_TRIES {
            let mut mark = 0;
            for sample in &mut self.samples {
                mark = marked(mark, sample.value(terms, term));
            }
            let found = self.alike.get(&(mark, terms.sort(term))).and_then(|all| all.first().copied());
            let Some(found) = found else { break };
            if self.over().is_some() {
                break;
            }
            // By the facts alone, without further assumptions.
            let assumed = terms.assuming(Default::default());
            let equal = terms.equal(term, found);
            let differ = terms.not(equal);
            terms.assuming(assumed);
            let answer = match terms.constant(differ) {
                Some(0) => Answer::Unsat,
                Some(_) => break,
                None => {
                    self.tell(terms, &[differ]);
                    self.solve(terms, &[differ], (SHORT, true))
                }
            };
            match answer {
                Answer::Unsat => {
                    terms.unify(term, found);
                    return found;
                }
                Answer::Sat(_) => {}
                Answer::Unknown(_) => break,
            }
        }
        self.mark(terms, term);
        term
    }
}

/// The hash of a term's values, extended by one sample.
fn marked(mark: u64, value: Option<u128>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (mark, value).hash(&mut hasher);
    hasher.finish()
}

fn is_number(terms: &Terms, term: Term) -> bool {
    matches!(terms.sort(term), Sort::Bits(8..=64)) && terms.constant(term).is_none()
}

/// A variable's name; `name[3]` for an octet at a known index.
fn name_of(terms: &Terms, term: Term) -> Option<String> {
    match terms.node(term) {
        Node::Variable { name } => Some(name.clone()),
        Node::Select(octets, index) => {
            let Node::Variable { name } = terms.node(*octets) else { return None };
            Some(format!("{name}[{}]", terms.constant(*index)?))
        }
        _ => None,
    }
}

/// Variables and results of functions: all other values follow from them.
fn is_worth_asking(terms: &Terms, term: Term) -> bool {
    match terms.node(term) {
        Node::Variable { .. } => terms.sort(term) != Sort::Octets,
        Node::Select(..) | Node::Apply { .. } => true,
        _ => false,
    }
}
