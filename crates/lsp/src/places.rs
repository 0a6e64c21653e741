//! Places of a checked document in the editor's terms: file, line, column.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ls_types::{Location, Range, Uri};
use mokume_base::{FileId, SourceMap, Span};

use crate::text::{Columns, Lines};

/// The files of one analysis and their lines.
pub struct Places<'a> {
    sources: &'a SourceMap,
    columns: Columns,
    address: &'a dyn Fn(&str) -> Option<Uri>,
    lines: RefCell<BTreeMap<FileId, Rc<Lines<'a>>>>,
}

impl<'a> Places<'a> {
    /// Places in these files; `address` gives the editor's address of a file by name.
    pub fn new(sources: &'a SourceMap, columns: Columns, address: &'a dyn Fn(&str) -> Option<Uri>) -> Places<'a> {
        Places { sources, columns, address, lines: RefCell::default() }
    }

    /// The lines of a file.
    pub fn lines(&self, file: FileId) -> Rc<Lines<'a>> {
        let mut known = self.lines.borrow_mut();
        let sources = self.sources;
        Rc::clone(known.entry(file).or_insert_with(|| Rc::new(Lines::new(&sources.file(file).text, self.columns))))
    }

    /// A span as a range of the editor.
    pub fn range(&self, span: Span) -> Range {
        self.lines(span.file).range(span.start as usize..span.end as usize)
    }

    /// A span as a location of the editor; `None` if it cannot open the file.
    pub fn location(&self, span: Span) -> Option<Location> {
        let uri = (self.address)(&self.sources.file(span.file).name)?;
        Some(Location { uri, range: self.range(span) })
    }
}
