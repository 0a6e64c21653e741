//! What names refer to: definition, uses, hover.

use std::collections::BTreeSet;

use mokume_base::world::{MemoryWorld, RealWorld, World};
use mokume_base::Span;
use mokume_driver::compile;
use mokume_syntax::SyntaxKind;
use serde_json::{json, Value};

use crate::editor::{range, repository, Editor, Shared};

/// One column after the beginning of the `nth` occurrence in a text: a cursor within the word.
pub fn place(text: &str, needle: &str, nth: usize) -> Value {
    let at = text.match_indices(needle).nth(nth).unwrap_or_else(|| panic!("no {nth} `{needle}`")).0;
    let line = text[..at].matches('\n').count();
    let column = text[..at].rsplit('\n').next().unwrap().encode_utf16().count();
    json!({ "line": line, "character": column + 1 })
}

fn ask(editor: &mut Editor, method: &str, name: &str, place: &Value) -> Value {
    let document = json!({ "uri": Editor::uri(name) });
    let context = json!({ "includeDeclaration": true });
    editor.ask(method, json!({ "textDocument": document, "position": place, "context": context }))
}

/// Where the definition is: file, line and column of each.
fn defined(editor: &mut Editor, name: &str, place: &Value) -> Vec<(String, u64, u64)> {
    let found = ask(editor, "textDocument/definition", name, place);
    let of = |found: &Value| {
        let [line, column, ..] = range(&found["range"]);
        (found["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_string(), line, column)
    };
    found.as_array().into_iter().flatten().map(of).collect()
}

fn hover(editor: &mut Editor, name: &str, place: &Value) -> String {
    ask(editor, "textDocument/hover", name, place)["contents"]["value"].as_str().unwrap_or("").to_string()
}

const FILE: &str = r#"use udp
use "part.mok"

/// How it is told.
const LIMIT: u8 = 3

/// Counts.
///
/// What is behind comes later.
worker Counts {
    header {
        kind: u8
        /// Which one.
        seq: u16
    }
    session {
        /// The next.
        var next: u16 = 0
        timer wait
        quota kept: 4
    }
    object Entry[who: u8] capacity 4 { var seen: u16 = 0 }
    fn ahead(by: u16) -> u16 { return next + by }
    on send(msg) {
        let own = ahead(by: 2)
        below.send(msg, kind: LIMIT, seq: own)
        next = own
        start wait after 20 ms
    }
    on deliver(msg, kind, seq) {
        if let e = Entry[kind] { e.seen = seq } else { }
        match kind == 1 { true => { above.deliver(msg) } false => { drop msg: late } }
    }
    on expiry wait { }
}
wire Counting big {
    flags: u4 = 0
    rest: u4 = 0
    kind: u8 = Counts.kind
    seq: u16 = Counts.seq
}
bundle Counted = Counts encoded Counting
stack S(device: Device) {
    app = Counted over device
    export app
}
fn f(a: Pair) -> u8 { return a.left }
test "t" { stack S() app.send("x") }
"#;

const PART: &str = "/// Two.\nrecord Pair { left: u8, right: u8 }\n";

fn editor() -> Editor {
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open("a.mok", FILE);
    editor
}

#[test]
fn every_kind_of_name_leads_to_its_declaration() {
    let mut editor = editor();
    let line = |needle: &str| FILE[..FILE.find(needle).unwrap()].matches('\n').count() as u64;
    let cases: &[(&str, usize, &str)] = &[
        ("LIMIT", 1, "const LIMIT"),
        ("next", 1, "var next"),
        ("next", 2, "var next"),
        ("by", 1, "fn ahead"),
        ("by:", 1, "fn ahead"),
        ("ahead", 1, "fn ahead"),
        ("own", 1, "let own"),
        ("own", 2, "let own"),
        ("kind: LIMIT", 0, "kind: u8"),
        ("seq: own", 0, "seq: u16"),
        ("wait after", 0, "timer wait"),
        ("wait { }", 0, "timer wait"),
        ("kind, seq)", 0, "kind: u8"),
        ("Entry[kind]", 0, "object Entry"),
        ("kind] {", 0, "on deliver"),
        ("seen =", 0, "object Entry"),
        ("e.seen", 0, "if let e"),
        ("Counts.kind", 0, "worker Counts"),
        ("kind\n    seq: u16 = C", 0, "kind: u8"),
        ("seq\n}", 0, "seq: u16\n"),
        ("Counting\nstack", 0, "wire Counting"),
        ("Counts encoded", 0, "worker Counts"),
        ("Counted over", 0, "bundle Counted"),
        ("device\n    export", 0, "stack S"),
        ("app\n}", 0, "app = Counted"),
        ("S() app", 0, "stack S("),
        ("app.send", 0, "app = Counted"),
        ("a.left", 0, "fn f"),
    ];
    let mut wrong = Vec::new();
    for (needle, nth, declared) in cases {
        let found = defined(&mut editor, "a.mok", &place(FILE, needle, *nth));
        if found.first().map(|found| (found.0.as_str(), found.1)) != Some(("a.mok", line(declared))) {
            wrong.push(format!("`{needle}` {nth}: {found:?}, not line {}", line(declared)));
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert_eq!(defined(&mut editor, "a.mok", &place(FILE, "Pair", 0)), [("part.mok".to_string(), 1, 7)]);
    assert_eq!(defined(&mut editor, "a.mok", &place(FILE, "left", 0)), [("part.mok".to_string(), 1, 14)]);
    assert_eq!(defined(&mut editor, "a.mok", &place(FILE, "part.mok", 0)), [("part.mok".to_string(), 0, 0)]);
    assert_eq!(defined(&mut editor, "a.mok", &json!({ "line": 2, "character": 0 })), []);
    assert_eq!(defined(&mut editor, "a.mok", &json!({ "line": 9999, "character": 7 })), []);
}

#[test]
fn a_name_of_the_library_leads_to_a_file_that_can_be_opened() {
    let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
    let mut editor = Editor::in_world(world, json!({}));
    let text = "use udp\nbundle Mine = Udp\n";
    editor.open("a.mok", text);
    let found = ask(&mut editor, "textDocument/definition", "a.mok", &place(text, "Udp", 0));
    let uri = found[0]["uri"].as_str().unwrap().to_string();
    assert!(uri.starts_with("file:///c/mokume/shelf-") && uri.contains("/library/udp/"), "{uri}");
    let modules = ask(&mut editor, "textDocument/definition", "a.mok", &place(text, "udp", 0));
    assert!(!modules.as_array().unwrap().is_empty());
    // The opened file is the library's: it has no errors, and its names have definitions.
    let whole =
        std::fs::read_to_string(repository().join("library/udp").join(uri.rsplit('/').next().unwrap())).unwrap();
    editor.open(&uri, &whole);
    assert_eq!(editor.codes(&uri), [""; 0]);
    let line = whole.lines().position(|line| line.starts_with("bundle Udp")).unwrap();
    let column = whole.lines().nth(line).unwrap().find("Ports").map_or(7, |at| at + 1);
    let found = ask(&mut editor, "textDocument/definition", &uri, &json!({ "line": line, "character": column }));
    assert!(found[0]["uri"].as_str().unwrap().contains("/library/udp/"), "{found}");
}

#[test]
fn a_hover_has_the_contract_the_docs_the_type_and_the_place_in_packets() {
    let mut editor = editor();
    let layer = hover(&mut editor, "a.mok", &place(FILE, "Counts encoded", 0));
    assert!(layer.contains("worker Counts {") && layer.contains("header {") && layer.contains("seq: u16"), "{layer}");
    assert!(layer.contains("Counts.\n\nWhat is behind comes later.") && !layer.contains("on send"), "{layer}");
    let field = hover(&mut editor, "a.mok", &place(FILE, "seq: own", 0));
    assert!(
        field.contains("seq: u16") && field.contains("octets 2 to 3 of `Counting`") && field.contains("Which one."),
        "{field}"
    );
    let bits = hover(&mut editor, "a.mok", &place(FILE, "rest: u4", 0));
    assert!(bits.contains("octet 0, bits 4 to 7 of `Counting`"), "{bits}");
    let local = hover(&mut editor, "a.mok", &place(FILE, "own", 1));
    assert!(local.contains("own: u16"), "{local}");
    let message = hover(&mut editor, "a.mok", &place(FILE, "msg, kind: LIMIT", 0));
    assert!(message.contains("msg: Message"), "{message}");
    let state = hover(&mut editor, "a.mok", &place(FILE, "next", 2));
    assert!(
        state.contains("var next: u16 = 0") && state.contains("The next.") && state.contains("of `worker Counts`"),
        "{state}"
    );
    let record = hover(&mut editor, "a.mok", &place(FILE, "Pair", 0));
    assert!(record.contains("record Pair { left: u8, right: u8 }") && record.contains("Two."), "{record}");
    assert_eq!(hover(&mut editor, "a.mok", &json!({ "line": 2, "character": 0 })), "");
}

#[test]
fn uses_are_found_in_all_files_of_the_workspace() {
    let user = "use \"part.mok\"\nfn g(p: Pair) -> u8 { return p.left }\n";
    let world = MemoryWorld::new()
        .with_file("/p/part.mok", PART)
        .with_file("/p/user.mok", user)
        .with_file("/p/other.mok", "record Pair { left: u8 }\nfn g(p: Pair) -> u8 { return p.left }\n");
    let mut editor = Editor::unborn(world);
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///p", "name": "p" }] }));
    editor.open("a.mok", FILE);
    let found = ask(&mut editor, "textDocument/references", "a.mok", &place(FILE, "left", 0));
    let places = |found: &Value| {
        let of = |found: &Value| {
            (found["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_string(), range(&found["range"])[0])
        };
        found.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let line = FILE[..FILE.find("a.left").unwrap()].matches('\n').count() as u64;
    let own = |name: &str, line| (name.to_string(), line);
    assert_eq!(places(&found), [own("a.mok", line), own("part.mok", 1), own("user.mok", 1)]);
    // From a declaration that its own file does not mention, like those of a library.
    editor.open("part.mok", PART);
    let found = ask(&mut editor, "textDocument/references", "part.mok", &place(PART, "left", 0));
    assert_eq!(places(&found), [own("a.mok", line), own("part.mok", 1), own("user.mok", 1)]);
    let shown = ask(&mut editor, "textDocument/documentHighlight", "a.mok", &place(FILE, "own", 0));
    assert_eq!(shown.as_array().unwrap().len(), 3);
}

/// A search in all files of a large folder takes long, and nobody else is answered meanwhile.
#[test]
fn what_only_one_file_can_name_is_looked_for_in_no_other() {
    let world = Shared::default();
    world.write("/p/other.mok", b"fn g(own: u16, next: u16, LIMIT: u16) -> u16 { return own }\n").unwrap();
    world.write("/p/parts.mok", b"fn g(downs: u16, LIMITS: u16) -> u16 { return downs }\n").unwrap();
    world.write("/p/part.mok", PART.as_bytes()).unwrap();
    let mut editor = Editor::unborn(world.clone());
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///p", "name": "p" }] }));
    editor.open("a.mok", FILE);
    let mut others = |word: &str, nth: usize, method: &str| {
        world.1.lock().unwrap().clear();
        let at = place(FILE, word, nth);
        let document = json!({ "uri": Editor::uri("a.mok") });
        let context = json!({ "includeDeclaration": true });
        let asked = json!({ "textDocument": document, "position": at, "context": context, "newName": "zz" });
        let found = editor.ask(&format!("textDocument/{method}"), asked);
        assert!(found["changes"].as_object().map_or(1, |changes| changes.len()) == 1, "{found}");
        let done = world.1.lock().unwrap();
        let read = |name: &str| done.iter().filter(|line| line.starts_with("read") && line.contains(name)).count();
        [read("other.mok"), read("parts.mok")]
    };
    for (word, nth) in [("own", 0), ("own", 1), ("msg", 0), ("msg", 1), ("next", 1), ("wait", 0), ("by", 0)] {
        for method in ["references", "rename"] {
            assert_eq!(others(word, nth, method), [0, 0], "{method} of {word} {nth}");
        }
    }
    // An item's name is looked for, as a whole word: a file that has it is read to find it, and again to be checked.
    let [has, has_not] = others("LIMIT", 0, "references");
    assert!(has > has_not, "{has} {has_not}");
}

/// The answer to what the editor no longer wants is that it was taken back, even if it was begun.
#[test]
fn a_search_ends_when_it_is_taken_back() {
    let world = Shared::default();
    for file in 0..60 {
        let text = format!("record Pair {{ left{file}: u8 }}\nfn g(p: Pair) -> u8 {{ return p.left{file} }}\n");
        world.write(&format!("/p/{file}/f.mok"), text.as_bytes()).unwrap();
    }
    world.write("/p/part.mok", PART.as_bytes()).unwrap();
    let mut editor = Editor::unborn(world.clone());
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///p", "name": "p" }] }));
    editor.open("a.mok", FILE);
    let document = json!({ "uri": Editor::uri("a.mok") });
    let asked = json!({ "textDocument": document, "position": place(FILE, "Pair", 0),
        "context": { "includeDeclaration": true } });
    let id = editor.send("textDocument/references", asked.clone());
    editor.tell("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(&json!(id))["error"]["code"], -32800);
    // What was found until then is not taken for all.
    let all = editor.ask("textDocument/references", asked);
    assert_eq!(all.as_array().unwrap().len(), 2);
}

/// Layers of three files: a stack of another file says who is below and above.
const TOP: &str = "vocabulary Words { up rang(times: u8)  down asks(who: u8) }
worker Top {
    speaks Words
    publish mtu: u32 = below.mtu - 1
    on send(msg) { below.asks(below.room as% u8)  below.send(msg) }
    on rang(times) { if times > 3 { above.rang(times) } }
    on deliver(msg) { above.deliver(msg) }
}
bundle Topped = Top
";
const LOW: &str = "use \"top.mok\"
worker Passes { on deliver(msg) { above.deliver(msg) } }
worker Low {
    speaks Words
    publish mtu: u32 = below.mtu - 2
    publish room: u32 = 7
    on asks(who) { above.rang(who) }
    on send(msg) { if below[0].mtu > 5 { below.send(msg) } else { drop msg: big } }
    on deliver(msg) { above.deliver(msg)  above.rang(2) }
}
worker Other { publish mtu: u32 = 3  on send(msg) { below.send(msg) } }
";
const STACKS: &str = "use \"top.mok\"
use \"low.mok\"
stack S(device: Device) { app = Topped over passes  passes = Passes over low  low = Low over device  export app }
";

/// `below.mtu` led to the layer's own `mtu`, and to those of all layers.
#[test]
fn what_a_neighbour_declares_is_that_of_the_stacks() {
    let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
    let files = [("top.mok", TOP), ("low.mok", LOW), ("stacks.mok", STACKS)];
    let world = files.iter().fold(world, |world, (name, text)| world.with_file(&format!("/p/{name}"), *text));
    let mut editor = Editor::unborn(world);
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///p", "name": "p" }] }));
    files.iter().for_each(|(name, text)| editor.open_silently(name, text));
    let mut led = |name: &str, needle: &str, word: &str| {
        let text = files.iter().find(|(known, _)| *known == name).unwrap().1;
        let mut at = place(text, needle, 0);
        at["character"] = json!(at["character"].as_u64().unwrap() + needle.find(word).unwrap() as u64);
        let mut found = defined(&mut editor, name, &at);
        found.sort();
        let lines = found.iter().map(|(name, line, _)| {
            let text = files.iter().find(|(known, _)| known == name).unwrap().1;
            text.lines().nth(*line as usize).unwrap().trim().split([':', '{']).next().unwrap().trim().to_string()
        });
        let references = ask(&mut editor, "textDocument/references", name, &at);
        assert_eq!(references.as_array().unwrap().len(), found.len(), "{needle}");
        (lines.collect::<Vec<_>>(), hover(&mut editor, name, &at))
    };
    let (places, text) = led("top.mok", "below.mtu - 1", "mtu");
    assert_eq!(places, ["publish mtu"]);
    assert!(text.contains("below.mtu - 2") && text.contains("of `worker Low`"), "{text}");
    let (places, text) = led("top.mok", "below.send(msg)", "send");
    assert_eq!(places, ["on send(msg)"]);
    assert!(text.contains("of `worker Low`"), "{text}");
    assert_eq!(led("top.mok", "below.room", "room").0, ["publish room"]);
    // The vocabulary's declaration, and the handler.
    assert_eq!(led("top.mok", "below.asks", "asks").0, ["on asks(who)", "vocabulary Words"]);
    assert_eq!(led("low.mok", "above.rang(who)", "rang").0, ["vocabulary Words", "on rang(times)"]);
    // Those between that handle it are nearer.
    let (places, text) = led("low.mok", "above.deliver(msg)  above", "deliver");
    assert_eq!(places, ["worker Passes"]);
    assert!(text.contains("on deliver(msg)") && text.contains("of `worker Passes`"), "{text}");
    assert_eq!(led("low.mok", "above.deliver(msg) } }\nworker Low", "deliver").0, ["on deliver(msg)"]);
    // Devices have no text; nor does a layer that stands nowhere.
    for (needle, word, said) in [
        ("below.mtu - 2", "mtu", "what a layer below publishes, or the device"),
        ("below[0].mtu", "mtu", "what a layer below publishes, or the device"),
        ("below.send(msg) } }\n", "send", "an event of the language, for the layer below"),
    ] {
        let (places, text) = led("low.mok", needle, word);
        assert_eq!(places, [""; 0], "{needle}");
        assert!(text.contains(said), "{text}");
    }
    let (_, text) = led("low.mok", "below.send(msg) } }\n", "send");
    assert!(text.contains("No stack has this layer."), "{text}");
    let (_, text) = led("low.mok", "below.mtu - 2", "mtu");
    assert!(text.contains("No layer below declares it in the stacks that have this one."), "{text}");
    // Where it is handled it is declared.
    assert_eq!(led("low.mok", "on send(msg) { if", "send").0, ["on send(msg)"]);
}

/// A hover comes often: other files are only read for it if the document's own do not say who the neighbours are.
#[test]
fn a_hover_looks_no_further_than_it_must() {
    let world = Shared::default();
    world.write("/p/other.mok", b"// About Low.\n").unwrap();
    let layers = "worker Low { publish room: u32 = 3 }\nworker High { on send(msg) { if below.room > 2 { below.send(msg) } else { drop msg: big } } }\n";
    let stack = "stack S(device: Device) { app = High over low  low = Low over device  export app }\n";
    let reads = |text: &str, method: &str| {
        let mut editor = Editor::unborn(world.clone());
        let folders = json!([{ "uri": "file:///p", "name": "p" }]);
        editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": folders }));
        editor.open("a.mok", text);
        world.1.lock().unwrap().clear();
        ask(&mut editor, method, "a.mok", &place(text, "room >", 0));
        let done = world.1.lock().unwrap();
        done.iter().filter(|line| line.starts_with("read") && line.contains("other.mok")).count()
    };
    let whole = format!("{layers}{stack}");
    assert_eq!(reads(&whole, "textDocument/hover"), 0);
    assert!(reads(&whole, "textDocument/definition") > 0 && reads(layers, "textDocument/hover") > 0);
}

/// Words for values, and what the language has everywhere.
const OF_THE_LANGUAGE: [&str; 28] = [
    "above", "below", "checksum", "clamp", "end", "flow", "fold16", "header", "listener", "max", "message", "min",
    "now", "option", "packet", "payload", "pseudo", "random", "refuse", "size", "again", "device", "local", "remote",
    "quota", "_", "me", "view",
];

/// Every name in the code of the library has a definition: if a new construct does not record its names, this test
/// shows it. Exceptions are containers that no layer of the library has (they are read where they are used), reasons,
/// and elements of lists in wires.
#[test]
fn names_in_the_code_of_the_library_lead_somewhere() {
    let folder = repository().join("library");
    let checked = compile::check(&RealWorld, &[folder.to_string_lossy().into_owned()]).unwrap();
    let mentions = &checked.program.mentions;
    let known: BTreeSet<Span> = mentions.iter().flat_map(|mention| [mention.at, mention.of]).collect();
    let (mut all, mut lost) = (0, Vec::new());
    for root in &checked.roots {
        let source = checked.sources.file(*root);
        let tree = mokume_syntax::parse(*root, &source.text).syntax();
        for token in tree.descendants_with_tokens().filter_map(|element| element.into_token()) {
            let is_value = token.parent().is_some_and(|parent| parent.kind() == SyntaxKind::NAME_EXPR);
            if token.kind() != SyntaxKind::IDENT || !is_value || source.name.contains("/containers/") {
                continue;
            }
            all += 1;
            let at = mokume_syntax::ast::token_span(&token, *root);
            if !known.contains(&at) && !OF_THE_LANGUAGE.contains(&token.text()) {
                let line = checked.sources.line_column(*root, at.start).0;
                lost.push(format!("{} {}:{line}", token.text(), source.name.rsplit('/').next().unwrap()));
            }
        }
    }
    assert!(all > 4000 && lost.len() < 80, "{} of {all}: {lost:#?}", lost.len());
}

/// It led to the handler of that name, and hover showed it.
#[test]
fn the_word_of_a_statement_is_no_name() {
    let text = "worker Idle {
    entity { timer quiet }
    on start { start quiet after 10 ms }
    on send(msg) { below.send(msg) }
    on expiry quiet { below.send(message(\"?\")) }
    on deliver(msg) { if running quiet { stop quiet }  above.deliver(msg) }
}
";
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", text);
    assert_eq!(defined(&mut editor, "a.mok", &place(text, "start", 0)).len(), 1);
    assert_eq!(defined(&mut editor, "a.mok", &place(text, "start", 1)), []);
    assert_eq!(hover(&mut editor, "a.mok", &place(text, "start", 1)), "");
    assert_eq!(defined(&mut editor, "a.mok", &place(text, "quiet", 1)).len(), 1);
}
