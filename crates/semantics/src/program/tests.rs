//! Tests and networks: their steps, and what hosts and links are.

use mokume_base::Span;

use super::{Name, StackId};

/// `device.mac`, `device.mtu` in a stack's expressions are [`ExprKind::Below`] without a flow, named `device.mac`.
#[derive(Clone, Debug)]
pub struct Test {
    pub name: String,
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
    pub steps: Vec<Step>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StepKind {
    Input { port: Name, event: Name, args: Vec<Arg> },
    Expect { outputs: Vec<(Name, Name, Vec<Arg>)> },
    After { nanoseconds: u64 },
    Dropped { reason: String, count: u64 },
    Consumed { reason: String, count: u64 },
    Reported { report: String, count: u64 },
}

#[derive(Clone, Debug)]
pub enum Arg {
    Word(u64),
    Octets(Vec<u8>),
    /// `?s`
    Bind(String),
    /// `s`
    Handle(String),
    Any,
}

#[derive(Clone, Debug)]
pub struct Network {
    pub name: Name,
    pub hosts: Vec<Host>,
    pub links: Vec<NetworkLink>,
    /// Time, host index, the input.
    pub script: Vec<(u64, u32, Step)>,
    pub partitions: Vec<Partition>,
    pub until: u64,
}

#[derive(Clone, Debug)]
pub struct Host {
    pub name: Name,
    pub stack: StackId,
    pub settings: Vec<(Name, Vec<u64>)>,
}

/// A medium that all named devices share. Rates are in millionths.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    pub name: Name,
    /// Host index, device index.
    pub devices: Vec<(u32, u32)>,
    pub loss: u32,
    pub duplicate: u32,
    pub reorder: u32,
    /// One bit of a frame is turned.
    pub corrupt: u32,
    pub delay: (u64, u64),
}

/// From `from` until `until` (nanoseconds), these hosts and the others do not hear each other.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Indices of hosts.
    pub hosts: Vec<u32>,
    pub from: u64,
    pub until: u64,
}
