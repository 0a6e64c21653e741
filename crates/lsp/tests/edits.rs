//! Edits that the server proposes: renaming, quick fixes; and its semantic tokens.

use std::collections::BTreeMap;

use mokume_base::world::MemoryWorld;
use mokume_driver::{check, compile};
use serde_json::{json, Value};

use crate::editor::{range, repository, Editor};
use crate::names::place;

const PART: &str = "record Pair { left: u8, right: u8 }\n";
const FILE: &str = r#"use "part.mok"
worker Counts {
    header { kind: u8, seq: u16 }
    uses Log
    session { var next: u16 = 0 }
    on send(msg) { below.send(msg, kind: 1, seq: next)  next += 1 }
    on deliver(msg, kind, seq) {
        let p = Pair { left: kind, right: 0 }
        if seq > next and p.left > 0 { next = seq }
        above.deliver(msg)
    }
}
wire Counting big { kind: u8 = Counts.kind  seq: u16 = Counts.seq }
bundle Counted = Counts encoded Counting
service Log { note(what: u8) }
"#;
const USER: &str = "use \"part.mok\"\nfn g(p: Pair) -> u8 { return p.left }\n";

fn world() -> MemoryWorld {
    MemoryWorld::new()
        .with_environment("XDG_CACHE_HOME", "/c")
        .with_file("/p/part.mok", PART)
        .with_file("/p/user.mok", USER)
        .with_file("/p/a.mok", FILE)
}

fn in_folder(world: MemoryWorld) -> Editor {
    let mut editor = Editor::unborn(world);
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///p", "name": "p" }] }));
    editor
}

fn rename(name: &str, at: &Value, new: &str) -> Value {
    json!({ "textDocument": { "uri": Editor::uri(name) }, "position": at, "newName": new })
}

/// The text after edits, each of which is on a single line.
fn applied(text: &str, edits: &Value) -> String {
    let mut edits: Vec<([u64; 4], String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| (range(&edit["range"]), edit["newText"].as_str().unwrap().to_string()))
        .collect();
    edits.sort();
    let mut lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    for ([line, from, to_line, to], new) in edits.into_iter().rev() {
        assert_eq!(line, to_line);
        let units: Vec<u16> = lines[line as usize].encode_utf16().collect();
        let part = |units: &[u16]| String::from_utf16(units).unwrap();
        lines[line as usize] = format!("{}{new}{}", part(&units[..from as usize]), part(&units[to as usize..]));
    }
    lines.join("\n")
}

#[test]
fn a_name_is_another_in_all_files() {
    let mut editor = in_folder(world());
    editor.open("a.mok", FILE);
    let changes =
        editor.ask("textDocument/rename", rename("a.mok", &place(FILE, "left", 0), "first"))["changes"].clone();
    let text = |name: &str, old: &str| applied(old, &changes[Editor::uri(name)]);
    assert_eq!(text("part.mok", PART), PART.replace("left", "first"));
    assert_eq!(text("user.mok", USER), USER.replace("left", "first"));
    assert_eq!(text("a.mok", FILE), FILE.replace("left", "first"));
    // For a header's field: the wire that carries it. The handler's parameter keeps its name, which is written out.
    let at = place(FILE, "seq: u16", 0);
    let changes = editor.ask("textDocument/rename", rename("a.mok", &at, "number"))["changes"].clone();
    let expected = FILE.replace("seq: u16 }", "number: u16 }").replace("seq: next", "number: next");
    let expected = expected.replace("kind, seq)", "kind, number: seq)").replace("Counts.seq", "Counts.number");
    assert_eq!(applied(FILE, &changes[Editor::uri("a.mok")]), expected);
}

