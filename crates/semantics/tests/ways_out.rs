//! The helps of diagnostics: the intended fix for a program with one mistake.

use mokume_base::SourceMap;
use mokume_semantics::signature::OF_MESSAGES;
use mokume_semantics::{analyse_files, Loader};

/// A library of one module.
struct Small;

impl Loader for Small {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let text =
            "type Address = u32\nworker Safe(depth: u32 = 1) { on send(msg) { if msg.size < depth { drop msg: small } else { below.send(msg) } } }\n/// Has room.\ncontainer shelf(room: u32) { fn room() -> u32 { return room } }\n";
        (name == "shelves").then(|| vec![("library/shelves.mok".to_string(), text.to_string())])
    }
    fn file(&mut self, _from: &str, _name: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        vec!["shelves".into()]
    }
}

/// The code and the first help of the only error of a program.
fn way_out(program: &str) -> String {
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", program);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    match found.as_slice() {
        [one] => format!("{} {}", one.code.0, one.helps.first().map_or("", String::as_str)),
        several => format!("{} errors: {several:?}", several.len()),
    }
}

const VIEWS: &str =
    "record View { id: u32, me: Rank, members: [u16; ..4] }  vocabulary Views { up all begins view(v: View) }";

fn in_a_group(condition: &str) -> String {
    format!("{VIEWS} group G {{ speaks Views  on send(msg) {{ {condition} {{ drop msg: there }} else {{ below.send(msg) }} }} }}")
}

/// A worker with a header of these fields, and the values that it sends in them.
fn says(fields: &str, given: &str) -> String {
    format!("worker Says {{ header {{ {fields} }}  on send(msg) {{ below.send(msg, {given}) }} }}")
}

