//! Runs one body from its entry to its end: blocks, arguments, and counts of edges.

use mokume_reaction::{BlockId, Body, ClassId, FunctionId, HandlerId, Target, Terminator, Type, Unit, Value};

use crate::arrays::Arrays;
use crate::core::Core;
use crate::program::{BlockInfo, FunctionInfo, Program};

/// The current body, and the place of its values.
#[derive(Clone, Copy)]
pub struct Activation<'a> {
    pub program: &'a Program,
    pub body: &'a Body,
    /// `None` for a function without effects.
    pub blocks: Option<&'a [BlockInfo]>,
    pub arrays: &'a Arrays,
    pub base: usize,
}

impl Activation<'_> {
    /// The type of a value of this body.
    pub fn ty(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    /// The class of a reference; for any other value, a class that no automaton has.
    pub fn class(&self, object: Value) -> ClassId {
        match self.ty(object) {
            Type::Ref(class) => class,
            _ => ClassId(u32::MAX),
        }
    }
}

/// The successor of a block: an edge, and the results that come before the target's own arguments.
pub enum Next<'a> {
    Go { edge: u32, to: &'a Target },
    Stop,
    Values(&'a [Value]),
    Refused(&'a [Value]),
}

/// How a function ended, with the values that it gives.
pub(crate) enum Answer<'a> {
    Given(&'a [Value]),
    Refused(&'a [Value]),
}

impl Core {
    /// Runs a handler; its emissions are added to `events`.
    pub fn run_handler(&mut self, program: &Program, handler: HandlerId, object: u64, args: &[u64]) {
        let body = &program.automaton.handlers[handler.index()].body;
        let info = &program.handlers[handler.index()];
        if body.blocks.is_empty() {
            return;
        }
        if let Some(coverage) = self.coverage() {
            coverage.handlers[handler.index()] += 1;
        }
        if let Some(ways) = self.ways() {
            ways.going.handler(handler);
        }
        self.note_step(program, handler, object);
        self.run_body(program, body, (&info.arrays, &info.blocks, Unit::Handler(handler)), object, args);
    }

    /// Runs a path; returns whether it did not refuse. Its outputs are added to `events`.
    pub fn run_path(&mut self, program: &Program, path: u32, object: u64, args: &[u64]) -> bool {
        let body = &program.automaton.paths[path as usize].body;
        let info = &program.paths[path as usize];
        !self.run_body(program, body, (&info.arrays, &info.blocks, Unit::Path((path as usize).into())), object, args)
    }

    /// Runs a body for an object; returns whether it refused.
    fn run_body(
        &mut self,
        program: &Program,
        body: &Body,
        (arrays, blocks, unit): (&Arrays, &[BlockInfo], Unit),
        object: u64,
        args: &[u64],
    ) -> bool {
        let base = self.make_registers(body, arrays);
        let Some(entry) = body.blocks.first() else { return true };
        for (param, value) in entry.params.iter().zip(std::iter::once(&object).chain(args)) {
            self.registers[base + param.index()] = *value;
        }
        let activation = Activation { program, body, blocks: Some(blocks), arrays, base };
        let refused = match self.noted(unit) {
            Some((path, exits)) => self.run_path_noted(activation, path, &exits),
            None => matches!(self.run_blocks(activation, unit), Some(Answer::Refused(_))),
        };
        self.registers.truncate(base);
        refused
    }

    /// Calls a function, or runs a procedure; `args` and `results` are values of the caller.
    pub fn call(&mut self, caller: Activation, function: FunctionId, args: &[Value], results: &[Value]) {
        let (base, answer) = self.answer(caller, function, args);
        if let Some(Answer::Given(values)) = answer {
            for (result, value) in results.iter().zip(values) {
                self.registers[caller.base + result.index()] = self.registers[base + value.index()];
            }
        }
        self.registers.truncate(base);
        let is_random = || caller.program.automaton.functions[function.index()].is_pseudorandom();
        if let (Some(chance), [result]) = (&mut self.chance, results) {
            if is_random() {
                let given = args.iter().map(|arg| self.registers[caller.base + arg.index()]).collect();
                let place = caller.base + result.index();
                self.registers[place] = chance.look_random(function, given, self.registers[place]);
            }
        }
    }

    /// The results of a function that only reads, for these arguments.
    pub fn told(mut self, program: &Program, function: FunctionId, args: &[u64]) -> Vec<u64> {
        let body = &program.automaton.functions[function.index()].body;
        let FunctionInfo { arrays, blocks } = &program.functions[function.index()];
        let base = self.make_registers(body, arrays);
        let Some(entry) = body.blocks.first() else { return Vec::new() };
        for (param, arg) in entry.params.iter().zip(args) {
            self.registers[base + param.index()] = *arg;
        }
        let activation = Activation { program, body, blocks: blocks.as_deref(), arrays, base };
        match self.run_blocks(activation, Unit::Function(function)) {
            Some(Answer::Given(values)) => values.iter().map(|value| self.registers[base + value.index()]).collect(),
            Some(Answer::Refused(_)) | None => Vec::new(),
        }
    }

    /// Runs a procedure that may refuse; returns whether it did not. Puts its results, or what it gives back, into
    /// `scratch`.
    pub fn try_call(&mut self, caller: Activation, function: FunctionId, args: &[Value]) -> bool {
        let (base, answer) = self.answer(caller, function, args);
        self.scratch.clear();
        let (done, values) = match answer {
            Some(Answer::Given(values)) => (true, values),
            Some(Answer::Refused(values)) => (false, values),
            None => (false, &[][..]),
        };
        self.scratch.extend(values.iter().map(|value| self.registers[base + value.index()]));
        self.registers.truncate(base);
        done
    }

    /// Runs a function; the registers from the number on are still its own.
    fn answer<'a>(
        &mut self,
        caller: Activation<'a>,
        function: FunctionId,
        args: &[Value],
    ) -> (usize, Option<Answer<'a>>) {
        let body = &caller.program.automaton.functions[function.index()].body;
        let FunctionInfo { arrays, blocks } = &caller.program.functions[function.index()];
        let base = self.make_registers(body, arrays);
        let Some(entry) = body.blocks.first() else { return (base, None) };
        for (param, arg) in entry.params.iter().zip(args) {
            self.registers[base + param.index()] = self.registers[caller.base + arg.index()];
        }
        let activation = Activation { program: caller.program, body, blocks: blocks.as_deref(), arrays, base };
        (base, self.run_blocks(activation, Unit::Function(function)))
    }

    fn run_blocks<'a>(&mut self, at: Activation<'a>, unit: Unit) -> Option<Answer<'a>> {
        if self.watching.is_some() {
            return self.run_blocks_observed(at, unit);
        }
        let mut current = BlockId(0);
        loop {
            let block = &at.body.blocks[current.index()];
            self.note_places(at.body, current);
            for (place, op) in block.ops.iter().enumerate() {
                self.operation(at, current, place, op);
            }
            self.scratch.clear();
            match self.terminator(at, current, &block.terminator) {
                Next::Go { edge, to } => {
                    self.count_edge(at, current, edge);
                    self.enter(at, to);
                    current = to.block;
                }
                Next::Stop => return None,
                Next::Values(values) => return Some(Answer::Given(values)),
                Next::Refused(values) => return Some(Answer::Refused(values)),
            }
        }
    }

    /// Assigns results (in `scratch`) and arguments to the target's parameters, all at once.
    pub(crate) fn enter(&mut self, at: Activation, to: &Target) {
        self.scratch.extend(to.args.iter().map(|arg| self.registers[at.base + arg.index()]));
        if !at.arrays.is_empty() {
            return self.enter_with_arrays(at, to);
        }
        let params = &at.body.blocks[to.block.index()].params;
        for (param, value) in params.iter().zip(&self.scratch) {
            self.registers[at.base + param.index()] = *value;
        }
    }

    pub(crate) fn count_edge(&mut self, at: Activation, block: BlockId, edge: u32) {
        let Some(blocks) = at.blocks else { return };
        let first = blocks[block.index()].edge;
        if let Some(coverage) = self.coverage() {
            coverage.edges[(first + edge) as usize] += 1;
        }
        if let Some(ways) = self.ways() {
            if !matches!(at.body.blocks[block.index()].terminator, Terminator::Jump { .. }) {
                ways.going.branch(block, edge);
            }
        }
    }

    pub(crate) fn ways(&mut self) -> Option<&mut crate::record::Ways> {
        self.recording.as_mut()?.ways.as_mut()
    }

    fn coverage(&mut self) -> Option<&mut crate::record::Coverage> {
        self.recording.as_mut()?.coverage.as_mut()
    }

    /// The content of a value. The verifier ensures that its definition has run.
    pub fn get(&self, at: Activation, value: Value) -> u64 {
        self.registers[at.base + value.index()]
    }

    /// Sets a value. The word must fit the value's type: nothing cuts it here.
    pub fn set(&mut self, at: Activation, value: Value, word: u64) {
        self.registers[at.base + value.index()] = word;
    }
}

/// The end of a handler, for terminators that make no sense there.
pub fn stop(terminator: &Terminator) -> Next<'_> {
    debug_assert!(matches!(terminator, Terminator::Return), "the verifier excludes this end of a handler");
    Next::Stop
}
