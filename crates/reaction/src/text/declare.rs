//! Declarations: a first pass enters every item into its table by name, later passes fill them in.

use mokume_base::Span;

use super::cursor::{fault, Cursor, Read};
use super::parser::{Item, Parser};
use super::token::Line;
use crate::place::{Place, Unit};
use crate::*;

impl Parser {
    /// Enters an item into its table and returns its index.
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
            "outputs" => {
                self.automaton.outputs = cursor.small()?;
                cursor.end()?;
                return Ok(0);
            }
            "source" => return self.add_source(&mut cursor),
            "handler" | "start" | "expiry" | "settle" | "path" | "link" | "composed" => return Ok(0),
            _ => {}
        }
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let span = cursor.span_from(start);
        self.enter(item.keyword, name, span, item.head.span())
    }

    fn enter(&mut self, keyword: &str, name: String, span: Span, line: Span) -> Read<usize> {
        let a = &mut self.automaton;
        let known = is_known(a, keyword, &name);
        let twice = format!("there is a {keyword} `{name}` already");
        let (index, place) = match keyword {
            "param" => added(&mut a.params, Param { name, ty: Type::Bool, default: None }, Place::Param),
            "enum" => added(&mut a.enums, Enum { name, width: 8, open: false, names: Vec::new() }, Place::Enum),
            "attribute" => added(&mut a.attributes, Attribute { name, ty: Type::Bool, default: 0 }, Place::Attribute),
            "header" => added(&mut a.headers, Header { name, variants: Vec::new() }, Place::Header),
            "reason" => added(&mut a.reasons, Reason { name }, Place::Reason),
            "layer" => added(&mut a.layers, Layer { name, of: String::new(), shape: String::new() }, Place::Layer),
            "class" => added(&mut a.classes, empty_class(&name), Place::Class),
            "port" => {
                let port = empty_port(&name, a.ports.len());
                added(&mut a.ports, port, Place::Port)
            }
            "wire" => added(&mut a.wires, super::wire::empty(&name), Place::Wire),
            _ => added(&mut a.functions, empty_function(&name), |id| Place::Unit(Unit::Function(id))),
        };
        self.set_place(place, line);
        if known {
            self.report(fault(codes::TWICE, twice, span));
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

    /// Reads an enumeration. As in all `fill_` functions, the cursor is after the keyword, and `index` is the item's
    /// index in its table, where its name already is.
    pub fn fill_enum(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        cursor.expect(":")?;
        let span = cursor.span();
        let Type::U(width) = self.type_at(cursor)? else {
            return Err(fault(codes::SYNTAX, "an enumeration is a `uN`", span));
        };
        let open = cursor.word("open");
        cursor.expect("{")?;
        let mut next = 0;
        let names = cursor.list("}", |cursor| {
            let name = cursor.name()?;
            let value = if cursor.mark("=") { cursor.number()? } else { next };
            next = value.wrapping_add(1);
            Ok((name, value))
        })?;
        let found = &mut self.automaton.enums[index];
        (found.width, found.open, found.names) = (width, open, names);
        cursor.end()
    }

    /// Reads a parameter of the stack: its type, and its default if it has one.
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

    /// Reads an attribute of messages: its type, and its default or 0.
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

    /// Reads a header: one record in its own line, or an alternative in each line of `body`.
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

    /// Reads the definition that a layer is an instance of, and its shape; either may be missing.
    pub fn fill_layer(&mut self, index: usize, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        let of = if cursor.word("of") { cursor.path()?.join(".") } else { String::new() };
        let shape = if cursor.word("shape") { cursor.name()? } else { String::new() };
        let layer = &mut self.automaton.layers[index];
        (layer.of, layer.shape) = (of, shape);
        cursor.end()
    }
}

/// Adds an item to its list; returns its index and its place.
fn added<T, I: From<usize>>(list: &mut Vec<T>, item: T, place: impl Fn(I) -> Place) -> (usize, Place) {
    list.push(item);
    (list.len() - 1, place((list.len() - 1).into()))
}

/// Whether an item of the kind has the name already.
fn is_known(a: &Automaton, keyword: &str, name: &str) -> bool {
    match keyword {
        "param" => a.params.iter().any(|found| found.name == name),
        "enum" => a.enums.iter().any(|found| found.name == name),
        "attribute" => a.attributes.iter().any(|found| found.name == name),
        "header" => a.header_named(name).is_some(),
        "reason" => a.reasons.iter().any(|found| found.name == name),
        "layer" => a.layer_named(name).is_some(),
        "class" => a.class_named(name).is_some(),
        "port" => a.port_named(name).is_some(),
        "wire" => a.wire_named(name).is_some(),
        _ => a.function_named(name).is_some(),
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
        role: Role::Pure,
        params: Vec::new(),
        results: Vec::new(),
        body: BodyBuilder::new(&[]).finish(),
    }
}
