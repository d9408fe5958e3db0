//! A parameter as it is typed: `name:type[!][=testValue]`.

use bailiwick_types::did_you_mean;
use serde_json::{Value, json};

use crate::failure::Failure;

/// A parameter of a new tool.
pub(super) struct Param {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// What the pass runs with. An optional parameter may go without.
    pub(super) test_value: Option<Value>,
}

/// The types of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Object, Self::Array];

    /// As documents write it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::String => "STRING",
            Self::Integer => "INTEGER",
            Self::Number => "NUMBER",
            Self::Boolean => "BOOLEAN",
            Self::Object => "OBJECT",
            Self::Array => "ARRAY",
        }
    }

    /// A value to begin with.
    fn example(self) -> Value {
        match self {
            Self::String => json!("text"),
            Self::Integer => json!(1),
            Self::Number => json!(1.5),
            Self::Boolean => json!(true),
            Self::Object => json!({}),
            Self::Array => json!([]),
        }
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
        }
    }
}

impl Param {
    /// Reads what was typed.
    pub(super) fn parse(typed: &str) -> Result<Self, Failure> {
        let (declared, value) = match typed.split_once('=') {
            Some((declared, value)) => (declared, Some(value)),
            None => (typed, None),
        };
        let (name, kind) = declared.split_once(':').unwrap_or((declared, "string"));
        let (kind, required) = match (kind.strip_suffix('!'), name.strip_suffix('!')) {
            (Some(kind), _) => (kind, true),
            (None, Some(_)) if !declared.contains(':') => (kind, true),
            (None, _) => (kind, false),
        };
        let name = if declared.contains(':') { name } else { name.trim_end_matches('!') };
        check_name(name, typed)?;
        let kind = kind_of(kind)?;
        let test_value = match value {
            Some(text) => Some(value_of(name, kind, text)?),
            None => required.then(|| kind.example()),
        };
        Ok(Self { name: name.to_owned(), kind, required, test_value })
    }
}

/// A name that code can use as a variable. Reserved words are found when the document is checked.
fn check_name(name: &str, typed: &str) -> Result<(), Failure> {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | '$'));
    if begins && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$')) {
        return Ok(());
    }
    Err(Failure::Argument {
        message: format!("`{typed}` is not a parameter: its name must be one that code can use"),
        hint: "write it like city:string!=Berlin".to_owned(),
    })
}

fn kind_of(word: &str) -> Result<Kind, Failure> {
    let found = Kind::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word));
    found.ok_or_else(|| {
        let words: Vec<String> = Kind::ALL.iter().map(|kind| kind.word().to_lowercase()).collect();
        let all = || format!("types are {}", words.join(", "));
        Failure::Argument {
            message: format!("`{word}` is no type of a parameter"),
            hint: did_you_mean(&word.to_lowercase(), words.iter().map(String::as_str), all),
        }
    })
}

/// A text for a STRING, else JSON of the declared type.
fn value_of(name: &str, kind: Kind, text: &str) -> Result<Value, Failure> {
    let value = if kind == Kind::String { Some(json!(text)) } else { serde_json::from_str(text).ok() };
    value.filter(|value| kind.holds(value)).ok_or_else(|| Failure::Argument {
        message: format!("`{text}` is not a value of {name}, which is {}", kind.word()),
        hint: format!("write {name}:{}={}", kind.word().to_lowercase(), kind.example()),
    })
}
