//! Declarations: first every item gets its name and its place in its table, then it is filled in.

use std::mem::take;

use mokume_base::{Diagnostic, Span};

use super::cursor::{fault, unknown, Cursor, Read};
use super::parse::{Item, Parser};
use super::token::Line;
use crate::place::{Place, Unit};
use crate::*;

impl Parser {
    /// Enters an item into its table; the answer is its index there.
    pub fn name_item(&mut self, item: &Item) -> Read<usize> {
        let mut cursor = Cursor::new(item.head);
        cursor.word(item.keyword);
        match item.keyword {
            "automaton" => {
                self.automaton.name = cursor.name()?;
                self.set_place(Place::Automaton, item.head.span());
                cursor.end()?;
                return Ok(0);
            }
            "tick" => {
                self.automaton.tick = cursor.number()?;
                cursor.end()?;
                return Ok(0);
            }
            "pool" => {
                self.automaton.pool = cursor.small()?;
                cursor.end()?;
                return Ok(0);
            }
            "source" => return self.add_source(&mut cursor),
            "handler" | "start" | "expiry" | "settle" | "link" | "composed" => return Ok(0),
            _ => {}
        }
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let span = cursor.span_from(start);
        self.enter(item.keyword, name, span, item.head.span())
    }

    fn enter(&mut self, keyword: &str, name: String, span: Span, line: Span) -> Read<usize> {
        let a = &mut self.automaton;
        let (index, place, known) = match keyword {
            "param" => {
                let known = a.params.iter().any(|found| found.name == name);
                a.params.push(Param { name: name.clone(), ty: Type::Bool, default: None });
                (a.params.len() - 1, Place::Param((a.params.len() - 1).into()), known)
            }
            "enum" => {
                let known = a.enums.iter().any(|found| found.name == name);
                a.enums.push(Enum { name: name.clone(), width: 8, names: Vec::new() });
                (a.enums.len() - 1, Place::Enum((a.enums.len() - 1).into()), known)
            }
            "attribute" => {
                let known = a.attributes.iter().any(|found| found.name == name);
                a.attributes.push(Attribute { name: name.clone(), ty: Type::Bool, default: 0 });
                (a.attributes.len() - 1, Place::Attribute((a.attributes.len() - 1).into()), known)
            }
            "header" => {
                let known = a.header_named(&name).is_some();
                a.headers.push(Header { name: name.clone(), variants: Vec::new() });
                (a.headers.len() - 1, Place::Header((a.headers.len() - 1).into()), known)
            }
            "reason" => {
                let known = a.reasons.iter().any(|found| found.name == name);
                a.reasons.push(Reason { name: name.clone() });
                (a.reasons.len() - 1, Place::Reason((a.reasons.len() - 1).into()), known)
            }
            "layer" => {
                let known = a.layer_named(&name).is_some();
                a.layers.push(Layer { name: name.clone(), of: String::new(), shape: String::new() });
                (a.layers.len() - 1, Place::Layer((a.layers.len() - 1).into()), known)
            }
            "class" => {
                let known = a.class_named(&name).is_some();
                a.classes.push(empty_class(&name));
                (a.classes.len() - 1, Place::Class((a.classes.len() - 1).into()), known)
            }
            "port" => {
                let known = a.port_named(&name).is_some();
                a.ports.push(empty_port(&name, a.ports.len()));
                (a.ports.len() - 1, Place::Port((a.ports.len() - 1).into()), known)
            }
            "wire" => {
                let known = a.wire_named(&name).is_some();
                a.wires.push(super::wire::empty(&name));
                (a.wires.len() - 1, Place::Wire((a.wires.len() - 1).into()), known)
            }
            "lens" => {
                let known = a.lenses.iter().any(|lens| lens.name == name);
                a.lenses.push(super::path::empty_lens(&name));
                (a.lenses.len() - 1, Place::Lens((a.lenses.len() - 1).into()), known)
            }
            "path" => {
                let known = a.paths.iter().any(|path| path.name == name);
                a.paths.push(super::path::empty_path(&name));
                (a.paths.len() - 1, Place::Path((a.paths.len() - 1).into()), known)
            }
            _ => {
                let known = a.function_named(&name).is_some();
                a.functions.push(empty_function(&name));
                (a.functions.len() - 1, Place::Unit(Unit::Function((a.functions.len() - 1).into())), known)
            }
        };
        self.set_place(place, line);
        if known {
            self.report(fault(codes::TWICE, format!("there is a {keyword} `{name}` already"), span));
        }
        Ok(index)
    }

    fn add_source(&mut self, cursor: &mut Cursor) -> Read<usize> {
        let span = cursor.span();
        let index = cursor.number()?;
        if index as usize != self.automaton.sources.len() {
            return Err(fault(codes::TWICE, "sources are numbered from 0, in order", span));
        }
        let file = cursor.text()?;
        let line = cursor.small()?;
        cursor.expect(":")?;
        let column = cursor.small()?;
        self.automaton.sources.push(Source { file, line, column });
        cursor.end()?;
        Ok(0)
    }

