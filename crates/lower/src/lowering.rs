//! The work in hand: the automaton so far, what each instance became, and the handlers still to be made.
//!
//! Handlers are made on demand, from the ports and timers inwards: what nobody can reach is not there.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use mokume_base::{Code, Diagnostic, SourceMap, Span};
use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::fold::{fold, fold_one, scalars, Env};
use crate::frame::Registration;
use crate::listeners::FromCells;
use crate::plan::{Component, Inst, Kind, Plan};
use crate::point::PointCells;
use crate::publish::Reading;
use crate::Options;

/// What one scalar of a header's record is for.
#[derive(Clone, Debug)]
pub struct HeaderField {
    pub name: String,
    pub ty: r::Type,
    /// Which scalar of the key it is, and whose end's.
    pub key: Option<(KeyPart, usize)>,
    /// The field of the layer's own record.
    pub own: Option<u32>,
    /// The byte order where no wire says it.
    pub big: Option<bool>,
    /// The value that most packets have.
    pub common: Option<u64>,
    /// The wire's own: bits that travel with the message as an attribute.
    pub kept: Option<r::AttributeId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPart {
    Source,
    Destination,
    Both,
}

/// Where a field of a layer below the coding point stands in the packet.
#[derive(Clone, Copy, Debug)]
pub struct PlacedField {
    pub octet: u32,
    pub width: u8,
    pub endian: r::Endian,
    pub times: u64,
    pub plus: u64,
}

impl PlacedField {
    pub fn field(&self) -> r::OctetField {
        r::OctetField { width: self.width, endian: self.endian }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Info {
    pub entity: usize,
    pub session: Option<r::ClassId>,
    pub lower: Option<r::ClassId>,
    /// Class, and the entity's map from keys to its objects.
    pub objects: Vec<(r::ClassId, r::CellId)>,
    pub members: HashMap<(s::ScopeKind, u32), Vec<r::CellId>>,
    /// Members whose first value is known at start only.
    pub late: Vec<(s::ScopeKind, u32)>,
    pub header: Option<r::HeaderId>,
    pub fields: Vec<Vec<HeaderField>>,
    /// For a layer at or below the coding point: its fields in the packet.
    pub placed: Option<Vec<Option<PlacedField>>>,
    /// Octets of the group's wire before the payload, if they are always as many.
    pub wire_size: Option<u32>,
    /// The wire of the group, if this layer is directly below the coding point.
    pub codes_above: Option<r::WireId>,
    /// The wire of the group, if this layer is directly above the coding point.
    pub codes_below: Option<r::WireId>,
    /// The wire that a packet from below is checked against first.
    pub vets: Option<r::WireId>,

    /// One for each user of sessions.
    pub above: Vec<r::CellId>,
    pub tag: Option<r::CellId>,
    pub below: Option<r::CellId>,
    pub first: Option<r::CellId>,
    pub flow: Vec<r::CellId>,
    /// The session's object of the lower side.
    pub of_lower: Option<r::CellId>,
    /// Of a layer with a `point` scope.
    pub point_class: Option<r::ClassId>,
    pub point: Option<PointCells>,
    /// Application: the number that the user gave.
    pub user: Option<r::CellId>,
    pub opened: Option<r::CellId>,
    pub sessions: Option<r::CellId>,
    pub listeners: Option<r::CellId>,
    /// Of those that name something of the remote end.
    pub listeners_from: Option<FromCells>,
    /// How many listeners there was no room for.
    pub refused: Option<r::CellId>,
    /// What the next key is chosen from, where a session leaves its own open.
    pub next_key: Option<r::CellId>,
    pub lowers: Option<r::CellId>,
    pub lower_below: Option<r::CellId>,
    pub lower_flow: Vec<r::CellId>,
    pub lower_count: Option<r::CellId>,
    pub port: Option<r::PortId>,
}

impl Info {
    pub fn entity(&self) -> r::ClassId {
        r::ClassId(self.entity as u32)
    }
}

/// Which object of an instance handles an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum On {
    Entity,
    Point,
    Session,
    Lower,
    Object(s::ObjectId),
}

/// What a handler that is to be made is for.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// Flow traffic, on the entity.
    FlowSend,
    FlowDeliver,
    Register(Registration, Option<usize>),
    /// For sessions, on the entity.
    Open {
        user: Option<usize>,
    },
    Accepted,
    /// On the session, from above.
    Send,
    Close,
    Abort,
    Refuse,
    Attach {
        user: Option<usize>,
    },
    /// On the session (or the lower side's object), from below.
    Deliver,
    Opened,
    Failed,
    Closed,
    /// With a quote: of flow traffic, on the entity; and on a session.
    FailedFlow,
    FailedQuoting,
    /// Of a service.
    Service {
        service: s::ServiceId,
        operation: u32,
        uses: Option<u32>,
    },
    /// A handler of the layer that only `later` names.
    Own {
        handler: u32,
    },
    Custom {
        name: Rc<str>,
        down: bool,
    },
    /// A value that is published below has changed.
    Changed {
        name: Rc<str>,
    },
    /// By number of the layer's handlers.
    Plain {
        handler: Option<u32>,
    },
}

pub struct Task {
    pub inst: usize,
    pub on: On,
    pub trigger: r::Trigger,
    pub params: Vec<(String, r::Type)>,
    pub what: What,
    pub later: u32,
}

pub struct Lowering<'p> {
    pub program: &'p s::Program,
    pub sources: &'p SourceMap,
    pub stack: &'p s::Stack,
    pub options: &'p Options,
    pub plan: Rc<Plan<'p>>,
    pub a: r::Automaton,
    pub infos: Vec<Rc<Info>>,
    pub diagnostics: Vec<Diagnostic>,
    pub functions: HashMap<(usize, String, Reading), r::FunctionId>,
    pub watched: Vec<crate::changes::Watched>,
    /// Whose sessions hand a change of this name on to those above.
    pub handed_on: HashSet<(usize, String)>,
    declared: HashSet<(r::ClassId, r::Trigger)>,
    tasks: VecDeque<Task>,
    places: HashMap<(u32, u32), r::SourceId>,
}

