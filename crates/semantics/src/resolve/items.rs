//! Items of files: what is declared, what it looks like from outside, and the bodies of pure functions.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use super::body::Body;
use super::{Context, Item, Lazy, Trees};
use crate::program::*;
use crate::{codes, constants, tree, types};

/// Takes an item's name into the tables and keeps its tree for later.
pub(super) fn declare(cx: &mut Context, trees: &mut Trees, file: FileId, item: ast::Item) {
    let Some(name) = tree::some_name(file, item.name()) else {
        if let ast::Item::Test(test) = item {
            trees.tests.push((file, test));
        }
        return;
    };
    macro_rules! add {
        ($list:ident, $id:expr, $tree:expr) => {{
            trees.$list.push((file, $tree));
            $id(trees.$list.len() as u32 - 1)
        }};
    }
    let known = match item {
        ast::Item::Use(_) | ast::Item::Test(_) => return,
        ast::Item::Const(item) => {
            cx.consts.push(Lazy::Waiting(file, item));
            Item::Const(cx.consts.len() - 1)
        }
        ast::Item::TypeAlias(item) => {
            cx.aliases.push(Lazy::Waiting(file, item));
            Item::Alias(cx.aliases.len() - 1)
        }
        ast::Item::Record(item) => Item::Record(add!(records, RecordId, item)),
        ast::Item::Enum(item) => Item::Enum(add!(enums, EnumId, item)),
        ast::Item::Attribute(item) => Item::Attribute(add!(attributes, AttributeId, item)),
        ast::Item::Service(item) => Item::Service(add!(services, ServiceId, item)),
        ast::Item::Signature(item) => Item::Signature(add!(signatures, SignatureId, item)),
        ast::Item::Vocabulary(item) => Item::Vocabulary(add!(vocabularies, VocabularyId, item)),
        ast::Item::Function(item) => Item::Function(add!(functions, FunctionId, item)),
        ast::Item::Layer(item) => Item::Layer(add!(layers, LayerId, item)),
        ast::Item::Bundle(item) => Item::Bundle(add!(bundles, BundleId, item)),
        ast::Item::Wire(item) => Item::Wire(add!(wires, WireId, item)),
        ast::Item::Stack(item) => Item::Stack(add!(stacks, StackId, item)),
        ast::Item::Container(item) => {
            trees.containers.push((file, item));
            Item::Container(trees.containers.len() - 1)
        }
        ast::Item::Network(item) => {
            trees.networks.push((file, item));
            Item::Network
        }
    };
    cx.add_name(&name, known);
}

/// Types, attributes, services and the heads of functions, then the constants.
pub(super) fn signatures(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.enums {
        let empty =
            Enum { name: title(*file, item.name()), width: 64, names: Vec::new(), data: None, parts: Vec::new() };
        cx.program.enums.push(empty);
    }
    for (file, item) in &trees.records {
        cx.program.records.push(Record { name: title(*file, item.name()), fields: Vec::new(), vector: None });
    }
    super::data::declare(cx);
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        enum_names(cx, index, *file, item);
    }
    for (index, (file, item)) in trees.records.iter().enumerate() {
        cx.program.records[index].fields = fields(cx, *file, &item.fields(), Fields::Values);
    }
    super::data::parts(cx);
    endless_records(cx);
    for index in 0..cx.aliases.len() {
        if let Lazy::Waiting(file, alias) = &cx.aliases[index] {
            if let Some(name) = tree::some_name(*file, alias.name()) {
                cx.alias(index, &name);
            }
        }
    }
    for index in 0..cx.consts.len() {
        constant(cx, index, None);
    }
    for (file, item) in &trees.attributes {
        attribute(cx, *file, item);
    }
    for (file, item) in &trees.services {
        service(cx, *file, item);
    }
    for (file, item) in &trees.functions {
        let function = function_head(cx, *file, item);
        cx.program.functions.push(function);
    }
}

/// The name of an item that has one.
pub(super) fn title(file: FileId, name: Option<ast::Name>) -> Name {
    tree::some_name(file, name).unwrap_or(Name { text: "?".into(), span: mokume_base::Span::new(file, 0, 0) })
}

