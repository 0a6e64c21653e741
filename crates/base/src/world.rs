//! The one door to files, time, randomness, the environment and other programs.
//!
//! Whoever needs one of these takes a `&dyn World`; so a test gives a world in memory, and a run is a function of its
//! world. Paths are as the user writes them; a world answers with errors as data and never panics.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How a program ended and what it wrote.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// `None` when it was ended by a signal or by the timeout.
    pub status: Option<i32>,
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

pub trait World {
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes a file, and the folders it needs.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    fn exists(&self, path: &str) -> bool;

    /// The names in a folder, sorted; folders end with `/`.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Since the epoch of Unix; only for what people read, never for what is compiled.
    fn now(&self) -> Duration;

    /// A seed that differs from run to run.
    fn seed(&self) -> u64;

    fn environment(&self, name: &str) -> Option<String>;

    /// Runs a program to its end, or ends it at the timeout.
    fn run(&self, command: &str, args: &[String], stdin: &[u8], timeout: Duration) -> io::Result<Output>;

    /// A file that must be text.
    fn read_text(&self, path: &str) -> io::Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
    }
}

/// The machine we run on.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealWorld;

impl World for RealWorld {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = Path::new(path).parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
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

    fn run(&self, command: &str, args: &[String], stdin: &[u8], timeout: Duration) -> io::Result<Output> {
        let mut child = Command::new(command)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input to the end is no failure of ours.
                to.map(|mut to| to.write_all(stdin).ok())
            });
            let stdout = scope.spawn(move || read_all(out));
            let stderr = scope.spawn(move || read_all(err));
            let (status, timed_out) = wait(&mut child, timeout)?;
            Ok(Output {
                status,
                timed_out,
                stdout: stdout.join().unwrap_or_default(),
                stderr: stderr.join().unwrap_or_default(),
            })
        })
    }
}

fn read_all(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What was read before a failure is still what the program wrote.
        let _ = stream.read_to_end(&mut bytes);
    }
    bytes
}

fn wait(child: &mut Child, timeout: Duration) -> io::Result<(Option<i32>, bool)> {
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
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

/// Ends the program and all that it started: a grandchild would keep the pipes open, and us waiting for their end.
fn end_group(child: &Child) {
    // SAFETY: `kill` has no memory effects. The child is not waited for yet, so its number, which is also its group's,
    // belongs to nobody else.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
}

/// What a program of a [`MemoryWorld`] does: from arguments and input to an output.
pub type Program = Box<dyn Fn(&[String], &[u8]) -> Output + Send + Sync>;

/// A world for tests: files in a map, a clock that stands, programs that are functions.
#[derive(Default)]
pub struct MemoryWorld {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    programs: BTreeMap<String, Program>,
    environment: BTreeMap<String, String>,
    pub now: Duration,
    pub seed: u64,
}

impl MemoryWorld {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_file(self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.lock().insert(clean(path), text.into());
        self
    }

    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_string(), value.to_string());
        self
    }

    pub fn with_program(
        mut self,
        command: &str,
        program: impl Fn(&[String], &[u8]) -> Output + Send + Sync + 'static,
    ) -> Self {
        self.programs.insert(command.to_string(), Box::new(program));
        self
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The path without `.` parts and doubled slashes, so that a file has one name.
fn clean(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn not_found(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("`{what}` is not there"))
}

impl World for MemoryWorld {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.lock().get(&clean(path)).cloned().ok_or_else(|| not_found(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.lock().insert(clean(path), bytes.to_vec());
        Ok(())
    }

    fn exists(&self, path: &str) -> bool {
        let path = clean(path);
        let folder = format!("{path}/");
        self.lock().keys().any(|name| *name == path || name.starts_with(&folder))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let folder = clean(folder);
        let prefix = if folder.is_empty() || folder == "/" { folder } else { folder + "/" };
        let files = self.lock();
        let mut names: Vec<String> = files
            .keys()
            .filter_map(|name| name.strip_prefix(&prefix))
            .map(|rest| rest.split_once('/').map_or(rest.to_string(), |(name, _)| format!("{name}/")))
            .collect();
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Err(not_found(&prefix));
        }
        Ok(names)
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }

    fn run(&self, command: &str, args: &[String], stdin: &[u8], _timeout: Duration) -> io::Result<Output> {
        let program = self.programs.get(command).ok_or_else(|| not_found(command))?;
        Ok(program(args, stdin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn files(world: &dyn World, root: &str) {
        let at = |name: &str| format!("{root}/{name}");
        assert!(!world.exists(&at("a/b.mok")));
        assert!(world.read(&at("a/b.mok")).is_err());
        assert!(world.list(&at("a")).is_err());
        world.write(&at("a/b.mok"), b"one").unwrap();
        world.write(&at("a/c/d.mok"), &[0xff]).unwrap();
        assert_eq!(world.read_text(&at("a/b.mok")).unwrap(), "one");
        assert!(world.read_text(&at("a/c/d.mok")).is_err(), "0xff is no text");
        assert!(world.exists(&at("a/c")) && world.exists(&at("a/c/d.mok")));
        assert_eq!(world.list(&at("a")).unwrap(), ["b.mok", "c/"]);
    }

    #[test]
    fn both_worlds_keep_files_alike() {
        files(&MemoryWorld::new(), "here");
        let root = std::env::temp_dir().join(format!("mokume-world-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        files(&RealWorld, root.to_str().unwrap());
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_program_gets_its_input_and_gives_its_output() {
        let input = vec![b'x'; 300_000]; // more than a pipe holds
        let output = RealWorld.run("cat", &[], &input, LONG).unwrap();
        assert_eq!((output.status, output.timed_out, output.stdout.len()), (Some(0), false, input.len()));
        let failed = RealWorld.run("sh", &["-c".into(), "echo no >&2; exit 3".into()], &input, LONG).unwrap();
        assert_eq!((failed.status, failed.stderr.as_slice()), (Some(3), b"no\n".as_slice()));
        assert!(RealWorld.run("no-such-program-here", &[], b"", LONG).is_err());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let output = RealWorld.run("sleep", &["1000".into()], b"", Duration::from_millis(20)).unwrap();
        assert!(output.timed_out && output.status.is_none());
        let script = "echo begun; sleep 1000; echo never";
        let output = RealWorld.run("sh", &["-c".into(), script.into()], b"", Duration::from_millis(500)).unwrap();
        assert!(output.timed_out && output.status.is_none());
    }

    #[test]
    fn a_world_in_memory_runs_functions() {
        let world = MemoryWorld::new()
            .with_program("double", |_, input| Output { status: Some(0), stdout: input.repeat(2), ..Output::default() })
            .with_environment("HOME", "/here");
        assert_eq!(world.run("double", &[], b"ab", LONG).unwrap().stdout, b"abab");
        assert!(world.run("other", &[], b"", LONG).is_err());
        assert_eq!((world.environment("HOME").as_deref(), world.environment("PATH")), (Some("/here"), None));
        assert_eq!((world.now(), world.seed()), (Duration::ZERO, 0));
        assert!(world.with_file("./a//b", "c").exists("a/b"));
    }
}
