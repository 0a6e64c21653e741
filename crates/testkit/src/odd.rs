//! Layers with a number in every place that takes one: a size, a limit, a duration, an operand. Tests put odd numbers
//! there. Each program is correct, or is refused with a code of the language. It never gets a code of the automaton
//! form (M08xx), which a user cannot write.

/// A place for a number: its name, members of a layer, and statements of its `on send(msg)`. The number is written `N`.
pub struct Place {
    pub name: &'static str,
    members: &'static str,
    code: &'static str,
}

const fn place(name: &'static str, members: &'static str, code: &'static str) -> Place {
    Place { name, members, code }
}

/// All places; sizes come first.
pub const PLACES: &[Place] = &[
    place("array", "entity { array a: [u32; N] }", "a[0] = 1"),
    place("map", "entity { map m: [u32 -> u32; N] }", "m[1] = 1 or { }"),
    place("quota", "entity { quota q: N }", "take q or { }"),
    place("messages", "entity { messages w: N }", "w.put(0, msg.share())"),
    place(
        "messages from a quota",
        "entity { quota q: N  messages w: N from q }",
        "take q or { }  w.put(0, msg.share())",
    ),
    place("sessions", "session capacity N { var x: u8 = 0 }", "x += 1"),
    place("points", "session capacity 4 { var x: u8 = 0 }  point capacity N { var y: u8 = 0 }", "x += 1"),
    place("points without state", "session { var x: u8 = 0 }  point capacity N { }", "x += 1"),
    place("objects", "object E[k: u32] capacity N { var x: u8 = 0 }", "if let e = E[1] { e.x += 1 }"),
    place(
        "objects that make room",
        "object E[k: u32] capacity N evict oldest { var x: u8 = 0 }",
        "let e = E[1] or new { drop msg: full  return }  e.x += 1",
    ),
    place(
        "objects of sessions",
        "session capacity N { var x: u8 = 0 }  object E[k: u32] capacity N owned by session { var z: u8 = 0 }",
        "if let e = E[1] { e.z += 1 }",
    ),
    place("arrays in objects", "object E[k: u32] capacity N { array a: [u32; N] }", "if let e = E[1] { e.a[0] += 1 }"),
    place(
        "queue of messages",
        "entity { quota q: 2  queue<Message> w(N) from q }",
        "take q or { }  w.push(msg.share()) or { }",
    ),
    place("queue", "entity { queue<u32> w(N) }", "w.push(1) or { }"),
    place("vector", "entity { vector<u32> w(N) }", "w.push(1) or { }"),
    place("ring", "entity { ring<u32> w(N) }", "w.push(1)"),
    place("window", "entity { window<u32> w(N) }", "w.put(1, 1) or { }"),
    place("intervals", "entity { intervals<u32> w(N) }", "w.add(1, 3) or { }"),
    place("table", "entity { table<u32, u32> w(N) }", "w.put(1, 3) or { }"),
    place("backlog", "entity { quota q: 2  backlog<u32> w(N) from q }", "take q or { }  w.push(msg.share(), 1) or { }"),
    place("newest", "entity { quota q: 2  newest w(N) from q }", "w.push(msg.share()) or { }"),
    place("octets of a stream", "entity { quota q: 2  stream w(N, 8) from q }", "w.append(msg.share()) or { }"),
    place("chunks of a stream", "entity { quota q: 2  stream w(100, N) from q }", "w.append(msg.share()) or { }"),
    place("settling", "entity { var x: u32 = 0 }  on settle limit N { x = 1 }", "x = 2"),
    place("limit of a for", "entity { var x: u32 = 0 }", "for i in 0 .. 3 limit N { x += i }"),
    place("end of a for", "entity { var x: u32 = 0 }", "for i in 0 .. N limit 8 { x += i }"),
    place("limit of a while", "entity { var x: u32 = 0 }", "while x < 3 limit N { x += 1 }"),
    place("shares in a loop", "", "for i in 0 .. 3 limit N { below.send(msg.share()) }"),
    place("limit by mtu", "entity { var x: u32 = 0 }", "for i in 0 .. 3 limit msg.size / N { x += i }"),
    place(
        "limit below mtu",
        "entity { var x: u32 = 0 }",
        "for i in 0 .. 3 limit msg.size / (below.mtu - N) { x += i }",
    ),
    place("index", "entity { array a: [u32; 8] }", "a[N] = 1"),
    place("place", "entity { messages w: 4 }", "w.put(N, msg.share())"),
    place("take", "entity { quota q: 4 }", "take q N or { drop msg: no  return }"),
    place("give", "entity { quota q: 4 }", "take q or { }  give q N"),
    place("count", "entity { counter c }", "count c N"),
    place("timer", "entity { timer t }  on expiry t { }", "start t after N * 1 s"),
    place("timer at", "entity { timer t }  on expiry t { }", "start t at now - N * 1 s"),
    place("limit send", "limit send: N", ""),
    place("limit octets", "limit send: N octets", ""),
    place("each", "limit send: 5 each N", ""),
    place("split", "", "let (a, b) = msg.share().split(N)  below.send(a)  below.send(b)"),
    place("trim", "", "let c = msg.share()  c.trim(N)  below.send(c)"),
    place("skip", "", "let c = msg.share()  c.skip(N)  below.send(c)"),
    place("octet", "entity { var x: u8 = 0 }", "x = msg.u8(N)"),
    place("shift", "entity { var x: u32 = 1 }", "x = x << N"),
    place("divisor", "entity { var x: u32 = 1 }", "x = x % N"),
    place("narrowed", "entity { var x: u8 = 1 }", "x = N as u8"),
    place("less than nothing", "entity { var x: u32 = N - 1 }", "x += 1"),
    place("mtu", "publish mtu: u32 = below.mtu - N", ""),
    place("grant", "", "above.grant_sends(N, N)"),
];

