//! Plays a script on a machine and compares the results. Knows machines by their trait only.

use std::collections::BTreeSet;

use mokume_reaction::{Accounts, Automaton, Datum, Handle, Machine, OpKind, Outcome, Output, PortId, ReasonId, Report};

use crate::call;
use crate::call::datum;
use crate::difference::{common, show_time, Failure, FailureKind};
use crate::names::Names;
use crate::octets::show_octets;
use crate::packets;
use crate::script::*;
use crate::written::{scalar, PortEvent, Written};

/// The values of the stack's parameters under this script, in their order.
pub fn parameters(automaton: &Automaton, script: &Script) -> Vec<u64> {
    let given = |name: &str| script.params.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    automaton.params.iter().map(|param| given(&param.name).or(param.default).unwrap_or(0)).collect()
}

/// Runs a script and returns all failures. The machine must be new: made with [`parameters`] and the script's seed, not
/// started.
pub fn run<M: Machine>(automaton: &Automaton, script: &Script, machine: &mut M) -> Vec<Failure> {
    judge(automaton, &Written::default(), script, machine)
}

/// As [`run`], with values shown in the notations of the source's types.
pub fn judge<M: Machine>(automaton: &Automaton, written: &Written, script: &Script, machine: &mut M) -> Vec<Failure> {
    let mut run = Run {
        automaton,
        written,
        script,
        machine,
        now: 0,
        names: Names::default(),
        pending: Vec::new(),
        reported: Reported::default(),
        dropped: Vec::new(),
        failures: Vec::new(),
    };
    let outcome = run.machine.start(0);
    run.judge(0, script.line, &script.start, vec![(0, outcome)]);
    for (place, step) in script.steps.iter().enumerate() {
        match run.act(&step.action, step.expect.outputs.len()) {
            Ok(outcomes) => run.judge(place + 1, step.line, &step.expect, outcomes),
            Err(reason) => {
                run.fail(place + 1, step.line, FailureKind::Senseless { reason });
                return run.failures;
            }
        }
    }
    run.come_to_rest();
    run.judge_reports_of_no_step();
    run.failures
}

struct Run<'a, M> {
    automaton: &'a Automaton,
    written: &'a Written,
    script: &'a Script,
    machine: &'a mut M,
    now: u64,
    names: Names,
    /// Outputs that belong to the next step's expectation.
    pending: Vec<(u64, Output)>,
    reported: Reported,
    /// What had been dropped at the last step with outputs.
    dropped: Vec<(ReasonId, u64)>,
    failures: Vec<Failure>,
}

/// A machine that this many times in a row is due again at the time of its call never comes to rest.
const CALLS_AT_ONE_TIME: usize = 64;

/// The most calls in one step of time (docs/limits.md). A step that needs more fails, as what would follow is not
/// known.
const CALLS_A_STEP: usize = 1_000_000;

