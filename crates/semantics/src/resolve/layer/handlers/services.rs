//! `on resolve.ask(…)`: operations of services that the layer serves, and answers of those that it uses.

use mokume_base::Diagnostic;
use mokume_syntax::ast::AstNode;

use crate::program::*;
use crate::resolve::emit;
use crate::resolve::expr::annotations;
use crate::resolve::layer::handlers::head::Head;
use crate::{codes, lost, suggest, tree, types};

/// `resolve.ask(next_hop)`: an operation of a service that the layer serves, or an `out` of one that it uses.
pub fn read(head: &mut Head, owner: &Name, name: &Name) -> Option<Event> {
    let layer = head.this();
    let used = layer.uses.iter().position(|(_, alias)| alias.text == owner.text);
    let used_service = used.map(|index| layer.uses[index].0);
    let served = emit::services::served(&head.cx.program, layer, &owner.text);
    let find = |service: Option<ServiceId>, out: bool| {
        let service = service?;
        let list = &head.cx.program.services.get(service.index())?.operations;
        Some((service, list.iter().position(|op| op.name.text == name.text && op.out == out)? as u32))
    };
    let (service, operation, uses) = match (find(used_service, true), find(served, false)) {
        (Some((service, operation)), _) => (service, operation, used.map(|index| index as u32)),
        (None, Some((service, operation))) => (service, operation, None),
        (None, None) => {
            no_service(head, owner, name, used_service.or(served), used.is_some());
            return None;
        }
    };
    let asked = &head.cx.program.services[service.index()];
    let place = uses.and_then(|index| Some(head.this().uses.get(index as usize)?.1.span));
    head.cx.mention(owner, place.unwrap_or(asked.name.span));
    head.cx.mention(name, asked.operations[operation as usize].name.span);
    let params = asked.operations[operation as usize].params.clone();
    let given = head.params(params.len());
    for (param, field) in given.iter().zip(&params) {
        let Some(ty) = param.ty() else { continue };
        let place = ty.span(head.file);
        if is_a_name(&ty) {
            let text = format!("`{}` is no type: parameters are taken in order, by any name", place_text(&ty));
            let names = given.iter().zip(&params).map(|(param, field)| match param.ty() {
                Some(ty) if is_a_name(&ty) => place_text(&ty),
                _ => param.name().map_or(field.name.text.clone(), |name| name.text()),
            });
            let help = format!("write `on {}.{}({})`", owner.text, name.text, names.collect::<Vec<_>>().join(", "));
            head.cx.error(codes::HANDLER_PARAMS, text, place, "a name of its own", &help);
            continue;
        }
        let said = annotations::stored(head.cx, head.file, Some(ty));
        if !types::same(said, field.ty) {
            let text = format!("`{}` is {}, as the service declares it", field.name.text, head.cx.show(field.ty));
            head.cx.error(codes::HANDLER_PARAMS, text, place, "another type", "leave the type out");
        }
    }
    let named = |param: &mokume_syntax::ast::Param| match param.ty() {
        Some(ty) if is_a_name(&ty) => Some(Name { text: place_text(&ty), span: ty.span(head.file) }),
        _ => tree::some_name(head.file, param.name()),
    };
    let names: Vec<Name> = given.iter().filter_map(named).collect();
    if names.len() < params.len() {
        let text = format!("`{}.{}` has {} parameters, not {}", owner.text, name.text, params.len(), names.len());
        let diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text)
            .at(head.span, "too few")
            .label(head.cx.program.services[service.index()].operations[operation as usize].name.span, "declared here")
            .help("name each of them");
        head.cx.report(diagnostic);
    }
    let params = params
        .into_iter()
        .enumerate()
        .map(|(index, field)| {
            let name =
                names.get(index).cloned().unwrap_or(Name { text: format!("_{}", field.name.text), span: head.span });
            head.bind(name, field.ty)
        })
        .collect();
    Some(Event::Service { service, operation, uses, params })
}

/// `at: t`: whether the text in the place of a type is a name such as a value would have, as in `on pace(every: mine)`.
pub(super) fn is_a_name(ty: &mokume_syntax::ast::Type) -> bool {
    let text = place_text(ty);
    let is_width = |rest: &str| rest.parse::<u8>().is_ok();
    let built_in = text == "bool" || ["u", "seq"].iter().any(|of| text.strip_prefix(of).is_some_and(is_width));
    !built_in && text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
}

/// The text of a type.
pub(super) fn place_text(ty: &mokume_syntax::ast::Type) -> String {
    ty.syntax().text().to_string().trim().to_string()
}

fn no_service(head: &mut Head, owner: &Name, name: &Name, service: Option<ServiceId>, used: bool) {
    let Some(service) = service else {
        let layer = head.this();
        let timer = |member: &Member| matches!(member.kind, MemberKind::Timer) && member.name.text == owner.text;
        if layer.all_members().flat_map(|(_, members)| members).any(timer) {
            let text = format!("there is no event `{}.{}`: `{}` is a timer", owner.text, name.text, owner.text);
            let help = format!("write `on expiry {} {{ … }}`", owner.text);
            return head.cx.error(codes::UNKNOWN_EVENT, text, owner.span, "a timer", &help);
        }
        let mut names: Vec<String> = layer.uses.iter().map(|(_, alias)| alias.text.clone()).collect();
        names.extend(layer.serves.iter().map(|id| tree::snake_case(&head.cx.program.services[id.index()].name.text)));
        let text = format!("this layer neither serves nor uses a service `{}`", owner.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(owner.span, "unknown");
        diagnostic.helps.extend(suggest::help(&owner.text, names.iter().map(String::as_str)));
        head.cx.report(diagnostic.help(format!("add `serves …` or `uses … as {}`", owner.text)));
        return;
    };
    let service = &head.cx.program.services[service.index()];
    let title = service.name.text.clone();
    if let Some(operation) = service.operations.iter().find(|operation| operation.name.text == name.text) {
        let asked = lost::within(operation.name.span, "asked");
        let who = if used { "its server handles" } else { "its users handle" };
        let text = format!("`{}` of service `{title}` is something that {who}", name.text);
        let help = format!("emit it instead: `{}.{}(…)`", owner.text, name.text);
        let found = Diagnostic::error(codes::SERVICE_WAY, text).at(name.span, "the other way");
        head.cx.report(found.needs(asked).help(help));
        return;
    }
    let names: Vec<&str> =
        service.operations.iter().filter(|op| op.out == used).map(|op| op.name.text.as_str()).collect();
    let text = format!("service `{title}` has no operation `{}`", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(name.span, "unknown");
    diagnostic.helps.extend(suggest::help(&name.text, names));
    head.cx.report(diagnostic);
}
