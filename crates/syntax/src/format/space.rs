//! Blanks between two pieces on a line.

use super::pieces::Piece;
use crate::kinds::SyntaxKind::*;

/// Blanks between two parts without a comma between them: statements, fields of a wire, outputs of a step.
const APART: usize = 2;
/// Blanks before a constraint, which belongs to the field before it.
const CONSTRAINT: usize = 4;
/// Blanks between a link's devices and its options.
const OPTIONS: usize = 3;

/// The blanks between two pieces on one line.
pub fn between(last: &Piece, next: &Piece) -> usize {
    if next.is_comment() {
        return APART;
    }
    if last.kind == DOT_DOT && last.owner() == VECTOR_TYPE {
        return 0;
    }
    if stands_apart(last, next) {
        return match next.begins_kind() {
            Some(WIRE_WHERE | WIRE_TRIM | WIRE_DEFAULT) => CONSTRAINT,
            Some(LINK_OPTION) if !is_within_option(last) => OPTIONS,
            _ => APART,
        };
    }
    usize::from(!(clings_to_last(next) || next_clings(last)))
}

fn stands_apart(last: &Piece, next: &Piece) -> bool {
    if matches!(next.around(), Some(EXPECT_STEP | AT_STEP | EXPECTATION | WHEN_STEP | FRAME_FAULT | CLOCK)) {
        // `20 times until 2 s` is one part.
        if next.begins_kind() == Some(TIMES) || last.owner() == TIMES {
            return false;
        }
        // Not behind the word that begins the step.
        return !matches!(last.owner(), EXPECT_STEP | AT_STEP | EXPECTATION | WHEN_STEP | FRAME_FAULT | CLOCK);
    }
    if next.around() == Some(TALLY) {
        return next.begins_kind() == Some(UNTIL);
    }
    next.begins_part && next.kind != PIPE && !last.opens() && !matches!(last.kind, COMMA | PIPE | SEMICOLON | ARROW)
}

fn is_within_option(piece: &Piece) -> bool {
    piece.token.parent_ancestors().any(|node| node.kind() == LINK_OPTION)
}

fn clings_to_last(next: &Piece) -> bool {
    match next.kind {
        COMMA | R_PAREN | R_BRACKET | DOT | COLON | SEMICOLON => true,
        L_PAREN => matches!(next.owner(), ARG_LIST | PARAM_LIST | PATTERN_LIST | WRITTEN),
        // `written address/prefix`
        SLASH => matches!(next.owner(), WRITTEN | RATE),
        L_BRACKET => matches!(next.owner(), INDEX_EXPR | OVER | OBJECT),
        // `as% u8`, the narrowing that wraps.
        PERCENT => next.owner() == CAST_EXPR,
        LT | GT => is_of_types(next),
        _ => false,
    }
}

fn next_clings(last: &Piece) -> bool {
    matches!(last.kind, L_PAREN | L_BRACKET | DOT | QUESTION | AT | BANG)
        || last.kind == LT && is_of_types(last)
        || last.kind == SLASH && matches!(last.owner(), WRITTEN | RATE)
}

/// Whether the piece is `<` or `>` around the types of a container.
fn is_of_types(piece: &Piece) -> bool {
    matches!(piece.owner(), TYPE_PARAMS | TYPE_ARGS)
}
