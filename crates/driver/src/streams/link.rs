//! One stream: a session of the stack on one side, an end in the operating system on the other, and octets in both
//! directions.
//!
//! Keeps: except for one piece, nothing is read without the stack's credit; the stack is asked for more when its octets
//! were written; each direction ends by itself.

use std::collections::VecDeque;
use std::io::ErrorKind;

use mokume_reaction::Handle;

use super::ends::{End, Taken};
use super::ports::{Heard, Say, What};
use super::stack::Stack;
use crate::failure::Failure;

/// The octets read at once.
const PIECE: usize = 16 * 1024;

/// How long to wait if the stack accepts nothing and may tell nothing: others may be using its room.
const PATIENCE: u64 = 50_000_000;

/// How a stream ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Everything sent has arrived, and everything received was written.
    Cleanly,
    /// The peer, or the network, ended it, with this reason.
    Broken(String),
    /// The end in the operating system failed to read or write, with this reason.
    Unread(ErrorKind, String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum State {
    /// Opened with this number, and not answered yet.
    Asked {
        user: u64,
    },
    Open(Handle),
    Over(Ended),
}

/// What was read from the standard input for a peer that may go away before it has answered.
#[derive(Clone, Default, Debug)]
pub struct Input {
    octets: Vec<u8>,
    /// Whether the input has ended.
    is_all: bool,
}

/// The most octets that are kept for the next peer.
const KEPT: usize = 64 * 1024;

/// An active stream.
pub struct Link {
    /// The index of the stack's stream port.
    pub at: usize,
    /// The peer, for people.
    pub name: String,
    state: State,
    end: Box<dyn End>,
    /// Octets that were read and not sent, and when to try the stack again.
    piece: Vec<u8>,
    again: Option<u64>,
    has_read_all: bool,
    has_shut: bool,
    /// Whether we ended our direction before the peer ended its own.
    has_shut_first: bool,
    has_closed: bool,
    /// Octets that arrived and were not written.
    arrived: VecDeque<u8>,
    /// How many of them are left of each message.
    sizes: VecDeque<usize>,
    is_finished: bool,
    has_shut_end: bool,
    /// Everything read so far, as long as the peer has sent nothing and it is not too much.
    kept: Option<Input>,
}

impl Link {
    /// A stream that was opened with this number.
    pub fn asked(at: usize, user: u64, end: Box<dyn End>, name: String) -> Link {
        Link::new(at, State::Asked { user }, end, name)
    }

    /// A stream that the peer began.
    pub fn accepted(at: usize, session: Handle, end: Box<dyn End>, name: String) -> Link {
        Link::new(at, State::Open(session), end, name)
    }

    fn new(at: usize, state: State, end: Box<dyn End>, name: String) -> Link {
        Link {
            at,
            name,
            state,
            end,
            piece: Vec::new(),
            again: None,
            has_read_all: false,
            has_shut: false,
            has_shut_first: false,
            has_closed: false,
            arrived: VecDeque::new(),
            sizes: VecDeque::new(),
            is_finished: false,
            has_shut_end: false,
            kept: Some(Input::default()),
        }
    }

    /// Adds what was read for another peer, which never got it.
    pub fn with_input(self, input: Input) -> Link {
        Link { piece: input.octets.clone(), has_read_all: input.is_all, kept: Some(input), ..self }
    }

    /// Whether it was opened, and is not answered yet.
    pub fn is_asked(&self) -> bool {
        matches!(self.state, State::Asked { .. })
    }

    /// What was read, for a stream that broke before the peer had sent anything.
    pub fn unheard(&mut self) -> Option<Input> {
        self.kept.take().filter(|_| matches!(self.state, State::Over(Ended::Broken(_))))
    }

    fn ended(&self) -> Option<&Ended> {
        match &self.state {
            State::Over(ended) if self.arrived.is_empty() => Some(ended),
            State::Over(_) | State::Open(_) | State::Asked { .. } => None,
        }
    }

    /// Whether an event of a port belongs to this stream.
    pub fn is_meant(&self, at: usize, heard: &Heard) -> bool {
        let session = match heard {
            Heard::Opened { user, .. } | Heard::Failed { user, .. } => {
                return at == self.at && self.state == State::Asked { user: *user };
            }
            Heard::Accepted { .. } => return false,
            Heard::Deliver { session, .. }
            | Heard::Finished { session }
            | Heard::Closed { session }
            | Heard::Broken { session, .. } => *session,
        };
        at == self.at && self.state == State::Open(session)
    }

    /// Handles an event of the port.
    pub fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Opened { session, .. } => self.state = State::Open(session),
            Heard::Failed { reason, .. } | Heard::Broken { reason, .. } => self.over(Ended::Broken(reason)),
            Heard::Deliver { octets, .. } if !octets.is_empty() && !self.has_shut_end => {
                self.kept = None;
                self.sizes.push_back(octets.len());
                self.arrived.extend(octets);
            }
            Heard::Deliver { .. } | Heard::Accepted { .. } => {}
            Heard::Finished { .. } => {
                self.kept = None;
                self.is_finished = true;
            }
            Heard::Closed { .. } => {
                let is_clean = self.has_shut && self.is_finished;
                self.over(if is_clean { Ended::Cleanly } else { Ended::Broken("closed".to_string()) });
            }
        }
    }

    fn over(&mut self, how: Ended) {
        self.state = State::Over(how);
        self.piece.clear();
    }

    /// Whether to wait for input: not while a piece waits for the stack.
    pub fn wants_to_read(&self) -> bool {
        matches!(self.state, State::Open(_)) && self.piece.is_empty() && !self.has_read_all
    }

    /// Whether to look if the end breaks while nothing is read from it: until we have ended our direction there, nothing else says
    /// that both directions are over.
    pub fn wants_to_hear_of_breaks(&self) -> bool {
        matches!(self.state, State::Open(_)) && !self.wants_to_read() && !self.has_shut_end
    }

    /// The end may be broken.
    pub fn look(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let whole = self.end.is_whole();
        self.unless_gone(stack, whole).map(|_| ())
    }

    /// Whether there is something to write.
    pub fn wants_to_write(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// The end in the operating system.
    pub fn end(&self) -> &dyn End {
        self.end.as_ref()
    }

    /// When to try again to send what the stack did not accept.
    pub fn again(&self) -> Option<u64> {
        self.again.filter(|_| !self.piece.is_empty())
    }

    /// The connection in the operating system is established, or has failed.
    pub fn has_come(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let come = self.end.has_come();
        self.unless_gone(stack, come).map(|_| ())
    }

    /// Reads a piece.
    pub fn read(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let read = self.end.read(PIECE);
        match self.unless_gone(stack, read)? {
            Some(Taken::Octets(octets)) => {
                self.keep(&octets);
                self.piece = octets;
            }
            Some(Taken::Ended) => {
                self.has_read_all = true;
                self.kept.iter_mut().for_each(|kept| kept.is_all = true);
            }
            Some(Taken::Later) | None => {}
        }
        Ok(())
    }

    fn keep(&mut self, octets: &[u8]) {
        if let Some(kept) = &mut self.kept {
            kept.octets.extend_from_slice(octets);
        }
        self.kept = self.kept.take().filter(|kept| kept.octets.len() <= KEPT);
    }

    /// Writes as much as there is room for, and asks the stack for the same amount. What stays here though there is room
    /// is missing in the stack's window, and a peer that fills a small window fills it again before the next turn.
    pub fn write(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let (mut messages, mut octets) = (0, 0);
        while !self.arrived.is_empty() {
            let wrote = self.end.write(self.arrived.as_slices().0);
            let Some(count) = self.unless_gone(stack, wrote)? else { return Ok(()) };
            if count == 0 {
                break;
            }
            octets += count;
            messages += self.drop_written(count);
        }
        if let State::Open(session) = self.state {
            let granted = (messages, octets as u64);
            if octets > 0 && !self.is_finished {
                stack.say(self.at, Say::GrantDelivers, &What { session, granted, ..What::NOTHING })?;
            }
        }
        Ok(())
    }

    /// Drops the octets that were written; returns how many messages ended with them.
    fn drop_written(&mut self, mut count: usize) -> u64 {
        self.arrived.drain(..count);
        let mut messages = 0;
        while let Some(left) = self.sizes.front_mut() {
            if *left > count {
                *left -= count;
                break;
            }
            count -= *left;
            self.sizes.pop_front();
            messages += 1;
        }
        messages
    }

    /// Sends what was read, and signals the ends of directions.
    pub fn go_on(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let State::Open(session) = self.state else { return Ok(()) };
        while !self.piece.is_empty() {
            let count = self.piece.len().min(stack.credit(self.at, session)?);
            let what = What { session, octets: &self.piece[..count], ..What::NOTHING };
            if count == 0 || !stack.say(self.at, Say::Send, &what)? {
                self.again = Some(stack.live.now().saturating_add(PATIENCE));
                break;
            }
            self.piece.drain(..count);
        }
        if self.has_read_all && self.piece.is_empty() && !self.has_shut {
            self.has_shut = true;
            self.has_shut_first = !self.is_finished;
            stack.say(self.at, Say::Shut, &What { session, ..What::NOTHING })?;
        }
        if self.is_finished && self.arrived.is_empty() && !self.has_shut_end {
            self.has_shut_end = true;
            self.end.shut();
        }
        if self.has_shut && self.has_shut_end && !self.has_closed {
            self.has_closed = true;
            stack.say(self.at, Say::Close, &What { session, ..What::NOTHING })?;
        }
        Ok(())
    }

    /// Whether the peer may not have received our last message: the side that ends its direction first is the last to
    /// answer.
    pub fn may_be_asked(&self) -> bool {
        self.has_shut_first && self.state == State::Over(Ended::Cleanly)
    }

    /// How it ended, once everything received has been written; the process at the end in the operating system is told.
    pub fn conclude(&mut self) -> Option<Ended> {
        let ended = self.ended()?.clone();
        match ended {
            Ended::Cleanly if self.has_shut_end => {}
            Ended::Cleanly => self.end.shut(),
            Ended::Broken(_) | Ended::Unread(..) => self.end.reset(),
        }
        self.has_shut_end = true;
        Some(ended)
    }

    /// Aborts the session; returns whether it was still open.
    pub fn abort(&mut self, stack: &mut Stack<'_>, how: Ended) -> Result<bool, Failure> {
        let is_cut = !matches!(self.state, State::Over(Ended::Cleanly)) || !self.arrived.is_empty();
        if let State::Open(session) = self.state {
            stack.say(self.at, Say::Abort, &What { session, ..What::NOTHING })?;
        }
        self.arrived.clear();
        self.sizes.clear();
        self.over(how);
        Ok(is_cut)
    }

    /// The result of a system call; if it failed, the session is aborted.
    fn unless_gone<T>(
        &mut self,
        stack: &mut Stack<'_>,
        given: Result<T, std::io::Error>,
    ) -> Result<Option<T>, Failure> {
        match given {
            Ok(given) => Ok(Some(given)),
            Err(error) => {
                self.abort(stack, Ended::Unread(error.kind(), error.to_string()))?;
                Ok(None)
            }
        }
    }
}
