//! A writer of SVG text. All text from outside goes through [`escape`].

use std::fmt::Write;

/// The advance of a character of the monospaced fonts below, relative to the font size.
const ADVANCE: f64 = 0.602;

pub(crate) const FONT: &str =
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

#[derive(Default)]
pub(crate) struct Svg {
    body: String,
}

#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The width of a text at a font size, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * ADVANCE
}

/// A text of at most `limit` characters. It ends with a whole word, as a part of a number looks like another number; a
/// word that is longer than half of the limit is cut.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= limit {
        return text.to_string();
    }
    let space = (limit / 2..limit.saturating_sub(1)).rev().find(|at| all[*at] == ' ');
    match space {
        Some(end) => all[..end].iter().collect::<String>() + " …",
        None => all[..limit.saturating_sub(1)].iter().collect::<String>() + "…",
    }
}

/// Text for XML: markup escaped, characters that XML 1.0 forbids replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Svg {
    /// A line between two points, in the picture's units from the top left, as in all functions here.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let _ = writeln!(self.body, "<line x1='{x1:.1}' y1='{y1:.1}' x2='{x2:.1}' y2='{y2:.1}' class='{class}'/>");
    }

    /// A rectangle by its top left corner and size, its corners rounded by `round`.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), round: f64, class: &str) {
        let _ = writeln!(
            self.body,
            "<rect x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{height:.1}' rx='{round:.1}' class='{class}'/>"
        );
    }

    /// A circle by its centre. `class` is one of the style's, never text from outside.
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        let _ = writeln!(self.body, "<circle cx='{x:.1}' cy='{y:.1}' r='{radius:.1}' class='{class}'/>");
    }

    /// `data` is our own text of an SVG path: only numbers and letters.
    pub fn path(&mut self, data: &str, class: &str) {
        let _ = writeln!(self.body, "<path d='{data}' class='{class}'/>");
    }

    /// One line of text, escaped; `anchor` says which part of it is at the point.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        let _ = writeln!(self.body, "<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}' class='{class}'>{text}</text>");
    }

    /// A text cut to `limit` characters; a tooltip shows the whole text.
    pub fn short_text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str, limit: usize) {
        let short = shorten(text, limit);
        if short == text {
            return self.text(at, anchor, class, text);
        }
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(text));
        self.text(at, anchor, class, &short);
        self.body.push_str("</g>\n");
    }

    /// A small cross, for an end.
    pub fn cross(&mut self, (x, y): (f64, f64), size: f64, class: &str) {
        self.line((x - size, y - size), (x + size, y + size), class);
        self.line((x - size, y + size), (x + size, y - size), class);
    }

    /// Appends `other` on top of what is here.
    pub fn append(&mut self, other: Svg) {
        self.body.push_str(&other.body);
    }

    /// The whole document, with a white background, so that it is readable on any page.
    pub fn finish(self, (width, height): (f64, f64), title: &str, style: &str, definitions: &str) -> String {
        let (w, h) = (width.ceil(), height.ceil());
        let title = escape(title);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{w}' height='{h}' viewBox='0 0 {w} {h}' role='img'>\n\
             <title>{title}</title>\n<style>\n{style}</style>\n<defs>{definitions}</defs>\n\
             <rect width='{w}' height='{h}' fill='#ffffff'/>\n{}</svg>\n",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(escape("<a href=\"x\">&'\u{0}\u{1b}"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_long_text_is_cut_and_kept_as_a_title() {
        let mut svg = Svg::default();
        svg.short_text((0.0, 0.0), Anchor::Start, "t", "<<<<<<", 3);
        assert!(svg.body.contains("<title>&lt;&lt;&lt;&lt;&lt;&lt;</title>"));
        assert!(svg.body.contains(">&lt;&lt;…</text>"));
    }

    #[test]
    fn a_cut_text_ends_with_a_whole_word() {
        for (limit, wanted) in [
            (40, "seq=610229895 ack=3625905342"),
            (27, "seq=610229895 …"),
            (15, "seq=610229895 …"),
            (14, "seq=610229895…"),
            (10, "seq=61022…"),
        ] {
            assert_eq!(shorten("seq=610229895 ack=3625905342", limit), wanted, "{limit}");
        }
    }
}
