//! The lines of one body: blocks are found first, then operations are read in order.

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{Diagnostic, Span};

use super::cursor::{fault, unknown, Cursor, Read};
use super::parser::{Item, Parser, SILENT};
use super::token::{Line, TokenKind};
use crate::place::{Place, Places, Unit};
use crate::*;

/// A literal. Its type comes from its context, unless it is written with it.
#[derive(Clone, Debug)]
pub enum Literal {
    Number(u64),
    Null,
}

/// Reads one body. `'p` is the automaton with all declarations in place.
pub struct BodyReader<'p> {
    pub parser: &'p Parser,
    pub builder: BodyBuilder,
    pub names: HashMap<String, Value>,
    pub labels: HashMap<String, BlockId>,
    /// Literals of the current line that still need a type.
    pub pending: Vec<(Value, Literal, Span)>,
    /// Constants of the current line, by value: they are placed before the operation, in the order of its operands.
    pub constants: HashMap<Value, OpKind>,
    pub results: Results,
    unit: Unit,
    places: Places,
    diagnostics: Vec<Diagnostic>,
    /// Results of lines that could not be read; their uses are not reported.
    lost: Vec<String>,
    last_source: Option<(u32, Span)>,
}

/// Reads the body of `unit` and puts it into the automaton.
pub fn read(parser: &mut Parser, unit: Unit, item: &Item) {
    let (params, results) = signature(&parser.automaton, unit);
    let mut reader = BodyReader {
        parser,
        builder: BodyBuilder::new(&params),
        names: HashMap::default(),
        labels: HashMap::default(),
        pending: Vec::new(),
        constants: HashMap::default(),
        results,
        unit,
        places: Places::default(),
        diagnostics: Vec::new(),
        lost: Vec::new(),
        last_source: None,
    };
    reader.name_params(BlockId(0), &params, item.head.span());
    reader.find_blocks(item);
    reader.read_lines(item);
    let BodyReader { builder, places, diagnostics, last_source, .. } = reader;
    parser.places.extend(places);
    parser.diagnostics.extend(diagnostics);
    parser.last_source = parser.last_source.max_by_number(last_source);
    match unit {
        Unit::Function(id) => parser.automaton.functions[id.index()].body = builder.finish(),
        Unit::Handler(id) => parser.automaton.handlers[id.index()].body = builder.finish(),
        Unit::Path(id) => parser.automaton.paths[id.index()].body = builder.finish(),
    }
}

trait HigherSource {
    fn max_by_number(self, other: Self) -> Self;
}

