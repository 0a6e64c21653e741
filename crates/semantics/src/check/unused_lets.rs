//! Warnings: a name that a `let` binds, and that nothing reads.
//!
//! Keeps: only code that was resolved is judged. A name may go unused where what binds it does more: `if let`, loops, a
//! `let` with `or`, and calls of the layer's functions, which may change state.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::SyntaxNode;

use crate::load::Loaded;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, tree};

/// Reports names of `let` that nothing reads.
pub fn check(loaded: &Loaded, program: &Program, out: &mut Vec<Diagnostic>) {
    let resolved = bound_to_values(program);
    let is_bound = |name: &Name| !name.is_meant() && resolved.contains(&name.span);
    let named: BTreeSet<Span> = program.mentions.iter().map(|mention| mention.of).collect();
    for (file, parse) in &loaded.files {
        let root = parse.syntax();
        let lets = root.descendants().filter_map(ast::LetStmt::cast).filter(|stmt| stmt.or().is_none());
        let names = lets.filter_map(|stmt| stmt.pattern()).flat_map(|pattern| pattern.names());
        let names: Vec<Name> = names.map(|name| tree::name(*file, &name)).filter(is_bound).collect();
        if names.is_empty() {
            continue;
        }
        let own = own_next_values(*file, &root);
        let others = program.mentions.iter().filter(|mention| mention.at.file == *file && !own.contains(&mention.at));
        let read: BTreeSet<Span> = others.map(|mention| mention.of).collect();
        out.extend(names.iter().filter(|name| !read.contains(&name.span)).map(|name| unused(name, &named)));
    }
}

fn unused(name: &Name, named: &BTreeSet<Span>) -> Diagnostic {
    let (text, here) = match named.contains(&name.span) {
        true => (format!("local `{}` is set, and nothing reads it", name.text), "never read"),
        false => (format!("local `{}` is never used", name.text), "never used"),
    };
    let help = format!("remove it, or call it `_{}` to say that this is meant", name.text);
    Diagnostic::warning(codes::UNUSED_LOCAL, text).at(name.span, here).help(help)
}

/// The places of the names that are bound to values without effects.
fn bound_to_values(program: &Program) -> BTreeSet<Span> {
    let mut places = BTreeSet::new();
    for (locals, body) in program.code() {
        visit::walk(body, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Let { local, value }, .. }) = met else { return };
            if !visit::any_expr(value, |part| visit::own_call(part).is_some()) {
                places.insert(locals[local.index()].name.span);
            }
        });
    }
    places
}

/// The places of names in assignments to themselves: `x = 3`, `x += 1`, `x = x + 1`.
fn own_next_values(file: FileId, root: &SyntaxNode) -> BTreeSet<Span> {
    let mut own = BTreeSet::new();
    for stmt in root.descendants().filter_map(ast::AssignStmt::cast) {
        let Some(target) = stmt.target().and_then(|target| tree::name_expr(file, &target)) else { continue };
        let value = stmt.value().map(|value| value.syntax().descendants());
        let names = value.into_iter().flatten().filter_map(ast::NameExpr::cast);
        own.extend(names.filter(|name| name.text() == target.text).map(|name| name.span(file)));
        own.insert(target.span);
    }
    own
}
