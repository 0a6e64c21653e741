//! Visits of trees: the parts of an expression, the expressions of a statement, the blocks in a statement.

use super::{Expr, Lines, Stmt};

impl Expr {
    /// Its direct parts.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Local(_) | Expr::Name(_) | Expr::Number(_) | Expr::Bool(_) | Expr::SizeOf(_) => Vec::new(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) | Expr::Expect(_, a) => {
                vec![&**a]
            }
            Expr::Infix(_, a, b) | Expr::Index(a, b) => vec![&**a, &**b],
            Expr::Conditional(parts) => parts.iter().collect(),
            Expr::Call { args, .. } | Expr::Array(_, args) => args.iter().collect(),
        }
    }

    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Local(_) | Expr::Name(_) | Expr::Number(_) | Expr::Bool(_) | Expr::SizeOf(_) => Vec::new(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) | Expr::Expect(_, a) => {
                vec![&mut **a]
            }
            Expr::Infix(_, a, b) | Expr::Index(a, b) => vec![&mut **a, &mut **b],
            Expr::Conditional(parts) => parts.iter_mut().collect(),
            Expr::Call { args, .. } | Expr::Array(_, args) => args.iter_mut().collect(),
        }
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
    /// The expressions that are evaluated when the statement begins, its blocks apart.
    pub fn heads(&self) -> Vec<&Expr> {
        match self {
            Stmt::Let(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) => vec![value],
            Stmt::Set(place, _, value) => vec![place, value],
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => vec![condition],
            Stmt::Switch { on, .. } => vec![on],
            Stmt::Declare(_)
            | Stmt::Octets(..)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Unused(_) => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn heads_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Stmt::Let(_, value) | Stmt::Do(value) | Stmt::Return(Some(value)) => vec![value],
            Stmt::Set(place, _, value) => vec![place, value],
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => vec![condition],
            Stmt::Switch { on, .. } => vec![on],
            Stmt::Declare(_)
            | Stmt::Octets(..)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Unused(_) => Vec::new(),
        }
    }

    pub fn blocks(&self) -> Vec<&Lines> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::While { body, .. } => vec![body],
            Stmt::Switch { cases, default, .. } => cases.iter().map(|(_, block)| block).chain([default]).collect(),
            Stmt::Let(..)
            | Stmt::Declare(_)
            | Stmt::Set(..)
            | Stmt::Octets(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Unused(_) => Vec::new(),
        }
    }

    pub fn blocks_mut(&mut self) -> Vec<&mut Lines> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::While { body, .. } => vec![body],
            Stmt::Switch { cases, default, .. } => cases.iter_mut().map(|(_, block)| block).chain([default]).collect(),
            Stmt::Let(..)
            | Stmt::Declare(_)
            | Stmt::Set(..)
            | Stmt::Octets(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Unused(_) => Vec::new(),
        }
    }
}

/// Runs `f` on each statement, those of inner blocks behind the one that they are in.
pub(super) fn each_statement<'a>(block: &'a Lines, f: &mut impl FnMut(&'a Stmt)) {
    for statement in block {
        f(statement);
        statement.blocks().into_iter().for_each(|inner| each_statement(inner, f));
    }
}
