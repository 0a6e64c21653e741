//! Runs several streams: a loop that waits for frames, deadlines and ends, and gives each its turn.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use mokume_reaction::Handle;

use super::ends::{is_of_descriptors, End, Socket, Standard};
use super::link::{Ended, Input, Link};
use super::ports::{Heard, Parts, Say, What};
use super::stack::Stack;
use crate::failure::Failure;
use crate::live::{Ready, Until, Wait};

/// A listening socket of the operating system, and where in the stack its connections go.
pub struct Door {
    pub listener: TcpListener,
    pub at: usize,
    pub remote: Parts,
    pub name: String,
}

/// A listener in the stack, and what its sessions are connected to.
pub struct Point {
    pub at: usize,
    pub user: u64,
    pub local: Parts,
    pub to: To,
}

/// What an incoming session is connected to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum To {
    /// The standard input and output: for the first session only; then the listener is removed.
    Standard,
    Socket(SocketAddr),
}

/// All streams of one stack.
pub struct Relay<'a> {
    pub stack: Stack<'a>,
    pub links: Vec<Link>,
    pub doors: Vec<Door>,
    pub points: Vec<Point>,
    /// Listeners that were removed when a session came.
    left: Vec<Point>,
    /// What was read for a peer that was gone before it had sent anything.
    input: Option<Input>,
    /// The number for the next `open`.
    next: u64,
    /// Set while there are no descriptors for further connections: when to look again.
    shut_until: Option<u64>,
    has_told_of_descriptors: bool,
    /// Messages for people.
    pub notes: Vec<String>,
}

/// A stream that has ended.
pub struct Gone {
    pub name: String,
    pub how: Ended,
    /// Whether the peer may not have received our last message, and retransmit.
    pub may_be_asked: bool,
    /// If it broke before the peer had sent anything: what was read for it, which presumably was not received.
    pub unheard: Option<Input>,
}

/// The owner of a descriptor that is waited for.
#[derive(Clone, Copy)]
enum Whose {
    Door(usize),
    Coming(usize),
    Source(usize),
    Sink(usize),
    Broken(usize),
}

/// How long the doors stay shut when there are no descriptors.
const PAUSE: u64 = 100_000_000;

/// The number of streams of a stack is set in its file.
const NO_ROOM: &str = "the stack has no room for another stream; one of a `--file` with `sessions N` has room for N";

