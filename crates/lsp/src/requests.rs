//! What can be asked, and who answers it: one line a request.

use ls_types::request::{self as asked, Request as _};
use ls_types::{
    DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse, FoldingRangeParams,
    FoldingRangeProviderCapability, OneOf, SaveOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, TextEdit, Uri, WorkspaceSymbolParams,
};
use lsp_server::ErrorCode;
use mokume_driver::fmt::{self, Outcome};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

use mokume_base::world::World;

use crate::session::Session;
use crate::text::{Columns, Lines};
use crate::{documents, outline, workspace};

/// What a request is answered with.
pub type Answer = Result<Value, (ErrorCode, String)>;

/// What the server says of itself.
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
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// The answer to a request of an editor.
pub fn answer(session: &mut Session<'_>, method: &str, params: Value) -> Answer {
    match method {
        asked::Formatting::METHOD => formatted(session, read(params)?),
        asked::DocumentSymbolRequest::METHOD => symbols(session, read(params)?),
        asked::FoldingRangeRequest::METHOD => folds(session, read(params)?),
        asked::WorkspaceSymbolRequest::METHOD => found(session, read(params)?),
        _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not known here"))),
    }
}

/// The text of a document, if it can be read.
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

/// One edit, of what differs: an editor keeps cursors and folds in what stays.
fn edits(old: &str, new: &str, columns: Columns) -> Vec<TextEdit> {
    let same = |(a, b): &(char, char)| a == b;
    let front: usize = old.chars().zip(new.chars()).take_while(same).map(|(a, _)| a.len_utf8()).sum();
    let rest = (&old[front..], &new[front..]);
    let back: usize = rest.0.chars().rev().zip(rest.1.chars().rev()).take_while(same).map(|(a, _)| a.len_utf8()).sum();
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

/// Parameters in the form that the protocol says.
pub fn read<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// A result as JSON.
pub fn write(result: &impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
