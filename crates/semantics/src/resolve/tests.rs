//! Tests and networks: stacks with their settings, ports, handles, values. What ports do is known after lowering only.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use super::body::Body;
use super::{items, Context, Item};
use crate::program::*;
use crate::{codes, suggest, tree};

type Settings = Vec<(Name, Vec<u64>)>;

pub(super) fn tests(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.tests {
        if let Some(test) = test(cx, *file, item) {
            cx.program.tests.push(test);
        }
    }
    for (file, item) in &trees.networks {
        let network = network(cx, *file, item);
        cx.program.networks.push(network);
    }
}

// ---- stacks with settings ----

/// `Host(address: 10.0.0.1/24, device.mac: …)`
fn stack_of(cx: &mut Context, file: FileId, part: &ast::LayerUse) -> Option<(StackId, Settings)> {
    let name = tree::some_name(file, part.name())?;
    let Some(Item::Stack(id)) = cx.item(file, &name.text) else {
        cx.unknown(codes::UNKNOWN_STACK, "a stack", &name, file, |item| matches!(item, Item::Stack(_)));
        return None;
    };
    let stack = cx.program.stacks[id.index()].clone();
    let mut settings = Settings::new();
    let mut position = 0;
    let mut misspelt = false;
    for arg in part.args() {
        let Some(value) = arg.value() else { continue };
        let label = arg.name().map(|label| tree::path(file, &label));
        let setting = match &label {
            Some(label) => named_setting(cx, &stack, label),
            None => {
                let param = stack.params.get(position).cloned();
                position += 1;
                positional(cx, file, &stack, param, &arg, &value)
            }
        };
        let Some((name, ty)) = setting else {
            misspelt |= label.is_some();
            continue;
        };
        let expr = Body::constant(cx, file).value(&value, ty);
        if let Some(value) = items::known(cx, &expr) {
            if settings.iter().any(|(known, _)| known.text == name.text) {
                cx.error(
                    codes::DEFINED_TWICE,
                    format!("`{}` is set twice", name.text),
                    name.span,
                    "again here",
                    "leave one of them out",
                );
                continue;
            }
            settings.push((name, value.words()));
        }
    }
    if !misspelt {
        missing_settings(cx, &stack, &settings, &name);
    }
    Some((id, settings))
}

fn named_setting(cx: &mut Context, stack: &Stack, label: &Name) -> Option<(Name, Type)> {
    if let Some(param) = stack.params.iter().find(|param| param.name.text == label.text && param.ty != Type::Unit) {
        return Some((label.clone(), param.ty));
    }
    if let Some((device, part)) = label.text.split_once('.') {
        let known = stack.devices.iter().any(|known| known.text == device);
        match (known, part) {
            (true, "mac") => return Some((label.clone(), Type::UInt(48))),
            (true, "mtu") => return Some((label.clone(), Type::UInt(32))),
            _ => {}
        }
    }
    let devices =
        stack.devices.iter().flat_map(|device| [format!("{}.mac", device.text), format!("{}.mtu", device.text)]);
    let plain = stack.params.iter().filter(|param| param.ty != Type::Unit).map(|param| param.name.text.clone());
    let names: Vec<String> = plain.chain(devices).collect();
    let text = format!("stack `{}` has no parameter `{}`", stack.name.text, label.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PARAMETER, text).at(label.span, "unknown");
    diagnostic.helps.extend(suggest::help(&label.text, names.iter().map(String::as_str)));
    cx.report(diagnostic);
    None
}

/// `Numbered(device)`: a device needs no value; a value without a name is that of the next parameter.
fn positional(
    cx: &mut Context,
    file: FileId,
    stack: &Stack,
    param: Option<Param>,
    arg: &ast::Arg,
    value: &Tree,
) -> Option<(Name, Type)> {
    if tree::name_expr(file, value).is_some_and(|name| stack.devices.iter().any(|device| device.text == name.text)) {
        return None;
    }
    match param {
        Some(param) if param.ty != Type::Unit => Some((Name { text: param.name.text, span: arg.span(file) }, param.ty)),
        _ => {
            let text = format!("stack `{}` takes no such argument", stack.name.text);
            cx.error(codes::WRONG_COUNT, text, arg.span(file), "not expected", "write `name: value`");
            None
        }
    }
}

