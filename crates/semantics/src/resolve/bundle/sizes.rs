//! Sizes of bundles: a bundle that contains itself would be infinite, and a bundle has a limited number of layers.

use crate::program::*;
use crate::resolve::context::Context;
use crate::{codes, graph, limits};

/// Reports and empties each bundle, from a number on, that contains itself, has too many layers, or nests bundles too
/// deeply.
pub fn check(cx: &mut Context, from: usize) {
    let inner = |bundle: &Bundle| {
        let bundles = bundle.parts.iter().filter_map(|part| match part.of {
            Definition::Bundle(id) => Some(id.index()),
            Definition::Layer(_) => None,
        });
        bundles.collect()
    };
    let next: Vec<Vec<usize>> = cx.program.bundles.iter().map(inner).collect();
    let order = graph::order(&next);
    for index in &order.circles {
        let name = cx.program.bundles[*index].name.clone();
        let text = format!("bundle `{}` holds itself", name.text);
        cx.error(codes::CIRCLE, text, name.span, "would be endless", "take it out of one of them");
        cx.program.bundles[*index].parts.retain(|part| matches!(part.of, Definition::Layer(_)));
    }
    let mut sizes = vec![Size::default(); next.len()];
    for index in order.nodes {
        let size = size(&cx.program.bundles[index], &sizes);
        sizes[index] = size;
        let large = size.layers > limits::LAYERS || size.depth > limits::BUNDLE_DEPTH;
        if large && !size.said && index >= from {
            too_large(cx, index, size);
        }
        // A bundle that contains one that is too large is emptied as well, as even many levels of two empty bundles
        // each are too much.
        if large || size.said {
            cx.program.bundles[index].parts.clear();
            sizes[index] = Size { said: true, ..Size::default() };
        }
    }
}

/// The size of a bundle.
#[derive(Clone, Copy, Default)]
struct Size {
    layers: u64,
    depth: u32,
    /// Whether it, or one within it, was already reported as too large.
    said: bool,
}

fn size(bundle: &Bundle, known: &[Size]) -> Size {
    let of = |part: &Use| match part.of {
        Definition::Layer(_) => Size { layers: 1, ..Size::default() },
        Definition::Bundle(id) => known[id.index()],
    };
    let sizes: Vec<Size> = bundle.parts.iter().map(of).collect();
    let layers = sizes.iter().fold(0u64, |all, size| all.saturating_add(size.layers));
    let depth = sizes.iter().map(|size| size.depth).max().unwrap_or(0) + 1;
    Size { layers, depth, said: sizes.iter().any(|size| size.said) }
}

fn too_large(cx: &mut Context, index: usize, size: Size) {
    let name = cx.program.bundles[index].name.clone();
    let shown = if name.text == "_" { "what stands here".to_string() } else { format!("bundle `{}`", name.text) };
    let (text, help) = match size.layers > limits::LAYERS {
        true => (
            format!("{shown} has {} layers, and {} is the most", size.layers, limits::LAYERS),
            "a bundle that holds another twice has twice its layers: leave some of them out",
        ),
        false => (
            format!("{shown} is of bundles within bundles, more than {} deep", limits::BUNDLE_DEPTH),
            "name the layers in fewer bundles",
        ),
    };
    cx.error(codes::TOO_MANY_LAYERS, text, name.span, "too large", help);
}
