//! What a page is of, as data: all that is said on it, and where the source says it.

use mokume_base::Span;
use mokume_draw::HeaderPicture;

/// What an item is. Those that have pages of their own in full come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A worker, multiplexor, router or endpoint.
    Layer,
    /// Layers that act as one.
    Bundle,
    /// How headers lie in packets.
    Wire,
    /// Layers over devices.
    Stack,
    /// Hosts on links.
    Network,
    /// A part of a layer, in a file of its own.
    Part,
    /// What one layer asks of another beside it.
    Service,
    /// What comes out above a layer.
    Signature,
    /// Events of the layers' own.
    Vocabulary,
    /// State with functions.
    Container,
    /// Values side by side.
    Record,
    /// Names for numbers.
    Enum,
    /// Another name for a type, perhaps with a notation.
    Type,
    /// A value with a name.
    Const,
    /// A number beside a message.
    Attribute,
    /// A function of a file.
    Function,
    /// Tests of any stack.
    Suite,
}

impl Kind {
    /// All, in the order of the index.
    pub const ALL: [Kind; 17] = [
        Kind::Layer,
        Kind::Bundle,
        Kind::Wire,
        Kind::Stack,
        Kind::Network,
        Kind::Part,
        Kind::Service,
        Kind::Signature,
        Kind::Vocabulary,
        Kind::Container,
        Kind::Record,
        Kind::Enum,
        Kind::Type,
        Kind::Const,
        Kind::Attribute,
        Kind::Function,
        Kind::Suite,
    ];

    /// As names of pages and JSON have it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Layer => "layer",
            Kind::Bundle => "bundle",
            Kind::Wire => "wire",
            Kind::Stack => "stack",
            Kind::Network => "network",
            Kind::Part => "part",
            Kind::Service => "service",
            Kind::Signature => "signature",
            Kind::Vocabulary => "vocabulary",
            Kind::Container => "container",
            Kind::Record => "record",
            Kind::Enum => "enum",
            Kind::Type => "type",
            Kind::Const => "const",
            Kind::Attribute => "attribute",
            Kind::Function => "function",
            Kind::Suite => "suite",
        }
    }

    /// As headings have it.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Layer => "Layers",
            Kind::Bundle => "Bundles",
            Kind::Wire => "Wires",
            Kind::Stack => "Stacks",
            Kind::Network => "Networks",
            Kind::Part => "Parts of layers",
            Kind::Service => "Services",
            Kind::Signature => "Signatures",
            Kind::Vocabulary => "Vocabularies",
            Kind::Container => "Containers",
            Kind::Record => "Records",
            Kind::Enum => "Enums",
            Kind::Type => "Types",
            Kind::Const => "Constants",
            Kind::Attribute => "Attributes",
            Kind::Function => "Functions",
            Kind::Suite => "Suites of tests",
        }
    }
}

/// What facts are about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum About {
    /// Layers of a bundle or stack, from top to bottom.
    Layers,
    /// The wire that carries a bundle's headers.
    EncodedBy,
    /// Fields of headers, records, keys and addresses; values of enums; fields of wires.
    Fields,
    /// What a multiplexor finds the layer above by.
    Key,
    /// What flows above a router are made of.
    Address,
    /// What it claims to need.
    Needs,
    /// Values that it reads of those below.
    Reads,
    /// What it asks of those below: operations and events.
    Asks,
    /// Services of others that it uses.
    Uses,
    /// Attributes of messages.
    Attributes,
    /// What it claims to give.
    Gives,
    /// Values for those above.
    Publishes,
    /// How much it takes.
    Limits,
    /// What it tells those above.
    Tells,
    /// Services that it has.
    Serves,
    /// Vocabularies that it knows.
    Speaks,
    /// Events that it has a handler for; operations of services; functions of containers.
    Handles,
    /// State, and what it is of.
    State,
    /// Timers.
    Timers,
    /// Why messages are lost.
    Drops,
    /// What messages are used up for.
    Consumes,
    /// Why sessions fail.
    Fails,
    /// Parts in files of their own.
    Parts,
    /// Who uses it.
    UsedBy,
}

impl About {
    /// All, in the order of a page.
    pub const ALL: [About; 24] = [
        About::Layers,
        About::EncodedBy,
        About::Fields,
        About::Key,
        About::Address,
        About::Needs,
        About::Reads,
        About::Asks,
        About::Uses,
        About::Attributes,
        About::Gives,
        About::Publishes,
        About::Limits,
        About::Tells,
        About::Serves,
        About::Speaks,
        About::Handles,
        About::State,
        About::Timers,
        About::Drops,
        About::Consumes,
        About::Fails,
        About::Parts,
        About::UsedBy,
    ];

