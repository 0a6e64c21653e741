//! Reads classes, their cells, and links.

use std::mem::take;

use mokume_base::{Diagnostic, Span};

use super::cursor::{fault, unknown, Cursor, Read};
use super::parser::Parser;
use super::token::{Line, TokenKind};
use crate::place::Place;
use crate::*;

impl Parser {
    /// Reads a class whose name is already in its table. Reports and skips wrong lines of `body`.
    pub fn fill_class(&mut self, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        let start = cursor.position();
        let name = cursor.path()?;
        let layer =
            if cursor.word("of") { self.layer_at(cursor)? } else { self.layer_of(&name, cursor.span_from(start))? };
        cursor.expect_word("capacity")?;
        let capacity = cursor.small()?;
        let parent = if cursor.word("in") { Some(self.class_at(cursor)?) } else { None };
        let settle_limit = if cursor.word("settle") { Some(cursor.small()?) } else { None };
        let source = self.source_mark(cursor)?;
        let class = &mut self.automaton.classes[index];
        (class.layer, class.capacity, class.parent) = (layer, capacity, parent);
        (class.settle_limit, class.source) = (settle_limit, source);
        cursor.expect("{")?;
        if cursor.mark("}") {
            return cursor.end();
        }
        cursor.end()?;
        for line in body {
            self.attempt(|parser| parser.read_cell(index.into(), line));
        }
        Ok(())
    }

    /// A class `seq.S` belongs to the layer `seq`.
    fn layer_of(&self, class: &[String], span: Span) -> Read<LayerId> {
        let prefix = class[..class.len() - 1].join(".");
        let known = self.automaton.layers.iter().map(|layer| layer.name.as_str());
        self.automaton.layer_named(&prefix).ok_or_else(|| {
            let help = "a class is named `layer.Name`; or write `class name of layer capacity …`";
            let diagnostic: Diagnostic = *unknown("layer", &prefix, span, known);
            Box::new(diagnostic.help(help))
        })
    }

    fn read_cell(&mut self, class: ClassId, line: &Line) -> Read<()> {
        let mut cursor = Cursor::new(line);
        let fixed = matches!(cursor.peek_second(), Some(TokenKind::Name(_))) && cursor.word("fixed");
        let (span, name) = (cursor.span(), cursor.name()?);
        cursor.expect(":")?;
        let id = CellId::from(self.automaton.classes[class.index()].cells.len());
        let kind = self.cell_kind(class, id, &mut cursor)?;
        let source = self.source_mark(&mut cursor)?;
        if self.automaton.cell_named(class, &name).is_some() {
            self.report(fault(codes::TWICE, format!("there is a cell `{name}` already"), span));
        }
        self.set_place(Place::Cell(class, id), line.span());
        self.automaton.classes[class.index()].cells.push(Cell { name, kind, fixed, source });
        cursor.end()
    }

    fn cell_kind(&mut self, class: ClassId, cell: CellId, cursor: &mut Cursor) -> Read<CellKind> {
        if cursor.word("timer") {
            return Ok(CellKind::Timer);
        }
        if cursor.word("counter") {
            return Ok(CellKind::Counter);
        }
        if cursor.word("quota") {
            return Ok(CellKind::Quota { amount: cursor.small()? });
        }
        if cursor.word("map") {
            let capacity = cursor.small()?;
            cursor.expect("(")?;
            let key = cursor.list(")", |cursor| self.type_at(cursor))?;
            cursor.expect("->")?;
            cursor.expect("(")?;
            let value = cursor.list(")", |cursor| self.type_at(cursor))?;
            if cursor.word("by") {
                let start = cursor.position();
                let mut names = vec![cursor.name()?];
                while cursor.mark(",") {
                    names.push(cursor.name()?);
                }
                self.indices.push((class, cell, names, cursor.span_from(start)));
            }
            return Ok(CellKind::Map { key, value, capacity, by: Vec::new() });
        }
        if cursor.mark("[") {
            let size = cursor.small()?;
            cursor.expect("]")?;
            if cursor.word("msg") {
                if cursor.word("quota") {
                    let start = cursor.position();
                    let path = cursor.path()?;
                    self.quotas.push((class, cell, path, cursor.span_from(start)));
                }
                return Ok(CellKind::Messages { size, quota: None });
            }
            let ty = self.type_at(cursor)?;
            let init = if cursor.mark("=") { self.value_at(cursor, ty)? } else { 0 };
            return Ok(CellKind::Array { ty, size, init });
        }
        let ty = self.type_at(cursor)?;
        let init = if cursor.mark("=") { self.value_at(cursor, ty)? } else { 0 };
        Ok(CellKind::Scalar { ty, init })
    }