impl<M: Machine> Run<'_, M> {
    /// `wanted`: how many outputs are expected.
    fn act(&mut self, action: &Action, wanted: usize) -> Result<Vec<(u64, Outcome)>, String> {
        match action {
            Action::Input { port, event, args } => {
                let (port, event) = self.resolve(port, event)?;
                let args: Vec<Datum> =
                    args.iter().map(|arg| datum(self.automaton, &self.names, arg)).collect::<Result<_, _>>()?;
                Ok(vec![(self.now, self.machine.input(self.now, port, event, &args))])
            }
            Action::After(duration) => self.pass(self.now.saturating_add(*duration), None),
            Action::Within(duration) => {
                let missing = wanted.checked_sub(self.pending.len()).filter(|_| wanted > 0);
                self.pass(self.now.saturating_add(*duration), missing)
            }
        }
    }

    /// Runs what the last step caused until nothing is due, if that ends; the results do not matter.
    fn come_to_rest(&mut self) {
        for _ in 0..CALLS_AT_ONE_TIME {
            if self.machine.next_deadline().is_none_or(|due| due > self.now) {
                return;
            }
            self.machine.advance(self.now);
        }
        let (step, line) =
            (self.script.steps.len(), self.script.steps.last().map_or(self.script.line, |step| step.line));
        let reason = restless(self.now);
        self.fail(step, line, FailureKind::Senseless { reason });
    }

    /// Lets time pass with a call for each deadline, so that outputs have their own times. Ends early after `enough`
    /// outputs.
    fn pass(&mut self, end: u64, enough: Option<usize>) -> Result<Vec<(u64, Outcome)>, String> {
        let mut outcomes = Vec::new();
        let mut still = 0;
        let mut came = 0;
        while enough.is_none_or(|enough| came < enough) {
            let Some(deadline) = self.machine.next_deadline().filter(|deadline| *deadline <= end) else {
                outcomes.push((end, self.machine.advance(end)));
                self.now = end;
                return Ok(outcomes);
            };
            let time = deadline.max(self.now);
            still = if time == self.now { still + 1 } else { 0 };
            if still > CALLS_AT_ONE_TIME {
                return Err(restless(time));
            }
            if outcomes.len() == CALLS_A_STEP {
                return Err(too_long(time, end));
            }
            let outcome = self.machine.advance(time);
            came += outcome.outputs.len();
            outcomes.push((time, outcome));
            self.now = time;
        }
        Ok(outcomes)
    }

    fn resolve(&self, port: &str, event: &str) -> Result<(PortId, u32), String> {
        let id = self.automaton.ports.iter().position(|known| known.name == port);
        let Some(id) = id else { return Err(format!("the stack has no port `{port}`")) };
        match self.automaton.ports[id].inputs.iter().position(|input| input.event == event) {
            Some(event) => Ok((PortId::from(id), event as u32)),
            None => Err(format!("the port `{port}` has no input `{event}`")),
        }
    }

    fn judge(&mut self, step: usize, line: u32, expect: &Expect, outcomes: Vec<(u64, Outcome)>) {
        let reports: Vec<(Report, String)> =
            outcomes.iter().flat_map(|(_, outcome)| &outcome.reports).cloned().collect();
        let kinds: Vec<Report> = reports.iter().map(|(report, _)| *report).collect();
        let refused = outcomes.iter().any(|(_, outcome)| outcome.refused);
        let mut outputs = std::mem::take(&mut self.pending);
        outputs.extend(
            outcomes
                .into_iter()
                .flat_map(|(time, outcome)| outcome.outputs.into_iter().map(move |output| (time, output))),
        );
        match expect.later {
            true => self.pending = outputs,
            false => {
                self.judge_outputs(step, line, expect, &outputs);
                if !expect.outputs.is_empty() {
                    self.dropped = self.machine.accounts().dropped;
                }
            }
        }
        if self.script.counts_reports {
            self.reported.since_start.extend(reports.into_iter().map(|report| (report, (step, line))));
        } else if expect.reports != kinds {
            let expected = expect.reports.iter().map(Report::to_string).collect();
            let kind = FailureKind::Reports { expected, actual: shown(&reports, &expect.reports) };
            self.fail(step, line, kind);
        }
        if expect.refused != refused {
            self.fail(step, line, FailureKind::Refused { expected: expect.refused });
        }
        self.judge_counts(step, line, &expect.counts);
    }

    fn judge_outputs(&mut self, step: usize, line: u32, expect: &Expect, outputs: &[(u64, Output)]) {
        let mut groups: Vec<u32> = self.automaton.ports.iter().map(|port| port.group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let in_group = |port: &str| self.automaton.ports.iter().any(|p| p.name == port && p.group == group);
            let expected: Vec<&ExpectedOutput> = expect.outputs.iter().filter(|o| in_group(&o.port)).collect();
            let actual: Vec<&(u64, Output)> =
                outputs.iter().filter(|(_, o)| self.automaton.ports[o.port.index()].group == group).collect();
            let same = expected.len() == actual.len()
                && expected.iter().zip(&actual).all(|(expected, actual)| self.matches(expected, actual));
            if !same {
                let dropped = if actual.len() < expected.len() { self.newly_dropped() } else { Vec::new() };
                let show = |(at, output): (usize, &&(u64, Output))| self.show_like((&expected, at), output);
                let mut shown: Vec<String> = actual.iter().enumerate().map(show).collect();
                let wanted: Vec<String> = expected.iter().map(|output| self.show_expected(output)).collect();
                // One too many is shown as it came, whatever pattern it would match.
                let met: BTreeSet<usize> = common(&wanted, &shown).into_iter().map(|(_, came)| came).collect();
                for (at, output) in actual.iter().enumerate().filter(|(at, _)| !met.contains(at)) {
                    if wanted.contains(&shown[at]) {
                        shown[at] = self.show(&[], output);
                    }
                }
                let missing = actual.len() < expected.len();
                let due = missing.then(|| (self.now, self.machine.next_deadline()));
                self.fail(step, line, FailureKind::Outputs { expected: wanted, actual: shown, dropped, due });
            }
        }
    }

    /// What was dropped since the last step with outputs: `app.Sequencer.stale (x.mok:12)`.
    fn newly_dropped(&self) -> Vec<String> {
        let before =
            |reason: ReasonId| self.dropped.iter().find(|(known, _)| *known == reason).map_or(0, |(_, of)| *of);
        let all = self.machine.accounts().dropped;
        let newly = all.into_iter().map(|(reason, total)| (reason, total - before(reason).min(total)));
        let told = |(reason, count): (ReasonId, u64)| {
            let places = places(self.automaton, reason);
            let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
            let times = if count == 1 { String::new() } else { format!(", {count} messages") };
            format!("{}{places}{times}", self.automaton.reasons[reason.index()].name)
        };
        newly.filter(|(_, count)| *count > 0).map(told).collect()
    }

    fn matches(&mut self, expected: &ExpectedOutput, (time, output): &(u64, Output)) -> bool {
        let port = &self.automaton.ports[output.port.index()];
        let Some(signature) = port.outputs.get(output.event as usize) else { return false };
        port.name == expected.port
            && signature.event == expected.event
            && expected.at.is_none_or(|at| at == *time)
            && expected.args.len() == output.args.len()
            && expected.args.iter().zip(&output.args).zip(&signature.params).all(|((arg, datum), (_, ty))| {
                packets::meets(self.automaton, &mut self.names, arg, datum, ty.width(self.automaton))
            })
    }

    fn judge_counts(&mut self, step: usize, line: u32, counts: &[Count]) {
        if counts.is_empty() {
            return;
        }
        let accounts = self.machine.accounts();
        for count in counts {
            let found = match &count.what {
                Counted::Reported(report) => Ok(self.reported.count(*report)),
                other => total(self.automaton, &accounts, other),
            };
            match found {
                Ok(actual) if actual == count.total => {}
                Ok(actual) => {
                    let beside = beside(self.automaton, &accounts, &count.what);
                    let kind = FailureKind::Total { what: name(&count.what), expected: count.total, actual, beside };
                    self.fail(step, line, kind);
                }
                Err(reason) => self.fail(step, line, FailureKind::Senseless { reason }),
            }
        }
    }

    /// Reports of a kind after the last step that counts this kind.
    fn judge_reports_of_no_step(&mut self) {
        for (step, line, reports) in self.reported.of_no_step() {
            let kind = FailureKind::Reports { expected: Vec::new(), actual: shown(&reports, &[]) };
            self.fail(step, line, kind);
        }
    }

    fn show_expected(&self, output: &ExpectedOutput) -> String {
        let show = |arg: &Arg| match arg {
            Arg::Octets(octets) => show_octets(octets),
            Arg::Null => "null".to_string(),
            Arg::Name(name) => match self.names.get(name) {
                Some(datum) => format!("{name} = {}", show_datum(datum)),
                None => format!("{name} (not remembered)"),
            },
            Arg::Bind(name) => format!("?{name}"),
            Arg::Sum { name, plus } => match self.names.word(arg) {
                Some(word) => word.to_string(),
                None => format!("{name} + {plus}"),
            },
            Arg::Packet(packet) => packets::show(self.automaton, self.written, &self.names, packet),
            Arg::Any => "_".to_string(),
            Arg::Word(word) => word.to_string(),
            Arg::OneOf(words) => words.iter().map(u64::to_string).collect::<Vec<_>>().join(" or "),
        };
        let word = |at: usize| match &output.args[at] {
            Arg::Word(word) => Some(*word),
            _ => None,
        };
        let args =
            match self.signature(&output.port, &output.event).filter(|known| known.params.len() == output.args.len()) {
                Some(event) => {
                    let params = event.params;
                    self.written.arguments(self.automaton, event, &word, &|at| match &output.args[at] {
                        Arg::OneOf(words) => {
                            let words = words.iter().map(|word| scalar(self.automaton, params[at].1, *word));
                            words.collect::<Vec<_>>().join(" or ")
                        }
                        arg => show(arg),
                    })
                }
                None => output.args.iter().map(show).collect(),
            };
        let at = output.at.map_or(String::new(), |at| format!(" at {}", show_time(at)));
        format!("{}.{}({}){at}", output.port, output.event, args.join(", "))
    }

    /// An output in the notation of the expectation that it matches, so that both appear as one line.
    fn show_like(&mut self, (expected, at): (&[&ExpectedOutput], usize), actual: &(u64, Output)) -> String {
        let nearest = expected.get(at).or(expected.last()).copied();
        let by_fields = |of: &&ExpectedOutput| of.args.iter().any(|arg| matches!(arg, Arg::Packet(_)));
        // A wrong packet is shown by the expectation that is nearest, whatever others it might match.
        let others = if nearest.as_ref().is_some_and(by_fields) { &[] } else { expected };
        match nearest.iter().chain(others).find(|expected| self.matches(expected, actual)) {
            Some(expected) => self.show_expected(expected),
            None => self.show(nearest.map_or(&[], |nearest| &nearest.args), actual),
        }
    }

    /// Packets in the notation of the expected arguments.
    fn show(&self, like: &[Arg], (time, output): &(u64, Output)) -> String {
        let shown = call::shown((self.automaton, self.written, &self.names), like, output, &show_datum);
        format!("{shown} at {}", show_time(*time))
    }

    /// The parameters of a port's output, by name.
    fn signature(&self, port: &str, event: &str) -> Option<PortEvent<'_>> {
        let at = self.automaton.ports.iter().position(|known| known.name == port)?;
        let output = self.automaton.ports[at].outputs.iter().find(|output| output.event == event)?;
        Some(PortEvent::output(PortId::from(at), output))
    }

    fn fail(&mut self, step: usize, line: u32, kind: FailureKind) {
        self.failures.push(Failure { test: self.script.name.clone(), line, step, at: self.now, kind });
    }
}

