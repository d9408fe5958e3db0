//! The fields of a document that stand for themselves.

use bailiwick_document::{Entry as Field, Record};
use bailiwick_policy::{Layer, ToolPolicy, read::profile_name};
use bailiwick_types::{LayerName, ToolId, shortened};
use serde_json::Value;

use super::{Reading, Whence};
use crate::json::json_of;
use crate::name::{Category, LONG_NAME, LONGEST_TAG, MOST_TAGS, Name, RESERVED_HINT, tag_fault};
use crate::param::{MOST_PARAMS, Param};
use crate::schema::Schema;
use crate::statics::Static;
use crate::tool::Managed;

/// Statics of one tool.
const MOST_STATICS: usize = 200;
/// Characters of a managed time.
const LONGEST_TIME: usize = 40;

impl Reading {
    pub(super) fn text(&mut self, field: &Field<'_>) -> Option<String> {
        self.reader.text(field).map(str::to_owned)
    }

    pub(super) fn id(&mut self, field: &Field<'_>) -> Option<ToolId> {
        let text = self.reader.text(field)?;
        match ToolId::parse(text) {
            Ok(id) => Some(id),
            Err(error) => {
                let hint = "leave `id` out; a tool gets one when it is added".to_owned();
                self.reader.wrong(field, error.to_string(), Some(hint));
                None
            }
        }
    }

    pub(super) fn name(&mut self, root: &Field<'_>, field: Option<Field<'_>>) -> Option<Name> {
        let Some(field) = field else {
            self.reader.wrong(root, "the document has no `name`", Some("add `name: my_tool`".to_owned()));
            return None;
        };
        let text = self.reader.text(&field)?;
        let Some(name) = Name::parse(text) else {
            let hint = "a name begins with a-z and goes on with a-z, 0-9, `_` or `-`, at most 64 characters";
            self.reader.wrong(&field, format!("`{}` is no name", shortened(text)), Some(hint.to_owned()));
            return None;
        };
        if self.whence == Whence::Handed && name.is_reserved() {
            let message = format!("the name `{}` is kept for a native tool", shortened(text));
            self.reader.wrong(&field, message, Some(RESERVED_HINT.to_owned()));
            return None;
        }
        if name.slug().is_none() {
            let hint = "a new tool's name begins with a-z and goes on with a-z, 0-9, `_` or `-`";
            self.warn(
                &field,
                format!("`{}` is a name that only an imported tool may have", shortened(text)),
                hint,
            );
        }
        if text.chars().count() > LONG_NAME {
            let message = format!("the name has more than {LONG_NAME} characters");
            self.warn(&field, message, "clients put a prefix before it, and may cut it");
        }
        Some(name)
    }

    pub(super) fn category(&mut self, field: &Field<'_>) -> Option<Category> {
        let text = self.reader.text(field)?;
        let length = text.chars().count();
        if length == 0 || length > LONGEST_TAG || text.chars().any(char::is_control) {
            let hint = format!("a category has 1 to {LONGEST_TAG} characters on one line");
            self.reader.wrong(field, format!("`{}` is no category", shortened(text)), Some(hint));
        }
        Some(Category::of(text))
    }

    pub(super) fn tags(&mut self, field: &Field<'_>) -> Vec<String> {
        let mut tags = Vec::new();
        for item in self.reader.list_up_to(field, MOST_TAGS) {
            let Some(tag) = self.reader.text(&item) else { continue };
            if let Some((message, hint)) = tag_fault(tag) {
                self.reader.wrong(&item, message, Some(hint.to_owned()));
            }
            tags.push(tag.to_owned());
        }
        tags
    }

    pub(super) fn params(&mut self, field: &Field<'_>) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        for item in self.reader.list_up_to(field, MOST_PARAMS) {
            let Some(param) = Param::read(&mut self.reader, &item) else { continue };
            if params.iter().any(|before| before.name == param.name) {
                let hint = "keep one, or name them apart".to_owned();
                self.reader.wrong(
                    &item,
                    format!("the parameter `{}` is there twice", param.name),
                    Some(hint),
                );
                continue;
            }
            if param.required && param.default.is_some() {
                let message =
                    format!("the parameter `{}` is required, so its default is never used", param.name);
                self.warn(&item, message, "leave out `required` or `default`");
            }
            params.push(param);
        }
        params
    }

    pub(super) fn output(&mut self, field: &Field<'_>) -> Option<(Value, Schema)> {
        let schema = json_of(&field.node.value);
        match Schema::compile(&schema) {
            Ok(compiled) => Some((schema, compiled)),
            Err(fault) => {
                self.reader.wrong(field, format!("`{}` {}", field.path, fault.message), fault.hint);
                None
            }
        }
    }

    pub(super) fn statics(&mut self, field: &Field<'_>) -> Vec<Static> {
        let items = self.reader.list_up_to(field, MOST_STATICS);
        items.iter().filter_map(|item| Static::read(&mut self.reader, item)).collect()
    }

    pub(super) fn policy(&mut self, record: &mut Record<'_>) -> ToolPolicy {
        let layer = Layer::empty(LayerName::Tool, self.reader.document());
        let mut policy = ToolPolicy { profile: None, layer };
        if let Some(field) = record.take("profile") {
            policy.profile = profile_name(&mut self.reader, &field);
        }
        if let Some(field) = record.take("overrides")
            && let Some(mut overrides) = self.reader.record(&field)
        {
            policy.layer.read_overrides(&mut self.reader, &mut overrides);
            overrides.close(&mut self.reader);
        }
        if let Some(field) = record.take("limits") {
            policy.layer.read_limits(&mut self.reader, &field);
        }
        policy
    }

    pub(super) fn managed(&mut self, record: &mut Record<'_>) -> Managed {
        let mut time = |field: Option<Field<'_>>| {
            let field = field?;
            let text = self.reader.text(&field)?;
            if text.chars().count() > LONGEST_TIME || text.chars().any(char::is_control) {
                let hint = "leave it out; it is set when the tool is saved".to_owned();
                self.reader.wrong(&field, format!("`{}` is no time", field.path), Some(hint));
            }
            Some(text.to_owned())
        };
        let created_at = time(record.take("createdAt"));
        let updated_at = time(record.take("updatedAt"));
        let version = record.take("version").and_then(|field| self.reader.count(&field));
        Managed { created_at, updated_at, version }
    }
}
