//! Lenses and paths from text, a line each step, effect and out.

use super::cursor::{fault, unknown, Cursor, Read};
use super::parse::Parser;
use super::print_path::cell_width;
use super::term::{octets, Named, TermReader};
use super::token::Line;
use crate::place::Place;
use crate::terms::TermContext;
use crate::*;

pub fn empty_lens(name: &str) -> Lens {
    let name = name.to_owned();
    Lens { name, classes: vec![], around: None, cells: vec![], views: vec![], invariants: vec![], refresh: vec![] }
}

pub fn empty_path(name: &str) -> Path {
    Path { name: name.to_owned(), port: PortId(0), event: 0, steps: vec![], commit: vec![], outs: vec![] }
}

impl Parser {
    pub fn lens_at(&self, cursor: &mut Cursor) -> Read<LensId> {
        let (span, name) = (cursor.span(), cursor.name()?);
        let lenses = &self.automaton.lenses;
        let known = lenses.iter().map(|lens| lens.name.as_str());
        let found = lenses.iter().position(|lens| lens.name == name).map(LensId::from);
        found.ok_or_else(|| unknown("lens", &name, span, known))
    }

    /// The head and the cells: views and paths need those of all lenses.
    pub fn fill_lens(&mut self, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        cursor.name()?;
        cursor.expect_word("for")?;
        let mut classes = vec![self.class_at(cursor)?];
        while cursor.mark(",") {
            classes.push(self.class_at(cursor)?);
        }
        let around = if cursor.word("around") { Some(self.lens_at(cursor)?) } else { None };
        cursor.expect("{")?;
        let lens = &mut self.automaton.lenses[index];
        (lens.classes, lens.around) = (classes, around);
        for line in body.iter().filter(|line| line.starts_with("hot") || line.starts_with("cold")) {
            if let Some(cell) = self.attempt(|parser| parser.lens_cell(index, line)) {
                self.automaton.lenses[index].cells.push(cell);
            }
        }
        Ok(())
    }

    fn lens_cell(&mut self, index: usize, line: &Line) -> Read<LensCell> {
        let mut cursor = Cursor::new(line);
        let heat = if cursor.word("hot") { Heat::Hot } else { Heat::Cold };
        cursor.word("cold");
        let (span, name) = (cursor.span(), cursor.name()?);
        if self.automaton.lenses[index].cells.iter().any(|cell| cell.name == name) {
            self.report(fault(codes::TWICE, format!("there is a cell `{name}` already"), span));
        }
        cursor.expect(":")?;
        let kind = if cursor.word("octets") {
            LensCellKind::Template { init: octets(&mut cursor)? }
        } else {
            let ty = self.type_at(&mut cursor)?;
            let init = if cursor.mark("=") { self.value_at(&mut cursor, ty)? } else { 0 };
            LensCellKind::Scalar { width: ty.width(&self.automaton), init }
        };
        cursor.end()?;
        Ok(LensCell { name, heat, kind })
    }

    /// Views, invariants and the refresh.
    pub fn fill_lens_terms(&mut self, index: usize, body: &[Line]) {
        for line in body.iter().filter(|line| !line.starts_with("hot") && !line.starts_with("cold")) {
            if line.ends_with("}") && line.tokens.len() == 1 {
                continue;
            }
            let read = self.attempt(|parser| {
                let context = TermContext::of_lens(&parser.automaton, index.into());
                LensLine::read(TermReader { parser, context, in_lens: true, it: 0 }, line)
            });
            let lens = &mut self.automaton.lenses[index];
            match read {
                Some(LensLine::View(view)) => lens.views.push(view),
                Some(LensLine::Invariant(term)) => lens.invariants.push(term),
                Some(LensLine::Refresh(update)) => lens.refresh.push(update),
                None => {}
            }
        }
    }

    pub fn fill_path(&mut self, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        cursor.name()?;
        cursor.expect_word("on")?;
        let port = self.port_at(cursor)?;
        cursor.expect(".")?;
        let (span, name) = (cursor.span(), cursor.name()?);
        let inputs = &self.automaton.ports[port.index()].inputs;
        let event = inputs.iter().position(|input| input.event == name);
        let known = inputs.iter().map(|input| input.event.as_str());
        let event = event.ok_or_else(|| unknown("input", &name, span, known))? as u32;
        cursor.expect("{")?;
        let mut path = Path { port, event, ..empty_path(&self.automaton.paths[index].name) };
        let mut diagnostics = Vec::new();
        let context = TermContext::of_path(&self.automaton, port, event);
        let mut reader =
            PathReader { terms: TermReader { parser: self, context, in_lens: false, it: 0 }, path: &mut path };
        for line in body {
            if let Err(fault) = reader.line(line) {
                diagnostics.push(fault);
            }
        }
        diagnostics.into_iter().for_each(|fault| self.report(fault));
        self.set_place(Place::Path(index.into()), span);
        self.automaton.paths[index] = path;
        Ok(())
    }
}

enum LensLine {
    View(View),
    Invariant(Term),
    Refresh(LensUpdate),
}

