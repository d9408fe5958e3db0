//! What a document with a `command` has no use for: told, and not ignored.

use bailiwick_document::{Entry as Field, Value as Written};
use bailiwick_types::shortened;

use super::Reading;
use crate::param::Param;
use crate::statics::Static;

/// The fields that mean nothing for a command, and where what they say belongs.
const FOR_CODE: &[(&str, &str)] = &[
    ("entry", "leave it out"),
    ("language", "leave it out; a script says its own below `command`"),
    ("profile", "leave it out; what a command may reach stands below `command`"),
    ("overrides", "say it below `command`: network, mounts, minTier"),
    ("limits", "say it below `command.limits`: cpu, memory, disk, timeout, processes, output"),
];

/// The fields of a test that mean nothing for a command.
const FOR_TESTS_OF_CODE: &[(&str, &str)] = &[
    ("http", "a command has no canned answers: its tests run in a real sandbox"),
    ("recording", "a command is not recorded: its tests run in a real sandbox"),
    ("files", "a command begins in an empty folder, for its callers as well"),
    ("leaves", "nothing of a command's own files outlives it"),
];

impl Reading {
    /// Tells of everything that only code would understand, and of names that clash.
    pub(super) fn only_a_command(&mut self, root: &Field<'_>, params: &[Param], statics: &[Static]) {
        for (name, hint) in FOR_CODE {
            let says_nothing = |value: &Written| match value {
                Written::Null => true,
                Written::Map(fields) => fields.is_empty(),
                _ => false,
            };
            let Some(node) = root.node.get(name).filter(|node| !says_nothing(&node.value)) else { continue };
            let field = Field { node, path: root.path.field(name) };
            self.reader.wrong(&field, format!("a command has no `{name}`"), Some((*hint).to_owned()));
        }
        if let Some(Written::List(tests)) = root.node.get("tests").map(|node| &node.value) {
            for (index, test) in tests.iter().enumerate() {
                for (name, hint) in FOR_TESTS_OF_CODE {
                    let Some(node) = test.get(name) else { continue };
                    let path = root.path.field("tests").item(index).field(name);
                    let message = format!("a test of a command has no `{name}`");
                    self.reader.wrong(&Field { node, path }, message, Some((*hint).to_owned()));
                }
            }
        }
        for one in statics {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let is_variable = !one.name.is_empty()
                && one.name.bytes().all(is_part)
                && !one.name.starts_with(|first: char| first.is_ascii_digit());
            let why = if !is_variable {
                "is not of letters, digits and `_`"
            } else if params.iter().any(|param| param.name == one.name) {
                "is there twice: parameters and statics share one set of names"
            } else {
                continue;
            };
            let node = root.node.get("statics").unwrap_or(root.node);
            let field = Field { node, path: root.path.field("statics") };
            let message = format!("`{}` cannot be a variable: it {why}", shortened(&one.name));
            self.reader.wrong(&field, message, Some("name it otherwise".to_owned()));
        }
    }
}
