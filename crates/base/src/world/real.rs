//! The machine we run on.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::ending::Group;
use super::{octets_of_a_text, text_of, Exit, Invocation, Output, Running, World};

/// The machine we run on.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealWorld;

impl World for RealWorld {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn read_text(&self, path: &str) -> io::Result<String> {
        octets_of_a_text(std::fs::File::open(path)?).and_then(text_of)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = Path::new(path).parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn make_read_only(&self, path: &str) -> io::Result<()> {
        let mut permissions = std::fs::metadata(path)?.permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(path, permissions)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        // A link to a folder counts as a file: the folder that it leads to is not ours.
        match std::fs::symlink_metadata(path)?.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        }
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn is_folder(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let mut name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                name.push('/');
            }
            names.push(name);
        }
        names.sort();
        Ok(names)
    }

    fn absolute(&self, path: &str) -> io::Result<String> {
        Ok(std::fs::canonicalize(path)?.to_string_lossy().into_owned())
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn seed(&self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        // The standard library's hasher draws its keys from the machine's randomness.
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_u128(self.now().as_nanos());
        hasher.finish()
    }

    fn environment(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn run(&self, program: &Invocation, stdin: &[u8], timeout: Duration) -> io::Result<Output> {
        let mut child = command(program).process_group(0).spawn()?;
        let group = Group::new(child.id());
        let (to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (closed, closes) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that stops reading its input is not a failure of ours.
                to.map(|mut to| to.write_all(stdin).ok())
            });
            let closed_too = closed.clone();
            let stdout = scope.spawn(move || read_all(out, closed));
            let stderr = scope.spawn(move || read_all(err, closed_too));
            let (status, timed_out) = wait(&mut child, &closes, timeout)?;
            drop(group);
            Ok(Output {
                status,
                timed_out,
                stdout: stdout.join().unwrap_or_default(),
                stderr: stderr.join().unwrap_or_default(),
            })
        })
    }

    fn start(&self, program: &Invocation) -> io::Result<Box<dyn Running>> {
        Ok(Box::new(RealRunning { child: command(program).spawn()? }))
    }
}

fn command(program: &Invocation) -> Command {
    let mut command = Command::new(&program.command);
    command.args(&program.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    command
}

/// Reads a stream to its end, then signals `closed`.
fn read_all(stream: Option<impl Read>, closed: mpsc::Sender<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What was read before a failure still counts as the program's output.
        let _ = stream.read_to_end(&mut bytes);
    }
    let _ = closed.send(());
    bytes
}

/// Waits for the end of a program. As a rule both its streams are closed before it ends; `closes` tells of that at
/// once, so we need not poll.
fn wait(child: &mut Child, closes: &mpsc::Receiver<()>, timeout: Duration) -> io::Result<(Option<i32>, bool)> {
    let began = Instant::now();
    for _ in 0..2 {
        let _ = closes.recv_timeout(timeout.saturating_sub(began.elapsed()));
    }
    let mut pause = Duration::from_micros(50);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), false));
        }
        if began.elapsed() >= timeout {
            end_group(child);
            return Ok((child.wait()?.code(), true));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends the program and all that it started: otherwise a grandchild would keep the pipes open, and we would wait for
/// it.
fn end_group(child: &Child) {
    // SAFETY: `kill` has no memory effects. The child was not waited for yet, so its number, which is also its group's,
    // cannot belong to another process.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
}

struct RealRunning {
    child: Child,
}

fn is_closed() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}

impl Read for RealRunning {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.child.stdout.as_mut().ok_or_else(is_closed)?.read(buffer)
    }
}

impl Write for RealRunning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.child.stdin.as_mut().ok_or_else(is_closed)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.child.stdin.as_mut().ok_or_else(is_closed)?.flush()
    }
}

impl Running for RealRunning {
    fn finish(&mut self) -> Exit {
        drop(self.child.stdin.take());
        let mut stderr = Vec::new();
        if let Some(mut stream) = self.child.stderr.take() {
            let _ = stream.read_to_end(&mut stderr);
        }
        let how = self.child.wait().map_or(String::new(), |status| status.to_string());
        Exit { how, stderr: String::from_utf8_lossy(&stderr).into_owned() }
    }
}
