//! Terminators carry the statement that they come from, equal in each rendering of it.

use std::collections::BTreeMap;

use mokume_base::SourceMap;
use mokume_semantics::analyse_files;
use mokume_semantics::load::Nothing;
use mokume_semantics::program::StackId;

use crate::{lower, Options};

/// How often each mark occurs in the stack, by its line and its number there.
fn marks(body: &str) -> BTreeMap<(u32, u32), usize> {
    let text = format!(
        "worker Looking {{
             entity {{ var seen: u32 = 0 }}
             fn odd(number: u32) -> bool {{
                 return seen > 1 and (100 / number > 2 or 100 % number == 7)
             }}
             on start {{
                 {body}
             }}
         }}
         stack One(a: Device) {{ one = Looking over a  export one }}"
    );
    let mut sources = SourceMap::default();
    let file = sources.add("marks.mok", text);
    let (program, diagnostics) = analyse_files(&mut sources, &[file], &mut Nothing);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let automaton = lower(&program, &sources, StackId(0), &Options::default()).0.expect("a stack");
    let mut found = BTreeMap::new();
    // What a port does by itself has no place in the source.
    let written = automaton.handlers.iter().filter(|handler| handler.source.is_some());
    for block in written.flat_map(|handler| &handler.body.blocks) {
        assert_eq!(block.mark.is_some(), block.terminator.targets().len() > 1, "{}", block.label);
        if let Some(mark) = block.mark {
            let line = automaton.sources[mark.source.index()].line;
            *found.entry((line, mark.nth)).or_insert(0) += 1;
        }
    }
    found
}

#[test]
fn copies_of_a_function_have_the_same_marks() {
    let once = marks("if odd(1) { seen += 1 }");
    let twice = marks("if odd(1) { seen += 1 } if odd(2) { seen += 2 }");
    let of_function = |marks: &BTreeMap<(u32, u32), usize>| -> Vec<((u32, u32), usize)> {
        marks.iter().filter(|((line, _), _)| *line == 4).map(|(mark, times)| (*mark, *times)).collect()
    };
    let (once, twice) = (of_function(&once), of_function(&twice));
    assert!(once.len() > 1 && once.iter().all(|(_, times)| *times == 1), "{once:?}");
    assert_eq!(once.iter().map(|(mark, _)| (*mark, 2)).collect::<Vec<_>>(), twice);
}

#[test]
fn what_follows_a_call_in_a_statement_goes_on_being_numbered_there() {
    let marks = marks("if odd(1) and odd(2) { seen += 1 }");
    let here: Vec<u32> = marks.keys().filter(|(line, _)| *line == 7).map(|(_, nth)| *nth).collect();
    assert!(here.len() > 1 && here.iter().copied().eq(0..here.len() as u32), "{marks:?}");
    assert!(marks.iter().filter(|((line, _), _)| *line == 7).all(|(_, times)| *times == 1), "{marks:?}");
}
