//! Charts against expected files: `BLESS=1 cargo test -p mokume-draw` rewrites them.

use std::path::Path;

use mokume_draw::*;

fn blessed(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).expect("the tests' folder can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; if it should, run with BLESS=1. Now:\n{actual}");
}

fn retransmission() -> Chart {
    use Direction::*;
    use TimerEvent::*;
    let ms = 1_000_000;
    let mut chart =
        Chart::new("a lost acknowledgement, with <b>crossing</b> & \"quotes\"", Unit::Nanoseconds, &["a", "b"]);
    let id = MessageId;
    let send = |from: usize, message, label: &str| Event::Send {
        from,
        to: 1 - from,
        message: id(message),
        label: label.into(),
    };
    chart.push(0, Event::Call { at: 0, direction: In, label: "send m0".into() });
    chart.push(None, send(0, 0, "Data seq=0"));
    chart.push(None, Event::Timer { at: 0, what: Armed, label: "retransmit".into() });
    chart.push(5 * ms, Event::Receive { message: id(0) });
    chart.push(None, Event::Call { at: 1, direction: Out, label: "deliver m0".into() });
    chart.push(None, send(1, 1, "Ack next=1"));
    chart.push(9 * ms, Event::Lose { message: id(1) });
    chart.push(20 * ms, Event::Timer { at: 0, what: Fired, label: "retransmit".into() });
    chart.push(None, send(0, 2, "Data seq=0"));
    chart.push(21 * ms, Event::Call { at: 0, direction: In, label: "send m1".into() });
    chart.push(22 * ms, send(0, 3, "Data seq=1"));
    chart.push(26 * ms + 500_000, Event::Receive { message: id(3) });
    chart.push(27 * ms, Event::Receive { message: id(2) });
    chart.push(None, Event::Drop { at: 1, label: "stale".into() });
    chart.push(28 * ms, Event::Receive { message: id(2) });
    chart.push(30 * ms, Event::Note { at: None, label: "b has seen the same packet twice".into() });
    chart.push(31 * ms, send(1, 4, "Ack next=2"));
    chart.push(None, Event::Timer { at: 0, what: Stopped, label: "retransmit".into() });
    chart.push(32 * ms, Event::Violation { label: "delivered is not a prefix of sent".into() });
    chart
}

/// Layers of two hosts, and a hundred equal rounds.
fn layers() -> Chart {
    let mut chart = Chart::new("a hundred echoes", Unit::Nanoseconds, &["tcp", "ip", "ip", "tcp"]);
    for (index, lifeline) in chart.lifelines.iter_mut().enumerate() {
        lifeline.group = if index < 2 { "left 10.0.0.1".into() } else { "right 10.0.0.2".into() };
    }
    for round in 0..100 {
        let now = u64::from(round) * 2_000_000;
        let message = MessageId(round);
        chart.push(now, Event::Pass { from: 0, to: 1, label: format!("send seq={}", 1000 + round) });
        chart.push(None, Event::Send { from: 1, to: 2, message, label: format!("segment {round}") });
        chart.push(now + 1_000_000, Event::Receive { message });
        chart.push(None, Event::Pass { from: 2, to: 3, label: "deliver".into() });
    }
    chart
}

#[test]
fn a_run_with_losses_duplicates_and_timers() {
    let chart = retransmission();
    blessed("retransmission.svg", &chart_svg(&chart, Limit::default()));
    blessed("retransmission.txt", &chart_text(&chart, Limit::default()));
    blessed("retransmission.mermaid", &chart_mermaid(&chart, Limit::default()));
}

#[test]
fn layers_of_hosts_and_rounds_that_are_alike() {
    let chart = layers();
    blessed("layers.svg", &chart_svg(&chart, Limit::default()));
    blessed("layers.txt", &chart_text(&chart, Limit::default()));
}

#[test]
fn what_a_long_chart_leaves_out_is_said() {
    let limit = Limit { rows: 24, fold_repeats: false };
    let text = chart_text(&layers(), limit);
    assert!(text.contains("… 377 more"), "{text}");
    assert!(chart_svg(&layers(), limit).contains("… 377 more"));
}

#[test]
fn a_chart_that_makes_no_sense_is_drawn_as_far_as_it_does() {
    let mut chart = Chart::new("", Unit::Steps, &["only"]);
    chart.push(1, Event::Send { from: 0, to: 7, message: MessageId(0), label: "nowhere".into() });
    chart.push(2, Event::Receive { message: MessageId(0) });
    chart.push(3, Event::Receive { message: MessageId(9) });
    chart.push(4, Event::Drop { at: 9, label: "".into() });
    chart.push(5, Event::Send { from: 0, to: 0, message: MessageId(1), label: "to itself".into() });
    chart.push(6, Event::Receive { message: MessageId(1) });
    chart.push(7, Event::Note { at: Some(0), label: "\u{1b}[31m".into() });
    for text in [chart_text(&chart, Limit::default()), chart_svg(&chart, Limit::default())] {
        assert!(!text.contains("nowhere") && text.contains("to itself") && !text.contains('\u{1b}'), "{text}");
    }
    let _ = chart_mermaid(&Chart::default(), Limit::default());
    let _ = chart_svg(&Chart::default(), Limit { rows: 0, fold_repeats: true });
    let _ = chart_text(&Chart::default(), Limit::default());
}

/// A message to several is one row; ignored, changed and missing messages have separate signs.
#[test]
fn what_goes_to_several_is_said_once() {
    let mut chart = Chart::new("", Unit::Steps, &["a", "b", "c", "d"]);
    let send = |to, message| Event::Send { from: 1, to, message: MessageId(message), label: "Ask".into() };
    for (to, message) in [(0, 0), (2, 1), (3, 2)] {
        chart.push(0, send(to, message));
    }
    chart.push(0, Event::CutOff { message: MessageId(2) });
    chart.push(1, Event::Ignore { message: MessageId(0) });
    chart.push(2, Event::Damage { message: MessageId(1) });
    chart.push(3, send(0, 3));
    chart.push(3, Event::Overflow { message: MessageId(3) });
    let text = chart_text(&chart, Limit::default());
    assert_eq!(text.matches("Ask").count(), 2, "{text}");
    for part in ["(1) ──│── (2, 3)", "◁─ (1)", "(2) changed ─▶│", "(3) ✗ cut off", "Ask (no room)"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let svg = chart_svg(&chart, Limit::default());
    assert_eq!(svg.matches(">Ask</text>").count(), 2, "{svg}");
    for part in
        ["class='ignored'", "class='damaged'", "class='full'", ">cut off</text>", ">changed</text>", ">no room</text>"]
    {
        assert!(svg.contains(part), "no `{part}`");
    }
    let mermaid = chart_mermaid(&chart, Limit::default());
    assert!(
        mermaid.matches("sets out").count() == 1 && mermaid.contains("l1-->>l0") && mermaid.contains("(cut off)"),
        "{mermaid}"
    );
    // Two messages of one name to one lifeline are two.
    let mut twice = Chart::new("", Unit::Steps, &["a", "b"]);
    for message in [0, 1] {
        twice.push(0, Event::Send { from: 0, to: 1, message: MessageId(message), label: "Ask".into() });
    }
    assert_eq!(chart_svg(&twice, Limit::default()).matches(">Ask</text>").count(), 2);
}
