//! C as a tree: the expressions and statements that bodies become, and the passes over them before they are written.
//!
//! Invariant: nothing here knows automata. A tree means what its C means, and every pass keeps that meaning; each
//! states in its first lines what it requires of the tree.

mod build;
mod choose;
mod effect;
mod flatten;
mod fold;
mod labels;
mod locals;
mod loops;
mod narrow;
mod print;
mod scope;
mod syntax;
#[cfg(test)]
mod tests;
mod visit;

pub(crate) use build::*;
pub(crate) use print::expression;
pub(crate) use syntax::*;

/// A function that is ready to be printed: names for its variables and labels, and the lines of its body.
pub(crate) struct Written {
    /// The names of the parameters, in order.
    pub parameters: Vec<String>,
    pub body: crate::text::Text,
}

impl Routine {
    /// Runs all passes, then prints the tree.
    pub fn write(mut self) -> Written {
        labels::fall_through(&mut self.body);
        flatten::flatten(&mut self.body);
        labels::drop_dead(&mut self.body);
        fold::fold(&mut self);
        loops::find(&mut self.body);
        scope::declare(&mut self);
        locals::mark_unused(&mut self);
        narrow::narrow(&mut self);
        let names = locals::names(&self);
        let parameters = self.locals.iter().zip(&names.locals).filter(|(local, _)| local.is_parameter);
        Written { parameters: parameters.map(|(_, name)| name.clone()).collect(), body: print::body(&self, &names) }
    }
}
