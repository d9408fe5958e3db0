//! Whether a person is asked before every call of a tool, and with which words.

use bailiwick_document::{Entry, Reader};
use serde_json::{Map, Value, json};

/// The places of a prompt that are filled in.
pub(crate) const SLOTS: &[&str] = &["tool", "args", "risk"];
/// Characters of a prompt.
pub(crate) const LONGEST_PROMPT: usize = 1_000;

/// When a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ApprovalMode {
    /// From the level on that the operator has set.
    #[default]
    Auto,
    /// Before every call.
    Required,
    /// Never. Overrules `Auto`; turning `Required` off asks for a confirmation elsewhere.
    Disabled,
}

impl ApprovalMode {
    /// The words of a document.
    pub const WORDS: [(&'static str, Self); 3] =
        [("REQUIRED", Self::Required), ("DISABLED", Self::Disabled), ("AUTO", Self::Auto)];

    /// The word of a document.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Required => "REQUIRED",
            Self::Disabled => "DISABLED",
            Self::Auto => "AUTO",
        }
    }
}

/// A tool's wish about approval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Approval {
    /// When a person is asked.
    pub mode: ApprovalMode,
    /// What the person reads; only `{tool}`, `{args}` and `{risk}` are filled in.
    pub prompt: Option<String>,
}

impl Approval {
    pub(crate) fn read(reader: &mut Reader, entry: &Entry<'_>) -> Self {
        let mut approval = Self::default();
        let Some(mut record) = reader.record(entry) else { return approval };
        if let Some(mode) = record.take("mode") {
            approval.mode = reader.word(&mode, &ApprovalMode::WORDS).unwrap_or_default();
        }
        if let Some(prompt) = record.take("prompt")
            && let Some(text) = reader.text(&prompt)
        {
            for slot in slots(text).filter(|slot| !SLOTS.contains(slot)) {
                let hint = "only {tool}, {args} and {risk} are filled in".to_owned();
                reader.wrong(&prompt, format!("the prompt has no place `{{{slot}}}`"), Some(hint));
            }
            if text.chars().count() > LONGEST_PROMPT {
                let message = format!("the prompt has more than {LONGEST_PROMPT} characters");
                reader.wrong(&prompt, message, Some("a person reads it before every call".to_owned()));
            }
            approval.prompt = Some(text.to_owned());
        }
        record.close(reader);
        approval
    }

    /// As a document says it; nothing if it is as if it were not there.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let Self { mode, prompt } = self;
        if *self == Self::default() {
            return None;
        }
        let mut map = Map::from_iter([("mode".to_owned(), json!(mode.word()))]);
        if let Some(prompt) = prompt {
            map.insert("prompt".to_owned(), json!(prompt));
        }
        Some(Value::Object(map))
    }
}

/// The words in braces.
fn slots(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| {
        let (word, _) = rest.split_once('}')?;
        let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_word.then_some(word)
    })
}
