//! A stack on real devices, in real time: waits for frames and deadlines, calls the machine, and sends its outputs.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mokume_reaction::{Datum, Machine, Outcome, Output, PortId};
use mokume_simulate::Befell;

use crate::devices::capture::CaptureWriter;
use crate::devices::Device;
use crate::failure::Failure;

/// A device, and the stack's port for it.
pub struct Attached {
    pub port: PortId,
    /// Index of the input event that takes a frame.
    pub frame_event: u32,
    pub device: Box<dyn Device>,
}

/// When to stop: at a time, on a signal, or when every device has finished.
pub struct Until {
    pub nanoseconds: Option<u64>,
    pub stop: Arc<AtomicBool>,
}

/// Counts of a run, besides the machine's accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    pub received: u64,
    pub sent: u64,
    /// Frames that a device did not accept.
    pub unsent: u64,
}

/// The most frames taken from one device before the others get their turn and deadlines are checked.
const BURST: usize = 64;

/// Outputs of a running stack besides frames.
pub enum Said<'a> {
    /// An event of an application's port.
    Output(&'a Output),
    /// An overflow, an index beyond an array, …
    Report(&'a str),
}

/// A descriptor to wait for besides the devices', for code that reads it or writes to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    pub descriptor: RawFd,
    pub what: Ready,
}

impl Wait {
    fn asked(&self) -> libc::pollfd {
        let events = match self.what {
            Ready::ToRead => libc::POLLIN,
            Ready::ToWrite => libc::POLLOUT,
            Ready::ToBreak => 0,
        };
        libc::pollfd { fd: self.descriptor, events, revents: 0 }
    }

    /// Whether it is ready now. One that has ended or is closed is: reading or writing then tells.
    pub fn is_ready(&self) -> bool {
        let mut asked = self.asked();
        // SAFETY: the call writes to one `pollfd`, which outlives it.
        unsafe { libc::poll(&raw mut asked, 1, 0) > 0 }
    }
}

/// A source of inputs besides the devices: a person, a pipe.
pub trait Voice {
    /// What to wait for before there is more input; `None` if it has some now, or never will.
    fn source(&self) -> Option<Wait>;
    /// Called in each round; `is_ready` says whether its source is ready.
    fn speak(
        &mut self,
        is_ready: bool,
        stack: (&mut dyn Machine, &mut Live),
        heard: &mut dyn FnMut(u64, Said<'_>),
    ) -> Result<(), Failure>;
}

/// What to wait for: something to read, room to write, or the end of it all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    ToRead,
    ToWrite,
    /// Only its break: that is always told.
    ToBreak,
}

/// A stack's devices and its clock. Devices with their own times (captures) run in virtual time if there is no other
/// kind.
pub struct Live {
    devices: Vec<Attached>,
    capture: Option<CaptureWriter>,
    /// The start time for captures, in nanoseconds since 1970; 0 in virtual time.
    epoch: u64,
    pub traffic: Traffic,
    clock: Clock,
    now: u64,
}

