//! One body under construction: what its locals are now, whom it runs for, and where its branches meet.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use mokume_reaction::{
    BlockId, BodyBuilder, ClassId, OpKind, Operation, ReasonId, SourceId, Target, Terminator, Type, Value,
};
use mokume_semantics::program::{self as s, Expr, Function, Handler, Local, LocalId, ObjectId};

use crate::fold::{fold_one, Env};
use crate::lowering::{Info, Lowering};

/// A local's scalars; none when it is not (or no longer) there.
pub type Locals = Vec<Option<Vec<Value>>>;

/// The end of a branch that goes on elsewhere.
pub struct Exit {
    pub block: BlockId,
    pub locals: Locals,
    pub results: Vec<Value>,
}

/// What the code at hand runs for.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The object that the handler belongs to.
    pub object: Option<Value>,
    pub class: Option<ClassId>,
    pub session: Option<Value>,
    pub lower: Option<Value>,
    pub point: Option<Value>,
    pub keyed: Option<(ObjectId, Value)>,
    /// The flow at hand, at the top of the layer (of a worker: at either side).
    pub flow: Option<Vec<Value>>,
    /// The flow below, of a router or endpoint.
    pub bottom: Option<Vec<Value>>,
    /// The reference up, or down, may be null here.
    pub unsure_up: bool,
    pub unsure_down: bool,
    /// The lower session is not there yet: what is below is asked for by flow.
    pub opening: bool,
    /// Who registers as a listener, where there are several.
    pub registering: Option<usize>,
    pub pass: Pass,
    /// What was given to `open` for the layers below.
    pub given: Vec<(crate::given::Given, Vec<Value>)>,
}

impl Place {
    /// The session below can be asked.
    pub fn opening_is_over(&self) -> bool {
        !self.opening
    }
}

/// What `pass` does.
#[derive(Clone, Debug, Default)]
pub enum Pass {
    #[default]
    Nothing,
    Send(LocalId),
    Deliver(LocalId),
    Open,
    Opened,
    Accepted,
    Failed(Value),
    /// The reason, and the quote's local.
    FailedQuoting(Value, LocalId),
    Close,
    Abort,
    Closed,
    /// `listen`, `bind`, `unlisten` with the pattern.
    Register(Registration, Vec<Value>),
    Custom {
        name: Rc<str>,
        down: bool,
        args: Vec<LocalId>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Register {
    Listen,
    Bind,
    Unlisten,
}

impl Register {
    pub fn name(self) -> &'static str {
        match self {
            Register::Listen => "listen",
            Register::Bind => "bind",
            Register::Unlisten => "unlisten",
        }
    }
}

/// Which components a pattern has: those of the local end, or all, where something of the remote end is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ends {
    Local,
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Registration {
    pub how: Register,
    pub ends: Ends,
}

impl Registration {
    /// `listen`, `listen_from`.
    pub fn name(self) -> String {
        match self.ends {
            Ends::Local => self.how.name().to_owned(),
            Ends::Both => format!("{}_from", self.how.name()),
        }
    }
}

/// One body at work: the code so far, whom it runs for, and, by [`Deref`], the stack that it is a part of.
pub struct Writer<'x, 'p> {
    pub lowering: &'x mut Lowering<'p>,
    pub inst: usize,
    pub b: BodyBuilder,
    pub locals: Locals,
    pub decls: &'p [Local],
    pub env: Env<'p>,
    pub place: Place,
    /// Of functions being inlined, innermost last.
    pub returns: Vec<Vec<Exit>>,
    /// Of the same: their parameters that are messages, and where they refuse.
    pub refusals: Vec<(Vec<LocalId>, Vec<Exit>)>,
    live: bool,
}

impl<'p> Deref for Writer<'_, 'p> {
    type Target = Lowering<'p>;

    fn deref(&self) -> &Lowering<'p> {
        self.lowering
    }
}

impl DerefMut for Writer<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.lowering
    }
}

impl<'x, 'p> Writer<'x, 'p> {
    pub fn new(lowering: &'x mut Lowering<'p>, inst: usize, env: Env<'p>, params: &[(String, Type)]) -> Self {
        Writer {
            lowering,
            inst,
            b: BodyBuilder::new(params),
            locals: Vec::new(),
            decls: &[],
            env,
            place: Place::default(),
            returns: Vec::new(),
            refusals: Vec::new(),
            live: true,
        }
    }

    /// A condition that the arguments of the layer decide.
    pub fn known(&self, condition: &Expr) -> Option<bool> {
        fold_one(self.program, &self.env, condition).map(|value| value != 0)
    }

    // -- the questions of `Lowering`, for the instance at work

    pub fn info(&self) -> Rc<Info> {
        self.lowering.info(self.inst)
    }

    pub fn flat(&mut self, ty: s::Type) -> Vec<(String, Type)> {
        self.lowering.flat(self.inst, ty)
    }

    pub fn scalar(&mut self, ty: s::Type) -> Type {
        self.lowering.scalar(self.inst, ty)
    }

    pub fn reason(&mut self, name: &str) -> ReasonId {
        self.lowering.reason(self.inst, name)
    }

    pub fn told_reason(&mut self, name: &str) -> ReasonId {
        self.lowering.told_reason(self.inst, name)
    }

    /// An error at the layer's name in the stack.
    pub fn error_here(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        let span = self.inst(self.inst).span;
        self.error(code, message, span, help);
    }

    pub fn params(&self) -> Vec<Value> {
        self.b.params(BlockId(0)).to_vec()
    }

    /// Whether operations can still be added here.
    pub fn live(&self) -> bool {
        self.live && self.b.current().is_some()
    }

