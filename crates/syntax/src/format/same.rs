//! Whether two trees are equal except for white space.

use crate::kinds::SyntaxKind::{self, WHITESPACE};
use crate::kinds::SyntaxNode;
use crate::Parse;
use mokume_base::Severity;
use rowan::{NodeOrToken, WalkEvent};

/// A step of a walk: into a node, out of it, or over a token with its text.
#[derive(PartialEq, Eq)]
enum Step {
    Into(SyntaxKind),
    Out,
    Over(SyntaxKind, String),
}

fn steps(root: &SyntaxNode) -> impl Iterator<Item = (Step, usize)> {
    root.preorder_with_tokens().filter_map(|event| match event {
        WalkEvent::Enter(NodeOrToken::Node(node)) => Some((Step::Into(node.kind()), node.text_range().start().into())),
        WalkEvent::Leave(NodeOrToken::Node(node)) => Some((Step::Out, node.text_range().end().into())),
        WalkEvent::Enter(NodeOrToken::Token(token)) if token.kind() != WHITESPACE => {
            let text = token.text().trim_end().to_string();
            Some((Step::Over(token.kind(), text), token.text_range().start().into()))
        }
        _ => None,
    })
}

/// The offset in the first text at which the trees differ; `None` if they are equal and the second has no mistakes.
pub fn difference(before: &SyntaxNode, after: &Parse) -> Option<usize> {
    if after.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Some(0);
    }
    let root = after.syntax();
    let mut others = steps(&root);
    for (step, at) in steps(before) {
        if others.next().map(|(other, _)| other) != Some(step) {
            return Some(at);
        }
    }
    others.next().map(|_| before.text_range().end().into())
}
