//! Renames a declaration and all its mentions in the workspace.
//!
//! Keeps: the program keeps its meaning. After the change everything is checked again. If a word then refers to
//! something else, or a new diagnostic appears, nothing is renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mokume_base::{FileId, Span};
use mokume_driver::check;
use mokume_semantics::program::Mention;
use mokume_syntax::SyntaxKind;

use crate::analysis::Analysis;
use crate::names::Word;
use crate::overlay::Overlay;
use crate::session::Session;
use crate::shorthand::{self, Part};
use crate::{names, workspace};

/// The length of what separates the two names where one is written out.
const SEPARATOR: i64 = ": ".len() as i64;

/// A place in a file: the file's name, and two octet offsets.
pub type Place = (String, u32, u32);

/// All places that must change together with this word: the declarations, and what refers to them.
pub struct Places {
    all: BTreeMap<Place, Part>,
    /// The word, as it is.
    old: String,
    /// Whether only their own file can name it.
    is_local: bool,
}

impl Places {
    /// The places, each with its new text. Of words that are two names one stays, and both are written: `Data { new: old }`.
    pub fn edits<'a>(&'a self, new: &'a str) -> impl DoubleEndedIterator<Item = (&'a Place, String)> {
        let old = &self.old;
        self.all.iter().map(move |(place, part)| match part {
            Part::Whole => (place, new.to_string()),
            Part::Field => (place, format!("{new}: {old}")),
            Part::Value => (place, format!("{old}: {new}")),
        })
    }
}

/// Finds these places.
pub fn places(session: &mut Session<'_>, known: &Rc<Analysis>, word: &Word) -> Result<Places, String> {
    if names::exact_declarations(known, word.at).is_empty() && !names::is_declared(word) {
        return Err(format!(
            "what `{}` is called is not this program's to say, or layers match it by its text",
            word.text
        ));
    }
    let mut found = BTreeSet::from([(place(known, word.at), shorthand::part(known, word.at))]);
    join(&mut found, &[known]);
    let is_local = declared_among(known, &found).all(|declared| names::is_local(known, declared));
    if !is_local {
        let groups = workspace::analyses_with(session, &word.text);
        let all: Vec<&Analysis> = groups.iter().map(|group| group.analysis.as_ref()).chain([known.as_ref()]).collect();
        join(&mut found, &all);
    }
    let mut all: BTreeMap<Place, Part> = BTreeMap::new();
    for (place, part) in found {
        // Where both names change, nothing is written out.
        all.entry(place).and_modify(|known| *known = Part::Whole).or_insert(part);
    }
    if let Some((name, ..)) =
        all.keys().find(|(name, ..)| !name.starts_with('/') && session.documents.get(name).is_none())
    {
        return Err(format!("`{}` is declared or used in Mokume's own library, `{name}`", word.text));
    }
    for (name, start, end) in all.keys() {
        let text = session.text(name).unwrap_or_default();
        if text.get(*start as usize..*end as usize) != Some(word.text.as_str()) {
            return Err(format!("`{}` is called otherwise in `{name}`: by its name in small letters", word.text));
        }
    }
    Ok(Places { all, old: word.text.clone(), is_local })
}

/// A name at a place: a word may be two.
type Named = (Place, Part);

/// What a mention connects.
fn named(analysis: &Analysis, mention: &Mention) -> [Named; 2] {
    let (at, of) = shorthand::parts(analysis, mention);
    [(place(analysis, mention.at), at), (place(analysis, mention.of), of)]
}

/// Adds the names that mention these, or that these mention.
fn join(found: &mut BTreeSet<Named>, all: &[&Analysis]) {
    loop {
        let before = found.len();
        for analysis in all {
            let is_near = |span: Span| {
                let place = place(analysis, span);
                found.range((place.clone(), Part::Whole)..=(place, Part::Value)).next().is_some()
            };
            let mentions = analysis.checked.program.mentions.iter();
            let near = mentions.filter(|mention| is_near(mention.at) || is_near(mention.of));
            let joined: Vec<Named> = near
                .map(|mention| named(analysis, mention))
                .filter(|both| both.iter().any(|one| found.contains(one)))
                .flatten()
                .collect();
            found.extend(joined);
        }
        if found.len() == before {
            break;
        }
    }
}

