//! A stack as one self-contained SVG: layers as boxes with shape and header fields, ports at the edges, services at the
//! sides.

use std::fmt::Write;

use crate::groups::{grounds, Ground};
use crate::layout::{place, Placed, Size};
use crate::route::{ways, Way, Wish};
use crate::svg::{shorten, width, Anchor, Svg, FONT};
use crate::words::{self, Area, Point, Taken};
use crate::{Edge, EdgeKind, Node, NodeKind, Stack};

const MARGIN: f64 = 24.0;
const TITLE: f64 = 44.0;
const HEAD: f64 = 28.0;
const LINE: f64 = 16.0;
const MOST_LINES: usize = 8;
const LONGEST_LINE: usize = 46;
const WRAP: usize = 30;
/// The radius of corners of lines.
const ROUND: f64 = 6.0;

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
    let mut plan = Plan { placed, sizes, offset: (0.0, top) };
    let ways = around(&plan, &down, &beside);
    // Lines of services go around boxes at the edges, too.
    let corners = || ways.iter().flat_map(|way| &way.points).map(|point| point.0);
    let left = MARGIN - corners().fold(0.0, f64::min);
    let wide = corners().fold(plan.placed.size.0, f64::max) + left + MARGIN;
    plan.offset.0 = left;
    let wide = wide.max(width(&stack.title, 16.0) + 2.0 * MARGIN);
    let mut svg = Svg::default();
    svg.text((MARGIN, MARGIN + 14.0), Anchor::Start, "title", &stack.title);
    let mut words = Svg::default();
    let mut taken = Taken::default();
    let boxes: Vec<Area> = (0..stack.nodes.len()).map(|node| plan.area(node)).collect();
    boxes.iter().for_each(|[left, top, right, bottom]| taken.add([left - 2.0, top - 1.0, right + 2.0, bottom + 1.0]));
    // The application above an exported bundle is none of its layers, though its name begins so.
    let is_layer = |node: &Node| !matches!(&node.kind, NodeKind::Layer { shape } if shape == "application");
    let layers = stack.nodes.iter().zip(boxes).filter(|(node, _)| is_layer(node));
    let named: Vec<(String, Area)> = layers.map(|(node, area)| (node.name.clone(), area)).collect();
    for ground in grounds(&named) {
        draw_ground(&ground, &mut svg, &mut taken);
    }
    for (index, edge) in down.iter().enumerate() {
        let points = plan.line(&down, index);
        svg.path(&curve(&points), if edge.kind == EdgeKind::Link { "link" } else { "to-port" });
        taken.add_line(&along(&points));
    }
    let ways: Vec<Way> = ways.into_iter().map(|way| way.shifted(left)).collect();
    ways.iter().for_each(|way| taken.add_line(&way.points));
    for (edge, way) in beside.iter().zip(&ways) {
        draw_beside(edge, way, wide, (&mut svg, &mut words), &mut taken);
    }
    for (index, node) in stack.nodes.iter().enumerate() {
        draw_node(&plan, index, node, &mut svg);
    }
    svg.append(words);
    svg.finish((wide, plan.placed.size.1 + top + MARGIN), &stack.title, &style(), MARKERS)
}

