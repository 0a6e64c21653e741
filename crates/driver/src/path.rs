//! `mokume path`: for each event of a port, the likeliest way through all layers, in terms of the source.

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use mokume_draw::percent;
use mokume_draw::PathExit;
use mokume_fuse::Expected;
pub use mokume_fuse::{Pass, Passes};
use mokume_reaction::profile::Profile;
use mokume_reaction::text::{path_code, CodeLine, Part};
use mokume_reaction::{Automaton, Block, Body, HandlerId, LayerId, Path, SourceId, Target, Terminator, Trigger};

use crate::failure::Failure;

/// The results for one event.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The events of ports that lead to the path: `port.event`.
    pub events: Vec<String>,
    /// The path, or why there is none.
    pub path: Result<Way, Nowhere>,
    /// What the ways meet that are not in it, or that end at a handler that does the rest: likelihood and reason, the
    /// likeliest first.
    pub missed: Vec<(f32, Nowhere)>,
}

/// A way through the layers.
#[derive(Clone, Debug)]
pub struct Way {
    /// The layers on it, in order.
    pub layers: Vec<String>,
    /// The guards that are tested before any effect; if one fails, the handlers do everything.
    pub guards: usize,
    pub operations: usize,
    /// Its operations and branches.
    pub lines: Vec<Line>,
    /// What remains of each layer on the likeliest way, in the order of the layers.
    pub left: Vec<Left>,
}

/// A line of a path's code.
#[derive(Clone, Debug)]
pub struct Line {
    pub text: String,
    /// Its place in the source, if known.
    pub place: Option<String>,
    /// If the path may be left there, how likely: `left 2.5 %`.
    pub left: Option<String>,
}

/// What remains of a layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// Several layers, if they share source lines.
    pub layers: Vec<String>,
    pub operations: usize,
    pub guards: usize,
}

/// Why there is no path.
#[derive(Clone, Debug)]
pub struct Nowhere {
    /// What the first way that was tried meets: a sentence about an operation.
    pub why: String,
    /// `file:line`.
    pub place: Option<String>,
}

/// The default fusion level of C.
pub const FUSE: u8 = 2;

/// How C is fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fuse {
    /// 0: the layers as they are; 1: with paths; 2: with memos, too.
    pub level: u8,
    /// Those of the level's passes that are enabled.
    pub passes: Passes,
}

impl Default for Fuse {
    fn default() -> Self {
        Fuse::to(FUSE)
    }
}

impl Fuse {
    /// With all passes of a level.
    pub fn to(level: u8) -> Self {
        Fuse { level, passes: Passes::ALL }
    }

    /// The passes that run.
    pub fn passes(self) -> Passes {
        if self.level > 1 {
            self.passes
        } else {
            self.passes.without(Pass::Memos)
        }
    }

    /// As options of a command: `--fuse 2 --pass memos=off`.
    fn words(self) -> String {
        let left_out = Pass::ALL.into_iter().filter(|pass| !self.passes.has(*pass));
        left_out.fold(format!("--fuse {}", self.level), |words, pass| format!("{words} --pass {}=off", pass.name()))
    }
}

/// The automaton with paths for all events that have one; from level 2 on with memos. Likelihoods come from the
/// profile; where it knows nothing, from the source.
pub fn fused(composed: &Automaton, profile: &Profile, fuse: Fuse) -> Automaton {
    with_notes(composed, profile, fuse).automaton
}

/// The input for C, and the result for each event.
pub(crate) struct Noted {
    pub automaton: Automaton,
    events: Vec<(HandlerId, Result<usize, mokume_fuse::Why>)>,
    /// The handlers whose paths were removed, if any were to be.
    left_out: Option<Vec<HandlerId>>,
}

pub(crate) fn with_notes(composed: &Automaton, profile: &Profile, fuse: Fuse) -> Noted {
    let fused = mokume_fuse::fused(composed, profile, fuse.passes());
    Noted { automaton: fused.automaton, events: fused.events, left_out: None }
}

