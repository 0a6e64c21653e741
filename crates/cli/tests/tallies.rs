//! `expect dropped`, `expect consumed` and `expect counter` of networks, each beside one that must fail.

use crate::networks;

/// Two hosts; `a` sends two frames at 10 ms and one at 30 ms, of which `b` drops two and consumes one; `b` restarts between.
const HOSTS: &str = "
worker Picky {
    entity { counter sent  counter octets }
    on send(msg) {
        count sent
        let n = msg.size
        count octets n
        below.send(msg)
    }
    on deliver(msg) {
        if msg.size < 2 { drop msg: short } else { consume msg: used }
    }
}
stack Picking(device: Device) {
    app = Picky over device
    export app
}
network Counts {
    host a = Picking()
    host b = Picking()
    link lan { a.device, b.device   delay 1 ms }
    at 10 ms  a.app.send_to(\"x\")
    at 10 ms  a.app.send_to(\"xy\")
    at 30 ms  a.app.send_to(\"y\")
    at 40 ms  b.app.send_to(\"long\")
    crash b at 20 ms
    restart b at 25 ms
    until 1 s
";

/// The network with these lines.
fn with(lines: &str) -> String {
    format!("{HOSTS}    {lines}\n}}\n")
}

/// The exit code of `mokume sim` of the network with these lines, and its output.
fn sim(name: &str, lines: &str, more: &[&str]) -> (i32, String) {
    networks::sim(&format!("tally_{name}.mok"), &with(lines), more)
}

/// What a host that is down refuses is counted; a `when` whose output never came is named, and one whose output came is not.
#[test]
fn each_input_has_a_fate_and_each_when_is_met_or_named() {
    let lines = "at 22 ms  b.app.send_to(\"down\")\n    when b.app.deliver_from(\"never\")  b.app.send_to(\"z\")";
    let (code, said) = sim("fates", lines, &[]);
    assert_eq!(code, 0, "{said}");
    let of_b = said.split("b:\n").nth(1).expect("what b did");
    assert!(of_b.contains("1 refused"), "{said}");
    assert!(said.contains("tally_fates.mok:30: what this `when` waits for never came"), "{said}");
    let (code, met) = networks::sim("met.mok", &networks::network("delay 1 ms", &[]), &[]);
    assert!(code == 0 && !met.contains("never came"), "{met}");
}

const HOLD: [&str; 12] = [
    "expect counter a.sent 3",
    "expect counter a.sent 2  until 10 ms",
    "expect counter a.sent",
    "expect counter sent 4",
    "expect counter app.octets 8",
    "expect counter a.app.octets 3 .. 5",
    "expect dropped b.short 2",
    "expect dropped b.short 1  until 25 ms",
    "expect dropped short 2",
    "expect dropped a.short 0",
    "expect consumed b.app.used",
    "expect dropped b.app.short 0  until 10 ms",
];

#[test]
fn totals_that_hold_are_met_by_both_back_ends() {
    for more in [&[][..], &["--against", "c"]] {
        let (code, text) = sim("hold", &HOLD.join("\n    "), more);
        assert_eq!(code, 0, "{text}");
    }
}

#[test]
fn a_total_that_does_not_hold_is_said() {
    let cases = [
        ("expect counter a.sent 2", "it was 3 (at 1.000 s"),
        ("expect counter a.sent 3  until 29 ms", "it was 2 (at 29.0 ms"),
        ("expect counter sent 5", "it was 4: a 3, b 1"),
        ("expect dropped b.short 3", "it was 2; at b: nothing else was dropped"),
        ("expect dropped b.short 3 .. 9", "it was 2"),
        ("expect dropped a.short", "it was 0; at a: nothing else was dropped"),
        ("expect consumed b.used 0", "it was 1"),
        ("expect dropped b.short 1  until 10 ms", "it was 0"),
    ];
    for (index, (wrong, wanted)) in cases.iter().enumerate() {
        for more in [&[][..], &["--backend", "c"]] {
            let (code, text) = sim(&format!("wrong{index}"), wrong, more);
            assert!(code == 1 && text.contains(&format!("`{wrong}`").replace("  until", " until")), "{wrong}\n{text}");
            assert!(text.contains(wanted), "{wrong}\n{text}");
        }
    }
}

/// The search for the smallest weather keeps the failure of a total.
#[test]
fn a_seed_with_a_wrong_total_is_shrunk() {
    let lines = "link far { a.device, b.device }\n";
    let (code, text) = sim("twice_linked", lines, &[]);
    assert_eq!(code, 1, "{text}");
    let lossy = with("expect dropped b.short 2").replace("delay 1 ms", "delay 1 ms   loss 30 %");
    let (code, text) = networks::sim("tally_seeds.mok", &lossy, &["--seeds", "50"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("frame 1 of a.device to b.device  lost") || text.contains("lost"), "{text}");
    assert!(text.contains("expect dropped b.short 2"), "{text}");
}

#[test]
fn names_that_no_host_counts_are_refused() {
    let cases = [
        ("expect counter a.sends 1", "did you mean `sent`?"),
        ("expect dropped b.shrt 1", "nothing in this stack has the reason `shrt`"),
        ("expect dropped c.short 1", "`c` is no host: there is `a`, `b`"),
        ("expect dropped b.used 1", "messages are consumed for `used`"),
        ("expect dropped b.short 5 .. 1", "from more to less"),
        ("expect dropped b.short 1  until 2 s", "M0"),
        ("expect reported overflow 1", "a network expects no reports"),
        ("counter a.sent 1", "write `expect counter a.sent 1`"),
    ];
    for (index, (wrong, wanted)) in cases.iter().enumerate() {
        let (code, text) = sim(&format!("refused{index}"), wrong, &[]);
        assert!(code != 0 && text.contains(wanted), "{wrong}\n{text}");
    }
}
