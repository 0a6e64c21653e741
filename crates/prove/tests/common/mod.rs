//! Test files, composed as by the compiler.
#![allow(dead_code)]

pub mod concrete;
pub mod watched;

use std::collections::BTreeMap;
use std::path::Path;

use mokume_reaction::Automaton;

pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub fn text_of(name: &str) -> String {
    std::fs::read_to_string(root().join("tests/reaction/right").join(name)).unwrap()
}

/// The automata of the run tests, by file name.
pub fn run_tests() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(root().join("tests/run")).unwrap().map(|entry| entry.unwrap().path());
    let automata = files.filter(|path| path.extension().is_some_and(|end| end == "ra"));
    let named = automata.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), mokume_testkit::split(&text).0.to_string())
    });
    named.collect()
}

/// The layers of a text, composed; `None` if composing refuses them.
pub fn perhaps_composed(text: &str) -> Option<Automaton> {
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), text);
    let faults: Vec<&str> = parsed.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    let layers = Automaton { composition: None, ..parsed.automaton };
    mokume_compose::compose(&layers, mokume_compose::Options::default()).automaton
}

/// The layers of a text, composed.
pub fn composed(text: &str) -> Automaton {
    perhaps_composed(text).expect("composes")
}
