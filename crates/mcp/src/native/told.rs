//! What came of a call on sandboxes, as a client gets it: text that a model reads, and the same as data.

use std::fmt::Write as _;

use bailiwick_core::sandboxes::{
    Captured, EntryKind, ExecResult, ExecView, Exit, InputBytes, OutputPiece, PythonRan, SandboxView,
};
use bailiwick_core::{Refusal, Reply};
use bailiwick_types::{CorrelationId, ErrorCode, visible};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

use super::wishes::{MOST_BYTES, cursor_text};

/// The most of a file that is read as text at once, in bytes.
pub(super) const MOST_READ: usize = 256 * 1024;
/// How much that is where nobody says.
pub(super) const READ_AT_ONCE: usize = 64 * 1024;
/// The most of a stream in a text, in bytes: its beginning and its end.
const HEAD: usize = 8 * 1024;
const TAIL: usize = 24 * 1024;
/// The most entries of a folder that are told.
const MOST_ENTRIES: usize = 1000;

/// How a result is told, beside what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Telling {
    /// By itself.
    Plain,
    /// A command, or the start of one.
    Exec,
    /// Text of a file.
    Text { path: String, offset: usize, limit: usize },
    /// Bytes of a file.
    Bytes { path: String },
    /// A file that was written.
    Written { path: String, bytes: usize },
    /// What is in a folder.
    Listed { path: String },
    /// A sandbox that is gone.
    Closed { sandbox: String },
}

/// The result of a call.
pub(crate) fn told(reply: Reply, telling: Telling) -> Result<CallToolResult, Refusal> {
    Ok(match (reply, telling) {
        (Reply::Executed(executed), telling) => {
            let mut data = json!(executed.result);
            if let (Telling::Exec, Value::Object(data)) = (telling, &mut data) {
                data.insert("running".to_owned(), json!(false));
            }
            given(ran(&executed.result, &executed.warnings), data, Some(&executed.result.correlation_id))
        }
        (Reply::Python(ran), _) => python(*ran),
        (Reply::Sandbox(view), _) => made(&view),
        (Reply::ExecStarted(line), _) => {
            let text = format!(
                "It runs in the background as exec_id {}. sandbox_poll tells what it says and how it ends.",
                line.id
            );
            given(text, json!({"execId": line.id, "running": true}), None)
        }
        (Reply::ExecView(view), _) => polled(&view),
        (Reply::FileBytes(bytes), Telling::Text { path, offset, limit }) => {
            read(bytes, &path, offset, limit)?
        }
        (Reply::FileBytes(bytes), Telling::Bytes { path }) => downloaded(bytes, &path)?,
        (Reply::Done, Telling::Written { path, bytes }) => given(
            format!("{bytes} bytes are in {}.", visible(&path)),
            json!({"path": path, "bytes": bytes}),
            None,
        ),
        (Reply::FileEntries(entries), Telling::Listed { path }) => listed(&entries, &path),
        (Reply::Done, Telling::Closed { sandbox }) => given(
            "The sandbox is closed, and nothing of it is left.".to_owned(),
            json!({"sandboxId": sandbox, "closed": true}),
            None,
        ),
        (Reply::Exposed { port, host_port }, _) => {
            let url = format!("http://127.0.0.1:{host_port}/");
            let text =
                format!("Port {port} of the sandbox is reached at {url} on the host, and nowhere else.");
            given(text, json!({"port": port, "hostPort": host_port, "url": url}), None)
        }
        _ => return Err(Refusal::new(ErrorCode::Internal, "a call was asked for and something else came")),
    })
}

fn given(text: String, data: Value, correlation: Option<&CorrelationId>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(data);
    result.meta = correlation.map(|correlation| {
        MetaObject(JsonObject::from_iter([("bailiwick/correlationId".to_owned(), json!(correlation))]))
    });
    result
}

/// How a command ended, in one line.
fn ending(result: &ExecResult) -> String {
    let mut text = match result.exit {
        _ if result.timed_out => {
            format!("timed out: its deadline ended it after {:.1} s", result.usage.wall_ms / 1000.0)
        }
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
        Exit::NotFound => "did not start: there is no such program (127)".to_owned(),
        Exit::NotExecutable => "did not start: it cannot be executed (126)".to_owned(),
    };
    if result.oom {
        text.push_str("; the kernel ended something of it for want of memory");
    }
    text
}

