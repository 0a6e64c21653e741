//! Streams of octets between a stack and the operating system: to the standard input and output, and to its sockets.
//!
//! For any stack that gives streams at a port; no protocol is known here. Keeps: octets go on in order, none twice and none
//! without credit on the other side; each direction ends by itself.

mod ends;
mod link;
mod ports;
mod relay;
mod stack;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use mokume_base::World;

use self::ends::Standard;
pub use self::link::Ended;
use self::ports::{Parts, Side};
use self::relay::{Door, Relay, To};
use self::stack::{Stack, Told};
use crate::compile::{self, Checked, Compiled};
use crate::failure::Failure;
use crate::live::Until;
use crate::run::{self, Report, Request};

/// The module whose stack is meant where no file is named.
const OWN: &str = "talk";

/// The stack that comes with the command: a host that gives streams.
pub fn own(world: &dyn World) -> Checked {
    compile::check_texts(world, vec![(OWN.to_string(), format!("use {OWN}\n"))], Vec::new())
}

/// The name of that stack.
pub const OWN_STACK: &str = "Talk";

/// How long is waited, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the answer of whom we asked for a stream; as long as the stack waits, without.
    pub answer: Option<u64>,
    /// Behind the stream, where the other end may not have heard our last word.
    pub linger: u64,
}

/// Opens a stream and joins it to the standard input and output, until it has ended. `tell` hears what people may want to know.
pub fn connect(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    remote: &[String],
    patience: Patience,
    tell: &mut dyn FnMut(&str),
) -> Result<Ended, Failure> {
    let mut relay = begun(compiled, request, world)?;
    let (at, parts) = found(&relay.stack, Side::Remote, remote)?;
    let until = until(request)?;
    let name = remote.join(" ");
    relay.ask(at, &parts, Box::new(Standard::new()), name.clone())?;
    match answered(&mut relay, &until, &name, patience.answer, tell)? {
        true => one_stream(relay, &until, patience.linger, tell),
        false => {
            closed(relay, tell)?;
            let seconds = patience.answer.unwrap_or(0) as f64 / 1e9;
            Ok(Ended::Broken(format!("no answer in {seconds} s")))
        }
    }
}

/// Somebody who has not answered for so long is spoken of.
const SILENCE: u64 = 3_000_000_000;

/// Until the stream that was asked for is there, or has failed, or the time is over; false if the answer took too long.
fn answered(
    relay: &mut Relay<'_>,
    until: &Until,
    name: &str,
    most: Option<u64>,
    tell: &mut dyn FnMut(&str),
) -> Result<bool, Failure> {
    let begin = relay.stack.live.now();
    let end = most.map(|most| begin.saturating_add(most));
    let mut silence = Some(begin.saturating_add(SILENCE));
    while relay.waits_for_answer() && !relay.is_over(until) {
        let now = relay.stack.live.now();
        if end.is_some_and(|end| now >= end) {
            return Ok(false);
        }
        if silence.is_some_and(|silence| now >= silence) {
            silence = None;
            let limit = match most {
                Some(most) => format!("after {} s (--timeout)", most as f64 / 1e9),
                None => "when the stack does (--timeout sets a time)".to_string(),
            };
            tell(&format!("no answer yet from {name}; gives up {limit}"));
        }
        let next = [until.nanoseconds, end, silence].into_iter().flatten().min();
        relay.turn(&Until { nanoseconds: next, stop: until.stop.clone() })?;
    }
    Ok(true)
}

/// Waits for one stream and joins it to the standard input and output, until it has ended. Who breaks it before he has said anything
/// was nobody: the next one is waited for, and hears all from the beginning.
pub fn listen(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    local: &[String],
    linger: u64,
    tell: &mut dyn FnMut(&str),
) -> Result<Ended, Failure> {
    let mut relay = begun(compiled, request, world)?;
    let points = all_found(&relay.stack, Side::Local, local)?;
    let until = until(request)?;
    for (at, parts) in points {
        relay.listen(at, parts, To::Standard)?;
    }
    tell(&format!("listening at {}", local.join(" ")));
    one_stream(relay, &until, linger, tell)
}

/// What is joined: an end where connections come in, and where they go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// From a socket of the operating system to an end of the stack's network.
    Out { from: SocketAddr, to: Vec<String> },
    /// From the stack to somebody whom the operating system reaches.
    In { from: Vec<String>, to: SocketAddr },
}

const STACK: &str = "stack:";

