//! Messages longer than any buffer mean the same on both back ends: messages that are too long are dropped, and all
//! others are taken.

use mokume_base::world::RealWorld;
use mokume_driver::{compile, test};

const STACK: &str = "worker W {
    on send(msg) {
        if below.mtu == 0 { drop msg: nowhere } else { below.send(msg) }
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    w = W over device
    export w
}
";

#[test]
fn long_inputs_are_the_same_in_c() {
    let mut text = STACK.to_string();
    for octets in [65_535, 65_536, 66_048, 69_000, 200_000] {
        let long = "a".repeat(octets);
        let sent = if octets <= 65_535 {
            format!("=> device.frame(\"{long}\")")
        } else {
            "=> nothing\n dropped too_big 1".to_string()
        };
        text += &format!(
            "test \"sent {octets}\" {{ stack S(device.mtu: 300000)\n w.send_to(\"{long}\")\n {sent} }}\n\
             test \"no line for {octets}\" {{ stack S\n w.send_to(\"{long}\")\n => nothing\n dropped too_big 1 }}\n\
             test \"came {octets}\" {{ stack S\n device.frame(\"{long}\")\n => w.deliver_from(\"{long}\") }}\n"
        );
    }
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("long_inputs.mok");
    std::fs::write(&file, text).unwrap();
    let checked = compile::check(&RealWorld, &[file.to_string_lossy().into_owned()]).unwrap();
    let results = test::run(&checked, None, "", &RealWorld);
    let wrong = results.outcomes.iter().filter(|outcome| !outcome.differences.is_empty());
    let shown = |outcome: &test::Outcome| format!("{} on {:?}", outcome.test, outcome.backend);
    assert_eq!(wrong.map(shown).collect::<Vec<_>>(), Vec::<String>::new());
    assert!(results.outcomes.len() == 30 || !results.not_run.is_empty(), "{}", results.outcomes.len());
}
