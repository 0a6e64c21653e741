//! Layers: their declarations and their code.
//!
//! May assume: types, services and signatures. Keeps: after [`declare`] every layer's header, key, state and heads are
//! in the program, so that bodies may name those of any layer; [`bodies`] adds values and code, and chooses the scope
//! of each handler.

mod code;
mod containers;
mod handlers;
mod heads;
mod kinds;
mod members;
mod parts;
mod quotas;
mod reader;
mod rules;
mod scopes;
mod sight;
mod values;
mod views;
pub mod written_out;

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::context::{ContainerId, Context, Higher};
use crate::resolve::items::higher;
use crate::resolve::items::params;
use crate::resolve::layer::reader::LayerReader;
use crate::tree;

/// Resolves everything of all layers except the bodies.
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
        let id = LayerId(index as u32);
        members_of(cx, (id, id), *file, item);
    }
    parts::untaken(cx);
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        heads_of(cx, LayerId(index as u32), *file, item);
    }
}

/// A copy of the layer, resolved with these containers as arguments.
pub fn with_containers(cx: &mut Context, of: LayerId, containers: &[(String, ContainerId)]) -> LayerId {
    let trees = cx.trees.clone();
    let (file, item) = &trees.layers[of.index()];
    let known = &cx.program.layers[of.index()];
    let bare = Layer::bare(known.name.clone(), known.docs.clone(), known.shape, known.params.clone());
    cx.program.layers.push(bare);
    let id = LayerId(cx.program.layers.len() as u32 - 1);
    cx.higher.copies.insert(id, of);
    cx.higher.containers.extend(containers.iter().map(|(name, of)| (id, name.clone(), *of)));
    members_of(cx, (id, of), *file, item);
    heads_of(cx, id, *file, item);
    bodies_of(cx, id, *file, item);
    id
}

/// The declarations of a layer, in its own text and in those of its parts; `of` is the layer in the text.
fn members_of(cx: &mut Context, (id, of): (LayerId, LayerId), file: FileId, item: &ast::Layer) {
    let mut declare = LayerReader::new(cx, file, id);
    declare.this().group = item.is_group();
    parts::take(&mut declare, of, item);
    let sources = parts::sources(declare.cx, id, file, item);
    views::declare(&mut declare, &sources);
    for source in sources {
        declare.at(&source);
        members::all(&mut declare, &source.members);
        for member in &source.members {
            let emitted = parts::emitted(source.file, member).into_iter().map(|(name, down)| (id, name, down));
            declare.cx.said.emitted.extend(emitted);
        }
    }
    parts::clashes(&mut declare);
}

fn heads_of(cx: &mut Context, id: LayerId, file: FileId, item: &ast::Layer) {
    let sources = parts::sources(cx, id, file, item);
    let mut declare = LayerReader::new(cx, file, id);
    for source in &sources {
        declare.at(source);
        heads::read(&mut declare, &source.members);
    }
    // Members that are added follow those in the text, which are counted there.
    for source in &sources {
        declare.at(source);
        views::heads(&mut declare, &source.members);
    }
    declare.at(&sources[0]);
    heads::container_heads(&mut declare);
    let all: Vec<ast::Member> = sources.into_iter().flat_map(|source| source.members).collect();
    rules::shape_rules(&mut declare, &all);
    if !rules::misspelt_services(&mut declare, &all) {
        rules::served_operations(&mut declare);
    }
}

/// Resolves initial and published values, functions and handlers of all layers.
pub fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        bodies_of(cx, LayerId(index as u32), *file, item);
    }
}

fn bodies_of(cx: &mut Context, id: LayerId, file: FileId, item: &ast::Layer) {
    let sources = parts::sources(cx, id, file, item);
    let mut work = LayerReader::new(cx, file, id);
    for source in &sources {
        work.at(source);
        values::read(&mut work, &source.members);
    }
    code::read(&mut work, &sources);
    work.at(&sources[0]);
    code::containers(&mut work);
    code::scopes(&mut work);
    code::barrier(&mut work);
}
