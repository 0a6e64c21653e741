//! `on deliver(…)`: the fields of the layer's header that it names, whether the header is one record or has
//! alternatives.
//!
//! Keeps: every name in the parentheses is bound, with an unknown type if it means nothing.

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode, Pattern};

use crate::program::*;
use crate::resolve::context::{type_of, Item};
use crate::resolve::layer::handlers::head::Head;
use crate::{codes, lost, suggest, tree};

/// `deliver(msg, seq)`, `deliver(msg, Data { seq })`, `deliver(Ack { next })`, `deliver(Ack { next }, origin)`
pub(super) fn read(head: &mut Head) -> Option<Event> {
    let header = head.this().header.clone();
    let owner = head.this().name.text.clone();
    let single = header.as_ref().filter(|header| header.is_single()).map(|header| header.variants[0].clone());
    let mut message = None;
    let mut variant = None;
    let mut fields = Vec::new();
    let mut attributes = Vec::new();
    for (index, pattern) in head.tree.patterns().into_iter().enumerate() {
        match pattern {
            Pattern::Alternative(alternative) => {
                let Some(name) = tree::some_name(head.file, alternative.name()) else { continue };
                let fields_of = alternative.fields();
                let names = fields_of.iter().filter_map(|field| {
                    Some((tree::some_name(head.file, field.field())?, tree::some_name(head.file, field.local())?))
                });
                let names: Vec<(Name, Name)> = names.collect();
                variant = chosen(head, header.as_ref(), &owner, &name, &names, &mut fields).or(variant);
            }
            Pattern::Param(param) => {
                let Some(name) = tree::some_name(head.file, param.name()) else { continue };
                let field = single.as_ref().and_then(|single| field_of(single, &name));
                let alternative =
                    header.as_ref().and_then(|header| header.variant(&name.text)).filter(|_| single.is_none());
                match field {
                    Some((at, ty)) => {
                        let of = single.as_ref().and_then(|single| single.fields.get(at as usize));
                        of.iter().for_each(|of| head.cx.mention(&name, of.name.span));
                        let local = called(head, &param, &name);
                        fields.push((at, head.bind(local, ty)));
                    }
                    // `Dtaa`: not a usual name for a message.
                    None if alternative.is_some() || is_alternative(header.as_ref(), &name) => {
                        variant = chosen(head, header.as_ref(), &owner, &name, &[], &mut fields).or(variant);
                    }
                    None if index > 0
                        && message.is_none()
                        && read_of_message(head, header.as_ref(), variant, &name) =>
                    {
                        attributes.push((param, name));
                    }
                    None if index == 0 => {
                        head.no_other_type(&param);
                        message = Some(head.bind(name, Type::Message));
                    }
                    None => no_field(head, header.as_ref().map(|header| (header, variant)), &param, &name),
                }
            }
        }
    }
    variant = variant.or_else(|| header.as_ref()?.otherwise());
    with_message(head, header.as_ref(), variant, message);
    if let Some(alone) =
        variant.filter(|_| !attributes.is_empty()).and_then(|at| header.as_ref()?.variants.get(at as usize))
    {
        message = Some(attributes_of(head, alone, &attributes));
    }
    if single.is_some() {
        variant = Some(0);
    }
    unnamed(head, header.as_ref(), variant, message);
    let flow = head.flow(Side::Below);
    Some(Event::Deliver { message, variant, fields, flow })
}

/// Whether a name can only be meant for an alternative.
fn is_alternative(header: Option<&Header>, name: &Name) -> bool {
    header.is_some_and(|header| !header.is_single()) && name.is_capital()
}

/// The handler's name for a field: `number` in `seq: number`, else the field's own name.
fn called(head: &mut Head, param: &ast::Param, field: &Name) -> Name {
    let Some(ty) = param.ty() else { return field.clone() };
    let place = ty.span(head.file);
    let local = match &ty {
        ast::Type::Named(named) => tree::some_name(head.file, named.name()),
        ast::Type::Array(_) | ast::Type::Vector(_) | ast::Type::Map(_) | ast::Type::Fn(_) => None,
    };
    let is_name = |name: &Name| {
        let starts_small = name.text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        starts_small && !name.text.contains('.') && type_of(&name.text).is_none()
    };
    local.filter(is_name).unwrap_or_else(|| {
        let text = format!("the type of `{}` stands where the header declares it", field.text);
        let help =
            format!("leave it out; a name behind the colon is what the handler calls it: `{}: other`", field.text);
        head.cx.error(codes::HANDLER_PARAMS, text, place, "a type", &help);
        field.clone()
    })
}

