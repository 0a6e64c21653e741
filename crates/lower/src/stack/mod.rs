//! The lowering of a stack: the automaton so far, what each instance became, and the requested handlers.
//!
//! Handlers are made on demand, from the ports and timers inwards, so unreachable ones do not exist. Keeps: look-ups
//! here are about the whole stack or one of its instances; no code of a body is written.

mod beginnings;
mod cells;
mod changes;
mod classes;
mod declare;
mod given;
mod info;
mod listeners;
mod members;
mod procedures;
mod published;
mod sessions;
mod sizes;
mod task;

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use mokume_base::{Code, Diagnostic, SourceMap, Span, Thing};
use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::constants::scalars;
use crate::fault::Fault;
use crate::options::Options;
use crate::parts::{parts, Part};
use crate::plan::{Component, Inst, Kind, Plan};
use crate::program::{any_stmt, blocks};

pub use beginnings::{
    decides_opening, may_keep_from_those_above, says_upwards, speaks_down_when_accepted, stays_silent_when_accepted,
};
pub use cells::{joined, plain};
pub use changes::{Of, Watched};
pub use declare::DEVICE_MTU;
pub use info::{
    EndingCells, Given, Giver, HeaderField, Info, KeyPart, Patterns, PlacedField, PointCells, SessionCells, SharedCells,
};
pub use procedures::{Called, Procedure, Standing};
pub use published::{Limit, Publisher, Reading, CREDIT};
pub use task::{Endpoints, On, Purpose, Register, Registration, Task};

/// Grants end at the edges of a stack, and where several layers are above or below, unless a layer handles them.
pub const GRANTS: [&str; 2] = ["grant_sends", "grant_delivers"];

/// The automaton of one stack under construction, and its inputs.
pub struct Lowering<'p> {
    pub program: &'p s::Program,
    pub sources: &'p SourceMap,
    pub stack: &'p s::Stack,
    pub options: &'p Options,
    pub plan: &'p Plan<'p>,
    pub a: r::Automaton,
    pub infos: Vec<Rc<Info>>,
    pub diagnostics: Vec<Diagnostic>,
    /// The places of the layers' handlers that stand in the automaton.
    pub reached: BTreeSet<Span>,
    pub functions: HashMap<(usize, String, Reading), r::FunctionId>,
    /// Whether a function that an instance's layer calls is long enough, and called often enough, to be a procedure.
    pub worth_it: HashMap<(usize, Called), bool>,
    /// By instance: at how many places each function is called.
    pub called_at: HashMap<usize, HashMap<Called, usize>>,
    /// The procedures; `None` for functions that cannot be one.
    pub procedures: HashMap<Standing, Option<Procedure>>,
    pub watched: Vec<Watched>,
    /// The instances whose sessions pass on changes of this name.
    pub handed_on: HashSet<(usize, String)>,
    enums: HashMap<s::EnumId, r::EnumId>,
    attributes: HashMap<s::AttributeId, r::AttributeId>,
    declared: HashSet<(r::ClassId, r::Trigger)>,
    /// Layers of which it was said that no session owns their objects.
    pub without_session: HashSet<usize>,
    /// Cache of whether a layer begins sessions, which every procedure and every loop asks.
    begin: RefCell<HashMap<usize, bool>>,
    tasks: VecDeque<Task>,
    places: HashMap<(u32, u32), r::SourceId>,
}

