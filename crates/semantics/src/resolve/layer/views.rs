//! The view of a layer that speaks a vocabulary with views: what its code sees of it, objects for each rank, and the
//! handler that the layer gets for the event if it has none.
//!
//! Keeps: if the layer has no handler for the event, its view begins by itself: `on view_end` runs, the view is
//! renewed, `on view_begin` runs, and the event continues.

use mokume_base::Span;
use mokume_syntax::ast::{self, AstNode};

use crate::check::linear;
use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{make, number, unknown};
use crate::resolve::body::views::{begins, of_record, size, VIEW};
use crate::resolve::body::Body;
use crate::resolve::context::{twice, Context, Item};
use crate::resolve::layer::parts;
use crate::resolve::layer::reader::{LayerReader, Source};
use crate::resolve::stmt;
use crate::resolve::stmt::function;
use crate::signature::Vocabulary;
use crate::tree;

/// The handlers around the beginning of a view, in order.
const AROUND: [&str; 2] = ["view_end", "view_begin"];

/// Finds the view that a layer is in, before its members are resolved.
pub(super) fn declare(reader: &mut LayerReader, sources: &[Source]) {
    let mut found: Option<(Name, ViewRecord, Span)> = None;
    for source in sources {
        let speaks = source.members.iter().filter_map(|member| match member {
            ast::Member::Speaks(speaks) => Some(speaks),
            _ => None,
        });
        for name in speaks.flat_map(|speaks| speaks.names()).map(|name| tree::name(source.file, &name)) {
            let Some((event, record)) = begun(reader.cx, source, &name) else { continue };
            if let Some((first, ..)) = &found {
                let diagnostic = twice("view", &event, first);
                reader.cx.report(diagnostic);
                continue;
            }
            found = Some((event, record, name.span));
        }
    }
    let Some((event, record, span)) = found else { return no_view(reader) };
    let has_own = |source: &Source| {
        let is_it = |member: &ast::Member| match member {
            ast::Member::Handler(handler) => is_named(source, handler, &event.text),
            _ => false,
        };
        source.members.iter().any(is_it)
    };
    let by_itself = !sources.iter().any(has_own);
    let emitted = |source: &Source| {
        let all = source.members.iter().flat_map(|member| parts::emitted(source.file, member));
        all.into_iter().any(|(name, down)| !down && name == event.text)
    };
    let says = sources.iter().any(emitted);
    let layer = reader.this();
    layer.view = Some(LayerView { event, record, by_itself, says, around: [None, None] });
    if by_itself {
        let kind = MemberKind::Var { ty: Type::Record(record.record), init: None, constant: true };
        let name = Name { text: VIEW.into(), span };
        let members = vec![Member { name, kind, written: MemberNotations::default() }];
        layer.scopes.push(Scope { kind: ScopeKind::View, capacity: None, members });
    }
}

/// Reports a `group` that speaks no vocabulary with views.
fn no_view(reader: &mut LayerReader) {
    if reader.this().group {
        let name = reader.this().name.clone();
        let vocabularies = &reader.cx.program.vocabularies;
        let begins = vocabularies.iter().filter(|known| known.up.iter().any(|event| event.begins));
        let file = name.span.file;
        let is_seen = |known: &&Vocabulary| matches!(reader.cx.item_at(file, &known.name), Some(Item::Vocabulary(_)));
        let help = match begins.into_iter().find(is_seen) {
            None => "add `speaks …`, a vocabulary with `up all begins view(v: View)`; or write `worker`".to_string(),
            Some(known) => format!("add `speaks {}`: a view begins in it; or write `worker`", known.name.text),
        };
        reader.cx.error(codes::NO_VIEW, "a group is in a view, and none begins here", name.span, "in no view", &help);
    }
}

/// The event of a vocabulary with which a view begins.
fn begun(cx: &Context, source: &Source, vocabulary: &Name) -> Option<(Name, ViewRecord)> {
    let Item::Vocabulary(id) = cx.item_at(source.file, vocabulary)? else { return None };
    let event = cx.program.vocabularies.get(id.index())?.up.iter().find(|event| event.begins)?;
    let Type::Record(record) = event.params.first()?.ty else { return None };
    Some((event.name.clone(), of_record(&cx.program, record)?))
}

