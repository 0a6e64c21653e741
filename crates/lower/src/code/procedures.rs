//! Functions that exist once for all callers: the form's procedures.
//!
//! A function becomes a procedure if it is long enough and called from several places, leaves what its caller runs for
//! unchanged, and has no arrays among its parameters and results. The current objects of the caller, such as the
//! session, are passed to it as far as it uses them.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::visit::{walk, Met};

use super::writer::{Code, Flow, Runs, Writer};
use crate::constants::Env;
use crate::program::blocks;
use crate::stack::{joined, Called, Procedure, Standing};

/// The fewest statements of a procedure; a shorter function is as short as its call.
const SHORTEST: usize = 4;

impl<'p> Writer<'_, 'p> {
    /// The procedure for a function, with its arguments; `None` if the function is to be inlined.
    pub(super) fn procedure(
        &mut self,
        function: &'p s::Function,
        called: Called,
        env: &Env<'p>,
        given: &[(s::LocalId, Vec<r::Value>)],
    ) -> Option<(r::FunctionId, Vec<r::Value>)> {
        if !self.live() || self.only_reads || !self.is_worth_it(function, called) || !self.runs.is_plain() {
            return None;
        }
        let context = self.runs.context();
        let types = |values: &Option<Vec<r::Value>>| {
            values.as_ref().map(|values| values.iter().map(|value| self.b.type_of(*value)).collect())
        };
        let at_hand = context.iter().map(types).collect();
        let object = self.runs.keyed.map(|(object, _)| object);
        let standing = Standing { inst: self.inst, called, object, at_hand };
        if !self.procedures.contains_key(&standing) {
            let made = self.stand_once(function, &standing, env);
            self.procedures.insert(standing.clone(), made);
        }
        let Procedure { function, kept } = self.procedures.get(&standing)?.clone()?;
        let context: Vec<r::Value> = context.into_iter().flatten().flatten().collect();
        let args = kept.iter().map(|at| context[*at]);
        Some((function, args.chain(given.iter().flat_map(|(_, values)| values).copied()).collect()))
    }

    fn is_worth_it(&mut self, function: &s::Function, called: Called) -> bool {
        let key = (self.inst, called);
        if let Some(known) = self.worth_it.get(&key) {
            return *known;
        }
        let mut statements = 0;
        walk(&function.body, &mut |met| statements += usize::from(matches!(met, Met::Stmt(_))));
        let found = function.native.is_none() && statements >= SHORTEST && self.places(called) > 1;
        self.worth_it.insert(key, found);
        found
    }

    /// At how many places of the layer's code, and of the program's functions, a function is called.
    fn places(&mut self, wanted: Called) -> usize {
        let inst = self.inst;
        if !self.called_at.contains_key(&inst) {
            let counted = self.places_of_all();
            self.called_at.insert(inst, counted);
        }
        self.called_at[&inst].get(&wanted).copied().unwrap_or(0)
    }

    /// The same of all functions.
    fn places_of_all(&self) -> HashMap<Called, usize> {
        let mut counted = HashMap::default();
        let Some(layer) = self.layer(self.inst) else { return counted };
        let functions = self.program.functions.iter().map(|function| function.body.as_slice());
        for block in blocks(layer).chain(functions) {
            walk(block, &mut |met| {
                let Met::Expr(expr) = met else { return };
                let called = match &expr.kind {
                    s::ExprKind::Call { function, .. } => Called::Free(*function),
                    s::ExprKind::CallOwn { function, .. } | s::ExprKind::CallOn { function, .. } => {
                        Called::Own(*function)
                    }
                    _ => return,
                };
                *counted.entry(called).or_default() += 1;
            });
        }
        counted
    }

    /// Makes the procedure for a function and its current objects; `None` if it cannot be one.
    fn stand_once(&mut self, function: &'p s::Function, standing: &Standing, env: &Env<'p>) -> Option<Procedure> {
        let (mut params, context) = self.params_of(function, standing);
        let results = if function.result == s::Type::Unit { Vec::new() } else { self.part_types(function.result) };
        if params.iter().map(|(_, ty)| ty).chain(&results).any(|ty| ty.array().is_some()) {
            return None;
        }
        let layer = self.a.class(self.info().classes.entity).layer;
        let mut body = self.body_of(function, standing, env, (&params, &results))?;
        let kept = ask_for_what_is_used(&mut body, context);
        params = unlike(kept.iter().copied().chain(context..params.len()).map(|at| params[at].clone()));
        for (param, (name, _)) in body.blocks[0].params.clone().into_iter().zip(&params) {
            body.values[param.index()].name.clone_from(name);
        }
        let role = r::Role::Procedure { layer, refused: function.refuses.then(|| refused(function)) };
        let mut made = r::Function { name: String::new(), role, params, results, body };
        // It may be equal to one for other current objects.
        let alike = self.a.functions.iter().position(|known| {
            made.name.clone_from(&known.name);
            *known == made
        });
        let place = alike.unwrap_or_else(|| {
            made.name = self.name_of(layer, function);
            self.a.functions.push(made);
            self.a.functions.len() - 1
        });
        Some(Procedure { function: place.into(), kept })
    }

    /// The parameters: the current objects (the number of which is returned), and the function's own.
    fn params_of(&mut self, function: &s::Function, standing: &Standing) -> (Vec<(String, r::Type)>, usize) {
        const NAMES: [&str; 7] = ["own", "session", "lower", "point", "entry", "flow", "bottom"];
        let mut params = Vec::new();
        for (types, name) in standing.at_hand.iter().zip(NAMES) {
            params.extend(types.iter().flatten().map(|ty| (format!("at_{name}"), *ty)));
        }
        let context = params.len();
        for param in &function.params {
            let parts = self.part_types(param.ty);
            let name = |at: usize| match parts.len() {
                1 => param.name.text.clone(),
                _ => joined(&param.name.text, &at.to_string()),
            };
            params.extend(parts.iter().enumerate().map(|(at, ty)| (name(at), *ty)));
        }
        (params, context)
    }

    /// The body; `None` if it changes what its caller runs for.
    fn body_of(
        &mut self,
        function: &'p s::Function,
        standing: &Standing,
        env: &Env<'p>,
        (params, results): (&[(String, r::Type)], &[r::Type]),
    ) -> Option<r::Body> {
        let (inst, around) = (self.inst, self.around);
        let mut w = Writer::new(self.lowering, around, inst, params);
        w.begun = w.begins_sessions(inst);
        w.env = env.clone();
        let mut values = w.params().into_iter();
        w.runs = Runs::at_hand(standing, &mut values);
        let before = w.runs.context();
        let mut given = Vec::new();
        for param in &function.params {
            let count = w.part_types(param.ty).len();
            given.push((param.local, values.by_ref().take(count).collect()));
        }
        let (done, back) = w.inline_exits(Code::from(function), given, None);
        let mut fits = w.runs.context() == before && w.runs.is_plain();
        let values = w.meet(done);
        if w.live() {
            fits &= values.iter().map(|value| w.b.type_of(*value)).eq(results.iter().copied());
            w.end(r::Terminator::Yield { values });
        }
        let values = w.meet(back);
        if w.live() {
            fits &= function.refuses && values.iter().map(|value| w.b.type_of(*value)).eq(refused(function));
            w.end(r::Terminator::Refuse { values });
        }
        let body = w.finish();
        fits.then_some(body)
    }

    /// `layer.function`, with a number if the name is used for other current objects.
    fn name_of(&self, layer: r::LayerId, function: &s::Function) -> String {
        let name = format!("{}.{}", self.a.layers[layer.index()].name, function.name.text);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| self.a.function_named(name).is_none()).unwrap_or(name)
    }
}

