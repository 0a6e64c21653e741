//! A path as one HTML page: what each stage leaves of each layer, and the code beside its source lines. The page is
//! self-contained (no script, no external font or file), and follows the reader's light or dark mode.

use std::collections::HashSet;
use std::fmt::Write;

use crate::svg::{escape, FONT};

/// The content of the page.
#[derive(Clone, Debug, Default)]
pub struct PathPage {
    pub stack: String,
    pub event: String,
    /// The verdict on the path, a word.
    pub verdict: String,
    /// Where the likelihoods below come from, a phrase.
    pub by: String,
    /// The likelihood of each way of the path, the first way first.
    pub ways: Vec<f32>,
    pub layers: Vec<PathLayer>,
    pub codes: Vec<PathCode>,
    /// Ways that the path does not cover: their likelihood, what they meet, and where. The likeliest first.
    pub missed: Vec<(f32, String, Option<String>)>,
}

/// A layer on the way, or several that share their source lines.
#[derive(Clone, Debug, Default)]
pub struct PathLayer {
    pub name: String,
    /// By stage: the layers as they are, the path, the path with memos.
    pub stages: [PathCount; 3],
}

/// The counts of a layer on the likeliest way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathCount {
    pub operations: usize,
    /// Branches and exits.
    pub branches: usize,
}

/// The code of one stage.
#[derive(Clone, Debug, Default)]
pub struct PathCode {
    /// The option that produces it: `--fuse 1`.
    pub option: String,
    /// A phrase about this stage.
    pub says: String,
    pub path: Vec<PathGroup>,
    /// The memos that it recalls, by name.
    pub memos: Vec<(String, Vec<PathGroup>)>,
}

/// Lines of code that come from one source line.
#[derive(Clone, Debug, Default)]
pub struct PathGroup {
    /// Index into [`PathPage::layers`].
    pub layer: Option<usize>,
    /// `file:line`, and the text of that line.
    pub place: Option<(String, String)>,
    pub lines: Vec<PathLine>,
}

/// One line of code.
#[derive(Clone, Debug, Default)]
pub struct PathLine {
    pub text: String,
    /// Whether it is the head of a block.
    pub is_block: bool,
    pub exit: Option<PathExit>,
}

/// An exit of a path to the handlers, before it has any effect.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PathExit {
    /// The least and the greatest likelihood.
    Likely(f32, f32),
    /// Not expected.
    Unexpected,
    /// Taken if the recalled memo does not hold.
    Memo,
}

impl PathExit {
    /// `left 2.5 %`.
    pub fn words(self) -> String {
        match self {
            PathExit::Likely(least, most) if percent(least) == percent(most) => format!("left {}", percent(most)),
            PathExit::Likely(least, most) => format!("left {} to {}", percent(least), percent(most)),
            PathExit::Unexpected => "left: not expected".to_owned(),
            PathExit::Memo => "left: where the memo is".to_owned(),
        }
    }
}

/// The page as text.
pub fn path_page(page: &PathPage) -> String {
    let mut out = String::new();
    let title = escape(&format!("{} through {}", page.event, page.stack));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        style(page)
    );
    head(page, &mut out);
    stages(page, &mut out);
    layers(page, &mut out);
    codes(page, &mut out);
    missed(page, &mut out);
    out.push_str("</body>\n</html>\n");
    out
}

fn head(page: &PathPage, out: &mut String) {
    let (event, stack) = (escape(&page.event), escape(&page.stack));
    let _ = writeln!(out, "<header>\n<h1><code>{event}</code> <span>through {stack}</span></h1>");
    let ways = match &page.ways[..] {
        [] => String::new(),
        [one] => format!("One way, taken {} of the time.", escape(&percent(*one))),
        all => {
            let each: Vec<String> = all.iter().map(|likely| escape(&percent(*likely))).collect();
            format!("{} ways: {}; together {}.", all.len(), each.join(", "), percent(all.iter().sum()))
        }
    };
    let _ = writeln!(
        out,
        "<p>The usual way of this event through all layers as one piece of code: <strong>{}</strong>. {ways} \
         Likelihoods are {}. Where the path is left it has done nothing yet, and the layers’ handlers run.</p>\n</header>",
        escape(&page.verdict),
        escape(&page.by)
    );
}

