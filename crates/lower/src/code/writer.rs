//! The body under construction: its code so far, its locals, and what it runs for.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

use mokume_base::{Diagnostic, Span};
use mokume_reaction::{
    BlockId, Body, BodyBuilder, ClassId, Names, OpKind, Operation, ReasonId, SourceId, Terminator, Type, Value,
};
use mokume_semantics::program::{self as s, Expr, Function, Handler, Local, LocalId, ObjectId};

use super::around::Around;
use super::facts::Facts;
use super::noted::Noted;
use crate::codes::LOST_VALUE;
use crate::constants::{fold_one, Env};
use crate::plan::Component;
use crate::stack::{Given, Info, Lowering, On, Purpose, Registration};

/// The parts of each local ([`crate::parts`]); `None` before it is bound, and after a message was given away.
pub type Locals = Vec<Option<Vec<Value>>>;

/// The scalars of a flow.
pub type Flow = Rc<[Value]>;

/// What the current code runs for.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The object of the handler.
    pub object: Option<Value>,
    pub session: Option<Value>,
    pub lower: Option<Value>,
    pub point: Option<Value>,
    pub keyed: Option<(ObjectId, Value)>,
    /// The current flow, at the top of the layer (for a worker: of either side).
    pub flow: Option<Flow>,
    /// The flow below, for a router or endpoint.
    pub bottom: Option<Flow>,
    /// The session below does not exist yet: values below are read by flow.
    pub opening: bool,
    /// The session ends with this instant: the layer below has ended it.
    pub over: bool,
    /// Which user registers as a listener, if there are several.
    pub registering: Option<usize>,
    pub pass: Pass,
    /// For an arriving message: the variant of its header, and the fields' values.
    pub arrived: Option<(usize, Rc<[Value]>)>,
    /// The values passed to `open` for the layers below.
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
    /// `listen`, `bind` or `unlisten`, with the pattern.
    Register(Registration, Flow),
    Custom {
        name: Rc<str>,
        down: bool,
        args: Rc<[LocalId]>,
    },
}

/// Where a branch leaves, to join others.
pub struct Exit {
    pub block: BlockId,
    pub locals: Locals,
    pub results: Vec<Value>,
    /// As [`Facts::never`].
    pub never: bool,
}

/// Branches that are to join.
#[derive(Default)]
pub struct Exits(pub Vec<Exit>);

