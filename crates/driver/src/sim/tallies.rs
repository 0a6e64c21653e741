//! `expect dropped b.stale 1`: totals of hosts, compared at their times.

use mokume_base::Diagnostic;
use mokume_lower::network_tally;
use mokume_reaction::{Accounts, Automaton};
use mokume_script::Counted;
use mokume_semantics::program::{Network, Program, Tally};

use super::stacks::Stacks;

/// The most hosts of which it is said what else they dropped.
const MOST_SHOWN: usize = 3;

/// For each tally of a network: the hosts that count for it, and what each of them counts.
pub(super) struct Tallies(Vec<Vec<(usize, Counted)>>);

impl Tallies {
    /// Resolves them in the stacks of their hosts; hosts without a stack are skipped.
    pub fn of(program: &Program, network: &Network, stacks: Stacks<'_, '_>, wrong: &mut Vec<Diagnostic>) -> Tallies {
        Tallies(network.tallies.iter().map(|tally| counting(program, network, stacks, tally, wrong)).collect())
    }

    /// Those that do not hold; `accounts` has those of a host at a time, all its lives together.
    pub fn wrong<'n, 's>(
        &self,
        network: &'n Network,
        automata: &[&Automaton],
        accounts: &dyn Fn(u64, usize) -> Option<&'s Accounts>,
    ) -> Vec<Wrong<'n>> {
        let tallies = network.tallies.iter().zip(&self.0);
        let found = tallies.filter_map(|(tally, counting)| {
            let of = |(host, what): &(usize, Counted)| {
                let accounts = accounts(tally.until, *host)?;
                let total = mokume_script::total(automata[*host], accounts, what).unwrap_or(0);
                Some((*host, total, mokume_script::beside(automata[*host], accounts, what)))
            };
            let each: Vec<(usize, u64, Vec<String>)> = counting.iter().filter_map(of).collect();
            let total = each.iter().map(|(_, total, _)| total).sum();
            let (least, most) = tally.within;
            let wrong = || Wrong { tally, is_too_much: total > most, found: said(network, tally, total, &each) };
            (!(least..=most).contains(&total)).then(wrong)
        });
        found.collect()
    }
}

/// A tally that does not hold.
pub(super) struct Wrong<'n> {
    pub tally: &'n Tally,
    pub is_too_much: bool,
    /// What there was instead.
    pub found: String,
}

/// Who counts for a tally. Reports a name that no host has.
#[allow(clippy::result_large_err)] // A diagnostic is what every crate answers with.
fn counting(
    program: &Program,
    network: &Network,
    stacks: Stacks<'_, '_>,
    tally: &Tally,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<(usize, Counted)> {
    let (mut counting, mut unknown, mut is_whole) = (Vec::new(), None, true);
    for (number, host) in network.hosts.iter().enumerate() {
        if tally.host.is_some_and(|host| host as usize != number) {
            continue;
        }
        match stacks(host.stack.0).map(|stack| network_tally(program, stack, tally)) {
            Some(Ok(counted)) => counting.push((number, counted)),
            Some(Err(diagnostic)) => drop(unknown.get_or_insert(diagnostic)),
            None => is_whole = false,
        }
    }
    let first = tally.name.text.split_once('.').map(|(first, _)| first).filter(|_| tally.host.is_none());
    let told = |found: Diagnostic| match first {
        Some(first) => {
            let hosts: Vec<String> = network.hosts.iter().map(|host| format!("`{}`", host.name.text)).collect();
            found.help(format!("`{first}` is no host: there is {}", hosts.join(", ")))
        }
        None => found,
    };
    wrong.extend(unknown.map(told).filter(|_| counting.is_empty() && is_whole));
    counting
}

/// The total, of whom it is, and what else was dropped where it is too little.
fn said(network: &Network, tally: &Tally, total: u64, each: &[(usize, u64, Vec<String>)]) -> String {
    let name = |host: usize| network.hosts[host].name.text.as_str();
    let shares = each.iter().filter(|(_, total, _)| *total > 0);
    let shares: Vec<String> = shares.map(|(host, total, _)| format!("{} {total}", name(*host))).collect();
    let mut found = match shares.as_slice() {
        [_, _, ..] => format!("it was {total}: {}", shares.join(", ")),
        _ => format!("it was {total}"),
    };
    if total < tally.within.0 {
        for (host, _, others) in each.iter().filter(|(.., others)| !others.is_empty()).take(MOST_SHOWN) {
            found.push_str(&format!("; at {}: {}", name(*host), others.join(", ")));
        }
    }
    found
}
