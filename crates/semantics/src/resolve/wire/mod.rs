//! Wires by themselves: fields, computed values, constraints, choices, options, lists.
//!
//! May assume: types and constants. Keeps: a field can be named only after its place, as a packet is read from front to
//! back. Each bundle's check covers what its wire carries (`check::wires`).

mod choices;
mod defaults;
mod fields;
mod lists;
mod optional;
mod options;
pub mod reader;
mod values;

use mokume_base::Code;
use mokume_base::Form;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::wire::reader::WireReader;
use crate::{codes, lost, tree};

/// Mistakes that leave the field usable.
const READ_ALL_THE_SAME: [Code; 2] = [codes::WIRE_CONSTANT, codes::WIRE_TAG_TWICE];

/// Resolves all wires.
pub fn wires(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.wires {
        let big = item.byte_order() != Some(ast::ByteOrder::Little);
        let errors = cx.out.len();
        let mut work = WireReader {
            cx: &mut *cx,
            file: *file,
            big,
            fields: Vec::new(),
            written: Vec::new(),
            defaults: Vec::new(),
            pseudo: Vec::new(),
            element: None,
            all: names(item),
        };
        let all = items(&mut work, &item.members());
        let (written, defaults, pseudo) = (written(&work.written), work.defaults, work.pseudo);
        let whole = cx.out[errors..].iter().all(|found| READ_ALL_THE_SAME.contains(&found.code));
        let name = tree::title(*file, item.name());
        lost::through(&mut cx.out[errors..], &lost::fields(&name));
        cx.program.wires.push(Wire { name, big, items: all, written, defaults, pseudo, whole });
    }
}

/// A name that several arms have keeps its notation if it is the same in all of them.
fn written(met: &[(String, Option<Form>)]) -> Vec<(String, Form)> {
    let same = |(name, form): &(String, Option<Form>)| {
        let all = met.iter().filter(|(other, _)| other == name);
        all.clone().all(|(_, other)| other == form).then(|| Some((name.clone(), form.clone()?)))?
    };
    met.iter().filter_map(same).collect()
}

fn names(item: &ast::Wire) -> Vec<String> {
    let fields = item.syntax().descendants().filter_map(ast::WireField::cast);
    fields.filter_map(|field| Some(field.name()?.text())).collect()
}

fn items(reader: &mut WireReader, members: &[ast::WireMember]) -> Vec<WireItem> {
    let mut items = Vec::new();
    // What stands behind a field that was refused is not about the field before it.
    let mut refused = false;
    for member in members {
        match member {
            ast::WireMember::Field(field) => {
                let field = fields::read(reader, field);
                refused = field.is_none();
                items.extend(field.map(WireItem::Field));
            }
            ast::WireMember::Where(_) | ast::WireMember::Default(_) if refused => {}
            ast::WireMember::Where(constraint) => fields::constraints(reader, constraint, &mut items),
            ast::WireMember::Trim(trim) => fields::trim(reader, trim, &mut items),
            ast::WireMember::Default(default) => defaults::read(reader, default, &items),
            ast::WireMember::Pseudo(pseudo) => defaults::pseudo(reader, pseudo),
            ast::WireMember::Choice(choice) => items.extend(choices::read(reader, choice)),
            ast::WireMember::Optional(part) => items.extend(optional::read(reader, part)),
            ast::WireMember::Options(options) => items.extend(options::read(reader, options)),
            ast::WireMember::Each(each) => items.extend(lists::read(reader, each)),
            ast::WireMember::Reach(reach) => items.extend(optional::reach(reader, reach)),
        }
    }
    items
}

/// Resolves members that are not in every packet: not visible after them, but their numbers stay used.
fn hidden(reader: &mut WireReader, members: &[ast::WireMember]) -> Vec<WireItem> {
    let before = reader.fields.len();
    let all = items(reader, members);
    for field in &mut reader.fields[before..] {
        field.name.text = format!(" {}", field.name.text);
    }
    all
}
