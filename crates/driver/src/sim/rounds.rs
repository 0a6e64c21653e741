//! Whether several orders are parts of one: each two may agree, and all have no common one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The index of a message.
type MessageId = usize;

/// What each life delivers, in order, each message once.
pub(super) type Orders = BTreeMap<usize, Vec<MessageId>>;

/// How many steps are looked at for a shorter round. With more than some hundred messages in rounds the shortest may be
/// missed; to look from each message would take quadratic time.
const STEPS_FOR_SHORTER: usize = 400_000;

/// A round in the orders of some lives, the shortest of those looked for: each time a life, and two messages that it delivers one before the other;
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
    let mut left = STEPS_FOR_SHORTER;
    let first = on_a_round(&next, &before)?;
    let mut shortest = back_to(first, &next, &before, &mut left)?;
    for from in before.keys().filter(|from| **from != first) {
        if left == 0 {
            break;
        }
        let way = back_to(*from, &next, &before, &mut left);
        // Of equals the one from the first message.
        shortest = way.into_iter().chain([shortest]).min_by_key(|way| (way.len(), way.first().map(|step| step.1)))?;
    }
    Some(steps_of_lives(shortest))
}

/// A message that is on a round: each open message has an open one before it, so the way back comes somewhere twice.
fn on_a_round(
    next: &BTreeMap<MessageId, Vec<(usize, MessageId)>>,
    open: &BTreeMap<MessageId, usize>,
) -> Option<MessageId> {
    let mut earlier: BTreeMap<MessageId, MessageId> = BTreeMap::new();
    for (id, steps) in next.iter().filter(|(id, _)| open.contains_key(id)) {
        earlier.extend(steps.iter().map(|(_, after)| (*after, *id)));
    }
    let mut at = *open.keys().next()?;
    let mut been = BTreeSet::new();
    while been.insert(at) {
        at = *earlier.get(&at)?;
    }
    Some(at)
}

/// The shortest way of steps from a message back to it. `left` counts down with the steps that are looked at.
fn back_to(
    from: MessageId,
    next: &BTreeMap<MessageId, Vec<(usize, MessageId)>>,
    open: &BTreeMap<MessageId, usize>,
    left: &mut usize,
) -> Option<Vec<(usize, MessageId, MessageId)>> {
    let mut came: BTreeMap<MessageId, (usize, MessageId)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(id) = queue.pop_front() {
        for (life, after) in next.get(&id).into_iter().flatten().filter(|(_, after)| open.contains_key(after)) {
            *left = left.saturating_sub(1);
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

    /// One round of all messages: from each of them it is as long, and so none is shorter. A search from each took minutes.
    #[test]
    fn a_round_of_very_many_messages_is_found_without_a_search_from_each() {
        const MANY: usize = 30_000;
        let orders: [Vec<MessageId>; 3] =
            [0, 1, 2].map(|life| (0..=MANY / 3).map(|at| (life * (MANY / 3) + at) % MANY).collect());
        let thirds = [0, MANY / 3, 2 * (MANY / 3)];
        let found = round(&[&orders[0], &orders[1], &orders[2]]);
        assert_eq!(found.map(|round| round.len()), Some(thirds.len()));
        // What comes behind the round is looked from last, if at all.
        let behind: Vec<MessageId> = (0..MANY).chain([MANY, MANY + 1]).collect();
        assert_eq!(round(&[&[MANY, MANY + 2, 0], &behind, &[MANY + 2, MANY]]).map(|round| round.len()), Some(2));
    }
}
