//! `test` blocks to scripts.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Code, Diagnostic, SourceMap, Span};
use mokume_reaction::{Automaton, CellKind, OpKind, PortId, Report, Type};
use mokume_script::{Action, Arg, Count, Counted, Expect, ExpectedOutput, Script, Step};
use mokume_semantics::program as s;

use crate::arguments::{self, LeftOut};
use crate::protocols::Protocols;
use crate::unbound;

/// The values of a stack's parameters by the automaton's names: an `address` of two scalars becomes `address.address`,
/// `address.prefix`.
pub fn settings(automaton: &Automaton, given: &[(s::Name, Vec<u64>)]) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for (name, values) in given {
        let behind = format!("{}.", name.text);
        let exact = automaton.params.iter().filter(|param| param.name == name.text);
        let within = automaton.params.iter().filter(|param| param.name.starts_with(&behind));
        // `device.mac` is a separate parameter; a device itself has no value.
        let named: Vec<&str> = exact.chain(within).map(|param| param.name.as_str()).collect();
        all.extend(named.into_iter().zip(values).map(|(name, value)| (name.to_owned(), *value)));
    }
    all
}

/// A `test` block as a script for its stack.
pub fn test_script(
    program: &s::Program,
    (automaton, protocols): (&Automaton, &Protocols),
    sources: &SourceMap,
    test: &s::Test,
) -> (Option<Script>, Vec<Diagnostic>) {
    let mut scripting = Scripting::new(program, (automaton, protocols), Vec::new());
    let line = |span: Span| sources.line_column(span.file, span.start).0;
    let params = settings(automaton, &test.settings);
    let (name, line_of_test) = (test.name.clone(), line(test.span));
    let mut script = Script { name, params, line: line_of_test, counts_reports: true, ..Script::default() };
    let mut settled = None;
    for step in &test.steps {
        let at = line(step.span);
        match &step.kind {
            s::StepKind::Input { port, event, args } => {
                let before = scripting.diagnostics.len();
                if let Some(args) = scripting.input_args(port, event, args) {
                    let action = Action::Input { port: port.text.clone(), event: event.text.clone(), args };
                    script.steps.push(Step { action, expect: Expect::default(), line: at });
                } else if scripting.is_given_more(port, event, args) {
                    let help =
                        program.stacks.get(test.stack.index()).and_then(|stack| with_attributes(program, stack, port));
                    scripting.diagnostics[before..].iter_mut().for_each(|found| found.helps.extend(help.clone()));
                }
            }
            s::StepKind::After { nanoseconds } => {
                script.steps.push(Step { action: Action::After(*nanoseconds), expect: Expect::default(), line: at });
            }
            expected => {
                if let s::StepKind::Expect { within, .. } = expected {
                    let wait =
                        |within: &u64| Step { action: Action::Within(*within), expect: Expect::default(), line: at };
                    script.steps.extend(within.as_ref().map(wait));
                    // `=>` covers everything since the one before (docs/language.md, section 11).
                    let last = script.steps.len().saturating_sub(1);
                    script.start.later |= settled.is_none() && !script.steps.is_empty();
                    let since = settled.unwrap_or(0).min(last);
                    script.steps[since..last.max(since)].iter_mut().for_each(|step| step.expect.later = true);
                    settled = Some(script.steps.len());
                }
                let expect = script.steps.last_mut().map_or(&mut script.start, |step| &mut step.expect);
                scripting.expectation(expect, expected, step.span);
            }
        }
    }
    let with = |found: Diagnostic| match test.run_with.first() {
        Some(name) => found.label(name.span, s::OF_RUN),
        None => found,
    };
    let diagnostics: Vec<Diagnostic> = scripting.diagnostics.into_iter().map(with).collect();
    (diagnostics.is_empty().then_some(script), diagnostics)
}