/// What each stage removes.
fn stages(page: &PathPage, out: &mut String) {
    let sum = |stage: usize| {
        let counts = page.layers.iter().map(|layer| layer.stages[stage]);
        counts.fold(PathCount::default(), |all, one| PathCount {
            operations: all.operations + one.operations,
            branches: all.branches + one.branches,
        })
    };
    let says = ["the layers as they are", "one path through them", "what seldom changes is remembered"];
    out.push_str("<section class=\"stages\" aria-label=\"Stages\">\n");
    let first = sum(0);
    for (stage, says) in says.iter().enumerate() {
        let count = sum(stage);
        let before = sum(stage.max(1) - 1);
        let removed = match stage {
            0 => "what the likeliest way passes; reading or writing a header is one of them".to_owned(),
            _ => format!(
                "{}, {}",
                change(before.operations, count.operations, "operations"),
                change(before.branches, count.branches, "branches")
            ),
        };
        let part = 100.0 * count.operations as f32 / first.operations.max(1) as f32;
        let _ = writeln!(
            out,
            "<div><h2><code>--fuse {stage}</code> {says}</h2><p class=\"count\"><b>{}</b> operations, <b>{}</b> branches</p>\
             <p class=\"bar\"><i style=\"width:{:.1}%\"></i></p><p>{removed}</p></div>",
            count.operations,
            count.branches,
            part.min(100.0)
        );
    }
    out.push_str("</section>\n");
}

/// `89 operations fewer`.
fn change(before: usize, now: usize, what: &str) -> String {
    match now <= before {
        true => format!("{} {what} fewer", before - now),
        false => format!("{} {what} more", now - before),
    }
}

fn layers(page: &PathPage, out: &mut String) {
    let most =
        page.layers.iter().flat_map(|layer| layer.stages.iter().map(|count| count.operations)).max().unwrap_or(1);
    out.push_str(
        "<section>\n<h2>What is left of each layer</h2>\n<p>Operations on the likeliest way, and in parentheses where it parts. \
         What several layers write is written at once, in the name of the last.</p>\n\
         <table>\n<thead><tr><th>layer</th><th><code>--fuse 0</code></th><th><code>--fuse 1</code></th><th><code>--fuse 2</code></th>\
         <th></th></tr></thead>\n<tbody>\n",
    );
    for (index, layer) in page.layers.iter().enumerate() {
        let cells: String = layer.stages.iter().map(|count| cell(*count)).collect();
        let bars: String = layer
            .stages
            .iter()
            .map(|count| {
                let width = 100.0 * count.operations as f32 / most.max(1) as f32;
                format!("<i style=\"width:{width:.1}%\"></i>")
            })
            .collect();
        let _ = writeln!(
            out,
            "<tr class=\"l{index}\"><th><span class=\"dot\"></span>{}</th>{cells}<td class=\"bars\">{bars}</td></tr>",
            escape(&layer.name)
        );
    }
    out.push_str("</tbody>\n</table>\n</section>\n");
}

fn cell(count: PathCount) -> String {
    match (count.operations, count.branches) {
        (0, 0) => "<td class=\"none\">–</td>".to_owned(),
        (operations, 0) => format!("<td>{operations}</td>"),
        (operations, branches) => format!("<td>{operations} <small>({branches})</small></td>"),
    }
}

