//! A result that is content: `{"$content": [...]}` with blocks of text, images, audio and resources, as MCP has them.
//!
//! Beside `$content` there may be `structured`: what a program reads, and what the tool's `output` is held against. Every
//! block is looked at before it is believed: its fields, its kind of data, that its data is data. Nothing is left out and
//! nothing is guessed; the first mistake is told with its place. Redaction was before this: data in which a secret was
//! masked is no base64 any more, and so is told as a mistake and goes nowhere.

use bailiwick_types::{did_you_mean, shortened};
use base64::Engine as _;
use base64::alphabet::STANDARD as LETTERS;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use serde_json::{Map, Value};

/// The field by which a result says that it is content.
pub const CONTENT: &str = "$content";
/// The field beside it for programs.
const STRUCTURED: &str = "structured";
/// The field of bytes, as a cell writes typed arrays.
const BYTES: &str = "$bytes";

/// Blocks of one result.
pub const MOST_BLOCKS: usize = 256;
/// Bytes of all texts and all data of one result, the data as base64.
pub const MOST_CONTENT_BYTES: usize = 32 << 20;
/// Characters of a media type.
const LONGEST_MIME: usize = 127;
/// Bytes of the address of a resource.
const LONGEST_URI: usize = 8 * 1024;

/// The kinds of blocks.
const KINDS: &[&str] = &["text", "image", "audio", "resource"];

/// A result that is content.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// Its blocks, in order.
    pub blocks: Vec<Content>,
    /// What programs read of it.
    pub structured: Option<Value>,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes as base64, with padding.
        data: String,
        /// Its media type: `image/png`.
        mime: String,
    },
    /// A sound.
    Audio {
        /// Its bytes as base64, with padding.
        data: String,
        /// Its media type: `audio/wav`.
        mime: String,
    },
    /// Something that has an address of its own.
    Resource {
        /// The address.
        uri: String,
        /// Its media type.
        mime: Option<String>,
        /// What is there.
        body: ResourceBody,
    },
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// A text.
    Text(String),
    /// Bytes as base64, with padding.
    Blob(String),
}

/// Why a result that says it is content is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the result at {place} {message}")]
pub struct ContentFault {
    /// Where: `$content[0].data`.
    pub place: String,
    /// What is wrong there.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl ContentFault {
    fn new(place: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: place.to_owned(), message: message.into(), hint: hint.into() }
    }
}

impl Contents {
    /// The content of a result; none where it does not say that it is content.
    ///
    /// ```
    /// use bailiwick_tool::{Content, Contents};
    /// let given = serde_json::json!({"$content": [{"type": "text", "text": "hi"}]});
    /// let contents = Contents::read(&given)?.unwrap();
    /// assert_eq!(contents.blocks, [Content::Text { text: "hi".to_owned() }]);
    /// assert_eq!(Contents::read(&serde_json::json!({"a": 1}))?, None);
    /// # Ok::<(), bailiwick_tool::ContentFault>(())
    /// ```
    pub fn read(result: &Value) -> Result<Option<Self>, ContentFault> {
        let Some(fields) = result.as_object().filter(|fields| fields.contains_key(CONTENT)) else {
            return Ok(None);
        };
        if let Some(other) = fields.keys().find(|key| ![CONTENT, STRUCTURED].contains(&key.as_str())) {
            let hint = "put what programs are to read below `structured`";
            return Err(ContentFault::new(&shortened(other), "stands beside `$content`", hint));
        }
        let Some(Value::Array(listed)) = fields.get(CONTENT) else {
            return Err(ContentFault::new(CONTENT, "must be a list of blocks", example("text")));
        };
        if listed.len() > MOST_BLOCKS {
            let message = format!("has {} blocks; at most {MOST_BLOCKS} are taken", listed.len());
            return Err(ContentFault::new(CONTENT, message, "give fewer"));
        }
        let mut blocks = Vec::with_capacity(listed.len());
        let mut room = MOST_CONTENT_BYTES;
        for (index, block) in listed.iter().enumerate() {
            let block = Block::of(format!("{CONTENT}[{index}]"), block)?.read()?;
            room = room.checked_sub(block.bytes()).ok_or_else(|| {
                let message = format!("holds more than {MOST_CONTENT_BYTES} bytes in all");
                ContentFault::new(CONTENT, message, "give less, or smaller pictures")
            })?;
            blocks.push(block);
        }
        Ok(Some(Self { blocks, structured: fields.get(STRUCTURED).cloned() }))
    }
}

impl Content {
    /// The bytes of what it carries.
    fn bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { data, mime: _ } | Self::Audio { data, mime: _ } => data.len(),
            Self::Resource { uri: _, mime: _, body: ResourceBody::Text(body) | ResourceBody::Blob(body) } => {
                body.len()
            }
        }
    }
}

/// A block of its kind, as it is written.
fn example(kind: &str) -> String {
    match kind {
        "image" => r#"write {"type": "image", "data": base64, "mimeType": "image/png"}"#,
        "audio" => r#"write {"type": "audio", "data": base64, "mimeType": "audio/wav"}"#,
        "resource" => r#"write {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "…"}}"#,
        _ => r#"write {"type": "text", "text": "…"}"#,
    }
    .to_owned()
}

/// An object on its way into a block.
struct Block<'a> {
    place: String,
    kind: &'static str,
    fields: &'a Map<String, Value>,
}

