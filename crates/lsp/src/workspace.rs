//! All files of the editor's workspace folders, open or not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use ls_types::{Location, OneOf, WorkspaceSymbol};
use mokume_base::world::World;
use mokume_base::{FileId, Span};
use mokume_driver::project;

use crate::analysis::Analysis;
use crate::names::{self, Word};
use crate::neighbours::{self, Asked};
use crate::outline;
use crate::places::Places;
use crate::session::Session;
use crate::text::Lines;

/// The most files that are searched; a folder with more is not a project.
const MOST_FILES: usize = 4000;
/// The deepest level of folders that is searched: links may form cycles.
const DEEPEST: usize = 24;
/// The most files that are checked together: between two such groups the editor may cancel.
const MOST_TOGETHER: usize = 24;
/// The most symbols in an answer; nobody reads more.
const MOST_SYMBOLS: usize = 500;

/// The names of all `.mok` files in the editor's folders, and of all open documents; sorted.
pub fn files(session: &Session<'_>) -> Vec<String> {
    let mut files: Vec<String> = session.documents.names();
    files.retain(|name| session.shelf.name_of(name).is_none());
    session.folders.iter().for_each(|folder| below(session.world, folder, 0, &mut files));
    files.sort();
    files.dedup();
    files
}

fn below(world: &dyn World, folder: &str, depth: usize, files: &mut Vec<String>) {
    if depth > DEEPEST {
        return;
    }
    for name in world.list(folder).unwrap_or_default() {
        if files.len() >= MOST_FILES {
            return;
        }
        let path = format!("{}/{}", folder.trim_end_matches('/'), name.trim_end_matches('/'));
        if name.ends_with('/') {
            let is_made = matches!(name.as_str(), "target/" | "node_modules/");
            if !name.starts_with('.') && !is_made {
                below(world, &path, depth + 1, files);
            }
        } else if name.ends_with(".mok") {
            files.push(path);
        }
    }
}

/// Some files of one project, checked together.
pub struct Group {
    pub names: Vec<String>,
    pub analysis: Rc<Analysis>,
}

/// All places in the workspace that mention the declaration of this word, without the declaration.
pub fn uses(session: &mut Session<'_>, known: &Rc<Analysis>, word: &Word) -> Vec<Location> {
    let mut declared = names::meant(known, word.at);
    // Its own file may have no mention of it.
    if declared.is_empty() && names::is_declared(word) {
        declared.push(word.at);
    }
    let mut found = located(session, known, names::uses(known, &declared));
    // It binds a local, and is a use of the field that the local is called like.
    if declared.contains(&word.at) && names::is_mention(known, word.at) {
        found.extend(located(session, known, vec![word.at]));
    }
    let sources = &known.checked.sources;
    let places: Vec<(String, u32, u32)> =
        declared.iter().map(|span| (sources.file(span.file).name.clone(), span.start, span.end)).collect();
    if places.is_empty() {
        return found;
    }
    // No other file can name it.
    if declared.iter().all(|declared| names::is_local(known, *declared)) {
        return found;
    }
    for Group { analysis: other, .. } in analyses_with(session, &word.text).iter() {
        let here = places.iter().filter_map(|(name, start, end)| Some(Span::new(other.file(name)?, *start, *end)));
        let here: Vec<Span> = here.collect();
        found.extend(located(session, other, names::uses(other, &here)));
    }
    found
}

/// The declarations of what a word refers to, by the analyses that know them; with a text about it if it has none.
pub struct Declared {
    pub places: Vec<(Rc<Analysis>, Vec<Span>)>,
    pub explained: Option<String>,
}

impl Declared {
    /// The places as locations of the editor.
    pub fn locations(&self, session: &Session<'_>) -> Vec<Location> {
        self.places.iter().flat_map(|(known, places)| located(session, known, places.clone())).collect()
    }
}

/// Finds these declarations. For `below.x` and `above.x` they depend on stacks, which may be in any file; those that the
/// document knows are enough for a hover.
pub fn declarations(
    session: &mut Session<'_>,
    known: &Rc<Analysis>,
    (file, word): (FileId, &Word),
    is_hover: bool,
) -> Declared {
    let Some(mut asked) = neighbours::asked(known, file, word) else {
        let places = vec![(Rc::clone(known), names::declarations(known, word))];
        return Declared { places, explained: None };
    };
    let mut all = vec![Rc::clone(known)];
    let is_enough = is_hover && asked.led(known).is_used;
    if !is_enough {
        all.extend(others(session, &mut asked));
    }
    let (mut places, mut is_used, mut met) = (Vec::new(), false, BTreeSet::new());
    for known in all {
        let mut led = asked.led(&known);
        is_used |= led.is_used;
        led.places.retain(|place| met.insert((known.checked.sources.file(place.file).name.clone(), place.start)));
        places.push((known, led.places));
    }
    let explained = met.is_empty().then(|| asked.explained(is_used));
    Declared { places, explained }
}

