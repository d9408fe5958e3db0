//! What a call gave, as a client gets it. What a model can act on is a result; only faults of the protocol, and our own,
//! are errors of the protocol.

use std::fmt::Write as _;

use bailiwick_core::Refusal;
use bailiwick_tool::{Content, Contents, ResourceBody};
use bailiwick_types::{CallReport, ErrorCode, Failure};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject, ResourceContents};
use serde_json::{Value, json};

use crate::Era;

/// The result of a call that ran, or that policy or a person refused.
pub(crate) fn report(report: &CallReport, era: Era) -> CallToolResult {
    let mut about = JsonObject::new();
    about.insert("bailiwick/callId".to_owned(), json!(report.call_id()));
    about.insert("bailiwick/correlationId".to_owned(), json!(report.correlation_id()));
    about.insert("bailiwick/risk".to_owned(), json!(report.risk().level));
    let mut result = match report.failure() {
        None => value(report.value(), era),
        Some(failure) => {
            about.insert("bailiwick/error".to_owned(), json!(failure));
            CallToolResult::error(vec![ContentBlock::text(told(failure))])
        }
    };
    result.meta = Some(MetaObject(about));
    result
}

/// A value: as content where it says that it is some, else as text, and as data where the era has a place for it.
fn value(value: &Value, era: Era) -> CallToolResult {
    let fits = |data: &Value| era == Era::Stateless || data.is_object();
    // What says so and is none was told as a mistake before it got here; what no tool gave is data.
    if let Ok(Some(Contents { blocks, structured })) = Contents::read(value) {
        let mut result = CallToolResult::success(blocks.into_iter().map(block).collect());
        result.structured_content = structured.filter(fits);
        return result;
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value).filter(|data| fits(data)).cloned();
    result
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime } => ContentBlock::image(data, mime),
        Content::Audio { data, mime } => ContentBlock::audio(data, mime),
        Content::Resource { uri, mime: mime_type, body } => ContentBlock::resource(match body {
            ResourceBody::Text(text) => {
                ResourceContents::TextResourceContents { uri, mime_type, text, meta: None }
            }
            ResourceBody::Blob(blob) => {
                ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None }
            }
        }),
    }
}

/// A failure as a model reads it: which kind, what happened, what to do, what was denied.
fn told(failure: &Failure) -> String {
    let Failure { code, message, hint, location, stack: _, denied } = failure;
    let mut text = format!("{}: {message}", code.name());
    if let Some(location) = location {
        let _ = write!(text, " (line {}, column {})", location.line, location.column);
    }
    if let Some(hint) = hint {
        let _ = write!(text, "\nhint: {hint}");
    }
    if let Some(denied) = denied {
        let _ = write!(text, "\ndenied: {}", json!(denied));
    }
    text
}

/// A refusal as the result of a call.
pub(crate) fn refused(refusal: &Refusal) -> Result<CallToolResponse, ErrorData> {
    if refusal.code == ErrorCode::Internal {
        return Err(fault(refusal));
    }
    let Refusal { code, message, hint, faults } = refusal;
    let mut text = format!("{}: {message}", code.name());
    for fault in faults {
        let _ = write!(text, "\n- {}: {}", fault.path, fault.message);
    }
    if let Some(hint) = hint {
        let _ = write!(text, "\nhint: {hint}");
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let about = json!({"code": code, "message": message, "hint": hint});
    result.meta = Some(MetaObject(JsonObject::from_iter([("bailiwick/error".to_owned(), about)])));
    Ok(result.into())
}

/// A refusal where there is no result to put it into.
pub(crate) fn fault(refusal: &Refusal) -> ErrorData {
    let data = Some(json!({"code": refusal.code, "hint": refusal.hint}));
    match refusal.code {
        ErrorCode::InvalidInput | ErrorCode::Validation | ErrorCode::NotFound => {
            ErrorData::invalid_params(refusal.message.clone(), data)
        }
        ErrorCode::Internal | ErrorCode::Unavailable | ErrorCode::Busy => {
            ErrorData::internal_error(refusal.message.clone(), data)
        }
        // Who asks is at fault, not we.
        _ => ErrorData::invalid_request(refusal.message.clone(), data),
    }
}
