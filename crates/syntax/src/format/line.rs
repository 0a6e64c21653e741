//! A line of the result, and the widths.

use super::pieces::Piece;

/// The most columns of a line; a longer line is broken if it has a block. Comments behind code do not count.
pub const WIDTH: usize = 120;
/// The columns of one level of indentation.
pub const INDENT: usize = 4;

/// A line of the result.
#[derive(Clone, Debug)]
pub struct Line {
    pub indent: usize,
    /// Whether an empty line stands before it.
    pub is_set_apart: bool,
    /// Whether it begins where the author had no line break.
    pub is_forced: bool,
    pub first: usize,
    pub end: usize,
    /// The blanks before each of its pieces; 0 before the first.
    pub blanks: Vec<usize>,
}

impl Line {
    /// The width of its code, without a comment behind it.
    pub fn code_width(&self, pieces: &[Piece]) -> usize {
        let code = (self.first..self.end).filter(|at| !(pieces[*at].is_comment() && *at > self.first));
        self.indent + code.map(|at| self.blanks[at - self.first] + pieces[at].width()).sum::<usize>()
    }

    /// The column at which a piece begins.
    pub fn column_of(&self, pieces: &[Piece], piece: usize) -> usize {
        let before = (self.first..piece).map(|at| self.blanks[at - self.first] + pieces[at].width()).sum::<usize>();
        self.indent + before + self.blanks[piece - self.first]
    }
}
