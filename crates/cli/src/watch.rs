//! `--watch`: runs a command again whenever a file that it reads changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use mokume_base::world::{RealWorld, World};
use mokume_driver::{apart, compile, Failure};
use notify::{recommended_watcher, Event, RecursiveMode, Watcher};

use crate::input::is_input;
use crate::print::Printer;

/// The option that is removed from the command line for each run.
const WORD: &str = "--watch";

/// An editor writes, renames and sets permissions, so changes come in groups. The command runs once no change has come
/// for this long.
const QUIET: Duration = Duration::from_millis(100);

/// The watched files and folders.
#[derive(Default)]
struct Watched {
    /// The sources that the command read, and the project's file.
    files: BTreeSet<PathBuf>,
    /// The named folders: new sources in them count as changes.
    folders: BTreeSet<PathBuf>,
}

impl Watched {
    /// The files that a command with these names reads. If some cannot be read, the others.
    fn of(names: &[String]) -> Watched {
        let mut watched = Watched::default();
        let absolute = |name: &str| RealWorld.absolute(name).ok().map(PathBuf::from);
        let project = mokume_driver::project::find(&RealWorld, ".").ok().flatten();
        let own = project.as_ref().filter(|_| names.is_empty()).map(|(home, manifest)| {
            manifest
                .project
                .sources
                .iter()
                .map(|source| home.join(source).to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        });
        watched.files.extend(project.map(|(home, _)| home.join("Mokume.toml")));
        for name in names.iter().chain(own.iter().flatten()) {
            let Some(path) = absolute(name) else { continue };
            let is_folder = RealWorld.is_folder(name);
            if is_folder { &mut watched.folders } else { &mut watched.files }.insert(path);
        }
        if let Ok(checked) = compile::check(&RealWorld, names) {
            let read =
                checked.sources.files().map(|(_, file)| file.name.as_str()).filter(|name| RealWorld.exists(name));
            watched.files.extend(read.filter_map(absolute));
        }
        watched
    }

    fn is_about(&self, event: &Event) -> bool {
        let ends = |path: &Path, ends: &[&str]| path.extension().is_some_and(|own| ends.iter().any(|end| own == *end));
        let is_beside = |path: &Path| self.files.iter().any(|file| file.parent() == path.parent());
        let is_ours = |path: &PathBuf| {
            self.files.contains(path)
                || ends(path, &["mok"]) && self.folders.iter().any(|folder| path.starts_with(folder))
                // Functions in C are in the folder of the source that declares them.
                || ends(path, &["c", "h"]) && is_beside(path)
        };
        !event.kind.is_access() && event.paths.iter().any(is_ours)
    }
}

/// Runs our own command again after every change, until the user ends it. `names` are the files and folders of its
/// command line.
///
/// Fails if the system cannot watch files.
pub fn watch(names: &[String], printer: &Printer) -> Result<i32, Failure> {
    if is_input(names)? {
        return Err(Failure::of_use(
            "`--watch` looks at files, and `-` is none",
            "leave out `--watch`, or name a file",
        ));
    }
    let failed =
        |error: notify::Error| Failure::of_use(format!("files cannot be watched: {error}"), "leave out `--watch`");
    let (tell, heard) = channel();
    let mut watcher = recommended_watcher(tell).map_err(failed)?;
    let (mut watched, mut known) = (Watched::default(), BTreeSet::new());
    // A file that does not exist at the start is probably a typing error.
    compile::check(&RealWorld, names)?;
    loop {
        let now = Watched::of(names);
        // If no file can be read now, keeps the old ones: a change to one of them may mend that.
        if !now.files.is_empty() || watched.files.is_empty() {
            watched = now;
        }
        // Watches whole folders: editors often replace a file by a new one of the same name.
        let above =
            watched.files.iter().filter_map(|file| file.parent()).map(|folder| (folder, RecursiveMode::NonRecursive));
        let named = watched.folders.iter().map(|folder| (folder.as_path(), RecursiveMode::Recursive));
        for (folder, mode) in named.chain(above) {
            if known.insert(folder.to_path_buf()) {
                watcher.watch(folder, mode).map_err(failed)?;
            }
        }
        apart::without(WORD)?;
        let files = watched.files.len();
        printer.note(format!("watching {files} file{}; Ctrl-C ends", if files == 1 { "" } else { "s" }));
        wait(&heard, &watched);
    }
}

/// Waits for a change, then until no further one comes.
fn wait(heard: &Receiver<notify::Result<Event>>, watched: &Watched) {
    while let Ok(event) = heard.recv() {
        if event.is_ok_and(|event| watched.is_about(&event)) {
            while heard.recv_timeout(QUIET).is_ok() {}
            return;
        }
    }
}
