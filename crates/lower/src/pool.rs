//! What a stack's pool must hold at least, before compose adds the peak of a reaction (design, section 2, memory is state).

use mokume_reaction::{Automaton, CellKind, PortKind};

/// Frames that may wait in a device's queue, where nobody says otherwise.
pub const DEVICE_QUEUE: u32 = 64;

/// Message buffers that the stack may hold between reactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolFloor {
    /// In places that a quota guards: the quotas. In places without one: all of them.
    pub kept: u64,
    /// Messages waiting as `later` events.
    pub later: u64,
    /// Frames in the devices' queues.
    pub devices: u64,
}

impl PoolFloor {
    pub fn total(self) -> u64 {
        self.kept + self.later + self.devices
    }
}

/// The sum of what handlers may keep, of what waits, and of the devices' queues.
pub fn pool_floor(automaton: &Automaton) -> PoolFloor {
    let mut floor = PoolFloor::default();
    let mut quotas = Vec::new();
    for class in &automaton.classes {
        for cell in &class.cells {
            let CellKind::Messages { size, quota } = &cell.kind else { continue };
            match quota {
                None => floor.kept += u64::from(*size) * u64::from(class.capacity),
                Some(quota) if !quotas.contains(quota) => quotas.push(*quota),
                Some(_) => {}
            }
        }
    }
    for (class, cell) in quotas {
        if let CellKind::Quota { amount } = automaton.cell(class, cell).kind {
            floor.kept += u64::from(amount) * u64::from(automaton.class(class).capacity);
        }
    }
    for handler in &automaton.handlers {
        let messages = handler.params.iter().filter(|(_, ty)| *ty == mokume_reaction::Type::Msg).count();
        floor.later += u64::from(handler.later_capacity) * messages as u64;
    }
    let devices = automaton.ports.iter().filter(|port| port.kind == PortKind::Device).count();
    floor.devices = devices as u64 * u64::from(DEVICE_QUEUE);
    floor
}
