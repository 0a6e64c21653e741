//! How each construct is written, for the help of messages that something is missing in it.

/// An example of the item, member, piece of state, statement or step that begins with the word; empty if it has none.
pub(super) fn form_of(word: &str) -> &'static str {
    match word {
        // items
        "use" => "use ethernet, \"mine.mok\"",
        "const" => "const ECHO: u16 = 7",
        "type" => "type Port = u16",
        "record" => "record Pair { left: u32, right: u32 }",
        "enum" => "enum Kind: u8 { Ask = 1, Tell }",
        "attribute" => "attribute ttl: u8 = 64",
        "service" => "service Resolve { ask(next_hop: u32)  out known(next_hop: u32) }",
        "fn" => "fn twice(a: u32) -> u32 { return a + a }",
        "worker" => "worker Credit(grant: u16 = 32) { … }",
        "multiplexor" => "multiplexor Ports { … }",
        "router" => "router Route { … }",
        "endpoint" => "endpoint Echo { … }",
        "bundle" => "bundle Udp = Ports / Length encoded Rfc768",
        "wire" => "wire Rfc768 big { source: u16 = Ports.source }",
        "stack" => "stack Host(device: Device) { … }",
        "network" => "network Demo { … }",
        "test" => "test \"a stale message is dropped\" { … }",
        // members
        "header" => "header { seq: u32 }",
        "key" => "key { port: u16 }",
        "address" => "address { host: u32 }",
        "below" => "below address { station: u48 }",
        "entity" => "entity { var next: u32 = 0 }",
        "point" => "point { var waiting: u32 = 0 }",
        "session" => "session capacity 64 { var next: u32 = 0 }",
        "object" => "object Entry[address: u32] capacity 64 evict oldest { … }",
        "publish" => "publish mtu: u32 = below.mtu - 8",
        "limit" => "limit send: credit",
        "serves" => "serves Resolve",
        "uses" => "uses Resolve as resolve",
        "reads" => "reads ttl, broadcast",
        "writes" => "writes ttl",
        "on" => "on deliver(msg, seq) { … }",
        // state
        "var" => "var next: u32 = 0",
        "timer" => "timer t",
        "quota" => "quota kept: 512",
        "counter" => "counter hits",
        "array" => "array a: [u32; 8]",
        "map" => "map m: [u32 -> u48; 64]",
        "messages" => "messages waiting: 8 from kept",
        // statements
        "let" => "let x = e",
        "if" => "if c { … } else { … }",
        "match" => "match e { Kind.Ask => { … }  else => { … } }",
        "while" => "while c limit 8 { … }",
        "for" => "for i in a .. b limit 16 { … }",
        "drop" => "drop msg: stale",
        "consume" => "consume msg: used",
        "fail" => "fail: timed_out",
        "accept" => "accept msg",
        "take" => "take kept or { … }",
        "give" => "give kept",
        "count" => "count hits",
        "start" => "start t after 20 ms",
        "stop" => "stop t",
        "remove" => "remove m[k]",
        "end" => "end e",
        "later" => "later name(msg)",
        _ => form_of_part(word),
    }
}

/// Parts of wires, stacks, tests and networks.
fn form_of_part(word: &str) -> &'static str {
    match word {
        "where" => "where length >= 8",
        "trim" => "trim packet to length",
        "choice" => "choice kind { 1 => Data { … }  2 => Ack { … } }",
        "export" => "export udp",
        "over" => "over ethernet[type: 0x0800]",
        "with" => "with arp, icmp",
        "dropped" => "dropped stale 1",
        "consumed" => "consumed used 1",
        "reported" => "reported overflow 1",
        "after" => "after 20 ms",
        "host" => "host a = Host(address: 10.0.0.1/24)",
        "link" => "link lan { a.device, b.device  loss 10 % }",
        "at" => "at 10 ms  a.udp.bind(1, 0, 4000)",
        "until" => "until 2 s",
        _ => "",
    }
}
