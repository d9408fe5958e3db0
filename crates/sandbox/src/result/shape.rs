//! A result as JSON. Both streams are text, or both are base64: whoever reads it looks at one `encoding`.

use std::borrow::Cow;

use bailiwick_types::{CorrelationId, Denial, Receipt, SandboxId, Tier};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::{Captured, ExecResult, ExecUsage, Exit};
use crate::signal::{signal_name, signal_number};

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the shape was promised so, and only passes them on")]
struct Shape<'a> {
    exit_code: Option<i32>,
    signal: Option<Cow<'a, str>>,
    /// Why there was nothing to run, so that a program's own 126 or 127 is not taken for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_started: Option<NotStarted>,
    timed_out: bool,
    oom: bool,
    stdout: Cow<'a, str>,
    stdout_truncated: bool,
    stderr: Cow<'a, str>,
    stderr_truncated: bool,
    encoding: Encoding,
    usage: ExecUsage,
    denials: Cow<'a, [Denial]>,
    receipt: Cow<'a, Receipt>,
    sandbox_id: SandboxId,
    backend: Cow<'a, str>,
    tier: Tier,
    correlation_id: Cow<'a, CorrelationId>,
}

#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum NotStarted {
    NotFound,
    NotExecutable,
}

#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Utf8,
    Base64,
}

impl serde::Serialize for ExecResult {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (exit_code, signal, not_started) = match self.exit {
            Exit::Code(code) => (Some(code), None, None),
            Exit::Signal(signal) => (None, Some(signal_name(signal)), None),
            Exit::NotFound => (Some(self.exit.status()), None, Some(NotStarted::NotFound)),
            Exit::NotExecutable => (Some(self.exit.status()), None, Some(NotStarted::NotExecutable)),
        };
        let texts = self.stdout.text().zip(self.stderr.text());
        let (stdout, stderr, encoding) = if let Some((stdout, stderr)) = texts {
            (Cow::Borrowed(stdout), Cow::Borrowed(stderr), Encoding::Utf8)
        } else {
            let packed = |captured: &Captured| Cow::Owned(STANDARD.encode(&captured.bytes));
            (packed(&self.stdout), packed(&self.stderr), Encoding::Base64)
        };
        Shape {
            exit_code,
            signal: signal.map(Cow::Owned),
            not_started,
            timed_out: self.timed_out,
            oom: self.oom,
            stdout,
            stdout_truncated: self.stdout.truncated,
            stderr,
            stderr_truncated: self.stderr.truncated,
            encoding,
            usage: self.usage,
            denials: Cow::Borrowed(&self.denials),
            receipt: Cow::Borrowed(&self.receipt),
            sandbox_id: self.sandbox_id,
            backend: Cow::Borrowed(&self.backend),
            tier: self.tier,
            correlation_id: Cow::Borrowed(&self.correlation_id),
        }
        .serialize(to)
    }
}

impl<'de> serde::Deserialize<'de> for ExecResult {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let shape = Shape::deserialize(from)?;
        read(shape).map_err(serde::de::Error::custom)
    }
}

/// Why a shape is no result.
#[derive(Debug, thiserror::Error)]
enum ShapeError {
    #[error("`exitCode` and `signal` do not tell one end: exactly one of them must be there")]
    Exit,
    #[error("`{0}` is not a signal")]
    Signal(String),
    #[error("a stream is not base64")]
    Base64(#[from] base64::DecodeError),
}

fn read(shape: Shape<'_>) -> Result<ExecResult, ShapeError> {
    let exit = match (shape.exit_code, shape.signal, shape.not_started) {
        (Some(_), None, Some(NotStarted::NotFound)) => Exit::NotFound,
        (Some(_), None, Some(NotStarted::NotExecutable)) => Exit::NotExecutable,
        (Some(code), None, None) => Exit::Code(code),
        (None, Some(name), None) => Exit::Signal(
            signal_number(&name).ok_or_else(|| ShapeError::Signal(bailiwick_types::shortened(&name)))?,
        ),
        _ => return Err(ShapeError::Exit),
    };
    let stream = |text: Cow<'_, str>, truncated| -> Result<Captured, ShapeError> {
        let bytes = match shape.encoding {
            Encoding::Utf8 => Bytes::from(text.into_owned()),
            Encoding::Base64 => Bytes::from(STANDARD.decode(text.as_bytes())?),
        };
        Ok(Captured { bytes, truncated })
    };
    Ok(ExecResult {
        exit,
        timed_out: shape.timed_out,
        oom: shape.oom,
        stdout: stream(shape.stdout, shape.stdout_truncated)?,
        stderr: stream(shape.stderr, shape.stderr_truncated)?,
        usage: shape.usage,
        denials: shape.denials.into_owned(),
        receipt: shape.receipt.into_owned(),
        sandbox_id: shape.sandbox_id,
        backend: shape.backend.into_owned(),
        tier: shape.tier,
        correlation_id: shape.correlation_id.into_owned(),
    })
}
