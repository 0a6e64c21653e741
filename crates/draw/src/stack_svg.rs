//! A stack as one self-contained SVG: layers as boxes with shape and header fields, ports at the edges, services at the
//! sides.

use std::fmt::Write;

use crate::groups::{grounds, Ground};
use crate::layout::{place, Placed, Size};
use crate::svg::{shorten, width, Anchor, Svg, FONT};
use crate::words::{self, Area, Curve, Taken};
use crate::{Edge, EdgeKind, Node, NodeKind, Stack};

const MARGIN: f64 = 24.0;
const TITLE: f64 = 44.0;
const HEAD: f64 = 28.0;
const LINE: f64 = 16.0;
const MOST_LINES: usize = 8;
const LONGEST_LINE: usize = 46;
const WRAP: usize = 30;

/// The picture of a stack.
pub fn stack_svg(stack: &Stack) -> String {
    let edges: Vec<&Edge> =
        stack.edges.iter().filter(|edge| edge.from.max(edge.to) < stack.nodes.len() && edge.from != edge.to).collect();
    let sizes: Vec<Size> = stack.nodes.iter().map(size).collect();
    let (down, beside): (Vec<&Edge>, Vec<&Edge>) = edges.into_iter().partition(|edge| is_down(edge.kind));
    let pairs = |edges: &[&Edge]| edges.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>();
    let longest = beside.iter().map(|edge| width(&shorten(&edge.label, LONGEST_LINE), 11.0)).fold(0.0, f64::max);
    let placed = place(&sizes, &pairs(&down), &pairs(&beside), longest + 36.0);
    let top = MARGIN + if stack.title.is_empty() { 0.0 } else { TITLE };
    // Lines of services go around boxes at the edges, too.
    let left = if beside.is_empty() { MARGIN } else { 2.0 * MARGIN };
    let plan = Plan { placed, sizes, offset: (left, top) };
    let mut svg = Svg::default();
    svg.text((MARGIN, MARGIN + 14.0), Anchor::Start, "title", &stack.title);
    let mut words = Svg::default();
    let mut taken = Taken::default();
    let boxes: Vec<Area> = (0..stack.nodes.len()).map(|node| plan.area(node)).collect();
    boxes.iter().for_each(|[left, top, right, bottom]| taken.add([left - 2.0, top - 1.0, right + 2.0, bottom + 1.0]));
    let named: Vec<(String, Area)> = stack.nodes.iter().map(|node| node.name.clone()).zip(boxes).collect();
    for ground in grounds(&named) {
        draw_ground(&ground, &mut svg, &mut taken);
    }
    draw_down(&plan, &down, &mut svg);
    for edge in beside {
        draw_beside(&plan, edge, (&mut svg, &mut words), &mut taken);
    }
    for (index, node) in stack.nodes.iter().enumerate() {
        draw_node(&plan, index, node, &mut svg);
    }
    svg.append(words);
    let size = plan.placed.size;
    let whole = (size.0.max(width(&stack.title, 16.0)) + 2.0 * left, size.1 + top + MARGIN);
    svg.finish(whole, &stack.title, &style(), MARKERS)
}

struct Plan {
    placed: Placed,
    sizes: Vec<Size>,
    offset: (f64, f64),
}

impl Plan {
    fn shift(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x + self.offset.0, y + self.offset.1)
    }

    fn area(&self, node: usize) -> Area {
        let ((x, y), (w, h)) = (self.centre(node), self.sizes[node]);
        [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]
    }

    fn centre(&self, node: usize) -> (f64, f64) {
        self.shift(self.placed.at[node])
    }
}

fn is_down(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::Link | EdgeKind::Port)
}

/// The visible lines of a node, with their CSS classes.
fn lines(node: &Node) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if !node.of.is_empty() {
        lines.push(("of", format!("of {}", node.of)));
    }
    let fields: Vec<String> = node.lines.iter().flat_map(|line| wrapped(line)).collect();
    let shown = if fields.len() > MOST_LINES { MOST_LINES - 1 } else { fields.len() };
    lines.extend(fields[..shown].iter().map(|line| ("field", line.clone())));
    if shown < fields.len() {
        lines.push(("more", format!("… {} more", fields.len() - shown)));
    }
    lines.extend(node.notes.iter().map(|note| ("more", note.clone())));
    lines
}

/// A list broken into the lines of a box at its commas.
fn wrapped(line: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in line.split_inclusive(", ") {
        match lines.last_mut() {
            Some(last) if last.chars().count() + part.trim_end().chars().count() <= WRAP => last.push_str(part),
            _ => lines.push(part.to_string()),
        }
    }
    lines
}

