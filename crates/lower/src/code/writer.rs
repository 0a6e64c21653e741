//! One body under construction: the code so far, what its locals are, and whom it runs for.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use mokume_base::Span;
use mokume_reaction::{
    BlockId, Body, BodyBuilder, ClassId, OpKind, Operation, ReasonId, SourceId, Terminator, Type, Value,
};
use mokume_semantics::program::{self as s, Expr, Function, Handler, Local, LocalId, ObjectId};

use super::around::Around;
use crate::constants::{fold_one, Env};
use crate::plan::Component;
use crate::stack::{Given, Info, Lowering, On, Purpose, Registration};

/// A local's parts ([`crate::parts`]); none when it is not (or no longer) there.
pub type Locals = Vec<Option<Vec<Value>>>;

/// The scalars of a flow.
pub type Flow = Rc<[Value]>;

/// What the code at hand runs for.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The object that the handler belongs to.
    pub object: Option<Value>,
    pub session: Option<Value>,
    pub lower: Option<Value>,
    pub point: Option<Value>,
    pub keyed: Option<(ObjectId, Value)>,
    /// The flow at hand, at the top of the layer (of a worker: at either side).
    pub flow: Option<Flow>,
    /// The flow below, of a router or endpoint.
    pub bottom: Option<Flow>,
    /// The lower session is not there yet: what is below is asked for by flow.
    pub opening: bool,
    /// The session ends with this instant: the layer below has ended it.
    pub over: bool,
    /// Who registers as a listener, where there are several.
    pub registering: Option<usize>,
    pub pass: Pass,
    /// Of a message that arrives: the variant of its header, and the fields' values.
    pub arrived: Option<(usize, Rc<[Value]>)>,
    /// What was given to `open` for the layers below.
    pub given: Rc<Vec<(Given, Vec<Value>)>>,
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
    Register(Registration, Flow),
    Custom {
        name: Rc<str>,
        down: bool,
        args: Rc<[LocalId]>,
    },
}

/// Where a path leaves, to go on where others do.
pub struct Exit {
    pub block: BlockId,
    pub locals: Locals,
    pub results: Vec<Value>,
}

/// Paths that are to meet.
#[derive(Default)]
pub struct Exits(pub Vec<Exit>);

/// One body at work: the code so far, whom it runs for, and, by [`Deref`], the stack that it is a part of.
///
/// Code behind a terminator that nobody passes is written to a block that nobody enters, and goes with it at last.
pub struct Writer<'x, 'p> {
    pub lowering: &'x mut Lowering<'p>,
    pub around: &'static dyn Around,
    pub inst: usize,
    pub b: BodyBuilder,
    pub locals: Locals,
    pub decls: &'p [Local],
    pub env: Env<'p>,
    pub runs: Runs,
    /// Of functions being inlined, innermost last.
    pub returns: Vec<Exits>,
    /// Of the same: their parameters that are messages, and where they refuse.
    pub refusals: Vec<(Vec<LocalId>, Exits)>,
    /// The body is of a published value: it has no effects, and runs no procedures.
    pub only_reads: bool,
    /// Something before may have brought about a session, above or below: whom an event is for is found when it is carried out
    /// (docs/semantics.md, O9).
    pub begun: bool,
    /// The statement at work; none in what the shape does by itself.
    pub at: Option<Span>,
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
    /// An empty body for an instance, whose entry has these parameters. Nobody's locals, and no object to run for, so
    /// far.
    pub fn new(
        lowering: &'x mut Lowering<'p>,
        around: &'static dyn Around,
        inst: usize,
        params: &[(String, Type)],
    ) -> Self {
        let env = lowering.inst(inst).env.clone();
        Writer {
            lowering,
            around,
            inst,
            b: BodyBuilder::new(params),
            locals: Vec::new(),
            decls: &[],
            env,
            runs: Runs::default(),
            returns: Vec::new(),
            refusals: Vec::new(),
            only_reads: false,
            begun: false,
            at: None,
            live: true,
        }
    }

    /// The body. A way that has not ended returns.
    pub fn finish(mut self) -> Body {
        self.end(Terminator::Return);
        let mut body = self.b.finish();
        mokume_analyse::straighten(&mut body);
        body
    }

    /// A condition that the arguments of the layer decide.
    pub fn known(&self, condition: &Expr) -> Option<bool> {
        fold_one(self.program, &self.env, condition).map(|value| value != 0)
    }

    // -- the questions of `Lowering`, for the instance at work

    /// What the instance at work became, as far as is known now.
    pub fn info(&self) -> Rc<Info> {
        self.lowering.info(self.inst)
    }

    /// As [`Lowering::part_types`], in the instance at work.
    pub fn part_types(&mut self, ty: s::Type) -> Vec<Type> {
        self.lowering.part_types(self.inst, ty)
    }

    /// As [`Lowering::border`], in the instance at work.
    pub fn border(&mut self, ty: s::Type) -> Vec<(String, Type)> {
        self.lowering.border(self.inst, ty)
    }

    /// As [`Lowering::border_types`], in the instance at work.
    pub fn border_types(&mut self, ty: s::Type) -> Vec<Type> {
        self.lowering.border_types(self.inst, ty)
    }

    /// The flow's scalars as named parameters, as [`Lowering::flow_params`].
    pub fn flow_params(&mut self, components: &[Component]) -> Vec<(String, Type)> {
        self.lowering.flow_params(components)
    }

    /// As [`Lowering::scalar`], in the instance at work.
    pub fn scalar(&mut self, ty: s::Type) -> Type {
        self.lowering.scalar(self.inst, ty)
    }

    // Where nobody comes by, nothing is asked for and nothing is wrong.

