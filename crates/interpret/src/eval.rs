//! One body, from its entry to its end: blocks, arguments, and edges counted.

use mokume_reaction::{BlockId, Body, ClassId, FunctionId, HandlerId, Target, Terminator, Type, Value};

use crate::arrays::Arrays;
use crate::core::Core;
use crate::program::{HandlerInfo, Program};

/// The body at hand and where its values are.
#[derive(Clone, Copy)]
pub struct Activation<'a> {
    pub program: &'a Program,
    pub body: &'a Body,
    /// None in a function.
    pub info: Option<&'a HandlerInfo>,
    pub arrays: &'a Arrays,
    pub base: usize,
}

impl Activation<'_> {
    /// The type of a value of this body.
    pub fn ty(&self, value: Value) -> Type {
        self.body.values[value.index()].ty
    }

    /// The class of a value that is a reference; of any other a class that no automaton has.
    pub fn class(&self, object: Value) -> ClassId {
        match self.ty(object) {
            Type::Ref(class) => class,
            _ => ClassId(u32::MAX),
        }
    }
}

/// Where a block's terminator leads: an edge and the results that come before the target's own arguments.
pub enum Next<'a> {
    Go { edge: u32, to: &'a Target },
    Stop,
    Values(&'a [Value]),
}

impl Core {
    /// Runs a handler; its emissions are added to `events`.
    pub fn run_handler(&mut self, program: &Program, handler: HandlerId, object: u64, args: &[u64]) {
        let body = &program.automaton.handlers[handler.index()].body;
        let info = &program.handlers[handler.index()];
        let base = self.make_registers(body, &info.arrays);
        let activation = Activation { program, body, info: Some(info), arrays: &info.arrays, base };
        let Some(entry) = body.blocks.first() else { return };
        let values = std::iter::once(&object).chain(args);
        for (param, value) in entry.params.iter().zip(values) {
            self.registers[base + param.index()] = *value;
        }
        if let Some(coverage) = self.coverage() {
            coverage.handlers[handler.index()] += 1;
        }
        self.run_blocks(activation);
        self.registers.truncate(base);
    }

    /// The values of a function; `args` are values of the caller.
    pub fn call(&mut self, caller: Activation, function: FunctionId, args: &[Value], results: &[Value]) {
        let body = &caller.program.automaton.functions[function.index()].body;
        let arrays = &caller.program.functions[function.index()];
        let base = self.make_registers(body, arrays);
        let Some(entry) = body.blocks.first() else { return };
        for (param, arg) in entry.params.iter().zip(args) {
            self.registers[base + param.index()] = self.registers[caller.base + arg.index()];
        }
        let activation = Activation { program: caller.program, body, info: None, arrays, base };
        if let Some(values) = self.run_blocks(activation) {
            for (result, value) in results.iter().zip(values) {
                self.registers[caller.base + result.index()] = self.registers[base + value.index()];
            }
        }
        self.registers.truncate(base);
    }

    fn run_blocks<'a>(&mut self, at: Activation<'a>) -> Option<&'a [Value]> {
        let mut current = BlockId(0);
        loop {
            let block = &at.body.blocks[current.index()];
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
                Next::Values(values) => return Some(values),
            }
        }
    }

    /// Results (in `scratch`) and arguments become the target's parameters, all at once.
    fn enter(&mut self, at: Activation, to: &Target) {
        self.scratch.extend(to.args.iter().map(|arg| self.registers[at.base + arg.index()]));
        if !at.arrays.is_empty() {
            return self.enter_with_arrays(at, to);
        }
        let params = &at.body.blocks[to.block.index()].params;
        for (param, value) in params.iter().zip(&self.scratch) {
            self.registers[at.base + param.index()] = *value;
        }
    }

    fn count_edge(&mut self, at: Activation, block: BlockId, edge: u32) {
        let Some(info) = at.info else { return };
        let first = info.blocks[block.index()].edge;
        if let Some(coverage) = self.coverage() {
            coverage.edges[(first + edge) as usize] += 1;
        }
    }

    fn coverage(&mut self) -> Option<&mut crate::record::Coverage> {
        self.recording.as_mut()?.coverage.as_mut()
    }

    /// What a value holds. Before its definition was carried out that is nothing of sense: the verifier has seen to
    /// the order.
    pub fn get(&self, at: Activation, value: Value) -> u64 {
        self.registers[at.base + value.index()]
    }

    /// Sets a value. The word must fit the value's type: nothing cuts it here.
    pub fn set(&mut self, at: Activation, value: Value, word: u64) {
        self.registers[at.base + value.index()] = word;
    }
}

/// The end of a handler, for terminators that make no sense in one.
pub fn stop(terminator: &Terminator) -> Next<'_> {
    debug_assert!(matches!(terminator, Terminator::Return), "the verifier excludes this end of a handler");
    Next::Stop
}