fn is_named(source: &Source, handler: &ast::Handler, event: &str) -> bool {
    handler.event().is_some_and(|path| match tree::parts(source.file, &path).as_slice() {
        [only] => only.text == event,
        _ => false,
    })
}

/// The number of objects of a class with one for each rank.
pub(super) fn rows(reader: &mut LayerReader, object: &ast::Object, name: &Name) -> Expr {
    if object.capacity().is_some() {
        let help = "leave `capacity` out: there is one for each rank";
        reader.cx.error(codes::SHAPE_MEMBER, "there are as many as ranks", name.span, "needs no capacity", help);
    }
    match &reader.this().view {
        Some(view) => {
            let bound = view.record.bound;
            number(bound, name.span)
        }
        None => {
            let help = "let the layer speak a vocabulary in which a view begins: `up all begins view(v: View)`";
            reader.cx.error(codes::NO_VIEW, "how many ranks there are is said nowhere", name.span, "of no view", help);
            unknown(name.span)
        }
    }
}

/// Whether the handler is `on view_end` or `on view_begin`, and which.
pub(super) fn around(reader: &LayerReader, handler: &ast::Handler) -> Option<(usize, Name)> {
    let parts = tree::parts(reader.file, &handler.event()?);
    let [name] = parts.as_slice() else { return None };
    Some((AROUND.iter().position(|word| *word == name.text)?, name.clone()))
}

/// Adds `on view_end` and `on view_begin` as hidden functions.
pub(super) fn heads(reader: &mut LayerReader, members: &[ast::Member]) {
    for member in members {
        let ast::Member::Handler(handler) = member else { continue };
        if let Some((at, name)) = around(reader, handler) {
            head(reader, handler, at, &name);
        }
    }
}

fn head(reader: &mut LayerReader, handler: &ast::Handler, at: usize, name: &Name) {
    if !handler.patterns().is_empty() {
        let text = format!("`{}` has no parameters", name.text);
        let help = "what the view is, is in `view`, before and behind";
        reader.cx.error(codes::HANDLER_PARAMS, text, name.span, "takes none", help);
    }
    let function = reader.this().functions.len() as u32;
    let by_itself = reader.this().view.as_ref().filter(|view| view.by_itself).map(|view| view.around[at]);
    match by_itself {
        Some(None) => {}
        Some(Some(first)) => {
            let first = reader.this().functions[first as usize].name.clone();
            let diagnostic = twice("handler", name, &first);
            reader.cx.report(diagnostic);
            return;
        }
        None => {
            let text = format!("nothing of the name `{}` comes here: no view begins by itself", name.text);
            let help = "let the layer speak a vocabulary with `up all begins view(v: View)`, and have no `on view(v)`";
            reader.cx.error(codes::NO_VIEW, text, name.span, "never runs", help);
            return;
        }
    }
    let own = Name { text: format!("on {}", name.text), span: name.span };
    reader.this().functions.push(Function {
        name: own,
        params: Vec::new(),
        result: Type::Unit,
        refuses: false,
        native: None,
        locals: Vec::new(),
        body: Vec::new(),
    });
    if let Some(view) = &mut reader.this().view {
        view.around[at] = Some(function);
    }
}

/// Resolves the code of `on view_end` or `on view_begin`.
pub(super) fn code(reader: &mut LayerReader, tree: &ast::Handler) {
    let Some(span) = tree.event().map(|path| path.span(reader.file)) else { return };
    let around = reader.this().view.as_ref().map(|view| view.around).unwrap_or_default();
    let is_it = |at: &u32| reader.cx.program.layers[reader.id.index()].functions[*at as usize].name.span == span;
    let Some(index) = around.into_iter().flatten().find(is_it).map(|at| at as usize) else { return };
    let head = reader.this().functions[index].clone();
    let (file, id, part) = (reader.file, reader.id, reader.part);
    let (locals, excused, body) = reader.cx.settled(|cx| {
        let mut body = Body::of_function(cx, file, Some(id), &head);
        body.view.part = part;
        let statements = stmt::block(&mut body, tree.body());
        (body.locals.into_all(), body.excused, statements)
    });
    let end = function::last_brace(file, tree.body(), span);
    linear::check(&locals, &[], &excused, &body, end, &mut reader.cx.out);
    let function = &mut reader.this().functions[index];
    function.locals = locals;
    function.body = body;
}

