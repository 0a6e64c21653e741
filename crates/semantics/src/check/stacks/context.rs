//! What the checks of one stack share.

use mokume_base::{Diagnostic, Severity};

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
    /// Whether something is wrong with how an instance is written.
    pub fn is_refused(&self, instance: &Instance) -> bool {
        let of = instance.place;
        let errors = self.out.iter().filter(|found| found.severity == Severity::Error);
        let mut places = errors.filter_map(|found| Some(found.primary.as_ref()?.span));
        places.any(|at| at.file == of.file && of.start <= at.start && at.end <= of.end)
    }

    /// What an instance stands on, by its name.
    pub fn under_name(&self, under: &Under) -> &str {
        match under.over {
            Over::Device(device) => self.stack.devices.get(device as usize).map_or("?", |name| &name.text),
            Over::Instance(at) => self.stack.instances.get(at as usize).map_or("?", |instance| &instance.name.text),
        }
    }
}
