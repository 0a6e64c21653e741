//! What a layer of a random stack has.

use super::wires::Header;

/// One layer: what it has.
pub(crate) struct Layer {
    /// 0 stands on top.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    pub header: Header,
    pub has_sessions: bool,
    /// Whether the layer above has them, too.
    pub is_tied: bool,
    /// Its header becomes octets in the wire of the layer below, with that one's.
    pub is_encoded_below: bool,
    /// The same of the layer above.
    pub encodes_above: bool,
    pub settles: bool,
}