impl HigherSource for Option<(u32, Span)> {
    fn max_by_number(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(if b.0 > a.0 { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// The types of a body's results, and of what it gives back when it refuses.
pub type Results = (Vec<Type>, Vec<Type>);

/// The parameters and results of a unit.
fn signature(automaton: &Automaton, unit: Unit) -> (Vec<(String, Type)>, Results) {
    match unit {
        Unit::Function(id) => {
            let function = &automaton.functions[id.index()];
            (function.params.clone(), (function.results.clone(), function.refused().to_vec()))
        }
        Unit::Path(id) => {
            let path = &automaton.paths[id.index()];
            let values = path.body.values.iter().map(|info| (info.name.clone(), info.ty)).collect();
            (values, (Vec::new(), automaton.given_back(path)))
        }
        Unit::Handler(id) => {
            let handler = automaton.handler(id);
            let values = &handler.body.values;
            (values.iter().map(|info| (info.name.clone(), info.ty)).collect(), (Vec::new(), Vec::new()))
        }
    }
}

/// `label:`, `label(x: u8):`, `label(x: u8) bound 4:`
fn is_head(line: &Line) -> bool {
    line.ends_with(":")
}

impl BodyReader<'_> {
    /// The automaton so far: all declarations, and the bodies before this one.
    pub fn automaton(&self) -> &Automaton {
        &self.parser.automaton
    }

    /// Notes a fault and goes on. A silent fault, which was reported elsewhere, is ignored.
    pub fn report(&mut self, fault: impl Into<Box<Diagnostic>>) {
        let fault = fault.into();
        if fault.code != SILENT {
            self.diagnostics.push(*fault);
        }
    }

    fn name_params(&mut self, block: BlockId, params: &[(String, Type)], span: Span) {
        let values = self.builder.params(block).to_vec();
        for ((name, _), value) in params.iter().zip(values) {
            self.define(name, value, span);
        }
    }

    fn define(&mut self, name: &str, value: Value, span: Span) {
        self.builder.set_name(value, name);
        if self.names.insert(name.to_owned(), value).is_some() {
            self.report(fault(codes::TWICE, format!("`{name}` is defined twice in this body"), span));
        }
    }

    fn find_blocks(&mut self, item: &Item) {
        for line in item.body.iter().filter(|line| is_head(line)) {
            if let Err(fault) = self.enter_block(line) {
                self.report(fault);
            }
        }
    }

    fn enter_block(&mut self, line: &Line) -> Read<()> {
        let mut cursor = Cursor::new(line);
        let (span, label) = (cursor.span(), cursor.name()?);
        let params = if cursor.mark("(") { self.parser.params_at(&mut cursor)? } else { Vec::new() };
        let block = self.builder.block(label.clone(), &params);
        self.name_params(block, &params, line.span());
        if cursor.word("bound") {
            let bound = cursor.small()?;
            self.builder.set_bound(block, bound);
        }
        cursor.expect(":")?;
        cursor.end()?;
        self.places.set(Place::Block(self.unit, block), line.span());
        if label == "entry" || self.labels.insert(label.clone(), block).is_some() {
            self.report(fault(codes::TWICE, format!("there is a block `{label}` already"), span));
        }
        Ok(())
    }

    fn read_lines(&mut self, item: &Item) {
        let mut open = item.head.span();
        for line in item.body {
            if is_head(line) {
                self.check_ended(open);
                open = line.span();
                let label = Cursor::new(line).name().unwrap_or_default();
                match self.labels.get(&label) {
                    Some(block) => self.builder.select(*block),
                    None => self.builder.end(Terminator::Return),
                }
                continue;
            }
            if self.builder.current().is_none() {
                let message = "nothing can follow the end of a block but the label of the next";
                self.report(fault(codes::UNENDED, message, line.span()));
                continue;
            }
            if let Err(fault) = self.read_line(line) {
                self.report(fault);
                self.lose(line);
            }
        }
        self.check_ended(open);
    }

    fn check_ended(&mut self, head: Span) {
        if self.builder.current().is_some() && self.diagnostics.is_empty() {
            let diagnostic =
                Diagnostic::error(codes::UNENDED, "a block does not end").at(head, "the block starts here");
            self.report(Box::new(
                diagnostic.help("end it with `return`, `jump`, `br`, or another operation that branches"),
            ));
        }
    }

    /// Skips a line that could not be read: a terminator still ends its block, and the names of results are noted as
    /// lost.
    fn lose(&mut self, line: &Line) {
        self.pending.clear();
        self.constants.clear();
        let mut cursor = Cursor::new(line);
        if super::terminator::is_terminator(&cursor) {
            self.builder.end(Terminator::Return);
        } else if let Ok(names) = result_names(&mut cursor) {
            self.lost.extend(names.into_iter().map(|(name, _)| name));
        }
    }

    fn read_line(&mut self, line: &Line) -> Read<()> {
        let mut cursor = Cursor::new(line);
        let Some(block) = self.builder.current() else { return Ok(()) };
        let mark_place = |reader: &mut Self| {
            let index = reader.builder.body().blocks[block.index()].ops.len() as u32;
            reader.places.set(Place::Op(reader.unit, block, index), line.span());
        };
        if super::terminator::is_terminator(&cursor) {
            let terminator = self.terminator(&mut cursor)?;
            let mark = self.terminator_mark(&mut cursor)?;
            cursor.end()?;
            self.settle_terminator(&terminator)?;
            mark_place(self);
            self.builder.end_at(terminator, mark);
            return Ok(());
        }
        let names = result_names(&mut cursor)?;
        let kind = self.operation(&mut cursor)?;
        let source = self.source_mark(&mut cursor)?;
        cursor.end()?;
        self.builder.set_source(source);
        self.settle_op(&kind)?;
        mark_place(self);
        let results = self.builder.try_op(&self.parser.automaton, kind).ok_or_else(|| {
            fault(codes::OBJECT, "the operands of this operation make no sense: their types say nothing", line.span())
        })?;
        self.name_results(names, &results, line.span())
    }

    fn name_results(&mut self, names: Vec<(String, Span)>, results: &[Value], span: Span) -> Read<()> {
        if names.len() != results.len() {
            let message = format!("the operation has {} results, and {} are named", results.len(), names.len());
            return Err(fault(codes::COUNT, message, span));
        }
        for ((name, span), value) in names.into_iter().zip(results) {
            self.define(&name, *value, span);
        }
        Ok(())
    }

    /// Reads `#3:1`, if it is next.
    fn terminator_mark(&mut self, cursor: &mut Cursor) -> Read<Option<Mark>> {
        let Some(source) = self.source_mark(cursor)? else { return Ok(None) };
        cursor.expect(":")?;
        Ok(Some(Mark { source, nth: cursor.small()? }))
    }

    fn source_mark(&mut self, cursor: &mut Cursor) -> Read<Option<SourceId>> {
        let span = cursor.span();
        if !cursor.mark("#") {
            return Ok(None);
        }
        let number = cursor.small()?;
        self.last_source = self.last_source.max_by_number(Some((number, span)));
        Ok(Some(SourceId(number)))
    }

    // -- operands

    /// Reads the name of a value.
    pub fn value(&mut self, cursor: &mut Cursor) -> Read<Value> {
        let (span, name) = (cursor.span(), cursor.name()?);
        if let Some(value) = self.names.get(&name) {
            return Ok(*value);
        }
        if self.lost.contains(&name) {
            return Err(fault(SILENT, "", span));
        }
        Err(unknown("value", &name, span, self.names.keys().map(String::as_str)))
    }

    /// Reads a value or a literal.
    pub fn operand(&mut self, cursor: &mut Cursor) -> Read<Value> {
        let position = cursor.position();
        if let Some((literal, ty)) = self.literal(cursor)? {
            let value = self.builder.new_value(ty.unwrap_or(Type::Bool), "");
            let span = cursor.span_from(position);
            match ty {
                None => self.pending.push((value, literal, span)),
                Some(ty) => self.place_literal(value, &literal, ty, span)?,
            }
            return Ok(value);
        }
        self.value(cursor)
    }

    /// Reads a literal, and its type if it is written.
    fn literal(&mut self, cursor: &mut Cursor) -> Read<Option<(Literal, Option<Type>)>> {
        if let Some(TokenKind::Number(_)) = cursor.peek() {
            let number = Literal::Number(cursor.number()?);
            let ty = if cursor.mark(":") { Some(self.parser.type_at(cursor)?) } else { None };
            return Ok(Some((number, ty)));
        }
        for (word, number) in [("false", 0), ("true", 1)] {
            if cursor.word(word) {
                return Ok(Some((Literal::Number(number), Some(Type::Bool))));
            }
        }
        if cursor.word("null") {
            let ty = if cursor.is_mark("@") { Some(self.parser.type_at(cursor)?) } else { None };
            return Ok(Some((Literal::Null, ty)));
        }
        if cursor.word("reason") {
            let id = self.parser.reason_at(cursor)?;
            return Ok(Some((Literal::Number(id.0.into()), Some(Type::Reason))));
        }
        self.enum_literal(cursor)
    }

    /// `State.idle`
    fn enum_literal(&mut self, cursor: &mut Cursor) -> Read<Option<(Literal, Option<Type>)>> {
        if cursor.peek_second() != Some(&TokenKind::Mark(".")) {
            return Ok(None);
        }
        let position = cursor.position();
        let path = cursor.path()?;
        let span = cursor.span_from(position);
        let (name, prefix) = path.split_last().ok_or_else(|| fault(codes::SYNTAX, "a value belongs here", span))?;
        let (prefix, enums) = (prefix.join("."), &self.automaton().enums);
        let index = enums.iter().position(|found| found.name == prefix);
        let known = enums.iter().map(|found| found.name.as_str());
        let index = index.ok_or_else(|| unknown("enumeration", &prefix, span, known))?;
        let value = enums[index].names.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let known = enums[index].names.iter().map(|(name, _)| name.as_str());
        let value = value.ok_or_else(|| unknown("value", name, span, known))?;
        Ok(Some((Literal::Number(value), Some(Type::Enum(index.into())))))
    }

    /// Gives a literal its type, and so its operation. Fails if the type has no such literal or too few bits.
    pub fn place_literal(&mut self, value: Value, literal: &Literal, ty: Type, span: Span) -> Read<()> {
        let kind = match (literal, ty) {
            (Literal::Null, Type::Ref(class)) => OpKind::Null { class },
            (Literal::Number(_), Type::Ref(_) | Type::Msg) | (Literal::Null, _) => {
                return Err(fault(codes::LITERAL, "a literal cannot be of the type that belongs here", span));
            }
            (Literal::Number(number), _) => {
                self.parser.check_width(ty, *number, span)?;
                OpKind::Const { ty, value: *number }
            }
        };
        self.builder.set_type(value, ty);
        self.constants.insert(value, kind);
        Ok(())
    }

    fn settle_op(&mut self, kind: &OpKind) -> Read<()> {
        let pending: Vec<Value> = self.pending.iter().map(|(value, ..)| *value).collect();
        let values = &self.builder.body().values;
        let wanted = Typing { automaton: &self.parser.automaton, values, pending: &pending }.literals(kind);
        self.settle(&kind.operands(), &wanted)
    }

    fn settle_terminator(&mut self, terminator: &Terminator) -> Read<()> {
        let pending: Vec<Value> = self.pending.iter().map(|(value, ..)| *value).collect();
        let typing =
            Typing { automaton: &self.parser.automaton, values: &self.builder.body().values, pending: &pending };
        let (mut operands, mut wanted) =
            (terminator.operands(), typing.terminator_operands(terminator, (&self.results.0, &self.results.1)));
        for (target, results) in terminator.targets().into_iter().zip(typing.target_results(terminator)) {
            let params = &self.builder.body().blocks[target.block.index()].params;
            let skip = results.map_or(0, |results| results.len());
            for (index, arg) in target.args.iter().enumerate() {
                operands.push(*arg);
                wanted.push(params.get(skip + index).and_then(|param| typing.type_of(*param)));
            }
        }
        self.settle(&operands, &wanted)
    }

    /// Gives each literal its type, and places the constants before the operation, in the order of the operands.
    fn settle(&mut self, operands: &[Value], wanted: &[Option<Type>]) -> Read<()> {
        for (value, literal, span) in std::mem::take(&mut self.pending) {
            let at = operands.iter().position(|operand| *operand == value);
            let ty = at.and_then(|at| wanted.get(at).copied().flatten()).ok_or_else(|| {
                let diagnostic = Diagnostic::error(codes::LITERAL, "the type of this literal is not known here");
                Box::new(diagnostic.at(span, "what type?").help("say it: `7:u32`, `null @layer.Class`"))
            })?;
            self.place_literal(value, &literal, ty, span)?;
        }
        let mut constants = std::mem::take(&mut self.constants);
        for operand in operands {
            if let Some(kind) = constants.remove(operand) {
                self.builder.push(Op { kind, results: vec![*operand], source: self.builder.source() });
            }
        }
        Ok(())
    }
}

/// Reads `a, b =`, if it is next.
fn result_names(cursor: &mut Cursor) -> Read<Vec<(String, Span)>> {
    let start = cursor.position();
    let mut names = Vec::new();
    while let Some(TokenKind::Name(name)) = cursor.peek() {
        names.push((name.clone(), cursor.span()));
        cursor.name()?;
        if cursor.mark("=") {
            return Ok(names);
        }
        if !cursor.mark(",") {
            break;
        }
    }
    cursor.go_back(start);
    Ok(Vec::new())
}
