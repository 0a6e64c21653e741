//! Layers and bundles applied to arguments, in bundles and stacks.
//!
//! Keeps: the results are layers and bundles whose remaining parameters are values; each combination is made once.

use mokume_base::{Diagnostic, FileId, Severity, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::{Body, BodyKind};
use crate::resolve::bundle::fitting;
use crate::resolve::context::{ContainerId, Context, Given, Higher, Item, Kind, Made, Wanted};
use crate::resolve::expr::arguments;
use crate::resolve::items::higher;
use crate::resolve::layer::{self, written_out};
use crate::{codes, limits, lost, suggest, tree};

/// The context of an application: the values and other parameters that it may name.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub file: FileId,
    pub params: &'a [Param],
    pub devices: &'a [Name],
    pub given: &'a Given,
}

/// One layer or bundle with its arguments, as written.
struct Applied {
    name: Name,
    args: Vec<ast::Arg>,
    span: Span,
}

/// A layer or bundle with its arguments.
pub(super) fn part_of(cx: &mut Context, part: &ast::LayerUse, scene: Scene) -> Option<Use> {
    let name = tree::some_name(scene.file, part.name())?;
    apply(cx, &Applied { name, args: part.args(), span: part.span(scene.file) }, scene)
}

/// `A / B / C` as one definition.
pub fn chain(cx: &mut Context, parts: &[ast::LayerUse], scene: Scene) -> Option<Use> {
    let found: Vec<Option<Use>> = parts.iter().map(|part| part_of(cx, part, scene)).collect();
    let found: Option<Vec<Use>> = found.into_iter().collect();
    Some(join(cx, found?))
}

fn apply(cx: &mut Context, applied: &Applied, scene: Scene) -> Option<Use> {
    let name = &applied.name;
    if let Some(given) = scene.given.layers.get(&name.text) {
        if !applied.args.is_empty() {
            let text = format!("`{}` has its arguments already", name.text);
            let help = "they are given where the layer is: `Reliable(Checksum(2))`";
            cx.error(codes::HIGHER_ARGUMENT, text, applied.span, "no arguments here", help);
        }
        return Some(Use { span: name.span, ..given.clone() });
    }
    let (of, wanted) = match cx.item_at(scene.file, name) {
        Some(Item::Layer(id)) => (Definition::Layer(id), cx.program.layers[id.index()].params.clone()),
        Some(Item::Bundle(id)) => (Definition::Bundle(id), cx.program.bundles[id.index()].params.clone()),
        _ => {
            let wanted = |item| matches!(item, Item::Layer(_) | Item::Bundle(_));
            cx.unknown(codes::UNKNOWN_LAYER, "a layer or bundle", name, scene.file, wanted);
            return None;
        }
    };
    let higher = match of {
        Definition::Layer(id) => cx.higher.of_layer(id).to_vec(),
        Definition::Bundle(id) => cx.higher.bundles.get(id.index()).cloned().unwrap_or_default(),
    };
    let (plain, others) = higher::arguments(&higher, &once_each(cx, scene.file, &higher, &applied.args));
    let mut body = Body::argument(cx, scene.file, scene.params, scene.devices);
    debug_assert!(body.kind == BodyKind::Argument);
    let args = arguments::for_params(&mut body, &name.text, &wanted, &plain, applied.span);
    let args: Vec<Expr> = args.into_iter().map(|arg| body.folded(arg)).collect();
    if higher.is_empty() {
        return Some(Use { of, args, span: name.span });
    }
    make(cx, of, args, applied, others, scene)
}

/// The arguments, without those for functions or layers that were already taken; values are checked with their
/// parameters.
fn once_each(cx: &mut Context, file: FileId, higher: &[Higher], args: &[ast::Arg]) -> Vec<ast::Arg> {
    let mut said: Vec<(usize, Span)> = Vec::new();
    let mut kept = Vec::new();
    let mut next = 0;
    for arg in args {
        let known = match arg.name() {
            Some(label) => higher.iter().position(|known| known.name.text == label.text()),
            None => {
                next += 1;
                higher.iter().position(|known| known.at == next - 1)
            }
        };
        let span = arg.span(file);
        match known.and_then(|at| said.iter().find(|(other, _)| *other == at)) {
            Some((at, first)) => cx.given_twice(&format!("`{}`", higher[*at].name.text), span, *first),
            None => kept.push(arg.clone()),
        }
        said.extend(known.map(|at| (at, span)));
    }
    kept
}

/// A definition that is being instantiated with functions and layers.
struct Making {
    given: Given,
    key: Made,
    /// Its arguments that are values: its own, then those of the layers given to it.
    args: Vec<Expr>,
    /// The parameters for the latter.
    extra: Vec<Param>,
}

