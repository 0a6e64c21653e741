//! Routers over several layers: the family of layers below them, and what goes to which (docs/language.md, section 3).
//!
//! Invariant: a lower flow of such a router begins with the number of the layer that it is of; the layers below it know
//! nothing of that number. The members of a family push the same headers, so one wire carries what any of them sends.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::fold::Env;
use crate::frame::{to, Writer};
use crate::lowering::Lowering;
use crate::plan::{Component, Kind, Member, Modes, Part, Piece, Plan, Planner, Under};

// -- the plan

impl<'p> Planner<'p, '_> {
    /// The router, over one family of the layers below it in its bundle for each layer that it stands on.
    pub fn over_several(
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
            // Two keys of one multiplexor, or a key: a worker that only passes on stands for that way.
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

    /// One member of the family for each of its layers, from the lowest up; and what the router stands on then.
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

    /// A name that no instance has.
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
    /// The members of a group by way: of families each time other ones, of the rest the same.
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

    /// Of a member of a family the first; of any other instance itself.
    pub fn first_of_family(&self, inst: usize) -> usize {
        self.insts[inst].family.map_or(inst, |member| member.first)
    }
}

// -- code

impl<'p> Lowering<'p> {
    /// What a family's later members know from the first: headers, and where their fields stand.
    pub fn share_headers(&mut self) {
        for inst in 0..self.plan.insts.len() {
            let first = self.plan.first_of_family(inst);
            if first == inst {
                continue;
            }
            let of = self.infos[first].clone();
            self.change(inst, |info| {
                info.header = of.header;
                info.fields.clone_from(&of.fields);
                info.placed.clone_from(&of.placed);
                info.wire_size = of.wire_size;
            });
        }
    }

    /// The reason of what is sent to a layer below that is not there.
    pub fn no_way(&self, inst: usize) -> String {
        let which = self.layer(inst).and_then(|layer| layer.several.as_ref());
        format!("no_{}", which.map_or("way", |which| &which.text))
    }
}

impl<'p> Writer<'_, 'p> {
    /// Runs `each` for the layer below that the first of `bottom` names, with the rest of it; of one layer for that.
    ///
    /// `otherwise` is what happens where there is no such layer.
    pub fn for_lower(
        &mut self,
        bottom: &[r::Value],
        mut each: impl FnMut(&mut Self, usize, &[r::Value]),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let at = self.inst(self.inst);
        if at.several.is_empty() {
            if let Some(below) = at.below {
                each(self, below, bottom);
            }
            return;
        }
        let Some((which, rest)) = bottom.split_first() else { return };
        let lowers = at.several.clone();
        let sent = |this: &mut Self, lower: usize| {
            each(this, lower, rest);
            Vec::new()
        };
        let beyond = |this: &mut Self, _: Vec<r::Type>| {
            otherwise(this);
            Vec::new()
        };
        self.switch_lower((*which, &lowers), "sent", sent, beyond);
    }

    /// What `each` gives for the layer below of number `which`; beyond the last, what `otherwise` gives for those types.
    fn switch_lower(
        &mut self,
        (which, lowers): (r::Value, &[usize]),
        joined: &str,
        mut each: impl FnMut(&mut Self, usize) -> Vec<r::Value>,
        otherwise: impl FnOnce(&mut Self, Vec<r::Type>) -> Vec<r::Value>,
    ) -> Vec<r::Value> {
        let blocks: Vec<r::BlockId> = lowers.iter().map(|_| self.b.block("way", &[])).collect();
        let beyond = self.b.block("beyond", &[]);
        let cases = blocks.iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        self.end(r::Terminator::Switch { value: which, cases, default: to(beyond) });
        let before = self.locals.clone();
        let mut exits = Vec::new();
        let mut types = Vec::new();
        for (block, lower) in blocks.into_iter().zip(lowers) {
            self.select(block);
            self.locals = before.clone();
            let values = each(self, *lower);
            types = values.iter().map(|value| self.b.type_of(*value)).collect();
            exits.extend(self.exit(values));
        }
        self.select(beyond);
        self.locals = before;
        let values = otherwise(self, types);
        exits.extend(self.exit(values));
        self.join(joined, exits).unwrap_or_default()
    }

    /// Where a router stands on several, what comes from below says from which.
    pub fn from_way(&mut self, user: usize, flow: Vec<r::Value>) -> Vec<r::Value> {
        let Some(place) = self.inst(user).several.iter().position(|lower| *lower == self.inst) else { return flow };
        let place = if self.faulty(Fault::WayForgotten) { 0 } else { place };
        let which = self.constant(r::Type::U(8), place as u64);
        [vec![which], flow].concat()
    }

    /// `below[i].name`: beyond the last it is 0.
    pub fn below_at(&mut self, name: &'p s::Name, flow: Option<&'p s::Expr>, index: &'p s::Expr) -> Vec<r::Value> {
        let lowers = self.inst(self.inst).lowers().to_vec();
        let given = flow.map(|flow| self.expr(flow));
        let given = given.map(|flow| (s::Type::Flow(s::Side::Below), flow.get(1..).unwrap_or_default().to_vec()));
        if let Some(known) = self.constants(&self.env, index).and_then(|values| values.first().copied()) {
            if let Some(lower) = lowers.get(known as usize) {
                return self.read_below(*lower, name, given);
            }
        }
        let which = self.one(index);
        self.read_one_of(&lowers, which, name, given)
    }

    /// `below.name(flow)`, where the flow says which.
    pub fn below_of_flow(&mut self, name: &s::Name, flow: Vec<r::Value>) -> Vec<r::Value> {
        let lowers = self.inst(self.inst).several.clone();
        let Some((which, rest)) = flow.split_first() else { return Vec::new() };
        self.read_one_of(&lowers, *which, name, Some((s::Type::Flow(s::Side::Below), rest.to_vec())))
    }

    fn read_one_of(
        &mut self,
        lowers: &[usize],
        which: r::Value,
        name: &s::Name,
        given: Option<(s::Type, Vec<r::Value>)>,
    ) -> Vec<r::Value> {
        let read = |this: &mut Self, lower: usize| this.read_below(lower, name, given.clone());
        let zeros = |this: &mut Self, types: Vec<r::Type>| types.into_iter().map(|ty| this.constant(ty, 0)).collect();
        self.switch_lower((which, lowers), "read", read, zeros)
    }

    /// The smallest of what the layers below say.
    pub fn least_below(&mut self, lowers: &[usize], name: &s::Name) -> Vec<r::Value> {
        let mut least: Option<r::Value> = None;
        for lower in lowers {
            let Some(value) = self.read_below(*lower, name, None).first().copied() else { continue };
            least = Some(match least {
                None => value,
                Some(a) => self.value(r::OpKind::Binary { op: r::Binary::Min, a, b: value }),
            });
        }
        least.into_iter().collect()
    }

    /// A router that only chooses leaves the other parts of a flow as they are.
    pub fn fill_from_hand(&mut self, ty: s::Type, values: &mut [Option<r::Value>]) {
        if ty != s::Type::Flow(s::Side::Below) || !self.inst(self.inst).chooses() {
            return;
        }
        let Some(flow) = self.place.flow.clone() else { return };
        for (slot, value) in values.iter_mut().skip(1).zip(flow) {
            slot.get_or_insert(value);
        }
    }
}
