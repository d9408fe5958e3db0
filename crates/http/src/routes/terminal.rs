//! A command at a terminal, over a WebSocket: what is typed and what is shown are binary messages, everything else is said
//! in words of JSON.
//!
//! Who may is decided before the connection changes its protocol, as for every other request: by the perimeter (host,
//! origin, credentials, rate, room) and by the action. Start reading here, then at `session`.

mod line;
mod session;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bailiwick_core::Action;
use bailiwick_types::ErrorCode;

use super::Served;
use super::asker::Asker;
use super::input::At;
use super::problem::Refused;
use crate::perimeter::Held;
use session::Seat;

/// The largest message but the first.
const LARGEST: usize = 64 << 10;
/// The largest first message: all words and variables of a command, written as JSON.
const LARGEST_START: usize = 4 << 20;

/// Runs a command at a terminal in a sandbox that is kept
///
/// A WebSocket. The first message is text, `{"start": {"argv": […], "terminal": {"rows": 24, "columns": 80}}}`. After it,
/// binary messages are what is typed; `{"resize": {…}}`, `{"signal": "SIGINT"}`, `{"eof": true}` and `{"kill": true}` are said
/// in text. The server sends what is shown as binary messages, at the end `{"result": {…}}` or `{"error": {…}}`, and closes. A
/// message has at most 64 KiB, the first 4 MiB. Whoever goes away ends the command; so does the end of the server, or of the
/// key.
///
/// With `"streams": true` in `start` the command has three streams and no terminal: the first byte of each binary message of
/// the server's is 1 for standard output and 2 for standard error. Each end says how many messages of the other's it has
/// taken so far, `{"taken": 3}`: the server of input, `eof` included, the client of output. The server sends no more than eight
/// messages ahead of that, so that a slow reader makes the command wait; a client that does the same is never cut off because
/// its command does not read.
#[utoipa::path(get, path = "/sandboxes/{sandbox}/exec", tag = "sandboxes", operation_id = "terminal",
    params(("sandbox" = String, Path, description = "Its id, the beginning of it, or its name")),
    responses((status = 101, description = "The connection is a WebSocket from here on")))]
pub(crate) async fn terminal(
    State(served): State<Served>,
    asker: Asker,
    At(sandbox): At<String>,
    held: Option<Extension<Held>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refused> {
    // Whoever may not is told so while there is an answer to tell it by.
    served.perform(&asker, Action::SandboxShow { sandbox: sandbox.clone() }).await?;
    let upgrade = upgrade.map_err(|rejection| not_a_websocket(&rejection.body_text()))?;
    if has_body(&headers) {
        // Two programs could take it for the first of what is said after the upgrade.
        return Err(not_a_websocket("the request has a body"));
    }
    let seat = Seat::take(&served, &asker, sandbox, held.map(|Extension(held)| held))?;
    let going_on = served.going_on();
    Ok(upgrade
        .max_message_size(LARGEST_START)
        .max_frame_size(LARGEST_START)
        .write_buffer_size(0)
        .on_upgrade(move |socket| going_on.track_future(session::attend(socket, seat))))
}

fn not_a_websocket(why: &str) -> Refused {
    let message = format!("this is the place of a terminal, which is a WebSocket over HTTP/1.1: {why}");
    let hint = "connect with a WebSocket client, or POST here to run a command without a terminal";
    Refused::new(ErrorCode::InvalidInput, message, hint)
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}