impl<'a> Relay<'a> {
    /// A stack without streams.
    pub fn new(stack: Stack<'a>) -> Relay<'a> {
        Relay {
            stack,
            links: Vec::new(),
            doors: Vec::new(),
            points: Vec::new(),
            left: Vec::new(),
            input: None,
            next: 1,
            shut_until: None,
            has_told_of_descriptors: false,
            notes: Vec::new(),
        }
    }

    /// Opens a stream to a peer, connected to an end.
    pub fn ask(&mut self, at: usize, remote: &Parts, end: Box<dyn End>, name: String) -> Result<(), Failure> {
        let user = self.number();
        self.links.push(Link::asked(at, user, end, name));
        let what = What { user, parts: remote, ..What::NOTHING };
        if !self.stack.say(at, Say::Open, &what)? {
            let failed = Heard::Failed { user, reason: NO_ROOM.to_string() };
            self.answer(at, failed)?;
        }
        self.hear()
    }

    /// Listens in the stack.
    pub fn listen(&mut self, at: usize, local: Parts, to: To) -> Result<(), Failure> {
        let user = self.number();
        let what = What { user, parts: &local, ..What::NOTHING };
        let taken = self.stack.say(at, Say::Listen, &what)?;
        self.points.push(Point { at, user, local, to });
        if !taken {
            return Err(refused_listener("it has no room"));
        }
        self.hear()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// One round: waits, and gives everything that is ready its turn. The caller takes the notes.
    pub fn turn(&mut self, until: &Until) -> Result<(), Failure> {
        self.shut_until = self.shut_until.filter(|end| *end > self.stack.live.now());
        let (whose, waits) = self.waits();
        let again = self.links.iter().filter_map(Link::again).chain(self.shut_until);
        let next = again.chain(until.nanoseconds).min();
        let ready = self.stack.round(next, &waits)?;
        self.hear()?;
        for (whose, _) in whose.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            match whose {
                Whose::Door(door) => self.enter(door)?,
                Whose::Coming(link) => self.links[link].has_come(&mut self.stack)?,
                Whose::Source(link) => self.links[link].read(&mut self.stack)?,
                Whose::Sink(link) => self.links[link].write(&mut self.stack)?,
                Whose::Broken(link) => self.links[link].look(&mut self.stack)?,
            }
        }
        for link in 0..self.links.len() {
            self.links[link].go_on(&mut self.stack)?;
            self.hear()?;
        }
        Ok(())
    }

    /// Whether a stop was requested, or the time is over.
    pub fn is_over(&self, until: &Until) -> bool {
        until.stop.load(Ordering::Relaxed) || until.nanoseconds.is_some_and(|end| self.stack.live.now() >= end)
    }

    /// Aborts all remaining streams; returns how many.
    pub fn abort(&mut self) -> Result<usize, Failure> {
        let mut cut = 0;
        for link in &mut self.links {
            cut += usize::from(link.abort(&mut self.stack, Ended::Broken("stopped".to_string()))?);
            link.conclude();
        }
        Ok(cut)
    }

    /// Whether a stream that was opened is not answered yet.
    pub fn waits_for_answer(&self) -> bool {
        self.links.iter().any(Link::is_asked)
    }

    /// Listens again if the stream that ended was never established; the next one gets what was read for it.
    pub fn listens_again(&mut self, gone: &Gone) -> Result<bool, Failure> {
        let Some(input) = gone.unheard.clone().filter(|_| !self.left.is_empty()) else { return Ok(false) };
        self.input = Some(input);
        for point in std::mem::take(&mut self.left) {
            self.listen(point.at, point.local, point.to)?;
        }
        Ok(true)
    }

    fn waits(&self) -> (Vec<Whose>, Vec<Wait>) {
        let (mut whose, mut waits) = (Vec::new(), Vec::new());
        let mut wait = |who, wait: Option<Wait>| {
            if let Some(wait) = wait {
                whose.push(who);
                waits.push(wait);
            }
        };
        for (at, door) in self.doors.iter().enumerate().filter(|_| self.shut_until.is_none()) {
            wait(Whose::Door(at), Some(Wait { descriptor: door.listener.as_raw_fd(), what: Ready::ToRead }));
        }
        for (at, link) in self.links.iter().enumerate() {
            wait(Whose::Coming(at), link.end().coming());
            wait(Whose::Source(at), link.end().source().filter(|_| link.wants_to_read()));
            wait(Whose::Sink(at), link.end().sink().filter(|_| link.wants_to_write()));
            wait(Whose::Broken(at), link.end().breaking().filter(|_| link.wants_to_hear_of_breaks()));
        }
        (whose, waits)
    }

    /// Handles the stack's events, and those that follow from the reactions.
    pub fn hear(&mut self) -> Result<(), Failure> {
        while let Some((at, heard)) = self.stack.hear() {
            self.answer(at, heard)?;
        }
        Ok(())
    }

    fn answer(&mut self, at: usize, heard: Heard) -> Result<(), Failure> {
        if let Heard::Accepted { session, flow } = heard {
            return self.join(at, session, &flow);
        }
        if let Heard::Failed { user, reason } = &heard {
            if self.points.iter().any(|point| point.user == *user) {
                return Err(refused_listener(reason));
            }
        }
        if let Some(link) = self.links.iter_mut().find(|link| link.is_meant(at, &heard)) {
            link.hear(heard);
        }
        Ok(())
    }

    /// A session that the peer began.
    fn join(&mut self, at: usize, session: Handle, flow: &Parts) -> Result<(), Failure> {
        let is_of = |(name, word): &(String, u64)| *word == 0 || flow.iter().any(|part| part == &(name.clone(), *word));
        let fits = |point: &&Point| point.at == at && point.local.iter().all(is_of);
        let found =
            self.points.iter().filter(fits).max_by_key(|point| point.local.iter().filter(|part| part.1 != 0).count());
        let Some(to) = found.map(|point| point.to.clone()) else {
            self.stack.say(at, Say::Abort, &What { session, ..What::NOTHING })?;
            return Ok(());
        };
        let name = self.named(at, flow);
        let end: Box<dyn End> = match to {
            To::Standard => {
                self.nobody_listens()?;
                Box::new(Standard::new())
            }
            To::Socket(to) => match Socket::asked(to) {
                Ok(socket) => Box::new(socket),
                Err(error) => {
                    self.notes.push(format!("{name}: {to}: {error}"));
                    self.stack.say(at, Say::Abort, &What { session, ..What::NOTHING })?;
                    return Ok(());
                }
            },
        };
        let input = self.input.take().unwrap_or_default();
        self.links.push(Link::accepted(at, session, end, name).with_input(input));
        Ok(())
    }

    fn nobody_listens(&mut self) -> Result<(), Failure> {
        for point in std::mem::take(&mut self.points) {
            let what = What { user: point.user, parts: &point.local, ..What::NOTHING };
            self.stack.say(point.at, Say::Unlisten, &what)?;
            self.left.push(point);
        }
        Ok(())
    }

    /// The remote end of a flow, in the stack's notation.
    fn named(&self, at: usize, flow: &Parts) -> String {
        let automaton = &self.stack.compiled.composed;
        self.stack.ports[at].shown(automaton, self.stack.written(), flow)
    }

    /// Accepts connections of the operating system.
    fn enter(&mut self, door: usize) -> Result<(), Failure> {
        loop {
            let (stream, from) = match self.doors[door].listener.accept() {
                Ok(accepted) => accepted,
                Err(error) => {
                    // A connection that is gone again is ignored.
                    if is_of_descriptors(&error) {
                        self.shut_for_a_while(&error);
                    }
                    return Ok(());
                }
            };
            let Ok(socket) = Socket::accepted(stream) else { continue };
            let (at, remote) = (self.doors[door].at, self.doors[door].remote.clone());
            let name = format!("{from} to {}", self.doors[door].name);
            self.ask(at, &remote, Box::new(socket), name)?;
        }
    }

    /// Looks at the doors again later: who waits there keeps them ready.
    fn shut_for_a_while(&mut self, error: &std::io::Error) {
        self.shut_until = Some(self.stack.live.now().saturating_add(PAUSE));
        if !self.has_told_of_descriptors {
            self.has_told_of_descriptors = true;
            self.notes
                .push(format!("connections wait until others end: {error}; `ulimit -n` sets how many there may be"));
        }
    }

    /// Removes the streams that have ended; returns how.
    pub fn ended(&mut self) -> Vec<Gone> {
        let mut ended = Vec::new();
        self.links.retain_mut(|link| match link.conclude() {
            Some(how) => {
                let (may_be_asked, unheard) = (link.may_be_asked(), link.unheard());
                ended.push(Gone { name: link.name.clone(), how, may_be_asked, unheard });
                false
            }
            None => true,
        });
        ended
    }
}

fn refused_listener(reason: &str) -> Failure {
    Failure::of_peer(format!("the stack does not listen there: {reason}"))
}
