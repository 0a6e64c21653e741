//! Layers: their shape, header, scopes and state, and what they publish.

use mokume_base::{Notation, Span};

use super::signature::Claim;
use super::{
    AttributeId, Event, Expr, Field, Function, FunctionId, Handler, Local, LocalId, Name, ObjectId, Owner, Param, Part,
    RecordId, ScopeKind, ServiceId, StateRef, Type, VocabularyId,
};

/// The shape of a layer: what it does with sessions and flows by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One layer above and one below; knows neither addresses nor keys.
    Worker,
    /// Finds the layer above by a key.
    Multiplexor,
    /// Handles addresses, with flow traffic.
    Router,
    /// Has no layer above.
    Endpoint,
}

/// What a layer asks of its parameters, `where pieces >= 1`.
#[derive(Clone, Debug)]
pub struct Asked {
    /// A `bool`, of constants and parameters.
    pub condition: Expr,
    /// The condition as it is written.
    pub text: String,
    /// The place of the member.
    pub span: Span,
}

/// A layer as declared, generic in its neighbours.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The name in bundles and stacks.
    pub name: Name,
    /// Its `///` lines.
    pub docs: String,
    /// The shape, which decides what members and events it can have.
    pub shape: Shape,
    /// The parameters that are values; expressions name them as [`ExprKind::Param`](super::ExprKind::Param), by index.
    pub params: Vec<Param>,
    /// The header that it adds to messages for its peer.
    pub header: Option<Header>,
    /// For a multiplexor: the key that tells layers above apart. Always set in a program without errors.
    pub key: Option<Key>,
    /// For a router: the parts of flows above it.
    pub address: Vec<Field>,
    /// For a router: the address that it needs from the layer below.
    pub below_address: Vec<Field>,
    /// For a router over several layers: the name of the part of lower flows that chooses one, `below several path`.
    pub several: Option<Name>,
    /// For a multiplexor: who gets a message.
    pub matching: Matching,
    /// Constants of the session that `open` may set (`from open`), by index in the scope.
    pub given: Vec<u32>,
    /// Constants of the session that `listen` may set (`from listen`), by index in the scope.
    pub listened: Vec<u32>,
    /// Constants of the session that `accept` sets (`from accept`), by index in the scope.
    pub accepted: Vec<u32>,
    /// The scopes, at most one of each kind; never [`ScopeKind::Object`].
    pub scopes: Vec<Scope>,
    /// The classes of objects, by [`ObjectId`](super::ObjectId).
    pub objects: Vec<ObjectClass>,
    /// The published values, which layers above read.
    pub publishes: Vec<Publish>,
    /// `limit send: e`, evaluated in the session if there is one, else in the entity; a `u32`.
    pub limit_send: Option<Expr>,
    /// `limit send: e octets`
    pub limit_octets: Option<Expr>,
    /// `each n`: how many messages or octets of its own it may make from one from above; for messages, for octets.
    pub ratios: [Option<Expr>; 2],
    /// `reserve n`: how much of the limit applications may not use; for messages, for octets.
    pub reserves: [Option<Expr>; 2],
    /// What it asks of its parameters, `where pieces >= 1`, in order.
    pub asked: Vec<Asked>,
    /// The services that it serves; it has a handler for each of their operations.
    pub serves: Vec<ServiceId>,
    /// The services that it uses, each with its name in the code.
    pub uses: Vec<(ServiceId, Name)>,
    /// Attributes that its code may read.
    pub reads: Vec<AttributeId>,
    /// Attributes that its code may write.
    pub writes: Vec<AttributeId>,
    /// What it claims to need from those below.
    pub needs: Vec<Claim>,
    /// What it claims to give to those above.
    pub gives: Vec<Claim>,
    /// Promises of those below that do not hold above it.
    pub breaks: Vec<Claim>,
    /// The vocabularies that it speaks, with the places of the claims.
    pub speaks: Vec<(VocabularyId, Span)>,
    /// Whether it is declared as a `group`: a worker in a view, which begins by itself.
    pub group: bool,
    /// The view that it is in, from a vocabulary that it speaks.
    pub view: Option<LayerView>,
    /// The functions: the layer's own, then those of its containers.
    pub functions: Vec<Function>,
    /// The parts that it consists of, in order.
    pub parts: Vec<Part>,
    /// State that is a container, in all scopes.
    pub containers: Vec<Container>,
    /// The handlers, one for each event; for `deliver` one for each alternative of the header.
    pub handlers: Vec<Handler>,
    /// Whether it reads octets, so that all headers above are encoded there. A layer that only cuts and joins does not.
    pub barrier: bool,
    /// For each parameter that is a function: the stand-in that the code calls, and the function that was given.
    pub called: Vec<(FunctionId, FunctionId)>,
}

