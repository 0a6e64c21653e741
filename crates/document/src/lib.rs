//! The documentation of a program as pages: a page for each layer, bundle, wire and stack, and for everything else that
//! has a name.
//!
//! All of it comes from the sources and from what the compiler knows about them; nothing runs. The pages need no
//! server: links are relative, and the search index is a script beside them.
//!
//! Keeps: every link has an existing target; text from sources appears as text and never as markup of a page.

mod code;
mod collect;
mod facts;
pub mod item;
mod json;
mod names;
mod page;
pub mod pictures;
mod prose;
mod site;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::world::World;
use mokume_base::FileId;
use mokume_driver::compile::{self, Checked};
use mokume_driver::{library, project, Failure};

pub use json::SCHEMA;

const STYLE: &str = include_str!("../../../runtime/doc/style.css");
const SEARCH: &str = include_str!("../../../runtime/doc/search.js");
/// The name of a generated text that uses all modules.
const ALL: &str = "";

/// What to document.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Files and folders; if empty, a project's sources.
    pub files: &'a [String],
    /// Whether to document all of Mokume's library too.
    pub library: bool,
    /// Files and folders whose tests become examples; nothing else of them is documented.
    pub examples: &'a [String],
}

/// Files to document, read and checked.
pub struct Read {
    /// The program, with all that it uses.
    pub checked: Checked,
    examples_only: BTreeSet<FileId>,
    hidden: BTreeSet<FileId>,
}

/// The pages of a folder, by name, and the JSON objects.
pub struct Document {
    /// File names relative to the folder, and the full texts.
    pub files: Vec<(String, String)>,
    /// A JSON object for each item.
    pub objects: Vec<serde_json::Value>,
}

impl Document {
    /// The number of pages.
    pub fn pages(&self) -> usize {
        self.files.iter().filter(|(name, _)| name.ends_with(".html")).count()
    }
}

/// Reads and checks the files. Errors in the files are in the diagnostics of the result.
pub fn read(world: &dyn World, asked: &Asked<'_>) -> Result<Read, Failure> {
    let mut names = asked.files.to_vec();
    if names.is_empty() && !(asked.library && project::find(world, ".")?.is_none()) {
        names = compile::files(world, &[])?;
    }
    let text = match asked.library {
        true => format!("use {}\n", library::modules(world, ".").join(", ")),
        false => String::new(),
    };
    let check = |names: &[String]| compile::check_with(world, names, vec![(ALL.to_string(), text.clone())]);
    let mut checked = check(&names)?;
    let own: BTreeSet<String> = checked.sources.files().map(|(_, file)| file.name.clone()).collect();
    if !asked.examples.is_empty() {
        let of_examples = compile::files_of(world, asked.examples)?;
        names.extend(of_examples.into_iter().filter(|name| !own.contains(name)));
        checked = check(&names)?;
    }
    let of = |is_it: &dyn Fn(&str) -> bool| -> BTreeSet<FileId> {
        checked.sources.files().filter(|(_, file)| is_it(&file.name)).map(|(id, _)| id).collect()
    };
    // Files that only examples use count as examples.
    let examples_only = of(&|name| !own.contains(name));
    let hidden = of(&|name| name == ALL);
    Ok(Read { examples_only, hidden, checked })
}

/// Makes the pages. The checked files must have no errors.
pub fn document(read: &Read) -> Document {
    let checked = &read.checked;
    let asked = collect::Asked { examples_only: &read.examples_only, hidden: &read.hidden };
    let (items, trees) = collect::items(checked, &asked);
    let files: Vec<FileId> = trees.keys().copied().collect();
    let site = site::Site::of(&checked.sources, &items, &files);
    let project = checked.manifest.project.name.as_str();
    let title = if project.is_empty() { "Mokume" } else { project };
    let pages = page::Pages { site: &site, program: &checked.program, trees: &trees, title };
    let mut files = pages.all();
    files.push(("names.js".into(), names::script(&site)));
    files.push(("search.js".into(), SEARCH.into()));
    files.push(("style.css".into(), STYLE.into()));
    Document { files, objects: json::objects(&site) }
}

/// Writes the pages into a folder, and creates it if necessary. Other files in it stay.
pub fn write(world: &dyn World, document: &Document, folder: &str) -> Result<(), Failure> {
    for (name, text) in &document.files {
        let path = Path::new(folder).join(name).to_string_lossy().into_owned();
        let failed = |error| Failure::of_writing(world, &format!("`{path}`"), &path, &error);
        world.write(&path, text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}
