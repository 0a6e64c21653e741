//! Layers: their shape, header, scopes and state, what they publish, and the events that their handlers are for.

use mokume_base::Span;

use super::signature::Claim;
use super::{
    AttributeId, Expr, Field, Function, FunctionId, Local, LocalId, Name, Param, ScopeKind, ServiceId, StateRef, Stmt,
    Type, VocabularyId,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Worker,
    Multiplexor,
    Router,
    Endpoint,
}

#[derive(Clone, Debug)]
pub struct Layer {
    pub name: Name,
    pub docs: String,
    pub shape: Shape,
    /// Values; their expressions name them as [`ExprKind::Param`] by index.
    pub params: Vec<Param>,
    pub header: Option<Header>,
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
    pub scopes: Vec<Scope>,
    pub objects: Vec<ObjectClass>,
    pub publishes: Vec<Publish>,
    /// `limit send: e`, of the session if there is one, else of the entity; a `u32`.
    pub limit_send: Option<Expr>,
    /// `limit send: e octets`
    pub limit_octets: Option<Expr>,
    /// `each n`: how many of its own it may make of one from above; of messages, of octets.
    pub ratios: [Option<Expr>; 2],
    pub serves: Vec<ServiceId>,
    pub uses: Vec<(ServiceId, Name)>,
    pub reads: Vec<AttributeId>,
    pub writes: Vec<AttributeId>,
    /// What it says that it needs of those below, and gives above.
    pub needs: Vec<Claim>,
    pub gives: Vec<Claim>,
    pub speaks: Vec<(VocabularyId, Span)>,
    /// The layer's own, then those of its containers.
    pub functions: Vec<Function>,
    pub containers: Vec<Container>,
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
            scopes: Vec::new(),
            objects: Vec::new(),
            publishes: Vec::new(),
            limit_send: None,
            limit_octets: None,
            ratios: [None, None],
            serves: Vec::new(),
            uses: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            needs: Vec::new(),
            gives: Vec::new(),
            speaks: Vec::new(),
            functions: Vec::new(),
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

#[derive(Clone, Debug)]
pub struct Header {
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

    /// Whether it is one record, not a choice of alternatives.
    pub fn is_single(&self) -> bool {
        matches!(self.variants.as_slice(), [only] if only.name.text == "Header")
    }
}

#[derive(Clone, Debug)]
pub struct Variant {
    pub name: Name,
    pub fields: Vec<Field>,
    pub with_message: bool,
}

#[derive(Clone, Debug)]
pub struct Key {
    pub symmetric: bool,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    pub capacity: Option<Expr>,
    pub members: Vec<Member>,
}

/// A class of keyed objects in the entity. Its key fields are its first members, as constants.
#[derive(Clone, Debug)]
pub struct ObjectClass {
    pub name: Name,
    pub keys: Vec<Field>,
    pub capacity: Expr,
    pub evict_oldest: bool,
    /// By the session: it ends with it. Else it is the entity's.
    pub owned: bool,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub struct Member {
    pub name: Name,
    pub kind: MemberKind,
}

/// The index of the member of a name, as a [`StateRef`] holds it.
pub fn position(members: &[Member], name: &str) -> Option<u32> {
    members.iter().position(|member| member.name.text == name).map(|index| index as u32)
}

#[derive(Clone, Debug)]
pub enum MemberKind {
    Var {
        ty: Type,
        init: Option<Expr>,
        constant: bool,
    },
    Timer,
    Quota {
        amount: Expr,
    },
    Counter,
    Array {
        ty: Type,
        size: Expr,
    },
    Map {
        key: Vec<Type>,
        value: Vec<Type>,
        capacity: Expr,
    },
    Messages {
        size: Expr,
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

#[derive(Clone, Debug)]
pub struct Publish {
    pub name: Name,
    pub ty: Type,
    /// `publish x(flow)`: the local of the flow (of the upper side).
    pub flow: Option<LocalId>,
    pub locals: Vec<Local>,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub struct Handler {
    pub event: Event,
    /// For `Expiry` and `Settle`: whose. For the others `Entity`, `Session`, … as the text's state needs: the
    /// innermost scope that the body names (`Session` for a worker or multiplexor without any runs in either mode).
    pub scope: ScopeKind,
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Event {
    Start,
    /// `flow`: `to flow`.
    Send {
        message: LocalId,
        flow: Option<LocalId>,
    },
    /// `variant` of the own header with a local for each field that is named, by field index; `message` is none for
    /// alternatives that go alone, or when the handler does not take it (lowering then consumes it, as `layer.variant`).
    Deliver {
        message: Option<LocalId>,
        variant: Option<u32>,
        fields: Vec<(u32, LocalId)>,
        flow: Option<LocalId>,
    },
    Open {
        flow: Option<LocalId>,
    },
    Opened,
    Failed {
        reason: Option<LocalId>,
    },
    /// `failed(reason, quote)`: with the beginning of the packet that failed. The session lives until a layer ends it.
    FailedQuoting {
        reason: LocalId,
        message: LocalId,
    },
    Listen {
        flow: Option<LocalId>,
    },
    Bind {
        flow: Option<LocalId>,
    },
    Unlisten {
        flow: Option<LocalId>,
    },
    Accepted {
        flow: Option<LocalId>,
    },
    Unmatched {
        message: LocalId,
        flow: Option<LocalId>,
    },
    Close,
    Abort,
    Closed,
    Expiry {
        timer: StateRef,
    },
    Settle {
        limit: Expr,
    },
    /// A value that is published below has changed.
    Change {
        name: Name,
    },
    /// An operation of a service: of one that the layer serves, or (`uses` index) an `out` of one that it uses.
    Service {
        service: ServiceId,
        operation: u32,
        uses: Option<u32>,
        params: Vec<LocalId>,
    },
    /// Any other event; `up`: comes from below. `later` capacity when it is a target of `later`.
    Custom {
        name: Name,
        from: Origin,
        params: Vec<LocalId>,
        later_capacity: u32,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Above,
    Below,
    /// Only the layer's own `later`.
    Own,
}
