//! `mokume path --html`: a path as a page, with its code beside the source, and what each stage leaves of each layer.

use std::collections::BTreeSet;

use mokume_base::SourceMap;
use mokume_draw::{PathCode, PathCount, PathGroup, PathLayer, PathLine, PathPage};
use mokume_fuse::{Expected, Passes};
use mokume_reaction::profile::Profile;
use mokume_reaction::text::{function_code, path_code, CodeLine, Part};
use mokume_reaction::{Automaton, Body, Fallible, FunctionId, HandlerId, LayerId, Path, SourceId, Terminator};

use crate::failure::Failure;
use crate::path::{events, known, left_of, nowhere, place_of, Exits, Owners};

/// The page of an event's path as HTML; `sources` are the files of the stack, and the paths of the `proved` handlers
/// are proved.
///
/// Fails if there is no such event, or it has no path.
pub fn page(
    (composed, profile, passes): (&Automaton, &Profile, Passes),
    sources: &SourceMap,
    event: &str,
    proved: &[HandlerId],
) -> Result<String, Failure> {
    let all = mokume_fuse::paths(composed, profile, passes);
    let names: Vec<Vec<String>> = all.iter().map(|found| events(composed, found.handler)).collect();
    known(composed, names.iter(), event)?;
    let place = names.iter().position(|events| events.iter().any(|name| name == event)).unwrap_or_default();
    let found = &all[place];
    let (path, order) = match &found.path {
        Ok(path) => path,
        Err(why) => {
            let nowhere = nowhere(composed, why.clone());
            return Err(Failure::of_program(
                format!("`{event}` has no path: the likeliest way {}{}", nowhere.why, nowhere.at()),
                "`mokume path` without `--html` says which events have one",
            ));
        }
    };
    let missed = found.missed.iter().map(|missed| {
        let nowhere = nowhere(composed, missed.why.clone());
        (missed.likely, nowhere.why, nowhere.place)
    });
    let fused = mokume_fuse::fused(composed, profile, passes).automaton;
    let remembering = fused.paths.iter().find(|other| other.handler == path.handler);
    let writer = Writer {
        automaton: composed,
        sources,
        owners: Owners::of(composed),
        exits: Exits::of(&found.expected),
        layers: layers(composed, &found.expected, (path, remembering), order),
    };
    let mut codes = vec![PathCode {
        option: "--fuse 1".to_owned(),
        says: "Nothing is remembered: all is asked with each message.".to_owned(),
        path: writer.groups(&begun(composed, path, path_code(composed, path))),
        memos: Vec::new(),
    }];
    if let Some(path) = remembering {
        let memos = recalled(&path.body);
        codes.push(PathCode {
            option: "--fuse 2".to_owned(),
            says: match memos.len() {
                0 => "Nothing that it asks stays as it is from message to message: no memo.".to_owned(),
                1 => "One memo is recalled, and worked out anew when what it reads has changed.".to_owned(),
                some => format!("{some} memos are recalled, and worked out anew when what they read has changed."),
            },
            path: writer.groups(&begun(composed, path, path_code(&fused, path))),
            memos: memos
                .into_iter()
                .map(|memo| {
                    let function = &fused.functions[memo.index()];
                    (function.name.clone(), writer.groups(&function_code(&fused, function)))
                })
                .collect(),
        });
    }
    let page = PathPage {
        stack: composed.name.clone(),
        event: names[place].join(", "),
        verdict: if proved.contains(&path.handler) { "proved" } else { "tested" }.to_owned(),
        by: match profile.ways.is_empty() {
            true => "what the source says, and else a guess".to_owned(),
            false => "what the profile saw".to_owned(),
        },
        ways: found.expected.ways.clone(),
        layers: writer.layers.iter().map(|(_, layer)| layer.clone()).collect(),
        codes,
        missed: missed.collect(),
    };
    Ok(mokume_draw::path_page(&page))
}

/// The lines of a path, which begins at its handler.
fn begun(automaton: &Automaton, path: &Path, mut lines: Vec<CodeLine>) -> Vec<CodeLine> {
    if let Some(first) = lines.first_mut() {
        first.source = automaton.handler(path.handler).source;
    }
    lines
}

