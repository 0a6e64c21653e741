//! M064 and M065: bounded vectors, as values and in wires.

codes! {
    VECTOR_BOUND = "M0640", "a vector with a bound that cannot be kept",
    "A bounded vector is a value: its length and room for each element, side by side, wherever it is kept or passed. Its bound is a constant from 1 to 64, and all its elements together are at most 256 numbers. More are kept in state, in a container.",
    "fn first(all: [u32; ..1000]) -> u32 { return all[0] }",
    "fn first(all: [u32; ..8]) -> u32 { return all[0] }";

    WIRE_COUNT = "M0643", "a field that cannot count so far",
    "Where a header has a vector, a field of the packet says how many elements follow. It holds the number of the longest vector, scaled as the wire says.",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    reserved: u5 = 0
    count:    u3 = Says.sources.length
    each source in Says.sources { address: u32 = source }
}",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    reserved: u4 = 0
    count:    u4 = Says.sources.length
    each source in Says.sources { address: u32 = source }
}";

    WIRE_UNCOUNTED = "M0644", "elements of which nothing says how many there are",
    "A packet is read from front to back: how many elements a vector has stands in a field in front of them, `count: u8 = Layer.list.length`, perhaps scaled. In an option, the option's length says it.",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    each source in Says.sources { address: u32 = source }
    count: u8 = Says.sources.length
}",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    count: u8 = Says.sources.length
    each source in Says.sources { address: u32 = source }
}";

    WIRE_ELEMENT = "M0645", "what no element of a packet is made of",
    "Behind `each x in Layer.list` stand the fields of one element: its parts, constants and unread bits, whole octets together. A vector is no field by itself.",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    count: u8 = Says.sources.length
    each source in Says.sources {
        half:    u4 = 0
        address: u32 = source
    }
}",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    count: u8 = Says.sources.length
    each source in Says.sources {
        unused:  u8 = 0 unread
        address: u32 = source
    }
}";

    WIRE_UNTIL = "M0665", "elements that end where no elements end",
    "Elements are counted by a field in front of them; or they go on to the packet's end, `each x in Layer.list until size(packet)`. Within an element, lists are counted: how should one know where the next element begins?",
    "worker Says {
    header { sources: [u32; ..9] }
    on send(msg) { below.send(msg, sources: []) }
}
bundle Said = Says encoded Sources
wire Sources big {
    words: u8 = size(header) / 4
    each source in Says.sources until words * 4 { address: u32 = source }
}",
    "endpoint Says {
    header { sources: [u32; ..9] }
    on deliver(msg) { consume msg: read }
}
bundle Said = Says encoded Sources
wire Sources big {
    each source in Says.sources until size(packet) { address: u32 = source }
}";

    WIRE_OPTION_LIST = "M0666", "elements of an option that differ in size",
    "In an option the length says how many elements there are, so they are all of one size: fields alone. A list within a list, or one to the packet's end, stands outside options.",
    "record Group { left: u16, members: [u16; ..2] }
worker Says {
    header { groups: [Group; ..3] }
    on send(msg) { below.send(msg, groups: []) }
}
bundle Said = Says encoded Groups
wire Groups big {
    words: u8 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 {
        0 => end
        5 => Says.groups {
            each group in Says.groups {
                left:  u16 = group.left
                count: u8 = group.members.length
                each member in group.members { member: u16 = member }
            }
        }
        else => skip
    }
}",
    "record Group { left: u16, members: [u16; ..2] }
worker Says {
    header { groups: [Group; ..3] }
    on send(msg) { below.send(msg, groups: []) }
}
bundle Said = Says encoded Groups
wire Groups big {
    count: u8 = Says.groups.length
    each group in Says.groups {
        left: u16 = group.left
        size: u8 = group.members.length
        each member in group.members { member: u16 = member }
    }
}";

    VECTOR_FULL = "M0642", "more elements than the vector has room for",
    "What is written between `[` and `]` is known, and so is the bound.",
    "fn primes() -> [u32; ..2] { return [2, 3, 5] }",
    "fn primes() -> [u32; ..4] { return [2, 3, 5] }";
}
