//! Parts that are not in every packet, and a header that reaches into the message.

use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::wire;
use crate::resolve::wire::reader::WireReader;
use crate::resolve::wire::values;

/// `optional when flag == 1 { … }`
pub(super) fn read(reader: &mut WireReader, part: &ast::WireOptional) -> Option<WireItem> {
    let span = part.span(reader.file);
    let mut when = Vec::new();
    if let Some(condition) = part.condition() {
        values::comparisons(reader, &condition, &mut when);
    }
    for (left, _, right) in &when {
        values::known_early(reader, left, span);
        values::known_early(reader, right, span);
    }
    let items = wire::hidden(reader, &part.members());
    Some(WireItem::Optional { when, items, span })
}

/// `header to words * 4`
pub(super) fn reach(reader: &mut WireReader, reach: &ast::WireReach) -> Option<WireItem> {
    let span = reach.span(reader.file);
    let to = values::expr(reader, &reach.to()?)?;
    values::known_early(reader, &to, span);
    Some(WireItem::Reach(to, span))
}
