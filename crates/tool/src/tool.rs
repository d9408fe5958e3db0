//! A tool whose document was checked. There is no way to change a field past the checks: write it with
//! [`Tool::to_json`], change that, and read it with [`Tool::from_json`].

use bailiwick_policy::ToolPolicy;
use bailiwick_sandbox::SealedSecret;
use bailiwick_types::ToolId;
use bailiwick_wire::{Entry, Language};
use serde_json::{Map, Value};

use crate::approval::Approval;
use crate::command::CommandBlock;
use crate::input;
use crate::name::{Category, Name};
use crate::param::Param;
use crate::schema::Schema;
use crate::statics::{SecretStatic, Static, sealed, settled};
use crate::test::Test;

/// Bytes of a tool's code.
pub const MOST_CODE: usize = 100 * 1024;

/// A tool as its document says it. Two are equal when their documents say the same.
#[derive(Debug, Clone)]
pub struct Tool {
    pub(crate) id: Option<ToolId>,
    pub(crate) name: Name,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) category: Option<Category>,
    pub(crate) tags: Vec<String>,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Option<(Value, Schema)>,
    pub(crate) statics: Vec<Static>,
    pub(crate) entry: Entry,
    pub(crate) language: Language,
    pub(crate) body: Body,
    pub(crate) policy: ToolPolicy,
    /// As written, since a layer remembers no older names.
    pub(crate) overrides: Option<Value>,
    pub(crate) limits: Option<Value>,
    pub(crate) approval: Approval,
    pub(crate) tests: Vec<Test>,
    pub(crate) managed: Managed,
    pub(crate) kept: Map<String, Value>,
}

/// What a tool runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Code in a cell.
    Code(String),
    /// A command in a sandbox.
    Command(Box<CommandBlock>),
}

/// What the catalogue keeps in a document by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Managed {
    /// When the tool was made.
    pub created_at: Option<String>,
    /// When it was last changed.
    pub updated_at: Option<String>,
    /// How often it was changed.
    pub version: Option<u64>,
}

impl Tool {
    /// Its id, if it was given one.
    pub const fn id(&self) -> Option<ToolId> {
        self.id
    }

    /// Its name.
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Its title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What a model reads about it.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What it is about.
    pub const fn category(&self) -> Option<&Category> {
        self.category.as_ref()
    }

    /// Its tags.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Its parameters, in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The parameter of this name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The JSON Schema of its result.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref().map(|(written, _)| written)
    }

    pub(crate) fn output_schema(&self) -> Option<&Schema> {
        self.output.as_ref().map(|(_, schema)| schema)
    }

    /// Its statics, as they are listed.
    pub fn statics(&self) -> &[Static] {
        &self.statics
    }

    /// The statics that are plain values; of two with one name, the later holds.
    pub fn plain_statics(&self) -> Map<String, Value> {
        settled(&self.statics).0
    }

    /// The statics that are secrets; of two with one name, the later holds.
    pub fn secret_statics(&self) -> Vec<SecretStatic> {
        settled(&self.statics).1
    }

    /// The statics that are sealed secrets, as a command sandbox takes them.
    pub fn sealed_statics(&self) -> Vec<SealedSecret> {
        sealed(&self.statics)
    }

    /// The shape of its code.
    pub const fn entry(&self) -> Entry {
        self.entry
    }

    /// What its code is written in.
    pub const fn language(&self) -> Language {
        self.language
    }

    /// What it runs.
    pub const fn body(&self) -> &Body {
        &self.body
    }

    /// Its code, unless it is a command.
    pub fn code(&self) -> Option<&str> {
        match &self.body {
            Body::Code(code) => Some(code),
            Body::Command(_) => None,
        }
    }

    /// What it runs in a sandbox, unless it is code.
    pub const fn command(&self) -> Option<&CommandBlock> {
        match &self.body {
            Body::Code(_) => None,
            Body::Command(command) => Some(command),
        }
    }

    /// Its profile, overrides and limits.
    pub const fn policy(&self) -> &ToolPolicy {
        &self.policy
    }

    /// Its overrides, as written.
    pub const fn overrides(&self) -> Option<&Value> {
        self.overrides.as_ref()
    }

    /// Its limits, as written.
    pub const fn limits(&self) -> Option<&Value> {
        self.limits.as_ref()
    }

    /// Its wish about approval.
    pub const fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Its tests.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// What the catalogue keeps in it.
    pub const fn managed(&self) -> &Managed {
        &self.managed
    }

    /// The fields that are kept and mean nothing here, in order: `metadata` and `x-…`.
    pub const fn kept(&self) -> &Map<String, Value> {
        &self.kept
    }

    /// The same tool under this id.
    #[must_use]
    pub const fn with_id(mut self, id: ToolId) -> Self {
        self.id = Some(id);
        self
    }

    /// The same tool under another name.
    #[must_use]
    pub fn renamed(mut self, name: Name) -> Self {
        self.name = name;
        self
    }

    /// The same tool with what the catalogue keeps in it.
    #[must_use]
    pub fn with_managed(mut self, managed: Managed) -> Self {
        self.managed = managed;
        self
    }

    /// The arguments that Local Pass tries: the test values, and the defaults of the rest. The required parameters that
    /// have no test value are the error.
    pub fn trial(&self) -> Result<Map<String, Value>, Vec<&str>> {
        let lacking: Vec<&str> = self
            .params
            .iter()
            .filter(|param| param.required && param.test_value.is_none())
            .map(|param| param.name.as_str())
            .collect();
        if !lacking.is_empty() {
            return Err(lacking);
        }
        let tried = self.params.iter().filter_map(|param| {
            let value = param.test_value.as_ref().or(param.default.as_ref())?;
            Some((param.name.clone(), value.clone()))
        });
        Ok(tried.collect())
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        input::schema_of(&self.params)
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}
