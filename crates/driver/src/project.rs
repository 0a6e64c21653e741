//! `Mokume.toml`: a project's sources, library paths and defaults. A single `.mok` file needs none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mokume_base::World;
use serde::Deserialize;

use crate::backend::Backend;
use crate::failure::Failure;

/// The contents of `Mokume.toml`. An unknown key is an error, as it is most likely a typing mistake.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(default)]
    pub project: Project,
    #[serde(default)]
    pub defaults: Defaults,
}

/// `[project]`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    #[serde(default)]
    pub name: String,
    /// Files and folders, relative to the manifest; `.` if left out.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Folders of modules that are searched before Mokume's own library.
    #[serde(default)]
    pub library: Vec<String>,
}

/// `[defaults]`: values that the command line may leave out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    pub stack: Option<String>,
    pub network: Option<String>,
    pub backend: Option<String>,
    /// The fusion level of C: 0, 1 or 2.
    pub fuse: Option<u8>,
    pub seed: Option<u64>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    #[serde(default)]
    pub device: BTreeMap<String, String>,
}

/// The manifest for a folder, and the folder that contains it.
pub fn find(world: &dyn World, start: &str) -> Result<Option<(PathBuf, Manifest)>, Failure> {
    let start = world.absolute(start).unwrap_or_else(|_| start.to_string());
    for folder in Path::new(&start).ancestors() {
        let file = folder.join("Mokume.toml").to_string_lossy().into_owned();
        if let Ok(text) = world.read_text(&file) {
            return parse(&text, &file).map(|manifest| Some((folder.to_path_buf(), manifest)));
        }
    }
    Ok(None)
}

/// Parses a manifest; `name` is for the message.
pub fn parse(text: &str, name: &str) -> Result<Manifest, Failure> {
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!(":{line}")
        });
        Failure::of_use(
            format!("{name}{place}: {}", error.message()),
            "known: [project] name, sources, library; [defaults] stack, network, backend, fuse, seed, set, device",
        )
    })?;
    if let Some(backend) = &manifest.defaults.backend {
        Backend::named(backend).map_err(|_| {
            Failure::of_use(
                format!("{name}: there is no `backend = \"{backend}\"`"),
                "there are: \"interpreter\", \"c\"",
            )
        })?;
    }
    match manifest.defaults.fuse {
        Some(level) if level > crate::path::FUSE => {
            Err(Failure::of_use(format!("{name}: there is no `fuse = {level}`"), "there are: 0, 1, 2"))
        }
        _ => Ok(manifest),
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;

    use super::*;

    #[test]
    fn a_manifest_is_read() {
        let manifest = parse(
            "[project]\nname = \"x\"\nsources = [\"src\"]\n[defaults]\nstack = \"Host\"\nset = { address = \"10.0.0.1/24\" }\n",
            "Mokume.toml",
        )
        .unwrap();
        assert_eq!(manifest.defaults.stack.as_deref(), Some("Host"));
        assert_eq!(manifest.defaults.set["address"], "10.0.0.1/24");
    }

    #[test]
    fn a_manifest_governs_the_folders_below_it() {
        let world = MemoryWorld::new()
            .with_file("a/Mokume.toml", "[project]\nname = \"a\"\n")
            .with_file("a/b/c/x.mok", "")
            .with_file("d/x.mok", "");
        let (home, manifest) = find(&world, "a/b/c").unwrap().expect("one above it");
        assert_eq!((home, manifest.project.name.as_str()), (PathBuf::from("a"), "a"));
        assert_eq!(find(&world, "d").unwrap(), None);
    }

    #[test]
    fn a_wrong_manifest_says_where_and_what_is_known() {
        let failure = parse("[project]\nname = \"x\"\nsource = [\"src\"]\n", "Mokume.toml").unwrap_err();
        assert!(failure.message.starts_with("Mokume.toml:3"), "{failure}");
        assert_eq!(failure.exit_code(), 2);
        let failure = parse("[project]\nname = \"x\"\n[defaults]\nfuse = 3\n", "Mokume.toml").unwrap_err();
        assert_eq!(failure.message, "Mokume.toml: there is no `fuse = 3`");
        let failure = parse("[defaults]\nbackend = \"rust\"\n", "Mokume.toml").unwrap_err();
        assert_eq!(failure.message, "Mokume.toml: there is no `backend = \"rust\"`");
        assert!(failure.help.contains("\"interpreter\"") && failure.help.contains("\"c\""), "{failure}");
        assert!(parse("[defaults]\nbackend = \"interpreter\"\n", "Mokume.toml").is_ok());
    }
}
