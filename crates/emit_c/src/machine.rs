//! A compiled stack behind the interface of all running stacks.
//!
//! Requests and answers are octets, little-endian, as `harness.c` reads and writes them. If the program ends (a
//! sanitizer's finding, a crash), that is recorded; every later outcome is empty, and [`CMachine::failure`] says why.

use std::sync::Arc;

use mokume_reaction::{Accounts, Datum, Handle, Machine, Outcome, Output, PortId, ReasonId, Report, Unit};

use crate::build::CProgram;
use crate::request::*;

/// The reports that one call may make in C, where runs are compared with the interpreter: of a loop over a message's octets, some
/// of each octet. Places that nothing is put into cost nothing.
pub const REPORTS: u32 = 1 << 17;

/// The memory of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    pub buffers: u32,
    /// Octets of a buffer, including head room; longer messages are refused at the port.
    pub buffer_octets: u32,
    pub messages: u32,
    pub outputs: u32,
    pub reports: u32,
}

impl Default for Memory {
    /// Enough for what the interpreter, which has no such limits, uses in a test.
    fn default() -> Self {
        Memory { buffers: 2048, buffer_octets: 1 << 17, messages: 8192, outputs: 16384, reports: 16384 }
    }
}

/// Why a machine could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineError {
    /// A stack takes all its memory at the start, and there is not enough.
    NoMemory { stack: String, octets: u64 },
    /// The program ended, or has no such stack.
    Program(String),
}

impl MachineError {
    /// What the user can do about it.
    pub fn way_out(&self) -> &'static str {
        match self {
            MachineError::NoMemory { .. } => "write smaller capacities and quotas, or run it on a machine with more",
            MachineError::Program(_) => "please report this",
        }
    }
}