impl<'p> Lowering<'p> {
    /// An automaton with only a name. Instances get their [`Info`] one by one, in the order of the plan.
    pub fn new(
        program: &'p s::Program,
        sources: &'p SourceMap,
        stack: &'p s::Stack,
        options: &'p Options,
        plan: &'p Plan<'p>,
    ) -> Self {
        let a = r::Automaton { name: stack.name.text.clone(), tick: 1, ..r::Automaton::default() };
        Lowering {
            program,
            sources,
            stack,
            options,
            plan,
            a,
            infos: Vec::new(),
            diagnostics: Vec::new(),
            reached: BTreeSet::new(),
            functions: HashMap::default(),
            worth_it: HashMap::default(),
            called_at: HashMap::default(),
            procedures: HashMap::default(),
            watched: Vec::new(),
            handed_on: HashSet::default(),
            enums: HashMap::default(),
            attributes: HashMap::default(),
            declared: HashSet::default(),
            without_session: HashSet::default(),
            begin: RefCell::default(),
            tasks: VecDeque::new(),
            places: HashMap::default(),
        }
    }

    /// The instance with this number in the plan.
    pub fn inst(&self, inst: usize) -> &'p Inst<'p> {
        &self.plan.insts[inst]
    }

    /// What is known of the instance now; later changes are not visible in it.
    pub fn info(&self, inst: usize) -> Rc<Info> {
        self.infos[inst].clone()
    }

