//! From files to a stack's automaton: load, check, lower, verify, compose. Diagnostics are collected, never printed
//! here.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mokume_base::world::World;
use mokume_base::{Diagnostic, FileId, Severity, SourceMap, Span};
use mokume_compose::Finding;
use mokume_emit_c::CProgram;
use mokume_lower::{Lowered, Protocols};
use mokume_reaction::profile::Profile;
use mokume_reaction::{Automaton, HandlerId, Natives, Source};
use mokume_script::Written;
use mokume_semantics::program::{Program, StackId};

use crate::chosen::{chosen, Things};
use crate::failure::Failure;
use crate::library::Library;
use crate::natives::{self, Files, Functions};
use crate::path::{self, Fuse, Noted, Passes};
use crate::places;
use crate::project::{self, Manifest};

/// Loaded and checked files.
pub struct Checked {
    pub sources: SourceMap,
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
    /// The files on the command line, without those that they use.
    pub roots: Vec<FileId>,
    pub manifest: Manifest,
    /// Functions in C that the program declares.
    pub natives: Files,
    /// The fusion passes for its stacks.
    pub passes: Passes,
}

impl Checked {
    /// Whether the program itself has errors: then none of its stacks can be compiled.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }

    /// Sets the fusion level for C, if one is given, and the passes.
    pub fn fused(mut self, (level, passes): (Option<u8>, Passes)) -> Self {
        self.manifest.defaults.fuse = level.or(self.manifest.defaults.fuse);
        self.passes = passes;
        self
    }
}

/// Whether one of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Loads and checks files and folders (the project's sources if there are no names).
pub fn check(world: &dyn World, names: &[String]) -> Result<Checked, Failure> {
    let (home, manifest) = home_of(world, names)?;
    let names = if names.is_empty() { sources_of(world, &home, &manifest)? } else { names.to_vec() };
    check_governed(world, (home, manifest), &names, Vec::new())
}

/// Loads and checks files and folders, perhaps none, and texts that are not files.
pub fn check_with(world: &dyn World, names: &[String], texts: Vec<(String, String)>) -> Result<Checked, Failure> {
    check_governed(world, home_of(world, names)?, names, texts)
}

/// The manifest for the first of the names, and its folder.
fn home_of(world: &dyn World, names: &[String]) -> Result<(PathBuf, Manifest), Failure> {
    let start = names.first().map_or(".", String::as_str);
    let folder = if world.is_folder(start) { start } else { start.rsplit_once('/').map_or(".", |(folder, _)| folder) };
    governed(world, if folder.is_empty() { "/" } else { folder })
}

fn check_governed(
    world: &dyn World,
    (home, manifest): (PathBuf, Manifest),
    names: &[String],
    more: Vec<(String, String)>,
) -> Result<Checked, Failure> {
    let mut texts = Vec::new();
    for file in files_of(world, names)? {
        let text = world
            .read_text(&file)
            .map_err(|error| Failure::of_use(format!("cannot read `{file}`: {error}"), "is the path right?"))?;
        texts.push((file, text));
    }
    texts.extend(more);
    let folders: Vec<PathBuf> = manifest.project.library.iter().map(|folder| home.join(folder)).collect();
    if let Some(missing) = folders.iter().find(|folder| !world.is_folder(&folder.to_string_lossy())) {
        let text = format!("`library` in Mokume.toml says `{}`, and there is no such folder", missing.display());
        return Err(Failure::of_use(text, "make it: each folder in it is a module, by its name; or take it out"));
    }
    Ok(Checked { manifest, ..check_texts(world, texts, folders) })
}

/// Checks texts that are not files yet, by name; modules are searched in `folders` before the library.
pub fn check_texts(world: &dyn World, texts: Vec<(String, String)>, folders: Vec<PathBuf>) -> Checked {
    let mut library = Library::new(world, folders, texts.iter().map(|(name, _)| name));
    let mut sources = SourceMap::default();
    let roots: Vec<FileId> = texts.into_iter().map(|(name, text)| sources.add(name, text)).collect();
    let loaded = mokume_semantics::load(&mut sources, &roots, &mut library);
    let (program, mut diagnostics) = mokume_semantics::analyse(&loaded);
    mokume_semantics::name_modules(&sources, &mut library, &mut diagnostics);
    let natives = natives::files(&program, &sources, &mut library, &mut diagnostics);
    Checked { sources, program, diagnostics, roots, manifest: Manifest::default(), natives, passes: Passes::ALL }
}

