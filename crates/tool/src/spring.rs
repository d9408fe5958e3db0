//! Documents of Spring AI Playground ("Safe Tool Specification 1.0"), read into tools of ours.
//!
//! Every field is taken over, or told: as a problem where leaving it out would let the tool do more or ask less, as a note
//! where it has no meaning here. A field that is not known is a problem. What is taken over is read by the same checks as
//! any document, so nothing here can make a tool that its author could not write.

use bailiwick_document::{
    Bounds, DocPath, Entry, Format, Problem, Problems, Reader, Value as Written, parse,
};
use serde_json::{Map, Value, json};

use crate::json::json_of;
use crate::tool::Tool;

/// Tools of one file.
const MOST_TOOLS: usize = 1_000;

/// A file may hold a whole catalogue.
const BOUNDS: Bounds = Bounds { nodes: 200_000, ..Bounds::WRITTEN_BY_HAND };

/// A tool that was read, and what of its document has no meaning here.
#[derive(Debug, Clone)]
pub struct FromSpring {
    /// The tool.
    pub tool: Tool,
    /// What was not taken over, and why nothing is lost by it.
    pub notes: Vec<Problem>,
}

/// Reads a file with one tool, or with a list of them.
pub fn read_spring(document: &str, text: &str) -> Result<Vec<FromSpring>, Problems> {
    let tree = parse(document, &crate::syntax::without_escaped_halves(text), Format::Yaml, BOUNDS)?;
    let mut reader = Reader::new(document);
    let root = Entry { node: &tree, path: DocPath::root() };
    let specs = match &tree.value {
        Written::List(_) => reader.list_up_to(&root, MOST_TOOLS),
        _ => vec![root],
    };
    let mut tools = Vec::new();
    for spec in specs {
        let mut reading = Reading { reader: &mut reader, notes: Vec::new() };
        let Some(fields) = reading.fields(&spec) else { continue };
        let notes = reading.notes;
        match Tool::from_json(&Value::Object(fields)) {
            Ok(tool) => tools.push(FromSpring { tool, notes }),
            Err(problems) => problems.list.into_iter().for_each(|problem| {
                let message = format!("as a tool of ours: {}", problem.message);
                let path = if problem.path.as_str().is_empty() {
                    String::new()
                } else {
                    format!(" ({})", problem.path)
                };
                reader.wrong(&spec, format!("{message}{path}"), problem.hint);
            }),
        }
    }
    reader.finish(tools)
}

struct Reading<'r> {
    reader: &'r mut Reader,
    notes: Vec<Problem>,
}

