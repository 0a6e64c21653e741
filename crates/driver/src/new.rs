//! `mokume new`: creates a project. Keeps: existing files are not changed.

use std::path::Path;

use mokume_base::world::World;

use crate::failure::Failure;

/// A layer, a stack, a test and a network; tests of this crate and of the command check, run and simulate it.
pub(crate) const SOURCE: &str = include_str!("template.mok");

/// Makes the project's folder; returns the files in it.
pub fn project(world: &dyn World, folder: &str) -> Result<Vec<String>, Failure> {
    let name = Path::new(folder).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_name(name) {
        let message = format!("`{folder}` is no name for a project");
        return Err(Failure::of_use(message, "a letter, then letters, digits, `_` and `-`"));
    }
    if world.exists(folder) {
        return Err(Failure::of_use(format!("`{folder}` is there already"), "choose another name, or remove it"));
    }
    let manifest = format!(
        "[project]\nname = \"{name}\"\nsources = [\"src\"]\n\n[defaults]\nstack = \"Link\"\nnetwork = \"Pair\"\nseed = 2\n"
    );
    let files = [("Mokume.toml".to_string(), manifest.as_str()), (format!("src/{name}.mok"), SOURCE)];
    let mut written = Vec::new();
    for (file, text) in files {
        let path = Path::new(folder).join(file).to_string_lossy().into_owned();
        let failed = |error| Failure::of_writing(world, &format!("`{path}`"), &path, &error);
        world.write(&path, text.as_bytes()).map_err(failed)?;
        written.push(path);
    }
    Ok(written)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fmt, project};
    use mokume_base::world::MemoryWorld;

    #[test]
    fn a_project_has_a_manifest_and_a_formatted_source() {
        let world = MemoryWorld::new();
        let written = super::project(&world, "there/first-layer").unwrap();
        assert_eq!(written, ["there/first-layer/Mokume.toml", "there/first-layer/src/first-layer.mok"]);
        let manifest = project::parse(&world.read_text(&written[0]).unwrap(), "Mokume.toml").unwrap();
        assert_eq!(manifest.project.name, "first-layer");
        let (_, outcome) = fmt::text(&written[1], &world.read_text(&written[1]).unwrap()).unwrap();
        assert!(matches!(outcome, fmt::Outcome::Same), "{outcome:?}");
    }

    #[test]
    fn what_is_there_is_not_touched_and_a_name_is_a_name() {
        let world = MemoryWorld::new().with_file("mine/notes", "kept");
        assert!(super::project(&world, "mine").unwrap_err().message.contains("mine"));
        assert_eq!(world.list("mine").unwrap(), ["notes"]);
        for name in ["", ".", "..", "/", "a b", "4you", "a\"b", "é"] {
            assert_eq!(super::project(&world, name).unwrap_err().exit_code(), 2, "{name}");
        }
    }
}
