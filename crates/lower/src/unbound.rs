//! Steps with too few arguments because of a line of the stack: a layer that stands on keys and names none leaves them to
//! the application, in each of its events.

use mokume_base::{Diagnostic, Thing};
use mokume_reaction::{Automaton, Type};
use mokume_semantics::program as s;

/// A line of a stack without a key, and the fields of that key.
struct Unbound<'a> {
    layer: &'a s::Instance,
    below: &'a s::Name,
    fields: Vec<&'a str>,
}

/// Adds to the report of a wrong number of arguments the line of the stack that explains it.
pub fn told(
    found: Diagnostic,
    (program, automaton): (&s::Program, &Automaton),
    port: &s::Name,
    params: &[(String, Type)],
    args: &s::Args,
) -> Diagnostic {
    let given = args.given.iter().map(|given| given.values.len()).sum::<usize>();
    let explains = |unbound: &Unbound<'_>| {
        let of_key = params.iter().filter(|(name, _)| unbound.fields.contains(&plain(name))).count();
        of_key > 0 && given + of_key == params.len()
    };
    let lines = program.stacks.iter().filter(|stack| stack.name.text == automaton.name);
    let lines = lines.flat_map(|stack| unbound(program, stack, &port.text).into_iter().map(move |line| (stack, line)));
    let Some((stack, Unbound { layer, below, fields })) = lines.into_iter().find(|(_, line)| explains(line)) else {
        return found;
    };
    let keys: Vec<String> = fields.iter().map(|field| format!("{field}: …")).collect();
    let (name, below, keys) = (&layer.name.text, &below.text, keys.join(", "));
    let thing = Thing(format!("key of {name} in {}", stack.name.text));
    found
        .label(layer.place, format!("no key of `{below}` here: whoever uses `{name}` says it each time"))
        .help(format!("or give the key in the stack: `over {below}[{keys}]`"))
        .lacks(thing)
}

/// The lines without a key, from a port down.
fn unbound<'a>(program: &'a s::Program, stack: &'a s::Stack, port: &str) -> Vec<Unbound<'a>> {
    let mut found = Vec::new();
    let mut layer = stack.instances.iter().find(|layer| layer.name.text == port);
    // A stack in a circle was reported; each layer is met once at most.
    for _ in 0..stack.instances.len() {
        let Some(under) = layer.and_then(|layer| layer.unders.first()) else { break };
        let s::Over::Instance(at) = under.over else { break };
        let Some(below) = stack.instances.get(at as usize) else { break };
        let key = program.layers_of(&below.of).first().and_then(|top| top.key.as_ref());
        if let (Some(key), Some(layer), true) = (key, layer, under.bound.is_empty()) {
            let fields = key.fields.iter().map(|field| field.name.text.as_str()).collect();
            found.push(Unbound { layer, below: &below.name, fields });
        }
        layer = Some(below);
    }
    found
}

/// `port` of `local_port`.
fn plain(param: &str) -> &str {
    ["local_", "remote_"].into_iter().find_map(|end| param.strip_prefix(end)).unwrap_or(param)
}
