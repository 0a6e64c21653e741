//! Line breaks: the author's, made regular, and breaks in blocks that do not fit on a line.

use super::line::{Line, WIDTH};
use super::pieces::{next_token, Piece};
use crate::kinds::SyntaxKind::*;

/// What separates a piece from the one before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Break {
    None,
    Line,
    EmptyLine,
}

/// The breaks before all pieces.
#[derive(Debug)]
pub struct Breaks {
    pub before: Vec<Break>,
    /// Whether we set the break, on a line that was too long: a comment's old column then means nothing.
    pub is_forced: Vec<bool>,
}

/// The author's line breaks, made regular.
pub fn of_author(pieces: &[Piece]) -> Breaks {
    let before: Vec<Break> = (0..pieces.len()).map(|at| author_break(pieces, at)).collect();
    let mut breaks = Breaks { is_forced: vec![false; before.len()], before };
    breaks.open_braces(pieces);
    breaks
}

fn author_break(pieces: &[Piece], at: usize) -> Break {
    let piece = &pieces[at];
    let Some(last) = at.checked_sub(1).map(|last| &pieces[last]) else { return Break::None };
    if is_joined(last, piece) {
        return Break::None;
    }
    let is_item = piece.begins_part && piece.around() == Some(FILE);
    match piece.newlines {
        0 if is_item && !last.is_comment() => Break::Line,
        0 => Break::None,
        1 => Break::Line,
        _ if last.opens() || piece.closes() => Break::Line,
        // No empty lines within a part.
        _ if next_token(pieces, at).is_some_and(|next| !next.begins_part && !next.closes()) => Break::Line,
        _ if next_token(pieces, at).is_some_and(|next| next.kind == PIPE) => Break::Line,
        _ => Break::EmptyLine,
    }
}

/// Whether the piece stays on the line of the last: a block begins on the line of its head, and `else` on that of the
/// brace before it.
fn is_joined(last: &Piece, piece: &Piece) -> bool {
    if last.is_comment() {
        return false;
    }
    match piece.kind {
        L_BRACE => !piece.begins_part,
        COMMA => true,
        IDENT => piece.text == "else" && piece.owner() == IF && last.kind == R_BRACE,
        _ => false,
    }
}

impl Breaks {
    /// Breaks after `{` and before `}` of braces that contain a line break.
    fn open_braces(&mut self, pieces: &[Piece]) {
        for open in 0..pieces.len() {
            let Some(close) = pieces[open].partner.filter(|close| pieces[open].kind == L_BRACE && *close > open) else {
                continue;
            };
            if self.before[open + 1..=close].iter().all(|b| *b == Break::None) {
                continue;
            }
            let comment_behind = pieces[open + 1].is_comment() && self.before[open + 1] == Break::None;
            if !comment_behind {
                self.at_least_line(open + 1);
            }
            self.at_least_line(close);
        }
    }

    fn at_least_line(&mut self, at: usize) {
        self.before[at] = self.before[at].max(Break::Line);
    }

    /// Breaks the outermost braces on every line that is too long; returns whether there was one.
    pub fn break_long(&mut self, pieces: &[Piece], lines: &[Line]) -> bool {
        let mut any = false;
        for line in lines.iter().filter(|line| line.code_width(pieces) > WIDTH) {
            let mut at = line.first;
            while at < line.end {
                match pieces[at].partner.filter(|close| (at + 1..line.end).contains(close)) {
                    Some(close) if is_breakable(pieces, at, close) => {
                        self.break_parts(pieces, at, close);
                        any = true;
                        at = close;
                    }
                    _ => at += 1,
                }
            }
        }
        any
    }

    /// Puts every part within the braces on its own line.
    fn break_parts(&mut self, pieces: &[Piece], open: usize, close: usize) {
        let mut at = open + 1;
        while at < close {
            let follows_stroke = pieces[at - 1].kind == PIPE;
            if pieces[at].begins_part && !follows_stroke {
                self.force(at);
            }
            // What is in deeper brackets stays together.
            at = pieces[at].partner.filter(|partner| *partner > at).unwrap_or(at) + 1;
        }
        self.force(open + 1);
        self.force(close);
    }

    fn force(&mut self, at: usize) {
        if self.before[at] == Break::None {
            self.before[at] = Break::Line;
            self.is_forced[at] = true;
        }
    }
}

/// Whether the braces can be broken: those of blocks and lists that are not empty. A record or a pattern is read as one
/// word. A record that contains a block is not broken: it breaks where the block does, so the block's braces come
/// first.
fn is_breakable(pieces: &[Piece], open: usize, close: usize) -> bool {
    let is_word = |at: &usize| matches!(pieces[*at].owner(), RECORD_EXPR | ALTERNATIVE_PATTERN);
    let is_block = |at: usize| pieces[at].kind == L_BRACE && !is_word(&at) && pieces[at].partner != Some(at + 1);
    pieces[open].kind == L_BRACE && close > open + 1 && (!is_word(&open) || (open + 1..close).any(is_block))
}
