//! What an instance became in the automaton: its classes, cells, header and wires.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction as r;
use mokume_semantics::program as s;

/// Everything about one instance that handlers look up.
#[derive(Clone, Debug)]
pub struct Info {
    pub classes: Classes,
    /// The entity's reference to the current view.
    pub view: Option<r::CellId>,
    /// The shape's cells of a session.
    pub session: Option<SessionCells>,
    /// The cells of a lower side's objects, if several sessions share one below.
    pub lower: Option<LowerCells>,
    /// The cells that listeners and their sessions share.
    pub point: Option<PointCells>,
    /// The values of `listen` that its points keep for sessions, with their cells.
    pub listened: Vec<(Given, Vec<r::CellId>)>,
    /// The listeners of a multiplexor.
    pub listeners: Option<Patterns>,
    /// For a multiplexor over a layer that uses listeners: what it has passed on.
    pub passed: Option<PassedCells>,
    /// Counter of listeners that there was no room for.
    pub refused: Option<r::CellId>,
    /// Counter of sessions that the code told to the layer above a second time.
    pub told_twice: Option<r::CellId>,
    /// Counter of sessions that its code could not open because there was no room.
    pub refused_sessions: Option<r::CellId>,
    pub objects: Vec<KeyedObjects>,
    pub members: HashMap<(s::ScopeKind, u32), Vec<r::CellId>>,
    /// Members whose initial value is known only at the start.
    pub late: Vec<(s::ScopeKind, u32)>,
    pub header: Option<r::HeaderId>,
    /// The header's fields, by variant.
    pub fields: Vec<Vec<HeaderField>>,
    pub coding: Coding,
    pub port: Option<r::PortId>,
}

/// The classes of an instance's objects.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    pub entity: r::ClassId,
    pub session: Option<r::ClassId>,
    pub lower: Option<r::ClassId>,
    pub point: Option<r::ClassId>,
    pub view: Option<r::ClassId>,
}

impl Info {
    /// The initial information: the entity's class, and nothing else.
    pub fn new(entity: r::ClassId) -> Info {
        Info {
            classes: Classes { entity, session: None, lower: None, point: None, view: None },
            view: None,
            session: None,
            lower: None,
            point: None,
            listened: Vec::new(),
            listeners: None,
            passed: None,
            refused: None,
            told_twice: None,
            refused_sessions: None,
            objects: Vec::new(),
            members: HashMap::default(),
            late: Vec::new(),
            header: None,
            fields: Vec::new(),
            coding: Coding::default(),
            port: None,
        }
    }

    /// The session's reference to the one below; `None` if a lower side's object has it.
    pub fn below(&self) -> Option<r::CellId> {
        self.session.as_ref()?.below
    }

    /// The reference to the session below from its making on, for code that ends it; of the lower side's object if
    /// there is one.
    pub fn coming(&self) -> Option<r::CellId> {
        match &self.lower {
            Some(cells) => cells.coming,
            None => self.session.as_ref()?.coming,
        }
    }
}

/// The shape's cells of a session.
#[derive(Clone, Debug)]
pub struct SessionCells {
    pub class: r::ClassId,
    /// The session above, one cell for each user of sessions.
    pub above: Vec<r::CellId>,
    /// Which of several users it belongs to.
    pub user: Option<r::CellId>,
    pub below: Option<r::CellId>,
    /// If the layer below may delay `opened`: the session there from its making on, for code that ends it.
    pub coming: Option<r::CellId>,
    /// For a layer whose code emits `opened` or `accepted`: whether the layer above was told.
    pub told: Option<r::CellId>,
    /// Its flow, a cell for each component.
    pub flow: Vec<r::CellId>,
    /// For a multiplexor: how it is found.
    pub found: Option<FoundCells>,
    /// If several share one below: the object of the lower side.
    pub lower: Option<r::CellId>,
    /// Whether the layer above was told that it is open.
    pub opened: Option<r::CellId>,
    /// For an application: the number that the user gave.
    pub number: Option<r::CellId>,
    /// For a layer that begins sessions with arriving messages: for such a session, the entity above that is told of
    /// it; null for others, and when it has ended.
    pub begun: Vec<(usize, r::CellId)>,
    /// For a layer whose sessions settle, or may fail in the instant in which they begin: how it asked to end.
    pub ending: Option<EndingCells>,
}

/// How a session that settles asked to end, which it does after its next settling (docs/language.md, section 12).
#[derive(Clone, Copy, Debug)]
pub struct EndingCells {
    /// A number of [`crate::shape::Ending`].
    pub how: r::CellId,
    /// The reason of a failure.
    pub why: r::CellId,
    /// Whether it has asked to settle again, if its code can do so.
    pub again: Option<r::CellId>,
    /// Whether the layer has code for settling: then every end waits for it, else only a failure while the session
    /// begins.
    pub settles: bool,
}

impl SessionCells {
    /// No cells yet: each is made only if it is needed.
    pub fn new(class: r::ClassId) -> SessionCells {
        SessionCells {
            class,
            above: Vec::new(),
            user: None,
            below: None,
            coming: None,
            told: None,
            flow: Vec::new(),
            found: None,
            lower: None,
            opened: None,
            number: None,
            begun: Vec::new(),
            ending: None,
        }
    }
}

