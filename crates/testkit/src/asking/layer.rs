//! The features of a layer of a random stack.

use super::wires::Header;

/// One layer and its features.
pub(crate) struct Layer {
    /// The layer's number; 0 is the top.
    pub number: usize,
    /// The number of layers.
    pub of: usize,
    pub header: Header,
    pub has_sessions: bool,
    /// Whether the layer above has sessions too.
    pub is_tied: bool,
    /// Its header is encoded by the wire of the layer below, together with that layer's header.
    pub is_encoded_below: bool,
    /// The same for the layer above: its header is encoded by this layer's wire.
    pub encodes_above: bool,
    pub settles: bool,
}
