//! One stack as C: assembles the file from all other parts.

use std::borrow::Cow;
use std::fmt;

use mokume_reaction::*;

use crate::doors::memory::{self, Needed};
use crate::doors::{header, inputs, life, outputs};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::state::{index, objects, records};
use crate::text::Text;
use crate::types::{c_type, declare};
use crate::{kept, memos, program, wires};

/// How to write a stack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The prefix of every public name; the automaton's own name if it is empty.
    pub prefix: String,
    /// The prefix of functions in C; [`functions_of`] the stack if it is empty.
    pub functions: String,
    /// Whether to count how often each branch of a handler is taken.
    pub coverage: bool,
    /// Whether each input also has a function that returns its last output.
    pub returned: bool,
    /// Whether each input with parameters also has a function that takes several calls.
    pub batched: bool,
    /// Comment lines at the top of the header, about how it was made.
    pub notes: Vec<String>,
    /// A planted fault. For tests of tests only.
    pub planted: Option<Fault>,
}

/// A stack in C. The source includes the header by `stem` and `.h`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The prefix of the public names, and of the two files.
    pub stem: String,
    pub header: String,
    pub source: String,
    /// By coverage counter: the handler, the block and the target.
    pub branches: Vec<(Unit, usize, usize)>,
}

/// Why there is no C for an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// A wire with too many combinations of choices that cannot meet again: its straight-line code would be useless.
    TooManyWays { wire: String },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::TooManyWays { wire } => {
                write!(
                    f,
                    "wire `{wire}`: too many ways lead through its choices: they meet again where all arms of a choice end on an octet, \
                     and no later one chooses the variant of the same header"
                )
            }
        }
    }
}

impl std::error::Error for EmitError {}

/// Translates the automaton, which must have been verified, to C.
pub fn emit(automaton: &Automaton, options: &Options) -> Result<Generated, EmitError> {
    for wire in &automaton.wires {
        if wires::is_too_long(wire) {
            return Err(EmitError::TooManyWays { wire: wire.name.clone() });
        }
    }
    // Branches are counted where the automaton has them: nothing is inlined.
    let automaton = match options.coverage {
        true => Cow::Borrowed(automaton),
        false => crate::plan::shared(automaton),
    };
    let automaton = &*automaton;
    let prefix = if options.prefix.is_empty() { &automaton.name } else { &options.prefix };
    let mut plan = Plan::new(automaton, prefix, options.coverage);
    if !options.functions.is_empty() {
        plan.functions = options.functions.clone();
    }
    plan.carries_on = crate::body::carries_on(automaton);
    plan.returned = options.returned;
    plan.batched = options.batched;
    plan.plant(options.planted);
    Ok(Generated {
        stem: plan.names.stack.clone(),
        header: header::write(&plan, &options.notes),
        source: source(&plan),
        branches: plan.branches.clone(),
    })
}

/// The octets of an instance of the automaton, which must have been verified, with the default sizes of its C.
pub fn memory(automaton: &Automaton) -> Needed {
    let automaton = crate::plan::shared(automaton);
    memory::of(&Plan::new(&automaton, &automaton.name, false))
}

fn source(plan: &Plan) -> String {
    let mut text = Text::default();
    text.line(format!("/* The stack {}: generated, do not edit. */", plan.automaton.name.replace("*/", "* /")));
    text.line(format!("#include \"{}.h\"", plan.names.stack));
    text.line("");
    crate::native::declare_all(plan, &mut text);
    records::write(plan, &outputs::told_members(plan), &mut text);
    declarations(plan, &mut text);
    life::sizes(plan, &mut text);
    outputs::functions(plan, &mut text);
    outputs::at_once(plan, &mut text);
    objects::write(plan, &mut text);
    index::write(plan, &mut text);
    for id in (0..plan.automaton.wires.len()).map(WireId::from) {
        wires::write(plan, id, &mut text);
    }
    for index in 0..plan.automaton.functions.len() {
        function(plan, index, &mut text);
    }
    memos::functions(plan, &mut text);
    kept::functions(plan, &mut text);
    for index in 0..plan.automaton.handlers.len() {
        handler(plan, HandlerId::from(index), &mut text);
    }
    for index in 0..plan.automaton.paths.len() {
        path(plan, index.into(), &mut text);
    }
    program::write(plan, &mut text);
    inputs::functions(plan, &mut text);
    life::functions(plan, &mut text);
    text.finish()
}

