//! `--watch`: the output follows changes of files, including a file that is used.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

/// Killed at the end of the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Far longer than any of it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The next lines that contain these; of two outputs, in any order.
fn until(lines: &Receiver<String>, texts: &[&str]) {
    let (mut heard, mut left) = (Vec::new(), texts.to_vec());
    while !left.is_empty() {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                left.retain(|text| !line.contains(text));
                heard.push(line);
            }
            Err(_) => panic!("no {left:?} in {heard:?}"),
        }
    }
}

fn started(folder: &Path, arguments: &[&str]) -> (Running, Receiver<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (tell, lines) = channel();
    let outputs: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for output in outputs {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.for_each(|line| drop(tell.send(line)));
        });
    }
    (Running(child), lines)
}

#[test]
fn a_command_is_carried_out_again_when_what_it_reads_changes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watch");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("used")).unwrap();
    let layer = "worker Plain {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n";
    let main = "use \"used/plain.mok\"\nstack Host(device: Device) {\n    app = Plain over device\n    export app\n}\n\
        test \"it sends\" {\n    stack Host(device)\n    app.send_to(\"x\")\n    => device.frame(\"x\")\n}\n";
    std::fs::write(folder.join("used/plain.mok"), layer).unwrap();
    std::fs::write(folder.join("main.mok"), main).unwrap();

    let (_running, lines) = started(&folder, &["check", "main.mok", "--watch"]);
    until(&lines, &["checked 1 file: no errors", "watching"]);
    std::fs::write(folder.join("used/plain.mok"), layer.replace("above.deliver", "above.delver")).unwrap();
    until(&lines, &["error[", "watching"]);
    // As editors do it: another file gets its name.
    std::fs::write(folder.join("used/new"), layer).unwrap();
    std::fs::rename(folder.join("used/new"), folder.join("used/plain.mok")).unwrap();
    until(&lines, &["checked 1 file: no errors", "watching"]);
    // It ignores files that it does not read.
    std::fs::write(folder.join("other.mok"), "wrong").unwrap();
    std::fs::write(folder.join("notes"), "x").unwrap();
    assert!(lines.recv_timeout(Duration::from_millis(700)).is_err());

    let (_running, lines) = started(&folder, &["test", ".", "--watch", "--backend", "interpreter"]);
    until(&lines, &["error[", "watching"]);
    std::fs::remove_file(folder.join("other.mok")).unwrap();
    until(&lines, &["1 passed, 0 failed", "watching"]);
    std::fs::write(folder.join("main.mok"), main.replace("frame(\"x\")", "frame(\"y\")")).unwrap();
    until(&lines, &["0 passed, 1 failed"]);
}

#[test]
fn what_is_not_there_is_not_watched() {
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(["check", "nowhere.mok", "--watch"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere.mok"), "{output:?}");
}
