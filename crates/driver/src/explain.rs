//! `mokume explain`: the page of a diagnostic's code, from `docs/diagnostics`.

use include_dir::{include_dir, Dir};

static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/diagnostics");

/// A code's page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Such as `M0401`.
    pub code: &'static str,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Markdown: why it is wrong, and what to write instead.
    pub text: String,
}

/// The codes that have a file there.
pub fn codes() -> Vec<&'static str> {
    mokume_syntax::CODES.iter().chain(mokume_semantics::codes::CODES).map(|code| code.0).collect()
}

/// All pages, by code.
pub fn pages() -> Vec<Page> {
    let files = PAGES.files().filter_map(|file| mokume_base::Page::read(file.contents_utf8()?));
    let files = files.map(|page| Page { code: page.code, title: page.title, text: page.text.to_string() });
    let whole = mokume_lower::codes::CODES.iter().chain(mokume_compose::codes::CODES).chain(crate::natives::CODES);
    let whole = whole.map(|(code, title, text)| Page { code, title, text: (*text).to_string() });
    let form = mokume_reaction::codes::CODES.iter().map(|page| Page {
        code: page.code.0,
        title: page.title,
        text: format!("{}\n\n    {}", page.page, page.example.replace('\n', "\n    ")),
    });
    let mut pages: Vec<Page> = files.chain(whole).chain(form).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// The page of a code, as `M0401` or `m0401`.
pub fn page(code: &str) -> Option<Page> {
    pages().into_iter().find(|page| page.code.eq_ignore_ascii_case(code))
}
