//! How the events of ports look in C: the types of their arguments, their names, and the heads of their functions.

use mokume_reaction::*;

use crate::names::Scope;
use crate::plan::Plan;
use crate::types::{c_type, declare};

/// The C type of a value at a port.
pub(crate) fn port_type(automaton: &Automaton, ty: Type) -> &'static str {
    match ty {
        Type::Msg => "mk_octets",
        Type::Ref(_) => "mk_handle",
        other => c_type(automaton, other),
    }
}

/// The names of a port event's parameters, besides those that every function of a port has.
pub(crate) fn param_names(params: &[(String, Type)]) -> Vec<String> {
    let mut scope = Scope::default();
    ["k", "now", "context"].into_iter().for_each(|own| scope.take(own));
    params.iter().map(|(name, _)| scope.bare(name)).collect()
}

/// A port event's parameters.
pub(super) fn port_params(plan: &Plan, params: &[(String, Type)]) -> Vec<String> {
    let names = param_names(params);
    names.iter().zip(params).map(|(name, (_, ty))| declare(port_type(plan.automaton, *ty), name)).collect()
}

/// All inputs, with their names.
pub(super) fn inputs<'p>(plan: &'p Plan) -> impl Iterator<Item = (&'p PortInput, &'p String)> {
    plan.automaton.ports.iter().zip(&plan.names.inputs).flat_map(|(port, names)| port.inputs.iter().zip(names))
}

/// The head of an input's function.
pub(crate) fn input_head(plan: &Plan, name: &str, params: &[(String, Type)]) -> String {
    door_head(plan, &format!("{}_{name}", plan.names.stack), params)
}

/// The same for any name.
pub(crate) fn door_head(plan: &Plan, name: &str, params: &[(String, Type)]) -> String {
    let mut list = vec![format!("struct {} *k", plan.names.stack), "uint64_t now".into()];
    list.extend(port_params(plan, params));
    format!("bool {name}({})", list.join(", "))
}

/// A name like this one that none of these is.
pub(super) fn differing(mut name: String, known: &[Vec<String>]) -> String {
    while known.iter().flatten().any(|known| *known == name) {
        name.push('_');
    }
    name
}
