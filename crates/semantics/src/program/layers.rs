//! Layers: their shape, header, scopes and state, and what they publish.

use mokume_base::{Notation, Span};

use super::signature::Claim;
use super::{
    AttributeId, Expr, Field, Function, FunctionId, Handler, Local, LocalId, Name, ObjectId, Owner, Param, Part,
    RecordId, ScopeKind, ServiceId, StateRef, Type, VocabularyId,
};

/// What a layer does with sessions and flows by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One layer above, one below; sees neither addresses nor keys.
    Worker,
    /// Finds the one above by a key.
    Multiplexor,
    /// Deals in addresses, by flow traffic.
    Router,
    /// Nothing above.
    Endpoint,
}

/// A layer as it is declared, generic in its neighbours.
#[derive(Clone, Debug)]
pub struct Layer {
    /// As bundles and stacks call it.
    pub name: Name,
    /// Its `///` lines.
    pub docs: String,
    /// Decides which members and events it has.
    pub shape: Shape,
    /// Values; their expressions name them as [`ExprKind::Param`](super::ExprKind::Param) by index.
    pub params: Vec<Param>,
    /// What it says to its peer with each message.
    pub header: Option<Header>,
    /// Of a multiplexor: how it tells those above it apart. Always there, without errors.
    pub key: Option<Key>,
    /// Of a router: what flows above it are made of.
    pub address: Vec<Field>,
    /// Of a router: what it asks of the layer below.
    pub below_address: Vec<Field>,
    /// Of a router over several layers: how lower flows say which one, `below several path`.
    pub several: Option<Name>,
    /// Of a multiplexor: who gets a message.
    pub matching: Matching,
    /// Constants of the session that who opens it may give, by member.
    pub given: Vec<u32>,
    /// Constants of its session that who listens may give (`from listen`), by place in the scope.
    pub listened: Vec<u32>,
    /// Constants of its session that `accept` gives (`from accept`), by place in the scope.
    pub accepted: Vec<u32>,
    /// At most one of each kind; none of [`ScopeKind::Object`].
    pub scopes: Vec<Scope>,
    /// By [`ObjectId`](super::ObjectId).
    pub objects: Vec<ObjectClass>,
    /// Values for the layers above.
    pub publishes: Vec<Publish>,
    /// `limit send: e`, of the session if there is one, else of the entity; a `u32`.
    pub limit_send: Option<Expr>,
    /// `limit send: e octets`
    pub limit_octets: Option<Expr>,
    /// `each n`: how many of its own it may make of one from above; of messages, of octets.
    pub ratios: [Option<Expr>; 2],
    /// `reserve n`: how much of it is not for applications; of messages, of octets.
    pub reserves: [Option<Expr>; 2],
    /// It has a handler for each operation that users ask.
    pub serves: Vec<ServiceId>,
    /// With the names that its code has for them.
    pub uses: Vec<(ServiceId, Name)>,
    /// Attributes that its code may read.
    pub reads: Vec<AttributeId>,
    /// Attributes that its code may write.
    pub writes: Vec<AttributeId>,
    /// What it says that it needs of those below, and gives above.
    pub needs: Vec<Claim>,
    /// What it says that comes out above it.
    pub gives: Vec<Claim>,
    /// Vocabularies whose events it knows, with the places where it says so.
    pub speaks: Vec<(VocabularyId, Span)>,
    /// A worker that is written as a `group`: it is in a view, which begins by itself.
    pub group: bool,
    /// The view that it is in, of a vocabulary that it speaks.
    pub view: Option<LayerView>,
    /// The layer's own, then those of its containers.
    pub functions: Vec<Function>,
    /// In the order in which it takes them.
    pub parts: Vec<Part>,
    /// State of containers, in all scopes.
    pub containers: Vec<Container>,
    /// One for each event; of `deliver` one for each alternative of the header.
    pub handlers: Vec<Handler>,
    /// Looks at octets: all above it is encoded there. Who only cuts and joins does not.
    pub barrier: bool,
    /// Its parameters that are functions: what its code calls, and what was given.
    pub called: Vec<(FunctionId, FunctionId)>,
}

impl Layer {
    /// Without members: nothing but what its shape supplies.
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
            serves: Vec::new(),
            uses: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            needs: Vec::new(),
            gives: Vec::new(),
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
    /// The members of a scope or of a class of objects; none if the layer has no such scope.
    pub fn members(&self, scope: ScopeKind) -> Option<&[Member]> {
        match scope {
            ScopeKind::Object(id) => self.objects.get(id.index()).map(|class| class.members.as_slice()),
            kind => self.scopes.iter().find(|scope| scope.kind == kind).map(|scope| scope.members.as_slice()),
        }
    }

    /// The members of each scope and of each class of objects.
    pub fn all_members(&self) -> impl Iterator<Item = (ScopeKind, &[Member])> {
        let scopes = self.scopes.iter().map(|scope| (scope.kind, scope.members.as_slice()));
        let classes = self.objects.iter().enumerate();
        scopes.chain(classes.map(|(at, class)| (ScopeKind::Object(ObjectId(at as u32)), class.members.as_slice())))
    }

