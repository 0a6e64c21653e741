//! The addresses of pages: a folder for each module, a page for each item and for each file, and links between them.
//!
//! Keeps: page names are unique, even on file systems that do not distinguish `A` from `a`.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{FileId, SourceMap, Span};

use crate::item::Item;

/// All pages, by their subjects.
pub struct Site<'a> {
    /// The documented files.
    pub sources: &'a SourceMap,
    /// All items.
    pub items: &'a [Item],
    /// The page of each item, relative to the site's root.
    pages: Vec<String>,
    /// The module of each item.
    modules: Vec<String>,
    /// The item by the place of its name in the declaration.
    named: BTreeMap<Span, usize>,
    /// The pages of files.
    files: BTreeMap<FileId, String>,
    /// The common prefix of the names of all files outside the library.
    prefix: String,
}

impl<'a> Site<'a> {
    /// Assigns a page to each item, and to each of these files.
    pub fn of(sources: &'a SourceMap, items: &'a [Item], files: &[FileId]) -> Site<'a> {
        let prefix = common(files.iter().map(|file| sources.file(*file).name.as_str()));
        let mut site = Site {
            sources,
            items,
            pages: Vec::new(),
            modules: Vec::new(),
            named: items.iter().enumerate().map(|(at, item)| (item.named, at)).collect(),
            files: BTreeMap::new(),
            prefix,
        };
        let mut taken = BTreeSet::new();
        for item in items {
            let module = site.module(item.named.file);
            let (folder, word) = (plain(&module), item.kind.word());
            let page = free(&mut taken, &format!("{folder}/{word}.{}", plain(&item.name)), ".html");
            site.pages.push(page);
            site.modules.push(module);
        }
        for file in files {
            let page = free(&mut taken, &format!("source/{}", plain(site.short(*file))), ".html");
            site.files.insert(*file, page);
        }
        site
    }

    /// The folder of a file, as people call it: a module of the library, or a folder of the project.
    fn module(&self, file: FileId) -> String {
        let name = self.short(file);
        match name.rsplit_once('/') {
            Some((folder, _)) => folder.strip_prefix("library/").unwrap_or(folder).to_string(),
            None => "project".to_string(),
        }
    }

    /// A file's name without the common prefix.
    pub fn short(&self, file: FileId) -> &'a str {
        let name = self.sources.file(file).name.as_str();
        if is_of_library(name) {
            return name;
        }
        let short = name.strip_prefix(&self.prefix).unwrap_or(name);
        short.trim_start_matches("./").trim_start_matches('/')
    }

    /// The module of an item.
    pub fn module_of(&self, item: usize) -> &str {
        &self.modules[item]
    }

    /// The page of an item, relative to the root.
    pub fn page(&self, item: usize) -> &str {
        &self.pages[item]
    }

    /// All modules with their items: those of the project first, then the library's, each by name.
    pub fn modules(&self) -> Vec<(&str, Vec<usize>)> {
        let mut all: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
        for (at, module) in self.modules.iter().enumerate() {
            let file = self.items[at].named.file;
            all.entry((is_of_library(&self.sources.file(file).name), module)).or_default().push(at);
        }
        for items in all.values_mut() {
            items.sort_by_key(|at| (self.items[*at].kind, self.items[*at].name.to_lowercase()));
        }
        all.into_iter().map(|((_, module), items)| (module, items)).collect()
    }

    /// The page of a module, relative to the root.
    pub fn module_page(&self, module: &str) -> String {
        format!("{}/index.html", plain(module))
    }

    /// All files with their pages.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.files.iter().map(|(file, page)| (*file, page.as_str()))
    }

    /// The item that is declared at a place.
    pub fn item_at(&self, named: Span) -> Option<usize> {
        self.named.get(&named).copied()
    }

    /// The page about a declaration, relative to the root: an item's page, or the line in its file.
    pub fn link(&self, of: Span) -> Option<String> {
        match self.item_at(of) {
            Some(item) => Some(self.pages[item].clone()),
            None => self.source(of),
        }
    }

    /// The line of a place in the page of its file, relative to the root.
    pub fn source(&self, at: Span) -> Option<String> {
        let page = self.files.get(&at.file)?;
        Some(format!("{page}#L{}", self.line(at)))
    }

    /// The line of a place, from 1.
    pub fn line(&self, at: Span) -> u32 {
        self.sources.line_column(at.file, at.start).0
    }

    /// The item that a text about item `from` mentions by name: one of the same module, or else the only one of this
    /// name.
    pub fn mentioned(&self, name: &str, from: Option<usize>) -> Option<usize> {
        let all = || (0..self.items.len()).filter(|at| self.items[*at].name == name);
        let module = from.map(|from| self.module_of(from));
        let near = all().find(|at| Some(self.module_of(*at)) == module);
        let mut others = all();
        near.or_else(|| others.next().filter(|_| others.next().is_none()))
    }
}

/// Whether a file belongs to the built-in library.
fn is_of_library(name: &str) -> bool {
    name.starts_with("library/")
}

/// The folder that contains all files outside the library, with its slash.
fn common<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut common: Option<&str> = None;
    for name in names.filter(|name| !is_of_library(name)) {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| &name[..=folder.len()]);
        let same = match common {
            None => folder,
            Some(known) => {
                let parts = known.split_inclusive('/').zip(folder.split_inclusive('/'));
                let length: usize = parts.take_while(|(one, other)| one == other).map(|(part, _)| part.len()).sum();
                &known[..length]
            }
        };
        common = Some(same);
    }
    common.unwrap_or_default().to_string()
}

/// A name that is safe in paths and addresses: letters, digits, `-`, `_` and dots.
fn plain(name: &str) -> String {
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let mut out = String::new();
    for c in parts.collect::<Vec<_>>().join("/").chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => out.push(c),
            '.' if !out.is_empty() => out.push('.'),
            '/' => out.push('.'),
            other => out += &format!("_{:x}_", u32::from(other)),
        }
    }
    if out.is_empty() {
        out.push('_');
    }
    out
}

/// The name, with a number appended if it is taken.
fn free(taken: &mut BTreeSet<String>, name: &str, end: &str) -> String {
    let numbered = |number: usize| if number == 1 { format!("{name}{end}") } else { format!("{name}-{number}{end}") };
    let mut number = 1;
    while !taken.insert(numbered(number).to_lowercase()) {
        number += 1;
    }
    numbered(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_names_of_their_own() {
        let mut taken = BTreeSet::new();
        let all = ["a/wire.Udp", "a/wire.UDP", "a/wire.Udp", "b/wire.Udp"].map(|name| free(&mut taken, name, ".html"));
        assert_eq!(all, ["a/wire.Udp.html", "a/wire.UDP-2.html", "a/wire.Udp-3.html", "b/wire.Udp.html"]);
    }

    #[test]
    fn names_of_files_are_names_of_pages() {
        assert_eq!(plain("src/net/a b.mok"), "src.net.a_20_b.mok");
        assert_eq!((plain("../../x.mok").as_str(), plain("").as_str()), ("x.mok", "_"));
        assert!(!plain("../..").starts_with('.'));
    }

    #[test]
    fn what_all_names_begin_with_is_left_out() {
        let of = |names: &[&str]| common(names.iter().copied());
        assert_eq!(of(&["/a/b/x.mok", "/a/b/c/y.mok", "library/udp/udp.mok"]), "/a/b/");
        assert_eq!(of(&["x.mok", "a/y.mok"]), "");
        assert_eq!(of(&["a/bc/x.mok", "a/b/y.mok"]), "a/");
    }
}
