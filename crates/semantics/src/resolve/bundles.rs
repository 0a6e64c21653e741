//! Bundles: layers put one on another, and the wire that carries them.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use super::body::{Body, Place};
use super::{items, Context, Item};
use crate::program::*;
use crate::{codes, tree};

/// All bundles: first the parameters of each, so that bundles may name one another in any order.
pub(super) fn bundles(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.bundles {
        let params = items::params(cx, *file, &item.params());
        let name = items::title(*file, item.name());
        cx.program.bundles.push(Bundle { name, params, parts: Vec::new(), wire: None });
    }
    for (index, (file, item)) in trees.bundles.iter().enumerate() {
        let params = cx.program.bundles[index].params.clone();
        let parts = item.layers().iter().filter_map(|part| part_of(cx, *file, part, &params, &[])).collect();
        cx.program.bundles[index].parts = parts;
        cx.program.bundles[index].wire = tree::some_name(*file, item.wire()).and_then(|name| wire(cx, *file, &name));
    }
    circles(cx);
}

fn wire(cx: &mut Context, file: FileId, name: &Name) -> Option<WireId> {
    match cx.item(file, &name.text) {
        Some(Item::Wire(id)) => Some(id),
        _ => {
            cx.unknown(codes::UNKNOWN_ITEM, "a wire", name, file, |item| matches!(item, Item::Wire(_)));
            None
        }
    }
}

/// A layer or bundle with its arguments.
pub(super) fn part_of(
    cx: &mut Context,
    file: FileId,
    part: &ast::LayerUse,
    params: &[Param],
    devices: &[Name],
) -> Option<Use> {
    let name = tree::some_name(file, part.name())?;
    let (of, wanted) = match cx.item(file, &name.text) {
        Some(Item::Layer(id)) => (Definition::Layer(id), cx.program.layers[id.index()].params.clone()),
        Some(Item::Bundle(id)) => (Definition::Bundle(id), cx.program.bundles[id.index()].params.clone()),
        _ => {
            let wanted = |item| matches!(item, Item::Layer(_) | Item::Bundle(_));
            cx.unknown(codes::UNKNOWN_LAYER, "a layer or bundle", &name, file, wanted);
            return None;
        }
    };
    let span = part.span(file);
    let mut body = Body::argument(cx, file, params, devices);
    debug_assert!(body.place == Place::Argument);
    let args = body.arguments(&name.text, &wanted, &part.args(), span);
    let args = args.into_iter().map(|arg| body.folded(arg)).collect();
    Some(Use { of, args, span: name.span })
}

/// A bundle that holds itself would have no end.
fn circles(cx: &mut Context) {
    for start in 0..cx.program.bundles.len() {
        let mut front = vec![start];
        let mut seen = std::collections::BTreeSet::new();
        let mut found = false;
        while let Some(at) = front.pop() {
            for part in &cx.program.bundles[at].parts {
                let Definition::Bundle(id) = part.of else { continue };
                found |= id.index() == start;
                if seen.insert(id.index()) {
                    front.push(id.index());
                }
            }
        }
        if found {
            let name = cx.program.bundles[start].name.clone();
            let text = format!("bundle `{}` holds itself", name.text);
            cx.error(codes::CIRCLE, text, name.span, "would be endless", "take it out of one of them");
            cx.program.bundles[start].parts.retain(|part| matches!(part.of, Definition::Layer(_)));
        }
    }
}
