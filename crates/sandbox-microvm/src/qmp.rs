//! Talking to QEMU itself: one order a line, one answer a line, events between them. QEMU is not believed further than its answers are
//! bounded: a guest may have broken into it.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

/// The longest line.
const LONGEST: u64 = 64 << 10;
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to write or read the memory of a machine.
const MEMORY: Duration = Duration::from_mins(5);
/// How long it is waited between two looks how far it is: QEMU tells by events only if it is asked to, and then not of every step.
const PAUSE: Duration = Duration::from_millis(5);
/// What the file is called while QEMU writes to it.
const NAME: &str = "memory";

/// The stream to one QEMU.
#[derive(Debug)]
pub(crate) struct Qmp(BufReader<UnixStream>);

impl Qmp {
    /// Begins to talk.
    pub(crate) async fn begin(stream: UnixStream) -> Result<Self, String> {
        let mut qmp = Self(BufReader::new(stream));
        within(PATIENCE, qmp.line()).await?;
        qmp.ask("qmp_capabilities", json!({})).await?;
        Ok(qmp)
    }

    async fn line(&mut self) -> Result<Value, String> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(LONGEST).read_until(b'\n', &mut line).await;
        match read {
            Ok(0) => Err("QEMU has ended".to_owned()),
            Ok(_) => serde_json::from_slice(&line)
                .map_err(|error| format!("QEMU said what cannot be read: {error}")),
            Err(error) => Err(format!("QEMU is gone: {error}")),
        }
    }

    /// Asks for something.
    pub(crate) async fn ask(&mut self, what: &str, arguments: Value) -> Result<Value, String> {
        let mut line = json!({ "execute": what, "arguments": arguments }).to_string();
        line.push('\n');
        let said = self.0.get_mut().write_all(line.as_bytes()).await;
        said.map_err(|error| format!("QEMU is gone: {error}"))?;
        within(PATIENCE, self.answer(what)).await
    }

    async fn answer(&mut self, what: &str) -> Result<Value, String> {
        loop {
            let mut said = self.line().await?;
            if let Some(error) = said.get("error") {
                let why = error.get("desc").and_then(Value::as_str).unwrap_or("it did not say why");
                return Err(format!("QEMU refused `{what}`: {why}"));
            }
            if let Some(answer) = said.get_mut("return") {
                return Ok(answer.take());
            }
        }
    }

    /// Stops the machine, and writes all of it to a file.
    pub(crate) async fn keep(&mut self, file: &File) -> Result<(), String> {
        self.ask("stop", json!({})).await?;
        let mut line = json!({ "execute": "getfd", "arguments": { "fdname": NAME } }).to_string();
        line.push('\n');
        bailiwick_sys::packets::send(self.0.get_ref(), line.as_bytes(), &[file.as_fd()])
            .map_err(|failed| failed.to_string())?;
        within(PATIENCE, self.answer("getfd")).await?;
        // As fast as it can be written: nobody runs meanwhile.
        self.ask("migrate-set-parameters", json!({ "max-bandwidth": 1_u64 << 40 })).await?;
        self.ask("migrate", json!({ "uri": format!("fd:{NAME}") })).await?;
        within(MEMORY, self.is_kept()).await
    }

    async fn is_kept(&mut self) -> Result<(), String> {
        loop {
            let told = self.ask("query-migrate", json!({})).await?;
            match told.get("status").and_then(Value::as_str) {
                Some("completed") => return Ok(()),
                Some(status @ ("failed" | "cancelled" | "cancelling")) => {
                    let why = told.get("error-desc").and_then(Value::as_str).unwrap_or_default();
                    return Err(format!("QEMU could not write the machine's memory ({status}): {why}"));
                }
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Waits until a machine that goes on has read its memory, and lets it go on.
    pub(crate) async fn go_on_from_memory(&mut self) -> Result<(), String> {
        within(MEMORY, async {
            loop {
                let told = self.ask("query-status", json!({})).await?;
                match told.get("status").and_then(Value::as_str) {
                    Some("inmigrate") => tokio::time::sleep(PAUSE).await,
                    Some(_) => return Ok(()),
                    None => return Err("QEMU did not say how it is".to_owned()),
                }
            }
        })
        .await?;
        self.go_on().await
    }

    /// Lets the machine go on.
    pub(crate) async fn go_on(&mut self) -> Result<(), String> {
        self.ask("cont", json!({})).await.map(|_| ())
    }
}

async fn within<T>(time: Duration, doing: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    tokio::time::timeout(time, doing)
        .await
        .unwrap_or_else(|_| Err(format!("QEMU did not answer within {time:?}")))
}
