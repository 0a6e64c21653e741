//! The outline of a text: its declarations, nested, and its foldable ranges. Uses the syntax tree only, so it works
//! despite any errors.

use ls_types::{DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind};
use mokume_base::FileId;
use mokume_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextRange};

use crate::text::Lines;

/// A declaration in the tree.
pub struct Declared {
    pub node: SyntaxKind,
    pub name: String,
    pub kind: SymbolKind,
    /// The keyword of its kind: `worker`, `timer`.
    pub word: String,
    /// The octets of the whole declaration, and of its name.
    pub whole: std::ops::Range<usize>,
    pub named: std::ops::Range<usize>,
    pub within: Vec<Declared>,
}

/// What a kind of node declares.
pub fn kind_of(kind: SyntaxKind) -> Option<SymbolKind> {
    use SyntaxKind as S;
    Some(match kind {
        S::CONST | S::CONST_STATE => SymbolKind::CONSTANT,
        S::TYPE_ALIAS | S::RECORD => SymbolKind::STRUCT,
        S::ENUM => SymbolKind::ENUM,
        S::VARIANT | S::ALTERNATIVE => SymbolKind::ENUM_MEMBER,
        S::ATTRIBUTE | S::FIELD | S::WIRE_FIELD => SymbolKind::FIELD,
        S::SERVICE | S::SIGNATURE | S::VOCABULARY => SymbolKind::INTERFACE,
        S::SIGNAL | S::HANDLER => SymbolKind::EVENT,
        S::FUNCTION => SymbolKind::FUNCTION,
        S::LAYER | S::PART | S::OBJECT | S::CONTAINER => SymbolKind::CLASS,
        S::BUNDLE => SymbolKind::MODULE,
        S::WIRE => SymbolKind::STRUCT,
        S::STACK | S::NETWORK => SymbolKind::NAMESPACE,
        S::STACK_LAYER | S::HOST | S::LINK => SymbolKind::OBJECT,
        S::TEST | S::SUITE => SymbolKind::METHOD,
        S::PUBLISH => SymbolKind::PROPERTY,
        S::VAR | S::TIMER | S::QUOTA | S::COUNTER | S::ARRAY | S::MAP | S::MESSAGES | S::CONTAINED => {
            SymbolKind::VARIABLE
        }
        _ => return None,
    })
}

/// The declarations of a tree, nested as in the source.
pub fn declarations(root: &SyntaxNode) -> Vec<Declared> {
    let mut found = Vec::new();
    for node in root.children() {
        match declared(&node) {
            Some(declared) => found.push(declared),
            // Declarations within code are not listed.
            None if node.kind() == SyntaxKind::BLOCK => {}
            None => found.extend(declarations(&node)),
        }
    }
    found
}

