//! `mokume path … --html`: a self-contained page that agrees with the source and the path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STACK: &str = "worker Counts {
    entity {
        var least: u32 = 3
        counter small
    }

    on send(msg) {
        if likely msg.size > least { // <b>&'
            below.send(msg)
        } else { drop msg: small }
    }
    on deliver(msg) { above.deliver(msg) }
}

stack Counted(device: Device) {
    app = Counts over device
    export app
}
";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("path_page").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn ran(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).current_dir(folder).args(words).output().unwrap()
}

/// The values after a mark up to the next quote, wherever it occurs.
fn all<'a>(page: &'a str, mark: &str) -> BTreeSet<&'a str> {
    page.split(mark).skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect()
}

/// It loads nothing, each link has a target, and each opened element is closed.
fn stands_by_itself(page: &str) -> Result<(), String> {
    for word in ["http", "<script", "src=", "url(", "@import", "<link"] {
        if page.contains(word) {
            return Err(format!("`{word}`"));
        }
    }
    let ids = all(page, "id=\"");
    if let Some(nowhere) = all(page, "href=\"#").iter().find(|link| !ids.contains(*link)) {
        return Err(format!("a link to {nowhere}, which is not there"));
    }
    let mut open = Vec::new();
    let body = page.split_once("</style>").ok_or("no style")?.1;
    for tag in body.split('<').skip(1) {
        let name = &tag[..tag.find([' ', '>']).ok_or("a tag without an end")?];
        match name.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) && !matches!(name, "head" | "html") => {
                return Err(format!("`{name}` is closed, and was not open"));
            }
            None if name != "input" => open.push(name),
            _ => {}
        }
    }
    match open.pop() {
        Some(name) => Err(format!("`{name}` is not closed")),
        None => Ok(()),
    }
}

#[test]
fn a_page_says_what_the_path_does_and_where_it_comes_from() {
    let folder = folder("host");
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let host = host.to_str().unwrap();
    let told = ran(&folder, &["path", host, "--event", "udp.send", "--html", "page.html"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    stands_by_itself(&page).unwrap();
    for said in [
        "<h1><code>udp.send</code> <span>through Host</span></h1>",
        "<code>--fuse 0</code>",
        "<code>--fuse 1</code>",
        "<code>--fuse 2</code>",
        "ip.Parts</b> <small>library/ipv4/parts.mok:32</small><code>if likely msg.size + HEADER &lt;= fits {</code>",
        "<span class=\"exit\">left 0 %</span>",
        "memo <code>udp.application.S.send.memo_1</code>",
        "left: not expected",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let told = ran(&folder, &["path", host, "--event", "device.frame", "--html", "frames.html"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert!(std::fs::read_to_string(folder.join("frames.html")).unwrap().contains("<h2>Not in it</h2>"));
    // This depends on the verdicts that come with the command, and on whether the layers have changed since.
    let known = ["proved", "tested"].map(|word| page.matches(&format!("<strong>{word}</strong>")).count());
    assert!(known == [1, 0] || known == [0, 1], "{known:?}");
    // Each line of the path is there, with the same numbers.
    let text = String::from_utf8(ran(&folder, &["path", host, "--event", "udp.send"]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("    v") && !line.contains('"')).collect();
    assert!(lines.len() > 100);
    for line in lines {
        let line = line.split(" ; ").next().unwrap().trim();
        assert!(page.contains(&format!("<p><code>{line}</code>")), "{line}");
    }
}

#[test]
fn what_the_source_says_is_no_markup() {
    let folder = folder("markup");
    std::fs::write(folder.join("stack.mok"), STACK).unwrap();
    let told = ran(&folder, &["path", "stack.mok", "--event", "app.send_to", "--html", "page.html"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("// &lt;b&gt;&amp;&#39;"), "the comment is shown as it is written");
    stands_by_itself(&page).unwrap();
    // The check itself finds the faults of a page.
    for (from, to) in [("</table>", ""), ("id=\"s0-", "id=\"s9-"), ("<h2>", "<script>"), ("<p>", "<p><b>")] {
        assert!(stands_by_itself(&page.replacen(from, to, 1)).is_err(), "{from} -> {to}");
    }
}

#[test]
fn a_page_is_of_one_event_that_has_a_path() {
    let folder = folder("wrong");
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let said = |words: &[&str]| {
        let told = ran(&folder, words);
        (told.status.code().unwrap(), String::from_utf8_lossy(&told.stderr).into_owned())
    };
    let host = host.to_str().unwrap();
    let (code, why) = said(&["path", host, "--html", "page.html"]);
    assert!(code == 2 && why.contains("--event"), "{why}");
    let (code, why) = said(&["path", host, "--event", "udp.open", "--html", "page.html"]);
    assert!(code == 1 && why.contains("`udp.open` has no path: "), "{why}");
    let (code, why) = said(&["path", host, "--event", "udp.sends", "--html", "page.html"]);
    assert!(code == 2 && why.contains("there is no event `udp.sends`"), "{why}");
    // A timer is no event that there is not.
    let meter = host.replace("host.mok", "meter.mok");
    let asked = ["path", &meter, "--stack", "Reader", "--event", "meter.Metering.E.expiry ask_at"];
    let (code, why) = said(&asked);
    assert!(code == 2 && why.contains("no path was looked for after `meter.Metering.E.expiry ask_at`"), "{why}");
    let (code, why) = said(&["path", host, "--event", "udp.send", "--html", "page.png"]);
    assert!(code == 2 && why.contains("end the name in .html"), "{why}");
}
