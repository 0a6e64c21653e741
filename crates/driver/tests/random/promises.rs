//! The promise of each thin layer, as a function from the channel below it to the channel that it provides: taken from
//! the contract at the top of the layer in `library/thin`.
//!
//! Keeps: a promise is stronger than that of the channel below only where the layer's contract says so.

/// What may happen to messages between the ends. All false: each is delivered once, in order, as it was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Channel {
    pub loses: bool,
    pub duplicates: bool,
    pub reorders: bool,
    /// Something may arrive that was not sent.
    pub corrupts: bool,
    /// It may stop for good.
    pub stops: bool,
}

impl Channel {
    const NOTHING: Channel = Channel { loses: true, duplicates: true, reorders: true, corrupts: true, stops: true };
}

/// A layer as it is written in a stack, and its promise. `PATIENCE` stands for a time that layers below need for their
/// own. Several layers are written as lines of a stack: `NAME` stands for their own name, `BELOW` for what they stand
/// on.
pub struct Thin {
    pub written: &'static str,
    pub promise: fn(Channel) -> Channel,
}

/// Passes on what the channel below does.
fn as_below(below: Channel) -> Channel {
    below
}

/// Corrupted messages are lost where the layer splits, joins or measures.
fn loses_the_damaged(below: Channel) -> Channel {
    Channel { loses: below.loses || below.corrupts, ..below }
}

/// "Drops what was damaged on the way": a single flipped bit is always found.
fn checks(below: Channel) -> Channel {
    Channel { loses: below.loses || below.corrupts, corrupts: false, ..below }
}

/// "Delivers every message exactly once and in order over a channel that may lose, repeat and reorder."
fn reliable(below: Channel) -> Channel {
    match below {
        Channel { corrupts: false, stops: false, .. } => Channel::default(),
        Channel { corrupts: false, .. } => Channel { loses: true, stops: true, ..Channel::default() },
        _ => Channel::NOTHING,
    }
}

/// "Delivers each message at most once and in order; drops the rest."
fn sequenced(below: Channel) -> Channel {
    match below.corrupts {
        false => Channel { loses: below.loses || below.reorders, duplicates: false, reorders: false, ..below },
        // A number that was corrupted upwards makes all others stale.
        true => Channel::NOTHING,
    }
}

/// "Only a loss of the last grant of all stops the sender."
fn credited(below: Channel) -> Channel {
    match below.corrupts {
        false => Channel { stops: below.stops || below.loses, ..below },
        true => Channel::NOTHING,
    }
}

/// "Drops what it had, and what is older": a number that was corrupted upwards makes all others old.
fn repeated(below: Channel) -> Channel {
    match below.corrupts {
        false => Channel { duplicates: false, reorders: below.reorders || below.loses, ..below },
        true => Channel::NOTHING,
    }
}

/// "What relies on a beginning that was lost is dropped": a late old beginning counts as one, too.
fn compressed(below: Channel) -> Channel {
    Channel { loses: below.loses || below.reorders || below.duplicates || below.corrupts, ..below }
}

/// A message is lost with any of its pieces, and repeated pieces may wait for others in vain.
fn fragmented(below: Channel) -> Channel {
    Channel { loses: below.loses || below.corrupts, ..below }
}

/// "What is delivered was sent by who has the key, as it was sent, and is delivered once."
fn sealed(below: Channel) -> Channel {
    Channel { loses: below.loses || below.corrupts, duplicates: false, corrupts: false, ..below }
}

/// In order, each once; messages after a lost one wait for it.
fn ordered(below: Channel) -> Channel {
    match below.corrupts {
        false => Channel { loses: below.loses, stops: below.stops || below.loses, ..Channel::default() },
        true => Channel::NOTHING,
    }
}

/// "Whenever it comes; what would be the ninth gap is lost": gaps stay, and after nine losses below it stops.
fn gapless(below: Channel) -> Channel {
    let of_below = once(below);
    Channel { stops: of_below.stops || below.loses, ..of_below }
}

/// Repeated messages are dropped by their numbers.
fn once(below: Channel) -> Channel {
    match below.corrupts {
        false => Channel { duplicates: false, ..below },
        true => Channel::NOTHING,
    }
}

/// Short ones without a checksum, long ones with it, over one channel (library/thin/by_size.mok).
const BY_SIZE: &str = "    NAME_ways = Ways over BELOW
    NAME_summed = Checksum16 over NAME_ways[way: 2]
    NAME = BySize(40) over (NAME_ways[way: 1], NAME_summed)
";

pub const THIN: [Thin; 22] = [
    Thin { written: "Trace", promise: as_below },
    Thin { written: "TokenBucket", promise: as_below },
    Thin { written: "Priority", promise: as_below },
    Thin { written: "Heartbeat(1 s, 30 s)", promise: loses_the_damaged },
    Thin { written: "Length", promise: loses_the_damaged },
    Thin { written: "Framing", promise: loses_the_damaged },
    Thin { written: "Batch", promise: loses_the_damaged },
    Thin { written: "Checksum16", promise: checks },
    Thin { written: "Crc32", promise: checks },
    Thin { written: "Sequencer", promise: sequenced },
    Thin { written: "StopAndWait(PATIENCE, 250, 32)", promise: reliable },
    Thin { written: "GoBackN(4, PATIENCE, 250, 32)", promise: reliable },
    Thin { written: "CreditMessages", promise: credited },
    Thin { written: "CreditOctets", promise: credited },
    Thin { written: "Repeat", promise: repeated },
    Thin { written: "Compress(8, 4)", promise: compressed },
    Thin { written: "Cipher(KEY, own, other)", promise: sealed },
    Thin { written: BY_SIZE, promise: loses_the_damaged },
    Thin { written: "Paced", promise: as_below },
    Thin { written: "Ordered", promise: ordered },
    Thin { written: "Lately", promise: once },
    Thin { written: "Once", promise: gapless },
];

pub const FRAGMENT: Thin = Thin { written: "Fragment", promise: fragmented };

/// How the delivered messages break the promise.
pub fn broken(promise: Channel, sent: &[Vec<u8>], delivered: &[Vec<u8>]) -> Option<String> {
    if promise.corrupts {
        return None;
    }
    let places: Option<Vec<usize>> =
        delivered.iter().map(|message| sent.iter().position(|known| known == message)).collect();
    let Some(places) = places else { return Some("something was delivered that nobody sent".to_string()) };
    let mut sorted = places.clone();
    sorted.sort_unstable();
    if !promise.reorders && sorted != places {
        return Some(format!("out of order: {places:?}"));
    }
    sorted.dedup();
    if !promise.duplicates && sorted.len() != places.len() {
        return Some(format!("delivered twice: {places:?}"));
    }
    let all = promise.loses || promise.stops || sorted.len() == sent.len();
    (!all).then(|| format!("{} of {} were delivered: {places:?}", sorted.len(), sent.len()))
}
