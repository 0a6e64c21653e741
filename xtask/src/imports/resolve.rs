//! Resolves the paths in a crate's files to the files that define what they name.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Edges, Sources};
use crate::words::{end_of_item, words, Word};

/// Names of modules, from the crate's root.
type Path = Vec<String>;

/// The most re-exports that are followed.
const DEEPEST: u32 = 32;

const ITEMS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// A module: one file, with its definitions and imports.
#[derive(Default)]
struct Module {
    file: String,
    words: Vec<Word>,
    defined: BTreeSet<String>,
    /// The written path of an import, by the name that it has here.
    imported: BTreeMap<String, Path>,
    globs: Vec<Path>,
    /// Methods of `impl` blocks: the type's name as written, and the method's.
    methods: Vec<(String, String)>,
}

/// All modules of a crate.
#[derive(Default)]
struct Modules {
    all: BTreeMap<Path, Module>,
    /// By module, the modules whose names it imports by a glob.
    globs: BTreeMap<Path, BTreeSet<Path>>,
}

/// What a path leads to.
#[derive(Clone, PartialEq)]
enum Target {
    Module(Path),
    /// Something defined in the file of this module.
    Item(Path),
}

/// The imports of each file.
pub fn edges(sources: &Sources) -> Edges {
    let modules = Modules::new(sources);
    let far = modules.far_methods();
    let mut edges = Edges::new();
    for (path, module) in &modules.all {
        let mut targets = modules.named(path, module);
        targets.extend(called(module, &far));
        let files = targets.iter().filter_map(|target| modules.all.get(target)).map(|module| module.file.clone());
        edges.insert(module.file.clone(), files.filter(|file| *file != module.file).collect());
    }
    edges
}

impl Modules {
    fn new(sources: &Sources) -> Modules {
        let mut all = BTreeMap::new();
        for (file, text) in sources.iter().filter(|(file, _)| *file != "main.rs" || !sources.contains_key("lib.rs")) {
            all.insert(module_path(file), Module::new(file, words(text)));
        }
        // Files of tests are declared nowhere else.
        let declared: BTreeSet<Path> = all.iter().flat_map(|(path, module)| module.children(path)).collect();
        all.retain(|path, _| path.is_empty() || declared.contains(path));
        // The paths of globs themselves are resolved without globs, which keeps this finite.
        let mut modules = Modules { all, globs: BTreeMap::new() };
        let target = |path: &Path, glob: &Path| match modules.follow(path, glob, 0) {
            Some(Target::Module(module)) => Some(module),
            _ => None,
        };
        let globs = |(path, module): (&Path, &Module)| {
            (path.clone(), module.globs.iter().filter_map(|glob| target(path, glob)).collect())
        };
        modules.globs = modules.all.iter().map(globs).collect();
        modules
    }

    /// The modules that define what a module's words name.
    fn named(&self, path: &Path, module: &Module) -> BTreeSet<Path> {
        let mut found = BTreeSet::new();
        let mut add = |target: Option<Target>| {
            if let Some(Target::Item(path)) = target {
                found.insert(path);
            }
        };
        let imports = module.imported.values();
        imports.for_each(|import| add(self.follow(path, import, 0)));
        for written in paths(&module.words) {
            add(self.follow(path, &written, 0));
        }
        let unknown = |name: &&String| !module.defined.contains(*name) && !module.imported.contains_key(*name);
        for name in plain_names(&module.words).filter(unknown) {
            add(self.member(path, name, 0));
        }
        found
    }

    /// What a path written in a module leads to; `None` if it leads out of the crate.
    fn follow(&self, from: &Path, written: &[String], depth: u32) -> Option<Target> {
        let (first, rest) = written.split_first()?;
        let start = match first.as_str() {
            "crate" => Target::Module(Vec::new()),
            "self" => Target::Module(from.clone()),
            "super" => Target::Module(from.split_last()?.1.to_vec()),
            name => self.member(from, name, depth)?,
        };
        self.onwards(start, rest, depth)
    }

