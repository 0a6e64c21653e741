//! `expect`, `when`, `at` and `frame` of networks in `mokume sim`, each beside a network in which it must fail.

mod back_ends;
mod seeds;

use std::path::Path;
use std::process::{Command, Output};

use crate::apart::said;

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap()
}

fn scratch(name: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_string_lossy().into_owned()
}

const STACK: &str = "use thin\n\nstack Link(device: Device) {\n    app = StopAndWait(50 ms, 3, 32) over device\n    \
                     export app\n}\n";

/// A network of two hosts, of which `a` sends "x" at 20 ms.
pub fn network(weather: &str, lines: &[&str]) -> String {
    format!(
        "{STACK}\nnetwork Two {{\n    host a = Link()\n    host b = Link()\n    link lan {{ a.device, b.device   {weather} }}\n    \
         at 10 ms  b.app.listen(1)\n    at 20 ms  a.app.open(1)\n    \
         when a.app.opened(1, ?s, ..)  a.app.send(s, \"x\")\n    {}\n    until 1 s\n}}\n",
        lines.join("\n    ")
    )
}

/// The exit code of `mokume sim`, and its output.
pub fn sim(name: &str, text: &str, more: &[&str]) -> (i32, String) {
    let file = scratch(name, text);
    let output = mokume(&[&["sim", &file][..], more].concat());
    (output.status.code().unwrap_or(-1), said(&output))
}

/// The report about an expected event that does not occur.
#[test]
fn what_came_instead_is_said() {
    let cases = [
        ("expect b.app.deliver(_, \"y\")", "came: app.deliver(session 0, \"x\") at 21.0 ms"),
        ("expect b.app.deliver  until 20 ms", "came: app.deliver(session 0, \"x\") at 21.0 ms"),
        ("expect b.app.deliver 2 times", "came: app.deliver(session 0, \"x\") at 21.0 ms"),
        ("expect nothing at b.app.deliver", "came: app.deliver(session 0, \"x\") at 21.0 ms"),
        ("expect b.app.closed", "nothing of this event came"),
        ("expect b.app.closed", "of this port came: app.deliver(session 0, \"x\") at 21.0 ms"),
    ];
    for (index, (wrong, wanted)) in cases.iter().enumerate() {
        let (code, text) = sim(&format!("instead{index}.mok"), &network("delay 1 ms", &[wrong]), &["--seed", "7"]);
        assert!(code == 1 && text.contains(wanted), "{wrong}\n{text}");
    }
}

/// As the check reports it: with code, place and help.
#[test]
fn a_step_that_the_stack_has_not_is_told_with_its_place() {
    let cases = [
        ("expect b.app.delivered(_)", "error[M0729]: the stack has no output `app.delivered`"),
        ("at 30 ms  a.app.send(nobody, \"x\")", "error[M0218]: no output before this has bound `nobody`"),
        ("at 30 ms  a.app.send(nobody, \"x\")", "help: `when a.app.opened(_, ?s, ..)` and `expect` bind one"),
    ];
    for (index, (wrong, wanted)) in cases.iter().enumerate() {
        let (code, text) = sim(&format!("step{index}.mok"), &network("delay 1 ms", &[wrong]), &[]);
        assert!(code == 1 && text.contains(wanted) && text.contains("-->"), "{wrong}\n{text}");
    }
}

/// Each expectation that holds, beside one that does not, and the report about it.
#[test]
fn what_is_expected_is_looked_at() {
    let cases: [(&str, &str, &str); 10] = [
        (
            "expect b.app.accepted(?t, ..)\n    expect b.app.deliver(t, \"x\")",
            "expect b.app.deliver(?t, \"z\")\n    expect b.app.deliver(t, \"x\")",
            "it did not come: nothing has bound `t` (at 1.000 s",
        ),
        ("expect b.app.deliver(_, \"x\")", "expect b.app.deliver(_, \"y\")", "it did not come (at 1.000 s"),
        ("expect b.app.deliver  until 21 ms", "expect b.app.deliver  until 20 ms", "it did not come (at 20.0 ms"),
        ("expect b.app.deliver 1 times", "expect b.app.deliver 2 times until 90 ms", "it came once, not twice (at 90.0 ms"),
        ("expect b.app.deliver 0 times until 20 ms", "expect b.app.deliver 0 times", "it came (at 21.0 ms"),
        ("expect nothing at b.app.deliver(_, \"y\")", "expect nothing at b.app.deliver", "it came (at 21.0 ms"),
        ("expect nothing at b.app.deliver until 20 ms", "expect nothing at b.app.deliver until 21 ms", "it came (at 21.0 ms"),
        ("expect b.app.accepted(?t, ..)\n    expect b.app.deliver(t, _)", "expect b.app.accepted(?t, ..)\n    expect b.app.deliver(t, \"y\")", "it did not come"),
        (
            "at 40 ms  a.app.send(s, \"y\")\n    expect b.app.deliver 2 times",
            "at 5 ms  a.app.send(s, \"y\")",
            "it was not put in: nothing was remembered as `s` (at 5.0 ms",
        ),
        (
            "when b.app.deliver(?t, \"x\")  after 9 ms  b.app.send(t, \"y\")\n    expect a.app.deliver(s, \"y\") 1 times until 31 ms",
            "when b.app.deliver(?t, \"z\")  b.app.send(t, \"y\")\n    expect a.app.deliver(s, \"y\")",
            "it did not come",
        ),
    ];
    for (index, (right, wrong, why)) in cases.iter().enumerate() {
        let (code, text) = sim(&format!("right{index}.mok"), &network("delay 1 ms", &[right]), &["--seed", "7"]);
        assert_eq!(code, 0, "{right}\n{text}");
        let (code, text) = sim(&format!("wrong{index}.mok"), &network("delay 1 ms", &[wrong]), &["--seed", "7"]);
        assert_eq!(code, 1, "{wrong}\n{text}");
        assert!(text.contains(why) && text.contains("--network Two --seed 7 --log"), "{wrong}\n{text}");
    }
}