impl Layer {
    /// Whether it stands in for a parameter of a bundle that names a signature: then the name itself is the claim.
    pub fn is_standin(&self) -> bool {
        self.gives.iter().any(|claim| claim.span == self.name.span)
    }
    /// A layer without members: only what its shape supplies.
    pub fn bare(name: Name, docs: String, shape: Shape, params: Vec<Param>) -> Layer {
        Layer {
            name,
            docs,
            shape,
            params,
            header: None,
            key: None,
            address: Vec::new(),
            below_address: Vec::new(),
            several: None,
            matching: Matching::One,
            given: Vec::new(),
            listened: Vec::new(),
            accepted: Vec::new(),
            scopes: Vec::new(),
            objects: Vec::new(),
            publishes: Vec::new(),
            limit_send: None,
            limit_octets: None,
            ratios: [None, None],
            reserves: [None, None],
            asked: Vec::new(),
            serves: Vec::new(),
            uses: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            needs: Vec::new(),
            gives: Vec::new(),
            breaks: Vec::new(),
            speaks: Vec::new(),
            group: false,
            view: None,
            functions: Vec::new(),
            parts: Vec::new(),
            containers: Vec::new(),
            handlers: Vec::new(),
            barrier: false,
            called: Vec::new(),
        }
    }
}

impl Layer {
    /// The members of a scope or of a class of objects; `None` if the layer has no such scope.
    pub fn members(&self, scope: ScopeKind) -> Option<&[Member]> {
        match scope {
            ScopeKind::Object(id) => self.objects.get(id.index()).map(|class| class.members.as_slice()),
            kind => self.scopes.iter().find(|scope| scope.kind == kind).map(|scope| scope.members.as_slice()),
        }
    }

    /// Whether the layer has state or handlers for objects of that kind.
    pub fn has_scope(&self, kind: ScopeKind) -> bool {
        self.scopes.iter().any(|scope| scope.kind == kind)
    }

    /// Whether it gets messages without a session, because it begins its sessions itself.
    pub fn awaits(&self) -> bool {
        self.handlers.iter().any(|handler| matches!(handler.event, Event::Arrives { .. }))
    }

    /// Whether by itself it uses sessions of the layer below where that has flow traffic, too.
    pub fn wants_sessions(&self) -> bool {
        match self.shape {
            Shape::Worker | Shape::Endpoint => self.has_scope(ScopeKind::Session) || self.has_scope(ScopeKind::Point),
            Shape::Multiplexor => self.has_scope(ScopeKind::SessionBelow),
            Shape::Router => false,
        }
    }

    /// The members of each scope and of each class of objects.
    pub fn all_members(&self) -> impl Iterator<Item = (ScopeKind, &[Member])> {
        let scopes = self.scopes.iter().map(|scope| (scope.kind, scope.members.as_slice()));
        let classes = self.objects.iter().enumerate();
        scopes.chain(classes.map(|(at, class)| (ScopeKind::Object(ObjectId(at as u32)), class.members.as_slice())))
    }

    /// The session's members at these indices, each with its index.
    pub fn asked<'a>(&'a self, places: &'a [u32]) -> impl Iterator<Item = (u32, &'a Member)> {
        let members = self.members(ScopeKind::Session).unwrap_or_default();
        places.iter().filter_map(|at| Some((*at, members.get(*at as usize)?)))
    }

    /// Whether it is a router that passes the flows of the layers below and only chooses among those layers.
    pub fn chooses(&self) -> bool {
        self.several.is_some() && self.address.is_empty()
    }

    /// As [`Layer::members`], mutable.
    pub fn members_mut(&mut self, scope: ScopeKind) -> Option<&mut Vec<Member>> {
        match scope {
            ScopeKind::Object(id) => self.objects.get_mut(id.index()).map(|class| &mut class.members),
            kind => self.scopes.iter_mut().find(|scope| scope.kind == kind).map(|scope| &mut scope.members),
        }
    }
}