fn ran(result: &ExecResult, warnings: &[String]) -> String {
    let mut text = ending(result);
    stream(&mut text, "stdout", &result.stdout.bytes);
    cut(&mut text, "stdout", &result.stdout);
    stream(&mut text, "stderr", &result.stderr.bytes);
    cut(&mut text, "stderr", &result.stderr);
    denied(&mut text, result);
    for warning in warnings {
        let _ = write!(text, "\nnote: {warning}");
    }
    text
}

fn denied(text: &mut String, result: &ExecResult) {
    for denial in &result.denials {
        let _ = write!(text, "\ndenied: {}", json!(denial));
    }
}

/// A stream, as far as somebody will read it.
fn stream(text: &mut String, name: &str, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let said = String::from_utf8_lossy(bytes);
    let _ = write!(text, "\n--- {name} ---\n");
    if said.len() <= HEAD + TAIL {
        text.push_str(&said);
        return;
    }
    let (head, tail) = (floor(&said, HEAD), floor(&said, said.len() - TAIL));
    let (begin, end) = (said.get(..head).unwrap_or_default(), said.get(tail..).unwrap_or_default());
    let _ = write!(text, "{begin}\n[… {} bytes are left out here …]\n{end}", tail - head);
}

/// The nearest place at or before one where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn cut(text: &mut String, name: &str, captured: &Captured) {
    if captured.truncated {
        let kept = captured.bytes.len();
        let _ = write!(
            text,
            "\n[{name} is truncated: only its first {kept} bytes were kept. Write to a file and read parts of it.]"
        );
    }
}

fn python(ran: PythonRan) -> CallToolResult {
    let PythonRan { executed, value, error, session, is_lost } = ran;
    let result = &executed.result;
    let mut text = match (&error, result.timed_out, is_lost) {
        (None, false, false) if result.exit == Exit::Code(0) => String::from("ok"),
        (Some(error), ..) => format!("failed: {error}"),
        _ => ending(result),
    };
    if let Some(value) = &value {
        let _ = write!(text, "\n--- value ---\n{value}");
    }
    stream(&mut text, "stdout", &result.stdout.bytes);
    cut(&mut text, "stdout", &result.stdout);
    stream(&mut text, "stderr", &result.stderr.bytes);
    cut(&mut text, "stderr", &result.stderr);
    denied(&mut text, result);
    match session {
        Some(id) if is_lost => {
            let _ = write!(
                text,
                "\nThe session's Python was ended and its variables are lost; files of session {id} are still there."
            );
        }
        Some(id) => {
            let _ = write!(text, "\nsession: {id}");
        }
        None => {}
    }
    let mut data = json!(result);
    if let Value::Object(data) = &mut data {
        data.insert("value".to_owned(), json!(value));
        data.insert("error".to_owned(), json!(error));
        data.insert("session".to_owned(), json!(session));
        data.insert("variablesLost".to_owned(), json!(is_lost));
    }
    given(text, data, Some(&result.correlation_id))
}

fn made(view: &SandboxView) -> CallToolResult {
    let mut text = format!(
        "sandbox_id {}: commands begin in /work; it ends with sandbox_close, or when it is not used until {}.",
        view.line.id, view.line.ends_at
    );
    for warning in &view.warnings {
        let _ = write!(text, "\nnote: {warning}");
    }
    let data = json!({
        "sandboxId": view.line.id, "network": view.line.network, "backend": view.line.backend,
        "tier": view.line.tier, "endsAt": view.line.ends_at, "limits": view.spec.get("limits"),
        "receipt": view.receipt, "warnings": view.warnings, "correlationId": view.correlation_id,
    });
    given(text, data, view.correlation_id.as_ref())
}

