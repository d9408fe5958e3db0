//! A declared parameter: what it is called, what it may be, and what is tried with it.

use bailiwick_document::{Entry, Reader};
use bailiwick_types::{did_you_mean, shortened};
use serde_json::{Map, Value, json};

use crate::json::{brief, json_of, kind};
use crate::schema::{Breach, Schema};
use crate::variable;

/// Parameters of one tool.
pub(crate) const MOST_PARAMS: usize = 64;
/// Members of one `enum`.
pub(crate) const MOST_CHOICES: usize = 500;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamType {
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A map.
    Object,
    /// A list.
    Array,
}

impl ParamType {
    /// All types, in the order of the reference.
    pub const ALL: [Self; 6] =
        [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Object, Self::Array];

    /// The word of a document, in any case there.
    pub const fn word(self) -> &'static str {
        match self {
            Self::String => "STRING",
            Self::Integer => "INTEGER",
            Self::Number => "NUMBER",
            Self::Boolean => "BOOLEAN",
            Self::Object => "OBJECT",
            Self::Array => "ARRAY",
        }
    }

    /// The word of JSON Schema.
    pub const fn schema_word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }

    /// What it is, for a message: "a whole number".
    pub const fn article(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Object => "a map",
            Self::Array => "a list",
        }
    }

    /// Whether a value is of this type. `7.0` is a whole number, as in JSON Schema.
    pub fn holds(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|double| double.fract() == 0.0)
            }
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
        }
    }
}

/// A declared parameter.
#[derive(Debug, Clone)]
pub struct Param {
    /// The variable, or the field, that code sees.
    pub name: String,
    /// Its type.
    pub kind: ParamType,
    /// Whether a call must give it.
    pub required: bool,
    /// What a model reads about it.
    pub description: Option<String>,
    /// What it is when a call does not give it.
    pub default: Option<Value>,
    /// The only values it may have; empty for any.
    pub choices: Vec<Value>,
    /// What a map or a list must look like inside, as the document says it.
    pub schema: Option<Value>,
    /// What Local Pass tries.
    pub test_value: Option<Value>,
    compiled: Option<Schema>,
}

impl Param {
    pub(crate) fn read(reader: &mut Reader, entry: &Entry<'_>) -> Option<Self> {
        let mut record = reader.record(entry)?;
        let name = record.take("name");
        let kind = record.take("type");
        let required = record.take("required").and_then(|entry| reader.flag(&entry)).unwrap_or(false);
        let description = record.take("description");
        let default = record.take("default");
        let choices = record.take("enum");
        let schema = record.take("schema");
        let test_value = record.take("testValue");
        record.close(reader);
        let description = description.and_then(|entry| reader.text(&entry).map(str::to_owned));
        let name = read_name(reader, entry, name.as_ref());
        let Some(kind) = kind else {
            let hint = "write `type: STRING`, say".to_owned();
            reader.wrong(entry, "a parameter has no `type`", Some(hint));
            return None;
        };
        let kind = read_type(reader, &kind);
        let (name, kind) = (name?, kind?);
        let mut param = Self {
            name,
            kind,
            required,
            description,
            default: None,
            choices: Vec::new(),
            schema: None,
            test_value: None,
            compiled: None,
        };
        if let Some(schema) = schema {
            param.read_schema(reader, &schema);
        }
        if let Some(choices) = choices {
            param.choices = read_choices(reader, &choices, &param);
        }
        param.default = default.and_then(|entry| fitting(reader, &entry, &param, json_of(&entry.node.value)));
        param.test_value = test_value.and_then(|entry| {
            let value = match json_of(&entry.node.value) {
                Value::String(text) if kind != ParamType::String => {
                    serde_json::from_str(&text).unwrap_or(Value::String(text))
                }
                value => value,
            };
            fitting(reader, &entry, &param, value)
        });
        Some(param)
    }

