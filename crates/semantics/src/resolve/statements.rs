//! Statements: what a body does.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree, Stmt as Node};

use super::body::{Body, Place};
use super::emissions::Ends;
use crate::program::*;
use crate::{codes, tree, visit};

/// The arms of a `match`: numbers and block each, and what is left.
pub(super) struct Arms {
    pub cases: Vec<(Vec<u64>, Option<ast::Block>)>,
    pub otherwise: Option<ast::Block>,
}

impl Body<'_> {
    /// A block in a scope of its own.
    pub fn block(&mut self, block: Option<ast::Block>) -> Vec<Stmt> {
        let Some(block) = block else { return Vec::new() };
        self.scoped(|body| body.statements(&block.statements()))
    }

    pub(super) fn statements(&mut self, list: &[Node]) -> Vec<Stmt> {
        let mut done: Vec<Stmt> = Vec::new();
        for (index, node) in list.iter().enumerate() {
            if visit::leaves(&done) {
                let span = self.span(node);
                let diagnostic = Diagnostic::warning(codes::UNREACHABLE, "this is never reached")
                    .at(span, "every path has left before")
                    .help("remove it, or move it in front of the `return`");
                self.report(diagnostic);
                // Its mistakes are still worth a report; its statements are left out.
                self.scoped(|body| body.statements(&list[index..]));
                return done;
            }
            if let Some(whole) = self.let_or(node, &list[index + 1..]) {
                done.extend(whole);
                return done;
            }
            self.statement(node, &mut done);
        }
        done
    }

    /// One statement; if it is refused, the messages that it names are excused.
    pub(super) fn statement(&mut self, node: &Node, done: &mut Vec<Stmt>) {
        let before = (done.len(), self.cx.out.len());
        self.statement_kind(node, done);
        if done.len() == before.0 && self.cx.out.len() > before.1 {
            self.excuse(node);
        }
    }

    pub(super) fn excuse(&mut self, node: &Node) {
        for name in node.syntax().descendants().filter_map(ast::NameExpr::cast) {
            let local = self.local(&name.text());
            self.excused.extend(local.filter(|local| self.local_type(*local) == Type::Message));
        }
    }

    pub(super) fn statement_kind(&mut self, node: &Node, done: &mut Vec<Stmt>) {
        let span = self.span(node);
        let mut push = |kind: Option<StmtKind>| done.extend(kind.map(|kind| Stmt { kind, span }));
        match node {
            Node::Let(stmt) => self.let_statement(stmt, span, done),
            Node::Assign(stmt) => push(self.assign(stmt, span)),
            Node::Expr(stmt) => push(self.expr_statement(stmt, span)),
            Node::If(stmt) => push(self.if_statement(stmt, span)),
            Node::Match(stmt) => self.match_statement(stmt, span, done),
            Node::While(stmt) => push(self.while_statement(stmt, span)),
            Node::For(stmt) => push(self.for_statement(stmt, span)),
            Node::Return(stmt) => push(self.return_statement(stmt, span)),
            Node::Pass(_) => push(self.pass(span)),
            Node::Drop(stmt) => {
                push(self.lose(stmt.value(), stmt.reason()).map(|(message, reason)| StmtKind::Drop { message, reason }))
            }
            Node::Consume(stmt) => push(
                self.lose(stmt.value(), stmt.reason()).map(|(message, reason)| StmtKind::Consume { message, reason }),
            ),
            Node::Fail(stmt) => push(self.fail(stmt, span)),
            Node::Accept(stmt) => push(self.accept(stmt, span)),
            Node::Take(stmt) => push(self.take(stmt, span)),
            Node::Give(stmt) => {
                let quota = stmt.target().and_then(|target| self.quota(&target));
                let amount = self.amount(stmt.amount(), span);
                push(quota.map(|quota| StmtKind::Give { quota, amount }))
            }
            Node::Count(stmt) => push(self.count(stmt, span)),
            Node::Start(stmt) => push(self.start(stmt, span)),
            Node::Stop(stmt) => {
                push(stmt.value().and_then(|timer| self.timer(&timer)).map(|timer| StmtKind::Stop { timer }))
            }
            Node::Remove(stmt) => push(self.remove(stmt, span)),
            Node::End(stmt) => push(self.end(stmt, span)),
            Node::Again(_) => push(self.again(span)),
            Node::Later(stmt) => push(self.later(stmt, span)),
        }
    }

    /// Effects stand in handlers and in functions of layers only.
    pub(super) fn has_effects(&mut self, span: Span) -> bool {
        let allowed = self.model || self.layer.is_some() && matches!(self.place, Place::Function | Place::Handler(_));
        if !allowed {
            self.error(
                codes::MISPLACED,
                "a function of a file has no effects",
                span,
                "an effect",
                "write the function within the layer",
            );
        }
        allowed
    }

    pub(super) fn expr_statement(&mut self, stmt: &ast::ExprStmt, span: Span) -> Option<StmtKind> {
        let expr = stmt.expr()?;
        if let Some(found) = self.vector_statement(stmt, span) {
            return found;
        }
        if let Some(found) = self.call_or(stmt, span) {
            return found;
        }
        if let Some(or) = stmt.or() {
            let place = or.span(self.file);
            self.error(codes::MISPLACED, "nothing here can fail", place, "not needed", "leave the `or` out");
            self.block(or.block());
        }
        let Tree::Call(call) = &expr else {
            if tree::name_expr(self.file, &expr).is_some_and(|name| name.text == "end" && self.object.is_some()) {
                return Some(StmtKind::End { object: None });
            }
            if tree::name_expr(self.file, &expr).is_some_and(|name| name.text == "refuse" && self.may_refuse(&name)) {
                return Some(StmtKind::Refuse);
            }
            let found = self.expr(&expr, None);
            if found.ty != Type::Unknown {
                self.error(
                    codes::UNUSED_VALUE,
                    "this value is not used",
                    span,
                    "no effect",
                    "bind it with `let`, or remove it",
                );
            }
            return None;
        };
        let ends = Ends { to: stmt.to(), from: stmt.from() };
        if let Some(reply) = self.reply(call, span) {
            return reply.filter(|_| self.has_effects(span));
        }
        if let Some(emission) = self.emission(call, &ends, span) {
            return emission.filter(|_| self.has_effects(span)).map(StmtKind::Emit);
        }
        if let Some(kind) = self.change(call, span) {
            return kind.filter(|_| self.has_effects(span));
        }
        let found = self.expr(&expr, None);
        if found.ty == Type::Unknown {
            self.arguments_all_the_same(call);
        }
        match found.kind {
            ExprKind::Native { .. } | ExprKind::CallOwn { .. } | ExprKind::CallOn { .. } | ExprKind::Call { .. } => {
                Some(StmtKind::Call(found))
            }
            _ if found.ty == Type::Unknown => None,
            _ if found.ty == Type::Message => Some(StmtKind::Call(found)),
            _ => {
                self.error(
                    codes::UNUSED_VALUE,
                    "this value is not used",
                    span,
                    "no effect",
                    "bind it with `let`, or remove it",
                );
                None
            }
        }
    }

    /// `belwo.send(msg, seq: nxet)`: the target is misspelt, and what stands behind it is looked at.
    fn arguments_all_the_same(&mut self, call: &ast::CallExpr) {
        let Some((owner, _)) = call.callee().and_then(|callee| tree::name_field(self.file, &callee)) else { return };
        let is_target = crate::suggest::nearest(&owner.text, ["below", "above"].into_iter()).is_some();
        if is_target && self.local(&owner.text).is_none() && self.find_state(&owner.text).is_none() {
            let values: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
            values.iter().for_each(|value| drop(self.expr(value, None)));
        }
    }

    /// Calls that change a message or a place: `trim skip join put_… put`; none if it is something else.
    pub(super) fn change(&mut self, call: &ast::CallExpr, span: Span) -> Option<Option<StmtKind>> {
        let (base, name) = tree_method(self, call)?;
        let args: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
        let arity = match name.text.as_str() {
            "trim" | "skip" | "join" => 1,
            "put" => 2,
            text if text.strip_prefix("put_").is_some_and(|field| super::calls::field_of_octets(field).is_some()) => 2,
            _ => return None,
        };
        if args.len() != arity {
            let text = format!("`{}` takes {arity} arguments, not {}", name.text, args.len());
            self.error(codes::WRONG_COUNT, text, span, "here", "see the page on messages in `docs/language.md`");
            return Some(None);
        }
        if name.text == "put" {
            return Some(self.put(&base, &args));
        }
        let Some(message) = self.message(&base) else { return Some(None) };
        Some(Some(match name.text.as_str() {
            "trim" => StmtKind::Trim { message, size: self.value(&args[0], Type::UInt(32)) },
            "skip" => StmtKind::Skip { message, size: self.value(&args[0], Type::UInt(32)) },
            "join" => StmtKind::Join { message, behind: self.value(&args[0], Type::Message) },
            text => {
                let (width, big) = super::calls::field_of_octets(text.strip_prefix("put_").unwrap_or(text))?;
                let at = self.value(&args[0], Type::UInt(32));
                let value = self.value(&args[1], Type::UInt(width));
                StmtKind::Store { message, at, width, big, value }
            }
        }))
    }

    pub(super) fn put(&mut self, base: &Tree, args: &[Tree]) -> Option<StmtKind> {
        if let Some(kind) = self.put_element(base, args) {
            return kind;
        }
        let messages = self.places(base)?;
        let index = self.array_index(&args[0]);
        let message = self.message(&args[1])?;
        Some(StmtKind::Put { messages, index, message })
    }
}

