//! A session with one editor: its open documents, their analyses, and the published diagnostics.
//!
//! Keeps: the editor gets diagnostics of the newest text only, and obsolete ones are withdrawn.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ls_types::notification::{self as told, Notification as _};
use ls_types::{
    ClientCapabilities, Diagnostic, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, InitializeParams, PublishDiagnosticsParams, Uri,
    WorkspaceFolder,
};
use lsp_server::{Notification, RequestId};
use mokume_base::world::World;
use mokume_base::FileId;
use mokume_driver::check::Kept;
use mokume_driver::shelf::Shelf;

use crate::analysis::Analysis;
use crate::diagnostics::{self, Shower};
use crate::documents::{self, Document, Documents};
use crate::overlay::Overlay;
use crate::places::Places;
use crate::text::Columns;
use crate::workspace::Group;

/// The requests that the editor has cancelled and that may still be answered.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<Mutex<Vec<RequestId>>>);

impl Cancelled {
    fn ids(&self) -> MutexGuard<'_, Vec<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the request that a notification cancels.
    pub fn add(&self, told: &Notification) {
        self.ids().extend(cancels(told));
    }

    /// Forgets it: the notification's turn has come, so the request was answered.
    pub fn forget(&self, told: &Notification) {
        if let Some(id) = cancels(told) {
            self.ids().retain(|known| *known != id);
        }
    }

    /// Whether a request is cancelled.
    pub fn has(&self, id: &RequestId) -> bool {
        self.ids().contains(id)
    }
}

fn cancels(told: &Notification) -> Option<RequestId> {
    let id = told.params.get("id").filter(|_| told.method == told::Cancel::METHOD)?;
    serde_json::from_value(id.clone()).ok()
}

/// The state between two messages.
pub struct Session<'w> {
    pub world: &'w dyn World,
    pub columns: Columns,
    pub documents: Documents,
    pub shelf: Shelf,
    /// The editor's workspace folders, as absolute paths.
    pub folders: Vec<String>,
    has_related: bool,
    /// The editor's optional abilities.
    pub can: Can,
    /// Failures of tests, by document; only while the document is unchanged.
    failed: BTreeMap<String, Vec<Diagnostic>>,
    /// The analyses of open documents, by name, and of library modules that a document shows.
    analyses: BTreeMap<String, Rc<Analysis>>,
    /// The results for whole stacks, by open document.
    kept: BTreeMap<String, Rc<RefCell<Kept>>>,
    /// The last words that were searched for in all files, and the analyses of those files.
    pub wide: Option<(BTreeSet<String>, Rc<Vec<Group>>)>,
    /// The request that is being answered.
    pub asked: Option<RequestId>,
    /// The requests that the editor has cancelled; the thread that reads the input adds them.
    pub cancelled: Cancelled,
    /// Documents whose diagnostics must be published again, the next one last.
    stale: Vec<String>,
    told: BTreeMap<String, Told>,
}

/// Abilities that only some editors have.
#[derive(Clone, Copy, Default)]
pub struct Can {
    /// It can report changes of files that are not open, if asked to.
    pub watch: bool,
    /// It can show a page.
    pub show: bool,
    /// It can show progress.
    pub progress: bool,
}

/// The diagnostics published for a file.
#[derive(Clone)]
struct Told {
    uri: Uri,
    diagnostics: Vec<Diagnostic>,
}

impl<'w> Session<'w> {
    /// A session with an editor that has these abilities.
    pub fn new(world: &'w dyn World, editor: &InitializeParams) -> Session<'w> {
        let ClientCapabilities { general, text_document, workspace, window, .. } = &editor.capabilities;
        let watched = workspace.as_ref().and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = window.as_ref();
        let can = Can {
            watch: watched.and_then(|watched| watched.dynamic_registration).unwrap_or(false),
            show: window.and_then(|window| window.show_document.as_ref()).is_some_and(|show| show.support),
            progress: window.and_then(|window| window.work_done_progress).unwrap_or(false),
        };
        let columns = Columns::of(general.as_ref().and_then(|general| general.position_encodings.as_ref()));
        let published = text_document.as_ref().and_then(|text| text.publish_diagnostics.as_ref());
        Session {
            world,
            columns,
            documents: Documents::default(),
            shelf: Shelf::of(world),
            folders: folders(world, editor),
            has_related: published.and_then(|can| can.related_information).unwrap_or(false),
            can,
            failed: BTreeMap::new(),
            analyses: BTreeMap::new(),
            kept: BTreeMap::new(),
            wide: None,
            asked: None,
            cancelled: Cancelled::default(),
            stale: Vec::new(),
            told: BTreeMap::new(),
        }
    }

    // ---- what the editor tells ----

    /// A document was opened.
    pub fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let opened = params.text_document;
        let name = documents::name_of(self.world, &opened.uri);
        let document = Document { uri: opened.uri, version: opened.version };
        self.documents.open(name.clone(), document, opened.text);
        self.forget(&name);
    }