impl Layer {
    /// The part of this name.
    pub fn part(&self, called: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.called == called)
    }

    /// The class of objects with this name in the code of a part, or of the layer itself.
    pub fn class(&self, part: Option<usize>, name: &str) -> Option<ObjectId> {
        let own = part.and_then(|part| self.parts.get(part)?.object(name));
        let whole = || self.objects.iter().position(|class| class.name.text == name);
        own.or_else(|| whole().map(|index| ObjectId(index as u32)))
    }

    /// The function with this name, likewise.
    pub fn function(&self, part: Option<usize>, name: &str) -> Option<u32> {
        let own = part.and_then(|part| self.parts.get(part)?.function(name));
        let whole = || self.functions.iter().position(|function| function.name.text == name);
        own.or_else(|| whole().map(|index| index as u32))
    }

    /// The owner of state; for objects, the owner of their class.
    pub fn owner(&self, state: &StateRef) -> Option<Owner> {
        let name = match state.scope {
            ScopeKind::Object(class) => &self.objects.get(class.index())?.name.text,
            scope => &self.members(scope)?.get(state.member as usize)?.name.text,
        };
        Some(self.owner_of(name))
    }

    /// The owner of the state or class of this name.
    pub fn owner_of(&self, name: &str) -> Owner {
        let first = name.split('.').next().unwrap_or(name);
        match self.parts.iter().position(|part| part.called == first) {
            Some(part) if name != first => Owner::Part(part),
            _ => Owner::Layer(first.to_string()),
        }
    }

    /// Whether the state is inside a container, and so is not declared in the layer's text.
    pub fn is_contained(&self, scope: ScopeKind, member: u32) -> bool {
        let holds = |known: &Container| known.members.iter().any(|(_, index)| *index == member);
        self.containers.iter().any(|known| known.scope == scope && holds(known))
    }
}

/// The view that a layer is in: from the only vocabulary it speaks that has an event with `begins`.
#[derive(Clone, Debug)]
pub struct LayerView {
    /// The event that begins a view.
    pub event: Name,
    /// The record that the event carries.
    pub record: ViewRecord,
    /// Whether the layer's view begins by itself when the event comes. Else the layer has a handler for the event.
    pub by_itself: bool,
    /// Whether the layer emits the event to those above, which begins its own view, instead of receiving it.
    pub says: bool,
    /// The functions `on view_end` and `on view_begin`, as indices into [`Layer::functions`].
    pub around: [Option<u32>; 2],
}

/// A record that describes a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewRecord {
    /// The record's type.
    pub record: RecordId,
    /// The field with our own rank, a [`Type::Rank`].
    pub me: u32,
    /// The field with the members, a vector ordered by rank.
    pub members: u32,
    /// The most members.
    pub bound: u32,
}

/// Which of the layers that a message of a multiplexor matches get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Matching {
    /// The most specific match.
    #[default]
    One,
    /// All matches get a copy.
    All,
    /// All matches get a copy, if the message has this attribute.
    AllWhen(AttributeId),
}

/// The layout of fields that are in no wire: chosen in the source, so that both ends agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Each field in whole octets, one after the other.
    #[default]
    Octets,
    /// Each field at a multiple of its size, 1, 2, 4 or 8 octets, for direct access.
    Aligned,
    /// Bits without padding.
    Packed,
    /// A path identifier that stands for all common values, then the remaining fields.
    Compressed,
}

/// The header that a layer adds to packets.
#[derive(Clone, Debug)]
pub struct Header {
    /// The layout of its fields, if they are in no wire.
    pub layout: Layout,
    /// The alternatives. A header that is one record has a single one, named `Header`.
    pub variants: Vec<Variant>,
}

impl Header {
    /// The alternative of this name, with its index.
    pub fn variant(&self, name: &str) -> Option<(u32, Variant)> {
        let index = self.variants.iter().position(|variant| variant.name.text == name)?;
        Some((index as u32, self.variants[index].clone()))
    }

    /// The index of the alternative for messages that name no other, `else`.
    pub fn otherwise(&self) -> Option<u32> {
        self.variants.iter().position(|variant| variant.otherwise).map(|at| at as u32)
    }

    /// Whether it is one record, not a choice of alternatives.
    pub fn is_single(&self) -> bool {
        matches!(self.variants.as_slice(), [only] if only.name.text == "Header")
    }
}

/// One alternative of a header.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name; `Header` for a header that is one record.
    pub name: Name,
    /// The fields, in order.
    pub fields: Vec<Field>,
    /// Whether it carries a message.
    pub with_message: bool,
    /// `else`: the alternative of all messages for which the layer names no other.
    pub otherwise: bool,
}

/// The key by which a multiplexor finds the layer above.
#[derive(Clone, Debug)]
pub struct Key {
    /// Whether both ends share one value; else each end has its own.
    pub symmetric: bool,
    /// The fields, numbers, in the order in packets.
    pub fields: Vec<Field>,
}

