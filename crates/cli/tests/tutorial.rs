//! The tutorial is true: its code is the example's, and its commands print what the page shows.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A chapter: its page, the file that it writes, and the line that it omits to show the compiler's message.
struct Chapter {
    page: &'static str,
    file: &'static str,
    forgets: &'static str,
}

const FIRST: Chapter = Chapter { page: "tutorial.md", file: "budget.mok", forgets: "drop msg: over_budget" };
const SECOND: Chapter = Chapter { page: "tutorial-protocol.md", file: "meter.mok", forgets: "2 => Tell" };

const FOURTH: Chapter = Chapter { page: "tutorial-stream.md", file: "numbers.mok", forgets: "answer.join(msg)" };

const COURIER: Chapter = Chapter { page: "tutorial-courier.md", file: "courier.mok", forgets: "4 => Data" };

fn page(chapter: &Chapter) -> String {
    std::fs::read_to_string(root().join("docs").join(chapter.page)).unwrap()
}

/// The texts between fences without a word, in order; other tests cover those with one.
fn blocks(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, opened)) = rest.split_once("```") {
        let Some((word, inside)) = opened.split_once('\n') else { break };
        let Some((text, behind)) = inside.split_once("```") else { break };
        if word.is_empty() {
            found.push(text);
        }
        rest = behind;
    }
    found
}

/// Runs the page in a separate folder; returns the first difference from the page.
fn follow(chapter: &Chapter, page: &str, folder: &str) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut source = String::new();
    for block in blocks(page) {
        match block.strip_prefix("$ mokume ") {
            None => source += &format!("{block}\n"),
            Some(command) => {
                let (command, shown) = command.split_once('\n').unwrap_or((command, ""));
                // The page shows the compiler's message for a forgotten line.
                let forgotten = |line: &&str| !(shown.contains("error[") && line.trim().starts_with(chapter.forgets));
                let text: String = source.lines().filter(forgotten).map(|line| format!("{line}\n")).collect();
                std::fs::write(folder.join(chapter.file), text).map_err(|error| error.to_string())?;
                run(command, shown, &folder)?;
            }
        }
    }
    Ok(())
}

fn run(command: &str, shown: &str, folder: &Path) -> Result<(), String> {
    let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .args(command.split(' '))
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The page does not show warnings about layers of the library.
    let without_warnings = if err.contains("error[") { String::new() } else { out.to_string() };
    let said = [format!("{out}{err}"), format!("{err}{out}"), without_warnings];
    let same = |said: &String| !said.is_empty() && said.trim() == shown.trim();
    if said.iter().any(same) {
        return Ok(());
    }
    Err(format!("`mokume {command}` says\n{}\nand the page says\n{shown}", said[0]))
}

/// The text without comments, blank lines and `use`: the page names modules where they are first needed.
fn code(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("//") && !line.starts_with("use "))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn commands_print_what_the_pages_show() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("SKIPPED: no C compiler");
        return;
    }
    for chapter in [&FIRST, &SECOND, &FOURTH, &COURIER] {
        let folder = format!("tutorial-{}", chapter.file);
        follow(chapter, &page(chapter), &folder).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// Pages on costs show parts: `…` stands for any lines. The files are copied: where each is, and its name on the page. Profiles are made before all
/// else.
fn shows(page: &str, folder: &str, files: &[(&str, &str)]) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    for (from, to) in files {
        let to = folder.join(to);
        std::fs::create_dir_all(to.parent().unwrap_or(&folder)).map_err(|error| error.to_string())?;
        std::fs::copy(root().join(from), to).map_err(|error| error.to_string())?;
    }
    let blocks = blocks(page).into_iter().filter_map(|block| block.strip_prefix("$ "));
    let shown = blocks
        .flat_map(|block| block.split("\n$ "))
        .filter(|command| command.starts_with("mokume ") || command.starts_with("head "))
        .map(|text| text.split_once('\n').unwrap_or((text, "")));
    let (profiles, others): (Vec<_>, Vec<_>) = shown.partition(|(command, _)| command.starts_with("mokume profile"));
    for (command, shown) in profiles.into_iter().chain(others) {
        let program = command.replace("mokume ", concat!(env!("CARGO_BIN_EXE_mokume"), " "));
        let mut words = program.split(' ');
        let output = Command::new(words.next().unwrap_or_default()).args(words).current_dir(&folder).output();
        let said = output.map_err(|error| error.to_string())?.stdout;
        let said = String::from_utf8_lossy(&said);
        let mut rest = said.as_ref();
        for part in shown.split("…\n").filter(|part| !part.is_empty()) {
            let at = rest.find(part).ok_or_else(|| format!("`{command}` says\n{said}\nand the page says\n{part}"))?;
            rest = &rest[at + part.len()..];
        }
    }
    Ok(())
}

#[test]
fn what_a_layer_costs_is_what_the_page_shows() {
    let page = std::fs::read_to_string(root().join("docs/tutorial-cost.md")).unwrap();
    let file = [("examples/budget.mok", "budget.mok")];
    shows(&page, "tutorial-cost", &file).unwrap_or_else(|difference| panic!("{difference}"));
    let wrong = page.replace("14 operations,   3 guards  budget", "13 operations,   3 guards  budget");
    assert_ne!(wrong, page);
    assert!(shows(&wrong, "tutorial-cost-wrong", &file).is_err());
}

#[test]
fn what_paths_are_is_what_the_page_shows() {
    let page = std::fs::read_to_string(root().join("docs/paths.md")).unwrap();
    let files = [
        "examples/host.mok",
        "benches/tcp.mok",
        "benches/tcp_usual.mok",
        "benches/groups/ordered.mok",
        "benches/groups/ordered_usual.mok",
    ];
    let files = files.map(|file| (file, file));
    shows(&page, "paths", &files).unwrap_or_else(|difference| panic!("{difference}"));
    let wrong = page.replace("tcp.send                      19 layers", "tcp.send                      18 layers");
    assert_ne!(wrong, page);
    assert!(shows(&wrong, "paths-wrong", &files).is_err());
}

#[test]
fn a_page_that_is_not_true_is_found() {
    let good = page(&FIRST);
    let wrong = good.replace("$ mokume check budget.mok\nerror[M0401]", "$ mokume check budget.mok\nerror[M0402]");
    assert_ne!(wrong, good);
    assert!(follow(&FIRST, &wrong, "tutorial-wrong").is_err());
}

#[test]
fn the_code_is_the_examples() {
    for chapter in [&FIRST, &SECOND, &FOURTH, &COURIER] {
        let page = page(chapter);
        let written: String = blocks(&page).into_iter().filter(|block| !block.starts_with("$ ")).collect();
        let example = std::fs::read_to_string(root().join("examples").join(chapter.file)).unwrap();
        assert_eq!(code(&written), code(&example), "{}", chapter.file);
    }
}
