//! `mokume explain`: the page of a diagnostic's code, from the crate that gives it.

/// A code's page.
#[derive(Clone, Debug)]
pub struct Page {
    pub code: &'static str,
    pub title: &'static str,
    pub text: String,
}

/// All pages, by code.
pub fn pages() -> Vec<Page> {
    let front = mokume_syntax::CODES
        .iter()
        .chain(mokume_semantics::codes::all())
        .chain(mokume_lower::codes::CODES)
        .chain(mokume_compose::codes::CODES)
        .chain(crate::natives::CODES);
    let front = front.map(|(code, title, text)| Page { code, title, text: (*text).to_string() });
    let form = mokume_reaction::codes::CODES.iter().map(|page| Page {
        code: page.code.0,
        title: page.title,
        text: format!("{}\n\n    {}", page.page, page.example.replace('\n', "\n    ")),
    });
    let mut pages: Vec<Page> = front.chain(form).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// The page of a code, as `M0401` or `m0401`.
pub fn page(code: &str) -> Option<Page> {
    pages().into_iter().find(|page| page.code.eq_ignore_ascii_case(code))
}
