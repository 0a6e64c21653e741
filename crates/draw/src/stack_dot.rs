//! A stack as DOT text, for Graphviz.

use std::fmt::Write;

use crate::{EdgeKind, NodeKind, Stack};

/// The stack as a DOT graph. Names and lines are escaped.
pub fn stack_dot(stack: &Stack) -> String {
    let mut text =
        format!("digraph {} {{\n  node [shape=box, fontname=monospace];\n  edge [dir=none];\n", quoted(&stack.title));
    for (index, node) in stack.nodes.iter().enumerate() {
        let (style, tag) = match &node.kind {
            NodeKind::Layer { shape } => ("solid", shape.as_str()),
            NodeKind::Device => ("bold", "device"),
            NodeKind::Application => ("rounded", "port"),
        };
        let mut lines = vec![format!("{} {tag}", node.name).trim_end().to_string()];
        lines.extend(node.lines.iter().chain(&node.notes).cloned());
        let _ = writeln!(text, "  n{index} [label={}, style={style}];", quoted(&lines.join("\n")));
    }
    for edge in &stack.edges {
        let attributes = match edge.kind {
            EdgeKind::Link => "",
            EdgeKind::Port => ", style=dashed",
            EdgeKind::Service => ", dir=forward, constraint=false",
            EdgeKind::Reads => ", dir=forward, style=dotted, constraint=false",
        };
        let _ = writeln!(text, "  n{} -> n{} [label={}{attributes}];", edge.from, edge.to, quoted(&edge.label));
    }
    text + "}\n"
}

/// A DOT string: quotes and backslashes escaped, lines left-aligned.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\l"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    if text.contains('\n') {
        out.push_str("\\l");
    }
    out + "\""
}
