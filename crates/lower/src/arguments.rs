//! Assigns the arguments of a test's step to the parameters of the port's event: by order, by name, or by default.

use std::collections::BTreeMap;

use mokume_base::{Code, Diagnostic, Span};
use mokume_reaction::{Automaton, Port, Type};
use mokume_script::{Arg, PacketPart};
use mokume_semantics::program as s;

/// What happens to parameters that a step does not give.
pub enum LeftOut {
    /// For inputs: parts of flows are 0, which is any; some parameters have defaults; the others are required.
    Of {
        /// The parts of flows, by their parameters' names.
        flow: Vec<String>,
        /// The defaults of the last parameters.
        defaults: Vec<u64>,
    },
    /// For outputs: parameters can be left out only by `..` at the end; those from this number on also without it.
    Behind(usize),
}

type Params = [(String, Type)];

/// Whether an argument, or a part of a packet, has a value that is not fixed in advance.
pub fn is_open(arg: &Arg) -> bool {
    let in_part = |part: &PacketPart| match part {
        PacketPart::Wire(pattern) => pattern.fields.iter().any(|(_, arg)| is_open(arg)),
        PacketPart::Octets(_) => false,
        PacketPart::Any => true,
    };
    match arg {
        Arg::Any | Arg::Bind(_) | Arg::OneOf(_) => true,
        Arg::Packet(packet) => packet.parts.iter().any(in_part),
        Arg::Word(_) | Arg::Octets(_) | Arg::Null | Arg::Name(_) | Arg::Sum { .. } => false,
    }
}

/// The first wire of a packet that ends with `..`.
pub fn left_open(args: &s::Args) -> Option<&s::WirePattern> {
    let values = args.given.iter().flat_map(|given| &given.values);
    let packets = values.filter_map(|value| if let s::Arg::Packet(packet) = value { Some(packet) } else { None });
    packets.flat_map(|packet| &packet.parts).find_map(|part| match part {
        s::PacketPart::Wire(pattern) if pattern.rest => Some(pattern),
        s::PacketPart::Wire(_) | s::PacketPart::Octets(_) | s::PacketPart::Any(_) => None,
    })
}

/// The parts of flows in a port's events, by their parameters' names.
pub fn flow_parts(port: &Port) -> Vec<String> {
    let accepted = port.outputs.iter().find(|output| output.event == "accepted").map(|output| &output.params[1..]);
    let delivered = || {
        let output = port.outputs.iter().find(|output| output.event == "deliver_from")?;
        let message = output.params.iter().position(|(_, ty)| *ty == Type::Msg)?;
        output.params.get(..message)
    };
    accepted.or_else(delivered).unwrap_or_default().iter().map(|(name, _)| name.clone()).collect()
}

/// One value for each parameter; reports those that do not fit.
pub fn fitted(
    params: &Params,
    args: &s::Args,
    event: &s::Name,
    left_out: &LeftOut,
) -> Result<Vec<s::Arg>, Box<Diagnostic>> {
    // A single `_` stands for all values.
    if let ([s::Given { name: None, values, .. }], true) = (args.given.as_slice(), params.len() != 1) {
        if let [s::Arg::Any] = values.as_slice() {
            return Ok(vec![s::Arg::Any; params.len()]);
        }
    }
    let in_order = args.given.iter().filter(|given| given.name.is_none()).flat_map(|given| &given.values);
    let mut found: Vec<Option<s::Arg>> = in_order.cloned().map(Some).collect();
    let named: Vec<(&s::Name, &[s::Arg])> =
        args.given.iter().filter_map(|given| Some((given.name.as_ref()?, given.values.as_slice()))).collect();
    let by_default = match left_out {
        LeftOut::Of { defaults, .. } => defaults.len(),
        LeftOut::Behind(count) => params.len() - count,
    };
    let is_open = args.rest || !named.is_empty() || found.len() + by_default >= params.len();
    if found.len() > params.len() || found.len() < params.len() && !is_open {
        return Err(wrong_number(params, event, found.len(), left_out));
    }
    found.resize(params.len(), None);
    for (name, values) in named {
        by_name(params, name, values, event, &mut found)?;
    }
    fill(params, args.rest, event, left_out, found)
}

