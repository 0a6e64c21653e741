//! Packets of the stack's wires, as headers and a payload: after a change, lengths and sums are made right again.

use mokume_reaction::*;
use mokume_wire::HeaderValue;

/// Octets with headers around them, the innermost first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Packet {
    pub payload: Vec<u8>,
    pub around: Vec<(WireId, Vec<HeaderValue>)>,
}

impl Packet {
    pub(super) fn encode(&self, automaton: &Automaton) -> Vec<u8> {
        self.around.iter().fold(self.payload.clone(), |octets, (wire, headers)| {
            mokume_wire::encode(automaton, *wire, headers, &octets).octets
        })
    }

    /// The packet as a peer would answer it: neighbouring fields of one type, such as source and destination, are
    /// swapped.
    pub(super) fn reflected(mut self, automaton: &Automaton) -> Packet {
        for header in self.around.iter_mut().flat_map(|(_, headers)| headers) {
            let fields = &automaton.headers[header.header.index()].variants[header.variant.index()].fields;
            let mut place = 0;
            while place + 1 < fields.len() {
                let alike = fields[place].1 == fields[place + 1].1 && fields[place].1.width(automaton) >= 8;
                if alike {
                    header.fields.swap(place, place + 1);
                }
                place += if alike { 2 } else { 1 };
            }
        }
        self
    }

    /// The headers that the stack's wires read in octets, as deep as they go.
    pub(super) fn read(automaton: &Automaton, octets: &[u8]) -> Packet {
        let mut packet = Packet { payload: octets.to_vec(), around: Vec::new() };
        while packet.around.len() < 4 {
            let wires = (0..automaton.wires.len()).map(WireId::from);
            let read = wires.map(|wire| (wire, mokume_wire::decode(automaton, wire, &packet.payload)));
            let found = read.filter_map(|(wire, decoded)| Some((wire, decoded.ok()?)));
            // A wire that removes nothing could be read for ever.
            let Some((wire, decoded)) = found.into_iter().find(|(_, decoded)| decoded.payload.start > 0) else { break };
            packet.payload = packet.payload[decoded.payload].to_vec();
            packet.around.insert(0, (wire, decoded.headers));
        }
        packet
    }
}
