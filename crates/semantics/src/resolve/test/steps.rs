//! Inputs and outputs of steps: ports, events, values, handles.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{repeated, Context, Item};
use crate::resolve::expr;
use crate::resolve::expr::{fixed, written};
use crate::resolve::test::packets;
use crate::{codes, lost, suggest, tree};

/// The names that outputs have bound, and the first place of each; none for `s1`, which needs none.
pub(super) type Handles = BTreeMap<String, Option<Span>>;

/// Resolves `port.event(args)` of a stack.
pub(super) fn call(
    cx: &mut Context,
    file: FileId,
    stack: Option<StackId>,
    expr: &Tree,
    handles: &mut Handles,
) -> Option<(Name, Name, Args)> {
    let Tree::Call(call) = expr else {
        cx.error(codes::UNKNOWN_PORT, "a step is a call", expr.span(file), "no call", "write `port.event(…)`");
        return None;
    };
    let (port, event) = match call.callee().and_then(|callee| tree::name_field(file, &callee)) {
        Some(found) => found,
        None => {
            cx.error(
                codes::UNKNOWN_PORT,
                "a step names a port and its event",
                expr.span(file),
                "no port",
                "write `port.event(…)`",
            );
            return None;
        }
    };
    if let Some(stack) = stack {
        known_port(cx, stack, &port);
    }
    Some((port, event, arguments(cx, file, call, handles)))
}

/// The arguments of a call with their names; reports repeated names, and unnamed arguments after named ones.
pub(super) fn arguments(cx: &mut Context, file: FileId, call: &ast::CallExpr, handles: &mut Handles) -> Args {
    bound_once(cx, file, call);
    let mut given: Vec<Given> = Vec::new();
    for arg in call.args() {
        let Some(value) = arg.value() else { continue };
        let name = arg.name().map(|name| tree::path(file, &name));
        let before = given.iter().find(|before| before.name.is_some());
        match &name {
            None if before.is_some() => {
                let text = "an argument without a name stands behind one with a name";
                let help = "name it, or put it in front";
                cx.error(codes::WRONG_COUNT, text, arg.span(file), "which one is it?", help);
            }
            Some(name) if given.iter().flat_map(|before| &before.name).any(|before| before.text == name.text) => {
                let text = format!("`{}` is given twice", name.text);
                cx.error(codes::DEFINED_TWICE, text, name.span, "again here", "leave one of them out");
            }
            _ => given.push(Given { name, values: args(cx, file, &value, handles), span: arg.span(file) }),
        }
    }
    Args { given, rest: call.rest().is_some() }
}

/// Reports a name that one output binds twice, as it would be ambiguous.
fn bound_once(cx: &mut Context, file: FileId, call: &ast::CallExpr) {
    let bound = binds(file, call.syntax());
    for (name, first) in repeated(&bound) {
        bound_again(cx, name, first, "this output");
    }
}

/// The same for the outputs of one list; `list` has the names of the outputs before.
pub(super) fn bound_once_in_list(cx: &mut Context, file: FileId, outputs: &[Tree], list: &mut Vec<Name>) {
    for output in outputs {
        let bound = binds(file, output.syntax());
        for name in &bound {
            if let Some(first) = list.iter().find(|first| first.text == name.text) {
                bound_again(cx, name, first, "another output of this list");
            }
        }
        list.extend(bound);
    }
}

/// The names that `?name` binds within a tree.
fn binds(file: FileId, within: &mokume_syntax::SyntaxNode) -> Vec<Name> {
    let binds = within.descendants().filter_map(ast::BindExpr::cast);
    binds.filter_map(|bind| Some(Name { text: bind.name()?.text(), span: bind.span(file) })).collect()
}

fn bound_again(cx: &mut Context, name: &Name, first: &Name, who: &str) {
    let text = format!("`?{}` binds a name that {who} has bound already", name.text);
    let help = "give it another name; to compare the two, name the first in a later output, without `?`";
    let diagnostic = Diagnostic::error(codes::DEFINED_TWICE, text).at(name.span, "again here");
    cx.report(diagnostic.label(first.span, "first here").help(help));
}

