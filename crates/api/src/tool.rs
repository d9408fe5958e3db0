//! Tools: in a list, in full, as documents that come in and go out.

use bailiwick_core::{Document, Reasons};
use bailiwick_types::{Risk, RiskLevel, ToolId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::shape::{shape, words};
use crate::{Fault, Found, Tested, schema};

shape! {
    /// A tool in a list.
    #[derive(Eq)]
    ToolLine of bailiwick_core::ToolLine {
        /// Its id.
        #[schema(value_type = schema::Uuid)]
        id: ToolId,
        /// Its name.
        name: String,
        /// Its title.
        title: String,
        /// Its state: `DRAFT`, `PASSED`, `PUBLISHED`, `STALE`, `REVOKED`.
        state: String,
        /// Its badge under the policy of today; null where that cannot be resolved.
        #[schema(value_type = Option<schema::RiskLevel>)]
        level: Option<RiskLevel>,
        /// How often it was saved.
        version: u64,
        /// When it was last saved, RFC 3339.
        updated_at: String,
    }
}

shape! {
    /// A tool in full.
    ToolView of bailiwick_core::ToolView {
        /// As in a list.
        #[serde(flatten)]
        line: ToolLine,
        /// Why it is in this state, where that is not plain.
        because: Option<String>,
        /// The document as it is kept.
        document: Value,
        /// SHA-256 of what a pass covers.
        hash: String,
        /// SHA-256 of its texts.
        texts_hash: String,
        /// The badge with its reasons; null where the policy cannot be resolved.
        #[schema(value_type = Option<schema::Risk>)]
        risk: Option<Risk>,
        /// The effective policy.
        #[schema(value_type = Option<Object>)]
        policy: Option<Value>,
        /// Whether a call waits for a person.
        approval: bool,
        /// Its last Local Pass.
        #[schema(value_type = Option<Object>)]
        pass: Option<Value>,
        /// What people said for it when it was published.
        #[schema(value_type = Option<Object>)]
        notes: Option<Value>,
        /// What a model would see.
        definition: Value,
    }
}

words! {
    /// What happened to a tool.
    Change of bailiwick_core::Change {
        /// It is new.
        Added,
        /// Something that a pass covers changed.
        Changed,
        /// Only texts or fields that nobody runs changed.
        Texts,
        /// Nothing changed.
        Same,
    }
}

shape! {
    /// What became of a document that was taken in.
    Imported of bailiwick_core::Imported {
        /// The tool's id.
        #[schema(value_type = schema::Uuid)]
        id: ToolId,
        /// Its name.
        name: String,
        /// What happened.
        change: Change,
        /// Its state now.
        state: String,
        /// How often it was saved.
        version: u64,
        /// What is doubtful about the document.
        warnings: Vec<Fault>,
        /// What was found in its texts.
        texts: Vec<Found>,
    }
}

shape! {
    /// A publication.
    Published of bailiwick_core::Published {
        /// The tool.
        tool: ToolLine,
        /// The pass that ran for it, if one did.
        tested: Option<Tested>,
        /// What was found in its texts.
        texts: Vec<Found>,
        /// What to know about it.
        notes: Vec<String>,
    }
}

shape! {
    /// A document with the name of its file.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    NamedDocument of Document {
        /// The name of its file, which says what it is written in: `add.tool.yaml`, `add.js`.
        name: String,
        /// Its text.
        text: String,
    }
}

/// A page of tools, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPage {
    /// The tools.
    pub tools: Vec<ToolLine>,
    /// Give this as `after` for the next page; null on the last.
    pub next: Option<String>,
}

/// A document that comes in: as JSON, or as the text of a file.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentIn {
    /// The name of its file, for messages; where it is a text it also says what it is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The document: an object, or a text (YAML, unless `name` says otherwise).
    #[schema(value_type = schema::DocumentValue)]
    pub document: Box<RawValue>,
    /// A person confirmed that approval is turned off where it was required.
    #[serde(default)]
    pub approval_off: bool,
}

