//! Values of enums with data, `Shape.Circle(3)`, and what patterns bind of them.
//!
//! A value is a record: the number, then the parts of all names side by side; parts of other names are 0 (see
//! [`crate::resolve::items`]).

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr::arguments;
use crate::{codes, tree};

/// The enum with data whose values have this type.
pub fn enum_of(body: &Body, ty: Type) -> Option<EnumId> {
    let Type::Record(record) = ty else { return None };
    let found = body.cx.program.enums.iter().position(|item| item.data == Some(record))?;
    Some(EnumId(found as u32))
}

/// `Shape.Circle(3)`, `Shape.Nothing`; `None` if the enum has no data or no such name, or if a pattern needs the
/// number.
pub(super) fn value(body: &mut Body, id: EnumId, name: &Name, args: Option<&[ast::Arg]>, span: Span) -> Option<Expr> {
    let item = body.cx.program.enums.get(id.index())?;
    let record = item.data.filter(|_| !body.pattern)?;
    let place = item.names.iter().position(|(known, _)| known.text == name.text)?;
    body.cx.mention(name, item.names[place].0.span);
    let (number, range) = (item.names[place].1, item.parts.get(place)?.clone());
    let title = format!("{}.{}", item.name.text, name.text);
    let fields = body.cx.program.records.get(record.index())?.fields.clone();
    if args.is_none() && !range.is_empty() {
        let help = format!("write `{title}(…)`, with a value for each of its parts");
        body.error(codes::DATA_PARTS, format!("`{title}` has parts"), span, "none is given", &help);
        return Some(unknown(span));
    }
    let params: Vec<Param> = fields[range.clone()]
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let text = field.name.plain().to_string();
            let name = Name { text, span: field.name.span };
            Param { name, ty: field.ty, default: None, local: LocalId(at as u32), written: None }
        })
        .collect();
    let given = arguments::for_params(body, &title, &params, args.unwrap_or_default(), span);
    let mut values = vec![make(ExprKind::Number(number), Type::Enum(id), span)];
    for (at, field) in fields.iter().enumerate().skip(1) {
        values.push(match range.contains(&at) {
            true => given[at - range.start].clone(),
            false => zero(body, field.ty, span),
        });
    }
    Some(make(ExprKind::Record { record, fields: values }, Type::Record(record), span))
}

/// The value of a part that belongs to another name.
pub fn zero(body: &Body, ty: Type, span: Span) -> Expr {
    let Type::Record(record) = ty else { return make(ExprKind::Number(0), ty, span) };
    let fields = body.cx.program.records.get(record.index()).map_or(&[][..], |record| &record.fields);
    let fields = fields.iter().map(|field| zero(body, field.ty, span)).collect();
    make(ExprKind::Record { record, fields }, ty, span)
}

/// `Shape.Circle` of a pattern `Shape.Circle(r)`.
pub(super) fn pattern_head(body: &Body, pattern: Tree) -> Tree {
    match &pattern {
        Tree::Call(call) if body.pattern => call.callee().unwrap_or(pattern),
        _ => pattern,
    }
}

/// Binds the names of the pattern in front of a block, in order.
pub fn arm_parts(
    body: &mut Body,
    stmt: &ast::Match,
    block: &ast::Block,
    whole: (EnumId, &Expr),
) -> Vec<(LocalId, Expr)> {
    let arm = stmt.arms().into_iter().find(|arm| arm.body().as_ref() == Some(block));
    match arm.and_then(|arm| arm.pattern()).map(|pattern| tree::unparen(&pattern)) {
        Some(Tree::Call(call)) => bind_parts(body, &call, whole),
        _ => Vec::new(),
    }
}

/// The same if the matched value is not known: binds the names so that their uses are not reported.
pub fn bind_lost(body: &mut Body, stmt: &ast::Match, block: &ast::Block) {
    let arm = stmt.arms().into_iter().find(|arm| arm.body().as_ref() == Some(block));
    if let Some(Tree::Call(call)) = arm.and_then(|arm| arm.pattern()).map(|pattern| tree::unparen(&pattern)) {
        let names = call.args().into_iter().filter_map(|arg| tree::name_expr(body.file, &arg.value()?));
        let names: Vec<Name> = names.collect();
        body.locals.bind_unknown(&names);
    }
}

fn bind_parts(body: &mut Body, call: &ast::CallExpr, (id, whole): (EnumId, &Expr)) -> Vec<(LocalId, Expr)> {
    let span = body.span(call);
    let Some(Tree::Field(head)) = call.callee() else { return Vec::new() };
    let Some(name) = tree::some_name(body.file, head.name()) else { return Vec::new() };
    let item = &body.cx.program.enums[id.index()];
    let Some(place) = item.names.iter().position(|(known, _)| known.text == name.text) else { return Vec::new() };
    let (Some(range), Some(record)) = (item.parts.get(place).cloned(), item.data) else { return Vec::new() };
    let fields = body.cx.program.records[record.index()].fields.clone();
    let args: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
    let names: Vec<Name> = args.iter().filter_map(|arg| tree::name_expr(body.file, arg)).collect();
    if names.len() != args.len() || names.len() != range.len() {
        let text = format!("`{}` has {} parts", name.text, range.len());
        body.error(codes::DATA_PARTS, text, span, "a name for each", "write a name for each of its parts, in order");
        body.locals.bind_unknown(&names);
        return Vec::new();
    }
    let mut bound = Vec::new();
    for (own, field) in names.iter().zip(range) {
        let ty = fields[field].ty;
        let value = make(ExprKind::RecordField { record: Box::new(whole.clone()), field: field as u32 }, ty, own.span);
        bound.push((body.locals.bind(own, ty), value));
    }
    bound
}
