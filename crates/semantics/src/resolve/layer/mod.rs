//! The room of layers: what they declare, and their code.
//!
//! May assume: types, services and signatures. Keeps: after [`declare`] every layer's header, key, state and heads are in the program, so
//! that bodies may name one another's in any order; [`bodies`] adds values and code, and says for which scope each handler runs.

mod code;
mod containers;
mod handlers;
mod heads;
mod kinds;
mod members;
mod quotas;
mod reader;
mod rules;
mod scopes;
mod sight;
mod values;

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{ContainerId, Context, Higher};
use crate::resolve::items::higher;
use crate::resolve::items::params;
use crate::resolve::layer::reader::LayerReader;
use crate::tree;

/// Everything of all layers but the bodies.
pub fn declare(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.layers {
        let (plain, higher) = higher::split(cx, *file, &item.params(), higher::Owner::Layer);
        let params = params::read(cx, *file, &plain);
        let id = LayerId(cx.higher.layers.len() as u32);
        for (name, of) in higher.iter().filter_map(Higher::container) {
            cx.higher.containers.push((id, name, of));
        }
        cx.higher.layers.push(higher);
        let shape = match item.shape() {
            ast::Shape::Worker => Shape::Worker,
            ast::Shape::Multiplexor => Shape::Multiplexor,
            ast::Shape::Router => Shape::Router,
            ast::Shape::Endpoint => Shape::Endpoint,
        };
        let name = tree::title(*file, item.name());
        cx.program.layers.push(Layer::bare(name, item.doc(), shape, params));
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        members_of(cx, LayerId(index as u32), *file, item);
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        heads_of(cx, LayerId(index as u32), *file, item);
    }
}

/// The layer once more, read with these containers for its parameters that are some.
pub fn with_containers(cx: &mut Context, of: LayerId, containers: &[(String, ContainerId)]) -> LayerId {
    let trees = cx.trees.clone();
    let (file, item) = &trees.layers[of.index()];
    let known = &cx.program.layers[of.index()];
    let bare = Layer::bare(known.name.clone(), known.docs.clone(), known.shape, known.params.clone());
    cx.program.layers.push(bare);
    let id = LayerId(cx.program.layers.len() as u32 - 1);
    cx.higher.containers.extend(containers.iter().map(|(name, of)| (id, name.clone(), *of)));
    members_of(cx, id, *file, item);
    heads_of(cx, id, *file, item);
    bodies_of(cx, id, *file, item);
    id
}

fn members_of(cx: &mut Context, id: LayerId, file: FileId, item: &ast::Layer) {
    for call in item.syntax().descendants().filter_map(ast::CallExpr::cast) {
        let Some((owner, name)) = call.callee().and_then(|callee| tree::name_field(file, &callee)) else {
            continue;
        };
        if matches!(owner.text.as_str(), "below" | "above") {
            cx.said.emitted.push((id, name.text, owner.text == "below"));
        }
    }
    let mut declare = LayerReader { cx, file, id, inside: None, once: Vec::new() };
    members::all(&mut declare, &item.members());
}

fn heads_of(cx: &mut Context, id: LayerId, file: FileId, item: &ast::Layer) {
    let mut declare = LayerReader { cx, file, id, inside: None, once: Vec::new() };
    heads::read(&mut declare, item);
    heads::container_heads(&mut declare);
    rules::shape_rules(&mut declare, item);
    if !rules::misspelt_services(&mut declare, item) {
        rules::served_operations(&mut declare);
    }
}

/// Initial and published values, functions and handlers of all layers.
pub fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        bodies_of(cx, LayerId(index as u32), *file, item);
    }
}

fn bodies_of(cx: &mut Context, id: LayerId, file: FileId, item: &ast::Layer) {
    let mut work = LayerReader { cx, file, id, inside: None, once: Vec::new() };
    values::read(&mut work, item);
    code::read(&mut work, item);
    code::containers(&mut work);
    code::scopes(&mut work);
    code::barrier(&mut work);
}
