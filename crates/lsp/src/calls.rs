//! The parameters of a call: of functions, operations, layers, bundles, stacks, and of a layer's own header.

use ls_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation,
};
use mokume_base::{FileId, Span};
use mokume_semantics::program::{Layer, Param, Program, Type};
use mokume_semantics::types;
use mokume_syntax::ast::{self, AstNode};
use mokume_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextSize};

use crate::analysis::Analysis;
use crate::{hover, names};

/// What a call at a word may refer to.
pub struct Callee {
    pub name: String,
    /// The parameters with their types.
    pub params: Vec<(String, Type)>,
    /// The type of its result, if any.
    gives: Option<Type>,
    /// The place of its declaration, from which its documentation is read.
    declared: Option<Span>,
    /// For a header with several alternatives: the one that is sent.
    pub alternative: Option<String>,
}

impl Callee {
    /// The parameters that may be given by name: all but the message that is sent.
    pub fn named(&self) -> &[(String, Type)] {
        match self.declared {
            Some(_) => &self.params,
            None => self.params.get(1..).unwrap_or_default(),
        }
    }
}

/// All that the call around a token may refer to; something with several alternatives appears once for each.
pub fn around(analysis: &Analysis, file: FileId, token: &SyntaxToken) -> Vec<Callee> {
    use SyntaxKind as S;
    let is_call = |node: &SyntaxNode| matches!(node.kind(), S::CALL_EXPR | S::LAYER_USE | S::TEST_STACK | S::HOST);
    let Some(callee) = token
        .parent_ancestors()
        .find(is_call)
        .and_then(|call| call.children().take_while(|part| part.kind() != S::ARG_LIST).last())
    else {
        return Vec::new();
    };
    let tokens = callee.descendants_with_tokens().filter_map(|element| element.into_token());
    let words: Vec<SyntaxToken> = tokens.filter(|token| token.kind() == S::IDENT).collect();
    let texts: Vec<&str> = words.iter().map(SyntaxToken::text).collect();
    let program = &analysis.checked.program;
    let mut found = Vec::new();
    if let (["below", "send"], Some(layer)) = (&texts[..], layer_around(program, token, file)) {
        found.extend(sent(layer));
    }
    let last = words.last().map(|last| names::exact_declarations(analysis, ast::token_span(last, file)));
    for declared in last.into_iter().flatten() {
        found.extend(declared_at(program, declared));
    }
    found
}

/// The layer in whose text a token is.
pub fn layer_around<'p>(program: &'p Program, token: &SyntaxToken, file: FileId) -> Option<&'p Layer> {
    let here = token.parent_ancestors().find(|node| matches!(node.kind(), SyntaxKind::LAYER | SyntaxKind::PART))?;
    let here = ast::span_of(&here, file);
    let is_in = |name: Span| name.file == here.file && here.start <= name.start && name.end <= here.end;
    program.layers.iter().find(|layer| is_in(layer.name.span))
}

/// A message with the header's fields, once for each alternative of the header.
fn sent(layer: &Layer) -> Vec<Callee> {
    let mut all = Vec::new();
    for variant in layer.header.iter().flat_map(|header| &header.variants) {
        let fields = variant.fields.iter().map(|field| (field.name.text.clone(), field.ty));
        let alternative = Some(variant.name.text.clone()).filter(|name| name != "Header");
        let (name, mut params) = match &alternative {
            None => ("below.send".to_string(), vec![("msg".to_string(), Type::Message)]),
            Some(name) => (format!("below.send {name}"), Vec::new()),
        };
        params.extend(fields);
        all.push(Callee { name, params, gives: None, declared: None, alternative });
    }
    all
}

fn declared_at(program: &Program, declared: Span) -> Vec<Callee> {
    let mut found = Vec::new();
    let mut add = |name: &str, params: &[Param], gives: Option<Type>| {
        // A stack gets its devices when it runs.
        let params = params.iter().filter(|param| param.ty != Type::Unit);
        let params = params.map(|param| (param.name.text.clone(), param.ty)).collect();
        found.push(Callee { name: name.to_string(), params, gives, declared: Some(declared), alternative: None });
    };
    let of_layers = program.layers.iter().flat_map(|layer| &layer.functions);
    for function in program.functions.iter().chain(of_layers).filter(|known| known.name.span == declared) {
        add(&function.name.text, &function.params, Some(function.result).filter(|ty| *ty != Type::Unit));
    }
    for layer in program.layers.iter().filter(|known| known.name.span == declared) {
        add(&layer.name.text, &layer.params, None);
    }
    for bundle in program.bundles.iter().filter(|known| known.name.span == declared) {
        add(&bundle.name.text, &bundle.params, None);
    }
    for stack in program.stacks.iter().filter(|known| known.name.span == declared) {
        add(&stack.name.text, &stack.params, None);
    }
    found
}

