//! A dissector in Lua for Wireshark: the wires, keys and handlers of a stack as tables, after the code that reads
//! packets by them (`runtime/wireshark/mokume.lua`).
//!
//! Keeps: decides nothing about a packet; the tables mean what [`mokume_wire`](../mokume_wire) and `mokume-dissect` do.
//! No protocol is known by name.

mod layers;
mod table;
mod wires;

use std::collections::BTreeSet;

use mokume_base::Form;
use mokume_dissect::names;
use mokume_dissect::walk::{self, Layers};
use mokume_reaction::{Automaton, FieldValue, HeaderId, LayerId, WireId, WireItem};

use table::{table, Key, Lua};

/// The code before every stack's tables.
pub const RUNTIME: &str = include_str!("../../../runtime/wireshark/mokume.lua");

/// The notation of a wire's field, by its name and index in the wire.
pub type FormOf<'a> = dyn Fn(WireId, &str, Option<usize>) -> Option<Form> + 'a;

/// The input for a dissector.
pub struct Stack<'a> {
    pub automaton: &'a Automaton,
    pub protocols: &'a [Protocol],
    /// The protocol directly above the device; `None` if all are bound to keys.
    pub first: Option<usize>,
    /// `None` for a stack whose layers only read.
    pub layers: Option<&'a Layers>,
    /// The notation of a wire's field, by its name and index in the wire.
    pub form: &'a FormOf<'a>,
    /// The names of a field's values.
    pub names: &'a dyn Fn(WireId, usize) -> Vec<(String, u64)>,
    /// By wire: the field that is a checksum over more than the packet, and the fields that the checksum of the next
    /// wire includes.
    pub sums: &'a dyn Fn(WireId) -> (Option<String>, Vec<String>),
    pub at: &'a [At],
}

/// Layers whose headers one wire carries.
pub struct Protocol {
    pub name: String,
    pub wire: Option<WireId>,
    pub above: Vec<Above>,
    pub within: Vec<LayerId>,
    pub lowest: Vec<LayerId>,
    /// Whether one of its layers is a multiplexor, whose state selects the next layer.
    pub multiplexes: bool,
}

/// The protocol to read next if all keys match the packet.
pub struct Above {
    pub keys: Vec<BoundKey>,
    pub to: usize,
}

/// A constant that one of these header fields must have.
pub struct BoundKey {
    pub header: HeaderId,
    /// The first is the one that decides at who receives the packet.
    pub fields: Vec<String>,
    pub value: u64,
}

/// Where Wireshark finds packets of the stack: under a number in one of its tables. For the whole stack, or for one of
/// its protocols.
pub struct At {
    pub table: String,
    pub number: u64,
    pub protocol: Option<usize>,
}

/// The dissector, as one file.
pub fn emit(stack: &Stack) -> String {
    let name = &stack.automaton.name;
    let mut text = format!("-- Packets of the stack {name}, made by `mokume build --emit wireshark`: `tshark -X lua_script:THIS -r CAPTURE`.\n\n");
    text.push_str(RUNTIME);
    text.push_str("\n-- ---- the stack ----\n\nlocal N = UInt64.new\n\n");
    tables(stack).write(&mut text, "local stack = ", 0, "");
    text.push_str("\nfor place, protocol in ipairs(stack.protocols) do\n  protocol.wire = stack.wires[protocol.wire]\nend\nregister(stack)\n");
    text
}

fn tables(stack: &Stack) -> Lua {
    let automaton = stack.automaton;
    let name = names::plain(&automaton.name);
    let of_wire = |wire: usize| wires::wire(stack, WireId::from(wire));
    let attributes = automaton.attributes.iter();
    let of_attribute =
        |attribute: &mokume_reaction::Attribute| Lua::of_width(attribute.default, attribute.ty.width(automaton));
    let at = |at: &At| {
        table(vec![
            ("table", Some(Lua::text(&at.table))),
            ("number", Some(Lua::Number(at.number))),
            ("protocol", at.protocol.map(|protocol| Lua::Number(protocol as u64 + 1))),
        ])
    };
    table(vec![
        ("name", Some(Lua::text(&automaton.name))),
        (
            "filters",
            Some(Lua::List(vec![Lua::text(format!("{name}_stack")), Lua::text(format!("mokume_{name}_stack"))])),
        ),
        ("first", stack.first.map(|first| Lua::Number(first as u64 + 1))),
        ("at", Some(Lua::List(stack.at.iter().map(at).collect()))),
        ("attributes", Some(Lua::List(attributes.map(of_attribute).collect()))),
        ("attribute_count", Some(Lua::Number(automaton.attributes.len() as u64))),
        ("headers", Some(Lua::List(automaton.headers.iter().map(|header| header_of(automaton, header)).collect()))),
        ("wires", Some(Lua::List((0..automaton.wires.len()).map(of_wire).collect()))),
        ("protocols", Some(Lua::List(stack.protocols.iter().map(|one| protocol(stack, one)).collect()))),
        ("layers", Some(Lua::numbers(automaton.classes.iter().map(|class| class.layer.index() + 1)))),
        ("handlers", stack.layers.map(|known| layers::handlers(automaton, known, &followed(stack)))),
    ])
}