    /// The members of its sessions that stand at these places, with them: what it asks for when one begins.
    pub fn asked<'a>(&'a self, places: &'a [u32]) -> impl Iterator<Item = (u32, &'a Member)> {
        let members = self.members(ScopeKind::Session).unwrap_or_default();
        places.iter().filter_map(|at| Some((*at, members.get(*at as usize)?)))
    }

    /// Whether it is a router that lets the flows of those below pass, and chooses among them alone.
    pub fn chooses(&self) -> bool {
        self.several.is_some() && self.address.is_empty()
    }

    /// As [`Layer::members`], to change them.
    pub fn members_mut(&mut self, scope: ScopeKind) -> Option<&mut Vec<Member>> {
        match scope {
            ScopeKind::Object(id) => self.objects.get_mut(id.index()).map(|class| &mut class.members),
            kind => self.scopes.iter_mut().find(|scope| scope.kind == kind).map(|scope| &mut scope.members),
        }
    }
}

impl Layer {
    /// The part that is called so.
    pub fn part(&self, called: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.called == called)
    }

    /// A class of objects by the name that code has for it: of the part that the code is of, or of the layer.
    pub fn class(&self, part: Option<usize>, name: &str) -> Option<ObjectId> {
        let own = part.and_then(|part| self.parts.get(part)?.object(name));
        let whole = || self.objects.iter().position(|class| class.name.text == name);
        own.or_else(|| whole().map(|index| ObjectId(index as u32)))
    }

    /// A function by the name that code has for it, likewise.
    pub fn function(&self, part: Option<usize>, name: &str) -> Option<u32> {
        let own = part.and_then(|part| self.parts.get(part)?.function(name));
        let whole = || self.functions.iter().position(|function| function.name.text == name);
        own.or_else(|| whole().map(|index| index as u32))
    }

    /// Whose state it is; that of objects is of whom their class is.
    pub fn owner(&self, state: &StateRef) -> Option<Owner> {
        let name = match state.scope {
            ScopeKind::Object(class) => &self.objects.get(class.index())?.name.text,
            scope => &self.members(scope)?.get(state.member as usize)?.name.text,
        };
        Some(self.owner_of(name))
    }

    /// Whose state or class has this name in the layer.
    pub fn owner_of(&self, name: &str) -> Owner {
        let first = name.split('.').next().unwrap_or(name);
        match self.parts.iter().position(|part| part.called == first) {
            Some(part) if name != first => Owner::Part(part),
            _ => Owner::Layer(first.to_string()),
        }
    }

    /// Whether state is what a container holds: nobody wrote a line for it.
    pub fn is_contained(&self, scope: ScopeKind, member: u32) -> bool {
        let holds = |known: &Container| known.members.iter().any(|(_, index)| *index == member);
        self.containers.iter().any(|known| known.scope == scope && holds(known))
    }
}

/// The view that a layer is in: that of the one vocabulary it speaks in which a view begins.
#[derive(Clone, Debug)]
pub struct LayerView {
    /// The event with which a view begins.
    pub event: Name,
    /// What it brings.
    pub record: ViewRecord,
    /// The layer's view begins by itself when the event comes. Else it has a handler of its own for that.
    pub by_itself: bool,
    /// The layer says it to those above, and its own view begins with that; it does not come to it.
    pub says: bool,
    /// `on view_end`, `on view_begin`: among [`Layer::functions`].
    pub around: [Option<u32>; 2],
}

/// A record that says who is in a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewRecord {
    /// Its type.
    pub record: RecordId,
    /// The field that says who of the members we are, a [`Type::Rank`].
    pub me: u32,
    /// The field with the members, a vector in the order of ranks.
    pub members: u32,
    /// How many members there are at most.
    pub bound: u32,
}

/// Who of those that a message of a multiplexor is for gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Matching {
    /// The most specific.
    #[default]
    One,
    /// Each a share.
    All,
    /// Each a share, if the message has this attribute.
    AllWhen(AttributeId),
}

/// How fields lie where no wire says it: chosen in the source, so that both ends agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Each in whole octets, one behind the other.
    #[default]
    Octets,
    /// Each at a multiple of its size, 1, 2, 4 or 8 octets: for direct access.
    Aligned,
    /// Bit by bit.
    Packed,
    /// A path identifier for all that is as commonly, then the rest.
    Compressed,
}

/// What a layer says in packets.
#[derive(Clone, Debug)]
pub struct Header {
    /// How its fields lie where no wire says it.
    pub layout: Layout,
    /// One record: a single variant of the name `Header`.
    pub variants: Vec<Variant>,
}

impl Header {
    /// An alternative by its name, with its index.
    pub fn variant(&self, name: &str) -> Option<(u32, Variant)> {
        let index = self.variants.iter().position(|variant| variant.name.text == name)?;
        Some((index as u32, self.variants[index].clone()))
    }