impl Body<'_> {
    /// Parameters of an own handler that have no type take that of what is given to them first.
    pub(super) fn infer(&mut self, handler: u32, args: &[Expr]) {
        let Some(layer) = self.layer else { return };
        let handler = &mut self.cx.program.layers[layer.index()].handlers[handler as usize];
        let Event::Custom { params, .. } = &handler.event else { return };
        for (local, arg) in params.iter().zip(args) {
            if let Some(known) = handler.locals.get_mut(local.index()).filter(|known| known.ty == Type::Unknown) {
                known.ty = arg.ty;
            }
        }
    }
}

/// An own event of a layer: its handler, name and parameters.
pub(super) fn custom_head((index, handler): (usize, &Handler)) -> Option<(u32, String, Vec<Type>)> {
    let Event::Custom { name, params, .. } = &handler.event else { return None };
    let types = params.iter().map(|local| handler.locals.get(local.index()).map_or(Type::Unknown, |local| local.ty));
    Some((index as u32, name.text.clone(), types.collect()))
}

/// `base.name(…)` as its parts.
pub(super) fn tree_method(body: &Body, call: &ast::CallExpr) -> Option<(Tree, Name)> {
    let Some(Tree::Field(field)) = call.callee() else { return None };
    Some((field.base()?, tree::some_name(body.file, field.name())?))
}