/// Numbers of handlers and outputs on the agenda, and declarations of functions that call each other.
fn declarations(plan: &Plan, text: &mut Text) {
    text.line("/* What may stand on the agenda. */");
    text.open("enum");
    for (index, name) in plan.names.handlers.iter().enumerate() {
        text.line(format!("HANDLER_{name} = {index},"));
    }
    let mut next = plan.names.handlers.len();
    for name in plan.names.outputs.iter().flatten() {
        text.line(format!("OUTPUT_{name} = {next},"));
        next += 1;
    }
    for linked in &plan.linked {
        text.line(format!("{} = {next},", plan.linked_constant(*linked)));
        next += 1;
    }
    text.line(format!("EVENTS = {next}"));
    text.close(";");
    text.line("");
    for index in 0..plan.automaton.functions.len() {
        text.line(format!("{};", function_head(plan, index, None)));
    }
    for index in 0..plan.automaton.handlers.len() {
        text.line(format!("{};", handler_head(plan, HandlerId::from(index), None)));
    }
    for index in (0..plan.automaton.paths.len()).map(PathId::from) {
        let path = &plan.automaton.paths[index.index()];
        if !plan.automaton.is_at_port(path.handler) && crate::body::is_for_c(path) {
            text.line(format!("{};", inner_head(plan, index, None)));
        }
    }
    text.line("");
}

/// The parameters of a body; a handler of the only object of its class does not get it.
fn parameters(plan: &Plan, body: &Body, skipped: usize, names: Option<&[String]>) -> Vec<String> {
    let mut list = vec![format!("struct {} *k", plan.names.stack)];
    for (place, param) in body.blocks[0].params[skipped..].iter().enumerate() {
        let ty = c_type(plan.automaton, body.values[param.index()].ty);
        list.push(match names {
            Some(names) => declare(ty, &names[place]),
            None => ty.to_string(),
        });
    }
    list
}

fn handler_head(plan: &Plan, id: HandlerId, names: Option<&[String]>) -> String {
    let body = &plan.automaton.handler(id).body;
    let skipped = usize::from(!plan.takes_self(id));
    let list = parameters(plan, body, skipped, names);
    format!("static MK_UNUSED void {}({})", plan.names.handlers[id.index()], list.join(", "))
}

/// The head of a function. One result is returned directly, several through pointers; so are all results of a procedure
/// that returns whether it succeeded.
fn function_head(plan: &Plan, index: usize, names: Option<&[String]>) -> String {
    let function = &plan.automaton.functions[index];
    let mut list = parameters(plan, &function.body, 0, names);
    let mut pointers = |types: &[Type], name: &str| {
        for (place, ty) in types.iter().enumerate() {
            let ty = c_type(plan.automaton, *ty);
            let pointer = if ty.ends_with('*') { format!("{ty}*") } else { format!("{ty} *") };
            list.push(declare(&pointer, &format!("{name}_{place}")));
        }
    };
    let returned = match (&function.role, &function.results[..]) {
        (_, results) if function.may_refuse() => {
            pointers(results, "result");
            pointers(function.refused(), "refused");
            "bool".to_string()
        }
        (_, [result]) => c_type(plan.automaton, *result).to_string(),
        (_, results) => {
            pointers(results, "result");
            "void".to_string()
        }
    };
    declare(&format!("static MK_UNUSED {returned}"), &format!("{}({})", plan.names.functions[index], list.join(", ")))
}

fn function(plan: &Plan, index: usize, text: &mut Text) {
    let function = &plan.automaton.functions[index];
    let written = crate::body::function(plan, index.into());
    text.line(format!("/* {} */", function.name));
    text.function(function_head(plan, index, Some(&written.parameters)));
    text.append(written.body);
    text.end_function();
}

