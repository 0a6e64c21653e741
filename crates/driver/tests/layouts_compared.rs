//! Hosts in a simulated network whose layers compare the layouts of their headers when a session opens.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::machines::Backend;
use mokume_driver::{compile, sim};
use mokume_simulate::RecordedEvent;

/// Every output of both hosts: `host port.event` with its arguments.
fn outputs(network: &str, backend: Backend) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/library/same_layout.mok");
    let checked = compile::check(&RealWorld, &[file.to_string_lossy().into_owned()]).unwrap();
    let network = sim::choose(&checked, Some(network)).unwrap();
    let (compiled, diagnostics) = sim::stacks(&checked, network, &RealWorld);
    assert_eq!(diagnostics.len(), 0);
    let prepared = sim::Prepared::new(&checked, network, &compiled, backend).unwrap();
    let how = sim::How { seed: 1, keep: sim::Keep::All, weather: sim::Sky::Seeded };
    let run = prepared.run(how, &RealWorld, &mut |_| {}).unwrap();
    let said = |what: &RecordedEvent| match what {
        RecordedEvent::Output { host, port, event, args } => {
            let host = &run.hosts[*host];
            Some(format!("{}.{}", host.name, host.output(*port, *event, args)))
        }
        _ => None,
    };
    run.records.iter().filter_map(|record| said(&record.what)).collect()
}

#[test]
fn equal_stacks_open_and_others_are_told_why() {
    for backend in [Backend::Interpreter, Backend::C] {
        let heard = [
            "b.app.accepted(session 0, 7, 5)",
            "a.app.opened(1, session 0, 5, 7)",
            "b.app.deliver(session 0, \"hello\")",
        ];
        assert_eq!(outputs("Alike", backend), heard);
        assert_eq!(outputs("Unlike", backend), ["a.app.failed(1, other_layout)"]);
    }
}