/// A field's index and type, by its name.
fn field_of(variant: &Variant, name: &Name) -> Option<(u32, Type)> {
    let at = variant.fields.iter().position(|field| field.name.text == name.text)?;
    Some((at as u32, variant.fields[at].ty))
}

fn chosen(
    head: &mut Head,
    header: Option<&Header>,
    owner: &str,
    name: &Name,
    names: &[(Name, Name)],
    fields: &mut Vec<(u32, LocalId)>,
) -> Option<u32> {
    let single = header.is_some_and(Header::is_single);
    let Some((index, variant)) = header.and_then(|header| header.variant(&name.text)).filter(|_| !single) else {
        let known: Vec<&str> =
            header.iter().filter(|_| !single).flat_map(|h| &h.variants).map(|v| v.name.text.as_str()).collect();
        let text = match header {
            Some(_) => format!("the header of `{owner}` has no alternative `{}`", name.text),
            None => format!("`{owner}` has no header, so there is no alternative `{}`", name.text),
        };
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
        if header.is_none() {
            diagnostic.lacks.push(lost::header(&head.this().name));
            diagnostic = diagnostic.help(format!("declare it: `header {{ {} {{ … }} | … }}`", name.text));
        }
        let fields = header.filter(|_| single).map(|header| &header.variants[0].fields);
        diagnostic.helps.extend(match fields {
            Some(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name.text.as_str()).collect();
                Some(format!("the header has fields and no alternatives: name those, `(msg, {})`", names.join(", ")))
            }
            None => suggest::help(&name.text, known),
        });
        head.cx.report(diagnostic);
        for (_, local) in names {
            head.bind(local.clone(), Type::Unknown);
        }
        return None;
    };
    head.cx.mention(name, variant.name.span);
    for (name, local) in names {
        match variant.fields.iter().position(|field| field.name.text == name.text) {
            Some(at) => {
                head.cx.mention(name, variant.fields[at].name.span);
                let local = head.bind(local.clone(), variant.fields[at].ty);
                fields.push((at as u32, local));
            }
            None => {
                let known = variant.fields.iter().map(|field| field.name.text.as_str());
                let text = format!("alternative `{}` has no field `{}`", variant.name.text, name.text);
                let mut diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text)
                    .at(name.span, "unknown")
                    .label(variant.name.span, "declared here");
                diagnostic.helps.extend(of_messages(head, name, Some(&variant)));
                if diagnostic.helps.is_empty() {
                    diagnostic.helps.extend(suggest::help(&name.text, known));
                }
                head.cx.report(diagnostic);
                head.bind(local.clone(), Type::Unknown);
            }
        }
    }
    Some(index)
}

/// Reports a name that means nothing; `header` with the alternative that was named before it.
fn no_field(head: &mut Head, header: Option<(&Header, Option<u32>)>, param: &ast::Param, name: &Name) {
    let chosen = header.and_then(|(header, variant)| header.variants.get(variant? as usize));
    let (header, owner) = (header.map(|(header, _)| header), head.this().name.text.clone());
    let known: Vec<&str> = header
        .iter()
        .flat_map(|header| &header.variants)
        .flat_map(|v| &v.fields)
        .map(|f| f.name.text.as_str())
        .collect();
    let meant = suggest::nearest(&name.text, known.iter().copied()).map(str::to_string);
    let text = match header {
        Some(_) => format!("the header of `{owner}` has no field `{}`", name.text),
        None => format!("`{owner}` has no header, so there is no field `{}`", name.text),
    };
    let mut diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text).at(name.span, "unknown");
    diagnostic.lacks.extend(lost::field(head.this(), &name.text));
    let local = called(head, param, name);
    if local.text != name.text && known.contains(&local.text.as_str()) {
        let help = format!("the field stands in front: write `{}: {}`", local.text, name.text);
        diagnostic = diagnostic.help(help);
        head.bind(local, Type::Unknown);
    } else if matches!(name.text.as_str(), "msg" | "message") {
        diagnostic = diagnostic.help(format!("the message stands in front: `({}, …)`", name.text));
    } else if let Some(help) = of_messages(head, name, chosen) {
        diagnostic = diagnostic.help(help);
    } else if let Some(chosen) = chosen {
        let of_it = chosen.fields.iter().map(|field| field.name.text.as_str());
        diagnostic.helps.extend(suggest::help(&name.text, of_it));
    } else if header.is_some_and(|header| !header.is_single()) {
        diagnostic = diagnostic.help("the header is a choice: write `deliver(msg, Data { seq })`");
    } else {
        diagnostic.helps.extend(suggest::help(&name.text, known));
    }
    head.cx.report(diagnostic);
    head.bind(name.clone(), Type::Unknown);
    // The code uses the header's name.
    if let Some(meant) = meant {
        head.bind(Name { text: meant, span: name.span }, Type::Unknown);
    }
}

