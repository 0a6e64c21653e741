//! Runs commands and reads their output meanwhile.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::count::{Counter, Outcome, Reader};

/// After this long without output, a line says that the command still runs.
const SILENCE: Duration = Duration::from_secs(60);

/// Runs a command to its end, and counts what its reader finds in the output.
pub fn run(name: &str, command: &mut Command, reader: &mut dyn Reader, counter: &mut Counter) {
    let started = Instant::now();
    let success = lines(command, |line| match line {
        Some(line) => counter.heed(reader.line(line)),
        None => println!("… {name}: {} so far", time(started.elapsed())),
    });
    match success {
        Ok(success) => counter.heed(reader.end(success)),
        Err(why) => counter.test(&format!("{name}: {why}"), Outcome::Failed),
    }
}

/// Runs a command as one test; shows its output only if it fails.
pub fn check(name: &str, command: &mut Command, counter: &mut Counter) {
    let mut printed = Vec::new();
    let success = lines(command, |line| printed.extend(line.map(str::to_string)));
    if success != Ok(true) {
        printed.iter().rev().take(40).rev().for_each(|line| println!("{line}"));
    }
    counter.test(name, if success == Ok(true) { Outcome::Passed } else { Outcome::Failed });
}

/// Passes on each line of output and errors in order, and `None` after each [`SILENCE`]. Returns whether the command
/// succeeded.
fn lines(command: &mut Command, mut heed: impl FnMut(Option<&str>)) -> Result<bool, String> {
    let said = |error: std::io::Error| error.to_string();
    let (reader, writer) = std::io::pipe().map_err(said)?;
    command.stdin(std::process::Stdio::null()).stdout(writer.try_clone().map_err(said)?).stderr(writer);
    let mut child = command.spawn().map_err(said)?;
    // The command holds our ends of the pipe too; dropping them lets the pipe end with the last writer.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
                // The send fails only if the listener has gone; then nobody needs the rest.
                let _ = send.send(String::from_utf8_lossy(&line).into_owned());
            }
        });
        loop {
            match receive.recv_timeout(SILENCE) {
                Ok(line) => heed(Some(&line)),
                Err(RecvTimeoutError::Timeout) => heed(None),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    child.wait().map(|status| status.success()).map_err(said)
}

/// `3 min 20 s`, `20 s`.
pub fn time(took: Duration) -> String {
    match (took.as_secs() / 60, took.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_errors_come_in_order() {
        let mut seen = Vec::new();
        let mut shell = Command::new("sh");
        let success = lines(shell.args(["-c", "echo a; echo b >&2; echo c; exit 3"]), |line| {
            seen.extend(line.map(str::to_string))
        });
        assert_eq!((success, seen.join(" ")), (Ok(false), "a b c".to_string()));
    }

    #[test]
    fn a_command_that_is_not_there_has_failed() {
        let mut counter = Counter::silent();
        check("nothing", &mut Command::new("no-such-command-anywhere"), &mut counter);
        assert_eq!(counter.total(), "0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn times_are_for_people() {
        assert_eq!(time(Duration::from_secs(20)), "20 s");
        assert_eq!(time(Duration::from_secs(200)), "3 min 20 s");
    }
}
