//! What a name means in a body: a local, state, a parameter, a constant.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use super::body::{make, unknown, Body, Place};
use super::{items, Item};
use crate::program::*;
use crate::{codes, suggest, tree};

/// Names that mean something everywhere in code.
const BUILTIN: [&str; 10] = ["now", "random", "min", "max", "clamp", "fold16", "message", "flow", "below", "above"];

impl Body<'_> {
    /// The state of that name: in the object whose code this is, then in the layer's scopes.
    pub(super) fn find_state(&self, name: &str) -> Option<(ScopeKind, u32)> {
        if matches!(self.place, Place::Constant | Place::Argument) {
            return None;
        }
        if let Some(view) = &self.view {
            return view.member(name);
        }
        let layer = self.this_layer()?;
        if let Some(object) = self.object {
            if let Some(member) = position(&layer.objects.get(object.index())?.members, name) {
                return Some((ScopeKind::Object(object), member));
            }
        }
        layer.scopes.iter().find_map(|scope| Some((scope.kind, position(&scope.members, name)?)))
    }

    pub(super) fn member(&self, scope: ScopeKind, member: u32) -> Option<&Member> {
        self.this_layer()?.members(scope)?.get(member as usize)
    }

    pub(super) fn object_class(&self, name: &str) -> Option<ObjectId> {
        let objects = &self.this_layer()?.objects;
        objects.iter().position(|class| class.name.text == name).map(|index| ObjectId(index as u32))
    }

    fn state_names(&self) -> Vec<String> {
        let Some(layer) = self.this_layer() else { return Vec::new() };
        let own = self.object.and_then(|object| layer.objects.get(object.index())).map(|class| &class.members);
        let members = layer.scopes.iter().map(|scope| &scope.members).chain(own).flatten();
        members.map(|member| member.name.text.clone()).collect()
    }

    /// A plain name as a value.
    pub(super) fn name(&mut self, name: &Name, want: Option<Type>) -> Expr {
        if let Some(local) = self.local(&name.text) {
            let ty = self.local_type(local);
            let kind = if ty == Type::Message { ExprKind::Give(local) } else { ExprKind::Local(local) };
            return make(kind, ty, name.span);
        }
        if let Some((scope, member)) = self.find_state(&name.text) {
            let state = StateRef { scope, member, object: None, span: name.span };
            return self.state_value(state, name);
        }
        if let Some(value) = self.view.as_ref().and_then(|view| view.value(&name.text)) {
            return Expr { span: name.span, ..value };
        }
        if let Some(index) = self.params.iter().position(|param| param.name == name.text) {
            let ty = self.params[index].ty;
            return make(ExprKind::Param(index as u32), ty, name.span);
        }
        match name.text.as_str() {
            "now" if self.has_inputs(name.span, "the time") => return make(ExprKind::Now, Type::Instant, name.span),
            "random" if self.has_inputs(name.span, "a random number") => return self.draw(name.span, want),
            "now" | "random" => return unknown(name.span),
            _ => {}
        }
        if want == Some(Type::Reason) {
            return make(ExprKind::Reason(name.clone()), Type::Reason, name.span);
        }
        match self.cx.item(self.file, &name.text) {
            Some(Item::Const(index)) => match items::constant(self.cx, index, Some(name)) {
                Some(expr) => Expr { span: name.span, ..expr },
                None => unknown(name.span),
            },
            Some(other) => {
                let text = format!("`{}` is {}, not a value", name.text, other.kind());
                let help = match other {
                    Item::Function(_) => "call it: `name(…)`",
                    Item::Attribute(_) => "an attribute is read from a message: `msg.ttl`",
                    Item::Container(_) => "declare state of it in a scope: `queue<u32> waiting(8)`",
                    Item::Enum(_) => "name one of its values: `Kind.Ask`",
                    _ => "name a value here",
                };
                self.error(codes::UNKNOWN_NAME, text, name.span, "expected a value", help);
                unknown(name.span)
            }
            None => {
                self.unknown_name(name);
                unknown(name.span)
            }
        }
    }

    fn has_inputs(&mut self, span: Span, what: &str) -> bool {
        let allowed = !matches!(self.place, Place::Constant | Place::Argument);
        if !allowed {
            let help = "read it in a handler, or where state begins";
            self.error(
                codes::NOT_CONSTANT,
                format!("{what} is not known before the stack starts"),
                span,
                "not constant",
                help,
            );
        }
        allowed
    }

    fn draw(&mut self, span: Span, want: Option<Type>) -> Expr {
        match want {
            Some(ty @ (Type::UInt(_) | Type::Seq(_) | Type::Bool)) => make(ExprKind::Draw, ty, span),
            _ => {
                let text = "how wide this random number is, is not known here";
                self.error(codes::NO_TYPE, text, span, "of what type?", "bind it with a type: `let x: u32 = random`");
                unknown(span)
            }
        }
    }

    pub(super) fn unknown_name(&mut self, name: &Name) {
        if let Some(place) = self.view.as_ref().filter(|_| name.text == "quota").map(|view| view.place) {
            let diagnostic =
                Diagnostic::error(codes::QUOTA_WANTED, "this container takes from a quota, and is given none")
                    .at(place, "from which quota?")
                    .label(name.span, "taken from here")
                    .help("name one behind it: `entity { quota kept: 64 … stream sent(1000, 8) from kept }`");
            return self.report(diagnostic);
        }
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no `{}` here", name.text))
            .at(name.span, "unknown");
        if let Some(owner) = self.hidden_state(&name.text) {
            diagnostic = diagnostic.note(format!("`{}` belongs to the objects `{owner}`", name.text));
            self.report(diagnostic.help(format!("find one first: `if let e = {owner}[key] {{ e.{} … }}`", name.text)));
            return;
        }
        if matches!(self.place, Place::Constant | Place::Argument) && self.state_names().contains(&name.text) {
            let text = format!("`{}` is state, and this must be known before the stack starts", name.text);
            self.error(codes::NOT_CONSTANT, text, name.span, "not constant", "use a number, a `const` or a parameter");
            return;
        }
        let mut names = self.local_names();
        names.extend(self.state_names());
        names.extend(self.params.iter().map(|param| param.name.clone()));
        let items = self.cx.visible_names(self.file, |item| matches!(item, Item::Const(_) | Item::Function(_)));
        names.extend(items.into_iter().map(String::from));
        let near = suggest::nearest(&name.text, names.iter().map(String::as_str).chain(BUILTIN));
        diagnostic = match near {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if self.layer.is_some() => diagnostic
                .help(format!("bind it with `let`, or declare it: `session {{ var {}: u32 = 0 }}`", name.text)),
            None => diagnostic.help("name a parameter or a `const`"),
        };
        self.report(diagnostic);
    }

    /// The object class that has a member of that name, when this is not its code.
    fn hidden_state(&self, name: &str) -> Option<String> {
        let layer = self.this_layer()?;
        let class = layer.objects.iter().find(|class| position(&class.members, name).is_some())?;
        Some(class.name.text.clone())
    }

    /// The value of state: of a variable.
    pub(super) fn state_value(&mut self, state: StateRef, name: &Name) -> Expr {
        let Some(member) = self.member(state.scope, state.member) else { return unknown(name.span) };
        if let MemberKind::Var { ty, .. } = member.kind {
            let span = state.span;
            return make(ExprKind::State(state), ty, span);
        }
        let (what, help) = describe(&member.kind, &name.text);
        self.error(codes::WRONG_STATE, format!("`{}` is {what}, not a value", name.text), name.span, what, &help);
        unknown(name.span)
    }

    /// State of a wanted kind: `t`, `e.t`. A report if it is something else.
    pub(super) fn state_of(
        &mut self,
        expr: &ast::Expr,
        what: &str,
        wanted: fn(&MemberKind) -> bool,
    ) -> Option<StateRef> {
        let expr = tree::unparen(expr);
        let (state, name) = self.state_ref(&expr)?;
        let kind = &self.member(state.scope, state.member)?.kind;
        if wanted(kind) {
            return Some(state);
        }
        let (found, help) = describe(kind, &name.text);
        self.error(
            codes::WRONG_STATE,
            format!("`{}` is {found}, not {what}", name.text),
            name.span,
            &format!("expected {what}"),
            &help,
        );
        None
    }

    /// State named directly, or through an object's handle.
    pub(super) fn state_ref(&mut self, expr: &ast::Expr) -> Option<(StateRef, Name)> {
        if let Some(name) = tree::name_expr(self.file, expr) {
            if let Some((scope, member)) = self.find_state(&name.text) {
                return Some((StateRef { scope, member, object: None, span: name.span }, name));
            }
            if let Some(local) = self.local(&name.text) {
                let ty = self.local_type(local);
                let text = format!("`{}` is a local value of type {}, not state", name.text, self.show(ty));
                self.error(codes::WRONG_STATE, text, name.span, "expected state of the layer", "declare it in a scope");
                return None;
            }
            self.unknown_name(&name);
            return None;
        }
        let ast::Expr::Field(field) = expr else {
            let span = self.span(expr);
            self.error(codes::WRONG_STATE, "this is no state", span, "expected the name of state", "name it directly");
            return None;
        };
        let name = tree::some_name(self.file, field.name())?;
        let base = self.expr(&field.base()?, None);
        self.member_of(base, name)
    }

    /// `e.x` of an object's handle.
    pub(super) fn member_of(&mut self, base: Expr, name: Name) -> Option<(StateRef, Name)> {
        let Type::Object(id) = base.ty else {
            if base.ty != Type::Unknown {
                let text = format!("{} has no state `{}`", self.show(base.ty), name.text);
                self.error(
                    codes::UNKNOWN_FIELD,
                    text,
                    name.span,
                    "only objects have",
                    "find one: `if let e = Entry[key] { … }`",
                );
            }
            return None;
        };
        let class = self.this_layer()?.objects.get(id.index())?;
        match position(&class.members, &name.text) {
            Some(member) => {
                let span = base.span.to(name.span);
                let scope = ScopeKind::Object(id);
                Some((StateRef { scope, member, object: Some(Box::new(base)), span }, name))
            }
            None => {
                let names: Vec<&str> = class.members.iter().map(|member| member.name.text.as_str()).collect();
                let text = format!("objects `{}` have no `{}`", class.name.text, name.text);
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, text).at(name.span, "unknown");
                diagnostic.helps.extend(suggest::help(&name.text, names));
                self.report(diagnostic);
                None
            }
        }
    }
}

