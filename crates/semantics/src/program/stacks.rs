//! Stacks: the instances of layers, and what each is over.

use mokume_base::Span;

use super::{AttributeId, Expr, Name, Param, Type, Use};

/// Layers over devices, with names.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The name in tests, networks and hosts.
    pub name: Name,
    /// The parameters. One of type `Device` has `ty` [`Type::Unit`](super::Type::Unit) and is also in `devices`.
    pub params: Vec<Param>,
    /// Names of the device parameters.
    pub devices: Vec<Name>,
    /// The instances; [`Over::Instance`] has indices into this list.
    pub instances: Vec<Instance>,
    /// Names of exported instances, which applications use.
    pub exports: Vec<Name>,
    /// `export udp with ttl, mtu`: at most one for each of `exports`.
    pub extras: Vec<Extras>,
    /// `sessions N`: the capacity of session scopes without their own. 64 if absent.
    pub sessions: u32,
    /// Whether the stack says how many.
    pub says_sessions: bool,
    /// `outputs N`: the limit of outputs of a reaction, after which nothing more settles in it. 0 if absent.
    pub outputs: u32,
    /// `tick 1 ms`: deadlines are rounded up to a multiple of it, in nanoseconds. 0 if absent.
    pub tick: u64,
    /// `mtu 576 .. 1514`: the least and the most octets that a device carries. Unknown if absent.
    pub mtu: Option<(u32, u32)>,
    /// `order store, device`: lists of ports whose outputs keep one common order.
    pub order: Vec<Vec<Name>>,
    /// Names of ports that are missing only because of errors: their uses are not reported.
    pub lost: Vec<String>,
}

impl Stack {
    /// What a test or a host may set: the parameters, and what devices say of themselves.
    pub fn settings(&self) -> Vec<(String, Type)> {
        let plain = self.params.iter().filter(|param| param.ty != Type::Unit);
        let plain = plain.map(|param| (param.name.text.clone(), param.ty));
        let of_devices = self.devices.iter().flat_map(|Name { text, .. }| {
            [(format!("{text}.mac"), Type::UInt(48)), (format!("{text}.mtu"), Type::UInt(32))]
        });
        plain.chain(of_devices).collect()
    }
}

/// What an application gets at its port besides messages.
#[derive(Clone, Debug)]
pub struct Extras {
    /// The exported instance.
    pub export: Name,
    /// Attributes for each message: the application sets one that a layer below reads, and is told one that a layer
    /// writes.
    pub attributes: Vec<(Name, AttributeId)>,
    /// Published values that the application can ask for.
    pub values: Vec<Name>,
}

/// A layer or bundle of a stack.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The name, unique in its stack, devices included.
    pub name: Name,
    /// The layer or bundle with its arguments: constants, and the stack's parameters and devices.
    pub of: Use,
    /// What it is over: one, or as many as a router with `below several …` is given. Never empty.
    pub unders: Vec<Under>,
    /// Names of the instances behind `with`.
    pub with: Vec<Name>,
    /// Whether `with` names something that the stack does not have.
    pub with_lost: bool,
    /// The place of its whole text.
    pub place: Span,
}

/// A layer or device below an instance.
#[derive(Clone, Debug)]
pub struct Under {
    /// The layer or device.
    pub over: Over,
    /// The key, by field, that binds the layer in the multiplexor below; constants of the stack.
    pub bound: Vec<(Name, Expr)>,
}

/// What an instance is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// An instance of the stack, by index.
    Instance(u32),
    /// A device, by index.
    Device(u32),
}