/// The analyses of the workspace files that may have the layers that are asked about.
fn others(session: &mut Session<'_>, asked: &mut Asked) -> Vec<Rc<Analysis>> {
    // A stack may have a layer by a bundle of another file.
    loop {
        let before = asked.called.len();
        let groups = analyses_with_any(session, &asked.called);
        groups.iter().for_each(|group| asked.learn(&group.analysis));
        if asked.called.len() == before {
            return groups.iter().map(|group| Rc::clone(&group.analysis)).collect();
        }
    }
}

fn located(session: &Session<'_>, known: &Analysis, spans: Vec<Span>) -> Vec<Location> {
    let address = |name: &str| session.address(name);
    let places = Places::new(&known.checked.sources, session.columns, &address);
    spans.into_iter().filter_map(|span| places.location(span)).collect()
}

/// The workspace files that contain a word, checked with all that they use, project by project. Some are missing if the
/// editor cancels the request meanwhile.
pub fn analyses_with(session: &mut Session<'_>, word: &str) -> Rc<Vec<Group>> {
    analyses_with_any(session, &BTreeSet::from([word.to_string()]))
}

/// As [`analyses_with`], of files that contain one of these words.
fn analyses_with_any(session: &mut Session<'_>, words: &BTreeSet<String>) -> Rc<Vec<Group>> {
    if let Some((_, groups)) = session.wide.as_ref().filter(|(known, _)| known == words) {
        return Rc::clone(groups);
    }
    let overlay = session.overlay();
    let mut groups = Vec::new();
    for names in groups_with(session, words) {
        if session.is_cancelled() {
            return Rc::new(groups);
        }
        groups.push(Group { analysis: Rc::new(Analysis::of_files(&overlay, &names)), names });
    }
    let groups = Rc::new(groups);
    session.wide = Some((words.clone(), Rc::clone(&groups)));
    groups
}

/// The names of these files, in groups of one project.
fn groups_with(session: &Session<'_>, words: &BTreeSet<String>) -> Vec<Vec<String>> {
    let mut projects: BTreeMap<Option<PathBuf>, Vec<String>> = BTreeMap::new();
    let overlay = session.overlay();
    for name in files(session) {
        if overlay.read_text(&name).is_ok_and(|text| words.iter().any(|word| has_word(&text, word))) {
            let folder = name.rsplit_once('/').map_or("/", |(folder, _)| folder);
            let home = project::find(&overlay, folder).ok().flatten().map(|(home, _)| home);
            projects.entry(home).or_default().push(name);
        }
    }
    projects
        .into_values()
        .flat_map(|names| names.chunks(MOST_TOGETHER).map(<[_]>::to_vec).collect::<Vec<_>>())
        .collect()
}

/// Whether a text contains a word, not only as a part of another.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// The declarations whose names contain the letters of a query in order; names that begin with the query come first.
pub fn symbols(session: &Session<'_>, query: &str) -> Vec<WorkspaceSymbol> {
    let query = query.to_lowercase();
    let mut found = Vec::new();
    for name in files(session) {
        let Ok(text) = session.overlay().read_text(&name) else { continue };
        let Some(uri) = session.address(&name) else { continue };
        let root = mokume_syntax::parse(FileId(0), &text).syntax();
        let lines = Lines::new(&text, session.columns);
        let mut all = Vec::new();
        flatten(outline::declarations(&root), None, &mut all);
        for (declared, within) in all {
            let Some(rank) = rank(&declared.name.to_lowercase(), &query) else { continue };
            let location = Location { uri: uri.clone(), range: lines.range(declared.named) };
            let symbol = WorkspaceSymbol {
                name: declared.name,
                kind: declared.kind,
                tags: None,
                container_name: within,
                location: OneOf::Left(location),
                data: None,
            };
            found.push((rank, symbol));
        }
    }
    found.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    found.into_iter().take(MOST_SYMBOLS).map(|(_, symbol)| symbol).collect()
}

/// How well a name matches: 0 begins with the query, 1 contains it, 2 has its letters in order; `None`: no match.
fn rank(name: &str, query: &str) -> Option<u8> {
    if name.starts_with(query) {
        return Some(0);
    }
    if name.contains(query) {
        return Some(1);
    }
    let mut letters = name.chars();
    query.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(2)
}

fn flatten(
    declared: Vec<outline::Declared>,
    within: Option<&str>,
    found: &mut Vec<(outline::Declared, Option<String>)>,
) {
    for mut one in declared {
        let inner = std::mem::take(&mut one.within);
        let name = one.name.clone();
        found.push((one, within.map(str::to_string)));
        flatten(inner, Some(&name), found);
    }
}