/// What a kind of state is called, and what can be done with it.
pub(super) fn describe(kind: &MemberKind, name: &str) -> (&'static str, String) {
    match kind {
        MemberKind::Var { constant: true, .. } => ("a constant", "it is a value".into()),
        MemberKind::Var { .. } => ("a variable", "it is a value: name it, or assign to it".into()),
        MemberKind::Timer => ("a timer", format!("write `start {name} after 20 ms`, `stop {name}`, `running {name}`")),
        MemberKind::Quota { .. } => {
            ("a quota", format!("write `take {name} or {{ … }}`, `give {name}`, `left {name}`"))
        }
        MemberKind::Counter => ("a counter", format!("write `count {name}`; layers do not read counters")),
        MemberKind::Array { .. } => ("an array", format!("name an element: `{name}[i]`")),
        MemberKind::Map { .. } => {
            ("a map", format!("look something up: `if let v = {name}[key] {{ … }} else {{ … }}`"))
        }
        MemberKind::Container(_) => ("a container", format!("call one of its functions: `{name}.push(x) or {{ … }}`")),
        MemberKind::Messages { .. } => (
            "places for messages",
            format!("write `{name}.put(i, msg)`, `if let m = {name}.take(i) {{ … }}`, `{name}.holds(i)`"),
        ),
    }
}