fn missing_settings(cx: &mut Context, stack: &Stack, settings: &Settings, name: &Name) {
    let given: BTreeSet<&str> = settings.iter().map(|(name, _)| name.text.as_str()).collect();
    let missing: Vec<&str> = stack
        .params
        .iter()
        .filter(|param| param.ty != Type::Unit && param.default.is_none() && !given.contains(param.name.text.as_str()))
        .map(|param| param.name.text.as_str())
        .collect();
    if let Some(first) = missing.first() {
        let text = format!("stack `{}` needs {}", stack.name.text, suggest::list(&missing));
        cx.error(codes::MISSING_ARGUMENT, text, name.span, "missing here", &format!("add `{first}: …`"));
    }
}

// ---- tests ----

fn test(cx: &mut Context, file: FileId, item: &ast::Test) -> Option<Test> {
    let span = item.syntax().first_token().map_or(item.span(file), |token| ast::token_span(&token, file));
    let mut stack = None;
    let mut has_stack = false;
    let mut steps: Vec<Step> = Vec::new();
    let mut handles = BTreeSet::new();
    let mut expected = false;
    for step in item.steps() {
        let place = step.span(file);
        if let ast::TestStep::Stack(part) = &step {
            if has_stack {
                cx.error(codes::DEFINED_TWICE, "a test has one stack", place, "the second", "write another test");
            } else {
                stack = part.stack().and_then(|part| stack_of(cx, file, &part));
            }
            has_stack = true;
            continue;
        }
        let id = stack.as_ref().map(|(id, _)| *id);
        let kind = test_step(cx, file, id, &step, &mut handles);
        let is_expect = matches!(step, ast::TestStep::Expect(_));
        // Lists of outputs behind each other are one.
        if let (true, true, Some(StepKind::Expect { outputs })) = (expected, is_expect, &kind) {
            if let Some(Step { kind: StepKind::Expect { outputs: before }, .. }) = steps.last_mut() {
                before.extend(outputs.iter().cloned());
                continue;
            }
        }
        expected = is_expect;
        steps.extend(kind.map(|kind| Step { kind, span: place }));
    }
    if !has_stack {
        cx.error(codes::UNKNOWN_STACK, "which stack is tested?", span, "no stack", "begin with `stack Name(device)`");
    }
    let (stack, settings) = stack?;
    Some(Test { name: item.name().unwrap_or_default(), stack, settings, steps, span })
}

fn test_step(
    cx: &mut Context,
    file: FileId,
    stack: Option<StackId>,
    step: &ast::TestStep,
    handles: &mut BTreeSet<String>,
) -> Option<StepKind> {
    match step {
        ast::TestStep::Stack(_) => None,
        ast::TestStep::Input(input) => {
            let (port, event, args) = call(cx, file, stack, &input.call()?, handles)?;
            Some(StepKind::Input { port, event, args })
        }
        ast::TestStep::Expect(expect) => {
            let outputs = expect.outputs().iter().filter_map(|output| call(cx, file, stack, output, handles)).collect();
            Some(StepKind::Expect { outputs })
        }
        ast::TestStep::Dropped(dropped) => {
            let count = count(cx, file, dropped.count());
            Some(StepKind::Dropped { reason: dropped.reason()?.text(), count })
        }
        ast::TestStep::Consumed(consumed) => {
            let count = count(cx, file, consumed.count());
            Some(StepKind::Consumed { reason: consumed.reason()?.text(), count })
        }
        ast::TestStep::Reported(reported) => {
            let count = count(cx, file, reported.count());
            Some(StepKind::Reported { report: reported.report()?.text(), count })
        }
        ast::TestStep::After(after) => {
            let nanoseconds = items::fixed(cx, file, &after.duration()?, Type::Duration)?;
            Some(StepKind::After { nanoseconds })
        }
        #[allow(unreachable_patterns)]
        _ => None,
    }
}

fn count(cx: &mut Context, file: FileId, value: Option<Tree>) -> u64 {
    value.and_then(|value| items::fixed(cx, file, &value, Type::UInt(64))).unwrap_or(1)
}

