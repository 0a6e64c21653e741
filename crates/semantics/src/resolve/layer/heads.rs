//! Heads of a layer's functions and handlers.

use mokume_base::Diagnostic;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{is_value, twice, Pending};
use crate::resolve::expr;
use crate::resolve::expr::annotations;
use crate::resolve::items::params;
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::{handlers, views};
use crate::{codes, lost, tree};

/// Resolves the heads of all functions and handlers.
pub(super) fn read(reader: &mut LayerReader, members: &[ast::Member]) {
    for member in members {
        match member {
            ast::Member::Function(function) => add_function(reader, function),
            ast::Member::Handler(handler) if views::around(reader, handler).is_some() => {}
            ast::Member::Handler(handler) => add_handler(reader, None, handler),
            ast::Member::Object(object) => {
                let name = tree::some_name(reader.file, object.name());
                let part = reader.part;
                let class = name.and_then(|name| reader.this().class(part, &name.text));
                for handler in object.handlers() {
                    add_handler(reader, class, &handler);
                }
            }
            _ => {}
        }
    }
}

fn add_function(reader: &mut LayerReader, tree: &ast::Function) {
    let mut head = function_head(reader, tree);
    let own = head.name.clone();
    head.name = reader.full(&own);
    let same = |first: &&Function| first.name.text == head.name.text || first.name.text == own.text;
    if let Some(first) = reader.this().functions.iter().find(same).map(|first| first.name.clone()) {
        let diagnostic = twice("function", &own, &first);
        reader.cx.report(diagnostic);
    }
    if is_value(&own.text) {
        reader.cx.hides(&own, "a function");
    }
    let index = reader.this().functions.len() as u32;
    if let Some(part) = reader.part {
        reader.this().parts[part].functions.push((own.text, index));
    }
    reader.this().functions.push(head);
}

/// The head of a function of the layer, whose parameters may be objects of it.
fn function_head(reader: &mut LayerReader, function: &ast::Function) -> Function {
    let mut params: Vec<Param> = Vec::new();
    for param in function.params() {
        let Some(name) = tree::some_name(reader.file, param.name()) else { continue };
        let object = match param.ty() {
            Some(ast::Type::Named(named)) => named.name().and_then(|named| {
                let part = reader.part;
                reader.this().class(part, &named.text())
            }),
            _ => None,
        };
        let ty = match object {
            Some(class) => Type::Object(class),
            None => annotations::of_param(reader.cx, reader.file, &name, param.ty()),
        };
        let default = param.default().map(|value| expr::value(&mut Body::constant(reader.cx, reader.file), &value, ty));
        let written = annotations::notation(reader.cx, reader.file, param.ty());
        params.push(Param { name, ty, default, local: LocalId(params.len() as u32), written });
    }
    let result = match function.result() {
        Some(ty) => annotations::read(reader.cx, reader.file, Some(ty)),
        None => Type::Unit,
    };
    let locals = params.iter().map(Local::from).collect();
    let (name, refuses) = (tree::title(reader.file, function.name()), function.may_refuse());
    Function { name, params, result, refuses, native: None, locals, body: Vec::new() }
}

fn add_handler(reader: &mut LayerReader, object: Option<ObjectId>, handler: &ast::Handler) {
    let said = reader.cx.out.len();
    let Some(head) = handlers::read(reader, object, handler) else { return };
    // Without its alternative or its fields, the head may be of another event than it seems.
    let of_event = |found: &Diagnostic| matches!(found.code, codes::UNKNOWN_VARIANT | codes::HANDLER_PARAMS);
    let is_sound = !reader.cx.out[said..].iter().any(of_event);
    push(reader, head, is_sound);
}

/// Adds a handler; if its head `is_sound`, reports if its event already has one.
fn push(reader: &mut LayerReader, head: Handler, is_sound: bool) {
    let first = reader.this().handlers.iter().find(|first| handlers::same_event(first, &head)).map(|first| first.span);
    if let Some(first) = first.filter(|_| is_sound) {
        let help = match reader.this().parts.is_empty() {
            true => "write both into one",
            false => {
                "a layer and its parts have one handler for an event: write one, that calls functions of the others"
            }
        };
        let diagnostic = Diagnostic::error(codes::HANDLER_TWICE, "this event has a handler already")
            .at(head.span, "the second")
            .label(first, "the first")
            .help(help);
        let layer = reader.this();
        let without = layer.header.is_none().then(|| lost::header(&layer.name));
        reader.cx.report(Diagnostic { lacks: without.into_iter().collect(), ..diagnostic });
    }
    let index = reader.this().handlers.len() as u32;
    if let Some(part) = reader.part {
        reader.this().parts[part].handlers.push(index);
    }
    reader.this().handlers.push(head);
}

/// Adds the heads of the functions of this layer's containers, after its own.
pub(super) fn container_heads(reader: &mut LayerReader) {
    let id = reader.id;
    let own: Vec<Pending> = reader.cx.contained.iter().filter(|pending| pending.layer == id).cloned().collect();
    for pending in own {
        for tree in pending.tree.functions() {
            let types = &pending.inside.types;
            let mut head = reader.cx.with_types(types, |cx| params::function_head(cx, pending.file, &tree));
            let own = std::mem::take(&mut head.name.text);
            head.name.text = format!("{}{own}", pending.within);
            let index = reader.this().functions.len() as u32;
            reader.this().functions.push(head);
            let container = &mut reader.this().containers[pending.inside.instance as usize];
            container.functions.push((own, index));
        }
        expiries(reader, &pending);
    }
}

/// Expiries of timers in a container: hidden functions, after its own, and handlers that call them.
fn expiries(reader: &mut LayerReader, pending: &Pending) {
    let scope = pending.inside.scope;
    for handler in pending.tree.handlers() {
        let Some(name) = tree::timer(pending.file, &handler) else { continue };
        let own = format!("on expiry {}", name.text);
        let (function, span) = (reader.this().functions.len() as u32, name.span);
        let member = pending.inside.member(&name.text).map(|(_, member)| member).filter(|member| {
            let members = reader.this().members(scope);
            members
                .and_then(|all| all.get(*member as usize))
                .is_some_and(|found| matches!(found.kind, MemberKind::Timer))
        });
        let title = Name { text: format!("{}{own}", pending.within), span };
        reader.this().functions.push(Function {
            name: title,
            params: Vec::new(),
            result: Type::Unit,
            refuses: false,
            native: None,
            locals: Vec::new(),
            body: Vec::new(),
        });
        reader.this().containers[pending.inside.instance as usize].functions.push((own, function));
        let Some(member) = member else {
            let text = format!("there is no timer `{}` here", name.text);
            let help = format!("declare it in the container: `timer {}`", name.text);
            reader.cx.error(codes::UNKNOWN_NAME, text, span, "expected a timer", &help);
            continue;
        };
        let timer = StateRef { scope, member, object: None, span };
        let call = Expr { kind: ExprKind::CallOwn { function, args: Vec::new() }, ty: Type::Unit, span };
        let body = vec![Stmt { kind: StmtKind::Call(call), span }];
        push(reader, Handler { event: Event::Expiry { timer }, scope, locals: Vec::new(), body, span }, true);
    }
}