/// What a function gives back when it refuses: the messages among its parameters.
fn refused(function: &s::Function) -> Vec<r::Type> {
    let messages = function.params.iter().filter(|param| param.ty == s::Type::Message);
    messages.map(|_| r::Type::Msg).collect()
}

/// Removes unused ones among the first parameters; returns the indices of the others.
fn ask_for_what_is_used(body: &mut r::Body, first: usize) -> Vec<usize> {
    let mut used = HashSet::default();
    for block in &body.blocks {
        block.ops.iter().for_each(|op| {
            r::Operation::for_each_operand(&op.kind, &mut |value| {
                used.insert(value);
            })
        });
        used.extend(block.terminator.operands());
        used.extend(block.terminator.targets().into_iter().flat_map(|target| &target.args).copied());
    }
    let params = body.blocks[0].params.clone();
    let kept: Vec<usize> = (0..first).filter(|at| used.contains(&params[*at])).collect();
    body.blocks[0].params = kept.iter().copied().chain(first..params.len()).map(|at| params[at]).collect();
    kept
}

/// Makes names unique.
fn unlike(params: impl Iterator<Item = (String, r::Type)>) -> Vec<(String, r::Type)> {
    let mut known: HashSet<String> = HashSet::default();
    let mut unlike = |(name, ty): (String, r::Type)| {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !known.contains(name));
        let name = free.unwrap_or(name);
        known.insert(name.clone());
        (name, ty)
    };
    params.map(&mut unlike).collect()
}

impl Runs {
    /// The current objects, in a fixed order.
    fn context(&self) -> [Option<Vec<r::Value>>; 7] {
        let one = |value: Option<r::Value>| value.map(|value| vec![value]);
        let flow = |flow: &Option<Flow>| flow.as_ref().map(|flow| flow.to_vec());
        [
            one(self.object),
            one(self.session),
            one(self.lower),
            one(self.point),
            one(self.keyed.map(|(_, object)| object)),
            flow(&self.flow),
            flow(&self.bottom),
        ]
    }

    /// The same inside a procedure, from its parameters.
    fn at_hand(standing: &Standing, values: &mut dyn Iterator<Item = r::Value>) -> Runs {
        let mut parts = standing.at_hand.iter().map(|types| {
            let count = types.as_ref()?.len();
            Some((0..count).filter_map(|_| values.next()).collect::<Vec<_>>())
        });
        let mut next = || parts.next().flatten();
        let mut one = || next().and_then(|values| values.first().copied());
        let (object, session, lower, point, keyed) = (one(), one(), one(), one(), one());
        let (flow, bottom) = (next(), next());
        Runs {
            object,
            session,
            lower,
            point,
            keyed: standing.object.zip(keyed),
            flow: flow.map(Into::into),
            bottom: bottom.map(Into::into),
            ..Runs::default()
        }
    }

    /// Whether a session is neither opening nor registering, and nothing was passed to `open`.
    fn is_plain(&self) -> bool {
        !self.opening && !self.over && self.registering.is_none() && self.given.is_empty()
    }
}
