//! Stacks against expected files: `BLESS=1 cargo test -p mokume-draw` rewrites them.

use std::path::Path;

use mokume_draw::*;
use mokume_reaction::*;

fn blessed(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).expect("the tests' folder can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; if it should, run with BLESS=1. Now:\n{actual}");
}

struct Maker(Automaton);

impl Maker {
    fn layer(&mut self, name: &str, shape: &str, fields: &[(&str, Type)]) {
        let layer = LayerId::from(self.0.layers.len());
        self.0.layers.push(Layer { name: name.into(), of: name.into(), shape: shape.into() });
        self.0.classes.push(Class {
            name: format!("{name}.E"),
            layer,
            capacity: 1,
            parent: None,
            cells: Vec::new(),
            settle_limit: None,
            source: None,
        });
        if !fields.is_empty() {
            let fields = fields.iter().map(|(name, ty)| (name.to_string(), *ty)).collect();
            let variants = vec![Variant { name: "Header".into(), fields }];
            self.0.headers.push(Header { name: format!("{name}.Header"), variants });
        }
    }

    fn id(&self, name: &str) -> ClassId {
        self.0.class_named(&format!("{name}.E")).expect("a layer of the test")
    }

    fn over(&mut self, above: &str, below: &str) {
        let link = Link { above: (self.id(above), None), below: (self.id(below), None), kind: LinkKind::ManyToOne };
        self.0.links.push(link);
    }

    /// A handler of `from` that emits `event` to `to`.
    fn asks(&mut self, from: &str, event: &str, to: &str) {
        let (from, to) = (self.id(from), self.id(to));
        let mut body = BodyBuilder::new(&[("self".into(), Type::Ref(from))]);
        let target = body.value(&self.0, OpKind::Unique { class: to });
        body.push(Op {
            kind: OpKind::Emit { target, event: event.into(), args: vec![] },
            results: vec![],
            source: None,
        });
        let trigger = Trigger::Event(format!("when_{event}"));
        let handler =
            Handler { class: from, trigger, params: vec![], body: body.finish(), later_capacity: 0, source: None };
        self.0.handlers.push(handler);
    }

    fn port(&mut self, name: &str, kind: PortKind, layer: &str, inputs: &[&str], outputs: &[&str]) {
        let class = self.id(layer);
        let input = |event: &&str| PortInput {
            event: event.to_string(),
            params: vec![],
            class,
            handler: event.to_string(),
            defaults: vec![],
        };
        let output = |event: &&str| PortOutput { event: event.to_string(), params: vec![] };
        let (inputs, outputs) = (inputs.iter().map(input).collect(), outputs.iter().map(output).collect());
        let group = self.0.ports.len() as u32;
        self.0.ports.push(Port { name: name.into(), kind, inputs, outputs, group });
    }
}

fn host() -> Automaton {
    let (u, seq) = (Type::U, Type::Seq);
    let mut host = Maker(Automaton { name: "host".into(), ..Automaton::default() });
    host.layer("ethernet", "router", &[("source", u(48)), ("destination", u(48)), ("kind", u(16))]);
    host.layer("arp", "endpoint", &[("operation", u(16)), ("sender", u(32)), ("target", u(32))]);
    host.layer("ip", "router", &[("source", u(32)), ("destination", u(32)), ("hops", u(8)), ("protocol", u(8))]);
    host.layer("icmp", "endpoint", &[("kind", u(8)), ("code", u(8))]);
    host.layer("udp", "multiplexor", &[("source", u(16)), ("destination", u(16))]);
    host.layer("tcp", "worker", &[("seq", seq(32)), ("ack", seq(32)), ("window", u(16)), ("flags", u(9))]);
    for (above, below) in [("arp", "ethernet"), ("ip", "ethernet"), ("icmp", "ip"), ("udp", "ip"), ("tcp", "ip")] {
        host.over(above, below);
    }
    host.asks("ip", "resolve", "arp");
    host.asks("arp", "resolved", "ip");
    host.asks("udp", "unreachable", "icmp");
    host.port("datagrams", PortKind::Application, "udp", &["open", "send", "close"], &["deliver"]);
    host.port("streams", PortKind::Application, "tcp", &["open", "send", "close"], &["deliver", "closed"]);
    host.port("eth0", PortKind::Device, "ethernet", &["frame"], &["frame"]);
    host.0
}

#[test]
fn a_host_of_six_layers() {
    let notes = [("tcp".to_string(), "5 files, 31 cells".to_string())];
    let stack = Stack::of(&host(), &notes);
    blessed("host.svg", &stack_svg(&stack));
    blessed("host.dot", &stack_dot(&stack));
}

#[test]
fn what_is_between_linked_layers_is_no_service() {
    let stack = Stack::of(&host(), &[]);
    let services: Vec<&str> =
        stack.edges.iter().filter(|edge| edge.kind == EdgeKind::Service).map(|edge| edge.label.as_str()).collect();
    assert_eq!(services, ["resolved", "resolve", "unreachable"]);
}

#[test]
fn names_are_escaped_and_nothing_panics() {
    let mut automaton = host();
    automaton.layers[0].name = "<script>\"\\".into();
    let stack = Stack::of(&automaton, &[]);
    assert!(!stack_svg(&stack).contains("<script>"));
    assert!(stack_dot(&stack).contains("<script>\\\"\\\\"));
    let edge = Edge { from: 3, to: 99, kind: EdgeKind::Link, label: String::new() };
    let _ = stack_svg(&Stack { edges: vec![edge], ..Stack::default() });
}
