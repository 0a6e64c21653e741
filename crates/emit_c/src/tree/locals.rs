//! What variables and labels are called: as in the source where nothing collides, else with a number behind.
//!
//! Asks of the tree: its declarations stand. Keeps: a name means one thing in a function.

use std::collections::HashSet;

use super::visit::each_statement;
use super::{Expr, Routine, Local, Stmt};
use crate::names::{identifier, Scope};

pub(super) struct Names {
    /// By variable.
    pub locals: Vec<String>,
    /// By label.
    pub labels: Vec<String>,
}

/// Says of parameters that the body does not speak of that this is as it should be.
pub(super) fn mark_unused(function: &mut Routine) {
    let mut used = HashSet::new();
    each_expression(function, &mut |part| {
        if let Expr::Local(local) = part {
            used.insert(*local);
        }
    });
    let parameters = (0..function.locals.len()).map(Local).filter(|local| function.locals[local.0].is_parameter);
    let unused: Vec<Stmt> = parameters.filter(|local| !used.contains(local)).map(Stmt::Unused).collect();
    function.body.splice(0..0, unused);
}

fn each_expression<'a>(function: &'a Routine, f: &mut impl FnMut(&'a Expr)) {
    each_statement(&function.body, &mut |statement| {
        statement.heads().into_iter().for_each(|head| head.each(f));
    });
}

/// Names in the order in which one reads them.
pub(super) fn names(function: &Routine) -> Names {
    let mut scope = Scope::default();
    scope.take("k");
    each_expression(function, &mut |part| {
        if let Expr::Name(word) | Expr::Call { function: word, .. } = part {
            scope.take(word);
        }
    });
    let mut names = Names {
        locals: vec![String::new(); function.locals.len()],
        labels: vec![String::new(); function.labels.len()],
    };
    let mut name_local = |names: &mut Names, local: Local| {
        let variable = &function.locals[local.0];
        names.locals[local.0] = match variable.hint.as_str() {
            "" => scope.name(initial(&variable.ty)),
            hint => scope.name(hint),
        };
    };
    (0..function.locals.len())
        .map(Local)
        .filter(|local| function.locals[local.0].is_parameter)
        .for_each(|local| name_local(&mut names, local));
    let mut labels = Scope::default();
    each_statement(&function.body, &mut |statement| match statement {
        Stmt::Let(local, _) | Stmt::Declare(local) | Stmt::Octets(local, _) => name_local(&mut names, *local),
        Stmt::Label(label) => names.labels[label.0] = labels.name(&identifier(&function.labels[label.0])),
        Stmt::Set(..)
        | Stmt::Do(_)
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::Goto(_)
        | Stmt::Return(_)
        | Stmt::Unused(_) => {}
    });
    names
}

/// What a value without a name in the source is called: by its kind.
fn initial(ty: &str) -> &'static str {
    match ty {
        "bool" => "is",
        "mk_ref" => "object",
        "mk_message *" => "message",
        _ => "value",
    }
}
