//! `let`, and what may not be there: `let v = m[k] or { … }`, `if let`.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BindPattern, Expr as Tree, Stmt as Node};

use super::body::{make, Body};
use super::places::Lookup;
use super::statements::tree_method;
use crate::program::*;
use crate::{codes, tree, visit};

impl Body<'_> {
    pub(super) fn pattern_names(&self, pattern: Option<BindPattern>) -> Vec<Name> {
        pattern.map_or(Vec::new(), |pattern| pattern.names().iter().map(|name| tree::name(self.file, name)).collect())
    }

    pub(super) fn let_statement(&mut self, stmt: &ast::LetStmt, span: Span, done: &mut Vec<Stmt>) {
        let names = self.pattern_names(stmt.pattern());
        let tuple = matches!(stmt.pattern(), Some(BindPattern::Tuple(_)));
        let Some(value) = stmt.value() else {
            self.bind_unknown(&names);
            return;
        };
        if tuple {
            done.extend(self.split(&names, &value, span).map(|kind| Stmt { kind, span }));
            return;
        }
        let want = stmt.ty().map(|ty| self.cx.ty(self.file, Some(ty)));
        let found = match want {
            Some(want) => self.value(&value, want),
            None => self.expr(&value, None),
        };
        if let Some(or) = stmt.or() {
            let place = or.span(self.file);
            let help = "`or` stands behind `m[k]`, `Entry[k]` and `waiting.take(i)`";
            self.error(codes::MISPLACED, "nothing here can fail", place, "not needed", help);
            self.block(or.block());
        }
        let Some(name) = names.first() else { return };
        let ty = match (found.ty, want) {
            (Type::Unit, _) => {
                self.error(
                    codes::NO_VALUE,
                    "this gives no value",
                    found.span,
                    "nothing to bind",
                    "write it as a statement",
                );
                Type::Unknown
            }
            (ty, None) => ty,
            (_, Some(want)) => want,
        };
        let local = self.bind(name, ty);
        done.push(Stmt { kind: StmtKind::Let { local, value: found }, span });
    }

    /// `let (front, rest) = msg.split(n)`
    pub(super) fn split(&mut self, names: &[Name], value: &Tree, span: Span) -> Option<StmtKind> {
        let unknown_names = |body: &mut Self| {
            body.bind_unknown(names);
            None
        };
        let call = if let Tree::Call(call) = value { Some(call) } else { None };
        let method = call.and_then(|call| tree_method(self, call));
        let Some((base, name)) = method.filter(|(_, name)| name.text == "split") else {
            let help = "two names take the parts of a message: `let (front, rest) = msg.split(n)`";
            self.error(codes::MISMATCH, "this gives one value, not two", span, "two names", help);
            return unknown_names(self);
        };
        self.has_effects(span);
        let args = call.map_or(Vec::new(), |call| call.args());
        let message = self.message(&base);
        let at = self.some_value(args.first().and_then(|arg| arg.value()), Type::UInt(32), name.span);
        let ([front, rest], Some(message)) = (names, message) else {
            if names.len() != 2 {
                self.error(
                    codes::WRONG_COUNT,
                    "a split message has two parts",
                    span,
                    "two names",
                    "write `let (front, rest) = …`",
                );
            }
            return unknown_names(self);
        };
        let (front, rest) = (self.bind(front, Type::Message), self.bind(rest, Type::Message));
        Some(StmtKind::Split { message, at, front, rest })
    }

    /// `let v = m[k] or { … }`, `let e = Entry[k] or new { … }`: with the rest of the block.
    pub(super) fn let_or(&mut self, node: &Node, rest: &[Node]) -> Option<Vec<Stmt>> {
        let Node::Let(stmt) = node else { return None };
        let or = stmt.or()?;
        let value = stmt.value()?;
        let span = self.span(node);
        let names = self.pattern_names(stmt.pattern());
        let mut lookup = match self.lookup(&value)? {
            Ok(lookup) => lookup,
            Err(()) => {
                self.bind_unknown(&names);
                self.block(or.block());
                return Some(self.statements(rest));
            }
        };
        if let (Lookup::Object { class, key }, true) = (&lookup, or.is_new()) {
            let otherwise = self.block(or.block());
            self.must_leave(&otherwise, or.block(), span);
            let local = self.bind(names.first()?, Type::Object(*class));
            let kind = StmtKind::FindOrNew { class: *class, key: key.clone(), local, otherwise };
            let mut all = vec![Stmt { kind, span }];
            all.extend(self.statements(rest));
            return Some(all);
        }
        if let (Lookup::Map { map, key, values }, Some(default)) =
            (&lookup, or.block().and_then(|block| tree::block_value(&block)))
        {
            if let [ty] = values.as_slice() {
                let (map, key, ty) = (map.clone(), key.clone(), *ty);
                let default = self.value(&default, ty);
                let hidden = self.hidden(span, ty);
                let local = self.bind(names.first()?, ty);
                let found = make(ExprKind::Local(hidden), ty, span);
                let then = vec![Stmt { kind: StmtKind::AssignLocal { local, value: found }, span }];
                let kind = StmtKind::IfFound { map, key, locals: vec![hidden], then, otherwise: Vec::new() };
                let mut all = vec![Stmt { kind: StmtKind::Let { local, value: default }, span }, Stmt { kind, span }];
                all.extend(self.statements(rest));
                return Some(all);
            }
        }
        let otherwise = self.block(or.block());
        self.must_leave(&otherwise, or.block(), span);
        let mut all = lookup.before();
        let kind = self.found(lookup, &names, span, otherwise, |body| body.statements(rest));
        all.push(Stmt { kind, span });
        Some(all)
    }

    /// The branches of a lookup, with the names bound in the first.
    pub(super) fn found(
        &mut self,
        lookup: Lookup,
        names: &[Name],
        span: Span,
        otherwise: Vec<Stmt>,
        then: impl FnOnce(&mut Self) -> Vec<Stmt>,
    ) -> StmtKind {
        self.scoped(|body| match lookup {
            Lookup::Map { map, key, values } => {
                if names.len() != values.len() {
                    let text = format!("this map's values have {} parts, not {}", values.len(), names.len());
                    body.error(
                        codes::WRONG_COUNT,
                        text,
                        span,
                        "here",
                        "write one name for each: `if let (a, b) = m[k]`",
                    );
                }
                let locals = values
                    .iter()
                    .enumerate()
                    .map(|(index, ty)| match names.get(index) {
                        Some(name) => body.bind(name, *ty),
                        None => body.hidden(span, *ty),
                    })
                    .collect();
                StmtKind::IfFound { map, key, locals, then: then(body), otherwise }
            }
            Lookup::Object { class, key } => {
                let local = body.only_name(names, span, Type::Object(class));
                StmtKind::IfObject { class, key, local, then: then(body), otherwise }
            }
            Lookup::Place { messages, index, share } => {
                body.has_effects(span);
                let local = body.only_name(names, span, Type::Message);
                StmtKind::IfTaken { messages, index, share, local, then: then(body), otherwise }
            }
            Lookup::Call(call) => {
                let local = match (call.ty, names) {
                    (Type::Unit, []) => None,
                    (Type::Unit, _) => {
                        let help = "write it as a statement: `waiting.push(msg) or { … }`";
                        body.error(codes::NO_VALUE, "this gives no value", call.span, "nothing to bind", help);
                        body.bind_unknown(names);
                        None
                    }
                    (ty, _) => Some(body.only_name(names, span, ty)),
                };
                StmtKind::IfDone { call, local, then: then(body), otherwise }
            }
            Lookup::Vector { condition, value, after, .. } => {
                let local = body.only_name(names, span, value.ty);
                let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
                all.extend(after);
                all.extend(then(body));
                StmtKind::If { condition, likely: None, then: all, otherwise }
            }
            Lookup::Element(value) => {
                let local = body.only_name(names, span, value.ty);
                let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
                all.extend(then(body));
                let condition = make(ExprKind::Number(1), Type::Bool, span);
                StmtKind::If { condition, likely: None, then: all, otherwise }
            }
        })
    }

    /// Names that have no value to take, so that nobody misses them.
    pub(super) fn bind_unknown(&mut self, names: &[Name]) {
        for name in names {
            self.bind(name, Type::Unknown);
        }
    }

    pub(super) fn only_name(&mut self, names: &[Name], span: Span, ty: Type) -> LocalId {
        if names.len() > 1 {
            self.error(codes::WRONG_COUNT, "this gives one value", span, "one name", "write `if let x = …`");
            self.bind_unknown(&names[1..]);
        }
        match names.first() {
            Some(name) => self.bind(name, ty),
            None => self.hidden(span, ty),
        }
    }

    /// The block behind `or` ends with `return` on every path.
    pub(super) fn must_leave(&mut self, otherwise: &[Stmt], block: Option<ast::Block>, span: Span) {
        if visit::leaves(otherwise) || block.is_none() {
            return;
        }
        let place = block.map_or(span, |block| self.span(&block));
        let diagnostic =
            Diagnostic::error(codes::MUST_LEAVE, "the block behind `or` goes on as if there had been room")
                .at(place, "runs past its end")
                .note("what follows relies on what this did not get")
                .help("end it with `return`, after giving the message away");
        self.report(diagnostic);
    }
}
