//! One host at rest: its objects, and the progress of its application. Exists as data, and packed into as few bits as
//! needed.
//!
//! Canonical: objects are ordered by age, numbers of ended objects are forgotten, and unused cells are zero. So hosts
//! that cannot be told apart are equal, and packed hosts are equal only if the hosts are.

use std::collections::BTreeMap;

use mokume_reaction::{CellKind, ClassId, Type};

use crate::message::{Message, Table};
use crate::program::{mask, Program};

/// A null reference.
pub(crate) const NULL: u64 = u64::MAX;
/// A reference to an object that has ended; it never refers to another.
pub(crate) const ENDED: u64 = u64::MAX - 1;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Host {
    pub number: usize,
    /// The objects by class, oldest first.
    pub objects: Vec<Vec<Object>>,
    pub application: Client,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Object {
    /// The place of its parent in the parent's class.
    pub parent: u64,
    pub cells: Vec<Content>,
    /// Whether it ended in the current reaction.
    pub has_ended: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Content {
    Word(u64),
    Array(Vec<u64>),
    /// The numbers of the messages, by place.
    Messages(Vec<Option<u32>>),
    Map(BTreeMap<Vec<u64>, Vec<u64>>),
    Timer(bool),
    /// The units that are left.
    Quota(u32),
    /// A counter. Handlers cannot read it, so it has no content.
    Nothing,
}

/// The state of the application.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Client {
    pub sent: u64,
    pub credit: u64,
    /// The number of messages received in order, by sending host.
    pub received: Vec<u64>,
    /// The object that the port named last, with its class.
    pub handle: Option<(ClassId, u64)>,
}

impl Host {
    /// The host before its start. It has the objects that exist from the start (docs/semantics.md, L2). Its application
    /// has sent nothing, and has the credit that the world gives it.
    pub fn new(program: &Program, number: usize) -> Host {
        let mut host = Host {
            number,
            objects: vec![Vec::new(); program.classes.len()],
            application: Client {
                credit: match &program.world.application.credit {
                    Some((first, _)) => *first as u64,
                    None => program.world.messages_of(number) as u64,
                },
                received: vec![0; program.world.hosts],
                ..Client::default()
            },
        };
        for (class, info) in program.classes.iter().enumerate().filter(|(_, info)| info.is_unique) {
            host.objects[class].push(Object::new(program, info.cells.as_slice(), 0));
        }
        host
    }

    /// The armed timers in order: class, place and cell.
    pub fn armed(&self) -> Vec<(usize, usize, usize)> {
        let mut armed = Vec::new();
        for (class, objects) in self.objects.iter().enumerate() {
            for (place, object) in objects.iter().enumerate() {
                let timers = object.cells.iter().enumerate().filter(|(_, cell)| **cell == Content::Timer(true));
                armed.extend(timers.map(|(cell, _)| (class, place, cell)));
            }
        }
        armed
    }

    /// Whether it has sent and received all that the world demands.
    pub fn is_done(&self, program: &Program) -> bool {
        let all = |host: usize| program.world.messages_of(host) as u64;
        self.application.sent == all(self.number)
            && (0..program.world.hosts).all(|from| from == self.number || self.application.received[from] == all(from))
    }

    /// The host in as few bits as the program's types need. Two hosts are equal if and only if these words are. So all
    /// fields of a host must be packed, except [`Object::has_ended`], which is false at rest.
    pub fn pack(&self, program: &Program) -> Box<[u64]> {
        let mut bits = BitWriter::default();
        bits.put(self.number as u64, 8);
        let client = &self.application;
        for count in [client.sent, client.credit].iter().chain(&client.received) {
            bits.put(*count, 16);
        }
        let (class, place) = client.handle.map_or((0, 0), |(class, place)| (u64::from(class.0) + 1, place));
        bits.put(class, 16);
        bits.put(place, 32);
        for (objects, info) in self.objects.iter().zip(&program.classes) {
            bits.put(objects.len() as u64, place_width(info.capacity));
            for object in objects {
                bits.put(object.parent, 32);
                for (content, kind) in object.cells.iter().zip(&info.cells) {
                    pack_cell(program, content, kind, &mut bits);
                }
            }
        }
        bits.finish()
    }

    /// The inverse of [`Host::pack`], for the same program. Any other words give a meaningless host.
    pub fn unpack(program: &Program, packed: &[u64]) -> Host {
        let mut bits = BitReader { words: packed, at: 0 };
        let number = bits.take(8) as usize;
        let (sent, credit) = (bits.take(16), bits.take(16));
        let received = (0..program.world.hosts).map(|_| bits.take(16)).collect();
        let (class, place) = (bits.take(16), bits.take(32));
        let handle = (class > 0).then(|| (ClassId(class as u32 - 1), widen(place, 32)));
        let mut objects = Vec::new();
        for info in &program.classes {
            let count = bits.take(place_width(info.capacity));
            let mut living = Vec::new();
            for _ in 0..count {
                let parent = bits.take(32);
                let cells = info.cells.iter().map(|kind| unpack_cell(program, kind, &mut bits)).collect();
                living.push(Object { parent, cells, has_ended: false });
            }
            objects.push(living);
        }
        Host { number, objects, application: Client { sent, credit, received, handle } }
    }
}

impl Object {
    /// A new object: numbers as declared or 0, references null, timers idle, quotas whole (docs/semantics.md, L1).
    pub fn new(program: &Program, cells: &[CellKind], parent: u64) -> Object {
        let word = |ty: Type, init: u64| if matches!(ty, Type::Ref(_)) { NULL } else { init & mask(program.width(ty)) };
        let content = |kind: &CellKind| match kind {
            CellKind::Scalar { ty, init } => Content::Word(word(*ty, *init)),
            CellKind::Array { ty, size, init } => Content::Array(vec![word(*ty, *init); *size as usize]),
            CellKind::Messages { size, .. } => Content::Messages(vec![None; *size as usize]),
            CellKind::Map { .. } => Content::Map(BTreeMap::new()),
            CellKind::Timer => Content::Timer(false),
            CellKind::Quota { amount } => Content::Quota(*amount),
            CellKind::Counter => Content::Nothing,
        };
        Object { parent, cells: cells.iter().map(content).collect(), has_ended: false }
    }
}

/// The bits of a number from 0 to `capacity`.
fn place_width(capacity: usize) -> u8 {
    (usize::BITS - capacity.leading_zeros()).max(1) as u8
}

/// The bits of a value at rest. References are object numbers, with room for `null` and for ended objects.
fn width(program: &Program, ty: Type) -> u8 {
    match ty {
        Type::Ref(class) => place_width(program.classes[class.index()].capacity + 2),
        Type::Msg | Type::Reason => 32,
        // No cell of one value is an array.
        Type::Array(..) => 0,
        scalar => program.width(scalar),
    }
}

/// Widens a narrow field: all ones is `NULL`, all ones but the last is `ENDED`.
fn widen(value: u64, width: u8) -> u64 {
    match mask(width) - value {
        distance @ 0..=1 => u64::MAX - distance,
        _ => value,
    }
}

fn put_word(program: &Program, ty: Type, value: u64, bits: &mut BitWriter) {
    bits.put(value, width(program, ty));
}

fn take_word(program: &Program, ty: Type, bits: &mut BitReader) -> u64 {
    let width = width(program, ty);
    let value = bits.take(width);
    if matches!(ty, Type::Ref(_)) {
        widen(value, width)
    } else {
        value
    }
}

fn pack_cell(program: &Program, content: &Content, kind: &CellKind, bits: &mut BitWriter) {
    match (content, kind) {
        (Content::Word(word), CellKind::Scalar { ty, .. }) => put_word(program, *ty, *word, bits),
        (Content::Array(words), CellKind::Array { ty, .. }) => {
            words.iter().for_each(|word| put_word(program, *ty, *word, bits));
        }
        (Content::Messages(places), _) => {
            for place in places {
                bits.put(u64::from(place.is_some()), 1);
                if let Some(message) = place {
                    bits.put(u64::from(*message), 32);
                }
            }
        }
        (Content::Map(entries), CellKind::Map { key, value, capacity, .. }) => {
            bits.put(entries.len() as u64, place_width(*capacity as usize));
            for (keys, values) in entries {
                keys.iter()
                    .zip(key)
                    .chain(values.iter().zip(value))
                    .for_each(|(w, ty)| put_word(program, *ty, *w, bits));
            }
        }
        (Content::Timer(armed), _) => bits.put(u64::from(*armed), 1),
        (Content::Quota(left), CellKind::Quota { amount }) => bits.put(u64::from(*left), place_width(*amount as usize)),
        _ => {}
    }
}

fn unpack_cell(program: &Program, kind: &CellKind, bits: &mut BitReader) -> Content {
    match kind {
        CellKind::Scalar { ty, .. } => Content::Word(take_word(program, *ty, bits)),
        CellKind::Array { ty, size, .. } => Content::Array((0..*size).map(|_| take_word(program, *ty, bits)).collect()),
        CellKind::Messages { size, .. } => {
            Content::Messages((0..*size).map(|_| (bits.take(1) == 1).then(|| bits.take(32) as u32)).collect())
        }
        CellKind::Map { key, value, capacity, .. } => {
            let count = bits.take(place_width(*capacity as usize));
            let mut words = |types: &[Type]| types.iter().map(|ty| take_word(program, *ty, bits)).collect::<Vec<u64>>();
            Content::Map((0..count).map(|_| (words(key), words(value))).collect())
        }
        CellKind::Timer => Content::Timer(bits.take(1) == 1),
        CellKind::Quota { amount } => Content::Quota(bits.take(place_width(*amount as usize)) as u32),
        CellKind::Counter => Content::Nothing,
    }
}

#[derive(Default)]
struct BitWriter {
    words: Vec<u64>,
    used: u32,
}

impl BitWriter {
    fn put(&mut self, value: u64, width: u8) {
        let (value, width) = (value & mask(width), u32::from(width));
        let room = self.words.len() as u32 * 64 - self.used;
        if room < width {
            self.words.push(0);
        }
        let at = self.used % 64;
        let word = (self.used / 64) as usize;
        self.words[word] |= value << at;
        if at + width > 64 {
            self.words[word + 1] |= value >> (64 - at);
        }
        self.used += width;
    }

    fn finish(self) -> Box<[u64]> {
        self.words.into()
    }
}

struct BitReader<'a> {
    words: &'a [u64],
    at: u32,
}

impl BitReader<'_> {
    fn take(&mut self, width: u8) -> u64 {
        let width = u32::from(width);
        let (word, at) = ((self.at / 64) as usize, self.at % 64);
        let low = self.words.get(word).copied().unwrap_or(0) >> at;
        let high = if at + width > 64 { self.words.get(word + 1).copied().unwrap_or(0) << (64 - at) } else { 0 };
        self.at += width;
        (low | high) & mask(width as u8)
    }
}

/// Things that are numbered because few different ones occur.
#[derive(Default)]
pub(crate) struct Tables {
    pub kept: Table<Message>,
    /// Packets as octets, as they are on the network.
    pub packets: Table<Vec<u8>>,
}