/// Those of these names that mention nothing: declarations.
fn declared_among<'a>(known: &'a Analysis, found: &'a BTreeSet<Named>) -> impl Iterator<Item = Span> + 'a {
    let mentions = &known.checked.program.mentions;
    let is_declared = move |span: Span, part: Part| {
        let mut here = mentions.iter().filter(|mention| mention.at == span && mention.is_use());
        !here.any(|mention| shorthand::parts(known, mention).0 == part)
    };
    found.iter().filter_map(move |((name, start, end), part)| {
        let span = Span::new(known.file(name)?, *start, *end);
        is_declared(span, *part).then_some(span)
    })
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

/// Why a word is no name of an alternative of a header, if the old one is: a small letter begins a field's.
fn no_alternative(known: &Analysis, word: &str, new: &str, places: &Places) -> Option<String> {
    let headers = known.checked.program.layers.iter().flat_map(|layer| &layer.header);
    let mut alternatives = headers.filter(|header| !header.is_single()).flat_map(|header| &header.variants);
    let is_one = alternatives.any(|variant| places.all.contains_key(&place(known, variant.name.span)));
    let is_field = new.starts_with(|first: char| first.is_ascii_lowercase());
    (is_one && is_field).then(|| {
        format!("`{word}` is an alternative of a header, which begins with a capital letter: `{new}` would be a field")
    })
}

/// Whether a word is the reason of a statement.
fn is_reason(known: &Analysis, (name, start, _): &Place) -> bool {
    use mokume_syntax::SyntaxKind as S;
    let Some(word) = known.file(name).and_then(|file| names::word(known, file, *start)) else { return false };
    let around = word.token.parent_ancestors().map(|node| node.kind());
    let around = around.into_iter().find(|kind| !matches!(kind, S::NAME | S::PATH));
    matches!(around, Some(S::DROP_STMT | S::CONSUME_STMT | S::FAIL_STMT))
}

/// Whether a word is a counter of a layer, where it is declared or counted by.
fn is_counter_word(known: &Analysis, (name, start, _): &Place) -> bool {
    use mokume_syntax::SyntaxKind as S;
    let Some(word) = known.file(name).and_then(|file| names::word(known, file, *start)) else { return false };
    let around = word.token.parent_ancestors().map(|node| node.kind());
    let around = around.into_iter().find(|kind| !matches!(kind, S::NAME | S::PATH));
    matches!(around, Some(S::COUNTER | S::COUNT_STMT))
}

/// The new texts of the changed files, if the program keeps its meaning.
pub fn renamed(
    session: &mut Session<'_>,
    known: &Rc<Analysis>,
    (word, new): (&str, &str),
    places: &Places,
) -> Result<BTreeMap<String, String>, String> {
    if let Some(why) = no_alternative(known, word, new, places) {
        return Err(why);
    }
    let is_reason = places.all.keys().any(|place| is_reason(known, place));
    let is_local = places.is_local;
    let groups = if is_local { Rc::default() } else { workspace::analyses_with(session, word) };
    let own: Vec<String> = places.all.keys().map(|(name, ..)| name.clone()).take(1).collect();
    let mut before: Vec<(&[String], &Analysis)> =
        groups.iter().map(|group| (&group.names[..], group.analysis.as_ref())).collect();
    if is_local {
        before.push((&own, known));
    }
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for ((name, start, end), edit) in places.edits(new).rev() {
        let old = || session.text(name).unwrap_or_default();
        let text = texts.entry(name.clone()).or_insert_with(old);
        text.replace_range(*start as usize..*end as usize, &edit);
    }
    let mut changed = session.documents.texts().clone();
    changed.extend(texts.iter().map(|(name, text)| (name.clone(), text.clone())));
    let new_world = Overlay { world: session.world, texts: &changed };
    let moved = Moved { places: &places.all, old: word.len() as u32, new: new.len() as u32 };
    for (files, was) in before {
        // Those that see none of the changed files stay the same.
        if session.is_cancelled() || !texts.keys().any(|name| was.file(name).is_some()) {
            continue;
        }
        let is = Analysis::of_files(&new_world, files);
        let (mut stacks_were, mut stacks_are) = (check::Kept::default(), check::Kept::default());
        if let Some(told) = news((was, &mut stacks_were), (&is, &mut stacks_are)) {
            // Tests and networks name counters by their text; who has renamed them there has no new mistake here.
            let is_untold = told.ends_with(&format!("counts `{word}`"));
            let way_out = match is_untold && places.all.keys().any(|place| is_counter_word(known, place)) {
                true => format!(
                    "; tests and networks name a counter by its text: write `{new}` there first, then rename it here"
                ),
                false => String::new(),
            };
            return Err(format!("with the name `{new}` this would be wrong: {told}{way_out}"));
        }
        let (count_was, count_is) = (stacks_were.reasons(), stacks_are.reasons());
        let are_fewer = count_is.iter().any(|(stack, now)| count_was.get(stack).is_some_and(|before| now < before));
        if are_fewer || is_reason && count_was != count_is {
            let name = if are_fewer { new } else { word };
            return Err(format!("a layer already counts by `{name}` what is something else: a count would change"));
        }
        if meanings(was, &moved) != meanings(&is, &Moved { places: &BTreeMap::new(), old: 0, new: 0 }) {
            return Err(format!(
                "`{new}` is the name of something else there: some name would mean another thing than before"
            ));
        }
    }
    Ok(texts)
}

/// A diagnostic of the program or of its whole stacks that was not there before; compared by the number of diagnostics
/// of each code.
fn news(
    (was, stacks_were): (&Analysis, &mut check::Kept),
    (is, stacks_are): (&Analysis, &mut check::Kept),
) -> Option<String> {
    let was = check::without_c_again(&was.checked, stacks_were);
    let is = check::without_c_again(&is.checked, stacks_are);
    let mut codes: BTreeMap<&str, i64> = BTreeMap::new();
    was.iter().for_each(|found| *codes.entry(found.code.0).or_default() += 1);
    let mut new = is.iter().filter(|found| {
        let left = codes.entry(found.code.0).or_default();
        *left -= 1;
        *left < 0
    });
    new.next().map(|found| found.message.clone())
}

/// How names move when some become longer or shorter.
struct Moved<'p> {
    places: &'p BTreeMap<Place, Part>,
    /// The lengths of the old and the new word.
    old: u32,
    new: u32,
}