/// `127.0.0.1:8080` and `10.77.0.1:80`: out, by the stack; `stack:80` and `127.0.0.1:8080`: in.
pub fn way(from: &str, to: &str) -> Result<Way, Failure> {
    match (from.strip_prefix(STACK), to.strip_prefix(STACK)) {
        (Some(_), Some(_)) => Err(Failure::of_use(
            "both ends are the stack's",
            "one of `--from` and `--to` is an address of the operating system, without `stack:`",
        )),
        (Some(from), None) => {
            let address = socket_address(to)?;
            if address.port() == 0 {
                return Err(Failure::of_use(format!("nobody is at port 0 of `{to}`"), "name one, from 1"));
            }
            Ok(Way::In { from: end_of_flow(from), to: address })
        }
        (None, to_stack) => Ok(Way::Out { from: socket_address(from)?, to: end_of_flow(to_stack.unwrap_or(to)) }),
    }
}

/// `ADDRESS:PORT`, in two; an address with colons may stand in brackets.
fn end_of_flow(text: &str) -> Vec<String> {
    match text.rsplit_once(':') {
        Some((address, port)) => {
            let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
            vec![bare.to_string(), port.to_string()]
        }
        None => vec![text.to_string()],
    }
}

fn socket_address(text: &str) -> Result<SocketAddr, Failure> {
    let mut found = text.to_socket_addrs().ok().into_iter().flatten();
    found.next().ok_or_else(|| {
        Failure::of_use(
            format!("`{text}` is no address of the operating system with a port"),
            "write `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`",
        )
    })
}

/// Joins sockets of the operating system with streams of the stack, until it is stopped; and how many streams that cut.
pub fn forward(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    ways: &[Way],
    tell: &mut dyn FnMut(&str),
) -> Result<(Report, usize), Failure> {
    let mut relay = begun(compiled, request, world)?;
    let until = until(request)?;
    for way in ways {
        join(&mut relay, way, tell)?;
    }
    while !relay.is_over(&until) {
        relay.turn(&until)?;
        relay.notes.drain(..).for_each(|note| tell(&note));
        for gone in relay.ended() {
            tell(&format!("{}: {}", gone.name, shown(&gone.how)));
        }
    }
    let cut = relay.abort()?;
    if cut > 0 {
        tell(&format!("{cut} {} cut", if cut == 1 { "stream was" } else { "streams were" }));
    }
    Ok((closed(relay, tell)?, cut))
}

fn join(relay: &mut Relay<'_>, way: &Way, tell: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    match way {
        Way::Out { from, to } => {
            let (at, remote) = found(&relay.stack, Side::Remote, to)?;
            let refuse = |error: std::io::Error| {
                let help = match error.kind() {
                    ErrorKind::AddrInUse => "another program has this port: choose one, or stop it",
                    ErrorKind::AddrNotAvailable => "take an address of this machine, or 0.0.0.0",
                    ErrorKind::PermissionDenied => "choose a port from 1024",
                    _ => "write `--from 127.0.0.1:8080`",
                };
                Failure::of_use(format!("{from}: {error}"), help)
            };
            let listener = TcpListener::bind(from).map_err(refuse)?;
            listener.set_nonblocking(true).map_err(refuse)?;
            let address = listener.local_addr().map_err(refuse)?;
            let name = to.join(" ");
            tell(&format!("from {address} to {name} by the stack"));
            relay.doors.push(Door { listener, at, remote, name });
        }
        Way::In { from, to } => {
            for (at, local) in all_found(&relay.stack, Side::Local, from)? {
                relay.listen(at, local, To::Socket(*to))?;
            }
            tell(&format!("from the stack's {} to {to}", from.join(" ")));
        }
    }
    Ok(())
}

fn shown(how: &Ended) -> String {
    match how {
        Ended::Cleanly => "ended".to_string(),
        Ended::Broken(reason) | Ended::Unread(_, reason) => reason.clone(),
    }
}

/// The stack on its devices, started.
fn begun<'a>(compiled: &'a Compiled, request: &Request, world: &dyn World) -> Result<Relay<'a>, Failure> {
    let ports = ports::all(&compiled.composed);
    if ports.is_empty() {
        return Err(Failure::of_use(
            format!("stack `{}` gives no stream at a port", compiled.composed.name),
            "`export` a layer that gives streams; without `--file` the command's own stack is taken",
        ));
    }
    let opened = run::open(compiled, request, world)?;
    let (machine, live) = (opened.machine, opened.live.in_real_time());
    let mut stack = Stack { compiled, machine, live, ports, told: Told::default() };
    stack.start()?;
    Ok(Relay::new(stack))
}