/// The ways of the lines of services, around the boxes. Lines of a kind that lead to one box join.
fn around(plan: &Plan, down: &[&Edge], beside: &[&Edge]) -> Vec<Way> {
    let boxes: Vec<Area> = (0..plan.sizes.len()).map(|node| plan.area(node)).collect();
    let links: Vec<Vec<Point>> = (0..down.len()).map(|index| along(&plan.line(down, index))).collect();
    let group = |edge: &Edge| edge.to * 2 + usize::from(edge.kind == EdgeKind::Service);
    let wishes: Vec<Wish> =
        beside.iter().map(|edge| Wish { from: edge.from, to: edge.to, group: group(edge) }).collect();
    ways(&boxes, &links, &wishes)
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

    /// The points of a downward edge. Edges leave a box side by side, ordered by their targets.
    fn line(&self, edges: &[&Edge], index: usize) -> Vec<Point> {
        let anchor = |is_lower_end: bool| {
            let end = |edge: &Edge| if is_lower_end { edge.to } else { edge.from };
            let node = end(edges[index]);
            let towards = |index: usize| {
                let bends = &self.placed.bends[index];
                let bend = if is_lower_end { bends.last() } else { bends.first() };
                let other = if is_lower_end { edges[index].from } else { edges[index].to };
                bend.copied().unwrap_or(self.placed.at[other]).0
            };
            let mut mine: Vec<usize> = (0..edges.len()).filter(|index| end(edges[*index]) == node).collect();
            mine.sort_by(|a, b| towards(*a).total_cmp(&towards(*b)));
            let place = mine.iter().position(|one| *one == index).unwrap_or(0);
            let ((x, y), (w, h)) = (self.centre(node), self.sizes[node]);
            let along = (place as f64 + 1.0) / (mine.len() as f64 + 1.0) - 0.5;
            (x + along * w.min(mine.len() as f64 * 56.0), if is_lower_end { y - h / 2.0 } else { y + h / 2.0 })
        };
        let mut points = vec![anchor(false)];
        points.extend(self.placed.bends[index].iter().map(|bend| self.shift(*bend)));
        points.push(anchor(true));
        points
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

/// A smooth line downwards through the points.
fn curve(points: &[Point]) -> String {
    let mut data = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let middle = (y1 + y2) / 2.0;
        let _ = write!(data, " C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}");
    }
    data
}

/// Points of that line, close to each other.
fn along(points: &[Point]) -> Vec<Point> {
    let mut all = Vec::new();
    for pair in points.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let count = (((x2 - x1).abs() + (y2 - y1).abs()) / 4.0) as usize + 1;
        all.extend((0..=count).map(|step| {
            let part = step as f64 / count as f64;
            // The curve's own equation, with both control points at half of the height.
            let rest = 1.0 - part;
            let (near, far) = (rest * rest * (1.0 + 2.0 * part), part * part * (3.0 - 2.0 * part));
            let middle = 3.0 * rest * part * (y1 + y2) / 2.0;
            (x1 * near + x2 * far, y1 * rest * rest * rest + middle + y2 * part * part * part)
        }));
    }
    all
}

/// A line with right angles, its corners rounded.
fn angled(points: &[Point]) -> String {
    let mut data = format!("M{:.1} {:.1}", points[0].0, points[0].1);
    for three in points.windows(3) {
        let towards = |(x, y): Point| {
            let (dx, dy) = (x - three[1].0, y - three[1].1);
            let length = dx.hypot(dy).max(0.1);
            let by = ROUND.min(length / 2.0) / length;
            (three[1].0 + dx * by, three[1].1 + dy * by)
        };
        let ((x1, y1), (x2, y2), (x, y)) = (towards(three[0]), towards(three[2]), three[1]);
        let _ = write!(data, " L{x1:.1} {y1:.1} Q{x:.1} {y:.1} {x2:.1} {y2:.1}");
    }
    if let Some((x, y)) = points.last() {
        let _ = write!(data, " L{x:.1} {y:.1}");
    }
    data
}

fn draw_beside(edge: &Edge, way: &Way, within: f64, (svg, words): (&mut Svg, &mut Svg), taken: &mut Taken) {
    let class = if edge.kind == EdgeKind::Service { "service" } else { "reads" };
    svg.path(&angled(&way.points), &if way.joins() { format!("{class} joins") } else { class.to_string() });
    // A line that joins soon may have no room for words before.
    let line: Vec<Point> = way.points.iter().chain(&way.onward).copied().collect();
    let at = taken.place(&shorten(&edge.label, LONGEST_LINE), &line, within);
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
         .joins {{ marker-end: none; }}\n\
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