/// Adds the handler of the event, if the layer has none.
pub(super) fn handler(reader: &mut LayerReader) {
    let layer = reader.this();
    let Some(view) = layer.view.clone().filter(|view| view.by_itself && !view.says) else { return };
    let span = layer.name.span;
    let said = LocalId(0);
    let ty = Type::Record(view.record.record);
    let locals = vec![Local::new(Name { text: ".view".into(), span }, ty)];
    let mut body = begins(&view, said, span);
    if layer.shape != Shape::Endpoint {
        body.push(Stmt { kind: StmtKind::Pass, span });
    }
    let event = Event::Custom { name: view.event, from: Origin::Below, params: vec![said], later_capacity: 0 };
    layer.handlers.push(Handler { event, scope: ScopeKind::Entity, locals, body, span });
}

/// Statements that check numbers that become ranks, those of packets and those that an application says: if one is not a rank of the
/// current view, the message is dropped, and nothing is done. From a set, ranks that are not in this view are removed: they may belong
/// to another view.
pub(super) fn guard(layer: &Layer, program: &Program, handler: &Handler) -> Vec<Stmt> {
    let ty = |local: &LocalId| handler.locals[local.index()].ty;
    let (message, locals): (Option<LocalId>, Vec<LocalId>) = match &handler.event {
        Event::Deliver { message, fields, .. } => (*message, fields.iter().map(|(_, local)| *local).collect()),
        Event::Custom { from: Origin::Above, params, .. } => {
            (params.iter().find(|local| ty(local) == Type::Message).copied(), params.clone())
        }
        _ => return Vec::new(),
    };
    let Some(view) = layer.view.as_ref().filter(|view| view.by_itself) else { return Vec::new() };
    let of = |wanted: Type| locals.iter().copied().filter(move |local| ty(local) == wanted);
    let ranks = of(Type::Rank).map(|local| outside(program, view, (local, message), handler.span));
    let sets = of(Type::Ranks).map(|local| within(program, view, local, handler.span));
    ranks.chain(sets).collect()
}

/// Cuts off, from a set out of a packet, what is not a rank of this view.
fn within(program: &Program, view: &LayerView, set: LocalId, span: Span) -> Stmt {
    let binary = |op, a, b, ty| make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, ty, span);
    let number = |number| make(ExprKind::Number(number), Type::Ranks, span);
    let beyond = binary(Binary::Shl, number(u64::MAX), size(program, view, span), Type::Ranks);
    let known = make(ExprKind::Not(Box::new(beyond)), Type::Ranks, span);
    let value = binary(Binary::BitAnd, make(ExprKind::Local(set), Type::Ranks, span), known, Type::Ranks);
    let most = make(ExprKind::Number(64), Type::UInt(32), span);
    let condition = binary(Binary::Lt, size(program, view, span), most, Type::Bool);
    let then = vec![Stmt { kind: StmtKind::AssignLocal { local: set, value }, span }];
    Stmt { kind: StmtKind::If { condition, likely: Some(0.99), then, otherwise: Vec::new() }, span }
}

fn outside(program: &Program, view: &LayerView, (rank, message): (LocalId, Option<LocalId>), span: Span) -> Stmt {
    let rank = make(ExprKind::Local(rank), Type::Rank, span);
    let wide = make(ExprKind::Cast { kind: CastKind::Widen, a: Box::new(rank) }, Type::UInt(32), span);
    let size = size(program, view, span);
    let condition = make(ExprKind::Binary { op: Binary::Ge, a: Box::new(wide), b: Box::new(size) }, Type::Bool, span);
    let reason = Name { text: "no_rank".into(), span };
    let mut then: Vec<Stmt> = message
        .map(|message| Stmt { kind: StmtKind::Drop { message, reason, value: None }, span })
        .into_iter()
        .collect();
    then.push(Stmt { kind: StmtKind::Return { value: None }, span });
    Stmt { kind: StmtKind::If { condition, likely: Some(0.01), then, otherwise: Vec::new() }, span }
}
