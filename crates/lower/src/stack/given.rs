//! The values that `open` and `listen` pass to the layers below: `below.open(…, priority: 3)`, `below.listen(…,
//! priority: 3)` (docs/language.md, section 6).
//!
//! Invariant: the event `open` of a layer carries, after the flow, its own given constants and those of the layers
//! below it; the event `listen`, after the pattern, those of them with `from listen`. The values of `listen` wait in
//! the listener's point.

use mokume_base::{Code, Diagnostic};
use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::types;

use super::{joined, plain, Given, Giver, Lowering};

impl<'p> Lowering<'p> {
    /// The values that `open` at an instance carries, for it and the layers below: all constants, as `accept` opens
    /// with the values of `listen`.
    pub fn given_at(&self, inst: usize) -> Vec<Given> {
        let at = self.inst(inst);
        let mut all = Vec::new();
        let places = at.layer().map_or(0, |layer| layer.members(s::ScopeKind::Session).map_or(0, <[_]>::len));
        for member in 0..places as u32 {
            let by = at
                .layer()
                .map_or([false; 2], |layer| [&layer.given, &layer.listened].map(|asked| asked.contains(&member)));
            let Some(known) = self.session_member(inst, member).filter(|_| by.contains(&true)) else { continue };
            if let s::MemberKind::Var { ty, .. } = known.kind {
                all.push(Given { inst, member, name: known.name.text.clone(), ty, by });
            }
        }
        match at.below {
            Some(below) if at.uses.sessions => [all, self.given_at(below)].concat(),
            _ => all,
        }
    }

    /// The ones among them that a giver gives.
    pub fn asked_at(&self, inst: usize, giver: Giver) -> Vec<Given> {
        let mut all = self.given_at(inst);
        all.retain(|given| given.asks(giver));
        all
    }

    /// The values that the points of an instance keep for the sessions of their listener: its own; for a layer that
    /// begins sessions by `accept`, also those of the layers that it opens.
    pub fn kept_for_sessions(&self, inst: usize) -> Vec<Given> {
        let mut all = self.asked_at(inst, Giver::Listen);
        let below = self.layer(inst).is_some_and(s::Layer::awaits);
        all.retain(|given| below || given.inst == inst);
        all
    }

    /// The values that an application gives: one for each name, for all layers with that name.
    pub fn asked_of_port(&mut self, inst: usize, giver: Giver) -> Vec<Given> {
        let mut all: Vec<Given> = Vec::new();
        for given in self.asked_at(inst, giver) {
            match all.iter().find(|known| known.name == given.name) {
                None => all.push(given),
                Some(known) if !types::same(known.ty, given.ty) => self.of_two_types(&known.clone(), &given),
                Some(known) => self.of_two_values(&known.clone(), &given),
            }
        }
        all
    }

    /// A cell of the point for each scalar of them.
    pub(super) fn listened_cells(&mut self, inst: usize, point: r::ClassId) -> Vec<(Given, Vec<r::CellId>)> {
        let mut all = Vec::new();
        for given in self.kept_for_sessions(inst) {
            let parts = self.border(given.inst, given.ty);
            let values = self.given_default(&given);
            let mut cells = Vec::new();
            for ((rest, ty), (_, init)) in parts.into_iter().zip(values) {
                let name = format!("given_{}", joined(&given.name, &rest));
                cells.push(self.cell(point, &name, r::CellKind::Scalar { ty, init }, false, None));
            }
            all.push((given, cells));
        }
        all
    }

    fn of_two_types(&mut self, a: &Given, b: &Given) {
        let text = format!("two layers ask for `{}`, and not for the same type", a.name);
        let help = "what is given by a name goes to all that ask for it: give one of them another name";
        let shown = [a, b].map(|given| types::show(self.program, given.ty));
        self.of_two((a, b), text, shown, help);
    }

    /// Reports different defaults: a port has a name once, with one default.
    fn of_two_values(&mut self, a: &Given, b: &Given) {
        let [first, second] = [a, b].map(|given| self.given_default(given));
        if first == second {
            return;
        }
        let text = format!(
            "two layers ask for `{}`, and are not of one mind what it is if the application does not say it",
            a.name
        );
        let help =
            "what is given by a name goes to all that ask for it: write one value, or give one of them another name";
        self.of_two((a, b), text, ["it is this here".to_owned(), "and this here".to_owned()], help);
    }

    fn of_two(&mut self, (a, b): (&Given, &Given), text: String, [first, second]: [String; 2], help: &str) {
        let place = |given: &Given| self.session_member(given.inst, given.member).map(|member| member.name.span);
        let mut diagnostic = Diagnostic::error(Code("M0780"), text);
        if let Some((at, other)) = place(b).zip(place(a)) {
            diagnostic = diagnostic.at(at, second).label(other, first);
        }
        let diagnostic = diagnostic.help(help);
        // Each port, and each of its events, asks for this.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn session_member(&self, inst: usize, member: u32) -> Option<&'p s::Member> {
        let scope = self.layer(inst)?.scopes.iter().find(|scope| scope.kind == s::ScopeKind::Session)?;
        scope.members.get(member as usize)
    }

    /// The scalars of given values, as named parameters after the flow.
    pub fn given_params(&mut self, all: &[Given]) -> Vec<(String, r::Type)> {
        plain(self.given_at_port(all))
    }

    /// The same for a port, whose names tell what forms a value: `v.length`, `v.0`.
    pub fn given_at_port(&mut self, all: &[Given]) -> Vec<(String, r::Type)> {
        let mut params = Vec::new();
        for given in all {
            let (name, parts) = (joined(&given.name, ""), self.border(given.inst, given.ty));
            params.extend(parts.into_iter().map(|(rest, ty)| (format!("{name}{rest}"), ty)));
        }
        params
    }

    /// The default scalars of a given value, with their types.
    pub fn given_default(&mut self, given: &Given) -> Vec<(r::Type, u64)> {
        let init = match self.session_member(given.inst, given.member).map(|member| &member.kind) {
            Some(s::MemberKind::Var { init: Some(init), .. }) => Some(init),
            _ => None,
        };
        let known = init.and_then(|init| self.constants(&self.inst(given.inst).env, init));
        if let (None, Some(init)) = (&known, init) {
            let help = "write a constant: who opens or listens may give another value";
            self.error("M0720", "what is given is a constant if nobody says otherwise", Some(init.span), help);
        }
        let types = self.border_types(given.inst, given.ty);
        let number = |at: usize| known.as_ref().and_then(|values| values.get(at).copied()).unwrap_or(0);
        types.into_iter().enumerate().map(|(at, ty)| (ty, number(at))).collect()
    }
}
