//! Headers as text, in boxes of `+-+-+` as in RFCs, and below them where each field's value comes from.

use std::fmt::Write;

use crate::headers::{rows, Piece};
use crate::{HeaderPart, HeaderPicture};

const TENS: &str = " 0                   1                   2                   3";
const ONES: &str = " 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1";

/// The pictures, one below the other.
pub fn headers_text(pictures: &[HeaderPicture]) -> String {
    let mut out = String::new();
    for picture in pictures {
        let _ = writeln!(out, "{}: {}, {}\n", picture.wire, picture.headers.join(" "), picture.order);
        for part in &picture.parts {
            if !part.title.is_empty() {
                let _ = writeln!(out, "{}\n", part.title);
            }
            draw(part, &mut out);
        }
    }
    out
}

fn draw(part: &HeaderPart, out: &mut String) {
    let rows = rows(part);
    if !rows.is_empty() {
        let _ = writeln!(out, "{TENS}\n{ONES}");
        for (number, row) in rows.iter().enumerate() {
            let above = number.checked_sub(1).map_or(&[][..], |before| &rows[before]);
            let _ = writeln!(out, "{}", rule(above, row));
            let _ = writeln!(out, "{}", line(part, row));
        }
        let _ = writeln!(out, "{}\n", rule(rows.last().map_or(&[], |row| row), &[]));
    }
    let widest = part.cells.iter().map(|cell| cell.name.chars().count()).max().unwrap_or(0);
    for cell in &part.cells {
        let bits = if cell.bits == 1 { "1 bit  ".into() } else { format!("{:<2} bits", cell.bits) };
        let _ = writeln!(out, "    {:<widest$}  {bits}  {}", cell.name, cell.says);
    }
    for note in &part.notes {
        let _ = writeln!(out, "    ({note})");
    }
    out.push('\n');
}

/// The cell of a row at a bit.
fn at(row: &[Piece], bit: u32) -> Option<usize> {
    row.iter().find(|piece| (piece.from..piece.to).contains(&bit)).map(|piece| piece.cell)
}

/// The line between two rows; open within a field that continues.
fn rule(above: &[Piece], below: &[Piece]) -> String {
    let edge = |bit: u32| {
        let (over, under) = (at(above, bit), at(below, bit));
        over != under
    };
    let mut line = String::new();
    for bit in 0..=32 {
        let (before, here) = (bit > 0 && edge(bit - 1), bit < 32 && edge(bit));
        let ends = |row: &[Piece]| row.iter().any(|piece| piece.from == bit || piece.to == bit);
        line.push(if before || here || ends(above) && ends(below) { '+' } else { ' ' });
        if bit < 32 {
            line.push(if here { '-' } else { ' ' });
        }
    }
    line.trim_end().to_string()
}

fn line(part: &HeaderPart, row: &[Piece]) -> String {
    let mut line: Vec<char> = vec![' '; 65];
    for piece in row {
        let (left, right) = (2 * piece.from as usize, 2 * piece.to as usize);
        line[left] = '|';
        line[right] = '|';
        if piece.named {
            let name = label(&part.cells[piece.cell].name, right - left - 1);
            let from = left + 1 + (right - left - 1 - name.chars().count()) / 2;
            for (place, c) in name.chars().enumerate() {
                line[from + place] = c;
            }
        }
    }
    line.into_iter().collect::<String>().trim_end().to_string()
}

/// A name cut to the available width.
pub(crate) fn label(name: &str, room: usize) -> String {
    match name.chars().count() <= room {
        true => name.to_string(),
        false => name.chars().take(room).collect(),
    }
}
