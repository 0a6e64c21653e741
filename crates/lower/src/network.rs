//! A network's inputs and outputs: resolves names to ports, events and arguments of the hosts' stacks.

use mokume_base::{Code, Diagnostic, Span};
use mokume_reaction::{Automaton, Type};
use mokume_script::{Arg, Call, Counted};
use mokume_semantics::program as s;

use crate::arguments::LeftOut;
use crate::protocols::Protocols;
use crate::script::{Scripting, BINDS_IN_NETWORKS};

/// Names that an event of a network may use.
#[derive(Clone, Copy)]
pub enum Bound<'a> {
    /// Names bound by outputs of the same host.
    Here(&'a [String]),
    /// Names bound by an output of another host: numbers, but no sessions.
    There(&'a [String]),
}

/// One input of a network: from `at`, or from `when`.
#[allow(clippy::result_large_err)] // A diagnostic is what every crate answers with.
pub fn network_input(
    program: &s::Program,
    stack: (&Automaton, &Protocols),
    step: &s::Step,
    bound: Bound<'_>,
) -> Result<Call, Diagnostic> {
    let s::StepKind::Input { port, event, args } = &step.kind else {
        return Err(Diagnostic::error(Code("M0729"), "only inputs stand in a network").at(step.span, "here"));
    };
    let mut scripting = scripting(program, stack, args, bound);
    let resolved = scripting.input_args(port, event, args);
    if let Some(resolved) = &resolved {
        known(&scripting.bound, resolved, step.span)?;
    }
    match (scripting.find_input(port, event), resolved) {
        (Some((port, event)), Some(args)) if scripting.diagnostics.is_empty() => {
            let params = &stack.0.ports[port.index()].inputs[event as usize].params;
            no_session_of_another(params, &args, bound, step.span)?;
            Ok(Call { port, event, args })
        }
        _ => Err(first(scripting, step.span)),
    }
}

/// One output of a network: from `expect`, or from `when`.
#[allow(clippy::result_large_err)] // A diagnostic is what every crate answers with.
pub fn network_output(
    program: &s::Program,
    stack: (&Automaton, &Protocols),
    output: &s::HostOutput,
    bound: &[String],
) -> Result<Call, Diagnostic> {
    let mut scripting = scripting(program, stack, &output.args, Bound::Here(bound));
    let resolved = scripting.output(&output.port, &output.event, &output.args);
    let found = resolved.filter(|_| scripting.diagnostics.is_empty()).and_then(|resolved| {
        let port = stack.0.ports.iter().position(|known| known.name == resolved.port)?;
        let event = stack.0.ports[port].outputs.iter().position(|known| known.event == resolved.event)?;
        Some(Call { port: port.into(), event: event as u32, args: resolved.args })
    });
    found.ok_or_else(|| first(scripting, output.span))
}

/// What a network's tally counts in one stack.
#[allow(clippy::result_large_err)]
pub fn network_tally(
    program: &s::Program,
    stack: (&Automaton, &Protocols),
    tally: &s::Tally,
) -> Result<Counted, Diagnostic> {
    let mut scripting = Scripting::new(program, stack, Vec::new());
    let counted = match tally.what {
        s::Tallied::Dropped => scripting.counted(&tally.name.text, tally.name.span, Counted::Dropped),
        s::Tallied::Consumed => scripting.counted(&tally.name.text, tally.name.span, Counted::Consumed),
        s::Tallied::Counter => scripting.counter(&tally.name),
    };
    counted.ok_or_else(|| first(scripting, tally.span))
}

/// An input or output of each host whose stack has it; `None` if this stack does not have it.
#[allow(clippy::result_large_err)]
pub fn network_heard(
    program: &s::Program,
    stack: (&Automaton, &Protocols),
    heard: &s::Heard,
    is_input: bool,
) -> Result<Option<Call>, Diagnostic> {
    let Some(at) = stack.0.ports.iter().position(|known| known.name == heard.port.text) else { return Ok(None) };
    let port = &stack.0.ports[at];
    let found = if is_input {
        port.inputs.iter().position(|known| known.event == heard.event.text).map(|at| (at, &port.inputs[at].params))
    } else {
        port.outputs.iter().position(|known| known.event == heard.event.text).map(|at| (at, &port.outputs[at].params))
    };
    let Some((event, params)) = found else { return Ok(None) };
    let mut scripting = scripting(program, stack, &heard.args, Bound::Here(&[]));
    let args = scripting.args(params, &heard.args, (&heard.port, &heard.event), &LeftOut::Behind(params.len()));
    match args.filter(|_| scripting.diagnostics.is_empty()) {
        Some(args) => Ok(Some(Call { port: at.into(), event: event as u32, args })),
        None => Err(first(scripting, heard.span)),
    }
}

/// The report that no stack has the event, with the events that there are.
pub fn network_unheard(
    program: &s::Program,
    stack: (&Automaton, &Protocols),
    heard: &s::Heard,
    is_input: bool,
) -> Diagnostic {
    let mut scripting = scripting(program, stack, &heard.args, Bound::Here(&[]));
    match is_input {
        true => drop(scripting.input_args(&heard.port, &heard.event, &heard.args)),
        false => drop(scripting.output(&heard.port, &heard.event, &heard.args)),
    }
    first(scripting, heard.span)
}

fn scripting<'a>(
    program: &'a s::Program,
    (automaton, protocols): (&'a Automaton, &'a Protocols),
    args: &s::Args,
    bound: Bound<'_>,
) -> Scripting<'a> {
    let (Bound::Here(names) | Bound::There(names)) = bound;
    let mut names = names.to_vec();
    names.extend(args.given.iter().flat_map(|given| &given.values).filter_map(|arg| match arg {
        s::Arg::Handle(name) => Some(name.text.clone()).filter(|name| number_of_session(name).is_some()),
        _ => None,
    }));
    let mut scripting = Scripting::new(program, (automaton, protocols), names);
    scripting.in_network = true;
    scripting
}

