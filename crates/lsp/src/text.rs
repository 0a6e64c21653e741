//! Places in texts: octets inside, lines and columns for editors. Keeps: every position has an answer; one beyond the
//! text becomes the nearest end.

use std::cell::Cell;
use std::ops::Range;

use ls_types::{Position, PositionEncodingKind, TextDocumentContentChangeEvent};

/// The unit of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Columns {
    /// Octets, if the editor offers them.
    Utf8,
    /// UTF-16 units, which every editor supports.
    Utf16,
}

impl Columns {
    /// Octets if the editor offers them, else UTF-16 units.
    pub fn of(offered: Option<&Vec<PositionEncodingKind>>) -> Columns {
        match offered.is_some_and(|kinds| kinds.contains(&PositionEncodingKind::UTF8)) {
            true => Columns::Utf8,
            false => Columns::Utf16,
        }
    }

    /// The protocol's name of the unit.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Columns::Utf8 => PositionEncodingKind::UTF8,
            Columns::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    /// The number of columns of a text.
    pub fn count(self, text: &str) -> u32 {
        match self {
            Columns::Utf8 => text.len() as u32,
            Columns::Utf16 => text.encode_utf16().count() as u32,
        }
    }
}

/// A text with its lines, as an editor counts them: `\n`, `\r\n` and `\r` each end one.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    columns: Columns,
    /// An offset that was asked for, and its column: in a long line those that follow are counted from there.
    last: Cell<(usize, u32)>,
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub fn new(text: &'t str, columns: Columns) -> Lines<'t> {
        let octets = text.as_bytes();
        let ends = (0..octets.len()).filter(|at| match octets[*at] {
            b'\n' => true,
            b'\r' => octets.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        Lines { text, starts, columns, last: Cell::default() }
    }

    /// The editor's position of an offset; an offset within a character becomes the character's beginning.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        // Editors have no position between the two characters of `\r\n`.
        if offset > 0 && self.text.as_bytes()[offset - 1..].starts_with(b"\r\n") {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let known = Some(self.last.get()).filter(|(at, _)| (self.starts[line]..=offset).contains(at));
        let (at, before) = known.unwrap_or((self.starts[line], 0));
        let column = before + self.columns.count(&self.text[at..offset]);
        self.last.set((offset, column));
        Position::new(line as u32, column)
    }

    /// The offset of a position. Beyond a line's end it is that end; within a character, the character's beginning.
    pub fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() };
        let next = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.text.len());
        let line = self.text[start..next].trim_end_matches(['\r', '\n']);
        let mut column = 0;
        for (at, character) in line.char_indices() {
            column += self.columns.count(character.encode_utf8(&mut [0; 4]));
            if column > position.character {
                return start + at;
            }
        }
        start + line.len()
    }

    /// A range of octets as a range of the editor.
    pub fn range(&self, range: Range<usize>) -> ls_types::Range {
        ls_types::Range::new(self.position(range.start), self.position(range.end))
    }

    /// An editor's range as octets, in order.
    pub fn octets(&self, range: ls_types::Range) -> Range<usize> {
        let (one, other) = (self.offset(range.start), self.offset(range.end));
        one.min(other)..one.max(other)
    }
}

/// Applies an editor's change to a text.
pub fn change(text: &mut String, change: TextDocumentContentChangeEvent, columns: Columns) {
    match change.range {
        None => *text = change.text,
        Some(range) => {
            let octets = Lines::new(text, columns).octets(range);
            text.replace_range(octets, &change.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_units_of_utf_16_or_octets() {
        let text = "a\u{e9}\u{1f600}z\r\nnext\rlast\n";
        let (wide, octets) = (Lines::new(text, Columns::Utf16), Lines::new(text, Columns::Utf8));
        let z = text.find('z').unwrap();
        assert_eq!(wide.position(z), Position::new(0, 4));
        assert_eq!(octets.position(z), Position::new(0, 7));
        assert_eq!((wide.offset(Position::new(0, 4)), octets.offset(Position::new(0, 7))), (z, z));
        // Within a surrogate pair: the beginning of the character. Beyond the line: its end, before the line break.
        assert_eq!(wide.offset(Position::new(0, 3)), text.find('\u{1f600}').unwrap());
        assert_eq!(wide.offset(Position::new(0, 99)), z + 1);
        assert_eq!(wide.position(z + 2), wide.position(z + 1));
        assert_eq!(wide.position(text.find("last").unwrap()), Position::new(2, 0));
        assert_eq!(wide.offset(Position::new(99, 0)), text.len());
    }

    #[test]
    fn every_offset_is_found_again() {
        let text = "\u{feff}a\n\n\u{1f600}\u{1f600}b\r\n\r\u{e9}";
        for columns in [Columns::Utf8, Columns::Utf16] {
            let lines = Lines::new(text, columns);
            for (offset, character) in text.char_indices() {
                if !matches!(character, '\r' | '\n') {
                    assert_eq!(lines.offset(lines.position(offset)), offset, "{columns:?}");
                }
            }
        }
    }

    #[test]
    fn what_was_asked_for_before_changes_no_position() {
        let text = "a\u{e9}\u{1f600}z\r\n\u{1f600}next\rlast \u{e9}\n";
        for columns in [Columns::Utf8, Columns::Utf16] {
            for first in 0..=text.len() {
                for second in 0..=text.len() {
                    let lines = Lines::new(text, columns);
                    lines.position(first);
                    assert_eq!(lines.position(second), Lines::new(text, columns).position(second), "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn a_change_may_be_the_whole_text_or_a_part_of_it() {
        let mut text = "one\ntwo\n".to_string();
        let part = |range, text: &str| TextDocumentContentChangeEvent { range, range_length: None, text: text.into() };
        let range = ls_types::Range::new(Position::new(0, 3), Position::new(1, 1));
        change(&mut text, part(Some(range), " and T"), Columns::Utf16);
        assert_eq!(text, "one and Two\n");
        change(&mut text, part(None, "new"), Columns::Utf16);
        assert_eq!(text, "new");
    }
}