/// Instantiates a definition with these functions and layers.
fn make(
    cx: &mut Context,
    of: Definition,
    args: Vec<Expr>,
    applied: &Applied,
    others: Vec<(&Higher, Option<ast::Expr>)>,
    scene: Scene,
) -> Option<Use> {
    let key = Made { of, functions: Vec::new(), layers: Vec::new(), containers: Vec::new(), result: of };
    let mut making = Making { given: Given::default(), key, args, extra: Vec::new() };
    for (higher, value) in others {
        let Some(value) = value else {
            fitting::missing(cx, &applied.name.text, applied.span, higher);
            return None;
        };
        give(cx, &mut making, higher, &value, scene)?;
    }
    let Making { given, mut key, args, extra } = making;
    let span = applied.name.span;
    let same = |made: &&Made| Made { result: made.result, ..key.clone() } == **made;
    if let Some(known) = cx.higher.made.iter().find(same) {
        return Some(Use { of: known.result, args, span });
    }
    key.result = match of {
        Definition::Layer(id) => Definition::Layer(fitting_layer(cx, id, &key, (applied, scene))?),
        Definition::Bundle(id) => Definition::Bundle(made_for(cx, id, &given, extra, span)?),
    };
    let result = key.result;
    cx.higher.made.push(key);
    Some(Use { of: result, args, span })
}

/// Takes the argument for one parameter; `None`, after a report, if it does not fit.
fn give(cx: &mut Context, making: &mut Making, higher: &Higher, value: &ast::Expr, scene: Scene) -> Option<()> {
    // A default is evaluated where the definition is.
    let own = Given::default();
    let scene = match higher.default.as_ref() == Some(value) {
        true => Scene { file: higher.name.span.file, params: &[], devices: &[], given: &own },
        false => scene,
    };
    match &higher.kind {
        Kind::Function { params, result, standin } => {
            let found = fitting::function_given(cx, scene.file, value, scene.given, (params, *result))?;
            making.given.functions.insert(higher.name.text.clone(), found);
            making.key.functions.extend([*standin, found]);
        }
        Kind::Layer { wanted, .. } => {
            let part = layer_given(cx, value, higher, *wanted, scene)?;
            making.key.layers.push(part.of);
            let inner = lift(&part, making.args.len(), &mut making.extra);
            making.args.extend(part.args);
            making.given.layers.insert(higher.name.text.clone(), inner);
        }
        Kind::Container { .. } => {
            let found = higher::container_given(cx, scene.file, value, scene.given)?;
            making.given.containers.insert(higher.name.text.clone(), found);
            making.key.containers.push((higher.name.text.clone(), found));
        }
    }
    Some(())
}

/// The arguments of a given layer become parameters, from `from` on, of the bundle that it is put into.
fn lift(part: &Use, from: usize, extra: &mut Vec<Param>) -> Use {
    let args = part.args.iter().enumerate().map(|(at, arg)| {
        let local = LocalId((from + at) as u32);
        extra.push(Param {
            name: Name { text: format!("_{}", from + at), span: arg.span },
            ty: arg.ty,
            default: None,
            local,
            written: None,
        });
        Expr { kind: ExprKind::Param(local.0), ty: arg.ty, span: arg.span }
    });
    Use { of: part.of, args: args.collect(), span: part.span }
}

/// As [`layer_for`], but reports at the arguments if a given container does not do what the layer asks of it.
fn fitting_layer(cx: &mut Context, id: LayerId, made: &Made, (applied, scene): (&Applied, Scene)) -> Option<LayerId> {
    let origin = cx.higher.copies.get(&id).copied().unwrap_or(id);
    let octets = cx.trees.layers.get(origin.index()).map_or(0, |(file, item)| written_out::length(*file, item));
    if !written_out::room_for(cx, octets, &applied.name.text, applied.span) {
        return None;
    }
    let before = (cx.out.len(), cx.contained.len(), cx.program.layers.len(), cx.higher.containers.len());
    let found = layer_for(cx, id, made);
    // Faults of the layer itself are already reported.
    let news = cx.out.split_off(before.0);
    let news: Vec<Diagnostic> = news.into_iter().filter(|one| !cx.out.contains(one)).collect();
    let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
    let Some(first) = news.iter().find(is_error) else {
        cx.out.extend(news);
        return Some(found);
    };
    cx.contained.truncate(before.1);
    cx.program.layers.truncate(before.2);
    cx.higher.containers.truncate(before.3);
    cx.higher.copies.retain(|copy, _| copy.index() < before.2);
    let given: Vec<String> = made.containers.iter().map(|(_, of)| title(cx, *of)).collect();
    let inner = container_argument(cx, made, applied, scene).unwrap_or(applied.span);
    // The user of an enclosing bundle does not see what the bundle does with the argument.
    let outer = cx.higher.places.first().copied();
    if let Some(own) = within_container(cx, made, first) {
        cx.report(own.label(outer.unwrap_or(inner), "given here"));
        return None;
    }
    let text = format!("`{}` cannot work with {}", applied.name.text, suggest::list(&given));
    let mut diagnostic = Diagnostic::error(codes::HIGHER_ARGUMENT, text)
        .at(outer.unwrap_or(inner), "does not fit")
        .note(first.message.clone());
    if let Some(place) = first.primary.as_ref().map(|label| label.span) {
        let given = made.containers.iter().map(|(_, of)| format!("{of:?}")).collect::<Vec<_>>().join(" ");
        diagnostic = diagnostic.lacks(lost::within(place, &format!("what {given} has")));
    }
    if outer.is_some() {
        diagnostic = diagnostic.label(inner, "given on here");
    }
    if let Some(place) = &first.primary {
        diagnostic = diagnostic.label(place.span, "used here");
    }
    cx.report(diagnostic.help("give a container that has what the layer uses, of the same types"));
    None
}

