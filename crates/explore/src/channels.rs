//! The content of a channel as a number, with tables from (content, packet) to the next content.
//!
//! There are few contents, since hosts have few states. So a channel is one field of a state, whatever its capacity.

use crate::message::Table;

/// The number of the empty channel.
pub(crate) const EMPTY: u32 = 0;

const UNKNOWN: u32 = u32::MAX;
const FULL: u32 = u32::MAX - 1;

pub(crate) struct Channels {
    capacity: usize,
    reorders: bool,
    contents: Table<Vec<u32>>,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    takes: Vec<Take>,
    /// The next content by packet.
    puts: Vec<u32>,
}

/// A packet that may arrive next, and the channel without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Take {
    pub packet: u32,
    pub without: u32,
}

impl Channels {
    /// Channels of up to `capacity` packets, which may overtake each other if `reorders`. [`EMPTY`] is known from the
    /// start.
    pub fn new(capacity: usize, reorders: bool) -> Self {
        let mut channels = Channels { capacity, reorders, contents: Table::default(), rows: Vec::new() };
        channels.number(Vec::new());
        channels
    }

    /// The number of known contents over all channels; the numbers must fit the fields of [`crate::layout::Layout`].
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The approximate size of the tables in bytes.
    pub fn bytes(&self) -> usize {
        let row =
            |row: &Row| row.takes.capacity() * size_of::<Take>() + row.puts.capacity() * 4 + size_of::<Row>() + 64;
        self.rows.iter().map(row).sum()
    }

    /// The packets of a content: oldest first, or sorted if they may overtake each other.
    pub fn content(&self, channel: u32) -> &[u32] {
        self.contents.get(channel)
    }

    /// The different packets that may arrive: in a queue the oldest, in a bag any.
    #[inline]
    pub fn takes(&self, channel: u32) -> &[Take] {
        &self.rows[channel as usize].takes
    }

    /// The channel with one more packet; `None` if it is full.
    #[inline]
    pub fn put(&mut self, channel: u32, packet: u32) -> Option<u32> {
        match self.rows[channel as usize].puts.get(packet as usize) {
            Some(&UNKNOWN) | None => self.work_out(channel, packet),
            Some(&FULL) => None,
            Some(known) => Some(*known),
        }
    }

    fn work_out(&mut self, channel: u32, packet: u32) -> Option<u32> {
        let mut content = self.content(channel).to_vec();
        let after = (content.len() < self.capacity).then(|| {
            content.push(packet);
            self.number(content)
        });
        let puts = &mut self.rows[channel as usize].puts;
        if puts.len() <= packet as usize {
            puts.resize(packet as usize + 1, UNKNOWN);
        }
        puts[packet as usize] = after.unwrap_or(FULL);
        after
    }

    fn number(&mut self, mut content: Vec<u32>) -> u32 {
        if self.reorders {
            content.sort_unstable();
        }
        let number = self.contents.number(content.clone());
        if number as usize == self.rows.len() {
            self.rows.push(Row::default());
            let choices = if self.reorders { content.len() } else { content.len().min(1) };
            // Equal packets are adjacent in a bag; one of them is enough.
            let is_new = |place: &usize| *place == 0 || content[*place] != content[place - 1];
            for place in (0..choices).filter(is_new).collect::<Vec<_>>() {
                let mut without = content.clone();
                let packet = without.remove(place);
                let without = self.number(without);
                self.rows[number as usize].takes.push(Take { packet, without });
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(reorders: bool) -> (Channels, u32) {
        let mut channels = Channels::new(3, reorders);
        let mut channel = EMPTY;
        for packet in [7, 2, 7] {
            channel = channels.put(channel, packet).expect("there is room");
        }
        (channels, channel)
    }

    #[test]
    fn a_queue_gives_its_oldest_packet() {
        let (mut channels, channel) = filled(false);
        assert_eq!(channels.content(channel), [7, 2, 7]);
        let takes = channels.takes(channel).to_vec();
        assert_eq!(takes.len(), 1);
        assert_eq!((takes[0].packet, channels.content(takes[0].without)), (7, &[2, 7][..]));
        assert_eq!(channels.put(channel, 1), None);
        assert_eq!(channels.put(channel, 1), None);
    }

    #[test]
    fn a_bag_gives_each_packet_once() {
        let (mut channels, channel) = filled(true);
        let packets: Vec<u32> = channels.takes(channel).iter().map(|take| take.packet).collect();
        assert_eq!(packets, [2, 7]);
        let other = channels.put(EMPTY, 7).and_then(|one| channels.put(one, 7)).and_then(|two| channels.put(two, 2));
        assert_eq!(other, Some(channel));
    }
}