/// Only what is renamed changes: another thing that shares its name in a shorthand keeps it.
#[test]
fn a_shorthand_is_written_out() {
    const FILE: &str = r#"record Told { id: u8, name: u8 }
worker Asks {
    header { Ask { id: u8 } with message | Tell { id: u8, name: u8 } with message }
    object Known[id: u8] capacity 4 { var _seen: u8 = 0 }
    on send(msg) {
        let id = 3
        below.send(msg, Ask { id })
    }
    on deliver(msg, Ask { id }) { below.send(msg, Tell { id, name: id }) }
    on deliver(msg, Tell { id, name }) {
        let told = Told { id, name }
        if let known = Known[id] { known._seen = told.id } else { }
        above.deliver(msg)
    }
}
bundle Asking = Asks encoded Asked
wire Asked big {
    what: u8
    choice what {
        1 => Ask { id: u8 = Asks.Ask.id }
        2 => Tell { id: u8 = Asks.Tell.id  name: u8 = Asks.Tell.name }
    }
}
stack S(device: Device) { app = Asking over device  export app }
test "t" {
    stack S
    app.send_to("a")
    => device.frame(Asked { what: 1, id: ?id } "a")
    device.frame(Asked { what: 1, id } "b")
    => device.frame(Asked { what: 2, id, name: id } "b")
}
"#;
    let mut editor = in_folder(world());
    editor.open("a.mok", FILE);
    assert_eq!(editor.codes("a.mok"), [""; 0]);
    let mut renamed = |needle: &str, changes: &[(&str, &str)]| {
        let edits =
            editor.ask("textDocument/rename", rename("a.mok", &place(FILE, needle, 0), "zz"))["changes"].clone();
        let new = applied(FILE, &edits[Editor::uri("a.mok")]);
        let expected = changes.iter().fold(FILE.to_string(), |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        assert_eq!(new, expected, "{needle}");
        same(FILE, &new, needle);
    };
    // The field of a header's alternative.
    renamed(
        "id: u8 } with",
        &[
            ("Ask { id: u8 } with", "Ask { zz: u8 } with"),
            ("send(msg, Ask { id })", "send(msg, Ask { zz: id })"),
            ("deliver(msg, Ask { id })", "deliver(msg, Ask { zz: id })"),
            ("Asks.Ask.id", "Asks.Ask.zz"),
        ],
    );
    // A local that is read, and one that a handler binds.
    renamed("id = 3", &[("let id", "let zz"), ("send(msg, Ask { id })", "send(msg, Ask { id: zz })")]);
    let bound = [
        ("deliver(msg, Tell { id, name })", "deliver(msg, Tell { id: zz, name })"),
        ("Told { id, name }\n", "Told { id: zz, name }\n"),
        ("Known[id] {", "Known[zz] {"),
    ];
    renamed("id, name }) {", &bound);
    renamed("id, name }\n", &bound);
    renamed("id] { known", &bound);
    // A record's field.
    renamed(
        "id: u8, name",
        &[
            ("Told { id: u8", "Told { zz: u8"),
            ("Told { id, name }\n", "Told { zz: id, name }\n"),
            ("told.id", "told.zz"),
        ],
    );
    // What a test binds, and a wire's field: those of one name in its alternatives are one in tests.
    renamed(
        "id } \"a\"",
        &[("?id", "?zz"), ("1, id }", "1, id: zz }"), ("2, id, name: id }", "2, id: zz, name: zz }")],
    );
    renamed(
        "id: u8 = Asks.Ask",
        &[
            ("Ask { id: u8 = ", "Ask { zz: u8 = "),
            ("Tell { id: u8 = ", "Tell { zz: u8 = "),
            ("1, id: ?id", "1, zz: ?id"),
            ("1, id }", "1, zz: id }"),
            ("2, id,", "2, zz: id,"),
        ],
    );
}

#[test]
fn what_would_mean_something_else_is_not_renamed() {
    let mut editor = in_folder(world());
    editor.open("a.mok", FILE);
    let mut refused = |at: &Value, new: &str| editor.refused("textDocument/rename", rename("a.mok", at, new));
    let next = place(FILE, "next:", 0);
    for new in ["", "two words", "if", "7up", "seq-no", "a.b"] {
        assert_eq!(refused(&next, new).0, -32803, "{new}");
    }
    // The handler has a local of that name.
    let (_, why) = refused(&next, "p");
    assert!(why.contains("name of something else") || why.contains("would be wrong"), "{why}");
    let (_, why) = refused(&place(FILE, "kind: u8", 0), "seq");
    assert!(why.contains("would be wrong"), "{why}");
    let (_, why) = refused(&place(FILE, "deliver", 0), "brought");
    assert!(why.contains("not this program's to say"), "{why}");
    let at = json!({ "textDocument": { "uri": Editor::uri("a.mok") }, "position": place(FILE, "u16", 0) });
    assert_eq!(editor.refused("textDocument/prepareRename", at).0, -32803);
    let at = json!({ "textDocument": { "uri": Editor::uri("a.mok") }, "position": next });
    assert_eq!(editor.ask("textDocument/prepareRename", at)["placeholder"], "next");
    let asks = "worker W {\n    header { Ask { id: u8 } | Tell { id: u8 } }\n}\n";
    editor.open("c.mok", asks);
    let (_, why) = editor.refused("textDocument/rename", rename("c.mok", &place(asks, "Ask", 0), "ask"));
    assert!(why.contains("begins with a capital letter"), "{why}");
    let library = "use udp\nbundle Mine = Udp\n";
    editor.open("b.mok", library);
    let (_, why) = editor.refused("textDocument/rename", rename("b.mok", &place(library, "Udp", 0), "Mdp"));
    assert!(why.contains("Mokume's own library"), "{why}");
}

/// Renaming preserves programs. Names in files of the repository are changed, and the programs must keep their meaning:
/// no new diagnostics, and equal automata except for the name.
#[test]
fn long_lists_of_programs_mean_the_same_with_other_names() {
    let folder = repository().join("tests/program");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "mok"));
    names.sort();
    let step = std::env::var("MOKUME_RENAMES").ok().and_then(|step| step.parse().ok()).unwrap_or(9);
    let (mut done, mut refused) = (0, Vec::new());
    for (at, path) in names.iter().enumerate().filter(|(at, _)| at % step == 0) {
        let text = std::fs::read_to_string(path).unwrap();
        if text.contains("use \"") {
            continue;
        }
        let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c").with_file("/p/a.mok", text.as_str());
        let mut editor = in_folder(world);
        editor.open_silently("a.mok", &text);
        let mut symbols = Vec::new();
        let outline =
            editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": Editor::uri("a.mok") } }));
        flatten(&outline, &mut symbols);
        for (name, [line, column, ..]) in symbols.into_iter().skip(at % 3).step_by(3) {
            let place = json!({ "line": line, "character": column });
            let new = if name.starts_with(char::is_uppercase) { "RenamedZz" } else { "renamed_zz" };
            let id = editor.send("textDocument/rename", rename("a.mok", &place, new));
            let answer = editor.answer(&json!(id));
            if answer.get("error").is_some() {
                refused.push(format!("{name} of {}: {}", path.display(), answer["error"]["message"]));
                continue;
            }
            let new = applied(&text, &answer["result"]["changes"][Editor::uri("a.mok")]);
            same(&text, &new, &path.display().to_string());
            done += 1;
        }
    }
    // Names that match across layers by their text (`open(…, iss: e)`) and names of the library are refused, with a reason.
    let reasons = ["would be wrong", "match it", "is called otherwise in", "Mokume's own library"];
    let told = |why: &&String| reasons.iter().any(|reason| why.contains(reason));
    let unexpected: Vec<_> = refused.iter().filter(|why| !told(why)).collect();
    assert!(done > 20 && unexpected.is_empty() && refused.len() * 5 < done, "{done} renamed, refused: {refused:#?}");
}