/// The way out for an attribute of messages that stands among the fields of a header.
fn of_messages(head: &Head, name: &Name, chosen: Option<&Variant>) -> Option<String> {
    let is_read = attribute(head, name).is_some();
    if !is_read && !matches!(head.cx.item_at(head.file, name), Some(Item::Attribute(_))) {
        return None;
    }
    let name = &name.text;
    let read = if is_read { String::new() } else { format!("; the layer says `reads {name}`") };
    Some(match chosen.filter(|variant| !variant.with_message) {
        Some(alone) => {
            format!(
                "it is an attribute: it stands beside the alternative, `({} {{ … }}, {name})`{read}",
                alone.name.text
            )
        }
        None => format!("it is an attribute of the message: write `msg.{name}`{read}"),
    })
}

/// Reports a head that leaves out the message that comes with its alternative.
fn unnamed(head: &mut Head, header: Option<&Header>, variant: Option<u32>, message: Option<LocalId>) {
    let variant = variant.and_then(|at| header?.variants.get(at as usize));
    let Some(variant) = variant.filter(|variant| variant.with_message && message.is_none()) else { return };
    let shown = match header.is_some_and(Header::is_single) {
        true => "on deliver(msg, …)".to_string(),
        false => format!("on deliver(msg, {} {{ … }})", variant.name.text),
    };
    let help =
        format!("name it: `{shown}`, and say what becomes of it: `consume msg: used`, if its octets are not wanted");
    head.cx.error(codes::HANDLER_PARAMS, "a message comes with this", head.span, "and has no name", &help);
}

/// Checks that an alternative without a message binds none.
fn with_message(head: &mut Head, header: Option<&Header>, variant: Option<u32>, message: Option<LocalId>) {
    let Some(variant) = variant.and_then(|index| header?.variants.get(index as usize)) else { return };
    if let (false, Some(message)) = (variant.with_message, message) {
        let name = head.locals[message.index()].name.clone();
        let text = format!("`{}` goes alone: it brings no message", variant.name.text);
        let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
            .at(name.span, "nothing comes here")
            .label(variant.name.span, "without `with message`")
            .help(format!("write `on deliver({} {{ … }})`", variant.name.text));
        head.cx.report(diagnostic);
        head.locals[message.index()].ty = Type::Unknown;
    }
}

/// Whether a name behind an alternative without a message is an attribute that the layer reads.
fn read_of_message(head: &Head, header: Option<&Header>, variant: Option<u32>, name: &Name) -> bool {
    let alone = variant.and_then(|at| header?.variants.get(at as usize)).is_some_and(|variant| !variant.with_message);
    alone && attribute(head, name).is_some()
}

fn attribute(head: &Head, name: &Name) -> Option<AttributeId> {
    let is_named = |id: &&AttributeId| head.cx.program.attributes[id.index()].name.text == name.text;
    head.this().reads.iter().find(is_named).copied()
}

/// The message that an alternative without one came in: its attributes are read, and it is consumed, with the
/// alternative as its reason.
fn attributes_of(head: &mut Head, alone: &Variant, attributes: &[(ast::Param, Name)]) -> LocalId {
    let span = head.span;
    let message = head.bind(Name { text: ".message".into(), span }, Type::Message);
    for (param, name) in attributes {
        let Some(attribute) = attribute(head, name) else { continue };
        let declared = head.cx.program.attributes[attribute.index()].clone();
        head.cx.mention(name, declared.name.span);
        let local = called(head, param, name);
        let (span, ty) = (local.span, declared.ty);
        let local = head.bind(local, ty);
        let value = Expr { kind: ExprKind::Attribute { message, attribute }, ty, span };
        head.first.push(Stmt { kind: StmtKind::Let { local, value }, span });
    }
    let reason = Name { text: alone.name.text.clone(), span };
    head.first.push(Stmt { kind: StmtKind::Consume { message, reason }, span });
    message
}