impl Moved<'_> {
    /// How much text a change adds.
    fn added(&self, part: Part) -> i64 {
        match part {
            Part::Whole => i64::from(self.new) - i64::from(self.old),
            Part::Field | Part::Value => i64::from(self.new) + SEPARATOR,
        }
    }

    fn of(&self, ((name, start, end), part): Named) -> Place {
        let added = |until: u32| -> i64 {
            let before = self.places.range((name.clone(), 0, 0)..(name.clone(), until, 0));
            before.map(|(_, part)| self.added(*part)).sum()
        };
        let from = i64::from(start) + added(start);
        let (from, to) = match (self.places.get(&(name.clone(), start, end)), part) {
            (None, _) => (from, i64::from(end) + added(end)),
            (Some(Part::Whole), _) => (from, from + i64::from(self.new)),
            (Some(changed), asked) => {
                let (field, value) = match changed {
                    Part::Field => (self.new, self.old),
                    _ => (self.old, self.new),
                };
                let behind = from + i64::from(field) + SEPARATOR;
                match asked {
                    Part::Value => (behind, behind + i64::from(value)),
                    _ => (from, from + i64::from(field)),
                }
            }
        };
        (name, from as u32, to as u32)
    }
}

/// Which place refers to which.
fn meanings(analysis: &Analysis, moved: &Moved<'_>) -> BTreeSet<(Place, Place)> {
    let mentions = analysis.checked.program.mentions.iter();
    let moved = |mention| named(analysis, mention).map(|one| moved.of(one));
    mentions.map(moved).map(|[at, of]| (at, of)).collect()
}
