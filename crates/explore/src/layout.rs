//! A state of the world: the numbers of hosts and channels, packed into one word.

/// The most hosts that a state has room for.
pub(crate) const MOST_HOSTS: usize = 6;

/// A packed state.
pub(crate) trait Key: Copy + Eq + Default {
    fn get(self, field: Field) -> u32;
    /// The key with another number in a field.
    fn with(self, field: Field, value: u32) -> Self;
    /// A hash that spreads over all 64 bits.
    fn spread(self) -> u64;
}

/// The position of a number in the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub at: u32,
    pub mask: u32,
}

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Key for u64 {
    #[inline]
    fn get(self, field: Field) -> u32 {
        (self >> field.at) as u32 & field.mask
    }

    #[inline]
    fn with(self, field: Field, value: u32) -> Self {
        self & !(u64::from(field.mask) << field.at) | u64::from(value) << field.at
    }

    #[inline]
    fn spread(self) -> u64 {
        mix(self)
    }
}

impl Key for u128 {
    #[inline]
    fn get(self, field: Field) -> u32 {
        (self >> field.at) as u32 & field.mask
    }

    #[inline]
    fn with(self, field: Field, value: u32) -> Self {
        self & !(u128::from(field.mask) << field.at) | u128::from(value) << field.at
    }

    #[inline]
    fn spread(self) -> u64 {
        mix(self as u64 ^ mix((self >> 64) as u64))
    }
}

/// An unpacked state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub hosts: Vec<u32>,
    pub channels: Vec<u32>,
}

/// The channels, and the position of each number.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The sending and the receiving host, by channel.
    pub endpoints: Vec<(usize, usize)>,
    /// The channels that lead away from a host, by host.
    pub away: Vec<Vec<usize>>,
    pub hosts: Vec<Field>,
    pub channels: Vec<Field>,
    host_bits: u32,
    channel_bits: u32,
}

impl Layout {
    /// A layout with small fields; [`Layout::grow`] widens them when a number does not fit.
    pub fn new(hosts: usize) -> Layout {
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        let endpoints: Vec<(usize, usize)> = pairs.filter(|(from, to)| from != to).collect();
        let away = |host: usize| (0..endpoints.len()).filter(|channel| endpoints[*channel].0 == host).collect();
        let away = (0..hosts).map(away).collect();
        let mut layout =
            Layout { endpoints, away, hosts: Vec::new(), channels: Vec::new(), host_bits: 8, channel_bits: 6 };
        layout.place_fields(hosts);
        layout
    }

    fn place_fields(&mut self, hosts: usize) {
        let mut at = 0;
        let mut field = |bits: u32| {
            at += bits;
            Field { at: at - bits, mask: (1 << bits) - 1 }
        };
        self.hosts = (0..hosts).map(|_| field(self.host_bits)).collect();
        self.channels = self.endpoints.iter().map(|_| field(self.channel_bits)).collect();
    }

    /// The bits of a packed state; the key must have at least as many.
    pub fn bits(&self) -> u32 {
        self.hosts.len() as u32 * self.host_bits + self.channels.len() as u32 * self.channel_bits
    }

    /// Whether all numbers below these fit.
    pub fn fits(&self, hosts: usize, channels: usize) -> bool {
        hosts <= 1 << self.host_bits && channels <= 1 << self.channel_bits
    }

    /// Makes room for twice as many numbers as there are now, since more will come.
    pub fn grow(&mut self, hosts: usize, channels: usize) {
        while hosts * 2 > 1 << self.host_bits && self.host_bits < 30 {
            self.host_bits += 1;
        }
        while channels * 2 > 1 << self.channel_bits && self.channel_bits < 30 {
            self.channel_bits += 1;
        }
        self.place_fields(self.hosts.len());
    }

    /// Packs a state into one word. Each number must fit its field ([`Layout::fits`]), else it overwrites its
    /// neighbours.
    pub fn pack<K: Key>(&self, state: &State) -> K {
        let hosts = self.hosts.iter().zip(&state.hosts);
        let fields = hosts.chain(self.channels.iter().zip(&state.channels));
        fields.fold(K::default(), |key, (field, number)| key.with(*field, *number))
    }

    /// The inverse of [`Layout::pack`], unless the layout has grown in between.
    pub fn unpack<K: Key>(&self, key: K) -> State {
        let numbers = |fields: &[Field]| fields.iter().map(|field| key.get(*field)).collect();
        State { hosts: numbers(&self.hosts), channels: numbers(&self.channels) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_number() {
        let mut layout = Layout::new(2);
        layout.grow(700, 20);
        assert!(layout.fits(1400, 64) && !layout.fits(1 << 12, 64));
        let state = State { hosts: vec![1399, 7], channels: vec![63, 0] };
        assert_eq!(layout.unpack(layout.pack::<u64>(&state)), state);
        assert_eq!(layout.unpack(layout.pack::<u128>(&state)), state);
        let other = layout.pack::<u64>(&state).with(layout.hosts[1], 12);
        assert_eq!(layout.unpack(other), State { hosts: vec![1399, 12], ..state });
    }
}