/// `s1`, `s2`, …: the number of a session among those in the host's outputs.
pub fn number_of_session(name: &str) -> Option<u32> {
    name.strip_prefix('s')?.parse().ok().filter(|number| *number > 0)
}

#[allow(clippy::result_large_err)]
fn known(bound: &[String], args: &[Arg], span: Span) -> Result<(), Diagnostic> {
    let unknown = args.iter().find_map(|arg| match arg {
        Arg::Name(name) if !bound.contains(name) => Some(name),
        _ => None,
    });
    let Some(name) = unknown else { return Ok(()) };
    let message = format!("a network has no session `{name}`");
    let help = BINDS_IN_NETWORKS;
    let code = mokume_semantics::codes::UNKNOWN_HANDLE;
    Err(Diagnostic::error(code, message).at(span, "bound by nobody").help(help))
}

#[allow(clippy::result_large_err)]
fn no_session_of_another(
    params: &[(String, Type)],
    args: &[Arg],
    bound: Bound<'_>,
    span: Span,
) -> Result<(), Diagnostic> {
    let Bound::There(names) = bound else { return Ok(()) };
    let is_foreign = |((_, ty), arg): (&(String, Type), &Arg)| match arg {
        Arg::Name(name) if names.contains(name) && matches!(ty, Type::Ref(_)) => Some(name.clone()),
        _ => None,
    };
    match params.iter().zip(args).find_map(is_foreign) {
        Some(name) => {
            let message = format!("`{name}` is a session of another host");
            let help = "a `when` on this host's own output binds one of its sessions";
            let code = mokume_semantics::codes::UNKNOWN_HANDLE;
            Err(Diagnostic::error(code, message).at(span, "means nothing here").help(help))
        }
        None => Ok(()),
    }
}

fn first(scripting: Scripting<'_>, span: Span) -> Diagnostic {
    scripting.diagnostics.into_iter().next().unwrap_or_else(|| {
        let message = "an input needs values: `?name` and `_` are for outputs";
        Diagnostic::error(Code("M0729"), message).at(span, "here").help("write the value itself")
    })
}
