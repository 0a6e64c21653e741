//! What an instance of the stack became: the classes, cells, header and wires that stand for it in the automaton.

use std::collections::HashMap;

use mokume_reaction as r;
use mokume_semantics::program as s;

/// Everything about one instance that handlers ask for.
#[derive(Clone, Debug)]
pub struct Info {
    pub classes: Classes,
    /// The entity's reference to the view that is.
    pub view: Option<r::CellId>,
    /// What its sessions keep for the shape.
    pub session: Option<SessionCells>,
    /// What the objects of the lower side keep, where several sessions share one below.
    pub lower: Option<LowerCells>,
    /// What listeners and their sessions share.
    pub point: Option<PointCells>,
    /// What its points keep for the sessions that begin there: given with `listen`, with its cells.
    pub listened: Vec<(Given, Vec<r::CellId>)>,
    /// Who listens to a multiplexor.
    pub listeners: Option<Patterns>,
    /// Of a multiplexor over a layer that has a use for listeners: what it has passed on.
    pub passed: Option<PassedCells>,
    /// How many listeners there was no room for.
    pub refused: Option<r::CellId>,
    /// How often a session was told above to be there that was told of already.
    pub told_twice: Option<r::CellId>,
    /// How many sessions that its code would open there was no room for.
    pub refused_sessions: Option<r::CellId>,
    pub objects: Vec<KeyedObjects>,
    pub members: HashMap<(s::ScopeKind, u32), Vec<r::CellId>>,
    /// Members whose first value is known at start only.
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
    /// What is known of an instance first: its entity's class, and nothing else.
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
            members: HashMap::new(),
            late: Vec::new(),
            header: None,
            fields: Vec::new(),
            coding: Coding::default(),
            port: None,
        }
    }

    /// The session's reference to the one below; none where a lower side's object has it.
    pub fn below(&self) -> Option<r::CellId> {
        self.session.as_ref()?.below
    }

    /// The same of the session below from the moment that it is made, for what ends it; of the lower side's object where there is one.
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
    /// The session above, one for each user of sessions.
    pub above: Vec<r::CellId>,
    /// Which of several users it is of.
    pub user: Option<r::CellId>,
    pub below: Option<r::CellId>,
    /// Where the layer below may hold `opened` back: the session there from the moment that it is made, for what ends it.
    pub coming: Option<r::CellId>,
    /// Of a layer that says `opened` or `accepted` itself: whether it has, or its shape.
    pub told: Option<r::CellId>,
    /// Its flow, by component.
    pub flow: Vec<r::CellId>,
    /// Of a multiplexor: how it is found.
    pub found: Option<FoundCells>,
    /// Where several share one below: the object of the lower side.
    pub lower: Option<r::CellId>,
    /// Whether it was told that it is open.
    pub opened: Option<r::CellId>,
    /// Of an application: the number that the user gave.
    pub number: Option<r::CellId>,
    /// Of a layer that begins sessions with messages that arrive: for one that was, the entity above that is told of it; for the
    /// others, and where it has ended, nobody.
    pub begun: Vec<(usize, r::CellId)>,
    /// Of a layer whose sessions settle, or may fail in the instant in which they begin: how it asked to end.
    pub ending: Option<EndingCells>,
}

/// How a session that settles asked to end: it does when it has settled once more (docs/language.md, section 12).
#[derive(Clone, Copy, Debug)]
pub struct EndingCells {
    /// A number of [`crate::shape::Ending`].
    pub how: r::CellId,
    /// Of a failure.
    pub why: r::CellId,
    /// Whether it has asked to settle again, where its code does.
    pub again: Option<r::CellId>,
    /// The layer has code for it: then all that ends a session waits for it, else only what fails while it begins.
    pub settles: bool,
}

impl SessionCells {
    /// No cells yet: each is there only where somebody needs it.
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
    /// The session's: the message that began it, until the layer above has its half.
    pub first: r::CellId,
    /// The entity's quota of such messages.
    pub arriving: r::CellId,
    /// The entity's: what the next key is chosen from, where a session leaves its own open.
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
    /// The entity's map from flows below.
    pub map: r::CellId,
}

/// What a layer with points keeps.
#[derive(Clone, Copy, Debug)]
pub struct PointCells {
    pub class: r::ClassId,
    /// The entity's points, by the pattern of their listener.
    pub index: Patterns,
    /// Where points have state, which their sessions see as long as they are.
    pub shared: Option<SharedCells>,
}

/// What keeps a point for its sessions when its listener has gone.
#[derive(Clone, Copy, Debug)]
pub struct SharedCells {
    /// How many sessions are of it.
    pub sessions: r::CellId,
    pub listening: r::CellId,
    /// The session's.
    pub of_session: r::CellId,
}

/// Maps of the entity by patterns of flows: of the local end, and of both.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    pub local: r::CellId,
    pub from: Option<r::CellId>,
    /// Whether there ever was one of both; looked at before the map.
    pub any: Option<r::CellId>,
    /// Where there are two maps: how many patterns there is room for in both together, a quota.
    pub room: Option<r::CellId>,
}

/// What a multiplexor has listened for below: its own key is no part of that, so that several patterns above may be one there.
#[derive(Clone, Copy, Debug)]
pub struct PassedCells {
    /// By the pattern below, how many there are above.
    pub counts: Patterns,
    /// Who is bound to a key and listens has no place among the listeners: by the user's place and the pattern below.
    pub bound: Option<Patterns>,
}

/// The objects of one class that the layer declares.
#[derive(Clone, Copy, Debug)]
pub struct KeyedObjects {
    pub class: r::ClassId,
    /// The map from keys: the entity's, or the session's that owns them.
    pub index: Option<r::CellId>,
}

/// Where the headers of an instance's group become octets, seen from the instance.
#[derive(Clone, Debug, Default)]
pub struct Coding {
    /// The group's wire, if this layer is directly below the coding point.
    pub above: Option<r::WireId>,
    /// The same, if it is directly above it.
    pub below: Option<r::WireId>,
    /// The wire that a packet from below is validated against first.
    pub validated: Option<r::WireId>,
    /// At or below the coding point: its fields in the packet.
    pub placed: Option<Vec<Option<PlacedField>>>,
    /// Octets of the group's wire before the payload, if they are always as many.
    pub size: Option<u32>,
}

impl Coding {
    /// The group's wire, where it borders on the instance.
    pub fn wire(&self) -> Option<r::WireId> {
        self.above.or(self.below)
    }
}

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

/// Which ends of a packet a key's field is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPart {
    Source,
    Destination,
    Both,
}

impl KeyPart {
    /// The same part as the other end sees it.
    pub fn turned(self) -> KeyPart {
        match self {
            KeyPart::Source => KeyPart::Destination,
            KeyPart::Destination => KeyPart::Source,
            KeyPart::Both => KeyPart::Both,
        }
    }
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
    /// The number in the packet, as operations on octets have it; its offset is `octet`.
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
    /// Whether who opens gives it, and who listens.
    pub by: [bool; 2],
}

/// Who gives a constant of a session its value, besides `accept`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Giver {
    Open,
    Listen,
}

impl Giver {
    /// As the source names it.
    pub fn word(self) -> &'static str {
        match self {
            Giver::Open => "open",
            Giver::Listen => "listen",
        }
    }
}

impl Given {
    /// Whether it asks that one.
    pub fn asks(&self, giver: Giver) -> bool {
        match giver {
            Giver::Open => self.by[0],
            Giver::Listen => self.by[1],
        }
    }
}
