//! `mokume path`: for each event of a port, the likeliest way through all layers, in the words of the source.

use mokume_reaction::profile::Profile;
use mokume_reaction::{Automaton, Block, HandlerId, LayerId, Path, SourceId, Terminator, Trigger};

use crate::failure::Failure;

/// What is known of an event's path.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The events of ports that lead to it: `port.event`.
    pub events: Vec<String>,
    /// The path, or why there is none.
    pub path: Result<Way, Nowhere>,
    /// What ways met that are not in it, or end at a handler that does the rest: how likely it is to come there, and why. The likeliest first.
    pub missed: Vec<(f32, Nowhere)>,
}

/// A way through the layers.
#[derive(Clone, Debug)]
pub struct Way {
    /// The layers that it goes through, in order.
    pub layers: Vec<String>,
    /// What it asks before it does anything; where an answer is another one, the handlers do it all.
    pub guards: usize,
    pub operations: usize,
    /// Its operations, each with the place in the source where it comes from, if one is known.
    pub lines: Vec<(String, Option<String>)>,
}

/// Why there is no path.
#[derive(Clone, Debug)]
pub struct Nowhere {
    /// What the way that was tried first meets: a sentence about an operation.
    pub why: String,
    /// `file:line`.
    pub place: Option<String>,
}

/// How far C is fused where nobody says it.
pub const FUSE: u8 = 2;

/// The automaton with a path in front of the handlers of each event that has one; from level 2 on with memos. What a profile says is
/// usual is; of what it does not know, the source says it.
pub fn fused(composed: &Automaton, profile: &Profile, level: u8) -> Automaton {
    with_notes(composed, profile, level).automaton
}

/// What C is made of, and what it says of each event's path.
pub(crate) struct Noted {
    pub automaton: Automaton,
    pub notes: Vec<String>,
}

pub(crate) fn with_notes(composed: &Automaton, profile: &Profile, level: u8) -> Noted {
    let fused = mokume_fuse::fused(composed, profile, (level > 1).then_some(mokume_fuse::WORTH));
    let mut notes =
        vec![format!("Paths (`--fuse {level}`): the usual way of an event through all layers as one piece of code.")];
    notes.extend(fused.events.iter().map(|(handler, path)| {
        let events = events(composed, *handler).join(", ");
        match path {
            Ok(layers) => format!("{events}: {layers} layers, tested"),
            Err(why) => {
                let nowhere = nowhere(composed, why.clone());
                format!("{events}: none, as the likeliest way {}{}", nowhere.why, nowhere.at())
            }
        }
    }));
    Noted { automaton: fused.automaton, notes }
}

/// For each event of a port, in their order.
pub fn paths(composed: &Automaton, profile: &Profile) -> Vec<Shown> {
    mokume_fuse::paths(composed, profile).into_iter().map(|found| shown(composed, found)).collect()
}

type Found = (Vec<String>, Result<(Path, Vec<LayerId>), mokume_fuse::Why>);

/// The paths of a stack, each with the events that lead to it.
pub(crate) fn found(composed: &Automaton, profile: &Profile) -> Vec<Found> {
    mokume_fuse::paths(composed, profile)
        .into_iter()
        .map(|found| (events(composed, found.handler), found.path))
        .collect()
}

/// The events of ports that lead to a handler: `port.event`. One that no port leads to has its own name.
pub(crate) fn events(composed: &Automaton, id: HandlerId) -> Vec<String> {
    if !composed.is_at_port(id) {
        return vec![composed.handler_name(id)];
    }
    let handler = composed.handler(id);
    let inputs = composed.ports.iter().flat_map(|port| port.inputs.iter().map(move |input| (port, input)));
    let leads = inputs
        .filter(|(_, input)| input.class == handler.class && handler.trigger == Trigger::Event(input.handler.clone()));
    leads.map(|(port, input)| format!("{}.{}", port.name, input.event)).collect()
}

/// Fails where none of these is the event, and says which there are.
pub fn known<'a>(all: impl Iterator<Item = &'a Vec<String>>, event: &str) -> Result<(), Failure> {
    let known: Vec<&str> = all.flatten().map(String::as_str).collect();
    match known.contains(&event) {
        true => Ok(()),
        false => {
            let help = format!("there are: {}", known.join(", "));
            Err(Failure::of_use(format!("there is no event `{event}`"), help))
        }
    }
}

impl Nowhere {
    /// Where it is, in parentheses behind a blank; nothing if that is not known.
    pub fn at(&self) -> String {
        self.place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
    }
}

/// `file:line`.
fn place_of(automaton: &Automaton, source: SourceId) -> Option<String> {
    let source = automaton.sources.get(source.index())?;
    Some(format!("{}:{}", source.file, source.line))
}

fn nowhere(automaton: &Automaton, why: mokume_fuse::Why) -> Nowhere {
    Nowhere { why: why.what, place: why.source.and_then(|source| place_of(automaton, source)) }
}

fn shown(automaton: &Automaton, found: mokume_fuse::Found) -> Shown {
    let events = events(automaton, found.handler);
    let missed = found.missed.into_iter().map(|missed| (missed.likely, nowhere(automaton, missed.why))).collect();
    let path = match found.path {
        Ok((path, layers)) => {
            let asks = |block: &&Block| matches!(block.terminator, Terminator::Branch { .. } | Terminator::Try { .. });
            let lines = mokume_reaction::text::path_lines(automaton, &path).into_iter();
            Ok(Way {
                layers: layers.iter().map(|layer| automaton.layers[layer.index()].name.clone()).collect(),
                guards: path.body.blocks.iter().filter(asks).count(),
                operations: path.body.ops().count(),
                lines: lines
                    .map(|(text, source)| (text, source.and_then(|source| place_of(automaton, source))))
                    .collect(),
            })
        }
        Err(why) => Err(nowhere(automaton, why)),
    };
    Shown { events, path, missed }
}
