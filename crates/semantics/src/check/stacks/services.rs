//! `with` gives each layer the services that it uses, and nothing else.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::{codes, lost, suggest};

/// `with` gives each layer the services that it uses, and nothing else.
pub(super) fn check(check: &mut StackCheck, index: usize) {
    let instance = &check.stack.instances[index];
    let named: Vec<(&Name, usize)> = instance
        .with
        .iter()
        .filter_map(|name| {
            let at = check.stack.instances.iter().position(|other| other.name.text == name.text)?;
            Some((name, at))
        })
        .collect();
    let serves = |at: usize, service: ServiceId| check.layers[at].iter().any(|layer| layer.serves.contains(&service));
    let mut used = BTreeSet::new();
    let mut passed_over: Vec<(usize, ServiceId, &Name)> = Vec::new();
    let mut found = Vec::new();
    let mut lacking: Vec<(ServiceId, &Layer, &Name, Vec<&str>)> = Vec::new();
    for layer in &check.layers[index] {
        for (service, name) in &layer.uses {
            let serving: Vec<(&Name, usize)> = named.iter().filter(|(_, at)| serves(*at, *service)).copied().collect();
            if let Some((first, at)) = serving.first() {
                used.insert(*at);
                // Each member of a family has its own server if there are as many; else all ask the first.
                match is_for_each_below(check, index, &named, *service) {
                    true => used.extend(serving.iter().map(|(_, at)| *at)),
                    false => passed_over.extend(serving.iter().skip(1).map(|(_, at)| (*at, *service, *first))),
                }
            }
            let there = !serving.is_empty() || serves(index, *service);
            if there {
                continue;
            }
            match lacking.iter_mut().find(|(known, ..)| known == service) {
                Some((.., others)) => others.push(&layer.name.text),
                None => lacking.push((*service, layer, name, Vec::new())),
            }
        }
    }
    for (service, layer, name, others) in lacking {
        // An unknown name may be the missing server: that no layer serves is then not reported as well.
        let served = (0..check.layers.len()).any(|at| serves(at, service));
        let uses = |at: usize| check.layers[at].iter().any(|layer| layer.uses.iter().any(|(used, _)| *used == service));
        if !instance.with_lost && (served || !(0..index).any(uses)) {
            found.push(no_service(check, instance, (layer, &others), service, name));
        }
    }
    for (name, at) in named {
        if used.contains(&at) {
            continue;
        }
        let diagnostic = match passed_over.iter().find(|(known, ..)| *known == at) {
            Some((_, service, first)) => never_asked(check, instance, name, *service, first),
            None => unused_with(instance, name),
        };
        found.push(diagnostic.needs(lost::given(check.stack, &instance.name)));
    }
    check.out.extend(found);
}

/// Whether an instance over several layers has that many servers of a service, counting its own layers.
fn is_for_each_below(check: &StackCheck, index: usize, named: &[(&Name, usize)], service: ServiceId) -> bool {
    let below = check.stack.instances[index].unders.len();
    let of = |at: usize| check.layers[at].iter().filter(|layer| layer.serves.contains(&service)).count();
    let all: usize = named.iter().map(|(_, at)| *at).chain([index]).map(of).sum();
    below > 1 && all == below
}

fn never_asked(check: &StackCheck, instance: &Instance, name: &Name, service: ServiceId, first: &Name) -> Diagnostic {
    let title = check.program.services.get(service.index()).map_or("?", |service| service.name.text.as_str());
    let text = format!("`{}` asks `{}` for `{title}`, and `{}` never", instance.name.text, first.text, name.text);
    Diagnostic::error(codes::UNUSED_WITH, text)
        .at(name.span, "not asked")
        .label(first.span, "serves it, and is named first")
        .help(format!("leave `{}` out of `with`, or name it in front of `{}`, in place of that", name.text, first.text))
}

fn no_service(
    check: &StackCheck,
    instance: &Instance,
    (layer, others): (&Layer, &[&str]),
    service: ServiceId,
    name: &Name,
) -> Diagnostic {
    let title = check.program.services.get(service.index()).map_or("?", |service| service.name.text.as_str());
    let servers: Vec<&str> = check
        .stack
        .instances
        .iter()
        .zip(&check.layers)
        .filter(|(_, layers)| layers.iter().any(|layer| layer.serves.contains(&service)))
        .map(|(instance, _)| instance.name.text.as_str())
        .collect();
    let whom = if servers.is_empty() { "nobody serves it here" } else { "`with` names nobody who serves it" };
    let text = format!("`{}` uses the service `{title}`, and {whom}", instance.name.text);
    let diagnostic = Diagnostic::error(codes::NO_SERVICE, text)
        .at(instance.of.span, format!("`{}` in it needs `{title}`", layer.name.text))
        .label(name.span, "used here")
        .needs(lost::within(instance.of.span, "what is below"));
    let diagnostic = match others.is_empty() {
        true => diagnostic,
        false => diagnostic.note(format!("and so do {}", suggest::list(others))),
    };
    let diagnostic = diagnostic.loses(lost::given(check.stack, &instance.name));
    match servers.first() {
        Some(server) if !instance.with.is_empty() => {
            let named: Vec<&str> = instance.with.iter().map(|name| name.text.as_str()).collect();
            diagnostic
                .note(format!("{} behind its `with` serves other things", suggest::list(&named)))
                .help(format!("name `{server}` behind `with`, too, or in place of what it does not use"))
        }
        Some(server) => diagnostic.help(format!("write `with {server}`")),
        None => diagnostic.help(format!("add a layer that says `serves {title}` to the stack, and name it in `with`")),
    }
}

fn unused_with(instance: &Instance, name: &Name) -> Diagnostic {
    let text = format!("`{}` uses nothing that `{}` serves", instance.name.text, name.text);
    Diagnostic::error(codes::UNUSED_WITH, text)
        .at(name.span, "not needed")
        .label(instance.of.span, "this layer does not use its services")
        .help(format!("leave `{}` out of `with`", name.text))
}
