//! Headers as one self-contained SVG: rows of 32 bits, fields as boxes, and beside them where each value comes from.

use crate::headers::{rows, NONE};
use crate::svg::{width, Anchor, Svg, FONT};
use crate::{HeaderPart, HeaderPicture};

const BIT: f64 = 17.0;
const ROW: f64 = 30.0;
const MARGIN: f64 = 24.0;
const LEGEND: f64 = 32.0 * BIT + 2.0 * MARGIN;
const LINE: f64 = 16.0;

/// The pictures, one below the other.
pub fn headers_svg(title: &str, pictures: &[HeaderPicture]) -> String {
    let mut svg = Svg::default();
    let (mut y, mut widest) = (MARGIN + 14.0, width(title, 16.0));
    svg.text((MARGIN, y), Anchor::Start, "title", title);
    y += 34.0;
    if pictures.is_empty() {
        svg.text((MARGIN, y), Anchor::Start, "says", NONE);
        widest = widest.max(width(NONE, 11.0));
        y += 12.0;
    }
    for picture in pictures {
        let head = picture.head();
        svg.text((MARGIN, y), Anchor::Start, "wire", &head);
        widest = widest.max(width(&head, 13.0));
        y += 22.0;
        for part in &picture.parts {
            let (below, right) = draw(part, y, &mut svg);
            widest = widest.max(right);
            y = below;
        }
        y += 12.0;
    }
    svg.finish((widest + 2.0 * MARGIN, y + MARGIN), title, &style(), "")
}

/// Draws a part; returns its bottom and right ends.
fn draw(part: &HeaderPart, from: f64, svg: &mut Svg) -> (f64, f64) {
    let mut y = from;
    let mut right = width(&part.title, 11.5);
    if !part.title.is_empty() {
        svg.text((MARGIN, y + 4.0), Anchor::Start, "when", &part.title);
        y += 22.0;
    }
    let rows = rows(part);
    let top = y;
    if !rows.is_empty() {
        for bit in 0..32 {
            let x = MARGIN + (f64::from(bit) + 0.5) * BIT;
            svg.text((x, y), Anchor::Middle, "bit", &bit.to_string());
        }
        y += 6.0;
    }
    for row in &rows {
        for piece in row {
            let cell = &part.cells[piece.cell];
            let x = MARGIN + f64::from(piece.from) * BIT;
            let w = f64::from(piece.to - piece.from) * BIT;
            let first = cell.says.starts_with('=') || cell.says.starts_with("zero");
            svg.rect((x, y), (w, ROW), 0.0, if first { "fixed" } else { "field" });
            let middle = (x + w / 2.0, y + ROW / 2.0 + 4.0);
            // The other parts of a long field have its name, too, in grey: two empty boxes side by side would be of nobody.
            if !piece.named && width(&cell.name, 11.5) + 8.0 <= w {
                svg.text(middle, Anchor::Middle, "part", &cell.name);
            }
            if piece.named {
                let room = ((w - 4.0) / width("m", 11.5)).max(0.0) as usize;
                let name = crate::headers_text::label(&cell.name, room);
                svg.text(middle, Anchor::Middle, "name", &name);
            }
        }
        y += ROW;
    }
    let mut line = top + 4.0;
    let said = part.cells.iter().map(|cell| format!("{}: {}", cell.name, cell.says));
    for text in said.chain(part.notes.iter().map(|note| format!("({note})"))) {
        svg.text((LEGEND, line + 8.0), Anchor::Start, "says", &text);
        right = right.max(LEGEND - MARGIN + width(&text, 11.0));
        line += LINE;
    }
    (y.max(line) + 18.0, right.max(32.0 * BIT))
}

fn style() -> String {
    format!(
        "text {{ font-family: {FONT}; font-size: 11.5px; fill: #1f2937; }}\n\
         .title {{ font-size: 16px; font-weight: 600; }}\n\
         .wire {{ font-size: 13px; font-weight: 600; }}\n\
         .when {{ fill: #b45309; }}\n\
         .part {{ fill: #94a3b8; font-style: italic; }}\n\
         .bit {{ font-size: 9px; fill: #64748b; }}\n\
         .says {{ font-size: 11px; fill: #475569; }}\n\
         .field {{ fill: #eff6ff; stroke: #1d4ed8; stroke-width: 1.2; }}\n\
         .fixed {{ fill: #f1f5f9; stroke: #475569; stroke-width: 1.2; }}\n"
    )
}
