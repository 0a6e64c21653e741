//! Outputs of a network's hosts, and what they trigger: `expect`, `when`, and the inputs of both.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use super::named::{host_of, Bound};
use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::resolve::test::steps::{self, Handles};
use crate::{codes, tree};

/// `expect b.app.deliver(_, "hello")  20 times until 2 s`
pub(super) fn expectation(
    cx: &mut Context,
    file: FileId,
    item: &ast::Expectation,
    of: (&Network, &[String]),
    bound: &mut Bound,
) -> Option<Expectation> {
    let output = output(cx, file, &item.output()?, of, bound)?;
    let count = item.times().map(|times| fixed::number(cx, file, &times, Type::UInt(64)).unwrap_or(0));
    let times = match (item.is_nothing(), count) {
        (true, Some(_)) => {
            let text = "`nothing` comes no times";
            cx.error(codes::MISMATCH, text, item.span(file), "both", "leave out the number or `nothing at`");
            Times::Exactly(0)
        }
        (true, None) => Times::Exactly(0),
        (false, Some(count)) => Times::Exactly(count),
        (false, None) => Times::Some,
    };
    let until = match item.until() {
        Some(until) => fixed::number(cx, file, &until, Type::Duration)?,
        None => of.0.until,
    };
    Some(Expectation { output, times, until, span: item.span(file) })
}

/// `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, "x")`
pub(super) fn when(
    cx: &mut Context,
    file: FileId,
    item: &ast::WhenStep,
    of: (&Network, &[String]),
    bound: &mut Bound,
) -> Option<When> {
    let output = output(cx, file, &item.output()?, of, bound)?;
    let delay = match item.after() {
        Some(delay) => fixed::number(cx, file, &delay, Type::Duration)?,
        None => 0,
    };
    // The input, even that of another host, may use the names that this output binds.
    let names = bound.entry(output.host).or_default().clone();
    let (host, step) = input(cx, file, &item.call()?, of, &mut |_| names.clone())?;
    Some(When { output, delay, host, step })
}

/// `a.app.opened(1, ?s)`, or `a.app.opened` with any arguments.
fn output(
    cx: &mut Context,
    file: FileId,
    expr: &Tree,
    of: (&Network, &[String]),
    bound: &mut Bound,
) -> Option<HostOutput> {
    let span = expr.span(file);
    let (host, port, event) = match expr {
        Tree::Call(call) => place(cx, file, call.callee()?, expr, of)?,
        other => place(cx, file, other.clone(), expr, of)?,
    };
    let args = match expr {
        Tree::Call(call) => steps::arguments(cx, file, call, bound.entry(host).or_default()),
        _ => Args { given: Vec::new(), rest: true },
    };
    Some(HostOutput { host, port, event, args, span })
}

/// `a.app.send(s, "x")`: the host and the step; `names` are those that it may use.
pub(super) fn input(
    cx: &mut Context,
    file: FileId,
    expr: &Tree,
    of: (&Network, &[String]),
    names: &mut dyn FnMut(u32) -> Handles,
) -> Option<(u32, Step)> {
    let span = expr.span(file);
    let Tree::Call(call) = expr else {
        cx.error(codes::UNKNOWN_PORT, "a step is a call", span, "no call", "write `a.port.event(…)`");
        return None;
    };
    let (host, port, event) = place(cx, file, call.callee()?, expr, of)?;
    let mut names = names(host);
    for name in numbered(call) {
        names.entry(name).or_default();
    }
    let args = steps::arguments(cx, file, call, &mut names);
    Some((host, Step { kind: StepKind::Input { port, event, args }, span }))
}

/// `s1`, `s2`, … in a call: sessions by their number need not be bound.
fn numbered(call: &ast::CallExpr) -> Vec<String> {
    let words = call.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
    let is_number = |word: &str| word.strip_prefix('s').is_some_and(|number| number.parse::<u32>().is_ok());
    words.map(|word| word.text().to_string()).filter(|word| is_number(word)).collect()
}

/// The host, the port and the event that `a.port.event` names.
fn place(
    cx: &mut Context,
    file: FileId,
    callee: Tree,
    whole: &Tree,
    (network, broken): (&Network, &[String]),
) -> Option<(u32, Name, Name)> {
    let parts = match &callee {
        Tree::Field(field) => tree::some_name(file, field.name())
            .and_then(|event| Some((event, field.base().and_then(|base| tree::name_field(file, &base))?))),
        _ => None,
    };
    let Some((event, (host, port))) = parts else {
        let text = "a step names a host, its port and an event";
        cx.error(codes::UNKNOWN_PORT, text, whole.span(file), "too short", "write `a.port.event(…)`");
        return None;
    };
    let host = host_of(cx, network, broken, &host)?;
    steps::known_port(cx, network.hosts[host].stack, &port);
    Some((host as u32, port, event))
}