/// What fields are of: values of all kinds, numbers side by side in a key, or what a layer says in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fields {
    Values,
    Key,
    Header,
}

/// Fields with their types, each name once.
pub(super) fn fields(cx: &mut Context, file: FileId, list: &[ast::Field], what: Fields) -> Vec<Field> {
    let scalars = what != Fields::Values;
    let mut fields: Vec<Field> = Vec::new();
    for field in list {
        let Some(name) = tree::some_name(file, field.name()) else { continue };
        if let Some(first) = fields.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("field", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        let ty = match (what, field.ty()) {
            (Fields::Header, Some(ty @ ast::Type::Vector(_))) => cx.ty(file, Some(ty)),
            (Fields::Values, ty) => value_type(cx, file, ty),
            (_, ty) => cx.scalar_type(file, ty),
        };
        let big = field.byte_order().map(|order| order == ast::ByteOrder::Big);
        if big.is_some() && !scalars {
            let help = "leave it out: only headers and keys lie in packets";
            cx.error(codes::BYTE_ORDER, "this field never travels", name.span, "no byte order", help);
        }
        let common = field.common().and_then(|value| common(cx, file, &value, ty, scalars));
        fields.push(Field { name, ty, big, common });
    }
    fields
}

/// `commonly 0`: one number that is known from the text, so that both ends agree.
fn common(cx: &mut Context, file: FileId, value: &ast::Expr, ty: Type, travels: bool) -> Option<u64> {
    let number = matches!(ty, Type::Bool | Type::UInt(_) | Type::Seq(_) | Type::Enum(_));
    if travels && number {
        return fixed(cx, file, value, ty);
    }
    if ty != Type::Unknown {
        let help = "leave it out: only numbers in headers and keys can be left out of packets";
        cx.error(codes::COMMON, "this field has no common value", value.span(file), "not here", help);
    }
    None
}

pub(super) fn twice(what: &str, name: &Name, first: &Name) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, format!("{what} `{}` is defined twice", name.text))
        .at(name.span, "again here")
        .label(first.span, "first here")
        .help("give one of them another name")
}

/// A type of a layer's state: what can be stored, or a flow.
pub(super) fn state_type(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    match is_flow(&ty) {
        true => cx.ty(file, ty),
        false => value_type(cx, file, ty),
    }
}

/// A type of a map's keys or values: a scalar, or a flow.
pub(super) fn map_type(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    match is_flow(&ty) {
        true => cx.ty(file, ty),
        false => cx.scalar_type(file, ty),
    }
}

fn is_flow(ty: &Option<ast::Type>) -> bool {
    let Some(ast::Type::Named(named)) = ty else { return false };
    named.name().is_some_and(|name| matches!(name.text().as_str(), "Flow" | "LowerFlow"))
}

/// A type that can be stored: a scalar or a record.
pub(super) fn value_type(cx: &mut Context, file: FileId, ty: Option<ast::Type>) -> Type {
    let span = ty.as_ref().map(|ty| ty.span(file));
    let ty = cx.ty(file, ty);
    match (ty, span) {
        (Type::Message, Some(span)) => {
            let help = "messages are kept in places: `messages waiting: 8 from kept`";
            cx.error(codes::MESSAGE_STORED, "a message is no value that can be stored", span, "linear", help);
            Type::Unknown
        }
        (Type::Flow(_), Some(span)) => {
            let help = "store its parts: `flow.remote.host`, `flow.remote.port`";
            cx.error(codes::NO_SCALAR, "a flow cannot be stored", span, "its parts depend on the stack", help);
            Type::Unknown
        }
        _ => ty,
    }
}

