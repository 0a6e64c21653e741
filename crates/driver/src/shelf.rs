//! Built-in texts as files that an editor can open: the library's sources, and the pages of diagnostics.
//!
//! They are read-only copies in the cache, in a folder named by a hash of its contents: another version has another
//! folder, and changing a copy changes nothing in the library. They are files rather than texts of an editor's own
//! scheme, as not every editor supports those.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mokume_base::world::World;

use crate::{cache, explain, library};

/// The file that is written last: if it exists, all others do.
const WHOLE: &str = "whole";

/// The folder of these files, written or not.
pub struct Shelf {
    folder: PathBuf,
    written: OnceLock<bool>,
}

impl Shelf {
    /// The shelf of this version; nothing is written before a file is requested.
    pub fn of(world: &dyn World) -> Shelf {
        let mut hasher = DefaultHasher::new();
        (library::files(), explain::pages().iter().map(|page| page.text).collect::<Vec<_>>()).hash(&mut hasher);
        let folder = cache::folder(world).join(format!("shelf-{:016x}", hasher.finish()));
        Shelf { folder, written: OnceLock::new() }
    }

    /// The path of a library file, by its name in diagnostics: `library/udp/ports.mok`.
    pub fn source(&self, world: &dyn World, name: &str) -> Option<String> {
        library::text(name.strip_prefix(library::EMBEDDED)?)?;
        self.file(world, name)
    }

    /// The path of a diagnostic's page.
    pub fn page(&self, world: &dyn World, code: &str) -> Option<String> {
        explain::page(code)?;
        self.file(world, &format!("diagnostics/{code}.md"))
    }

    /// The path for the page of a network's last run, in a folder that is there, the file's own: networks of two
    /// projects may have one name. An error if the folder cannot be made.
    pub fn page_of_run(&self, world: &dyn World, file: &str, network: &str) -> std::io::Result<String> {
        let mut hasher = DefaultHasher::new();
        file.hash(&mut hasher);
        let folder = self.folder.join("runs").join(format!("{:016x}", hasher.finish()));
        world.make_folder(&folder.to_string_lossy())?;
        Ok(folder.join(format!("{network}.html")).to_string_lossy().into_owned())
    }

    /// The library's name of a file here; `None` for other files.
    pub fn name_of(&self, path: &str) -> Option<String> {
        let name = Path::new(path).strip_prefix(&self.folder).ok()?.to_str()?;
        library::text(name.strip_prefix(library::EMBEDDED)?)?;
        Some(name.to_string())
    }

    fn file(&self, world: &dyn World, name: &str) -> Option<String> {
        let is_there = self.written.get_or_init(|| self.write(world).is_ok());
        is_there.then(|| self.folder.join(name).to_string_lossy().into_owned())
    }

    fn write(&self, world: &dyn World) -> std::io::Result<()> {
        let at = |name: &str| self.folder.join(name).to_string_lossy().into_owned();
        if world.exists(&at(WHOLE)) {
            return Ok(());
        }
        let put = |name: &str, text: &str| {
            // Another process may be writing the same: each file is renamed into place when complete.
            let partial = at(&format!("{name}.{:x}", world.seed()));
            world.write(&partial, text.as_bytes())?;
            world.make_read_only(&partial)?;
            world.rename(&partial, &at(name))
        };
        for (name, text) in library::files() {
            put(&format!("{}{name}", library::EMBEDDED), text)?;
        }
        for page in explain::pages() {
            put(
                &format!("diagnostics/{}.md", page.code),
                &format!("# {}: {}\n\n{}", page.code, page.title, page.text),
            )?;
        }
        put(WHOLE, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mokume_base::world::MemoryWorld;

    #[test]
    fn the_library_lies_in_the_cache_and_knows_its_names() {
        let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
        let shelf = Shelf::of(&world);
        let path = shelf.source(&world, "library/udp/ports.mok").unwrap();
        assert_eq!(world.read_text(&path).unwrap(), library::text("udp/ports.mok").unwrap());
        assert_eq!(shelf.name_of(&path).as_deref(), Some("library/udp/ports.mok"));
        assert_eq!((shelf.source(&world, "library/none.mok"), shelf.source(&world, "udp/ports.mok")), (None, None));
        assert_eq!((shelf.name_of("/elsewhere/library/udp/ports.mok"), shelf.page(&world, "M9999")), (None, None));
        let page = shelf.page(&world, "M0214").unwrap();
        assert!(world.read_text(&page).unwrap().starts_with("# M0214: "));
    }
}
