//! Documentation comments as HTML: they are Markdown, and a name in backquotes that an item has leads to it.

use pulldown_cmark::{html, CowStr, Event, Options, Parser};

use crate::code::escape;
use crate::site::Site;

/// A text about an item, as HTML for a page in a folder of the site.
pub fn html_of(text: &str, site: &Site<'_>, from: Option<usize>) -> String {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    let events = parser.map(|event| match event {
        Event::Code(code) => Event::InlineHtml(linked(&code, site, from).into()),
        // Nothing that a comment has is markup of the page.
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

/// `Ports` as a link if an item is called so and is another one.
fn linked(code: &CowStr<'_>, site: &Site<'_>, from: Option<usize>) -> String {
    let text = format!("<code>{}</code>", escape(code));
    // A name of a parameter is that, whatever else is called so.
    let is_parameter = |at: usize| site.items[at].parameters.iter().any(|parameter| parameter.name == **code);
    if from.is_some_and(is_parameter) {
        return text;
    }
    match site.mentioned(code, from).filter(|to| Some(*to) != from) {
        Some(to) => format!("<a href=\"../{}\">{text}</a>", site.page(to)),
        None => text,
    }
}
