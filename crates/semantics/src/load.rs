//! The files of a program: resolves `use` through a loader, so that nothing here touches a file.
//!
//! Keeps: cycles of `use` are allowed, a file is read once, and a file sees itself, its module, and what it uses.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{Diagnostic, FileId, SourceMap, Span};
use mokume_syntax::ast::{AstNode, Item, UseTarget};
use mokume_syntax::Parse;

use crate::{codes, lost, suggest};

/// The door to modules and files; file names are as in the source map.
pub trait Loader {
    /// The files of a module of the library: name and text of each; `None` if there is no such module.
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>>;
    /// A file named relative to another one: its own name, and its text.
    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)>;
    /// Why there is no such file, if something of this name is there: in words that follow `cannot be read: `.
    fn unread(&self, _from: &str, _name: &str) -> Option<String> {
        None
    }
    /// The module of the project that a file belongs to, whether anybody uses the module or not.
    fn module_of(&self, _file: &str) -> Option<String> {
        None
    }
    /// The names of all modules, for suggestions: the project's own first, as they are likelier meant.
    fn modules(&self) -> Vec<String>;
}

/// A loader without any modules and files, for a file alone.
pub struct Nothing;

impl Loader for Nothing {
    fn module(&mut self, _name: &str) -> Option<Vec<(String, String)>> {
        None
    }
    fn file(&mut self, _from: &str, _name: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        Vec::new()
    }
}

/// All files of a program, parsed, and which file directly uses which.
#[derive(Default)]
pub struct Loaded {
    /// The roots first, then the others in the order in which they were found.
    pub files: Vec<(FileId, Parse)>,
    /// Pairs of user and used file. A user of a module uses each of its files; the files of a module use each other in
    /// a cycle.
    pub uses: Vec<(FileId, FileId)>,
    /// The qualifier of a file's names, for names that several files have: the module's name, or the file's without
    /// `.mok`.
    pub qualifiers: HashMap<FileId, String>,
    /// The module's number for each file of a module; files of no module are not in the map.
    pub modules: HashMap<FileId, usize>,
    /// Diagnostics of `use` and of the parser.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// The files whose items a file sees: itself, those that it uses, and all files of the modules that it uses or
    /// belongs to; not what these use (decision 0114).
    pub fn visible(&self, from: FileId) -> BTreeSet<FileId> {
        let used = self.uses.iter().filter(|(user, _)| *user == from).map(|(_, used)| *used);
        let module = self.modules.get(&from);
        let together = self.modules.iter().filter(|(_, other)| module == Some(other)).map(|(file, _)| *file);
        std::iter::once(from).chain(used).chain(together).collect()
    }

    /// The files that a file depends on: itself and all that it uses, directly or not.
    pub fn reached(&self, from: FileId) -> BTreeSet<FileId> {
        let mut seen = BTreeSet::from([from]);
        let mut front = vec![from];
        while let Some(at) = front.pop() {
            for (user, used) in &self.uses {
                if *user == at && seen.insert(*used) {
                    front.push(*used);
                }
            }
        }
        seen
    }
}

/// Parses `roots` and everything that they use, and adds all to the source map.
pub fn load(sources: &mut SourceMap, roots: &[FileId], loader: &mut dyn Loader) -> Loaded {
    let mut work =
        Work { sources, loader, loaded: Loaded::default(), files: HashMap::default(), modules: HashMap::default() };
    for root in roots {
        let name = work.sources.file(*root).name.clone();
        work.loaded.qualifiers.insert(*root, stem(&name));
        work.files.entry(plain(&name)).or_insert(*root);
    }
    roots.iter().for_each(|root| work.parse(*root));
    let mut at = 0;
    while at < work.loaded.files.len() {
        work.neighbours(at);
        work.uses(at);
        at += 1;
    }
    work.loaded
}

/// `part` of `some/part.mok`.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".mok").unwrap_or(file).to_string()
}

/// The normal form of a file's name: `./a.mok` and `b/../a.mok` are `a.mok`.
fn plain(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn used_twice(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, "this is used already")
        .at(span, "again here")
        .label(first, "first here")
        .help("leave one of them out")
}

struct Work<'a> {
    sources: &'a mut SourceMap,
    loader: &'a mut dyn Loader,
    loaded: Loaded,
    files: HashMap<String, FileId>,
    modules: HashMap<String, Vec<FileId>>,
}

