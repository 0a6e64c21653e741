//! One stream: a session of the stack on one side, an end in the operating system on the other, and octets both ways.
//!
//! Keeps: nothing is read that the stack has no credit for, but for one piece; the stack is asked for more when what it gave was
//! written; each direction ends by itself.

use std::collections::VecDeque;
use std::io::ErrorKind;

use mokume_reaction::Handle;

use super::ends::{End, Taken};
use super::ports::{Heard, Say, What};
use super::stack::Stack;
use crate::failure::Failure;

/// Octets read at once.
const PIECE: usize = 16 * 1024;

/// How long to wait where the stack takes nothing and may have nothing to say: its room may be used by others.
const PATIENCE: u64 = 50_000_000;

/// How a stream ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All that was sent has arrived, and all that came was written.
    Cleanly,
    /// Whoever is at the other end, or the network, ended it; with the reason.
    Broken(String),
    /// The end in the operating system takes or gives no more; with the reason.
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

/// What was read of the standard input for somebody who may be gone before he has said anything.
#[derive(Clone, Default, Debug)]
pub struct Input {
    octets: Vec<u8>,
    /// There is no more.
    is_all: bool,
}

/// So much is kept for the next one.
const KEPT: usize = 64 * 1024;

/// A stream on its way.
pub struct Link {
    /// Which of the stack's stream ports.
    pub at: usize,
    /// For people: who is at the other end.
    pub name: String,
    state: State,
    end: Box<dyn End>,
    /// What was read and not sent, and when to ask again whether the stack takes it.
    piece: Vec<u8>,
    again: Option<u64>,
    has_read_all: bool,
    has_shut: bool,
    /// We said that nothing more comes before the other end did.
    has_shut_first: bool,
    has_closed: bool,
    /// What came and was not written.
    arrived: VecDeque<Vec<u8>>,
    /// Octets of the first of them that were.
    written: usize,
    is_finished: bool,
    has_shut_end: bool,
    /// What was read so far, as long as the other end has said nothing and it is not too much.
    kept: Option<Input>,
}

impl Link {
    /// A stream that was asked for with this number.
    pub fn asked(at: usize, user: u64, end: Box<dyn End>, name: String) -> Link {
        Link::new(at, State::Asked { user }, end, name)
    }

    /// A stream that the other end began.
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
            written: 0,
            is_finished: false,
            has_shut_end: false,
            kept: Some(Input::default()),
        }
    }

    /// The same; this was read for somebody else, who never heard it.
    pub fn with_input(self, input: Input) -> Link {
        Link { piece: input.octets.clone(), has_read_all: input.is_all, kept: Some(input), ..self }
    }

    /// Whether it was asked for, and nobody has answered.
    pub fn is_asked(&self) -> bool {
        matches!(self.state, State::Asked { .. })
    }

    /// What was read, of a stream that broke before the other end had said anything.
    pub fn unheard(&mut self) -> Option<Input> {
        self.kept.take().filter(|_| matches!(self.state, State::Over(Ended::Broken(_))))
    }

    fn ended(&self) -> Option<&Ended> {
        match &self.state {
            State::Over(ended) if self.arrived.is_empty() => Some(ended),
            State::Over(_) | State::Open(_) | State::Asked { .. } => None,
        }
    }

    /// Whether something that a port said is of this stream.
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

    /// Takes what the port said.
    pub fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Opened { session, .. } => self.state = State::Open(session),
            Heard::Failed { reason, .. } | Heard::Broken { reason, .. } => self.over(Ended::Broken(reason)),
            Heard::Deliver { octets, .. } if !octets.is_empty() && !self.has_shut_end => {
                self.kept = None;
                self.arrived.push_back(octets);
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

    /// Whether to wait for something to read: there is none that waits for the stack.
    pub fn wants_to_read(&self) -> bool {
        matches!(self.state, State::Open(_)) && self.piece.is_empty() && !self.has_read_all
    }

    /// Whether there is something to write.
    pub fn wants_to_write(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// The end in the operating system.
    pub fn end(&self) -> &dyn End {
        self.end.as_ref()
    }

    /// When to try again what the stack did not take.
    pub fn again(&self) -> Option<u64> {
        self.again.filter(|_| !self.piece.is_empty())
    }

    /// What was asked for in the operating system is there, or not.
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

    /// Writes what there is room for, and asks the stack for as much.
    pub fn write(&mut self, stack: &mut Stack<'_>) -> Result<(), Failure> {
        let Some(first) = self.arrived.front() else { return Ok(()) };
        let wrote = self.end.write(&first[self.written..]);
        let Some(count) = self.unless_gone(stack, wrote)? else { return Ok(()) };
        self.written += count;
        let is_whole = self.arrived.front().is_some_and(|first| self.written >= first.len());
        if is_whole {
            self.arrived.pop_front();
            self.written = 0;
        }
        if let State::Open(session) = self.state {
            let granted = (u64::from(is_whole), count as u64);
            if count > 0 && !self.is_finished {
                stack.say(self.at, Say::GrantDelivers, &What { session, granted, ..What::NOTHING })?;
            }
        }
        Ok(())
    }

    /// Sends what was read, and says what there is to say of ends.
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

    /// Whether it may be that the other end has not heard our last word: who ends its direction first answers the other's end.
    pub fn may_be_asked(&self) -> bool {
        self.has_shut_first && self.state == State::Over(Ended::Cleanly)
    }

    /// How it ended, once all that came has been written; whoever is behind the end in the operating system is told the same.
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

    /// Ends the session at once; whether it had not ended.
    pub fn abort(&mut self, stack: &mut Stack<'_>, how: Ended) -> Result<bool, Failure> {
        let is_cut = !matches!(self.state, State::Over(Ended::Cleanly)) || !self.arrived.is_empty();
        if let State::Open(session) = self.state {
            stack.say(self.at, Say::Abort, &What { session, ..What::NOTHING })?;
        }
        self.arrived.clear();
        self.over(how);
        Ok(is_cut)
    }

    /// What the operating system gave; where it refused, the session is aborted.
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