/// `port.event(args)` of a stack.
fn call(
    cx: &mut Context,
    file: FileId,
    stack: Option<StackId>,
    expr: &Tree,
    handles: &mut BTreeSet<String>,
) -> Option<(Name, Name, Vec<Arg>)> {
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
    let args =
        call.args().iter().filter_map(|arg| arg.value()).flat_map(|value| args(cx, file, &value, handles)).collect();
    Some((port, event, args))
}

fn known_port(cx: &mut Context, stack: StackId, port: &Name) {
    let stack = &cx.program.stacks[stack.index()];
    let ports: Vec<&str> = stack.devices.iter().chain(&stack.exports).map(|name| name.text.as_str()).collect();
    if ports.contains(&port.text.as_str()) {
        return;
    }
    let text = format!("stack `{}` has no port `{}`", stack.name.text, port.text);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PORT, text).at(port.span, "unknown");
    diagnostic.helps.extend(suggest::help(&port.text, ports));
    if stack.instances.iter().any(|instance| instance.name.text == port.text) {
        diagnostic = diagnostic.help(format!("export it: `export {}`", port.text));
    }
    cx.report(diagnostic);
}

/// A value of a test; records are several.
fn args(cx: &mut Context, file: FileId, value: &Tree, handles: &mut BTreeSet<String>) -> Vec<Arg> {
    if let Some(words) = halves(value) {
        return words;
    }
    match value {
        Tree::Octets(octets) => vec![Arg::Octets(octets.octets())],
        Tree::Hole(_) => vec![Arg::Any],
        Tree::Bind(bind) => match bind.name() {
            Some(name) => {
                handles.insert(name.text());
                vec![Arg::Bind(name.text())]
            }
            None => Vec::new(),
        },
        Tree::Name(name) if handles.contains(&name.text()) => vec![Arg::Handle(name.text())],
        // Reasons are outputs too; they are named as they are.
        Tree::Name(name) if !matches!(cx.item(file, &name.text()), Some(Item::Const(_))) => {
            reason_or_handle(cx, file, name, handles)
        }
        _ => {
            let expr = Body::constant(cx, file).expr(value, None);
            let words = items::known(cx, &expr).map_or(vec![0], |value| value.words());
            words.into_iter().map(Arg::Word).collect()
        }
    }
}

/// An address of 128 bits is two words, whatever its record is called.
fn halves(value: &Tree) -> Option<Vec<Arg>> {
    let Tree::Number(number) = value else { return None };
    match number.value()? {
        ast::NumberValue::Host6(host) => Some(vec![Arg::Word((host >> 64) as u64), Arg::Word(host as u64)]),
        _ => None,
    }
}

fn reason_or_handle(cx: &mut Context, file: FileId, name: &ast::NameExpr, handles: &BTreeSet<String>) -> Vec<Arg> {
    let text = name.text();
    let span: Span = name.span(file);
    if let Some(near) = suggest::nearest(&text, handles.iter().map(String::as_str)) {
        let help = format!("did you mean `{near}`?");
        cx.error(codes::UNKNOWN_HANDLE, format!("no output before this has bound `{text}`"), span, "unknown", &help);
    }
    vec![Arg::Handle(text)]
}

// ---- networks ----

