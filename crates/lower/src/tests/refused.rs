//! Faults that only a stack shows: each code of this crate that the front end cannot find first, from a text.

use mokume_base::SourceMap;
use mokume_semantics::analyse_files;
use mokume_semantics::load::Nothing;
use mokume_semantics::program::StackId;

use crate::{lower_whole, test_script, Lowered, Options};

use super::files::shown;

/// The codes from lowering the last stack of a text, then its tests.
fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::default();
    let file = sources.add("refused.mok", text);
    let (program, diagnostics) = analyse_files(&mut sources, &[file], &mut Nothing);
    assert_eq!(shown(&sources, &diagnostics), Vec::<String>::new(), "{text}");
    let stack = StackId(program.stacks.len() as u32 - 1);
    let (lowered, mut found) = lower_whole(&program, &sources, stack, &Options::default());
    if let Some(Lowered { automaton, protocols, .. }) = lowered {
        let script = |test| test_script(&program, (&automaton, &protocols), &sources, test).1;
        found.extend(program.tests.iter().flat_map(script));
    }
    found.iter().map(|diagnostic| diagnostic.code.0).collect()
}

#[test]
fn a_layer_with_nothing_above_it() {
    let text = "
        worker Plain { }
        stack Bare(device: Device) { plain = Plain over device }";
    assert_eq!(codes(text), ["M0723"]);
    assert_eq!(codes(&text.replace("over device }", "over device  export plain }")), Vec::<&str>::new());
}

#[test]
fn more_paths_than_an_octet_numbers() {
    let layer = |name: &str| {
        let arms = (0..5).map(|at| format!("{name}{at} {{ a: u8 commonly 1 }} with message")).collect::<Vec<_>>();
        let send = format!("on send(msg) {{ below.send(msg, {name}0 {{ a: 1 }}) }}");
        format!("worker {name} {{ header {{ {} }} {send} }}\n", arms.join(" | "))
    };
    let text = format!(
        "{}{}{}{}bundle All = A / B / C encoded compressed
        stack Wide(device: Device) {{ app = All over device  export app }}",
        layer("A"),
        layer("B"),
        layer("C"),
        ""
    );
    // 125 combinations, each with and without its common values.
    assert_eq!(codes(&text), Vec::<&str>::new());
    let wider =
        text.replace("A / B / C", "A / B / C / D") + &layer("D").replace("| D2 { a: u8 commonly 1 } with message", "");
    assert_eq!(codes(&wider), ["M0671"]);
}

/// A device's capacity, an expression that may wrap around, and absurd values.
#[test]
fn a_limit_that_the_stack_does_not_know() {
    let text = "
        worker Cuts {
            on send(msg) {
                for i in 0 .. msg.size limit LIMIT { below.send(msg.share()) }
                below.send(msg)
            }
        }
        stack Cut(device: Device) { app = Cuts over device  export app  MTU }";
    let with = |limit: &str, mtu: &str| codes(&text.replace("LIMIT", limit).replace("MTU", mtu));
    for limit in ["below.mtu", "msg.size", "100 / below.mtu", "below.mtu - 8"] {
        assert_eq!(with(limit, ""), ["M0673"], "{limit}");
        assert_eq!(with(limit, "mtu 9 .. 20"), Vec::<&str>::new(), "{limit}");
    }
    for limit in
        ["below.mtu - 10", "100 / (below.mtu - 9)", "below.mtu * 0xffff_ffff", "below.mtu * 100000", "below.mtu / 90"]
    {
        assert_eq!(with(limit, "mtu 9 .. 20"), ["M0673"], "{limit}");
    }
}

