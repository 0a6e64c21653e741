//! A layer whose text is being read.

use mokume_base::{FileId, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::context::{Context, Inside};
use crate::resolve::expr;

/// A layer whose declarations are being read.
pub struct LayerReader<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub id: LayerId,
    /// The container whose state is being read.
    pub inside: Option<std::rc::Rc<Inside>>,
    /// Members that a layer has once, as far as they were met, and where.
    pub once: Vec<(&'static str, Span)>,
}

impl LayerReader<'_> {
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

    /// How large something is.
    pub fn size(&mut self, size: Option<ast::Expr>, span: Span) -> Expr {
        expr::size(&mut self.argument(), size, span)
    }
}