/// The files for names, without reading them: the project's sources if there are none.
pub fn files(world: &dyn World, names: &[String]) -> Result<Vec<String>, Failure> {
    if !names.is_empty() {
        return files_of(world, names);
    }
    let (home, manifest) = governed(world, ".")?;
    files_of(world, &sources_of(world, &home, &manifest)?)
}

/// The manifest for a folder, and the manifest's own folder; without a manifest, the current folder.
fn governed(world: &dyn World, folder: &str) -> Result<(PathBuf, Manifest), Failure> {
    let Some((home, manifest)) = project::find(world, folder)? else {
        return Ok((PathBuf::from("."), Manifest::default()));
    };
    let named = Path::new(folder).is_absolute();
    Ok((if named { home } else { from_here(world, home) }, manifest))
}

/// A folder as seen from the current one, if that is above or below it: its files are shown as those that were named.
fn from_here(world: &dyn World, folder: PathBuf) -> PathBuf {
    let Ok(here) = world.absolute(".") else { return folder };
    let here = Path::new(&here);
    match (folder.strip_prefix(here), here.strip_prefix(&folder)) {
        (Ok(below), _) => below.to_path_buf(),
        (_, Ok(above)) => above.components().map(|_| "..").collect(),
        _ => folder,
    }
}

fn sources_of(world: &dyn World, home: &Path, manifest: &Manifest) -> Result<Vec<String>, Failure> {
    if manifest == &Manifest::default() && !world.exists(&home.join("Mokume.toml").to_string_lossy()) {
        return Err(Failure::of_use("no file is named, and there is no Mokume.toml here", "name a `.mok` file"));
    }
    let sources =
        if manifest.project.sources.is_empty() { vec![".".to_string()] } else { manifest.project.sources.clone() };
    let sources: Vec<String> = sources.iter().map(|source| home.join(source).to_string_lossy().into_owned()).collect();
    // A folder may have no file yet, if another has.
    let is_empty = |source: &String| world.is_folder(source) && files_of(world, std::slice::from_ref(source)).is_err();
    let full: Vec<String> = sources.iter().filter(|source| !is_empty(source)).cloned().collect();
    Ok(if full.is_empty() { sources } else { full })
}

/// The files for names: the files themselves, or all `.mok` files below a folder; none for no names. Each file occurs
/// once, under the first name that leads to it.
pub fn files_of(world: &dyn World, names: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Found { world, seen: BTreeSet::new(), files: Vec::new() };
    for name in names {
        if world.is_folder(name) {
            if !found.below(name) {
                return Err(Failure::of_use(
                    format!("there is no `.mok` file in `{name}`"),
                    "name a file, or another folder",
                ));
            }
        } else if found.is_new(name) {
            found.files.push(name.clone());
        }
    }
    Ok(found.files)
}

/// The files found while walking through folders.
struct Found<'w> {
    world: &'w dyn World,
    /// Files and folders by real path: of two links to one folder only one is followed, and cycles are not.
    seen: BTreeSet<String>,
    files: Vec<String>,
}

impl Found<'_> {
    /// Whether a path leads to something new; a broken path is reported when it is read.
    fn is_new(&mut self, path: &str) -> bool {
        self.world.absolute(path).map_or(true, |known| self.seen.insert(known))
    }

    /// Adds the files below a folder; returns whether there is one, new or not.
    fn below(&mut self, folder: &str) -> bool {
        if !self.is_new(folder) {
            return true;
        }
        let mut is_any = false;
        for name in self.world.list(folder).unwrap_or_default() {
            let path = Path::new(folder).join(name.trim_end_matches('/')).to_string_lossy().into_owned();
            if name.ends_with('/') {
                if !name.starts_with('.') && name != "target/" {
                    is_any |= self.below(&path);
                }
            } else if name.ends_with(".mok") {
                is_any = true;
                if self.is_new(&path) {
                    self.files.push(path);
                }
            }
        }
        is_any
    }
}

