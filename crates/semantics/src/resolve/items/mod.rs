//! The items of files besides layers and stacks: types, constants, services, functions, signatures.
//!
//! May assume: only the trees. Keeps: after [`declare`] of every item, the order of files does not matter for names;
//! after [`resolve`], types, attributes, services and the heads of functions are in the program.

mod data;
mod doubled;
mod endless;
mod enums;
mod externs;
pub mod fields;
pub mod functions;
pub mod higher;
pub mod params;
mod services;
pub mod signatures;
mod written;

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::context::{Context, Item, Lazy, Trees};
use crate::resolve::expr::{annotations, consts};
use crate::resolve::items::fields::FieldUse;
use crate::tree;

/// Enters an item's name into the tables, and keeps its tree for later.
pub fn declare(cx: &mut Context, trees: &mut Trees, file: FileId, item: ast::Item) {
    let Some(name) = tree::some_name(file, item.name()) else {
        match item {
            ast::Item::Test(test) => trees.tests.push((file, test)),
            ast::Item::Run(run) => trees.runs.push((file, run)),
            _ => {}
        }
        return;
    };
    macro_rules! add {
        ($list:ident, $id:expr, $tree:expr) => {{
            trees.$list.push((file, $tree));
            $id(trees.$list.len() as u32 - 1)
        }};
    }
    let known = match item {
        ast::Item::Use(_) | ast::Item::Test(_) | ast::Item::Run(_) => return,
        ast::Item::Const(item) => {
            cx.consts.push(Lazy::Waiting(file, item));
            Item::Const(cx.consts.len() - 1)
        }
        ast::Item::TypeAlias(item) => {
            cx.aliases.push(Lazy::Waiting(file, item));
            Item::Alias(cx.aliases.len() - 1)
        }
        ast::Item::Record(item) => Item::Record(add!(records, RecordId, item)),
        ast::Item::Enum(item) => Item::Enum(add!(enums, EnumId, item)),
        ast::Item::Attribute(item) => Item::Attribute(add!(attributes, AttributeId, item)),
        ast::Item::Service(item) => Item::Service(add!(services, ServiceId, item)),
        ast::Item::Signature(item) => Item::Signature(add!(signatures, SignatureId, item)),
        ast::Item::Vocabulary(item) => Item::Vocabulary(add!(vocabularies, VocabularyId, item)),
        ast::Item::Function(item) => Item::Function(add!(functions, FunctionId, item)),
        ast::Item::Layer(item) => Item::Layer(add!(layers, LayerId, item)),
        ast::Item::Bundle(item) => Item::Bundle(add!(bundles, BundleId, item)),
        ast::Item::Wire(item) => Item::Wire(add!(wires, WireId, item)),
        ast::Item::Stack(item) => Item::Stack(add!(stacks, StackId, item)),
        ast::Item::Container(item) => {
            trees.containers.push((file, item));
            Item::Container(trees.containers.len() - 1)
        }
        ast::Item::Suite(item) => {
            trees.suites.push((file, item));
            Item::Suite(trees.suites.len() - 1)
        }
        ast::Item::Part(item) => {
            trees.parts.push((file, item));
            Item::Part(trees.parts.len() - 1)
        }
        ast::Item::Network(item) => {
            trees.networks.push((file, item));
            Item::Network
        }
    };
    cx.declare(&name, known);
}

/// Resolves types, attributes, services and the heads of functions, then constants.
pub fn resolve(cx: &mut Context) {
    let trees = cx.trees.clone();
    types(cx, &trees);
    for index in 0..cx.consts.len() {
        consts::of_file(cx, index, None);
    }
    doubled::check(cx, &trees);
    for (file, item) in &trees.attributes {
        services::attribute(cx, *file, item);
    }
    for (file, item) in &trees.services {
        services::service(cx, *file, item);
    }
    for (file, item) in &trees.functions {
        let function = params::function_head(cx, *file, item);
        cx.program.functions.push(function);
    }
}

/// Resolves enumerations, records and aliases, first without their contents, as each may name any other.
fn types(cx: &mut Context, trees: &Trees) {
    let aliases = written::trees_of_aliases(cx);
    for (file, item) in &trees.enums {
        let empty = Enum {
            name: tree::title(*file, item.name()),
            width: 64,
            open: item.is_open(),
            names: Vec::new(),
            data: None,
            parts: Vec::new(),
        };
        cx.program.enums.push(empty);
    }
    for (file, item) in &trees.records {
        cx.program.records.push(Record {
            name: tree::title(*file, item.name()),
            fields: Vec::new(),
            vector: None,
            written: None,
        });
    }
    data::declare(cx);
    written::aliases(cx, &aliases);
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        enums::names(cx, index, *file, item);
    }
    for (index, (file, item)) in trees.records.iter().enumerate() {
        cx.program.records[index].fields = fields::read(cx, *file, &item.fields(), FieldUse::Values);
    }
    data::parts(cx);
    endless::records(cx);
    written::records(cx);
    cx.types_are_known = true;
    for index in 0..cx.aliases.len() {
        if let Lazy::Waiting(file, alias) = &cx.aliases[index] {
            if let Some(name) = tree::some_name(*file, alias.name()) {
                annotations::alias(cx, index, &name);
            }
        }
    }
}
