//! Values that a tool's author fixes: plain ones, and references to secrets. Only here is `${NAME}` resolved.

use bailiwick_document::{Entry, Reader};
use bailiwick_gateway::net::Seal;
use bailiwick_sandbox::SealedSecret;
use bailiwick_secrets::SecretName;
use serde_json::{Map, Value, json};

use crate::json::json_of;

/// One static, as the document lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Static {
    /// The variable that code sees.
    pub name: String,
    /// What it is.
    pub value: StaticValue,
}

/// What a static is.
#[derive(Debug, Clone, PartialEq)]
pub enum StaticValue {
    /// A value as it stands.
    Plain(Value),
    /// The value of a secret.
    Secret {
        /// Which.
        name: SecretName,
        /// Where alone it may be used; code then sees a placeholder.
        seal: Option<Sealing>,
    },
}

/// A seal, and how it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealing {
    /// What it allows.
    pub seal: Seal,
    written: Value,
}

/// A static whose value is a secret's, after later ones have taken the place of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretStatic {
    /// The variable that code sees.
    pub variable: String,
    /// Which secret.
    pub name: SecretName,
    /// Where alone it may be used.
    pub seal: Option<Seal>,
}

impl Static {
    pub(crate) fn read(reader: &mut Reader, entry: &Entry<'_>) -> Option<Self> {
        let mut record = reader.record(entry)?;
        let name = record.take("name").and_then(|entry| reader.text(&entry).map(str::to_owned));
        let value = record.take("value").map(|entry| json_of(&entry.node.value));
        let seal = record.take("sealed");
        record.close(reader);
        let (Some(variable), Some(value)) = (name, value) else {
            reader.wrong(entry, "a static needs `name` and `value`", None);
            return None;
        };
        let Some(name) = value.as_str().and_then(|text| text.strip_prefix("${")?.strip_suffix('}')) else {
            if let Some(name) = value.as_str().and_then(reference_within) {
                let hint = format!("write `value: ${{{name}}}`, and put the rest to it in the code");
                reader.wrong(entry, "a secret is the whole value of a static, or no part of it", Some(hint));
            }
            if seal.is_some() {
                let hint = "write `value: ${NAME}`, and `bailiwick secret set NAME`".to_owned();
                reader.wrong(entry, "only a secret can be sealed", Some(hint));
            }
            return Some(Self { name: variable, value: StaticValue::Plain(value) });
        };
        let name = match SecretName::parse(name) {
            Ok(name) => name,
            Err(error) => {
                reader.wrong(entry, error.to_string(), Some("for example ${GITHUB_TOKEN}".to_owned()));
                return None;
            }
        };
        let seal = match seal {
            None => None,
            Some(seal) => Some(Sealing::read(reader, &seal)?),
        };
        Some(Self { name: variable, value: StaticValue::Secret { name, seal } })
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { name, value } = self;
        match value {
            StaticValue::Plain(value) => json!({"name": name, "value": value}),
            StaticValue::Secret { name: secret, seal: None } => {
                json!({"name": name, "value": format!("${{{secret}}}")})
            }
            StaticValue::Secret { name: secret, seal: Some(seal) } => {
                json!({"name": name, "value": format!("${{{secret}}}"), "sealed": seal.written})
            }
        }
    }
}

impl Sealing {
    fn read(reader: &mut Reader, entry: &Entry<'_>) -> Option<Self> {
        let written = json_of(&entry.node.value);
        match Seal::parse(&written) {
            Ok(seal) => Some(Self { seal, written }),
            Err(error) => {
                let hint =
                    "for example sealed: {hosts: [api.github.com], in: \"header:Authorization\"}".to_owned();
                reader.wrong(entry, format!("`sealed`: {error}"), Some(hint));
                None
            }
        }
    }
}

/// The plain values and the secrets of a list of statics: of two with one name, the later holds.
pub(crate) fn settled(statics: &[Static]) -> (Map<String, Value>, Vec<SecretStatic>) {
    let mut plain = Map::new();
    let mut secrets: Vec<SecretStatic> = Vec::new();
    for Static { name: variable, value } in statics {
        plain.shift_remove(variable);
        secrets.retain(|secret| secret.variable != *variable);
        match value {
            StaticValue::Plain(value) => {
                plain.insert(variable.clone(), value.clone());
            }
            StaticValue::Secret { name, seal } => secrets.push(SecretStatic {
                variable: variable.clone(),
                name: name.clone(),
                seal: seal.as_ref().map(|sealing| sealing.seal.clone()),
            }),
        }
    }
    (plain, secrets)
}

/// The secrets that commands use and never see: of two statics with one name, the later holds.
pub(crate) fn sealed(statics: &[Static]) -> Vec<SealedSecret> {
    let later = |index: usize, name: &str| statics.iter().skip(index + 1).any(|other| other.name == name);
    statics
        .iter()
        .enumerate()
        .filter(|(index, one)| !later(*index, &one.name))
        .filter_map(|(_, one)| match &one.value {
            StaticValue::Secret { name, seal: Some(seal) } => Some(SealedSecret {
                variable: one.name.clone(),
                secret: name.as_str().to_owned(),
                sealed: seal.written.clone(),
            }),
            StaticValue::Secret { seal: None, .. } | StaticValue::Plain(_) => None,
        })
        .collect()
}

/// The name of a secret that stands within a longer text.
fn reference_within(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("${")?;
    let (name, _) = rest.split_once('}')?;
    SecretName::parse(name).ok().map(|_| name)
}
