//! The accounts: what became of every message.

use mokume_reaction::{Accounts, ReasonId};

/// Totals since the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    pub received: u64,
    /// Messages that came in by any port.
    pub entered: u64,
    /// Messages made inside: new ones, copies, second parts of splits.
    pub made: u64,
    pub dropped: Vec<u64>,
    pub consumed: Vec<u64>,
    pub gone: u64,
    pub delivered: u64,
    pub merged: u64,
    pub held: u64,
    pub refused: u64,
    /// Messages dropped, consumed, gone or merged.
    pub used_up: u64,
    /// `made` less `used_up` at the beginning of the current reaction.
    pub before: i64,
    /// The largest growth of `made` less `used_up` at any time in one reaction (docs/semantics.md, M3).
    pub most: u64,
    /// By class and cell: the counts of freed objects.
    pub retired: Vec<Vec<u64>>,
}

/// Both sides of the account: each message has one origin and exactly one fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ledger {
    /// Messages that came in by a port, or were made inside.
    pub origins: u64,
    /// Messages dropped, consumed, gone, delivered, merged or held.
    pub fates: u64,
}

impl Totals {
    /// Notes the beginning of a reaction.
    pub fn begin(&mut self) {
        self.before = self.made as i64 - self.used_up as i64;
    }

    /// Notes that a message is made inside.
    pub fn make(&mut self) {
        self.made += 1;
        let held = self.made as i64 - self.used_up as i64 - self.before;
        self.most = self.most.max(u64::try_from(held).unwrap_or(0));
    }

    /// Both sides of the account (docs/semantics.md, F2). They are equal between two calls; within a reaction, messages
    /// that handlers hold have no fate yet.
    pub fn ledger(&self) -> Ledger {
        let ended: u64 = self.dropped.iter().chain(&self.consumed).sum();
        let fates = ended + self.gone + self.delivered + self.merged + self.held;
        Ledger { origins: self.entered + self.made, fates }
    }

    /// The totals in the form that every back end gives: only reasons that occurred, in the order of their declaration.
    /// The caller provides counters, which are in objects.
    pub fn accounts(&self, counters: Vec<(String, u64)>) -> Accounts {
        let by_reason = |totals: &[u64]| {
            let occurred = totals.iter().enumerate().filter(|(_, total)| **total > 0);
            occurred.map(|(reason, total)| (ReasonId::from(reason), *total)).collect()
        };
        Accounts {
            received: self.received,
            dropped: by_reason(&self.dropped),
            consumed: by_reason(&self.consumed),
            gone: self.gone,
            delivered: self.delivered,
            merged: self.merged,
            held: self.held,
            refused: self.refused,
            counters,
        }
    }
}
