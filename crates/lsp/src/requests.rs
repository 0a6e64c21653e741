//! What can be asked, and who answers it: one line a request.

use ls_types::{
    SaveOptions, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};
use lsp_server::ErrorCode;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

use crate::session::Session;
use crate::text::Columns;

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
        ..ServerCapabilities::default()
    }
}

/// The answer to a request of an editor.
pub fn answer(_session: &mut Session<'_>, method: &str, _params: Value) -> Answer {
    match method {
        _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not known here"))),
    }
}

/// Parameters in the form that the protocol says.
pub fn read<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// A result as JSON.
pub fn write(result: &impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
