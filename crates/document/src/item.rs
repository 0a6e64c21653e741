//! The subject of a page as data: all that the page says, and where the source says it.

use mokume_base::Span;
use mokume_draw::HeaderPicture;

/// The kind of an item. Kinds with full pages come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A worker, multiplexor, router or endpoint.
    Layer,
    /// Several layers that act as one.
    Bundle,
    /// The layout of headers in packets.
    Wire,
    /// Layers over devices.
    Stack,
    /// Hosts on links.
    Network,
    /// A part of a layer, in its own file.
    Part,
    /// What one layer asks of another layer beside it.
    Service,
    /// The events that a layer passes to the layer above.
    Signature,
    /// Events that layers define for each other.
    Vocabulary,
    /// State with functions.
    Container,
    /// A record: several values together.
    Record,
    /// Names for numbers.
    Enum,
    /// Another name for a type, possibly with a notation.
    Type,
    /// A named value.
    Const,
    /// A number that accompanies a message.
    Attribute,
    /// A function of a file.
    Function,
    /// Tests for any stack.
    Suite,
}

impl Kind {
    /// All kinds, in the order of the index.
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

    /// The kind in page names and JSON.
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

    /// The kind in headings.
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

/// The subject of a fact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum About {
    /// Layers of a bundle or stack, from top to bottom.
    Layers,
    /// Hosts of a network.
    Hosts,
    /// Links of a network, with their weather.
    Links,
    /// The wire that carries a bundle's headers.
    EncodedBy,
    /// Fields of headers, records, keys and addresses; values of enums; fields of wires.
    Fields,
    /// The key by which a multiplexor finds the layer above.
    Key,
    /// The address fields of the flows above a router.
    Address,
    /// The properties that it claims to need.
    Needs,
    /// Values of the layers below that it reads.
    Reads,
    /// Operations and events that it calls below.
    Asks,
    /// Services of other layers that it uses.
    Uses,
    /// Attributes of messages.
    Attributes,
    /// The properties that it claims to provide.
    Gives,
    /// Values that it publishes to the layers above.
    Publishes,
    /// Its limits.
    Limits,
    /// Events that it sends to the layers above.
    Tells,
    /// Services that it provides.
    Serves,
    /// Vocabularies that it speaks.
    Speaks,
    /// Events that it handles; operations of services; functions of containers.
    Handles,
    /// State, and its owner; objects with their keys.
    State,
    /// Timers.
    Timers,
    /// Reasons for which it drops messages.
    Drops,
    /// Reasons for which it consumes messages.
    Consumes,
    /// Reasons for which sessions fail.
    Fails,
    /// Its parts in other files.
    Parts,
    /// Items that use it.
    UsedBy,
}

impl About {
    /// All subjects, in the order of a page.
    pub const ALL: [About; 26] = [
        About::Layers,
        About::Hosts,
        About::Links,
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

    /// The subject in JSON and anchors.
    pub fn word(self) -> &'static str {
        match self {
            About::Layers => "layers",
            About::Hosts => "hosts",
            About::Links => "links",
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

    /// The subject in the rows of a page.
    pub fn title(self) -> &'static str {
        match self {
            About::Layers => "layer",
            About::Hosts => "host",
            About::Links => "link",
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

/// The groups of a page: a heading, and the subjects under it.
pub const GROUPS: [(&str, &[About]); 11] = [
    ("Layers, from top to bottom", &[About::Layers, About::EncodedBy]),
    ("Hosts", &[About::Hosts]),
    ("Links", &[About::Links]),
    ("Fields", &[About::Fields, About::Key, About::Address]),
    ("Below", &[About::Needs, About::Reads, About::Asks]),
    ("Beside", &[About::Uses, About::Serves, About::Attributes]),
    ("Above", &[About::Gives, About::Publishes, About::Limits, About::Tells]),
    ("Events", &[About::Speaks, About::Handles]),
    ("State", &[About::State, About::Timers, About::Parts]),
    ("Ends of messages and sessions", &[About::Drops, About::Consumes, About::Fails]),
    ("Used by", &[About::UsedBy]),
];

/// One fact about an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The name by which it is found.
    pub name: String,
    /// The text from the source.
    pub says: String,
    /// Its `///` lines.
    pub doc: String,
    /// The place of the text.
    pub at: Span,
    /// The declaration of what it names, if that is elsewhere.
    pub of: Option<Span>,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The name that arguments use.
    pub name: String,
    /// The type, as written.
    pub ty: String,
    /// The default, as written; `None`: an argument is required.
    pub default: Option<String>,
    /// Its place.
    pub at: Span,
}

/// A test of a stack that contains the item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// The test's name.
    pub name: String,
    /// The place of the whole test.
    pub at: Span,
}

/// The subject of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// The item's kind.
    pub kind: Kind,
    /// The keyword of the declaration: `worker`, `bundle`.
    pub word: String,
    /// Its name.
    pub name: String,
    /// The place of the name in the declaration; it identifies the item.
    pub named: Span,
    /// The place of the whole item, without the comments before it.
    pub whole: Span,
    /// Its `///` lines.
    pub doc: String,
    /// The text before its code.
    pub head: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Pictures of its header or packet, as RFCs draw them.
    pub pictures: Vec<HeaderPicture>,
    /// The facts about it, by subject.
    pub facts: Vec<(About, Vec<Fact>)>,
    /// Tests; those of the smallest stacks first, of these the shortest first.
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

    /// The facts about one subject.
    pub fn about(&self, about: About) -> &[Fact] {
        self.facts.iter().find(|(known, _)| *known == about).map_or(&[], |(_, facts)| facts)
    }
}
