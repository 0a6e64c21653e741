//! Pictures of all examples, as a browser draws them: no label overlaps another or exceeds the picture, and no arrow is
//! bent.

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

/// The picture that a command writes, under a separate name.
fn picture(folder: &Path, name: &str, arguments: &[&str]) -> (String, String) {
    let file = folder.join(format!("{name}.svg"));
    let _ = std::fs::remove_file(&file);
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).arg(&file).current_dir(root()).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let svg = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{arguments:?}: {error} {said}"));
    (name.to_string(), svg[svg.find("<svg").unwrap()..].to_string())
}

/// Charts of networks, and layers and headers of stacks.
fn pictures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels");
    std::fs::create_dir_all(&folder).unwrap();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "mok"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let (short, file) = (file.file_stem().unwrap().to_string_lossy(), file.to_string_lossy());
        for name in names(&text, "network") {
            let how = ["sim", &*file, "--network", &name, "--chart"];
            all.push(picture(&folder, &format!("{short}-{name}-chart"), &how));
        }
        for name in names(&text, "stack") {
            let of = |what| ["graph", &*file, "--stack", &name, "--what", what, "-o"];
            all.push(picture(&folder, &format!("{short}-{name}-stack"), &of("stack")));
            all.push(picture(&folder, &format!("{short}-{name}-headers"), &of("headers")));
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
fn no_label_of_an_example_lies_over_another() {
    let Some(browser) = browser() else { return };
    let pictures = pictures();
    let (count, wrong) = wrong(browser, "labels", &pictures);
    println!("FIGURE: labels: {count} pictures of the examples, {} wrong", wrong.len());
    assert!(count > 50 && count == pictures.len(), "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A label put over another, one beyond the edge, and a frame's arrow that is a curve.
#[test]
fn a_label_over_another_is_found() {
    let Some(browser) = browser() else { return };
    let drawn = |body: &str| format!("<svg xmlns='http://www.w3.org/2000/svg' width='300' height='100'>{body}</svg>");
    for (body, words) in [
        ("<text x='10' y='30'>one label</text><text x='40' y='34'>another</text>", "`one label` over `another`"),
        ("<text x='260' y='30'>one that is long</text>", "`one that is long` is cut off"),
        ("<path class='message' d='M0 0 L10 10 L20 0'/>", "an arrow is bent"),
    ] {
        let (count, wrong) = wrong(browser, "label-faults", &[("fault".to_string(), drawn(body))]);
        assert!(count == 1 && wrong.iter().any(|line| line.contains(words)), "{words}: {wrong:?}");
    }
    let right = drawn(
        "<text x='10' y='30'>one label</text><text x='10' y='50'>another</text><line class='message' x1='0' x2='9'/>",
    );
    assert_eq!(wrong(browser, "label-right", &[("right".to_string(), right)]), (1, Vec::new()));
}