/// How to export a port with attributes that it lacks and that layers of its stack read.
fn with_attributes(program: &s::Program, stack: &s::Stack, port: &s::Name) -> Option<String> {
    let told = stack.extras.iter().filter(|extras| extras.export.text == port.text);
    let told: Vec<usize> = told.flat_map(|extras| &extras.attributes).map(|(_, id)| id.index()).collect();
    let layers = stack.instances.iter().flat_map(|instance| program.layers_of(&instance.of));
    let mut read: Vec<usize> = layers.flat_map(|layer| &layer.reads).map(|id| id.index()).collect();
    read.retain(|id| !told.contains(id));
    read.sort_unstable();
    read.dedup();
    let names: Vec<&str> =
        read.into_iter().filter_map(|id| Some(program.attributes.get(id)?.name.text.as_str())).collect();
    let (port, list) = (&port.text, names.join(", "));
    (!names.is_empty())
        .then(|| format!("an attribute is given with the message where the stack says so: `export {port} with {list}`"))
}

/// An event of the port with a similar name, or else the list of all.
fn there_is(port: &s::Name, event: &s::Name, known: &[String]) -> String {
    let before = format!("{}.", port.text);
    let own: Vec<&str> = known.iter().filter_map(|known| known.strip_prefix(&before)).collect();
    // The names for sessions and for flow traffic differ by their endings.
    let with_flow = own
        .iter()
        .find(|known| known.strip_prefix(event.text.as_str()).is_some_and(|end| matches!(end, "_to" | "_from")));
    if let Some(known) = with_flow {
        return format!("write `{}.{known}(…)`: this port has no sessions, and each message says its flow", port.text);
    }
    let of_session = event.text.strip_suffix("_to").or(event.text.strip_suffix("_from"));
    if let Some(known) = of_session.filter(|known| own.contains(known)) {
        return format!(
            "write `{}.{known}(s, …)`: this port has sessions; `=> {}.opened(1, ?s)` or `accepted` names one",
            port.text, port.text
        );
    }
    match mokume_base::did_you_mean(&event.text, own) {
        Some(near) => format!("did you mean `{}.{near}`?", port.text),
        None => format!("it has {}", known.join(", ")),
    }
}

pub(crate) struct Scripting<'a> {
    pub program: &'a s::Program,
    pub automaton: &'a Automaton,
    pub protocols: &'a Protocols,
    pub bound: Vec<String>,
    /// The types of those names that are known.
    pub types: BTreeMap<String, Type>,
    pub diagnostics: Vec<Diagnostic>,
    /// How messages end for each reason, computed on first use.
    ends: Option<Ends>,
    /// Whether these are steps of a network, not of a test.
    pub in_network: bool,
}

/// How a name of a network is bound.
pub(crate) const BINDS_IN_NETWORKS: &str =
    "`when a.app.opened(_, ?s, ..)` and `expect` bind one; `s1`, `s2` … are those that the outputs of \
                                            the host have shown, in that order";

/// The reasons with which operations drop and consume.
#[derive(Default)]
struct Ends {
    dropped: BTreeSet<usize>,
    consumed: BTreeSet<usize>,
    /// Whether something is dropped for a reason that is a value.
    dropped_for_any: bool,
}

impl Ends {
    fn of(automaton: &Automaton) -> Ends {
        let mut ends = Ends::default();
        for op in automaton.bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.ops) {
            match &op.kind {
                OpKind::Drop { reason, .. } => drop(ends.dropped.insert(reason.index())),
                OpKind::Consume { reason, .. } => drop(ends.consumed.insert(reason.index())),
                OpKind::DropFor { .. } => ends.dropped_for_any = true,
                _ => {}
            }
        }
        ends
    }
}

impl<'a> Scripting<'a> {
    /// A translator of steps; `bound` are the names that are bound already.
    pub fn new(
        program: &'a s::Program,
        (automaton, protocols): (&'a Automaton, &'a Protocols),
        bound: Vec<String>,
    ) -> Scripting<'a> {
        let (types, diagnostics) = (BTreeMap::new(), Vec::new());
        Scripting { program, automaton, protocols, bound, types, diagnostics, ends: None, in_network: false }
    }
}

