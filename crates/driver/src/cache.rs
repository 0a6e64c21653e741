//! The cache of compiled code.

use std::path::PathBuf;

use mokume_base::world::World;

/// The folder in which compiled stacks are kept from run to run.
pub fn folder(world: &dyn World) -> PathBuf {
    // A relative folder counts as none, as does an empty one (XDG Base Directory Specification).
    let named = |name: &str| world.environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    home.unwrap_or_else(|| PathBuf::from(world.temporary())).join("mokume")
}

#[cfg(test)]
mod tests {
    use mokume_base::world::MemoryWorld;

    use super::*;

    #[test]
    fn a_folder_that_is_named_by_nothing_is_none() {
        let at = |named: &[(&str, &str)]| {
            let world = MemoryWorld::new();
            folder(&named.iter().fold(world, |world, (name, value)| world.with_environment(name, value)))
        };
        let nowhere = at(&[]);
        assert_eq!(at(&[("HOME", "/home/a")]), PathBuf::from("/home/a/.cache/mokume"));
        assert_eq!(at(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")]), PathBuf::from("/c/mokume"));
        assert_eq!(at(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "c")]), PathBuf::from("/home/a/.cache/mokume"));
        assert_eq!(at(&[("HOME", ""), ("XDG_CACHE_HOME", "")]), nowhere);
    }
}
