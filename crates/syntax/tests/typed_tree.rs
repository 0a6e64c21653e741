//! The typed tree agrees with the text, by example.

use crate::common::checked;
use mokume_base::{FileId, Span};
use mokume_syntax::ast::*;
use mokume_syntax::Fragment;

fn file(text: &str) -> File {
    let parse = checked(text, Fragment::File);
    assert!(parse.diagnostics.is_empty(), "{text}: {:?}", parse.diagnostics);
    parse.file()
}

fn fragment<T: AstNode>(text: &str, what: Fragment) -> Vec<T> {
    let parse = checked(text, what);
    assert!(parse.diagnostics.is_empty(), "{text}: {:?}", parse.diagnostics);
    parse.file().children()
}

fn statements(text: &str) -> Vec<Stmt> {
    fragment(text, Fragment::Statements)
}

fn expression(text: &str) -> Expr {
    fragment(text, Fragment::Expression).remove(0)
}

fn members(text: &str) -> Vec<Member> {
    fragment(text, Fragment::Members)
}

fn source<T: AstNode>(node: Option<T>) -> String {
    node.map_or("-".to_string(), |node| node.source())
}

fn sources<T: AstNode>(nodes: Vec<T>) -> Vec<String> {
    nodes.iter().map(AstNode::source).collect()
}

/// The expression with every operation in parentheses.
fn bracketed(expr: &Expr) -> String {
    match expr {
        Expr::Binary(e) => format!(
            "({} {:?} {})",
            e.left().as_ref().map_or("-".into(), bracketed),
            e.op().expect("an operator"),
            e.right().as_ref().map_or("-".into(), bracketed)
        ),
        Expr::Unary(e) => format!("({:?} {})", e.op(), e.operand().as_ref().map_or("-".into(), bracketed)),
        Expr::Cast(e) => format!(
            "({} as{} {})",
            e.value().as_ref().map_or("-".into(), bracketed),
            if e.is_wrapping() { "%" } else { "" },
            source(e.ty())
        ),
        other => other.source(),
    }
}

#[test]
fn operators_bind_as_the_grammar_says() {
    for (text, expected) in [
        ("a or b and not c == d", "(a Or (b And (Not (c Eq d))))"),
        ("a + b * c - d", "((a Add (b Mul c)) Sub d)"),
        ("a & b == c | d", "((a BitAnd b) Eq (c BitOr d))"),
        ("a | b ^ c & d << 2 + e", "(a BitOr (b BitXor (c BitAnd (d Shl (2 Add e)))))"),
        ("a as u8 + b as% u16 * c", "((a as u8) Add ((b as% u16) Mul c))"),
        ("!a.b and c in m", "((Complement a.b) And (c In m))"),
        ("a +% b -% c *% d", "((a AddWrap b) SubWrap (c MulWrap d))"),
        ("a\n    + b", "(a Add b)"),
        ("a +\n    b", "(a Add b)"),
    ] {
        assert_eq!(bracketed(&expression(text)), expected, "{text}");
    }
}

#[test]
fn literals_have_their_values() {
    let number = |text| match expression(text) {
        Expr::Number(number) => number.value(),
        other => panic!("{other:?}"),
    };
    assert_eq!(number("1_000"), Some(NumberValue::Plain(1000)));
    assert_eq!(number("0x0800"), Some(NumberValue::Plain(0x800)));
    // Types determine the meaning of these.
    for text in ["10.0.0.1", "10.0.0.1/24", "02:00:00:00:00:0f", "1.10", "2001:db8::1/64", "ff00::", "::0", "a:b:c"] {
        assert_eq!(number(text), Some(NumberValue::Written(text.to_string())));
    }
    let duration = |text| match expression(text) {
        Expr::Duration(duration) => duration.nanoseconds(),
        other => panic!("{other:?}"),
    };
    assert_eq!(duration("20 ms"), Some(20_000_000));
    assert_eq!(duration("3 min"), Some(180_000_000_000));
    assert_eq!(duration("0xffffffffffffffff s"), None);
    let Expr::Octets(octets) = expression("x\"00 ff\" \"a\\n\\x41\"") else { panic!() };
    assert_eq!(octets.octets(), [0, 0xff, b'a', b'\n', 0x41]);
    let Expr::Bool(yes) = expression("true") else { panic!() };
    assert!(yes.value());
}

