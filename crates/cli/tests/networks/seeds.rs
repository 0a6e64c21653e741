//! `--seeds`: which seeds fail, and the smallest weather in which one still does.

use super::{mokume, network, said, scratch, sim};

/// What chance did to a frame and what the source says of it are one line, which the check accepts and which fails alike.
#[test]
fn what_chance_and_the_source_say_of_a_frame_is_one_line() {
    let worker = "worker W {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
        stack One(device: Device) {\n    app = W over device\n    export app\n}\n";
    let late = "expect b.app.deliver_from(\"x\") until 5 ms";
    let cases = [
        ("reorder 50 %", "", "frame 1 of a.device  late 3 ms", late),
        ("reorder 50 %", "", "frame 1 of a.device to b.device  late 3 ms  turned 6", late),
        ("reorder 50 %", ", c.device", "frame 1 of a.device to b.device  late 3 ms", late),
        ("reorder 50 %", ", c.device", "frame 1 of a.device  late 3 ms", late),
        ("duplicate 50 %", "", "frame 1 of a.device  twice 3 ms", "expect b.app.deliver_from 2 times"),
        (
            "duplicate 50 %",
            "",
            "frame 1 of a.device  late 1 ms  turned 1  twice 3 ms  turned 1",
            "expect b.app.deliver_from 2 times",
        ),
        ("corrupt 50 %", "", "frame 1 of a.device  turned 3", "expect nothing at b.app.deliver_from(\"x\")"),
        ("loss 50 %", "", "frame 1 of a.device  lost  twice 1 ms", "expect b.app.deliver_from"),
    ];
    for (at, (weather, third, line, wanted)) in cases.into_iter().enumerate() {
        let host = if third.is_empty() { "" } else { "    host c = One()\n" };
        let text = format!(
            "{worker}network N {{\n    host a = One()\n    host b = One()\n{host}    link l {{ a.device, b.device{third}   {weather}  delay 1 ms }}\n\
             \u{20}   {line}\n    at 1 ms  a.app.send_to(\"x\")\n    {wanted}\n    until 30 ms\n}}\n"
        );
        let (_, all) = sim(&format!("joined{at}.mok"), &text, &["--seeds", "300", "--format", "json"]);
        let lines: Vec<serde_json::Value> = all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if weather.starts_with("loss") {
            // Of a lost frame there is nothing more to lose: the copy comes in any weather.
            assert!(lines.iter().all(|line| !line["shrunk"].is_string()), "{all}");
            continue;
        }
        let shrunk = lines.iter().find(|line| line["shrunk"].is_string()).unwrap_or_else(|| panic!("{line}: {all}"));
        let (written, seed) = (shrunk["shrunk"].as_str().unwrap(), shrunk["seed"].to_string());
        let file = scratch(&format!("joined{at}.mok"), &format!("{text}\n{written}"));
        let checked = mokume(&["check", &file]);
        assert!(checked.status.success(), "{written}\n{}", said(&checked));
        let name = written.split_whitespace().nth(1).unwrap();
        let failed = |text: &str| {
            let line = text.lines().find(|line| line.starts_with("FAILED")).unwrap_or_default().to_string();
            // Without the place, which is another one in the printed network.
            line.split_once(": ").map_or("", |(_, rest)| rest).split(", seed ").next().unwrap_or_default().to_string()
        };
        let (code, again) =
            sim(&format!("joined{at}.mok"), &format!("{text}\n{written}"), &["--network", name, "--seed", &seed]);
        let (_, first) = sim(&format!("first{at}.mok"), &text, &["--seed", &seed]);
        assert!(code == 1 && !failed(&again).is_empty(), "{written}\n{again}");
        assert_eq!(failed(&again), failed(&first), "{written}");
    }
}

