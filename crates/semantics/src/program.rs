//! The typed program: what the front end proves about a file and `lower` turns into automata.
//!
//! Names are resolved, every expression has a type, messages are linear, shapes are obeyed. Layers are still generic in their
//! neighbours: flows are opaque here and become scalars when a stack is lowered.
//!
//! Invariant: if the diagnostics hold no error, `lower` may rely on all of this without checking again.

use mokume_base::Span;

use crate::signature::{Claim, Signature, Vocabulary};

macro_rules! ids {
    ($($name:ident),* $(,)?) => { $(
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name { pub fn index(self) -> usize { self.0 as usize } }
    )* };
}
ids! { SignatureId, VocabularyId, EnumId, RecordId, AttributeId, ServiceId, FunctionId, LayerId, BundleId, WireId, StackId, ObjectId, LocalId }

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub enums: Vec<Enum>,
    pub records: Vec<Record>,
    pub attributes: Vec<Attribute>,
    pub services: Vec<Service>,
    pub signatures: Vec<Signature>,
    pub vocabularies: Vec<Vocabulary>,
    /// Pure functions of files.
    pub functions: Vec<Function>,
    pub layers: Vec<Layer>,
    pub bundles: Vec<Bundle>,
    pub wires: Vec<Wire>,
    pub stacks: Vec<Stack>,
    pub tests: Vec<Test>,
    pub networks: Vec<Network>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Bool,
    UInt(u8),
    Seq(u8),
    Duration,
    Instant,
    Enum(EnumId),
    Record(RecordId),
    /// Linear.
    Message,
    /// The flow of the layer's upper side (`Above`: what `deliver … from` and `send … to` name) or of its lower side.
    Flow(Side),
    /// A handle of a keyed object of the same layer.
    Object(ObjectId),
    Reason,
    Unit,
    /// After an error; agrees with everything.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    Above,
    Below,
}

#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Name,
    pub ty: Type,
    /// In headers and keys: the byte order where no wire says it.
    pub big: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: Name,
    pub width: u8,
    pub names: Vec<(Name, u64)>,
    /// With data: its values are of this record, whose first field is the number.
    pub data: Option<RecordId>,
    /// For each name, its parts among the record's fields.
    pub parts: Vec<std::ops::Range<usize>>,
}

#[derive(Clone, Debug)]
pub struct Record {
    pub name: Name,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Name,
    /// A scalar.
    pub ty: Type,
    pub default: u64,
}

#[derive(Clone, Debug)]
pub struct Service {
    pub name: Name,
    pub operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub name: Name,
    /// From the server to all users (`out`), or from a user to the server.
    pub out: bool,
    pub params: Vec<Field>,
}

/// A parameter of a function, layer, bundle or stack; `local` is how its body's expressions name it.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
    pub default: Option<Expr>,
    pub local: LocalId,
}

/// A pure function, or one of a layer (which may read and write its state and take messages). Not recursive.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub params: Vec<Param>,
    pub result: Type,
    /// `or refuse`: may give its messages back instead; who calls it says what happens then.
    pub refuses: bool,
    /// In C; the body is a model of it.
    pub native: Option<Native>,
    pub locals: Vec<Local>,
    pub body: Vec<Stmt>,
}

/// What is said of a function in C.
#[derive(Clone, Debug)]
pub struct Native {
    /// The file in C, relative to the one of the declaration.
    pub file: String,
    pub libraries: Vec<String>,
    /// Octets by which it may make its message longer.
    pub grows: u32,
}

/// A parameter or `let` of one body, by [`LocalId`].
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
}

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
}