#[test]
fn calls_records_and_indices_have_their_parts() {
    let Expr::Call(call) = expression("below.send(msg, Data { seq, at: now }, device.mac: 3)") else { panic!() };
    let Some(Expr::Field(callee)) = call.callee() else { panic!() };
    assert_eq!((source(callee.base()), source(callee.name())), ("below".into(), "send".into()));
    let args = call.args();
    assert_eq!(args.len(), 3);
    assert!(args[0].name().is_none());
    assert_eq!(args[2].name().unwrap().text(), "device.mac");
    let Some(Expr::Record(record)) = args[1].value() else { panic!() };
    assert_eq!(record.name().unwrap().text(), "Data");
    let fields: Vec<(String, String)> = record.fields().iter().map(|f| (source(f.name()), source(f.value()))).collect();
    assert_eq!(fields, [("seq".into(), "-".into()), ("at".into(), "now".to_string())]);
    let Expr::Index(index) = expression("m[a, b]") else { panic!() };
    assert_eq!((source(index.base()), sources(index.indices())), ("m".into(), vec!["a".into(), "b".into()]));
    let Expr::Running(running) = expression("running e.t") else { panic!() };
    assert_eq!(source(running.timer()), "e.t");
}

#[test]
fn statements_have_their_parts() {
    let text = "let (front, rest) = msg.split(n)
        let e = Entry[k] or new { return }
        m[k] += v or { drop msg: full  return }
        below.send(msg) to flow(local: a)
        above.deliver(msg) from flow
        if unlikely a { x = 1 } else if let v = m[k] { } else { }
        match e { Kind.Ask => { pass }  else => { } }
        for i in a .. b limit 16 { }
        take kept 3 or { return }
        count hits
        start e.t after 20 ms
        start t at deadline
        later work(msg) or { return }
        return 3";
    let all = statements(text);
    let Stmt::Let(split) = &all[0] else { panic!() };
    assert_eq!(sources(split.pattern().unwrap().names()), ["front", "rest"]);
    let Stmt::Let(entry) = &all[1] else { panic!() };
    assert_eq!(source(entry.value()), "Entry[k]");
    assert!(entry.or().unwrap().is_new() && entry.or().unwrap().block().is_some());
    let Stmt::Assign(assign) = &all[2] else { panic!() };
    assert_eq!((source(assign.target()), source(assign.value())), ("m[k]".into(), "v".into()));
    assert_eq!((assign.op().as_deref(), assign.binary_op()), (Some("+="), Some(BinaryOp::Add)));
    assert_eq!(assign.or().unwrap().block().unwrap().statements().len(), 2);
    let (Stmt::Expr(send), Stmt::Expr(deliver)) = (&all[3], &all[4]) else { panic!() };
    assert_eq!((source(send.expr()), source(send.to())), ("below.send(msg)".into(), "flow(local: a)".into()));
    assert_eq!((source(deliver.from()), source(deliver.to())), ("flow".into(), "-".into()));
    let Stmt::If(outer) = &all[5] else { panic!() };
    assert_eq!((outer.likelihood(), source(outer.condition())), (Likelihood::Unlikely, "a".into()));
    assert!(outer.then().is_some() && outer.else_block().is_none());
    let inner = outer.else_if().unwrap();
    assert!(inner.condition().is_none() && inner.else_block().is_some() && inner.else_if().is_none());
    assert_eq!(source(inner.let_condition().unwrap().value()), "m[k]");
    let Stmt::Match(choice) = &all[6] else { panic!() };
    let arms = choice.arms();
    assert_eq!(
        (source(choice.value()), source(arms[0].pattern()), arms[0].is_else()),
        ("e".into(), "Kind.Ask".into(), false)
    );
    assert!(arms[1].is_else() && arms[1].pattern().is_none() && arms[1].body().is_some());
    let Stmt::For(each) = &all[7] else { panic!() };
    let Some(Expr::Range(range)) = each.iterable() else { panic!() };
    assert_eq!((source(range.from()), source(range.to()), source(each.limit())), ("a".into(), "b".into(), "16".into()));
    let Stmt::Take(take) = &all[8] else { panic!() };
    assert_eq!((source(take.target()), source(take.amount())), ("kept".into(), "3".into()));
    assert!(take.or().is_some());
    let Stmt::Count(count) = &all[9] else { panic!() };
    assert_eq!((source(count.target()), source(count.amount())), ("hits".into(), "-".into()));
    let (Stmt::Start(after), Stmt::Start(at)) = (&all[10], &all[11]) else { panic!() };
    assert_eq!(
        (source(after.timer()), source(after.after()), source(after.at())),
        ("e.t".into(), "20 ms".into(), "-".into())
    );
    assert_eq!((source(at.after()), source(at.at())), ("-".into(), "deadline".into()));
    let Stmt::Later(later) = &all[12] else { panic!() };
    assert_eq!((source(later.event()), later.args().len(), later.or().is_some()), ("work".into(), 1, true));
    let Stmt::Return(last) = &all[13] else { panic!() };
    assert_eq!(source(last.value()), "3");
}

