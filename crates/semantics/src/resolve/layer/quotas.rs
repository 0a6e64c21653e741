//! `messages … from kept`: the quota behind places for messages.

use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::layer::reader::LayerReader;
use crate::resolve::layer::sight;
use crate::{codes, tree};

/// `messages … from kept`: the quota is of the same scope or of one around it.
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
        let body = Body::of_scope(reader.cx, reader.file, reader.id, BodyKind::Value, scope);
        let found = body.find_state(&quota.text);
        let is_quota = |found: (ScopeKind, u32)| {
            matches!(body.member(found.0, found.1).map(|m| &m.kind), Some(MemberKind::Quota { .. }))
        };
        let Some((kind, member)) = found.filter(|found| is_quota(*found)) else {
            let help = format!("declare it in front: `entity {{ quota {}: 64 }}`", quota.text);
            reader.cx.error(
                codes::UNKNOWN_NAME,
                format!("there is no quota `{}` in front of this", quota.text),
                quota.span,
                "expected a quota",
                &help,
            );
            continue;
        };
        if !sight::sees(scope, kind) {
            let text = format!(
                "these places are of the {}, and the quota of the {}",
                sight::scope_name(scope),
                sight::scope_name(kind)
            );
            let help = "declare the quota in the same scope, or in the `entity`";
            reader.cx.error(codes::OUT_OF_SIGHT, text, quota.span, "out of sight", help);
            continue;
        }
        let reference = StateRef { scope: kind, member, object: None, span: quota.span };
        let Some(members) = reader.this().members_mut(scope) else { continue };
        let within = format!("{}.", name.text);
        let of_it = |member: &&mut Member| member.name.text == name.text || member.name.text.starts_with(&within);
        for member in members.iter_mut().filter(of_it) {
            if let MemberKind::Messages { quota, .. } = &mut member.kind {
                *quota = Some(reference.clone());
            }
        }
    }
}
