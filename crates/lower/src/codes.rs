//! Pages of the diagnostics that only a whole stack shows, for `mokume explain`: code, title, page.

pub static CODES: &[(&str, &str, &str)] = &[
    (
        "M0648",
        "a vector in a compressed header",
        "A compressed layout has one path for all headers that are encoded together, with fixed fields on each. A vector has as many elements as it has: \
give its bundle a wire, or another layout.\n\n    header compressed { blocks: [u32; ..4] }      // wrong\n    header packed { blocks: [u32; ..4] }          // right\n",
    ),
    (
        "M0671",
        "more paths than an octet can number",
        "`encoded compressed` has one path identifier for all layers of a bundle that are encoded together: a path for each combination of their \
alternatives, and with `commonly` two. An octet numbers 256 of them.\n\n    bundle All = A / B / C / D encoded compressed          // wrong if each has five alternatives\n    \
bundle Upper = A / B encoded compressed\n    bundle Lower = C / D encoded compressed\n    bundle All = Upper / Lower                             // right\n",
    ),
    (
        "M0351",
        "changes of a value that is a function of flows",
        "`on change below.x` is told by somebody who keeps what was told last: the layer that publishes `x`, or each session of it. Of a value per flow \
(`publish x(flow)`) only a layer with sessions can tell, each of its own flow; a router has none. Read such a value where it is needed, or \
let the layer publish one for itself that counts its changes.\n\n    publish mtu(flow): u32 = …        on change below.mtu { … }       // over a router: refused\n    \
publish version: u32 = version    on change below.version { … }   // right\n",
    ),
    (
        "M0673",
        "a limit of a loop that the stack does not know",
        "A limit may name published values and sizes of messages (`limit msg.size / (below.mtu - 8)`): the stack then finds the largest value from what the \
layers below publish, down to the devices, and what the loop makes is counted that often in the peak of buffers. What a device carries is set at start; a stack \
says within which ends.\n\n    stack Host(device: Device) { x = Cuts over device }                    // wrong: any number of octets\n    stack Host(device: \
Device) { x = Cuts over device  mtu 576 .. 1514 }    // right\n",
    ),
    (
        "M0720",
        "a size that is not a constant",
        "What sizes memory (capacities, arrays, quotas) is known when the stack is compiled: a number, a `const`, or a layer's parameter that the stack \
gives a constant. A stack's own parameters are set at start, so they size nothing.\n\n    stack Host(device: Device, sessions: u32) { x = Table(sessions) over device }   \
// wrong\n    stack Host(device: Device) { x = Table(64) over device }                      // right\n",
    ),
    (
        "M0721",
        "layers that stand on each other in a circle",
        "Each `over` leads down; following them ends at a device. The message names the circle.\n\n    a = Sequencer over b\n    b = Sequencer over a   \
// wrong: one of them stands over the device\n",
    ),
    (
        "M0722",
        "a part that the flow does not have here",
        "A flow has the addresses and keys that the layers below have made: an `address` of a router, a `key` of a multiplexor. Above a router the ones \
below it are gone, and a key that the stack binds (`over udp[port: 7]`) is constant and no part of the flow any more.\n",
    ),
    (
        "M0723",
        "a layer that nothing stands above",
        "What it delivers would reach nobody. Export it, put an endpoint or another layer over it, or take it out.\n\n    export udp\n",
    ),
    (
        "M0724",
        "it is not clear which layer above is meant",
        "Workers and routers have one layer above. Where several stand above, a multiplexor must stand between, and each is bound to a key \
(`over ip[protocol: 17]`), or listens for its own.\n",
    ),
    (
        "M0725",
        "something is asked of a layer that it does not offer",
        "Sessions where only flow traffic is offered, a published value that nobody below publishes, a message for a session where none is open. A \
multiplexor offers sessions over flow traffic.\n",
    ),
    (
        "M0726",
        "an event or service that ends nowhere",
        "What a layer emits must be handled by a layer that it reaches, and what it `uses` must be served by one that the stack names: `with arp, icmp`.\n",
    ),
    (
        "M0727",
        "a field or flow that cannot be reached from here",
        "A layer that looks at octets (a checksum) has its own field at a fixed place of the wire: before every choice, in whole octets, and for sums in 16 \
bits at an even octet. And code that runs for no message has no flow at hand: name one, `to flow(remote: …)`.\n",
    ),
    (
        "M0728",
        "a wire that names what the bundle does not have",
        "The names of a wire are those of its bundle's layers, `Layer.field` or `Layer.Alternative.field`.\n",
    ),
    (
        "M0729",
        "a test or network that does not fit its stack",
        "A step names a port, an event and as many arguments as it takes (docs/language.md, section 10). The message lists what the stack has.\n\n    \
udp.send_to(0, 4000, 10.0.0.2, 7, \"hello\")\n",
    ),
    (
        "M0743",
        "a quote that cannot be read",
        "A failure that quotes a packet finds its session by the key in the quote, which is cut off and so cannot be decoded. Where a layer above \
handles `failed(reason, quote)`, the key must stand before every choice, option and optional part of its wire, in whole octets.\n",
    ),
];