    pub fn fill_enum(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        cursor.expect(":")?;
        let span = cursor.span();
        let Type::U(width) = self.type_at(cursor)? else {
            return Err(fault(codes::SYNTAX, "an enumeration is a `uN`", span));
        };
        cursor.expect("{")?;
        let mut next = 0;
        let names = cursor.list("}", |cursor| {
            let name = cursor.name()?;
            let value = if cursor.mark("=") { cursor.number()? } else { next };
            next = value.wrapping_add(1);
            Ok((name, value))
        })?;
        let found = &mut self.automaton.enums[index];
        (found.width, found.names) = (width, names);
        cursor.end()
    }

    pub fn fill_param(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        cursor.expect(":")?;
        let ty = self.type_at(cursor)?;
        self.automaton.params[index].ty = ty;
        if cursor.mark("=") {
            self.automaton.params[index].default = Some(self.value_at(cursor, ty)?);
        }
        cursor.end()
    }

    pub fn fill_attribute(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        cursor.expect(":")?;
        let ty = self.type_at(cursor)?;
        self.automaton.attributes[index].ty = ty;
        if cursor.mark("=") {
            self.automaton.attributes[index].default = self.value_at(cursor, ty)?;
        }
        cursor.end()
    }

    pub fn fill_header(&mut self, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        cursor.path()?;
        cursor.expect("{")?;
        if !cursor.is_at_end() {
            let fields = cursor.list("}", |cursor| self.param_at(cursor))?;
            self.automaton.headers[index].variants.push(Variant { name: String::new(), fields });
            return cursor.end();
        }
        for line in body {
            let read = |parser: &mut Self| {
                let mut cursor = Cursor::new(line);
                let name = cursor.name()?;
                cursor.expect("{")?;
                let fields = cursor.list("}", |cursor| parser.param_at(cursor))?;
                cursor.end()?;
                parser.automaton.headers[index].variants.push(Variant { name, fields });
                Ok(())
            };
            self.attempt(read);
        }
        Ok(())
    }

    pub fn fill_layer(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        let of = if cursor.word("of") { cursor.path()?.join(".") } else { String::new() };
        let shape = if cursor.word("shape") { cursor.name()? } else { String::new() };
        let layer = &mut self.automaton.layers[index];
        (layer.of, layer.shape) = (of, shape);
        cursor.end()
    }

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
        let fixed = matches!(cursor.peek_second(), Some(super::token::TokenKind::Name(_))) && cursor.word("fixed");
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
            return Ok(CellKind::Map { key, value, capacity });
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

    /// `layer.Class.cell`.
    fn cell_path(&self, path: &[String], span: Span) -> Read<(ClassId, CellId)> {
        let (cell, class) = path.split_last().ok_or_else(|| fault(codes::SYNTAX, "a cell belongs here", span))?;
        let class_name = class.join(".");
        let known = self.automaton.classes.iter().map(|class| class.name.as_str());
        let class =
            self.automaton.class_named(&class_name).ok_or_else(|| unknown("class", &class_name, span, known))?;
        let known = self.automaton.class(class).cells.iter().map(|cell| cell.name.as_str());
        let found = self.automaton.cell_named(class, cell);
        Ok((class, found.ok_or_else(|| unknown("cell", cell, span, known))?))
    }

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

    pub fn fill_port(&mut self, index: usize, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        cursor.path()?;
        let kind = if cursor.word("device") {
            PortKind::Device
        } else {
            cursor.expect_word("application")?;
            PortKind::Application
        };
        let group = if cursor.word("group") { cursor.small()? } else { index as u32 };
        let port = &mut self.automaton.ports[index];
        (port.kind, port.group) = (kind, group);
        cursor.expect("{")?;
        for line in body {
            self.attempt(|parser| parser.read_port_event(index, line));
        }
        Ok(())
    }

    fn read_port_event(&mut self, index: usize, line: &Line) -> Read<()> {
        let mut cursor = Cursor::new(line);
        let is_input = cursor.word("in");
        if !is_input {
            cursor.expect_word("out")?;
        }
        let event = cursor.name()?;
        cursor.expect("(")?;
        let params = self.params_at(&mut cursor)?;
        if !is_input {
            self.automaton.ports[index].outputs.push(PortOutput { event, params });
            return cursor.end();
        }
        cursor.expect("->")?;
        let (class, handler) = self.class_and_name(&mut cursor, "handler")?;
        self.automaton.ports[index].inputs.push(PortInput { event, params, class, handler });
        cursor.end()
    }

    /// `layer.Class.name`.
    fn class_and_name(&self, cursor: &mut Cursor, what: &str) -> Read<(ClassId, String)> {
        let start = cursor.position();
        let path = cursor.path()?;
        let span = cursor.span_from(start);
        let (name, class) = path.split_last().ok_or_else(|| fault(codes::SYNTAX, "a path belongs here", span))?;
        let class_name = class.join(".");
        let known = self.automaton.classes.iter().map(|class| class.name.as_str());
        let found = self.automaton.class_named(&class_name);
        let class = found.ok_or_else(|| {
            let message = unknown("class", &class_name, span, known);
            Box::new(message.help(format!("a {what} is named `layer.Class.{name}`")))
        })?;
        Ok((class, name.clone()))
    }