impl Noted {
    /// Removes all paths except those of these handlers, and memos that only removed paths recall. Returns the events
    /// of the removed ones, by path.
    pub fn keep_only(&mut self, handlers: &[HandlerId]) -> Vec<Vec<String>> {
        let is_kept = |handler: &HandlerId| handlers.contains(handler);
        let paths = self.automaton.paths.iter().map(|path| path.handler);
        let left_out: Vec<HandlerId> = paths.filter(|handler| !is_kept(handler)).collect();
        self.automaton.paths.retain(|path| is_kept(&path.handler));
        mokume_analyse::take_out(&mut self.automaton);
        let events = left_out.iter().map(|handler| events(&self.automaton, *handler)).collect();
        self.left_out = Some(left_out);
        events
    }

    /// The comments about the path of each event, line by line; paths of the `proved` handlers are marked.
    pub fn notes(&self, fuse: Fuse, proved: &[HandlerId]) -> Vec<String> {
        let only = if self.left_out.is_some() { " --proved" } else { "" };
        let head = format!(
            "Paths (`{}{only}`): the usual way of an event through all layers as one piece of code.",
            fuse.words()
        );
        let is_left_out = |handler| self.left_out.as_ref().is_some_and(|left_out| left_out.contains(handler));
        let lines = self.events.iter().map(|(handler, path)| {
            let events = events(&self.automaton, *handler).join(", ");
            match path {
                Ok(_) if is_left_out(handler) => format!("{events}: none, as it is not proved"),
                Ok(layers) if proved.contains(handler) => format!("{events}: {layers} layers, proved"),
                Ok(layers) => format!("{events}: {layers} layers, tested"),
                Err(why) => {
                    let nowhere = nowhere(&self.automaton, why.clone());
                    format!("{events}: none, as the likeliest way {}{}", nowhere.why, nowhere.at())
                }
            }
        });
        std::iter::once(head).chain(lines).collect()
    }
}

/// The results for each event of a port, in order.
pub fn paths(composed: &Automaton, profile: &Profile, passes: Passes) -> Vec<Shown> {
    mokume_fuse::paths(composed, profile, passes).into_iter().map(|found| shown(composed, found)).collect()
}

type Found = (Vec<String>, Result<(Path, Vec<LayerId>), mokume_fuse::Why>);

/// The paths of a stack, each with the events that lead to it.
pub(crate) fn found(composed: &Automaton, profile: &Profile) -> Vec<Found> {
    mokume_fuse::paths(composed, profile, Passes::ALL)
        .into_iter()
        .map(|found| (events(composed, found.handler), found.path))
        .collect()
}

/// The events of ports that lead to a handler: `port.event`. A handler without such an event has its own name.
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

/// Fails if none of these is the event, and lists them. Of a timer, or of an event inside the stack, it says that no path was
/// looked for.
pub fn known<'a>(composed: &Automaton, all: impl Iterator<Item = &'a Vec<String>>, event: &str) -> Result<(), Failure> {
    let known: Vec<&str> = all.flatten().map(String::as_str).collect();
    let all = (0..composed.handlers.len()).map(HandlerId::from);
    let mut inside = all.filter(|id| !composed.is_at_port(*id)).map(|id| composed.handler_name(id));
    match known.contains(&event) {
        true => Ok(()),
        false if inside.any(|name| name == event) => {
            let help =
                "for timers and events inside the stack paths are looked for by a profile in which they are usual: \
                        `mokume profile`, and `--profile FILE` here";
            Err(Failure::of_use(format!("no path was looked for after `{event}`, so the layers do it"), help))
        }
        false => {
            let help = format!("there are: {}", known.join(", "));
            Err(Failure::of_use(format!("there is no event `{event}`"), help))
        }
    }
}