/// A program of a seed: layers with headers, state, functions, wires and bundles, on each other in a stack.
fn generated(seed: u64) -> String {
    use std::fmt::Write as _;
    let mut random = mokume_base::Random::new(seed);
    let count = 1 + random.below(4);
    let (mut text, mut stack, mut below) = (String::new(), String::new(), "device".to_string());
    for i in 0..count {
        let (most, step, has_object) = (random.below(200), 1 + random.below(9), random.below(2) == 0);
        let _ = writeln!(text, "const MOST{i}: u8 = {most}\nrecord Pair{i} {{ left{i}: u8, right{i}: u16 }}");
        // With alternatives, fields stand in braces, where their names may be those of values.
        let has_others = random.below(2) == 0;
        let fields = format!("kind{i}: u8, seq{i}: u16");
        let (header, owner) = match has_others {
            true => (format!("Data{i} {{ {fields} }} with message | Other{i}"), format!("Layer{i}.Data{i}")),
            false => (fields, format!("Layer{i}")),
        };
        let in_braces = |fields: &str| match has_others {
            true => format!("Data{i} {{ {fields} }}"),
            false => fields.to_string(),
        };
        let _ = writeln!(text, "worker Layer{i}(most{i}: u8 = MOST{i}) {{\n    header {{ {header} }}");
        let _ = writeln!(text, "    entity {{ var next{i}: u16 = {step}  counter high{i} }}");
        if has_object {
            let _ =
                writeln!(text, "    object Seen{i}[number{i}: u16] capacity 4 evict oldest {{ var times{i}: u8 = 0 }}");
        }
        let _ = writeln!(text, "    fn after{i}(given{i}: u16) -> u16 {{ return given{i} +% next{i} }}");
        let _ = writeln!(text, "    on send(msg) {{\n        let own{i} = after{i}({step})  let kind{i} = most{i}");
        let kind = if has_others { format!("kind{i}") } else { format!("kind{i}: kind{i}") };
        let said = in_braces(&format!("{kind}, seq{i}: own{i}"));
        let _ = writeln!(text, "        below.send(msg, {said})  next{i} = own{i}\n    }}");
        let _ = writeln!(text, "    on deliver(msg, {}) {{", in_braces(&format!("kind{i}, seq{i}")));
        if has_others {
            text.insert_str(text.rfind("    on deliver").unwrap(), &format!("    on deliver(Other{i}) {{ }}\n"));
        }
        let _ = writeln!(text, "        let left{i} = kind{i}");
        let _ = writeln!(text, "        let pair{i} = Pair{i} {{ left{i}, right{i}: seq{i} }}");
        if has_object {
            let _ = writeln!(text, "        let seen{i} = Seen{i}[seq{i}] or new {{\n            drop msg: full{i}\n            return\n        }}");
            let _ = writeln!(text, "        if seen{i}.times{i} < 255 {{ seen{i}.times{i} += 1 }}");
        }
        let _ = writeln!(text, "        if pair{i}.left{i} > MOST{i} or pair{i}.right{i} == {step} {{\n            count high{i}\n            drop msg: bad{i}\n        }} else {{ above.deliver(msg) }}\n    }}\n}}");
        let carried = format!("kind: u8 = {owner}.kind{i}  seq: u16 = {owner}.seq{i}");
        let carried = match has_others {
            true => format!("what: u8  choice what {{\n    1 => Data{i} {{ {carried} }}\n    2 => Other{i} {{ }}\n}}"),
            false => carried,
        };
        let _ = writeln!(text, "wire Wire{i} big {{ {carried} }}");
        let _ = writeln!(text, "bundle Bundle{i} = Layer{i} encoded Wire{i}");
        let _ = writeln!(stack, "    part{i} = Bundle{i} over {below}");
        below = format!("part{i}");
    }
    format!("{text}stack Whole(device: Device) {{\n{stack}    export {below}\n}}\n")
}

