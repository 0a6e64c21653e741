//! A function in C that cannot be compiled here runs by its model in the interpreter; that is reported, and nothing
//! runs in C.

use mokume_base::world::RealWorld;
use mokume_base::Severity;
use mokume_driver::compile;
use mokume_driver::machines::Backend;
use mokume_driver::test;
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

/// The results for one message, and the number of warnings.
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
    // Without any C compiler the model is used here, too.
    assert!(by_c == (vec![b"a\xcc".to_vec()], 0) || by_c == by_model, "{by_c:?}");
}

/// How many tests passed in C, how many did not run there, and the warnings.
fn tested(name: &str, c: &str) -> (usize, usize, Vec<String>) {
    let file = written(name, c);
    let mut source = std::fs::read_to_string(&file).unwrap();
    source += "test \"sent\" {\n    stack S\n    app.send_to(\"a\")\n    => device.frame(\"a\" x\"ee\")\n}\n";
    std::fs::write(&file, source).unwrap();
    let checked = compile::check(&RealWorld, &[file]).unwrap();
    let results = test::run(&checked, Some(Backend::C), "", &RealWorld);
    let passed = results.outcomes.iter().filter(|outcome| outcome.differences.is_empty()).count();
    let not_run = results.not_run.iter().filter(|left_out| !left_out.is_skip()).map(|left_out| left_out.tests).sum();
    (passed, not_run, results.diagnostics.iter().map(|found| found.code.0.to_string()).collect())
}

const HEAD: &str = "#include \"mk_native.h\"\n";

/// If a C compiler refuses a function, the model does not let a test in C pass.
#[test]
fn what_cannot_be_compiled_does_not_pass_in_c() {
    let compiler = mokume_driver::machines::compiler(&RealWorld);
    if std::process::Command::new(compiler).arg("--version").output().is_err() {
        return;
    }
    let joins = "    m->octets[m->size++] = 0xee;\n";
    let good = |more: &str, result: &str| {
        format!("{HEAD}{more}{result} twice(uint8_t n, mk_native *m)\n{{\n{joins}    return (uint8_t)(n + n);\n}}\n")
    };
    let missing = "extern int elsewhere(void);\n";
    let cases = [
        ("plain", good("", "uint8_t"), (1, 0, vec![])),
        // Code that is forbidden in our own C is the author's business here.
        (
            "sloppy",
            format!(
                "{HEAD}uint8_t twice(uint8_t n, mk_native *m) {{ int x; m->octets[m->size++] = 0xee; return 8; }}\n"
            ),
            (1, 0, vec!["M0345"]),
        ),
        ("broken", format!("{HEAD}uint8_t twice(uint8_t n, mk_native *m) {{ return 8 }}\n"), (0, 1, vec!["M0342"])),
        ("absent", HEAD.to_string(), (0, 1, vec!["M0342"])),
        ("otherwise", good("", "uint32_t"), (0, 1, vec!["M0342"])),
        ("elsewhere", good(missing, "uint8_t").replace("n + n", "n + elsewhere()"), (0, 1, vec!["M0342"])),
    ];
    for (name, c, (passed, not_run, codes)) in cases {
        let expected = (passed, not_run, codes.into_iter().map(String::from).collect::<Vec<_>>());
        assert_eq!(tested(&format!("native_{name}"), &c), expected, "{name}");
    }
}

/// Such a function made three errors of the C compiler, each in another file.
#[test]
fn a_word_of_c_names_no_function() {
    let file = written("native_word", HEAD);
    let text = std::fs::read_to_string(&file).unwrap();
    let refused = ["int", "double", "main", "defined", "uint8_t", "mk_native", "mk_own"].map(|name| (name, 1));
    for (name, errors) in refused.into_iter().chain([("integer", 0), ("mkay", 0)]) {
        std::fs::write(&file, text.replace("twice(", &format!("{name}("))).unwrap();
        let checked = compile::check(&RealWorld, std::slice::from_ref(&file)).unwrap();
        let found: Vec<&str> = checked
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| found.code.0)
            .collect();
        assert_eq!(found, vec!["M0342"; errors], "{name}: {:?}", checked.diagnostics);
    }
}
