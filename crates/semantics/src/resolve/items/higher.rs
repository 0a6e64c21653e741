//! Parameters that are functions and layers, in the declarations of layers and bundles.
//!
//! Later passes do not see them: each application of a layer or bundle to such arguments gets its own instance
//! (docs/decisions/0020-types-of-layers.md), so nothing is looked up while a stack runs. Keeps: a definition is checked
//! once with stand-ins, so its mistakes are reported even if it is never applied.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{ContainerId, Context, Given, Higher, Item, Kind, Wanted};
use crate::resolve::expr::annotations;
use crate::signature::{Claim, Claimed};
use crate::{codes, tree};

/// The kinds of layer parameters by keyword; `None`: a layer of any shape.
pub const SHAPES: [(&str, Option<Shape>); 5] = [
    ("worker", Some(Shape::Worker)),
    ("multiplexor", Some(Shape::Multiplexor)),
    ("router", Some(Shape::Router)),
    ("endpoint", Some(Shape::Endpoint)),
    ("layer", None),
];

/// Definitions that can have parameters that are not values.
#[derive(Clone, Copy, PartialEq)]
pub enum Owner {
    Layer,
    Bundle,
}

/// Splits the parameters into those that are values, and the others.
pub fn split(cx: &mut Context, file: FileId, list: &[ast::Param], owner: Owner) -> (Vec<ast::Param>, Vec<Higher>) {
    let mut plain = Vec::new();
    let mut higher = Vec::new();
    for (at, param) in list.iter().enumerate() {
        let Some(name) = tree::some_name(file, param.name()) else { continue };
        if is_container(&param.ty()) {
            let kind = container(cx, file, &name, param.default());
            higher.extend(kind.map(|kind| Higher { name, at, kind, default: param.default() }));
            continue;
        }
        let wanted = match param.ty() {
            Some(ast::Type::Fn(ty)) => {
                let kind = function(cx, file, &name, &ty);
                higher.push(Higher { name, at, kind, default: param.default() });
                continue;
            }
            Some(ast::Type::Named(named)) => named.name().and_then(|word| wanted(cx, file, &word.text())),
            _ => None,
        };
        match wanted {
            None => plain.push(param.clone()),
            Some(_) if owner == Owner::Layer => {
                let help = "put them together in a bundle: `bundle B(Inner: worker) = This / Inner`";
                cx.error(codes::HIGHER_PARAMETER, "only a bundle is made of layers", name.span, "a layer", help);
            }
            Some(wanted) => {
                let kind = layer(cx, &name, wanted);
                higher.push(Higher { name, at, kind, default: param.default() });
            }
        }
    }
    (plain, higher)
}

/// The container that an argument names.
pub fn container_given(cx: &mut Context, file: FileId, value: &ast::Expr, given: &Given) -> Option<ContainerId> {
    let span = value.span(file);
    let Some(name) = tree::name_expr(file, &tree::unparen(value)) else {
        let text = "a container is wanted here";
        cx.error(codes::HIGHER_ARGUMENT, text, span, "no container", "name one: `Congestion: newreno`");
        return None;
    };
    let known = given.containers.get(&name.text).copied();
    let found = known.or_else(|| match cx.item_at(file, &name) {
        Some(Item::Container(index)) => Some(index),
        _ => None,
    });
    if found.is_none() {
        let is_one = |item| matches!(item, Item::Container(_));
        cx.unknown(codes::HIGHER_ARGUMENT, "a container", &name, file, is_one);
    }
    found
}

/// `Congestion: container = …`
fn is_container(ty: &Option<ast::Type>) -> bool {
    let Some(ast::Type::Named(named)) = ty else { return false };
    named.name().is_some_and(|word| word.text() == "container")
}

/// The default container of a parameter; reports if there is none.
fn container(cx: &mut Context, file: FileId, name: &Name, default: Option<ast::Expr>) -> Option<Kind> {
    let Some(value) = default else {
        let text = format!("which container is `{}` if nothing is said?", name.text);
        let help = format!("name one, with which this is read: `{}: container = queue`", name.text);
        cx.error(codes::HIGHER_PARAMETER, text, name.span, "no default", &help);
        cx.said.no_container.insert((file, name.text.clone()));
        return None;
    };
    let standin = container_given(cx, file, &value, &Given::default());
    if standin.is_none() {
        cx.said.no_container.insert((file, name.text.clone()));
    }
    standin.map(|standin| Kind::Container { standin })
}