fn tag(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Layer { shape } => shape,
        NodeKind::Device => "device",
        NodeKind::Application => "port",
    }
}

fn size(node: &Node) -> Size {
    let lines = lines(node);
    let head = width(&node.name, 14.0) + width(tag(node), 10.5) + 40.0;
    let widest = lines.iter().map(|(_, line)| width(&shorten(line, LONGEST_LINE), 11.5) + 24.0).fold(head, f64::max);
    let body = if lines.is_empty() { 0.0 } else { lines.len() as f64 * LINE + 10.0 };
    (widest.max(120.0), HEAD + body)
}

/// The background of a bundle, and its name above the uppermost box.
fn draw_ground(ground: &Ground, svg: &mut Svg, taken: &mut Taken) {
    for [left, top, right, bottom] in &ground.boxes {
        svg.rect((*left, *top), (right - left, bottom - top), 10.0, "ground");
    }
    for corners in ground.between() {
        let points: Vec<String> = corners.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        svg.path(&format!("M{} Z", points.join(" L")), "ground");
    }
    let Some([left, top, ..]) = ground.boxes.first() else { return };
    svg.text((*left, top - 4.0), Anchor::Start, "ground-word", &ground.name);
    taken.add([*left, top - 4.0 - words::SIZE, left + width(&ground.name, words::SIZE), *top]);
}

fn draw_node(plan: &Plan, index: usize, node: &Node, svg: &mut Svg) {
    let ((x, y), (w, h)) = (plan.centre(index), plan.sizes[index]);
    let (left, top) = (x - w / 2.0, y - h / 2.0);
    let (class, round) = match &node.kind {
        NodeKind::Layer { shape } => (shape_class(shape), 7.0),
        NodeKind::Device => ("device", 2.0),
        NodeKind::Application => ("port", 14.0),
    };
    svg.rect((left, top), (w, h), round, &format!("box {class}"));
    svg.text((left + 12.0, top + 19.0), Anchor::Start, &format!("name {class}-word"), &node.name);
    svg.text((left + w - 12.0, top + 18.5), Anchor::End, &format!("tag {class}-word"), tag(node));
    let lines = lines(node);
    if !lines.is_empty() {
        svg.line((left, top + HEAD), (left + w, top + HEAD), &format!("rule {class}"));
    }
    for (number, (line_class, line)) in lines.iter().enumerate() {
        let at = (left + 12.0, top + HEAD + 17.0 + number as f64 * LINE);
        svg.short_text(at, Anchor::Start, line_class, line, LONGEST_LINE);
    }
}

/// The colour class of a shape; an unknown shape is a plain layer.
fn shape_class(shape: &str) -> &'static str {
    match shape {
        "worker" => "worker",
        "multiplexor" => "multiplexor",
        "router" => "router",
        "endpoint" => "endpoint",
        "device" => "device",
        _ => "plain",
    }
}

/// Edges leave a box side by side, ordered by their targets.
fn draw_down(plan: &Plan, edges: &[&Edge], svg: &mut Svg) {
    let anchor = |node: usize, edge: usize, is_lower_end: bool| {
        let end = |edge: &Edge| if is_lower_end { edge.to } else { edge.from };
        let towards = |index: usize| {
            let bends = &plan.placed.bends[index];
            let bend = if is_lower_end { bends.last() } else { bends.first() };
            let other = if is_lower_end { edges[index].from } else { edges[index].to };
            bend.copied().unwrap_or(plan.placed.at[other]).0
        };
        let mut mine: Vec<usize> = (0..edges.len()).filter(|index| end(edges[*index]) == node).collect();
        mine.sort_by(|a, b| towards(*a).total_cmp(&towards(*b)));
        let place = mine.iter().position(|index| *index == edge).unwrap_or(0);
        let ((x, y), (w, h)) = (plan.centre(node), plan.sizes[node]);
        let along = (place as f64 + 1.0) / (mine.len() as f64 + 1.0) - 0.5;
        (x + along * w.min(mine.len() as f64 * 56.0), if is_lower_end { y - h / 2.0 } else { y + h / 2.0 })
    };
    for (index, edge) in edges.iter().enumerate() {
        let mut points = vec![anchor(edge.from, index, false)];
        points.extend(plan.placed.bends[index].iter().map(|bend| plan.shift(*bend)));
        points.push(anchor(edge.to, index, true));
        let class = if edge.kind == EdgeKind::Link { "link" } else { "to-port" };
        svg.path(&curve(&points), class);
    }
}

