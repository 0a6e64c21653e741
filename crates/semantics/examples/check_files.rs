//! Checks files against the library: `cargo run -p mokume-semantics --example check_files -- library file.mok …`.

use std::path::{Path, PathBuf};

use mokume_base::SourceMap;
use mokume_semantics::{analyse_files, Loader};

/// Modules are folders of a library.
struct Library(PathBuf);

impl Loader for Library {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.0.join(name)).ok()?.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "mok"));
        files.sort();
        files.into_iter().map(|path| Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?))).collect()
    }

    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)> {
        let path = Path::new(from).parent()?.join(name);
        Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?))
    }

    fn modules(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut library = Library(args.next().unwrap_or("library".into()).into());
    for name in args {
        let mut sources = SourceMap::default();
        let text = std::fs::read_to_string(&name).expect("a file to check");
        let root = sources.add(name.clone(), text);
        let (_, diagnostics) = analyse_files(&mut sources, &[root], &mut library);
        println!("{name}: {} diagnostics", diagnostics.len());
        for diagnostic in diagnostics {
            let place = diagnostic.primary.as_ref().map_or(String::new(), |label| {
                let (line, column) = sources.line_column(label.span.file, label.span.start);
                format!("{}:{line}:{column}", sources.file(label.span.file).name)
            });
            println!("  {place} {:?} {}: {}", diagnostic.severity, diagnostic.code.0, diagnostic.message);
            diagnostic.labels.iter().for_each(|label| {
                let (line, _) = sources.line_column(label.span.file, label.span.start);
                println!("      {}:{line} {}", sources.file(label.span.file).name, label.text);
            });
            diagnostic.notes.iter().chain(&diagnostic.helps).for_each(|text| println!("      = {text}"));
        }
    }
}
