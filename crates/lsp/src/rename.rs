//! Renames a declaration and all its mentions in the workspace.
//!
//! Keeps: the program keeps its meaning. After the change everything is checked again. If a word then refers to
//! something else, or a new diagnostic appears, nothing is renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mokume_base::{FileId, Span};
use mokume_driver::check;
use mokume_syntax::SyntaxKind;

use crate::analysis::Analysis;
use crate::names::Word;
use crate::overlay::Overlay;
use crate::session::Session;
use crate::{names, workspace};

/// A place in a file: the file's name, and two octet offsets.
pub type Place = (String, u32, u32);

/// All places that must change together with this word: the declarations, and what refers to them.
pub struct Places {
    pub all: BTreeSet<Place>,
    /// Whether only their own file can name it.
    is_local: bool,
}

/// Finds these places.
pub fn places(session: &mut Session<'_>, known: &Rc<Analysis>, word: &Word) -> Result<Places, String> {
    if names::exact_declarations(known, word.at).is_empty() && !names::is_declared(word) {
        return Err(format!(
            "what `{}` is called is not this program's to say, or layers match it by its text",
            word.text
        ));
    }
    let mut found = BTreeSet::from([place(known, word.at)]);
    join(&mut found, &[known]);
    let is_local = declared_among(known, &found).all(|declared| names::is_local(known, declared));
    if !is_local {
        let groups = workspace::analyses_with(session, &word.text);
        let all: Vec<&Analysis> = groups.iter().map(|group| &group.analysis).chain([known.as_ref()]).collect();
        join(&mut found, &all);
    }
    if let Some((name, ..)) =
        found.iter().find(|(name, ..)| !name.starts_with('/') && session.documents.get(name).is_none())
    {
        return Err(format!("`{}` is declared or used in Mokume's own library, `{name}`", word.text));
    }
    for (name, start, end) in &found {
        let text = session.text(name).unwrap_or_default();
        if text.get(*start as usize..*end as usize) != Some(word.text.as_str()) {
            return Err(format!("`{}` is called otherwise in `{name}`: by its name in small letters", word.text));
        }
    }
    Ok(Places { all: found, is_local })
}

/// Adds the places that mention these, or that these mention.
fn join(found: &mut BTreeSet<Place>, all: &[&Analysis]) {
    loop {
        let before = found.len();
        for analysis in all {
            let within = |span: Span| found.contains(&place(analysis, span));
            let mentions = analysis.checked.program.mentions.iter();
            let joined: Vec<Place> = mentions
                .filter(|mention| within(mention.at) || within(mention.of))
                .flat_map(|mention| [place(analysis, mention.at), place(analysis, mention.of)])
                .collect();
            found.extend(joined);
        }
        if found.len() == before {
            break;
        }
    }
}

/// Those of these places that mention nothing: declarations.
fn declared_among<'a>(known: &'a Analysis, found: &'a BTreeSet<Place>) -> impl Iterator<Item = Span> + 'a {
    let spans = found.iter().filter_map(|(name, start, end)| Some(Span::new(known.file(name)?, *start, *end)));
    let mentions = &known.checked.program.mentions;
    spans.filter(|span| mentions.binary_search_by_key(span, |mention| mention.at).is_err())
}

fn place(analysis: &Analysis, span: Span) -> Place {
    (analysis.checked.sources.file(span.file).name.clone(), span.start, span.end)
}

/// Whether a text is a valid name: one identifier that is not a reserved word.
pub fn is_name(name: &str) -> bool {
    let root = mokume_syntax::parse(FileId(0), name).syntax();
    let tokens: Vec<_> = root.descendants_with_tokens().filter_map(|element| element.into_token()).collect();
    matches!(tokens.as_slice(), [only] if only.kind() == SyntaxKind::IDENT)
        && !mokume_semantics::check::names::is_word(name)
}

/// The new texts of the changed files, if the program keeps its meaning.
pub fn renamed(
    session: &mut Session<'_>,
    known: &Rc<Analysis>,
    (word, new): (&str, &str),
    Places { all: places, is_local }: &Places,
) -> Result<BTreeMap<String, String>, String> {
    let groups = if *is_local { Rc::default() } else { workspace::analyses_with(session, word) };
    let own: Vec<String> = places.iter().map(|(name, ..)| name.clone()).take(1).collect();
    let mut before: Vec<(&[String], &Analysis)> =
        groups.iter().map(|group| (&group.names[..], &group.analysis)).collect();
    if *is_local {
        before.push((&own, known));
    }
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for (name, start, end) in places.iter().rev() {
        let old = || session.text(name).unwrap_or_default();
        let text = texts.entry(name.clone()).or_insert_with(old);
        text.replace_range(*start as usize..*end as usize, new);
    }
    let mut changed = session.documents.texts().clone();
    changed.extend(texts.iter().map(|(name, text)| (name.clone(), text.clone())));
    let new_world = Overlay { world: session.world, texts: &changed };
    let moved = Moved { places, by: new.len() as i64 - word.len() as i64 };
    for (files, was) in before {
        // Those that see none of the changed files stay the same.
        if session.is_cancelled() || !texts.keys().any(|name| was.file(name).is_some()) {
            continue;
        }
        let is = Analysis::of_files(&new_world, files);
        if let Some(told) = news(was, &is) {
            return Err(format!("with the name `{new}` this would be wrong: {told}"));
        }
        if meanings(was, &moved) != meanings(&is, &Moved { places: &BTreeSet::new(), by: 0 }) {
            return Err(format!(
                "`{new}` is the name of something else there: some name would mean another thing than before"
            ));
        }
    }
    Ok(texts)
}

/// A diagnostic of the program or of its whole stacks that was not there before; compared by the number of diagnostics
/// of each code.
fn news(was: &Analysis, is: &Analysis) -> Option<String> {
    let (was, is) = (check::without_c(&was.checked), check::without_c(&is.checked));
    let mut codes: BTreeMap<&str, i64> = BTreeMap::new();
    was.iter().for_each(|found| *codes.entry(found.code.0).or_default() += 1);
    let mut new = is.iter().filter(|found| {
        let left = codes.entry(found.code.0).or_default();
        *left -= 1;
        *left < 0
    });
    new.next().map(|found| found.message.clone())
}

/// How places move when names become longer or shorter.
struct Moved<'p> {
    places: &'p BTreeSet<Place>,
    by: i64,
}

impl Moved<'_> {
    fn of(&self, (name, start, end): Place) -> Place {
        let before = |at: u32| self.places.range((name.clone(), 0, 0)..(name.clone(), at, 0)).count() as i64;
        let (from, to) = (before(start), before(end));
        (name.clone(), (i64::from(start) + from * self.by) as u32, (i64::from(end) + to * self.by) as u32)
    }
}

/// Which place refers to which.
fn meanings(analysis: &Analysis, moved: &Moved<'_>) -> BTreeSet<(Place, Place)> {
    let mentions = analysis.checked.program.mentions.iter();
    mentions.map(|mention| (moved.of(place(analysis, mention.at)), moved.of(place(analysis, mention.of)))).collect()
}
