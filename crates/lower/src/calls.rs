//! Calls of functions that may refuse, and of functions of a container in an object that a handle names.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fold::Env;
use crate::frame::{Code, Writer};

/// A call taken apart.
type Parts<'p> = (Option<&'p s::Expr>, u32, &'p [s::Expr]);

fn parts(call: &s::Expr) -> Option<Parts<'_>> {
    match &call.kind {
        s::ExprKind::CallOwn { function, args } => Some((None, *function, args)),
        s::ExprKind::CallOn { object, function, args } => Some((Some(object), *function, args)),
        _ => None,
    }
}

impl<'p> Writer<'_, 'p> {
    /// `entry.waiting.pop()`
    pub fn call_on(&mut self, object: &'p s::Expr, function: u32, args: &'p [s::Expr]) -> Vec<r::Value> {
        let Some(layer) = self.layer(self.inst) else { return Vec::new() };
        let function = &layer.functions[function as usize];
        let given = self.given(function, args);
        let outer = self.enter(Some(object));
        let results = self.inline(Code::from(function), given);
        self.place.keyed = outer;
        results
    }

    fn given(&mut self, function: &'p s::Function, args: &'p [s::Expr]) -> Vec<(s::LocalId, Vec<r::Value>)> {
        function.params.iter().zip(args).map(|(param, arg)| (param.local, self.expr(arg))).collect()
    }

    /// Makes the object that a handle names the one at hand; the answer is the one that was.
    fn enter(&mut self, object: Option<&'p s::Expr>) -> Option<(s::ObjectId, r::Value)> {
        let outer = self.place.keyed;
        if let Some(object) = object {
            if let s::Type::Object(class) = object.ty {
                let handle = self.one(object);
                self.place.keyed = Some((class, handle));
            }
        }
        outer
    }

    /// A call, and a block for either end. Where it is refused, messages are back under the names they were given by.
    pub fn if_done(
        &mut self,
        call: &'p s::Expr,
        local: Option<s::LocalId>,
        (then, otherwise): (&'p [s::Stmt], &'p [s::Stmt]),
    ) {
        let (Some(layer), Some((object, function, args))) = (self.layer(self.inst), parts(call)) else { return };
        let function = &layer.functions[function as usize];
        let given = self.given(function, args);
        let names: Vec<s::LocalId> = args
            .iter()
            .filter_map(|arg| if let s::ExprKind::Give(local) = arg.kind { Some(local) } else { None })
            .collect();
        let outer = self.enter(object);
        let (done, mut refused) = self.inline_ends(Code::from(function), given, None);
        self.place.keyed = outer;
        let mut ends = Vec::new();
        if let Some(values) = self.join("done", done) {
            if let Some(local) = local {
                self.set_local(local, values);
            }
            self.block(then);
            ends.extend(self.exit(Vec::new()));
        }
        for exit in &mut refused {
            let most = names.iter().map(|local| local.index() + 1).max().unwrap_or(0);
            exit.locals.resize(exit.locals.len().max(most), None);
            for (local, value) in names.iter().zip(std::mem::take(&mut exit.results)) {
                exit.locals[local.index()] = Some(vec![value]);
            }
        }
        if self.join("refused", refused).is_some() {
            self.block(otherwise);
            ends.extend(self.exit(Vec::new()));
        }
        self.join("after", ends);
    }

    /// A call of a function in C, or its model in place.
    pub fn native(
        &mut self,
        function: s::FunctionId,
        args: &'p [s::Expr],
        message: Option<s::LocalId>,
        ty: s::Type,
    ) -> Vec<r::Value> {
        let program = self.program;
        let function = &program.functions[function.index()];
        let Some(native) = &function.native else { return Vec::new() };
        if self.options.models {
            return self.model(function, args, message);
        }
        let args = args.iter().flat_map(|arg| self.expr(arg)).collect();
        let result = (ty != s::Type::Unit).then(|| self.scalar(ty));
        let held = message.map(|message| self.of_local(message));
        let symbol = function.name.text.clone();
        let kind = r::OpKind::Native { symbol, grows: native.grows, args, message: held, result };
        let mut results = self.op(kind);
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
        let (ends, _) = self.inline_ends(Code::from(function), given, kept);
        self.env = env;
        let mut results = self.join("back", ends).unwrap_or_default();
        if let (Some(message), Some(_)) = (message, kept) {
            if let Some(value) = results.pop() {
                self.set_local(message, vec![value]);
            }
        }
        results
    }

    /// Leaves the function at hand with its messages given back.
    pub fn refuse(&mut self) {
        let messages = self.refusals.last().map_or(Vec::new(), |(messages, _)| messages.clone());
        let values = messages.into_iter().map(|local| self.of_local(local)).collect();
        if let Some(exit) = self.exit(values) {
            if let Some((_, refused)) = self.refusals.last_mut() {
                refused.push(exit);
            }
        }
    }
}