fn polled(view: &ExecView) -> CallToolResult {
    let ExecView { line, stdout, stderr, cursor, result, failure } = view;
    let cursor = cursor_text(*cursor);
    let mut text = match (result, failure) {
        _ if line.is_running => "it runs".to_owned(),
        (Some(result), _) => ending(result),
        (None, Some(failure)) => format!("it ended: {}", failure.message),
        (None, None) => "it ended".to_owned(),
    };
    piece(&mut text, "stdout", stdout);
    piece(&mut text, "stderr", stderr);
    if let Some(result) = result {
        denied(&mut text, result);
    }
    let more = stdout.is_more || stderr.is_more;
    let _ = write!(text, "\ncursor: {cursor}{}", if more { " (there is more already)" } else { "" });
    let mut data = match result {
        Some(result) => json!(result),
        None => json!({"exitCode": null, "signal": null, "timedOut": false, "oom": false}),
    };
    let bytes = |piece: &OutputPiece| piece.bytes.clone().into_bytes();
    if let Value::Object(data) = &mut data {
        let said = |piece: &OutputPiece| json!(String::from_utf8_lossy(&bytes(piece)));
        data.insert("execId".to_owned(), json!(line.id));
        data.insert("running".to_owned(), json!(line.is_running));
        data.insert("stdout".to_owned(), said(stdout));
        data.insert("stderr".to_owned(), said(stderr));
        data.insert("encoding".to_owned(), json!("utf8"));
        data.insert("stdoutDropped".to_owned(), json!(stdout.dropped));
        data.insert("stderrDropped".to_owned(), json!(stderr.dropped));
        data.insert("stdoutTruncated".to_owned(), json!(stdout.dropped > 0));
        data.insert("stderrTruncated".to_owned(), json!(stderr.dropped > 0));
        data.insert("more".to_owned(), json!(more));
        data.insert("cursor".to_owned(), json!(cursor));
        data.insert("failure".to_owned(), json!(failure.as_ref().map(|failure| &failure.message)));
    }
    given(text, data, result.as_ref().map(|result| &result.correlation_id))
}

fn piece(text: &mut String, name: &str, piece: &OutputPiece) {
    if piece.dropped > 0 {
        let _ = write!(text, "\n[{} bytes of {name} were dropped before this look]", piece.dropped);
    }
    stream(text, name, &piece.bytes.clone().into_bytes());
}

fn read(bytes: InputBytes, path: &str, offset: usize, limit: usize) -> Result<CallToolResult, Refusal> {
    let bytes = bytes.into_bytes();
    let Ok(whole) = std::str::from_utf8(&bytes) else {
        let message = format!("{} is no text: it is not UTF-8", visible(path));
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("use sandbox_download"));
    };
    let start = floor(whole, offset.min(whole.len()));
    let end = floor(whole, start.saturating_add(limit).min(whole.len()));
    let content = whole.get(start..end).unwrap_or_default();
    let is_cut = end < whole.len();
    let mut blocks = vec![ContentBlock::text(content.to_owned())];
    if is_cut {
        blocks.push(ContentBlock::text(format!(
            "[bytes {start} to {end} of {}; go on with offset {end}]",
            whole.len()
        )));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = Some(json!({
        "path": path, "content": content, "offset": start, "bytes": whole.len(), "truncated": is_cut,
    }));
    Ok(result)
}

fn downloaded(bytes: InputBytes, path: &str) -> Result<CallToolResult, Refusal> {
    let bytes = bytes.into_bytes();
    if bytes.len() > MOST_BYTES {
        let message = format!(
            "{} has {} bytes, and at most {MOST_BYTES} are handed over at once",
            visible(path),
            bytes.len()
        );
        return Err(Refusal::new(ErrorCode::InvalidInput, message).with_hint("split it, or pack it first"));
    }
    let packed = STANDARD.encode(&bytes);
    let data = json!({"path": path, "bytes": bytes.len(), "base64": packed});
    Ok(given(format!("{} bytes of {}, in base64:\n{packed}", bytes.len(), visible(path)), data, None))
}

fn listed(entries: &[bailiwick_core::sandboxes::Entry], path: &str) -> CallToolResult {
    let mut text = format!("{} entries in {}:", entries.len(), visible(path));
    for entry in entries.iter().take(MOST_ENTRIES) {
        let name = visible(&entry.name);
        let _ = match entry.kind {
            EntryKind::Folder => write!(text, "\n{name}/"),
            EntryKind::File => write!(text, "\n{name} ({} bytes)", entry.bytes),
            EntryKind::Link => write!(text, "\n{name} -> (a link)"),
            EntryKind::Other => write!(text, "\n{name} (neither file nor folder)"),
        };
    }
    let is_cut = entries.len() > MOST_ENTRIES;
    if is_cut {
        let _ = write!(text, "\n[only the first {MOST_ENTRIES} are told]");
    }
    let told: Vec<_> = entries.iter().take(MOST_ENTRIES).collect();
    given(text, json!({"path": path, "entries": told, "truncated": is_cut}), None)
}