/// Numbers that nobody expects: 0, 1, numbers just within and just beyond the language's limits, and all bits.
pub const ODD: &[u64] = &[0, 1, 65_535, 1 << 20, (1 << 20) + 1, 1 << 24, (1 << 24) + 1, 1 << 31, u32::MAX as u64];

/// How a number gets to its place.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// It is written in place.
    Written,
    /// It is a parameter of the layer.
    Parameter,
    /// It is a parameter of the layer, which takes it from a parameter of a bundle.
    ByBundle,
    /// A function computes it from the parameter.
    Computed,
}

/// All ways.
pub const WAYS: &[Way] = &[Way::Written, Way::Parameter, Way::ByBundle, Way::Computed];

impl Place {
    /// A program with the number in this place.
    pub fn program(&self, number: u64, way: Way) -> String {
        let (params, inner, of) = match way {
            Way::Written => ("", number.to_string(), "Odd".to_string()),
            Way::Parameter => ("(n: u32)", "n".to_string(), format!("Odd({number})")),
            Way::ByBundle => ("(n: u32)", "n".to_string(), format!("Both({number})")),
            Way::Computed => ("(n: u32)", "same(n)".to_string(), format!("Odd({number})")),
        };
        let put = |text: &str| {
            let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
            words
                .map(|word| match word.strip_prefix('N').filter(|rest| rest.chars().all(|c| !c.is_alphanumeric())) {
                    Some(rest) => format!("{inner}{rest}"),
                    None => word.to_string(),
                })
                .collect::<String>()
        };
        let bundle = match way {
            Way::ByBundle => "bundle Both(k: u32) = Odd(k)\n",
            Way::Written | Way::Parameter | Way::Computed => "",
        };
        format!(
            "use containers\nmultiplexor Ports {{ key {{ port: u8 }} }}\nfn same(n: u32) -> u32 {{ return n }}\n\
             worker Odd{params} {{\n    {}\n    on send(msg) {{\n        {}\n        below.send(msg)\n    }}\n    \
             on deliver(msg) {{ above.deliver(msg) }}\n}}\n{bundle}stack S(device: Device) {{\n    app = {of} over ports\n    \
             ports = Ports over device\n    export app\n    mtu 576 .. 1514\n}}\n",
            put(self.members),
            put(self.code),
        )
    }
}