    /// As JSON and anchors have it.
    pub fn word(self) -> &'static str {
        match self {
            About::Layers => "layers",
            About::EncodedBy => "encoded_by",
            About::Fields => "fields",
            About::Key => "key",
            About::Address => "address",
            About::Needs => "needs",
            About::Reads => "reads",
            About::Asks => "asks",
            About::Uses => "uses",
            About::Attributes => "attributes",
            About::Gives => "gives",
            About::Publishes => "publishes",
            About::Limits => "limits",
            About::Tells => "tells",
            About::Serves => "serves",
            About::Speaks => "speaks",
            About::Handles => "handles",
            About::State => "state",
            About::Timers => "timers",
            About::Drops => "drops",
            About::Consumes => "consumes",
            About::Fails => "fails",
            About::Parts => "parts",
            About::UsedBy => "used_by",
        }
    }

    /// As rows of a page have it.
    pub fn title(self) -> &'static str {
        match self {
            About::Layers => "layer",
            About::EncodedBy => "encoded by",
            About::Fields => "field",
            About::Key => "key",
            About::Address => "address",
            About::Needs => "needs",
            About::Reads => "reads",
            About::Asks => "emits",
            About::Uses => "uses",
            About::Attributes => "attribute",
            About::Gives => "gives",
            About::Publishes => "publishes",
            About::Limits => "limits",
            About::Tells => "emits",
            About::Serves => "serves",
            About::Speaks => "speaks",
            About::Handles => "handles",
            About::State => "state",
            About::Timers => "timer",
            About::Drops => "drops, as",
            About::Consumes => "consumes, as",
            About::Fails => "fails, as",
            About::Parts => "part",
            About::UsedBy => "used by",
        }
    }
}

/// What stands under one heading of a page.
pub const GROUPS: [(&str, &[About]); 9] = [
    ("Layers, from top to bottom", &[About::Layers, About::EncodedBy]),
    ("Fields", &[About::Fields, About::Key, About::Address]),
    ("Below", &[About::Needs, About::Reads, About::Asks]),
    ("Beside", &[About::Uses, About::Serves, About::Attributes]),
    ("Above", &[About::Gives, About::Publishes, About::Limits, About::Tells]),
    ("Events", &[About::Speaks, About::Handles]),
    ("State", &[About::State, About::Timers, About::Parts]),
    ("Ends of messages and sessions", &[About::Drops, About::Consumes, About::Fails]),
    ("Used by", &[About::UsedBy]),
];

/// One thing that is said of an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// By which it is found.
    pub name: String,
    /// As the source has it.
    pub says: String,
    /// Its `///` lines.
    pub doc: String,
    /// Where the source says it.
    pub at: Span,
    /// Where what it names is declared, if that is elsewhere.
    pub of: Option<Span>,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// As arguments name it.
    pub name: String,
    /// As it is written.
    pub ty: String,
    /// As it is written; without one an argument is needed.
    pub default: Option<String>,
    /// Its place.
    pub at: Span,
}

/// A test of a stack that the item is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// The test's name.
    pub name: String,
    /// All of its text.
    pub at: Span,
}

/// What a page is of.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// Which.
    pub kind: Kind,
    /// The word that the source declares it with: `worker`, `bundle`.
    pub word: String,
    /// Its name.
    pub name: String,
    /// Where the name stands: by this others find it.
    pub named: Span,
    /// All of its text, without the comments in front.
    pub whole: Span,
    /// Its `///` lines.
    pub doc: String,
    /// What stands in front of its code.
    pub head: String,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// Its header or packet, as RFCs draw them.
    pub pictures: Vec<HeaderPicture>,
    /// What is said of it.
    pub facts: Vec<(About, Vec<Fact>)>,
    /// Tests, the shortest of the smallest stacks first.
    pub examples: Vec<Example>,
}

impl Item {
    /// The first sentence of its documentation.
    pub fn summary(&self) -> String {
        let first = self.doc.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let is_end = |at: &usize| first[..*at].matches('`').count() % 2 == 0;
        match first.match_indices(". ").map(|(at, _)| at).find(is_end) {
            Some(end) => first[..=end].to_string(),
            None => first,
        }
    }

    /// What is said about one thing.
    pub fn about(&self, about: About) -> &[Fact] {
        self.facts.iter().find(|(known, _)| *known == about).map_or(&[], |(_, facts)| facts)
    }
}
