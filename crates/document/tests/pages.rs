//! The pages of a small project and of the whole library: every link has a target, and text from sources is never
//! markup.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_base::MemoryWorld;
use mokume_document::{document, read, Asked, Document};

fn root() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").to_string_lossy().into_owned()
}

/// The pages of the whole library, with its tests.
fn library() -> Document {
    let examples = [format!("{}/tests/library", root())];
    let read = read(&RealWorld, &Asked { files: &[], library: true, examples: &examples }).expect("files");
    assert!(!read.checked.has_errors(), "{:?}", read.checked.diagnostics);
    document(&read)
}

/// A field whose order of octets is not that of its header said nothing of it, and a vector's length had no place.
#[test]
fn drawings_say_the_order_of_octets_and_where_a_length_stands() {
    let text = "/// Mixed.
worker W {
    header { a: u16 big, b: u16, list: [u16; ..3], c: u8 }
    on send(msg) { below.send(msg, a: 1, b: 2, list: [3], c: 4) }
    on deliver(msg) { above.deliver(msg) }
}
worker V {
    header { p: u16, q: u32 }
    on send(msg) { below.send(msg, p: 1, q: 2) }
    on deliver(msg) { above.deliver(msg) }
}
bundle B = V encoded Mixed
wire Mixed big { p: u16 little = V.p  q: u32 = V.q }
stack S(device: Device) {
    app = W / B over device
    export app
}
";
    let made = of_text(text);
    let said = |kind: &str, name: &str| -> Vec<(String, String)> {
        let item = made.objects.iter().find(|object| object["kind"] == kind && object["name"] == name).unwrap();
        let fields = item["headers"][0]["parts"][0]["fields"].as_array().unwrap();
        let text = |field: &serde_json::Value, key: &str| field[key].as_str().unwrap().to_string();
        fields.iter().map(|field| (text(field, "name"), text(field, "says"))).collect()
    };
    let pair = |name: &str, says: &str| (name.to_string(), says.to_string());
    let of_layer = [pair("a", "u16, big endian"), pair("b", "u16"), pair("list.length", "u8"), pair("c", "u8")];
    assert_eq!(said("layer", "W"), of_layer);
    assert_eq!(said("wire", "Mixed"), [pair("p", "V.p, little endian"), pair("q", "V.q")]);
}

/// The pages of one text.
fn of_text(text: &str) -> Document {
    let world = MemoryWorld::new().with_file("x/own.mok", text);
    let files = ["x/own.mok".to_string()];
    let read = read(&world, &Asked { files: &files, library: false, examples: &[] }).expect("a file");
    assert!(!read.checked.has_errors(), "{:?}", read.checked.diagnostics);
    document(&read)
}

fn page<'d>(document: &'d Document, name: &str) -> &'d str {
    let found = document.files.iter().find(|(known, _)| known == name);
    let names = || document.files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    &found.unwrap_or_else(|| panic!("no `{name}` among {:?}", names())).1
}

/// The quoted values after a word.
fn quoted<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(word).skip(1).filter_map(|rest| rest.split('"').next())
}

/// `../udp/index.html` of a page in a folder, relative to the root.
fn resolved(from: &str, link: &str) -> String {
    match (link.strip_prefix("../"), from.rsplit_once('/')) {
        (Some(rest), Some(_)) => rest.to_string(),
        (None, Some((folder, _))) => format!("{folder}/{link}"),
        (_, None) => link.to_string(),
    }
}

/// Dangling links of pages.
fn broken(document: &Document) -> Vec<String> {
    let anchors: BTreeMap<&str, BTreeSet<&str>> =
        document.files.iter().map(|(name, text)| (name.as_str(), quoted(text, " id=\"").collect())).collect();
    let mut broken = Vec::new();
    let mut look = |from: &str, link: &str| {
        let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
        let page = if page.is_empty() { from.to_string() } else { resolved(from, page) };
        let known = anchors.get(page.as_str());
        if !known.is_some_and(|known| anchor.is_empty() || known.contains(anchor)) {
            broken.push(format!("{from}: {link}"));
        }
    };
    for (name, text) in document.files.iter().filter(|(name, _)| name.ends_with(".html")) {
        let links = quoted(text, "href=\"").chain(quoted(text, " src=\""));
        links.filter(|link| !link.starts_with("data:") && !link.starts_with("http")).for_each(|link| look(name, link));
    }
    let names = page(document, "names.js");
    for line in names.lines().filter(|line| line.starts_with('[')) {
        let line: Vec<String> = serde_json::from_str(line.trim_end_matches(',')).expect("a line of names");
        look("index.html", &line[3]);
    }
    broken
}