impl Nowhere {
    /// The place in parentheses after a blank; empty if unknown.
    pub fn at(&self) -> String {
        self.place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
    }
}

/// By place in the source: the layers whose code contains it.
pub(crate) struct Owners(BTreeMap<SourceId, BTreeSet<LayerId>>);

impl Owners {
    /// The owners of all places in an automaton's code.
    pub fn of(automaton: &Automaton) -> Self {
        let mut owners: BTreeMap<SourceId, BTreeSet<LayerId>> = BTreeMap::new();
        for (layer, body) in automaton.code() {
            let marks = body.blocks.iter().filter_map(|block| Some(block.mark?.source));
            for source in marks.chain(body.ops().filter_map(|op| op.source)) {
                owners.entry(source).or_default().insert(layer);
            }
        }
        Owners(owners)
    }

    /// The layers whose code contains a place; `None` if none does.
    pub fn of_source(&self, source: SourceId) -> Option<&BTreeSet<LayerId>> {
        self.0.get(&source)
    }
}

/// What remains of each layer on the likeliest way: operations and guards, in the order of the layers. An operation
/// belongs to the layer whose code contains its line; one without a line, to the layer of the previous one.
pub(crate) fn left_of(automaton: &Automaton, path: &Path, order: &[LayerId]) -> Vec<(BTreeSet<LayerId>, usize, usize)> {
    let owners = Owners::of(automaton);
    let mut counts: BTreeMap<BTreeSet<LayerId>, (usize, usize)> = BTreeMap::new();
    order.iter().for_each(|layer| {
        counts.insert(BTreeSet::from([*layer]), (0, 0));
    });
    let mut at = order.first().map(|layer| BTreeSet::from([*layer])).unwrap_or_default();
    let mut count = |source: Option<SourceId>, operations: usize, guards: usize| {
        if let Some(own) = source.and_then(|source| owners.of_source(source)) {
            at.clone_from(own);
        }
        let known = counts.entry(at.clone()).or_default();
        *known = (known.0 + operations, known.1 + guards);
    };
    for block in likeliest(&path.body) {
        block.ops.iter().for_each(|op| count(op.source, 1, 0));
        if asks(block) {
            count(block.mark.map(|mark| mark.source), 0, 1);
        }
    }
    // Layers that share source lines are counted together.
    let together: Vec<BTreeSet<LayerId>> = counts.keys().filter(|layers| layers.len() > 1).cloned().collect();
    counts.retain(|layers, left| {
        layers.len() > 1 || *left != (0, 0) || !together.iter().any(|others| layers.is_subset(others))
    });
    let place = |layer: &LayerId| order.iter().position(|other| other == layer).unwrap_or(order.len());
    let mut all: Vec<_> =
        counts.into_iter().map(|(layers, (operations, guards))| (layers, operations, guards)).collect();
    all.sort_by_key(|(layers, ..)| layers.iter().map(place).min());
    all
}

fn left(automaton: &Automaton, path: &Path, order: &[LayerId]) -> Vec<Left> {
    let place = |layer: &LayerId| order.iter().position(|other| other == layer).unwrap_or(order.len());
    let name = |layer: &LayerId| automaton.layers[layer.index()].name.clone();
    let all = left_of(automaton, path, order).into_iter().map(|(layers, operations, guards)| {
        let mut layers: Vec<LayerId> = layers.into_iter().collect();
        layers.sort_by_key(place);
        Left { layers: layers.iter().map(name).collect(), operations, guards }
    });
    all.collect()
}

/// Whether the block branches.
fn asks(block: &Block) -> bool {
    matches!(block.terminator, Terminator::Branch { .. } | Terminator::Try { .. })
}

