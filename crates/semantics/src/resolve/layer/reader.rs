//! A layer whose text is being resolved.

use mokume_base::{FileId, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::context::{Context, Inside};
use crate::resolve::expr;

/// A text that a layer consists of: its own, or that of a part.
pub struct Source {
    pub file: FileId,
    /// Index into the layer's parts; `None` for the layer's own text.
    pub part: Option<usize>,
    pub members: Vec<ast::Member>,
}

/// A layer whose declarations are being resolved.
pub struct LayerReader<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub id: LayerId,
    /// The container whose state is being resolved.
    pub inside: Option<std::rc::Rc<Inside>>,
    /// The part of the layer whose text is being resolved.
    pub part: Option<usize>,
    /// The parts taken so far: the places of their names, and where they are taken.
    pub taken: Vec<(Span, Span)>,
    /// Members that a layer may have once: those found so far, with their places.
    pub once: Vec<(&'static str, Span)>,
}

impl<'a> LayerReader<'a> {
    /// A reader of a layer's own text.
    pub fn new(cx: &'a mut Context, file: FileId, id: LayerId) -> LayerReader<'a> {
        LayerReader { cx, file, id, inside: None, part: None, taken: Vec::new(), once: Vec::new() }
    }

    /// Switches to another text of the layer.
    pub fn at(&mut self, source: &Source) {
        self.file = source.file;
        self.part = source.part;
        self.once.clear();
    }

    /// The layer's name for something that the current text declares.
    pub fn full(&mut self, own: &Name) -> Name {
        match self.part {
            Some(part) => Name { text: self.this().parts[part].full(&own.text), span: own.span },
            None => own.clone(),
        }
    }

    /// The same for a scope's state; state of an object is qualified by the object's name, which has the part in it.
    pub fn full_in(&mut self, scope: ScopeKind, own: &Name) -> Name {
        if matches!(scope, ScopeKind::Object(_)) {
            return own.clone();
        }
        self.full(own)
    }

    /// A body for values and code of a scope in the current text.
    pub fn body(&mut self, kind: BodyKind, scope: ScopeKind) -> Body<'_> {
        let part = self.part;
        let mut body = Body::of_scope(self.cx, self.file, self.id, kind, scope);
        body.view.part = part;
        body
    }

    /// The layer.
    pub fn this(&mut self) -> &mut Layer {
        &mut self.cx.program.layers[self.id.index()]
    }

    /// A body for sizes and arguments: it sees the parameters of the layer, or of the container.
    pub fn argument(&mut self) -> Body<'_> {
        let mut body = Body::of_layer(self.cx, self.file, self.id, BodyKind::Argument);
        body.view.inside = self.inside.clone();
        body
    }

    /// Resolves a size.
    pub fn size(&mut self, size: Option<ast::Expr>, span: Span) -> Expr {
        expr::size(&mut self.argument(), size, span)
    }
}
