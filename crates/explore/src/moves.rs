//! The steps of the world: what can happen in a state, and the state after it. This is the inner loop; it only looks
//! up.

use std::ops::ControlFlow;

use crate::channels::EMPTY;
use crate::layout::{Key, Layout};
use crate::locals::{LocalEvent, Locals};

/// A step, by numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// The application sends, or a timer expires.
    Host {
        host: usize,
        event: LocalEvent,
    },
    /// A packet arrives, given by its place among those that can. `stays`: another copy of it stays in the channel.
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

/// The fault of a step that puts a packet into a full channel of a network that does not lose packets.
pub(crate) const NO_ROOM: u32 = 1;

/// Calls `visit` with each step, the state after it, and the step's fault (0: none).
#[inline]
pub(crate) fn each_move<K: Key, B>(
    locals: &mut Locals,
    layout: &Layout,
    state: K,
    visit: &mut impl FnMut(Move, K, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for host in 0..layout.hosts.len() {
        host_moves(locals, layout, state, host, visit)?;
    }
    for channel in 0..layout.channels.len() {
        channel_moves(locals, layout, state, channel, visit)?;
    }
    ControlFlow::Continue(())
}

#[inline]
fn host_moves<K: Key, B>(
    locals: &mut Locals,
    layout: &Layout,
    state: K,
    host: usize,
    visit: &mut impl FnMut(Move, K, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let local = state.get(layout.hosts[host]);
    let info = &locals.info[local as usize];
    let (may_send, timers) = (info.may_send, info.timers);
    if may_send {
        let (next, fault) = react(locals, layout, state, host, local, LocalEvent::Send);
        visit(Move::Host { host, event: LocalEvent::Send }, next, fault)?;
    }
    if timers == 0 || (locals.is_patient && !is_quiet(layout, state)) {
        return ControlFlow::Continue(());
    }
    for timer in 0..timers {
        let event = LocalEvent::Expire(timer);
        let (next, fault) = react(locals, layout, state, host, local, event);
        visit(Move::Host { host, event }, next, fault)?;
    }
    ControlFlow::Continue(())
}

fn is_quiet<K: Key>(layout: &Layout, state: K) -> bool {
    layout.channels.iter().all(|channel| state.get(*channel) == EMPTY)
}

#[inline]
fn channel_moves<K: Key, B>(
    locals: &mut Locals,
    layout: &Layout,
    state: K,
    channel: usize,
    visit: &mut impl FnMut(Move, K, u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let field = layout.channels[channel];
    let content = state.get(field);
    if content == EMPTY {
        return ControlFlow::Continue(());
    }
    let (duplicates, loses) = (locals.duplicates, locals.loses);
    let to = layout.endpoints[channel].1;
    let local = state.get(layout.hosts[to]);
    for place in 0..locals.channels.takes(content).len() {
        let take = locals.channels.takes(content)[place];
        let event = LocalEvent::Packet(take.packet);
        let without = state.with(field, take.without);
        let (next, fault) = react(locals, layout, without, to, local, event);
        visit(Move::Deliver { channel, place, stays: false }, next, fault)?;
        if duplicates {
            // A reaction never puts packets into the channel that its event came from.
            visit(Move::Deliver { channel, place, stays: true }, next.with(field, content), fault)?;
        }
        if loses {
            visit(Move::Lose { channel, place }, without, 0)?;
        }
    }
    ControlFlow::Continue(())
}

/// A host's reaction; its packets go out on every channel away from it.
#[inline]
fn react<K: Key>(
    locals: &mut Locals,
    layout: &Layout,
    state: K,
    host: usize,
    local: u32,
    event: LocalEvent,
) -> (K, u32) {
    let transition = locals.transition(local, event);
    let mut next = state.with(layout.hosts[host], transition.to);
    let mut fault = transition.fault;
    match transition.count {
        0 => {}
        1 => put_out(locals, layout, &mut next, host, transition.out, &mut fault),
        count => {
            for place in transition.out..transition.out + count {
                let packet = locals.outs[place as usize];
                put_out(locals, layout, &mut next, host, packet, &mut fault);
            }
        }
    }
    (next, fault)
}

#[inline]
fn put_out<K: Key>(locals: &mut Locals, layout: &Layout, next: &mut K, host: usize, packet: u32, fault: &mut u32) {
    for channel in &layout.away[host] {
        let field = layout.channels[*channel];
        match locals.channels.put(next.get(field), packet) {
            Some(content) => *next = next.with(field, content),
            None if *fault == 0 && !locals.loses => *fault = NO_ROOM,
            None => {}
        }
    }
}
