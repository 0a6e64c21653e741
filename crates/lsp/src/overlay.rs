//! The world with the editor's unsaved texts. Keeps: reads them in place of the files; never writes the user's files.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use mokume_base::world::{Invocation, Output, Running, World};

/// A world in which some files have other texts.
pub struct Overlay<'w> {
    pub world: &'w dyn World,
    /// The texts by absolute path, with links resolved.
    pub texts: &'w BTreeMap<String, String>,
}

impl Overlay<'_> {
    fn text(&self, path: &str) -> Option<&String> {
        let known = |path: &str| self.texts.get(path);
        known(path).or_else(|| known(&self.world.absolute(path).ok()?))
    }
}

impl World for Overlay<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.world.read(path),
        }
    }

    // A relative name belongs to the built-in library: the editor's working folder has no meaning.
    fn exists(&self, path: &str) -> bool {
        self.text(path).is_some() || path.starts_with('/') && self.world.exists(path)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let within = format!("{}/", folder.trim_end_matches('/'));
        let open = self.texts.keys().filter_map(|path| path.strip_prefix(&within)).filter(|name| !name.contains('/'));
        let mut names: Vec<String> = open.map(str::to_string).collect();
        match self.world.list(folder) {
            Ok(found) => names.extend(found),
            Err(error) if names.is_empty() => return Err(error),
            Err(_) => {}
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.world.write(path, bytes)
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        self.world.make_folder(path)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.world.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.world.remove(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.world.is_folder(path)
    }

    fn absolute(&self, path: &str) -> io::Result<String> {
        self.world.absolute(path)
    }

    fn temporary(&self) -> String {
        self.world.temporary()
    }

    fn now(&self) -> Duration {
        self.world.now()
    }

    fn seed(&self) -> u64 {
        self.world.seed()
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.world.environment(name)
    }

    fn run(&self, program: &Invocation, stdin: &[u8], timeout: Duration) -> io::Result<Output> {
        self.world.run(program, stdin, timeout)
    }

    fn start(&self, program: &Invocation) -> io::Result<Box<dyn Running>> {
        self.world.start(program)
    }
}