/// A smooth line downwards through the points.
fn curve(points: &[(f64, f64)]) -> String {
    let mut data = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let middle = (y1 + y2) / 2.0;
        let _ = write!(data, " C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}");
    }
    data
}

fn draw_beside(plan: &Plan, edge: &Edge, (svg, words): (&mut Svg, &mut Svg), taken: &mut Taken) {
    let (from, to) = (plan.centre(edge.from), plan.centre(edge.to));
    let side = if to.0 >= from.0 { 1.0 } else { -1.0 };
    // Two layers that emit to each other get a line each.
    let aside = side * 7.0;
    let start = (from.0 + side * plan.sizes[edge.from].0 / 2.0, from.1 + aside);
    let class = if edge.kind == EdgeKind::Service { "service" } else { "reads" };
    let facing = to.0 - side * plan.sizes[edge.to].0 / 2.0;
    let (end, c1, c2) = if (facing - start.0) * side >= 24.0 {
        let reach = (facing - start.0) / 2.0;
        ((facing, to.1 + aside), start.0 + reach, facing - reach)
    } else {
        // One stands over the other: the line goes around what is between them.
        let end = to.0 + side * plan.sizes[edge.to].0 / 2.0;
        let between = (0..plan.sizes.len()).map(|node| plan.area(node)).filter(|[left, top, right, bottom]| {
            let is_between = *bottom > from.1.min(to.1) && *top < from.1.max(to.1);
            is_between && *left < start.0.max(end) && *right > start.0.min(end)
        });
        let edges = between.map(|[left, _, right, _]| if side > 0.0 { right } else { left }).chain([start.0, end]);
        let far = edges.fold(start.0, |far, edge| if (edge - far) * side > 0.0 { edge } else { far });
        let out = far + side * 44.0;
        ((end, to.1 + aside), out, out)
    };
    svg.path(
        &format!(
            "M{:.1} {:.1} C{c1:.1} {:.1} {c2:.1} {:.1} {:.1} {:.1}",
            start.0, start.1, start.1, end.1, end.0, end.1
        ),
        class,
    );
    let below = if side > 0.0 { 15.0 } else { -6.0 };
    let curve = Curve([start, (c1, start.1), (c2, end.1), end]);
    let within = plan.placed.size.0 + 2.0 * plan.offset.0;
    let at = taken.place(&shorten(&edge.label, LONGEST_LINE), curve, within, below);
    words.short_text(at, Anchor::Middle, "edge-word", &edge.label, LONGEST_LINE);
}

const MARKERS: &str = "<marker id='service' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#be185d'/></marker>\
    <marker id='reads' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#64748b'/></marker>";

fn style() -> String {
    let mut style = format!(
        "text {{ font-family: {FONT}; font-size: 11.5px; fill: #1f2937; }}\n\
         .title {{ font-size: 16px; font-weight: 600; }}\n\
         .name {{ font-size: 14px; font-weight: 600; }}\n\
         .tag {{ font-size: 10.5px; opacity: 0.75; }}\n\
         .of, .more {{ fill: #64748b; }}\n\
         .more {{ font-style: italic; }}\n\
         .box {{ stroke-width: 1.4; }}\n\
         .rule {{ stroke-width: 1; opacity: 0.5; }}\n\
         .link {{ fill: none; stroke: #475569; stroke-width: 2; }}\n\
         .to-port {{ fill: none; stroke: #94a3b8; stroke-width: 1.5; stroke-dasharray: 5 3; }}\n\
         .service {{ fill: none; stroke: #be185d; stroke-width: 1.4; marker-end: url(#service); }}\n\
         .reads {{ fill: none; stroke: #64748b; stroke-width: 1.2; stroke-dasharray: 2 3; marker-end: url(#reads); }}\n\
         .ground {{ fill: #eef2f7; }}\n\
         .ground-word {{ font-size: 11px; font-weight: 600; fill: #94a3b8; }}\n\
         .edge-word {{ font-size: 11px; fill: #64748b; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }}\n"
    );
    let colours = [
        ("worker", "#eff6ff", "#1d4ed8"),
        ("multiplexor", "#f0fdf4", "#15803d"),
        ("router", "#fffbeb", "#b45309"),
        ("endpoint", "#faf5ff", "#7e22ce"),
        ("plain", "#f8fafc", "#334155"),
        ("device", "#f1f5f9", "#475569"),
        ("port", "#ffffff", "#475569"),
    ];
    for (class, fill, line) in colours {
        let _ = writeln!(style, ".{class} {{ fill: {fill}; stroke: {line}; }}\n.{class}-word {{ fill: {line}; }}");
    }
    style
}