fn enum_names(cx: &mut Context, index: usize, file: FileId, item: &ast::Enum) {
    let width = match cx.ty(file, item.ty()) {
        Type::UInt(width) => width,
        Type::Unknown => 64,
        other => {
            let text = format!("an enum's numbers are of a type `uN`, not {}", cx.show(other));
            let span = item.ty().map_or(item.span(file), |ty| ty.span(file));
            cx.error(codes::MISMATCH, text, span, "expected `uN`", "write `enum Kind: u8 { … }`");
            64
        }
    };
    let mut names: Vec<(Name, u64)> = Vec::new();
    for variant in item.variants() {
        let Some(name) = tree::some_name(file, variant.name()) else { continue };
        let next = names.last().map_or(0, |(_, number)| number.wrapping_add(1));
        let number = variant.value().and_then(|value| fixed(cx, file, &value, Type::UInt(width))).unwrap_or(next);
        if let Some((first, _)) = names.iter().find(|(first, _)| first.text == name.text) {
            let diagnostic = twice("name", &name, first);
            cx.report(diagnostic);
            continue;
        }
        if let Some((first, _)) = names.iter().find(|(_, used)| *used == number) {
            let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, format!("two names for the number {number}"))
                .at(name.span, "the second")
                .label(first.span, "the first")
                .help("give each name a number of its own");
            cx.report(diagnostic);
        }
        if number > types::mask(width) {
            let text = format!("{number} does not fit u{width}");
            cx.error(codes::TOO_BIG, text, name.span, "too big", "choose a wider type for the enum's numbers");
        }
        names.push((name, number));
    }
    cx.program.enums[index].width = width;
    cx.program.enums[index].names = names;
}

/// The number of a constant expression of a type; a report if it has none.
pub(super) fn fixed(cx: &mut Context, file: FileId, value: &ast::Expr, ty: Type) -> Option<u64> {
    let expr = Body::constant(cx, file).value(value, ty);
    known(cx, &expr)?.scalar()
}

/// The value of an expression that must be known; a report if it is not.
pub(super) fn known(cx: &mut Context, expr: &Expr) -> Option<constants::Value> {
    if expr.ty == Type::Unknown {
        return None;
    }
    match constants::eval(&cx.program, expr) {
        Ok(value) => Some(value),
        Err(constants::Unknown::NotConstant) => {
            let help = "use numbers and names of `const`";
            cx.error(
                codes::NOT_CONSTANT,
                "this must be known before the stack starts",
                expr.span,
                "not constant",
                help,
            );
            None
        }
        Err(constants::Unknown::Overflow) => {
            let text = format!("this constant does not fit {}", cx.show(expr.ty));
            cx.error(
                codes::TOO_BIG,
                text,
                expr.span,
                "too big, shifted by all its bits, or divided by zero",
                "use a wider type",
            );
            None
        }
    }
}

fn endless_records(cx: &mut Context) {
    for index in 0..cx.program.records.len() {
        let mut front = vec![index];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(at) = front.pop() {
            let fields = &cx.program.records[at].fields;
            let inner: Vec<usize> = fields
                .iter()
                .filter_map(|field| if let Type::Record(id) = field.ty { Some(id.index()) } else { None })
                .collect();
            if inner.contains(&index) {
                let name = cx.program.records[index].name.clone();
                let is_enum = cx.program.enums.iter().any(|item| item.data.is_some_and(|data| data.index() == index));
                let text = format!("{} `{}` holds itself", if is_enum { "enum" } else { "record" }, name.text);
                cx.error(
                    codes::CIRCLE,
                    text,
                    name.span,
                    "would be endless",
                    "leave the field out, or keep a key to it",
                );
                // The places of the others stay: those of an enum's parts are known by number.
                for field in &mut cx.program.records[index].fields {
                    if matches!(field.ty, Type::Record(_)) {
                        field.ty = Type::Unknown;
                    }
                }
                break;
            }
            front.extend(inner.into_iter().filter(|inner| seen.insert(*inner)));
        }
    }
}

