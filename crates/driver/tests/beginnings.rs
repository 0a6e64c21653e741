//! All orders in which a layer's handlers may begin and end a session: none leaves half of a session behind in the
//! layer below (docs/decisions/0067-last-words.md). Runs on the interpreter; some orders are in
//! `tests/program/beginnings.mok`, on both back ends.

use std::fmt::Write;
use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::machines::Backend;
use mokume_driver::{compile, test};
use mokume_script::{Failure, FailureKind};

/// Each ends the current session, or half of it.
const ENDS: [&str; 4] = ["fail: bad", "below.close()", "below.abort()", "above.closed()"];

/// Each layer has room for one session, so that a leftover is in the way. There are layers that open late, or never,
/// that only do what their shape does, that know their point, that settle, that end late; and an application that sees
/// a lack of room.
const FRAME: &str = "multiplexor Ports { key { port: u8 } session capacity 1 { var n: u8 = 0 } }
worker Never { session capacity 1 { var n: u8 = 0 } on opened { n += 1 } }
worker Late { session capacity 1 { timer t } on opened { start t after 1 s } on expiry t { above.opened() } }
worker Plain { session capacity 1 { var n: u8 = 0 } }
worker Pointed { session capacity 1 { var n: u8 = 0 } point { var here: u8 = 0 } on accepted { here += 1 } }
worker Settles { session capacity 1 { var n: u8 = 0 } on settle limit 2 { n +%= 1 } }
worker Lingers {
    session capacity 1 { timer t }
    on close { start t after 1 s }
    on abort { start t after 1 s }
    on expiry t {
        above.closed()
        below.close()
    }
}
worker Watch {
    entity { counter full }
    session { var n: u8 = 0 }
    on failed(reason) {
        if reason == no_room { count full }
        pass
    }
}
";

/// A handler's head, and the statements that begin a session in it, or report one; the same for functions.
struct Handler {
    event: &'static str,
    begins: &'static [&'static str],
    lower: &'static [&'static str],
}

/// What may be below a layer whose sessions the other end begins.
const ACCEPTING: [&str; 8] = [
    "",
    " / Plain",
    " / Late",
    " / Pointed",
    " / Settles",
    " / Lingers",
    " / Plain / Plain / Plain",
    " / Lingers / Plain / Settles",
];

const HANDLERS: [Handler; 4] = [
    Handler { event: "open", begins: &["pass"], lower: &["", " / Never", " / Late"] },
    Handler { event: "opened", begins: &["pass", "above.opened()"], lower: &["", " / Never", " / Late"] },
    Handler { event: "accepted", begins: &["pass", "above.accepted()"], lower: &ACCEPTING },
    Handler { event: "deliver", begins: &["above.accepted()", "above.deliver(msg.share())"], lower: &ACCEPTING },
];

/// What a handler does: begins something or nothing, ends it or not, and does one more of either.
fn orders(handler: &Handler) -> Vec<Vec<&'static str>> {
    let with_none = |all: &[&'static str]| [&[""], all].concat();
    let mut orders = Vec::new();
    for first in with_none(handler.begins) {
        for end in with_none(&ENDS) {
            for last in with_none(&[&ENDS, handler.begins].concat()) {
                // Two beginnings of a kind are refused.
                let begun = !first.is_empty() && handler.begins.contains(&last);
                let order: Vec<&str> = [first, end, last].into_iter().filter(|said| !said.is_empty()).collect();
                if !begun && last != end && !order.is_empty() && !orders.contains(&order) {
                    orders.push(order);
                }
            }
        }
    }
    orders
}

/// A layer with this order, and its test: four sessions one after the other, with different ends; whatever is left ends
/// after a while.
fn case(text: &mut String, number: usize, handler: &Handler, lower: &str, order: &[&str], in_function: bool) {
    let said = order.join("\n        ");
    let (said, function) = match in_function {
        true => (said.replace("fail: bad", "bad()"), "    fn bad() { fail: bad }\n"),
        false => (said, ""),
    };
    let start = "start over after 5 s";
    // A layer that closes before it has opened anything below hears from nobody that it is closed.
    let room = if handler.event == "open" { "" } else { " capacity 1" };
    let handlers = match handler.event {
        "opened" => format!("on open {{\n        {start}\n        pass\n    }}\n    on opened {{ {said} }}"),
        "deliver" => {
            format!("on accepted {{ {start} }}\n    on deliver(msg) {{\n        {said}\n        drop msg: done\n    }}")
        }
        event => format!("on {event} {{\n        {start}\n        {said}\n    }}"),
    };
    let steps = match handler.event {
        "open" | "opened" => {
            (0..4).fold(String::new(), |steps, n| steps + &format!("    app.open({n}, 5, {})\n    after 20 s\n", n + 1))
        }
        _ => (0..4).fold("    app.listen(1, 5)\n".to_owned(), |steps, n| {
            steps
                + &format!("    device.frame(x\"0{} 05\" \"a\")\n    after 20 s\n    dropped ports.no_room 0\n    dropped ports.refused 0\n", n + 1)
        }),
    };
    write!(
        text,
        "worker W{number} {{
    session{room} {{ timer over }}
    {handlers}
    on expiry over {{ below.abort() }}
{function}}}
stack S{number}(device: Device) {{
    app   = Watch / W{number}{lower} over ports
    ports = Ports over device
    export app
}}
test \"{number}: {}: {}{lower}{}\" {{
    stack S{number}
{steps}    counter full 0
}}
",
        handler.event,
        order.join(", "),
        if in_function { ", in a function" } else { "" },
    )
    .unwrap();
}

#[test]
fn no_order_of_beginnings_and_ends_leaves_half_a_session() {
    let (mut text, mut number) = (FRAME.to_owned(), 0);
    for handler in &HANDLERS {
        for order in orders(handler) {
            for lower in handler.lower {
                for in_function in [false, true] {
                    if !in_function || order.contains(&"fail: bad") {
                        number += 1;
                        case(&mut text, number, handler, lower, &order, in_function);
                    }
                }
            }
        }
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beginnings.mok");
    std::fs::write(&file, text).unwrap();
    let checked = compile::check(&RealWorld, &[file.to_string_lossy().into_owned()]).map_err(|e| e.message).unwrap();
    let results = test::run(&checked, Some(Backend::Interpreter), "", &RealWorld);
    // What the application hears differs between orders, and is not compared here.
    let left = |failure: &&Failure| !matches!(failure.kind, FailureKind::Outputs { .. });
    let failures = results.outcomes.iter().flat_map(|outcome| &outcome.differences).filter(left);
    let failed: Vec<String> = failures.map(|failure| format!("{}: {:?}", failure.test, failure.kind)).collect();
    assert!(failed.is_empty(), "{} of {number}:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(results.outcomes.len(), number);
    assert!(number > 1000, "only {number} orders");
}