    fn onwards(&self, start: Target, rest: &[String], depth: u32) -> Option<Target> {
        let mut at = start;
        for name in rest {
            let Target::Module(module) = &at else { return Some(at) };
            at = match name.as_str() {
                "super" => Target::Module(module.split_last()?.1.to_vec()),
                "self" => continue,
                // Items made by macros are not found.
                name => self.member(module, name, depth).unwrap_or(Target::Item(module.clone())),
            };
        }
        Some(at)
    }

    /// What a name means in a module, including its globs.
    fn member(&self, path: &Path, name: &str, depth: u32) -> Option<Target> {
        let (mut front, mut seen) = (vec![path], BTreeSet::new());
        while let Some(at) = front.pop().filter(|_| depth < DEEPEST) {
            if let Some(found) = self.direct(at, name, depth) {
                return Some(found);
            }
            front.extend(self.globs.get(at).into_iter().flatten().filter(|next| seen.insert(*next)));
        }
        None
    }

    /// What a name means in a module without globs: a submodule, an item, or an import of this name.
    fn direct(&self, path: &Path, name: &str, depth: u32) -> Option<Target> {
        let module = self.all.get(path)?;
        let child: Path = path.iter().cloned().chain([name.to_string()]).collect();
        if self.all.contains_key(&child) {
            return Some(Target::Module(child));
        }
        if module.defined.contains(name) {
            return Some(Target::Item(path.clone()));
        }
        // `use x::{self}` of an external crate `x` would lead back here.
        let import = module.imported.get(name).filter(|import| import.first().map(String::as_str) != Some(name))?;
        self.follow(path, import, depth + 1)
    }

    /// By name, the modules of methods whose `impl` block is in another file than the type. Only names that one file
    /// alone defines.
    fn far_methods(&self) -> BTreeMap<String, Path> {
        let mut all: BTreeMap<&str, BTreeSet<Option<Path>>> = BTreeMap::new();
        for (path, module) in &self.all {
            for (of, method) in &module.methods {
                let home = match self.member(path, of, 0) {
                    Some(Target::Item(home)) if home != *path => Some(path.clone()),
                    _ => None,
                };
                all.entry(method).or_default().insert(home);
            }
        }
        let only = |homes: BTreeSet<Option<Path>>| if homes.len() == 1 { homes.into_iter().next()? } else { None };
        let named = all.into_iter().filter(|(name, _)| !STANDARD.contains(name));
        named.filter_map(|(name, homes)| Some((name.to_string(), only(homes)?))).collect()
    }
}

/// Methods of the standard library's types: a call to one of these names does not tell the type.
const STANDARD: [&str; 14] = [
    "any", "append", "call", "drop", "extend", "find", "get", "insert", "iter", "map", "pop", "remove", "split", "take",
];

impl Module {
    fn new(file: &str, words: Vec<Word>) -> Module {
        let mut module = Module { file: file.to_string(), ..Module::default() };
        let mut at = 0;
        while at < words.len() {
            match words[at].text.as_str() {
                "use" if words.get(at + 1).is_some_and(|next| next.text != "<") => {
                    let end = end_of_item(&words, at);
                    module.import(&words[at + 1..end]);
                    at = end;
                    continue;
                }
                "impl" if words[at].depth == 0 => module.methods.extend(methods(&words[at..end_of_item(&words, at)])),
                _ => {}
            }
            module.define(&words, at);
            module.words.push(words[at].clone());
            at += 1;
        }
        module
    }

    /// Records the item that begins here, at the top of the file or in an inline module.
    fn define(&mut self, words: &[Word], at: usize) {
        let text = words[at].text.as_str();
        if !ITEMS.contains(&text) || words[at].depth > 0 {
            return;
        }
        let name = words[at + 1..].iter().find(|word| word.is_name() && !matches!(word.text.as_str(), "fn" | "mut"));
        self.defined.extend(name.map(|word| word.text.clone()));
    }

    fn import(&mut self, tree: &[Word]) {
        let mut at = 0;
        self.import_tree(tree, &mut at, &[]);
    }