/// A path: all that an input's handler and what follows from it do, in one function. If a guard fails, and nothing is
/// done yet, the layers do it instead. Either way the reaction has ended then. A path that begins inside returns
/// whether it was taken.
fn path(plan: &Plan, id: PathId, text: &mut Text) {
    let path = &plan.automaton.paths[id.index()];
    if !crate::body::is_for_c(path) {
        return;
    }
    let written = crate::body::path(plan, id);
    if !plan.automaton.is_at_port(path.handler) {
        text.line(format!("/* path of {} */", plan.automaton.handler_name(path.handler)));
        text.function(format!("static MK_UNUSED MK_APART bool layers_{}(struct {} *k)", id.index(), plan.names.stack));
        text.line(format!("mk_missed(&k->asked[{}]);", id.index()));
        text.line("return false;");
        text.end_function();
        text.function(inner_head(plan, id, Some(&written.parameters)));
        text.append(written.body);
        return text.end_function();
    }
    let skipped = usize::from(!plan.takes_self(path.handler));
    let mut list = vec![format!("struct {} *k", plan.names.stack)];
    let (mut given, mut arguments) = (vec!["k".to_string()], vec!["k".to_string()]);
    let mut names = written.parameters.iter();
    for param in &path.body.blocks[0].params[skipped..] {
        let ty = path.body.values[param.index()].ty;
        let Some(name) = names.next() else { break };
        given.push(name.clone());
        match (ty, names.as_slice()) {
            (Type::Msg, [size, rest @ ..]) => {
                list.extend([declare("const uint8_t *", name), declare("uint32_t", size)]);
                arguments.push(format!("mk_message_new(&k->core.pool, {name}, {size})"));
                given.push(size.clone());
                names = rest.iter();
            }
            _ => {
                list.push(declare(c_type(plan.automaton, ty), name));
                arguments.push(name.clone());
            }
        }
    }
    let (mut list, mut given) = (list.join(", "), given.join(", "));
    text.line(format!("/* path of {} */", plan.automaton.handler_name(path.handler)));
    text.function(format!("static MK_UNUSED MK_APART bool layers_{}({list})", id.index()));
    text.line(format!("mk_missed(&k->asked[{}]);", id.index()));
    let call = format!("{}({})", plan.names.handlers[path.handler.index()], arguments.join(", "));
    crate::doors::inputs::run_handler(plan, path.handler, &call, text);
    text.end_function();
    let outer = list.clone();
    let within = if plan.returned { format!("{given}, NULL") } else { given.clone() };
    if plan.returned {
        list = format!("{list}, {} MK_UNUSED", crate::body::left_parameter(plan));
        given = format!("{given}, {}", crate::body::LEFT);
    }
    let doors = plan.automaton.ports.iter().flat_map(|port| &port.inputs);
    let is_for_handler = |input: &&PortInput| {
        let handler = plan.automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
        handler == Some(path.handler)
    };
    let is_in_place = doors.filter(is_for_handler).count() == 1;
    let number = id.index();
    // If only one port function calls it, the path is inlined there.
    let how = if is_in_place { "MK_IN_PLACE " } else { "" };
    if !crate::body::has_brisk(plan.automaton, path) {
        text.function(format!("static {how}MK_UNUSED bool path_{number}({list})"));
        text.append(written.body);
        return text.end_function();
    }
    text.line(format!("static bool apart_{number}({outer});"));
    text.line("");
    text.function(format!("static MK_IN_PLACE bool way_{number}({list}, const bool mk_brisk MK_UNUSED)"));
    text.append(written.body);
    text.end_function();
    text.function(format!("static {how}MK_UNUSED bool path_{number}({list})"));
    text.line(format!("return way_{number}({given}, MK_BRISK);"));
    text.end_function();
    text.function(format!("static MK_APART MK_UNUSED bool apart_{number}({outer})"));
    text.line(format!("return way_{number}({within}, false);"));
    text.end_function();
}

/// The head of a path that begins inside; it returns whether it did not refuse.
fn inner_head(plan: &Plan, id: PathId, names: Option<&[String]>) -> String {
    let path = &plan.automaton.paths[id.index()];
    let skipped = usize::from(!plan.takes_self(path.handler));
    let list = parameters(plan, &path.body, skipped, names);
    format!("static MK_UNUSED bool path_{}({})", id.index(), list.join(", "))
}

fn handler(plan: &Plan, id: HandlerId, text: &mut Text) {
    let handler = plan.automaton.handler(id);
    let written = crate::body::handler(plan, id);
    let name = plan.automaton.handler_name(id);
    text.line(match plan.place(handler.source) {
        Some(place) => format!("/* {name}: {place} */"),
        None => format!("/* {name} */"),
    });
    text.function(handler_head(plan, id, Some(&written.parameters)));
    text.append(written.body);
    text.end_function();
}
