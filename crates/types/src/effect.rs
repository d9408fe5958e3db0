//! What code asks of the world, and what it gets: requests, file operations and commands, as plain shapes.
//!
//! A cell writes them, the wire carries them, the gateway reads them. Nothing in them was checked: a URL is whatever
//! text the guest wrote. What a yes looks like is the policy's `Checked`; these are only the questions.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Denial, ErrorCode, Failure};

/// One thing that code asks of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Effect {
    /// `fetch`.
    Fetch(FetchRequest),
    /// A function of `safety.fs`.
    File(FileRequest),
    /// `sandbox.exec`.
    Exec(ExecRequest),
}

/// What an effect gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// For `fetch`.
    Fetched(FetchAnswer),
    /// For a function of `safety.fs`.
    Filed(FileAnswer),
    /// For `sandbox.exec`: how the command ended and what it said, as JSON text.
    Executed(String),
}

/// A command as the guest wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecRequest {
    /// Its words.
    pub argv: Vec<String>,
    /// What is on its standard input.
    pub stdin: Bytes,
    /// Variables beside the sandbox's own, in order.
    pub env: Vec<(String, String)>,
    /// Its own deadline, where it is sooner than the sandbox's.
    pub timeout_ms: Option<u64>,
}

/// A request as the guest made it. Header values are byte strings, one character a byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchRequest {
    /// The method, normalised as the Fetch standard does.
    pub method: String,
    /// The URL, as the guest's own URL parser gave it.
    pub url: String,
    /// Headers in order; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Bytes>,
    /// What to do at a redirect.
    pub redirect: RedirectMode,
    /// How much of the body is wanted at most, from `offset` on; all of it when absent.
    pub max_bytes: Option<u64>,
    /// Where the wanted part of the body begins.
    pub offset: u64,
}

/// What to do at a redirect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RedirectMode {
    /// Follow it.
    #[default]
    Follow,
    /// Fail.
    Error,
    /// Give the redirect itself.
    Manual,
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchAnswer {
    /// The status.
    pub status: u16,
    /// Its reason phrase, as the server sent it.
    pub status_text: String,
    /// Where the answer came from in the end.
    pub url: String,
    /// Whether a redirect was followed.
    pub redirected: bool,
    /// Headers in order; names in lower case, one character a byte.
    pub headers: Vec<(String, String)>,
    /// The body after decompression, or the part of it that was wanted.
    pub body: Bytes,
    /// How long the whole body is.
    pub whole: u64,
}

/// A function of `safety.fs` and its arguments. Paths are what the guest wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileRequest {
    /// `readText(path)` → text; an error when it is not UTF-8.
    ReadText {
        /// The file.
        path: String,
    },
    /// `readBytes(path, {offset, length})` → bytes.
    ReadBytes {
        /// The file.
        path: String,
        /// Where to begin.
        offset: u64,
        /// How many at most.
        length: Option<u64>,
    },
    /// `list(path, {recursive})` → `{entries: [{name, path, kind, size}], truncated}`.
    List {
        /// The folder.
        path: String,
        /// Whether folders below are listed too.
        recursive: bool,
    },
    /// `exists(path)` → a boolean.
    Exists {
        /// The path.
        path: String,
    },
    /// `stat(path)` → `{path, kind, size, modified}`.
    Stat {
        /// The path.
        path: String,
    },
    /// `lineCount(path)` → a number.
    LineCount {
        /// The file.
        path: String,
    },
    /// `slice(path, {from, to})` → `{text, from, to, more}`: lines, counted from 1, both ends included.
    Slice {
        /// The file.
        path: String,
        /// The first line.
        from: u64,
        /// The last line.
        to: Option<u64>,
    },
    /// `grep(path, pattern, {ignoreCase, invert, limit})` → `{matches: [{line, column, text}], truncated}`.
    Grep {
        /// The file.
        path: String,
        /// A regular expression.
        pattern: String,
        /// How it is matched.
        how: Matching,
    },
    /// `find(path, glob, {kind})` → `{paths, truncated}`: by name, below a folder.
    Find {
        /// The folder.
        path: String,
        /// A glob over the path below the folder, `**` for any depth; without a slash it is matched on the name.
        glob: String,
        /// Only of this kind: `file`, `dir`, `link`.
        kind: Option<String>,
    },
    /// `search(path, pattern, {glob, ignoreCase, limit})` → `{matches: [{path, line, column, text}], truncated, skipped}`; `skipped`
    /// counts files that cannot be searched: too large, not UTF-8, links, special files.
    Search {
        /// The folder.
        path: String,
        /// A regular expression.
        pattern: String,
        /// Only in files whose path matches.
        glob: Option<String>,
        /// How it is matched.
        how: Matching,
    },
    /// `cut(path, {delimiter, fields})` → `{rows: [[text]], truncated}`; fields are counted from 1.
    Cut {
        /// The file.
        path: String,
        /// What separates fields.
        delimiter: String,
        /// Which fields.
        fields: Vec<u32>,
    },
    /// `sort(path, {numeric, reverse, unique, field, delimiter})` → `{lines, truncated}`.
    Sort {
        /// The file.
        path: String,
        /// By number, not by text.
        numeric: bool,
        /// From high to low.
        reverse: bool,
        /// Equal lines once.
        unique: bool,
        /// By this field, counted from 1, and what separates fields.
        field: Option<(u32, String)>,
    },
    /// `workspace()` → `{path, used, quota}`.
    Workspace,
    /// `roots()` → `[{path, writable}]`.
    Roots,
    /// `writeText(path, text)` and `writeBytes(path, bytes)` → `{size}`.
    Write {
        /// The file.
        path: String,
        /// Its new content.
        content: Bytes,
    },
    /// `appendText(path, text)` → `{size}`.
    Append {
        /// The file.
        path: String,
        /// What is added.
        content: Bytes,
    },
    /// `editText(path, old, new, {all})` → `{replaced}`; `old` must be there, and once unless `all`.
    Edit {
        /// The file.
        path: String,
        /// What is there.
        old: String,
        /// What takes its place.
        new: String,
        /// Everywhere.
        all: bool,
    },
    /// `copy(from, to)` → `{size}`; a file onto a name that is free or, as a write, onto a file.
    Copy {
        /// The file.
        from: String,
        /// The copy.
        to: String,
    },
    /// `mkdir(path)`; folders above are made too, one that is there is fine.
    MakeDir {
        /// The folder.
        path: String,
    },
    /// `move(from, to)`; onto an existing file only with `destructive`.
    Move {
        /// The file or folder.
        from: String,
        /// Its new name.
        to: String,
    },
    /// `delete(path)`: a file or a link.
    Delete {
        /// The file.
        path: String,
    },
    /// `deleteDir(path, {recursive})` → `{removed}`.
    DeleteDir {
        /// The folder.
        path: String,
        /// With all that is in it.
        recursive: bool,
    },
}