fn declared(node: &SyntaxNode) -> Option<Declared> {
    let kind = kind_of(node.kind())?;
    let word = match node.kind() {
        SyntaxKind::FIELD | SyntaxKind::WIRE_FIELD => "field".to_string(),
        SyntaxKind::VARIANT => "value".to_string(),
        SyntaxKind::ALTERNATIVE => "alternative".to_string(),
        SyntaxKind::STACK_LAYER => "layer".to_string(),
        SyntaxKind::CONTAINED => "container".to_string(),
        _ => {
            let tokens = node.children_with_tokens().filter_map(|element| element.into_token());
            let mut words = tokens.filter(|token| token.kind() == SyntaxKind::IDENT);
            words.next().map_or(String::new(), |token| token.text().to_string())
        }
    };
    let named = node.children().find(|child| matches!(child.kind(), SyntaxKind::NAME | SyntaxKind::PATH));
    let (mut name, range) = match (&named, node.kind()) {
        (_, SyntaxKind::TEST) => {
            let title = node.children_with_tokens().find(|element| element.kind() == SyntaxKind::STRING)?;
            (title.to_string().trim_matches('"').to_string(), title.text_range())
        }
        (Some(named), _) => (named.text().to_string(), named.text_range()),
        (None, _) => return None,
    };
    if node.kind() == SyntaxKind::HANDLER {
        let between = node.text().to_string();
        let head = between.split(['(', '{']).next().unwrap_or(&between);
        name = head.lines().last().unwrap_or(head).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if name.is_empty() {
        return None;
    }
    let octets = |range: TextRange| usize::from(range.start())..usize::from(range.end());
    let begins = first_word(node).unwrap_or(node.text_range().start());
    let whole = usize::from(begins)..usize::from(node.text_range().end());
    Some(Declared { node: node.kind(), name, kind, word, whole, named: octets(range), within: declarations(node) })
}

/// Whether a word is the name that the node around it declares.
pub fn declares(word: &SyntaxToken) -> bool {
    let Some(named) = word.parent().filter(|node| node.kind() == SyntaxKind::NAME) else { return false };
    let Some(owner) = named.parent() else { return false };
    let is_first = owner.children().find(|child| child.kind() == SyntaxKind::NAME).as_ref() == Some(&named);
    is_first && (kind_of(owner.kind()).is_some_and(|_| owner.kind() != SyntaxKind::HANDLER) || binds(owner.kind()))
}

/// Parameters, locals, and declarations that take their names from them.
fn binds(kind: SyntaxKind) -> bool {
    use SyntaxKind as S;
    matches!(kind, S::PARAM | S::NAME_PATTERN | S::TUPLE_PATTERN | S::PATTERN_FIELD | S::BIND_EXPR | S::TYPE_PARAMS)
}

/// Where a node begins, without the comments before it.
pub fn first_word(node: &SyntaxNode) -> Option<mokume_syntax::TextSize> {
    let mut tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
    tokens.find(|token| !token.kind().is_trivia()).map(|token| token.text_range().start())
}

/// The outline of a document.
pub fn symbols(text: &str, lines: &Lines<'_>) -> Vec<DocumentSymbol> {
    let root = mokume_syntax::parse(FileId(0), text).syntax();
    declarations(&root).into_iter().map(|declared| symbol(declared, lines)).collect()
}

// The protocol type still has the deprecated field.
#[allow(deprecated)]
fn symbol(declared: Declared, lines: &Lines<'_>) -> DocumentSymbol {
    let within: Vec<_> = declared.within.into_iter().map(|declared| symbol(declared, lines)).collect();
    DocumentSymbol {
        name: declared.name,
        detail: Some(declared.word),
        kind: declared.kind,
        tags: None,
        deprecated: None,
        range: lines.range(declared.whole),
        selection_range: lines.range(declared.named),
        children: (!within.is_empty()).then_some(within),
    }
}

/// The foldable ranges: braces over several lines, comments of several lines, and lists of `use`.
pub fn folds(text: &str, lines: &Lines<'_>) -> Vec<FoldingRange> {
    let root = mokume_syntax::parse(FileId(0), text).syntax();
    let line = |offset| lines.position(usize::from(offset)).line;
    let mut folds = Vec::new();
    let mut open = Vec::new();
    let mut comment: Option<(u32, u32)> = None;
    let close = |comment: &mut Option<(u32, u32)>| comment.take().filter(|(from, to)| from < to);
    for token in root.descendants_with_tokens().filter_map(|element| element.into_token()) {
        let at = line(token.text_range().start());
        let ended = match (token.kind(), comment) {
            (SyntaxKind::COMMENT | SyntaxKind::DOC_COMMENT, Some((from, to))) if at <= to + 1 => {
                comment = Some((from, at));
                None
            }
            (SyntaxKind::COMMENT | SyntaxKind::DOC_COMMENT, _) => {
                let ended = close(&mut comment);
                comment = Some((at, at));
                ended
            }
            (SyntaxKind::WHITESPACE, _) => None,
            _ => close(&mut comment),
        };
        folds.extend(ended.map(|(from, to)| fold(from, to, Some(FoldingRangeKind::Comment))));
        match token.kind() {
            SyntaxKind::L_BRACE | SyntaxKind::L_PAREN | SyntaxKind::L_BRACKET => open.push((token.kind(), at)),
            SyntaxKind::R_BRACE | SyntaxKind::R_PAREN | SyntaxKind::R_BRACKET => {
                // The line with the closing brace stays visible.
                if let Some((_, from)) = open.pop().filter(|(_, from)| from + 1 < at) {
                    folds.push(fold(from, at - 1, None));
                }
            }
            _ => {}
        }
    }
    folds.extend(close(&mut comment).map(|(from, to)| fold(from, to, Some(FoldingRangeKind::Comment))));
    let uses: Vec<u32> = root
        .children()
        .filter(|node| node.kind() == SyntaxKind::USE)
        .filter_map(|node| first_word(&node).map(line))
        .collect();
    if let (Some(from), Some(to)) = (uses.first(), uses.last()) {
        folds.extend((from < to).then(|| fold(*from, *to, Some(FoldingRangeKind::Imports))));
    }
    folds
}

fn fold(from: u32, to: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange { start_line: from, end_line: to, kind, ..FoldingRange::default() }
}
