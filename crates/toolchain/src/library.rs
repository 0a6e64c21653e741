//! Shared objects, opened in our own process.

use std::path::{Path, PathBuf};

use mokume_base::World;

use crate::Failure;

/// A shared object. Functions taken from it must not outlive it.
pub struct Library {
    library: libloading::Library,
    path: PathBuf,
}

impl Library {
    /// Opens a product of [`crate::compile`].
    ///
    /// # Safety
    /// Opening and closing the object runs its initialization code; the caller answers for that.
    pub unsafe fn open(world: &dyn World, path: &Path) -> Result<Library, Failure> {
        let failed = |reason: String| Failure::Io { path: path.to_path_buf(), reason };
        // The system would search for a bare name elsewhere.
        let whole = world.absolute(&path.to_string_lossy()).map_err(|error| failed(error.to_string()))?;
        // Undefined functions are found now. With lazy binding, a call to one would end the process.
        let flags = libloading::os::unix::RTLD_NOW | libloading::os::unix::RTLD_LOCAL;
        // SAFETY: our caller's.
        let library = unsafe { libloading::os::unix::Library::open(Some(whole), flags) }
            .map(libloading::Library::from)
            .map_err(|error| Failure::Opening { path: path.to_path_buf(), reason: error.to_string() })?;
        Ok(Library { library, path: path.to_path_buf() })
    }

    /// A function of the object.
    ///
    /// # Safety
    /// `F` is the type of the function with this name, and it is not called after the library is gone.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, Failure> {
        // SAFETY: our caller's.
        let found = unsafe { self.library.get::<F>(name.as_bytes()) };
        let failed = |error: libloading::Error| Failure::Opening { path: self.path.clone(), reason: error.to_string() };
        found.map(|function| *function).map_err(failed)
    }
}