    /// A document's text changed.
    pub fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let name = documents::name_of(self.world, &params.text_document.uri);
        self.documents.change(&name, params.text_document.version, params.content_changes, self.columns);
        self.failed.remove(&name);
        self.forget(&name);
    }

    /// A document was closed: its file counts again.
    pub fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let name = documents::name_of(self.world, &params.text_document.uri);
        self.documents.close(&name);
        self.kept.remove(&name);
        self.failed.remove(&name);
        self.forget(&name);
    }

    /// Files changed that are not open.
    pub fn files_changed(&mut self) {
        self.analyses.clear();
        self.wide = None;
        self.stale = self.documents.names();
    }

    /// Workspace folders were added or removed.
    pub fn folders_changed(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let named = |folders: Vec<WorkspaceFolder>| -> Vec<String> {
            folders.iter().map(|folder| documents::name_of(self.world, &folder.uri)).collect()
        };
        let (gone, new) = (named(params.event.removed), named(params.event.added));
        self.folders.retain(|folder| !gone.contains(folder) && !new.contains(folder));
        self.folders.extend(new);
        self.wide = None;
    }

    /// Replaces the failures of a document's tests by these, for its current text.
    pub fn tested(&mut self, name: &str, failed: Vec<Diagnostic>) {
        if self.documents.get(name).is_some() {
            self.failed.insert(name.to_string(), failed);
            self.stale.retain(|known| known != name);
            self.stale.push(name.to_string());
        }
    }

    /// Whether an open document's text differs from its file.
    pub fn is_unsaved(&self, name: &str) -> bool {
        let open = self.documents.texts().get(name);
        open.is_some_and(|open| self.world.read_text(name).ok().as_ref() != Some(open))
    }

    /// Discards all that depends on a document.
    fn forget(&mut self, name: &str) {
        self.wide = None;
        let depends: BTreeSet<String> =
            self.analyses.iter().filter(|(_, known)| known.depends_on(name)).map(|(name, _)| name.clone()).collect();
        self.analyses.retain(|known, _| known != name && !depends.contains(known));
        let is_open = |name: &String| self.documents.get(name).is_some();
        let others = depends.into_iter().filter(|other| other != name && is_open(other));
        let mut stale: Vec<String> = others.collect();
        stale.push(name.to_string());
        self.stale.retain(|known| !stale.contains(known));
        self.stale.extend(stale);
    }

    // ---- what is known ----

    /// Whether the editor has cancelled the request that is being answered.
    pub fn is_cancelled(&self) -> bool {
        self.asked.as_ref().is_some_and(|id| self.cancelled.has(id))
    }

    /// The world with the editor's texts.
    pub fn overlay(&self) -> Overlay<'_> {
        Overlay { world: self.world, texts: self.documents.texts() }
    }

    /// The analysis of a document, and its file in it; `None` if it cannot be read.
    pub fn analysis(&mut self, name: &str) -> Option<(Rc<Analysis>, FileId)> {
        let kept = Rc::clone(self.kept.entry(name.to_string()).or_default());
        let overlay = self.overlay();
        let library = self.shelf.name_of(name);
        let module = library.as_deref().and_then(|name| name.split('/').nth(1));
        let key = module.unwrap_or(name);
        if !self.analyses.contains_key(key) {
            let known = match module {
                Some(module) => Analysis::of_library(&overlay, module),
                None => Analysis::of(&overlay, name, kept),
            };
            self.analyses.insert(key.to_string(), Rc::new(known));
        }
        let known = Rc::clone(self.analyses.get(key)?);
        let file = known.file(library.as_deref().unwrap_or(name))?;
        Some((known, file))
    }

    /// The text of a file, as the editor has it.
    pub fn text(&self, name: &str) -> Option<String> {
        self.overlay().read_text(name).ok()
    }

    /// The analysis of a document with another text.
    pub fn analysis_of(&self, name: &str, text: String) -> Analysis {
        let mut texts = self.documents.texts().clone();
        texts.insert(name.to_string(), text);
        Analysis::of_files(&Overlay { world: self.world, texts: &texts }, &[name.to_string()])
    }

    /// The address under which an editor finds a file.
    pub fn address(&self, name: &str) -> Option<Uri> {
        if let Some(document) = self.documents.get(name) {
            return Some(document.uri.clone());
        }
        match name.starts_with('/') {
            true => Uri::from_file_path(name),
            false => Uri::from_file_path(self.shelf.source(self.world, name)?),
        }
    }

    // ---- what the editor is told ----

    /// The diagnostics of the next document that are not yet published; `None` if all are.
    pub fn tell_next(&mut self) -> Option<Vec<PublishDiagnosticsParams>> {
        let name = self.stale.pop()?;
        let is_open = self.documents.get(&name).is_some();
        if is_open && self.shelf.name_of(&name).is_none() {
            self.analysis(&name);
        }
        Some(self.tell())
    }

    fn tell(&mut self) -> Vec<PublishDiagnosticsParams> {
        let mut now: BTreeMap<String, Told> = BTreeMap::new();
        let is_stale = |name: &String| self.stale.contains(name);
        let is_open = |name: &String| self.documents.get(name).is_some();
        for (root, known) in self.analyses.iter().filter(|(name, _)| is_open(name) && !is_stale(name)) {
            for (name, diagnostic) in self.shown(root, known) {
                // Diagnostics of an open document come from its own check only.
                if &name != root && self.documents.get(&name).is_some() {
                    continue;
                }
                let Some(uri) = self.address(&name) else { continue };
                let told = now.entry(name).or_insert(Told { uri, diagnostics: Vec::new() });
                if !told.diagnostics.contains(&diagnostic) {
                    told.diagnostics.push(diagnostic);
                }
            }
        }
        let before = std::mem::take(&mut self.told);
        // Diagnostics of a file that is not open come from all documents that use it.
        let waits = |name: &String| is_stale(name) || !self.stale.is_empty() && !is_open(name);
        for (name, told) in &before {
            // A file that is not yet checked again keeps its diagnostics.
            match waits(name) {
                true => drop(now.insert(name.clone(), told.clone())),
                false => {
                    let empty = Told { uri: told.uri.clone(), diagnostics: Vec::new() };
                    now.entry(name.clone()).or_insert(empty);
                }
            }
        }
        now.retain(|name, _| !waits(name) || before.contains_key(name));
        let is_new = |name: &String, told: &Told| {
            let same = before.get(name).is_some_and(|known| known.diagnostics == told.diagnostics);
            !waits(name) && !same
        };
        let news = now.iter().filter(|(name, told)| is_new(name, told));
        let news = news.map(|(name, told)| PublishDiagnosticsParams {
            uri: told.uri.clone(),
            diagnostics: told.diagnostics.clone(),
            version: self.documents.get(name).map(|document| document.version),
        });
        let news = news.collect();
        now.retain(|_, told| !told.diagnostics.is_empty());
        self.told = now;
        news
    }

    /// The diagnostics of a document's check, by file.
    fn shown(&self, root: &str, known: &Analysis) -> Vec<(String, Diagnostic)> {
        let address = |name: &str| self.address(name);
        let places = Places::new(&known.checked.sources, self.columns, &address);
        let location = |span| places.location(span);
        let page = |code: &str| Uri::from_file_path(self.shelf.page(self.world, code)?);
        let shower = Shower { location: &location, page: &page, has_related: self.has_related };
        let shown = known.diagnostics().iter().filter_map(|found| shower.show(found));
        let shown = shown.map(|(file, shown)| (known.checked.sources.file(file).name.clone(), shown));
        let failure = known.failure.iter().map(|failure| (root.to_string(), diagnostics::of_failure(failure)));
        let failed = self.failed.get(root).into_iter().flatten().map(|failed| (root.to_string(), failed.clone()));
        failure.chain(shown).chain(failed).collect()
    }
}

/// The editor's workspace folders; older fields count if the newest is missing.
#[allow(deprecated)]
fn folders(world: &dyn World, editor: &InitializeParams) -> Vec<String> {
    let named = editor.workspace_folders.iter().flatten().map(|folder| folder.uri.clone());
    let mut uris: Vec<Uri> = named.collect();
    if uris.is_empty() {
        uris.extend(editor.root_uri.clone());
    }
    let is_file = |uri: &&Uri| uri.as_str().starts_with("file:");
    uris.iter().filter(is_file).map(|uri| documents::name_of(world, uri)).collect()
}