impl LensLine {
    fn read(mut reader: TermReader, line: &Line) -> Read<LensLine> {
        let mut cursor = Cursor::new(line);
        let found = if cursor.word("view") {
            LensLine::View(view(&mut reader, &mut cursor)?)
        } else if cursor.word("invariant") {
            LensLine::Invariant(reader.term(&mut cursor, Some(1))?)
        } else if cursor.word("refresh") {
            LensLine::Refresh(update(&reader, &mut cursor)?)
        } else {
            return cursor.wanted("`hot`, `cold`, `view`, `invariant` or `refresh`");
        };
        cursor.end()?;
        Ok(found)
    }
}

/// `view seq.S.next = o_next + base put o_next := it - base`
fn view(reader: &mut TermReader, cursor: &mut Cursor) -> Read<View> {
    let (_, class, cell) = reader.cell(cursor)?;
    let width = cell_width(&reader.parser.automaton, class, cell);
    cursor.expect("=")?;
    let get = reader.term(cursor, width)?;
    reader.it = width.unwrap_or(0);
    let mut put = Vec::new();
    if cursor.word("put") {
        put.push(update(reader, cursor)?);
        while cursor.mark(",") {
            put.push(update(reader, cursor)?);
        }
    }
    Ok(View { class, cell, get, put })
}

fn update(reader: &TermReader, cursor: &mut Cursor) -> Read<LensUpdate> {
    let span = cursor.span();
    let Named::Lens(PathObjectId(0), cell) = reader.named(cursor)? else {
        return Err(fault(codes::OBJECT, "only cells of the lens's own record are put", span));
    };
    cursor.expect(":=")?;
    Ok(LensUpdate { cell, value: lens_value(reader, PathObjectId(0), cell, cursor)? })
}

fn lens_value(reader: &TermReader, object: PathObjectId, cell: LensCellId, cursor: &mut Cursor) -> Read<LensValue> {
    if cursor.word("octets") {
        return reader.pieces(cursor).map(LensValue::Octets);
    }
    let width = match reader.context.lens_cell(object, cell).map(|cell| &cell.kind) {
        Some(LensCellKind::Scalar { width, .. }) => Some(*width),
        _ => None,
    };
    reader.term(cursor, width).map(LensValue::Term)
}

struct PathReader<'r, 'p> {
    terms: TermReader<'p>,
    path: &'r mut Path,
}

impl PathReader<'_, '_> {
    fn line(&mut self, line: &Line) -> Read<()> {
        if line.ends_with("}") && line.tokens.len() == 1 {
            return Ok(());
        }
        let mut cursor = Cursor::new(line);
        let span = cursor.span();
        let word = cursor.name()?;
        match word.as_str() {
            "object" | "let" | "guard" => {
                if !self.path.commit.is_empty() || !self.path.outs.is_empty() {
                    return Err(fault(codes::PATH, "steps come before the commit and the outs", span));
                }
                let step = self.step(&word, &mut cursor)?;
                self.terms.context.step(&step);
                self.path.steps.push(step);
            }
            "out" => {
                let out = self.out(&mut cursor)?;
                self.path.outs.push(out);
            }
            _ => {
                if !self.path.outs.is_empty() {
                    return Err(fault(codes::PATH, "the commit comes before the outs", span));
                }
                let effect = self.effect(&word, &mut cursor)?;
                self.path.commit.push(effect);
            }
        }
        cursor.end()
    }

    fn step(&self, word: &str, cursor: &mut Cursor) -> Read<Step> {
        match word {
            "object" => {
                let name = cursor.name()?;
                cursor.expect(":")?;
                let lens = self.terms.parser.lens_at(cursor)?;
                cursor.expect("=")?;
                Ok(Step::Object { name, lens, from: self.source(cursor)? })
            }
            "let" => {
                let name = cursor.name()?;
                cursor.expect(":")?;
                let span = cursor.span();
                let Type::U(width) = self.terms.parser.type_at(cursor)? else {
                    return Err(fault(codes::SYNTAX, "a width is written `uN`", span));
                };
                cursor.expect("=")?;
                Ok(Step::Let { name, width, term: self.terms.term(cursor, Some(width))? })
            }
            _ => {
                let condition = self.terms.term(cursor, Some(1))?;
                let refresh = if cursor.word("refresh") { Some(self.terms.object(cursor)?) } else { None };
                Ok(Step::Guard { condition, refresh })
            }
        }
    }

