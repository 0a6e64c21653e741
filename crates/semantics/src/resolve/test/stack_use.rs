//! `Host(address: 10.0.0.1/24, device.mac: …)`: a stack with its settings.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{Context, Item};
use crate::resolve::expr;
use crate::resolve::expr::fixed;
use crate::{codes, lost, suggest, tree};

/// Values of a stack's parameters, by name.
pub type Settings = Vec<(Name, Vec<u64>)>;

/// `Host(address: 10.0.0.1/24, device.mac: …)`
pub(super) fn read(
    cx: &mut Context,
    file: FileId,
    part: &ast::LayerUse,
    given: &[(String, StackId)],
) -> Option<(StackId, Settings)> {
    let name = tree::some_name(file, part.name())?;
    let given = given.iter().find(|(known, _)| *known == name.text).map(|(_, id)| *id);
    let id = given.or_else(|| stack_named(cx, file, &name))?;
    Some((id, settings(cx, file, part, id, &[])?))
}

/// The settings of a known stack; values that are not given come from `before`.
pub(super) fn settings(
    cx: &mut Context,
    file: FileId,
    part: &ast::LayerUse,
    id: StackId,
    before: &[(Name, Vec<u64>)],
) -> Option<Settings> {
    let name = tree::some_name(file, part.name())?;
    let stack = cx.program.stacks[id.index()].clone();
    let mut settings = Settings::new();
    let mut position = 0;
    let (mut misspelt, mut refused) = (false, Vec::new());
    for arg in part.args() {
        let Some(value) = arg.value() else { continue };
        let label = arg.name().map(|label| tree::path(file, &label));
        let setting = match &label {
            Some(label) => named_setting(cx, &stack, label),
            None => {
                let param = stack.params.get(position).cloned();
                position += 1;
                positional(cx, file, &stack, param, &arg, &value)
            }
        };
        let Some((name, ty)) = setting else {
            misspelt |= label.is_some();
            continue;
        };
        let expr = expr::value(&mut Body::constant(cx, file), &value, ty);
        let Some(value) = fixed::value(cx, &expr) else {
            refused.push(name.text);
            continue;
        };
        match settings.iter().find(|(known, _)| known.text == name.text).map(|(first, _)| first.span) {
            Some(first) => cx.given_twice(&format!("`{}`", name.text), name.span, first),
            None => settings.push((name, value.words())),
        }
    }
    for (name, values) in before {
        if !settings.iter().any(|(known, _)| known.text == name.text) {
            settings.push((name.clone(), values.clone()));
        }
    }
    if !misspelt {
        let given = settings.iter().map(|(name, _)| name.text.clone()).chain(refused).collect();
        missing_settings(cx, &stack, &given, &name);
    }
    Some(settings)
}

/// The stack of this name; reports if there is none.
pub(super) fn stack_named(cx: &mut Context, file: FileId, name: &Name) -> Option<StackId> {
    if let Some(Item::Stack(id)) = cx.item_at(file, name) {
        return Some(id);
    }
    cx.unknown(codes::UNKNOWN_STACK, "a stack", name, file, |item| matches!(item, Item::Stack(_)));
    None
}

fn named_setting(cx: &mut Context, stack: &Stack, label: &Name) -> Option<(Name, Type)> {
    if let Some(param) = stack.params.iter().find(|param| param.name.text == label.text && param.ty != Type::Unit) {
        cx.mention(label, param.name.span);
        return Some((label.clone(), param.ty));
    }
    if let Some((device, _)) = label.text.split_once('.') {
        if let Some(known) = stack.devices.iter().find(|known| known.text == device) {
            let end = label.span.start + device.len() as u32;
            cx.mention(&Name { text: device.to_string(), span: Span { end, ..label.span } }, known.span);
        }
    }
    let settings = stack.settings();
    if let Some((_, ty)) = settings.iter().find(|(name, _)| *name == label.text) {
        return Some((label.clone(), *ty));
    }
    let names: Vec<String> = settings.into_iter().map(|(name, _)| name).collect();
    let text = format!("stack `{}` has no parameter `{}`", stack.name.text, label.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PARAMETER, text).at(label.span, "unknown");
    diagnostic.helps.extend(suggest::help(&label.text, names.iter().map(String::as_str)));
    cx.report(diagnostic);
    None
}

/// `Numbered(device)`: a device needs no value; an unnamed value is that of the next parameter.
fn positional(
    cx: &mut Context,
    file: FileId,
    stack: &Stack,
    param: Option<Param>,
    arg: &ast::Arg,
    value: &Tree,
) -> Option<(Name, Type)> {
    if tree::name_expr(file, value).is_some_and(|name| stack.devices.iter().any(|device| device.text == name.text)) {
        return None;
    }
    // A device without its type was reported.
    let named = tree::name_expr(file, value);
    if stack
        .params
        .iter()
        .any(|param| param.ty == Type::Unknown && named.as_ref().is_some_and(|name| name.text == param.name.text))
    {
        return None;
    }
    match param {
        Some(param) if param.ty != Type::Unit => Some((Name { text: param.name.text, span: arg.span(file) }, param.ty)),
        _ => {
            let text = format!("stack `{}` takes no such argument", stack.name.text);
            let diagnostic = Diagnostic::error(codes::WRONG_COUNT, text).at(arg.span(file), "not expected");
            let lacks = named.map(|name| lost::named(stack, &name.text));
            let diagnostic = lacks.into_iter().fold(diagnostic, Diagnostic::lacks);
            cx.report(diagnostic.help("write `name: value`"));
            None
        }
    }
}

fn missing_settings(cx: &mut Context, stack: &Stack, given: &BTreeSet<String>, name: &Name) {
    let missing: Vec<&str> = stack
        .params
        .iter()
        .filter(|param| {
            !matches!(param.ty, Type::Unit | Type::Unknown)
                && param.default.is_none()
                && !given.contains(&param.name.text)
        })
        .map(|param| param.name.text.as_str())
        .collect();
    if let Some(first) = missing.first() {
        let text = format!("stack `{}` needs {}", stack.name.text, suggest::list(&missing));
        cx.error(codes::MISSING_ARGUMENT, text, name.span, "missing here", &format!("add `{first}: …`"));
    }
}