/// Assigns the values of a named argument.
fn by_name(
    params: &Params,
    name: &s::Name,
    values: &[s::Arg],
    event: &s::Name,
    found: &mut [Option<s::Arg>],
) -> Result<(), Box<Diagnostic>> {
    let places = places(params, &name.text);
    if places.is_empty() {
        let shown: Vec<String> = params.iter().map(|(name, _)| label(name)).collect();
        let near = mokume_base::did_you_mean(&name.text, shown.iter().map(String::as_str));
        let help = near.map_or_else(|| listed(params), |near| format!("did you mean `{near}`?"));
        let text = format!("`{}` has no argument `{}` here", event.text, name.text);
        return Err(wrong(text, name, "unknown", help));
    }
    let values: Vec<s::Arg> = match values {
        [s::Arg::Any] => vec![s::Arg::Any; places.len()],
        values => values.to_vec(),
    };
    if values.len() != places.len() {
        let text = format!("`{}` has {} values here, not {}", name.text, places.len(), values.len());
        return Err(wrong(text, name, "wrong number", listed(&params[places.clone()])));
    }
    for (at, value) in places.zip(values) {
        if found[at].is_some() {
            let text = format!("`{}` is given twice", name.text);
            return Err(wrong(text, name, "it stands in front already", "leave one of them out".to_string()));
        }
        found[at] = Some(value);
    }
    Ok(())
}

/// The parameter of this name, or those of a record or an end of a flow with this name.
fn places(params: &Params, name: &str) -> std::ops::Range<usize> {
    let plain = |text: &str| text.replace('.', "_");
    let name = plain(name);
    if let Some(at) = params.iter().position(|(param, _)| plain(param) == name) {
        return at..at + 1;
    }
    let is_part =
        |(param, _): &(String, Type)| plain(param).strip_prefix(&name).is_some_and(|rest| rest.starts_with('_'));
    let from = params.iter().position(is_part).unwrap_or(params.len());
    from..from + params[from..].iter().take_while(|param| is_part(param)).count()
}

fn fill(
    params: &Params,
    rest: bool,
    event: &s::Name,
    left_out: &LeftOut,
    found: Vec<Option<s::Arg>>,
) -> Result<Vec<s::Arg>, Box<Diagnostic>> {
    let missing = |at: usize| match left_out {
        LeftOut::Of { flow, .. } if flow.contains(&params[at].0) => Some(s::Arg::Word(0)),
        LeftOut::Of { defaults, .. } => {
            let default = (at + defaults.len()).checked_sub(params.len()).and_then(|at| defaults.get(at));
            default.copied().map(s::Arg::Word)
        }
        LeftOut::Behind(count) if rest || at >= *count => Some(s::Arg::Any),
        LeftOut::Behind(_) => None,
    };
    let filled: Vec<Option<s::Arg>> =
        found.into_iter().enumerate().map(|(at, arg)| arg.or_else(|| missing(at))).collect();
    let without: Vec<String> = filled
        .iter()
        .zip(params)
        .filter(|(arg, _)| arg.is_none())
        .map(|(_, (name, _))| format!("`{}`", label(name)))
        .collect();
    if without.is_empty() {
        return Ok(filled.into_iter().flatten().collect());
    }
    let text = format!("`{}` needs {} too", event.text, without.join(", "));
    let help = match left_out {
        LeftOut::Of { .. } => {
            "only parts of flows may be left out, they are any; and what has a value by default".to_string()
        }
        LeftOut::Behind(_) => "end the arguments with `..` if the others may be anything".to_string(),
    };
    Err(wrong(text, event, "not given", help))
}

/// Where the argument for one of the parameters stands; `None` if it is not given.
pub fn place_of(params: &Params, args: &s::Args, at: usize) -> Option<Span> {
    let mut next = 0;
    args.given.iter().find_map(|given| {
        let holds = match &given.name {
            Some(name) => places(params, &name.text).contains(&at),
            None => {
                next += given.values.len();
                (next - given.values.len()..next).contains(&at)
            }
        };
        holds.then_some(given.span)
    })
}

/// The kind of values of a type; a value of one kind never stands for one of another.
fn kind(ty: &Type) -> &'static str {
    match ty {
        Type::Ref(_) => "a session",
        Type::Msg => "a message",
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason | Type::Array(..) => "a number",
    }
}

