//! A state of the world, as numbers and packed into one word: hosts, then the packets of each channel.
//!
//! A channel's empty places come last and are zero; where packets may overtake each other they stand sorted, so equal
//! channels are equal words.

/// Hosts and packets on the way that a state has room for.
pub(crate) const MOST_HOSTS: usize = 6;
pub(crate) const MOST_PLACES: usize = 32;

/// A packed state.
pub(crate) trait Key: Copy + Eq + Default {
    /// The key with a field set that was zero.
    fn with(self, at: u32, value: u32) -> Self;
    fn get(self, at: u32, mask: u32) -> u32;
    /// Spread over all 64 bits.
    fn spread(self) -> u64;
}

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Key for u64 {
    fn with(self, at: u32, value: u32) -> Self {
        self | u64::from(value) << at
    }

    fn get(self, at: u32, mask: u32) -> u32 {
        (self >> at) as u32 & mask
    }

    fn spread(self) -> u64 {
        mix(self)
    }
}

impl Key for u128 {
    fn with(self, at: u32, value: u32) -> Self {
        self | u128::from(value) << at
    }

    fn get(self, at: u32, mask: u32) -> u32 {
        (self >> at) as u32 & mask
    }

    fn spread(self) -> u64 {
        mix(self as u64 ^ mix((self >> 64) as u64))
    }
}

/// A state with its numbers apart. A place holds a packet's number plus one, or 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub hosts: [u32; MOST_HOSTS],
    pub places: [u32; MOST_PLACES],
}

/// How many bits each number has, and what channels there are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub hosts: usize,
    /// From and to, by channel.
    pub channels: Vec<(usize, usize)>,
    pub capacity: usize,
    pub host_bits: u32,
    pub packet_bits: u32,
}

impl Layout {
    /// Small at first; [`Layout::grow`] when a number does not fit.
    pub fn new(hosts: usize, capacity: usize) -> Option<Layout> {
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        let channels: Vec<(usize, usize)> = pairs.filter(|(from, to)| from != to).collect();
        let fits = hosts <= MOST_HOSTS && channels.len() * capacity <= MOST_PLACES && capacity > 0;
        fits.then_some(Layout { hosts, channels, capacity, host_bits: 8, packet_bits: 4 })
    }

    pub fn places(&self) -> usize {
        self.channels.len() * self.capacity
    }

    pub fn bits(&self) -> u32 {
        self.hosts as u32 * self.host_bits + self.places() as u32 * self.packet_bits
    }

    pub fn fits(&self, hosts: usize, packets: usize) -> bool {
        hosts <= 1 << self.host_bits && packets < 1 << self.packet_bits
    }

    /// Room for more than there are now, since more will come.
    pub fn grow(&mut self, hosts: usize, packets: usize) {
        while hosts > 1 << self.host_bits {
            self.host_bits += 2;
        }
        while packets >= 1 << self.packet_bits {
            self.packet_bits += 1;
        }
    }

    pub fn pack<K: Key>(&self, state: &State) -> K {
        let mut key = K::default();
        let mut at = 0;
        for host in &state.hosts[..self.hosts] {
            key = key.with(at, *host);
            at += self.host_bits;
        }
        for place in &state.places[..self.places()] {
            key = key.with(at, *place);
            at += self.packet_bits;
        }
        key
    }

    pub fn unpack<K: Key>(&self, key: K) -> State {
        let mut state = State { hosts: [0; MOST_HOSTS], places: [0; MOST_PLACES] };
        let mut at = 0;
        for host in &mut state.hosts[..self.hosts] {
            *host = key.get(at, (1 << self.host_bits) - 1);
            at += self.host_bits;
        }
        for place in &mut state.places[..self.places()] {
            *place = key.get(at, (1 << self.packet_bits) - 1);
            at += self.packet_bits;
        }
        state
    }

    /// The packets of a channel, empty places too.
    pub fn channel<'a>(&self, state: &'a State, channel: usize) -> &'a [u32] {
        &state.places[channel * self.capacity..(channel + 1) * self.capacity]
    }

    pub fn channel_mut<'a>(&self, state: &'a mut State, channel: usize) -> &'a mut [u32] {
        &mut state.places[channel * self.capacity..(channel + 1) * self.capacity]
    }
}

/// Takes a packet out of a channel; the others move up.
pub(crate) fn take_out(channel: &mut [u32], place: usize) {
    channel.copy_within(place + 1.., place);
    if let Some(last) = channel.last_mut() {
        *last = 0;
    }
}

/// Puts a packet in; `false` if the channel is full.
pub(crate) fn put_in(channel: &mut [u32], packet: u32, reorders: bool) -> bool {
    let Some(end) = channel.iter().position(|place| *place == 0) else { return false };
    let at = if reorders { channel[..end].iter().position(|other| *other < packet).unwrap_or(end) } else { end };
    channel.copy_within(at..end, at + 1);
    channel[at] = packet;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_number() {
        let layout = Layout::new(2, 3).expect("it fits");
        let mut state = State { hosts: [0; MOST_HOSTS], places: [0; MOST_PLACES] };
        state.hosts[..2].copy_from_slice(&[200, 7]);
        state.places[..6].copy_from_slice(&[5, 1, 0, 15, 0, 0]);
        assert_eq!(layout.unpack(layout.pack::<u64>(&state)), state);
        assert_eq!(layout.unpack(layout.pack::<u128>(&state)), state);
    }

    #[test]
    fn a_bag_is_sorted_and_a_queue_is_not() {
        let mut bag = [3, 1, 0];
        assert!(put_in(&mut bag, 2, true));
        assert_eq!(bag, [3, 2, 1]);
        assert!(!put_in(&mut bag, 9, true));
        let mut queue = [3, 1, 0];
        assert!(put_in(&mut queue, 2, false));
        assert_eq!(queue, [3, 1, 2]);
        take_out(&mut queue, 0);
        assert_eq!(queue, [1, 2, 0]);
    }
}