    pub fn fill_function(&mut self, index: usize, keyword: &str, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        cursor.expect("(")?;
        let span = cursor.span();
        let params = self.params_at(cursor)?;
        cursor.expect("->")?;
        cursor.expect("(")?;
        let results = cursor.list(")", |cursor| self.type_at(cursor))?;
        let published = match (keyword, params.first()) {
            ("publish", Some((_, Type::Ref(class)))) => Some(*class),
            ("publish", _) => {
                return Err(fault(codes::SYNTAX, "the first parameter of a published value is its object", span));
            }
            _ => None,
        };
        let function = &mut self.automaton.functions[index];
        (function.params, function.results, function.published) = (params, results, published);
        cursor.expect("{")?;
        cursor.end()
    }

    pub fn fill_composition(&mut self, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        let span = cursor.span();
        cursor.expect_word("peak")?;
        let peak = cursor.small()?;
        cursor.expect("{")?;
        if self.automaton.composition.is_some() {
            return Err(fault(codes::TWICE, "there is a composition already", span));
        }
        self.set_place(Place::Composition, span);
        let mut composition = Composition { peak, ..Composition::default() };
        for line in body {
            self.attempt(|parser| parser.read_composed(&mut composition, line));
        }
        self.automaton.composition = Some(composition);
        Ok(())
    }

    fn read_composed(&mut self, composition: &mut Composition, line: &Line) -> Read<()> {
        let mut cursor = Cursor::new(line);
        if cursor.word("queued") {
            let from = self.layer_at(&mut cursor)?;
            cursor.expect("->")?;
            let to_port = matches!(cursor.peek_second(), Some(super::token::TokenKind::Name(_))) && cursor.word("port");
            match to_port {
                true => composition.queued_outputs.push((from, self.port_at(&mut cursor)?)),
                false => composition.queued.push((from, self.layer_at(&mut cursor)?)),
            }
            return cursor.end();
        }
        cursor.expect_word("merged")?;
        let mut merged = vec![self.class_at(&mut cursor)?];
        while cursor.mark(",") {
            merged.push(self.class_at(&mut cursor)?);
        }
        composition.merged.push(merged);
        cursor.end()
    }

    /// Enters a handler with its signature; the answer is its index.
    pub fn add_handler(&mut self, keyword: &str, cursor: &mut Cursor) -> Read<usize> {
        let start = cursor.position();
        let (class, trigger) = self.trigger_at(keyword, cursor)?;
        let span = cursor.span_from(start);
        cursor.expect("(")?;
        let object = cursor.name()?;
        let params = if cursor.mark(")") {
            Vec::new()
        } else {
            cursor.expect(",")?;
            self.params_at(cursor)?
        };
        let later_capacity = if cursor.word("later") { cursor.small()? } else { 0 };
        let source = self.source_mark(cursor)?;
        cursor.expect("{")?;
        cursor.end()?;
        if self.automaton.handler_of(class, &trigger).is_some() {
            self.report(fault(codes::TWICE, "there is a handler for this already", span));
        }
        let entry = [vec![(object, Type::Ref(class))], params.clone()].concat();
        let body = BodyBuilder::new(&entry).finish();
        let index = self.automaton.handlers.len();
        self.set_place(Place::Unit(Unit::Handler(index.into())), span);
        self.automaton.handlers.push(Handler { class, trigger, params, body, later_capacity, source });
        Ok(index)
    }

    fn trigger_at(&self, keyword: &str, cursor: &mut Cursor) -> Read<(ClassId, Trigger)> {
        match keyword {
            "start" => Ok((self.class_at(cursor)?, Trigger::Start)),
            "settle" => Ok((self.class_at(cursor)?, Trigger::Settle)),
            "expiry" => {
                let start = cursor.position();
                let path = cursor.path()?;
                let (class, cell) = self.cell_path(&path, cursor.span_from(start))?;
                Ok((class, Trigger::Expiry(cell)))
            }
            _ => {
                let (class, event) = self.class_and_name(cursor, "handler")?;
                Ok((class, Trigger::Event(event)))
            }
        }
    }
}

fn empty_class(name: &str) -> Class {
    Class {
        name: name.to_owned(),
        layer: LayerId(0),
        capacity: 1,
        parent: None,
        cells: Vec::new(),
        settle_limit: None,
        source: None,
    }
}

fn empty_port(name: &str, index: usize) -> Port {
    Port {
        name: name.to_owned(),
        kind: PortKind::Application,
        inputs: Vec::new(),
        outputs: Vec::new(),
        group: index as u32,
    }
}

fn empty_function(name: &str) -> Function {
    Function {
        name: name.to_owned(),
        published: None,
        params: Vec::new(),
        results: Vec::new(),
        body: BodyBuilder::new(&[]).finish(),
    }
}
