//! Visits of trees: the parts of an expression, the expressions of a statement, the blocks in a statement.

use super::{Expr, Lines, Stmt};

impl Expr {
    /// Its direct parts.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let (first, second, list): (Option<&Expr>, Option<&Expr>, &[Expr]) = match self {
            Expr::Local(_) | Expr::Name(_) | Expr::Number(_) | Expr::Bool(_) | Expr::SizeOf(_) => (None, None, &[]),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) | Expr::Expect(_, a) => {
                (Some(&**a), None, &[])
            }
            Expr::Infix(_, a, b) | Expr::Index(a, b) => (Some(&**a), Some(&**b), &[]),
            Expr::Conditional(parts) => (None, None, &parts[..]),
            Expr::Call { args, .. } | Expr::Array(_, args) => (None, None, args),
        };
        first.into_iter().chain(second).chain(list)
    }

    /// The same, mutable.
    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (first, second, list): (Option<&mut Expr>, Option<&mut Expr>, &mut [Expr]) = match self {
            Expr::Local(_) | Expr::Name(_) | Expr::Number(_) | Expr::Bool(_) | Expr::SizeOf(_) => (None, None, &mut []),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) | Expr::Expect(_, a) => {
                (Some(&mut **a), None, &mut [])
            }
            Expr::Infix(_, a, b) | Expr::Index(a, b) => (Some(&mut **a), Some(&mut **b), &mut []),
            Expr::Conditional(parts) => (None, None, &mut parts[..]),
            Expr::Call { args, .. } | Expr::Array(_, args) => (None, None, args),
        };
        first.into_iter().chain(second).chain(list)
    }

    /// Runs `f` on it and on all parts of it, from the outside in.
    pub fn each<'a>(&'a self, f: &mut impl FnMut(&'a Expr)) {
        f(self);
        for part in self.parts() {
            part.each(f);
        }
    }
}

impl Stmt {
    /// The expressions that are evaluated when the statement begins, without its blocks.
    pub fn heads(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            Stmt::Let(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) => (Some(value), None),
            Stmt::Set(place, _, value) => (Some(place), Some(value)),
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => (Some(condition), None),
            Stmt::Switch { on, .. } => (Some(on), None),
            Stmt::Declare(_)
            | Stmt::Octets(..)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Unused(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The same, mutable.
    pub fn heads_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (first, second) = match self {
            Stmt::Let(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) => (Some(value), None),
            Stmt::Set(place, _, value) => (Some(place), Some(value)),
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => (Some(condition), None),
            Stmt::Switch { on, .. } => (Some(on), None),
            Stmt::Declare(_)
            | Stmt::Octets(..)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Unused(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The blocks in it, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Lines> {
        let (cases, first, second): (&[(Expr, Lines)], _, _) = match self {
            Stmt::If { then, otherwise, .. } => (&[], Some(then), Some(otherwise)),
            Stmt::While { body, .. } => (&[], Some(body), None),
            Stmt::Switch { cases, default, .. } => (cases, Some(default), None),
            Stmt::Let(..)
            | Stmt::Declare(_)
            | Stmt::Set(..)
            | Stmt::Octets(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Unused(_) => (&[], None, None),
        };
        cases.iter().map(|(_, block)| block).chain(first).chain(second)
    }

    /// The same, mutable.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Lines> {
        let (cases, first, second): (&mut [(Expr, Lines)], _, _) = match self {
            Stmt::If { then, otherwise, .. } => (&mut [], Some(then), Some(otherwise)),
            Stmt::While { body, .. } => (&mut [], Some(body), None),
            Stmt::Switch { cases, default, .. } => (cases, Some(default), None),
            Stmt::Let(..)
            | Stmt::Declare(_)
            | Stmt::Set(..)
            | Stmt::Octets(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Unused(_) => (&mut [], None, None),
        };
        cases.iter_mut().map(|(_, block)| block).chain(first).chain(second)
    }
}

/// Runs `f` on each statement; those of inner blocks come after the statement that contains them.
pub(super) fn each_statement<'a>(block: &'a Lines, f: &mut impl FnMut(&'a Stmt)) {
    for statement in block {
        f(statement);
        statement.blocks().for_each(|inner| each_statement(inner, f));
    }
}
