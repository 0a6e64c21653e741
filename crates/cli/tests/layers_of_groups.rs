//! Layers that a group may have or not: each in a network that says what it promises, in C as in the interpreter, and with faults planted
//! in it that the network must find. Which stacks compose, and what of it each keeps, is the table of `docs/groups.md`.
//!
//! `stacks` has the networks, the table, and the time to a new view; `faults` what is planted; `switching` the ways of which a view uses one;
//! `found`, `found_again` and `found_since` what outsiders found; `orders` in which order layers stand;
//! `histories` what stays in random ones; `without_credit` layers that cast more than they may.

mod faults;
mod found;
mod found_again;
mod found_since;
mod histories;
mod orders;
mod stacks;
mod switching;
mod without_credit;

use crate::groups::{healing, network, sim, WEATHER};

/// What is below in each stack here: casts that are reliable, and views.
const BELOW: &str = "Mnak(depth) / Vsync / Current / Intra / Suspect(every) / Bottom(own)";

/// Four hosts of a stack, with what else happens to them and is expected, and which words hold.
fn of(layers: &str, words: &str, lines: &[&str], every: &str) -> String {
    let bundle = format!(
        "bundle Tried(own: Member, depth: u32, every: Duration = {every}) = {layers} / {BELOW} encoded compressed\n"
    );
    let text = network("Net", "Tried", (&["a", "b", "c", "d"], 60), lines, 8000);
    let text = text.replace("use group\n", &format!("use group\n\n{bundle}"));
    text.replace("real, own, fifo, agreed, together", words)
}

const ORDERED: &str = "real, own, fifo, causal, total, agreed, together";

/// Three hosts of a stack on a line that loses nothing, and what happens there.
fn still(layers: &str, depth: u32, lines: &[String], until: u32) -> String {
    let text = of(layers, "", &[], "30 ms");
    let kept =
        |line: &&str| !["at ", "casts", "delivers", "views", "expect"].iter().any(|word| line.trim().starts_with(word));
    let text: Vec<&str> = text.lines().filter(kept).collect();
    let text = text.join("\n").replace("    host d = Chat(own: 4)\n", "").replace(", d.device", "");
    let text = text.replace("own, 128", &format!("own, {depth}"));
    let text = text.replace(&format!("{WEATHER}  calm from {} ms", 8000 - healing(4)), "delay 1 ms");
    text.replace("    until 8000 ms", &format!("    {}\n    until {until} ms", lines.join("\n    "))) + "\n"
}

/// What a network says of all casts.
fn judged(words: &str) -> [String; 4] {
    let patterns =
        ["casts app.send_to(_, 255, _)", "delivers app.deliver_from(_, ?from, ..)", "views app.view(?v, ..)"];
    let [casts, delivers, views] = patterns.map(str::to_string);
    [casts, delivers, views, format!("expect casts {words}, senders")]
}

fn networks() -> Vec<(&'static str, String)> {
    let mut networks = vec![
        ("causal", stacks::causal()),
        ("token", stacks::token()),
        ("frag", stacks::frag()),
        ("leave", stacks::leave()),
        ("primary", stacks::primary()),
        ("pt2pt", stacks::pt2pt()),
        ("transfer", stacks::store()),
        ("secure", stacks::secure()),
        ("flow", stacks::flow()),
        ("switch", switching::switch()),
        ("causal_end", stacks::causal_end()),
        ("token_end", stacks::token_end()),
        ("frag_large", stacks::frag_large()),
    ];
    networks.extend(found::networks());
    networks.extend(found_again::networks());
    networks.extend(found_since::networks());
    networks.extend(without_credit::networks());
    networks
}

#[test]
fn layers_of_groups_keep_what_they_promise() {
    for (layer, text) in networks() {
        let (is_right, said) = sim(&format!("layer_{layer}"), &text, None, &["--seeds", "2"]);
        assert!(is_right, "{layer}: {said}");
    }
}

/// The logs of the interpreter and of C are equal.
fn in_c(layer: &str, text: &str) {
    let log = |backend| sim(&format!("in_c_{layer}"), text, None, &["--seed", "3", "--log", "--backend", backend]);
    let (reference, in_c) = (log("interpreter"), log("c"));
    assert!(reference.0 && in_c.0, "{layer}: {}", in_c.1);
    assert!(reference.1 == in_c.1, "{layer}: the logs differ");
}

#[test]
fn layers_of_groups_in_c_do_the_same() {
    in_c("transfer", &stacks::store());
}

#[test]
#[ignore = "campaign: groups"]
fn all_layers_of_groups_in_c_do_the_same() {
    networks().iter().for_each(|(layer, text)| in_c(layer, text));
}

#[test]
#[ignore = "campaign: groups"]
fn layers_of_groups_keep_what_they_promise_for_long() {
    let seeds = std::env::var("MOKUME_SEEDS").unwrap_or("300".to_string());
    for (layer, text) in networks() {
        let (is_right, said) = sim(&format!("long_{layer}"), &text, None, &["--seeds", &seeds]);
        assert!(is_right, "{layer}: {said}");
    }
}
