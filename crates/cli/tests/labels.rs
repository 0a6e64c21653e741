//! Pictures of all examples, as a browser draws them: no label overlaps another or exceeds the picture, and no arrow is
//! bent, and lines of services go around boxes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::viewer::{body, browser};

const SCRIPT: &str = include_str!("labels.js");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names that a file declares with a keyword.
fn names(text: &str, word: &str) -> Vec<String> {
    let rest = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    rest.map(|rest| rest.chars().take_while(|c| is_part(*c)).collect()).collect()
}

/// The picture that a command writes, by a name of its own; none of a program that is wrong.
fn picture(folder: &Path, name: &str, arguments: &[&str]) -> Option<(String, String)> {
    let file = folder.join(format!("{name}.svg"));
    let _ = std::fs::remove_file(&file);
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).arg(&file).current_dir(root()).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.starts_with("error[") {
        return None;
    }
    let svg = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{arguments:?}: {error} {said}"));
    Some((name.to_string(), svg[svg.find("<svg").unwrap()..].to_string()))
}

/// The sources in a folder, in order.
fn sources(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension().is_some_and(|end| end == "mok") && !LONG.iter().any(|long| file.ends_with(long))
    });
    files.sort();
    files
}

/// Where networks are beside the examples.
const NETWORKS: [&str; 6] =
    ["tests/library", "tests/program", "tests/newcomer", "benches", "benches/groups", "benches/stacks"];

/// Networks that run for long, and whose charts show nothing that those of others do not.
const LONG: [&str; 4] = ["usual.mok", "tcp_usual.mok", "ordered_usual.mok", "tcp_disorder.mok"];

/// Charts of networks, and of the examples' stacks their layers and headers.
fn pictures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels");
    std::fs::create_dir_all(&folder).unwrap();
    let mut all = Vec::new();
    for of in std::iter::once("examples").chain(NETWORKS) {
        for file in sources(of) {
            let text = std::fs::read_to_string(&file).unwrap();
            let short = format!("{}-{}", of.replace('/', "-"), file.file_stem().unwrap().to_string_lossy());
            let file = file.to_string_lossy();
            for name in names(&text, "network") {
                let how = ["sim", &*file, "--network", &name, "--chart"];
                all.extend(picture(&folder, &format!("{short}-{name}-chart"), &how));
            }
            for name in names(&text, "stack").iter().filter(|_| of == "examples") {
                let graph = |what| ["graph", &*file, "--stack", name, "--what", what, "-o"];
                all.extend(picture(&folder, &format!("{short}-{name}-stack"), &graph("stack")));
                all.extend(picture(&folder, &format!("{short}-{name}-headers"), &graph("headers")));
            }
        }
    }
    all
}

/// The faults of pictures, and how many pictures were examined.
fn wrong(browser: &str, name: &str, pictures: &[(String, String)]) -> (usize, Vec<String>) {
    let boxes = pictures.iter().map(|(name, svg)| format!("<div class='picture' id='{name}'>{svg}</div>\n"));
    let page = format!("<meta charset='utf-8'><body>{}<script>{SCRIPT}</script></body>", boxes.collect::<String>());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    std::fs::write(&file, page).unwrap();
    let body = body(browser, &file.to_string_lossy(), "");
    let said = body.split(r#"<pre id="said">"#).nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or_default();
    let mut lines = said.lines();
    let count = lines.next().and_then(|line| line.strip_prefix("looked at ")?.parse().ok()).unwrap_or(0);
    (count, lines.map(str::to_string).collect())
}

#[test]
fn no_label_lies_over_another() {
    let Some(browser) = browser() else { return };
    let pictures = pictures();
    let (count, wrong) = wrong(browser, "labels", &pictures);
    let charts = pictures.iter().filter(|(name, _)| name.ends_with("-chart")).count();
    println!("FIGURE: labels: {count} pictures, {charts} of them charts, {} wrong", wrong.len());
    assert!(charts > 35 && count > charts + 50 && count == pictures.len(), "{count} {charts}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A label put over another, one beyond the edge, one of an edge over a layer's box, a frame's arrow that is a curve, and a
/// line through a box.
#[test]
fn a_label_over_another_is_found() {
    let Some(browser) = browser() else { return };
    let drawn = |body: &str| format!("<svg xmlns='http://www.w3.org/2000/svg' width='300' height='100'>{body}</svg>");
    for (body, words) in [
        ("<text x='10' y='30'>one label</text><text x='40' y='34'>another</text>", "`one label` over `another`"),
        ("<text x='260' y='30'>one that is long</text>", "`one that is long` is cut off"),
        (
            "<rect class='box worker' x='50' y='10' width='40' height='60'/><text class='edge-word' x='20' y='30'>asks</text>",
            "`asks` over a box",
        ),
        ("<path class='message' d='M0 0 L10 10 L20 0'/>", "an arrow is bent"),
        (
            "<rect class='box worker' x='50' y='10' width='40' height='60'/><path class='service' d='M10 40 L120 40'/>",
            "a line goes through a box",
        ),
        (
            "<rect class='ground' x='10' y='10' width='40' height='40'/><text class='ground-word' x='200' y='20'>a</text>\
             <path class='ground' d='M30 30 L90 30 L60 90 Z'/><text class='ground-word' x='200' y='60'>b</text>",
            "a bundle's ground over another's",
        ),
    ] {
        let (count, wrong) = wrong(browser, "label-faults", &[("fault".to_string(), drawn(body))]);
        assert!(count == 1 && wrong.iter().any(|line| line.contains(words)), "{words}: {wrong:?}");
    }
    let right = drawn(
        "<rect class='box' x='100' y='10' width='90' height='60'/><text x='110' y='30'>name</text>\
         <text x='10' y='30'>one label</text><text class='edge-word' x='10' y='50'>another</text><line class='message' x1='0' x2='9'/>",
    );
    assert_eq!(wrong(browser, "label-right", &[("right".to_string(), right)]), (1, Vec::new()));
}