    /// The alternative of messages for which no other is named, `else`, by its number.
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
    /// `Header` for a header that is one record.
    pub name: Name,
    /// In the order in which they lie.
    pub fields: Vec<Field>,
    /// A message goes with it; else it goes alone.
    pub with_message: bool,
    /// `else`: that of all messages for which the layer names no other.
    pub otherwise: bool,
}

/// What a multiplexor finds the one above by.
#[derive(Clone, Debug)]
pub struct Key {
    /// One value for both ends; else each end has its own.
    pub symmetric: bool,
    /// Numbers, in packets in this order.
    pub fields: Vec<Field>,
}

/// State of one kind of objects.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Never [`ScopeKind::Object`].
    pub kind: ScopeKind,
    /// How many there are at most; without: as the stack says.
    pub capacity: Option<Expr>,
    /// By the numbers that [`StateRef`] holds.
    pub members: Vec<Member>,
}

/// A class of keyed objects in the entity. Its key fields are its first members, as constants.
#[derive(Clone, Debug)]
pub struct ObjectClass {
    /// Unique in its layer.
    pub name: Name,
    /// What an object is found by.
    pub keys: Vec<Field>,
    /// How many there are at most: in the entity, or in each session that owns some.
    pub capacity: Expr,
    /// Where there is no room, the one made first makes room.
    pub evict_oldest: bool,
    /// The flow that is its key stays taken while it is there: `holds of`.
    pub holds: bool,
    /// Whose they are, and with whom they end: [`ScopeKind::Entity`], [`ScopeKind::Session`] or [`ScopeKind::View`].
    pub owner: ScopeKind,
    /// One for each rank, all made when the view begins: there is one for whatever rank is asked for.
    pub rows: bool,
    /// The keys first.
    pub members: Vec<Member>,
}

/// One thing that a scope holds.
#[derive(Clone, Debug)]
pub struct Member {
    /// Of what a container holds with its state in front, `waiting.count`.
    pub name: Name,
    /// What it is, and how large.
    pub kind: MemberKind,
    /// How its values are written.
    pub written: MemberNotations,
}

/// How the values of a member are written, where their declared types are numbers and say it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemberNotations {
    /// Of a map: one for each part of its key.
    pub keys: Vec<Option<Notation>>,
    /// Of a variable, of an array's elements, of what a map has by its keys.
    pub value: Option<Notation>,
}

/// The index of the member of a name, as a [`StateRef`] holds it.
pub fn position(members: &[Member], name: &str) -> Option<u32> {
    members.iter().position(|member| member.name.text == name).map(|index| index as u32)
}

/// Kinds of state. Sizes are `u32`s of constants and of the layer's parameters.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// A value.
    Var {
        /// Any type that can be stored, or a flow.
        ty: Type,
        /// What it begins with; 0 without.
        init: Option<Expr>,
        /// Set where its object begins only.
        constant: bool,
    },
    /// Expires once after each start.
    Timer,
    /// Units that are taken and given back.
    Quota {
        /// How many there are.
        amount: Expr,
    },
    /// Counts for tools; no code reads it.
    Counter,
    /// Values by number.
    Array {
        /// Of each element.
        ty: Type,
        /// How many elements.
        size: Expr,
    },
    /// Values by key.
    Map {
        /// One type for each part of the key.
        key: Vec<Type>,
        /// One type for each part of the value.
        value: Vec<Type>,
        /// How many entries at most.
        capacity: Expr,
    },
    /// Places that hold a message each.
    Messages {
        /// How many places.
        size: Expr,
        /// Gets a unit back for each message that is still held when the object ends.
        quota: Option<StateRef>,
    },
    /// State of a container: what it holds are members of the scope, `name.part` each, and its functions the layer's.
    Container(u32),
}

/// A container as one scope or object has it, its types and sizes known.
#[derive(Clone, Debug)]
pub struct Container {
    /// What it was declared as: `queue`.
    pub of: String,
    /// Whose state it is.
    pub scope: ScopeKind,
    /// Of the scope, by their names in the container.
    pub members: Vec<(String, u32)>,
    /// Of the layer, by their names in the container. What they say of an object's state is of the one at hand.
    pub functions: Vec<(String, u32)>,
}

impl Container {
    /// A function by its name in the container, as an index into the layer's.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.iter().find(|(known, _)| known == name).map(|(_, index)| *index)
    }
}

/// A value for the layers above.
#[derive(Clone, Debug)]
pub struct Publish {
    /// As `below.name` has it.
    pub name: Name,
    /// Any type that can be stored.
    pub ty: Type,
    /// Of scalars: how the declared type's values are written.
    pub written: Option<Notation>,
    /// `publish x(flow)`: the local of the flow (of the upper side).
    pub flow: Option<LocalId>,
    /// The flow, if it is per flow, then those that the value binds.
    pub locals: Vec<Local>,
    /// Of state and parameters, without effects.
    pub value: Expr,
}
