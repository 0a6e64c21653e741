//! Many seeds of one network, on all cores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use mokume_base::world::World;
use mokume_simulate::RecordedEvent;

use super::{Failed, How, Keep, Prepared, Run, Sky};
use crate::failure::Failure;

/// What one seed did.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    /// Empty if all was as it should be.
    pub wrong: Vec<Failed>,
}

/// Runs so many seeds from the first on, on so many threads; `heard` is told of each that has ended. The seeds that failed, in order.
pub fn run(
    prepared: &Prepared<'_>,
    (first, count): (u64, u64),
    jobs: usize,
    world: &(dyn World + Sync),
    heard: &mut dyn FnMut(&Outcome),
) -> Result<Vec<Outcome>, Failure> {
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
                let outcome = one(prepared, first.wrapping_add(index), world);
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
pub fn one(prepared: &Prepared<'_>, seed: u64, world: &dyn World) -> Result<Outcome, Failure> {
    let how = How { seed, keep: Keep::Reports, weather: Sky::Seeded };
    let run = prepared.run(how, world, &mut |_| ())?;
    Ok(Outcome { seed, wrong: wrong(&run) })
}

/// All that is wrong with a run, the earliest first: what is expected, what is reported, and that it comes to rest.
pub fn wrong(run: &Run) -> Vec<Failed> {
    let said = |at, place: String, found: String| Failed {
        expectation: None,
        at,
        place,
        wanted: String::new(),
        is_too_much: false,
        found,
        instead: Vec::new(),
        others: 0,
        beside: Vec::new(),
    };
    let mut wrong = run.failed.clone();
    wrong.extend(run.records.iter().filter_map(|record| match &record.what {
        RecordedEvent::Reported { host, report, place } => {
            Some(said(record.at, place.clone(), format!("host `{}` reported {report}", run.hosts[*host].name)))
        }
        RecordedEvent::Sent { .. }
        | RecordedEvent::Arrived { .. }
        | RecordedEvent::Input { .. }
        | RecordedEvent::Output { .. }
        | RecordedEvent::Unheard { .. }
        | RecordedEvent::Crashed { .. }
        | RecordedEvent::Restarted { .. } => None,
    }));
    let name = |host: usize| run.hosts.get(host).map_or("?", |host| &host.name);
    wrong.extend(run.restless.map(|(at, why)| said(at, String::new(), super::restless(at, why, name))));
    wrong.sort_by_key(|failed| failed.at);
    wrong
}
