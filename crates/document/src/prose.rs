//! Documentation comments as HTML. They are Markdown; a name in backquotes becomes a link if an item has that name.

use pulldown_cmark::{html, CowStr, Event, Options, Parser};

use crate::code::escape;
use crate::site::Site;

/// The HTML of a text about the item `from`, for a page in a folder of the site.
pub fn html_of(text: &str, site: &Site<'_>, from: Option<usize>) -> String {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    let events = parser.map(|event| match event {
        Event::Code(code) => Event::InlineHtml(linked(&code, site, from).into()),
        // HTML in a comment is shown as text.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

/// `Ports` as a link, if another item has this name.
fn linked(code: &CowStr<'_>, site: &Site<'_>, from: Option<usize>) -> String {
    let text = format!("<code>{}</code>", escape(code));
    // A parameter's name is never a link, even if an item has the same name.
    let is_parameter = |at: usize| site.items[at].parameters.iter().any(|parameter| parameter.name == **code);
    if from.is_some_and(is_parameter) {
        return text;
    }
    match site.mentioned(code, from).filter(|to| Some(*to) != from) {
        Some(to) => format!("<a href=\"../{}\">{text}</a>", site.page(to)),
        None => text,
    }
}
