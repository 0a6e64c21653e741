//! How an operation is written: words and marks, `{field}` for the content of a field, `< … >` for a part that is left
//! out if its first field is empty. `=` stands for a constant, which is written where it is used.

use std::sync::OnceLock;

use super::{Fallible, Kind, OpKind, Row};

/// A piece of an operation's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Literal text, blanks included.
    Text(&'static str),
    /// A field, by its index in [`Row::fields`].
    Field(usize),
    Perhaps(Vec<Piece>),
}

/// How a line with this operation begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// A word, which may contain a point.
    Word(&'static str),
    /// A word, a point, and the content of this field.
    WordAndField(&'static str, usize),
    /// The content of this field: the word of an arithmetic or a comparison.
    Field(usize),
    /// A constant.
    None,
}

impl Row {
    /// The pieces of the text, in order.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut rest = self.text;
        self.pieces_of(&mut rest)
    }

    fn pieces_of(&self, rest: &mut &'static str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(first) = rest.chars().next() {
            let text: &'static str = rest;
            match first {
                '{' => {
                    let end = text.find('}').unwrap_or(text.len() - 1);
                    let place = self.fields.iter().position(|(name, _)| *name == &text[1..end]);
                    pieces.push(Piece::Field(place.unwrap_or(usize::MAX)));
                    *rest = &text[end + 1..];
                }
                '<' => {
                    *rest = &text[1..];
                    pieces.push(Piece::Perhaps(self.pieces_of(rest)));
                }
                '>' => {
                    *rest = &text[1..];
                    return pieces;
                }
                _ => {
                    let end = text.find(['{', '<', '>']).unwrap_or(text.len());
                    pieces.push(Piece::Text(&text[..end]));
                    *rest = &text[end..];
                }
            }
        }
        pieces
    }

    /// The first word, and the remaining pieces.
    pub fn head(&self) -> (Head, Vec<Piece>) {
        let mut pieces = self.pieces();
        match pieces.first().cloned() {
            Some(Piece::Field(place)) => (Head::Field(place), pieces.split_off(1)),
            Some(Piece::Text("=")) | None => (Head::None, Vec::new()),
            Some(Piece::Text(text)) => match (text.split_once(' '), text.strip_suffix('.')) {
                (None, Some(word)) => match pieces[1] {
                    Piece::Field(place) => (Head::WordAndField(word, place), pieces.split_off(2)),
                    _ => (Head::Word(text), pieces.split_off(1)),
                },
                (None, None) => (Head::Word(text), pieces.split_off(1)),
                (Some((word, rest)), _) => {
                    pieces[0] = Piece::Text(rest);
                    (Head::Word(word), pieces)
                }
            },
            Some(Piece::Perhaps(_)) => (Head::None, pieces),
        }
    }
}

/// A row as the parser looks it up.
pub(crate) struct Written {
    pub row: usize,
    pub of: &'static Row,
    pub head: Head,
    pub pieces: Vec<Piece>,
}

fn written(rows: &'static [Row]) -> Vec<Written> {
    let one = |(row, of): (usize, &'static Row)| {
        let (head, pieces) = of.head();
        Written { row, of, head, pieces }
    };
    rows.iter().enumerate().map(one).collect()
}

/// All operations that do not branch.
pub(crate) fn plain() -> &'static [Written] {
    static PLAIN: OnceLock<Vec<Written>> = OnceLock::new();
    PLAIN.get_or_init(|| written(OpKind::ROWS))
}

/// All operations that may refuse.
pub(crate) fn fallible() -> &'static [Written] {
    static FALLIBLE: OnceLock<Vec<Written>> = OnceLock::new();
    FALLIBLE.get_or_init(|| written(Fallible::ROWS))
}

/// All words that begin an operation of either kind, including those of arithmetic and comparisons.
pub fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = super::Binary::ALL.iter().map(|op| op.word()).collect();
    words.extend(super::Compare::ALL.iter().map(|op| op.word()));
    for written in plain().iter().chain(fallible()) {
        if let Head::Word(word) | Head::WordAndField(word, _) = written.head {
            words.push(word);
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

impl Kind {
    /// Whether the value must have a name, because no literal can stand for it.
    pub fn is_named(self) -> bool {
        matches!(
            self,
            Kind::Message
                | Kind::Borrowed
                | Kind::Object
                | Kind::Own
                | Kind::Settling
                | Kind::Neighbour
                | Kind::Parent
                | Kind::PerhapsMessage
                | Kind::Array
                | Kind::Whole
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field is written once, in order; a header is written with its variant.
    #[test]
    fn every_field_is_written_in_its_place() {
        fn fields(pieces: &[Piece], found: &mut Vec<usize>) {
            for piece in pieces {
                match piece {
                    Piece::Text(_) => {}
                    Piece::Field(place) => found.push(*place),
                    Piece::Perhaps(inner) => fields(inner, found),
                }
            }
        }
        for row in OpKind::ROWS.iter().chain(Fallible::ROWS).filter(|row| row.text != "=") {
            let mut found = Vec::new();
            fields(&row.pieces(), &mut found);
            let header = row.fields.iter().position(|(_, kind)| *kind == Kind::Header);
            let wanted: Vec<usize> = (0..row.fields.len()).filter(|place| Some(*place) != header).collect();
            assert_eq!(found, wanted, "{}: {}", row.name, row.text);
        }
    }

    #[test]
    fn heads_are_found() {
        let head = |name: &str| OpKind::ROWS.iter().find(|row| row.name == name).map(|row| row.head());
        assert_eq!(head("Now"), Some((Head::Word("now"), vec![])));
        assert_eq!(head("Binary").map(|head| head.0), Some(Head::Field(0)));
        assert_eq!(head("Load").map(|head| head.0), Some(Head::WordAndField("load", 0)));
        assert_eq!(head("GetAttribute").map(|head| head.0), Some(Head::Word("get.attribute")));
        assert_eq!(head("Const").map(|head| head.0), Some(Head::None));
    }
}