    /// Resolves the quotas that message cells name, once all cells of all classes are known.
    pub fn find_quotas(&mut self) {
        for (class, cell, path, span) in take(&mut self.quotas) {
            let found = self.attempt(|parser| parser.cell_path(&path, span));
            if let CellKind::Messages { quota, .. } =
                &mut self.automaton.classes[class.index()].cells[cell.index()].kind
            {
                *quota = found;
            }
        }
    }

    /// Resolves the cells that hold the keys of maps of objects.
    pub fn find_indices(&mut self) {
        for (class, cell, names, span) in take(&mut self.indices) {
            let found = self.attempt(|parser| parser.key_cells(class, cell, &names, span)).unwrap_or_default();
            if let CellKind::Map { by, .. } = &mut self.automaton.classes[class.index()].cells[cell.index()].kind {
                *by = found;
            }
        }
    }

    fn key_cells(&self, class: ClassId, cell: CellId, names: &[String], span: Span) -> Read<Vec<CellId>> {
        let CellKind::Map { value, .. } = &self.automaton.cell(class, cell).kind else { return Ok(Vec::new()) };
        let [Type::Ref(of)] = value[..] else {
            return Err(fault(codes::KIND, "`by` belongs behind a map of objects: `-> (@layer.Class)`", span));
        };
        let known = || self.automaton.class(of).cells.iter().map(|cell| cell.name.as_str());
        let find =
            |name: &String| self.automaton.cell_named(of, name).ok_or_else(|| unknown("cell", name, span, known()));
        names.iter().map(find).collect()
    }

    /// `layer.Class.cell`.
    pub fn cell_path(&self, path: &[String], span: Span) -> Read<(ClassId, CellId)> {
        let (cell, class) = path.split_last().ok_or_else(|| fault(codes::SYNTAX, "a cell belongs here", span))?;
        let class_name = class.join(".");
        let known = self.automaton.classes.iter().map(|class| class.name.as_str());
        let class =
            self.automaton.class_named(&class_name).ok_or_else(|| unknown("class", &class_name, span, known))?;
        let known = self.automaton.class(class).cells.iter().map(|cell| cell.name.as_str());
        let found = self.automaton.cell_named(class, cell);
        Ok((class, found.ok_or_else(|| unknown("cell", cell, span, known))?))
    }

    /// Reads a link between two known classes.
    pub fn add_link(&mut self, cursor: &mut Cursor) -> Read<()> {
        let start = cursor.position();
        let above = self.link_end(cursor)?;
        cursor.expect("=")?;
        let below = self.link_end(cursor)?;
        let kind = if cursor.word("n") { LinkKind::ManyToOne } else { LinkKind::OneToOne };
        if kind == LinkKind::OneToOne && cursor.small()? != 1 {
            return cursor.wanted("`1:1` or `n:1`");
        }
        cursor.expect(":")?;
        cursor.small()?;
        self.set_place(Place::Link(self.automaton.links.len() as u32), cursor.span_from(start));
        self.automaton.links.push(Link { above, below, kind });
        cursor.end()
    }

    fn link_end(&self, cursor: &mut Cursor) -> Read<(ClassId, Option<CellId>)> {
        let start = cursor.position();
        let path = cursor.path()?;
        match self.automaton.class_named(&path.join(".")) {
            Some(class) => Ok((class, None)),
            None => self.cell_path(&path, cursor.span_from(start)).map(|(class, cell)| (class, Some(cell))),
        }
    }
}