    /// Reads `a::{b, c::d as e, *}` from `at` on; leaves `at` after the tree.
    fn import_tree(&mut self, words: &[Word], at: &mut usize, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        while let Some(word) = words.get(*at) {
            match word.text.as_str() {
                "{" => {
                    *at += 1;
                    while words.get(*at).is_some_and(|word| !matches!(word.text.as_str(), "}" | ";")) {
                        self.import_tree(words, at, &path);
                        *at += usize::from(words.get(*at).is_some_and(|word| word.text == ","));
                    }
                    *at += 1;
                    return;
                }
                "*" => {
                    *at += 1;
                    return self.globs.push(path);
                }
                "as" => {
                    *at += 1;
                    alias = words.get(*at).map(|word| word.text.clone());
                }
                "," | "}" | ";" => break,
                _ if word.is_name() => path.push(word.text.clone()),
                _ => {}
            }
            *at += 1;
        }
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        if let Some(name) = alias.or(path.last().cloned()) {
            self.imported.insert(name, path);
        }
    }

    /// The files that the module declares: `mod name;`.
    fn children(&self, path: &Path) -> Vec<Path> {
        let declared = self.words.windows(3).filter(|three| three[0].text == "mod" && three[2].text == ";");
        declared.map(|three| path.iter().cloned().chain([three[1].text.clone()]).collect()).collect()
    }
}

/// The module path of a file: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_path(file: &str) -> Path {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" | "mod" => Vec::new(),
        _ => path.split('/').map(str::to_string).collect(),
    }
}

/// The methods of an `impl` block without a trait: type and name of each.
fn methods(words: &[Word]) -> Vec<(String, String)> {
    let Some(body) = words.iter().position(|word| word.text == "{") else { return Vec::new() };
    let head = &words[1..body];
    if head.iter().any(|word| word.text == "for") {
        return Vec::new();
    }
    // The type follows the parameters of the block itself.
    let mut open = 0;
    let mut of = None;
    for word in head {
        match word.text.as_str() {
            "<" => open += 1,
            ">" => open -= 1,
            _ if open == 0 && word.is_name() => of = Some(word.text.clone()),
            _ => {}
        }
    }
    let Some(of) = of else { return Vec::new() };
    let inside = words[body].depth + 1;
    let heads = words[body..].windows(2).filter(|two| two[0].text == "fn" && two[0].depth == inside);
    heads.map(|two| (of.clone(), two[1].text.clone())).collect()
}

/// Paths of two or more names.
fn paths(words: &[Word]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let mut path = Vec::new();
        while words.get(at).is_some_and(Word::is_name) {
            path.push(words[at].text.clone());
            let goes_on =
                words.get(at + 1).is_some_and(|word| word.text == "::") && words.get(at + 2).is_some_and(Word::is_name);
            at += if goes_on { 2 } else { 1 };
            if !goes_on {
                break;
            }
        }
        if path.len() > 1 {
            found.push(path);
        }
        at += usize::from(words.get(at).is_some_and(|word| !word.is_name()));
    }
    found
}

/// Names that may come from a glob: types, constants, and names that are called or begin a path; no fields and methods.
fn plain_names(words: &[Word]) -> impl Iterator<Item = &String> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let behind = at > 0 && matches!(words[at - 1].text.as_str(), "." | "::" | "fn");
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        let upper = word.text.starts_with(|c: char| c.is_uppercase());
        (word.is_name() && !behind && (upper || matches!(next, "(" | "::"))).then_some(&word.text)
    })
}

/// The modules of the far methods that a module calls: `x.name(…)`, `Type::name(…)`.
fn called(module: &Module, far: &BTreeMap<String, Path>) -> BTreeSet<Path> {
    let calls = module
        .words
        .windows(3)
        .filter(|three| matches!(three[0].text.as_str(), "." | "::") && matches!(three[2].text.as_str(), "(" | "::"));
    calls.filter_map(|three| far.get(&three[1].text).cloned()).collect()
}
