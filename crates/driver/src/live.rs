//! A stack on real devices, in real time: waits for frames and deadlines, feeds the machine, sends what it says.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use mokume_reaction::{Datum, Machine, Output, PortId};

use crate::devices::capture::CaptureWriter;
use crate::devices::Device;
use crate::failure::Failure;

/// A device and the port of the stack that it serves.
pub struct Attached {
    pub port: PortId,
    /// Index of the input event that takes a frame.
    pub frame_event: u32,
    pub device: Box<dyn Device>,
}

/// When to stop: at a time, at a signal, or when every device has finished.
pub struct Until {
    pub nanoseconds: Option<u64>,
    pub stop: Arc<AtomicBool>,
}

/// What a run did, beside the machine's accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    pub received: u64,
    pub sent: u64,
    /// Frames that a device did not take.
    pub unsent: u64,
}

/// Frames taken from one device before the others get their turn and deadlines are looked at.
const BURST: usize = 64;

/// Devices with times of their own (captures) run in virtual time when there is no other kind.
pub fn run(
    machine: &mut dyn Machine,
    devices: &mut [Attached],
    until: &Until,
    mut capture: Option<CaptureWriter>,
    heard: &mut dyn FnMut(u64, &Output),
    reported: &mut dyn FnMut(u64, &str),
) -> Result<Traffic, Failure> {
    let mut live = Live { devices, capture: capture.as_mut(), traffic: Traffic::default(), heard, reported };
    let clock = Clock::new(live.devices.iter().all(|attached| attached.device.descriptor().is_none()));
    let mut now = 0;
    let outcome = machine.start(now);
    live.take(now, outcome)?;
    loop {
        if until.stop.load(Ordering::Relaxed) || until.nanoseconds.is_some_and(|end| now >= end) {
            return Ok(live.traffic);
        }
        let mut next = machine.next_deadline();
        for attached in live.devices.iter() {
            next = earliest(next, attached.device.next_time());
        }
        if clock.is_virtual() && next.is_none() {
            return Ok(live.traffic);
        }
        now = clock.wait(now, earliest(next, until.nanoseconds), &live.descriptors());
        if machine.next_deadline().is_some_and(|due| due <= now) {
            let outcome = machine.advance(now);
            live.take(now, outcome)?;
        }
        live.receive_all(machine, &clock, now)?;
    }
}

fn earliest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

struct Live<'a> {
    devices: &'a mut [Attached],
    capture: Option<&'a mut CaptureWriter>,
    traffic: Traffic,
    heard: &'a mut dyn FnMut(u64, &Output),
    reported: &'a mut dyn FnMut(u64, &str),
}

impl Live<'_> {
    fn descriptors(&self) -> Vec<RawFd> {
        self.devices.iter().filter_map(|attached| attached.device.descriptor()).collect()
    }

    fn receive_all(&mut self, machine: &mut dyn Machine, clock: &Clock, now: u64) -> Result<(), Failure> {
        for index in 0..self.devices.len() {
            for _ in 0..BURST {
                let now = clock.now().unwrap_or(now);
                let attached = &mut self.devices[index];
                let Some(frame) = attached.device.receive(now)? else { break };
                self.traffic.received += 1;
                if let Some(capture) = &mut self.capture {
                    capture.write(now, &frame)?;
                }
                let outcome = machine.input(now, attached.port, attached.frame_event, &[Datum::Message(frame)]);
                self.take(now, outcome)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, now: u64, outcome: mokume_reaction::Outcome) -> Result<(), Failure> {
        for (report, place) in &outcome.reports {
            (self.reported)(now, &format!("{report:?} at {place}"));
        }
        for output in &outcome.outputs {
            let attached = self.devices.iter_mut().find(|attached| attached.port == output.port);
            match (attached, output.args.as_slice()) {
                (Some(attached), [Datum::Message(frame)]) => {
                    if let Some(capture) = &mut self.capture {
                        capture.write(now, frame)?;
                    }
                    if attached.device.send(now, frame)? {
                        self.traffic.sent += 1;
                    } else {
                        self.traffic.unsent += 1;
                    }
                }
                _ => (self.heard)(now, output),
            }
        }
        Ok(())
    }
}

/// Real time, or virtual where all frames carry their own.
struct Clock {
    started: Option<Instant>,
}

impl Clock {
    fn new(is_virtual: bool) -> Self {
        Clock { started: (!is_virtual).then(Instant::now) }
    }

    fn is_virtual(&self) -> bool {
        self.started.is_none()
    }

    fn now(&self) -> Option<u64> {
        self.started.map(|start| u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Waits until `next` or until a descriptor is readable; the time then.
    fn wait(&self, now: u64, next: Option<u64>, descriptors: &[RawFd]) -> u64 {
        let Some(real) = self.now() else { return next.unwrap_or(now).max(now) };
        // A signal does not always interrupt: look at the stop flag a few times a second.
        let longest = 200_000_000;
        let timeout = next.map_or(longest, |at| at.saturating_sub(real)).min(longest);
        let spec = libc::timespec { tv_sec: 0, tv_nsec: i64::try_from(timeout).unwrap_or(0) };
        let mut waits: Vec<libc::pollfd> =
            descriptors.iter().map(|fd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 }).collect();
        // SAFETY: `waits` and `spec` live through the call, and the count is that of `waits`.
        unsafe {
            libc::ppoll(waits.as_mut_ptr(), waits.len() as libc::nfds_t, &raw const spec, std::ptr::null());
        }
        self.now().unwrap_or(real)
    }
}