/// Whether a diagnostic says that a layer does not take a part: a test may then cover less than its author wrote.
pub fn is_of_untaken_part(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == mokume_semantics::codes::UNTAKEN_PART
}

/// A stack prepared for the back ends.
pub struct Compiled {
    /// The uncomposed automaton, which is the reference.
    pub uncomposed: Automaton,
    pub composed: Automaton,
    /// Which wire follows which.
    pub protocols: Protocols,
    /// The places of the layers' handlers that stand in the automaton.
    pub reached: BTreeSet<Span>,
    pub diagnostics: Vec<Diagnostic>,
    /// How its values are shown and set.
    pub written: Arc<Written>,
    /// Its functions in C, for the interpreter, and their texts.
    pub natives: Option<Arc<dyn Natives>>,
    /// If their models run instead: the reason. The stack then does not run in C.
    pub by_models: Option<Failure>,
    pub native_files: Files,
    /// The fusion level of its C (`path::fused`), and the profile for it.
    fuse: Fuse,
    profile: Option<Profile>,
    /// The input for C, computed on first use.
    fused: OnceLock<Noted>,
    /// The stack in C, compiled on first use.
    pub(crate) in_c: Mutex<Option<Arc<CProgram>>>,
}

impl Compiled {
    /// Whether it calls functions in C.
    pub fn calls_c(&self) -> bool {
        !mokume_emit_c::signatures(&self.composed).is_empty()
    }

    /// The input for C: the composed stack, with paths and memos according to `fuse`.
    pub fn for_c(&self) -> &Automaton {
        match self.fuse.level {
            0 => &self.composed,
            _ => &self.noted().automaton,
        }
    }

    /// The fusion level of its C.
    pub fn fuse(&self) -> Fuse {
        self.fuse
    }

    /// Sets the fusion level of its C (`path::fused`), and the profile.
    pub fn fuse_by(&mut self, fuse: Fuse, profile: Profile) {
        (self.fuse, self.profile) = (fuse, Some(profile));
        self.fused = OnceLock::new();
        self.in_c = Mutex::default();
    }

    /// Keeps only the paths of these handlers in its C. Returns the events of the removed ones, by path.
    pub fn keep_only(&mut self, handlers: &[HandlerId]) -> Vec<Vec<String>> {
        self.noted();
        self.in_c = Mutex::default();
        self.fused.get_mut().map_or_else(Vec::new, |noted| noted.keep_only(handlers))
    }

    /// The comments in its C about the path of each event, line by line; paths of the `proved` handlers are marked.
    pub fn notes(&self, proved: &[HandlerId]) -> Vec<String> {
        match self.fuse.level {
            0 => Vec::new(),
            _ => self.noted().notes(self.fuse, proved),
        }
    }

    fn noted(&self) -> &Noted {
        self.fused.get_or_init(|| match &self.profile {
            Some(profile) => path::with_notes(&self.composed, profile, self.fuse),
            None => path::with_notes(&self.composed, &crate::usual::by(&self.composed, self.fuse.passes), self.fuse),
        })
    }
}

/// Fuses several stacks, on all cores.
pub fn fuse_all<'c>(stacks: impl Iterator<Item = &'c Compiled> + Send) {
    let left = Mutex::new(stacks);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let fuse = || {
        while let Some(compiled) = next() {
            compiled.for_c();
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(fuse);
        }
        fuse();
    });
}

/// The stack to use: by name, by the project's default, or the only one of the files (files that these use are not considered).
pub fn choose_stack(checked: &Checked, name: Option<&str>) -> Result<StackId, Failure> {
    let stacks = Things {
        names: checked.program.stacks.iter().map(|stack| &stack.name).collect(),
        sources: &checked.sources,
        roots: &checked.roots,
        one: "stack",
        none: "write `stack Name(device: Device) { … }`, or name another file",
        several: "choose one with `--stack NAME`",
        names_all: true,
    };
    chosen(&stacks, name, checked.manifest.defaults.stack.as_deref()).map(|index| StackId(index as u32))
}