#[test]
fn words_are_keywords_only_where_they_fit() {
    let all = statements(
        "count = 3  start.t = 4  stop(x)  end[i] = 5  fail = 6  left = p.left  running += 1\nremove = not_in",
    );
    let kinds: Vec<bool> = all.iter().map(|s| matches!(s, Stmt::Assign(_) | Stmt::Expr(_))).collect();
    assert_eq!(kinds, [true; 8]);
    let text =
        "stack Host(address: Ipv4Cidr) { key = Layer(address.address) over type[type: 1, port: 2] with limit, on }";
    let Item::Stack(stack) = file(text).items().remove(0) else { panic!() };
    let StackMember::Layer(layer) = stack.members().remove(0) else { panic!() };
    assert_eq!(
        (source(layer.name()), source(layer.layers().first().cloned())),
        ("key".into(), "Layer(address.address)".into())
    );
    assert_eq!(sources(layer.with()), ["limit", "on"]);
    let over = layer.overs().remove(0);
    let keys: Vec<(String, String)> = over.keys().iter().map(|k| (source(k.name()), source(k.value()))).collect();
    assert_eq!(keys, [("type".into(), "1".into()), ("port".into(), "2".to_string())]);
}

#[test]
fn members_have_their_parts() {
    let text = "header { Data { seq: seq32 } with message | Ack { next: seq32 } | Bye }
        key symmetric { protocol: u8 }
        below address { station: u48 }
        session below { }
        session capacity 64 { }
        object Entry[address: u32, kind: u8] capacity n evict oldest { var x: u32 = 1  timer t  on expiry t { end e } }
        publish sum(flow): u32 = 3
        limit send: credit
        uses Resolve as resolve
        reads ttl, broadcast   writes ttl
        on deliver(msg, Data { seq, at }, made: u32) from flow { }
        on settle limit 4 { }
        on work(msg) later 64 { }
        on resolve.ask(next_hop) { }
        where pieces >= 1 and below.window > pieces   where turn >= 1";
    let all = members(text);
    let Member::Header(header) = &all[0] else { panic!() };
    let alternatives: Vec<(String, usize, bool)> =
        header.alternatives().iter().map(|a| (source(a.name()), a.fields().len(), a.with_message())).collect();
    assert_eq!(alternatives, [("Data".into(), 1, true), ("Ack".into(), 1, false), ("Bye".to_string(), 0, false)]);
    assert!(header.fields().is_none());
    let (Member::Key(key), Member::Address(address)) = (&all[1], &all[2]) else { panic!() };
    assert!(key.is_symmetric() && address.is_below());
    let (Member::Scope(below), Member::Scope(session)) = (&all[3], &all[4]) else { panic!() };
    assert_eq!((below.kind(), session.kind()), (ScopeKind::SessionBelow, ScopeKind::Session));
    assert_eq!(source(session.capacity()), "64");
    let Member::Object(object) = &all[5] else { panic!() };
    assert_eq!(
        (object.keys().len(), source(object.capacity()), source(object.evict())),
        (2, "n".into(), "oldest".into())
    );
    assert_eq!((object.states().len(), object.handlers().len()), (2, 1));
    assert_eq!(source(object.handlers()[0].expiry().first().cloned()), "t");
    let Member::Publish(publish) = &all[6] else { panic!() };
    assert_eq!(
        (source(publish.ty()), source(publish.value()), publish.params().unwrap().len()),
        ("u32".into(), "3".into(), 1)
    );
    let Member::Uses(uses) = &all[8] else { panic!() };
    assert_eq!((source(uses.service()), source(uses.alias())), ("Resolve".into(), "resolve".into()));
    let (Member::Reads(reads), Member::Writes(writes)) = (&all[9], &all[10]) else { panic!() };
    assert_eq!((reads.names().len(), writes.names().len()), (2, 1));
    let Member::Handler(deliver) = &all[11] else { panic!() };
    assert_eq!((deliver.event().unwrap().text(), source(deliver.from())), ("deliver".into(), "flow".into()));
    let patterns = deliver.patterns();
    let (Pattern::Param(msg), Pattern::Alternative(data), Pattern::Param(made)) =
        (&patterns[0], &patterns[1], &patterns[2])
    else {
        panic!()
    };
    assert!(msg.ty().is_none() && source(made.ty()) == "u32");
    assert_eq!((source(data.name()), sources(data.fields())), ("Data".into(), vec!["seq".into(), "at".into()]));
    let (Member::Handler(settle), Member::Handler(work), Member::Handler(ask)) = (&all[12], &all[13], &all[14]) else {
        panic!()
    };
    assert_eq!((source(settle.limit()), source(work.later())), ("4".into(), "64".into()));
    assert_eq!(ask.event().unwrap().text(), "resolve.ask");
    let (Member::Where(pieces), Member::Where(turn)) = (&all[15], &all[16]) else { panic!() };
    assert_eq!(source(pieces.condition()), "pieces >= 1 and below.window > pieces");
    assert_eq!(source(turn.condition()), "turn >= 1");
}