/// Stacks made at random: each name of each renamed, and laid out, they are the same programs, and each name leads to
/// itself and to all its uses.
#[test]
fn stacks_made_at_random_mean_the_same_renamed_and_laid_out() {
    let (mut done, mut refused) = (0, Vec::new());
    for seed in 0..4 {
        let text = generated(seed);
        let mut editor = in_folder(MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c"));
        editor.open("a.mok", &text);
        assert_eq!(editor.codes("a.mok"), [""; 0], "{text}");
        let document = json!({ "uri": Editor::uri("a.mok") });
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let edits = editor.ask("textDocument/formatting", json!({ "textDocument": document, "options": options }));
        let laid_out = crate::cases::applied(&text, &edits);
        same(&text, &laid_out, &format!("seed {seed}, laid out"));
        let mut symbols = Vec::new();
        flatten(&editor.ask("textDocument/documentSymbol", json!({ "textDocument": document })), &mut symbols);
        assert!(symbols.len() > 8, "{symbols:?}");
        for (at, (name, [line, column, ..])) in symbols.into_iter().enumerate() {
            let place = json!({ "line": line, "character": column });
            let asked =
                json!({ "textDocument": document, "position": place, "context": { "includeDeclaration": true } });
            let uses = editor.ask("textDocument/references", asked);
            let is_itself = |found: &Value| range(&found["range"])[..2] == [line, column];
            assert!(uses.as_array().unwrap().iter().any(is_itself), "seed {seed}: {name}: {uses}");
            // A third of them a seed: each is checked twice over.
            if at as u64 % 3 != seed % 3 {
                continue;
            }
            let new = if name.starts_with(char::is_uppercase) { "RenamedZz" } else { "renamed_zz" };
            match editor.ask_or_refusal("textDocument/rename", rename("a.mok", &place, new)) {
                Ok(answer) => {
                    let edits = &answer["changes"][Editor::uri("a.mok")];
                    // It is its uses that change, and nothing else.
                    let (changed, used) = (edits.as_array().unwrap().len(), uses.as_array().unwrap().len());
                    assert_eq!(changed, used, "seed {seed}: {name}");
                    same(&text, &applied(&text, edits), &format!("seed {seed}: {name}"));
                    done += 1;
                }
                Err((_, why)) => refused.push(format!("{name}: {why}")),
            }
        }
        // From any word, locals and shorthands too: those of the generator have a number, but for reasons.
        let is_ours = |word: &str| word.ends_with(|c: char| c.is_ascii_digit()) && !word.starts_with(['u', 'b', 'f']);
        let is_ours = |word: &str| is_ours(word) && !word.starts_with(|c: char| c.is_ascii_digit());
        let mut words = Vec::new();
        for (line, content) in text.lines().enumerate() {
            let mut column = 0;
            for word in content.split(|c: char| !c.is_ascii_alphanumeric()) {
                words.extend(is_ours(word).then(|| (word, json!({ "line": line, "character": column }))));
                column += word.len() + 1;
            }
        }
        for (name, place) in words.into_iter().skip(seed as usize).step_by(11) {
            let new = if name.starts_with(char::is_uppercase) { "RenamedZz" } else { "renamed_zz" };
            let answer = editor.ask("textDocument/rename", rename("a.mok", &place, new));
            let edits = &answer["changes"][Editor::uri("a.mok")];
            same(&text, &applied(&text, edits), &format!("seed {seed}: {name} at {place}"));
            done += 1;
        }
    }
    assert!(done > 80 && refused.is_empty(), "{done} renamed, refused: {refused:#?}");
}

fn flatten(symbols: &Value, found: &mut Vec<(String, [u64; 4])>) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let detail = symbol["detail"].as_str().unwrap();
        if !matches!(detail, "on" | "test" | "publish" | "suite") {
            found.push((symbol["name"].as_str().unwrap().to_string(), range(&symbol["selectionRange"])));
        }
        flatten(&symbol["children"], found);
    }
}