fn codes(page: &PathPage, out: &mut String) {
    out.push_str("<section class=\"code\">\n<h2>The code, and the lines that it comes from</h2>\n");
    let last = page.codes.len().saturating_sub(1);
    for (index, code) in page.codes.iter().enumerate() {
        let checked = if index == last { " checked" } else { "" };
        let _ = writeln!(
            out,
            "<input type=\"radio\" name=\"stage\" id=\"stage{index}\"{checked}><label for=\"stage{index}\"><code>{}</code></label>",
            escape(&code.option)
        );
    }
    for (index, code) in page.codes.iter().enumerate() {
        let _ = writeln!(out, "<div class=\"stage stage{index}\">\n<p>{}</p>", escape(&code.says));
        groups(page, &code.path, &format!("s{index}"), out);
        for (number, (name, memo)) in code.memos.iter().enumerate() {
            let _ = writeln!(out, "<details><summary>memo <code>{}</code></summary>", escape(name));
            groups(page, memo, &format!("s{index}m{number}"), out);
            out.push_str("</details>\n");
        }
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

/// `prefix` makes the names of blocks unique in the page.
fn groups(page: &PathPage, groups: &[PathGroup], prefix: &str, out: &mut String) {
    let lines = || groups.iter().flat_map(|group| &group.lines);
    let blocks: HashSet<&str> = lines().filter(|line| line.is_block).map(|line| label(&line.text)).collect();
    for group in groups {
        let class = group.layer.map_or(String::new(), |layer| format!(" l{layer}"));
        let _ = write!(out, "<div class=\"group{class}\"><div class=\"from\">");
        if let Some(layer) = group.layer.and_then(|layer| page.layers.get(layer)) {
            let _ = write!(out, "<b>{}</b>", escape(&layer.name));
        }
        if let Some((place, text)) = &group.place {
            let _ = write!(out, " <small>{}</small><code>{}</code>", escape(place), escape(text.trim()));
        }
        out.push_str("</div><div class=\"lines\">");
        for line in &group.lines {
            one_line(line, (&blocks, prefix), out);
        }
        out.push_str("</div></div>\n");
    }
}

fn one_line(line: &PathLine, (blocks, prefix): (&HashSet<&str>, &str), out: &mut String) {
    if line.is_block {
        let block = escape(label(&line.text));
        let _ = write!(out, "<p class=\"block\" id=\"{prefix}-{block}\"><code>{}</code></p>", escape(line.text.trim()));
        return;
    }
    let _ = write!(out, "<p><code>{}</code>", linked(line.text.trim(), blocks, prefix));
    if let Some(exit) = line.exit {
        let class = if matches!(exit, PathExit::Likely(..)) { "exit" } else { "exit never" };
        let _ = write!(out, "<span class=\"{class}\">{}</span>", escape(&exit.words()));
    }
    out.push_str("</p>");
}

/// `b4` from `b4(v2: u32):`.
fn label(text: &str) -> &str {
    let text = text.trim();
    &text[..text.find(['(', ':', ' ']).unwrap_or(text.len())]
}

/// Escapes a text, and links names of blocks to the blocks.
fn linked(text: &str, blocks: &HashSet<&str>, prefix: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let step = if word.is_empty() { rest.chars().next().map_or(1, char::len_utf8) } else { word.len() };
        let piece = escape(&rest[..step]);
        if blocks.contains(word) {
            let _ = write!(out, "<a href=\"#{prefix}-{piece}\">{piece}</a>");
        } else {
            out.push_str(&piece);
        }
        rest = &rest[step..];
    }
    out
}

fn missed(page: &PathPage, out: &mut String) {
    if page.missed.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>Not in it</h2>\n<p>Ways that end elsewhere, the likeliest first: how likely it is to come there, and what stands there.</p>\n<table class=\"missed\">\n");
    for (likely, why, place) in &page.missed {
        let place = place.as_ref().map_or(String::new(), |place| format!(" <small>{}</small>", escape(place)));
        let _ = writeln!(out, "<tr><td>{}</td><th>{}{place}</th></tr>", escape(&percent(*likely)), escape(why));
    }
    out.push_str("</table>\n</section>\n");
}

/// `2.5 %`.
pub fn percent(part: f32) -> String {
    match 100.0 * part.clamp(0.0, 1.0) {
        0.0 => "0 %".to_owned(),
        small if small < 0.1 => "< 0.1 %".to_owned(),
        99.95.. => "100 %".to_owned(),
        some => format!("{some:.1} %"),
    }
}

fn style(page: &PathPage) -> String {
    let mut style = format!("body, code {{ font-family: system-ui, sans-serif; }}\ncode {{ font-family: {FONT}; }}\n");
    style.push_str(STYLE);
    // Adjacent layers have the most different colours if each hue is a golden section away.
    for index in 0..page.layers.len() {
        let hue = (index as f32 * 137.508 + 210.0) % 360.0;
        let _ = writeln!(style, ".l{index} {{ --hue: {hue:.0}; }}");
    }
    for index in 0..page.codes.len() {
        let _ = writeln!(style, "#stage{index}:checked ~ .stage{index} {{ display: block; }}");
    }
    style
}

const STYLE: &str = "
:root { color-scheme: light dark; --ground: #fdfdfc; --ink: #1c1e21; --faint: #6a6f76; --line: #dfe1e4; --panel: #f4f5f6;
  --mark: #2b6cb0; --warn: #9a4b00; --warnground: #fdeedd; --dot: 48%; --tint: 95%; --soft: 45%; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --ink: #e4e6e9; --faint: #99a0a8; --line: #33373c; --panel: #1e2125;
  --mark: #7db4ec; --warn: #f0b37a; --warnground: #3a2a1a; --dot: 62%; --tint: 14%; --soft: 22%; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 78rem; background: var(--ground); color: var(--ink);
  font-size: 15px; line-height: 1.5; }
