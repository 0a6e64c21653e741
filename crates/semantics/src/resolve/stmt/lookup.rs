//! Look-ups of `if let` and `let … or`: entries of maps, objects, places for messages, vectors, and calls that may
//! refuse.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{compared, edited, make, number, picked};
use crate::resolve::body::views;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::expr;
use crate::resolve::expr::{named_types, operators, positional, state};
use crate::resolve::stmt::{targets, unnamed};
use crate::{codes, tree};

/// A look-up of `if let` or `let … or`.
pub(super) enum Lookup {
    Map {
        map: StateRef,
        key: Vec<Expr>,
        values: Vec<Type>,
    },
    Object {
        class: ObjectId,
        key: Vec<Expr>,
    },
    Messages {
        messages: StateRef,
        index: Expr,
        share: bool,
    },
    /// A call of a function that may refuse.
    Call(Expr),
    /// An element of a bounded vector: present if the condition holds; `after` removes it.
    Vector {
        before: Vec<Stmt>,
        condition: Expr,
        value: Expr,
        after: Vec<Stmt>,
    },
    /// The listener for the arriving message, or for the flow in brackets.
    Listener(Option<Expr>),
    /// An element of an array in a container that treats it like places for messages: always present.
    Element(Expr),
}

impl Lookup {
    /// Statements before the look-up.
    pub(super) fn before(&mut self) -> Vec<Stmt> {
        match self {
            Lookup::Vector { before, .. } => std::mem::take(before),
            _ => Vec::new(),
        }
    }

    /// What happens to unnamed messages if a call refuses.
    pub(super) fn refused(&self, body: &Body) -> Vec<Stmt> {
        match self {
            Lookup::Call(call) => unnamed::call_refused(body, call),
            Lookup::Map { .. }
            | Lookup::Object { .. }
            | Lookup::Messages { .. }
            | Lookup::Vector { .. }
            | Lookup::Listener(_)
            | Lookup::Element(_) => Vec::new(),
        }
    }

    /// The type of the single value that is found, if a default can replace it; a message or an object has no default.
    pub(super) fn value(&self) -> Option<Type> {
        let ty = match self {
            Lookup::Map { values, .. } => match values.as_slice() {
                // The intended type is unknown; the declaration was reported.
                [Type::Unknown] => return Some(Type::Unknown),
                [only] => *only,
                _ => return None,
            },
            Lookup::Call(call) => call.ty,
            Lookup::Vector { value, .. } | Lookup::Element(value) => value.ty,
            Lookup::Object { .. } | Lookup::Messages { .. } | Lookup::Listener(_) => return None,
        };
        (!matches!(ty, Type::Unit | Type::Message | Type::Object(_) | Type::Unknown)).then_some(ty)
    }
}

/// `m[k]`, `Entry[k]`, `waiting.take(i)`; outer `None`, without a report, if the expression is no look-up.
pub(super) fn read(body: &mut Body, expr: &Tree) -> Option<Result<Lookup, ()>> {
    let expr = tree::unparen(expr);
    let span = body.span(&expr);
    match &expr {
        Tree::Name(_) => {
            let asked = body.kind == BodyKind::Handler(Role::Arrives) && is_listener(body, &expr);
            asked.then_some(Ok(Lookup::Listener(None)))
        }
        Tree::Index(index) => {
            let base = index.base()?;
            let trees = key_trees(index);
            if has_listeners(body) && is_listener(body, &base) {
                let flow = operators::key_values(body, &trees, &[Type::Flow(Side::Above)], span).pop();
                return Some(Ok(Lookup::Listener(flow)));
            }
            if let Some(class) = tree::name_expr(body.file, &base).and_then(|name| body.class_named(&name)) {
                let key = operators::object_key(body, class, &trees, span);
                return Some(Ok(Lookup::Object { class, key }));
            }
            if state::is_member(body, &base, |kind| matches!(kind, MemberKind::Array { .. }))
                || named_types::is_vector(body, &base)
            {
                return None;
            }
            let is_map = |kind: &MemberKind| matches!(kind, MemberKind::Map { .. });
            let Some(map) = state::of_kind(body, &base, "a map or the name of objects", is_map) else {
                return Some(Err(()));
            };
            let (keys, values) = state::map_types(body, &map);
            let key = operators::key_values(body, &trees, &keys, span);
            Some(Ok(Lookup::Map { map, key, values }))
        }
        Tree::Call(call) if is_rank(body, call) => Some(rank_lookup(body, call, span)),
        Tree::Call(call) => match vector_lookup(body, call, span).or_else(|| place_lookup(body, call, span)) {
            None => expr::containers::refusing(body, call, span).map(|call| Ok(Lookup::Call(call))),
            found => found,
        },
        _ => None,
    }
}

/// Whether a value itself is correct; else it was reported here or at its declaration.
pub(super) fn is_sound(body: &mut Body, value: &Tree) -> bool {
    let said = body.cx.out.len();
    let found = expr::infer(body, value, None);
    found.ty != Type::Unknown && body.cx.out.len() == said
}

/// As [`read`], but reports if there is no look-up.
pub(super) fn read_or_report(body: &mut Body, value: &Tree) -> Option<Result<Lookup, ()>> {
    let found = read(body, value);
    if found.is_none() && is_sound(body, value) {
        let place = body.span(value);
        let help = "`if let` looks something up: `m[k]`, `Entry[k]`, `waiting.take(i)`";
        body.error(codes::MISMATCH, "this is always there", place, "no lookup", help);
        return None;
    }
    found
}

