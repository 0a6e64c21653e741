//! The text form and the comparison, on a machine with given answers: each kind of failure is planted once.

use mokume_reaction::*;
use mokume_testkit::{parse, run, split, Action, Arg, Counted, FailureKind, Script};

fn port(name: &str, kind: PortKind, group: u32) -> Port {
    let word = vec![("n".to_string(), Type::U(8))];
    let frame = vec![("m".to_string(), Type::Msg)];
    Port {
        name: name.into(),
        kind,
        inputs: vec![PortInput {
            event: "go".into(),
            params: word.clone(),
            class: ClassId(0),
            handler: "go".into(),
            defaults: vec![],
        }],
        outputs: vec![
            PortOutput { event: "done".into(), params: word },
            PortOutput { event: "frame".into(), params: frame },
            PortOutput { event: "made".into(), params: vec![("s".into(), Type::Ref(ClassId(0)))] },
        ],
        group,
    }
}

fn automaton() -> Automaton {
    Automaton {
        params: vec![Param { name: "limit".into(), ty: Type::U(8), default: Some(5) }],
        reasons: vec![Reason { name: "layer.stale".into() }],
        ports: vec![port("app", PortKind::Application, 0), port("dev", PortKind::Device, 1)],
        ..Automaton::default()
    }
}

/// Answers each call with the next outcome.
struct Told(Vec<Outcome>, Accounts, Option<u64>);

impl Machine for Told {
    fn start(&mut self, _: u64) -> Outcome {
        self.0.remove(0)
    }
    fn input(&mut self, _: u64, _: PortId, _: u32, _: &[Datum]) -> Outcome {
        self.0.remove(0)
    }
    fn advance(&mut self, now: u64) -> Outcome {
        if self.2.is_some_and(|deadline| deadline <= now) {
            self.2 = None;
            return self.0.remove(0);
        }
        Outcome::default()
    }
    fn next_deadline(&self) -> Option<u64> {
        self.2
    }
    fn accounts(&self) -> Accounts {
        self.1.clone()
    }
}

fn out(port: u32, event: u32, datum: Datum) -> Output {
    Output { port: PortId(port), event, args: vec![datum] }
}

fn outputs(outputs: Vec<Output>) -> Outcome {
    Outcome { outputs, ..Outcome::default() }
}

fn script(text: &str) -> Script {
    parse(&automaton(), text, 1).expect("a test").remove(0)
}

fn failures(text: &str, mut machine: Told) -> Vec<FailureKind> {
    run(&automaton(), &script(text), &mut machine).into_iter().map(|failure| failure.kind).collect()
}

#[test]
fn the_text_is_the_data() {
    let script = script(
        "test \"t\" { seed 7 param limit = 3 ; a comment\n => app.done(1)\n app.go(2) => app.made(?s), dev.frame(0x0001 c0ff \"ab\") at 2ms\n\
         after 20ms reports overflow dropped layer.stale 1 held 0 refused 2 counter a.b.c 3 }",
    );
    assert_eq!((script.seed, script.params.clone(), script.steps.len()), (7, vec![("limit".to_string(), 3)], 2));
    assert_eq!(script.start.outputs[0].args, [Arg::Word(1)]);
    assert_eq!(script.steps[0].line, 3);
    assert_eq!(script.steps[0].expect.outputs[1].args, [Arg::Octets(vec![0, 1, 0xc0, 0xff, b'a', b'b'])]);
    assert_eq!(script.steps[0].expect.outputs[1].at, Some(2_000_000));
    assert_eq!(script.steps[1].action, Action::After(20_000_000));
    let counts = &script.steps[1].expect.counts;
    assert_eq!(counts.len(), 4);
    assert_eq!(counts[3].what, Counted::Counter("a.b.c".into()));
}

