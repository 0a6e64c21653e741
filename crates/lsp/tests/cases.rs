//! Cases as readable files (`crates/lsp/tests/cases`): a text with a cursor `$0`, the request, and the server's answer.
//!
//! A case begins with `==== name`, then `? request argument`. Other files of the folder follow after `@@ name`, the
//! answer after `----`. `BLESS=1` writes the server's current answers: review the changes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mokume_base::world::MemoryWorld;
use serde_json::{json, Value};

use crate::editor::{range, Editor, HOME};

/// How many cases there are at least: one that is lost is noticed.
const AT_LEAST: usize = 150;

struct Case {
    name: String,
    request: String,
    argument: String,
    text: String,
    /// Offset of `$0` in the text, from which it is removed.
    cursor: usize,
    others: Vec<(String, String)>,
    answer: String,
}

impl Case {
    fn read(case: &str) -> Case {
        let (name, rest) = case.split_once('\n').expect("a name");
        let (request, rest) = rest.strip_prefix("? ").and_then(|rest| rest.split_once('\n')).expect("`? request`");
        let (request, argument) = request.split_once(' ').unwrap_or((request, ""));
        let (files, answer) = rest.split_once("\n----\n").expect("`----` and an answer");
        let mut files = files.split("\n@@ ");
        let text = format!("{}\n", files.next().unwrap());
        let cursor = text.find("$0").unwrap_or(0);
        let other = |file: &str| {
            let (name, text) = file.split_once('\n').expect("a file's name");
            (name.to_string(), format!("{text}\n"))
        };
        Case {
            name: name.to_string(),
            request: request.to_string(),
            argument: argument.to_string(),
            text: text.replacen("$0", "", 1),
            cursor,
            others: files.map(other).collect(),
            answer: answer.trim_end().to_string(),
        }
    }