impl<'p> Lowering<'p> {
    pub fn new(
        program: &'p s::Program,
        sources: &'p SourceMap,
        stack: &'p s::Stack,
        options: &'p Options,
        plan: Plan<'p>,
    ) -> Self {
        let a = r::Automaton { name: stack.name.text.clone(), tick: 1, ..r::Automaton::default() };
        Lowering {
            program,
            sources,
            stack,
            options,
            plan: Rc::new(plan),
            a,
            infos: Vec::new(),
            diagnostics: Vec::new(),
            functions: HashMap::new(),
            watched: Vec::new(),
            handed_on: HashSet::new(),
            declared: HashSet::new(),
            tasks: VecDeque::new(),
            places: HashMap::new(),
        }
    }

    pub fn inst(&self, inst: usize) -> &Inst<'p> {
        &self.plan.insts[inst]
    }

    pub fn info(&self, inst: usize) -> Rc<Info> {
        self.infos[inst].clone()
    }

    /// The definition behind an instance that is one.
    pub fn layer(&self, inst: usize) -> Option<&'p s::Layer> {
        self.inst(inst).layer()
    }

    pub fn faulty(&self, fault: Fault) -> bool {
        self.options.faulty(fault)
    }

    // -- diagnostics and places

    pub fn error(&mut self, code: &'static str, message: impl Into<String>, span: Option<Span>, help: &str) {
        let message = message.into();
        let mut diagnostic = Diagnostic::error(Code(code), message);
        if let Some(span) = span.or(Some(self.stack.name.span)) {
            diagnostic = diagnostic.at(span, "here");
        }
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    pub fn place(&mut self, span: Span) -> Option<r::SourceId> {
        if span.file.0 as usize >= self.sources.files().count() {
            return None;
        }
        if let Some(known) = self.places.get(&(span.file.0, span.start)) {
            return Some(*known);
        }
        let (line, column) = self.sources.line_column(span.file, span.start);
        let file = self.sources.file(span.file).name.clone();
        let id = self.a.source(&file, line, column);
        self.places.insert((span.file.0, span.start), id);
        Some(id)
    }

    // -- types

    /// The scalars of a type in this instance, each with its name behind the value's.
    pub fn flat(&mut self, inst: usize, ty: s::Type) -> Vec<(String, r::Type)> {
        match ty {
            s::Type::Flow(side) => {
                let inst = self.inst(inst);
                let upper = side == s::Side::Above && inst.shape() != Some(s::Shape::Endpoint);
                let components = if upper { inst.top.clone() } else { inst.bottom.clone() };
                components
                    .iter()
                    .map(|c| (format!("_{}", c.full_name().replace('.', "_")), self.scalar(inst_none(), c.ty)))
                    .collect()
            }
            plain => {
                let parts = scalars(self.program, plain);
                parts.into_iter().map(|(name, ty)| (name, self.scalar(inst, ty))).collect()
            }
        }
    }

    pub fn scalar(&mut self, inst: usize, ty: s::Type) -> r::Type {
        match ty {
            s::Type::Bool => r::Type::Bool,
            s::Type::UInt(bits) => r::Type::U(bits),
            s::Type::Seq(bits) => r::Type::Seq(bits),
            s::Type::Duration | s::Type::Instant => r::Type::U(64),
            s::Type::Enum(id) => self.enumeration(id),
            s::Type::Message => r::Type::Msg,
            s::Type::Reason => r::Type::Reason,
            s::Type::Object(id) => r::Type::Ref(self.infos[inst].objects[id.index()].0),
            _ => r::Type::Bool,
        }
    }

    fn enumeration(&mut self, id: s::EnumId) -> r::Type {
        let definition = &self.program.enums[id.index()];
        let name = &definition.name.text;
        let at = self.a.enums.iter().position(|known| known.name == *name).unwrap_or_else(|| {
            let names = definition.names.iter().map(|(name, value)| (name.text.clone(), *value)).collect();
            self.a.enums.push(r::Enum { name: name.clone(), width: definition.width, names });
            self.a.enums.len() - 1
        });
        r::Type::Enum(r::EnumId::from(at))
    }

    pub fn attribute(&mut self, id: s::AttributeId) -> r::AttributeId {
        let definition = &self.program.attributes[id.index()];
        let name = &definition.name.text;
        if let Some(at) = self.a.attributes.iter().position(|known| known.name == *name) {
            return r::AttributeId::from(at);
        }
        let ty = self.scalar(inst_none(), definition.ty);
        self.a.attributes.push(r::Attribute { name: name.clone(), ty, default: definition.default });
        r::AttributeId::from(self.a.attributes.len() - 1)
    }

    /// The flow's scalars as named parameters.
    pub fn flow_params(&mut self, components: &[Component]) -> Vec<(String, r::Type)> {
        components.iter().map(|c| (c.full_name().replace('.', "_"), self.scalar(inst_none(), c.ty))).collect()
    }

    pub fn local_params(&mut self, components: &[Component]) -> Vec<(String, r::Type)> {
        let local: Vec<Component> = components.iter().filter(|c| !c.is_remote()).cloned().collect();
        self.flow_params(&local)
    }

    // -- constants

    /// What sizes something must be known now.
    pub fn size(&mut self, env: &Env, expr: &s::Expr) -> u32 {
        match fold_one(self.program, env, expr) {
            Some(value) if value <= u64::from(u32::MAX / 2) => value as u32,
            _ => {
                let help = "what sizes something is set when the stack is built: write a number, or a parameter of a layer that gets one";
                self.error("M0720", "this size is not a constant", Some(expr.span), help);
                1
            }
        }
    }

    pub fn constants(&self, env: &Env, expr: &s::Expr) -> Option<Vec<u64>> {
        fold(self.program, env, expr)
    }

    // -- reasons

    pub fn reason(&mut self, inst: usize, name: &str) -> r::ReasonId {
        let name = format!("{}.{name}", self.inst(inst).name);
        self.a.reason(&name)
    }

    /// A reason as a value, which other layers may compare: standard ones and those of vocabularies are one for all.
    pub fn told_reason(&mut self, inst: usize, name: &str) -> r::ReasonId {
        match self.program.is_shared_reason(name) {
            true => self.a.reason(name),
            false => self.reason(inst, name),
        }
    }

    // -- handlers on demand

    pub fn class_on(&self, inst: usize, on: On) -> Option<r::ClassId> {
        let info = &self.infos[inst];
        match on {
            On::Entity => Some(info.entity()),
            On::Point => info.point_class,
            On::Session => info.session,
            On::Lower => info.lower,
            On::Object(id) => info.objects.get(id.index()).map(|(class, _)| *class),
        }
    }

    /// The class by which an instance meets the sessions below it.
    pub fn lower_side(&self, inst: usize) -> (On, Option<r::ClassId>) {
        let info = &self.infos[inst];
        match info.lower {
            Some(class) => (On::Lower, Some(class)),
            None => (On::Session, info.session),
        }
    }

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

    pub fn event(&mut self, inst: usize, on: On, name: &str, params: Vec<(String, r::Type)>, what: What) {
        let trigger = r::Trigger::Event(name.to_owned());
        self.need(Task { inst, on, trigger, params, what, later: 0 });
    }

    pub fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    // -- small questions about the stack

    /// Of the users of sessions, which one; none if there is only one.
    pub fn session_tag(&self, lower: usize, user: usize) -> Option<usize> {
        let users = self.plan.session_users(lower);
        (users.len() > 1).then(|| users.iter().position(|known| *known == user)).flatten()
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
}

/// For types that no object of a layer can be in.
pub fn inst_none() -> usize {
    0
}
