//! Stacks: the instances of layers and what each stands on.

use mokume_base::Span;

use super::{AttributeId, Expr, Name, Param, Use};

/// Layers over devices, with names.
#[derive(Clone, Debug)]
pub struct Stack {
    /// As tests, networks and hosts name it.
    pub name: Name,
    /// A parameter of type `Device` has `ty` [`Type::Unit`](super::Type::Unit) and is in `devices`.
    pub params: Vec<Param>,
    /// Names of the device parameters.
    pub devices: Vec<Name>,
    /// Numbered by what stands on them ([`Over::Instance`]).
    pub instances: Vec<Instance>,
    /// Names of instances that applications stand on.
    pub exports: Vec<Name>,
    /// `export udp with ttl, mtu`: at most one for each of `exports`.
    pub extras: Vec<Extras>,
    /// `sessions N`: the capacity of session scopes that name none. 64 without.
    pub sessions: u32,
    /// `outputs N`: of a reaction, from which on nothing more settles in it. 0 without.
    pub outputs: u32,
    /// `tick 1 ms`: deadlines are rounded up to a multiple of it, in nanoseconds. 0 without.
    pub tick: u64,
    /// `mtu 576 .. 1514`: what a device carries at least and at most. Without, nothing is known of it.
    pub mtu: Option<(u32, u32)>,
    /// `order store, device`: ports whose outputs have one order among them.
    pub order: Vec<Vec<Name>>,
    /// Names of ports that it would have, had nothing of it been refused: who uses them is not blamed.
    pub lost: Vec<String>,
}

/// What an application has at its port beside messages.
#[derive(Clone, Debug)]
pub struct Extras {
    /// The exported instance.
    pub export: Name,
    /// Beside each message: given with it where a layer below reads it, told where one writes it.
    pub attributes: Vec<(Name, AttributeId)>,
    /// Told when the application asks.
    pub values: Vec<Name>,
}

/// A layer or bundle of a stack.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Unique in its stack, devices included.
    pub name: Name,
    /// What it is, with its arguments: constants, and the stack's parameters and devices.
    pub of: Use,
    /// What it stands on: one, or as many as its router that says `below several …` is given. Never empty.
    pub unders: Vec<Under>,
    /// Names of instances.
    pub with: Vec<Name>,
    /// Somebody is named there whom the stack has not.
    pub with_lost: bool,
    /// All that is written of it.
    pub place: Span,
}

/// A layer or device that an instance stands on.
#[derive(Clone, Debug)]
pub struct Under {
    /// What is below.
    pub over: Over,
    /// The key that the layer is bound to in the multiplexor below, by field; constants of the stack.
    pub bound: Vec<(Name, Expr)>,
}

/// What an instance stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// An instance of the stack, by index.
    Instance(u32),
    /// A device, by index.
    Device(u32),
}
