//! Members of layers, and state.

use mokume_base::{did_you_mean, FileId, Span};

use super::{
    child, children, choice, doc_of, first_token, has_word, node, token_span, Block, Breaks, Contained, Expr, Field,
    FieldList, Function, Gives, Name, Needs, Param, Path, Speaks, Type,
};
use crate::kinds::{SyntaxKind, SyntaxToken};

choice! {
    /// A member of a layer.
    Member {
        Header(Header), Key(Key), Address(Address), Several(Several), Matching(Matching), Scope(Scope), Object(Object),
        Publish(Publish), Limit(Limit), Where(Where), Serves(Serves), Uses(Uses), Reads(Reads), Writes(Writes),
        Needs(Needs), Gives(Gives), Breaks(Breaks), Speaks(Speaks), Parts(Parts), Function(Function), Handler(Handler),
    }
}

choice! {
    /// A piece of state of a scope or an object.
    State {
        Var(Var), Const(ConstState), Timer(Timer), Quota(Quota), Counter(Counter), Array(Array), Map(Map),
        Messages(Messages), Contained(Contained),
    }
}

choice! {
    /// A parameter of a handler.
    Pattern { Param(Param), Alternative(AlternativePattern) }
}

node! {
    /// `header { seq: seq32 }`, or alternatives
    Header = HEADER;
    /// `Data { seq: seq32 } with message`
    Alternative = ALTERNATIVE;
    /// `key { port: u16 }`, `key symmetric { … }`
    Key = KEY;
    /// `address { … }`, `below address { … }`
    Address = ADDRESS;
    /// `below several path`
    Several = SEVERAL;
    /// `match all`, `match all when broadcast`
    Matching = MATCHING;
    /// `entity { … }`, `point`, `session`, `session below`
    Scope = SCOPE;
    /// `object Entry[address: u32] capacity 64 evict oldest { … }`
    Object = OBJECT;
    /// `capacity 64`
    Capacity = CAPACITY;
    /// `evict oldest`
    Evict = EVICT;
    /// `holds of`
    HoldsClause = HOLDS_CLAUSE;
    /// `publish mtu: u32 = e`
    Publish = PUBLISH;
    /// `limit send: left room octets each 2`
    Limit = LIMIT;
    /// `where pieces >= 1 and pieces <= 64`, of a layer's parameters
    Where = WHERE;
    /// `each 2`
    Each = EACH;
    /// `reserve 32`
    Reserve = RESERVE;
    /// `serves Resolve`
    Serves = SERVES;
    /// `uses Resolve as resolve`
    Uses = USES;
    /// `reads ttl, broadcast`
    Reads = READS;
    /// `writes ttl`
    Writes = WRITES;
    /// `parts Output, Listen`
    Parts = PARTS;
    /// `on deliver(msg, seq) { … }`
    Handler = HANDLER;
    /// `(msg, Data { seq })`
    PatternList = PATTERN_LIST;
    /// `Data { seq }` among a handler's parameters
    AlternativePattern = ALTERNATIVE_PATTERN;
    /// `seq`, `seq: number` in it
    PatternField = PATTERN_FIELD;
    /// `limit 8`, of a loop or of `on settle`
    LimitClause = LIMIT_CLAUSE;
    /// `later 64`
    LaterRoom = LATER_ROOM;
    /// `to flow`
    ToClause = TO_CLAUSE;
    /// `from flow`
    FromClause = FROM_CLAUSE;
    /// `var x: T = e`
    Var = VAR;
    /// `const x: T = e` in a scope
    ConstState = CONST_STATE;
    /// `timer t`
    Timer = TIMER;
    /// `quota kept: 512`
    Quota = QUOTA;
    /// `counter hits`
    Counter = COUNTER;
    /// `array a: [u32; 8]`
    Array = ARRAY;
    /// `map m: [u32 -> u48; 64]`
    Map = MAP;
    /// `messages waiting: 8 from kept`
    Messages = MESSAGES;
}

/// The objects that a scope's state belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeKind {
    /// `entity`
    Entity,
    /// `point`
    Point,
    /// `session`
    Session,
    /// `session below`
    SessionBelow,
    /// `view { … }`
    View,
}

macro_rules! state {
    ($($node:ident),*) => {$(
        impl $node {
            /// Its name in the layer.
            pub fn name(&self) -> Option<Name> {
                child(&self.0)
            }
            /// The type behind the colon, if it has one.
            pub fn ty(&self) -> Option<Type> {
                child(&self.0)
            }
            /// The value, size or number behind the name.
            pub fn value(&self) -> Option<Expr> {
                child(&self.0)
            }
            /// The documentation in front of it.
            pub fn doc(&self) -> String {
                doc_of(&self.0)
            }
        }
    )*};
}
state!(Var, ConstState, Timer, Quota, Counter, Array, Map, Messages, Publish, Limit);

