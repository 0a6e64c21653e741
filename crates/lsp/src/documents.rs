//! The documents that an editor has open, by the names that the compiler uses for them.

use std::collections::BTreeMap;

use ls_types::{TextDocumentContentChangeEvent, Uri};
use mokume_base::world::World;

use crate::text::{self, Columns};

/// What the editor says about an open document besides its text.
pub struct Document {
    /// The address, as the editor writes it.
    pub uri: Uri,
    pub version: i32,
}

/// All open documents.
#[derive(Default)]
pub struct Documents {
    open: BTreeMap<String, Document>,
    texts: BTreeMap<String, String>,
}

impl Documents {
    /// Adds a document.
    pub fn open(&mut self, name: String, document: Document, text: String) {
        self.texts.insert(name.clone(), text);
        self.open.insert(name, document);
    }

    /// Removes a document: the editor's text no longer counts.
    pub fn close(&mut self, name: &str) -> Option<Document> {
        self.texts.remove(name);
        self.open.remove(name)
    }

    /// Applies changes to a document in order; does nothing if it is not open.
    pub fn change(&mut self, name: &str, version: i32, changes: Vec<TextDocumentContentChangeEvent>, columns: Columns) {
        let (Some(document), Some(text)) = (self.open.get_mut(name), self.texts.get_mut(name)) else { return };
        document.version = version;
        changes.into_iter().for_each(|change| text::change(text, change, columns));
    }

    /// An open document.
    pub fn get(&self, name: &str) -> Option<&Document> {
        self.open.get(name)
    }

    /// The texts of all open documents, by name.
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// The names of all open documents.
    pub fn names(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }
}

/// The compiler's name of a document: the path of its file, with links resolved; for other documents the whole address.
pub fn name_of(world: &dyn World, uri: &Uri) -> String {
    let is_file = uri.as_str().starts_with("file:");
    match uri.to_file_path().filter(|_| is_file) {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            world.absolute(&path).unwrap_or(path)
        }
        None => uri.as_str().to_string(),
    }
}