#[test]
fn every_link_of_the_librarys_pages_leads_somewhere() {
    let mut document = library();
    assert_eq!(broken(&document), Vec::<String>::new());
    assert!(document.pages() > 300, "{}", document.pages());
    // Planted: a missing page, and a missing anchor.
    let at = document.files.iter().position(|(name, _)| name == "udp/wire.Rfc768.html").unwrap();
    let gone = document.files.remove(at);
    assert!(broken(&document).iter().any(|link| link.ends_with("wire.Rfc768.html")), "{}", gone.0);
    let named = document.files.iter_mut().find(|(name, _)| name == "thin/layer.Sequencer.html").unwrap();
    named.1 = named.1.replace("id=\"drops.stale\"", "");
    assert!(broken(&document).iter().any(|link| link.ends_with("#drops.stale")));
}

#[test]
fn a_layers_page_says_what_its_user_asks() {
    let document = library();
    let sums = page(&document, "udp/layer.InetChecksum.html");
    for part in [
        "<h1><small>worker</small> InetChecksum</h1>",
        "<tr id=\"parameters.header\"><td><code>header</code></td><td><code>u32</code></td><td><code>8</code></td></tr>",
        "<svg ",
        "id=\"reads.pseudo_sum\"",
        "id=\"publishes.mtu\"",
        "id=\"drops.damaged\"",
        "bundle Udp",
        "<h2 id=\"examples\">",
        "library/udp/inet_checksum.mok",
    ] {
        assert!(sums.contains(part), "{part}");
    }
    let ports = page(&document, "udp/layer.Ports.html");
    for part in [
        "<td><a href=\"../internet/service.Errors.html\"><code>Errors</code></a></td>",
        "id=\"uses.Errors\"",
        "id=\"key.port\"",
        "multiplexor",
    ] {
        assert!(ports.contains(part), "{part}");
    }
    let window = page(&document, "thin/layer.GoBackN.html");
    for part in ["on deliver(msg, Data { epoch, seq })", "tag: = 1", "id=\"fails.timed_out\""] {
        assert!(window.contains(part), "{part}");
    }
    let udp = page(&document, "udp/bundle.Udp.html");
    for part in
        ["href=\"../udp/wire.Rfc768.html\"", "href=\"../udp/layer.Ports.html\"", "href=\"../thin/layer.Length.html\""]
    {
        assert!(udp.contains(part), "{part}");
    }
    // State of a part is the layer's; the layer's page links to it.
    let connection = page(&document, "tcp/layer.Connection.html");
    assert!(connection.contains("href=\"../tcp/part.Output.html\"") && connection.contains("id=\"timers."));
}

/// Each layer and bundle of the library is documented, and thin ones have a test.
#[test]
fn no_page_of_the_library_is_empty() {
    let document = library();
    let of = |object: &&serde_json::Value| ["layer", "bundle"].contains(&object["kind"].as_str().unwrap());
    // Headers that are only dissected are as their RFC defines them.
    let own = document.objects.iter().filter(|object| object["module"] != "dissect");
    let silent = own.filter(of).filter(|object| object["doc"] == "");
    assert_eq!(silent.map(|object| &object["name"]).collect::<Vec<_>>(), Vec::<&serde_json::Value>::new());
    let thin = document.objects.iter().filter(of).filter(|object| object["module"] == "thin");
    let untold = thin.filter(|object| object["examples"].as_array().unwrap().is_empty());
    assert_eq!(untold.map(|object| &object["name"]).collect::<Vec<_>>(), Vec::<&serde_json::Value>::new());
}

