//! The same run on another back end: what it does otherwise.

use mokume_base::world::World;
use mokume_reaction::Accounts;
use mokume_record::Event;

use super::{Failed, HostRun, How, Keep, Prepared, Run, Sky};
use crate::failure::Failure;
use crate::machines::Backend;
use crate::record;

impl Prepared<'_> {
    /// Compares runs with the same runs on this back end, where [`Self::judged`] is asked to.
    pub fn against(mut self, other: Backend) -> Result<Self, Failure> {
        if other == self.backend {
            let help = "name the other back end, or leave `--backend` or `--against` out";
            return Err(Failure::of_use(format!("{} would be compared with itself", said(other)), help));
        }
        self.against = Some(other);
        Ok(self)
    }

    /// The back end that runs are compared with.
    pub fn compared_with(&self) -> Option<Backend> {
        self.against
    }

    /// Runs it, and finds all failures, the earliest first. If it is `compared`, what the other back end does otherwise is one.
    pub fn judged(&self, seed: u64, weather: Sky, compared: bool, world: &dyn World) -> Result<Vec<Failed>, Failure> {
        let Some(other) = self.against.filter(|_| compared) else {
            return Ok(super::seeds::wrong(&self.run(
                How { seed, keep: Keep::Reports, weather },
                world,
                &mut |_| (),
            )?));
        };
        let again = How { seed, keep: Keep::All, weather: weather.clone() };
        let run = self.run(How { seed, keep: Keep::All, weather }, world, &mut |_| ())?;
        let mut wrong = super::seeds::wrong(&run);
        wrong.extend(self.difference(&run, &self.run_on(other, again, world)?));
        wrong.sort_by_key(|failed| failed.at);
        Ok(wrong)
    }

    /// Runs it on this back end.
    pub fn run_on(&self, backend: Backend, how: How, world: &dyn World) -> Result<Run, Failure> {
        self.run_by(backend, how, world, &mut |_| ())
    }

    /// The first difference of two runs that kept their events: an event, or at the end the counts of a host.
    pub fn difference(&self, run: &Run, other: &Run) -> Option<Failed> {
        let parted = |at: u64, cause: String, texts: [String; 2]| Failed {
            at,
            found: format!("{} does otherwise than {}", said(other.backend), said(run.backend)),
            cause,
            instead: [run, other]
                .iter()
                .zip(texts)
                .map(|(run, text)| (at, format!("{text}, {}", within(run))))
                .collect(),
            ..Failed::default()
        };
        // Most runs are equal: only others are worth names.
        if run.records != other.records {
            let records = [self.record(run), self.record(other)];
            let told = record::first_difference(&records[0], &records[1]);
            if let Some(pair) = told.or_else(|| record::first_difference_of_all(&records[0], &records[1])) {
                let at = pair.iter().flatten().map(|event| event.at).min().unwrap_or(run.until);
                let fields = record::apart(pair).into_iter();
                let fields =
                    fields.map(|record::Apart { field, values: [one, other] }| format!("{field}: {one}, then {other}"));
                let cause = fields.collect::<Vec<_>>().join("; ");
                let line =
                    |of: usize| pair[of].map_or("nothing more".to_string(), |event| event_line(&records[of], event));
                return Some(parted(at, cause, [line(0), line(1)]));
            }
        }
        let counts = run.hosts.iter().zip(&other.hosts).find_map(|(host, other)| counts_apart(host, other))?;
        Some(parted(run.until, String::new(), counts))
    }
}

impl Failed {
    /// Whether it is that another back end does otherwise: nothing was wanted, and two events came.
    pub fn is_of_comparing(&self) -> bool {
        self.wanted.is_empty() && !self.instead.is_empty()
    }
}

/// `b  sends #3 …`
fn event_line(run: &record::Run, event: &Event) -> String {
    match &event.host {
        Some(host) => format!("{host}  {}", record::line(run, event)),
        None => record::line(run, event),
    }
}

fn said(backend: Backend) -> &'static str {
    match backend {
        Backend::Interpreter => "the interpreter",
        Backend::C => "C",
    }
}