    /// The definition of an instance that is a layer.
    pub fn layer(&self, inst: usize) -> Option<&'p s::Layer> {
        self.inst(inst).layer()
    }

    /// Whether this fault is planted, for tests of tests.
    pub fn faulty(&self, fault: Fault) -> bool {
        self.options.faulty(fault)
    }

    // -- diagnostics and places

    /// Reports an error at a place, or at the stack's name; each only once. An empty `help` means none.
    pub fn error(&mut self, code: &'static str, message: impl Into<String>, span: Option<Span>, help: &str) {
        self.error_of(None, (code, &message.into()), span, help);
    }

    /// The same of a layer that stands there in a stack, which is shown with it. If both are in one file, it is told once for
    /// all stacks; else the stack is at fault, and one report tells it.
    pub fn error_of(
        &mut self,
        layer: Option<Span>,
        (code, message): (&'static str, &str),
        span: Option<Span>,
        help: &str,
    ) {
        let mut diagnostic = Diagnostic::error(Code(code), message);
        let span = span.unwrap_or(self.stack.name.span);
        diagnostic = diagnostic.at(span, "here");
        let elsewhere = layer.into_iter().chain([self.stack.name.span]).find(|used| used.file != span.file);
        if let Some(used) = elsewhere.or(layer).filter(|used| *used != span) {
            let at = if elsewhere.is_some() { used } else { span };
            let place = format!("{code} {message} {} {}", at.file.0, at.start);
            diagnostic = diagnostic.label(used, "of what stands here").lacks(Thing(place));
        }
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The place in the automaton's table of sources; `None` for a span of no file, as in code that the compiler
    /// supplies.
    pub fn place(&mut self, span: Span) -> Option<r::SourceId> {
        if span.file.0 as usize >= self.sources.files().count() {
            return None;
        }
        if let Some(known) = self.places.get(&(span.file.0, span.start)) {
            return Some(*known);
        }
        let (line, column) = self.sources.line_column(span.file, span.start);
        let file = self.sources.file(span.file).name.clone();
        let id = r::SourceId::from(self.a.sources.len());
        self.a.sources.push(r::Source { file, line, column });
        self.places.insert((span.file.0, span.start), id);
        Some(id)
    }

    // -- types

    /// The scalars of a type at a border of this instance, each with the suffix for its name.
    pub fn border(&mut self, inst: usize, ty: s::Type) -> Vec<(String, r::Type)> {
        match ty {
            s::Type::Flow(side) => {
                let named = |(name, ty): (String, r::Type)| (format!("_{name}"), ty);
                self.flow_params(self.inst(inst).flow(side)).into_iter().map(named).collect()
            }
            plain => {
                let parts = scalars(self.program, plain);
                parts.into_iter().map(|(name, ty)| (name, self.scalar(inst, ty))).collect()
            }
        }
    }

    /// The types of [`Self::border`] alone.
    pub fn border_types(&mut self, inst: usize, ty: s::Type) -> Vec<r::Type> {
        self.border(inst, ty).into_iter().map(|(_, ty)| ty).collect()
    }

    /// The parts of a type in this instance's code, each with the suffix for its name ([`crate::parts`]).
    pub fn parts_in_code(&mut self, inst: usize, ty: s::Type) -> Vec<(String, r::Type)> {
        if let s::Type::Flow(_) = ty {
            return self.border(inst, ty);
        }
        let found = parts(self.program, ty).into_iter();
        let part = |part: Part| {
            let ty = self.scalar(inst, part.ty);
            // What vectors can contain, arrays can contain: the checks ensure that.
            let array = part.items.and_then(|items| Some(r::Type::Array(ty.as_item()?, items)));
            (part.name, array.unwrap_or(ty))
        };
        found.map(part).collect()
    }

    /// The types of [`Self::parts_in_code`] alone.
    pub fn part_types(&mut self, inst: usize, ty: s::Type) -> Vec<r::Type> {
        self.parts_in_code(inst, ty).into_iter().map(|(_, ty)| ty).collect()
    }

    /// The form's type for a scalar type of the language; objects are those of this instance.
    pub fn scalar(&mut self, inst: usize, ty: s::Type) -> r::Type {
        match ty {
            s::Type::Object(id) => r::Type::Ref(self.infos[inst].objects[id.index()].class),
            s::Type::Listener => self.infos[inst].classes.point.map_or(r::Type::Bool, r::Type::Ref),
            other => self.plain(other),
        }
    }

    /// The same for a type without objects, which is the same in all instances.
    pub fn plain(&mut self, ty: s::Type) -> r::Type {
        match ty {
            s::Type::Bool => r::Type::Bool,
            s::Type::UInt(bits) => r::Type::U(bits),
            s::Type::Seq(bits) => r::Type::Seq(bits),
            s::Type::Duration | s::Type::Instant | s::Type::Ranks => r::Type::U(64),
            s::Type::Rank => r::Type::U(8),
            s::Type::Enum(id) => self.enumeration(id),
            s::Type::Message => r::Type::Msg,
            s::Type::Reason => r::Type::Reason,
            // Not scalars; a program with one in a scalar's place has errors, and is not lowered.
            s::Type::Object(_) | s::Type::Listener | s::Type::Record(_) | s::Type::Flow(_) => r::Type::Bool,
            s::Type::Unit | s::Type::Unknown => r::Type::Bool,
        }
    }

    fn enumeration(&mut self, id: s::EnumId) -> r::Type {
        let definition = &self.program.enums[id.index()];
        let known = self.enums.get(&id).copied();
        let entered = known.unwrap_or_else(|| {
            let names = definition.names.iter().map(|(name, value)| (name.text.clone(), *value)).collect();
            let name = unlike(&definition.name.text, self.a.enums.iter().map(|known| known.name.as_str()));
            self.a.enums.push(r::Enum { name, width: definition.width, open: definition.open, names });
            r::EnumId::from(self.a.enums.len() - 1)
        });
        self.enums.insert(id, entered);
        r::Type::Enum(entered)
    }

    /// The attribute's number in the automaton, added on first use. A second one of a name has its module's in front.
    pub fn attribute(&mut self, id: s::AttributeId) -> r::AttributeId {
        if let Some(known) = self.attributes.get(&id) {
            return *known;
        }
        let definition = &self.program.attributes[id.index()];
        let ty = self.plain(definition.ty);
        let mut name = definition.name.text.clone();
        if self.a.attributes.iter().any(|known| known.name == name) {
            name = format!("{}.{name}", definition.module);
        }
        let name = unlike(&name, self.a.attributes.iter().map(|known| known.name.as_str()));
        self.a.attributes.push(r::Attribute { name, ty, default: definition.default });
        let entered = r::AttributeId::from(self.a.attributes.len() - 1);
        self.attributes.insert(id, entered);
        entered
    }

    /// The flow's scalars as named parameters.
    pub fn flow_params(&mut self, components: &[Component]) -> Vec<(String, r::Type)> {
        components.iter().map(|c| (c.full_name().replace('.', "_"), self.plain(c.ty))).collect()
    }

    /// The same for the components of a pattern.
    pub fn pattern_params(&mut self, components: &[Component], endpoints: Endpoints) -> Vec<(String, r::Type)> {
        let said: Vec<Component> =
            components.iter().filter(|c| c.is_said(endpoints == Endpoints::Both)).cloned().collect();
        self.flow_params(&said)
    }

    // -- reasons

    /// An instance's own reason with this name, added on first use. It equals no reason of another layer.
    pub fn reason(&mut self, inst: usize, name: &str) -> r::ReasonId {
        let name = format!("{}.{name}", self.inst(inst).name);
        self.a.reason(&name)
    }

    /// A reason as a value, which other layers may compare: standard reasons and those of vocabularies are shared.
    pub fn told_reason(&mut self, inst: usize, name: &str) -> r::ReasonId {
        match self.program.is_shared_reason(name) {
            true => self.a.reason(name),
            false => self.reason(inst, name),
        }
    }

    // -- handlers on demand

    /// The class of the objects that a handler runs for; `None` if the instance has no such objects.
    pub fn class_on(&self, inst: usize, on: On) -> Option<r::ClassId> {
        let info = &self.infos[inst];
        match on {
            On::Entity => Some(info.classes.entity),
            On::Point => info.classes.point,
            On::View => info.classes.view,
            On::Session => info.classes.session,
            On::Lower => info.classes.lower,
            On::Object(id) => Some(info.objects.get(id.index())?.class),
        }
    }

    /// The class by which an instance is linked to the sessions below.
    pub fn lower_side(&self, inst: usize) -> (On, Option<r::ClassId>) {
        let classes = self.infos[inst].classes;
        match classes.lower {
            Some(class) => (On::Lower, Some(class)),
            None => (On::Session, classes.session),
        }
    }

    /// Requests a handler. It is made once; if requested repeatedly, the largest `later` capacity counts. Ignored if
    /// the instance has no objects of that kind.
    pub fn need(&mut self, task: Task) {
        let Some(class) = self.class_on(task.inst, task.on) else { return };
        if self.declared.insert((class, task.trigger.clone())) {
            self.tasks.push_back(task);
        } else if task.later > 0 {
            let wanted = |known: &&mut r::Handler| known.class == class && known.trigger == task.trigger;
            match self.a.handlers.iter_mut().find(wanted) {
                Some(known) => known.later_capacity = known.later_capacity.max(task.later),
                None => {
                    let same = |known: &&mut Task| {
                        known.inst == task.inst && known.on == task.on && known.trigger == task.trigger
                    };
                    if let Some(known) = self.tasks.iter_mut().find(same) {
                        known.later = known.later.max(task.later);
                    }
                }
            }
        }
    }

    /// Requests the handler of an event that is emitted.
    pub fn event(&mut self, inst: usize, on: On, name: &str, params: Vec<(String, r::Type)>, purpose: Purpose) {
        let trigger = r::Trigger::Event(name.to_owned());
        self.need(Task { inst, on, trigger, params, purpose, later: 0 });
    }

    /// The handler to make next, in the order of the requests; `None` when all are made.
    pub fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    // -- small look-ups

    /// The layer's own handler of an event, if it has one.
    pub fn handler_where(&self, inst: usize, wanted: impl Fn(&s::Event) -> bool) -> Option<&'p s::Handler> {
        self.layer(inst)?.handlers.iter().find(|handler| wanted(&handler.event))
    }

    /// The number of a user among those that use sessions; `None` if it is the only one.
    pub fn session_tag(&self, lower: usize, user: usize) -> Option<usize> {
        let users = self.plan.session_users(lower);
        (users.len() > 1).then(|| users.iter().position(|known| *known == user)).flatten()
    }

    /// The name of an event; with the user's number if there are several.
    pub fn event_of(&self, event: &str, user: Option<usize>) -> String {
        match user {
            Some(user) => format!("{event}_{}", self.inst(user).name.replace('.', "_")),
            None => event.to_owned(),
        }
    }

    /// Whether events of flow traffic carry the flow: in workers and multiplexors.
    pub fn carries_flow(&self, inst: usize) -> bool {
        matches!(self.inst(inst).shape(), Some(s::Shape::Worker | s::Shape::Multiplexor))
    }

    /// Whether this event of flow traffic carries the flow: credit does not, as it belongs to the layer as a whole.
    pub fn comes_with_flow(&self, inst: usize, name: &str) -> bool {
        self.carries_flow(inst) && !GRANTS.contains(&name)
    }

    /// Whether `opened` comes in the reaction of `open`.
    pub fn answers_promptly(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        match (at.kind, at.below) {
            (Kind::Layer(layer), Some(below)) if layer.shape == s::Shape::Worker => {
                !layer.handlers.iter().any(|h| matches!(h.event, s::Event::Opened)) && self.answers_promptly(below)
            }
            (Kind::Layer(_), Some(_)) => at.is_multiplexor() && at.uses.flow,
            _ => false,
        }
    }

    /// Whether the layer may end the session above while its own lives on, or opens sessions itself.
    pub fn gives_up_sessions(&self, inst: usize) -> bool {
        use s::{Emission, StmtKind};
        self.layer(inst).is_some_and(|layer| {
            let ends_session =
                |kind: &StmtKind| matches!(kind, StmtKind::Emit(Emission::Closed | Emission::Failed { .. }));
            any_stmt(blocks(layer), &ends_session)
        })
    }

    /// Whether the layer's code emits an event that its shape would otherwise emit.
    pub fn emits(&self, inst: usize, event: &str) -> bool {
        use s::{Emission, StmtKind};
        self.layer(inst).is_some_and(|layer| {
            let wanted = |kind: &StmtKind| {
                matches!(kind, StmtKind::Emit(Emission::Custom { name, down: false, .. }) if name.text == event)
            };
            any_stmt(blocks(layer), &wanted)
        })
    }

    /// Whether the layer's code begins sessions of its neighbours, beyond what its shape does.
    pub fn begins_sessions(&self, inst: usize) -> bool {
        use s::{Emission, StmtKind};
        let opens = |kind: &StmtKind| matches!(kind, StmtKind::Emit(Emission::Open { .. }));
        let looked =
            || self.emits(inst, "accepted") || self.layer(inst).is_some_and(|layer| any_stmt(blocks(layer), &opens));
        *self.begin.borrow_mut().entry(inst).or_insert_with(looked)
    }

    /// Whether it is a layer with sessions that declares state of listeners.
    pub fn has_points(&self, inst: usize) -> bool {
        let asks = |kind: &s::StmtKind| matches!(kind, s::StmtKind::IfListener { .. });
        self.inst(inst).has_scope(s::ScopeKind::Point)
            || !self.kept_for_sessions(inst).is_empty()
            || self.layer(inst).is_some_and(|layer| any_stmt(blocks(layer), &asks))
    }

    /// Whether its points have state: then each session belongs to one as long as it lives. Else a point belongs to its
    /// listener alone, and has at most the values for the sessions that begin there.
    pub fn shares_points(&self, inst: usize) -> bool {
        let members = self.layer(inst).and_then(|layer| layer.members(s::ScopeKind::Point));
        members.is_some_and(|members| !members.is_empty())
    }
}

/// The name, with `_` appended until it is not taken: another file's item may have it.
pub fn unlike<'n>(name: &str, taken: impl Iterator<Item = &'n str>) -> String {
    let taken: HashSet<&str> = taken.collect();
    let mut unlike = name.to_owned();
    while taken.contains(unlike.as_str()) {
        unlike.push('_');
    }
    unlike
}
