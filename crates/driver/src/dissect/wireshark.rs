//! A dissector for Wireshark that reads what `mokume dissect` reads.

use std::collections::BTreeSet;

use mokume_base::spelling::did_you_mean;
use mokume_emit_lua::{Above, At, BoundKey, Protocol, Stack};

use super::{link, Dissector};
use crate::failure::Failure;

const HELP: &str =
    "write `TABLE:NUMBER`, or `TABLE:NUMBER:LAYER` for packets that begin with a layer's, as in `udp.port:4711:agreed` or `ethertype:0x88b6:hops`";

/// Parses where Wireshark is to find packets: `udp.port:4711:agreed`.
pub fn at(dissector: &Dissector, text: &str) -> Result<At, Failure> {
    let wrong = || Failure::of_use(format!("`{text}` is no place in a table of Wireshark's"), HELP);
    let mut parts = text.split(':');
    let table = parts.next().filter(|table| !table.is_empty()).ok_or_else(wrong)?;
    let number = parts.next().and_then(numbered).ok_or_else(wrong)?;
    let protocol = parts.next().map(|name| protocol(dissector, name)).transpose()?;
    if parts.next().is_some() {
        return Err(wrong());
    }
    is_there(table, number)?;
    Ok(At { table: table.to_string(), number: number.into(), protocol })
}

/// A number as sources write it: `34998`, `0x88b6`.
fn numbered(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// Refuses a table that is most likely a slip, and a number that the table does not take. Wireshark may have more tables than are
/// known here: its own later ones, and those of plugins.
fn is_there(table: &str, number: u32) -> Result<(), Failure> {
    let known = TABLES.lines().filter_map(|line| line.split_once(' '));
    let bits = known.clone().find(|(name, _)| *name == table).map(|(_, bits)| bits.parse().unwrap_or(32));
    if bits.is_none() {
        let near = did_you_mean(table, known.map(|(name, _)| name));
        let near = near.filter(|near| near.split('.').next() == table.split('.').next() || !table.contains('.'));
        return match near {
            Some(near) => Err(Failure::of_use(
                format!("Wireshark has no table `{table}`"),
                format!("did you mean `{near}`? `tshark -G dissector-tables` lists all"),
            )),
            None => Ok(()),
        };
    }
    let most = bits.map_or(u32::MAX, |bits: u32| u32::MAX >> (32 - bits.clamp(1, 32)));
    match number <= most {
        true => Ok(()),
        false => Err(Failure::of_use(
            format!("`{number}` is no number of Wireshark's table `{table}`"),
            format!("it takes 0 to {most}"),
        )),
    }
}

/// By line: a table that takes numbers, and their bits.
const TABLES: &str = include_str!("../../../../runtime/wireshark/tables.txt");

fn protocol(dissector: &Dissector, name: &str) -> Result<usize, Failure> {
    let all = &dissector.protocols.all;
    // The layers of a bundle are listed from top to bottom: packets come to the last. Below its wires there may be layers
    // that make the messages with which these begin.
    let found = all.iter().rposition(|one| one.name == name);
    found.filter(|at| comes_to_a_wire(dissector, *at, &mut BTreeSet::new())).ok_or_else(|| {
        let known = all.iter().enumerate().filter(|(at, _)| comes_to_a_wire(dissector, *at, &mut BTreeSet::new()));
        let mut names: Vec<&str> = known.map(|(_, one)| one.name.as_str()).collect();
        names.dedup();
        let help = match did_you_mean(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        Failure::of_use(format!("stack `{}` has no layer `{name}` with a wire", dissector.automaton.name), help)
    })
}

/// Whether a wire reads the packets of a protocol, or of one above it.
fn comes_to_a_wire(dissector: &Dissector, at: usize, seen: &mut BTreeSet<usize>) -> bool {
    let one = &dissector.protocols.all[at];
    let mut above = one.above.iter();
    seen.insert(at) && (one.wire.is_some() || above.any(|above| comes_to_a_wire(dissector, above.to, seen)))
}

/// The dissector in Lua, as one file. By default its packets are the device's frames in captures.
pub fn lua(dissector: &Dissector, at: Vec<At>) -> String {
    let at = match at.is_empty() {
        true => {
            let frames = |number: &u64| At { table: link::TABLE.to_string(), number: *number, protocol: None };
            link::ENCAPSULATIONS.iter().map(frames).collect()
        }
        false => at,
    };
    let protocols: Vec<Protocol> = dissector
        .protocols
        .all
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let key = |key: &mokume_lower::protocols::Key| BoundKey {
                header: key.header,
                fields: key.fields.clone(),
                value: key.value,
            };
            let above =
                one.above.iter().map(|above| Above { keys: above.keys.iter().map(key).collect(), to: above.to });
            let (within, lowest) = dissector.groups[at].clone();
            let (name, above) = (one.name.clone(), above.collect());
            Protocol { name, wire: one.wire, above, within, lowest, multiplexes: dissector.has_multiplexor(at) }
        })
        .collect();
    mokume_emit_lua::emit(&Stack {
        automaton: &dissector.automaton,
        protocols: &protocols,
        first: dissector.first(dissector.device),
        layers: dissector.layers.as_ref(),
        form: &|wire, name, place| dissector.form(wire, name, place).cloned(),
        names: &|wire, place| dissector.value_names(wire, place),
        sums: &|wire| dissector.sums.names(wire),
        at: &at,
    })
}