fn header_of(automaton: &Automaton, header: &mokume_reaction::Header) -> Lua {
    let field = |(_, ty): &(String, mokume_reaction::Type)| {
        let width = ty.width(automaton);
        let ranges = automaton.gaps(*ty, width);
        let range = |range: &std::ops::RangeInclusive<u64>| {
            Lua::List(vec![Lua::of_width(*range.start(), width), Lua::of_width(*range.end(), width)])
        };
        let only = ranges.map(|ranges| Lua::List(ranges.iter().map(range).collect()));
        table(vec![("width", Some(Lua::Number(width.into()))), ("only", only)])
    };
    let variant = |variant: &mokume_reaction::Variant| {
        table(vec![("fields", Some(Lua::List(variant.fields.iter().map(field).collect())))])
    };
    Lua::List(header.variants.iter().map(variant).collect())
}

fn protocol(stack: &Stack, one: &Protocol) -> Lua {
    let automaton = stack.automaton;
    let within = one.within.iter().map(|layer| (Key::Number(layer.index() as u64 + 1), Lua::Yes)).collect();
    let takers = walk::takers(automaton, &one.lowest);
    let takers = takers.into_iter().map(|handler| automaton.handler(handler).class.index() + 1);
    let above = one.above.iter().map(|above| {
        let keys = above.keys.iter().map(|key| self::key(automaton, key));
        table(vec![("to", Some(Lua::Number(above.to as u64 + 1))), ("keys", Some(Lua::List(keys.collect())))])
    });
    table(vec![
        ("name", Some(Lua::text(&one.name))),
        ("wire", Some(one.wire.map_or(Lua::No, |wire| Lua::Number(wire.index() as u64 + 1)))),
        ("within", Some(Lua::Table(within))),
        ("takers", Some(Lua::numbers(takers))),
        ("above", Some(Lua::List(above.collect()))),
        ("multiplexes", one.multiplexes.then_some(Lua::Yes)),
        ("keyed", keyed(automaton, one)),
    ])
}

fn key(automaton: &Automaton, key: &BoundKey) -> Lua {
    let variants = &automaton.headers[key.header.index()].variants;
    let mut width = 32;
    let mut at = Vec::new();
    for (place, variant) in variants.iter().enumerate() {
        let place_of = |name: &String| variant.fields.iter().position(|(known, _)| known == name);
        let fields = key.fields.iter().filter_map(place_of);
        let places: Vec<usize> = fields
            .map(|field| {
                width = width.max(variant.fields[field].1.width(automaton));
                field + 1
            })
            .collect();
        at.push((Key::Number(place as u64 + 1), Lua::numbers(places)));
    }
    table(vec![
        ("header", Some(Lua::Number(key.header.index() as u64 + 1))),
        ("at", Some(Lua::Table(at))),
        ("value", Some(Lua::of_width(key.value, width))),
    ])
}

/// The field that alone decides what follows, if there is one: other dissectors may register by it.
fn keyed(automaton: &Automaton, one: &Protocol) -> Option<Lua> {
    let all: Vec<&BoundKey> = one.above.iter().filter_map(|above| above.keys.first()).collect();
    let first = all.first().filter(|_| all.len() == one.above.len())?;
    all.iter().all(|key| key.header == first.header && key.fields == first.fields).then_some(())?;
    let wire = &automaton.wires[one.wire?.index()];
    let carries = |value: &FieldValue| match value {
        FieldValue::Header { header, variant, field, times: 1, plus: 0, .. } if *header == first.header => {
            let variant = &automaton.headers[header.index()].variants[variant.index()];
            variant.fields.get(*field as usize).is_some_and(|(name, _)| first.fields.contains(name))
        }
        _ => false,
    };
    let field = WireItem::fields(&wire.items).into_iter().find(|field| carries(&field.value) && field.width <= 32)?;
    let name = format!("{}.{}", names::plain(&one.name), names::plain(&field.name));
    Some(table(vec![("name", Some(Lua::Text(name))), ("field", Some(Lua::text(&field.name)))]))
}

/// The classes whose handlers can be reached.
fn followed(stack: &Stack) -> BTreeSet<usize> {
    let layers: BTreeSet<usize> =
        stack.protocols.iter().flat_map(|one| &one.within).map(|layer| layer.index()).collect();
    let classes = stack.automaton.classes.iter().enumerate();
    classes.filter(|(_, class)| layers.contains(&class.layer.index())).map(|(at, _)| at).collect()
}