    fn source(&self, cursor: &mut Cursor) -> Read<ObjectSource> {
        if cursor.word("param") {
            let (span, name) = (cursor.span(), cursor.name()?);
            let params = &self.terms.context.params;
            let found = params.iter().position(|(known, _)| *known == name);
            let known = params.iter().map(|(name, _)| name.as_str());
            return Ok(ObjectSource::Param(found.ok_or_else(|| unknown("parameter", &name, span, known))? as u32));
        }
        if cursor.word("unique") {
            return self.terms.parser.class_at(cursor).map(ObjectSource::Unique);
        }
        if cursor.word("parent") {
            let object = self.terms.object(cursor)?;
            cursor.expect_word("as")?;
            return Ok(ObjectSource::Parent(object, self.terms.parser.class_at(cursor)?));
        }
        if !cursor.word("find") {
            let (object, class, cell) = self.terms.cell(cursor)?;
            return Ok(ObjectSource::Cell(object, class, cell));
        }
        let (object, class, cell) = self.terms.cell(cursor)?;
        let automaton = &self.terms.parser.automaton;
        let types = match &automaton.cell(class, cell).kind {
            CellKind::Map { key, .. } => key.clone(),
            _ => Vec::new(),
        };
        let mut types = types.iter().map(|ty| ty.width(automaton));
        cursor.expect("[")?;
        let key = cursor.list("]", |cursor| self.terms.term(cursor, types.next()))?;
        cursor.expect(".")?;
        Ok(ObjectSource::Find { object, class, cell, key, value: cursor.small()? })
    }

    fn amount(&self, cursor: &mut Cursor, width: Option<u8>) -> Read<Term> {
        cursor.expect(",")?;
        self.terms.term(cursor, width)
    }

    fn effect(&self, word: &str, cursor: &mut Cursor) -> Read<Effect> {
        match word {
            "set" => return self.set(cursor),
            "drop" | "consume" => {
                let message = self.terms.message_param(cursor)?;
                cursor.expect(",")?;
                let reason = self.terms.parser.reason_at(cursor)?;
                return Ok(match word {
                    "drop" => Effect::Drop { message, reason },
                    _ => Effect::Consume { message, reason },
                });
            }
            "arm" | "disarm" | "count" | "take" | "give" | "keep" => {}
            _ => {
                cursor.go_back(0);
                return cursor.wanted("a step, an effect or an out");
            }
        }
        let (object, class, cell) = self.terms.cell(cursor)?;
        Ok(match word {
            "arm" => Effect::Arm { object, class, cell, deadline: self.amount(cursor, Some(64))? },
            "disarm" => Effect::Disarm { object, class, cell },
            "count" => Effect::Count { object, class, cell, amount: self.amount(cursor, None)? },
            "take" => Effect::Take { object, class, cell, amount: self.amount(cursor, Some(32))? },
            "give" => Effect::Give { object, class, cell, amount: self.amount(cursor, Some(32))? },
            _ => {
                cursor.expect("[")?;
                let index = self.terms.term(cursor, Some(32))?;
                cursor.expect("]")?;
                cursor.expect(",")?;
                Effect::Keep { object, class, cell, index, message: self.terms.message(cursor)? }
            }
        })
    }

    fn set(&self, cursor: &mut Cursor) -> Read<Effect> {
        let span = cursor.span();
        match self.terms.named(cursor)? {
            Named::Lens(object, cell) => {
                cursor.expect(":=")?;
                Ok(Effect::SetLens { object, cell, value: lens_value(&self.terms, object, cell, cursor)? })
            }
            Named::Cell(object, class, cell) => {
                let width = cell_width(&self.terms.parser.automaton, class, cell);
                let index = if cursor.mark("[") {
                    let index = self.terms.term(cursor, None)?;
                    cursor.expect("]")?;
                    Some(index)
                } else {
                    None
                };
                cursor.expect(":=")?;
                let value = self.terms.term(cursor, width)?;
                Ok(match index {
                    Some(index) => Effect::SetAt { object, class, cell, index, value },
                    None => Effect::Set { object, class, cell, value },
                })
            }
            _ => Err(fault(codes::OBJECT, "a cell belongs here", span)),
        }
    }

    fn out(&self, cursor: &mut Cursor) -> Read<PathOut> {
        let port = self.terms.parser.port_at(cursor)?;
        cursor.expect(".")?;
        let (span, name) = (cursor.span(), cursor.name()?);
        let automaton = &self.terms.parser.automaton;
        let outputs = &automaton.ports[port.index()].outputs;
        let event = outputs.iter().position(|output| output.event == name);
        let known = outputs.iter().map(|output| output.event.as_str());
        let event = event.ok_or_else(|| unknown("output", &name, span, known))?;
        cursor.expect("(")?;
        let mut types = outputs[event].params.iter().map(|(_, ty)| *ty);
        let args = cursor.list(")", |cursor| self.arg(cursor, types.next()))?;
        Ok(PathOut { port, event: event as u32, args })
    }

    fn arg(&self, cursor: &mut Cursor, ty: Option<Type>) -> Read<PathArg> {
        match ty {
            Some(Type::Msg) => self.terms.message(cursor).map(PathArg::Message),
            Some(Type::Ref(_)) => {
                let object = self.terms.object(cursor)?;
                cursor.expect_word("as")?;
                Ok(PathArg::Object(object, self.terms.parser.class_at(cursor)?))
            }
            _ => {
                let width = ty.map(|ty| ty.width(&self.terms.parser.automaton));
                self.terms.term(cursor, width).map(PathArg::Term)
            }
        }
    }
}
