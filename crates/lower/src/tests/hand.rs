//! Programs built by hand, without the front end: the sequencer and the multiplexor of Morpheus.

use mokume_base::{FileId, SourceMap, Span};
use mokume_reaction::text::print;
use mokume_semantics::program::*;

use crate::{lower, Options};

use super::complaints;

fn span() -> Span {
    Span::new(FileId(0), 0, 1)
}

fn name(text: &str) -> Name {
    Name { text: text.into(), span: span() }
}

fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: span() }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: span() }
}

const SEQ: Type = Type::Seq(32);

fn state(scope: ScopeKind) -> StateRef {
    StateRef { scope, member: 0, object: None, span: span() }
}

fn read(scope: ScopeKind) -> Expr {
    expr(ExprKind::State(state(scope)), SEQ)
}

fn local(at: u32, ty: Type) -> Expr {
    expr(ExprKind::Local(LocalId(at)), ty)
}

fn var(text: &str, init: u64) -> Member {
    let init = Some(expr(ExprKind::Number(init), SEQ));
    let kind = MemberKind::Var { ty: SEQ, init, constant: false };
    Member { name: name(text), kind, written: MemberNotations::default() }
}

fn send() -> Handler {
    let fields = Some(Fields { variant: 0, values: vec![read(ScopeKind::Entity)] });
    let message = Some(expr(ExprKind::Give(LocalId(0)), Type::Message));
    let one = expr(ExprKind::Number(1), SEQ);
    let next = Box::new(read(ScopeKind::Entity));
    let sum = expr(ExprKind::Binary { op: Binary::Add, a: next, b: Box::new(one) }, SEQ);
    Handler {
        event: Event::Send { message: LocalId(0), flow: None },
        scope: ScopeKind::Entity,
        locals: vec![Local::new(name("msg"), Type::Message)],
        body: vec![
            stmt(StmtKind::Emit(Emission::Send { message, fields, to: None })),
            stmt(StmtKind::Assign { state: state(ScopeKind::Entity), value: sum }),
        ],
        span: span(),
    }
}

fn deliver() -> Handler {
    let newer = ExprKind::Binary { op: Binary::Gt, a: Box::new(local(1, SEQ)), b: Box::new(read(ScopeKind::Session)) };
    let message = expr(ExprKind::Give(LocalId(0)), Type::Message);
    let then = vec![
        stmt(StmtKind::Assign { state: state(ScopeKind::Session), value: local(1, SEQ) }),
        stmt(StmtKind::Emit(Emission::Deliver { message, from: None })),
    ];
    let otherwise = vec![stmt(StmtKind::Drop { message: LocalId(0), reason: name("stale"), value: None })];
    let condition = expr(newer, Type::Bool);
    Handler {
        event: Event::Deliver { message: Some(LocalId(0)), variant: None, fields: vec![(0, LocalId(1))], flow: None },
        scope: ScopeKind::Session,
        locals: vec![Local::new(name("msg"), Type::Message), Local::new(name("seq"), SEQ)],
        body: vec![stmt(StmtKind::If { condition, likely: Some(0.99), then, otherwise })],
        span: span(),
    }
}

fn sequencer() -> Layer {
    let mut layer = crate::plan::supplied(span()).sessions;
    layer.name = name("Sequencer");
    layer.shape = Shape::Worker;
    let fields = vec![Field { name: name("seq"), ty: SEQ, big: None, common: None, written: None }];
    layer.header = Some(Header {
        layout: Default::default(),
        variants: vec![Variant { name: name("Header"), fields, with_message: true, otherwise: false }],
    });
    layer.scopes = vec![
        Scope { kind: ScopeKind::Entity, capacity: None, members: vec![var("next", 1)] },
        Scope { kind: ScopeKind::Session, capacity: None, members: vec![var("last", 0)] },
    ];
    layer.handlers = vec![send(), deliver()];
    layer
}

fn fcfs() -> Layer {
    let mut layer = crate::plan::supplied(span()).sessions;
    layer.name = name("Fcfs");
    layer.key = Some(Key {
        symmetric: false,
        fields: vec![Field { name: name("port"), ty: Type::UInt(16), big: None, common: None, written: None }],
    });
    layer
}

