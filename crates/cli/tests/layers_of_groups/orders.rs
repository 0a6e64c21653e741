//! In which order layers stand: what they `need`, `give` and `break`. Two neighbours that change places are refused, or keep what they
//! kept; and the page's table of promises is that of the library.

use std::collections::BTreeMap;
use std::path::Path;

use super::{of, BELOW, ORDERED};
use crate::groups::{planted, sim, FOUR};

const STACKS: [&str; 5] = [
    "Members / Sync / Own / Causal(depth) / Stable / Mnak(depth)",
    "Members / Sync / Frag(8) / ByToken(depth) / Stable / Mnak(depth)",
    "Members / Sync / Flow / TotalOrder(depth) / Stable / Mnak(depth)",
    "Members / Sync / Primary(4) / TotalOrder(depth) / Stable / Leave / Pt2pt / Mnak(depth)",
    "Members / Sync / TotalOrder(depth) / Stable / Mnak(depth)",
];

/// Neighbours that may change places: the upper one of the row, the lower one.
const MAY: [(&str, &str); 4] =
    [("Causal(depth)", "Stable"), ("Sync", "Flow"), ("Flow", "TotalOrder(depth)"), ("Leave", "Pt2pt")];

/// Each stack with two neighbours changed: the two, and the text.
fn changed() -> Vec<((String, String), String)> {
    let mut all = Vec::new();
    for (at, upper) in STACKS.iter().enumerate() {
        let key = if at == 4 { " / Secure(KEY, own)" } else { "" };
        let stack = format!("{upper} / Vsync / Current / Intra / Suspect(every){key} / Bottom(own)");
        let layers: Vec<&str> = stack.split(" / ").collect();
        for first in 0..layers.len() - 1 {
            let mut turned = layers.clone();
            turned.swap(first, first + 1);
            let words = if at == 0 { "real, own, fifo, causal, agreed, together" } else { ORDERED };
            let text = of("", words, &FOUR, "30 ms").replace(&format!(" / {BELOW}"), &turned.join(" / "));
            let key = "use group\nuse thin\nconst KEY: Key256 = Key256 { first: 1, second: 2, third: 3, fourth: 4 }\n";
            let text = if at == 4 { text.replacen("use group\n", key, 1) } else { text };
            all.push(((layers[first].to_string(), layers[first + 1].to_string()), text));
        }
    }
    all
}

fn is_allowed(pair: &(String, String)) -> bool {
    MAY.iter().any(|(upper, lower)| *upper == pair.0 && *lower == pair.1)
}

/// Those that may not are refused by a code for it, not by chance.
#[test]
fn layers_in_another_order_are_refused() {
    let mut seen = Vec::new();
    for (pair, text) in changed() {
        let folder = planted("orders", &text, None);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(["check", "group.mok"])
            .current_dir(folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if is_allowed(&pair) {
            assert!(output.status.success(), "{pair:?}: {said}");
            seen.push(pair);
            continue;
        }
        let codes = ["error[M0552]", "error[M0559]", "error[M0715]", "error[M0727]"];
        assert!(codes.iter().any(|code| said.contains(code)), "{pair:?} may change places: {said}");
    }
    assert_eq!(seen.len(), MAY.len(), "{seen:?}");
}

/// Those that may keep what the stack kept.
#[test]
#[ignore = "campaign: groups"]
fn layers_in_another_order_keep_what_they_promise() {
    let seeds = std::env::var("MOKUME_SEEDS").unwrap_or("30".to_string());
    for (pair, text) in changed().into_iter().filter(|(pair, _)| is_allowed(pair)) {
        let (is_right, said) = sim("another_order", &text, None, &["--seeds", &seeds]);
        assert!(is_right, "{pair:?}: {said}");
    }
}

/// For each promise of the library: who gives, breaks and needs it.
fn promises() -> Vec<(String, [Vec<String>; 3])> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/group");
    let mut found: BTreeMap<String, [Vec<String>; 3]> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(&library).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let mut layer = "";
        for line in text.lines() {
            let words: Vec<&str> =
                line.split(|by: char| !by.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            if ["group", "worker", "router", "multiplexor"].iter().any(|shape| line.starts_with(&format!("{shape} "))) {
                layer = words[1];
            }
            let is_claim = words.first().is_some_and(|word| ["needs", "gives", "breaks"].contains(word));
            if layer.is_empty() || !line.starts_with("    ") || !is_claim {
                continue;
            }
            let mut kind = 0;
            for word in words {
                match ["gives", "breaks", "needs"].iter().position(|known| *known == word) {
                    Some(at) => kind = at,
                    None => found.entry(word.to_string()).or_default()[kind].push(format!("`{layer}`")),
                }
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn promises_on_the_page_are_those_of_the_library() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/groups.md")).unwrap();
    let (_, table) = page.split_once("| promise | given by | broken by | needed by |\n|---|---|---|---|\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let known = promises();
    assert_eq!(rows.len(), known.len());
    for (promise, mut layers) in known {
        layers.iter_mut().for_each(|names| names.sort());
        let row =
            rows.iter().find(|row| row.starts_with(&format!("| `{promise}`: "))).unwrap_or_else(|| panic!("{promise}"));
        let cells: Vec<String> = row.trim_matches('|').split('|').skip(1).map(|cell| cell.trim().to_string()).collect();
        assert_eq!(cells, layers.map(|names| names.join(", ")), "{promise}");
    }
}
