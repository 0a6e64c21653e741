//! Finds modules: in a project's library folders first, then in Mokume's own library, which is part of the program.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use include_dir::{include_dir, Dir};
use mokume_base::world::World;
use mokume_semantics::load::Loader;

use crate::project;

static LIBRARY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../library");

/// The prefix of embedded files' names: they are not paths of the user's machine.
pub(crate) const EMBEDDED: &str = "library/";

/// A file of the embedded library.
pub(crate) fn text(name: &str) -> Option<&'static str> {
    LIBRARY.get_file(name)?.contents_utf8()
}

/// All sources of the embedded library, with their paths within it, sorted.
pub(crate) fn files() -> Vec<(String, &'static str)> {
    fn below(dir: &'static Dir<'static>, files: &mut Vec<(String, &'static str)>) {
        let sources = dir.files().filter(|file| file.path().extension().is_some_and(|end| end == "mok"));
        files.extend(sources.filter_map(|file| Some((file.path().to_str()?.to_string(), file.contents_utf8()?))));
        dir.dirs().for_each(|dir| below(dir, files));
    }
    let mut files = Vec::new();
    below(&LIBRARY, &mut files);
    files.sort();
    files
}

/// The names of all modules that a file in this folder can use: those of its project, and of the embedded library.
pub fn modules(world: &dyn World, folder: &str) -> Vec<String> {
    let project = project::find(world, folder).ok().flatten();
    let folders = project.map_or(Vec::new(), |(home, manifest)| {
        manifest.project.library.iter().map(|folder| home.join(folder)).collect()
    });
    Library::new(world, folders, std::iter::empty()).modules()
}

/// Finds modules and files for the front end.
pub struct Library<'w> {
    pub world: &'w dyn World,
    /// Folders of modules, searched before the embedded ones.
    pub folders: Vec<PathBuf>,
    /// Files that have names already, by their absolute paths: a file has one name, whichever way leads to it.
    pub named: BTreeMap<String, String>,
}

impl Loader for Library<'_> {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        for folder in &self.folders {
            let folder = folder.join(name);
            let files = self.files_of(&folder);
            if !files.is_empty() {
                return Some(files);
            }
        }
        let module = LIBRARY.get_dir(name)?;
        let mut files: Vec<(String, String)> = module
            .files()
            .filter(|file| file.path().extension().is_some_and(|end| end == "mok"))
            .filter_map(|file| {
                Some((format!("{EMBEDDED}{}", file.path().display()), file.contents_utf8()?.to_string()))
            })
            .collect();
        files.sort();
        (!files.is_empty()).then_some(files)
    }

    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)> {
        if let Some(inside) = from.strip_prefix(EMBEDDED).filter(|_| !self.world.exists(from)) {
            let path = normal(&Path::new(inside).parent()?.join(name));
            let text = LIBRARY.get_file(&path)?.contents_utf8()?.to_string();
            return Some((format!("{EMBEDDED}{}", path.display()), text));
        }
        let path = normal(&Path::new(from).parent()?.join(name)).to_string_lossy().into_owned();
        let text = self.world.read_text(&path).ok()?;
        Some((self.name_of(path), text))
    }

    fn unread(&self, from: &str, name: &str) -> Option<String> {
        let path = normal(&Path::new(from).parent()?.join(name)).to_string_lossy().into_owned();
        if self.world.is_folder(&path) {
            return Some("it is a folder".to_string());
        }
        match self.world.read_text(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound && self.world.exists(&path) => {
                Some(error.to_string())
            }
            _ => None,
        }
    }

    fn module_of(&self, file: &str) -> Option<String> {
        let absolute = |path: &Path| self.world.absolute(&path.to_string_lossy()).ok();
        let file = PathBuf::from(absolute(Path::new(file))?);
        let module = file.parent()?;
        let above = module.parent()?.to_string_lossy();
        let is_above = |folder: &PathBuf| absolute(folder).is_some_and(|known| *known == *above);
        let name = self.folders.iter().any(is_above).then(|| module.file_name())??.to_string_lossy().into_owned();
        // Of two folders with a module of this name, the first has it.
        let of = self.folders.iter().map(|folder| folder.join(&name)).find(|folder| !self.files_of(folder).is_empty());
        (absolute(&of?)? == module.to_string_lossy()).then_some(name)
    }

    fn modules(&self) -> Vec<String> {
        let own = self.folders.iter().flat_map(|folder| self.world.list(&folder.to_string_lossy()).unwrap_or_default());
        let own = own.filter_map(|name| name.strip_suffix('/').map(str::to_string));
        let mut all: Vec<String> = own.collect();
        all.sort();
        all.dedup();
        let embedded = LIBRARY.dirs().map(|dir| dir.path().to_string_lossy().into_owned());
        let mut embedded: Vec<String> = embedded.filter(|name| !all.contains(name)).collect();
        embedded.sort();
        all.append(&mut embedded);
        all
    }
}

