//! `cargo xtask tidy`: compares the map in docs/architecture.md with the crates' manifests, and checks other invariants
//! of the repository. `cargo xtask test` and `campaign` are what `./test` and `./campaign` run.

mod by_name;
mod citations;
mod doors;
mod imports;
mod listed;
mod protocols;
mod rooms;
mod runs;
mod test_files;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Crates whose folders must not import each other, and whose files only if `xtask/circles.txt` gives a reason.
const WITHOUT_CIRCLES: [&str; 20] = [
    "analyse",
    "base",
    "cli",
    "compose",
    "draw",
    "driver",
    "embed",
    "emit_c",
    "explore",
    "interpret",
    "lower",
    "prove",
    "reaction",
    "script",
    "semantics",
    "simulate",
    "syntax",
    "testkit",
    "toolchain",
    "wire",
];

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy(),
        Some("circles") => show_circles(std::env::args().skip(2)),
        Some("test") => runs::test(),
        Some("campaign") => runs::campaign(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprintln!("usage: cargo xtask tidy, circles CRATE …, test, or campaign [list | NAME …]");
            ExitCode::from(2)
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask stands in the repository").to_path_buf()
}

fn sources_of(name: &str) -> imports::Sources {
    imports::sources(&root().join("crates").join(name).join("src"))
}

/// The sources of all crates, by path from the repository's root.
fn all_sources<'a>(crates: impl Iterator<Item = &'a String>) -> BTreeMap<String, String> {
    let of_crate = |name: &String| {
        let sources = sources_of(name).into_iter();
        sources.map(|(file, text)| (format!("crates/{name}/src/{file}"), text)).collect::<Vec<_>>()
    };
    crates.flat_map(of_crate).collect()
}

/// The library's sources, by path from the repository's root.
fn library(root: &Path) -> BTreeMap<String, String> {
    let folders = std::fs::read_dir(root.join("library")).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let named = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "mok"));
    let relative = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    named.filter_map(|path| Some((relative(&path), std::fs::read_to_string(&path).ok()?))).collect()
}

/// Prints the import cycles of crates, even of those that `tidy` does not check, with the files that import each other.
fn show_circles(names: impl Iterator<Item = String>) -> ExitCode {
    for name in names {
        let sources = sources_of(&name);
        let found = imports::circles(&sources);
        let folders = found.folders.iter().map(|circle| ("folders", circle));
        for (of, circle) in folders.chain(found.files.iter().map(|circle| ("files", circle))) {
            println!("{name}, {of}: {}", circle.join(" "));
            imports::ways(&sources, circle).iter().for_each(|way| println!("{way}"));
        }
    }
    ExitCode::SUCCESS
}

fn tidy() -> ExitCode {
    let root = root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let mut found = Arrows::new();
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    for entry in crates {
        let name = entry.file_name().to_string_lossy().into_owned();
        found.insert(name.clone(), dependencies(&read(&format!("crates/{name}/Cargo.toml"))));
    }
    let drawn = drawn_map(&read("docs/architecture.md"));
    let mut faults = differences(&drawn, &found);
    faults.extend(circles(&found));
    faults.extend(broken_walls(&found));
    let allowed = read("xtask/circles.txt");
    for name in WITHOUT_CIRCLES {
        faults.extend(imports::faults(name, &sources_of(name), &allowed));
    }
    let sources = all_sources(found.keys());
    faults.extend(rooms::faults(&read("docs/architecture.md"), &rooms::found(sources.keys())));
    faults.extend(rooms::unnamed(&read("library/README.md"), &library(&root)));
    faults.extend(doors::faults(&sources, &read("xtask/doors.txt")));
    faults.extend(protocols::faults(&sources, &read("xtask/protocols.txt")));
    faults.extend(by_name::faults(&sources, &read("xtask/catch_alls.txt")));
    faults.extend(unlisted_libraries(&read("Cargo.toml"), &read("docs/dependencies.md")));
    faults.extend(found.keys().flat_map(|name| test_files::faults(&root.join("crates").join(name), runs::names)));
    let repository = citations::Repository::read(&root);
    faults.extend(citations::faults(&repository));
    faults.extend(citations::pages::faults(&repository));
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The crates of this workspace in a manifest's `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]" {
            if let Some(name) = line.strip_prefix("mokume-") {
                let end = name.find(['.', ' ', '=']).unwrap_or(name.len());
                found.insert(name[..end].replace('-', "_"));
            }
        }
    }
    found
}