    fn read_schema(&mut self, reader: &mut Reader, entry: &Entry<'_>) {
        if !matches!(self.kind, ParamType::Object | ParamType::Array) {
            let hint = format!("leave it out, or use `enum`; {} has no inside", self.kind.article());
            reader.wrong(entry, "`schema` is for OBJECT and ARRAY", Some(hint));
            return;
        }
        let schema = json_of(&entry.node.value);
        match Schema::compile(&schema) {
            Ok(compiled) => self.compiled = Some(compiled),
            Err(fault) => {
                reader.wrong(entry, format!("`{}` {}", entry.path, fault.message), fault.hint);
                return;
            }
        }
        let said = schema.get("type");
        if said.is_some_and(|said| said.as_str() != Some(self.kind.schema_word())) {
            let hint = format!("leave `type` out of the schema; it is {}", self.kind.schema_word());
            reader.wrong(entry, "the schema's `type` is another than the parameter's", Some(hint));
        }
        self.schema = Some(schema);
    }

    /// How a value breaks what is declared; empty if it fits.
    pub(crate) fn breaches(&self, value: &Value) -> Vec<Breach> {
        let one = |message: String| vec![Breach { pointer: String::new(), message }];
        if !self.kind.holds(value) {
            let given = match value {
                Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) => kind(value).to_owned(),
                scalar => format!("{} ({})", kind(scalar), brief(scalar)),
            };
            return one(format!("must be {}, but is {given}", self.kind.article()));
        }
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| crate::expect::same(choice, value)) {
            let mut shown: Vec<String> = self.choices.iter().take(10).map(brief).collect();
            if self.choices.len() > shown.len() {
                shown.push("…".to_owned());
            }
            return one(format!("must be one of {}, but is {}", shown.join(", "), brief(value)));
        }
        self.compiled.as_ref().map_or_else(Vec::new, |schema| schema.breaches(value))
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { name, kind, required, description, default, choices, schema, test_value, compiled: _ } =
            self;
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("name", json!(name));
        put("type", json!(kind.word()));
        if *required {
            put("required", json!(true));
        }
        if let Some(description) = description {
            put("description", json!(description));
        }
        if let Some(default) = default {
            put("default", default.clone());
        }
        if !choices.is_empty() {
            put("enum", json!(choices));
        }
        if let Some(schema) = schema {
            put("schema", schema.clone());
        }
        if let Some(value) = test_value {
            put("testValue", value.clone());
        }
        Value::Object(map)
    }
}

fn read_name(reader: &mut Reader, entry: &Entry<'_>, name: Option<&Entry<'_>>) -> Option<String> {
    let Some(name) = name else {
        reader.wrong(entry, "a parameter has no `name`", None);
        return None;
    };
    let text = reader.text(name)?;
    if let Some(why) = variable::why_not(text) {
        let hint = format!("name it `{}`, say", variable::proposal(text));
        reader.wrong(name, format!("`{}` cannot be a parameter: it {why}", shortened(text)), Some(hint));
        return None;
    }
    Some(text.to_owned())
}

fn read_type(reader: &mut Reader, entry: &Entry<'_>) -> Option<ParamType> {
    let text = reader.text(entry)?;
    let known = ParamType::ALL.iter().find(|kind| kind.word().eq_ignore_ascii_case(text));
    if known.is_none() {
        let words = ParamType::ALL.map(ParamType::word);
        let hint = did_you_mean(text, words, || format!("types are {}", words.join(", ")));
        reader.wrong(entry, format!("`{}` is no type of a parameter", shortened(text)), Some(hint));
    }
    known.copied()
}

fn read_choices(reader: &mut Reader, entry: &Entry<'_>, param: &Param) -> Vec<Value> {
    let items = reader.list_up_to(entry, MOST_CHOICES);
    if items.is_empty()
        && matches!(&entry.node.value, bailiwick_document::Value::List(list) if list.is_empty())
    {
        reader.wrong(entry, format!("`{}` is empty, so no value fits", entry.path), None);
    }
    items.iter().filter_map(|item| fitting(reader, item, param, json_of(&item.node.value))).collect()
}

/// The value if it fits what was read of the parameter so far, else a problem for each breach.
fn fitting(reader: &mut Reader, entry: &Entry<'_>, param: &Param, value: Value) -> Option<Value> {
    let breaches = param.breaches(&value);
    for Breach { pointer, message } in &breaches {
        let hint = match (&value, param.kind) {
            (Value::Number(_) | Value::Bool(_), ParamType::String) => {
                Some(format!("write it in quotes: \"{value}\""))
            }
            _ => None,
        };
        let at = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
        reader.wrong(entry, format!("`{}`{at}: {message}", entry.path), hint);
    }
    breaches.is_empty().then_some(value)
}
