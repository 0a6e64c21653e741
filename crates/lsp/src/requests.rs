//! The requests of the protocol and the functions that answer them: one line a request.

use std::collections::HashMap;
use std::rc::Rc;

use ls_types::request::{self as asked, Request as _};
use ls_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionProviderCapability, CodeLensOptions, CodeLensParams,
    CompletionOptions, CompletionParams, DocumentFormattingParams, DocumentHighlight, DocumentHighlightKind,
    DocumentHighlightParams, DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandOptions, ExecuteCommandParams,
    FoldingRangeParams, FoldingRangeProviderCapability, GotoDefinitionParams, Hover, HoverContents, HoverParams,
    HoverProviderCapability, InlayHintParams, Location, MarkupContent, MarkupKind, OneOf, PrepareRenameResponse,
    ReferenceParams, RenameOptions, RenameParams, SaveOptions, SelectionRangeParams, SelectionRangeProviderCapability,
    SemanticTokens, SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions, SemanticTokensParams,
    SemanticTokensServerCapabilities, ServerCapabilities, SignatureHelpOptions, SignatureHelpParams,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, TextEdit, Uri, WorkDoneProgressOptions, WorkspaceEdit,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities, WorkspaceSymbolParams,
};
use lsp_server::ErrorCode;
use mokume_driver::fmt::{self, Outcome};
use mokume_driver::library;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

use mokume_base::world::World;
use mokume_base::FileId;

use crate::analysis::Analysis;
use crate::places::Places;
use crate::runs::{Asked, What};
use crate::session::Session;
use crate::text::{Columns, Lines};
use crate::{
    calls, complete, documents, fixes, hints, hover, names, outline, rename, runs, selection, tokens, workspace,
};

/// The most declarations that a hover shows for one name.
const MOST_HOVERS: usize = 4;

/// The answer to a request.
pub type Answer = Result<Value, (ErrorCode, String)>;

/// The server's capabilities.
pub fn capabilities(columns: Columns) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(columns.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_string(), ":".to_string()]),
            ..CompletionOptions::default()
        }),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: tokens::KINDS.to_vec(),
                    token_modifiers: tokens::MODIFIERS.to_vec(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![runs::TEST.to_string(), runs::SIMULATE.to_string()],
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_string(), ",".to_string()]),
            ..SignatureHelpOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        document_highlight_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// Answers a request of the editor.
pub fn answer(session: &mut Session<'_>, method: &str, params: Value) -> Answer {
    match method {
        asked::Formatting::METHOD => formatted(session, read(params)?),
        asked::DocumentSymbolRequest::METHOD => symbols(session, read(params)?),
        asked::FoldingRangeRequest::METHOD => folds(session, read(params)?),
        asked::WorkspaceSymbolRequest::METHOD => found(session, read(params)?),
        asked::HoverRequest::METHOD => hover(session, read(params)?),
        asked::GotoDefinition::METHOD => definition(session, read(params)?),
        asked::Completion::METHOD => completed(session, read(params)?),
        asked::PrepareRenameRequest::METHOD => renameable(session, read(params)?),
        asked::Rename::METHOD => renamed(session, read(params)?),
        asked::CodeActionRequest::METHOD => fixed(session, read(params)?),
        asked::SemanticTokensFullRequest::METHOD => coloured(session, read(params)?),
        asked::InlayHintRequest::METHOD => hinted(session, read(params)?),
        asked::SignatureHelpRequest::METHOD => signatures(session, read(params)?),
        asked::SelectionRangeRequest::METHOD => selected(session, read(params)?),
        asked::CodeLensRequest::METHOD => lenses(session, read(params)?),
        asked::References::METHOD => references(session, read(params)?),
        asked::DocumentHighlightRequest::METHOD => highlights(session, read(params)?),
        _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not known here"))),
    }
}

/// The text of a document; an error if it cannot be read.
fn text_of(session: &Session<'_>, uri: &Uri) -> Result<String, (ErrorCode, String)> {
    let name = documents::name_of(session.world, uri);
    let text = session.overlay().read_text(&name);
    text.map_err(|error| (ErrorCode::InvalidParams, format!("cannot read `{name}`: {error}")))
}

