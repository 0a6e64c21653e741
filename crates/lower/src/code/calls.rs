//! Calls of functions: inlined, with their results and the places where they refuse.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::{Code, Exits, Writer};
use crate::constants::Env;
use crate::fault::Fault;
use crate::stack::Called;

/// The parts of a call.
type Parts<'p> = (Option<&'p s::Expr>, u32, &'p [s::Expr]);

fn parts(call: &s::Expr) -> Option<Parts<'_>> {
    match &call.kind {
        s::ExprKind::CallOwn { function, args } => Some((None, *function, args)),
        s::ExprKind::CallOn { object, function, args } => Some((Some(object), *function, args)),
        _ => None,
    }
}

impl<'p> Writer<'_, 'p> {
    /// Inlines a handler's code.
    pub fn run(&mut self, handler: &'p s::Handler, given: Vec<(s::LocalId, Vec<r::Value>)>) {
        if self.live() {
            self.lowering.reached.insert(handler.span);
        }
        let pass = self.runs.pass.clone();
        self.inline(Code::from(handler), given);
        self.runs.pass = pass;
    }

    /// Whether code of a handler can run here: state of a session needs a current session.
    pub fn fits(&self, handler: &s::Handler) -> bool {
        match handler.scope {
            s::ScopeKind::Session => {
                self.runs.session.is_some() || !self.inst(self.inst).has_scope(s::ScopeKind::Session)
            }
            s::ScopeKind::SessionBelow => self.runs.session.is_some() || self.runs.lower.is_some(),
            s::ScopeKind::Point => self.runs.session.is_some() || self.runs.point.is_some(),
            s::ScopeKind::Entity | s::ScopeKind::View | s::ScopeKind::Object(_) => true,
        }
    }

    /// Inlines code, and gives its results.
    fn inline(&mut self, code: Code<'p>, given: Vec<(s::LocalId, Vec<r::Value>)>) -> Vec<r::Value> {
        let (exits, _) = self.inline_exits(code, given, None);
        self.meet(exits)
    }

    /// As [`Self::inline`], with separate exits for its results and for its refusals (with the messages that it was
    /// given, in order). If `kept` is set, that message of the code comes last in the values of each exit.
    pub(super) fn inline_exits(
        &mut self,
        code: Code<'p>,
        given: Vec<(s::LocalId, Vec<r::Value>)>,
        kept: Option<s::LocalId>,
    ) -> (Exits, Exits) {
        // The code of the shape around a handler is nobody's.
        let called_from = (!self.returns.is_empty()).then(|| self.bound_names());
        let outer = std::mem::replace(&mut self.noted.outer, called_from);
        let fixed = self.noted.fixed.take();
        let locals = std::mem::replace(&mut self.locals, vec![None; code.decls.len()]);
        let decls = std::mem::replace(&mut self.decls, code.decls);
        self.returns.push(Exits::default());
        let message = |local: &s::LocalId| code.decls.get(local.index()).is_some_and(|d| d.ty == s::Type::Message);
        let messages = given.iter().map(|(local, _)| *local).filter(message).collect();
        self.refusals.push((messages, Exits::default()));
        for (local, values) in given {
            self.set_local(local, values);
        }
        self.run_block(code.body);
        let mut exits = self.returns.pop().unwrap_or_default();
        self.exit(&mut exits, Vec::new());
        let (_, mut refused) = self.refusals.pop().unwrap_or_default();
        self.noted.outer = outer;
        self.noted.fixed = fixed;
        self.decls = decls;
        self.locals = locals;
        if let Some(kept) = kept {
            for exit in &mut exits.0 {
                let value = exit.locals.get(kept.index()).cloned().flatten();
                exit.results.extend(value.unwrap_or_default());
            }
        }
        for exit in exits.0.iter_mut().chain(&mut refused.0) {
            exit.locals.clone_from(&self.locals);
        }
        (exits, refused)
    }

    fn arguments(&mut self, function: &'p s::Function, args: &'p [s::Expr]) -> Vec<(s::LocalId, Vec<r::Value>)> {
        function.params.iter().zip(args).map(|(param, arg)| (param.local, self.expr(arg))).collect()
    }

    /// A call of a function of the program; the layer may have been given another one instead.
    pub fn call(&mut self, function: s::FunctionId, args: &'p [s::Expr]) -> Vec<r::Value> {
        let program = self.program;
        let given = self.layer(self.inst).and_then(|layer| layer.called.iter().find(|(known, _)| *known == function));
        let given = given.filter(|_| !self.faulty(Fault::FunctionNotGiven));
        let called = given.map_or(function, |(_, given)| *given);
        self.call_in(&program.functions[called.index()], Called::Free(called), args, &Env::Stack)
    }

    /// A call of one of the layer's functions.
    pub fn call_own(&mut self, function: u32, args: &'p [s::Expr]) -> Vec<r::Value> {
        let Some(layer) = self.layer(self.inst) else { return Vec::new() };
        self.call_in(&layer.functions[function as usize], Called::Own(function), args, &self.inst(self.inst).env)
    }

    fn call_in(
        &mut self,
        function: &'p s::Function,
        called: Called,
        args: &'p [s::Expr],
        env: &Env<'p>,
    ) -> Vec<r::Value> {
        let given = self.arguments(function, args);
        if let Some((procedure, args)) = self.procedure(function, called, env, &given) {
            return self.op(r::OpKind::Run { procedure, args });
        }
        let outer = std::mem::replace(&mut self.env, env.clone());
        let results = self.inline(Code::from(function), given);
        self.env = outer;
        results
    }

    /// `entry.waiting.pop()`
    pub fn call_on(&mut self, object: &'p s::Expr, function: u32, args: &'p [s::Expr]) -> Vec<r::Value> {
        let Some(layer) = self.layer(self.inst) else { return Vec::new() };
        let (called, function) = (Called::Own(function), &layer.functions[function as usize]);
        let target = self.target(Some(object));
        let given = self.arguments(function, args);
        let outer = self.enter(target);
        let env = self.env.clone();
        let results = match self.procedure(function, called, &env, &given) {
            Some((procedure, args)) => self.op(r::OpKind::Run { procedure, args }),
            None => self.inline(Code::from(function), given),
        };
        self.runs.keyed = outer;
        results
    }

    /// The object of a handle; it stands in front of the arguments, which are worked out behind it, and not in it.
    fn target(&mut self, object: Option<&'p s::Expr>) -> Option<(s::ObjectId, r::Value)> {
        let object = object?;
        let s::Type::Object(class) = object.ty else { return None };
        Some((class, self.one(object)))
    }

    /// Makes an object the current one; returns the previous one.
    fn enter(&mut self, target: Option<(s::ObjectId, r::Value)>) -> Option<(s::ObjectId, r::Value)> {
        let outer = self.runs.keyed;
        self.runs.keyed = target.or(outer);
        outer
    }

    /// A call with a block for either outcome. On refusal, messages are back under their names.
    pub fn if_done(
        &mut self,
        call: &'p s::Expr,
        local: Option<s::LocalId>,
        (then, otherwise): (&'p [s::Stmt], &'p [s::Stmt]),
    ) {
        let (Some(layer), Some((object, function, args))) = (self.layer(self.inst), parts(call)) else { return };
        let (called, function) = (Called::Own(function), &layer.functions[function as usize]);
        let target = self.target(object);
        let given = self.arguments(function, args);
        let names: Vec<s::LocalId> = args
            .iter()
            .filter_map(|arg| if let s::ExprKind::Give(local) = arg.kind { Some(local) } else { None })
            .collect();
        let outer = self.enter(target);
        let env = self.env.clone();
        let (done, mut refused) = match self.procedure(function, called, &env, &given) {
            Some((procedure, args)) => self.try_run(procedure, args),
            None => self.inline_exits(Code::from(function), given, None),
        };
        self.runs.keyed = outer;
        let mut ends = Exits::default();
        let values = self.meet(done);
        if self.live() {
            if let Some(local) = local {
                self.set_local(local, values);
            }
            self.run_block(then);
            self.exit(&mut ends, Vec::new());
        }
        for exit in &mut refused.0 {
            let most = names.iter().map(|local| local.index() + 1).max().unwrap_or(0);
            exit.locals.resize(exit.locals.len().max(most), None);
            for (local, value) in names.iter().zip(std::mem::take(&mut exit.results)) {
                exit.locals[local.index()] = Some(vec![value]);
            }
        }
        self.meet(refused);
        if self.live() {
            self.run_block(otherwise);
            self.exit(&mut ends, Vec::new());
        }
        self.meet(ends);
    }

    /// Calls a procedure: the exits with its results, and with what it gives back when it refuses.
    fn try_run(&mut self, procedure: r::FunctionId, args: Vec<r::Value>) -> (Exits, Exits) {
        let (mut done, mut refused) = (Exits::default(), Exits::default());
        let fork = self.attempt(r::Fallible::TryRun { procedure, args });
        let given = self.follow(fork.yes);
        self.exit(&mut done, given);
        let given = self.follow(fork.no);
        self.exit(&mut refused, given);
        (done, refused)
    }

    /// Returns from the current function with values.
    pub fn give_back(&mut self, values: Vec<r::Value>) {
        if let Some(mut returns) = self.returns.pop() {
            self.exit(&mut returns, values);
            self.returns.push(returns);
        }
    }

    /// Refuses in the current function, and gives its messages back.
    pub fn refuse(&mut self) {
        let Some((messages, mut refused)) = self.refusals.pop() else { return };
        let values = messages.iter().map(|local| self.of_local(*local)).collect();
        self.exit(&mut refused, values);
        self.refusals.push((messages, refused));
    }

    // -- functions in C

    /// A call of a function in C; or its model, inlined.
    pub fn native(
        &mut self,
        id: s::FunctionId,
        args: &'p [s::Expr],
        message: Option<s::LocalId>,
        ty: s::Type,
    ) -> Vec<r::Value> {
        let program = self.program;
        let function = &program.functions[id.index()];
        let Some(native) = &function.native else { return Vec::new() };
        if self.options.models {
            return self.model(function, args, message);
        }
        let args = self.at_border(args);
        let result = (ty != s::Type::Unit).then(|| self.scalar(ty));
        let held = message.map(|message| self.of_local(message));
        let symbol = program.symbol_of(id);
        let mut results = self.op(r::OpKind::Native { symbol, grows: native.grows, args, message: held, result });
        if let Some(message) = message {
            self.set_local(message, vec![results.remove(0)]);
        }
        results
    }

    fn model(&mut self, function: &'p s::Function, args: &'p [s::Expr], message: Option<s::LocalId>) -> Vec<r::Value> {
        let mut values = args.iter();
        let mut given = Vec::new();
        let mut kept = None;
        for param in &function.params {
            if param.ty == s::Type::Message {
                kept = Some(param.local);
                given.push((param.local, message.map_or(Vec::new(), |message| self.local(message))));
            } else if let Some(value) = values.next() {
                given.push((param.local, self.expr(value)));
            }
        }
        let env = std::mem::replace(&mut self.env, Env::Stack);
        let (exits, _) = self.inline_exits(Code::from(function), given, kept);
        self.env = env;
        let mut results = self.meet(exits);
        if let (Some(message), Some(_)) = (message, kept) {
            if let Some(value) = results.pop() {
                self.set_local(message, vec![value]);
            }
        }
        results
    }
}
