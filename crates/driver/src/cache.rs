//! The cache of compiled code.

use std::path::PathBuf;

use mokume_base::world::World;

/// The folder in which compiled stacks are kept from run to run.
pub fn folder(world: &dyn World) -> PathBuf {
    let home = world.environment("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| world.environment("HOME").map(|home| PathBuf::from(home).join(".cache")));
    home.unwrap_or_else(|| PathBuf::from(world.temporary())).join("mokume")
}