/// A fault in the code of a given container is reported there.
fn within_container(cx: &Context, made: &Made, first: &Diagnostic) -> Option<Diagnostic> {
    let place = first.primary.as_ref()?.span;
    let is_there = |(_, of): &(String, ContainerId)| {
        cx.trees.containers.get(*of).is_some_and(|(file, item)| {
            let own = item.span(*file);
            own.file == place.file && own.start <= place.start && place.end <= own.end
        })
    };
    made.containers.iter().any(is_there).then(|| first.clone())
}

/// The container's name.
fn title(cx: &Context, of: ContainerId) -> String {
    let found = cx.trees.containers.get(of).and_then(|(_, item)| item.name());
    found.map_or_else(|| "?".to_string(), |name| name.text())
}

/// The argument that is a container.
fn container_argument(cx: &Context, made: &Made, applied: &Applied, scene: Scene) -> Option<Span> {
    let names: Vec<&str> = made.containers.iter().map(|(name, _)| name.as_str()).collect();
    let is_named = |arg: &&ast::Arg| arg.name().is_some_and(|label| names.contains(&label.text().as_str()));
    let is_container = |arg: &&ast::Arg| {
        let value = arg.value().map(|value| tree::unparen(&value));
        let Some(name) = value.and_then(|value| tree::name_expr(scene.file, &value)) else { return false };
        let item = cx.item_at(scene.file, &name);
        scene.given.containers.contains_key(&name.text) || matches!(item, Some(Item::Container(_)))
    };
    let arg = applied.args.iter().find(is_named).or_else(|| applied.args.iter().find(is_container))?;
    Some(arg.span(scene.file))
}

/// A copy of a layer that calls these functions instead of its stand-ins; resolved again if it has other containers.
fn layer_for(cx: &mut Context, id: LayerId, made: &Made) -> LayerId {
    let known = &cx.higher.containers;
    let is_standin = |(name, of): &(String, ContainerId)| known.contains(&(id, name.clone(), *of));
    let id = match made.containers.iter().all(is_standin) {
        true => id,
        false => layer::with_containers(cx, id, &made.containers),
    };
    let mut layer = cx.program.layers[id.index()].clone();
    layer.called = made.functions.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    cx.program.layers.push(layer);
    LayerId(cx.program.layers.len() as u32 - 1)
}

/// Reads an argument that is a layer: `Checksum16`, `InetChecksum(true)`, `A / B`.
fn layer_given(cx: &mut Context, value: &ast::Expr, higher: &Higher, wanted: Wanted, scene: Scene) -> Option<Use> {
    let part = layer_expr(cx, value, higher, wanted, scene)?;
    fitting::fits(cx, &part, wanted, &higher.name).then_some(part)
}

fn layer_expr(cx: &mut Context, value: &ast::Expr, higher: &Higher, wanted: Wanted, scene: Scene) -> Option<Use> {
    let value = tree::unparen(value);
    let span = value.span(scene.file);
    match &value {
        ast::Expr::Name(_) | ast::Expr::Field(_) => {
            let Some(name) = cx.item_name(scene.file, &value) else {
                no_layer(cx, higher, wanted, span);
                return None;
            };
            apply(cx, &Applied { name, args: Vec::new(), span }, scene)
        }
        ast::Expr::Call(call) => {
            let name = call.callee().and_then(|callee| cx.item_name(scene.file, &callee))?;
            apply(cx, &Applied { name, args: call.args(), span }, scene)
        }
        ast::Expr::Binary(binary) if binary.op() == Some(ast::BinaryOp::Div) => {
            let upper = layer_expr(cx, &binary.left()?, higher, wanted, scene)?;
            let lower = layer_expr(cx, &binary.right()?, higher, wanted, scene)?;
            Some(join(cx, vec![upper, lower]))
        }
        _ => {
            no_layer(cx, higher, wanted, span);
            None
        }
    }
}

