//! No text makes the front end or the formatter panic: programs with tokens deleted, doubled, swapped or replaced by
//! those of other programs. `scripts/mutate 5000000` is the campaign.

#[path = "common/mutants.rs"]
mod mutants;

use mokume_base::SourceMap;
use mokume_semantics::{analyse, load, Loader};
use mutants::first_victim;

/// The number in `./test`; `MUTANTS=20000` for more, `FIRST=4000` for others.
const MUTANTS: usize = 4_000;

/// Only the mutant itself is loaded, and a small module that most programs use.
struct Alone;

impl Loader for Alone {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let text =
            "type Ipv4Address = u32 written dotted(8)\nrecord Ipv4Cidr written address/prefix { address: Ipv4Address, prefix: u8 }\ntype MacAddress = u48 written colons(8)\nattribute ttl: u8 = 64\nattribute broadcast: bool = false\n\
            service Resolve { ask(next_hop: u32)  out known(next_hop: u32, link: u48)  out unknown(next_hop: u32) }\n\
            multiplexor Types { key symmetric { type: u16 } }\n";
        (name == "internet").then(|| vec![("internet.mok".to_string(), text.to_string())])
    }
    fn file(&mut self, _from: &str, _name: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        vec!["internet".into()]
    }
}

fn front_end(text: &str) {
    let mut sources = SourceMap::default();
    let root = sources.add("mutant.mok", text);
    let loaded = load(&mut sources, &[root], &mut Alone);
    analyse(&loaded);
    let _ = mokume_syntax::format::format(root, text);
}

#[test]
fn no_mutant_makes_it_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, mutants) = (number("FIRST").unwrap_or(0), number("MUTANTS").unwrap_or(MUTANTS));
    if let Some((seed, path, text)) = first_victim(first..first + mutants, front_end) {
        panic!("seed {seed}, from {}:\n{text}", path.display());
    }
    println!("FIGURE: mutated programs: seeds {first} to {}, no panic", first + mutants - 1);
}

#[test]
fn a_front_end_that_panics_is_found() {
    // A planted fault: a repeated word, as in mutants.
    let twice = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(2).any(|pair| pair[0] == pair[1] && pair[0].chars().all(char::is_alphabetic))
    };
    let found = first_victim(0..4_000, |text| assert!(!twice(text), "planted"));
    assert!(found.is_some_and(|(_, _, text)| twice(&text)));
}