/// The lines of the map: `| crate | uses | …`. The used crates are separated by blanks; `–` means none.
fn drawn_map(page: &str) -> Arrows {
    let mut map = Arrows::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", name, uses, ..] = cells.as_slice() {
            if name.starts_with('`') && !name.contains('/') {
                let uses =
                    uses.split_whitespace().filter(|word| *word != "–").map(|word| word.trim_matches('`').to_string());
                map.insert(name.trim_matches('`').to_string(), uses.collect());
            }
        }
    }
    map
}

fn differences(drawn: &Arrows, found: &Arrows) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, uses) in found {
        match drawn.get(name) {
            None => faults.push(format!("crate `{name}` is not on the map of docs/architecture.md")),
            Some(map) if map != uses => {
                faults.push(format!("crate `{name}` uses {uses:?}, docs/architecture.md says {map:?}"));
            }
            Some(_) => {}
        }
    }
    faults.extend(
        drawn
            .keys()
            .filter(|name| !found.contains_key(*name))
            .map(|name| format!("docs/architecture.md has a crate `{name}` that does not exist")),
    );
    faults
}

/// Faults: dependencies must have no cycles.
fn circles(found: &Arrows) -> Vec<String> {
    let mut faults = Vec::new();
    for start in found.keys() {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = found[start].iter().collect();
        while let Some(name) = next.pop() {
            if name == start {
                faults.push(format!("crate `{start}` uses itself in a circle"));
                break;
            }
            if seen.insert(name) {
                next.extend(found.get(name).into_iter().flatten());
            }
        }
    }
    faults
}

/// Faults: a judge must share no code with what it judges.
fn broken_walls(found: &Arrows) -> Vec<String> {
    let walls = [("prove", ["base", "reaction"].as_slice())];
    walls
        .iter()
        .filter_map(|(name, allowed)| {
            let more: Vec<_> = found.get(*name)?.iter().filter(|used| !allowed.contains(&used.as_str())).collect();
            (!more.is_empty()).then(|| format!("crate `{name}` may use {allowed:?} only, and uses {more:?}"))
        })
        .collect()
}

/// Faults: every library must have its line.
fn unlisted_libraries(workspace: &str, page: &str) -> Vec<String> {
    let mut inside = false;
    let mut faults = Vec::new();
    for line in workspace.lines() {
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        } else if let (true, Some((name, _))) = (inside, line.split_once(" = ")) {
            if !name.starts_with("mokume-") && !page.contains(&format!("`{name}`")) {
                faults.push(format!("library `{name}` has no line in docs/dependencies.md"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(text: &str) -> Arrows {
        text.split(';')
            .map(|part| {
                let (name, uses) = part.split_once(':').unwrap();
                (name.to_string(), uses.split_whitespace().map(str::to_string).collect())
            })
            .collect()
    }

    #[test]
    fn a_map_that_drifted_is_found() {
        let page = "| crate | uses |\n|---|---|\n| `base` | – | x |\n| `syntax` | `base` | y |\n";
        assert_eq!(differences(&drawn_map(page), &arrows("base:;syntax:base")), Vec::<String>::new());
        assert_eq!(differences(&drawn_map(page), &arrows("base:;syntax:base wire;wire:")).len(), 2);
        assert_eq!(differences(&drawn_map(page), &arrows("base:")).len(), 1);
    }

    #[test]
    fn circles_and_broken_walls_are_found() {
        assert_eq!(circles(&arrows("a:b;b:c;c:")), Vec::<String>::new());
        assert_eq!(circles(&arrows("a:b;b:a")).len(), 2);
        assert_eq!(broken_walls(&arrows("prove:base reaction")), Vec::<String>::new());
        assert_eq!(broken_walls(&arrows("prove:base optimize")).len(), 1);
    }

    #[test]
    fn a_library_without_a_line_is_found() {
        let workspace =
            "[workspace.dependencies]\nclap = \"4\"\nmokume-base = { path = \"x\" }\n[profile.dev]\ndebug = 1\n";
        assert_eq!(unlisted_libraries(workspace, "| `clap` | arguments |"), Vec::<String>::new());
        assert_eq!(unlisted_libraries(workspace, "").len(), 1);
    }

    #[test]
    fn manifests_are_read() {
        let manifest = "[dependencies]\nmokume-base.workspace = true\nmokume-emit-c = { path = \"x\" }\nclap = \"4\"\n[dev-dependencies]\nmokume-testkit.workspace = true\n";
        assert_eq!(dependencies(manifest).into_iter().collect::<Vec<_>>(), ["base", "emit_c"]);
    }
}
