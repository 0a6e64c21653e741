//! `Mokume.toml`: a project's sources, library paths and defaults. One bare `.mok` file needs none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;

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
    /// Files and folders, from the manifest's own; `.` when left out.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Folders of modules that are looked in before Mokume's own library.
    #[serde(default)]
    pub library: Vec<String>,
}

/// `[defaults]`: what the command line may leave out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    pub stack: Option<String>,
    pub network: Option<String>,
    pub backend: Option<String>,
    pub seed: Option<u64>,
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    #[serde(default)]
    pub device: BTreeMap<String, String>,
}

/// The manifest that governs a folder, and the folder that it stands in.
pub fn find(start: &Path) -> Result<Option<(PathBuf, Manifest)>, Failure> {
    let start = start.canonicalize().unwrap_or_else(|_| start.to_path_buf());
    for folder in start.ancestors() {
        let file = folder.join("Mokume.toml");
        if let Ok(text) = std::fs::read_to_string(&file) {
            return parse(&text, &file.to_string_lossy()).map(|manifest| Some((folder.to_path_buf(), manifest)));
        }
    }
    Ok(None)
}

/// `name` is for the message.
pub fn parse(text: &str, name: &str) -> Result<Manifest, Failure> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            format!(":{line}")
        });
        Failure::of_use(
            format!("{name}{place}: {}", error.message()),
            "known: [project] name, sources, library; [defaults] stack, network, backend, seed, set, device",
        )
    })
}

#[cfg(test)]
mod tests {
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
    fn a_wrong_manifest_says_where_and_what_is_known() {
        let failure = parse("[project]\nname = \"x\"\nsource = [\"src\"]\n", "Mokume.toml").unwrap_err();
        assert!(failure.message.starts_with("Mokume.toml:3"), "{failure}");
        assert_eq!(failure.exit_code(), 2);
    }
}
