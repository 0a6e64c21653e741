//! An instance of a stack, by the names of its ports and events: calls, events, users, devices, time.
//!
//! Keeps: an event waits until its user takes it, so a program may call the stack while it handles an event; that call
//! is the next reaction.

use std::collections::{BTreeMap, VecDeque};

use mokume_driver::live::{Attached, Live, Said, Traffic};
use mokume_driver::{devices, machines, run, settings, Failure};
use mokume_reaction::{border, Accounts, Automaton, Machine, Output, PortId, PortKind, ReasonId};

use mokume_reaction::Datum as Value;

/// An output of the stack at a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The time in nanoseconds: the `now` of the call that caused the event, or the time since the start.
    pub at: u64,
    pub port: String,
    pub name: String,
    pub args: Vec<Value>,
}

/// A listener at a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct User(u32);

/// A running stack. The caller supplies the time in nanoseconds, which never decreases; with devices it comes from the
/// machine ([`Running::poll`]).
pub struct Running {
    automaton: Automaton,
    machine: Box<dyn Machine + Send>,
    live: Live,
    is_started: bool,
    users: BTreeMap<User, (PortId, VecDeque<Event>)>,
    next_user: u32,
    /// The number of events at ports without a user.
    unheard: u64,
    reports: Vec<String>,
}

impl Running {
    pub(crate) fn new(automaton: Automaton, machine: Box<dyn Machine + Send>) -> Running {
        Running {
            automaton,
            machine,
            live: Live::real(Vec::new()),
            is_started: false,
            users: BTreeMap::new(),
            next_user: 0,
            unheard: 0,
            reports: Vec::new(),
        }
    }

    /// Starts the stack: runs its layers' `on start`. A second start does nothing.
    pub fn start(&mut self, now: u64) {
        if !self.is_started {
            self.is_started = true;
            let outcome = self.machine.start(now);
            self.take(now, outcome);
        }
    }

    /// Adds a user at a port: from now on it gets the port's outputs too. It may be an application, or a device of
    /// your own.
    ///
    /// # Errors
    /// There is no such port.
    pub fn attach(&mut self, port: &str) -> Result<User, Failure> {
        let port = self.port(port)?;
        let user = User(self.next_user);
        self.next_user += 1;
        self.users.insert(user, (port, VecDeque::new()));
        Ok(user)
    }

    /// Removes a user. Returns `false` if there is no such user. Its sessions live on until they are closed.
    pub fn detach(&mut self, user: User) -> bool {
        self.users.remove(&user).is_some()
    }

    /// Takes the oldest event that this user has not taken; `None` if there is none.
    pub fn next_event(&mut self, user: User) -> Option<Event> {
        self.users.get_mut(&user)?.1.pop_front()
    }

