//! The pages as HTML: of items, of modules, of files, and the front page.

use std::collections::BTreeMap;
use std::fmt::Write;

use mokume_base::FileId;
use mokume_semantics::program::Program;
use mokume_syntax::SyntaxNode;

use crate::code::{escape, Highlighter};
use crate::item::{About, Fact, Item, Kind, GROUPS};
use crate::prose;
use crate::site::Site;

/// The most examples shown on a page; it lists the names of others.
const MOST_EXAMPLES: usize = 3;
/// The most further tests that a page names.
const MOST_NAMED: usize = 40;
/// Longer sources are folded.
const MOST_LINES: usize = 24;

/// Writes pages.
pub struct Pages<'a> {
    /// The addresses of the pages.
    pub site: &'a Site<'a>,
    /// The program, which resolves names.
    pub program: &'a Program,
    /// The syntax trees of all files.
    pub trees: &'a BTreeMap<FileId, SyntaxNode>,
    /// The title of the documentation.
    pub title: &'a str,
}

impl Pages<'_> {
    /// All pages, by their names relative to the root.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all = vec![("index.html".to_string(), self.first())];
        for (module, items) in self.site.modules() {
            all.push((self.site.module_page(module), self.module(module, &items)));
        }
        all.extend((0..self.site.items.len()).map(|at| (self.site.page(at).to_string(), self.item(at))));
        all.extend(self.site.files().map(|(file, page)| (page.to_string(), self.file(file))));
        all
    }

    /// The frame around a page's content. `up` leads to the root.
    fn frame(&self, up: &str, title: &str, body: &str) -> String {
        let (title, name) = (escape(title), escape(self.title));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width\">\n<title>{title} - {name}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <link rel=\"stylesheet\" href=\"{up}style.css\">\n</head>\n<body data-root=\"{up}\">\n<header><a class=\"home\" \
             href=\"{up}index.html\">{name}</a><input type=\"search\" id=\"search\" placeholder=\"search: press /\" \
             aria-label=\"search\" autocomplete=\"off\"></header>\n<ol id=\"found\" hidden></ol>\n<main>\n{body}</main>\n\
             <script src=\"{up}names.js\"></script>\n<script src=\"{up}search.js\"></script>\n</body>\n</html>\n"
        )
    }

    fn first(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", escape(self.title));
        for (module, items) in self.site.modules() {
            let page = self.site.module_page(module);
            let _ = writeln!(body, "<section><h2 id=\"{0}\"><a href=\"{page}\">{0}</a></h2>", escape(module));
            body += &self.table(&items, "");
            body += "</section>\n";
        }
        self.frame("", self.title, &body)
    }

    fn module(&self, module: &str, items: &[usize]) -> String {
        let mut body = format!("<h1><small>module</small> {}</h1>\n", escape(module));
        for kind in Kind::ALL {
            let of: Vec<usize> = items.iter().copied().filter(|at| self.site.items[*at].kind == kind).collect();
            if !of.is_empty() {
                let _ = writeln!(body, "<h2>{}</h2>", kind.plural());
                body += &self.table(&of, "../");
            }
        }
        let mut files: Vec<FileId> = items.iter().map(|at| self.site.items[*at].named.file).collect();
        files.sort_unstable();
        files.dedup();
        body += "<h2>Files</h2>\n<ul>\n";
        for (file, page) in self.site.files().filter(|(file, _)| files.contains(file)) {
            let _ = writeln!(body, "<li><a href=\"../{page}\">{}</a></li>", escape(self.site.short(file)));
        }
        body += "</ul>\n";
        self.frame("../", module, &body)
    }

    /// A table of items, one row each.
    fn table(&self, items: &[usize], up: &str) -> String {
        let mut out = String::from("<table class=\"items\">\n");
        for at in items {
            let item = &self.site.items[*at];
            let summary = prose::html_of(&item.summary(), self.site, Some(*at));
            // The links of a summary start from a folder, not from the root.
            let summary = if up.is_empty() { summary.replace("href=\"../", "href=\"") } else { summary };
            let _ = writeln!(
                out,
                "<tr><td class=\"kind\">{}</td><td><a href=\"{up}{}\">{}</a></td><td>{summary}</td></tr>",
                escape(&item.word),
                self.site.page(*at),
                escape(&item.name),
            );
        }
        out + "</table>\n"
    }

    fn item(&self, at: usize) -> String {
        let item = &self.site.items[at];
        let module = self.site.module_of(at);
        let place = format!("{}:{}", self.site.short(item.named.file), self.site.line(item.named));
        let source = self.site.source(item.named).unwrap_or_default();
        let mut body = format!(
            "<p class=\"path\"><a href=\"../{}\">{}</a> <a class=\"place\" href=\"../{source}\">{}</a></p>\n\
             <h1><small>{}</small> {}</h1>\n",
            self.site.module_page(module),
            escape(module),
            escape(&place),
            escape(&item.word),
            escape(&item.name)
        );
        let _ = writeln!(body, "<div class=\"doc\">{}</div>", prose::html_of(&item.doc, self.site, Some(at)));
        let _ = writeln!(body, "<pre class=\"head\">{}</pre>", escape(&item.head));
        body += &self.parameters(item);
        body += &self.pictures(item);
        for (title, abouts) in GROUPS {
            body += &self.facts((title, abouts), item, at);
        }
        body += &self.examples(item);
        body += &self.source(item);
        self.frame("../", &item.name, &body)
    }

    fn parameters(&self, item: &Item) -> String {
        if item.parameters.is_empty() {
            return String::new();
        }
        let mut out = String::from(
            "<h2 id=\"parameters\">Parameters</h2>\n<table>\n<tr><th>name</th><th>type</th><th>default</th></tr>\n",
        );
        for parameter in &item.parameters {
            let default = match &parameter.default {
                Some(default) => format!("<code>{}</code>", escape(default)),
                None => "must be given".to_string(),
            };
            let _ = writeln!(
                out,
                "<tr id=\"parameters.{0}\"><td><code>{0}</code></td><td>{1}</td><td>{default}</td></tr>",
                escape(&parameter.name),
                self.typed(&parameter.ty),
            );
        }
        out + "</table>\n"
    }

    /// A type, as a link if it is an item.
    fn typed(&self, ty: &str) -> String {
        let text = format!("<code>{}</code>", escape(ty));
        match self.site.mentioned(ty, None) {
            Some(to) => format!("<a href=\"../{}\">{text}</a>", self.site.page(to)),
            None => text,
        }
    }

    fn pictures(&self, item: &Item) -> String {
        if item.pictures.is_empty() {
            return String::new();
        }
        let svg = mokume_draw::headers_svg(&item.name, &item.pictures);
        let text = mokume_draw::headers_text(&item.pictures);
        format!(
            "<h2 id=\"header\">Header</h2>\n<figure>{svg}</figure>\n<details><summary>as text</summary><pre>{}</pre></details>\n",
            escape(&text)
        )
    }

    /// The facts under one heading, one row each; the first column names the subject.
    fn facts(&self, (title, abouts): (&str, &[About]), item: &Item, at: usize) -> String {
        if abouts.iter().all(|about| item.about(*about).is_empty()) {
            return String::new();
        }
        let mut out = format!("<h2>{title}</h2>\n");
        if abouts == [About::UsedBy] {
            let links = item.about(About::UsedBy).iter().map(|fact| self.fact_link(fact, &escape(&fact.says)));
            return out + &format!("<p id=\"used_by\">{}</p>\n", links.collect::<Vec<_>>().join(", "));
        }
        out += "<table class=\"facts\">\n";
        for about in abouts {
            for fact in item.about(*about) {
                out += &self.fact(*about, fact, at);
            }
        }
        out + "</table>\n"
    }

    fn fact(&self, about: About, fact: &Fact, at: usize) -> String {
        let name = self.fact_link(fact, &format!("<code>{}</code>", escape(&fact.name)));
        let line = self.site.source(fact.at).map_or(String::new(), |link| {
            format!("<a class=\"place\" href=\"../{link}\">{}</a>", self.site.line(fact.at))
        });
        let doc = match fact.doc.is_empty() {
            true => String::new(),
            false => prose::html_of(&fact.doc, self.site, Some(at)),
        };
        let (word, title, says) = (about.word(), about.title(), escape(&fact.says));
        let id = escape(&fact.name);
        format!(
            "<tr id=\"{word}.{id}\"><td class=\"kind\">{title}</td><td>{name}</td><td><code>{says}</code>{doc}</td><td>{line}</td></tr>\n"
        )
    }

    fn fact_link(&self, fact: &Fact, html: &str) -> String {
        match fact.of.and_then(|of| self.site.link(of)) {
            Some(link) => format!("<a href=\"../{link}\">{html}</a>"),
            None => html.to_string(),
        }
    }

    fn highlighter(&self) -> Highlighter<'_> {
        Highlighter { site: self.site, program: self.program }
    }

    fn examples(&self, item: &Item) -> String {
        if item.examples.is_empty() {
            return String::new();
        }
        let mut out = String::from("<h2 id=\"examples\">Examples: tests that it passes</h2>\n");
        for example in item.examples.iter().take(MOST_EXAMPLES) {
            let Some(root) = self.trees.get(&example.at.file) else { continue };
            let link = self.site.source(example.at).unwrap_or_default();
            let _ = writeln!(
                out,
                "<p><a href=\"../{link}\">{}</a></p>\n<pre class=\"code\">{}</pre>",
                escape(&example.name),
                self.highlighter().part(root, example.at)
            );
        }
        let others = item.examples.get(MOST_EXAMPLES..).unwrap_or_default();
        if !others.is_empty() {
            let _ = writeln!(out, "<details><summary>{} more</summary><ul>", others.len());
            for example in others.iter().take(MOST_NAMED) {
                let link = self.site.source(example.at).unwrap_or_default();
                let _ = writeln!(out, "<li><a href=\"../{link}\">{}</a></li>", escape(&example.name));
            }
            if others.len() > MOST_NAMED {
                let _ = writeln!(out, "<li>and {} more</li>", others.len() - MOST_NAMED);
            }
            out += "</ul></details>\n";
        }
        out
    }

    fn source(&self, item: &Item) -> String {
        let Some(root) = self.trees.get(&item.whole.file) else { return String::new() };
        let code = format!("<pre class=\"code\">{}</pre>", self.highlighter().part(root, item.whole));
        let open = if code.lines().count() <= MOST_LINES { " open" } else { "" };
        format!("<h2 id=\"source\">Source</h2>\n<details{open}><summary>all of it</summary>{code}</details>\n")
    }

    fn file(&self, file: FileId) -> String {
        let name = self.site.short(file);
        let code = self.trees.get(&file).map_or(String::new(), |root| self.highlighter().file(root, file));
        let body = format!("<h1><small>file</small> {}</h1>\n<pre class=\"code file\">{code}</pre>\n", escape(name));
        self.frame("../", name, &body)
    }
}
