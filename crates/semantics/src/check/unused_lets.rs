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
    let (copies, of_values) = (copies(program), of_values(program));
    let named: BTreeSet<Span> = program.mentions.iter().map(|mention| mention.of).collect();
    for (file, parse) in &loaded.files {
        let root = parse.syntax();
        let lets = root.descendants().filter_map(ast::LetStmt::cast).filter(|stmt| stmt.or().is_none());
        let names = lets.filter_map(|stmt| stmt.pattern()).flat_map(|pattern| pattern.names());
        let names: Vec<Name> = names.map(|name| tree::name(*file, &name)).filter(is_bound).collect();
        let copies: Vec<&Name> = copies.iter().filter(|name| name.span.file == *file).collect();
        if names.is_empty() && copies.is_empty() {
            continue;
        }
        let (own, within) = own_next_values(*file, &root);
        let in_file = program.mentions.iter().filter(|mention| mention.at.file == *file);
        let is_set = |mention: &&Mention| {
            own.contains(&mention.at) || within.contains(&mention.at) && of_values.contains(&mention.of)
        };
        let (set, others): (Vec<&Mention>, Vec<&Mention>) = in_file.partition(is_set);
        let read: BTreeSet<Span> = others.into_iter().map(|mention| mention.of).collect();
        out.extend(names.iter().filter(|name| !read.contains(&name.span)).map(|name| unused(name, &named)));
        for copy in copies {
            let is_let = names.iter().any(|name| name.span == copy.span);
            let changed = set.iter().find(|mention| mention.of == copy.span);
            if let Some(changed) = changed.filter(|_| !is_let && !read.contains(&copy.span)) {
                out.push(changed_copy(copy, changed.at));
            }
        }
    }
}

/// A copy that is changed, and that nothing reads: of an entry of a map, an element of a vector, a field of a header.
fn changed_copy(name: &Name, at: Span) -> Diagnostic {
    let text = format!("`{}` is a copy: it is changed here, and nothing reads it", name.text);
    let found = Diagnostic::warning(codes::UNUSED_LOCAL, text).at(at, "changes the copy and nothing else");
    let help =
        format!("put it back where it comes from, as in `seen[key] = {} or {{ }}`, or change that itself", name.text);
    found.label(name.span, "copied here").help(help)
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

/// The names that are bound to values by something else than a `let`: by `if let`, loops, heads of handlers, arms. What functions are given,
/// they may change for themselves.
fn copies(program: &Program) -> Vec<Name> {
    let mut copies: Vec<Name> = Vec::new();
    let handlers = program.layers.iter().flat_map(|layer| &layer.handlers);
    for handler in handlers {
        let is_value =
            |local: &&Local| !local.is_hidden && !matches!(local.ty, Type::Message | Type::Object(_) | Type::Listener);
        copies.extend(handler.locals.iter().filter(is_value).map(|local| local.name.clone()));
    }
    copies.retain(|name| !name.is_meant());
    copies.sort_by_key(|name| name.span);
    copies.dedup_by_key(|name| name.span);
    copies
}

/// The places where locals are bound whose parts are their own; those of an object are state.
fn of_values(program: &Program) -> BTreeSet<Span> {
    let locals = program.code().flat_map(|(locals, _)| locals);
    locals.filter(|local| matches!(local.ty, Type::Record(_))).map(|local| local.name.span).collect()
}

/// The places of names in assignments to themselves: of the whole, `x = 3`, `x += 1`, `x = x + 1`, and of parts, `x.a = 1`, `x[0] = 1`.
fn own_next_values(file: FileId, root: &SyntaxNode) -> (BTreeSet<Span>, BTreeSet<Span>) {
    let (mut own, mut within) = (BTreeSet::new(), BTreeSet::new());
    for stmt in root.descendants().filter_map(ast::AssignStmt::cast) {
        let Some(tree) = stmt.target() else { continue };
        let Some(target) = whole(file, &tree) else { continue };
        let found = if tree::name_expr(file, &tree).is_some() { &mut own } else { &mut within };
        let value = stmt.value().map(|value| value.syntax().descendants());
        let names = value.into_iter().flatten().filter_map(ast::NameExpr::cast);
        found.extend(names.filter(|name| name.text() == target.text).map(|name| name.span(file)));
        found.insert(target.span);
    }
    (own, within)
}

/// The name of the value of which an assignment changes a part, or all: `x` of `x.a[0]`.
fn whole(file: FileId, target: &ast::Expr) -> Option<Name> {
    match target {
        ast::Expr::Field(field) => whole(file, &field.base()?),
        ast::Expr::Index(index) => whole(file, &index.base()?),
        other => tree::name_expr(file, other),
    }
}
