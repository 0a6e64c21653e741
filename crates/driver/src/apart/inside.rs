//! Whether C is running at this moment, so that the parent can be told.

use std::sync::atomic::{AtomicU64, Ordering};

use mokume_reaction::{Accounts, Datum, Machine, Natives, Outcome, PortId};

/// Calls of C that have begun, and those that have returned, in all threads.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Runs a call of C.
fn within<T>(call: impl FnOnce() -> T) -> T {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    let answer = call();
    ENDED.fetch_add(1, Ordering::Relaxed);
    answer
}

/// Checks repeatedly whether C returns.
#[derive(Default)]
pub(super) struct Look {
    ended: u64,
}

impl Look {
    /// Whether no C is running, or some has returned since the last check.
    pub fn lives(&mut self) -> bool {
        let (begun, ended) = (BEGUN.load(Ordering::Relaxed), ENDED.load(Ordering::Relaxed));
        let has_ended = std::mem::replace(&mut self.ended, ended) != ended;
        begun == ended || has_ended
    }
}

/// C whose calls are counted.
pub struct Seen<T>(pub T);

impl<T: Natives> Natives for Seen<T> {
    fn call(&self, symbol: &str, args: &[u64], octets: Option<(&mut Vec<u8>, u32)>) -> u64 {
        within(|| self.0.call(symbol, args, octets))
    }
}

impl<T: Machine> Machine for Seen<T> {
    fn start(&mut self, now: u64) -> Outcome {
        within(|| self.0.start(now))
    }
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        within(|| self.0.input(now, port, event, args))
    }
    fn advance(&mut self, now: u64) -> Outcome {
        within(|| self.0.advance(now))
    }
    fn next_deadline(&self) -> Option<u64> {
        self.0.next_deadline()
    }
    fn accounts(&self) -> Accounts {
        self.0.accounts()
    }
    fn exhausted(&self) -> u64 {
        self.0.exhausted()
    }
    fn reactions(&self) -> u64 {
        self.0.reactions()
    }
}
