//! The front page: the command draws its picture, its figures are measured, its commands run.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

fn mokume(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("front");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

#[test]
fn the_picture_is_what_the_command_draws() {
    let [record, drawn] = ["run.jsonl", "picture.svg"].map(scratch);
    mokume(&["sim", "examples/courier.mok", "--seed", "1", "--record", &record]);
    mokume(&["show", &record, "--from", "150ms", "--to", "1100ms", "--chart", &drawn]);
    let drawn = std::fs::read_to_string(&drawn).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(root().join("docs/picture.svg"), &drawn).unwrap();
    }
    assert!(read("docs/picture.svg") == drawn, "docs/picture.svg is another: BLESS=1, and look at it");
}

/// The numbers of a text, without the commas within them; not those in words such as `n2`.
fn numbers(text: &str) -> Vec<String> {
    let plain: String = text.replace(',', "").replace(['µ', 's'], " ");
    let words = plain.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
    let words = words.map(|word| word.trim_matches('.')).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    words.filter(|word| word.chars().all(|c| c.is_ascii_digit() || c == '.')).map(str::to_string).collect()
}

/// Figures in the front page's table that are in no table or line of the page of figures.
fn unmeasured(front: &str, figures: &str) -> Vec<String> {
    let known = numbers(figures);
    let rows = front.lines().skip_while(|line| !line.starts_with("| measured")).skip(2);
    let cells =
        rows.take_while(|line| line.starts_with('|')).flat_map(|row| row.split('|').skip(2)).map(str::to_string);
    cells.flat_map(|cell| numbers(&cell)).filter(|number| !known.contains(number)).collect()
}

#[test]
fn figures_of_the_front_page_are_measured_ones() {
    let (front, figures) = (read("README.md"), read("docs/figures.md"));
    assert_eq!(unmeasured(&front, &figures), Vec::<String>::new());
    let rows =
        front.lines().skip_while(|line| !line.starts_with("| measured")).take_while(|line| line.starts_with('|'));
    assert!(rows.count() > 6);
    // Planted: a figure that was not measured.
    let first = front.split("| measured").nth(1).and_then(|table| table.lines().nth(2)).expect("a row");
    let cell = first.split(" | ").nth(1).expect("a figure");
    let wrong = front.replacen(first, &first.replacen(cell, &format!("9{cell}"), 1), 1);
    let planted = format!("9{}", numbers(cell)[0]);
    assert!(wrong != front && unmeasured(&wrong, &figures) == [planted], "{:?}", unmeasured(&wrong, &figures));
}

#[test]
fn the_first_screen_says_what_it_is_and_how_to_try_it() {
    let front = read("README.md");
    let screen: Vec<&str> = front.lines().take(40).collect();
    for word in ["# Mokume", "language and compiler for network protocols", "./demo", "./test"] {
        assert!(screen.iter().any(|line| line.contains(word)), "`{word}` is not on the first screen");
    }
    let commands: Vec<&str> = front.lines().filter_map(|line| line.strip_prefix("mokume ")).collect();
    let tried = commands.iter().filter(|line| line.contains("examples/courier.mok"));
    let tried: Vec<Vec<&str>> =
        tried.map(|line| line.split('#').next().unwrap().split_whitespace().collect()).collect();
    assert_eq!(tried.len(), 2);
    let page = scratch("courier.html");
    let at_hand = |word: &&str| if *word == "courier.html" { page.clone() } else { word.to_string() };
    for arguments in tried {
        let arguments: Vec<String> = arguments.iter().map(at_hand).collect();
        mokume(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("<html"));
}
