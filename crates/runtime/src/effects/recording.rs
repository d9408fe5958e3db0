//! Calls kept in a file, to be given again without a world: what code was given, what it asked and what it got, the
//! clock, the randomness, the order of things. Where a secret's value stood there is its `${NAME}`, and a mask where one
//! of its disguises did; what redaction cannot find it cannot find here either.

use bailiwick_cell::{Entry, Event, Language, Reading, Trace};
use bailiwick_redact::{Redactor, Secret};
use bailiwick_types::{Answer, Effect, ErrorCode, FileAnswer, FileRequest, Refused};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the file.
const VERSION: u32 = 1;

/// What stands before bytes that are no text.
const ENCODED: &str = "base64:";

/// What stands where a disguised secret stood.
const MASKED: &str = "***";

/// A call, kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recording {
    version: u32,
    pub(crate) call: RecordedCall,
    seed: String,
    clock: Vec<(u64, u32)>,
    events: Vec<RecordedEvent>,
    effects: Vec<RecordedEffect>,
    /// What the call gave then.
    outcome: Value,
}

/// What was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RecordedCall {
    #[serde(with = "EntryName")]
    pub(crate) entry: Entry,
    #[serde(with = "LanguageName")]
    pub(crate) language: Language,
    pub(crate) source: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) statics: Map<String, Value>,
    pub(crate) parameters: Vec<String>,
    pub(crate) input: String,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Entry", rename_all = "camelCase")]
enum EntryName {
    Body,
    Expression,
    Execute,
    Emit,
    Script,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Language", rename_all = "camelCase")]
enum LanguageName {
    JavaScript,
    TypeScript,
    Either,
}

/// Something that set waiting code going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum RecordedEvent {
    Answer(u32),
    Timer,
}

/// One effect and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RecordedEffect {
    id: u32,
    /// What was asked, as the shape of an effect.
    asked: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Value>,
}

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Not the shape of one.
    #[error("this is not a recording: {0}")]
    Shape(#[from] serde_json::Error),
    /// Of another version.
    #[error("this is a recording of version {0}; this program knows version {VERSION}")]
    Version(u32),
    /// Its seed is not 32 bytes in hex.
    #[error("the seed of this recording is not 64 hex digits")]
    Seed,
}

impl Recording {
    /// Reads a recording.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let recording: Self = serde_json::from_str(text)?;
        if recording.version != VERSION {
            return Err(RecordingError::Version(recording.version));
        }
        if recording.seed_bytes().is_none() {
            return Err(RecordingError::Seed);
        }
        Ok(recording)
    }

    /// The code that was run.
    pub fn source(&self) -> &str {
        &self.call.source
    }

    /// What the call gave when it was recorded: `{"value": …}` or `{"error": …}`.
    pub const fn outcome(&self) -> &Value {
        &self.outcome
    }

    fn seed_bytes(&self) -> Option<[u8; 32]> {
        let mut seed = [0; 32];
        if self.seed.len() != 64 {
            return None;
        }
        for (place, digits) in seed.iter_mut().zip(self.seed.as_bytes().as_chunks::<2>().0) {
            *place = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(seed)
    }

    /// What the cell needs to go the same way again.
    pub(crate) fn trace(&self) -> Trace {
        Trace {
            seed: self.seed_bytes().unwrap_or_default(),
            clock: self.clock.iter().map(|(at, times)| Reading { at: *at, times: *times }).collect(),
            events: self
                .events
                .iter()
                .map(|event| match event {
                    RecordedEvent::Answer(id) => Event::Answer(*id),
                    RecordedEvent::Timer => Event::Timer,
                })
                .collect(),
        }
    }

    /// What was answered to this effect; where the code asks for something else, that it does.
    pub(crate) fn answer(&self, id: u32, effect: &Effect) -> Result<Answer, Refused> {
        let diverged = |message: String| {
            Refused::failed(ErrorCode::ReplayDiverged, "diverged", message)
                .with_hint("record the call again if this change is meant")
        };
        let asked = serde_json::to_value(effect).unwrap_or_default();
        let Some(kept) = self.effects.iter().find(|kept| kept.id == id) else {
            return Err(diverged(format!(
                "effect {id} was not asked for when this call was recorded: `{}`",
                shown(&asked)
            )));
        };
        if !is_like(&kept.asked, &asked) {
            let (then, now) = (shown(&kept.asked), shown(&asked));
            return Err(diverged(if then == now {
                format!(
                    "effect {id}, `{now}`, has other headers, another body or other options than when recorded"
                )
            } else {
                format!("effect {id} was `{then}` when this call was recorded, and is `{now}` now")
            }));
        }
        let unreadable = || diverged(format!("what came of effect {id} is not readable in the recording"));
        match (&kept.given, &kept.refused) {
            (Some(given), None) => serde_json::from_value(given.clone()).map_err(|_| unreadable()),
            (None, Some(refused)) => {
                let refused: Refused = serde_json::from_value(refused.clone()).map_err(|_| unreadable())?;
                Err(refused)
            }
            _ => Err(unreadable()),
        }
    }
}