/// Equal numbers of diagnostics of each code, and equal counts in each stack's automaton.
fn same(old: &str, new: &str, what: &str) {
    let of = |text: &str| {
        let checked = compile::check_texts(&MemoryWorld::new(), vec![("/p/a.mok".into(), text.into())], Vec::new());
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        check::without_c(&checked).iter().for_each(|found| *codes.entry(found.code.0).or_default() += 1);
        let program = &checked.program;
        let stacks: Vec<Option<(usize, usize)>> = (0..program.stacks.len())
            .map(|index| compile::compile_to_write(&checked, mokume_driver::StackId(index as u32)).0)
            .map(|compiled| {
                compiled.map(|compiled| {
                    let operations = compiled
                        .uncomposed
                        .handlers
                        .iter()
                        .map(|handler| format!("{:?}", handler.body.blocks.len()).len());
                    (compiled.uncomposed.handlers.len(), operations.sum())
                })
            })
            .collect();
        (codes, stacks)
    };
    assert_eq!(of(old), of(new), "{what}");
}

#[test]
fn ways_out_that_are_said_word_for_word_are_edits() {
    let cases = [
        (
            "worker A { on deliver(msg) { above.deliver(mgs) } }\n",
            "write `msg`",
            "worker A { on deliver(msg) { above.deliver(msg) } }\n",
        ),
        ("bundle Mine = Udp\n", "add `use udp`", "use udp\n\nbundle Mine = Udp\n"),
        ("use thin\nbundle Mine = Udp\n", "add `use udp`", "use thin\nuse udp\nbundle Mine = Udp\n"),
    ];
    for (text, title, expected) in cases {
        let mut editor = Editor::with_files(&[]);
        editor.open("a.mok", text);
        let diagnostics = editor.diagnostics[&Editor::uri("a.mok")].clone();
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let asked = json!({ "textDocument": { "uri": Editor::uri("a.mok") }, "range": whole, "context": { "diagnostics": diagnostics } });
        let actions = editor.ask("textDocument/codeAction", asked);
        let action = actions.as_array().unwrap().iter().find(|action| action["title"] == title);
        let action = action.unwrap_or_else(|| panic!("{title}: {actions} of {diagnostics:?}"));
        let edits = &action["edit"]["changes"][Editor::uri("a.mok")];
        assert_eq!(applied(text, edits), expected);
        assert_eq!(action["diagnostics"].as_array().unwrap().len(), 1);
    }
}