    /// Sends an event into the stack: `call(now, "udp.send_to", &[…])`. Trailing values that have a default may be
    /// omitted. Returns `false` if the event exceeded the credit and was dropped as `no_credit`, or if the port refused
    /// it: no buffer is left for a reaction, or the session has ended.
    ///
    /// # Errors
    /// There is no such event, its arguments do not fit, or the stack is not started.
    pub fn call(&mut self, now: u64, event: &str, args: &[Value]) -> Result<bool, Failure> {
        if !self.is_started {
            return Err(Failure::of_use("the stack is not started", "call `start` first"));
        }
        let (port, name) = event.split_once('.').unwrap_or((event, ""));
        let port = self.port(port)?;
        let inputs = &self.automaton.ports[port.index()].inputs;
        let Some(index) = inputs.iter().position(|input| input.event == name) else {
            let known: Vec<&str> = inputs.iter().map(|input| input.event.as_str()).collect();
            return Err(Failure::of_use(
                format!("there is no event `{event}`"),
                format!("there are: {}", known.join(", ")),
            ));
        };
        let params = &inputs[index].params;
        let fits = |(param, arg): (&(String, mokume_reaction::Type), &Value)| match (param.1, arg) {
            (mokume_reaction::Type::Msg, Value::Message(_)) | (mokume_reaction::Type::Ref(_), Value::Handle(_)) => true,
            (mokume_reaction::Type::Msg | mokume_reaction::Type::Ref(_), _) => false,
            (_, arg) => matches!(arg, Value::Word(_)),
        };
        // Omitted trailing arguments take their defaults.
        let left_out = (args.len()..params.len()).map(|at| inputs[index].default_of(at).map(Value::Word));
        let Some(left_out) = left_out.collect::<Option<Vec<Value>>>() else {
            return Err(other_arguments(event, params));
        };
        let args = &[args, &left_out].concat();
        if params.len() != args.len() || !params.iter().zip(args).all(fits) {
            return Err(other_arguments(event, params));
        }
        let borders = border::borders_of(&self.automaton, params);
        let word = |arg: &Value| if let Value::Word(word) = arg { *word } else { 0 };
        let mut words: Vec<u64> = args.iter().map(word).collect();
        if let Err(at) = border::admit(&borders, &mut words) {
            let (param, ty) = (border::plain_name(&params[at].0), params[at].1);
            let help = match borders[at].values.as_ref().and_then(|ranges| ranges.last()).filter(|_| ty == LENGTH) {
                Some(range) => format!("a vector has {} elements at most there", range.end()),
                None => settings::way_out(&self.automaton, None, ty),
            };
            return Err(Failure::of_use(format!("`{}` is no value for `{param}` of `{event}`", words[at]), help));
        }
        let credit = self.no_credit(port, name);
        let before = credit.map(|reason| self.dropped_for(reason));
        let outcome = self.machine.input(now, port, index as u32, args);
        let beyond = credit.map(|reason| self.dropped_for(reason)) != before;
        let accepted = !outcome.refused && !beyond;
        self.take(now, outcome);
        Ok(accepted)
    }

    /// The reason for which an application's port drops what exceeds the credit; `None` for inputs that need no credit.
    fn no_credit(&self, port: PortId, input: &str) -> Option<ReasonId> {
        let inputs = &self.automaton.ports[port.index()].inputs;
        let event = inputs.iter().position(|known| known.event == input)? as u32;
        let found = self.automaton.within_credit().into_iter().find(|(of, at, _)| (*of, *at) == (port, event));
        found.map(|(.., reason)| reason)
    }

    fn dropped_for(&self, reason: ReasonId) -> u64 {
        let dropped = self.machine.accounts().dropped;
        dropped.iter().find(|(of, _)| *of == reason).map_or(0, |(_, count)| *count)
    }

    /// Moves the time on: due timers run.
    pub fn advance(&mut self, now: u64) {
        if self.is_started {
            let outcome = self.machine.advance(now);
            self.take(now, outcome);
        }
    }

    /// When [`Running::advance`] next has something to do; `None`: no timer is armed.
    pub fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    /// Attaches a device of the machine to a device port: `("device", "tap:mok0")`, as `mokume run --device` names
    /// them.
    ///
    /// # Errors
    /// There is no such port, or the machine refuses the device.
    pub fn attach_device(&mut self, port: &str, device: &str) -> Result<(), Failure> {
        let port = self.port(port)?;
        let frame_event = machines::frame_event(&self.automaton.ports[port.index()]);
        let (Some(frame_event), PortKind::Device) = (frame_event, self.automaton.ports[port.index()].kind) else {
            return Err(Failure::of_use(
                format!("`{device}` cannot be tied to this port"),
                "name a device of the stack",
            ));
        };
        let device =
            run::device_for(&self.automaton, &self.automaton.ports[port.index()].name, &devices::parse(device)?.1)?;
        self.live.detach(port);
        self.live.attach(Attached { port, frame_event, device });
        Ok(())
    }

    /// Detaches a device: frames that the stack sends there are lost. Returns `false` if no device was attached.
    pub fn detach_device(&mut self, port: &str) -> Result<bool, Failure> {
        let port = self.port(port)?;
        Ok(self.live.detach(port))
    }