/// Reports a port that the stack does not have.
pub(super) fn known_port(cx: &mut Context, stack: StackId, port: &Name) {
    let stack = &cx.program.stacks[stack.index()];
    let ports: Vec<&str> = stack.devices.iter().chain(&stack.exports).map(|name| name.text.as_str()).collect();
    let named = stack.devices.iter().chain(stack.instances.iter().map(|instance| &instance.name));
    named.filter(|known| known.text == port.text).for_each(|known| cx.mention(port, known.span));
    if ports.contains(&port.text.as_str()) || stack.lost.contains(&port.text) {
        return;
    }
    // `export pap`: this may be the port that was meant.
    if !stack.lost.is_empty() && stack.instances.iter().any(|instance| instance.name.text == port.text) {
        return;
    }
    let text = format!("stack `{}` has no port `{}`", stack.name.text, port.text);
    let thing = lost::named(stack, &port.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PORT, text).at(port.span, "unknown").lacks(thing);
    diagnostic.helps.extend(suggest::help(&port.text, ports));
    if let Some(at) = stack.instances.iter().position(|instance| instance.name.text == port.text) {
        let on_it = |other: &&Instance| other.unders.iter().any(|under| under.over == Over::Instance(at as u32));
        let carries_more = cx.program.layers_of(&stack.instances[at].of).first().is_some_and(|top| {
            top.shape == Shape::Multiplexor || top.shape == Shape::Worker && top.members(ScopeKind::Session).is_some()
        });
        let is_end =
            cx.program.layers_of(&stack.instances[at].of).first().is_some_and(|top| top.shape == Shape::Endpoint);
        diagnostic = match stack.instances.iter().find(on_it) {
            None if is_end => {
                let text = "an endpoint has no port: what it does is seen at the devices, and in its counters, which a `test` expects";
                diagnostic.label(stack.instances[at].name.span, "an endpoint").help(text)
            }
            Some(other) if !carries_more => {
                let label = format!("`{}` stands on it, and it carries one", other.name.text);
                diagnostic.label(other.name.span, label)
            }
            _ => diagnostic.help(format!("export it: `export {}`", port.text)),
        };
    }
    cx.report(diagnostic);
}

/// A value of a test; a record has several words.
pub(super) fn args(cx: &mut Context, file: FileId, value: &Tree, handles: &mut Handles) -> Vec<Arg> {
    if let Some(words) = in_notation(cx, file, value) {
        return words.into_iter().map(Arg::Word).collect();
    }
    if let Some(sum) = packets::sum(cx, file, value, handles) {
        return vec![sum];
    }
    if let Some(packet) = packets::read(cx, file, value, handles) {
        return vec![Arg::Packet(packet)];
    }
    match value {
        Tree::Octets(octets) => vec![Arg::Octets(octets.octets())],
        Tree::Hole(_) => vec![Arg::Any],
        Tree::Bind(bind) => match bind.name() {
            Some(name) => {
                // A name that is bound again is the same name.
                let name = Name { text: name.text(), span: name.span(file) };
                let first = handles.entry(name.text.clone()).or_default().get_or_insert(name.span);
                cx.mention(&name, *first);
                vec![Arg::Bind(name.text)]
            }
            None => Vec::new(),
        },
        Tree::Name(name) if handles.contains_key(&name.text()) => {
            let name = named(file, name);
            mention(cx, handles, &name);
            vec![Arg::Handle(name)]
        }
        // Reasons can be arguments of outputs, too; they are plain names.
        Tree::Name(name) if !matches!(cx.item(file, &name.text()), Some(Item::Const(_))) => {
            reason_or_handle(cx, file, name, handles)
        }
        _ => {
            let expr = expr::infer(&mut Body::constant(cx, file), value, None);
            let words = fixed::value(cx, &expr).map_or(vec![0], |value| value.words());
            words.into_iter().map(Arg::Word).collect()
        }
    }
}

/// The scalars of a literal in some type's notation.
fn in_notation(cx: &mut Context, file: FileId, value: &Tree) -> Option<Vec<u64>> {
    let Tree::Number(number) = value else { return None };
    match number.value()? {
        ast::NumberValue::Written(text) => Some(written::words(cx, file, &text, number.span(file)).unwrap_or(vec![0])),
        ast::NumberValue::Plain(_) => None,
    }
}

fn reason_or_handle(cx: &mut Context, file: FileId, name: &ast::NameExpr, handles: &Handles) -> Vec<Arg> {
    let text = name.text();
    let span: Span = name.span(file);
    if let Some(near) = suggest::nearest(&text, handles.keys().map(String::as_str)) {
        let help = format!("did you mean `{near}`?");
        cx.error(codes::UNKNOWN_HANDLE, format!("no output before this has bound `{text}`"), span, "unknown", &help);
    }
    vec![Arg::Handle(named(file, name))]
}

/// Notes the place where a name was bound.
pub(super) fn mention(cx: &Context, handles: &Handles, name: &Name) {
    if let Some(Some(first)) = handles.get(&name.text) {
        cx.mention(name, *first);
    }
}

fn named(file: FileId, name: &ast::NameExpr) -> Name {
    Name { text: name.text(), span: name.span(file) }
}