/// How a multiplexor finds a session.
#[derive(Clone, Copy, Debug)]
pub struct FoundCells {
    /// The entity's map from flows to sessions.
    pub map: r::CellId,
    /// In the session: the message that began it, until the layer above has its session.
    pub first: r::CellId,
    /// In the entity: the quota of such messages.
    pub arriving: r::CellId,
    /// In the entity: the counter from which the next key is chosen, if a session leaves its own open.
    pub next_key: Option<r::CellId>,
}

/// The cells of an object of the lower side.
#[derive(Clone, Debug)]
pub struct LowerCells {
    pub class: r::ClassId,
    /// The session below; null while it opens.
    pub below: r::CellId,
    /// As [`SessionCells::coming`].
    pub coming: Option<r::CellId>,
    /// How many sessions share it.
    pub count: r::CellId,
    /// Its flow, by component.
    pub flow: Vec<r::CellId>,
    /// The entity's map from lower flows.
    pub map: r::CellId,
}

/// The cells of a layer with points.
#[derive(Clone, Copy, Debug)]
pub struct PointCells {
    pub class: r::ClassId,
    /// The entity's map from listeners' patterns to points.
    pub index: Patterns,
    /// If points have state, which lives as long as their sessions.
    pub shared: Option<SharedCells>,
}

/// What keeps a point alive for its sessions when its listener has gone.
#[derive(Clone, Copy, Debug)]
pub struct SharedCells {
    /// How many sessions belong to it.
    pub sessions: r::CellId,
    pub listening: r::CellId,
    /// In the session: its point.
    pub of_session: r::CellId,
}

/// Maps of the entity by patterns of flows: patterns of the local end, and of both ends.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    pub local: r::CellId,
    pub from: Option<r::CellId>,
    /// Whether there ever was a pattern of both ends; read before the map is searched.
    pub any: Option<r::CellId>,
    /// If there are two maps: a quota for the patterns of both together.
    pub room: Option<r::CellId>,
}

/// What a multiplexor has listened for below. Its own key is not part of that, so several patterns above may be one
/// below.
#[derive(Clone, Copy, Debug)]
pub struct PassedCells {
    /// By the pattern below, how many there are above.
    pub counts: Patterns,
    /// For listeners that are bound to a key, and so not among the other listeners: by the user's index and the pattern
    /// below.
    pub bound: Option<Patterns>,
}

/// The objects of a class that the layer declares.
#[derive(Clone, Copy, Debug)]
pub struct KeyedObjects {
    pub class: r::ClassId,
    /// The map from keys, in the entity or in the session that owns the objects.
    pub index: Option<r::CellId>,
}

/// Where the headers of an instance's group become octets, from the view of the instance.
#[derive(Clone, Debug, Default)]
pub struct Coding {
    /// The group's wire, if this layer is directly below the coding point.
    pub above: Option<r::WireId>,
    /// The group's wire, if it is directly above it.
    pub below: Option<r::WireId>,
    /// The wire by which a packet from below is validated first.
    pub validated: Option<r::WireId>,
    /// At or below the coding point: the places of its fields in the packet.
    pub placed: Option<Vec<Option<PlacedField>>>,
    /// Octets of the group's wire before the payload, if they are constant.
    pub size: Option<u32>,
}

impl Coding {
    /// The group's wire, if it borders on the instance.
    pub fn wire(&self) -> Option<r::WireId> {
        self.above.or(self.below)
    }
}

/// The meaning of one scalar of a header's record.
#[derive(Clone, Debug)]
pub struct HeaderField {
    pub name: String,
    /// The name that its parts make, which another field may have, too.
    pub path: String,
    pub ty: r::Type,
    /// Which scalar of the key it is, and of which end.
    pub key: Option<(KeyPart, usize)>,
    /// The field's index in the layer's own record.
    pub own: Option<u32>,
    /// Whether it is big-endian, if no wire says.
    pub big: Option<bool>,
    /// The value in most packets.
    pub common: Option<u64>,
    /// For a bit field of the wire that travels with the message: the attribute that keeps it.
    pub kept: Option<r::AttributeId>,
}

/// Which end of a packet a key's field is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPart {
    Source,
    Destination,
    Both,
}

impl KeyPart {
    /// The same part from the other end's view.
    pub fn turned(self) -> KeyPart {
        match self {
            KeyPart::Source => KeyPart::Destination,
            KeyPart::Destination => KeyPart::Source,
            KeyPart::Both => KeyPart::Both,
        }
    }
}

/// The place in the packet of a field of a layer below the coding point.
#[derive(Clone, Copy, Debug)]
pub struct PlacedField {
    pub octet: u32,
    pub width: u8,
    pub endian: r::Endian,
    pub times: u64,
    pub plus: u64,
}

impl PlacedField {
    /// The field for operations on octets; its offset is `octet`.
    pub fn field(&self) -> r::OctetField {
        r::OctetField { width: self.width, endian: self.endian }
    }
}

/// A constant that an instance asks for.
#[derive(Clone, PartialEq, Debug)]
pub struct Given {
    pub inst: usize,
    pub member: u32,
    pub name: String,
    pub ty: s::Type,
    /// Whether `open` gives it, and whether `listen` does.
    pub by: [bool; 2],
}

/// Who sets a constant of a session, besides `accept`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Giver {
    Open,
    Listen,
}

impl Giver {
    /// The word in the source.
    pub fn word(self) -> &'static str {
        match self {
            Giver::Open => "open",
            Giver::Listen => "listen",
        }
    }
}

impl Given {
    /// Whether this giver gives it.
    pub fn asks(&self, giver: Giver) -> bool {
        match giver {
            Giver::Open => self.by[0],
            Giver::Listen => self.by[1],
        }
    }
}
