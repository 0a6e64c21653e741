//! Warnings: a layer that puts a header in front of messages and publishes no `mtu`, between one that reads `below.mtu`
//! and the one whose value it reads: what is as large as the reader believes does not go through.
//!
//! Keeps: layers of one bundle and module know each other: the one that publishes there counts the headers of all. A
//! module's layer counts none of a layer that its user puts into a bundle.

use mokume_base::Diagnostic;

use crate::check::column;
use crate::check::descents::Descent;
use crate::check::live;
use crate::check::stacks::context::StackCheck;
use crate::codes;
use crate::program::*;
use crate::visit::Met;

/// A layer of a descent, its place in the stack, and the group of layers that know each other.
struct Standing<'a> {
    placed: column::Placed<'a>,
    group: (usize, usize, Option<usize>),
}

/// Looks at what each layer of a descent's first instance reads.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let column: Vec<Standing> = descent.instances().iter().flat_map(|index| standing(check, *index)).collect();
    for (at, reader) in column.iter().enumerate().take(check.layers[descent.index()].len()) {
        let Some(read) = mtu_read(check.program, &reader.placed) else { continue };
        let publishes = |layer: &Layer| layer.publishes.iter().any(|publish| publish.name.text == "mtu");
        let below = &column[at + 1..];
        let publisher = below.iter().position(|other| publishes(other.placed.layer)).unwrap_or(below.len());
        let known = [Some(reader.group), below.get(publisher).map(|other| other.group)];
        let between = below[..publisher].iter().filter(|other| !known.contains(&Some(other.group)));
        let Some(silent) = between.map(|other| other.placed.layer).find(|layer| has_header(layer)) else { continue };
        let (name, reads) = (&silent.name, &reader.placed.layer.name.text);
        let text = format!("`{}` has a header and publishes no `mtu`, which `{reads}` above it reads", name.text);
        let found = Diagnostic::warning(codes::UNTOLD_HEADER, text)
            .at(name.span, "adds octets to each message")
            .label(read, "the value of the layer further down")
            .help("say how large a message may be: `publish mtu: u32 = below.mtu - 2` for a header of 2 octets");
        check.out.push(found);
    }
}

/// The layers of an instance. Those of a bundle with a wire know each other, and those of one module in a bundle with a
/// name.
fn standing<'a>(check: &StackCheck<'a, '_>, index: usize) -> Vec<Standing<'a>> {
    let of = &check.stack.instances[index].of;
    let layers = column::placed(check.program, of, of.span);
    let group_of = |at: usize, layer: &Layer| match of.of {
        Definition::Layer(_) => (0, None),
        Definition::Bundle(id) => {
            let bundle = &check.program.bundles[id.index()];
            let is_line = bundle.name.text == "_" && bundle.wire.is_none();
            let module = check.program.modules.get(&layer.name.span.file).filter(|_| bundle.wire.is_none());
            let mut ends = bundle.parts.iter().scan(0, |end, part| {
                *end += check.program.layers_of(part).len();
                Some(*end)
            });
            (if is_line { ends.position(|end| at < end).unwrap_or(0) } else { 0 }, module.copied())
        }
    };
    let layers = layers.into_iter().enumerate();
    let standing = layers.map(|(at, placed)| {
        let (part, module) = group_of(at, placed.layer);
        Standing { group: (index, part, module), placed }
    });
    standing.collect()
}

/// Where a layer reads `below.mtu`.
fn mtu_read(program: &Program, placed: &column::Placed) -> Option<mokume_base::Span> {
    let mut read = None;
    live::walk_layer(program, placed.layer, &placed.args, &mut |met| match met {
        Met::Expr(Expr { kind: ExprKind::Below { name, .. }, .. }) if name.text == "mtu" => {
            read = read.or(Some(name.span));
        }
        _ => {}
    });
    read
}

fn has_header(layer: &Layer) -> bool {
    let variants = layer.header.as_ref().map_or(&[][..], |header| &header.variants);
    variants.len() > 1 || variants.iter().any(|variant| !variant.fields.is_empty())
}