/// Runs until the time is over, a stop is requested, or nothing can ever happen.
pub fn run(
    machine: &mut dyn Machine,
    live: &mut Live,
    until: &Until,
    voice: Option<&mut (dyn Voice + '_)>,
    heard: &mut dyn FnMut(u64, Said<'_>),
) -> Result<(), Failure> {
    let ran = rounds(machine, live, (until, voice), heard);
    // However it ended, captured frames are kept.
    ran.and(live.settle())
}

fn rounds(
    machine: &mut dyn Machine,
    live: &mut Live,
    (until, mut voice): (&Until, Option<&mut (dyn Voice + '_)>),
    heard: &mut dyn FnMut(u64, Said<'_>),
) -> Result<(), Failure> {
    live.start(machine, heard)?;
    loop {
        if until.stop.load(Ordering::Relaxed) || until.nanoseconds.is_some_and(|end| live.now >= end) {
            return Ok(());
        }
        let beside: Vec<Wait> = voice.as_ref().and_then(|voice| voice.source()).into_iter().collect();
        let Some(ready) = live.round_beside(machine, until.nanoseconds, &beside, heard)? else { return Ok(()) };
        if let Some(voice) = &mut voice {
            voice.speak(ready.contains(&true), (&mut *machine, &mut *live), heard)?;
        }
    }
}

impl Live {
    /// `since_1970` is the current time, for the capture.
    pub fn new(devices: Vec<Attached>, capture: Option<CaptureWriter>, since_1970: Duration) -> Live {
        let clock = Clock::new(devices.iter().all(|attached| attached.device.descriptor().is_none()));
        let since_1970 = u64::try_from(since_1970.as_nanos()).unwrap_or(0);
        let epoch = if clock.is_virtual() { 0 } else { since_1970 };
        Live { devices, capture, epoch, traffic: Traffic::default(), clock, now: 0 }
    }

    /// With a real clock, whatever the devices are: they may be attached later.
    pub fn real(devices: Vec<Attached>) -> Live {
        Live { clock: Clock::new(false), ..Live::new(devices, None, Duration::ZERO) }
    }

    /// What the weather at each device did to incoming and outgoing frames.
    pub fn befell(&self) -> Vec<(PortId, [Befell; 2])> {
        let of = |attached: &Attached| Some((attached.port, attached.device.befell()?));
        self.devices.iter().filter_map(of).collect()
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.clock.now().unwrap_or(self.now).max(self.now)
    }

    /// Uses a real clock, whatever the devices are.
    pub fn in_real_time(self) -> Live {
        Live { clock: Clock::new(false), ..self }
    }

    /// From now on the device's frames go to its port, and the port's outputs go to the device. A port has one device.
    pub fn attach(&mut self, device: Attached) {
        self.devices.push(device);
    }

    /// Detaches the device: from now on, what the stack sends at its port is lost, and counted as unsent.
    pub fn detach(&mut self, port: PortId) -> bool {
        let before = self.devices.len();
        self.devices.retain(|attached| attached.port != port);
        self.devices.len() < before
    }

    /// Starts the machine, once, before the first round, and carries out its outputs.
    pub fn start(&mut self, machine: &mut dyn Machine, heard: &mut dyn FnMut(u64, Said<'_>)) -> Result<(), Failure> {
        let outcome = machine.start(self.now);
        self.take(self.now, &outcome, heard)?;
        self.settle()
    }

    /// Writes out all captured frames, so that readers see them, and a full disk is noticed.
    fn settle(&mut self) -> Result<(), Failure> {
        let kept = self.capture.as_mut().map_or(Ok(()), CaptureWriter::flush);
        self.devices.iter_mut().fold(kept, |kept, attached| kept.and(attached.device.settle()))
    }

    /// Waits for a frame, a deadline or `until`, and handles it. `false` if nothing can ever happen again.
    pub fn round(
        &mut self,
        machine: &mut dyn Machine,
        until: Option<u64>,
        heard: &mut dyn FnMut(u64, Said<'_>),
    ) -> Result<bool, Failure> {
        self.round_beside(machine, until, &[], heard).map(|ready| ready.is_some())
    }

    /// The same, and also waits for `beside`; returns which of these are ready.
    pub fn round_beside(
        &mut self,
        machine: &mut dyn Machine,
        until: Option<u64>,
        beside: &[Wait],
        heard: &mut dyn FnMut(u64, Said<'_>),
    ) -> Result<Option<Vec<bool>>, Failure> {
        let times = self.devices.iter().map(|attached| attached.device.next_time());
        let next = times.fold(machine.next_deadline(), earliest);
        if self.clock.is_virtual() && next.is_none() {
            return Ok(None);
        }
        let devices = self.devices.iter().filter_map(|attached| attached.device.descriptor());
        let devices = devices.map(|descriptor| Wait { descriptor, what: Ready::ToRead });
        let waits: Vec<Wait> = beside.iter().copied().chain(devices).collect();
        let (now, mut ready) = self.clock.wait(self.now, earliest(next, until), &waits);
        ready.truncate(beside.len());
        self.now = now;
        if machine.next_deadline().is_some_and(|due| due <= now) {
            let outcome = machine.advance(now);
            self.take(now, &outcome, heard)?;
        }
        self.receive_all(machine, heard)?;
        self.settle()?;
        Ok(Some(ready))
    }

    fn receive_all(&mut self, machine: &mut dyn Machine, heard: &mut dyn FnMut(u64, Said<'_>)) -> Result<(), Failure> {
        for index in 0..self.devices.len() {
            for _ in 0..BURST {
                let now = self.clock.now().unwrap_or(self.now);
                let attached = &mut self.devices[index];
                let (port, frame_event) = (attached.port, attached.frame_event);
                let Some(frame) = attached.device.receive(now)? else { break };
                self.traffic.received += 1;
                // Due work runs first, so that a capture has the right order.
                if machine.next_deadline().is_some_and(|due| due <= now) {
                    let outcome = machine.advance(now);
                    self.take(now, &outcome, heard)?;
                }
                if let Some(capture) = &mut self.capture {
                    capture.write(self.epoch.saturating_add(now), &frame)?;
                }
                let outcome = machine.input(now, port, frame_event, &[Datum::Message(frame)]);
                self.take(now, &outcome, heard)?;
            }
        }
        Ok(())
    }

    /// Carries out the outputs of a call: frames go to their devices, everything else to `heard`.
    pub fn take(&mut self, now: u64, outcome: &Outcome, heard: &mut dyn FnMut(u64, Said<'_>)) -> Result<(), Failure> {
        for (report, place) in &outcome.reports {
            heard(now, Said::Report(&format!("{report} at {place}")));
        }
        for output in &outcome.outputs {
            let attached = self.devices.iter_mut().find(|attached| attached.port == output.port);
            match (attached, output.args.as_slice()) {
                (Some(attached), [Datum::Message(frame)]) => {
                    if let Some(capture) = &mut self.capture {
                        capture.write(self.epoch.saturating_add(now), frame)?;
                    }
                    if attached.device.send(now, frame)? {
                        self.traffic.sent += 1;
                    } else {
                        self.traffic.unsent += 1;
                    }
                }
                _ => heard(now, Said::Output(output)),
            }
        }
        Ok(())
    }
}

fn earliest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Real time, or virtual time if all frames have their own times.
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

    /// Waits until `next` or until a descriptor is ready; returns the time then, and which are ready.
    fn wait(&self, now: u64, next: Option<u64>, waits: &[Wait]) -> (u64, Vec<bool>) {
        let Some(real) = self.now() else { return (next.unwrap_or(now).max(now), vec![false; waits.len()]) };
        // A signal does not always interrupt: check the stop flag a few times a second.
        let longest = 200_000_000;
        let timeout = next.map_or(longest, |at| at.saturating_sub(real)).min(longest);
        let spec = libc::timespec { tv_sec: 0, tv_nsec: i64::try_from(timeout).unwrap_or(0) };
        let mut waits: Vec<libc::pollfd> = waits.iter().map(Wait::asked).collect();
        // SAFETY: `waits` and `spec` outlive the call, and the count is that of `waits`.
        unsafe {
            libc::ppoll(waits.as_mut_ptr(), waits.len() as libc::nfds_t, &raw const spec, std::ptr::null());
        }
        // A closed or ended descriptor is ready as well: reading or writing then tells.
        (self.now().unwrap_or(real), waits.iter().map(|wait| wait.revents != 0).collect())
    }
}
