//! A function in C that ends the process, or does not return, is reported as such, and does not affect other tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap()
}

pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Three tests; the second calls the function with 1.
const STACK: &str = "extern fn f(n: u8) -> u8 from \"f.c\" { return n }
worker W {
    header { v: u8 }
    on send(msg) { below.send(msg, v: f(msg.size as% u8)) }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    w = W over device
    export w
}
test \"before\" {
    stack S
    w.send_to(\"ab\")
    => device.frame(x\"02\" \"ab\")
}
test \"ends\" {
    stack S
    w.send_to(\"a\")
    => device.frame(x\"01\" \"a\")
}
test \"behind\" {
    stack S
    w.send_to(\"abc\")
    => device.frame(x\"03\" \"abc\")
}
network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device }
    at 1 s a.w.send_to(\"a\")
    until 2 s
}
";

pub fn written(name: &str, head: &str, what: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apart").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s.mok"), STACK).unwrap();
    let c = format!(
        "#include \"mk_native.h\"\n{head}\nuint8_t f(uint8_t n)\n{{\n    if (n == 1) {{ {what} }}\n    return n;\n}}\n"
    );
    std::fs::write(folder.join("f.c"), c).unwrap();
    folder.join("s.mok")
}

fn has_compiler() -> bool {
    let compiler = mokume_driver::machines::compiler(&mokume_base::RealWorld);
    Command::new(compiler).arg("--version").output().is_ok()
}

/// What ends a process, and how that is reported.
const ENDS: [(&str, &str, &str, &str); 7] = [
    ("exit0", "#include <stdlib.h>", "exit(0);", "`exit(0)`"),
    ("exit3", "#include <stdlib.h>", "exit(3);", "`exit(3)`"),
    ("quick", "#include <unistd.h>", "_exit(0);", "`exit(0)`"),
    ("abort", "#include <stdlib.h>", "abort();", "SIGABRT"),
    ("segfault", "", "volatile uintptr_t at = 8; *(volatile int *)at = 1;", "SIGSEGV"),
    ("reader", "#include <signal.h>", "raise(SIGPIPE);", "SIGPIPE"),
    ("loop", "", "for (volatile int i = 0;; i = i + 1) { }", "no answer for 1 s"),
];

#[test]
fn what_ends_the_process_fails_its_test_alone() {
    if !has_compiler() {
        return;
    }
    for (name, head, what, how) in ENDS {
        let file = written(name, head, what);
        let output = mokume(&["test", "--patience", "1s", &file.to_string_lossy()]);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("4 passed, 2 failed"), "{name}: {said}");
        for backend in ["interpreter", "C"] {
            assert!(said.contains(&format!("s.mok:16 \"ends\" ({backend})\n  M0346: ")), "{name}: {said}");
        }
        assert_eq!(said.matches(how).count(), 2, "{name}: {said}");
    }
}

/// A C compiler that is at work ends with us, and so does what it has started.
#[test]
fn a_signal_ends_the_compiler_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apart/slow");
    std::fs::create_dir_all(&folder).unwrap();
    let (compiler, told) = (folder.join("slow-cc"), folder.join("told"));
    let _ = std::fs::remove_file(&told);
    // It says who it is where it is to make something, and is known by its version.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *version*) echo slow 1.0; exit 0;; esac\nsleep 600 &\necho \"$$ $!\" > {0}.new\nmv {0}.new {0}\nwait\n",
        told.display()
    );
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let wait_for = |is_so: &dyn Fn() -> bool| {
        (0..600).any(|_| {
            is_so() || {
                std::thread::sleep(std::time::Duration::from_millis(100));
                false
            }
        })
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/meter.mok");
    command
        .args(["test", &examples.to_string_lossy()])
        .env("CC", &compiler)
        .env("XDG_CACHE_HOME", folder.join("cache"));
    let mut running = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    assert!(wait_for(&|| told.exists()), "the compiler was not started");
    let numbers = std::fs::read_to_string(&told).unwrap();
    // Others than this may be ignored where the tests run.
    assert!(Command::new("kill").args(["-TERM", &running.id().to_string()]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), None, "ended by a signal");
    for number in numbers.split_whitespace() {
        let state = |number: &str| std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let is_gone = || state(number).is_empty() || state(number).contains(") Z ");
        assert!(wait_for(&is_gone), "{number} of {numbers} goes on");
    }
}

/// Each handler ends, but continues later, for days. A run without an end in sight is given up, also without C.
const GOES_ON: &str = r#"worker L { entity { var n: u64 = 0 }
    on send(msg) {
        below.send(msg)
        later next(0) or { return }
    }
    on next(at: u64) {
        for i in 0 .. 4096 limit 4096 { for j in 0 .. 4096 limit 4096 { n = n +% i +% j } }
        later next(at +% n) or { return }
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = L over device
    export app
}
test "before" {
    stack S
    device.frame("a")
    => app.deliver_from("a")
}
test "goes on" {
    stack S
    app.send_to("a")
    => device.frame("a")
}
test "behind" {
    stack S
    device.frame("a")
    => app.deliver_from("a")
}
"#;

