//! The names of variables and labels: as in the source, with a number added on a collision.
//!
//! Requires of the tree: its declarations are in place. Keeps: a name means one thing in a function.

use rustc_hash::FxHashSet as HashSet;

use super::build::INSTANCE;
use super::visit::each_statement;
use super::{Expr, Lines, Local, Routine, Stmt};
use crate::names::{identifier, Scope};

pub(super) struct Names {
    /// By variable.
    pub locals: Vec<String>,
    /// By label.
    pub labels: Vec<String>,
}

/// Marks parameters that the body does not use as unused.
pub(super) fn mark_unused(function: &mut Routine) {
    let mut used = HashSet::default();
    let mut speaks_of_instance = false;
    each_expression(function, &mut |part| match part {
        Expr::Local(local) => drop(used.insert(*local)),
        Expr::Name(word) => speaks_of_instance |= word == INSTANCE,
        _ => {}
    });
    let parameters = (0..function.locals.len()).map(Local).filter(|local| function.locals[local.0].is_parameter);
    let instance = (!speaks_of_instance).then(|| Expr::Name(INSTANCE.into()));
    let unused = instance.into_iter().chain(parameters.filter(|local| !used.contains(local)).map(Expr::Local));
    let unused: Vec<Stmt> = unused.map(Stmt::Unused).collect();
    function.body.splice(0..0, unused);
}

fn each_expression<'a>(function: &'a Routine, f: &mut impl FnMut(&'a Expr)) {
    each_statement(&function.body, &mut |statement| {
        statement.heads().for_each(|head| head.each(f));
    });
}

/// Assigns names in the order of the text; a name whose scope has ended is free again.
pub(super) fn names(function: &Routine) -> Names {
    let mut scope = Scope::default();
    scope.take(INSTANCE);
    each_expression(function, &mut |part| {
        if let Expr::Name(word) | Expr::Call { function: word, .. } = part {
            scope.take(word);
        }
    });
    let mut naming = Naming {
        function,
        names: Names {
            locals: vec![String::new(); function.locals.len()],
            labels: vec![String::new(); function.labels.len()],
        },
        labels: Scope::default(),
    };
    let parameters = (0..function.locals.len()).map(Local).filter(|local| function.locals[local.0].is_parameter);
    parameters.for_each(|local| drop(naming.local(&mut scope, local)));
    naming.block(&mut scope, &function.body);
    naming.names
}

struct Naming<'f> {
    function: &'f Routine,
    names: Names,
    /// Labels are visible in the whole function.
    labels: Scope,
}

impl Naming<'_> {
    fn block(&mut self, scope: &mut Scope, block: &Lines) {
        let mut own = Vec::new();
        for statement in block {
            match statement {
                Stmt::Let(local, _) | Stmt::Declare(local) | Stmt::Octets(local, _) => {
                    own.push(self.local(scope, *local));
                }
                Stmt::Label(label) => {
                    let name = self.labels.name(&identifier(&self.function.labels[label.0]));
                    self.names.labels[label.0] = name;
                }
                Stmt::If { .. } | Stmt::While { .. } | Stmt::Switch { .. } => {
                    statement.blocks().for_each(|inner| self.block(scope, inner));
                }
                Stmt::Set(..) | Stmt::Do(_) | Stmt::Goto(_) | Stmt::Return(_) | Stmt::Unused(_) => {}
            }
        }
        own.iter().for_each(|name| scope.leave(name));
    }

    fn local(&mut self, scope: &mut Scope, local: Local) -> String {
        let variable = &self.function.locals[local.0];
        let name = match variable.hint.as_str() {
            "" => scope.name(initial(&variable.ty)),
            hint => scope.name(hint),
        };
        self.names.locals[local.0] = name.clone();
        name
    }
}

/// The name of a value without a name in the source: by its kind.
fn initial(ty: &str) -> &'static str {
    match ty {
        "bool" => "is",
        "mk_ref" => "object",
        "mk_message *" => "message",
        _ => "value",
    }
}
