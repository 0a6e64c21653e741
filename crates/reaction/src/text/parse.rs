//! Text into an automaton: finds the items, names them, then fills them in. So their order does not matter.

use mokume_base::{Diagnostic, FileId};

use super::cursor::{fault, Cursor, Read};
use super::parser::{Item, Parser};
use super::token::{lines, Line};
use super::{body, wire};
use crate::place::{Places, Unit};
use crate::*;

/// An automaton, the spans of its parts, and all faults. If there are errors, parts are missing.
#[derive(Debug)]
pub struct Parsed {
    pub automaton: Automaton,
    pub places: Places,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the text form. Never panics; each wrong line is reported once.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let (lines, diagnostics) = lines(file, text);
    let mut parser = Parser {
        automaton: Automaton { tick: 1, ..Automaton::default() },
        places: Places::default(),
        diagnostics,
        quotas: Vec::new(),
        indices: Vec::new(),
        last_source: None,
    };
    let items = parser.items(&lines);
    parser.read(&items);
    let Parser { automaton, places, diagnostics, .. } = parser;
    Parsed { automaton: automaton.canonical(), places, diagnostics }
}

const KEYWORDS: &[&str] = &[
    "automaton",
    "tick",
    "pool",
    "outputs",
    "param",
    "enum",
    "attribute",
    "header",
    "reason",
    "layer",
    "class",
    "link",
    "port",
    "wire",
    "function",
    "publish",
    "procedure",
    "memo",
    "handler",
    "start",
    "expiry",
    "settle",
    "path",
    "composed",
    "source",
];

fn keyword_of(line: &Line) -> Option<&'static str> {
    KEYWORDS.iter().copied().find(|keyword| line.starts_with(keyword))
}

impl Parser {
    fn items<'a>(&mut self, lines: &'a [Line]) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(keyword) = keyword_of(&lines[at]) else {
                let message = format!("an item belongs here: one of {}", KEYWORDS.join(", "));
                self.report(fault(codes::SYNTAX, message, lines[at].span()));
                // One report for all lines up to the next item.
                while at < lines.len() && keyword_of(&lines[at]).is_none() {
                    at += 1;
                }
                continue;
            };
            let (end, next) = self.extent(lines, at);
            items.push(Item { keyword, head: &lines[at], body: &lines[at + 1..end], index: 0 });
            at = next;
        }
        items
    }

    /// Where an item's inner lines end, and where the next item starts.
    fn extent(&mut self, lines: &[Line], start: usize) -> (usize, usize) {
        let mut depth = lines[start].depth();
        let mut at = start + 1;
        while depth > 0 {
            let lost = at >= lines.len() || (lines[at].flush_left && keyword_of(&lines[at]).is_some());
            if lost {
                let message = "the item that starts here has no closing `}`";
                self.report(fault(codes::SYNTAX, message, lines[start].span()));
                return (at, at);
            }
            depth += lines[at].depth();
            at += 1;
        }
        (if at == start + 1 { at } else { at - 1 }, at)
    }

    fn read(&mut self, items: &[Item]) {
        let mut named: Vec<Item> = Vec::new();
        for item in items {
            if let Some(index) = self.attempt(|parser| parser.name_item(item)) {
                named.push(Item { keyword: item.keyword, head: item.head, body: item.body, index });
            }
        }
        // Each pass uses only what the passes before it have filled in.
        for pass in [
            &["enum"][..],
            &["param", "attribute", "header", "layer", "class"],
            &["link", "port", "wire", "function", "publish", "procedure", "memo", "composed"],
            &["handler", "start", "expiry", "settle"],
            &["path"],
        ] {
            for item in named.iter_mut().filter(|item| pass.contains(&item.keyword)) {
                if let Some(index) = self.attempt(|parser| parser.fill_item(item)) {
                    item.index = index;
                } else {
                    item.index = usize::MAX;
                }
            }
            self.find_quotas();
            self.find_indices();
        }
        for item in named.iter().filter(|item| item.index != usize::MAX) {
            match item.keyword {
                "function" | "publish" | "procedure" | "memo" => {
                    body::read(self, Unit::Function(item.index.into()), item)
                }
                "path" => body::read(self, Unit::Path(item.index.into()), item),
                "handler" | "start" | "expiry" | "settle" => body::read(self, Unit::Handler(item.index.into()), item),
                _ => {}
            }
        }
        self.check_sources();
    }

    fn fill_item(&mut self, item: &Item) -> Read<usize> {
        let mut cursor = Cursor::new(item.head);
        cursor.word(item.keyword);
        match item.keyword {
            "enum" => self.fill_enum(item.index, &mut cursor)?,
            "param" => self.fill_param(item.index, &mut cursor)?,
            "attribute" => self.fill_attribute(item.index, &mut cursor)?,
            "header" => self.fill_header(item.index, &mut cursor, item.body)?,
            "layer" => self.fill_layer(item.index, &mut cursor)?,
            "class" => self.fill_class(item.index, &mut cursor, item.body)?,
            "link" => self.add_link(&mut cursor)?,
            "port" => self.fill_port(item.index, &mut cursor, item.body)?,
            "wire" => wire::read(self, item.index, &mut cursor, item.body)?,
            "function" | "publish" | "procedure" | "memo" => {
                self.fill_function(item.index, item.keyword, &mut cursor)?
            }
            "composed" => self.fill_composition(&mut cursor, item.body)?,
            "path" => return self.add_path(&mut cursor),
            _ => return self.add_handler(item.keyword, &mut cursor),
        }
        Ok(item.index)
    }

    fn check_sources(&mut self) {
        if let Some((highest, span)) = self.last_source {
            if highest as usize >= self.automaton.sources.len() {
                let message = format!("there is no source {highest}");
                self.report(fault(codes::UNKNOWN, message, span));
            }
        }
    }
}
