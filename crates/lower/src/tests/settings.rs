//! The settings of a stack, in the automaton.

use mokume_base::SourceMap;
use mokume_reaction::Automaton;
use mokume_semantics::analyse_files;
use mokume_semantics::load::Nothing;
use mokume_semantics::program::StackId;

use crate::{lower, Options};

fn automaton(settings: &str) -> Automaton {
    let text = format!(
        "worker Plain {{ }}
         stack Two(a: Device, b: Device) {{ {settings}
             one = Plain over a
             two = Plain over b
             export one
             export two
         }}"
    );
    let mut sources = SourceMap::default();
    let file = sources.add("settings.mok", text);
    let (program, diagnostics) = analyse_files(&mut sources, &[file], &mut Nothing);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    lower(&program, &sources, StackId(0), &Options::default()).0.expect("a stack")
}

/// Ports of one group, by name.
fn groups(automaton: &Automaton) -> Vec<Vec<&str>> {
    let mut groups: Vec<(u32, Vec<&str>)> = Vec::new();
    for port in &automaton.ports {
        match groups.iter_mut().find(|(group, _)| *group == port.group) {
            Some((_, names)) => names.push(&port.name),
            None => groups.push((port.group, vec![&port.name])),
        }
    }
    let mut names: Vec<Vec<&str>> = groups.into_iter().map(|(_, names)| names).collect();
    names.iter_mut().for_each(|names| names.sort());
    names.sort();
    names
}

#[test]
fn ports_that_are_named_together_are_one_group() {
    assert_eq!(groups(&automaton("")), [["a"], ["b"], ["one"], ["two"]]);
    assert_eq!(groups(&automaton("order b, two\n order a, one")), [["a", "one"], ["b", "two"]]);
}

#[test]
fn numbers_arrive_as_they_are_said() {
    let plain = automaton("");
    assert_eq!((plain.tick, plain.outputs), (1, 0));
    let set = automaton("outputs 7\n tick 1 ms");
    assert_eq!((set.tick, set.outputs), (1_000_000, 7));
}
