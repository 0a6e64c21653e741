//! What fits a parameter that is a function or a layer, and the reports if an argument does not.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::{Context, Given, Higher, Item, Kind, Wanted};
use crate::resolve::items::higher::SHAPES;
use crate::{codes, suggest, tree, types};

/// Reports a missing argument for a parameter without a default.
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
        Kind::Container { .. } => ("a container".to_string(), format!("add `{}: …`", higher.name.text)),
    };
    let diagnostic =
        Diagnostic::error(codes::MISSING_ARGUMENT, format!("`{owner}` needs `{}`: {what}", higher.name.text))
            .at(span, "missing here")
            .label(higher.name.span, "has no default")
            .help(help);
    cx.report(diagnostic);
}

/// The words of a report for what a parameter expects.
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
    cx.names.visible(file, fits).into_iter().map(str::to_string).take(4).collect()
}

fn layers_like(cx: &Context, wanted: Wanted) -> Vec<String> {
    let fits = |layer: &&Layer| match wanted {
        Wanted::Signature(id) => gives(cx, layer, id) && !layer.is_standin(),
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

/// The function that an argument names, if it has the expected type.
pub(super) fn function_given(
    cx: &mut Context,
    file: FileId,
    value: &ast::Expr,
    given: &Given,
    (params, result): (&[Type], Type),
) -> Option<FunctionId> {
    let span = value.span(file);
    let wanted = show_function(cx, params, result);
    let Some(name) = cx.item_name(file, &tree::unparen(value)) else {
        let text = format!("a function `{wanted}` is wanted here");
        let help = "name a function of a file: the compiler puts it in the parameter's place";
        cx.error(codes::HIGHER_ARGUMENT, text, span, "no function", help);
        return None;
    };
    let known = given.functions.get(&name.text).copied();
    let found = known.or_else(|| match cx.item_at(file, &name) {
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
    other_type(cx, file, &name, &function, (params, result));
    None
}

/// Reports a function of another type than expected.
fn other_type(cx: &mut Context, file: FileId, name: &Name, function: &Function, (params, result): (&[Type], Type)) {
    let wanted = show_function(cx, params, result);
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
}

fn gives(cx: &Context, layer: &Layer, wanted: SignatureId) -> bool {
    layer.gives.iter().any(|claim| claim.speaks_of(&cx.program.signatures, wanted))
}

/// Whether layers, the top one first, give this: the first that speaks of it says so.
fn give(cx: &Context, layers: &[Layer], wanted: SignatureId) -> bool {
    let first = layers.iter().find(|layer| breaks(cx, layer, wanted) || gives(cx, layer, wanted));
    first.is_some_and(|layer| !breaks(cx, layer, wanted))
}

fn breaks(cx: &Context, layer: &Layer, promise: SignatureId) -> bool {
    layer.breaks.iter().any(|claim| claim.speaks_of(&cx.program.signatures, promise))
}

/// Whether a layer or bundle fits a parameter; reports if not.
pub(super) fn fits(cx: &mut Context, part: &Use, wanted: Wanted, param: &Name) -> bool {
    let layers: Vec<Layer> = cx.program.layers_of(part).into_iter().cloned().collect();
    let Some(top) = layers.first() else { return true };
    let fits = match wanted {
        Wanted::Any => true,
        // A bundle counts as a worker if all its layers are workers.
        Wanted::Shape(Shape::Worker) => layers.iter().all(|layer| layer.shape == Shape::Worker),
        Wanted::Shape(shape) => top.shape == shape,
        Wanted::Signature(id) => give(cx, &layers, id),
    };
    if fits {
        return true;
    }
    let (what, named) = (show_wanted(cx, wanted), &top.name.text);
    let broken = match wanted {
        Wanted::Signature(id) => layers.iter().find(|layer| breaks(cx, layer, id)),
        _ => None,
    };
    let help = match wanted {
        Wanted::Signature(_) if broken.is_some() => "let a layer that gives it stand above".into(),
        Wanted::Signature(id) => {
            let signature = cx.program.signatures[id.index()].name.text.clone();
            match layers_like(cx, wanted) {
                names if names.is_empty() => format!("write `gives {signature}` in it, if it does"),
                names if names.len() == 1 => format!("{} says so", suggest::list(&names)),
                names => format!("{} say so", suggest::list(&names)),
            }
        }
        _ => "perhaps the arguments stand in another order than the parameters; name them: `Name: Layer`".into(),
    };
    let here = match broken {
        Some(by) => format!("`{}` breaks that", by.name.text),
        None => format!("`{named}` is {}", shape_of(&layers)),
    };
    let diagnostic = Diagnostic::error(codes::HIGHER_ARGUMENT, format!("`{}` is wanted to be {what}", param.text))
        .at(part.span, here)
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