/// An effect in one line: what is done, and to what.
fn shown(asked: &Value) -> String {
    let (kind, of) = asked
        .as_object()
        .and_then(|asked| asked.iter().next())
        .map_or(("", asked), |(kind, of)| (kind.as_str(), of));
    // A file operation is named by its own kind.
    let (kind, of) = match of.as_object().and_then(|of| of.iter().next()) {
        Some((op, of)) if kind == "file" => (op.as_str(), of),
        _ => (kind, of),
    };
    let word = |key: &str| of.get(key).and_then(Value::as_str);
    let lead = word("method").unwrap_or(kind);
    let mut objects: Vec<&str> = ["url", "path", "from", "to"].into_iter().filter_map(word).collect();
    objects.extend(of.get("argv").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str));
    let text = format!("{lead} {}", objects.join(" "));
    match text.char_indices().nth(200) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Whether what is asked now is what was asked then; a mask stands for anything.
fn is_like(kept: &Value, now: &Value) -> bool {
    match (kept, now) {
        (Value::String(kept), Value::String(now)) => kept == now || is_masked_form(kept, now),
        (Value::Array(kept), Value::Array(now)) => {
            kept.len() == now.len() && kept.iter().zip(now).all(|(kept, now)| is_like(kept, now))
        }
        (Value::Object(kept), Value::Object(now)) => {
            kept.len() == now.len()
                && kept.iter().all(|(key, kept)| now.get(key).is_some_and(|now| is_like(kept, now)))
        }
        (kept, now) => kept == now,
    }
}

/// Whether a text is this one with something in the place of each mask.
fn is_masked_form(kept: &str, now: &str) -> bool {
    let mut parts = kept.split(MASKED);
    let Some(mut rest) = parts.next().and_then(|first| now.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    false
}

/// About how many bytes an effect and its answer are.
fn weight(effect: &Effect, result: &Result<Answer, Refused>) -> usize {
    let sent = match effect {
        Effect::Fetch(request) => {
            let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            request.url.len() + headers + request.body.as_ref().map_or(0, |body| body.0.len())
        }
        Effect::File(FileRequest::Write { content, .. } | FileRequest::Append { content, .. }) => {
            content.0.len()
        }
        Effect::File(FileRequest::Edit { old, new, .. }) => old.len() + new.len(),
        Effect::File(_) => 0,
        Effect::Exec(request) => request.argv.iter().map(String::len).sum::<usize>() + request.stdin.0.len(),
    };
    let got = match result {
        Ok(Answer::Fetched(answer)) => answer.body.0.len(),
        Ok(Answer::Filed(FileAnswer::Bytes(bytes))) => bytes.0.len(),
        Ok(Answer::Filed(FileAnswer::Text(text) | FileAnswer::Json(text)) | Answer::Executed(text)) => {
            text.len()
        }
        Err(_) => 0,
    };
    sent + got + 1024
}

/// Keeps a call as it happens.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    effects: Vec<RecordedEffect>,
    bytes: usize,
}

/// What a recording may hold of requests and answers; a call that has more is not recorded.
const MOST_BYTES: usize = 64 * 1024 * 1024;

impl Recorder {
    /// Keeps an effect and what came of it.
    pub(crate) fn keep(&mut self, id: u32, effect: &Effect, result: &Result<Answer, Refused>) {
        self.bytes = self.bytes.saturating_add(weight(effect, result));
        if self.bytes > MOST_BYTES {
            self.effects = Vec::new();
            return;
        }
        let (given, refused) = match result {
            Ok(answer) => (serde_json::to_value(answer).ok(), None),
            Err(refused) => (None, serde_json::to_value(refused).ok()),
        };
        let asked = serde_json::to_value(effect).unwrap_or_default();
        self.effects.push(RecordedEffect { id, asked, given, refused });
    }