/// The blocks of the likeliest way through a body.
fn likeliest(body: &Body) -> Vec<&Block> {
    let refuses = |to: &Target| matches!(body.blocks[to.block.index()].terminator, Terminator::Refuse { .. });
    let mut way = Vec::new();
    let mut next = body.blocks.first();
    while let Some(block) = next.filter(|_| way.len() <= body.blocks.len()) {
        way.push(block);
        let to = match &block.terminator {
            Terminator::Branch { then, otherwise, likely, .. } => {
                let goes_then = refuses(otherwise) || !refuses(then) && likely.unwrap_or(1.0) >= 0.5;
                Some(if goes_then { then } else { otherwise })
            }
            Terminator::Try { then, otherwise, .. } => Some(if refuses(then) { otherwise } else { then }),
            other => other.targets().first().copied(),
        };
        next = to.map(|to| &body.blocks[to.block.index()]);
    }
    way
}

/// By place in the source: the likelihood of an exit there.
pub(crate) struct Exits(HashMap<SourceId, PathExit>);

impl Exits {
    /// What the search expects of a path.
    pub fn of(expected: &Expected) -> Self {
        let mut exits = HashMap::new();
        for (source, goes_on) in &expected.asked {
            let (Some(source), Some(goes_on)) = (source, goes_on) else { continue };
            let leaves = 1.0 - goes_on;
            let known = exits.entry(*source).or_insert(PathExit::Likely(leaves, leaves));
            if let PathExit::Likely(least, most) = known {
                *known = PathExit::Likely(least.min(leaves), most.max(leaves));
            }
        }
        Exits(exits)
    }

    /// A line of a path or memo as people are shown it, and the exit there. The probability in the text of a branch is left
    /// out: it only tells C which side is the usual one.
    pub fn told(&self, line: &CodeLine) -> (String, Option<PathExit>) {
        let likely = || line.source.and_then(|source| self.0.get(&source)).copied();
        let is_memo = line.text.trim_start().starts_with("recall ");
        let exit = match line.part {
            Part::End { exits: true, .. } if is_memo => Some(PathExit::Memo),
            Part::End { exits: true, on: 1.. } => Some(likely().unwrap_or(PathExit::Unexpected)),
            _ => None,
        };
        let is_branch = matches!(line.part, Part::End { .. }) && line.text.trim_start().starts_with("br ");
        let likely = line.text.find(" @").filter(|_| is_branch);
        let text = likely.map_or_else(
            || line.text.clone(),
            |from| {
                let rest = &line.text[from + 1..];
                line.text[..from].to_owned() + &rest[rest.find(' ').unwrap_or(rest.len())..]
            },
        );
        (text, exit)
    }
}

/// `file:line`.
pub(crate) fn place_of(automaton: &Automaton, source: SourceId) -> Option<String> {
    let source = automaton.sources.get(source.index())?;
    Some(format!("{}:{}", source.file, source.line))
}

pub(crate) fn nowhere(automaton: &Automaton, why: mokume_fuse::Why) -> Nowhere {
    Nowhere { why: why.what, place: why.source.and_then(|source| place_of(automaton, source)) }
}

fn shown(automaton: &Automaton, found: mokume_fuse::Found) -> Shown {
    let events = events(automaton, found.handler);
    let missed = found.missed.into_iter().map(|missed| (missed.likely, nowhere(automaton, missed.why))).collect();
    let path = match found.path {
        Ok((path, layers)) => {
            let exits = Exits::of(&found.expected);
            let line = |line: CodeLine| {
                let (text, exit) = exits.told(&line);
                let place = line.source.and_then(|source| place_of(automaton, source));
                Line { text, place, left: exit.map(PathExit::words) }
            };
            Ok(Way {
                layers: layers.iter().map(|layer| automaton.layers[layer.index()].name.clone()).collect(),
                guards: path.body.blocks.iter().filter(|block| asks(block)).count(),
                operations: path.body.ops().count(),
                left: left(automaton, &path, &layers),
                lines: path_code(automaton, &path).into_iter().map(line).collect(),
            })
        }
        Err(why) => Err(nowhere(automaton, why)),
    };
    Shown { events, path, missed }
}
