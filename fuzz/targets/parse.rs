//! The parser: the tree's text is the source's, whatever the source is.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let parse = mokume_syntax::parse(mokume_base::FileId(0), text);
    assert_eq!(parse.syntax().text().to_string(), text, "the tree keeps every letter");
});