h1 { font-size: 1.7rem; margin: 0 0 .4rem; } h1 span { font-weight: 400; color: var(--faint); }
h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; } p { margin: .2rem 0; max-width: 60rem; } code { font-size: .92em; }
small { color: var(--faint); font-weight: 400; }
.stages { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .8rem; margin-top: 1.2rem; }
.stages > div { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.stages h2 { margin: 0; font-size: .95rem; font-weight: 600; } .stages p { color: var(--faint); font-size: .9rem; }
.stages .count { color: var(--ink); font-size: 1rem; } .stages .count b { font-size: 1.35rem; }
.bar { background: var(--line); height: .4rem; border-radius: .2rem; overflow: hidden; margin: .4rem 0; }
.bar i { display: block; height: 100%; background: var(--mark); }
table { border-collapse: collapse; font-size: .92rem; margin-top: .5rem; width: 100%; max-width: 60rem; }
th { text-align: left; font-weight: 500; } td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th:nth-child(n+2) { text-align: right; }
th, td { padding: .18rem .7rem .18rem 0; border-bottom: 1px solid var(--line); } .none { color: var(--faint); }
.dot { display: inline-block; width: .65rem; height: .65rem; border-radius: 50%; margin-right: .5rem;
  background: hsl(var(--hue) 60% var(--dot)); }
.bars { width: 34%; padding-right: 0; } .bars i { display: block; height: .24rem; margin: .1rem 0; border-radius: .12rem; min-width: 1px;
  background: hsl(var(--hue) 60% var(--dot)); } .bars i:nth-child(2) { opacity: .7; } .bars i:nth-child(3) { opacity: .45; }
.missed td { width: 5rem; vertical-align: top; } .missed th small { margin-left: .4rem; }
.code > input { position: absolute; opacity: 0; }
.code > label { display: inline-block; padding: .25rem .8rem; border: 1px solid var(--line); border-radius: .4rem; margin: .3rem .3rem .5rem 0;
  cursor: pointer; color: var(--faint); }
.code > input:checked + label { background: var(--panel); color: var(--ink); border-color: var(--mark); }
.code > input:focus-visible + label { outline: 2px solid var(--mark); outline-offset: 1px; }
.stage { display: none; }
.group { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); border-left: .3rem solid var(--line); margin: 1px 0; }
.group[class*=' l'] { border-left-color: hsl(var(--hue) 60% var(--dot)); }
.from { padding: .25rem .7rem; font-size: .88rem; } .from b { font-weight: 600; } .from code { display: block; overflow-wrap: anywhere; }
.group[class*=' l'] .from { background: hsl(var(--hue) var(--soft) var(--tint)); }
.lines { padding: .25rem .7rem; background: var(--panel); min-width: 0; }
.lines p { margin: 0; max-width: none; display: flex; gap: .6rem; justify-content: space-between; }
.lines code { overflow-wrap: anywhere; padding-left: 1.4rem; text-indent: -.7rem; } .block code { padding-left: .7rem; color: var(--faint); }
.lines a { color: var(--mark); text-decoration: none; } .lines a:hover { text-decoration: underline; }
.block:target { background: var(--warnground); }
.exit { flex: none; font-size: .78rem; color: var(--warn); background: var(--warnground); border-radius: .6rem; padding: 0 .5rem; align-self: center; }
.exit.never { color: var(--faint); background: none; }
details { margin: .8rem 0 0; } summary { cursor: pointer; padding: .2rem 0; }
@media (max-width: 46rem) { .group { grid-template-columns: 1fr; } .bars { display: none; } }
@media print { .stage { display: block; } .code > label { display: none; } }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_linked_and_nothing_becomes_markup() {
        let blocks = HashSet::from(["b2", "exit"]);
        assert_eq!(
            linked("br v1 @0.9 b2, exit", &blocks, "s0"),
            "br v1 @0.9 <a href=\"#s0-b2\">b2</a>, <a href=\"#s0-exit\">exit</a>"
        );
        assert_eq!(linked("v2 = x.b2 \"<&>é\"", &blocks, "s0"), "v2 = x.b2 &quot;&lt;&amp;&gt;é&quot;");
        assert_eq!(label("  b17(v2: @ip.NextHop.Hop):"), "b17");
    }

    #[test]
    fn parts_are_percents() {
        let said: Vec<String> = [0.0, 0.0001, 0.001, 0.123, 0.9999, 1.5].into_iter().map(percent).collect();
        assert_eq!(said, ["0 %", "< 0.1 %", "0.1 %", "12.3 %", "100 %", "100 %"]);
    }
}
