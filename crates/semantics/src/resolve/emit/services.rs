//! Operations of services: the questions of users, and the answers of servers.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr::arguments;
use crate::{codes, lost, suggest, tree};

/// An emission of an operation of a service; outer `None` if the name is not a service.
pub fn read(body: &mut Body, owner: &Name, name: &Name, args: &[ast::Arg], span: Span) -> Option<Option<Emission>> {
    let layer = body.this_layer()?;
    let used = layer.uses.iter().position(|(_, alias)| alias.text == owner.text);
    let served = served(&body.cx.program, layer, &owner.text);
    let used_service = used.map(|index| layer.uses[index].0);
    let find = |service: Option<ServiceId>, out: bool| {
        let service = service?;
        let list = &body.cx.program.services.get(service.index())?.operations;
        let index = list.iter().position(|operation| operation.name.text == name.text && operation.out == out)?;
        Some((service, index as u32))
    };
    let (service, operation, uses) = match (find(used_service, false), find(served, true)) {
        (Some((service, operation)), _) => (service, operation, used.map(|index| index as u32)),
        (None, Some((service, operation))) => (service, operation, None),
        (None, None) => {
            if used_service.or(served).is_none() && body.cx.said.unknown_services.contains(&owner.text) {
                return Some(None);
            }
            let service = used_service.or(served)?;
            no_operation(body, service, used_service.is_some(), name);
            return Some(None);
        }
    };
    let asked = &body.cx.program.services[service.index()];
    let place = used.and_then(|index| Some(body.this_layer()?.uses.get(index)?.1.span));
    body.cx.mention(owner, place.filter(|_| uses.is_some()).unwrap_or(asked.name.span));
    body.cx.mention(name, asked.operations[operation as usize].name.span);
    let params = asked.operations[operation as usize].params.clone();
    let params: Vec<Param> = params
        .into_iter()
        .map(|field| Param { name: field.name, ty: field.ty, default: None, local: LocalId(0), written: None })
        .collect();
    let args = arguments::for_params(body, &format!("{}.{}", owner.text, name.text), &params, args, span);
    Some(Some(Emission::Service { service, operation, uses, args }))
}

fn no_operation(body: &mut Body, service: ServiceId, uses: bool, name: &Name) {
    let service = &body.cx.program.services[service.index()];
    let title = service.name.text.clone();
    let other_way = service.operations.iter().any(|operation| operation.name.text == name.text);
    let names: Vec<String> = service
        .operations
        .iter()
        .filter(|operation| operation.out != uses)
        .map(|operation| operation.name.text.clone())
        .collect();
    if other_way {
        let (who, help) = match uses {
            true => ("its server", format!("handle it: `on {}(…)` with the name behind `as`", name.text)),
            false => ("its users", format!("handle it: `on {}.{}(…)`", tree::snake_case(&title), name.text)),
        };
        let text = format!("`{}` of service `{title}` is emitted by {who}", name.text);
        let declared = service.operations.iter().find(|operation| operation.name.text == name.text);
        let declared = declared.map_or(name.span, |operation| operation.name.span);
        let found =
            Diagnostic::error(codes::SERVICE_WAY, text).at(name.span, "the other way").label(declared, "declared here");
        // The server emits it: then it is an answer, and other reports about it are consequences.
        body.report(match uses {
            true => found.help(help),
            false => found
                .loses(lost::within(declared, "handled"))
                .help(format!("if it is what the server answers, declare it so: `out {}(…)`", name.text))
                .help(help),
        });
        return;
    }
    let text = format!("service `{title}` has no operation `{}`", name.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(name.span, "unknown");
    diagnostic.helps.extend(suggest::help(&name.text, names.iter().map(String::as_str)));
    body.report(diagnostic);
}

/// The served service that the layer's code calls by this name.
pub fn served(program: &Program, layer: &Layer, name: &str) -> Option<ServiceId> {
    layer.serves.iter().copied().find(|id| tree::snake_case(&program.services[id.index()].name.text) == name)
}