fn until(request: &Request) -> Result<Until, Failure> {
    Ok(Until { nanoseconds: request.nanoseconds, stop: run::stop_on_signals()? })
}

/// The first port that reads an end of a flow so, and what it reads.
fn found(stack: &Stack<'_>, side: Side, texts: &[String]) -> Result<(usize, Parts), Failure> {
    Ok(all_found(stack, side, texts)?.swap_remove(0))
}

/// All ports that read an end of a flow so, and what each reads; there is one.
fn all_found(stack: &Stack<'_>, side: Side, texts: &[String]) -> Result<Vec<(usize, Parts)>, Failure> {
    if texts.iter().any(|text| text.parse::<u64>() == Ok(0)) {
        return Err(Failure::of_use("0 stands for any, and is no number of an end", "name one, from 1: `80`"));
    }
    let automaton = &stack.compiled.composed;
    let read = |at: usize| Some((at, stack.ports[at].read(automaton, stack.written(), side, texts)?));
    let found: Vec<(usize, Parts)> = (0..stack.ports.len()).filter_map(read).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let example = |port: &ports::StreamPort| format!("`{}`", port.example(automaton, stack.written(), side));
    let mut examples: Vec<String> = stack.ports.iter().map(example).collect();
    examples.dedup();
    Err(Failure::of_use(
        format!("`{}` is no end of a stream of this stack", texts.join(" ")),
        format!("it is written as in {}", examples.join(" or ")),
    ))
}

/// Until the one stream that there is, or that will be, has ended.
fn one_stream(mut relay: Relay<'_>, until: &Until, linger: u64, tell: &mut dyn FnMut(&str)) -> Result<Ended, Failure> {
    let ended = loop {
        if let Some(gone) = relay.ended().pop() {
            if relay.listens_again(&gone)? {
                tell(&format!("{}: {}; waiting for another", gone.name, shown(&gone.how)));
                continue;
            }
            if gone.may_be_asked && linger > 0 {
                stay(&mut relay, until, linger, tell)?;
            }
            break gone.how;
        }
        if relay.is_over(until) {
            relay.abort()?;
            break Ended::Broken(if until.stop.load(std::sync::atomic::Ordering::Relaxed) {
                "stopped before the stream had ended".to_string()
            } else {
                "the time was over before the stream had ended".to_string()
            });
        }
        relay.turn(until)?;
        relay.notes.drain(..).for_each(|note| tell(&note));
    };
    let report = closed(relay, tell)?;
    for (device, befell) in &report.weather {
        run::weather_lines(device, befell).iter().for_each(|line| tell(line));
    }
    Ok(ended)
}

/// So many times the linger in all, at most: a neighbour who asks for ever does not hold the command.
const LINGERS: u64 = 10;

/// Stays for what the other end may ask again; whoever stops that has lost nothing that he can see.
fn stay(relay: &mut Relay<'_>, until: &Until, linger: u64, tell: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    let now = relay.stack.live.now();
    let last = now.saturating_add(linger.saturating_mul(LINGERS));
    let last = until.nanoseconds.map_or(last, |asked| asked.min(last));
    let mut staying = Until { nanoseconds: Some(now.saturating_add(linger).min(last)), stop: until.stop.clone() };
    let seconds = linger as f64 / 1e9;
    tell(&format!("all is said and heard; the stack stays {seconds} s for who has not heard its last word (--linger), Ctrl-C ends it"));
    let mut answers = relay.stack.live.traffic.sent;
    while !relay.is_over(&staying) {
        relay.turn(&staying)?;
        // Somebody asked and was answered: the answer may be lost as the first one was.
        let sent = relay.stack.live.traffic.sent;
        if std::mem::replace(&mut answers, sent) != sent {
            staying.nanoseconds = Some(relay.stack.live.now().saturating_add(linger).min(last));
        }
    }
    Ok(())
}

/// What the stack did, with its reports told.
fn closed(relay: Relay<'_>, tell: &mut dyn FnMut(&str)) -> Result<Report, Failure> {
    let Stack { machine, live, told, compiled, .. } = relay.stack;
    told.reports.iter().for_each(|(_, what)| tell(&format!("report: {what}")));
    run::Opened { machine, live }.report(&compiled.composed, told.reports.len() as u64)
}