impl<'w> Library<'w> {
    /// A finder for what these files use.
    pub fn new<'n>(world: &'w dyn World, folders: Vec<PathBuf>, files: impl Iterator<Item = &'n String>) -> Self {
        let named = files.filter_map(|name| Some((world.absolute(name).ok()?, name.clone()))).collect();
        Library { world, folders, named }
    }

    fn files_of(&self, folder: &Path) -> Vec<(String, String)> {
        let names = self.world.list(&folder.to_string_lossy()).unwrap_or_default();
        names
            .into_iter()
            .filter(|name| name.ends_with(".mok"))
            .filter_map(|name| {
                let path = folder.join(name).to_string_lossy().into_owned();
                let text = self.world.read_text(&path).ok()?;
                Some((self.name_of(path), text))
            })
            .collect()
    }

    fn name_of(&self, path: String) -> String {
        let absolute = self.world.absolute(&path).ok();
        absolute.and_then(|absolute| self.named.get(&absolute).cloned()).unwrap_or(path)
    }
}

/// `a/../b` is `b`, so that a file has one name.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if parts.file_name().is_some_and(|name| name != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_base::world::MemoryWorld;

    #[test]
    fn modules_of_a_project_hide_those_of_the_library() {
        let world = MemoryWorld::new().with_file("mine/udp/udp.mok", "worker Mine { }");
        let mut library = Library::new(&world, vec![PathBuf::from("mine")], std::iter::empty());
        assert_eq!(
            library.module("udp").unwrap(),
            vec![("mine/udp/udp.mok".to_string(), "worker Mine { }".to_string())]
        );
        assert!(library.module("ethernet").unwrap().iter().all(|(name, _)| name.starts_with(EMBEDDED)));
        assert!(library.module("token_ring").is_none());
        let modules = library.modules();
        assert!(modules.contains(&"ipv4".to_string()));
        assert_eq!(
            modules.iter().position(|module| module == "udp"),
            Some(0),
            "the project's own come first, and once"
        );
        assert_eq!(modules.iter().filter(|module| *module == "udp").count(), 1);
    }

    #[test]
    fn a_file_of_a_project_belongs_to_its_module() {
        let world = MemoryWorld::new()
            .with_file("mine/radio/modem.mok", "1")
            .with_file("mine/radio/old/modem.mok", "2")
            .with_file("more/radio/modem.mok", "3")
            .with_file("mine/loose.mok", "4");
        let folders = vec![PathBuf::from("mine"), PathBuf::from("more")];
        let library = Library::new(&world, folders, std::iter::empty());
        assert_eq!(library.module_of("mine/radio/modem.mok").as_deref(), Some("radio"));
        assert_eq!(library.module_of("more/radio/modem.mok"), None, "that of `mine` is found first");
        assert_eq!(library.module_of("mine/radio/old/modem.mok"), None);
        assert_eq!(library.module_of("mine/loose.mok"), None);
        assert_eq!(library.module_of("library/udp/udp.mok"), None);
    }

    #[test]
    fn files_stand_beside_those_that_use_them() {
        let world = MemoryWorld::new().with_file("a/x.mok", "1").with_file("b/y.mok", "2");
        let mut library = Library::new(&world, Vec::new(), std::iter::empty());
        assert_eq!(library.file("b/y.mok", "../a/x.mok"), Some(("a/x.mok".into(), "1".into())));
        assert_eq!(library.file("b/y.mok", "z.mok"), None);
        // By another path it is the same file.
        let mut known = Library::new(&world, vec![PathBuf::from(".")], [&"a/x.mok".to_string()].into_iter());
        assert_eq!(known.module("a"), Some(vec![("a/x.mok".into(), "1".into())]));
        let embedded = library.file("library/udp/udp.mok", "ports.mok").unwrap();
        assert_eq!(embedded.0, "library/udp/ports.mok");
    }
}
