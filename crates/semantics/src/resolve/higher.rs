//! Parameters that are functions and layers: what a layer or bundle says about them, and what they are given.
//!
//! They are gone after this: who applies a layer or bundle to them gets one of its own, made for what it was given
//! (docs/decisions/types.md), so nothing is looked up while a stack runs. Keeps: a definition is checked once with stand-ins,
//! so its mistakes are reported where nobody applies it, too.

use std::collections::HashMap;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::{items, Context, Item};
use crate::program::*;
use crate::signature::{Claim, Claimed};
use crate::{codes, suggest, tree, types};

/// A parameter that is no value.
#[derive(Clone)]
pub(crate) struct Higher {
    pub name: Name,
    /// Its place among all parameters.
    pub at: usize,
    pub kind: Kind,
    pub default: Option<ast::Expr>,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// `standin` is called in its place until it is known.
    Function {
        params: Vec<Type>,
        result: Type,
        standin: FunctionId,
    },
    Layer {
        wanted: Wanted,
        standin: LayerId,
    },
}

/// `worker`, `layer`, or the name of a signature.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    Any,
    Shape(Shape),
    Signature(SignatureId),
}

/// What stands for such parameters while a definition is read.
#[derive(Clone, Default)]
pub(crate) struct Given {
    pub functions: HashMap<String, FunctionId>,
    pub layers: HashMap<String, Use>,
}

const SHAPES: [(&str, Option<Shape>); 5] = [
    ("worker", Some(Shape::Worker)),
    ("multiplexor", Some(Shape::Multiplexor)),
    ("router", Some(Shape::Router)),
    ("endpoint", Some(Shape::Endpoint)),
    ("layer", None),
];

/// Who takes parameters that are no values.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Owner {
    Layer,
    Bundle,
}