/// Instances from the device up, the last one exported as `app`.
fn stack(layers: &[u32]) -> Program {
    let mut instances = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let top = at + 1 == layers.len();
        let over = if at == 0 { Over::Device(0) } else { Over::Instance(at as u32 - 1) };
        let of = Use { of: Definition::Layer(LayerId(*layer)), args: Vec::new(), span: span() };
        let text = if top { "app".to_owned() } else { format!("x{at}") };
        instances.push(Instance {
            name: name(&text),
            of,
            unders: vec![Under { over, bound: Vec::new() }],
            with: Vec::new(),
            with_lost: false,
            place: span(),
        });
    }
    let stack = Stack {
        name: name("Hand"),
        params: Vec::new(),
        devices: vec![name("device")],
        instances,
        exports: vec![name("app")],
        extras: Vec::new(),
        sessions: 4,
        says_sessions: false,
        outputs: 0,
        tick: 0,
        mtu: None,
        order: Vec::new(),
        lost: Vec::new(),
    };
    Program { layers: vec![sequencer(), fcfs()], stacks: vec![stack], ..Program::default() }
}

fn check(layers: &[u32], tests: &str) {
    let program = stack(layers);
    let (automaton, diagnostics) = lower(&program, &SourceMap::default(), StackId(0), &Options::default());
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let automaton = automaton.expect("no diagnostic is an error");
    let scripts =
        mokume_testkit::parse(&automaton, tests, 1).unwrap_or_else(|error| panic!("{error}\n{}", print(&automaton)));
    for script in scripts {
        let all = complaints(&automaton, &script);
        assert!(all.is_empty(), "{}\n{}", all.join("\n"), print(&automaton));
    }
}

#[test]
fn a_sequencer_over_a_device() {
    check(
        &[0],
        r#"test "both ways" {
             app.open(1)  => app.opened(1, ?s)
             app.send(s, "one")  => device.frame(0x01000000 "one")
             app.send(s, "two")  => device.frame(0x02000000 "two")
             device.frame(0x01000000 "one")  => app.deliver(s, "one")
             device.frame(0x01000000 "one")  dropped app.stale 1
             app.close(s)  => app.closed(s)
             device.frame(0x02000000 "two")  => app.accepted(?t), app.deliver(t, "two")
             device.frame(0x010000)  dropped app.short 1
           }"#,
    );
}

#[test]
fn a_multiplexor_over_a_device() {
    check(
        &[1],
        r#"test "sessions, listeners, bound ports" {
             app.open(1, 5, 9)  => app.opened(1, ?s, 5, 9)
             app.open(2, 5, 9)  => app.failed(2, app.in_use)
             app.send(s, "out")  => device.frame(0x05000900 "out")
             device.frame(0x09000500 "in")  => app.deliver(s, "in")
             device.frame(0x09000600 "in")  dropped app.unmatched 1
             app.listen(1, 6)
             device.frame(0x09000600 "in")  => app.accepted(?t, 6, 9), app.deliver(t, "in")
             app.bind(1, 7)
             device.frame(0x09000700 "in")  => app.deliver_from(7, 9, "in")
             app.send_to(7, 9, "back")  => device.frame(0x07000900 "back")
             app.unlisten(1, 7)
             device.frame(0x09000700 "in")  dropped app.unmatched 2
             app.close(s)  => app.closed(s)
             device.frame(0x09000500 "in")  dropped app.unmatched 3
           }"#,
    );
}

#[test]
fn a_sequencer_over_a_multiplexor() {
    check(
        &[1, 0],
        r#"test "each session counts for itself" {
             app.open(1, 5, 9)  => app.opened(1, ?s, 5, 9)
             app.send(s, "out")  => device.frame(0x05000900 01000000 "out")
             app.listen(1, 6)
             device.frame(0x09000600 03000000 "in")  => app.accepted(?t, 6, 9), app.deliver(t, "in")
             device.frame(0x09000500 01000000 "in")  => app.deliver(s, "in")
             device.frame(0x09000600 02000000 "in")  dropped app.stale 1
           }"#,
    );
}

#[test]
fn a_multiplexor_over_a_sequencer() {
    check(
        &[0, 1],
        r#"test "sessions share the one below" {
             app.open(1, 5, 9)  => app.opened(1, ?s, 5, 9)
             app.open(2, 6, 9)  => app.opened(2, ?t, 6, 9)
             app.send(s, "one")  => device.frame(0x01000000 05000900 "one")
             app.send(t, "two")  => device.frame(0x02000000 06000900 "two")
             device.frame(0x01000000 09000500 "in")  => app.deliver(s, "in")
             device.frame(0x01000000 09000600 "in")  dropped x0.stale 1
             device.frame(0x02000000 09000600 "in")  => app.deliver(t, "in")
             app.close(s)  => app.closed(s)
             app.close(t)  => app.closed(t)
             device.frame(0x01000000 09000600 "again")  dropped app.unmatched 1
           }"#,
    );
}
