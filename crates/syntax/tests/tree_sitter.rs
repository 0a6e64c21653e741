//! The grammar for tree-sitter reads what the compiler reads. Each file of the repository that the parser accepts has a
//! tree without an error; comments, texts and numbers are coloured as the lexer classifies them, and the words of
//! declarations as keywords.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_base::FileId;
use mokume_syntax::lexer::lex;
use mokume_syntax::{parse_fragment, Fragment, SyntaxKind, SyntaxNode};
use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};
use tree_sitter_language::LanguageFn;

use crate::repository::files;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/tree-sitter-mokume")
}

/// The generated parser, compiled as editors do it; `None` if there is no C compiler.
fn language() -> Option<Language> {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tree-sitter-mokume-{}.so", std::process::id()));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-std=c11", "-Wall", "-Werror", "-o"]).arg(&made);
    cc.arg("-I").arg(folder().join("src")).arg(folder().join("src/parser.c"));
    let Ok(compiled) = cc.status() else {
        println!("SKIPPED: there is no C compiler `cc`");
        return None;
    };
    assert!(compiled.success(), "the generated parser does not compile");
    // SAFETY: the file was just compiled from a parser that tree-sitter generated; its one function takes nothing.
    let function = unsafe {
        let library = Box::leak(Box::new(libloading::Library::new(&made).unwrap()));
        LanguageFn::from_raw(*library.get::<unsafe extern "C" fn() -> *const ()>(b"tree_sitter_mokume").unwrap())
    };
    let _ = std::fs::remove_file(&made);
    Some(function.into())
}

fn parser(language: &Language) -> Parser {
    let mut parser = Parser::new();
    parser.set_language(language).expect("a version of the form that this library reads");
    parser
}

fn highlights(language: &Language) -> Query {
    query(language, &std::fs::read_to_string(folder().join("queries/highlights.scm")).unwrap())
}

fn query(language: &Language, text: &str) -> Query {
    Query::new(language, text).unwrap_or_else(|error| panic!("{error}"))
}

/// By octet, the name of the last capture of the innermost node, as editors choose it.
fn colours<'q>(query: &'q Query, parser: &mut Parser, text: &str) -> Vec<&'q str> {
    let tree = parser.parse(text, None).unwrap();
    let mut all = vec![""; text.len()];
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        let captures = one.captures.iter();
        found.extend(captures.map(|capture| (capture.node.byte_range(), one.pattern_index, capture.index)));
    }
    // Outer nodes first; for one node the later pattern last.
    found.sort_by_key(|(range, pattern, _)| (range.start, usize::MAX - range.end, *pattern));
    for (range, _, capture) in found {
        all[range].fill(query.capture_names()[capture as usize]);
    }
    all
}

fn is_read(text: &str) -> Option<SyntaxNode> {
    let parse = parse_fragment(FileId(0), text, Fragment::File);
    parse.diagnostics.is_empty().then(|| parse.syntax())
}

/// The texts of all files that the compiler's parser accepts.
fn texts() -> Vec<(PathBuf, String, SyntaxNode)> {
    let all = ["library", "tests", "examples", "crates", "benches", "docs", "editors"].into_iter().flat_map(files);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let node = is_read(&text)?;
        Some((path, text, node))
    };
    all.filter_map(read).collect()
}

#[test]
fn every_file_that_is_read_has_a_tree_without_a_mistake() {
    let Some(language) = language() else { return };
    let mut parser = parser(&language);
    let texts = texts();
    assert!(texts.len() > 500, "{} files", texts.len());
    let wrong = |text: &str, parser: &mut Parser| parser.parse(text, None).unwrap().root_node().has_error();
    for (path, text, _) in &texts {
        assert!(!wrong(text, &mut parser), "{}", path.display());
    }
    // Planted: an octet too many, or one too few.
    let whole = &texts[0].1;
    assert!(wrong(&format!("{whole}}}\n"), &mut parser));
    let last = whole.rfind('}').expect("a brace");
    assert!(wrong(&[&whole[..last], &whole[last + 1..]].concat(), &mut parser));
}

/// The lexer's class of a token, as the name of a capture; `None` if only the parser knows.
fn of_token(kind: SyntaxKind) -> Option<&'static str> {
    match kind {
        SyntaxKind::COMMENT => Some("comment"),
        SyntaxKind::DOC_COMMENT => Some("comment.documentation"),
        SyntaxKind::STRING | SyntaxKind::HEX_STRING => Some("string"),
        SyntaxKind::NUMBER | SyntaxKind::DOTTED | SyntaxKind::COLONS => Some("number"),
        _ => None,
    }
}