/// The reports in a script that counts them.
#[derive(Default)]
struct Reported {
    /// Each report with its place in the source, and the step and its line.
    since_start: Vec<((Report, String), (usize, u32))>,
    /// How many reports of a kind there were when a step counted them.
    counted: Vec<(Report, usize)>,
}

impl Reported {
    /// Counts the reports of a kind; they are then accounted for.
    fn count(&mut self, report: Report) -> u64 {
        let all = self.since_start.len();
        match self.counted.iter_mut().find(|(known, _)| *known == report) {
            Some((_, upto)) => *upto = all,
            None => self.counted.push((report, all)),
        }
        self.since_start.iter().filter(|((known, _), _)| *known == report).count() as u64
    }

    /// Reports after the last count of their kind, by step and line.
    fn of_no_step(&self) -> Vec<Left> {
        let mut found: Vec<Left> = Vec::new();
        for (at, (report, (step, line))) in self.since_start.iter().enumerate() {
            if self.counted.iter().any(|(known, upto)| *known == report.0 && at < *upto) {
                continue;
            }
            match found.iter_mut().find(|(known, ..)| known == step) {
                Some((_, _, reports)) => reports.push(report.clone()),
                None => found.push((*step, *line, vec![report.clone()])),
            }
        }
        found
    }
}

