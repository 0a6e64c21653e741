//! Source files and places in them.

/// A file of one run of the compiler: an index into its [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A range of octets in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The octets `start .. end` of a file's text. Both should be character boundaries.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The smallest span that holds both; both must be of one file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One file's name (as the user would type it) and text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    /// Where each line begins.
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        SourceFile { name, text, line_starts }
    }

    /// The number, from 0, of the line that contains the offset.
    pub fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Where a line begins, by its number from 0; the end of the text for a line after the last.
    pub fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line).map_or(self.text.len(), |start| *start as usize)
    }
}

/// All files of one run, by [`FileId`].
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file. Nothing is read: the caller gives the text, and diagnostics show the name.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile::new(name.into(), text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of an id. Panics if the id is of another map that has more files.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// Line and column, both from 1, the column in characters.
    pub fn line_column(&self, file: FileId, offset: u32) -> (u32, u32) {
        let file = self.file(file);
        let mut end = (offset as usize).min(file.text.len());
        while !file.text.is_char_boundary(end) {
            end -= 1;
        }
        let line = file.line_of(end as u32);
        (line as u32 + 1, file.text[file.line_start(line)..end].chars().count() as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let mut sources = SourceMap::default();
        let file = sources.add("a", "é1\n\n23");
        let places: Vec<(u32, u32)> = (0..9).map(|offset| sources.line_column(file, offset)).collect();
        assert_eq!(places, [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3), (3, 3)]);
        let empty = sources.add("b", "");
        assert_eq!(sources.line_column(empty, 5), (1, 1));
        assert_eq!((sources.file(file).line_start(2), sources.file(file).line_start(9)), (5, 7));
    }
}
