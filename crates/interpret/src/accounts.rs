//! What became of every message.

use mokume_reaction::{Accounts, ReasonId};

/// Totals since the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    pub received: u64,
    /// Messages that came in by any port.
    pub entered: u64,
    /// Messages made inside: new ones, shares, second parts.
    pub made: u64,
    pub dropped: Vec<u64>,
    pub consumed: Vec<u64>,
    pub gone: u64,
    pub delivered: u64,
    pub merged: u64,
    pub held: u64,
    pub refused: u64,
    /// Dropped, consumed, gone or merged.
    pub used_up: u64,
    /// `made` less `used_up`, when the reaction at hand began.
    pub before: i64,
    /// The most that was made and not used up in one reaction, at any time in it (docs/semantics.md, M3).
    pub most: u64,
    /// By class and cell: what counters of freed objects had counted.
    pub retired: Vec<Vec<u64>>,
}

/// Both sides of the account: each message that came to be has exactly one fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ledger {
    /// Came in by a port, or was made inside.
    pub origins: u64,
    /// Dropped, consumed, gone, delivered, merged or held.
    pub fates: u64,
}

impl Totals {
    /// A reaction begins.
    pub fn begin(&mut self) {
        self.before = self.made as i64 - self.used_up as i64;
    }

    /// A message is made inside.
    pub fn make(&mut self) {
        self.made += 1;
        let held = self.made as i64 - self.used_up as i64 - self.before;
        self.most = self.most.max(u64::try_from(held).unwrap_or(0));
    }

    /// Both sides of the account (docs/semantics.md, F2). They are equal between two calls; inside a reaction
    /// messages are in somebody's hands, and on neither side's fates.
    pub fn ledger(&self) -> Ledger {
        let ended: u64 = self.dropped.iter().chain(&self.consumed).sum();
        let fates = ended + self.gone + self.delivered + self.merged + self.held;
        Ledger { origins: self.entered + self.made, fates }
    }

    /// The totals as every back end gives them: reasons that never occurred are left out, in the order of their
    /// declaration. Counters are the caller's, since they stand in objects.
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
