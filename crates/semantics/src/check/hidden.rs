//! Warnings: a field of the header that has the name of the layer's state, in a handler whose code uses the name.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// The fields that handlers of `deliver` bind.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        for (index, handler) in layer.handlers.iter().enumerate() {
            let part = layer.parts.iter().find(|part| part.handlers.contains(&(index as u32)));
            let Event::Deliver { fields, .. } = &handler.event else { continue };
            let used = used(&handler.body);
            for (_, local) in fields.iter().filter(|(_, local)| used.contains(local)) {
                let name = &handler.locals[local.index()].name;
                out.extend(state_of(layer, part, &name.text).map(|state| hidden(name, state)));
            }
        }
    }
}

/// State of the layer, but of objects, which is named behind a handle.
fn state_of<'a>(layer: &'a Layer, part: Option<&Part>, name: &str) -> Option<&'a Name> {
    let own = part.and_then(|part| part.member(name));
    let own = own.and_then(|(scope, member)| layer.members(scope)?.get(member as usize));
    let visible = |known: &&Name| known.text == name && part.is_none_or(|part| part.shares(name));
    let members = layer.scopes.iter().flat_map(|scope| &scope.members);
    own.map(|member| &member.name).or_else(|| members.map(|member| &member.name).find(visible))
}

fn used(body: &[Stmt]) -> BTreeSet<LocalId> {
    let mut used = BTreeSet::new();
    visit::walk(body, &mut |met| match met {
        Met::Expr(Expr { kind: ExprKind::Local(local), .. })
        | Met::Stmt(Stmt { kind: StmtKind::AssignLocal { local, .. }, .. }) => {
            used.insert(*local);
        }
        Met::Expr(_) | Met::Stmt(_) | Met::State(_) => {}
    });
    used
}

fn hidden(name: &Name, state: &Name) -> Diagnostic {
    let text = &name.text;
    Diagnostic::warning(codes::HIDES_STATE, format!("the header's `{text}` hides the layer's state of that name here"))
        .at(name.span, "what came, in this handler")
        .label(state.span, "the state")
        .help(format!("call the field otherwise here: `{text}: other`"))
}
