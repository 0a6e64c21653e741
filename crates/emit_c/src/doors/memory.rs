//! The octets that an instance takes where addresses have 64 bits: the result of `NAME_size(&NAME_defaults)`.
//!
//! Keeps: the sum that `life.rs` writes, over the structure that `state/records.rs` writes.
//! `crates/emit_c/tests/octets.rs` and `crates/cli/tests/command.rs` let a compiler compare them.

use mokume_reaction::*;

use super::tables;
use crate::plan::heads::Beside;
use crate::plan::Plan;
use crate::state::octets;
use crate::types::stored_octets;
use crate::{kept, memos};

/// The memory of an instance, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needed {
    /// The structure: all objects, and what the runtime keeps.
    pub instance: u64,
    /// Events of a reaction that are not delivered yet.
    pub agenda: u64,
    /// Events that wait for a reaction of their own.
    pub later: u64,
    /// Outputs of a reaction, and reports.
    pub outputs: u64,
    /// The octets that paths put in front of outputs.
    pub front: u64,
    /// One buffer, with its head.
    pub buffer: u64,
    pub buffers: u64,
    /// One message: attributes, header records, views.
    pub message: u64,
    /// The messages, including the null message.
    pub messages: u64,
    /// Buffers and messages.
    pub pool: u64,
    /// The total.
    pub whole: u64,
}

/// `mk_core`, `mk_class`, `mk_timers`, `mk_channel`.
const CORE: u64 = 3_432;
const CLASS: u64 = 96;
const TIMERS: u64 = 32;
const CHANNEL: u64 = 16;
/// `mk_asked`: octets, aligned to one.
const ASKED: u64 = 4;
/// `mk_event`, `mk_output`, `mk_report`, `mk_buffer`, `mk_message`, `mk_view`.
const EVENT: u64 = 24;
const OUTPUT: u64 = 8;
const REPORT: u64 = 8;
const BUFFER: u64 = 16;
const MESSAGE: u64 = 32;
const VIEW: u64 = 16;

fn round(octets: u64) -> u64 {
    octets.next_multiple_of(16)
}

/// The memory of an instance with the stack's default sizes.
pub(crate) fn of(plan: &Plan) -> Needed {
    let automaton = plan.automaton;
    let words = plan.arguments as u64 * 8;
    let later: u64 = automaton.handlers.iter().map(|handler| u64::from(handler.later_capacity)).sum();
    let config = tables::config(plan);
    let buffers = u64::from(config.buffers);
    let messages = u64::from(config.messages) + 1;
    let buffer = round(BUFFER + u64::from(config.buffer_octets));
    let shape = automaton.attributes.len() as u64 * 8 + plan.received.len() as u64 * VIEW + plan.header_octets as u64;
    let message = round(MESSAGE + shape);
    let mut memory = Needed {
        instance: round(instance(plan)),
        agenda: round((plan.agenda as u64 + 1) * (EVENT + words)),
        later: round((later + 1) * (EVENT + words)),
        outputs: round(u64::from(config.outputs) * (OUTPUT + words)) + round(u64::from(config.reports) * REPORT),
        front: match super::life::front_room(plan) as u64 {
            0 => 0,
            front => round(2 * front + u64::from(config.buffer_octets)),
        },
        buffer,
        buffers,
        message,
        messages,
        pool: buffers * buffer + messages * message + round(plan.head_room as u64),
        whole: 0,
    };
    memory.whole = memory.instance + memory.agenda + memory.later + memory.outputs + memory.front + memory.pool;
    memory
}

/// A structure under construction: where the next member may be placed.
#[derive(Default)]
struct Structure {
    end: u64,
    widest: u64,
}

impl Structure {
    fn add(&mut self, align: u64, octets: u64) {
        self.end = self.end.next_multiple_of(align) + octets;
        self.widest = self.widest.max(align);
    }

    fn size(&self) -> u64 {
        self.end.next_multiple_of(self.widest.max(1))
    }
}

/// The structure of the stack.
fn instance(plan: &Plan) -> u64 {
    let automaton = plan.automaton;
    let at_least = |count: usize| count.max(1) as u64;
    let mut all = Structure::default();
    all.add(8, CORE);
    let outputs: usize = automaton.ports.iter().map(|port| port.outputs.len()).sum();
    let outputs = outputs + super::parts::all(plan).len();
    all.add(8, 8 * (outputs as u64 + 2) + 16 * super::outputs::told(plan).len() as u64);
    if !automaton.params.is_empty() {
        let mut params = Structure::default();
        for param in &automaton.params {
            let octets = u64::from(stored_octets(automaton, param.ty));
            params.add(octets, octets);
        }
        all.add(params.widest, params.size());
    }
    all.add(8, CLASS * at_least(automaton.classes.len()));
    for (at, class) in automaton.classes.iter().enumerate() {
        let id = ClassId::from(at);
        let places = u64::from(class.capacity) + 1;
        let records = places - u64::from(plan.is_sole(id));
        all.add(octets::record_align(automaton, id), records * octets::record_octets(automaton, id));
        for beside in plan.heads.all(id) {
            let align = if beside.octets() % 8 == 0 && *beside != Beside::Settling { 8 } else { 4 };
            all.add(align, places * beside.octets());
        }
        if plan.heads.has(id, Beside::Kin) {
            let parents = class.parent.map_or(1, |parent| automaton.class(parent).capacity).max(1);
            all.add(4, octets::FAMILY * u64::from(parents));
        }
        let bits = 8 * u64::from(class.capacity.max(1)).div_ceil(64);
        all.add(8, bits);
        if plan.mortal.contains(&id) {
            all.add(8, bits);
        }
    }
    all.add(1, ASKED * automaton.paths.len() as u64);
    if automaton.functions.iter().any(Function::is_memo) {
        all.add(8, 8);
    }
    memos::of(automaton, None).for_each(|memo| all.add(8, memos::octets(automaton, memo)));
    plan.families.iter().for_each(|family| all.add(8, kept::octets(plan, family)));
    all.add(8, TIMERS * at_least(plan.timers.len()));
    all.add(8, CHANNEL * at_least(plan.channels.len()));
    all.add(8, 8 * at_least(plan.counters.len()));
    all.add(8, 16 * at_least(automaton.reasons.len()));
    let later = automaton.handlers.iter().filter(|handler| handler.later_capacity > 0).count();
    all.add(4, 4 * later as u64);
    all.size()
}
