//! The steps of the world: what can happen in a state, and what comes of it.

use std::ops::ControlFlow;

use crate::layout::{put_in, take_out, Layout, State};
use crate::locals::{LocalEvent, Locals};
use crate::world::Timers;

/// A step, by numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// The application sends, or a timer expires.
    Host {
        host: usize,
        event: LocalEvent,
    },
    /// The packet in a place of a channel arrives; `stays`: and another one like it stays behind.
    Deliver {
        channel: usize,
        place: usize,
        stays: bool,
    },
    Lose {
        channel: usize,
        place: usize,
    },
}

/// The fault of a step that puts a packet into a full channel which does not lose.
pub(crate) const NO_ROOM: u32 = 1;

/// Calls `visit` with each step, the state after it, and the fault that it is (0: none).
pub(crate) fn each_move<B>(
    locals: &mut Locals,
    layout: &Layout,
    state: &State,
    visit: &mut impl FnMut(Move, &State, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for host in 0..layout.hosts {
        host_moves(locals, layout, state, host, visit)?;
    }
    for channel in 0..layout.channels.len() {
        channel_moves(locals, layout, state, channel, visit)?;
    }
    ControlFlow::Continue(())
}

fn host_moves<B>(
    locals: &mut Locals,
    layout: &Layout,
    state: &State,
    host: usize,
    visit: &mut impl FnMut(Move, &State, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let info = &locals.info[state.hosts[host] as usize];
    let (may_send, timers) = (info.may_send, info.timers);
    let mut go = |locals: &mut Locals, event| {
        let (next, fault) = react(locals, layout, *state, host, event);
        visit(Move::Host { host, event }, &next, fault)
    };
    if may_send {
        go(locals, LocalEvent::Send)?;
    }
    let is_quiet = || state.places.iter().all(|place| *place == 0);
    let may_expire = locals.program.world.timers == Timers::Free || is_quiet();
    for timer in 0..if may_expire { timers } else { 0 } {
        go(locals, LocalEvent::Expire(timer))?;
    }
    ControlFlow::Continue(())
}

fn channel_moves<B>(
    locals: &mut Locals,
    layout: &Layout,
    state: &State,
    channel: usize,
    visit: &mut impl FnMut(Move, &State, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let network = &locals.program.world.network;
    let (reorders, duplicates, loses) = (network.reorders, network.duplicates, network.loses);
    let to = layout.channels[channel].1;
    let mut last = 0;
    for place in 0..if reorders { layout.capacity } else { 1 } {
        let packet = layout.channel(state, channel)[place];
        // Equal packets stand side by side: one of them is enough.
        if packet == 0 || packet == last {
            continue;
        }
        last = packet;
        let mut without = *state;
        take_out(layout.channel_mut(&mut without, channel), place);
        let event = LocalEvent::Packet(packet - 1);
        let (next, fault) = react(locals, layout, without, to, event);
        visit(Move::Deliver { channel, place, stays: false }, &next, fault)?;
        if duplicates {
            let (next, fault) = react(locals, layout, *state, to, event);
            visit(Move::Deliver { channel, place, stays: true }, &next, fault)?;
        }
        if loses {
            visit(Move::Lose { channel, place }, &without, 0)?;
        }
    }
    ControlFlow::Continue(())
}

/// A host's reaction; its packets go out.
#[inline]
fn react(locals: &mut Locals, layout: &Layout, mut state: State, host: usize, event: LocalEvent) -> (State, u32) {
    let transition = locals.transition(state.hosts[host], event);
    state.hosts[host] = transition.to;
    let mut fault = transition.fault;
    if transition.outs.0 != transition.outs.1 {
        let packets = transition.outs.0 as usize..transition.outs.1 as usize;
        let has_room = put_out(locals, layout, &mut state, host, packets);
        if !has_room && fault == 0 && !locals.program.world.network.loses {
            fault = NO_ROOM;
        }
    }
    (state, fault)
}

fn put_out(locals: &Locals, layout: &Layout, state: &mut State, host: usize, packets: std::ops::Range<usize>) -> bool {
    let reorders = locals.program.world.network.reorders;
    let mut has_room = true;
    for packet in packets {
        for channel in (0..layout.channels.len()).filter(|channel| layout.channels[*channel].0 == host) {
            has_room &= put_in(layout.channel_mut(state, channel), locals.outs[packet] + 1, reorders);
        }
    }
    has_room
}
