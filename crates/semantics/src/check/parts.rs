//! What a part of a layer uses of the layer's state, compared with what its head declares.
//!
//! Keeps: uses are found in the typed code, whatever their syntax; a call of a container's function counts as what the
//! function does.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Severity, Span};

use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, lost};

/// All parts of all layers.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    for layer in program.layers.iter().filter(|layer| !layer.parts.is_empty()) {
        let changes = changing_functions(layer);
        for (at, part) in layer.parts.iter().enumerate() {
            let mut uses = Uses { layer, changes: &changes, read: BTreeMap::new(), written: BTreeMap::new() };
            uses.part(at, part);
            undeclared(layer, part, &uses, out);
            idle(part, &uses, out);
        }
    }
}

/// Marks warnings about unused things of a layer: a part that was not read may use them.
pub fn mark_unused(program: &Program, out: &mut [Diagnostic]) {
    for layer in &program.layers {
        let members = layer.all_members().flat_map(|(_, members)| members).map(|member| &member.name);
        let variants = layer.header.iter().flat_map(|header| &header.variants).map(|variant| &variant.name);
        let others = layer.params.iter().map(|param| &param.name).chain(layer.uses.iter().map(|(_, alias)| alias));
        let objects = layer.objects.iter().map(|class| &class.name);
        for name in members.chain(variants).chain(others).chain(objects) {
            let of_it = |found: &&mut Diagnostic| {
                found.severity == Severity::Warning && found.primary.as_ref().is_some_and(|at| at.span == name.span)
            };
            out.iter_mut().filter(of_it).for_each(|found| found.needs.push(lost::within(layer.name.span, &name.text)));
        }
    }
}

/// For each function of a layer, whether it or one that it calls changes state.
fn changing_functions(layer: &Layer) -> Vec<bool> {
    let mut changes = vec![false; layer.functions.len()];
    loop {
        let mut more = false;
        for (index, function) in layer.functions.iter().enumerate() {
            if changes[index] {
                continue;
            }
            let found = visit::any(&function.body, |met| match met {
                Met::Stmt(stmt) => writes(stmt),
                Met::Expr(expr) => visit::own_call(expr).is_some_and(|index| changes[index as usize]),
                Met::State(_) => false,
            });
            changes[index] = found;
            more |= found;
        }
        if !more {
            return changes;
        }
    }
}

/// Whether a statement writes the state that it names, or makes or ends an object.
fn writes(stmt: &Stmt) -> bool {
    use StmtKind::*;
    match &stmt.kind {
        Assign { .. } | AssignElement { .. } | Start { .. } | Stop { .. } => true,
        Take { .. } | Give { .. } | Count { .. } | Insert { .. } | Remove { .. } | Put { .. } => true,
        IfTaken { share, .. } => !share,
        FindOrNew { .. } | End { .. } => true,
        Let { .. } | AssignLocal { .. } | If { .. } | Match { .. } | While { .. } | For { .. } => false,
        ForObjects { .. } | IfObject { .. } | IfFound { .. } | IfListener { .. } | IfDone { .. } => false,
        Return { .. } | Pass | Call(_) | Refuse | Emit(_) | Again | Renew | Later { .. } | Begin { .. } => false,
        Drop { .. } | Consume { .. } | Accept { .. } => false,
        Trim { .. } | Skip { .. } | Split { .. } | Join { .. } | Store { .. } | SetAttribute { .. } => false,
    }
}

/// The class of the objects that a statement finds or makes.
fn class_of(stmt: &Stmt) -> Option<ObjectId> {
    match &stmt.kind {
        StmtKind::IfObject { class, .. } | StmtKind::FindOrNew { class, .. } | StmtKind::ForObjects { class, .. } => {
            Some(*class)
        }
        StmtKind::End { object: Some(Expr { ty: Type::Object(class), .. }) } => Some(*class),
        _ => None,
    }
}

/// The layer's own state and objects that a part's text names, by name, each with its first place.
struct Uses<'l> {
    layer: &'l Layer,
    changes: &'l [bool],
    read: BTreeMap<String, Span>,
    written: BTreeMap<String, Span>,
}

