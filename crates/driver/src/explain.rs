//! `mokume explain`: the page of a diagnostic's code, from `docs/diagnostics`.

use include_dir::{include_dir, Dir};

pub use mokume_base::Page;

static PAGES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../docs/diagnostics");

/// All diagnostic codes, crate by crate.
pub fn codes() -> Vec<&'static str> {
    let crates = [
        mokume_syntax::CODES,
        mokume_semantics::codes::CODES,
        mokume_lower::codes::CODES,
        mokume_compose::codes::CODES,
        mokume_reaction::codes::CODES,
        crate::natives::CODES,
        crate::apart::CODES,
    ];
    crates.iter().copied().flatten().map(|code| code.0).collect()
}

/// All pages, by code.
pub fn pages() -> Vec<Page<'static>> {
    let mut pages: Vec<_> = PAGES.files().filter_map(|file| Page::read(file.contents_utf8()?)).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// The page of a code such as `M0401` or `m0401`.
pub fn page(code: &str) -> Option<Page<'static>> {
    pages().into_iter().find(|page| page.code.eq_ignore_ascii_case(code))
}
