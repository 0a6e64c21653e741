//! Control: `if`, `match`, loops, `return`, and the statements that are a word and a name.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, BinaryOp, Expr as Tree, Likelihood};

use super::body::{cast, make, unknown, Body, Place, Role};
use super::places::Lookup;
use super::statements::{custom_head, Arms};
use super::vectors::behind;
use crate::program::*;
use crate::{codes, suggest, tree, types};

impl Body<'_> {
    pub(super) fn if_statement(&mut self, stmt: &ast::If, span: Span) -> Option<StmtKind> {
        let likely = match stmt.likelihood() {
            Likelihood::Likely => Some(0.99),
            Likelihood::Unlikely => Some(0.01),
            Likelihood::Unknown => None,
        };
        if let Some(condition) = stmt.let_condition() {
            let names = self.pattern_names(condition.pattern());
            let value = condition.value()?;
            let place = self.span(&condition);
            let otherwise_node = (stmt.else_if(), stmt.else_block());
            let Some(Ok(mut lookup)) = self.lookup_or_report(&value) else {
                self.scoped(|body| {
                    body.bind_unknown(&names);
                    body.block(stmt.then())
                });
                self.otherwise(otherwise_node.0, otherwise_node.1);
                return None;
            };
            let then = stmt.then();
            let before = lookup.before();
            let mut kind = self.found(lookup, &names, place, Vec::new(), |body| body.block(then));
            let other = self.otherwise(otherwise_node.0, otherwise_node.1);
            if let StmtKind::IfFound { otherwise, .. }
            | StmtKind::IfObject { otherwise, .. }
            | StmtKind::IfTaken { otherwise, .. }
            | StmtKind::IfDone { otherwise, .. }
            | StmtKind::If { otherwise, .. } = &mut kind
            {
                *otherwise = other;
            }
            return Some(behind(before, kind, span));
        }
        let condition = self.some_value(stmt.condition(), Type::Bool, span);
        let then = self.block(stmt.then());
        let otherwise = self.otherwise(stmt.else_if(), stmt.else_block());
        Some(StmtKind::If { condition, likely, then, otherwise })
    }

    pub(super) fn lookup_or_report(&mut self, value: &Tree) -> Option<Result<Lookup, ()>> {
        let found = self.lookup(value);
        if found.is_none() {
            let place = self.span(value);
            let help = "`if let` looks something up: `m[k]`, `Entry[k]`, `waiting.take(i)`";
            self.error(codes::MISMATCH, "this is always there", place, "no lookup", help);
            return None;
        }
        found
    }

    pub(super) fn otherwise(&mut self, other: Option<ast::If>, block: Option<ast::Block>) -> Vec<Stmt> {
        match other {
            Some(inner) => {
                let span = self.span(&inner);
                self.if_statement(&inner, span).map(|kind| Stmt { kind, span }).into_iter().collect()
            }
            None => self.block(block),
        }
    }

    pub(super) fn match_statement(&mut self, stmt: &ast::Match, span: Span, done: &mut Vec<Stmt>) {
        let Some(value) = stmt.value() else { return };
        let value = self.expr(&value, None);
        if let Some(id) = self.data_of(value.ty) {
            return self.match_data(stmt, (id, value), span, done);
        }
        let kind = self.match_numbers(stmt, value);
        done.extend(kind.map(|kind| Stmt { kind, span }));
    }

    fn match_numbers(&mut self, stmt: &ast::Match, value: Expr) -> Option<StmtKind> {
        let arms = self.arms(stmt, &value);
        let cases = arms.cases.into_iter().map(|(numbers, block)| (numbers, self.block(block))).collect();
        let otherwise = self.block(arms.otherwise);
        Some(StmtKind::Match { value, cases, otherwise })
    }

    /// The arms of a `match`, checked: constants of the value's type, none twice, all values met.
    pub(super) fn arms(&mut self, stmt: &ast::Match, value: &Expr) -> Arms {
        let matchable = matches!(value.ty, Type::UInt(_) | Type::Bool | Type::Enum(_) | Type::Unknown | Type::Seq(_));
        if !matchable {
            let text = format!("`match` does not take {}", self.show(value.ty));
            self.error(codes::BAD_OPERANDS, text, value.span, "no number", "match over an enum, a `uN` or a `bool`");
        }
        let mut seen: Vec<(u64, Span)> = Vec::new();
        let mut arms = Arms { cases: Vec::new(), otherwise: None };
        let mut has_else = false;
        for arm in stmt.arms() {
            let place = self.span(&arm);
            if has_else {
                let diagnostic = Diagnostic::error(codes::CASE_TWICE, "this arm is never reached")
                    .at(place, "`else` before it takes all")
                    .help("`else` comes last");
                self.report(diagnostic);
                continue;
            }
            let Some(pattern) = arm.pattern() else {
                has_else = true;
                arms.otherwise = arm.body();
                continue;
            };
            let numbers = self.pattern_numbers(&pattern, value.ty, &mut seen);
            arms.cases.push((numbers, arm.body()));
        }
        if !has_else {
            self.exhaustive(value, &seen);
            // All values are met (or that is reported): the last arm is what is left.
            arms.otherwise = arms.cases.pop().and_then(|(_, body)| body);
        }
        arms
    }

    /// `Kind.Ask`, `1 | 2`
    pub(super) fn pattern_numbers(&mut self, pattern: &Tree, ty: Type, seen: &mut Vec<(u64, Span)>) -> Vec<u64> {
        let pattern = tree::unparen(pattern);
        if let Tree::Binary(binary) = &pattern {
            if let (Some(BinaryOp::BitOr), Some(left), Some(right)) = (binary.op(), binary.left(), binary.right()) {
                let mut numbers = self.pattern_numbers(&left, ty, seen);
                numbers.extend(self.pattern_numbers(&right, ty, seen));
                return numbers;
            }
        }
        let outer = std::mem::replace(&mut self.pattern, matches!(ty, Type::Enum(_)));
        let pattern = self.pattern_head(pattern);
        let found = self.value(&pattern, ty);
        self.pattern = outer;
        let Some(number) = super::items::known(self.cx, &found).and_then(|value| value.scalar()) else {
            return Vec::new();
        };
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == number) {
            let diagnostic = Diagnostic::error(codes::CASE_TWICE, "this value is matched twice")
                .at(found.span, "never reached")
                .label(*first, "taken here")
                .help("remove one of the arms");
            self.report(diagnostic);
        }
        seen.push((number, found.span));
        vec![number]
    }

    pub(super) fn exhaustive(&mut self, value: &Expr, seen: &[(u64, Span)]) {
        let met = |number: u64| seen.iter().any(|(known, _)| *known == number);
        let missing = match value.ty {
            Type::Enum(id) => {
                let names = &self.cx.program.enums[id.index()].names;
                names.iter().filter(|(_, number)| !met(*number)).map(|(name, _)| name.text.clone()).collect()
            }
            Type::Bool => {
                [("false", 0), ("true", 1)].iter().filter(|(_, n)| !met(*n)).map(|(name, _)| name.to_string()).collect()
            }
            Type::Unknown => Vec::new(),
            ty => {
                let all = types::width(&self.cx.program, ty).filter(|width| *width < 16).map(|width| 1usize << width);
                if all == Some(seen.len()) {
                    Vec::new()
                } else {
                    vec!["all other numbers".to_string()]
                }
            }
        };
        if !missing.is_empty() {
            let text = format!("this `match` does not say what happens for {}", suggest::list(&missing));
            let diagnostic = Diagnostic::error(codes::NOT_EXHAUSTIVE, text)
                .at(value.span, "not all values are met")
                .help("add them, or `else => { … }`");
            self.report(diagnostic);
        }
    }

    /// A size; or what published values and the sizes of messages bound, of which the stack knows the largest value.
    fn loop_limit(&mut self, limit: Option<ast::Expr>, span: Span) -> Expr {
        // Whoever names none of these is told of sizes as everywhere else.
        let asks = |limit: &ast::Expr| {
            let words = ast::AstNode::syntax(limit).descendants_with_tokens().filter_map(|part| part.into_token());
            words.into_iter().any(|word| matches!(word.text(), "below" | "size"))
        };
        let tree = match limit {
            Some(limit) if asks(&limit) => limit,
            other => return self.size(other, span),
        };
        let value = self.value(&tree, Type::UInt(32));
        let mut unbounded = None;
        crate::visit::walk_expr(&value, &mut |part| {
            use ExprKind as E;
            let known = matches!(
                part.kind,
                E::Number(_)
                    | E::Param(_)
                    | E::Binary { .. }
                    | E::Cast { .. }
                    | E::If { .. }
                    | E::Below { .. }
                    | E::BelowCount
                    | E::MessageSize(_)
                    | E::Not(_)
            );
            if !known && part.ty != Type::Unknown {
                unbounded.get_or_insert(part.span);
            }
        });
        if let Some(place) = unbounded {
            let text = "nobody knows how large this may be";
            let help = "a limit is made of numbers, parameters, `below.mtu` and its like, and `msg.size`";
            self.error(codes::LIMIT, text, place, "not bounded by the stack", help);
        }
        value
    }

    pub(super) fn while_statement(&mut self, stmt: &ast::WhileStmt, span: Span) -> Option<StmtKind> {
        if let Some(condition) = stmt.let_condition() {
            let place = self.span(&condition);
            let help = "write `while c limit n { if let x = … { … } }`";
            self.error(codes::MISPLACED, "`while let` is not a thing", place, "no lookup here", help);
            return None;
        }
        let condition = self.some_value(stmt.condition(), Type::Bool, span);
        let limit = self.loop_limit(stmt.limit(), span);
        let body = self.block(stmt.body());
        Some(StmtKind::While { condition, limit, body })
    }

    pub(super) fn for_statement(&mut self, stmt: &ast::ForStmt, span: Span) -> Option<StmtKind> {
        let names = self.pattern_names(stmt.pattern());
        let iterable = stmt.iterable()?;
        let limit = self.loop_limit(stmt.limit(), span);
        if let Tree::Range(range) = &iterable {
            let (from, to) = match (range.from(), range.to()) {
                (Some(from), Some(to)) => self.pair(&from, &to, None),
                _ => (unknown(span), unknown(span)),
            };
            let ty = from.ty;
            if !matches!(ty, Type::UInt(_) | Type::Seq(_) | Type::Unknown) {
                let text = format!("a loop counts numbers, not {}", self.show(ty));
                self.error(codes::BAD_OPERANDS, text, from.span, "no number", "count a `uN`");
            }
            return Some(self.scoped(|body| {
                let local = body.only_name(&names, span, ty);
                StmtKind::For { local, from, to, limit, body: body.block(stmt.body()) }
            }));
        }
        if let Some((vector, _)) = self.vector_named(&iterable) {
            return Some(self.for_vector(&names, vector, limit, stmt.body(), span));
        }
        if let Some(kind) = self.for_contained(&names, &iterable, &limit, stmt.body(), span) {
            return Some(kind);
        }
        let class = tree::name_expr(self.file, &iterable).and_then(|name| self.object_class(&name.text));
        let Some(class) = class else {
            let place = self.span(&iterable);
            let help = "write `for i in a .. b limit 16` or `for e in Entry limit 64`";
            self.error(codes::MISMATCH, "a loop runs over a range or over objects", place, "neither", help);
            self.scoped(|body| {
                body.bind_unknown(&names);
                body.block(stmt.body())
            });
            return None;
        };
        Some(self.scoped(|body| {
            let local = body.only_name(&names, span, Type::Object(class));
            StmtKind::ForObjects { local, class, limit, body: body.block(stmt.body()) }
        }))
    }

    pub(super) fn return_statement(&mut self, stmt: &ast::ReturnStmt, span: Span) -> Option<StmtKind> {
        let result = self.result;
        let value = match (stmt.value(), result) {
            (None, Type::Unit | Type::Unknown) => None,
            (None, _) => {
                let text = format!("this function gives {}", self.show(result));
                self.error(codes::NO_VALUE, text, span, "no value here", "write `return x`");
                None
            }
            (Some(value), Type::Unit) => {
                let place = self.span(&value);
                let help = "leave the value out, or write `-> T` behind the function's parameters";
                self.error(codes::MISMATCH, "nobody takes a value here", place, "not wanted", help);
                self.expr(&value, None);
                None
            }
            (Some(value), want) => Some(self.value(&value, want)),
        };
        Some(StmtKind::Return { value })
    }

    pub(super) fn pass(&mut self, span: Span) -> Option<StmtKind> {
        match self.place {
            Place::Handler(Role::Open | Role::Other) => Some(StmtKind::Pass),
            Place::Handler(_) => {
                let help = "events that pass through a layer are those from above and below";
                self.error(codes::MISPLACED, "this event goes on to nobody", span, "cannot pass", help);
                None
            }
            _ => {
                self.error(
                    codes::MISPLACED,
                    "`pass` belongs to a handler",
                    span,
                    "not in a function",
                    "let the handler pass",
                );
                None
            }
        }
    }

    pub(super) fn lose(&mut self, value: Option<Tree>, reason: Option<ast::Path>) -> Option<(LocalId, Name)> {
        let message = self.message(&value?);
        let reason = tree::path(self.file, &reason?);
        Some((message?, reason))
    }

    pub(super) fn fail(&mut self, stmt: &ast::FailStmt, span: Span) -> Option<StmtKind> {
        let reason = tree::path(self.file, &stmt.reason()?);
        if self.shape() == Some(Shape::Endpoint) {
            self.error(
                codes::NOTHING_ABOVE,
                "an endpoint has nothing above it",
                span,
                "nobody to tell",
                "close the session: `below.close()`",
            );
            return None;
        }
        self.has_effects(span).then_some(StmtKind::Emit(Emission::Failed { reason }))
    }

    pub(super) fn accept(&mut self, stmt: &ast::AcceptStmt, span: Span) -> Option<StmtKind> {
        let message = stmt.value().and_then(|value| self.message(&value));
        if self.place != Place::Handler(Role::Unmatched) {
            let help = "`accept` answers a message that no session matched: `on unmatched(msg) from flow { … }`";
            self.error(codes::MISPLACED, "nothing is accepted here", span, "not in `unmatched`", help);
            return None;
        }
        Some(StmtKind::Accept { message: message? })
    }

    pub(super) fn amount(&mut self, amount: Option<Tree>, span: Span) -> Expr {
        match amount {
            Some(amount) => self.value(&amount, Type::UInt(32)),
            None => make(ExprKind::Number(1), Type::UInt(32), span),
        }
    }

    pub(super) fn take(&mut self, stmt: &ast::TakeStmt, span: Span) -> Option<StmtKind> {
        let quota = stmt.target().and_then(|target| self.quota(&target));
        let amount = self.amount(stmt.amount(), span);
        let Some(or) = stmt.or() else {
            let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when nothing is left?")
                .at(span, "may have no room")
                .help("say it: `take kept or { drop msg: busy  return }`");
            self.report(diagnostic);
            return None;
        };
        let otherwise = self.block(or.block());
        self.must_leave(&otherwise, or.block(), span);
        Some(StmtKind::Take { quota: quota?, amount, otherwise })
    }

    pub(super) fn count(&mut self, stmt: &ast::CountStmt, span: Span) -> Option<StmtKind> {
        let is_counter = |kind: &MemberKind| matches!(kind, MemberKind::Counter);
        let counter = stmt.target().and_then(|target| self.state_of(&target, "a counter", is_counter));
        let amount = match stmt.amount() {
            Some(amount) => self.value(&amount, Type::UInt(64)),
            None => make(ExprKind::Number(1), Type::UInt(64), span),
        };
        Some(StmtKind::Count { counter: counter?, amount })
    }

    pub(super) fn start(&mut self, stmt: &ast::StartStmt, span: Span) -> Option<StmtKind> {
        let timer = stmt.timer().and_then(|timer| self.timer(&timer));
        let deadline = match (stmt.after(), stmt.at()) {
            (Some(after), _) => {
                let after = self.value(&after, Type::Duration);
                let place = after.span;
                let now = make(ExprKind::Now, Type::Instant, place);
                let after = cast(after, Type::Instant, CastKind::Widen);
                make(ExprKind::Binary { op: Binary::Add, a: Box::new(now), b: Box::new(after) }, Type::Instant, place)
            }
            (None, at) => self.some_value(at, Type::Instant, span),
        };
        Some(StmtKind::Start { timer: timer?, deadline })
    }

    pub(super) fn remove(&mut self, stmt: &ast::RemoveStmt, span: Span) -> Option<StmtKind> {
        let value = tree::unparen(&stmt.value()?);
        match self.lookup(&value) {
            Some(Ok(Lookup::Map { map, key, .. })) => Some(StmtKind::Remove { map, key }),
            Some(Ok(Lookup::Object { .. })) => {
                self.error(
                    codes::WRONG_STATE,
                    "an object is ended, not removed",
                    span,
                    "an object",
                    "write `if let e = Entry[k] { end e }`",
                );
                None
            }
            Some(Err(())) => None,
            _ => {
                self.error(
                    codes::WRONG_STATE,
                    "`remove` takes an entry out of a map",
                    span,
                    "no entry",
                    "write `remove m[k]`",
                );
                None
            }
        }
    }

    pub(super) fn end(&mut self, stmt: &ast::EndStmt, span: Span) -> Option<StmtKind> {
        let Some(value) = stmt.value() else {
            if self.object.is_none() {
                self.error(codes::MISPLACED, "which object ends?", span, "not said", "write `end e`");
                return None;
            }
            return Some(StmtKind::End { object: None });
        };
        let object = self.expr(&value, None);
        match object.ty {
            Type::Object(_) => Some(StmtKind::End { object: Some(object) }),
            Type::Unknown => None,
            ty => {
                let text = format!("{} does not end", self.show(ty));
                self.error(
                    codes::MISMATCH,
                    text,
                    object.span,
                    "no object",
                    "objects end: `if let e = Entry[k] { end e }`",
                );
                None
            }
        }
    }

    pub(super) fn again(&mut self, span: Span) -> Option<StmtKind> {
        if self.place == Place::Handler(Role::Settle) {
            return Some(StmtKind::Again);
        }
        self.error(
            codes::MISPLACED,
            "`again` asks for one more `settle`",
            span,
            "not in `on settle`",
            "write `later name(…)` for a reaction of its own",
        );
        None
    }

    pub(super) fn later(&mut self, stmt: &ast::LaterStmt, span: Span) -> Option<StmtKind> {
        self.has_effects(span);
        let name = tree::some_name(self.file, stmt.event())?;
        let own: Vec<(u32, String, Vec<Type>)> =
            self.this_layer()?.handlers.iter().enumerate().filter_map(custom_head).collect();
        let found = own.iter().find(|(_, known, _)| *known == name.text).cloned();
        let values: Vec<Tree> = stmt.args().iter().filter_map(|arg| arg.value()).collect();
        let Some((handler, _, types)) = found else {
            let text = format!("this layer has no handler `on {}(…)` of its own", name.text);
            let mut diagnostic = Diagnostic::error(codes::NO_LATER, text).at(name.span, "unknown");
            diagnostic.helps.extend(suggest::help(&name.text, own.iter().map(|(_, known, _)| known.as_str())));
            self.report(diagnostic.help(format!("add one: `on {}(…) {{ … }}`", name.text)));
            values.iter().for_each(|value| drop(self.expr(value, None)));
            self.block(stmt.or().and_then(|or| or.block()));
            return None;
        };
        if types.len() != values.len() {
            let text = format!("`on {}` takes {} parameters, not {}", name.text, types.len(), values.len());
            self.error(codes::WRONG_COUNT, text, span, "here", "give one value for each");
        }
        // What it does without room comes first: the messages are still held there.
        let otherwise = self.block(stmt.or().and_then(|or| or.block()));
        let args: Vec<Expr> = values.iter().zip(&types).map(|(value, ty)| self.value(value, *ty)).collect();
        self.infer(handler, &args);
        let types: Vec<Type> = args.iter().map(|arg| arg.ty).collect();
        match stmt.or() {
            Some(or) => self.must_leave(&otherwise, or.block(), span),
            None if types.contains(&Type::Message) => {
                let diagnostic =
                    Diagnostic::error(codes::MUST_LEAVE, "what happens to the message when there is no room?")
                        .at(span, "may have no room")
                        .help(format!("say it: `later {}(msg) or {{ drop msg: busy  return }}`", name.text));
                self.report(diagnostic);
            }
            None => {}
        }
        Some(StmtKind::Later { handler, args, otherwise })
    }
}