    /// The reason of this name of the instance at work, entered where it is new.
    pub fn reason(&mut self, name: &str) -> ReasonId {
        match self.live {
            true => self.lowering.reason(self.inst, name),
            false => ReasonId(0),
        }
    }

    /// A reason that other layers may compare, as [`Lowering::told_reason`].
    pub fn told_reason(&mut self, name: &str) -> ReasonId {
        match self.live {
            true => self.lowering.told_reason(self.inst, name),
            false => ReasonId(0),
        }
    }

    /// As [`Lowering::error`].
    pub fn error(&mut self, code: &'static str, message: impl Into<String>, span: Option<Span>, help: &str) {
        if self.live {
            self.lowering.error(code, message, span, help);
        }
    }

    /// An error at the layer's name in the stack.
    pub fn error_here(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        self.error(code, message, self.inst(self.inst).span, help);
    }

    /// An error at the statement that is written, where there is one; else as [`Writer::error_here`].
    pub fn error_said(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        self.error(code, message, self.at.or(self.inst(self.inst).span), help);
    }

    /// Asks for the handler of an event.
    pub fn event(&mut self, inst: usize, on: On, name: &str, params: Vec<(String, Type)>, purpose: Purpose) {
        if self.live {
            self.lowering.event(inst, on, name, params, purpose);
        }
    }

    // -- the code

    /// The parameters of the entry: the object first, then those of the event.
    pub fn params(&self) -> Vec<Value> {
        self.b.params(BlockId(0)).to_vec()
    }

    /// Whether anybody comes by here.
    pub fn live(&self) -> bool {
        self.live
    }

    /// The code goes on in a block; `live`: somebody comes by there.
    pub fn select(&mut self, block: BlockId, live: bool) {
        self.b.select(block);
        self.live = live;
    }

    /// The block at work, which somebody else is to end; nobody comes by behind it. None where nobody came by before.
    pub fn leave(&mut self) -> Option<BlockId> {
        let block = self.b.current().filter(|_| self.live);
        self.b.unselect();
        self.live = false;
        block
    }

    /// Ends the block at work. What is written next is reached by nobody, until a block is selected.
    pub fn end(&mut self, terminator: Terminator) {
        self.b.end(terminator);
        self.live = false;
    }

    /// Ends the block at work by going on in another one, with its arguments.
    pub fn jump(&mut self, block: BlockId, args: impl Into<Vec<Value>>) {
        self.end(Terminator::Jump { to: mokume_reaction::to(block, args) });
    }

    /// Where in the program the next operations come from.
    pub fn source(&mut self, source: Option<SourceId>) {
        self.b.set_source(source);
    }

    /// Adds an operation, and gives its results. Messages that it takes for good are no local's value any more.
    pub fn op(&mut self, kind: OpKind) -> Vec<Value> {
        if self.b.current().is_none() {
            let nowhere = self.b.block("nowhere", &[]);
            self.b.select(nowhere);
        }
        let given = self.used_up(&kind);
        let results = self.b.op(&self.lowering.a, kind);
        given.into_iter().for_each(|message| self.forget(message));
        results
    }

    /// Adds an operation that has a result; the first of them.
    pub fn value(&mut self, kind: OpKind) -> Value {
        self.op(kind)[0]
    }

    /// The messages that an operation takes for good.
    pub fn used_up(&self, kind: &dyn Operation) -> Vec<Value> {
        let borrowed = kind.borrowed();
        let mut all = Vec::new();
        kind.for_each_operand(&mut |value| {
            if Some(value) != borrowed && self.b.type_of(value) == Type::Msg {
                all.push(value);
            }
        });
        all
    }

    /// A number of that type, which must fit it.
    pub fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.value(OpKind::Const { ty, value })
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> Value {
        self.constant(Type::Bool, u64::from(value))
    }

    /// What stands for a value of a type where there is none: zero, nobody, a message of no octets.
    pub fn zero(&mut self, ty: Type) -> Value {
        match ty {
            Type::Msg => self.value(OpKind::NewMessage { octets: Vec::new() }),
            Type::Ref(class) => self.value(OpKind::Null { class }),
            Type::Array(..) => self.value(OpKind::Pack { ty, values: Vec::new() }),
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => self.constant(ty, 0),
        }
    }

    /// The class of a reference. Panics at any other value, which is a fault of the caller.
    pub fn class_of(&self, object: Value) -> ClassId {
        match self.b.type_of(object) {
            Type::Ref(class) => class,
            other => unreachable!("{other:?} is no object"),
        }
    }

    // -- locals

    /// A message that was given away is nobody's local any more.
    pub fn forget(&mut self, message: Value) {
        for slot in &mut self.locals {
            if slot.as_deref() == Some(&[message]) {
                *slot = None;
            }
        }
    }

    /// The parts of a local. The checks let no code through that names one where it has no value.
    pub fn local(&mut self, local: LocalId) -> Vec<Value> {
        if let Some(Some(values)) = self.locals.get(local.index()) {
            return values.clone();
        }
        let Some(decl) = self.decls.get(local.index()) else { return Vec::new() };
        let text = format!("the compiler lost the value of `{}`", decl.name.text);
        self.error("M0735", text, Some(decl.name.span), "this is a fault of the compiler, not of the program");
        let types = self.part_types(decl.ty);
        types.into_iter().map(|ty| self.zero(ty)).collect()
    }

    /// A message, or another local of one value.
    pub fn of_local(&mut self, local: LocalId) -> Value {
        match self.local(local).first() {
            Some(value) => *value,
            None => self.zero(Type::Bool),
        }
    }

    /// Gives a local its scalars, in the order of its type; a single one that has no name yet is named after it.
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
}

/// The code of a handler or of a function.
#[derive(Clone, Copy)]
pub struct Code<'p> {
    pub decls: &'p [Local],
    pub body: &'p [s::Stmt],
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