impl ConstState {
    /// `from open`: the user who opens the session sets it.
    pub fn is_given(&self) -> bool {
        self.is_from("open")
    }
    /// `from listen`: the listener sets it, for all sessions that begin at it.
    pub fn is_listened(&self) -> bool {
        self.is_from("listen")
    }
    /// `from accept`: the `accept` that begins the session sets it.
    pub fn is_accepted(&self) -> bool {
        self.is_from("accept")
    }

    /// A word behind `from` that occurs twice: its first place, and its second.
    pub fn doubled(&self, file: FileId) -> Option<(Span, Span)> {
        let tokens = self.0.children_with_tokens().filter_map(|element| element.into_token());
        let words = tokens.filter(|token| token.kind() == SyntaxKind::IDENT);
        let mut seen: Vec<SyntaxToken> = Vec::new();
        for token in words.skip_while(|token| token.text() != "from") {
            if let Some(first) = seen.iter().find(|known| known.text() == token.text()) {
                return Some((token_span(first, file), token_span(&token, file)));
            }
            seen.push(token);
        }
        None
    }

    fn is_from(&self, giver: &str) -> bool {
        has_word(&self.0, "from") && has_word(&self.0, giver)
    }
}

impl Limit {
    /// Whether it counts octets, not messages.
    pub fn is_in_octets(&self) -> bool {
        has_word(&self.0, "octets")
    }
    /// The part that applications may not use.
    pub fn reserve(&self) -> Option<Expr> {
        child::<Reserve>(&self.0).and_then(|reserve| child(&reserve.0))
    }
    /// How many messages of its own the layer may make from one message from above.
    pub fn ratio(&self) -> Option<Expr> {
        child::<Each>(&self.0).and_then(|each| child(&each.0))
    }
}