#[test]
fn a_placed_field_of_no_fixed_octet() {
    let text = "
        worker Upper { header { a: u8 }  on send(msg) { below.send(msg, a: 1) } }
        worker Sum {
            header { sum: u16 }
            on send(msg) { below.send(msg, sum: fold16(msg.sum16())) }
            on deliver(msg, sum) { if sum == fold16(msg.sum16()) { above.deliver(msg) } else { drop msg: bad } }
        }
        bundle Both = Upper / Sum encoded Odd
        wire Odd big { a: u8 = Upper.a   sum: u16 = Sum.sum   pad: u8 = 0 }
        stack Summed(device: Device) { both = Both over device  export both }";
    assert_eq!(codes(text), ["M0727", "M0727"]);
    let even = text.replace(
        "a: u8 = Upper.a   sum: u16 = Sum.sum   pad: u8 = 0",
        "a: u8 = Upper.a   pad: u8 = 0   sum: u16 = Sum.sum",
    );
    assert_eq!(codes(&even), Vec::<&str>::new());
}

/// In a bundle with a wire octets count from the packet's first, so that a loop from 0 on reads the layer's own field.
#[test]
fn a_loop_over_octets_that_has_the_own_field_in_it() {
    let text = "
        worker Sums {
            header { sum: u32 }
            on send(msg) {
                let all: u32 = 0
                for i in FROM limit 1500 { all = all +% msg.u8(i) as u32 }
                below.send(msg, sum: all)
            }
            on deliver(msg, sum) { above.deliver(msg) }
        }
        bundle Wired = Sums encoded Plain
        wire Plain { sum: u32 = Sums.sum }
        stack Alone(device: Device) { app = Sums over device  export app }
        stack Both(device: Device) { app = Wired over device  export app }";
    let from = |from: &str| codes(&text.replace("FROM", from));
    assert_eq!(from("0 .. msg.size"), ["M0727"]);
    assert_eq!(from("3 .. msg.size"), ["M0727"]);
    assert_eq!(from("4 .. msg.size + 4"), Vec::<&str>::new());
    let alone = text.split_once("stack Both").map_or("", |parts| parts.0);
    assert_eq!(codes(&alone.replace("FROM", "0 .. msg.size")), Vec::<&str>::new());
}

#[test]
fn a_test_of_what_the_stack_does_not_have() {
    let text = |step: &str| {
        format!(
            "worker Plain {{ }}
             stack Bare(device: Device) {{ plain = Plain over device  export plain }}
             test \"t\" {{
                 stack Bare(device)
                 {step}
             }}"
        )
    };
    assert_eq!(codes(&text("plain.send_to(\"x\")  => device.frame(\"x\")")), Vec::<&str>::new());
    assert_eq!(codes(&text("plain.send_to(1, \"x\")")), ["M0729"]);
    assert_eq!(codes(&text("plain.send_to(\"x\")  => device.frame(\"x\")  dropped never 1")), ["M0729"]);
    assert_eq!(codes(&text("plain.send_to(\"x\")  => device.frame(\"x\")  reported never 1")), ["M0729"]);
}

#[test]
fn an_event_that_climbs_to_a_multiplexor_of_flow_traffic() {
    let text = "worker W { on send(msg) { above.unheard()  below.send(msg) } }
             multiplexor P { key { port: u8 } }
             worker H { on unheard() from below { } }
             stack S(device: Device) { w = W over device  p = P over w  app = H over p  export app }";
    assert_eq!(codes(text), ["M0726"]);
}

/// Only values that a layer below asks for can be given.
#[test]
fn a_value_that_nobody_below_asks_for() {
    let text = "multiplexor Ports { key { port: u16 } }
        worker Patient {
            header { tries: u8 }
            session { const tries: u8 = 3 from open }
            on send(msg) { below.send(msg, tries: tries) }
        }
        worker Other {
            session { var wait: u8 = 3 }
            on deliver(msg) { wait += 1  above.deliver(msg) }
        }
        endpoint Asks {
            session { var said: bool = false }
            on start { below.open(remote.port: 7, tries: 5) }
            on deliver(msg) { said = true  below.send(msg) }
        }
        stack Alone(device: Device) { asks = Asks / Patient over ports  ports = Ports over device }";
    assert_eq!(codes(text), Vec::<&str>::new());
    assert_eq!(codes(&text.replace("Asks / Patient", "Asks / Other")), ["M0780"]);
}

