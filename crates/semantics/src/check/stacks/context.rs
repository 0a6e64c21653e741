//! What the checks of one stack share.

use mokume_base::Diagnostic;

use crate::program::*;

/// Values that every layer has from below, without anybody publishing them.
pub const EVERYWHERE: [&str; 3] = ["credit", "credit_octets", "mtu"];

/// What a device publishes.
pub const OF_DEVICES: [&str; 2] = ["mac", "mtu"];

/// One stack that is being checked.
pub struct StackCheck<'a, 'b> {
    pub program: &'a Program,
    pub stack: &'a Stack,
    /// By instance, top to bottom.
    pub layers: Vec<Vec<&'a Layer>>,
    pub out: &'b mut Vec<Diagnostic>,
}

impl StackCheck<'_, '_> {
    /// What an instance stands on, by its name.
    pub fn under_name(&self, under: &Under) -> &str {
        match under.over {
            Over::Device(device) => self.stack.devices.get(device as usize).map_or("?", |name| &name.text),
            Over::Instance(at) => self.stack.instances.get(at as usize).map_or("?", |instance| &instance.name.text),
        }
    }
}
