//! Every example of `docs/language.md` is parsed without a diagnostic.

use crate::common::{checked, fenced, shown};
use mokume_syntax::Fragment;

#[test]
fn every_fenced_example_is_read() {
    let examples = fenced();
    assert!(examples.len() >= 8, "the page has lost its examples");
    for example in examples {
        let parse = checked(&example.text, example.what);
        let found = shown(&example.text, &parse);
        assert!(found.is_empty(), "docs/language.md, the example at line {}: {found:#?}", example.line);
    }
}

/// The planted fault: an example with one character changed gives a diagnostic.
#[test]
fn a_broken_example_is_noticed() {
    for example in fenced() {
        let broken = example.text.replacen('{', "(", 1).replacen(',', ";", 1);
        if broken != example.text {
            assert!(!checked(&broken, example.what).diagnostics.is_empty(), "line {}", example.line);
        }
    }
}

/// The fragments in tables and sentences of the page, by the construct that they are a piece of.
#[test]
fn every_fragment_is_read() {
    let lists: [(Fragment, &[&str]); 8] = [
        (Fragment::File, FILES),
        (Fragment::Members, MEMBERS),
        (Fragment::State, STATE),
        (Fragment::Statements, STATEMENTS),
        (Fragment::Expression, EXPRESSIONS),
        (Fragment::Wire, WIRES),
        (Fragment::Stack, STACKS),
        (Fragment::TestSteps, STEPS),
    ];
    for (what, texts) in lists {
        for text in texts {
            let found = shown(text, &checked(text, what));
            assert!(found.is_empty(), "{what:?} {text}: {found:#?}");
        }
    }
}

const FILES: &[&str] = &[
    "enum Kind: u8 { Ask = 1, Tell = 2 }",
    "record Pair { left: u32, right: u32 }",
    "const NAME: u8 = 1\ntype Name = u8",
    "fn f(a: u32, b: u32) -> u32 { let c = a + b  return c }",
    "worker Credit(grant: u16 = 32) { }",
];
const MEMBERS: &[&str] = &[
    "on expiry t { }",
    "on settle limit 4 { again }",
    "on failed(reason) { pass }",
    "on unmatched(msg) from flow { drop msg: unmatched }",
    "on resolve.ask(next_hop) { }",
    "on deliver(msg, Data { seq }) { }\non deliver(Ack { next }) { }",
    "on work(msg) later 64 { }",
    "on start { }",
    "session capacity 64 { }  session below { }",
];
const STATE: &[&str] = &[
    "var x: u32 = 0",
    "timer t  quota kept: 512  counter hits  array a: [u32; 8]  map m: [u32 -> u48; 64]",
    "map m: [(u32, u16) -> u8; 64]",
    "messages waiting: 8 from kept",
    "const x: u32 = 7",
];
const STATEMENTS: &[&str] = &[
    "x = 3  x += y",
    "start t after 20 ms  start t at deadline  stop t  if running t { }",
    "take kept or { return }  take kept 3 or { drop msg: full  return }  give kept  let n = left kept",
    "give kept  refuse",
    "count hits  count hits 3  count hits  x = 3  count hits n  y = 4",
    "a[i] = e",
    "if let v = m[k] { } else { }",
    "m[k] = v or { return }  remove m[k]  if k in m { }",
    "waiting.put(i, msg)  if let m = waiting.take(i) { } else { }  if let m = waiting.share(i) { }",
    "if let e = Entry[k] { e.x = 1 } else { }",
    "let e = Entry[k] or new { return }",
    "for e in Entry limit 64 { end e }",
    "drop msg: reason  consume msg: reason  fail: reason  accept msg  errors.fail(msg, r)",
    "let (front, rest) = msg.split(n)",
    "msg.put_u16be(at, e)  msg.ttl = 3",
    "below.send(msg, source: own, destination: flow.remote.station) to flow()",
    "above.deliver(msg) from flow(local: destination, remote: source)",
    "later work(msg) or { drop msg: busy  return }",
    "below.open(local: a, remote: flow.remote)",
    "if c { } else if unlikely d { } else { }",
    "match e { Kind.Ask => { pass }  else => { return } }",
    "while c limit 8 { }  for i in a .. b limit 16 { }",
    "return\nx = 3",
    "below.send(msg, Data { seq: next, again })",
    "if x == Kind.Ask { y = Pair { left: 1, right: 2 } }",
];
const EXPRESSIONS: &[&str] = &[
    "Pair { left: 1, right: 2 }",
    "10.0.0.1/24",
    "x as u8 + y as% u8",
    "min(a, b) + max(a, b) - clamp(x, low, high) *% fold16(x)",
    "if c { a } else { b }",
    "not a and b or !c == d",
    "waiting.holds(i)",
    "message(x\"00ff\").size",
    "a << 2 | b & 0xff ^ c",
    "p.left",
    "msg.received(Wire)",
];
const WIRES: &[&str] = &[
    "length: u16 = Length.octets + 8    where length >= 8    trim packet to length",
    "version: u4 = 4  ihl: u4 = size(header) / 4",
    "sum: u16 = checksum(header)  pad: u8 = 0 unread  swapped: u32 little = Layer.field * 4 + 8",
    "where length >= 8 and length <= size(packet)",
    "sum: u16 = Layer.sum    default checksum(packet, pseudo)  pseudo source, destination  ttl: u8 = Hops.ttl    default 64",
    "kind: u8\nchoice kind { 1 => Data { seq: u32 = Layer.Data.seq }  2 => Layer.Ack { } }",
];
const STACKS: &[&str] = &["udp = Udp over ip[protocol: 17] with icmp\nexport udp", "echo = Echo over udp"];
const STEPS: &[&str] = &[
    "stack Host(address: 10.0.0.1/24, device.mac: 02:00:00:00:00:01)",
    "a.send(1, \"x\" x\"00\")\n=> a.sent(?s)  b.got(_, s)\n=> nothing\ndropped Rfc768.length 2\nconsumed used 1\nafter 20 ms",
    "device.frame(Rfc791 { ttl: 3, protocol: 17 } Rfc768 { destination: 7, .. } \"hello\")",
    "=> device.frame(x\"00\" Segment { seq: ?iss, ack: iss + 1 } _ over flow(protocol: 6))  app.deliver(s, _) within 200 ms",
    "app.open(1, remote.port: 9)\n=> app.accepted(?s, local.port: 80, ..)\n=> app.deliver(s, \"two\")",
];
