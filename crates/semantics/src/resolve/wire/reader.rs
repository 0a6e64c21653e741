//! A wire that is being read: what was met of it, and the list that it is in.

use mokume_base::{Diagnostic, FileId, Form};
use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::{codes, constants, suggest};

/// A field that was met already, on the way to here.
#[derive(Clone)]
pub struct Earlier {
    pub name: Name,
    pub width: u8,
    pub tag: bool,
    /// A size or checksum decides it.
    pub computed: bool,
    /// The header field that it carries, as the wire's text names it: `Layer.field`.
    pub carries: Option<String>,
}

pub struct WireReader<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub big: bool,
    /// By number; those of arms that were left have a name that no text can hold.
    pub fields: Vec<Earlier>,
    /// Of fields that were met, how their types say that they are written.
    pub written: Vec<(String, Option<Form>)>,
    /// Of fields that were met: `default 64`.
    pub defaults: Vec<(String, WireDefault)>,
    /// `pseudo source, destination`
    pub pseudo: Vec<Name>,
    /// Within `each block in Layer.blocks`: what stands for an element.
    pub element: Option<Element>,
    /// The names of all fields of the wire's text, wherever they stand.
    pub all: Vec<String>,
}

/// `block`, and the vector that it is an element of.
#[derive(Clone)]
pub struct Element {
    pub name: String,
    /// What elements of the lists around are called.
    pub around: Vec<String>,
    pub layer: Name,
    pub variant: Option<Name>,
    pub vector: Name,
}

impl WireReader<'_> {
    /// A report of a field that is not in front of where it is named.
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

    /// The number that an expression of constants stands for; no report.
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
