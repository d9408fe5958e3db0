//! Document to tool. Every mistake is told at once, with its place; what is only unwise is a warning.

mod command;
mod command_seals;
mod fields;
mod whole;

use bailiwick_document::{
    Bounds, DocPath, Entry as Field, Format, Node, Problem, Problems, Reader, Record, Value as Written, parse,
};
use bailiwick_types::{did_you_mean, shortened};
use bailiwick_wire::{Entry, Language};
use serde_json::{Map, Value};

use crate::approval::Approval;
use crate::front_matter;
use crate::json::{json_of, tree_of};
use crate::syntax::{Syntax, without_escaped_halves};
use crate::tool::{Body, Tool};

/// The entries a document can name.
pub(crate) const ENTRIES: &[(&str, Entry)] =
    &[("body", Entry::Body), ("execute", Entry::Execute), ("emit", Entry::Emit)];

/// The languages a document can name.
pub(crate) const LANGUAGES: &[(&str, Language)] = &[
    ("javascript", Language::JavaScript),
    ("typescript", Language::TypeScript),
    ("js", Language::JavaScript),
    ("ts", Language::TypeScript),
];

/// Every top-level field that means something.
pub(crate) const FIELDS: &[&str] = &[
    "id",
    "name",
    "title",
    "description",
    "category",
    "tags",
    "params",
    "output",
    "statics",
    "entry",
    "language",
    "profile",
    "overrides",
    "limits",
    "safety",
    "approval",
    "tests",
    "code",
    "command",
    "createdAt",
    "updatedAt",
    "version",
];

/// The one block that an author may fill with anything: it is kept, and means nothing.
pub(crate) const METADATA: &str = "metadata";

/// How fields begin that other programs may add; they are kept, and mean nothing.
pub(crate) const FOREIGN: &str = "x-";

/// Fields that other programs' documents have, and what to do about them here.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "sandboxOverrides",
        "write `overrides`; `tool import --from spring` reads documents of Spring AI Playground",
    ),
    (
        "staticVariables",
        "write `statics`; `tool import --from spring` reads documents of Spring AI Playground",
    ),
    (
        "humanInTheLoop",
        "write `approval`; `tool import --from spring` reads documents of Spring AI Playground",
    ),
    ("parameters", "write `params`: a list of {name, type, description}"),
    ("inputSchema", "write `params`: the schema for clients is made from them"),
    ("outputSchema", "write `output`"),
    ("secrets", "write `statics`, with `value: ${NAME}`"),
];

/// A tool that was read, and what is unwise in its document.
#[derive(Debug, Clone)]
pub struct Read {
    /// The tool.
    pub tool: Tool,
    /// What is allowed, but better changed.
    pub warnings: Vec<Problem>,
}

/// Code that stands around the fields, in a file of code.
struct Around {
    code: String,
    language: Language,
}

impl Tool {
    /// Reads a document. `document` is what messages call it.
    ///
    /// In JavaScript and TypeScript the fields stand in a comment at the top (`/*---`, YAML, `---*/`; `*` at the begin
    /// of each line and a `#!` line before it are fine), and the code is the rest of the file. Code and messages keep
    /// the line numbers of the file.
    ///
    /// ```
    /// use bailiwick_tool::{Syntax, Tool};
    /// let read = Tool::read("add.js", "/*---\nname: add\ndescription: Adds.\n---*/\nreturn 1;", Syntax::JavaScript)?;
    /// assert_eq!(read.tool.code().unwrap().trim(), "return 1;");
    /// # Ok::<(), bailiwick_document::Problems>(())
    /// ```
    pub fn read(document: &str, text: &str, syntax: Syntax) -> Result<Read, Problems> {
        let bounds = Bounds::WRITTEN_BY_HAND;
        let around = |code: String| match syntax {
            Syntax::TypeScript => Around { code, language: Language::TypeScript },
            _ => Around { code, language: Language::JavaScript },
        };
        let (tree, around) = match syntax {
            Syntax::Yaml => (parse(document, text, Format::Yaml, bounds)?, None),
            Syntax::Json => (parse(document, &without_escaped_halves(text), Format::Yaml, bounds)?, None),
            Syntax::JavaScript | Syntax::TypeScript => {
                let Some(split) = front_matter::split(text) else {
                    let message = "the file has no fields of a tool in a comment at its top";
                    let problem = Problem::at(bailiwick_document::Place::START, message);
                    return Err(Problems::one(document, problem.with_hint(front_matter::HINT)));
                };
                (parse(document, &split.fields, Format::Yaml, bounds)?, Some(around(split.code)))
            }
        };
        Reading::new(document, Whence::Handed).read(&tree, around)
    }

    /// Reads a document that is JSON already and was handed in before, by the same checks but one: the name that it was
    /// kept with may be reserved by now. Problems have a path and no line.
    pub fn from_json(document: &Value) -> Result<Self, Problems> {
        const NAME: &str = "the document";
        let tree = tree_of(NAME, document, Bounds::WRITTEN_BY_HAND)?;
        match Reading::new(NAME, Whence::Kept).read(&tree, None) {
            Ok(read) => Ok(read.tool),
            Err(mut problems) => {
                problems.list.iter_mut().for_each(|problem| problem.place = None);
                Err(problems)
            }
        }
    }
}

/// Where a document comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whence {
    /// Somebody hands it in.
    Handed,
    /// It was taken in before, under the rules of then.
    Kept,
}

/// A document on its way into a tool.
struct Reading {
    reader: Reader,
    warnings: Vec<Problem>,
    whence: Whence,
}

