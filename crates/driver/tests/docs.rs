//! The pages are true: every example of the language's page and of the tutorial compiles, its tests pass, and what the
//! pages refer to exists.
//!
//! A block fenced as `mok` is a whole file; `mok fragment` is a piece, which the parser's tests read. The tutorial's
//! blocks are one file, written step by step.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mokume_base::world::RealWorld;
use mokume_base::Diagnostic;
use mokume_driver::compile::{self, Checked};
use mokume_driver::machines::Backend;
use mokume_driver::{sim, test};
use mokume_semantics::program::StackId;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// A fenced block: the line where it begins, the words after its fence, its text.
struct Block {
    line: usize,
    fence: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => {
                open = Some(Block { line: index + 2, fence: fence.to_string(), text: String::new() })
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// Examples on pages must not have warnings either.
fn said(of: &[Diagnostic]) -> Vec<String> {
    of.iter().map(|found| format!("{} {}", found.code.0, found.message)).collect()
}

/// Checks one file, compiles its stacks and runs its tests on the interpreter; returns how many tests passed, or what
/// is wrong.
fn judge(text: &str, name: &str) -> Result<usize, String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.mok"));
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    // Functions in C of the examples are beside the page. They are copied once, as other tests may be compiling them.
    static COPIED: OnceLock<()> = OnceLock::new();
    COPIED.get_or_init(|| {
        for entry in std::fs::read_dir(root().join("docs")).unwrap().flatten() {
            if entry.path().extension().is_some_and(|end| end == "c") {
                let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(entry.file_name());
                std::fs::copy(entry.path(), copy).unwrap();
            }
        }
    });
    let name = file.to_string_lossy().into_owned();
    let checked = compile::check(&RealWorld, &[name]).map_err(|failure| failure.message)?;
    let mut found = said(&checked.diagnostics);
    if found.is_empty() {
        found = said_of_stacks(&checked);
    }
    if !found.is_empty() {
        return Err(found.join("; "));
    }
    let results = test::run(&checked, Some(Backend::Interpreter), "", &RealWorld);
    let wrong = said(&results.diagnostics).into_iter();
    let wrong: Vec<String> = wrong.chain(results.outcomes.iter().filter_map(difference)).collect();
    if wrong.is_empty() {
        Ok(results.outcomes.len())
    } else {
        Err(wrong.join("; "))
    }
}

fn difference(outcome: &test::Outcome) -> Option<String> {
    (!outcome.differences.is_empty()).then(|| format!("test \"{}\" fails at line {}", outcome.test, outcome.line))
}

/// The diagnostics of the file's own stacks, with tests or without.
fn said_of_stacks(checked: &Checked) -> Vec<String> {
    let own = |index: &usize| checked.roots.contains(&checked.program.stacks[*index].name.span.file);
    let stacks = (0..checked.program.stacks.len()).filter(own);
    stacks.flat_map(|index| said(&compile::compile(checked, StackId(index as u32), &RealWorld).1)).collect()
}

/// How many tests passed in all whole examples of a page.
fn judge_page(page: &str, name: &str) -> Result<usize, String> {
    let mut passed = 0;
    for block in blocks(page).iter().filter(|block| block.fence == "mok") {
        let said = judge(&block.text, &format!("{name}_{}", block.line));
        passed += said.map_err(|wrong| format!("the example at line {}: {wrong}", block.line))?;
    }
    Ok(passed)
}

#[test]
fn examples_of_the_language_do_what_they_say() {
    let page = page("language.md");
    for block in blocks(&page) {
        if block.fence == "toml" {
            mokume_driver::project::parse(&block.text, "Mokume.toml").expect("what the page says of projects");
            continue;
        }
        let known = ["mok", "mok fragment"].contains(&block.fence.as_str());
        assert!(known, "docs/language.md, line {}: `{}` is no fence of this page", block.line - 1, block.fence);
    }
    let passed = judge_page(&page, "language").unwrap_or_else(|wrong| panic!("docs/language.md, {wrong}"));
    run_networks(&page, "language").unwrap_or_else(|wrong| panic!("docs/language.md, {wrong}"));
    assert!(passed >= 10, "the page has lost its tests: {passed}");
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Links within a page that match no heading of it.
fn broken_anchors(page: &str) -> Vec<String> {
    let headings: Vec<String> = page.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
    let links = page.split("](#").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter(|link| !headings.iter().any(|heading| heading == link)).map(str::to_string).collect()
}

/// Cells of tables that are too long to look up: their text should be a paragraph with an example.
fn packed(page: &str) -> Vec<String> {
    let outside = page.split("\n```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with('|'));
    let cells = outside.flat_map(|row| row.split(" | ").map(str::to_string).collect::<Vec<_>>());
    cells.filter(|cell| cell.chars().count() > 240).collect()
}

#[test]
fn the_language_can_be_looked_up() {
    let page = page("language.md");
    assert_eq!(broken_anchors(&page), Vec::<String>::new());
    assert_eq!(packed(&page), Vec::<String>::new());
    let (_, table) = page.split_once("## Where to find it").expect("the table");
    let entries = table.split("## 1.").next().unwrap_or_default().matches("](#").count();
    assert!(entries >= 50, "{entries} words to look up");
    // Planted: a missing heading, and an overlong cell.
    assert_eq!(broken_anchors(&page.replace("### Loops", "### Rounds")), ["loops", "loops"]);
    let long = page.replace("[loops](#loops), with a bound", &"it says a lot ".repeat(20));
    assert_eq!(packed(&long).len(), 1);
}

/// Runs the networks of all whole examples of a page, which must meet their expectations; returns how many did.
fn run_networks(page: &str, name: &str) -> Result<usize, String> {
    let mut ran = 0;
    for block in blocks(page).iter().filter(|block| block.fence == "mok" && block.text.contains("\nnetwork ")) {
        let checked = compile::check_texts(&RealWorld, vec![(format!("{name}.mok"), block.text.clone())], Vec::new());
        let at = |wrong: String| format!("the network at line {}: {wrong}", block.line);
        for network in &checked.program.networks {
            let stacks =
                sim::sound_stacks(&checked, network, &RealWorld).map_err(|wrong| at(said(&wrong).join("; ")))?;
            let prepared = sim::Prepared::new(&checked, network, &stacks, Backend::Interpreter)
                .map_err(|failure| at(failure.message))?;
            let how = sim::How { seed: 1, keep: sim::Keep::Reports, weather: sim::Sky::Seeded };
            let run = prepared.run(how, &RealWorld, &mut |_| ()).map_err(|failure| at(failure.message))?;
            if !run.failed.is_empty() {
                return Err(at(format!("{} expectations are not met", run.failed.len())));
            }
            ran += 1;
        }
    }
    Ok(ran)
}

/// Questions, each answered by a file that runs.
#[test]
fn the_cookbook_answers_its_questions() {
    let page = page("cookbook.md");
    let passed = judge_page(&page, "cookbook").unwrap_or_else(|wrong| panic!("docs/cookbook.md, {wrong}"));
    let ran = run_networks(&page, "cookbook").unwrap_or_else(|wrong| panic!("docs/cookbook.md, {wrong}"));
    let questions: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    assert!(questions.len() == 23 && passed + ran >= 23, "{} questions, {passed} and {ran}", questions.len());
    for question in questions {
        let of_page = page.split(question).nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
        assert!(of_page.contains("```mok\n"), "`{question}` has no program");
        assert!(page.contains(&format!("(#{})", anchor(question))), "`{question}` is not in the table at the top");
    }
    // Planted: an expectation that no network meets.
    let wrong = page.replace("expect b.app.deliver(_, \"hello\")", "expect b.app.deliver(_, \"hullo\")");
    assert!(wrong != page && run_networks(&wrong, "cookbook").is_err());
}

/// The page for newcomers has a program that runs, too.
#[test]
fn what_is_said_to_newcomers_runs() {
    let page = page("coming-from.md");
    let passed = judge_page(&page, "coming_from").unwrap_or_else(|wrong| panic!("docs/coming-from.md, {wrong}"));
    assert!(passed >= 4, "the page has lost its tests: {passed}");
}

#[test]
fn the_fox_net_does_what_the_page_says() {
    let passed = judge_page(&page("fox_net.md"), "fox_net").unwrap_or_else(|wrong| panic!("docs/fox_net.md, {wrong}"));
    assert!(passed >= 5, "the page has lost its tests: {passed}");
}

#[test]
fn the_file_of_the_tutorial_does_what_it_says() {
    let page = page("tutorial.md");
    let written: String =
        blocks(&page).into_iter().filter(|block| !block.text.starts_with("$ ")).map(|block| block.text).collect();
    let passed = judge(&written, "tutorial").unwrap_or_else(|wrong| panic!("docs/tutorial.md: {wrong}"));
    assert!(passed >= 1, "the tutorial has lost its tests");
}

/// Planted: with one change, the page is not true.
#[test]
fn wrong_examples_are_found() {
    let page = page("language.md");
    let faults = [
        ("            drop msg: stale\n", "", "M0401"),
        ("header { seq: seq32 }", "header { seq: seq33 }", "M0301"),
        ("    on settle limit 1 {", "    on settle limit 1 {\n        below.unheard()", "M0715"),
        ("    on deliver(Full) { }\n", "", "M0520"),
        ("=> device.frame(x\"00\" \"abc\")", "=> device.frame(x\"00\" \"abd\")", "three in one"),
    ];
    for (right, wrong, said) in faults {
        let planted = page.replacen(right, wrong, 1);
        assert_ne!(planted, page, "`{right}` is no longer on the page");
        let found = judge_page(&planted, "planted").expect_err(said);
        assert!(found.contains(said), "{right} -> {wrong}: {found}");
    }
}

// -- what the pages point at

/// What a row of a table names: files between backquotes (with a `/` in them), and quoted tests of the file before.
fn missing(page: &str, root: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let mut file: Option<String> = None;
        let shown = line.rsplit_once(" | ").map_or("", |(_, cell)| cell);
        for (index, part) in shown.split('`').enumerate() {
            match index % 2 {
                1 if part.contains('/') => {
                    file = std::fs::read_to_string(root.join(part)).ok();
                    if !root.join(part).exists() {
                        missing.push(part.to_string());
                    }
                }
                1 => {
                    if !file.as_ref().is_some_and(|text| text.contains(part)) {
                        missing.push(part.to_string());
                    }
                }
                _ => {
                    let names = part.split('"').skip(1).step_by(2);
                    let text = file.as_deref().unwrap_or("");
                    missing.extend(names.filter(|name| !text.contains(*name)).map(str::to_string));
                }
            }
        }
    }
    missing
}

#[test]
fn what_coverage_names_exists() {
    let page = page("coverage.md");
    assert_eq!(missing(&page, &root()), Vec::<String>::new());
    assert!(page.lines().filter(|line| line.starts_with('|')).count() > 100, "the page has lost its rows");
}

#[test]
fn what_does_not_exist_is_found() {
    let rows = "| a | b | `tests/program/no_such.mok` |\n| a | b | `tests/program/state.mok` \"no such test\", `no_such_fn` |\n";
    assert_eq!(missing(rows, &root()), ["tests/program/no_such.mok", "no such test", "no_such_fn"]);
}

/// The page lists the words that cannot be names of values; other keywords can be.
#[test]
fn the_words_that_are_reserved_are_those_of_the_page() {
    let page = page("language.md");
    let (_, behind) = page.split_once("`and as else ").expect("the list of words");
    let words = format!("and as else {}", behind.split('`').next().unwrap_or_default());
    let named = |word: &str| {
        let text = format!(
            "worker W {{\n    header {{ n: u32 }}\n    on send(m) {{\n        let {word} = m.size\n        let x = 3 + {word}\n        below.send(m, n: {word} + x)\n    \
             }}\n    on deliver(m, n) {{ above.deliver(m) }}\n}}\n"
        );
        judge(&text, "reserved").is_ok()
    };
    for word in words.split_whitespace().chain(["_", "below"]) {
        assert!(!named(word), "{word} is a name");
    }
    let free = [
        "type", "key", "next", "count", "end", "drop", "start", "test", "stack", "on", "wire", "loop", "switch",
        "layer",
    ];
    for word in free {
        assert!(named(word), "{word} is reserved");
    }
}