#[test]
fn comments_texts_and_numbers_are_coloured_as_the_lexer_reads_them() {
    let Some(language) = language() else { return };
    let (query, mut parser) = (highlights(&language), parser(&language));
    let mut compared = 0;
    let mut wrong = Vec::new();
    for (path, text, _) in texts() {
        let found = colours(&query, &mut parser, &text);
        for token in lex(FileId(0), &text).0 {
            let range = token.start as usize..token.end as usize;
            let others = ["comment", "comment.documentation", "string", "string.escape", "number"];
            let right = match of_token(token.kind) {
                Some("string") => found[range.clone()].iter().all(|name| name.starts_with("string")),
                Some(wanted) => found[range.clone()].iter().all(|name| *name == wanted),
                None => found[range.clone()].iter().all(|name| !others.contains(name)),
            };
            compared += 1;
            if !right {
                wrong.push(format!(
                    "{}: `{}` is {:?}, {:?}",
                    path.display(),
                    &text[range.clone()],
                    token.kind,
                    found[range.start]
                ));
            }
        }
    }
    assert!(compared > 200_000, "{compared} tokens");
    assert!(wrong.is_empty(), "{} of {compared}: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

/// The first word of a node of these kinds is a keyword.
const BEGIN_WITH_A_WORD: [SyntaxKind; 38] = {
    use SyntaxKind::*;
    [
        USE,
        CONST,
        TYPE_ALIAS,
        RECORD,
        ENUM,
        ATTRIBUTE,
        SERVICE,
        FUNCTION,
        LAYER,
        BUNDLE,
        SIGNATURE,
        VOCABULARY,
        WIRE,
        STACK,
        NETWORK,
        TEST,
        CONTAINER,
        PART,
        SUITE,
        HEADER,
        KEY,
        SCOPE,
        OBJECT,
        PUBLISH,
        HANDLER,
        VAR,
        TIMER,
        COUNTER,
        LET_STMT,
        WHILE_STMT,
        FOR_STMT,
        RETURN_STMT,
        DROP_STMT,
        CONSUME_STMT,
        COUNT_STMT,
        START_STMT,
        IF,
        MATCH,
    ]
};

/// For each kind of node, how many words are coloured differently from how the compiler reads them: keywords as names,
/// names as keywords.
fn words(query: &Query, parser: &mut Parser) -> BTreeMap<String, (usize, usize, String)> {
    let mut all: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
    for (path, text, root) in texts() {
        let found = colours(query, parser, &text);
        for node in root.descendants() {
            let begins = BEGIN_WITH_A_WORD.contains(&node.kind());
            if !begins && !matches!(node.kind(), SyntaxKind::NAME | SyntaxKind::NAME_EXPR) {
                continue;
            }
            let mut tokens = node.children_with_tokens().filter_map(|element| element.into_token());
            let Some(word) = tokens.find(|token| token.kind() == SyntaxKind::IDENT) else { continue };
            let start = usize::from(word.text_range().start());
            let is_keyword = found[start].starts_with("keyword");
            let entry = all.entry(format!("{:?}", node.kind())).or_default();
            entry.0 += 1;
            if is_keyword != begins {
                entry.1 += 1;
                let line = text[..start].matches('\n').count() + 1;
                entry.2 = format!("{}:{line}: {}", path.display(), word.text());
            }
        }
    }
    all
}

#[test]
fn words_are_keywords_where_the_compiler_reads_them_as_such() {
    let Some(language) = language() else { return };
    let mut parser = parser(&language);
    let counted = words(&highlights(&language), &mut parser);
    for (kind, (count, wrong, example)) in &counted {
        println!("{kind:14} {count:6} {wrong:4} {example}");
    }
    let kinds: Vec<_> = BEGIN_WITH_A_WORD.iter().filter(|kind| !counted.contains_key(&format!("{kind:?}"))).collect();
    assert!(kinds.is_empty(), "no file has {kinds:?}");
    for (kind, (count, wrong, example)) in &counted {
        // One token ahead does not always decide it: `let n = count` before a line that begins with a name.
        assert!(wrong * 50 <= *count, "{kind}: {wrong} of {count}, {example}");
    }
    // Planted: without the line of handlers.
    let text = std::fs::read_to_string(folder().join("queries/highlights.scm")).unwrap();
    let less: Vec<&str> = text.lines().filter(|line| !line.starts_with("(handler ")).collect();
    assert_eq!(less.len() + 1, text.lines().count());
    let (count, wrong, _) = &words(&query(&language, &less.join("\n")), &mut parser)["HANDLER"];
    assert_eq!(count, wrong);
}

#[test]
fn all_queries_fit_the_grammar() {
    let Some(language) = language() else { return };
    let files = std::fs::read_dir(folder().join("queries")).unwrap().flatten();
    let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
    assert!(texts.len() >= 4 && texts.iter().all(|text| query(&language, text).pattern_count() > 0));
    assert!(Query::new(&language, "(statement) @keyword").is_err());
}
