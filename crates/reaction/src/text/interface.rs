//! Ports, the signatures of functions and handlers, and the composition, from text.

use super::cursor::{fault, unknown, Cursor, Read};
use super::parser::Parser;
use super::token::{Line, TokenKind};
use crate::place::{Place, Unit};
use crate::*;

impl Parser {
    /// Reads a port with its events. Handlers of inputs are names; the verifier checks that they exist.
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
        let defaults = match cursor.word("default") {
            true => {
                cursor.expect("(")?;
                cursor.list(")", |cursor| cursor.number())?
            }
            false => Vec::new(),
        };
        cursor.expect("->")?;
        let (class, handler) = self.class_and_name(&mut cursor, "handler")?;
        self.automaton.ports[index].inputs.push(PortInput { event, params, class, handler, defaults });
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

    /// Reads the signature of a function, published value or procedure (`keyword` tells which). Bodies are read later,
    /// once all signatures are known.
    pub fn fill_function(&mut self, index: usize, keyword: &str, cursor: &mut Cursor) -> Read<()> {
        cursor.path()?;
        let procedure = keyword == "procedure";
        let layer = match procedure {
            true => {
                cursor.expect_word("of")?;
                Some(self.layer_at(cursor)?)
            }
            false => None,
        };
        cursor.expect("(")?;
        let span = cursor.span();
        let params = self.params_at(cursor)?;
        cursor.expect("->")?;
        cursor.expect("(")?;
        let results = cursor.list(")", |cursor| self.type_at(cursor))?;
        let refused = match procedure && cursor.word("else") {
            true => {
                cursor.expect("(")?;
                Some(cursor.list(")", |cursor| self.type_at(cursor))?)
            }
            false => None,
        };
        let role = match (keyword, params.first(), layer) {
            (_, _, Some(layer)) => Role::Procedure { layer, refused },
            ("publish", Some((_, Type::Ref(class))), None) => Role::Published(*class),
            ("publish", _, None) => {
                return Err(fault(codes::SYNTAX, "the first parameter of a published value is its object", span));
            }
            ("memo", ..) => Role::Memo,
            _ => Role::Pure,
        };
        let function = &mut self.automaton.functions[index];
        (function.params, function.results, function.role) = (params, results, role);
        cursor.expect("{")?;
        cursor.end()
    }

    /// Reads the composition. An automaton has at most one.
    pub fn fill_composition(&mut self, cursor: &mut Cursor, body: &[Line]) -> Read<()> {
        let span = cursor.span();
        cursor.expect_word("peak")?;
        let peak = cursor.small()?;
        cursor.expect_word("outputs")?;
        let outputs = cursor.small()?;
        cursor.expect("{")?;
        if self.automaton.composition.is_some() {
            return Err(fault(codes::TWICE, "there is a composition already", span));
        }
        self.set_place(Place::Composition, span);
        let mut composition = Composition { peak, outputs, ..Composition::default() };
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
            let to_port = matches!(cursor.peek_second(), Some(TokenKind::Name(_))) && cursor.word("port");
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

    /// Enters a handler with its signature and returns its index.
    pub fn add_handler(&mut self, keyword: &str, cursor: &mut Cursor) -> Read<usize> {
        let start = cursor.position();
        let (class, trigger) = self.trigger_at(keyword, cursor)?;
        let span = cursor.span_from(start);
        let (object, params) = self.object_and_params(cursor)?;
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

    /// Enters a path and returns its index.
    pub fn add_path(&mut self, cursor: &mut Cursor) -> Read<usize> {
        let start = cursor.position();
        let expiry = matches!(cursor.peek_second(), Some(TokenKind::Name(_))) && cursor.word("expiry");
        let word = if expiry { "expiry" } else { "handler" };
        let (class, trigger) = self.trigger_at(word, cursor)?;
        let span = cursor.span_from(start);
        let (object, params) = self.object_and_params(cursor)?;
        cursor.expect("{")?;
        cursor.end()?;
        let Some(handler) = self.automaton.handler_of(class, &trigger) else {
            return Err(fault(codes::NO_HANDLER, "there is no handler for what this is a path of", span));
        };
        let entry = [vec![(object, Type::Ref(class))], params].concat();
        let index = self.automaton.paths.len();
        self.set_place(Place::Unit(Unit::Path(index.into())), span);
        self.automaton.paths.push(Path { handler, body: BodyBuilder::new(&entry).finish() });
        Ok(index)
    }

    /// Reads `(s, m: msg)`: the object, and the event's parameters.
    fn object_and_params(&self, cursor: &mut Cursor) -> Read<(String, Vec<(String, Type)>)> {
        cursor.expect("(")?;
        let object = cursor.name()?;
        if cursor.mark(")") {
            return Ok((object, Vec::new()));
        }
        cursor.expect(",")?;
        Ok((object, self.params_at(cursor)?))
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
