//! For any text, the parser ends without a panic, keeps every octet, and respects its nesting limit.

use crate::common::{self, checked, fenced};
use mokume_base::{FileId, Random};
use mokume_syntax::{parse, Fragment, SyntaxNode};

/// The text as pieces to mutate: tokens with the blanks between them.
fn pieces(text: &str) -> Vec<String> {
    let (tokens, _) = mokume_syntax::lexer::lex(FileId(0), text);
    tokens.iter().map(|token| text[token.start as usize..token.end as usize].to_string()).collect()
}

fn mutate_tokens(pieces: &mut Vec<String>, other: &[String], random: &mut Random) {
    let (a, b) = (random.place(pieces.len()), random.place(pieces.len()));
    match random.place(5) {
        0 => drop(pieces.remove(a)),
        1 => pieces.insert(b, pieces[a].clone()),
        2 => pieces.swap(a, b),
        3 => pieces.insert(a, other[random.place(other.len())].clone()),
        _ => pieces.truncate(a + 1),
    }
}

fn mutate_characters(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let (a, b) = (random.place(characters.len()), random.place(characters.len()));
    match random.place(4) {
        0 => drop(characters.remove(a)),
        1 => characters.insert(b, characters[a]),
        2 => characters.swap(a, b),
        _ => characters[a] = ['\0', '"', '{', ')', '\'', '€', '\n', '/', '?', '\u{301}'][random.place(10)],
    }
    characters.into_iter().collect()
}

#[test]
fn twenty_thousand_mutations_keep_every_octet() {
    let examples: Vec<(Vec<String>, Fragment)> =
        fenced().iter().map(|example| (pieces(&example.text), example.what)).collect();
    let everything: Vec<String> = examples.iter().flat_map(|(pieces, _)| pieces.clone()).collect();
    let mut random = Random::new(0x6d6f_6b75_6d65);
    let mut with_diagnostics = 0;
    for round in 0..20_000 {
        let (original, what) = &examples[round % examples.len()];
        let mut mutated = original.clone();
        for _ in 0..=random.place(4) {
            if mutated.len() > 1 {
                mutate_tokens(&mut mutated, &everything, &mut random);
            }
        }
        let mut text = mutated.concat();
        if random.place(2) == 0 && !text.is_empty() {
            text = mutate_characters(&text, &mut random);
        }
        with_diagnostics += usize::from(!checked(&text, *what).diagnostics.is_empty());
    }
    assert!(
        with_diagnostics > 15_000,
        "only {with_diagnostics} mutations were noticed: do they still change anything?"
    );
}

/// The planted fault of the round trip: a tree of another text is noticed.
#[test]
#[should_panic(expected = "the tree has lost text")]
fn lost_text_is_noticed() {
    let parse = parse(FileId(0), "worker W {  }");
    common::same_text(&parse, "worker W { }");
}

fn depth_of(root: &SyntaxNode) -> usize {
    let mut deepest = 0;
    let mut depth = 0usize;
    for event in root.preorder() {
        match event {
            rowan::WalkEvent::Enter(_) => depth += 1,
            rowan::WalkEvent::Leave(_) => depth -= 1,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Texts that would nest ten thousand deep, by construct.
fn deep_texts() -> Vec<(&'static str, String)> {
    let n = 10_000;
    let handler = |body: String| format!("worker W {{\n on send(msg) {{\n{body}\n }}\n}}\n");
    let mut texts: Vec<(&'static str, String)> =
        ["{", "(", "[", "if a {", "f(", "a[", "!", "not ", "(a, ", "match a { b => {"]
            .into_iter()
            .flat_map(|opening| {
                [("statement", handler(opening.repeat(n))), ("value", handler(format!("x = {}", opening.repeat(n))))]
            })
            .collect();
    texts.push(("file", "{".repeat(n)));
    texts.push(("file", "(".repeat(n)));
    texts.push(("sum", handler(format!("x = a{}", " + a".repeat(n)))));
    texts.push(("fields", handler(format!("x = a{}", ".b".repeat(n)))));
    texts.push(("casts", handler(format!("x = a{}", " as u8".repeat(n)))));
    texts.push(("calls", handler(format!("x = a{}", "()".repeat(n)))));
    texts.push(("else", handler(format!("if a {{ }}{}", " else if a { }".repeat(n)))));
    texts.push(("records", handler(format!("x = {}", "A { b: ".repeat(n)))));
    texts.push(("left", handler(format!("x = {}a{}", "(".repeat(150), " + b)".repeat(150)))));
    let mut branches = "a".to_string();
    for _ in 0..40 {
        branches = format!("(if c {{ {branches} }} else {{ a }}){}", " + a".repeat(100));
    }
    texts.push(("branches", handler(format!("x = {branches}"))));
    texts.push(("random", format!("wire W {{ {}", "random a { 1 => B { ".repeat(n))));
    texts.push(("type", format!("type A = {}", "[".repeat(n))));
    texts.push(("type", format!("type A = {}", "[(".repeat(n))));
    texts
}

#[test]
fn nesting_is_bounded_and_said() {
    for (name, text) in deep_texts() {
        let parse = checked(&text, Fragment::File);
        assert!(!parse.diagnostics.is_empty() || name == "left", "{name}: nothing was said");
        assert!(parse.diagnostics.len() < 1_000, "{name}: {} diagnostics", parse.diagnostics.len());
        let depth = depth_of(&parse.syntax());
        assert!(depth < 1_500, "{name}: the tree is {depth} deep");
    }
}

#[test]
fn nesting_too_deeply_has_a_message_of_its_own() {
    for opening in ["if a {", "(", "!", "f("] {
        let text = format!("worker W {{ on send(msg) {{ x = {} }} }}", opening.repeat(10_000));
        let codes: Vec<&str> = parse(FileId(0), &text).diagnostics.iter().map(|d| d.code.0).collect();
        assert!(codes.contains(&"M0111"), "{opening}: {codes:?}");
    }
}

#[test]
fn branches_beyond_the_limit_are_one_mistake() {
    let others = " else if a { drop m: x }".repeat(300);
    let text = format!("worker W {{\n on send(m) {{\n if a {{ drop m: x }}{others}\n }}\n}}\n");
    let codes: Vec<&str> = parse(FileId(0), &text).diagnostics.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["M0111"]);
}

/// Time is linear in the text: the work of tree and parser is counted in tokens.
#[test]
fn a_long_file_is_read_whole() {
    let layer = "worker W {\n    session { var a: u32 = 0 }\n    on send(msg) { a += 1  below.send(msg) }\n}\n";
    let text = layer.repeat(5_000);
    let parse = checked(&text, Fragment::File);
    assert!(parse.diagnostics.is_empty());
    assert_eq!(parse.file().items().len(), 5_000);
}