fn no_layer(cx: &mut Context, higher: &Higher, wanted: Wanted, span: Span) {
    let what = fitting::show_wanted(cx, wanted);
    let text = format!("{what} is wanted for `{}`, and this is a value", higher.name.text);
    let help = format!("name a layer: `{}: …`; perhaps the arguments stand in another order", higher.name.text);
    cx.error(codes::HIGHER_ARGUMENT, text, span, "no layer", &help);
}

/// Several parts as an unnamed bundle.
fn join(cx: &mut Context, parts: Vec<Use>) -> Use {
    if let [only] = parts.as_slice() {
        return only.clone();
    }
    let span = parts.first().map_or(Span::new(FileId(0), 0, 0), |part| part.span);
    let mut params = Vec::new();
    let mut args = Vec::new();
    let mut inner = Vec::new();
    for part in parts {
        inner.push(lift(&part, args.len(), &mut params));
        args.extend(part.args);
    }
    let name = Name { text: "_".into(), span };
    cx.program.bundles.push(Bundle { name, docs: String::new(), params, parts: inner, wire: None, compressed: false });
    Use { of: Definition::Bundle(BundleId(cx.program.bundles.len() as u32 - 1)), args, span }
}

/// The bundle that a definition becomes for these arguments; `extra` are the arguments of the layers among them.
fn made_for(cx: &mut Context, id: BundleId, given: &Given, extra: Vec<Param>, at: Span) -> Option<BundleId> {
    if cx.higher.making.contains(&id) {
        let text = "a bundle that is applied within itself has no end";
        cx.error(codes::CIRCLE, text, at, "leads back", "take it out of one of them");
        return None;
    }
    if cx.higher.making.len() >= limits::BUNDLE_DEPTH as usize {
        let name = cx.program.bundles[id.index()].name.clone();
        let what = format!("is of bundles within bundles, more than {} deep", limits::BUNDLE_DEPTH);
        too_many(cx, &name, &what, at, "name the layers in fewer bundles");
        return None;
    }
    cx.higher.making.push(id);
    cx.higher.places.push(at);
    let trees = cx.trees.clone();
    let (file, item) = &trees.bundles[id.index()];
    let pattern = &cx.program.bundles[id.index()];
    let (name, docs) = (pattern.name.clone(), pattern.docs.clone());
    let params = [pattern.params.clone(), extra].concat();
    let scene = Scene { file: *file, params: &params, devices: &[], given };
    let parts: Option<Vec<Use>> = item.layers().iter().map(|part| part_of(cx, part, scene)).collect();
    let wire = tree::some_name(*file, item.wire()).and_then(|name| wire(cx, *file, &name));
    cx.higher.making.pop();
    cx.higher.places.pop();
    let parts = parts?;
    if layers_of(cx, &parts, limits::LAYERS) > limits::LAYERS {
        let what = format!("has more than {} layers", limits::LAYERS);
        too_many(
            cx,
            &name,
            &what,
            at,
            "a bundle that is applied to itself doubles with each step: leave some of them out",
        );
        return None;
    }
    cx.program.bundles.push(Bundle { name, docs, params, parts, wire, compressed: item.is_compressed() });
    Some(BundleId(cx.program.bundles.len() as u32 - 1))
}

/// The number of layers of some parts; `most` plus one if there are more.
fn layers_of(cx: &Context, parts: &[Use], most: u64) -> u64 {
    let mut all = 0;
    for part in parts {
        all += match part.of {
            Definition::Layer(_) => 1,
            Definition::Bundle(id) => layers_of(cx, &cx.program.bundles[id.index()].parts, most - all).max(1),
        };
        if all > most {
            return most + 1;
        }
    }
    all
}

/// Reports once that it is too large; its users are then not reported.
fn too_many(cx: &mut Context, name: &Name, what: &str, at: Span, help: &str) {
    if std::mem::replace(&mut cx.higher.too_large, true) {
        return;
    }
    let text = format!("`{}` with what it is given here {what}", name.text);
    cx.error(codes::TOO_MANY_LAYERS, text, at, "too large", help);
}

/// The wire of this name; reports if there is none.
pub(super) fn wire(cx: &mut Context, file: FileId, name: &Name) -> Option<WireId> {
    match cx.item_at(file, name) {
        Some(Item::Wire(id)) => Some(id),
        _ => {
            cx.unknown(codes::UNKNOWN_ITEM, "a wire", name, file, |item| matches!(item, Item::Wire(_)));
            None
        }
    }
}
