//! Routers over several layers: the family of layers below them (docs/language.md, section 3).
//!
//! Invariant: a lower flow of such a router begins with the number of the layer that it is of; the layers below do not
//! know that number. The members of a family push the same headers, so one wire carries what any of them sends.

use mokume_semantics::program as s;

use super::{Component, Kind, Member, Modes, Part, Piece, Plan, Planner, Under};
use crate::constants::Env;

impl<'p> Planner<'p, '_> {
    /// Adds the router, over a family of the layers below it in its bundle, one member for each layer that it is over.
    pub(super) fn over_several(
        &mut self,
        index: usize,
        router: Piece<'p>,
        family: Vec<Piece<'p>>,
        unders: Vec<Under<'p>>,
    ) -> Option<usize> {
        let span = self.stack.instances[index].name.span;
        let of = unders.len();
        let mut first = Vec::new();
        let mut lowers: Vec<usize> = Vec::new();
        for (place, under) in unders.into_iter().enumerate() {
            let name = self.plan.insts[under.0].name.clone();
            let members = self.members(index, &family, under, (of > 1).then_some(&name));
            let mut lower = members.0;
            for (at, member) in members.1.iter().enumerate() {
                if place == 0 {
                    first.push(*member);
                } else {
                    let group = self.plan.insts[*member].group;
                    self.plan.groups[group?].members.retain(|known| known != member);
                }
                self.plan.insts[*member].family = Some(Member { first: first[at], place, of });
            }
            // For a second way to the same multiplexor, or one with a key, a worker that only passes on stands for the
            // way.
            if !lower.1.is_empty() || lowers.contains(&lower.0) {
                let name = self.fresh(&format!("{}.{name}", self.stack.instances[index].name.text));
                lower = (self.add_layer(name, &self.supplied.edge, Env::Stack, lower, span), Vec::new());
            }
            lowers.push(lower.0);
            self.parts[index].extend(members.1.iter().rev());
        }
        let top = self.add_router(router, lowers, span);
        self.parts[index].insert(0, top);
        Some(top)
    }

    /// A member of the family for each of its layers, from the lowest up; and what the router is then over.
    fn members(
        &mut self,
        index: usize,
        family: &[Piece<'p>],
        under: Under<'p>,
        suffix: Option<&str>,
    ) -> (Under<'p>, Vec<usize>) {
        let mut under = under;
        let mut all = Vec::new();
        for piece in family.iter().rev() {
            let name = match suffix {
                Some(suffix) => self.fresh(&format!("{}.{suffix}", piece.name)),
                None => piece.name.clone(),
            };
            let piece = Piece { layer: piece.layer, env: piece.env.clone(), group: piece.group, name };
            let at = self.piece(index, piece, under);
            all.push(at);
            under = (at, Vec::new());
        }
        (under, all)
    }

    /// An unused name of an instance.
    fn fresh(&self, wanted: &str) -> String {
        let taken = |name: &str| self.plan.insts.iter().any(|inst| inst.name == name);
        (1..)
            .map(|n| if n == 1 { wanted.to_owned() } else { format!("{wanted}{n}") })
            .find(|name| !taken(name))
            .unwrap_or_default()
    }

    fn add_router(&mut self, piece: Piece<'p>, lowers: Vec<usize>, span: mokume_base::Span) -> usize {
        let first = lowers[0];
        let env = piece.env.over(lowers.len() as u32);
        let offers = Modes { flow: true, sessions: false };
        let at = self.add(piece.name, Kind::Layer(piece.layer), env, Some((first, Vec::new())), Some(span), offers);
        for lower in &lowers[1..] {
            self.plan.insts[*lower].users.push(at);
        }
        if let Some(which) = &piece.layer.several {
            let ty = s::Type::UInt(8);
            let which = Component { name: which.text.clone(), side: Part::Both, ty, address: false, owner: at };
            self.plan.insts[at].bottom.insert(0, which);
            let bottom = self.plan.insts[at].bottom.clone();
            self.plan.insts[at].top = self.top_flow(at, Kind::Layer(piece.layer), &bottom);
        }
        self.plan.insts[at].several = lowers;
        self.plan.insts[at].group = Some(piece.group);
        self.plan.groups[piece.group].members.insert(0, at);
        at
    }
}

impl Plan<'_> {
    /// The instances of a group for each way: other members of families, and the same instances otherwise.
    pub fn columns(&self, group: usize) -> Vec<Vec<usize>> {
        let members = &self.groups[group].members;
        let ways = members.iter().filter_map(|at| self.insts[*at].family).map(|member| member.of).max().unwrap_or(1);
        (0..ways).map(|way| members.iter().map(|at| self.on_way(*at, way)).collect()).collect()
    }

    fn on_way(&self, inst: usize, way: usize) -> usize {
        let Some(family) = self.insts[inst].family else { return inst };
        let same = |other: &Member| other.first == family.first && other.place == way;
        self.insts.iter().position(|other| other.family.as_ref().is_some_and(same)).unwrap_or(inst)
    }

    /// The first member of the instance's family, or the instance itself.
    pub fn first_of_family(&self, inst: usize) -> usize {
        self.insts[inst].family.map_or(inst, |member| member.first)
    }
}
