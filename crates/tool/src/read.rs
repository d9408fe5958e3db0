//! Document to tool. Every mistake is told at once, with its place; what is only unwise is a warning.

use bailiwick_document::{
    Bounds, DocPath, Entry as Field, Format, Node, Problem, Problems, Reader, Record, Value as Written, parse,
};
use bailiwick_policy::{Layer, ToolPolicy, read::profile_name};
use bailiwick_types::{LayerName, ToolId, shortened};
use bailiwick_wire::{Entry, Language};
use serde_json::{Map, Value};

use crate::approval::Approval;
use crate::front_matter;
use crate::input::{ArgumentProblem, InputCheck};
use crate::json::{json_of, tree_of};
use crate::name::{Category, LONG_NAME, LONGEST_TAG, MOST_TAGS, Name, tag_fault};
use crate::param::{MOST_PARAMS, Param, ParamType};
use crate::schema::Schema;
use crate::statics::Static;
use crate::syntax::{Syntax, without_escaped_halves};
use crate::test::{MOST_TESTS, Test};
use crate::tool::{Body, MOST_CODE, Managed, Tool};
use crate::variable;

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

/// Statics of one tool.
const MOST_STATICS: usize = 200;
/// Characters of a managed time.
const LONGEST_TIME: usize = 40;

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
        Reading::new(document).read(&tree, around)
    }

    /// Reads a document that is JSON already, by the same checks. Problems have a path and no line.
    pub fn from_json(document: &Value) -> Result<Self, Problems> {
        const NAME: &str = "the document";
        let tree = tree_of(NAME, document, Bounds::WRITTEN_BY_HAND)?;
        match Reading::new(NAME).read(&tree, None) {
            Ok(read) => Ok(read.tool),
            Err(mut problems) => {
                problems.list.iter_mut().for_each(|problem| problem.place = None);
                Err(problems)
            }
        }
    }
}

/// A document on its way into a tool.
struct Reading {
    reader: Reader,
    warnings: Vec<Problem>,
}