impl Work<'_> {
    fn parse(&mut self, file: FileId) {
        let parse = mokume_syntax::parse(file, &self.sources.file(file).text);
        self.loaded.diagnostics.extend(parse.diagnostics.iter().cloned());
        self.loaded.files.push((file, parse));
    }

    /// A file of a module sees the others of it, whoever asks for the file.
    fn neighbours(&mut self, at: usize) {
        let file = self.loaded.files[at].0;
        if self.loaded.modules.contains_key(&file) {
            return;
        }
        let Some(name) = self.loader.module_of(&self.sources.file(file).name) else { return };
        if !self.modules.contains_key(&name) {
            self.whole(&name);
        }
    }

    fn uses(&mut self, at: usize) {
        let file = self.loaded.files[at].0;
        let items = self.loaded.files[at].1.file().items();
        let uses = items.into_iter().filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
        let mut named: Vec<(UseTarget, Span)> = Vec::new();
        for path in uses.flat_map(|item| item.paths()) {
            let span = path.span(file);
            let target = path.target();
            if let Some(target) = &target {
                let whole = match target {
                    UseTarget::File(name) => UseTarget::File(plain(name)),
                    UseTarget::Module(_) => target.clone(),
                };
                match named.iter().find(|(known, _)| *known == whole) {
                    Some((_, first)) => self.loaded.diagnostics.push(used_twice(span, *first)),
                    None => named.push((whole, span)),
                }
            }
            let used = match target {
                Some(UseTarget::File(name)) => self.file(file, &name, span),
                Some(UseTarget::Module(name)) => self.module(&name, span),
                None => Vec::new(),
            };
            self.loaded.uses.extend(used.into_iter().map(|used| (file, used)));
        }
    }

    fn add(&mut self, name: String, text: String) -> FileId {
        if let Some(known) = self.files.get(&plain(&name)) {
            return *known;
        }
        let file = self.sources.add(name.clone(), text);
        self.loaded.qualifiers.insert(file, stem(&name));
        self.files.insert(plain(&name), file);
        self.parse(file);
        file
    }

    fn file(&mut self, from: FileId, name: &str, span: Span) -> Vec<FileId> {
        let user = self.sources.file(from).name.clone();
        match self.loader.file(&user, name) {
            Some((name, text)) => vec![self.add(name, text)],
            None => {
                let found = match self.loader.unread(&user, name) {
                    Some(why) => Diagnostic::error(
                        codes::UNKNOWN_MODULE,
                        format!("`{name}` beside this file cannot be read: {why}"),
                    )
                    .at(span, "is there, and cannot be read")
                    .help("`use` names a file of this language, as UTF-8 text, that you may read"),
                    None => {
                        Diagnostic::error(codes::UNKNOWN_MODULE, format!("there is no file `{name}` beside this one"))
                            .at(span, "not found")
                            .help("a file is named relative to the one that uses it: `use \"my_layer.mok\"`")
                    }
                };
                self.loaded.diagnostics.push(found.loses(lost::notations(from)));
                Vec::new()
            }
        }
    }

    fn module(&mut self, name: &str, span: Span) -> Vec<FileId> {
        if let Some(known) = self.modules.get(name) {
            return known.clone();
        }
        let Some(ids) = self.whole(name) else {
            let all = self.loader.modules();
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_MODULE, format!("there is no module `{name}`"))
                .at(span, "not found in the library");
            let user = self.sources.file(span.file).name.clone();
            let is_beside = self.loader.file(&user, &format!("{name}.mok")).is_some();
            let file = if is_beside { name } else { "my_layer" };
            if !is_beside {
                diagnostic.helps.extend(suggest::help(name, all.iter().map(String::as_str)));
            }
            let diagnostic = diagnostic.help(format!("a file beside this one stands in quotes: `use \"{file}.mok\"`"));
            self.loaded.diagnostics.push(diagnostic.loses(lost::notations(span.file)));
            return Vec::new();
        };
        ids
    }

    /// All files of a module, if there is one of this name.
    fn whole(&mut self, name: &str) -> Option<Vec<FileId>> {
        let files = self.loader.module(name)?;
        let ids: Vec<FileId> = files.into_iter().map(|(name, text)| self.add(name, text)).collect();
        // The files of a module see one another: each uses the next, and so, indirectly, all.
        self.loaded.uses.extend(ids.iter().copied().zip(ids.iter().copied().cycle().skip(1)));
        for id in &ids {
            self.loaded.qualifiers.insert(*id, name.to_string());
            self.loaded.modules.insert(*id, self.modules.len());
        }
        self.modules.insert(name.to_string(), ids.clone());
        Some(ids)
    }
}