/// An alternative of a header that a call writes, `Data { seq: 1 }`.
struct Alternative {
    name: String,
    /// Where between the braces the cursor is: at which field, and its name.
    nth: Option<usize>,
    field: Option<String>,
}

/// The alternative among the arguments of a call.
fn alternative(list: &SyntaxNode, callees: &[Callee], offset: TextSize) -> Option<Alternative> {
    let all = list.descendants().filter_map(ast::RecordExpr::cast);
    all.filter_map(|record| {
        let name = record.name()?.syntax().text().to_string();
        let name = name.trim().to_string();
        callees.iter().find(|callee| callee.alternative.as_ref() == Some(&name))?;
        let tokens = || record.syntax().children_with_tokens();
        let open = tokens().find(|part| part.kind() == SyntaxKind::L_BRACE)?.text_range().end();
        let close = tokens().find(|part| part.kind() == SyntaxKind::R_BRACE);
        let is_within = open <= offset && close.is_none_or(|close| offset <= close.text_range().start());
        let commas = tokens().filter(|part| part.kind() == SyntaxKind::COMMA && part.text_range().start() < offset);
        let fields = record.fields().into_iter();
        let here = fields.filter(|field| field.syntax().text_range().start() <= offset).last();
        let field = here.and_then(|field| field.name()).map(|name| name.syntax().text().to_string());
        Some(Alternative { name, nth: is_within.then(|| commas.count()), field: field.filter(|_| is_within) })
    })
    .next()
}

/// The signature help for an offset between a call's parentheses.
pub fn help(analysis: &Analysis, file: FileId, offset: u32) -> Option<SignatureHelp> {
    let root = analysis.tree(file);
    let offset = TextSize::from(offset).min(root.text_range().end());
    let mut token = root.token_at_offset(offset).left_biased()?;
    while token.kind().is_trivia() {
        token = token.prev_token()?;
    }
    let is_within = |list: &SyntaxNode| {
        let close = list.last_token().filter(|last| last.kind() == SyntaxKind::R_PAREN);
        list.kind() == SyntaxKind::ARG_LIST
            && list.text_range().start() < offset
            && close.is_none_or(|close| offset <= close.text_range().start())
    };
    let list = token.parent_ancestors().find(is_within)?;
    let open = list.first_token()?;
    let before = |at: TextSize| at < offset;
    let commas = list.children_with_tokens().filter(|part| part.kind() == SyntaxKind::COMMA);
    let nth = commas.filter(|comma| before(comma.text_range().start())).count();
    let given = list.children().filter_map(ast::Arg::cast);
    let here = given.filter(|arg| arg.syntax().text_range().start() <= offset).last();
    let named = here.and_then(|arg| arg.name()).map(|name| name.syntax().text().to_string());
    let program = &analysis.checked.program;
    let callees = around(analysis, file, &open);
    let written = alternative(&list, &callees, offset);
    let signatures: Vec<SignatureInformation> = callees
        .iter()
        .map(|callee| {
            let shown = |(name, ty): &(String, Type)| format!("{name}: {}", types::show(program, *ty));
            let params: Vec<String> = callee.params.iter().map(shown).collect();
            let place = |named: &String| callee.params.iter().position(|(name, _)| name == named);
            let active = match (&callee.alternative, &written) {
                (Some(name), Some(written)) if *name == written.name => {
                    written.field.as_ref().and_then(place).or(written.nth).unwrap_or(usize::MAX)
                }
                // Another one is written.
                (Some(_), Some(_)) => usize::MAX,
                _ => named.as_ref().and_then(place).unwrap_or(nth),
            };
            let gives = callee.gives.map_or(String::new(), |ty| format!(" -> {}", types::show(program, ty)));
            let docs = callee.declared.and_then(|declared| hover::docs(analysis, declared));
            let docs = docs.map(|value| MarkupContent { kind: MarkupKind::Markdown, value });
            let parameter = |label: &String| ParameterInformation {
                label: ParameterLabel::Simple(label.clone()),
                documentation: None,
            };
            SignatureInformation {
                label: format!("{}({}){gives}", callee.name, params.join(", ")),
                documentation: docs.map(Documentation::MarkupContent),
                parameters: Some(params.iter().map(parameter).collect()),
                active_parameter: (active < callee.params.len()).then_some(active as u32),
            }
        })
        .collect();
    // Of several alternatives, the one that is written; else the first that has a parameter here.
    let is_written = |callee: &Callee| written.as_ref().is_some_and(|of| callee.alternative.as_ref() == Some(&of.name));
    let fitting = callees.iter().position(is_written);
    let fitting = fitting.or_else(|| signatures.iter().position(|known| known.active_parameter.is_some())).unwrap_or(0);
    let active = signatures.get(fitting).and_then(|known| known.active_parameter);
    (!signatures.is_empty()).then_some(SignatureHelp {
        signatures,
        active_signature: Some(fitting as u32),
        active_parameter: active,
    })
}
