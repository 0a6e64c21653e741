//! The common state of the checks of one stack.

use mokume_base::{Diagnostic, Severity};

use crate::program::*;

/// Values that every layer can read from below, published or not.
pub const EVERYWHERE: [&str; 3] = ["credit", "credit_octets", "mtu"];

/// Values that a device publishes.
pub const OF_DEVICES: [&str; 2] = ["mac", "mtu"];

/// The stack that is being checked.
pub struct StackCheck<'a, 'b> {
    pub program: &'a Program,
    pub stack: &'a Stack,
    /// The layers of each instance, top to bottom.
    pub layers: Vec<Vec<&'a Layer>>,
    pub out: &'b mut Vec<Diagnostic>,
}

impl StackCheck<'_, '_> {
    /// Whether the text of an instance has errors.
    pub fn is_refused(&self, instance: &Instance) -> bool {
        let of = instance.place;
        let errors = self.out.iter().filter(|found| found.severity == Severity::Error);
        let mut places = errors.filter_map(|found| Some(found.primary.as_ref()?.span));
        places.any(|at| at.file == of.file && of.start <= at.start && at.end <= of.end)
    }

    /// The name of what an instance is over.
    pub fn under_name(&self, under: &Under) -> &str {
        match under.over {
            Over::Device(device) => self.stack.devices.get(device as usize).map_or("?", |name| &name.text),
            Over::Instance(at) => self.stack.instances.get(at as usize).map_or("?", |instance| &instance.name.text),
        }
    }
}