impl DocumentIn {
    /// The document as the inside takes it. What was written is handed on letter by letter, so that its reader sees
    /// what a parser of ours would hide: a key that is there twice, a number that does not fit.
    pub fn document(&self) -> Document {
        let raw = self.document.get();
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Document { name: self.name.clone().unwrap_or_else(|| YAML_NAME.to_owned()), text },
            Err(_) => Document { name: json_name(self.name.as_deref()), text: raw.to_owned() },
        }
    }

    /// A document on its way out.
    pub fn of(document: &Document, approval_off: bool) -> Result<Self, serde_json::Error> {
        let Document { name, text } = document;
        let document = serde_json::value::to_raw_value(text)?;
        Ok(Self { name: Some(name.clone()), document, approval_off })
    }
}

/// What a text is called that came without a name.
pub(crate) const YAML_NAME: &str = "document.tool.yaml";

fn json_name(name: Option<&str>) -> String {
    let Some(name) = name else { return "document.tool.json".to_owned() };
    let is_json = std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json { name.to_owned() } else { format!("{name}.tool.json") }
}

/// Documents to be taken in: all of them, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// The documents.
    pub documents: Vec<NamedDocument>,
    /// A person confirmed that approval is turned off where it was required.
    #[serde(default)]
    pub approval_off: bool,
}

/// What became of documents that were taken in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedAll {
    /// Each of them.
    pub imported: Vec<Imported>,
}

/// Which tools are wanted as documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Export {
    /// Their names or ids; none for all.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// Tools as documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Documents {
    /// Each of them.
    pub documents: Vec<NamedDocument>,
}

/// How the tests of a kept tool are run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Test {
    /// Runs without canned answers of their own reach the network.
    #[serde(default)]
    pub live: bool,
}

/// A document whose tests are run, without keeping it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Try {
    /// The name of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The document: an object, or a text.
    #[schema(value_type = schema::DocumentValue)]
    pub document: Box<RawValue>,
    /// Runs without canned answers of their own reach the network.
    #[serde(default)]
    pub live: bool,
}

impl Try {
    /// The document as the inside takes it.
    pub fn document(&self) -> Document {
        let Self { name, document, live: _ } = self;
        DocumentIn { name: name.clone(), document: document.clone(), approval_off: false }.document()
    }
}

/// Which kept tools are tested, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestWhich {
    /// Which.
    pub which: Which,
    /// Runs without canned answers of their own reach the network.
    #[serde(default)]
    pub live: bool,
}

/// Which tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Which {
    /// These, by name or id.
    Named(Vec<String>),
    /// Every tool.
    All,
    /// Those whose policy became wider since their pass.
    Stale,
}

impl From<Which> for bailiwick_core::Which {
    fn from(which: Which) -> Self {
        match which {
            Which::Named(names) => Self::Named(names),
            Which::All => Self::All,
            Which::Stale => Self::Stale,
        }
    }
}

impl From<bailiwick_core::Which> for Which {
    fn from(which: bailiwick_core::Which) -> Self {
        match which {
            bailiwick_core::Which::Named(names) => Self::Named(names),
            bailiwick_core::Which::All => Self::All,
            bailiwick_core::Which::Stale => Self::Stale,
        }
    }
}

/// What a person says for a publication.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Publish {
    /// Why a tool of a high level is worth it.
    #[serde(default)]
    pub justification: Option<String>,
    /// Why texts that trip the scan are fine.
    #[serde(default)]
    pub despite_scan: Option<String>,
}

crate::shape::both_ways!(Publish, Reasons, justification, despite_scan);

/// A document to be taken in, passed and published in one step.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PublishDocument {
    /// The name of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The document: an object, or a text.
    #[schema(value_type = schema::DocumentValue)]
    pub document: Box<RawValue>,
    /// A person confirmed that approval is turned off where it was required.
    #[serde(default)]
    pub approval_off: bool,
    /// Why a tool of a high level is worth it.
    #[serde(default)]
    pub justification: Option<String>,
    /// Why texts that trip the scan are fine.
    #[serde(default)]
    pub despite_scan: Option<String>,
}

impl PublishDocument {
    /// Its parts as the inside takes them.
    pub fn parts(self) -> (Document, Reasons, bool) {
        let Self { name, document, approval_off, justification, despite_scan } = self;
        let document = DocumentIn { name, document, approval_off }.document();
        (document, Reasons { justification, despite_scan }, approval_off)
    }
}