impl Scripting<'_> {
    /// The port and the number of an input; `None` if the stack does not have it.
    pub fn find_input(&self, port: &s::Name, event: &s::Name) -> Option<(PortId, u32)> {
        let at = self.automaton.ports.iter().position(|known| known.name == port.text)?;
        let input = self.automaton.ports[at].inputs.iter().position(|input| input.event == event.text)?;
        Some((PortId::from(at), input as u32))
    }

    /// Whether a step of a test names an output, as if its `=>` were missing.
    fn is_output(&self, port: &s::Name, event: &s::Name) -> bool {
        let mut ports = self.automaton.ports.iter().filter(|known| known.name == port.text);
        !self.in_network && ports.any(|port| port.outputs.iter().any(|output| output.event == event.text))
    }

    /// The arguments of an input; reports an unknown input or unfitting arguments, and returns `None`.
    pub fn input_args(&mut self, port: &s::Name, event: &s::Name, args: &s::Args) -> Option<Vec<Arg>> {
        let Some((at, input)) = self.find_input(port, event) else {
            let known: Vec<String> = self
                .automaton
                .ports
                .iter()
                .flat_map(|port| port.inputs.iter().map(move |input| format!("{}.{}", port.name, input.event)))
                .collect();
            let message = format!("the stack has no input `{}.{}`", port.text, event.text);
            let help = match self.is_output(port, event) {
                true => format!("it is an output: write `=> {}.{}(…)`", port.text, event.text),
                false => there_is(port, event, &known),
            };
            self.diagnostics.push(Diagnostic::error(Code("M0729"), message).at(event.span, "no such input").help(help));
            return None;
        };
        let (name, port) = (port, &self.automaton.ports[at.index()]);
        if let Some(pattern) = arguments::left_open(args) {
            let text = format!("what `{}` is given is known: `..` leaves nothing out of it", event.text);
            let help = "leave it out: fields that are not named have their defaults; `..` is for outputs, behind `=>`";
            let diagnostic = Diagnostic::error(Code("M0729"), text).at(pattern.name.span, "with `..`").help(help);
            self.diagnostics.push(diagnostic);
            return None;
        }
        let input = &port.inputs[input as usize];
        let (flow, defaults) = (arguments::flow_parts(port), input.defaults.clone());
        let args = self.args(&input.params, args, (name, event), &LeftOut::Of { flow, defaults })?;
        if args.iter().any(arguments::is_open) {
            let text = format!("what `{}` is given must have values", event.text);
            let help = "`?name` and `_` are for outputs, behind `=>`";
            self.diagnostics.push(Diagnostic::error(Code("M0729"), text).at(event.span, "not known").help(help));
            return None;
        }
        Some(args)
    }

    /// Whether a step passes more with a message than its event takes.
    fn is_given_more(&self, port: &s::Name, event: &s::Name, args: &s::Args) -> bool {
        let takes = self.find_input(port, event).and_then(|(at, input)| {
            Some(self.automaton.ports.get(at.index())?.inputs.get(input as usize)?.params.len())
        });
        matches!(event.text.as_str(), "send" | "send_to") && takes.is_some_and(|takes| args.given.len() > takes)
    }

    /// The arguments for these parameters; reports those that do not fit. `None` if their number is wrong.
    pub fn args(
        &mut self,
        params: &[(String, Type)],
        args: &s::Args,
        (port, event): (&s::Name, &s::Name),
        left_out: &LeftOut,
    ) -> Option<Vec<Arg>> {
        match arguments::fitted(params, args, event, left_out) {
            Ok(fitted) => {
                let misfits = params.iter().zip(&fitted).enumerate();
                let of = |(at, (param, arg))| {
                    let place = arguments::place_of(params, args, at).unwrap_or(event.span);
                    arguments::misfit(self.automaton, param, arg, (event, place), &self.types)
                };
                let found: Vec<Diagnostic> = misfits.filter_map(of).collect();
                self.diagnostics.extend(found);
                Some(params.iter().zip(&fitted).map(|((_, ty), arg)| self.arg(*ty, arg)).collect())
            }
            Err(diagnostic) => {
                let stack = (self.program, self.automaton);
                let found = unbound::told(*diagnostic, stack, port, params, args);
                self.diagnostics.push(match self.with_flow(port, event, args) {
                    Some(help) => found.help(help),
                    None => found,
                });
                None
            }
        }
    }

    /// `send_to` for a `send` with the arguments of that one.
    fn with_flow(&self, port: &s::Name, event: &s::Name, args: &s::Args) -> Option<String> {
        let given = args.given.iter().map(|given| given.values.len()).sum::<usize>();
        let known = self.automaton.ports.iter().find(|known| known.name == port.text)?;
        let inputs = known.inputs.iter().map(|input| (&input.event, input.params.len()));
        let outputs = known.outputs.iter().map(|output| (&output.event, output.params.len()));
        let fits = |(name, takes): &(&String, usize)| {
            let ends = name.strip_prefix(event.text.as_str());
            *takes == given && ends.is_some_and(|end| matches!(end, "_to" | "_from"))
        };
        let (name, takes) = inputs.chain(outputs).find(fits)?;
        Some(format!("`{}.{name}` has {takes}: with it each message says its flow", port.text))
    }

    /// An argument of a type.
    pub fn arg(&mut self, ty: Type, arg: &s::Arg) -> Arg {
        match arg {
            s::Arg::Word(value) => Arg::Word(*value),
            s::Arg::Octets(octets) => Arg::Octets(octets.clone()),
            s::Arg::Any => Arg::Any,
            s::Arg::Bind(name) => {
                self.bound.push(name.clone());
                self.types.insert(name.clone(), ty);
                Arg::Bind(name.clone())
            }
            s::Arg::Sum { handle, plus } => Arg::Sum { name: handle.clone(), plus: *plus },
            s::Arg::Packet(packet) => Arg::Packet(Box::new(self.packet(packet))),
            s::Arg::Handle(name) if self.bound.contains(&name.text) => Arg::Name(name.text.clone()),
            s::Arg::Handle(name) => self.constant(ty, name),
        }
    }

    /// A reason or the name of an enum's value; any other name would have been bound before.
    fn constant(&mut self, ty: Type, name: &s::Name) -> Arg {
        match ty {
            Type::Reason => match self.reasons(&name.text).as_slice() {
                [one] => return Arg::Word(*one as u64),
                [] => self.no_reason(&name.text, name.span),
                several => return Arg::OneOf(several.iter().map(|at| *at as u64).collect()),
            },
            Type::Enum(id) => {
                let plain = name.text.rsplit('.').next().unwrap_or(&name.text);
                let names = &self.automaton.enums[id.index()].names;
                if let Some((_, value)) = names.iter().find(|(known, _)| known == plain) {
                    return Arg::Word(*value);
                }
                let all: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
                let help = format!("it is one of {}", all.join(", "));
                self.unknown(name, "no such value", &help);
            }
            _ if self.in_network => self.unknown(name, "bound by nobody", BINDS_IN_NETWORKS),
            _ if self.bound.is_empty() => {
                self.unknown(
                    name,
                    "bound by nobody",
                    "an output binds it: `=> app.opened(1, ?s)`; behind that `s` stands for it",
                );
            }
            _ => {
                let help = format!("these are bound: {}", self.bound.join(", "));
                self.unknown(name, "bound by nobody", &help);
            }
        }
        Arg::Name(name.text.clone())
    }

    fn unknown(&mut self, name: &s::Name, label: &str, help: &str) {
        let message = format!("no output before this has bound `{}`", name.text);
        let of_enum = |of: &&s::Enum| of.names.iter().any(|(known, _)| known.text == name.text);
        let meant =
            self.program.enums.iter().find(of_enum).map(|of| format!("did you mean `{}.{}`?", of.name.text, name.text));
        let mut found = Diagnostic::error(mokume_semantics::codes::UNKNOWN_HANDLE, message).at(name.span, label);
        found.helps.extend(meant);
        self.diagnostics.push(found.help(help));
        // Report it once.
        self.bound.push(name.text.clone());
    }

    fn no_reason(&mut self, reason: &str, span: Span) {
        let message = format!("nothing in this stack has the reason `{reason}`");
        let known = self.automaton.reasons.iter().map(|known| known.name.as_str());
        let near = mokume_base::did_you_mean(reason, known.clone().chain(known.filter_map(last_part)));
        let help = near.map_or_else(
            || "a reason is named where a layer drops or consumes: `drop msg: stale`".to_string(),
            |near| format!("did you mean `{near}`?"),
        );
        self.diagnostics.push(Diagnostic::error(Code("M0729"), message).at(span, "here").help(help));
    }

    /// Reasons of this name: those of all layers and wires, or of all that are named in front. Of a wire that stands twice in a stack
    /// the first has no part of the stack in its reasons' names, and both are meant.
    fn reasons(&self, name: &str) -> Vec<usize> {
        let reasons = &self.automaton.reasons;
        let exact = reasons.iter().position(|reason| reason.name == name);
        // A shared reason has no layer in its name; several layers may drop for it.
        let named = |at: &usize| Some(*at) == exact || mokume_script::is_meant(name, &reasons[*at].name);
        (0..reasons.len()).filter(named).collect()
    }

    fn expectation(&mut self, expect: &mut Expect, kind: &s::StepKind, span: Span) {
        match kind {
            s::StepKind::Expect { outputs, within: _ } => {
                for (port, event, args) in outputs {
                    expect.outputs.extend(self.output(port, event, args));
                }
            }
            s::StepKind::Dropped { reason, count } => {
                let what = self.counted(reason, span, Counted::Dropped);
                expect.counts.extend(what.map(|what| Count { what, total: *count }));
            }
            s::StepKind::Consumed { reason, count } => {
                let what = self.counted(reason, span, Counted::Consumed);
                expect.counts.extend(what.map(|what| Count { what, total: *count }));
            }
            s::StepKind::Counter { counter, count } => {
                let what = self.counter(counter);
                expect.counts.extend(what.map(|what| Count { what, total: *count }));
            }
            s::StepKind::Reported { report, count } => match report_of(report) {
                Some(report) => expect.counts.push(Count { what: Counted::Reported(report), total: *count }),
                None => {
                    let help = "a report is one of overflow, division, bounds, misuse, narrow";
                    let message = format!("`{report}` is no report");
                    self.diagnostics.push(Diagnostic::error(Code("M0729"), message).at(span, "here").help(help));
                }
            },
            s::StepKind::Input { .. } | s::StepKind::After { .. } => {}
        }
    }

    /// An expected output; reports an unknown output or unfitting arguments, and returns `None`.
    pub fn output(&mut self, port: &s::Name, event: &s::Name, args: &s::Args) -> Option<ExpectedOutput> {
        let known = self.automaton.ports.iter().find(|known| known.name == port.text);
        let Some(output) = known.and_then(|port| port.outputs.iter().find(|output| output.event == event.text)) else {
            let message = format!("the stack has no output `{}.{}`", port.text, event.text);
            let known = self
                .automaton
                .ports
                .iter()
                .flat_map(|port| port.outputs.iter().map(|output| (&port.name, &output.event)));
            let known: Vec<String> = known.map(|(port, event)| format!("{port}.{event}")).collect();
            let help = there_is(port, event, &known);
            self.diagnostics
                .push(Diagnostic::error(Code("M0729"), message).at(event.span, "no such output").help(help));
            self.bind_all(args);
            return None;
        };
        // Of `opened`, the flow is optional in a test.
        let asked = if event.text == "opened" { output.params.len().min(2) } else { output.params.len() };
        let args = self.args(&output.params, args, (port, event), &LeftOut::Behind(asked))?;
        Some(ExpectedOutput { port: port.text.clone(), event: event.text.clone(), args, at: None })
    }

    /// Binds the names of an output that does not exist, so that their uses are not reported.
    fn bind_all(&mut self, args: &s::Args) {
        let binds = args.given.iter().flat_map(|given| &given.values).filter_map(|arg| match arg {
            s::Arg::Bind(name) => Some(name.clone()),
            _ => None,
        });
        self.bound.extend(binds);
    }

    /// Whether messages end for these reasons, but never in the counted way; then reports.
    fn is_of_the_other_way(&mut self, reasons: &[usize], is_dropped: bool) -> bool {
        let ends = self.ends.get_or_insert_with(|| Ends::of(self.automaton));
        let any = |of: &BTreeSet<usize>| reasons.iter().any(|reason| of.contains(reason));
        match is_dropped {
            true => any(&ends.consumed) && !any(&ends.dropped) && !ends.dropped_for_any,
            false => any(&ends.dropped) && !any(&ends.consumed),
        }
    }

    /// Drops for one reason in several layers are counted together.
    pub fn counted(&mut self, reason: &str, span: Span, of: fn(String) -> Counted) -> Option<Counted> {
        let known = self.reasons(reason);
        // Nothing is dropped for a shared reason itself; a layer may drop for one of the same name.
        let of_layers: Vec<usize> =
            known.iter().copied().filter(|at| self.automaton.reasons[*at].name.contains('.')).collect();
        // Independent of whether it is also a shared reason, and of whether a layer drops for one of this name
        // (docs/semantics.md, F4).
        let gone = matches!(reason, "ended" | "gone");
        let is_dropped = matches!(of(String::new()), Counted::Dropped(_));
        if !gone && self.is_of_the_other_way(&known, is_dropped) {
            let way = if is_dropped { "consumed" } else { "dropped" };
            let message = format!("messages are {way} for `{reason}` in this stack, and in no other way");
            let help = format!("write `{way} {reason} …`");
            self.diagnostics.push(Diagnostic::error(Code("M0729"), message).at(span, "never counts one").help(help));
            return None;
        }
        // What is dropped for a value may be dropped for the shared reason.
        let by_value = is_dropped && self.ends.as_ref().is_some_and(|ends| ends.dropped_for_any);
        match if of_layers.is_empty() || by_value { &known } else { &of_layers }.as_slice() {
            _ if gone && of_layers.is_empty() => Some(Counted::Gone),
            _ if gone && is_dropped => Some(Counted::GoneOr(format!("*.{reason}"))),
            [one] => Some(of(self.automaton.reasons[*one].name.clone())),
            [] => {
                self.no_reason(reason, span);
                None
            }
            _ => Some(of(format!("*.{reason}"))),
        }
    }
}

