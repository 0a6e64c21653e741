//! `messages … from kept`: the quota behind places for messages.

use mokume_base::Diagnostic;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::BodyKind;
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::sight;
use crate::{codes, suggest, tree};

/// `messages … from kept`: the quota is of the same scope or of an enclosing one.
pub(super) fn read(reader: &mut LayerReader, scope: ScopeKind, states: &[ast::State]) {
    for state in states {
        let (name, quota) = match state {
            ast::State::Messages(messages) => (messages.name(), messages.quota()),
            ast::State::Contained(contained) => (contained.name(), contained.quota()),
            _ => continue,
        };
        let (Some(name), Some(quota)) = (tree::some_name(reader.file, name), tree::some_name(reader.file, quota))
        else {
            continue;
        };
        let Some(quota) = named(reader, scope, &quota) else { continue };
        let full = reader.full_in(scope, &name);
        let Some(members) = reader.this().members_mut(scope) else { continue };
        set(members, &full.text, &quota);
    }
}

/// State, sorted so that each quota precedes the containers that take from it.
pub(super) fn in_front(states: &[ast::State]) -> Vec<ast::State> {
    let mut all = states.to_vec();
    let mut at = 0;
    while at < all.len() {
        let wanted = match &all[at] {
            ast::State::Contained(contained) => contained.quota().map(|quota| quota.text()),
            _ => None,
        };
        let is_it = |state: &ast::State| {
            matches!(state, ast::State::Quota(_)) && state.name().map(|name| name.text()) == wanted
        };
        if let Some(behind) = all[at + 1..].iter().position(is_it).filter(|_| wanted.is_some()) {
            let quota = all.remove(at + 1 + behind);
            all.insert(at, quota);
        }
        at += 1;
    }
    all
}

/// The quota of this name that places of a scope may take from; reports if there is none in sight.
fn named(reader: &mut LayerReader, scope: ScopeKind, name: &Name) -> Option<StateRef> {
    let body = reader.body(BodyKind::Value, scope);
    body.note(name);
    let is_quota = |(kind, member): &(ScopeKind, u32)| {
        matches!(body.member(*kind, *member).map(|member| &member.kind), Some(MemberKind::Quota { .. }))
    };
    let Some((kind, member)) = body.find_state(&name.text).filter(is_quota) else {
        let text = format!("there is no quota `{}` here", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, text).at(name.span, "expected a quota");
        let known = of_layer(reader);
        let help = suggest::help(&name.text, known.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| format!("declare it: `entity {{ quota {}: 64 }}`", name.text));
        reader.cx.report(diagnostic.help(help));
        return None;
    };
    if !sight::sees(scope, kind) {
        let (of_these, of_quota) = (sight::scope_name(scope), sight::scope_name(kind));
        let text = format!("these places are of the {of_these}, and the quota of the {of_quota}");
        let help = "declare the quota in the same scope, or in the `entity`";
        reader.cx.error(codes::OUT_OF_SIGHT, text, name.span, "out of sight", help);
        return None;
    }
    Some(StateRef { scope: kind, member, object: None, span: name.span })
}

/// The quotas of all scopes of the layer.
fn of_layer(reader: &mut LayerReader) -> Vec<String> {
    let members = reader.this().scopes.iter().flat_map(|scope| &scope.members);
    let quotas = members.filter(|member| matches!(member.kind, MemberKind::Quota { .. }));
    quotas.map(|member| member.name.text.clone()).collect()
}

/// Sets the quota of the places of this name, or of the container of this name.
fn set(members: &mut [Member], name: &str, from: &StateRef) {
    let within = format!("{name}.");
    let of_it = |member: &&mut Member| member.name.text == name || member.name.text.starts_with(&within);
    for member in members.iter_mut().filter(of_it) {
        if let MemberKind::Messages { quota, .. } = &mut member.kind {
            *quota = Some(from.clone());
        }
    }
}
