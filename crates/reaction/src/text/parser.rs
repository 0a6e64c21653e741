//! The state shared by all readers of items: what is read so far, and look-ups of names.

use mokume_base::{Code, Diagnostic, Span};

use super::cursor::{fault, unknown, Cursor, Read};
use super::token::{Line, TokenKind};
use crate::place::{Place, Places};
use crate::*;

/// An item: its head line, and the lines between its braces.
pub struct Item<'a> {
    pub keyword: &'static str,
    pub head: &'a Line,
    pub body: &'a [Line],
    /// Its index in the table of its kind.
    pub index: usize,
}

/// What is read so far. Reading goes on after every fault, so that one run finds them all.
pub struct Parser {
    pub automaton: Automaton,
    pub places: Places,
    pub diagnostics: Vec<Diagnostic>,
    /// Names of message cells' quotas, resolved once all cells are known.
    pub quotas: Vec<(ClassId, CellId, Vec<String>, Span)>,
    /// Names of the cells that hold the keys of maps of objects, resolved likewise.
    pub indices: Vec<(ClassId, CellId, Vec<String>, Span)>,
    /// The highest source number that is mentioned.
    pub last_source: Option<(u32, Span)>,
}

/// The code of a silent fault: an unknown name that was already reported at its definition.
pub const SILENT: Code = Code("");

impl Parser {
    /// Notes a fault and goes on. A silent fault, which was reported elsewhere, is ignored.
    pub fn report(&mut self, fault: impl Into<Box<Diagnostic>>) {
        let fault = fault.into();
        if fault.code != SILENT {
            self.diagnostics.push(*fault);
        }
    }

