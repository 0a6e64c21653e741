//! Pictures from the program alone agree with those of stacks: each field of each wire is at the same bit.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_document::pictures;
use mokume_draw::{header_pictures, HeaderPart, HeaderPicture};
use mokume_driver::compile;
use mokume_semantics::program::StackId;

/// Name and width of each cell, part by part.
fn cells(picture: &HeaderPicture) -> Vec<(u32, Vec<(&str, u32)>)> {
    picture.parts.iter().map(|part| (part.start, of_part(part))).collect()
}

/// The set of cells, without their numbers.
fn kinds(picture: &HeaderPicture) -> BTreeSet<(&str, u32)> {
    picture.parts.iter().flat_map(of_part).collect()
}

fn of_part(part: &HeaderPart) -> Vec<(&str, u32)> {
    part.cells.iter().map(|cell| (cell.name.as_str(), cell.bits)).collect()
}

#[test]
fn wires_are_drawn_as_those_of_stacks_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compared = 0;
    for file in ["examples/host.mok", "examples/host6.mok", "examples/meter.mok", "library/dissect/dissect.mok"] {
        let name = root.join(file).to_string_lossy().into_owned();
        let checked = compile::check(&RealWorld, &[name]).unwrap();
        for stack in 0..checked.program.stacks.len() {
            let Some(compiled) = compile::compile_to_write(&checked, StackId(stack as u32)).0 else { continue };
            for of_stack in header_pictures(&compiled.uncomposed) {
                let Some(wire) = checked.program.wires.iter().find(|wire| wire.name.text == of_stack.wire) else {
                    continue;
                };
                let own = pictures::wire(wire);
                // Stacks draw lists within options element by element.
                match own.parts.iter().any(|part| part.title.starts_with("each of")) {
                    true => assert_eq!(kinds(&own), kinds(&of_stack), "{file}: {}", of_stack.wire),
                    false => assert_eq!(cells(&own), cells(&of_stack), "{file}: {}", of_stack.wire),
                }
                assert_eq!(own.order, of_stack.order);
                compared += 1;
            }
        }
    }
    assert!(compared >= 15, "{compared}");
}
