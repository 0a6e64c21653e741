//! A line of the result, and how wide lines are.

use super::pieces::Piece;

/// Lines with more columns are broken where a block stands in them. Comments behind code do not count.
pub const WIDTH: usize = 120;
/// Columns of one level.
pub const INDENT: usize = 4;

/// A line of the result.
#[derive(Clone, Debug)]
pub struct Line {
    pub indent: usize,
    /// An empty line stands before it.
    pub is_set_apart: bool,
    /// It begins where the author had no line end.
    pub is_forced: bool,
    pub first: usize,
    pub end: usize,
    /// Blanks before each of its pieces; none before the first.
    pub blanks: Vec<usize>,
}

impl Line {
    /// The column where its code ends: without a comment behind it.
    pub fn code_width(&self, pieces: &[Piece]) -> usize {
        let code = (self.first..self.end).filter(|at| !(pieces[*at].is_comment() && *at > self.first));
        self.indent + code.map(|at| self.blanks[at - self.first] + pieces[at].width()).sum::<usize>()
    }

    /// The column where a piece begins.
    pub fn column_of(&self, pieces: &[Piece], piece: usize) -> usize {
        let before = (self.first..piece).map(|at| self.blanks[at - self.first] + pieces[at].width()).sum::<usize>();
        self.indent + before + self.blanks[piece - self.first]
    }
}
