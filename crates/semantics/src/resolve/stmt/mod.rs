//! Statements: what a body does, block by block.
//!
//! May assume: what [`super::expr`] and [`super::emit`] may. Keeps: a refused statement is left out, and the messages
//! that it names are excused, so that they are not reported as leaks. Statements that contain blocks call back here.

mod assign;
mod begins;
mod bindings;
mod calls;
mod changes;
mod containers;
mod control;
mod element_parts;
mod found;
pub mod function;
mod later;
mod lets;
mod lookup;
mod loops;
mod targets;
mod unnamed;
mod vector_parts;
mod vectors;
mod words;

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode, Stmt as Node};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr::state;
use crate::{codes, visit};

/// Resolves a block in its own scope.
pub fn block(body: &mut Body, block: Option<ast::Block>) -> Vec<Stmt> {
    let Some(block) = block else { return Vec::new() };
    body.scoped(|body| statements(body, &block.statements()))
}

fn statements(body: &mut Body, list: &[Node]) -> Vec<Stmt> {
    let mut done: Vec<Stmt> = Vec::new();
    let mut stays = 0;
    for (index, node) in list.iter().enumerate() {
        let left = visit::leaves(&done[stays..]);
        stays = done.len();
        if left {
            let span = body.span(node);
            let diagnostic = Diagnostic::warning(codes::UNREACHABLE, "this is never reached")
                .at(span, "every path has left before")
                .help("remove it, or move it in front of the `return`");
            body.report(diagnostic);
            // Its mistakes are still reported; its statements are left out.
            body.scoped(|body| statements(body, &list[index..]));
            return done;
        }
        if let Some(whole) = lets::with_rest(body, node, &list[index + 1..]) {
            done.extend(whole);
            return done;
        }
        statement(body, node, &mut done);
    }
    done
}

/// Resolves one statement; if it is refused, the messages that it names are excused.
fn statement(body: &mut Body, node: &Node, done: &mut Vec<Stmt>) {
    let before = (done.len(), body.cx.out.len());
    let outer = std::mem::take(&mut body.before);
    statement_kind(body, node, done);
    let first = std::mem::replace(&mut body.before, outer);
    done.splice(before.0..before.0, first);
    if done.len() == before.0 && (body.cx.out.len() > before.1 || names_broken(body, node)) {
        excuse(body, node);
    }
}

/// Whether it names a container whose declaration was refused and reported.
fn names_broken(body: &Body, node: &Node) -> bool {
    let Some(layer) = body.view.layer.filter(|_| !body.cx.said.broken.is_empty()) else { return false };
    let mut names = node.syntax().descendants().filter_map(ast::NameExpr::cast);
    names.any(|name| body.cx.said.broken.contains(&(layer, name.text())))
}

fn excuse(body: &mut Body, node: &Node) {
    for name in node.syntax().descendants().filter_map(ast::NameExpr::cast) {
        let local = body.locals.find(&name.text());
        body.excused.extend(local.filter(|local| body.locals.ty(*local) == Type::Message));
    }
}

fn statement_kind(body: &mut Body, node: &Node, done: &mut Vec<Stmt>) {
    let span = body.span(node);
    let mut push = |kind: Option<StmtKind>| done.extend(kind.map(|kind| Stmt { kind, span }));
    match node {
        Node::Let(stmt) => lets::read(body, stmt, span, done),
        Node::Assign(stmt) => push(assign::read(body, stmt, span)),
        Node::Expr(stmt) => push(calls::read(body, stmt, span)),
        Node::If(stmt) => push(control::if_(body, stmt, span)),
        Node::Match(stmt) => control::match_(body, stmt, span, done),
        Node::While(stmt) => push(loops::while_(body, stmt, span)),
        Node::For(stmt) => push(loops::for_(body, stmt, span)),
        Node::Return(stmt) => push(control::return_(body, stmt, span)),
        Node::Pass(_) => push(words::pass(body, span)),
        Node::Drop(stmt) => push(words::drop(body, stmt)),
        Node::Consume(stmt) => push(words::consume(body, stmt)),
        Node::Fail(stmt) => push(words::fail(body, stmt, span)),
        Node::Accept(stmt) => push(words::accept(body, stmt, span)),
        Node::Take(stmt) => push(words::take(body, stmt, span)),
        Node::Give(stmt) => {
            let quota = stmt.target().and_then(|target| state::quota(body, &target));
            let amount = words::amount(body, stmt.amount(), span);
            push(quota.map(|quota| StmtKind::Give { quota, amount }))
        }
        Node::Count(stmt) => push(words::count(body, stmt, span)),
        Node::Start(stmt) => push(words::start(body, stmt, span)),
        Node::Stop(stmt) => {
            push(stmt.value().and_then(|timer| state::timer(body, &timer)).map(|timer| StmtKind::Stop { timer }))
        }
        Node::Remove(stmt) => push(words::remove(body, stmt, span)),
        Node::End(stmt) => push(words::end(body, stmt, span)),
        Node::Again(_) => push(words::again(body, span)),
        Node::Renew(_) => push(words::renew(body, span)),
        Node::Later(stmt) => push(later::read(body, stmt, span)),
    }
}
