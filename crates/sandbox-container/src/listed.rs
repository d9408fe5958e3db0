//! Which containers an engine has, as far as that is read here. The usual client knows every state that Docker has and refuses a whole
//! list for one that it does not know; Podman has others. Nothing of a state is needed, so it is asked for and read here.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::engine::{Engine, EngineError};

/// What is being done, in an error.
const STEP: &str = "list containers";
/// How long an engine may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer.
const LONGEST: u64 = 64 << 20;

/// A container of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Listed {
    #[serde(rename = "Id")]
    pub(crate) id: String,
    #[serde(rename = "Labels", default)]
    labels: Option<HashMap<String, String>>,
}

impl Listed {
    /// What one of its labels says; nothing where it has none of that name.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(name)).map_or("", String::as_str)
    }
}

/// All containers with this label, whatever they do.
pub(crate) async fn list(engine: &Engine, label: &str) -> Result<Vec<Listed>, EngineError> {
    let gone = |why: String| EngineError::Gone { step: STEP.to_owned(), why };
    let asked = tokio::time::timeout(PATIENCE, ask(&engine.socket, label)).await;
    let answer = asked.map_err(|_| gone("its time was up".to_owned()))?;
    read(&answer.map_err(|error| gone(error.to_string()))?)
}

/// Asks in the oldest way: the answer is whole, and ends with the connection.
async fn ask(socket: &Path, label: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket).await?;
    let filters = escaped(&serde_json::json!({ "label": [label] }).to_string());
    let words = format!("GET /containers/json?all=1&filters={filters} HTTP/1.0\r\nHost: engine\r\n\r\n");
    stream.write_all(words.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer).await?;
    Ok(answer)
}

/// As a part of an address: every byte that could mean something there by its number.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn read(answer: &[u8]) -> Result<Vec<Listed>, EngineError> {
    let gone = |why: &str| EngineError::Gone { step: STEP.to_owned(), why: why.to_owned() };
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(|| gone("no answer came"))?;
    let (head, body) = answer.split_at_checked(end + 4).ok_or_else(|| gone("no answer came"))?;
    let head = String::from_utf8_lossy(head);
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    match status {
        Some(200) => serde_json::from_slice(body).map_err(|error| gone(&format!("it is no list: {error}"))),
        Some(status) => {
            let message = String::from_utf8_lossy(body).trim().to_owned();
            Err(EngineError::Refused { step: STEP.to_owned(), status, message })
        }
        None => Err(gone("what came is no answer")),
    }
}

#[cfg(test)]
mod tests;
