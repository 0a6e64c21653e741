//! Whether several orders are parts of one: each two may agree, and all have no common one.

use std::collections::{BTreeMap, VecDeque};

/// The index of a message.
type MessageId = usize;

/// What each life delivers, in order, each message once.
pub(super) type Orders = BTreeMap<usize, Vec<MessageId>>;

/// A round in the orders of some lives, as short as one can be: each time a life, and two messages that it delivers one before the other;
/// the first of them is the second of the time before.
pub(super) fn round_of(orders: &Orders) -> Option<Vec<(usize, MessageId, MessageId)>> {
    // Each message, and what a life delivers next.
    let mut next: BTreeMap<MessageId, Vec<(usize, MessageId)>> = BTreeMap::new();
    let mut before: BTreeMap<MessageId, usize> = BTreeMap::new();
    for (life, order) in orders {
        for (place, id) in order.iter().enumerate() {
            *before.entry(*id).or_default() += usize::from(place > 0);
        }
        for two in order.windows(2) {
            next.entry(two[0]).or_default().push((*life, two[1]));
        }
    }
    // What nothing comes before is in no round.
    let mut free: Vec<MessageId> = before.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        before.remove(&id);
        for (_, after) in next.get(&id).into_iter().flatten() {
            let count = before.get_mut(after)?;
            *count -= 1;
            if *count == 0 {
                free.push(*after);
            }
        }
    }
    let rounds = before.keys().filter_map(|from| back_to(*from, &next, &before));
    rounds.min_by_key(Vec::len).map(steps_of_lives)
}

/// The shortest way of steps from a message back to it.
fn back_to(
    from: MessageId,
    next: &BTreeMap<MessageId, Vec<(usize, MessageId)>>,
    open: &BTreeMap<MessageId, usize>,
) -> Option<Vec<(usize, MessageId, MessageId)>> {
    let mut came: BTreeMap<MessageId, (usize, MessageId)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(id) = queue.pop_front() {
        for (life, after) in next.get(&id).into_iter().flatten().filter(|(_, after)| open.contains_key(after)) {
            if *after == from {
                let mut way = vec![(*life, id, from)];
                let mut at = id;
                while at != from {
                    let (life, earlier) = came[&at];
                    way.push((life, earlier, at));
                    at = earlier;
                }
                way.reverse();
                return Some(way);
            }
            came.entry(*after).or_insert_with(|| {
                queue.push_back(*after);
                (*life, id)
            });
        }
    }
    None
}

/// Several steps of one life are one.
fn steps_of_lives(way: Vec<(usize, MessageId, MessageId)>) -> Vec<(usize, MessageId, MessageId)> {
    let mut found: Vec<(usize, MessageId, MessageId)> = Vec::new();
    for (life, before, after) in way {
        match found.last_mut().filter(|last| last.0 == life) {
            Some(last) => last.2 = after,
            None => found.push((life, before, after)),
        }
    }
    // A round has no beginning.
    if let [first, .., last] = &mut found[..] {
        if first.0 == last.0 {
            first.1 = last.1;
            found.pop();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(orders: &[&[MessageId]]) -> Option<Vec<(usize, MessageId, MessageId)>> {
        round_of(&orders.iter().map(|order| order.to_vec()).enumerate().collect())
    }

    #[test]
    fn orders_that_go_round_are_found_with_the_shortest_round() {
        assert_eq!(round(&[&[1, 2, 3], &[1, 3, 4], &[2, 4], &[]]), None);
        assert_eq!(round(&[&[1, 2], &[2, 3], &[3, 1]]), Some(vec![(0, 1, 2), (1, 2, 3), (2, 3, 1)]));
        // What lies between is left out, and what leads to the round.
        assert_eq!(round(&[&[9, 1, 5, 2], &[2, 3], &[3, 1, 8]]), Some(vec![(0, 1, 2), (1, 2, 3), (2, 3, 1)]));
        assert_eq!(round(&[&[1, 2], &[2, 1]]), Some(vec![(0, 1, 2), (1, 2, 1)]));
    }
}
