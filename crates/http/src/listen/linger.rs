//! The last moments of a connection: an answer that was written is read by its client before the connection is gone.
//!
//! A socket that is closed while something of the client's lies unread is reset, and the reset overtakes the answer.

use std::time::Duration;

use bailiwick_api::{MEDIA_TYPE, Problem};
use bailiwick_core::{Refusal, new_correlation};
use bailiwick_types::ErrorCode;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::correlation;

/// How long a client is listened to, for nothing but its end.
const AT_MOST: Duration = Duration::from_secs(2);
/// The bytes that are thrown away meanwhile.
const MOST_BYTES: usize = 1 << 20;

/// What somebody is told for whom there is no place.
fn no_place() -> Result<String, Refusal> {
    let id = new_correlation()?;
    let refusal = Refusal::new(ErrorCode::Busy, "too many connections are open")
        .with_hint("try again in a second, and use one connection for many requests");
    let body = serde_json::to_string(&Problem::from(refusal).of_request(id.as_str()))
        .map_err(|error| Refusal::new(ErrorCode::Internal, error.to_string()))?;
    Ok(format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {}\r\n\
         {}: {id}\r\nretry-after: 1\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n{body}",
        body.len(),
        correlation::HEADER,
    ))
}

/// Says that there is no place, and closes.
pub(super) async fn turn_away(mut stream: TcpStream, encrypted: bool) {
    if encrypted {
        // A handshake costs more than there is room for.
        return;
    }
    let answer = match no_place() {
        Ok(answer) => answer,
        Err(refusal) => {
            tracing::error!(%refusal, "a connection was closed without a word");
            return;
        }
    };
    if tokio::time::timeout(AT_MOST, stream.write_all(answer.as_bytes()))
        .await
        .is_ok_and(|wrote| wrote.is_ok())
    {
        out(stream).await;
    }
}

/// Ends our side; nothing of the client's lies unread.
pub(super) async fn at_once(mut stream: impl AsyncWrite + Unpin) {
    // Whoever is gone already does not hear it.
    let _gone = tokio::time::timeout(AT_MOST, stream.shutdown()).await;
}

/// Ends our side, and waits a moment for the client to end theirs.
pub(super) async fn out(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let leaving = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let mut thrown_away = 0_usize;
        let mut buffer = vec![0_u8; 8 << 10];
        while thrown_away < MOST_BYTES {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => thrown_away = thrown_away.saturating_add(count),
            }
        }
    };
    // Whoever has not gone by then is cut.
    let _gone = tokio::time::timeout(AT_MOST, leaving).await;
}
