//! Statements: what a body does.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, BinaryOp, BindPattern, Expr as Tree, Likelihood, Stmt as Node};

use super::body::{cast, make, unknown, Body, Place, Role};
use super::emissions::Ends;
use super::operators::operator;
use super::places::Lookup;
use crate::program::*;
use crate::{codes, suggest, tree, types, visit};

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

    fn statements(&mut self, list: &[Node]) -> Vec<Stmt> {
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
    fn statement(&mut self, node: &Node, done: &mut Vec<Stmt>) {
        let before = (done.len(), self.cx.out.len());
        self.statement_kind(node, done);
        if done.len() == before.0 && self.cx.out.len() > before.1 {
            self.excuse(node);
        }
    }

    fn excuse(&mut self, node: &Node) {
        for name in node.syntax().descendants().filter_map(ast::NameExpr::cast) {
            let local = self.local(&name.text());
            self.excused.extend(local.filter(|local| self.local_type(*local) == Type::Message));
        }
    }

    fn statement_kind(&mut self, node: &Node, done: &mut Vec<Stmt>) {
        let span = self.span(node);
        let mut push = |kind: Option<StmtKind>| done.extend(kind.map(|kind| Stmt { kind, span }));
        match node {
            Node::Let(stmt) => self.let_statement(stmt, span, done),
            Node::Assign(stmt) => push(self.assign(stmt, span)),
            Node::Expr(stmt) => push(self.expr_statement(stmt, span)),
            Node::If(stmt) => push(self.if_statement(stmt, span)),
            Node::Match(stmt) => push(self.match_statement(stmt)),
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
        let allowed = self.layer.is_some() && matches!(self.place, Place::Function | Place::Handler(_));
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

    // ---- let ----

    fn pattern_names(&self, pattern: Option<BindPattern>) -> Vec<Name> {
        pattern.map_or(Vec::new(), |pattern| pattern.names().iter().map(|name| tree::name(self.file, name)).collect())
    }

    fn let_statement(&mut self, stmt: &ast::LetStmt, span: Span, done: &mut Vec<Stmt>) {
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
    fn split(&mut self, names: &[Name], value: &Tree, span: Span) -> Option<StmtKind> {
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
    fn let_or(&mut self, node: &Node, rest: &[Node]) -> Option<Vec<Stmt>> {
        let Node::Let(stmt) = node else { return None };
        let or = stmt.or()?;
        let value = stmt.value()?;
        let span = self.span(node);
        let names = self.pattern_names(stmt.pattern());
        let lookup = match self.lookup(&value)? {
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
        let kind = self.found(lookup, &names, span, otherwise, |body| body.statements(rest));
        Some(vec![Stmt { kind, span }])
    }

    /// The branches of a lookup, with the names bound in the first.
    fn found(
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
        })
    }

    /// Names that have no value to take, so that nobody misses them.
    fn bind_unknown(&mut self, names: &[Name]) {
        for name in names {
            self.bind(name, Type::Unknown);
        }
    }

    fn only_name(&mut self, names: &[Name], span: Span, ty: Type) -> LocalId {
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
    fn must_leave(&mut self, otherwise: &[Stmt], block: Option<ast::Block>, span: Span) {
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

    // ---- assignment ----

    fn assign(&mut self, stmt: &ast::AssignStmt, span: Span) -> Option<StmtKind> {
        let (target, value) = (tree::unparen(&stmt.target()?), stmt.value()?);
        let op = stmt.binary_op();
        if let Some(or) = stmt.or().filter(|_| !matches!(target, Tree::Index(_))) {
            let place = or.span(self.file);
            self.error(codes::MISPLACED, "nothing here can fail", place, "not needed", "`or` stands behind `m[k] = v`");
            self.block(or.block());
        }
        match &target {
            Tree::Name(_) => {
                let name = tree::name_expr(self.file, &target)?;
                self.assign_name(&name, op, &value, span)
            }
            Tree::Index(index) => self.assign_index(index, op, &value, stmt.or(), span),
            Tree::Field(field) => self.assign_field(field, op, &value, span),
            _ => {
                let place = self.span(&target);
                self.error(
                    codes::NOT_ASSIGNABLE,
                    "nothing can be assigned to this",
                    place,
                    "no place",
                    "name a variable",
                );
                self.expr(&value, None);
                None
            }
        }
    }

    /// The new value: the text's, or the old one and the text's under an operator.
    fn new_value(&mut self, old: Expr, op: Option<BinaryOp>, value: &Tree, span: Span) -> Expr {
        let ty = old.ty;
        let Some(op) = op.and_then(operator) else { return self.value(value, ty) };
        let hint = match (ty, op) {
            (_, Binary::Shl | Binary::Shr) => Some(Type::UInt(8)),
            (Type::Seq(width), _) => Some(Type::UInt(width)),
            (Type::Instant, _) => Some(Type::Duration),
            (Type::Duration, Binary::Mul | Binary::Div | Binary::Rem) => Some(Type::UInt(64)),
            (Type::Unknown, _) => None,
            _ => Some(ty),
        };
        let hint = if self.is_flexible(value) { hint } else { None };
        let by = self.expr(value, hint);
        let found = self.operate(op, old, by, span, span);
        self.coerce(found, ty)
    }

    fn assign_name(&mut self, name: &Name, op: Option<BinaryOp>, value: &Tree, span: Span) -> Option<StmtKind> {
        if let Some(local) = self.local(&name.text) {
            let ty = self.local_type(local);
            let old = make(ExprKind::Local(local), ty, name.span);
            let value = self.new_value(old, op, value, span);
            return Some(StmtKind::AssignLocal { local, value });
        }
        if let Some((scope, member)) = self.find_state(&name.text) {
            let state = StateRef { scope, member, object: None, span: name.span };
            return self.assign_state(state, name, op, value, span);
        }
        if self.params.iter().any(|param| param.name == name.text) {
            let text = format!("parameter `{}` does not change", name.text);
            let help = format!("keep what changes in a scope: `entity {{ var x: u32 = {} }}`", name.text);
            self.error(codes::NOT_ASSIGNABLE, text, name.span, "a parameter", &help);
        } else if self.cx.item(self.file, &name.text).is_some() {
            let text = format!("`{}` does not change", name.text);
            self.error(codes::NOT_ASSIGNABLE, text, name.span, "no place", "name a variable");
        } else {
            self.unknown_name(name);
        }
        self.expr(value, None);
        None
    }

    fn assign_state(
        &mut self,
        state: StateRef,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        self.has_effects(span);
        if let Some(MemberKind::Var { constant: true, .. }) =
            self.member(state.scope, state.member).map(|member| &member.kind)
        {
            let object_key = matches!(state.scope, ScopeKind::Object(_));
            if object_key || !matches!(self.place, Place::Handler(Role::Start | Role::Open)) {
                let text = format!("`{}` is constant", name.text);
                let help = if object_key {
                    "remove the object and make a new one"
                } else {
                    "set it in `on start`, `on open` or `on accepted`, or declare it `var`"
                };
                self.error(codes::CONSTANT_SET, text, name.span, "set here", help);
            }
        }
        let old = self.state_value(state.clone(), name);
        let value = self.new_value(old, op, value, span);
        Some(StmtKind::Assign { state, value })
    }

    fn assign_index(
        &mut self,
        index: &ast::IndexExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        or: Option<ast::OrClause>,
        span: Span,
    ) -> Option<StmtKind> {
        self.has_effects(span);
        let base = index.base()?;
        if self.is_member(&base, |kind| matches!(kind, MemberKind::Array { .. })) {
            let element = self.expr(&Tree::Index(index.clone()), None);
            let ExprKind::Element { array, index } = element.kind.clone() else { return None };
            let value = self.new_value(element, op, value, span);
            return Some(StmtKind::AssignElement { array, index: *index, value });
        }
        if let Some(class) = tree::name_expr(self.file, &base).filter(|name| self.object_class(&name.text).is_some()) {
            let help = format!("write `let e = {}[key] or new {{ … }}`, then assign to its parts", class.text);
            self.error(codes::NOT_ASSIGNABLE, "an object is not assigned as a whole", span, "an object", &help);
            return None;
        }
        let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
        let map = self.state_of(&base, "a map or an array", is_map)?;
        if op.is_some() {
            let help = "look it up first: `if let v = m[k] { m[k] = v + 1 or { … } }`";
            self.error(codes::BAD_OPERANDS, "the key may not be in the map", span, "no old value", help);
        }
        let (keys, types) = self.map_types(&map);
        let key = self.key_values(&Self::key_trees(index), &keys, span);
        let values = self.key_values(&tree::untuple(value), &types, span);
        let Some(or) = or else {
            let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when the map is full?")
                .at(span, "may have no room")
                .help("say it: `m[k] = v or { drop msg: full  return }`");
            self.report(diagnostic);
            return None;
        };
        let otherwise = self.block(or.block());
        self.must_leave(&otherwise, or.block(), span);
        Some(StmtKind::Insert { map, key, values, otherwise })
    }

    fn assign_field(
        &mut self,
        field: &ast::FieldExpr,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        let (base, name) = (field.base()?, tree::some_name(self.file, field.name())?);
        let owner = tree::name_expr(self.file, &base);
        let local = owner.as_ref().and_then(|owner| self.local(&owner.text));
        match local.map(|local| (local, self.local_type(local))) {
            Some((message, Type::Message)) => return self.set_attribute(message, &name, op, value, span),
            Some((local, Type::Record(id))) => {
                let old = make(ExprKind::Local(local), Type::Record(id), base.span(self.file));
                let value = self.with_field(old, id, &name, op, value, span)?;
                return Some(StmtKind::AssignLocal { local, value });
            }
            Some((_, Type::Unknown)) => return None,
            _ => {}
        }
        if let Some(owner) =
            owner.as_ref().filter(|owner| matches!(owner.text.as_str(), "below" | "above") && local.is_none())
        {
            let text = format!("`{}` is another layer: its state is its own", owner.text);
            self.error(codes::NOT_ASSIGNABLE, text, span, "not ours", "emit an event: `below.name(…)`");
            return None;
        }
        let found = self.expr(&base, None);
        match (found.ty, found.kind.clone()) {
            (Type::Object(_), _) => {
                let (state, name) = self.member_of(found, name)?;
                self.assign_state(state, &name, op, value, span)
            }
            (Type::Record(id), ExprKind::State(state)) => {
                self.has_effects(span);
                let value = self.with_field(found, id, &name, op, value, span)?;
                Some(StmtKind::Assign { state, value })
            }
            (Type::Unknown, _) => None,
            _ => {
                let text = "nothing can be assigned to this";
                self.error(
                    codes::NOT_ASSIGNABLE,
                    text,
                    span,
                    "no place",
                    "name a variable, a part of one, or an attribute of a message",
                );
                None
            }
        }
    }

    /// A record with one field replaced.
    fn with_field(
        &mut self,
        old: Expr,
        id: RecordId,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<Expr> {
        let fields = self.cx.program.records.get(id.index())?.fields.clone();
        let part = |index: usize| {
            let kind = ExprKind::RecordField { record: Box::new(old.clone()), field: index as u32 };
            make(kind, fields[index].ty, span)
        };
        let Some(at) = fields.iter().position(|field| field.name.text == name.text) else {
            let names = fields.iter().map(|field| field.name.text.as_str());
            let help = suggest::help(&name.text, names).unwrap_or_default();
            self.error(codes::UNKNOWN_FIELD, format!("there is no field `{}`", name.text), name.span, "unknown", &help);
            return None;
        };
        let new = self.new_value(part(at), op, value, span);
        let values = (0..fields.len()).map(|index| if index == at { new.clone() } else { part(index) }).collect();
        Some(make(ExprKind::Record { record: id, fields: values }, Type::Record(id), span))
    }

    fn set_attribute(
        &mut self,
        message: LocalId,
        name: &Name,
        op: Option<BinaryOp>,
        value: &Tree,
        span: Span,
    ) -> Option<StmtKind> {
        if name.text == "size" {
            let help = "write `msg.trim(n)` or `msg.skip(n)`";
            self.error(codes::NOT_ASSIGNABLE, "a message's size is not assigned", span, "no place", help);
            return None;
        }
        let attribute = self.attribute(name)?;
        if !self.this_layer().is_some_and(|layer| layer.writes.contains(&attribute)) {
            self.undeclared(name, "written", "writes");
        }
        let old = match op {
            Some(_) => self.message_part(message, name, span),
            None => make(ExprKind::Number(0), self.cx.program.attributes[attribute.index()].ty, span),
        };
        let value = self.new_value(old, op, value, span);
        Some(StmtKind::SetAttribute { message, attribute, value })
    }

    // ---- calls ----

    fn expr_statement(&mut self, stmt: &ast::ExprStmt, span: Span) -> Option<StmtKind> {
        let expr = stmt.expr()?;
        if let Some(or) = stmt.or() {
            let place = or.span(self.file);
            self.error(codes::MISPLACED, "nothing here can fail", place, "not needed", "leave the `or` out");
            self.block(or.block());
        }
        let Tree::Call(call) = &expr else {
            if tree::name_expr(self.file, &expr).is_some_and(|name| name.text == "end" && self.object.is_some()) {
                return Some(StmtKind::End { object: None });
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
        if let Some(emission) = self.emission(call, &ends, span) {
            return emission.filter(|_| self.has_effects(span)).map(StmtKind::Emit);
        }
        if let Some(kind) = self.change(call, span) {
            return kind.filter(|_| self.has_effects(span));
        }
        let found = self.expr(&expr, None);
        match found.kind {
            ExprKind::CallOwn { .. } | ExprKind::Call { .. } => Some(StmtKind::Call(found)),
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

    /// Calls that change a message or a place: `trim skip join put_… put`; none if it is something else.
    fn change(&mut self, call: &ast::CallExpr, span: Span) -> Option<Option<StmtKind>> {
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

    fn put(&mut self, base: &Tree, args: &[Tree]) -> Option<StmtKind> {
        let messages = self.places(base)?;
        let index = self.array_index(&args[0]);
        let message = self.message(&args[1])?;
        Some(StmtKind::Put { messages, index, message })
    }

    // ---- control ----

    fn if_statement(&mut self, stmt: &ast::If, span: Span) -> Option<StmtKind> {
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
            let Some(Ok(lookup)) = self.lookup_or_report(&value) else {
                self.scoped(|body| {
                    body.bind_unknown(&names);
                    body.block(stmt.then())
                });
                self.otherwise(otherwise_node.0, otherwise_node.1);
                return None;
            };
            let then = stmt.then();
            let mut kind = self.found(lookup, &names, place, Vec::new(), |body| body.block(then));
            let other = self.otherwise(otherwise_node.0, otherwise_node.1);
            if let StmtKind::IfFound { otherwise, .. }
            | StmtKind::IfObject { otherwise, .. }
            | StmtKind::IfTaken { otherwise, .. } = &mut kind
            {
                *otherwise = other;
            }
            return Some(kind);
        }
        let condition = self.some_value(stmt.condition(), Type::Bool, span);
        let then = self.block(stmt.then());
        let otherwise = self.otherwise(stmt.else_if(), stmt.else_block());
        Some(StmtKind::If { condition, likely, then, otherwise })
    }

    fn lookup_or_report(&mut self, value: &Tree) -> Option<Result<Lookup, ()>> {
        let found = self.lookup(value);
        if found.is_none() {
            let place = self.span(value);
            let help = "`if let` looks something up: `m[k]`, `Entry[k]`, `waiting.take(i)`";
            self.error(codes::MISMATCH, "this is always there", place, "no lookup", help);
            return None;
        }
        found
    }

    fn otherwise(&mut self, other: Option<ast::If>, block: Option<ast::Block>) -> Vec<Stmt> {
        match other {
            Some(inner) => {
                let span = self.span(&inner);
                self.if_statement(&inner, span).map(|kind| Stmt { kind, span }).into_iter().collect()
            }
            None => self.block(block),
        }
    }

    fn match_statement(&mut self, stmt: &ast::Match) -> Option<StmtKind> {
        let value = self.expr(&stmt.value()?, None);
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
    fn pattern_numbers(&mut self, pattern: &Tree, ty: Type, seen: &mut Vec<(u64, Span)>) -> Vec<u64> {
        let pattern = tree::unparen(pattern);
        if let Tree::Binary(binary) = &pattern {
            if let (Some(BinaryOp::BitOr), Some(left), Some(right)) = (binary.op(), binary.left(), binary.right()) {
                let mut numbers = self.pattern_numbers(&left, ty, seen);
                numbers.extend(self.pattern_numbers(&right, ty, seen));
                return numbers;
            }
        }
        let found = self.value(&pattern, ty);
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

    fn exhaustive(&mut self, value: &Expr, seen: &[(u64, Span)]) {
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

    fn while_statement(&mut self, stmt: &ast::WhileStmt, span: Span) -> Option<StmtKind> {
        if let Some(condition) = stmt.let_condition() {
            let place = self.span(&condition);
            let help = "write `while c limit n { if let x = … { … } }`";
            self.error(codes::MISPLACED, "`while let` is not a thing", place, "no lookup here", help);
            return None;
        }
        let condition = self.some_value(stmt.condition(), Type::Bool, span);
        let limit = self.size(stmt.limit(), span);
        let body = self.block(stmt.body());
        Some(StmtKind::While { condition, limit, body })
    }

    fn for_statement(&mut self, stmt: &ast::ForStmt, span: Span) -> Option<StmtKind> {
        let names = self.pattern_names(stmt.pattern());
        let iterable = stmt.iterable()?;
        let limit = self.size(stmt.limit(), span);
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

    fn return_statement(&mut self, stmt: &ast::ReturnStmt, span: Span) -> Option<StmtKind> {
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

    fn pass(&mut self, span: Span) -> Option<StmtKind> {
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

    fn lose(&mut self, value: Option<Tree>, reason: Option<ast::Path>) -> Option<(LocalId, Name)> {
        let message = self.message(&value?);
        let reason = tree::path(self.file, &reason?);
        Some((message?, reason))
    }

    fn fail(&mut self, stmt: &ast::FailStmt, span: Span) -> Option<StmtKind> {
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

    fn accept(&mut self, stmt: &ast::AcceptStmt, span: Span) -> Option<StmtKind> {
        let message = stmt.value().and_then(|value| self.message(&value));
        if self.place != Place::Handler(Role::Unmatched) {
            let help = "`accept` answers a message that no session matched: `on unmatched(msg) from flow { … }`";
            self.error(codes::MISPLACED, "nothing is accepted here", span, "not in `unmatched`", help);
            return None;
        }
        Some(StmtKind::Accept { message: message? })
    }

    fn amount(&mut self, amount: Option<Tree>, span: Span) -> Expr {
        match amount {
            Some(amount) => self.value(&amount, Type::UInt(32)),
            None => make(ExprKind::Number(1), Type::UInt(32), span),
        }
    }

    fn take(&mut self, stmt: &ast::TakeStmt, span: Span) -> Option<StmtKind> {
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

    fn count(&mut self, stmt: &ast::CountStmt, span: Span) -> Option<StmtKind> {
        let is_counter = |kind: &MemberKind| matches!(kind, MemberKind::Counter);
        let counter = stmt.target().and_then(|target| self.state_of(&target, "a counter", is_counter));
        let amount = match stmt.amount() {
            Some(amount) => self.value(&amount, Type::UInt(64)),
            None => make(ExprKind::Number(1), Type::UInt(64), span),
        };
        Some(StmtKind::Count { counter: counter?, amount })
    }

    fn start(&mut self, stmt: &ast::StartStmt, span: Span) -> Option<StmtKind> {
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

    fn remove(&mut self, stmt: &ast::RemoveStmt, span: Span) -> Option<StmtKind> {
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

    fn end(&mut self, stmt: &ast::EndStmt, span: Span) -> Option<StmtKind> {
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

    fn again(&mut self, span: Span) -> Option<StmtKind> {
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

    fn later(&mut self, stmt: &ast::LaterStmt, span: Span) -> Option<StmtKind> {
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

impl Body<'_> {
    /// Parameters of an own handler that have no type take that of what is given to them first.
    fn infer(&mut self, handler: u32, args: &[Expr]) {
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
fn custom_head((index, handler): (usize, &Handler)) -> Option<(u32, String, Vec<Type>)> {
    let Event::Custom { name, params, .. } = &handler.event else { return None };
    let types = params.iter().map(|local| handler.locals.get(local.index()).map_or(Type::Unknown, |local| local.ty));
    Some((index as u32, name.text.clone(), types.collect()))
}

/// `base.name(…)` as its parts.
fn tree_method(body: &Body, call: &ast::CallExpr) -> Option<(Tree, Name)> {
    let Some(Tree::Field(field)) = call.callee() else { return None };
    Some((field.base()?, tree::some_name(body.file, field.name())?))
}