/// What devices send are outputs, too: they can be expected or forbidden, and cause inputs, whatever becomes of them.
#[test]
fn frames_are_outputs() {
    const PLAIN: &str = "worker Plain { header { n: u8 }\n    on send(msg) { below.send(msg, n: 3) }\n    \
        on deliver(msg, n) { if n == 3 { above.deliver(msg) } else { drop msg: bad } } }\n\
        stack H(device: Device) { app = Plain over device\n    export app }\n";
    let network = |line: &str| {
        format!(
            "{PLAIN}network Two {{\n    host a = H()\n    host b = H()\n    link lan {{ a.device, b.device   delay 1 ms }}\n    \
             frame 1 of a.device  lost\n    at 1 ms  a.app.send_to(\"x\")\n    {line}\n    until 1 s\n}}\n"
        )
    };
    let answered = "when a.device.frame(_)  after 1 ms  b.app.send_to(\"y\")\n    ";
    let cases = [
        (
            "expect a.device.frame(x\"03\" \"x\") 1 times",
            "expect a.device.frame(x\"04\" \"x\")",
            "came: device.frame(x\"0378\") at 1.0 ms",
        ),
        ("expect nothing at b.device.frame", "expect nothing at a.device.frame", "it came (at 1.0 ms"),
        ("expect a.device.frame 1 times", "expect a.device.frame 2 times", "it came once, not twice"),
        (&format!("{answered}expect a.app.deliver_from(\"y\")"), "expect a.app.deliver_from(\"y\")", "it did not come"),
        (
            "expect a.device.frame(x\"03\" \"x\")  until 1 ms\n    expect nothing at b.app.deliver_from",
            "expect b.app.deliver_from",
            "it did not come",
        ),
    ];
    for (index, (right, wrong, why)) in cases.iter().enumerate() {
        let (code, text) = sim(&format!("frames{index}.mok"), &network(right), &["--seed", "7"]);
        assert_eq!(code, 0, "{right}\n{text}");
        let (code, text) = sim(&format!("no_frames{index}.mok"), &network(wrong), &["--seed", "7"]);
        assert!(code == 1 && text.contains(why), "{wrong}\n{text}");
    }
}

#[test]
fn more_than_was_expected_is_said_at_its_time() {
    let lines = ["at 40 ms  a.app.send(s, \"y\")", "expect b.app.deliver 1 times"];
    let (code, text) = sim("more.mok", &network("delay 1 ms", &lines), &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("it came more often than once (at 41.0 ms, seed 1)"), "{text}");
}

#[test]
fn frames_are_lost_late_turned_and_doubled_as_is_said() {
    // The frame's effects come this much later, or not at all.
    let cases = [
        ("frame 1 of a.device  lost", "71 ms"),
        ("frame 1 of a.device to b.device  late 4 ms", "25 ms"),
        ("frame 1 of a.device  lost  twice 7 ms", "28 ms"),
        // It is the copy that is lost.
        ("frame 1 of a.device  twice 7 ms  lost", "21 ms"),
    ];
    for (index, (frame, at)) in cases.iter().enumerate() {
        let expect = format!("expect b.app.deliver 1 times until {at}");
        let (code, text) = sim(&format!("frame{index}.mok"), &network("delay 1 ms", &[frame, &expect]), &[]);
        assert_eq!(code, 0, "{frame}\n{text}");
        let number: u64 = at.trim_end_matches(" ms").parse().unwrap();
        let before = format!("expect b.app.deliver  until {} ms", number - 1);
        let (code, text) = sim(&format!("before{index}.mok"), &network("delay 1 ms", &[frame, &before]), &[]);
        assert_eq!(code, 1, "{frame}\n{text}");
    }
    let turned = network("delay 1 ms", &["frame 1 of a.device  turned 63", "expect b.app.deliver(_, \"y\")"]);
    let (code, text) = sim("turned.mok", &turned, &["--log"]);
    assert_eq!(code, 0, "`x` is 0x78, `y` 0x79:\n{text}");
}

#[test]
fn an_input_that_brings_itself_about_ends_the_run() {
    let lines = ["when b.app.deliver(?t, _)  b.app.send(t, \"y\")", "when a.app.deliver(?t, _)  a.app.send(t, \"x\")"];
    let text = network("", &lines);
    let (code, text) = sim("circle.mok", &text, &[]);
    assert!(code != 0 && text.contains("does not come to rest"), "{text}");
}

#[test]
fn a_timer_of_nanoseconds_ends_the_run() {
    let text = "worker A { entity { timer t } on start { start t after 5 ns } on expiry t { start t after 5 ns } }
        stack S(device: Device) { app = A over device  export app }
        network N { host a = S()  host b = S()  link l { a.device, b.device }  until 10 s }";
    let (code, text) = sim("hurried.mok", text, &[]);
    assert!(code != 0 && text.contains("makes no headway") && text.contains("host `a`"), "{text}");
}