    /// Whether the call had more than a recording holds.
    pub(crate) const fn is_over(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// The recording, without secrets.
    pub(crate) fn finish(
        self,
        call: RecordedCall,
        trace: Trace,
        outcome: Value,
        veil: &Veil<'_>,
    ) -> Recording {
        let Trace { seed, clock, events } = trace;
        let mut effects = self.effects;
        effects.sort_by_key(|effect| effect.id);
        for RecordedEffect { id: _, asked, given, refused } in &mut effects {
            for part in [Some(asked), given.as_mut(), refused.as_mut()].into_iter().flatten() {
                veil.over(part);
            }
        }
        let veiled = |mut map: Map<String, Value>| {
            map.iter_mut().for_each(|(_, value)| veil.over(value));
            map
        };
        Recording {
            version: VERSION,
            call: RecordedCall {
                arguments: veiled(call.arguments),
                statics: veiled(call.statics),
                source: veil.text(&call.source),
                input: veil.text(&call.input),
                ..call
            },
            seed: hex(&seed),
            clock: clock.into_iter().map(|Reading { at, times }| (at, times)).collect(),
            events: events
                .into_iter()
                .map(|event| match event {
                    Event::Answer(id) => RecordedEvent::Answer(id),
                    Event::Timer => RecordedEvent::Timer,
                })
                .collect(),
            effects,
            outcome,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Where a secret stands in a text, and its name if it stands there alone.
struct Found<'a> {
    from: usize,
    to: usize,
    name: Option<&'a str>,
}

/// Puts `${NAME}` where a secret stands, and a mask where a disguise of one does.
pub(crate) struct Veil<'a> {
    pub(crate) names: Vec<(&'a str, &'a Secret)>,
    /// Placeholders of sealed secrets, which are others at each call.
    pub(crate) placeholders: Vec<(&'a str, &'a str)>,
    pub(crate) redactor: &'a Redactor,
}

impl Veil<'_> {
    fn text(&self, text: &str) -> String {
        let mut veiled = String::new();
        let mut clear_from = 0;
        for Found { from, to, name } in self.found(text) {
            veiled.push_str(text.get(clear_from..from).unwrap_or_default());
            match name {
                Some(name) => veiled.extend(["${", name, "}"]),
                None => veiled.push_str(MASKED),
            }
            clear_from = to;
        }
        veiled.push_str(text.get(clear_from..).unwrap_or_default());
        crate::redaction::text(self.redactor, veiled)
    }

    /// Where values and placeholders stand. One within another is part of that other; where two overlap, neither name
    /// would tell the truth.
    fn found(&self, text: &str) -> Vec<Found<'_>> {
        let values = self.names.iter().map(|(name, secret)| (*name, secret.expose_secret()));
        let all = values.chain(self.placeholders.iter().copied()).filter(|(_, value)| !value.is_empty());
        let mut found: Vec<Found<'_>> = all
            .flat_map(|(name, value)| {
                let mut from = 0;
                std::iter::from_fn(move || {
                    let at = from + text.get(from..)?.find(value)?;
                    let first = value.chars().next().map_or(1, char::len_utf8);
                    from = at + first;
                    Some(Found { from: at, to: at + value.len(), name: Some(name) })
                })
            })
            .collect();
        found.sort_by_key(|one| (one.from, std::cmp::Reverse(one.to)));
        let mut apart: Vec<Found<'_>> = Vec::with_capacity(found.len());
        for one in found {
            match apart.last_mut() {
                Some(last) if one.to <= last.to => {}
                Some(last) if one.from < last.to => {
                    last.to = one.to;
                    last.name = None;
                }
                _ => apart.push(one),
            }
        }
        apart
    }

    fn over(&self, value: &mut Value) {
        match value {
            // Bytes that are no text are searched as what they are.
            Value::String(text) if text.starts_with(ENCODED) => {
                let bytes =
                    text.strip_prefix(ENCODED).and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
                *text = match bytes {
                    Some(bytes) => {
                        format!("{ENCODED}{}", BASE64_STANDARD.encode(self.redactor.redact_bytes(&bytes)))
                    }
                    None => self.text(text),
                };
            }
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.over(item)),
            Value::Object(fields) => {
                let taken = std::mem::take(fields);
                for (key, mut field) in taken {
                    self.over(&mut field);
                    fields.insert(self.text(&key), field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
