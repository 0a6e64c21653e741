//! What each pass makes of a stack: its lenses and paths, beside the stack. `BLESS=1` writes them anew.

mod common;

use common::{composed, root, STACKS};
use mokume_optimize::{fuse_with, Passes};
use mokume_reaction::Automaton;

const LEVELS: [(&str, Passes); 4] = [
    ("plain", Passes::NONE),
    ("counters", Passes { counters: true, ..Passes::NONE }),
    ("budget", Passes { counters: true, budget: true, ..Passes::NONE }),
    ("all", Passes::ALL),
];

/// The part of the text that the passes write.
fn fused_part(automaton: &Automaton) -> String {
    let text = mokume_reaction::text::print(automaton);
    text.find("\nlens ").map_or(String::new(), |at| text[at + 1..].to_string())
}

#[test]
fn passes_make_what_the_files_show() {
    for (name, file) in STACKS {
        let stack = composed(file);
        let mut shown = String::new();
        let mut before = String::new();
        for (level, passes) in LEVELS {
            let fused = fuse_with(&stack, passes);
            let faults = mokume_reaction::verify::verify(&fused);
            assert!(faults.is_empty(), "{name}, {level}: {faults:?}");
            let part = fused_part(&fused);
            let text = if part == before { "; as before\n".to_string() } else { part.clone() };
            shown.push_str(&format!("; -- {level}\n\n{text}\n"));
            before = part;
        }
        let path = root().join("tests/fuse").join(format!("{name}.fused"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &shown).expect("written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(shown, expected, "{}: BLESS=1 writes it anew", path.display());
    }
}

/// Nothing that a pass does depends on the order in which it is asked, and a second run finds nothing new to say.
#[test]
fn fusing_is_deterministic() {
    for (name, file) in STACKS {
        let stack = composed(file);
        assert_eq!(mokume_optimize::fuse(&stack), mokume_optimize::fuse(&stack), "{name}");
    }
}
