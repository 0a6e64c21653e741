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

use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::bundle::higher;
use crate::resolve::context::Context;
use crate::resolve::items::params;
use crate::resolve::layer::reader::LayerReader;
use crate::tree;

/// Everything of all layers but the bodies.
pub fn declare(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.layers {
        let (plain, higher) = higher::split(cx, *file, &item.params(), higher::Owner::Layer);
        let params = params::read(cx, *file, &plain);
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
        for call in item.syntax().descendants().filter_map(ast::CallExpr::cast) {
            let Some((owner, name)) = call.callee().and_then(|callee| tree::name_field(*file, &callee)) else {
                continue;
            };
            if matches!(owner.text.as_str(), "below" | "above") {
                cx.said.emitted.push((id, name.text, owner.text == "below"));
            }
        }
        let mut declare = LayerReader { cx: &mut *cx, file: *file, id, inside: None, once: Vec::new() };
        for member in item.members() {
            members::read(&mut declare, &member);
        }
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut declare =
            LayerReader { cx: &mut *cx, file: *file, id: LayerId(index as u32), inside: None, once: Vec::new() };
        heads::read(&mut declare, item);
        heads::container_heads(&mut declare);
        rules::shape_rules(&mut declare, item);
        if !rules::misspelt_services(&mut declare, item) {
            rules::served_operations(&mut declare);
        }
    }
}

/// Initial and published values, functions and handlers of all layers.
pub fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut work =
            LayerReader { cx: &mut *cx, file: *file, id: LayerId(index as u32), inside: None, once: Vec::new() };
        values::read(&mut work, item);
        code::read(&mut work, item);
        code::containers(&mut work);
        code::scopes(&mut work);
        code::barrier(&mut work);
    }
}
