//! A world for tests: files in a map, a clock that stands still, programs that are functions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::{Exit, Invocation, Output, Running, World};

/// A program of a [`MemoryWorld`]: a function of the world, the arguments and the input that returns the output.
pub type Program = Box<dyn Fn(&MemoryWorld, &Invocation, &[u8]) -> Output + Send + Sync>;

/// A program to talk with: given what was written since the last flush, returns its answer.
pub type Partner = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// A world for tests: files in a map, a clock that stands still, programs that are functions.
#[derive(Default)]
pub struct MemoryWorld {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Folders that were made explicitly; folders of files exist without an entry here.
    folders: Mutex<BTreeSet<String>>,
    programs: BTreeMap<String, Program>,
    partners: BTreeMap<String, Partner>,
    environment: BTreeMap<String, String>,
    pub now: Duration,
    pub seed: u64,
}

impl MemoryWorld {
    /// A world without files, programs and variables; its time is 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; the folders above it exist without being made.
    pub fn with_file(self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.lock().insert(clean(path), text.into());
        self
    }

    /// Adds an environment variable.
    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_string(), value.to_string());
        self
    }

    /// Adds a program that is a function of its arguments and its input.
    pub fn with_program(
        self,
        command: &str,
        program: impl Fn(&[String], &[u8]) -> Output + Send + Sync + 'static,
    ) -> Self {
        self.with_tool(command, move |_, invocation, stdin| program(&invocation.args, stdin))
    }

    /// Adds a program that reads and writes files of this world; see [`MemoryWorld::path_of`].
    pub fn with_tool(
        mut self,
        command: &str,
        program: impl Fn(&MemoryWorld, &Invocation, &[u8]) -> Output + Send + Sync + 'static,
    ) -> Self {
        self.programs.insert(command.to_string(), Box::new(program));
        self
    }

    /// Adds a program to talk with.
    pub fn with_partner(mut self, command: &str, partner: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.partners.insert(command.to_string(), Arc::new(partner));
        self
    }

    /// The path in this world that a program means by `path`, as it runs in a folder of its own.
    pub fn path_of(&self, invocation: &Invocation, path: &str) -> String {
        match &invocation.folder {
            Some(folder) if !path.starts_with('/') => clean(&format!("{folder}/{path}")),
            _ => clean(path),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn folders(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.folders.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The path without `.`, `..` and doubled slashes, so that each file has one name.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
            Some(_) | None => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn not_found(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("`{what}` is not there"))
}

/// The prefix of all names below a folder.
fn inside(folder: &str) -> String {
    let folder = clean(folder);
    if folder.is_empty() || folder == "/" {
        folder
    } else {
        folder + "/"
    }
}

impl World for MemoryWorld {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.lock().get(&clean(path)).cloned().ok_or_else(|| not_found(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.lock().insert(clean(path), bytes.to_vec());
        Ok(())
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        self.folders().insert(clean(path));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.lock();
        let bytes = files.remove(&clean(from)).ok_or_else(|| not_found(from))?;
        files.insert(clean(to), bytes);
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        if !self.exists(path) {
            return Err(not_found(path));
        }
        let (own, prefix) = (clean(path), inside(path));
        self.lock().retain(|name, _| *name != own && !name.starts_with(&prefix));
        self.folders().retain(|name| *name != own && !name.starts_with(&prefix));
        Ok(())
    }

    fn exists(&self, path: &str) -> bool {
        self.lock().contains_key(&clean(path)) || self.is_folder(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        let (own, prefix) = (clean(path), inside(path));
        let is_made = self.folders().iter().any(|name| *name == own || name.starts_with(&prefix));
        is_made || self.lock().keys().any(|name| name.starts_with(&prefix))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let prefix = inside(folder);
        let (files, folders) = (self.lock(), self.folders());
        let is_made = folders.contains(&clean(folder));
        let below = |name: &str| name.strip_prefix(&prefix).filter(|rest| !rest.is_empty()).map(str::to_string);
        let files = files.keys().filter_map(|name| below(name));
        let folders = folders.iter().filter_map(|name| below(name)).map(|name| name + "/");
        let mut names: Vec<String> = files
            .chain(folders)
            .map(|rest| rest.split_once('/').map_or(rest.clone(), |(name, _)| format!("{name}/")))
            .collect();
        names.sort();
        names.dedup();
        match names.is_empty() && !is_made {
            true => Err(not_found(&prefix)),
            false => Ok(names),
        }
    }

    fn absolute(&self, path: &str) -> io::Result<String> {
        let path = clean(path);
        if path.is_empty() || self.exists(&path) {
            return Ok(path);
        }
        Err(not_found(&path))
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

    fn run(&self, program: &Invocation, stdin: &[u8], _timeout: Duration) -> io::Result<Output> {
        let function = self.programs.get(&program.command).ok_or_else(|| not_found(&program.command))?;
        Ok(function(self, program, stdin))
    }

    fn start(&self, program: &Invocation) -> io::Result<Box<dyn Running>> {
        let partner = self.partners.get(&program.command).ok_or_else(|| not_found(&program.command))?;
        Ok(Box::new(MemoryRunning { partner: partner.clone(), said: Vec::new(), answers: VecDeque::new() }))
    }
}

struct MemoryRunning {
    partner: Partner,
    said: Vec<u8>,
    answers: VecDeque<u8>,
}

impl Read for MemoryRunning {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.answers.read(buffer)
    }
}

impl Write for MemoryRunning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let said = std::mem::take(&mut self.said);
        self.answers.extend((self.partner)(&said));
        Ok(())
    }
}

impl Running for MemoryRunning {
    fn finish(&mut self) -> Exit {
        Exit::default()
    }
}
