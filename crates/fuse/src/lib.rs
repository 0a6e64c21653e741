//! From a composed automaton to paths: a whole reaction, through all layers, as one straight piece of the form.
//!
//! For each event of a port the likeliest way is followed from its handler to its outputs ([`paths`]). What is asked on the
//! way becomes a guard, where the path refuses; what is done is done behind the last guard. Values are folded, headers are
//! octets at once, what was written is read back. It knows no protocol.
//!
//! Invariant: where a path does not refuse, it does what the handlers do, output for output.

mod decisions;
mod follow;
mod graph;
mod memos;
mod message;
mod pure;
mod region;
mod wires;
mod write;

use std::collections::HashSet;
use std::rc::Rc;

use mokume_reaction::{Automaton, Emission, HandlerId, LayerId, Path, Trigger};

use decisions::{search, Taken};
pub use memos::{remembered, WORTH};
pub use region::Why;
use region::{Do, Region};
use write::Ways;

/// What came of an event.
#[derive(Clone, Debug)]
pub struct Found {
    /// The handler of the event.
    pub handler: HandlerId,
    /// The path, with the layers that it goes through, in order; or why there is none.
    pub path: Result<(Path, Vec<LayerId>), Why>,
}

/// Ways that are tried for an event.
const MOST_WAYS: usize = 400;
/// Ways of one path, which part where they differ.
const LEAVES: usize = 6;
/// A way that is taken less often than this, where the likeliest is taken once, is left to the handlers.
const SELDOM: f32 = 0.01;
/// Handlers that a way comes through before it is worth to hand over to another.
const WORTH_IT: u32 = 5;

/// For each event that enters by a port, and for those that are emitted behind where a path ends, the likeliest way through the reaction. The
/// automaton must have been verified; one that was not composed has queues everywhere.
pub fn paths(automaton: &Automaton) -> Vec<Found> {
    let flat = mokume_analyse::flat(automaton);
    let mut finder = Finder { flat: &flat, followed: HashSet::new(), behind: Vec::new(), is_between: between(&flat) };
    let mut found: Vec<Found> = entries(&flat).into_iter().map(|handler| finder.find(handler, false)).collect();
    let mut at = 0;
    while let Some(layer) = finder.behind.get(at).copied() {
        at += 1;
        for handler in emitted_by(&flat, layer) {
            let is_known = finder.followed.contains(&handler) || found.iter().any(|found| found.handler == handler);
            if is_known || flat.is_at_port(handler) {
                continue;
            }
            let inside = finder.find(handler, true);
            if inside.path.as_ref().is_ok_and(|(_, layers)| layers.len() > WORTH_IT as usize) {
                found.push(inside);
            }
        }
    }
    found
}

/// Paths while they are found.
struct Finder<'a> {
    flat: &'a Automaton,
    /// Handlers on paths.
    followed: HashSet<HandlerId>,
    /// Layers at which paths end, each once.
    behind: Vec<LayerId>,
    /// By layer: whether another is above it.
    is_between: Vec<bool>,
}

type Looked<'a> = Result<(Vec<Taken<Region<'a>>>, Option<Failed>), Option<Failed>>;

/// A way that failed: why, and in which layer.
struct Failed {
    why: Why,
    layer: Option<LayerId>,
}

