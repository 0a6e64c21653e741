//! Random histories of replicated stores: hosts are parted, crash and begin anew while all write. What more than half of the members had at
//! one time is there at the end, everywhere; nothing is written twice; and all have the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::stacks;
use crate::groups::{sim, Fault};

/// So many values are written, each once: the value is one more than its key.
const WRITES: u32 = 150;

/// What is chosen for a history of this number.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn within(&mut self, from: u64, end: u64) -> u64 {
        from + self.below(end - from)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// So many different ones, in their order.
    fn some_of(&mut self, of: &[&'static str], count: u64) -> Vec<&'static str> {
        let mut chosen = BTreeSet::new();
        while (chosen.len() as u64) < count {
            chosen.insert(self.one_of(of));
        }
        chosen.into_iter().collect()
    }
}

struct History {
    text: String,
    hosts: Vec<&'static str>,
    /// What `Transfer` is told; 0: each view goes on, and one that is alone may write what others lose.
    of: usize,
    /// In milliseconds.
    crashes: Vec<(f64, &'static str)>,
}

fn history(number: u64) -> History {
    let mut random = Random(number);
    let count = random.one_of(&[3, 4, 5, 5]);
    let hosts = ["a", "b", "c", "d", "e"][..count].to_vec();
    let of = random.one_of(&[count, count, count, 0]);
    let beside = random.one_of(&["", "", " / Frag", " / Flow"]);
    let mut lines = partitions(&mut random, &hosts);
    let mut crashes = Vec::new();
    let fewer_than_half = (count as u64 - 1) / 2;
    let crashed = random.below(fewer_than_half + 1);
    for (at, host) in random.some_of(&hosts, crashed).into_iter().enumerate() {
        let time = random.within(1200, 5500);
        let again = time + random.within(20, 1200);
        lines.push(format!("crash {host} at {time} ms"));
        lines.push(format!("restart {host}(own: {}) at {again} ms", 11 + at));
        crashes.push((time as f64, host));
    }
    let mut time = 900;
    for key in 0..WRITES {
        time += random.one_of(&[1, 1, 2, 60, 90, 110]);
        lines.push(format!("at {time} ms  {}.app.put({key}, {})", random.one_of(&hosts), key + 1));
        hosts.iter().for_each(|host| lines.push(format!("at {} ms  {host}.app.get({key})", 10_500 + key)));
    }
    let line = random.one_of(&[
        "delay 1 ms",
        "delay 10 ms",
        "loss 15 %  delay 1 ms .. 3 ms  calm from 7 s",
        "loss 30 %  delay 1 ms .. 5 ms  calm from 7 s",
    ]);
    let store = stacks::store_layers().replace("values(64)", "values(256)").replace("limit 64", "limit 256");
    let mut text = store.replace(stacks::KEPT, &format!("Sync / Transfer({of}){beside} / TotalOrder"));
    text += "network Net {\n";
    for (at, host) in hosts.iter().enumerate() {
        writeln!(text, "    host {host} = Replica(own: {})", at + 1).unwrap();
    }
    let devices: Vec<String> = hosts.iter().map(|host| format!("{host}.device")).collect();
    writeln!(text, "    link lan {{ {}   {line} }}\n    {}", devices.join(", "), lines.join("\n    ")).unwrap();
    text += "    expect a.app.view\n    until 11 s\n}\n";
    History { text, hosts, of, crashes }
}

/// One or two hosts are parted from the others, for short times and long ones.
fn partitions(random: &mut Random, hosts: &[&'static str]) -> Vec<String> {
    let mut all: Vec<(Vec<&str>, u64, u64)> = Vec::new();
    for _ in 0..random.within(3, 12) {
        let from = random.within(900, 6000);
        let (least, most) = random.one_of(&[(20, 400), (150, 1500)]);
        let until = from + random.within(least, most);
        let size = if hosts.len() > 3 { random.one_of(&[1, 2, 2]) } else { 1 };
        let apart = random.some_of(hosts, size);
        let is_same =
            |known: &[&str]| known == apart || hosts.iter().all(|host| known.contains(host) != apart.contains(host));
        if !all.iter().any(|(known, begin, end)| is_same(known) && *begin < until && from < *end) {
            all.push((apart, from, until));
        }
    }
    all.into_iter()
        .map(|(apart, from, until)| format!("partition {} from {from} ms until {until} ms", apart.join(", ")))
        .collect()
}

/// What a store says, in milliseconds: `12.5 ms  a  -> app.written(7, 8)`.
fn said(line: &str) -> Option<(f64, &str, &str, Vec<u32>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, unit, host, "->", ..] = words[..] else { return None };
    let (event, rest) = line.split_once("-> app.")?.1.split_once('(')?;
    let unit = [("s", 1e3), ("ms", 1.0), ("us", 1e-3), ("µs", 1e-3), ("ns", 1e-6)]
        .into_iter()
        .find(|(name, _)| *name == unit)?
        .1;
    let values = rest.trim_end().trim_end_matches(')').split(", ").filter_map(|value| value.parse().ok()).collect();
    Some((time.parse::<f64>().ok()? * unit, host, event, values))
}

/// What is wrong in the log of a history; and how many values more than half of the members had at one time.
fn judged(history: &History, log: &str) -> (Vec<String>, usize) {
    let crash = |(at, host): &(f64, &'static str)| (*at, *host, "crash", Vec::new());
    let mut events: Vec<(f64, &str, &str, Vec<u32>)> = log.lines().filter_map(said).collect();
    events.extend(history.crashes.iter().map(crash));
    events.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut wrong = Vec::new();
    let mut written: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    let mut stays = BTreeSet::new();
    let mut at_the_end: BTreeMap<&str, Vec<(u32, u32)>> = BTreeMap::new();
    for (at, host, event, values) in events {
        match (event, &values[..]) {
            ("written", [key, _]) => {
                let by = written.entry(*key).or_default();
                if !by.insert(host) {
                    wrong.push(format!("{host} writes {key} twice, at {at} ms"));
                }
                if history.of > 0 && by.len() > history.of / 2 {
                    stays.insert(*key);
                }
            }
            // Of what is in a state that comes nothing is known here.
            ("crash" | "renewed", _) => written.values_mut().for_each(|by| {
                by.remove(host);
            }),
            ("value", [key, value]) => at_the_end.entry(host).or_default().push((*key, *value)),
            _ => {}
        }
    }
    for host in &history.hosts {
        let values = at_the_end.remove(host).unwrap_or_default();
        if values.len() != WRITES as usize {
            wrong.push(format!("{host} says {} values", values.len()));
        }
        wrong.extend(
            stays
                .iter()
                .filter(|key| !values.contains(&(**key, **key + 1)))
                .map(|key| format!("{host} has lost {key}")),
        );
        at_the_end.insert(host, values);
    }
    if at_the_end.values().any(|values| Some(values) != at_the_end.values().next()) {
        wrong.push("members have different values".to_string());
    }
    (wrong, stays.len())
}

/// Runs a history, perhaps with a fault; what is wrong, and how many values had to stay.
fn outcome(folder: &str, number: u64, fault: Option<&Fault>) -> (Vec<String>, usize) {
    let history = history(number);
    let (is_right, log) = sim(folder, &history.text, fault, &["--seed", "1", "--log"]);
    assert!(is_right, "{number}: {}", log.lines().take(20).collect::<Vec<&str>>().join("\n"));
    judged(&history, &log)
}

fn hold(numbers: std::ops::Range<u64>) {
    let mut stay = 0;
    for number in numbers {
        let (wrong, stays) = outcome("history", number, None);
        assert!(wrong.is_empty(), "history {number}: {wrong:#?}");
        stay += stays;
    }
    assert!(stay > 0, "there was nothing that had to stay");
}

#[test]
fn what_most_have_stays_in_random_histories() {
    hold(0..4);
}

#[test]
#[ignore = "campaign: groups"]
fn what_most_have_stays_in_many_random_histories() {
    let seeds = std::env::var("MOKUME_SEEDS").map_or(300, |seeds| seeds.parse().unwrap());
    hold(4..4 + seeds);
}

/// Each with a history that shows it.
const FAULTS: [(u64, Fault); 2] = [
    // What comes as a view ends is heard at once, where others do not go on with it.
    (
        30,
        Fault {
            layer: "transfer",
            from: "settled and !blocked and held.is_empty()",
            to: "settled and held.is_empty()",
            seed: "1",
            broken: "has lost",
        },
    ),
    // What is in the state is heard again.
    (
        1,
        Fault {
            layer: "transfer",
            from: "            for n in 0 .. before limit 2 * MOST * depth { leave_out() }\n",
            to: "",
            seed: "1",
            broken: "different values",
        },
    ),
];

#[test]
fn faults_are_found_by_random_histories() {
    for (number, fault) in &FAULTS {
        let (wrong, _) = outcome("history_fault", *number, Some(fault));
        let shows = |wrong: &[String]| wrong.iter().any(|wrong| wrong.contains(fault.broken));
        if !shows(&wrong) {
            let other = (0..200).find(|number| shows(&outcome("history_fault", *number, Some(fault)).0));
            panic!("`{}`: history {number} does not show it, but {other:?}", fault.from);
        }
    }
}