    pub fn select(&mut self, block: BlockId) {
        self.b.select(block);
        self.live = true;
    }

    pub fn end(&mut self, end: Terminator) {
        if self.live() {
            self.b.end(end);
        }
        self.live = false;
    }

    pub fn jump(&mut self, block: BlockId, args: impl Into<Vec<Value>>) {
        self.end(Terminator::Jump { to: Target { block, args: args.into() } });
    }

    pub fn source(&mut self, source: Option<SourceId>) {
        self.b.set_source(source);
    }

    pub fn op(&mut self, kind: OpKind) -> Vec<Value> {
        let borrowed = kind.borrowed();
        let operands = kind.operands();
        let results = self.b.op(&self.lowering.a, kind);
        for value in operands {
            if Some(value) != borrowed && self.b.type_of(value) == Type::Msg {
                self.forget(value);
            }
        }
        results
    }

    pub fn value(&mut self, kind: OpKind) -> Value {
        self.op(kind)[0]
    }

    /// A message that was given away is nobody's local any more.
    pub fn forget(&mut self, message: Value) {
        for slot in &mut self.locals {
            if slot.as_deref() == Some(&[message]) {
                *slot = None;
            }
        }
    }

    pub fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.b.constant(&self.lowering.a, ty, value)
    }

    pub fn local(&self, local: LocalId) -> Vec<Value> {
        self.locals.get(local.index()).cloned().flatten().unwrap_or_default()
    }

    /// A message, or another local of one value.
    pub fn of_local(&self, local: LocalId) -> Value {
        self.local(local).first().copied().unwrap_or(Value(0))
    }

    pub fn set_local(&mut self, local: LocalId, values: Vec<Value>) {
        if self.locals.len() <= local.index() {
            self.locals.resize(local.index() + 1, None);
        }
        if let ([value], Some(decl)) = (values.as_slice(), self.decls.get(local.index())) {
            if self.b.body().values[value.index()].name.is_empty() {
                self.b.set_name(*value, decl.name.text.clone());
            }
        }
        self.locals[local.index()] = Some(values);
    }

    /// Leaves the current block open: what follows is decided at a join.
    pub fn exit(&mut self, results: Vec<Value>) -> Option<Exit> {
        let block = self.b.current().filter(|_| self.live)?;
        self.live = false;
        Some(Exit { block, locals: self.locals.clone(), results })
    }

    /// Brings branches together. Locals that differ become block parameters; the answer is the results' values there.
    /// `None`, and dead code behind it, if no branch arrives.
    pub fn join(&mut self, label: &str, exits: Vec<Exit>) -> Option<Vec<Value>> {
        if exits.len() < 2 {
            let exit = exits.into_iter().next()?;
            self.select(exit.block);
            self.locals = exit.locals;
            return Some(exit.results);
        }
        let slots = exits.iter().map(|exit| exit.locals.len()).max().unwrap_or(0);
        let local = |exit: &Exit, slot: usize| exit.locals.get(slot).cloned().flatten();
        let mut merged: Locals = Vec::new();
        let mut differing = Vec::new();
        for slot in 0..slots {
            let first = local(&exits[0], slot);
            let everywhere = exits.iter().all(|exit| local(exit, slot).is_some());
            if exits.iter().all(|exit| local(exit, slot) == first) || !everywhere {
                merged.push(first.filter(|_| everywhere));
            } else {
                differing.push(slot);
                merged.push(first);
            }
        }
        let mut params = Vec::new();
        for slot in &differing {
            let name = self.decls.get(*slot).map_or(String::new(), |decl| decl.name.text.clone());
            for value in merged[*slot].iter().flatten() {
                params.push((name.clone(), self.b.type_of(*value)));
            }
        }
        for value in &exits[0].results {
            params.push((String::new(), self.b.type_of(*value)));
        }
        let block = self.b.block(label, &params);
        let results = exits[0].results.len();
        for exit in &exits {
            let mut args: Vec<Value> =
                differing.iter().flat_map(|slot| local(exit, *slot).unwrap_or_default()).collect();
            args.extend(&exit.results);
            self.select(exit.block);
            self.jump(block, args);
        }
        let values = self.b.params(block).to_vec();
        let mut at = 0;
        for slot in differing {
            let count = merged[slot].as_ref().map_or(0, Vec::len);
            merged[slot] = Some(values[at..at + count].to_vec());
            at += count;
        }
        self.select(block);
        self.locals = merged;
        Some(values[values.len() - results..].to_vec())
    }

    /// A branch of two blocks; the locals are those of here in both.
    pub fn branch(&mut self, condition: Value, likely: Option<f32>, then: &str, otherwise: &str) -> (BlockId, BlockId) {
        let (then, otherwise) = (self.b.block(then, &[]), self.b.block(otherwise, &[]));
        let target = |block| Target { block, args: Vec::new() };
        self.end(Terminator::Branch { condition, then: target(then), otherwise: target(otherwise), likely });
        (then, otherwise)
    }
}

/// The code of a handler or of a function.
#[derive(Clone, Copy)]
pub struct Code<'p> {
    pub decls: &'p [Local],
    pub body: &'p [mokume_semantics::program::Stmt],
}

impl<'p> From<&'p Handler> for Code<'p> {
    fn from(handler: &'p Handler) -> Self {
        Code { decls: &handler.locals, body: &handler.body }
    }
}

impl<'p> From<&'p Function> for Code<'p> {
    fn from(function: &'p Function) -> Self {
        Code { decls: &function.locals, body: &function.body }
    }
}

pub fn to(block: BlockId) -> Target {
    Target { block, args: Vec::new() }
}