/// Ten seeds or a thousand: the failing ones are named, and each fails by itself.
#[test]
fn a_failing_seed_is_named_replays_and_shrinks() {
    let text =
        network("loss 30 %  duplicate 5 %  reorder 10 %  delay 1 ms .. 9 ms", &["expect b.app.deliver  until 150 ms"]);
    let (code, all) = sim("seeds.mok", &text, &["--seeds", "300", "--format", "json"]);
    assert_eq!(code, 1, "{all}");
    let lines: Vec<serde_json::Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed = lines.iter().find_map(|line| line["failed_seeds"].as_array()).unwrap();
    assert!(failed.len() > 2 && failed.len() < 100, "{failed:?}");
    for seed in failed.iter().take(3) {
        let (code, again) = sim("seeds.mok", &text, &["--seed", &seed.to_string()]);
        assert!(code == 1 && again.contains("it did not come"), "seed {seed}:\n{again}");
    }
    let (code, one) = sim("seeds.mok", &text, &["--seeds", "300", "--jobs", "1", "--format", "json"]);
    assert_eq!((code, &one), (1, &all), "the number of jobs changes nothing");
    // At least three transmissions by 150 ms must be lost.
    let shrunk = lines.iter().find(|line| line["shrunk"].is_string()).unwrap();
    assert_eq!((&shrunk["mishaps"], &shrunk["smallest"]), (&3.into(), &true.into()), "{shrunk}");
    let written = shrunk["shrunk"].as_str().unwrap();
    assert_eq!(written.matches("lost").count(), 3, "{written}");
    let name = written.split_whitespace().nth(1).unwrap();
    let replay = ["--network", name, "--seed", &shrunk["seed"].to_string()];
    let (code, again) = sim("shrunk.mok", &format!("{text}\n{written}"), &replay);
    assert!(code == 1 && again.contains("it did not come (at 150.0 ms"), "{again}");
    // The planted fault: with one loss less it does not fail.
    let less = format!("{text}\n{}", written.replacen("lost", "late 0 ns", 1));
    let (_, again) = sim("less.mok", &less, &replay);
    assert!(!again.contains("it did not come"), "{again}");
}

/// C that several threads ran at once crashed the process; it now agrees with the interpreter.
#[test]
fn seeds_fail_alike_in_c() {
    if !crate::command::has_c_compiler() {
        return println!("SKIPPED: no C compiler");
    }
    let text = network("loss 30 %  delay 1 ms .. 9 ms", &["expect b.app.deliver  until 150 ms"]);
    let seeds = |backend: &str| {
        let (code, all) =
            sim(&format!("{backend}.mok"), &text, &["--seeds", "60", "--jobs", "8", "--backend", backend]);
        let failed =
            all.split_once(" failed: ").map(|(_, list)| list.split(" (").next().unwrap_or_default().to_string());
        (code, failed)
    };
    let (code, failed) = seeds("c");
    assert_eq!((code, failed.is_some()), (1, true));
    assert_eq!((code, failed), seeds("interpreter"));
}

#[test]
fn seeds_that_hold_end_with_0() {
    let text = network("loss 5 %  delay 1 ms .. 9 ms", &["expect b.app.accepted 1 times"]);
    let (code, text) = sim("hold.mok", &text, &["--seeds", "5", "--seed", "100"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("5 seeds from 100 on, 5 passed, 0 failed"), "{text}");
}

/// In calm weather "x" comes at 21 ms: with less weather than the seed's, the network fails differently, and earlier.
#[test]
fn what_is_shrunk_fails_first_as_its_seed_does() {
    let lines = ["expect b.app.deliver 2 times until 150 ms", "expect nothing at b.app.deliver  until 22 ms"];
    let text = network("loss 30 %  delay 1 ms .. 9 ms", &lines);
    let first = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("FAILED")).unwrap_or_default();
        line.split_once('`')
            .map_or(String::new(), |(_, rest)| rest.split(" (at").next().unwrap_or_default().to_string())
    };
    let mut late = 0;
    for seed in 1..12 {
        let seed = seed.to_string();
        let (_, alone) = sim("first.mok", &text, &["--seed", &seed]);
        let (_, all) = sim("first.mok", &text, &["--seed", &seed, "--seeds", "1", "--format", "json"]);
        let lines: Vec<serde_json::Value> = all.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let Some(written) = lines.iter().find_map(|line| line["shrunk"].as_str()) else { continue };
        let name = written.split_whitespace().nth(1).unwrap();
        let replay = ["--network", name, "--seed", &seed];
        let (_, again) = sim("first_shrunk.mok", &format!("{text}\n{written}"), &replay);
        assert_eq!(first(&again), first(&alone), "seed {seed}:\n{alone}\n{again}");
        late += usize::from(first(&alone).contains("2 times"));
    }
    assert!(late > 2, "{late} seeds fail by what calm weather hides");
}
