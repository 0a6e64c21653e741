//! Lines: which pieces are on each, their indentation, and their text.

use super::breaks::{Break, Breaks};
use super::line::{Line, INDENT};
use super::pieces::{next_token, Piece};
use super::space;
use crate::kinds::SyntaxKind::*;

/// The brackets and nodes that are open at a place.
struct Frame {
    /// The indentation of its parts.
    inner: usize,
    /// The indentation of the line with its closing bracket.
    close: usize,
    /// The indentation of the line on which its current part began.
    part: usize,
    is_braced: bool,
}

/// Breaks the pieces into lines, without alignment over several lines.
pub fn lines(pieces: &[Piece], breaks: &Breaks) -> Vec<Line> {
    let mut frames = vec![Frame { inner: 0, close: 0, part: 0, is_braced: true }];
    let mut lines: Vec<Line> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let broken = breaks.before[at];
        match lines.last_mut().filter(|_| broken == Break::None) {
            Some(line) => {
                line.blanks.push(space::between(&pieces[at - 1], piece));
                line.end = at + 1;
            }
            None => lines.push(Line {
                indent: indentation(pieces, at, frames.last().expect("the file's frame is never closed")),
                is_set_apart: broken == Break::EmptyLine,
                is_forced: breaks.is_forced[at],
                first: at,
                end: at + 1,
                blanks: vec![0],
            }),
        }
        let indent = lines.last().map_or(0, |line| line.indent);
        step(&mut frames, piece, indent);
    }
    lines
}

fn indentation(pieces: &[Piece], at: usize, frame: &Frame) -> usize {
    let piece = &pieces[at];
    let Some(next) = next_token(pieces, at) else { return frame.inner };
    match () {
        _ if piece.closes() => frame.close,
        _ if next.begins_part || next.closes() || !frame.is_braced => frame.inner,
        _ => frame.inner + INDENT,
    }
}

fn step(frames: &mut Vec<Frame>, piece: &Piece, indent: usize) {
    let Some(frame) = frames.last_mut() else { return };
    if piece.begins_part {
        frame.part = indent;
    }
    if piece.opens() {
        let base = if piece.kind == L_BRACE { frame.part } else { indent };
        frames.push(Frame { inner: base + INDENT, close: base, part: indent, is_braced: piece.kind == L_BRACE });
    } else if piece.closes() && frames.len() > 1 {
        frames.pop();
    }
}

/// The text of the lines.
pub fn render(pieces: &[Piece], lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if line.is_set_apart {
            text.push('\n');
        }
        text.push_str(&" ".repeat(line.indent));
        for (piece, blanks) in pieces[line.first..line.end].iter().zip(&line.blanks) {
            text.push_str(&" ".repeat(*blanks));
            text.push_str(&piece.text);
        }
        text.push('\n');
    }
    text
}
