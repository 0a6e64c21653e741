//! Calls that give a value: built-in functions, own functions and those of files, reads of messages.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use super::body::{make, unknown, Body};
use super::higher::Kind;
use super::Item;
use crate::program::*;
use crate::{codes, suggest, tree};

/// What a message can be asked in an expression.
const READS: [&str; 7] = ["size", "share", "sum16", "received", "u8", "has", "field"];

impl Body<'_> {
    pub(super) fn call(&mut self, call: &ast::CallExpr, want: Option<Type>, span: Span) -> Expr {
        let (Some(callee), args) = (call.callee(), call.args()) else { return unknown(span) };
        if let Some(name) = tree::name_expr(self.file, &callee) {
            return self.call_name(&name, &args, want, span);
        }
        if let Tree::Field(field) = &callee {
            return self.call_method(field, &args, span);
        }
        let place = self.span(&callee);
        self.error(codes::NO_FUNCTION, "this cannot be called", place, "no function", "name a function");
        unknown(span)
    }

    /// The arguments, none of which may be named.
    pub(super) fn plain_args(&mut self, name: &str, args: &[ast::Arg], count: usize, span: Span) -> Option<Vec<Tree>> {
        for arg in args {
            if let Some(label) = arg.name() {
                let text = format!("`{name}` has no named arguments");
                let place = self.span(&label);
                self.error(codes::UNKNOWN_PARAMETER, text, place, "not here", "leave the name out");
            }
        }
        let values: Vec<Tree> = args.iter().filter_map(|arg| arg.value()).collect();
        if values.len() != count {
            let text = format!("`{name}` takes {}, not {}", counted(count), values.len());
            self.error(codes::WRONG_COUNT, text, span, "here", "give it one value for each parameter");
            return None;
        }
        Some(values)
    }

    fn call_name(&mut self, name: &Name, args: &[ast::Arg], want: Option<Type>, span: Span) -> Expr {
        if let Some(found) = self.own_function(name, args, span) {
            return found;
        }
        match name.text.as_str() {
            "min" | "max" => {
                let op = if name.text == "min" { Binary::Min } else { Binary::Max };
                let Some(values) = self.plain_args(&name.text, args, 2, span) else { return unknown(span) };
                let (a, b) = self.pair(&values[0], &values[1], want);
                self.operate(op, a, b, name.span, span)
            }
            "clamp" => self.clamp(args, want, name.span, span),
            "fold16" => {
                let Some(values) = self.plain_args("fold16", args, 1, span) else { return unknown(span) };
                let sum = self.value(&values[0], Type::UInt(32));
                make(ExprKind::Fold16(Box::new(sum)), Type::UInt(16), span)
            }
            "message" => self.new_message(args, span),
            "flow" => self.flow(args, want, span),
            _ => self.file_function(name, args, span),
        }
    }

    fn clamp(&mut self, args: &[ast::Arg], want: Option<Type>, place: Span, span: Span) -> Expr {
        let Some(values) = self.plain_args("clamp", args, 3, span) else { return unknown(span) };
        let (x, low) = self.pair(&values[0], &values[1], want);
        let hint = Some(x.ty).filter(|ty| *ty != Type::Unknown);
        let high = self.expr(&values[2], hint);
        let above = self.operate(Binary::Max, x, low, place, span);
        let (above, high) = self.unify(above, high);
        self.operate(Binary::Min, above, high, place, span)
    }

    fn new_message(&mut self, args: &[ast::Arg], span: Span) -> Expr {
        let octets = match args.first().and_then(|arg| arg.value()) {
            None => Vec::new(),
            Some(Tree::Octets(octets)) => octets.octets(),
            Some(other) => {
                let place = self.span(&other);
                let help = "write `message(\"text\")` or `message(x\"00ff\")`, then `put_u16be` and its like";
                self.error(codes::MISMATCH, "a new message is made of octets", place, "expected a string", help);
                Vec::new()
            }
        };
        make(ExprKind::NewMessage { octets }, Type::Message, span)
    }

    fn own_function(&mut self, name: &Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let layer = self.this_layer()?;
        let index = match &self.view {
            Some(view) => layer.containers.get(view.instance as usize)?.function(&name.text)? as usize,
            None => layer.functions.iter().position(|function| function.name.text == name.text)?,
        };
        let head = layer.functions[index].clone();
        let args = self.arguments(&name.text, &head.params, args, span);
        self.refusal_is_met(&head, span);
        Some(make(ExprKind::CallOwn { function: index as u32, args }, head.result, span))
    }

    /// A function that the layer has as a parameter.
    fn given_function(&self, name: &Name) -> Option<FunctionId> {
        let higher = self.cx.higher_layers.get(self.layer?.index())?;
        let found = higher.iter().find(|higher| higher.name.text == name.text)?;
        match found.kind {
            Kind::Function { standin, .. } => Some(standin),
            Kind::Layer { .. } => None,
        }
    }

    fn file_function(&mut self, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
        if let Some(standin) = self.given_function(name) {
            let head = self.cx.program.functions[standin.index()].clone();
            let args = self.arguments(&name.text, &head.params, args, span);
            return make(ExprKind::Call { function: standin, args }, head.result, span);
        }
        if let Some(Item::Function(id)) = self.cx.item(self.file, &name.text) {
            // Heads of functions come after the constants, and what a function gives is no constant.
            let Some(head) = self.cx.program.functions.get(id.index()).cloned() else {
                let text = format!("what `{}` gives is not known before the stack starts", name.text);
                self.error(
                    codes::NOT_CONSTANT,
                    text,
                    span,
                    "not constant",
                    "write the value, or compute it in a handler",
                );
                return unknown(span);
            };
            let args = self.arguments(&name.text, &head.params, args, span);
            if head.native.is_some() {
                return self.native_call(id, head.result, args, span);
            }
            return make(ExprKind::Call { function: id, args }, head.result, span);
        }
        let own = self.this_layer().map_or(Vec::new(), |layer| {
            layer.functions.iter().map(|function| function.name.text.clone()).collect::<Vec<_>>()
        });
        let mut names: Vec<&str> = own.iter().map(String::as_str).collect();
        names.extend(self.cx.visible_names(self.file, |item| matches!(item, Item::Function(_))));
        names.extend(["min", "max", "clamp", "fold16", "message", "flow"]);
        let text = format!("there is no function `{}` here", name.text);
        let mut diagnostic = Diagnostic::error(codes::NO_FUNCTION, text).at(name.span, "unknown");
        let near = suggest::nearest(&name.text, names);
        diagnostic = match near {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("an event is emitted with its direction: `below.name(…)`, `above.name(…)`"),
        };
        self.report(diagnostic);
        for value in args.iter().filter_map(|arg| arg.value()) {
            self.expr(&value, None);
        }
        unknown(span)
    }

    /// One value for each parameter: by position, then by name, then the defaults.
    pub(super) fn arguments(&mut self, owner: &str, params: &[Param], args: &[ast::Arg], span: Span) -> Vec<Expr> {
        let mut values: Vec<Option<Expr>> = vec![None; params.len()];
        let mut next = 0;
        let mut misspelt = false;
        for arg in args {
            let Some(value) = arg.value() else { continue };
            let place = self.span(arg);
            let index = match arg.name() {
                Some(label) => {
                    let label = tree::path(self.file, &label);
                    let found = params.iter().position(|param| param.name.text == label.text);
                    if found.is_none() {
                        self.no_param(owner, &label, params);
                        misspelt = true;
                    }
                    found
                }
                None if next < params.len() => {
                    next += 1;
                    Some(next - 1)
                }
                None => {
                    let text = format!("`{owner}` takes {}", counted(params.len()));
                    self.error(codes::WRONG_COUNT, text, place, "one too many", "leave it out");
                    None
                }
            };
            let Some(index) = index else { continue };
            let value = self.value(&value, params[index].ty);
            if values[index].replace(value).is_some() {
                let text = format!("`{}` is given twice", params[index].name.text);
                self.error(codes::DEFINED_TWICE, text, place, "again here", "leave one of them out");
            }
        }
        let mut missing = Vec::new();
        let mut all = Vec::new();
        for (value, param) in values.into_iter().zip(params) {
            all.push(match (value, &param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => default.clone(),
                (None, None) => {
                    missing.push(param.name.clone());
                    unknown(span)
                }
            });
        }
        if let Some(first) = missing.first().filter(|_| !misspelt) {
            let names: Vec<&str> = missing.iter().map(|name| name.text.as_str()).collect();
            let diagnostic =
                Diagnostic::error(codes::MISSING_ARGUMENT, format!("`{owner}` needs {}", suggest::list(&names)))
                    .at(span, "missing here")
                    .label(first.span, "has no default")
                    .help(format!("add `{}: …`", first.text));
            self.report(diagnostic);
        }
        all
    }

    fn no_param(&mut self, owner: &str, label: &Name, params: &[Param]) {
        let text = format!("`{owner}` has no parameter `{}`", label.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PARAMETER, text).at(label.span, "unknown");
        diagnostic.helps.extend(suggest::help(&label.text, params.iter().map(|param| param.name.text.as_str())));
        self.report(diagnostic);
    }

    // ---- messages ----

    /// The message that an expression names, without using it up.
    pub(super) fn message(&mut self, expr: &Tree) -> Option<LocalId> {
        let expr = tree::unparen(expr);
        if let Some(name) = tree::name_expr(self.file, &expr) {
            if let Some(local) = self.local(&name.text) {
                let ty = self.local_type(local);
                if matches!(ty, Type::Message) {
                    return Some(local);
                }
                if ty != Type::Unknown {
                    let text = format!("`{}` is no message, it is {}", name.text, self.show(ty));
                    self.error(codes::NO_MESSAGE, text, name.span, "expected a message", "name the handler's message");
                }
                return None;
            }
            if self.find_state(&name.text).is_none() {
                self.unknown_name(&name);
                return None;
            }
        }
        let place = self.span(&expr);
        self.error(
            codes::NO_MESSAGE,
            "a message is named here",
            place,
            "expected its name",
            "bind it with `let` first",
        );
        None
    }

    /// `msg.size`, `msg.ttl`
    pub(super) fn message_part(&mut self, message: LocalId, name: &Name, span: Span) -> Expr {
        if name.text == "size" {
            return make(ExprKind::MessageSize(message), Type::UInt(32), span);
        }
        match self.attribute(name) {
            Some(attribute) => {
                let declared = self.this_layer().is_some_and(|layer| layer.reads.contains(&attribute));
                if !declared {
                    self.undeclared(name, "read", "reads");
                }
                let ty = self.cx.program.attributes[attribute.index()].ty;
                make(ExprKind::Attribute { message, attribute }, ty, span)
            }
            None => unknown(span),
        }
    }

    pub(super) fn attribute(&mut self, name: &Name) -> Option<AttributeId> {
        if let Some(Item::Attribute(id)) = self.cx.item(self.file, &name.text) {
            return Some(id);
        }
        let mut names = self.cx.visible_names(self.file, |item| matches!(item, Item::Attribute(_)));
        names.extend(READS);
        let help = suggest::help(&name.text, names);
        let text = format!("messages have no attribute `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_ATTRIBUTE, text).at(name.span, "unknown");
        diagnostic.helps.extend(help);
        self.report(diagnostic.help(format!("attributes are declared in a file: `attribute {}: u8 = 0`", name.text)));
        None
    }

    pub(super) fn undeclared(&mut self, name: &Name, verb: &str, word: &str) {
        let text = format!("this layer does not say that it {word} `{}`", name.text);
        let help = format!("add `{word} {}` to the layer", name.text);
        self.error(codes::UNDECLARED, text, name.span, &format!("{verb} here"), &help);
    }

    fn call_method(&mut self, field: &ast::FieldExpr, args: &[ast::Arg], span: Span) -> Expr {
        let (Some(base), Some(name)) = (field.base(), tree::some_name(self.file, field.name())) else {
            return unknown(span);
        };
        if let Some(owner) = tree::name_expr(self.file, &base) {
            if let (None, Some(Item::Enum(id))) = (self.local(&owner.text), self.cx.item(self.file, &owner.text)) {
                if self.cx.program.enums[id.index()].data.is_some() {
                    let value = self.data_value(id, &name, Some(args), span);
                    return value.unwrap_or_else(|| self.field(field, span));
                }
            }
            let local = self.local(&owner.text);
            if let Some(found) = self.contained_call(field, args, span) {
                return found;
            }
            match local.map(|local| (local, self.local_type(local))) {
                Some((local, Type::Message)) => return self.message_method(local, &name, args, span),
                Some((_, Type::Unknown)) => return unknown(span),
                None if owner.text == "below" => return self.below_of_flow(&name, args, span),
                _ => {}
            }
            if self.this_layer().is_some_and(|layer| layer.uses.iter().any(|(_, alias)| alias.text == owner.text)) {
                let help = "operations return nothing; the answer comes as an event of its own";
                self.error(codes::NO_VALUE, "a service's operation gives no value", span, "no value", help);
                return unknown(span);
            }
        }
        if let Some(found) = self.contained_call(field, args, span) {
            return found;
        }
        if name.text == "holds" {
            let Some(messages) = self.places(&base) else { return unknown(span) };
            let Some(values) = self.plain_args("holds", args, 1, span) else { return unknown(span) };
            let index = Box::new(self.array_index(&values[0]));
            return make(ExprKind::Holds { messages, index }, Type::Bool, span);
        }
        if matches!(name.text.as_str(), "take" | "share") && tree::name_expr(self.file, &base).is_some() {
            if let Some((scope, member)) =
                tree::name_expr(self.file, &base).and_then(|owner| self.find_state(&owner.text))
            {
                if matches!(self.member(scope, member).map(|m| &m.kind), Some(MemberKind::Messages { .. })) {
                    let help = format!("write `if let m = places.{}(i) {{ … }} else {{ … }}`", name.text);
                    self.error(codes::WRONG_STATE, "the place may be empty", span, "may be missing", &help);
                    return unknown(span);
                }
            }
        }
        if let Some(found) = self.below_at(&base, &name, Some(args), span) {
            return found;
        }
        let base = self.expr(&base, None);
        if self.cx.program.vector(base.ty).is_some() {
            return self.vector_method(base, &name, args, span);
        }
        if matches!(base.ty, Type::Flow(_)) && name.text == "hash" {
            return self.flow_hash(base, args, span);
        }
        if base.ty != Type::Unknown {
            let text = format!("{} has no operation `{}`", self.show(base.ty), name.text);
            self.error(codes::NO_FUNCTION, text, name.span, "unknown", "bind a message with `let` first, then name it");
        }
        unknown(span)
    }

    /// `below.pseudo_sum(flow)`
    fn below_of_flow(&mut self, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
        if crate::events::DOWN.contains(&name.text.as_str()) {
            let help = "write it as a statement; the answer comes as an event of its own";
            self.error(codes::NO_VALUE, format!("`below.{}` gives no value", name.text), span, "no value", help);
            return unknown(span);
        }
        let Some(values) = self.plain_args(&name.text, args, 1, span) else { return unknown(span) };
        let flow = self.value(&values[0], Type::Flow(Side::Below));
        self.below(name, Some(Box::new(flow)), None, span)
    }

    pub(super) fn places(&mut self, base: &Tree) -> Option<StateRef> {
        self.state_of(base, "places for messages", |kind| matches!(kind, MemberKind::Messages { .. }))
    }

    fn message_method(&mut self, message: LocalId, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
        match name.text.as_str() {
            "share" => {
                self.plain_args("share", args, 0, span);
                make(ExprKind::Share(message), Type::Message, span)
            }
            "sum16" => {
                self.plain_args("sum16", args, 0, span);
                make(ExprKind::Sum16(message), Type::UInt(32), span)
            }
            "size" => {
                self.error(codes::NO_FUNCTION, "`size` is no function", name.span, "not called", "write `msg.size`");
                make(ExprKind::MessageSize(message), Type::UInt(32), span)
            }
            "received" => self.received(message, args, span),
            "has" => self.quote_has(message, args, span),
            "field" => self.quote_field(message, args, span),
            "trim" | "skip" | "join" | "split" => {
                let help = if name.text == "split" {
                    "write `let (front, rest) = msg.split(n)`"
                } else {
                    "write it as a statement: it changes the message in place"
                };
                self.error(codes::NO_VALUE, format!("`{}` gives no value here", name.text), span, "no value", help);
                unknown(span)
            }
            text => match field_of_octets(text) {
                Some((width, big)) => {
                    let Some(values) = self.plain_args(text, args, 1, span) else { return unknown(span) };
                    let at = self.value(&values[0], Type::UInt(32));
                    make(ExprKind::Load { message, at: Box::new(at), width, big }, Type::UInt(width), span)
                }
                None => {
                    let names = [
                        "size", "share", "sum16", "received", "u8", "u16be", "u32be", "u16le", "u32le", "trim", "skip",
                        "split", "join", "has", "field",
                    ];
                    let text = format!("messages have no operation `{}`", name.text);
                    let mut diagnostic = Diagnostic::error(codes::NO_FUNCTION, text).at(name.span, "unknown");
                    let help = suggest::nearest(&name.text, names).map(|near| format!("did you mean `{near}`?"));
                    diagnostic.helps.push(help.unwrap_or(
                        "a field of its octets is `msg.u16be(at)`; `uN` and `be` or `le`, in whole octets".into(),
                    ));
                    self.report(diagnostic);
                    unknown(span)
                }
            },
        }
    }

    fn received(&mut self, message: LocalId, args: &[ast::Arg], span: Span) -> Expr {
        let Some(values) = self.plain_args("received", args, 1, span) else { return unknown(span) };
        let Some(name) = tree::name_expr(self.file, &values[0]) else {
            let place = values[0].span(self.file);
            self.error(
                codes::UNKNOWN_ITEM,
                "a wire is named here",
                place,
                "expected a wire",
                "write `msg.received(Rfc791)`",
            );
            return unknown(span);
        };
        match self.cx.item(self.file, &name.text) {
            Some(Item::Wire(wire)) => make(ExprKind::Received { message, wire }, Type::Message, span),
            _ => {
                self.cx.unknown(codes::UNKNOWN_ITEM, "a wire", &name, self.file, |item| matches!(item, Item::Wire(_)));
                unknown(span)
            }
        }
    }
}

/// `u16be` as its width and byte order.
pub(super) fn field_of_octets(name: &str) -> Option<(u8, bool)> {
    let rest = name.strip_prefix('u')?;
    if rest == "8" {
        return Some((8, true));
    }
    let (digits, big) = match (rest.strip_suffix("be"), rest.strip_suffix("le")) {
        (Some(digits), _) => (digits, true),
        (_, Some(digits)) => (digits, false),
        _ => return None,
    };
    let width: u8 = digits.parse().ok()?;
    (width.is_multiple_of(8) && (16..=64).contains(&width)).then_some((width, big))
}

fn counted(count: usize) -> String {
    match count {
        0 => "no arguments".into(),
        1 => "one argument".into(),
        _ => format!("{count} arguments"),
    }
}