fn network(cx: &mut Context, file: FileId, item: &ast::Network) -> Network {
    let name = items::title(file, item.name());
    let mut network = Network {
        name: name.clone(),
        hosts: Vec::new(),
        links: Vec::new(),
        script: Vec::new(),
        partitions: Vec::new(),
        until: 0,
    };
    let mut broken: Vec<String> = Vec::new();
    let mut has_until = false;
    for member in item.members() {
        let ast::NetworkMember::Host(host) = member else { continue };
        let Some(name) = tree::some_name(file, host.name()) else { continue };
        if let Some(first) = network.hosts.iter().find(|first| first.name.text == name.text) {
            let diagnostic = items::twice("host", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        match host.stack().and_then(|part| stack_of(cx, file, &part)) {
            Some((stack, settings)) => network.hosts.push(Host { name, stack, settings }),
            None => broken.push(name.text),
        }
    }
    for member in item.members() {
        match member {
            ast::NetworkMember::Host(_) => {}
            ast::NetworkMember::Link(item) => {
                let link = link(cx, file, &item, &network, &broken);
                network.links.extend(link);
            }
            ast::NetworkMember::At(at) => {
                let step = at_step(cx, file, &at, &network, &broken);
                network.script.extend(step);
            }
            ast::NetworkMember::Partition(item) => {
                let partition = partition(cx, file, &item, &network, &broken);
                network.partitions.extend(partition);
            }
            ast::NetworkMember::Until(until) => {
                has_until = true;
                network.until =
                    until.duration().and_then(|value| items::fixed(cx, file, &value, Type::Duration)).unwrap_or(0);
            }
        }
    }
    network.script.sort_by_key(|(time, _, _)| *time);
    too_late(cx, &network);
    if !has_until {
        cx.error(
            codes::MISSING_ARGUMENT,
            "how long does this network run?",
            name.span,
            "no `until`",
            "add `until 2 s`",
        );
    }
    network
}

fn host_of(cx: &mut Context, network: &Network, broken: &[String], name: &Name) -> Option<usize> {
    let found = network.hosts.iter().position(|host| host.name.text == name.text);
    if found.is_none() && !broken.contains(&name.text) {
        let names = network.hosts.iter().map(|host| host.name.text.as_str());
        let text = format!("this network has no host `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_STACK, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names));
        cx.report(diagnostic);
    }
    found
}

fn link(cx: &mut Context, file: FileId, item: &ast::Link, network: &Network, broken: &[String]) -> Option<NetworkLink> {
    let name = tree::some_name(file, item.name())?;
    let mut link =
        NetworkLink { name, devices: Vec::new(), loss: 0, duplicate: 0, reorder: 0, corrupt: 0, delay: (0, 0) };
    for path in item.devices() {
        let parts = tree::parts(file, &path);
        let [host, device] = parts.as_slice() else {
            cx.error(
                codes::UNKNOWN_PORT,
                "a link joins devices of hosts",
                path.span(file),
                "no device",
                "write `a.device`",
            );
            continue;
        };
        let Some(host) = host_of(cx, network, broken, host) else { continue };
        let stack = &cx.program.stacks[network.hosts[host].stack.index()];
        match stack.devices.iter().position(|known| known.text == device.text) {
            Some(index) => link.devices.push((host as u32, index as u32)),
            None => {
                let names: Vec<String> = stack.devices.iter().map(|device| device.text.clone()).collect();
                let text = format!("stack `{}` has no device `{}`", stack.name.text, device.text);
                let mut diagnostic = Diagnostic::error(codes::UNKNOWN_PORT, text).at(device.span, "unknown");
                diagnostic.helps.extend(suggest::help(&device.text, names.iter().map(String::as_str)));
                cx.report(diagnostic);
            }
        }
    }
    for option in item.options() {
        self::option(cx, file, &option, &mut link);
    }
    if item.devices().len() == 1 {
        let text = format!("link `{}` joins one device", link.name.text);
        let diagnostic = Diagnostic::error(codes::LONELY_LINK, text).at(link.name.span, "nobody hears it");
        cx.report(diagnostic.help("name those that it is joined with: `link lan { a.device, b.device }`"));
    }
    Some(link)
}

/// `partition a, b  from 1 s until 2 s`
fn partition(
    cx: &mut Context,
    file: FileId,
    item: &ast::Partition,
    network: &Network,
    broken: &[String],
) -> Option<Partition> {
    let names: Vec<Name> = item.hosts().into_iter().filter_map(|name| tree::some_name(file, Some(name))).collect();
    let hosts: Vec<u32> =
        names.iter().filter_map(|name| host_of(cx, network, broken, name)).map(|at| at as u32).collect();
    let mut time = |value: Option<Tree>| items::fixed(cx, file, &value?, Type::Duration);
    let (from, until) = (time(item.from())?, time(item.until())?);
    let span = names.first()?.span;
    if from >= until {
        let help = "write the earlier time first";
        cx.error(codes::TOO_BIG, "this partition ends before it begins", span, "from later to earlier", help);
    }
    if broken.is_empty() && (0..network.hosts.len() as u32).all(|host| hosts.contains(&host)) {
        let help = "name those of one side: `partition a from 1 s until 2 s`";
        cx.error(codes::LONELY_LINK, "this partition leaves nobody on the other side", span, "all hosts", help);
    }
    Some(Partition { hosts, from, until })
}

/// What is asked for after the network's end never happens.
fn too_late(cx: &mut Context, network: &Network) {
    if network.until == 0 {
        return;
    }
    for (at, _, step) in network.script.iter().filter(|(at, ..)| *at > network.until) {
        let text = format!("the network has ended before this: it runs for {} ms", network.until / 1_000_000);
        let diagnostic = Diagnostic::error(codes::TOO_LATE, text).at(step.span, "never happens");
        cx.report(diagnostic.help(format!("write `until {} ms` or more, or an earlier time", at.div_ceil(1_000_000))));
    }
}

fn option(cx: &mut Context, file: FileId, option: &ast::LinkOption, link: &mut NetworkLink) {
    let Some(name) = tree::some_name(file, option.name()) else { return };
    let place = match name.text.as_str() {
        "loss" => &mut link.loss,
        "duplicate" => &mut link.duplicate,
        "reorder" => &mut link.reorder,
        "corrupt" => &mut link.corrupt,
        "delay" => {
            let range = option.range().map(|range| (range.from(), range.to()));
            let (from, to) = match range {
                Some(ends) => ends,
                None => (option.value(), option.value()),
            };
            let mut time = |value: Option<Tree>| {
                value.and_then(|value| items::fixed(cx, file, &value, Type::Duration)).unwrap_or(0)
            };
            link.delay = (time(from), time(to));
            if link.delay.0 > link.delay.1 {
                let help = "write the shorter one first";
                cx.error(codes::TOO_BIG, "this delay ends before it begins", name.span, "from more to less", help);
            }
            return;
        }
        _ => {
            let text = format!("a link has no `{}`", name.text);
            let help =
                suggest::help(&name.text, ["loss", "duplicate", "reorder", "corrupt", "delay"]).unwrap_or_default();
            return cx.error(codes::UNKNOWN_PARAMETER, text, name.span, "unknown", &help);
        }
    };
    match option.percentage() {
        Some(percent) if percent <= 100 => *place = percent as u32 * 10_000,
        Some(_) => cx.error(codes::TOO_BIG, "more than all", name.span, "above 100 %", "write at most `100 %`"),
        None => cx.error(codes::MISMATCH, "a rate is in percent", name.span, "expected a percentage", "write `10 %`"),
    }
}

/// `at 10 ms  a.udp.bind(1, 0, 4000)`
fn at_step(
    cx: &mut Context,
    file: FileId,
    at: &ast::AtStep,
    network: &Network,
    broken: &[String],
) -> Option<(u64, u32, Step)> {
    let time = items::fixed(cx, file, &at.instant()?, Type::Duration)?;
    let expr = at.call()?;
    let span = expr.span(file);
    let Tree::Call(call) = &expr else {
        cx.error(codes::UNKNOWN_PORT, "a step is a call", span, "no call", "write `a.port.event(…)`");
        return None;
    };
    let Some(Tree::Field(field)) = call.callee() else { return None };
    let event = tree::some_name(file, field.name())?;
    let Some((host, port)) = field.base().and_then(|base| tree::name_field(file, &base)) else {
        cx.error(
            codes::UNKNOWN_PORT,
            "a step names a host, its port and an event",
            span,
            "too short",
            "write `a.port.event(…)`",
        );
        return None;
    };
    let host = host_of(cx, network, broken, &host)?;
    known_port(cx, network.hosts[host].stack, &port);
    let mut handles = BTreeSet::new();
    let args = call
        .args()
        .iter()
        .filter_map(|arg| arg.value())
        .flat_map(|value| args(cx, file, &value, &mut handles))
        .collect();
    Some((time, host as u32, Step { kind: StepKind::Input { port, event, args }, span }))
}
