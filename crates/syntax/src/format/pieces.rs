//! The formatter's input: the tokens and comments of a tree in order, each with what the layout needs to know of its
//! place in the tree.

use crate::kinds::SyntaxKind::{self, *};
use crate::kinds::{SyntaxNode, SyntaxToken};
use rowan::{NodeOrToken, WalkEvent};

/// A token or a comment.
#[derive(Clone, Debug)]
pub struct Piece {
    pub token: SyntaxToken,
    pub kind: SyntaxKind,
    /// Its text, without blanks at the end of a comment's line.
    pub text: String,
    /// The line breaks in front of it.
    pub newlines: usize,
    /// Its original column, in characters.
    pub column: usize,
    /// Whether it begins a part of a file or of a bracketed list: an item, a statement, an argument.
    pub begins_part: bool,
    /// The outermost node that begins with it, other than the file.
    pub begins: Option<SyntaxNode>,
    /// For a bracket, the index of its partner.
    pub partner: Option<usize>,
    /// The index of the first piece from this one on that is not a comment; the number of pieces if there is none.
    pub next: usize,
}

impl Piece {
    /// Whether it is a comment.
    pub fn is_comment(&self) -> bool {
        self.kind.is_trivia()
    }

    /// Whether it is an opening bracket.
    pub fn opens(&self) -> bool {
        matches!(self.kind, L_BRACE | L_PAREN | L_BRACKET)
    }

    /// Whether it is a closing bracket.
    pub fn closes(&self) -> bool {
        matches!(self.kind, R_BRACE | R_PAREN | R_BRACKET)
    }

    /// The kind of its parent node.
    pub fn owner(&self) -> SyntaxKind {
        self.token.parent().map_or(FILE, |node| node.kind())
    }

    /// The kind of the parent of the outermost node that it begins.
    pub fn around(&self) -> Option<SyntaxKind> {
        Some(self.begins.as_ref()?.parent()?.kind())
    }

    /// The kind of the outermost node that it begins; `None` if it begins none.
    pub fn begins_kind(&self) -> Option<SyntaxKind> {
        self.begins.as_ref().map(|node| node.kind())
    }

    /// Its characters.
    pub fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A node on the path to the current token.
struct Open {
    node: SyntaxNode,
    /// How many of its own brackets are open.
    brackets: usize,
    has_begun: bool,
}

#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    pieces: Vec<Piece>,
    brackets: Vec<usize>,
    newlines: usize,
    column: usize,
}

/// The pieces of a tree without mistakes.
pub fn pieces(root: &SyntaxNode) -> Vec<Piece> {
    let mut walk = Walk::default();
    for event in root.preorder_with_tokens() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => {
                walk.open.push(Open { node, brackets: 0, has_begun: false });
            }
            WalkEvent::Leave(NodeOrToken::Node(_)) => drop(walk.open.pop()),
            WalkEvent::Enter(NodeOrToken::Token(token)) => walk.token(token),
            WalkEvent::Leave(NodeOrToken::Token(_)) => {}
        }
    }
    let mut next = walk.pieces.len();
    for (at, piece) in walk.pieces.iter_mut().enumerate().rev() {
        if !piece.is_comment() {
            next = at;
        }
        piece.next = next;
    }
    walk.pieces
}

impl Walk {
    fn token(&mut self, token: SyntaxToken) {
        let text = token.text().to_string();
        if token.kind() != WHITESPACE {
            self.piece(token);
        }
        match text.rsplit_once('\n') {
            Some((_, rest)) => {
                self.newlines += text.matches('\n').count();
                self.column = rest.chars().count();
            }
            None => self.column += text.chars().count(),
        }
    }

    fn piece(&mut self, token: SyntaxToken) {
        let kind = token.kind();
        let mut piece = Piece {
            kind,
            text: token.text().trim_end().to_string(),
            newlines: std::mem::take(&mut self.newlines),
            column: self.column,
            begins_part: false,
            begins: None,
            partner: None,
            next: 0,
            token,
        };
        if !piece.is_comment() {
            self.place(&mut piece);
        }
        self.pieces.push(piece);
    }

    fn place(&mut self, piece: &mut Piece) {
        let first = self.open.iter().rposition(|open| open.has_begun).map_or(1, |at| at + 1);
        for open in &mut self.open {
            open.has_begun = true;
        }
        if let Some(begun) = self.open.get(first.max(1)) {
            let around = &self.open[first.max(1) - 1];
            piece.begins = Some(begun.node.clone());
            piece.begins_part = around.node.kind() == FILE || around.brackets > 0;
        }
        // The `|` between alternatives begins the line of the alternative behind it.
        piece.begins_part |= piece.kind == PIPE && piece.owner() == HEADER;
        if let Some(owner) = self.open.last_mut() {
            owner.brackets += usize::from(piece.opens());
            owner.brackets -= usize::from(piece.closes()).min(owner.brackets);
        }
        let here = self.pieces.len();
        if piece.opens() {
            self.brackets.push(here);
        } else if piece.closes() {
            piece.partner = self.brackets.pop();
            if let Some(partner) = piece.partner {
                self.pieces[partner].partner = Some(here);
            }
        }
    }
}

/// The next piece from `at` on that is not a comment.
pub fn next_token(pieces: &[Piece], at: usize) -> Option<&Piece> {
    pieces.get(pieces.get(at)?.next)
}