impl Reading {
    fn new(document: &str, whence: Whence) -> Self {
        Self { reader: Reader::new(document), warnings: Vec::new(), whence }
    }

    fn warn(&mut self, field: &Field<'_>, message: impl Into<String>, hint: &str) {
        self.warnings.push(Problem {
            place: Some(field.node.place),
            path: field.path.clone(),
            message: message.into(),
            hint: Some(hint.to_owned()),
        });
    }

    fn read(mut self, tree: &Node, around: Option<Around>) -> Result<Read, Problems> {
        let root = Field { node: tree, path: DocPath::root() };
        let tool = match self.reader.record(&root) {
            // What would cost too much is not looked at any closer.
            Some(mut record) if self.costs_little(&root) => self.tool(&root, &mut record, around),
            Some(_) | None => None,
        };
        let Self { reader, warnings, whence: _ } = self;
        let document = reader.document().to_owned();
        match reader.finish(tool)? {
            Some(tool) => Ok(Read { tool, warnings }),
            // Nothing is left out without a problem; should it be, it is told here.
            None => Err(Problems::one(document, Problem::at(tree.place, "the document is no tool"))),
        }
    }

    fn tool(&mut self, root: &Field<'_>, record: &mut Record<'_>, around: Option<Around>) -> Option<Tool> {
        let id = record.take("id").and_then(|field| self.id(&field));
        let name = self.name(root, record.take("name"));
        let title = record.take("title").and_then(|field| self.text(&field));
        let description = record.take("description").and_then(|field| self.text(&field));
        if description.is_none() {
            self.warn(
                root,
                "the tool has no `description`",
                "a model chooses a tool by it; say what it does",
            );
        }
        let category = record.take("category").and_then(|field| self.category(&field));
        let tags = record.take("tags").map_or_else(Vec::new, |field| self.tags(&field));
        let params = record.take("params").map_or_else(Vec::new, |field| self.params(&field));
        let output = record.take("output").and_then(|field| self.output(&field));
        let statics = record.take("statics").map_or_else(Vec::new, |field| self.statics(&field));
        let entry = record.take("entry").and_then(|field| self.reader.word(&field, ENTRIES));
        let entry = entry.unwrap_or(Entry::Body);
        let language = record.take("language").and_then(|field| self.reader.word(&field, LANGUAGES));
        let language =
            language.unwrap_or_else(|| around.as_ref().map_or(Language::Either, |around| around.language));
        let policy = self.policy(record);
        let (overrides, limits) = (written(record, "overrides"), written(record, "limits"));
        if let Some(field) = record.take("safety")
            && let Some(safety) = self.reader.record(&field)
        {
            let hint = || Some("what a tool may do is declared below `overrides`".to_owned());
            safety.close_with(&mut self.reader, |_| hint());
        }
        let approval = record
            .take("approval")
            .map_or_else(Approval::default, |field| Approval::read(&mut self.reader, &field));
        let is_command = root.node.get("command").is_some() && root.node.get("code").is_none();
        let body =
            self.body(root, record, around, &crate::command::Around { params: &params, statics: &statics });
        if is_command {
            self.only_a_command(root, &params, &statics);
            if let Some(Body::Command(block)) = &body {
                self.seals_of_a_command(root, &statics, block.network());
            }
        } else {
            self.variables(root, entry, &params, &statics);
        }
        let declared = match root.node.get("params").map(|node| &node.value) {
            Some(Written::List(items)) => items.len(),
            _ => 0,
        };
        let tests = record.take("tests").map_or_else(Vec::new, |field| self.tests(&field, &params, declared));
        let managed = self.managed(record);
        Some(Tool {
            id,
            name: name?,
            title,
            description,
            category,
            tags,
            params,
            output,
            statics,
            entry,
            language,
            body: body?,
            policy,
            overrides,
            limits,
            approval,
            tests,
            managed,
            kept: self.kept(root),
        })
    }

    /// The fields that are kept and mean nothing, in order. Any other field that is not known is a mistake: a misspelt
    /// `approval` must not read as none.
    fn kept(&mut self, root: &Field<'_>) -> Map<String, Value> {
        let Written::Map(entries) = &root.node.value else { return Map::new() };
        let mut kept = Map::new();
        for (key, node) in entries {
            let name = key.text.as_str();
            if FIELDS.contains(&name) {
                continue;
            }
            if name == METADATA || name.starts_with(FOREIGN) {
                if name == METADATA {
                    let _ = self.reader.record(&Field { node, path: root.path.field(name) });
                }
                kept.insert(name.to_owned(), json_of(&node.value));
                continue;
            }
            if self.reader.has_told_enough() {
                self.reader.one_more();
                continue;
            }
            self.reader.problem(Problem {
                place: Some(key.place),
                path: root.path.field(name),
                message: format!("unknown field `{}`", shortened(name)),
                hint: Some(instead_of(name)),
            });
        }
        kept
    }
}

/// What the author of an unknown field probably meant.
fn instead_of(name: &str) -> String {
    if let Some((_, hint)) = ELSEWHERE.iter().find(|(field, _)| *field == name) {
        return (*hint).to_owned();
    }
    let known = || FIELDS.iter().copied().chain([METADATA]);
    did_you_mean(name, known(), || {
        let known = known().collect::<Vec<_>>().join(", ");
        format!("known here: {known}; what means nothing here begins with `{FOREIGN}`")
    })
}

/// A block as it was written; nothing if it says nothing.
fn written(record: &mut Record<'_>, field: &'static str) -> Option<Value> {
    let block = json_of(&record.take(field)?.node.value);
    let is_empty = block.as_object().is_some_and(Map::is_empty);
    (!is_empty).then_some(block)
}