#[derive(Clone, Debug)]
pub struct Header {
    pub layout: Layout,
    /// One record: a single variant of the name `Header`.
    pub variants: Vec<Variant>,
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

/// Where state lives and handlers run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScopeKind {
    Entity,
    Point,
    Session,
    SessionBelow,
    Object(ObjectId),
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

/// A member of a scope; for objects the handle is `object` (none: the object that the handler runs for).
#[derive(Clone, Debug)]
pub struct StateRef {
    pub scope: ScopeKind,
    pub member: u32,
    pub object: Option<Box<Expr>>,
    pub span: Span,
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

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    AddWrap,
    SubWrap,
    MulWrap,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Min,
    Max,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastKind {
    /// To at least as many bits, or between `Duration`, `Instant`, `seq` and their numbers.
    Widen,
    /// Reports what does not fit.
    Checked,
    /// Keeps the low bits.
    Truncate,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of any scalar type, durations in nanoseconds, enum values by their number, booleans 0 and 1.
    Number(u64),
    Local(LocalId),
    /// A parameter of the layer (or bundle, or stack) that the expression stands in, by index.
    Param(u32),
    Record {
        record: RecordId,
        fields: Vec<Expr>,
    },
    RecordField {
        record: Box<Expr>,
        field: u32,
    },
    /// Operands are of one type (the front end inserts `Widen`); shifts: any `UInt` on the right.
    Binary {
        op: Binary,
        a: Box<Expr>,
        b: Box<Expr>,
    },
    Not(Box<Expr>),
    Cast {
        kind: CastKind,
        a: Box<Expr>,
    },
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// A pure function of a file.
    Call {
        function: FunctionId,
        args: Vec<Expr>,
    },
    /// A function of the same layer, by index.
    CallOwn {
        function: u32,
        args: Vec<Expr>,
    },
    /// A function in C; `args` are its values, in order. It changes the message in place.
    Native {
        function: FunctionId,
        args: Vec<Expr>,
        message: Option<LocalId>,
    },
    /// A function of a container in an object that a handle names.
    CallOn {
        object: Box<Expr>,
        function: u32,
        args: Vec<Expr>,
    },
    Fold16(Box<Expr>),
    Now,
    /// A random number of the expression's type.
    Draw,

    State(StateRef),
    Element {
        array: StateRef,
        index: Box<Expr>,
    },
    Running(StateRef),
    Left(StateRef),
    InMap {
        map: StateRef,
        key: Vec<Expr>,
    },
    HasObject {
        class: ObjectId,
        key: Vec<Expr>,
    },
    Holds {
        messages: StateRef,
        index: Box<Expr>,
    },

    /// `below.name`, for the flow or session at hand; `flow` when the source says `below.name(flow)`, `index` when it says
    /// `below[i].name`. `credit` and `mtu` exist everywhere (without a limit: the largest u32).
    Below {
        name: Name,
        flow: Option<Box<Expr>>,
        index: Option<Box<Expr>>,
    },
    /// `below.count`: how many layers a router over several stands on; a constant of each stack.
    BelowCount,
    /// `flow.local.host`; `field` names a component.
    FlowPart {
        flow: Box<Expr>,
        remote: bool,
        field: Name,
    },
    /// `flow(local: …, remote: …)`: components by name, in the order of the source; what is left out is *any* (0).
    Flow {
        local: Vec<(Option<Name>, Expr)>,
        remote: Vec<(Option<Name>, Expr)>,
    },

    NewMessage {
        octets: Vec<u8>,
    },
    Share(LocalId),
    Received {
        message: LocalId,
        wire: WireId,
    },
    MessageSize(LocalId),
    /// `width` in bits.
    Load {
        message: LocalId,
        at: Box<Expr>,
        width: u8,
        big: bool,
    },
    Sum16(LocalId),
    /// `flow.hash(secret)`: a number from a flow, the same for the same flow and secret.
    FlowHash {
        flow: Box<Expr>,
        secret: Box<Expr>,
    },
    Attribute {
        message: LocalId,
        attribute: AttributeId,
    },
    /// Uses a message up as a value (an argument of a call, `let other = msg`).
    Give(LocalId),
    /// A reason by its name, as an argument or to compare with.
    Reason(Name),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// What a `below.send` or `above.deliver` names beside the message.
#[derive(Clone, Debug)]
pub struct Fields {
    pub variant: u32,
    /// One for each field of the variant, in its order.
    pub values: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub enum Emission {
    /// `message` is none for an alternative that goes alone (a new, empty message). `to`: a flow of the lower side.
    Send {
        message: Option<Expr>,
        fields: Option<Fields>,
        to: Option<Expr>,
    },
    Deliver {
        message: Expr,
        from: Option<Expr>,
    },
    /// `args`: what the layers below that ask for it are given, by name.
    Open {
        flow: Expr,
        args: Vec<(Name, Expr)>,
    },
    Listen {
        flow: Expr,
    },
    Bind {
        flow: Expr,
    },
    Unlisten {
        flow: Expr,
    },
    Close,
    Abort,
    Closed,
    Failed {
        reason: Name,
    },
    /// `above.failed(reason)` with the reason that the handler was given.
    FailedAs {
        reason: Expr,
    },
    /// `above.failed(reason, quote) from flow(…)`: of a flow, with the beginning of the packet that failed.
    FailedFlow {
        reason: Expr,
        quote: Expr,
        from: Expr,
    },
    /// Of a used service (`uses` index) or, for `out` operations, of a served one.
    Service {
        service: ServiceId,
        operation: u32,
        uses: Option<u32>,
        args: Vec<Expr>,
    },
    Custom {
        name: Name,
        down: bool,
        args: Vec<Expr>,
    },
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Let {
        local: LocalId,
        value: Expr,
    },
    AssignLocal {
        local: LocalId,
        value: Expr,
    },
    Assign {
        state: StateRef,
        value: Expr,
    },
    AssignElement {
        array: StateRef,
        index: Expr,
        value: Expr,
    },
    If {
        condition: Expr,
        likely: Option<f32>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Match {
        value: Expr,
        cases: Vec<(Vec<u64>, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    While {
        condition: Expr,
        limit: Expr,
        body: Vec<Stmt>,
    },
    /// `local` counts from `from` up to, without, `to`.
    For {
        local: LocalId,
        from: Expr,
        to: Expr,
        limit: Expr,
        body: Vec<Stmt>,
    },
    ForObjects {
        local: LocalId,
        class: ObjectId,
        limit: Expr,
        body: Vec<Stmt>,
    },
    Return {
        value: Option<Expr>,
    },
    /// The handler's event goes on in its direction, as it came.
    Pass,
    /// Evaluates a call for its effects.
    Call(Expr),
    /// A call of a function that may refuse; `local` is its result. Where it is refused, the messages among its arguments
    /// are still there.
    IfDone {
        call: Expr,
        local: Option<LocalId>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// In a function that may: it gives its messages back.
    Refuse,
    Emit(Emission),
    Drop {
        message: LocalId,
        reason: Name,
    },
    Consume {
        message: LocalId,
        reason: Name,
    },
    /// In `unmatched`.
    Accept {
        message: LocalId,
    },
    Start {
        timer: StateRef,
        deadline: Expr,
    },
    Stop {
        timer: StateRef,
    },
    Take {
        quota: StateRef,
        amount: Expr,
        otherwise: Vec<Stmt>,
    },
    Give {
        quota: StateRef,
        amount: Expr,
    },
    Count {
        counter: StateRef,
        amount: Expr,
    },
    IfFound {
        map: StateRef,
        key: Vec<Expr>,
        locals: Vec<LocalId>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Insert {
        map: StateRef,
        key: Vec<Expr>,
        values: Vec<Expr>,
        otherwise: Vec<Stmt>,
    },
    Remove {
        map: StateRef,
        key: Vec<Expr>,
    },
    IfObject {
        class: ObjectId,
        key: Vec<Expr>,
        local: LocalId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// Finds or makes; `fresh` statements of its initial values are in the class. `otherwise` runs when there is no room.
    FindOrNew {
        class: ObjectId,
        key: Vec<Expr>,
        local: LocalId,
        otherwise: Vec<Stmt>,
    },
    /// Ends an object (none: the one that the handler runs for).
    End {
        object: Option<Expr>,
    },
    Put {
        messages: StateRef,
        index: Expr,
        message: LocalId,
    },
    /// `share`: a second one stays.
    IfTaken {
        messages: StateRef,
        index: Expr,
        share: bool,
        local: LocalId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Trim {
        message: LocalId,
        size: Expr,
    },
    Skip {
        message: LocalId,
        size: Expr,
    },
    Split {
        message: LocalId,
        at: Expr,
        front: LocalId,
        rest: LocalId,
    },
    Join {
        message: LocalId,
        behind: Expr,
    },
    Store {
        message: LocalId,
        at: Expr,
        width: u8,
        big: bool,
        value: Expr,
    },
    SetAttribute {
        message: LocalId,
        attribute: AttributeId,
        value: Expr,
    },
    /// `event` names a custom handler of the layer. `otherwise`: there is no room; the messages are still there.
    Later {
        handler: u32,
        args: Vec<Expr>,
        otherwise: Vec<Stmt>,
    },
    Again,
}

#[derive(Clone, Debug)]
pub struct Bundle {
    pub name: Name,
    pub params: Vec<Param>,
    /// Top to bottom.
    pub parts: Vec<Use>,
    pub wire: Option<WireId>,
}

/// A layer or bundle with its arguments: for each parameter one, defaults filled in.
#[derive(Clone, Debug)]
pub struct Use {
    pub of: Definition,
    pub args: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    Layer(LayerId),
    Bundle(BundleId),
}

#[derive(Clone, Debug)]
pub struct Wire {
    pub name: Name,
    pub big: bool,
    pub items: Vec<WireItem>,
}

#[derive(Clone, Debug)]
pub enum WireItem {
    Field(WireField),
    /// `on`: the number of the field in order of appearance.
    Choice {
        on: u32,
        arms: Vec<WireArm>,
        span: Span,
    },
    /// There if the comparisons hold.
    Optional {
        when: Vec<(WireExpr, Binary, WireExpr)>,
        items: Vec<WireItem>,
        span: Span,
    },
    Options(WireOptions),
    /// The header reaches to this octet, into the message.
    Reach(WireExpr, Span),
}

/// Options, each with its kind and length in front.
#[derive(Clone, Debug)]
pub struct WireOptions {
    pub kind: (Name, u8),
    pub length: (Name, u8),
    /// Octets of an option: `length * times + plus`.
    pub times: u64,
    pub plus: u64,
    pub until: WireExpr,
    pub pad: u32,
    pub arms: Vec<WireOption>,
    /// An option without an arm is passed over, not refused.
    pub skips: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct WireOption {
    pub kind: u64,
    pub span: Span,
    pub what: OptionForm,
}

#[derive(Clone, Debug)]
pub enum OptionForm {
    End,
    Single,
    /// `Layer.has_mss` or `Layer.Alternative.has_mss` says whether it is there.
    Known {
        present: WireValue,
        items: Vec<WireItem>,
    },
}

#[derive(Clone, Debug)]
pub struct WireArm {
    pub tag: u64,
    /// `Layer.Variant`, or `Variant` alone; resolved against the bundle's layers when a bundle uses the wire.
    pub selects: Option<(Option<Name>, Name)>,
    pub items: Vec<WireItem>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct WireField {
    /// By order of appearance in the wire, arms included.
    pub index: u32,
    pub name: Name,
    pub width: u8,
    pub big: bool,
    pub value: WireValue,
    pub constraints: Vec<(WireExpr, Binary, WireExpr)>,
    /// The packet ends after its value and so many octets more.
    pub trims: Option<u64>,
}

#[derive(Clone, Debug)]
pub enum WireValue {
    Constant(u64),
    /// `Layer.field` or `Layer.Variant.field`, `* times + plus`.
    Header {
        layer: Name,
        variant: Option<Name>,
        field: Name,
        times: u64,
        plus: u64,
    },
    Computed(WireExpr),
    /// What a choice depends on.
    Tag,
    Unread,
    /// Unread, and written as it was read when what came up goes down again.
    Preserved,
}

#[derive(Clone, Debug)]
pub enum WireExpr {
    Number(u64),
    Field(u32),
    PacketSize,
    HeaderSize,
    PayloadSize,
    HeaderChecksum,
    PacketChecksum,
    Binary { op: Binary, a: Box<WireExpr>, b: Box<WireExpr> },
}

#[derive(Clone, Debug)]
pub struct Stack {
    pub name: Name,
    /// A parameter of type `Device` has `ty` [`Type::Unit`] and is in `devices`.
    pub params: Vec<Param>,
    /// Names of the device parameters.
    pub devices: Vec<Name>,
    pub instances: Vec<Instance>,
    pub exports: Vec<Name>,
    /// `sessions N`: the capacity of session scopes that name none. 64 without.
    pub sessions: u32,
    /// `outputs N`: of a reaction, from which on nothing more settles in it. 0 without.
    pub outputs: u32,
    /// `tick 1 ms`: deadlines are rounded up to a multiple of it, in nanoseconds. 0 without.
    pub tick: u64,
    /// `order store, device`: ports whose outputs have one order among them.
    pub order: Vec<Vec<Name>>,
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub name: Name,
    pub of: Use,
    /// What it stands on: one, or as many as its router that says `below several …` is given. Never empty.
    pub unders: Vec<Under>,
    /// Names of instances.
    pub with: Vec<Name>,
}

/// A layer or device that an instance stands on.
#[derive(Clone, Debug)]
pub struct Under {
    pub over: Over,
    /// The key that the layer is bound to in the multiplexor below, by field; constants of the stack.
    pub bound: Vec<(Name, Expr)>,
}

#[derive(Clone, Copy, Debug)]
pub enum Over {
    /// An instance of the stack, by index.
    Instance(u32),
    /// A device, by index.
    Device(u32),
}

/// `device.mac`, `device.mtu` in a stack's expressions are [`ExprKind::Below`] without a flow, named `device.mac`.
#[derive(Clone, Debug)]
pub struct Test {
    pub name: String,
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
    pub steps: Vec<Step>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StepKind {
    Input { port: Name, event: Name, args: Vec<Arg> },
    Expect { outputs: Vec<(Name, Name, Vec<Arg>)> },
    After { nanoseconds: u64 },
    Dropped { reason: String, count: u64 },
    Consumed { reason: String, count: u64 },
    Reported { report: String, count: u64 },
}

#[derive(Clone, Debug)]
pub enum Arg {
    Word(u64),
    Octets(Vec<u8>),
    /// `?s`
    Bind(String),
    /// `s`
    Handle(String),
    Any,
}

#[derive(Clone, Debug)]
pub struct Network {
    pub name: Name,
    pub hosts: Vec<Host>,
    pub links: Vec<NetworkLink>,
    /// Time, host index, the input.
    pub script: Vec<(u64, u32, Step)>,
    pub partitions: Vec<Partition>,
    pub until: u64,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub name: Name,
    pub stack: StackId,
    pub settings: Vec<(Name, Vec<u64>)>,
}

/// A medium that all named devices share. Rates are in millionths.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    pub name: Name,
    /// Host index, device index.
    pub devices: Vec<(u32, u32)>,
    pub loss: u32,
    pub duplicate: u32,
    pub reorder: u32,
    /// One bit of a frame is turned.
    pub corrupt: u32,
    pub delay: (u64, u64),
}

/// From `from` until `until` (nanoseconds), these hosts and the others do not hear each other.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Indices of hosts.
    pub hosts: Vec<u32>,
    pub from: u64,
    pub until: u64,
}