#[test]
fn state_has_its_parts() {
    let text = "var x: u32 = 1  quota kept: 512  array a: [u32; 8]  map m: [(u32, u16) -> u8; 64]
        map n: [u32 -> u48; 8]  messages waiting: 8 from kept  const c: u8 = 2";
    let all: Vec<State> = fragment(text, Fragment::State);
    let names: Vec<String> = all.iter().map(|state| source(state.name())).collect();
    assert_eq!(names, ["x", "kept", "a", "m", "n", "waiting", "c"]);
    let (State::Map(pairs), State::Map(single)) = (&all[3], &all[4]) else { panic!() };
    let (Some(Type::Map(pairs)), Some(Type::Map(single))) = (pairs.ty(), single.ty()) else { panic!() };
    assert_eq!(
        (sources(pairs.keys()), source(pairs.value()), source(pairs.capacity())),
        (vec!["u32".into(), "u16".into()], "u8".into(), "64".into())
    );
    assert_eq!((sources(single.keys()), source(single.value())), (vec!["u32".into()], "u48".into()));
    let State::Messages(waiting) = &all[5] else { panic!() };
    assert_eq!((source(waiting.value()), source(waiting.quota())), ("8".into(), "kept".into()));
}

#[test]
fn wires_have_their_parts() {
    let text = "/// A wire.
wire W big {
    kind: u8
    length: u16 little = L.octets * 4 + 8 unread   where length >= 8 and kind < 3   trim packet to length
    choice kind { 1 => Data { seq: u32 = L.Data.seq }  2 => L.Ack { } }
}";
    let Item::Wire(wire) = file(text).items().remove(0) else { panic!() };
    assert_eq!((wire.doc(), wire.byte_order()), ("A wire.".into(), Some(ByteOrder::Big)));
    let all = wire.members();
    let (WireMember::Field(kind), WireMember::Field(length)) = (&all[0], &all[1]) else { panic!() };
    assert!(kind.value().is_none() && !kind.is_unread() && length.is_unread());
    assert_eq!((length.byte_order(), source(length.value())), (Some(ByteOrder::Little), "L.octets * 4 + 8".into()));
    let (WireMember::Where(condition), WireMember::Trim(trim)) = (&all[2], &all[3]) else { panic!() };
    assert_eq!(
        (source(condition.condition()), source(trim.to())),
        ("length >= 8 and kind < 3".into(), "length".into())
    );
    let WireMember::Choice(choice) = &all[4] else { panic!() };
    let arms: Vec<(String, String, usize)> =
        choice.arms().iter().map(|a| (source(a.value()), a.alternative().unwrap().text(), a.members().len())).collect();
    assert_eq!(arms, [("1".into(), "Data".into(), 1), ("2".into(), "L.Ack".to_string(), 0)]);
}