#[test]
fn a_step_that_does_not_end_fails_its_test_alone() {
    let folder = std::env::temp_dir().join(format!("mokume-goes-on-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("s.mok");
    std::fs::write(&file, GOES_ON).unwrap();
    let output = mokume(&["test", "--backend", "interpreter", "--patience", "2s", &file.to_string_lossy()]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("s.mok:21 \"goes on\" (interpreter)\n  M0346: "), "{said}");
    assert!(said.contains("no answer for 2 s") && said.contains("`--patience 10min` waits longer"), "{said}");
    assert!(said.contains("2 passed, 1 failed"), "{said}");
}

#[test]
fn json_has_a_record_of_it() {
    if !has_compiler() {
        return;
    }
    let file = written("json", "#include <stdlib.h>", "exit(0);");
    let output = mokume(&["--format", "json", "test", "--backend", "interpreter", &file.to_string_lossy()]);
    let text = String::from_utf8_lossy(&output.stdout);
    let records: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let passed: Vec<_> = records.iter().map(|record| (record["test"].as_str(), record["passed"].as_bool())).collect();
    let expected = [(Some("before"), Some(true)), (Some("ends"), Some(false)), (Some("behind"), Some(true))];
    assert_eq!(passed, expected, "{text}");
    assert_eq!(records[1]["code"], "M0346");
    assert_eq!(output.status.code(), Some(1));
}

/// Outside of tests nothing can continue: the command reports it, and fails.
#[test]
fn other_commands_do_not_end_in_silence() {
    if !has_compiler() {
        return;
    }
    let file = written("sim", "#include <stdlib.h>", "exit(0);");
    let output = mokume(&["sim", &file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("mokume: M0346: a function in C ended the command"), "{}", said(&output));
    // Code that runs when the file is opened does not end a command silently either.
    let at_once = "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { exit(0); }";
    let file = written("constructor", at_once, "return 0;");
    for command in ["test", "check", "size"] {
        let output = mokume(&[command, &file.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(1), "{command}: {}", said(&output));
        assert!(said(&output).contains("M0346"), "{command}: {}", said(&output));
    }
}

/// A function that does not return has a time limit outside of tests, too.
#[test]
fn other_commands_wait_for_an_answer_no_longer_than_they_are_told() {
    if !has_compiler() {
        return;
    }
    let file = written("waits", "", "for (volatile int i = 0;; i = i + 1) { }");
    let at_once = file.with_file_name("start.mok");
    let starts = "entity { counter c }\n    on start { if f(1) == 9 { count c } }\n    header {";
    std::fs::write(&at_once, STACK.replace("header {", starts)).unwrap();
    let (file, at_once) = (file.to_string_lossy(), at_once.to_string_lossy());
    let run = ["run", &at_once, "--device", "udp:127.0.0.1:0", "--for", "30s"];
    for command in [&["sim", &file][..], &["sim", "--backend", "c", &file], &["sim", "--seeds", "4", &file], &run] {
        let output = mokume(&[command, &["--patience", "1s"]].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        let what = "M0346: a function in C ended the command: no answer for 1 s";
        assert!(said.contains(what) && said.contains("`--patience 10min` waits longer"), "{command:?}: {said}");
    }
}

/// What functions and tests print, and the colours, are the same as in one process.
#[test]
fn what_is_printed_is_as_of_one_process() {
    if !has_compiler() {
        return;
    }
    let file = written("prints", "#include <unistd.h>", "if (write(1, \"said\\n\", 5) != 5) { return 0; }");
    let output = mokume(&["test", "--backend", "interpreter", &file.to_string_lossy()]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "said\n3 passed, 0 failed\n");
    assert_eq!(output.status.code(), Some(0));
    let output = mokume(&["--watched", "77", "test", &file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// A signal to the command also ends its child: nothing is left that holds the output open.
#[test]
fn a_signal_ends_both() {
    use std::io::Read;
    if !has_compiler() {
        return;
    }
    let endless = "if (write(1, \"in\", 2) == 2) { for (volatile int i = 0;; i = i + 1) { } }";
    let file = written("signal", "#include <unistd.h>", endless);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let mut running =
        command.args(["test", &file.to_string_lossy()]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = running.stdout.take().unwrap();
    said.read_exact(&mut [0; 2]).unwrap();
    let ended = Command::new("kill").args(["-TERM", &running.id().to_string()]).status().unwrap();
    assert!(ended.success());
    assert_eq!(running.wait().unwrap().code(), None, "ended by a signal");
    let mut rest = Vec::new();
    said.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}