impl<'a> Block<'a> {
    fn of(place: String, value: &'a Value) -> Result<Self, ContentFault> {
        let Some(fields) = value.as_object() else {
            return Err(ContentFault::new(&place, "must be a block", example("text")));
        };
        let at = format!("{place}.type");
        let Some(Value::String(word)) = fields.get("type") else {
            let hint = format!("write one of {}", KINDS.join(", "));
            return Err(ContentFault::new(&at, "must name the kind of the block", hint));
        };
        let Some(kind) = KINDS.iter().find(|kind| *kind == word) else {
            let known = || format!("write one of {}", KINDS.join(", "));
            let hint = did_you_mean(word, KINDS.iter().copied(), known);
            return Err(ContentFault::new(&at, format!("cannot be `{}`", shortened(word)), hint));
        };
        Ok(Self { place, kind, fields })
    }

    fn read(&self) -> Result<Content, ContentFault> {
        match self.kind {
            "image" => {
                self.only(&["type", "data", "mimeType"])?;
                Ok(Content::Image { data: self.data("data")?, mime: self.mime_of("image/")? })
            }
            "audio" => {
                self.only(&["type", "data", "mimeType"])?;
                Ok(Content::Audio { data: self.data("data")?, mime: self.mime_of("audio/")? })
            }
            "resource" => {
                self.only(&["type", "resource"])?;
                let place = format!("{}.resource", self.place);
                let Some(Value::Object(fields)) = self.fields.get("resource") else {
                    return Err(ContentFault::new(&place, "must be an object", example(self.kind)));
                };
                Block { place, kind: self.kind, fields }.resource()
            }
            _ => {
                self.only(&["type", "text"])?;
                Ok(Content::Text { text: self.text("text")? })
            }
        }
    }

    fn resource(&self) -> Result<Content, ContentFault> {
        self.only(&["uri", "mimeType", "text", "blob"])?;
        let uri = self.text("uri")?;
        if !is_uri(&uri) {
            let hint = "an address has a scheme and no blanks: file:///a.txt";
            return Err(self.wrong("uri", "must be an address", hint));
        }
        let mime = self.fields.get("mimeType").map(|_| self.mime_of("")).transpose()?;
        let body = match (self.fields.contains_key("text"), self.fields.contains_key("blob")) {
            (true, false) => ResourceBody::Text(self.text("text")?),
            (false, true) => ResourceBody::Blob(self.bytes("blob")?),
            _ => {
                let message = "must have either `text` or `blob`";
                return Err(ContentFault::new(&self.place, message, example(self.kind)));
            }
        };
        Ok(Content::Resource { uri, mime, body })
    }

    fn wrong(&self, field: &str, message: impl Into<String>, hint: impl Into<String>) -> ContentFault {
        ContentFault::new(&format!("{}.{field}", self.place), message, hint)
    }

    /// What would be left out is told instead.
    fn only(&self, known: &[&str]) -> Result<(), ContentFault> {
        let Some(other) = self.fields.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        let hint = did_you_mean(other, known.iter().copied(), || example(self.kind));
        Err(self.wrong(&shortened(other), "is no field of this block", hint))
    }

    fn text(&self, field: &str) -> Result<String, ContentFault> {
        match self.fields.get(field) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err(self.wrong(field, "must be a text", example(self.kind))),
        }
    }

    /// Bytes: base64 as a text, or as a cell writes a typed array.
    fn bytes(&self, field: &str) -> Result<String, ContentFault> {
        let given = match self.fields.get(field) {
            Some(Value::String(text)) => Some(text),
            Some(Value::Object(fields)) if fields.len() == 1 => match fields.get(BYTES) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            },
            _ => None,
        };
        let Some(text) = given else {
            let hint = "give a typed array, or a text of base64";
            return Err(self.wrong(field, "must be bytes", hint));
        };
        // Without padding is fine; what goes on from here has it.
        let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let Ok(bytes) = GeneralPurpose::new(&LETTERS, config).decode(text) else {
            let hint = "give a typed array, or base64 with + and / and nothing around it; data that holds a secret is \
                        masked and cannot be given";
            return Err(self.wrong(field, "is not base64", hint));
        };
        Ok(STANDARD.encode(bytes))
    }

    /// Bytes that are not none.
    fn data(&self, field: &str) -> Result<String, ContentFault> {
        let data = self.bytes(field)?;
        if data.is_empty() {
            return Err(self.wrong(field, "is empty", example(self.kind)));
        }
        Ok(data)
    }

    fn mime_of(&self, family: &str) -> Result<String, ContentFault> {
        let mime = self.text("mimeType")?;
        if is_mime(&mime) && mime.to_ascii_lowercase().starts_with(family) {
            return Ok(mime);
        }
        let message = format!("`{}` is no media type of this block", shortened(&mime));
        let hint = match family {
            "" => "write it like text/plain".to_owned(),
            family => format!("it begins with {family}"),
        };
        Err(self.wrong("mimeType", message, hint))
    }
}

/// `type/subtype`, with parameters or without.
fn is_mime(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let is_whole =
        essence.trim_end_matches(' ').split_once('/').is_some_and(|(kind, of)| token(kind) && token(of));
    is_whole && text.len() <= LONGEST_MIME && parameters.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
}

/// A scheme, and something behind it that needs no quotes.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let is_tame = |c: char| !c.is_control() && !c.is_whitespace();
    is_scheme && !rest.is_empty() && text.len() <= LONGEST_URI && text.chars().all(is_tame)
}