    /// Nanoseconds since the instance was made, by the machine's clock. Stacks with devices use it as `now`.
    pub fn now(&self) -> u64 {
        self.live.now()
    }

    /// Waits at most `longest` nanoseconds for a frame or a deadline, and handles it.
    ///
    /// # Errors
    /// A device has failed.
    pub fn poll(&mut self, longest: u64) -> Result<(), Failure> {
        self.start(self.live.now());
        let until = self.live.now().saturating_add(longest);
        let mut said = Vec::new();
        self.live.round(self.machine.as_mut(), Some(until), &mut |at, what| {
            said.push(match what {
                Said::Output(output) => (at, Ok(output.clone())),
                Said::Report(report) => (at, Err(report.to_string())),
            });
        })?;
        for (at, what) in said {
            match what {
                Ok(output) => self.hear(at, output),
                Err(report) => self.reports.push(report),
            }
        }
        Ok(())
    }

    /// The numbers of frames that passed the devices.
    pub fn traffic(&self) -> Traffic {
        self.live.traffic
    }

    /// What became of every message.
    pub fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }

    /// [`Running::accounts`] as JSON, with the names of reasons and counters.
    pub fn accounts_text(&self) -> String {
        crate::told::accounts(&self.automaton, &self.machine.accounts()).to_string()
    }

    /// How many messages were dropped for a reason, in total. 0 if there is no such reason.
    pub fn dropped(&self, reason: &str) -> u64 {
        let named = |index: usize| {
            self.automaton
                .reasons
                .get(index)
                .is_some_and(|known| known.name == reason || known.name.rsplit('.').next() == Some(reason))
        };
        self.machine.accounts().dropped.iter().filter(|(id, _)| named(id.index())).map(|(_, count)| count).sum()
    }

    /// The number of events at ports that had no user.
    pub fn unheard(&self) -> u64 {
        self.unheard
    }

    /// Takes the reports since the last call: overflows, indices out of bounds and other faults of the layers.
    pub fn take_reports(&mut self) -> Vec<String> {
        std::mem::take(&mut self.reports)
    }

    fn port(&self, name: &str) -> Result<PortId, Failure> {
        let position = self.automaton.ports.iter().position(|port| port.name == name);
        position.map(PortId::from).ok_or_else(|| {
            let known: Vec<&str> = self.automaton.ports.iter().map(|port| port.name.as_str()).collect();
            Failure::of_use(format!("the stack has no port `{name}`"), format!("it has: {}", known.join(", ")))
        })
    }

    fn take(&mut self, now: u64, outcome: mokume_reaction::Outcome) {
        self.reports.extend(outcome.reports.iter().map(|(report, place)| format!("{report} at {place}")));
        let mut left = Vec::new();
        // `poll` reports a device that fails; here its frame is lost.
        let _ = self.live.take(now, &mokume_reaction::Outcome { reports: Vec::new(), ..outcome }, &mut |_, said| {
            if let Said::Output(output) = said {
                left.push(output.clone());
            }
        });
        for output in left {
            self.hear(now, output);
        }
    }

    fn hear(&mut self, at: u64, output: Output) {
        let port = &self.automaton.ports[output.port.index()];
        let event = Event {
            at,
            port: port.name.clone(),
            name: port.outputs[output.event as usize].event.clone(),
            args: output.args,
        };
        let mut heard = false;
        for (_, queue) in self.users.values_mut().filter(|(of, _)| *of == output.port) {
            queue.push_back(event.clone());
            heard = true;
        }
        self.unheard += u64::from(!heard);
    }
}

/// The type of a vector's length.
const LENGTH: mokume_reaction::Type = mokume_reaction::Type::U(8);

fn other_arguments(event: &str, params: &[(String, mokume_reaction::Type)]) -> Failure {
    let wanted: Vec<String> = params.iter().map(|(name, _)| border::plain_name(name)).collect();
    Failure::of_use(
        format!("`{event}` takes other arguments"),
        format!("it takes ({}): numbers are words, sessions handles, messages octets", wanted.join(", ")),
    )
}
