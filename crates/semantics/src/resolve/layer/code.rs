//! The code of layers: functions and handlers.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::check::linear;
use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::context::{Context, Pending};
use crate::resolve::layer::reader::{LayerReader, Source};
use crate::resolve::layer::{handlers, sight, views};
use crate::resolve::stmt;
use crate::resolve::stmt::function;
use crate::{codes, lost, tree};

/// Resolves functions, then handlers; those with parameters of unknown type after the code that emits to them.
pub(super) fn read(reader: &mut LayerReader, sources: &[Source]) {
    let mut function = 0;
    let mut waiting: Vec<(&Source, ast::Handler)> = Vec::new();
    for source in sources {
        reader.at(source);
        for member in &source.members {
            match member {
                ast::Member::Function(tree) => {
                    function_code(reader, function, tree);
                    function += 1;
                }
                ast::Member::Handler(handler) => waiting.push((source, handler.clone())),
                ast::Member::Object(object) => {
                    waiting.extend(object.handlers().into_iter().map(|handler| (source, handler)));
                }
                _ => {}
            }
        }
    }
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|(source, handler)| {
            reader.at(source);
            !is_vague(reader, handler)
        });
        let (source, next) = waiting.remove(ready.unwrap_or(0));
        reader.at(source);
        handler_code(reader, &next);
    }
    views::handler(reader);
    otherwise(reader);
}

/// Messages of no named alternative pass, down and up, if the layer has no handlers for them.
fn otherwise(reader: &mut LayerReader) {
    let layer = reader.this();
    let Some(variant) = layer.header.as_ref().and_then(Header::otherwise) else { return };
    let span = layer.name.span;
    let message = LocalId(0);
    let held = || Expr { kind: ExprKind::Give(message), ty: Type::Message, span };
    let mut pass = |event: Event, emission: Emission| {
        let locals = vec![Local::new(Name { text: ".message".into(), span }, Type::Message)];
        let body = vec![Stmt { kind: StmtKind::Emit(emission), span }];
        let handler = Handler { event, scope: ScopeKind::Entity, locals, body, span };
        if !layer.handlers.iter().any(|known| handlers::same_event(known, &handler)) {
            layer.handlers.push(handler);
        }
    };
    let fields = Some(Fields { variant, values: Vec::new() });
    let down = Emission::Send { message: Some(held()), fields, to: None };
    pass(Event::Send { message, flow: None }, down);
    let up = Emission::Deliver { message: held(), from: None };
    let variant = Some(variant);
    pass(Event::Deliver { message: Some(message), variant, fields: Vec::new(), flow: None }, up);
}

fn head_of(reader: &mut LayerReader, tree: &ast::Handler) -> Option<usize> {
    let span = match (tree.event(), tree::timer(reader.file, tree)) {
        (Some(path), _) => path.span(reader.file),
        (None, Some(name)) => name.span,
        (None, None) => return None,
    };
    reader.this().handlers.iter().position(|handler| handler.span == span)
}

/// Whether a parameter's type is neither written nor known yet.
fn is_vague(reader: &mut LayerReader, tree: &ast::Handler) -> bool {
    let Some(index) = head_of(reader, tree) else { return false };
    let handler = &reader.this().handlers[index];
    matches!(handler.event, Event::Custom { .. }) && handler.locals.iter().any(|local| local.ty == Type::Unknown)
}

fn function_code(reader: &mut LayerReader, index: usize, tree: &ast::Function) {
    let head = reader.this().functions[index].clone();
    let (file, id, part) = (reader.file, reader.id, reader.part);
    let read = |cx: &mut Context| {
        let mut body = Body::of_function(cx, file, Some(id), &head);
        body.view.part = part;
        function::body(body, tree, &head)
    };
    let (locals, excused, body) = reader.cx.settled(read);
    let held: Vec<LocalId> =
        head.params.iter().filter(|param| param.ty == Type::Message).map(|param| param.local).collect();
    linear::check(
        &locals,
        &held,
        &excused,
        &body,
        function::last_brace(reader.file, tree.body(), head.name.span),
        &mut reader.cx.out,
    );
    let function = &mut reader.this().functions[index];
    function.locals = locals;
    function.body = body;
}

fn handler_code(reader: &mut LayerReader, tree: &ast::Handler) {
    let Some(index) = head_of(reader, tree) else { return views::code(reader, tree) };
    let head = reader.this().handlers[index].clone();
    let kind = BodyKind::Handler(handlers::role(&head.event));
    let (file, id, part) = (reader.file, reader.id, reader.part);
    let (locals, excused, statements) = reader.cx.settled(|cx| {
        let mut body = Body::of_scope(cx, file, id, kind, head.scope);
        body.head = Some(head.span);
        body.view.part = part;
        for local in &head.locals {
            body.locals.bind(&local.name, local.ty);
        }
        let mut statements = head.body.clone();
        statements.extend(stmt::block(&mut body, tree.body()));
        (body.locals.into_all(), body.excused, statements)
    });
    let held = messages(&head.event, &locals);
    let (span, said) = (head.span, reader.cx.out.len());
    linear::check(
        &locals,
        &held,
        &excused,
        &statements,
        function::last_brace(reader.file, tree.body(), span),
        &mut reader.cx.out,
    );
    // Without the header, `on deliver(Gone)` is read as a message.
    let layer = &reader.cx.program.layers[reader.id.index()];
    if layer.header.is_none() && held.iter().any(|local| locals[local.index()].name.is_capital()) {
        let thing = lost::header(&layer.name);
        reader.cx.out[said..].iter_mut().for_each(|found| found.lacks.push(thing.clone()));
    }
    let guard = views::guard(&reader.cx.program.layers[reader.id.index()], &reader.cx.program, &head);
    let handler = &mut reader.this().handlers[index];
    handler.locals = locals;
    handler.body = guard;
    handler.body.extend(statements);
}

