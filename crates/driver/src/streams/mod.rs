//! Streams of octets between a stack and the operating system: to the standard input and output, and to its sockets.
//!
//! For any stack with streams at a port; no protocol is known here. Keeps: octets stay in order, none is repeated, and
//! none is sent without credit on the other side; each direction ends by itself.

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
use crate::devices;
use crate::failure::Failure;
use crate::live::Until;
use crate::run::{self, Report, Request};

/// The library module with the default stack.
const OWN: &str = "talk";

/// The built-in stack: a host with streams.
pub fn own(world: &dyn World) -> Checked {
    compile::check_texts(world, vec![(OWN.to_string(), format!("use {OWN}\n"))], Vec::new())
}

/// The name of that stack.
pub const OWN_STACK: &str = "Talk";

/// Whoever names only ends of the newer family needs no address of the other: the built-in stack gets one that stays on
/// the link, and depends only on the device, so that neighbours may keep it.
pub fn without_older_family(request: &mut Request, ends: &[&[String]]) {
    const SETTING: &str = "address";
    let is_newer = |end: &&[String]| end.first().is_some_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok());
    if ends.is_empty() || !ends.iter().all(is_newer) || request.set.iter().any(|(name, _)| name == SETTING) {
        return;
    }
    let [.., a, b] = devices::default_mac(&request.devices.concat()).to_be_bytes();
    // The first and the last 256 addresses are reserved (RFC 3927 2.1).
    request.set.push((SETTING.to_string(), format!("169.254.{}.{b}/16", 1 + a % 254)));
}

impl Way {
    /// The end in the stack's network.
    pub fn of_stack(&self) -> &[String] {
        match self {
            Way::Out { to, .. } => to,
            Way::In { from, .. } => from,
        }
    }
}

/// Timeouts, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the answer to `open`; `None`: as long as the stack waits.
    pub answer: Option<u64>,
    /// After the stream, if the peer may not have received our last message.
    pub linger: u64,
}

/// Opens a stream and connects it to the standard input and output, until it has ended. `tell` gets messages for
/// people.
pub fn connect(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    remote: &[String],
    patience: Patience,
    tell: &mut dyn FnMut(&str),
) -> Result<Ended, Failure> {
    let mut relay = begun(compiled, request, world, tell)?;
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

/// A peer that has not answered for this long is mentioned.
const SILENCE: u64 = 3_000_000_000;

/// Waits until the stream is open or has failed, or the time is over; false if the answer took too long.
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

/// Waits for one stream and connects it to the standard input and output, until it has ended. A peer that breaks the
/// stream before it has sent anything does not count: the next one gets everything from the beginning.
pub fn listen(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    local: &[String],
    linger: u64,
    tell: &mut dyn FnMut(&str),
) -> Result<Ended, Failure> {
    let mut relay = begun(compiled, request, world, tell)?;
    let points = all_found(&relay.stack, Side::Local, local)?;
    let until = until(request)?;
    for (at, parts) in points {
        relay.listen(at, parts, To::Standard)?;
    }
    tell(&format!("listening at {}", local.join(" ")));
    one_stream(relay, &until, linger, tell)
}

/// What to connect: where connections come in, and where they go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// From a socket of the operating system to a peer in the stack's network.
    Out { from: SocketAddr, to: Vec<String> },
    /// From the stack to an address that the operating system reaches.
    In { from: Vec<String>, to: SocketAddr },
}

const STACK: &str = "stack:";

/// `127.0.0.1:8080` and `10.77.0.1:80`: out, through the stack; `stack:80` and `127.0.0.1:8080`: in.
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

/// Splits `ADDRESS:PORT`; an address with colons may be in brackets.
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

/// Connects sockets of the operating system with streams of the stack, until it is stopped; returns how many streams
/// that interrupted.
pub fn forward(
    compiled: &Compiled,
    request: &Request,
    world: &dyn World,
    ways: &[Way],
    tell: &mut dyn FnMut(&str),
) -> Result<(Report, usize), Failure> {
    let mut relay = begun(compiled, request, world, tell)?;
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
fn begun<'a>(
    compiled: &'a Compiled,
    request: &Request,
    world: &dyn World,
    tell: &mut dyn FnMut(&str),
) -> Result<Relay<'a>, Failure> {
    let ports = ports::all(&compiled.composed);
    if ports.is_empty() {
        return Err(Failure::of_use(
            format!("stack `{}` gives no stream at a port", compiled.composed.name),
            "`export` a layer that gives streams; without `--file` the command's own stack is taken",
        ));
    }
    let opened = run::open(compiled, request, world)?;
    opened.notes.iter().for_each(|note| tell(note));
    let (machine, live) = (opened.machine, opened.live.in_real_time());
    let mut stack = Stack { compiled, machine, live, ports, told: Told::default() };
    stack.start()?;
    Ok(Relay::new(stack))
}

fn until(request: &Request) -> Result<Until, Failure> {
    Ok(Until { nanoseconds: request.nanoseconds, stop: run::stop_on_signals()? })
}

/// The first port that can read this end of a flow, and the result.
fn found(stack: &Stack<'_>, side: Side, texts: &[String]) -> Result<(usize, Parts), Failure> {
    Ok(all_found(stack, side, texts)?.swap_remove(0))
}

/// All ports that can read this end of a flow, with the results; at least one.
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

/// Runs until the only stream has ended.
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

/// The most lingers in all, so that a peer that repeats forever does not hold up the command.
const LINGERS: u64 = 10;

/// Stays for retransmissions of the peer; stopping here loses nothing visible.
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
        // The peer retransmitted and was answered: that answer may be lost, too.
        let sent = relay.stack.live.traffic.sent;
        if std::mem::replace(&mut answers, sent) != sent {
            staying.nanoseconds = Some(relay.stack.live.now().saturating_add(linger).min(last));
        }
    }
    Ok(())
}

/// The result of the stack, after telling its reports.
fn closed(relay: Relay<'_>, tell: &mut dyn FnMut(&str)) -> Result<Report, Failure> {
    let Stack { machine, live, told, compiled, .. } = relay.stack;
    told.reports.iter().for_each(|(_, what)| tell(&format!("report: {what}")));
    run::Opened { machine, live, notes: Vec::new() }.report(&compiled.composed, told.reports.len() as u64)
}
