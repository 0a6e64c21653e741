//! M06: wires.

codes! {
    WIRE_UNCOVERED = "M0601", "a header field without a place in the wire",
    "A wire carries every field of every header of its bundle; what does not travel, the other end cannot know.",
    "worker Numbered {
    header { seq: u32, urgent: u8 }
    on send(msg) { below.send(msg, seq: 0, urgent: 0) }
}
bundle Plain = Numbered encoded Short
wire Short big { seq: u32 = Numbered.seq }",
    "worker Numbered {
    header { seq: u32, urgent: u8 }
    on send(msg) { below.send(msg, seq: 0, urgent: 0) }
}
bundle Plain = Numbered encoded Whole
wire Whole big {
    seq: u32 = Numbered.seq
    urgent: u8 = Numbered.urgent
}";

    WIRE_TWICE = "M0602", "a header field with two places in the wire",
    "The decoder could not know which of them to believe.",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Double
wire Double big {
    seq: u32 = Numbered.seq
    again: u32 = Numbered.seq
}",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Once
wire Once big { seq: u32 = Numbered.seq }";

    WIRE_LAYER = "M0603", "a layer that the bundle does not have",
    "A wire carries the headers of the layers of its bundle, by their names.",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Lost
wire Lost big { seq: u32 = Numberd.seq }",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Found
wire Found big { seq: u32 = Numbered.seq }";

    WIRE_FIELD = "M0604", "a header field that the layer does not have",
    "A wire names fields of headers as `Layer.field`. A multiplexor's key gives `source` and `destination`, a symmetric one its own name.",
    "multiplexor Ports { key { port: u16 } }
bundle Plain = Ports encoded Lost
wire Lost big {
    source: u16 = Ports.source
    destination: u16 = Ports.port
}",
    "multiplexor Ports { key { port: u16 } }
bundle Plain = Ports encoded Found
wire Found big {
    source: u16 = Ports.source
    destination: u16 = Ports.destination
}";

    WIRE_WIDTH = "M0605", "a field of another width",
    "What is written must be what is read, so a field has in the wire the bits that it has in the header.",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Short