/// The value of a constant of a file.
pub(super) fn constant(cx: &mut Context, index: usize, asked: Option<&Name>) -> Option<Expr> {
    match std::mem::replace(&mut cx.consts[index], Lazy::Busy) {
        Lazy::Done(expr) => {
            cx.consts[index] = Lazy::Done(expr.clone());
            Some(expr)
        }
        Lazy::Busy => {
            if let Some(name) = asked {
                let text = format!("the constant `{}` depends on itself", name.text);
                cx.error(codes::CIRCLE, text, name.span, "leads back here", "give it a value of its own");
            }
            None
        }
        Lazy::Waiting(file, item) => {
            let ty = value_type(cx, file, item.ty());
            let mut expr = match item.value() {
                Some(value) => Body::constant(cx, file).value(&value, ty),
                None => Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span: item.span(file) },
            };
            if let Some(value) = known(cx, &expr) {
                expr = constants::lift(&cx.program, &value, &expr);
            } else {
                expr.ty = Type::Unknown;
            }
            cx.consts[index] = Lazy::Done(expr.clone());
            Some(expr)
        }
    }
}

fn attribute(cx: &mut Context, file: FileId, item: &ast::Attribute) {
    let ty = cx.scalar_type(file, item.ty());
    let default = item.value().and_then(|value| fixed(cx, file, &value, ty)).unwrap_or(0);
    cx.program.attributes.push(Attribute { name: title(file, item.name()), ty, default });
}

fn service(cx: &mut Context, file: FileId, item: &ast::Service) {
    let mut operations: Vec<Operation> = Vec::new();
    for signal in item.signals() {
        let Some(name) = tree::some_name(file, signal.name()) else { continue };
        if let Some(first) = operations.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("operation", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        let params = signal.params();
        let params = params
            .iter()
            .filter_map(|param| {
                let name = tree::some_name(file, param.name())?;
                let ty = typed(cx, file, &name, param.ty());
                Some(Field { name, ty, big: None, common: None })
            })
            .collect();
        operations.push(Operation { name, out: signal.is_out(), params });
    }
    cx.program.services.push(Service { name: title(file, item.name()), operations });
}

/// The type of a parameter, which must be written.
pub(super) fn typed(cx: &mut Context, file: FileId, name: &Name, ty: Option<ast::Type>) -> Type {
    if ty.is_none() {
        let text = format!("parameter `{}` has no type", name.text);
        cx.error(
            codes::NO_TYPE,
            text,
            name.span,
            "expected `: Type` behind it",
            &format!("write `{}: u32`", name.text),
        );
    }
    cx.ty(file, ty)
}

/// Parameters with defaults; what a body calls them are the first locals.
pub(super) fn params(cx: &mut Context, file: FileId, list: &[ast::Param]) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for param in list {
        let Some(name) = tree::some_name(file, param.name()) else { continue };
        if let Some(first) = params.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("parameter", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        let ty = typed(cx, file, &name, param.ty());
        let default = param.default().map(|value| Body::constant(cx, file).value(&value, ty));
        params.push(Param { name, ty, default, local: LocalId(params.len() as u32) });
    }
    params
}

pub(super) fn function_head(cx: &mut Context, file: FileId, item: &ast::Function) -> Function {
    let params = params(cx, file, &item.params());
    let result = match item.result() {
        Some(ty) => cx.ty(file, Some(ty)),
        None => Type::Unit,
    };
    let locals = params.iter().map(|param| Local { name: param.name.clone(), ty: param.ty }).collect();
    let refuses = item.may_refuse();
    let native = item.is_extern().then(|| super::externs::native(cx, file, item, &params, result));
    Function { name: title(file, item.name()), params, result, refuses, native, locals, body: Vec::new() }
}

/// Bodies of pure functions.
pub(super) fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.functions.iter().enumerate() {
        let head = cx.program.functions[index].clone();
        if head.native.is_some() {
            super::externs::model(cx, *file, index, item);
            continue;
        }
        for param in head.params.iter().filter(|param| param.ty == Type::Message) {
            let text = "a function of a file works on values, not on messages";
            cx.error(codes::MESSAGE_STORED, text, param.name.span, "a message", "write the function within the layer");
        }
        let body = Body::of_function(cx, *file, None, &head);
        let (locals, _, body) = super::bodies::function_body(body, item, &head);
        cx.program.functions[index].locals = locals;
        cx.program.functions[index].body = body;
    }
}
