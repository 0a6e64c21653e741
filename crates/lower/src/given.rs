//! What who opens a session gives to the layers on the way: `below.open(…, priority: 3)` (docs/language.md, section 6).
//!
//! Invariant: the event `open` of a layer carries, behind the flow, its own given constants and those of the layers below it.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::Writer;
use crate::lowering::Lowering;

/// A constant that an instance asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    pub inst: usize,
    pub member: u32,
    pub name: String,
    pub ty: s::Type,
}

impl<'p> Lowering<'p> {
    /// What `open` at an instance may be given, from it downwards.
    pub fn given_at(&self, inst: usize) -> Vec<Given> {
        let at = self.inst(inst);
        let mut all = Vec::new();
        if let Some(layer) = at.layer() {
            let session = layer.scopes.iter().find(|scope| scope.kind == s::ScopeKind::Session);
            for member in &layer.given {
                let Some(known) = session.and_then(|scope| scope.members.get(*member as usize)) else { continue };
                if let s::MemberKind::Var { ty, .. } = known.kind {
                    all.push(Given { inst, member: *member, name: known.name.text.clone(), ty });
                }
            }
        }
        match at.below {
            Some(below) if at.uses.sessions => [all, self.given_at(below)].concat(),
            _ => all,
        }
    }

    pub fn given_params(&mut self, inst: usize) -> Vec<(String, r::Type)> {
        let mut params = Vec::new();
        for given in self.given_at(inst) {
            let parts = self.flat(given.inst, given.ty);
            params
                .extend(parts.into_iter().map(|(rest, ty)| (format!("{}{}", given.name, rest.replace('.', "_")), ty)));
        }
        params
    }
}

impl<'p> Writer<'_, 'p> {
    /// Takes what is the instance's own from the values behind the flow; the rest goes on down.
    pub fn take_given(&mut self, session: r::Value, values: &[r::Value]) {
        let mut rest = values.iter().copied();
        for given in self.given_at(self.inst) {
            let count = self.lowering.flat(given.inst, given.ty).len();
            let mine: Vec<r::Value> = rest.by_ref().take(count).collect();
            if given.inst == self.inst {
                let known = self.infos[self.inst].members.get(&(s::ScopeKind::Session, given.member));
                let cells = known.cloned().unwrap_or_default();
                self.set_cells(session, &cells, mine);
            } else {
                self.place.given.push((given, mine));
            }
        }
    }

    /// Values for what the layer below asks for: those at hand, else what it says itself.
    pub fn given_below(&mut self, below: usize) -> Vec<r::Value> {
        let mut values = Vec::new();
        for given in self.given_at(below) {
            let known = self.place.given.iter().find(|(of, _)| *of == given).map(|(_, values)| values.clone());
            values.extend(known.unwrap_or_else(|| self.given_default(&given)));
        }
        values
    }

    fn given_default(&mut self, given: &Given) -> Vec<r::Value> {
        let types = self.lowering.flat(given.inst, given.ty);
        let env = self.inst(given.inst).env.clone();
        let layer = self.layer(given.inst);
        let scope = layer.and_then(|layer| layer.scopes.iter().find(|scope| scope.kind == s::ScopeKind::Session));
        let init = match scope.map(|scope| &scope.members[given.member as usize].kind) {
            Some(s::MemberKind::Var { init: Some(init), .. }) => Some(init),
            _ => None,
        };
        let known = init.and_then(|init| self.constants(&env, init));
        if let (None, Some(init)) = (&known, init) {
            let help = "write a constant: who opens may give another value";
            self.error("M0720", "what `open` gives is a constant if nobody says otherwise", Some(init.span), help);
        }
        let number = |at: usize| known.as_ref().and_then(|values| values.get(at).copied()).unwrap_or(0);
        types.into_iter().enumerate().map(|(at, (_, ty))| self.constant(ty, number(at))).collect()
    }

    /// `below.open(…, priority: 3)` in code: for every layer below that asks for that name.
    pub fn give_by_hand(&mut self, args: &'p [(s::Name, s::Expr)]) {
        let Some(below) = self.inst(self.inst).below else { return };
        let wanted = self.given_at(below);
        for (name, value) in args {
            let values = self.expr(value);
            let mut asked = false;
            for given in wanted.iter().filter(|given| given.name == name.text) {
                asked = true;
                self.place.given.retain(|(of, _)| of != given);
                self.place.given.push((given.clone(), values.clone()));
            }
            if !asked {
                let text = format!("no layer below asks for `{}` when it is opened", name.text);
                self.error("M0722", text, Some(name.span), "a layer asks by `const … from open` in its session");
            }
        }
    }
}
