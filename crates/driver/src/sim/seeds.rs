//! Runs many seeds of one network, on all cores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use mokume_base::world::World;
use mokume_simulate::RecordedEvent;

use super::{Failed, Prepared, Run, Sky};
use crate::failure::Failure;

/// Which seeds are run, and how.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub first: u64,
    pub count: u64,
    /// So many run at once.
    pub jobs: usize,
    /// If there is another back end to compare with: the first seed is compared, and each so-many-th after it.
    pub every: u64,
}

impl Asked {
    fn compares(&self, index: u64) -> bool {
        index.is_multiple_of(self.every.max(1))
    }

    /// How many seeds are compared.
    pub fn compared(&self) -> u64 {
        self.count.div_ceil(self.every.max(1))
    }
}

/// The result of one seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    /// The failures; empty if the run passed.
    pub wrong: Vec<Failed>,
}

/// Runs the seeds on several threads; `heard` is told of each that has ended. Returns the seeds that failed, in order.
pub fn run(
    prepared: &Prepared<'_>,
    asked: Asked,
    world: &(dyn World + Sync),
    heard: &mut dyn FnMut(&Outcome),
) -> Result<Vec<Outcome>, Failure> {
    let Asked { first, count, jobs, .. } = asked;
    let next = AtomicU64::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return;
                }
                let outcome = one(prepared, first.wrapping_add(index), asked.compares(index), world);
                let is_over = outcome.is_err();
                if send.send(outcome).is_err() || is_over {
                    return;
                }
            });
        }
        drop(send);
        let mut failed = Vec::new();
        for outcome in receive {
            let outcome = outcome.inspect_err(|_| next.store(count, Ordering::Relaxed))?;
            heard(&outcome);
            failed.extend(Some(outcome).filter(|outcome| !outcome.wrong.is_empty()));
        }
        failed.sort_by_key(|outcome| outcome.seed.wrapping_sub(first));
        Ok(failed)
    })
}

/// Runs a network with one seed.
fn one(prepared: &Prepared<'_>, seed: u64, compared: bool, world: &dyn World) -> Result<Outcome, Failure> {
    let wrong = prepared.judged(seed, Sky::Seeded, compared, world)?;
    Ok(Outcome { seed, wrong })
}

/// Of the seeds that failed, the one that fails first, in virtual time: the shortest run to look at.
pub fn shortest(failed: &[Outcome]) -> Option<(&Outcome, &Failed)> {
    let firsts = failed.iter().filter_map(|outcome| Some((outcome, outcome.wrong.first()?)));
    firsts.min_by_key(|(_, first)| first.at)
}

/// All failures of a run, the earliest first: expectations, reports, and failing to come to rest.
pub fn wrong(run: &Run) -> Vec<Failed> {
    let said = |at, place, found, cause| Failed { at, place, found, cause, ..Failed::default() };
    let mut wrong = run.failed.clone();
    for record in &run.records {
        let RecordedEvent::Reported { host, report, place } = &record.what else { continue };
        let found = format!("host `{}` reported {report}", run.hosts[*host].name);
        wrong.push(said(record.at, place.clone(), found, run.brought_by(record.cause)));
    }
    let restless = run.restless.as_ref().zip(run.restless_text());
    wrong.extend(restless.map(|((at, _), text)| said(*at, String::new(), text, String::new())));
    wrong.sort_by_key(|failed| failed.at);
    wrong
}