impl Where {
    /// What must hold.
    pub fn condition(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl State {
    /// Its name in the layer.
    pub fn name(&self) -> Option<Name> {
        child(super::AstNode::syntax(self))
    }
}

impl Header {
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// `packed`: the layout of its fields if no wire gives one.
    pub fn is_packed(&self) -> bool {
        has_word(&self.0, "packed")
    }
    /// `aligned`: each field begins at a multiple of its size.
    pub fn is_aligned(&self) -> bool {
        has_word(&self.0, "aligned")
    }
    /// `compressed`: one number stands for all fields that have their common values.
    pub fn is_compressed(&self) -> bool {
        has_word(&self.0, "compressed")
    }
    /// The fields of a header that is one record; `None` for a choice.
    pub fn fields(&self) -> Option<Vec<Field>> {
        child::<FieldList>(&self.0).map(|list| list.fields())
    }
    /// The alternatives; empty if it is one record.
    pub fn alternatives(&self) -> Vec<Alternative> {
        children(&self.0)
    }
}

impl Alternative {
    /// Its name in handlers and emissions.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The fields, in order.
    pub fn fields(&self) -> Vec<Field> {
        child::<FieldList>(&self.0).map_or(Vec::new(), |list| list.fields())
    }
    /// Whether it carries a message.
    pub fn with_message(&self) -> bool {
        has_word(&self.0, "message")
    }
}

impl Key {
    /// Whether both ends have the same value.
    pub fn is_symmetric(&self) -> bool {
        has_word(&self.0, "symmetric")
    }
    /// The fields, in order.
    pub fn fields(&self) -> Vec<Field> {
        child::<FieldList>(&self.0).map_or(Vec::new(), |list| list.fields())
    }
}

impl Address {
    /// `below address`: the address that a router needs from the layer below.
    pub fn is_below(&self) -> bool {
        has_word(&self.0, "below")
    }
    /// The fields, in order.
    pub fn fields(&self) -> Vec<Field> {
        child::<FieldList>(&self.0).map_or(Vec::new(), |list| list.fields())
    }
}

impl Several {
    /// The name by which flows of the layer below are told apart.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl Matching {
    /// `match one`, which is the default.
    pub fn is_one(&self) -> bool {
        has_word(&self.0, "one")
    }

    /// The attribute that messages to all matching users have.
    pub fn when(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl Scope {
    /// The kind, from the words in front of the brace.
    pub fn kind(&self) -> ScopeKind {
        let word = first_token(&self.0);
        // A misspelt word was reported and read as the one that was meant.
        let meant = word.as_ref().and_then(|word| did_you_mean(word.text(), ["session", "entity", "point", "view"]));
        match meant {
            Some("entity") => ScopeKind::Entity,
            Some("point") => ScopeKind::Point,
            Some("view") => ScopeKind::View,
            _ if has_word(&self.0, "below") => ScopeKind::SessionBelow,
            _ => ScopeKind::Session,
        }
    }
    /// The most objects.
    pub fn capacity(&self) -> Option<Expr> {
        child::<Capacity>(&self.0).and_then(|capacity| child(&capacity.0))
    }
    /// The states, in order.
    pub fn states(&self) -> Vec<State> {
        children(&self.0)
    }
    /// Handlers in the scope, which the language allows only in objects.
    pub fn handlers(&self) -> Vec<Handler> {
        children(&self.0)
    }
}

impl Object {
    /// The name of the class.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The names and types in brackets.
    pub fn keys(&self) -> Vec<Field> {
        children(&self.0)
    }
    /// The most objects.
    pub fn capacity(&self) -> Option<Expr> {
        child::<Capacity>(&self.0).and_then(|capacity| child(&capacity.0))
    }
    /// `owned by session`
    pub fn is_owned(&self) -> bool {
        has_word(&self.0, "owned") && !self.is_of_view()
    }
    /// `owned by view`
    pub fn is_of_view(&self) -> bool {
        has_word(&self.0, "view")
    }
    /// The name behind `evict`; `oldest` is the only one there is.
    pub fn evict(&self) -> Option<Name> {
        child::<Evict>(&self.0).and_then(|evict| child(&evict.0))
    }
    /// The key whose flow stays taken as long as the object lives.
    pub fn holds(&self) -> Option<Name> {
        child::<HoldsClause>(&self.0).and_then(|holds| child(&holds.0))
    }
    /// The states, in order.
    pub fn states(&self) -> Vec<State> {
        children(&self.0)
    }
    /// The handlers of its timers.
    pub fn handlers(&self) -> Vec<Handler> {
        children(&self.0)
    }
    /// Functions, which the language does not allow there.
    pub fn functions(&self) -> Vec<Function> {
        children(&self.0)
    }
}

impl Messages {
    /// The quota behind `from`.
    pub fn quota(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
}

impl Serves {
    /// The service's name.
    pub fn service(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl Uses {
    /// The service's name.
    pub fn service(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The name behind `as`.
    pub fn alias(&self) -> Option<Name> {
        children::<Name>(&self.0).into_iter().nth(1)
    }
}

impl Reads {
    /// The attributes; in a part also state of the layer.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl Writes {
    /// The attributes; in a part also state of the layer.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl Handler {
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The event: `send`, `resolve.ask`; `None` for `on expiry t`.
    pub fn event(&self) -> Option<Path> {
        child(&self.0)
    }
    /// `on change below.mtu`
    pub fn is_change(&self) -> bool {
        has_word(&self.0, "change")
    }
    /// The timer of `on expiry t`; for `on expiry waiting.t`, the container and its timer. Empty for other events.
    pub fn expiry(&self) -> Vec<Name> {
        children(&self.0)
    }
    /// The parameters; empty without parentheses.
    pub fn patterns(&self) -> Vec<Pattern> {
        child::<PatternList>(&self.0).map_or(Vec::new(), |list| children(&list.0))
    }
    /// The expression behind `from`: `flow`.
    pub fn from(&self) -> Option<Expr> {
        child::<FromClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The expression behind `to`: `flow`.
    pub fn to(&self) -> Option<Expr> {
        child::<ToClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The bound of `on settle limit n`.
    pub fn limit(&self) -> Option<Expr> {
        child::<LimitClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The room of `on name(…) later 64`.
    pub fn later(&self) -> Option<Expr> {
        child::<LaterRoom>(&self.0).and_then(|clause| child(&clause.0))
    }
    /// Its body.
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl AlternativePattern {
    /// The alternative's name.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The fields in braces.
    pub fn fields(&self) -> Vec<PatternField> {
        children(&self.0)
    }
}

impl PatternField {
    /// The field's name.
    pub fn field(&self) -> Option<Name> {
        child(&self.0)
    }
    /// Its name in the handler: the field's name, unless another one is given.
    pub fn local(&self) -> Option<Name> {
        children(&self.0).into_iter().last()
    }
}

impl LimitClause {
    /// The limit.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl ToClause {
    /// A flow, or a name that stands for one.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl FromClause {
    /// A flow, a name that stands for one, or a side.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}
