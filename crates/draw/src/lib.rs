//! Pictures of plain data: sequence charts, stacks and headers, as SVG, DOT, Mermaid and text; paths as HTML.
//!
//! Invariant: pure functions. Nothing here reads a file, knows a protocol, or panics on its input. All text is escaped,
//! and every SVG and page is self-contained (no script, no external font or file).

mod chart;
mod chart_mermaid;
mod chart_rows;
mod chart_svg;
mod chart_text;
mod fold;
mod groups;
mod headers;
mod headers_svg;
mod headers_text;
mod layout;
mod path_page;
mod route;
mod stack;
mod stack_dot;
mod stack_svg;
mod svg;
mod words;

pub use chart::{Chart, Direction, Event, Item, Lifeline, MessageId, TimerEvent, Unit};
pub use chart_mermaid::chart_mermaid;
pub use chart_svg::chart_svg;
pub use chart_text::chart_text;
pub use fold::Limit;
pub use headers::{header_pictures, order, other_order, HeaderBits, HeaderPart, HeaderPicture};
pub use headers_svg::headers_svg;
pub use headers_text::headers_text;
pub use path_page::{path_page, percent, PathCode, PathCount, PathExit, PathGroup, PathLayer, PathLine, PathPage};
pub use stack::{Edge, EdgeKind, Node, NodeKind, Stack};
pub use stack_dot::stack_dot;
pub use stack_svg::stack_svg;