    /// Runs `read`; reports its fault and then gives `None`.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Option<T> {
        match read(self) {
            Ok(found) => Some(found),
            Err(fault) => {
                self.report(fault);
                None
            }
        }
    }

    /// Reads `#3`, if it is next.
    pub fn source_mark(&mut self, cursor: &mut Cursor) -> Read<Option<SourceId>> {
        let span = cursor.span();
        if !cursor.mark("#") {
            return Ok(None);
        }
        let number = cursor.small()?;
        if self.last_source.is_none_or(|(highest, _)| number > highest) {
            self.last_source = Some((number, span));
        }
        Ok(Some(SourceId(number)))
    }

    // -- finding what a name stands for

    /// Reads the name of a known class; the fault names similar ones.
    pub fn class_at(&self, cursor: &mut Cursor) -> Read<ClassId> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let known = self.automaton.classes.iter().map(|class| class.name.as_str());
        self.automaton.class_named(&name).ok_or_else(|| unknown("class", &name, cursor.span_from(start), known))
    }

    /// Reads the name of a known layer.
    pub fn layer_at(&self, cursor: &mut Cursor) -> Read<LayerId> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let known = self.automaton.layers.iter().map(|layer| layer.name.as_str());
        self.automaton.layer_named(&name).ok_or_else(|| unknown("layer", &name, cursor.span_from(start), known))
    }

    /// Reads the name of a known port.
    pub fn port_at(&self, cursor: &mut Cursor) -> Read<PortId> {
        let (span, name) = (cursor.span(), cursor.name()?);
        let known = self.automaton.ports.iter().map(|port| port.name.as_str());
        self.automaton.port_named(&name).ok_or_else(|| unknown("port", &name, span, known))
    }

    /// Reads the name of a known reason.
    pub fn reason_at(&self, cursor: &mut Cursor) -> Read<ReasonId> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let reasons = &self.automaton.reasons;
        let found = reasons.iter().position(|reason| reason.name == name).map(ReasonId::from);
        let known = reasons.iter().map(|reason| reason.name.as_str());
        found.ok_or_else(|| unknown("reason", &name, cursor.span_from(start), known))
    }

    /// Reads the name of a known header.
    pub fn header_at(&self, cursor: &mut Cursor) -> Read<HeaderId> {
        let start = cursor.position();
        let name = cursor.path()?.join(".");
        let known = self.automaton.headers.iter().map(|header| header.name.as_str());
        self.automaton.header_named(&name).ok_or_else(|| unknown("header", &name, cursor.span_from(start), known))
    }

    /// Reads `layer.Name.Variant`, or `layer.Name` of a header that is one record.
    pub fn variant_at(&self, cursor: &mut Cursor) -> Read<(HeaderId, VariantId)> {
        let start = cursor.position();
        let path = cursor.path()?;
        self.variant_named(&path, cursor.span_from(start))
    }

    /// The header and variant of a path: `layer.Name.Variant`, or `layer.Name` of a header that is one record.
    pub fn variant_named(&self, path: &[String], span: Span) -> Read<(HeaderId, VariantId)> {
        let whole = path.join(".");
        let (header, wanted) = match self.automaton.header_named(&whole) {
            Some(header) => (header, ""),
            None => {
                let (last, prefix) =
                    path.split_last().ok_or_else(|| fault(codes::SYNTAX, "a header belongs here", span))?;
                let known = self.automaton.headers.iter().map(|header| header.name.as_str());
                let prefix = prefix.join(".");
                let found =
                    self.automaton.header_named(&prefix).ok_or_else(|| unknown("header", &whole, span, known))?;
                (found, last.as_str())
            }
        };
        let variants = &self.automaton.headers[header.index()].variants;
        let found = variants.iter().position(|variant| variant.name == wanted);
        let known = variants.iter().map(|variant| variant.name.as_str());
        found.map(|index| (header, VariantId::from(index))).ok_or_else(|| unknown("variant", &whole, span, known))
    }

    /// Reads a type: `bool`, `uN`, `seqN`, `msg`, `reason`, an enumeration, or a class behind `@`.
    pub fn type_at(&self, cursor: &mut Cursor) -> Read<Type> {
        let start = cursor.position();
        if cursor.mark("@") {
            return Ok(Type::Ref(self.class_at(cursor)?));
        }
        if cursor.mark("[") {
            let count = cursor.small()?;
            cursor.expect("]")?;
            let item = self.type_at(cursor)?.as_item();
            let text = "an array has booleans, numbers, names of an enumeration or reasons";
            let item = item.ok_or_else(|| fault(codes::NOT_DEFINED, text, cursor.span_from(start)))?;
            return Ok(Type::Array(item, count));
        }
        let name = cursor.path()?.join(".");
        let enums = &self.automaton.enums;
        if let Some(index) = enums.iter().position(|found| found.name == name) {
            return Ok(Type::Enum(index.into()));
        }
        let bits = |prefix: &str| name.strip_prefix(prefix).and_then(|digits| digits.parse::<u8>().ok());
        match name.as_str() {
            "bool" => Ok(Type::Bool),
            "msg" => Ok(Type::Msg),
            "reason" => Ok(Type::Reason),
            _ => match (bits("seq"), bits("u")) {
                (Some(bits @ 1..=64), _) => Ok(Type::Seq(bits)),
                (_, Some(bits @ 1..=64)) => Ok(Type::U(bits)),
                _ => {
                    let known = ["bool", "msg", "reason", "u8", "u16", "u32", "u64", "seq32"].into_iter();
                    let known = known.chain(enums.iter().map(|found| found.name.as_str()));
                    Err(unknown("type", &name, cursor.span_from(start), known))
                }
            },
        }
    }

    /// Reads `name: type, …` up to and including `)`.
    pub fn params_at(&self, cursor: &mut Cursor) -> Read<Vec<(String, Type)>> {
        cursor.list(")", |cursor| self.param_at(cursor))
    }

    /// Reads `name: type`.
    pub fn param_at(&self, cursor: &mut Cursor) -> Read<(String, Type)> {
        let name = cursor.name()?;
        cursor.expect(":")?;
        Ok((name, self.type_at(cursor)?))
    }

    /// Reads a value of a known type: a number, `true`, or a name of the enumeration.
    pub fn value_at(&self, cursor: &mut Cursor, ty: Type) -> Read<u64> {
        let span = cursor.span();
        let value = match (ty, cursor.peek()) {
            (Type::Bool, _) if cursor.word("true") => 1,
            (Type::Bool, _) if cursor.word("false") => 0,
            (Type::Enum(id), Some(TokenKind::Name(_))) => {
                let name = cursor.name()?;
                let found = &self.automaton.enums[id.index()];
                let value = found.names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
                let known = found.names.iter().map(|(name, _)| name.as_str());
                value.ok_or_else(|| unknown(&format!("value of {}", found.name), &name, span, known))?
            }
            _ => cursor.number()?,
        };
        self.check_width(ty, value, span)?;
        Ok(value)
    }

    /// Fails if a number has more bits than the type.
    pub fn check_width(&self, ty: Type, value: u64, span: Span) -> Read<()> {
        let width = ty.width(&self.automaton);
        if matches!(ty, Type::Ref(_) | Type::Reason | Type::Msg | Type::Array(..)) || width >= 64 || value >> width == 0
        {
            return Ok(());
        }
        Err(fault(codes::NUMBER, format!("{value} does not fit into {width} bits"), span))
    }

    /// Sets the span of a place; the first span stays.
    pub fn set_place(&mut self, place: Place, span: Span) {
        self.places.set(place, span);
    }
}
