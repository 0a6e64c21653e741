//! The page of a record in a headless browser: what a user does, and what must be visible then.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

fn mokume(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root).output().unwrap()
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("viewer");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// The browser's command; `None` without a browser, which is reported.
pub fn browser() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&str>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        ["chromium", "google-chrome"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
    });
    if found.is_none() {
        println!("SKIPPED: no browser");
    }
    *found
}

/// The body of a page as HTML after its scripts have run; without the scripts.
pub fn body(browser: &str, page: &str, event: &str) -> String {
    let name = Path::new(page).file_stem().unwrap().to_string_lossy().into_owned();
    let folder = scratch(&format!("browser-{name}"));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", "--dump-dom"])
        .args([format!("--user-data-dir={folder}"), format!("file://{page}{event}")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("<body"), "{}", String::from_utf8_lossy(&output.stderr));
    text.split("<body").nth(1).and_then(|body| body.split("<script").next()).unwrap_or_default().to_string()
}

/// The results of a script of interactions on a page, one line each.
fn said(browser: &str, page: &str, script: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let (before, after) = text.rsplit_once("</body>").unwrap();
    let name = page.replace(".html", "-tried.html");
    std::fs::write(&name, format!("{before}<script>{{{script}}}</script></body>{after}")).unwrap();
    let body = body(browser, &name, "");
    let lines = body.split(r#"<pre id="said">"#).nth(1).and_then(|rest| rest.split("</pre>").next());
    lines.unwrap_or_else(|| panic!("the script did not come to its end: {body}")).lines().map(str::to_string).collect()
}

const NETWORK: &str = "crates/cli/tests/viewer/plant.mok";
const INTERACTIONS: &str = include_str!("viewer/interactions.js");

/// The page of the network that interactions are tried on.
fn page(name: &str) -> String {
    let page = scratch(name);
    let output = mokume(&["sim", NETWORK, "--seed", "14", "--html", &page]);
    assert!(output.status.success(), "{output:?}");
    page
}

fn wrong(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| !line.starts_with("ok ")).collect()
}

#[test]
fn a_page_does_what_its_user_does() {
    let Some(browser) = browser() else { return };
    let lines = said(browser, &page("plant.html"), INTERACTIONS);
    assert!(wrong(&lines).is_empty(), "{:#?}", wrong(&lines));
    println!("FIGURE: the viewer: {} interactions", lines.len());
    assert!(lines.len() >= 30);
}

#[test]
fn two_runs_stand_beside_each_other() {
    let Some(browser) = browser() else { return };
    let [one, other, page] = ["one.jsonl", "other.jsonl", "beside.html"].map(scratch);
    assert!(mokume(&["sim", NETWORK, "--seed", "14", "--record", &one, "--steps"]).status.success());
    assert!(mokume(&["sim", NETWORK, "--seed", "15", "--record", &other, "--steps"]).status.success());
    assert!(mokume(&["show", &one, "--against", &other, "--html", &page]).status.code() == Some(1));
    let lines = said(browser, &page, include_str!("viewer/beside.js"));
    assert!(wrong(&lines).is_empty() && lines.len() > 5, "{:#?}", wrong(&lines));
}

/// Nobody has the port that #8 of the demo is sent to; a layer with another port would refuse it.
#[test]
fn what_may_be_refused_is_said_with_its_condition_and_found() {
    let Some(browser) = browser() else { return };
    let page = scratch("doubt.html");
    let output = mokume(&["sim", "examples/demo.mok", "--html", &page]);
    assert!(output.status.success(), "{output:?}");
    let script = include_str!("viewer/doubt.js");
    let lines = said(browser, &page, script);
    assert!(wrong(&lines).is_empty() && lines.len() == 6, "{lines:#?}");
    // Planted: verdicts without their condition.
    let text = std::fs::read_to_string(&page).unwrap();
    for (from, name) in [
        (
            "refusing(packet).every(layer => layer.may_be_for_another)",
            "the filter keeps the frame of which it is not known",
        ),
        ("is_refused(layer) && !layer.may_be_for_another", "it is not refused"),
        ("layer.may_be_for_another ?", "the packet says the condition"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let to = from.replace("!layer.may_be_for_another", "true").replace("layer.may_be_for_another", "false");
        std::fs::write(&page, text.replace(from, &to)).unwrap();
        let lines = said(browser, &page, script);
        assert!(wrong(&lines).iter().any(|line| line.contains(name)), "{from}: {lines:#?}");
    }
}

/// Hosts on one line may run stacks that read a frame otherwise: the record has a packet for each that does.
#[test]
fn a_packet_is_shown_as_the_stack_of_its_host_reads_it() {
    let network = "crates/cli/tests/viewer/readers.mok";
    let record = scratch("readers.jsonl");
    assert!(mokume(&["sim", network, "--record", &record, "--steps"]).status.success());
    let schema = serde_json::from_str(include_str!("../../../schemas/record-4.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let text = std::fs::read_to_string(&record).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| validator.is_valid(event)));
    let own = |host: &str| {
        let is_its = |event: &&serde_json::Value| event["event"] == "receives" && event["host"] == host;
        events.iter().filter(is_its).filter(|event| event.get("packet").is_some()).count()
    };
    assert_eq!([own("b"), own("c")], [2, 0], "only b reads otherwise than a");
    let Some(browser) = browser() else { return };
    let page = scratch("readers.html");
    assert!(mokume(&["sim", network, "--html", &page]).status.success());
    let lines = said(browser, &page, include_str!("viewer/readers.js"));
    assert!(wrong(&lines).is_empty() && lines.len() == 8, "{lines:#?}");
}

/// What a user does first with a long record.
const MANY: &str = r#"
const ready = (document.body.offsetHeight, Math.round(performance.now()));
const list = lists[0], events = runs[0].events, rows = () => list.space.querySelectorAll(".row").length;
const frames = events.filter(event => event.event === "sends").length;
const said = [frames + " frames, ready in " + ready + " ms"];
const tell = (is, name) => said.push((is ? "ok " : "WRONG ") + name);
tell(frames > 10000 && frames < 12000, "ten thousand frames");
tell(rows() > 20 && rows() < 90, "rows in sight alone are drawn");
list.view.dispatchEvent(new KeyboardEvent("keydown", { key: "End", cancelable: true }));
tell(chosen === events[events.length - 1] && rows() < 90, "the last is chosen");
const field = element("fields");
field.value = "Tell.value > 200"; field.dispatchEvent(new Event("input"));
tell(list.rows.length > 1000 && list.rows.length < events.length / 2, "a filter keeps a part");
const pre = document.createElement("pre");
pre.id = "said"; pre.textContent = said.join("\n");
document.body.prepend(pre);
"#;

#[test]
fn ten_thousand_frames_are_a_page_as_others() {
    let Some(browser) = browser() else { return };
    let (network, page) = (scratch("long.mok"), scratch("long.html"));
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(NETWORK)).unwrap();
    assert_eq!(text.matches("until 1 s").count(), 1);
    std::fs::write(&network, text.replace("until 1 s", "until 400 s")).unwrap();
    assert!(mokume(&["sim", &network, "--seed", "14", "--html", &page]).stdout.len() > 100);
    let lines = said(browser, &page, MANY);
    println!("FIGURE: the viewer: {}", lines[0]);
    assert!(lines.len() == 5 && wrong(&lines[1..]).is_empty(), "{lines:#?}");
    let octets = std::fs::metadata(&page).unwrap().len();
    println!("FIGURE: the viewer: {octets} octets");
    assert!(octets < 8_000_000, "{octets} octets");
}

/// Faults of the viewer: the original, its replacement, and an interaction that must go wrong.
const FAULTS: [(&str, &str, &str); 12] = [
    (
        "if (event.event === \"sends\") return event;",
        "if (event.event === \"sends\") return this.events.find(one => one.event === \"sends\");",
        "each frame is shown with its own octets and fields",
    ),
    (
        "return this.effects.get(String(event.id)) || [];",
        "return this.effects.get(String(event.id + 1)) || [];",
        "right goes to what came of it",
    ),
    ("const first = octet * 8 + bit;", "const first = octet * 8 + bit + 8;", "a field marks its octets"),
    ("const behind = last * 8 - bit - bits;", "const behind = 0;", "a field is as its type writes it"),
    (
        "case \">\": return field.value > known;",
        "case \">\": return field.value < known;",
        "fields keep the frames that have them",
    ),
    ("for (let at = 0; at <= until; at++)", "for (let at = 0; at < until - 3; at++)", "state is that of the time"),
    ("!(is_changed && cell.from !== null)", "true", "what went away by the call is marked, and then gone"),
    (
        "const call = run.call(event), way = call ? run.way(call) : [];",
        "const call = run.call(event), way = [];",
        "the statement that dropped it is marked",
    ),
    ("before.octets !== event.octets", "before.octets === event.octets", "why it was sent again"),
    (
        "to === String(ring.due))) return before;",
        "to === String(ring.due))) return undefined;",
        "a timer's start is found",
    ),
    ("hidden.hosts.has(event.host)", "false", "a host is hidden"),
    (
        "event.event === \"ends\" && (event.restless || event.failed.length > 0)",
        "event.event === \"ends\"",
        "an end without failures is plain",
    ),
];

fn is_found((from, to, name): (&str, &str, &str), browser: &str) -> bool {
    let page = page(&format!("fault-{}.html", name.replace(|c: char| !c.is_alphanumeric(), "-")));
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    std::fs::write(&page, text.replacen(from, to, 1)).unwrap();
    let lines = said(browser, &page, INTERACTIONS);
    wrong(&lines).iter().any(|line| line.starts_with(&format!("WRONG {name}")))
}

/// Faults that only the campaign plants would else be forgotten when the viewer changes.
#[test]
fn each_fault_has_its_place() {
    let text = std::fs::read_to_string(page("places.html")).unwrap();
    for (from, _, name) in FAULTS {
        assert_eq!(text.matches(from).count(), 1, "{name}: {from}");
    }
}

/// A pane that shows another frame's octets.
#[test]
fn a_pane_with_the_wrong_frame_is_found() {
    let Some(browser) = browser() else { return };
    assert!(is_found(FAULTS[0], browser));
}

#[test]
#[ignore = "campaign: viewer"]
fn long_faults_of_the_viewer_are_found() {
    let Some(browser) = browser() else { return };
    let missed: Vec<&str> =
        FAULTS.into_iter().filter(|fault| !is_found(*fault, browser)).map(|(_, _, name)| name).collect();
    println!("FIGURE: the viewer: {} faults found of {}", FAULTS.len() - missed.len(), FAULTS.len());
    assert!(missed.is_empty(), "{missed:?}");
}