/// Lowers, verifies and composes. `None` if there are errors.
///
/// `world` is where functions in C are compiled for the interpreter.
pub fn compile(checked: &Checked, stack: StackId, world: &dyn World) -> (Option<Compiled>, Vec<Diagnostic>) {
    compile_with(checked, stack, Some(world))
}

/// The same, for output only: calls of functions in C stay, whatever this machine can compile.
pub fn compile_to_write(checked: &Checked, stack: StackId) -> (Option<Compiled>, Vec<Diagnostic>) {
    compile_with(checked, stack, None)
}

/// A warning about the order of emissions in a file that was not named: a library's authors know of it.
fn is_of_others(checked: &Checked, finding: &Finding) -> bool {
    let is_named = |source: &Source| checked.roots.iter().any(|root| checked.sources.file(*root).name == source.file);
    let mut places = finding.at.iter().chain(finding.also.as_ref().map(|(source, _)| source)).peekable();
    finding.diagnostic.code == mokume_compose::QUEUED && places.peek().is_some() && !places.any(is_named)
}

fn compile_with(checked: &Checked, stack: StackId, world: Option<&dyn World>) -> (Option<Compiled>, Vec<Diagnostic>) {
    let lower = |models| {
        let options = mokume_lower::Options { models, ..Default::default() };
        mokume_lower::lower_whole(&checked.program, &checked.sources, stack, &options)
    };
    let (mut lowered, mut diagnostics) = lower(false);
    let natives = match (&lowered, world) {
        (Some(lowered), Some(world)) => natives::load(&lowered.automaton, &checked.natives, world),
        _ => Functions::default(),
    };
    if natives.by_models.is_some() {
        (lowered, diagnostics) = lower(true);
    }
    if let Some(said) = natives.said {
        let functions = &checked.program.functions;
        let first = functions.iter().find(|function| function.native.is_some()).map(|function| function.name.span);
        let place = first.unwrap_or(checked.program.stacks[stack.index()].name.span);
        diagnostics.push(said.at(place, "of this and all others in C"));
    }
    let found = lowered.filter(|_| !has_errors(&diagnostics));
    let Some(Lowered { automaton: uncomposed, protocols, reached }) = found else { return (None, diagnostics) };
    let Some(definition) = checked.program.stacks.get(stack.index()) else { return (None, diagnostics) };
    let faults = mokume_reaction::verify::verify(&uncomposed);
    let known = (&checked.sources, &checked.program);
    diagnostics.extend(faults.iter().map(|fault| places::of_fault(known, definition, &uncomposed, fault)));
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    diagnostics.extend(crate::own_packets::wrong((&checked.program, &checked.roots), &uncomposed));
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    let composed = mokume_compose::compose(&uncomposed, mokume_compose::Options::default());
    let found = composed.findings.into_iter().filter(|finding| !is_of_others(checked, finding));
    diagnostics.extend(found.map(|found| places::of_finding(&checked.sources, definition, found)));
    if let Some((all, largest, class)) = composed.automaton.as_ref().and_then(crate::size::beyond) {
        let text = format!("no machine has room for stack `{}`: its objects are {all} octets", definition.name.text);
        let diagnostic = Diagnostic::error(mokume_semantics::codes::BEYOND_MEMORY, text)
            .at(definition.name.span, "too large")
            .note(format!("{} octets are the most; `{class}` alone has {largest}", crate::size::MOST))
            .help("make arrays and maps smaller, or let there be fewer sessions: `sessions 64`");
        diagnostics.push(diagnostic);
    }
    match composed.automaton {
        Some(automaton) if !has_errors(&diagnostics) => {
            let native_files = checked.natives.clone();
            let written = Arc::new(crate::written::of(&checked.program, &checked.sources, definition, &uncomposed));
            let (composed, diagnosed) = (automaton, Vec::new());
            let compiled = Compiled {
                uncomposed,
                composed,
                protocols,
                reached,
                diagnostics: diagnosed,
                written,
                natives: natives.loaded,
                by_models: natives.by_models,
                native_files,
                fuse: Fuse { level: checked.manifest.defaults.fuse.unwrap_or(path::FUSE), passes: checked.passes },
                profile: None,
                fused: OnceLock::new(),
                in_c: Mutex::default(),
            };
            (Some(compiled), diagnostics)
        }
        _ => (None, diagnostics),
    }
}