/// Uncounted reports of a step, with their places: step, line, reports.
type Left = (usize, u32, Vec<(Report, String)>);

/// The `expected` reports by their words, the others with their places.
fn shown(reports: &[(Report, String)], expected: &[Report]) -> Vec<String> {
    let mut left = expected.to_vec();
    let show = |(report, place): &(Report, String)| match left.iter().position(|known| known == report) {
        Some(at) => left.remove(at).to_string(),
        None if place.is_empty() => report.to_string(),
        None => format!("{report} at {place}{}", meaning(*report)),
    };
    reports.iter().map(show).collect()
}

/// The explanation of a report's kind, if its name is not enough.
fn meaning(report: Report) -> &'static str {
    match report {
        Report::Misuse => {
            " (a quota got back more than was taken from it, or a message was put into a place that held one)"
        }
        _ => "",
    }
}

/// The statements that drop messages for a reason, `file:line`.
fn places(automaton: &Automaton, reason: ReasonId) -> Vec<String> {
    let bodies = automaton.code().flat_map(|(_, body)| &body.blocks);
    let ops = bodies.flat_map(|block| &block.ops);
    let own = ops.filter(|op| matches!(&op.kind, OpKind::Drop { reason: of, .. } if *of == reason));
    let sources = own.filter_map(|op| automaton.sources.get(op.source?.index()));
    let places: BTreeSet<String> = sources.map(|source| format!("{}:{}", source.file, source.line)).collect();
    places.into_iter().collect()
}