fn wanted(cx: &Context, file: FileId, word: &str) -> Option<Wanted> {
    if let Some((_, shape)) = SHAPES.iter().find(|(known, _)| *known == word) {
        return Some(shape.map_or(Wanted::Any, Wanted::Shape));
    }
    match cx.item(file, word) {
        Some(Item::Signature(id)) => Some(Wanted::Signature(id)),
        _ => None,
    }
}

fn function(cx: &mut Context, file: FileId, name: &Name, ty: &ast::FnType) -> Kind {
    let params: Vec<Type> = ty.params().into_iter().map(|ty| annotations::stored(cx, file, Some(ty))).collect();
    let result = annotations::stored(cx, file, ty.result());
    let heads = params.iter().enumerate().map(|(at, ty)| Param {
        name: Name { text: format!("_{at}"), span: name.span },
        ty: *ty,
        default: None,
        local: LocalId(at as u32),
        written: None,
    });
    let heads: Vec<Param> = heads.collect();
    let locals = heads.iter().map(Local::from).collect();
    cx.program.functions.push(Function {
        name: name.clone(),
        params: heads,
        result,
        refuses: false,
        locals,
        body: Vec::new(),
        native: None,
    });
    let standin = FunctionId(cx.program.functions.len() as u32 - 1);
    Kind::Function { params, result, standin }
}

fn layer(cx: &mut Context, name: &Name, wanted: Wanted) -> Kind {
    let shape = if let Wanted::Shape(shape) = wanted { shape } else { Shape::Worker };
    let mut layer = Layer::bare(name.clone(), String::new(), shape, Vec::new());
    if let Wanted::Signature(id) = wanted {
        layer.gives.push(Claim { what: Claimed::Signature(id), when: None, span: name.span });
    }
    cx.program.layers.push(layer);
    Kind::Layer { wanted, standin: LayerId(cx.program.layers.len() as u32 - 1) }
}

/// Takes the arguments for such parameters out of all arguments; the remaining ones are for values.
pub fn arguments<'a>(higher: &'a [Higher], args: &[ast::Arg]) -> (Vec<ast::Arg>, Vec<(&'a Higher, Option<ast::Expr>)>) {
    let mut found: Vec<(&Higher, Option<ast::Expr>)> = higher.iter().map(|higher| (higher, None)).collect();
    let mut rest = Vec::new();
    let mut next = 0;
    for arg in args {
        let wanted = match arg.name() {
            Some(label) => found.iter_mut().find(|(higher, _)| higher.name.text == label.text()),
            None => {
                next += 1;
                found.iter_mut().find(|(higher, _)| higher.at == next - 1)
            }
        };
        match wanted {
            Some((_, place)) if place.is_none() => *place = arg.value(),
            _ => rest.push(arg.clone()),
        }
    }
    for (higher, place) in &mut found {
        if place.is_none() {
            place.clone_from(&higher.default);
        }
    }
    (rest, found)
}

/// Warns of layers that a bundle has as parameters and does not contain.
pub fn unused(cx: &mut Context, higher: &[Higher], parts: &[Use]) {
    for higher in higher {
        let Kind::Layer { standin, .. } = &higher.kind else { continue };
        let holds = |part: &Use| {
            let layers = cx.program.layers_of(part);
            layers.iter().any(|layer| layer.name.span == cx.program.layers[standin.index()].name.span)
        };
        if !parts.iter().any(holds) && !higher.name.text.starts_with('_') {
            let text = format!("parameter `{}` is never used", higher.name.text);
            let help = format!("remove it, or call it `_{}` to say that this is meant", higher.name.text);
            let diagnostic =
                Diagnostic::warning(codes::UNUSED_PARAMETER, text).at(higher.name.span, "never used").help(help);
            cx.report(diagnostic);
        }
    }
}