wire Short big { seq: u16 = Numbered.seq }",
    "worker Numbered {
    header { seq: u32 }
    on send(msg) { below.send(msg, seq: 0) }
}
bundle Plain = Numbered encoded Whole
wire Whole big { seq: u32 = Numbered.seq }";

    WIRE_CONSTANT = "M0606", "a constant that does not fit its field",
    "A constant is written as it is, and must fit the field.",
    "wire Version big { version: u4 = 16  rest: u4 = 0 }",
    "wire Version big { version: u4 = 4  rest: u4 = 0 }";

    WIRE_EARLIER = "M0607", "a field that is not known yet",
    "A packet is read from front to back: a constraint is over fields in front of it, numbers and sizes.",
    "wire Short big {
    kind: u8 = 1    where length >= 8
    length: u16 = size(packet)
}",
    "wire Short big {
    kind: u8 = 1
    length: u16 = size(packet)    where length >= 8
}";

    WIRE_TAG_TWICE = "M0608", "two arms with one number",
    "The number says which alternative a packet holds.",
    "wire Either big {
    kind: u8
    choice kind {
        1 => Data { seq: u32 = Reliable.Data.seq }
        1 => Ack { next: u32 = Reliable.Ack.next }
    }
}",
    "wire Either big {
    kind: u8
    choice kind {
        1 => Data { seq: u32 = Reliable.Data.seq }
        2 => Ack { next: u32 = Reliable.Ack.next }
    }
}";

    WIRE_OCTETS = "M0609", "headers that do not end on an octet",
    "What follows the headers begins on an octet; fill up with a field of zeros.",
    "worker Urgent {
    header { urgent: bool }
    on send(msg) { below.send(msg, urgent: true) }
}
bundle Plain = Urgent encoded Bit
wire Bit big { urgent: bool = Urgent.urgent }",
    "worker Urgent {
    header { urgent: bool }
    on send(msg) { below.send(msg, urgent: true) }
}
bundle Plain = Urgent encoded Octet
wire Octet big {
    urgent: bool = Urgent.urgent
    reserved: u7 = 0
}";

    WIRE_TRIM = "M0610", "a trim to what is no field",
    "Behind the octets that a field counts is padding; the field must be known by then.",
    "wire Short big {
    length: u16 = size(packet)    trim packet to lenght
}",
    "wire Short big {
    length: u16 = size(packet)    trim packet to length
}";

    WIRE_ALTERNATIVE = "M0611", "an alternative without an arm",
    "A wire must carry every alternative of every header of its bundle.",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) { below.send(msg, Data { seq: 0 }) }
}
bundle Plain = Reliable encoded Half
wire Half big {
    kind: u8
    choice kind { 1 => Data { seq: u32 = Reliable.Data.seq } }
}",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) { below.send(msg, Data { seq: 0 }) }
}
bundle Plain = Reliable encoded Whole
wire Whole big {
    kind: u8
    choice kind {
        1 => Data { seq: u32 = Reliable.Data.seq }
        2 => Ack { next: u32 = Reliable.Ack.next }
    }
}";

    WIRE_TAG = "M0612", "a choice without its field",
    "A choice depends on a field in front of it that has no value of its own: the encoder writes the number of the arm.",
    "wire Either big {
    kind: u8 = 1
    choice kind { 1 => Data { seq: u32 = Reliable.Data.seq } }
}",
    "wire Either big {
    kind: u8
    choice kind { 1 => Data { seq: u32 = Reliable.Data.seq } }
}";

    WIRE_VARIANT = "M0613", "an arm for an alternative that does not exist",
    "An arm is named after the alternative of a header that it stands for; `Layer.Data` if several layers have choices.",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) { below.send(msg, Data { seq: 0 }) }
}
bundle Plain = Reliable encoded Whole
wire Whole big {
    kind: u8
    choice kind {
        1 => Data { seq: u32 = Reliable.Data.seq }
        2 => Akc { next: u32 = Reliable.Ack.next }
    }
}",
    "worker Reliable {
    header { Data { seq: u32 } with message | Ack { next: u32 } }
    on send(msg) { below.send(msg, Data { seq: 0 }) }
}
bundle Plain = Reliable encoded Whole
wire Whole big {
    kind: u8
    choice kind {
        1 => Data { seq: u32 = Reliable.Data.seq }
        2 => Ack { next: u32 = Reliable.Ack.next }
    }
}";

    WIRE_VALUE = "M0614", "a value that a wire does not compute",
    "A wire writes constants, header fields (times and plus a number), sizes, checksums, and what follows from fields in front.",
    "wire Short big { length: u16 = size(all) }",
    "wire Short big { length: u16 = size(packet) }";

    WIRE_CONDITION = "M0620", "a part of a packet that depends on its size",
    "Whether an optional part is there must be known before the packet is laid out: sizes and checksums come later.",
    "worker Keyed {
    header { has_key: u8, key: u32 }
    on send(msg) { below.send(msg, has_key: 1, key: 7) }
}
bundle Plain = Keyed encoded Whole
wire Whole big {
    has_key: u8 = Keyed.has_key
    words: u8 = size(packet) / 4
    optional when words > 4 { key: u32 = Keyed.key }
}",
    "worker Keyed {
    header { has_key: u8, key: u32 }
    on send(msg) { below.send(msg, has_key: 1, key: 7) }
}
bundle Plain = Keyed encoded Whole
wire Whole big {
    has_key: u8 = Keyed.has_key
    words: u8 = size(packet) / 4
    optional when has_key == 1 { key: u32 = Keyed.key }
}";

    WIRE_LAST = "M0621", "a field behind what ends the header",
    "Options, and a header that reaches into the message, end the header: where they end is not known before the packet is there.",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u8 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
    sum: u16 = 0 unread
}",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u8 = size(header) / 4
    sum: u16 = 0 unread
    more: u8 = 0 unread
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}";

    WIRE_OPTION_LENGTH = "M0622", "an option whose length says nothing",
    "An option's length counts its octets, kind and length included, perhaps less a number, or in units of several; each option must have a length that can be written so.",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) / 8 until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}";

    WIRE_OPTION_KIND = "M0623", "kinds of options that do not tell them apart",
    "Each kind is a number of its own that fits, and `else` says what happens to all others: passed over, or the packet refused.",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 0 => end  0 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 0 => end  2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}";

    WIRE_OPTION_FIELDS = "M0624", "what an option cannot hold",
    "An option is a run of fields of whole octets together: header fields, constants, and what is not read.",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss  flag: u4 = 0 }  else => skip }
}",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss  flag: u8 = 0 }  else => skip }
}";

    WIRE_PRESENT = "M0625", "an option whose presence no bit says",
    "The field in front of an option's brace says whether it is there: a `bool` or `u1` of a header.",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    has: u1 = Says.has_mss
    rest: u7 = 0
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.mss { more: u16 = 7 }  else => skip }
}",
    "worker Says {
    header { has_mss: bool, mss: u16 }
    on send(msg) { below.send(msg, has_mss: true, mss: 1460) }
}
bundle Plain = Says encoded Whole
wire Whole big {
    words: u32 = size(header) / 4
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 { 2 => Says.has_mss { mss: u16 = Says.mss }  else => skip }
}";

    WIRE_PLACE = "M0626", "a field that has no place in every packet",
    "`quote.field(Wire.field)` reads a field in front of every choice, optional part and option: only such a field stands at the same octets in every packet.",
    "wire Told big {
    kind: u8 = 1
    code: u8 = 2
}
endpoint Hears {
    entity { var codes: u8 = 0 }
    on deliver(msg) {
        codes = msg.field(Told.cod)
        consume msg: heard
    }
}",
    "wire Told big {
    kind: u8 = 1
    code: u8 = 2
}
endpoint Hears {
    entity { var codes: u8 = 0 }
    on deliver(msg) {
        codes = msg.field(Told.code)
        consume msg: heard
    }
}";

    BYTE_ORDER = "M0627", "a byte order of what never travels",
    "Fields of headers and keys lie in packets, where they have an order of octets; records and addresses do not.",
    "record Pair { left: u32 big, right: u32 }",
    "record Pair { left: u32, right: u32 }";

    COMMON = "M0670", "a common value of what cannot be left out",
    "`commonly` says which value a field has in most packets, so that a compressed layout may leave it out of them. It stands behind a number, an enum or \
a `bool` in a header or a key.",
    "record Entry { name: u32 commonly 0 }
worker Keeps {
    entity { var last: Entry = Entry { name: 0 } }
    on send(msg) {
        last = Entry { name: msg.size }
        if last.name > 0 { below.send(msg) } else { drop msg: empty }
    }
}",
    "worker Marks {
    header compressed { urgent: bool commonly false }
    on send(msg) { below.send(msg, urgent: msg.size < 4) }
}";

    LIMIT = "M0672", "a loop whose limit may be anything",
    "A loop ends, and what it makes is counted before the stack starts: so its limit is a number, or something of which each stack knows the largest value. \
Published values, sizes of messages and parameters are such; state and locals are not.",
    "worker Cuts(most: u8) {
    header { last: u8 }
    entity { var met: u32 = 0 }
    on send(msg) {
        met += 1
        for i in 0 .. met limit met * below.mtu {
            below.send(msg.share(), last: i as% u8)
        }
        below.send(msg, last: most)
    }
}",
    "worker Cuts(most: u8) {
    header { last: u8 }
    entity { var met: u32 = 0 }
    on send(msg) {
        met += 1
        for i in 0 .. met limit most * below.mtu {
            below.send(msg.share(), last: i as% u8)
        }
        below.send(msg, last: most)
    }
}";
}