impl Scripting<'_> {
    /// The counters of this name as one sum: of all layers, or of those whose names are in front.
    pub fn counter(&mut self, name: &s::Name) -> Option<Counted> {
        let classes = self.automaton.classes.iter();
        let counters = classes.flat_map(|class| {
            let counts = class.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Counter));
            counts.map(|cell| format!("{}.{}", class.name, cell.name))
        });
        let all: Vec<String> = counters.collect();
        let plain = name.text.rsplit('.').next().unwrap_or_default();
        let meant: Vec<&String> = all.iter().filter(|known| mokume_script::is_meant(&name.text, known)).collect();
        match meant.as_slice() {
            [one] => Some(Counted::Counter((*one).clone())),
            [] => {
                let message = format!("nothing in this stack counts `{}`", name.text);
                let last = all.iter().filter_map(|known| last_part(known));
                let near = mokume_base::did_you_mean(plain, last);
                let help = near.map_or_else(
                    || "a layer declares what it counts: `counter hits`".to_string(),
                    |near| format!("did you mean `{near}`?"),
                );
                self.diagnostics.push(Diagnostic::error(Code("M0729"), message).at(name.span, "here").help(help));
                None
            }
            _ => Some(Counted::Counter(format!("*.{}", name.text))),
        }
    }
}

/// `stale` of `ports.stale`.
fn last_part(name: &str) -> Option<&str> {
    name.rsplit('.').next()
}

fn report_of(name: &str) -> Option<Report> {
    // A former name of the report is still accepted.
    Report::named(if name == "division_by_zero" { "division" } else { name })
}
