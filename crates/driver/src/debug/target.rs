//! The target of debugging: a network or a test, on the interpreter.

use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::FileId;
use mokume_interpret::{Instance, Observed};
use mokume_simulate::{Clock, Keep};

use super::facts::{Facts, ToRun};
use super::moves::End;
use crate::compile::Checked;
use crate::failure::Failure;
use crate::machines::Backend;
use crate::sim::{self, How, Overseer, Sky};
use crate::test;

/// Something that can be run repeatedly, each time in the same way.
pub enum Target<'a> {
    Network { prepared: sim::Prepared<'a>, seed: u64 },
    Test { checked: &'a Checked, prepared: test::Prepared<'a>, number: usize },
}

impl Target<'_> {
    /// What is known of it.
    pub fn facts(&self) -> Arc<Facts> {
        let (name, file, checked, hosts): (String, FileId, &Checked, Vec<ToRun<'_>>) = match self {
            Target::Network { prepared, .. } => {
                let network = prepared.network;
                let hosts = network.hosts.iter().map(|host| {
                    (host.name.text.clone(), host.stack, prepared.stack(host.stack), host.settings.as_slice())
                });
                (format!("network {}", network.name.text), network.name.span.file, prepared.checked, hosts.collect())
            }
            Target::Test { checked, prepared, number } => {
                let (name, compiled) = prepared.test(*number);
                let (file, (stack, settings)) = (prepared.file(*number), prepared.settings(*number));
                let host = (compiled.uncomposed.name.clone(), stack, compiled, settings);
                (format!("test \"{name}\""), file, checked, vec![host])
            }
        };
        let file = checked.sources.file(file).name.clone();
        Arc::new(Facts::new((name, file), hosts, (&checked.program, &checked.sources)))
    }

    /// The clocks of the hosts of a network.
    pub(super) fn clocks(&self) -> Vec<Clock> {
        match self {
            Target::Network { prepared, .. } => {
                (0..prepared.network.hosts.len()).map(|host| prepared.clock(host)).collect()
            }
            Target::Test { .. } => Vec::new(),
        }
    }

    /// Runs it once: a network with an overseer, a test with an observer.
    pub(super) fn run(
        &self,
        (observed, overseer): (&dyn Fn(usize) -> Observed, &dyn Overseer),
        world: &dyn World,
    ) -> Result<End, Failure> {
        match self {
            Target::Network { prepared, seed } => {
                let how = How { seed: *seed, keep: Keep::Reports, weather: Sky::Seeded };
                let finished = prepared.overseen(how, overseer, world)?;
                let finished = finished.come_to_rest()?;
                let wrong = sim::seeds::wrong(&finished);
                // A report was not wanted, and not resting has no place.
                let said = |failed: &sim::Failed| {
                    let parts =
                        [&failed.place, &failed.wanted, &failed.found].into_iter().filter(|part| !part.is_empty());
                    parts.map(String::as_str).collect::<Vec<_>>().join(": ")
                };
                Ok(End { failed: wrong.iter().map(said).collect() })
            }
            Target::Test { prepared, number, .. } => {
                let watch = |mut machine: Instance| {
                    machine.watch(observed(0));
                    machine
                };
                let failed = prepared.play(*number, &watch);
                Ok(End { failed: failed.iter().map(ToString::to_string).collect() })
            }
        }
    }

    /// The machine for debugging networks: the reference.
    pub const BACKEND: Backend = Backend::Interpreter;
}