/// The parameters that are values, and the others.
pub(super) fn split(
    cx: &mut Context,
    file: FileId,
    list: &[ast::Param],
    owner: Owner,
) -> (Vec<ast::Param>, Vec<Higher>) {
    let mut plain = Vec::new();
    let mut higher = Vec::new();
    for (at, param) in list.iter().enumerate() {
        let Some(name) = tree::some_name(file, param.name()) else { continue };
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
    let params: Vec<Type> = ty.params().into_iter().map(|ty| items::value_type(cx, file, Some(ty))).collect();
    let result = items::value_type(cx, file, ty.result());
    let heads = params.iter().enumerate().map(|(at, ty)| Param {
        name: Name { text: format!("_{at}"), span: name.span },
        ty: *ty,
        default: None,
        local: LocalId(at as u32),
    });
    let heads: Vec<Param> = heads.collect();
    let locals = heads.iter().map(|param| Local { name: param.name.clone(), ty: param.ty }).collect();
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

impl Given {
    /// Stand-ins for all of a definition's parameters.
    pub fn standins(higher: &[Higher]) -> Given {
        let mut given = Given::default();
        for higher in higher {
            match &higher.kind {
                Kind::Function { standin, .. } => {
                    given.functions.insert(higher.name.text.clone(), *standin);
                }
                Kind::Layer { standin, .. } => {
                    let of = Definition::Layer(*standin);
                    given.layers.insert(higher.name.text.clone(), Use { of, args: Vec::new(), span: higher.name.span });
                }
            }
        }
        given
    }
}

/// Takes the arguments for such parameters out of all arguments; the rest is for those that are values.
pub(super) fn arguments<'a>(
    higher: &'a [Higher],
    args: &[ast::Arg],
) -> (Vec<ast::Arg>, Vec<(&'a Higher, Option<ast::Expr>)>) {
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

pub(super) fn missing(cx: &mut Context, owner: &str, span: Span, higher: &Higher) {
    let (what, help) = match &higher.kind {
        Kind::Function { params, result, .. } => {
            let wanted = show_function(cx, params, *result);
            let fitting = functions_like(cx, span.file, params, *result);
            let help = match fitting.is_empty() {
                true => format!("write a function of this type, and give it: `{}: name`", higher.name.text),
                false => format!("there is {}", suggest::list(&fitting)),
            };
            (format!("a function `{wanted}`"), help)
        }
        Kind::Layer { wanted, .. } => {
            let help = match layers_like(cx, *wanted) {
                names if names.is_empty() => format!("add `{}: …`", higher.name.text),
                names => format!("there is {}", suggest::list(&names)),
            };
            (show_wanted(cx, *wanted), help)
        }
    };
    let diagnostic =
        Diagnostic::error(codes::MISSING_ARGUMENT, format!("`{owner}` needs `{}`: {what}", higher.name.text))
            .at(span, "missing here")
            .label(higher.name.span, "has no default")
            .help(help);
    cx.report(diagnostic);
}

pub(super) fn show_wanted(cx: &Context, wanted: Wanted) -> String {
    match wanted {
        Wanted::Any => "a layer".into(),
        Wanted::Shape(shape) => {
            let word = SHAPES.iter().find(|(_, known)| *known == Some(shape)).map_or("layer", |(word, _)| word);
            format!("a {word}").replace("a endpoint", "an endpoint")
        }
        Wanted::Signature(id) => format!("a layer that gives `{}`", cx.program.signatures[id.index()].name.text),
    }
}

fn show_function(cx: &Context, params: &[Type], result: Type) -> String {
    let params: Vec<String> = params.iter().map(|ty| cx.show(*ty)).collect();
    format!("fn({}) -> {}", params.join(", "), cx.show(result))
}

fn functions_like(cx: &Context, file: FileId, params: &[Type], result: Type) -> Vec<String> {
    let fits = |item| match item {
        Item::Function(id) => agrees(&cx.program.functions[id.index()], params, result),
        _ => false,
    };
    cx.visible_names(file, fits).into_iter().map(str::to_string).take(4).collect()
}

fn layers_like(cx: &Context, wanted: Wanted) -> Vec<String> {
    let fits = |layer: &&Layer| match wanted {
        Wanted::Signature(id) => gives(cx, layer, id),
        _ => false,
    };
    cx.program.layers.iter().filter(fits).map(|layer| layer.name.text.clone()).take(4).collect()
}

fn agrees(function: &Function, params: &[Type], result: Type) -> bool {
    let same = |(param, wanted): (&Param, &Type)| types::same(param.ty, *wanted);
    function.params.len() == params.len()
        && function.params.iter().zip(params).all(same)
        && types::same(function.result, result)
        && !function.refuses
        && function.native.is_none()
}

/// The function that an argument names, if it has the type that is asked for.
pub(super) fn function_given(
    cx: &mut Context,
    file: FileId,
    value: &ast::Expr,
    given: &Given,
    (params, result): (&[Type], Type),
) -> Option<FunctionId> {
    let span = value.span(file);
    let wanted = show_function(cx, params, result);
    let Some(name) = tree::name_expr(file, &tree::unparen(value)) else {
        let text = format!("a function `{wanted}` is wanted here");
        let help = "name a function of a file: the compiler puts it in the parameter's place";
        cx.error(codes::HIGHER_ARGUMENT, text, span, "no function", help);
        return None;
    };
    let known = given.functions.get(&name.text).copied();
    let found = known.or_else(|| match cx.item(file, &name.text) {
        Some(Item::Function(id)) => Some(id),
        _ => None,
    });
    let Some(found) = found else {
        cx.unknown(codes::HIGHER_ARGUMENT, &format!("a function `{wanted}`"), &name, file, |item| {
            matches!(item, Item::Function(_))
        });
        return None;
    };
    let function = cx.program.functions[found.index()].clone();
    if agrees(&function, params, result) {
        return Some(found);
    }
    let types: Vec<Type> = function.params.iter().map(|param| param.ty).collect();
    let is = show_function(cx, &types, function.result);
    let fitting = functions_like(cx, file, params, result);
    let help = match fitting.is_empty() {
        true => "give a function of exactly these types".to_string(),
        false => format!("there is {}", suggest::list(&fitting)),
    };
    let diagnostic = Diagnostic::error(codes::HIGHER_ARGUMENT, format!("`{}` has another type", name.text))
        .at(name.span, format!("`{wanted}` is wanted here"))
        .label(function.name.span, format!("this is `{is}`"))
        .help(help);
    cx.report(diagnostic);
    None
}

fn gives(cx: &Context, layer: &Layer, wanted: SignatureId) -> bool {
    layer.gives.iter().any(|claim| match claim.what {
        Claimed::Signature(id) => id == wanted || cx.program.signatures[id.index()].included.contains(&wanted),
        Claimed::Boundaries(_) => false,
    })
}

/// Whether a layer or bundle may be given for a parameter; a report if not.
pub(super) fn fits(cx: &mut Context, part: &Use, wanted: Wanted, param: &Name) -> bool {
    let layers: Vec<Layer> = cx.program.layers_of(part).into_iter().cloned().collect();
    let Some(top) = layers.first() else { return true };
    let fits = match wanted {
        Wanted::Any => true,
        // A bundle is a worker if it is made of workers alone.
        Wanted::Shape(Shape::Worker) => layers.iter().all(|layer| layer.shape == Shape::Worker),
        Wanted::Shape(shape) => top.shape == shape,
        Wanted::Signature(id) => layers.iter().any(|layer| gives(cx, layer, id)),
    };
    if fits {
        return true;
    }
    let (what, named) = (show_wanted(cx, wanted), &top.name.text);
    let help = match wanted {
        Wanted::Signature(id) => {
            let signature = cx.program.signatures[id.index()].name.text.clone();
            match layers_like(cx, wanted) {
                names if names.is_empty() => format!("write `gives {signature}` in it, if it does"),
                names => format!("{} says so", suggest::list(&names)),
            }
        }
        _ => "perhaps the arguments stand in another order than the parameters; name them: `Name: Layer`".into(),
    };
    let diagnostic = Diagnostic::error(codes::HIGHER_ARGUMENT, format!("`{}` is wanted to be {what}", param.text))
        .at(part.span, format!("`{named}` is {}", shape_of(&layers)))
        .label(param.span, "the parameter")
        .help(help);
    cx.report(diagnostic);
    false
}

fn shape_of(layers: &[Layer]) -> &'static str {
    let odd = layers.iter().find(|layer| layer.shape != Shape::Worker);
    match odd.map(|layer| layer.shape) {
        None | Some(Shape::Worker) => "a worker, and does not say that",
        Some(Shape::Multiplexor) => "a multiplexor",
        Some(Shape::Router) => "a router",
        Some(Shape::Endpoint) => "an endpoint",
    }
}

/// Warns of layers that a bundle asks for and does not hold.
pub(super) fn unused(cx: &mut Context, higher: &[Higher], parts: &[Use]) {
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
