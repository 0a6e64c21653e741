//! `mokume doc`: the pages of a project in a headless browser, the objects, and errors.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::viewer::browser;

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("doc").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.to_string_lossy().into_owned()
}

fn mokume(folder: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(folder).output().unwrap()
}

fn root() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").to_string_lossy().into_owned()
}

/// Pages of an example that uses modules of the library, in a separate folder.
fn pages(name: &str) -> String {
    let folder = scratch(name);
    let output = mokume(&root(), &["doc", "examples/budget.mok", "-o", &folder]);
    assert!(output.status.success(), "{output:?}");
    folder
}

/// What a script reports about a page, one line each, in a browser without a server.
fn said(browser: &str, page: &str, script: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let tried = page.replace(".html", ".tried.html");
    let script = format!(
        "<script>{{ const lines = [];\nconst say = (name, holds) => lines.push((holds ? 'ok ' : 'wrong ') + name);\n\
         try {{ {script} }} catch (error) {{ lines.push('wrong ' + error); }}\nconst all = document.createElement('pre');\n\
         all.id = 'said'; all.textContent = lines.join('\\n'); document.body.replaceChildren(all); }}</script>"
    );
    std::fs::write(&tried, text.replace("</body>", &format!("{script}</body>"))).unwrap();
    let profile = scratch("browser");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args([format!("--user-data-dir={profile}"), format!("file://{tried}")])
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = dom.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    lines.unwrap_or_else(|| panic!("the script did not end: {dom}")).lines().map(str::to_string).collect()
}

const SEARCH: &str = r##"
const press = key => field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const type = text => { field.value = text; field.dispatchEvent(new Event("input")); };
const lines = () => [...list.querySelectorAll("a")].map(link => link.textContent);
const first = () => lines()[0] || "";
type("Budget");
say("a whole name comes first", first().startsWith("Budget worker of project"));
type("budg");
say("its beginning finds it", first().startsWith("Budget "));
type("over_budget");
say("a reason is found, with its layer", first().startsWith("over_budget reason of Budget"));
type("checksum");
say("what a name has within is found", lines().some(line => line.startsWith("InetChecksum ")));
type("IC");
say("capitals are found", lines().some(line => line.startsWith("InetChecksum ")));
type("Ports udp");
say("a second word chooses the module", first().startsWith("Ports multiplexor of udp"));
type("fragments");
say("words of a summary are found", lines().length > 0);
type("Budget");
press("ArrowDown");
say("an arrow steps", list.querySelectorAll("a")[1].className === "chosen" && list.querySelectorAll(".chosen").length === 1);
press("ArrowUp");
say("and back", list.querySelectorAll("a")[0].className === "chosen");
say("links are of the root", list.querySelector("a").getAttribute("href").startsWith(root));
type("no_such_name_anywhere");
say("nothing is said to be nothing", list.textContent === "nothing is called so" && !list.hidden);
press("Escape");
say("escape ends it", list.hidden && field.value === "");
say("a header is drawn", document.querySelectorAll("figure svg rect").length > 0);
say("names of a source are links", document.querySelectorAll(".code a[href]").length > 0);
say("nothing is wider than the page", document.documentElement.scrollWidth <= document.documentElement.clientWidth);
"##;

fn wrong(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| !line.starts_with("ok ")).collect()
}

#[test]
fn a_search_finds_without_a_server() {
    let Some(browser) = browser() else { return };
    let folder = pages("found");
    let lines = said(browser, &format!("{folder}/udp/layer.InetChecksum.html"), SEARCH);
    assert!(wrong(&lines).is_empty() && lines.len() >= 15, "{:#?}", wrong(&lines));
    // Planted: a search that only finds whole names.
    let script = format!("{folder}/search.js");
    let text = std::fs::read_to_string(&script).unwrap();
    let faulty = text.replace("if (low.startsWith(word.toLowerCase())) return 2;", "return undefined;");
    assert_ne!(faulty, text);
    std::fs::write(script, faulty).unwrap();
    let lines = said(browser, &format!("{folder}/udp/layer.InetChecksum.html"), SEARCH);
    assert!(wrong(&lines).iter().any(|line| line.contains("its beginning finds it")), "{lines:?}");
}

#[test]
fn objects_are_as_the_schema_says() {
    let output = mokume(&root(), &["doc", "examples/budget.mok", "--format", "json"]);
    let schema = mokume(&root(), &["schema", "doc"]);
    let schema = serde_json::from_slice(&schema.stdout).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut object: serde_json::Value = serde_json::from_str(line).unwrap();
        let errors: Vec<String> = schema.iter_errors(&object).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {line}");
        *kinds.entry(object["kind"].as_str().unwrap().to_string()).or_default() += 1;
        // Planted: an additional field, and one without its type.
        object["more"] = 1.into();
        assert!(!schema.is_valid(&object));
        object.as_object_mut().unwrap().remove("more");
        object["line"] = "1".into();
        assert!(!schema.is_valid(&object));
    }
    for kind in ["layer", "bundle", "wire", "stack", "service", "attribute"] {
        assert!(kinds.contains_key(kind), "{kinds:?}");
    }
    assert!(!Path::new(&root()).join("doc").exists(), "objects alone write no pages");
}

#[test]
fn a_project_has_its_pages_and_wrong_input_its_diagnostic() {
    let folder = scratch("project");
    assert!(mokume(&folder, &["new", "mine"]).status.success());
    let mine = format!("{folder}/mine");
    let output = mokume(&mine, &["doc"]);
    assert!(output.status.success() && Path::new(&mine).join("doc/index.html").exists(), "{output:?}");
    let none = mokume(&folder, &["doc"]);
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    assert!(String::from_utf8_lossy(&none.stderr).contains("no file is named"));
    std::fs::write(format!("{folder}/wrong.mok"), "worker X { on send(msg) { } }\n").unwrap();
    let wrong = mokume(&folder, &["doc", "wrong.mok", "-o", "pages"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(1) && said.contains("error[M0") && said.contains("wrong.mok:1:"), "{said}");
    assert!(!Path::new(&folder).join("pages").exists());
    std::fs::write(format!("{folder}/right.mok"), "worker X { }\n").unwrap();
    let barred = mokume(&folder, &["doc", "right.mok", "-o", "right.mok"]);
    assert_eq!(barred.status.code(), Some(2), "{barred:?}");
    assert!(String::from_utf8_lossy(&barred.stderr).contains("cannot write"));
}
