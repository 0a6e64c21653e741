//! Semantic tokens, for colours that a grammar of patterns cannot know: a keyword in one place may be a name in
//! another.

use std::collections::BTreeMap;

use ls_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SymbolKind};
use mokume_base::{FileId, Span};
use mokume_syntax::{ast, SyntaxKind, SyntaxToken};

use crate::analysis::Analysis;
use crate::outline;
use crate::text::Lines;

/// The kinds, by number.
pub const KINDS: [SemanticTokenType; 14] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::TYPE,
    SemanticTokenType::CLASS,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::EVENT,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::INTERFACE,
];

/// The modifiers, by bit.
pub const MODIFIERS: [SemanticTokenModifier; 2] = [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::READONLY];

const DECLARATION: u32 = 1;
const READONLY: u32 = 2;

/// All words of a file in the protocol's form, each relative to the previous one.
pub fn of(analysis: &Analysis, file: FileId, lines: &Lines<'_>) -> Vec<SemanticToken> {
    let mut known = Known { analysis, kinds: BTreeMap::new() };
    let mut tokens = Vec::new();
    let mut last = ls_types::Position::default();
    for token in analysis.tree(file).descendants_with_tokens().filter_map(|element| element.into_token()) {
        let Some((kind, modifiers)) = known.kind(&token, file) else { continue };
        let range = token.text_range();
        let octets = usize::from(range.start())..usize::from(range.end());
        let at = lines.range(octets);
        if at.start.line != at.end.line {
            continue;
        }
        let delta_line = at.start.line - last.line;
        tokens.push(SemanticToken {
            delta_line,
            delta_start: if delta_line == 0 { at.start.character - last.character } else { at.start.character },
            length: at.end.character - at.start.character,
            token_type: kind,
            token_modifiers_bitset: modifiers,
        });
        last = at.start;
    }
    tokens
}

/// The number of a kind.
fn number(kind: &SemanticTokenType) -> u32 {
    KINDS.iter().position(|known| known == kind).unwrap_or(0) as u32
}

struct Known<'a> {
    analysis: &'a Analysis,
    /// Kind and modifiers, by the place of the declaration.
    kinds: BTreeMap<Span, (u32, u32)>,
}

impl Known<'_> {
    fn kind(&mut self, token: &SyntaxToken, file: FileId) -> Option<(u32, u32)> {
        use SyntaxKind as S;
        Some(match token.kind() {
            S::COMMENT | S::DOC_COMMENT => (number(&SemanticTokenType::COMMENT), 0),
            S::STRING | S::HEX_STRING => (number(&SemanticTokenType::STRING), 0),
            S::NUMBER | S::DOTTED | S::COLONS => (number(&SemanticTokenType::NUMBER), 0),
            S::IDENT => self.word(token, file),
            _ => return None,
        })
    }

    fn word(&mut self, token: &SyntaxToken, file: FileId) -> (u32, u32) {
        use SyntaxKind as S;
        let parent = token.parent().map_or(S::FILE, |parent| parent.kind());
        if !matches!(parent, S::NAME | S::NAME_EXPR) {
            return match parent {
                S::USE_PATH => (number(&SemanticTokenType::NAMESPACE), 0),
                _ => (number(&SemanticTokenType::KEYWORD), 0),
            };
        }
        let at = ast::token_span(token, file);
        if let Some(declared) = crate::names::exact_declarations(self.analysis, at).first() {
            let (kind, modifiers) = self.declared(*declared);
            return (kind, if *declared == at { modifiers | DECLARATION } else { modifiers });
        }
        if outline::declares(token) {
            let (kind, modifiers) = self.declared(at);
            return (kind, modifiers | DECLARATION);
        }
        match (parent, token.text(), token.parent().and_then(|name| name.parent()).map(|owner| owner.kind())) {
            (S::NAME, _, Some(S::NAMED_TYPE)) => (number(&SemanticTokenType::TYPE), 0),
            (S::NAME_EXPR, "above" | "below" | "refuse" | "again", _) => (number(&SemanticTokenType::KEYWORD), 0),
            (S::NAME_EXPR, _, Some(S::CALL_EXPR)) => (number(&SemanticTokenType::FUNCTION), 0),
            (S::NAME, _, Some(S::FIELD_EXPR | S::PATH)) => (number(&SemanticTokenType::EVENT), 0),
            _ => (number(&SemanticTokenType::VARIABLE), 0),
        }
    }

    /// Kind and modifiers of what is declared at a place.
    fn declared(&mut self, declared: Span) -> (u32, u32) {
        if let Some(known) = self.kinds.get(&declared) {
            return *known;
        }
        let root = self.analysis.tree(declared.file);
        let token = root.token_at_offset(declared.start.into()).right_biased();
        let owner = token.and_then(|token| token.parent()).and_then(|name| name.parent());
        let kind = owner.map_or(SyntaxKind::FILE, |owner| owner.kind());
        let found = match (kind, outline::kind_of(kind)) {
            (SyntaxKind::PARAM | SyntaxKind::PATTERN_FIELD, _) => (SemanticTokenType::PARAMETER, 0),
            (_, Some(SymbolKind::CONSTANT)) => (SemanticTokenType::VARIABLE, READONLY),
            (SyntaxKind::WIRE, _) => (SemanticTokenType::TYPE, 0),
            (_, Some(SymbolKind::STRUCT | SymbolKind::ENUM)) => (SemanticTokenType::TYPE, 0),
            (_, Some(SymbolKind::ENUM_MEMBER)) => (SemanticTokenType::ENUM_MEMBER, 0),
            (_, Some(SymbolKind::FIELD | SymbolKind::PROPERTY)) => (SemanticTokenType::PROPERTY, 0),
            (_, Some(SymbolKind::INTERFACE)) => (SemanticTokenType::INTERFACE, 0),
            (_, Some(SymbolKind::EVENT)) => (SemanticTokenType::EVENT, 0),
            (_, Some(SymbolKind::FUNCTION | SymbolKind::METHOD)) => (SemanticTokenType::FUNCTION, 0),
            (_, Some(SymbolKind::CLASS)) => (SemanticTokenType::CLASS, 0),
            (_, Some(SymbolKind::MODULE | SymbolKind::NAMESPACE)) => (SemanticTokenType::NAMESPACE, 0),
            _ => (SemanticTokenType::VARIABLE, 0),
        };
        let found = (number(&found.0), found.1);
        self.kinds.insert(declared, found);
        found
    }
}