/// Statements of the network about frames that cannot be true.
#[test]
fn what_cannot_happen_to_a_frame_is_said_when_the_network_ends() {
    let cases = [
        ("frame 1 of a.device  turned 63  turned 62", None),
        (
            "frame 1 of a.device  turned 64",
            Some("`frame 1 of a.device turned 64`: the frame has 8 octets, and no bit 64"),
        ),
        (
            "frame 9 of a.device  lost",
            Some("`frame 9 of a.device lost`: there is no such frame: the device sent 1 frame (at 1.000 s"),
        ),
    ];
    for (index, (line, why)) in cases.into_iter().enumerate() {
        let (code, text) = sim(&format!("cannot{index}.mok"), &network("delay 1 ms", &[line]), &[]);
        assert_eq!(code, i32::from(why.is_some()), "{line}\n{text}");
        assert!(why.is_none_or(|why| text.contains(why)), "{line}\n{text}");
    }
    // `x` is 0x78, and both bits are flipped.
    let both =
        network("delay 1 ms", &["frame 1 of a.device  turned 63  turned 62", "expect b.app.deliver(_, x\"7b\")"]);
    let (code, text) = sim("both.mok", &both, &[]);
    assert_eq!(code, 0, "{text}");
}

const ECHOES: &str = "worker Plain {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
    /// What is sent is heard here, too, behind what is sent: at once, by `later`, or never.\n\
    worker Echo(way: u8 = 1) {\n    on send(msg) {\n        if way == 0 { below.send(msg)  return }\n        \
    let copy = msg.share()\n        below.send(msg)\n        \
    later own(copy) or { drop copy: busy }\n    }\n    on own(msg) { above.deliver(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
    vocabulary Views { up view(id: u8) }\n\
    /// A frame of one octet is a view.\n\
    worker Viewed {\n    speaks Views\n    on deliver(msg) {\n        if msg.size == 1 { above.view(msg.u8(0))  consume msg: view } else { above.deliver(msg) }\n    }\n}\n\
    stack S(device: Device, way: u8 = 1) {\n    app = Echo(way) over viewed\n    viewed = Viewed over device\n    export app\n}\n\
    stack T(device: Device) {\n    app = Plain over device\n    export app\n}\n";

/// Three hosts, and one that announces views.
fn casting(lines: &[&str]) -> String {
    format!(
        "{ECHOES}\nnetwork Casting {{\n    host a = S()\n    host b = S()\n    host c = S()\n    host v = T()\n    \
         link lan {{ a.device, b.device, c.device, v.device   delay 1 ms }}\n    {}\n    until 1 s\n}}\n",
        lines.join("\n    ")
    )
}

const CASTS: &str = "casts app.send_to\n    delivers app.deliver_from(_)";
const IN_VIEWS: &str = "casts app.send_to\n    delivers app.deliver_from(_)\n    views app.view_from(?v)";

/// What holds of casts, beside a network in which it does not.
#[test]
fn what_holds_of_casts_is_looked_at() {
    const FIRST: &str = "at 10 ms  a.app.send_to(\"a1\")\n    at 20 ms  a.app.send_to(\"a2\")";

    const VIEWS: &str = "at 1 ms  v.app.send_to(x\"01\")\n    at 50 ms  v.app.send_to(x\"02\")";
    let cases: [(&str, &str, &str, &str); 19] = [
        ("fifo", FIRST, "frame 1 of a.device  late 20 ms", "`a` cast \"a1\" before \"a2\", and `b` delivers it behind that (at 31.0 ms"),
        ("total", FIRST, "at 10 ms  b.app.send_to(\"b1\")", "`a` and `b` deliver \"a1\" and \"b1\" in different orders (at 11.0 ms"),
        // Each two deliver only one message both: they agree, and there is no order of all.
        (
            "total",
            "at 10 ms  v.app.send_to(\"x1\")\n    at 20 ms  v.app.send_to(\"y1\")\n    at 30 ms  v.app.send_to(\"z1\")",
            "frame 3 of v.device to a.device  lost\n    frame 1 of v.device to b.device  lost\n    frame 2 of v.device to c.device  lost\n    frame 1 of v.device to c.device  late 30 ms",
            "no order is that of all: `a` delivers \"x1\" before \"y1\", `b` delivers \"y1\" before \"z1\", `c` delivers \"z1\" before \"x1\" (at 41.0 ms",
        ),
        (
            "causal",
            "at 10 ms  a.app.send_to(\"a1\")\n    when b.app.deliver_from(\"a1\")  b.app.send_to(\"b1\")",
            "frame 1 of a.device to c.device  late 9 ms",
            "`b` had seen \"a1\" when it cast \"b1\", and `c` delivers them the other way round (at 20.0 ms",
        ),
        // `c` has not seen "a1", but what `b` cast when it had.
        (
            "causal",
            "at 10 ms  a.app.send_to(\"a1\")\n    when b.app.deliver_from(\"a1\")  b.app.send_to(\"b1\")\n    when c.app.deliver_from(\"b1\")  c.app.send_to(\"c1\")",
            "frame 1 of a.device to c.device  lost\n    frame 1 of a.device to v.device  late 9 ms\n    frame 1 of b.device to v.device  lost",
            "`c` had seen what followed \"a1\" when it cast \"c1\", and `v` delivers them the other way round (at 20.0 ms",
        ),
        ("own", FIRST, "at 30 ms  d.app.send_to(\"d1\")\n    host d = S(way: 0)", "`d` cast \"d1\" and did not deliver it (at 1.000 s"),
        // A host that crashes need not deliver; one that restarts must.
        ("own", "at 5 ms  a.app.send_to(\"a1\")\n    host d = S(way: 0)\n    at 30 ms  d.app.send_to(\"d1\")\n    crash d at 40 ms\n    restart d at 50 ms", "at 60 ms  d.app.send_to(\"d2\")", "`d` in its life 2 cast \"d2\" and did not deliver it"),
        ("real", FIRST, "frame 2 of a.device  twice 9 ms", "`b` delivers \"a2\": it had delivered it before (at 30.0 ms"),
        ("real", FIRST, "frame 2 of a.device  turned 7", "delivers \"`2\": nobody had cast it (at 21.0 ms"),
        // A host that is down takes no inputs.
        ("real", "at 30 ms  a.app.send_to(\"a1\")\n    crash b at 10 ms\n    at 20 ms  b.app.send_to(\"a1\")", "at 40 ms  b.app.send_to(\"a1\")\n    restart b at 35 ms", "\"a1\" was cast before: messages are told apart by their octets (at 40.0 ms"),
        ("agreed", &format!("{FIRST}\n    {VIEWS}"), "frame 2 of a.device to b.device  late 40 ms", "`a` and `b` went from view 1 to view 2, and `b` has not delivered \"a2\" in between (at 51.0 ms"),
        (
            "agreed",
            &format!("{FIRST}\n    {VIEWS}\n    at 60 ms  a.app.send_to(\"a3\")"),
            "frame 3 of a.device to b.device  lost",
            "`a` and `b` are in view 2 when the network ends, and `b` has not delivered \"a3\" (at 1.000 s",
        ),
        ("together", &format!("{FIRST}\n    {VIEWS}"), "frame 2 of v.device to c.device  lost", "`a` and `c` are not in one view (at 1.000 s"),
        ("together", &format!("{FIRST}\n    {VIEWS}\n    crash c at 40 ms"), "restart c at 60 ms", "`a` and `c` in its life 2 are not in one view"),
        // Members of different views may deliver in different orders; two that never share a view prove nothing.
        (
            "total",
            &format!("{FIRST}\n    {VIEWS}\n    frame 1 of v.device to b.device  lost\n    at 10 ms  b.app.send_to(\"b1\")"),
            "frame 1 of v.device to c.device  lost\n    frame 2 of v.device to c.device  lost\n    frame 2 of v.device to b.device  lost",
            "no two hosts went from one view to the same next",
        ),
        ("total", FIRST, "frame 1 of a.device  lost\n    frame 2 of a.device  lost\n    crash a at 5 ms", "nothing was cast"),
        // What nobody else hears is in any order.
        ("total", FIRST, "frame 1 of a.device  lost\n    frame 2 of a.device  lost", "nobody has delivered what another host cast"),
        ("fifo", FIRST, "frame 1 of a.device  lost\n    frame 2 of a.device  lost", "nobody has delivered what another host cast"),
        ("own", FIRST, "at 30 ms  b.app.send_to(\"b1\")\n    partition b from 30 ms until 40 ms\n    crash b at 30 ms\n    restart b at 31 ms\n    host e = S(way: 0)\n    at 32 ms  e.app.send_to(\"e1\")", "`e` cast \"e1\" and did not deliver it"),
    ];
    for (index, (promise, right, wrong, why)) in cases.iter().enumerate() {
        let says_real = format!("expect casts {promise}");
        let casts = if right.contains(VIEWS) { IN_VIEWS } else { CASTS };
        let right = casting(&[right, casts, &says_real]);
        let (code, text) = sim(&format!("casts_right{index}.mok"), &right, &[]);
        assert_eq!(code, 0, "{promise}\n{text}");
        let wrong = right.replace("    casts app", &format!("    {wrong}\n    casts app"));
        let (code, text) = sim(&format!("casts_wrong{index}.mok"), &wrong, &[]);
        assert_eq!(code, 1, "{promise}\n{wrong}\n{text}");
        assert!(text.contains(why) && text.contains(&format!("`expect casts {promise}`")), "{promise}\n{text}");
    }
}

/// What two hosts cast must not come with one sender, nor what one casts with two.
#[test]
fn a_sender_that_is_not_the_caster_is_found() {
    const RIGHT: &str = "router Says(own: u8) {
    address { who: u8 }
    header { by: u8 }
    on send(msg) to flow { below.send(msg, by: own) to flow() }
    on deliver(msg, by) { above.deliver(msg) from flow(local: own, remote: by) }
}
stack S(device: Device, own: u8) {
    app = Says(own) over device
    export app
}
network N {
    host a = S(1)
    host b = S(2)
    host c = S(3)
    link lan { a.device, b.device, c.device  delay 1 ms }
    at 10 ms  a.app.send_to(0, 0, \"a1\")
    at 20 ms  b.app.send_to(0, 0, \"b1\")
    at 30 ms  a.app.send_to(0, 0, \"a2\")
    casts app.send_to
    delivers app.deliver_from(_, ?from, ..)
    expect casts real, senders
    until 1 s
}
";
    let (code, text) = sim("senders.mok", RIGHT, &[]);
    assert_eq!(code, 0, "{text}");
    let cases = [
        (
            RIGHT.replace("S(2)", "S(1)"),
            "\"a1\" and \"b1\" come from one sender, and `a` cast one, `b` the other (at 21.0 ms",
        ),
        (
            RIGHT.replace("link lan", "frame 2 of a.device  turned 6\n    link lan"),
            "\"a1\" and \"a2\" come from two senders, and `a` cast both (at 31.0 ms",
        ),
    ];
    for (wrong, why) in cases {
        let (code, text) = sim("senders_wrong.mok", &wrong, &[]);
        assert_eq!(code, 1, "{wrong}\n{text}");
        assert!(text.contains(why) && text.contains("`expect casts senders`"), "{text}");
    }
}

/// In the first view three hosts go round, in the second, later, two differ; only the two were told, as rounds were looked for
/// where no two hosts differ.
#[test]
fn the_earliest_of_orders_is_told_whatever_it_is() {
    let late = |frame: u32, delays: [&str; 3]| {
        let lines = ["a", "b", "c"].into_iter().zip(delays).map(|(host, how)| {
            let how = if how == "lost" { how.to_string() } else { format!("late {how} ms") };
            format!("frame {frame} of v.device to {host}.device  {how}")
        });
        lines.collect::<Vec<_>>().join("\n    ")
    };
    let casts = ["x\"01\"", "\"x1\"", "\"y1\"", "\"z1\"", "x\"02\"", "\"pp\"", "\"qq\""];
    let cast = |(at, what)| format!("at {} ms  v.app.send_to({what})", 10 * (at + 1));
    let casts: Vec<String> = casts.into_iter().enumerate().map(cast).collect();
    let lost = [
        late(2, ["90", "lost", "110"]),
        late(3, ["90", "80", "lost"]),
        late(4, ["lost", "90", "60"]),
        late(5, ["100", "100", "100"]),
        late(6, ["100", "110", "lost"]),
        late(7, ["100", "90", "lost"]),
    ];
    let text = casting(&[&casts.join("\n    "), &lost.join("\n    "), IN_VIEWS, "expect casts total"]);
    let (code, said) = sim("casts_earliest.mok", &text, &[]);
    assert_eq!(code, 1, "{said}");
    let round = "no order is that of all: `a` delivers \"x1\" before \"y1\", `b` delivers \"y1\" before \"z1\", `c` delivers \"z1\" before \"x1\" (at 131.0 ms";
    assert!(said.contains(round), "{said}");
    let pair = text.replace("frame 4 of v.device to c.device  late 60 ms", "frame 4 of v.device to c.device  lost");
    let (code, said) = sim("casts_earliest.mok", &pair, &[]);
    assert!(code == 1 && said.contains("`a` and `b` deliver \"pp\" and \"qq\" in different orders"), "{said}");
}

/// The environment of the hosts: a crash, a restart with another parameter, clocks that differ.
#[test]
fn hosts_crash_and_begin_again() {
    let text = "worker Beats(life: u8 = 1) {\n    header { life: u8, beat: u8 }\n    entity { timer next  var beat: u8 = 0 }\n    \
        on start { start next after 100 ms }\n    on expiry next {\n        start next after 100 ms\n        beat += 1\n        \
        below.send(message(), life: life, beat: beat)\n    }\n    on deliver(msg) { above.deliver(msg) }\n    on send(msg) { drop msg: unwanted }\n}\n\
        stack B(device: Device, life: u8 = 1) {\n    app = Beats(life) over device\n    export app\n}\n\
        network Lives {\n    host a = B()\n    host b = B(9)\n    host c = B(7)\n    link lan { a.device, b.device, c.device }\n    \
        crash a at 250 ms\n    restart a(life: 2) at 500 ms\n    clock b  ahead 3 s  gains 100 ms\n    clock c  loses 500 ms\n    \
        expect a.device.frame(x\"01 02\") until 200 ms\n    expect nothing at a.device.frame(x\"01 03\")\n    \
        expect a.device.frame(x\"02 01\") until 600 ms\n    expect nothing at a.device.frame(x\"02 01\") until 599 ms\n    \
        expect a.device.frame 7 times until 1 s\n    expect b.device.frame 11 times until 1 s\n    expect b.device.frame until 91 ms\n    \
        expect nothing at b.device.frame until 90 ms\n    expect c.device.frame 5 times until 1 s\n    until 1 s\n}\n";
    for backend in ["interpreter", "c"] {
        let (code, said) = sim("lives.mok", text, &["--backend", backend]);
        assert_eq!(code, 0, "{backend}\n{said}");
    }
    // Each of these says that it was checked.
    for (from, to) in [
        ("crash a at 250 ms", "crash a at 350 ms"),
        ("(life: 2)", "(life: 3)"),
        ("gains 100 ms", "gains 1 ms"),
        ("loses 500 ms", "loses 300 ms"),
    ] {
        let (code, said) = sim("lives_wrong.mok", &text.replace(from, to), &[]);
        assert_eq!(code, 1, "{to}\n{said}");
    }
}

/// Layers that drop what is old, in a network in which a frame is lost, one comes late, and one is damaged.
const DROPS: &str = "worker Fresh(most: Duration = 10 ms) {
    header { sent: Instant }
    on send(msg) { below.send(msg, sent: now) }
    on deliver(msg, sent) {
        let age = now - sent
        if age > most { drop msg: stale } else { above.deliver(msg) }
    }
}
stack One(device: Device) {
    app = Fresh over device
    export app
}
test \"an old one\" {
    stack One
    after 1 s
    device.frame(x\"00 00 00 00 00 00 00 00\" \"one\")
    => app.deliver_from(\"one\")
}
network Slow {
    host a = One()
    host b = One()
    link line { a.device, b.device   delay 5 ms }
    frame 1 of a.device  lost
    frame 2 of a.device  late 20 ms
    at 1 ms  a.app.send_to(\"one\")
    at 2 ms  a.app.send_to(\"two\")
    at 3 ms  a.app.send_to(\"three\")
    EXPECT
    until 1 s
}
";

/// A network with a wrong expectation passed `mokume test`, and nothing was said of it.
#[test]
fn a_test_run_says_that_networks_are_not_in_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("not_run.mok");
    let run = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let output = mokume(&[&["test", &file.to_string_lossy(), "--backend", "interpreter"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The test of this file fails.
    let text = DROPS.replace("EXPECT", "expect nothing at b.app.deliver_from");
    let note = "1 network is not run here: `mokume sim` checks what it expects\n";
    assert_eq!(run(&text, &[]), (Some(1), note.to_string()));
    assert_eq!(run(&text, &["--filter", "old"]), (Some(1), String::new()));
    let (before, test) = text.split_once("test ").unwrap();
    let network = test.split_once("network ").unwrap().1;
    let (code, said) = run(&format!("{before}network {network}"), &[]);
    assert!(code == Some(2) && said.contains("what its networks expect is checked by `mokume sim`"), "{said}");
}

#[test]
fn what_does_not_come_says_what_was_dropped_on_the_way() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("drops.mok");
    let run = |expect: &str, more: &[&str]| {
        std::fs::write(&file, DROPS.replace("EXPECT", expect)).unwrap();
        let output = mokume(&[&[more[0], &file.to_string_lossy()], &more[1..]].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let missing = "expect b.app.deliver_from(\"two\")";
    for how in [&["sim"][..], &["sim", "--seeds", "2"], &["sim", "--backend", "c"]] {
        let said = run(missing, how);
        for wanted in [
            "    on the way: #1 app sent=1 ms \"one\" from a to b: lost by the weather at 1.0 ms\n",
            "    on the way: #2 app sent=2 ms \"two\" from a: b dropped it: app.stale (",
            "drops.mok:6) at 27.0 ms\n",
        ] {
            assert!(said.contains(wanted), "{how:?}: {wanted}: {said}");
        }
        assert!(!said.contains("nothing was lost"), "{said}");
    }
    // Nothing of it comes: not even something else.
    let said = run("expect a.app.deliver_from", &["sim"]);
    assert!(said.contains("    on the way: #1"), "{said}");
    let said = run("expect b.app.deliver_from(\"two\") until 1 us", &["sim"]);
    assert!(said.contains("    nothing was lost or dropped on the way\n"), "{said}");
    // What is not lost may come later, or have no way at all.
    let said = run("expect b.app.deliver_from(\"three\") until 4 ms", &["sim"]);
    assert!(
        said.contains(
            "    on the way: #3 app sent=3 ms \"three\" from a to b: still under way, it would arrive at 8.0 ms\n"
        ),
        "{said}"
    );
    let apart = DROPS.replace("    link line { a.device, b.device   delay 5 ms }\n    frame 1 of a.device  lost\n    frame 2 of a.device  late 20 ms\n", "");
    std::fs::write(&file, apart.replace("EXPECT", "expect b.app.deliver_from(\"three\")")).unwrap();
    let output = mokume(&["sim", &file.to_string_lossy()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("    no link joins to another host: a, b\n"), "{said}");
    // What came too often, or is met, says nothing of it.
    for expect in ["expect nothing at b.app.deliver_from", "expect b.app.deliver_from(\"three\")"] {
        let said = run(expect, &["sim"]);
        assert!(!said.contains("on the way"), "{said}");
    }
    let said = run(missing, &["sim", "--format", "json"]);
    let failed = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let failed = failed.into_iter().find(|line| line.get("failed").is_some()).unwrap();
    assert_eq!(failed["lost"], 2);
    assert_eq!(failed["on_the_way"][1]["at"], 27_000_000);
    // A test says what was dropped, too.
    let said = run(missing, &["test"]);
    assert_eq!(said.matches("    dropped on the way: app.stale (").count(), 1, "{said}");
    assert!(said.contains("drops.mok:6)\n"), "{said}");
    assert!(said.contains("    all that differs is the same as on the interpreter\n"), "{said}");
}

/// A frame that was expected by its fields and came otherwise is shown by its fields, as a failing test shows it.
#[test]
fn a_frame_that_came_otherwise_is_shown_by_its_fields() {
    let text = "enum Answered: u8 open { Found, Missing }
worker Says {
    header { what: Answered, name: [u8; ..8] }
    on send(msg) { below.send(msg, what: Answered.Missing, name: \"heat\") }
    on deliver(msg) { above.deliver(msg) }
}
bundle Saying = Says encoded W
wire W big {
    what: u8 = Says.what
    size: u8 = Says.name.length
    each c in Says.name { name: u8 = c }
}
stack One(device: Device) { app = Saying over device  export app }
network N {
    host a = One()
    host b = One()
    link l { a.device, b.device  delay 1 ms }
    at 1 ms a.app.send_to(\"x\")
    expect a.device.frame(W { what: Answered.Found, name: \"cold\" } \"x\")
    until 1 s
}
";
    let shown = r#"came: device.frame(W { what: Answered.Missing (not Answered.Found), name: "heat" (not "cold"), .. } "x") at 1.0 ms"#;
    let (code, text) = sim("by_fields.mok", text, &[]);
    assert!(code == 1 && text.contains(shown), "{text}");
}

/// Frames and texts are near by their fields and octets, not as a whole; and what differs is shown, wherever it is.
#[test]
fn the_nearest_frame_has_most_of_its_fields_and_a_long_text_shows_what_differs() {
    let text = "worker N {
    header { kind: u8, id: u16 }
    on send(msg) { below.send(msg, kind: if msg.size == 3 { 2 } else { 1 }, id: 7) }
    on deliver(msg) { above.deliver(msg) }
}
bundle B = N encoded W
wire W big { kind: u8 = N.kind  id: u16 = N.id }
stack S(device: Device) { app = B over device  export app }
network Net {
    host a = S()
    host b = S()
    link lan { a.device, b.device  delay 1 ms }
    at 1 ms a.app.send_to(\"x\")
    at 2 ms a.app.send_to(\"x\")
    at 3 ms a.app.send_to(\"x\")
    at 4 ms a.app.send_to(\"yyy\")
    at 5 ms a.app.send_to(\"a text that goes on for more than a log shows of it\")
    expect a.device.frame(W { kind: 2, id: 8 } \"yyy\")
    expect b.app.deliver_from(\"a text that goes on for more than a log shows of If\")
    until 1 s
}
";
    let (code, text) = sim("nearest.mok", text, &[]);
    assert!(code == 1 && text.contains("came: device.frame(W { kind: 2, id: 7 (not 8) } \"yyy\") at 4.0 ms"), "{text}");
    assert!(text.contains("shows of it\" (octet 49 is 0x69, not 0x49)) at 6.0 ms"), "{text}");
}

/// Of many frames that were lost, those with a message of an application are shown, not the last ones.
#[test]
fn a_lost_message_is_shown_before_lost_hellos() {
    let text = "worker Greets {
    entity { timer hello }
    on start { start hello after 10 ms }
    on expiry hello { below.send(message(\"hi\"))  start hello after 10 ms }
    on send(msg) { below.send(msg) }
    on deliver(msg) { if msg.size == 2 { consume msg: heard } else { above.deliver(msg) } }
}
stack Host(device: Device) {
    app = Greets over device
    export app
}
network Two {
    host a = Host()
    host b = Host()
    link line { a.device, b.device   loss 100 % }
    at 15 ms  a.app.send_to(\"around\\nand\\nback\\n\")
    expect b.app.deliver_from(\"around\\nand\\nback\\n\")
    until 500 ms
}
";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("hellos.mok");
    std::fs::write(&file, text).unwrap();
    let said = String::from_utf8_lossy(&mokume(&["sim", &file.to_string_lossy()]).stdout).into_owned();
    let first = said.lines().find(|line| line.contains("on the way")).unwrap_or(&said);
    assert!(first.contains("from a to b: lost by the weather at 15.0 ms"), "{said}");
    assert!(first.contains("\"around\\nand\\nback\\n\""), "{said}");
}

/// Outputs beyond those of a failing list are shown with what is in them, though they match its pattern.
#[test]
fn outputs_too_many_are_shown_as_they_came() {
    let text = "worker Twice { entity { timer late }
    on send(msg) { below.send(msg.share())  start late after 20 ms  below.send(msg) }
    on expiry late { stop late } }
stack Host(device: Device) { app = Twice over device  export app }
test \"one\" { stack Host  app.send_to(\"ok\\none\\n\")  => device.frame(_) }
test \"three\" { stack Host  app.send_to(\"ok\\none\\n\")  => device.frame(_) device.frame(_) device.frame(_) }
";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("twice.mok");
    std::fs::write(&file, text).unwrap();
    let said = String::from_utf8_lossy(&mokume(&["test", &file.to_string_lossy()]).stdout).into_owned();
    assert!(said.contains("      device.frame(_)\n    + device.frame(\"ok\\none\\n\") at 0\n"), "{said}");
    assert!(said.contains("    it is 0; the next timer is due at 20ms\n"), "{said}");
}

#[test]
fn an_output_without_its_arrow_is_told_to_be_one() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("arrow.mok");
    let text = "worker Plain { }\nstack S(device: Device) { app = Plain over device  export app }\ntest \"t\" { stack S  device.frame(\"a\")\n app.deliver_from(\"a\") }\n";
    std::fs::write(&file, text).unwrap();
    for command in ["check", "test"] {
        let output = mokume(&[command, &file.to_string_lossy()]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.contains("help: it is an output: write `=> app.deliver_from(…)`"), "{command}: {said}");
    }
}

/// A storm was told as hosts that are due again, though none had anything due.
#[test]
fn frames_that_breed_frames_are_told_as_such() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("storm");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("storm.mok");
    let text = "worker Breeds {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) {\n        below.send(msg.share())\n        below.send(msg)\n    }\n}\n\
        stack S(device: Device) {\n    app = Breeds over device\n    export app\n}\n\
        network N {\n    host a = S()\n    host b = S()\n    link l { a.device, b.device }\n    at 1 ms a.app.send_to(\"x\")\n    until 5 ms\n}\n";
    std::fs::write(&file, text).unwrap();
    let (_, err, code) = crate::debug::transcript(&["sim", file.to_str().unwrap()], "");
    let said = "the network does not come to rest at 1000000 ns: frames are answered by frames at this time without end, by `a` and `b`; the last calls: frame #";
    assert!(err.contains(said) && code == 1, "{code} {err}");
}

/// Hosts that only hear were named, as if they answered; frames that multiply over time were told as a storm at one time,
/// with the advice to add the delay that was there.
#[test]
fn who_only_hears_a_storm_is_not_named() {
    let text = "worker Echo {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { below.send(msg) }\n}\n\
        worker Breeds {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) {\n        below.send(msg.share())\n        below.send(msg)\n    }\n}\n\
        worker Deaf {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { drop msg: deaf }\n}\n\
        worker Later {\n    on deliver(msg) { later own(msg) or { drop msg: busy } }\n    on own(msg) { later own(msg) or { drop msg: busy } }\n}\n\
        worker Answers {\n    entity { timer t }\n    on deliver(msg) {\n        drop msg: seen\n        start t after 0 ns\n    }\n    on expiry t { below.send(message(\"x\")) }\n}\n\
        worker Zero {\n    entity { timer t }\n    on send(msg) {\n        drop msg: seen\n        start t after 0 s\n    }\n    on deliver(msg) { drop msg: seen }\n    \
        on expiry t {\n        below.send(message(\"x\"))\n        start t after 0 s\n    }\n}\n\
        worker Reports {\n    entity {\n        timer t\n        var n: u32 = 4294967295\n    }\n    on deliver(msg) {\n        drop msg: seen\n        start t after 0 s\n    }\n    \
        on expiry t {\n        n += 1\n        start t after 0 s\n    }\n}\n\
        stack Z(device: Device) {\n    app = Zero over device\n    export app\n}\n\
        stack R(device: Device) {\n    app = Reports over device\n    export app\n}\n\
        stack E(device: Device) {\n    app = Echo over device\n    export app\n}\n\
        stack B(device: Device) {\n    app = Breeds over device\n    export app\n}\n\
        stack D(device: Device) {\n    app = Deaf over device\n    export app\n}\n\
        stack L(device: Device) {\n    app = Later over device\n    export app\n}\n\
        stack A(device: Device) {\n    app = Answers over device\n    export app\n}\n";
    let network = |name: &str, hosts: &str, link: &str, first: &str| {
        let hosts: Vec<(&str, &str)> = hosts.split(' ').map(|host| host.split_once(':').unwrap()).collect();
        let lines: String = hosts.iter().map(|(host, stack)| format!("    host {host} = {stack}()\n")).collect();
        let devices: Vec<String> = hosts.iter().map(|(host, _)| format!("{host}.device")).collect();
        format!(
            "network {name} {{\n{lines}    link l {{ {} {link} }}\n    at 1 ms {first}.app.send_to(\"x\")\n    until 100 s\n}}\n",
            devices.join(", ")
        )
    };
    let delayless = "without `delay`?";
    let more = "does each frame bring about more than one, by `duplicate`";
    let cases = [
        ("Two", "x:D a:E b:E y:D", "", "a", "without end, by `a` and `b`;", delayless),
        ("Once", "x:D a:E b:B y:D", "", "x", "without end, by `a` and `b`;", delayless),
        ("Due", "x:D a:L", "", "x", "ns: `a` is due again at once, for ever;", delayless),
        ("Nought", "a:Z x:D", "delay 1 s", "a", " 1000000 ns: `a` is due again at once, for ever;", delayless),
        ("Faults", "x:D y:D a:R b:R", "", "x", "ns: `a` and `b` are due again at once, for ever;", delayless),
        ("Both", "x:D a:A b:A", "", "x", "ns: `a` and `b` are called at this time without end", delayless),
        (
            "Slow",
            "x:D a:E b:E",
            "delay 1 ns",
            "a",
            "ns, by frames that `a` and `b` answered frames with",
            more.split_once(',').unwrap().0,
        ),
        (
            "Copies",
            "a:E b:E x:D",
            "delay 1 ms duplicate 100 %",
            "a",
            " arrive at this time, all sent earlier: frames multiply, by the answers of `a` and `b`",
            more,
        ),
        (
            "Doubled",
            "a:B b:E x:D",
            "delay 1 us",
            "a",
            " arrive at this time, all sent earlier: frames multiply, by the answers of `a` and `b`",
            more,
        ),
        (
            "Wide",
            "a:B b:B x:D",
            "delay 10 ms .. 11 s",
            "a",
            " frames are on their way: frames multiply, by the answers of `a` and `b`",
            more,
        ),
    ];
    let networks: String =
        cases.iter().map(|(name, hosts, link, first, ..)| network(name, hosts, link, first)).collect();
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hearers");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("hearers.mok");
    std::fs::write(&file, text.to_owned() + &networks).unwrap();
    for (name, .., said, help) in cases {
        let output = mokume(&["sim", &file.to_string_lossy(), "--network", name]);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(err.contains(said) && err.contains(help) && output.status.code() == Some(1), "{name}: {err}");
    }
}