/// Two layers that ask for one name agree about its type.
#[test]
fn a_value_of_two_types() {
    let text = "worker Patient {
            header { tries: u8 }
            session { const tries: u8 = 3 from listen }
            on send(msg) { below.send(msg, tries: tries) }
        }
        worker Other {
            header { tries: u16 }
            session { const tries: u16 = 3 from listen }
            on send(msg) { below.send(msg, tries: tries) }
        }
        stack Both(device: Device) { app = Other / Patient over device  export app }";
    assert_eq!(codes(text), ["M0780"]);
    let one = text.replace("u16", "u8");
    assert_eq!(codes(&one), Vec::<&str>::new());
    // A port has the name once, with one default.
    assert_eq!(codes(&one.replacen("= 3", "= 4", 1)), ["M0780"]);
    assert_eq!(codes(&text.replace("u16", "u8")), Vec::<&str>::new());
}

/// A test can only check counters that exist.
#[test]
fn a_counter_that_there_is_not() {
    let text = "worker Counts {
            entity { counter hits }
            on send(msg) { count hits  below.send(msg) }
        }
        stack Counting(device: Device) { app = Counts over device  export app }
        test \"counted\" { stack Counting  app.send_to(\"a\")  => device.frame(\"a\")  counter hits 1  counter app.hits 1 }";
    assert_eq!(codes(text), Vec::<&str>::new());
    assert_eq!(codes(&text.replace("counter hits 1", "counter hit 1")), ["M0729"]);
    assert_eq!(codes(&text.replace("app.hits", "other.hits")), ["M0729"]);
}

#[test]
fn a_message_of_its_own_where_headers_are_octets() {
    let text = "
        worker Low { header { n: u8 }  on send(msg) { let k = msg.u8(1)  below.send(msg, n: k) }  on start { MADE  below.send(own, n: 8) } }
        worker Top { header { m: u8 }  on send(msg) { below.send(msg, m: 9) } }
        bundle B = Top / Low encoded F
        wire F { n: u8 = Low.n  m: u8 = Top.m }
        stack S(device: Device) { a = B over device  export a }";
    assert_eq!(codes(&text.replace("MADE", "let own = message(\"own\")")), ["M0768"]);
    assert_eq!(codes(&text.replace("MADE", "let own = message()")), ["M0768"]);
    let put_together = "let own = message(x\"0000\")  own.join(message(\"own\"))";
    assert_eq!(codes(&text.replace("MADE", put_together)), Vec::<&str>::new());
    // A layer alone in its wire has no other headers in front.
    let alone = text.replace("MADE", "let own = message(\"own\")").replace("a = B over", "a = Low over");
    assert_eq!(codes(&alone), Vec::<&str>::new());
}

#[test]
fn what_leaves_of_headers_that_nobody_says() {
    let text = "
        enum Kind: u8 { Ask = 1, Tell }
        worker W { header { FIRST | Data { seq: u8 } with message }  on deliver(msg, Data) { above.deliver(msg) }
            on start { below.send(Probe { k: Kind.Ask }) below.send(message(), Data { seq: 1 }) }
            on deliver(Probe) { } SEND }
        stack S(device: Device) { w = W over device  export w }";
    let text = text.replace("FIRST", "Probe { k: Kind }");
    assert_eq!(codes(&text.replace("SEND", "")), ["M0770"]);
    assert_eq!(codes(&text.replace("SEND", "on send(msg) { pass }")), ["M0770"]);
    assert_eq!(codes(&text.replace("SEND", "on send(msg) { below.send(msg, Data { seq: 2 }) }")), Vec::<&str>::new());
}