impl Uses<'_> {
    /// All of a part's text: initial values and sizes of its state, functions, handlers.
    fn part(&mut self, at: usize, part: &Part) {
        let layer = self.layer;
        let scopes = layer.scopes.iter().flat_map(|scope| &scope.members);
        let objects = layer.objects.iter().flat_map(|class| {
            let own = layer.owner_of(&class.name.text) == Owner::Part(at);
            class.members.iter().filter(move |_| own)
        });
        let own = scopes.filter(|member| layer.owner_of(&member.name.text) == Owner::Part(at)).chain(objects);
        own.for_each(|member| self.member(member));
        for (_, index) in &part.functions {
            self.block(&layer.functions[*index as usize].body);
        }
        for index in &part.handlers {
            let handler = &layer.handlers[*index as usize];
            if let Event::Expiry { timer } = &handler.event {
                self.state(timer, false);
            }
            self.block(&handler.body);
        }
    }

    fn member(&mut self, member: &Member) {
        match &member.kind {
            MemberKind::Var { init: Some(init), .. } => self.expr(init),
            // The messages in it take from the quota and give back.
            MemberKind::Messages { quota: Some(quota), .. } => self.state(quota, true),
            _ => {}
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        visit::walk(block, &mut |met| match met {
            Met::Stmt(stmt) => {
                let changes = writes(stmt);
                visit::stmt_states(stmt, &mut |state| self.state(state, changes));
                if let Some(class) = class_of(stmt) {
                    self.class(class, stmt.span, changes);
                }
            }
            Met::Expr(expr) => self.call(expr),
            // State of a statement is handled with the statement.
            Met::State(_) => {}
        });
    }

    fn expr(&mut self, expr: &Expr) {
        visit::walk_expr(expr, &mut |inner| self.call(inner));
    }

    /// Notes the state that an expression reads, and the container whose function it calls.
    fn call(&mut self, expr: &Expr) {
        visit::expr_states(expr, &mut |state| self.state(state, false));
        if let ExprKind::HasObject { class, .. } = &expr.kind {
            self.class(*class, expr.span, false);
        }
        let Some(function) = visit::own_call(expr) else { return };
        let Some(found) = self.layer.functions.get(function as usize) else { return };
        let of_container = self.layer.containers.iter().find(|known| {
            let is_it = |(_, index): &(String, u32)| *index == function;
            known.functions.iter().any(is_it)
        });
        let Some(container) = of_container else { return };
        let owner = match container.scope {
            ScopeKind::Object(class) => self.layer.objects.get(class.index()).map(|class| &class.name.text),
            _ => Some(&found.name.text),
        };
        let owner = owner.map(|name| self.layer.owner_of(name));
        self.owned(owner, expr.span, self.changes[function as usize]);
    }

    fn state(&mut self, state: &StateRef, changes: bool) {
        self.owned(self.layer.owner(state), state.span, changes);
    }

    fn class(&mut self, class: ObjectId, span: Span, changes: bool) {
        let name = self.layer.objects.get(class.index()).map(|class| &class.name.text);
        self.owned(name.map(|name| self.layer.owner_of(name)), span, changes);
    }

    fn owned(&mut self, owner: Option<Owner>, span: Span, changes: bool) {
        let Some(Owner::Layer(name)) = owner else { return };
        let uses = if changes { &mut self.written } else { &mut self.read };
        uses.entry(name).or_insert(span);
    }
}

/// Reports what is used and not declared.
fn undeclared(layer: &Layer, part: &Part, uses: &Uses, out: &mut Vec<Diagnostic>) {
    let of = |name: &str| part.shared.iter().find(|shared| shared.name.text == *name);
    for (name, span) in &uses.written {
        let Some(said) = of(name) else {
            out.push(undeclared_use(layer, part, name, *span, "writes"));
            continue;
        };
        if !said.writes {
            let text = format!("the part `{}` says that it reads `{name}`, and changes it here", part.name.text);
            let diagnostic = Diagnostic::error(codes::PART_UNDECLARED, text)
                .at(*span, "changed here")
                .label(said.name.span, "only read, it says")
                .help(format!("write `writes {name}` in place of `reads {name}`"));
            out.push(diagnostic);
        }
    }
    let unwritten = uses.read.iter().filter(|(name, _)| !uses.written.contains_key(*name));
    for (name, span) in unwritten.filter(|(name, _)| of(name).is_none()) {
        out.push(undeclared_use(layer, part, name, *span, "reads"));
    }
}

fn undeclared_use(layer: &Layer, part: &Part, name: &str, span: Span, word: &str) -> Diagnostic {
    let text = format!("the part `{}` does not say that it {word} `{name}` of `{}`", part.name.text, layer.name.text);
    Diagnostic::error(codes::PART_UNDECLARED, text)
        .at(span, format!("state of `{}`", layer.name.text))
        .label(part.name.span, "the part")
        .help(format!("write `{word} {name}` in the part; state that nobody else needs stands in the part itself"))
}

/// Reports what is declared and not used.
fn idle(part: &Part, uses: &Uses, out: &mut Vec<Diagnostic>) {
    for Shared { name, writes } in &part.shared {
        let (read, written) = (uses.read.contains_key(&name.text), uses.written.contains_key(&name.text));
        let (text, help) = match (writes, read, written) {
            (_, false, false) => {
                (format!("the part `{}` does not use `{}`", part.name.text, name.text), "leave it out")
            }
            (true, true, false) => {
                (format!("the part `{}` reads `{}` alone", part.name.text, name.text), "say it behind `reads`")
            }
            (false, ..) | (true, _, true) => continue,
        };
        out.push(Diagnostic::warning(codes::IDLE_SHARE, text).at(name.span, "said here").help(help));
    }
}