#[test]
fn items_have_their_parts() {
    let text = "use ethernet, \"mine.mok\"
/// Two of them.
/// Left first.
record Pair { left: u32, right: u32 }
enum Kind: u8 { Ask = 1, Tell }
service Resolve { ask(next_hop: u32)  out known(next_hop: u32, msg: Message) }
router Route(mtu: u16 = 1500, depth: u8) { }
bundle B(a: bool) = Top(a) / Low encoded W
fn f(a: u32) -> u32 { return a }";
    let all = file(text).items();
    let Item::Use(use_) = &all[0] else { panic!() };
    let targets: Vec<UseTarget> = use_.paths().iter().filter_map(|path| path.target()).collect();
    assert_eq!(targets, [UseTarget::Module("ethernet".into()), UseTarget::File("mine.mok".into())]);
    let Item::Record(pair) = &all[1] else { panic!() };
    assert_eq!((pair.doc(), pair.fields().len()), ("Two of them.\nLeft first.".into(), 2));
    let name = pair.name().unwrap().span(FileId(7));
    assert_eq!(&text[name.start as usize..name.end as usize], "Pair");
    assert_eq!(name.file, FileId(7));
    let Item::Enum(kind) = &all[2] else { panic!() };
    let variants: Vec<(String, String)> =
        kind.variants().iter().map(|v| (source(v.name()), source(v.value()))).collect();
    assert_eq!(
        (source(kind.ty()), variants),
        ("u8".into(), vec![("Ask".into(), "1".into()), ("Tell".into(), "-".into())])
    );
    let Item::Service(service) = &all[3] else { panic!() };
    let signals: Vec<(String, bool, usize)> =
        service.signals().iter().map(|s| (source(s.name()), s.is_out(), s.params().len())).collect();
    assert_eq!(signals, [("ask".into(), false, 1), ("known".to_string(), true, 2)]);
    let Item::Layer(layer) = &all[4] else { panic!() };
    assert_eq!((layer.shape(), source(layer.params()[0].default())), (Shape::Router, "1500".into()));
    let Item::Bundle(bundle) = &all[5] else { panic!() };
    assert_eq!((sources(bundle.layers()), source(bundle.wire())), (vec!["Top(a)".into(), "Low".into()], "W".into()));
    let Item::Function(function) = &all[6] else { panic!() };
    assert_eq!((source(function.result()), function.body().unwrap().statements().len()), ("u32".into(), 1));
    let names: Vec<String> = all.iter().map(|item| source(item.name())).collect();
    assert_eq!(names, ["-", "Pair", "Kind", "Resolve", "Route", "B", "f"]);
}

#[test]
fn tests_and_networks_have_their_parts() {
    let text = "test \"a \\\"name\\\"\" {
    stack Host(address: 10.0.0.1/24, device.mac: 02:00:00:00:00:01)
    device.frame(x\"01\" \"one\")
    => app.accepted(?s)  app.deliver(s, _)
    => app.closed(s)
    a.b(1)  a.b(2)
    => nothing
    dropped W.length 2
    consumed used 1
    after 20 ms
}
network N {
    host a = Host(address: 10.0.0.1/24)
    link lan { a.device, b.device   loss 10 %  delay 1 ms .. 3 ms  jitter 5 ms }
    at 10 ms  a.udp.bind(1, 0, 4000)
    until 2 s
}";
    let all = file(text).items();
    let Item::Test(test) = &all[0] else { panic!() };
    assert_eq!(test.name().unwrap(), "a \"name\"");
    let steps = test.steps();
    let (TestStep::Stack(stack), TestStep::Input(input), TestStep::Expect(outputs)) = (&steps[0], &steps[1], &steps[2])
    else {
        panic!()
    };
    assert_eq!(stack.stack().unwrap().args()[1].name().unwrap().text(), "device.mac");
    assert_eq!(source(input.call()), "device.frame(x\"01\" \"one\")");
    let calls = outputs.outputs();
    assert_eq!((calls.len(), outputs.is_nothing()), (2, false));
    let (Expr::Call(accepted), Expr::Call(deliver)) = (&calls[0], &calls[1]) else { panic!() };
    let Some(Expr::Bind(bind)) = accepted.args()[0].value() else { panic!() };
    assert_eq!(source(bind.name()), "s");
    assert!(matches!(deliver.args()[1].value(), Some(Expr::Hole(_))));
    assert!(matches!((&steps[3], &steps[4], &steps[5]), (TestStep::Expect(_), TestStep::Input(_), TestStep::Input(_))));
    let TestStep::Expect(nothing) = &steps[6] else { panic!() };
    assert!(nothing.is_nothing() && nothing.outputs().is_empty());
    let (TestStep::Dropped(dropped), TestStep::Consumed(consumed), TestStep::After(after)) =
        (&steps[7], &steps[8], &steps[9])
    else {
        panic!()
    };
    assert_eq!((dropped.reason().unwrap().text(), source(dropped.count())), ("W.length".into(), "2".into()));
    assert_eq!((source(consumed.count()), source(after.duration())), ("1".into(), "20 ms".into()));
    let Item::Network(network) = &all[1] else { panic!() };
    let parts = network.members();
    let (NetworkMember::Host(host), NetworkMember::Link(link)) = (&parts[0], &parts[1]) else { panic!() };
    assert_eq!(source(host.name()), "a");
    assert_eq!(link.devices().iter().map(Path::text).collect::<Vec<_>>(), ["a.device", "b.device"]);
    let options = link.options();
    assert_eq!((source(options[0].name()), options[0].percentage()), ("loss".into(), Some(10)));
    let range = options[1].range().unwrap();
    assert_eq!((source(range.from()), source(range.to())), ("1 ms".into(), "3 ms".into()));
    assert_eq!((source(options[2].value()), options[2].range().is_none()), ("5 ms".into(), true));
    let (NetworkMember::At(at), NetworkMember::Until(until)) = (&parts[2], &parts[3]) else { panic!() };
    assert_eq!((source(at.instant()), source(at.call())), ("10 ms".into(), "a.udp.bind(1, 0, 4000)".into()));
    assert_eq!(source(until.duration()), "2 s");
}