fn formatted(session: &Session<'_>, params: DocumentFormattingParams) -> Answer {
    let text = text_of(session, &params.text_document.uri)?;
    match fmt::text("the document", &text) {
        Ok((_, Outcome::Changed(new))) => write(&edits(&text, &new, session.columns)),
        Ok((_, Outcome::Same)) => write(&Vec::<TextEdit>::new()),
        Ok((_, Outcome::Refused(_))) => {
            Err((ErrorCode::RequestFailed, "what has mistakes is not laid out; see the diagnostics".to_string()))
        }
        Err(failure) => Err((ErrorCode::RequestFailed, failure.to_string())),
    }
}

/// One edit that covers the difference: the editor keeps cursors and folds in the rest.
fn edits(old: &str, new: &str, columns: Columns) -> Vec<TextEdit> {
    let same = |(a, b): &(char, char)| a == b;
    let front: usize = old.chars().zip(new.chars()).take_while(same).map(|(a, _)| a.len_utf8()).sum();
    let rest = (&old[front..], &new[front..]);
    let back: usize = rest.0.chars().rev().zip(rest.1.chars().rev()).take_while(same).map(|(a, _)| a.len_utf8()).sum();
    // No position is between the two characters of a line's end.
    let is_within_end = |at: usize| old[..at].ends_with('\r') && old[at..].starts_with('\n');
    let front = front - usize::from(is_within_end(front));
    let back = back - usize::from(back > 0 && is_within_end(old.len() - back));
    let range = Lines::new(old, columns).range(front..old.len() - back);
    vec![TextEdit { range, new_text: new[front..new.len() - back].to_string() }]
}

fn symbols(session: &Session<'_>, params: DocumentSymbolParams) -> Answer {
    let text = text_of(session, &params.text_document.uri)?;
    write(&DocumentSymbolResponse::Nested(outline::symbols(&text, &Lines::new(&text, session.columns))))
}

fn folds(session: &Session<'_>, params: FoldingRangeParams) -> Answer {
    let text = text_of(session, &params.text_document.uri)?;
    write(&outline::folds(&text, &Lines::new(&text, session.columns)))
}

fn found(session: &Session<'_>, params: WorkspaceSymbolParams) -> Answer {
    write(&workspace::symbols(session, &params.query))
}

/// The analysis, file and offset of a position in a document; `None` if the document cannot be read.
fn at(session: &mut Session<'_>, place: &TextDocumentPositionParams) -> Option<(Rc<Analysis>, FileId, u32)> {
    let name = documents::name_of(session.world, &place.text_document.uri);
    let (known, file) = session.analysis(&name)?;
    let offset = Lines::new(&known.checked.sources.file(file).text, session.columns).offset(place.position);
    Some((known, file, offset as u32))
}

fn completed(session: &mut Session<'_>, params: CompletionParams) -> Answer {
    let place = &params.text_document_position;
    let text = text_of(session, &place.text_document.uri)?;
    let offset = Lines::new(&text, session.columns).offset(place.position);
    let name = documents::name_of(session.world, &place.text_document.uri);
    let (patched, from) = complete::patched(&text, offset);
    let known = session.analysis_of(&name, patched);
    let Some(file) = known.file(&name) else { return Ok(Value::Null) };
    let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let modules = library::modules(&session.overlay(), folder);
    write(&complete::at(&known, file, from, &modules))
}

fn hover(session: &mut Session<'_>, params: HoverParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params.text_document_position_params) else {
        return Ok(Value::Null);
    };
    let Some(word) = names::word(&known, file, offset) else { return Ok(Value::Null) };
    let declared = workspace::declarations(session, &known, (file, &word), true);
    let each = declared.places.iter().flat_map(|(known, places)| places.iter().map(move |place| (known, *place)));
    let mut texts: Vec<String> = each.filter_map(|(known, place)| hover::text(known, place)).collect();
    texts.extend(declared.explained);
    texts.dedup();
    texts.truncate(MOST_HOVERS);
    if texts.is_empty() {
        return Ok(Value::Null);
    }
    let value = texts.join("\n\n---\n\n");
    let range = Lines::new(&known.checked.sources.file(file).text, session.columns);
    let range = range.range(word.at.start as usize..word.at.end as usize);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    write(&Hover { contents, range: Some(range) })
}

fn definition(session: &mut Session<'_>, params: GotoDefinitionParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params.text_document_position_params) else {
        return Ok(Value::Null);
    };
    let used = names::used(&known, file, offset);
    if let Some(word) = names::word(&known, file, offset).filter(|_| used.is_empty()) {
        return write(&workspace::declarations(session, &known, (file, &word), false).locations(session));
    }
    let address = |name: &str| session.address(name);
    let places = Places::new(&known.checked.sources, session.columns, &address);
    write(&used.iter().filter_map(|span| places.location(*span)).collect::<Vec<_>>())
}