/// Every fix proposed for an intentionally wrong file corrects its mistake.
#[test]
fn every_fix_mends_its_mistake() {
    let folder = repository().join("tests/check");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "mok"));
    names.sort();
    let (mut all, mut wrong) = (0, Vec::new());
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("M02") {
            continue;
        }
        let mut editor = Editor::with_files(&[]);
        editor.open("a.mok", &text);
        let before = editor.diagnostics.get(&Editor::uri("a.mok")).cloned().unwrap_or_default();
        let lines = text.lines().count();
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": lines, "character": 0 } });
        let asked = json!({ "textDocument": { "uri": Editor::uri("a.mok") }, "range": whole, "context": { "diagnostics": before } });
        let actions = editor.ask("textDocument/codeAction", asked);
        for action in actions.as_array().unwrap() {
            all += 1;
            let new = applied(&text, &action["edit"]["changes"][Editor::uri("a.mok")]);
            editor.change("a.mok", &new);
            editor.settle();
            let after = editor.diagnostics.get(&Editor::uri("a.mok")).cloned().unwrap_or_default();
            let found = &action["diagnostics"][0]["message"];
            if after.iter().any(|left| {
                &left["message"] == found
                    && left["range"]["start"]["line"] == action["diagnostics"][0]["range"]["start"]["line"]
            }) {
                wrong.push(format!("{}: {} leaves {found}", path.display(), action["title"]));
            }
        }
    }
    assert!(all > 20 && wrong.is_empty(), "{all} fixes: {wrong:#?}");
}

