//! Source as HTML: keywords, comments, texts and numbers get a class; names become links to their declarations.

use std::fmt::Write;

use mokume_base::{FileId, Span};
use mokume_semantics::program::Program;
use mokume_syntax::{ast, SyntaxKind, SyntaxNode, SyntaxToken};

use crate::collect::mentions_in;
use crate::site::Site;

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Highlights sources, with links relative to a page in a folder of the site.
pub struct Highlighter<'a> {
    /// The site that links lead into.
    pub site: &'a Site<'a>,
    /// The program, which resolves names.
    pub program: &'a Program,
}

impl Highlighter<'_> {
    /// A part of a file, from the beginning of its first line, without the indentation that all lines share.
    pub fn part(&self, root: &SyntaxNode, at: Span) -> String {
        let text = &self.site.sources.file(at.file).text;
        let line = self.site.sources.file(at.file).line_start(self.site.line(at) as usize - 1) as u32;
        let blanks = |line: &str| line.len() - line.trim_start().len();
        let lines = text.get(line as usize..at.end as usize).unwrap_or_default().lines();
        let common = lines.filter(|line| !line.trim().is_empty()).map(blanks).min().unwrap_or(0);
        let whole = Span { start: line, ..at };
        let html = self.html(root, whole);
        // A token's text may contain line breaks; no class begins within a line's indentation.
        let cut =
            |line: &str| line.get(common..).filter(|_| line[..common].trim().is_empty()).unwrap_or(line).to_string();
        html.lines().map(|line| cut(line) + "\n").collect()
    }

    /// A whole file, line by line, with line numbers as anchors.
    pub fn file(&self, root: &SyntaxNode, file: FileId) -> String {
        let text = &self.site.sources.file(file).text;
        let whole = Span::new(file, 0, text.len() as u32);
        let mut out = String::new();
        for (number, line) in self.html(root, whole).lines().enumerate() {
            let number = number + 1;
            let _ = writeln!(out, "<a class=\"n\" id=\"L{number}\" href=\"#L{number}\">{number:>4}</a>  {line}");
        }
        out
    }

    fn html(&self, root: &SyntaxNode, at: Span) -> String {
        let mut out = String::new();
        for token in root.descendants_with_tokens().filter_map(|element| element.into_token()) {
            let place = ast::token_span(&token, at.file);
            if place.end <= at.start || place.start >= at.end {
                continue;
            }
            let from = at.start.saturating_sub(place.start) as usize;
            let to = (at.end.min(place.end) - place.start) as usize;
            let text = escape(token.text().get(from..to).unwrap_or(token.text()));
            match (self.link(&token, place), class(&token)) {
                (Some(link), _) => {
                    let _ = write!(out, "<a href=\"../{link}\">{text}</a>");
                }
                (None, Some(class)) => {
                    let _ = write!(out, "<span class=\"{class}\">{text}</span>");
                }
                (None, None) => out.push_str(&text),
            }
        }
        out
    }

    /// The link of a name that stands for something declared elsewhere.
    fn link(&self, token: &SyntaxToken, at: Span) -> Option<String> {
        if token.kind() != SyntaxKind::IDENT {
            return None;
        }
        let first = mentions_in(self.program, at).iter().find(|mention| mention.at == at && mention.is_use())?;
        self.site.link(first.of)
    }
}

fn class(token: &SyntaxToken) -> Option<&'static str> {
    use SyntaxKind as S;
    Some(match token.kind() {
        S::COMMENT | S::DOC_COMMENT | S::BLOCK_COMMENT => "c",
        S::STRING | S::HEX_STRING => "s",
        S::NUMBER | S::DOTTED | S::COLONS => "m",
        S::IDENT => {
            let parent = token.parent().map_or(S::FILE, |parent| parent.kind());
            match (parent, token.text()) {
                (S::NAME_EXPR, "above" | "below" | "refuse" | "again") => "k",
                (S::NAME | S::NAME_EXPR | S::USE_PATH, _) => return None,
                _ => "k",
            }
        }
        _ => return None,
    })
}