    fn text_of(&self, file: &str) -> Option<&str> {
        let other = || self.others.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str());
        (file == "a.mok").then_some(self.text.as_str()).or_else(other)
    }

    fn position(&self) -> Value {
        let before = &self.text[..self.cursor];
        let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
        json!({ "line": before.matches('\n').count(), "character": column })
    }

    /// The server's answer in readable form.
    fn answered(&self) -> String {
        let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
        let world =
            self.others.iter().fold(world, |world, (name, text)| world.with_file(&format!("/p/{name}"), text.as_str()));
        let mut editor = Editor::unborn(world);
        let can = json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
        let folders = json!([{ "uri": HOME, "name": "p" }]);
        let can = editor.ask("initialize", json!({ "capabilities": can, "workspaceFolders": folders }));
        editor.open("a.mok", &self.text);
        let document = json!({ "uri": Editor::uri("a.mok") });
        let here = json!({ "textDocument": document, "position": self.position() });
        let of = |method: &str| format!("textDocument/{method}");
        let mut at = |method: &str| editor.ask(&of(method), here.clone());
        match self.request.as_str() {
            "hover" => at("hover")["contents"]["value"].as_str().unwrap_or("nothing").to_string(),
            "definition" => self.places(&at("definition")),
            "highlights" => self.places(&at("documentHighlight")),
            "references" => {
                let mut asked = here.clone();
                asked["context"] = json!({ "includeDeclaration": self.argument != "without" });
                self.places(&editor.ask("textDocument/references", asked))
            }
            "completion" => self.completion(&at("completion")),
            "signature" => signatures(&at("signatureHelp")),
            "hints" => {
                let all = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
                let asked = json!({ "textDocument": document, "range": all });
                self.hints(&editor.ask("textDocument/inlayHint", asked))
            }
            "lenses" => lenses(&editor.ask("textDocument/codeLens", json!({ "textDocument": document }))),
            "folds" => folds(&editor.ask("textDocument/foldingRange", json!({ "textDocument": document }))),
            "selection" => {
                let asked = json!({ "textDocument": document, "positions": [self.position()] });
                self.selection(&editor.ask("textDocument/selectionRange", asked)[0])
            }
            "symbols" => {
                let mut lines = String::new();
                outline(&editor.ask("textDocument/documentSymbol", json!({ "textDocument": document })), 0, &mut lines);
                lines
            }
            "search" => {
                let found = editor.ask("workspace/symbol", json!({ "query": self.argument }));
                let named =
                    |found: &Value| format!("{} {}", found["name"].as_str().unwrap(), self.place(&found["location"]));
                found.as_array().unwrap().iter().map(named).collect::<Vec<_>>().join("\n")
            }
            "tokens" => {
                let legend = &can["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
                let found = editor.ask("textDocument/semanticTokens/full", json!({ "textDocument": document }));
                self.tokens(&found, legend)
            }
            "actions" => {
                let end = self.position();
                let asked = json!({ "textDocument": document, "range": { "start": end, "end": end },
                    "context": { "diagnostics": [] } });
                let mut asked = asked;
                if !self.argument.is_empty() {
                    asked["context"]["only"] = json!([self.argument]);
                }
                self.actions(&editor.ask("textDocument/codeAction", asked))
            }
            "rename" => {
                let mut asked = here.clone();
                asked["newName"] = json!(self.argument);
                match editor.ask_or_refusal("textDocument/rename", asked) {
                    Ok(Value::Null) => "nothing".to_string(),
                    Ok(edit) => self.edited(&edit),
                    Err((_, why)) => format!("refused: {why}"),
                }
            }
            "format" => {
                let asked = json!({ "textDocument": document, "options": { "tabSize": 4, "insertSpaces": true } });
                match editor.ask_or_refusal("textDocument/formatting", asked) {
                    Ok(edits) => applied(&self.text, &edits),
                    Err((_, why)) => format!("refused: {why}"),
                }
            }
            "diagnostics" => {
                let file = |uri: &str| uri.rsplit('/').next().unwrap().to_string();
                let all = editor.diagnostics.iter();
                let all = all.flat_map(|(uri, found)| found.iter().map(move |found| (file(uri), found)));
                let all: Vec<String> = all.map(|(file, found)| format!("{file}:{}", self.diagnostic(found))).collect();
                if all.is_empty() {
                    "nothing".to_string()
                } else {
                    all.join("\n")
                }
            }
            other => panic!("`{}`: there is no request `{other}`", self.name),
        }
        .trim_end()
        .to_string()
    }

    // ---- answers as text ----

    /// `a.mok:3:5 word`, counted from 1.
    fn place(&self, location: &Value) -> String {
        let [line, from, to_line, to] = range(&location["range"]);
        let uri = location["uri"].as_str().unwrap_or("file:///p/a.mok");
        let file = match uri.split_once("/library/") {
            Some((_, inside)) => {
                return format!(
                    "library/{inside} {}",
                    if line == to_line && to > from { "a word" } else { "its beginning" }
                )
            }
            None => uri.rsplit('/').next().unwrap().to_string(),
        };
        let text = self.text_of(&file).unwrap_or("");
        let content = text.lines().nth(line as usize).unwrap_or("");
        let word: String = content.chars().skip(from as usize).take((to - from) as usize).collect();
        format!("{file}:{}:{} {word}", line + 1, from + 1).trim_end().to_string()
    }

    fn places(&self, found: &Value) -> String {
        let found = found.as_array().cloned().unwrap_or_default();
        match found.is_empty() {
            true => "nothing".to_string(),
            false => found.iter().map(|place| self.place(place)).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The proposals that begin with what is typed, with their details.
    fn completion(&self, found: &Value) -> String {
        let before = &self.text[..self.cursor];
        let from = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let typed = &before[from..];
        let shown = |found: &Value| {
            let label = found["label"].as_str()?;
            let detail = found["detail"].as_str().unwrap_or("").split('\n').next()?.to_string();
            label.starts_with(typed).then(|| format!("{label}  {detail}").trim_end().to_string())
        };
        let all: Vec<String> = found.as_array().into_iter().flatten().filter_map(shown).collect();
        if all.is_empty() {
            "nothing".to_string()
        } else {
            all.join("\n")
        }
    }

    fn hints(&self, found: &Value) -> String {
        let mut text = self.text.clone();
        for hint in found.as_array().into_iter().flatten().rev() {
            let at = offset(&self.text, &hint["position"]);
            text.insert_str(at, &format!("«{}»", hint["label"].as_str().unwrap()));
        }
        text
    }

    fn selection(&self, found: &Value) -> String {
        let mut lines = String::new();
        let mut at = found;
        while at.is_object() {
            let (from, to) = (offset(&self.text, &at["range"]["start"]), offset(&self.text, &at["range"]["end"]));
            writeln!(lines, "{}", self.text[from..to].replace('\n', "⏎")).unwrap();
            at = &at["parent"];
        }
        lines
    }

    /// Each word with its kind.
    fn tokens(&self, found: &Value, legend: &Value) -> String {
        let data: Vec<usize> =
            found["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect();
        let (mut line, mut column, mut last, mut shown) = (0, 0, 0, String::new());
        for token in data.chunks(5) {
            column = if token[0] > 0 { token[1] } else { column + token[1] };
            line += token[0];
            let content = self.text.lines().nth(line).unwrap();
            let word: String = content.chars().skip(column).take(token[2]).collect();
            shown.push_str(if line != last {
                "\n"
            } else if shown.is_empty() {
                ""
            } else {
                "  "
            });
            last = line;
            let declared = if token[4] & 1 == 1 { "!" } else { "" };
            write!(shown, "{word}:{}{declared}", legend[token[3]].as_str().unwrap()).unwrap();
        }
        shown
    }

    fn actions(&self, found: &Value) -> String {
        let mut shown = String::new();
        for action in found.as_array().into_iter().flatten() {
            writeln!(shown, "{}", action["title"].as_str().unwrap()).unwrap();
            match action["command"]["command"].as_str() {
                Some(command) => writeln!(shown, "runs {command}").unwrap(),
                None => writeln!(shown, "{}", self.edited(&action["edit"])).unwrap(),
            }
        }
        if shown.is_empty() {
            "nothing".to_string()
        } else {
            shown
        }
    }

    /// All files that an edit changes, with the changed texts.
    fn edited(&self, edit: &Value) -> String {
        let mut shown = String::new();
        for (uri, edits) in edit["changes"].as_object().unwrap() {
            let file = uri.rsplit('/').next().unwrap();
            write!(shown, "{file}:\n{}", applied(self.text_of(file).unwrap(), edits)).unwrap();
        }
        shown
    }

    fn diagnostic(&self, found: &Value) -> String {
        let [line, from, to_line, to] = range(&found["range"]);
        let severity = if found["severity"] == 1 { "error" } else { "warning" };
        let code = found["code"].as_str().unwrap_or("");
        let mut shown = format!(
            "{}:{}-{}:{} {severity} {code}: {}",
            line + 1,
            from + 1,
            to_line + 1,
            to + 1,
            found["message"].as_str().unwrap()
        );
        for related in found["relatedInformation"].as_array().into_iter().flatten() {
            write!(shown, "\nat {}: {}", self.place(&related["location"]), related["message"].as_str().unwrap())
                .unwrap();
        }
        shown
    }
}

fn signatures(found: &Value) -> String {
    let Some(all) = found["signatures"].as_array() else { return "nothing".to_string() };
    let mut shown = String::new();
    for (at, signature) in all.iter().enumerate() {
        let label = signature["label"].as_str().unwrap();
        let active =
            signature["activeParameter"].as_u64().and_then(|at| signature["parameters"][at as usize]["label"].as_str());
        let label = active.map_or(label.to_string(), |active| label.replacen(active, &format!("*{active}*"), 1));
        let mark = if found["activeSignature"] == json!(at) { "> " } else { "  " };
        writeln!(shown, "{mark}{label}").unwrap();
        if let Some(docs) = signature["documentation"]["value"].as_str() {
            writeln!(shown, "{docs}").unwrap();
        }
    }
    shown
}

fn lenses(found: &Value) -> String {
    let shown = |lens: &Value| {
        let command = &lens["command"];
        let line = lens["range"]["start"]["line"].as_u64().unwrap() + 1;
        let name = command["arguments"].get(1).and_then(Value::as_str).unwrap_or("");
        format!("{line}: {} {} {name}", command["title"].as_str().unwrap(), command["command"].as_str().unwrap())
    };
    let all: Vec<String> = found.as_array().into_iter().flatten().map(shown).collect();
    if all.is_empty() {
        "nothing".to_string()
    } else {
        all.join("\n")
    }
}

fn folds(found: &Value) -> String {
    let shown = |fold: &Value| {
        let kind = fold["kind"].as_str().unwrap_or("");
        let line = |of: &str| fold[of].as_u64().unwrap() + 1;
        format!("{}-{} {kind}", line("startLine"), line("endLine")).trim_end().to_string()
    };
    let all: Vec<String> = found.as_array().into_iter().flatten().map(shown).collect();
    if all.is_empty() {
        "nothing".to_string()
    } else {
        all.join("\n")
    }
}

fn outline(symbols: &Value, depth: usize, lines: &mut String) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let [line, ..] = range(&symbol["selectionRange"]);
        let (word, name) = (symbol["detail"].as_str().unwrap(), symbol["name"].as_str().unwrap());
        // `on send` is its name in the outline.
        let word = if name.starts_with(word) { String::new() } else { format!("{word} ") };
        writeln!(lines, "{}{word}{name} {}", "    ".repeat(depth), line + 1).unwrap();
        outline(&symbol["children"], depth + 1, lines);
    }
}

/// The offset of a position in UTF-16 columns.
fn offset(text: &str, position: &Value) -> usize {
    let (line, column) =
        (position["line"].as_u64().unwrap() as usize, position["character"].as_u64().unwrap() as usize);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    for (at, character) in text[start..].char_indices() {
        if units >= column || character == '\n' {
            return start + at;
        }
        units += character.len_utf16();
    }
    text.len()
}

/// The text after the edits.
pub fn applied(text: &str, edits: &Value) -> String {
    let mut edits: Vec<&Value> = edits.as_array().unwrap().iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(text, &edit["range"]["start"])));
    edits.iter().fold(text.to_string(), |mut new, edit| {
        let (from, to) = (offset(text, &edit["range"]["start"]), offset(text, &edit["range"]["end"]));
        new.replace_range(from..to, edit["newText"].as_str().unwrap());
        new
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn cases_are_answered_as_their_files_say() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut count, mut wrong) = (0, String::new());
    for file in files {
        let whole = std::fs::read_to_string(&file).unwrap();
        let (front, cases) = whole.split_once("==== ").expect("a case");
        let mut new = front.to_string();
        for case in cases.split("\n==== ") {
            let (head, _) = case.split_once("\n----\n").unwrap_or_else(|| panic!("no `----` in\n{case}"));
            let case = Case::read(case);
            let answer = case.answered();
            count += 1;
            write!(new, "==== {head}\n----\n{answer}\n\n").unwrap();
            if answer != case.answer {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                writeln!(wrong, "{name}, {}:\n--- wanted\n{}\n--- answered\n{answer}\n", case.name, case.answer)
                    .unwrap();
            }
        }
        if is_blessed {
            std::fs::write(&file, format!("{}\n", new.trim_end())).unwrap();
        }
    }
    assert!(is_blessed || wrong.is_empty(), "{wrong}");
    assert!(count >= AT_LEAST, "only {count} cases");
}
