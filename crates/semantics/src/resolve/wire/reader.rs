//! A wire that is being resolved: the members so far, and the list that contains the current one.

use mokume_base::{Diagnostic, FileId, Form};
use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::{codes, constants, suggest};

/// A field that precedes the current place.
#[derive(Clone)]
pub struct Earlier {
    pub name: Name,
    pub width: u8,
    pub tag: bool,
    /// Whether it depends on a size or checksum.
    pub computed: bool,
    /// The header field that it carries, as in the wire's text: `Layer.field`.
    pub carries: Option<String>,
}

/// The state of reading a wire.
pub struct WireReader<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub big: bool,
    /// The fields by number; those of finished arms have names that no text can contain.
    pub fields: Vec<Earlier>,
    /// The notations of the fields so far, from their types.
    pub written: Vec<(String, Option<Form>)>,
    /// The defaults of the fields so far: `default 64`.
    pub defaults: Vec<(String, WireDefault)>,
    /// `pseudo source, destination`
    pub pseudo: Vec<Name>,
    /// Inside `each block in Layer.blocks`: the name of an element.
    pub element: Option<Element>,
    /// The names of all fields in the wire's text.
    pub all: Vec<String>,
}

/// `block`, and the vector that it is an element of.
#[derive(Clone)]
pub struct Element {
    pub name: String,
    /// The names of elements of the enclosing lists.
    pub around: Vec<String>,
    pub layer: Name,
    pub variant: Option<Name>,
    pub vector: Name,
}

impl WireReader<'_> {
    /// Reports a field that does not precede its use.
    pub fn not_in_front(&self, name: &Name) -> Diagnostic {
        let text = format!("there is no field `{}` in front of this", name.text);
        let found = Diagnostic::error(codes::WIRE_EARLIER, text)
            .at(name.span, "not known yet")
            .note("a packet is read from front to back");
        let hidden = format!(" {}", name.text);
        if self.fields.iter().any(|field| field.name.text == hidden) {
            return found.help(format!(
                "`{}` is in some packets only; name a field that is in all, or stand beside it",
                name.text
            ));
        }
        if self.all.contains(&name.text) {
            return found.help(format!("`{}` stands behind this: put it in front", name.text));
        }
        let known = self.fields.iter().map(|field| field.name.text.as_str()).filter(|known| !known.starts_with(' '));
        let help = suggest::help(&name.text, known);
        found.help(help.unwrap_or_else(|| format!("write it in front: `{}: u8 = …`", name.text)))
    }

    /// The value of a constant expression; no report.
    pub fn number(&mut self, value: &Tree) -> Option<u64> {
        let before = self.cx.out.len();
        let expr = expr::infer(&mut Body::constant(self.cx, self.file), value, None);
        let number = constants::eval(&self.cx.program, &expr).ok().and_then(|value| value.scalar());
        self.cx.out.truncate(before);
        number.filter(|_| expr.ty != Type::Unknown)
    }
}

impl Element {
    /// A part of the element, by its dotted name.
    pub fn part(&self, part: &str, span: mokume_base::Span) -> WireValue {
        let field = Name { text: format!("{}.{part}", self.vector.text), span };
        WireValue::Header { layer: self.layer.clone(), variant: self.variant.clone(), field, times: 1, plus: 0 }
    }
}
