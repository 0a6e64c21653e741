//! `mokume profile`: which ways the reactions of a stack take in a network, for the search for paths.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mokume_base::World;
use mokume_reaction::profile::{all, mark, Passed};
pub use mokume_reaction::profile::{Profile, Written};
use mokume_reaction::{Automaton, HandlerId};

use crate::compile::{Checked, Compiled};
use crate::failure::Failure;
use crate::machines::Noted;
use crate::sim;

/// The profile of one event.
#[derive(Clone, Debug)]
pub struct Event {
    /// The events of ports that lead to it: `port.event`; one without such an event has its own name.
    pub events: Vec<String>,
    /// The number of its reactions.
    pub reactions: u64,
    /// The count of each of its ways, the most frequent first.
    pub ways: Vec<u64>,
    /// How many of the reactions took a path that is based on this profile.
    pub by_path: u64,
}

/// Runs a network with several seeds, and adds up the ways of reactions of all hosts with one of its stacks.
///
/// Fails if the network has no such stack, or if a run fails.
pub fn record(
    checked: &Checked,
    prepared: &sim::Prepared<'_>,
    (stack, compiled): (u32, &Compiled),
    seeds: std::ops::Range<u64>,
    world: &dyn World,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Written, Failure> {
    let name = &checked.program.stacks[stack as usize].name.text;
    let profile = Arc::new(Mutex::new(Profile::default()));
    run(prepared, (stack, Noted::Ways(&profile)), seeds, world, progress)?;
    let profile = std::mem::take(&mut *profile.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Written { stack: name.clone(), mark: mark(&mokume_analyse::laid_open(&compiled.composed)), profile })
}

fn run(
    prepared: &sim::Prepared<'_>,
    watched: sim::Watched<'_>,
    seeds: std::ops::Range<u64>,
    world: &dyn World,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), Failure> {
    for seed in seeds {
        let how = sim::How { seed, keep: sim::Keep::Reports, weather: sim::Sky::Seeded };
        prepared.watched(how, watched, world, &mut |at| progress(seed, at))?.come_to_rest()?;
    }
    Ok(())
}

/// Runs the same again with the paths for its profile; returns for each handler of an event how often one of its paths
/// was taken.
///
/// Fails if a run fails.
pub fn taken(
    prepared: &sim::Prepared<'_>,
    (stack, compiled, profile): (u32, &Compiled, &Profile),
    seeds: std::ops::Range<u64>,
    world: &dyn World,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BTreeMap<HandlerId, u64>, Failure> {
    let fused = crate::path::fused(&compiled.composed, profile, crate::path::Fuse::to(1));
    let counts = Arc::new(Mutex::new(vec![0; fused.paths.len()]));
    run(prepared, (stack, Noted::Paths(&fused, &counts)), seeds, world, progress)?;
    let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = BTreeMap::new();
    for (path, count) in fused.paths.iter().zip(&*counts) {
        *taken.entry(path.handler).or_default() += count;
    }
    Ok(taken)
}

/// The number of the stack in a network: the named one, or the only one.
///
/// Fails if there is none of this name, or several and no name.
pub fn choose(checked: &Checked, stacks: &[u32], name: Option<&str>) -> Result<u32, Failure> {
    let called = |stack: &u32| checked.program.stacks[*stack as usize].name.text.as_str();
    let names = stacks.iter().map(called).collect::<Vec<_>>().join(", ");
    match (name, stacks) {
        (Some(name), _) => stacks.iter().find(|stack| called(stack) == name).copied().ok_or_else(|| {
            Failure::of_use(format!("no host of the network has a stack `{name}`"), format!("there are: {names}"))
        }),
        (None, [one]) => Ok(*one),
        (None, _) => Err(Failure::of_use(
            format!("the hosts of the network have several stacks: {names}"),
            "choose one with `--stack NAME`",
        )),
    }
}

/// The profile by events: those of ports first, in order, then timers and the like.
pub fn events(composed: &Automaton, profile: &Profile, taken: &BTreeMap<HandlerId, u64>) -> Vec<Event> {
    let mut handlers: Vec<HandlerId> = Vec::new();
    for first in profile.ways.keys().filter_map(|way| way.first()) {
        if !handlers.contains(&first.handler) {
            handlers.push(first.handler);
        }
    }
    handlers.sort_by_key(|handler| (!composed.is_at_port(*handler), *handler));
    let event = |handler: HandlerId| {
        let mut ways: Vec<u64> = profile.from(handler).map(|way: (&[Passed], u64)| way.1).collect();
        ways.sort_unstable_by(|a, b| b.cmp(a));
        Event {
            events: crate::path::events(composed, handler),
            reactions: all(ways.iter().copied()),
            ways,
            by_path: taken.get(&handler).copied().unwrap_or(0),
        }
    };
    handlers.into_iter().map(event).collect()
}

/// Reads the profile of a stack from a file.
///
/// Fails if it cannot be read, is not a profile, or is for another stack, or another version of this one.
pub fn read(world: &dyn World, file: &str, composed: &Automaton) -> Result<Profile, Failure> {
    let text = world.read(file).map_err(|error| {
        Failure::of_use(format!("cannot read `{file}`: {error}"), "`mokume profile … -o FILE` writes one")
    })?;
    let text = String::from_utf8_lossy(&text);
    let written = Written::parse(&text).map_err(|line| {
        Failure::of_use(format!("`{file}` is no profile: line {line}"), "`mokume profile … -o FILE` writes one")
    })?;
    let flat = mokume_analyse::laid_open(composed);
    let refused = |what: String| {
        Failure::of_use(what, format!("`mokume profile … --stack {} -o {file}` makes it anew", written.stack))
    };
    if written.mark != mark(&flat) {
        return Err(refused(format!(
            "`{file}` is the profile of another stack than this, or of `{}` before it was changed",
            written.stack
        )));
    }
    is_of(&flat, &written.profile)
        .map_err(|what| refused(format!("`{file}` was changed since `mokume profile` wrote it: {what}")))?;
    Ok(written.profile)
}

/// Whether a stack has all handlers and branches of a profile.
fn is_of(flat: &Automaton, profile: &Profile) -> Result<(), String> {
    let all = profile.ways.keys().flatten();
    for Passed { handler, branches } in all {
        let body = &flat.handlers.get(handler.index()).ok_or(format!("the stack has no handler {}", handler.0))?.body;
        for (block, target) in branches {
            let found = body.blocks.get(block.index());
            if found.is_none_or(|found| *target as usize >= found.terminator.targets().len()) {
                return Err(format!("handler {} has no branch {}/{target}", handler.0, block.0));
            }
        }
    }
    Ok(())
}
