//! Routers over several layers: which one is meant, what each publishes, and how many there are (docs, section 3).
//!
//! Keeps: in such a router nothing below is named without saying which, in any other nothing with it.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use super::body::{make, unknown, Body};
use super::layers::Declare;
use crate::program::*;
use crate::{codes, tree};

impl Declare<'_> {
    /// `below several path`
    pub fn several(&mut self, several: &ast::Several, span: Span) {
        let Some(name) = tree::some_name(self.file, several.name()) else { return };
        self.only(Shape::Router, "below several", span);
        if let Some(first) = self.this().several.clone() {
            let diagnostic = super::items::twice("name for which layer below", &name, &first);
            return self.cx.report(diagnostic);
        }
        self.this().several = Some(name);
    }
}

impl Body<'_> {
    /// `below.name` in any layer, `below.count` in a router over several.
    pub(super) fn of_below(&mut self, name: &Name, span: Span) -> Expr {
        let Some(several) = self.this_layer().and_then(|layer| layer.several.clone()) else {
            return self.below(name, None, None, span);
        };
        if name.text == "count" {
            return make(ExprKind::BelowCount, Type::UInt(32), span);
        }
        let text = format!("`below.{}` of which of the layers below?", name.text);
        let help = format!("write `below[flow.{}].{}`, or `below.{}(flow)`", several.text, name.text, name.text);
        self.error(codes::WHICH_BELOW, text, span, "there are several", &help);
        unknown(span)
    }

    /// `below[i].mtu`, `below[i].pseudo_sum(flow)`; none if `base` is something else.
    pub(super) fn below_at(&mut self, base: &Tree, name: &Name, args: Option<&[ast::Arg]>, span: Span) -> Option<Expr> {
        let Tree::Index(indexed) = base else { return None };
        let owner = tree::name_expr(self.file, &indexed.base()?)?;
        if owner.text != "below" || self.local("below").is_some() || self.find_state("below").is_some() {
            return None;
        }
        if self.this_layer().is_none_or(|layer| layer.several.is_none()) {
            let text = "this layer stands on one other";
            let help = format!("write `below.{}`; a router over several says `below several path`", name.text);
            self.error(codes::WHICH_BELOW, text, owner.span, "not a choice", &help);
            return Some(unknown(span));
        }
        let indices = indexed.indices();
        let [index] = indices.as_slice() else {
            let help = format!("write `below[i].{}`", name.text);
            self.error(codes::WRONG_COUNT, "one number says which layer below", span, "expected one", &help);
            return Some(unknown(span));
        };
        let index = Box::new(self.array_index(index));
        let flow = match args {
            None => None,
            Some(args) => {
                let values = self.plain_args(&name.text, args, 1, span)?;
                Some(Box::new(self.value(&values[0], Type::Flow(Side::Below))))
            }
        };
        Some(self.below(name, flow, Some(index), span))
    }

    /// A router over several layers says which one a message goes to.
    pub(super) fn says_which(&mut self, to: bool, span: Span) {
        let Some(several) = self.this_layer().and_then(|layer| layer.several.clone()) else { return };
        if !to {
            let help = format!("write `below.send(msg) to flow({}: …)`", several.text);
            self.error(codes::WHICH_BELOW, "to which of the layers below?", span, "not said here", &help);
        }
    }

    /// Whether the layer is a router that lets the flows of those below pass, and chooses among them alone.
    pub(super) fn chooses(&self) -> bool {
        self.this_layer().is_some_and(|layer| layer.several.is_some() && layer.address.is_empty())
    }
}
