//! Warnings: a local that hides state of the layer: a field of the header in a handler whose code uses the name, or a
//! name that a `let` or a loop binds.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use crate::codes;
use crate::program::*;
use crate::visit::{self, Met};

/// Checks the fields that handlers of `deliver` bind, and the names that code binds.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in &program.layers {
        out.extend(bound(layer));
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

/// The layer's state of this name. State of objects does not count, as it is named behind a handle.
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
    let what = format!("the header's `{text}` hides the layer's state of that name here");
    let help = format!("call the field otherwise here: `{text}: other`");
    hides((name, state), what, "what came, in this handler", help)
}

fn hides((name, state): (&Name, &Name), what: String, here: &str, help: String) -> Diagnostic {
    let found = Diagnostic::warning(codes::HIDES_STATE, what).at(name.span, here);
    found.label(state.span, "the state").help(help)
}

/// Warnings about names that the layer's code binds: all locals except those of heads.
fn bound(layer: &Layer) -> Vec<Diagnostic> {
    let handlers = layer.handlers.iter().enumerate().map(|(index, handler)| {
        let part = layer.parts.iter().find(|part| part.handlers.contains(&(index as u32)));
        (part, &handler.locals, &handler.body)
    });
    let of_containers = |index: usize| {
        layer.containers.iter().flat_map(|container| &container.functions).any(|(_, at)| *at as usize == index)
    };
    let functions = layer.functions.iter().enumerate().filter(|(index, _)| !of_containers(*index));
    let functions = functions.map(|(index, function)| {
        let part = layer.parts.iter().find(|part| part.functions.iter().any(|(_, at)| *at as usize == index));
        (part, function)
    });
    let mut found = Vec::new();
    for (part, function) in functions.clone() {
        for param in &function.params {
            found.extend(state_of(layer, part, &param.name.text).map(|state| hidden_by_parameter(&param.name, state)));
        }
    }
    let functions = functions.map(|(part, function)| (part, &function.locals, &function.body));
    for (part, locals, body) in handlers.chain(functions) {
        visit::walk(body, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::Let { local, .. } | StmtKind::For { local, .. }, .. }) = met else {
                return;
            };
            let name = &locals[local.index()].name;
            // Locals that the compiler adds have no place in the text.
            if (name.span.end - name.span.start) as usize == name.text.len() {
                found.extend(state_of(layer, part, &name.text).map(|state| hidden_by_local(name, state)));
            }
        });
    }
    found
}

fn hidden_by_parameter(name: &Name, state: &Name) -> Diagnostic {
    let what = format!("this `{}` hides the layer's state of that name", name.text);
    hides((name, state), what, "what the caller gives, in this function", "give it another name".to_string())
}

fn hidden_by_local(name: &Name, state: &Name) -> Diagnostic {
    let text = &name.text;
    let what = format!("this `{text}` hides the layer's state of that name");
    let help = format!("give it another name; to change the state, leave `let` out: `{text} = …`");
    hides((name, state), what, "another one, from here on", help)
}
