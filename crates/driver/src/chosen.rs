//! Which stack or network of its files a command means: by name, by the project's default, or the only one.

use std::collections::BTreeSet;

use mokume_base::{FileId, SourceMap};
use mokume_semantics::program::Name;

use crate::failure::Failure;

/// Things of one kind, the files of the program and those that the command was given, and the words for such things.
pub(crate) struct Things<'a> {
    pub names: Vec<&'a Name>,
    pub sources: &'a SourceMap,
    pub roots: &'a [FileId],
    /// `stack`
    pub one: &'static str,
    /// What to do where the files have none.
    pub none: &'static str,
    /// What to do where they have several.
    pub several: &'static str,
    /// Whether those of files that the command's files use are named where there is none of the name.
    pub names_all: bool,
}

/// The index of the thing that is wanted by name, else of the project's default, or of the only one of the command's files. One of
/// another file that they use is only found by name. The default is not meant if the files have another one only.
pub(crate) fn chosen(things: &Things<'_>, wanted: Option<&str>, default: Option<&str>) -> Result<usize, Failure> {
    let of = |index: &usize| things.names[*index];
    let all: Vec<usize> = (0..things.names.len()).collect();
    let own: Vec<usize> = all.iter().copied().filter(|index| things.roots.contains(&of(index).span.file)).collect();
    let list = |found: &[usize]| listed(things.sources, found.iter().map(of));
    let of_one_name = |name: &str, found: &[usize]| {
        Failure::of_use(
            format!("several {}s are called `{name}`: {}", things.one, list(found)),
            "name the file that you mean, or give them different names",
        )
    };
    let is_there = |name: &&str| things.names.iter().any(|known| known.text == *name);
    let default = default.filter(|name| own.len() != 1 || is_there(name));
    if let Some(name) = wanted.or(default) {
        let is_it = |index: &usize| of(index).text == name;
        let found: Vec<usize> = own.iter().copied().filter(is_it).collect();
        return match (found.as_slice(), all.iter().copied().find(is_it)) {
            ([one], _) => Ok(*one),
            ([], Some(other)) => Ok(other),
            ([], None) => {
                let there = list(if things.names_all { &all } else { &own });
                let help = match there.is_empty() {
                    true => format!("the files have no {} at all; {}", things.one, things.none),
                    false => format!("there are: {there}"),
                };
                let says = match wanted {
                    Some(_) => String::new(),
                    None => ", which Mokume.toml names as the default".to_string(),
                };
                Err(Failure::of_use(format!("there is no {} `{name}`{says}", things.one), help))
            }
            (several, _) => Err(of_one_name(name, several)),
        };
    }
    match own.as_slice() {
        [one] => Ok(*one),
        [first, others @ ..] if others.iter().all(|other| of(other).text == of(first).text) => {
            Err(of_one_name(&of(first).text, &own))
        }
        [] => Err(Failure::of_use(format!("the file has no {}", things.one), things.none)),
        several => {
            let have = if things.roots.len() < 2 { "the file has" } else { "the files have" };
            Err(Failure::of_use(format!("{have} several {}s: {}", things.one, list(several)), things.several))
        }
    }
}

/// Names of items; with their files, if two have one name.
fn listed<'n>(sources: &SourceMap, names: impl Iterator<Item = &'n Name>) -> String {
    let names: Vec<&Name> = names.collect();
    let texts: BTreeSet<&str> = names.iter().map(|name| name.text.as_str()).collect();
    let shown = |name: &&Name| match texts.len() == names.len() {
        true => name.text.clone(),
        false => format!("{} ({})", name.text, sources.file(name.span.file).name),
    };
    names.iter().map(shown).collect::<Vec<_>>().join(", ")
}
