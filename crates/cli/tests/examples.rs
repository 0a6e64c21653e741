//! The examples in each command's help, typed as they are there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mokume(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    output
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A project, and beside its sources the files that examples name.
fn project() -> PathBuf {
    let above = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let _ = std::fs::remove_dir_all(&above);
    std::fs::create_dir_all(&above).unwrap();
    mokume(&above, &["new", "first"]);
    let folder = above.join("first");
    // Stacks and networks are named by file: these are not all of the project.
    std::fs::write(folder.join("Mokume.toml"), "[project]\nname = \"first\"\nsources = [\"src\"]\n").unwrap();
    let source = std::fs::read_to_string(folder.join("src/first.mok")).unwrap();
    for name in ["net.mok", "old.mok"] {
        std::fs::write(folder.join(name), &source).unwrap();
    }
    // The same, written the other way round.
    let turned = source.replace("if number > last {", "if not (number <= last) {");
    assert_ne!(turned, source);
    std::fs::write(folder.join("new.mok"), turned).unwrap();
    std::fs::copy(root().join("examples/host.mok"), folder.join("host.mok")).unwrap();
    mokume(&folder, &["sim", "net.mok", "--record", "run.jsonl", "--pcap", "seen.pcap"]);
    mokume(&folder, &["sim", "net.mok", "--record", "other.jsonl", "--seed", "9"]);
    for made in [".local/share/bash-completion/completions", ".config/fish/completions"] {
        std::fs::create_dir_all(folder.join(made)).unwrap();
    }
    folder
}

/// The examples in a command's help, without their descriptions.
fn examples_of(command: &str) -> Vec<String> {
    let help = said(&Command::new(env!("CARGO_BIN_EXE_mokume")).args([command, "--help"]).output().unwrap());
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.filter_map(|line| Some(line.trim().split_once("  # ")?.0.trim_end().to_owned())).collect()
}

/// Replaces the ports of the examples by two that were free a moment ago.
fn with_ports(typed: &str, ports: (u16, u16)) -> String {
    typed.replace("7001", &ports.0.to_string()).replace("7002", &ports.1.to_string())
}

fn free_ports() -> (u16, u16) {
    let sockets = [(); 2].map(|()| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    let [one, other] = sockets.map(|socket| socket.local_addr().unwrap().port());
    (one, other)
}

/// Types a line at a shell, with this input.
fn typed(line: &str, folder: &Path, input: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_mokume")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path).env("HOME", folder);
    shell.env(
        "MOKUME_SOLVERS",
        std::env::var("MOKUME_SOLVERS").unwrap_or_else(|_| root().join(".venv").to_string_lossy().into_owned()),
    );
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that does not read it may end first.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    child.wait_with_output().unwrap()
}

/// The input from the other end: an editor, or a user of the debugger.
fn input_of(command: &str) -> String {
    let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    match command {
        "debug" => "break drop\ncontinue\nwhy\nstate\nback\nquit\n".to_owned(),
        "lsp" => [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
            r#"{"jsonrpc":"2.0","method":"exit"}"#,
        ]
        .map(message)
        .concat(),
        _ => String::new(),
    }
}

/// Whether this machine lets us make private network interfaces.
fn has_own_network() -> bool {
    let made = Command::new("unshare")
        .args(["--map-root-user", "--net", "ip", "tuntap", "add", "mok0", "mode", "tap"])
        .output();
    made.is_ok_and(|output| output.status.success())
}

fn has_solvers(folder: &Path) -> bool {
    let doctor = said(&typed("mokume doctor", folder, ""));
    doctor.contains("ok       solvers")
}

#[test]
fn each_example_of_the_help_does_what_it_says() {
    let folder = project();
    let help = said(&mokume(&folder, &["--help"]));
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty()).collect();
    let (own_network, solvers) = (has_own_network(), has_solvers(&folder));
    let (mut count, mut left_out) = (0, 0);
    for command in commands.into_iter().filter(|name| !["help", "connect", "listen"].contains(name)) {
        let examples = examples_of(command);
        assert!(!examples.is_empty(), "`mokume {command} --help` has no example");
        for example in examples {
            let mut line = with_ports(&example, free_ports());
            if line.contains("tap:") {
                // Alone with its interface, and for a moment.
                line = format!(
                    "unshare --map-root-user --net {} --for 200ms",
                    line.replacen("mokume", env!("CARGO_BIN_EXE_mokume"), 1)
                );
            }
            line = line.replace("--for 10s", "--for 200ms");
            if line.contains("tap:") && !own_network || command == "prove" && !solvers {
                println!("SKIPPED: `{example}`: this machine cannot");
                left_out += 1;
                continue;
            }
            let output = typed(&line, &folder, &input_of(command));
            // Of `show`, runs that differ are a failure; of `sim`, the example differs nowhere.
            let wanted = i32::from(command == "show" && example.contains("--against"));
            assert_eq!(output.status.code(), Some(wanted), "{line}: {}", said(&output));
            count += 1;
        }
    }
    println!("FIGURE: examples of the help: {count} run, {left_out} not");
    for made in [
        "seen",
        "run.html",
        "run.pcap",
        "ways.profile",
        "made/mokume.h",
        "net.lua",
        "path.html",
        "host.svg",
        "run.svg",
        "second/Mokume.toml",
    ] {
        // Pages are only written for failing tests: none fails.
        assert!(made == "seen" || folder.join(made).exists(), "{made}");
    }
}

#[test]
fn the_examples_of_listen_and_connect_talk_with_each_other() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ports = free_ports();
    let line = |command: &str| with_ports(&examples_of(command)[0], ports);
    let (listens, connects) = (line("listen"), line("connect"));
    std::thread::scope(|scope| {
        let listener = scope.spawn(|| typed(&listens, folder, "the answer\n"));
        let output = typed(&connects, folder, "a question\n");
        assert!(output.status.success() && said(&output).contains("the answer"), "{connects}: {}", said(&output));
        let heard = listener.join().unwrap();
        assert!(heard.status.success() && said(&heard).contains("a question"), "{listens}: {}", said(&heard));
    });
}

/// `--seed` exists where random numbers are used, and nowhere else.
#[test]
fn a_seed_is_taken_where_it_means_something() {
    for (command, takes) in [
        ("sim", true),
        ("profile", true),
        ("run", true),
        ("connect", true),
        ("listen", true),
        ("forward", true),
        ("debug", true),
        ("prove", true),
        ("check", false),
        ("test", false),
        ("build", false),
        ("path", false),
        ("graph", false),
        ("show", false),
        ("size", false),
        ("fmt", false),
        ("dissect", true),
        ("explain", false),
        ("new", false),
        ("lsp", false),
        ("doctor", false),
    ] {
        let help = said(&Command::new(env!("CARGO_BIN_EXE_mokume")).args([command, "--help"]).output().unwrap());
        assert_eq!(help.contains("--seed <NUMBER>"), takes, "{command}: {help}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(["prove", "a.mok", "--seed", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(["check", "a.mok", "--seed", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}