/// How a pattern is matched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matching {
    /// Letters in either case.
    pub ignore_case: bool,
    /// Lines that do not match.
    pub invert: bool,
    /// How many matches at most; the cap when absent.
    pub limit: Option<u32>,
}

/// What a function of `safety.fs` gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileAnswer {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Bytes),
    /// Anything else, as JSON text.
    Json(String),
}

/// Why an effect did not happen: policy said no, or the world did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// `NET_DENIED`, `NET_FAILED`, `FS_DENIED`, `FS_FAILED`, `FETCH_LIMIT`, `DISK_LIMIT`, ….
    pub code: ErrorCode,
    /// A stable word: `host-not-allowed`, `timeout`, `not-found`.
    pub reason: Cow<'static, str>,
    /// What happened, for people.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The denial, when policy or a person said no.
    pub denied: Option<Box<Denial>>,
}

impl Refused {
    /// The word of a request to which nothing is canned, where nothing else answers.
    pub const NO_CANNED_ANSWER: &str = "no-canned-answer";

    /// The refusal that a denial is.
    pub fn of(denial: Denial) -> Self {
        Self {
            code: denial.code,
            reason: Cow::Borrowed(denial.reason.word()),
            message: format!("{}: {}", denial.asked, denial.reason.meaning()),
            hint: denial.fix.as_ref().map(|fix| format!("overrides: {} ({})", fix.overrides, fix.risk)),
            denied: Some(Box::new(denial)),
        }
    }

    /// A failure of the world, or a limit.
    pub fn failed(code: ErrorCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason: Cow::Borrowed(reason), message: message.into(), hint: None, denied: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// As the failure of a call that did not catch it. [`Failure::reason`] gives its word back.
    pub fn into_failure(self) -> Failure {
        let Self { code, reason, message, hint, denied } = self;
        Failure {
            code,
            message: format!("{message} ({reason})"),
            hint,
            location: None,
            stack: None,
            denied: denied.map(|denial| *denial),
        }
    }
}

/// Bytes. A machine's format takes them at once, and not one by one; one for people has them as text where they are
/// text, else as base64 behind `base64:`.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

/// What stands before bytes that are no text.
const ENCODED: &str = "base64:";

impl std::fmt::Debug for Bytes {
    /// Only how many: a body may be long, and may be nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bytes({})", self.0.len())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.0);
        }
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with(ENCODED) => serializer.serialize_str(text),
            _ => serializer.collect_str(&format_args!("{ENCODED}{}", BASE64_STANDARD.encode(&self.0))),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl serde::de::Visitor<'_> for Whole {
            type Value = Bytes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_byte_buf(Whole);
        }
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix(ENCODED) {
            None => Ok(Self(text.into_bytes())),
            Some(encoded) => BASE64_STANDARD.decode(encoded).map(Self).map_err(serde::de::Error::custom),
        }
    }
}