#[test]
fn each_word_is_said_to_be_what_it_is() {
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open("a.mok", FILE);
    let legend = editor.can["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let tokens =
        editor.ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": Editor::uri("a.mok") } }));
    let data: Vec<u64> = tokens["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
    let lines: Vec<&str> = FILE.lines().collect();
    let (mut line, mut column) = (0, 0);
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for token in data.chunks(5) {
        column = if token[0] > 0 { token[1] } else { column + token[1] };
        line += token[0];
        let word = &lines[line as usize][column as usize..(column + token[2]) as usize];
        kinds.entry(word.to_string()).or_default().push(legend[token[3] as usize].as_str().unwrap().to_string());
    }
    let of = |word: &str| kinds[word].join(" ");
    assert_eq!(of("worker"), "keyword");
    assert_eq!(of("Counts"), "class class class class");
    assert_eq!(of("next"), "variable variable variable variable variable");
    assert_eq!(of("left"), "property property");
    assert_eq!(of("Pair"), "type");
    assert_eq!(of("\"part.mok\""), "string");
    assert_eq!(of("below"), "keyword");
}

/// Reasons were matched by their text: none could be renamed, and a use led to handlers that are called so.
#[test]
fn a_reason_is_another_wherever_it_is_named() {
    let text = |late: &str| {
        format!(
            "vocabulary Talk {{ reasons shut }}
worker Waits {{
    speaks Talk
    entity {{ var n: u8 = 0 }}
    on send(msg) {{ if n > 3 {{ drop msg: {late} }} else {{ below.send(msg) }} }}
    on deliver(msg) {{
        n +%= 1
        if n == 1 {{ drop msg: {late} }} else {{ if n == 2 {{ drop msg: shut }} else {{ above.deliver(msg) }} }}
    }}
}}
worker Other {{
    entity {{ var n: u8 = 0 }}
    on send(msg) {{ if n == 1 {{ drop msg: no_room }} else {{ below.send(msg) }} }}
    on deliver(msg) {{
        n +%= 1
        if n == 1 {{ drop msg: late }} else {{ above.deliver(msg) }}
    }}
}}
stack S(device: Device) {{
    app = Waits over device
    export app
}}
stack Both(device: Device) {{
    low = Other over device
    app = Waits over low
    export app
}}
test \"t\" {{
    stack S
    device.frame(\"a\")
    => nothing
    dropped {late} 1
    dropped app.{late} 0
}}
network N {{
    host a = Both()
    host b = Both()
    link l {{ a.device, b.device }}
    at 1 ms a.app.send_to(\"a\")
    expect dropped b.app.{late} 0
    expect dropped b.low.late 1
    until 5 ms
}}
"
        )
    };
    let before = text("late");
    let mut editor = in_folder(world());
    editor.open("a.mok", &before);
    assert_eq!(editor.codes("a.mok"), [""; 0]);
    for nth in 0..4 {
        let at = place(&before, "late", nth);
        if nth == 2 {
            continue;
        }
        let changes = editor.ask("textDocument/rename", rename("a.mok", &at, "tardy"))["changes"].clone();
        assert_eq!(applied(&before, &changes[Editor::uri("a.mok")]), text("tardy"), "{nth}");
    }
    let references = json!({ "textDocument": { "uri": Editor::uri("a.mok") }, "position": place(&before, "late", 1),
        "context": { "includeDeclaration": true } });
    let found = editor.ask("textDocument/references", references);
    assert_eq!(found.as_array().unwrap().len(), 5, "{found}");
    let shut =
        editor.ask("textDocument/rename", rename("a.mok", &place(&before, "shut", 1), "barred"))["changes"].clone();
    assert_eq!(applied(&before, &shut[Editor::uri("a.mok")]), before.replace("shut", "barred"));
    // The standard ones are not the program's.
    editor.refused("textDocument/rename", rename("a.mok", &place(&before, "no_room", 0), "full"));
}

/// A reason that its layer names once had neither hover nor uses nor a new name there, though tests in other files named it.
#[test]
fn a_reason_that_is_named_once_is_found_from_its_declaration() {
    let part = "vocabulary Talk {
    up   talked
    reasons bored
}
worker Once {
    speaks Talk
    on send(msg) {
        if msg.size > 3 { drop msg: once } else { below.send(msg) }
    }
    on deliver(msg) {
        above.talked()
        drop msg: heard
    }
}
stack S(device: Device) {
    app = Once over device
    export app
}
";
    let test = "use \"once.mok\"
test \"t\" {
    stack S
    app.send_to(\"a\")
    => device.frame(\"a\")
    app.send_to(\"abcd\")
    => nothing
    dropped once 1
    dropped app.once 1
}
";
    let world = world().with_file("/p/once.mok", part).with_file("/p/of_once.mok", test);
    let mut editor = in_folder(world);
    editor.open("once.mok", part);
    editor.open("of_once.mok", test);
    assert_eq!([editor.codes("once.mok"), editor.codes("of_once.mok")], [[""; 0], [""; 0]]);
    let declared = place(part, "once", 0);
    let asked = json!({ "textDocument": { "uri": Editor::uri("once.mok") }, "position": declared,
        "context": { "includeDeclaration": true } });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(found.as_array().unwrap().len(), 3, "{found}");
    let asked = json!({ "textDocument": { "uri": Editor::uri("once.mok") }, "position": declared,
        "context": { "includeDeclaration": false } });
    let found = editor.ask("textDocument/references", asked);
    assert_eq!(found.as_array().unwrap().len(), 2, "{found}");
    let asked = json!({ "textDocument": { "uri": Editor::uri("once.mok") }, "position": declared });
    let hover = editor.ask("textDocument/hover", asked).to_string();
    assert!(hover.contains("drop msg: once"), "{hover}");
    let changes = editor.ask("textDocument/rename", rename("once.mok", &declared, "single"))["changes"].clone();
    assert_eq!(applied(part, &changes[Editor::uri("once.mok")]), part.replace("drop msg: once", "drop msg: single"));
    let renamed = test.replace("dropped once", "dropped single").replace("app.once", "app.single");
    assert_eq!(applied(test, &changes[Editor::uri("of_once.mok")]), renamed);
    let changes =
        editor.ask("textDocument/rename", rename("once.mok", &place(part, "bored", 0), "dull"))["changes"].clone();
    assert_eq!(applied(part, &changes[Editor::uri("once.mok")]), part.replace("bored", "dull"));
}

/// A new name for `ended` let a layer count otherwise than before, as the compiler drops for it, too; so did a new name that
/// the layer already counts by.
#[test]
fn a_reason_that_the_compiler_counts_by_is_not_renamed() {
    let text = "worker Numbered {
    header { n: u8 }
    on send(msg) { below.send(msg, n: 1) }
    on deliver(msg, n) {
        if n == 1 { drop msg: mine } else if n == 2 { drop msg: ended } else { drop msg: other }
    }
}
stack S(device: Device) {
    app = Numbered over device
    export app
}
";
    let mut editor = in_folder(world());
    editor.open("a.mok", text);
    assert_eq!(editor.codes("a.mok"), [""; 0]);
    let refused = |editor: &mut Editor, old: &str, new: &str| {
        editor.refused("textDocument/rename", rename("a.mok", &place(text, old, 0), new)).1
    };
    assert!(refused(&mut editor, "ended", "over").contains("is not this program's to say"));
    for new in ["ended", "short", "unexpected", "no_room"] {
        let why = refused(&mut editor, "mine", new);
        assert!(why.contains("would mean another thing") || why.contains("already counts"), "{new}: {why}");
    }
    let changes = editor.ask("textDocument/rename", rename("a.mok", &place(text, "mine", 0), "own"))["changes"].clone();
    assert_eq!(applied(text, &changes[Editor::uri("a.mok")]), text.replace("mine", "own"));
}

/// Only its refusal said that a counter is named by its text, and not what to do.
#[test]
fn a_counter_that_tests_name_is_renamed_there_first() {
    let text = "worker Counts {
    entity { counter sent }
    on send(msg) {
        count sent
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = Counts over device
    export app
}
test \"t\" {
    stack S
    app.send_to(\"a\")
    => device.frame(\"a\")
    counter sent 1
}
network N {
    host a = S()
    host b = S()
    link l { a.device, b.device }
    at 1 ms a.app.send_to(\"x\")
    expect counter a.sent 1
    until 1 s
}
";
    for from in ["counter sent }", "count sent"] {
        let mut editor = in_folder(world());
        editor.open("a.mok", text);
        let at = |text: &str| {
            let mut at = place(text, from, 0);
            at["character"] = json!(at["character"].as_u64().unwrap() + from.find("sent").unwrap() as u64);
            at
        };
        let why = editor.refused("textDocument/rename", rename("a.mok", &at(text), "gone")).1;
        assert!(
            why.ends_with(
                "tests and networks name a counter by its text: write `gone` there first, then rename it here"
            ),
            "{why}"
        );
        // As it says.
        let first = text.replace("counter sent 1", "counter gone 1").replace("a.sent 1", "a.gone 1");
        let mut editor = in_folder(world());
        editor.open("a.mok", &first);
        let changes = editor.ask("textDocument/rename", rename("a.mok", &at(&first), "gone"))["changes"].clone();
        assert_eq!(applied(&first, &changes[Editor::uri("a.mok")]), text.replace("sent", "gone"));
    }
}

/// Between the two characters of a line's end is no position: of the last changed line the old end was left.
#[test]
fn a_document_with_other_ends_of_lines_is_laid_out_as_by_fmt() {
    let text =
        "worker A {\r\n  on send(msg) { below.send(msg) }\r\n    on deliver(msg) { above.deliver(msg) }\r\n}\r\n";
    let laid_out = "worker A {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n";
    for (nth, text) in
        [text, &text.replacen("\r\n}", "\n}", 1), &text.replacen("{\r\n", "{\n", 1), &laid_out.replace('\n', "\r\n")]
            .into_iter()
            .enumerate()
    {
        let name = format!("{nth}.mok");
        let mut editor = in_folder(world());
        editor.open(&name, text);
        let asked =
            json!({ "textDocument": { "uri": Editor::uri(&name) }, "options": { "tabSize": 4, "insertSpaces": true } });
        let edits = editor.ask("textDocument/formatting", asked);
        let edit = &edits[0];
        let [from_line, from, to_line, to] = range(&edit["range"]);
        let offset = |line: u64, column: u64| {
            let before: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
            let here = text[before..].split('\n').next().unwrap();
            before + here.trim_end_matches('\r').len().min(column as usize)
        };
        let [before, behind] = [&text[..offset(from_line, from)], &text[offset(to_line, to)..]];
        assert_eq!(format!("{before}{}{behind}", edit["newText"].as_str().unwrap()), laid_out, "{nth}");
    }
}