impl std::fmt::Display for MachineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MachineError::NoMemory { stack, octets } => {
                write!(f, "`{stack}` needs {octets} octets when it starts in C, and this machine does not give them")
            }
            MachineError::Program(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for MachineError {}

/// One instance of one stack of a program.
pub struct CMachine {
    program: Arc<CProgram>,
    stack: usize,
    id: u32,
    memory: Memory,
    failure: std::sync::Mutex<Option<String>>,
}

impl CMachine {
    /// A new instance, not started. `stack` is the automaton's index in the list that the program was built from;
    /// missing parameters are 0.
    pub fn new(
        program: &Arc<CProgram>,
        stack: usize,
        params: &[u64],
        seed: u64,
        memory: Memory,
    ) -> Result<CMachine, MachineError> {
        let Some(info) = program.stacks.get(stack) else {
            return Err(MachineError::Program(format!("the program has no stack {stack}")));
        };
        if let Some(id) = program.take_idle(stack, memory) {
            let machine = CMachine { program: program.clone(), stack, id, memory, failure: Default::default() };
            machine.reset(params, seed);
            return Ok(machine);
        }
        let mut request = vec![MAKE];
        request.extend((stack as u32).to_le_bytes());
        request.extend(settings(memory, seed, params, info.params));
        let answer = program.call(&request).map_err(MachineError::Program)?;
        let mut reader = Reader { octets: &answer };
        let id = reader.number(4) as u32;
        if id == u32::MAX {
            return Err(MachineError::NoMemory { stack: info.name.clone(), octets: reader.number(8) });
        }
        Ok(CMachine { program: program.clone(), stack, id, memory, failure: Default::default() })
    }

    /// Resets it to a new instance in the same memory, which is cheaper than making another.
    pub fn reset(&self, params: &[u64], seed: u64) {
        let count = self.program.stacks[self.stack].params;
        self.call(RESET, &settings(self.memory, seed, params, count));
    }

    /// Why the program ended, if it did.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// How often something ran out: buffers, messages, room for outputs or reports.
    pub fn exhausted(&self) -> u64 {
        let answer = self.call(ACCOUNTS, &[]);
        let mut reader = Reader { octets: &answer };
        reader.take(6 * 8);
        reader.number(8)
    }

    /// How often each branch was taken: handler or procedure, block, target, times. Empty unless the program counts
    /// them.
    pub fn coverage(&self) -> Vec<(Unit, usize, usize, u64)> {
        let answer = self.call(COVERAGE, &[]);
        let mut reader = Reader { octets: &answer };
        let count = reader.number(4) as usize;
        let branches = self.program.stacks[self.stack].branches.iter().take(count);
        branches.map(|(unit, block, target)| (*unit, *block, *target, reader.number(8))).collect()
    }

    fn call(&self, what: u8, rest: &[u8]) -> Vec<u8> {
        let mut failure = self.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if failure.is_some() {
            return Vec::new();
        }
        let mut request = vec![what];
        request.extend(self.id.to_le_bytes());
        request.extend_from_slice(rest);
        self.program.call(&request).unwrap_or_else(|reason| {
            *failure = Some(reason);
            Vec::new()
        })
    }

    fn outcome(&self, answer: &[u8]) -> Outcome {
        let mut reader = Reader { octets: answer };
        let refused = reader.number(1) != 0;
        let outputs = (0..reader.number(4)).map(|_| reader.output()).collect();
        let sources = &self.program.stacks[self.stack].sources;
        let reports = (0..reader.number(4)).map(|_| {
            let kind = report(reader.number(4));
            let source = reader.number(4) as usize;
            (kind, sources.get(source).cloned().unwrap_or_default())
        });
        let reports = reports.collect();
        Outcome { outputs, reports, refused }
    }
}

impl Drop for CMachine {
    fn drop(&mut self) {
        // Where branches are counted, each machine has its own counts.
        let is_plain = self.coverage().is_empty() && self.failure().is_none();
        if is_plain && self.program.keep_idle(self.stack, self.memory, self.id) {
            return;
        }
        let _ = self.call(FREE, &[]);
    }
}

/// By reference, so that the owner can keep and reset it.
impl Machine for &CMachine {
    fn exhausted(&self) -> u64 {
        CMachine::exhausted(self)
    }

    fn start(&mut self, now: u64) -> Outcome {
        let answer = self.call(START, &now.to_le_bytes());
        self.outcome(&answer)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let mut rest = now.to_le_bytes().to_vec();
        for number in [port.0, event, args.len() as u32] {
            rest.extend(number.to_le_bytes());
        }
        args.iter().for_each(|datum| put_datum(&mut rest, datum));
        let answer = self.call(INPUT, &rest);
        self.outcome(&answer)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        let answer = self.call(ADVANCE, &now.to_le_bytes());
        self.outcome(&answer)
    }

    fn next_deadline(&self) -> Option<u64> {
        let answer = self.call(NEXT_DEADLINE, &[]);
        let mut reader = Reader { octets: &answer };
        let armed = reader.number(1) != 0;
        let deadline = reader.number(8);
        armed.then_some(deadline)
    }

    fn accounts(&self) -> Accounts {
        let answer = self.call(ACCOUNTS, &[]);
        let mut reader = Reader { octets: &answer };
        let [received, gone, delivered, merged, held, refused, _] = std::array::from_fn(|_| reader.number(8));
        let (mut dropped, mut consumed) = (Vec::new(), Vec::new());
        for reason in (0..reader.number(4) as usize).map(ReasonId::from) {
            for list in [&mut dropped, &mut consumed] {
                match reader.number(8) {
                    0 => {}
                    total => list.push((reason, total)),
                }
            }
        }
        let counted = reader.number(4) as usize;
        let names = self.program.stacks[self.stack].counters.iter().take(counted);
        let counters = names.map(|name| (name.clone(), reader.number(8))).collect();
        Accounts { received, dropped, consumed, gone, delivered, merged, held, refused, counters }
    }
}

impl Machine for CMachine {
    fn exhausted(&self) -> u64 {
        CMachine::exhausted(self)
    }

    fn start(&mut self, now: u64) -> Outcome {
        (&*self).start(now)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        (&*self).input(now, port, event, args)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        (&*self).advance(now)
    }

    fn next_deadline(&self) -> Option<u64> {
        (&self).next_deadline()
    }

    fn accounts(&self) -> Accounts {
        (&self).accounts()
    }
}

impl crate::drive::Subject for &CMachine {
    fn is_beyond(&self) -> bool {
        self.failure().is_none() && self.exhausted() > 0
    }

    fn progress(&self) -> u64 {
        // Requested after every step, so the harness itself sums the counters.
        Reader { octets: &self.call(PROGRESS, &[]) }.number(4)
    }
}

/// The request that gives a machine's memory back.
pub(crate) fn freeing(id: u32) -> Vec<u8> {
    let mut request = vec![FREE];
    request.extend(id.to_le_bytes());
    request
}

fn settings(memory: Memory, seed: u64, params: &[u64], count: usize) -> Vec<u8> {
    let mut octets = seed.to_le_bytes().to_vec();
    for size in [memory.buffers, memory.buffer_octets, memory.messages, memory.outputs, memory.reports, count as u32] {
        octets.extend(size.to_le_bytes());
    }
    for place in 0..count {
        octets.extend(params.get(place).copied().unwrap_or(0).to_le_bytes());
    }
    octets
}

fn report(kind: u64) -> Report {
    match kind {
        0 => Report::Overflow,
        1 => Report::DivisionByZero,
        2 => Report::Bounds,
        3 => Report::Misuse,
        _ => Report::Narrow,
    }
}

fn put_datum(to: &mut Vec<u8>, datum: &Datum) {
    match datum {
        Datum::Word(word) => {
            to.push(0);
            to.extend(word.to_le_bytes());
        }
        Datum::Handle(handle) => {
            to.push(1);
            to.extend(handle.object.to_le_bytes());
            to.extend(handle.generation.to_le_bytes());
        }
        Datum::Message(octets) => {
            to.push(2);
            to.extend((octets.len() as u32).to_le_bytes());
            to.extend_from_slice(octets);
        }
    }
}

/// Reads numbers; beyond the end, zeros.
struct Reader<'a> {
    octets: &'a [u8],
}

impl Reader<'_> {
    fn take(&mut self, size: usize) -> &[u8] {
        let (taken, rest) = self.octets.split_at(size.min(self.octets.len()));
        self.octets = rest;
        taken
    }

    fn number(&mut self, size: usize) -> u64 {
        self.take(size).iter().rev().fold(0, |value, octet| value << 8 | u64::from(*octet))
    }

    fn output(&mut self) -> Output {
        let (port, event) = (PortId(self.number(4) as u32), self.number(4) as u32);
        let args = (0..self.number(4)).map(|_| self.datum()).collect();
        Output { port, event, args }
    }

    fn datum(&mut self) -> Datum {
        match self.number(1) {
            0 => Datum::Word(self.number(8)),
            1 => Datum::Handle(Handle { object: self.number(4) as u32, generation: self.number(4) as u32 }),
            _ => {
                let size = self.number(4) as usize;
                Datum::Message(self.take(size).to_vec())
            }
        }
    }
}