impl Key {
    /// The header's fields that carry it, as wires name them: `source`, `destination`, or for a key of several fields
    /// `source_port`, …; a symmetric key's own.
    pub fn carried(&self) -> Vec<Field> {
        if self.symmetric {
            return self.fields.clone();
        }
        let named = |end: &str, field: &Field| {
            let text = if self.fields.len() == 1 { end.into() } else { format!("{end}_{}", field.name.text) };
            let name = Name { text, span: field.name.span };
            Field { name, ty: field.ty, big: field.big, common: None, written: field.written }
        };
        let of_end = |end| self.fields.iter().map(move |field| named(end, field));
        of_end("source").chain(of_end("destination")).collect()
    }
}

/// State of one kind of object.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The kind; never [`ScopeKind::Object`].
    pub kind: ScopeKind,
    /// The most objects; absent: the stack's setting.
    pub capacity: Option<Expr>,
    /// The members; [`StateRef`] has indices into this list.
    pub members: Vec<Member>,
}

/// A class of keyed objects. Its key fields are its first members, as constants.
#[derive(Clone, Debug)]
pub struct ObjectClass {
    /// The name, unique in its layer.
    pub name: Name,
    /// The key by which an object is found.
    pub keys: Vec<Field>,
    /// The most objects: in the entity, or in each session that owns some.
    pub capacity: Expr,
    /// If there is no room, the oldest object is ended.
    pub evict_oldest: bool,
    /// `holds of`: the flow that is its key stays taken as long as the object lives.
    pub holds: bool,
    /// The owner, with which the objects end: [`ScopeKind::Entity`], [`ScopeKind::Session`] or [`ScopeKind::View`].
    pub owner: ScopeKind,
    /// One object for each rank, all made when the view begins, so that every rank has one.
    pub rows: bool,
    /// The members, the keys first.
    pub members: Vec<Member>,
}

/// A piece of state in a scope.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name; inside a container with the container's state in front, `waiting.count`.
    pub name: Name,
    /// Its kind and size.
    pub kind: MemberKind,
    /// The notations of its values.
    pub written: MemberNotations,
}

/// The notations of a member's values, where their declared types are numbers with a notation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemberNotations {
    /// For a map: one for each part of its key.
    pub keys: Vec<Option<Notation>>,
    /// For a variable, an array's elements, or a map's values.
    pub value: Option<Notation>,
}

/// The index of the member with this name, as in [`StateRef`].
pub fn position(members: &[Member], name: &str) -> Option<u32> {
    members.iter().position(|member| member.name.text == name).map(|index| index as u32)
}

/// Kinds of state. Sizes are `u32`s of constants and the layer's parameters.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// A value.
    Var {
        /// Any type that can be stored, or a flow.
        ty: Type,
        /// The initial value; 0 if absent.
        init: Option<Expr>,
        /// Whether it is set only when its object begins.
        constant: bool,
    },
    /// A timer, which expires once after each start.
    Timer,
    /// Units that can be taken and given back.
    Quota {
        /// The number of units.
        amount: Expr,
    },
    /// A counter for tools; no code reads it.
    Counter,
    /// An indexed list of values.
    Array {
        /// The type of an element.
        ty: Type,
        /// The number of elements.
        size: Expr,
    },
    /// A map from keys to values.
    Map {
        /// One type for each part of the key.
        key: Vec<Type>,
        /// One type for each part of the value.
        value: Vec<Type>,
        /// The most entries.
        capacity: Expr,
    },
    /// Places that can hold a message each.
    Messages {
        /// The number of places.
        size: Expr,
        /// The quota that gets a unit back for each message that is still there when the object ends.
        quota: Option<StateRef>,
    },
    /// A container: its contents are members of the scope, named `name.part`, and its functions are the layer's.
    Container(u32),
}

/// A container in a scope or object, with its types and sizes known.
#[derive(Clone, Debug)]
pub struct Container {
    /// The name of its declaration: `queue`.
    pub of: String,
    /// The scope of its state.
    pub scope: ScopeKind,
    /// Its contents: names in the container, and indices in the scope.
    pub members: Vec<(String, u32)>,
    /// Its functions: names in the container, and indices in the layer. They work on the current object's state.
    pub functions: Vec<(String, u32)>,
}

impl Container {
    /// The index, in the layer, of the function with this name in the container.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }
}

/// A value that layers above can read.
#[derive(Clone, Debug)]
pub struct Publish {
    /// The name, as in `below.name`.
    pub name: Name,
    /// Any type that can be stored.
    pub ty: Type,
    /// For scalars: the notation of the declared type.
    pub written: Option<Notation>,
    /// `publish x(flow)`: the local of the flow (of the upper side).
    pub flow: Option<LocalId>,
    /// The flow, if there is one, then the locals that the value binds.
    pub locals: Vec<Local>,
    /// The value, from state and parameters, without effects.
    pub value: Expr,
}
