//! Flows that are held after their session has ended: `object TimeWait[of: Flow] … holds of` (docs/language.md, section
//! 4).
//!
//! Keeps: a multiplexor asks those above by a read-only function, just as they read published values.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::Writer;
use crate::stack::Reading;

/// The name of the function; no published value can have it.
const HOLDS: &str = "holds of";

impl<'p> Writer<'_, 'p> {
    /// Whether a layer above holds the flow, from this user up to layers that make sessions of their own; `None` if no
    /// layer there can hold any.
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

    /// The function that tells whether a layer holds a flow.
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
}