#[test]
fn what_makes_no_sense_has_a_line() {
    let refused = |text: &str| parse(&automaton(), text, 10).expect_err("refused").to_string();
    assert_eq!(refused("test \"t\" {\n app.gone(1) }"), "line 11: the stack has no input `app.gone`");
    assert_eq!(refused("test \"t\" {\n app.go() }"), "line 11: a number is missing here, or it is beyond 64 bits");
    assert_eq!(refused("test \"t\" {"), "line 10: a step, `=>`, a total or `}` is missing here");
    assert_eq!(refused("test 1"), "line 10: a test's name is a text in `\"`");
    assert_eq!(refused("test \"t\" { app.go(1) => dev.frame(0x123) }").split(' ').next(), Some("line"));
}

#[test]
fn a_file_is_an_automaton_and_its_tests() {
    assert_eq!(split("a\nb\ntest \"x\" {\n}\n"), ("a\nb\n", "test \"x\" {\n}\n", 3));
    assert_eq!(split("a\n").1, "");
}

#[test]
fn what_is_as_expected_passes() {
    let handle = Datum::Handle(Handle { object: 3, generation: 9 });
    let machine = Told(
        vec![
            Outcome::default(),
            outputs(vec![out(0, 2, handle.clone())]),
            outputs(vec![out(1, 1, Datum::Message(vec![1])), out(0, 2, handle), out(0, 0, Datum::Word(4))]),
        ],
        Accounts::default(),
        None,
    );
    // The device's frame came first, but it belongs to another group.
    let text = "test \"t\" { app.go(1) => app.made(?s) app.go(2) => app.made(s), app.done(_), dev.frame(0x01) held 0 }";
    assert_eq!(failures(text, machine), []);
}

#[test]
fn each_difference_is_found() {
    let two = || vec![out(0, 0, Datum::Word(1)), out(0, 0, Datum::Word(2))];
    let once = |outcome: Outcome| Told(vec![Outcome::default(), outcome], Accounts::default(), None);
    let order = failures("test \"t\" { app.go(1) => app.done(2), app.done(1) }", once(outputs(two())));
    assert!(matches!(&order[..], [FailureKind::Outputs { .. }]));
    let unexpected = failures("test \"t\" { app.go(1) => app.done(1) }", once(outputs(two())));
    assert!(matches!(&unexpected[..], [FailureKind::Outputs { .. }]));
    let missing = failures("test \"t\" { app.go(1) => app.done(1) }", once(Outcome::default()));
    assert!(matches!(&missing[..], [FailureKind::Outputs { .. }]));
    let report = Outcome { reports: vec![(Report::Overflow, String::new())], ..Outcome::default() };
    assert!(matches!(&failures("test \"t\" { app.go(1) }", once(report))[..], [FailureKind::Reports { .. }]));
    let refused = Outcome { refused: true, ..Outcome::default() };
    assert_eq!(failures("test \"t\" { app.go(1) }", once(refused)), [FailureKind::Refused { expected: false }]);
    let total = failures("test \"t\" { app.go(1) dropped layer.stale 1 }", once(Outcome::default()));
    assert_eq!(
        total,
        [FailureKind::Total {
            what: "dropped layer.stale".into(),
            expected: 1,
            actual: 0,
            beside: vec!["nothing else was dropped".into()]
        }]
    );
}

#[test]
fn an_output_has_its_time() {
    let late =
        || Told(vec![Outcome::default(), outputs(vec![out(0, 0, Datum::Word(1))])], Accounts::default(), Some(5));
    assert_eq!(failures("test \"t\" { after 20ns => app.done(1) at 5ns }", late()), []);
    assert_eq!(failures("test \"t\" { after 20ns => app.done(1) at 6ns }", late()).len(), 1);
}

#[test]
fn the_difference_is_shown_with_what_is_common() {
    let machine = &mut Told(
        vec![Outcome::default(), outputs(vec![out(0, 0, Datum::Word(1)), out(0, 0, Datum::Word(3))])],
        Accounts::default(),
        None,
    );
    let script = script("test \"t\" {\n app.go(1) => app.done(1), app.done(2) }");
    let shown = run(&automaton(), &script, machine)[0].to_string();
    assert_eq!(
        shown,
        "test \"t\", step 1 (line 2):\n  outputs differ (- expected, + came):\n    app.done(1)\n  - app.done(2)\n  + app.done(3) at 0"
    );
}
