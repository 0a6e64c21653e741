//! The total size of texts that are instantiated at each use: containers, and layers with containers or functions as
//! arguments.
//!
//! Keeps: the size is computed before anything is instantiated, so that a few lines with nested containers are refused
//! instead of processed (`docs/limits.md`). What is too large is reported once, where it is declared.

use std::collections::BTreeSet;

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{ContainerId, Context, Item, Weight};
use crate::{codes, limits, tree};

/// Whether a layer with `already` containers has room for one more; else reports at its place.
pub fn has_room(cx: &mut Context, index: ContainerId, of: &Name, already: usize, deepest: usize) -> bool {
    let weight = weight(cx, index, deepest);
    let all = weight.containers.saturating_add(already as u64);
    if all <= limits::CONTAINERS {
        return room_for(cx, weight.octets, &of.text, of.span);
    }
    if holds_itself(cx, index) {
        too_deep(cx, index, of);
        return false;
    }
    let (text, help) = match weight.containers > limits::CONTAINERS {
        true => (
            format!("`{}` is {} containers, those within others counted", of.text, shown(weight.containers)),
            "a container that holds another twice is twice its containers: hold fewer of them, or keep many things in an array",
        ),
        false => (
            format!("with `{}` this layer has {} containers, those within others counted", of.text, shown(all)),
            "declare fewer of them, or keep many things in an array, a map or objects",
        ),
    };
    let text = format!("{text}, and {} is the most", limits::CONTAINERS);
    cx.error(codes::WRITTEN_OUT, text, of.span, "too many", help);
    false
}

/// Whether this many more octets may be instantiated; reports the first time that they may not.
pub fn room_for(cx: &mut Context, octets: u64, what: &str, span: Span) -> bool {
    let before = cx.said.written_out;
    cx.said.written_out = before.saturating_add(octets);
    if cx.said.written_out <= limits::WRITTEN_OUT {
        return true;
    }
    if before <= limits::WRITTEN_OUT {
        let text = format!(
            "with `{what}` the containers and layers of this program, each written out wherever it stands, come to more than {} octets",
            limits::WRITTEN_OUT
        );
        let help = "use the large ones in fewer places, or make them smaller";
        cx.error(codes::WRITTEN_OUT, text, span, "too much", help);
    }
    false
}

/// Reports why a container is too deep: it contains itself, or is in too many others.
pub fn too_deep(cx: &mut Context, index: ContainerId, of: &Name) {
    let (text, label) = match holds_itself(cx, index) {
        true => (format!("container `{}` holds itself", of.text), "within itself"),
        false => (format!("`{}` is within too many containers that hold each other", of.text), "too deep"),
    };
    cx.error(codes::CIRCLE, text, of.span, label, "leave it out");
}

/// A count, which may be saturated, for a report.
fn shown(count: u64) -> String {
    match count > 1_000_000 {
        true => "more than 1000000".to_string(),
        false => count.to_string(),
    }
}

/// The containers in a container's text.
fn held(cx: &Context, index: ContainerId) -> Vec<ContainerId> {
    let Some((file, container)) = cx.trees.containers.get(index) else { return Vec::new() };
    let of = |state: ast::State| {
        let ast::State::Contained(inner) = state else { return None };
        let name = tree::some_name(*file, inner.container())?;
        match cx.item_at(*file, &name) {
            Some(Item::Container(index)) => Some(index),
            _ => None,
        }
    };
    container.states().into_iter().filter_map(of).collect()
}

/// Containers below the deepest level are not counted; they are reported where they are.
fn weight(cx: &mut Context, index: ContainerId, left: usize) -> Weight {
    if left == 0 {
        return Weight { containers: 0, octets: 0 };
    }
    if let Some(known) = cx.said.weights.get(&(index, left)) {
        return *known;
    }
    let octets = cx.trees.containers.get(index).map_or(0, |(file, tree)| length(*file, tree));
    let mut all = Weight { containers: 1, octets };
    for inner in held(cx, index) {
        let inner = weight(cx, inner, left - 1);
        all.containers = all.containers.saturating_add(inner.containers);
        all.octets = all.octets.saturating_add(inner.octets);
    }
    cx.said.weights.insert((index, left), all);
    all
}

/// The number of octets of a text.
pub fn length(file: FileId, tree: &impl AstNode) -> u64 {
    let span = tree.span(file);
    u64::from(span.end.saturating_sub(span.start))
}

fn holds_itself(cx: &Context, index: ContainerId) -> bool {
    let (mut met, mut waiting) = (BTreeSet::new(), held(cx, index));
    while let Some(next) = waiting.pop() {
        if next == index {
            return true;
        }
        if met.insert(next) {
            waiting.extend(held(cx, next));
        }
    }
    false
}