/// The memos that a body recalls, each once, in order.
fn recalled(body: &Body) -> Vec<FunctionId> {
    let mut memos = Vec::new();
    for block in &body.blocks {
        if let Terminator::Try { op: Fallible::Recall { memo, .. }, .. } = &block.terminator {
            memos.extend(Some(*memo).filter(|memo| !memos.contains(memo)));
        }
    }
    memos
}

type Layers = Vec<(BTreeSet<LayerId>, PathLayer)>;

/// What each stage leaves of each layer; layers that share source lines count as one.
fn layers(
    automaton: &Automaton,
    expected: &Expected,
    (path, remembering): (&Path, Option<&Path>),
    order: &[LayerId],
) -> Layers {
    let first = left_of(automaton, path, order);
    let second = remembering.map_or_else(|| first.clone(), |path| left_of(automaton, path, order));
    let mut layers: Layers = Vec::new();
    for (stage, left) in [(1, first), (2, second)] {
        for (of, operations, branches) in left {
            // Another stage may have only some of these layers, or these with more.
            let known = layers.iter().position(|(known, _)| !known.is_disjoint(&of));
            let place = known.unwrap_or_else(|| {
                layers.push((BTreeSet::new(), PathLayer::default()));
                layers.len() - 1
            });
            let (known, layer) = &mut layers[place];
            known.extend(of);
            layer.stages[stage].operations += operations;
            layer.stages[stage].branches += branches;
        }
    }
    for (layer, followed) in &expected.followed {
        let place = layers.iter().position(|(known, _)| known.contains(layer)).unwrap_or_else(|| {
            layers.push((BTreeSet::from([*layer]), PathLayer::default()));
            layers.len() - 1
        });
        let count = &mut layers[place].1.stages[0];
        *count = PathCount {
            operations: count.operations + followed.operations,
            branches: count.branches + followed.branches,
        };
    }
    let place = |layer: &LayerId| order.iter().position(|other| other == layer).unwrap_or(order.len());
    for (of, layer) in &mut layers {
        let mut of: Vec<LayerId> = of.iter().copied().collect();
        of.sort_by_key(place);
        let names: Vec<&str> = of.iter().map(|layer| automaton.layers[layer.index()].name.as_str()).collect();
        layer.name = names.join(", ");
    }
    layers.sort_by_key(|(of, _)| of.iter().map(place).min());
    layers
}

/// Groups lines of code.
struct Writer<'a> {
    automaton: &'a Automaton,
    sources: &'a SourceMap,
    owners: Owners,
    exits: Exits,
    layers: Layers,
}

impl Writer<'_> {
    /// Consecutive lines from one source line are a group; those without a place belong to the group before.
    fn groups(&self, lines: &[CodeLine]) -> Vec<PathGroup> {
        let mut groups: Vec<PathGroup> = Vec::new();
        let mut heads: Vec<PathLine> = Vec::new();
        let mut layer = None;
        let mut last = None;
        for line in lines {
            let shown = self.line(line);
            if line.part == Part::Block {
                heads.push(shown);
                continue;
            }
            let place = line.source.and_then(|source| place_of(self.automaton, source));
            if groups.is_empty() || place.is_some() && place != last {
                layer = line.source.and_then(|source| self.layer(source)).or(layer);
                let text = line.source.and_then(|source| self.text(source)).unwrap_or_default();
                let place_and_text = place.clone().map(|place| (place, text));
                groups.push(PathGroup { layer, place: place_and_text, lines: Vec::new() });
                last = place;
            }
            if let Some(group) = groups.last_mut() {
                group.lines.append(&mut heads);
                group.lines.push(shown);
            }
        }
        groups
    }

    fn line(&self, line: &CodeLine) -> PathLine {
        let (text, exit) = self.exits.told(line);
        PathLine { text, is_block: line.part == Part::Block, exit }
    }

    fn layer(&self, source: SourceId) -> Option<usize> {
        let of = self.owners.of_source(source)?;
        self.layers.iter().position(|(known, _)| !known.is_disjoint(of))
    }

    /// The text of a source line.
    fn text(&self, source: SourceId) -> Option<String> {
        let source = self.automaton.sources.get(source.index())?;
        let (_, file) = self.sources.files().find(|(_, file)| file.name == source.file)?;
        let from = file.text.get(file.line_start(source.line.saturating_sub(1) as usize)..)?;
        Some(from.lines().next().unwrap_or_default().to_owned())
    }
}