/// What is wrong with a value, at `place`, that does not fit its parameter's type; `bound` has the types of names that
/// outputs bound.
pub fn misfit(
    automaton: &Automaton,
    (name, ty): &(String, Type),
    arg: &s::Arg,
    (event, place): (&s::Name, Span),
    bound: &BTreeMap<String, Type>,
) -> Option<Diagnostic> {
    let given = match (arg, ty) {
        (s::Arg::Word(value), Type::U(bits) | Type::Seq(bits)) => {
            (*bits < 64 && value >> bits != 0).then(|| value.to_string())
        }
        (s::Arg::Word(value), Type::Bool) => (*value > 1).then(|| value.to_string()),
        (s::Arg::Word(value), Type::Enum(id)) => {
            let of = &automaton.enums[id.index()];
            let fits = of.names.iter().any(|(_, known)| known == value) || of.open && value >> of.width == 0;
            (!fits).then(|| value.to_string())
        }
        (s::Arg::Word(value), Type::Msg) => Some(value.to_string()),
        (s::Arg::Octets(_) | s::Arg::Packet(_), Type::Msg) => None,
        (s::Arg::Octets(_) | s::Arg::Packet(_), _) => Some("a text".to_owned()),
        (s::Arg::Word(value), Type::Ref(_)) => Some(value.to_string()),
        // A reason by its number: the machine reports an unknown one. Sums are known when the test runs.
        (s::Arg::Word(_), Type::Reason | Type::Array(..)) => None,
        (s::Arg::Handle(name), _) => match bound.get(&name.text) {
            Some(known) if kind(known) != kind(ty) => Some(format!("`{}`, {},", name.text, kind(known))),
            _ => None,
        },
        (s::Arg::Any | s::Arg::Bind(_) | s::Arg::Sum { .. }, _) => None,
    }?;
    let wanted = match ty {
        Type::Bool => "`true` or `false`".to_owned(),
        Type::U(bits) => format!("a `u{bits}`"),
        Type::Seq(bits) => format!("a `seq{bits}`"),
        Type::Enum(id) => format!("a value of `{}`", automaton.enums[id.index()].name),
        Type::Reason => "a reason".to_owned(),
        Type::Msg => "a message".to_owned(),
        Type::Ref(_) => "a session".to_owned(),
        Type::Array(..) => "a vector".to_owned(),
    };
    let text = format!("`{}` of `{}` is {wanted}, and {given} is none", label(name), event.text);
    let values = mokume_script::values_of(automaton, *ty);
    let help = match (ty, given.as_str()) {
        (Type::Ref(_), _) => "name one that an output has bound: `=> app.opened(1, ?s)`, and then `app.send(s, \"a\")`",
        (Type::Msg, _) => "write what it holds: `\"text\"`, `x\"00ff\"`, or a packet by its fields",
        (Type::Enum(_), _) => "",
        (_, "a text") => "write it without quotes, as its type is written: a number, an address, a name",
        _ => "write a number that fits",
    };
    let help = values.map_or(help.to_owned(), |values| format!("write {values}"));
    let place = if let s::Arg::Handle(name) = arg { name.span } else { place };
    Some(Diagnostic::error(Code("M0729"), text).at(place, "does not fit").help(help))
}

fn wrong_number(params: &Params, event: &s::Name, count: usize, left_out: &LeftOut) -> Box<Diagnostic> {
    let plural = if params.len() == 1 { "" } else { "s" };
    let text = format!("`{}` has {} argument{plural} here, not {count}", event.text, params.len());
    wrong(text, event, "wrong number", format!("{}{}", listed(params), by_names(params, event, left_out)))
}

/// If some parameters may be left out: how to name the others.
fn by_names(params: &Params, event: &s::Name, left_out: &LeftOut) -> String {
    let LeftOut::Of { flow, defaults } = left_out else {
        return "; end with `..` if the others may be anything".to_string();
    };
    let known = params.len().saturating_sub(defaults.len());
    let needed = |(at, (name, _)): &(usize, &(String, Type))| {
        *at < known && (!flow.contains(name) || name.starts_with("remote_"))
    };
    let needed: Vec<String> =
        params.iter().enumerate().filter(needed).map(|(_, (name, _))| format!("{}: …", label(name))).collect();
    match needed.len() == params.len() {
        true => String::new(),
        false => format!("; name those that are not left out: `{}({})`", event.text, needed.join(", ")),
    }
}

fn wrong(text: String, at: &s::Name, label: &str, help: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code("M0729"), text).at(at.span, label).help(help))
}

fn listed(params: &Params) -> String {
    let shown: Vec<String> = params.iter().map(|(name, _)| label(name)).collect();
    format!("they are: {}", shown.join(", "))
}

/// The name in a step for a parameter: `remote.port` for `remote_port`.
fn label(name: &str) -> String {
    let end = ["local_", "remote_"].into_iter().find(|end| name.starts_with(end));
    end.map_or_else(|| name.to_string(), |end| name.replacen(end, &end.replace('_', "."), 1))
}
