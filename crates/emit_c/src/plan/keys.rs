//! The layout of map keys in machine words: it matches that of messages, if a path looks a key up from a message.
//!
//! A path that looks up addresses and ports has them adjacent in the packet. If the map stores its keys in the same
//! order, one read of the packet gives a word of the key: no byte order is swapped, no numbers are combined, and a
//! whole word is compared at once. The first path that reads the most of a key determines the order.
//!
//! This costs octets for each object, so classes of many objects do not use it.
//!
//! It must keep: two keys are equal exactly if their words are. Each part is in one word, in as many octets as its type
//! has.

use rustc_hash::FxHashMap as HashMap;

use mokume_reaction::*;

use crate::types::{stored_octets, MANY};

/// A part of a key, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Its index in the key.
    pub at: usize,
    pub octets: u32,
    /// Its byte order in messages; a computed number counts as little-endian.
    pub endian: Endian,
    /// Its offset in the word, in octets.
    pub from: u32,
}

/// Up to eight octets of a key, as a little-endian number.
pub(crate) type Word = Vec<Part>;

/// A part that is read from a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub message: Value,
    /// Its first octet.
    pub at: u64,
    pub endian: Endian,
}

/// Octets of a word.
pub(crate) fn octets(word: &Word) -> u32 {
    word.iter().map(|part| part.octets).sum()
}

/// The C type of a word.
pub(crate) fn c_type(word: &Word) -> &'static str {
    match octets(word) {
        0..=1 => "uint8_t",
        2 => "uint16_t",
        3..=4 => "uint32_t",
        _ => "uint64_t",
    }
}

/// The alignment and the octets of a stored key.
pub(crate) fn kept(words: &[Word]) -> (u64, u64) {
    let size = |word: &Word| u64::from(octets(word)).next_power_of_two();
    let align = words.iter().map(size).max().unwrap_or(1);
    let mut end = 0u64;
    for word in words {
        end = end.next_multiple_of(size(word)) + size(word);
    }
    (align, end.next_multiple_of(align))
}

/// The words of a map's key; `None` if no path reads a key from a message: then its parts are compared one by one.
pub(crate) fn words(automaton: &Automaton, (class, cell): (ClassId, CellId)) -> Option<Vec<Word>> {
    let CellKind::Map { key: types, value, by, .. } = &automaton.class(class).cells.get(cell.index())?.kind else {
        return None;
    };
    match value.first() {
        Some(Type::Ref(of)) if !by.is_empty() && automaton.class(*of).capacity < MANY => {}
        _ => return None,
    }
    let sizes: Vec<u32> = types.iter().map(|ty| stored_octets(automaton, *ty)).collect();
    let mut best: Option<(usize, Vec<Option<Read>>)> = None;
    for path in &automaton.paths {
        let mut made = None;
        for attempt in path.body.attempts() {
            let Fallible::Find { object, cell: asked, key } = attempt else { continue };
            if (path.body.class_of(*object), *asked) != (Some(class), cell) {
                continue;
            }
            let made = made.get_or_insert_with(|| makers(&path.body));
            let maker = |value: Value| made.get(&value).copied();
            let reads: Vec<Option<Read>> =
                key.iter().zip(&sizes).map(|(value, size)| read(&maker, *value, *size)).collect();
            let count = reads.iter().flatten().count();
            if count > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((count, reads));
            }
        }
    }
    let words = arranged(&sizes, &best?.1);
    words.iter().any(|word| word.len() > 1).then_some(words)
}

/// The operation that makes each value of a body.
pub(super) fn makers(body: &Body) -> HashMap<Value, &OpKind> {
    body.ops().flat_map(|op| op.results.iter().map(|result| (*result, &op.kind))).collect()
}

/// A part as a message has it, if it is a number of this many octets at a known place.
pub(crate) fn read<'a>(made: &impl Fn(Value) -> Option<&'a OpKind>, value: Value, octets: u32) -> Option<Read> {
    let OpKind::Load { field, message, at } = made(value)? else { return None };
    let OpKind::Const { value: at, .. } = made(*at)? else { return None };
    let is_whole = u32::from(field.width) == 8 * octets && matches!(octets, 2 | 4 | 8);
    is_whole.then_some(Read { message: *message, at: *at, endian: field.endian })
}

/// Parts that are adjacent in a message are adjacent in a word; all others follow.
pub(super) fn arranged(sizes: &[u32], reads: &[Option<Read>]) -> Vec<Word> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| reads[*at].map_or((1, 0, 0), |read| (0, read.message.index(), read.at)));
    let mut words: Vec<Word> = Vec::new();
    let mut end: Option<(Value, u64)> = None;
    for at in order {
        let size = sizes[at];
        let here = reads[at].map(|read| (read.message, read.at));
        let endian = reads[at].map_or(Endian::Little, |read| read.endian);
        let used = words.last().map_or(8, octets);
        let follows = here == end && used + size <= 8;
        match words.last_mut() {
            Some(word) if follows => word.push(Part { at, octets: size, endian, from: used }),
            _ => words.push(vec![Part { at, octets: size, endian, from: 0 }]),
        }
        end = here.map(|(message, at)| (message, at + u64::from(size)));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: u64) -> Option<Read> {
        Some(Read { message: Value(0), at, endian: Endian::Big })
    }

    fn shown(sizes: &[u32], reads: &[Option<Read>]) -> Vec<Vec<(usize, u32)>> {
        let words = arranged(sizes, reads);
        words.iter().map(|word| word.iter().map(|part| (part.at, part.from)).collect()).collect()
    }

    #[test]
    fn words_stand_as_messages_have_them() {
        // Addresses and ports: the receiver's are first in the key and last in the packet.
        let udp = shown(&[4, 2, 4, 2], &[at(30), at(36), at(26), at(34)]);
        assert_eq!(udp, [vec![(2, 0), (0, 4)], vec![(3, 0), (1, 2)]]);
        // Parts that are not adjacent get a word each; parts that are not read follow, together.
        assert_eq!(
            shown(&[2, 2, 4, 2], &[at(4), at(7), None, None]),
            [vec![(0, 0)], vec![(1, 0)], vec![(2, 0), (3, 4)]]
        );
        // A number that is twice in a key is not adjacent to itself.
        assert_eq!(shown(&[4, 4], &[at(4), at(4)]), [vec![(0, 0)], vec![(1, 0)]]);
        // No part is in two words.
        assert_eq!(shown(&[4, 2, 4], &[at(0), at(4), at(6)]), [vec![(0, 0), (1, 4)], vec![(2, 0)]]);
    }

    #[test]
    fn what_is_kept_has_no_gaps_that_are_not_needed() {
        let words = |sizes: &[u32]| arranged(sizes, &vec![None; sizes.len()]);
        assert_eq!(kept(&words(&[8, 4])), (8, 16));
        assert_eq!(kept(&words(&[4, 2])), (8, 8));
        assert_eq!(kept(&words(&[2])), (2, 2));
        assert_eq!(kept(&words(&[2, 1])), (4, 4));
    }
}