/// Other drops or consumptions, in the notation of tests; only a few lines.
pub fn beside(automaton: &Automaton, accounts: &Accounts, what: &Counted) -> Vec<String> {
    const SHOWN: usize = 6;
    let (word, name, totals) = match what {
        Counted::Dropped(name) => ("dropped", name, &accounts.dropped),
        Counted::Consumed(name) => ("consumed", name, &accounts.consumed),
        _ => return Vec::new(),
    };
    let is_it = |reason: &str| name.strip_prefix("*.").map_or(name == reason, |named| is_meant(named, reason));
    let other = |(reason, total): &&(ReasonId, u64)| *total > 0 && !is_it(&automaton.reasons[reason.index()].name);
    let there: Vec<_> = totals.iter().filter(other).collect();
    if there.is_empty() {
        return vec![format!("nothing else was {word}")];
    }
    let shown = there.iter().take(SHOWN);
    let mut lines: Vec<String> =
        shown.map(|(reason, total)| format!("{word} {} {total}", automaton.reasons[reason.index()].name)).collect();
    if there.len() > SHOWN {
        lines.push(format!("and {} other reasons", there.len() - SHOWN));
    }
    lines
}

fn restless(time: u64) -> String {
    format!("the stack does not come to rest at {time} ns: it is due again at once, for ever")
}

fn too_long(time: u64, end: u64) -> String {
    format!(
        "this step needs more than {CALLS_A_STEP} calls of the stack, which is due again at {time} ns, and the step ends at {end} ns: \
         divide it into steps of less time, or let timers run less often"
    )
}

fn show_datum(datum: &Datum) -> String {
    match datum {
        Datum::Word(value) => value.to_string(),
        Datum::Handle(Handle::NULL) => "null".to_string(),
        Datum::Handle(handle) => format!("object {}", handle.object),
        Datum::Message(octets) => show_octets(octets),
    }
}

fn name(what: &Counted) -> String {
    match what {
        Counted::Dropped(reason) | Counted::GoneOr(reason) => format!("dropped {}", reason.trim_start_matches("*.")),
        Counted::Consumed(reason) => format!("consumed {}", reason.trim_start_matches("*.")),
        Counted::Counter(cell) => format!("counter {}", cell.trim_start_matches("*.")),
        Counted::Reported(report) => format!("reported {report}"),
        Counted::Gone => "dropped ended or gone".to_string(),
        plain => format!("{plain:?}").to_lowercase(),
    }
}

/// Whether `name` means `known`: their last parts agree, and the layers in front of it in `name` occur in `known` in
/// the same order. `app.sent`, `Counts.sent` and `sent` mean `app.Counts.sent`.
pub fn is_meant(name: &str, known: &str) -> bool {
    let (mut parts, mut names) = (known.rsplit('.'), name.rsplit('.'));
    names.next() == parts.next() && names.all(|name| parts.any(|part| part == name))
}

/// The total of what is counted in a stack's accounts; fails if the stack has nothing of this name.
pub fn total(automaton: &Automaton, accounts: &Accounts, what: &Counted) -> Result<u64, String> {
    let by_reason = |name: &str, totals: &[(ReasonId, u64)]| {
        if let Some(named) = name.strip_prefix("*.") {
            let meant = |reason: &ReasonId| is_meant(named, &automaton.reasons[reason.index()].name);
            return Ok(totals.iter().filter(|(reason, _)| meant(reason)).map(|(_, total)| total).sum());
        }
        let known = automaton.reasons.iter().position(|reason| reason.name == name).map(ReasonId::from);
        let id = known.ok_or(format!("the stack has no reason `{name}`"))?;
        Ok(totals.iter().find(|(reason, _)| *reason == id).map_or(0, |(_, total)| *total))
    };
    match what {
        Counted::Dropped(name) => by_reason(name, &accounts.dropped),
        Counted::Consumed(name) => by_reason(name, &accounts.consumed),
        Counted::Gone => Ok(accounts.gone),
        Counted::GoneOr(name) => Ok(accounts.gone + by_reason(name, &accounts.dropped)?),
        Counted::Held => Ok(accounts.held),
        Counted::Received => Ok(accounts.received),
        Counted::Delivered => Ok(accounts.delivered),
        Counted::Merged => Ok(accounts.merged),
        Counted::Refused => Ok(accounts.refused),
        Counted::Reported(_) => Err("this test lists reports, it does not count them".to_string()),
        Counted::Counter(name) => {
            let meant = |known: &str| match name.strip_prefix("*.") {
                Some(named) => is_meant(named, known),
                None => known == name,
            };
            let found: Vec<u64> =
                accounts.counters.iter().filter(|(known, _)| meant(known)).map(|(_, total)| *total).collect();
            if found.is_empty() {
                Err(format!("the stack has no counter `{name}`"))
            } else {
                Ok(found.iter().sum())
            }
        }
    }
}
