//! `--watch`: a command is carried out again whenever a file changes that it reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use mokume_base::world::{RealWorld, World};
use mokume_driver::{apart, compile, Failure};
use notify::{recommended_watcher, Event, RecursiveMode, Watcher};

use crate::common::is_input;
use crate::print::Printer;

/// The word that the command is carried out again without.
const WORD: &str = "--watch";

/// A change seldom comes alone: an editor writes, renames and sets rights. So long nothing must come before the command runs.
const QUIET: Duration = Duration::from_millis(100);

/// What is watched.
#[derive(Default)]
struct Watched {
    /// Sources that were read, and the project's file.
    files: BTreeSet<PathBuf>,
    /// Folders that were named: a new source there is one to read.
    folders: BTreeSet<PathBuf>,
}

impl Watched {
    /// What a command reads that is given these words. Where one cannot be read, what is left.
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
                // Functions in C stand beside who declares them.
                || ends(path, &["c", "h"]) && is_beside(path)
        };
        !event.kind.is_access() && event.paths.iter().any(is_ours)
    }
}

/// Carries the command out that we were started with, again and again, until somebody ends us; `names` are the files and folders that it is given.
///
/// Fails where the system watches nothing for us.
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
    // What was never there is a slip of the pen.
    compile::check(&RealWorld, names)?;
    loop {
        let now = Watched::of(names);
        // What could not be read now may be mended by what was read before.
        if !now.files.is_empty() || watched.files.is_empty() {
            watched = now;
        }
        // Whole folders: who writes a file anew often gives it a new one's name.
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

/// Waits for a change, and until no other comes.
fn wait(heard: &Receiver<notify::Result<Event>>, watched: &Watched) {
    while let Ok(event) = heard.recv() {
        if event.is_ok_and(|event| watched.is_about(&event)) {
            while heard.recv_timeout(QUIET).is_ok() {}
            return;
        }
    }
}
