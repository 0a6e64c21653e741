//! A reaction with very many outputs: on both back ends all of them arrive, or the run reports a loss.

use mokume_base::world::RealWorld;
use mokume_driver::{compile, machines, sim};
use mokume_emit_c::{CMachine, Memory};
use mokume_reaction::{Datum, Machine};
use mokume_simulate::RecordedEvent;

const MANY: &str = "
/// Of one message 5000.
worker Many {
    on deliver(msg) {
        for i in 0 .. 5000 limit 5000 { above.deliver(msg.share()) }
        consume msg: made
    }
}
stack S(device: Device) {
    app = Many over device
    export app
}
network N {
    host a = S()
    host b = S()
    link l { a.device, b.device }
    at 1 ms a.app.send_to(\"x\")
    until 1 s
}
";

fn checked() -> compile::Checked {
    let name = std::env::temp_dir().join(format!("mokume-many-{}.mok", std::process::id()));
    std::fs::write(&name, MANY).unwrap();
    let checked = compile::check(&RealWorld, &[name.to_string_lossy().into_owned()]).unwrap();
    let _ = std::fs::remove_file(name);
    checked
}

#[test]
fn nothing_is_lost_where_a_reaction_puts_out_much() {
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let (compiled, diagnostics) = sim::stacks(&checked, network, &RealWorld);
    for backend in [mokume_driver::machines::Backend::Interpreter, mokume_driver::machines::Backend::C] {
        let prepared = sim::Prepared::new(&checked, network, &compiled, backend).unwrap();
        let how = sim::How { seed: 1, keep: sim::Keep::All, weather: sim::Sky::Seeded };
        let run = prepared.run(how, &RealWorld, &mut |_| {});
        let run = run.unwrap_or_else(|failure| panic!("{failure} {diagnostics:?}"));
        let outputs = run.records.iter().filter(|record| matches!(record.what, RecordedEvent::Output { host: 1, .. }));
        assert_eq!(outputs.count(), 5000, "{backend:?}");
    }
}

/// A machine with less room than composing computed reports a loss.
#[test]
fn what_found_no_room_is_said() {
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let (compiled, _) = sim::stacks(&checked, network, &RealWorld);
    let stack = compiled.values().next().unwrap();
    let build = mokume_emit_c::Build::new(&RealWorld, std::env::temp_dir());
    let program = machines::program(&[&stack.composed], &build).unwrap();
    let memory = Memory { buffers: 8192, buffer_octets: 4096, messages: 16384, outputs: 1000, reports: 64 };
    let mut machine = CMachine::new(&program, 0, &[0, 1514], 1, memory).unwrap();
    machine.start(0);
    let device = stack.composed.port_named("device").unwrap();
    let outcome = machine.input(1, device, 0, &[Datum::Message(b"x".to_vec())]);
    assert_eq!(outcome.outputs.len(), 1000);
    assert_eq!(machine.exhausted(), 4000);
    assert!(machines::check_room(&machine, "the stack").is_err());
}
