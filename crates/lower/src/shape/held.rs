//! Flows that somebody holds who is gone: `object TimeWait[of: Flow] … holds of` (docs/language.md, section 4).
//!
//! Keeps: a multiplexor asks those above it by a function that only reads, as they ask what it publishes.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::Writer;
use crate::stack::Reading;

/// What the function is known by: no published value is called so.
const HOLDS: &str = "holds of";

impl<'p> Writer<'_, 'p> {
    /// Whether a layer above, from this user on up to those that make sessions of their own, holds the flow; none if no
    /// layer there holds any.
    pub(super) fn is_held(&mut self, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        let flow = self.as_user_sees(user, flow);
        let mut held = None;
        let mut above = vec![user];
        while let Some(inst) = above.pop() {
            let Some(layer) = self.layer(inst).filter(|layer| layer.shape == s::Shape::Worker) else { continue };
            above.extend(&self.inst(inst).users);
            if layer.objects.iter().any(|class| class.holds) {
                let function = self.holds(inst);
                let entity = self.unique(self.lowering.info(inst).classes.entity);
                let args = [vec![entity], flow.clone()].concat();
                let one = self.op(r::OpKind::Call { function, args })[0];
                held = self.and(held, r::Binary::Or, one);
            }
        }
        held
    }

    /// The function that says whether a layer holds a flow.
    fn holds(&mut self, inst: usize) -> r::FunctionId {
        let known = (inst, HOLDS.to_owned(), Reading::Flow);
        if let Some(function) = self.functions.get(&known) {
            return *function;
        }
        let class = self.lowering.info(inst).classes.entity;
        let mut params = vec![("o".to_owned(), r::Type::Ref(class))];
        params.extend(self.flow_params(&self.inst(inst).top));
        let around = self.around;
        let mut w = Writer::new(self.lowering, around, inst, &params);
        let values = w.params();
        (w.runs.object, w.only_reads) = (Some(values[0]), true);
        let mut held = None;
        let classes = w.layer(inst).map_or(&[][..], |layer| &layer.objects);
        for (place, _) in classes.iter().enumerate().filter(|(_, class)| class.holds) {
            let (entity, index) = w.index_of(s::ObjectId(place as u32));
            let one = w.is_in(entity, index, values[1..].to_vec());
            held = w.and(held, r::Binary::Or, one);
        }
        let held = held.unwrap_or_else(|| w.truth(false));
        w.end(r::Terminator::Yield { values: vec![held] });
        let body = w.finish();
        let name = format!("{}.holds", self.a.class(class).name);
        let (role, results) = (r::Role::Published(class), vec![r::Type::Bool]);
        self.a.functions.push(r::Function { name, role, params, results, body });
        let function = r::FunctionId::from(self.a.functions.len() - 1);
        self.functions.insert(known, function);
        function
    }

    /// The session at hand is open: its flow is what the multiplexor below has made of it, which may have chosen a key.
    pub fn learn_flow(&mut self) {
        let info = self.info();
        let cells = info.session.as_ref().map_or(&[][..], |cells| &cells.flow);
        let chosen = self.lowering.chooser_below(self.inst);
        let (Some(session), false) = (self.runs.session, chosen.is_none() || cells.is_empty()) else { return };
        if let Some(flow) = self.runs.flow.clone().filter(|_| self.hears_flow(self.inst)) {
            return self.set_cells(session, cells, flow.to_vec());
        }
        let (Some(lower), Some(below)) = (self.lower_session(), self.inst(self.inst).below) else { return };
        let Some(function) = self.flow_of_sessions(below) else { return };
        let flow = self.op(r::OpKind::Call { function, args: vec![lower] });
        let flow = self.as_user_sees(self.inst, &flow);
        self.set_cells(session, cells, flow);
    }

    /// The function that says the flow of a layer's session: its own, or that of the one below.
    fn flow_of_sessions(&mut self, inst: usize) -> Option<r::FunctionId> {
        let known = (inst, "flow of".to_owned(), Reading::Session);
        if let Some(function) = self.functions.get(&known) {
            return Some(*function);
        }
        let class = self.lowering.info(inst).classes.session?;
        let around = self.around;
        let mut w = Writer::new(self.lowering, around, inst, &[("o".to_owned(), r::Type::Ref(class))]);
        let own = w.params()[0];
        (w.runs.object, w.runs.session, w.only_reads) = (Some(own), Some(own), true);
        let info = w.info();
        let cells = info.session.as_ref().map_or(&[][..], |cells| &cells.flow);
        let values = match w.inst(inst).is_multiplexor() {
            true => w.get_all(own, cells),
            false => {
                let below = w.inst(inst).below?;
                let function = w.flow_of_sessions(below)?;
                let lower = w.lower_session()?;
                let flow = w.op(r::OpKind::Call { function, args: vec![lower] });
                w.as_user_sees(inst, &flow)
            }
        };
        let results = values.iter().map(|value| w.b.type_of(*value)).collect();
        w.end(r::Terminator::Yield { values });
        let body = w.finish();
        let params = vec![("o".to_owned(), r::Type::Ref(class))];
        let name = format!("{}.flow", self.a.class(class).name);
        self.a.functions.push(r::Function { name, role: r::Role::Published(class), params, results, body });
        let function = r::FunctionId::from(self.a.functions.len() - 1);
        self.functions.insert(known, function);
        Some(function)
    }
}