#[test]
fn an_event_that_is_for_no_session() {
    let text = "
        multiplexor P { key { k: u8 } }
        worker Low { session { }  entity { timer t }  on start { start t after 5 ms }  on expiry t { SAYS }  on send(msg) { below.send(msg) } }
        worker High { entity { counter g }  on known(n: u8) { count g n }  on grant_sends(messages, octets) { count g  pass } }
        stack S(device: Device) { p = P over device  w = High / Low over p  export w }";
    assert_eq!(codes(&text.replace("SAYS", "above.known(3)")), ["M0725"]);
    assert_eq!(codes(&text.replace("SAYS", "above.grant_sends(1, 0)")), ["M0725"]);
}

#[test]
fn a_grant_has_no_flow() {
    let text = "
        worker Low { entity { timer t }  limit send: 4  on start { start t after 5 ms }  on expiry t { above.grant_sends(1, 0) }  on send(msg) { below.send(msg) } }
        router R { address { who: u8 }  on send(msg) to flow { below.send(msg) to flow() }  on deliver(msg) { above.deliver(msg) from flow(remote: 1) } }
        worker High { entity { var who: Flow = flow() }  on send(msg) to flow { who = flow  below.send(msg) to flow }  on grant_sends(messages, octets) { SAYS } }
        stack S(device: Device) { w = High / R / Low over device  export w }";
    assert_eq!(codes(&text.replace("SAYS", "pass")), Vec::<&str>::new());
    assert_eq!(codes(&text.replace("SAYS", "below.send(message(\"now\")) to who")), Vec::<&str>::new());
    assert_eq!(codes(&text.replace("SAYS", "below.send(message(\"now\"))")), ["M0727"]);
}

/// It left for port 0 of host 0.
#[test]
fn an_endpoint_tells_nobody_by_an_event() {
    let text = "
        multiplexor Ports { key { port: u16 } }
        vocabulary V { down tell(x: u8)  up asked(x: u8) }
        worker Speaks {
            speaks V
            header { x: u8 }
            on tell(x) { below.send(message(), x: x) }
            on deliver(msg, x) { above.asked(x)  above.deliver(msg) }
            on send(msg) { drop msg: not_expected }
        }
        endpoint Server {
            speaks V
            on start { below.bind(local.port: 7) }
            on asked(x) { ASKED }
            on deliver(msg) { CAME  consume msg: came }
        }
        stack S(device: Device) { server = Server / Speaks over ports  ports = Ports over device }";
    let with = |asked: &str, came: &str| codes(&text.replace("ASKED", asked).replace("CAME", came));
    assert_eq!(with("pass", "below.tell(3)"), Vec::<&str>::new());
    assert_eq!(with("below.tell(x)", ""), ["M0727"]);
}

/// Editors give no new name to a reason for which the compiler drops, so they must know all of them.
#[test]
fn all_reasons_that_the_compiler_drops_for_are_known() {
    use mokume_semantics::signature::{COMPILER_REASONS, STANDARD_REASONS};
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = std::collections::BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.extend((!entry.ends_with("tests")).then_some(entry));
                continue;
            }
            let text = std::fs::read_to_string(&entry).unwrap();
            for begin in [".drop(", ".drop_all(", ".reason(", ".told_reason("] {
                let called = text.split(begin).skip(1).filter_map(|rest| rest.split_once(')'));
                // The last text among the arguments; behind the layer's name in `format!("{name}.short")`.
                let named = called.filter_map(|(args, _)| args.rsplit('"').nth(1).filter(|_| args.contains('"')));
                let plain = named.map(|name| name.strip_prefix("{name}.").unwrap_or(name));
                let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                found.extend(plain.filter(is_name).map(str::to_string));
            }
        }
    }
    let known = |name: &String| COMPILER_REASONS.contains(&name.as_str()) || STANDARD_REASONS.contains(&name.as_str());
    let unknown: Vec<&String> = found.iter().filter(|name| !known(name)).collect();
    assert!(found.len() > 10 && unknown.is_empty(), "{unknown:?} of {found:?}");
}