fn within(run: &Run) -> &'static str {
    match run.backend {
        Backend::Interpreter => "by the interpreter",
        Backend::C => "in C",
    }
}

/// The first count in which two runs of a host differ, as each has it.
fn counts_apart(host: &HostRun, other: &HostRun) -> Option<[String; 2]> {
    let counts = [counts(host), counts(other)];
    let names = counts[0].iter().chain(&counts[1]).map(|(name, _)| name);
    let count =
        |of: usize, name: &str| counts[of].iter().find(|(known, _)| known == name).map_or(0, |(_, count)| *count);
    let name = names.into_iter().find(|name| count(0, name) != count(1, name))?;
    Some([0, 1].map(|of| format!("{}  {name} {}", host.name, count(of, name))))
}

/// What was counted, by name; what is not counted is 0.
fn counts(host: &HostRun) -> Vec<(String, u64)> {
    let Accounts { received, dropped, consumed, gone, delivered, merged, held, refused, counters } = &host.accounts;
    let totals = [
        ("received", received),
        ("gone", gone),
        ("delivered", delivered),
        ("merged", merged),
        ("held", held),
        ("refused", refused),
    ];
    let mut counts: Vec<(String, u64)> = totals.map(|(name, count)| (name.to_string(), *count)).into();
    for (what, ended) in [("dropped", dropped), ("consumed", consumed)] {
        let named = ended
            .iter()
            .map(|(reason, count)| (format!("{what} {}", host.automaton.reasons[reason.index()].name), *count));
        counts.extend(named);
    }
    counts.extend(counters.iter().map(|(name, count)| (format!("counter {name}"), *count)));
    counts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mokume_base::world::RealWorld;
    use mokume_reaction::ReasonId;

    use super::*;
    use crate::{compile, sim};
    use mokume_simulate::{Record, RecordedEvent};

    /// Two runs of one seed, of which the second is changed by `change`: what is said of them.
    fn said_of(change: impl Fn(&mut Run)) -> Option<Failed> {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/budget.mok").to_string_lossy().into_owned();
        let checked = compile::check(&RealWorld, &[file]).expect("a file without mistakes");
        let network = sim::choose(&checked, None).expect("one network");
        let stacks = sim::sound_stacks(&checked, network, &RealWorld).expect("stacks without mistakes");
        let prepared = Prepared::new(&checked, network, &stacks, Backend::Interpreter).expect("it can run");
        let run = || {
            let how = How { seed: 1, keep: Keep::All, weather: Sky::Seeded };
            prepared.run_on(Backend::Interpreter, how, &RealWorld).expect("a run")
        };
        let mut other = run();
        change(&mut other);
        prepared.difference(&run(), &other)
    }

    #[test]
    fn each_event_and_each_count_is_compared() {
        assert_eq!(said_of(|_| ()), None);
        let late = said_of(|run| run.records.last_mut().expect("an event").at += 1).expect("a difference");
        assert!(late.is_of_comparing() && late.at > 0, "{late:?}");
        // A host that wakes once more, or later, does otherwise, even if nothing leaves it.
        let woken = said_of(|run| {
            let last = run.records.last().expect("an event").clone();
            run.records.push(Record { what: RecordedEvent::Woken { host: 0 }, ..last });
        });
        assert!(woken.expect("a difference").instead[1].1.contains("wakes"));
        let less = said_of(|run| run.records.truncate(3)).expect("a difference");
        assert!(less.instead[1].1.starts_with("nothing more") || less.instead[1].1.contains("ends"), "{less:?}");
        let held = said_of(|run| run.hosts[0].accounts.held += 1).expect("a difference");
        assert!(held.instead[1].1.contains("held "), "{held:?}");
        let dropped = said_of(|run| run.hosts[1].accounts.dropped.push((ReasonId(0), 7_000)));
        assert!(dropped.expect("a difference").instead[1].1.contains("dropped "));
        let counted =
            said_of(|run| run.hosts[0].accounts.counters.push(("X.more".to_string(), 1))).expect("a difference");
        assert!(
            counted.instead[0].1.contains("counter X.more 0") && counted.instead[1].1.contains("X.more 1"),
            "{counted:?}"
        );
    }
}
