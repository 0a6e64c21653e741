//! What who opens a session gives to the layers on the way: `below.open(…, priority: 3)` (docs/language.md, section 6).
//!
//! Invariant: the event `open` of a layer carries, behind the flow, its own given constants and those of the layers below it.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::{joined, Lowering};

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
        for member in at.layer().map_or(&[][..], |layer| &layer.given) {
            let Some(known) = self.session_member(inst, *member) else { continue };
            if let s::MemberKind::Var { ty, .. } = known.kind {
                all.push(Given { inst, member: *member, name: known.name.text.clone(), ty });
            }
        }
        match at.below {
            Some(below) if at.uses.sessions => [all, self.given_at(below)].concat(),
            _ => all,
        }
    }

    fn session_member(&self, inst: usize, member: u32) -> Option<&'p s::Member> {
        let scope = self.layer(inst)?.scopes.iter().find(|scope| scope.kind == s::ScopeKind::Session)?;
        scope.members.get(member as usize)
    }

    /// The scalars of all that `open` is given at an instance, as named parameters behind the flow.
    pub fn given_params(&mut self, inst: usize) -> Vec<(String, r::Type)> {
        let mut params = Vec::new();
        for given in self.given_at(inst) {
            let parts = self.border(given.inst, given.ty);
            params.extend(parts.into_iter().map(|(rest, ty)| (joined(&given.name, &rest), ty)));
        }
        params
    }

    /// The scalars of what is given if nobody says otherwise, with their types.
    pub fn given_default(&mut self, given: &Given) -> Vec<(r::Type, u64)> {
        let init = match self.session_member(given.inst, given.member).map(|member| &member.kind) {
            Some(s::MemberKind::Var { init: Some(init), .. }) => Some(init),
            _ => None,
        };
        let known = init.and_then(|init| self.constants(&self.inst(given.inst).env, init));
        if let (None, Some(init)) = (&known, init) {
            let help = "write a constant: who opens may give another value";
            self.error("M0720", "what `open` gives is a constant if nobody says otherwise", Some(init.span), help);
        }
        let types = self.border_types(given.inst, given.ty);
        let number = |at: usize| known.as_ref().and_then(|values| values.get(at).copied()).unwrap_or(0);
        types.into_iter().enumerate().map(|(at, ty)| (ty, number(at))).collect()
    }
}
