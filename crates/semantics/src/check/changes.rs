//! `on change` of values that no layer below publishes, and credit that is not respected.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;

use super::column::{self, Placed};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, constants, suggest};

/// Checks that awaited values are published below, that credit is respected, and that new messages fit.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for stack in &program.stacks {
        for (index, instance) in stack.instances.iter().enumerate() {
            for (at, placed) in column::placed(program, &instance.of, instance.of.span).iter().enumerate() {
                for below in column::below(program, stack, index, at, false) {
                    changes(program, placed, &below, out);
                    credit(program, placed, &below, out);
                    super::sizes::check(program, placed, &below, out);
                }
            }
        }
    }
}

/// `on change below.x`: a layer below publishes it.
fn changes(program: &Program, placed: &Placed, below: &column::Column, out: &mut Vec<Diagnostic>) {
    for handler in &placed.layer.handlers {
        let Event::Change { name } = &handler.event else { continue };
        let published = below.below.iter().any(|placed| publishes(placed.layer, &name.text));
        if published {
            continue;
        }
        let who: Vec<&str> = program
            .layers
            .iter()
            .filter(|layer| publishes(layer, &name.text))
            .map(|layer| layer.name.text.as_str())
            .collect();
        let text = format!(
            "`{}` waits for `{}` to change, and no layer below publishes it",
            placed.layer.name.text, name.text
        );
        let diagnostic = Diagnostic::error(codes::NEVER_CHANGES, text)
            .at(placed.span, format!("`{}` stands here", placed.layer.name.text))
            .label(name.span, "waits for it here")
            .note(format!("below it: {}; what a device publishes does not change", below.path()));
        out.push(match who.is_empty() {
            true => diagnostic.help(format!("let a layer below say `publish {}: … = …`", name.text)),
            false => diagnostic.help(format!("put {} below it", suggest::list(&who))),
        });
    }
}

fn publishes(layer: &Layer, name: &str) -> bool {
    let own = layer.publishes.iter().any(|publish| publish.name.text == name);
    own || name == "credit" && layer.limit_send.is_some() || name == "credit_octets" && layer.limit_octets.is_some()
}

/// Warns of a loop that asks for the credit again and again: it stays the same, as what a handler sends is carried out behind it.
pub fn credit_in_loops(program: &Program, out: &mut Vec<Diagnostic>) {
    for (_, body) in program.code() {
        visit::walk(body, &mut |met| {
            let Met::Stmt(Stmt { kind: StmtKind::While { condition, body, .. }, .. }) = met else { return };
            let mut asked = None;
            let mut counts = BTreeSet::new();
            visit::walk_expr(condition, &mut |part| match &part.kind {
                ExprKind::Below { name, .. } if name.text.starts_with("credit") => asked = Some(name),
                ExprKind::Local(local) => _ = counts.insert(*local),
                _ => {}
            });
            let Some(asked) = asked else { return };
            let is_sent = |met: Met| matches!(met, Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Send { .. }), .. }));
            let counts = |met: Met| match met {
                Met::Stmt(Stmt { kind: StmtKind::AssignLocal { local, .. }, .. }) => counts.contains(local),
                _ => false,
            };
            if visit::any(body, is_sent) && !visit::any(body, counts) {
                let text = format!("`below.{}` stays the same in this loop, however much it sends", asked.text);
                let found = Diagnostic::warning(codes::BEYOND_CREDIT, text).at(asked.span, "no less in the next round");
                let found = found.note("what a handler sends is carried out behind it");
                out.push(
                    found.help(format!(
                        "count down: `let free = below.{}`, and `free -= 1` behind each send",
                        asked.text
                    )),
                );
            }
        });
    }
}

/// Reports a handler that, on every path through it, sends more than the layer below ever allows.
fn credit(program: &Program, placed: &Placed, below: &column::Column, out: &mut Vec<Diagnostic>) {
    let Some((by, limit)) = below.below.iter().find_map(|placed| Some((placed, placed.layer.limit_send.as_ref()?)))
    else {
        return;
    };
    let Some(most) = constants::eval_with(program, &by.args, limit).ok().and_then(|value| value.scalar()) else {
        return;
    };
    for handler in &placed.layer.handlers {
        let Sends { through, left } = least(placed.layer, &handler.body, 0);
        let Some(sends) = through.into_iter().chain(left).min().filter(|sends| *sends > most) else { continue };
        let (layer, under) = (&placed.layer.name.text, &by.layer.name.text);
        let text = format!("`{layer}` sends {sends} messages at once, and `{under}` takes {most}");
        out.push(
            Diagnostic::error(codes::BEYOND_CREDIT, text)
                .at(placed.span, format!("`{layer}` stands here"))
                .label(handler.span, format!("sends {sends} whatever happens"))
                .label(limit.span, format!("allows {most}"))
                .help("look at `below.credit` before each of them, or keep some for later"),
        );
    }
}

/// The fewest messages sent on a path that continues behind the block, and on one that leaves.
#[derive(Clone, Copy)]
struct Sends {
    through: Option<u64>,
    left: Option<u64>,
}

fn least(layer: &Layer, block: &[Stmt], depth: u32) -> Sends {
    let mut all = Sends { through: Some(0), left: None };
    for stmt in block {
        let Some(so_far) = all.through else { break };
        let here = of_stmt(layer, stmt, depth);
        all.through = here.through.map(|sends| so_far + sends);
        all.left = all.left.into_iter().chain(here.left.map(|sends| so_far + sends)).min();
    }
    all
}

fn of_stmt(layer: &Layer, stmt: &Stmt, depth: u32) -> Sends {
    let none = Sends { through: Some(0), left: None };
    match &stmt.kind {
        StmtKind::Emit(Emission::Send { message: Some(_), .. }) => Sends { through: Some(1), left: None },
        StmtKind::Return { .. } => Sends { through: None, left: Some(0) },
        StmtKind::Call(Expr { kind: ExprKind::CallOwn { function, .. }, .. }) if depth < 8 => {
            let Some(function) = layer.functions.get(*function as usize) else { return none };
            let inner = least(layer, &function.body, depth + 1);
            Sends { through: inner.through.into_iter().chain(inner.left).min().or(Some(0)), left: None }
        }
        StmtKind::If { .. }
        | StmtKind::IfFound { .. }
        | StmtKind::IfObject { .. }
        | StmtKind::IfTaken { .. }
        | StmtKind::Match { .. } => {
            let paths = crate::visit::stmt_blocks(stmt).into_iter().map(|block| least(layer, block, depth));
            let paths: Vec<Sends> = paths.collect();
            Sends {
                through: paths.iter().filter_map(|path| path.through).min(),
                left: paths.iter().filter_map(|path| path.left).min(),
            }
        }
        // The block behind `or` may leave the handler; a loop may run zero times.
        _ => {
            let paths = crate::visit::stmt_blocks(stmt).into_iter().map(|block| least(layer, block, depth));
            Sends { through: Some(0), left: paths.filter_map(|path| path.left).min() }
        }
    }
}