fn references(session: &mut Session<'_>, params: ReferenceParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params.text_document_position) else { return Ok(Value::Null) };
    let Some(word) = names::word(&known, file, offset) else { return Ok(Value::Null) };
    let mut found = workspace::uses(session, &known, &word);
    if params.context.include_declaration {
        found.extend(workspace::declarations(session, &known, (file, &word), false).locations(session));
    }
    let key = |place: &Location| (place.uri.clone(), place.range.start.line, place.range.start.character);
    found.sort_by_key(key);
    found.dedup();
    write(&found)
}

fn refused(why: String) -> (ErrorCode, String) {
    (ErrorCode::RequestFailed, why)
}

fn renameable(session: &mut Session<'_>, params: TextDocumentPositionParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params) else { return Ok(Value::Null) };
    let Some(word) = names::word(&known, file, offset) else { return Ok(Value::Null) };
    rename::places(session, &known, &word).map_err(refused)?;
    let range = Lines::new(&known.checked.sources.file(file).text, session.columns);
    let range = range.range(word.at.start as usize..word.at.end as usize);
    write(&PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: word.text })
}

fn renamed(session: &mut Session<'_>, params: RenameParams) -> Answer {
    let new = params.new_name;
    let Some((known, file, offset)) = at(session, &params.text_document_position) else { return Ok(Value::Null) };
    let Some(word) = names::word(&known, file, offset) else { return Ok(Value::Null) };
    if !rename::is_name(&new) {
        return Err(refused(format!(
            "`{new}` is no name: letters, digits and `_`, and none of the words that values are made of"
        )));
    }
    let places = rename::places(session, &known, &word).map_err(refused)?;
    rename::renamed(session, &known, (&word.text, &new), &places).map_err(refused)?;
    let mut changes = HashMap::new();
    for ((name, start, end), new_text) in places.edits(&new) {
        let (Some(uri), Some(text)) = (session.address(name), session.text(name)) else { continue };
        let range = Lines::new(&text, session.columns).range(*start as usize..*end as usize);
        changes.entry(uri).or_insert_with(Vec::new).push(TextEdit { range, new_text });
    }
    write(&WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

fn fixed(session: &mut Session<'_>, params: CodeActionParams) -> Answer {
    let uri = params.text_document.uri;
    let name = documents::name_of(session.world, &uri);
    let Some((known, file)) = session.analysis(&name) else { return Ok(Value::Null) };
    let lines = Lines::new(&known.checked.sources.file(file).text, session.columns);
    let asked = lines.octets(params.range);
    let only = params.context.only.as_ref();
    // A requested kind includes its sub-kinds.
    let wanted = |kind: &str| {
        let is_of = |only: &CodeActionKind| {
            let rest = kind.strip_prefix(only.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || only.as_str().is_empty())
        };
        only.is_none_or(|only| only.iter().any(is_of))
    };
    let mut actions = Vec::new();
    let fixable = if wanted(CodeActionKind::QUICKFIX.as_str()) { fixes::of(&known, file, &asked) } else { Vec::new() };
    for (found, fixes) in fixable {
        for fix in fixes {
            let edit = TextEdit { range: lines.range(fix.octets), new_text: fix.text };
            let range =
                found.primary.as_ref().map(|label| lines.range(label.span.start as usize..label.span.end as usize));
            let same = |shown: &&ls_types::Diagnostic| Some(shown.range) == range;
            actions.push(CodeAction {
                title: fix.title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(params.context.diagnostics.iter().filter(same).cloned().collect()),
                edit: Some(WorkspaceEdit {
                    changes: Some(HashMap::from([(uri.clone(), vec![edit])])),
                    ..WorkspaceEdit::default()
                }),
                is_preferred: Some(true),
                ..CodeAction::default()
            });
        }
    }
    if wanted(runs::KIND) && session.shelf.name_of(&name).is_none() {
        let text = &known.checked.sources.file(file).text;
        actions.extend(runs::around(text, &uri, &asked).into_iter().map(|command| CodeAction {
            title: command.title.clone(),
            kind: Some(CodeActionKind::from(runs::KIND)),
            command: Some(command),
            ..CodeAction::default()
        }));
    }
    write(&actions)
}

fn coloured(session: &mut Session<'_>, params: SemanticTokensParams) -> Answer {
    let name = documents::name_of(session.world, &params.text_document.uri);
    let Some((known, file)) = session.analysis(&name) else { return Ok(Value::Null) };
    let lines = Lines::new(&known.checked.sources.file(file).text, session.columns);
    write(&SemanticTokens { result_id: None, data: tokens::of(&known, file, &lines) })
}

fn hinted(session: &mut Session<'_>, params: InlayHintParams) -> Answer {
    let name = documents::name_of(session.world, &params.text_document.uri);
    let Some((known, file)) = session.analysis(&name) else { return Ok(Value::Null) };
    let lines = Lines::new(&known.checked.sources.file(file).text, session.columns);
    write(&hints::of(&known, file, &lines, &lines.octets(params.range)))
}

fn signatures(session: &mut Session<'_>, params: SignatureHelpParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params.text_document_position_params) else {
        return Ok(Value::Null);
    };
    write(&calls::help(&known, file, offset))
}

fn selected(session: &Session<'_>, params: SelectionRangeParams) -> Answer {
    let text = text_of(session, &params.text_document.uri)?;
    let (root, lines) = (mokume_syntax::parse(FileId(0), &text).syntax(), Lines::new(&text, session.columns));
    let around = params.positions.iter().map(|place| selection::around(&root, &lines, lines.offset(*place)));
    write(&around.collect::<Vec<_>>())
}

fn lenses(session: &Session<'_>, params: CodeLensParams) -> Answer {
    let uri = params.text_document.uri;
    // The tests of the library itself are not part of the built-in library.
    if session.shelf.name_of(&documents::name_of(session.world, &uri)).is_some() {
        return Ok(Value::Null);
    }
    let text = text_of(session, &uri)?;
    write(&runs::lenses(&text, &Lines::new(&text, session.columns), &uri))
}

/// The test or network that the editor asks to run; an error if it cannot run.
pub fn to_run(session: &Session<'_>, params: ExecuteCommandParams) -> Result<Asked, (ErrorCode, String)> {
    let wrong = |why: &str| (ErrorCode::InvalidParams, format!("`{}`: {why}", params.command));
    let mut words = params.arguments.iter();
    let uri = words.next().ok_or_else(|| wrong("the file's address comes first"))?;
    let uri: Uri = serde_json::from_value(uri.clone()).map_err(|error| wrong(&error.to_string()))?;
    let name = words.next().map(|name| name.as_str().map(str::to_string).ok_or_else(|| wrong("a name is a text")));
    let name = name.transpose()?;
    let file = documents::name_of(session.world, &uri);
    let what = match (params.command.as_str(), name) {
        (runs::TEST, Some(name)) => What::Test(name),
        (runs::TEST, None) => What::Tests,
        (runs::SIMULATE, Some(name)) => {
            let page = session.shelf.page_of_run(session.world, &file, &name);
            let page = page.map_err(|error| refused(format!("no page of the run can be written: {error}")))?;
            What::Network { page, name }
        }
        (runs::SIMULATE, None) => return Err(wrong("the network's name comes second")),
        _ => return Err(wrong("there is no such command")),
    };
    if session.is_unsaved(&file) {
        return Err(refused(format!("`{file}` is not saved: what runs is the file; save it, and try again")));
    }
    Ok(Asked { uri, file, what })
}

fn highlights(session: &mut Session<'_>, params: DocumentHighlightParams) -> Answer {
    let Some((known, file, offset)) = at(session, &params.text_document_position_params) else {
        return Ok(Value::Null);
    };
    let Some(word) = names::word(&known, file, offset) else { return Ok(Value::Null) };
    let declared = names::meant(&known, word.at);
    let uses = names::uses(&known, &declared).into_iter().chain(declared).filter(|span| span.file == file);
    let lines = Lines::new(&known.checked.sources.file(file).text, session.columns);
    let shown = uses.map(|span| DocumentHighlight {
        range: lines.range(span.start as usize..span.end as usize),
        kind: Some(DocumentHighlightKind::TEXT),
    });
    write(&shown.collect::<Vec<_>>())
}

/// Parameters as the protocol defines them; an error if they have another form.
pub fn read<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// A result as JSON.
pub fn write(result: &impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