impl Reading<'_> {
    /// The fields of our document; none where it is no map.
    fn fields(&mut self, spec: &Entry<'_>) -> Option<Map<String, Value>> {
        let mut record = self.reader.record(spec)?;
        let mut fields = Map::new();
        for name in ["name", "description", "category", "tags", "params", "code"] {
            if let Some(entry) = record.take(name) {
                fields.insert(name.to_owned(), without_nulls(json_of(&entry.node.value)));
            }
        }
        if let Some(entry) = record.take("codeType")
            && self.reader.word(&entry, &[("Javascript", ())]).is_some()
        {
            fields.insert("language".to_owned(), json!("javascript"));
        }
        if let Some(entry) = record.take("staticVariables") {
            fields.insert("statics".to_owned(), Value::Array(self.statics(&entry)));
        }
        if let Some(entry) = record.take("sandboxOverrides") {
            fields.insert("overrides".to_owned(), Value::Object(self.overrides(&entry)));
        }
        if let Some(entry) = record.take("humanInTheLoop") {
            fields.insert("approval".to_owned(), Value::Object(self.approval(&entry)));
        }
        let mut metadata = Map::new();
        for (name, why) in [
            ("toolId", "a tool gets an id of ours when it is added"),
            ("createTimestamp", "the catalogue keeps times of its own"),
            ("updateTimestamp", "the catalogue keeps times of its own"),
            ("draft", "every tool is a draft here until it passes its tests"),
            ("published", "a tool is published here by `bailiwick tool publish`"),
            ("toolSafety", "it repeats what the overrides say; the level is worked out anew"),
        ] {
            let Some(entry) = record.take(name) else { continue };
            metadata.insert(name.to_owned(), json_of(&entry.node.value));
            self.note(&entry, format!("`{name}` is kept below `metadata` and has no effect: {why}"));
            if name == "toolSafety" {
                self.no_java(&entry);
            }
        }
        if !metadata.is_empty() {
            fields.insert("metadata".to_owned(), json!({"springAiPlayground": metadata}));
        }
        record.close_with(self.reader, |name| {
            let known = ["overrides", "approval", "statics", "limits", "tests", "profile"];
            known
                .contains(&name)
                .then(|| "this is a field of our own documents: import it without `--from`".to_owned())
        });
        Some(fields)
    }

    /// `[{NAME: value}]`, one variable each.
    fn statics(&mut self, entry: &Entry<'_>) -> Vec<Value> {
        let mut statics = Vec::new();
        for item in self.reader.list(entry) {
            let Some(record) = self.reader.record(&item) else { continue };
            for (key, value) in record.entries() {
                statics.push(json!({"name": key.text, "value": json_of(&value.node.value)}));
            }
        }
        statics
    }

    fn overrides(&mut self, entry: &Entry<'_>) -> Map<String, Value> {
        let mut overrides = Map::new();
        let Some(mut record) = self.reader.record(entry) else { return overrides };
        for (theirs, ours) in [
            ("networkMode", "network"),
            ("hostsAllow", "hosts"),
            ("fileRead", "fileRead"),
            ("fileWrite", "fileWrite"),
            ("fsBasePath", "basePath"),
        ] {
            if let Some(field) = record.take(theirs).filter(|field| !is_empty(&field.node.value)) {
                overrides.insert(ours.to_owned(), json_of(&field.node.value));
            }
        }
        // Nothing here can name a class of Java. Code that asks for one cannot run; one that is denied is absent anyway.
        for name in ["addAllowClasses", "removeDenyClasses"] {
            if let Some(field) = record.take(name).filter(|field| !is_empty(&field.node.value)) {
                let hint = "there is no Java here: write it in JavaScript, and empty the list".to_owned();
                let message = format!("`{}` grants classes of Java, which do not exist here", field.path);
                self.reader.wrong(&field, message, Some(hint));
            }
        }
        for name in ["addDenyClasses", "removeAllowClasses"] {
            if let Some(field) = record.take(name).filter(|field| !is_empty(&field.node.value)) {
                let why = "no class of Java can be reached here, so all of them are denied";
                self.note(&field, format!("`{}` is left out: {why}", field.path));
            }
        }
        record.close(self.reader);
        overrides
    }

    fn approval(&mut self, entry: &Entry<'_>) -> Map<String, Value> {
        let mut approval = Map::new();
        let Some(mut record) = self.reader.record(entry) else { return approval };
        if let Some(mode) = record.take("mode") {
            match self.reader.word(&mode, &[("REQUIRED", true), ("DISABLED", false)]) {
                Some(true) => drop(approval.insert("mode".to_owned(), json!("REQUIRED"))),
                Some(false) => {
                    let why = "a person is asked from the level that the operator sets (approvals.autoFrom)";
                    self.note(&mode, format!("`{}` DISABLED is left out: {why}", mode.path));
                }
                None => {}
            }
        } else {
            let hint = "write `mode: REQUIRED` or `mode: DISABLED`".to_owned();
            self.reader.wrong(entry, format!("`{}` has no `mode`", entry.path), Some(hint));
        }
        if let Some(prompt) = record.take("promptTemplate")
            && let Some(text) = self.reader.text(&prompt)
        {
            approval.insert("prompt".to_owned(), json!(text.replace("{toolName}", "{tool}")));
        }
        record.close(self.reader);
        approval
    }

    /// A tool that says that it uses Java cannot run here.
    fn no_java(&mut self, safety: &Entry<'_>) {
        let Some(runtime) = safety.node.get("runtime") else { return };
        let Some(node) = runtime.get("javaInterop") else { return };
        if node.value == Written::Bool(true) {
            let path = safety.path.field("runtime").field("javaInterop");
            let hint = "write it in JavaScript, and set this to false".to_owned();
            self.reader.wrong(
                &Entry { node, path },
                "the code uses Java, which does not exist here",
                Some(hint),
            );
        }
    }

    fn note(&mut self, entry: &Entry<'_>, message: String) {
        let place = Some(entry.node.place);
        self.notes.push(Problem { place, path: entry.path.clone(), message, hint: None });
    }
}

fn is_empty(value: &Written) -> bool {
    match value {
        Written::Null => true,
        Written::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Fields that are written as `null` say nothing.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}