const OWN: &str = "/// Says `<b>` & more of <script>alert(1)</script>; see `Other`.
worker Marks(most: u32 = 1 << 4) {
    header { mark: u8 }
    session { timer rest  var seen: u32 = 0 }
    on send(msg) {
        start rest after 5 ms
        below.send(msg, mark: most as% u8)
    }
    /// Only what is marked.
    on deliver(msg, mark) { if mark < 3 { above.deliver(msg) } else { drop msg: unmarked } }
    on expiry rest { seen += 1 }
}
worker Other { }
stack Two(device: Device) { app = Marks / Other over device  export app }
test \"a < b\" {
    stack Two
    app.send_to(\"</script>\")
    => device.frame(x\"10\" \"</script>\")
}
";

#[test]
fn what_a_source_says_is_text() {
    let document = of_text(OWN);
    assert_eq!(broken(&document), Vec::<String>::new());
    let marks = page(&document, "project/layer.Marks.html");
    assert!(!marks.contains("<script>alert") && marks.contains("&lt;script&gt;alert(1)"));
    assert!(marks.contains("<code>&lt;b&gt;</code> &amp; more") && marks.contains("<code>1 &lt;&lt; 4</code>"));
    assert!(marks.contains("<a href=\"../project/layer.Other.html\"><code>Other</code></a>"));
    assert!(
        marks.contains("a &lt; b")
            && marks.contains("<td><code>on deliver(msg, mark)</code><p>Only what is marked.</p>")
    );
    for part in
        ["id=\"timers.rest\"", "id=\"handles.expiry rest\"", "id=\"drops.unmarked\"", "session: var seen: u32 = 0"]
    {
        assert!(marks.contains(part), "{part}: {marks}");
    }
    assert!(!page(&document, "names.js").contains("</script"));
    // The source of a test is one link away from what it names.
    assert!(page(&document, "source/own.mok.html").contains("<a href=\"../project/stack.Two.html\">Two</a>"));
}

#[test]
fn files_of_examples_have_no_items() {
    let world = MemoryWorld::new().with_file("a/own.mok", "/// Passes.\nworker Own { }\n").with_file(
        "a/tried.mok",
        "use \"own.mok\"\nstack Tried(device: Device) { app = Own over device  export app }\n\
            test \"it passes\" {\n    stack Tried\n    app.send_to(\"x\")\n    => device.frame(\"x\")\n}\n",
    );
    let (files, examples) = (["a/own.mok".to_string()], ["a/tried.mok".to_string()]);
    let asked = Asked { files: &files, library: false, examples: &examples };
    let document = document(&read(&world, &asked).unwrap());
    assert!(page(&document, "project/layer.Own.html").contains("it passes"));
    assert!(document.objects.iter().all(|object| object["name"] != "Tried") && broken(&document).is_empty());
}

/// One's own layers stood behind six modules of the library that they use.
#[test]
fn the_project_comes_before_the_library() {
    let document = of_text("use arp, udp\nworker Own { on send(msg) { below.send(msg) } }\n");
    let first: Vec<&str> = quoted(page(&document, "index.html"), "<h2 id=\"").collect();
    assert!(first.len() > 2 && first[0] == "project", "{first:?}");
    assert!(first[1..].is_sorted(), "{first:?}");
}

/// What a layer asks of the flows below stood as an address that it makes.
#[test]
fn what_is_asked_of_flows_is_read() {
    let document = of_text(
        "worker Only {\n    below address { host: u32 }\n    on send(msg) { if flow.remote.host == 3 { below.send(msg) } else { drop msg: stranger } }\n}\n",
    );
    let only = page(&document, "project/layer.Only.html");
    assert!(only.contains("id=\"reads.host\"") && !only.contains("id=\"address.host\""), "{only}");
}

/// Hosts of a network stood under its layers, its links nowhere; nor did objects with their keys.
#[test]
fn a_network_has_hosts_and_links_and_a_layer_its_objects() {
    let document = of_text(
        "worker Keeps {\n    object Route[to: u16] capacity 4 {\n        var cost: u8 = 0\n    }\n\
         \u{20}   on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
         stack One(device: Device) {\n    app = Keeps over device\n    export app\n}\n\
         network Pair {\n    host a = One()\n    host b = One()\n    link lan { a.device, b.device   loss 5 %  delay 1 ms }\n    until 1 s\n}\n",
    );
    let pair = page(&document, "project/network.Pair.html");
    assert!(pair.contains(">Hosts<") && pair.contains("id=\"hosts.a\"") && pair.contains("stack.One.html"), "{pair}");
    assert!(
        pair.contains("id=\"links.lan\"") && pair.contains("loss 5 %") && !pair.contains("Layers, from top"),
        "{pair}"
    );
    let keeps = page(&document, "project/layer.Keeps.html");
    assert!(keeps.contains("id=\"state.Route\"") && keeps.contains("Route[to: u16]"), "{keeps}");
}
