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

/// Pieces of this size and less are not cut again to find how much the stack still takes.
const LEAST: usize = 1024;

/// How long to wait where the stack took nothing and may have nothing to say: its room may be used by others.
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

/// A stream on its way.
pub struct Link {
    /// Which of the stack's stream ports.
    pub at: usize,
    /// For people: who is at the other end.
    pub name: String,
    state: State,
    end: Box<dyn End>,
    /// What was read and not sent, and how much the stack is known to take.
    piece: Vec<u8>,
    room: Room,
    has_read_all: bool,
    has_shut: bool,
    has_closed: bool,
    /// What came and was not written.
    arrived: VecDeque<Vec<u8>>,
    /// Octets of the first of them that were.
    written: usize,
    is_finished: bool,
    has_shut_end: bool,
}

/// How many octets the stack takes, as far as is known: it says how much was freed, and drops what is too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Room {
    /// Nothing was refused yet.
    Unknown,
    /// So much was too much: twice this.
    LessThanTwice(usize),
    /// So many; where there are none, to be tried again at a time.
    Known { octets: u64, again: u64 },
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
            room: Room::Unknown,
            has_read_all: false,
            has_shut: false,
            has_closed: false,
            arrived: VecDeque::new(),
            written: 0,
            is_finished: false,
            has_shut_end: false,
        }
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
            | Heard::Granted { session, .. }
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
            Heard::Deliver { octets, .. } if !octets.is_empty() && !self.has_shut_end => self.arrived.push_back(octets),
            Heard::Deliver { .. } | Heard::Accepted { .. } => {}
            Heard::Granted { octets, .. } => self.room.grows(octets),
            Heard::Finished { .. } => self.is_finished = true,
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
        match self.room {
            Room::Known { octets: 0, again } if !self.piece.is_empty() => Some(again),
            Room::Known { .. } | Room::Unknown | Room::LessThanTwice(_) => None,
        }
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
            Some(Taken::Octets(octets)) => self.piece = octets,
            Some(Taken::Ended) => self.has_read_all = true,
            Some(Taken::Later) | None => {}
        }
        Ok(())
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
            let Some(most) = self.room.most(stack.live.now()) else { break };
            let count = self.piece.len().min(most);
            let taken = stack.send(self.at, session, &self.piece[..count])?;
            if taken {
                self.piece.drain(..count);
            }
            self.room.tried(count, taken, stack.live.now());
        }
        if self.has_read_all && self.piece.is_empty() && !self.has_shut {
            self.has_shut = true;
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

    /// Ends the session at once.
    pub fn abort(&mut self, stack: &mut Stack<'_>, how: Ended) -> Result<(), Failure> {
        if let State::Open(session) = self.state {
            stack.say(self.at, Say::Abort, &What { session, ..What::NOTHING })?;
        }
        self.arrived.clear();
        self.over(how);
        Ok(())
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

impl Room {
    /// How much to try now; nothing, where it is known that nothing is taken.
    fn most(&mut self, now: u64) -> Option<usize> {
        match *self {
            Room::Unknown => Some(PIECE),
            Room::LessThanTwice(half) => Some(half),
            Room::Known { octets: 0, again } if again > now => None,
            Room::Known { octets: 0, .. } => Some(LEAST),
            Room::Known { octets, .. } => Some(usize::try_from(octets).unwrap_or(PIECE).min(PIECE)),
        }
    }

    /// Whether so many octets were taken that were tried.
    fn tried(&mut self, count: usize, taken: bool, now: u64) {
        let nothing = Room::Known { octets: 0, again: now.saturating_add(PATIENCE) };
        *self = match (*self, taken) {
            (Room::Unknown, true) => Room::Unknown,
            (Room::Known { octets, again }, true) => {
                Room::Known { octets: octets.saturating_sub(count as u64), again: again.max(now) }
            }
            (Room::Unknown, false) if count > LEAST => Room::LessThanTwice(count / 2),
            (Room::LessThanTwice(half), _) if half > LEAST => Room::LessThanTwice(half / 2),
            (Room::Unknown | Room::LessThanTwice(_) | Room::Known { .. }, _) => nothing,
        };
    }

    /// The stack takes so many more; none said: it may.
    fn grows(&mut self, more: u64) {
        *self = match *self {
            Room::Known { octets, again } if more > 0 => Room::Known { octets: octets.saturating_add(more), again },
            Room::Unknown | Room::LessThanTwice(_) | Room::Known { .. } => Room::Unknown,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that takes `left` octets, and what is sent to it until it takes no more.
    fn filled(room: &mut Room, left: &mut usize) -> usize {
        let mut sent = 0;
        while let Some(count) = room.most(0) {
            let taken = count <= *left;
            if taken {
                *left -= count;
                sent += count;
            }
            room.tried(count, taken, 0);
        }
        sent
    }

    #[test]
    fn what_a_stack_takes_is_found_but_for_less_than_a_kilobyte() {
        for size in [0, 1, 1023, 1024, 5000, 65_535, 100_000, 123_456] {
            let (mut room, mut left) = (Room::Unknown, size);
            let sent = filled(&mut room, &mut left);
            assert!(sent + LEAST > size && sent <= size, "{sent} of {size}");
            room.grows(3000);
            left += 3000;
            let more = filled(&mut room, &mut left);
            assert_eq!(more, 3000, "what is granted is sent, and no more");
        }
    }

    #[test]
    fn what_is_refused_is_tried_again_later() {
        let mut room = Room::Unknown;
        filled(&mut room, &mut 0);
        assert_eq!(room.most(PATIENCE - 1), None);
        assert_eq!(room.most(PATIENCE), Some(LEAST));
    }
}