impl<'a> Finder<'a> {
    fn find(&mut self, handler: HandlerId, is_inside: bool) -> Found {
        let between = self.look(handler, is_inside, |layer| self.is_between[layer.index()]);
        let found = match between {
            Ok((taken, failed)) => Ok((taken, failed)),
            // Nobody is above: then it may end at the top.
            Err(_) => self.look(handler, is_inside, |_| true),
        };
        let path = found.and_then(|(mut taken, failed)| {
            // Who measures nothing expects that messages arrive: a way that drops them is not the usual one.
            let drops = taken[0].found.deeds.iter().any(|deed| matches!(deed.what, Do::Drop { .. }));
            if drops && failed.is_some() {
                return Err(failed);
            }
            let first = taken.remove(0);
            let layers = first.found.layers.clone();
            let least = first.likely * SELDOM;
            self.note(&first.found);
            let mut ways = Ways { region: first.found, ways: first.ways, others: Vec::new() };
            for other in taken.into_iter().filter(|other| other.likely >= least) {
                self.note(&other.found);
                ways.add(other.found, other.ways);
            }
            Ok((Path { handler, body: write::body(ways, handler) }, layers))
        });
        let nowhere = || Why { what: "leads nowhere".to_owned(), source: None };
        let path = path.map_err(|failed| {
            self.end_at(failed.as_ref().and_then(|failed| failed.layer));
            failed.map_or_else(nowhere, |failed| failed.why)
        });
        Found { handler, path }
    }

    /// Ways from an event on, the likeliest first. They may end at layers of which `may_end` says so.
    fn look(&self, handler: HandlerId, is_inside: bool, may_end: impl Fn(LayerId) -> bool) -> Looked<'a> {
        let flat = self.flat;
        let (mut ends, mut succeeded) = (Rc::new(HashSet::new()), HashSet::new());
        search((LEAVES, MOST_WAYS), |decisions| loop {
            let mut region = Region::new(flat, decisions.clone(), is_inside, Rc::clone(&ends));
            match region.reaction(handler) {
                Ok(()) => {
                    succeeded.extend(region.calls.iter().cloned());
                    return (std::mem::take(&mut region.decisions), Ok(region));
                }
                Err(why) => match region.where_to_end(&succeeded) {
                    Some((end, layer)) if end.0 >= WORTH_IT && may_end(layer) => {
                        Rc::make_mut(&mut ends).insert(end);
                    }
                    _ => {
                        let layer = region.active.last().map(|active| active.layer);
                        return (std::mem::take(&mut region.decisions), Err(Failed { why, layer }));
                    }
                },
            }
        })
    }

    /// What a way comes through, and where it ends.
    fn note(&mut self, way: &Region) {
        self.followed.extend(&way.handlers);
        for deed in &way.deeds {
            if let Do::HandOver { handler, .. } = deed.what {
                self.end_at(Some(way.layer_of(handler)));
            }
        }
    }

    fn end_at(&mut self, layer: Option<LayerId>) {
        self.behind.extend(layer.filter(|layer| !self.behind.contains(layer)));
    }
}

/// By layer: whether another is above it.
fn between(automaton: &Automaton) -> Vec<bool> {
    let mut between = vec![false; automaton.layers.len()];
    for link in &automaton.links {
        between[automaton.class(link.below.0).layer.index()] = true;
    }
    between
}

/// The handlers of events that a layer emits.
fn emitted_by(automaton: &Automaton, layer: LayerId) -> Vec<HandlerId> {
    let mut handlers = Vec::new();
    for body in automaton.code().filter(|code| code.0 == layer).map(|code| code.1) {
        for op in body.ops() {
            let Some(Emission::Event { target, event, .. }) = op.kind.emission() else { continue };
            let class = automaton.class_for(body, target);
            let handler = class.and_then(|class| automaton.handler_of(class, &Trigger::Event(event.to_owned())));
            handlers.extend(handler.filter(|handler| !handlers.contains(handler)));
        }
    }
    handlers
}

/// The handlers of events that enter by a port, each once.
fn entries(automaton: &Automaton) -> Vec<HandlerId> {
    let mut entries = Vec::new();
    for input in automaton.ports.iter().flat_map(|port| &port.inputs) {
        let handler = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
        entries.extend(handler.filter(|handler| !entries.contains(handler)));
    }
    entries
}

/// The automaton with the paths that were found.
pub fn with_paths(automaton: &Automaton) -> Automaton {
    let paths = paths(automaton).into_iter().filter_map(|found| Some(found.path.ok()?.0)).collect();
    Automaton { paths, ..automaton.clone() }
}