#[test]
fn a_tally_has_its_word_its_path_and_its_numbers() {
    let text =
        "network N { expect counter b.app.hits 1 .. 5  until 2 s  expect dropped stale 3  expect consumed b.used }";
    let Item::Network(network) = &file(text).items()[0] else { panic!() };
    let tally = |member| match member {
        NetworkMember::Tally(tally) => tally,
        _ => panic!(),
    };
    let tallies: Vec<_> = network.members().into_iter().map(tally).collect();
    let words: Vec<String> = tallies.iter().map(|tally| tally.word()).collect();
    assert_eq!(words, ["counter", "dropped", "consumed"]);
    let range = tallies[0].range().unwrap();
    assert_eq!((source(range.from()), source(range.to())), ("1".into(), "5".into()));
    assert_eq!((tallies[0].counted().unwrap().text(), source(tallies[0].until())), ("b.app.hits".into(), "2 s".into()));
    assert_eq!(
        (source(tallies[1].count()), tallies[1].range().is_none(), tallies[1].until().is_none()),
        ("3".into(), true, true)
    );
    assert_eq!((tallies[2].counted().unwrap().text(), tallies[2].count().is_none()), ("b.used".into(), true));
}

#[test]
fn tests_of_a_suite_may_stand_in_the_first_column() {
    let text = "suite S(T: stack) {
test \"a\" {
stack T
a.b(1)
}
test \"b\" { stack T }
}
test \"c\" { stack U }
run S(U)";
    let all = file(text).items();
    let Item::Suite(suite) = &all[0] else { panic!() };
    assert_eq!((suite.tests().len(), all.len()), (2, 3));
    // An unclosed test ends where the next one begins.
    let parse = checked("suite S(T: stack) {\ntest \"a\" { stack T\ntest \"b\" { stack T }\n}", Fragment::File);
    let items = parse.file().items();
    let Item::Suite(suite) = &items[0] else { panic!() };
    assert_eq!((suite.tests().len(), parse.diagnostics.len()), (2, 1));
}

#[test]
fn what_is_missing_is_none_and_what_is_there_is_found() {
    let parse = checked(
        "worker A {\n    session { var = 3 }\n    on { x = }\n    fn f(a: ) -> { }\n}\nbundle B = /",
        Fragment::File,
    );
    assert!(!parse.diagnostics.is_empty());
    let items = parse.file().items();
    let Item::Layer(layer) = &items[0] else { panic!() };
    assert_eq!(layer.members().len(), 3);
    let Member::Handler(handler) = &layer.members()[1] else { panic!() };
    assert!(handler.event().is_none());
    let body = handler.body().unwrap().statements();
    let Stmt::Assign(assign) = &body[0] else { panic!() };
    assert_eq!((source(assign.target()), source(assign.value())), ("x".into(), "-".into()));
    assert_eq!(items.len(), 2);
    assert_eq!(parse.diagnostics[0].primary.as_ref().unwrap().span, Span::new(FileId(0), 29, 30));
}
