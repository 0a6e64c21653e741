//! A function in C that cannot be compiled here runs by its model, in the interpreter and in C, and that is said.

use mokume_base::world::RealWorld;
use mokume_base::Severity;
use mokume_driver::compile;
use mokume_driver::StackId;
use mokume_interpret::Instance;
use mokume_reaction::{Datum, Machine, PortId};

fn written(name: &str, c: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let source = "extern fn twice(n: u8, msg: Message) -> u8 grows 1 from \"f.c\" {\n    msg.join(message(x\"ee\"))\n    return n +% n\n}\n\
        worker Calls {\n    on send(msg) {\n        let n = twice(4, msg)\n        if n == 8 { below.send(msg) } else { drop msg: other }\n    }\n}\n\
        stack S(device: Device) {\n    app = Calls over device\n    export app\n}\n";
    std::fs::write(folder.join("f.mok"), source).unwrap();
    std::fs::write(folder.join("f.c"), c).unwrap();
    folder.join("f.mok").to_string_lossy().into_owned()
}

/// What one message becomes, and how many warnings there were.
fn sent(file: &str) -> (Vec<Vec<u8>>, usize) {
    let checked = compile::check(&RealWorld, &[file.to_string()]).unwrap();
    let (compiled, diagnostics) = compile::compile(&checked, StackId(0), &RealWorld);
    let compiled = compiled.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let mut machine = Instance::new(&compiled.uncomposed, &[0, 1514], 1).with_natives(compiled.natives.clone());
    machine.start(0);
    let port = compiled.uncomposed.ports.iter().position(|port| port.name == "app").unwrap();
    let event = compiled.uncomposed.ports[port].inputs.iter().position(|input| input.event == "send_to").unwrap();
    let outcome = machine.input(1, PortId::from(port), event as u32, &[Datum::Message(b"a".to_vec())]);
    let frames = outcome.outputs.into_iter().flat_map(|output| output.args);
    let octets = frames.filter_map(|datum| if let Datum::Message(octets) = datum { Some(octets) } else { None });
    let warnings = diagnostics.iter().filter(|found| found.severity == Severity::Warning && found.code.0 == "M0342");
    (octets.collect(), warnings.count())
}

#[test]
fn a_model_runs_where_the_function_cannot_be_compiled() {
    let good = "#include \"mk_native.h\"\nuint8_t twice(uint8_t n, mk_native *m);\n\
        uint8_t twice(uint8_t n, mk_native *m)\n{\n    m->octets[m->size++] = 0xcc;\n    return (uint8_t)(n + n);\n}\n";
    let by_c = sent(&written("native_good", good));
    let by_model = sent(&written("native_bad", "#include <no_such_library.h>\n"));
    assert_eq!(by_model, (vec![b"a\xee".to_vec()], 1));
    // Without a C compiler at all it is the model here, too.
    assert!(by_c == (vec![b"a\xcc".to_vec()], 0) || by_c == by_model, "{by_c:?}");
}
