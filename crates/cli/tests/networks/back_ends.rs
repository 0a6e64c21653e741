//! `--against`: the interpreter and C side by side.

use super::{scratch, sim};

/// A function in C that says where it runs: 0 beside the interpreter, 1 in the stack's own C.
const WHERE_C: &str =
    "#include <stddef.h>\n#include \"mk_native.h\"\n\nextern const uint32_t mk_stack_count __attribute__((weak));\n\
    uint32_t here(void);\nuint32_t here(void)\n{\n    return &mk_stack_count != NULL;\n}\n";

/// A network whose hosts do otherwise in C than on the interpreter, if they ask where they run, from the second message on.
fn elsewhere(asks: bool) -> String {
    let value = if asks { "here()" } else { "0" };
    format!(
        "extern fn here() -> u32 from \"against.c\" {{ return 0 }}\n\
         worker Tags {{\n    header {{ number: u32 }}\n    entity {{ var sent: u32 = 0 }}\n    on send(msg) {{\n        \
         let number = if sent > 0 {{ {value} }} else {{ 0 }}\n        sent += 1\n        below.send(msg, number: number)\n    }}\n    \
         on deliver(msg) {{ above.deliver(msg) }}\n}}\n\
         stack S(device: Device) {{\n    app = Tags over device\n    export app\n}}\n\
         network Tagged {{\n    host a = S()\n    host b = S()\n    link lan {{ a.device, b.device   loss 20 %  delay 1 ms .. 3 ms }}\n    \
         at 10 ms  a.app.send_to(\"x\")\n    at 20 ms  a.app.send_to(\"y\")\n    until 1 s\n}}\n"
    )
}

/// What C does otherwise than the interpreter is shown: for one seed and for many, and with the smallest weather.
#[test]
fn back_ends_are_compared() {
    if !crate::command::has_c_compiler() {
        return println!("SKIPPED: no C compiler");
    }
    scratch("against.c", WHERE_C);
    let against = ["--against", "c"];
    let (code, text) = sim("alike.mok", &elsewhere(false), &against);
    assert!(code == 0 && text.contains("interpreter and C do the same: "), "{text}");
    let (code, text) = sim("alike.mok", &elsewhere(false), &[&against[..], &["--format", "json"]].concat());
    assert!(code == 0 && text.contains("{\"differ\":false,\"events\":[]}"), "{text}");
    let (code, text) = sim("alike.mok", &elsewhere(false), &[&against[..], &["--seeds", "4"]].concat());
    assert!(code == 0 && text.contains("    4 of them also in C: 0 differ"), "{text}");
    // The planted fault.
    let (code, text) = sim("elsewhere.mok", &elsewhere(true), &against);
    for wanted in [
        "FAILED C does otherwise than the interpreter, about: app number=0 \"y\", then app number=1 \"y\"; octets[0..]: 0x0000000079, then 0x0100000079 (at 20.0 ms, seed 1)",
        "came: a  sends #2",
        ", by the interpreter at 20.0 ms",
        ", in C at 20.0 ms",
        "--network Tagged --seed 1 --against c --log",
    ] {
        assert!(code == 1 && text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("do the same"), "{text}");
    let more = ["--seeds", "4", "--every", "2", "--backend", "c", "--against", "interpreter"];
    let (code, text) = sim("elsewhere.mok", &elsewhere(true), &more);
    for wanted in [
        "4 seeds from 1 on, 2 passed, 2 failed: 1, 3 (",
        "    2 of them also on the interpreter: 2 differ",
        "the shortest failing run: seed 1, which fails at 20.0 ms",
        "seed 1 needs 0 of ",
        "--network TaggedSeed1 --seed 1 --backend c --against interpreter --log",
    ] {
        assert!(code == 1 && text.contains(wanted), "{wanted}\n{text}");
    }
    let (_, text) = sim("elsewhere.mok", &elsewhere(true), &[&more[..], &["--format", "json"]].concat());
    let lines: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let failed: Vec<_> = lines.iter().filter(|line| line["failed"] == "").map(|line| &line["seed"]).collect();
    assert_eq!(failed, [1, 3], "{text}");
    let (code, text) = sim("elsewhere.mok", &elsewhere(true), &[&against[..], &["--backend", "c"]].concat());
    assert!(code == 2 && text.contains("C would be compared with itself"), "{code} {text}");
}

/// Only the interpreter records the calls in which layers do something that is not seen outside; they were taken for a difference.
#[test]
fn back_ends_are_compared_with_their_steps() {
    if !crate::command::has_c_compiler() {
        return println!("SKIPPED: no C compiler");
    }
    scratch("against.c", WHERE_C);
    let quiet = |text: &str| {
        let quiet = "worker Quiet {\n    entity {\n        timer tick\n        counter ticks\n    }\n    on start { start tick after 5 ms }\n\
            \u{20}   on expiry tick {\n        count ticks\n        start tick after 5 ms\n    }\n    on send(msg) { below.send(msg) }\n\
            \u{20}   on deliver(msg) { above.deliver(msg) }\n}\n";
        let text = text.replace("Tags over device", "Quiet / Tags over device");
        assert!(text.contains("Quiet /"), "{text}");
        format!("{text}{quiet}")
    };
    let page = scratch("steps.html", "");
    let record = scratch("steps.jsonl", "");
    let counted = |text: &str, before: &str| {
        let rest = text.split(before).nth(1).unwrap_or_default();
        rest.split_whitespace().next().unwrap_or_default().to_string()
    };
    for more in [&["--html", &page][..], &["--record", &record, "--steps"], &["--record", &record], &[]] {
        for backends in [&["--against", "c"][..], &["--backend", "c", "--against", "interpreter"]] {
            let arguments = [backends, more].concat();
            let (code, text) = sim("quiet.mok", &quiet(&elsewhere(false)), &arguments);
            assert!(code == 0 && text.contains("interpreter and C do the same: "), "{arguments:?}: {text}");
            // The record says as many events.
            let count = counted(&text, "do the same: ");
            assert!(
                !more.contains(&"--record") || text.contains(&format!("{count} events in ")),
                "{arguments:?}: {text}"
            );
        }
        // The planted fault is found with them, too.
        let (code, text) = sim("loud.mok", &quiet(&elsewhere(true)), &[&["--against", "c"][..], more].concat());
        assert!(
            code == 1 && text.contains("FAILED C does otherwise than the interpreter, about: "),
            "{more:?}: {text}"
        );
    }
    // Steps were recorded that have no other effect.
    sim("quiet.mok", &quiet(&elsewhere(false)), &["--record", &record, "--steps"]);
    let steps = std::fs::read_to_string(&record).unwrap().matches("\"wakes\"").count();
    assert!(steps > 100, "{steps}");
}