/// The messages that a handler begins with.
fn messages(event: &Event, locals: &[Local]) -> Vec<LocalId> {
    let all: Vec<LocalId> = match event {
        Event::Send { message, .. } | Event::Unmatched { message, .. } => vec![*message],
        Event::FailedQuoting { message, .. } => vec![*message],
        Event::Deliver { message, .. } | Event::Arrives { message, .. } => message.iter().copied().collect(),
        Event::Service { params, .. } | Event::Custom { params, .. } => params.clone(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|local| locals.get(local.index()).is_some_and(|local| local.ty == Type::Message)).collect()
}

/// The functions of this layer's containers.
pub(super) fn containers(reader: &mut LayerReader) {
    let id = reader.id;
    let own: Vec<Pending> = reader.cx.contained.iter().filter(|pending| pending.layer == id).cloned().collect();
    for pending in own {
        let container = reader.this().containers[pending.inside.instance as usize].clone();
        let mut indices = container.functions.into_iter().map(|(_, index)| index as usize);
        for (tree, index) in pending.tree.functions().into_iter().zip(&mut indices) {
            let read = |body: Body, head: &Function| function::body(body, &tree, head);
            container_function(reader, &pending, (tree.body(), index), read);
        }
        let expiries = pending.tree.handlers().into_iter().filter(|handler| !handler.expiry().is_empty());
        for (tree, index) in expiries.zip(indices) {
            let read = |mut body: Body, _: &Function| {
                let statements = stmt::block(&mut body, tree.body());
                (body.locals.into_all(), body.excused, statements)
            };
            container_function(reader, &pending, (tree.body(), index), read);
        }
    }
}

fn container_function(
    reader: &mut LayerReader,
    pending: &Pending,
    (block, index): (Option<ast::Block>, usize),
    read: impl Fn(Body, &Function) -> (Vec<Local>, Vec<LocalId>, Vec<Stmt>),
) {
    let head = reader.this().functions[index].clone();
    let (id, file) = (reader.id, pending.file);
    let whole = |cx: &mut Context| {
        let mut body = Body::of_function(cx, file, Some(id), &head);
        body.view.inside = Some(pending.inside.clone());
        body.view.params = Vec::new();
        if let ScopeKind::Object(object) = pending.inside.scope {
            body.view.object = Some(object);
        }
        read(body, &head)
    };
    let (locals, excused, statements) = reader.cx.with_types(&pending.inside.types, |cx| cx.settled(whole));
    let held: Vec<LocalId> =
        head.params.iter().filter(|param| param.ty == Type::Message).map(|param| param.local).collect();
    let end = function::last_brace(file, block, head.name.span);
    linear::check(&locals, &held, &excused, &statements, end, &mut reader.cx.out);
    let function = &mut reader.this().functions[index];
    function.locals = locals;
    function.body = statements;
}

/// Chooses the scope of each handler: the innermost whose state it names, directly or in functions that it calls.
pub(super) fn scopes(reader: &mut LayerReader) {
    let layer = &*reader.this();
    let of_functions = sight::function_scopes(layer);
    let choice = |handler: &Handler| {
        let named = sight::scopes_named(layer, &handler.body, &of_functions);
        sight::choose(layer, handler, &named)
    };
    let choices: Vec<_> = layer.handlers.iter().map(choice).collect();
    for (index, (scope, problem)) in choices.into_iter().enumerate() {
        if let Some((kind, span)) = problem {
            out_of_sight(reader, index, kind, span, scope);
        }
        reader.this().handlers[index].scope = scope;
    }
}

fn out_of_sight(reader: &mut LayerReader, handler: usize, kind: ScopeKind, span: Span, runs: ScopeKind) {
    let event = reader.this().handlers[handler].event.clone();
    let handler = reader.this().handlers[handler].span;
    let text = format!(
        "this handler runs for the {}, and there is no {} at hand",
        sight::scope_name(runs),
        sight::scope_name(kind)
    );
    let diagnostic = Diagnostic::error(codes::OUT_OF_SIGHT, text)
        .at(span, format!("state of the {}", sight::scope_name(kind)))
        .label(handler, "the handler");
    let diagnostic = match event {
        Event::Expiry { timer } if timer.scope == runs => {
            let timers = reader.this().members(runs).and_then(|members| members.get(timer.member as usize));
            let name = timers.map_or("t", |timer| &timer.name.text);
            let scope = sight::scope_name(kind);
            diagnostic
                .help(format!("a timer's handler runs for whom the timer is of: declare `timer {name}` in the {scope}"))
        }
        _ => diagnostic.help("keep the state in the `entity`, or in objects that are found by a key"),
    };
    reader.cx.report(diagnostic);
}

/// Whether the layer reads octets of messages from the layer above.
pub(super) fn barrier(reader: &mut LayerReader) {
    let layer = reader.this();
    if layer.shape == Shape::Endpoint {
        return;
    }
    let bodies =
        layer.handlers.iter().map(|handler| &handler.body).chain(layer.functions.iter().map(|function| &function.body));
    layer.barrier = bodies.into_iter().any(|body| sight::looks_at_octets(body));
}