impl Reading {
    fn new(document: &str) -> Self {
        Self { reader: Reader::new(document), warnings: Vec::new() }
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
            Some(mut record) => self.tool(&root, &mut record, around),
            None => None,
        };
        let Self { reader, warnings } = self;
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
        let body = self.body(root, record, around);
        if let Some(Body::Command(_)) = body
            && let Some(field) = record.take("entry")
        {
            self.reader.wrong(&field, "a command has no `entry`", Some("leave it out".to_owned()));
        }
        self.variables(root, entry, &params, &statics);
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
            unknown: unknown(root.node),
        })
    }

    fn text(&mut self, field: &Field<'_>) -> Option<String> {
        self.reader.text(field).map(str::to_owned)
    }

    fn id(&mut self, field: &Field<'_>) -> Option<ToolId> {
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

    fn name(&mut self, root: &Field<'_>, field: Option<Field<'_>>) -> Option<Name> {
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

    fn category(&mut self, field: &Field<'_>) -> Option<Category> {
        let text = self.reader.text(field)?;
        let length = text.chars().count();
        if length == 0 || length > LONGEST_TAG || text.chars().any(char::is_control) {
            let hint = format!("a category has 1 to {LONGEST_TAG} characters on one line");
            self.reader.wrong(field, format!("`{}` is no category", shortened(text)), Some(hint));
        }
        Some(Category::of(text))
    }

    fn tags(&mut self, field: &Field<'_>) -> Vec<String> {
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

    fn params(&mut self, field: &Field<'_>) -> Vec<Param> {
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

    fn output(&mut self, field: &Field<'_>) -> Option<(Value, Schema)> {
        let schema = json_of(&field.node.value);
        match Schema::compile(&schema) {
            Ok(compiled) => Some((schema, compiled)),
            Err(fault) => {
                self.reader.wrong(field, format!("`{}` {}", field.path, fault.message), fault.hint);
                None
            }
        }
    }

    fn statics(&mut self, field: &Field<'_>) -> Vec<Static> {
        let items = self.reader.list_up_to(field, MOST_STATICS);
        items.iter().filter_map(|item| Static::read(&mut self.reader, item)).collect()
    }

    fn policy(&mut self, record: &mut Record<'_>) -> ToolPolicy {
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

    fn body(&mut self, root: &Field<'_>, record: &mut Record<'_>, around: Option<Around>) -> Option<Body> {
        let (code, command) = (record.take("code"), record.take("command"));
        if let Some(Around { code: rest, .. }) = around {
            for field in [&code, &command].into_iter().flatten() {
                let hint = "in a file of code, the code is what stands below the comment".to_owned();
                self.reader.wrong(field, format!("`{}` stands in front of code", field.path), Some(hint));
            }
            self.check_size(root, &rest);
            return Some(Body::Code(rest));
        }
        match (code, command) {
            (Some(code), None) => {
                let text = self.text(&code)?;
                self.check_size(&code, &text);
                Some(Body::Code(text))
            }
            (None, Some(command)) => {
                self.reader.record(&command)?;
                Some(Body::Command(json_of(&command.node.value)))
            }
            (Some(_), Some(command)) => {
                let hint = "keep one of the two".to_owned();
                self.reader.wrong(&command, "the document has `code` and `command`", Some(hint));
                None
            }
            (None, None) => {
                self.reader.wrong(root, "the document has no `code`", Some("add `code: |`".to_owned()));
                None
            }
        }
    }

    fn check_size(&mut self, field: &Field<'_>, code: &str) {
        if code.len() > MOST_CODE {
            let message = format!("the code has {} bytes; at most {MOST_CODE} are run", code.len());
            self.reader.wrong(field, message, Some("make two tools of it".to_owned()));
        }
    }

    /// The names that code sees are variables of one function: each can be one, and no two are the same.
    fn variables(&mut self, root: &Field<'_>, entry: Entry, params: &[Param], statics: &[Static]) {
        if entry == Entry::Emit {
            let fits = match params {
                [] => true,
                [only] => only.name == "input" && only.kind == ParamType::String,
                _ => false,
            };
            if !fits {
                let hint =
                    "declare one parameter, {name: input, type: STRING}; read_input() gives it".to_owned();
                self.reader.wrong(root, "`entry: emit` takes no parameters but `input`", Some(hint));
            }
        }
        if entry != Entry::Body {
            return;
        }
        let wrong = |name: &str, why: &str| {
            let hint = format!("name it `{}`, say", variable::proposal(name));
            (format!("`{}` cannot be a variable: it {why}", shortened(name)), hint)
        };
        let mut told = Vec::new();
        for name in params.iter().map(|param| &param.name) {
            if variable::is_global(name) {
                told.push(("params", wrong(name, "is the name of a global")));
            }
        }
        for name in statics.iter().map(|one| &one.name) {
            let is_param = params.iter().any(|param| param.name == *name);
            let why = match variable::why_not(name) {
                Some(why) => why,
                None if variable::is_global(name) => "is the name of a global",
                None if is_param => "is there twice: parameters and statics share one set of names",
                None => continue,
            };
            told.push(("statics", wrong(name, why)));
        }
        for (list, (message, hint)) in told {
            let node = root.node.get(list).unwrap_or(root.node);
            let field = Field { node, path: root.path.field(list) };
            self.reader.wrong(&field, message, Some(hint));
        }
    }

    fn tests(&mut self, field: &Field<'_>, params: &[Param], declared: usize) -> Vec<Test> {
        let inputs = InputCheck::of(params);
        // Where a parameter is wrong itself, what does not fit it would be told twice.
        let all_params = params.len() == declared;
        let mut tests: Vec<Test> = Vec::new();
        for (index, item) in self.reader.list_up_to(field, MOST_TESTS).iter().enumerate() {
            let Some(test) = Test::read(&mut self.reader, item, index) else { continue };
            if test.expects_nothing() {
                let message = format!("the test `{}` expects nothing but a result", shortened(&test.name));
                self.warn(item, message, "add `equals`, `contains`, `matches`, `schema` or `throws`");
            }
            if all_params
                && test.expect.throws.is_none()
                && let Err(problems) = inputs.check(test.input.clone())
            {
                for ArgumentProblem { message, hint, .. } in problems {
                    let path = item.path.field("input");
                    let node = item.node.get("input").unwrap_or(item.node);
                    self.reader.wrong(&Field { node, path }, format!("the test's input: {message}"), hint);
                }
            }
            tests.push(test);
        }
        tests
    }

    fn managed(&mut self, record: &mut Record<'_>) -> Managed {
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

/// A block as it was written; nothing if it says nothing.
fn written(record: &mut Record<'_>, field: &'static str) -> Option<Value> {
    let block = json_of(&record.take(field)?.node.value);
    let is_empty = block.as_object().is_some_and(Map::is_empty);
    (!is_empty).then_some(block)
}

/// The fields that mean nothing here, in order.
fn unknown(root: &Node) -> Map<String, Value> {
    let Written::Map(entries) = &root.value else { return Map::new() };
    entries
        .iter()
        .filter(|(key, _)| !FIELDS.contains(&key.text.as_str()))
        .map(|(key, node)| (key.text.clone(), json_of(&node.value)))
        .collect()
}
