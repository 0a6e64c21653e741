//! Named parts may be written in any order, and are evaluated in the order of the text (docs/language.md, section 7).

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::Writer;

impl<'p> Writer<'_, 'p> {
    /// The values of each part; the parts are in the order of their declaration.
    pub fn as_written(&mut self, parts: &[&'p s::Expr]) -> Vec<Vec<r::Value>> {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|at| (parts[*at].span.file.0, parts[*at].span.start));
        let mut values = vec![Vec::new(); parts.len()];
        for at in order {
            values[at] = self.expr(parts[at]);
        }
        values
    }

    /// The same, as scalars at a border.
    pub fn written_at_border(&mut self, parts: &[&'p s::Expr]) -> Vec<Vec<r::Value>> {
        let values = self.as_written(parts);
        values.into_iter().zip(parts).map(|(values, part)| self.spread(part.ty, values)).collect()
    }

    /// A message written before other parts: one that is made here is made before them; a local is read after them, as
    /// they may read it too.
    pub fn made_first(&mut self, message: &'p s::Expr) -> Option<r::Value> {
        match message.kind {
            s::ExprKind::Give(_) => None,
            _ => Some(self.one(message)),
        }
    }
}