#[test]
fn each_mistake_has_the_way_out_that_is_meant() {
    let alternatives = "header { Data { n: u8 } with message | Ack { n: u8 } }
        on send(msg) { below.send(msg, Data { n: 1 }) }  on deliver(msg, Data) { above.deliver(msg) }";
    let cases = [
        (
            "worker W { object E[k: u8] capacity 2 evict newest { var x: u8 = 0 }
                on send(msg) { let e = E[1] or new { drop msg: full  return }  e.x += 1  if e.x == 1 { drop msg: x } else { below.send(msg) } } }".to_string(),
            "M0201 write `evict oldest`",
        ),
        (
            "worker W { object E[k: u8] capacity 2 { counter seen }
                on send(msg) { let e = E[1] or new { drop msg: full  return }  e.seen += 1  below.send(msg) } }".to_string(),
            "M0315 write `count e.seen`; layers do not read counters: what a layer decides by is a `var`",
        ),
        (
            "worker W { on send(msg) { let n = 0  while n < 3 limit 4 { n += 1  if n == 2 { break } }  below.send(msg) } }".to_string(),
            "M0201 the language has no `break`: a loop ends by its condition or its limit, or by `return`, which a function of its own may say",
        ),
        (
            "worker W { header { at: u64 }  on send(msg) { below.send(msg, at: now / 1 us) } }".to_string(),
            "M0303 an instant is a number of nanoseconds: `(now as u64) / 1000` are microseconds; what lies between two instants is divided as it is: `(now - began) / 1 us`",
        ),
        (
            "worker W { session { var last: Instant = 0 }  on send(msg) { last = now  below.send(msg) } }".to_string(),
            "M0301 an instant is `now` and a duration: `now`, `now + 20 ms`",
        ),
        (
            "worker W { session { var last: Instant = now }  on send(msg) { last = msg.u16be(0)  below.send(msg) } }".to_string(),
            "M0301 an instant is `now` and a duration: `now + 20 ms`",
        ),
        (
            "const N: u8 = \"abc\"".to_string(),
            "M0301 a text stands in a vector of octets, `[u8; ..24]`, or in a message, `message(\"text\")`",
        ),
        (
            "worker W { }  stack S(device: Devise) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device }  until 1 s }
                test \"t\" { stack S  device.frame(\"a\")  => w.deliver_from(\"a\") }".to_string(),
            "M0202 did you mean `Device`?",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device  rate 10 Mbps  delay 10 ms }  until 1 s }".to_string(),
            "M0100 write `10 Mbit/s`; there are bit, kbit, Mbit, Gbit",
        ),
        (
            "use shelvs\n stack S(device: Device, own: u48) { w = W over device  export w }  worker W { }
                test \"t\" { stack S(own: 02:00:00:00:00:01)  device.frame(\"a\")  => w.deliver_from(\"a\") }
                network N { host a = S(own: 02:00:00:00:00:01)  host b = S(own: 02:00:00:00:00:02)  link l { a.device, b.device }  until 1 s }".to_string(),
            "M0204 did you mean `shelves`?",
        ),
        (
            "worker W { on send(msg) { below.send(\n message(\"abc),\n)\n consume msg: x } }".to_string(),
            "M0002 close it with `\"`; for a line break write `\\n`",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }\ntest \"t {\n stack S\n device.frame(\"a\")\n => w.deliver_from(\"a\")\n}\n".to_string(),
            "M0002 close it with `\"`; for a line break write `\\n`",
        ),
        (in_a_group("if 5 in view.members"), "M0315 a member has a rank: `if let r = view.rank(5) { … }`"),
        (
            in_a_group("if 5 in view"),
            "M0315 a member has a rank, found by its number: `if let r = view.rank(5) { … }`; all ranks are `for r in view { … }`",
        ),
        (
            format!("{VIEWS} group G {{ speaks Views  on view(v) {{ pass }}  on send(msg) {{ if me == 0 {{ drop msg: first }} else {{ below.send(msg) }} }} }}"),
            "M0201 write `on view_begin { … }` in place of `on view(…)`: the view begins by itself then",
        ),
        (
            format!("{VIEWS} group G {{ on send(msg) {{ if me == 0 {{ drop msg: first }} else {{ below.send(msg) }} }} }}"),
            "M0940 add `speaks Views`: a view begins in it; or write `worker`",
        ),
        (says("sequence: u8, other: u8", "sequense: 1, other: 2"), "M0206 did you mean `sequence`?"),
        (
            "attribute ttl: u8 = 0  worker W { header { n: u8 }  writes ttl  on send(msg) { below.send(msg, n: 1, ttl: 2) } }".to_string(),
            "M0206 it is an attribute of the message, not a field: `msg.ttl = …` before the message is sent",
        ),
        (
            "attribute ttl: u8 = 0  worker W { on send(msg) { below.send(msg, ttl: 2) } }".to_string(),
            "M0505 it is an attribute of the message, not a field: `writes ttl` in this layer, and `msg.ttl = …` before the message is sent",
        ),
        (
            "attribute ttl: u8 = 0  worker W { header { A with message | B with message }  writes ttl  on send(msg) { below.send(msg, ttl: 2) }
                on deliver(msg, A) { above.deliver(msg) }  on deliver(msg, B) { above.deliver(msg) }  on start { below.send(message(), A)  below.send(message(), B) } }".to_string(),
            "M0505 it is an attribute of the message, not a field: `msg.ttl = …` before the message is sent",
        ),
        (
            "attribute ttl: u8 = 0  worker W { reads msg.ttl  on send(msg) { below.send(msg) } }".to_string(),
            "M0209 an attribute is named alone, `ttl`",
        ),
        (
            "worker W { reads below.mtu  on send(msg) { below.send(msg) } }".to_string(),
            "M0209 what a layer publishes is read where it is used, `below.mtu`; here stand attributes of messages",
        ),
        (
            "record View { id: u32, me: Rank, members: [u16; ..4] }  vocabulary Views { up all begins view(v: View) }
                group G { speaks Views  view { var last: Rank = 0 }  on send(msg) { last = view.rank(1)  below.send(msg) } }".to_string(),
            "M0314 write `let r = view.rank(n) or { … }`",
        ),
        (
            "record View { id: u32, me: Rank, members: [u16; ..4] }  vocabulary Views { up all begins view(v: View) }
                group G { speaks Views  view { var lost: Ranks = [] }  on send(msg) { lost = lost | me  below.send(msg) } }".to_string(),
            "M0303 a set of one rank is `[r]`: `a | [r]`; whether it is in a set, `r in a`",
        ),
        (
            "record View { id: u32, me: Rank, members: [u16; ..4] }  vocabulary Views { up all begins view(v: View) }
                group G { speaks Views  object Row[rank: Rank] owned by view { timer t  on expiry t { end } }
                    on view_begin { start Row.t after 5 ms } }".to_string(),
            "M0201 say it by its key: `Row[k]`, and its state `Row[k].x`",
        ),
        (
            "record View { id: u32, me: Rank, members: [u16; ..4] }  vocabulary Views { up all begins view(v: View) }
                container pair<T>() { array both: [T; 2]  fn set(v: T) { both[0] = v } }
                group G { speaks Views  entity { pair<Rank> last() }  on view_begin { last.set(me) } }".to_string(),
            "M0941 declare it in `view { … }`, or in objects `owned by view`",
        ),
        (
            "worker W { on send(msg) { msg.put_u16(0, 7)  below.send(msg) } }".to_string(),
            "M0213 say the order of the octets: `put_u16be`, the high one first, or `put_u16le`",
        ),
        (
            "worker W { on send(msg, n) { if n == 3 { drop msg: x } else { below.send(msg) } } }".to_string(),
            "M0504 leave it out: what a layer above says beside a message is an attribute, `msg.urgent`",
        ),
        (
            "endpoint W { header { list: [u16; ..125] }  on deliver(msg) { drop msg: x } }  bundle B = W encoded L
                wire L { size: u8 = W.list.length * 2  each v in W.list { v: u16 = v } }".to_string(),
            "M0640 many are kept in a container, `vector<T> all(1000)` of `use containers`; in a packet they are octets of the message",
        ),
        (
            "endpoint W { header { A { one: u8 } | B { two: u8 } }  on deliver(A { one }) { below.send(B { two: one }) }  on deliver(B) { } }
                bundle U = W encoded L  wire L { kind: u8  choice kind { 1 => A { one: u8 = W.A.one }  2 => B { } } }".to_string(),
            "M0601 add a line such as `two: u8 = W.B.two` to the arm of `B`",
        ),
        (
            "type Ip4Address = u32  record Ip4Cidr { address: Ip4Address, prefix: u8 }  type Ip6 = u64  worker W(own: Ip4) { }".to_string(),
            "M0202 did you mean `Ip4Address` or `Ip4Cidr`?",
        ),
        (
            "multiplexor Ports { key { port: u16 } }  endpoint E { on start { below.bind(local.port: 7) }  on deliver(msg) { drop msg: x } }
                stack S(device: Device) { e = E over device }".to_string(),
            "M0714 put a layer below that makes `port`, such as `Ports`",
        ),
        (
            "router R { below several link  address { host: u8 }  publish mtu: u32 = below.mtu - 5
                on send(msg) to flow { below.send(msg) to flow(link: 0) } }".to_string(),
            "M0530 say which: `below[0].mtu`, or `below[i].mtu` for each `i` in `0 .. below.count`",
        ),
        (
            "router R { below several link  address { host: u8 }  below address { station: u8 }
                on send(msg) to flow { below.send(msg) to flow(link: 0) }
                on deliver(msg) from whence { if below.mtu > 9 { above.deliver(msg) from flow() } else { drop msg: x } } }".to_string(),
            "M0530 write `below[whence.link].mtu`, or `below.mtu(whence)`",
        ),
        (
            "fn added(all: [u8; ..4], x: u8) -> [u8; ..4] { if x == 3 { return all }  all.push(x) or { } }".to_string(),
            "M0314 end every path with its value: `return all`",
        ),
        (
            "worker W { on send(msg) { while msg.size > 9 limit 4 {
                let (front, rest) = msg.split(9)  below.send(front)  below.send(rest) } } }".to_string(),
            "M0404 give the name back to what is left: `msg = rest` at the end of the round, and send `msg` behind the loop",
        ),
        (
            "worker W(every: u32) { session { timer t }  on send(msg) { start t after every  pass }  on expiry t { fail: late } }".to_string(),
            "M0301 say of what it is so many: `… * 1 ms`; or let what is named here be a `Duration`",
        ),
        (
            "worker W { header { hops: u8 }  on send(msg) { below.send(msg, hops: 1) }
                on deliver(msg, hop) { if hops == 1 { above.deliver(msg) } else { drop msg: far } } }".to_string(),
            "M0504 did you mean `hops`?",
        ),
        (
            format!("worker W {{ {alternatives}  entity {{ counter acks }}  on Ack {{ count acks }} }}"),
            "M0215 what comes from the other end is delivered: write `on deliver(Ack { n }) { … }`",
        ),
        (
            format!("worker W {{ {alternatives}  entity {{ counter acks }}  on Ack(n) {{ count acks n }} }}"),
            "M0215 what comes from the other end is delivered: write `on deliver(Ack { n }) { … }`",
        ),
        (
            "worker W { entity { quota kept: 4 } on send(msg) { if !take kept { drop msg: full  return }  give kept  below.send(msg) } }".to_string(),
            "M0101 it says by itself what happens when none is left: `take kept or { drop msg: full  return }`",
        ),
        (
            "router R { address { host: u8 }  header { to: u8 }
                on send(msg) to flow { below.send(msg, to: flow.remote.host) to flow() }
                on deliver(msg, to) { above.deliver(msg) from (local: to, remote: 0) } }".to_string(),
            "M0100 a flow of parts has its name in front: `flow(local: …, remote: …)`",
        ),
        (
            "router R {
                address host: u8
                header { to: u8 }
                on send(msg) to flow { below.send(msg, to: flow.remote.host) to flow() }
                on deliver(msg, to) { above.deliver(msg) from flow(local: to, remote: 0) } }".to_string(),
            "M0100 write it as in `address { host: u32 }`",
        ),
        (
            "service Find { find(name: u8)  found(place: u8) }
                endpoint D { serves Find  on find.find(name) { find.found(name) } }
                worker U { uses Find as f  entity { var p: u8 = 0 }  header { p: u8 }
                    on send(msg) { f.find(1)  below.send(msg, p: p) }  on f.found(x) { p = x } }".to_string(),
            "M0508 if it is what the server answers, declare it so: `out found(…)`",
        ),
        (
            "service FindIt { find(name: u8)  out found(place: u8) }
                endpoint D { serves FindIt  entity { counter asked }  on find_it.find(name) { count asked name } }
                worker U { uses FindIt as f  entity { var p: u8 = 0 }  header { p: u8 }
                    on send(msg) { f.find(1)  below.send(msg, p: p) }  on f.found(x) { p = x } }
                multiplexor Kinds { key symmetric { kind: u8 } }
                stack S(device: Device) { kinds = Kinds over device  d = D over kinds[kind: 1]  u = U over kinds[kind: 2] with d  export u }".to_string(),
            "M0794 let `D` say `find_it.found(…)`",
        ),
        (
            format!("{} bundle B = Says encoded W  wire W big {{ n: u8 = Says.n }}
                stack S(device: Device) {{ app = B over device  export app }}
                test \"t\" {{ stack S  app.send_to(\"a\")  => device.frame(W(n: 1) \"a\") }}", says("n: u8", "n: 1")),
            "M0301 the fields of a wire stand in braces: `W { n: 1 }`",
        ),
        (
            "vocabulary V { down hold(on: bool)  up held(by: u8) }
                worker W { session { var on: bool = false }  on hold(yes) { on = yes }
                    on deliver(msg) { if on { above.held(1) }  above.deliver(msg) } }
                stack S(device: Device) { app = W over device  export app }".to_string(),
            "M0215 add `speaks V` to the layer",
        ),
        (
            "vocabulary V { down shut() }
                worker Low { speaks V  session { var over: bool = false }
                    on shut() { over = true }  on deliver(msg) { if over { drop msg: over } else { above.deliver(msg) } } }
                endpoint High { speaks V  session { }  on start { below.listen(port: 9) }  on deliver(msg) { below.send(msg) } }
                endpoint Other { speaks V  session { }  on start { below.listen(port: 9) }  on deliver(msg) { below.send(msg)  below.shut() } }
                multiplexor Ports { key { port: u8 } }
                stack S(device: Device) { high = High over low  low = Low over ports  ports = Ports over device }".to_string(),
            "M0559 let `High` say `below.shut(…)`",
        ),
        (
            "multiplexor Kinds { key symmetric { kind: u8 } }  multiplexor Ports { key { port: u8 } }
                endpoint E { on start { below.bind(port: 9) }  on deliver(msg) { below.send(msg) } }
                stack S(device: Device) { kinds = Kinds over device  ports = Ports over kinds[kind: 1]  e = E over kinds[kind: 1]  export ports }".to_string(),
            "M0709 give each of them a key of its own",
        ),
        (
            "worker W(every: Duration) { session { timer t }  on send(msg) { pass }  on expiry t { fail: late } }".to_string(),
            "M0519 write `start t after 20 ms` where it begins, or remove it",
        ),
        (says("wait: u32", "wait: 20 ms * 3"), "M0301 say in which unit: `(x / 1 ms) as u32`"),
        (says("last: bool", "last: 1"), "M0301 write `true`"),
        (says("last: bool", "last: 0"), "M0301 write `false`"),
        (
            says("n: u8", "n: if true == 1 { 1 } else { 2 }"),
            "M0303 a `bool` is true or false by itself: `if last { … }`, `if not last { … }`",
        ),
        (says("n: u8", "n: msg.size > 3 ? 1 : 0"), "M0109 write `if c { a } else { b }`, which is a value, too"),
        (format!("worker W {{ {alternatives}  on deliver(Akc) {{ }} }}"), "M0212 did you mean `Ack`?"),
        (
            format!("{} bundle B = Says encoded W  wire W big {{ f: u7 = 0  flag: u1 = Says.a  optional when Says.a == 1 {{ b: u8 = Says.b }} }}", says("a: bool, b: u8", "a: true, b: 2")),
            "M0614 write `flag`, which carries it",
        ),
        ("worker W { on deliver(msg) { below.grant_delivers(1)  above.deliver(msg) } }".to_string(), "M0305 give one value for each: `below.grant_delivers(messages, octets)`"),
        (says("n: uint16_t", "n: 1"), "M0202 write `u16`"),
        ("type Station = u48 written colons(8)\nconst W: Station = 2:0:0:0:0:1".to_string(), "M0004 write `02:00:00:00:00:01`"),
        (
            "multiplexor P { key { k: u8, j: u8 } }  endpoint E { on start { below.bind(local: 3) }  on deliver(msg) { drop msg: heard } }
            stack S(device: Device) { p = P over device  e = E over p }".to_string(),
            "M0714 name it: `local.j: …`",
        ),
        ("worker W { session { timer idle }  on send(msg) { start idle after 1 s  below.send(msg) }  on idle { fail: late } }".to_string(), "M0215 write `on expiry idle { … }`"),
        ("worker W { session { timer idle }  on send(msg) { start idle after 1 s  below.send(msg) }  on expired idle { fail: late } }".to_string(), "M0100 write `on expiry idle { … }`"),
        ("vocabulary V { down ask(who: u8) }  worker W { on ask(who) { drop message(): asked } }".to_string(), "M0215 add `speaks V` to the layer"),
        ("container pile<T>(room: u32) { array items: [T; room]  fn push(x: T) { items.put(0, x) } } worker W { entity { quota kept: 4  pile held(8) from kept } }".to_string(), "M0333 write `pile<Message>`"),
        ("container notes<T>(room: u32) { messages held: room  array items: [T; room]  fn push(x: T, msg: Message) { held.put(0, msg)  items[0] = x } } worker W { entity { quota kept: 4  notes held(8) from kept } }".to_string(), "M0333 write `notes<u32>`"),
        ("service Clock { ask()  out told(at: u32) }  worker W { uses Clock as clock  entity { var at: u32 = 0 }  on send(msg) { clock.ask()  if at == 1 { drop msg: one } else { below.send(msg) } }  on clock.told(at: t) { at = t } }".to_string(), "M0504 write `on clock.told(t)`"),
        (
            "endpoint E { on deliver(msg) { below.send(msg) to flow } }".to_string(),
            "M0201 name it in the handler's head: `on deliver(msg) from flow { … }`, `on send(msg) to flow { … }`",
        ),
        (
            format!("{} bundle B = Says encoded W  wire W big {{ a: u8 = Says.a }}", says("a: u8, b: u8", "a: 1, b: 2")),
            "M0601 add a line such as `b: u8 = Says.b`",
        ),
        (
            "wire W big { kind: u8  choice kin { 1 => Data { n: u8 = 1 } } }".to_string(),
            "M0612 did you mean `kind`?",
        ),
        (
            "worker W { entity { quota kept: 2  messages held: 1 from keep } }".to_string(),
            "M0201 there is `kept`",
        ),
        (
            "worker W { entity { quota q: 3 } on send(msg) { take q  below.send(msg) } }".to_string(),
            "M0318 say it: `take q or { drop msg: busy  return }`",
        ),
        (
            "worker W { entity { quota kept: 2  counter late }
                on send(msg) { take kept or { }  take late or { }  below.send(msg) } }".to_string(),
            "M0315 there is `kept`",
        ),
        (
            "worker W { session { var n: u8 = 0 } entity { timer t } on expiry t { n += 1 } on send(msg) { start t after 1 s  pass } }"
                .to_string(),
            "M0507 a timer's handler runs for whom the timer is of: declare `timer t` in the session",
        ),
        (
            "worker W { object E[k: u8] capacity 2 { timer gone } on expiry gone { } }".to_string(),
            "M0201 write the handler within the object: `object E … { … on expiry gone { … } }`",
        ),
        (
            "worker W { entity { var free: u32 = 0 } limit sends: free octets }".to_string(),
            "M0215 write `limit send: free octets`",
        ),
        ("worker W { on receive(msg) { above.deliver(msg) } }".to_string(), "M0215 write `on deliver`"),
        (
            "container notes<T>(room: u32) { array items: [T; room]  fn push(x: T) { items[0] = x } }
                worker W { entity { quota kept: 4  notes<u32> held(8) from kept }
                on send(msg) { held.push(msg.size)  below.send(msg) } }".to_string(),
            "M0386 leave `from kept` out: how many it holds is bounded by its places",
        ),
        (
            "worker W { header compressed { epoch: u8 commonly era }  entity { var era: u8 = 0 }
                on send(msg) { below.send(msg, epoch: era) } }".to_string(),
            "M0201 name a number, or a `const` of the file",
        ),
        (
            "worker W { header { n: u8 }  session { const level: u8 = 0 from open, listen }
                on send(msg) { if msg.size > 9 { level = 3 }  below.send(msg, n: level) } }".to_string(),
            "M0313 what `from` gives stays: declare a variable that begins as it, `var level_now: … = level`, and set that",
        ),
        (
            "vocabulary Pace { down may pace(every: Duration, n: u32) }
                worker W { speaks Pace  session { var wait: Duration = 1 s }
                on pace(every: new, n) { if new == 0 s and n == 0 { wait = new } } }".to_string(),
            "M0504 write `on pace(new, n)`",
        ),
        ("fn f(x: u32) -> u32 { x * 2 }".to_string(), "M0314 a value is given by its word: `return x * 2`"),
        (
            "record R { a: u32, b: bool }  fn f(r: R) -> u32 { return r }".to_string(),
            "M0301 its `a` is of this type: write `.a` behind it",
        ),
        (
            "wire W big { a: u8 = 1  optional when aged == 1 { b: u8 = 2 }  aged: u8 = 0 unread }".to_string(),
            "M0607 `aged` stands behind this: put it in front",
        ),
        (
            "worker P { } stack S(device: Device) { app = P over device  export app }
                network N { host a = S()  host b = S()  link l { a.device, b.device  loss 0.5 % }  until 1 s }".to_string(),
            "M0100 write the nearest whole one, `1 %`, and let the network run longer or with more seeds",
        ),
        (
            "worker W { entity { map m: [u8, u8; 4] } on send(msg) { if 1 in m { drop msg: x } else { pass } } }".to_string(),
            "M0100 write `->` between what is looked up and what is found: `[u32 -> u48; 64]`",
        ),
        (says("a: Address", "a: 1"), "M0202 the module `shelves` has it: write `use shelves`"),
        (
            "worker W { entity { shelf kept(3) }  on send(msg) { if kept.room() == 3 { drop msg: full } else { pass } } }"
                .to_string(),
            "M0214 the module `shelves` has it: write `use shelves`",
        ),
        (
            "worker W { session { timer t } on send(msg) { start t after 20 ms * 2 ^ msg.size  below.send(msg) } \
             on expiry t { stop t } }".to_string(),
            "M0303 `^` is exclusive or, of two numbers; a power of two is a shift: `x * (1 << n)`",
        ),
        // A message that is split in a loop must be assigned to its name again: nothing else may be done with the rest.
        (
            "worker Cut { header { last: bool } on send(msg) {
                while msg.size > 100 limit 64 { let (front, rest) = msg.split(100)  below.send(front, last: false) }
                below.send(msg, last: true) } }".to_string(),
            "M0404 give the name back to what is left: `msg = rest` at the end of the round, and send `msg` behind the loop",
        ),
        // A layer that needs what another promises, but does not provide, is not to blame.
        (
            "signature Net { address { host: u32 } publish sum(flow): u32 }
                router Hosts(own: u32) { header { to: u32 } address { host: u32 } gives Net  publish mtu: u32 = below.mtu - 4
                    on send(msg) to flow { below.send(msg, to: flow.remote.host) to flow() }
                    on deliver(msg, to) { if to == own { above.deliver(msg) from flow(local: own, remote: to) } else { drop msg: other } } }
                worker Checked { header { sum: u32 } needs Net
                    on send(msg) { below.send(msg, sum: below.sum) }
                    on deliver(msg, sum) { if sum == below.sum { above.deliver(msg) } else { drop msg: bad } } }
                stack S(device: Device) { app = Checked over hosts  hosts = Hosts(1) over device  export app }".to_string(),
            "M0554 let it, or a layer below it, give that, or leave `gives Net` out",
        ),
        (
            "multiplexor Ports { key { port: u8 } } bundle P = Ports encoded W
                wire W big { rest: u8 = 0 unread  source: u8 = Ports.source  destination: u8 = Ports.destination }
                stack S(device: Device) { ports = P over device  export ports }
                test \"x\" { stack S  device.frame(W { source: 7, dest: 5 } \"a\") }".to_string(),
            "M0206 did you mean `destination`?",
        ),
        // A newcomer's mistakes.
        (
            "worker W { entity { map known: [u8 -> u32; 4]  var a: u32 = 0 }
                on send(msg) { a += 1\n let = a + 1\n if number == 3 { drop msg: x } else { below.send(msg) } } }".to_string(),
            "M0100 write it as in `let x = e`",
        ),
        ("const SLASH: u8 = '/'".to_string(), "M0001 an octet is a number: write `0x2f`"),
        ("const SLASH: u8 = \"/\"".to_string(), "M0301 an octet is a number: write `0x2f`"),
        (
            "worker W { header { number: seq16 }  on send(msg) { below.send(msg, number: 1) }  entity { var n: u32 = 0 }
                on deliver(msg, number) { n = number  if n == 3 { drop msg: x } else { above.deliver(msg) } } }".to_string(),
            "M0301 it begins again at 0 after 65535, and a u32 does not: count on from one that is known, `base +% ((number - expected) as u32)`; `as u32` alone keeps the number of this round",
        ),
        (
            "worker W { header { A { one: u8 } with message | B { two: u8 } with message | C }
                on send(msg) { if msg.size == 3 { below.send(C) }  if msg.size == 9 { below.send(msg, B { two: 2 }) } else { below.send(msg, A { one: 1 }) } }
                on deliver(msg, A) { above.deliver(msg) }  on deliver(msg, B) { above.deliver(msg) }  on deliver(C) { } }
                bundle U = W encoded L  wire L { kind: u8  choice kind { 1 => A { one: u8 = W.A.one }  2 => C { }  4 => D { } } }".replace("4 => D { }", ""),
            "M0611 add `3 => B { … }` to `choice kind { … }`",
        ),
        (
            "worker W { object Pending[who: Flow, id: u16] capacity 4 { var n: u8 = 0 }
                on deliver(msg) from flow { if let one = Pending[7, flow] { one.n += 1 }  above.deliver(msg) } }".to_string(),
            "M0301 the key is `who: flow, id: u16`: write `Pending[who, id]`",
        ),
        (
            "worker W { object Pending[who: Flow, id: u16] capacity 4 { var n: u8 = 0 }
                on deliver(msg) from flow { if let one = Pending[flow] { one.n += 1 }  above.deliver(msg) } }".to_string(),
            "M0305 the key is `who: flow, id: u16`: write `Pending[who, id]`",
        ),
        (
            "multiplexor Inner { key symmetric { kind: u16 } }  worker Tag { header { n: u8 }
                on send(msg) { below.send(msg, n: 1) }  on deliver(msg, n) { if n == 2 { drop msg: two } else { above.deliver(msg) } } }
                worker Plain { }  bundle Tagged = Tag / Inner
                stack S(device: Device) { tagged = Tagged over device  a = Plain over tagged[kind: 1]  b = Plain over tagged[kind: 2]  export a  export b }".to_string(),
            "M0703 write `Inner` in front of `Tag`",
        ),
        ("worker W { fn send(msg) { below.send(msg) } }".to_string(), "M0105 write `on send(msg) { … }`"),
        (
            "worker W { on deliver(msg) { if msg.size > 9 { return drop msg: long }  above.deliver(msg) } }".to_string(),
            "M0107 write `drop msg: long  return`",
        ),
        (
            "worker W { header { id: u8 }  on send(msg) { below.send(msg, id: 1) }
                on deliver(msg, theirs: id) { if theirs == 1 { drop msg: x } else { above.deliver(msg) } } }".to_string(),
            "M0504 the field stands in front: write `id: theirs`",
        ),
        (
            "multiplexor P { key { port: u16 }  header { low: u32 }  entity { var all: u32 = 0 }
                fn both(source: u16, other: u16) -> u32 { return source << 16 | other } }".to_string(),
            "M0371 shift by at most 15, or widen the value first: `source as u32 << 16`",
        ),
        (
            "worker W { entity { counter hits } on send(msg) { count hits  pass } }  stack S(device: Device) { w = W over device  export w }
                test \"t\" { stack S  w.send_to(\"a\")  => device.frame(\"a\")  counter hits == 1 }".to_string(),
            "M0101 write it as in `counter hits 1`",
        ),
        (
            "worker W { entity { counter hits } on send(msg) { count hits  pass } }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device }\n at 1 ms  a.w.send_to(\"a\")\n counter a.hits 1\n until 1 s }".to_string(),
            "M0119 write `expect counter a.hits 1`",
        ),
        (
            "worker W { on send(msg) { print(msg.size)  below.send(msg) } }".to_string(),
            "M0213 code prints nothing: count what happens, `count seen`, or look at a run with `--log` or `mokume debug`",
        ),
        (
            "worker W { on send(msg) { sleep(20 ms)  below.send(msg) } }".to_string(),
            "M0213 code never waits: `start t after 20 ms`, and go on in `on expiry t { … }`",
        ),
        (
            "worker W { header { Data { n: u8 } with message | Ack { seq: u8 } }  on send(msg) { below.send(msg, Data { n: 1 }) }
                on deliver(msg, Data) { let a = Ack(1)  above.deliver(msg) }  on deliver(Ack) { below.send(Ack { seq: 1 }) } }".to_string(),
            "M0213 write it with braces: `Ack { seq: … }`",
        ),
        (
            "worker W { entity { var last: u8 = null }  on send(msg) { last += 1  if last == 1 { drop msg: x } else { below.send(msg) } } }".to_string(),
            "M0201 the language has no `null`: a place may hold a message or none, `messages held: 1 from kept`, and look-ups ask whether something is there: `if let v = seen[key] { … }`",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device   rate 0 kbit/s }\n until 1 s }".to_string(),
            "M0301 say how fast it is: `rate 10 Mbit/s`; a line without a `rate` has no limit",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device }\n expect b.w.deliver_from nothing\n until 1 s }".to_string(),
            "M0100 write `expect nothing at b.app.deliver`",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device }\n expect b.w.deliver_from(.., \"x\")\n until 1 s }".to_string(),
            "M0100 write `_` for each argument in front, or name the ones that matter: `(name: value, ..)`",
        ),
        (
            "worker W { entity { timer t }  on start { start t after 1 µs }  on expiry t { below.send(message(\"x\")) } }".to_string(),
            "M0001 write `us`: `1 us`",
        ),
        (
            "worker W { header { list: [u8; ..4] }  on send(msg) { below.send(msg, list: [1]) } }
                bundle B = W encoded L  wire L big { n: u8 = W.list.length }".to_string(),
            "M0601 add a part such as `each x in W.list { value: u8 = x }`",
        ),
        (
            "worker W { header { n: u8 }  on send(msg) { below.send(msg, n: below.seen.from) } }".to_string(),
            "M0211 let a layer that this file sees say `publish seen: T = …`, where `T` is a record",
        ),
        (
            "record Net written address/prefix { address: Net, prefix: u8 }".to_string(),
            "M0219 leave the field out, or keep a key to it",
        ),
        (
            "worker W { on send(msg) { let why: Reason = refused  if msg.size == 1 { drop msg: why } else { consume msg: why } } }".to_string(),
            "M0301 write a name that nothing here has; only `drop` takes a reason that is a value",
        ),
        (
            "worker W { }  stack S(device: Device) { w = W over device  export w }
                network N { host a = S()  host b = S()  link l { a.device, b.device }\n crash a after 1 s\n restart a at 2 s\n until 3 s }".to_string(),
            "M0100 write `crash a  at 2 s`",
        ),
        (
            "use containers\nworker W { entity { quota kept: 4  messages waiting: 4 from kept  var n: u32 = 0 }
                on send(msg) { if first = waiting.take(n) { below.send(first) }  below.send(msg) } }".replace("use containers\n", ""),
            "M0117 write `let first = …`: what is looked up gets this name",
        ),
        (
            "worker W { entity { timer t } on send(msg) { start t after silence  pass }  on expiry t { stop t } }".to_string(),
            "M0201 bind it with `let`, or declare it: `entity { var silence: Duration = 1 s }`",
        ),
        (
            "endpoint E { on start { below.listen(port: 9) }  on deliver(msg) { below.send(msg) } }  worker Low { session { var n: u8 = 0 } on send(msg) { n += 1  pass } }
                multiplexor Ports { key { port: u8 } }
                stack S(device: Device) { e = E over low  low = Low over ports  ports = Ports over device }
                stack T(device: Device) { e = E over low  low = Low over ports  ports = Ports over device }".to_string(),
            "M0711 give it a `session` scope, or put it below the layer that makes the sessions",
        ),
        // One lost line.
        (
            "worker W {\n    header { n: u8 }\n        quota kept: 4\n        var phase: u8 = 0\n        timer lost\n    }\n    on send(msg) {\n        below.send(msg, n: phase)\n    }\n}\n".to_string(),
            "M0105 state stands in a scope: write `entity {` (one a layer) or `session {` (one a session) in front of it",
        ),
        (
            "worker W {\n    entity { var n: u8 = 0 }\n        n += 1\n        let m = n\n        for i in 0 .. n limit 3 {\n            n += 1\n        }\n    }\n    on send(msg) {\n        if n == 3 { drop msg: x } else { below.send(msg) }\n    }\n}\n".to_string(),
            "M0105 statements stand in a handler or a function: write `on send(msg) {` or `fn name() {` in front of them",
        ),
        (
            "worker W { header { filter: Topic, other: Topic } entity { var a: Topic = []  var b: Topic = [] } on send(msg) { pass } }".to_string(),
            "M0202 define it, or `use` the module that does",
        ),
        (
            "worker W { header {\n | B { two: u8 } with message\n | C } on send(msg) { below.send(msg, B { two: 1 }) } on deliver(msg, B) { above.deliver(msg) } on deliver(C) { } }".to_string(),
            "M0100 write the alternative in front of it, or remove it",
        ),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .filter_map(|(program, wanted)| {
            let found = way_out(&program);
            (found != wanted).then(|| format!("{program}\n  says   {found}\n  wanted {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The advice of these warnings, followed.
#[test]
fn an_alternative_that_is_called_unused_is_taken_sent_and_laid_out() {
    let text = "worker Says {
            header { Data with message | _Bye { why: u8 } }
            session { counter reasons }
            on send(msg) { below.send(msg, Data) }
            on deliver(msg, Data) { above.deliver(msg) }
            on deliver(_Bye { why }) { count reasons why  fail: reset }
        }
        worker Alone { header { _Bye with message | _Data { n: u8 } with message }
            on send(msg) { if msg.size == 7 { below.send(msg, _Data { n: 1 }) } else { below.send(msg, _Bye) } }
            on deliver(msg, _Bye) { above.deliver(msg) }
            on deliver(msg, _Data { n }) { if n == 1 { above.deliver(msg) } else { drop msg: x } } }
        bundle B = Alone encoded L
        wire L { kind: u8  choice kind { 1 => _Bye { }  2 => _Data { n: u8 = Alone._Data.n } } }";
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", text);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn nobody_is_told_to_export_an_endpoint() {
    let text = "endpoint E { session { }  on start { below.listen(port: 9) }  on deliver(msg) { below.send(msg) } }
        multiplexor Ports { key { port: u8 } }
        stack S(device: Device) { keeper = E over ports  ports = Ports over device }
        network N { host a = S()  host b = S()  link l { a.device, b.device }
            expect a.keeper.entries 3 times
            until 3 s }";
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", text);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    let helps: Vec<&String> = found.iter().flat_map(|found| &found.helps).collect();
    assert!(helps.iter().any(|help| help.starts_with("an endpoint has no port: ")), "{helps:?}");
    assert!(!helps.iter().any(|help| help.contains("export")), "{helps:?}");
}

#[test]
fn reports_that_are_left_out_are_counted() {
    let text: String = (0..5000).map(|n| format!("const A{n}: u8 = nothing{n}\n")).collect();
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", text);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    assert_eq!(found.len(), 2000);
    let said: Vec<&String> = found.iter().flat_map(|found| &found.notes).collect();
    assert_eq!(said, ["3000 more errors behind this one are left out: 2000 are looked at"]);
}

/// The list of what may stand behind a message is that of what is read there, as a value or as a statement.
#[test]
fn what_is_said_to_stand_behind_a_message_is_read_there() {
    let is_unknown = |line: String| {
        let mut sources = SourceMap::default();
        let root = sources.add("one.mok", format!("worker W {{ on send(msg) {{ {line}  below.send(msg) }} }}"));
        let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
        found.iter().any(|found| found.message.starts_with("messages have no operation"))
    };
    for name in OF_MESSAGES {
        assert!(!is_unknown(format!("let x = msg.{name}()")) || !is_unknown(format!("msg.{name}()")), "{name}");
    }
    assert!(is_unknown("let x = msg.u16()".to_string()) && is_unknown("msg.put_u16()".to_string()));
}

/// Where an arm of a `match` has no statement, the whole `match` was marked.
#[test]
fn the_arm_that_keeps_a_message_is_marked() {
    let text = "enum Kind: u8 { A, B, C }
worker W {
    header { kind: Kind }
    on send(msg) { below.send(msg, kind: Kind.A) }
    on deliver(msg, kind) {
        match kind {
            Kind.A => { above.deliver(msg) }
            Kind.B => { }
            Kind.C => { drop msg: c }
        }
    }
}
";
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", text);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    let marked = one.labels.iter().find(|label| label.text.contains("still held")).unwrap();
    assert_eq!(&text[marked.span.start as usize..marked.span.end as usize], "{ }");
    assert!(text[..marked.span.start as usize].ends_with("Kind.B => "));
}

/// Several modules may have a layer of one name: the message says which of them is meant.
#[test]
fn an_unknown_parameter_is_told_with_the_module_of_its_layer() {
    let program = "use shelves\nstack S(device: Device) { app = Safe(zone: 3) over device  export app }";
    let mut sources = SourceMap::default();
    let root = sources.add("one.mok", program);
    let (_, found) = analyse_files(&mut sources, &[root], &mut Small);
    let [one] = &found[..] else { panic!("one error, not {found:?}") };
    assert_eq!(one.message, "`Safe` of the module `shelves` has no parameter `zone`");
    let place = one.labels.first().map(|label| sources.file(label.span.file).name.as_str());
    assert_eq!(place, Some("library/shelves.mok"));
}

/// Attributes where the fields of a header stand, units and parts that there are not, lists without a bound.
#[test]
fn what_a_newcomer_wrote_has_a_way_out() {
    let of = |member: &str, handlers: &str| {
        format!(
            "attribute seen: u8 = 0\ntype Address = u32 written dotted(8)\n\
             worker W {{ {member}  header {{ Data {{ seq: u8 }} with message | Ack {{ seq: u8 }} }}
                on send(msg) {{ below.send(msg, Data {{ seq: 1 }}) }}  {handlers} }}"
        )
    };
    let ack = "on deliver(Ack { seq }) { if seq == 1 { below.send(Ack { seq: 2 }) } }";
    let data = "on deliver(msg, Data { seq }) { if seq == 1 { drop msg: one } else { above.deliver(msg) } }";
    let sends =
        |what: &str| format!("worker W {{ header {{ n: u32 }}  on send(msg) {{ {what}  below.send(msg, n: 1) }} }}");
    let cases = [
        (
            of("", &format!("{ack} on deliver(msg, Data {{ seen }}) {{ if seen == 3 {{ drop msg: old }} else {{ above.deliver(msg) }} }}")),
            "M0504 it is an attribute of the message: write `msg.seen`; the layer says `reads seen`",
        ),
        (
            of("reads seen", &format!("{ack} on deliver(msg, Data, seen) {{ if seen + msg.seen == 3 {{ drop msg: old }} else {{ above.deliver(msg) }} }}")),
            "M0504 it is an attribute of the message: write `msg.seen`",
        ),
        (
            of("", &format!("{data} on deliver(Ack {{ seq }}, seen) {{ if seq == seen {{ below.send(Ack {{ seq: 2 }}) }} }}")),
            "M0504 it is an attribute: it stands beside the alternative, `(Ack { … }, seen)`; the layer says `reads seen`",
        ),
        (
            of("", &format!("{ack} on deliver(msg, Data, sek) {{ if sek == 3 {{ drop msg: old }} else {{ above.deliver(msg) }} }}")),
            "M0504 did you mean `seq`?",
        ),
        (
            of("", &format!("{ack} on deliver(msg, Data {{ seq }}) {{ above.deliver(msg, seen: seq) }}")),
            "M0305 beside a message goes an attribute: `writes seen` in this layer, `msg.seen = …` before; the layer above `reads seen`",
        ),
        (
            of("", &format!("{ack} on deliver(msg, Data {{ seq }}) {{ above.deliver(msg, age: seq) }}")),
            "M0305 beside a message goes an attribute: `attribute age: u8 = 0` in the file, `writes age` in this layer, `msg.age = …` before; the layer above `reads age`",
        ),
        (
            of("writes seen: u8", &format!("{ack} on deliver(msg, Data {{ seq }}) {{ msg.seen = seq  above.deliver(msg) }}")),
            "M0100 declare it outside of the layer, `attribute seen: u8 = 0`, and write `writes seen` here",
        ),
        (
            of("reads seen", &format!("{ack} on deliver(msg, Data {{ seq }}) {{ if seen == seq {{ drop msg: old }} else {{ above.deliver(msg) }} }}")),
            "M0201 an attribute is read from a message: `msg.seen`",
        ),
        (
            of("", &format!("{ack} {data}\n}}\nconst ALL: Address = 224.0.0.300\nworker V {{ on send(msg) {{ below.send(msg) }}")),
            "M0004 the other parts are right; `300` is more than such a part holds",
        ),
        (sends("let x = 10 cs  if x == 1 s { }"), "M0364 write `100 ms`"),
        (sends("let x = 1.5 cs  if x == 1 s { }"), "M0364 write `15 ms`"),
        (
            sends("let x = msg.size / 100 s  if x == 1 s { }"),
            "M0303 a number is divided by a number; a duration is made of one by its unit: `n * 1 s`, `n * 1 s / 100`",
        ),
        (
            "worker W { header { list: [u32] }  on send(msg) { below.send(msg, list: []) } }".to_string(),
            "M0100 a list of up to eight: `[u32; ..8]`",
        ),
    ];
    for (program, wanted) in cases {
        assert_eq!(way_out(&program), wanted, "{program}");
    }
}

/// What follows from a mistake is not reported beside it.
#[test]
fn one_mistake_in_a_wire_is_one_error() {
    let of = |fields: &str| {
        format!(
            "worker W {{ header {{ a: u8, b: u8 }}  on send(msg) {{ below.send(msg, a: 1, b: 2) }}  on deliver(msg) {{ above.deliver(msg) }} }}
             bundle B = W encoded X\nwire X big {{ {fields} }}"
        )
    };
    let wrong = "b: u8 = W.b  a: u8 = W.a - 1 where a > 300 where b < 0 default 7";
    assert_eq!(way_out(&of(wrong)), "M0614 put a field in front that carries it, `a: uN = W.a`, and write `a`");
    let never = "M0379 look at the numbers, and at which side is the larger";
    assert_eq!(way_out(&of("a: u8 = W.a  b: u8 = W.b where b < 0")), never);
    assert_eq!(way_out(&of("a: u8 = W.a  b: u8 = W.b where a > 300")), never);
}
