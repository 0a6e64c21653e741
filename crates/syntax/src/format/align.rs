//! Columns aligned over several lines: the `=` of a stack's layers, the types of a wire's fields, the braces of
//! one-line scopes and arms, and comments behind code.

use super::line::Line;
use super::pieces::Piece;
use crate::kinds::SyntaxKind::{self, *};
use crate::kinds::SyntaxNode;

/// Sets the blanks of the lines so that columns align.
pub fn align(pieces: &[Piece], lines: &mut [Line]) {
    let columns: Vec<Option<(SyntaxKind, usize)>> = lines.iter().map(|line| column(pieces, line)).collect();
    let mut at = 0;
    while at < lines.len() {
        let Some((kind, _)) = columns[at] else {
            at += 1;
            continue;
        };
        let run = run(lines, &columns, at, kind);
        align_run(pieces, &mut lines[at..at + run], &columns[at..at + run]);
        at += run;
    }
    for line in lines {
        place_comment(pieces, line);
    }
}

/// The number of consecutive lines of the kind, from here on.
fn run(lines: &[Line], columns: &[Option<(SyntaxKind, usize)>], from: usize, kind: SyntaxKind) -> usize {
    let belongs = |at: usize| {
        columns[at].is_some_and(|(other, _)| other == kind)
            && !lines[at].is_set_apart
            && lines[at].indent == lines[from].indent
    };
    1 + (from + 1..lines.len()).take_while(|at| belongs(*at)).count()
}

fn align_run(pieces: &[Piece], lines: &mut [Line], columns: &[Option<(SyntaxKind, usize)>]) {
    let place =
        |line: &Line, at: &Option<(SyntaxKind, usize)>| at.map(|(_, piece)| (line.column_of(pieces, piece), piece));
    let widest = lines.iter().zip(columns).filter_map(|(line, at)| place(line, at)).map(|(column, _)| column).max();
    for (line, at) in lines.iter_mut().zip(columns) {
        if let (Some(widest), Some((column, piece))) = (widest, place(line, at)) {
            line.blanks[piece - line.first] += widest - column;
        }
    }
}

/// The piece of a line that is aligned with the neighbouring lines, and the kind of line.
fn column(pieces: &[Piece], line: &Line) -> Option<(SyntaxKind, usize)> {
    let node = pieces[line.first].begins.as_ref()?;
    let kind = node.kind();
    let on_line = |wanted: SyntaxKind| (line.first..line.end).find(|at| is_own(&pieces[*at], wanted, node));
    let piece = match kind {
        STACK_LAYER => on_line(EQ)?,
        WIRE_FIELD => on_line(COLON)? + 1,
        SCOPE => on_line(L_BRACE).filter(|at| *at == line.first + 1 && is_closed_on(pieces, line, *at))?,
        WIRE_ARM => brace_of_arm(pieces, line).filter(|brace| is_closed_on(pieces, line, *brace))?,
        _ => return None,
    };
    (piece < line.end).then_some((kind, piece))
}

fn is_own(piece: &Piece, kind: SyntaxKind, node: &SyntaxNode) -> bool {
    piece.kind == kind && piece.token.parent().as_ref() == Some(node)
}

fn brace_of_arm(pieces: &[Piece], line: &Line) -> Option<usize> {
    (line.first..line.end).find(|at| pieces[*at].kind == L_BRACE && pieces[*at].owner() == WIRE_BODY)
}

fn is_closed_on(pieces: &[Piece], line: &Line, brace: usize) -> bool {
    pieces[brace].partner.is_some_and(|close| close < line.end)
}

/// A comment behind code keeps its column if there is room.
fn place_comment(pieces: &[Piece], line: &mut Line) {
    let last = line.end - 1;
    if last == line.first || !pieces[last].is_comment() || line.is_forced {
        return;
    }
    let at = line.column_of(pieces, last);
    line.blanks[last - line.first] += pieces[last].column.saturating_sub(at);
}