/// The key in `m[a, b]` or `m[(a, b)]`.
pub(super) fn key_trees(index: &ast::IndexExpr) -> Vec<Tree> {
    match index.indices().as_slice() {
        [only] => tree::untuple(only),
        several => several.to_vec(),
    }
}

fn place_lookup(body: &mut Body, call: &ast::CallExpr, span: Span) -> Option<Result<Lookup, ()>> {
    let Some(Tree::Field(field)) = call.callee() else { return None };
    let (base, name) = (field.base()?, tree::some_name(body.file, field.name())?);
    let share = match name.text.as_str() {
        "take" => false,
        "share" => true,
        _ => return None,
    };
    if let Some(element) = expr::containers::element_taken(body, &base, &call.args()) {
        return Some(Ok(Lookup::Element(element)));
    }
    if !state::is_member(body, &base, |kind| matches!(kind, MemberKind::Messages { .. })) {
        return None;
    }
    let messages = state::messages(body, &base)?;
    let args = call.args();
    let Some(index) = args.first().and_then(|arg| arg.value()).filter(|_| args.len() == 1) else {
        let text = format!("`{}` takes one argument: the place", name.text);
        body.error(codes::WRONG_COUNT, text, span, "which place?", "write `take(i)`");
        return Some(Err(()));
    };
    let index = expr::index(body, &index);
    Some(Ok(Lookup::Messages { messages, index, share }))
}

/// `v.pop()`, `v.at(i)`, which may find nothing.
fn vector_lookup(body: &mut Body, call: &ast::CallExpr, span: Span) -> Option<Result<Lookup, ()>> {
    let (base, name) = tree::method(body.file, call)?;
    if !matches!(name.text.as_str(), "pop" | "at") {
        return None;
    }
    let (vector, of) = expr::vectors::named(body, &base)?;
    let takes = usize::from(name.text == "at");
    let Some(values) = positional::counted(body, &name.text, &call.args(), takes, span) else { return Some(Err(())) };
    let length = expr::vectors::length(vector.clone(), span);
    if let Some(index) = values.first() {
        let value = expr::index(body, index);
        let local = body.locals.hidden(span, Type::UInt(32));
        let index = make(ExprKind::Local(local), Type::UInt(32), span);
        let before = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
        let condition = compared(Binary::Lt, index.clone(), length, span);
        let value = picked(vector, index, of.element, span);
        return Some(Ok(Lookup::Vector { before, condition, value, after: Vec::new() }));
    }
    let condition = compared(Binary::Gt, length.clone(), number(0, span), span);
    let last = ExprKind::Binary { op: Binary::SubWrap, a: Box::new(length), b: Box::new(number(1, span)) };
    let value = picked(vector.clone(), make(last, Type::UInt(32), span), of.element, span);
    let shorter = targets::put_into(body, &base, edited(vector, Edit::Pop, span), span);
    let after = shorter.map(|kind| Stmt { kind, span }).into_iter().collect();
    Some(Ok(Lookup::Vector { before: Vec::new(), condition, value, after }))
}

/// `view.rank(n)`
fn is_rank(body: &Body, call: &ast::CallExpr) -> bool {
    let method = tree::method(body.file, call);
    let of_view = |base: &Tree| tree::name_expr(body.file, base).is_some_and(|base| views::is_view(body, &base.text));
    method.is_some_and(|(base, name)| name.text == "rank" && of_view(&base))
}

/// The member with this number, if the view has so many.
fn rank_lookup(body: &mut Body, call: &ast::CallExpr, span: Span) -> Result<Lookup, ()> {
    let view = views::of(body).ok_or(())?;
    let values = positional::counted(body, "rank", &call.args(), 1, span).ok_or(())?;
    let value = values.first().map(|value| expr::value(body, value, Type::UInt(32))).ok_or(())?;
    let local = body.locals.hidden(span, Type::UInt(32));
    let number = make(ExprKind::Local(local), Type::UInt(32), span);
    let before = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
    let size = views::size(&body.cx.program, &view, span);
    let condition = compared(Binary::Lt, number.clone(), size, span);
    let value = make(ExprKind::Cast { kind: CastKind::Truncate, a: Box::new(number) }, Type::Rank, span);
    Ok(Lookup::Vector { before, condition, value, after: Vec::new() })
}

/// Whether it is `listener`, and nothing else has that name.
fn is_listener(body: &Body, expr: &Tree) -> bool {
    let Some(name) = tree::name_expr(body.file, expr) else { return false };
    let other = body.locals.find(&name.text).is_some() || body.find_state(&name.text).is_some();
    name.text == "listener" && !other
}

/// Whether the current layer has listeners above: it is a worker with sessions.
fn has_listeners(body: &Body) -> bool {
    let code = matches!(body.kind, BodyKind::Function | BodyKind::Handler(_)) && body.view.inside.is_none();
    let layer = body.view.layer(&body.cx.program);
    let sessions = layer.is_some_and(|layer| layer.has_scope(ScopeKind::Session));
    code && sessions && body.shape() == Some(Shape::Worker)
}
