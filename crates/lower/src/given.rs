//! What the layers of a stack are given for their parameters, for tools that show it.

use mokume_semantics::program::{Expr, ExprKind, Param, Program, StackId};

use crate::constants::{fold, Env};
use crate::plan;

/// A parameter of a layer of a stack.
#[derive(Clone, Debug)]
pub struct Given<'p> {
    /// The layer's name in the automaton.
    pub layer: String,
    /// The parameter.
    pub param: &'p Param,
    /// Its value.
    pub value: GivenValue,
}

/// The value of a layer's parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GivenValue {
    /// Its scalars.
    Known(Vec<u64>),
    /// That of this parameter of the stack (`device.mac` too).
    Setting(String),
}

/// The parameters of all layers of a stack, with values where these are constants or parameters of the stack themselves.
pub fn given(program: &Program, stack: StackId) -> Vec<Given<'_>> {
    let Some(definition) = program.stacks.get(stack.index()) else { return Vec::new() };
    let supplied = plan::supplied(definition.name.span);
    let Some(plan) = plan::plan(program, definition, &supplied, &mut Vec::new()) else { return Vec::new() };
    let mut all = Vec::new();
    for inst in &plan.insts {
        let Env::Use(used) = &inst.env else { continue };
        // The supplied layers have no parameters.
        let layer = program.layers.iter().find(|layer| inst.layer().is_some_and(|own| std::ptr::eq(own, *layer)));
        for (param, arg) in layer.iter().flat_map(|layer| &layer.params).zip(used.args) {
            let known = fold(program, &used.outer, arg).map(GivenValue::Known);
            let setting = || Some(GivenValue::Setting(setting(&definition.params, &used.outer, arg)?));
            let value = known.or_else(setting);
            all.extend(value.map(|value| Given { layer: inst.name.clone(), param, value }));
        }
    }
    all
}

/// The stack's parameter that an argument only hands on.
fn setting(params: &[Param], env: &Env<'_>, arg: &Expr) -> Option<String> {
    match (&arg.kind, env) {
        (ExprKind::Param(at), Env::Stack) => Some(params.get(*at as usize)?.name.text.clone()),
        (ExprKind::Param(at), Env::Use(used)) => setting(params, &used.outer, used.args.get(*at as usize)?),
        (ExprKind::Below { name, .. }, Env::Stack) => Some(name.text.clone()),
        _ => None,
    }
}