/// The current body: its code so far, what it runs for, and, by [`Deref`], the stack that it belongs to.
///
/// Unreachable code is written to an unreachable block, and removed at the end.
pub struct Writer<'x, 'p> {
    pub lowering: &'x mut Lowering<'p>,
    pub around: &'static dyn Around,
    pub inst: usize,
    pub b: BodyBuilder,
    pub locals: Locals,
    pub decls: &'p [Local],
    pub env: Env<'p>,
    pub runs: Runs,
    /// The return exits of the functions being inlined, innermost last.
    pub returns: Vec<Exits>,
    /// For the same functions: their parameters that are messages, and their refusal exits.
    pub refusals: Vec<(Vec<LocalId>, Exits)>,
    /// The body is that of a published value: it has no effects, and runs no procedures.
    pub only_reads: bool,
    /// An earlier step may have begun a session, above or below: the receivers of later events are found when they are
    /// carried out (docs/semantics.md, O9).
    pub begun: bool,
    /// The current statement; `None` in code of the shape.
    pub at: Option<Span>,
    pub noted: Noted,
    /// The counters of loops that begin at a known number, with that number.
    pub counters: Vec<(Value, u64)>,
    /// What the arguments of the layer, and constants, say here.
    pub facts: Facts,
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
    /// An empty body for an instance, with these parameters of the entry. It has no locals and no object to run for
    /// yet.
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
            noted: Noted::default(),
            counters: Vec::new(),
            facts: Facts::default(),
            live: true,
        }
    }

    /// The finished body. An open end returns.
    pub fn finish(mut self) -> Body {
        self.end(Terminator::Return);
        let mut body = self.b.finish();
        let renamed = mokume_analyse::straighten(&mut body);
        self.noted.put_back(&mut body, &renamed);
        body
    }

    /// The value of a condition that the arguments of the layer decide.
    pub fn known(&self, condition: &Expr) -> Option<bool> {
        fold_one(self.program, &self.env, condition).map(|value| value != 0)
    }

    // -- look-ups of `Lowering` for the current instance

    /// What is known so far of the current instance.
    pub fn info(&self) -> Rc<Info> {
        self.lowering.info(self.inst)
    }

    /// As [`Lowering::part_types`], for the current instance.
    pub fn part_types(&mut self, ty: s::Type) -> Vec<Type> {
        self.lowering.part_types(self.inst, ty)
    }

    /// As [`Lowering::border`], for the current instance.
    pub fn border(&mut self, ty: s::Type) -> Vec<(String, Type)> {
        self.lowering.border(self.inst, ty)
    }

    /// As [`Lowering::border_types`], for the current instance.
    pub fn border_types(&mut self, ty: s::Type) -> Vec<Type> {
        self.lowering.border_types(self.inst, ty)
    }

    /// The flow's scalars as named parameters, as [`Lowering::flow_params`].
    pub fn flow_params(&mut self, components: &[Component]) -> Vec<(String, Type)> {
        self.lowering.flow_params(components)
    }

    /// As [`Lowering::scalar`], for the current instance.
    pub fn scalar(&mut self, ty: s::Type) -> Type {
        self.lowering.scalar(self.inst, ty)
    }

    // In unreachable code, nothing is requested and nothing is reported.

    /// The current instance's reason with this name, added if it is new.
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
            let layer = self.inst(self.inst).span;
            self.lowering.error_of(layer, (code, &message.into()), span, help);
        }
    }

    /// Warns of something that has no effect.
    pub fn warn(&mut self, code: &'static str, message: &str, span: Option<Span>, help: &str) {
        let diagnostic =
            Diagnostic::warning(mokume_base::Code(code), message).at(span.unwrap_or(self.stack.name.span), "here");
        let diagnostic = diagnostic.help(help);
        if self.live && !self.lowering.diagnostics.contains(&diagnostic) {
            self.lowering.diagnostics.push(diagnostic);
        }
    }

    /// Reports an error at the layer's name in the stack.
    pub fn error_here(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        self.error(code, message, self.inst(self.inst).span, help);
    }

    /// Reports an error at the current statement, if there is one; else as [`Writer::error_here`].
    pub fn error_said(&mut self, code: &'static str, message: impl Into<String>, help: &str) {
        self.error(code, message, self.at.or(self.inst(self.inst).span), help);
    }

    /// Requests the handler of an event.
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

    /// Whether the current position is reachable.
    pub fn live(&self) -> bool {
        self.live
    }

    /// Continues in a block; `live`: it is reachable.
    pub fn select(&mut self, block: BlockId, live: bool) {
        self.noted.goes_on_elsewhere();
        self.b.select(block);
        self.live = live;
    }

    /// Leaves the current block for somebody else to end; what follows is unreachable. `None` if it was unreachable
    /// already.
    pub fn leave(&mut self) -> Option<BlockId> {
        let block = self.b.current().filter(|_| self.live);
        self.b.unselect();
        self.live = false;
        block
    }

    /// Ends the current block. What follows is unreachable until a block is selected.
    pub fn end(&mut self, terminator: Terminator) {
        if terminator.targets().len() > 1 {
            self.note_names();
        }
        self.b.end(terminator);
        self.live = false;
    }

    /// Ends the current block with a jump.
    pub fn jump(&mut self, block: BlockId, args: impl Into<Vec<Value>>) {
        self.end(Terminator::Jump { to: mokume_reaction::to(block, args) });
    }

    /// Sets the source of the next operations.
    pub fn source(&mut self, source: Option<SourceId>) {
        if source.is_some() {
            self.names_at(source);
        }
        self.b.set_source(source.map(|_| self.noted.newest_number()));
    }

    /// The same for a statement that begins.
    pub fn statement_begins(&mut self, source: Option<SourceId>) {
        self.source(source);
        if source.is_some() {
            let names = self.names_at(source);
            self.noted.statement_begins(names);
        }
    }

    /// The names that are bound here.
    pub fn bound_names(&mut self) -> Arc<Names> {
        if let Some(fixed) = &self.noted.fixed {
            return Arc::clone(fixed);
        }
        let source = self.b.source().and_then(|note| self.noted.noted(note).0.source);
        self.names_at(source)
    }

    /// The names that are bound here, in a note, which is the newest.
    fn names_at(&mut self, source: Option<SourceId>) -> Arc<Names> {
        if let Some(names) = self.noted.newest(source, (&self.locals, self.decls)) {
            return Arc::clone(names);
        }
        let mut noted = std::mem::take(&mut self.noted);
        let locals = std::mem::take(&mut self.locals);
        let names = noted.note(source, (&locals, self.decls), &mut |local| {
            let is_flow = matches!(local.ty, s::Type::Flow(_));
            is_flow.then(|| self.border(local.ty).into_iter().map(|(name, _)| name[1..].to_string()).collect())
        });
        let names = Arc::clone(names);
        (self.noted, self.locals) = (noted, locals);
        names
    }

    /// Notes the names for the next operation, if they are others than at the last one.
    pub fn note_names(&mut self) {
        if self.noted.fixed.is_some() {
            return;
        }
        let (Some(note), marked) = self.b.pause() else { return };
        let (known, begun) = self.noted.noted(note);
        let (known, was_begun) = (Arc::clone(known), !begun.is_empty());
        let names = self.bound_names();
        let before = self.noted.newest_number();
        self.noted.comes();
        if was_begun || before != self.noted.newest_number() || !Arc::ptr_eq(&known, &names) {
            self.b.resume((Some(self.noted.newest_number()), marked));
        }
    }

    /// The next operations have the names that are bound here, until [`Noted::fixed`] gets back what this returns.
    pub fn fix_names(&mut self) -> Option<Arc<Names>> {
        self.note_names();
        let names = self.bound_names();
        self.noted.fixed.replace(names)
    }

    /// Adds an operation, and returns its results. Messages that it uses up are removed from the locals.
    pub fn op(&mut self, kind: OpKind) -> Vec<Value> {
        if self.b.current().is_none() {
            let nowhere = self.b.block("nowhere", &[]);
            self.b.select(nowhere);
        }
        self.note_names();
        let given = self.used_up(&kind);
        let number = self.number_of(&kind);
        let results = self.b.op(&self.lowering.a, kind);
        self.facts.note(results.first().copied(), number);
        given.into_iter().for_each(|message| self.forget(message));
        results
    }

    /// Adds an operation with results; returns the first.
    pub fn value(&mut self, kind: OpKind) -> Value {
        self.op(kind)[0]
    }

    /// The messages that an operation uses up.
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

    /// A number of this type, which it must fit.
    pub fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.value(OpKind::Const { ty, value })
    }

    /// A boolean constant.
    pub fn truth(&mut self, value: bool) -> Value {
        self.constant(Type::Bool, u64::from(value))
    }

    /// A default value of a type: zero, null, an empty message.
    pub fn zero(&mut self, ty: Type) -> Value {
        match ty {
            Type::Msg => self.value(OpKind::NewMessage { octets: Vec::new() }),
            Type::Ref(class) => self.value(OpKind::Null { class }),
            Type::Array(..) => self.value(OpKind::Pack { ty, values: Vec::new() }),
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => self.constant(ty, 0),
        }
    }

    /// The class of a reference. Panics for any other value, which is a mistake of the caller.
    pub fn class_of(&self, object: Value) -> ClassId {
        match self.b.type_of(object) {
            Type::Ref(class) => class,
            other => unreachable!("{other:?} is no object"),
        }
    }

    // -- locals

    /// Removes a message that was given away from the locals.
    pub fn forget(&mut self, message: Value) {
        for slot in &mut self.locals {
            if slot.as_deref() == Some(&[message]) {
                *slot = None;
            }
        }
    }

    /// The parts of a local. The checks ensure that it has a value here.
    pub fn local(&mut self, local: LocalId) -> Vec<Value> {
        if let Some(Some(values)) = self.locals.get(local.index()) {
            return values.clone();
        }
        let Some(decl) = self.decls.get(local.index()) else { return Vec::new() };
        let text = format!("the compiler lost the value of `{}`", decl.name.text);
        self.error(LOST_VALUE, text, Some(decl.name.span), "this is a fault of the compiler, not of the program");
        let types = self.part_types(decl.ty);
        types.into_iter().map(|ty| self.zero(ty)).collect()
    }

    /// The value of a message, or of another local of one value.
    pub fn of_local(&mut self, local: LocalId) -> Value {
        match self.local(local).first() {
            Some(value) => *value,
            None => self.zero(Type::Bool),
        }
    }

    /// Sets the parts of a local, in the order of its type; a single value without a name gets the local's name.
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
