//! Chapters of the tutorial that need a network: their commands run in a separate network namespace, and print the
//! lines that the pages show (except for numbers that differ from run to run).

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The page's commands in order, each with the lines that it should print.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or("").lines() {
            match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push((command.replace("sudo ", ""), Vec::new())),
                (None, Some((_, shown))) => shown.push(line.trim().to_string()),
                (None, None) => panic!("`{line}` is said by no command"),
            }
        }
    }
    found
}

/// Of the stacks that run: with it, the weather loses few enough frames for what the pages show.
const SEED: u32 = 2;

/// All of it as one script: a running stack goes to the background, and runs before the next command begins (on a busy
/// machine that takes more than a moment); each command's output goes to a separate file.
fn script(commands: &[(String, Vec<String>)]) -> String {
    // Without IPv6 the kernel sends nothing by itself; so the weather meets the same frames in each run of one seed.
    let quiet = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 || true";
    let mut script = format!("set -e\n{quiet}\nip link set lo up\n");
    for (index, (command, _)) in commands.iter().enumerate() {
        let runs = command.starts_with("mokume run");
        let command = command.replace("mokume ", &format!("{} ", env!("CARGO_BIN_EXE_mokume")));
        // A background command has ended before its output is read.
        let before = if command.contains(" dissect ") || command.ends_with(" &") { "wait\n" } else { "" };
        let command = match runs && !command.contains(" --seed ") {
            true => command.replacen(" run ", &format!(" run --seed {SEED} "), 1),
            false => command,
        };
        let background = match (runs, command.ends_with(" &")) {
            (true, _) => format!(
                " &\nfor wait in $(seq 600); do grep -q '^running' said-{index} && break; sleep 0.1; done\nsleep 1"
            ),
            (false, true) => " &\nsleep 1".to_string(),
            (false, false) => String::new(),
        };
        let command = command.trim_end_matches(" &");
        script += &format!("{before}{{ {command}; }} >said-{index} 2>&1{background}\n");
    }
    script + "wait\n"
}

fn is_possible() -> bool {
    let can = "ip tuntap add probe0 mode tap && ip link add probe1 type bridge && command -v socat && command -v ping";
    Command::new("unshare").args(["-n", "sh", "-c", can]).output().is_ok_and(|output| output.status.success())
}

/// Numbers that differ from run to run: of the seed, and of packets.
fn without_numbers(line: &str) -> String {
    line.split("seed").next().unwrap_or(line).trim().to_string()
}

/// Runs the commands of a page in a separate network, beside a file of the examples.
fn follow(name: &str, example: &str, least: usize) {
    if !is_possible() {
        println!("SKIPPED: no TAP interfaces, no namespaces, or no socat and ping here");
        return;
    }
    let page = std::fs::read_to_string(root().join("docs").join(format!("{name}.md"))).expect("the page");
    let commands = commands(&page);
    assert!(commands.len() >= least, "the page has commands: {commands:?}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(root().join("examples").join(example), folder.join(example)).expect("copied");
    let run = Command::new("unshare").args(["-n", "bash", "-c", &script(&commands)]).current_dir(&folder).output();
    let run = run.expect("it starts");
    for (index, (command, shown)) in commands.iter().enumerate() {
        let said = std::fs::read_to_string(folder.join(format!("said-{index}"))).unwrap_or_default();
        for line in shown {
            let line = without_numbers(line);
            assert!(
                said.contains(&line),
                "`{command}` does not say `{line}`:\n{said}\n{}",
                String::from_utf8_lossy(&run.stderr)
            );
        }
    }
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn the_commands_of_chapter_3_say_what_the_page_shows() {
    follow("tutorial-tap", "budget.mok", 7);
}

#[test]
fn the_commands_of_chapter_4_say_what_the_page_shows() {
    follow("tutorial-stream", "numbers.mok", 7);
}

/// Two hosts on a bridge; Wireshark's engine reads their traffic with the dissector that is made from the stack.
#[test]
fn the_commands_of_the_courier_say_what_the_page_shows() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("SKIPPED: no tshark here");
        return;
    }
    follow("tutorial-courier", "courier.mok", 12);
}
